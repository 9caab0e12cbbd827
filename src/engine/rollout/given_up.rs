//! `--on-failure=continue`: a pod that fails, or whose time is over, is given up, and the others go on.
//!
//! It counts as down for good: where that is as many pods as may be down, the rollout ends.

use crate::engine::failure::Failure;
use crate::engine::outcome::EndResult;
use crate::engine::report::PodPhase;

use super::Now;
use super::goal::Goal;
use super::ledger::{Entry, Ledger};
use super::pod_phase::Judged;

/// Why a pod is given up whose time is over.
const TOO_LATE: &str = "TimedOut";

fn too_late(entry: &Entry, now: Now) -> Failure {
    let seconds = entry.started.map_or(0, |started| now.saturating_sub(started).as_secs());
    let message = format!("it was not done within {seconds} s");
    Failure { container: None, reason: TOO_LATE.into(), message, exit_code: None }
}

/// Gives a pod up where that is asked for: a container that crashes again and again has failed once, not anew each time.
pub(super) fn judge(goal: &Goal, entry: &mut Entry, judged: Judged, is_late: bool, now: Now) -> Judged {
    if is_late && goal.policy.goes_on_after_failure {
        entry.given_up = Some(too_late(entry, now));
    }
    match judged.phase {
        PodPhase::Failing(failure) if goal.policy.goes_on_after_failure => {
            let failure = entry.given_up.get_or_insert(failure).clone();
            Judged { phase: PodPhase::Failing(failure), wake: judged.wake }
        }
        PodPhase::Hook { .. }
        | PodPhase::Next { .. }
        | PodPhase::Draining { .. }
        | PodPhase::Patched
        | PodPhase::Restarting { .. }
        | PodPhase::Starting
        | PodPhase::Settling { .. }
        | PodPhase::Unproven { .. } => match entry.given_up.clone() {
            Some(failure) => Judged { phase: PodPhase::Failing(failure), wake: judged.wake },
            None => judged,
        },
        PodPhase::Failing(_)
        | PodPhase::Restoring { .. }
        | PodPhase::Waiting
        | PodPhase::Done
        | PodPhase::Moved { .. }
        | PodPhase::Gone { .. } => {
            entry.given_up = None;
            judged
        }
    }
}

/// Pods that were only given up when their time was over have timed out.
pub(super) fn result(ledger: &Ledger) -> EndResult {
    let entries = ledger.failing.iter().filter_map(|position| ledger.entries.get(*position));
    let mut failures = entries.map(|entry| entry.given_up.as_ref().map(|failure| failure.reason.as_str()));
    if failures.all(|reason| reason == Some(TOO_LATE)) { EndResult::TimedOut } else { EndResult::Failed }
}

/// What has failed stays down: where that is as many pods as may be down, the others cannot go on.
pub(super) fn no_place_is_left(goal: &Goal, ledger: &Ledger) -> Option<String> {
    let (failed, allowed) = (ledger.failing.len(), goal.policy.max_unavailable);
    let is_full = usize::try_from(allowed).is_ok_and(|allowed| failed >= allowed);
    (is_full && ledger.only_failing_are_in_hand()).then(|| {
        format!("no further pod may be taken down: {failed} failed, and {allowed} may be down (raise --max-unavailable to go on)")
    })
}
