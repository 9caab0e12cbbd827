//! Sample workloads as YAML: containers `app` and `side`, labelled `app: NAME`, on the real node.

use super::registry;

const METADATA: &str = "metadata:\n  labels: {app: NAME}\n";

/// A pod's spec, as YAML lines without indentation. Short grace, because the images end at once when asked to.
fn spec(sidecar: bool) -> String {
    let registry = registry();
    let (init, side) = match sidecar {
        true => (
            format!("initContainers:\n- {{name: side, image: '{registry}/side:v1', restartPolicy: Always}}\n"),
            String::new(),
        ),
        false => (String::new(), format!("- {{name: side, image: '{registry}/side:v1'}}\n")),
    };
    format!(
        "nodeSelector: {{kubernetes.io/hostname: node-1}}\nterminationGracePeriodSeconds: 2\n\
         {init}containers:\n- {{name: app, image: '{registry}/app:v1'}}\n{side}"
    )
}

fn indent(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

/// The pod template of an owner, at the depth where `spec:` of the owner wants it.
fn template(name: &str, sidecar: bool) -> String {
    let metadata = METADATA.replace("NAME", name);
    format!(
        "  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n{}    spec:\n{}",
        indent(&metadata, 4),
        indent(&spec(sidecar), 6)
    )
}

fn owner(kind: &str, name: &str, fields: &str, sidecar: bool) -> String {
    format!("apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{fields}{}", template(name, sidecar))
}

/// Returns a Deployment.
pub(crate) fn deployment(name: &str, replicas: usize) -> String {
    owner("Deployment", name, &format!("  replicas: {replicas}\n"), false)
}

/// Returns a Deployment whose `side` is a native sidecar: an init container with restartPolicy Always.
pub(crate) fn deployment_with_sidecar(name: &str, replicas: usize) -> String {
    owner("Deployment", name, &format!("  replicas: {replicas}\n"), true)
}

/// Returns a StatefulSet, its pods made side by side.
pub(crate) fn stateful_set(name: &str, replicas: usize) -> String {
    let fields = format!("  replicas: {replicas}\n  serviceName: {name}\n  podManagementPolicy: Parallel\n");
    owner("StatefulSet", name, &fields, false)
}

/// Returns a DaemonSet: one pod, on the real node.
pub(crate) fn daemon_set(name: &str) -> String {
    owner("DaemonSet", name, "", false)
}

/// Returns a ReplicaSet without a Deployment.
pub(crate) fn replica_set(name: &str, replicas: usize) -> String {
    owner("ReplicaSet", name, &format!("  replicas: {replicas}\n"), false)
}

/// Returns a Pod without an owner.
pub(crate) fn pod(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n{}",
        indent(&spec(false), 2)
    )
}

/// Returns an owner of any kind whose pods have `containers` tiny containers, `c1`, `c2` and so on, that end at once. A
/// test that restarts one after the other never meets the kubelet's back-off, which counts by container and image.
pub(crate) fn many(kind: &str, name: &str, fields: &str, containers: usize) -> String {
    let image = format!("'{}/side:v1'", registry());
    let containers: String = (1..=containers).map(|n| format!("      - {{name: c{n}, image: {image}}}\n")).collect();
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{fields}  selector: {{matchLabels: {{app: {name}}}}}\n\
         \x20 template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      nodeSelector: {{kubernetes.io/hostname: node-1}}\n\
         \x20     terminationGracePeriodSeconds: 1\n      containers:\n{containers}"
    )
}

/// Returns such an owner's manifest with another tag for its container of this number.
pub(crate) fn tag_manifest(manifest: &str, container: usize, tag: &str) -> String {
    let image = |tag: &str| format!("{{name: c{container}, image: '{}/side:{tag}'}}", registry());
    replace(manifest, &image("v1"), &image(tag))
}

/// Returns the manifest with another tag for one container; the samples begin with `v1`.
pub(crate) fn with_tag(manifest: &str, container: &str, tag: &str) -> String {
    replace(manifest, &format!("/{container}:v1'"), &format!("/{container}:{tag}'"))
}

/// Returns the manifest with more fields of the container `app`, such as `env: [{name: A, value: b}]`.
pub(crate) fn with_app_fields(manifest: &str, fields: &str) -> String {
    replace(manifest, "/app:v1'}", &format!("/app:v1', {fields}}}"))
}

fn replace(manifest: &str, from: &str, to: &str) -> String {
    assert!(manifest.contains(from), "no {from} in\n{manifest}");
    manifest.replace(from, to)
}

#[test]
fn every_sample_comes_up() {
    let namespace = super::Namespace::new("support-samples");
    let samples = [
        ("web", 2, deployment("web", 2)),
        ("mesh", 1, deployment_with_sidecar("mesh", 1)),
        ("db", 2, stateful_set("db", 2)),
        ("agent", 1, daemon_set("agent")),
        ("set", 1, replica_set("set", 1)),
        ("alone", 1, pod("alone")),
    ];
    for (_, _, manifest) in &samples {
        namespace.apply(manifest);
    }
    for (name, count, _) in &samples {
        for pod in namespace.wait_ready(&format!("app={name}"), *count) {
            for container in ["app", "side"] {
                assert!(super::container_status(&pod, container)["state"]["running"].is_object(), "{name}: {pod}");
            }
        }
    }
}
