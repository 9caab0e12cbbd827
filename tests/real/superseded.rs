//! Another client changes the same pods: the run stops, says which pods it changed, and leaves them alone.

use crate::support::{Namespace, container_status, image, images, name, registry, restarted, samples};

#[test]
fn a_pod_that_is_deleted_under_the_run_ends_it() {
    let namespace = Namespace::new("superseded-deleted");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let watch = namespace.watch("app=web");
    let running = namespace.inplace_spawn(&[
        "apply",
        "deploy/web",
        "side=:v2",
        "--pods-only",
        "--yes",
        "--min-ready-seconds",
        "60",
    ]);
    let hit = watch.wait(|pod| image(pod, "side") == "side:v2").pod;
    namespace.kubectl(&["delete", "pod", name(&hit), "--wait=false"]);
    let output = running.wait();
    assert_eq!(output.code, 6, "{output:#?}");
    let said = output.stdout.lines().any(|line| line.contains(name(&hit)) && line.contains("delete"));
    assert!(said, "{output:#?}");
    let other = before.iter().find(|pod| name(pod) != name(&hit)).expect("there were two");
    let after = namespace.pods("app=web");
    let same = after.iter().find(|pod| name(pod) == name(other)).expect("the other pod was not touched");
    assert!(restarted(std::slice::from_ref(other), std::slice::from_ref(same)).is_empty());
    assert_eq!(image(same, "side"), "side:v1");
}

#[test]
fn another_writers_image_is_left_alone() {
    let namespace = Namespace::new("superseded-writer");
    namespace.apply(&samples::deployment("web", 2));
    namespace.wait_ready("app=web", 2);
    let watch = namespace.watch("app=web");
    let running = namespace.inplace_spawn(&[
        "apply",
        "deploy/web",
        "side=:v2",
        "--pods-only",
        "--yes",
        "--min-ready-seconds",
        "60",
    ]);
    let hit = watch.wait(|pod| image(pod, "side") == "side:v2").pod;
    let theirs = format!("side={}/side:v1", registry());
    // A third image: neither the one before nor the one wanted.
    let theirs = theirs.replace("side:v1", "app:v3");
    namespace.kubectl(&["set", "image", &format!("pod/{}", name(&hit)), &theirs]);
    let output = running.wait();
    assert_eq!(output.code, 6, "{output:#?}");
    let said = output.stdout.lines().any(|line| line.contains(name(&hit)) && line.contains("app:v3"));
    assert!(said, "{output:#?}");
    let after = namespace.pods("app=web");
    let mut asked = images(&after, "side");
    asked.sort_unstable();
    assert_eq!(asked, ["app:v3", "side:v1"], "theirs stands, and the other pod was not taken");
}

#[test]
fn a_pod_that_is_deleted_while_it_is_followed_is_named() {
    let namespace = Namespace::new("superseded-followed");
    namespace.apply(&samples::pod("alone"));
    namespace.wait_ready("app=alone", 1);
    let mut running = namespace.inplace_spawn(&["follow", "pod/alone", "--min-ready-seconds", "60"]);
    running.wait_for("stabilizing");
    namespace.kubectl(&["delete", "pod", "alone", "--wait=false"]);
    let output = running.wait();
    assert_eq!(output.code, 6, "{output:#?}");
    let said = output.stdout.lines().any(|line| line.contains("pod/alone") && line.contains("delete"));
    assert!(said, "{output:#?}");
}

#[test]
fn a_pod_that_restarts_by_itself_is_not_mistaken_for_the_update() {
    let namespace = Namespace::new("superseded-own-restart");
    namespace.apply(&samples::pod("alone"));
    let before = namespace.wait_ready("app=alone", 1);
    // The container's own end: another containerID, with the image from before. Its first process does not listen at once,
    // and what runs beside it ends with it.
    let ends = "sh -c 'while kill 1; do sleep 1; done'";
    namespace.type_line(&format!("kubectl exec alone -n {} -c side -- {ends}", namespace.name()));
    let restarted_alone = namespace.wait_pods("app=alone", |pods| {
        pods.iter().all(|pod| {
            container_status(pod, "side")["restartCount"] == 1 && container_status(pod, "side")["ready"] == true
        })
    });
    assert_eq!(restarted(&before, &restarted_alone), ["alone/side"]);
    let output = namespace.inplace(&["apply", "pod/alone", "side=:v2", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=alone");
    assert_eq!(restarted(&restarted_alone, &after), ["alone/side"]);
    for pod in &after {
        assert_eq!(container_status(pod, "side")["restartCount"], 2);
        assert!(container_status(pod, "side")["image"].as_str().is_some_and(|image| image.ends_with("side:v2")));
    }
}
