//! Applies patches: to an object, or to another patch in order to make one of the two.

use super::list::{Identity, in_order};
use super::path::Path;
use super::{DELETE_FROM_LIST, Error, ListMerge, PATCH, RETAIN_KEYS, Rule, SET_ORDER, Schema};
use serde_json::{Map, Value};

/// What a patch is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An object: directives are carried out, nulls delete.
    Object,
    /// A patch, to be sent later: directives and nulls are kept.
    Patch,
}

/// Merges `patch` into `base`. Upstream: `mergeMap`.
pub(super) fn maps(
    mut base: Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: Schema,
    target: Target,
    path: &Path<'_>,
) -> Result<Map<String, Value>, Error> {
    if let Some(directive) = patch.shift_remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                Ok(patch.into_iter().filter_map(|(name, value)| Some((name, taken(value, target)?))).collect())
            }
            Some("delete") => Ok(Map::new()),
            Some(_) | None => Err(unknown_directive(&directive, path)),
        };
    }
    if let Some(keys) = patch.shift_remove(RETAIN_KEYS) {
        retain_keys(&mut base, &patch, keys, target, path)?;
    }
    let ordered: Vec<String> = patch.keys().filter(|name| name.starts_with(SET_ORDER)).cloned().collect();
    for directive in ordered {
        if let (Some(name), Some(order)) = (directive.strip_prefix(SET_ORDER), patch.shift_remove(&directive)) {
            let order = into_list(order, &path.field(&directive))?;
            if target == Target::Patch {
                base.entry(&*directive).or_insert_with(|| Value::Array(order.clone()));
            }
            let list = patch.shift_remove(name);
            ordered_list(&mut base, name, list, &order, schema.field(name), target, &path.field(name))?;
        }
    }
    for (name, value) in patch {
        field(&mut base, &name, value, schema, target, &path.field(&name))?;
    }
    Ok(base)
}

/// Merges one field that no `$setElementOrder` is about.
fn field(
    base: &mut Map<String, Value>,
    name: &str,
    value: Value,
    schema: Schema,
    target: Target,
    path: &Path<'_>,
) -> Result<(), Error> {
    let set = name.strip_prefix(DELETE_FROM_LIST);
    if let (Some(set), Target::Object) = (set, target) {
        let removed = into_list(value, path)?;
        if let Some(Value::Array(list)) = base.get_mut(set) {
            list.retain(|element| !removed.contains(element));
        }
        return Ok(());
    }
    let rule = schema.field(name);
    let merged = match (base.get_mut(name).map(Value::take), value) {
        (_, value) if set.is_some() => Some(value),
        (_, Value::Null) => (target == Target::Patch).then_some(Value::Null),
        (Some(Value::Object(base)), Value::Object(patch)) => {
            Some(Value::Object(maps(base, patch, rule.below, target, path)?))
        }
        (Some(Value::Array(mut base)), Value::Array(patch)) if rule.list != ListMerge::Atomic => {
            Some(Value::Array(lists(&mut base, patch, rule, target, path)?))
        }
        (_, value) => taken(value, target),
    };
    match merged {
        Some(merged) => base.insert(name.to_owned(), merged),
        None => base.shift_remove(name),
    };
    Ok(())
}

/// Clears what a `$retainKeys` directive does not list. Upstream: `applyRetainKeysDirective`.
fn retain_keys(
    base: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    keys: Value,
    target: Target,
    path: &Path<'_>,
) -> Result<(), Error> {
    if target == Target::Patch {
        base.entry(RETAIN_KEYS).or_insert(keys);
        return Ok(());
    }
    let keys = into_list(keys, &path.field(RETAIN_KEYS))?;
    let retained = |name: &str| keys.iter().any(|key| key == name);
    let is_directive = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    if let Some((name, _)) =
        patch.iter().find(|(name, value)| !value.is_null() && !is_directive(name) && !retained(name))
    {
        return Err(Error::NotRetained { path: path.to_string(), key: name.clone() });
    }
    base.retain(|name, _| retained(name));
    Ok(())
}

/// Merges a list and brings it in the order of its `$setElementOrder`. Upstream: `mergePatchIntoOriginal`.
fn ordered_list(
    base: &mut Map<String, Value>,
    name: &str,
    patch: Option<Value>,
    order: &[Value],
    rule: Rule,
    target: Target,
    path: &Path<'_>,
) -> Result<(), Error> {
    let identity = Identity::of_list(rule.list);
    identity.check(order, path)?;
    let patch = patch.map(|patch| into_list(patch, path)).transpose()?;
    if let Some(patch) = &patch {
        identity.check(patch, path)?;
        agrees(patch, order, identity, path)?;
    }
    let (live, merged) = match (base.get_mut(name).map(Value::take), patch) {
        (None, None) => return Ok(()),
        (None, Some(patch)) => {
            let list = patch.into_iter().filter_map(|element| taken(element, target)).collect();
            (Vec::new(), list)
        }
        (Some(live), None) => {
            let live = into_list(live, path)?;
            identity.check(&live, path)?;
            (live.clone(), live)
        }
        (Some(live), Some(patch)) => {
            let mut live = into_list(live, path)?;
            let merged = lists(&mut live, patch, rule, target, path)?;
            (live, merged)
        }
    };
    base.insert(name.to_owned(), Value::Array(in_order(merged, order, &live, identity)));
    Ok(())
}

/// Checks that the elements of a patch are among those of its order, and in that order. Upstream:
/// `validatePatchWithSetOrderList`; that also refuses some patches that upstream made itself, where two elements have one
/// key (port 53 of UDP and of TCP with another port between), which are legal and so not held against anyone here.
fn agrees(patch: &[Value], order: &[Value], identity: Identity, path: &Path<'_>) -> Result<(), Error> {
    let mut rest = order.iter();
    let plain = |element: &&Value| element.get(PATCH).is_none();
    let found = |element: &Value| rest.any(|other| identity.of(other) == identity.of(element));
    let twice = patch.iter().enumerate().any(|(index, element)| identity.position(patch, element) != Some(index));
    if order.is_empty() || twice || patch.iter().filter(plain).all(found) {
        return Ok(());
    }
    Err(Error::OrderMismatch { path: path.to_string() })
}

/// Merges two lists that do not replace each other. Upstream: `mergeSlice`.
///
/// `base` becomes the order of the live list as upstream goes on with: it works in place, so that the first added elements
/// take the slots of deleted ones and count as live elements in the order that follows.
fn lists(
    base: &mut Vec<Value>,
    patch: Vec<Value>,
    rule: Rule,
    target: Target,
    path: &Path<'_>,
) -> Result<Vec<Value>, Error> {
    let identity = Identity::of_list(rule.list);
    identity.check(base, path)?;
    identity.check(&patch, path)?;
    let slots = base.len();
    let mut merged: Vec<Value>;
    let patch = match rule.list {
        ListMerge::Atomic => return Ok(patch),
        ListMerge::Set => {
            merged = Vec::with_capacity(base.len() + patch.len());
            for element in base.iter().chain(&patch) {
                if !merged.contains(element) {
                    merged.push(element.clone());
                }
            }
            patch
        }
        ListMerge::ByKey(_) => {
            let patch = elements_to_merge(base, patch, identity, path)?;
            merged = base.clone();
            for (index, element) in patch.iter().enumerate() {
                let path = path.index(index);
                let place = identity.position(&merged, element);
                match (place.and_then(|place| merged.get_mut(place)), element) {
                    (Some(Value::Object(base)), Value::Object(element)) => {
                        *base = maps(std::mem::take(base), element.clone(), rule.below, target, &path)?;
                    }
                    (Some(_) | None, element) => merged.extend(taken(element.clone(), target)),
                }
            }
            patch
        }
    };
    let added = merged.iter().skip(base.len()).take(slots.saturating_sub(base.len())).cloned().collect::<Vec<_>>();
    let ordered = in_order(merged, &patch, base, identity);
    base.extend(added);
    Ok(ordered)
}

/// Carries out the `$patch` directives of a list's elements on `base` and returns the elements without one. Upstream:
/// `mergeSliceWithSpecialElements`.
fn elements_to_merge(
    base: &mut Vec<Value>,
    patch: Vec<Value>,
    identity: Identity,
    path: &Path<'_>,
) -> Result<Vec<Value>, Error> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaced = false;
    for (index, element) in patch.into_iter().enumerate() {
        match element.get(PATCH).map(|directive| (directive.as_str(), directive)) {
            None => plain.push(element),
            Some((Some("delete"), _)) => base.retain(|other| identity.of(other) != identity.of(&element)),
            Some((Some("replace"), _)) => replaced = true,
            Some((_, directive)) => return Err(unknown_directive(directive, &path.index(index))),
        }
    }
    if replaced {
        *base = std::mem::take(&mut plain);
    }
    Ok(plain)
}

/// What is left of a value that is taken over whole: into an object its content alone, without nulls and directives; into a
/// patch all but maps with a `$patch` directive. `None` if nothing is left. Upstream: `removeDirectives` and
/// `discardNullValuesFromPatch`.
fn taken(value: Value, target: Target) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let content = |name: &str, value: &Value| {
                target == Target::Patch
                    || !(value.is_null()
                        || name == RETAIN_KEYS
                        || name.starts_with(SET_ORDER)
                        || name.starts_with(DELETE_FROM_LIST))
            };
            let fields = fields.into_iter().filter(|(name, value)| content(name, value));
            Some(fields.filter_map(|(name, value)| Some((name, taken(value, target)?))).collect())
        }
        Value::Array(list) => Some(list.into_iter().filter_map(|element| taken(element, target)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}

fn into_list(value: Value, path: &Path<'_>) -> Result<Vec<Value>, Error> {
    if let Value::Array(list) = value { Ok(list) } else { Err(path.wrong_type("a list", &value)) }
}

fn unknown_directive(directive: &Value, path: &Path<'_>) -> Error {
    Error::UnknownDirective { path: path.to_string(), directive: directive.to_string() }
}
