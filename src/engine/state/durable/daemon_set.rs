//! DaemonSet: as a StatefulSet under OnDelete, but the pods' label is the hash label of the revision, and the controller
//! names no revision in its status (kube-controller-manager `pkg/controller/daemon`).

use serde_json::{Value, json};

use super::{CHANGED_MEANWHILE, Cleanup, Fence, OwnerPhase, OwnerStep, STRATEGY_CHANGED, Step, revisions};
use crate::engine::change::same;
use crate::engine::state::outcome::EndResult;

/// The strategy while pods are updated: the controller must not replace any.
pub(super) fn working_strategy() -> Value {
    json!({"type": "OnDelete"})
}

pub(super) fn held(step: &Step<'_>) -> OwnerPhase {
    let present = step.object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null);
    let saved = step.goal.lock.strategy.as_ref().unwrap_or(present);
    let works = *present == working_strategy();
    if !same(step.template(), step.goal.target()) {
        return changed_by_another(step, saved, works && present != saved, CHANGED_MEANWHILE);
    }
    if !works && present != saved {
        return changed_by_another(step, saved, false, STRATEGY_CHANGED);
    }
    if !step.is_observed() {
        return OwnerPhase::Await(Fence::Observed);
    }
    // The label's value is the hash of the revision, which the controller may renumber: the newest that holds the
    // template is the one that it compares pods with.
    let Some(current) = revisions::newest_with(step.owned, step.goal.target()) else {
        return OwnerPhase::Await(Fence::RevisionMade);
    };
    let (updated, wanted) =
        (step.integer("/status/updatedNumberScheduled"), step.integer("/status/desiredNumberScheduled"));
    let hash = revisions::hash_of(current);
    if works && !step.pods.done && !step.has_seen_labels(hash, updated, wanted) {
        return OwnerPhase::Await(Fence::LabelsSeen);
    }
    if !works && step.lack_label(hash) > 0 {
        // This rollout puts it back once every pod has the label and is proven.
        return changed_by_another(step, saved, false, STRATEGY_CHANGED);
    }
    if !step.pods.done {
        return OwnerPhase::PodsMayGo { revision: Some(hash.to_owned()) };
    }
    if updated != wanted {
        return OwnerPhase::Await(Fence::AllUpdated);
    }
    if present != saved {
        let patch = step.patch().test("/spec/template").set("/spec/updateStrategy", Some(saved.clone()));
        return OwnerPhase::Do(OwnerStep::RestoreStrategy, patch.write());
    }
    revisions::drop_unused(step, &[revisions::name_of(current)]).unwrap_or_else(|| step.close())
}

/// Somebody else set another template or strategy. Theirs stays; our strategy goes where that starts nothing: whether pods
/// are to be replaced only the person can say, once it is told.
fn changed_by_another(step: &Step<'_>, saved: &Value, ours_is_held: bool, why: &str) -> OwnerPhase {
    let (updated, wanted) =
        (step.integer("/status/updatedNumberScheduled"), step.integer("/status/desiredNumberScheduled"));
    let harmless = step.is_observed() && updated == wanted;
    let mut patch = step.closing(EndResult::Superseded).test("/spec/template");
    if ours_is_held && harmless {
        patch = patch.set("/spec/updateStrategy", Some(saved.clone()));
    }
    let cleanup = Cleanup::Do(OwnerStep::Close, Box::new(patch.write()));
    OwnerPhase::Superseded { why: why.into(), cleanup }
}
