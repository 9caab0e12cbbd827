//! DaemonSet: as a StatefulSet under OnDelete, but the pods' label is the hash label of the revision, and the controller
//! names no revision in its status (kube-controller-manager `pkg/controller/daemon`).

use serde_json::{Value, json};

use super::{CHANGED_MEANWHILE, Fence, OwnerPhase, OwnerStep, STRATEGY_CHANGED, Step, revisions};
use crate::change::same;

/// The strategy while pods are updated: the controller must not replace any.
pub(super) fn working_strategy() -> Value {
    json!({"type": "OnDelete"})
}

pub(super) fn held(step: &Step<'_>) -> OwnerPhase {
    let present = step.object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null);
    let saved = step.goal.lock.strategy.as_ref().unwrap_or(present);
    let works = *present == working_strategy();
    let counts = (step.integer("/status/updatedNumberScheduled"), step.integer("/status/desiredNumberScheduled"));
    let (updated, wanted) = counts;
    if !same(step.template(), step.goal.target()) {
        return step.changed_by_another(
            Some(saved).filter(|saved| works && present != *saved),
            counts,
            CHANGED_MEANWHILE,
        );
    }
    if !works && present != saved {
        return step.changed_by_another(None, counts, STRATEGY_CHANGED);
    }
    if !step.is_observed() {
        return OwnerPhase::WaitFor(Fence::Observed);
    }
    // The label's value is the hash of the revision, which the controller may renumber: the newest that holds the
    // template is the one that it compares pods with.
    let Some(current) = revisions::newest_with(step.owned, step.goal.target()) else {
        return OwnerPhase::WaitFor(Fence::RevisionMade);
    };
    let hash = revisions::hash_of(current);
    if works && !step.pods.done && !step.has_seen_labels(hash, updated, wanted) {
        return OwnerPhase::WaitFor(Fence::LabelsSeen);
    }
    if !works && (step.lack_label(hash) > 0 || step.was_released_by_another()) {
        // This rollout restores the strategy once every pod has the label and is proven.
        return step.changed_by_another(None, counts, STRATEGY_CHANGED);
    }
    if !step.pods.done {
        return OwnerPhase::PodsReleased { revision: Some(hash.to_owned()) };
    }
    if updated != wanted.saturating_sub(step.left_older()) {
        return OwnerPhase::WaitFor(Fence::AllUpdated);
    }
    if present != saved {
        let patch = step.patch().test("/spec/template").set("/spec/updateStrategy", Some(saved.clone()));
        return OwnerPhase::Write(OwnerStep::RestoreStrategy, patch.write());
    }
    super::drop_unused(step, &[revisions::name_of(current)]).unwrap_or_else(|| step.close())
}
