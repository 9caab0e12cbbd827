//! Deployment (kube-controller-manager `pkg/controller/deployment`).

use serde_json::Value;

use super::{KindFacts, OwnerUnavailable, count};
use crate::engine::int_or_percent::IntOrPercent;

pub(super) const FACTS: KindFacts = KindFacts {
    kind: "Deployment",
    group: "apps",
    version: "v1",
    plural: "deployments",
    singular: "deployment",
    short_names: &["deploy"],
};

/// `maxUnavailable` rounds down (`deploymentutil.ResolveFenceposts`); Recreate has none, so one at a time.
pub(super) fn unavailable(object: &Value) -> OwnerUnavailable {
    let strategy = object.pointer("/spec/strategy/type").and_then(Value::as_str).unwrap_or("RollingUpdate");
    if strategy == "Recreate" {
        return OwnerUnavailable::One;
    }
    let value = object
        .pointer("/spec/strategy/rollingUpdate/maxUnavailable")
        .and_then(|value| IntOrPercent::from_value(value).ok());
    OwnerUnavailable::Up { to: value.unwrap_or(IntOrPercent::Percent(25)), rounds_up: false }
}

/// As `kubectl rollout status` asks: observed, all updated, none of the old ones left.
pub(super) fn rolling_out(object: &Value) -> Option<String> {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let (updated, all) = (count(object, "updatedReplicas"), count(object, "replicas"));
    if object.pointer("/spec/paused").and_then(Value::as_bool) == Some(true) && updated == 0 {
        // A paused Deployment counts no updated replica after a template change, and replaces nothing until resumed.
        return None;
    }
    (updated < all || updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated, {all} exist"))
}
