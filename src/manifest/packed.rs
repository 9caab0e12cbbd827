//! Objects in little memory: as compact JSON text, and without contents where nobody wants them.

use serde_json::{Map, Value, json};

use engine::plan::outline::Outline;
use engine::value::api_schema::{self, Scope};

use std::collections::HashMap;

use super::error::ManifestError;
use super::finding::{Finding, Findings};
use super::place::Place;
use super::source::Source;
use super::{
    MAX_KEPT_BYTES, MAX_KEPT_OBJECT_MEMORY, MAX_KEPT_PAIRS, MAX_OBJECTS, MAX_REPEATED_BYTES, MAX_REQUEST_BYTES, Wanted,
    object,
};

/// Estimates of the memory of a value, a mapping with entries, an entry's key and a text, in bytes; for a text or a key, its
/// length comes on top. Taken from what lists of a million of them use on 64 bits.
pub(super) const VALUE_MEMORY: usize = 64;
pub(super) const MAPPING_MEMORY: usize = 32;
pub(super) const KEY_MEMORY: usize = 80;
pub(super) const TEXT_MEMORY: usize = 16;

/// The fields of `metadata` that identify the object, or say why it has no name.
const IDENTITY: [&str; 3] = ["name", "namespace", "generateName"];

/// Stands for the end of a name that the server makes up: only hooks have such a name here.
const GENERATED: &str = "*";

/// One Kubernetes object with `apiVersion`, `kind` and `metadata.name`, its contents packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The API version as written.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace as written; empty where there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The object as JSON; the identity alone where the contents were not wanted.
    pub json: Box<str>,
    /// What is known of it also where its contents were not wanted.
    pub outline: Outline,
    /// Where it stood. The objects of one list share it.
    pub source: Source,
    /// Fields that this build does not know.
    pub unknown: Vec<Finding>,
}

impl Packed {
    /// Returns the object as kubectl would send it.
    pub fn object(&self) -> Value {
        // It was written from a value, so it is JSON.
        serde_json::from_str(&self.json).unwrap_or(Value::Null)
    }
}

/// Collects the objects of one reading, within its bounds.
pub(super) struct Packer {
    wanted: Wanted,
    bytes: usize,
    pairs: usize,
    count: usize,
    packed: Vec<Packed>,
    /// How much of an object a wanted one must be; `None` where types do not matter.
    scope: Option<Scope>,
    /// What is wrong, with the index of the object.
    findings: Vec<(usize, Finding)>,
}

/// Bounds what is reported of one reading.
const MAX_FINDINGS: usize = 20;

/// Says which bound an object or a reading is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// [`MAX_OBJECTS`].
    Objects,
    /// [`MAX_KEPT_BYTES`].
    KeptBytes,
    /// [`MAX_KEPT_PAIRS`].
    Pairs,
    /// [`MAX_KEPT_OBJECT_MEMORY`].
    ObjectMemory,
    /// [`MAX_REQUEST_BYTES`].
    RequestBytes,
}

impl Limit {
    pub(super) fn describe(self) -> String {
        let mebibytes = |bytes: usize| bytes / (1024 * 1024);
        match self {
            Self::Objects => format!("more than {MAX_OBJECTS} objects are given at once"),
            Self::KeptBytes => {
                format!("the workloads given at once are larger than {} MiB as JSON", mebibytes(MAX_KEPT_BYTES))
            }
            Self::Pairs => "the lists of the workloads given at once are too long to be compared".to_owned(),
            Self::ObjectMemory => {
                format!("the object takes more than {} MiB of memory", mebibytes(MAX_KEPT_OBJECT_MEMORY))
            }
            Self::RequestBytes => format!(
                "the object is larger than {} MiB, the most that the API server takes",
                mebibytes(MAX_REQUEST_BYTES)
            ),
        }
    }
}

impl Packer {
    pub(super) fn new(wanted: Wanted, scope: Option<Scope>) -> Self {
        let (packed, findings) = (Vec::new(), Vec::new());
        Self { wanted, bytes: MAX_KEPT_BYTES, pairs: MAX_KEPT_PAIRS, count: MAX_OBJECTS, packed, scope, findings }
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns the findings of the last document whose place in the text is still to be found.
    pub(super) fn unlocated(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.findings.iter_mut().map(|(_, finding)| finding).filter(|finding| !finding.is_located())
    }

    pub(super) fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Returns the objects, unless one of them is not what the API's types say; then all that is wrong is reported.
    pub(super) fn finish(mut self) -> Result<Vec<Packed>, ManifestError> {
        if self.findings.iter().any(|(_, finding)| !finding.is_unknown_field()) {
            let findings = self.findings.into_iter().map(|(_, finding)| finding).collect();
            return Err(ManifestError::Schema(Findings(findings)));
        }
        for (index, finding) in self.findings {
            if let Some(object) = self.packed.get_mut(index) {
                object.unknown.push(finding);
            }
        }
        Ok(self.packed)
    }

    /// Takes an object that has its identity, or refuses it. Its outline is known where the contents are gone already.
    pub(super) fn take(
        &mut self,
        value: Value,
        outline: Option<Outline>,
        place: impl Fn() -> Place,
    ) -> Result<(), ManifestError> {
        let outline = outline.unwrap_or_else(|| Outline::of(&value));
        object::require_identity(&value, outline.hook().is_some(), &place)?;
        let refused = |limit: Limit| ManifestError::Limit { place: Box::new(place()), limit: limit.describe() };
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("/apiVersion"), text("/kind"));
        let (namespace, mut name) = (text("/metadata/namespace"), text("/metadata/name"));
        if name.is_empty() {
            name = text("/metadata/generateName") + GENERATED;
        }
        let is_wanted = (self.wanted)(&api_version, &kind);
        if is_wanted && memory(&value, MAX_KEPT_OBJECT_MEMORY).is_none() {
            return Err(refused(Limit::ObjectMemory));
        }
        if is_wanted {
            self.pairs = self.pairs.checked_sub(pairs(&value)).ok_or_else(|| refused(Limit::Pairs))?;
        }
        if let (true, Some(scope)) = (is_wanted, self.scope) {
            let found = api_schema::check(&kind, &value, scope).into_iter();
            let index = self.packed.len();
            let findings = found.map(|problem| (index, Finding::new(place(), problem)));
            self.findings.extend(findings.take(MAX_FINDINGS.saturating_sub(self.findings.len())));
        }
        let value = if is_wanted { value } else { identity(value) };
        let json = value.to_string().into_boxed_str();
        drop(value);
        if json.len() > MAX_REQUEST_BYTES {
            return Err(refused(Limit::RequestBytes));
        }
        self.charge(json.len()).map_err(refused)?;
        self.packed.push(Packed {
            api_version,
            kind,
            namespace,
            name,
            json,
            outline,
            source: place().source,
            unknown: Vec::new(),
        });
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Limit> {
        self.count = self.count.checked_sub(1).ok_or(Limit::Objects)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Limit::KeptBytes)?;
        Ok(())
    }
}

/// The items of a list while it is read: packed one by one, since the kind of the list may come after them.
#[derive(Default)]
pub(super) struct Items {
    wanted: Option<Wanted>,
    bytes: usize,
    pub(super) packed: Vec<Item>,
}

/// One item of a list, packed.
pub(super) struct Item {
    json: Box<str>,
    /// Of an item without its contents.
    outline: Option<Outline>,
}

impl Item {
    pub(super) fn unpacked(self) -> (Value, Option<Outline>) {
        // It was written from a value, so it is JSON.
        (serde_json::from_str(&self.json).unwrap_or(Value::Null), self.outline)
    }

    /// Returns the item as a part of an object that is no list: what differs in its contents differs here, too.
    pub(super) fn into_part(self) -> Value {
        match self.unpacked() {
            (value, None) => value,
            (value, Some(outline)) => json!([value, format!("{outline:?}")]),
        }
    }
}

impl Items {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self { wanted: Some(wanted), ..Self::default() }
    }

    /// Packs one item. What says itself that it is not wanted keeps its identity alone.
    pub(super) fn push(&mut self, item: Value) -> Result<(), Limit> {
        let text = |field: &str| item.get(field).and_then(Value::as_str);
        let needed = match (text("apiVersion"), text("kind")) {
            (Some(version), Some(kind)) => {
                kind.ends_with("List") || self.wanted.is_none_or(|wanted| wanted(version, kind))
            }
            _ => true,
        };
        let outline = (!needed).then(|| Outline::of(&item));
        let json = if needed { item } else { identity(item) }.to_string().into_boxed_str();
        self.bytes = self.bytes.saturating_add(json.len());
        if self.packed.len() >= MAX_OBJECTS {
            return Err(Limit::Objects);
        }
        // A list within the list may be expanded once more.
        if self.bytes > MAX_KEPT_BYTES + MAX_REPEATED_BYTES {
            return Err(Limit::KeptBytes);
        }
        self.packed.push(Item { json, outline });
        Ok(())
    }
}

/// Returns what identifies the object. A value of a wrong type keeps that type, so that the error is the same.
fn identity(object: Value) -> Value {
    let Value::Object(fields) = object else { return emptied(object) };
    let metadata = |metadata: Value| {
        let Value::Object(fields) = metadata else { return emptied(metadata) };
        let named = fields.into_iter().filter(|(name, _)| IDENTITY.contains(&name.as_str()));
        Value::Object(named.map(|(name, value)| (name, emptied(value))).collect())
    };
    let mut kept = Map::new();
    for (name, value) in fields {
        match name.as_str() {
            "apiVersion" | "kind" => kept.insert(name, emptied(value)),
            "metadata" => kept.insert(name, metadata(value)),
            _ => None,
        };
    }
    Value::Object(kept)
}

fn emptied(value: Value) -> Value {
    match value {
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
    }
}

/// Counts the pairs of elements that the lists within a value have.
fn pairs(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(items) => {
            let own = items.len().saturating_mul(items.len());
            items.iter().map(pairs).fold(own, usize::saturating_add)
        }
        Value::Object(fields) => fields.values().map(pairs).fold(0, usize::saturating_add),
    }
}

/// Estimates the memory that a value takes, unless it is more than `limit` bytes.
fn memory(value: &Value, limit: usize) -> Option<usize> {
    let mut sum = VALUE_MEMORY;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => sum += TEXT_MEMORY + text.len(),
        Value::Array(items) => {
            for item in items {
                sum += memory(item, limit.checked_sub(sum)?)?;
            }
        }
        Value::Object(fields) => {
            sum += MAPPING_MEMORY;
            for (key, value) in fields {
                sum += KEY_MEMORY + TEXT_MEMORY + key.len();
                sum += memory(value, limit.checked_sub(sum)?)?;
            }
        }
    }
    (sum <= limit).then_some(sum)
}

/// Refuses one object twice: same group, kind, namespace as written, and name. Versions of one group are the same object;
/// of a hook each one is another.
pub(super) fn reject_duplicates(objects: &[Packed]) -> Result<(), ManifestError> {
    let mut seen: HashMap<[&str; 4], &Source> = HashMap::with_capacity(objects.len());
    let others = objects.iter().filter(|object| object.outline.hook().is_none());
    for Packed { api_version, kind, namespace, name, source, .. } in others {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if let Some(first) = seen.insert([group, kind, namespace, name], source) {
            let separator = if namespace.is_empty() { "" } else { "/" };
            return Err(ManifestError::Duplicate {
                object: format!("{kind} {namespace}{separator}{name}"),
                first: first.clone(),
                second: source.clone(),
            });
        }
    }
    Ok(())
}
