//! Labels and annotations of the template that change: in place and without a restart, but for those that must not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kinds;
use super::pod::{Container, Pod};

/// The annotation that `kubectl rollout restart` sets (kubectl `polymorphichelpers/objectrestarter.go`).
pub const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// One of the two maps of an object's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetadataMap {
    /// `metadata.labels`.
    Labels,
    /// `metadata.annotations`.
    Annotations,
}

impl MetadataMap {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Labels, Self::Annotations];

    /// Returns the name of the map in `metadata`.
    pub fn field(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }

    /// Returns the path of a key, such as `metadata.labels[app.kubernetes.io/name]`.
    pub fn path(self, key: &str) -> String {
        super::json_path::join(&format!("metadata.{}", self.field()), key)
    }

    /// Returns the map of a pod.
    pub fn of(self, pod: &Pod) -> &BTreeMap<String, String> {
        match self {
            Self::Labels => &pod.labels,
            Self::Annotations => &pod.annotations,
        }
    }

    /// Returns whether a container has the key's value in its environment: it reads it when it is created.
    pub fn is_read_by(self, key: &str, container: &Container) -> bool {
        let path = format!("metadata.{}['{key}']", self.field());
        container.env.iter().any(|variable| variable.field_path() == Some(path.as_str()))
    }

    /// Returns whether a key belongs to a controller or is fixed in a pod.
    ///
    /// The labels are those of kube-controller-manager (`apps/v1` constants); the API server refuses changed annotations of
    /// AppArmor's beta and of mirror pods (`ValidatePodUpdate`), and the kubelet writes the other `kubernetes.io/config.*`.
    pub fn is_reserved(self, key: &str) -> bool {
        match self {
            Self::Labels => kinds::is_controllers_label(key),
            Self::Annotations => {
                key.starts_with("container.apparmor.security.beta.kubernetes.io/")
                    || key.starts_with("kubernetes.io/config.")
                    || kinds::is_controllers_annotation(key)
            }
        }
    }
}

/// One value, before and after; absent is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueChange {
    /// Before.
    pub from: Option<String>,
    /// After.
    pub to: Option<String>,
}

/// The labels and annotations that change, by key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct MetadataChange {
    /// Of `metadata.labels`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, ValueChange>,
    /// Of `metadata.annotations`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, ValueChange>,
}

impl MetadataChange {
    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    /// Returns one of the two maps.
    pub fn of(&self, map: MetadataMap) -> &BTreeMap<String, ValueChange> {
        match map {
            MetadataMap::Labels => &self.labels,
            MetadataMap::Annotations => &self.annotations,
        }
    }

    /// Returns every change with its map and key.
    pub fn iter(&self) -> impl Iterator<Item = (MetadataMap, &str, &ValueChange)> {
        MetadataMap::ALL
            .into_iter()
            .flat_map(|map| self.of(map).iter().map(move |(key, change)| (map, key.as_str(), change)))
    }

    /// Returns what is left to do in a pod: its own values before, and only the keys that are not yet as wanted.
    pub fn left_in(&self, pod: &Pod) -> Self {
        let left = |map: MetadataMap| {
            let present = map.of(pod);
            let wanted = self.of(map).iter().filter(|(key, change)| present.get(*key) != change.to.as_ref());
            wanted
                .map(|(key, change)| {
                    (key.clone(), ValueChange { from: present.get(key).cloned(), to: change.to.clone() })
                })
                .collect()
        };
        Self { labels: left(MetadataMap::Labels), annotations: left(MetadataMap::Annotations) }
    }

    /// Returns the path of a value that is neither as before nor as wanted: somebody else has changed it meanwhile.
    pub fn moved_in(&self, pod: &Pod) -> Option<String> {
        self.iter().find_map(|(map, key, change)| {
            let present = map.of(pod).get(key);
            let known = present == change.from.as_ref() || present == change.to.as_ref();
            (!known).then(|| map.path(key))
        })
    }

    /// Compares the metadata of two templates. What is no map of strings is left to the caller, as the map's name.
    pub(super) fn between(before: &Value, after: &Value) -> (Self, Vec<&'static str>) {
        let (mut change, mut unread) = (Self::default(), Vec::new());
        for map in MetadataMap::ALL {
            let read = |template: &Value| strings(template.pointer(&format!("/metadata/{}", map.field())));
            match (read(before), read(after)) {
                (Some(old), Some(new)) => {
                    let changes = changed(&old, &new);
                    match map {
                        MetadataMap::Labels => change.labels = changes,
                        MetadataMap::Annotations => change.annotations = changes,
                    }
                }
                (None, _) | (_, None) => unread.push(map.field()),
            }
        }
        (change, unread)
    }
}

fn strings(map: Option<&Value>) -> Option<BTreeMap<String, String>> {
    match map {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(Value::Object(map)) => {
            map.iter().map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => None,
    }
}

fn changed(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> BTreeMap<String, ValueChange> {
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let keys = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    keys.map(|key| (key.clone(), ValueChange { from: old.get(key).cloned(), to: new.get(key).cloned() })).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_key_by_key() {
        let template = |labels: Value| json!({"metadata": {"labels": labels}});
        let (change, unread) = MetadataChange::between(
            &template(json!({"a": "1", "b": "1", "c": "1"})),
            &template(json!({"a": "1", "b": "2", "d": "1"})),
        );
        let told: Vec<(&str, Option<&str>, Option<&str>)> =
            change.iter().map(|(_, key, value)| (key, value.from.as_deref(), value.to.as_deref())).collect();
        assert_eq!(told, [("b", Some("1"), Some("2")), ("c", Some("1"), None), ("d", None, Some("1"))]);
        assert!(unread.is_empty());
        let (change, unread) = MetadataChange::between(&template(json!({"a": 1})), &template(Value::Null));
        assert!(change.is_empty());
        assert_eq!(unread, ["labels"]);
    }

    #[test]
    fn what_a_pod_already_has_is_not_left_and_a_foreign_value_is_seen() {
        let pod = |labels: Value| {
            Pod::from_object(&json!({"metadata": {"name": "web-0", "uid": "u", "labels": labels}})).unwrap()
        };
        let value = |from: Option<&str>, to: Option<&str>| ValueChange {
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
        };
        let wanted = MetadataChange {
            labels: [("tier".into(), value(Some("a"), Some("b"))), ("old".into(), value(Some("x"), None))].into(),
            annotations: BTreeMap::new(),
        };
        for (labels, left, moved) in [
            (json!({"tier": "a", "old": "x"}), vec!["old", "tier"], None),
            (json!({"tier": "b", "old": "x"}), vec!["old"], None),
            (json!({"tier": "b"}), vec![], None),
            (json!({"tier": "c"}), vec!["tier"], Some("metadata.labels.tier")),
            (json!({}), vec!["tier"], Some("metadata.labels.tier")),
        ] {
            let pod = pod(labels.clone());
            let found = wanted.left_in(&pod);
            assert_eq!(found.iter().map(|(_, key, _)| key).collect::<Vec<_>>(), left, "{labels}");
            assert_eq!(wanted.moved_in(&pod).as_deref(), moved, "{labels}");
        }
    }

    #[test]
    fn keys_of_controllers_are_known() {
        for (map, key, reserved) in [
            (MetadataMap::Labels, "pod-template-hash", true),
            (MetadataMap::Labels, "statefulset.kubernetes.io/pod-name", true),
            (MetadataMap::Labels, "apps.kubernetes.io/pod-index", true),
            (MetadataMap::Labels, "app.kubernetes.io/name", false),
            (MetadataMap::Annotations, "container.apparmor.security.beta.kubernetes.io/app", true),
            (MetadataMap::Annotations, "kubernetes.io/config.mirror", true),
            (MetadataMap::Annotations, "pod-template-hash", false),
            (MetadataMap::Annotations, "prometheus.io/scrape", false),
        ] {
            assert_eq!(map.is_reserved(key), reserved, "{key}");
        }
    }
}
