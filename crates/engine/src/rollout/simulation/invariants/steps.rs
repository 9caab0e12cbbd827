//! What must hold of a pod's steps and of its time.

use super::*;

impl Invariants {
    /// Whatever a patch changes, every container before it runs the wanted image, is ready, and has been so.
    pub(super) fn judge_order(&mut self, goal: &PodGoal, pod: &Pod, patch: &PodPatch, truth: &Truth<'_>) {
        let has_hook = truth.goal.hooks.before_pod.is_some();
        let begun = is_begun(truth.goal, pod);
        if has_hook && !begun && !truth.passed.contains(&(pod.key.clone(), HookPhase::Before)) {
            self.broken(Invariant::Hook, truth.now, format!("{} is patched without its command", pod.key));
        }
        if truth.goal.policy().container_order.is_empty() {
            return;
        }
        let steps = truth.goal.steps_of(goal);
        let changes = |name: &&ContainerName| {
            let index = pod.container(name).map_or(usize::MAX, |(_, index, _)| index);
            replaced(patch).contains(&format!("/spec/containers/{index}/image"))
        };
        let Some(last) = steps.iter().rposition(|step| step.iter().any(changes)) else { return };
        for name in steps.iter().take(last).flatten() {
            let asks = pod.spec_of(name).is_some_and(|container| container.image == WANTED);
            if asks && !begun {
                // For a container from before the rollout nothing more is required than its proof.
                continue;
            }
            let truth_of = truth.kubelets.get(&pod.key).map(|kubelet| &kubelet.truth);
            let status = pod.status_of(name);
            let is_done = status.is_some_and(|status| {
                let id = status.container_id.as_ref().filter(|_| status.state.running.is_some() && status.ready);
                let image = goal.containers.get(*name).and_then(|wanted| wanted.to.as_ref());
                id.is_some_and(|id| truth_of.and_then(|truth| truth.get(id)) == image)
            });
            if !is_done && !self.is_passed(goal, status, truth) {
                self.broken(Invariant::Order, truth.now, format!("{} changes before {name} is done", pod.key));
            }
        }
    }

    /// On the way back the old container may fail for a reason of its own, and the others still go back.
    fn is_passed(&self, goal: &PodGoal, status: Option<&ContainerStatus>, truth: &Truth<'_>) -> bool {
        let has_failed = status.is_some_and(|status| status.state.running.is_none() || status.restart_count > 1);
        let since = self.in_progress.get(&goal.key);
        let is_late = since.is_some_and(|since| truth.now >= *since + Duration::from_secs(timeout(goal, truth)));
        truth.goal.is_back() && truth.goal.policy().goes_on_after_failure && (has_failed || is_late)
    }

    pub(super) fn judge_deadline(&mut self, goal: &PodGoal, ended: Option<EndResult>, truth: &Truth<'_>) {
        let said = self.said.get(&goal.key);
        // A container with another writer's image is not waited for either.
        let is_left =
            self.is_failing(said) || matches!(said, Some(UpdatePhase::Overtaken { .. } | UpdatePhase::Gone { .. }));
        let is_abandoned = truth.goal.policy().goes_on_after_failure && is_left;
        // Until its patch is stored it may have to wait for others.
        let is_waiting = !self.images.contains(&goal.key);
        if ended.is_some()
            || self.stopped_at.is_some()
            || self.done_ever.contains(&goal.key)
            || is_abandoned
            || has_left(truth.goal, truth.observed.pod(&goal.key))
            || is_waiting
        {
            return;
        }
        let policy = truth.goal.policy();
        let hold = policy.min_ready_seconds_given.unwrap_or(policy.owner_min_ready_seconds);
        // Each step that is passed gets the time once more.
        let goes_past = truth.goal.is_back() && policy.goes_on_after_failure;
        let times = if goes_past { truth.goal.steps_of(goal).len() as u64 } else { 1 };
        let timeout = timeout(goal, truth) * times;
        // By a gate, ready has to hold twice.
        let timeout = timeout + u64::from(policy.drain_seconds.unwrap_or(0)) + u64::from(hold);
        // Requests to the owner in flight are waited for, and so is the mark on it.
        let owner = if truth.goal.owner.is_some() { 4 * truth.slowest_answer } else { Duration::ZERO };
        let leaving = owner + Duration::from_secs(if is_drained(goal) { 8 } else { 2 });
        let over = |sent: &Now| truth.now > *sent + Duration::from_secs(timeout) + leaving;
        if self.first_sent.get(&goal.key).is_some_and(over) {
            self.broken(Invariant::Deadline, truth.now, format!("{} has had its time", goal.key));
        }
    }
}

/// How long a pod may take, in seconds.
fn timeout(goal: &PodGoal, truth: &Truth<'_>) -> u64 {
    let policy = truth.goal.policy();
    let hold = policy.min_ready_seconds_given.unwrap_or(policy.owner_min_ready_seconds);
    let steps = truth.goal.steps_of(goal).len() as u64;
    policy.timeout_given.unwrap_or((330 + u64::from(hold)) * steps)
}
