//! Pod: its own template.

use super::{
    FixedFields, HoldsBy, KindSpec, PodOrder, PodOwnership, Replicas, Revisions, Unavailability, UpdatedBy,
    never_rolls_out, unordered,
};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "Pod",
    group: "",
    version: "v1",
    plural: "pods",
    singular: "pod",
    short_names: &["po"],
    template: "",
    selector: None,
    updated_by: UpdatedBy::ThisProgram,
    pods: PodOwnership::Itself,
    replicas: Replicas::One,
    revisions: Revisions::None,
    holds_by: HoldsBy::Nothing,
    unavailability: Unavailability::OneAtATime,
    order: PodOrder::Name,
    is_ordered_ready: unordered,
    rolling_out: never_rolls_out,
    fixed: FixedFields::Only(&[]),
    has_kubectl_rollout: false,
    pod_labels: &[],
    pod_prefixes: &[],
    counters: &[],
    template_generation: None,
};
