//! What leads on from a rollout that holds a workload: one list for whatever prints it, the one that helps most first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::made::may_be_brought;
use super::{Comparison, Condition, ContainerReport, OwnerState, PodState, PodStatus};
use crate::change::{Change, Direction, FieldProgress};
use crate::k8s::names::ContainerName;
use crate::k8s::workload::Workload;
use crate::kinds::Release;
use crate::plan::{self, Hold, LiveWorkload};
use crate::state::durable::lock::RolloutLock;
use crate::state::durable::stateful_set;
use crate::state::hook::HookPhase;

/// One command that leads on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// What it does.
    pub deed: Deed,
    /// What is printed before it, without a colon.
    pub label: &'static str,
    /// It needs `--take-over`.
    pub take_over: bool,
    /// It goes on after a pod that fails, and this many pods may be down.
    pub despite: Option<usize>,
    /// The commands around each pod that the rollout began with: they are given again, or left out on purpose.
    pub hooks: BTreeSet<HookPhase>,
}

/// What is done about a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Only watches.
    Follow,
    /// Only watches what the owner's controller does.
    RolloutStatus,
    /// These pods are deleted, and the owner's controller re-creates them.
    Replace(Vec<String>),
    /// On.
    Resume,
    /// Back.
    Abort,
    /// Pods and template get these images.
    Apply(BTreeMap<ContainerName, String>),
    /// The template gets these images, and its controller acts on it.
    SetImage(BTreeMap<ContainerName, String>),
    /// The owner gets this update strategy.
    Restore(Value),
    /// The template is restored: with this JSON patch, or by hand.
    TemplateBack(Option<Value>),
    /// The owner's controller acts again.
    Release {
        /// What holds it no longer.
        release: Option<Release>,
        /// The lock goes, too.
        drops_lock: bool,
    },
}

impl Way {
    fn new(deed: Deed, label: &'static str, hooks: &BTreeSet<HookPhase>) -> Self {
        let hooks = if matches!(deed, Deed::Follow | Deed::RolloutStatus | Deed::Replace(_)) {
            BTreeSet::new()
        } else {
            hooks.clone()
        };
        Self { deed, label, take_over: false, despite: None, hooks }
    }

    fn taking_over(self) -> Self {
        Self { take_over: true, ..self }
    }

    /// Returns what leads on where it is not known that a rollout has left a template that pods do not have, or where it is
    /// not the rollout's.
    pub fn held_back(hooks: &BTreeSet<HookPhase>) -> [Self; 2] {
        [
            Self::template_to_pods(hooks),
            Self::new(Deed::Abort, "Roll back in place, dropping what was set in the template since", hooks)
                .taking_over(),
        ]
    }

    /// Returns what brings to the pods whatever the template says now.
    pub fn template_to_pods(hooks: &BTreeSet<HookPhase>) -> Self {
        Self::new(Deed::Resume, "Bring the template to the pods, in place", hooks).taking_over()
    }

    /// Returns what leads out where another client's template is held back that cannot be brought into the pods, and a rollout
    /// has left images in it: these are the ones from before.
    pub fn images_back(before: BTreeMap<ContainerName, String>) -> Self {
        let label = "Roll back the image in place, keeping what else was set in the template";
        Self::new(Deed::Apply(before), label, &BTreeSet::new())
    }

    /// The same where its controller acts on that template.
    pub fn set_images_back(before: BTreeMap<ContainerName, String>) -> Self {
        let label = "Set the image back in the template, and its controller replaces the pods that have the other one";
        Self::new(Deed::SetImage(before), label, &BTreeSet::new())
    }

    /// Returns what keeps the pods where a template is held back that cannot be brought to them in place; `None` where no
    /// template keeps them all.
    pub fn template_set_back(live: &LiveWorkload) -> Option<Self> {
        let deed = Deed::TemplateBack(plan::patch_back(&live.workload.object, &plan::kept_template(live)?));
        Some(Self::new(deed, "Set its template back, which keeps the pods", &BTreeSet::new()))
    }

    /// Returns what leads out where there is no lock that can be read.
    pub fn without_lock(hooks: &BTreeSet<HookPhase>) -> [Self; 2] {
        [
            Self::new(Deed::Resume, "Finish in place", hooks).taking_over(),
            Self::new(Deed::Abort, "Roll back in place", hooks).taking_over(),
        ]
    }
}

/// Returns what leads on from what holds a workload. `lock` is the rollout's, or a copy of it that is left.
pub(super) fn ways(hold: Hold, lock: Option<&RolloutLock>, pods: &[PodStatus]) -> Vec<Way> {
    let none = BTreeSet::new();
    let hooks = lock.map_or(&none, |lock| &lock.hooks);
    let way = |deed, label| Way::new(deed, label, hooks);
    let follow = || way(Deed::Follow, "Follow");
    let is_back = lock.is_some_and(|lock| lock.direction == Direction::Back);
    // The same would fail again.
    let abort_first = lock.is_some_and(|lock| has_failed(lock, pods));
    let despite = lock.and_then(|lock| despite(lock, pods));
    let both = |resume: Way, abort: Way| match (is_back, abort_first) {
        (true, _) => vec![Way { despite, ..abort }],
        (false, true) => vec![abort, resume],
        (false, false) => vec![resume, abort],
    };
    match hold {
        // Taking over a run that is alive must be a decision of the user.
        Hold::AtWork => vec![follow()],
        Hold::PerhapsAtWork => {
            let resume = way(Deed::Resume, "Resume, if its run is gone").taking_over();
            let abort = way(Deed::Abort, "Roll back, if its run is gone").taking_over();
            [follow()].into_iter().chain(both(resume, abort)).collect()
        }
        Hold::LeftBehind => both(way(Deed::Resume, "Resume"), way(Deed::Abort, "Roll back")),
        Hold::SetBack => vec![way(Deed::Abort, "Roll back")],
        Hold::Overtaken | Hold::Released | Hold::Anothers => vec![way(Deed::Abort, "End it, changing no container")],
        Hold::WithoutLock(_) | Hold::LeftOnPods => Way::without_lock(hooks).into(),
        Hold::HeldBack(_) | Hold::HeldOver(_) => Way::held_back(hooks).into(),
    }
}

/// Returns what leads on where no rollout holds a workload, but pods have drifted from its template, or its controller does
/// not act on a later one.
pub(super) fn ways_without_rollout(
    live: &LiveWorkload,
    pods: &[PodStatus],
    is_at_rest: bool,
    strategy: Option<Value>,
) -> Vec<Way> {
    let stays = |pod: &&PodStatus| !matches!(pod.state, PodState::Terminating | PodState::Finished);
    let reports = || pods.iter().filter(stays).flat_map(|pod| &pod.containers);
    let drifted = reports().filter(|report| report.comparison == Comparison::Drifted);
    let images = drifted.filter_map(|report| Some((report.container.clone(), report.asked.clone()?)));
    let images: BTreeMap<ContainerName, String> =
        images.filter(|(name, template)| may_be_brought(live, name, template)).collect();
    let none = BTreeSet::new();
    // Somebody may be at it.
    let is_at_rest = is_at_rest
        && !pods.iter().any(|pod| matches!(pod.state, PodState::Updating | PodState::Resizing | PodState::Deferred));
    let apply = (is_at_rest && !images.is_empty())
        .then(|| Way::new(Deed::Apply(images), "Bring the pods to the template, in place", &none));
    // Their images may be the same: it goes by the revision.
    let is_older = pods.iter().any(|pod| pod.older_revision.is_some());
    let label = if is_older {
        "Restore the updateStrategy from before, which replaces pods"
    } else {
        "Restore the updateStrategy from before"
    };
    let restore = strategy.map(|strategy| Way::new(Deed::Restore(strategy), label, &none));
    apply.into_iter().chain(restore).collect()
}

/// Returns what leads back to the images that a rollout found, where another client's template has ended it. `waits`: that
/// template is held back. Only what fails is in question.
pub(super) fn way_to_images_before(
    before: BTreeMap<ContainerName, String>,
    waits: bool,
    owner: &[OwnerState],
    pods: &[PodStatus],
) -> Option<Way> {
    let rolls_out = owner.iter().any(|state| matches!(state, OwnerState::RollingOut { .. }));
    let fails =
        |pod: &PodStatus| pod.containers.iter().any(|report| before.contains_key(&report.container) && report.fails());
    match (pods.iter().any(fails), waits) {
        (false, _) => None,
        (true, true) => Some(Way::images_back(before)),
        (true, false) => rolls_out.then(|| Way::set_images_back(before)),
    }
}

/// Returns what leads on where pods record a rollout that cannot be resumed or rolled back: its owner's controller is
/// working, or waits for its partition to be restored.
pub(super) fn ways_from_left_pods(workload: &Workload, owner: &[OwnerState]) -> Option<Way> {
    let none = BTreeSet::new();
    if owner.iter().any(|state| matches!(state, OwnerState::NotObserved | OwnerState::RollingOut { .. })) {
        return Some(Way::new(Deed::RolloutStatus, "Follow", &none));
    }
    let present = workload.object.pointer("/spec/updateStrategy")?;
    let is_above = stateful_set::partition_of(present) >= i64::from(workload.desired_replicas());
    let mut strategy = present.clone();
    *strategy.pointer_mut("/rollingUpdate/partition").filter(|_| is_above)? = 0.into();
    let label = "Set the partition back, so that its template rolls out, which replaces pods";
    Some(Way::new(Deed::Restore(strategy), label, &none))
}

/// Returns what leads out where a template is held back that cannot be brought to the pods in place, or a lock stays that
/// nobody can read: it goes, and the controller acts. `strategy` is the one from before, where it is known.
pub(super) fn releasing(live: &LiveWorkload, strategy: Option<&Value>) -> Vec<Way> {
    let label = "Let its template roll out, which can replace every pod";
    Way::template_set_back(live).into_iter().chain([released(&live.workload, strategy, label)]).collect()
}

/// Returns what ends a pause that a superseded rollout has left over the template that the pods were created from.
pub(super) fn unpaused(workload: &Workload) -> Way {
    released(workload, None, "Let its controller act again, which replaces no pod")
}

fn released(workload: &Workload, strategy: Option<&Value>, label: &'static str) -> Way {
    let release = workload.reference.kind.holds_by().release(&workload.object, strategy);
    let deed = Deed::Release { release, drops_lock: RolloutLock::text_of(&workload.object).is_some() };
    Way::new(deed, label, &BTreeSet::new())
}

/// Returns what removes the lock of a rollout that has ended, and what it holds back. `waits`: another client's template is
/// held back, and stays so.
pub(super) fn ended_already(way: Direction, waits: bool) -> Way {
    let label = match waits {
        true => "The rollout has ended before. To remove its lock",
        false => "The rollout has ended before. To remove its lock and let the controller go, in place",
    };
    let deed = match way {
        Direction::Forward => Deed::Resume,
        Direction::Back => Deed::Abort,
    };
    Way::new(deed, label, &BTreeSet::new())
}

/// Returns what deletes the ReplicaSet that a rollout has left.
pub(super) fn delete_left_revision() -> Way {
    Way::new(Deed::Abort, "Delete the ReplicaSet", &BTreeSet::new())
}

/// Returns what replaces pods with a container that is not started again, whatever its image.
fn replacing(pods: &[PodStatus]) -> Option<Way> {
    let stays_down =
        |report: &ContainerReport| matches!(&report.condition, Condition::Failed(failure) if failure.stays_down);
    let down = pods.iter().filter(|pod| pod.state == PodState::Failed && pod.containers.iter().any(stays_down));
    let names: Vec<String> = down.map(|pod| pod.key.name.clone()).collect();
    let label = "Replace what is not started again";
    (!names.is_empty()).then(|| Way::new(Deed::Replace(names), label, &BTreeSet::new()))
}

/// Adds the command that replaces what is not started again: a rollout that is resumed would not start it either.
pub(super) fn add_replacing(ways: &mut Vec<Way>, pods: &[PodStatus]) {
    let Some(way) = replacing(pods) else { return };
    if ways.iter().any(|way| way.deed == Deed::Abort) {
        ways.retain(|way| way.deed != Deed::Resume);
    }
    ways.push(way);
}

/// Whether a container with the image that the rollout brings has failed, or runs between two ends of a crash loop; or a node
/// never does the resize.
fn has_failed(lock: &RolloutLock, pods: &[PodStatus]) -> bool {
    let is_infeasible = |pod: &PodStatus| matches!(pod.resizing, Some(FieldProgress::Failed { .. }));
    if lock.change.fields.resizes() && pods.iter().any(is_infeasible) {
        return true;
    }
    pods.iter().any(|pod| fails_with(&lock.change, pod))
}

/// Returns whether every pod with this image in the container fails with it, and there are any: nobody wants to go back to it.
pub fn only_fails(pods: &[PodStatus], container: &ContainerName, image: &str) -> bool {
    let reports = pods.iter().flat_map(|pod| &pod.containers);
    let mut with_it = reports.filter(|report| report.container == *container && report.image == image).peekable();
    with_it.peek().is_some() && with_it.all(ContainerReport::fails)
}

/// Whether a container of the pod fails with the image that the change brings.
fn fails_with(change: &Change, pod: &PodStatus) -> bool {
    pod.containers.iter().any(|report| {
        let is_brought = change.images.get(&report.container).is_some_and(|image| image.in_pods() == report.image);
        is_brought && report.fails()
    })
}

/// How many pods may be down for the others to go back, where pods fail with what they had before as well.
fn despite(lock: &RolloutLock, pods: &[PodStatus]) -> Option<usize> {
    let back = lock.directed();
    // No run is active any more: a container that has its old image again and is not ready will not get there.
    let is_unready = |pod: &&PodStatus| {
        pod.containers.iter().any(|report| {
            let is_back = back.images.get(&report.container).is_some_and(|image| image.in_pods() == report.image);
            is_back && matches!(report.condition, Condition::Running { ready: false, .. })
        })
    };
    let failing = pods.iter().filter(|pod| fails_with(&back, pod) || is_unready(pod)).count();
    let is_back = |pod: &PodStatus| {
        let mut wanted = back.images.iter();
        wanted
            .all(|(name, image)| !pod.containers.iter().any(|is| is.container == *name && is.image != image.in_pods()))
    };
    let is_wanted = lock.direction == Direction::Back && failing > 0 && !pods.iter().all(is_back);
    is_wanted.then_some(failing + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::failure::Failure;
    use crate::k8s::names::PodKey;
    use crate::k8s::pod::ContainerList;
    use crate::kinds::WorkloadKind;

    fn pod(condition: Condition) -> PodStatus {
        let report = ContainerReport {
            container: "side".into(),
            list: ContainerList::Containers,
            image: "side:2".into(),
            image_id: None,
            asked: None,
            before: None,
            restarts: 0,
            last_end: None,
            again: None,
            condition,
            comparison: Comparison::Same,
        };
        PodStatus {
            key: PodKey { namespace: "prod".into(), name: "web-1".into(), uid: "u".into() },
            node: String::new(),
            state: PodState::Failed,
            ready: false,
            ready_since: None,
            unscheduled: None,
            older_revision: None,
            update: None,
            out_of_services: None,
            resizing: None,
            resources: Vec::new(),
            missing_labels: BTreeMap::new(),
            unreadable_record: false,
            containers: vec![report],
        }
    }

    #[test]
    fn an_image_from_before_is_offered_where_it_heals() {
        let failed = Failure {
            container: None,
            reason: "ErrImagePull".into(),
            message: String::new(),
            exit_code: None,
            stays_down: false,
        };
        let (failing, runs) = (pod(Condition::Failed(failed)), pod(Condition::Running { ready: true, since: None }));
        let rolls_out = [OwnerState::RollingOut { status: "1 of 3".into() }];
        let before = BTreeMap::from([("side".into(), "side:1".to_owned())]);
        let deed = |waits, owner: &[OwnerState], pod: &PodStatus| {
            way_to_images_before(before.clone(), waits, owner, std::slice::from_ref(pod)).map(|way| way.deed)
        };
        assert_eq!(deed(true, &[], &failing), Some(Deed::Apply(before.clone())));
        assert_eq!(deed(false, &rolls_out, &failing), Some(Deed::SetImage(before.clone())));
        assert_eq!(
            (deed(false, &rolls_out, &runs), deed(true, &[], &runs), deed(false, &[], &failing)),
            (None, None, None)
        );
        assert_eq!(way_to_images_before(BTreeMap::new(), true, &[], &[failing]), None);
    }

    #[test]
    fn an_image_only_fails_where_every_pod_with_it_does() {
        let failed = Failure {
            container: None,
            reason: "CrashLoopBackOff".into(),
            message: String::new(),
            exit_code: Some(1),
            stays_down: false,
        };
        let (fails, runs) = (pod(Condition::Failed(failed)), pod(Condition::Running { ready: true, since: None }));
        let only = |pods: &[PodStatus], image: &str| only_fails(pods, &"side".into(), image);
        assert!(only(&[fails.clone(), fails.clone()], "side:2"));
        assert!(!only(&[fails.clone(), runs], "side:2") && !only(&[fails], "side:1") && !only(&[], "side:2"));
    }

    #[test]
    fn what_is_not_started_again_is_replaced_and_not_resumed() {
        let way = |deed| Way::new(deed, "", &BTreeSet::new());
        for (stays_down, expected) in
            [(true, vec![Deed::Abort, Deed::Replace(vec!["web-1".into()])]), (false, vec![Deed::Abort, Deed::Resume])]
        {
            let (reason, message) = ("ErrImagePull".into(), String::new());
            let failed = Failure { container: None, reason, message, exit_code: None, stays_down };
            let mut ways = vec![way(Deed::Abort), way(Deed::Resume)];
            add_replacing(&mut ways, &[pod(Condition::Failed(failed))]);
            assert_eq!(ways.into_iter().map(|way| way.deed).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn pods_that_a_rollout_has_left_are_watched_or_wait_for_the_partition() {
        let set = |partition: u32| {
            let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
            let spec = json!({"replicas": 3, "updateStrategy": strategy});
            let object = json!({"metadata": {"name": "web", "uid": "u"}, "spec": spec});
            Workload::from_object(WorkloadKind::StatefulSet, object).expect("it has a name")
        };
        let deed = |partition, owner: &[OwnerState]| ways_from_left_pods(&set(partition), owner).map(|way| way.deed);
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
        assert_eq!(deed(3, &[]), Some(Deed::Restore(strategy)));
        assert_eq!(deed(2, &[]), None);
        let rolls_out = OwnerState::RollingOut { status: "1 of 3".into() };
        for state in [OwnerState::NotObserved, rolls_out] {
            assert_eq!(deed(0, &[state]), Some(Deed::RolloutStatus));
        }
    }
}
