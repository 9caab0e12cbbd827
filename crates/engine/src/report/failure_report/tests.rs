use serde_json::{Value, json};

use super::*;
use crate::k8s::failure::Failure;
use crate::kinds::WorkloadKind;
use crate::report::ContainerEnd;
use crate::state::record::UPDATE_ANNOTATION;

/// A pod whose record says that `side` was `containerd://old` before.
fn pod(state: &Value, last_state: &Value) -> Pod {
    let record = json!({"id": "1", "manager": "m", "containers": {"side": {"from": "a:1", "to": "a:2", "containerID": "containerd://old"}}});
    Pod::from_object(&json!({
        "metadata": {"name": "web-0", "namespace": "d", "uid": "u", "annotations": {UPDATE_ANNOTATION: record.to_string()}},
        "spec": {"nodeName": "node-a", "containers": [{"name": "app", "image": "b:1"}, {"name": "side", "image": "a:2"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "unready"}],
            "containerStatuses": [
                {"name": "app", "ready": true, "containerID": "containerd://app"},
                {"name": "side", "ready": false, "restartCount": 2, "containerID": "containerd://new", "state": state, "lastState": last_state}]},
    }))
    .expect("it is a pod")
}

fn ended(id: &str, reason: &str) -> Value {
    json!({"terminated": {"exitCode": 3, "signal": 9, "reason": reason, "containerID": format!("containerd://{id}")}})
}

fn end(name: &str, phase: UpdatePhase) -> PodEnd {
    let container = |name: &str| ContainerEnd {
        container: name.into(),
        from: None,
        to: None,
        changed: true,
        twice: false,
        by_resize: false,
        again: None,
        down_seconds: None,
        times: Default::default(),
    };
    let pod = PodKey { namespace: "d".into(), name: name.into(), uid: "u".into() };
    PodEnd { patched: true, containers: vec![container("app"), container("side")], ..PodEnd::new(pod, phase) }
}

fn crash() -> UpdatePhase {
    UpdatePhase::Failing(Failure {
        container: Some("side".into()),
        reason: "CrashLoopBackOff".into(),
        message: "password=x".into(),
        exit_code: Some(3),
        stays_down: false,
    })
}

fn outcome(result: EndResult, pods: Vec<PodEnd>) -> Outcome {
    let workload = WorkloadRef { kind: WorkloadKind::Deployment, namespace: "d".into(), name: "web".into() };
    Outcome::new(workload, result, pods)
}

#[test]
fn the_log_is_that_of_the_instance_that_failed_and_never_of_the_image_before() {
    let (running, waiting) = (json!({"running": {}}), json!({"waiting": {"reason": "CrashLoopBackOff"}}));
    for (state, last, expected) in [
        (&waiting, ended("new", "Error"), Some(Instance::Previous)),
        (&waiting, ended("old", "Error"), None),
        (&waiting, ended("new", "StartError"), None),
        (&ended("new", "Error"), ended("old", "Error"), Some(Instance::Current)),
        (&ended("old", "Error"), json!({}), None),
        (&running, ended("old", "Completed"), Some(Instance::Current)),
        (&running, ended("newer", "Error"), Some(Instance::Previous)),
        (&json!({}), json!({}), None),
    ] {
        assert_eq!(wanted_log(&pod(state, &last), &"side".into()), expected, "{state} {last}");
    }
    assert_eq!(wanted_log(&pod(&running, &json!({})), &"nope".into()), None);
}

#[test]
fn pods_that_failed_are_reported_and_late_ones_after_a_deadline() {
    let pods =
        || vec![end("a", UpdatePhase::Done), end("b", crash()), end("c", UpdatePhase::Starting { containers: vec![] })];
    for (result, expected) in
        [(EndResult::Failed, 1), (EndResult::TimedOut, 2), (EndResult::Complete, 0), (EndResult::Interrupted, 0)]
    {
        assert_eq!(failing(&outcome(result, pods())).0.len(), expected, "{result:?}");
    }
    let conflict = || end("a", UpdatePhase::Conflict { container: "side".into(), image: "a:3".into() });
    for result in [EndResult::Failed, EndResult::TimedOut] {
        assert!(failing(&outcome(result, vec![conflict()])).0.is_empty(), "another client set its image: {result:?}");
    }
    let many = outcome(EndResult::Failed, vec![end("a", crash()); 7]);
    assert_eq!((failing(&many).0.len(), failing(&many).1), (MOST_PODS, 2));
}

#[test]
fn what_is_known_is_put_together_without_credentials() {
    let log: String = (0..30).map(|line| format!("line {line} token=abc\n")).collect();
    let event = |index: u8| {
        let message = format!("pull {index} from https://u:p@r/ failed");
        Event::of(&json!({"message": message, "lastTimestamp": format!("2026-01-01T00:00:0{index}Z")}))
    };
    let findings = Findings {
        pod: Some(pod(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), &ended("new", "Error"))),
        log: Some((Instance::Previous, log)),
        events: (0..9).map(event).collect(),
        not_read: vec![],
    };
    let time_line = vec![Moment { at: Duration::from_secs(1), phase: crash() }; 40];
    let report = FailedPod::of(&end("web-0", crash()), findings, time_line);
    assert_eq!((report.exit_code, report.signal, report.restarts), (Some(3), Some(9), Some(2)));
    assert_eq!((report.image.as_deref(), report.node.as_deref()), (Some("a:2"), Some("node-a")));
    let lines = report.log.map(|log| log.lines).unwrap_or_default();
    assert_eq!((lines.len(), lines.first().map(String::as_str)), (MOST_LINES, Some("line 10 token=***")));
    assert_eq!(report.events.len(), MOST_EVENTS);
    assert_eq!(report.events[0].message, "pull 1 from https://u:***@r/ failed");
    assert_eq!((report.message.as_str(), report.time_line.len()), ("password=***", MOST_MOMENTS));
    assert!(matches!(&report.time_line[0].phase, UpdatePhase::Failing(failure) if failure.message == "password=***"));
}

#[test]
fn a_late_pod_says_what_it_lacks() {
    let findings = |pod: Option<Pod>| Findings { pod, ..Findings::default() };
    let running = pod(&json!({"running": {}}), &ended("old", "Completed"));
    let report =
        FailedPod::of(&end("web-0", UpdatePhase::Starting { containers: vec![] }), findings(Some(running)), vec![]);
    assert_eq!(report.container, Some("side".into()), "the one that is not ready");
    assert_eq!((report.reason.as_str(), report.message.as_str()), ("ContainersNotReady", "unready"));
    assert_eq!((report.exit_code, report.signal), (None, None), "the container before ended, not this one");
    for (probe, started, expected) in [
        ("readinessProbe", true, "side runs, and its readiness probe does not pass"),
        ("startupProbe", false, "side runs, and its startup probe does not pass"),
        ("startupProbe", true, "unready"),
    ] {
        let mut probed = pod(&json!({"running": {}}), &json!({}));
        let container = json!({"name": "side", "image": "a:2", probe: {}});
        probed.spec.containers[1] = serde_json::from_value(container).expect("it is a container");
        probed.status.container_statuses[1].started = Some(started);
        let late = |phase| FailedPod::of(&end("web-0", phase), findings(Some(probed.clone())), vec![]);
        assert_eq!(late(UpdatePhase::Starting { containers: vec![] }).message, expected, "{probe}");
        let failed = Failure {
            container: None,
            reason: LATE.into(),
            message: "late".into(),
            exit_code: None,
            stays_down: false,
        };
        let message = if expected == "unready" { "late".to_owned() } else { format!("late: {expected}") };
        assert_eq!(late(UpdatePhase::Failing(Failure { container: Some("side".into()), ..failed })).message, message);
    }
    let waiting = pod(&json!({"waiting": {"reason": "ErrImagePull", "message": "m"}}), &json!({}));
    let phase = UpdatePhase::Restarting { containers: Vec::new(), waiting: None, until: None };
    assert_eq!(FailedPod::of(&end("web-0", phase), findings(Some(waiting)), vec![]).reason, "ErrImagePull");
    // The one that is being stopped is shown as ready until then.
    let stopping =
        end("web-0", UpdatePhase::Restarting { containers: vec!["side".into()], waiting: None, until: None });
    let mut both = pod(&json!({"running": {}}), &json!({}));
    both.status.container_statuses.iter_mut().for_each(|status| status.ready = true);
    assert_eq!(container_of(&stopping, &both), Some("side".into()));
    let mut other = both.status.container_statuses[0].clone();
    (other.name, other.ready) = ("app".into(), false);
    both.status.container_statuses.push(other);
    assert_eq!(container_of(&stopping, &both), Some("side".into()));
    let unready = end("web-0", UpdatePhase::Starting { containers: vec![] });
    assert_eq!(container_of(&unready, &both), Some("app".into()), "the one that keeps the pod from being ready");
    let unknown = FailedPod::of(&end("web-0", UpdatePhase::Starting { containers: vec![] }), findings(None), vec![]);
    assert_eq!((unknown.reason.as_str(), unknown.container), ("TimedOut", None));
}

#[test]
fn a_pod_that_was_abandoned_for_its_time_says_what_it_lacked() {
    let message = "it was not done within 20 s".to_owned();
    let late = UpdatePhase::Failing(Failure {
        container: None,
        reason: LATE.into(),
        message,
        exit_code: None,
        stays_down: false,
    });
    let report = |end: &PodEnd, state: &Value| {
        let findings = Findings { pod: Some(pod(state, &ended("newer", "Error"))), ..Findings::default() };
        FailedPod::of(end, findings, vec![])
    };
    let crashed = report(&end("web-0", late.clone()), &json!({"running": {}}));
    assert_eq!((crashed.reason.as_str(), crashed.container, crashed.exit_code), (LATE, Some("side".into()), Some(3)));
    let held = report(
        &end("web-0", late.clone()),
        &json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}),
    );
    assert_eq!(
        (held.reason.as_str(), held.message.as_str()),
        ("CrashLoopBackOff", "it was not done within 20 s: back-off 10s")
    );
    // Of a pod to which nothing was done no container is to blame.
    let untouched = PodEnd { patched: false, ..end("web-0", late) };
    assert_eq!(report(&untouched, &json!({"running": {}})).container, None);
}
