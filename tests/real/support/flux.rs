//! What Flux's kustomize-controller sends for an object that is there already: a JSON patch that takes the fields of other
//! managers over, by the beginning of their names, and a server-side apply of the manifest, which removes what the
//! manifest does not have of them.
//!
//! `apply` in internal/controller/kustomization_controller.go of fluxcd/kustomize-controller v1.9.4;
//! `PatchReplaceFieldsManagers` in ssa/patch.go, and `Apply` in ssa/manager_apply.go, of fluxcd/pkg ssa v0.76.1.

use serde_json::{Value, json};

use super::Api;

const MANAGER: &str = "kustomize-controller";

/// Whose fields are taken over: how the manager's name begins, and its operation.
const TAKEN_OVER: [(&str, &str); 4] =
    [("kubectl", "Apply"), ("kubectl", "Update"), ("before-first-apply", "Update"), (MANAGER, "Update")];

/// Flux marks what it applies.
const LABELS: &str = "kustomize.toolkit.fluxcd.io/name: shop, kustomize.toolkit.fluxcd.io/namespace: flux-system";

/// Reconciles an object with its manifest. Flux leaves the apply out where nothing differs; here it is always sent.
pub(crate) fn reconcile(api: &Api, path: &str, manifest: &str) {
    let takeover = takeover(&api.get(path));
    if !takeover.is_empty() {
        let path = format!("{path}?fieldManager={MANAGER}");
        let (status, answer) = api.request("PATCH", &path, "application/json-patch+json", &takeover.into());
        assert_eq!(status, 200, "{answer}");
    }
    let manifest =
        manifest.replacen("metadata: {name: web}", &format!("metadata: {{name: web, labels: {{{LABELS}}}}}"), 1);
    let path = format!("{path}?fieldManager={MANAGER}&force=true");
    let (status, answer) = api.send("PATCH", &path, "application/apply-patch+yaml", &manifest);
    assert_eq!(status, 200, "{answer}");
}

/// The first request: the entries that are taken over become one with Flux's own, and kubectl's note goes.
fn takeover(live: &Value) -> Vec<Value> {
    let mut patch = Vec::new();
    let last_applied = "kubectl.kubernetes.io/last-applied-configuration";
    if live["metadata"]["annotations"].get(last_applied).is_some() {
        let path = format!("/metadata/annotations/{}", last_applied.replace('/', "~1"));
        patch.push(json!({"op": "remove", "path": path}));
    }
    let entries = live["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let is_taken = |entry: &Value| {
        let is = |(begin, operation): &(&str, &str)| {
            entry["manager"].as_str().unwrap_or_default().starts_with(begin) && entry["operation"] == *operation
        };
        entry.get("subresource").is_none() && TAKEN_OVER.iter().any(is)
    };
    let is_own = |entry: &Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    if !entries.iter().any(is_taken) {
        return patch;
    }
    let (own, mut others): (Vec<Value>, Vec<Value>) = entries.into_iter().partition(is_own);
    let taken: Vec<Value> = others.extract_if(.., |entry| is_taken(entry)).collect();
    let merged = own.into_iter().chain(taken).reduce(|mut all, entry| {
        union(&mut all["fieldsV1"], entry["fieldsV1"].clone());
        all
    });
    let mut merged = merged.unwrap_or_default();
    (merged["manager"], merged["operation"]) = (MANAGER.into(), "Apply".into());
    others.push(merged);
    patch.push(json!({"op": "replace", "path": "/metadata/managedFields", "value": others}));
    patch
}

/// The union of two sets of fields.
fn union(all: &mut Value, more: Value) {
    if let (Value::Object(all), Value::Object(more)) = (all, more) {
        for (field, below) in more {
            union(all.entry(field).or_insert_with(|| json!({})), below);
        }
    }
}
