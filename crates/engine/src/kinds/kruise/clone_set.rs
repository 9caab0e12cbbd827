//! CloneSet (`openkruise/kruise` `pkg/controller/cloneset`).

use serde_json::Value;

use super::{Course, GROUP, Obstacle, Policy, Rules, obstacle, pod_waits};
use crate::kinds::{
    CONTROLLER_REVISION_HASH, HoldsBy, KindSpec, MaxUnavailable, OF_APPS, POD_TEMPLATE_HASH, RevisionLabel, Revisions,
    is_on_delete, status,
};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::text;

pub(in crate::kinds) const SPEC: KindSpec = KindSpec {
    kind: "CloneSet",
    group: GROUP,
    version: "v1alpha1",
    plural: "clonesets",
    singular: "cloneset",
    short_names: &["clone"],
    foresee: Some(|before, after| RULES.foresee(before, after)),
    left_to_controller: |object| RULES.left_to_controller(object),
    leaves_pods: |object| RULES.leaves_pods(object),
    pod_waits,
    revisions: Revisions::ControllerRevisions(RevisionLabel::Name),
    holds_by: HoldsBy::StrategyPaused,
    max_unavailable: Some(MaxUnavailable {
        path: "spec.updateStrategy.maxUnavailable",
        rounds_up: true,
        value: max_unavailable,
    }),
    rolling_out,
    is_fixed: |field| !CHANGEABLE.contains(&field),
    has_kubectl_rollout: false,
    // `WriteRevisionHash` in `pkg/controller/cloneset/utils`.
    short_revision: Some(POD_TEMPLATE_HASH),
    pod_labels: &[CONTROLLER_REVISION_HASH, POD_TEMPLATE_HASH, "apps.kruise.io/cloneset-instance-id"],
    ..OF_APPS
};

/// `validateCloneSetUpdate` in `pkg/webhook/cloneset/validating/validation.go`.
const CHANGEABLE: [&str; 9] = [
    "lifecycle",
    "minReadySeconds",
    "progressDeadlineSeconds",
    "replicas",
    "revisionHistoryLimit",
    "scaleStrategy",
    "template",
    "updateStrategy",
    "volumeClaimTemplates",
];

const RULES: Rules = Rules {
    policy: "/spec/updateStrategy/type",
    read: policy,
    words: "the type must be ReCreate, InPlaceIfPossible, InPlaceOnly or OnDelete",
    replaces: "the type is ReCreate, as by default; InPlaceIfPossible changes in place what it can",
    rolling: "/spec/updateStrategy",
    more: |before, after, (policy, changes)| {
        let claims = if changes { claims(before, after, policy) } else { None };
        [on_delete(before, policy, changes), claims, deleted(before, after)].into_iter().flatten().collect()
    },
};

/// Every webhook takes the first three (`validateUpdateStrategy`).
fn policy(object: &Value) -> Option<Policy> {
    match text(object, RULES.policy) {
        "ReCreate" => Some(Policy::ReCreate),
        "InPlaceIfPossible" => Some(Policy::InPlaceIfPossible),
        "InPlaceOnly" => Some(Policy::InPlaceOnly),
        "OnDelete" => Some(Policy::OnDelete),
        _ => None,
    }
}

fn max_unavailable(object: &Value) -> Option<IntOrPercent> {
    IntOrPercent::from_value(object.pointer("/spec/updateStrategy/maxUnavailable")?).ok()
}

/// `realControl.Update` changes no pod of a paused one.
fn rolling_out(object: &Value) -> Option<String> {
    if is_on_delete(object) {
        return None;
    }
    let (updated, wanted) = (status(object, "updatedReplicas"), status(object, "expectedUpdatedReplicas"));
    (updated < wanted).then(|| format!("{updated} of {wanted} replicas are updated"))
}

/// The controller knows it from 1.9 on (`realControl.Update` in `pkg/controller/cloneset/sync`); the webhook of 1.9.0 refuses it.
fn on_delete(before: &Value, policy_after: Option<Policy>, changes: bool) -> Option<Obstacle> {
    let was_taken = || !changes && policy(before) == Some(Policy::OnDelete);
    (policy_after == Some(Policy::OnDelete) && !was_taken()).then(|| {
        obstacle(
            "spec.updateStrategy.type",
            Course::NotKnown,
            "OpenKruise knows the type OnDelete from 1.9 on and then changes no pod until it is deleted, while webhooks up to that of 1.9.0 refuse it",
        )
    })
}

/// `CanVCTemplateInplaceUpdate` in `pkg/util/volumeclaimtemplate`; without another template they make no new revision.
fn claims(before: &Value, after: &Value, policy: Option<Policy>) -> Option<Obstacle> {
    let path = "spec.volumeClaimTemplates";
    let claims = |object: &Value| object.pointer("/spec/volumeClaimTemplates").cloned();
    (policy == Some(Policy::InPlaceIfPossible) && claims(before) != claims(after)).then(|| {
        obstacle(
            path,
            Course::NotKnown,
            "it replaces the pods for another volume claim template only under the feature gate RecreatePodWhenChangeVCTInCloneSetGate, which is off by default",
        )
    })
}

/// Pods that are to be deleted by name.
fn deleted(before: &Value, after: &Value) -> Option<Obstacle> {
    let pointer = "/spec/scaleStrategy/podsToDelete";
    let given = after.pointer(pointer)?;
    let is_new = given.as_array().is_some_and(|names| !names.is_empty()) && before.pointer(pointer) != Some(given);
    is_new.then(|| obstacle("spec.scaleStrategy.podsToDelete", Course::ReplacesPods, "it deletes those that are named"))
}
