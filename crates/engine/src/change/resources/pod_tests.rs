use serde_json::{Value, json};

use super::*;
use crate::change::{Change, FieldChanges, diff};
use crate::k8s::pod::PastResize;
use crate::kinds::WorkloadKind;

/// A template with this as a whole, and what its containers ask for.
fn template(whole: &Value, app: &Value) -> Value {
    let containers = json!([{"name": "app", "image": "app:1", "resources": app}, {"name": "side", "image": "s:1"}]);
    let mut template = json!({"spec": {"containers": containers}});
    if !whole.is_null() {
        template["spec"]["resources"] = whole.clone();
    }
    template
}

fn change(before: &Value, after: &Value) -> (Change, Vec<String>) {
    let found = diff(&template(before, &json!({})), &template(after, &json!({})));
    (found.change, found.rest.other)
}

fn rows(fields: &FieldChanges) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "none".into());
    let rows = fields.rows().into_iter();
    rows.map(|row| format!("{} {} -> {}", row.what, text(row.before), text(row.after))).collect()
}

/// A pod that asks for the first as a whole and has the second, and an app that asks for the third.
fn pod(spec: &Value, status: &Value, app: &Value) -> Pod {
    let object = json!({
        "metadata": {"name": "web-0", "uid": "u", "generation": 3},
        "spec": {"nodeName": "node-1", "resources": spec, "containers": [
            {"name": "app", "image": "app:1", "resources": app}, {"name": "side", "image": "s:1"}]},
        "status": {"phase": "Running", "observedGeneration": 3, "resources": status,
            "allocatedResources": status["requests"], "containerStatuses": [
            {"name": "app", "image": "app:1", "imageID": "i", "containerID": "c-1", "ready": true, "restartCount": 0,
             "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, "resources": app,
             "allocatedResources": app["requests"]}]}});
    Pod::from_object(&object).expect("it is a pod")
}

fn patch_of(fields: &FieldChanges, pod: &Pod) -> Value {
    let mut operations = Operations::default();
    fields.write(PodPart::Resize, pod, &mut operations);
    serde_json::to_value(operations.into_patch(pod)).expect("it is a patch")
}

#[test]
fn only_cpu_and_memory_are_claimed_and_pods_get_what_the_server_fills_in() {
    let limits = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
    for (before, after, expected, others) in [
        (
            json!({"requests": {"cpu": "500m"}}),
            json!({"requests": {"cpu": 0.5, "memory": "64Mi"}}),
            vec!["requests.memory of the pod none -> 64Mi"],
            vec![],
        ),
        // The request of the pod follows its limit, as long as no container asks for anything.
        (
            limits.clone(),
            json!({"limits": {"cpu": "2", "memory": "1024Mi"}}),
            vec!["limits.cpu of the pod 1 -> 2", "requests.cpu of the pod 1 -> 2"],
            vec![],
        ),
        (
            limits,
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1", "memory": "1Gi"}}),
            vec!["requests.cpu of the pod none -> 1"],
            vec![],
        ),
        (Value::Null, json!({"requests": {"cpu": "100m"}}), vec!["requests.cpu of the pod none -> 100m"], vec![]),
        (json!({"requests": {"cpu": "100m"}}), Value::Null, vec!["requests.cpu of the pod 100m -> none"], vec![]),
        (Value::Null, json!({}), vec![], vec!["spec.resources"]),
        (
            json!({"requests": {"cpu": "1"}, "limits": {"hugepages-2Mi": "2Mi"}}),
            json!({"requests": {"cpu": "1"}, "limits": {"hugepages-2Mi": "4Mi"}}),
            vec![],
            vec!["spec.resources.limits.hugepages-2Mi"],
        ),
    ] {
        let (change, rest) = change(&before, &after);
        assert_eq!((rows(&change.fields), rest), (words(&expected), words(&others)), "{before} -> {after}");
        if others.is_empty() {
            let (before, after) = (template(&before, &json!({})), template(&after, &json!({})));
            let same =
                |found: Option<Value>, other: &Value| found.is_some_and(|found| crate::change::same(&found, other));
            assert!(same(change.apply(&before), &after) && same(change.reversed().apply(&after), &before));
            let text = serde_json::to_string(&change).expect("it can be written");
            assert_eq!(serde_json::from_str::<Change>(&text).expect("it can be read"), change);
        }
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// The pod's request that nobody has written is that of its containers together, so it changes with theirs, in pods alone.
#[test]
fn what_containers_ask_for_changes_the_pods_request_that_is_not_written() {
    let whole = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
    let app = |cpu: &str| json!({"requests": {"cpu": cpu}});
    let (before, after) = (template(&whole, &app("100m")), template(&whole, &app("200m")));
    let change = diff(&before, &after).change;
    assert_eq!(rows(&change.fields), ["app requests.cpu 100m -> 200m", "requests.cpu of the pod 100m -> 200m"]);
    assert_eq!(change.apply(&before), Some(after.clone()), "the template has no request of the pod");
    assert_eq!(change.before_after(&after), Some((before, after)));
    let has = json!({"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}});
    let pod = pod(&has, &has, &app("100m"));
    let patch = patch_of(&change.fields, &pod);
    let paths: Vec<&str> = patch.as_array().into_iter().flatten().filter_map(|one| one["path"].as_str()).collect();
    assert_eq!(
        paths,
        [
            "/spec/containers/0/name",
            "/status/containerStatuses/0/containerID",
            "/spec/containers/0/resources/requests",
            "/spec/containers/0/resources/requests",
            "/spec/resources/requests",
            "/spec/resources/requests"
        ],
        "both go in one request"
    );
    assert_eq!(patch[5]["value"], json!({"cpu": "200m", "memory": "1Gi"}));
    assert!(change.fields.refused_in(&containers(&pod)).is_empty());
}

fn containers(pod: &Pod) -> Containers<'_> {
    Containers { pod: Some(pod), all: pod.all_containers().collect(), restarting: vec![] }
}

#[test]
fn a_pod_without_any_gets_them_as_a_whole() {
    let (change, _) = change(&Value::Null, &json!({"requests": {"cpu": "100m"}}));
    let pod = pod(&Value::Null, &json!({}), &json!({"requests": {"cpu": "10m"}}));
    let test = json!({"op": "test", "path": "/spec/resources", "value": null});
    let add = json!({"op": "add", "path": "/spec/resources", "value": {"requests": {"cpu": "100m"}}});
    assert_eq!(patch_of(&change.fields, &pod), json!([test, add]));
}

/// The kubelet reports what the pod's cgroup has.
#[test]
fn done_is_what_is_allocated_and_what_the_cgroup_has() {
    let old = json!({"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}});
    let waiting = FieldProgress::Waiting { why: None, deferred: false };
    for (new, has, overhead, expected) in [
        (json!({"requests": {"cpu": "100m"}}), json!({"requests": {"cpu": "100m"}}), "0", FieldProgress::Done),
        (json!({"requests": {"cpu": "100m"}}), json!({"requests": {"cpu": "50m"}}), "0", waiting.clone()),
        // As cgroup v2 rounds its weight, and the kubelet reads it.
        (json!({"requests": {"cpu": "100m"}}), json!({"requests": {"cpu": "79m"}}), "0", FieldProgress::Done),
        (json!({"requests": {"cpu": "100m"}}), json!({"requests": {"cpu": "110m"}}), "10m", FieldProgress::Done),
        (json!({"requests": {"cpu": "100m"}}), json!({"requests": {"cpu": "100m"}}), "10m", waiting.clone()),
        (json!({"limits": {"cpu": "500m"}}), json!({"limits": {"cpu": "500m"}}), "0", FieldProgress::Done),
        (json!({"limits": {"cpu": "500m"}}), json!({"limits": {"cpu": "1"}}), "0", waiting.clone()),
        (json!({"limits": {"cpu": "5m"}}), json!({"limits": {"cpu": "10m"}}), "0", FieldProgress::Done),
        // Whole pages.
        (json!({"limits": {"memory": "100M"}}), json!({"limits": {"memory": "99999744"}}), "0", FieldProgress::Done),
        (json!({"limits": {"memory": "100M"}}), json!({"limits": {"memory": "64Mi"}}), "0", waiting.clone()),
        (json!({"limits": {"memory": "60M"}}), json!({"limits": {"memory": "64Mi"}}), "0", waiting.clone()),
    ] {
        let mut wanted = old.clone();
        let mut actual = old.clone();
        for map in ["requests", "limits"] {
            for (target, source) in [(&mut wanted, &new), (&mut actual, &has)] {
                for (resource, value) in source[map].as_object().into_iter().flatten() {
                    target[map][resource] = value.clone();
                }
            }
        }
        let (change, _) = change(&old, &wanted);
        let mut pod = pod(&wanted, &actual, &json!({}));
        pod.spec.overhead.insert("cpu".into(), overhead.into());
        let cpu = if overhead == "0" { wanted["requests"]["cpu"].clone() } else { json!("110m") };
        let allocated = json!({"cpu": cpu, "memory": "32Mi"});
        pod.status.allocated_resources = serde_json::from_value(allocated).expect("quantities");
        assert_eq!(change.fields.progress_in(&pod), expected, "{new} {has} {overhead}");
        assert_eq!(change.fields.left_in(&pod).is_empty(), expected == FieldProgress::Done, "what is not done is left");
        pod.status.observed_generation = Some(2);
        assert_eq!(change.fields.progress_in(&pod), waiting, "the kubelet has not seen it");
        pod.spec.resources = serde_json::from_value(old.clone()).expect("resources");
        assert_eq!(change.fields.progress_in(&pod), FieldProgress::NotAsked);
    }
}

/// No cgroup holds a memory request: what is allocated counts.
#[test]
fn memory_that_is_requested_is_done_once_it_is_allocated() {
    let (old, new) = (json!({"requests": {"memory": "32Mi"}}), json!({"requests": {"memory": "48Mi"}}));
    let (change, _) = change(&old, &new);
    let mut pod = pod(&new, &old, &json!({}));
    assert_ne!(change.fields.progress_in(&pod), FieldProgress::Done);
    pod.status.allocated_resources = Some([("memory".to_owned(), "48Mi".to_owned())].into());
    assert_eq!(change.fields.progress_in(&pod), FieldProgress::Done);
}

#[test]
fn what_the_server_refuses_is_refused_before_and_pod_and_containers_are_judged_together() {
    let whole = |cpu: &str, memory: &str, limit: &str| json!({"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": "1", "memory": limit}});
    let app = |cpu: &str, limit: &str| json!({"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": limit}});
    let (before, app_before) = (whole("200m", "128Mi", "1Gi"), app("100m", "512Mi"));
    for (after, app_after, expected) in [
        (whole("300m", "128Mi", "2Gi"), app("100m", "512Mi"), vec![]),
        (whole("50m", "128Mi", "1Gi"), app("100m", "512Mi"), vec!["PodRequestTooSmall"]),
        (whole("2", "128Mi", "1Gi"), app("100m", "512Mi"), vec!["RequestAboveLimit"]),
        (whole("200m", "128Mi", "256Mi"), app("100m", "512Mi"), vec!["LimitAbovePod"]),
        (whole("200m", "128Mi", "1Gi"), app("300m", "512Mi"), vec!["PodRequestTooSmall"]),
        (whole("200m", "128Mi", "1Gi"), app("100m", "2Gi"), vec!["LimitAbovePod"]),
        (whole("300m", "128Mi", "2Gi"), app("300m", "2Gi"), vec![]),
        (whole("1", "1Gi", "1Gi"), app("100m", "512Mi"), vec!["QosClassChanges"]),
        (json!({"requests": {"cpu": "200m"}, "limits": {"cpu": "1"}}), app("100m", "512Mi"), vec!["ResourceRemoved"]),
        // The server gives the request back that the containers make together.
        (json!({"limits": {"cpu": "1", "memory": "1Gi"}}), app("100m", "512Mi"), vec![]),
    ] {
        let change = diff(&template(&before, &app_before), &template(&after, &app_after)).change;
        let object = json!({"metadata": {"name": "web", "uid": "u"}});
        let workload = Workload::from_object(WorkloadKind::ALL[0], object).expect("it has a name");
        let pod = pod(&before, &before, &app_before);
        let mut codes: Vec<&str> = change.refused(&workload, Direction::Forward).iter().map(Reason::code).collect();
        codes.extend(change.fields.refused_in(&containers(&pod)).iter().map(Reason::code));
        assert_eq!(codes, expected, "{after} {app_after}");
        assert!(change.refused(&workload, Direction::Back).is_empty());
        let of_template = change.fields.resources.refused_of_template(&template(&after, &app_after));
        assert!(of_template.iter().map(Reason::code).all(|code| expected.contains(&code)), "{after} {app_after}");
    }
}

#[test]
fn a_node_that_does_not_tell_and_a_container_that_would_restart_are_refused() {
    let whole =
        |limit: &str| json!({"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "1", "memory": limit}});
    let (change, _) = change(&whole("64Mi"), &whole("96Mi"));
    let refused = |pod: &Pod| change.fields.refused_in(&containers(pod)).iter().map(Reason::code).collect::<Vec<_>>();
    let mut pod = pod(&whole("64Mi"), &whole("64Mi"), &json!({}));
    assert_eq!(refused(&pod), [""; 0]);
    let policy = json!([{"resourceName": "memory", "restartPolicy": "RestartContainer"}]);
    pod.spec.containers[0].resize_policy = serde_json::from_value(policy).expect("a policy");
    assert_eq!(refused(&pod), ["PodLimitRestarts"]);
    pod.spec.containers[0].resources.limits.insert("memory".into(), "16Mi".into());
    assert_eq!(refused(&pod), [""; 0], "it has a limit of its own");
    pod.status.resources = None;
    assert_eq!(refused(&pod), ["PodResizeNotSupported"]);
    pod.status.phase = "Pending".into();
    assert_eq!(refused(&pod), [""; 0], "its kubelet has not told anything yet");
}

#[test]
fn a_pod_that_has_something_else_than_its_template_is_seen_and_an_earlier_value_is_a_conflict() {
    let whole = |cpu: &str| json!({"requests": {"cpu": cpu}});
    let has = pod(&whole("0.3"), &whole("300m"), &json!({}));
    let found = FieldChanges::drift(&template(&whole("100m"), &json!({})), &has);
    assert_eq!(rows(&found), ["requests.cpu of the pod 100m -> 0.3"]);
    // What the server would give a new pod is none, though a resize has set it in this one.
    let limits = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
    let asked = json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": limits["limits"]});
    let drift = |cpu: &str| {
        let app = json!({"requests": {"cpu": cpu, "memory": "64Mi"}});
        let mut has = pod(&asked, &asked, &app);
        let by_resize = ["requests.cpu", "requests.memory"].map(str::to_owned);
        has.resized = [(ResourceHolder::Pod, PastResize { values: by_resize.into(), ..PastResize::default() })].into();
        rows(&FieldChanges::drift(&template(&limits, &app), &has))
    };
    assert_eq!(drift("100m"), [""; 0]);
    assert_eq!(drift("50m"), ["requests.cpu of the pod none -> 100m"]);
    let (change, _) = change(&whole("100m"), &whole("200m"));
    assert_eq!(change.fields.conflict_in(&has), Some("spec.resources.requests.cpu".into()));
    assert_eq!(change.fields.conflict_in(&pod(&whole("100m"), &whole("100m"), &json!({}))), None);
    let spec = json!({});
    assert_eq!(change.fields.resources.oldest_server(&spec).map(|version| version.to_string()), Some("1.36".into()));
    // Containers of a pod that has cpu and memory as a whole.
    let of_app = |cpu: &str| template(&whole("1"), &json!({"requests": {"cpu": cpu}}));
    let of_app = diff(&of_app("1m"), &of_app("2m")).change.fields;
    let needs = |spec: &Value| of_app.resources.oldest_server(spec).map(|version| version.to_string());
    assert_eq!(needs(&json!({"resources": whole("1")})), Some("1.36".into()));
    assert_eq!(needs(&json!({"resources": {}})), Some("1.33".into()));
}

/// A container without a limit of its own has the pod's: to write the same into it changes nothing for the kubelet, and so
/// nothing restarts (`computePodResizeAction`).
#[test]
fn a_limit_that_a_container_has_from_its_pod_restarts_nothing() {
    let whole = json!({"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "1", "memory": "64Mi"}});
    let policy = json!([{"resourceName": "memory", "restartPolicy": "RestartContainer"}]);
    let with = |app: &Value| {
        let mut template = template(&whole, app);
        template["spec"]["containers"][0]["resizePolicy"] = policy.clone();
        template
    };
    let request = json!({"memory": "16Mi"});
    let none = json!({"requests": request});
    let mut pod = pod(&whole, &whole, &none);
    pod.spec.containers[0].resize_policy = serde_json::from_value(policy.clone()).expect("a policy");
    for (limit, restarts) in [("64Mi", false), ("65536Ki", false), ("48Mi", true)] {
        let fields =
            diff(&with(&none), &with(&json!({"requests": request, "limits": {"memory": limit}}))).change.fields;
        let of_template: Vec<_> = fields.resources.restarting().collect();
        assert_eq!((of_template.is_empty(), fields.restarting_in(&pod).is_empty()), (!restarts, !restarts), "{limit}");
    }
}

/// No request is above a limit, and the limit stays.
#[test]
fn a_request_that_a_kept_limit_is_below_stays_unchanged() {
    let with = json!({"requests": {"cpu": "10m", "memory": "8Mi"}, "limits": {"memory": "12Mi"}});
    let back = |memory: &str| {
        let (change, _) = change(&with, &json!({"requests": {"cpu": "20m", "memory": memory}}));
        rows(&change.fields.left_in(&pod(&with, &with, &json!({}))))
    };
    assert_eq!(back("16Mi"), ["requests.cpu of the pod 10m -> 20m"]);
    assert_eq!(back("12Mi"), ["requests.cpu of the pod 10m -> 20m", "requests.memory of the pod 8Mi -> 12Mi"]);
}
