//! A container that ends and is started again. Of a crash loop one read shows the end, the wait for the next start, or a moment
//! in which it runs and is ready.

use super::evidence::{Baseline, last_ended};
use super::record::UpdateRecord;
use crate::k8s::pod::{ContainerStatus, Pod, Terminated};
use crate::value::count::count;
use crate::value::duration::seconds_between;

/// The kubelet forgets the ends of a container that has run for this long (`MaxContainerBackOff`, and twice that):
/// until then the next one is of the same crash loop.
const CRASH_LOOP_SECONDS: u64 = 600;

/// A container that has ended since it was last changed, and runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningAgain {
    /// How often it has been started again since the in-place update that the pod notes; `None` where that is not counted.
    pub times: Option<u64>,
    /// For how many seconds it has run, by the server's clock.
    pub up_seconds: u64,
}

/// Reads how a container runs again that has ended since its image was set, or since it was resized.
pub fn again(pod: &Pod, status: &ContainerStatus, now: Option<&str>) -> Option<RunningAgain> {
    let up = seconds_between(status.started_at()?, now?)?;
    // The clocks of a node and of the server differ by a little.
    let up_seconds = u64::try_from(up).unwrap_or(0);
    let (baseline, _) = ended_since(pod, status)?;
    (up_seconds < CRASH_LOOP_SECONDS).then_some(RunningAgain { times: baseline.restarts_since(status), up_seconds })
}

/// Says how a container ended last that has ended by itself and is started again, the same in whichever moment of a crash loop
/// it is met.
pub fn ends(pod: &Pod, status: &ContainerStatus, now: Option<&str>) -> Option<String> {
    let waiting = status.state.waiting.as_ref();
    let is_met = match status.state.running {
        Some(_) => again(pod, status, now).is_some(),
        None => waiting.is_none_or(|waiting| waiting.reason == "CrashLoopBackOff"),
    };
    let (baseline, ended) = ended_since(pod, status).filter(|_| is_met)?;
    if ended.was_stopped() && waiting.is_none() && may_have_been_stopped(&baseline, status, ended) {
        return None;
    }
    let seconds = seconds_between(ended.finished_at.as_deref()?, now?)?;
    pod.stays_down(&status.name, None).is_none().then(|| {
        let restarts = baseline.restarts_since(status).or(u64::try_from(status.restart_count).ok()).unwrap_or(0);
        let restarts = count(usize::try_from(restarts).unwrap_or(usize::MAX), "restart");
        format!("{restarts}, the last end {} s ago with exit code {}", seconds.max(0), ended.exit_code)
    })
}

/// Whether an update or a resize by another client may have stopped the container: each of them stops it once, and an update
/// only one that had started before.
fn may_have_been_stopped(baseline: &Baseline, status: &ContainerStatus, ended: &Terminated) -> bool {
    let ends = |restarts: u64| restarts + u64::from(status.state.running.is_none());
    let all = ends(u64::try_from(status.restart_count).unwrap_or(0));
    match baseline {
        Baseline::Recorded(_) => ends(baseline.restarts_since(status).unwrap_or(0)) < 2,
        Baseline::Created => all < 2,
        Baseline::Set(set) => {
            let is_of_it = ended.started_at.as_deref().is_some_and(|started| started > set.time.as_str());
            !is_of_it || all < 3
        }
        Baseline::Unknown => true,
    }
}

/// The end that came last, if it came after the container was last changed.
fn ended_since<'s>(pod: &Pod, status: &'s ContainerStatus) -> Option<(Baseline, &'s Terminated)> {
    let record = UpdateRecord::of(pod);
    let resized = record.as_ref().and_then(|record| record.restart_baseline(pod, &status.name));
    let baseline = resized.map_or_else(|| Baseline::of(pod, &status.name), Baseline::Recorded);
    let ended = last_ended(status)?;
    let is_of_it = baseline.ended_after(ended) == Some(true) && !is_of_image_before(pod, status, &baseline, ended);
    is_of_it.then_some((baseline, ended))
}

/// Whether the container that ended may be one of the image before, made between the update's note and the kubelet's sight of
/// the image: then it is the only one since, and had started before the image was set, or was about to be started again.
fn is_of_image_before(pod: &Pod, status: &ContainerStatus, baseline: &Baseline, ended: &Terminated) -> bool {
    let Baseline::Recorded(record) = baseline else { return false };
    let set = UpdateRecord::set_at(pod, &status.name);
    let was_before = || ended.started_at.as_deref().zip(set.as_deref()).is_some_and(|(started, set)| started < set);
    baseline.restarts_since(status) == Some(1) && (record.waiting.is_some() || was_before())
}

/// Where a container is in a crash loop, as it was noted at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CrashLoop {
    /// In none that is known.
    #[default]
    No,
    /// It has ended, and is started again.
    Down,
    /// It has crashed, and runs again since then (RFC 3339).
    Up(String),
}

impl CrashLoop {
    pub fn of(status: &ContainerStatus) -> Self {
        let has_crashed = status.last_state.terminated.as_ref().is_some_and(|ended| !ended.was_stopped());
        match (&status.state.running, has_crashed) {
            (None, _) if last_ended(status).is_some() => Self::Down,
            (Some(running), true) => running.started_at.clone().map_or(Self::No, Self::Up),
            (Some(_) | None, _) => Self::No,
        }
    }

    /// Returns whether the container that has started since belongs to the loop: the one that was noted was down, or ended before
    /// the kubelet would have forgotten the crash before it.
    pub fn goes_on(&self, status: &ContainerStatus) -> bool {
        match self {
            Self::No => false,
            Self::Down => true,
            Self::Up(since) => {
                let ended = last_ended(status).and_then(|ended| ended.finished_at.as_deref());
                let up = ended.and_then(|ended| seconds_between(since, ended));
                up.is_some_and(|up| u64::try_from(up).unwrap_or(0) < CRASH_LOOP_SECONDS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::k8s::pod::ImageSet;

    fn at(second: u32) -> String {
        format!("2026-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
    }

    fn pod(state: &Value, last: &Value, restarts: i64) -> Pod {
        let set = json!([{"manager": "kube-controller-manager", "operation": "Update", "time": at(0),
            "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}]);
        let object = json!({"metadata": {"name": "web-0", "uid": "u", "creationTimestamp": at(0), "managedFields": set},
            "spec": {"restartPolicy": "Always", "containers": [{"name": "side", "image": "a:1"}]},
            "status": {"phase": "Running", "containerStatuses": [{"name": "side", "image": "a:1", "imageID": "i",
                "containerID": "c://now", "ready": true, "restartCount": restarts, "state": state, "lastState": last}]}});
        Pod::from_object(&object).unwrap()
    }

    fn terminated(code: i64, finished: u32) -> Value {
        json!({"terminated": {"exitCode": code, "reason": "Error", "containerID": "c://then",
            "startedAt": at(finished - 3), "finishedAt": at(finished)}})
    }

    fn running(since: u32) -> Value {
        json!({"running": {"startedAt": at(since)}})
    }

    #[test]
    fn a_crash_loop_is_the_same_in_whichever_moment_it_is_met() {
        let waits = |reason: &str| json!({"waiting": {"reason": reason, "message": ""}});
        let said = Some("3 restarts, the last end 14 s ago with exit code 3".to_owned());
        for (what, state, last, expected) in [
            ("it waits", waits("CrashLoopBackOff"), terminated(3, 100), said.clone()),
            ("its end is shown", terminated(3, 100), terminated(3, 50), said.clone()),
            ("it runs for the moment", running(112), terminated(3, 100), said),
            ("it cannot be pulled", waits("ImagePullBackOff"), terminated(3, 100), None),
            ("it has never ended", running(10), json!({}), None),
        ] {
            let pod = pod(&state, &last, 3);
            let found = ends(&pod, &pod.status.container_statuses[0], Some(&at(114)));
            assert_eq!(found, expected, "{what}");
        }
        // A resize by another client stops it once, and another image one that had started before.
        for (set, state, restarts, expected) in [
            (None, running(112), 1, false),
            (None, running(112), 2, true),
            (None, terminated(0, 100), 1, true),
            (Some(98), running(112), 3, false),
            (Some(50), running(112), 2, false),
            (Some(50), running(112), 3, true),
            (Some(50), terminated(137, 100), 2, true),
            (Some(50), waits("CrashLoopBackOff"), 2, true),
        ] {
            let mut pod = pod(&state, &terminated(0, 100), restarts);
            if let Some(set) = set {
                let by = || ImageSet { manager: "kubectl-set".to_owned(), time: at(set) };
                pod.image_set.values_mut().for_each(|known| *known = by());
            }
            let found = ends(&pod, &pod.status.container_statuses[0], Some(&at(114)));
            assert_eq!(found.is_some(), expected, "{set:?} {state} {restarts}");
        }
        // After an update that the pod notes nobody else has stopped it.
        let record = json!({"id": "1", "by": "inplace-cli", "manager": "inplace-cli",
            "containers": {"side": {"from": "a:0", "to": "a:1", "containerID": "c://old", "restarts": 0}}});
        for state in [running(112), waits("CrashLoopBackOff")] {
            let mut pod = pod(&state, &terminated(137, 100), 3);
            pod.annotations.insert("kubectl-inplace.io/update".to_owned(), record.to_string());
            pod.image_set.values_mut().for_each(|set| set.manager = "inplace-cli".to_owned());
            let found = ends(&pod, &pod.status.container_statuses[0], Some(&at(114)));
            assert!(UpdateRecord::of(&pod).is_some() && found.is_some(), "{state}");
        }
        let long_ago = pod(&running(100), &terminated(3, 90), 3);
        assert_eq!(
            ends(&long_ago, &long_ago.status.container_statuses[0], Some(&at(800))),
            None,
            "it has stayed since"
        );
    }

    #[test]
    fn a_crash_is_of_an_older_loop_only_if_the_one_before_is_not_forgotten() {
        let status = |state: Value, last: Value| pod(&state, &last, 3).status.container_statuses[0].clone();
        for (what, before, after, expected) in [
            ("it was down", status(terminated(3, 100), json!({})), status(running(130), terminated(3, 100)), true),
            (
                "it ran between two ends",
                status(running(100), terminated(3, 90)),
                status(running(130), terminated(3, 120)),
                true,
            ),
            ("it had stayed", status(running(100), terminated(3, 90)), status(running(900), terminated(3, 890)), false),
            ("it had never crashed", status(running(100), json!({})), status(running(130), terminated(3, 120)), false),
            (
                "it was stopped before",
                status(running(100), terminated(0, 90)),
                status(running(130), terminated(3, 120)),
                false,
            ),
        ] {
            assert_eq!(CrashLoop::of(&before).goes_on(&after), expected, "{what}");
        }
    }
}
