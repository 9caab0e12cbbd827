//! Nothing is written before the first pod may go down: against a PodDisruptionBudget whose room comes later, or never.

use serde_json::{Value, json};

use crate::support::{Api, Kind, Namespace, Owner, images, restarted, samples};

/// A budget over the workload's pods and one more that is never ready, which takes their room.
fn without_room(namespace: &Namespace, pods: usize) {
    let probe = "readinessProbe: {tcpSocket: {port: 1}, periodSeconds: 1}";
    namespace.apply(&samples::with_app_fields(&samples::pod("spare"), probe));
    let selector = "selector: {matchExpressions: [{key: app, operator: In, values: [web, spare, other]}]}";
    namespace.apply(&format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: strict}}\nspec: {{minAvailable: {pods}, {selector}}}\n"
    ));
    wait_for(namespace, &format!("currentHealthy={pods}"));
}

fn wait_for(namespace: &Namespace, status: &str) {
    let path = format!("--for=jsonpath={{.status.{}", status.replace('=', "}="));
    namespace.kubectl(&["wait", &path, "--timeout=60s", "poddisruptionbudget/strict"]);
}

/// What a rollout would change: all but what the controllers count.
fn standing(owner: &Owner<'_>) -> (Value, Value, i64) {
    let object = owner.object();
    let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
    (object["spec"].clone(), object["metadata"]["annotations"].clone(), generation)
}

fn waits(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, kind, (3, 2), "");
    owner.wait_settled();
    without_room(&namespace, owner.before.len());
    let (before, history) = (standing(&owner), namespace.kubectl(&["rollout", "history", &owner.reference()]));
    let reference = owner.reference();
    let line = ["apply", &reference, "c1=:v2", "--yes", "--min-ready-seconds", "0"];

    let blocked = namespace.inplace(&[&line[..], &["--timeout", "4s", "-o", "json"]].concat());
    assert_eq!(blocked.code, 5, "{blocked:#?}");
    let lines: Vec<Value> = blocked.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let reported = lines.iter().filter(|line| line["type"] == "waitsToBegin").count();
    let summary = lines.last().cloned().unwrap_or_default();
    assert_eq!((reported, &summary["nothingChanged"]), (1, &json!(true)), "{blocked:#?}");
    assert_eq!(standing(&owner), before, "{kind:?}: the owner is as it was");
    assert_eq!(namespace.kubectl(&["rollout", "history", &reference]), history);
    assert_eq!(restarted(&owner.before, &owner.pods()), [""; 0]);
    let resume = namespace.inplace(&["resume", &reference, "--yes"]);
    assert_eq!(resume.code, 0, "{resume:#?}");
    assert!(resume.stderr.contains("no rollout of kubectl-inplace is in progress"), "{resume:#?}");

    let mut run = namespace.inplace_spawn(&line);
    run.wait_for("waiting, nothing is changed yet: poddisruptionbudget/strict allows no pod to be down now");
    assert_eq!(standing(&owner), before, "{kind:?}: the owner is as it was");
    namespace.apply(&samples::pod("other"));
    wait_for(&namespace, "disruptionsAllowed=1");
    let output = run.wait();
    assert_eq!(output.code, 0, "{output:#?}");
    owner.wait_settled();
    owner.assert_same_pods("a wait and a rollout");
    assert!(images(&owner.pods(), "c1").iter().all(|image| *image == "side:v2"));
}

/// A budget that was made after the plan counts for the run that goes on from a killed one.
fn keeps_a_later_budget(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::new(&namespace, &api, kind, (3, 2), "");
    owner.wait_settled();
    let reference = owner.reference();
    let mut run = namespace.inplace_spawn(&[
        "apply",
        &reference,
        "c1=:v2",
        "--yes",
        "--min-ready-seconds",
        "0",
        "--before-pod",
        "echo stays; sleep 300",
    ]);
    run.wait_for("before] stays");
    run.signal("KILL");
    run.wait();
    without_room(&namespace, owner.before.len());
    let resume = ["resume", &reference, "--yes", "--no-hooks", "--min-ready-seconds", "0", "--timeout"];
    let blocked = namespace.inplace(&[&resume[..], &["4s"]].concat());
    assert_eq!(blocked.code, 5, "{blocked:#?}");
    assert!(blocked.stderr.contains("poddisruptionbudget/strict allows no pod to be down now"), "{blocked:#?}");
    assert_eq!(restarted(&owner.before, &owner.pods()), [""; 0], "{kind:?}");
    namespace.apply(&samples::pod("other"));
    wait_for(&namespace, "disruptionsAllowed=1");
    let done = namespace.inplace(&[&resume[..], &["1m"]].concat());
    assert_eq!(done.code, 0, "{done:#?}");
    owner.wait_settled();
    owner.assert_same_pods("a kill, a budget and a rollout");
    assert!(images(&owner.pods(), "c1").iter().all(|image| *image == "side:v2"));
}

#[test]
fn a_later_budget_is_kept_by_the_run_that_resumes() {
    for (kind, name) in [
        (Kind::Deployment, "later-budget-deployment"),
        (Kind::StatefulSet, "later-budget-stateful-set"),
        (Kind::DaemonSet, "later-budget-daemon-set"),
    ] {
        keeps_a_later_budget(kind, name);
    }
}

#[test]
fn a_deployment_is_not_written_before_its_first_pod_may_go_down() {
    waits(Kind::Deployment, "first-write-deployment");
}

#[test]
fn a_stateful_set_is_not_written_before_its_first_pod_may_go_down() {
    waits(Kind::StatefulSet, "first-write-stateful-set");
}

#[test]
fn a_daemon_set_is_not_written_before_its_first_pod_may_go_down() {
    waits(Kind::DaemonSet, "first-write-daemon-set");
}
