use serde_json::{Value, json};

use super::*;
use crate::change::target;
use crate::kinds::WorkloadKind;

/// A Deployment as the server stores it.
fn stored() -> Value {
    let mut object = WorkloadKind::Deployment.defaults().fill(
        &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod"}, "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                "initContainers": [{"name": "init", "image": "init:1"}, {"name": "mesh", "image": "mesh:1", "restartPolicy": "Always"}],
                "containers": [
                    {"name": "app", "image": "app:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
                    {"name": "side", "image": "side:1"}]}}}}),
    );
    object["metadata"]["uid"] = "u".into();
    object["metadata"]["resourceVersion"] = "7".into();
    object["metadata"]["annotations"] =
        json!({"deployment.kubernetes.io/revision": "3", "kubectl.kubernetes.io/last-applied-configuration": "{}"});
    object["status"] = json!({"replicas": 2});
    object
}

fn live(object: Value) -> Workload {
    let kind = if object["kind"] == "Pod" { WorkloadKind::Pod } else { WorkloadKind::Deployment };
    Workload::from_object(kind, object).unwrap()
}

fn marks(change: impl FnOnce(&mut Value)) -> Vec<(String, Effect)> {
    marks_of(stored(), change)
}

fn marks_of(before: Value, change: impl FnOnce(&mut Value)) -> Vec<(String, Effect)> {
    let mut after = before.clone();
    change(&mut after);
    let diff = build(&live(before), &after);
    assert!(!diff.is_empty());
    diff.marks.into_iter().map(|mark| (mark.path.replace("spec.template.", "T."), mark.effect)).collect()
}

/// The versions of server and nodes are not read.
#[test]
fn an_init_container_is_resized_where_server_and_kubelet_are_new_enough() {
    let with = |object: &mut Value, list: &str, resources: Value| {
        object["spec"]["template"]["spec"][list][0]["resources"] = resources;
    };
    let mut before = stored();
    with(&mut before, "containers", json!({"requests": {"memory": "1Mi"}}));
    let found = marks_of(before, |object| with(object, "initContainers", json!({"requests": {"cpu": "10m"}})));
    assert_eq!(found, [("T.spec.initContainers[init].resources.requests.cpu".to_owned(), Effect::InitResized)]);
    assert_eq!(found[0].1.words(), "in place: no restart (API server and kubelet 1.36 or newer)");
}

#[test]
fn nothing_that_the_user_did_not_write_is_left() {
    let mut after = stored();
    after["metadata"]["resourceVersion"] = "8".into();
    after["metadata"]["generation"] = 4.into();
    after["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "4".into();
    after["status"] = json!({"replicas": 1});
    after["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().reverse();
    let diff = build(&live(stored()), &after);
    assert!(diff.is_empty(), "{diff:?}");
    assert_eq!(diff.marks, []);
    let text = serde_json::to_string(&diff.before).unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"prod"},"spec":{"#,
            r#""replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"#,
            r#""containers":[{"name":"app","image":"app:1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},"#,
            r#"{"name":"side","image":"side:1"}],"initContainers":[{"name":"init","image":"init:1"},"#,
            r#"{"name":"mesh","image":"mesh:1","restartPolicy":"Always"}]}}}}"#
        )
    );
    assert_eq!(diff.file_name(), "apps.v1.Deployment.prod.web");
}

/// What rollouts of ours and the server write, as `kubectl get -o yaml` exports it; `round` is how often.
fn exported(mut object: Value, round: i64) -> Value {
    object["metadata"]["annotations"] = json!({
        "deployment.kubernetes.io/revision": round.to_string(),
        "kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{}}",
        "kubectl-inplace.io/history": format!("[{round}]"),
        "kubectl-inplace.io/rollout": format!("{{\"run\":{round}}}"),
        "kubectl-inplace.io/update": format!("{{\"id\":{round}}}")});
    object["metadata"]["labels"] = json!({"kubectl-inplace.io/drained": round.to_string()});
    object["metadata"]["uid"] = "u".into();
    object["metadata"]["generation"] = round.into();
    object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    object["metadata"]["managedFields"] = json!([{"manager": "inplace-cli", "operation": "Update", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:metadata": {"f:annotations": {"f:kubectl-inplace.io/history": {}}}}}]);
    object["status"] = json!({"observedGeneration": round, "qosClass": "BestEffort"});
    object
}

#[test]
fn what_rollouts_leave_in_an_object_is_no_difference() {
    let template = stored()["spec"]["template"].clone();
    let of = |version: &str, kind: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "prod"}, "spec": spec});
    let spec = |more: Value| {
        let mut spec = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    for (kind, object) in [
        (WorkloadKind::Deployment, of("apps/v1", "Deployment", spec(json!({"replicas": 2})))),
        (WorkloadKind::StatefulSet, of("apps/v1", "StatefulSet", spec(json!({"replicas": 2, "serviceName": "web"})))),
        (WorkloadKind::DaemonSet, of("apps/v1", "DaemonSet", spec(json!({})))),
        (WorkloadKind::ReplicaSet, of("apps/v1", "ReplicaSet", spec(json!({"replicas": 2})))),
        (WorkloadKind::Pod, of("v1", "Pod", template["spec"].clone())),
    ] {
        let now = Workload::from_object(kind, exported(object.clone(), 7)).unwrap();
        for manifest in [exported(object.clone(), 2), exported(object.clone(), 7), object] {
            let diff = build(&now, &manifest);
            assert!(diff.is_empty(), "{kind:?}: {diff:?}");
            assert_eq!(diff.marks, [], "{kind:?}: {manifest}");
        }
    }
}

#[test]
fn a_template_has_no_path_into_a_status() {
    let found = marks(|object| {
        object["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    });
    assert!(!found.is_empty() && found.iter().all(|(path, _)| !path.contains("status")), "{found:?}");
}

#[test]
fn each_change_is_marked_with_what_it_means() {
    let blocked = Effect::NotInPlace("TemplateFieldNotInPlace");
    let container = |name: &str| json!({"name": name, "image": "x:1"});
    type Change = Box<dyn FnOnce(&mut Value)>;
    let at = |pointer: &'static str, value: Value| -> Change {
        Box::new(move |object| *object.pointer_mut(pointer).unwrap() = value)
    };
    let cases: Vec<(Change, Vec<(&str, Effect)>)> = vec![
        (
            at("/spec/template/spec/containers/1/image", json!("side:2")),
            vec![("T.spec.containers[side].image", Effect::Restarts("side".into()))],
        ),
        (
            at("/spec/template/spec/initContainers/0/image", json!("init:2")),
            vec![("T.spec.initContainers[init].image", Effect::NoEffectNow)],
        ),
        (
            at("/spec/template/spec/initContainers/1/image", json!("mesh:2")),
            vec![("T.spec.initContainers[mesh].image", Effect::SidecarRestarts("mesh".into()))],
        ),
        (
            at("/spec/template/spec/containers/1/image", json!("SIDE:2")),
            vec![("T.spec.containers[side].image", Effect::NotInPlace("ImageMalformed"))],
        ),
        (
            at("/spec/template/spec/containers/0/env/1/value", json!("3")),
            vec![("T.spec.containers[app].env[B].value", blocked)],
        ),
        (at("/spec/replicas", json!(5)), vec![("spec.replicas", Effect::LeftAlone)]),
        (
            Box::new(move |object| {
                object["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap().push(container("new"));
            }),
            vec![("T.spec.containers[new]", Effect::NotInPlace("ContainerAdded"))],
        ),
        (
            at("/spec/template/metadata/labels", json!({"app": "web", "tier": "back"})),
            vec![("T.metadata.labels.tier", Effect::NoRestart)],
        ),
        (
            at("/spec/template/spec/initContainers/0/resources", json!({"requests": {"cpu": "10m"}})),
            vec![("T.spec.initContainers[init].resources.requests.cpu", Effect::NotInPlace("QosClassChanges"))],
        ),
        // Reasons about the values together refuse them, and not paths that only sound like them.
        (
            Box::new(|object| {
                let template = &mut object["spec"]["template"];
                template["metadata"]["labels"] = json!({"app": "web", "resources": "few"});
                template["spec"]["containers"][1]["resources"] = json!({"requests": {"cpu": "10m"}});
            }),
            vec![
                ("T.metadata.labels.resources", Effect::NoRestart),
                ("T.spec.containers[side].resources.requests.cpu", Effect::NotInPlace("QosClassChanges")),
            ],
        ),
        (
            at("/spec/template/metadata/labels", json!({"app": "web", "pod-template-hash": "x"})),
            vec![("T.metadata.labels.pod-template-hash", Effect::NotInPlace("MetadataKeyReserved"))],
        ),
    ];
    for (change, expected) in cases {
        let expected: Vec<_> = expected.into_iter().map(|(path, effect)| (path.to_owned(), effect)).collect();
        assert_eq!(marks(change), expected);
    }
}

#[test]
fn a_pod_is_shown_without_what_admission_added() {
    let mount = json!({"name": "kube-api-access-abcde", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true});
    let toleration =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let pod = WorkloadKind::Pod.defaults().fill(
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u",
            "ownerReferences": [{"name": "x"}]}, "spec": {
            "nodeName": "node-1", "serviceAccountName": "default", "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable"), {"key": "mine"}],
            "volumes": [{"name": "kube-api-access-abcde", "projected": {"sources": []}}, {"name": "kube-api-access-x", "emptyDir": {}}],
            "containers": [{"name": "a", "image": "a:1", "volumeMounts": [mount]}]}}),
    );
    let mut after = pod.clone();
    after["spec"]["containers"][0]["image"] = "a:2".into();
    let diff = build(&live(pod), &after);
    assert_eq!(
        diff.after["spec"],
        json!({"containers": [{"name": "a", "image": "a:2"}], "tolerations": [{"key": "mine"}],
            "volumes": [{"name": "kube-api-access-x", "emptyDir": {}}]})
    );
    assert_eq!(diff.file_name(), "v1.Pod.n.p");
    assert_eq!(diff.marks, [Mark { path: "spec.containers[a].image".into(), effect: Effect::Restarts("a".into()) }]);
}

#[test]
fn what_blocks_a_bare_pod_blocks_its_image() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]}});
    let mut after = pod.clone();
    after["spec"]["containers"][0]["image"] = "a:2".into();
    let effects: Vec<Effect> = build(&live(pod), &after).marks.into_iter().map(|mark| mark.effect).collect();
    assert_eq!(effects, [Effect::NotInPlace("RestartPolicyNotAlways")]);
}

#[test]
fn images_by_hand_go_into_the_template() {
    let images = |word: &str| target::parse(&[word.to_owned()], &[], target::Unnamed::None, false).unwrap().images;
    let live = live(stored());
    let after = with_images(&live, &images("side=:2")).unwrap();
    assert_eq!(after.pointer("/spec/template/spec/containers/1/image"), Some(&json!("side:2")));
    assert_eq!(
        with_images(&live, &images("sode=:2")).unwrap_err().first().map(Reason::code),
        Some("ContainerNotFound")
    );
}

#[test]
fn objects_of_no_shape_are_compared_all_the_same() {
    for object in [
        json!({}),
        json!({"spec": []}),
        json!({"spec": {"template": 1}}),
        json!({"metadata": {"annotations": 1}}),
        Value::Null,
    ] {
        let diff = build(&live(stored()), &object);
        assert!(!diff.is_empty());
    }
}
