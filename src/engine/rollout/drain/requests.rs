//! The requests of a drain: what takes a pod out, step by step, and what puts it back.

use crate::engine::drain::is_ready_but_for_our_gate;
use crate::engine::patch::{PodPart, PodPatch, drain_patch, gate_off_patch, restore_patch};
use crate::engine::progress::PodPhase;
use crate::engine::record::UpdateRecord;
use crate::engine::report::Notice;

use super::super::admission::Admission;
use super::super::fault::Fault;
use super::super::goal::Goal;
use super::super::ledger::{Entry, Ledger, MAX_SENDS, Request, Sent};
use super::super::world::World;
use super::super::{Action, Now, Turn, admission, index, schedule, taken_over, verdict};
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
    let switch = gate_off_patch(pod, &goal.field_manager);
    if switch.is_none() && !drained.is_off(pod) {
        // Somebody has put it back: the record is cleared, and the pod is taken anew.
        return restore(goal, position, world, ledger, now, turn);
    }
    let is_out = is_out(goal, entry, now) || ledger.has(Fault::KillsWhatIsListed);
    if switch.is_none() && !is_out || entry.drain.switches >= MAX_SENDS {
        return;
    }
    if admission::ask(goal, position, world, ledger, now, turn) != Admission::Go {
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
    index(goal, world, ledger, position, !is_ready_but_for_our_gate(pod));
    true
}

/// Sends the next request that puts a pod back.
pub(super) fn restore(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let forgets = ledger.has(Fault::LeavesGateOff);
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get_mut(position)) else { return };
    if !may_send(entry, now) || gave_up(entry) {
        return;
    }
    let Some(pod) = world.pod(&pod_goal.key).filter(|pod| !taken_over::by_another(goal, pod)) else { return };
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
