//! What `metadata.managedFields` shows: who has set an image, and who has written the condition of a readiness gate.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContainerList, ImageSet, ReadinessGate, ResourceHolder, Resources};
use crate::k8s::names::ContainerName;
use crate::value::json_path::text;

/// The field manager of the built-in controllers. They create pods and change no image of one, so what they own of a pod's
/// spec is from its creation, whatever else of the pod they have written since.
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// Whether what a manager wrote at that time is from the pod's creation. The server notes the time before admission, which
/// may take seconds, and sets `creationTimestamp` after it (`createHandler` and `BeforeCreate` in apiserver).
pub(super) fn is_of_creation(manager: &str, time: &str, created: &str) -> bool {
    manager == CONTROLLER_MANAGER || !time.is_empty() && time <= created
}

/// Whether the entries go back to the pod's creation, so that whoever has set something since has one. Once they are removed,
/// no update is noted any more, and the next server-side apply begins with entries of its own time
/// (`skipNonAppliedManager` in apimachinery).
pub(super) fn is_tracked(managed_fields: &[Value], created: &str) -> bool {
    managed_fields.iter().any(|entry| {
        let is_of_spec = text(entry, "/subresource").is_empty() && entry.pointer("/fieldsV1/f:spec").is_some();
        is_of_spec && is_of_creation(text(entry, "/manager"), text(entry, "/time"), created)
    })
}

/// Reads from `metadata.managedFields` who owns each container's image, and since when.
///
/// Several managers may own a field after server-side applies of the same value; the latest counts.
pub(super) fn image_set(managed_fields: &[Value]) -> BTreeMap<ContainerName, ImageSet> {
    let mut newest: BTreeMap<ContainerName, ImageSet> = BTreeMap::new();
    for entry in managed_fields {
        if !text(entry, "/subresource").is_empty() {
            continue;
        }
        for (name, _) in containers_in(entry).filter(|(_, fields)| fields.get("f:image").is_some()) {
            let set = ImageSet { manager: text(entry, "/manager").to_owned(), time: text(entry, "/time").to_owned() };
            if newest.get(&name).is_none_or(|known| known.time <= set.time) {
                newest.insert(name, set);
            }
        }
    }
    newest
}

/// What was resized since its pod was created, whoever did it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PastResize {
    /// When last (RFC 3339, the server's time).
    pub at: String,
    /// The values that exist since, such as `limits.memory`.
    pub values: BTreeSet<String>,
}

impl PastResize {
    fn and(&mut self, entry: &Value, resources: &Value) {
        let time = entry.get("time").and_then(Value::as_str).unwrap_or_default();
        self.at = time.max(&self.at).to_owned();
        for map in Resources::MAPS {
            let values = resources.get(format!("f:{map}")).and_then(Value::as_object).into_iter().flatten();
            let names = values.filter_map(|(key, _)| key.strip_prefix("f:"));
            self.values.extend(names.map(|name| format!("{map}.{name}")));
        }
    }
}

/// Reads from `metadata.managedFields` what was resized.
pub(super) fn resized(managed_fields: &[Value]) -> BTreeMap<ResourceHolder, PastResize> {
    let mut found: BTreeMap<ResourceHolder, PastResize> = BTreeMap::new();
    let is_of_resize = |entry: &&Value| entry.get("subresource").and_then(Value::as_str) == Some("resize");
    for entry in managed_fields.iter().filter(is_of_resize) {
        let containers = containers_in(entry).map(|(name, fields)| (ResourceHolder::Container(name), fields));
        let pod = entry.pointer("/fieldsV1/f:spec").map(|fields| (ResourceHolder::Pod, fields));
        for (holder, fields) in containers.chain(pod) {
            if let Some(resources) = fields.get("f:resources") {
                found.entry(holder).or_default().and(entry, resources);
            }
        }
    }
    found
}

fn containers_in(entry: &Value) -> impl Iterator<Item = (ContainerName, &Value)> {
    ContainerList::ALL.into_iter().flat_map(move |list| {
        let pointer = format!("/fieldsV1/f:spec/f:{}", list.spec_field());
        let containers = entry.pointer(&pointer).and_then(Value::as_object).into_iter().flatten();
        containers.filter_map(|(key, fields)| Some((key_text(key, "name")?.into(), fields)))
    })
}

/// Reads one field out of a managed-fields key such as `k:{"name":"side"}`.
fn key_text(key: &str, field: &str) -> Option<String> {
    let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    key.get(field)?.as_str().map(str::to_owned)
}

/// Reads from `metadata.managedFields` who owns anything of the conditions of readiness gates, by the condition's type.
pub(super) fn gate_writers(managed_fields: &[Value], gates: &[ReadinessGate]) -> BTreeMap<String, BTreeSet<String>> {
    let mut writers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    if gates.is_empty() {
        return writers;
    }
    for entry in managed_fields {
        let manager = entry.get("manager").and_then(Value::as_str).unwrap_or_default();
        let conditions = entry.pointer("/fieldsV1/f:status/f:conditions").and_then(Value::as_object);
        let kinds = conditions.into_iter().flatten().filter_map(|(key, _)| key_text(key, "type"));
        for kind in kinds.filter(|kind| gates.iter().any(|gate| gate.condition_type == *kind)) {
            writers.entry(kind).or_default().insert(manager.to_owned());
        }
    }
    writers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_latest_writer_of_an_image_counts() {
        let entry = |manager: &str, time: &str, subresource: &str| {
            json!({"manager": manager, "time": time, "operation": "Update", "subresource": subresource,
            "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {".": {}, "f:image": {}}, "k:{\"name\":\"app\"}": {"f:name": {}}}}}})
        };
        let fields = [
            entry("kubelet", "2026-01-03T00:00:00Z", "status"),
            entry("creator", "2026-01-01T00:00:00Z", ""),
            entry("kubectl-set", "2026-01-02T00:00:00Z", ""),
        ];
        let set = image_set(&fields);
        assert_eq!(set.len(), 1);
        assert_eq!(set[&ContainerName::from("side")].manager, "kubectl-set");
    }

    #[test]
    fn a_resize_is_distinguished_from_what_a_pod_was_made_with() {
        let entry = |time: &str, subresource: &str, container: &str| {
            let fields =
                json!({format!("k:{{\"name\":\"{container}\"}}"): {"f:resources": {"f:limits": {"f:memory": {}}}}});
            json!({"manager": "m", "time": time, "subresource": subresource, "fieldsV1": {"f:spec": {"f:containers": fields}}})
        };
        let fields = [
            entry("2026-01-01T00:00:00Z", "", "app"),
            entry("2026-01-03T00:00:00Z", "resize", "side"),
            entry("2026-01-02T00:00:00Z", "resize", "side"),
        ];
        let side = PastResize { at: "2026-01-03T00:00:00Z".to_owned(), values: ["limits.memory".to_owned()].into() };
        assert_eq!(resized(&fields), [(ResourceHolder::Container("side".into()), side)].into());
        let mut whole = entry("2026-01-04T00:00:00Z", "resize", "app");
        whole["fieldsV1"] = json!({"f:spec": {"f:resources": {"f:requests": {".": {}, "f:cpu": {}}}}});
        let found = PastResize { at: "2026-01-04T00:00:00Z".to_owned(), values: ["requests.cpu".to_owned()].into() };
        assert_eq!(resized(&[whole]), [(ResourceHolder::Pod, found)].into());
    }

    #[test]
    fn the_manager_that_owns_a_part_of_a_gates_condition_has_written_it() {
        let entry = |manager: &str, kind: &str, fields: &Value| {
            let mut conditions = serde_json::Map::new();
            conditions.insert(json!({"type": kind}).to_string(), fields.clone());
            let conditions: serde_json::Map<String, Value> =
                conditions.into_iter().map(|(key, value)| (format!("k:{key}"), value)).collect();
            json!({"manager": manager, "operation": "Update", "subresource": "status",
                "fieldsV1": {"f:status": {"f:conditions": conditions}}})
        };
        let gates = ["example.com/a", "example.com/b"];
        let gates = gates.map(|gate| ReadinessGate { condition_type: gate.to_owned() });
        let fields = [
            entry("kubectl-patch", "example.com/a", &json!({".": {}, "f:type": {}})),
            entry("balancer", "example.com/a", &json!({"f:status": {}})),
            entry("kubelet", "Ready", &json!({"f:status": {}})),
            json!({"manager": "odd", "fieldsV1": {"f:status": {"f:conditions": {".": {}, "k:{": {}}}}}),
        ];
        let writers = gate_writers(&fields, &gates);
        let expected = ["kubectl-patch".to_owned(), "balancer".to_owned()];
        assert_eq!(writers, [("example.com/a".to_owned(), expected.into())].into());
        assert!(gate_writers(&fields, &[]).is_empty());
    }
}
