//! Whether it is over, and by what; and when the next visit is due at the latest.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::state::outcome::EndResult;
use crate::value::count::pods_that;

use super::abandoned;
use super::action::{Now, SIGN_OF_LIFE_SECONDS, STOP_WITHIN};
use super::observed::{Observed, TurnContext, Watch};
use super::pod_run::{PodIndex, PodRun};
use super::pods::Pods;
use super::protocol::owner;
use super::state::RunState;

/// How long an end waits for outstanding answers after a failure.
pub(super) const END_WITHIN: Duration = Duration::from_secs(1);

pub(super) fn judge(context: TurnContext<'_>, state: &RunState) -> Option<(EndResult, Option<String>)> {
    let (goal, pods) = (context.goal, &state.pods);
    if let Some(end) = state.pulls.end().or_else(|| state.owner.end(context)) {
        return Some(of_the_owner_or_pulls(context, pods, end));
    }
    let all_went_back = goal.is_back() && pods.all_over();
    let has_failed = !all_went_back && !pods.all(PodIndex::Failed).is_empty();
    // The owner is never left half done: its steps before the pods are finished first, or have ended above.
    let owner_is_under_way = state.owner.is_under_way(context);
    if has_failed
        && !owner_is_under_way
        && let Some(end) = of_failed_pods(context, pods)
    {
        return Some(end);
    }
    if state.replacements.have_failed(goal) && !owner_is_under_way {
        return Some((EndResult::Failed, None));
    }
    if !pods.all(PodIndex::Conflicted).is_empty() {
        let why = owner::held_by(context).or_else(|| owner::changed_by_another_run(context, pods));
        return Some((EndResult::Superseded, why));
    }
    if goal.owner.is_none() && pods.all_done() && !state.followed.is_held(context) {
        return Some((complete(pods, EndResult::Complete), never_started(context, pods)));
    }
    if goal.undoes_deferred() && !pods.all(PodIndex::Deferred).is_empty() && !owner_is_under_way {
        return Some((EndResult::Deferred, None));
    }
    if pods.pauses_now(goal) && !owner_is_under_way {
        return Some((EndResult::Paused, None));
    }
    let too_late = if has_failed { abandoned::result(pods) } else { EndResult::TimedOut };
    of_deadlines(context, state, too_late, owner_is_under_way)
}

/// What has ended is over for the pods, too; else it decides alone.
fn of_the_owner_or_pulls(
    context: TurnContext<'_>,
    pods: &Pods,
    (result, why): (EndResult, Option<String>),
) -> (EndResult, Option<String>) {
    if !matches!(result, EndResult::Complete | EndResult::Aborted) {
        return (result, why);
    }
    let not_ready = || others_not_ready(context.observed, pods, PodIndex::Done).filter(|_| context.goal.is_back());
    let why = why.or_else(|| fail_as_before(pods)).or_else(|| never_started(context, pods)).or_else(not_ready);
    (complete(pods, result), why)
}

/// A failed pod ends the rollout, unless the others go on.
fn of_failed_pods(context: TurnContext<'_>, pods: &Pods) -> Option<(EndResult, Option<String>)> {
    let others_go_on = context.goal.policy().goes_on_after_failure && !pods.only_failing_are_left();
    if !others_go_on || pods.pauses_now(context.goal) {
        return Some((abandoned::result(pods), None));
    }
    abandoned::no_place_is_left(context, pods).map(|why| (abandoned::result(pods), Some(why)))
}

fn of_deadlines(
    context: TurnContext<'_>,
    state: &RunState,
    too_late: EndResult,
    owner_is_under_way: bool,
) -> Option<(EndResult, Option<String>)> {
    let (goal, pods, now) = (context.goal, &state.pods, context.now);
    let began = state.began.unwrap_or(now);
    if let Some(total) = goal.policy().total_timeout
        && began + Duration::from_secs(total) <= now
    {
        return Some((EndResult::TimedOut, Some(format!("{total} s have passed in all (--total-timeout)"))));
    }
    if !pods.all(PodIndex::Late).is_empty() && !owner_is_under_way {
        let others = || others_not_ready(context.observed, pods, PodIndex::Late);
        return Some((too_late, unready_nodes(context.observed, pods).or_else(others)));
    }
    let is_over = state.blocked_since.is_some_and(|since| since + goal.policy().timeout() <= now);
    is_over.then(|| (too_late, Some(what_blocks(context, state))))
}

/// The pods that are done without a node: they ask for what is wanted, and none of their containers has run.
fn never_started(context: TurnContext<'_>, pods: &Pods) -> Option<String> {
    if context.goal.is_followed() {
        return None;
    }
    let done = pods.runs(PodIndex::Done).filter(|run| run.goal.restarts());
    let mut waiting = done.filter(|run| context.observed.pod(&run.goal.key).is_some_and(Pod::is_unstarted));
    let first = &waiting.next()?.goal.key;
    let more = match waiting.count() {
        0 => String::new(),
        1 => " and 1 other pod".to_owned(),
        more => format!(" and {more} other pods"),
    };
    Some(format!("no node runs {first}{more} yet, so nothing had to restart there"))
}

/// Pods left to the kubelets are not done, and pods that fail with what they had before are not restored.
fn complete(pods: &Pods, result: EndResult) -> EndResult {
    match (pods.all(PodIndex::FailsAsBefore).is_empty(), pods.all(PodIndex::Deferred).is_empty()) {
        (false, _) => abandoned::result(pods),
        (true, false) => EndResult::Deferred,
        (true, true) => result,
    }
}

/// The rollout is taken back, and pods fail with what they had before it.
fn fail_as_before(pods: &Pods) -> Option<String> {
    let back = pods.all(PodIndex::FailsAsBefore);
    let first = &pods.run(*back.first()?)?.goal.key.name;
    if pods.runs(PodIndex::FailsAsBefore).filter_map(|run| run.phase.as_ref()).all(UpdatePhase::stays_down) {
        let which = if back.len() == 1 {
            format!("pod {first} stays")
        } else {
            format!("{} pods ({first}, ...) stay", back.len())
        };
        return Some(format!("the images are back and the lock is released, but {which} down until replaced"));
    }
    // Admission may have made another image of the one from before.
    let which = match back.len() {
        1 => format!("pod {first} fails"),
        more => format!("{more} pods ({first}, ...) fail"),
    };
    Some(format!("every pod is back and the lock is released, but {which} all the same"))
}

fn what_blocks(context: TurnContext<'_>, state: &RunState) -> String {
    if let Some(why) = state.begin_waits_for.as_deref() {
        return format!("no pod may be taken down: {why}");
    }
    match context.observed.watch() {
        Watch::Opening => return "the pods could not be listed".into(),
        Watch::Lost(why) => return format!("the pods could not be watched: {why}"),
        Watch::Live => {}
    }
    if let Some(why) = state.replacements.ready.waits() {
        return why.to_owned();
    }
    if let Some(why) = state.owner.trouble() {
        return why;
    }
    if let Some(why) = state.budgets.what_blocks() {
        return why;
    }
    let pods = &state.pods;
    if context.goal.is_in_turns() {
        let waiting = pods_that(pods.all(PodIndex::Waiting).len(), "waits", "wait");
        return format!("its controller has begun with no further pod: {waiting}");
    }
    let down = pods.down().len() + context.replicas().saturating_sub(pods.present().len());
    let nodes = pods.down().iter().filter_map(|key| context.observed.pod(key)?.unready_node());
    let nodes = said_of_nodes(&nodes.collect()).map(|nodes| format!("; {nodes}")).unwrap_or_default();
    let allowed = context.goal.policy().max_unavailable;
    format!("no further pod may be taken down: down or missing {down}, allowed {allowed}{nodes}")
}

/// The nodes because of which the pods that timed out are not ready.
fn unready_nodes(observed: &Observed, pods: &Pods) -> Option<String> {
    let late = pods.runs(PodIndex::Late);
    said_of_nodes(&late.filter_map(|run| observed.pod(&run.goal.key)?.unready_node()).collect())
}

/// A container that this rollout does not change, and that keeps one of these pods from being ready.
fn others_not_ready(observed: &Observed, pods: &Pods, which: PodIndex) -> Option<String> {
    let of_pod = |PodRun { goal, .. }: &PodRun| {
        let pod = observed.pod(&goal.key)?;
        let resizes = |name: &ContainerName| goal.fields.resized().any(|resized| resized == name);
        let other = failure::unready(pod, |name| goal.containers.contains_key(name) || resizes(name))?;
        let waiting = other.state.waiting.as_ref().map(|waiting| format!(" ({})", waiting.reason)).unwrap_or_default();
        Some(format!(
            "container {} of pod {}, which it does not change, is not ready{waiting}",
            other.name, goal.key.name
        ))
    };
    pods.runs(which).find_map(of_pod)
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

pub(super) fn next_visit(context: TurnContext<'_>, state: &RunState) -> Option<Now> {
    let now = context.now;
    let total = context.goal.policy().total_timeout.and_then(|total| Some(state.began? + Duration::from_secs(total)));
    let timer = state.pods.next_timer().map(|at| at.max(now));
    // What has come already is no longer waited for: while answers are outstanding, only their time counts.
    let ahead = [
        total,
        state.blocked_since.map(|since| since + context.goal.policy().timeout()),
        context.stopped_since.map(|since| since + STOP_WITHIN),
        context.ending_since.map(|since| since + END_WITHIN),
        state.owner.next_visit(context),
        state.pulls.next_visit(context),
        state.requests.next_visit(context),
        state.budgets.next_visit(),
        state.followed.next_visit(),
        state.drains.next_visit(&state.pods),
        state.replacements.next_visit(context, &state.pods),
        state.drains.leaves_at(context, &state.pods),
        Some(state.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS)),
    ];
    ahead.into_iter().flatten().filter(|at| *at > now).chain(timer).min()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rollout::goal::{Goal, PodGoal};
    use crate::rollout::observed::{Judged, Observation};
    use crate::rollout::pod_run::PodRun;

    /// A pod that was found later counts, and one that has left does not.
    #[test]
    fn the_pods_that_no_node_runs_are_those_that_are_done() {
        let pod_goal = |name: &str| {
            json!({"key": {"namespace": "d", "name": name, "uid": name},
                "containers": {"side": {"from": "a:1", "to": "a:2", "restarts": true}}})
        };
        let goal: Goal = serde_json::from_value(json!({
            "workload": {"kind": "Deployment", "namespace": "d", "name": "web"}, "clock": "", "controllers": [],
            "replicas": 2, "pods": [pod_goal("one"), pod_goal("left")], "field_manager": "m",
            "lock": {"id": "one", "run": "r", "who": "", "since": "", "version": "0", "state": "running",
                "direction": "forward", "change": {"images": {}}}}))
        .expect("it is a goal");
        let (mut state, mut observed) = (RunState::new(), Observed::default());
        let gone = UpdatePhase::Gone { why: "its controller released it".into() };
        let done = UpdatePhase::Done;
        let phases = [("one", done.clone()), ("left", gone), ("found", done.clone()), ("found-too", done)];
        for (position, (name, phase)) in phases.into_iter().enumerate() {
            let object = json!({"metadata": {"namespace": "d", "name": name, "uid": name},
                "spec": {"containers": [{"name": "side", "image": "a:2"}]}});
            observed.observe(Observation::Applied(Box::new(Pod::from_object(&object).expect("it is a pod"))));
            let pod: PodGoal = serde_json::from_value(pod_goal(name)).expect("it is a goal");
            state.pods.add(pod.clone().into(), Now::ZERO);
            state.pods.judged(position, PodRun::new(pod.into()), Judged::from(phase), Now::ZERO);
        }
        let why = never_started(state.context(&goal, &observed, Now::ZERO), &state.pods);
        assert_eq!(why.as_deref(), Some("no node runs pod/one and 2 other pods yet, so nothing had to restart there"));
    }
}
