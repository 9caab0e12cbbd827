//! SidecarSet (`openkruise/kruise` `pkg/controller/sidecarset`): it injects containers into pods when they are created, and its
//! controller gives running pods their new images.

use super::GROUP;
use crate::kinds::{KindSpec, OF_APPS, Replicas};

pub(in crate::kinds) const SPEC: KindSpec = KindSpec {
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

/// Returns the merge patch with which its controller goes on that this field of the update strategy keeps from it.
pub fn lifts_hold(field: &str) -> String {
    let value = match field {
        "paused" => "false",
        "type" => r#""RollingUpdate""#,
        "selector" => "null",
        _ => "0",
    };
    format!(r#"{{"spec":{{"updateStrategy":{{"{field}":{value}}}}}}}"#)
}
