//! `--on-failure=continue`: a pod that fails, or whose time is over, is given up, and the others go on.
//!
//! It counts as down for good: where that is as many pods as may be down, the rollout ends.

use crate::engine::failure::Failure;
use crate::engine::hook::HookPhase;
use crate::engine::outcome::EndResult;
use crate::engine::pod::Pod;
use crate::engine::progress::{PodPhase, Stage};

use super::goal::{Goal, PodGoal};
use super::ledger::{Entry, Ledger, Request};
use super::pod_phase::Judged;
use super::world::World;
use super::{Now, drain, steps};

/// Why a pod is given up whose time is over.
const TOO_LATE: &str = "TimedOut";

fn too_late(entry: &Entry, phase: &PodPhase, now: Now) -> Failure {
    let seconds = entry.started.map_or(0, |started| now.saturating_sub(started).as_secs());
    let message = if let PodPhase::Hook { hook: hook @ HookPhase::Before } = phase {
        format!("its command ({}) did not end within {seconds} s; the pod was not changed", hook.flag())
    } else if matches!(phase, PodPhase::Draining { .. }) && !entry.patched {
        format!("its Services did not let go of it within {seconds} s; it was not restarted")
    } else {
        format!("it was not done within {seconds} s")
    };
    Failure { container: None, reason: TOO_LATE.into(), message, exit_code: None }
}

/// Gives a pod up where that is asked for: a container that crashes again and again has failed once, not anew each time.
pub(super) fn judge(goal: &Goal, entry: &mut Entry, judged: Judged, is_late: bool, now: Now) -> Judged {
    if is_late && goal.policy.goes_on_after_failure {
        entry.given_up = Some(too_late(entry, &judged.phase, now));
    }
    let restores = matches!(judged.phase, PodPhase::Restoring { .. });
    match (judged.phase.stage(), judged.phase) {
        (_, PodPhase::Failing(failure)) if goal.policy.goes_on_after_failure => {
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
        (Stage::Done | Stage::Failed | Stage::Lost, phase) => {
            entry.given_up = None;
            Judged { phase, wake: judged.wake }
        }
    }
}

/// Returns whether a pod that failed is as it was, and ready: its command failed before anything was done to it, or the
/// server certainly took none of its patches. It costs no place.
pub(super) fn is_whole(goal: &Goal, pod_goal: &PodGoal, world: &World, entry: &Entry, phase: &PodPhase) -> bool {
    let has_failed = matches!(phase, PodPhase::Failing(_)) && goal.policy.goes_on_after_failure;
    let was_done = match entry.request {
        Request::Idle | Request::BackOff { .. } => entry.patched && (entry.is_late || !entry.asked.is_empty()),
        Request::Sent | Request::Accepted | Request::Unclear | Request::Reading | Request::ReadAt(_) => true,
    };
    let is_as_it_was = |pod: &Pod| pod.is_ready() && !drain::is_owed(pod) && !steps::is_begun(goal, pod_goal, pod);
    has_failed && !was_done && world.pod(&pod_goal.key).is_some_and(is_as_it_was)
}

/// Pods that were only given up when their time was over have timed out.
pub(super) fn result(ledger: &Ledger) -> EndResult {
    let entries = ledger.failing.iter().filter_map(|position| ledger.entries.get(*position));
    let mut failures = entries.map(|entry| entry.given_up.as_ref().map(|failure| failure.reason.as_str()));
    if failures.all(|reason| reason == Some(TOO_LATE)) { EndResult::TimedOut } else { EndResult::Failed }
}

/// What has failed stays down: where that is as many pods as may be down, the others cannot go on.
pub(super) fn no_place_is_left(goal: &Goal, ledger: &Ledger) -> Option<String> {
    let (failed, allowed) = (ledger.failing.intersection(&ledger.in_hand).count(), goal.policy.max_unavailable);
    let is_full = usize::try_from(allowed).is_ok_and(|allowed| failed >= allowed);
    (is_full && ledger.nothing_moves()).then(|| {
        format!("no further pod may be taken down: {failed} failed, and {allowed} may be down (raise --max-unavailable to go on)")
    })
}
