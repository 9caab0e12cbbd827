//! Deployment (kube-controller-manager `pkg/controller/deployment`).

use serde_json::Value;

use super::{
    FixedFields, HoldsBy, KindSpec, POD_TEMPLATE_HASH, PodOrder, PodOwnership, REPLICA_SETS, Replicas, Revisions,
    Rounding, Unavailability, UpdatedBy, is_paused, status, unordered,
};
use crate::value::int_or_percent::IntOrPercent;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "Deployment",
    group: "apps",
    version: "v1",
    plural: "deployments",
    singular: "deployment",
    short_names: &["deploy"],
    template: "/spec/template",
    selector: Some("/spec/selector"),
    updated_by: UpdatedBy::ThisProgram,
    pods: PodOwnership::Through(REPLICA_SETS),
    replicas: Replicas::Spec,
    revisions: Revisions::ReplicaSets,
    holds_by: HoldsBy::Paused,
    unavailability: Unavailability::MaxUnavailable {
        path: "spec.strategy.rollingUpdate.maxUnavailable",
        rounding: Rounding::Down,
        value: max_unavailable,
    },
    order: PodOrder::Name,
    is_ordered_ready: unordered,
    rolling_out,
    // `ValidateDeploymentUpdate`.
    fixed: FixedFields::Only(&["selector"]),
    has_kubectl_rollout: true,
    pod_labels: &[POD_TEMPLATE_HASH],
    pod_prefixes: &[],
    counters: &[REVISION],
    template_generation: None,
};

/// Recreate has none, so one at a time.
fn max_unavailable(object: &Value) -> Option<IntOrPercent> {
    let strategy = object.pointer("/spec/strategy/type").and_then(Value::as_str).unwrap_or("RollingUpdate");
    if strategy == "Recreate" {
        return None;
    }
    let value = object
        .pointer("/spec/strategy/rollingUpdate/maxUnavailable")
        .and_then(|value| IntOrPercent::from_value(value).ok());
    Some(value.unwrap_or(IntOrPercent::Percent(25)))
}

/// As `kubectl rollout status` asks: observed, all updated, none of the old ones left.
fn rolling_out(object: &Value) -> Option<String> {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let (updated, all) = (status(object, "updatedReplicas"), status(object, "replicas"));
    if is_paused(object) && updated == 0 {
        // A paused Deployment counts no updated replica after a template change, and replaces nothing until resumed.
        return None;
    }
    (updated < all || updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated, {all} exist"))
}
