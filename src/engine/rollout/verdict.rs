//! Whether it is over, and how; and when to look again at the latest.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::evidence::Baseline;
use crate::engine::names::ContainerName;
use crate::engine::outcome::EndResult;
use crate::engine::pod::Pod;
use crate::engine::progress::PodPhase;
use crate::engine::record::UpdateRecord;
use crate::engine::report::{ContainerEnd, ContainerTimes, Outcome, PodEnd};

use super::fault::Fault;
use super::goal::{Goal, Mode, PodGoal};
use super::ledger::{Entry, Ledger};
use super::world::{Watch, World};
use super::{Now, SIGN_OF_LIFE_SECONDS, Stop, anew, budgets, drain, given_up, owner, pulls, standing, steps};
use crate::engine::policy::DEFAULT_TIMEOUT_SECONDS;

/// After an interrupt, answers that are outstanding are waited for this long.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(5);

/// After a failure, likewise.
pub(super) const END_WITHIN: Duration = Duration::from_secs(1);

/// Returns the end, if it has come.
pub(super) fn end(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now) -> Option<Outcome> {
    let quiet = ledger.unanswered.is_empty() && !ledger.owner.is_unanswered();
    if let Some((stop, since)) = ledger.stop
        && !ledger.has(Fault::IgnoresInterrupt)
    {
        ledger.ending_since = None;
        return (quiet || since + STOP_WITHIN <= now).then(|| outcome(goal, world, ledger, now, stopped(stop), None));
    }
    let Some((result, why)) = judge(goal, world, ledger, now) else {
        ledger.ending_since = None;
        return None;
    };
    let since = *ledger.ending_since.get_or_insert(now);
    (quiet || since + END_WITHIN <= now).then(|| outcome(goal, world, ledger, now, result, why))
}

/// Returns how things stand at a second interrupt.
pub(super) fn leave(goal: &Goal, world: &World, ledger: &Ledger, now: Now) -> Outcome {
    let result = ledger.stop.map_or(EndResult::Interrupted, |(stop, _)| stopped(stop));
    outcome(goal, world, ledger, now, result, None)
}

fn stopped(stop: Stop) -> EndResult {
    match stop {
        Stop::Interrupt => EndResult::Interrupted,
        Stop::Terminate => EndResult::Terminated,
    }
}

fn judge(goal: &Goal, world: &World, ledger: &Ledger, now: Now) -> Option<(EndResult, Option<String>)> {
    if let Some(end) = pulls::end(ledger) {
        return Some(end);
    }
    if let Some(end) = owner::end(goal, ledger, now) {
        return Some(end);
    }
    if !ledger.failing.is_empty() && !ledger.has(Fault::IgnoresFailure) {
        let others_go_on = goal.policy.goes_on_after_failure && !ledger.only_failing_are_left();
        if !others_go_on || ledger.pauses_now(goal) {
            return Some((given_up::result(ledger), None));
        }
        if let Some(why) = given_up::no_place_is_left(goal, ledger) {
            return Some((given_up::result(ledger), Some(why)));
        }
    }
    if anew::has_failed(goal, ledger) {
        return Some((EndResult::Failed, None));
    }
    if let Some(position) = ledger.lost.first()
        && !(ledger.has(Fault::IgnoresOtherWriter) && is_moved(ledger, *position))
    {
        let why = owner::held_by(goal, world).or_else(|| owner::changed_by_another_run(goal, world, ledger));
        return Some((EndResult::Superseded, why));
    }
    if goal.owner.is_none() && ledger.all_done() {
        return Some((EndResult::Complete, None));
    }
    if ledger.pauses_now(goal) {
        return Some((EndResult::Paused, None));
    }
    if ledger.has(Fault::NoDeadline) {
        return None;
    }
    let began = ledger.began.unwrap_or(now);
    if let Some(total) = goal.policy.total_timeout
        && began + Duration::from_secs(total) <= now
    {
        return Some((EndResult::TimedOut, Some(format!("{total} s have passed in all (--total-timeout)"))));
    }
    let too_late = if ledger.failing.is_empty() { EndResult::TimedOut } else { given_up::result(ledger) };
    if !ledger.late.is_empty() {
        return Some((too_late, unready_nodes(world, ledger, ledger.late.iter())));
    }
    let patience = Duration::from_secs(goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS));
    if ledger.blocked_since.is_some_and(|since| since + patience <= now) {
        return Some((too_late, Some(what_blocks(goal, world, ledger))));
    }
    None
}

fn what_blocks(goal: &Goal, world: &World, ledger: &Ledger) -> String {
    if let Some(why) = ledger.first_write.why() {
        return format!("no pod may be taken down: {why}");
    }
    match world.watch() {
        Watch::Opening => "the pods could not be listed".into(),
        Watch::Lost(why) => format!("the pods could not be watched: {why}"),
        Watch::Live if ledger.budgets.blocks.is_some() => ledger.budgets.blocks.clone().unwrap_or_default(),
        Watch::Live if ledger.budgets.trouble.is_some() => {
            format!(
                "the PodDisruptionBudgets could not be read: {}",
                ledger.budgets.trouble.clone().unwrap_or_default()
            )
        }
        Watch::Live => {
            let (down, allowed) = (down(goal, world, ledger), goal.policy.max_unavailable);
            let nodes = ledger.down.iter().filter_map(|key| world.pod(key)?.unready_node());
            let nodes = said_of_nodes(&nodes.collect()).map(|nodes| format!("; {nodes}")).unwrap_or_default();
            format!("no further pod may be taken down: down or missing {down}, allowed {allowed}{nodes}")
        }
    }
}

/// The nodes that are the reason why these pods are not ready.
fn unready_nodes<'p>(world: &World, ledger: &Ledger, pods: impl Iterator<Item = &'p usize>) -> Option<String> {
    said_of_nodes(&pods.filter_map(|position| world.pod(&ledger.pods.get(*position)?.key)?.unready_node()).collect())
}

fn said_of_nodes(nodes: &BTreeSet<&str>) -> Option<String> {
    let shown: Vec<&str> = nodes.iter().copied().take(5).collect();
    let (more, names) = (nodes.len().saturating_sub(shown.len()), shown.join(", "));
    match (nodes.len(), more) {
        (0, _) => None,
        (1, _) => Some(format!("node {names} is not ready")),
        (_, 0) => Some(format!("nodes {names} are not ready")),
        (_, more) => Some(format!("nodes {names} and {more} more are not ready")),
    }
}

fn is_moved(ledger: &Ledger, position: usize) -> bool {
    ledger.entries.get(position).is_some_and(|entry| matches!(entry.phase, Some(PodPhase::Moved { .. })))
}

fn down(goal: &Goal, world: &World, ledger: &Ledger) -> usize {
    ledger.down.len() + owner::replicas(goal, world).saturating_sub(ledger.present.len())
}

/// Returns when a pod's time is up; `None` while it is not in hand.
pub(super) fn deadline(goal: &Goal, world: &World, pod: &PodGoal, entry: &Entry) -> Option<Now> {
    let grace = world.pod(&pod.key).map_or(30, Pod::termination_grace_seconds);
    let hold = goal.policy.min_ready_seconds_given.unwrap_or(goal.policy.owner_min_ready_seconds);
    // A step is as long as a pod of one step.
    let steps = u64::try_from(steps::of(goal, pod).len()).unwrap_or(1);
    let default = (DEFAULT_TIMEOUT_SECONDS + grace + u64::from(hold)) * steps;
    let seconds = goal.policy.timeout_given.unwrap_or(default) + drain::seconds(goal, pod);
    // One that was given up is waited for no more; while one waits for others its time stands still.
    let is_its_own = entry.given_up.is_none() && entry.held_since.is_none();
    entry.started.filter(|_| is_its_own).map(|started| started + Duration::from_secs(seconds))
}

/// Returns when to look again at the latest.
pub(super) fn next_look(goal: &Goal, ledger: &Ledger, now: Now) -> Option<Now> {
    let total = goal.policy.total_timeout.and_then(|total| Some(ledger.began? + Duration::from_secs(total)));
    let patience = Duration::from_secs(goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS));
    let timer = ledger.timers.first().map(|(at, _)| (*at).max(now));
    // What has come already is waited for no more: while answers are outstanding, only their time counts.
    let ahead = [
        total,
        ledger.blocked_since.map(|since| since + patience),
        ledger.stop.map(|(_, since)| since + STOP_WITHIN),
        ledger.ending_since.map(|since| since + END_WITHIN),
        owner::next_look(goal, ledger, now),
        pulls::next_look(goal, ledger, now),
        budgets::next_look(ledger),
        drain::next_look(ledger),
        anew::next_look(ledger),
        drain::leaves_at(ledger),
        Some(ledger.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS)),
    ];
    ahead.into_iter().flatten().filter(|at| *at > now).chain(timer).min()
}

fn outcome(goal: &Goal, world: &World, ledger: &Ledger, now: Now, result: EndResult, why: Option<String>) -> Outcome {
    let pods = ledger.pods.iter().enumerate().map(|(position, pod_goal)| {
        let mut end = pod_end(world.pod(&pod_goal.key), pod_goal, ledger.entries.get(position));
        if goal.mode == Mode::Follow {
            // What is followed may have happened long ago.
            for container in &mut end.containers {
                container.times.running_since = running_since(world.pod(&pod_goal.key), &container.container);
            }
        }
        PodEnd { replaced: ledger.replaced.contains(&position), ..end }
    });
    let seconds = now.saturating_sub(ledger.began.unwrap_or(now)).as_secs_f64();
    let held = owner::stays_held(goal, world, ledger);
    let pods = pods.chain(anew::ends(ledger)).collect();
    let standing = standing::of(goal, world, ledger);
    let nothing_changed = owner::has_changed_nothing(goal, world, ledger);
    Outcome { workload: goal.workload.clone(), result, pods, why, held, nothing_changed, standing, seconds }
}

fn pod_end(pod: Option<&Pod>, goal: &PodGoal, entry: Option<&Entry>) -> PodEnd {
    let unplanned = |pod: &Pod| -> Vec<ContainerName> {
        let now =
            |name: &ContainerName| pod.container_status(name).and_then(|(_, _, status)| status.container_id.clone());
        let others = entry.iter().flat_map(|entry| &entry.others);
        others
            .filter(|(name, before)| before.is_some() && now(name) != **before)
            .map(|(name, _)| name.clone())
            .collect()
    };
    let containers = goal.containers.iter().map(|(name, wanted)| ContainerEnd {
        container: name.clone(),
        from: wanted.from.clone(),
        to: wanted.to.clone(),
        changed: pod.is_some_and(|pod| was_changed(pod, name)),
        down_seconds: pod.and_then(|pod| down_seconds(pod, name)),
        times: pod.map(|pod| times(pod, name)).unwrap_or_default(),
    });
    PodEnd {
        pod: goal.key.clone(),
        phase: entry.and_then(|entry| entry.phase.clone()).unwrap_or(PodPhase::Waiting),
        patched: entry.is_some_and(|entry| entry.patched),
        containers: containers.collect(),
        unplanned: pod.map(unplanned).unwrap_or_default(),
        replaced: false,
    }
}

/// Whether a container's image was changed in place. Its first container is none that came after a change: then whoever
/// set the image has only written something else since.
fn was_changed(pod: &Pod, name: &ContainerName) -> bool {
    let restarted = || pod.container_status(name).is_none_or(|(_, _, status)| status.restart_count > 0);
    match Baseline::of(pod, name) {
        Baseline::Recorded(_) | Baseline::Unknown => true,
        Baseline::Set(_) => restarted(),
        Baseline::Created => false,
    }
}

fn running_since(pod: Option<&Pod>, name: &ContainerName) -> Option<String> {
    pod?.container_status(name)?.2.state.running.as_ref()?.started_at.clone()
}

/// The container that was recorded as ended and the one that runs, where the API tells both.
fn restart<'p>(pod: &'p Pod, name: &ContainerName) -> Option<(&'p str, &'p str)> {
    let record = UpdateRecord::of(pod)?;
    let record = record.container(pod, name)?;
    let (_, _, status) = pod.container_status(name)?;
    let ended = status.last_state.terminated.as_ref()?;
    if ended.container_id != record.container_id {
        return None;
    }
    Some((ended.finished_at.as_deref()?, status.state.running.as_ref()?.started_at.as_deref()?))
}

/// Whole seconds from one time of the API to another.
fn seconds_between(from: &str, to: &str) -> Option<i64> {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    Some(time(to)? - time(from)?)
}

/// Seconds between the end of the recorded container and the start of the one that runs.
fn down_seconds(pod: &Pod, name: &ContainerName) -> Option<i64> {
    let (ended_at, started_at) = restart(pod, name)?;
    seconds_between(ended_at, started_at)
}

/// When it restarted, and how long the pod took to be ready after it.
///
/// A `Ready` that turned before the start never dropped: the kubelet restarted the container between two of its reports.
fn times(pod: &Pod, name: &ContainerName) -> ContainerTimes {
    let Some((ended_at, started_at)) = restart(pod, name) else { return ContainerTimes::default() };
    let turned =
        pod.ready_condition().filter(|_| pod.is_ready()).and_then(|ready| ready.last_transition_time.as_deref());
    ContainerTimes {
        ended_at: Some(ended_at.to_owned()),
        started_at: Some(started_at.to_owned()),
        running_since: None,
        pull_seconds: None,
        ready_seconds: turned.and_then(|turned| seconds_between(started_at, turned)).map(|seconds| seconds.max(0)),
    }
}
