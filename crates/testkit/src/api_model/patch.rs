//! The guarded JSON patch (`evanphx/json-patch`).

use json_patch::{Patch, PatchOperation};
use serde_json::Value;

use super::Refused;

/// Carries out a JSON patch; where it is refused, what is left of the object is nobody's. Unlike in `json_patch`, a `test`
/// for null passes on a missing key.
pub fn carry_out(object: &mut Value, patch: &Patch) -> Result<(), Refused> {
    for operation in &patch.0 {
        if let PatchOperation::Test(test) = operation
            && test.value.is_null()
            && lacks(object, test.path.as_str())
        {
            continue;
        }
        json_patch::patch(object, std::slice::from_ref(operation))
            .map_err(|error| Refused::Patch(error.to_string()))?;
    }
    Ok(())
}

/// Whether a pointer leads to a map that lacks the last key; a missing parent is an error, not a missing key.
fn lacks(object: &Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let key = key.replace("~1", "/").replace("~0", "~");
    object.pointer(parent).and_then(Value::as_object).is_some_and(|map| !map.contains_key(&key))
}
