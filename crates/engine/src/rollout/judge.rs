//! Where one pod stands, from everything that is known of it: its containers, its drain, its hooks, its deadline.

use std::time::Duration;

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::PodProgress;
use crate::state::policy::DEFAULT_TIMEOUT_SECONDS;

use super::entry::{Entry, Request, Seen, Sent};
use super::goal::{ContainerGoal, Mode, PodGoal};
use super::protocol::{by_another, drain, owner};
use super::run::Run;
use super::visit::{Judged, Visit, Visited};
use super::{abandoned, pod_progress, steps};

/// Why the server did not take a patch of a pod that another run has noted as its own.
const TAKEN_OVER: &str = "another run has taken the pod over, so the server refused the patch of this one";

/// What is said of an update of a pod that left.
const NOT_TAKEN: &str = "the pod left meanwhile, and the server did not take its patch";

impl Run<'_> {
    /// Judges a pod again.
    pub(super) fn judge(&mut self, position: usize) {
        let visit = self.visit();
        let restarting = self.state.pods.goal(position).and_then(|goal| restarting_by_now(visit, goal));
        if let Some(goal) = restarting {
            self.state.pods.set_goal(position, goal.into());
        }
        let state = &mut *self.state;
        let Some((goal, mut entry)) = state.pods.open(position) else { return };
        let visited = Visited { position, goal: &goal, pod: visit.world.pod(&goal.key) };
        entry.seen.timeout = timeout(visit, visited);
        // Nothing more is sent to a pod that has left, and a pod that is gone will not show what was sent.
        let has_left = visit.goal.mode == Mode::Durable && owner::has_left(visit.goal, visited.pod);
        let is_gone = has_left || visit.world.is_deleted(&goal.key);
        let is_over = || is_gone || is_seen(visit, visited, &entry);
        if matches!(entry.request, Request::Accepted | Request::BackOff { .. }) && is_over() {
            entry.request = Request::Idle;
        }
        let judged = pod_progress::pod_progress(visit, &state.pods, visited, &mut entry);
        self.turn.notices.extend(said_of_the_last_request(visit, visited, &mut entry, &judged.phase));
        let judged = state.drains.phase(visit, visited, &entry, judged);
        let judged = state.hooks.phase(visit, visited, &entry, judged);
        let judged = abandoned::judge(visit, visited, &mut entry, judged);
        let left = visited.pod.filter(|_| judged.phase == PodProgress::Done);
        let left = left.and_then(|pod| pod_progress::left_to_the_kubelet(visit, &goal, pod));
        let judged = left.map_or(judged, Judged::from);
        self.turn.notices.extend(state.drains.say(visited));
        for (container, why) in &mut entry.by_restart {
            let said = why.take().map(|why| (goal.key.clone(), container.clone(), why));
            self.turn.notices.extend(said.map(|(pod, container, why)| Notice::Evidence { pod, container, why }));
        }
        if visit.goal.mode == Mode::Follow && judged.phase != PodProgress::Done {
            entry.started.get_or_insert(visit.now);
        }
        entry.seen = Seen {
            is_present: visited.pod.is_some_and(|pod| state.pods.is_present(visit, pod)),
            is_unready: visited.pod.is_some_and(|pod| !pod.is_ready()),
            is_stuck: visited.pod.is_some_and(|pod| stuck(pod, &goal).is_some()),
            has_left,
            is_drained: visited.pod.is_some_and(|pod| drain::is_owed(pod) && !by_another(visit.goal, pod)),
            is_taken_back: abandoned::is_taken_back(visit, visited, &entry, &judged.phase),
            is_whole: abandoned::is_whole(visit, visited, &entry, &judged.phase),
            ..entry.seen
        };
        self.turn.notices.extend(state.pods.judged(position, entry, judged, visit.now));
    }
}

/// What became of the last request, where that is to be reported. Which run has the pod is known only once the pod was
/// read. Nothing is sent again to a pod that left, and a request to it without an answer is not reported.
fn said_of_the_last_request(
    visit: Visit<'_>,
    visited: Visited<'_>,
    entry: &mut Entry,
    phase: &PodProgress,
) -> Option<Notice> {
    let is_gone = matches!(phase, PodProgress::Gone { .. });
    let is_read = is_gone || !matches!(entry.request, Request::Unclear | Request::Reading | Request::ReadAt(_));
    let why = entry.retrying.take_if(|_| is_read || !entry.had_conflict)?;
    let pod = visited.goal.key.clone();
    let is_taken_over = entry.had_conflict && visited.pod.is_some_and(|pod| by_another(visit.goal, pod));
    match (is_taken_over, is_gone) {
        (true, _) => Some(Notice::NotPatched { pod, why: TAKEN_OVER.into() }),
        (false, true) => entry.had_conflict.then(|| Notice::NotPatched { pod, why: NOT_TAKEN.into() }),
        (false, false) => Some(Notice::Retrying { pod, why }),
    }
}

/// The goal of a pod in which a container has begun since it was planned, and now restarts when it is resized.
fn restarting_by_now(visit: Visit<'_>, goal: &PodGoal) -> Option<PodGoal> {
    let pod = visit.world.pod(&goal.key).filter(|_| visit.goal.mode != Mode::Follow)?;
    let is_known = |name: &ContainerName| goal.containers.get(name).is_some_and(|container| container.by_resize);
    let mut restarting = goal.fields.restarting_in(pod);
    restarting.retain(|name| !is_known(name));
    if restarting.is_empty() {
        return None;
    }
    let mut goal = goal.clone();
    ContainerGoal::add_resized(&mut goal.containers, restarting);
    goal.drain = goal.drain.or_else(|| owner::drain_like(visit.goal, pod));
    Some(goal)
}

/// Returns the container that keeps the pod from being ready whatever the rollout does to it.
pub(super) fn stuck<'p>(pod: &'p Pod, goal: &PodGoal) -> Option<(&'p ContainerName, &'p str)> {
    let stuck = || failure::stuck(pod, goal.kubelet, |name| goal.containers.contains_key(name));
    if goal.restarts() { stuck() } else { None }
}

/// Returns whether the pod shows what was sent last.
fn is_seen(visit: Visit<'_>, visited: Visited<'_>, entry: &Entry) -> bool {
    let asks_for_it = |pod: &Pod| match entry.sent {
        Sent::Resize => !steps::resizes_next(visited.goal, pod),
        Sent::Note => !steps::lacks_note(visit.goal, visited.goal, pod),
        Sent::Images | Sent::Drain | Sent::GateOff | Sent::GateOn | Sent::Restore | Sent::HookNote => {
            steps::asks_for(visit.goal, visited.goal, pod, entry.sent_step)
        }
    };
    visited.pod.is_some_and(|pod| drain::is_seen(pod, entry.sent).unwrap_or_else(|| asks_for_it(pod)))
}

/// How long the pod may take.
fn timeout(visit: Visit<'_>, visited: Visited<'_>) -> Duration {
    let policy = &visit.goal.policy;
    let grace = visited.pod.map_or(30, Pod::termination_grace_seconds);
    let hold = policy.min_ready_seconds_given.unwrap_or(policy.owner_min_ready_seconds);
    // Each step has as long as a pod with one step.
    let steps = u64::try_from(steps::of(visit.goal, visited.goal).len()).unwrap_or(1);
    let default = (DEFAULT_TIMEOUT_SECONDS + grace + u64::from(hold)) * steps;
    Duration::from_secs(policy.timeout_given.unwrap_or(default) + drain::seconds(visit.goal, visited.goal))
}
