//! Whether a workload is of the API's types, as k8s-openapi has them: for manifests that no server is asked about.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use engine::kinds::WorkloadKind;

use super::objects::{quote_hint, type_name};
use super::{Manifest, ManifestError};

/// The lists of a pod's containers, whose names are one set (`ValidatePodSpec`: "Duplicate value").
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Returns the paths of the fields that Kubernetes 1.37 does not have; of a kind that is not built in, of the pod template.
pub fn unknown_fields(kind: WorkloadKind, manifest: &Manifest) -> Result<Vec<String>, ManifestError> {
    // Without nulls, which mean an absent field, and without the status, which a server drops.
    let mut object = kind.defaults().fill(&manifest.object);
    let dropped: &[&str] = if kind == WorkloadKind::Pod { &["status", "apiVersion", "kind"] } else { &["status"] };
    for field in dropped {
        object.as_object_mut().and_then(|fields| fields.shift_remove(*field));
    }
    let decoded = match kind {
        WorkloadKind::Deployment => decode::<Deployment>(&object),
        WorkloadKind::StatefulSet => decode::<StatefulSet>(&object),
        WorkloadKind::DaemonSet => decode::<DaemonSet>(&object),
        WorkloadKind::ReplicaSet => decode::<ReplicaSet>(&object),
        // Only its server knows the fields that its containers have besides.
        WorkloadKind::SidecarSet => Ok(Vec::new()),
        // A pod has what a template has.
        WorkloadKind::Pod
        | WorkloadKind::CloneSet
        | WorkloadKind::AdvancedStatefulSet
        | WorkloadKind::AdvancedDaemonSet
        | WorkloadKind::Rollout => {
            let template = object.pointer(kind.template_pointer()).unwrap_or(&Value::Null);
            let place = if kind.has_template() { "spec.template." } else { "" };
            let within = |path: String| format!("{place}{path}");
            let found = if template.is_null() { Ok(Vec::new()) } else { decode::<PodTemplateSpec>(template) };
            found.map(|paths| paths.into_iter().map(within).collect()).map_err(within)
        }
    };
    decoded.map_err(|message| ManifestError::at(&manifest.source, message))
}

/// Decodes an object, and returns the paths that its type does not have: those that it does not write again.
fn decode<T: DeserializeOwned + Serialize>(object: &Value) -> Result<Vec<String>, String> {
    let refusal = |value: &Value| T::deserialize(value).err().map(|error| error.to_string());
    if refusal(object).is_some() {
        return Err(first_refusal("", object, &refusal));
    }
    let written = T::deserialize(object).and_then(serde_json::to_value).map_err(|error| error.to_string())?;
    let mut unknown = Vec::new();
    note_dropped("", object, &written, &mut unknown);
    Ok(unknown)
}

fn note_dropped(path: &str, object: &Value, written: &Value, unknown: &mut Vec<String>) {
    for (path, part, place) in parts(path, object) {
        match place.of(written) {
            Some(written) => note_dropped(&path, part, written, unknown),
            None => unknown.push(path),
        }
    }
}

/// Says the first part of a value that is refused when it stands alone; a value that is refused when it is empty is refused itself.
fn first_refusal(path: &str, value: &Value, refusal: &dyn Fn(&Value) -> Option<String>) -> String {
    let empty = if value.is_array() { json!([]) } else { json!({}) };
    let parts = if refusal(&empty).is_some() { Vec::new() } else { parts(path, value) };
    let inner = parts.iter().find(|(_, part, place)| refusal(&place.alone(part)).is_some());
    match inner {
        Some((path, part, place)) => first_refusal(path, part, &|part| refusal(&place.alone(part))),
        None => wrong_type(path, value, &refusal(value).unwrap_or_default()),
    }
}

/// Where a part is in its object or list.
enum Place<'a> {
    Field(&'a str),
    Item(usize),
}

impl Place<'_> {
    /// An object or a list that holds this part alone.
    fn alone(&self, part: &Value) -> Value {
        match self {
            Self::Field(key) => json!({ *key: part }),
            Self::Item(_) => json!([part]),
        }
    }

    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Field(key) => value.get(key),
            Self::Item(index) => value.get(index),
        }
    }
}

/// The parts of an object or a list, with their paths as the API server writes them: `spec.template.spec.containers[0].image`.
fn parts<'a>(path: &str, value: &'a Value) -> Vec<(String, &'a Value, Place<'a>)> {
    let dot = if path.is_empty() { "" } else { "." };
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.map(|(key, part)| (format!("{path}{dot}{key}"), part, Place::Field(key)));
    let items = value.as_array().into_iter().flatten().enumerate();
    fields.chain(items.map(|(index, part)| (format!("{path}[{index}]"), part, Place::Item(index)))).collect()
}

fn wrong_type(path: &str, found: &Value, error: &str) -> String {
    let is_of_type = error.starts_with("invalid type") || error.starts_with("invalid value");
    let expected = error.split_once(", expected ").filter(|_| is_of_type).map_or("", |(_, expected)| expected);
    let (expected, hint) = match (expected, found) {
        ("a string", found) => ("a string", quote_hint(found)),
        ("i32" | "i64" | "a 32-bit integer" | "a 64-bit integer", Value::String(_)) => {
            ("a whole number", "; leave out the quotes")
        }
        ("a boolean", Value::String(_)) => ("a boolean", "; leave out the quotes"),
        ("i32" | "i64" | "a 32-bit integer" | "a 64-bit integer", _) => ("a whole number", ""),
        ("a boolean", _) => ("a boolean", ""),
        ("a sequence", _) => ("an array", ""),
        ("IntOrString", _) => ("a whole number or a string", ""),
        ("Quantity", _) => ("a quantity such as 500m or 1Gi", ""),
        ("", _) => return format!("{path} is not valid"),
        (_, _) => ("an object", ""),
    };
    format!("{path} is {}, not {expected}{hint}", type_name(found))
}

/// Requires what the types leave open: a pod template with containers that have an image and a name of their own.
///
/// # Errors
///
/// The first field that is missing or taken.
pub fn require_containers(kind: WorkloadKind, manifest: &Manifest) -> Result<(), ManifestError> {
    let fail = |message: String| Err(ManifestError::at(&manifest.source, message));
    let spec = format!("{}/spec", kind.template_pointer());
    let path = spec.trim_start_matches('/').replace('/', ".");
    let list = |name: &str| manifest.object.pointer(&format!("{spec}/{name}")).and_then(Value::as_array);
    if list("containers").is_none_or(Vec::is_empty) {
        return fail(format!("{path}.containers is required and not set"));
    }
    let mut names = BTreeSet::new();
    for field in CONTAINER_LISTS {
        for (index, container) in list(field).into_iter().flatten().enumerate() {
            for required in ["name", "image"] {
                if container.get(required).and_then(Value::as_str).is_none_or(str::is_empty) {
                    return fail(format!("{path}.{field}[{index}].{required} is required and not set"));
                }
            }
            if !names.insert(container.get("name").and_then(Value::as_str)) {
                return fail(format!("{path}.{field}[{index}].name is the name of another container, too"));
            }
        }
    }
    Ok(())
}
