//! A memory limit that a kubelet does not lower: that of a container which has restarted. The ways out are printed.

use serde_json::Value;

use crate::support::{Api, Fields, Kind, Namespace, Output, Owner, registry};

const RESOURCES: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";

/// The command behind a label at the beginning of a line.
fn printed(output: &Output, label: &str) -> String {
    let line = output.stdout.lines().find_map(|line| line.strip_prefix(label));
    line.unwrap_or_else(|| panic!("no {label:?}: {output:#?}")).trim().to_owned()
}

fn limits(owner: &Owner<'_>, at: &str) -> Vec<Value> {
    let limit =
        |pod: &Value| pod.pointer(at).map_or(Value::Null, |first| first["resources"]["limits"]["memory"].clone());
    owner.pods().iter().map(limit).collect()
}

/// The kubelet says why only in its next sync, some ten seconds later.
const TIMEOUT: &str = "--timeout 40s";

/// What is tried.
#[derive(PartialEq)]
enum Way {
    /// The old resources are back at once.
    RollsBack,
    /// The kubelet is left with it, and nothing holds the owner.
    Leaves,
    /// The same on the way back.
    LeavesOnTheWayBack,
}

fn ways_out(kind: Kind, name: &str, ways: &[Way; 2]) {
    let (namespace, api) = (Namespace::new(name), Api::open());
    let owner = Owner::with((&namespace, &api), kind, (2, 1), Fields::Container(RESOURCES));
    owner.wait_settled();
    let reference = owner.reference();
    let inplace = |line: &str, code: i32| {
        let output = namespace.inplace(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.code, code, "{line}: {output:#?}");
        output
    };
    let paste = |line: &str, code: i32| {
        let output = namespace.type_line(&format!("{line} --yes"));
        assert_eq!(output.code, code, "{line}: {output:#?}");
        output
    };
    let count = owner.before.len();
    // Before a restart it is lowered, and raised again.
    inplace(&format!("apply {reference} --limits memory=60Mi --yes"), 0);
    inplace(&format!("apply {reference} c1={}/side:v2 --yes", registry()), 0);
    let lower = || {
        let late = inplace(&format!("apply {reference} --limits memory=50Mi --yes {TIMEOUT}"), 5);
        assert!(late.stderr.contains("(MemoryLimitNotLowered)"), "{late:#?}");
        assert!(late.stdout.contains("missing container \"c1\" memory usage"), "{late:#?}");
        late
    };
    if ways.contains(&Way::RollsBack) {
        let back = paste(&printed(&lower(), "Roll back:"), 0);
        let is_true = back.stdout.contains("Restarted as planned: nothing") && !back.stdout.contains("Downtime");
        assert!(is_true, "{back:#?}");
        assert_eq!(limits(&owner, "/status/containerStatuses/0"), vec!["60Mi"; count]);
    }
    if ways.contains(&Way::Leaves) {
        let left = paste(&printed(&lower(), "Resume, leaving the resize to the kubelet:"), 5);
        assert!(left.stdout.contains(&format!("Pods: {count} left to the kubelet.")), "{left:#?}");
        owner.wait_settled();
        assert_eq!(limits(&owner, "/spec/containers/0"), vec!["50Mi"; count]);
        inplace(&format!("undo {reference} --yes"), 0);
    }
    if ways.contains(&Way::LeavesOnTheWayBack) {
        // With one pod it is done, and undone.
        let back = if count == 1 { "Resume" } else { "Roll back" };
        let begun = inplace(&format!("apply {reference} --limits memory=70Mi --yes --canary 1"), 0);
        let late = paste(&format!("{} {TIMEOUT}", printed(&begun, "Roll back:")), 5);
        let left = paste(&printed(&late, &format!("{back}, leaving the resize to the kubelet:")), 5);
        assert!(left.stdout.contains("left to the kubelet"), "{left:#?}");
        owner.wait_settled();
        assert_eq!(limits(&owner, "/spec/containers/0"), vec!["60Mi"; count]);
    }
    owner.assert_same_pods("after all");
}

#[test]
fn what_has_restarted_in_a_deployment_keeps_its_limit() {
    ways_out(Kind::Deployment, "lowered-deployment", &[Way::RollsBack, Way::Leaves]);
}

#[test]
fn what_has_restarted_in_a_stateful_set_keeps_its_limit() {
    ways_out(Kind::StatefulSet, "lowered-stateful-set", &[Way::Leaves, Way::LeavesOnTheWayBack]);
}

#[test]
fn what_has_restarted_in_a_daemon_set_keeps_its_limit() {
    ways_out(Kind::DaemonSet, "lowered-daemon-set", &[Way::RollsBack, Way::LeavesOnTheWayBack]);
}
