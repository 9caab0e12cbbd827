//! The owner's side of a rollout: how its template, its revision history and its pods end up saying the same, without
//! one pod being recreated.
//!
//! Where a rollout stands is read from the objects alone: [`owner_phase`] is given the goal and what was read, and says
//! what to write next, what to wait for, whether the pods may go, or that it is over. Nothing else is remembered, so a
//! step done twice is done once, and any later run goes on where another one was killed.

pub mod change;
mod daemon_set;
pub mod deployment;
pub mod history;
pub mod lock;
mod objects;
mod replica_set;
pub mod revisions;
pub mod stateful_set;
mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{RolloutId, Uid};
use super::workload::WorkloadKind;
use change::Direction;
use lock::{LockState, ROLLOUT_ANNOTATION, ROLLOUT_POINTER, RolloutLock};
use objects::Guarded;
use step::{CHANGED_MEANWHILE, Step, integer, is_paused, text};

pub use objects::{ObjectKey, ObjectKind, ObjectWrite};

/// What is wanted of the owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerGoal {
    /// The very owner.
    pub uid: Uid,
    /// The lock that this run writes and tests.
    pub lock: RolloutLock,
    /// The annotation's text that this run's lock replaces: of the run that it goes on from. `None`: there must be none.
    pub replaces: Option<String>,
    /// The template before; of a run that goes on, worked out from the revision that the lock names.
    pub before: Value,
    /// The template wanted.
    pub after: Value,
    /// The wall clock at the time 0 of this run (RFC 3339).
    pub clock: String,
    /// The field manager of the writes.
    pub field_manager: String,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    /// Started by the person's word: when somebody else's change is found under a pause of ours, let it roll out.
    pub release: bool,
}

impl OwnerGoal {
    /// The template that this run leads to.
    pub fn target(&self) -> &Value {
        match self.lock.direction {
            Direction::Forward => &self.after,
            Direction::Back => &self.before,
        }
    }

    /// The template that this run leads away from.
    pub fn source(&self) -> &Value {
        match self.lock.direction {
            Direction::Forward => &self.before,
            Direction::Back => &self.after,
        }
    }

    /// The rollout's id.
    pub fn id(&self) -> &RolloutId {
        &self.lock.id
    }
}

/// The owner and what belongs to it, as last read; read in this order, so that what belongs to it is never older.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerView {
    /// The owner; `None` when there is none of its name.
    pub object: Option<Value>,
    /// The ReplicaSets or ControllerRevisions that it controls.
    pub owned: Vec<Value>,
}

/// What the pods say of the owner's goal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodsState {
    /// Every pod that was seen runs what is wanted, proven.
    pub done: bool,
    /// Pods of the owner that are there and not going, as last seen.
    pub present: usize,
    /// Of those, how many carry each value of the label `controller-revision-hash`; empty of kinds without revisions.
    pub labels: BTreeMap<String, usize>,
}

/// What the owner's side needs next.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnerPhase {
    /// This write.
    Do(OwnerStep, ObjectWrite),
    /// The owner's controller has to catch up.
    Await(Fence),
    /// The pods may be patched, with this label where the kind has revisions.
    PodsMayGo {
        /// `controller-revision-hash`, where the kind's pods carry it.
        revision: Option<String>,
    },
    /// Somebody else changed what the rollout rests on; clean up what is ours, if anything is left, and end.
    Superseded {
        /// What was found.
        why: String,
        /// What is ours and still there.
        cleanup: Cleanup,
    },
    /// Nothing is left to do.
    Closed,
}

/// What is left to take away of a rollout that somebody else has superseded.
#[derive(Debug, Clone, PartialEq)]
pub enum Cleanup {
    /// This write.
    Do(OwnerStep, Box<ObjectWrite>),
    /// The owner's controller has to catch up first.
    Await(Fence),
    /// Nothing.
    Nothing,
}

/// The steps on the owner, as they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerStep {
    /// The lock is taken over from the run before.
    TakeLock,
    /// Template, lock, and what keeps the controller from replacing pods: one patch.
    SetTemplate,
    /// The outgoing template is kept in the history.
    KeepHistory,
    /// What kept it in the history is taken away again.
    DropHistory,
    /// The ReplicaSet takes the template.
    SetReplicaSetTemplate,
    /// The Deployment is unpaused.
    Unpause,
    /// The partition follows a scaled StatefulSet.
    RaisePartition,
    /// The strategy is put back.
    RestoreStrategy,
    /// The lock goes, the history is written.
    Close,
    /// A copy of the lock goes.
    RemoveCopy,
    /// A revision that nothing uses goes.
    DropRevision,
    /// The lock says that no run is at work any more.
    MarkStopped,
}

impl OwnerStep {
    /// Every step.
    pub const ALL: [Self; 12] = [
        Self::TakeLock,
        Self::SetTemplate,
        Self::KeepHistory,
        Self::DropHistory,
        Self::SetReplicaSetTemplate,
        Self::Unpause,
        Self::RaisePartition,
        Self::RestoreStrategy,
        Self::Close,
        Self::RemoveCopy,
        Self::DropRevision,
        Self::MarkStopped,
    ];

    /// Says what the write is for, as in "... was refused".
    pub fn wanted(self) -> &'static str {
        match self {
            Self::TakeLock => "taking over the rollout",
            Self::SetTemplate => "setting the template",
            Self::KeepHistory => "keeping the outgoing template in the history",
            Self::DropHistory => "taking the outgoing template out of the history",
            Self::SetReplicaSetTemplate => "setting the ReplicaSet's template",
            Self::Unpause => "unpausing",
            Self::RaisePartition => "raising the partition",
            Self::RestoreStrategy => "putting the update strategy back",
            Self::Close => "recording the rollout and removing the lock",
            Self::RemoveCopy => "removing a copy of the lock",
            Self::DropRevision => "removing a revision that nothing uses",
            Self::MarkStopped => "noting that the rollout has stopped",
        }
    }

    /// Says in the past tense what was done.
    pub fn done(self) -> &'static str {
        match self {
            Self::TakeLock => "took over the rollout",
            Self::SetTemplate => "set the template",
            Self::KeepHistory => "kept the outgoing template in the history",
            Self::DropHistory => "took the outgoing template out of the history",
            Self::SetReplicaSetTemplate => "set the ReplicaSet's template",
            Self::Unpause => "unpaused",
            Self::RaisePartition => "raised the partition",
            Self::RestoreStrategy => "put the update strategy back",
            Self::Close => "recorded the rollout and removed the lock",
            Self::RemoveCopy => "removed a copy of the lock",
            Self::DropRevision => "removed a revision that nothing uses",
            Self::MarkStopped => "noted that the rollout has stopped",
        }
    }
}

/// What the owner's controller must have seen before the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fence {
    /// `status.observedGeneration` is the owner's generation.
    Observed,
    /// The controller takes the patched ReplicaSet for the current one.
    ReplicaSetAdopted,
    /// The ReplicaSet's controller counts the pods that were seen.
    PodsListed,
    /// The controller has made or chosen the revision of the new template.
    RevisionMade,
    /// The controller has seen the labels that the pods carry now: one that has not would count them wrongly later.
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
    pub fn waits_for(self) -> &'static str {
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

/// Says what the owner's side needs next, from the objects alone. `ended` is the wall clock now (RFC 3339).
pub fn owner_phase(
    goal: &OwnerGoal,
    kind: WorkloadKind,
    view: &OwnerView,
    pods: &PodsState,
    ended: &str,
) -> OwnerPhase {
    let Some(object) = view.object.as_ref().filter(|object| is(object, &goal.uid)) else {
        return superseded("it was deleted, or made anew");
    };
    if object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null()) {
        return superseded("it is being deleted");
    }
    let step = Step { goal, kind, object, owned: &view.owned, pods, ended };
    match RolloutLock::of(object) {
        Ok(Some(lock)) if lock.is_same_run(&goal.lock) => match kind {
            WorkloadKind::Deployment => deployment::held(&step, &lock),
            WorkloadKind::StatefulSet => stateful_set::held(&step),
            WorkloadKind::DaemonSet => daemon_set::held(&step),
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => replica_set::held(&step),
        },
        _ if RolloutLock::text_of(object) != goal.replaces.as_deref() => match RolloutLock::text_of(object) {
            None => step.without_lock(),
            Some(_) if step.recorded().is_some() => step.without_lock(),
            Some(_) => superseded("another run holds it"),
        },
        Ok(Some(lock)) if lock.id == goal.lock.id => step.go_on(&lock),
        Ok(_) | Err(_) if step.recorded().is_some() => step.without_lock(),
        Ok(_) | Err(_) => step.begin(),
    }
}

/// Returns how the history says that the rollout of a goal ended, whoever ended it.
pub fn recorded(goal: &OwnerGoal, view: &OwnerView) -> Option<super::outcome::EndResult> {
    let object = view.object.as_ref().filter(|object| is(object, &goal.uid))?;
    history::of(object).into_iter().find(|entry| entry.id == goal.lock.id).map(|entry| entry.outcome)
}

fn superseded(why: &str) -> OwnerPhase {
    OwnerPhase::Superseded { why: why.into(), cleanup: Cleanup::Nothing }
}

fn is(object: &Value, uid: &Uid) -> bool {
    object.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid.as_str())
}

/// Returns the write that lets somebody else's template roll out, which a superseded rollout has left under its pause or
/// strategy; `None` where nothing of ours holds it back. Nothing else of the owner is touched.
pub fn release(goal: &OwnerGoal, kind: WorkloadKind, object: &Value) -> Option<ObjectWrite> {
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test("/spec/template");
    match (kind, &goal.lock.strategy) {
        _ if !is(object, &goal.uid) => None,
        (WorkloadKind::Deployment, _) => is_paused(object).then(|| patch.set("/spec/paused", None).write()),
        (WorkloadKind::StatefulSet | WorkloadKind::DaemonSet, Some(saved)) => {
            let pointer = "/spec/updateStrategy";
            (object.pointer(pointer) != Some(saved)).then(|| patch.set(pointer, Some(saved.clone())).write())
        }
        (WorkloadKind::StatefulSet | WorkloadKind::DaemonSet, None) => None,
        (WorkloadKind::ReplicaSet | WorkloadKind::Pod, _) => None,
    }
}

/// Returns the patch of the lock that says that no run is at work any more; `None` when it is not this run's.
pub fn mark(goal: &OwnerGoal, kind: WorkloadKind, view: &OwnerView, state: LockState) -> Option<ObjectWrite> {
    let object = view.object.as_ref().filter(|object| is(object, &goal.uid))?;
    let lock = RolloutLock::of(object).ok()??;
    if !lock.is_same_run(&goal.lock) || lock.state == state {
        return None;
    }
    let text = RolloutLock { state, ..lock }.to_text();
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test(ROLLOUT_POINTER);
    Some(patch.annotate(&[(ROLLOUT_ANNOTATION, Some(text))]).write())
}

#[cfg(test)]
mod simulation;
