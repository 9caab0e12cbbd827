//! The requests of a drain: what takes a pod out, step by step, and what puts it back.

use crate::engine::drain::is_ready_but_for_our_gate;
use crate::engine::names::PodKey;
use crate::engine::patch::{PodPart, PodPatch, drain_patch, gate_off_patch, restore_patch};
use crate::engine::pod::Pod;
use crate::engine::record::UpdateRecord;
use crate::engine::report::{Notice, PodPhase};

use super::super::fault::Fault;
use super::super::goal::Goal;
use super::super::ledger::{Entry, Ledger, MAX_SENDS, Request, Sent};
use super::super::world::World;
use super::super::{Action, Now, Turn, budgets, index, owner, schedule, steps, verdict};
use super::slices::SOON;
use super::{is_out, wanted};

/// Takes the pods that are drained one step further: those that are out get their images, those that are done are put back.
pub(in super::super) fn advance(
    goal: &Goal,
    world: &World,
    ledger: &mut Ledger,
    may_take: bool,
    now: Now,
    turn: &mut Turn,
) {
    let restoring: Vec<usize> = ledger.restoring.iter().copied().collect();
    for position in restoring {
        ledger.look();
        restore(goal, position, world, ledger, now, turn);
    }
    let draining: Vec<usize> = if may_take { ledger.draining.iter().copied().collect() } else { Vec::new() };
    for position in draining {
        ledger.look();
        take_out(goal, position, world, ledger, now, turn);
    }
}

/// Returns whether a patch of the pod may be sent now.
pub(in super::super) fn may_send(entry: &Entry, now: Now) -> bool {
    match entry.request {
        Request::Idle => true,
        Request::BackOff { until } => until <= now,
        Request::Accepted | Request::Sent | Request::Unclear | Request::Reading | Request::ReadAt(_) => false,
    }
}

fn take_out(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get(position)) else { return };
    let Some(pod) = world.pod(&pod_goal.key).filter(|_| may_send(entry, now)) else { return };
    let Some(drained) = UpdateRecord::drained(pod) else { return };
    // One that is between two of its containers counts as down since the first.
    let is_counted = steps::is_begun(goal, pod_goal, pod);
    let switch = gate_off_patch(pod, &goal.field_manager);
    if switch.is_none() && !drained.is_off(pod) {
        // Somebody has put it back: the record is cleared, and the pod is taken anew.
        return restore(goal, position, world, ledger, now, turn);
    }
    // As with a pod that is taken: the first one goes alone until it has proven itself.
    let alone = !ledger.has_proof() && goal.policy.min_ready_seconds_given.is_none();
    let others = ledger.in_hand.iter().filter(|other| **other != position && !ledger.draining.contains(other));
    let goes_alone = ledger.draining.first() == Some(&position) && others.count() == 0;
    if alone && !goes_alone {
        return;
    }
    let is_out = is_out(goal, entry, now) || ledger.has(Fault::KillsWhatIsListed);
    if switch.is_none() && !is_out || entry.drain.switches >= MAX_SENDS {
        return;
    }
    let may_go = if is_counted {
        !pod.is_ready() || budgets::allow(goal, world, ledger, pod, now, turn)
    } else {
        may_go_down(goal, world, ledger, pod, now, turn)
    };
    if !may_go || owner::must_look_first(goal, ledger, now, turn) {
        return;
    }
    match switch {
        Some(patch) => {
            if let Some(entry) = ledger.entries.get_mut(position) {
                entry.drain.switches += 1;
            }
            push(ledger, position, patch, Sent::GateOff, turn);
        }
        None => {
            schedule::send(goal, position, world, ledger, turn, now);
        }
    }
}

/// Whether nothing else has gone down since the pod was taken: it is counted, but it still runs.
///
/// A pod whose gate we have turned off is down by our doing: that it is not ready buys nothing. Its budgets were asked
/// before the gate went off, and count it as down since.
fn may_go_down(goal: &Goal, world: &World, ledger: &mut Ledger, pod: &Pod, now: Now, turn: &mut Turn) -> bool {
    let allowed = usize::try_from(goal.policy.max_unavailable).unwrap_or(usize::MAX);
    let missing = owner::replicas(goal, world).saturating_sub(ledger.present.len());
    let give_way = ledger.giving_way_to(&pod.key);
    let is_up = |key: &&PodKey| give_way.contains(*key) && world.pod(key).is_some_and(Pod::is_ready);
    let others = ledger.down.iter().filter(|key| **key != pod.key && !is_up(key)).count();
    if is_broken(ledger, pod) {
        return true;
    }
    others + missing < allowed && (!pod.is_ready() || budgets::allow(goal, world, ledger, pod, now, turn))
}

/// Whether the pod is down by itself.
fn is_broken(ledger: &Ledger, pod: &Pod) -> bool {
    if ledger.has(Fault::TakesItsGateForBroken) {
        return !pod.is_ready();
    }
    !is_ready_but_for_our_gate(pod)
}

/// Begins to take a pod out whose turn it is; returns whether that was to be done first.
pub(in super::super) fn begin(
    goal: &Goal,
    position: usize,
    world: &World,
    ledger: &mut Ledger,
    now: Now,
    turn: &mut Turn,
) -> bool {
    let Some(pod_goal) = ledger.pods.get(position).cloned() else { return false };
    let (Some(pod), Some(drain)) = (world.pod(&pod_goal.key), wanted(goal, &pod_goal)) else { return false };
    let Some(patch) = drain_patch(pod, &drain.by, &goal.field_manager) else { return false };
    let Some(entry) = ledger.entries.get_mut(position) else { return false };
    entry.drain.takes = entry.drain.takes.saturating_add(1);
    (entry.drain.switches, entry.drain.restores, entry.drain.switches_on) = (0, 0, 0);
    (entry.drain.restored, entry.drain.back_since) = (false, None);
    entry.started.get_or_insert(now);
    let phase = PodPhase::Draining { services: drain.services.clone() };
    entry.phase = Some(phase.clone());
    let deadline = verdict::deadline(goal, world, &pod_goal, entry);
    ledger.timers.extend(deadline.map(|at| (at, position)));
    turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase });
    ledger.budget_said = false;
    ledger.down.insert(pod_goal.key.clone());
    push(ledger, position, patch, Sent::Drain, turn);
    index(goal, world, ledger, position, is_broken(ledger, pod));
    true
}

/// Sends the next request that puts a pod back.
pub(super) fn restore(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let forgets = ledger.has(Fault::LeavesGateOff);
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get_mut(position)) else { return };
    if !may_send(entry, now) || gave_up(entry) {
        return;
    }
    let Some(pod) = world.pod(&pod_goal.key) else { return };
    let Some(patch) = restore_patch(pod, &goal.field_manager) else { return };
    let sent = match patch.part {
        PodPart::Pod => Sent::Restore,
        PodPart::Status if forgets => return,
        PodPart::Status => Sent::GateOn,
    };
    match sent {
        Sent::GateOn => entry.drain.switches_on += 1,
        Sent::Images | Sent::Drain | Sent::GateOff | Sent::Restore | Sent::HookNote => entry.drain.restores += 1,
    }
    entry.drain.restored = true;
    push(ledger, position, patch, sent, turn);
}

/// Whether there were enough tries to put the pod back.
pub(super) fn gave_up(entry: &Entry) -> bool {
    entry.drain.restores >= MAX_SENDS || entry.drain.switches_on >= MAX_SENDS
}

/// Sends a patch that is none of the images.
pub(in super::super) fn push(ledger: &mut Ledger, position: usize, patch: PodPatch, sent: Sent, turn: &mut Turn) {
    ledger.drains.pause = SOON;
    let id = ledger.next_id();
    ledger.requests.insert(id, position);
    ledger.unanswered.insert(position);
    ledger.in_hand.insert(position);
    if let Some(entry) = ledger.entries.get_mut(position) {
        (entry.request, entry.sent) = (Request::Sent, sent);
    }
    turn.actions.push((id, Action::Patch(patch)));
}
