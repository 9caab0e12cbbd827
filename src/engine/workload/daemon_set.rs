//! DaemonSet (kube-controller-manager `pkg/controller/daemon`).

use std::cmp::Ordering;

use serde_json::Value;

use super::{KindFacts, OwnerUnavailable, count};
use crate::engine::int_or_percent::IntOrPercent;
use crate::engine::pod::Pod;

pub(super) const FACTS: KindFacts = KindFacts {
    kind: "DaemonSet",
    group: "apps",
    version: "v1",
    plural: "daemonsets",
    singular: "daemonset",
    short_names: &["ds"],
};

/// `maxUnavailable` of a DaemonSet rounds up (`util.UnavailableCount`) and is 1 by default.
pub(super) fn unavailable(object: &Value) -> OwnerUnavailable {
    let value = object
        .pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable")
        .and_then(|value| IntOrPercent::from_value(value).ok());
    value.map_or(OwnerUnavailable::One, |to| OwnerUnavailable::Up { to, rounds_up: true })
}

/// Under RollingUpdate the controller replaces what is not updated.
pub(super) fn rolling_out(object: &Value) -> Option<String> {
    if object.pointer("/spec/updateStrategy/type").and_then(Value::as_str) == Some("OnDelete") {
        return None;
    }
    let (updated, wanted) = (count(object, "updatedNumberScheduled"), count(object, "desiredNumberScheduled"));
    (updated < wanted).then(|| format!("{updated} of {wanted} pods are updated"))
}

/// By node, then by name.
pub(super) fn order(a: &Pod, b: &Pod) -> Ordering {
    (&a.spec.node_name, &a.key.name).cmp(&(&b.spec.node_name, &b.key.name))
}
