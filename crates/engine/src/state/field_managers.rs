//! Who owns the fields of a workload's template, as `metadata.managedFields` notes it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::k8s::metadata::MANAGED_BY;
use crate::kinds::WorkloadKind;
use crate::state::manager::{KUSTOMIZE_CONTROLLER, is_ours, is_taken_over};
use crate::value::json_path::{element, items, join, text};

/// Helm's marks of its release.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// Argo CD's mark of its application.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// The kinds that Flux applies, and the labels by which it marks their names and namespaces.
pub const FLUX_SOURCES: [(&str, [&str; 2]); 2] = [
    ("kustomization", ["kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"]),
    ("helmrelease", ["helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"]),
];

/// Returns whether Helm, Argo CD, or Flux adds this annotation or label to each object that it applies: no manifest has it.
pub fn is_mark_of_a_tool(key: &str) -> bool {
    matches!(key, RELEASE_NAME | RELEASE_NAMESPACE | TRACKING_ID)
        || FLUX_SOURCES.iter().any(|(_, labels)| labels.contains(&key))
}

/// Returns whether an object has the label that Helm adds to what it applies.
pub fn is_managed_by_helm(object: &Value) -> bool {
    label(object, MANAGED_BY) == Some("Helm")
}

pub fn label<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.pointer("/metadata/labels")?.get(key)?.as_str()
}

/// With `Merge`, Flux leaves to others what they have set.
const FLUX_APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// An entry of `metadata.managedFields` that is of the object itself, and of no subresource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldManager<'v> {
    pub index: usize,
    pub name: &'v str,
    /// When it wrote last (RFC 3339).
    pub time: &'v str,
    pub is_apply: bool,
    fields: &'v Value,
    template: Option<&'v Value>,
}

/// Returns the field managers of an object, in the order of their entries.
pub fn field_managers(object: &Value, kind: WorkloadKind) -> impl Iterator<Item = FieldManager<'_>> {
    // A pod's `spec` is what others have as their template's.
    let template = if kind.has_template() { kind.template_pointer().replace('/', "/f:") } else { "/f:spec".to_owned() };
    items(object, "/metadata/managedFields")
        .enumerate()
        .filter(|(_, entry)| text(entry, "/subresource").is_empty())
        .map(move |(index, entry)| FieldManager {
            index,
            name: text(entry, "/manager"),
            time: text(entry, "/time"),
            is_apply: text(entry, "/operation") == "Apply",
            fields: entry.get("fieldsV1").unwrap_or(&Value::Null),
            template: entry.get("fieldsV1").and_then(|fields| fields.pointer(&template)),
        })
}

/// Returns the manager that owns the template by server-side apply.
pub fn applier(object: &Value, kind: WorkloadKind) -> Option<&str> {
    field_managers(object, kind).find(|known| known.is_apply && known.template.is_some()).map(|known| known.name)
}

/// Returns the managers that stand in the way of the template's server-side apply: they own fields of it by an update, as
/// `kubectl edit` and `kubectl set image` leave them.
pub fn foreign(object: &Value, kind: WorkloadKind) -> Vec<FieldManager<'_>> {
    if applier(object, kind).is_none() {
        return Vec::new();
    }
    field_managers(object, kind).filter(|known| !known.is_apply && known.template.is_some()).collect()
}

impl FieldManager<'_> {
    /// Returns the paths that it owns of the template, as a plan names them.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.template.into_iter().for_each(|fields| add_paths(fields, "", &mut paths));
        paths
    }

    fn owns_annotation(&self, key: &str) -> bool {
        let annotations = self.fields.pointer("/f:metadata/f:annotations");
        annotations.is_some_and(|annotations| annotations.get(format!("f:{key}")).is_some())
    }
}

/// Returns what Helm's client side has set last, as far as the object tells: the template without what others own of it.
/// What nobody owns has come with a chart, too: this program gives up what it sets. `None` of what is no release's, or is
/// applied by the server's side.
pub fn helms_template(object: &Value, kind: WorkloadKind) -> Option<Value> {
    let is_released = object.pointer("/metadata/annotations").is_some_and(|all| all.get(RELEASE_NAME).is_some());
    if !is_released || !kind.has_template() || applier(object, kind).is_some() {
        return None;
    }
    let helm = field_managers(object, kind).find(|known| known.owns_annotation(RELEASE_NAME))?.name;
    let mut template = object.pointer(kind.template_pointer())?.clone();
    let others = field_managers(object, kind).filter(|known| known.name != helm && !is_ours(known.name));
    others.filter_map(|known| known.template).for_each(|fields| remove(&mut template, fields));
    Some(template)
}

/// Returns the template that Flux leaves, once it has applied what is stored here: it takes over what `kubectl` and others
/// have set, and removes what its manifest does not have of that.
pub fn fluxs_template(stored: &Value, kind: WorkloadKind) -> Option<Value> {
    let mut template = stored.pointer(kind.template_pointer())?.clone();
    if stored.pointer("/metadata/annotations").is_some_and(|all| all.get(FLUX_APPLY) == Some(&json!("Merge"))) {
        return Some(template);
    }
    let (taken, kept): (Vec<_>, Vec<_>) =
        field_managers(stored, kind).partition(|known| known.name != KUSTOMIZE_CONTROLLER && is_taken_over(known.name));
    for fields in taken.iter().filter_map(|known| known.template) {
        let mut kept = kept.iter().filter_map(|known| known.template);
        let alone = kept.try_fold(fields.clone(), |left, kept| subtract(&left, kept));
        alone.iter().for_each(|fields| remove(&mut template, fields));
    }
    Some(template)
}

/// How a key of `fieldsV1` names what is below it: a field, or an element of a list by its keys.
enum Key<'k> {
    Field(&'k str),
    Element(BTreeMap<String, Value>),
}

fn key(text: &str) -> Option<Key<'_>> {
    match text.split_once(':')? {
        ("f", field) => Some(Key::Field(field)),
        ("k", keys) => serde_json::from_str(keys).ok().map(Key::Element),
        (_, _) => None,
    }
}

fn children(fields: &Value) -> impl Iterator<Item = (&String, &Value)> {
    fields.as_object().into_iter().flatten()
}

fn add_paths(fields: &Value, path: &str, paths: &mut Vec<String>) {
    let mut found = children(fields).filter_map(|(name, below)| Some((key(name)?, below))).peekable();
    if found.peek().is_none() {
        paths.push(path.to_owned());
    }
    for (key, below) in found {
        match key {
            Key::Field(field) => add_paths(below, &join(path, field), paths),
            Key::Element(keys) => {
                let first = keys.values().next().map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
                let path = element(path, &first.unwrap_or_default());
                // An element that is its own is named as a whole.
                if below.get(".").is_some() { paths.push(path) } else { add_paths(below, &path, paths) }
            }
        }
    }
}

/// Returns the fields of one set that another does not have; `None` where that is nothing.
fn subtract(fields: &Value, others: &Value) -> Option<Value> {
    let left = |(name, below): (&String, &Value)| match others.get(name) {
        None => Some((name.clone(), below.clone())),
        Some(_) if children(below).next().is_none() => None,
        Some(others) => Some((name.clone(), subtract(below, others)?)),
    };
    let left: Map<String, Value> = children(fields).filter_map(left).collect();
    (!left.is_empty()).then_some(Value::Object(left))
}

/// Removes the fields of a set from a value; a map or a list that is left empty goes, too.
fn remove(value: &mut Value, fields: &Value) {
    for (name, below) in children(fields) {
        match (key(name), &mut *value) {
            (Some(Key::Field(field)), Value::Object(map)) => {
                let Some(child) = map.get_mut(field) else { continue };
                remove(child, below);
                if children(below).next().is_none() || *child == json!({}) || *child == json!([]) {
                    map.shift_remove(field);
                }
            }
            (Some(Key::Element(keys)), Value::Array(list)) => {
                let is_it = |item: &Value| keys.iter().all(|(name, value)| item.get(name) == Some(value));
                if below.get(".").is_some() {
                    list.retain(|item| !is_it(item));
                } else if let Some(item) = list.iter_mut().find(|item| is_it(item)) {
                    remove(item, below);
                }
            }
            (_, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: WorkloadKind = WorkloadKind::Deployment;

    fn image_of(container: &str) -> Value {
        json!({"f:containers": {format!("k:{{\"name\":\"{container}\"}}"): {"f:image": {}}}})
    }

    fn entry(manager: &str, operation: &str, spec: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "time": "2026-01-01T00:00:00Z",
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": spec}}}})
    }

    fn object(entries: &[Value]) -> Value {
        json!({"metadata": {"managedFields": entries}, "spec": {"template": {"spec": {
            "containers": [{"name": "app", "image": "a:1", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                {"name": "debug", "image": "d:1"}],
            "terminationGracePeriodSeconds": 60, "nodeSelector": {"a": "b"}}}}})
    }

    #[test]
    fn only_updates_beside_a_server_side_apply_are_in_its_way() {
        let (helm, edit) =
            (entry("helm", "Apply", &image_of("app")), entry("kubectl-edit", "Update", &image_of("app")));
        let mut scaled = entry("hpa", "Update", &image_of("app"));
        scaled["subresource"] = json!("scale");
        let outside =
            json!({"manager": "kubectl-scale", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}});
        let names = |entries: &[Value]| -> Vec<String> {
            foreign(&object(entries), KIND).iter().map(|known| known.name.to_owned()).collect()
        };
        assert_eq!(names(&[helm.clone(), outside, scaled, edit.clone()]), ["kubectl-edit"]);
        assert_eq!(names(&[edit]), [""; 0]);
        assert_eq!(names(&[helm]), [""; 0]);
    }

    #[test]
    fn paths_are_those_of_a_plan() {
        let port = json!({"f:containers": {"k:{\"name\":\"app\"}": {
            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}},
            "f:env": {"k:{\"name\":\"A\"}": {"f:value": {}}}}},
            "f:nodeSelector": {}});
        let live = object(&[entry("helm", "Apply", &port)]);
        let found: Vec<String> = field_managers(&live, KIND).flat_map(|known| known.paths()).collect();
        let expected = ["spec.containers[app].ports[80]", "spec.containers[app].env[A].value", "spec.nodeSelector"];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_others_own_is_not_helms() {
        let mut live = object(&[
            entry("helm", "Update", &json!({"f:terminationGracePeriodSeconds": {}})),
            entry(
                "kubectl-edit",
                "Update",
                &json!({"f:containers": {"k:{\"name\":\"debug\"}": {".": {}, "f:image": {}}}}),
            ),
            entry("kubectl-set", "Update", &image_of("app")),
            entry("inplace-cli", "Update", &json!({"f:nodeSelector": {}})),
        ]);
        assert_eq!(helms_template(&live, KIND), None, "it is no release's");
        live["metadata"]["annotations"] = json!({RELEASE_NAME: "shop"});
        assert_eq!(helms_template(&live, KIND), None, "nobody owns its mark");
        live["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] =
            json!({"f:annotations": {format!("f:{RELEASE_NAME}"): {}}});
        let ports = json!([{"containerPort": 80, "protocol": "TCP"}]);
        let expected = json!({"spec": {"containers": [{"name": "app", "ports": ports}],
            "terminationGracePeriodSeconds": 60, "nodeSelector": {"a": "b"}}});
        assert_eq!(helms_template(&live, KIND), Some(expected));
        live["metadata"]["managedFields"][0]["operation"] = json!("Apply");
        assert_eq!(helms_template(&live, KIND), None, "the server knows what it has applied");
    }

    #[test]
    fn flux_removes_what_kubectl_alone_has_set() {
        let flux = entry(KUSTOMIZE_CONTROLLER, "Apply", &image_of("app"));
        let edited = json!({"f:terminationGracePeriodSeconds": {}, "f:nodeSelector": {},
            "f:containers": {"k:{\"name\":\"app\"}": {"f:image": {}}, "k:{\"name\":\"debug\"}": {".": {}, "f:image": {}}}});
        let other = entry("operator", "Update", &json!({"f:nodeSelector": {}}));
        let mut live = object(&[flux, entry("kubectl-edit", "Update", &edited), other]);
        let left = fluxs_template(&live, KIND).unwrap();
        assert_eq!(left.pointer("/spec/containers/0/image"), Some(&json!("a:1")));
        assert_eq!(left.pointer("/spec/containers/1"), None);
        assert_eq!(left.pointer("/spec/terminationGracePeriodSeconds"), None);
        assert_eq!(left.pointer("/spec/nodeSelector"), Some(&json!({"a": "b"})));
        live["metadata"]["annotations"] = json!({FLUX_APPLY: "Merge"});
        assert_eq!(fluxs_template(&live, KIND), live.pointer("/spec/template").cloned());
    }
}
