//! Paths into an object, as they are shown: `spec.containers[app].env[A]`; and what is at a path.

use serde_json::Value;

/// The bytes of a path beyond which nothing is joined to it.
const MAX_PATH_BYTES: usize = 512;

/// Returns the text at a JSON pointer; empty where there is none.
pub(crate) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the number at a JSON pointer; 0 where there is none.
pub(crate) fn integer(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// Returns the elements of the list at a JSON pointer; none where there is no list.
pub(crate) fn items<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> + Clone + use<'v> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Joins a path and a key; keys with dots or slashes, such as those of labels, are in brackets.
pub fn join(path: &str, key: &str) -> String {
    match (path.is_empty(), key.contains(['.', '/'])) {
        (true, false) => cut(key).to_owned(),
        (false, false) => longer(path, || format!("{path}.{}", cut(key))),
        (_, true) => element(path, key),
    }
}

pub fn element(path: &str, name: &str) -> String {
    longer(path, || format!("{path}[{}]", cut(name)))
}

fn longer(path: &str, joined: impl Fn() -> String) -> String {
    if path.len() > MAX_PATH_BYTES { path.to_owned() } else { joined() }
}

/// Cuts off what no name of Kubernetes is long enough to have.
fn cut(name: &str) -> &str {
    let ends = name.char_indices().map(|(start, _)| start).take_while(|start| *start <= MAX_PATH_BYTES);
    if name.len() <= MAX_PATH_BYTES { name } else { name.get(..ends.last().unwrap_or(0)).unwrap_or_default() }
}
