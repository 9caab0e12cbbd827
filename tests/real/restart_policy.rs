//! Containers with a `restartPolicy` of their own (KEP-5307): what the kubelet starts again, and what is said where it does not.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::apply::printed;
use crate::failure::names;
use crate::support::{
    Namespace, Output, container_status, image, images, is_ready, name, registry, restarted, samples,
};

/// Who has to wait for the timeout of a pod waits for five minutes.
const AT_ONCE: Duration = Duration::from_secs(150);

fn down(pods: &[Value]) -> &Value {
    let is_down = |pod: &&Value| container_status(pod, "app")["state"]["terminated"].is_object();
    pods.iter().find(is_down).unwrap_or_else(|| panic!("no container has ended: {pods:#?}"))
}

fn set_image(namespace: &Namespace, pod: &str, tag: &str) {
    let image = format!("app={}/app:{tag}", registry());
    namespace.kubectl(&["set", "image", &format!("pod/{pod}"), &image]);
}

/// A container whose new image fails, and that is not started again by another image: what each command says of it, and that
/// another pod alone helps.
fn stays_down(name_of_namespace: &str, workload: &str, manifest: &str, count: usize) {
    let namespace = Namespace::new(name_of_namespace);
    namespace.apply(&samples::with_app_fields(manifest, "restartPolicy: Never"));
    let selector = "app=web";
    let before = namespace.wait_ready(selector, count);

    let began = Instant::now();
    let failed = namespace.inplace(&["apply", workload, "app=:nope", "--pre-pull=never", "--yes"]);
    assert!(began.elapsed() < AT_ONCE, "{failed:#?}");
    assert_eq!(failed.code, 4, "{failed:#?}");
    assert!(failed.stderr.contains("(FailedStartNotRetried)"), "{failed:#?}");
    let after = namespace.pods(selector);
    let hit = name(down(&after)).to_owned();
    // How long the kubelet shows a pull that failed before the container counts as ended is chance; its event stays.
    let is_named = ["ErrImagePull", "NotStartedAgain"].iter().any(|reason| names(&failed.stdout, &hit, "app", reason));
    assert!(is_named && failed.stdout.contains("ErrImagePull"), "{failed:#?}");
    assert!(restarted(&before, &after).is_empty(), "nothing but the one has stopped: {after:#?}");

    for (arguments, code, says) in [
        // The same image, and another one.
        (&["resume", workload, "--yes", "--pre-pull=never"][..], 4, "ErrImagePull"),
        (&["apply", workload, "app=:v2", "--yes"], 3, "RestartPolicyNotAlways"),
        (&["abort", workload, "--yes"], 4, "stays down until replaced"),
        (&["status", workload], 0, "NotStartedAgain"),
    ] {
        let began = Instant::now();
        let output = namespace.inplace(arguments);
        assert!(began.elapsed() < AT_ONCE, "{arguments:?}: {output:#?}");
        assert_eq!(output.code, code, "{arguments:?}: {output:#?}");
        assert!(output.stdout.contains(says), "{arguments:?}: {output:#?}");
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains(&format!("kubectl delete pod {hit}")), "{arguments:?}: {output:#?}");
    }
    // The pod asks for the image from before, and the kubelet does not care.
    let back = namespace.pods(selector);
    assert_eq!(images(&back, "app"), vec!["app:v1"; count]);
    assert_eq!(name(down(&back)), hit);

    let replace = namespace.inplace(&["status", workload]);
    let replaced = namespace.type_line(replacement(&replace));
    assert_eq!(replaced.code, 0, "{replaced:#?}");
    let restored = namespace.wait_pods(selector, |pods| {
        pods.len() == count && pods.iter().all(is_ready) && pods.iter().all(|pod| image(pod, "app") == "app:v1")
    });
    assert_eq!(restored.len(), count, "{restored:#?}");
    let updated = namespace.inplace(&["apply", workload, "app=:v2", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(updated.code, 0, "a good image is no trouble: {updated:#?}");
}

/// The command that `status` prints.
fn replacement(status: &Output) -> &str {
    let line = status.stdout.lines().find_map(|line| line.trim().strip_prefix("Replace what is not started again:"));
    line.unwrap_or_else(|| panic!("no way out: {status:#?}")).trim()
}

#[test]
fn what_is_never_started_again_in_a_deployment_stays_down_until_its_pod_is_replaced() {
    stays_down("restart-policy-deployment", "deploy/web", &samples::deployment("web", 2), 2);
}

#[test]
fn what_is_never_started_again_in_a_stateful_set_stays_down_until_its_pod_is_replaced() {
    stays_down("restart-policy-statefulset", "sts/web", &samples::stateful_set("web", 2), 2);
}

#[test]
fn what_is_never_started_again_in_a_daemon_set_stays_down_until_its_pod_is_replaced() {
    stays_down("restart-policy-daemonset", "ds/web", &samples::daemon_set("web"), 1);
}

#[test]
fn a_crash_of_what_is_never_started_again_fails_at_once() {
    let namespace = Namespace::new("restart-policy-crash");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 1), "restartPolicy: Never"));
    namespace.wait_ready("app=web", 1);
    let began = Instant::now();
    let failed = namespace.inplace(&["apply", "deploy/web", "app=:crash", "--yes", "--on-failure=undo"]);
    assert!(began.elapsed() < AT_ONCE, "{failed:#?}");
    assert_eq!(failed.code, 4, "{failed:#?}");
    let pods = namespace.pods("app=web");
    assert!(names(&failed.stdout, name(down(&pods)), "app", "Error (exit code 3)"), "{failed:#?}");
    let all = format!("{}{}", failed.stdout, failed.stderr);
    let command = format!("Replace what is not started again: kubectl delete pod {}", name(down(&pods)));
    assert_eq!(all.matches(&command).count(), 1, "said once, at the end: {failed:#?}");
}

#[test]
fn what_is_always_started_again_comes_back_in_a_pod_that_is_not() {
    let namespace = Namespace::new("restart-policy-always");
    let manifest = samples::with_app_fields(&samples::pod("alone"), "restartPolicy: Always");
    namespace.apply(&manifest.replacen("spec:\n", "spec:\n  restartPolicy: Never\n", 1));
    let before = namespace.wait_ready("app=alone", 1);
    let failed = namespace.inplace(&["apply", "pod/alone", "app=:nope", "--pre-pull=never", "--yes"]);
    assert_eq!(failed.code, 4, "{failed:#?}");
    assert!(names(&failed.stdout, "alone", "app", "ImagePull"), "{failed:#?}");
    let back = namespace.type_line(&format!("{} --yes", printed(&failed, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    let after = namespace.wait_ready("app=alone", 1);
    assert_eq!(restarted(&before, &after), ["alone/app"]);
    // The other container goes by the pod's policy.
    let other = namespace.inplace(&["plan", "pod/alone", "side=:v2"]);
    assert_eq!(other.code, 0, "{other:#?}");
    assert!(other.stdout.contains("RestartPolicyNotAlways: restartPolicy is Never"), "{other:#?}");
}

/// What `ContainerShouldRestart` (pkg/api/v1/pod/util.go) makes of the exit code of the container before: those that end when asked
/// to end with 0.
#[test]
fn the_exit_code_of_the_container_before_decides_whether_a_failed_start_is_tried_again() {
    let namespace = Namespace::new("restart-policy-rules");
    let rule = |action: &str, code: u8| {
        format!(
            "restartPolicy: Never, restartPolicyRules: [{{action: {action}, exitCodes: {{operator: In, values: [{code}]}}}}]"
        )
    };
    let cases = [
        ("never", "restartPolicy: Never".to_owned()),
        ("on-failure", "restartPolicy: OnFailure".to_owned()),
        ("other-code", rule("Restart", 42)),
        ("its-code", rule("Restart", 0)),
        ("all", rule("RestartAllContainers", 0)),
    ];
    for (pod, fields) in &cases {
        namespace.apply(&samples::with_app_fields(&samples::pod(pod), fields));
    }
    for (pod, _) in &cases {
        namespace.wait_ready(&format!("app={pod}"), 1);
        set_image(&namespace, pod, "nope");
    }
    for (pod, _) in &cases {
        let selector = format!("app={pod}");
        let is_tried = matches!(*pod, "its-code" | "all");
        let shown = namespace.wait_pods(&selector, |pods| {
            let state = &container_status(&pods[0], "app")["state"];
            if is_tried { state["waiting"]["reason"] == "ImagePullBackOff" } else { state["terminated"].is_object() }
        });
        let side = container_status(&shown[0], "side")["restartCount"] != 0;
        assert_eq!(side, *pod == "all", "{pod}: the rule RestartAllContainers alone restarts the others");
        set_image(&namespace, pod, "v2");
    }
    for (pod, _) in &cases {
        let selector = format!("app={pod}");
        if matches!(*pod, "its-code" | "all") {
            namespace.wait_ready(&selector, 1);
        } else {
            let seen = |pods: &[Value]| pods[0]["status"]["observedGeneration"] == pods[0]["metadata"]["generation"];
            let shown = namespace.wait_pods(&selector, seen);
            assert!(container_status(&shown[0], "app")["state"]["terminated"].is_object(), "{pod}: {shown:#?}");
        }
    }
}
