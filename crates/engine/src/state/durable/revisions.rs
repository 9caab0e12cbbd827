//! ControllerRevisions: the revisions of StatefulSets and DaemonSets (kube-controller-manager `pkg/controller/history`).

use serde_json::Value;

use super::lock::Lock;
use super::objects::{ObjectKind, ObjectWrite};
use super::owner::Owner;
use super::text;
use crate::change::template::TemplateDiff;
use crate::change::{self, Change, Difference, same};
use crate::kinds::{self, RevisionLabel, Revisions};

pub fn template_of(revision: &Value) -> Value {
    let mut template = revision.pointer("/data/spec/template").cloned().unwrap_or(Value::Null);
    if let Some(template) = template.as_object_mut() {
        // The controllers keep it as a strategic merge patch.
        template.shift_remove("$patch");
    }
    template
}

/// Returns the revision with the highest number that holds the template.
pub fn newest_with<'r>(revisions: &'r [Value], template: &Value) -> Option<&'r Value> {
    let holds = revisions.iter().filter(|revision| same(&template_of(revision), template));
    holds.max_by_key(|revision| number_of(revision))
}

/// Returns the number; `None` for an object that is no ControllerRevision.
pub fn number_of(revision: &Value) -> Option<i64> {
    revision.get("revision").and_then(Value::as_i64)
}

pub fn name_of(revision: &Value) -> &str {
    text(revision, "/metadata/name")
}

/// Returns the value of the pods' label.
pub fn hash_of(revision: &Value) -> &str {
    Revisions::ControllerRevisions(RevisionLabel::Hash).hash_of(revision)
}

/// Returns the revision of a pod's label: by its name or, for a DaemonSet, by its hash.
pub fn labelled<'r>(revisions: &'r [Value], label: &str) -> Option<&'r Value> {
    let is_it = |revision: &&Value| name_of(revision) == label || hash_of(revision) == label;
    if label.is_empty() { None } else { revisions.iter().find(is_it) }
}

/// Returns whether a change sets everything again that a revision lacks of a template.
pub fn lacks_no_more(revision: &Value, template: &Value, change: &Change) -> bool {
    let Difference { change: lacked, qos, rest } = change::diff(&template_of(revision), template);
    rest == TemplateDiff::default() && qos.is_none() && change.covers(&lacked)
}

/// Returns whether pods with this label lack more of the template than this rollout brings them, and go on without it:
/// under the user's own OnDelete they get it when they are created again, and the label shows which are left.
pub fn is_left_older(ours: &Lock, target: &Value, revisions: &[Value], label: &str) -> bool {
    let brings_all = |revision: &Value| lacks_no_more(revision, target, &ours.rollout.change);
    ours.rollout.strategy.as_ref().is_some_and(kinds::is_hold)
        && labelled(revisions, label).is_some_and(|revision| !brings_all(revision))
}

/// On the way back: a revision that this rollout, or one that it replaced, created and that nothing uses any more would
/// be the next target of `kubectl rollout undo`.
pub(super) fn drop_unused(owner: &Owner<'_>, in_use: &[&str]) -> Option<ObjectWrite> {
    let lock = owner.ours;
    if !owner.is_back() {
        return None;
    }
    // A revision that is older than the rollout that brought it is somebody else's.
    let mut brought = lock.rollout.left_by_the_others(&owner.change.before);
    brought.push(("", owner.change.after.clone()));
    let is_carried = |revision: &Value| {
        [name_of(revision), hash_of(revision)].iter().any(|label| owner.pods.labels.contains_key(*label))
    };
    let is_unused = |revision: &&Value| {
        let name = name_of(revision);
        let is_free = !in_use.contains(&name) && lock.rollout.reuses.as_deref() != Some(name) && !is_carried(revision);
        let made = text(revision, "/metadata/creationTimestamp");
        is_free && brought.iter().any(|(since, template)| made >= *since && same(&template_of(revision), template))
    };
    let unused = owner.owned.iter().find(is_unused)?;
    Some(ObjectWrite::delete(ObjectKind::ControllerRevision, unused))
}
