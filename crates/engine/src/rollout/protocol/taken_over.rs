//! Pods that are taken over from a run that may still be active, or whose requests may still be on their way: each gets
//! a note that such a request fails on, before anything else is done. And the other side: a run finds that its pods are
//! another run's.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::rollout::patch::taken_over_patch;
use crate::state::durable::OwnerChange;
use crate::state::record::UpdateRecord;

use crate::rollout::goal::Goal;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::{BACK_OFF, MAX_SENDS};
use crate::rollout::pods::Pods;
use crate::rollout::{Action, Answer, Now};

use super::{Effects, RequestSource};

/// After a failed test the watch soon shows why.
const SOON: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Default)]
struct Note {
    is_sent: bool,
    sends: u8,
    not_before: Option<Now>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Fencing {
    notes: BTreeMap<PodKey, Note>,
    /// The server's words, where it refuses.
    refused: Option<String>,
    /// A pod was taken over since the last call.
    has_advanced: bool,
}

impl Fencing {
    pub(crate) fn answer(&mut self, key: &PodKey, answer: Answer, now: Now) {
        let note = self.notes.entry(key.clone()).or_default();
        note.is_sent = false;
        match answer {
            Answer::Accepted | Answer::Read => self.has_advanced = true,
            Answer::Refused { reason, message } => {
                self.refused = Some(format!("taking over pod {} was refused ({reason}): {message}", key.name));
            }
            Answer::Conflict { .. } => note.not_before = Some(now + SOON),
            Answer::NotDone { after, .. } => {
                note.sends = note.sends.saturating_sub(1);
                note.not_before = Some(now + after.unwrap_or(BACK_OFF));
            }
            Answer::Unknown { .. } | Answer::ReadFailed { .. } | Answer::Hook(_) => {
                note.not_before = Some(now + BACK_OFF);
            }
        }
    }

    pub(crate) fn next_visit(&self) -> Option<Now> {
        self.notes.values().filter_map(|note| note.not_before).min()
    }

    /// Sends what is missing. Returns whether something was noted since the last call, or why it cannot be.
    pub(crate) fn advance(
        &mut self,
        context: TurnContext<'_>,
        pods: &Pods,
        owner: &OwnerChange,
    ) -> Result<(bool, Effects), String> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let mut effects = Effects::default();
        let Some(by) = &owner.take_over else { return Ok((true, effects)) };
        self.notes.values_mut().for_each(|note| note.not_before = note.not_before.filter(|at| *at > context.now));
        for key in pods.present() {
            let note = self.notes.entry(key.clone()).or_default();
            let may_send = !note.is_sent && note.not_before.is_none();
            let Some(pod) = context.observed.pod(key).filter(|_| may_send) else { continue };
            let Some(patch) = taken_over_patch(pod, by, &context.goal.field_manager) else { continue };
            note.sends = note.sends.saturating_add(1);
            if note.sends > MAX_SENDS {
                return Err(format!("pod {} could not be taken over in {MAX_SENDS} tries", key.name));
            }
            note.is_sent = true;
            effects.act(RequestSource::TakenOver(key.clone()), Action::Patch(patch));
        }
        Ok((std::mem::take(&mut self.has_advanced), effects))
    }
}

/// Returns whether every pod that is there says that this run has it.
pub(crate) fn is_done(context: TurnContext<'_>, pods: &Pods) -> bool {
    let Some(by) = context.goal.owner.as_ref().and_then(|owner| owner.take_over.as_ref()) else { return true };
    let is_ours = |pod: &Pod| UpdateRecord::of(pod).is_some_and(|record| record.taken_over.as_ref() == Some(by));
    let done = |key: &PodKey| {
        let is_updated = pods.position(key).and_then(|at| pods.run(at)).is_some_and(|run| run.request.patched);
        is_updated || context.observed.pod(key).is_none_or(is_ours)
    };
    pods.present().iter().all(done)
}

/// Returns whether another run has taken this pod over from this one.
pub(crate) fn by_another(goal: &Goal, pod: &Pod) -> bool {
    let Some(owner) = &goal.owner else { return false };
    let taken = UpdateRecord::of(pod).and_then(|record| record.taken_over.clone());
    taken.is_some_and(|taken| {
        let is_known = taken.run == goal.lock.run || owner.earlier.contains(&taken.run);
        taken.rollout == goal.lock.rollout.id && !is_known
    })
}
