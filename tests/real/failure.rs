//! Updates that fail: at once, with the reason, before the next pod, and with the way back.

use std::time::Duration;

use serde_json::Value;

use crate::apply::printed;
use crate::support::{Namespace, Output, container_status, image, images, name, poll, registry, restarted, samples};

/// Asserts the exit code, and that the report names pod and container, and below them the reason.
fn assert_named(output: &Output, code: i32, pod: &str, container: &str, reason: &str) {
    assert_eq!(output.code, code, "{output:#?}");
    assert!(
        names(&output.stdout, pod, container, reason),
        "nothing names {pod}, {container} and {reason}: {output:#?}"
    );
}

/// Whether two lines of a report are of this pod and container, and give this reason.
pub(crate) fn names(text: &str, pod: &str, container: &str, reason: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|two| {
        let [of, why] = two else { return false };
        [pod, container].iter().all(|word| of.contains(word)) && why.contains(reason)
    })
}

/// Returns the pod that asks for the image; there must be exactly one.
fn only_one_with<'a>(pods: &'a [Value], container: &str, wanted: &str) -> &'a Value {
    let hit: Vec<&Value> = pods.iter().filter(|pod| image(pod, container) == wanted).collect();
    match hit.as_slice() {
        [one] => one,
        _ => panic!("not exactly one pod asks for {wanted}: {:?}", images(pods, container)),
    }
}

#[test]
fn an_image_that_does_not_exist_fails_within_two_seconds_and_hits_one_pod() {
    let namespace = Namespace::new("failure-nope");
    namespace.apply(&samples::deployment("web", 3));
    let before = namespace.wait_ready("app=web", 3);
    let watch = namespace.watch("app=web");
    let output = namespace.inplace(&["apply", "deploy/web", "app=:nope", "--pre-pull=never", "--pods-only", "--yes"]);
    let reported = |pod: &Value| container_status(pod, "app")["state"]["waiting"]["reason"].clone();
    let first = watch.wait(|pod| reported(pod).as_str().is_some_and(|reason| reason.contains("ImagePull")));
    let late = output.ended.saturating_duration_since(first.at);
    assert!(late < Duration::from_secs(2), "{late:?} after the kubelet's first report: {output:#?}");

    let after = namespace.pods("app=web");
    let hit = only_one_with(&after, "app", "app:nope");
    // ErrImagePull, or ImagePullBackOff where the kubelet reported late.
    assert_named(&output, 4, name(hit), "app", "ImagePull");
    assert!(output.stdout.contains("2 not started"), "{output:#?}");
    assert!(restarted(&before, &after).iter().all(|changed| *changed == format!("{}/app", name(hit))));

    // The way back, typed as it was printed, from an image that never started.
    let back = namespace.type_line(&format!("{} --yes", printed(&output, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    let restored = namespace.wait_ready("app=web", 3);
    assert_eq!(images(&restored, "app"), ["app:v1"; 3]);
    assert_eq!(restarted(&before, &restored), [format!("{}/app", name(hit))]);
}

#[test]
fn an_image_that_must_not_be_pulled_fails_at_once() {
    let namespace = Namespace::new("failure-never");
    namespace.apply(&samples::with_app_fields(&samples::pod("alone"), "imagePullPolicy: Never"));
    namespace.wait_ready("app=alone", 1);
    let output = namespace.inplace(&["apply", "pod/alone", "app=:nope", "--pre-pull=never", "--yes"]);
    assert_named(&output, 4, "alone", "app", "ErrImageNeverPull");
}

/// Asserts that the image which lives a second is not called done, and that the run names the pod that it hit.
fn crash_is_found(namespace: &Namespace, workload: &str, count: usize) {
    let selector = "app=web";
    let before = namespace.wait_ready(selector, count);
    let output = namespace.inplace(&["apply", workload, "app=:crash", "--pods-only", "--yes"]);
    let after = namespace.pods(selector);
    let hit = only_one_with(&after, "app", "app:crash");
    // A busy kubelet goes on showing the end itself: then the reason is that of the end, after 20 s.
    let shown = ["CrashLoopBackOff", "Error (exit code 3)"].into_iter().find(|reason| output.stdout.contains(reason));
    assert_named(&output, 4, name(hit), "app", shown.unwrap_or("CrashLoopBackOff"));
    assert!(output.stdout.contains("exit code 3"), "{output:#?}");
    assert!(!output.stderr.contains("done after"), "{output:#?}");
    assert!(restarted(&before, &after).iter().all(|changed| *changed == format!("{}/app", name(hit))));
    for pod in &after {
        assert_eq!(container_status(pod, "side")["restartCount"], 0, "{pod:#}");
    }
    let back = namespace.type_line(&format!("{} --yes --min-ready-seconds 0", printed(&output, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    let restored = namespace.wait_ready(selector, count);
    assert_eq!(images(&restored, "app"), vec!["app:v1"; count]);
}

#[test]
fn an_image_that_crashes_after_a_second_is_never_done() {
    let namespace = Namespace::new("failure-crash");
    namespace.apply(&samples::pod("web"));
    crash_is_found(&namespace, "pod/web", 1);
}

#[test]
fn a_crash_stops_a_deployment_at_its_first_pod() {
    let namespace = Namespace::new("failure-crash-deployment");
    namespace.apply(&samples::deployment("web", 2));
    crash_is_found(&namespace, "deployment/web", 2);
}

#[test]
fn a_crash_in_a_pod_that_was_made_meanwhile_stops_the_rollout() {
    let namespace = Namespace::new("failure-made-anew");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    // A command takes its time before the first pod, so that the replacement pod is the first with the new image.
    let running = namespace.inplace_spawn(&[
        "apply",
        "deploy/web",
        "app=:crash",
        "--yes",
        "--order",
        "name",
        "--before-pod",
        "sleep 25",
    ]);
    let template = ["get", "deploy/web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"];
    poll(|| namespace.kubectl(&template).ends_with(":crash").then_some(())).expect("the template is set");
    let last = before.iter().map(name).max().expect("there are two");
    namespace.kubectl(&["delete", "pod", last, "--wait=false"]);
    let output = running.wait();
    assert_eq!(output.code, 4, "{output:#?}");
    let after = namespace.pods("app=web");
    let made = only_one_with(&after, "app", "app:crash");
    let reason = if output.stdout.contains("CrashLoopBackOff") { "CrashLoopBackOff" } else { "Error" };
    assert_named(&output, 4, name(made), "app", reason);
    let back = namespace.type_line(&format!("{} --yes", printed(&output, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    assert_eq!(images(&namespace.wait_ready("app=web", 2), "app"), ["app:v1"; 2]);
}

#[test]
fn a_readiness_probe_that_never_passes_runs_into_the_deadline() {
    let namespace = Namespace::new("failure-unready");
    let probe = "readinessProbe: {httpGet: {port: 8080, path: /}, periodSeconds: 1}";
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 2), probe));
    let before = namespace.wait_ready("app=web", 2);
    // It runs, but does not answer HTTP.
    let image = format!("app={}/side:v2", registry());
    let output = namespace.inplace(&["apply", "deploy/web", &image, "--pods-only", "--yes", "--timeout", "8s"]);
    let after = namespace.pods("app=web");
    let hit = only_one_with(&after, "app", "side:v2");
    assert_named(&output, 5, name(hit), "app", "ContainersNotReady");
    assert!(container_status(hit, "app")["state"]["running"].is_object(), "{hit:#}");
    assert_eq!(restarted(&before, &after), [format!("{}/app", name(hit))]);
    assert!((8..30).contains(&output.elapsed.as_secs()), "{output:#?}");
    let back = namespace.type_line(&format!("{} --yes", printed(&output, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    assert_eq!(images(&namespace.wait_ready("app=web", 2), "app"), ["app:v1"; 2]);
}
