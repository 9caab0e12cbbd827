use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::k8s::names::{RolloutId, WorkloadRef};
use crate::kinds::WorkloadKind;

fn digest(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

fn node(name: &str, ready: bool, names: &[&str]) -> NodeImages {
    let status = if ready { "True" } else { "Unknown" };
    NodeImages::of(&json!({"metadata": {"name": name}, "status": {
        "conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": status}],
        "images": [{"names": ["<none>@<none>", "registry.k8s.io/pause:3.10"]}, {"names": names}, {"names": null}]}}))
}

fn pull(node: &str, images: &[(&str, &str)]) -> Pull {
    let image = |(image, policy): &(&str, &str)| ImagePull { image: (*image).into(), policy: (*policy).into() };
    Pull {
        node: node.into(),
        secrets: vec!["registry".into()],
        service_account: "web".into(),
        images: images.iter().map(image).collect(),
        asks: PullAsks::Little,
    }
}

#[test]
fn a_node_lists_an_image_by_name_or_digest() {
    let by_digest = format!("docker.io/acme/side@{}", digest('a'));
    let node = node("node-a", true, &[&by_digest, "docker.io/acme/side:1", "docker.io/library/nginx:latest"]);
    assert!(node.ready);
    for (image, listed) in [
        ("acme/side:1".to_owned(), true),
        ("docker.io/acme/side:1".into(), true),
        (format!("acme/side@{}", digest('a')), true),
        (format!("acme/side:2@{}", digest('a')), true),
        ("nginx".into(), true),
        ("registry.k8s.io/pause:3.10".into(), true),
        ("acme/side:2".into(), false),
        ("acme/side".into(), false),
        (format!("acme/side@{}", digest('b')), false),
        ("example.com/acme/side:1".into(), false),
        ("UPPER".into(), false),
    ] {
        assert_eq!(node.lists(&image), listed, "{image}");
    }
    let bare = NodeImages::of(&json!({}));
    assert!(!bare.ready && !bare.lists("nginx"));
}

#[test]
fn the_kubelet_is_asked_where_it_would_pull() {
    let nodes = [node("node-a", true, &["docker.io/acme/side:1"]), node("node-b", true, &[])];
    use PrePull::{Always, Auto, Never};
    for (mode, policy, expected) in [
        (Auto, "IfNotPresent", vec!["node-b"]),
        (Auto, "Never", vec!["node-b"]),
        (Auto, "Always", vec!["node-a", "node-b"]),
        (Always, "IfNotPresent", vec!["node-a", "node-b"]),
        (Never, "Always", vec![]),
    ] {
        let wanted = ["node-b", "node-a", ""].map(|node| pull(node, &[("acme/side:1", policy)]));
        let found = lacking(&nodes, &wanted, mode);
        let pulled: Vec<&str> = found.pulls.iter().map(|pull| pull.node.as_str()).collect();
        assert_eq!(pulled, expected, "{mode:?} {policy}");
        assert!(found.not_ready.is_empty());
    }
}

#[test]
fn one_pull_a_node_with_each_image_once() {
    let nodes = [node("node-a", true, &[])];
    let mut other = pull("node-a", &[("acme/app:2", "IfNotPresent")]);
    other.secrets.clear();
    let wanted = [
        pull("node-a", &[("acme/side:2", "IfNotPresent"), ("acme/app:2", "IfNotPresent")]),
        pull("node-a", &[("acme/side:2", "Always")]),
        pull("node-a", &[("acme/side:2", "IfNotPresent")]),
        other.clone(),
    ];
    let expected = pull("node-a", &[("acme/app:2", "IfNotPresent"), ("acme/side:2", "Always")]);
    assert_eq!(lacking(&nodes, &wanted, PrePull::Auto).pulls, [other, expected]);
}

#[test]
fn a_node_that_is_not_ready_is_reported_and_one_that_was_not_read_is_tried() {
    let nodes = [node("down", false, &[]), node("idle", false, &["docker.io/acme/side:1"])];
    let wanted = ["down", "idle", "unseen", "down"].map(|node| pull(node, &[("acme/side:1", "IfNotPresent")]));
    let found = lacking(&nodes, &wanted, PrePull::Auto);
    assert_eq!(found.not_ready, ["down"]);
    assert_eq!(found.pulls.iter().map(|pull| pull.node.as_str()).collect::<Vec<_>>(), ["unseen"]);
}

#[test]
fn what_restarts_is_pulled_with_the_pods_own_credentials() {
    let pod = Pod::from_object(&json!({"metadata": {"name": "web-0", "uid": "u"}, "spec": {"nodeName": "node-a",
        "imagePullSecrets": [{"name": "one"}, {"name": "two"}], "serviceAccountName": "web",
        "initContainers": [{"name": "setup", "image": "a:1", "imagePullPolicy": "Always"},
            {"name": "mesh", "image": "b:1", "imagePullPolicy": "Always", "restartPolicy": "Always"}],
        "containers": [{"name": "app", "image": "c:1", "imagePullPolicy": "IfNotPresent"}]}}))
    .unwrap();
    let images =
        ["setup", "mesh", "app", "gone"].map(|name| NewImage { container: name.into(), to: format!("{name}:2") });
    let found = Pull::of(&pod, &images);
    assert_eq!((found.node.as_str(), found.service_account.as_str()), ("node-a", "web"));
    assert_eq!(found.secrets, ["one", "two"]);
    let images: Vec<(&str, &str)> =
        found.images.iter().map(|image| (image.image.as_str(), image.policy.as_str())).collect();
    assert_eq!(images, [("mesh:2", "Always"), ("app:2", "IfNotPresent")]);
    let plain = Pod::from_object(&json!({"metadata": {}, "spec": {"imagePullSecrets": null}})).unwrap();
    assert_eq!(Pull::of(&plain, &images_of_none()).secrets, [""; 0]);
}

fn images_of_none() -> [NewImage; 0] {
    []
}

#[test]
fn the_pod_says_what_it_must() {
    let id = RolloutId::from("20260102-030405-0a1b2c");
    let wanted = pull("node-a", &[("acme/app:2", "IfNotPresent"), ("acme/side:2", "Always")]);
    let pod = pull_pod(&id, &web(), &wanted, 300);
    let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
    let asked = json!({"cpu": "50m", "memory": "32Mi"});
    let container = |index: usize, image: &str, policy: &str| {
        json!({"name": format!("image-{index}"), "image": image,
            "command": ["/kubectl-inplace/pulls-the-image-and-runs-nothing"],
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            "imagePullPolicy": policy, "resources": {"requests": asked, "limits": asked}})
    };
    assert_eq!(
        pod,
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "prod", "labels": {
                "app.kubernetes.io/managed-by": "kubectl-inplace",
                "kubectl-inplace.io/pull": "20260102-030405-0a1b2c"},
                "annotations": {"sidecar.istio.io/inject": "false", "linkerd.io/inject": "disabled"}},
            "spec": {"nodeName": "node-a", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                "activeDeadlineSeconds": 300, "automountServiceAccountToken": false, "enableServiceLinks": false,
                "tolerations": [{"operator": "Exists"}],
                "securityContext": {"runAsNonRoot": true, "runAsUser": 65534,
                    "seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [container(0, "acme/app:2", "IfNotPresent"), container(1, "acme/side:2", "Always")],
                "imagePullSecrets": [{"name": "registry"}], "serviceAccountName": "web"}})
    );
    let bare = Pull { secrets: vec![], service_account: String::new(), asks: PullAsks::Nothing, ..wanted };
    let pod = pull_pod(&id, &web(), &bare, 300);
    assert!(pod.pointer("/spec/imagePullSecrets").is_none() && pod.pointer("/spec/serviceAccountName").is_none());
    assert!(pod.pointer("/spec/containers/0/resources").is_none());
    assert_eq!(
        pull_selector(Some(&id)),
        "app.kubernetes.io/managed-by=kubectl-inplace,kubectl-inplace.io/pull=20260102-030405-0a1b2c"
    );
    assert_eq!(pull_selector(None), "app.kubernetes.io/managed-by=kubectl-inplace,kubectl-inplace.io/pull");
}

fn web() -> WorkloadRef {
    WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() }
}

fn name_of(id: &str, pull: &Pull) -> String {
    pull_pod(&RolloutId::from(id), &web(), pull, 60)["metadata"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn another_rollout_node_image_or_credential_is_another_name() {
    let base = pull("node-a", &[("a:1", "Always")]);
    let others = [
        ("one", base.clone()),
        ("two", base.clone()),
        ("one", pull("node-b", &[("a:1", "Always")])),
        ("one", pull("node-a", &[("a:2", "Always")])),
        ("one", pull("node-a", &[("a:1", "IfNotPresent")])),
        ("one", Pull { secrets: vec![], ..base.clone() }),
        ("one", Pull { service_account: String::new(), ..base.clone() }),
    ];
    let names: BTreeSet<String> = others.iter().map(|(id, pull)| name_of(id, pull)).collect();
    assert_eq!(names.len(), others.len(), "{names:?}");
    let of = |kind, name: &str| WorkloadRef { kind, name: name.into(), ..web() };
    let workloads = [web(), of(WorkloadKind::StatefulSet, "web"), of(WorkloadKind::Deployment, "api")];
    let names = workloads.map(|workload| pull_pod_name(&"one".into(), &workload, &base));
    assert_eq!(BTreeSet::from(names).len(), 3, "of one command each workload has its own");
    assert_eq!(name_of("one", &base), "inplace-pull-node-a-c613c8eb3c35ba80", "a later version must find it again");
}

proptest! {
    /// Whatever a node is called, and whatever id somebody wrote by hand: a DNS label, and a label value.
    #[test]
    fn names_are_dns_labels(id in any::<String>(), node in prop_oneof![any::<String>(), "[a-z0-9.-]{0,253}"]) {
        let pod = pull_pod(&RolloutId::from(id), &web(), &pull(&node, &[]), 60);
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        prop_assert!(name.len() <= 63 && alphanumeric(name.chars().next()) && alphanumeric(name.chars().last()));
        prop_assert!(name.chars().all(|c| alphanumeric(Some(c)) || c == '-'), "{}", name);
        let value = pod["metadata"]["labels"][PULL_LABEL].as_str().unwrap_or_default();
        prop_assert!(value.len() <= 63 && !value.starts_with(['-', '_', '.']) && !value.ends_with(['-', '_', '.']));
    }
}

fn pulled(image_id: &str) -> PullState {
    PullState::Pulled { image_id: Some(image_id.to_owned()).filter(|id| !id.is_empty()) }
}

fn failed(reason: &str, message: &str) -> PullState {
    PullState::Failed { reason: reason.into(), message: message.into() }
}

fn pulling(reason: &str, message: &str) -> PullState {
    PullState::Pulling { said: Some((reason.into(), message.into())) }
}

#[test]
fn each_container_is_judged_by_itself() {
    let waiting = |reason: &str, message: &str| json!({"waiting": {"reason": reason, "message": message}});
    let start_error = json!({"terminated": {"reason": "StartError", "exitCode": 128}});
    let unknown = json!({"terminated": {"reason": "ContainerStatusUnknown", "exitCode": 137}});
    let not_found = "failed to resolve reference \"r/a:2\": r/a:2: not found";
    let refused = "dial tcp 127.0.0.1:1: connect: connection refused";
    let back_off = "Back-off pulling image \"r/a:2\": ErrImagePull: connection refused";
    for (state, image_id, expected) in [
        (start_error.clone(), "r/a@sha256:1", pulled("r/a@sha256:1")),
        (start_error, "", pulled("")),
        (waiting("RunContainerError", "exec: no such file"), "r/a@sha256:1", pulled("r/a@sha256:1")),
        (waiting("CreateContainerError", "x"), "r/a@sha256:1", pulled("r/a@sha256:1")),
        (waiting("CreateContainerError", "x"), "", pulled("")),
        (waiting("CreateContainerConfigError", "x"), "", pulled("")),
        (json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}), "", pulled("")),
        (waiting("ErrImagePull", not_found), "", failed("ErrImagePull", not_found)),
        (waiting("ErrImagePull", "401 Unauthorized"), "", failed("ErrImagePull", "401 Unauthorized")),
        (waiting("ErrImagePull", "pull access denied"), "", failed("ErrImagePull", "pull access denied")),
        (waiting("ErrImagePull", refused), "", pulling("ErrImagePull", refused)),
        (waiting("ImagePullBackOff", back_off), "", failed("ImagePullBackOff", back_off)),
        (waiting("InvalidImageName", "x"), "", failed("InvalidImageName", "x")),
        (waiting("ErrImageNeverPull", "x"), "", failed("ErrImageNeverPull", "x")),
        (waiting("ImageInspectError", "x"), "", pulling("ImageInspectError", "x")),
        (waiting("ContainerCreating", ""), "", pulling("ContainerCreating", "")),
        (unknown, "", PullState::Pulling { said: None }),
        (Value::Null, "", PullState::Pulling { said: None }),
    ] {
        let pod = json!({"metadata": {"name": "p"},
            "spec": {"containers": [{"name": "image-0", "image": "r/a:2"}, {"name": "image-1", "image": "r/b:2"},
                {"name": "injected", "image": "mesh:1"}]},
            "status": {"phase": "Pending", "containerStatuses": [{"name": "image-0", "imageID": image_id, "state": state}]}});
        let other = ("r/b:2".into(), PullState::Pulling { said: None });
        let one = ("r/a:2".into(), expected);
        assert_eq!(judge(&pod), Ok(vec![one, other]), "{state} {image_id}");
    }
}

#[test]
fn a_pod_that_is_over_waits_for_nothing() {
    let containers = json!([{"name": "image-0", "image": "r/a:2"}, {"name": "image-1", "image": "r/b:2"}]);
    let pod = |status: Value| json!({"metadata": {"name": "p"}, "spec": {"containers": containers}, "status": status});
    let states = |pod: &Value| judge(pod).map(|images| images.into_iter().map(|(_, state)| state).collect::<Vec<_>>());
    for reason in ["OutOfcpu", "NodeAffinity", "UnexpectedAdmissionError"] {
        let rejected = pod(json!({"phase": "Failed", "reason": reason, "message": "no"}));
        assert_eq!(states(&rejected), Err(format!("{reason} no")));
    }
    assert_eq!(states(&pod(json!({"phase": "Pending"}))), Ok(vec![PullState::Pulling { said: None }; 2]));
    let done = json!({"name": "image-0", "imageID": "r/a@sha256:1", "state": {"terminated": {"reason": "StartError"}}});
    let late = json!({"name": "image-1", "state": {"terminated": {"reason": "ContainerStatusUnknown"}}});
    let over = |late: &Value| {
        pod(json!({"phase": "Failed", "reason": "DeadlineExceeded", "message": "Pod was active too long",
            "containerStatuses": [done, late]}))
    };
    let expected = vec![pulled("r/a@sha256:1"), failed("DeadlineExceeded", "Pod was active too long")];
    assert_eq!(states(&over(&late)), Ok(expected.clone()));
    let waiting = json!({"name": "image-1", "state": {"waiting": {"reason": "ContainerCreating"}}});
    assert_eq!(states(&over(&waiting)), Ok(expected));
    let said = json!({"name": "image-1", "state": {"waiting": {"reason": "ErrImagePull", "message": "x: not found"}}});
    assert_eq!(states(&over(&said)), Ok(vec![pulled("r/a@sha256:1"), failed("ErrImagePull", "x: not found")]));
    assert!(judge(&json!({"spec": {"containers": 3}})).is_err_and(|why| why.starts_with("Unreadable ")));
}

#[test]
fn a_pod_that_only_carries_the_labels_is_no_pull_pod() {
    let ours = pull_pod(&"20260301-100000-abcd".into(), &web(), &pull("node-a", &[("acme/side:2", "")]), 60);
    assert!(is_pull_pod(&ours));
    let changed = |pointer: &str, value: Value| {
        let mut pod = ours.clone();
        *pod.pointer_mut(pointer).unwrap() = value;
        pod
    };
    let mut injected = ours.clone();
    injected["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "istio-proxy", "image": "mesh"}));
    assert!(is_pull_pod(&injected), "a webhook may add a container");
    let mut controlled = ours.clone();
    controlled["metadata"]["ownerReferences"] = json!([{"kind": "ReplicaSet", "controller": true}]);
    for other in [
        controlled,
        changed("/metadata/name", json!("web-0")),
        changed("/metadata/name", json!("inplace-pull-node-b-0123456789abcdef")),
        changed("/metadata/name", json!("inplace-pull-node-a-0123456789abcdeg")),
        changed("/spec/nodeName", json!("")),
        changed("/spec/restartPolicy", json!("Always")),
        changed("/spec/containers/0/command", json!(["sleep"])),
        changed("/spec/containers", json!([])),
        json!({}),
    ] {
        assert!(!is_pull_pod(&other), "{other:#}");
    }
}
