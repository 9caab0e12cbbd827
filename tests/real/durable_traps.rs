//! What a durable rollout has to know of its owner: what it must refuse, and where the usual way would lose pods.

use serde_json::Value;

use crate::support::{Api, Kind, Namespace, Output, Owner, images, name, registry, restarted, tag_manifest};

fn apply(namespace: &Namespace, owner: &Owner<'_>, wanted: &str) -> Output {
    namespace.inplace(&["apply", &owner.reference(), wanted, "--yes", "--min-ready-seconds", "0"])
}

fn undo(namespace: &Namespace, owner: &Owner<'_>) -> Output {
    namespace.inplace(&["undo", &owner.reference(), "--yes", "--min-ready-seconds", "0"])
}

/// Asserts a run that is complete, with exactly the old pods, and that nothing changes afterwards.
fn assert_in_place(owner: &Owner<'_>, before: &[Value], output: &Output, tag: &str) {
    assert_eq!(output.code, 0, "{output:#?}");
    owner.wait_settled_or(&format!("{output:#?}"));
    assert_eq!(owner.tag("c1"), tag, "{output:#?}");
    let expected: Vec<String> = before.iter().map(|pod| format!("{}/c1", name(pod))).collect();
    assert_eq!(restarted(before, &owner.pods()), expected, "{output:#?}");
}

/// Asserts that the run is refused with the reason before it has written anything.
fn assert_refused(owner: &Owner<'_>, namespace: &Namespace, reason: &str) {
    let before = owner.object();
    let output = apply(namespace, owner, "c1=:v2");
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains(reason), "no {reason}: {output:#?}");
    assert_eq!(owner.object()["spec"], before["spec"]);
    assert_eq!(owner.object()["metadata"]["annotations"], before["metadata"]["annotations"]);
}

/// Rolls `c1` out in kubectl's way, which replaces pods, and returns them.
fn set_image(namespace: &Namespace, owner: &Owner<'_>, tag: &str, count: usize) -> Vec<Value> {
    namespace.kubectl(&["set", "image", &owner.reference(), &format!("c1={}/side:{tag}", registry())]);
    namespace.kubectl(&["rollout", "status", &owner.reference(), "--timeout=90s"]);
    let pods = owner.wait_ready(count);
    owner.wait_settled();
    pods
}

#[test]
fn an_old_replica_set_with_the_new_template_takes_the_outgoing_one() {
    let namespace = Namespace::new("trap-swap");
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, Kind::Deployment, (2, 2), "");
    let before = set_image(&namespace, &owner, "v2", 2);
    let output = apply(&namespace, &owner, "c1=:v1");
    assert_in_place(&owner, &before, &output, "side:v1");
    assert_eq!(owner.sets().len(), 2);
    // The ordinary way back goes to what was there just before.
    namespace.kubectl(&["rollout", "undo", &owner.reference()]);
    namespace.kubectl(&["rollout", "status", &owner.reference(), "--timeout=90s"]);
    let before = owner.wait_ready(2);
    owner.wait_settled();
    assert_eq!(owner.tag("c1"), "side:v2");
    // And once more in place.
    let output = apply(&namespace, &owner, "c1=:v1");
    assert_in_place(&owner, &before, &output, "side:v1");
}

#[test]
fn a_rollout_in_progress_is_refused() {
    let namespace = Namespace::new("trap-progress");
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, Kind::Deployment, (2, 2), "");
    namespace.kubectl(&["set", "image", &owner.reference(), &format!("c2={}/side:nope", registry())]);
    namespace.wait_pods("app=web", |pods| pods.len() > 2);
    assert_refused(&owner, &namespace, "OwnerRollingOut");
}

#[test]
fn a_pause_of_the_user_is_refused_and_stays() {
    let namespace = Namespace::new("trap-paused");
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, Kind::Deployment, (1, 2), "");
    namespace.kubectl(&["rollout", "pause", &owner.reference()]);
    assert_refused(&owner, &namespace, "OwnerPaused");
    assert_eq!(owner.object()["spec"]["paused"], true);
}

#[test]
fn no_replicas_is_refused() {
    for (kind, name) in [(Kind::Deployment, "trap-none-d"), (Kind::StatefulSet, "trap-none-s")] {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let owner = Owner::new(&namespace, &api, kind, (0, 2), "");
        assert_refused(&owner, &namespace, "NoPods");
    }
}

#[test]
fn short_histories_are_kept_as_long_as_they_may_be() {
    for limit in [0, 1] {
        let namespace = Namespace::new(&format!("trap-history-{limit}"));
        let api = Api::open();
        let fields = format!("  revisionHistoryLimit: {limit}\n");
        let owner = Owner::new(&namespace, &api, Kind::Deployment, (2, 2), &fields);
        let before = set_image(&namespace, &owner, "v2", 2);
        let output = apply(&namespace, &owner, "c1=:v3");
        assert_in_place(&owner, &before, &output, "side:v3");
        assert_eq!(owner.sets().len(), 1 + limit, "{:#?}", owner.sets());
        let before = owner.pods();
        let output = undo(&namespace, &owner);
        assert_in_place(&owner, &before, &output, "side:v2");
        assert_eq!(owner.sets().len(), 1 + limit, "{:#?}", owner.sets());
    }
}

#[test]
fn a_name_that_was_taken_once_does_no_harm() {
    let namespace = Namespace::new("trap-collision");
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, Kind::Deployment, (2, 2), "");
    let patch = r#"{"status":{"collisionCount":1}}"#;
    namespace.kubectl(&["patch", &owner.reference(), "--subresource=status", "--type=merge", "-p", patch]);
    let output = apply(&namespace, &owner, "c1=:v2");
    assert_in_place(&owner, &owner.before, &output, "side:v2");
    let before = owner.pods();
    let output = undo(&namespace, &owner);
    assert_in_place(&owner, &before, &output, "side:v1");
    // The name that the controller works out for the template of the next rollout may be free or not.
    set_image(&namespace, &owner, "v2", 2);
    set_image(&namespace, &owner, "v1", 2);
}

#[test]
fn pods_below_a_partition_keep_their_revision() {
    let namespace = Namespace::new("trap-partition");
    let api = Api::open();
    let strategy = "  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}\n";
    let owner = Owner::new(&namespace, &api, Kind::StatefulSet, (3, 2), strategy);
    let output = apply(&namespace, &owner, "c1=:v2");
    assert_eq!(output.code, 0, "{output:#?}");
    let after = owner.pods();
    assert_eq!(restarted(&owner.before, &after), ["web-1/c1", "web-2/c1"], "{output:#?}");
    assert_eq!(images(&after, "c1"), ["side:v1", "side:v2", "side:v2"]);
    let object = owner.object();
    assert_eq!(object["spec"]["updateStrategy"]["rollingUpdate"]["partition"], 1, "{object:#}");
    assert!(object["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null(), "{object:#}");
    // One that is lost on either side comes back as it was.
    namespace.kubectl(&["delete", "pod", "web-0", "web-2"]);
    assert_eq!(images(&owner.wait_ready(3), "c1"), ["side:v1", "side:v2", "side:v2"]);
    // Back in place, and then the whole at once.
    let before = owner.pods();
    let output = undo(&namespace, &owner);
    assert_eq!(output.code, 0, "{output:#?}");
    assert_eq!(restarted(&before, &owner.pods()), ["web-1/c1", "web-2/c1"], "{output:#?}");
    owner.wait_settled();
}

#[test]
fn on_delete_stays_on_delete() {
    for (kind, name) in [(Kind::StatefulSet, "trap-ondelete-s"), (Kind::DaemonSet, "trap-ondelete-d")] {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let owner = Owner::new(&namespace, &api, kind, (2, 2), "  updateStrategy: {type: OnDelete}\n");
        let output = apply(&namespace, &owner, "c1=:v2");
        assert_eq!(output.code, 0, "{output:#?}");
        assert_eq!(restarted(&owner.before, &owner.pods()).len(), owner.before.len());
        assert_eq!(owner.object()["spec"]["updateStrategy"]["type"], "OnDelete");
        assert_eq!(owner.tag("c1"), "side:v2");
        assert!(owner.object()["metadata"]["annotations"]["kubectl-inplace.io/rollout"].is_null());
    }
}

/// A server-side apply of another image afterwards: no conflict, unless the ownership was to be kept.
fn server_side(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let mut owner = Owner::new(&namespace, &api, kind, (1, 2), "");
    // Created again, so that there is no manager but the one.
    // With its pods: one that still exists would be taken for the new one.
    namespace.kubectl(&["delete", &owner.reference(), "--cascade=foreground"]);
    let manager = ["apply", "--server-side", "--field-manager=other", "-f", "-"];
    namespace.kubectl_input(&manager, &owner.manifest);
    owner.before = owner.wait_ready(1);
    owner.wait_settled();
    let output = apply(&namespace, &owner, "c1=:v2");
    assert_in_place(&owner, &owner.before, &output, "side:v2");
    namespace.kubectl_input(&manager, &tag_manifest(&owner.manifest, 1, "v3"));
    namespace.kubectl(&["rollout", "status", &owner.reference(), "--timeout=90s"]);
    owner.wait_ready(1);
    owner.wait_settled();

    let kept = namespace.inplace(&[
        "apply",
        &owner.reference(),
        "c1=:v2",
        "--yes",
        "--min-ready-seconds",
        "0",
        "--keep-field-ownership",
    ]);
    assert_eq!(kept.code, 0, "{kept:#?}");
    let refused = namespace.try_kubectl(&manager, &tag_manifest(&owner.manifest, 1, "v3"));
    assert!(refused.code != 0 && refused.stderr.contains("conflict"), "{refused:#?}");
}

#[test]
fn a_server_side_apply_of_a_deployment_has_no_conflict() {
    server_side(Kind::Deployment, "ssa-deployment");
}

#[test]
fn a_server_side_apply_of_a_stateful_set_has_no_conflict() {
    server_side(Kind::StatefulSet, "ssa-statefulset");
}

#[test]
fn a_server_side_apply_of_a_daemon_set_has_no_conflict() {
    server_side(Kind::DaemonSet, "ssa-daemonset");
}
