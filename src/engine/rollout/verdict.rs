//! Whether it is over, and how; and when to look again at the latest.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::change;
use crate::engine::k8s::failure;
use crate::engine::k8s::names::{ContainerName, RolloutId};
use crate::engine::k8s::pod::Pod;
use crate::engine::report::progress::PodPhase;
use crate::engine::report::{ContainerEnd, ContainerTimes, Outcome, PodEnd};
use crate::engine::state::evidence::{self, Baseline};
use crate::engine::state::outcome::EndResult;
use crate::engine::state::record::UpdateRecord;

use super::entry::{Entry, Is};
use super::fault::Fault;
use super::goal::{Goal, Mode, PodGoal};
use super::look::Look;
use super::pods::Pods;
use super::protocol::owner;
use super::state::RunState;
use super::world::{Watch, World};
use super::{Now, SIGN_OF_LIFE_SECONDS, given_up, standing};
use crate::engine::state::policy::{DEFAULT_TIMEOUT_SECONDS, OnDeferred};
use crate::engine::value::duration::seconds_between;

/// After an interrupt, answers that are outstanding are waited for this long.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(5);

/// After a failure, likewise.
pub(super) const END_WITHIN: Duration = Duration::from_secs(1);

/// Returns how it ends, if it does.
pub(super) fn judge(look: Look<'_>, state: &RunState) -> Option<(EndResult, Option<String>)> {
    let (goal, pods, now) = (look.goal, &state.pods, look.now);
    if let Some((result, why)) = state.pulls.end().or_else(|| state.owner.end(look)) {
        let is_over = matches!(result, EndResult::Complete | EndResult::Aborted);
        if !is_over {
            return Some((result, why));
        }
        let not_ready = || others_not_ready(look.world, pods, Is::Done).filter(|_| goal.is_back());
        let failing = || fail_as_before(pods);
        return Some((complete(pods, result), why.or_else(failing).or_else(|| never_started(look)).or_else(not_ready)));
    }
    let all_went_back = goal.is_back() && pods.all_over();
    let has_failed = !all_went_back && !pods.all(Is::Failed).is_empty();
    // The owner is never left half done: its steps before the pods are finished first, or have ended above.
    let owner_is_under_way = state.owner.is_under_way(look);
    if has_failed && !owner_is_under_way && !look.has(Fault::IgnoresFailure) {
        let others_go_on = goal.policy.goes_on_after_failure && !pods.only_failing_are_left();
        if !others_go_on || pods.pauses_now(goal) {
            return Some((given_up::result(pods), None));
        }
        if let Some(why) = given_up::no_place_is_left(look, pods) {
            return Some((given_up::result(pods), Some(why)));
        }
    }
    if state.replacements.have_failed(goal) && !owner_is_under_way {
        return Some((EndResult::Failed, None));
    }
    if let Some(position) = pods.all(Is::Lost).first()
        && !(look.has(Fault::IgnoresOtherWriter) && is_moved(pods, *position))
    {
        let why = owner::held_by(look).or_else(|| owner::changed_by_another_run(look, pods));
        return Some((EndResult::Superseded, why));
    }
    if goal.owner.is_none() && pods.all_done() && !state.followed.is_held(look) {
        return Some((complete(pods, EndResult::Complete), never_started(look)));
    }
    if is_taken_back(goal) && !pods.all(Is::Deferred).is_empty() && !owner_is_under_way {
        return Some((EndResult::Deferred, None));
    }
    if pods.pauses_now(goal) && !owner_is_under_way {
        return Some((EndResult::Paused, None));
    }
    if look.has(Fault::NoDeadline) {
        return None;
    }
    let began = state.began.unwrap_or(now);
    if let Some(total) = goal.policy.total_timeout
        && began + Duration::from_secs(total) <= now
    {
        return Some((EndResult::TimedOut, Some(format!("{total} s have passed in all (--total-timeout)"))));
    }
    let too_late = if has_failed { given_up::result(pods) } else { EndResult::TimedOut };
    if !pods.all(Is::Late).is_empty() && !owner_is_under_way {
        return Some((
            too_late,
            unready_nodes(look.world, pods).or_else(|| others_not_ready(look.world, pods, Is::Late)),
        ));
    }
    let is_over = state.blocked_since.is_some_and(|since| since + timeout(look) <= now);
    is_over.then(|| (too_late, Some(what_blocks(look, state))))
}

/// The pods that are done without a node: they ask for what is wanted, and nothing of them has run.
fn never_started(look: Look<'_>) -> Option<String> {
    if look.goal.mode == Mode::Follow {
        return None;
    }
    let done = look.goal.pods.iter().filter(|goal| goal.restarts());
    let mut waiting = done.filter(|goal| look.world.pod(&goal.key).is_some_and(Pod::is_unstarted));
    let first = &waiting.next()?.key;
    let more = match waiting.count() {
        0 => String::new(),
        1 => " and 1 other pod".to_owned(),
        more => format!(" and {more} other pods"),
    };
    Some(format!("no node runs {first}{more} yet, so nothing had to restart there"))
}

/// What is left to the kubelets is not done, and what fails with what it had before is not as it was.
fn complete(pods: &Pods, result: EndResult) -> EndResult {
    match (pods.all(Is::TakenBack).is_empty(), pods.all(Is::Deferred).is_empty()) {
        (false, _) => given_up::result(pods),
        (true, false) => EndResult::Deferred,
        (true, true) => result,
    }
}

/// The rollout is taken back, and pods fail with what they had before it.
fn fail_as_before(pods: &Pods) -> Option<String> {
    let back = pods.all(Is::TakenBack);
    let first = &pods.goal(*back.first()?)?.key.name;
    let (which, what) = match back.len() {
        1 => (format!("pod {first} fails"), "it"),
        more => (format!("{more} pods ({first}, ...) fail"), "they"),
    };
    Some(format!("every pod is back and the lock is released, but {which} with what {what} had before as well"))
}

/// `--deferred=undo`. On the way back there is no other way.
fn is_taken_back(goal: &Goal) -> bool {
    goal.policy.on_deferred == OnDeferred::Undo && !goal.is_back() && goal.mode != Mode::Follow
}

fn timeout(look: Look<'_>) -> Duration {
    Duration::from_secs(look.goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
}

fn what_blocks(look: Look<'_>, state: &RunState) -> String {
    if let Some(why) = state.first_write.why() {
        return format!("no pod may be taken down: {why}");
    }
    match look.world.watch() {
        Watch::Opening => return "the pods could not be listed".into(),
        Watch::Lost(why) => return format!("the pods could not be watched: {why}"),
        Watch::Live => {}
    }
    if let Some(why) = state.replacements.waits() {
        return why.to_owned();
    }
    if let Some(why) = state.owner.trouble() {
        return why;
    }
    if let Some(why) = state.budgets.what_blocks() {
        return why;
    }
    let pods = &state.pods;
    let down = pods.down().len() + look.replicas().saturating_sub(pods.present().len());
    let nodes = pods.down().iter().filter_map(|key| look.world.pod(key)?.unready_node());
    let nodes = said_of_nodes(&nodes.collect()).map(|nodes| format!("; {nodes}")).unwrap_or_default();
    let allowed = look.goal.policy.max_unavailable;
    format!("no further pod may be taken down: down or missing {down}, allowed {allowed}{nodes}")
}

/// The nodes that are the reason why the pods whose time is over are not ready.
fn unready_nodes(world: &World, pods: &Pods) -> Option<String> {
    let late = pods.all(Is::Late).iter();
    said_of_nodes(&late.filter_map(|position| world.pod(&pods.goal(*position)?.key)?.unready_node()).collect())
}

/// A container that this rollout does not change, and that keeps one of these pods from being ready.
fn others_not_ready(world: &World, pods: &Pods, which: Is) -> Option<String> {
    let of_pod = |position: &usize| {
        let goal = pods.goal(*position)?;
        let pod = world.pod(&goal.key)?;
        let resizes = |name: &ContainerName| goal.fields.resized().any(|resized| resized == name);
        let other = failure::unready(pod, |name| goal.containers.contains_key(name) || resizes(name))?;
        let waiting = other.state.waiting.as_ref().map(|waiting| format!(" ({})", waiting.reason)).unwrap_or_default();
        Some(format!(
            "container {} of pod {}, which it does not change, is not ready{waiting}",
            other.name, goal.key.name
        ))
    };
    pods.all(which).iter().find_map(of_pod)
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

fn is_moved(pods: &Pods, position: usize) -> bool {
    pods.entry(position).is_some_and(|entry| matches!(entry.phase, Some(PodPhase::Moved { .. })))
}

/// Returns when to look again at the latest.
pub(super) fn next_look(look: Look<'_>, state: &RunState) -> Option<Now> {
    let now = look.now;
    let total = look.goal.policy.total_timeout.and_then(|total| Some(state.began? + Duration::from_secs(total)));
    let timer = state.pods.next_timer().map(|at| at.max(now));
    // What has come already is waited for no more: while answers are outstanding, only their time counts.
    let ahead = [
        total,
        state.blocked_since.map(|since| since + timeout(look)),
        look.stopped_since.map(|since| since + STOP_WITHIN),
        look.ending_since.map(|since| since + END_WITHIN),
        state.owner.next_look(look),
        state.pulls.next_look(look),
        state.budgets.next_look(),
        state.followed.next_look(),
        state.drains.next_look(&state.pods),
        state.replacements.next_look(look, &state.pods),
        state.drains.leaves_at(look, &state.pods),
        Some(state.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS)),
    ];
    ahead.into_iter().flatten().filter(|at| *at > now).chain(timer).min()
}

/// Returns how things stand.
pub(super) fn outcome(look: Look<'_>, state: &RunState, result: EndResult, why: Option<String>) -> Outcome {
    let told = told(look, state);
    let pods = state.pods.iter().map(|(goal, entry)| {
        let pod = look.world.pod(&goal.key);
        let mut end = pod_end(pod, goal, entry, &look.goal.id);
        if look.goal.mode == Mode::Follow {
            end.containers.retain(|end| {
                end.changed && told.contains(&end.container) || !is_of_before(look, pod, goal, &end.container)
            });
            end.unchanged = pod.is_some_and(|pod| is_as_made(pod, goal));
            // What is followed may have happened long ago.
            for container in &mut end.containers {
                container.times.running_since = running_since(pod, &container.container);
            }
        }
        end
    });
    Outcome {
        workload: look.goal.workload.clone(),
        result,
        pods: pods.chain(state.replacements.ends()).collect(),
        why,
        held: state.owner.stays_held(look),
        nothing_changed: state.owner.has_changed_nothing(look),
        nothing_more: false,
        still_forward: look.goal.is_back() && state.owner.is_still_forward(look),
        budget_blocks: result == EndResult::TimedOut && state.budgets.is_blocking(),
        standing: standing::of(look, state),
        standing_fields: standing::of_fields(look, state),
        seconds: look.now.saturating_sub(state.began.unwrap_or(look.now)).as_secs_f64(),
    }
}

/// The containers that were changed in the course of what is followed. What is told of one pod is told of every pod that it
/// was changed in: how many they are must be true.
fn told(look: Look<'_>, state: &RunState) -> BTreeSet<ContainerName> {
    if look.goal.mode != Mode::Follow {
        return BTreeSet::new();
    }
    let of_pod = |(goal, entry): (&PodGoal, &Entry)| {
        let pod = look.world.pod(&goal.key);
        let ends = pod_end(pod, goal, entry, &look.goal.id).containers.into_iter();
        let told = ends.filter(|end| end.changed && !is_of_before(look, pod, goal, &end.container));
        told.map(|end| end.container).collect::<Vec<_>>()
    };
    state.pods.iter().flat_map(of_pod).collect()
}

fn pod_end(pod: Option<&Pod>, goal: &PodGoal, entry: &Entry, rollout: &RolloutId) -> PodEnd {
    let unplanned = |pod: &Pod| -> Vec<ContainerName> {
        let now =
            |name: &ContainerName| pod.container_status(name).and_then(|(_, _, status)| status.container_id.clone());
        let others = entry.others.iter();
        others
            .filter(|(name, before)| before.is_some() && now(name) != **before)
            .map(|(name, _)| name.clone())
            .collect()
    };
    let restarted = |name: &ContainerName| pod.filter(|pod| !was_left(pod, name));
    let containers = goal.containers.iter().map(|(name, wanted)| ContainerEnd {
        container: name.clone(),
        from: wanted.from.clone(),
        to: wanted.to.clone(),
        changed: match wanted.is_only_resized() {
            true => pod
                .is_some_and(|pod| UpdateRecord::of(pod).is_none_or(|record| !record.is_before_its_resize(pod, name))),
            false => restarted(name).is_some_and(|pod| {
                was_changed(pod, name) && has_begun(pod, name) && !is_of_earlier(rollout, pod, name)
            }),
        },
        twice: pod.is_some_and(|pod| {
            let noted = || UpdateRecord::of(pod).is_some_and(|record| record.restarts_twice(name));
            wanted.by_resize && wanted.to.is_some() && noted()
        }),
        down_seconds: restarted(name).and_then(|pod| down_seconds(pod, name)),
        times: pod.map(|pod| times(pod, name, goal)).unwrap_or_default(),
    });
    PodEnd {
        pod: goal.key.clone(),
        phase: entry.phase.clone().unwrap_or(PodPhase::Waiting),
        patched: entry.patched,
        containers: containers.collect(),
        unplanned: pod.map(unplanned).unwrap_or_default(),
        replaced: entry.is(Is::Replaced),
        unchanged: false,
    }
}

/// Whether the pod was changed by this rollout, and this container of it by an earlier one alone.
fn is_of_earlier(rollout: &RolloutId, pod: &Pod, name: &ContainerName) -> bool {
    let record = UpdateRecord::of(pod).filter(|record| record.id == *rollout);
    record.is_some_and(|record| record.earlier.contains_key(name) && !record.containers.contains_key(name))
}

/// Whether the container goes on that was there before, since its image was set back before the kubelet had seen another one.
fn was_left(pod: &Pod, name: &ContainerName) -> bool {
    let found = pod.container(name).zip(pod.container_status(name));
    found.is_some_and(|((_, _, container), (_, _, status))| {
        evidence::was_left(pod, &Baseline::of(pod, name), container, status)
    })
}

/// What has not begun has not restarted.
fn has_begun(pod: &Pod, name: &ContainerName) -> bool {
    !pod.is_unstarted() && pod.container_status(name).is_none_or(|(_, _, status)| !status.has_not_begun())
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

/// Whether a container that is followed was changed by an update that was over when the one that is followed began: it ran
/// already when that one set another container, and when the pod was read.
fn is_of_before(look: Look<'_>, pod: Option<&Pod>, goal: &PodGoal, name: &ContainerName) -> bool {
    pod.is_some_and(|pod| was_over_by(pod, goal, name, look.goal.read_at.as_deref()))
}

fn was_over_by(pod: &Pod, goal: &PodGoal, name: &ContainerName, read_at: Option<&str>) -> bool {
    let record = UpdateRecord::of(pod);
    let is_noted = |name: &ContainerName| record.as_ref().is_some_and(|record| record.container(pod, name).is_some());
    let is_another = |other: &&ContainerName| *other != name && !(is_noted(name) && is_noted(other));
    let others = goal.containers.keys().filter(is_another).filter(|other| was_changed(pod, other));
    let newest = others.filter_map(|other| pod.image_set.get(other)).map(|set| set.time.as_str()).max();
    let is_waited_for = goal.containers.get(name).is_some_and(|wanted| wanted.to.is_some());
    let Some(since) = running_since(Some(pod), name).filter(|_| !is_waited_for) else { return false };
    newest.is_some_and(|set| since.as_str() < set) && read_at.is_none_or(|read| since.as_str() < read)
}

/// Whether nobody has changed a container of a pod since it was made, as far as the pod tells, nor is about to.
fn is_as_made(pod: &Pod, goal: &PodGoal) -> bool {
    let is_as_made = |name: &ContainerName| Baseline::of(pod, name) == Baseline::Created;
    let is_resized = change::resizing(pod).is_some() || goal.containers.values().any(|wanted| wanted.by_resize);
    !is_resized && goal.containers.keys().all(is_as_made)
}

fn running_since(pod: Option<&Pod>, name: &ContainerName) -> Option<String> {
    pod?.container_status(name)?.2.state.running.as_ref()?.started_at.clone()
}

/// Since when the container was down and when the one started that runs, where the API tells both. Where one has ended
/// between that the API shows in place of the one from before, the update's patch is the first that is known.
fn restart(pod: &Pod, name: &ContainerName) -> Option<(String, String)> {
    let record = UpdateRecord::of(pod)?;
    let of_image = record.container(pod, name).cloned();
    let before = of_image.clone().or_else(|| record.resize_baseline(pod, name))?;
    let (_, _, status) = pod.container_status(name)?;
    let started = status.state.running.as_ref()?.started_at.clone()?;
    let ended = status.last_state.terminated.as_ref()?;
    if before.container_id.is_none() || status.container_id == before.container_id {
        return None;
    }
    let first_stop = if ended.container_id == before.container_id {
        ended.finished_at.clone()
    } else {
        of_image.and_then(|_| UpdateRecord::set_at(pod, name))
    };
    Some((before.down_since.or(first_stop)?, started))
}

/// Seconds from the first stop of the container, or from the patch, to the start of the one that runs; none of one that
/// never had to leave.
fn down_seconds(pod: &Pod, name: &ContainerName) -> Option<i64> {
    let record = UpdateRecord::of(pod)?;
    let (_, _, status) = pod.container_status(name)?;
    let before = record.container(pod, name).filter(|before| before.container_id.is_some());
    if before.is_some_and(|before| before.container_id == status.container_id) && status.state.running.is_some() {
        return Some(0);
    }
    let (ended_at, started_at) = restart(pod, name)?;
    seconds_between(&ended_at, &started_at)
}

/// When it restarted, and how long the pod took to be ready after it.
///
/// A `Ready` that turned before the start never dropped: the kubelet restarted the container between two of its reports.
/// Where another container of the update started later, the pod's `Ready` is that one's.
fn times(pod: &Pod, name: &ContainerName, goal: &PodGoal) -> ContainerTimes {
    let Some((ended_at, started_at)) = restart(pod, name) else { return ContainerTimes::default() };
    let started = |name| restart(pod, name).map(|(_, started_at)| started_at);
    let is_last = goal.containers.keys().filter_map(started).all(|other| other <= started_at);
    let ready = pod.ready_condition().filter(|_| pod.is_ready() && is_last);
    let turned = ready.and_then(|ready| ready.last_transition_time.as_deref());
    ContainerTimes {
        ready_seconds: turned.and_then(|turned| seconds_between(&started_at, turned)).map(|seconds| seconds.max(0)),
        ended_at: Some(ended_at),
        started_at: Some(started_at),
        running_since: None,
        pull_seconds: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// `app` and `side` were restarted one after the other, and the pod's `Ready` turned once more after the second.
    #[test]
    fn a_pods_ready_is_that_of_the_container_that_started_last() {
        let status = |name: &str, started: &str| {
            json!({"name": name, "image": "a:2", "imageID": "new", "containerID": format!("new-{name}"), "ready": true,
                "restartCount": 1, "state": {"running": {"startedAt": started}}, "lastState": {"terminated": {
                    "exitCode": 0, "reason": "Completed", "containerID": format!("old-{name}"),
                    "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:09Z"}}})
        };
        let noted =
            |name: &str| json!({"from": "a:1", "to": "a:2", "imageID": "old", "containerID": format!("old-{name}")});
        let record = json!({"id": "one", "manager": "m", "containers": {"app": noted("app"), "side": noted("side")}});
        let container = |name: &str| json!({"name": name, "image": "a:2"});
        let pod = |side: &str, app: &str| {
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()}},
                "spec": {"containers": [container("app"), container("side")]},
                "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:20Z"}],
                    "containerStatuses": [status("app", app), status("side", side)]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let wanted = json!({"from": "a:1", "to": "a:2", "restarts": true});
        let goal: PodGoal = serde_json::from_value(json!({
            "key": {"namespace": "d", "name": "web-0", "uid": "u"}, "containers": {"app": wanted, "side": wanted}}))
        .expect("it is a goal");
        for (side, app, ready) in [("10", "16", [None, Some(4)]), ("10", "10", [Some(10), Some(10)])] {
            let at = |second: &str| format!("2026-01-01T00:00:{second}Z");
            let pod = pod(&at(side), &at(app));
            let found = ["side", "app"].map(|name| times(&pod, &name.into(), &goal).ready_seconds);
            assert_eq!(found, ready, "{side} {app}");
        }
    }

    /// `side` was changed and done before `app` was set: who follows `app` hears of that alone.
    #[test]
    fn what_was_over_before_is_not_followed() {
        let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
        let status = |name: &str, started: u32| {
            json!({"name": name, "image": "a:2", "imageID": "new", "containerID": name, "ready": true, "restartCount": 1,
                "state": {"running": {"startedAt": at(started)}}})
        };
        let set = |manager: &str, name: &str, second: u32| {
            json!({"manager": manager, "operation": "Update", "time": at(second), "fieldsV1": {"f:spec": {"f:containers":
                {format!("k:{{\"name\":\"{name}\"}}"): {"f:image": {}}}}}})
        };
        let pod = |noted: &[&str]| {
            let note = json!({"from": "a:1", "to": "a:2", "imageID": "old", "containerID": "old"});
            let noted: serde_json::Map<String, Value> =
                noted.iter().map(|name| ((*name).to_owned(), note.clone())).collect();
            let record = json!({"id": "one", "manager": "m", "containers": noted});
            let container = |name: &str| json!({"name": name, "image": "a:2"});
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()},
                    "managedFields": [set("m", "side", 5), set(if noted.len() == 2 { "m" } else { "set" }, "app", 10)]},
                "spec": {"containers": [container("app"), container("side")]},
                "status": {"containerStatuses": [status("app", 11), status("side", 6)]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"app": {"restarts": true}, "side": {"restarts": true}}}))
        .expect("it is a goal");
        for (what, noted, read, of_before) in [
            ("an update of before", &["side"][..], 12, [false, true]),
            ("it was seen to restart", &["side"], 6, [false, false]),
            ("two steps of one update", &["app", "side"], 12, [false, false]),
        ] {
            let found = ["app", "side"].map(|name| was_over_by(&pod(noted), &goal, &name.into(), Some(&at(read))));
            assert_eq!(found, of_before, "{what}");
        }
    }

    /// A downtime begins with the first stop, also where the API shows a later end in its place.
    #[test]
    fn a_container_is_down_from_its_first_stop_to_the_start_of_the_one_that_stays() {
        let at = |second: i64| format!("2026-01-01T00:00:{second:02}Z");
        let pod = |running: &str, ended: &str, record: Value| {
            let mut noted =
                json!({"from": "a:1", "to": "a:2", "imageID": "old", "containerID": "c://old", "restarts": 0});
            json_patch::merge(&mut noted, &record);
            let record = json!({"id": "one", "manager": "m", "containers": {"side": noted}});
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()},
                    "managedFields": [{"manager": "m", "operation": "Update", "time": at(8),
                        "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}]},
                "spec": {"containers": [{"name": "side", "image": "a:2"}]},
                "status": {"containerStatuses": [{"name": "side", "image": "a:2", "imageID": "new", "containerID": running,
                    "restartCount": 3, "state": {"running": {"startedAt": at(30)}}, "lastState": {"terminated": {
                        "exitCode": 3, "containerID": ended, "startedAt": at(19), "finishedAt": at(20)}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let none = json!({});
        for (what, pod, seconds) in [
            ("the one before is shown", pod("c://new", "c://old", none.clone()), Some(10)),
            ("one has crashed between: since the patch", pod("c://new", "c://crashed", none.clone()), Some(22)),
            ("down before the way back", pod("c://new", "c://old", json!({"downSince": at(2)})), Some(28)),
            ("it never had to leave", pod("c://old", "c://x", none), Some(0)),
            ("none was there before", pod("c://new", "c://x", json!({"containerID": null})), None),
        ] {
            assert_eq!(down_seconds(&pod, &"side".into()), seconds, "{what}");
        }
    }

    /// The image was set back before the kubelet had seen the other one: nothing restarted, and nothing is under way.
    #[test]
    fn a_container_that_never_had_to_leave_has_not_restarted() {
        let noted = json!({"from": "a:2", "to": "a:1", "inFlight": "a:1", "imageID": "one", "containerID": "c://old", "restarts": 0});
        let record = json!({"id": "one", "manager": "m", "containers": {"side": noted}});
        let pod = |id: &str, seen: i64| {
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "generation": 3,
                    "annotations": {"kubectl-inplace.io/update": record.to_string()}},
                "spec": {"containers": [{"name": "side", "image": "a:1"}]},
                "status": {"observedGeneration": seen, "containerStatuses": [{"name": "side", "image": "a:1", "imageID": "one",
                    "containerID": id, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"side": {"from": "a:2", "to": "a:1", "restarts": true}}}))
        .expect("it is a goal");
        for (id, seen, changed) in [("c://old", 3, false), ("c://old", 2, true), ("c://new", 3, true)] {
            let pod = pod(id, seen);
            let end = pod_end(Some(&pod), &goal, &Entry::default(), &"one".into());
            assert_eq!(end.containers.first().map(|end| end.changed), Some(changed), "{id} {seen}");
            let is_new =
                pod.container(&"side".into()).zip(pod.container_status(&"side".into())).map(|(asked, shown)| {
                    evidence::one_look(&pod, &Baseline::of(&pod, &"side".into()), asked.2, shown.2)
                        == evidence::Proof::New
                });
            assert_eq!(is_new, Some(!changed || id == "c://new"), "{id} {seen}");
        }
    }
}
