//! The owner's side of a rollout: how its template, its revision history and its pods come to agree, without
//! one pod being recreated.
//!
//! Where a rollout stands is read from the objects alone: [`owner_phase`] gets the goal and what was read, and returns
//! what to write next, what to wait for, whether the pods may go, or that it is over. Nothing else is remembered, so a
//! step done twice is done once, and any later run goes on where another one was killed.

mod daemon_set;
pub mod deployment;
pub mod history;
pub mod holder;
pub mod life;
pub mod lock;
mod objects;
mod own_lock;
mod replica_set;
pub mod revisions;
pub mod stateful_set;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::change::Direction;
use crate::k8s::metadata;
use crate::k8s::names::{RolloutId, Uid};
use crate::kinds::{Release, Revisions, WorkloadKind};
use crate::state::manager::is_ours;
use crate::state::record::TakenOver;
use crate::value::json_path::text;
use history::HistoryEntry;
use life::BEAT_LABEL;
use lock::{LockState, ROLLOUT_ANNOTATION, ROLLOUT_POINTER, RolloutLock};
use objects::Guarded;
use step::{CHANGED_MEANWHILE, STRATEGY_CHANGED, Step, integer};

pub use objects::{ObjectKey, ObjectKind, ObjectWrite};
pub use own_lock::{OwnLock, Stored};

/// What is wanted of the owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerGoal {
    /// The owner, by uid.
    pub uid: Uid,
    /// The lock that this run writes and tests.
    pub lock: RolloutLock,
    /// The annotation's text that this run's lock replaces: that of the run that it goes on from. `None`: there must be
    /// none.
    pub replaces: Option<String>,
    /// There is no lock that can be read, and this run's is derived from other objects: it goes on from whatever step
    /// the objects show, also under a pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// That lock's run was taken for gone when this was its last sign of life (or it had none): if it gives another, it
    /// is active. `None`: this run goes on whatever that run does.
    #[serde(default, deserialize_with = "that_is_there", skip_serializing_if = "Option::is_none")]
    pub unless_alive: Option<LastBeat>,
    /// The template before; for a run that goes on, derived from the revision that the lock names.
    pub before: Value,
    /// The template wanted.
    pub after: Value,
    /// The wall clock at the time 0 of this run (RFC 3339).
    pub clock: String,
    /// The field manager of the writes.
    pub field_manager: String,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    /// The pods are taken over first: requests of the run that held the owner before may still arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_over: Option<TakenOver>,
    /// The runs that had taken pods of this rollout over before this one was planned: their notes on pods do not mean
    /// that somebody takes the pods from this run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub earlier: BTreeSet<String>,
    /// The user who begins this run, as the server knows it.
    #[serde(default)]
    pub who: String,
    /// It goes on from another run of the same command, which may have changed pods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
}

/// A beat that is present without a time is not an absent one.
fn that_is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LastBeat>, D::Error> {
    LastBeat::deserialize(deserializer).map(Some)
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

    /// Whether the run whose lock this one replaces has given a sign of life since it was taken for gone.
    fn has_come_alive(&self, object: &Value) -> bool {
        self.unless_alive.as_ref().is_some_and(|seen| seen.0.as_deref() != life::beat_of(object))
    }

    /// Says who holds the owner in place of this run.
    pub fn taken_over(&self, by: &RolloutLock) -> String {
        let who = by.holder.as_ref().map_or(by.who.as_str(), |holder| holder.who.as_str());
        let host = by.holder.as_ref().map(|holder| format!(" from {}", holder.process.host)).unwrap_or_default();
        if by.id != self.lock.id {
            return format!("rollout \"{}\" of {who}{host} has taken its place; no further changes by this run", by.id);
        }
        let replaced = self.replaces.as_ref().and_then(|text| serde_json::from_str::<RolloutLock>(text).ok());
        if replaced.is_some_and(|replaced| replaced.run == by.run) {
            let run = format!("the run of {who}{host} that seemed to be gone has given another sign of life");
            return format!("{run}; no further changes by this run");
        }
        let what = match (by.direction, self.lock.direction) {
            (Direction::Back, Direction::Forward) => ", to abort it",
            (Direction::Forward, Direction::Back) => ", to resume it",
            (Direction::Forward, Direction::Forward) | (Direction::Back, Direction::Back) => "",
        };
        format!("rollout \"{}\" was taken over by {who}{host}{what}; no further changes by this run", by.id)
    }
}

/// The label with the sign of life of a run, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LastBeat(pub Option<String>);

/// The owner and what belongs to it, as last read; read in this order, so that what belongs to it is never older.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerView {
    /// The owner; `None` when there is none of its name.
    pub object: Option<Value>,
    /// The ReplicaSets or ControllerRevisions that it controls.
    pub owned: Vec<Value>,
    /// The server's time of the read (RFC 3339), where the answer had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

impl OwnerView {
    /// Returns the owner's `metadata.generation`.
    pub fn generation(&self) -> i64 {
        self.object.as_ref().map_or(0, |object| integer(object, "/metadata/generation"))
    }
}

/// The state of the pods with regard to the owner's goal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodsState {
    /// Every pod that was seen runs what is wanted, proven, or is left to its kubelet.
    pub done: bool,
    /// The resize of some of them is left to their kubelets.
    pub left: bool,
    /// Some of them were deleted or evicted before they had it.
    pub replaced: bool,
    /// Pods of the owner that exist and are not terminating, as last seen.
    pub present: usize,
    /// Every present pod notes that this run has taken it over, where it has to.
    pub taken_over: bool,
    /// The number of those with each value of the label `controller-revision-hash`; empty for kinds without revisions.
    pub labels: BTreeMap<String, usize>,
}

/// What the owner's side needs next.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnerPhase {
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
pub enum Cleanup {
    /// This write.
    Write(OwnerStep, Box<ObjectWrite>),
    /// The owner's controller has to catch up first.
    WaitFor(Fence),
    /// Nothing.
    Nothing,
}

/// The steps on the owner, as they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerStep {
    /// The lock is taken over from the run before.
    TakeLock,
    /// Template, lock, and what keeps the controller from replacing pods: one patch.
    SetTemplate,
    /// The outgoing template is kept in the history.
    KeepHistory,
    /// What kept it in the history is removed again.
    DropHistory,
    /// The ReplicaSet takes the template.
    SetReplicaSetTemplate,
    /// The Deployment is unpaused.
    Unpause,
    /// The partition follows a scaled StatefulSet.
    RaisePartition,
    /// The strategy is restored.
    RestoreStrategy,
    /// The lock is removed, the history is written.
    Close,
    /// A copy of the lock is removed.
    RemoveCopy,
    /// A revision that nothing uses is deleted.
    DropRevision,
    /// The lock says that no run is active any more.
    MarkStopped,
    /// A sign of life.
    Beat,
}

impl OwnerStep {
    /// Every step.
    pub const ALL: [Self; 13] = [
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
        Self::Beat,
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
            Self::RestoreStrategy => "restoring the update strategy",
            Self::Close => "recording the rollout and releasing the lock",
            Self::RemoveCopy => "removing a copy of the lock",
            Self::DropRevision => "removing a revision that nothing uses",
            Self::MarkStopped => "noting that the rollout has stopped",
            Self::Beat => "noting that the rollout is at work",
        }
    }

    /// Says in the past tense what was done.
    pub fn done(self) -> &'static str {
        match self {
            Self::TakeLock => "took over the rollout",
            Self::SetTemplate => "set the template",
            Self::KeepHistory => "saved the outgoing template as a revision",
            Self::DropHistory => "removed the outgoing template from the history",
            Self::SetReplicaSetTemplate => "set the ReplicaSet's template",
            Self::Unpause => "unpaused",
            Self::RaisePartition => "raised the partition",
            Self::RestoreStrategy => "restored the update strategy",
            Self::Close => "recorded the rollout, released the lock",
            Self::RemoveCopy => "removed a copy of the lock",
            Self::DropRevision => "removed a revision that nothing uses",
            Self::MarkStopped => "noted that the rollout has stopped",
            Self::Beat => "noted that the rollout is at work",
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

/// What a run adds to each decision.
#[derive(Debug, Clone, Copy)]
pub struct ThisRun<'a> {
    /// The wall clock now (RFC 3339).
    pub ended: &'a str,
    /// What it knows of its own lock.
    pub own_lock: OwnLock,
}

/// Returns what the owner's side needs next: from the objects, and from whether this run has set its lock before.
pub fn owner_phase(
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

fn is(object: &Value, uid: &Uid) -> bool {
    object.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid.as_str())
}

/// Returns the lock of another run that holds the owner by now; `None` where there is none. The lock that this run
/// replaces does not count.
pub fn another_run(goal: &OwnerGoal, object: &Value) -> Option<RolloutLock> {
    RolloutLock::text_of(object).filter(|text| Some(*text) != goal.replaces.as_deref())?;
    RolloutLock::of(object).ok().flatten().filter(|lock| !lock.is_same_run(&goal.lock))
}

/// Returns the writes that end the rollouts which hold a workload without another step of theirs: its lock goes, what
/// holds its controller gets the value from `before`, the history gets `ended`; then the copies of the lock.
pub fn released(
    kind: WorkloadKind,
    (object, owned): (&Value, &[Value]),
    before: Option<&Value>,
    ended: Vec<HistoryEntry>,
) -> Vec<ObjectWrite> {
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test("/spec/template").test(ROLLOUT_POINTER);
    let mut entries = history::union(std::iter::once(object).chain(owned));
    entries.retain(|known| ended.iter().all(|entry| entry.id != known.id));
    entries.extend(ended);
    let history = (!entries.is_empty()).then(|| history::to_text(&entries));
    let patch = patch.annotate(&[(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, history)]);
    let patch = if life::beat_of(object).is_some() { patch.label(&[(BEAT_LABEL, None)]) } else { patch };
    let patch = without_ownership(object, patch);
    let patch = match kind.holds_by().release(object, before) {
        Some(Release::Remove(field)) => patch.set(field, None),
        Some(Release::Restore(field, before)) => patch.set(field, Some(before)),
        None => patch,
    };
    let copies = owned.iter().filter(|copy| RolloutLock::text_of(copy).is_some());
    let copies = kind.owns_through().into_iter().flat_map(|through| {
        let remove =
            move |copy| Guarded::of(ObjectKind::Workload(through), copy).annotate(&[(ROLLOUT_ANNOTATION, None)]);
        copies.clone().map(remove)
    });
    std::iter::once(patch).chain(copies).map(Guarded::write).collect()
}

/// Adds that the server's notes of this program's updates go: the next server-side apply of another image would report a
/// conflict with their field manager.
fn without_ownership<'a>(object: &'a Value, patch: Guarded<'a>) -> Guarded<'a> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let is_of_our_updates = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        is_ours(text("manager")) && text("operation") == "Update" && text("subresource").is_empty()
    };
    let found = entries.into_iter().flatten().enumerate().filter(|(_, entry)| is_of_our_updates(entry));
    // From the last one on, so that the places of the others do not change.
    found.collect::<Vec<_>>().into_iter().rev().fold(patch, |patch, (index, _)| {
        let pointer = format!("/metadata/managedFields/{index}");
        patch.test(&format!("{pointer}/manager")).test(&format!("{pointer}/operation")).remove(&pointer)
    })
}

/// Returns the template that a revision of a workload of this kind holds.
pub fn template_of_revision(kind: WorkloadKind, revision: &Value) -> Value {
    match kind.revisions() {
        Revisions::ReplicaSets => deployment::template_of(revision),
        Revisions::ControllerRevisions(_) | Revisions::None => revisions::template_of(revision),
    }
}

/// Returns the patch of the lock that says that no run is active any more, and whether requests may still arrive;
/// `None` when it is not this run's.
pub fn mark(
    goal: &OwnerGoal,
    kind: WorkloadKind,
    view: &OwnerView,
    state: LockState,
    late: bool,
) -> Option<ObjectWrite> {
    let object = view.object.as_ref().filter(|object| is(object, &goal.uid))?;
    let lock = RolloutLock::of(object).ok()??;
    if !lock.is_same_run(&goal.lock) || lock.state == state {
        return None;
    }
    let text = RolloutLock { state, late, ..lock }.to_text();
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test(ROLLOUT_POINTER);
    Some(patch.annotate(&[(ROLLOUT_ANNOTATION, Some(text))]).write())
}

/// Returns the patch that gives a sign of life, where one is due; `None` where the lock is not this run's.
pub fn beat(goal: &OwnerGoal, kind: WorkloadKind, view: &OwnerView) -> Option<ObjectWrite> {
    let object = view.object.as_ref().filter(|object| is(object, &goal.uid))?;
    let lock = RolloutLock::of(object).ok()?.filter(|lock| lock.is_same_run(&goal.lock))?;
    let beat = life::next_beat(&lock, object, view.now.as_deref())?;
    let patch = Guarded::of(ObjectKind::Workload(kind), object).test(ROLLOUT_POINTER);
    Some(patch.label(&[(BEAT_LABEL, Some(beat))]).write())
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
