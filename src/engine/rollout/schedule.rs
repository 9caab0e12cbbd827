//! What to send now: reads that are owed, and the next pods within the budget.

use std::time::Duration;

use crate::engine::patch::{NewImage, pod_patch};
use crate::engine::pod::Pod;
use crate::engine::report::{Notice, PodPhase};

use super::fault::Fault;
use super::goal::{Goal, Mode, PodGoal};
use super::ledger::{Ledger, MAX_SENDS, Request};
use super::world::{Watch, World};
use super::{Action, ActionId, Now, Turn};

/// How often the kubelet's events are looked at for a pod that nothing else proves.
const EVENTS_EVERY: Duration = Duration::from_secs(5);

/// Adds what is to be done now.
pub(super) fn act(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    read_what_is_unclear(goal, ledger, now, turn);
    if ledger.stop.is_some() && !ledger.has(Fault::IgnoresInterrupt) {
        return;
    }
    read_events(goal, ledger, now, turn);
    let live = *world.watch() == Watch::Live || ledger.has(Fault::ActsBlind);
    if goal.mode == Mode::PodsOnly && live && ledger.ending_since.is_none() {
        take_pods(goal, world, ledger, now, turn);
    }
}

fn push(ledger: &mut Ledger, turn: &mut Turn, position: usize, action: Action) {
    let id = ActionId(ledger.next_action);
    ledger.next_action += 1;
    ledger.requests.insert(id, position);
    turn.actions.push((id, action));
}

fn read_what_is_unclear(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let unanswered: Vec<usize> = ledger.unanswered.iter().copied().collect();
    for position in unanswered {
        let (Some(entry), Some(pod)) = (ledger.entries.get_mut(position), goal.pods.get(position)) else { continue };
        let due = match entry.request {
            Request::Unclear => true,
            Request::ReadAt(at) => at <= now,
            Request::Idle | Request::Sent | Request::Accepted | Request::Reading | Request::BackOff { .. } => false,
        };
        if due {
            entry.request = Request::Reading;
            push(ledger, turn, position, Action::Read(pod.key.clone()));
        }
    }
}

fn read_events(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let in_hand: Vec<usize> = ledger.in_hand.iter().copied().collect();
    for position in in_hand {
        let (Some(entry), Some(pod)) = (ledger.entries.get_mut(position), goal.pods.get(position)) else { continue };
        if !matches!(entry.phase, Some(PodPhase::Unproven { .. })) || entry.events_at.is_some_and(|at| at > now) {
            continue;
        }
        let next = now + EVENTS_EVERY;
        entry.events_at = Some(next);
        ledger.timers.insert((next, position));
        push(ledger, turn, position, Action::ReadEvents(pod.key.clone()));
    }
}

/// Takes the next pods, as many as the budget allows.
///
/// A pod that is down already costs nothing and goes first, unless the owner's order is strict. The first pod goes alone
/// until it has proven itself, unless a person chose the hold.
fn take_pods(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let allowed = usize::try_from(goal.policy.max_unavailable).unwrap_or(usize::MAX);
    let alone = ledger.done.is_empty() && goal.policy.min_ready_seconds_given.is_none() && !ledger.has(Fault::NoCanary);
    let at_once = if alone { 1 } else { allowed };
    let mut held = false;
    for position in candidates(goal, ledger) {
        if ledger.in_hand.len() >= at_once && !ledger.has(Fault::IgnoresBudget) {
            held = true;
            break;
        }
        let (Some(pod_goal), Some(entry)) = (goal.pods.get(position), ledger.entries.get(position)) else { continue };
        if let Request::BackOff { until } = entry.request
            && until > now
        {
            held = true;
            if goal.policy.ordered { break } else { continue }
        }
        let missing = usize::try_from(goal.replicas).unwrap_or(0).saturating_sub(ledger.present.len());
        let is_down = ledger.down.contains(&pod_goal.key);
        let takes_down = pod_goal.containers.values().any(|container| container.restarts);
        if takes_down && !is_down && ledger.down.len() + missing >= allowed && !ledger.has(Fault::IgnoresBudget) {
            held = true;
            say_that_the_budget_holds(goal, ledger, missing, turn);
            break;
        }
        if let Some(pod) = world.pod(&pod_goal.key) {
            send(goal, pod_goal, pod, ledger, position, turn, now);
        }
    }
    ledger.blocked_since = if held && ledger.in_hand.is_empty() { ledger.blocked_since.or(Some(now)) } else { None };
}

/// Positions that wait, those that are down already first unless the order is strict.
fn candidates(goal: &Goal, ledger: &Ledger) -> Vec<usize> {
    let few = usize::try_from(goal.policy.max_unavailable).unwrap_or(usize::MAX).saturating_add(1);
    let is_down = |position: &&usize| goal.pods.get(**position).is_some_and(|pod| ledger.down.contains(&pod.key));
    if goal.policy.ordered {
        return ledger.waiting.iter().take(few).copied().collect();
    }
    // A look at the pods that are down, never at all that wait: a turn costs what changed.
    let mut broken: Vec<usize> = ledger
        .down
        .iter()
        .filter_map(|key| ledger.position.get(key))
        .filter(|position| ledger.waiting.contains(position))
        .copied()
        .collect();
    broken.sort_unstable();
    broken.truncate(few);
    let sound = ledger.waiting.iter().filter(|position| !is_down(position)).take(few).copied();
    broken.iter().copied().chain(sound).collect()
}

fn say_that_the_budget_holds(goal: &Goal, ledger: &mut Ledger, missing: usize, turn: &mut Turn) {
    // While pods of ours are in hand it is plain why nothing else is taken.
    if !ledger.in_hand.is_empty() || ledger.budget_said {
        return;
    }
    ledger.budget_said = true;
    let down = u32::try_from(ledger.down.len() + missing).unwrap_or(u32::MAX);
    turn.notices.push(Notice::BudgetHolds { down, allowed: goal.policy.max_unavailable });
}

fn send(goal: &Goal, pod_goal: &PodGoal, pod: &Pod, ledger: &mut Ledger, position: usize, turn: &mut Turn, now: Now) {
    let images: Vec<NewImage> = pod_goal
        .containers
        .iter()
        .filter_map(|(name, wanted)| {
            let to = wanted.to.as_ref()?;
            let (_, _, container) = pod.container(name)?;
            (container.image != *to).then(|| NewImage { container: name.clone(), to: to.clone() })
        })
        .collect();
    let Ok(patch) = pod_patch(pod, &images, &pod_goal.metadata, &goal.id, &goal.field_manager) else { return };
    let unbounded = ledger.has(Fault::RetriesForever);
    let Some(entry) = ledger.entries.get_mut(position) else { return };
    if entry.sends >= MAX_SENDS && !unbounded {
        let message =
            format!("the server did not take the patch in {MAX_SENDS} tries, each after a fresh look at the pod");
        entry.refused = Some(crate::engine::failure::Failure {
            container: None,
            reason: "TooManyTries".into(),
            message,
            exit_code: None,
        });
        ledger.timers.insert((now, position));
        return;
    }
    entry.sends = entry.sends.saturating_add(1);
    entry.request = Request::Sent;
    entry.ready_since = None;
    entry.kubelet_knew.clear();
    entry.note_others(pod, &pod_goal.containers);
    entry.started.get_or_insert(now);
    entry.phase = Some(PodPhase::Patched);
    turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase: PodPhase::Patched });
    ledger.budget_said = false;
    super::index(ledger, position);
    ledger.down.insert(pod_goal.key.clone());
    push(ledger, turn, position, Action::Patch(patch));
}
