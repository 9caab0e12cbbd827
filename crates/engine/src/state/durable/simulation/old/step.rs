//! What the kinds have in common: the first write, taking a lock over, and the last writes.

use serde_json::Value;

use super::{
    Cleanup, Fence, OwnLock, OwnerGoal, OwnerPhase, OwnerStep, PodsState, ThisRun, daemon_set, deployment, replica_set,
    stateful_set, superseded,
};
use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::kinds::is_paused;
use crate::kinds::{HoldsBy, WorkloadKind};
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::durable::holder::Holder;
use crate::state::durable::life::{BEAT_LABEL, beat_of};
use crate::state::durable::lock::{CAUSE_POINTER, CHANGE_CAUSE, ROLLOUT_ANNOTATION, ROLLOUT_POINTER, RolloutLock};
use crate::state::durable::objects::{Guarded, ObjectKind};
use crate::state::manager::{is_ours, is_same_writer};
use crate::state::outcome::EndResult;

/// Everything that a phase is decided from.
pub(super) struct Step<'a> {
    pub(super) goal: &'a OwnerGoal,
    pub(super) kind: WorkloadKind,
    pub(super) object: &'a Value,
    pub(super) owned: &'a [Value],
    /// The server's time of the read.
    pub(super) now: Option<&'a str>,
    pub(super) pods: &'a PodsState,
    pub(super) run: ThisRun<'a>,
}

impl<'a> Step<'a> {
    pub(super) fn object_kind(&self) -> ObjectKind {
        ObjectKind::Workload(self.kind)
    }

    pub(super) fn template(&self) -> &'a Value {
        self.object.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    pub(super) fn integer(&self, pointer: &str) -> i64 {
        integer(self.object, pointer)
    }

    pub(super) fn is_observed(&self) -> bool {
        metadata::is_observed(self.object)
    }

    /// A guarded patch of the owner that tests the lock as it was read.
    pub(super) fn patch(&self) -> Guarded<'a> {
        Guarded::of(self.object_kind(), self.object).test(ROLLOUT_POINTER)
    }

    /// The history entry of this rollout: the owner's lock may be an older one, which came back.
    pub(super) fn recorded(&self) -> Option<HistoryEntry> {
        let known = history::union(std::iter::once(self.object).chain(self.owned));
        known.into_iter().find(|entry| entry.id == self.goal.lock.id)
    }

    /// The first write: the template, the lock, and what keeps the controller from replacing pods, in one patch.
    pub(super) fn begin(&self) -> OwnerPhase {
        if self.goal.adopts && same(self.template(), self.goal.target()) {
            return self.take_lock();
        }
        if !same(self.template(), self.goal.source()) {
            return superseded("its template changed meanwhile");
        }
        if self.goal.adopts {
            return self.set_template();
        }
        if is_paused(self.object) {
            return superseded("it was paused meanwhile");
        }
        self.set_template()
    }

    pub(super) fn set_template(&self) -> OwnerPhase {
        // Whatever the lock of the run before said: this write pauses a Deployment again.
        let lock = &RolloutLock { released: false, ..self.lock() };
        let mut annotations = vec![(ROLLOUT_ANNOTATION, Some(lock.to_text()))];
        // A change-cause that somebody else has set meanwhile is theirs.
        let found = self.object.pointer(CAUSE_POINTER).and_then(Value::as_str);
        if lock.direction == Direction::Forward || found == lock.reason.as_deref() {
            annotations.push((CHANGE_CAUSE, lock.cause()));
        }
        // Without a lock to test, a late write could meet an owner in its old state: the history differs.
        let patch = self.patch().test(history::HISTORY_POINTER);
        let patch = patch.set("/spec/template", Some(self.goal.target().clone())).annotate(&annotations);
        let patch = self.without_beat(patch);
        let patch = match self.kind.holds_by() {
            HoldsBy::Paused => patch.set("/spec/paused", Some(Value::Bool(true))),
            // A partition above all pods is one only for the number of replicas that was read.
            HoldsBy::OnDeleteOrPartition => {
                patch.test("/spec/replicas").set("/spec/updateStrategy", Some(stateful_set::working_strategy(self)))
            }
            HoldsBy::OnDelete => patch.set("/spec/updateStrategy", Some(daemon_set::working_strategy())),
            HoldsBy::Nothing => patch,
        };
        OwnerPhase::Write(OwnerStep::SetTemplate, patch.write())
    }

    /// Goes on under this run's lock.
    pub(super) fn held(&self, lock: &RolloutLock) -> OwnerPhase {
        match self.kind.holds_by() {
            HoldsBy::Paused => deployment::held(self, lock),
            HoldsBy::OnDeleteOrPartition => stateful_set::held(self),
            HoldsBy::OnDelete => daemon_set::held(self),
            HoldsBy::Nothing => replica_set::held(self),
        }
    }

    /// Another run's lock of the same rollout: taken over, together with the way back where the direction changes.
    pub(super) fn go_on(&self, found: &RolloutLock) -> OwnerPhase {
        let turns = found.direction != self.goal.lock.direction;
        let releasing = match self.kind.holds_by() {
            HoldsBy::Paused if turns => deployment::released_too_early(self, found),
            HoldsBy::Paused | HoldsBy::OnDelete | HoldsBy::OnDeleteOrPartition | HoldsBy::Nothing => None,
        };
        if let Some(ended) = releasing {
            return ended;
        }
        if turns && same(self.template(), self.goal.source()) {
            return self.set_template();
        }
        let lock = RolloutLock { released: found.released && !turns, ..self.lock() };
        let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]);
        OwnerPhase::Write(OwnerStep::TakeLock, self.without_beat(patch).write())
    }

    /// A lock is set where there is none that can be read, without a change of the template.
    fn take_lock(&self) -> OwnerPhase {
        let patch = self.patch().test("/spec/template");
        let patch = match self.kind.holds_by().field() {
            Some(field) => patch.test(field),
            None => patch,
        };
        let patch = patch.annotate(&[(ROLLOUT_ANNOTATION, Some(self.lock().to_text()))]);
        OwnerPhase::Write(OwnerStep::TakeLock, self.without_beat(patch).write())
    }

    /// The lock of this run for the next write: its first sign of life.
    fn lock(&self) -> RolloutLock {
        let lock = self.goal.lock.clone();
        let holder = lock.holder.map(|holder| Holder { since: self.now.map(str::to_owned), ..holder });
        RolloutLock { holder, ..lock }
    }

    /// The sign of life is removed with its lock. One that comes meanwhile fails the test.
    fn without_beat(&self, patch: Guarded<'a>) -> Guarded<'a> {
        match beat_of(self.object) {
            Some(_) => patch.label(&[(BEAT_LABEL, None)]),
            None => patch,
        }
    }

    /// There is no lock, and the history does not have this rollout.
    ///
    /// A run that has set its lock never begins again: whoever removed the lock, with a PUT of the whole old object
    /// or by hand, has ended the rollout.
    pub(super) fn without_lock(&self) -> OwnerPhase {
        let why = match (self.run.own_lock, &self.goal.replaces) {
            (OwnLock::Unwritten, None) => return self.begin(),
            (OwnLock::Unclear { generation }, None)
                if self.integer("/metadata/generation") <= generation.saturating_add(1) =>
            {
                return self.begin();
            }
            (OwnLock::Unclear { .. }, None) => "it was changed by another client after a write whose answer was lost",
            // `kubectl rollout undo` replaces all other annotations by those of the older ReplicaSet.
            (OwnLock::Held | OwnLock::Closed, _) | (_, Some(_)) if !same(self.template(), self.goal.target()) => {
                "its template was changed by another client, and its lock was removed: its history does not tell of this rollout"
            }
            (OwnLock::Held | OwnLock::Closed, _) | (_, Some(_)) => {
                "its lock was removed by another client: its history does not tell of this rollout"
            }
        };
        self.cleaned_up(why, self.tidy_copies())
    }

    /// Somebody has restored the whole owner from the middle of the rollout: lock, and what keeps the controller from
    /// acting. That is no stale copy, which comes back alone. A Deployment's ReplicaSet has the rollout's template: it
    /// does not get another one for a rollout that has ended, where neither is wanted any more.
    pub(super) fn is_set_again(&self) -> bool {
        let Ok(Some(lock)) = RolloutLock::of(self.object) else { return false };
        let strategy = self.object.pointer("/spec/updateStrategy");
        let is_its = [&self.goal.before, &self.goal.after].into_iter().any(|side| same(self.template(), side));
        let holds = is_paused(self.object) && !lock.released && is_its;
        lock.id == self.goal.lock.id && (holds || lock.strategy.as_ref().is_some_and(|saved| Some(saved) != strategy))
    }

    /// The history says how the rollout ended, whoever ended it.
    pub(super) fn after_the_end(&self, entry: &HistoryEntry) -> OwnerPhase {
        if matches!(RolloutLock::of(self.object), Ok(Some(lock)) if lock.id == self.goal.lock.id) {
            let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, None)]);
            return OwnerPhase::Write(OwnerStep::RemoveCopy, patch.write());
        }
        match self.otherwise(entry) {
            Some(why) => self.cleaned_up(&why, self.tidy_copies()),
            None => self.tidy_copies(),
        }
    }

    /// How the rollout ended differently from what this run was to do; `None` where it did not.
    fn otherwise(&self, entry: &HistoryEntry) -> Option<String> {
        let own = self.run.own_lock == OwnLock::Closed;
        let stands = own || same(self.template(), self.goal.target());
        match (self.goal.lock.direction, entry.outcome) {
            (Direction::Forward, EndResult::Complete | EndResult::Deferred) | (Direction::Back, EndResult::Aborted) => {
                (!stands).then(|| format!("{}, and changed since", entry.ended_by_another()))
            }
            // Removing the leftovers of a complete rollout does not take it back.
            (Direction::Back, EndResult::Complete | EndResult::Deferred) => {
                Some("it was complete already; kubectl inplace undo takes it back".into())
            }
            (
                _,
                EndResult::Aborted
                | EndResult::Superseded
                | EndResult::NothingToDo
                | EndResult::Changes
                | EndResult::NotEligible
                | EndResult::Error
                | EndResult::Failed
                | EndResult::TimedOut
                | EndResult::Interrupted
                | EndResult::Terminated
                | EndResult::Paused,
            ) => Some(entry.ended_by_another()),
        }
    }

    /// Somebody else set another template or strategy. Theirs stays; our strategy holds their rollout back, and is
    /// replaced by `before` where that starts nothing: only the user, once informed, can say whether pods are to be
    /// replaced.
    pub(super) fn changed_by_another(
        &self,
        before: Option<&Value>,
        (updated, wanted): (i64, i64),
        why: &str,
    ) -> OwnerPhase {
        let starts_nothing = self.is_observed() && updated == wanted;
        let left = before.filter(|_| !starts_nothing);
        let mut patch = self.closing_but(EndResult::Superseded, left).test("/spec/template");
        if let Some(before) = before.filter(|_| starts_nothing) {
            patch = patch.set("/spec/updateStrategy", Some(before.clone()));
        }
        let cleanup = Cleanup::Write(OwnerStep::Close, Box::new(patch.write()));
        OwnerPhase::Superseded { why: why.into(), cleanup }
    }

    /// The remaining steps are done, and then it ends as superseded.
    pub(super) fn cleaned_up(&self, why: &str, next: OwnerPhase) -> OwnerPhase {
        let cleanup = match next {
            OwnerPhase::Write(step, write) => Cleanup::Write(step, Box::new(write)),
            OwnerPhase::WaitFor(fence) => Cleanup::WaitFor(fence),
            OwnerPhase::TakePods
            | OwnerPhase::PodsReleased { .. }
            | OwnerPhase::Superseded { .. }
            | OwnerPhase::TakenOver { .. }
            | OwnerPhase::Closed => Cleanup::Nothing,
        };
        OwnerPhase::Superseded { why: why.into(), cleanup }
    }

    /// Whether the controller has seen every pod that is not labelled with the revision as such.
    ///
    /// On the way back a pod was labelled twice. A controller whose cache of pods is behind both labels counts it as updated
    /// all the while, and would replace it once the strategy is restored and the first label arrives.
    pub(super) fn has_seen_labels(&self, revision: &str, updated: i64, wanted: i64) -> bool {
        updated <= wanted.saturating_sub(self.lack_label(revision)).max(0)
    }

    /// Whether another client has restored the update strategy, by the write in managedFields, and pods are gone since:
    /// the controller may have replaced them.
    pub(super) fn was_released_by_another(&self) -> bool {
        self.pods.replaced
            && HoldsBy::OnDelete.set_by(self.object).any(|manager| !is_same_writer(manager, &self.goal.field_manager))
    }

    /// The number of present pods without the label of this revision.
    pub(super) fn lack_label(&self, revision: &str) -> i64 {
        let others = self.pods.labels.iter().filter(|(label, _)| label.as_str() != revision).map(|(_, pods)| pods);
        i64::try_from(others.sum::<usize>()).unwrap_or(i64::MAX)
    }

    /// The number of pods that stay at an older revision.
    pub(super) fn left_older(&self) -> i64 {
        let is_left = |label: &str| super::revisions::is_left_older(self.goal, self.owned, label);
        let pods = self.pods.labels.iter().filter(|(label, _)| is_left(label)).map(|(_, pods)| pods);
        i64::try_from(pods.sum::<usize>()).unwrap_or(i64::MAX)
    }

    /// The controller has copied the lock to ReplicaSets: the copies are removed once it has seen that the owner has
    /// none.
    pub(super) fn tidy_copies(&self) -> OwnerPhase {
        // A user who removes the lock by hand leaves the sign of life that belongs to it.
        if RolloutLock::text_of(self.object).is_none() && beat_of(self.object).is_some() {
            return OwnerPhase::Write(OwnerStep::RemoveCopy, self.without_beat(self.patch()).write());
        }
        let Some(through) = self.kind.owns_through() else { return OwnerPhase::Closed };
        let knows = |set: &&Value| history::of(set).iter().any(|entry| entry.id == self.goal.lock.id);
        let is_ours = |set: &&Value| matches!(RolloutLock::of(set), Ok(Some(lock)) if lock.id == self.goal.lock.id);
        // An annotation raises a Deployment's generation. While somebody else's template is paused no ReplicaSet
        // matches it, and no history is ever copied; before the controller has seen it, a copy may still be made where
        // there is none yet.
        if !self.is_observed() && !self.owned.iter().any(|set| knows(&set)) {
            return OwnerPhase::WaitFor(Fence::HistoryCopied);
        }
        let Some(copy) = self.owned.iter().find(is_ours) else {
            let gone = self.recorded().is_none().then_some(&self.goal.lock.id);
            return match crate::state::durable::deployment::leftover(self.object, self.owned, gone) {
                Some(write) => OwnerPhase::Write(OwnerStep::DropHistory, write),
                None => OwnerPhase::Closed,
            };
        };
        let patch = Guarded::of(ObjectKind::Workload(through), copy);
        OwnerPhase::Write(OwnerStep::RemoveCopy, patch.annotate(&[(ROLLOUT_ANNOTATION, None)]).write())
    }

    /// The last write: the lock is removed and the history is written, in one patch.
    pub(super) fn closing(&self, outcome: EndResult) -> Guarded<'a> {
        self.closing_but(outcome, None)
    }

    /// The same, where this update strategy is not restored: it is recorded nowhere else.
    fn closing_but(&self, outcome: EndResult, left: Option<&Value>) -> Guarded<'a> {
        let lock = &self.goal.lock;
        let mut entries = history::union(std::iter::once(self.object).chain(self.owned));
        let entry = lock.entry(outcome, self.run.ended, &self.goal.who);
        let entry = HistoryEntry { strategy: left.cloned(), ..entry };
        for entry in lock.replaced.iter().cloned().chain([entry]) {
            entries.retain(|known| known.id != entry.id);
            entries.push(entry);
        }
        let annotations = [(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, Some(history::to_text(&entries)))];
        self.without_ownership(self.without_beat(self.patch().annotate(&annotations)))
    }

    /// The next server-side apply of another image would report a conflict with the manager of our patches.
    pub(super) fn without_ownership(&self, patch: Guarded<'a>) -> Guarded<'a> {
        // An entry of another name may be somebody else's.
        if self.goal.keep_field_ownership || !is_ours(&self.goal.field_manager) {
            return patch;
        }
        let entries = self.object.pointer("/metadata/managedFields").and_then(Value::as_array);
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

    /// It is done: the lock is removed. A rollout that was taken back ends as aborted.
    pub(super) fn close(&self) -> OwnerPhase {
        let outcome = match self.goal.lock.direction {
            Direction::Forward if self.pods.left => EndResult::Deferred,
            Direction::Forward => EndResult::Complete,
            Direction::Back => EndResult::Aborted,
        };
        OwnerPhase::Write(OwnerStep::Close, self.closing(outcome).write())
    }
}

pub(super) const CHANGED_MEANWHILE: &str = "its template was changed by another client";

/// The controller acts again, and not because this rollout has released it.
pub(super) const STRATEGY_CHANGED: &str =
    "its update strategy was changed by another client, so that its controller replaces pods by itself";

pub(super) fn integer(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}
