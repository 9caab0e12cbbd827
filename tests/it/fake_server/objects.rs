//! Patches, their refusals, owners of fields, generations.

use serde_json::{Value, json};

use super::*;

#[test]
fn refusals_read_as_the_real_servers() {
    let forbidden = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`";
    let conflict = "Operation cannot be fulfilled on pods \"p\": the object has been modified; please apply your \
        changes to the latest version and try again";
    let cases = [
        // (kind of patch, body, code, reason, start of the message)
        (
            JSON_PATCH,
            r#"[{"op":"test","path":"/metadata/uid","value":"x"}]"#,
            422,
            "Invalid",
            "the server rejected our",
        ),
        (JSON_PATCH, r#"[{"op":"remove","path":"/metadata/nope"}]"#, 422, "Invalid", "the server rejected our request"),
        (JSON_PATCH, r#"[{"op":"tst","path":"/metadata/uid"}]"#, 422, "Invalid", "the server rejected our request due"),
        (JSON_PATCH, r#"[{"op":"test""#, 400, "BadRequest", "error decoding patch: unexpected end of JSON input"),
        (JSON_PATCH, r#"{"op":"test"}"#, 400, "BadRequest", "error decoding patch: json: cannot unmarshal object into"),
        (MERGE, r#"{"metadata":{"resourceVersion":"1"}}"#, 409, "Conflict", conflict),
        (
            MERGE,
            r#"{"metadata":{"name":"q"}}"#,
            400,
            "BadRequest",
            "the name of the object (q) does not match the name",
        ),
        (
            MERGE,
            r#"{"metadata":{"uid":"u"}}"#,
            422,
            "Invalid",
            "Pod \"p\" is invalid: metadata.uid: Invalid value: \"u\"",
        ),
        (MERGE, r#"{"spec":{"hostname":"h"}}"#, 422, "Invalid", &format!("Pod \"p\" is invalid: spec: {forbidden}")),
        (
            STRATEGIC,
            r#"{"spec":{"containers":[{"name":"app","image":" a"}]}}"#,
            422,
            "Invalid",
            "Pod \"p\" is invalid: spec.containers[0].image: Invalid value: \" a\": must not have leading or trailing",
        ),
        (
            STRATEGIC,
            r#"{"spec":{"containers":[{"name":"app","image":""}]}}"#,
            422,
            "Invalid",
            "Pod \"p\" is invalid: spec.containers[0].image: Required value",
        ),
        (
            STRATEGIC,
            r#"{"spec":{"containers":[{"name":"typo","image":"a"}]}}"#,
            422,
            "Invalid",
            "Pod \"p\" is invalid: spec.containers: Forbidden: pod updates may not add or remove containers",
        ),
        (
            STRATEGIC,
            r#"{"spec":{"containers":[{"image":"a"}]}}"#,
            500,
            "",
            "map: map[image:a] does not contain declared",
        ),
        ("application/json", "{}", 415, "UnsupportedMediaType", "415: Unsupported Media Type"),
    ];
    let server = quiet_pod();
    let before = server.object("pods", "p");
    for (kind, body, code, reason, message) in cases {
        let got = try_send(&server, "PATCH", &format!("{PODS}/p"), kind, body).expect("the fake answers");
        assert_eq!((got.code, got.body["reason"].as_str().unwrap_or_default()), (code, reason), "{body}: {}", got.body);
        assert!(got.message().starts_with(message), "{body}: {}", got.message());
    }
    assert_eq!(server.object("pods", "p"), before, "nothing was changed");
    let got = patch(&server, "p", JSON_PATCH, &json!([{"op": "test", "path": "/metadata/uid", "value": "x"}]));
    assert_eq!(got.body["details"], json!({}), "a failed test says nothing about which");
    let got = patch(&server, "p", MERGE, &json!({"spec": {"hostname": "h"}}));
    assert_eq!(got.body["details"]["causes"][0]["field"], "spec");
    assert_eq!(got.body["details"]["causes"][0]["reason"], "FieldValueForbidden");
}

#[test]
fn what_is_not_there_is_said_as_the_real_server_says_it() {
    let server = quiet_pod();
    let cases = [
        (format!("{PODS}/x"), "pods \"x\" not found", json!({"name": "x", "kind": "pods"})),
        (
            "/apis/apps/v1/namespaces/default/deployments/x".to_owned(),
            "deployments.apps \"x\" not found",
            json!({"name": "x", "group": "apps", "kind": "deployments"}),
        ),
        (
            "/apis/apps/v1/namespaces/default/nopes/x".to_owned(),
            "the server could not find the requested resource",
            json!({}),
        ),
    ];
    for (path, message, details) in cases {
        let got = get(&server, &path);
        assert_eq!((got.code, got.message(), &got.body["details"]), (404, message, &details));
    }
    let got = send(&server, "POST", PODS, "application/json", &json!({"metadata": {"name": "p"}}));
    assert_eq!((got.code, got.message()), (409, "pods \"p\" already exists"));
    let got = send(&server, "PUT", &format!("{PODS}/p"), "application/json", &json!({}));
    assert_eq!((got.code, got.message()), (400, "the name of the object () does not match the name on the URL (p)"));
    assert_eq!(server.writes().iter().filter(|request| request.method == "PUT").count(), 1);
}

#[test]
fn an_accepted_patch_raises_the_generation_and_notes_its_owner() {
    let server = quiet_pod();
    let body = json!([
        {"op": "test", "path": "/metadata/annotations", "value": null},
        {"op": "test", "path": "/spec/containers/0/image", "value": "acme/app:v1"},
        {"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}},
        {"op": "replace", "path": "/spec/containers/0/image", "value": "acme/app:v2"},
    ]);
    let before = server.object("pods", "p").expect("the pod is there");
    let dry = send(&server, "PATCH", &format!("{PODS}/p?fieldManager=me&dryRun=All"), JSON_PATCH, &body);
    assert_eq!(dry.code, 200);
    assert_eq!(dry.body["spec"]["containers"][0]["image"], "acme/app:v2");
    assert_eq!(dry.body["metadata"]["generation"], 2);
    assert_eq!(dry.body["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    assert_eq!(server.object("pods", "p").as_ref(), Some(&before), "a dry run changes nothing");
    assert!(server.writes().is_empty());

    let got = patch(&server, "p", JSON_PATCH, &body);
    assert_eq!((got.code, &got.body["metadata"]["generation"]), (200, &json!(2)));
    let entries = got.body["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let mine = entries.iter().find(|entry| entry["manager"] == "me").expect("the manager is noted");
    let fields = json!({
        "f:metadata": {"f:annotations": {".": {}, "f:k": {}}},
        "f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {"f:image": {}}}},
    });
    assert_eq!((&mine["operation"], &mine["fieldsV1"]), (&json!("Update"), &fields));
    let first = entries.iter().find(|entry| entry["manager"] == "kubectl-create").expect("the creator is still there");
    let app = &first["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"app\"}"];
    assert!(app["f:image"].is_null() && app["f:name"].is_object(), "the image has left its first owner: {app}");

    let again = patch(&server, "p", MERGE, &json!({"metadata": {"annotations": {"k": "v"}}}));
    assert_eq!(
        again.body["metadata"]["resourceVersion"], got.body["metadata"]["resourceVersion"],
        "no change, no write"
    );
    let label = patch(&server, "p", MERGE, &json!({"metadata": {"labels": {"x": "y"}}}));
    assert_eq!(label.body["metadata"]["generation"], 2, "metadata does not count");
}

#[test]
fn server_side_apply_conflicts_owns_and_lets_go() {
    let server = quiet_pod();
    let config = |image: &str, note: Option<&str>| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": note.map(|note| json!({"note": note})).unwrap_or(json!({}))},
            "spec": {"containers": [{"name": "app", "image": image}]}})
    };
    let path = format!("{PODS}/p?fieldManager=gitops");
    let got = send(&server, "PATCH", &path, APPLY, &config("acme/app:v2", None));
    let field = ".spec.containers[name=\"app\"].image";
    assert_eq!(got.code, 409);
    assert_eq!(
        got.message(),
        format!("Apply failed with 1 conflict: conflict with \"kubectl-create\" using v1: {field}")
    );
    assert_eq!(got.body["details"]["causes"][0]["field"], field);

    let got = send(&server, "PATCH", &format!("{path}&force=true"), APPLY, &config("acme/app:v2", Some("n")));
    assert_eq!((got.code, &got.body["metadata"]["annotations"]["note"]), (200, &json!("n")), "{}", got.body);
    let got = send(&server, "PATCH", &path, APPLY, &config("acme/app:v2", None));
    assert_eq!((got.code, &got.body["metadata"]["annotations"]["note"]), (200, &Value::Null), "{}", got.body);
    assert_eq!(got.body["spec"]["containers"][1]["image"], "acme/side:v1", "others stay");
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v3"));
    let got = send(&server, "PATCH", &path, APPLY, &config("acme/app:v4", None));
    assert!(got.message().contains("conflict with \"me\" using v1"), "{}", got.message());
}

#[test]
fn builders_make_what_a_complete_rollout_leaves() {
    let kinds: [(&str, Workload, usize); 4] = [
        ("deployments", Workload::deployment("web"), 3),
        ("replicasets", Workload::replica_set("web").replicas(2), 2),
        ("statefulsets", Workload::stateful_set("web"), 3),
        ("daemonsets", Workload::daemon_set("web").nodes(&["node-a", "node-b"]), 2),
    ];
    for (plural, workload, count) in kinds {
        let workload = workload
            .namespace("prod")
            .annotation("team", "blue")
            .container("app", "acme/app:v1")
            .spec(&json!({"minReadySeconds": 1}));
        let server = ApiServer::with(workload.objects());
        let owner = server.object(plural, "web").expect("the owner is there");
        assert_eq!(owner["status"]["observedGeneration"], owner["metadata"]["generation"], "{plural}");
        assert_eq!(owner["metadata"]["annotations"]["team"], "blue");
        let pods = server.objects("pods");
        assert_eq!(pods.len(), count, "{plural}");
        let mut names = workload.pod_names();
        names.sort();
        let found: Vec<&str> = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
        assert_eq!(found, names, "{plural}");
        for pod in &pods {
            let reference = &pod["metadata"]["ownerReferences"][0];
            let kind = reference["kind"].as_str().unwrap_or_default();
            let parent =
                server.object(&format!("{}s", kind.to_lowercase()), reference["name"].as_str().unwrap_or_default());
            assert_eq!(
                parent.map(|parent| parent["metadata"]["uid"].clone()),
                Some(reference["uid"].clone()),
                "{plural}"
            );
        }
    }
    let set = Workload::stateful_set("web").container("app", "acme/app:v1");
    let server = ApiServer::with(set.objects());
    let revision = server.object("statefulsets", "web").expect("it is there")["status"]["updateRevision"].clone();
    assert_eq!(revision, format!("web-{}", set.hash()));
    assert_eq!(
        server.object("pods", "web-0").expect("it is there")["metadata"]["labels"]["controller-revision-hash"],
        revision
    );
    assert!(server.object("controllerrevisions", revision.as_str().unwrap_or_default()).is_some());
}

#[test]
fn workloads_are_patched_validated_and_defaulted() {
    let server = ApiServer::with(Workload::deployment("web").container("app", "acme/app:v1").objects());
    server.insert(Workload::stateful_set("db").container("app", "acme/db:v1").objects());
    let path = |plural: &str, name: &str| format!("/apis/apps/v1/namespaces/default/{plural}/{name}");
    let on_delete = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
    let got = send(&server, "PATCH", &path("statefulsets", "db"), MERGE, &on_delete);
    assert!(got.message().contains("only allowed for updateStrategy 'RollingUpdate'"), "{}", got.body);
    let got = send(
        &server,
        "PATCH",
        &path("deployments", "web"),
        STRATEGIC,
        &json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
    );
    assert_eq!(got.body["spec"]["strategy"], json!({"type": "Recreate"}));
    let got = send(
        &server,
        "PATCH",
        &path("deployments", "web"),
        STRATEGIC,
        &json!({"spec": {"template": {"spec": {"containers": [{"name": "new", "image": "acme/new"}, {"name": "app", "$patch": "delete"}]}}}}),
    );
    let containers = &got.body["spec"]["template"]["spec"]["containers"];
    assert_eq!(containers.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&containers[0]["name"], &containers[0]["imagePullPolicy"]),
        (&json!("new"), &json!("Always")),
        "defaults are filled in"
    );
}
