//! Fills in what the API server fills in, so that a manifest looks like the stored object, and leaves it out again.
//!
//! Done here: the defaults of Kubernetes 1.36 for pods, pod templates and the workloads; quantities in canonical form; and
//! leaving out what the server does not store (nulls, empty lists, and zeros of fields that are no pointers). Defaults of
//! other versions of the server may differ, so that a live answer is always the better one.
//!
//! Not done: admission (service account, token volume, tolerations, priority, limit ranges, webhooks), status, requests of
//! the whole pod (`spec.resources`), dropping fields behind a feature gate that is off, and validation of types.

use serde_json::{Map, Value, json};

use super::schema::Schema;
use crate::value::image::ImageReference;
use crate::value::quantity::Quantity;

/// Lists that are stored even if empty: their fields have no `omitempty`.
const KEPT_LISTS: [&str; 4] = ["containers", "sources", "nodeSelectorTerms", "monitors"];

impl Schema {
    /// Fills in the defaults of an object of this type.
    ///
    /// Upstream: `SetObjectDefaults_Pod` and its like in `pkg/apis/{core,apps}/v1/zz_generated.defaults.go`.
    pub fn fill(self, object: &Value) -> Value {
        let mut object = object.clone();
        fill(&mut object, self);
        if let (Self::POD, Some(Value::Object(spec))) = (self, object.get_mut("spec")) {
            pod_only(spec);
        }
        object
    }

    /// Leaves out the defaults that two states of one object share. Both must have been filled in by [`Schema::fill`].
    ///
    /// Promise: filling them in again gives the same two objects, and no difference between the two is lost: a field goes
    /// only where both have its default, or one has it and the other has nothing in its place.
    pub fn leave_out(self, before: &mut Value, after: &mut Value) {
        leave_out([Some(before), Some(after)], self);
    }
}

fn fill(value: &mut Value, of: Schema) {
    let map = match value {
        Value::Object(map) => map,
        Value::Array(list) => return list.iter_mut().for_each(|element| fill(element, of)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    for (name, value) in map.iter_mut() {
        let field = of.field(name);
        fill(value, field.below);
        if field.is_quantity {
            canonical(value, |quantity| quantity);
        } else if let (true, Value::Object(all)) = (field.has_quantities, value) {
            all.values_mut().for_each(|value| canonical(value, Quantity::rounded_up_to_thousandths));
        }
    }
    map.retain(|name, value| {
        let is_list = value.is_array() && !KEPT_LISTS.contains(&name.as_str());
        !(is_zero(value) && (value.is_null() || is_list || of.field(name).left_out))
    });
    for (field, default) in of.fields().iter().filter_map(|field| Some((field, field.default?))) {
        if let Some(of) = default.strip_prefix("@alias/") {
            if let Some(value) = map.get(of).or_else(|| map.get(field.name)).cloned() {
                map.extend([of, field.name].map(|name| (name.to_owned(), value.clone())));
            }
        } else if let Some(mut value) = filled_in(default, map).filter(|_| !map.contains_key(field.name)) {
            fill(&mut value, field.below);
            map.insert(field.name.to_owned(), value);
        }
    }
}

/// What the server fills in beside these fields, where the table has this default.
fn filled_in(default: &str, beside: &Map<String, Value>) -> Option<Value> {
    match default.split_once('/').unwrap_or((default, "")) {
        ("@ifRolling", _) => beside.get("type").is_none_or(|name| name == "RollingUpdate").then(|| json!({})),
        ("@ifUntyped", _) => (!beside.contains_key("type")).then(|| json!({})),
        ("@ifAlone", _) => beside.keys().all(|name| name == "name").then(|| json!({})),
        ("@alias", field) => beside.get(field).cloned(),
        ("@byTagOf", field) => {
            let image = beside.get(field).and_then(Value::as_str).unwrap_or_default();
            let latest = ImageReference::parse(image).is_ok_and(|image| image.has_latest_tag());
            Some(if latest { "Always" } else { "IfNotPresent" }.into())
        }
        _ => Some(serde_json::from_str(default).unwrap_or_else(|_| default.trim_matches('\'').into())),
    }
}

pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Writes a quantity as the server stores it; what is none is left for validation to refuse.
fn canonical(value: &mut Value, rounded: impl Fn(Quantity) -> Quantity) {
    if let Ok(quantity) = Quantity::of(value) {
        *value = Value::from(rounded(quantity).to_string());
    }
}

/// What pods that are filled in get and templates do not: requests from limits, host ports of the host network.
///
/// Upstream: `SetDefaults_Pod`.
fn pod_only(spec: &mut Map<String, Value>) {
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or_default();
    for name in ["containers", "initContainers"] {
        for container in spec.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(resources) = container.get_mut("resources").and_then(Value::as_object_mut)
                && let Some(Value::Object(limits)) = resources.get("limits").cloned()
                && let Value::Object(requests) = resources.entry("requests").or_insert_with(|| json!({}))
            {
                for (name, limit) in limits {
                    requests.entry(name).or_insert(limit);
                }
            }
            let ports = container.get_mut("ports").and_then(Value::as_array_mut).filter(|_| host_network);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                let number = port.get("containerPort").filter(|number| !is_zero(number)).cloned();
                if let Some(number) = number {
                    port.entry("hostPort").or_insert(number);
                }
            }
        }
    }
}

/// Both sides of one place, where they have it.
fn leave_out(sides: [Option<&mut Value>; 2], of: Schema) {
    let mut maps = match sides {
        [Some(Value::Array(before)), Some(Value::Array(after))] => return of_lists(before, after, of),
        [Some(Value::Array(list)), _] | [_, Some(Value::Array(list))] => return of_lists(list, &mut [], of),
        sides => sides.map(|side| side.and_then(Value::as_object_mut)),
    };
    for field in of.fields() {
        let below = maps.each_mut().map(|map| map.as_deref_mut().and_then(|map| map.get_mut(field.name)));
        leave_out(below, field.below);
    }
    for (name, default) in of.fields().iter().filter_map(|field| Some((field.name, field.default?))) {
        // Both are filled in, so that each has its type.
        let default = if default == "@ifUntyped" { "@ifRolling" } else { default };
        let [before, after] = maps.each_ref().map(|map| map.as_deref().and_then(|map| map.get(name)));
        let differ = before.is_some() && after.is_some() && before != after;
        let has_default =
            |map: &&mut Map<_, _>| map.get(name).is_none_or(|value| filled_in(default, map).as_ref() == Some(value));
        if !differ && maps.iter().flatten().all(has_default) {
            maps.iter_mut().flatten().for_each(|map| drop(map.shift_remove(name)));
        }
    }
}

/// Elements of one name belong together; without names, those of one place.
fn of_lists(before: &mut [Value], after: &mut [Value], of: Schema) {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    let mut after: Vec<(Option<String>, Option<&mut Value>)> =
        after.iter_mut().map(|element| (name(element), Some(element))).collect();
    for (index, element) in before.iter_mut().enumerate() {
        let partner = match name(element) {
            wanted @ Some(_) => after.iter_mut().find(|(name, _)| *name == wanted),
            None => after.get_mut(index),
        };
        let partner = partner.and_then(|(_, partner)| partner.take());
        leave_out([Some(element), partner], of);
    }
    after.into_iter().for_each(|(_, rest)| leave_out([None, rest], of));
}

#[cfg(test)]
mod tests;
