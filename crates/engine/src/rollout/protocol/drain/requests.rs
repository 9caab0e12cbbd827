//! The requests of a drain: those that take a pod out, step by step, and those that restore it.

use crate::report::progress::PodProgress;
use crate::rollout::Action;
use crate::rollout::observed::TurnContext;
use crate::rollout::patch::{PodPart, PodPatch, drain_patch, gate_off_patch, restore_patch};
use crate::rollout::pod_run::{MAX_SENDS, Sent};
use crate::rollout::pods::Pods;
use crate::state::record::UpdateRecord;

use super::super::{Effect, by_another};
use super::{Drains, Effects, RequestSource, serves_nothing, wanted};

/// What a pod that leaves its Services needs next.
pub(crate) enum Due {
    /// Nothing: it is waited for.
    Nothing,
    /// Somebody has restored it: the record is cleared, and the pod is taken again.
    Restore,
    /// Its gate is turned off, if the pod may go down.
    GateOff(PodPatch),
    /// It is out, and gets its images, if it may go down.
    Images,
}

impl Drains {
    /// Begins to drain a pod whose turn it is; `None` where nothing has to be done first.
    pub(crate) fn begin(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Option<Effects> {
        let goal = pods.run(position)?.goal.clone();
        let (pod, drain) = (context.observed.pod(&goal.key)?, wanted(context.goal, &goal)?);
        if serves_nothing(&goal, pod) {
            return None;
        }
        let patch = drain_patch(pod, &drain.by, &context.goal.field_manager)?;
        let of_pod = self.of(position);
        of_pod.takes = of_pod.takes.saturating_add(1);
        (of_pod.switches, of_pod.restores, of_pod.switches_on) = (0, 0, 0);
        (of_pod.restored, of_pod.back_since) = (false, None);
        let phase = PodProgress::Draining { services: drain.services.clone() };
        let mut effects = self.send(position, patch, Sent::Drain);
        effects.0.push(Effect::Phase(position, phase));
        Some(effects)
    }

    pub(crate) fn due(&self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Due {
        let Some(run) = pods.run(position) else { return Due::Nothing };
        let Some(pod) = context.observed.pod(&run.goal.key).filter(|_| run.request.may_send(context.now)) else {
            return Due::Nothing;
        };
        let Some(drained) = UpdateRecord::drained(pod) else { return Due::Nothing };
        let of_pod = self.pods.get(&position);
        let is_out = of_pod.is_some_and(|of_pod| of_pod.is_out(context, &run.goal, pod));
        let is_tired = of_pod.is_some_and(|of_pod| of_pod.switches >= MAX_SENDS);
        match gate_off_patch(pod, &context.goal.field_manager) {
            None if !drained.is_off(pod) => Due::Restore,
            _ if is_tired => Due::Nothing,
            Some(patch) => Due::GateOff(patch),
            None if is_out => Due::Images,
            None => Due::Nothing,
        }
    }

    pub(crate) fn turn_off(&mut self, position: usize, patch: PodPatch) -> Effects {
        self.of(position).switches += 1;
        self.send(position, patch, Sent::GateOff)
    }

    /// Sends the next request that restores a pod.
    pub(crate) fn restore(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Effects {
        let may_send = pods.run(position).is_some_and(|run| run.request.may_send(context.now));
        let restored = if may_send { self.restore_now(context, pods, position) } else { None };
        restored.unwrap_or_default()
    }

    /// The same, whatever is under way for the pod.
    pub(super) fn restore_now(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Option<Effects> {
        let goal = &pods.run(position)?.goal;
        let of_pod = self.of(position);
        if of_pod.was_abandoned() {
            return None;
        }
        let pod = context.observed.pod(&goal.key).filter(|pod| !by_another(context.goal, pod))?;
        let patch = restore_patch(pod, &context.goal.field_manager)?;
        let sent = match patch.part {
            PodPart::Pod | PodPart::Resize => {
                of_pod.restores += 1;
                Sent::Restore
            }
            PodPart::Status => {
                of_pod.switches_on += 1;
                Sent::GateOn
            }
        };
        of_pod.restored = true;
        Some(self.send(position, patch, sent))
    }

    fn send(&mut self, position: usize, patch: PodPatch, sent: Sent) -> Effects {
        self.slices.hurry();
        let mut effects = Effects::default();
        effects.0.push(Effect::Sent(position, sent));
        effects.act(RequestSource::Pod(position), Action::Patch(patch));
        effects
    }
}
