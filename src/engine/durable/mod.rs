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

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{RolloutId, Uid};
use super::outcome::EndResult;
use super::workload::WorkloadKind;
use change::{Direction, same};
use history::{HistoryEntry, HistoryImage};
use lock::{LockState, ROLLOUT_ANNOTATION, ROLLOUT_POINTER, RolloutLock};
use objects::Guarded;

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

fn superseded(why: &str) -> OwnerPhase {
    OwnerPhase::Superseded { why: why.into(), cleanup: Cleanup::Nothing }
}

fn is(object: &Value, uid: &Uid) -> bool {
    object.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid.as_str())
}

/// Everything that a phase is decided from.
struct Step<'a> {
    goal: &'a OwnerGoal,
    kind: WorkloadKind,
    object: &'a Value,
    owned: &'a [Value],
    pods: &'a PodsState,
    ended: &'a str,
}

impl<'a> Step<'a> {
    fn object_kind(&self) -> ObjectKind {
        ObjectKind::Workload(self.kind)
    }

    fn template(&self) -> &'a Value {
        self.object.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    fn integer(&self, pointer: &str) -> i64 {
        integer(self.object, pointer)
    }

    fn is_observed(&self) -> bool {
        self.integer("/status/observedGeneration") >= self.integer("/metadata/generation")
    }

    /// A guarded patch of the owner that tests the lock as it was read.
    fn patch(&self) -> Guarded<'a> {
        Guarded::of(self.object_kind(), self.object).test(ROLLOUT_POINTER)
    }

    /// What the history says of this rollout.
    fn recorded(&self) -> Option<HistoryEntry> {
        history::of(self.object).into_iter().find(|entry| entry.id == self.goal.lock.id)
    }

    /// The first write: the template, the lock, and what keeps the controller from replacing pods, in one patch.
    fn begin(&self) -> OwnerPhase {
        if !same(self.template(), self.goal.source()) {
            return superseded("its template changed meanwhile");
        }
        if self.kind == WorkloadKind::Deployment && is_paused(self.object) {
            return superseded("it was paused meanwhile");
        }
        self.set_template()
    }

    fn set_template(&self) -> OwnerPhase {
        // Whatever the lock of the run before said: this write pauses a Deployment anew.
        let lock = &RolloutLock { released: false, ..self.goal.lock.clone() };
        let mut annotations = vec![(ROLLOUT_ANNOTATION, Some(lock.to_text()))];
        if let (Some(reason), Direction::Forward) = (&lock.reason, lock.direction) {
            annotations.push((CHANGE_CAUSE, Some(reason.clone())));
        }
        let patch = self.patch().set("/spec/template", Some(self.goal.target().clone())).annotate(&annotations);
        let patch = match self.kind {
            WorkloadKind::Deployment => patch.set("/spec/paused", Some(Value::Bool(true))),
            // A partition above all pods is one only for the number of them that was read.
            WorkloadKind::StatefulSet => {
                patch.test("/spec/replicas").set("/spec/updateStrategy", Some(stateful_set::working_strategy(self)))
            }
            WorkloadKind::DaemonSet => patch.set("/spec/updateStrategy", Some(daemon_set::working_strategy())),
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => patch,
        };
        OwnerPhase::Do(OwnerStep::SetTemplate, patch.write())
    }

    /// Another run's lock of the same rollout: taken over, together with the way back where the direction turns.
    fn go_on(&self, found: &RolloutLock) -> OwnerPhase {
        let turns = found.direction != self.goal.lock.direction;
        if turns && same(self.template(), self.goal.source()) {
            return self.set_template();
        }
        let lock = RolloutLock { released: found.released && !turns, ..self.goal.lock.clone() };
        let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]);
        OwnerPhase::Do(OwnerStep::TakeLock, patch.write())
    }

    /// The lock is gone, or is a stale copy that came back with a ReplicaSet's annotations.
    fn without_lock(&self) -> OwnerPhase {
        let Some(entry) = self.recorded() else {
            return match self.goal.replaces {
                None => self.begin(),
                Some(_) => self.cleaned_up("its lock was removed by somebody else", self.tidy_copies()),
            };
        };
        if RolloutLock::text_of(self.object).is_some() {
            let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, None)]);
            return OwnerPhase::Do(OwnerStep::RemoveCopy, patch.write());
        }
        match entry.outcome {
            EndResult::Superseded => self.cleaned_up(CHANGED_MEANWHILE, self.tidy_copies()),
            _ => self.tidy_copies(),
        }
    }

    /// What is left to do is done, and then it ends as superseded.
    fn cleaned_up(&self, why: &str, next: OwnerPhase) -> OwnerPhase {
        let cleanup = match next {
            OwnerPhase::Do(step, write) => Cleanup::Do(step, Box::new(write)),
            OwnerPhase::Await(fence) => Cleanup::Await(fence),
            OwnerPhase::PodsMayGo { .. } | OwnerPhase::Superseded { .. } | OwnerPhase::Closed => Cleanup::Nothing,
        };
        OwnerPhase::Superseded { why: why.into(), cleanup }
    }

    /// Whether the controller has seen every pod that is not labelled with the revision as such.
    ///
    /// On the way back a pod was labelled twice. A controller whose cache of pods is behind both labels counts it as updated
    /// all the while, and would replace it once the strategy is back and the first label comes by.
    fn has_seen_labels(&self, revision: &str, updated: i64, wanted: i64) -> bool {
        let others = self.pods.labels.iter().filter(|(label, _)| label.as_str() != revision).map(|(_, pods)| pods);
        let others = i64::try_from(others.sum::<usize>()).unwrap_or(i64::MAX);
        updated <= wanted.saturating_sub(others).max(0)
    }

    /// The controller has copied the lock to ReplicaSets: the copies go once it has seen that the owner has none.
    fn tidy_copies(&self) -> OwnerPhase {
        if self.kind != WorkloadKind::Deployment {
            return OwnerPhase::Closed;
        }
        let knows = |set: &&Value| history::of(set).iter().any(|entry| entry.id == self.goal.lock.id);
        let is_ours = |set: &&Value| matches!(RolloutLock::of(set), Ok(Some(lock)) if lock.id == self.goal.lock.id);
        // An annotation raises a Deployment's generation. While somebody else's template is paused no ReplicaSet matches
        // it, and no history is ever copied; before it is seen, a copy may still be made where there is none yet.
        if !self.is_observed() && !self.owned.iter().any(|set| knows(&set)) {
            return OwnerPhase::Await(Fence::HistoryCopied);
        }
        let Some(copy) = self.owned.iter().find(is_ours) else { return OwnerPhase::Closed };
        let patch = Guarded::of(ObjectKind::Workload(WorkloadKind::ReplicaSet), copy);
        OwnerPhase::Do(OwnerStep::RemoveCopy, patch.annotate(&[(ROLLOUT_ANNOTATION, None)]).write())
    }

    /// The last write: the lock goes and the history is written, in one patch.
    fn closing(&self, outcome: EndResult) -> Guarded<'a> {
        let lock = &self.goal.lock;
        let containers = lock.change.images.iter().map(|(name, image)| {
            let from = lock.origin.get(name).unwrap_or(&image.from).clone();
            let image_id = lock.digests.get(name).cloned();
            (name.clone(), HistoryImage { from, to: image.to.clone(), image_id })
        });
        let mut entries = history::union(std::iter::once(self.object).chain(self.owned));
        entries.retain(|entry| entry.id != lock.id);
        entries.push(HistoryEntry {
            id: lock.id.clone(),
            who: lock.who.clone(),
            began: lock.since.clone(),
            ended: self.ended.to_owned(),
            reason: lock.reason.clone(),
            containers: containers.collect(),
            metadata: lock.change.metadata.clone(),
            outcome,
        });
        let annotations = [(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, Some(history::to_text(&entries)))];
        self.without_ownership(self.patch().annotate(&annotations))
    }

    /// The next server-side apply of another image would report a conflict with the manager of our patches.
    fn without_ownership(&self, patch: Guarded<'a>) -> Guarded<'a> {
        if self.goal.keep_field_ownership || self.goal.field_manager != OUR_MANAGER {
            return patch;
        }
        let entries = self.object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let is_ours = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            text("manager") == OUR_MANAGER && text("operation") == "Update" && text("subresource").is_empty()
        };
        match entries.and_then(|entries| entries.iter().position(is_ours)) {
            Some(index) => {
                let pointer = format!("/metadata/managedFields/{index}");
                patch.test(&format!("{pointer}/manager")).test(&format!("{pointer}/operation")).remove(&pointer)
            }
            None => patch,
        }
    }

    /// It is done: the lock goes. What is undone ends as aborted.
    fn close(&self) -> OwnerPhase {
        let outcome = match self.goal.lock.direction {
            Direction::Forward => EndResult::Complete,
            Direction::Back => EndResult::Aborted,
        };
        OwnerPhase::Do(OwnerStep::Close, self.closing(outcome).write())
    }
}

const CHANGED_MEANWHILE: &str = "its template was changed by somebody else";

/// The default of `--field-manager`: an entry of another name may be somebody else's.
const OUR_MANAGER: &str = "kubectl-inplace";

/// What `kubectl rollout history` shows beside a revision.
const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

fn integer(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn is_paused(object: &Value) -> bool {
    object.pointer("/spec/paused").and_then(Value::as_bool) == Some(true)
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
