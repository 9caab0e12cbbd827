//! The API server of the simulation: the model of `testkit::api_model` with pods that are parsed once, when they
//! are written.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::k8s::names::PodKey;
use crate::k8s::pod::{ImageSet, Pod};
use crate::rollout::patch::{PodPart, PodPatch};
use crate::rollout::{Now, Observation};
use testkit::api_model::{self, Change, Object, Part, Refused, Store};

impl Object for Pod {
    fn keep_version(&mut self, of: &Self) {
        self.resource_version = of.resource_version;
    }

    fn set_version(&mut self, version: u64) {
        self.resource_version = version;
    }
}

/// One stored write.
pub(super) type Event = Change<String, Pod, ()>;

/// Returns the pod of an event.
pub(super) fn pod_of(event: &Event) -> &Pod {
    event.after.as_ref().or(event.before.as_ref()).expect("it was there or is")
}

/// The observation that a watch reports of it.
pub(super) fn reported(event: &Event) -> Observation {
    let pod = pod_of(event);
    if event.after.is_some() {
        Observation::Applied(Box::new(pod.clone()))
    } else {
        Observation::Deleted(pod.key.clone())
    }
}

/// The objects and their history.
#[derive(Debug, Clone, Default)]
pub(super) struct ApiServer(Store<String, Pod, ()>);

/// Writes a time as the API does: whole seconds.
pub(super) fn timestamp(now: Now) -> String {
    let seconds = now.as_secs();
    let (days, rest) = (1 + seconds / 86_400, seconds % 86_400);
    format!("2026-03-{days:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

impl ApiServer {
    pub(super) fn history(&self) -> &[Event] {
        self.0.history()
    }

    /// The pod with that uid, not another one of its name.
    pub(super) fn pod(&self, key: &PodKey) -> Option<&Pod> {
        self.0.get(&key.name).map(Arc::as_ref).filter(|pod| pod.key == *key)
    }

    pub(super) fn list(&self) -> Vec<Pod> {
        self.0.list(.., u64::MAX).map(|(_, pod)| (**pod).clone()).collect()
    }

    pub(super) fn create(&mut self, mut pod: Pod) {
        pod.generation = pod.generation.map(|_| 1);
        self.0.put(&pod.key.name.clone(), pod, ());
    }

    /// Changes a pod, unless it is gone or would stay the same.
    pub(super) fn change(&mut self, key: &PodKey, change: impl FnOnce(&mut Pod)) {
        let Some(before) = self.pod(key) else { return };
        let mut pod = before.clone();
        change(&mut pod);
        if pod.spec != before.spec {
            pod.generation = pod.generation.map(|generation| generation + 1);
        }
        self.0.put(&key.name, pod, ());
    }

    pub(super) fn delete(&mut self, key: &PodKey) {
        if self.pod(key).is_some() {
            self.0.remove(&key.name, ());
        }
    }

    /// Sets images as any writer does, with its mark in managedFields.
    pub(super) fn set_image(&mut self, key: &PodKey, container: &str, image: &str, manager: &str, now: Now) {
        self.change(key, |pod| {
            let before = pod.clone();
            let containers = pod.spec.containers.iter_mut().filter(|c| c.name.as_str() == container);
            containers.for_each(|container| image.clone_into(&mut container.image));
            mark_images(&before, pod, manager, now);
        });
    }

    /// Carries out a patch as the API server does: all of it or nothing.
    pub(super) fn patch(&mut self, patch: &PodPatch, now: Now) -> Result<(), Refused> {
        let before = self.0.get(&patch.key.name).cloned().ok_or(Refused::NotFound)?;
        let live = object(&before);
        let mut next = live.clone();
        api_model::carry_out(&mut next, &patch.operations)?;
        let part = match patch.part {
            PodPart::Pod => Part::Main,
            PodPart::Status => Part::Status,
            PodPart::Resize => Part::Resize,
        };
        api_model::keep("Pod", part, &live, &mut next);
        let mut after = Pod::from_object(&next).expect("a patched pod is a pod");
        after.image_set = before.image_set.clone();
        mark_images(&before, &mut after, &patch.field_manager, now);
        self.change(&before.key, |pod| *pod = after);
        Ok(())
    }
}

/// Marks the images that a writer has set.
fn mark_images(before: &Pod, after: &mut Pod, manager: &str, now: Now) {
    let changed = after.spec.containers.iter().zip(&before.spec.containers).filter(|(a, b)| a.image != b.image);
    for (container, _) in changed {
        let set = ImageSet { manager: manager.to_owned(), time: timestamp(now) };
        after.image_set.insert(container.name.clone(), set);
    }
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
