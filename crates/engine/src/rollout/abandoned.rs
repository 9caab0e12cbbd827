//! `--on-failure=continue`: a pod that fails or times out is abandoned, and the rollout goes on with the others.
//!
//! An abandoned pod counts as down for good: once as many pods are abandoned as may be down, the rollout ends. On the
//! way back a pod is also abandoned if it fails with what it had before: nothing more can be done for it, so the owner
//! need not wait.

use crate::k8s::failure::Failure;
use crate::k8s::pod::Pod;
use crate::report::failure_report::LATE;
use crate::report::progress::{PodProgress, Stage};
use crate::state::hook::HookPhase;
use crate::state::outcome::EndResult;

use super::entry::{Entry, Is};
use super::pods::Pods;
use super::protocol::drain;
use super::steps;
use super::visit::Judged;
use super::visit::{Visit, Visited};

fn too_late(visit: Visit<'_>, entry: &Entry, phase: &PodProgress) -> Failure {
    let now = visit.now;
    let seconds = entry.started.map_or(0, |started| now.saturating_sub(started).as_secs());
    let message = if let PodProgress::Hook { hook: hook @ HookPhase::Before } = phase {
        format!("its command ({}) did not end within {seconds} s; the pod was not changed", hook.flag())
    } else if matches!(phase, PodProgress::Draining { .. }) && !entry.patched {
        format!("its Services still had it after {seconds} s; it was not restarted")
    } else {
        format!("it was not done within {seconds} s")
    };
    let container = if let PodProgress::Starting { containers } = phase { containers.first().cloned() } else { None };
    Failure {
        container: container.filter(|_| visit.goal.is_back()),
        reason: LATE.into(),
        message,
        exit_code: None,
        stays_down: false,
    }
}

/// Returns whether a pod is back and fails as before: it asks for all that it had, and its kubelet runs that.
fn fails_as_before(visit: Visit<'_>, visited: Visited<'_>, phase: &PodProgress) -> bool {
    let is_its_containers = if let PodProgress::Failing(failure) = phase {
        failure.container.is_some()
    } else {
        let is_unready = matches!(phase, PodProgress::Starting { containers } if !containers.is_empty());
        is_unready && visited.pod.is_some_and(|pod| pod.unready_node().is_none())
    };
    let asks = |pod: &Pod| steps::asks_for_all(visit.goal, visited.goal, pod);
    is_its_containers && visit.goal.is_back() && visited.pod.is_some_and(asks)
}

/// Returns whether an abandoned pod has been taken back all the same.
pub(super) fn is_taken_back(visit: Visit<'_>, visited: Visited<'_>, entry: &Entry, phase: &PodProgress) -> bool {
    entry.abandoned.is_some() && !visited.pod.is_some_and(drain::is_owed) && fails_as_before(visit, visited, phase)
}

/// Returns whether a pod that goes back container by container goes on past the steps that time out or fail: what ran
/// before may fail for a reason of its own, and the other containers still go back. Each step gets a new deadline once.
pub(super) fn goes_past(visit: Visit<'_>, entry: &mut Entry, step: usize, judged: Option<&Judged>) -> bool {
    let is_late = entry.deadline().is_some_and(|deadline| deadline <= visit.now);
    let fails = matches!(judged, Some(Judged { phase: PodProgress::Failing(_), .. }));
    let has_failed = fails || is_late || entry.abandoned.is_some();
    let may = visit.goal.is_back() && visit.goal.policy.goes_on_after_failure;
    if !(has_failed && may && step > entry.passed) {
        return false;
    }
    entry.passed = step;
    entry.abandoned = None;
    entry.started = Some(visit.now);
    true
}

/// Abandons a failed pod where that is asked for. A container that crashes again and again has failed once.
pub(super) fn judge(visit: Visit<'_>, visited: Visited<'_>, entry: &mut Entry, judged: Judged) -> Judged {
    let now = visit.now;
    let is_late = entry.deadline().is_some_and(|deadline| deadline <= now);
    let abandons = visit.goal.policy.goes_on_after_failure || fails_as_before(visit, visited, &judged.phase);
    if is_late && abandons {
        entry.abandoned = Some(too_late(visit, entry, &judged.phase));
    }
    let restores = matches!(judged.phase, PodProgress::RejoiningService { .. });
    match (judged.phase.stage(), judged.phase) {
        (_, PodProgress::Failing(failure)) if abandons => {
            let failure = entry.abandoned.get_or_insert(failure).clone();
            Judged { phase: PodProgress::Failing(failure), wake: judged.wake }
        }
        (Stage::InProgress, phase) if restores && !is_late => {
            if entry.abandoned.take().is_some() {
                // It is proven after all, and gets a deadline of its own to be back in its Services.
                entry.started = Some(now);
            }
            Judged { phase, wake: judged.wake }
        }
        (Stage::Waiting | Stage::InProgress, phase) => {
            let phase = entry.abandoned.clone().map_or(phase, PodProgress::Failing);
            Judged { phase, wake: judged.wake }
        }
        (Stage::Done | Stage::Left | Stage::Failed | Stage::Lost, phase) => {
            entry.abandoned = None;
            Judged { phase, wake: judged.wake }
        }
    }
}

/// Returns whether a failed pod is unchanged and ready: its command failed before anything was done to it, or the
/// server certainly took none of its patches. Such a pod does not count as down.
pub(super) fn is_whole(visit: Visit<'_>, visited: Visited<'_>, entry: &Entry, phase: &PodProgress) -> bool {
    let has_failed = phase.stage() == Stage::Failed && visit.goal.policy.goes_on_after_failure;
    let was_done = !entry.is_idle() || entry.patched && (entry.is_late || !entry.asked.is_empty());
    let is_as_it_was =
        |pod: &Pod| pod.is_ready() && !drain::is_owed(pod) && !steps::is_begun(visit.goal, visited.goal, pod);
    has_failed && !was_done && visited.pod.is_some_and(is_as_it_was)
}

/// Pods that were abandoned only because of their deadline have timed out.
pub(super) fn result(pods: &Pods) -> EndResult {
    let entries = pods.all(Is::Failed).iter().filter_map(|position| pods.entry(*position));
    let mut failures = entries.map(|entry| entry.abandoned.as_ref().map(|failure| failure.reason.as_str()));
    if failures.all(|reason| reason == Some(LATE)) { EndResult::TimedOut } else { EndResult::Failed }
}

/// A failed pod stays down: once as many have failed as may be down, the others cannot go on.
pub(super) fn no_place_is_left(visit: Visit<'_>, pods: &Pods) -> Option<String> {
    let (failed, allowed) =
        (pods.all(Is::Failed).intersection(pods.all(Is::InProgress)).count(), visit.goal.policy.max_unavailable);
    let is_full = usize::try_from(allowed).is_ok_and(|allowed| failed >= allowed);
    (is_full && pods.nothing_moves()).then(|| {
        format!("no further pod may be taken down: {failed} failed, and {allowed} may be down (raise --max-unavailable to go on)")
    })
}
