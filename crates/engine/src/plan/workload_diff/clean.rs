//! Removes from an object what no user wrote, and puts the rest into reading order.

use serde_json::{Map, Value};

use crate::k8s::pod::ContainerList;
use crate::kinds::WorkloadKind;
use crate::plan::outline::leave_out_notes;

/// Where the ServiceAccount admission mounts the token that it adds.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The prefix of the names of the volumes that it adds.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// These keys come first, in this order; the others follow by the alphabet.
const FIRST_KEYS: [&str; 6] = ["apiVersion", "kind", "metadata", "name", "namespace", "image"];

/// Returns an object without what the server sets, and with its defaults: a manifest and its stored form look alike.
pub(super) fn as_stored(kind: WorkloadKind, object: &Value) -> Value {
    kind.defaults().fill(&without_server_fields(object))
}

/// Returns a manifest without what the server sets.
pub(super) fn as_written(object: &Value) -> Value {
    in_reading_order(without_server_fields(object))
}

pub(super) fn both(kind: WorkloadKind, before: &Value, after: &Value) -> (Value, Value) {
    let (mut before, mut after) = (as_stored(kind, before), as_stored(kind, after));
    for list in ContainerList::ALL {
        align(&format!("{}/spec/{}", kind.template_pointer(), list.spec_field()), &before, &mut after);
    }
    if !kind.has_template() {
        leave_out_admitted(&mut before, &mut after);
    }
    kind.defaults().leave_out(&mut before, &mut after);
    (in_reading_order(before), in_reading_order(after))
}

fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(fields) = object.as_object_mut() else { return object };
    fields.shift_remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        leave_out_notes(metadata);
        metadata.retain(|key, _| !matches!(key.as_str(), "generateName" | "ownerReferences"));
    }
    object
}

fn name(value: &Value) -> Option<&str> {
    value.get("name").and_then(Value::as_str)
}

/// Puts a list's elements into the order in which `before` has them; new ones come last.
fn align(pointer: &str, before: &Value, after: &mut Value) {
    let order: Vec<Option<&str>> =
        before.pointer(pointer).and_then(Value::as_array).into_iter().flatten().map(name).collect();
    if let Some(Value::Array(list)) = after.pointer_mut(pointer) {
        list.sort_by_key(|element| {
            let name = name(element);
            order.iter().position(|known| known.is_some() && *known == name).unwrap_or(usize::MAX)
        });
    }
}

/// Removes from both what admission and the scheduler add to every pod, where both have the same.
///
/// Upstream: the plugins ServiceAccount, DefaultTolerationSeconds and Priority (`plugin/pkg/admission`).
fn leave_out_admitted(before: &mut Value, after: &mut Value) {
    let same = |key: &str, value: Option<Value>| {
        let pointer = format!("/spec/{key}");
        let (before, after) = (before.pointer(&pointer), after.pointer(&pointer));
        before == after && (value.is_none() || before == value.as_ref())
    };
    let mut fields: Vec<&str> = Vec::new();
    for (key, value) in [
        ("nodeName", None),
        ("priority", Some(Value::from(0))),
        ("preemptionPolicy", Some(Value::from("PreemptLowerPriority"))),
        ("serviceAccountName", Some(Value::from("default"))),
    ] {
        if same(key, value) {
            fields.push(key);
            if key == "serviceAccountName" && same("serviceAccount", None) {
                fields.push("serviceAccount");
            }
        }
    }
    let shared: Vec<Value> = shared_admitted(before, after);
    for object in [before, after] {
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { continue };
        spec.retain(|key, _| !fields.contains(&key.as_str()));
        retain(spec, "volumes", &shared);
        retain(spec, "tolerations", &shared);
        for list in ContainerList::ALL {
            for container in spec.get_mut(list.spec_field()).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    retain(container, "volumeMounts", &shared);
                }
            }
        }
    }
}

/// The volumes, mounts and tolerations that admission added, as far as both pods have exactly the same.
fn shared_admitted(before: &Value, after: &Value) -> Vec<Value> {
    let of = |object: &Value| {
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let list = |of: &Value, key: &str| of.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let containers = ["containers", "initContainers"].map(|key| list(spec, key)).concat();
        let mounts = containers.iter().flat_map(|container| list(container, "volumeMounts"));
        let all = list(spec, "volumes").into_iter().chain(list(spec, "tolerations")).chain(mounts);
        all.filter(is_admitted).collect::<Vec<Value>>()
    };
    let after = of(after);
    of(before).into_iter().filter(|element| after.contains(element)).collect()
}

fn is_admitted(element: &Value) -> bool {
    let text = |key: &str| element.get(key).and_then(Value::as_str).unwrap_or_default();
    let is_token = text("name").starts_with(TOKEN_VOLUME)
        && (element.get("projected").is_some() || text("mountPath") == TOKEN_PATH);
    let is_toleration = matches!(text("key"), "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
        && text("effect") == "NoExecute"
        && text("operator") == "Exists"
        && element.get("tolerationSeconds") == Some(&Value::from(300));
    is_token || is_toleration
}

fn retain(of: &mut Map<String, Value>, key: &str, without: &[Value]) {
    let Some(Value::Array(list)) = of.get_mut(key) else { return };
    list.retain(|element| !without.contains(element));
    if list.is_empty() {
        of.shift_remove(key);
    }
}

/// Sorts the keys of every map. `serde_json` keeps their order, so it is the order of the text.
fn in_reading_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(key, value)| (key, in_reading_order(value))).collect();
            fields.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(in_reading_order).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn rank(key: &str) -> usize {
    FIRST_KEYS.iter().position(|first| *first == key).unwrap_or(FIRST_KEYS.len())
}
