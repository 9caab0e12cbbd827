//! Pods that are deleted in the middle, all of them, so that none of the plan proves the change: those that the owner creates in
//! their place have to be ready before a rollout is complete.

use std::time::Duration;

use serde_json::Value;

use super::{KINDS, Kind, Scene, side_by_side};
use crate::support::api_server::{Effect, When};
use crate::support::clock::eventually;
use crate::support::run::Running;

/// A run whose first pod is patched, and whose pods are then all deleted.
fn deleted_in_the_middle(scene: &Scene, image: &str, more: &str) -> Running {
    let running = scene.typed("apply", &format!("side={image} --pre-pull never {more}")).spawn();
    running.wait_for_stderr("patch sent");
    for pod in scene.server.objects("pods") {
        scene.server.delete("pods", pod["metadata"]["name"].as_str().unwrap_or_default());
    }
    running
}

fn are_new(scene: &Scene, pods: &[Value]) -> bool {
    pods.len() == scene.uids.len() && pods.iter().all(|pod| !scene.uids.contains(&pod["metadata"]["uid"]))
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Where every new pod needs a moment until it is ready.
fn scene(kind: Kind) -> Scene {
    let scene = Scene::new(kind);
    scene.server.pause_kubelet(true);
    scene
}

#[test]
fn an_image_that_starts_in_no_new_pod_is_not_complete() {
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| ["crash", "missing"].map(|tag| (*kind, tag))).collect();
    side_by_side(cases, |(kind, tag)| {
        let scene = scene(kind);
        let running = deleted_in_the_middle(&scene, &format!("acme/side:{tag}"), "--timeout 40s");
        scene.server.pause_kubelet(false);
        let output = running.wait().ends_with(4);
        assert!(scene.history().is_empty(), "{} {tag}: it is not recorded as complete\n{}", kind.typed, output.block());
        assert_ne!(scene.lock(), Value::Null, "{} {tag}", kind.typed);
    });
}

#[test]
fn new_pods_are_waited_for() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = scene(kind);
        let running = deleted_in_the_middle(&scene, "acme/side:v2", "");
        scene.server.pause_kubelet(false);
        running.wait().completes(kind.typed).prints("pods that left meanwhile: 3");
        let pods = scene.server.objects("pods");
        assert!(are_new(&scene, &pods) && pods.iter().all(is_ready), "{}: {pods:?}", kind.typed);
        assert_eq!(scene.history().len(), 1, "{}", kind.typed);
    });
}

#[test]
fn new_pods_that_are_not_ready_in_time_end_it_and_resume_waits_for_them_too() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = scene(kind);
        let running = deleted_in_the_middle(&scene, "acme/side:never-ready", "--timeout 3s");
        scene.server.pause_kubelet(false);
        running.wait().ends_with(5).prints("new pods are not ready: pod/w-");
        scene.run("resume", "--timeout 2s").ends_with(5).prints("new pods are not ready: pod/w-");
        assert!(scene.history().is_empty(), "{}", kind.typed);
        scene.run("abort", "").completes(kind.typed);
        assert!(scene.server.objects("pods").iter().all(is_ready), "{}", kind.typed);
    });
}

/// The answer to the patch of a pod comes once the pod is gone: nothing more will be seen of it.
#[test]
fn a_pod_that_is_deleted_before_its_patch_is_answered_holds_up_nothing() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        scene
            .server
            .fault(When::verb("patch").of("pods").for_real().times(1), Effect::LateAnswer(Duration::from_secs(2)));
        let running = scene.typed("apply", "side=acme/side:v2 --pre-pull never --total-timeout 40s").spawn();
        let is_patched = |pod: &Value| pod["spec"]["containers"].to_string().contains("acme/side:v2");
        let patched = eventually("patched", || scene.server.objects("pods").into_iter().find(is_patched));
        scene.server.delete("pods", patched["metadata"]["name"].as_str().unwrap_or_default());
        running.wait().completes(kind.typed);
    });
}
