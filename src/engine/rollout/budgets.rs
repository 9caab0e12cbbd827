//! PodDisruptionBudgets within a turn: a pod that is ready is taken only if every budget that matches it allows one more.
//!
//! The API server does not guard restarts in place; the budgets are read afresh before each such pod, and the count is
//! our own, which knows what is in hand.

use std::time::Duration;

use crate::engine::budget::{BudgetLimit, CountedPod, blocking, limits};
use crate::engine::pod::Pod;
use crate::engine::report::Notice;

use super::fault::Fault;
use super::goal::Goal;
use super::ledger::Ledger;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn, owner};

/// A pod is taken only if the budgets were read so lately: their specs seldom change, and what is in hand we count.
const FRESH: Duration = Duration::from_secs(5);

/// A budget that blocks is looked at again so often.
const AGAIN: Duration = Duration::from_secs(1);

/// What is kept of the budgets.
#[derive(Debug, Clone, Default)]
pub(super) struct BudgetLedger {
    asked: Option<ActionId>,
    read_at: Option<Now>,
    not_before: Now,
    /// Which budget blocks, and why, in words.
    pub(super) blocks: Option<String>,
    said: Option<String>,
}

impl BudgetLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked == Some(id)
    }

    pub(super) fn answer(&mut self, answer: &Answer, now: Now) {
        self.asked = None;
        if *answer == Answer::Read {
            self.read_at = Some(now);
            self.blocks = None;
        } else {
            self.not_before = now + AGAIN;
        }
    }
}

/// Returns whether a pod that is ready may be taken down, as far as budgets are concerned; asks for them where they are
/// not known well enough.
pub(super) fn allow(goal: &Goal, world: &World, ledger: &mut Ledger, asked: &Pod, now: Now, turn: &mut Turn) -> bool {
    if !goal.policy.respects_budgets || ledger.has(Fault::IgnoresDisruptionBudget) {
        return true;
    }
    let looks_again = ledger.budgets.blocks.is_some() && ledger.budgets.not_before <= now;
    let fresh = !looks_again && ledger.budgets.read_at.is_some_and(|at| at + FRESH >= now);
    let Some(budgets) = world.budgets().filter(|_| fresh) else {
        read(goal, ledger, now, turn);
        return false;
    };
    let give_way = ledger.giving_way_to(&asked.key);
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
    let Some(limit) = blocking(&limits, &asked.labels).map(BudgetLimit::to_string) else {
        ledger.budgets.blocks = None;
        ledger.budgets.said = None;
        return true;
    };
    // While pods of ours are in hand it is plain why nothing else is taken.
    if ledger.in_hand.is_empty() && ledger.budgets.said.as_ref() != Some(&limit) {
        ledger.budgets.said = Some(limit.clone());
        turn.notices.push(Notice::DisruptionBudgetHolds { why: limit.clone() });
    }
    ledger.budgets.blocks = Some(limit);
    ledger.budgets.not_before = now + AGAIN;
    false
}

fn read(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if ledger.budgets.asked.is_some() || ledger.budgets.not_before > now {
        return;
    }
    let id = ledger.next_id();
    ledger.budgets.asked = Some(id);
    turn.actions.push((id, Action::ReadBudgets { namespace: goal.workload.namespace.clone() }));
}

/// When a budget that blocks has to be looked at again.
pub(super) fn next_look(ledger: &Ledger) -> Option<Now> {
    (ledger.budgets.asked.is_none() && ledger.budgets.not_before > Now::ZERO).then_some(ledger.budgets.not_before)
}
