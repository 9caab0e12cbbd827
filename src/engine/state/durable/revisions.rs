//! ControllerRevisions: the revisions of StatefulSets and DaemonSets (kube-controller-manager `pkg/controller/history`).

use serde_json::Value;

use super::history::{HistoryEntry, HistoryImage};
use super::objects::{ObjectKey, ObjectKind, ObjectWrite, version_of};
use super::{OwnerGoal, OwnerPhase, OwnerStep, Step};
use crate::engine::change::template::TemplateDiff;
use crate::engine::change::{self, Change, Difference, Direction, TemplateImage, same};
use crate::engine::k8s::names::ContainerName;
use crate::engine::kinds::CONTROLLER_REVISION_HASH;

/// Returns the template that a ControllerRevision holds.
pub fn template_of(revision: &Value) -> Value {
    let mut template = revision.pointer("/data/spec/template").cloned().unwrap_or(Value::Null);
    if let Some(template) = template.as_object_mut() {
        // The controllers keep it as a strategic merge patch.
        template.remove("$patch");
    }
    template
}

/// Returns the revision with the highest number that holds the template.
pub fn newest_with<'r>(revisions: &'r [Value], template: &Value) -> Option<&'r Value> {
    let holds = revisions.iter().filter(|revision| same(&template_of(revision), template));
    holds.max_by_key(|revision| revision.get("revision").and_then(Value::as_i64))
}

/// Returns the name.
pub fn name_of(revision: &Value) -> &str {
    revision.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the value of the pods' label.
pub fn hash_of(revision: &Value) -> &str {
    revision
        .pointer("/metadata/labels")
        .and_then(|labels| labels.get(CONTROLLER_REVISION_HASH)?.as_str())
        .unwrap_or_default()
}

/// Returns whether pods with this label lack more of the template than this rollout brings them, and go on without it: under
/// the user's own OnDelete they get it when they are re-created, and the label tells which are left.
pub fn is_left_older(goal: &OwnerGoal, revisions: &[Value], label: &str) -> bool {
    let is_on_delete = |strategy: &Value| strategy.get("type").and_then(Value::as_str) == Some("OnDelete");
    let is_it = |revision: &&Value| name_of(revision) == label || hash_of(revision) == label;
    let lacks_more = |revision: &Value| {
        let Difference { change, qos, rest } = change::diff(&template_of(revision), goal.target());
        rest != TemplateDiff::default() || qos.is_some() || !goal.lock.change.covers(&change)
    };
    !label.is_empty()
        && goal.lock.strategy.as_ref().is_some_and(is_on_delete)
        && revisions.iter().find(is_it).is_some_and(lacks_more)
}

/// On the way back: the revisions that this rollout made, and those whose place it took, and that nothing uses any more, would
/// be the next targets of `kubectl rollout undo`.
pub(super) fn drop_unused(step: &Step<'_>, in_use: &[&str]) -> Option<OwnerPhase> {
    if step.goal.lock.direction != Direction::Back {
        return None;
    }
    let brought = brought(step.goal);
    let is_carried = |revision: &Value| {
        [name_of(revision), hash_of(revision)].iter().any(|label| step.pods.labels.contains_key(*label))
    };
    let is_unused = |revision: &&Value| {
        let name = name_of(revision);
        let is_free =
            !in_use.contains(&name) && step.goal.lock.reuses.as_deref() != Some(name) && !is_carried(revision);
        let made = revision.pointer("/metadata/creationTimestamp").and_then(Value::as_str).unwrap_or_default();
        is_free
            && brought.iter().any(|(since, template)| made >= since.as_str() && same(&template_of(revision), template))
    };
    let unused = step.owned.iter().find(is_unused)?;
    let object = ObjectKey::of(ObjectKind::ControllerRevision, unused);
    let version = version_of(unused);
    Some(OwnerPhase::Do(OwnerStep::DropRevision, ObjectWrite::Delete { object, version }))
}

/// The templates that the rollout brought, and those before it whose place it took, which have changed no more than it; and
/// since when: what is older is a revision of somebody else's.
fn brought(goal: &OwnerGoal) -> Vec<(String, Value)> {
    let of_entry = |entry: &HistoryEntry| {
        let list = |name: &ContainerName| goal.lock.change.images.get(name).map(|image| image.list);
        let image = |(name, image): (&ContainerName, &HistoryImage)| {
            let image = TemplateImage { list: list(name)?, from: image.from.clone(), to: image.to.clone() };
            Some((name.clone(), image))
        };
        let images = entry.containers.iter().filter_map(image).collect();
        let template = Change { images, fields: entry.fields.clone() }.apply(&goal.before)?;
        Some((entry.began.clone(), template))
    };
    goal.lock.replaced.iter().filter_map(of_entry).chain([(String::new(), goal.after.clone())]).collect()
}
