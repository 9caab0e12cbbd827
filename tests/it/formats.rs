//! `plan -o wide|json|yaml|name`: what each adds, what each asks the server for, and that stdout holds nothing else.

use engine::k8s::container_hash::container_hash;
use engine::value::kubelet_version::KubeletVersion;
use kubectl_inplace::manifest;
use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When, image_id};
use crate::support::builders::Workload;
use crate::support::run::Binary;
use crate::support::scene::{run, server_with, two_containers, web};

const PLAN: &str = "plan deploy/web side=acme/side:v2";

fn hash(image: &str) -> String {
    container_hash(KubeletVersion::new(1, 31), &json!({"name": "side", "image": image})).expect("it can be computed")
}

fn reads_of_nodes(server: &ApiServer) -> usize {
    server.requests().iter().filter(|request| request.path.starts_with("/api/v1/nodes")).count()
}

#[test]
fn nodes_are_read_where_they_are_shown_and_for_their_images() {
    for (format, reads) in [("text", 0), ("name", 0), ("markdown", 0), ("wide", 1), ("json", 1), ("yaml", 1)] {
        for (pre_pull, more) in [("never", 0), ("auto", 1)] {
            let server = web();
            run(&server, &format!("{PLAN} -o {format} --pre-pull={pre_pull}")).ends_with(0);
            assert_eq!(reads_of_nodes(&server), reads + more, "{format}, {pre_pull}");
        }
    }
}

#[test]
fn wide_shows_what_the_kubelet_would_see() {
    let server = web();
    let output = run(&server, &format!("{PLAN} -o wide")).ends_with(0);
    let hashes = format!("hash {} -> {}", hash("acme/side:v1"), hash("acme/side:v2"));
    let output = output
        .prints("kubelet 1.36")
        .prints(&image_id("acme/side:v1"))
        .prints(&hashes)
        .prints("Next: kubectl inplace apply");
    for pod in server.objects("pods") {
        let uid = pod["metadata"]["uid"].as_str().unwrap_or("no uid");
        assert!(output.stdout.contains(&format!("uid {uid}")), "{}", output.stdout);
    }
}

#[test]
fn nodes_that_may_not_be_read_are_unknown_and_only_wide_says_why() {
    for (format, warns) in [("wide", true), ("json", false), ("yaml", false), ("text", false)] {
        let server = web();
        server.fault(When::verb("get").of("nodes"), Effect::Forbid);
        let output = run(&server, &format!("{PLAN} -o {format}")).ends_with(0);
        let block = output.block();
        assert_eq!(block.contains("ReadFailed"), warns, "{block}");
        match format {
            "wide" => assert!(output.stdout.contains("kubelet unknown\n") && output.stdout.contains("hash unknown\n")),
            "json" => {
                let pod = &output.json()["workloads"][0]["pods"][0];
                assert_eq!((&pod["kubelet"], &pod["changes"][0]["hashTo"]), (&Value::Null, &Value::Null));
            }
            _ => {}
        }
    }
}

#[test]
fn yaml_is_the_json_of_the_same_plan() {
    let server = web();
    let json = run(&server, &format!("{PLAN} -o json")).ends_with(0).json();
    let yaml = run(&server, &format!("{PLAN} -o yaml")).ends_with(0);
    let named = format!("{}metadata: {{name: plan}}\n", yaml.stdout);
    let mut object = manifest::parse("plan.yaml", named.as_bytes()).expect("it is YAML").remove(0).object;
    object.as_object_mut().expect("a document").shift_remove("metadata");
    assert_eq!(object, json);
    assert_eq!(yaml.stderr, "");
}

#[test]
fn names_go_into_a_pipe() {
    let server = web();
    let names = |output: &str| output.lines().map(str::to_owned).collect::<Vec<_>>();
    let pods = server.objects("pods");
    let mut expected: Vec<String> =
        pods.iter().map(|pod| format!("pod/{}", pod["metadata"]["name"].as_str().unwrap_or_default())).collect();
    expected.sort();
    let output = run(&server, &format!("{PLAN} -o name")).ends_with(0);
    let mut found = names(&output.stdout);
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(run(&server, "plan deploy/web side=acme/side:v1 -o name").ends_with(0).stdout, "");
    let refused = run(&server, "plan deploy/web nope=acme/side:v1 -o name --detailed-exitcode").ends_with(3);
    assert_eq!(refused.stdout, "");
    refused.says("Not eligible: deployment/web: ContainerNotFound");
}

/// Of what is asked for in all namespaces a name alone finds nothing again.
#[test]
fn names_of_all_namespaces_are_what_a_command_takes() {
    let server = server_with([two_containers(Workload::deployment("api").replicas(1).namespace("prod"))]);
    let output = run(&server, "plan -A -l app=api side=:v2 -o name").ends_with(0);
    assert!(
        output.stdout.starts_with("pod/api-") && output.stdout.ends_with(" --namespace=prod\n"),
        "{}",
        output.stdout
    );
    run(&server, &format!("status {} -o name", output.stdout.trim())).ends_with(0).prints("pod/api-");
    let named = run(&server, "plan -n prod deploy/api side=:v2 -o name").ends_with(0).stdout;
    assert!(!named.contains("--namespace"), "{named}");
}

#[test]
fn templates_are_refused() {
    let server = web();
    for format in
        ["jsonpath={.kind}", "jsonpath-as-json={.kind}", "jsonpath-file=t", "go-template={{.kind}}", "jsonpath"]
    {
        let refused = run(&server, &format!("status deploy/web -o {format}")).ends_with(1);
        refused.says("is not supported: use -o json, and jq\n");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_plan_asks_the_server_as_its_dry_run_says() {
    let dry_runs = |line: &str| {
        let server = web();
        run(&server, line).ends_with(0);
        assert!(server.writes().is_empty(), "{line}");
        server.requests().iter().filter(|request| request.dry_run).count()
    };
    for line in ["plan deploy/web side=:v2", "restart deploy/web -c side --dry-run=server"] {
        assert!(dry_runs(line) > 0, "{line}");
    }
    assert!(dry_runs("plan deploy/web side=:v2 --dry-run=server") > 0);
    for line in ["plan deploy/web side=:v2 --dry-run=client", "plan deploy/web side=:v2 --dry-run"] {
        assert_eq!(dry_runs(line), 0, "{line}");
    }
    let deprecated = "Warning: --dry-run is deprecated and can be replaced with --dry-run=client";
    run(&web(), "plan deploy/web side=:v2 --dry-run").ends_with(0).says(deprecated);
    run(&web(), "plan deploy/web side=:v2 --dry-run=client").ends_with(0).omits(deprecated);
    let refused = run(&web(), "plan deploy/web side=:v2 --dry-run=none").ends_with(1);
    refused.says("[possible values: client, server]");
    for command in ["plan", "apply", "restart", "resume", "abort", "undo"] {
        Binary::alone([command, "-h"]).run().ends_with(0).prints("--dry-run[=<MODE>]");
    }
}

#[test]
fn other_commands_have_no_such_formats() {
    let server = web();
    for format in ["wide", "yaml", "name", "markdown"] {
        run(&server, &format!("apply deploy/web side=:v2 --yes -o {format}"))
            .ends_with(1)
            .says("allowed formats are: text,json\n");
    }
    assert!(server.requests().is_empty());
}
