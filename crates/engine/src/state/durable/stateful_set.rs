//! StatefulSet and DaemonSet: the template changes under OnDelete, the pods are labelled with the new revision, and the
//! strategy is restored once the controller counts every pod as updated (kube-controller-manager
//! `pkg/controller/statefulset` and `pkg/controller/daemon`).
//!
//! With a partition above 0 it is not OnDelete, under which a lost pod below the partition would come back with the new
//! template, but RollingUpdate with the partition above every ordinal.

use serde_json::{Value, json};

use super::objects::{ObjectWrite, StepName};
use super::owner::{Owner, has_own_lock, is_observed, is_template_set};
use super::step::{CLOSE, OBSERVED, REMOVE_REMAINS, Step, TAKE_LOCK, TAKE_PODS, Table, each, update_pods, wait, write};
use super::{CHANGED_MEANWHILE, integer, revisions, text};
use crate::change::same;
use crate::kinds::{HoldsBy, Replicas, RevisionLabel, Revisions, is_hold, partition_of};
use crate::state::manager::is_same_writer;
use crate::state::outcome::EndResult;

pub(super) const STATEFUL_SET: Table<'static> = Table {
    steps: &[
        SET_TEMPLATE,
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        write(StepName::RaisePartition, |owner| !is_partition_low(owner), raise_partition),
        wait(REVISION_MADE, |owner| is_restored(owner) || is_revision_made(owner)),
        wait(LABELS_SEEN, are_labels_seen),
        update_pods(label),
        wait(ALL_UPDATED, |owner| is_restored(owner) || are_all_updated(owner)),
        write(StepName::RestoreStrategy, |owner| *strategy(owner) == saved_strategy(owner), restore_strategy),
        wait("the controller to make the new revision the current one", is_revision_current),
        each(StepName::DropRevision, drop_revision),
        CLOSE,
        REMOVE_REMAINS,
    ],
    conflict,
    cleanup: &[CLOSE_SUPERSEDED],
};

/// The controller names no revision in its status, and does not tell when it has made one the current one.
pub(super) const DAEMON_SET: Table<'static> = Table {
    steps: &[
        SET_TEMPLATE,
        TAKE_LOCK,
        TAKE_PODS,
        OBSERVED,
        wait(REVISION_MADE, is_revision_made),
        wait(LABELS_SEEN, are_labels_seen),
        update_pods(label),
        wait(ALL_UPDATED, are_all_updated),
        write(StepName::RestoreStrategy, |owner| *strategy(owner) == saved_strategy(owner), restore_strategy),
        each(StepName::DropRevision, drop_revision),
        CLOSE,
        REMOVE_REMAINS,
    ],
    conflict,
    cleanup: &[CLOSE_SUPERSEDED],
};

const SET_TEMPLATE: Step = write(StepName::SetTemplate, is_template_set, set_template_and_strategy);

const CLOSE_SUPERSEDED: Step = write(StepName::Close, |_| false, close_superseded);

const REVISION_MADE: &str = "the controller to make the revision of the new template";
const LABELS_SEEN: &str = "the controller to see the labels of the pods";
const ALL_UPDATED: &str = "the controller to count every pod as updated";

/// The controller acts again, and not because this rollout has released it.
const STRATEGY_CHANGED: &str =
    "its update strategy was changed by another client, so that its controller replaces pods by itself";

/// Returns whether a pod of a StatefulSet is below the partition of an update strategy; a name without an ordinal is
/// not.
pub fn is_below_partition(strategy: &Value, set: &Value, pod: &str) -> bool {
    let partition = partition_of(strategy);
    let ordinal = pod.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse::<i64>().ok());
    partition > 0
        && ordinal.is_some_and(|ordinal| ordinal < integer(set, "/spec/ordinals/start").saturating_add(partition))
}

fn strategy<'a>(owner: &Owner<'a>) -> &'a Value {
    owner.object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null)
}

/// The strategy from before. Of one whose pause holds, all but the pause is somebody else's, and stays as it is now.
fn saved_strategy(owner: &Owner<'_>) -> Value {
    let present = owner.object.pointer("/spec/updateStrategy");
    if let (HoldsBy::StrategyPaused, Some(present), Some(saved)) =
        (owner.kind.holds_by(), present, &owner.ours.rollout.strategy)
    {
        return with_pause_of(present, saved);
    }
    owner.ours.rollout.strategy.as_ref().or(present).cloned().unwrap_or_else(|| json!({"type": "RollingUpdate"}))
}

fn with_pause_of(strategy: &Value, saved: &Value) -> Value {
    let mut strategy = strategy.clone();
    if let Some(fields) = strategy.as_object_mut() {
        match saved.get("paused") {
            Some(paused) => drop(fields.insert("paused".into(), paused.clone())),
            None => drop(fields.shift_remove("paused")),
        }
    }
    strategy
}

/// The saved one, which divides the pods; 0 where it does not.
fn partition(owner: &Owner<'_>) -> i64 {
    let saved = saved_strategy(owner);
    if is_hold(&saved) || !owner.kind.has_partition() { 0 } else { partition_of(&saved) }
}

/// The strategy while pods are updated: the controller must not replace any.
fn working_strategy(owner: &Owner<'_>) -> Value {
    let partition = partition(owner);
    if partition == 0 {
        return owner.kind.holds_by().hold(&saved_strategy(owner));
    }
    let above_all = owner.integer("/spec/ordinals/start").saturating_add(replicas(owner));
    let mut strategy = saved_strategy(owner);
    if let Some(rolling) = strategy.get_mut("rollingUpdate").and_then(Value::as_object_mut) {
        rolling.insert("partition".into(), above_all.max(partition).into());
    }
    strategy
}

/// A StatefulSet was scaled up meanwhile: a pod above the partition would be replaced.
fn is_partition_low(owner: &Owner<'_>) -> bool {
    let (present, saved) = (strategy(owner), partition(owner));
    saved > 0 && !is_hold(present) && partition_of(present) > saved && *present != working_strategy(owner)
}

/// The strategy keeps the controller from replacing pods.
fn is_held_back(owner: &Owner<'_>) -> bool {
    *strategy(owner) == working_strategy(owner) || is_partition_low(owner)
}

/// The strategy is the one from before, and that one lets the controller act.
fn is_restored(owner: &Owner<'_>) -> bool {
    !is_held_back(owner)
}

fn replicas(owner: &Owner<'_>) -> i64 {
    owner.object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

/// The pods that the controller counts as updated, and those that it wants.
fn counts(owner: &Owner<'_>) -> (i64, i64) {
    match owner.kind.replicas() {
        Replicas::Spec | Replicas::One => (owner.integer("/status/updatedReplicas"), replicas(owner)),
        Replicas::Scheduled => {
            (owner.integer("/status/updatedNumberScheduled"), owner.integer("/status/desiredNumberScheduled"))
        }
    }
}

/// Whether the status names the revision of the template, by whose name the pods are labelled.
fn names_its_revision(owner: &Owner<'_>) -> bool {
    owner.kind.revisions() == Revisions::ControllerRevisions(RevisionLabel::Name)
}

/// The revision of the template: a StatefulSet names it. A DaemonSet's controller may renumber it: it compares pods with
/// the newest one that holds the template.
fn revision<'a>(owner: &Owner<'a>) -> Option<&'a Value> {
    if names_its_revision(owner) {
        let named = text(owner.object, "/status/updateRevision");
        owner.owned.iter().find(|known| revisions::name_of(known) == named)
    } else {
        revisions::newest_with(owner.owned, owner.target())
    }
}

/// The value of the pods' label: a StatefulSet's is the name of the revision, a DaemonSet's its hash.
fn label(owner: &Owner<'_>) -> Option<String> {
    if names_its_revision(owner) {
        Some(text(owner.object, "/status/updateRevision").to_owned())
    } else {
        revision(owner).map(|revision| revisions::hash_of(revision).to_owned())
    }
}

fn is_revision_made(owner: &Owner<'_>) -> bool {
    revision(owner).is_some_and(|made| same(&revisions::template_of(made), owner.target()))
}

/// Without a partition the controller makes the update revision the current one once it acts again.
fn is_revision_current(owner: &Owner<'_>) -> bool {
    let revision = |field: &str| text(owner.object, &format!("/status/{field}"));
    is_held_back(owner) || partition(owner) > 0 || revision("currentRevision") == revision("updateRevision")
}

/// Whether the controller has seen every pod that is not labelled with the revision as such.
///
/// On the way back a pod was labelled twice. A controller whose cache of pods is behind both labels counts it as updated
/// all the while, and would replace it once the strategy is restored and the first label arrives.
fn are_labels_seen(owner: &Owner<'_>) -> bool {
    let (updated, wanted) = counts(owner);
    owner.pods.done || is_restored(owner) || updated <= wanted.saturating_sub(lack_label(owner)).max(0)
}

/// The number of present pods without the label of the revision.
fn lack_label(owner: &Owner<'_>) -> i64 {
    let revision = label(owner).unwrap_or_default();
    count(owner, |label| label != revision)
}

/// The number of present pods whose label is one of these.
fn count(owner: &Owner<'_>, is_it: impl Fn(&str) -> bool) -> i64 {
    let pods = owner.pods.labels.iter().filter(|(label, _)| is_it(label)).map(|(_, pods)| pods);
    i64::try_from(pods.sum::<usize>()).unwrap_or(i64::MAX)
}

/// The partition is an index into the replicas, whatever ordinal they begin with (`updateMin`).
fn are_all_updated(owner: &Owner<'_>) -> bool {
    let ((updated, all), partition) = (counts(owner), partition(owner));
    let left_older = count(owner, |label| revisions::is_left_older(owner.ours, owner.target(), owner.owned, label));
    let wanted = all.saturating_sub(partition).saturating_sub(left_older).max(0);
    updated == wanted || partition > 0 && updated > wanted
}

/// Why the rollout cannot go on: asked before every write.
fn conflict(owner: &Owner<'_>) -> Option<&'static str> {
    if !has_own_lock(owner) {
        return None;
    }
    if !owner.has_target() {
        return Some(CHANGED_MEANWHILE);
    }
    if is_held_back(owner) {
        return None;
    }
    let is_another = *strategy(owner) != saved_strategy(owner);
    // This rollout restores the strategy once every pod has the label and is proven.
    let is_early = || lack_label(owner) > partition(owner) || was_restored_by_another(owner);
    let is_known = is_observed(owner) && label(owner).is_some();
    (is_another || is_known && is_early()).then_some(STRATEGY_CHANGED)
}

/// Whether another client has restored the update strategy, by the write in managedFields, and pods are gone since: the
/// controller may have replaced them.
fn was_restored_by_another(owner: &Owner<'_>) -> bool {
    let is_another = |manager: &str| !is_same_writer(manager, owner.field_manager);
    let held_by = match owner.kind.holds_by() {
        HoldsBy::StrategyPaused => HoldsBy::StrategyPaused,
        HoldsBy::Paused | HoldsBy::OnDelete | HoldsBy::OnDeleteOrPartition | HoldsBy::Nothing => HoldsBy::OnDelete,
    };
    owner.pods.replaced && held_by.set_by(owner.object).any(is_another)
}

fn set_template_and_strategy(owner: &Owner<'_>) -> ObjectWrite {
    // A partition above all pods is one only for the number of replicas that was read.
    let patch = owner.set_template().test("/spec/replicas");
    patch.set("/spec/updateStrategy", Some(working_strategy(owner))).write()
}

fn raise_partition(owner: &Owner<'_>) -> ObjectWrite {
    owner.patch().set("/spec/updateStrategy", Some(working_strategy(owner))).write()
}

fn restore_strategy(owner: &Owner<'_>) -> ObjectWrite {
    owner.patch().test("/spec/template").set("/spec/updateStrategy", Some(saved_strategy(owner))).write()
}

fn drop_revision(owner: &Owner<'_>) -> Option<ObjectWrite> {
    let of_status = ["currentRevision", "updateRevision"].map(|field| text(owner.object, &format!("/status/{field}")));
    let in_use = revision(owner).map(revisions::name_of).into_iter().chain(of_status);
    revisions::drop_unused(owner, &in_use.collect::<Vec<_>>())
}

/// Somebody else set another template or strategy. Theirs stays; our strategy holds their rollout back, and goes where
/// that starts nothing: only the user, once informed, can say whether pods are to be replaced.
fn close_superseded(owner: &Owner<'_>) -> ObjectWrite {
    let (updated, wanted) = counts(owner);
    let saved = Some(saved_strategy(owner)).filter(|saved| is_held_back(owner) && saved != strategy(owner));
    let starts_nothing = is_observed(owner) && updated == wanted;
    let (restored, left) = if starts_nothing { (saved, None) } else { (None, saved) };
    let patch = owner.closing(EndResult::Superseded, left).test("/spec/template");
    match restored {
        Some(saved) => patch.set("/spec/updateStrategy", Some(saved)).write(),
        None => patch.write(),
    }
}
