//! Reads of raw objects, as the controllers read them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use crate::api_model::{at, put, text};

pub const HASH: &str = "pod-template-hash";
pub const REVISION_HASH: &str = "controller-revision-hash";
pub const REVISION: &str = "deployment.kubernetes.io/revision";
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub fn number(value: &Value, path: &[&str]) -> i64 {
    at(value, path).as_i64().unwrap_or_default()
}

pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

pub fn generation(object: &Value) -> i64 {
    number(object, &["metadata", "generation"])
}

pub fn replicas(object: &Value) -> i64 {
    number(object, &["spec", "replicas"])
}

pub fn template(object: &Value) -> &Value {
    at(object, &["spec", "template"])
}

pub fn annotation<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    at(object, &["metadata", "annotations"]).get(key).and_then(Value::as_str)
}

pub fn label<'v>(object: &'v Value, key: &str) -> &'v str {
    at(object, &["metadata", "labels"]).get(key).and_then(Value::as_str).unwrap_or_default()
}

pub fn revision(object: &Value) -> i64 {
    annotation(object, REVISION).and_then(|text| text.parse::<i32>().ok()).map_or(0, i64::from)
}

pub fn is_terminating(object: &Value) -> bool {
    !at(object, &["metadata", "deletionTimestamp"]).is_null()
}

/// The uid of the controller; empty where there is none.
pub fn controller(object: &Value) -> &str {
    let owners = at(object, &["metadata", "ownerReferences"]).as_array().map(Vec::as_slice).unwrap_or_default();
    let controller = owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    controller.map_or("", |owner| text(owner, &["uid"]))
}

pub fn controlled_by(kind: &str, owner: &Value) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name(owner), "uid": uid(owner), "controller": true,
        "blockOwnerDeletion": true}])
}

fn entries<'v>(template: &'v Value, map: &str) -> BTreeMap<&'v str, &'v Value> {
    let map = at(template, &["metadata", map]).as_object();
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| *key != HASH).collect()
}

/// `EqualIgnoreHash` (pkg/controller/deployment/util/deployment_util.go).
pub fn same_template(a: &Value, b: &Value) -> bool {
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
/// The letters are those of `rand.SafeEncodeString`.
pub fn hash(template: &Value, collisions: i64) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::try_from(collisions).expect("a count");
    let digits = format!("{}", digest(template, seed) >> 32);
    digits.bytes().filter_map(|digit| LETTERS.get(usize::from(digit) % LETTERS.len())).map(|c| char::from(*c)).collect()
}

/// A number of pods, or a percentage of all (`intstr.GetScaledValueFromIntOrPercent`).
pub fn portion(value: &Value, of: i64, rounds_up: bool) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i32>().ok()).map(i64::from);
    match percent {
        Some(percent) => (percent * of + if rounds_up { 99 } else { 0 }) / 100,
        None => value.as_i64().and_then(|number| i32::try_from(number).ok()).map_or(0, i64::from),
    }
}

/// Whether an object has all these labels.
pub fn labels_match(wanted: &Value, object: &Value) -> bool {
    let labels = at(object, &["metadata", "labels"]);
    wanted.as_object().into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
}

/// Whether the labels of an object are what a `LabelSelector` asks for.
pub fn selects(selector: &Value, object: &Value) -> bool {
    let labels = at(object, &["metadata", "labels"]);
    let of = |key: &str| labels.get(key).and_then(Value::as_str);
    let mut expressions = at(selector, &["matchExpressions"]).as_array().into_iter().flatten();
    labels_match(at(selector, &["matchLabels"]), object)
        && expressions.all(|one| {
            let value = of(text(one, &["key"]));
            let mut values = at(one, &["values"]).as_array().into_iter().flatten();
            match text(one, &["operator"]) {
                "In" => value.is_some_and(|value| values.any(|wanted| wanted == value)),
                "NotIn" => value.is_none_or(|value| values.all(|wanted| wanted != value)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// Sets a condition, which goes to the end; its times move as upstream's `SetDeploymentCondition` moves them. Nothing happens
/// if status and reason are the same.
pub fn set_condition(status: &mut Value, kind: &str, value: &str, reason: &str, message: &str, now: &str) {
    let mut all = at(status, &["conditions"]).as_array().cloned().unwrap_or_default();
    let known = all.iter().find(|one| text(one, &["type"]) == kind).cloned().unwrap_or_default();
    let same = |field: &str, value: &str| text(&known, &[field]) == value;
    if same("status", value) && same("reason", reason) {
        return;
    }
    let moved = if same("status", value) { at(&known, &["lastTransitionTime"]).clone() } else { now.into() };
    all.retain(|one| text(one, &["type"]) != kind);
    all.push(
        json!({"type": kind, "status": value, "lastUpdateTime": now, "lastTransitionTime": moved, "reason": reason,
        "message": message}),
    );
    put(status, &["conditions"], Value::Array(all));
}

/// The condition of a type; null where there is none.
pub fn condition<'v>(object: &'v Value, kind: &str) -> &'v Value {
    let mut all = at(object, &["status", "conditions"]).as_array().into_iter().flatten();
    all.find(|one| text(one, &["type"]) == kind).unwrap_or(&Value::Null)
}

/// A pod from a template (`GetPodFromTemplate`, pkg/controller/controller_utils.go).
pub fn pod(name: &str, template: &Value, kind: &str, owner: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": text(owner, &["metadata", "namespace"])}});
    for map in ["labels", "annotations"] {
        if let Value::Object(values) = at(template, &["metadata", map]) {
            put(&mut pod, &["metadata", map], Value::Object(values.clone()));
        }
    }
    put(&mut pod, &["metadata", "ownerReferences"], controlled_by(kind, owner));
    put(&mut pod, &["spec"], at(template, &["spec"]).clone());
    pod
}
