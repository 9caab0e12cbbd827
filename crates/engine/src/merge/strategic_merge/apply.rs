//! Applies patches: to an object, or to another patch in order to make one of the two.

use serde_json::{Map, Value};

use super::{DELETE_FROM_LIST, Error, Fields, PATCH, RETAIN_KEYS, Result, SET_ORDER, at, field};
use crate::merge::schema::{Field, ListMerge};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An object: directives are carried out, nulls delete.
    Object,
    /// A patch, to be sent later: directives and nulls are kept.
    Patch,
}

#[derive(Clone, Copy)]
pub(super) struct Merge<'p> {
    pub(super) rule: Field,
    pub(super) target: Target,
    pub(super) path: &'p str,
}

impl Merge<'_> {
    /// Merges `patch` into `base`. Upstream: `mergeMap`.
    pub(super) fn maps(self, mut base: Fields, mut patch: Fields) -> Result<Fields> {
        let Self { rule, target, path } = self;
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
            self.retain_keys(&mut base, &patch, keys)?;
        }
        let is_order = |(name, _): &(String, Value)| name.starts_with(SET_ORDER);
        let (orders, mut patch): (Fields, Fields) = patch.into_iter().partition(is_order);
        for (directive, order) in orders {
            let name = &directive[SET_ORDER.len()..];
            let order = into_list(order, &field(path, &directive))?;
            if target == Target::Patch {
                base.entry(&*directive).or_insert_with(|| Value::Array(order.clone()));
            }
            let live = base.get_mut(name).map(Value::take);
            let below = Merge { rule: rule.below.field(name), target, path: &field(path, name) };
            if let Some(list) = below.ordered(live, patch.shift_remove(name), &order)? {
                base.insert(name.to_owned(), Value::Array(list));
            }
        }
        for (name, value) in patch {
            let path = field(path, &name);
            let below = Merge { rule: rule.below.field(&name), target, path: &path };
            let set = name.strip_prefix(DELETE_FROM_LIST);
            if let (Some(set), Target::Object) = (set, target) {
                let removed = into_list(value, &path)?;
                if let Some(Value::Array(list)) = base.get_mut(set) {
                    list.retain(|element| !removed.contains(element));
                }
                continue;
            }
            let merged = match (base.get_mut(&name).map(Value::take), value) {
                (_, value) if set.is_some() => Some(value),
                (_, Value::Null) => (target == Target::Patch).then_some(Value::Null),
                (Some(Value::Object(base)), Value::Object(patch)) => Some(Value::Object(below.maps(base, patch)?)),
                (Some(Value::Array(mut base)), Value::Array(patch)) if below.rule.list != ListMerge::Atomic => {
                    Some(Value::Array(below.lists(&mut base, patch)?))
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
    fn retain_keys(self, base: &mut Fields, patch: &Fields, keys: Value) -> Result<()> {
        if self.target == Target::Patch {
            base.entry(RETAIN_KEYS).or_insert(keys);
            return Ok(());
        }
        let keys = into_list(keys, &field(self.path, RETAIN_KEYS))?;
        let retained = |name: &str| keys.iter().any(|key| key == name);
        let sets = |(name, value): &(&String, &Value)| !value.is_null() && !is_directive(name) && !retained(name);
        if let Some((name, _)) = patch.iter().find(sets) {
            return Err(Error::at(self.path, format!("sets {name}, which its $retainKeys does not list")));
        }
        base.retain(|name, _| retained(name));
        Ok(())
    }

    /// Merges a list and brings it in the order of its `$setElementOrder`. Upstream: `mergePatchIntoOriginal`.
    fn ordered(self, live: Option<Value>, patch: Option<Value>, order: &[Value]) -> Result<Option<Vec<Value>>> {
        let Self { rule: Field { list, .. }, target, path } = self;
        let listed = |value: Option<Value>| value.map(|value| into_list(value, path)).transpose();
        list.check(order, path)?;
        let patch = listed(patch)?;
        if let Some(patch) = &patch {
            list.check(patch, path)?;
            self.agrees(patch, order)?;
        }
        let (live, merged) = match (listed(live)?, patch) {
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
        let list = self.rule.list;
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
        let Self { rule: Field { list, .. }, target, path } = self;
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
                    let is_same = |other: &&mut Value| list.identity(other) == list.identity(element);
                    match (merged.iter_mut().find(is_same), element) {
                        (Some(Value::Object(base)), Value::Object(element)) => {
                            let merge = Merge { path: &at(path, index), ..self };
                            *base = merge.maps(std::mem::take(base), element.clone())?;
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
        let list = self.rule.list;
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
            let stays = |name: &str, value: &Value| target == Target::Patch || !(value.is_null() || is_directive(name));
            let fields = fields.into_iter().filter(|(name, value)| stays(name, value));
            Some(fields.filter_map(|(name, value)| Some((name, taken(value, target)?))).collect())
        }
        Value::Array(list) => Some(list.into_iter().filter_map(|element| taken(element, target)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}

fn is_directive(name: &str) -> bool {
    name == RETAIN_KEYS || name.starts_with(SET_ORDER) || name.starts_with(DELETE_FROM_LIST)
}

fn into_list(value: Value, path: &str) -> Result<Vec<Value>> {
    if let Value::Array(list) = value { Ok(list) } else { Err(Error::wrong_type(path, &value, "a list")) }
}

fn unknown_directive(directive: &Value, path: &str) -> Error {
    Error::at(path, format!("has an unsupported $patch directive {directive}"))
}
