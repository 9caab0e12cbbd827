//! What an API server refuses while it decodes: a field that is of another type than the API has. Everything behind it may
//! rely on maps being maps, and on counts being counts.

use serde_json::Value;

use super::http::Answer;
use super::resource::Resource;
use super::status;
use crate::api_model::{Cause, Refused, text};

/// The type of a field, wherever it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Object,
    /// A list of objects.
    Objects,
    /// Text by text.
    Texts,
    /// Quantities by text.
    Quantities,
    /// An int32 that is not negative.
    Count,
    /// Whatever a user puts there.
    Opaque,
    Any,
}

const OBJECTS: [&str; 16] = [
    "metadata",
    "spec",
    "template",
    "strategy",
    "updateStrategy",
    "rollingUpdate",
    "resources",
    "securityContext",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "state",
    "lastState",
    "nodeInfo",
    "involvedObject",
    "ordinals",
];
const LISTS: [&str; 18] = [
    "containers",
    "initContainers",
    "ownerReferences",
    "volumes",
    "volumeMounts",
    "ports",
    "tolerations",
    "taints",
    "conditions",
    "containerStatuses",
    "initContainerStatuses",
    "readinessGates",
    "env",
    "images",
    "endpoints",
    "matchExpressions",
    "resizePolicy",
    "managedFields",
];
const COUNTS: [&str; 13] = [
    "replicas",
    "revisionHistoryLimit",
    "minReadySeconds",
    "progressDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "partition",
    "start",
    "collisionCount",
    "revision",
    "containerPort",
    "restartCount",
    "disruptionsAllowed",
    "count",
];

fn shape(kind: &str, depth: usize, field: &str) -> Shape {
    match field {
        "labels" | "annotations" | "matchLabels" | "nodeSelector" => Shape::Texts,
        "selector" if kind == "Service" => Shape::Texts,
        "limits" | "requests" | "allocatable" | "capacity" | "allocatedResources" => Shape::Quantities,
        "selector" => Shape::Object,
        "status" if depth == 0 => Shape::Object,
        "fieldsV1" | "data" | "binaryData" | "stringData" => Shape::Opaque,
        field if OBJECTS.contains(&field) => Shape::Object,
        field if LISTS.contains(&field) => Shape::Objects,
        field if COUNTS.contains(&field) => Shape::Count,
        _ => Shape::Any,
    }
}

/// Refuses an object that is none of its kind.
pub(super) fn check(verb: &str, resource: &Resource, object: &Value) -> Result<(), Answer> {
    let found = if object.is_object() { wrong(resource.kind, 0, "", object) } else { Some((String::new(), object)) };
    let Some((path, value)) = found else { return Ok(()) };
    if let Some(number) = value.as_i64().filter(|number| *number < 0) {
        let message = format!("Invalid value: {number}: must be greater than or equal to 0");
        let cause = Cause::invalid(path.trim_start_matches('.'), message);
        return Err(status::refused(resource, text(object, &["metadata", "name"]), &Refused::Invalid(vec![cause])));
    }
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let (kind, version) = (resource.kind, resource.version);
    let why = format!("json: cannot unmarshal {found} into Go struct field {kind}{path}");
    if verb == "patch" {
        return Err(status::failure(422, "Invalid", &format!("patch: Invalid value: {why}"), Value::Null));
    }
    let message = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}");
    Err(status::bad_request(&message))
}

/// The first field that is wrong: its path, its value.
fn wrong<'v>(kind: &str, depth: usize, path: &str, object: &'v Value) -> Option<(String, &'v Value)> {
    let fields = object.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    fields.into_iter().find_map(|(field, value)| {
        let shape = shape(kind, depth, field);
        let below = format!("{path}.{field}");
        let values = || value.as_object().into_iter().flatten().map(|(_, value)| value);
        let is_right = match shape {
            Shape::Any | Shape::Opaque => true,
            Shape::Object => value.is_object(),
            Shape::Objects => value.as_array().is_some_and(|all| all.iter().all(Value::is_object)),
            Shape::Texts => value.is_object() && values().all(Value::is_string),
            Shape::Quantities => value.is_object() && values().all(|value| value.is_string() || value.is_number()),
            Shape::Count => value.as_i64().is_some_and(|number| (0..=i64::from(i32::MAX)).contains(&number)),
        };
        if !is_right {
            return Some((below, value));
        }
        if matches!(shape, Shape::Opaque | Shape::Texts | Shape::Quantities) {
            return None;
        }
        let items = value.as_array().into_iter().flatten();
        wrong(kind, depth + 1, &below, value)
            .or_else(|| items.into_iter().find_map(|one| wrong(kind, depth + 1, &below, one)))
    })
}
