//! StatefulSet (kube-controller-manager `pkg/controller/statefulset`).

use serde_json::Value;

use super::{
    CONTROLLER_REVISION_HASH, FixedFields, HoldsBy, KindSpec, PodOrder, PodOwnership, Replicas, RevisionLabel,
    Revisions, Rounding, Unavailability, UpdatedBy, is_on_delete, max_unavailable, status,
};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "StatefulSet",
    group: "apps",
    version: "v1",
    plural: "statefulsets",
    singular: "statefulset",
    short_names: &["sts"],
    template: "/spec/template",
    selector: Some("/spec/selector"),
    updated_by: UpdatedBy::ThisProgram,
    pods: PodOwnership::Directly,
    replicas: Replicas::Spec,
    revisions: Revisions::ControllerRevisions(RevisionLabel::Name),
    holds_by: HoldsBy::OnDeleteOrPartition,
    unavailability: Unavailability::MaxUnavailable {
        path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
        rounding: Rounding::Down,
        value: max_unavailable,
    },
    order: PodOrder::OrdinalDescending,
    is_ordered_ready,
    rolling_out,
    // `ValidateStatefulSetUpdate` in `pkg/apis/apps/validation/validation.go`: any other field may not change, one that this
    // build does not know among them.
    fixed: FixedFields::AllBut(&[
        "minReadySeconds",
        "ordinals",
        "persistentVolumeClaimRetentionPolicy",
        "replicas",
        "revisionHistoryLimit",
        "template",
        "updateStrategy",
    ]),
    has_kubectl_rollout: true,
    pod_labels: &[CONTROLLER_REVISION_HASH, "apps.kubernetes.io/pod-index"],
    pod_prefixes: &["statefulset.kubernetes.io/"],
    counters: &[],
    template_generation: None,
};

/// Under RollingUpdate the controller is replacing pods while a pod at or above the partition has another revision.
fn rolling_out(object: &Value) -> Option<String> {
    if is_on_delete(object) {
        return None;
    }
    let revision =
        |field: &str| object.pointer(&format!("/status/{field}")).and_then(Value::as_str).unwrap_or_default();
    if revision("currentRevision") == revision("updateRevision") {
        return None;
    }
    let partition = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64).unwrap_or(0);
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1) - partition;
    let updated = status(object, "updatedReplicas");
    (updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated"))
}

/// `podManagementPolicy: Parallel` is the only other value.
fn is_ordered_ready(object: &Value) -> bool {
    object.pointer("/spec/podManagementPolicy").and_then(Value::as_str) != Some("Parallel")
}
