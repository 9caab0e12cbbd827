//! Reads of raw objects, as the controllers read them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(super) use testkit::api_model::{at, put, text};

pub(super) const HASH: &str = "pod-template-hash";
pub(super) const REVISION_HASH: &str = "controller-revision-hash";
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub(super) fn number(value: &Value, path: &[&str]) -> i64 {
    at(value, path).as_i64().unwrap_or_default()
}

pub(super) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

pub(super) fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

pub(super) fn generation(object: &Value) -> i64 {
    number(object, &["metadata", "generation"])
}

pub(super) fn replicas(object: &Value) -> i64 {
    number(object, &["spec", "replicas"])
}

pub(super) fn template(object: &Value) -> &Value {
    at(object, &["spec", "template"])
}

pub(super) fn annotation<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    at(object, &["metadata", "annotations"]).get(key).and_then(Value::as_str)
}

pub(super) fn label<'v>(object: &'v Value, key: &str) -> &'v str {
    at(object, &["metadata", "labels"]).get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn revision(object: &Value) -> i64 {
    annotation(object, REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

pub(super) fn is_terminating(object: &Value) -> bool {
    !at(object, &["metadata", "deletionTimestamp"]).is_null()
}

/// The uid of the controller; empty where there is none.
pub(super) fn controller(object: &Value) -> &str {
    let owners = at(object, &["metadata", "ownerReferences"]).as_array().map(Vec::as_slice).unwrap_or_default();
    let controller = owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    controller.map_or("", |owner| text(owner, &["uid"]))
}

pub(super) fn controlled_by(kind: &str, owner: &Value) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name(owner), "uid": uid(owner), "controller": true,
        "blockOwnerDeletion": true}])
}

fn entries<'v>(template: &'v Value, map: &str) -> BTreeMap<&'v str, &'v Value> {
    let map = at(template, &["metadata", map]).as_object();
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| *key != HASH).collect()
}

/// The tolerations of a template that a pod does not have.
pub(super) fn lacking_tolerations(pod: &Value, template: &Value) -> Vec<Value> {
    let list = |of: &Value| at(of, &["spec", "tolerations"]).as_array().cloned().unwrap_or_default();
    let present = list(pod);
    list(template).into_iter().filter(|toleration| !present.contains(toleration)).collect()
}

/// `EqualIgnoreHash` (pkg/controller/deployment/util/deployment_util.go).
pub(super) fn same_template(a: &Value, b: &Value) -> bool {
    at(a, &["spec"]) == at(b, &["spec"])
        && ["labels", "annotations"].iter().all(|map| entries(a, map) == entries(b, map))
}

fn digest(value: &Value, seed: u64) -> u64 {
    let mix = |seed: u64, bytes: &[u8]| {
        bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().filter(|(key, _)| key.as_str() != HASH).collect();
            sorted.into_iter().fold(mix(seed, b"{"), |hash, (key, value)| digest(value, mix(hash, key.as_bytes())))
        }
        Value::Array(items) => items.iter().fold(mix(seed, b"["), |hash, item| digest(item, hash)),
        Value::String(text) => mix(seed, text.as_bytes()),
        Value::Null | Value::Bool(_) | Value::Number(_) => mix(seed, value.to_string().as_bytes()),
    }
}

/// What `ComputeHash` is for: the same template and count of collisions give the same text, whatever the order of keys.
pub(super) fn hash(template: &Value, collisions: i64) -> String {
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::try_from(collisions).expect("a count");
    format!("{:08x}", digest(template, seed) >> 32)
}

/// A pod from a template (`GetPodFromTemplate`, pkg/controller/controller_utils.go).
pub(super) fn pod(name: &str, template: &Value, kind: &str, owner: &Value) -> Value {
    let mut pod = json!({"metadata": {"name": name, "namespace": text(owner, &["metadata", "namespace"])}});
    for map in ["labels", "annotations"] {
        if let Value::Object(values) = at(template, &["metadata", map]) {
            put(&mut pod, &["metadata", map], Value::Object(values.clone()));
        }
    }
    put(&mut pod, &["metadata", "ownerReferences"], controlled_by(kind, owner));
    put(&mut pod, &["spec"], at(template, &["spec"]).clone());
    pod
}
