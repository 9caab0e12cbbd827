//! `follow`: an update of its own, of somebody else, and none at all. It changes nothing.

use crate::failure::names;
use crate::support::{
    Namespace, Running, container_status, image, images, name, registry, restarted, samples, side_by_side,
};

#[test]
fn somebody_elses_update_is_followed_to_its_end() {
    let namespace = Namespace::new("follow-theirs");
    namespace.apply(&samples::with_tag(&samples::pod("alone"), "side", "deaf").replace("/side:deaf'", "/app:deaf'"));
    let before = namespace.wait_ready("app=alone", 1);
    // The container ignores SIGTERM: for two seconds the pod goes on as if nothing had been asked.
    namespace.kubectl(&["set", "image", "pod/alone", &format!("side={}/side:v2", registry())]);
    let output = namespace.inplace(&["follow", "pod/alone", "--min-ready-seconds", "0"]);
    let after = namespace.pods("app=alone");
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(restarted(&before, &after), ["alone/side"], "it was called done with the old container: {output:#?}");
    for pod in &after {
        let status = container_status(pod, "side");
        assert!(status["ready"] == true && status["restartCount"] == 1, "{status}");
    }
    assert!(output.stdout.contains("Complete"), "{output:#?}");
    assert!(!after.iter().any(|pod| pod["metadata"]["annotations"]["kubectl-inplace.io/update"].is_string()));
}

/// The managed fields have one time for both containers: the one that restarts last shows that the other was compared.
#[test]
fn a_second_image_of_another_container_leaves_the_first_one_proven() {
    let namespace = Namespace::new("follow-second");
    namespace.apply(&samples::pod("alone"));
    let before = namespace.wait_ready("app=alone", 1);
    for (container, expected) in [("side", vec!["alone/side"]), ("app", vec!["alone/app", "alone/side"])] {
        namespace.kubectl(&["set", "image", "pod/alone", &format!("{container}={}/{container}:v2", registry())]);
        let output = namespace.inplace(&["follow", "pod/alone", "--min-ready-seconds", "0"]);
        assert_eq!(output.code, 0, "{container}: {output:#?}");
        assert_eq!(restarted(&before, &namespace.pods("app=alone")), expected, "{container}: {output:#?}");
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
}

#[test]
fn somebody_elses_failure_is_found() {
    let namespace = Namespace::new("follow-fails");
    namespace.apply(&samples::pod("alone"));
    namespace.wait_ready("app=alone", 1);
    namespace.kubectl(&["set", "image", "pod/alone", &format!("side={}/side:nope", registry())]);
    let output = namespace.inplace(&["follow", "pod/alone"]);
    assert_eq!(output.code, 4, "{output:#?}");
    assert!(names(&output.stdout, "pod/alone", "side", "ImagePull"), "{output:#?}");
}

#[test]
fn an_update_of_another_process_ends_for_both() {
    let namespace = Namespace::new("follow-ours");
    namespace.apply(&samples::deployment("web", 3));
    let before = namespace.wait_ready("app=web", 3);
    let watch = namespace.watch("app=web");
    let applying = namespace.inplace_spawn(&[
        "apply",
        "deploy/web",
        "side=:v2",
        "--pods-only",
        "--yes",
        "--min-ready-seconds",
        "1",
    ]);
    watch.wait(|pod| image(pod, "side") == "side:v2");
    // The pods that have not been patched yet are part of it: the record of the first shows what is wanted.
    let following: Running = namespace.inplace_spawn(&["follow", "deploy/web", "--min-ready-seconds", "0"]);
    let followed = following.wait();
    let after = namespace.pods("app=web");
    assert_eq!(followed.code, 0, "{followed:#?}");
    assert_eq!(images(&after, "side"), ["side:v2"; 3], "{followed:#?}");
    assert_eq!(restarted(&before, &after).len(), 3, "{followed:#?}");
    for pod in &after {
        assert!(followed.stderr.contains(&format!("{}  done", name(pod))), "{followed:#?}");
    }
    let applied = applying.wait();
    assert_eq!(applied.code, 0, "{applied:#?}");
}

#[test]
fn a_pod_whose_image_nobody_changed_is_complete() {
    let namespace = Namespace::new("follow-nothing");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let output = namespace.inplace(&["follow", "deployment/web", "--min-ready-seconds", "0", "--timeout", "20s"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=web");
    assert!(restarted(&before, &after).is_empty());
    let versions = |pods: &[serde_json::Value]| -> Vec<serde_json::Value> {
        pods.iter().map(|pod| pod["metadata"]["generation"].clone()).collect()
    };
    assert_eq!(versions(&before), versions(&after));
}

/// Three kinds, either container, with and without a note of an earlier update of the other one: first an image that is
/// there, then one that is not.
#[test]
fn what_the_pods_ask_for_decides_and_no_note_of_an_earlier_update() {
    let kinds = [
        ("deployment", samples::deployment("web", 2), 2),
        ("statefulset", samples::stateful_set("web", 2), 2),
        ("daemonset", samples::daemon_set("web"), 1),
    ];
    let containers = [("app", "side"), ("side", "app")];
    let runs = kinds
        .iter()
        .flat_map(|kind| containers.iter().flat_map(move |names| [(kind, names, true), (kind, names, false)]));
    let runs: Vec<_> = runs.collect();
    side_by_side(3, runs, |((kind, manifest, count), (changed, other), noted)| {
        let run = format!("{kind}, {changed}, {}", if noted { "noted" } else { "without a note" });
        let namespace = Namespace::new("follow-asked");
        namespace.apply(manifest);
        let before = namespace.wait_ready("app=web", *count);
        let target = format!("{kind}/web");
        if noted {
            let image = format!("{other}=:v2");
            let line = ["apply", &target, &image, "--pods-only", "--yes", "--min-ready-seconds", "0"];
            let applied = namespace.inplace(&line);
            assert_eq!(applied.code, 0, "{run}: {applied:#?}");
        }
        // The API's times are whole seconds: an image set in the second of a container's start proves nothing.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let set = |tag: &str| {
            for pod in &before {
                let image = format!("{changed}={}/{changed}:{tag}", registry());
                namespace.kubectl(&["set", "image", &format!("pod/{}", name(pod)), &image]);
            }
        };
        set("v2");
        let good = namespace.inplace(&["follow", &target, "--min-ready-seconds", "0"]);
        assert_eq!(good.code, 0, "{run}: {good:#?}");
        assert!(good.stdout.contains(&format!("{changed} in {count} pod")), "{run}: {good:#?}");
        let status = namespace.inplace(&["status", &target, "-o", "json"]);
        assert!(!status.stdout.contains("unverified\","), "{run}: {status:#?}");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        set("nope");
        let bad = namespace.inplace(&["follow", &target, "--min-ready-seconds", "0"]);
        assert_eq!(bad.code, 4, "{run}: {bad:#?}");
        let named = bad.stdout.lines().any(|line| line.contains(changed) && line.contains("ImagePull"));
        assert!(named, "{run}: {bad:#?}");
        let uids = |pods: &[serde_json::Value]| -> Vec<serde_json::Value> {
            pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
        };
        assert_eq!(uids(&before), uids(&namespace.pods("app=web")), "{run}: no pod was replaced");
    });
}

#[test]
fn a_rolling_update_of_the_controller_is_named() {
    let namespace = Namespace::new("follow-rolling");
    namespace.apply(&samples::deployment("web", 2));
    namespace.wait_ready("app=web", 2);
    namespace.kubectl(&["set", "image", "deployment/web", &format!("app={}/app:nope", registry())]);
    namespace.wait_pods("app=web", |pods| pods.len() == 3);
    let output = namespace.inplace(&["follow", "deployment/web"]);
    assert_eq!(output.code, 6, "{output:#?}");
    assert!(
        output.stdout.contains("its controller is replacing pods") || output.stdout.contains("Its controller"),
        "{output:#?}"
    );
    assert!(output.stdout.contains("kubectl rollout status deployment/web -n "), "{output:#?}");
}
