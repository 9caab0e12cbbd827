//! Makes patches: what one object says beyond another one, or what it no longer says.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::{DELETE_FROM_LIST, Error, PATCH, RETAIN_KEYS, SET_ORDER, at, text};
use crate::merge::schema::{Field, ListMerge, Schema};

/// Which half of the difference a patch is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Changes,
    Deletions,
}

/// The difference of two maps as a patch; `retain` adds the `$retainKeys` of a map that keeps no other keys.
/// Upstream: `diffMaps`.
pub(super) fn maps(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    schema: Schema,
    keep: Keep,
    retain: bool,
    path: &str,
) -> Result<Map<String, Value>, Error> {
    let mut patch = Map::new();
    for (name, new) in new {
        let field = schema.field(name);
        match (old.get(name), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let below = maps(old, new, field.below, keep, field.retain_keys, &super::field(path, name))?;
                if !below.is_empty() {
                    patch.insert(name.clone(), Value::Object(below));
                }
            }
            (Some(Value::Array(old)), Value::Array(new)) if field.list != ListMerge::Atomic => {
                lists(name, old, new, field, keep, &super::field(path, name), &mut patch)?;
            }
            (old, new) => {
                if keep == Keep::Changes && old != Some(new) {
                    patch.insert(name.clone(), new.clone());
                }
            }
        }
    }
    if keep == Keep::Deletions {
        patch.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), Value::Null)));
    }
    if retain {
        let mut keys: Vec<&str> = new.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| &**name).collect();
        let clears = || old.iter().any(|(name, value)| !value.is_null() && !new.contains_key(name));
        if !keys.is_empty() && (!patch.is_empty() || clears()) {
            keys.sort_unstable();
            patch.insert(RETAIN_KEYS.to_owned(), json!(keys));
        }
    }
    Ok(patch)
}

/// What is changed in, added to or removed from a list that merges. Upstream: `diffLists`, `diffListsOfScalars` and
/// `diffListsOfMaps`.
fn lists(
    name: &str,
    old: &[Value],
    new: &[Value],
    field: Field,
    keep: Keep,
    path: &str,
    patch: &mut Map<String, Value>,
) -> Result<(), Error> {
    let list = field.list;
    list.check(old, path)?;
    list.check(new, path)?;
    let mut insert = |name: String, list: Vec<Value>| {
        if !list.is_empty() {
            patch.insert(name, Value::Array(list));
        }
    };
    if old.is_empty() {
        if keep == Keep::Changes {
            insert(name.to_owned(), new.to_vec());
        }
        return Ok(());
    }
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for pair in pairs(old, new, list) {
        match (list, pair) {
            (ListMerge::ByKey(key), (Some(Value::Object(old)), Some(element @ Value::Object(fields)))) => {
                let path = at(path, list.position(new, element).unwrap_or_default());
                let mut patch = maps(old, fields, field.below, keep, field.retain_keys, &path)?;
                if !patch.is_empty() {
                    patch.insert(key.to_owned(), list.identity(element).clone());
                    changed.push(Value::Object(patch));
                }
            }
            (_, (None, Some(new))) if keep == Keep::Changes => changed.push(new.clone()),
            (ListMerge::ByKey(key), (Some(old), None)) if keep == Keep::Deletions => {
                removed.push(json!({ key: list.identity(old), PATCH: "delete" }));
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
    if !changed.is_empty() || !removed.is_empty() || (keep == Keep::Changes && !same_order) {
        let order = new.iter().map(|element| match list {
            ListMerge::ByKey(key) => json!({ key: list.identity(element) }),
            ListMerge::Set | ListMerge::Atomic => element.clone(),
        });
        insert(format!("{SET_ORDER}{name}"), order.collect());
    }
    let mut changed = list.sort_by(changed, new);
    if matches!(list, ListMerge::ByKey(_)) {
        changed.append(&mut removed);
    }
    insert(name.to_owned(), changed);
    insert(format!("{DELETE_FROM_LIST}{name}"), removed);
    Ok(())
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
