//! Pods that somebody has changed by hand since a run was killed: whoever goes on looks at each of them, and no end is told
//! that they do not prove.

use serde_json::Value;

use super::faults::{killed_at, killed_at_with};
use super::{KINDS, Scene, Write, side_by_side};

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
        scene.run("resume", "--timeout 5s").ends_with(4);
        assert!(scene.history().is_empty(), "{} {tag}: it is not recorded as complete", kind.typed);
        assert_ne!(scene.lock(), Value::Null, "{} {tag}", kind.typed);
    });
}

#[test]
fn a_good_image_set_by_hand_everywhere_is_proven_and_completes() {
    side_by_side(KINDS.to_vec(), |kind| {
        let scene = killed_at(kind, FIRST_POD);
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
        scene.run("resume", "--timeout 5s --max-unavailable 2").ends_with(4).prints(&format!("pod/{pod}"));
        assert!(scene.history().is_empty(), "{what}");
    });
}
