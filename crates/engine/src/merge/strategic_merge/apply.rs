//! Applies patches: to an object, or to another patch in order to make one of the two.

use serde_json::{Map, Value};

use super::{DELETE_FROM_LIST, Error, Fields, PATCH, RETAIN_KEYS, Result, SET_ORDER, at, field};
use crate::merge::schema::{ListMerge, Schema};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An object: directives are carried out, nulls delete.
    Object,
    /// A patch, to be sent later: directives and nulls are kept.
    Patch,
}

#[derive(Clone, Copy)]
struct Merge<'p> {
    list: ListMerge,
    /// Of its elements.
    below: Schema,
    target: Target,
    path: &'p str,
}

/// Merges `patch` into `base`. Upstream: `mergeMap`.
pub(super) fn maps(mut base: Fields, mut patch: Fields, schema: Schema, target: Target, path: &str) -> Result<Fields> {
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
            let order = into_list(order, &field(path, &directive))?;
            if target == Target::Patch {
                base.entry(&*directive).or_insert_with(|| Value::Array(order.clone()));
            }
            let rule = schema.field(name);
            let merge = Merge { list: rule.list, below: rule.below, target, path: &field(path, name) };
            let live = base.get_mut(name).map(Value::take);
            if let Some(list) = merge.ordered(live, patch.shift_remove(name), &order)? {
                base.insert(name.to_owned(), Value::Array(list));
            }
        }
    }
    for (name, value) in patch {
        let path = field(path, &name);
        let set = name.strip_prefix(DELETE_FROM_LIST);
        if let (Some(set), Target::Object) = (set, target) {
            let removed = into_list(value, &path)?;
            if let Some(Value::Array(list)) = base.get_mut(set) {
                list.retain(|element| !removed.contains(element));
            }
            continue;
        }
        let rule = schema.field(&name);
        let merged = match (base.get_mut(&name).map(Value::take), value) {
            (_, value) if set.is_some() => Some(value),
            (_, Value::Null) => (target == Target::Patch).then_some(Value::Null),
            (Some(Value::Object(base)), Value::Object(patch)) => {
                Some(Value::Object(maps(base, patch, rule.below, target, &path)?))
            }
            (Some(Value::Array(mut base)), Value::Array(patch)) if rule.list != ListMerge::Atomic => {
                let merge = Merge { list: rule.list, below: rule.below, target, path: &path };
                Some(Value::Array(merge.lists(&mut base, patch)?))
            }
            (_, value) => taken(value, target),
        };
        match merged {
            Some(merged) => base.insert(name, merged),
            None => base.shift_remove(&name),
        };
    }
    Ok(base)
}

/// Clears what a `$retainKeys` directive does not list. Upstream: `applyRetainKeysDirective`.
fn retain_keys(base: &mut Fields, patch: &Fields, keys: Value, target: Target, path: &str) -> Result<()> {
    if target == Target::Patch {
        base.entry(RETAIN_KEYS).or_insert(keys);
        return Ok(());
    }
    let keys = into_list(keys, &field(path, RETAIN_KEYS))?;
    let retained = |name: &str| keys.iter().any(|key| key == name);
    let is_directive = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    let sets = |(name, value): &(&String, &Value)| !value.is_null() && !is_directive(name) && !retained(name);
    if let Some((name, _)) = patch.iter().find(sets) {
        return Err(Error::at(path, format!("sets {name}, which its $retainKeys does not list")));
    }
    base.retain(|name, _| retained(name));
    Ok(())
}

impl Merge<'_> {
    /// Merges a list and brings it in the order of its `$setElementOrder`. Upstream: `mergePatchIntoOriginal`.
    fn ordered(self, live: Option<Value>, patch: Option<Value>, order: &[Value]) -> Result<Option<Vec<Value>>> {
        let Self { list, target, path, .. } = self;
        list.check(order, path)?;
        let patch = patch.map(|patch| into_list(patch, path)).transpose()?;
        if let Some(patch) = &patch {
            list.check(patch, path)?;
            self.agrees(patch, order)?;
        }
        let live = live.map(|live| into_list(live, path)).transpose()?;
        let (live, merged) = match (live, patch) {
            (None, None) => return Ok(None),
            (None, Some(patch)) => (Vec::new(), patch.into_iter().filter_map(|one| taken(one, target)).collect()),
            (Some(live), None) => {
                list.check(&live, path)?;
                (live.clone(), live)
            }
            (Some(mut live), Some(patch)) => {
                let merged = self.lists(&mut live, patch)?;
                (live, merged)
            }
        };
        Ok(Some(list.in_order(merged, order, &live)))
    }

    /// Checks that the elements of a patch are among those of its order, and in that order. Upstream:
    /// `validatePatchWithSetOrderList`; that also refuses some patches that upstream made itself, where two elements have
    /// one key (port 53 of UDP and of TCP with another port between), which are legal and so not held against anyone here.
    fn agrees(self, patch: &[Value], order: &[Value]) -> Result<()> {
        let list = self.list;
        let mut rest = order.iter();
        let plain = |element: &&Value| element.get(PATCH).is_none();
        let found = |element: &Value| rest.any(|other| list.identity(other) == list.identity(element));
        let twice = patch.iter().enumerate().any(|(index, element)| list.position(patch, element) != Some(index));
        if order.is_empty() || twice || patch.iter().filter(plain).all(found) {
            return Ok(());
        }
        Err(Error::at(self.path, "does not agree with its $setElementOrder"))
    }

    /// Merges two lists that do not replace each other. Upstream: `mergeSlice`.
    ///
    /// `base` becomes the order of the live list as upstream goes on with: it works in place, so that the first added
    /// elements take the slots of deleted ones and count as live elements in the order that follows.
    fn lists(self, base: &mut Vec<Value>, mut patch: Vec<Value>) -> Result<Vec<Value>> {
        let Self { list, below, target, path } = self;
        list.check(base, path)?;
        list.check(&patch, path)?;
        let slots = base.len();
        let mut merged: Vec<Value> = Vec::with_capacity(base.len() + patch.len());
        match list {
            ListMerge::Atomic => return Ok(patch),
            ListMerge::Set => {
                for element in base.iter().chain(&patch) {
                    if !merged.contains(element) {
                        merged.push(element.clone());
                    }
                }
            }
            ListMerge::ByKey(_) => {
                patch = self.elements_to_merge(base, patch)?;
                merged.clone_from(base);
                for (index, element) in patch.iter().enumerate() {
                    let place = list.position(&merged, element);
                    match (place.and_then(|place| merged.get_mut(place)), element) {
                        (Some(Value::Object(base)), Value::Object(element)) => {
                            *base = maps(std::mem::take(base), element.clone(), below, target, &at(path, index))?;
                        }
                        (Some(_) | None, element) => merged.extend(taken(element.clone(), target)),
                    }
                }
            }
        }
        let added = merged.iter().skip(base.len()).take(slots.saturating_sub(base.len())).cloned().collect::<Vec<_>>();
        let ordered = list.in_order(merged, &patch, base);
        base.extend(added);
        Ok(ordered)
    }

    /// Carries out `$patch` on `base`, and returns the other elements. Upstream: `mergeSliceWithSpecialElements`.
    fn elements_to_merge(self, base: &mut Vec<Value>, patch: Vec<Value>) -> Result<Vec<Value>> {
        let list = self.list;
        let mut plain = Vec::with_capacity(patch.len());
        let mut replaced = false;
        for (index, element) in patch.into_iter().enumerate() {
            match element.get(PATCH).map(|directive| (directive.as_str(), directive)) {
                None => plain.push(element),
                Some((Some("delete"), _)) => base.retain(|other| list.identity(other) != list.identity(&element)),
                Some((Some("replace"), _)) => replaced = true,
                Some((_, directive)) => return Err(unknown_directive(directive, &at(self.path, index))),
            }
        }
        if replaced {
            *base = std::mem::take(&mut plain);
        }
        Ok(plain)
    }
}

/// What is left of a value that is taken over whole: into an object its content alone, without nulls and directives; into a
/// patch all but maps with a `$patch` directive. `None` if nothing is left. Upstream: `removeDirectives` and
/// `discardNullValuesFromPatch`.
fn taken(value: Value, target: Target) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let is_directive =
                |name: &str| name == RETAIN_KEYS || name.starts_with(SET_ORDER) || name.starts_with(DELETE_FROM_LIST);
            let kept =
                |(name, value): &(String, Value)| target == Target::Patch || !(value.is_null() || is_directive(name));
            let fields = fields.into_iter().filter(kept);
            Some(fields.filter_map(|(name, value)| Some((name, taken(value, target)?))).collect())
        }
        Value::Array(list) => Some(list.into_iter().filter_map(|element| taken(element, target)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}

fn into_list(value: Value, path: &str) -> Result<Vec<Value>> {
    if let Value::Array(list) = value { Ok(list) } else { Err(Error::wrong_type(path, &value, "a list")) }
}

fn unknown_directive(directive: &Value, path: &str) -> Error {
    Error::at(path, format!("has an unsupported $patch directive {directive}"))
}
