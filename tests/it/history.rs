//! `history`: what was done in place, from what is noted on the owner, its ReplicaSets and its pods; and that it only reads.

use serde_json::{Value, json};

use crate::status::{annotate, lock};
use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::Workload;
use crate::support::scene::{run, server_with, two_containers, web, with_controllers};

const HISTORY: &str = "kubectl-inplace.io/history";

fn entry(id: &str, outcome: &str) -> Value {
    json!({"id": id, "who": "jane", "since": "2026-03-01T10:00:00Z", "reason": "a CVE", "direction": "forward",
        "change": {"images": {"side": {"from": "acme/side:v0", "to": "acme/side:v1"}}},
        "ended": "2026-03-01T10:00:12Z", "outcome": outcome})
}

fn of_web(server: &ApiServer) -> Value {
    run(server, "history deploy/web -o json").ends_with(0).json()["workloads"][0].clone()
}

fn ids(workload: &Value) -> Vec<String> {
    let updates = workload["updates"].as_array().into_iter().flatten();
    updates.map(|update| format!("{} {}", update["id"], update["course"]).replace('"', "")).collect()
}

#[test]
fn the_union_of_owner_and_replica_sets_is_listed_and_the_lock_last() {
    let server = web();
    let set = server.objects("replicasets")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let old = json!([entry("20260301-090000-0000aa", "failed"), entry("20260301-100000-0000aa", "complete")]);
    annotate(&server, "replicasets", &set, HISTORY, &old.to_string());
    let kept = json!([entry("20260301-100000-0000aa", "complete")]);
    annotate(&server, "deployments", "web", HISTORY, &kept.to_string());
    annotate(&server, "deployments", "web", "kubectl-inplace.io/rollout", &lock("running"));
    let expected =
        ["20260301-090000-0000aa ended", "20260301-100000-0000aa ended", "20260301-120000-0000aa inProgress"];
    assert_eq!(ids(&of_web(&server)), expected);
    let output = run(&server, "history deploy web").ends_with(0);
    let output = output.prints("deployment/web  namespace default").prints("side: v0 -> v1").prints("jane");
    let last =
        output.stdout.lines().find(|line| line.contains("20260301-120000-0000aa")).unwrap_or_default().to_owned();
    let follow = "kubectl inplace follow deployment/web\n";
    assert!(
        last.contains("  running  ") && output.stdout.contains(follow) && output.stdout.contains("  12 s "),
        "{}",
        output.stdout
    );
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

/// The commands around each pod are stored nowhere, and the update that takes the rollout's place does not drop them
/// silently.
#[test]
fn a_rollout_that_ran_commands_around_each_pod_says_so_where_another_takes_its_place() {
    let server = with_controllers();
    let fast = "--yes --min-ready-seconds 0";
    run(&server, &format!("apply deploy/web side=:v2 --canary 1 --before-pod true {fast}")).ends_with(0);
    let said = "; it ran --before-pod around each pod, and this one only what is given again";
    run(&server, "plan deploy/web side=:v3").ends_with(0).prints(said);
    run(&server, &format!("apply deploy/web side=:v3 {fast}")).ends_with(0).prints(said);
}

/// The lock of a rollout that was left goes with the first write of the one that takes its place; the history keeps it.
#[test]
fn a_rollout_whose_place_another_one_takes_is_named_and_stays_in_the_history() {
    let server = with_controllers();
    let fast = "--yes --min-ready-seconds 0";
    run(&server, &format!("apply deploy/web side=:v2 --canary 1 {fast}")).ends_with(0).prints("Paused");
    let first = of_web(&server)["updates"][0]["id"].clone();
    let (id, line) = (first.as_str().unwrap_or_default(), "side: acme/side v1 -> v2");
    let plan = run(&server, "plan deploy/web side=:v3").ends_with(0);
    plan.prints(&format!("Replaces rollout \"{id}\", started by jane "))
        .prints(&format!(" ago (paused, forward): {line}"));
    let plan = run(&server, "plan deploy/web side=:v3 -o json").ends_with(0).json();
    let replaced = &plan["workloads"][0]["durable"]["replaced"];
    assert_eq!((&replaced["id"], &replaced["who"], &replaced["state"]), (&first, &json!("jane"), &json!("paused")));
    let second = run(&server, &format!("apply deploy/web side=:v3 --canary 1 {fast}")).ends_with(0);
    second.prints("Replaces rollout ").prints("Paused");
    // While the second one holds the workload, and once it has ended.
    for (line, course, result) in [("", "inProgress", Value::Null), ("resume deploy/web", "ended", json!("complete"))] {
        if !line.is_empty() {
            run(&server, &format!("{line} {fast}")).ends_with(0);
        }
        let workload = of_web(&server);
        let (replaced, last) = (&workload["updates"][0], &workload["updates"][1]);
        assert_eq!((&replaced["id"], &replaced["result"]), (&first, &json!("superseded")), "{workload}");
        assert_eq!(replaced["replacedBy"], last["id"], "{workload}");
        assert_eq!((&last["course"], &last["result"]), (&json!(course), &result), "{workload}");
        assert_eq!(workload["updates"].as_array().map(Vec::len), Some(2), "{workload}");
    }
    run(&server, "history deploy/web").ends_with(0).prints("replaced by ");
}

#[test]
fn updates_of_pods_alone_are_found_on_the_pods() {
    let server = server_with([two_containers(Workload::deployment("web")), two_containers(Workload::pod("alone"))]);
    run(&server, "history deploy/web").ends_with(0).prints("No in-place updates recorded.");
    run(&server, "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0").ends_with(0);
    run(&server, "apply pod/alone side=acme/side:v3 --yes --min-ready-seconds 0").ends_with(0);
    run(&server, "history deploy/web").ends_with(0).prints("pods only: 3 pods").prints("side: v1 -> v2");
    let workload = of_web(&server);
    assert_eq!(workload["updates"][0]["pods"].as_array().map(Vec::len), Some(3), "{workload}");
    assert!(workload["updates"][0]["began"].as_str().is_some_and(|began| began.ends_with('Z')), "{workload}");
    run(&server, "history pod/alone").ends_with(0).prints("pods only: 1 pod").prints("side: v1 -> v3");
    run(&server, "history pods -l app=alone -A").ends_with(0).prints("pod/alone");
}

#[test]
fn what_was_edited_is_named_and_harmless() {
    let server = web();
    annotate(&server, "deployments", "web", HISTORY, "[{\"id\":\u{1b}[2J");
    annotate(&server, "deployments", "web", "kubectl-inplace.io/rollout", "{}");
    let pod = server.objects("pods")[0]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    annotate(&server, "pods", &pod, "kubectl-inplace.io/update", "null");
    let output = run(&server, "history deploy/web").ends_with(0);
    let output = output
        .prints("No in-place updates recorded.")
        .prints("not readable: kubectl-inplace.io/history of deployment/web")
        .prints("not readable: kubectl-inplace.io/rollout of deployment/web")
        .prints(&format!("not readable: kubectl-inplace.io/update of pod/{pod}"));
    assert!(!output.stdout.contains('\u{1b}'));
    let mut hostile = entry("x\u{1b}[2J", "complete");
    hostile["who"] = "\u{202e}root\r\n".into();
    annotate(&server, "deployments", "web", HISTORY, &json!([hostile]).to_string());
    let output = run(&server, "history deploy/web").ends_with(0).prints("x^[[2J").prints("\\u{202e}root  ");
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn missing_permissions_and_wrong_usage_are_reported() {
    let server = web();
    run(&server, "history").ends_with(1).says("no workload was named");
    run(&server, "history deploy/web side=:v2").ends_with(1).says("takes workloads alone");
    run(&server, "history deploy/web -o name").ends_with(1).says("allowed formats are: text,json,yaml\n");
    let yaml = run(&server, "history deploy/web -o yaml").ends_with(0);
    yaml.prints("apiVersion: kubectl-inplace.io/v1alpha1\nkind: History\nworkloads:\n");
    server.fault(When::verb("list").of("replicasets"), Effect::Forbid);
    run(&server, "history deploy/web").ends_with(0).prints("not read: you may not list replicasets");
}
