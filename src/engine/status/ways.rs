//! What leads on from a rollout that holds a workload: one list for whatever prints it, the one that helps most first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Comparison, Condition, PodState, PodStatus};
use crate::engine::change::{Change, Direction, FieldProgress};
use crate::engine::k8s::names::ContainerName;
use crate::engine::plan::Hold;
use crate::engine::state::durable::lock::RolloutLock;
use crate::engine::state::hook::HookPhase;

/// One command that leads on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// What it does.
    pub deed: Deed,
    /// What is printed before it, without a colon.
    pub label: &'static str,
    /// It needs `--take-over`.
    pub take_over: bool,
    /// It goes on at a pod that fails, and so many pods may be down.
    pub despite: Option<usize>,
    /// The commands around each pod that the rollout began with: they are given again, or left out on purpose.
    pub hooks: BTreeSet<HookPhase>,
}

/// What is done about a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Only looks.
    Follow,
    /// On.
    Resume,
    /// Back.
    Abort,
    /// The pods get these images, which their template has already.
    Apply(BTreeMap<ContainerName, String>),
    /// The owner gets this update strategy.
    Restore(Value),
}

impl Way {
    fn new(deed: Deed, label: &'static str, hooks: &BTreeSet<HookPhase>) -> Self {
        let hooks = if deed == Deed::Follow { BTreeSet::new() } else { hooks.clone() };
        Self { deed, label, take_over: false, despite: None, hooks }
    }

    fn taking_over(self) -> Self {
        Self { take_over: true, ..self }
    }

    /// Returns what leads on where it is not known that a rollout has left a template that pods do not have, or where it is
    /// not the rollout's.
    pub fn held_back(hooks: &BTreeSet<HookPhase>) -> [Self; 2] {
        [
            Self::new(Deed::Resume, "Bring the template to the pods, in place", hooks).taking_over(),
            Self::new(Deed::Abort, "Roll back in place, dropping what was set in the template since", hooks)
                .taking_over(),
        ]
    }

    /// Returns what leads out where there is no lock that can be read.
    pub fn without_lock(hooks: &BTreeSet<HookPhase>) -> [Self; 2] {
        [
            Self::new(Deed::Resume, "To finish it in place", hooks).taking_over(),
            Self::new(Deed::Abort, "To roll it back in place", hooks).taking_over(),
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
        // Whoever takes over a run that is alive must mean it.
        Hold::AtWork => vec![follow()],
        Hold::PerhapsAtWork => {
            let resume = way(Deed::Resume, "Resume, if its run is gone").taking_over();
            let abort = way(Deed::Abort, "Roll back, if its run is gone").taking_over();
            [follow()].into_iter().chain(both(resume, abort)).collect()
        }
        Hold::LeftBehind => both(way(Deed::Resume, "Resume"), way(Deed::Abort, "Roll back")),
        Hold::SetBack => vec![way(Deed::Abort, "Roll back")],
        Hold::Overtaken | Hold::LetGo => vec![way(Deed::Abort, "End it, changing no image")],
        Hold::WithoutLock(_) | Hold::LeftOnPods => Way::without_lock(hooks).into(),
        Hold::HeldBack(_) => Way::held_back(hooks).into(),
    }
}

/// Returns what leads on where no rollout holds a workload, but pods have drifted from its template, or its controller does
/// not act on a later one.
pub(super) fn ways_without_rollout(pods: &[PodStatus], is_at_rest: bool, strategy: Option<Value>) -> Vec<Way> {
    let stays = |pod: &&PodStatus| !matches!(pod.state, PodState::Terminating | PodState::Finished);
    let reports = || pods.iter().filter(stays).flat_map(|pod| &pod.containers);
    let drifted = reports().filter(|report| report.comparison == Comparison::Drifted);
    let images: BTreeMap<ContainerName, String> =
        drifted.filter_map(|report| Some((report.container.clone(), report.asked.clone()?))).collect();
    let none = BTreeSet::new();
    // Somebody may be at it.
    let is_at_rest = is_at_rest
        && !pods.iter().any(|pod| matches!(pod.state, PodState::Updating | PodState::Resizing | PodState::Deferred));
    let apply = (is_at_rest && !images.is_empty())
        .then(|| Way::new(Deed::Apply(images), "Bring the pods to the template, in place", &none));
    // Their images may be the same: it goes by the revision.
    let is_older = pods.iter().any(|pod| pod.older_revision.is_some());
    let label = if is_older {
        "Restore the updateStrategy that was applied last, which replaces pods"
    } else {
        "Restore the updateStrategy that was applied last"
    };
    let restore = strategy.map(|strategy| Way::new(Deed::Restore(strategy), label, &none));
    apply.into_iter().chain(restore).collect()
}

/// Returns what deletes the ReplicaSet that a rollout has left.
pub(super) fn delete_left_revision() -> Way {
    Way::new(Deed::Abort, "Delete the ReplicaSet", &BTreeSet::new())
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

/// Whether a container of the pod fails with the image that the change brings.
fn fails_with(change: &Change, pod: &PodStatus) -> bool {
    pod.containers.iter().any(|report| {
        let is_brought = change.images.get(&report.container).is_some_and(|image| image.to == report.image);
        // Between two runs the kubelet shows the end itself for a while.
        let is_between = matches!(report.condition, Condition::Starting { .. });
        let is_between = is_between && report.last_exit.is_some_and(|code| code != 0);
        let has_crashed = is_between || report.again.is_some() && report.last_exit != Some(0);
        is_brought && (has_crashed || matches!(report.condition, Condition::Failed(_) | Condition::Restarted { .. }))
    })
}

/// How many pods may be down for the others to go back, where pods fail with what they had before as well.
fn despite(lock: &RolloutLock, pods: &[PodStatus]) -> Option<usize> {
    let back = lock.directed();
    // Nobody is at work any more: what has its image back and is not ready is not getting there.
    let is_unready = |pod: &&PodStatus| {
        pod.containers.iter().any(|report| {
            let is_back = back.images.get(&report.container).is_some_and(|image| image.to == report.image);
            is_back && matches!(report.condition, Condition::Running { ready: false, .. })
        })
    };
    let failing = pods.iter().filter(|pod| fails_with(&back, pod) || is_unready(pod)).count();
    let is_back = |pod: &PodStatus| {
        let mut wanted = back.images.iter();
        wanted.all(|(name, image)| !pod.containers.iter().any(|is| is.container == *name && is.image != image.to))
    };
    let is_wanted = lock.direction == Direction::Back && failing > 0 && !pods.iter().all(is_back);
    is_wanted.then_some(failing + 1)
}
