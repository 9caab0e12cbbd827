//! Tables of cases.

mod scalars;

use serde_json::Value;

use super::parse;

/// A custom resource with the given lines below `spec`.
fn object(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: a\nspec:\n{spec}")
}

/// The `spec` of the only object of a text.
fn spec(text: &str) -> Option<Value> {
    let manifests = parse("a.yaml", text.as_bytes()).ok()?;
    manifests.first()?.object.get("spec").cloned()
}
