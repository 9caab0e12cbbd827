//! StatefulSet: the template changes under OnDelete, the pods are labelled with the new revision, and the strategy is
//! restored once the controller counts every pod as updated (kube-controller-manager `pkg/controller/statefulset`).
//!
//! With a partition above 0 it is not OnDelete, under which a lost pod below the partition would come back with the new
//! template, but RollingUpdate with the partition above every ordinal.

use serde_json::{Value, json};

use super::{CHANGED_MEANWHILE, Fence, OwnerPhase, OwnerStep, STRATEGY_CHANGED, Step, revisions, text};
use crate::change::same;
use crate::kinds::has_on_delete;
use crate::state::durable::stateful_set::partition_of;

/// The strategy while pods are updated: the controller must not replace any.
pub(super) fn working_strategy(step: &Step<'_>) -> Value {
    let saved = saved_strategy(step);
    let partition = partition_of(&saved);
    if has_on_delete(&saved) || partition == 0 {
        return json!({"type": "OnDelete"});
    }
    let mut strategy = saved;
    if let Some(rolling) = strategy.get_mut("rollingUpdate").and_then(Value::as_object_mut) {
        rolling.insert("partition".into(), above_all(step).max(partition).into());
    }
    strategy
}

fn above_all(step: &Step<'_>) -> i64 {
    let replicas = step.object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    step.integer("/spec/ordinals/start").saturating_add(replicas)
}

fn saved_strategy(step: &Step<'_>) -> Value {
    let present = step.object.pointer("/spec/updateStrategy");
    step.goal.lock.strategy.clone().or_else(|| present.cloned()).unwrap_or_else(|| json!({"type": "RollingUpdate"}))
}

pub(super) fn held(step: &Step<'_>) -> OwnerPhase {
    let (present, saved) = (step.object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null), saved_strategy(step));
    let partition = if has_on_delete(&saved) { 0 } else { partition_of(&saved) };
    let working = working_strategy(step);
    let is_lower = partition > 0 && !has_on_delete(present) && partition_of(present) > partition && *present != working;
    let works = *present == working || is_lower;
    let replicas = step.object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let counts = (step.integer("/status/updatedReplicas"), replicas);
    if !same(step.template(), step.goal.target()) {
        return step.changed_by_another(
            Some(&saved).filter(|saved| works && present != *saved),
            counts,
            CHANGED_MEANWHILE,
        );
    }
    if !works && *present != saved {
        return step.changed_by_another(None, counts, STRATEGY_CHANGED);
    }
    if !step.is_observed() {
        return OwnerPhase::WaitFor(Fence::Observed);
    }
    if !works {
        let revision = text(step.object, "/status/updateRevision");
        // This rollout restores the strategy once every pod has the label and is proven.
        if step.lack_label(revision) > partition || step.was_released_by_another() {
            return step.changed_by_another(None, counts, STRATEGY_CHANGED);
        }
        return match step.pods.done {
            true => restored(step, partition),
            false => OwnerPhase::PodsReleased { revision: Some(revision.to_owned()) },
        };
    }
    if is_lower {
        // Scaled meanwhile: a pod above the partition would be replaced.
        let patch = step.patch().set("/spec/updateStrategy", Some(working));
        return OwnerPhase::Write(OwnerStep::RaisePartition, patch.write());
    }
    let revision = text(step.object, "/status/updateRevision");
    let made = step.owned.iter().find(|known| revisions::name_of(known) == revision);
    if !made.is_some_and(|made| same(&revisions::template_of(made), step.goal.target())) {
        return OwnerPhase::WaitFor(Fence::RevisionMade);
    }
    let all = above_all(step).saturating_sub(step.integer("/spec/ordinals/start"));
    let updated = step.integer("/status/updatedReplicas");
    if !step.pods.done && !step.has_seen_labels(revision, updated, all) {
        return OwnerPhase::WaitFor(Fence::LabelsSeen);
    }
    if !step.pods.done {
        return OwnerPhase::PodsReleased { revision: Some(revision.to_owned()) };
    }
    // The partition is an index into the replicas, whatever ordinal they begin with (`updateMin`).
    let wanted = all.saturating_sub(partition).saturating_sub(step.left_older()).max(0);
    if updated < wanted || partition == 0 && updated != wanted {
        return OwnerPhase::WaitFor(Fence::AllUpdated);
    }
    if *present == saved {
        return finish(step);
    }
    let patch = step.patch().test("/spec/template").set("/spec/updateStrategy", Some(saved));
    OwnerPhase::Write(OwnerStep::RestoreStrategy, patch.write())
}

/// The strategy is restored: without a partition the controller makes the update revision the current one.
fn restored(step: &Step<'_>, partition: i64) -> OwnerPhase {
    let revision = |field: &str| text(step.object, &format!("/status/{field}"));
    if partition == 0 && revision("currentRevision") != revision("updateRevision") {
        return OwnerPhase::WaitFor(Fence::RevisionCurrent);
    }
    finish(step)
}

fn finish(step: &Step<'_>) -> OwnerPhase {
    let in_use = ["currentRevision", "updateRevision"].map(|field| text(step.object, &format!("/status/{field}")));
    super::drop_unused(step, &in_use).unwrap_or_else(|| step.close())
}
