//! DaemonSet (kube-controller-manager `pkg/controller/daemon`).

use serde_json::Value;

use super::{
    CONTROLLER_REVISION_HASH, HoldsBy, KindSpec, MaxUnavailable, OF_APPS, PodOrder, Replicas, RevisionLabel, Revisions,
    TemplateGeneration, is_on_delete, max_unavailable, status,
};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "DaemonSet",
    plural: "daemonsets",
    singular: "daemonset",
    short_names: &["ds"],
    replicas: Replicas::Scheduled,
    revisions: Revisions::ControllerRevisions(RevisionLabel::Hash),
    holds_by: HoldsBy::OnDelete,
    max_unavailable: Some(MaxUnavailable {
        path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
        rounds_up: true,
        value: max_unavailable,
    }),
    order: PodOrder::Node,
    rolling_out,
    pod_labels: &[CONTROLLER_REVISION_HASH, GENERATION.label],
    counters: &[GENERATION.annotation],
    template_generation: Some(GENERATION),
    ..OF_APPS
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
