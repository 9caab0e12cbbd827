//! StatefulSet (kube-controller-manager `pkg/controller/statefulset`).

use super::{
    CONTROLLER_REVISION_HASH, HoldsBy, KindSpec, MaxUnavailable, OF_APPS, PodOrder, RevisionLabel, Revisions,
    is_on_delete, max_unavailable, status,
};
use crate::value::json_path::{integer, text};
use serde_json::Value;

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "StatefulSet",
    plural: "statefulsets",
    singular: "statefulset",
    short_names: &["sts"],
    revisions: Revisions::ControllerRevisions(RevisionLabel::Name),
    holds_by: HoldsBy::OnDeleteOrPartition,
    max_unavailable: Some(MaxUnavailable {
        path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
        rounds_up: false,
        value: max_unavailable,
    }),
    order: PodOrder::OrdinalDescending,
    is_ordered_ready,
    rolling_out,
    is_fixed: |field| !CHANGEABLE.contains(&field),
    pod_labels: &[CONTROLLER_REVISION_HASH, "apps.kubernetes.io/pod-index"],
    pod_prefixes: &["statefulset.kubernetes.io/"],
    ..OF_APPS
};

/// `ValidateStatefulSetUpdate` in `pkg/apis/apps/validation/validation.go`: any other field may not change, one that this
/// build does not know among them.
const CHANGEABLE: [&str; 7] = [
    "minReadySeconds",
    "ordinals",
    "persistentVolumeClaimRetentionPolicy",
    "replicas",
    "revisionHistoryLimit",
    "template",
    "updateStrategy",
];

/// Under RollingUpdate the controller is replacing pods while a pod at or above the partition has another revision.
fn rolling_out(object: &Value) -> Option<String> {
    if is_on_delete(object) {
        return None;
    }
    let revision = |field: &str| text(object, &format!("/status/{field}"));
    if revision("currentRevision") == revision("updateRevision") {
        return None;
    }
    let partition = integer(object, "/spec/updateStrategy/rollingUpdate/partition");
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1) - partition;
    let updated = status(object, "updatedReplicas");
    (updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated"))
}

/// `podManagementPolicy: Parallel` is the only other value.
fn is_ordered_ready(object: &Value) -> bool {
    object.pointer("/spec/podManagementPolicy").and_then(Value::as_str) != Some("Parallel")
}
