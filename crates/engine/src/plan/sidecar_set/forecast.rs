//! The plan of a SidecarSet, and what is followed: as of a workload, but that its controller does it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::Found;
use super::change::{Change, word_back};
use super::course::{Course, course, sidecars};
use super::hot::{is_hot, names_in_pods};
use crate::change::FieldChanges;
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::kinds::lifts_hold;
use crate::plan::wanted::template_containers;
use crate::plan::{
    ContainerPlan, Effect, ImageChange, Options, PodPlan, PodVerdict, Snapshot, Start, Verdict, WorkloadPlan, policy_of,
};
use crate::rollout::pre_pull::PrePull;
use crate::rollout::{ContainerGoal, Follow, Goal, PodGoal};
use crate::state::durable::rollout::Rollout;
use crate::state::hook::Hooks;
use crate::state::policy::Policy;
use crate::value::count::pods_that;
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::text;

/// About how long the controller takes from one pod to the next, besides what the pod takes: it looks again five seconds
/// after a container has changed (`isPodConsistentChanged`).
const SECONDS_PER_POD: f64 = 7.0;

/// Makes the plan: `set` is what the SidecarSet will be.
pub fn plan(found: &Found, change: &Change, set: &Value, options: &Options) -> WorkloadPlan {
    let live = &found.live;
    let courses = Courses::of(found, set);
    let pods: Vec<PodPlan> = courses.pods.iter().map(|(pod, course)| pod_plan(pod, course)).collect();
    let has = |verdict: PodVerdict| pods.iter().any(|pod| pod.verdict == verdict);
    let mut reasons = change.reasons.clone();
    if !change.is_empty() || has(PodVerdict::Update) {
        reasons.extend(courses.held());
    }
    let is_coming = has(PodVerdict::Update) || has(PodVerdict::InProgress);
    if reasons.is_empty() && !change.is_empty() && !is_coming && !has(PodVerdict::Blocked) {
        reasons.push(Reason::NoPods);
    }
    let mut warnings = change.warnings.clone();
    warnings.extend(live.not_read.iter().map(|what| Warning::ReadFailed { what: what.clone() }));
    let verdict = match () {
        () if !reasons.is_empty() => Verdict::NotEligible,
        () if is_coming => Verdict::InPlaceByController,
        () if has(PodVerdict::Blocked) => Verdict::NotEligible,
        () => Verdict::NothingToDo,
    };
    warnings.extend(courses.limits(found.bare, verdict != Verdict::NotEligible));
    let policy = courses.policy(live, options, false);
    let updates = pods.iter().filter(|pod| pod.verdict == PodVerdict::Update).count();
    let updates = u32::try_from(updates).unwrap_or(u32::MAX).min(policy.canary.unwrap_or(u32::MAX));
    let turns = updates.div_ceil(policy.max_unavailable);
    WorkloadPlan {
        verdict,
        reasons,
        warnings,
        containers: containers(&live.workload.object, set),
        pods,
        policy,
        estimate_seconds: f64::from(turns) * SECONDS_PER_POD,
        ..WorkloadPlan::empty(live, Policy::default())
    }
}

/// What the controller does with each pod to bring it to a SidecarSet.
pub(crate) struct Courses<'f> {
    set: &'f Value,
    pub(crate) pods: Vec<(&'f Pod, Course)>,
}

fn pod_plan(pod: &Pod, course: &Course) -> PodPlan {
    let (verdict, goals, reasons) = match course {
        Course::Updated { settled: true, .. } => (PodVerdict::AlreadyThere, None, Vec::new()),
        Course::Updated { goals, .. } => (PodVerdict::InProgress, Some(goals), Vec::new()),
        Course::Updates(goals) if goals.is_empty() => (PodVerdict::AlreadyThere, None, Vec::new()),
        Course::Updates(goals) => (PodVerdict::Update, Some(goals), Vec::new()),
        Course::Stays(reason) => (PodVerdict::Blocked, None, vec![reason.clone()]),
    };
    let change = |(name, goal): (&ContainerName, &ContainerGoal)| {
        let to = goal.to.clone().unwrap_or_default();
        let from = goal.from.clone().unwrap_or_else(|| to.clone());
        let status = pod.status_of(name);
        let image_id = status.map(|status| status.image_id.clone()).filter(|id| !id.is_empty());
        let waiting = status.and_then(|status| status.state.waiting.as_ref()).map(|waiting| waiting.reason.clone());
        (name.clone(), ImageChange { image_id, waiting, ..ImageChange::new(from, to, Effect::Restart) })
    };
    PodPlan {
        pod: pod.key.clone(),
        node: pod.spec.node_name.clone(),
        kubelet: None,
        verdict,
        changes: goals.into_iter().flatten().map(change).collect(),
        fields: FieldChanges::default(),
        drain: None,
        unrestored: None,
        reasons,
    }
}

fn containers(before: &Value, after: &Value) -> Vec<ContainerPlan> {
    let new = template_containers(after);
    let to = |name: &ContainerName| new.iter().find(|(_, one)| one.name == *name).map(|(_, one)| one.image.clone());
    let row = |(list, one): (ContainerList, Container)| {
        let to = to(&one.name).filter(|to| *to != one.image);
        let effect = match (&to, list) {
            (None, _) => Effect::Unchanged,
            (Some(_), ContainerList::Containers) => Effect::Restart,
            (Some(_), ContainerList::InitContainers) => Effect::NoEffectNow,
        };
        let (container, from) = (one.name, one.image);
        ContainerPlan { container, list, from, to, effect, resize_restarts: false, is_down: false }
    };
    template_containers(before).into_iter().map(row).collect()
}

impl<'f> Courses<'f> {
    pub(crate) fn of(found: &'f Found, set: &'f Value) -> Self {
        let live = &found.live;
        let pods = live.pods.iter().map(|pod| (pod, course(set, pod, &live.surroundings.owned)));
        Self { set, pods: pods.collect() }
    }

    fn count(&self, is_it: impl Fn(&Course) -> bool) -> usize {
        self.pods.iter().filter(|(_, course)| is_it(course)).count()
    }

    fn to_update(&self) -> usize {
        self.count(|course| matches!(course, Course::Updates(_)))
    }

    /// How many pods the controller leaves as they are, of those that it could update (`CalculatePartitionReplicas`).
    fn partition(&self) -> usize {
        let given = self.set.pointer("/spec/updateStrategy/partition");
        let Some(given) = given.and_then(|value| IntOrPercent::from_value(value).ok()) else { return 0 };
        let all = self.pods.len();
        let scaled = given.scaled(all, true).min(all);
        let is_part = matches!(given, IntOrPercent::Percent(share) if share < 100);
        if is_part && scaled == all && all > 1 { all - 1 } else { scaled }
    }

    /// The pods that are followed: with `all` those that have the update, too.
    fn policy(&self, live: &Snapshot, options: &Options, all: bool) -> Policy {
        let begun = self.count(|course| matches!(course, Course::Updated { settled, .. } if all || !settled));
        let (waits, kept) = (self.to_update(), self.partition());
        let first = (kept > 0 && waits > 0).then(|| waits.saturating_sub(kept) + begun);
        Policy {
            canary: first.and_then(|pods| u32::try_from(pods).ok()),
            drain_seconds: None,
            respects_budgets: false,
            ..policy_of(live, options)
        }
    }

    /// Why the controller updates no running pod at all (`UpdateSidecarSet`).
    pub(crate) fn held(&self) -> Option<Reason> {
        let holds = |field: &str, what: String| {
            let what = format!("{what}, so its controller updates no running pod; new pods get what it says");
            Some(Reason::UpdateStrategyHolds { path: format!("spec.updateStrategy.{field}"), what })
        };
        if text(self.set, "/spec/updateStrategy/type") == "NotUpdate" {
            return holds("type", "is NotUpdate".into());
        }
        if self.set.pointer("/spec/updateStrategy/paused").and_then(Value::as_bool) == Some(true) {
            return holds("paused", "is true".into());
        }
        let (waits, kept) = (self.to_update(), self.partition());
        let lacks = || pods_that(waits, "does not have the update", "do not have the update");
        if waits > 0 && kept >= waits {
            holds("partition", format!("is {}, and {}", self.given(), lacks()))
        } else {
            None
        }
    }

    fn given(&self) -> String {
        let value = self.set.pointer("/spec/updateStrategy/partition").cloned().unwrap_or_default();
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Returns how many pods the controller leaves as they are, and why, a sentence each.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut said: BTreeMap<String, usize> = BTreeMap::new();
        let kept = self.partition().min(self.to_update());
        if kept > 0 {
            said.insert(format!("spec.updateStrategy.partition is {}", self.given()), kept);
        }
        for (_, course) in &self.pods {
            if let Course::Stays(reason) = course {
                *said.entry(reason.sentence()).or_default() += 1;
            }
        }
        let stays = |(why, pods): (&String, &usize)| {
            format!("{}: {why}", pods_that(*pods, "stays as it is", "stay as they are"))
        };
        said.iter().map(stays).collect()
    }

    /// `goes`: what the controller leaves is no reason of a refusal.
    fn limits(&self, bare: usize, goes: bool) -> Option<Warning> {
        let changes = |name: &String| {
            let has = |goals: &BTreeMap<ContainerName, ContainerGoal>| goals.contains_key(&name.as_str().into());
            self.pods.iter().any(|(_, course)| matches!(course, Course::Updates(goals) if has(goals)))
        };
        let is_upgraded = |sidecar: &&Value| is_hot(sidecar) && names_in_pods(sidecar).iter().any(changes);
        let hot = |sidecar: &Value| {
            let (name, names) = (text(sidecar, "/name"), names_in_pods(sidecar).join(" and "));
            format!(
                "{name} is upgraded hot: the empty one of {names} gets the image, and once it is ready the other one is emptied"
            )
        };
        let mut limits = Vec::new();
        if goes {
            limits = self.left();
            limits.extend(sidecars(self.set).filter(is_upgraded).map(hot));
        }
        if bare > 0 {
            let pods = pods_that(bare, "matches its selector and does", "match its selector and do");
            limits.push(format!("{pods} not have all of its containers: only pods that are created get them"));
        }
        (!limits.is_empty()).then_some(Warning::SidecarSetLimits { limits })
    }
}

/// The pods that the controller leaves as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// How many, and why.
    pub why: String,
    /// The merge patch of the SidecarSet with which it goes on with them.
    pub lifted_by: Option<&'static str>,
}

/// Returns which pods the controller leaves on the way to `set`, where there are some.
pub fn left(found: &Found, set: &Value) -> Option<Left> {
    let courses = Courses::of(found, set);
    let chooses = |course: &Course| matches!(course, Course::Stays(Reason::UpdateStrategyHolds { .. }));
    let lifted_by = match (courses.partition().min(courses.to_update()), courses.count(chooses)) {
        (0, 0) => None,
        (0, _) => lifts_hold("spec.updateStrategy.selector"),
        (_, _) => lifts_hold("spec.updateStrategy.partition"),
    };
    let why = courses.left().join("; ");
    (!why.is_empty()).then_some(Left { why, lifted_by })
}

/// Returns what is followed: the pods that the controller updates to `set`, and those that it has begun with; with `all` those
/// that have the update, too.
pub fn goal(found: &Found, set: &Value, (options, all): (&Options, bool), (id, now): (&RolloutId, &str)) -> Goal {
    let courses = Courses::of(found, set);
    let policy = courses.policy(&found.live, options, all);
    let pods = courses.pods.into_iter().filter_map(|(pod, course)| match course {
        Course::Updated { goals, settled } => (!settled || all).then_some((pod, goals)),
        Course::Updates(goals) => Some((pod, goals)),
        Course::Stays(_) => None,
    });
    let pods = pods.filter(|(_, goals)| !goals.is_empty()).map(|(pod, containers)| {
        let (key, fields) = (pod.key.clone(), FieldChanges::default());
        Arc::new(PodGoal { key, containers, fields, drain: None, kubelet: None })
    });
    let pods: Vec<Arc<PodGoal>> = pods.collect();
    let start = Start { clock: now.to_owned(), ..Start::default() };
    let read_at = found.live.surroundings.server_now.clone();
    Goal {
        lock: start.lock(Rollout { id: id.clone(), policy, ..Rollout::default() }),
        workload: found.live.workload.reference.clone(),
        controllers: BTreeSet::new(),
        replicas: u32::try_from(pods.len()).unwrap_or(u32::MAX),
        pods,
        field_manager: String::new(),
        pulls: Vec::new(),
        pre_pull: PrePull::Never,
        hooks: Hooks::default(),
        clock: now.to_owned(),
        owner: None,
        follows: Some(Follow { read_at: read_at.filter(|_| all), held_by: None, in_turns: true }),
    }
}

/// Returns the words that set the images back that pods have which the controller has not reached, where they are the same.
pub fn words_back(found: &Found) -> Vec<String> {
    let set = &found.live.workload.object;
    let courses = Courses::of(found, set);
    let of_sidecar = |sidecar: &Value| {
        let name = text(sidecar, "/name");
        let empty = text(sidecar, "/upgradeStrategy/hotUpgradeEmptyImage");
        let names = names_in_pods(sidecar);
        // Of a pair the one that is to be emptied has what ran before.
        let ran = |(container, goal): &(&ContainerName, &ContainerGoal)| {
            let is_its = names.iter().any(|name| *name == container.as_str());
            is_its && (!is_hot(sidecar) || goal.to.as_deref() == Some(empty))
        };
        let before = |course: &Course| match course {
            Course::Updates(goals) => goals.iter().find(ran).and_then(|(_, goal)| goal.from.clone()),
            Course::Updated { .. } | Course::Stays(_) => None,
        };
        let before: BTreeSet<String> = courses.pods.iter().filter_map(|(_, course)| before(course)).collect();
        if before.len() == 1 { before.first().and_then(|image| word_back(found, name, image)) } else { None }
    };
    sidecars(set).filter_map(of_sidecar).collect()
}
