//! A container that the kubelet does not start again.

use super::*;
use crate::k8s::events::{Event, PodEvents};
use crate::k8s::failure::ENDED_SECONDS;
use crate::value::kubelet_version::KubeletVersion;

/// A pod whose container has ended and has a policy of its own.
fn ended_pod(id: &str, policy: &str) -> Pod {
    let ended = Terminated {
        exit_code: if id == "containerd://old" { 0 } else { 3 },
        reason: if id == "containerd://old" { "Completed".into() } else { "Error".into() },
        container_id: Some(id.into()),
        ..Terminated::default()
    };
    let mut status = running(id, "sha256:a");
    status.ready = false;
    status.state = ContainerState { terminated: Some(ended), ..ContainerState::default() };
    change(with_status(patched_pod(), status), |pod| {
        pod.spec.containers.iter_mut().for_each(|container| container.restart_policy = Some(policy.into()));
    })
}

#[test]
fn a_container_that_is_not_started_again_fails_at_once_and_with_the_kubelets_reason() {
    let (old, new) = ("containerd://old", "containerd://new");
    let events = |failed: bool| {
        let event = |message: &str| {
            let path = "spec.containers{side}";
            Event::of(&serde_json::json!({"involvedObject": {"uid": "uid", "fieldPath": path}, "type": "Warning",
                "reason": "Failed", "message": message, "lastTimestamp": "2026-01-01T00:00:09Z"}))
        };
        let said = [event("Failed to pull image \"side:v2\": not found"), event("Error: ErrImagePull")];
        PodEvents::of(said.iter().filter(|_| failed))
    };
    let later = NOW + Duration::from_secs(ENDED_SECONDS);
    for (what, (id, policy), minor, read, expected) in [
        ("the pull failed", (old, "Never"), None, Some(true), ("failing", Some("ErrImagePull"), None)),
        ("its events say nothing", (old, "Never"), None, Some(false), ("unverified", None, None)),
        ("they were not read yet", (old, "Never"), None, None, ("unverified", None, None)),
        ("the new one crashed", (new, "Never"), Some(36), None, ("failing", Some("Error"), Some(3))),
        ("by its exit code", (old, "OnFailure"), Some(36), Some(true), ("failing", Some("ErrImagePull"), None)),
        ("started again by its exit code", (new, "OnFailure"), Some(36), None, ("restarting", None, None)),
        ("started again", (old, "Always"), Some(36), Some(true), ("restarting", None, None)),
        ("the kubelet does not know the field", (old, "Never"), Some(33), Some(true), ("restarting", None, None)),
        ("a gate decides", (old, "Never"), Some(34), Some(true), ("restarting", None, None)),
    ] {
        let mut goal = goal();
        Arc::make_mut(&mut goal.pods[0]).kubelet = minor.map(|minor| KubeletVersion::new(1, minor));
        let mut observed = Observed::default();
        observed.observe(Observation::Relisted(vec![ended_pod(id, policy)]));
        if let Some(failed) = read {
            observed.observe(Observation::Events(key(), events(failed)));
        }
        let mut run = PodRun::default();
        run.clocks.events_at = Some(NOW + Duration::from_secs(5));
        let mut judged = |now| phase_in(&goal, &goal.pods[0], &observed, &mut run, now).phase;
        let found = judged(NOW);
        let failure = if let UpdatePhase::Failing(failure) = &found { Some(failure.clone()) } else { None };
        let (reason, code) = failure.as_ref().map_or((None, None), |it| (Some(it.reason.as_str()), it.exit_code));
        assert_eq!((word(&found), reason, code), expected, "{what}");
        assert_eq!(failure.as_ref().is_some_and(|failure| failure.stays_down), failure.is_some(), "{what}");
        let (lasts, stays_down) = match judged(later) {
            UpdatePhase::Failing(failure) => (true, failure.stays_down),
            _ => (false, false),
        };
        assert_eq!(lasts, expected.0 != "restarting" || minor == Some(34), "{what}: it lasts");
        assert_eq!(stays_down, expected.0 != "restarting", "{what}: it is known to stay down");
    }
}

/// On the way back its kubelet does not even try: there is nothing to wait for.
#[test]
fn a_container_that_was_down_already_is_not_waited_for() {
    let mut pod = ended_pod("containerd://old", "Never");
    let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
    for ended in pod.status.container_statuses.iter_mut().filter_map(|status| status.state.terminated.as_mut()) {
        ended.finished_at = Some(at(5));
    }
    pod.image_set.insert("side".into(), ImageSet { manager: "kubectl-inplace".into(), time: at(30) });
    let UpdatePhase::Failing(failure) = judged(Some(pod), &mut PodRun::default(), NOW).phase else {
        panic!("it fails")
    };
    assert_eq!(failure.reason, "NotStartedAgain");
    assert!(failure.message.contains("restartPolicy Never"), "{}", failure.message);
}
