//! The two patches of a drain by label: off, and back on. The record goes with each of them in one piece.
//!
//! Between the two the pod's record says which label is off, also through the patch of its images, which keeps it. So any
//! later run finds it, on any machine.

use json_patch::Patch as JsonPatch;
use serde_json::{Value, json};

use super::{Operations, PodPatch};
use crate::engine::metadata::{MetadataMap, ValueChange};
use crate::engine::pod::Pod;
use crate::engine::record::{DrainedLabel, UPDATE_ANNOTATION, UpdateRecord};

/// Writes the patch that takes a label off a pod and records it. It tests uid, absent deletionTimestamp, the label's value
/// and the record as it was read.
///
/// `None` when the pod does not have that very label, or has another one off already: that one has to be put back first.
/// The record of an earlier update stays what it is; a pod without one gets a record of no rollout, so that nothing takes
/// the drain for an update.
pub fn drain_patch(pod: &Pod, label: &DrainedLabel, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::of(pod);
    let is_drained = record.as_ref().is_some_and(|record| record.drained.is_some());
    if is_drained || pod.labels.get(&label.key) != Some(&label.value) {
        return None;
    }
    let mut record = record.unwrap_or_else(|| UpdateRecord {
        id: "".into(),
        manager: field_manager.to_owned(),
        containers: [].into(),
        drained: None,
        later: [].into(),
        owes_after_pod: false,
    });
    record.drained = Some(label.clone());
    let off = ValueChange { from: Some(label.value.clone()), to: None };
    Some(patch(pod, Some((&label.key, off)), Some(&record), field_manager))
}

/// Writes the patch that puts back the label that the pod's record says is off, and takes it out of the record. It tests
/// uid, that the label is absent, and the record as it was read. A terminating pod takes it as well: its labels may have to
/// be right for whoever looks.
///
/// `None` when no label is off. Where somebody has put the label back already, with whatever value, theirs stays and only the
/// record is cleared.
pub fn restore_patch(pod: &Pod, field_manager: &str) -> Option<PodPatch> {
    let mut record = UpdateRecord::of(pod)?;
    let label = record.drained.take()?;
    let on = ValueChange { from: None, to: Some(label.value) };
    let change = (!pod.labels.contains_key(&label.key)).then_some((label.key.as_str(), on));
    let record = (!record.containers.is_empty()).then_some(&record);
    Some(patch(pod, change, record, field_manager))
}

fn patch(
    pod: &Pod,
    label: Option<(&str, ValueChange)>,
    record: Option<&UpdateRecord>,
    field_manager: &str,
) -> PodPatch {
    let mut operations = Operations::default();
    operations.test(["metadata", "uid"], json!(pod.key.uid));
    if label.as_ref().is_some_and(|(_, change)| change.to.is_none()) {
        operations.test(["metadata", "deletionTimestamp"], Value::Null);
    }
    if let Some((key, change)) = label {
        operations.metadata(MetadataMap::Labels, &pod.labels, &[(key.to_owned(), change)].into());
    }
    let record = ValueChange {
        from: pod.annotations.get(UPDATE_ANNOTATION).cloned(),
        to: record.map(|record| serde_json::to_string(record).unwrap_or_default()),
    };
    let record = [(UPDATE_ANNOTATION.to_owned(), record)].into();
    operations.metadata(MetadataMap::Annotations, &pod.annotations, &record);
    PodPatch { key: pod.key.clone(), operations: JsonPatch(operations.0), field_manager: field_manager.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tolerant;
    use super::super::{NewImage, pod_patch};
    use super::*;
    use crate::engine::metadata::MetadataChange;

    fn object(labels: &Value, record: Option<&str>) -> Value {
        let mut object = json!({"metadata": {"name": "web-0", "namespace": "prod", "uid": "u", "labels": labels},
            "spec": {"containers": [{"name": "side", "image": "side:1"}]},
            "status": {"containerStatuses": [{"name": "side", "containerID": "containerd://1"}]}});
        if let Some(record) = record {
            object["metadata"]["annotations"] = json!({"team": "a", UPDATE_ANNOTATION: record});
        }
        object
    }

    fn read(object: &Value) -> Pod {
        Pod::from_object(object).unwrap()
    }

    fn serving() -> DrainedLabel {
        DrainedLabel { key: "example.com/serving".into(), value: "yes".into() }
    }

    fn applied(object: &Value, patch: &PodPatch) -> Value {
        let mut object = object.clone();
        json_patch::patch(&mut object, &tolerant(&patch.operations)).unwrap();
        object
    }

    /// The paths that are tested for null, which the server passes when they are absent.
    fn absent(patch: &PodPatch) -> Vec<String> {
        let operations = serde_json::to_value(&patch.operations).unwrap();
        let tests = operations.as_array().unwrap().iter().filter(|one| one["op"] == "test" && one["value"].is_null());
        tests.map(|test| test["path"].as_str().unwrap().to_owned()).collect()
    }

    const RECORD: &str =
        r#"{"id":"earlier","manager":"kubectl-inplace","containers":{"side":{"from":"side:0","to":"side:1"}}}"#;

    #[test]
    fn off_and_on_again_leaves_the_pod_as_it_was() {
        for (labels, record) in [
            (json!({"app": "web", "example.com/serving": "yes"}), None),
            (json!({"app": "web", "example.com/serving": "yes"}), Some(RECORD)),
            (json!({"example.com/serving": "yes"}), None),
        ] {
            let before = object(&labels, record);
            let patch = drain_patch(&read(&before), &serving(), "kubectl-inplace").unwrap();
            let off = applied(&before, &patch);
            assert_eq!(off["metadata"]["labels"].get("example.com/serving"), None);
            assert_eq!(UpdateRecord::drained(&read(&off)), Some(serving()));
            let kept = UpdateRecord::of(&read(&off)).unwrap();
            assert_eq!((kept.id.as_str(), kept.containers.len()), record.map_or(("", 0), |_| ("earlier", 1)));
            assert!(absent(&patch).contains(&"/metadata/deletionTimestamp".into()), "{patch:?}");

            let patch = restore_patch(&read(&off), "kubectl-inplace").unwrap();
            let on = applied(&off, &patch);
            assert_eq!(on["metadata"]["labels"], labels);
            assert_eq!(on["metadata"]["annotations"].get(UPDATE_ANNOTATION).and_then(Value::as_str), record);
            assert_eq!(restore_patch(&read(&on), "kubectl-inplace"), None, "done twice is done once");
            let label = match labels.as_object().unwrap().len() {
                1 => "/metadata/labels",
                _ => "/metadata/labels/example.com~1serving",
            };
            assert_eq!(absent(&patch), [label], "put back only where it is absent");
        }
    }

    #[test]
    fn a_patch_of_the_images_keeps_what_is_off() {
        let before = object(&json!({"app": "web", "example.com/serving": "yes"}), None);
        let off = applied(&before, &drain_patch(&read(&before), &serving(), "kubectl-inplace").unwrap());
        let images = [NewImage { container: "side".into(), to: "side:2".into() }];
        let update =
            pod_patch(&read(&off), &images, &MetadataChange::default(), &"two".into(), "kubectl-inplace").unwrap();
        let updated = applied(&off, &update);
        assert_eq!(UpdateRecord::drained(&read(&updated)), Some(serving()));
        let on = applied(&updated, &restore_patch(&read(&updated), "kubectl-inplace").unwrap());
        let record = UpdateRecord::of(&read(&on)).unwrap();
        assert_eq!((record.id.as_str(), record.drained, record.containers.len()), ("two", None, 1));
        assert_eq!(on["metadata"]["labels"]["example.com/serving"], "yes");
    }

    #[test]
    fn another_pod_label_or_record_is_refused_by_the_tests() {
        let seen = object(&json!({"app": "web", "example.com/serving": "yes"}), Some(RECORD));
        let drain = drain_patch(&read(&seen), &serving(), "kubectl-inplace").unwrap();
        let restore = restore_patch(&read(&applied(&seen, &drain)), "kubectl-inplace").unwrap();
        let drained = applied(&seen, &drain);
        for (patch, object, path, value) in [
            (&drain, &seen, "/metadata/uid", json!("other")),
            (&drain, &seen, "/metadata/labels/example.com~1serving", json!("no")),
            (&drain, &seen, "/metadata/annotations/kubectl-inplace.io~1update", json!("{}")),
            (&restore, &drained, "/metadata/uid", json!("other")),
            (&restore, &drained, "/metadata/annotations/kubectl-inplace.io~1update", json!("{}")),
        ] {
            let mut moved = object.clone();
            *moved.pointer_mut(path).unwrap() = value;
            assert!(json_patch::patch(&mut moved, &tolerant(&patch.operations)).is_err(), "{path}");
        }
    }

    #[test]
    fn nothing_is_taken_off_twice_and_a_label_that_somebody_put_back_is_theirs() {
        let drain = |object: &Value| drain_patch(&read(object), &serving(), "kubectl-inplace");
        assert_eq!(drain(&object(&json!({"app": "web"}), None)), None);
        assert_eq!(drain(&object(&json!({"example.com/serving": "no"}), None)), None);
        let before = object(&json!({"app": "web", "example.com/serving": "yes"}), None);
        let off = applied(&before, &drain(&before).unwrap());
        let mut theirs = off;
        theirs["metadata"]["labels"]["example.com/serving"] = json!("no");
        assert_eq!(drain(&theirs), None, "one is off already");
        let patch = restore_patch(&read(&theirs), "kubectl-inplace").unwrap();
        let after = applied(&theirs, &patch);
        assert_eq!(after["metadata"]["labels"]["example.com/serving"], "no");
        assert_eq!(after["metadata"]["annotations"].get(UPDATE_ANNOTATION), None);
        assert_eq!(restore_patch(&read(&before), "kubectl-inplace"), None);
        assert_eq!(restore_patch(&read(&object(&json!({}), Some("not ours"))), "kubectl-inplace"), None);
    }
}
