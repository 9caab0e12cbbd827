//! What was done to a workload in place: the annotation on the owner, and the union over what the controller copied.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rollout::Rollout;
use crate::k8s::names::RolloutId;
use crate::state::outcome::EndResult;

pub const HISTORY_ANNOTATION: &str = "kubectl-inplace.io/history";

/// The same key as JSON pointers have it.
pub const HISTORY_POINTER: &str = "/metadata/annotations/kubectl-inplace.io~1history";

/// Reported for a rollout that another run has aborted, or is on its way back with.
pub const ABORTED: &str = "it was aborted by another run";

pub const KEPT: usize = 10;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    #[serde(flatten)]
    pub rollout: Rollout,
    /// When it ended (RFC 3339).
    pub ended: String,
    /// Who ended it, where that was somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    pub outcome: EndResult,
    /// The rollout that took its place before it had ended: then it is superseded by that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<RolloutId>,
}

impl HistoryEntry {
    /// Says how another run has ended it, as a sentence without a full stop.
    pub fn ended_by_another(&self) -> String {
        let by = self.by();
        if self.outcome == EndResult::Aborted {
            format!("{ABORTED}{by}")
        } else if matches!(self.outcome, EndResult::Complete | EndResult::Deferred) {
            format!("it was completed by another run{by}")
        } else if self.outcome != EndResult::Superseded {
            format!("its history was edited: no rollout ends as {}", self.outcome.word())
        } else if let Some(rollout) = &self.replaced_by {
            format!("rollout \"{rollout}\" took its place{by}")
        } else {
            format!("another run{by} found it changed by another client and ended it")
        }
    }

    /// Says who ended it, as in "aborted by another run (...)"; empty where that is not known.
    fn by(&self) -> String {
        let who = self.ended_by.as_ref().unwrap_or(&self.rollout.who);
        if who.is_empty() { String::new() } else { format!(" ({who})") }
    }
}

/// Reads the history of one object; what cannot be read counts as none.
pub fn of(object: &Value) -> Vec<HistoryEntry> {
    let text = object.pointer(HISTORY_POINTER).and_then(Value::as_str);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the union by id over the owner and its ReplicaSets, the oldest first.
///
/// `kubectl rollout undo` replaces a Deployment's annotations by those of a ReplicaSet (kubectl
/// `polymorphichelpers/rollback.go`), so the Deployment's alone may be an older state. The order is that of the
/// annotations, to which each run appends: times come from the clock of an API server, or of the writer
/// where the server tells none.
pub fn union<'a>(owner: &'a Value, owned: impl IntoIterator<Item = &'a Value>) -> Vec<HistoryEntry> {
    std::iter::once(owner).chain(owned).map(of).fold(Vec::new(), merged)
}

/// Merges two lists, each in its own order. Times decide only between entries that have no common entry between them.
fn merged(known: Vec<HistoryEntry>, other: Vec<HistoryEntry>) -> Vec<HistoryEntry> {
    let mut merged: Vec<HistoryEntry> = Vec::new();
    let mut known = VecDeque::from(known);
    let mut pending: VecDeque<HistoryEntry> = VecDeque::new();
    for entry in other {
        let is_it = |known: &HistoryEntry| known.rollout.id == entry.rollout.id;
        if let Some(at) = known.iter().position(is_it) {
            let rest = known.split_off(at);
            by_time(&mut merged, std::mem::replace(&mut known, rest), std::mem::take(&mut pending));
            merged.extend(known.pop_front());
        } else if !merged.iter().chain(&pending).any(is_it) {
            pending.push_back(entry);
        }
    }
    by_time(&mut merged, known, pending);
    merged
}

fn by_time(merged: &mut Vec<HistoryEntry>, mut a: VecDeque<HistoryEntry>, mut b: VecDeque<HistoryEntry>) {
    while let (Some(first), Some(second)) = (a.front(), b.front()) {
        let earlier = if second.ended < first.ended { &mut b } else { &mut a };
        merged.extend(earlier.pop_front());
    }
    merged.extend(a.into_iter().chain(b));
}

/// Returns the entries of rollouts whose place another one takes: those that the history keeps.
pub fn replaced_by(rollout: &RolloutId, mut entries: Vec<HistoryEntry>) -> Vec<HistoryEntry> {
    for entry in entries.iter_mut().filter(|entry| entry.replaced_by.is_none()) {
        entry.replaced_by = Some(rollout.clone());
    }
    entries.split_off(entries.len().saturating_sub(KEPT))
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
        let rollout =
            Rollout { id: id.into(), who: "jane".into(), since: "2026-03-01T10:00:00Z".into(), ..Rollout::default() };
        HistoryEntry { rollout, ended: ended.into(), ended_by: None, outcome: EndResult::Complete, replaced_by: None }
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
        let owner = object(std::slice::from_ref(&two));
        let owned = [object(&[one.clone(), three.clone()]), json!({}), object(std::slice::from_ref(&two))];
        assert_eq!(union(&owner, &owned), [one, two, three]);
    }

    /// Two clients whose clocks differ: the one that came later says that it ended earlier.
    #[test]
    fn the_order_of_the_annotations_is_the_truth_whatever_the_clocks_said() {
        let entries = |ids: &[(&str, u32)]| -> Value {
            let entries: Vec<HistoryEntry> =
                ids.iter().map(|(id, minute)| entry(id, &format!("2026-03-01T10:{minute:02}:00Z"))).collect();
            object(&entries)
        };
        type Lists<'a> = &'a [&'a [(&'a str, u32)]];
        let cases: &[(Lists<'_>, &str)] = &[
            (&[&[("a", 1), ("b", 9), ("c", 4)]], "abc"),
            (&[&[("a", 1), ("b", 9), ("c", 4)], &[("a", 1), ("b", 9)]], "abc"),
            (&[&[("a", 1)], &[("a", 1), ("b", 9), ("c", 4)]], "abc"),
            (&[&[("b", 9), ("d", 2)], &[("a", 8), ("b", 9), ("c", 4), ("d", 2)]], "abcd"),
            // No common entry stands between: the times are all there is.
            (&[&[("a", 1), ("c", 3)], &[("b", 2)]], "abc"),
            (&[&[("a", 1), ("c", 3)], &[("a", 1), ("b", 2)]], "abc"),
            // Edited, so that the two contradict each other: each is there once.
            (&[&[("a", 1), ("b", 2)], &[("b", 2), ("a", 1)]], "ab"),
            (&[&[], &[("a", 1)], &[]], "a"),
        ];
        for (lists, expected) in cases {
            let objects: Vec<Value> = lists.iter().map(|list| entries(list)).collect();
            let (owner, owned) = objects.split_first().unwrap();
            let order: String = union(owner, owned).iter().map(|entry| entry.rollout.id.as_str().to_owned()).collect();
            assert_eq!(order, *expected, "{lists:?}");
        }
    }

    #[test]
    fn of_two_in_the_same_second_the_later_one_stays_the_later_one() {
        let (first, second) = (entry("z", "2026-03-01T10:01:00Z"), entry("a", "2026-03-01T10:01:00Z"));
        let (owner, set) = (object(&[first.clone(), second.clone()]), object(std::slice::from_ref(&first)));
        assert_eq!(union(&owner, [&set]), [first, second]);
    }

    #[test]
    fn only_the_last_ones_are_kept_and_an_edited_annotation_is_none() {
        let many: Vec<HistoryEntry> =
            (10..30).map(|second| entry(&format!("id-{second}"), &format!("2026-03-01T10:00:{second}Z"))).collect();
        let kept = of(&object(&many));
        assert_eq!((kept.len(), kept.first().map(|entry| entry.rollout.id.as_str())), (KEPT, Some("id-20")));
        assert_eq!(of(&json!({"metadata": {"annotations": {HISTORY_ANNOTATION: "edited"}}})), []);
    }
}
