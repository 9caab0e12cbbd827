//! The state of the rollout in place that holds a workload: one of six, and in each the same commands lead on.

use serde_json::Value;

use super::durable::before_after;
use super::held::{is_held_back, is_left_held, is_stale, last_superseded};
use super::live::Snapshot;
use super::recover::{is_left_on_pods, lock_from_copy, with_pods};
use crate::change::{Direction, same};
use crate::k8s::workload::Workload;
use crate::kinds;
use crate::kinds::HoldsBy;
use crate::state::durable::lease::LeaseState;
use crate::state::durable::lock::Lock;
use crate::state::durable::{deployment, history, revisions};
use crate::state::outcome::EndResult;

/// The state of the rollout that holds a workload, from its own annotations and those of what it owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RolloutState {
    /// There is no lock, and nothing is recorded as unfinished.
    None,
    /// A run has renewed its lease lately.
    Active,
    MaybeActive,
    /// The lease has expired, or was released: the rollout can be finished or taken back.
    Unfinished,
    /// Another client has changed what the rollout rests on, and how.
    Superseded(&'static str),
    /// There is no lock that can be read, and the owner or its pods look half done.
    Unclear(&'static str),
}

impl RolloutState {
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Active => "active",
            Self::MaybeActive => "maybeActive",
            Self::Unfinished => "unfinished",
            Self::Superseded(_) => "superseded",
            Self::Unclear(_) => "unclear",
        }
    }

    /// Returns what was found, where no run can go on with the rollout.
    pub fn what_ended_it(self) -> Option<&'static str> {
        match self {
            Self::Superseded(what) | Self::Unclear(what) => Some(what),
            Self::None | Self::Active | Self::MaybeActive | Self::Unfinished => None,
        }
    }
}

pub fn rollout_state(live: &Snapshot) -> RolloutState {
    match Lock::of(&live.workload.object) {
        Err(_) => RolloutState::Unclear("its lock cannot be read: it was edited, or is of another version"),
        Ok(Some(lock)) if is_stale(live, &lock) => match is_held_back(live) {
            true => RolloutState::Superseded("the lock of a rollout that has ended came back with an older copy of it"),
            false => RolloutState::None,
        },
        Ok(Some(lock)) => match lease_state(live, &lock) {
            LeaseState::Alive(_) => RolloutState::Active,
            LeaseState::Unknown(_) => RolloutState::MaybeActive,
            LeaseState::Ended | LeaseState::Gone | LeaseState::Silent(_) | LeaseState::Stalled { .. } => {
                unfinished(live, &lock)
            }
        },
        Ok(None) => lock_from_copy(live).map_or_else(|| without_lock(live), |copy| unfinished(live, &copy)),
    }
}

fn unfinished(live: &Snapshot, lock: &Lock) -> RolloutState {
    conflict(live, lock, lock.rollout.direction).map_or(RolloutState::Unfinished, RolloutState::Superseded)
}

fn without_lock(live: &Snapshot) -> RolloutState {
    if is_left_held(live) {
        let (superseded, unclear) = match live.workload.reference.kind.holds_by() {
            HoldsBy::Paused => {
                ("a rollout that another client ended left it paused", "a rollout paused it, and its lock was removed")
            }
            HoldsBy::StrategyPaused => (
                "a rollout that another client ended left the update strategy paused",
                "a rollout paused the update strategy, and its lock was removed",
            ),
            _ if kinds::is_on_delete(&live.workload.object) => (
                "a rollout that another client ended left the update strategy OnDelete",
                "a rollout set the update strategy OnDelete, and its lock was removed",
            ),
            HoldsBy::OnDelete | HoldsBy::OnDeleteOrPartition | HoldsBy::Nothing => (
                "a rollout that another client ended left the partition above its pods",
                "a rollout set the partition above its pods, and its lock was removed",
            ),
        };
        let is_superseded = last_superseded(live).is_some();
        return if is_superseded { RolloutState::Superseded(superseded) } else { RolloutState::Unclear(unclear) };
    }
    let is_at_rest = live.workload.is_observed() && live.workload.rolling_out().is_none();
    // Where its controller is free to go by each pod's revision, no run brings the pods another one.
    let acts = live.workload.reference.kind.holds_by().restores_the_field() && !is_held_back(live);
    if is_at_rest && !acts && is_left_on_pods(live) {
        return RolloutState::Unclear(
            "some pods note a rollout of which nothing tells how it ended: its lock was removed",
        );
    }
    RolloutState::None
}

/// Returns why no run can go on with a rollout; `None` where one can. Lock and template are written together: only a run
/// that changes direction, as it was `found`, sets the template.
pub(super) fn conflict(live: &Snapshot, lock: &Lock, found: Direction) -> Option<&'static str> {
    let (before, after) = before_after(live, lock);
    if let Some(what) = conflict_of_hold(live, lock) {
        return Some(what);
    }
    if live.workload.reference.kind.holds_by() == HoldsBy::Paused {
        let sets = &live.surroundings.owned;
        if deployment::belongs_to_another(sets, lock, &before) {
            return Some("its lock came with a copy of another Deployment, or its ReplicaSet is gone");
        }
        let current = lock.rollout.outgoing.as_ref().and_then(|outgoing| outgoing.find(sets));
        let was_unpaused_early = |set| deployment::was_unpaused_early(&live.workload.object, lock, set, &after);
        if found == Direction::Forward && current.is_some_and(was_unpaused_early) {
            return Some("another client resumed it before its pods were updated, so its controller replaces them");
        }
    }
    let (target, source) = match lock.rollout.direction {
        Direction::Forward => (after, before),
        Direction::Back => (before, after),
    };
    let template = live.workload.template();
    let since = lock.rollout.outgoing.as_ref().map_or(i64::MAX, |outgoing| outgoing.revision);
    let belongs_to_another = |revision: &Value| {
        let made_from = revisions::template_of(revision);
        revisions::number_of(revision).is_some_and(|number| number > since)
            && ![&target, &source, template].into_iter().any(|known| same(&made_from, known))
    };
    if live.workload.reference.kind.owns_through().is_none() && with_pods(live).any(belongs_to_another) {
        return Some("a pod was created from another client's template meanwhile");
    }
    if same(template, &target) || same(template, &source) && found != lock.rollout.direction {
        return None;
    }
    Some(if same(template, &source) {
        "another client set its template back to what it was before the rollout"
    } else {
        "another client changed its template"
    })
}

/// Returns what another client has set in place of what holds the controller of an unfinished rollout, or was restored.
pub(super) fn conflict_of_hold(live: &Snapshot, lock: &Lock) -> Option<&'static str> {
    let object = &live.workload.object;
    let is_restored = || lock.rollout.strategy.as_ref() == object.pointer("/spec/updateStrategy");
    if lock.rollout.strategy.is_some() && !is_restored() && !is_held_back(live) {
        return Some("another client changed its update strategy");
    }
    (lock.released && kinds::is_paused(object)).then_some("another client paused it")
}

pub fn lease_state(live: &Snapshot, lock: &Lock) -> LeaseState {
    LeaseState::of(lock, &live.workload.object, live.surroundings.server_now.as_deref(), live.surroundings.holder)
}

/// Reads a workload's lock. A ReplicaSet's is a copy that its Deployment's controller made, so it holds nothing.
/// The error is the text of one that cannot be read: written by another version, or edited.
pub fn lock_of(workload: &Workload) -> Result<Option<Lock>, String> {
    if workload.reference.kind.made_by().is_some() && workload.controller().is_some() {
        return Ok(None);
    }
    Lock::of(&workload.object)
}

/// The lock of a rollout that holds a workload, also one that was removed by hand and of which a copy is left.
pub fn present_lock(live: &Snapshot) -> Option<Lock> {
    match Lock::text_of(&live.workload.object) {
        Some(_) => Lock::of(&live.workload.object).ok().flatten(),
        None => lock_from_copy(live),
    }
}

/// Who has ended a rollout that is followed, so that its change does not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// Another run, which is on its way back.
    GoingBack,
    /// Another run, which has rolled it back.
    RolledBack,
    /// Another client's template, or another rollout.
    Superseded,
}

impl EndedBy {
    /// Returns who has ended the rollout whose lock was seen before, as its owner and what that owns now show; `None` where
    /// it may still complete.
    pub fn of(followed: &Lock, object: &Value, owned: &[Value]) -> Option<Self> {
        // A client that began to watch on the way back waits for exactly that.
        if followed.rollout.direction == Direction::Back {
            return None;
        }
        let entries = history::union(object, owned);
        if let Some(entry) = entries.into_iter().find(|entry| entry.rollout.id == followed.rollout.id) {
            let was_aborted = (entry.outcome == EndResult::Aborted).then_some(Self::RolledBack);
            return was_aborted.or_else(|| (entry.outcome == EndResult::Superseded).then_some(Self::Superseded));
        }
        let lock = Lock::of(object).ok().flatten()?;
        (lock.rollout.id == followed.rollout.id && lock.rollout.direction == Direction::Back).then_some(Self::GoingBack)
    }

    /// Returns it as a sentence without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::GoingBack | Self::RolledBack => history::ABORTED,
            Self::Superseded => "another client has changed the template, so nobody carries the rollout on",
        }
    }
}
