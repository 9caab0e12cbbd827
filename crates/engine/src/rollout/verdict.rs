//! Whether it is over, and by what; and when the next visit is due at the latest.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::progress::PodProgress;
use crate::state::outcome::EndResult;

use super::abandoned;
use super::action::{Now, SIGN_OF_LIFE_SECONDS, STOP_WITHIN};
use super::entry::Is;
use super::goal::Mode;
use super::pods::Pods;
use super::protocol::owner;
use super::state::RunState;
use super::visit::Visit;
use super::world::{Watch, World};
use crate::state::policy::DEFAULT_TIMEOUT_SECONDS;

/// How long an end waits for outstanding answers after a failure.
pub(super) const END_WITHIN: Duration = Duration::from_secs(1);

/// Returns how it ends, if it does.
pub(super) fn judge(visit: Visit<'_>, state: &RunState) -> Option<(EndResult, Option<String>)> {
    let (goal, pods, now) = (visit.goal, &state.pods, visit.now);
    if let Some((result, why)) = state.pulls.end().or_else(|| state.owner.end(visit)) {
        let is_over = matches!(result, EndResult::Complete | EndResult::Aborted);
        if !is_over {
            return Some((result, why));
        }
        let not_ready = || others_not_ready(visit.world, pods, Is::Done).filter(|_| goal.is_back());
        let failing = || fail_as_before(pods);
        return Some((
            complete(pods, result),
            why.or_else(failing).or_else(|| never_started(visit)).or_else(not_ready),
        ));
    }
    let all_went_back = goal.is_back() && pods.all_over();
    let has_failed = !all_went_back && !pods.all(Is::Failed).is_empty();
    // The owner is never left half done: its steps before the pods are finished first, or have ended above.
    let owner_is_under_way = state.owner.is_under_way(visit);
    if has_failed && !owner_is_under_way {
        let others_go_on = goal.policy.goes_on_after_failure && !pods.only_failing_are_left();
        if !others_go_on || pods.pauses_now(goal) {
            return Some((abandoned::result(pods), None));
        }
        if let Some(why) = abandoned::no_place_is_left(visit, pods) {
            return Some((abandoned::result(pods), Some(why)));
        }
    }
    if state.replacements.have_failed(goal) && !owner_is_under_way {
        return Some((EndResult::Failed, None));
    }
    if !pods.all(Is::Lost).is_empty() {
        let why = owner::held_by(visit).or_else(|| owner::changed_by_another_run(visit, pods));
        return Some((EndResult::Superseded, why));
    }
    if goal.owner.is_none() && pods.all_done() && !state.followed.is_held(visit) {
        return Some((complete(pods, EndResult::Complete), never_started(visit)));
    }
    if goal.undoes_deferred() && !pods.all(Is::Deferred).is_empty() && !owner_is_under_way {
        return Some((EndResult::Deferred, None));
    }
    if pods.pauses_now(goal) && !owner_is_under_way {
        return Some((EndResult::Paused, None));
    }
    let began = state.began.unwrap_or(now);
    if let Some(total) = goal.policy.total_timeout
        && began + Duration::from_secs(total) <= now
    {
        return Some((EndResult::TimedOut, Some(format!("{total} s have passed in all (--total-timeout)"))));
    }
    let too_late = if has_failed { abandoned::result(pods) } else { EndResult::TimedOut };
    if !pods.all(Is::Late).is_empty() && !owner_is_under_way {
        return Some((
            too_late,
            unready_nodes(visit.world, pods).or_else(|| others_not_ready(visit.world, pods, Is::Late)),
        ));
    }
    let is_over = state.blocked_since.is_some_and(|since| since + timeout(visit) <= now);
    is_over.then(|| (too_late, Some(what_blocks(visit, state))))
}

/// The pods that are done without a node: they ask for what is wanted, and none of their containers has run.
fn never_started(visit: Visit<'_>) -> Option<String> {
    if visit.goal.mode == Mode::Follow {
        return None;
    }
    let done = visit.goal.pods.iter().filter(|goal| goal.restarts());
    let mut waiting = done.filter(|goal| visit.world.pod(&goal.key).is_some_and(Pod::is_unstarted));
    let first = &waiting.next()?.key;
    let more = match waiting.count() {
        0 => String::new(),
        1 => " and 1 other pod".to_owned(),
        more => format!(" and {more} other pods"),
    };
    Some(format!("no node runs {first}{more} yet, so nothing had to restart there"))
}

/// Pods left to the kubelets are not done, and pods that fail with what they had before are not restored.
fn complete(pods: &Pods, result: EndResult) -> EndResult {
    match (pods.all(Is::TakenBack).is_empty(), pods.all(Is::Deferred).is_empty()) {
        (false, _) => abandoned::result(pods),
        (true, false) => EndResult::Deferred,
        (true, true) => result,
    }
}

/// The rollout is taken back, and pods fail with what they had before it.
fn fail_as_before(pods: &Pods) -> Option<String> {
    let back = pods.all(Is::TakenBack);
    let first = &pods.goal(*back.first()?)?.key.name;
    let phases = || back.iter().filter_map(|position| pods.entry(*position)?.phase.as_ref());
    if phases().all(|phase| matches!(phase, PodProgress::Failing(failure) if failure.stays_down)) {
        let which = if back.len() == 1 {
            format!("pod {first} stays")
        } else {
            format!("{} pods ({first}, ...) stay", back.len())
        };
        return Some(format!("the images are back and the lock is released, but {which} down until replaced"));
    }
    let (which, what) = match back.len() {
        1 => (format!("pod {first} fails"), "it"),
        more => (format!("{more} pods ({first}, ...) fail"), "they"),
    };
    Some(format!("every pod is back and the lock is released, but {which} with what {what} had before as well"))
}

fn timeout(visit: Visit<'_>) -> Duration {
    Duration::from_secs(visit.goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
}

fn what_blocks(visit: Visit<'_>, state: &RunState) -> String {
    if let Some(why) = state.begin_waits_for.as_deref() {
        return format!("no pod may be taken down: {why}");
    }
    match visit.world.watch() {
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
    let down = pods.down().len() + visit.replicas().saturating_sub(pods.present().len());
    let nodes = pods.down().iter().filter_map(|key| visit.world.pod(key)?.unready_node());
    let nodes = said_of_nodes(&nodes.collect()).map(|nodes| format!("; {nodes}")).unwrap_or_default();
    let allowed = visit.goal.policy.max_unavailable;
    format!("no further pod may be taken down: down or missing {down}, allowed {allowed}{nodes}")
}

/// The nodes because of which the pods that timed out are not ready.
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

/// Returns when the next visit is due at the latest.
pub(super) fn next_visit(visit: Visit<'_>, state: &RunState) -> Option<Now> {
    let now = visit.now;
    let total = visit.goal.policy.total_timeout.and_then(|total| Some(state.began? + Duration::from_secs(total)));
    let timer = state.pods.next_timer().map(|at| at.max(now));
    // What has come already is no longer waited for: while answers are outstanding, only their time counts.
    let ahead = [
        total,
        state.blocked_since.map(|since| since + timeout(visit)),
        visit.stopped_since.map(|since| since + STOP_WITHIN),
        visit.ending_since.map(|since| since + END_WITHIN),
        state.owner.next_visit(visit),
        state.pulls.next_visit(visit),
        state.budgets.next_visit(),
        state.followed.next_visit(),
        state.drains.next_visit(&state.pods),
        state.replacements.next_visit(visit, &state.pods),
        state.drains.leaves_at(visit, &state.pods),
        Some(state.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS)),
    ];
    ahead.into_iter().flatten().filter(|at| *at > now).chain(timer).min()
}
