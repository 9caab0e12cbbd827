//! Requests as values: what is sent, with everything it rests on as `test` operations.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch as JsonPatch, PatchOperation, ReplaceOperation, TestOperation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::names::{ContainerName, PodKey, RolloutId};
use super::pod::Pod;
use super::record::{ContainerRecord, UPDATE_ANNOTATION, UpdateRecord};

/// A JSON patch of one pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodPatch {
    /// The very pod.
    pub key: PodKey,
    /// Tests and changes, in order.
    pub operations: JsonPatch,
    /// The field manager.
    pub field_manager: String,
}

/// One container's new image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImage {
    /// The container.
    pub container: ContainerName,
    /// The image to set.
    pub to: String,
}

/// Why no patch can be written for a pod as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The container is not in the pod.
    #[error("the pod has no container {0}")]
    NoSuchContainer(ContainerName),
}

/// Writes the one patch of a pod: all its containers at once, so that they do not restart in series.
///
/// It tests uid, controller, absent deletionTimestamp, and each container's name, old image and containerID, and
/// writes the record into the pod's annotation: a pod that moved in any of these is refused by the server (422 without
/// details), never half patched.
///
/// # Errors
/// When a container is not in the pod.
pub fn pod_patch(pod: &Pod, images: &[NewImage], id: &RolloutId, field_manager: &str) -> Result<PodPatch, PatchError> {
    let mut operations = Operations::default();
    operations.test(["metadata", "uid"], json!(pod.key.uid));
    match pod.owners.iter().position(|owner| owner.controller) {
        Some(index) => {
            let index = index.to_string();
            let uid = pod.controller().map(|owner| owner.uid.clone());
            operations.test(["metadata", "ownerReferences", &index, "uid"], json!(uid));
            operations.test(["metadata", "ownerReferences", &index, "controller"], json!(true));
        }
        None if pod.owners.is_empty() => operations.test(["metadata", "ownerReferences"], Value::Null),
        None => {}
    }
    operations.test(["metadata", "deletionTimestamp"], Value::Null);
    let mut record = UpdateRecord { id: id.clone(), manager: field_manager.to_owned(), containers: [].into() };
    for image in images {
        let (name, container) = operations.container(pod, image)?;
        record.containers.insert(name, container);
    }
    operations.annotate(pod, &record);
    Ok(PodPatch { key: pod.key.clone(), operations: JsonPatch(operations.0), field_manager: field_manager.to_owned() })
}

#[derive(Default)]
struct Operations(Vec<PatchOperation>);

impl Operations {
    fn test<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, value: Value) {
        self.0.push(PatchOperation::Test(TestOperation { path: PointerBuf::from_tokens(path), value }));
    }

    fn container(&mut self, pod: &Pod, image: &NewImage) -> Result<(ContainerName, ContainerRecord), PatchError> {
        let name = &image.container;
        let (list, index, container) = pod.container(name).ok_or_else(|| PatchError::NoSuchContainer(name.clone()))?;
        let index = index.to_string();
        let path = |field| ["spec", list.spec_field(), index.as_str(), field];
        self.test(path("name"), json!(name));
        self.test(path("image"), json!(container.image));
        let mut record = ContainerRecord {
            from: container.image.clone(),
            to: image.to.clone(),
            image_id: String::new(),
            container_id: None,
            waiting: None,
        };
        match pod.container_status(name) {
            Some((list, index, status)) => {
                let index = index.to_string();
                let path = |field| ["status", list.status_field(), index.as_str(), field];
                self.test(path("name"), json!(name));
                // An empty id is not served (`omitempty`): absent, which a test with null says.
                self.test(path("containerID"), json!(status.container_id));
                record.image_id.clone_from(&status.image_id);
                record.container_id.clone_from(&status.container_id);
                record.waiting = status.state.waiting.as_ref().map(|waiting| waiting.reason.clone());
            }
            None if pod.statuses(list).is_empty() => self.test(["status", list.status_field()], Value::Null),
            None => {}
        }
        let path = PointerBuf::from_tokens(path("image"));
        self.0.push(PatchOperation::Replace(ReplaceOperation { path, value: json!(image.to) }));
        Ok((name.clone(), record))
    }

    /// `add` into an absent map fails, so an absent map is tested for and added whole.
    fn annotate(&mut self, pod: &Pod, record: &UpdateRecord) {
        let record = json!(serde_json::to_string(record).unwrap_or_default());
        let (path, value) = if pod.annotations.is_empty() {
            self.test(["metadata", "annotations"], Value::Null);
            (PointerBuf::from_tokens(["metadata", "annotations"]), json!({ UPDATE_ANNOTATION: record }))
        } else {
            let path = ["metadata", "annotations", UPDATE_ANNOTATION];
            self.test(path, json!(pod.annotations.get(UPDATE_ANNOTATION)));
            (PointerBuf::from_tokens(path), record)
        };
        self.0.push(PatchOperation::Add(AddOperation { path, value }));
    }
}
