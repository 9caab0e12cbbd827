//! Pods that are taken over from a run that may still be at work, or whose requests may still be on their way: each gets a
//! note that such a request fails on, before anything else is done. And the other side: a run finds that its pods are
//! another one's.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::durable::OwnerGoal;
use crate::engine::names::PodKey;
use crate::engine::patch::taken_over_patch;
use crate::engine::pod::Pod;
use crate::engine::record::UpdateRecord;

use super::goal::Goal;
use super::ledger::{BACK_OFF, Ledger, MAX_SENDS};
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn};

/// After a test that failed the watch soon tells why.
const SOON: Duration = Duration::from_millis(200);

/// What is kept of the notes that are written.
#[derive(Debug, Clone, Default)]
pub(super) struct TakenOverLedger {
    asked: BTreeMap<ActionId, PodKey>,
    sends: BTreeMap<PodKey, u8>,
    not_before: BTreeMap<PodKey, Now>,
    /// The server's words, where it refuses.
    refused: Option<String>,
    /// Something was taken over since this was asked last.
    moved: bool,
}

impl TakenOverLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked.contains_key(&id)
    }

    pub(super) fn answer(&mut self, id: ActionId, answer: Answer, now: Now) {
        let Some(key) = self.asked.remove(&id) else { return };
        match answer {
            Answer::Accepted | Answer::Read => self.moved = true,
            Answer::Refused { reason, message } => {
                self.refused = Some(format!("taking over pod {} was refused ({reason}): {message}", key.name));
            }
            Answer::Moved { .. } => {
                self.not_before.insert(key, now + SOON);
            }
            Answer::NotDone { after, .. } => {
                if let Some(sends) = self.sends.get_mut(&key) {
                    *sends = sends.saturating_sub(1);
                }
                self.not_before.insert(key, now + after.unwrap_or(BACK_OFF));
            }
            Answer::Unknown { .. } | Answer::NotRead { .. } | Answer::Hook(_) => {
                self.not_before.insert(key, now + BACK_OFF);
            }
        }
    }

    /// When the next one may be sent again.
    pub(super) fn next_look(&self) -> Option<Now> {
        self.not_before.values().min().copied()
    }
}

/// Returns whether every pod that is there says that this run has it.
pub(super) fn is_done(owner: &OwnerGoal, world: &World, ledger: &Ledger) -> bool {
    let Some(by) = &owner.take_over else { return true };
    let is_ours = |pod: &Pod| UpdateRecord::of(pod).is_some_and(|record| record.taken_over.as_ref() == Some(by));
    let done = |key: &PodKey| {
        let is_updated = ledger.position.get(key).and_then(|at| ledger.entries.get(*at)).is_some_and(|pod| pod.patched);
        is_updated || world.pod(key).is_none_or(is_ours)
    };
    ledger.present.iter().all(done)
}

/// Sends what is missing. Returns whether something was noted since the last call, or why it cannot be.
pub(super) fn advance(
    goal: &Goal,
    owner: &OwnerGoal,
    world: &World,
    ledger: &mut Ledger,
    now: Now,
    turn: &mut Turn,
) -> Result<bool, String> {
    if let Some(refused) = ledger.taken_over.refused.take() {
        return Err(refused);
    }
    let Some(by) = &owner.take_over else { return Ok(true) };
    let asked: BTreeSet<PodKey> = ledger.taken_over.asked.values().cloned().collect();
    ledger.taken_over.not_before.retain(|_, at| *at > now);
    for key in ledger.present.clone().difference(&asked) {
        let is_put_off = ledger.taken_over.not_before.contains_key(key);
        let Some(pod) = world.pod(key).filter(|_| !is_put_off) else { continue };
        let Some(patch) = taken_over_patch(pod, by, &goal.field_manager) else { continue };
        let sends = ledger.taken_over.sends.entry(key.clone()).or_default();
        *sends = sends.saturating_add(1);
        if *sends > MAX_SENDS {
            return Err(format!("pod {} could not be taken over in {MAX_SENDS} tries", key.name));
        }
        let id = ledger.next_id();
        ledger.taken_over.asked.insert(id, key.clone());
        turn.actions.push((id, Action::Patch(patch)));
    }
    Ok(std::mem::take(&mut ledger.taken_over.moved))
}

/// Returns whether another run has taken this pod over from this one.
pub(super) fn by_another(goal: &Goal, pod: &Pod) -> bool {
    let Some(owner) = &goal.owner else { return false };
    let taken = UpdateRecord::of(pod).and_then(|record| record.taken_over.clone());
    taken.is_some_and(|taken| taken.rollout == owner.lock.id && taken.run != owner.lock.run)
}
