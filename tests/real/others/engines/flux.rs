//! Flux's source-controller and kustomize-controller, which `cluster others engines` runs, from an artifact in the tests'
//! registry.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::Engine;
use super::hook::{Hook, push};
use super::lanes::{random_changes, random_changes_of_what_is_edited};
use crate::hand_over::state;
use crate::support::{Namespace, images, poll, registry};

/// A source `web`.
fn source(namespace: &Namespace) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {{name: web}}\nspec: {{interval: 1h, \
         insecure: true, url: 'oci://{}/{}', ref: {{tag: latest}}}}\n",
        registry(),
        namespace.name()
    )
}

/// Publishes the files, and waits until Flux has applied them: also where they are those that it has applied before.
fn reconcile(namespace: &Namespace, files: &[(&str, String)]) {
    let digest = push(&format!("{}:latest", namespace.name()), files);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_nanos().to_string();
    ask(namespace, "ocirepositories", &now, |status| &status["artifact"]["revision"], &digest);
    ask(
        namespace,
        "kustomizations.kustomize.toolkit.fluxcd.io",
        &now,
        |status| &status["lastAppliedRevision"],
        &digest,
    );
}

/// Asks Flux to reconcile all of a kind now, and waits until it has, and each is ready with that revision.
fn ask(namespace: &Namespace, kind: &str, now: &str, revision: impl Fn(&Value) -> &Value, digest: &str) {
    let request = format!("reconcile.fluxcd.io/requestedAt={now}");
    namespace.kubectl(&["annotate", "--all", "--overwrite", kind, &request]);
    let mut last = Value::Null;
    let done = poll(|| {
        last = serde_json::from_str(&namespace.kubectl(&["get", kind, "-o", "json"])).expect("JSON");
        let is_done = |one: &Value| {
            let status = &one["status"];
            let conditions = status["conditions"].as_array().into_iter().flatten();
            let is_ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
            status["lastHandledReconcileAt"] == now
                && revision(status).as_str().is_some_and(|it| it.ends_with(digest))
                && conditions.into_iter().any(is_ready)
        };
        last["items"].as_array().is_some_and(|items| items.iter().all(is_done)).then_some(())
    });
    assert!(done.is_some(), "{last:#}");
}

/// A Kustomization alone; the tests go first by themselves.
struct Flux;

impl Flux {
    fn new(namespace: &Namespace) -> Self {
        let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web}\n\
            spec: {interval: 1h, path: ./, prune: true, sourceRef: {kind: OCIRepository, name: web}, targetNamespace: NAMESPACE}\n";
        let kustomization = kustomization.replace("NAMESPACE", namespace.name());
        push(&format!("{}:latest", namespace.name()), &[("empty.yaml", String::new())]);
        namespace.apply(&format!("{}---\n{kustomization}", source(namespace)));
        Self
    }
}

impl Engine for Flux {
    fn apply(&self, namespace: &Namespace, manifest: &str) {
        reconcile(namespace, &[("web.yaml", manifest.to_owned())]);
    }
}

#[test]
#[ignore = "needs Flux: tests/run others"]
fn its_reconciliation_finds_its_template() {
    super::goes_first("flux", Flux::new);
}

#[test]
#[ignore = "needs Flux: tests/run others"]
fn random_changes_before_a_reconciliation() {
    random_changes("flux", Flux::new);
}

#[test]
#[ignore = "needs Flux: tests/run others"]
fn a_reconciliation_of_what_is_edited_does_as_foretold() {
    random_changes_of_what_is_edited("flux", Flux::new);
}

/// `examples/gitops/flux`, from an artifact in the place of a Git repository.
#[test]
#[ignore = "needs Flux: tests/run others"]
fn the_example_reconciles_in_place() {
    let hook = Hook::of("flux", "flux/first/kustomization.yaml", &[]);
    let namespace = &hook.place.namespace;
    let flux = hook.read("flux/flux.yaml").replace("GitRepository", "OCIRepository");
    let flux = flux.replace("targetNamespace: web", &format!("targetNamespace: {}", namespace.name()));
    let reconciled = |changes: &[(&str, &str)]| {
        hook.write_manifest("flux/deploy/web.yaml", changes);
        let paths = ["first/kustomization.yaml", "first/inplace.yaml", "deploy/kustomization.yaml", "deploy/web.yaml"];
        let files: Vec<_> = paths.iter().map(|path| (*path, hook.read(&format!("flux/{path}")))).collect();
        reconcile(namespace, &files);
        state(namespace)
    };
    push(&format!("{}:latest", namespace.name()), &[("empty.yaml", String::new())]);
    namespace.apply(&format!("{}---\n{flux}", source(namespace)));
    let before = reconciled(&[]);
    let after = reconciled(&[("/side:v1", "/side:v2")]);
    assert_eq!(before.1, after.1, "the same pods");
    assert_eq!(images(&namespace.pods("app=web"), "side"), ["side:v2"; 2]);
    hook.assert_account_is_enough();
    // Back in Git is another update, which goes first, too.
    let again = reconciled(&[]);
    assert_eq!(again, before);
    let replaced = reconciled(&[("terminationGracePeriodSeconds: 5", "terminationGracePeriodSeconds: 1")]);
    assert!(replaced.1.iter().all(|uid| !after.1.contains(uid)), "an ordinary rollout");
}
