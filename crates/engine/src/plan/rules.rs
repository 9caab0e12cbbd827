//! What a difference between two templates blocks: every changed path that no rule claims, and what a rule refuses.

use serde_json::Value;

use crate::change::reason::Reason;
use crate::change::template;
use crate::change::{Difference, Direction};
use crate::k8s::workload::Workload;

/// Returns why the difference cannot be brought into running pods; all reasons at once.
///
/// What depends on the pod is judged pod by pod: sidecars and their kubelets, containers that read changed metadata.
pub fn refused(diff: &Difference, workload: &Workload, direction: Direction) -> Vec<Reason> {
    let (change, qos, diff) = (&diff.change, diff.qos, &diff.rest);
    let mut reasons = Vec::new();
    for added in &diff.added {
        reasons.push(Reason::ContainerAdded { list: added.list, container: added.name.clone() });
    }
    for removed in &diff.removed {
        reasons.push(Reason::ContainerRemoved { list: removed.list, container: removed.name.clone() });
    }
    for (container, to) in &diff.renamed {
        let container = (container.list, container.name.clone());
        reasons.push(Reason::ContainerRenamed { list: container.0, container: container.1, to: to.clone() });
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
        claim.remove("status");
    }
    claims
}
