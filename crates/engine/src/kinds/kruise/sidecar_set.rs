//! SidecarSet (`openkruise/kruise` `pkg/controller/sidecarset`): it injects containers into pods when they are created, and its
//! controller gives running pods their new images.

use super::GROUP;
use crate::kinds::{KindSpec, MaxUnavailable, OF_APPS, Replicas};
use crate::value::int_or_percent::IntOrPercent;

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "SidecarSet",
    group: GROUP,
    version: "v1alpha1",
    cluster_wide: true,
    plural: "sidecarsets",
    singular: "sidecarset",
    template: "",
    selector: None,
    replicas: Replicas::Matched,
    // `calculateUpgradeCount` in `sidecarset_strategy.go`.
    max_unavailable: Some(MaxUnavailable {
        path: "spec.updateStrategy.maxUnavailable",
        rounds_up: true,
        value: |object| IntOrPercent::from_value(object.pointer("/spec/updateStrategy/maxUnavailable")?).ok(),
    }),
    is_fixed: |_| false,
    has_kubectl_rollout: false,
    ..OF_APPS
};

/// Returns the merge patch with which the controller of a SidecarSet goes on that this field keeps from it.
pub fn lifts_hold(path: &str) -> Option<&'static str> {
    match path {
        "spec.updateStrategy.paused" => Some(r#"{"spec":{"updateStrategy":{"paused":false}}}"#),
        "spec.updateStrategy.type" => Some(r#"{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}"#),
        "spec.updateStrategy.selector" => Some(r#"{"spec":{"updateStrategy":{"selector":null}}}"#),
        "spec.updateStrategy.partition" => Some(r#"{"spec":{"updateStrategy":{"partition":0}}}"#),
        _ => None,
    }
}
