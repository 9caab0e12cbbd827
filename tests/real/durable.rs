//! A durable rollout of each kind: no pod is recreated, no ReplicaSet scaled, only the planned container restarts; and
//! afterwards everything that kubectl does with a workload is as after an ordinary rollout.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{Api, Kind, Namespace, Owner, Seen, images, name, restarted, samples, tag_manifest};

const REASON: &str = "bump c1, because we can";

/// What every run here begins with.
fn apply<'a>(reference: &'a str, wanted: &'a str) -> [&'a str; 6] {
    ["apply", reference, wanted, "--yes", "--min-ready-seconds", "0"]
}

/// Asserts that the watch saw these pods alone, each container but `c1` as one container, and `c1` as two.
fn assert_seen(seen: &[Seen], before: &[Value]) {
    let mut containers: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for pod in seen.iter().map(|seen| &seen.pod) {
        let known = before.iter().any(|known| known["metadata"]["uid"] == pod["metadata"]["uid"]);
        assert!(known, "{} was made meanwhile", name(pod));
        for status in pod["status"]["containerStatuses"].as_array().into_iter().flatten() {
            let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
            let ids = containers.entry((name(pod).to_owned(), text("name"))).or_default();
            ids.extend(Some(text("containerID")).filter(|id| !id.is_empty()));
        }
    }
    for ((pod, container), ids) in &containers {
        let wanted = if container == "c1" { 2 } else { 1 };
        assert_eq!(ids.len(), wanted, "{pod}/{container}: {ids:?}");
    }
}

/// Asserts that no ReplicaSet was ever scaled: each had the same `spec.replicas` whenever it was seen.
fn assert_never_scaled(seen: &[Seen]) {
    let mut scales: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for set in seen.iter().map(|seen| &seen.pod) {
        scales.entry(name(set).to_owned()).or_default().insert(set["spec"]["replicas"].to_string());
    }
    assert!(scales.values().all(|scales| scales.len() == 1), "{scales:?}");
}

/// Rolls `c1` out and asserts what the watches saw; returns with the rollout over.
fn rolled_out(namespace: &Namespace, owner: &Owner<'_>, kind: Kind) {
    let pods = namespace.watch("app=web");
    let sets = (kind == Kind::Deployment).then(|| namespace.watch_replica_sets("app=web", 1));
    let reference = owner.reference();
    let output = namespace.inplace(&[apply(&reference, "c1=:v2").as_slice(), &["--reason", REASON]].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.stdout.contains("nothing else restarted; pods replaced: 0"), "{output:#?}");
    owner.wait_settled();
    assert_eq!(owner.tag("c1"), "side:v2");
    let after = owner.pods();
    let expected: Vec<String> = owner.before.iter().map(|pod| format!("{}/c1", name(pod))).collect();
    assert_eq!(restarted(&owner.before, &after), expected);
    assert_seen(&pods.seen(), &owner.before);
    if let Some(sets) = sets {
        assert_never_scaled(&sets.seen());
    }
}

/// `rollout status` and `rollout history` show it.
fn assert_told(namespace: &Namespace, owner: &Owner<'_>, kind: Kind) {
    let reference = owner.reference();
    namespace.kubectl(&["rollout", "status", &reference, "--timeout=30s"]);
    let history = namespace.kubectl(&["rollout", "history", &reference]);
    let revisions: Vec<&str> = history.lines().filter(|line| line.starts_with(['1', '2'])).collect();
    assert_eq!(revisions.len(), 2, "{history}");
    if kind == Kind::Deployment {
        assert!(revisions.iter().any(|line| line.contains(REASON)), "{history}");
    }
}

/// Everything after a rollout is as after an ordinary one.
fn lives_on(namespace: &Namespace, owner: &Owner<'_>, kind: Kind) {
    let reference = owner.reference();
    let count = owner.before.len();
    // The manifest with the new image says nothing new.
    namespace.apply(&tag_manifest(&owner.manifest, 1, "v2"));
    owner.wait_settled();
    owner.assert_same_pods("apply of the same manifest");
    // A pod that is lost, and one more.
    namespace.kubectl(&["delete", "pod", name(&owner.before[0])]);
    assert!(images(&owner.wait_ready(count), "c1").iter().all(|image| *image == "side:v2"));
    if kind != Kind::DaemonSet {
        namespace.kubectl(&["scale", &reference, "--replicas=4"]);
        assert_eq!(images(&owner.wait_ready(4), "c1"), ["side:v2"; 4]);
    }
    owner.wait_settled();
}

/// The ordinary way back, which replaces pods; and in place forward and back once more.
fn goes_back(namespace: &Namespace, owner: &Owner<'_>) {
    let reference = owner.reference();
    namespace.kubectl(&["rollout", "undo", &reference]);
    namespace.kubectl(&["rollout", "status", &reference, "--timeout=90s"]);
    owner.wait_settled();
    assert_eq!(owner.tag("c1"), "side:v1");
    assert_eq!(owner.object()["metadata"]["annotations"]["team"], "shop");

    let before = owner.pods();
    let again = namespace.inplace(&apply(&reference, "c1=:v2"));
    assert_eq!(again.code, 0, "{again:#?}");
    owner.wait_settled();
    assert_eq!(restarted(&before, &owner.pods()).len(), before.len());
    let undo = namespace.inplace(&["undo", &reference, "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(undo.code, 0, "{undo:#?}");
    owner.wait_settled();
    assert_eq!(owner.tag("c1"), "side:v1");
    assert_eq!(restarted(&before, &owner.pods()).len(), before.len());
    assert_eq!(owner.object()["metadata"]["annotations"]["team"], "shop");
}

fn whole_life(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, kind, (3, 2), "");
    namespace.kubectl(&["annotate", &owner.reference(), "team=shop"]);
    owner.wait_settled();
    rolled_out(&namespace, &owner, kind);
    if kind != Kind::ReplicaSet {
        assert_told(&namespace, &owner, kind);
    }
    lives_on(&namespace, &owner, kind);
    if kind != Kind::ReplicaSet {
        goes_back(&namespace, &owner);
    }
}

#[test]
fn a_deployment_lives_on_as_after_an_ordinary_rollout() {
    whole_life(Kind::Deployment, "durable-deployment");
}

#[test]
fn a_stateful_set_lives_on_as_after_an_ordinary_rollout() {
    whole_life(Kind::StatefulSet, "durable-statefulset");
}

#[test]
fn an_ordered_stateful_set_lives_on_as_after_an_ordinary_rollout() {
    whole_life(Kind::Ordered, "durable-ordered");
}

#[test]
fn a_daemon_set_lives_on_as_after_an_ordinary_rollout() {
    whole_life(Kind::DaemonSet, "durable-daemonset");
}

#[test]
fn a_replica_set_of_its_own_makes_pods_of_the_new_image() {
    whole_life(Kind::ReplicaSet, "durable-replicaset");
}

#[test]
fn forward_and_undone_ten_times_in_a_row() {
    let namespace = Namespace::new("durable-ten");
    let api = Api::open();
    // A container a round: the kubelet puts off what starts the same image in the same container again and again.
    let owner = Owner::new(&namespace, &api, Kind::Deployment, (2, 10), "");
    let reference = owner.reference();
    let pods = namespace.watch("app=web");
    let sets = namespace.watch_replica_sets("app=web", 1);
    for round in 1..=10 {
        for arguments in [
            apply(&reference, &format!("c{round}=:v2")).as_slice(),
            &["undo", &reference, "--yes", "--min-ready-seconds", "0"],
        ] {
            let before = owner.pods();
            let output = namespace.inplace(arguments);
            let context = format!("round {round}: {output:#?}");
            assert_eq!(output.code, 0, "{context}");
            owner.wait_settled();
            owner.assert_same_pods(&context);
            assert_eq!(restarted(&before, &owner.pods()).len(), 2, "{context}");
        }
        assert!(owner.tags().values().all(|tag| tag == "side:v1"), "{:?}", owner.tags());
    }
    let made = |seen: &Seen| !owner.before.iter().any(|pod| pod["metadata"]["uid"] == seen.pod["metadata"]["uid"]);
    assert!(!pods.seen().iter().any(made), "a pod was made meanwhile");
    assert_never_scaled(&sets.seen());
    // Its history is not longer than it may be.
    assert!(owner.sets().len() <= 11, "{}", owner.sets().len());
}

/// Characters that Go's JSON spells in another way than most: a patch's `test` compares bytes.
const MARKUP: &str = r#"<a href="b"> & 'c' é \u2028 \t \\d"#;

#[test]
fn a_template_with_markup_in_it_is_rolled_out_and_back() {
    let namespace = Namespace::new("durable-markup");
    let fields = format!("env: [{{name: MARKUP, value: \"{}\"}}]", MARKUP.replace('"', "\\\""));
    let manifests = [
        ("deployment/web", samples::deployment("web", 2)),
        ("statefulset/sts", samples::stateful_set("sts", 2)),
        ("daemonset/ds", samples::daemon_set("ds")),
    ];
    for (reference, manifest) in manifests {
        namespace.apply(&samples::with_app_fields(&manifest, &fields));
        namespace.kubectl(&["rollout", "status", reference, "--timeout=60s"]);
        let forward = [&apply(reference, "app=:v2")[..], &["--reason", MARKUP]].concat();
        for arguments in [&forward[..], &["undo", reference, "--yes", "--min-ready-seconds", "0"]] {
            let output = namespace.inplace(arguments);
            assert_eq!(output.code, 0, "{reference}: {output:#?}");
        }
    }
}
