//! Manifests as their authors wrote them; and what counts of an object that is not looked at: whether it is a hook, and enough to
//! see that it differs.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::k8s::metadata::{LAST_APPLIED, MetadataMap};
use crate::kinds;
use crate::state::field_managers::is_mark_of_a_tool;
use crate::state::record::OWN_PREFIX;

/// Metadata that the API server sets: a manifest that was read from a cluster carries it.
const SET_BY_THE_SERVER: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Returns whether a field of an object's metadata is its author's.
fn is_written(field: &str) -> bool {
    !SET_BY_THE_SERVER.contains(&field)
}

/// Returns whether an annotation or label of an object is its author's: not kubectl's record of the last apply, a tool's mark,
/// this program's, or a controller's counter, which an exported manifest still has, and the server's answer raised.
fn is_written_key(key: &str) -> bool {
    key != LAST_APPLIED && !is_mark_of_a_tool(key) && !kinds::is_counter(key) && !key.starts_with(OWN_PREFIX)
}

pub(super) fn leave_out_notes(metadata: &mut Map<String, Value>) {
    metadata.retain(|name, _| is_written(name));
    for map in MetadataMap::ALL {
        let Some(Value::Object(entries)) = metadata.get_mut(map.field()) else { continue };
        entries.retain(|key, _| is_written_key(key));
        if entries.is_empty() {
            metadata.shift_remove(map.field());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hook {
    /// Helm's (`SortManifests` in pkg/release/v1/util), whatever the value; Argo CD takes it for one, too.
    Helm,
    /// Argo CD's (`IsHook` in pkg/sync/hook of its gitops-engine), or what it does not apply at all (`Skip`).
    ArgoCd,
}

impl Hook {
    const ALL: [Self; 2] = [Self::ArgoCd, Self::Helm];

    fn annotation(self) -> &'static str {
        match self {
            Self::Helm => "helm.sh/hook",
            Self::ArgoCd => "argocd.argoproj.io/hook",
        }
    }

    pub fn of(object: &Value) -> Option<Self> {
        let annotations = object.pointer("/metadata/annotations")?.as_object()?;
        Self::ALL.into_iter().find(|hook| annotations.contains_key(hook.annotation()))
    }
}

/// What counts of an object that is not looked at: whether it is a hook, and enough to see that it differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Outline {
    hook: Option<Hook>,
    whole: Fingerprint,
    templates: Vec<Fingerprint>,
}

/// Twice, since 64 bits may meet by chance.
pub(super) type Fingerprint = [u64; 2];

fn fingerprint(value: &impl Hash) -> Fingerprint {
    [0_u8, 1].map(|seed| {
        let mut hasher = DefaultHasher::new();
        (seed, value).hash(&mut hasher);
        hasher.finish()
    })
}

impl Outline {
    /// Takes what its author wrote: not what the server and controllers add, nor the namespace, which a flag may give.
    pub(super) fn of(object: &Value) -> Self {
        let metadata = object.get("metadata");
        let of_metadata = |field: &str| is_written(field) && field != "annotations" && field != "namespace";
        let parts = (
            fields(Some(object), |field| field != "metadata" && field != "status"),
            fields(metadata, of_metadata),
            fields(metadata.and_then(|metadata| metadata.get("annotations")), is_written_key),
        );
        let mut templates = Vec::new();
        add_templates(object, true, &mut templates);
        Self { hook: Hook::of(object), whole: fingerprint(&parts), templates }
    }

    pub(super) fn hook(&self) -> Option<Hook> {
        self.hook
    }

    pub(super) fn templates(&self) -> &[Fingerprint] {
        &self.templates
    }
}

/// The fields of an object that count, by name.
fn fields(object: Option<&Value>, counts: impl Fn(&str) -> bool) -> Vec<(&String, &Value)> {
    let all = object.and_then(Value::as_object).into_iter().flatten();
    let mut fields: Vec<_> = all.filter(|(name, _)| counts(name)).collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    fields
}

/// Finds the pod templates wherever they are: below a field whose name says so, or the object itself, with a list of containers.
fn add_templates(value: &Value, is_template: bool, found: &mut Vec<Fingerprint>) {
    match value {
        Value::Object(_) => {
            let containers = value.pointer("/spec/containers").and_then(Value::as_array);
            if is_template && containers.is_some_and(|containers| containers.iter().any(Value::is_object)) {
                let of_metadata = |map: &str| value.pointer(&format!("/metadata/{map}"));
                let labels = fields(of_metadata("labels"), |_| true);
                let annotations = fields(of_metadata("annotations"), is_written_key);
                found.push(fingerprint(&(labels, annotations, value.get("spec"))));
                return;
            }
            for (name, value) in fields(Some(value), |_| true) {
                add_templates(value, name.ends_with("emplate"), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_templates(item, false, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub trait Written {
    /// Returns `apiVersion`, `kind`, the namespace (empty where it names none) and the name.
    fn identity(&self) -> [&str; 4];

    fn object(&self) -> &Value;
}

impl Written for Value {
    fn identity(&self) -> [&str; 4] {
        let text = |pointer: &str| self.pointer(pointer).and_then(Self::as_str).unwrap_or_default();
        ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(text)
    }

    fn object(&self) -> &Value {
        self
    }
}

/// The manifest without what the server and controllers write.
pub(super) fn written(manifest: &Value) -> Value {
    let mut object = manifest.clone();
    let Value::Object(fields) = &mut object else { return object };
    fields.shift_remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        leave_out_notes(metadata);
        // The pair was matched by it: as written in one manifest, as given by a flag for the other.
        metadata.shift_remove("namespace");
    }
    object
}
