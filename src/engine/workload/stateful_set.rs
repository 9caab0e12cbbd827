//! StatefulSet (kube-controller-manager `pkg/controller/statefulset`).

use std::cmp::Ordering;

use serde_json::Value;

use super::{KindFacts, OwnerUnavailable, count};
use crate::engine::int_or_percent::IntOrPercent;
use crate::engine::pod::Pod;

pub(super) const FACTS: KindFacts = KindFacts {
    kind: "StatefulSet",
    group: "apps",
    version: "v1",
    plural: "statefulsets",
    singular: "statefulset",
    short_names: &["sts"],
};

/// `maxUnavailable` of a StatefulSet rounds up (`getStatefulSetMaxUnavailable`) and is 1 unless given.
pub(super) fn unavailable(object: &Value) -> OwnerUnavailable {
    let value = object
        .pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable")
        .and_then(|value| IntOrPercent::from_value(value).ok());
    value.map_or(OwnerUnavailable::One, |to| OwnerUnavailable::Up { to, rounds_up: true })
}

/// Under RollingUpdate the controller is replacing pods while a pod at or above the partition has another revision.
pub(super) fn rolling_out(object: &Value) -> Option<String> {
    if object.pointer("/spec/updateStrategy/type").and_then(Value::as_str) == Some("OnDelete") {
        return None;
    }
    let revision =
        |field: &str| object.pointer(&format!("/status/{field}")).and_then(Value::as_str).unwrap_or_default();
    if revision("currentRevision") == revision("updateRevision") {
        return None;
    }
    let partition = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64).unwrap_or(0);
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1) - partition;
    let updated = count(object, "updatedReplicas");
    (updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated"))
}

/// `podManagementPolicy: Parallel` is the only other value.
pub(super) fn is_ordered_ready(object: &Value) -> bool {
    object.pointer("/spec/podManagementPolicy").and_then(Value::as_str) != Some("Parallel")
}

/// The highest ordinal first, as the controller does.
pub(super) fn order(a: &Pod, b: &Pod) -> Ordering {
    ordinal(&b.key.name).cmp(&ordinal(&a.key.name)).then_with(|| a.key.name.cmp(&b.key.name))
}

fn ordinal(pod: &str) -> Option<u64> {
    pod.rsplit_once('-')?.1.parse().ok()
}
