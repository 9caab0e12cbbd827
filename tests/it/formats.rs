//! `plan -o wide|json|yaml|name`: what each adds, what each asks the server for, and that stdout holds nothing else.

use kubectl_inplace::engine::k8s::container_hash::{HashEra, container_hash};
use kubectl_inplace::manifest;
use serde_json::{Value, json};

use crate::support::api_server::{ApiServer, Effect, When, image_id};
use crate::support::scene::{run, web};

const PLAN: &str = "plan deploy/web side=acme/side:v2";

fn hash(image: &str) -> String {
    container_hash(HashEra::NameAndImage, &json!({"name": "side", "image": image})).to_string()
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
        assert_eq!(block.contains("NotRead"), warns, "{block}");
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

#[test]
fn other_commands_have_no_such_formats() {
    let server = web();
    for format in ["wide", "yaml", "name", "markdown"] {
        run(&server, &format!("apply deploy/web side=:v2 --yes -o {format}"))
            .ends_with(1)
            .says("possible values: text, json");
    }
    assert!(server.requests().is_empty());
}
