//! The difference between two pod templates, or two pods, as raw JSON: no field that this build does not know is lost.
//!
//! Containers are compared by name, never by index; so are the elements of other lists that have names. Both sides must
//! have gone through the same defaulting; `null`, an absent field and an empty list are the same. Of very many paths the
//! first are named and the others counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::value::json_path::{element, join};

/// How many paths are named; the last of them says how many more there are.
const MAX_PATHS: usize = 100;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateDiff {
    /// Containers that only the second has.
    pub added: Vec<Listed>,
    /// Containers that only the first has.
    pub removed: Vec<Listed>,
    /// Containers of the first that the second has under another name, and that name.
    pub renamed: Vec<(Listed, ContainerName)>,
    /// Every other path that differs, containers by name, sorted.
    pub other: Vec<String>,
}

/// A container, and its list in the pod spec.
type Listed = (ContainerList, ContainerName);

/// Changed paths, as many as are named.
#[derive(Default)]
struct Paths {
    named: Vec<String>,
    more: usize,
    /// Those that somebody else answers for.
    claimed: BTreeSet<String>,
}

impl Paths {
    fn push(&mut self, path: String) {
        if self.named.len() < MAX_PATHS { self.named.push(path) } else { self.more = self.more.saturating_add(1) }
    }

    fn count(&self) -> usize {
        self.named.len().saturating_add(self.more)
    }

    fn sorted(mut self) -> Vec<String> {
        self.named.sort();
        if let Some(last) = self.named.last_mut().filter(|_| self.more > 0) {
            last.push_str(&format!(" (and {} more)", self.more));
        }
        self.named
    }
}

/// The keys by which the elements of a list may be told apart.
const ELEMENT_KEYS: [&str; 5] = ["name", "mountPath", "devicePath", "containerPort", "key"];

/// How the path of a list ends whose elements only change places.
pub(crate) const ORDER: &str = " (order)";

/// Bounds the pairs of containers that are compared for a new name; a change that replaces more than a hundred by
/// others does not rename them.
const MAX_RENAME_PAIRS: usize = 10_000;

/// Compares two templates (`metadata` and `spec`), but for the paths that somebody else answers for.
pub fn diff(before: &Value, after: &Value, claimed: BTreeSet<String>) -> TemplateDiff {
    let mut found = TemplateDiff::default();
    let mut paths = Paths { claimed, ..Paths::default() };
    compare_but(before, after, "", &["spec", "metadata"], &mut paths);
    compare_but(part(before, "metadata"), part(after, "metadata"), "metadata", &[], &mut paths);
    let (before, after) = (part(before, "spec"), part(after, "spec"));
    compare_but(before, after, "spec", &["containers", "initContainers"], &mut paths);
    for list in ContainerList::ALL {
        containers(before, after, list, &mut found, &mut paths);
    }
    found.other = paths.sorted();
    found
}

fn part<'v>(template: &'v Value, name: &str) -> &'v Value {
    template.get(name).unwrap_or(&Value::Null)
}

/// Returns the paths at which two values differ, each prefixed by `path`.
pub fn changed_paths(before: &Value, after: &Value, path: &str) -> Vec<String> {
    let mut paths = Paths::default();
    compare(before, after, path, &mut paths);
    paths.sorted()
}

fn containers(before: &Value, after: &Value, list: ContainerList, found: &mut TemplateDiff, paths: &mut Paths) {
    let field = list.spec_field();
    let empty = Value::Array(Vec::new());
    let (old, new) = (before.get(field).unwrap_or(&empty), after.get(field).unwrap_or(&empty));
    let (Some(old), Some(new)) = (by_key(old, "name"), by_key(new, "name")) else {
        // Not what the API serves: compared literally, so that nothing is lost.
        compare(old, new, &format!("spec.{field}"), paths);
        return;
    };
    let is_new = |name: &String| !old.iter().any(|(known, _)| known == name);
    let mut added: Vec<&(String, &Value)> = new.iter().filter(|(name, _)| is_new(name)).collect();
    let gone = (old.len() + added.len()).saturating_sub(new.len());
    let may_be_renamed = gone.saturating_mul(added.len()) <= MAX_RENAME_PAIRS;
    let listed = |name: &str| (list, ContainerName::from(name));
    for (name, container) in &old {
        let Some((_, other)) = new.iter().find(|(known, _)| known == name) else {
            let renamed = added.iter().position(|(_, candidate)| may_be_renamed && same_but_name(container, candidate));
            match renamed {
                Some(index) => found.renamed.push((listed(name), ContainerName::from(added.remove(index).0.as_str()))),
                None => found.removed.push(listed(name)),
            }
            continue;
        };
        let path = element(&format!("spec.{field}"), name);
        compare_but(container, other, &path, &[], paths);
    }
    found.added.extend(added.into_iter().map(|(name, _)| listed(name)));
}

fn same_but_name(a: &Value, b: &Value) -> bool {
    let mut paths = Paths::default();
    compare_but(a, b, "", &["name"], &mut paths);
    paths.count() == 0
}

/// Pairs a list's elements with their key, if every element has one of its own.
pub(crate) fn by_key<'v>(list: &'v Value, key: &str) -> Option<Vec<(String, &'v Value)>> {
    let mut seen = BTreeSet::new();
    list.as_array()?
        .iter()
        .map(|element| {
            let name = match element.get(key)? {
                Value::String(name) => name.clone(),
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
            };
            seen.insert(name.clone()).then_some((name, element))
        })
        .collect()
}

/// Returns what the elements of a list go by in paths, where it is compared with another one: a key that all of both have,
/// each a value of its own, else their place.
pub fn labels(list: &Value, other: &Value) -> Vec<String> {
    let labels = |key| Some(by_key(list, key)?.into_iter().map(|(name, _)| name).collect());
    let is_common = |key: &&str| !other.is_array() || by_key(other, key).is_some();
    let by_place = || (0..list.as_array().map_or(0, Vec::len)).map(|index| index.to_string()).collect();
    ELEMENT_KEYS.into_iter().filter(is_common).find_map(labels).unwrap_or_else(by_place)
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    }
}

fn compare_but(before: &Value, after: &Value, path: &str, left_out: &[&str], paths: &mut Paths) {
    let nothing = Map::new();
    match (fields_of(before, &nothing), fields_of(after, &nothing)) {
        (Some(old), Some(new)) => compare_fields(old, new, path, left_out, paths),
        (None, None) => compare(before, after, path, paths),
        (Some(_), None) | (None, Some(_)) => paths.push(path.to_owned()),
    }
}

fn fields_of<'v>(value: &'v Value, nothing: &'v Map<String, Value>) -> Option<&'v Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null => Some(nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn compare(before: &Value, after: &Value, path: &str, paths: &mut Paths) {
    if before == after || (is_absent(before) && is_absent(after)) || paths.claimed.contains(path) {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => compare_fields(old, new, path, &[], paths),
        (Value::Array(old), Value::Array(new)) => compare_lists(before, after, (old.len(), new.len()), path, paths),
        _ => paths.push(path.to_owned()),
    }
}

fn compare_fields(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    path: &str,
    left_out: &[&str],
    paths: &mut Paths,
) {
    let compared = |key: &String| !left_out.contains(&key.as_str());
    for (key, value) in old.iter().filter(|(key, _)| compared(key)) {
        compare(value, new.get(key).unwrap_or(&Value::Null), &join(path, key), paths);
    }
    for (key, value) in new.iter().filter(|(key, _)| compared(key) && !old.contains_key(*key)) {
        compare(&Value::Null, value, &join(path, key), paths);
    }
}

fn compare_lists(before: &Value, after: &Value, lengths: (usize, usize), path: &str, paths: &mut Paths) {
    let keyed = ELEMENT_KEYS.into_iter().find_map(|key| {
        let (old, new) = (by_key(before, key)?, by_key(after, key)?);
        Some((old, new))
    });
    let Some((old, new)) = keyed else {
        let at = |list, index: usize| Value::get(list, index).unwrap_or(&Value::Null);
        for index in 0..lengths.0.max(lengths.1) {
            compare(at(before, index), at(after, index), &element(path, &index.to_string()), paths);
        }
        return;
    };
    let found = paths.count();
    for (name, value) in &old {
        let other = new.iter().find(|(known, _)| known == name).map_or(&Value::Null, |(_, value)| *value);
        compare(value, other, &element(path, name), paths);
    }
    for (name, value) in new.iter().filter(|(name, _)| !old.iter().any(|(known, _)| known == name)) {
        compare(&Value::Null, value, &element(path, name), paths);
    }
    if paths.count() == found {
        // The same elements in another order: order has a meaning in most lists (`$(VAR)` in env, for one).
        paths.push(format!("{path}{ORDER}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::{Difference, diff};

    fn template(spec: &Value) -> Value {
        json!({"metadata": {"labels": {"app": "web"}}, "spec": spec})
    }

    #[test]
    fn only_what_differs_is_named() {
        let before = template(&json!({"containers": [
            {"name": "app", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "side", "image": "s:1"}], "volumes": [{"name": "v", "emptyDir": {}}]}));
        let cases = [
            ("/spec/containers/1/image", json!("s:2"), vec![]),
            ("/spec/containers/0/env/1/value", json!("3"), vec!["spec.containers[app].env[B].value"]),
            ("/spec/containers/0/newField", json!({"deep": 1}), vec!["spec.containers[app].newField"]),
            ("/spec/volumes/0/emptyDir/medium", json!("Memory"), vec!["spec.volumes[v].emptyDir.medium"]),
            ("/spec/hostNetwork", json!(true), vec!["spec.hostNetwork"]),
            ("/metadata/labels/app", json!("api"), vec![]),
            ("/metadata/annotations", json!({"a.b/c": "d"}), vec![]),
            ("/metadata/annotations", json!({"a": 1}), vec!["metadata.annotations"]),
            ("/metadata/finalizers", json!(["x"]), vec!["metadata.finalizers"]),
            ("/spec/tolerations", json!([]), vec![]),
            ("/spec/nodeSelector", json!(null), vec![]),
        ];
        for (pointer, value, other) in cases {
            let mut after = before.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            after.pointer_mut(parent).unwrap()[key] = value;
            assert_eq!(diff(&before, &after).rest.other, other, "{pointer}");
        }
    }

    #[test]
    fn an_image_that_is_no_text_is_compared_literally() {
        let template = |image: Value| template(&json!({"containers": [{"name": "app", "image": image}]}));
        let path = "spec.containers[app].image";
        let cases: [(Value, Value, &[&str]); 7] = [
            (json!(1), json!(2), &[path]),
            (json!(1), json!("a:1"), &[path]),
            (json!(null), json!(7), &[path]),
            (json!(1), json!(1), &[]),
            (json!({"a": 1}), json!({"a": 2}), &["spec.containers[app].image.a"]),
            (json!([1]), json!([2]), &["spec.containers[app].image[0]"]),
            (json!(null), json!(""), &[]),
        ];
        for (before, after, expected) in cases {
            let found = diff(&template(before.clone()), &template(after.clone()));
            assert_eq!(found.rest.other, expected, "{before} {after}");
            assert!(found.change.images.is_empty(), "{before} {after}");
        }
        assert_eq!(diff(&template(json!(null)), &template(json!("a:1"))).change.images.len(), 1);
    }

    #[test]
    fn containers_are_identified_by_name() {
        let before = template(&json!({"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}));
        let reordered =
            template(&json!({"containers": [{"name": "b", "image": "b:1"}, {"name": "a", "image": "a:1"}]}));
        assert_eq!(diff(&before, &reordered), Difference::default());
        let listed = |name: &str| (ContainerList::Containers, ContainerName::from(name));
        let renamed = template(&json!({"containers": [{"name": "a", "image": "a:1"}, {"name": "c", "image": "b:1"}]}));
        assert_eq!(diff(&before, &renamed).rest.renamed, [(listed("b"), "c".into())]);
        let other = template(&json!({"containers": [{"name": "a", "image": "a:1"}, {"name": "c", "image": "c:1"}]}));
        let found = diff(&before, &other).rest;
        assert_eq!((found.added, found.removed), (vec![listed("c")], vec![listed("b")]));
    }

    #[test]
    fn metadata_and_the_class_are_distinguished_from_other_fields() {
        let before = template(&json!({"containers": [{"name": "a", "resources": {}}]}));
        let mut after = template(&json!({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}]}));
        after["metadata"]["labels"] = json!({"app": "web", "tier": "front"});
        let found = diff(&before, &after);
        assert_eq!(found.change.fields.metadata.labels.keys().collect::<Vec<_>>(), ["tier"]);
        assert_eq!(found.qos, Some(("BestEffort", "Burstable")));
        assert_eq!(found.rest.other, [""; 0]);
        let limit =
            found.change.fields.rows().into_iter().any(|row| row.path == "spec.containers[a].resources.limits.cpu");
        assert!(limit, "another kind of change answers for it");
    }

    #[test]
    fn of_very_many_paths_the_first_are_named() {
        let template = |value: usize| {
            let fields = (0..1000).map(|index| (format!("f{index:03}"), json!(value)));
            template(&json!({"x": Value::Object(fields.collect())}))
        };
        let found = diff(&template(1), &template(2)).rest.other;
        assert_eq!(found.len(), MAX_PATHS);
        assert_eq!(found.last().map(String::as_str), Some("spec.x.f099 (and 900 more)"));
        let long = |value: usize| json!({"é".repeat(100_000): {"a": {"b": value}}});
        let found = changed_paths(&long(1), &long(2), "");
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [514]);
    }

    #[test]
    fn another_order_of_env_is_a_change() {
        let before = template(&json!({"containers": [{"name": "a", "env": [{"name": "X"}, {"name": "Y"}]}]}));
        let after = template(&json!({"containers": [{"name": "a", "env": [{"name": "Y"}, {"name": "X"}]}]}));
        assert_eq!(diff(&before, &after).rest.other, ["spec.containers[a].env (order)"]);
    }
}
