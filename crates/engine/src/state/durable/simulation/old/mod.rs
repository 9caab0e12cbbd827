//! The decision as it was before the tables, for a comparison over every state that the simulation visits.

mod daemon_set;
mod deployment;
mod replica_set;
mod stateful_set;
mod step;

use serde_json::Value;

use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::kinds::WorkloadKind;
use crate::state::durable::lock::RolloutLock;
use crate::state::durable::objects::{ObjectKey, ObjectKind, ObjectWrite, version_of};
use crate::state::durable::{
    Next, OwnLock, Owner, OwnerGoal, OwnerView, PodsState, StepName as OwnerStep, is, revisions,
};
use crate::value::json_path::text;
use revisions::{hash_of, name_of, template_of};
use step::{CHANGED_MEANWHILE, STRATEGY_CHANGED, Step, integer};

/// What the owner's side needs next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OwnerPhase {
    /// This write.
    Write(OwnerStep, ObjectWrite),
    /// The owner's controller has to catch up.
    WaitFor(Fence),
    /// The lock is this run's; now the pods are taken over from the run before.
    TakePods,
    /// The pods may be patched, with this label where the kind has revisions.
    PodsReleased {
        /// `controller-revision-hash`, where the kind's pods carry it.
        revision: Option<String>,
    },
    /// Somebody else changed what the rollout rests on; remove our changes, if any are left, and end.
    Superseded {
        /// What was found.
        why: String,
        /// Our changes that are left.
        cleanup: Cleanup,
    },
    /// Another run holds the owner: this run must not change it.
    TakenOver {
        /// Its lock.
        by: Box<RolloutLock>,
    },
    /// Nothing is left to do.
    Closed,
}

/// What has to be removed of a rollout that somebody else has superseded.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cleanup {
    /// This write.
    Write(OwnerStep, Box<ObjectWrite>),
    /// The owner's controller has to catch up first.
    WaitFor(Fence),
    /// Nothing.
    Nothing,
}

/// What the owner's controller must have seen before the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    /// `status.observedGeneration` is the owner's generation.
    Observed,
    /// The controller takes the patched ReplicaSet for the current one.
    ReplicaSetAdopted,
    /// The ReplicaSet's controller counts the pods that were seen.
    PodsListed,
    /// The controller has created or chosen the revision of the new template.
    RevisionMade,
    /// The controller has seen the present labels of the pods: one that has not would count them wrongly later.
    LabelsSeen,
    /// The controller counts every pod as updated.
    AllUpdated,
    /// The controller has made the update revision the current one.
    RevisionCurrent,
    /// The controller has copied the history to a ReplicaSet.
    HistoryCopied,
}

impl Fence {
    /// Says what is waited for.
    pub(super) fn waits_for(self) -> &'static str {
        match self {
            Self::Observed => "the controller to see the change",
            Self::ReplicaSetAdopted => "the controller to take the ReplicaSet for the current one",
            Self::PodsListed => "the ReplicaSet's pods to be listed",
            Self::RevisionMade => "the controller to make the revision of the new template",
            Self::LabelsSeen => "the controller to see the labels of the pods",
            Self::AllUpdated => "the controller to count every pod as updated",
            Self::RevisionCurrent => "the controller to make the new revision the current one",
            Self::HistoryCopied => "the controller to copy the history to the ReplicaSet",
        }
    }
}

/// What a run adds to each decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThisRun<'a> {
    /// The wall clock now (RFC 3339).
    pub(super) ended: &'a str,
    /// What it knows of its own lock.
    pub(super) own_lock: OwnLock,
}

/// Returns what the owner's side needs next: from the objects, and from whether this run has set its lock before.
pub(super) fn owner_phase(
    goal: &OwnerGoal,
    kind: WorkloadKind,
    view: &OwnerView,
    pods: &PodsState,
    run: ThisRun<'_>,
) -> OwnerPhase {
    let Some(object) = view.object.as_ref().filter(|object| is(object, &goal.uid)) else {
        return superseded("it was deleted or re-created");
    };
    if metadata::is_terminating(object) {
        return superseded("it is being deleted");
    }
    let step = Step { goal, kind, object, owned: &view.owned, now: view.now.as_deref(), pods, run };
    if let Some(entry) = step.recorded()
        && !step.is_set_again()
    {
        return step.after_the_end(&entry);
    }
    match RolloutLock::of(object) {
        // Late requests of the run before must fail on whatever follows.
        Ok(Some(lock)) if lock.is_same_run(&goal.lock) && goal.take_over.is_some() && !pods.taken_over => {
            OwnerPhase::TakePods
        }
        Ok(Some(lock)) if lock.is_same_run(&goal.lock) => step.held(&lock),
        Ok(None) => step.without_lock(),
        Ok(Some(by)) if run.own_lock == OwnLock::Held => OwnerPhase::TakenOver { by: Box::new(by) },
        Err(_) if run.own_lock == OwnLock::Held => superseded("its lock was edited by another client"),
        Ok(Some(by)) if RolloutLock::text_of(object) != goal.replaces.as_deref() => {
            OwnerPhase::TakenOver { by: Box::new(by) }
        }
        Err(_) if RolloutLock::text_of(object) != goal.replaces.as_deref() => {
            superseded("it is held by a lock that cannot be read (another version, or edited)")
        }
        // Nothing was written yet, and the run that was taken for gone is active.
        Ok(Some(by)) if goal.has_come_alive(object) => OwnerPhase::TakenOver { by: Box::new(by) },
        Ok(Some(lock)) if lock.id == goal.lock.id => step.go_on(&lock),
        Ok(Some(_)) | Err(_) => step.begin(),
    }
}

fn superseded(why: &str) -> OwnerPhase {
    OwnerPhase::Superseded { why: why.into(), cleanup: Cleanup::Nothing }
}

/// On the way back: revisions that this rollout, or one that it replaced, created and that nothing uses any more would
/// be the next targets of `kubectl rollout undo`.
fn drop_unused(step: &Step<'_>, in_use: &[&str]) -> Option<OwnerPhase> {
    if step.goal.lock.direction != Direction::Back {
        return None;
    }
    // A revision that is older than the rollout that brought it is somebody else's.
    let mut brought = step.goal.lock.left_by_the_others(&step.goal.before);
    brought.push(("", step.goal.after.clone()));
    let is_carried = |revision: &Value| {
        [name_of(revision), hash_of(revision)].iter().any(|label| step.pods.labels.contains_key(*label))
    };
    let is_unused = |revision: &&Value| {
        let name = name_of(revision);
        let is_free =
            !in_use.contains(&name) && step.goal.lock.reuses.as_deref() != Some(name) && !is_carried(revision);
        let made = revision.pointer("/metadata/creationTimestamp").and_then(Value::as_str).unwrap_or_default();
        is_free && brought.iter().any(|(since, template)| made >= *since && same(&template_of(revision), template))
    };
    let unused = step.owned.iter().find(is_unused)?;
    let object = ObjectKey::of(ObjectKind::ControllerRevision, unused);
    let version = version_of(unused);
    Some(OwnerPhase::Write(OwnerStep::DropRevision, ObjectWrite::Delete { object, version }))
}

fn as_next(goal: &OwnerGoal, phase: OwnerPhase) -> (Option<String>, Next) {
    match phase {
        OwnerPhase::Write(step, write) => (None, Next::Write(step, write)),
        OwnerPhase::WaitFor(fence) => (None, Next::Wait(fence.waits_for())),
        OwnerPhase::TakePods => (None, Next::TakePods),
        OwnerPhase::PodsReleased { revision } => (None, Next::UpdatePods { revision }),
        OwnerPhase::Superseded { why, cleanup } => {
            let next = match cleanup {
                Cleanup::Write(step, write) => Next::Write(step, *write),
                Cleanup::WaitFor(fence) => Next::Wait(fence.waits_for()),
                Cleanup::Nothing => Next::Nothing,
            };
            (Some(why), next)
        }
        OwnerPhase::TakenOver { by } => (Some(goal.taken_over(&by)), Next::Nothing),
        OwnerPhase::Closed => (None, Next::Nothing),
    }
}

fn short(next: &Next) -> String {
    match next {
        Next::Write(step, _) => format!("{step:?}"),
        other => format!("{other:?}"),
    }
}

/// Both name the same write, wait or stop.
pub(super) fn compare(owner: &Owner<'_>, view: &OwnerView, ended: &str, conflict: Option<&String>, next: &Next) {
    let run = ThisRun { ended, own_lock: owner.own_lock };
    let (why, old) = as_next(owner.goal, owner_phase(owner.goal, owner.kind, view, owner.pods, run));
    assert_eq!((why.as_ref(), short(&old)), (conflict, short(next)), "{}", owner.object);
}
