//! `metadata.managedFields`: who wrote which field last, in the FieldsV1 form, and server-side apply's conflicts.
//!
//! Simpler than `structured-merge-diff`: list keys come from one table by field name, and other lists are one value.

use serde_json::{Map, Value, json};

use super::http::Answer;
use super::status;
use super::strategic;
use crate::api_model::{Part, copy_field, set_metadata};
use crate::clock;

/// Who writes: the field manager, and the subresource it writes through (empty: the object itself).
#[derive(Debug, Clone)]
pub struct Writer {
    pub manager: String,
    pub subresource: String,
}

impl Writer {
    /// Returns a writer of the object itself.
    pub fn new(manager: &str) -> Self {
        Self { manager: manager.to_owned(), subresource: String::new() }
    }

    /// What of an object it writes.
    pub fn part(&self) -> Part {
        match self.subresource.as_str() {
            "status" => Part::Status,
            "resize" => Part::Resize,
            _ => Part::Main,
        }
    }
}

/// Lists whose elements are identified by fields, by the name of the list.
const LIST_KEYS: &[(&str, &[&str])] = &[
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("imagePullSecrets", &["name"]),
    ("env", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("ports", &["containerPort", "protocol"]),
    ("conditions", &["type"]),
    ("ownerReferences", &["uid"]),
];

/// Maps that have one owner as a whole.
const ATOMIC: &[&str] = &["selector", "nodeSelector"];

/// Metadata that has no owner.
const UNOWNED: &[&str] = &[
    "managedFields",
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Returns the FieldsV1 of what differs from `old` (`None`: of everything).
pub(crate) fn fields(old: Option<&Value>, new: &Value) -> Value {
    let mut top = Map::new();
    for (name, value) in new.as_object().into_iter().flatten() {
        if name == "apiVersion" || name == "kind" || old.and_then(|old| old.get(name)) == Some(value) {
            continue;
        }
        let mut value = value.clone();
        let mut before = old.and_then(|old| old.get(name)).cloned();
        if name == "metadata" {
            for map in [Some(&mut value), before.as_mut()].into_iter().flatten().filter_map(Value::as_object_mut) {
                map.retain(|field, _| !UNOWNED.contains(&field.as_str()));
            }
            before = before.or_else(|| Some(json!({})));
        }
        if name == "spec" || name == "status" {
            before = before.or_else(|| Some(json!({})));
        }
        if before.as_ref() != Some(&value) {
            insert_unless_empty(&mut top, format!("f:{name}"), changed(name, before.as_ref(), &value));
        }
    }
    Value::Object(top)
}

fn insert_unless_empty(map: &mut Map<String, Value>, key: String, value: Option<Value>) {
    if let Some(value) = value {
        map.insert(key, value);
    }
}

/// Returns the fields of `new` that differ from `old`; `None` if nothing below does (only removals).
fn changed(name: &str, old: Option<&Value>, new: &Value) -> Option<Value> {
    let keys = LIST_KEYS.iter().find(|(list, _)| *list == name).map(|(_, keys)| *keys);
    let mut found = Map::new();
    match (new, keys) {
        (Value::Object(map), _) if !ATOMIC.contains(&name) && !map.is_empty() => {
            if old.is_none() {
                found.insert(".".to_owned(), json!({}));
            }
            for (field, value) in map {
                let before = old.and_then(|old| old.get(field));
                if before != Some(value) {
                    insert_unless_empty(&mut found, format!("f:{field}"), changed(field, before, value));
                }
            }
        }
        (Value::Array(list), Some(keys)) if list.iter().all(|item| element_key(item, keys).is_some()) => {
            if old.is_none() {
                found.insert(".".to_owned(), json!({}));
            }
            for item in list {
                let key = element_key(item, keys)?;
                let same = |one: &&Value| element_key(one, keys).as_ref() == Some(&key);
                let before = old.and_then(Value::as_array).and_then(|list| list.iter().find(same));
                if before != Some(item) {
                    insert_unless_empty(&mut found, key, changed("", before, item));
                }
            }
            // A list of containers is never absent, so upstream's schema gives it no owner of its own.
            if name == "containers" {
                found.shift_remove(".");
            }
        }
        _ => return Some(json!({})),
    }
    (!found.is_empty()).then_some(Value::Object(found))
}

fn element_key(item: &Value, keys: &[&str]) -> Option<String> {
    let mut key = Map::new();
    for field in keys {
        let value = item.get(*field).cloned().or_else(|| (*field == "protocol").then(|| "TCP".into()))?;
        key.insert((*field).to_owned(), value);
    }
    Some(format!("k:{}", Value::Object(key)))
}

/// Notes in `next` that `writer` set what differs from `live`; the fields leave their former owners.
pub(crate) fn record(live: Option<&Value>, next: &mut Value, writer: &Writer, api_version: &str) {
    let set = fields(live, next);
    if set.as_object().is_none_or(Map::is_empty) {
        return;
    }
    let mut entries = entries(next);
    for entry in &mut entries {
        entry["fieldsV1"] = without(&entry["fieldsV1"], &set);
    }
    add(&mut entries, writer, "Update", api_version, &set, true);
    set_entries(next, entries);
}

fn entries(object: &Value) -> Vec<Value> {
    object.pointer("/metadata/managedFields").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn set_entries(object: &mut Value, mut entries: Vec<Value>) {
    entries.retain(|entry| entry["fieldsV1"].as_object().is_some_and(|fields| !fields.is_empty()));
    set_metadata(object, "managedFields", Value::Array(entries));
}

fn is_of(entry: &Value, writer: &Writer, operation: &str) -> bool {
    entry["manager"] == writer.manager.as_str()
        && entry["operation"] == operation
        && entry["subresource"].as_str().unwrap_or_default() == writer.subresource
}

/// Puts fields under a writer's entry: beside those it has, or in their place.
fn add(entries: &mut Vec<Value>, writer: &Writer, operation: &str, api_version: &str, set: &Value, keep: bool) {
    let former = entries.iter().position(|entry| is_of(entry, writer, operation)).map(|index| entries.remove(index));
    let mut all = former.filter(|_| keep).map_or_else(|| json!({}), |entry| entry["fieldsV1"].clone());
    unite(&mut all, set);
    let mut entry = json!({"manager": writer.manager, "operation": operation, "apiVersion": api_version,
        "time": clock::now_text(), "fieldsType": "FieldsV1", "fieldsV1": all});
    if !writer.subresource.is_empty() {
        entry["subresource"] = writer.subresource.as_str().into();
    }
    entries.push(entry);
}

fn unite(all: &mut Value, more: &Value) {
    let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) else { return };
    for (key, value) in more {
        unite(all.entry(key.clone()).or_insert_with(|| json!({})), value);
    }
}

/// Returns a whole set without the leaves of another; an empty set has no leaves.
fn without(set: &Value, gone: &Value) -> Value {
    let nothing = |set: &Value| set.as_object().is_none_or(Map::is_empty);
    if nothing(set) || nothing(gone) { set.clone() } else { subtract(set, gone).unwrap_or_else(|| json!({})) }
}

/// Returns `set` without `gone`, where an empty map is a leaf; `None` if nothing is left.
fn subtract(set: &Value, gone: &Value) -> Option<Value> {
    let gone_map = gone.as_object()?;
    let set_map = set.as_object()?;
    match (set_map.is_empty(), gone_map.is_empty()) {
        (true, true) => return None,
        (true, false) | (false, true) => return Some(set.clone()),
        (false, false) => {}
    }
    let mut rest = Map::new();
    for (key, value) in set_map {
        let left = match gone_map.get(key) {
            Some(gone) => subtract(value, gone),
            None => Some(value.clone()),
        };
        insert_unless_empty(&mut rest, key.clone(), left);
    }
    (!rest.is_empty()).then_some(Value::Object(rest))
}

/// Server-side apply of `config` as `writer`: the merged object with its owners, or the 409 with every conflict.
///
/// A field that this manager applied before, and no longer, is removed unless somebody else owns it too.
pub(crate) fn apply(live: &Value, config: &Value, writer: &Writer, force: bool) -> Result<Value, Answer> {
    let api_version = live["apiVersion"].as_str().unwrap_or_default().to_owned();
    let wanted = fields(None, config);
    let mut next = strategic::merge(live, config).map_err(|message| status::failure(500, "", &message, Value::Null))?;
    copy_field(live, &mut next, &["metadata"], "managedFields");
    let touched = fields(Some(live), &next);
    let mut entries = entries(live);
    let mut causes = Vec::new();
    let mut gone = json!({});
    for entry in &mut entries {
        if is_of(entry, writer, "Apply") {
            gone = without(&entry["fieldsV1"], &wanted);
            continue;
        }
        let mut paths = Vec::new();
        shared_leaves(&entry["fieldsV1"], &touched, "", &mut paths);
        let manager = entry["manager"].as_str().unwrap_or_default();
        causes.extend(paths.into_iter().map(|path| (format!("conflict with \"{manager}\" using {api_version}"), path)));
        entry["fieldsV1"] = without(&entry["fieldsV1"], &touched);
    }
    if !force && !causes.is_empty() {
        return Err(conflict(&causes));
    }
    for entry in entries.iter().filter(|entry| !is_of(entry, writer, "Apply")) {
        gone = without(&gone, &entry["fieldsV1"]);
    }
    remove_fields(&mut next, &gone);
    add(&mut entries, writer, "Apply", &api_version, &wanted, false);
    set_entries(&mut next, entries);
    Ok(next)
}

fn conflict(causes: &[(String, String)]) -> Answer {
    let listed = match causes {
        [(sentence, path)] => format!(" 1 conflict: {sentence}: {path}"),
        several => {
            let lines: Vec<String> = several.iter().map(|(sentence, path)| format!("{sentence}:\n- {path}")).collect();
            format!(" {} conflicts: {}", several.len(), lines.join("\n"))
        }
    };
    let causes: Vec<Value> = causes
        .iter()
        .map(|(sentence, path)| json!({"reason": "FieldManagerConflict", "message": sentence, "field": path}))
        .collect();
    status::failure(409, "Conflict", &format!("Apply failed with{listed}"), json!({ "causes": causes }))
}

/// Collects the leaves that both sets have, as `.spec.containers[name="app"].image`.
fn shared_leaves(one: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
    let (Some(one_map), Some(other_map)) = (one.as_object(), other.as_object()) else { return };
    if one_map.is_empty() && other_map.is_empty() {
        found.push(path.to_owned());
    }
    for (key, value) in one_map.iter().filter(|(key, _)| *key != ".") {
        if let Some(other) = other_map.get(key) {
            let word = match key.split_once(':') {
                Some(("k", keys)) => {
                    let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                    let pairs: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    format!("[{}]", pairs.join(","))
                }
                _ => format!(".{}", key.trim_start_matches("f:")),
            };
            shared_leaves(value, other, &format!("{path}{word}"), found);
        }
    }
}

/// Removes the fields of a set from an object.
fn remove_fields(object: &mut Value, gone: &Value) {
    for (key, below) in gone.as_object().into_iter().flatten() {
        let leaf = below.as_object().is_none_or(|map| map.is_empty() || map.contains_key("."));
        match (key.split_once(':'), &mut *object) {
            (Some(("f", field)), Value::Object(map)) => {
                if leaf {
                    map.shift_remove(field);
                } else if let Some(child) = map.get_mut(field) {
                    remove_fields(child, below);
                }
            }
            (Some(("k", keys)), Value::Array(list)) => {
                let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                let is_meant = |item: &Value| keys.iter().all(|(name, value)| item.get(name) == Some(value));
                if leaf {
                    list.retain(|item| !is_meant(item));
                } else if let Some(item) = list.iter_mut().find(|item| is_meant(item)) {
                    remove_fields(item, below);
                }
            }
            _ => {}
        }
    }
}
