use super::super::tests::tolerant;
use super::super::{NewImage, pod_patch};
use super::*;
use crate::engine::metadata::MetadataChange;
use crate::engine::record::DrainedLabel;

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

fn serving() -> Drained {
    Drained::Label(DrainedLabel { key: "example.com/serving".into(), value: "yes".into() })
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
