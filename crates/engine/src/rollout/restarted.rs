//! When a container of a pod was stopped, restarted and ready again, as far as the API shows it.

use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::report::ContainerTimes;
use crate::state::evidence::{self, Baseline};
use crate::state::record::UpdateRecord;
use crate::value::duration::seconds_between;

use super::goal::PodGoal;

/// Whether the old container goes on running, since its image was restored before the kubelet had seen another one.
pub(super) fn was_left(pod: &Pod, name: &ContainerName) -> bool {
    let found = pod.container(name).zip(pod.container_status(name));
    found.is_some_and(|((_, _, container), (_, _, status))| {
        evidence::was_left(pod, &Baseline::of(pod, name), container, status)
    })
}

/// A container that has not begun has not restarted.
pub(super) fn has_begun(pod: &Pod, name: &ContainerName) -> bool {
    !pod.is_unstarted() && pod.status_of(name).is_none_or(|status| !status.has_not_begun())
}

/// Whether a container's image was changed in place. If the container has never restarted, whoever set the image has
/// only written something else since.
pub(super) fn was_changed(pod: &Pod, name: &ContainerName) -> bool {
    let restarted = || pod.status_of(name).is_none_or(|status| status.restart_count > 0);
    match Baseline::of(pod, name) {
        Baseline::Recorded(_) => true,
        Baseline::Set(_) => restarted(),
        // Nobody is known to have set it: that it restarted says nothing.
        Baseline::Created | Baseline::Unknown => false,
    }
}

pub(super) fn running_since(pod: Option<&Pod>, name: &ContainerName) -> Option<String> {
    pod?.status_of(name)?.started_at().map(str::to_owned)
}

/// Since when the container was down and when the one that runs was started, where the API shows both. Where a
/// container in between has replaced the old one in `lastState`, the update's patch is the first known time.
fn restart(pod: &Pod, name: &ContainerName) -> Option<(String, String)> {
    let record = UpdateRecord::of(pod)?;
    let before = record.before(pod, name)?;
    let status = pod.status_of(name)?;
    let started = status.started_at()?.to_owned();
    let ended = status.last_state.terminated.as_ref()?;
    if before.container_id.is_none() || status.container_id == before.container_id {
        return None;
    }
    let first_stop = if ended.container_id == before.container_id {
        ended.finished_at.clone()
    } else {
        record.container(pod, name).and_then(|_| UpdateRecord::set_at(pod, name))
    };
    Some((before.down_since.or(first_stop)?, started))
}

/// Seconds from the first stop of the container, or from the patch, to the start of the one that runs, without the
/// seconds that another one ran in between; 0 for a container that never had to stop.
pub(super) fn down_seconds(pod: &Pod, name: &ContainerName) -> Option<i64> {
    let record = UpdateRecord::of(pod)?;
    let status = pod.status_of(name)?;
    let before = record.container(pod, name).filter(|before| before.container_id.is_some());
    if before.is_some_and(|before| before.container_id == status.container_id) && status.state.running.is_some() {
        return Some(0);
    }
    let (ended_at, started_at) = restart(pod, name)?;
    let seconds = seconds_between(&ended_at, &started_at)? - ran_between(pod, name)?;
    Some(seconds.max(0))
}

/// For how many seconds a container between the old one and the present one ran: known where there was only one, whose
/// end the API shows.
fn ran_between(pod: &Pod, name: &ContainerName) -> Option<i64> {
    let before = UpdateRecord::of(pod)?.before(pod, name)?;
    let status = pod.status_of(name)?;
    let ended = status.last_state.terminated.as_ref()?;
    if ended.container_id == before.container_id {
        return Some(0);
    }
    let is_the_only_one = before.restarts.is_some_and(|restarts| status.restart_count == restarts + 2);
    let times = ended.started_at.as_deref().zip(ended.finished_at.as_deref()).filter(|_| is_the_only_one);
    times.and_then(|(from, to)| seconds_between(from, to))
}

/// When it restarted, and how long the pod took to be ready after it.
///
/// If `Ready` turned before the start, it never dropped: the kubelet restarted the container between two of its
/// reports. Where another container of the update started later, the pod's `Ready` belongs to that one.
pub(super) fn times(pod: &Pod, name: &ContainerName, goal: &PodGoal) -> ContainerTimes {
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

    /// A downtime begins with the first stop, also where `lastState` shows a later end.
    #[test]
    fn a_container_is_down_from_its_first_stop_to_the_start_of_the_one_that_stays() {
        let at = |second: i64| format!("2026-01-01T00:00:{second:02}Z");
        let pod = |running: &str, (ended, count): (&str, i64), record: Value| {
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
                    "restartCount": count, "state": {"running": {"startedAt": at(30)}}, "lastState": {"terminated": {
                        "exitCode": 3, "containerID": ended, "startedAt": at(19), "finishedAt": at(20)}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let none = json!({});
        for (what, pod, seconds) in [
            ("the one before is shown", pod("c://new", ("c://old", 1), none.clone()), Some(10)),
            (
                "one ran for a second between: since the patch",
                pod("c://new", ("c://between", 2), none.clone()),
                Some(21),
            ),
            ("how long others ran is not known", pod("c://new", ("c://between", 3), none.clone()), None),
            ("nor how many there were", pod("c://new", ("c://between", 2), json!({"restarts": null})), None),
            ("down before the way back", pod("c://new", ("c://old", 1), json!({"downSince": at(2)})), Some(28)),
            ("it never had to leave", pod("c://old", ("c://x", 0), none), Some(0)),
            ("none was there before", pod("c://new", ("c://x", 1), json!({"containerID": null})), None),
        ] {
            assert_eq!(down_seconds(&pod, &"side".into()), seconds, "{what}");
        }
    }
}
