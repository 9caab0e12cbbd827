//! Advanced DaemonSet (`openkruise/kruise` `pkg/controller/daemonset`): a DaemonSet under OnDelete.

use serde_json::Value;

use super::{Course, GROUP, Policy, ROLLING_UPDATE_TYPE, Rules, obstacle};
use crate::kinds::{KindSpec, daemon_set, is_on_delete};
use crate::value::json_path::text;

pub(in crate::kinds) const SPEC: KindSpec = KindSpec {
    group: GROUP,
    version: "v1alpha1",
    singular: "daemonset.apps.kruise.io",
    defaults: "KruiseDaemonSet",
    short_names: &["ads"],
    foresee: Some(|before, after| RULES.foresee(before, after)),
    left_to_controller,
    leaves_pods: |object| RULES.leaves_pods(object),
    has_kubectl_rollout: false,
    ..daemon_set::SPEC
};

const RULES: Rules = Rules {
    policy: ROLLING_UPDATE_TYPE,
    read: policy,
    words: "the type must be Standard or InPlaceIfPossible",
    replaces: "the type is Standard, as by default; InPlaceIfPossible changes in place what it can",
    rolling: "/spec/updateStrategy/rollingUpdate",
    more: |before, _, (policy_after, changes)| {
        // `newPod` in `pkg/controller/daemonset/daemonset_controller.go`: only then a pod gets the readiness gate without
        // which it is replaced (`canPodInPlaceUpdate`).
        let is_new = changes && policy_after == Some(Policy::InPlaceIfPossible) && policy_after != policy(before);
        let obstacle = || {
            obstacle(
                "spec.updateStrategy.rollingUpdate.rollingUpdateType",
                Course::ReplacesPods,
                "it changes in place only pods that were created under InPlaceIfPossible",
            )
        };
        is_new.then(obstacle).into_iter().collect()
    },
};

fn policy(object: &Value) -> Option<Policy> {
    match text(object, RULES.policy) {
        _ if is_on_delete(object) => Some(Policy::OnDelete),
        "" | "Standard" | "Surging" => Some(Policy::ReCreate),
        "InPlaceIfPossible" => Some(Policy::InPlaceIfPossible),
        _ => None,
    }
}

fn left_to_controller(object: &Value) -> Option<(String, String)> {
    let path = "spec.updateStrategy.rollingUpdate.selector";
    let selector = object.pointer("/spec/updateStrategy/rollingUpdate/selector");
    let by_nodes = selector.map(|_| (path.to_owned(), "which nodes' pods stay as they are".to_owned()));
    by_nodes.or_else(|| RULES.left_to_controller(object))
}
