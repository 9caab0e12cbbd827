//! What the API server refuses about a changed object: `ValidatePodUpdate`, immutable metadata, and a few workload rules.

use serde_json::{Value, json};

use super::http::Answer;
use super::resource::Resource;
use super::status;
use super::store::Key;
use crate::api_model::{self, Cause, Refused, text};
use crate::quantity;

/// The text since Kubernetes 1.32; the real message goes on with a diff.
pub(crate) const POD_FORBIDDEN: &str = "Forbidden: pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Checks an update of an object; the error is the answer to send.
pub(crate) fn update(resource: &Resource, live: &Value, next: &Value) -> Result<(), Answer> {
    let name = live.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let field = |object: &Value, field: &str| object.pointer(&format!("/metadata/{field}")).cloned();
    for (key, what) in [("name", "name"), ("namespace", "namespace")] {
        let (old, new) = (field(live, key).unwrap_or_default(), field(next, key).unwrap_or_default());
        if old != new {
            let (old, new) = (old.as_str().unwrap_or_default(), new.as_str().unwrap_or_default());
            let message = format!("the {what} of the object ({new}) does not match the {what} on the URL ({old})");
            return Err(status::bad_request(&message));
        }
    }
    let version = Some(text(next, &["metadata", "resourceVersion"])).filter(|version| !version.is_empty());
    api_model::expect(live, None, version).map_err(|refused| status::refused(resource, name, &refused))?;
    let mut causes = Vec::new();
    if let Some(uid) = field(next, "uid").filter(|uid| Some(uid) != field(live, "uid").as_ref()) {
        let cause = Cause::invalid("metadata.uid", format!("Invalid value: {uid}: field is immutable"));
        causes.extend([cause.clone(), cause]);
    }
    causes.extend(metadata(next));
    match resource.kind {
        "Pod" => causes.extend(pod(&live["spec"], &next["spec"])),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => causes.extend(workload(Some(live), next)),
        _ => {}
    }
    valid(resource, name, causes)
}

/// `ValidatePodResize`, and the admission plugin that knows the node's allocatable cpu.
pub(crate) fn resize(
    resource: &Resource,
    (live, next): (&Value, &Value),
    allocatable: Option<i128>,
    minor: u32,
) -> Result<(), Answer> {
    let name = live.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let mut causes = Vec::new();
    if minor < 36 && !next["spec"]["resources"].is_null() {
        causes.push(forbidden("", "Forbidden: resize of pods with pod-level resources is forbidden"));
    }
    if live["spec"]["os"]["name"] == "windows" {
        causes.push(forbidden("", "Forbidden: windows pods cannot be resized"));
    }
    for list in ["containers", "initContainers"] {
        let old = live["spec"][list].as_array().cloned().unwrap_or_default();
        let new = next["spec"][list].as_array().cloned().unwrap_or_default();
        for (index, (old, new)) in old.iter().zip(&new).enumerate() {
            for map in ["requests", "limits"] {
                let before = old["resources"][map].as_object().cloned().unwrap_or_default();
                let is_gone = |key: &String| new["resources"][map].get(key).is_none_or(Value::is_null);
                if before.keys().any(is_gone) {
                    let message = format!("Forbidden: resource {map} cannot be removed");
                    causes.push(forbidden(&format!("spec.{list}[{index}].resources.{map}"), &message));
                }
            }
            let is_plain_init = list == "initContainers" && new["restartPolicy"] != "Always";
            if is_plain_init && minor < 36 && old["resources"] != new["resources"] {
                let message = "Forbidden: resources for non-sidecar init containers are immutable";
                causes.push(forbidden(&format!("spec.{list}[{index}].resources"), message));
            }
            let policies = new["resizePolicy"].as_array().into_iter().flatten();
            if is_plain_init
                && old["resources"] != new["resources"]
                && policies.clone().any(|policy| policy["restartPolicy"] == "RestartContainer")
            {
                let message =
                    "Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                causes.push(forbidden(&format!("spec.{list}[{index}]"), message));
            }
            let limit = |container: &Value| quantity::of(&container["resources"]["limits"]["memory"]);
            let restarts = policies
                .into_iter()
                .any(|policy| policy["resourceName"] == "memory" && policy["restartPolicy"] == "RestartContainer");
            let is_lowered = limit(new) > 0 && limit(new) < limit(old);
            if minor < 34 && !restarts && is_lowered {
                let message = "Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer";
                causes.push(forbidden(&format!("spec.{list}[{index}].resources.limits"), message));
            }
            let asked = quantity::of(&new["resources"]["requests"]["cpu"]);
            // The admission plugin of 1.36; before it the kubelet says that it is infeasible.
            if minor >= 36 && allocatable.is_some_and(|allocatable| asked > allocatable) {
                let message =
                    format!("pods \"{name}\" is forbidden: node didn't have enough allocatable resources: cpu");
                return Err(status::failure(403, "Forbidden", &message, Value::Null));
            }
        }
    }
    valid(resource, name, causes)
}

fn valid(resource: &Resource, name: &str, causes: Vec<Cause>) -> Result<(), Answer> {
    if causes.is_empty() { Ok(()) } else { Err(status::refused(resource, name, &Refused::Invalid(causes))) }
}

fn forbidden(field: &str, message: &str) -> Cause {
    Cause { reason: "FieldValueForbidden", field: field.to_owned(), message: message.to_owned() }
}

/// `ValidatePodUpdate`: containers are compared by index; all but the mutable fields must be equal.
fn pod(live: &Value, next: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut munged = next.clone();
    for list in ["containers", "initContainers"] {
        let old = live[list].as_array().cloned().unwrap_or_default();
        let new = next[list].as_array().cloned().unwrap_or_default();
        if old.len() != new.len() {
            return vec![forbidden(&format!("spec.{list}"), "Forbidden: pod updates may not add or remove containers")];
        }
        for (index, (old, new)) in old.iter().zip(&new).enumerate() {
            causes.extend(image(&format!("spec.{list}[{index}].image"), &new["image"]));
            munged[list][index]["image"] = old["image"].clone();
        }
    }
    if !causes.is_empty() {
        return causes;
    }
    for field in ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"] {
        let (old, new) = (&live[field], &next[field]);
        let allowed = match field {
            "tolerations" => {
                let without_seconds = |list: &Value| -> Vec<Value> {
                    let mut list = list.as_array().cloned().unwrap_or_default();
                    list.iter_mut()
                        .filter_map(Value::as_object_mut)
                        .for_each(|one| drop(one.remove("tolerationSeconds")));
                    list
                };
                let new = without_seconds(new);
                without_seconds(old).iter().all(|one| new.contains(one))
            }
            "activeDeadlineSeconds" => new.as_i64().is_some_and(|new| old.as_i64().is_none_or(|old| new <= old)),
            _ => old.as_i64().is_some_and(|old| old < 0) && *new == json!(1),
        };
        if old != new && allowed {
            munged[field] = old.clone();
        }
    }
    drop_nulls(&mut munged);
    let mut live = live.clone();
    drop_nulls(&mut live);
    if munged == live { Vec::new() } else { vec![forbidden("spec", POD_FORBIDDEN)] }
}

/// Removes null fields of the spec itself: an absent field and a null one are the same.
fn drop_nulls(spec: &mut Value) {
    if let Some(map) = spec.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
}

/// An image must be there and not be surrounded by blanks. The server validates twice and lists every cause twice.
fn image(field: &str, image: &Value) -> Vec<Cause> {
    let text = image.as_str().unwrap_or_default();
    let (reason, message) = if text.is_empty() {
        ("FieldValueRequired", "Required value".to_owned())
    } else if text.trim() != text {
        ("FieldValueInvalid", format!("Invalid value: {image}: must not have leading or trailing whitespace"))
    } else {
        return Vec::new();
    };
    let cause = Cause { reason, field: field.to_owned(), message };
    vec![cause.clone(), cause]
}

/// What the model says, and that every container has an image.
fn workload(live: Option<&Value>, next: &Value) -> Vec<Cause> {
    let mut causes = api_model::validate(text(next, &["kind"]), live, next);
    let containers = &next["spec"]["template"]["spec"]["containers"];
    if containers.as_array().is_none_or(Vec::is_empty) {
        causes.push(required("spec.template.spec.containers"));
    }
    causes.extend(images(containers, "spec.template.spec.containers"));
    causes
}

fn images(containers: &Value, field: &str) -> Vec<Cause> {
    let lacking = |(index, container): (usize, &Value)| {
        container["image"].as_str().unwrap_or_default().is_empty().then(|| required(&format!("{field}[{index}].image")))
    };
    containers.as_array().into_iter().flatten().enumerate().filter_map(lacking).collect()
}

fn required(field: &str) -> Cause {
    Cause { reason: "FieldValueRequired", field: field.to_owned(), message: "Required value".to_owned() }
}

/// Checks a new object: its name, and of pods and workloads what they cannot be without.
pub(crate) fn create(resource: &Resource, key: &Key, object: &Value) -> Result<(), Answer> {
    let mut causes = Vec::new();
    if !is_subdomain(&key.name) {
        let message = format!("Invalid value: {:?}: a lowercase RFC 1123 subdomain {SUBDOMAIN}", key.name);
        causes.push(Cause::invalid("metadata.name", message));
    }
    causes.extend(metadata(object));
    let spec = &object["spec"];
    match resource.kind {
        "Pod" if spec["containers"].as_array().is_none_or(Vec::is_empty) => causes.push(required("spec.containers")),
        "Pod" => causes.extend(images(&spec["containers"], "spec.containers")),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => {
            if spec["selector"].is_null() {
                causes.push(required("spec.selector"));
            }
            let mut whole = object.clone();
            whole["kind"] = resource.kind.into();
            causes.extend(workload(None, &whole));
        }
        _ => {}
    }
    valid(resource, &key.name, causes)
}

/// `ValidateObjectMetaAccessor`: keys are qualified names, and values of labels are such names or empty.
fn metadata(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for map in ["labels", "annotations"] {
        let field = format!("metadata.{map}");
        for (key, value) in object["metadata"][map].as_object().into_iter().flatten() {
            let (prefix, name) =
                key.rsplit_once('/').map_or((None, key.as_str()), |(prefix, name)| (Some(prefix), name));
            if !is_name(name) {
                let message =
                    format!("Invalid value: {key:?}: name part {NAME}'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
                causes.push(Cause::invalid(&field, message));
            }
            if prefix.is_some_and(|prefix| !is_subdomain(prefix)) {
                let message = format!("Invalid value: {key:?}: prefix part a lowercase RFC 1123 subdomain {SUBDOMAIN}");
                causes.push(Cause::invalid(&field, message));
            }
            let value = value.as_str().unwrap_or_default();
            if map == "labels" && !value.is_empty() && !is_name(value) {
                causes.push(Cause::invalid(&field, format!("Invalid value: {value:?}: a valid label {LABEL}")));
            }
        }
    }
    causes
}

const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
    character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ";

const LABEL: &str = "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const SUBDOMAIN: &str = "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an \
    alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn is_name(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_end = |c: char| c.is_ascii_alphanumeric();
    name.len() <= 63 && name.starts_with(is_end) && name.ends_with(is_end) && name.chars().all(is_inner)
}

fn is_subdomain(name: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(is_alphanumeric)
            && label.ends_with(is_alphanumeric)
            && label.chars().all(|c| is_alphanumeric(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}
