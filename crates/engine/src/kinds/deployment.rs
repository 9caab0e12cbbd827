//! Deployment (kube-controller-manager `pkg/controller/deployment`).

use serde_json::Value;

use super::{
    HoldsBy, KindSpec, MaxUnavailable, OF_APPS, POD_TEMPLATE_HASH, REPLICA_SETS, Revisions, is_paused, status,
};
use crate::value::int_or_percent::IntOrPercent;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "Deployment",
    plural: "deployments",
    singular: "deployment",
    short_names: &["deploy"],
    owns_through: Some(REPLICA_SETS),
    revisions: Revisions::ReplicaSets,
    holds_by: HoldsBy::Paused,
    max_unavailable: Some(MaxUnavailable {
        path: "spec.strategy.rollingUpdate.maxUnavailable",
        rounds_up: false,
        value: max_unavailable,
    }),
    rolling_out,
    pod_labels: &[POD_TEMPLATE_HASH],
    counters: &[REVISION],
    ..OF_APPS
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
