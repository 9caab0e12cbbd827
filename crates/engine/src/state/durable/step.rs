//! A step of a rollout on its owner, and the table of a kind's steps.
//!
//! A step is done when the objects show it, and the next one is the first that is not done. Nothing is remembered: any
//! later run goes on from the same row, and a write that is sent twice is done once.

use super::history::HistoryEntry;
use super::lock::Lock;
use super::objects::{ObjectWrite, StepName};
use super::owner::{OwnLock, Owner, close, has_own_lock, has_remains, is_observed, remove_remains, take_lock};
use crate::change::{Direction, same};
use crate::k8s::metadata;
use crate::kinds::is_paused;
use crate::state::outcome::EndResult;

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Why the rollout is superseded, or another run's: what is left to do only removes what it has changed.
    pub conflict: Option<String>,
    /// The first step that is not done.
    pub next: Next,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Write(StepName, ObjectWrite),
    Wait(&'static str),
    /// The pods are taken over from the run before.
    TakePods,
    UpdatePods {
        /// Their label `controller-revision-hash`, where the kind's pods carry it.
        revision: Option<String>,
    },
    Nothing,
}

/// How a rollout goes on the owners of one kind.
pub(super) struct Table<'t> {
    /// From the first write on. Those after [`StepName::Close`] remove what the controller has copied.
    pub(super) steps: &'t [Step],
    /// Why the rollout cannot go on under its lock: the template, or what keeps the controller from replacing pods, is
    /// not what the next step expects.
    pub(super) conflict: fn(&Owner<'_>) -> Option<&'static str>,
    /// What removes the rollout's changes after a conflict. The controller is released only if it then replaces no
    /// pod.
    pub(super) cleanup: &'t [Step],
}

#[derive(Clone, Copy)]
pub(super) struct Step {
    /// It stays true once later steps are done.
    is_done: fn(&Owner<'_>) -> bool,
    pub(super) act: Act,
}

#[derive(Clone, Copy)]
pub(super) enum Act {
    Write(StepName, fn(&Owner<'_>) -> ObjectWrite),
    Each(StepName, fn(&Owner<'_>) -> Option<ObjectWrite>),
    Wait(&'static str),
    TakePods,
    UpdatePods(fn(&Owner<'_>) -> Option<String>),
}

pub(super) const fn write(
    name: StepName,
    is_done: fn(&Owner<'_>) -> bool,
    write: fn(&Owner<'_>) -> ObjectWrite,
) -> Step {
    Step { is_done, act: Act::Write(name, write) }
}

/// One write after another, until there is none left.
pub(super) const fn each(name: StepName, left: fn(&Owner<'_>) -> Option<ObjectWrite>) -> Step {
    Step { is_done: |_| false, act: Act::Each(name, left) }
}

pub(super) const fn wait(what: &'static str, is_done: fn(&Owner<'_>) -> bool) -> Step {
    Step { is_done, act: Act::Wait(what) }
}

/// The pods, with the value of their label `controller-revision-hash` where the kind's pods carry it.
pub(super) const fn update_pods(revision: fn(&Owner<'_>) -> Option<String>) -> Step {
    Step { is_done: |owner| owner.pods.done, act: Act::UpdatePods(revision) }
}

pub(super) const TAKE_LOCK: Step = write(StepName::TakeLock, has_own_lock, take_lock);

/// Late requests of the run before must fail on whatever follows.
pub(super) const TAKE_PODS: Step = Step { is_done: |owner| owner.has_taken_pods(), act: Act::TakePods };

pub(super) const PODS_LISTED: &str = "the ReplicaSet's pods to be listed";

pub(super) const OBSERVED: Step = wait("the controller to see the change", is_observed);

/// A rollout that was taken back ends as aborted.
pub(super) const CLOSE: Step = write(StepName::Close, |owner| owner.entry.is_some(), close);

/// A lock of the rollout may come back with an older copy of the owner. A user who removes the lock by hand leaves the
/// sign of life that belongs to it.
pub(super) const REMOVE_REMAINS: Step = write(StepName::RemoveCopy, |owner| !has_remains(owner), remove_remains);

pub(super) fn next(owner: &Owner<'_>, table: &Table<'_>) -> Decision {
    let conflict = conflict(owner, table);
    let steps = match &conflict {
        Some((_, cleanup)) => cleanup,
        None if owner.entry.is_some() => after_the_end(table),
        None => table.steps,
    };
    let next = steps.iter().filter(|step| !(step.is_done)(owner)).find_map(|step| match step.act {
        Act::Write(name, write) => Some(Next::Write(name, write(owner))),
        Act::Each(name, left) => left(owner).map(|write| Next::Write(name, write)),
        Act::Wait(what) => Some(Next::Wait(what)),
        Act::TakePods => Some(Next::TakePods),
        Act::UpdatePods(revision) => Some(Next::UpdatePods { revision: revision(owner) }),
    });
    Decision { conflict: conflict.map(|(why, _)| why), next: next.unwrap_or(Next::Nothing) }
}

fn after_the_end<'t>(table: &Table<'t>) -> &'t [Step] {
    let close = table.steps.iter().position(|step| matches!(step.act, Act::Write(StepName::Close, _)));
    close.and_then(|close| table.steps.get(close + 1..)).unwrap_or_default()
}

/// Asked before every write: why the rollout cannot go on, and the steps that remove what is left of it.
fn conflict<'t>(owner: &Owner<'_>, table: &Table<'t>) -> Option<(String, &'t [Step])> {
    let ends = |why: &str| Some((why.to_owned(), &[][..]));
    if !owner.is_the_planned_one() {
        return ends("it was deleted or re-created");
    }
    if metadata::is_terminating(owner.object) {
        return ends("it is being deleted");
    }
    if let Some(entry) = &owner.entry {
        // The history says how the rollout has ended, whoever has ended it.
        return ended_otherwise(owner, entry).map(|why| (why, after_the_end(table)));
    }
    let was_held = owner.own_lock == OwnLock::Held;
    let is_replaced = Lock::text_of(owner.object) == owner.change.replaces.as_deref();
    match &owner.found {
        // The conflicts come once no late request can follow.
        Ok(Some(_)) if has_own_lock(owner) && !owner.has_taken_pods() => None,
        Ok(Some(_)) if has_own_lock(owner) => (table.conflict)(owner).map(|why| (why.to_owned(), table.cleanup)),
        Ok(None) => without_lock(owner, table),
        Ok(Some(by)) if was_held || !is_replaced || owner.change.has_come_alive(owner.object) => {
            ends(&owner.change.taken_over(owner.ours, by))
        }
        Err(()) if was_held => ends("its lock was edited by another client"),
        Err(()) if !is_replaced => ends("it is held by a lock that cannot be read (another version, or edited)"),
        // It goes on from another run of the same rollout.
        Ok(Some(lock)) if lock.rollout.id == owner.ours.rollout.id => {
            (table.conflict)(owner).map(|why| (why.to_owned(), table.cleanup))
        }
        Ok(Some(_)) | Err(()) => cannot_begin(owner).and_then(ends),
    }
}

/// Nothing was written yet, by no run whose lock is there.
fn cannot_begin(owner: &Owner<'_>) -> Option<&'static str> {
    if owner.change.adopts && owner.has_target() {
        None
    } else if !same(owner.template(), owner.source()) {
        Some("its template changed meanwhile")
    } else if !owner.change.adopts && is_paused(owner.object) {
        Some("it was paused meanwhile")
    } else {
        None
    }
}

/// There is no lock, and the history does not have this rollout.
///
/// A run that has set its lock never begins again: whoever removed the lock, with a PUT of the whole old object or by
/// hand, has ended the rollout.
fn without_lock<'t>(owner: &Owner<'_>, table: &Table<'t>) -> Option<(String, &'t [Step])> {
    let is_first = owner.change.replaces.is_none();
    let is_unwritten = match owner.own_lock {
        OwnLock::Unwritten => true,
        OwnLock::Unclear { generation } => owner.generation() <= generation.saturating_add(1),
        OwnLock::Held | OwnLock::Closed => false,
    };
    let why = if is_first && is_unwritten {
        return cannot_begin(owner).map(|why| (why.to_owned(), &[][..]));
    } else if is_first && matches!(owner.own_lock, OwnLock::Unclear { .. }) {
        "it was changed by another client after a write whose answer was lost"
    } else if !owner.has_target() {
        // `kubectl rollout undo` replaces all other annotations by those of the older ReplicaSet.
        "its template was changed by another client, and its lock was removed: its history does not tell of this rollout"
    } else {
        "its lock was removed by another client: its history does not tell of this rollout"
    };
    Some((why.to_owned(), after_the_end(table)))
}

/// How the rollout ended differently from what this run was to do; `None` where it did not.
fn ended_otherwise(owner: &Owner<'_>, entry: &HistoryEntry) -> Option<String> {
    let is_complete = matches!(entry.outcome, EndResult::Complete | EndResult::Deferred);
    let is_wanted = match owner.ours.rollout.direction {
        Direction::Forward => is_complete,
        Direction::Back => entry.outcome == EndResult::Aborted,
    };
    if is_wanted {
        let stands = owner.own_lock == OwnLock::Closed || owner.has_target();
        (!stands).then(|| format!("{}, and changed since", entry.ended_by_another()))
    } else if is_complete {
        // Removing the leftovers of a complete rollout does not take it back.
        Some("it was complete already; kubectl inplace undo takes it back".into())
    } else {
        Some(entry.ended_by_another())
    }
}
