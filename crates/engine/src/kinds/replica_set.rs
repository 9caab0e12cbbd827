//! ReplicaSet (kube-controller-manager `pkg/controller/replicaset`): never replaces a pod because its template changed.

use super::{
    FixedFields, HoldsBy, KindSpec, PodOrder, PodOwnership, Replicas, Revisions, Unavailability, UpdatedBy,
    never_rolls_out, unordered,
};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "ReplicaSet",
    group: "apps",
    version: "v1",
    plural: "replicasets",
    singular: "replicaset",
    short_names: &["rs"],
    template: "/spec/template",
    selector: Some("/spec/selector"),
    updated_by: UpdatedBy::ThisProgram,
    pods: PodOwnership::Directly,
    replicas: Replicas::Spec,
    revisions: Revisions::None,
    holds_by: HoldsBy::Nothing,
    unavailability: Unavailability::OneAtATime,
    order: PodOrder::Name,
    is_ordered_ready: unordered,
    rolling_out: never_rolls_out,
    // `ValidateReplicaSetUpdate`.
    fixed: FixedFields::Only(&["selector"]),
    has_kubectl_rollout: false,
    pod_labels: &[],
    pod_prefixes: &[],
    counters: &[],
    template_generation: None,
};
