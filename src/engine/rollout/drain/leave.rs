//! The end of a run with drains: whatever is off is put back first, so far as the server lets it.

use crate::engine::record::UpdateRecord;
use crate::engine::report::Notice;

use super::super::goal::{Goal, Mode};
use super::super::ledger::{Ledger, Request, Sent};
use super::super::world::World;
use super::super::{Now, Turn, schedule};
use super::requests::restore;
use super::{LEAVE_WITHIN, is_given_up};

/// Puts back everything that is off, as soon as nothing else is under way for the pod.
pub(in super::super) fn put_back(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let unseen: Vec<usize> = ledger.in_hand.difference(&ledger.drained).copied().collect();
    for position in unseen {
        read_if_accepted(ledger, position, &[Sent::Drain]);
    }
    let drained: Vec<usize> = ledger.drained.iter().copied().collect();
    for position in drained {
        ledger.look();
        // What was done to a gate decides what is next.
        read_if_accepted(ledger, position, &[Sent::GateOff, Sent::GateOn]);
        if let Some(entry) = ledger.entries.get_mut(position)
            && entry.request == Request::Accepted
            && entry.sent != Sent::Restore
        {
            // It is accepted and not seen; the tests of the patch tell if that matters.
            entry.request = Request::Idle;
        }
        restore(goal, position, world, ledger, now, turn);
    }
}

/// A request of that kind was done, and the pod was not seen since.
fn read_if_accepted(ledger: &mut Ledger, position: usize, kinds: &[Sent]) {
    if let Some(entry) = ledger.entries.get_mut(position)
        && kinds.contains(&entry.sent)
        && entry.request == Request::Accepted
    {
        entry.request = Request::Unclear;
        ledger.unanswered.insert(position);
    }
}

/// Returns whether the run may end: everything is back, or there is no more time to put it back.
pub(in super::super) fn may_leave(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) -> bool {
    if goal.mode == Mode::Follow {
        return true;
    }
    let Some(until) = leaves_at(ledger) else { return true };
    if until > now {
        put_back(goal, world, ledger, now, turn);
        schedule::read_what_is_unclear(ledger, now, turn);
        return false;
    }
    if !std::mem::replace(&mut ledger.drains.left_said, true) {
        for pod in left(ledger).filter_map(|position| world.pod(&ledger.pods.get(position)?.key)) {
            let Some(drained) = UpdateRecord::drained(pod) else { continue };
            let why = format!("{drained} could not be put back in time; the next run does it");
            turn.notices.push(Notice::Drain { pod: pod.key.clone(), why });
        }
    }
    true
}

/// The pods that are out, or may be, and may still be put back.
fn left(ledger: &Ledger) -> impl Iterator<Item = usize> + '_ {
    ledger.drained.union(&ledger.in_hand).copied().filter(|position| {
        ledger.entries.get(*position).is_some_and(|entry| {
            if !ledger.drained.contains(position) {
                return entry.sent == Sent::Drain && !matches!(entry.request, Request::Idle | Request::BackOff { .. });
            }
            let is_back = entry.sent == Sent::Restore && entry.request == Request::Accepted;
            !is_back && !is_given_up(entry)
        })
    })
}

/// Until when an end waits for them; `None` when none is out.
pub(in super::super) fn leaves_at(ledger: &Ledger) -> Option<Now> {
    left(ledger).next()?;
    let since = ledger.stop.map(|(_, since)| since).or(ledger.ending_since)?;
    Some(since + LEAVE_WITHIN)
}
