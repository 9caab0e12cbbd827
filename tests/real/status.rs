//! `status`: what a kubelet and the controllers really show of a change on its way, a failure, a drift and a rollout.

use std::process::Command;

use serde_json::Value;

use crate::support::{Namespace, Running, registry, samples};

fn status(namespace: &Namespace, arguments: &[&str]) -> Value {
    let output = namespace.inplace(&[&["status", "-o", "json"], arguments].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:#?}"))
}

/// The one word of each pod of a workload.
fn states(document: &Value, workload: &str) -> Vec<String> {
    let workloads = document["workloads"].as_array().into_iter().flatten();
    let mut found = workloads.filter(|one| one["workload"]["name"] == workload);
    let pods = found.next().map(|one| one["pods"].as_array().cloned().unwrap_or_default()).unwrap_or_default();
    pods.iter().map(|pod| pod["state"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_runs_is_distinguished_from_what_is_asked() {
    let namespace = Namespace::new("status");
    let deaf = samples::with_tag(&samples::pod("alone"), "side", "deaf").replace("/side:deaf'", "/app:deaf'");
    for manifest in [samples::deployment("web", 2), samples::daemon_set("log"), deaf] {
        namespace.apply(&manifest);
    }
    for (selector, count) in [("app=web", 2), ("app=log", 1), ("app=alone", 1)] {
        namespace.wait_ready(selector, count);
    }
    let output = namespace.inplace(&["status"]);
    assert_eq!((output.code, output.stdout.lines().count()), (0, 4), "nothing to say: {output:#?}");
    for (name, expected) in [("web", vec!["ready"; 2]), ("log", vec!["ready"]), ("alone", vec!["ready"])] {
        assert_eq!(states(&status(&namespace, &[]), name), expected, "{name}");
    }

    // The container ignores SIGTERM: for two seconds the old one runs and the pod is Ready with the new image in its spec.
    let mut watching: Running = namespace.inplace_spawn(&["status", "pod/alone", "-w"]);
    watching.wait_for("1 pod: 1 ready");
    // The API's times are whole seconds: an image set in the second of a container's start proves nothing.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    namespace.kubectl(&["set", "image", "pod/alone", &format!("side={}/side:v2", registry())]);
    watching.wait_for("updating");
    watching.wait_for("1 ready\n");
    watching.signal("INT");
    assert_eq!(watching.wait().code, 130);

    let applied =
        namespace.inplace(&["apply", "ds/log", "side=:v2", "--pods-only", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(applied.code, 0, "{applied:#?}");
    assert_eq!(states(&status(&namespace, &["ds/log"]), "log"), ["drifted"]);
    let failed = namespace.inplace(&["apply", "ds/log", "side=:nope", "--pre-pull=never", "--pods-only", "--yes"]);
    assert_eq!(failed.code, 4, "{failed:#?}");
    let output = namespace.inplace(&["status", "ds/log", "-o", "wide"]);
    assert!(output.stdout.contains("FAILED: ") && output.stdout.contains("node-1"), "{output:#?}");

    // Somebody else's rollout, which cannot get on.
    namespace.kubectl(&["set", "image", "deploy/web", &format!("app={}/app:nope", registry())]);
    let mut watching: Running = namespace.inplace_spawn(&["status", "deploy/web", "-w", "-o", "json"]);
    watching.wait_for("\"reason\": \"ImagePullBackOff\"");
    watching.signal("TERM");
    assert_eq!(watching.wait().code, 143);
    let document = status(&namespace, &["deploy/web"]);
    assert_eq!(document["workloads"][0]["owner"][0]["state"], "rollingOut", "{document}");
    let mut reported = states(&document, "web");
    reported.sort();
    assert_eq!(reported, ["failed", "older", "older"], "{document}");
    namespace.kubectl(&["rollout", "pause", "deploy/web"]);
    let output = namespace.inplace(&["status", "-o", "name"]);
    assert_eq!(output.stdout, "deployment.apps/web\ndaemonset.apps/log\npod/alone\n", "{output:#?}");
    assert!(namespace.inplace(&["status", "deploy/web"]).stdout.contains("its rollouts are paused"));
}

#[test]
fn a_service_account_sees_what_it_may() {
    let namespace = Namespace::new("status-rights");
    namespace.apply(&samples::deployment("web", 1));
    namespace.wait_ready("app=web", 1);
    namespace.kubectl(&["create", "role", "some", "--verb=get,list", "--resource=deployments.apps,pods"]);
    namespace.kubectl(&["create", "rolebinding", "some", "--role=some", &account(&namespace, "--serviceaccount=")]);
    let user = account(&namespace, "system:serviceaccount:");
    let mut inplace: Command = namespace.inplace_command(&["status", "deploy/web"]);
    inplace.args(["--as", &user]);
    let output = Running::start(inplace).wait();
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(
        output.stdout.contains("1 pod: 1 ready") && output.stdout.contains("you may not list replicasets"),
        "{output:#?}"
    );
    let mut inplace: Command = namespace.inplace_command(&["status"]);
    inplace.args(["--as", &user]);
    let output = Running::start(inplace).wait();
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(
        output.stdout.contains("deployment/web") && output.stdout.contains("statefulsets could not be listed"),
        "{output:#?}"
    );
}

fn account(namespace: &Namespace, before: &str) -> String {
    format!("{before}{}:default", namespace.name())
}
