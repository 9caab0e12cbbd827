//! What to send now: reads that are owed, and the next pods within the budget.

use std::time::Duration;

use crate::engine::patch::{ImageStep, step_patch};
use crate::engine::progress::PodPhase;
use crate::engine::report::Notice;

use super::admission::Admission;
use super::fault::Fault;
use super::goal::{Goal, Mode};
use super::ledger::{Ledger, Request, Sent};
use super::verdict;
use super::world::{Watch, World};
use super::{Action, Now, Turn, admission, drain, hooks, owner, steps};

/// How often the kubelet's events are looked at for a pod that nothing else proves.
const EVENTS_EVERY: Duration = Duration::from_secs(5);

/// Adds what is to be done now.
pub(super) fn act(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    read_what_is_unclear(ledger, now, turn);
    if ledger.stop.is_some() && !ledger.has(Fault::IgnoresInterrupt) {
        return;
    }
    read_events(ledger, now, turn);
    let live = *world.watch() == Watch::Live || ledger.has(Fault::ActsBlind);
    let acts = match goal.mode {
        Mode::PodsOnly => true,
        Mode::Durable => owner::pods_may_go(ledger, now),
        Mode::Follow => false,
    };
    if goal.mode != Mode::Follow && ledger.ending_since.is_none() {
        hooks::advance(goal, world, ledger, now, turn);
        drain::advance(goal, world, ledger, acts && live, now, turn);
        if acts && live {
            steps::advance(goal, world, ledger, now, turn);
        }
    }
    if acts && ledger.ending_since.is_none() {
        let held = if live { take_pods(goal, world, ledger, now, turn) } else { !ledger.waiting.is_empty() };
        let held = held || ledger.held().next().is_some();
        ledger.blocked_since = if held && ledger.nothing_moves() { ledger.blocked_since.or(Some(now)) } else { None };
    }
    if goal.mode != Mode::Follow && ledger.ending_since.is_none() {
        drain::read_slices(goal, ledger, now, turn);
    }
}

fn push(ledger: &mut Ledger, turn: &mut Turn, position: usize, action: Action) {
    let id = ledger.next_id();
    ledger.requests.insert(id, position);
    turn.actions.push((id, action));
}

pub(super) fn read_what_is_unclear(ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let unanswered: Vec<usize> = ledger.unanswered.iter().copied().collect();
    for position in unanswered {
        ledger.look();
        let (Some(entry), Some(pod)) = (ledger.entries.get_mut(position), ledger.pods.get(position)) else { continue };
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

pub(super) fn read_events(ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if ledger.ending_since.is_some() {
        return;
    }
    let unverified: Vec<usize> = ledger.unverified.iter().copied().collect();
    for position in unverified {
        ledger.look();
        let (Some(entry), Some(pod)) = (ledger.entries.get_mut(position), ledger.pods.get(position)) else { continue };
        if entry.events_at.is_some_and(|at| at > now) {
            continue;
        }
        let next = now + EVENTS_EVERY;
        entry.events_at = Some(next);
        ledger.timers.insert((next, position));
        // Its answer is none to a request about the pod: what it finds comes as an observation.
        let read = Action::ReadEvents(pod.key.clone());
        turn.actions.push((ledger.next_id(), read));
    }
}

/// Takes the next pods, as many as may go down. Returns whether some had to be left.
///
/// A pod that is down already costs nothing and goes first, unless the owner's order is strict.
fn take_pods(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) -> bool {
    let mut last = None;
    while let Some(position) = next_candidate(goal, ledger, last, now) {
        last = Some(position);
        ledger.look();
        if admission::ask(goal, position, world, ledger, now, turn) != Admission::Go {
            return true;
        }
        if hooks::begin(goal, position, world, ledger, now, turn) {
            continue;
        }
        if drain::begin(goal, position, world, ledger, now, turn) {
            continue;
        }
        // What cannot be sent now is left; the next look decides anew.
        if send(goal, position, world, ledger, turn, now).is_none() {
            return true;
        }
    }
    !ledger.waiting.is_empty()
}

/// The next position that waits and may be sent now: what was put off, then what is down, then the goal's order.
fn next_candidate(goal: &Goal, ledger: &Ledger, last: Option<usize>, now: Now) -> Option<usize> {
    let is_due = |position: &&usize| match ledger.entries.get(**position).map(|entry| &entry.request) {
        Some(Request::BackOff { until }) => *until <= now,
        Some(_) => true,
        None => false,
    };
    let new = |position: &&usize| last != Some(**position);
    let mut put_off = ledger.put_off.iter();
    if goal.policy.ordered {
        // In a strict order nothing overtakes what was put off.
        return ledger.waiting.first().filter(is_due).filter(new).copied();
    }
    let fresh = ledger.broken.iter().chain(&ledger.waiting).find(|position| !ledger.put_off.contains(position));
    put_off.find(is_due).or(fresh).filter(new).copied()
}

/// Sends the images of the next step.
pub(super) fn send(
    goal: &Goal,
    position: usize,
    world: &World,
    ledger: &mut Ledger,
    turn: &mut Turn,
    now: Now,
) -> Option<()> {
    let pod_goal = ledger.pods.get(position)?.clone();
    let pod = world.pod(&pod_goal.key)?;
    let (number, images, later) = steps::images(goal, &pod_goal, pod, steps::is_ignored(ledger));
    let step = ImageStep { images: &images, later: &later, owes_after_pod: goal.hooks.after_pod.is_some() };
    let patch = step_patch(pod, &step, &pod_goal.metadata, &goal.id, &goal.field_manager).ok()?;
    let entry = ledger.entries.get_mut(position)?;
    entry.sends = entry.sends.saturating_add(1);
    entry.request = Request::Sent;
    entry.sent = Sent::Images;
    entry.sent_step = number;
    entry.forget(images.iter().map(|image| &image.container), number);
    entry.note_others(pod, &pod_goal.containers, number);
    entry.started.get_or_insert(now);
    entry.phase = Some(PodPhase::Patched);
    // Its time runs from now, also when nothing is ever heard of it again.
    let deadline = verdict::deadline(goal, world, &pod_goal, entry);
    ledger.timers.extend(deadline.map(|at| (at, position)));
    turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase: PodPhase::Patched });
    ledger.budget_said = false;
    super::index(goal, world, ledger, position, !pod.is_ready());
    ledger.down.insert(pod_goal.key.clone());
    push(ledger, turn, position, Action::Patch(patch));
    Some(())
}
