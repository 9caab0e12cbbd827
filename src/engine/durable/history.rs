//! What was done to a workload in place: the annotation on the owner, and the union over what the controller copied.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::metadata::MetadataChange;
use crate::engine::names::{ContainerName, RolloutId};
use crate::engine::outcome::EndResult;

/// The annotation's key.
pub const HISTORY_ANNOTATION: &str = "kubectl-inplace.io/history";

/// The same key as JSON pointers have it.
pub const HISTORY_POINTER: &str = "/metadata/annotations/kubectl-inplace.io~1history";

/// Rollouts that are kept.
pub const KEPT: usize = 10;

/// One rollout that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// The rollout.
    pub id: RolloutId,
    /// Who began it: the user as the server knows it.
    pub who: String,
    /// When it began (RFC 3339).
    pub began: String,
    /// When it ended (RFC 3339).
    pub ended: String,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The images, by container.
    pub containers: BTreeMap<ContainerName, HistoryImage>,
    /// Labels and annotations of the template.
    #[serde(default, skip_serializing_if = "MetadataChange::is_empty")]
    pub metadata: MetadataChange,
    /// How it ended.
    pub outcome: EndResult,
}

/// One container's images.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryImage {
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
    /// What the pods ran before (`imageID`), where all ran the same.
    #[serde(rename = "imageID", default, skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
}

/// Reads the history of one object; what cannot be read counts as none.
pub fn of(object: &Value) -> Vec<HistoryEntry> {
    let text = object.pointer(HISTORY_POINTER).and_then(Value::as_str);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the union by id over the owner and its ReplicaSets, the oldest first.
///
/// `kubectl rollout undo` replaces a Deployment's annotations by those of a ReplicaSet (kubectl
/// `polymorphichelpers/rollback.go`), so what the Deployment says alone may be an older state.
pub fn union<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Vec<HistoryEntry> {
    let mut entries: Vec<HistoryEntry> = Vec::new();
    for entry in objects.into_iter().flat_map(of) {
        if !entries.iter().any(|known| known.id == entry.id) {
            entries.push(entry);
        }
    }
    // Stable: of two in the same second the annotation itself says which came first; ids do not.
    entries.sort_by(|a, b| a.ended.cmp(&b.ended));
    entries
}

/// Writes the annotation's value: the last [`KEPT`] entries.
pub fn to_text(entries: &[HistoryEntry]) -> String {
    let first = entries.len().saturating_sub(KEPT);
    serde_json::to_string(entries.get(first..).unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(id: &str, ended: &str) -> HistoryEntry {
        HistoryEntry {
            id: id.into(),
            who: "jane".into(),
            began: "2026-03-01T10:00:00Z".into(),
            ended: ended.into(),
            reason: None,
            containers: BTreeMap::new(),
            metadata: MetadataChange::default(),
            outcome: EndResult::Complete,
        }
    }

    fn object(entries: &[HistoryEntry]) -> Value {
        json!({"metadata": {"annotations": {HISTORY_ANNOTATION: to_text(entries)}}})
    }

    #[test]
    fn the_union_is_by_id_and_in_order() {
        let (one, two, three) = (
            entry("a", "2026-03-01T10:01:00Z"),
            entry("b", "2026-03-01T10:02:00Z"),
            entry("c", "2026-03-01T10:03:00Z"),
        );
        let objects = [
            object(std::slice::from_ref(&two)),
            object(&[one.clone(), three.clone()]),
            json!({}),
            object(std::slice::from_ref(&two)),
        ];
        assert_eq!(union(&objects), [one, two, three]);
    }

    #[test]
    fn of_two_in_the_same_second_the_later_one_stays_the_later_one() {
        let (first, second) = (entry("z", "2026-03-01T10:01:00Z"), entry("a", "2026-03-01T10:01:00Z"));
        let objects = [object(&[first.clone(), second.clone()]), object(std::slice::from_ref(&first))];
        assert_eq!(union(&objects), [first, second]);
    }

    #[test]
    fn only_the_last_ones_are_kept_and_an_edited_annotation_is_none() {
        let many: Vec<HistoryEntry> =
            (10..30).map(|second| entry(&format!("id-{second}"), &format!("2026-03-01T10:00:{second}Z"))).collect();
        let kept = of(&object(&many));
        assert_eq!((kept.len(), kept.first().map(|entry| entry.id.as_str())), (KEPT, Some("id-20")));
        assert_eq!(of(&json!({"metadata": {"annotations": {HISTORY_ANNOTATION: "edited"}}})), []);
    }
}
