//! `--on-failure=continue`: a pod that fails, or whose time is over, is given up, and the others go on.
//!
//! It counts as down for good: where that is as many pods as may be down, the rollout ends. On the way back a pod is given up
//! that fails with what it had before, too: nothing more can be done for it, and it does not keep the owner from its end.

use crate::engine::k8s::failure::Failure;
use crate::engine::k8s::pod::Pod;
use crate::engine::report::failure_report::LATE;
use crate::engine::report::progress::{PodPhase, Stage};
use crate::engine::state::hook::HookPhase;
use crate::engine::state::outcome::EndResult;

use super::entry::{Entry, Is};
use super::fault::Fault;
use super::look::{Look, Visit};
use super::pod_phase::Judged;
use super::pods::Pods;
use super::protocol::drain;
use super::steps;

fn too_late(look: Look<'_>, entry: &Entry, phase: &PodPhase) -> Failure {
    let now = look.now;
    let seconds = entry.started.map_or(0, |started| now.saturating_sub(started).as_secs());
    let message = if let PodPhase::Hook { hook: hook @ HookPhase::Before } = phase {
        format!("its command ({}) did not end within {seconds} s; the pod was not changed", hook.flag())
    } else if matches!(phase, PodPhase::Draining { .. }) && !entry.patched {
        format!("its Services still had it after {seconds} s; it was not restarted")
    } else {
        format!("it was not done within {seconds} s")
    };
    let container = if let PodPhase::Starting { containers } = phase { containers.first().cloned() } else { None };
    Failure { container: container.filter(|_| look.goal.is_back()), reason: LATE.into(), message, exit_code: None }
}

/// Returns whether a pod is back: it asks for all that it had, its kubelet runs that, and it fails with it all the same.
fn fails_as_before(look: Look<'_>, visit: Visit<'_>, phase: &PodPhase) -> bool {
    let is_its_containers = if let PodPhase::Failing(failure) = phase {
        failure.container.is_some()
    } else {
        let is_unready = matches!(phase, PodPhase::Starting { containers } if !containers.is_empty());
        is_unready && visit.pod.is_some_and(|pod| pod.unready_node().is_none())
    };
    let asks = |pod: &Pod| steps::asks_for_all(look.goal, visit.goal, pod);
    is_its_containers && look.goal.is_back() && visit.pod.is_some_and(asks) && !look.has(Fault::StaysAtAFailure)
}

/// Returns whether a pod that was given up has been taken back all the same.
pub(super) fn is_taken_back(look: Look<'_>, visit: Visit<'_>, entry: &Entry, phase: &PodPhase) -> bool {
    entry.given_up.is_some() && !visit.pod.is_some_and(drain::is_owed) && fails_as_before(look, visit, phase)
}

/// Returns whether a pod that goes back container by container goes on past those that were to be done by now: what was before
/// may fail for a reason of its own, and the others go back all the same. Each of its steps gets a new time once.
pub(super) fn goes_past(look: Look<'_>, entry: &mut Entry, step: usize, judged: Option<&Judged>) -> bool {
    let is_late = entry.deadline().is_some_and(|deadline| deadline <= look.now);
    let fails = matches!(judged, Some(Judged { phase: PodPhase::Failing(_), .. }));
    let has_failed = fails || is_late || entry.given_up.is_some();
    let may = look.goal.is_back() && look.goal.policy.goes_on_after_failure && !look.has(Fault::StaysAtAFailure);
    if !(has_failed && may && step > entry.passed) {
        return false;
    }
    entry.passed = step;
    entry.given_up = None;
    entry.started = Some(look.now);
    true
}

/// Gives a pod up where that is asked for: a container that crashes again and again has failed once, not anew each time.
pub(super) fn judge(look: Look<'_>, visit: Visit<'_>, entry: &mut Entry, judged: Judged) -> Judged {
    let now = look.now;
    let is_late = entry.deadline().is_some_and(|deadline| deadline <= now);
    let gives_up = look.goal.policy.goes_on_after_failure || fails_as_before(look, visit, &judged.phase);
    if is_late && gives_up {
        entry.given_up = Some(too_late(look, entry, &judged.phase));
    }
    let restores = matches!(judged.phase, PodPhase::RejoiningService { .. });
    match (judged.phase.stage(), judged.phase) {
        (_, PodPhase::Failing(failure)) if gives_up => {
            let failure = entry.given_up.get_or_insert(failure).clone();
            Judged { phase: PodPhase::Failing(failure), wake: judged.wake }
        }
        (Stage::InProgress, phase) if restores && !is_late => {
            if entry.given_up.take().is_some() {
                // It is proven after all, and has a time of its own to be back in its Services.
                entry.started = Some(now);
            }
            Judged { phase, wake: judged.wake }
        }
        (Stage::Waiting | Stage::InProgress, phase) => {
            let phase = entry.given_up.clone().map_or(phase, PodPhase::Failing);
            Judged { phase, wake: judged.wake }
        }
        (Stage::Done | Stage::Left | Stage::Failed | Stage::Lost, phase) => {
            entry.given_up = None;
            Judged { phase, wake: judged.wake }
        }
    }
}

/// Returns whether a pod that failed is as it was, and ready: its command failed before anything was done to it, or the
/// server certainly took none of its patches. It costs no place.
pub(super) fn is_whole(look: Look<'_>, visit: Visit<'_>, entry: &Entry, phase: &PodPhase) -> bool {
    let has_failed = phase.stage() == Stage::Failed && look.goal.policy.goes_on_after_failure;
    let was_done = !entry.is_idle() || entry.patched && (entry.is_late || !entry.asked.is_empty());
    let is_as_it_was =
        |pod: &Pod| pod.is_ready() && !drain::is_owed(pod) && !steps::is_begun(look.goal, visit.goal, pod);
    has_failed && !was_done && visit.pod.is_some_and(is_as_it_was)
}

/// Pods that were only given up when their time was over have timed out.
pub(super) fn result(pods: &Pods) -> EndResult {
    let entries = pods.all(Is::Failed).iter().filter_map(|position| pods.entry(*position));
    let mut failures = entries.map(|entry| entry.given_up.as_ref().map(|failure| failure.reason.as_str()));
    if failures.all(|reason| reason == Some(LATE)) { EndResult::TimedOut } else { EndResult::Failed }
}

/// What has failed stays down: where that is as many pods as may be down, the others cannot go on.
pub(super) fn no_place_is_left(look: Look<'_>, pods: &Pods) -> Option<String> {
    let (failed, allowed) =
        (pods.all(Is::Failed).intersection(pods.all(Is::InHand)).count(), look.goal.policy.max_unavailable);
    let is_full = usize::try_from(allowed).is_ok_and(|allowed| failed >= allowed);
    (is_full && pods.nothing_moves()).then(|| {
        format!("no further pod may be taken down: {failed} failed, and {allowed} may be down (raise --max-unavailable to go on)")
    })
}
