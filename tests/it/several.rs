//! Several workloads of one command: their order, how many at once, and what becomes of the others after a failure.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::clock;
use crate::support::run::Output;
use crate::support::scene::{patched, probe, run, typed};
use crate::support::snapshot::assert_snapshot;

const FLAGS: &str = "--pods-only --yes --min-ready-seconds 0";

/// Deployments with one pod each, named in an order that is not theirs.
fn deployments(names: &[(&str, &str)]) -> ApiServer {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    for (name, tag) in names {
        let workload = Workload::deployment(name).replicas(1);
        server.insert(workload.container_with("side", &format!("acme/side:{tag}"), probe()).objects());
    }
    server
}

fn name(pod: &Value) -> String {
    pod["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

fn owners(server: &ApiServer) -> Vec<String> {
    let short = |pod: String| pod.split('-').next().unwrap_or_default().to_owned();
    patched(server).into_iter().map(short).collect()
}

fn results(output: &Output) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = output.json_lines();
    let of = lines.iter().filter(|line| line["type"] == "workload");
    of.map(|line| (text(&line["workload"]["name"]), text(&line["result"]))).collect()
}

#[test]
fn workloads_go_one_after_the_other_as_they_were_named() {
    let server = deployments(&[("a", "v1"), ("b", "v2"), ("c", "v1")]);
    let output = run(&server, &format!("apply deploy/c deploy/a deploy/b side=acme/side:v2 {FLAGS}")).ends_with(0);
    assert_eq!(owners(&server), ["c", "a"]);
    assert_snapshot(
        "several-text",
        &output.without_durations(output.stdout.split_once("Total: 3").map_or("", |(_, rest)| rest)),
    );
    output.says("2 workloads, one after the other, in this order: deployment/c -n default, deployment/a -n default");
}

#[test]
fn a_selector_alone_picks_the_owners_that_people_write_by_namespace_kind_and_name() {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    for (workload, namespace) in
        [(Workload::stateful_set("x"), "two"), (Workload::deployment("x"), "two"), (Workload::daemon_set("x"), "one")]
    {
        let workload = workload.namespace(namespace).replicas(1).container_with("side", "acme/side:v1", probe());
        server.insert(workload.objects().into_iter().map(|mut object| {
            object["metadata"]["labels"]["team"] = "shop".into();
            object
        }));
    }
    let plan = run(&server, "plan -l team=shop -A --image side=acme/side:v2 -o json --pods-only").ends_with(0).json();
    let named =
        |plan: &Value| format!("{}/{}", plan["workload"]["namespace"], plan["workload"]["kind"]).replace('"', "");
    let workloads: Vec<String> = plan["workloads"].as_array().into_iter().flatten().map(named).collect();
    assert_eq!(workloads, ["one/DaemonSet", "two/Deployment", "two/StatefulSet"]);
    run(&server, &format!("apply -l team=shop -A --image side=acme/side:v2 {FLAGS}")).ends_with(0);
    assert_eq!(patched(&server).len(), 3);
}

#[test]
fn a_failure_stops_the_rest_unless_set_otherwise() {
    let line = format!("apply deploy/a deploy/b deploy/c side=acme/side:v2 {FLAGS} -o json");
    for (more, expected, untouched) in [
        ("", ["complete", "failed", "notStarted"], vec!["c"]),
        ("--on-failure=continue", ["complete", "failed", "complete"], vec![]),
    ] {
        let server = deployments(&[("a", "v1"), ("b", "v1"), ("c", "v1")]);
        let pod = server.objects("pods").into_iter().map(|pod| name(&pod)).find(|pod| pod.starts_with("b-"));
        let deny = Effect::Deny { webhook: "policy".to_owned(), message: "not today".to_owned(), code: 403 };
        server.fault(When::verb("patch").named(&pod.unwrap_or_default()).for_real(), deny);
        let output = run(&server, &format!("{line} {more}")).ends_with(4);
        let words: Vec<String> = results(&output).into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, expected);
        let end = output.json_lines().pop().unwrap_or_default();
        let names: Vec<&str> =
            end["notStarted"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!((&end["type"], &end["result"], &end["exitCode"]), (&json!("end"), &json!("failed"), &json!(4)));
        assert_eq!(names, untouched);
    }
}

/// What was taken back is not the last word on it that it has failed.
#[test]
fn what_a_command_has_rolled_back_is_said_of_each() {
    let line = format!("apply deploy/a deploy/b side=acme/side:crash {FLAGS} --on-failure undo --parallel-workloads 2");
    let output = run(&deployments(&[("a", "v1"), ("b", "v1")]), &line).ends_with(4);
    assert_eq!(output.stdout.matches("failed, rolled back").count(), 2, "{}", output.stdout);
    let output = run(&deployments(&[("a", "v1"), ("b", "v1")]), &format!("{line} -o json")).ends_with(4);
    let ends: Vec<Value> = output.json_lines().into_iter().filter(|line| line["type"] == "workload").collect();
    assert!(ends.len() == 2 && ends.iter().all(|end| end["rolledBack"] == true), "{ends:?}");
}

#[test]
fn side_by_side_each_line_says_whose_it_is() {
    let server = deployments(&[("a", "v1"), ("b", "v1"), ("c", "v1")]);
    let line = format!("apply deploy/a deploy/b deploy/c side=acme/side:v2 {FLAGS} --parallel-workloads 2");
    let output = run(&server, &line).ends_with(0);
    let lines: Vec<&str> = output.stderr.lines().filter(|line| line.starts_with('[')).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains("] default deployment/")), "{lines:#?}");
    output.says("3 workloads, 2 at once, in this order").prints("\ndefault deployment/b:\nUpdated 1 pod in place");
    let server = deployments(&[("a", "v1"), ("b", "v1"), ("c", "v1")]);
    let output = run(&server, &format!("{line} -o json")).ends_with(0);
    let rollout = |line: &&Value| line["type"] != "end";
    assert!(output.json_lines().iter().filter(rollout).all(|line| line["workload"]["name"].is_string()));
    assert_eq!(results(&output).len(), 3);
}

#[test]
fn what_refuses_one_of_them_is_no_reason_to_look_up_how_the_others_are_updated() {
    let server = deployments(&[("a", "v1"), ("b", "v1")]);
    server.insert(Workload::deployment("c").replicas(1).container_with("app", "acme/app:v1", probe()).objects());
    for line in ["plan deploy/a deploy/b deploy/c", "plan deploy --all", "apply deploy --all --yes"] {
        let code = if line.starts_with("apply") { 3 } else { 0 };
        let output =
            run(&server, &format!("{line} side=acme/side:v2 --pods-only --min-ready-seconds 0")).ends_with(code);
        let next =
            "kubectl inplace apply deployment/a deployment/b side=acme/side:v2 --pods-only --min-ready-seconds 0";
        let output = output
            .prints(&format!("Nothing is changed while one is not eligible.\nThis updates the others:\nNext: {next}"));
        assert!(!output.stdout.contains("deployment/a can be updated"), "its row says it: {}", output.block());
    }
    assert!(server.writes().is_empty());
    let plan = run(&server, "plan deploy --all side=acme/side:v2 --pods-only -o json").ends_with(0).json();
    assert_eq!((&plan["summary"]["update"], &plan["applyable"]), (&json!(2), &json!(false)));
}

#[test]
fn an_interrupt_stops_all_of_them() {
    let server = deployments(&[("a", "v1"), ("b", "v1"), ("c", "v1")]);
    let line =
        format!("apply deploy/a deploy/b deploy/c side=acme/side:never-ready {FLAGS} --parallel-workloads 2 -o json");
    let running = typed(&server, &line).spawn();
    clock::eventually("two are patched", || (patched(&server).len() == 2).then_some(()));
    clock::sleep(Duration::from_millis(50));
    running.signal("INT");
    let output = running.wait().ends_with(130);
    let words: Vec<String> = results(&output).into_iter().map(|(_, word)| word).collect();
    assert_eq!(words, ["interrupted", "interrupted", "notStarted"]);
}

/// What took long before it is no time of the second one's.
#[test]
fn each_workload_begins_when_its_turn_comes() {
    let server = deployments(&[("a", "v1"), ("b", "v1")]);
    server.run_controllers(true);
    run(&server, "apply deploy/a deploy/b side=acme/side:v2 --yes --min-ready-seconds 1").ends_with(0);
    let began = |name: &str| {
        let history = run(&server, &format!("history deploy/{name} -o json")).ends_with(0).json();
        history["workloads"][0]["updates"][0]["began"].as_str().unwrap_or_default().to_owned()
    };
    let (first, second) = (began("a"), began("b"));
    assert!(!first.is_empty() && first < second, "{first} {second}");
}
