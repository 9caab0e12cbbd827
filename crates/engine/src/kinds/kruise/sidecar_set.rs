//! SidecarSet (`openkruise/kruise` `pkg/controller/sidecarset`): it injects containers into pods when they are created, and its
//! controller gives running pods their new images.

use super::GROUP;
use crate::kinds::{KindSpec, OF_APPS, Replicas};

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "SidecarSet",
    group: GROUP,
    version: "v1alpha1",
    cluster_wide: true,
    plural: "sidecarsets",
    singular: "sidecarset",
    template: "",
    replicas: Replicas::One,
    is_fixed: |_| false,
    has_kubectl_rollout: false,
    ..OF_APPS
};

/// Returns the merge patch with which its controller goes on that this field keeps from it.
pub fn lifts_hold(path: &str) -> Option<&'static str> {
    match path {
        "spec.updateStrategy.paused" => Some(r#"{"spec":{"updateStrategy":{"paused":false}}}"#),
        "spec.updateStrategy.type" => Some(r#"{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}"#),
        "spec.updateStrategy.selector" => Some(r#"{"spec":{"updateStrategy":{"selector":null}}}"#),
        "spec.updateStrategy.partition" => Some(r#"{"spec":{"updateStrategy":{"partition":0}}}"#),
        _ => None,
    }
}
