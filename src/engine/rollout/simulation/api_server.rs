//! The simulated API server: pods, a resourceVersion counter, JSON patches with their tests, and a history to watch.

use std::collections::BTreeMap;
use std::rc::Rc;

use json_patch::PatchOperation;
use serde_json::{Value, json};

use crate::engine::k8s::names::PodKey;
use crate::engine::k8s::pod::{ImageSet, Pod};
use crate::engine::rollout::patch::{PodPart, PodPatch};
use crate::engine::rollout::{Now, Observation};

/// What became of a patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Patched {
    Stored,
    NotFound,
    TestFailed(String),
}

/// The objects and their history.
#[derive(Debug, Clone, Default)]
pub(super) struct ApiServer {
    pods: BTreeMap<String, Pod>,
    version: u64,
    pub(super) history: Vec<Rc<Observation>>,
}

/// Writes a time as the API does: whole seconds.
pub(super) fn timestamp(now: Now) -> String {
    let seconds = now.as_secs();
    let (days, rest) = (1 + seconds / 86_400, seconds % 86_400);
    format!("2026-03-{days:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

impl ApiServer {
    /// The very pod, not another one of its name.
    pub(super) fn pod(&self, key: &PodKey) -> Option<&Pod> {
        self.pods.get(&key.name).filter(|pod| pod.key == *key)
    }

    pub(super) fn list(&self) -> Vec<Pod> {
        self.pods.values().cloned().collect()
    }

    pub(super) fn create(&mut self, mut pod: Pod) {
        pod.generation = pod.generation.map(|_| 1);
        self.store(pod);
    }

    fn store(&mut self, mut pod: Pod) {
        self.version += 1;
        pod.resource_version = self.version;
        self.history.push(Rc::new(Observation::Applied(Box::new(pod.clone()))));
        self.pods.insert(pod.key.name.clone(), pod);
    }

    /// Changes a pod, unless it is gone or would stay the same.
    pub(super) fn change(&mut self, key: &PodKey, change: impl FnOnce(&mut Pod)) {
        let Some(before) = self.pod(key) else { return };
        let mut pod = before.clone();
        change(&mut pod);
        if pod == *before {
            return;
        }
        if pod.spec != before.spec {
            pod.generation = pod.generation.map(|generation| generation + 1);
        }
        self.store(pod);
    }

    pub(super) fn delete(&mut self, key: &PodKey) {
        if self.pod(key).is_none() {
            return;
        }
        self.version += 1;
        self.pods.remove(&key.name);
        self.history.push(Rc::new(Observation::Deleted(key.clone())));
    }

    /// Sets images as any writer does, with its mark in managedFields.
    pub(super) fn set_image(&mut self, key: &PodKey, container: &str, image: &str, manager: &str, now: Now) {
        self.change(key, |pod| {
            for container in pod.spec.containers.iter_mut().filter(|c| c.name.as_str() == container && c.image != image)
            {
                image.clone_into(&mut container.image);
                let set = ImageSet { manager: manager.to_owned(), time: timestamp(now) };
                pod.image_set.insert(container.name.clone(), set);
            }
        });
    }

    /// Carries out a patch as the API server does: all of it or nothing.
    pub(super) fn patch(&mut self, patch: &PodPatch, now: Now) -> Patched {
        let Some(before) = self.pods.get(&patch.key.name).cloned() else { return Patched::NotFound };
        let mut object = object(&before);
        if let Err(message) = apply(&mut object, &patch.operations) {
            return Patched::TestFailed(message);
        }
        let mut after = Pod::from_object(&object).expect("a patched pod is a pod");
        if patch.part == PodPart::Resize {
            // Everything else in such a request is dropped without a word.
            let resized = std::mem::replace(&mut after, before.clone()).spec;
            after.spec.resources = resized.resources;
            for (container, resized) in after.spec.containers.iter_mut().zip(resized.containers) {
                container.resources = resized.resources;
            }
        }
        after.image_set = before.image_set.clone();
        let changed = after.spec.containers.iter().zip(&before.spec.containers).filter(|(a, b)| a.image != b.image);
        for (container, _) in changed {
            let set = ImageSet { manager: patch.field_manager.clone(), time: timestamp(now) };
            after.image_set.insert(container.name.clone(), set);
        }
        self.change(&before.key, |pod| *pod = after);
        Patched::Stored
    }
}

/// Carries out operations as the API server does.
pub(super) fn apply(object: &mut Value, operations: &json_patch::Patch) -> Result<(), String> {
    for operation in &operations.0 {
        // Unlike json_patch, the API server lets a test with null pass on a missing key.
        if let PatchOperation::Test(test) = operation
            && test.value.is_null()
        {
            match test.path.resolve(object) {
                Ok(found) if !found.is_null() => return Err(test.path.to_string()),
                Ok(_) | Err(_) => continue,
            }
        }
        json_patch::patch(object, std::slice::from_ref(operation)).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The pod as the API serves it, as far as it is simulated.
fn object(pod: &Pod) -> Value {
    let mut object = json!({
        "metadata": {
            "namespace": pod.key.namespace, "name": pod.key.name, "uid": pod.key.uid,
            "resourceVersion": pod.resource_version.to_string(), "generation": pod.generation,
            "labels": pod.labels, "annotations": pod.annotations, "ownerReferences": pod.owners,
            "deletionTimestamp": pod.terminating.then_some("2026-03-01T00:00:00Z"),
        },
        "spec": pod.spec,
        "status": pod.status,
    });
    omit_empty(&mut object);
    object
}

/// Drops what Go's `omitempty` drops.
fn omit_empty(value: &mut Value) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(omit_empty);
    }
    let Value::Object(map) = value else { return };
    map.values_mut().for_each(omit_empty);
    map.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
}
