//! `restart`: the same bits again, in place, twice in a row; and what the kubelet, the owner and later commands make of it.

use serde_json::Value;

use crate::support::{Namespace, container_status, images, registry, restarted, samples};

const RESTART: [&str; 6] = ["restart", "deployment/web", "-c", "side", "--yes", "--min-ready-seconds=0"];

fn field<'a>(pods: &'a [Value], container: &str, field: &str) -> Vec<&'a Value> {
    pods.iter().map(|pod| &container_status(pod, container)[field]).collect()
}

#[test]
fn a_sidecar_restarts_twice_with_the_same_bits() {
    let namespace = Namespace::new("restart-twice");
    namespace.apply(&samples::deployment("web", 2));
    let mut before = namespace.wait_ready("app=web", 2);
    let spec = || namespace.kubectl(&["get", "deployment/web", "-o", "jsonpath={.metadata.generation} {..image}"]);
    let owner = spec();
    let digest = container_status(&before[0], "side")["imageID"].as_str().unwrap_or_default().to_owned();
    let digest = digest.rsplit_once('@').map(|(_, digest)| digest.to_owned()).expect("a registry's digest");
    for text in [format!("side:v1@{digest}"), format!("side@{digest}")] {
        let output = namespace.inplace(&RESTART);
        assert_eq!(output.code, 0, "{output:#?}");
        assert!(output.stdout.contains("Restarted as planned: side in 2 pods; nothing else restarted"), "{output:#?}");
        assert!(!output.stderr.contains("RestartInBackoff"), "{output:#?}");
        let after = namespace.pods("app=web");
        let expected: Vec<String> =
            before.iter().map(|pod| format!("{}/side", pod["metadata"]["name"].as_str().unwrap_or_default())).collect();
        assert_eq!(restarted(&before, &after), expected);
        assert_eq!(field(&before, "side", "imageID"), field(&after, "side", "imageID"));
        assert_eq!(field(&before, "app", "containerID"), field(&after, "app", "containerID"));
        assert_eq!(images(&after, "side"), [text.as_str(); 2]);
        before = after;
    }
    assert_eq!(spec(), owner);
    let manifest = samples::deployment("web", 2);
    let again = namespace.inplace_input(&["apply", "-f", "-", "--yes"], &manifest);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.stdout.contains("No changes."), "{again:#?}");
    // A later, durable rollout takes the pinned pods along.
    let image = format!("side={}/side:v2", registry());
    let later = namespace.inplace(&["apply", "deployment/web", &image, "--yes", "--min-ready-seconds=0"]);
    assert_eq!(later.code, 0, "{later:#?}");
    let after = namespace.pods("app=web");
    assert_eq!(restarted(&before, &after).len(), 2);
    assert_eq!(images(&after, "side"), ["side:v2"; 2]);
}

#[test]
fn a_pod_of_its_own_restarts_the_containers_that_are_named() {
    let namespace = Namespace::new("restart-pod");
    namespace.apply(&samples::pod("one"));
    let before = namespace.wait_ready("app=one", 1);
    let unnamed = namespace.inplace(&["restart", "pod/one", "--yes"]);
    assert_eq!(unnamed.code, 1, "{unnamed:#?}");
    assert!(unnamed.stderr.contains("none was named: app, side"), "{unnamed:#?}");
    let output = namespace.inplace(&["restart", "pod/one", "-c", "app,side", "--yes", "--min-ready-seconds=0"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(restarted(&before, &namespace.pods("app=one")), ["one/app", "one/side"]);
}
