//! What Kubernetes itself does when a pod's image changes: everything else rests on it.

use crate::support::{Api, Namespace, container_status, registry, restarted, samples};

/// Changes the image of `side` in the first of the pods, and asserts that it alone restarts, in the same pods.
fn only_the_changed_container_restarts(namespace: &Namespace, workload: &str) {
    let selector = format!("app={workload}");
    let before = namespace.wait_ready(&selector, 2);
    let target = before.first().and_then(|pod| pod["metadata"]["name"].as_str()).expect("a pod has a name");
    let image = format!("{}/side:v2", registry());
    namespace.kubectl(&["set", "image", &format!("pod/{target}"), &format!("side={image}")]);

    // A status that still shows the old container may already be Ready: the new container's ID is the evidence.
    let after = namespace
        .wait_pods(&selector, |pods| pods.iter().any(|pod| container_status(pod, "side")["restartCount"] == 1));
    assert_eq!(restarted(&before, &after), [format!("{target}/side")]);
    let changed = after.iter().find(|pod| pod["metadata"]["name"] == target).expect("the pods are the same ones");
    assert_eq!(container_status(changed, "side")["image"], image);
    assert_eq!(container_status(changed, "app")["restartCount"], 0);
}

#[test]
fn an_image_change_restarts_that_container_alone() {
    let namespace = Namespace::new("facts-container");
    namespace.apply(&samples::deployment("web", 2));
    only_the_changed_container_restarts(&namespace, "web");
}

#[test]
fn an_image_change_restarts_that_sidecar_alone() {
    let namespace = Namespace::new("facts-sidecar");
    namespace.apply(&samples::deployment_with_sidecar("mesh", 2));
    only_the_changed_container_restarts(&namespace, "mesh");
}

#[test]
fn the_test_of_a_json_patch_compares_strings_as_go_spells_them() {
    let namespace = Namespace::new("facts-spelling");
    namespace.kubectl(&["create", "configmap", "markup", "--from-literal=text=a<b>&c"]);
    let api = Api::open();
    let path = format!("/api/v1/namespaces/{}/configmaps/markup?dryRun=All", namespace.name());
    let status = |value: &str| {
        let body = format!(r#"[{{"op": "test", "path": "/data/text", "value": "{value}"}}]"#);
        api.send("PATCH", &path, "application/json-patch+json", &body).0
    };
    assert_eq!(status(r"a\u003cb\u003e\u0026c"), 200);
    // If this is ever accepted, the spelling is no longer needed.
    assert_eq!(status("a<b>&c"), 422);
}
