//! Makes patches: what one object says beyond another one, or what it no longer says.

use super::list::{Identity, sort_by, text};
use super::path::Path;
use super::{DELETE_FROM_LIST, Error, ListMerge, PATCH, RETAIN_KEYS, Rule, SET_ORDER, Schema};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// Which half of the difference a patch is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// What is new or changed.
    Changes,
    /// What is gone.
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
    path: &Path<'_>,
) -> Result<Map<String, Value>, Error> {
    let mut patch = Map::new();
    for (name, new) in new {
        let rule = schema.field(name);
        match (old.get(name), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let below = maps(old, new, rule.below, keep, rule.retain_keys, &path.field(name))?;
                if !below.is_empty() {
                    patch.insert(name.clone(), Value::Object(below));
                }
            }
            (Some(Value::Array(old)), Value::Array(new)) if rule.list != ListMerge::Atomic => {
                merging_lists(name, old, new, rule, keep, &path.field(name), &mut patch)?;
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

/// Upstream: `diffLists`.
fn merging_lists(
    name: &str,
    old: &[Value],
    new: &[Value],
    rule: Rule,
    keep: Keep,
    path: &Path<'_>,
    patch: &mut Map<String, Value>,
) -> Result<(), Error> {
    let identity = Identity::of_list(rule.list);
    identity.check(old, path)?;
    identity.check(new, path)?;
    if old.is_empty() {
        if keep == Keep::Changes && !new.is_empty() {
            patch.insert(name.to_owned(), new.into());
        }
        return Ok(());
    }
    let order: Vec<Value>;
    match identity {
        Identity::Itself => {
            let (added, removed) = sets(old, new, keep);
            // Upstream has sorted the old list by now: a set in any other order always gets an order directive.
            let same_order = identity.sorted(old).into_iter().eq(new);
            let ordered = !removed.is_empty() || (keep == Keep::Changes && !same_order);
            order = if ordered { new.to_vec() } else { Vec::new() };
            insert_list(patch, name.to_owned(), sort_by(added, new, identity));
            insert_list(patch, format!("{DELETE_FROM_LIST}{name}"), removed);
        }
        Identity::Key(key) => {
            let changed = elements(old, new, key, rule, keep, path)?;
            let same_order =
                old.len() == new.len() && old.iter().zip(new).all(|(old, new)| identity.of(old) == identity.of(new));
            let ordered = !changed.is_empty() || (keep == Keep::Changes && !same_order);
            order = if ordered { new.iter().map(|new| json!({ key: identity.of(new) })).collect() } else { Vec::new() };
            insert_list(patch, name.to_owned(), changed);
        }
    }
    insert_list(patch, format!("{SET_ORDER}{name}"), order);
    Ok(())
}

fn insert_list(patch: &mut Map<String, Value>, name: String, list: Vec<Value>) {
    if !list.is_empty() {
        patch.insert(name, Value::Array(list));
    }
}

/// What is added to and what is removed from a set. Upstream: `diffListsOfScalars`.
fn sets(old: &[Value], new: &[Value], keep: Keep) -> (Vec<Value>, Vec<Value>) {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for pair in pairs(old, new, Identity::Itself) {
        match pair {
            (None, Some(new)) if keep == Keep::Changes => added.push(new.clone()),
            (Some(old), None) if keep == Keep::Deletions && removed.last() != Some(old) => removed.push(old.clone()),
            (Some(_) | None, Some(_) | None) => {}
        }
    }
    (added, removed)
}

/// What is changed in, added to or removed from a list of maps, removals last. Upstream: `diffListsOfMaps`.
fn elements(
    old: &[Value],
    new: &[Value],
    key: &'static str,
    rule: Rule,
    keep: Keep,
    path: &Path<'_>,
) -> Result<Vec<Value>, Error> {
    let identity = Identity::Key(key);
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for pair in pairs(old, new, identity) {
        match pair {
            (Some(Value::Object(old)), Some(element @ Value::Object(new_fields))) => {
                let path = path.index(identity.position(new, element).unwrap_or_default());
                let mut patch = maps(old, new_fields, rule.below, keep, rule.retain_keys, &path)?;
                if !patch.is_empty() {
                    patch.insert(key.to_owned(), identity.of(element).clone());
                    changed.push(Value::Object(patch));
                }
            }
            (None, Some(new)) if keep == Keep::Changes => changed.push(new.clone()),
            (Some(old), None) if keep == Keep::Deletions => {
                removed.push(json!({ key: identity.of(old), PATCH: "delete" }));
            }
            (Some(_) | None, Some(_) | None) => {}
        }
    }
    let mut changed = sort_by(changed, new, identity);
    changed.append(&mut removed);
    Ok(changed)
}

/// Pairs the elements of two lists by what identifies them, in the order of its text.
fn pairs<'v>(old: &'v [Value], new: &'v [Value], identity: Identity) -> Vec<(Option<&'v Value>, Option<&'v Value>)> {
    let mut old = identity.sorted(old).into_iter().peekable();
    let mut new = identity.sorted(new).into_iter().peekable();
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => text(identity.of(old)).cmp(&text(identity.of(new))),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        pairs.push((old.next_if(|_| order.is_le()), new.next_if(|_| order.is_ge())));
    }
}
