//! JSON merge patches (RFC 7386), as `kubectl apply` makes them for custom resources: lists are taken over whole.

use serde_json::{Map, Value};

/// Makes the patch that `kubectl apply` sends for a custom resource, of the same three objects as
/// [`three_way`](super::strategic_merge::three_way) takes.
///
/// Upstream: `CreateThreeWayJSONMergePatch` in `k8s.io/apimachinery/pkg/util/jsonmergepatch/patch.go`.
pub fn three_way(original: Option<&Value>, modified: &Value, current: &Value) -> Value {
    let mut patch = difference(Some(current), modified, Keep::Changes);
    let deletions = difference(original, modified, Keep::Deletions);
    add(&mut patch, deletions);
    Value::Object(patch)
}

/// Applies a patch as the API server does, and returns the object it would go on with.
pub fn apply(current: &Value, patch: &Value) -> Value {
    let mut object = current.clone();
    json_patch::merge(&mut object, patch);
    object
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Changes,
    Deletions,
}

/// What leads from one object to another; the empty map where there is nothing to do.
fn difference(from: Option<&Value>, to: &Value, keep: Keep) -> Map<String, Value> {
    let empty = Map::new();
    let from = from.and_then(Value::as_object).unwrap_or(&empty);
    let Some(to) = to.as_object() else { return Map::new() };
    let mut found = Map::new();
    for (key, new) in to {
        let old = from.get(key);
        let is_map_of_both = old.is_some_and(Value::is_object) && new.is_object();
        if is_map_of_both || keep == Keep::Deletions && new.is_object() {
            let below = difference(old, new, keep);
            if !below.is_empty() {
                found.insert(key.clone(), Value::Object(below));
            }
        } else if new.is_null() && keep == Keep::Deletions
            || keep == Keep::Changes && old != Some(new) && !new.is_null()
        {
            found.insert(key.clone(), without_nulls(new));
        }
    }
    if keep == Keep::Deletions {
        found.extend(from.keys().filter(|key| !to.contains_key(*key)).map(|key| (key.clone(), Value::Null)));
    }
    found
}

/// In maps; in lists they stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value.clone(),
    }
}

fn add(patch: &mut Map<String, Value>, deletions: Map<String, Value>) {
    for (key, value) in deletions {
        match (patch.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(deletions)) => add(below, deletions),
            (Some(_), _) => {}
            (None, value) => drop(patch.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_has_what_changed_and_what_was_taken_away() {
        let original =
            json!({"spec": {"a": 1, "gone": {"x": 1}, "map": {"old": 1, "kept": 1}, "list": [{"name": "c"}]}});
        let current = json!({"spec": {"a": 1, "gone": {"x": 1}, "map": {"old": 1, "kept": 1, "theirs": 1},
            "list": [{"name": "c", "default": true}], "theirs": 1}, "status": {}});
        let modified = json!({"spec": {"a": 2, "map": {"kept": 1, "new": 1}, "list": [{"name": "c", "image": "d"}]}});
        let patch = three_way(Some(&original), &modified, &current);
        let expected = json!({"spec": {"a": 2, "gone": null, "map": {"old": null, "new": 1},
            "list": [{"name": "c", "image": "d"}]}});
        assert_eq!(patch, expected);
        let applied = json!({"spec": {"a": 2, "map": {"kept": 1, "theirs": 1, "new": 1},
            "list": [{"name": "c", "image": "d"}], "theirs": 1}, "status": {}});
        assert_eq!(apply(&current, &patch), applied);
        assert_eq!(three_way(Some(&modified), &modified, &applied), json!({}));
    }

    #[test]
    fn without_a_manifest_from_before_nothing_is_taken_away() {
        let current = json!({"spec": {"a": 1, "b": {"c": 1}}});
        assert_eq!(three_way(None, &json!({"spec": {"a": 2, "b": {}}}), &current), json!({"spec": {"a": 2}}));
    }
}
