//! What pods show after a change.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::support::api_server::Times;
use crate::support::{builders, clock};

/// What the user would see of container `app`: `spec image | containerID changed? | restarts | ready | state`.
fn picture(pod: &Value, first_id: &str) -> String {
    let status = &pod["status"]["containerStatuses"][0];
    let state = status["state"].as_object().and_then(|state| state.iter().next());
    let state = state.map_or_else(String::new, |(kind, detail)| {
        detail["reason"].as_str().map_or_else(|| kind.clone(), |reason| format!("{kind} {reason}"))
    });
    let id = if status["containerID"] == first_id { "old" } else { "new" };
    let observed = pod["status"]["observedGeneration"] == pod["metadata"]["generation"];
    let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
    let tag = image.rsplit(':').next().unwrap_or_default();
    format!("{tag} {id} restarts={} ready={} observed={observed} {state}", status["restartCount"], status["ready"])
}

/// Patches the image of `app`, and returns the different pictures of the watch until one of them is `last`.
fn pictures(image: &str, fields: Value, last: &str) -> Vec<String> {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    let pod = Workload::pod("p").container_with("app", "acme/app:v1", fields).container("side", "acme/side:v1");
    server.insert(pod.objects());
    let first = server.object("pods", "p").expect("the pod is there");
    let side = first["status"]["containerStatuses"][1].clone();
    let id = first["status"]["containerStatuses"][0]["containerID"].as_str().expect("it runs").to_owned();
    let from = first["metadata"]["resourceVersion"].as_str().expect("it is stored").to_owned();
    assert_eq!(patch(&server, "p", JSON_PATCH, &image_patch(image)).code, 200);
    let mut watch = Watching::open(&server, &format!("resourceVersion={from}"));
    let mut seen: Vec<String> = Vec::new();
    while seen.last().is_none_or(|picture| picture != last) {
        let event = watch.next().expect("the watch goes on");
        assert!(event["type"] == "MODIFIED", "{last:?} never came: {seen:#?}, {event}");
        assert_eq!(event["object"]["status"]["containerStatuses"][1], side, "the other container is left alone");
        let picture = picture(&event["object"], &id);
        assert!(seen.len() < 30, "{last:?} never came: {seen:#?}");
        if seen.last() != Some(&picture) {
            seen.push(picture);
        }
    }
    seen
}

#[test]
fn the_kubelet_shows_the_stale_pod_first_and_then_what_the_tag_says() {
    let stale = ["old restarts=0 ready=true observed=false running", "old restarts=0 ready=true observed=true running"];
    let probe = json!({"readinessProbe": {"tcpSocket": {"port": 80}}});
    let cases: [(&str, Value, &[&str]); 8] = [
        ("v2", json!({}), &["new restarts=1 ready=true observed=true running"]),
        (
            "v2",
            probe.clone(),
            &["new restarts=1 ready=false observed=true running", "new restarts=1 ready=true observed=true running"],
        ),
        ("slow", json!({}), &["new restarts=1 ready=true observed=true running"]),
        ("never-ready", probe, &["new restarts=1 ready=false observed=true running"]),
        (
            "missing",
            json!({}),
            &[
                "old restarts=0 ready=false observed=true waiting ErrImagePull",
                "old restarts=0 ready=false observed=true waiting CrashLoopBackOff",
                "old restarts=0 ready=false observed=true waiting ErrImagePull",
                "old restarts=0 ready=false observed=true waiting ImagePullBackOff",
            ],
        ),
        ("denied", json!({}), &["old restarts=0 ready=false observed=true waiting ErrImagePull"]),
        (
            "flaky",
            json!({}),
            &[
                "old restarts=0 ready=false observed=true waiting ErrImagePull",
                "old restarts=0 ready=false observed=true waiting CrashLoopBackOff",
                "new restarts=1 ready=true observed=true running",
            ],
        ),
        (
            "crash",
            json!({}),
            &[
                "new restarts=1 ready=true observed=true running",
                "new restarts=1 ready=false observed=true terminated Error",
                "new restarts=2 ready=true observed=true running",
                "new restarts=2 ready=false observed=true waiting CrashLoopBackOff",
            ],
        ),
    ];
    for (tag, fields, after) in cases {
        let wanted: Vec<String> = stale.iter().chain(after).map(|picture| format!("{tag} {picture}")).collect();
        let last = wanted.last().cloned().unwrap_or_default();
        assert_eq!(pictures(&format!("acme/app:{tag}"), fields, &last), wanted, "{tag}");
    }
}

#[test]
fn the_kubelet_keeps_what_the_runtime_keeps() {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    server.insert(
        Workload::pod("p")
            .container("app", "acme/app:v1")
            .sidecar("mesh", "acme/mesh:v1")
            .init_container("init", "acme/init:v1")
            .objects(),
    );
    let app = |pod: &Value| pod["status"]["containerStatuses"][0].clone();
    let first = app(&server.object("pods", "p").expect("the pod is there"));

    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v1-again"));
    let pod = server.wait_for("pods", "p", |pod| app(pod)["restartCount"] == 1);
    assert_eq!((&app(&pod)["imageID"], &app(&pod)["image"]), (&first["imageID"], &first["image"]), "the same digest");
    assert_eq!(app(&pod)["lastState"]["terminated"]["containerID"], first["containerID"]);

    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:missing"));
    let pod = server.wait_for("pods", "p", |pod| app(pod)["state"]["waiting"]["reason"] == "ErrImagePull");
    let message = app(&pod)["state"]["waiting"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.ends_with("docker.io/acme/app:missing: not found"), "{message}");
    assert_eq!((&app(&pod)["imageID"], &app(&pod)["restartCount"]), (&first["imageID"], &json!(1)));
    assert_eq!(pod["status"]["conditions"][2]["message"], "containers with unready status: [app]");
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v1"));
    server.wait_for("pods", "p", |pod| app(pod)["restartCount"] == 2 && app(pod)["ready"] == true);

    let init = |index: u32| format!("/spec/initContainers/{index}/image");
    let sidecar = json!([{"op": "replace", "path": init(0), "value": "acme/mesh:v2"}, {"op": "replace", "path": init(1), "value": "acme/init:v2"}]);
    patch(&server, "p", JSON_PATCH, &sidecar);
    let pod = server.wait_for("pods", "p", |pod| pod["status"]["initContainerStatuses"][0]["restartCount"] == 1);
    assert_eq!(pod["status"]["initContainerStatuses"][1]["restartCount"], 0, "a plain init container is left alone");
    assert_eq!(app(&pod)["restartCount"], 2);
    patch(&server, "p", JSON_PATCH, &image_patch("UPPER/App:v1"));
    server.wait_for("pods", "p", |pod| app(pod)["state"]["waiting"]["reason"] == "InvalidImageName");
}

#[test]
fn a_created_pod_runs_a_pull_pod_pulls_and_a_deleted_one_goes() {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    let pod = |name: &str, image: &str, command: &[&str]| {
        json!({"metadata": {"name": name}, "spec": {"nodeName": "node-a", "restartPolicy": "Never",
            "containers": [{"name": "c0", "image": image, "command": command}]}})
    };
    let create = |body: &Value| send(&server, "POST", PODS, "application/json", body);
    assert_eq!(create(&pod("runs", "acme/app:v1", &[])).code, 201);
    server.wait_for("pods", "runs", |pod| pod["status"]["phase"] == "Running");
    create(&pod("pulls", "acme/app:v2", &["/kubectl-inplace/nothing"]));
    let pulled = server.wait_for("pods", "pulls", |pod| pod["status"]["phase"] == "Failed");
    let status = &pulled["status"]["containerStatuses"][0];
    assert_eq!(
        (&status["state"]["terminated"]["exitCode"], &status["state"]["terminated"]["reason"]),
        (&json!(128), &json!("StartError"))
    );
    assert!(status["imageID"].as_str().is_some_and(|id| id.starts_with("docker.io/acme/app@sha256:")));
    let node = server.object("nodes", "node-a").expect("the node is there");
    assert!(node["status"]["images"].to_string().contains("docker.io/acme/app:v2"), "the node lists it");
    create(&pod("cannot", "acme/app:denied", &["/kubectl-inplace/nothing"]));
    server.wait_for("pods", "cannot", |pod| {
        pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    });

    let options = json!({"preconditions": {"uid": "another"}});
    let got = send(&server, "DELETE", &format!("{PODS}/pulls"), "application/json", &options);
    assert_eq!(got.code, 409);
    assert!(got.message().contains("the UID in the precondition (another) does not match the UID in record ("));
    let dry = send(&server, "DELETE", &format!("{PODS}/pulls?dryRun=All"), "application/json", &json!({}));
    assert_eq!((dry.code, server.object("pods", "pulls").is_some()), (200, true));
    let got = send(&server, "DELETE", &format!("{PODS}/pulls"), "application/json", &json!({}));
    assert!(got.body["metadata"]["deletionTimestamp"].is_string(), "it terminates first");
    clock::eventually("the pod to go", || server.object("pods", "pulls").is_none().then_some(()));
}

#[test]
fn a_slow_kubelet_can_be_had() {
    let server = ApiServer::with(Workload::pod("p").container("app", "acme/app:v1").objects());
    server.kubelet(Times { restart: Duration::from_secs(600), ..Times::default() });
    patch(&server, "p", JSON_PATCH, &image_patch("acme/app:v2"));
    let pod = server.wait_for("pods", "p", |pod| pod["status"]["observedGeneration"] == 2);
    assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 0, "seen, and not yet done");
}
