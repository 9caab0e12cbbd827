//! Strategic merge patches as Kubernetes makes and applies them.
//!
//! [`three_way`] makes the patch that `kubectl apply` would send, [`apply()`] does to an object what the API server does with
//! it, before defaulting and admission. The rules and the order of merged lists are those of
//! `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`; vectors made with it are in `tests/vectors`.
//!
//! Not done here: defaults ([`Schema::fill`]), validation, preconditions (name, kind), the last-applied annotation, and
//! the conflict check of `kubectl apply --overwrite=false`.
//!
//! Where this differs from upstream, on purpose: a field that Kubernetes does not know merges by the default rule instead
//! of being an error, and of a list element or map that is taken over whole nothing but its content is stored: no nulls and
//! no directives. Upstream leaves some there; the server's decoder drops the nulls and, if strict, refuses the directives.
//! Two elements with one merge key are no error, as upstream: the first one takes the change. Where upstream then refuses the
//! patch that it made itself (such elements with another one between), this applies it.

mod apply;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use serde_json::{Map, Value, json};

use self::apply::{Merge, Target};
use super::schema::{Field, ListMerge, Schema};
use crate::value::json_path::element;

/// Sets what a map or list element becomes: `delete` or `replace`.
const PATCH: &str = "$patch";
/// Lists the only keys that a map may keep.
const RETAIN_KEYS: &str = "$retainKeys";
/// `$deleteFromPrimitiveList/FIELD` lists the scalars to remove from FIELD.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList/";
/// `$setElementOrder/FIELD` lists the order of the elements of FIELD.
const SET_ORDER: &str = "$setElementOrder/";

type Fields = Map<String, Value>;

type Result<T, E = Error> = std::result::Result<T, E>;

/// Says why two objects, or an object and a patch, cannot be merged, and at which path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn at(path: &str, what: impl std::fmt::Display) -> Self {
        let path = if path.is_empty() { "the object" } else { path };
        Self(format!("{path} {what}"))
    }

    fn wrong_type(path: &str, found: &Value, expected: &str) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "a map",
        };
        Self::at(path, format!("is {found}, expected {expected}"))
    }
}

/// Makes the patch that `kubectl apply` sends: what `modified` (the manifest) says where `current` (the live object) differs,
/// and deletions of what `original` (the last applied manifest) has and `modified` has not. Without `original` nothing is
/// deleted. A null in `modified` deletes the field. What `current` has beyond both stays.
///
/// Upstream: `CreateThreeWayMergePatch` with `overwrite`, as called by kubectl's `pkg/cmd/apply/patcher.go`.
/// It is an error if an object is not a map, or a list to be merged has elements of mixed types or without their merge key.
pub fn three_way(original: Option<&Value>, modified: &Value, current: &Value, schema: Schema) -> Result<Value, Error> {
    let empty = Map::new();
    let original = original.map_or(Ok(&empty), map_of)?;
    let (modified, current) = (map_of(modified)?, map_of(current)?);
    let rule = Field::whole(schema);
    let changes = difference(current, modified, rule, Keep::Changes, "")?;
    let deletions = difference(original, modified, rule, Keep::Deletions, "")?;
    Merge { rule, target: Target::Patch, path: "" }.maps(deletions, changes).map(Value::Object)
}

/// Applies a strategic merge patch as the API server does, and returns the object it would go on with. Understands
/// `$patch: delete` and `$patch: replace`, `$retainKeys`, `$deleteFromPrimitiveList/` and `$setElementOrder/`;
/// `$patch: merge` is refused, as upstream.
///
/// Upstream: `StrategicMergeMapPatch`.
/// It is an error if the object or the patch is not a map, a directive is malformed or contradicts the patch, or a list
/// to be merged has elements of mixed types or without their merge key.
pub fn apply(current: &Value, patch: &Value, schema: Schema) -> Result<Value, Error> {
    let merge = Merge { rule: Field::whole(schema), target: Target::Object, path: "" };
    merge.maps(map_of(current)?.clone(), map_of(patch)?.clone()).map(Value::Object)
}

fn map_of(value: &Value) -> Result<&Fields> {
    value.as_object().ok_or_else(|| Error::wrong_type("", value, "a map"))
}

fn field(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn at(path: &str, index: usize) -> String {
    element(path, &index.to_string())
}

/// What makes two elements of a list the same one: the element itself in a set, the value of its key in a list of maps.
impl ListMerge {
    /// What identifies the element; null where it lacks its key.
    fn identity(self, element: &Value) -> &Value {
        match self {
            Self::Atomic | Self::Set => element,
            Self::ByKey(key) => element.get(key).unwrap_or(&Value::Null),
        }
    }

    fn position(self, list: &[Value], element: &Value) -> Option<usize> {
        let wanted = self.identity(element);
        list.iter().position(|other| self.identity(other) == wanted)
    }

    /// Checks that every element is a scalar, or a map that has its key.
    fn check(self, list: &[Value], path: &str) -> Result<()> {
        list.iter().enumerate().try_for_each(|(index, element)| match (self, element) {
            (Self::ByKey(key), Value::Object(fields)) if fields.contains_key(key) => Ok(()),
            (Self::ByKey(key), Value::Object(_)) => {
                let what = format!("has no {key}, the key that elements of this list are matched by");
                Err(Error::at(&at(path, index), what))
            }
            (Self::ByKey(_), other) => Err(Error::wrong_type(&at(path, index), other, "a map")),
            (Self::Atomic | Self::Set, Value::Null | Value::Array(_) | Value::Object(_)) => {
                Err(Error::wrong_type(&at(path, index), element, "a scalar"))
            }
            (Self::Atomic | Self::Set, Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(()),
        })
    }

    /// The elements sorted by the text of what identifies them. Of elements with one identity the later one comes first:
    /// upstream's comparison swaps equal elements, and which of two ports with one number is matched follows from it.
    fn sorted(self, list: &[Value]) -> Vec<&Value> {
        let mut indexed: Vec<(usize, &Value)> = list.iter().enumerate().collect();
        indexed.sort_by_cached_key(|(index, element)| (text(self.identity(element)).into_owned(), Reverse(*index)));
        indexed.into_iter().map(|(_, element)| element).collect()
    }

    /// Brings a merged list in order: the elements that `wanted` names as there, the others as in `live`, interleaved by
    /// the live list as far as that contradicts neither. Upstream: `normalizeElementOrder`.
    fn in_order(self, merged: Vec<Value>, wanted: &[Value], live: &[Value]) -> Vec<Value> {
        let (named, others): (Vec<_>, Vec<_>) =
            merged.into_iter().partition(|element| self.position(wanted, element).is_some());
        let mut ordered = Vec::with_capacity(named.len() + others.len());
        let mut others = self.sort_by(others, live).into_iter().peekable();
        for element in self.sort_by(named, wanted) {
            let limit = self.position(live, &element);
            let is_earlier =
                |other: &Value| self.position(live, other).zip(limit).is_some_and(|(at, limit)| at < limit);
            ordered.extend(std::iter::from_fn(|| others.next_if(is_earlier)));
            ordered.push(element);
        }
        ordered.extend(others);
        ordered
    }

    /// Sorts by the positions in `order`; deletions go last. Among elements that `order` does not name every one counts as
    /// less than its neighbour, which turns them round: upstream's comparison in `normalizeSliceOrder` does so.
    fn sort_by(self, list: Vec<Value>, order: &[Value]) -> Vec<Value> {
        let is_deletion = |element: &Value| element.get(PATCH).is_some_and(|directive| directive == "delete");
        let (deletions, list): (Vec<_>, Vec<_>) = list.into_iter().partition(is_deletion);
        let mut sorted: Vec<(Option<usize>, Value)> = Vec::with_capacity(list.len());
        for element in list {
            let position = self.position(order, &element);
            let is_less = |other: Option<usize>| position.zip(other).is_none_or(|(position, other)| position < other);
            let place = sorted.iter().rposition(|(other, _)| !is_less(*other)).map_or(0, |last| last + 1);
            sorted.insert(place, (position, element));
        }
        sorted.into_iter().map(|(_, element)| element).chain(deletions).collect()
    }
}

/// The value as Go's `%v` writes it, which is what upstream sorts and matches by.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed("<nil>"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// Which half of the difference a patch is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Changes,
    Deletions,
}

/// The difference of two maps as a patch. Upstream: `diffMaps`.
fn difference(old: &Fields, new: &Fields, rule: Field, keep: Keep, path: &str) -> Result<Fields> {
    let mut patch = Map::new();
    for (name, new) in new {
        let field = rule.below.field(name);
        match (old.get(name), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let below = difference(old, new, field, keep, &self::field(path, name))?;
                patch.extend((!below.is_empty()).then(|| (name.clone(), Value::Object(below))));
            }
            (Some(Value::Array(old)), Value::Array(new)) if field.list != ListMerge::Atomic => {
                patch.extend(difference_of_lists(old, new, field, keep, &self::field(path, name))?);
            }
            (old, new) if keep == Keep::Changes && old != Some(new) => drop(patch.insert(name.clone(), new.clone())),
            (_, _) => {}
        }
    }
    if keep == Keep::Deletions {
        patch.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), Value::Null)));
    }
    if rule.retain_keys {
        let mut keys: Vec<&str> = new.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| &**name).collect();
        let clears = || old.iter().any(|(name, value)| !value.is_null() && !new.contains_key(name));
        if !keys.is_empty() && (!patch.is_empty() || clears()) {
            keys.sort_unstable();
            patch.insert(RETAIN_KEYS.to_owned(), json!(keys));
        }
    }
    Ok(patch)
}

/// The difference of a list that merges. Upstream: `diffLists`, `diffListsOfScalars` and `diffListsOfMaps`.
fn difference_of_lists(old: &[Value], new: &[Value], rule: Field, keep: Keep, path: &str) -> Result<Fields> {
    let Field { name, list, .. } = rule;
    list.check(old, path)?;
    list.check(new, path)?;
    if old.is_empty() {
        let is_new = keep == Keep::Changes && !new.is_empty();
        return Ok(is_new.then(|| (name.to_owned(), new.into())).into_iter().collect());
    }
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for pair in pairs(old, new, list) {
        match (list, pair) {
            (ListMerge::ByKey(key), (Some(Value::Object(old)), Some(element @ Value::Object(fields)))) => {
                let path = at(path, list.position(new, element).unwrap_or_default());
                let mut patch = difference(old, fields, rule, keep, &path)?;
                if !patch.is_empty() {
                    patch.insert(key.to_owned(), list.identity(element).clone());
                    changed.push(Value::Object(patch));
                }
            }
            (_, (None, Some(new))) if keep == Keep::Changes => changed.push(new.clone()),
            (ListMerge::ByKey(key), (Some(old), None)) if keep == Keep::Deletions => {
                changed.push(json!({ key: list.identity(old), PATCH: "delete" }));
            }
            (_, (Some(old), None)) if keep == Keep::Deletions && removed.last() != Some(old) => {
                removed.push(old.clone());
            }
            (_, (_, _)) => {}
        }
    }
    let same_order = match list {
        ListMerge::ByKey(_) => old.iter().map(|old| list.identity(old)).eq(new.iter().map(|new| list.identity(new))),
        // Upstream has sorted the old list by now: a set in any other order always gets an order directive.
        ListMerge::Set | ListMerge::Atomic => list.sorted(old).into_iter().eq(new),
    };
    let is_ordered = !changed.is_empty() || !removed.is_empty() || (keep == Keep::Changes && !same_order);
    let order = new.iter().filter(|_| is_ordered).map(|element| match list {
        ListMerge::ByKey(key) => json!({ key: list.identity(element) }),
        ListMerge::Set | ListMerge::Atomic => element.clone(),
    });
    let lists = [(SET_ORDER, order.collect()), ("", list.sort_by(changed, new)), (DELETE_FROM_LIST, removed)];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    Ok(lists.map(|(directive, list)| (format!("{directive}{name}"), Value::Array(list))).collect())
}

/// Pairs the elements of two lists by what identifies them, in the order of its text.
fn pairs<'v>(old: &'v [Value], new: &'v [Value], list: ListMerge) -> Vec<(Option<&'v Value>, Option<&'v Value>)> {
    let mut old = list.sorted(old).into_iter().peekable();
    let mut new = list.sorted(new).into_iter().peekable();
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => text(list.identity(old)).cmp(&text(list.identity(new))),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        pairs.push((old.next_if(|_| order.is_le()), new.next_if(|_| order.is_ge())));
    }
}
