//! What was sent to a pod, compared with what is reported of it at the end.

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::state::hook::HookPhase;

use super::super::PodGoal;
use super::invariants::{Invariant, Invariants, Truth};

impl Invariants {
    /// A pod to which nothing was sent has not failed, unless its command did, or a container of it that asks for the
    /// wanted image: another writer may have set some of the wanted images.
    pub(super) fn judge_failure(&mut self, pod: &PodKey, phase: &UpdatePhase, truth: &Truth<'_>) {
        let UpdatePhase::Failing(failure) = phase else { return };
        // By this run, by the one before it, or by another writer.
        let goal = truth.goal.pods.iter().find(|goal| goal.key == *pod);
        let asks = goal.zip(truth.observed.pod(pod)).is_some_and(|(goal, pod)| match &failure.container {
            Some(name) => truth.asks_of(goal, pod, name),
            None => truth.asks(goal, pod),
        });
        let by_us =
            self.executed.contains(pod) || self.noted.contains(pod) || self.sends.keys().any(|(key, _, _)| key == pod);
        let was_sent = by_us || asks || self.images.contains(pod);
        let command = &truth.goal.hooks.before_pod;
        // A run that goes on starts with the command again, as long as nothing of the pod was changed.
        let is_commanded = command.is_some() && !truth.passed_last.contains_key(&(pod.clone(), HookPhase::Before));
        let is_ours = truth.goal.policy().goes_on_after_failure && !truth.goal.is_followed();
        if is_ours && !was_sent && !is_commanded {
            self.broken(Invariant::NeverSent, truth.now, format!("{pod} is told as failed: {phase:?}"));
        }
    }

    /// The rollout does not stop while a pod may still be taken down.
    pub(super) fn judge_what_went_on(&mut self, truth: &Truth<'_>) {
        let said = |goal: &PodGoal| self.said.get(&goal.key).cloned();
        let (failed, others): (Vec<&PodGoal>, Vec<&PodGoal>) =
            truth.goal.pods.iter().map(AsRef::as_ref).partition(|goal| self.is_failing(said(goal).as_ref()));
        // A pod that failed before anything was done to it is up.
        let costs = |goal: &&&PodGoal| {
            self.executed.contains(&goal.key) || !truth.observed.pod(&goal.key).is_some_and(Pod::is_ready)
        };
        let down = failed.iter().filter(costs).count();
        let is_full = down >= usize::try_from(truth.goal.policy().max_unavailable).expect("small");
        let left: Vec<String> = others
            .iter()
            .filter(|goal| !matches!(said(goal), Some(UpdatePhase::Done | UpdatePhase::Left { .. })))
            .map(|goal| format!("{}: {:?}", goal.key, said(goal)))
            .collect();
        if !is_full && !left.is_empty() && truth.is_undisturbed {
            self.broken(Invariant::NeverSent, truth.now, format!("left though there was a place: {left:?}"));
        }
    }
}
