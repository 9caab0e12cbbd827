//! Reads and writes of raw objects.

use serde_json::{Value, json};

/// The value at a path; null where there is none.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    const NOTHING: &Value = &Value::Null;
    path.iter().try_fold(value, |value, step| value.get(step)).unwrap_or(NOTHING)
}

/// The text at a path; empty where there is none.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    at(value, path).as_str().unwrap_or_default()
}

/// Sets a value, with the maps that lead to it.
pub fn put(object: &mut Value, path: &[&str], value: Value) {
    let mut place = object;
    for step in path {
        if !place.is_object() {
            *place = json!({});
        }
        place = place.as_object_mut().expect("made one").entry(*step).or_insert(Value::Null);
    }
    *place = value;
}

/// Sets a field of `metadata`.
pub fn set_metadata(object: &mut Value, field: &str, value: Value) {
    put(object, &["metadata", field], value);
}

/// Makes a field below `parent` the same in `to` as in `from`, also when it is absent there.
pub fn copy_field(from: &Value, to: &mut Value, parent: &[&str], field: &str) {
    let value = at(from, parent).get(field).cloned();
    let parent = parent.iter().try_fold(to, |value, step| value.get_mut(step));
    if let Some(map) = parent.and_then(Value::as_object_mut) {
        match value {
            Some(value) => map.insert(field.to_owned(), value),
            None => map.shift_remove(field),
        };
    }
}

/// Drops a field that says nothing.
pub(super) fn drop_if(object: &mut Value, path: &[&str], says_nothing: impl Fn(&Value) -> bool) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(object, |value, step| value.get_mut(step));
    let Some(map) = parent.and_then(Value::as_object_mut) else { return };
    if map.get(*last).is_some_and(says_nothing) {
        map.shift_remove(*last);
    }
}
