//! Elements of merging lists: how they are identified, and in which order a merged list ends up.
//!
//! The order of a merged list: the elements that the patch names, in the patch's order, and the others, in the live list's
//! order, interleaved by the live list as far as that contradicts neither (upstream: `normalizeElementOrder`).

use super::path::Path;
use super::{Error, ListMerge, PATCH};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;

/// What makes two elements of a list the same one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Identity {
    /// The element itself: a list of scalars.
    Itself,
    /// The value of this field: a list of maps.
    Key(&'static str),
}

impl Identity {
    pub(super) fn of_list(list: ListMerge) -> Self {
        match list {
            ListMerge::ByKey(key) => Self::Key(key),
            ListMerge::Set | ListMerge::Atomic => Self::Itself,
        }
    }

    /// What identifies the element; null where it lacks its key.
    pub(super) fn of(self, element: &Value) -> &Value {
        match self {
            Self::Itself => element,
            Self::Key(key) => element.get(key).unwrap_or(&Value::Null),
        }
    }

    pub(super) fn position(self, list: &[Value], element: &Value) -> Option<usize> {
        let wanted = self.of(element);
        list.iter().position(|other| self.of(other) == wanted)
    }

    /// Checks that every element is of the type that this identity needs, and has its key.
    pub(super) fn check(self, list: &[Value], path: &Path<'_>) -> Result<(), Error> {
        list.iter().enumerate().try_for_each(|(index, element)| match (self, element) {
            (Self::Key(key), Value::Object(fields)) if fields.contains_key(key) => Ok(()),
            (Self::Key(key), Value::Object(_)) => Err(Error::NoMergeKey { path: path.index(index).to_string(), key }),
            (Self::Key(_), other) => Err(path.index(index).wrong_type("a map", other)),
            (Self::Itself, Value::Null | Value::Array(_) | Value::Object(_)) => {
                Err(path.index(index).wrong_type("a scalar", element))
            }
            (Self::Itself, Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(()),
        })
    }

    /// The elements sorted by the text of what identifies them. Of elements with one identity the later one comes first:
    /// upstream's comparison swaps equal elements, and which of two ports with one number is matched follows from it.
    pub(super) fn sorted(self, list: &[Value]) -> Vec<&Value> {
        let mut indexed: Vec<(usize, &Value)> = list.iter().enumerate().collect();
        indexed.sort_by_cached_key(|(index, element)| (text(self.of(element)).into_owned(), Reverse(*index)));
        indexed.into_iter().map(|(_, element)| element).collect()
    }
}

/// The value as Go's `%v` writes it, which is what upstream sorts and matches by.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed("<nil>"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// Whether the element only says that its like is to be deleted.
pub(super) fn is_deletion(element: &Value) -> bool {
    element.get(PATCH).is_some_and(|directive| directive == "delete")
}

/// Brings a merged list in order: the elements that `wanted` names as there, the others as in `live`, interleaved.
pub(super) fn in_order(merged: Vec<Value>, wanted: &[Value], live: &[Value], identity: Identity) -> Vec<Value> {
    let (named, others): (Vec<_>, Vec<_>) =
        merged.into_iter().partition(|element| identity.position(wanted, element).is_some());
    interleave(sort_by(others, live, identity), sort_by(named, wanted, identity), live, identity)
}

/// Sorts by the positions in `order`; deletions go last. Among elements that `order` does not name every one counts as less
/// than its neighbour, which turns them round: upstream's comparison in `normalizeSliceOrder` does so.
pub(super) fn sort_by(list: Vec<Value>, order: &[Value], identity: Identity) -> Vec<Value> {
    let (deletions, list): (Vec<_>, Vec<_>) = list.into_iter().partition(is_deletion);
    let mut sorted: Vec<(Option<usize>, Value)> = Vec::with_capacity(list.len());
    for element in list {
        let position = identity.position(order, &element);
        let greater = |other: &Option<usize>| match (position, *other) {
            (Some(position), Some(other)) => position < other,
            (None, _) | (_, None) => true,
        };
        let kept = sorted.iter().rposition(|(other, _)| !greater(other)).map_or(0, |last| last + 1);
        sorted.insert(kept, (position, element));
    }
    sorted.into_iter().map(|(_, element)| element).chain(deletions).collect()
}

/// Puts each element of `left` before the first one of `right` that comes later in `order`; both keep their own order.
fn interleave(left: Vec<Value>, right: Vec<Value>, order: &[Value], identity: Identity) -> Vec<Value> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    for element in right {
        let limit = identity.position(order, &element);
        while let Some(earlier) = left.next_if(|earlier| {
            matches!((identity.position(order, earlier), limit), (Some(position), Some(limit)) if position < limit)
        }) {
            merged.push(earlier);
        }
        merged.push(element);
    }
    merged.extend(left);
    merged
}
