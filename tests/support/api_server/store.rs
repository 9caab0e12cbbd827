//! The map of objects, the one resourceVersion counter, and the history that watches are served from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::managed_fields::{self, Writer};
use super::resource::{Resource, Target};
use super::selector::Selector;
use crate::support::clock;

/// Where an object lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    /// Returns the key of an object of a kind.
    pub(crate) fn new(resource: &Resource, namespace: &str, name: &str) -> Self {
        let namespace = if resource.namespaced { namespace } else { "" };
        Self { group: resource.group, plural: resource.plural, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// Tells whether the key lies in the collection of a target.
    pub(crate) fn within(&self, target: &Target) -> bool {
        (self.group, self.plural) == (target.resource.group, target.resource.plural)
            && (target.namespace.is_empty() || target.namespace == self.namespace)
    }
}

/// One write: what was there, and what is there now (`None`: deleted, `before` then carries the last version).
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    pub(crate) before: Option<Arc<Value>>,
    pub(crate) after: Option<Arc<Value>>,
}

/// Objects and their history.
#[derive(Debug)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Arc<Value>>,
    history: Vec<Change>,
    revision: u64,
    compacted: u64,
    serial: u64,
}

impl Store {
    /// Returns an empty store; counting starts at 1000, as no real cluster's first object is number 1.
    pub(crate) fn new() -> Self {
        Self { objects: BTreeMap::new(), history: Vec::new(), revision: 1000, compacted: 0, serial: 0 }
    }

    /// Returns the resourceVersion of the newest write.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the resourceVersion up to which the history is forgotten.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// Forgets the history, as etcd's compaction does; open watches have seen it already.
    pub(crate) fn compact(&mut self) {
        self.compacted = self.revision;
        self.history.clear();
    }

    /// Returns the object of a key.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Value>> {
        self.objects.get(key).cloned()
    }

    /// Returns the objects of a collection by namespace and name.
    pub(crate) fn list(&self, target: &Target, selector: &Selector) -> Vec<(Key, Arc<Value>)> {
        self.objects
            .iter()
            .filter(|(key, object)| key.within(target) && selector.matches(object))
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect()
    }

    /// Returns the writes after a resourceVersion, oldest first.
    pub(crate) fn since(&self, revision: u64) -> &[Change] {
        let start = self.history.partition_point(|change| change.revision <= revision);
        self.history.get(start..).unwrap_or_default()
    }

    /// Returns a fresh number, for uids and container IDs.
    pub(crate) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Returns a fresh uid.
    pub(crate) fn next_uid(&mut self) -> String {
        let serial = self.next_serial();
        format!("{:08x}-0000-4000-8000-{serial:012x}", 0xfa4e_0000_u64 + serial)
    }

    /// Stores an object; nothing is written, and no event made, if it is the same as before.
    pub(crate) fn put(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        let before = self.get(key);
        if let Some(before) = &before {
            copy_field(before, &mut object, "/metadata", "resourceVersion");
            if **before == object {
                return Arc::clone(before);
            }
        }
        self.revision += 1;
        set_metadata(&mut object, "resourceVersion", self.revision.to_string().into());
        let object = Arc::new(object);
        self.objects.insert(key.clone(), Arc::clone(&object));
        self.push(key, before, Some(Arc::clone(&object)));
        object
    }

    /// Deletes an object; its last version carries the resourceVersion of the deletion.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let mut object = (*self.objects.remove(key)?).clone();
        self.revision += 1;
        set_metadata(&mut object, "resourceVersion", self.revision.to_string().into());
        let object = Arc::new(object);
        self.push(key, Some(Arc::clone(&object)), None);
        Some(object)
    }

    /// Fills in what the server gives a new object: uid, times, generation, managedFields; what is there stays.
    pub(crate) fn complete(&mut self, resource: &Resource, object: &mut Value, writer: &Writer) {
        let uid = self.next_uid();
        for (field, value) in
            [("uid", Value::from(uid)), ("creationTimestamp", clock::now_text().into()), ("generation", json!(1))]
        {
            let numbered = field != "generation" || object.get("spec").is_some();
            if numbered && object.pointer(&format!("/metadata/{field}")).is_none_or(Value::is_null) {
                set_metadata(object, field, value);
            }
        }
        if object.pointer("/metadata/managedFields").is_none() {
            managed_fields::record(None, object, writer, &resource.api_version());
            // Whoever created it wrote its fields then.
            let created = object.pointer("/metadata/creationTimestamp").cloned().unwrap_or_default();
            let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
            entries.into_iter().flatten().for_each(|entry| entry["time"] = created.clone());
        }
    }

    fn push(&mut self, key: &Key, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        self.history.push(Change { revision: self.revision, key: key.clone(), before, after });
    }
}

/// Sets a field of `metadata`.
pub(crate) fn set_metadata(object: &mut Value, field: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        let metadata = map.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert(field.to_owned(), value);
        }
    }
}

/// Makes a field below `parent` (a JSON pointer) the same in `to` as in `from`, also when it is absent there.
pub(crate) fn copy_field(from: &Value, to: &mut Value, parent: &str, field: &str) {
    let value = from.pointer(parent).and_then(|parent| parent.get(field)).cloned();
    if let Some(map) = to.pointer_mut(parent).and_then(Value::as_object_mut) {
        match value {
            Some(value) => map.insert(field.to_owned(), value),
            None => map.shift_remove(field),
        };
    }
}
