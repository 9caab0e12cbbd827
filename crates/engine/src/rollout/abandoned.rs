//! `--on-failure=continue`: a pod that fails or times out is abandoned, and the rollout goes on with the others.
//!
//! An abandoned pod counts as down for good: once as many pods are abandoned as may be down, the rollout ends. On the
//! way back a pod is also abandoned if it fails with what it had before: nothing more can be done for it, so the owner
//! need not wait.

use crate::k8s::failure::Failure;
use crate::k8s::pod::Pod;
use crate::report::failure_report::LATE;
use crate::report::progress::{Stage, UpdatePhase};
use crate::state::hook::HookPhase;
use crate::state::outcome::EndResult;

use super::observed::{Judged, PodContext, TurnContext};
use super::pod_run::{PodIndex, PodRun};
use super::pods::Pods;
use super::protocol::drain;
use super::steps;

fn too_late(context: TurnContext<'_>, run: &PodRun, phase: &UpdatePhase) -> Failure {
    let now = context.now;
    let seconds = run.clocks.started.map_or(0, |started| now.saturating_sub(started).as_secs());
    let message = if let UpdatePhase::Hook { hook: hook @ HookPhase::Before } = phase {
        format!("its command ({}) did not end within {seconds} s; the pod was not changed", hook.flag())
    } else if matches!(phase, UpdatePhase::Draining { .. }) && !run.request.patched {
        format!("its Services still had it after {seconds} s; it was not restarted")
    } else {
        format!("it was not done within {seconds} s")
    };
    let container = if let UpdatePhase::Starting { containers } = phase { containers.first().cloned() } else { None };
    Failure {
        container: container.filter(|_| context.goal.is_back()),
        reason: LATE.into(),
        message,
        ..Failure::default()
    }
}

/// Returns whether a pod is back and fails as before: it asks for all that it had, and its kubelet runs that.
fn fails_as_before(context: TurnContext<'_>, subject: PodContext<'_>, phase: &UpdatePhase) -> bool {
    let is_its_containers = if let UpdatePhase::Failing(failure) = phase {
        failure.container.is_some()
    } else {
        let is_unready = matches!(phase, UpdatePhase::Starting { containers } if !containers.is_empty());
        is_unready && subject.pod.is_some_and(|pod| pod.unready_node().is_none())
    };
    let asks = |pod: &Pod| steps::asks_for_all(context.goal, subject.goal, pod);
    is_its_containers && context.goal.is_back() && subject.pod.is_some_and(asks)
}

/// Returns whether an abandoned pod has been taken back all the same.
pub(super) fn is_reverted_but_failing(
    context: TurnContext<'_>,
    subject: PodContext<'_>,
    run: &PodRun,
    phase: &UpdatePhase,
) -> bool {
    run.steps.abandoned.is_some()
        && !subject.pod.is_some_and(drain::is_owed)
        && fails_as_before(context, subject, phase)
}

/// Returns whether a pod that goes back container by container goes on past the steps that time out or fail: what ran
/// before may fail for a reason of its own, and the other containers still go back. Each step gets a new deadline once.
pub(super) fn goes_past(context: TurnContext<'_>, run: &mut PodRun, step: usize, judged: Option<&Judged>) -> bool {
    let is_late = run.deadline().is_some_and(|deadline| deadline <= context.now);
    let fails = matches!(judged, Some(Judged { phase: UpdatePhase::Failing(_), .. }));
    let has_failed = fails || is_late || run.steps.abandoned.is_some();
    let may = context.goal.is_back() && context.goal.policy().goes_on_after_failure;
    if !(has_failed && may && step > run.steps.passed) {
        return false;
    }
    run.steps.passed = step;
    run.steps.abandoned = None;
    run.clocks.started = Some(context.now);
    true
}

/// Abandons a failed pod where that is asked for. A container that crashes again and again has failed once.
pub(super) fn judge(context: TurnContext<'_>, subject: PodContext<'_>, run: &mut PodRun, judged: Judged) -> Judged {
    let now = context.now;
    let is_late = run.deadline().is_some_and(|deadline| deadline <= now);
    let abandons = context.goal.policy().goes_on_after_failure || fails_as_before(context, subject, &judged.phase);
    if is_late && abandons {
        run.steps.abandoned = Some(too_late(context, run, &judged.phase));
    }
    let restores = matches!(judged.phase, UpdatePhase::RejoiningService { .. });
    let phase = match (judged.phase.stage(), judged.phase) {
        (_, UpdatePhase::Failing(failure)) if abandons => {
            UpdatePhase::Failing(run.steps.abandoned.get_or_insert(failure).clone())
        }
        (Stage::InProgress, phase) if restores && !is_late => {
            if run.steps.abandoned.take().is_some() {
                // It is proven after all, and gets a deadline of its own to be back in its Services.
                run.clocks.started = Some(now);
            }
            phase
        }
        (Stage::Waiting | Stage::InProgress, phase) => run.steps.abandoned.clone().map_or(phase, UpdatePhase::Failing),
        (Stage::Done | Stage::Left | Stage::Failed | Stage::Lost, phase) => {
            run.steps.abandoned = None;
            phase
        }
    };
    Judged { phase, wake: judged.wake }
}

/// Returns whether a failed pod is unchanged and ready: its command failed before anything was done to it, or the
/// server certainly took none of its patches. Such a pod does not count as down.
pub(super) fn is_whole(context: TurnContext<'_>, subject: PodContext<'_>, run: &PodRun, phase: &UpdatePhase) -> bool {
    let has_failed = phase.stage() == Stage::Failed && context.goal.policy().goes_on_after_failure;
    let was_done =
        !run.request.is_idle() || run.request.patched && (run.request.is_late || !run.evidence.asked.is_empty());
    let is_as_it_was =
        |pod: &Pod| pod.is_ready() && !drain::is_owed(pod) && !steps::is_begun(context.goal, subject.goal, pod);
    has_failed && !was_done && subject.pod.is_some_and(is_as_it_was)
}

/// Pods that were abandoned only because of their deadline have timed out.
pub(super) fn result(pods: &Pods) -> EndResult {
    let mut failures =
        pods.runs(PodIndex::Failed).map(|run| run.steps.abandoned.as_ref().map(|failure| failure.reason.as_str()));
    if failures.all(|reason| reason == Some(LATE)) { EndResult::TimedOut } else { EndResult::Failed }
}

/// A failed pod stays down: once as many have failed as may be down, the others cannot go on.
pub(super) fn no_place_is_left(context: TurnContext<'_>, pods: &Pods) -> Option<String> {
    let (failed, allowed) = (
        pods.all(PodIndex::Failed).intersection(pods.all(PodIndex::InProgress)).count(),
        context.goal.policy().max_unavailable,
    );
    let is_full = usize::try_from(allowed).is_ok_and(|allowed| failed >= allowed);
    (is_full && pods.nothing_moves()).then(|| {
        format!("no further pod may be taken down: {failed} failed, and {allowed} may be down (raise --max-unavailable to go on)")
    })
}
