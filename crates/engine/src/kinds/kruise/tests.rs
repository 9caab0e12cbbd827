//! What its controller does, field by field.

use serde_json::json;

use super::*;
use Course::{NotKnown, RefusesChange, ReplacesPods};

fn clone_set(strategy: &str) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}},
        "updateStrategy": {"type": strategy},
        "template": {"metadata": {"labels": {"app": "web"}, "annotations": {"a.b/c": "1"}}, "spec": {
            "initContainers": [{"name": "setup", "image": "setup:1"}],
            "containers": [
                {"name": "app", "image": "app:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                 "env": [{"name": "A", "value": "1"},
                         {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['a.b/c']"}}}]},
                {"name": "side", "image": "side:1", "readinessProbe": {"grpc": {"port": 9}}}]}}}})
}

const SPEC: &str = "/spec/template/spec";

fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match object.pointer_mut(parent).unwrap() {
        Value::Array(list) if key == "-" => list.push(value),
        parent => parent[key] = value,
    }
    object
}

fn courses(before: &Value, after: &Value) -> Vec<(String, Course)> {
    let filled = [before, after].map(|object| crate::kinds::WorkloadKind::CloneSet.defaults().fill(object));
    let [before, after] = &filled;
    crate::kinds::WorkloadKind::CloneSet.spec().foresee.unwrap()(before, after)
        .obstacles
        .into_iter()
        .map(|obstacle| (obstacle.path, obstacle.course))
        .collect()
}

#[test]
fn what_changes_in_place_goes_by_the_fields_and_the_strategy() {
    let at = |place: &str| format!("{SPEC}{place}");
    let label = "/spec/template/metadata/labels/tier".to_owned();
    let annotation = "/spec/template/metadata/annotations/a.b~1c".replace("~1", "/");
    let cases = [
        (at("/containers/1/image"), json!("side:2"), None, None),
        (label, json!("x"), None, None),
        (at("/containers/1/imagePullPolicy"), json!("Always"), None, None),
        (at("/terminationGracePeriodSeconds"), json!(30), None, None),
        (at("/initContainers/0/imagePullPolicy"), json!("IfNotPresent"), None, None),
        (at("/initContainers/0/image"), json!("setup:2"), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/1/imagePullPolicy"), json!("IfNotPresent"), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/1/readinessProbe/grpc/service"), json!(""), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/0/env/0/value"), json!("2"), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/-"), json!({"name": "new", "image": "new:1"}), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/0/resources/limits/cpu"), json!("2"), Some(NotKnown), Some(RefusesChange)),
        (at("/containers/0/resources/limits/x"), json!("2"), Some(ReplacesPods), Some(RefusesChange)),
        (at("/containers/0/resources/requests"), json!({"cpu": "1"}), Some(ReplacesPods), Some(RefusesChange)),
        (at("/newField"), json!({"deep": 1}), Some(ReplacesPods), Some(RefusesChange)),
        ("/spec/template/metadata/finalizers".into(), json!(["x"]), Some(NotKnown), Some(NotKnown)),
        ("/spec/template/metadata/labels/app".into(), json!("x"), Some(RefusesChange), Some(RefusesChange)),
    ];
    let only = |found: Vec<(String, Course)>| {
        assert!(found.len() < 2, "{found:?}");
        found.first().map(|(_, course)| *course)
    };
    for (pointer, value, if_possible, in_place_only) in cases {
        for (strategy, expected) in [("InPlaceIfPossible", if_possible), ("InPlaceOnly", in_place_only)] {
            let before = clone_set(strategy);
            let after = with(&before, &pointer, value.clone());
            assert_eq!(only(courses(&before, &after)), expected, "{strategy}: {pointer}");
        }
        let before = clone_set("ReCreate");
        let found = courses(&before, &with(&before, &pointer, value));
        let replaces = found.iter().any(|(path, course)| path.ends_with(".type") && *course == ReplacesPods);
        assert_eq!(replaces, if_possible.is_some() || pointer.ends_with("/image") || pointer.ends_with("/tier"));
    }
    let before = clone_set("InPlaceIfPossible");
    let mut read = before.clone();
    read["spec"]["template"]["metadata"]["annotations"] = json!({"a.b/c": "2"});
    assert_eq!(courses(&before, &read), [("metadata.annotations[a.b/c]".to_owned(), NotKnown)], "{annotation}");
    let mut reordered = before.clone();
    reordered["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().reverse();
    assert!(courses(&before, &reordered).iter().all(|(_, course)| *course == ReplacesPods));
    assert!(!courses(&before, &reordered).is_empty());
}

#[test]
fn what_stands_beside_the_template_counts() {
    let before = clone_set("InPlaceIfPossible");
    let image = |object: &Value| with(object, &format!("{SPEC}/containers/1/image"), json!("side:2"));
    let strategy = |field: &str, value: Value| with(&before, &format!("/spec/updateStrategy/{field}"), value);
    for (after, expected) in [
        (image(&strategy("maxSurge", json!("10%"))), vec![("spec.updateStrategy.maxSurge", ReplacesPods)]),
        (image(&strategy("maxSurge", json!("0%"))), vec![]),
        (image(&strategy("type", json!("Never"))), vec![("spec.updateStrategy.type", RefusesChange)]),
        (image(&strategy("type", json!("OnDelete"))), vec![("spec.updateStrategy.type", NotKnown)]),
        (strategy("type", json!("OnDelete")), vec![("spec.updateStrategy.type", NotKnown)]),
        (image(&strategy("paused", json!(true))), vec![]),
        (strategy("paused", json!(true)), vec![("spec.updateStrategy.paused", NotKnown)]),
        (strategy("partition", json!(1)), vec![("spec.updateStrategy.partition", NotKnown)]),
        (strategy("maxUnavailable", json!(1)), vec![]),
        (
            image(&with(&before, "/spec/volumeClaimTemplates", json!([{"metadata": {"name": "d"}}]))),
            vec![("spec.volumeClaimTemplates", NotKnown)],
        ),
        (with(&before, "/spec/volumeClaimTemplates", json!([{"metadata": {"name": "d"}}])), vec![]),
        (
            with(&before, "/spec/scaleStrategy", json!({"podsToDelete": ["web-x"]})),
            vec![("spec.scaleStrategy.podsToDelete", ReplacesPods)],
        ),
    ] {
        let found = courses(&before, &after);
        let found: Vec<(&str, Course)> = found.iter().map(|(path, course)| (path.as_str(), *course)).collect();
        assert_eq!(found, expected, "{after}");
    }
}

#[test]
fn under_on_delete_no_pod_changes_where_it_is_taken() {
    let before = clone_set("OnDelete");
    let scaled = with(&before, "/spec/replicas", json!(3));
    assert_eq!(courses(&before, &scaled), [], "the older object shows that the webhook takes it");
    let image = with(&before, &format!("{SPEC}/containers/1/image"), json!("side:2"));
    assert_eq!(courses(&before, &image), [("spec.updateStrategy.type".to_owned(), NotKnown)]);
}
