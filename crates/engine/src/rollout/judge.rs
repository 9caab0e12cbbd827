//! Where one pod stands, from everything that is known of it: its containers, its drain, its hooks, its deadline.

use std::time::Duration;

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::state::policy::DEFAULT_TIMEOUT_SECONDS;

use super::goal::{ContainerGoal, Goal, PodGoal};
use super::observed::{Judged, PodContext, TurnContext};
use super::pod_run::{PodFlags, PodRun, RequestState, Sent};
use super::protocol::{by_another, drain, owner};
use super::state::CurrentTurn;
use super::{abandoned, pod_progress, steps};

/// Why the server did not take a patch of a pod that another run has noted as its own.
const TAKEN_OVER: &str = "another run has taken the pod over, so the server refused the patch of this one";

/// What is said of an update of a pod that left.
const NOT_TAKEN: &str = "the pod left meanwhile, and the server did not take its patch";

impl CurrentTurn<'_> {
    pub(super) fn judge(&mut self, position: usize) {
        let context = self.context();
        let restarting = self.state.pods.run(position).and_then(|run| restarting_by_now(context, &run.goal));
        if let Some(goal) = restarting {
            self.state.pods.set_goal(position, goal.into());
        }
        let Some(mut run) = self.state.pods.open(position) else { return };
        let goal = run.goal.clone();
        let subject = PodContext { position, goal: &goal, pod: context.observed.pod(&goal.key) };
        run.clocks.timeout = timeout(context, subject);
        // Nothing more is sent to a pod that has left, and a pod that is gone will not show what was sent.
        let has_left = match context.goal.is_in_turns() {
            true => subject.pod.is_none_or(|pod| !pod.is_present()),
            false => context.goal.owner.is_some() && owner::has_left(context.goal, subject.pod),
        };
        let is_gone = has_left || context.observed.is_deleted(&goal.key);
        let is_over = || is_gone || is_seen(context, subject, &run);
        if matches!(run.request.state, RequestState::Accepted | RequestState::BackOff { .. }) && is_over() {
            run.request.state = RequestState::Idle;
        }
        let judged = self.phase(subject, &mut run);
        let state = &mut *self.state;
        let notices = &mut self.turn.notices;
        notices.extend(state.drains.say(subject));
        for (container, why) in &mut run.evidence.by_restart {
            let said = why.take().map(|why| (goal.key.clone(), container.clone(), why));
            notices.extend(said.map(|(pod, container, why)| Notice::Evidence { pod, container, why }));
        }
        // One that waits for its turn has no time of its own.
        let is_its_turn = !context.goal.is_in_turns() || judged.phase != UpdatePhase::Waiting;
        if context.goal.is_followed() && judged.phase != UpdatePhase::Done && is_its_turn {
            run.clocks.started.get_or_insert(context.now);
        }
        run.shown = PodFlags {
            is_present: subject.pod.is_some_and(|pod| state.pods.is_present(context, pod)),
            is_unready: subject.pod.is_some_and(|pod| !pod.is_ready()),
            is_stuck: subject.pod.is_some_and(|pod| stuck(pod, &goal).is_some()),
            has_left,
            is_drained: subject.pod.is_some_and(|pod| has_to_be_restored(context.goal, pod)),
            is_reverted_but_failing: abandoned::is_reverted_but_failing(context, subject, &run, &judged.phase),
            is_whole: abandoned::is_whole(context, subject, &run, &judged.phase),
            is_late: run.shown.is_late,
        };
        notices.extend(state.pods.judged(position, run, judged, context.now));
    }

    /// Where a pod stands. A later verdict overrides those before it:
    ///
    /// 1. What its containers, its other fields and its requests show, those to kruise-daemon as well; what ends the rollout
    ///    stands while the run is ending.
    /// 2. Its drain: a pod that is out of its Services, or on its way, neither waits nor is done.
    /// 3. Its hooks, unless it has failed or left: one that runs, or has failed, and the one that is owed once it is done.
    /// 4. Its deadline, and a failure after which the others go on.
    /// 5. A pod that lacks nothing but a resize which is left to its kubelet is not done.
    fn phase(&mut self, subject: PodContext<'_>, run: &mut PodRun) -> Judged {
        let (context, state) = (self.context(), &mut *self.state);
        let judged = pod_progress::pod_progress(context, &state.pods, subject, run);
        self.turn.notices.extend(said_of_the_last_request(context, subject, run, &judged.phase));
        let judged = state.requests.phase(subject, judged);
        let judged = state.drains.phase(context, subject, run, judged);
        let judged = state.hooks.phase(context, subject, run, judged);
        let judged = abandoned::judge(context, subject, run, judged);
        let done = subject.pod.filter(|_| judged.phase == UpdatePhase::Done);
        let left = done.and_then(|pod| pod_progress::left_to_the_kubelet(context, subject.goal, pod));
        left.map_or(judged, Judged::from)
    }
}

/// What is out of its Services by somebody else's rollout is left so.
fn has_to_be_restored(goal: &Goal, pod: &Pod) -> bool {
    !goal.is_followed() && drain::is_owed(pod) && !by_another(goal, pod)
}

/// What became of the last request, where that is to be reported. Which run has the pod is known only once the pod was
/// read. Nothing is sent again to a pod that left, and a request to it without an answer is not reported.
fn said_of_the_last_request(
    context: TurnContext<'_>,
    subject: PodContext<'_>,
    run: &mut PodRun,
    phase: &UpdatePhase,
) -> Option<Notice> {
    let is_gone = matches!(phase, UpdatePhase::Gone { .. });
    let is_read = is_gone
        || !matches!(run.request.state, RequestState::Unclear | RequestState::Reading | RequestState::ReadAt(_));
    let why = run.request.retrying.take_if(|_| is_read || !run.request.had_conflict)?;
    let pod = subject.goal.key.clone();
    let is_taken_over = run.request.had_conflict && subject.pod.is_some_and(|pod| by_another(context.goal, pod));
    match (is_taken_over, is_gone) {
        (true, _) => Some(Notice::NotPatched { pod, why: TAKEN_OVER.into() }),
        (false, true) => run.request.had_conflict.then(|| Notice::NotPatched { pod, why: NOT_TAKEN.into() }),
        (false, false) => Some(Notice::Retrying { pod, why }),
    }
}

/// The goal of a pod in which a container has begun since it was planned, and now restarts when it is resized.
fn restarting_by_now(context: TurnContext<'_>, goal: &PodGoal) -> Option<PodGoal> {
    let pod = context.observed.pod(&goal.key).filter(|_| !context.goal.is_followed())?;
    let is_known = |name: &ContainerName| goal.containers.get(name).is_some_and(|container| container.by_resize);
    let mut restarting = goal.fields.restarting_in(pod);
    restarting.retain(|name| !is_known(name));
    if restarting.is_empty() {
        return None;
    }
    let mut goal = goal.clone();
    ContainerGoal::add_resized(&mut goal.containers, restarting);
    goal.drain = goal.drain.or_else(|| owner::drain_like(context.goal, pod));
    Some(goal)
}

/// Returns the container that keeps the pod from being ready whatever the rollout does to it.
pub(super) fn stuck<'p>(pod: &'p Pod, goal: &PodGoal) -> Option<(&'p ContainerName, &'p str)> {
    let stuck = || failure::stuck(pod, goal.kubelet, |name| goal.containers.contains_key(name));
    if goal.restarts() { stuck() } else { None }
}

fn is_seen(context: TurnContext<'_>, subject: PodContext<'_>, run: &PodRun) -> bool {
    let asks_for_it = |pod: &Pod| match run.request.sent {
        Sent::Resize => !steps::resizes_next(subject.goal, pod),
        Sent::Note => !steps::lacks_note(context.goal, subject.goal, pod),
        Sent::Images | Sent::Drain | Sent::GateOff | Sent::GateOn | Sent::Restore | Sent::HookNote => {
            steps::asks_for(context.goal, subject.goal, pod, run.request.sent_step)
        }
    };
    subject.pod.is_some_and(|pod| drain::is_seen(pod, run.request.sent).unwrap_or_else(|| asks_for_it(pod)))
}

fn timeout(context: TurnContext<'_>, subject: PodContext<'_>) -> Duration {
    let policy = context.goal.policy();
    let grace = subject.pod.map_or(30, Pod::termination_grace_seconds);
    // Each step has as long as a pod with one step.
    let steps = u64::try_from(context.goal.steps_of(subject.goal).len()).unwrap_or(1);
    let default = (DEFAULT_TIMEOUT_SECONDS + grace + u64::from(policy.hold_seconds(0))) * steps;
    Duration::from_secs(policy.timeout_given.unwrap_or(default) + drain::seconds(context.goal, subject.goal))
}
