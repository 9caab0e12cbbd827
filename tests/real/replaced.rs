//! Pods that are all deleted in the middle of a rollout: what their controller creates in their place decides how it ends.

use serde_json::Value;

use crate::support::{Namespace, container_status, image as image_of, samples};

/// A run whose pods are deleted once the first one is patched; returns its exit code, and the pods at its end.
fn deleted_in_the_middle(namespace: &Namespace, target: &str, change: &str, image: &str) -> (i32, Vec<Value>) {
    let before = namespace.wait_ready("app=w", 2);
    let mut running = namespace.inplace_spawn(&["apply", target, change, "--yes", "--timeout", "90s"]);
    running.wait_for("patch sent");
    namespace.kubectl(&["delete", "pods", "-l", "app=w", "--wait=false"]);
    let output = running.wait();
    let after = namespace.pods("app=w");
    let uid = |pod: &Value| pod["metadata"]["uid"].clone();
    assert!(after.iter().all(|pod| before.iter().all(|old| uid(old) != uid(pod))), "{output:#?}");
    assert!(
        after.iter().all(|pod| image_of(pod, change.split('=').next().unwrap_or_default()) == image),
        "{output:#?}"
    );
    (output.code, after)
}

#[test]
fn an_image_that_crashes_in_every_new_pod_is_not_complete() {
    let namespace = Namespace::new("replaced-crash");
    namespace.apply(&samples::deployment("w", 2));
    let (code, _) = deleted_in_the_middle(&namespace, "deploy/w", "app=:crash", "app:crash");
    assert_eq!(code, 4);
}

#[test]
fn new_pods_are_ready_when_a_rollout_is_complete() {
    for (kind, target, manifest) in [
        ("deployment", "deploy/w", samples::deployment("w", 2)),
        ("statefulset", "sts/w", samples::stateful_set("w", 2)),
    ] {
        let namespace = Namespace::new(&format!("replaced-{kind}"));
        namespace.apply(&manifest);
        let (code, after) = deleted_in_the_middle(&namespace, target, "side=:v2", "side:v2");
        assert_eq!((code, after.len()), (0, 2), "{kind}");
        assert!(after.iter().all(|pod| container_status(pod, "side")["ready"] == true), "{kind}: {after:#?}");
    }
}
