//! `rbac`: the roles that it prints, and what it says of the server's answers.

use serde_json::{Value, json};

use crate::support::api_server::{Effect, When};
use crate::support::run::{Binary, Output};
use crate::support::scene::{run, typed, web};
use crate::support::snapshot::assert_snapshot;

fn alone(line: &str) -> Output {
    Binary::alone(line.split_whitespace()).run()
}

/// Returns the documents that a role's YAML holds, as kubectl would read them.
fn documents(yaml: &str) -> Vec<Value> {
    let manifests = kubectl_inplace::manifest::parse("role.yaml", yaml.as_bytes()).expect("it is YAML");
    manifests.into_iter().map(|manifest| manifest.object).collect()
}

/// Uncomments every line that is a rule in a comment, as the user would.
fn uncommented(yaml: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => format!("{rest}\n"),
        Some(_) | None => format!("{line}\n"),
    };
    yaml.lines().map(line).collect()
}

#[test]
fn a_role_is_printed_without_a_cluster() {
    for (name, line) in [
        ("rbac-apply-deployment", "rbac apply deployment -n shop"),
        ("rbac-apply-deployment-optional", "rbac apply deploy --optional"),
        ("rbac-apply-pod-pods-only", "rbac apply pod --pods-only"),
        ("rbac-apply-all", "rbac apply -A"),
        ("rbac-hash-pod", "rbac hash po"),
    ] {
        let output = alone(line).ends_with(0);
        assert_eq!(output.stderr, "", "{line}");
        assert_snapshot(name, &output.stdout);
    }
}

#[test]
fn yaml_and_json_are_the_same_roles_and_a_comment_becomes_a_rule() {
    for line in ["apply deployment", "status sts -n 1e3", "follow -A", "apply pod --pods-only", "diff daemonset"] {
        let items = |more: &str| {
            let document = alone(&format!("rbac {line} -o json {more}")).ends_with(0).json();
            assert_eq!(document["kind"], "List", "{line}");
            document["items"].as_array().cloned().unwrap_or_default()
        };
        let (required, optional) = (items(""), items("--optional"));
        let text = alone(&format!("rbac {line}")).ends_with(0).stdout;
        assert_eq!(documents(&text), required, "{line}");
        assert_eq!(documents(&uncommented(&text)), optional, "{line}");
        assert_eq!(documents(&alone(&format!("rbac {line} --optional")).ends_with(0).stdout), optional, "{line}");
    }
    let role = alone("rbac apply pod -n shop -o json").ends_with(0).json();
    assert_eq!(
        role["items"],
        json!([{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "kubectl-inplace-apply-pod", "namespace": "shop"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "patch"]}]}])
    );
}

#[test]
fn wrong_usage_is_refused() {
    alone("rbac").ends_with(1).says("COMMAND");
    alone("rbac explain").ends_with(1).says("possible values");
    alone("rbac apply job").ends_with(1).says("possible values");
    alone("rbac status --pods-only").ends_with(1).says("--pods-only makes no difference to status");
}

#[test]
fn a_check_asks_about_each_verb_and_changes_nothing() {
    let server = web();
    let output = run(&server, "rbac apply deployment --check -n shop").ends_with(0);
    assert_snapshot("rbac-check-text", &output.block());
    assert!(server.writes().is_empty(), "{:?}", server.writes());
    let document = run(&server, "rbac apply deployment --check -o json -n shop").ends_with(0).json();
    let permissions = document["permissions"].as_array().cloned().unwrap_or_default();
    let asked: Vec<Value> = server
        .requests()
        .iter()
        .rev()
        .take(permissions.len())
        .map(|request| request.json()["spec"]["resourceAttributes"].clone())
        .collect();
    for permission in &permissions {
        let is_node = permission["resource"] == "nodes" || permission["resource"].to_string().contains("self");
        let (resource, subresource) = match permission["resource"].as_str().and_then(|plural| plural.split_once('/')) {
            Some((resource, subresource)) => (json!(resource), Some(subresource)),
            None => (permission["resource"].clone(), None),
        };
        let mut attributes = json!({"verb": permission["verb"], "group": permission["group"],
            "resource": resource, "namespace": if is_node { "" } else { "shop" }});
        if let Some(subresource) = subresource {
            attributes["subresource"] = subresource.into();
        }
        assert!(asked.contains(&attributes), "{attributes}: {asked:#?}");
    }
    assert_eq!((&document["kind"], &document["result"]), (&"AccessCheck".into(), &"complete".into()));
}

#[test]
fn each_missing_verb_is_named_and_what_is_optional_does_not_fail() {
    let server = web();
    server.fault(When::verb("patch").of("replicasets"), Effect::Forbid);
    server.fault(When::verb("watch").of("pods"), Effect::Forbid);
    server.fault(When::verb("list").of("events"), Effect::Forbid);
    let output = run(&server, "rbac apply deployment --check")
        .ends_with(3)
        .says("missing: watch pods in namespace default")
        .says("missing: patch replicasets.apps in namespace default")
        .says("hint: the Role that gives it is printed by: kubectl inplace rbac apply deployment -n default\n");
    assert_eq!(output.stderr.matches("missing:").count(), 2, "{}", output.block());
    let all = run(&server, "rbac apply -A --check -o json").ends_with(3).says("watch pods in all namespaces").json();
    assert_eq!(all["result"], "notEligible");
    let refused = all["permissions"].as_array().into_iter().flatten().filter(|one| one["allowed"] == false);
    let refused: Vec<String> = refused.map(|one| format!("{} {}", one["verb"], one["resource"])).collect();
    assert_eq!(refused, [r#""patch" "replicasets""#, r#""watch" "pods""#, r#""list" "events""#]);
    // Pods alone do without the ReplicaSet's template.
    server.clear_faults();
    server.fault(When::verb("patch").of("replicasets"), Effect::Forbid);
    server.fault(When::verb("list").of("events"), Effect::Forbid);
    run(&server, "rbac apply deployment --pods-only --check").ends_with(0).prints("optional: proves a restart");
    // Whoever checks is told of what is optional anyway.
    run(&server, "rbac apply --check --optional").ends_with(1).says("cannot be used with");
}

#[test]
fn a_server_that_does_not_answer_is_an_error() {
    let server = web();
    let check = typed(&server, "rbac apply --check --request-timeout 5s");
    drop(server);
    check.run().ends_with(1);
}
