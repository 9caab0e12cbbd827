//! Labels and annotations: changed in the pods that run, without a restart, but for those that must not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Claimed, Containers, Direction, FieldChange, FieldEffect, FieldProgress, Row, once_there};
use crate::change::reason::{Reason, Warning};
use crate::k8s::metadata::{MetadataMap, RESTARTED_AT};
use crate::k8s::operations::Operations;
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::value::selector;

/// One value, before and after; absent is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueChange {
    pub from: Option<String>,
    pub to: Option<String>,
}

impl ValueChange {
    pub(super) fn reversed(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone() }
    }

    /// Takes what was before from values that changed first.
    pub(super) fn rebase_on<K: Ord>(values: &mut BTreeMap<K, Self>, first: &BTreeMap<K, Self>) {
        for (key, value) in values {
            if let Some(first) = first.get(key) {
                value.from.clone_from(&first.from);
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct MetadataChange {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, ValueChange>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, ValueChange>,
}

impl MetadataChange {
    pub fn of(&self, map: MetadataMap) -> &BTreeMap<String, ValueChange> {
        match map {
            MetadataMap::Labels => &self.labels,
            MetadataMap::Annotations => &self.annotations,
        }
    }

    fn of_mut(&mut self, map: MetadataMap) -> &mut BTreeMap<String, ValueChange> {
        match map {
            MetadataMap::Labels => &mut self.labels,
            MetadataMap::Annotations => &mut self.annotations,
        }
    }

    fn iter(&self) -> impl Iterator<Item = (MetadataMap, &str, &ValueChange)> {
        MetadataMap::ALL
            .into_iter()
            .flat_map(|map| self.of(map).iter().map(move |(key, change)| (map, key.as_str(), change)))
    }

    /// Returns another change with each value mapped; values that map to `None` are left out.
    fn filter_map(&self, become_of: impl Fn(MetadataMap, &str, &ValueChange) -> Option<ValueChange>) -> Self {
        let mut changes = Self::default();
        for (map, key, value) in self.iter() {
            if let Some(value) = become_of(map, key, value) {
                changes.of_mut(map).insert(key.to_owned(), value);
            }
        }
        changes
    }

    pub(super) fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        let mut change = Self::default();
        for map in MetadataMap::ALL {
            let read = |template: &Value| strings(template.pointer(&format!("/metadata/{}", map.field())));
            // What is no map of strings is not what the API serves.
            let (Some(old), Some(new)) = (read(before), read(after)) else { continue };
            *change.of_mut(map) = changed(&old, &new);
            claimed.insert(format!("metadata.{}", map.field()));
        }
        change
    }

    pub(super) fn reversed(&self) -> Self {
        self.filter_map(|_, _, value| Some(value.reversed()))
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(map, key, _)| self.of(map).contains_key(key))
    }

    pub(super) fn rebase_on(&mut self, first: &Self) {
        for map in MetadataMap::ALL {
            ValueChange::rebase_on(self.of_mut(map), first.of(map));
        }
    }

    pub(super) fn left_in(&self, pod: &Pod) -> Self {
        self.filter_map(|map, key, value| {
            let present = map.of(pod).get(key);
            (present != value.to.as_ref()).then(|| ValueChange { from: present.cloned(), to: value.to.clone() })
        })
    }
}

impl FieldChange for MetadataChange {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        self.iter().try_for_each(|(map, key, value)| set(template, map, key, value.to.as_deref()))
    }

    fn refused(&self, workload: &Workload, _: Direction) -> Vec<Reason> {
        let selected = selector::keys(workload.object.pointer("/spec/selector").unwrap_or(&Value::Null));
        let reason = |(map, key, change): (MetadataMap, &str, &ValueChange)| {
            if map.is_reserved(key) {
                return Some(Reason::MetadataKeyReserved { path: map.path(key) });
            }
            match map {
                MetadataMap::Labels if selected.contains(key) => {
                    Some(Reason::SelectorLabelChanges { key: key.to_owned() })
                }
                MetadataMap::Annotations if key == RESTARTED_AT && change.to.is_some() => {
                    Some(Reason::RestartRequested)
                }
                MetadataMap::Labels | MetadataMap::Annotations => None,
            }
        };
        self.iter().filter_map(reason).collect()
    }

    /// Containers that have a changed label or annotation in their environment and would go on with the old value.
    fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (map, key, _) in self.iter() {
            for (list, container) in containers.running_on().filter(|(_, container)| map.is_read_by(key, container)) {
                let (container, path) = (container.name.clone(), map.path(key));
                reasons.push(Reason::MetadataReadByContainer { list, container, path });
            }
        }
        reasons
    }

    fn warnings(&self, containers: &Containers<'_>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for (map, key, change) in self.iter() {
            for (list, container) in containers.all.iter().filter(|(_, container)| map.is_read_by(key, container)) {
                let (restarts, container) = (container.is_long_lived(*list), container.name.clone());
                warnings.push(Warning::MetadataReadOnRestart { container, path: map.path(key), restarts });
            }
            let is_checksum = key.to_ascii_lowercase().contains("checksum") && change.to.is_some();
            let nothing_restarts = containers.restarting.is_empty();
            if map == MetadataMap::Annotations && key != RESTARTED_AT && is_checksum && nothing_restarts {
                warnings.push(Warning::ChecksumChanges { key: key.to_owned() });
            }
        }
        warnings
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        self.iter().find_map(|(map, key, change)| {
            let present = map.of(pod).get(key);
            let known = present == change.from.as_ref() || present == change.to.as_ref();
            (!known).then(|| map.path(key))
        })
    }

    fn write(&self, pod: &Pod, operations: &mut Operations) {
        for (map, key, change) in self.left_in(pod).iter() {
            operations.set(map, key, change.to.clone());
        }
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        once_there(self.left_in(pod).is_empty())
    }

    fn rows(&self) -> Vec<Row> {
        let row = |(map, key, value): (MetadataMap, &str, &ValueChange)| Row {
            path: map.path(key),
            what: format!("{} {key}", map.field().trim_end_matches('s')),
            before: value.from.clone(),
            after: value.to.clone(),
            effect: FieldEffect::InPlace,
        };
        self.iter().map(row).collect()
    }
}

fn set(template: &mut Value, map: MetadataMap, key: &str, to: Option<&str>) -> Option<()> {
    let metadata = template.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Default::default()));
    let metadata = metadata.as_object_mut()?;
    match to {
        Some(to) => {
            let values = metadata.entry(map.field()).or_insert_with(|| Value::Object(Default::default()));
            values.as_object_mut()?.insert(key.to_owned(), Value::from(to));
        }
        None => {
            if let Some(values) = metadata.get_mut(map.field()).and_then(Value::as_object_mut) {
                values.shift_remove(key);
                if values.is_empty() {
                    metadata.shift_remove(map.field());
                }
            }
        }
    }
    Some(())
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
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
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
        let mut claimed = Claimed::new();
        let change = MetadataChange::between(
            &template(json!({"a": "1", "b": "1", "c": "1"})),
            &template(json!({"a": "1", "b": "2", "d": "1"})),
            &mut claimed,
        );
        let reported: Vec<(&str, Option<&str>, Option<&str>)> =
            change.iter().map(|(_, key, value)| (key, value.from.as_deref(), value.to.as_deref())).collect();
        assert_eq!(reported, [("b", Some("1"), Some("2")), ("c", Some("1"), None), ("d", None, Some("1"))]);
        let both = ["metadata.annotations", "metadata.labels"].map(str::to_owned);
        assert_eq!(claimed, both.clone().into());
        let mut claimed = Claimed::new();
        let change = MetadataChange::between(&template(json!({"a": 1})), &template(Value::Null), &mut claimed);
        assert!(change.is_empty());
        assert_eq!(claimed, [both[0].clone()].into());
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
            assert_eq!(wanted.conflict_in(&pod).as_deref(), moved, "{labels}");
        }
    }
}
