//! Advanced StatefulSet (`openkruise/kruise` `pkg/controller/statefulset`): a StatefulSet under OnDelete or a partition.

use serde_json::Value;

use super::{GROUP, Policy, Rules, pod_waits};
use crate::kinds::{KindSpec, is_on_delete, stateful_set};
use crate::value::json_path::text;

pub(in crate::kinds) const SPEC: KindSpec = KindSpec {
    group: GROUP,
    version: "v1beta1",
    singular: "statefulset.apps.kruise.io",
    defaults: "KruiseStatefulSet",
    short_names: &["asts"],
    foresee: Some(|before, after| RULES.foresee(before, after)),
    left_to_controller,
    leaves_pods: |object| RULES.leaves_pods(object),
    pod_waits,
    is_fixed: |field| !CHANGEABLE.contains(&field),
    has_kubectl_rollout: false,
    ..stateful_set::SPEC
};

/// `ValidateStatefulSetUpdate` in `pkg/webhook/statefulset/validating/statefulset_validation.go`.
const CHANGEABLE: [&str; 11] = [
    "lifecycle",
    "ordinals",
    "persistentVolumeClaimRetentionPolicy",
    "replicas",
    "reserveOrdinals",
    "revisionHistoryLimit",
    "scaleStrategy",
    "template",
    "updateStrategy",
    "volumeClaimTemplates",
    "volumeClaimUpdateStrategy",
];

const RULES: Rules = Rules {
    policy: "/spec/updateStrategy/rollingUpdate/podUpdatePolicy",
    read: policy,
    words: "the policy must be ReCreate, InPlaceIfPossible or InPlaceOnly",
    replaces: "the policy is ReCreate, as by default; InPlaceIfPossible changes in place what it can",
    rolling: "/spec/updateStrategy/rollingUpdate",
    more: |_, _, _| Vec::new(),
};

fn policy(object: &Value) -> Option<Policy> {
    match text(object, RULES.policy) {
        _ if is_on_delete(object) => Some(Policy::OnDelete),
        "" | "ReCreate" => Some(Policy::ReCreate),
        "InPlaceIfPossible" => Some(Policy::InPlaceIfPossible),
        "InPlaceOnly" => Some(Policy::InPlaceOnly),
        _ => None,
    }
}

/// A partition divides the pods by ordinal, as that of a StatefulSet does, unless they have an order or gaps of their own.
fn left_to_controller(object: &Value) -> Option<(String, String)> {
    let has = |pointer: &str| {
        object.pointer(pointer).is_some_and(|value| value.as_array().is_none_or(|list| !list.is_empty()))
    };
    let is_by_ordinal = !has("/spec/updateStrategy/rollingUpdate/unorderedUpdate") && !has("/spec/reserveOrdinals");
    if is_by_ordinal { RULES.hook(object) } else { RULES.left_to_controller(object) }
}
