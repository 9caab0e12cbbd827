//! The owner as it was read, beside what is wanted of it: what a step is decided from, and the writes that all kinds
//! have in common.

use serde_json::Value;

use super::history::{self, HistoryEntry};
use super::lease::Lease;
use super::lease::{RENEWED_LABEL, next_renewal, renewal_of};
use super::lock::{CAUSE_POINTER, CHANGE_CAUSE, Lock, LockState, ROLLOUT_ANNOTATION, ROLLOUT_POINTER};
use super::objects::{Guarded, ObjectKind, ObjectWrite, StepName};
use super::{OwnerChange, OwnerView, PodsState, integer, is};
use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::kinds::{WorkloadKind, is_paused};
use crate::state::manager::is_ours;
use crate::state::outcome::EndResult;

/// What a run knows of its own lock, besides what it reads: the one thing that the objects cannot show. An owner without a
/// lock looks the same before a rollout's first write and after a PUT of the whole object as it was then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnLock {
    #[default]
    Unwritten,
    /// It was written, and no answer says whether it was stored.
    ///
    /// Storing it raises the owner's generation, and so does any write that removes template and lock again: as long as
    /// the generation was raised once at the most, it was not stored.
    Unclear { generation: i64 },
    /// It stood on the owner.
    Held,
    /// This run has recorded the end, and removed it.
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    Yes,
    /// It certainly was not.
    No,
    /// It may have been, or may still be.
    Unknown,
}

impl OwnLock {
    /// What is known once the owner was read.
    #[must_use]
    pub fn seen(self, owner: &Owner<'_>) -> Self {
        if has_own_lock(owner) && self != Self::Closed { Self::Held } else { self }
    }

    /// What is known once a write was answered; `generation` is the owner's as it was read before.
    #[must_use]
    pub fn answered(self, written: StepName, stored: Stored, generation: i64) -> Self {
        let sets_it = matches!(written, StepName::SetTemplate | StepName::TakeLock);
        match (self, stored) {
            (_, Stored::Yes) if written == StepName::Close => Self::Closed,
            (Self::Unwritten | Self::Unclear { .. }, Stored::Yes) if sets_it => Self::Held,
            (Self::Unwritten, Stored::Unknown) if sets_it => Self::Unclear { generation },
            (_, Stored::Yes | Stored::No | Stored::Unknown) => self,
        }
    }
}

/// An owner as it was read, and everything else that the next step is decided from.
#[derive(Debug)]
pub struct Owner<'a> {
    pub(super) ours: &'a Lock,
    pub(super) change: &'a OwnerChange,
    pub(super) kind: WorkloadKind,
    /// Null where there is none.
    pub(super) object: &'a Value,
    pub(super) owned: &'a [Value],
    pub(super) pods: &'a PodsState,
    pub(super) own_lock: OwnLock,
    /// Its lock, whoever holds it; the error is one that cannot be read.
    pub(super) found: Result<Option<Lock>, ()>,
    /// The end of this rollout in the history. The owner's lock may then be an older one, which came back.
    pub(super) entry: Option<HistoryEntry>,
    now: Option<&'a str>,
    ended: &'a str,
    pub(super) field_manager: &'a str,
}

impl<'a> Owner<'a> {
    /// Brings together what was read, for a run that has written nothing yet; with the time at which it would
    /// end (RFC 3339), and the field manager that writes.
    pub fn new(
        (ours, change): (&'a Lock, &'a OwnerChange),
        kind: WorkloadKind,
        view: &'a OwnerView,
        pods: &'a PodsState,
        (ended, field_manager): (&'a str, &'a str),
    ) -> Self {
        let mut owner = Self {
            ours,
            change,
            kind,
            object: view.object.as_ref().unwrap_or(&Value::Null),
            owned: &view.owned,
            pods,
            own_lock: OwnLock::Unwritten,
            found: Ok(None),
            entry: None,
            now: view.now.as_deref(),
            ended,
            field_manager,
        };
        owner.found = Lock::of(owner.object).map_err(drop);
        if !owner.was_restored_whole() {
            owner.entry = owner.history().into_iter().find(|entry| entry.rollout.id == ours.rollout.id);
        }
        owner
    }

    #[must_use]
    pub fn knowing(self, own_lock: OwnLock) -> Self {
        Self { own_lock, ..self }
    }

    pub fn generation(&self) -> i64 {
        self.integer("/metadata/generation")
    }

    /// Returns the patch of this run's lock that says that no run is active any more, and whether requests may still
    /// arrive; `None` where that is not on it, or says so.
    pub fn mark(&self, state: LockState, late: bool) -> Option<ObjectWrite> {
        let lock = self.lock().filter(|lock| has_own_lock(self) && self.is_the_planned_one() && lock.state != state)?;
        let text = Lock { state, late, ..lock.clone() }.to_text();
        Some(self.patch().annotate(&[(ROLLOUT_ANNOTATION, Some(text))]).write())
    }

    /// Returns the patch that gives a sign of life, where one is due; `None` where the lock is not this run's.
    pub fn beat(&self) -> Option<ObjectWrite> {
        let lock = self.lock().filter(|_| has_own_lock(self) && self.is_the_planned_one())?;
        let beat = next_renewal(lock, self.object, self.now)?;
        Some(self.patch().label(&[(RENEWED_LABEL, Some(beat))]).write())
    }
}

impl<'a> Owner<'a> {
    pub(super) fn is_the_planned_one(&self) -> bool {
        is(self.object, &self.change.uid)
    }

    /// The lock of this rollout, whichever run of it has set that.
    pub(super) fn lock(&self) -> Option<&Lock> {
        self.found.as_ref().ok()?.as_ref().filter(|lock| lock.rollout.id == self.ours.rollout.id)
    }

    /// The rollout has its lock, and goes into the other direction with this run.
    pub(super) fn changes_direction(&self) -> bool {
        self.lock().is_some_and(|lock| lock.rollout.direction != self.ours.rollout.direction)
    }

    pub(super) fn has_taken_pods(&self) -> bool {
        self.change.take_over.is_none() || self.pods.taken_over
    }

    pub(super) fn is_back(&self) -> bool {
        self.ours.rollout.direction == Direction::Back
    }

    pub(super) fn target(&self) -> &'a Value {
        self.change.target(self.ours.rollout.direction)
    }

    pub(super) fn source(&self) -> &'a Value {
        self.change.target(self.ours.rollout.direction.reversed())
    }

    pub(super) fn template(&self) -> &'a Value {
        self.object.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    pub(super) fn has_target(&self) -> bool {
        same(self.template(), self.target())
    }

    pub(super) fn integer(&self, pointer: &str) -> i64 {
        integer(self.object, pointer)
    }

    fn history(&self) -> Vec<HistoryEntry> {
        history::union(self.object, self.owned)
    }

    /// Somebody has restored the whole owner from the middle of the rollout: lock, and what keeps the controller from
    /// acting. That is no stale copy, which comes back alone. A Deployment's ReplicaSet has the rollout's template: it
    /// does not get another one for a rollout that has ended, where neither is wanted any more.
    fn was_restored_whole(&self) -> bool {
        let Some(lock) = self.lock() else { return false };
        let strategy = self.object.pointer("/spec/updateStrategy");
        let is_its = [&self.change.before, &self.change.after].into_iter().any(|side| same(self.template(), side));
        let holds = is_paused(self.object) && !lock.released && is_its;
        holds || lock.rollout.strategy.as_ref().is_some_and(|saved| Some(saved) != strategy)
    }
}

impl<'a> Owner<'a> {
    /// A guarded patch that tests the lock as it was read.
    pub(super) fn patch(&self) -> Guarded<'a> {
        Guarded::of(ObjectKind::Workload(self.kind), self.object).test(ROLLOUT_POINTER)
    }

    /// The template and the lock. What keeps the controller from replacing pods comes with the same patch.
    pub(super) fn set_template(&self) -> Guarded<'a> {
        // Whatever the lock of the run before said: this write pauses a Deployment again.
        let lock = &Lock { released: false, ..self.lock_now() };
        let mut annotations = vec![(ROLLOUT_ANNOTATION, Some(lock.to_text()))];
        // A change-cause that somebody else has set meanwhile is theirs.
        let found = self.object.pointer(CAUSE_POINTER).and_then(Value::as_str);
        if lock.rollout.direction == Direction::Forward || found == lock.rollout.reason.as_deref() {
            annotations.push((CHANGE_CAUSE, lock.rollout.cause()));
        }
        // Without a lock to test, a late write could meet an owner in its old state: the history differs.
        let patch = self.patch().test(history::HISTORY_POINTER);
        let patch = patch.set("/spec/template", Some(self.target().clone())).annotate(&annotations);
        patch.without_label(RENEWED_LABEL)
    }

    /// The lock of this run with the time of this read, the first sign of life.
    fn lock_now(&self) -> Lock {
        let lock = self.ours.clone();
        let lease = lock.lease.map(|lease| Lease { since: self.now.map(str::to_owned), ..lease });
        Lock { lease, ..lock }
    }

    /// The last write: the history is written and the lock is removed, in one patch. `left` is the update strategy that
    /// is not restored: it is recorded nowhere else.
    pub(super) fn closing(&self, outcome: EndResult, left: Option<Value>) -> Guarded<'a> {
        let lock = self.ours;
        let mut entry = lock.rollout.entry(outcome, self.ended, lock.held_by());
        entry.rollout.strategy = left;
        let mut entries = self.history();
        for entry in lock.rollout.replaced.iter().cloned().chain([entry]) {
            entries.retain(|known| known.rollout.id != entry.rollout.id);
            entries.push(entry);
        }
        let annotations = [(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, Some(history::to_text(&entries)))];
        self.without_ownership(self.patch().annotate(&annotations).without_label(RENEWED_LABEL))
    }

    /// The next server-side apply of another image would report a conflict with the manager of our patches.
    fn without_ownership(&self, patch: Guarded<'a>) -> Guarded<'a> {
        // An entry of another name may be somebody else's.
        if self.change.keep_field_ownership || !is_ours(self.field_manager) {
            return patch;
        }
        super::without_ownership(self.kind, self.object, patch)
    }
}

// What several tables have in common: when a step is done, and what it writes.

pub(super) fn has_own_lock(owner: &Owner<'_>) -> bool {
    owner.lock().is_some_and(|lock| lock.is_same_run(owner.ours))
}

/// The template needs no write: it was set together with the lock, or another run of the rollout has set it.
pub(super) fn is_template_set(owner: &Owner<'_>) -> bool {
    let goes_on = owner.lock().is_some() && !owner.changes_direction();
    has_own_lock(owner) || goes_on || !same(owner.template(), owner.source())
}

/// The lock alone: another run of the rollout has set the template, or it was there before.
pub(super) fn take_lock(owner: &Owner<'_>) -> ObjectWrite {
    let found = owner.lock().map(|found| found.released && !owner.changes_direction());
    let lock = owner.lock_now();
    let lock = Lock { released: found.unwrap_or(lock.released), ..lock };
    let patch = owner.patch().test("/spec/template");
    let patch = match owner.kind.holds_by().field() {
        Some(field) => patch.test(field),
        None => patch,
    };
    patch.annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]).without_label(RENEWED_LABEL).write()
}

pub(super) fn is_observed(owner: &Owner<'_>) -> bool {
    metadata::is_observed(owner.object)
}

pub(super) fn close(owner: &Owner<'_>) -> ObjectWrite {
    let outcome = match owner.ours.rollout.direction {
        Direction::Forward if owner.pods.left => EndResult::Deferred,
        Direction::Forward => EndResult::Complete,
        Direction::Back => EndResult::Aborted,
    };
    owner.closing(outcome, None).write()
}

pub(super) fn has_remains(owner: &Owner<'_>) -> bool {
    let is_unlocked = matches!(owner.found, Ok(None));
    owner.lock().is_some() || is_unlocked && renewal_of(owner.object).is_some()
}

pub(super) fn remove_remains(owner: &Owner<'_>) -> ObjectWrite {
    owner.patch().annotate(&[(ROLLOUT_ANNOTATION, None)]).without_label(RENEWED_LABEL).write()
}
