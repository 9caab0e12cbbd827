//! Whether the next write on the owner is this run's first: before it, nothing is done that a run would have to undo.

use crate::change::Direction;
use crate::state::durable::lock::RolloutLock;
use crate::state::durable::{OwnLock, OwnerGoal, OwnerView};

/// Whether nothing was done yet for a rollout, by whatever run: the next write on the owner is its first. `view` is `None`
/// before the owner was read.
pub(super) fn is_ahead(owner: &OwnerGoal, view: Option<&OwnerView>, own_lock: OwnLock) -> bool {
    let lock = |view: &OwnerView| view.object.as_ref().and_then(|object| RolloutLock::of(object).ok().flatten());
    let was_begun = match view {
        Some(view) => lock(view).is_some_and(|lock| lock.id == owner.lock.id),
        None => owner.replaces.is_some(),
    };
    owner.lock.direction == Direction::Forward && own_lock == OwnLock::Unwritten && !owner.adopts && !was_begun
}

/// Whether the next write on the owner is this run's first for a rollout that another run has left behind, and may wait.
///
/// It may not where it has to stop an active run (`--take-over`), nor where the lock was lost: until it is set again,
/// nothing keeps another client from beginning.
pub(super) fn is_going_on(owner: &OwnerGoal, view: Option<&OwnerView>, own_lock: OwnLock) -> bool {
    let found = view.and_then(|view| RolloutLock::of(view.object.as_ref()?).ok().flatten());
    let is_left = found.is_some_and(|lock| lock.id == owner.lock.id) && owner.replaces.is_some();
    is_left && own_lock == OwnLock::Unwritten && !owner.adopts && owner.unless_alive.is_some()
}
