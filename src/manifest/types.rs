//! Whether a workload is of the API's types, as k8s-openapi has them: for manifests that no server is asked about.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Segment, Track};

use engine::kinds::WorkloadKind;

use super::objects::{quote_hint, type_name};
use super::{Manifest, ManifestError};

/// The lists of a pod's containers, whose names are one set (`ValidatePodSpec`: "Duplicate value").
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Returns the paths of the fields that Kubernetes 1.37 does not have; of a kind that is not built in, of the pod template.
pub fn unknown_fields(kind: WorkloadKind, manifest: &Manifest) -> Result<Vec<String>, ManifestError> {
    // Without nulls, which mean an absent field, and without the status, which a server drops.
    let mut object = kind.defaults().fill(&manifest.object);
    if let Value::Object(fields) = &mut object {
        fields.shift_remove("status");
    }
    let decoded = match kind {
        WorkloadKind::Deployment => decode::<Deployment>(&object),
        WorkloadKind::StatefulSet => decode::<StatefulSet>(&object),
        WorkloadKind::DaemonSet => decode::<DaemonSet>(&object),
        WorkloadKind::ReplicaSet => decode::<ReplicaSet>(&object),
        WorkloadKind::Pod => decode::<Pod>(&object),
        WorkloadKind::CloneSet
        | WorkloadKind::AdvancedStatefulSet
        | WorkloadKind::AdvancedDaemonSet
        | WorkloadKind::Rollout => {
            let template = object.pointer(kind.template_pointer()).unwrap_or(&Value::Null);
            let within = |path: String| format!("spec.template.{path}");
            let found = if template.is_null() { Ok(Vec::new()) } else { decode::<PodTemplateSpec>(template) };
            found.map(|paths| paths.into_iter().map(within).collect()).map_err(within)
        }
    };
    decoded.map_err(|message| ManifestError::at(&manifest.source, message))
}

/// Decodes an object, and returns the paths that its type does not have.
fn decode<T: DeserializeOwned>(object: &Value) -> Result<Vec<String>, String> {
    let (mut unknown, mut track) = (Vec::new(), Track::new());
    let mut note = |path: serde_ignored::Path<'_>| unknown.push(shown(&path));
    let tracked = serde_path_to_error::Deserializer::new(object, &mut track);
    match T::deserialize(serde_ignored::Deserializer::new(tracked, &mut note)) {
        Ok(_) => Ok(unknown),
        Err(error) => Err(wrong_type(object, &track.path(), &error.to_string())),
    }
}

/// A path as the API server writes it: `spec.template.spec.containers[0].image`.
fn shown(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", shown(parent)),
        Path::Map { parent, key } => match shown(parent) {
            parent if parent.is_empty() => key.clone(),
            parent => format!("{parent}.{key}"),
        },
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => shown(parent),
    }
}

fn wrong_type(object: &Value, path: &serde_path_to_error::Path, error: &str) -> String {
    let found = path.iter().try_fold(object, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    let found = found.unwrap_or(&Value::Null);
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
