//! Pods that somebody has changed by hand since a run was killed: a run that goes on visits each of them, and reports
//! no end that they do not prove.

use serde_json::{Value, json};

use super::faults::{killed_at, killed_at_with};
use super::{KINDS, Scene, Write, side_by_side};
use crate::support::api_server::{Answer, Effect};
use crate::support::scene::typed;

const FIRST_POD: Write = Write { verb: "patch", plural: "pods", nth: 0 };
const SECOND_POD: Write = Write { verb: "patch", plural: "pods", nth: 1 };
const RECORD: &str = "kubectl-inplace.io/update";

/// The pods that have the image, or have it not.
fn pods(scene: &Scene, image: &str, has: bool) -> Vec<String> {
    let pods = scene.server.objects("pods").into_iter();
    let chosen = pods.filter(|pod| (pod["spec"]["containers"][1]["image"] == image) == has);
    chosen.map(|pod| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn set_image(scene: &Scene, pod: &str, image: &str) {
    scene.server.edit("pods", pod, |pod| pod["spec"]["containers"][1]["image"] = image.into());
}

/// Waits until a pod shows why it is not up.
fn fails(scene: &Scene, name: &str) {
    scene.server.wait_for("pods", name, |pod| {
        let waiting = &pod["status"]["containerStatuses"][1]["state"]["waiting"]["reason"];
        ["CrashLoopBackOff", "ImagePullBackOff"].iter().any(|reason| waiting == reason)
    });
}

#[test]
fn pods_with_the_wanted_image_that_fail_fail_the_rollout_whoever_set_it() {
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| ["missing", "crash"].map(|tag| (*kind, tag))).collect();
    side_by_side(cases, |(kind, tag)| {
        let image = format!("acme/side:{tag}");
        let scene = killed_at_with(kind, FIRST_POD, &format!("side={image} --pre-pull never"));
        for pod in pods(&scene, &image, false) {
            set_image(&scene, &pod, &image);
            fails(&scene, &pod);
        }
        scene.run("resume", "--timeout 30s").ends_with(4);
        assert!(scene.history().is_empty(), "{} {tag}: it is not recorded as complete", kind.typed);
        assert_ne!(scene.lock(), Value::Null, "{} {tag}", kind.typed);
    });
}

/// A user who holds an owner back and tries an image in one pod has begun no rollout: no printed command brings that
/// image to the other pods, or releases the owner.
#[test]
fn an_image_tried_in_one_pod_of_a_workload_that_is_held_back_is_no_rollout() {
    let held = KINDS.iter().filter(|kind| kind.plural != "replicasets").copied().collect();
    side_by_side(held, |kind| {
        let scene = Scene::new(kind);
        let hold = if kind.plural == "deployments" {
            json!({"paused": true})
        } else {
            json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}})
        };
        let name = scene.server.objects(kind.plural)[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        scene.server.edit(kind.plural, &name, |owner| json_patch::merge(&mut owner["spec"], &hold));
        let before = scene.server.objects(kind.plural)[0]["spec"].clone();
        let pod = pods(&scene, "acme/side:v1", true).pop().expect("there is a pod");
        let line = format!("apply pod/{pod} side=acme/side:v2 --pods-only --yes --min-ready-seconds 0");
        typed(&scene.server, &line).run().ends_with(0);
        let status = typed(&scene.server, &format!("status {}", kind.typed)).run().ends_with(0);
        status.prints("drifted").omits("--take-over").omits("whose lock was removed");
        for verb in ["resume", "abort"] {
            scene.run(verb, "--take-over").omits("Updated").omits("Rolled back");
        }
        assert_eq!(pods(&scene, "acme/side:v2", true), [pod], "{}", kind.typed);
        assert_eq!(scene.server.objects(kind.plural)[0]["spec"], before, "{}", kind.typed);
    });
}

/// What keeps a pod from being ready is not the rollout's: reported before it, and no reason to hold the workload for
/// ever.
#[test]
fn a_pod_that_another_container_keeps_from_being_ready_is_taken_back_all_the_same() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = Scene::new(kind);
        let pod = pods(&scene, "acme/side:v1", true).pop().expect("there is a pod");
        scene.server.edit("pods", &pod, |pod| pod["spec"]["containers"][0]["image"] = "acme/app:crash".into());
        scene.server.wait_for("pods", &pod, |pod| {
            pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        });
        let applied = scene.run("apply", "side=acme/side:v2 --pre-pull never --timeout 3s").ends_with(5);
        applied.says("(PodsUnready)");
        let aborted = scene.run("abort", "").ends_with(0);
        aborted.prints(&format!("container app of pod {pod}, which it does not change, is not ready"));
        assert_eq!(scene.lock(), Value::Null, "{}", kind.typed);
        assert!(pods(&scene, "acme/side:v1", false).is_empty(), "{}", kind.typed);
    });
}

#[test]
fn a_good_image_set_by_hand_everywhere_is_proven_and_completes() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, FIRST_POD);
        typed(&scene.server, &format!("history {}", kind.typed)).run().ends_with(0).prints("interrupted");
        scene.server.pause_kubelet(true);
        for pod in pods(&scene, "acme/side:v2", false) {
            set_image(&scene, &pod, "acme/side:v2");
        }
        // The old containers still run.
        scene.run("resume", "--timeout 2s").ends_with(5).omits("Updated");
        assert!(scene.history().is_empty(), "{}", kind.typed);
        scene.server.pause_kubelet(false);
        scene.run("resume", "").completes(kind.typed);
        scene.is_settled("acme/side:v2", kind.typed);
    });
}

#[test]
fn a_failing_pod_whose_record_is_gone_or_edited_fails_the_rollout() {
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| [None, Some("xyz")].map(|record| (*kind, record))).collect();
    side_by_side(cases, |(kind, record)| {
        let what = format!("{} {record:?}", kind.typed);
        let scene = killed_at_with(kind, SECOND_POD, "side=acme/side:crash --on-failure=continue --max-unavailable 2");
        let pod = pods(&scene, "acme/side:crash", true).pop().expect("a pod was patched");
        fails(&scene, &pod);
        scene.server.edit("pods", &pod, |pod| {
            if let Some(annotations) = pod["metadata"]["annotations"].as_object_mut() {
                match record {
                    Some(record) => drop(annotations.insert(RECORD.into(), record.into())),
                    None => drop(annotations.remove(RECORD)),
                }
            }
        });
        scene.run("resume", "--timeout 30s --max-unavailable 2").ends_with(4).prints(&pod);
        assert!(scene.history().is_empty(), "{what}");
    });
}

/// The pod shows that a container with the image that it asks for has crashed several times.
fn crashes(scene: &Scene, name: &str) {
    scene.server.edit("pods", name, |pod| {
        pod["status"]["observedGeneration"] = pod["metadata"]["generation"].clone();
        let status = &mut pod["status"]["containerStatuses"][1];
        (status["ready"], status["restartCount"]) = (false.into(), 5.into());
        status["containerID"] = "containerd://crashed".into();
        let ended = json!({"exitCode": 3, "reason": "Error", "containerID": "containerd://crashed",
            "startedAt": "2026-12-31T23:59:58Z", "finishedAt": "2026-12-31T23:59:59Z"});
        status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}});
        status["lastState"] = json!({ "terminated": ended });
        for condition in pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
                condition["status"] = "False".into();
            }
        }
    });
}

#[test]
fn a_pod_that_fails_on_the_way_back_leaves_no_owner_half_done() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, SECOND_POD);
        scene.server.pause_kubelet(true);
        let pod = pods(&scene, "acme/side:v2", true).pop().expect("a pod was patched");
        set_image(&scene, &pod, "acme/side:v1");
        crashes(&scene, &pod);
        let what = kind.typed;
        for _ in 0..2 {
            if scene.lock().is_null() {
                // Every pod was back, and nothing more could be done for that one.
                break;
            }
            let output = scene.run("abort", "--timeout 5s").ends_with(4).prints(&pod);
            output.prints("side: the template, and so every new pod, has acme/side:v1; ");
            let owner = scene.owner();
            assert!(owner["spec"]["paused"].is_null(), "{what}: {}", owner["spec"]);
            assert_eq!(owner["spec"]["template"]["spec"]["containers"][1]["image"], "acme/side:v1", "{what}");
            let sets = scene.server.objects("replicasets").into_iter();
            for set in sets.filter(|set| set["spec"]["replicas"] != 0) {
                assert_eq!(set["spec"]["template"]["spec"]["containers"][1]["image"], "acme/side:v1", "{what}");
            }
        }
    });
}

/// Where a run was stopped between its steps, what a new pod gets is not what the Deployment says.
#[test]
fn what_a_new_pod_gets_is_what_the_replica_set_has() {
    let scene = Scene::new(KINDS[0]);
    let forbidden = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
        "message": "replicasets.apps is forbidden"});
    let write = Write { verb: "patch", plural: "replicasets", nth: 0 };
    scene.server.fault(write.when(), Effect::Answer(Answer::json(403, forbidden)));
    let output = scene.run("apply", "side=acme/side:v2").ends_with(4);
    output.prints(
        "side: the template has acme/side:v2, but a new pod still gets acme/side:v1; 3 pods with acme/side:v1.",
    );
}
