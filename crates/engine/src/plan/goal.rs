//! From a plan, or from live pods, to the goal of a rollout.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::courses::Courses;
use super::pods::recorded_from;
use super::policy::policy;
use super::resume::Start;
use super::revision::CurrentRevision;
use super::rollout_state::{RolloutState, lock_of, rollout_state};
use super::sidecar_set;
use super::wanted::template_containers;
use super::{Effect, PodVerdict, WorkloadPlan};
use crate::change::FieldChanges;
use crate::change::target::Images;
use crate::k8s::names::{ContainerName, PodKey, RolloutId, Uid, WorkloadRef};
use crate::k8s::pod::{Container, ContainerStatus, Pod};
use crate::plan::live::{Options, Snapshot};
use crate::rollout::pre_pull::PrePull;
use crate::rollout::{ContainerGoal, DEFAULT_TIMEOUT_SECONDS, Follow, Goal, PodGoal};
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::Rollout;
use crate::state::evidence::Baseline;
use crate::state::manager::is_same_writer;
use crate::state::policy::Policy;
use crate::state::record::UpdateRecord;
use crate::value::duration::second;
use crate::value::image;

impl WorkloadPlan {
    /// Returns the goal: exactly the pods and images that the plan shows, in its order.
    pub fn goal(&self, id: &RolloutId, start: &Start) -> Goal {
        let pods = self.pods.iter().filter(|pod| matches!(pod.verdict, PodVerdict::Update | PodVerdict::InProgress));
        let pods = pods.map(|pod| {
            let containers = pod.changes.iter().map(|(name, change)| {
                let (from, to) = (Some(change.from.clone()), Some(change.to.clone()));
                let (restarts, goes_back) = (change.effect == Effect::Restart, change.goes_back);
                (name.clone(), ContainerGoal { from, to, restarts, goes_back, ..ContainerGoal::default() })
            });
            let mut containers = containers.collect();
            ContainerGoal::add_resized(&mut containers, pod.fields.resources.restarting().cloned());
            let (key, fields, drain) = (pod.pod.clone(), pod.fields.clone(), pod.drain.clone());
            PodGoal { key, containers, fields, drain, kubelet: pod.kubelet }.into()
        });
        let lock = start.lock(Rollout { id: id.clone(), policy: self.policy.clone(), ..Rollout::default() });
        Goal {
            hooks: self.hooks.clone(),
            pulls: self.pulls.clone(),
            pre_pull: self.pre_pull,
            by_request: self.is_by_request(),
            follows: self.workload.kind.is_sidecar_set().then(Follow::default),
            ..bare((&self.workload, &self.controllers, self.replicas), lock, pods.collect(), start)
        }
    }
}

/// Returns the goal of `follow`: the present pods, until each of their containers is what its pod asks for.
///
/// What a pod does not ask for yet is waited for where it is known to come: the images given, those of the rollout that
/// holds the workload, and those of an update of pods alone that may still be in progress. `now` is the wall clock
/// (RFC 3339). Pods that are terminating or have ended are left out.
pub fn follow(live: &Snapshot, images: Option<&Images>, options: &Options, id: &RolloutId, now: &str) -> Goal {
    if live.workload.reference.kind.is_sidecar_set() {
        return sidecar_set::follow(live, options, id, now);
    }
    let mut pods: Vec<&Pod> = live.pods.iter().filter(|pod| is_followed(live, pod)).collect();
    pods.sort_by(|a, b| live.workload.order(a, b));
    let coming = ExpectedChange::of(live, &pods, now);
    let goals = pods.iter().map(|pod| {
        let fields = coming.fields(live, pod);
        PodGoal {
            key: pod.key.clone(),
            containers: followed(pod, images, (live, &coming), &fields),
            fields,
            drain: None,
            kubelet: live.kubelet_of(pod),
        }
    });
    let goals: Vec<_> = goals.filter(|goal| !goal.containers.is_empty()).map(Arc::new).collect();
    let policy = coming.policy(policy(live, options).0);
    let held_by = lock_of(&live.workload).ok().flatten().filter(|_| rollout_state(live) == RolloutState::Active);
    let followed = Follow { read_at: live.surroundings.server_now.clone(), held_by: held_by.map(Box::new) };
    let start = Start { clock: now.to_owned(), ..Start::default() };
    let lock = start.lock(Rollout { id: id.clone(), policy, ..Rollout::default() });
    Goal { follows: Some(followed), pre_pull: PrePull::Never, ..of_pods(live, lock, goals, &start) }
}

/// What a run wants of a workload's pods, and of nothing else.
pub(super) fn of_pods(live: &Snapshot, lock: Lock, pods: Vec<Arc<PodGoal>>, start: &Start) -> Goal {
    bare((&live.workload.reference, &live.controllers, live.workload.desired_replicas()), lock, pods, start)
}

fn bare(
    (workload, controllers, replicas): (&WorkloadRef, &BTreeSet<Uid>, u32),
    lock: Lock,
    pods: Vec<Arc<PodGoal>>,
    start: &Start,
) -> Goal {
    Goal {
        lock,
        workload: workload.clone(),
        controllers: controllers.clone(),
        replicas,
        pods,
        field_manager: start.field_manager.clone(),
        pulls: Vec::new(),
        pre_pull: start.pre_pull,
        hooks: start.hooks.clone(),
        clock: start.clock.clone(),
        by_request: false,
        owner: None,
        follows: None,
    }
}

/// Returns how far the owner's controller is, where it replaces pods by itself: that is no update in place.
pub fn replacing(live: &Snapshot) -> Option<String> {
    if matches!(lock_of(&live.workload), Ok(Some(_))) {
        return None;
    }
    let status = live.workload.rolling_out().filter(|_| !updates_in_place(live))?;
    let revision = CurrentRevision::of(live);
    live.pods.iter().any(|pod| is_followed(live, pod) && revision.another(pod).is_some()).then_some(status)
}

fn updates_in_place(live: &Snapshot) -> bool {
    Courses::of(live, &live.workload.object).is_some_and(|courses| courses.are_in_place())
}

fn is_followed(live: &Snapshot, pod: &Pod) -> bool {
    pod.belongs_to(&live.controllers) && pod.is_present()
}

struct ExpectedChange {
    lock: Option<Lock>,
    /// Else the newest record of an update of pods alone: its images.
    record: Option<UpdateRecord>,
    /// The owner's own controller brings its template to all pods, in place.
    by_controller: bool,
}

impl ExpectedChange {
    fn of(live: &Snapshot, pods: &[&Pod], now: &str) -> Self {
        let lock = lock_of(&live.workload).ok().flatten();
        let record = if lock.is_none() { newest_open_update(pods, now) } else { None };
        let leaves_pods = || (live.workload.reference.kind.spec().leaves_pods)(&live.workload.object);
        let is_free = lock.is_none() && live.workload.rolling_out().is_some() && !leaves_pods();
        Self { by_controller: is_free && updates_in_place(live), lock, record }
    }

    /// The rollout that holds the workload, if it is about that pod.
    fn rollout_of(&self, live: &Snapshot, pod: &Pod) -> Option<&Lock> {
        let lock = self.lock.as_ref().filter(|lock| lock.rollout.chooses(&pod.key));
        lock.filter(|lock| !lock.rollout.keeps(&live.workload, pod))
    }

    fn fields(&self, live: &Snapshot, pod: &Pod) -> FieldChanges {
        self.rollout_of(live, pod).map(|lock| lock.rollout.directed().fields.left_in(pod)).unwrap_or_default()
    }

    /// The rollout decides for how long ready must hold, unless the user of `follow` has given it.
    fn policy(&self, mut policy: Policy) -> Policy {
        let given = self.lock.as_ref().and_then(|lock| lock.rollout.policy.min_ready_seconds_given);
        policy.min_ready_seconds_given = policy.min_ready_seconds_given.or(given);
        policy
    }

    /// What pods get in place of this image, where admission changes it.
    fn in_pods(&self, live: &Snapshot, pod: &Pod, container: &Container, to: String) -> String {
        let brought = self.rollout_of(live, pod).and_then(|lock| lock.rollout.image(&container.name));
        let of_rollout = brought.filter(|(image, _)| *image == to).map(|(_, in_pods)| in_pods);
        match of_rollout.or_else(|| live.in_pods(&container.name, &to)) {
            Some(made) if container.image != to => made.to_owned(),
            Some(_) | None => to,
        }
    }

    fn image(&self, live: &Snapshot, pod: &Pod, container: &Container) -> Option<String> {
        if let Some(lock) = self.rollout_of(live, pod) {
            return lock.rollout.image(&container.name).map(|(_, in_pods)| in_pods.to_owned());
        }
        if self.by_controller && CurrentRevision::of(live).another(pod).is_some() {
            let mut template = template_containers(live.workload.template()).into_iter();
            return template.find(|(_, found)| found.name == container.name).map(|(_, found)| found.image);
        }
        let record = self.record.as_ref()?;
        let change = record.containers.get(&container.name).map(|change| (&change.from, &change.to));
        let change = change.or_else(|| record.later.get(&container.name).map(|change| (&change.from, &change.to)));
        // A pod that asks for neither image has been changed by another client.
        change.filter(|(from, _)| **from == container.image).map(|(_, to)| to.clone())
    }
}

/// The newest record, if its update may still come to other pods: nobody else has set an image since, and its
/// last step is no longer ago than a run waits for one.
fn newest_open_update(pods: &[&Pod], now: &str) -> Option<UpdateRecord> {
    let current = pods.iter().filter_map(|pod| {
        let record = UpdateRecord::complete(pod)?;
        // A record without containers is of a removed label, not of an update.
        let whole = !record.containers.is_empty();
        (whole && record.containers.keys().all(|name| record.container(pod, name).is_some())).then_some(record)
    });
    let newest = current.max_by(|a, b| a.id.cmp(&b.id))?;
    let of_it = |pod: &&&Pod| UpdateRecord::of(pod).is_some_and(|record| record.id == newest.id);
    let (ours, others): (Vec<_>, Vec<_>) = pods
        .iter()
        .flat_map(|pod| pod.image_set.values())
        .partition(|set| is_same_writer(&set.manager, &newest.manager));
    if others.iter().filter_map(|set| second(&set.time)).max() > ours.iter().filter_map(|set| second(&set.time)).max() {
        return None;
    }
    let last = pods.iter().filter(of_it).flat_map(|pod| times_of(pod)).max()?;
    let timeout = i64::try_from(DEFAULT_TIMEOUT_SECONDS).unwrap_or(i64::MAX);
    (second(now)? <= last.saturating_add(timeout)).then_some(newest)
}

/// When something of the pod's update happened last, as far as the API shows.
fn times_of(pod: &Pod) -> impl Iterator<Item = i64> {
    let set = pod.image_set.values().map(|set| set.time.as_str());
    let started = pod.status.container_statuses.iter().filter_map(ContainerStatus::started_at);
    let ready = pod.ready_condition().and_then(|condition| condition.last_transition_time.as_deref());
    set.chain(started).chain(ready).filter_map(second)
}

fn followed(
    pod: &Pod,
    images: Option<&Images>,
    (live, coming): (&Snapshot, &ExpectedChange),
    fields: &FieldChanges,
) -> BTreeMap<ContainerName, ContainerGoal> {
    let record = UpdateRecord::of(pod);
    let was_resized = |name| record.as_ref().is_some_and(|record| record.restart_baseline(pod, name).is_some());
    let to_be_resized = fields.restarting_in(pod);
    let mut containers = BTreeMap::new();
    for (list, container) in pod.all_containers() {
        let restarts = container.is_long_lived(list);
        let to = match images.and_then(|images| images.of(list, &container.name)) {
            Some(argument) => {
                argument.resolve(&container.image).ok().map(|to| coming.in_pods(live, pod, container, to))
            }
            None => coming.image(live, pod, container),
        };
        // A plain init container no longer runs: there is nothing to follow but what its pod asks for.
        if restarts || to.is_some() {
            let (from, asks) = if to.is_none() { changed(pod, container) } else { (None, None) };
            let by_resize = to_be_resized.contains(&container.name) || was_resized(&container.name);
            let goal = ContainerGoal { from, to, restarts, asks, by_resize, ..ContainerGoal::default() };
            containers.insert(container.name.clone(), goal);
        }
    }
    containers
}

/// What a pod's container asked for before and asks for now, where it is known to have been changed since the pod was
/// created: by the pod's own record, or by the old container that still runs.
fn changed(pod: &Pod, container: &Container) -> (Option<String>, Option<String>) {
    let name = &container.name;
    let noted = recorded_from(pod, name);
    let shown = pod.status_of(name).map(|status| &status.image);
    let shown = shown.filter(|shown| !shown.is_empty() && !image::is_same(shown, &container.image)).cloned();
    let is_changed = noted.is_some() || matches!(Baseline::of(pod, name), Baseline::Set(_));
    if is_changed { (noted.or(shown), Some(container.image.clone())) } else { (None, None) }
}

/// Pods that go back to the same images, and these images.
pub type WayBack = (Vec<PodKey>, BTreeMap<ContainerName, String>);

/// Returns what brings the pods back to what they ran before the goal: a group of pods for each set of images that they
/// came from. `None` where the image before is not known, as it may be of an update that was found in progress.
pub fn way_back(goal: &Goal) -> Option<Vec<WayBack>> {
    let mut groups: Vec<WayBack> = Vec::new();
    for pod in &goal.pods {
        let mut images = BTreeMap::new();
        for (name, container) in pod.containers.iter().filter(|(_, container)| !container.is_only_resized()) {
            let from = container.from.clone().filter(|from| !from.is_empty() && container.to.as_ref() != Some(from))?;
            images.insert(name.clone(), from);
        }
        match groups.iter_mut().find(|(_, known)| *known == images) {
            Some((pods, _)) => pods.push(pod.key.clone()),
            None => groups.push((vec![pod.key.clone()], images)),
        }
    }
    groups.retain(|(_, images)| !images.is_empty());
    (!groups.is_empty()).then_some(groups)
}
