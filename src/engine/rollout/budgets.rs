//! PodDisruptionBudgets within a turn: a pod that is ready is taken only if every budget that matches it allows one more.
//!
//! The API server does not guard restarts in place. The budgets are read afresh before each such pod, since they come and go
//! while a rollout is under way, and the count is our own, which knows what is in hand. [`super::admission`] asks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::budget::{BudgetLimit, CountedPod, blocking, limits};
use crate::engine::names::PodKey;
use crate::engine::pod::Pod;
use crate::engine::report::Notice;

use super::fault::Fault;
use super::goal::Goal;
use super::ledger::Ledger;
use super::polled::Reading;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn, owner};

/// A pod is taken only if the budgets were read so lately, besides twice the time that the server took for it.
const FRESH: Duration = Duration::from_secs(1);

/// A budget that blocks is looked at again so often.
const AGAIN: Duration = Duration::from_secs(1);

/// What is kept of the budgets.
#[derive(Debug, Clone, Default)]
pub(super) struct BudgetLedger {
    asked: Option<(ActionId, Now)>,
    read: Option<Reading>,
    not_before: Now,
    /// Which budget blocks, and why, in words.
    pub(super) blocks: Option<String>,
    said: Option<String>,
    /// Why they could not be read the last time.
    pub(super) trouble: Option<String>,
    /// The caller may not read them, and the server's words until they are said.
    forbidden: Option<Option<String>>,
}

/// What the budgets say of one more pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Budgets {
    /// It may go down.
    Allow,
    /// They were not read lately enough.
    Unread,
    /// Which one forbids it, and why, in words.
    Forbid(String),
}

impl BudgetLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked.is_some_and(|(asked, _)| asked == id)
    }

    pub(super) fn answer(&mut self, answer: &Answer, now: Now) {
        let Some((_, since)) = self.asked.take() else { return };
        self.trouble = None;
        match answer {
            Answer::Read => (self.read, self.blocks) = (Some(Reading { asked: since, answered: now }), None),
            // A caller who never could read them was told so by the plan. One who could loses no safeguard by it.
            Answer::Refused { message, .. } if self.read.is_none() => self.forbidden = Some(Some(message.clone())),
            Answer::Refused { message, .. }
            | Answer::NotRead { message }
            | Answer::NotDone { message, .. }
            | Answer::Moved { message }
            | Answer::Unknown { message } => {
                self.trouble = Some(message.clone());
                self.not_before = now + AGAIN;
            }
            Answer::Accepted | Answer::Hook(_) => self.not_before = now + AGAIN,
        }
    }

    fn is_fresh(&self, now: Now) -> bool {
        let looks_again = self.blocks.is_some() && self.not_before <= now;
        !looks_again && self.read.is_some_and(|read| read.is_fresh(FRESH + 2 * read.took(), now))
    }
}

/// Says whether a pod that is ready may be taken down, as far as budgets are concerned. Those that give way to it are not
/// counted as down.
pub(super) fn allow(
    goal: &Goal,
    world: &World,
    ledger: &Ledger,
    asked: &Pod,
    give_way: &BTreeSet<PodKey>,
    now: Now,
) -> Budgets {
    let is_forbidden = ledger.budgets.forbidden.is_some();
    if !goal.policy.respects_budgets || is_forbidden || ledger.has(Fault::IgnoresDisruptionBudget) {
        return Budgets::Allow;
    }
    if ledger.has(Fault::FreezesBudgets) && world.budgets().is_some_and(<[_]>::is_empty) {
        return Budgets::Allow;
    }
    let Some(budgets) = world.budgets().filter(|_| ledger.budgets.is_fresh(now)) else { return Budgets::Unread };
    if budgets.is_empty() {
        return Budgets::Allow;
    }
    let present = ledger.present.iter().filter_map(|key| world.pod(key));
    let leaving = world.pods().filter(|pod| pod.terminating && super::belongs(goal, ledger, pod));
    let counted = present.chain(leaving).map(|pod| CountedPod {
        labels: &pod.labels,
        ready: pod.is_ready(),
        terminating: pod.terminating,
        // One that was put off has its place among those in hand already; whether it may be taken is asked anew.
        in_hand: ledger.down.contains(&pod.key) && pod.key != asked.key && !give_way.contains(&pod.key),
    });
    let counted: Vec<CountedPod<'_>> = counted.collect();
    let limits = limits(budgets, owner::replicas(goal, world), &counted);
    match blocking(&limits, &asked.labels).map(BudgetLimit::to_string) {
        Some(limit) => Budgets::Forbid(limit),
        None => Budgets::Allow,
    }
}

/// Notes which budget blocks, and says it once.
pub(super) fn block(ledger: &mut Ledger, limit: &str, now: Now, turn: &mut Turn) {
    // While pods of ours are in hand it is plain why nothing else is taken.
    if ledger.in_hand.is_empty() && ledger.budgets.said.as_deref() != Some(limit) {
        ledger.budgets.said = Some(limit.to_owned());
        turn.notices.push(Notice::DisruptionBudgetHolds { why: limit.to_owned() });
    }
    // From the first look at what was read on, whatever is asked until the next one.
    if ledger.budgets.blocks.is_none() {
        ledger.budgets.not_before = now + AGAIN;
    }
    ledger.budgets.blocks = Some(limit.to_owned());
}

/// None blocks.
pub(super) fn unblock(ledger: &mut Ledger) {
    (ledger.budgets.blocks, ledger.budgets.said) = (None, None);
}

/// Reads the budgets, unless they were read lately or are being read.
pub(super) fn read(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let budgets = &ledger.budgets;
    if budgets.asked.is_some() || budgets.not_before > now || budgets.is_fresh(now) || !goal.policy.respects_budgets {
        return;
    }
    let id = ledger.next_id();
    ledger.budgets.asked = Some((id, now));
    turn.actions.push((id, Action::ReadBudgets { namespace: goal.workload.namespace.clone() }));
}

/// Says that they cannot be respected, once.
pub(super) fn say(ledger: &mut Ledger, turn: &mut Turn) {
    let why = ledger.budgets.forbidden.as_mut().and_then(Option::take);
    turn.notices.extend(why.map(|why| Notice::BudgetsUnreadable { why }));
}

/// When a budget that blocks has to be looked at again.
pub(super) fn next_look(ledger: &Ledger) -> Option<Now> {
    (ledger.budgets.asked.is_none() && ledger.budgets.not_before > Now::ZERO).then_some(ledger.budgets.not_before)
}
