//! What changes in an owner outside its pod template, and which of that the API server would refuse.

use serde_json::Value;

use crate::change::template;
use crate::kinds::WorkloadKind;
use crate::value::json_path;

/// Changed paths outside the template, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OutsideDiff {
    /// Those that the server refuses to change.
    pub(super) immutable: Vec<String>,
    /// All others.
    pub(super) other: Vec<String>,
}

/// Compares everything but the template; for a pod, everything but what a template has.
pub(super) fn diff(kind: WorkloadKind, before: &Value, after: &Value) -> OutsideDiff {
    let (before, after) = (without_template(kind, before), without_template(kind, after));
    let mut found = OutsideDiff::default();
    let nothing = Value::Null;
    let spec_before = before.get("spec").unwrap_or(&nothing);
    let spec_after = after.get("spec").unwrap_or(&nothing);
    for name in field_names(spec_before, spec_after).into_iter().filter(|name| kind.is_fixed(name)) {
        let before = spec_before.get(&name).unwrap_or(&nothing);
        let after = spec_after.get(&name).unwrap_or(&nothing);
        found.immutable.extend(template::changed_paths(before, after, &json_path::join("spec", &name)));
    }
    let paths = template::changed_paths(&before, &after, "").into_iter();
    // The same comparison produced the paths, whether they begin with an immutable field or exist on one side only.
    found.other = paths.filter(|path| !found.immutable.contains(path)).collect();
    found.immutable.sort();
    found
}

fn field_names(before: &Value, after: &Value) -> Vec<String> {
    let names = |spec: &Value| spec.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let mut all = names(before);
    all.extend(names(after));
    all.sort();
    all.dedup();
    all
}

fn without_template(kind: WorkloadKind, object: &Value) -> Value {
    let mut object = object.clone();
    let Value::Object(fields) = &mut object else { return object };
    if kind.has_template() {
        if let Some(Value::Object(spec)) = fields.get_mut("spec") {
            spec.shift_remove("template");
        }
        return object;
    }
    fields.shift_remove("spec");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.shift_remove("labels");
        metadata.shift_remove("annotations");
    }
    object
}
