//! DaemonSet (kube-controller-manager `pkg/controller/daemon`).

use serde_json::Value;

use super::{
    CONTROLLER_REVISION_HASH, FixedFields, HoldsBy, KindSpec, PodOrder, PodOwnership, Replicas, RevisionLabel,
    Revisions, Rounding, TemplateGeneration, Unavailability, UpdatedBy, is_on_delete, max_unavailable, status,
    unordered,
};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "DaemonSet",
    group: "apps",
    version: "v1",
    plural: "daemonsets",
    singular: "daemonset",
    short_names: &["ds"],
    template: "/spec/template",
    selector: Some("/spec/selector"),
    updated_by: UpdatedBy::ThisProgram,
    pods: PodOwnership::Directly,
    replicas: Replicas::Scheduled,
    revisions: Revisions::ControllerRevisions(RevisionLabel::Hash),
    holds_by: HoldsBy::OnDelete,
    unavailability: Unavailability::MaxUnavailable {
        path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
        rounding: Rounding::Up,
        value: max_unavailable,
    },
    order: PodOrder::Node,
    is_ordered_ready: unordered,
    rolling_out,
    // `ValidateDaemonSetUpdate`.
    fixed: FixedFields::Only(&["selector"]),
    has_kubectl_rollout: true,
    pod_labels: &[CONTROLLER_REVISION_HASH, GENERATION.label],
    pod_prefixes: &[],
    counters: &[GENERATION.annotation],
    template_generation: Some(GENERATION),
};

/// `IsPodUpdated` takes either label for the revision.
const GENERATION: TemplateGeneration =
    TemplateGeneration { annotation: "deprecated.daemonset.template.generation", label: "pod-template-generation" };

/// Under RollingUpdate the controller replaces what is not updated.
fn rolling_out(object: &Value) -> Option<String> {
    if is_on_delete(object) {
        return None;
    }
    let (updated, wanted) = (status(object, "updatedNumberScheduled"), status(object, "desiredNumberScheduled"));
    (updated < wanted).then(|| format!("{updated} of {wanted} pods are updated"))
}
