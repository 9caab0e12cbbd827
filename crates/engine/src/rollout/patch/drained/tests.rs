use super::super::tests::tolerant;
use super::super::{NewImage, pod_patch};
use super::*;
use crate::change::{FieldChanges, MetadataChange, ValueChange};
use crate::rollout::patch::taken_over_patch;
use crate::state::record::{DrainedLabel, FencingToken};

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
    r#"{"id":"earlier","manager":"inplace-cli","containers":{"side":{"from":"side:0","to":"side:1"}}}"#;

#[test]
fn off_and_on_again_leaves_the_pod_as_it_was() {
    for (labels, record) in [
        (json!({"app": "web", "example.com/serving": "yes"}), None),
        (json!({"app": "web", "example.com/serving": "yes"}), Some(RECORD)),
        (json!({"example.com/serving": "yes"}), None),
    ] {
        let before = object(&labels, record);
        let patch = drain_patch(&read(&before), &serving(), "inplace-cli").unwrap();
        let off = applied(&before, &patch);
        assert_eq!(off["metadata"]["labels"].get("example.com/serving"), None);
        assert_eq!(UpdateRecord::drained(&read(&off)), Some(serving()));
        let kept = UpdateRecord::complete(&read(&off)).unwrap();
        assert_eq!((kept.id.as_str(), kept.containers.len()), record.map_or(("", 0), |_| ("earlier", 1)));
        assert!(absent(&patch).contains(&"/metadata/deletionTimestamp".into()), "{patch:?}");

        let patch = restore_patch(&read(&off), "inplace-cli").unwrap();
        let on = applied(&off, &patch);
        assert_eq!(on["metadata"]["labels"], labels);
        assert_eq!(on["metadata"]["annotations"].get(UPDATE_ANNOTATION).and_then(Value::as_str), record);
        assert_eq!(restore_patch(&read(&on), "inplace-cli"), None, "done twice is done once");
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
    let off = applied(&before, &drain_patch(&read(&before), &serving(), "inplace-cli").unwrap());
    let images = [NewImage { container: "side".into(), to: "side:2".into() }];
    let update = pod_patch(&read(&off), &images, &FieldChanges::default(), &"two".into(), "inplace-cli").unwrap();
    let updated = applied(&off, &update);
    assert_eq!(UpdateRecord::drained(&read(&updated)), Some(serving()));
    let on = applied(&updated, &restore_patch(&read(&updated), "inplace-cli").unwrap());
    let record = UpdateRecord::complete(&read(&on)).unwrap();
    assert_eq!((record.id.as_str(), record.drained, record.containers.len()), ("two", None, 1));
    assert_eq!(on["metadata"]["labels"]["example.com/serving"], "yes");
}

#[test]
fn another_pod_label_or_record_is_refused_by_the_tests() {
    let seen = object(&json!({"app": "web", "example.com/serving": "yes"}), Some(RECORD));
    let drain = drain_patch(&read(&seen), &serving(), "inplace-cli").unwrap();
    let restore = restore_patch(&read(&applied(&seen, &drain)), "inplace-cli").unwrap();
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
fn nothing_is_removed_twice_and_a_label_that_somebody_restored_is_theirs() {
    let drain = |object: &Value| drain_patch(&read(object), &serving(), "inplace-cli");
    assert_eq!(drain(&object(&json!({"app": "web"}), None)), None);
    assert_eq!(drain(&object(&json!({"example.com/serving": "no"}), None)), None);
    let before = object(&json!({"app": "web", "example.com/serving": "yes"}), None);
    let off = applied(&before, &drain(&before).unwrap());
    let mut theirs = off;
    theirs["metadata"]["labels"]["example.com/serving"] = json!("no");
    assert_eq!(drain(&theirs), None, "one is off already");
    let patch = restore_patch(&read(&theirs), "inplace-cli").unwrap();
    let after = applied(&theirs, &patch);
    assert_eq!(after["metadata"]["labels"]["example.com/serving"], "no");
    assert_eq!(after["metadata"]["annotations"].get(UPDATE_ANNOTATION), None);
    assert_eq!(restore_patch(&read(&before), "inplace-cli"), None);
    assert_eq!(restore_patch(&read(&object(&json!({}), Some("not ours"))), "inplace-cli"), None);
}

const GATE: &str = "example.com/serving";

fn gate() -> Drained {
    Drained::Gate(DrainedGate { gate: GATE.into(), reason: None, message: None })
}

/// A pod with a gate whose condition is between two others.
fn gated(condition: &Value, record: Option<&str>) -> Value {
    let mut object = object(&json!({"app": "web"}), record);
    object["spec"]["readinessGates"] = json!([{"conditionType": GATE}]);
    let mut gate = json!({"type": GATE, "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    for (field, value) in condition.as_object().unwrap() {
        gate[field] = value.clone();
    }
    object["status"]["conditions"] =
        json!([{"type": "ContainersReady", "status": "True"}, gate, {"type": "Ready", "status": "True"}]);
    object
}

/// The two requests that drain a pod, and the two that restore it, one after the other.
#[test]
fn a_gate_goes_off_after_its_record_and_on_again_before_the_record_ends() {
    for (condition, record) in [
        (json!({"status": "True"}), None),
        (json!({"status": "True", "reason": "Checked", "message": "by hand"}), Some(RECORD)),
        (json!({"status": "True", "message": ""}), Some(RECORD)),
    ] {
        let before = gated(&condition, record);
        assert_eq!(gate_off_patch(&read(&before), "inplace-cli"), None, "nothing goes off without a record");
        let note = drain_patch(&read(&before), &gate(), "inplace-cli").unwrap();
        assert_eq!(note.part, PodPart::Pod);
        let noted = applied(&before, &note);
        assert_eq!(noted["status"], before["status"]);
        assert_eq!(drain_patch(&read(&noted), &gate(), "inplace-cli"), None, "noted twice is noted once");

        let off_patch = gate_off_patch(&read(&noted), "inplace-cli").unwrap();
        assert_eq!(off_patch.part, PodPart::Status);
        let off = applied(&noted, &off_patch);
        let now = &off["status"]["conditions"][1];
        assert_eq!(
            (&now["status"], &now["reason"], &now["message"]),
            (&json!("False"), &json!(GATE_REASON), &json!(GATE_MESSAGE))
        );
        assert_eq!(off["metadata"], noted["metadata"]);
        assert_eq!(gate_off_patch(&read(&off), "inplace-cli"), None);

        let on_patch = restore_patch(&read(&off), "inplace-cli").unwrap();
        assert_eq!(on_patch.part, PodPart::Status);
        let on = applied(&off, &on_patch);
        if condition["message"] != "" {
            assert_eq!(on["status"], before["status"], "as it was");
        }
        let end = restore_patch(&read(&on), "inplace-cli").unwrap();
        assert_eq!(end.part, PodPart::Pod);
        let whole = applied(&on, &end);
        assert_eq!(whole["metadata"]["annotations"].get(UPDATE_ANNOTATION).and_then(Value::as_str), record);
        assert_eq!(restore_patch(&read(&whole), "inplace-cli"), None);

        // A late request of a run that is gone changes nothing.
        for late in [&off_patch, &on_patch] {
            let mut object = whole.clone();
            assert!(json_patch::patch(&mut object, &late.operations).is_err(), "{late:?}");
        }
    }
}

#[test]
fn a_condition_that_somebody_has_set_is_theirs() {
    let before = gated(&json!({"status": "True", "reason": "Checked"}), None);
    let noted = applied(&before, &drain_patch(&read(&before), &gate(), "inplace-cli").unwrap());
    let off_patch = gate_off_patch(&read(&noted), "inplace-cli").unwrap();
    let off = applied(&noted, &off_patch);
    for (status, reason) in [("False", "Maintenance"), ("Unknown", "Lost"), ("True", "Other")] {
        let mut theirs = off.clone();
        theirs["status"]["conditions"][1]["status"] = json!(status);
        theirs["status"]["conditions"][1]["reason"] = json!(reason);
        assert_eq!(gate_off_patch(&read(&theirs), "inplace-cli"), None, "{status} {reason}");
        let patch = restore_patch(&read(&theirs), "inplace-cli").unwrap();
        assert_eq!(patch.part, PodPart::Pod, "only the record ends");
        assert_eq!(applied(&theirs, &patch)["status"], theirs["status"]);
        // The same patch does not clear the record while the gate is off after all.
        assert!(json_patch::patch(&mut off.clone(), &tolerant(&patch.operations)).is_err());
    }
    for (path, value) in [
        ("/metadata/uid", json!("other")),
        ("/metadata/annotations/kubectl-inplace.io~1update", json!("{}")),
        ("/status/conditions/1/type", json!("example.com/other")),
        ("/status/conditions/1/status", json!("False")),
        ("/status/conditions/1/reason", json!("Other")),
    ] {
        let mut moved = noted.clone();
        *moved.pointer_mut(path).unwrap() = value;
        assert!(json_patch::patch(&mut moved, &tolerant(&off_patch.operations)).is_err(), "{path}");
    }
    for status in ["False", "Unknown"] {
        let is_not_on = gated(&json!({"status": status}), None);
        assert_eq!(drain_patch(&read(&is_not_on), &gate(), "inplace-cli"), None, "{status}");
    }
}

#[test]
fn a_patch_of_the_images_keeps_the_gate_in_the_record() {
    let before = gated(&json!({"status": "True"}), None);
    let noted = applied(&before, &drain_patch(&read(&before), &gate(), "inplace-cli").unwrap());
    let off = applied(&noted, &gate_off_patch(&read(&noted), "inplace-cli").unwrap());
    let images = [NewImage { container: "side".into(), to: "side:2".into() }];
    let update = pod_patch(&read(&off), &images, &FieldChanges::default(), &"two".into(), "inplace-cli").unwrap();
    assert_eq!(UpdateRecord::drained(&read(&applied(&off, &update))), Some(gate()));
}

#[test]
fn what_is_on_its_way_fails_once_another_run_has_taken_the_pod_over() {
    let by = FencingToken { rollout: "one".into(), run: "second".into() };
    for record in [None, Some(RECORD)] {
        let before = object(&json!({"example.com/serving": "yes", "app": "web"}), record);
        let pod = read(&before);
        let labels = [("tier".into(), ValueChange { from: None, to: Some("b".into()) })].into();
        let metadata = MetadataChange { labels, ..Default::default() };
        let images = [NewImage { container: "side".into(), to: "side:2".into() }];
        let late = [
            pod_patch(&pod, &images, &FieldChanges::default(), &"one".into(), "m").unwrap(),
            pod_patch(&pod, &[], &metadata.into(), &"one".into(), "m").unwrap(),
            drain_patch(&pod, &serving(), "m").unwrap(),
        ];
        let after = applied(&before, &taken_over_patch(&pod, &by, "m").unwrap());
        let taken = read(&after);
        assert_eq!(taken_over_patch(&taken, &by, "m"), None, "it says so already");
        for patch in late {
            let record = format!("/metadata/annotations/{}", UPDATE_ANNOTATION.replace('/', "~1"));
            let tests = serde_json::to_value(&patch.operations).unwrap();
            let fails = tests.as_array().unwrap().iter().filter(|one| one["op"] == "test").any(|test| {
                let path = test["path"].as_str().unwrap();
                let is_about_it = record.starts_with(path) && path.starts_with("/metadata/annotations");
                is_about_it && after.pointer(path).unwrap_or(&Value::Null) != &test["value"]
            });
            assert!(fails, "it would be stored: {tests:#}");
        }
        let known = UpdateRecord::complete(&taken).unwrap();
        assert_eq!(known.containers, UpdateRecord::complete(&pod).map(|record| record.containers).unwrap_or_default());
    }
}

#[test]
fn a_pod_that_is_restored_still_says_who_has_taken_it_over() {
    let by = FencingToken { rollout: "one".into(), run: "second".into() };
    let before = object(&json!({"example.com/serving": "yes"}), None);
    let taken = applied(&before, &taken_over_patch(&read(&before), &by, "m").unwrap());
    let out = applied(&taken, &drain_patch(&read(&taken), &serving(), "m").unwrap());
    let back = applied(&out, &restore_patch(&read(&out), "m").unwrap());
    assert_eq!(UpdateRecord::complete(&read(&back)).and_then(|record| record.taken_over), Some(by));
}
