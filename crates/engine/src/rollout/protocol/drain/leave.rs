//! The end of a run with drains: removed labels and gates are restored first, so far as the server lets it.

use crate::report::Notice;
use crate::rollout::Now;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::{PodIndex, RequestState, Sent};
use crate::rollout::pods::Pods;
use crate::state::record::UpdateRecord;

use super::super::Effect;
use super::{Drains, Effects, LEAVE_WITHIN};

impl Drains {
    /// Restores every label and gate that was removed, as soon as no other request is in progress for the pod.
    pub(crate) fn restore_all(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        for position in pods.all(PodIndex::InProgress).difference(pods.all(PodIndex::Drained)).copied() {
            if accepted(pods, position) == Some(Sent::Drain) {
                effects.0.push(Effect::Request(position, RequestState::Unclear));
            }
        }
        for position in pods.list(PodIndex::Drained) {
            match accepted(pods, position) {
                // What was done to a gate decides what is next, and is read first.
                Some(Sent::GateOff | Sent::GateOn) => {
                    effects.0.push(Effect::Request(position, RequestState::Unclear));
                }
                // Another patch is accepted and not seen: the tests of the next patch show whether that matters.
                Some(Sent::Images | Sent::Note | Sent::Resize | Sent::HookNote | Sent::Drain) => {
                    effects.0.push(Effect::Request(position, RequestState::Idle));
                    effects.extend(self.restore_now(context, pods, position).unwrap_or_default());
                }
                Some(Sent::Restore) | None => effects.extend(self.restore(context, pods, position)),
            }
        }
        effects
    }

    /// Returns whether the run may end: everything is restored, or the time for it is over.
    pub(crate) fn can_finish(&mut self, context: TurnContext<'_>, pods: &Pods) -> (bool, Effects) {
        let mut effects = Effects::default();
        let Some(until) = self.leaves_at(context, pods) else { return (true, effects) };
        if until > context.now {
            return (false, self.restore_all(context, pods));
        }
        if !std::mem::replace(&mut self.left_said, true) {
            for pod in self.left(pods).filter_map(|position| context.observed.pod(&pods.run(position)?.goal.key)) {
                let Some(drained) = UpdateRecord::drained(pod) else { continue };
                let why = format!("{drained} could not be restored in time; the next run does it");
                effects.say(Notice::Drain { pod: pod.key.clone(), why });
            }
        }
        (true, effects)
    }

    /// The drained pods, or those that may be, that can still be restored.
    fn left<'p>(&'p self, pods: &'p Pods) -> impl Iterator<Item = usize> + 'p {
        let drained = pods.all(PodIndex::Drained);
        drained.union(pods.all(PodIndex::InProgress)).copied().filter(move |position| {
            let Some(run) = pods.run(*position) else { return false };
            if !drained.contains(position) {
                return run.request.sent == Sent::Drain && !run.request.is_idle();
            }
            let is_back = run.request.sent == Sent::Restore && run.request.state == RequestState::Accepted;
            let is_abandoned =
                self.pods.get(position).is_some_and(super::OfPod::was_abandoned) && run.request.is_idle();
            !is_back && !is_abandoned
        })
    }

    /// Until when an end waits for them; `None` when no pod is drained.
    pub(crate) fn leaves_at(&self, context: TurnContext<'_>, pods: &Pods) -> Option<Now> {
        self.left(pods).next()?;
        Some(context.stopped_since.or(context.ending_since)? + LEAVE_WITHIN)
    }
}

/// Which request for the pod was done, and not seen since.
fn accepted(pods: &Pods, position: usize) -> Option<Sent> {
    pods.run(position).filter(|run| run.request.state == RequestState::Accepted).map(|run| run.request.sent)
}
