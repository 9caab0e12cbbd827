//! `follow`: an update of its own, of somebody else, and none at all. It changes nothing.

use crate::support::{Namespace, Running, container_status, image, images, name, registry, restarted, samples};

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

#[test]
fn somebody_elses_failure_is_found() {
    let namespace = Namespace::new("follow-fails");
    namespace.apply(&samples::pod("alone"));
    namespace.wait_ready("app=alone", 1);
    namespace.kubectl(&["set", "image", "pod/alone", &format!("side={}/side:nope", registry())]);
    let output = namespace.inplace(&["follow", "pod/alone"]);
    assert_eq!(output.code, 4, "{output:#?}");
    let named = output
        .stdout
        .lines()
        .any(|line| line.contains("pod/alone") && line.contains("side") && line.contains("ImagePull"));
    assert!(named, "{output:#?}");
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
    // The pods that have not been patched yet are part of it: the record of the first tells what is wanted.
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
