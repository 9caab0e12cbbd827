//! Before the first write on the owner the first pod may go down, as far as that can be known.
//!
//! A template that is written while no pod may be taken down changes nothing but what every new pod gets, for as long as
//! that lasts. So the first write waits within `--timeout`, and a run that ends meanwhile has changed nothing.
//! [`super::admission`] decides for the pod that would go first; what could never show that it works goes before no write.

use crate::engine::durable::change::Direction;
use crate::engine::durable::lock::RolloutLock;
use crate::engine::durable::{OwnLock, OwnerGoal, OwnerView};
use crate::engine::pod::Pod;
use crate::engine::report::Notice;

use super::admission::{self, Admission, Why};
use super::goal::Goal;
use super::ledger::Ledger;
use super::world::{Watch, World};
use super::{Now, Turn, owner};

/// What is kept of the wait.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstWriteLedger {
    /// What is waited for, as it was told.
    why: Option<String>,
}

impl FirstWriteLedger {
    /// Returns what is waited for.
    pub(super) fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

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

/// Returns whether the first write has to wait; asks for what is not known, and tells what is waited for.
pub(super) fn waits(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) -> bool {
    let Some(waits_for) = waits_for(goal, world, ledger, now, turn) else {
        ledger.first_write.why = None;
        (ledger.blocked_since, ledger.budget_said) = (None, false);
        return false;
    };
    ledger.blocked_since.get_or_insert(now);
    // What is being read is no reason yet, and what was the reason before is still the last that is known.
    if let Some(why) = waits_for
        && ledger.first_write.why.as_ref() != Some(&why)
    {
        turn.notices.push(Notice::WaitsToBegin { why: why.clone() });
        ledger.first_write.why = Some(why);
    }
    true
}

/// What is waited for: `None` is nothing, and `Some(None)` an answer that is on its way.
fn waits_for(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) -> Option<Option<String>> {
    let position = first_to_restart(goal, ledger)?;
    if let Watch::Lost(why) = world.watch() {
        return Some(Some(format!("the pods could not be watched: {why}")));
    }
    let pod = world.pod(&ledger.pods.get(position)?.key);
    if let Some(why) = pod.filter(|_| !goal.policy.goes_on_after_failure).and_then(cannot_show_it) {
        return Some(Some(why));
    }
    // What holds it is told here, once.
    let mut asked = Turn::default();
    let admission = admission::ask(goal, position, world, ledger, now, &mut asked);
    turn.actions.append(&mut asked.actions);
    match admission {
        Admission::Go | Admission::Wait(Why::Canary | Why::Full | Why::Pause) => None,
        Admission::Wait(Why::Unread { .. }) => Some(unread(ledger)),
        Admission::Wait(Why::DisruptionBudget(why)) => Some(Some(why)),
        Admission::Wait(Why::Unavailable { down }) => Some(Some(unavailable(goal, world, ledger, down))),
        Admission::Wait(Why::NotSeen) => Some(Some("the first pod is not seen".into())),
    }
}

/// The pod that goes first of those that restart: what is down already, unless the order is strict.
fn first_to_restart(goal: &Goal, ledger: &Ledger) -> Option<usize> {
    let restarts = |position: &&usize| {
        let pod = ledger.pods.get(**position);
        pod.is_some_and(|pod| pod.containers.values().any(|container| container.restarts))
    };
    let broken = ledger.broken.iter().filter(|_| !goal.policy.ordered);
    broken.chain(&ledger.waiting).find(restarts).copied()
}

/// Nothing that is done to such a pod shows whether the update works, before its node does its part.
fn cannot_show_it(pod: &Pod) -> Option<String> {
    if pod.is_scheduled() {
        return pod.unready_node().map(|node| format!("{} goes first, and its node {node} is not ready", pod.key));
    }
    let said = pod.condition("PodScheduled").and_then(|condition| condition.message.as_deref());
    let said = said.filter(|said| !said.is_empty()).map(|said| format!(": {said}"));
    Some(format!("{} goes first, and is not scheduled{}", pod.key, said.unwrap_or_default()))
}

fn unavailable(goal: &Goal, world: &World, ledger: &Ledger, down: usize) -> String {
    let is_are = if down == 1 { "pod is" } else { "pods are" };
    let unready = ledger.down.iter().find(|key| world.pod(key).is_some_and(|pod| !pod.is_ready()));
    let which = unready.map(|key| format!(", such as {key}")).unwrap_or_default();
    format!("{down} {is_are} down or missing{which}, and {} may be", goal.policy.max_unavailable)
}

fn unread(ledger: &Ledger) -> Option<String> {
    let budgets = ledger.budgets.trouble.as_ref();
    let budgets = budgets.map(|trouble| format!("the PodDisruptionBudgets could not be read: {trouble}"));
    budgets.or_else(|| owner::trouble(ledger).map(|trouble| format!("the owner could not be read: {trouble}")))
}
