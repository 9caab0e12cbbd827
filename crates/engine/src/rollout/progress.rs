//! How far a rollout is at one moment, for a view that is redrawn.

use std::time::Duration;

use crate::k8s::failure;
use crate::k8s::pod::Pod;
use crate::report::progress::{BackOff, PodInProgress, Progress, Stage, UpdatePhase};
use crate::rollout::drain::DEFAULT_DRAIN_SECONDS;
use crate::state::evidence::Baseline;

use super::Now;
use super::goal::{Goal, PodGoal};
use super::observed::Observed;
use super::pod_run::{PodIndex, PodRun};
use super::state::RunState;

/// Returns how far it is, with at most `most` pods.
pub fn progress(goal: &Goal, observed: &Observed, state: &RunState, now: Now, most: usize) -> Progress {
    let pods = &state.pods;
    let is_in_progress = |run: &&PodRun| run.stage() == Some(Stage::InProgress);
    let in_progress = || pods.runs(PodIndex::InProgress).filter(is_in_progress);
    let shown = in_progress().take(most).filter_map(|run| {
        let wanted = &*run.goal;
        let pod = observed.pod(&wanted.key);
        let phase = run.phase.clone()?;
        let (waited, at_most) = waits(goal, run, &phase, now);
        let is_down = matches!(phase, UpdatePhase::Restarting { .. });
        let is_unexplained = matches!(phase, UpdatePhase::Restarting { waiting: None, until: None, .. });
        Some(PodInProgress {
            pod: wanted.key.clone(),
            phase,
            node: pod.map(|pod| pod.spec.node_name.clone()).unwrap_or_default(),
            restarts: pod.and_then(|pod| restarts(wanted, pod)),
            waited,
            at_most,
            back_off: pod.filter(|_| is_down).and_then(|pod| back_off(wanted, pod, is_unexplained)),
        })
    });
    let [done, failed, waiting] = [PodIndex::Done, PodIndex::Failed, PodIndex::Waiting].map(|is| pods.all(is).len());
    let ends = state.stop.is_some() || failed > 0 && !goal.policy().goes_on_after_failure;
    Progress {
        pods: pods.pods_in_rollout(),
        done,
        failed,
        waiting,
        to_come: if ends { 0 } else { pods.pods_until_pause(goal).map_or(waiting, |pods| pods.min(waiting)) },
        in_progress: in_progress().count(),
        shown: shown.collect(),
    }
}

/// How long the pod has waited in its phase, and for how long at most: the phase's own limit, else what is left of the
/// pod's timeout.
fn waits(goal: &Goal, run: &PodRun, phase: &UpdatePhase, now: Now) -> (Duration, Option<Duration>) {
    let in_phase = now.saturating_sub(run.clocks.entered);
    let seconds = |seconds: u32| Some(Duration::from_secs(u64::from(seconds)));
    if let UpdatePhase::Stabilizing { hold_seconds } = phase {
        return (in_phase, seconds(*hold_seconds));
    }
    if matches!(phase, UpdatePhase::Draining { services } if services.is_empty()) {
        return (in_phase, seconds(goal.policy().drain_seconds.unwrap_or(DEFAULT_DRAIN_SECONDS)));
    }
    match (run.clocks.started, run.deadline()) {
        (Some(started), Some(deadline)) => (now.saturating_sub(started), Some(deadline.saturating_sub(started))),
        (Some(_) | None, _) => (in_phase, None),
    }
}

fn restarts(goal: &PodGoal, pod: &Pod) -> Option<i64> {
    let changing = goal.containers.iter().filter(|(_, container)| container.restarts);
    let counts: Vec<i64> = changing.filter_map(|(name, _)| Some(pod.status_of(name)?.restart_count)).collect();
    (!counts.is_empty()).then(|| counts.iter().fold(0_i64, |sum, count| sum.saturating_add(*count)))
}

/// What the kubelet reports of a container of the update, even if that is no more than how it ended. The old
/// container's report is shown for a moment more.
pub(super) fn back_off(goal: &PodGoal, pod: &Pod, is_unexplained: bool) -> Option<BackOff> {
    let changing = goal.containers.iter().filter(|(_, container)| container.restarts);
    let is_stale = |name| matches!(Baseline::of(pod, name), Baseline::Recorded(record) if record.waiting.is_some());
    changing.filter(|(name, _)| !is_stale(name)).find_map(|(name, _)| {
        let status = pod.status_of(name)?;
        if let Some((_, until)) = failure::back_off(status) {
            let exit_code = status.last_state.terminated.as_ref().map(|ended| ended.exit_code);
            return Some(BackOff { until: Some(until), exit_code });
        }
        let ended = status.state.terminated.as_ref().filter(|_| is_unexplained)?;
        Some(BackOff { until: None, exit_code: (!ended.was_stopped()).then_some(ended.exit_code) })
    })
}
