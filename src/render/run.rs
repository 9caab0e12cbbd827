//! What a listener keeps of the rollout that it listens to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::k8s::names::{ContainerName, PodKey, WorkloadRef};
use engine::report::failure_report::FailureReport;
use engine::report::progress::UpdatePhase;
use engine::report::proof::Proof;
use engine::report::{Outcome, PodEnd};
use engine::rollout::{Goal, Mode, PodGoal};
use engine::state::outcome::EndResult;

/// The commands to name at the end, as far as the caller, who knows the command line, gives them; and the expected time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NextSteps {
    pub take_back: Option<String>,
    pub go_on: Option<String>,
    /// Takes back what a stopped rollout has done so far, the owner included.
    pub abort: Option<String>,
    /// Watches what goes on without this program.
    pub follow: Option<String>,
    /// A time was given that ends a run before it would end by itself.
    pub is_short_of_time: bool,
    /// On the way back, past pods that fail with what they had before as well: with as many pods down as now, and with one more.
    pub despite_failures: Option<(u32, [String; 2])>,
    /// Goes on without asking the budget that has kept it from going on.
    pub despite_budget: Option<String>,
    /// The same where nothing was begun.
    pub again_despite_budget: Option<String>,
    /// On the way back: without the commands around each pod, one of which has failed.
    pub without_hooks: Option<String>,
    /// Goes on without waiting for what the kubelet does not resize now.
    pub leaving_resizes: Option<String>,
    /// On the way back: goes on forward, as long as nothing went back.
    pub forward: Option<String>,
    pub expected: Option<Duration>,
    /// How the rollout ended that this run takes back by itself: the exit code stays that of it.
    pub after: Option<EndResult>,
    /// What fails is taken back by the run itself (`--on-failure=undo`): no command is needed for it.
    pub undoes_failures: bool,
    /// What a node puts off is, too (`--deferred=undo`).
    pub undoes_deferred: bool,
}

impl NextSteps {
    /// Leaves the commands that can be carried out after a durable rollout: a lock that was left is resumed or
    /// aborted; only what is complete and recorded can be undone.
    pub(super) fn that_fit(&self, outcome: &Outcome) -> Self {
        let held = |command: &Option<String>| command.clone().filter(|_| outcome.held && !self.undoes(outcome.result));
        let next = self;
        let is_left = outcome.result == EndResult::Deferred && !outcome.held;
        let is_recorded = outcome.result == EndResult::Complete || is_left;
        let leaves_some_down = outcome.pods.iter().any(|end| end.phase.stays_down());
        Self {
            take_back: next.take_back.clone().filter(|_| is_recorded),
            go_on: held(&next.going_on(outcome)).filter(|_| next.abort.is_none() || !leaves_some_down),
            abort: held(&next.abort),
            without_hooks: held(&next.without_hooks),
            leaving_resizes: held(&next.leaving_resizes).filter(|_| waits_for_a_resize(outcome)),
            follow: next.follow.clone(),
            is_short_of_time: self.is_short_of_time,
            despite_budget: next.despite_budget(outcome),
            after: self.after,
            undoes_failures: self.undoes_failures,
            undoes_deferred: self.undoes_deferred,
            ..Self::default()
        }
    }

    /// What goes on: a way back that could not begin, because an image is gone from its registry, cannot begin the next time.
    fn going_on(&self, outcome: &Outcome) -> Option<String> {
        let forward = self.forward.clone().filter(|_| turns_forward(outcome));
        forward.or_else(|| self.despite(outcome)).or_else(|| self.go_on.clone())
    }

    /// Returns the command that takes the other pods back, where some fail with what they had before as well.
    pub(super) fn despite(&self, outcome: &Outcome) -> Option<String> {
        let is_late = outcome.result == EndResult::TimedOut;
        let has_failed = |phase: &UpdatePhase| matches!(phase, UpdatePhase::Failing(why) if why.container.is_some());
        let starts =
            |phase: &UpdatePhase| matches!(phase, UpdatePhase::Starting { containers } if !containers.is_empty());
        let is_its_container = |phase: &UpdatePhase| has_failed(phase) || is_late && starts(phase);
        let failing = outcome.pods.iter().filter(|end| is_its_container(&end.phase)).count();
        let (most, [with_as_many, with_one_more]) = self.despite_failures.clone()?;
        let is_full = usize::try_from(most).is_ok_and(|most| failing >= most);
        (failing > 0).then_some(if is_full { with_one_more } else { with_as_many })
    }

    /// Returns the command that goes on, or begins, without asking the budget that was in the way.
    pub(super) fn despite_budget(&self, outcome: &Outcome) -> Option<String> {
        let command = if outcome.nothing_changed { &self.again_despite_budget } else { &self.despite_budget };
        command.clone().filter(|_| outcome.budget_blocks && !self.undoes(outcome.result))
    }

    pub(super) fn undoes(&self, result: EndResult) -> bool {
        self.undoes_failures && matches!(result, EndResult::Failed | EndResult::TimedOut)
            || self.undoes_deferred && result == EndResult::Deferred
    }
}

/// Whether its time was up while a kubelet said that it cannot resize a pod now.
fn waits_for_a_resize(outcome: &Outcome) -> bool {
    let waits = |end: &PodEnd| matches!(&end.phase, UpdatePhase::Resizing { why, deferred_by } if why.is_some() || deferred_by.is_some());
    outcome.result == EndResult::TimedOut && outcome.pods.iter().any(waits)
}

/// Whether a way back that could not begin is abandoned for the way on.
fn turns_forward(outcome: &Outcome) -> bool {
    outcome.still_forward && outcome.result == EndResult::Failed
}

/// The containers that change first, where not all change at once.
fn first_step(goal: &Goal, pod: &PodGoal) -> Option<PodGoal> {
    let steps = goal.steps_of(pod);
    let first = steps.first().filter(|_| steps.len() > 1)?;
    let mut step = pod.clone();
    step.containers.retain(|name, _| first.contains(&name));
    Some(step)
}

#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) workload: WorkloadRef,
    pub(super) mode: Mode,
    pub(super) is_back: bool,
    pub(super) max_unavailable: u32,
    /// It goes on from another run of the same command, which may have changed pods.
    pub(super) continues: bool,
    pub(super) next: NextSteps,
    pods: BTreeMap<PodKey, Arc<PodGoal>>,
    /// Of a pod whose containers change one after the other: those that are first.
    first_steps: BTreeMap<PodKey, PodGoal>,
    /// And those whose turn it is.
    steps: BTreeMap<PodKey, PodGoal>,
}

impl Run {
    pub(super) fn of(goal: &Goal, next: &NextSteps) -> Self {
        let first_steps: BTreeMap<PodKey, PodGoal> =
            goal.pods.iter().filter_map(|pod| Some((pod.key.clone(), first_step(goal, pod)?))).collect();
        Self {
            workload: goal.workload.clone(),
            mode: goal.mode(),
            is_back: goal.is_back(),
            max_unavailable: goal.policy().max_unavailable,
            continues: goal.owner.as_ref().is_some_and(|owner| owner.continues),
            next: next.clone(),
            pods: goal.pods.iter().map(|pod| (pod.key.clone(), pod.clone())).collect(),
            steps: first_steps.clone(),
            first_steps,
        }
    }

    pub(super) fn at_the_start(&self) -> Self {
        Self { steps: self.first_steps.clone(), ..self.clone() }
    }

    /// Returns the label before the command that goes on: a rollout on its way back goes on back.
    pub(super) fn onward(&self, outcome: &Outcome) -> &'static str {
        if self.is_back && !turns_forward(outcome) { "Roll back:" } else { "Resume:" }
    }

    /// The same before the command that waits for no resize.
    pub(super) fn leaving_resizes(&self) -> &'static str {
        if self.is_back {
            "Roll back, leaving the resize to the kubelet:"
        } else {
            "Resume, leaving the resize to the kubelet:"
        }
    }

    /// Keeps in mind which containers are next: what is said of the pod from then on is about these.
    pub(super) fn heard(&mut self, key: &PodKey, phase: &UpdatePhase) {
        match (phase, self.pods.get(key)) {
            (UpdatePhase::Next { containers }, Some(goal)) => {
                let mut step = PodGoal::clone(goal);
                step.containers.retain(|name, _| containers.contains(name));
                self.steps.insert(key.clone(), step);
            }
            (UpdatePhase::Done, _) => drop(self.steps.remove(key)),
            (_, _) => {}
        }
    }

    pub(super) fn pod(&self, key: &PodKey) -> Option<&PodGoal> {
        self.pods.get(key).map(Arc::as_ref)
    }

    pub(super) fn step(&self, key: &PodKey) -> Option<&PodGoal> {
        self.steps.get(key).or_else(|| self.pod(key))
    }

    pub(super) fn pods(&self) -> usize {
        self.pods.len()
    }

    /// A plain init container takes its new image without a restart; unknown containers are taken to restart.
    pub(super) fn restarts(&self, pod: &PodKey, container: &ContainerName) -> bool {
        self.pod(pod).and_then(|goal| goal.containers.get(container)).is_none_or(|goal| goal.restarts)
    }
}

/// Returns what a rollout did, by its outcome and by what was heard of what it was to do.
pub(super) fn proof(run: Option<&Run>, outcome: &Outcome) -> Proof {
    Proof::of(
        outcome,
        |end, container| run.is_none_or(|run| run.restarts(&end.pod, container)),
        |pod| run.and_then(|run| Some(&run.pod(pod)?.fields)),
    )
}

#[derive(Clone, Copy, Default)]
pub(super) struct Reported<'a> {
    pub(super) run: Option<&'a Run>,
    pub(super) failure: Option<&'a FailureReport>,
    /// It was shown on a screen that is redrawn: nothing of it is left.
    pub(super) is_gone: bool,
}
