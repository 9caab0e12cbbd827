//! With the controllers of other kinds, OpenKruise and Argo Rollouts, and with tools of GitOps, all of which `cluster others`
//! starts. Not part of the default run, since they take long to build: `tests/run others`.

mod by_request;
mod engines;
mod forecast;
mod kills;
mod meanwhile;
mod sidecar_set;
mod states;

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Namespace, container_status, name, poll, registry, restarted};

/// A namespace that OpenKruise's webhooks are called for.
fn labelled(name: &str) -> Namespace {
    let namespace = Namespace::new(name);
    label(&namespace);
    namespace
}

fn label(namespace: &Namespace) {
    namespace.kubectl(&["label", "namespace", namespace.name(), "inplace.test/others=kruise"]);
}

/// An object `web` of one container, with these other fields of its spec.
fn web(api_version: &str, kind: &str, fields: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web}}\nspec:\n  replicas: 2\n{fields}\
         \x20 selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n\
         \x20     nodeSelector: {{kubernetes.io/hostname: node-1}}\n      terminationGracePeriodSeconds: 2\n\
         \x20     containers:\n      - {{name: app, image: '{}/app:v1'}}\n",
        registry()
    )
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_clone_set_is_updated_in_place_by_its_controller() {
    let namespace = labelled("others-clone");
    namespace.apply(&web("apps.kruise.io/v1alpha1", "CloneSet", "  updateStrategy: {type: InPlaceIfPossible}\n"));
    let before = namespace.wait_ready("app=web", 2);
    let image = format!("{}/app:v2", registry());
    let patch = format!(
        "[{{\"op\": \"replace\", \"path\": \"/spec/template/spec/containers/0/image\", \"value\": \"{image}\"}}]"
    );
    namespace.kubectl(&["patch", "cloneset", "web", "--type=json", "-p", &patch]);
    let updated = ["get", "cloneset", "web", "-o", "jsonpath={.status.updatedReadyReplicas}"];
    let seen = poll(|| (namespace.kubectl(&updated) == "2").then_some(()));
    let after = namespace.wait_ready("app=web", 2);
    assert!(seen.is_some(), "{}", namespace.kubectl(&["get", "cloneset", "web", "-o", "yaml"]));
    assert_eq!(restarted(&before, &after).len(), 2);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn its_daemon_restarts_a_container_on_request() {
    let namespace = labelled("others-recreate");
    namespace.apply(&web("apps.kruise.io/v1alpha1", "CloneSet", "").replace("replicas: 2", "replicas: 1"));
    let before = namespace.wait_ready("app=web", 1);
    let pod = name(&before[0]);
    // A request in the second in which the container has started completes without a restart: the daemon takes it for
    // restarted already (crr_daemon_util.go:113 of 1.8.3).
    sleep(Duration::from_secs(1));
    namespace.apply(&format!(
        "apiVersion: apps.kruise.io/v1alpha1\nkind: ContainerRecreateRequest\nmetadata: {{name: again}}\n\
         spec: {{podName: {pod}, containers: [{{name: app}}]}}\n"
    ));
    let is_another = |pod: &Value| {
        let status = container_status(pod, "app");
        status["ready"] == true && status["containerID"] != container_status(&before[0], "app")["containerID"]
    };
    let after = namespace.wait_pods("app=web", |pods| pods.len() == 1 && pods.iter().all(is_another));
    assert_eq!(restarted(&before, &after), [format!("{pod}/app")]);
    let phase = ["get", "containerrecreaterequest", "again", "-o", "jsonpath={.status.phase}"];
    poll(|| (namespace.kubectl(&phase) == "Completed").then_some(())).expect("the request is completed");
}

#[test]
#[ignore = "needs Argo Rollouts: tests/run others"]
fn a_rollout_becomes_healthy() {
    let namespace = labelled("others-rollout");
    namespace.apply(&web("argoproj.io/v1alpha1", "Rollout", "  strategy: {canary: {}}\n"));
    let phase = ["get", "rollout", "web", "-o", "jsonpath={.status.phase}"];
    let healthy = poll(|| (namespace.kubectl(&phase) == "Healthy").then_some(()));
    assert!(healthy.is_some(), "{}", namespace.kubectl(&["get", "rollout", "web", "-o", "yaml"]));
    assert_eq!(namespace.wait_ready("app=web", 2).len(), 2);
}
