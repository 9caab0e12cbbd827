//! Tolerations: a running pod takes more of them, and another `tolerationSeconds`, and never loses one
//! (`validateOnlyAddedTolerations` in `pkg/apis/core/validation/validation.go`).
//!
//! Admission and controllers give pods tolerations that no template has, so a pod's list is never compared with its
//! template's: what the template gained is added to whatever the pod has.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Claimed, Direction, FieldChange, FieldEffect, FieldProgress, Row, once_there};
use crate::change::reason::Reason;
use crate::k8s::operations::Operations;
use crate::k8s::pod::{Pod, Toleration};
use crate::k8s::workload::Workload;

const PATH: &str = "spec.tolerations";

/// The whole lists of the template, or of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TolerationsChange {
    pub from: Vec<Toleration>,
    pub to: Vec<Toleration>,
}

impl TolerationsChange {
    /// Those that are new, or get another `tolerationSeconds`.
    fn gained(&self) -> impl Iterator<Item = &Toleration> {
        self.to.iter().filter(|toleration| !self.from.contains(toleration))
    }

    /// Those that are gone, not even with another `tolerationSeconds`.
    fn lost(&self) -> impl Iterator<Item = &Toleration> {
        self.from.iter().filter(|toleration| find(&self.to, toleration).is_none())
    }

    fn added_to(&self, mut list: Vec<Toleration>) -> Vec<Toleration> {
        for toleration in self.gained() {
            match list.iter_mut().find(|known| known.is_like(toleration)) {
                Some(known) => known.toleration_seconds = toleration.toleration_seconds,
                None => list.push(toleration.clone()),
            }
        }
        list
    }

    pub(super) fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        let (Some(from), Some(to)) = (read(before), read(after)) else { return Self::default() };
        let change = Self { from, to };
        // Another order alone is compared like everything else.
        if change.gained().next().is_none() && change.lost().next().is_none() {
            return Self::default();
        }
        claimed.insert(PATH.to_owned());
        change
    }

    pub(super) fn reversed(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone() }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        let touches = |toleration: &Toleration| self.gained().chain(self.lost()).any(|own| own.is_like(toleration));
        other.gained().chain(other.lost()).all(touches)
    }

    pub(super) fn rebase_on(&mut self, first: &Self) {
        if !first.is_empty() {
            self.from.clone_from(&first.from);
        }
    }

    pub(super) fn left_in(&self, pod: &Pod) -> Self {
        if self.gained().next().is_none() {
            return Self::default();
        }
        let from = pod.spec.tolerations.clone();
        // A pod without more than its manifest's has them in the order of its manifest.
        let is_all = from.iter().all(|known| find(&self.to, known).is_some());
        let to = if is_all && from == self.from { self.to.clone() } else { self.added_to(from.clone()) };
        Self { from, to }
    }
}

impl FieldChange for TolerationsChange {
    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        if self.is_empty() {
            return Some(());
        }
        let mut list = read(template)?;
        if list == self.from {
            list.clone_from(&self.to);
        } else {
            list.retain(|known| !self.lost().any(|lost| lost.is_like(known)));
            list = self.added_to(list);
        }
        let spec = template.get_mut("spec")?.as_object_mut()?;
        if list.is_empty() {
            spec.shift_remove("tolerations");
        } else {
            spec.insert("tolerations".to_owned(), json!(list));
        }
        Some(())
    }

    fn refused(&self, _: &Workload, direction: Direction) -> Vec<Reason> {
        let reason = |lost: &Toleration| Reason::TolerationRemoved { toleration: lost.to_string() };
        match direction {
            Direction::Forward => self.lost().map(reason).collect(),
            Direction::Back => Vec::new(),
        }
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        let is_other = |wanted: &Toleration| {
            let known = (find(&self.from, wanted), find(&pod.spec.tolerations, wanted));
            matches!(known, (Some(before), Some(now)) if now != before && now != wanted)
        };
        self.gained().any(is_other).then(|| PATH.to_owned())
    }

    fn write(&self, pod: &Pod, operations: &mut Operations) {
        let left = self.left_in(pod);
        if left.is_empty() {
            return;
        }
        let present = if left.from.is_empty() { Value::Null } else { json!(left.from) };
        operations.test(["spec", "tolerations"], present);
        operations.add(["spec", "tolerations"], json!(left.to));
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        once_there(self.left_in(pod).is_empty())
    }

    fn rows(&self) -> Vec<Row> {
        let row = |before: Option<&Toleration>, after: Option<&Toleration>| Row {
            path: PATH.to_owned(),
            what: format!("toleration {}", after.or(before).map(Toleration::to_string).unwrap_or_default()),
            before: before.map(Toleration::to_string),
            after: after.map(Toleration::to_string),
            effect: if after.is_some() { FieldEffect::InPlace } else { FieldEffect::LaterPods },
        };
        let gained = self.gained().map(|toleration| row(find(&self.from, toleration), Some(toleration)));
        gained.chain(self.lost().map(|toleration| row(Some(toleration), None))).collect()
    }
}

impl Toleration {
    /// Whether the API server takes it for the same one: all but `tolerationSeconds` is.
    fn is_like(&self, other: &Self) -> bool {
        let same = |of: fn(&Self) -> &String| of(self) == of(other);
        same(|t| &t.key)
            && same(|t| &t.operator)
            && same(|t| &t.value)
            && same(|t| &t.effect)
            && self.other == other.other
    }
}

/// As `kubectl describe` has it (`printTolerationsMultilineWithIndent`).
impl fmt::Display for Toleration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        if !self.effect.is_empty() {
            write!(f, ":{}", self.effect)?;
        }
        if !matches!(self.operator.as_str(), "" | "Equal") {
            let gap = if self.key.is_empty() && self.effect.is_empty() { "" } else { " " };
            write!(f, "{gap}op={}", self.operator)?;
        }
        match self.toleration_seconds {
            Some(seconds) => write!(f, " for {seconds}s"),
            None => Ok(()),
        }
    }
}

fn find<'t>(list: &'t [Toleration], toleration: &Toleration) -> Option<&'t Toleration> {
    list.iter().find(|known| known.is_like(toleration))
}

/// Returns the tolerations of a template; `None` if the API does not serve them so, or one occurs twice.
fn read(template: &Value) -> Option<Vec<Toleration>> {
    let list = match template.pointer("/spec/tolerations") {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(list) => Vec::<Toleration>::deserialize(list).ok()?,
    };
    let is_once =
        |(at, toleration): (usize, &Toleration)| !list.iter().skip(at + 1).any(|other| other.is_like(toleration));
    list.iter().enumerate().all(is_once).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::WorkloadKind;

    /// `gpu`, or `gpu/30` with its seconds.
    fn list(words: &str) -> Value {
        let toleration = |word: &str| match word.split_once('/') {
            Some((key, seconds)) => json!({"key": key, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": seconds.parse::<i64>().unwrap()}),
            None => json!({"key": word, "operator": "Exists", "effect": "NoExecute"}),
        };
        words.split_whitespace().map(toleration).collect()
    }

    fn words(list: &[Toleration]) -> String {
        let word = |t: &Toleration| match t.toleration_seconds {
            Some(seconds) => format!("{}/{seconds}", t.key),
            None => t.key.clone(),
        };
        list.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn template(list: &Value) -> Value {
        json!({"spec": {"tolerations": list}})
    }

    fn change(from: &str, to: &str) -> (TolerationsChange, bool) {
        let mut claimed = Claimed::new();
        let change = TolerationsChange::between(&template(&list(from)), &template(&list(to)), &mut claimed);
        (change, !claimed.is_empty())
    }

    fn pod(tolerations: &str) -> Pod {
        let spec = json!({"containers": [], "tolerations": list(tolerations)});
        Pod::from_object(&json!({"metadata": {"name": "p", "uid": "u"}, "spec": spec})).unwrap()
    }

    #[test]
    fn what_the_template_gained_is_added_to_whatever_the_pod_has() {
        // Template before and after, the pod, and what the pod has in the end; nothing where nothing is to be done.
        for (from, to, present, expected) in [
            ("", "gpu", "not-ready/300", "not-ready/300 gpu"),
            ("a", "a gpu", "a not-ready/300", "a not-ready/300 gpu"),
            ("a", "gpu a", "a", "gpu a"),
            ("a", "a gpu", "a gpu", ""),
            ("a", "a gpu", "not-ready/300 gpu a", ""),
            ("a/30", "a/60", "a/30 other", "a/60 other"),
            ("", "not-ready/30", "not-ready/300", "not-ready/30"),
            ("a gpu", "a", "a gpu not-ready/300", ""),
            ("a gpu", "a b", "a gpu", "a gpu b"),
        ] {
            let (change, _) = change(from, to);
            let left = change.left_in(&pod(present));
            let found = if left.is_empty() { String::new() } else { words(&left.to) };
            assert_eq!(found, expected, "{from} -> {to} in {present}");
            let mut operations = Operations::default();
            change.write(&pod(present), &mut operations);
            let patch = serde_json::to_value(operations.into_patch(&pod(present))).unwrap();
            let test = json!({"op": "test", "path": "/spec/tolerations", "value": list(present)});
            let add = json!({"op": "add", "path": "/spec/tolerations", "value": list(expected)});
            assert_eq!(patch, if expected.is_empty() { json!([]) } else { json!([test, add]) });
            // With what is left as the whole of it, the pod's own list before is known.
            assert_eq!(left.conflict_in(&pod(present)), None);
            assert!(expected.is_empty() || left.left_in(&pod(expected)).is_empty(), "{from} -> {to} in {present}");
        }
    }

    #[test]
    fn a_pod_without_any_gets_its_list() {
        let (change, _) = change("", "gpu");
        let mut operations = Operations::default();
        change.write(&pod(""), &mut operations);
        let patch = serde_json::to_value(operations.into_patch(&pod(""))).unwrap();
        assert_eq!(patch[0], json!({"op": "test", "path": "/spec/tolerations", "value": null}));
        assert_eq!(patch[1], json!({"op": "add", "path": "/spec/tolerations", "value": list("gpu")}));
    }

    #[test]
    fn only_what_a_pod_would_lose_is_refused_and_undo_leaves_it() {
        let object = json!({"metadata": {"name": "web", "uid": "u"}});
        let workload = Workload::from_object(WorkloadKind::Deployment, object).unwrap();
        for (from, to, lost) in
            [("a", "a b", ""), ("a/30", "a/60", ""), ("a b", "a", "b"), ("a b", "c", "a b"), ("a/30", "a", "")]
        {
            let (change, claimed) = change(from, to);
            assert!(claimed);
            let refused = |direction| change.refused(&workload, direction);
            let expected: Vec<Reason> = lost
                .split_whitespace()
                .map(|key| Reason::TolerationRemoved { toleration: format!("{key}:NoExecute op=Exists") })
                .collect();
            assert_eq!(refused(Direction::Forward), expected, "{from} -> {to}");
            assert_eq!(refused(Direction::Back), [], "{from} -> {to}");
        }
        for (from, to) in [("a b", "b a"), ("a", "a"), ("a a", "a b"), ("a", "b b")] {
            let (change, claimed) = change(from, to);
            assert!(change.is_empty() && !claimed, "{from} -> {to} is compared like everything else");
        }
        let mut claimed = Claimed::new();
        let odd = template(&json!([{"key": 3}]));
        assert!(TolerationsChange::between(&odd, &template(&list("a")), &mut claimed).is_empty() && claimed.is_empty());
    }

    #[test]
    fn a_template_goes_there_and_back_and_keeps_what_others_have_added_since() {
        for (from, to, present, expected) in [
            ("a", "gpu a", "a", "gpu a"),
            ("gpu a", "a", "gpu a", "a"),
            ("gpu", "", "gpu", ""),
            ("", "gpu", "later", "later gpu"),
            ("a gpu", "a", "a gpu later", "a later"),
            ("a/30", "a/60", "later a/30", "later a/60"),
        ] {
            let mut found = template(&list(present));
            change(from, to).0.apply(&mut found).unwrap();
            assert_eq!(words(&read(&found).unwrap()), expected, "{from} -> {to} of {present}");
        }
        let mut bare = json!({"spec": {}});
        change("", "gpu").0.apply(&mut bare).unwrap();
        change("gpu", "").0.apply(&mut bare).unwrap();
        assert_eq!(bare, json!({"spec": {}}));
    }

    #[test]
    fn seconds_that_somebody_else_has_set_are_a_conflict_and_another_toleration_is_none() {
        for (from, to, present, conflict) in [
            ("a/30", "a/60", "a/30", false),
            ("a/30", "a/60", "a/60 b", false),
            ("a/30", "a/60", "a/45", true),
            ("", "a", "b", false),
            // Admission has given it to the pod, and no template has it.
            ("", "a/60", "a/300", false),
        ] {
            let found = change(from, to).0.conflict_in(&pod(present));
            assert_eq!(found.is_some(), conflict, "{from} -> {to} in {present}");
        }
    }

    #[test]
    fn a_toleration_reads_as_kubectl_describes_it() {
        for (toleration, expected) in [
            (json!({"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}), "dedicated=gpu:NoSchedule"),
            (
                json!({"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}),
                "x:NoExecute op=Exists for 30s",
            ),
            (json!({"operator": "Exists"}), "op=Exists"),
            (json!({"key": "x", "operator": "Equal", "value": "y"}), "x=y"),
        ] {
            assert_eq!(Toleration::deserialize(toleration).unwrap().to_string(), expected);
        }
        let later = json!({"key": "x", "cooldown": {"s": 3}});
        assert_eq!(json!(Toleration::deserialize(&later).unwrap()), later);
    }

    #[test]
    fn a_going_on_change_covers_what_it_touches_itself() {
        for (own, other, covers) in [
            (("a", "a b"), ("a", "a b"), true),
            (("a", "a b c"), ("a", "a b"), true),
            (("a", "a c"), ("a", "a b"), false),
            (("a", "a c"), ("a", "a"), true),
            (("a b", "a"), ("a", "a b"), true),
        ] {
            assert_eq!(change(own.0, own.1).0.covers(&change(other.0, other.1).0), covers, "{own:?} {other:?}");
        }
    }
}
