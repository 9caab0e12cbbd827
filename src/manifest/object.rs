//! What every object of a manifest must have.

use serde_json::Value;

use engine::value::api_schema::type_name;

use super::error::ManifestError;
use super::place::Place;

/// How a YAML reader may have made something else of a string.
const QUOTE_HINT: &str = "; put it in quotes";
const QUOTE_BOOLEAN_HINT: &str = "; put it in quotes, since YAML reads y, n, yes, no, on and off as booleans";

/// Requires `apiVersion`, `kind` and `metadata.name` as strings that are not empty, and `metadata.namespace` as one if
/// it is set. The server may make up the name of a hook.
pub(super) fn require_identity(object: &Value, is_hook: bool, place: impl Fn() -> Place) -> Result<(), ManifestError> {
    require_string(object.get("apiVersion"), "apiVersion", "", &place)?;
    require_string(object.get("kind"), "kind", "", &place)?;
    let metadata = match object.get("metadata") {
        None | Some(Value::Null) => None,
        Some(metadata @ Value::Object(_)) => Some(metadata),
        Some(other) => {
            return Err(ManifestError::WrongType {
                place: Box::new(place()),
                field: "metadata",
                found: type_name(other),
                expected: "an object",
                hint: "",
            });
        }
    };
    let field = |name| metadata.and_then(|metadata| metadata.get(name));
    let generated = field("generateName").is_some();
    let hint = if generated { "; an object with generateName has no name to find it by in the cluster" } else { "" };
    let name = field("name").or_else(|| field("generateName").filter(|_| is_hook));
    require_string(name, "metadata.name", hint, &place)?;
    match field("namespace") {
        None | Some(Value::Null) => Ok(()),
        // An empty one is none.
        Some(Value::String(_)) => Ok(()),
        namespace => require_string(namespace, "metadata.namespace", "", &place),
    }
}

fn require_string(
    value: Option<&Value>,
    field: &'static str,
    missing_hint: &'static str,
    place: &impl Fn() -> Place,
) -> Result<(), ManifestError> {
    let (found, hint) = match value {
        Some(Value::String(text)) if !text.is_empty() => return Ok(()),
        Some(Value::String(_) | Value::Null) | None => {
            return Err(ManifestError::Missing { place: Box::new(place()), field, hint: missing_hint });
        }
        Some(found @ Value::Bool(_)) => (found, QUOTE_BOOLEAN_HINT),
        Some(found @ Value::Number(_)) => (found, QUOTE_HINT),
        Some(found @ (Value::Array(_) | Value::Object(_))) => (found, ""),
    };
    Err(ManifestError::WrongType {
        place: Box::new(place()),
        field,
        found: type_name(found),
        expected: "a string",
        hint,
    })
}
