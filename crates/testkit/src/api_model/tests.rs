//! The rules, each with what it takes and what it refuses.

use serde_json::{Value, json};

use super::{
    Cause, Object, Part, Precondition, Refused, Store, TEMPLATE_GENERATION, as_new, at, begin_deletion, carry_out,
    complete, copy_field, count, default_strategy, expect, keep, omit_empty, put, set_metadata, text, validate,
};

fn named(image: &str) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"image": image}})
}

#[test]
fn every_version_stays_and_a_cache_may_lag() {
    let mut store: Store<&str, Value, &str> = Store::counted(10);
    let first = store.put(&"web", named("v1"), "jane");
    assert_eq!(text(&first, &["metadata", "resourceVersion"]), "11");
    assert_eq!(*store.put(&"web", named("v1"), "jane"), *first, "what changes nothing is not written");
    let second = store.put(&"web", named("v2"), "joe");
    store.remove(&"web", "jane");
    store.remove(&"web", "jane");
    assert_eq!((store.version(), store.next_serial(), store.next_serial()), (13, 1, 2));
    let seen = [10, 11, 12, 13].map(|version| store.seen(&"web", version).cloned());
    assert_eq!(seen, [None, Some(first.clone()), Some(second.clone()), None]);
    assert_eq!((store.get(&"web"), store.list(.., 12).count(), store.list("x".., 12).count()), (None, 1, 0));
    assert!(store.versions_of(&"web").map(|(version, _)| version).eq([11, 12]));
    let reported = store.since(11).iter().map(|change| (change.version, change.by, change.before.as_ref()));
    assert_eq!(reported.collect::<Vec<_>>(), [(12, "joe", Some(&first)), (13, "jane", Some(&second))]);
    assert_eq!(store.history().iter().filter(|change| change.key == "web" && change.after.is_some()).count(), 2);
    store.put(&"api", named("v1"), "jane");
    store.compact();
    assert_eq!((store.compacted(), store.history().len(), store.versions_of(&"web").count()), (14, 0, 0));
    assert!(store.get(&"api").is_some());
    let mut written = named("v2");
    written.keep_version(&second);
    assert_eq!(written, *second);
}

#[test]
fn a_patch_is_carried_out_or_refused_as_by_the_api_server() {
    let object = json!({"metadata": {"annotations": {"a/b": "1"}}, "spec": {"replicas": 2}});
    let table = [
        (json!([{"op": "test", "path": "/spec/replicas", "value": 2}]), true),
        (json!([{"op": "test", "path": "/spec/replicas", "value": 3}]), false),
        (json!([{"op": "test", "path": "/spec/replicas", "value": null}]), false),
        (json!([{"op": "test", "path": "/spec/paused", "value": null}]), true),
        (json!([{"op": "test", "path": "/spec/paused", "value": false}]), false),
        (json!([{"op": "test", "path": "/status/phase", "value": null}]), false),
        (json!([{"op": "test", "path": "/metadata/annotations/a~1b", "value": null}]), false),
        (json!([{"op": "test", "path": "/metadata/annotations/a~1c", "value": null}]), true),
        (json!([{"op": "add", "path": "/status/phase", "value": "x"}]), false),
        (json!([{"op": "remove", "path": "/spec/paused"}]), false),
        (json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]), true),
    ];
    for (operations, passes) in table {
        let patch = serde_json::from_value(operations.clone()).expect("a patch");
        assert_eq!(carry_out(&mut object.clone(), &patch).is_ok(), passes, "{operations}");
    }
}

#[test]
fn a_part_of_an_object_changes_alone() {
    let with = |image: &str, cpu: &str, phase: &str| {
        json!({"metadata": {"uid": "u", "labels": {"at": phase}},
            "spec": {"containers": [{"image": image, "resources": {"cpu": cpu}}]}, "status": {"phase": phase}})
    };
    let (live, wanted) = (with("v1", "1", "Pending"), with("v2", "2", "Running"));
    let table = [
        ("Pod", Part::Main, "v2", "2", "Pending", "Running"),
        ("Pod", Part::Status, "v1", "1", "Running", "Running"),
        ("Deployment", Part::Status, "v1", "1", "Running", "Pending"),
        ("Pod", Part::Resize, "v1", "2", "Pending", "Pending"),
    ];
    for (kind, part, image, cpu, phase, label) in table {
        let mut next = wanted.clone();
        keep(kind, part, &live, &mut next);
        let mut right = with(image, cpu, phase);
        put(&mut right, &["metadata", "labels", "at"], json!(label));
        assert_eq!(next, right, "{kind} {part:?}");
    }
    let mut of_another = json!({"metadata": {"uid": "v", "generation": 7, "deletionTimestamp": "now"}});
    keep("Pod", Part::Main, &live, &mut of_another);
    assert_eq!(of_another["metadata"], json!({"uid": "v"}), "the server's fields stay, a uid is for validation");
    let mut as_a_whole = json!({"spec": {"resources": {"limits": {"cpu": "2"}}, "hostname": "x"}});
    keep("Pod", Part::Resize, &json!({"spec": {}}), &mut as_a_whole);
    assert_eq!(as_a_whole, json!({"spec": {"resources": {"limits": {"cpu": "2"}}}}));
}

#[test]
fn the_generation_counts_what_the_strategy_of_the_kind_counts() {
    let live = json!({"metadata": {"generation": 4, "annotations": {"a": "1"}}, "spec": {"replicas": 1}});
    let (replicas, annotation, status) = (["spec", "replicas"], ["metadata", "annotations", "a"], ["status", "x", "y"]);
    let table: [(&str, Part, &[&str], u64); 7] = [
        ("Pod", Part::Main, &replicas, 5),
        ("Pod", Part::Resize, &replicas, 5),
        ("Pod", Part::Main, &annotation, 4),
        ("Pod", Part::Main, &status, 4),
        ("Deployment", Part::Main, &annotation, 5),
        ("Deployment", Part::Status, &annotation, 4),
        ("StatefulSet", Part::Main, &annotation, 4),
    ];
    for (kind, part, path, generation) in table {
        let mut next = live.clone();
        put(&mut next, path, json!(9));
        count(kind, part, &live, &mut next);
        assert_eq!(at(&next, &["metadata", "generation"]), &json!(generation), "{kind} {part:?} {path:?}");
    }
    // Of a DaemonSet the template is counted too, whatever is written.
    let live = json!({"metadata": {"annotations": {TEMPLATE_GENERATION: "3"}}, "spec": {"template": {"a": 1}}});
    for (template, counted) in [(json!({"a": 1}), "3"), (json!({"a": 2}), "4")] {
        let mut next = json!({"metadata": {"annotations": {TEMPLATE_GENERATION: "9"}}, "spec": {"template": template}});
        count("DaemonSet", Part::Main, &live, &mut next);
        assert_eq!(text(&next, &["metadata", "annotations", TEMPLATE_GENERATION]), counted);
    }
}

#[test]
fn a_write_names_the_object_that_it_means() {
    let live = json!({"metadata": {"uid": "u", "resourceVersion": "7"}});
    let table = [
        (None, None, Ok(())),
        (Some("u"), Some("7"), Ok(())),
        (Some("v"), Some("8"), Err(Refused::Conflict(Precondition::Uid))),
        (Some("u"), Some("8"), Err(Refused::Conflict(Precondition::ResourceVersion))),
    ];
    for (uid, version, answer) in table {
        assert_eq!(expect(&live, uid, version), answer, "{uid:?} {version:?}");
    }
}

#[test]
fn what_a_client_creates_is_given_its_metadata_and_a_copy_keeps_it() {
    let mut copy = json!({"metadata": {"name": "web", "uid": "u", "generation": 3, "creationTimestamp": "then"},
        "spec": {}});
    let mut created = copy.clone();
    as_new(&mut created);
    assert_eq!(created, json!({"metadata": {"name": "web"}, "spec": {}}));
    for (object, metadata) in [
        (&mut copy, json!({"name": "web", "uid": "u", "generation": 3, "creationTimestamp": "then"})),
        (&mut created, json!({"name": "web", "uid": "new", "creationTimestamp": "now", "generation": 1})),
    ] {
        complete(object, "new".into(), "now");
        assert_eq!(object["metadata"], metadata);
    }
}

#[test]
fn the_deletion_of_a_pod_begins_once() {
    let live = json!({"metadata": {"generation": 1}});
    let begun = begin_deletion(&live, 30, "now");
    let metadata = json!({"generation": 2, "deletionTimestamp": "now", "deletionGracePeriodSeconds": 30});
    assert_eq!(begun["metadata"], metadata);
    assert_eq!(begin_deletion(&begun, 0, "later"), begun);
    let mut bare = json!({});
    set_metadata(&mut bare, "deletionTimestamp", "then".into());
    assert_eq!(begin_deletion(&bare, 0, "now"), bare);
}

#[test]
fn a_strategy_is_stored_with_its_defaults() {
    let rolling = |more: Value| json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": more}});
    let bare = json!({"updateStrategy": {"type": "RollingUpdate"}});
    let table = [
        ("StatefulSet", bare, rolling(json!({"partition": 0}))),
        ("StatefulSet", rolling(json!({"partition": 2})), rolling(json!({"partition": 2}))),
        ("DaemonSet", rolling(json!({})), rolling(json!({"maxUnavailable": 1, "maxSurge": 0}))),
        ("Deployment", json!({"paused": false}), json!({})),
        ("Deployment", json!({"paused": true}), json!({"paused": true})),
        (
            "StatefulSet",
            json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}),
            json!({"updateStrategy": {"type": "OnDelete"}}),
        ),
    ];
    for (kind, spec, stored) in table {
        let mut object = json!({"metadata": {"labels": {}}, "spec": spec});
        omit_empty(&mut object);
        default_strategy(kind, &mut object);
        assert_eq!(object, json!({"metadata": {}, "spec": stored}), "{kind}");
    }
}

#[test]
fn a_workload_that_contradicts_itself_is_invalid() {
    let live = json!({"spec": {"selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web", "tier": "b"}}}}});
    let other_selector = json!({"matchLabels": {"tier": "b"}});
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": {"partition": 1}});
    let table: [(&[&str], Value, &[&str]); 4] = [
        (&["spec", "replicas"], json!(2), &[]),
        (&["spec", "selector"], other_selector, &["spec.selector"]),
        (&["spec", "updateStrategy"], on_delete, &["spec.updateStrategy.rollingUpdate"]),
        (&["spec", "template", "metadata", "labels", "app"], json!("x"), &["spec.template.metadata.labels"]),
    ];
    for (path, value, fields) in table {
        let mut next = live.clone();
        put(&mut next, path, value);
        let causes: Vec<Cause> = validate("StatefulSet", Some(&live), &next);
        let named: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(named, fields, "{path:?}");
        assert!(causes.iter().all(|cause| cause.reason == "FieldValueInvalid" && !cause.message.is_empty()));
    }
    let mut gone = live;
    copy_field(&json!({}), &mut gone, &["spec"], "template");
    assert_eq!(validate("ReplicaSet", None, &gone).len(), 1);
}
