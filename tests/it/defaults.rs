//! Defaults against what a real API server (1.36.3) answered to `kubectl create --dry-run=server`.
//!
//! Of the answers, status and what the server or admission sets for each new object is left out: uid, times,
//! generation, namespace, managed fields; of pods the service account and its token volume, priority and the
//! tolerations of node taints.
#![expect(clippy::disallowed_methods, reason = "test vectors are read from their file")]

use engine::kinds::WorkloadKind;
use engine::merge::Schema;
use engine::merge::strategic_merge::{apply, three_way};
use serde_json::Value;

/// The tables of a kind as in a manifest.
pub(crate) fn tables(kind: &str) -> (Schema, Schema) {
    if kind == "PodTemplate" {
        return (Schema::named("PodTemplate"), Schema::named("PodTemplate"));
    }
    let kind = WorkloadKind::named(kind).expect("a kind that has tables");
    (kind.merge(), kind.defaults())
}

#[test]
fn fills_as_the_server() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/defaults.jsonl")).unwrap();
    let mut differences = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let (manifest, stored) = (&vector["manifest"], &vector["stored"]);
        let kind = manifest["kind"].as_str().unwrap();
        let (_, defaults) = tables(kind);
        compare(&format!("line {}: {kind}", number + 1), &defaults.fill(manifest), stored, &mut differences);
        if let Some(template) = manifest["spec"].get("template") {
            assert_eq!(Schema::POD_TEMPLATE.fill(template), stored["spec"]["template"]);
        }
        assert_eq!(&defaults.fill(stored), stored, "a stored {kind} is complete");
    }
    assert!(text.lines().count() >= 15, "vectors are missing");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A line is the spec of a manifest applied first, the live one after others had changed it, a second manifest, and what the
/// server answered to `kubectl apply --dry-run=server` of that one.
#[test]
fn patch_and_defaults_make_what_kubectl_apply_stores() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/kubectl_apply.jsonl")).unwrap();
    let mut differences = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let kind = vector["kind"].as_str().unwrap();
        let (schema, defaults) = tables(kind);
        let patch = three_way(Some(&vector["original"]), &vector["modified"], &vector["current"], schema).unwrap();
        let ours = defaults.fill(&apply(&vector["current"], &patch, schema).unwrap());
        compare(&format!("line {}: {kind}", number + 1), &ours, &vector["stored"], &mut differences);
    }
    assert!(text.lines().count() >= 20, "vectors are missing");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn compare(path: &str, ours: &Value, server: &Value, differences: &mut Vec<String>) {
    match (ours, server) {
        (Value::Object(ours), Value::Object(server)) => {
            for name in ours.keys().chain(server.keys().filter(|name| !ours.contains_key(*name))) {
                let absent = Value::from("(absent)");
                let (ours, server) = (ours.get(name).unwrap_or(&absent), server.get(name).unwrap_or(&absent));
                compare(&format!("{path}.{name}"), ours, server, differences);
            }
        }
        (Value::Array(ours), Value::Array(server)) if ours.len() == server.len() => {
            for (index, (ours, server)) in ours.iter().zip(server).enumerate() {
                compare(&format!("{path}[{index}]"), ours, server, differences);
            }
        }
        (ours, server) if ours != server => differences.push(format!("{path}: {ours}, server: {server}")),
        (_, _) => {}
    }
}
