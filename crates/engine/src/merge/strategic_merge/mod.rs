//! Strategic merge patches as Kubernetes makes and applies them.
//!
//! [`three_way`] makes the patch that `kubectl apply` would send, [`apply()`] does to an object what the API server
//! does with it. Together they give what would be stored, before defaulting and admission. The rules and the order of
//! merged lists are those of `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`; vectors made with it are in
//! `tests/vectors`.
//!
//! Not done here: defaults ([`crate::merge::defaults`]), validation, preconditions (name, kind), the last-applied annotation, and
//! the conflict check of `kubectl apply --overwrite=false`.
//!
//! Where this differs from upstream, on purpose: a field that Kubernetes does not know merges by the default rule instead
//! of being an error, and of a list element or map that is taken over whole nothing but its content is stored: no nulls and
//! no directives. Upstream leaves some there; the server's decoder drops the nulls and, if strict, refuses the directives.
//! Two elements with one merge key are no error, as upstream: the first one takes the change. Where upstream then refuses the
//! patch that it made itself (such elements with another one between), this applies it.

mod apply;
mod diff;
mod list;
mod path;
mod schema;

#[cfg(test)]
mod tests;

pub use self::schema::{ListMerge, Rule, Schema};

use self::diff::Keep;
use self::path::Path;
use serde_json::{Map, Value};

/// Sets what a map or list element becomes: `delete` or `replace`.
const PATCH: &str = "$patch";
/// Lists the only keys that a map may keep.
const RETAIN_KEYS: &str = "$retainKeys";
/// `$deleteFromPrimitiveList/FIELD` lists the scalars to remove from FIELD.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList/";
/// `$setElementOrder/FIELD` lists the order of the elements of FIELD.
const SET_ORDER: &str = "$setElementOrder/";

/// Says why two objects, or an object and a patch, cannot be merged. Paths are written as in the API's messages, a list's
/// elements by their index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An element of a list that is merged by key lacks that key.
    #[error("{path} has no {key}, the key that elements of this list are matched by")]
    NoMergeKey {
        /// Where the element is.
        path: String,
        /// The merge key.
        key: &'static str,
    },
    /// A value is of another JSON type than the merge needs.
    #[error("{path} is {found}, expected {expected}")]
    WrongType {
        /// Where the value is.
        path: String,
        /// The type that was needed.
        expected: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// A `$patch` directive that does not exist, or that makes no sense in its place.
    #[error("{path} has an unsupported $patch directive {directive}")]
    UnknownDirective {
        /// Where the map with the directive is.
        path: String,
        /// The directive, as JSON.
        directive: String,
    },
    /// A `$retainKeys` list lacks a key that the same patch sets.
    #[error("{path} sets {key}, which its $retainKeys does not list")]
    NotRetained {
        /// Where the map with the directive is.
        path: String,
        /// The key that is set.
        key: String,
    },
    /// A `$setElementOrder` list lacks an element of the patch's list, or has another order.
    #[error("{path} does not agree with its $setElementOrder")]
    OrderMismatch {
        /// Where the list is.
        path: String,
    },
}

/// Makes the patch that `kubectl apply` sends: what `modified` (the manifest) says where `current` (the live object) differs,
/// and deletions of what `original` (the last applied manifest) has and `modified` has not. Without `original` nothing is
/// deleted. A null in `modified` deletes the field. What `current` has beyond both stays.
///
/// Upstream: `CreateThreeWayMergePatch` with `overwrite`, as called by kubectl's `pkg/cmd/apply/patcher.go`.
///
/// # Errors
/// If an object is not a map, or a list to be merged has elements of mixed types or without their merge key.
pub fn three_way(original: Option<&Value>, modified: &Value, current: &Value, schema: Schema) -> Result<Value, Error> {
    let empty = Map::new();
    let root = Path::root();
    let original = original.map_or(Ok(&empty), |original| map_of(original, &root))?;
    let modified = map_of(modified, &root)?;
    let changes = diff::maps(map_of(current, &root)?, modified, schema, Keep::Changes, false, &root)?;
    let deletions = diff::maps(original, modified, schema, Keep::Deletions, false, &root)?;
    apply::maps(deletions, changes, schema, apply::Target::Patch, &root).map(Value::Object)
}

/// Applies a strategic merge patch as the API server does, and returns the object it would go on with. Understands
/// `$patch: delete` and `$patch: replace`, `$retainKeys`, `$deleteFromPrimitiveList/` and `$setElementOrder/`;
/// `$patch: merge` is refused, as upstream.
///
/// Upstream: `StrategicMergeMapPatch`.
///
/// # Errors
/// If the object or the patch is not a map, a directive is malformed or contradicts the patch, or a list to be merged has
/// elements of mixed types or without their merge key.
pub fn apply(current: &Value, patch: &Value, schema: Schema) -> Result<Value, Error> {
    let root = Path::root();
    let (current, patch) = (map_of(current, &root)?.clone(), map_of(patch, &root)?.clone());
    apply::maps(current, patch, schema, apply::Target::Object, &root).map(Value::Object)
}

fn map_of<'v>(value: &'v Value, path: &Path<'_>) -> Result<&'v Map<String, Value>, Error> {
    value.as_object().ok_or_else(|| path.wrong_type("a map", value))
}
