//! Before the first write on the owner the first pod may go down, as far as that can be known.
//!
//! `resume` and `abort` ask in the same way before they take over what another run has left.
//!
//! A template that is written while no pod may be taken down changes only what every new pod gets, for as long as that
//! lasts. So the first write waits within `--timeout`, and a run that ends meanwhile has changed nothing.
//! [`super::admission`] decides for the pod that would go first; a pod that could never prove the change holds the
//! write back.

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::value::count::pods_that;

use super::admission::{self, Admission, WaitReason};
use super::goal::PodGoal;
use super::judge;
use super::observed::Watch;
use super::pod_run::PodIndex;
use super::state::Run;

/// Whether the first write may be made.
#[derive(PartialEq)]
enum Gate {
    Open,
    /// The answer to a read is outstanding: the last known reason stays.
    Pending,
    Blocked(String),
}

impl Run<'_> {
    /// Returns whether the first write has to wait; asks for what is not known, and reports what is waited for.
    pub(super) fn waits_to_begin(&mut self) -> bool {
        let gate = self.gate();
        if gate == Gate::Open {
            self.state.begin_waits_for = None;
            (self.state.blocked_since, self.state.budget_said) = (None, None);
            self.state.budgets.unblock();
            return false;
        }
        self.state.blocked_since.get_or_insert(self.now);
        if let Gate::Blocked(why) = gate
            && self.state.begin_waits_for.as_ref() != Some(&why)
        {
            self.turn.notices.push(Notice::WaitsToBegin { why: why.clone() });
            self.state.begin_waits_for = Some(why);
        }
        true
    }

    fn gate(&mut self) -> Gate {
        let Some(position) = self.first_to_restart() else { return Gate::Open };
        let is_begun = self.state.owner.is_begun(self.context());
        // Pods that the run before has left in progress, or out of their Services, go on at once.
        let in_progress = [PodIndex::InProgress, PodIndex::Drained, PodIndex::Failed];
        if is_begun && in_progress.into_iter().any(|is| !self.state.pods.all(is).is_empty()) {
            return Gate::Open;
        }
        if let Watch::Lost(why) = self.observed.watch() {
            return Gate::Blocked(format!("the pods could not be watched: {why}"));
        }
        let Some(goal) = self.state.pods.run(position).map(|run| run.goal.clone()) else { return Gate::Open };
        let pod = self.observed.pod(&goal.key);
        let must_show_it = !is_begun && !self.goal.policy().goes_on_after_failure;
        if let Some(why) = pod.filter(|_| must_show_it).and_then(|pod| cannot_show_it(pod, &goal)) {
            return Gate::Blocked(why);
        }
        match admission::may_go_down(self.context(), self.state, position) {
            Admission::Go | Admission::Wait(WaitReason::Canary | WaitReason::Full | WaitReason::Pause) => Gate::Open,
            Admission::Wait(WaitReason::Unread { budgets }) => {
                self.read_for_admission(budgets);
                self.unread().map_or(Gate::Pending, Gate::Blocked)
            }
            Admission::Wait(WaitReason::DisruptionBudget(why)) => {
                self.state.budgets.block(&why, self.now);
                Gate::Blocked(why)
            }
            Admission::Wait(WaitReason::Unavailable { down }) => Gate::Blocked(self.unavailable(down)),
            Admission::Wait(WaitReason::NotSeen) => Gate::Blocked("the first pod is not seen".into()),
        }
    }

    /// The pod that goes first of those that restart: a pod that is down already, unless the order is strict.
    fn first_to_restart(&self) -> Option<usize> {
        let pods = &self.state.pods;
        let broken = pods.all(PodIndex::AlreadyUnready).iter().filter(|_| !self.goal.is_strictly_ordered());
        let mut first = broken.chain(pods.all(PodIndex::Waiting)).copied();
        first.find(|position| pods.run(*position).is_some_and(|run| run.goal.restarts()))
    }

    fn unavailable(&self, down: usize) -> String {
        let unready = |key: &&PodKey| self.observed.pod(key).is_some_and(|pod| !pod.is_ready());
        let which = self.state.pods.down().iter().find(unready).map(|key| format!(", such as {key}"));
        let (which, allowed) = (which.unwrap_or_default(), self.goal.policy().max_unavailable);
        format!("{} down or missing{which}, and {allowed} may be", pods_that(down, "is", "are"))
    }

    fn unread(&self) -> Option<String> {
        let budgets = self.state.budgets.trouble();
        budgets.or_else(|| self.state.owner.trouble())
    }
}

/// Such a pod cannot show whether the update works until its node is ready, or another container starts.
fn cannot_show_it(pod: &Pod, goal: &PodGoal) -> Option<String> {
    if pod.is_scheduled() {
        let stuck = || {
            let (container, why) = judge::stuck(pod, goal)?;
            Some(format!(
                "{} goes first, and its container {container}, which does not change, cannot start ({why})",
                pod.key
            ))
        };
        let node = pod.unready_node().map(|node| format!("{} goes first, and its node {node} is not ready", pod.key));
        return node.or_else(stuck);
    }
    let said = pod.unscheduled().filter(|said| !said.is_empty()).map(|said| format!(": {said}"));
    Some(format!("{} goes first, and is not scheduled{}", pod.key, said.unwrap_or_default()))
}
