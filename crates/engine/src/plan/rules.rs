//! What a difference between two objects blocks: every changed path of the template that no rule claims, what a rule refuses,
//! and outside the template what the API server would refuse.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::change::reason::Reason;
use crate::change::template;
use crate::change::{Difference, Direction};
use crate::k8s::workload::Workload;
use crate::kinds::WorkloadKind;
use crate::value::json_path;

/// Returns why the difference cannot be brought into running pods; all reasons at once.
///
/// What depends on the pod is judged pod by pod: sidecars and their kubelets, containers that read changed metadata.
pub fn refused(diff: &Difference, workload: &Workload, direction: Direction) -> Vec<Reason> {
    let (change, qos, diff) = (&diff.change, diff.qos, &diff.rest);
    let mut reasons = Vec::new();
    for (list, container) in diff.added.iter().cloned() {
        reasons.push(Reason::ContainerAdded { list, container });
    }
    for (list, container) in diff.removed.iter().cloned() {
        reasons.push(Reason::ContainerRemoved { list, container });
    }
    for ((list, container), to) in diff.renamed.iter().cloned() {
        reasons.push(Reason::ContainerRenamed { list, container, to });
    }
    reasons.extend(diff.other.iter().map(|path| Reason::TemplateFieldNotInPlace { path: path.clone() }));
    if let Some((from, to)) = qos {
        reasons.push(Reason::QosClassChanges { from: from.into(), to: to.into() });
    }
    reasons.extend(change.refused(workload, direction));
    reasons
}

/// Returns the reasons that a change of a StatefulSet's volume claim templates gives.
pub(super) fn claims_refused(workload: &Workload, desired: &Value) -> Vec<Reason> {
    let pointer = "/spec/volumeClaimTemplates";
    let (Some(before), Some(after)) = (workload.object.pointer(pointer), desired.pointer(pointer)) else {
        return Vec::new();
    };
    let (before, after) = (without_status(before), without_status(after));
    let paths = template::changed_paths(&before, &after, "spec.volumeClaimTemplates");
    paths.into_iter().map(|path| Reason::VolumeClaimTemplateChanges { path }).collect()
}

/// The API server fills in a status for each claim.
fn without_status(claims: &Value) -> Value {
    let mut claims = claims.clone();
    for claim in claims.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        claim.shift_remove("status");
    }
    claims
}

/// Compares everything but the template; for a pod, everything but what a template has. Returns the changed paths that the
/// server refuses to change, and all others, both sorted.
pub(super) fn outside(kind: WorkloadKind, before: &Value, after: &Value) -> (Vec<String>, Vec<String>) {
    let (before, after) = (without_template(kind, before), without_template(kind, after));
    let nothing = Value::Null;
    let spec_before = before.get("spec").unwrap_or(&nothing);
    let spec_after = after.get("spec").unwrap_or(&nothing);
    let mut immutable = Vec::new();
    for name in field_names(spec_before, spec_after).into_iter().filter(|name| (kind.spec().is_fixed)(name)) {
        let before = spec_before.get(name).unwrap_or(&nothing);
        let after = spec_after.get(name).unwrap_or(&nothing);
        immutable.extend(template::changed_paths(before, after, &json_path::join("spec", name)));
    }
    // The same comparison produced the paths, whether they begin with an immutable field or exist on one side only.
    let mut other = template::changed_paths(&before, &after, "");
    other.retain(|path| !immutable.contains(path));
    immutable.sort();
    (immutable, other)
}

fn field_names<'v>(before: &'v Value, after: &'v Value) -> BTreeSet<&'v String> {
    let names = |spec: &'v Value| spec.as_object().into_iter().flatten().map(|(name, _)| name);
    names(before).chain(names(after)).collect()
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
