//! A SidecarSet, whose own controller updates the pods: what the plan foretells is what it does, and no pod is replaced.

use serde_json::{Value, json};

use super::{labelled, web};
use crate::apply::printed;
use crate::support::{Namespace, Output, images, poll, registry, restarted};

/// A SidecarSet of its own for the pods of one namespace; deleted at the end, since it is in none.
struct Set<'n> {
    namespace: &'n Namespace,
    reference: String,
}

impl<'n> Set<'n> {
    /// Creates it, and two pods with its container `side`.
    fn new(namespace: &'n Namespace, container: &Value) -> Self {
        let set = Self { namespace, reference: format!("sidecarset/{}", namespace.name()) };
        let mut side = json!({"name": "side", "image": format!("{}/side:v1", registry())});
        side.as_object_mut().expect("an object").extend(container.as_object().cloned().unwrap_or_default());
        namespace.apply(&set.manifest(&side).to_string());
        // Its webhook knows of it then, too.
        let seen = ["get", &set.reference, "-o", "jsonpath={.status.observedGeneration}"];
        poll(|| (namespace.kubectl(&seen) == "1").then_some(())).expect("its controller sees it");
        let deployment = web("apps/v1", "Deployment", "");
        namespace
            .apply(&deployment.replace("metadata: {labels: {app: web}}", "metadata: {labels: {app: web, mesh: 'on'}}"));
        set.pods();
        set
    }

    fn manifest(&self, side: &Value) -> Value {
        json!({"apiVersion": "apps.kruise.io/v1alpha1", "kind": "SidecarSet",
            "metadata": {"name": self.namespace.name()},
            "spec": {"namespace": self.namespace.name(), "selector": {"matchLabels": {"mesh": "on"}},
                "updateStrategy": {"type": "RollingUpdate"}, "containers": [side]}})
    }

    fn pods(&self) -> Vec<Value> {
        self.namespace.wait_ready("app=web", 2)
    }

    fn run(&self, command: &str, words: &str) -> Output {
        let words = words.split_whitespace();
        self.namespace.inplace(&[command, &self.reference].into_iter().chain(words).collect::<Vec<_>>())
    }

    fn strategy(&self, strategy: &Value) {
        let patch = json!({"spec": {"updateStrategy": strategy}}).to_string();
        self.namespace.kubectl(&["patch", &self.reference, "--type=merge", "-p", &patch]);
    }

    /// What its controller counts.
    fn wait_counted(&self, count: usize) {
        let counted = ["get", &self.reference, "-o", "jsonpath={.status.updatedReadyPods}"];
        poll(|| (self.namespace.kubectl(&counted) == count.to_string()).then_some(())).expect("they are counted");
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.namespace.kubectl(&["delete", &self.reference]);
    }
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn its_pods_get_the_image_and_are_followed() {
    let namespace = labelled("others-sidecars");
    let set = Set::new(&namespace, &json!({}));
    let before = set.pods();
    let plan = set.run("plan", "side=:v2");
    assert!(plan.code == 0 && plan.stdout.contains("can be updated in place: 2 pods, one at a time"), "{plan:#?}");
    let output = set.run("apply", "side=:v2 --yes");
    assert_eq!(output.code, 0, "{output:#?}");
    let after = set.pods();
    assert_eq!((restarted(&before, &after).len(), images(&after, "side")), (2, vec!["side:v2"; 2]), "{output:#?}");
    set.wait_counted(2);
    let again = set.run("apply", "side=:v2 --yes");
    assert!(again.code == 0 && again.stdout.contains("No changes"), "{again:#?}");
    let status = set.run("status", "");
    assert!(status.stdout.contains("2 pods: 2 ready"), "{status:#?}");
    // By a manifest, and back.
    let side = json!({"name": "side", "image": format!("{}/side:v1", registry())});
    let output = namespace.inplace_input(&["apply", "-f", "-", "--yes"], &set.manifest(&side).to_string());
    assert!(output.code == 0 && images(&set.pods(), "side") == ["side:v1"; 2], "{output:#?}");
    let refused = set.run("undo", "--yes");
    assert!(
        refused.code == 1 && refused.stderr.contains("a SidecarSet's own controller updates its pods"),
        "{refused:#?}"
    );
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_hot_upgrade_keeps_one_of_two_containers_running() {
    let namespace = labelled("others-hot");
    let empty = format!("{}/app:v2", registry());
    let hot = json!({"upgradeStrategy": {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": empty}});
    let set = Set::new(&namespace, &hot);
    let before = set.pods();
    let output = set.run("apply", "side=:v2 --yes");
    assert!(output.code == 0 && output.stderr.contains("side is upgraded hot"), "{output:#?}");
    let after = set.pods();
    assert_eq!(restarted(&before, &after).len(), 4, "{output:#?}");
    assert_eq!((images(&after, "side-2"), images(&after, "side-1")), (vec!["side:v2"; 2], vec!["app:v2"; 2]));
    // The same text would lead nowhere, so the way back has the digest.
    let bad = set.run("apply", "side=:nope --yes");
    assert!(bad.code == 4 && bad.stdout.contains("ImagePull"), "{bad:#?}");
    let stuck = set.run("plan", "side=:v2");
    assert!(stuck.stdout.contains("SidecarNotUpdated: spec.containers[side] runs the wanted image"), "{stuck:#?}");
    let back = namespace.type_line(&format!("{} --yes", printed(&bad, "Roll back:")));
    assert!(back.code == 0, "{back:#?}");
    let pods = set.pods();
    assert!(images(&pods, "side-1").iter().all(|image| image.starts_with("side:v2@")), "{back:#?}");
    restarted(&before, &pods);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn what_its_controller_leaves_is_named_with_the_field() {
    let namespace = labelled("others-left");
    let set = Set::new(&namespace, &json!({}));
    let before = set.pods();
    for (strategy, path) in [
        (json!({"paused": true}), "spec.updateStrategy.paused"),
        (json!({"paused": false, "type": "NotUpdate"}), "spec.updateStrategy.type"),
        (json!({"type": "RollingUpdate", "selector": {"matchLabels": {"a": "b"}}}), "spec.updateStrategy.selector"),
        (json!({"selector": null, "partition": "100%"}), "spec.updateStrategy.partition"),
    ] {
        set.strategy(&strategy);
        let output = set.run("apply", "side=:v2 --yes");
        assert!(output.code == 3 && output.stdout.contains(&format!("UpdateStrategyHolds: {path}")), "{output:#?}");
    }
    set.strategy(&json!({"partition": 1}));
    let output = set.run("apply", "side=:v2 --yes");
    assert!(output.code == 0 && output.stdout.contains("Pods: 1 done, 1 waiting"), "{output:#?}");
    assert_eq!(restarted(&before, &set.pods()).len(), 1);
    namespace.paste(printed(&output, "Resume:"));
    let followed = set.run("follow", "");
    assert_eq!(followed.code, 0, "{followed:#?}");
    assert_eq!(restarted(&before, &set.pods()).len(), 2);
    // Another field than an image: the controller leaves the pods, and says that later.
    let field = r#"[{"op": "add", "path": "/spec/containers/0/env", "value": [{"name": "A", "value": "1"}]}]"#;
    namespace.kubectl(&["patch", &set.reference, "--type=json", "-p", field]);
    let output = set.run("apply", "side=:v1 --yes");
    assert!(output.code == 3 && output.stdout.contains("SidecarNotUpdated: spec.containers[side].env"), "{output:#?}");
    let status = set.run("status", "");
    assert!(status.stdout.contains("2 pods stay as they are: spec.containers[side].env"), "{status:#?}");
    namespace.wait_pods("app=web", |pods| {
        pods.iter().all(|pod| pod["status"]["conditions"].to_string().contains("UpdateImmutableField"))
    });
    assert_eq!(restarted(&before, &set.pods()).len(), 2);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_bad_image_stops_it_at_the_first_pod() {
    let namespace = labelled("others-bad-sidecar");
    let set = Set::new(&namespace, &json!({}));
    let before = set.pods();
    let output = set.run("apply", "side=:nope --yes");
    assert!(output.code == 4 && output.elapsed.as_secs() < 20, "{output:#?}");
    assert!(output.stdout.contains("ImagePull") && output.stdout.contains("Pods: 1 failed, 1 waiting"), "{output:#?}");
    let followed = set.run("follow", "");
    assert!(followed.code == 4, "{followed:#?}");
    assert_eq!(printed(&followed, "Roll back:"), printed(&output, "Roll back:"));
    let back = namespace.type_line(&format!("{} --yes", printed(&output, "Roll back:")));
    assert_eq!(back.code, 0, "{back:#?}");
    assert_eq!(images(&set.pods(), "side"), ["side:v1"; 2]);
    assert_eq!(restarted(&before, &set.pods()).len(), 1, "{back:#?}");
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_run_that_is_killed_after_its_write_is_run_again() {
    let namespace = labelled("others-killed-sidecar");
    let set = Set::new(&namespace, &json!({}));
    let before = set.pods();
    let mut running = namespace.inplace_spawn(&["apply", &set.reference, "side=:v2", "--yes"]);
    running.wait_for("side restarting");
    drop(running);
    let output = set.run("apply", "side=:v2 --yes");
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(images(&set.pods(), "side"), ["side:v2"; 2]);
    assert_eq!(restarted(&before, &set.pods()).len(), 2, "{output:#?}");
}
