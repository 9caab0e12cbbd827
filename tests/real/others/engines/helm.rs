//! Helm 4, which merges on the server or on the client's side.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Engine;
use super::hook::example;
use super::lanes::{random_changes, random_changes_of_what_is_edited};
use crate::hand_over::{first, next_apply, state};
use crate::support::{Namespace, Output, Running, command, registry, samples};

/// A release `web`, of a chart that has one file.
pub(super) struct Helm {
    chart: PathBuf,
    /// Of the install; the later ones are as that was.
    server_side: &'static str,
}

impl Helm {
    pub(super) fn server_side(namespace: &Namespace) -> Self {
        Self::with(namespace, "--server-side=true")
    }

    pub(super) fn client_side(namespace: &Namespace) -> Self {
        Self::with(namespace, "--server-side=false")
    }

    fn with(namespace: &Namespace, server_side: &'static str) -> Self {
        let chart = std::env::temp_dir().join(namespace.name());
        fs::create_dir_all(chart.join("templates")).expect("the temporary folder can be written");
        fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n").expect("the same");
        Self { chart, server_side }
    }

    fn upgrade(&self, namespace: &Namespace, manifest: &str) -> Output {
        fs::write(self.chart.join("templates/web.yaml"), manifest).expect("the chart can be written");
        let chart = self.chart.to_str().expect("a path of ours is text");
        match helm(namespace, &["status", "web"]).code {
            0 => helm(namespace, &["upgrade", "web", chart]),
            _ => helm(namespace, &["install", "web", chart, self.server_side]),
        }
    }
}

fn helm(namespace: &Namespace, arguments: &[&str]) -> Output {
    let mut helm = command("engines/helm", "real-helm");
    helm.args(arguments).args(["-n", namespace.name()]);
    Running::start(helm).wait()
}

impl Engine for Helm {
    fn apply(&self, namespace: &Namespace, manifest: &str) {
        let output = self.upgrade(namespace, manifest);
        assert_eq!(output.code, 0, "{output:#?}\n{manifest}");
    }

    fn apply_unless_conflict(&self, namespace: &Namespace, manifest: &str) -> bool {
        let output = self.upgrade(namespace, manifest);
        let is_conflict = output.code != 0 && output.stderr.contains("conflict");
        assert!(output.code == 0 || is_conflict, "{output:#?}\n{manifest}");
        !is_conflict
    }

    fn back(&self, namespace: &Namespace, _: &str) {
        let output = helm(namespace, &["rollback", "web"]);
        assert_eq!(output.code, 0, "{output:#?}");
    }
}

impl Drop for Helm {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system.
        drop(fs::remove_dir_all(&self.chart));
    }
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn its_upgrade_and_rollback_on_the_server_find_their_template() {
    super::goes_first("helm-server", Helm::server_side);
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn its_upgrade_and_rollback_on_the_client_find_their_template() {
    super::goes_first("helm-client", Helm::client_side);
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn random_changes_before_an_upgrade_on_the_server() {
    random_changes("helm-server", Helm::server_side);
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn random_changes_before_an_upgrade_on_the_client() {
    random_changes("helm-client", Helm::client_side);
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn an_upgrade_on_the_server_of_what_is_edited_does_as_foretold() {
    random_changes_of_what_is_edited("helm-server", Helm::server_side);
}

#[test]
#[ignore = "needs Helm: tests/run others"]
fn an_upgrade_on_the_client_of_what_is_edited_does_as_foretold() {
    random_changes_of_what_is_edited("helm-client", Helm::client_side);
}

/// The path of a user whose release somebody has edited.
#[test]
#[ignore = "needs Helm: tests/run others"]
fn an_upgrade_that_an_edit_blocks_goes_on_once_the_fields_are_released() {
    let namespace = Namespace::new("engine-helm-edited");
    let helm = Helm::server_side(&namespace);
    let manifest = samples::deployment("web", 1);
    helm.apply(&namespace, &manifest);
    state(&namespace);
    let edited = format!("{}/side:v2", registry());
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": edited}]}}}});
    namespace.kubectl(&["patch", "deployment/web", "--field-manager=kubectl-edit", "-p", &patch.to_string()]);
    state(&namespace);

    let newer = samples::with_tag(&manifest, "side", "v3");
    assert_eq!(next_apply(&namespace, &newer)["result"], "conflict");
    let failed = helm.upgrade(&namespace, &newer);
    assert!(failed.code != 0 && failed.stderr.contains("kubectl-edit"), "{failed:#?}");
    assert_eq!(namespace.inplace(&["release-fields", "deployment/web", "--yes"]).code, 0);
    assert_eq!(first(&namespace, &newer).0, "inPlace");
    let between = state(&namespace);
    helm.apply(&namespace, &newer);
    assert_eq!(state(&namespace), between);
}

/// The scripts of `examples/gitops/helm`, with the images of the tests.
#[test]
#[ignore = "needs Helm: tests/run others"]
fn the_example_upgrades_and_rolls_back_in_place() {
    let place = example("helm");
    let values = |side: &str| format!("app: {0}/app:v1\nside: {0}/side:{side}\n", registry());
    let place = place.file("helm/v1.yaml", &values("v1")).file("helm/v2.yaml", &values("v2"));
    let helm = command("engines/helm", "real-helm");
    let program = helm.get_program().display();
    place.run(&format!("mkdir -p bin && ln -s '{program}' bin/helm"), 0);
    let state = || -> Vec<Value> { super::uids(&place.namespace, "deployment/web", 2) };
    place.run("cd helm && ./upgrade -f v1.yaml", 0);
    let before = state();
    place.run("cd helm && ./upgrade -f v2.yaml 2>&1 | tee said && grep -q 'pods replaced: 0' said", 0);
    assert_eq!(state(), before);
    place.run("cd helm && ./rollback", 0);
    assert_eq!(state(), before);
    // What the chart alone changes, its version, goes in place, too.
    place.run("cd helm && sed -i 's/^version: .*/version: 1.0.1/' chart/Chart.yaml && ./upgrade -f v1.yaml", 0);
    assert_eq!(state(), before);
    place.run("kubectl get deployment web -o jsonpath='{.spec.template.metadata.labels}' | grep -q web-1.0.1", 0);
}
