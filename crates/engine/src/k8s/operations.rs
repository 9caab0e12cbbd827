//! The operations of one guarded JSON patch of a pod: whatever it changes is tested for what it was.

use std::collections::BTreeMap;

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, TestOperation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::k8s::metadata::MetadataMap;
use crate::k8s::pod::Pod;

/// Which part of a pod a patch is sent to: each ignores what belongs to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PodPart {
    #[default]
    Pod,
    Status,
    Resize,
}

impl PodPart {
    /// Returns what follows `pods` where a permission is named.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Pod => "",
            Self::Status => "/status",
            Self::Resize => "/resize",
        }
    }
}

/// The operations so far, and the labels and annotations that are written last: an absent map is added as a whole, so
/// a change of one of its keys needs the others.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    list: Vec<PatchOperation>,
    metadata: BTreeMap<(MetadataMap, String), Option<String>>,
}

impl Operations {
    /// Begins with the pod's uid.
    pub(crate) fn of(pod: &Pod) -> Self {
        let mut operations = Self::default();
        operations.test(["metadata", "uid"], json!(pod.key.uid));
        operations
    }

    /// Tests a value; null passes where there is none.
    pub(crate) fn test<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, value: Value) {
        self.list.push(PatchOperation::Test(TestOperation { path: PointerBuf::from_tokens(path), value }));
    }

    pub(crate) fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, value: Value) {
        self.list.push(PatchOperation::Add(AddOperation { path: PointerBuf::from_tokens(path), value }));
    }

    pub(crate) fn replace<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, value: Value) {
        self.list.push(PatchOperation::Replace(ReplaceOperation { path: PointerBuf::from_tokens(path), value }));
    }

    pub(crate) fn remove<'a>(&mut self, path: impl IntoIterator<Item = &'a str>) {
        self.list.push(PatchOperation::Remove(RemoveOperation { path: PointerBuf::from_tokens(path) }));
    }

    pub(crate) fn set(&mut self, map: MetadataMap, key: &str, to: Option<String>) {
        self.metadata.insert((map, key.to_owned()), to);
    }

    pub(crate) fn sets(&self, map: MetadataMap, key: &str) -> bool {
        self.metadata.contains_key(&(map, key.to_owned()))
    }

    /// Returns the patch of what is no pod: without labels and annotations.
    pub(crate) fn into_list(self) -> Patch {
        Patch(self.list)
    }

    /// Returns the patch, with labels and annotations tested for what they are.
    pub(crate) fn into_patch(mut self, pod: &Pod) -> Patch {
        let metadata = std::mem::take(&mut self.metadata);
        for map in MetadataMap::ALL {
            let of_map = metadata.iter().filter(|((of, _), _)| *of == map);
            self.write(map, map.of(pod), of_map.map(|((_, key), to)| (key, to.as_ref())).collect());
        }
        Patch(self.list)
    }

    /// `add` into an absent map fails, so an absent map is tested for and added whole.
    fn write(
        &mut self,
        map: MetadataMap,
        present: &BTreeMap<String, String>,
        changes: BTreeMap<&String, Option<&String>>,
    ) {
        let field = map.field();
        if changes.is_empty() {
            return;
        }
        if present.is_empty() {
            self.test(["metadata", field], Value::Null);
            let values: BTreeMap<_, _> = changes.into_iter().filter_map(|(key, to)| Some((key, to?))).collect();
            self.add(["metadata", field], json!(values));
            return;
        }
        for (key, to) in changes {
            let path = ["metadata", field, key.as_str()];
            self.test(path, json!(present.get(key)));
            match (present.contains_key(key), to) {
                (false, Some(to)) => self.add(path, json!(to)),
                (true, Some(to)) => self.replace(path, json!(to)),
                (true, None) => self.remove(path),
                (false, None) => {}
            }
        }
    }
}
