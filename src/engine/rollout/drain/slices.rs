//! What a drain knows of the EndpointSlices: when they were read, when they are read again, and whom they list.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::drain::serving_in;
use crate::engine::names::Uid;

use super::super::goal::Goal;
use super::super::ledger::{BACK_OFF, Ledger};
use super::super::world::World;
use super::super::{Action, ActionId, Answer, Now, Turn};

/// While a pod is waited for, the EndpointSlices are read so often: at first, and at the longest.
pub(super) const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);

/// What is kept of the EndpointSlices.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct DrainLedger {
    asked: Option<ActionId>,
    began_read: Now,
    /// When the read began that the slices known are from.
    read_at: Option<Now>,
    not_before: Now,
    pub(super) pause: Duration,
    /// Why they could not be read the last time.
    pub(super) trouble: Option<String>,
    /// What is still off at the end was told.
    pub(super) left_said: bool,
}

impl DrainLedger {
    pub(in super::super) fn is_its(&self, id: ActionId) -> bool {
        self.asked == Some(id)
    }

    pub(in super::super) fn answer(&mut self, answer: Answer, now: Now) {
        self.asked = None;
        self.trouble = None;
        match answer {
            Answer::Read => self.read_at = Some(self.began_read),
            Answer::Accepted | Answer::Hook(_) => {}
            Answer::Moved { message }
            | Answer::NotDone { message, .. }
            | Answer::Refused { message, .. }
            | Answer::Unknown { message }
            | Answer::NotRead { message } => {
                self.trouble = Some(message);
                self.not_before = now + BACK_OFF;
            }
        }
    }
}

/// Returns those of the Services that list the pod, if the slices were read after that time.
pub(super) fn listing<'s>(
    world: &World,
    ledger: &Ledger,
    services: &'s [String],
    pod: &Uid,
    since: Option<Now>,
) -> Option<BTreeSet<&'s str>> {
    let is_newer = ledger.drains.read_at.zip(since).is_some_and(|(read, since)| read >= since);
    let slices = world.slices().filter(|_| is_newer)?;
    Some(serving_in(slices, services, pod))
}

/// Reads the slices when it is time.
pub(in super::super) fn read_slices(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if next_look(ledger).is_none_or(|due| due > now) {
        return;
    }
    let mut services: BTreeSet<String> = BTreeSet::new();
    for position in waited_for(ledger) {
        services.extend(ledger.pods.get(position).into_iter().flat_map(|pod| super::services(pod).iter().cloned()));
    }
    if services.is_empty() {
        return;
    }
    let id = ledger.next_id();
    let drains = &mut ledger.drains;
    drains.asked = Some(id);
    drains.began_read = now;
    drains.pause = (drains.pause.max(SOON) * 2).min(LATER);
    let namespace = goal.workload.namespace.clone();
    turn.actions.push((id, Action::ReadSlices { namespace, services: services.into_iter().collect() }));
}

/// The pods that the slices decide about: out and not patched, or put back and not done.
fn waited_for(ledger: &Ledger) -> impl Iterator<Item = usize> + '_ {
    let leaving = ledger.draining.intersection(&ledger.drained);
    leaving.chain(ledger.restoring.difference(&ledger.drained)).copied()
}

/// When the slices have to be read again.
pub(in super::super) fn next_look(ledger: &Ledger) -> Option<Now> {
    let drains = &ledger.drains;
    let is_wanted = drains.asked.is_none() && waited_for(ledger).next().is_some();
    let due = drains.read_at.map_or(Now::ZERO, |at| at + drains.pause.max(SOON)).max(drains.not_before);
    is_wanted.then_some(due)
}
