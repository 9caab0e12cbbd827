//! The one rule for "may this pod go down now".
//!
//! Whatever takes a pod down asks it, each time just before it does so: the command before a pod, what takes the pod out of
//! its Services, a readiness gate that goes off, and each patch of its images. Nothing else decides about it.

use std::collections::BTreeSet;

use crate::engine::drain::is_ready_but_for_our_gate;
use crate::engine::names::PodKey;
use crate::engine::pod::Pod;
use crate::engine::progress::PodPhase;
use crate::engine::report::Notice;

use super::budgets::{self, Budgets};
use super::fault::Fault;
use super::goal::{Goal, PodGoal};
use super::ledger::{Entry, Ledger, Request, Sent};
use super::world::World;
use super::{Now, Turn, drain, owner, steps};

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admission {
    /// It may.
    Go,
    /// Not now.
    Wait(Why),
}

/// What keeps a pod up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// It is not seen.
    NotSeen,
    /// The first pod goes alone until it has proven itself.
    Canary,
    /// As many pods as may be down are in progress.
    Full,
    /// `--canary`, `--pause-after`: so many were taken.
    Pause,
    /// So many others are down, or missing.
    Unavailable {
        /// How many.
        down: usize,
    },
    /// Budgets, where they count for this pod, or the owner were not read lately enough.
    Unread {
        /// Whether they count.
        budgets: bool,
    },
    /// A PodDisruptionBudget, in words.
    DisruptionBudget(String),
}

/// What was done so far for a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing.
    New,
    /// It has its place, and nothing was done that takes it down: its command has run, its Services let go of it, or the
    /// server put its patch off.
    Idle,
    /// It is down by what was done: some of its containers have changed, or its gate is off. Its next request is due.
    Down,
    /// A request is on its way, or its containers restart.
    Works,
}

impl Standing {
    fn of(pod: Option<&Pod>, entry: &Entry) -> Self {
        let gate_is_off = pod.is_some_and(|pod| !pod.is_ready() && is_ready_but_for_our_gate(pod));
        match &entry.phase {
            _ if !entry.is_in_hand() => Self::New,
            Some(PodPhase::Next { .. } | PodPhase::Draining { .. })
                if entry.is_between || entry.sent == Sent::GateOff || gate_is_off =>
            {
                Self::Down
            }
            Some(PodPhase::Next { .. } | PodPhase::Draining { .. }) => Self::Idle,
            Some(PodPhase::Waiting) if matches!(entry.request, Request::BackOff { .. }) => Self::Idle,
            Some(_) | None => Self::Works,
        }
    }
}

/// Says whether a pod may go down now. It changes nothing: [`ask`] does what the answer needs.
pub(super) fn may_go_down(goal: &Goal, world: &World, ledger: &Ledger, position: usize, now: Now) -> Admission {
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get(position)) else {
        return Admission::Wait(Why::NotSeen);
    };
    let Some(pod) = world.pod(&pod_goal.key) else { return Admission::Wait(Why::NotSeen) };
    let asks = Asks { goal, world, ledger, position, pod, standing: Standing::of(Some(pod), entry) };
    let why = asks.canary().or_else(|| asks.place()).or_else(|| asks.unavailable(pod_goal));
    let why = why.or_else(|| asks.budgets(pod_goal, now));
    why.map_or(Admission::Go, Admission::Wait)
}

/// The pod that asks, and what is known of the others.
struct Asks<'a> {
    goal: &'a Goal,
    world: &'a World,
    ledger: &'a Ledger,
    position: usize,
    pod: &'a Pod,
    standing: Standing,
}

impl Asks<'_> {
    fn others(&self) -> impl Iterator<Item = (usize, Standing)> {
        let standing = |position: usize| {
            let pod = self.ledger.pods.get(position).and_then(|pod| self.world.pod(&pod.key));
            Some((position, Standing::of(pod, self.ledger.entries.get(position)?)))
        };
        self.ledger.in_hand.iter().filter(|position| **position != self.position).filter_map(move |at| standing(*at))
    }

    /// Where the others go on after a failure, what has failed is waited for no more; it still counts as down.
    fn is_given_up(&self, position: usize) -> bool {
        let goes_on = self.goal.policy.goes_on_after_failure && !self.ledger.has(Fault::WaitsForFailed);
        goes_on && self.ledger.failing.contains(&position)
    }

    /// The first pod goes alone until it has proven itself, unless a person chose the hold. Of several that were begun, as
    /// another run may have left them, those that are down go first, one after the other.
    fn canary(&self) -> Option<Why> {
        let is_proven = self.ledger.has_proof() || self.goal.policy.min_ready_seconds_given.is_some();
        if is_proven || self.ledger.has(Fault::NoCanary) {
            return None;
        }
        let goes_first = |(position, standing): (usize, Standing)| match (standing, self.standing) {
            (Standing::Works, _) | (Standing::Down, Standing::New | Standing::Idle) | (_, Standing::New) => true,
            (Standing::Down, Standing::Down | Standing::Works) => position < self.position,
            (Standing::Idle | Standing::New, Standing::Idle | Standing::Down | Standing::Works) => false,
        };
        self.others().any(|other| goes_first(other) && !self.is_given_up(other.0)).then_some(Why::Canary)
    }

    /// Whether there is a place for one more; a pod that has one keeps it.
    fn place(&self) -> Option<Why> {
        if self.standing != Standing::New {
            return None;
        }
        if self.others().count() >= self.allowed() && !self.ledger.has(Fault::IgnoresBudget) {
            return Some(Why::Full);
        }
        (self.ledger.before_the_pause(self.goal) == Some(0)).then_some(Why::Pause)
    }

    /// Counts the pods that are down or missing. Pods that only hold a place still run: they give way to one of them.
    ///
    /// A pod that is down by itself costs nothing. One whose gate we have turned off is down by our doing: that it is not
    /// ready buys nothing. One that is between two of its containers counts as down since the first.
    fn unavailable(&self, pod_goal: &PodGoal) -> Option<Why> {
        let is_counted = steps::is_begun(self.goal, pod_goal, self.pod);
        if !takes_down(pod_goal) || is_counted || self.is_broken() || self.ledger.has(Fault::IgnoresBudget) {
            return None;
        }
        let give_way = self.giving_way(pod_goal);
        let is_up = |key: &PodKey| give_way.contains(key) && self.world.pod(key).is_some_and(Pod::is_ready);
        let others = self.ledger.down.iter().filter(|key| **key != self.pod.key && !is_up(key)).count();
        let missing = owner::replicas(self.goal, self.world).saturating_sub(self.ledger.present.len());
        let down = others + missing;
        (down >= self.allowed()).then_some(Why::Unavailable { down })
    }

    /// PodDisruptionBudgets, and what both they and the owner say now.
    fn budgets(&self, pod_goal: &PodGoal, now: Now) -> Option<Why> {
        let is_owner_known = owner::is_fresh(self.goal, self.ledger, now);
        let unread = |budgets| (!is_owner_known).then_some(Why::Unread { budgets });
        if !asks_budgets(pod_goal, self.pod) {
            return unread(false);
        }
        match budgets::allow(self.goal, self.world, self.ledger, self.pod, &self.giving_way(pod_goal), now) {
            Budgets::Allow => unread(true),
            Budgets::Unread => Some(Why::Unread { budgets: true }),
            Budgets::Forbid(why) => Some(Why::DisruptionBudget(why)),
        }
    }

    /// The pods that give way to this one: nothing was done to take any of them down, so one has to go first where not all
    /// may go any more.
    fn giving_way(&self, pod_goal: &PodGoal) -> BTreeSet<PodKey> {
        if self.standing == Standing::New {
            return BTreeSet::new();
        }
        // What is out of its Services, or on its way out, is down for its clients: one more of the kind does not go beside it.
        let is_leaving = |position: &usize| self.ledger.draining.contains(position);
        let leaves_next = drain::wanted(self.goal, pod_goal).is_some() && !is_leaving(&self.position);
        let idle = self.others().filter(|(_, standing)| *standing == Standing::Idle);
        let idle = idle.filter(|(position, _)| !leaves_next || !is_leaving(position));
        idle.filter_map(|(position, _)| Some(self.ledger.pods.get(position)?.key.clone())).collect()
    }

    /// Whether the pod is down by itself.
    fn is_broken(&self) -> bool {
        let forgets = self.ledger.has(Fault::TakesItsGateForBroken);
        !self.pod.is_ready() && (forgets || !is_ready_but_for_our_gate(self.pod))
    }

    fn allowed(&self) -> usize {
        usize::try_from(self.goal.policy.max_unavailable).unwrap_or(usize::MAX)
    }
}

/// A change that restarts nothing takes nothing down.
fn takes_down(pod_goal: &PodGoal) -> bool {
    pod_goal.containers.values().any(|container| container.restarts)
}

/// A pod that is not ready costs a budget nothing.
fn asks_budgets(pod_goal: &PodGoal, pod: &Pod) -> bool {
    takes_down(pod_goal) && pod.is_ready()
}

/// Asks whether a pod may go down now, and does what the answer needs: reads what is not known, says what blocks, and stops
/// the clock of a pod that has its place and waits for others.
pub(super) fn ask(
    goal: &Goal,
    position: usize,
    world: &World,
    ledger: &mut Ledger,
    now: Now,
    turn: &mut Turn,
) -> Admission {
    let admission = may_go_down(goal, world, ledger, position, now);
    match &admission {
        Admission::Go => {
            let pod = ledger.pods.get(position).and_then(|pod| Some((pod, world.pod(&pod.key)?)));
            if pod.is_some_and(|(pod_goal, pod)| asks_budgets(pod_goal, pod)) {
                budgets::unblock(ledger);
            }
        }
        Admission::Wait(Why::Unavailable { down }) => say_that_the_budget_holds(goal, ledger, *down, turn),
        Admission::Wait(Why::Unread { budgets }) => {
            if *budgets {
                budgets::read(goal, ledger, now, turn);
            }
            if !owner::is_fresh(goal, ledger, now) {
                owner::read(goal, ledger, now, turn);
            }
        }
        Admission::Wait(Why::DisruptionBudget(why)) => budgets::block(ledger, why, now, turn),
        Admission::Wait(Why::NotSeen | Why::Canary | Why::Full | Why::Pause) => {}
    }
    if let Some(entry) = ledger.entries.get_mut(position) {
        match &admission {
            Admission::Go => entry.release(now),
            Admission::Wait(_) if entry.is_in_hand() => entry.held_since = entry.held_since.or(Some(now)),
            Admission::Wait(_) => {}
        }
    }
    admission
}

fn say_that_the_budget_holds(goal: &Goal, ledger: &mut Ledger, down: usize, turn: &mut Turn) {
    // While pods of ours are in hand it is plain why nothing else is taken.
    if !ledger.in_hand.is_empty() || ledger.budget_said {
        return;
    }
    ledger.budget_said = true;
    let down = u32::try_from(down).unwrap_or(u32::MAX);
    turn.notices.push(Notice::BudgetHolds { down, allowed: goal.policy.max_unavailable });
}
