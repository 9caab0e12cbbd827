//! `--before-pod` and `--after-pod` on the real cluster: what the commands see of the pod when they run.

use std::time::{Duration, Instant};

use crate::support::{Namespace, images, restarted, samples};

const APPLY: [&str; 6] = ["apply", "deploy/web", "side=:v2", "--yes", "--min-ready-seconds", "2"];

/// Prints what the API says of the pod at that moment.
const LOOK: &str = "kubectl get pod -n $KUBECTL_INPLACE_NAMESPACE $KUBECTL_INPLACE_POD -o \
    'jsonpath={.metadata.uid} {.spec.nodeName} {.spec.containers[?(@.name==\"side\")].image} {.status.conditions[?(@.type==\"Ready\")].status}'; \
    echo \" $KUBECTL_INPLACE_POD_UID $KUBECTL_INPLACE_NODE $KUBECTL_INPLACE_PHASE\"";

#[test]
fn a_command_sees_the_pod_as_it_was_before_and_ready_with_the_new_image_after() {
    let namespace = Namespace::new("hooks");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let output = namespace.inplace(&[APPLY.as_slice(), &["--before-pod", LOOK, "--after-pod", LOOK]].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let looks: Vec<Vec<&str>> = output
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("] "))
        .filter(|(whose, _)| whose.ends_with(" before") || whose.ends_with(" after"))
        .map(|(_, line)| line.split_whitespace().collect())
        .collect();
    assert_eq!(looks.len(), 4, "{output:#?}");
    for (index, look) in looks.iter().enumerate() {
        let (phase, tag) = if index % 2 == 0 { ("before", "side:v1") } else { ("after", "side:v2") };
        // As the API says, and as the environment does.
        assert_eq!((look.len(), look[0], look[1]), (7, look[4], look[5]), "{look:?}");
        assert!(look[2].ends_with(tag) && look[3] == "True" && look.last() == Some(&phase), "{look:?}");
    }
    assert_eq!(restarted(&before, &namespace.pods("app=web")).len(), 2);
}

#[test]
fn a_command_that_fails_stops_the_rollout_and_one_that_stays_is_ended_by_ctrl_c() {
    let namespace = Namespace::new("hooks-fail");
    namespace.apply(&samples::deployment("web", 2));
    let before = namespace.wait_ready("app=web", 2);
    let failed = namespace.inplace(&[APPLY.as_slice(), &["--before-pod", "echo no; exit 3"]].concat());
    assert_eq!(failed.code, 4, "{failed:#?}");
    assert!(failed.stdout.contains("HookFailed"), "{failed:#?}");
    assert!(restarted(&before, &namespace.pods("app=web")).is_empty());

    let mut running = namespace.inplace_spawn(&[
        "resume",
        "deploy/web",
        "--yes",
        "--min-ready-seconds",
        "2",
        "--before-pod",
        "true",
        "--after-pod",
        "echo stays; sleep 300",
    ]);
    running.wait_for("after] stays");
    let began = Instant::now();
    running.signal("INT");
    let interrupted = running.wait();
    assert_eq!(interrupted.code, 130, "{interrupted:#?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());

    let resumed = namespace.inplace(&[
        "resume",
        "deploy/web",
        "--yes",
        "--min-ready-seconds",
        "2",
        "--before-pod",
        "true",
        "--after-pod",
        "echo once more",
    ]);
    assert_eq!(resumed.code, 0, "{resumed:#?}");
    assert_eq!(resumed.stderr.matches("after] once more").count(), 2, "also of the pod that was done: {resumed:#?}");
    assert_eq!(images(&namespace.pods("app=web"), "side"), ["side:v2"; 2]);
}
