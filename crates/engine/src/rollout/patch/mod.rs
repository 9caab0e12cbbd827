//! Requests as values: what is sent, with everything it rests on as `test` operations.

mod drained;

use std::collections::BTreeMap;

use json_patch::Patch as JsonPatch;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::change::{FieldChanges, FieldProgress};
use crate::k8s::failure;
use crate::k8s::metadata::MetadataMap;
use crate::k8s::names::{ContainerName, PodKey, RolloutId};
use crate::k8s::operations::Operations;
pub use crate::k8s::operations::PodPart;
use crate::k8s::pod::{ContainerStatus, Pod};
use crate::state::record::{ContainerRecord, FencingToken, LaterChange, ResizeRecord, UPDATE_ANNOTATION, UpdateRecord};
use crate::state::{evidence, starts};
use crate::value::is_default;

pub use drained::{drain_patch, gate_off_patch, restore_patch};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodPatch {
    pub key: PodKey,
    pub operations: JsonPatch,
    pub field_manager: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: PodPart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImage {
    pub container: ContainerName,
    pub to: String,
}

/// What one patch of a pod sets, and what its record says besides.
#[derive(Debug, Clone, Default)]
pub struct ImageStep {
    pub images: Vec<NewImage>,
    /// Those of the same update that are set by later patches.
    pub later: Vec<NewImage>,
    /// `--after-pod` is to run once the pod is done.
    pub owes_after_pod: bool,
    pub durable: bool,
}

/// Writes every patch that a pod needs: for a dry run on the server before anything is done. `None` when a container is not
/// in the pod.
pub fn patches(
    pod: &Pod,
    images: Vec<NewImage>,
    fields: &FieldChanges,
    id: &RolloutId,
    field_manager: &str,
) -> Option<Vec<PodPatch>> {
    let is_due = |part| fields.of_part(part, pod) == FieldProgress::NotAsked;
    let mut patches = Vec::new();
    if is_due(PodPart::Resize) {
        patches.push(resize_patch(pod, fields, field_manager));
    }
    if !images.is_empty() || is_due(PodPart::Pod) {
        let step = ImageStep { images, ..ImageStep::default() };
        patches.push(step_patch(pod, &step, fields, id, field_manager)?);
    }
    Some(patches)
}

/// Writes the patch of one step of a pod's update: all containers of the step at once, so that they do not restart in
/// series. `None` when a container is not in the pod.
///
/// It tests uid, controller, absent deletionTimestamp, and each container's name, old image and containerID, and writes
/// the record into the pod's annotation: if any of these has changed, the server refuses the patch (422 without
/// details) and never applies half of it. The other fields that change are in the same patch, each tested for its value
/// before. A patch of these alone leaves the record of the last update unchanged: the containers' evidence still rests
/// on it. It is tested all the same: a run that takes over changes it.
///
/// Where other containers come later, the record holds the containers of earlier steps as well, as long as they explain what the pod asks for, and
/// says what the later ones are: so the way back is known from the middle of an update too.
pub fn step_patch(
    pod: &Pod,
    step: &ImageStep,
    fields: &FieldChanges,
    id: &RolloutId,
    field_manager: &str,
) -> Option<PodPatch> {
    let images = &step.images;
    let mut operations = guarded(pod);
    let mut record = new_record(pod, step, id, field_manager)?;
    for image in images {
        let (name, container) = operations.container(pod, image)?;
        let down_since = evidence::down_since(pod, &name, id);
        let records = if container.from == container.to { &mut record.requested } else { &mut record.containers };
        records.insert(name, ContainerRecord { down_since, ..container });
    }
    record.earlier = earlier_updates(pod, &record.containers);
    record.set_at = UpdateRecord::complete(pod).map(|before| before.set_at).unwrap_or_default();
    let is_kept = |name: &ContainerName| {
        record.requested.contains_key(name) || images.iter().all(|image| image.container != *name)
    };
    record.set_at.retain(|name, _| is_kept(name));
    fields.write(PodPart::Pod, pod, &mut operations);
    if !images.is_empty() {
        operations.record(Some(&record));
    } else if !operations.sets(MetadataMap::Annotations, UPDATE_ANNOTATION) {
        operations.record_as_it_is(pod);
    }
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// What the same rollout has noted on a pod so far, as far as that still explains what the pod asks for.
fn new_record(pod: &Pod, step: &ImageStep, id: &RolloutId, field_manager: &str) -> Option<UpdateRecord> {
    let before = UpdateRecord::of_rollout(pod, id);
    Some(UpdateRecord {
        id: id.clone(),
        later: later(pod, &step.later)?,
        containers: earlier_steps(pod, id),
        resized: before.as_ref().map(|before| before.resized.clone()).unwrap_or_default(),
        requested: before.map(|before| before.requested.clone()).unwrap_or_default(),
        drained: UpdateRecord::drained(pod),
        owes_after_pod: step.owes_after_pod,
        durable: step.durable,
        ..UpdateRecord::of_no_update(pod, field_manager)
    })
}

/// Writes the patch that notes what a resize is going to change: the API server drops everything but cpu and memory
/// from the resize itself. It tests which containers run before the resize. `None` when a container is not in the pod.
pub fn note_patch(
    pod: &Pod,
    step: &ImageStep,
    fields: &FieldChanges,
    id: &RolloutId,
    field_manager: &str,
) -> Option<PodPatch> {
    let mut operations = guarded(pod);
    let mut record = new_record(pod, step, id, field_manager)?;
    for (holder, change) in fields.resources.unasked_in(pod).0 {
        let found = holder.container().and_then(|name| pod.container_status(name));
        let found = found.map(|(list, index, status)| (list, index.to_string(), status));
        if let Some((list, index, status)) = &found {
            let path = |field| ["status", list.status_field(), index.as_str(), field];
            operations.test(path("name"), json!(status.name));
            operations.test(path("containerID"), json!(status.container_id));
        }
        // On the way back it replaces the note of the way there.
        record.containers.retain(|name, _| holder.container() != Some(name));
        let status = found.map(|(_, _, status)| status);
        let container_id = status.and_then(|status| status.container_id.clone());
        let restarts = status.filter(|_| container_id.is_some()).map(|status| status.restart_count);
        record.resized.insert(holder, ResizeRecord { change, container_id, restarts });
    }
    record.earlier = earlier_updates(pod, &record.containers);
    if let Some(before) = UpdateRecord::complete(pod) {
        record.set_at = before.set_at;
    }
    operations.record(Some(&record));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// Writes the patch that resizes a pod's containers.
///
/// It notes nothing; the earlier note is tested, since a run that takes over changes it.
pub fn resize_patch(pod: &Pod, fields: &FieldChanges, field_manager: &str) -> PodPatch {
    let mut operations = guarded(pod);
    operations.record_as_it_is(pod);
    fields.write(PodPart::Resize, pod, &mut operations);
    patch_of(pod, operations, PodPart::Resize, field_manager)
}

/// The tests that hold every patch to exactly the pod that was read.
fn guarded(pod: &Pod) -> Operations {
    let mut operations = Operations::of(pod);
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
    operations
}

/// What the same rollout has recorded of other containers, where that still explains what the pod asks for.
fn earlier_steps(pod: &Pod, id: &RolloutId) -> BTreeMap<ContainerName, ContainerRecord> {
    let Some(before) = UpdateRecord::of_rollout(pod, id) else { return BTreeMap::new() };
    let explained =
        before.containers.keys().filter_map(|name| Some((name.clone(), before.container(pod, name)?.clone())));
    explained.collect()
}

/// What earlier rollouts have recorded of containers that this one does not change, where that still explains what the
/// pod asks for.
fn earlier_updates(
    pod: &Pod,
    changed: &BTreeMap<ContainerName, ContainerRecord>,
) -> BTreeMap<ContainerName, ContainerRecord> {
    let Some(before) = UpdateRecord::of(pod) else { return BTreeMap::new() };
    let names = before.containers.keys().chain(before.earlier.keys()).filter(|name| !changed.contains_key(*name));
    names.filter_map(|name| Some((name.clone(), before.baseline(pod, name)?.clone()))).collect()
}

fn later(pod: &Pod, images: &[NewImage]) -> Option<BTreeMap<ContainerName, LaterChange>> {
    let changes = images.iter().map(|image| {
        let from = pod.spec_of(&image.container)?.image.clone();
        Some((image.container.clone(), LaterChange { from, to: image.to.clone() }))
    });
    changes.collect()
}

/// Whether the image that the pod asks for now has never become a container: it cannot be pulled, or the shown
/// container is still the old one from before the update that brought it.
fn never_ran(pod: &Pod, status: &ContainerStatus) -> bool {
    let Some(waiting) = status.state.waiting.as_ref() else { return false };
    let record = UpdateRecord::of(pod);
    let before = record.as_ref().and_then(|record| record.baseline(pod, &status.name));
    let is_older =
        before.is_some_and(|before| before.container_id.is_some() && before.container_id == status.container_id);
    is_older || failure::is_pull(&waiting.reason)
}

/// The image of the shown container, where it is still the old one from before the update that brought the image which
/// the pod asks for now: the kubelet may be about to create that one.
fn in_flight(pod: &Pod, status: &ContainerStatus) -> Option<String> {
    let record = UpdateRecord::of(pod)?;
    let before = record.baseline(pod, &status.name)?;
    let is_older = before.container_id.is_some() && before.container_id == status.container_id;
    is_older.then(|| before.in_flight.as_ref().unwrap_or(&before.from).clone())
}

fn patch_of(pod: &Pod, operations: Operations, part: PodPart, field_manager: &str) -> PodPatch {
    let operations = operations.into_patch(pod);
    PodPatch { key: pod.key.clone(), operations, field_manager: field_manager.to_owned(), part }
}

impl Operations {
    fn container(&mut self, pod: &Pod, image: &NewImage) -> Option<(ContainerName, ContainerRecord)> {
        let name = &image.container;
        let (list, index, container) = pod.container(name)?;
        let index = index.to_string();
        let path = |field| ["spec", list.spec_field(), index.as_str(), field];
        self.test(path("name"), json!(name));
        self.test(path("image"), json!(container.image));
        let mut record = ContainerRecord {
            from: container.image.clone(),
            to: image.to.clone(),
            starts: starts::noted(pod, name),
            ..ContainerRecord::default()
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
                record.restarts = status.container_id.is_some().then_some(status.restart_count);
                record.waiting = status.state.waiting.as_ref().map(|waiting| waiting.reason.clone());
                record.never_ran = never_ran(pod, status);
                record.in_flight = in_flight(pod, status);
            }
            None if pod.statuses(list).is_empty() => self.test(["status", list.status_field()], Value::Null),
            None => {}
        }
        if image.to != container.image {
            self.replace(path("image"), json!(image.to));
        }
        Some((name.clone(), record))
    }
}

/// Writes the patch that notes that the user's `--after-pod` command has run: until then the pod's record says that it is
/// owed, so that a run that goes on with the rollout, on any machine that has the command, runs it. It tests uid and the
/// record as it was read; `None` when nothing is owed.
pub fn after_pod_patch(pod: &Pod, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::complete(pod).filter(|record| record.owes_after_pod)?;
    let record = UpdateRecord { owes_after_pod: false, ..record };
    let mut operations = Operations::of(pod);
    operations.record(Some(&record));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// Writes the patch that notes on a pod that another run has taken over: whatever the run before has on its way rests on
/// the record as it was, and is refused from then on, however late it comes. It stays until the pod's next update: there is
/// no time after which a request cannot arrive. `None` when the pod says so already.
pub fn taken_over_patch(pod: &Pod, by: &FencingToken, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::complete(pod).unwrap_or_else(|| UpdateRecord::of_no_update(pod, field_manager));
    if record.taken_over.as_ref() == Some(by) {
        return None;
    }
    let mut operations = Operations::of(pod);
    operations.record(Some(&UpdateRecord { taken_over: Some(by.clone()), ..record }));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// Writes the patch of a pod with a single step.
#[cfg(test)]
pub(crate) fn pod_patch(
    pod: &Pod,
    images: &[NewImage],
    fields: &FieldChanges,
    id: &RolloutId,
    field_manager: &str,
) -> Option<PodPatch> {
    let step = ImageStep { images: images.to_vec(), ..ImageStep::default() };
    step_patch(pod, &step, fields, id, field_manager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{MetadataChange, ValueChange};
    use json_patch::PatchOperation;

    fn change(from: Option<&str>, to: Option<&str>) -> ValueChange {
        ValueChange { from: from.map(str::to_owned), to: to.map(str::to_owned) }
    }

    /// Applies the patch of the metadata to the object as the API server would.
    fn patched(object: &Value, images: &[NewImage], metadata: MetadataChange) -> Result<Value, json_patch::PatchError> {
        let pod = Pod::from_object(object).unwrap();
        let patch = pod_patch(&pod, images, &metadata.into(), &RolloutId::from("one"), "inplace-cli").unwrap();
        let mut object = object.clone();
        json_patch::patch(&mut object, &tolerant(&patch.operations)).map(|()| object)
    }

    /// The API server takes an absent value for null in a test; the crate does not.
    pub(crate) fn tolerant(patch: &JsonPatch) -> JsonPatch {
        let is_null =
            |operation: &&PatchOperation| matches!(operation, PatchOperation::Test(test) if test.value.is_null());
        JsonPatch(patch.0.iter().filter(|operation| !is_null(operation)).cloned().collect())
    }

    fn pod(metadata: &Value) -> Value {
        let mut object = json!({"metadata": {"name": "web-0", "namespace": "prod", "uid": "u"},
            "spec": {"containers": [{"name": "side", "image": "side:1"}]},
            "status": {"containerStatuses": [{"name": "side", "containerID": "containerd://1"}]}});
        for (key, value) in metadata.as_object().unwrap() {
            object["metadata"][key] = value.clone();
        }
        object
    }

    #[test]
    fn metadata_is_added_replaced_and_removed_in_the_same_patch() {
        let wanted = MetadataChange {
            labels: [("tier".into(), change(Some("a"), Some("b"))), ("new/key~".into(), change(None, Some("1")))]
                .into(),
            annotations: [("gone".into(), change(Some("x"), None))].into(),
        };
        let images = [NewImage { container: "side".into(), to: "side:2".into() }];
        let before = pod(&json!({"labels": {"tier": "a", "app": "web"}, "annotations": {"gone": "x", "kept": "y"}}));
        let after = patched(&before, &images, wanted).unwrap();
        assert_eq!(after["metadata"]["labels"], json!({"tier": "b", "app": "web", "new/key~": "1"}));
        assert_eq!(after["metadata"]["annotations"]["kept"], "y");
        assert!(after["metadata"]["annotations"].get("gone").is_none());
        assert!(after["metadata"]["annotations"].get(UPDATE_ANNOTATION).is_some());
        assert_eq!(after["spec"]["containers"][0]["image"], "side:2");
    }

    #[test]
    fn metadata_alone_leaves_the_record_unchanged() {
        let wanted = MetadataChange { labels: [("tier".into(), change(None, Some("b")))].into(), ..Default::default() };
        let after = patched(&pod(&json!({})), &[], wanted.clone()).unwrap();
        assert_eq!(after["metadata"]["labels"], json!({"tier": "b"}));
        assert!(after["metadata"].get("annotations").is_none());
        let before = pod(&json!({"annotations": {UPDATE_ANNOTATION: "{}"}}));
        let after = patched(&before, &[], wanted).unwrap();
        assert_eq!(after["metadata"]["annotations"], before["metadata"]["annotations"]);
    }

    #[test]
    fn an_update_keeps_what_earlier_ones_have_recorded_of_other_containers() {
        let mut object = pod(&json!({}));
        object["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "app", "image": "app:1"}));
        let mut set = |id: &str, container: &str, to: &str| {
            let seen = Pod::from_object(&object).unwrap();
            let images = [NewImage { container: container.into(), to: to.into() }];
            let none = FieldChanges::default();
            let patch = pod_patch(&seen, &images, &none, &RolloutId::from(id), "inplace-cli").unwrap();
            json_patch::patch(&mut object, &tolerant(&patch.operations)).unwrap();
            let record = UpdateRecord::complete(&Pod::from_object(&object).unwrap()).unwrap();
            let names = |records: &BTreeMap<ContainerName, ContainerRecord>| {
                records.iter().map(|(name, record)| format!("{name} {}", record.to)).collect::<Vec<_>>().join(",")
            };
            (names(&record.containers), names(&record.earlier))
        };
        let text = |this: &str, earlier: &str| (this.to_owned(), earlier.to_owned());
        assert_eq!(set("one", "side", "side:2"), text("side side:2", ""));
        assert_eq!(set("two", "app", "app:2"), text("app app:2", "side side:2"));
        assert_eq!(
            set("two", "side", "side:3"),
            text("app app:2,side side:3", ""),
            "a further step of the same update"
        );
        assert_eq!(set("three", "side", "side:4"), text("side side:4", "app app:2"));
        object["spec"]["containers"][1]["image"] = "app:9".into();
        let seen = Pod::from_object(&object).unwrap();
        assert!(earlier_updates(&seen, &BTreeMap::new()).contains_key(&"side".into()));
        assert!(
            !earlier_updates(&seen, &BTreeMap::new()).contains_key(&"app".into()),
            "another client has set another image"
        );
    }

    #[test]
    fn a_value_that_changed_fails_the_whole_patch() {
        let wanted =
            MetadataChange { labels: [("tier".into(), change(Some("a"), Some("b")))].into(), ..Default::default() };
        let seen = Pod::from_object(&pod(&json!({"labels": {"tier": "a"}}))).unwrap();
        let patch = pod_patch(&seen, &[], &wanted.into(), &RolloutId::from("one"), "inplace-cli").unwrap();
        let mut moved = pod(&json!({"labels": {"tier": "c"}}));
        assert!(json_patch::patch(&mut moved, &tolerant(&patch.operations)).is_err());
    }
}
