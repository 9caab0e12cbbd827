//! Strategic merge patches against vectors made with Kubernetes' own `strategicpatch` (k8s.io/apimachinery 0.36.3).
//!
//! A line is one triple as `kubectl apply` sees it and what upstream stores of it: `CreateThreeWayMergePatch` with
//! `overwrite`, then `StrategicMergePatch` on the current object, then nulls dropped as the server's decoder does. Triples
//! that upstream refuses, or of which it stores directives, are not among them.
#![expect(clippy::disallowed_methods, reason = "test vectors are read from their file")]

use engine::merge::strategic_merge::{apply, three_way};
use serde_json::Value;

#[test]
fn merges_as_upstream() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/strategic_merge.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let mut failed = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let schema = crate::defaults::tables(vector["kind"].as_str().unwrap()).0;
        let original = vector.get("original").filter(|original| !original.is_null());
        let patch = three_way(original, &vector["modified"], &vector["current"], schema).unwrap();
        let merged = apply(&vector["current"], &patch, schema).unwrap();
        if patch != vector["patch"] || merged != vector["merged"] {
            failed.push(format!(
                "line {}:\n  patch    {patch}\n  merged   {merged}\n  upstream {}",
                number + 1,
                vector["merged"]
            ));
        }
    }
    assert!(text.lines().count() >= 150, "vectors are missing");
    assert!(failed.is_empty(), "{} vectors differ; the first: {}", failed.len(), failed[0]);
}
