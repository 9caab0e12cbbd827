//! Argo Rollouts' Rollout (`argoproj/argo-rollouts` `rollout`): a change of its template makes a new ReplicaSet, whatever the
//! strategy, and nothing but its own status keeps the controller from that. Its pods alone can be updated.

use serde_json::Value;

use super::{KindSpec, MaxUnavailable, OF_APPS, REPLICA_SETS, Revisions, status};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::text;

pub(super) const REVISION: &str = "rollout.argoproj.io/revision";

pub(super) const SPEC: KindSpec = KindSpec {
    kind: "Rollout",
    group: "argoproj.io",
    version: "v1alpha1",
    plural: "rollouts",
    singular: "rollout",
    short_names: &["ro"],
    owns_through: Some(REPLICA_SETS),
    left_to_controller: |_| {
        Some(("spec.strategy".into(), "how a new template reaches the pods: new ones take their place".into()))
    },
    revisions: Revisions::ReplicaSets,
    max_unavailable: Some(MaxUnavailable {
        path: "spec.strategy.canary.maxUnavailable",
        rounds_up: false,
        value: |object| IntOrPercent::from_value(object.pointer("/spec/strategy/canary/maxUnavailable")?).ok(),
    }),
    rolling_out,
    is_fixed: |_| false,
    has_kubectl_rollout: false,
    pod_labels: &["rollouts-pod-template-hash"],
    counters: &[REVISION],
    ..OF_APPS
};

/// Two ReplicaSets have pods until the controller takes the new one for the stable one (`promoteStable`), and an aborted
/// rollout goes back.
fn rolling_out(object: &Value) -> Option<String> {
    let is_set = |pointer: &str| object.pointer(pointer).is_some_and(|value| *value != Value::Bool(false));
    if is_set("/status/abort") {
        return Some("the rollout was aborted".into());
    }
    if is_set("/spec/paused") || object.pointer("/status/pauseConditions").is_some_and(Value::is_array) {
        return Some("the rollout is paused".into());
    }
    let hash = |field: &str| text(object, &format!("/status/{field}"));
    let (stable, current) = (hash("stableRS"), hash("currentPodHash"));
    let (updated, all) = (status(object, "updatedReplicas"), status(object, "replicas"));
    (stable != current || updated < all)
        .then(|| format!("{updated} of {all} replicas are updated, and it is not stable yet"))
}
