//! `restart --by-request` with OpenKruise's own daemon: what it does is seen in the containers, and no request is left.

use serde_json::Value;

use super::{label, labelled, web};
use crate::support::{Alone, Namespace, Output, images, name, poll, restarted};
use crate::transcripts;

fn deployment() -> String {
    web("apps/v1", "Deployment", "")
}

fn restart(namespace: &Namespace, reference: &str, flags: &[&str]) -> Output {
    let line = ["restart", reference, "-c", "app", "--by-request", "--yes", "--min-ready-seconds", "0"];
    namespace.inplace(&[line.as_slice(), flags].concat())
}

fn none_is_left(namespace: &Namespace) {
    assert_eq!(namespace.kubectl(&["get", "containerrecreaterequests", "-o", "name"]), "");
}

/// Waits until a request in the second in which a container has started is none.
fn until_begun(pods: &[Value]) {
    let now = || jiff::Timestamp::now().as_second();
    let statuses = pods.iter().filter_map(|pod| pod["status"]["containerStatuses"].as_array()).flatten();
    let started = statuses.filter_map(|status| status["state"]["running"]["startedAt"].as_str());
    let started = started.filter_map(|at| at.parse::<jiff::Timestamp>().ok());
    let last = started.map(jiff::Timestamp::as_second).max().unwrap_or(0);
    poll(|| (now() > last + 1).then_some(())).expect("time passes");
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn the_daemon_restarts_the_pods_of_any_workload() {
    let kinds = [
        ("deployment", deployment()),
        ("cloneset", web("apps.kruise.io/v1alpha1", "CloneSet", "")),
        ("statefulset.apps.kruise.io", web("apps.kruise.io/v1beta1", "StatefulSet", "")),
    ];
    for (kind, manifest) in kinds {
        let namespace = labelled("others-by-request");
        namespace.apply(&manifest);
        let before = namespace.wait_ready("app=web", 2);
        until_begun(&before);
        let reference = format!("{kind}/web");
        let output = restart(&namespace, &reference, &[]);
        assert_eq!(output.code, 0, "{output:#?}");
        let after = namespace.wait_ready("app=web", 2);
        assert_eq!(restarted(&before, &after).len(), 2, "{output:#?}");
        assert_eq!(images(&after, "app"), ["app:v1"; 2]);
        none_is_left(&namespace);
        // The kubelet holds back what is restarted once more, and the plan has said so.
        let again = restart(&namespace, &format!("pod/{}", name(&after[0])), &[]);
        assert!(again.code == 0 && again.stderr.contains("RestartInBackoff"), "{again:#?}");
        let seconds = again.elapsed.as_secs();
        assert!((8..60).contains(&seconds), "{again:#?}");
    }
}

/// The daemon takes a container that has started in the second of the request for restarted already.
#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn what_the_daemon_only_says_is_not_believed() {
    let namespace = labelled("others-only-says");
    namespace.apply(&deployment().replace("replicas: 2", "replicas: 1"));
    for _ in 0..5 {
        let pod = namespace.wait_ready("app=web", 1).remove(0);
        // The container ends at the beginning of a second, and the command goes on as soon as the next one runs.
        let id = format!(
            "kubectl -n {} get pod {} -o jsonpath={{..containerStatuses[0].state.running.startedAt}}",
            namespace.name(),
            name(&pod)
        );
        let hook = format!(
            "before=$({id}); sleep $(printf 0.%03d $((999 - 10#$(date +%3N)))); kubectl -n {} exec {} -- kill 1; \
             while after=$({id}); [ -z \"$after\" ] || [ \"$after\" = \"$before\" ]; do sleep 0.02; done",
            namespace.name(),
            name(&pod)
        );
        let output = restart(&namespace, "deployment/web", &["--before-pod", &format!("bash -c '{hook}'")]);
        none_is_left(&namespace);
        if output.code == 0 {
            // The second was over: it was restarted. The kubelet holds this pod's containers back from now on.
            namespace.kubectl(&["delete", "pod", name(&pod)]);
            continue;
        }
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, 4, "{output:#?}");
        assert!(said.contains("is Completed, and app is the container of before: app Succeeded"), "{output:#?}");
        assert!(said.contains("To restart the others: "), "{output:#?}");
        return;
    }
    // A machine that is too slow for it proves nothing either way; tests/it/by_request.rs has the same without a clock.
    eprintln!("no request came in the second of a start");
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_daemon_that_is_away_is_named() {
    let Some(alone) = Alone::wait() else { return };
    let namespace = Namespace::beside(&alone, "others-no-daemon");
    label(&namespace);
    namespace.apply(&deployment());
    let before = namespace.wait_ready("app=web", 2);
    until_begun(&before);
    let stopped = alone.stop("kruise-daemon");
    let output = restart(&namespace, "deployment/web", &[]);
    assert!(output.code == 4 && (10..25).contains(&output.elapsed.as_secs()), "{output:#?}");
    assert!(output.stdout.contains("kruise-daemon on node node-1 has not begun"), "{output:#?}");
    none_is_left(&namespace);
    let mut running = namespace.inplace_spawn(&["restart", "deployment/web", "--by-request", "--yes"]);
    running.wait_for("app restarting");
    poll(|| (!namespace.kubectl(&["get", "crr", "-o", "name"]).is_empty()).then_some(())).expect("it is created");
    running.signal("INT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    none_is_left(&namespace);
    // A run that is killed leaves its request; the next one deletes it.
    let mut running = namespace.inplace_spawn(&["restart", "deployment/web", "--by-request", "--yes"]);
    running.wait_for("app restarting");
    poll(|| (!namespace.kubectl(&["get", "crr", "-o", "name"]).is_empty()).then_some(())).expect("it is created");
    drop(running);
    drop(stopped);
    let output = restart(&namespace, "deployment/web", &[]);
    assert_eq!(output.code, 0, "{output:#?}");
    none_is_left(&namespace);
    assert_eq!(restarted(&before, &namespace.wait_ready("app=web", 2)).len(), 2, "{output:#?}");
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn the_page_shows_a_restart_by_request() {
    let namespace = labelled("transcript");
    transcripts::by_request(&namespace, until_begun);
}
