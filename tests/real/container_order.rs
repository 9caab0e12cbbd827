//! `--container-order` on the real cluster: a watch of its own sees the order, also over a kill in the middle.

use serde_json::Value;

use crate::support::{Namespace, Seen, Watch, container_status, image, images, restarted, samples};

const APPLY: [&str; 8] =
    ["apply", "deploy/web", "app=:v2", "side=:v2", "--yes", "--container-order", "side,app", "--min-ready-seconds"];

/// Asserts, of everything that was seen, that no pod asks for the second container's new image before its first
/// container is another one and runs.
fn assert_order(before: &[Value], watch: &Watch) {
    watch.wait(|pod| image(pod, "app") == "app:v2");
    for Seen { pod, .. } in &watch.seen() {
        let Some(old) = before.iter().find(|old| old["metadata"]["uid"] == pod["metadata"]["uid"]) else {
            panic!("another pod: {}", pod["metadata"]["name"]);
        };
        if image(pod, "app") == "app:v2" {
            assert_eq!(image(pod, "side"), "side:v2");
            let (now, then) = (container_status(pod, "side"), container_status(old, "side"));
            assert_ne!(now["containerID"], then["containerID"], "app was asked for while the old side ran: {pod}");
            assert!(now["state"]["running"].is_object() && now["ready"] == true, "{now}");
        }
    }
}

#[test]
fn a_watch_sees_the_containers_change_in_their_order() {
    let namespace = Namespace::new("order");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let watch = namespace.watch("app=web");
    let output = namespace.inplace(&[APPLY.as_slice(), &["2"]].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.stdout.contains("In each pod: side, then app;"), "{output:#?}");
    assert!(output.stdout.contains("nothing else restarted"), "{output:#?}");
    assert_order(&before, &watch);
    assert_eq!(restarted(&before, &namespace.pods("app=web")).len(), 4);
}

#[test]
fn after_a_kill_in_the_middle_the_order_goes_on() {
    let namespace = Namespace::new("order-kill");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let watch = namespace.watch("app=web");
    let mut running = namespace.inplace_spawn(&[APPLY.as_slice(), &["10"]].concat());
    running.wait_for("stabilizing for 10 s");
    running.signal("KILL");
    assert_eq!(running.wait().code, 137);
    let middle = namespace.pods("app=web");
    let count = |pods: &[Value], container: &str, wanted: &str| {
        images(pods, container).iter().filter(|image| **image == wanted).count()
    };
    assert_eq!((count(&middle, "side", "side:v2"), count(&middle, "app", "app:v2")), (1, 0));
    let resumed = namespace.inplace(&["resume", "deploy/web", "--yes", "--min-ready-seconds", "2"]);
    assert_eq!(resumed.code, 0, "{resumed:#?}");
    let after = namespace.pods("app=web");
    assert_eq!((images(&after, "side"), images(&after, "app")), (vec!["side:v2"; 2], vec!["app:v2"; 2]));
    assert_order(&before, &watch);
    assert_eq!(restarted(&before, &after).len(), 4, "each container once");
    for pod in &after {
        assert_eq!(container_status(pod, "side")["restartCount"], 1);
    }
}

#[test]
fn from_the_middle_abort_takes_back_what_was_changed() {
    let namespace = Namespace::new("order-abort");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let mut running = namespace.inplace_spawn(&[APPLY.as_slice(), &["10"]].concat());
    running.wait_for("stabilizing for 10 s");
    running.signal("INT");
    assert_eq!(running.wait().code, 130);
    let output = namespace.inplace(&["abort", "deploy/web", "--yes", "--min-ready-seconds", "2"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=web");
    assert_eq!((images(&after, "side"), images(&after, "app")), (vec!["side:v1"; 2], vec!["app:v1"; 2]));
    assert_eq!(restarted(&before, &after).len(), 1, "the side of the first pod, twice");
}
