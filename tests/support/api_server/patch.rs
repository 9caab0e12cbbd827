//! The four kinds of PATCH, from the live object and the body to the object as it would be.

use json_patch::PatchOperation;
use serde_json::Value;

use super::http::Answer;
use super::managed_fields::{self, Writer};
use super::status;
use super::strategic;

/// Applies a patch of the given content type; nothing is checked yet but the patch itself.
pub(crate) fn apply(
    content_type: &str,
    live: &Value,
    body: &[u8],
    writer: &Writer,
    force: bool,
) -> Result<Value, Answer> {
    match content_type.split(';').next().unwrap_or_default().trim() {
        "application/json-patch+json" => json_patch(live, body),
        "application/merge-patch+json" => {
            let mut next = live.clone();
            json_patch::merge(&mut next, &parse(body)?);
            Ok(next)
        }
        "application/strategic-merge-patch+json" => {
            strategic::merge(live, &parse(body)?).map_err(|message| status::failure(500, "", &message, Value::Null))
        }
        "application/apply-patch+yaml" => managed_fields::apply(live, &parse_yaml(body)?, writer, force),
        _ => {
            let details = serde_json::json!({});
            Err(status::failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", details))
        }
    }
}

/// Carries out a JSON patch as `evanphx/json-patch` does: a `test` for null passes on a missing key, and strings are equal
/// that are spelled alike: those of the object are spelled as Go spells them.
fn json_patch(live: &Value, body: &[u8]) -> Result<Value, Answer> {
    let Value::Array(operations) = parse(body)? else {
        let why = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp";
        return Err(status::bad_request(&format!("error decoding patch: {why}")));
    };
    let is_gos =
        |value: &Value| !value.to_string().contains(['<', '>', '&']) || !body.iter().any(|byte| b"<>&".contains(byte));
    let mut next = live.clone();
    for operation in operations {
        let operation: PatchOperation = serde_json::from_value(operation).map_err(|_| status::patch_refused())?;
        if let PatchOperation::Test(test) = &operation
            && test.value.is_null()
            && missing_key(&next, test.path.as_str())
        {
            continue;
        }
        if matches!(&operation, PatchOperation::Test(test) if !is_gos(&test.value)) {
            return Err(status::patch_refused());
        }
        json_patch::patch(&mut next, std::slice::from_ref(&operation)).map_err(|_| status::patch_refused())?;
    }
    Ok(next)
}

/// Tells whether a pointer leads to a map that lacks the last key; a missing parent is an error, not a missing key.
fn missing_key(object: &Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let key = key.replace("~1", "/").replace("~0", "~");
    object.pointer(parent).and_then(Value::as_object).is_some_and(|map| !map.contains_key(&key))
}

/// Reads a JSON body.
pub(crate) fn parse(body: &[u8]) -> Result<Value, Answer> {
    serde_json::from_slice(body).map_err(|error| {
        let why = if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() };
        status::bad_request(&format!("error decoding patch: {why}"))
    })
}

/// Reads the YAML of a server-side apply; JSON is YAML.
fn parse_yaml(body: &[u8]) -> Result<Value, Answer> {
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text = String::from_utf8_lossy(body);
    serde_saphyr::from_str(&text).map_err(|error| status::bad_request(&format!("error decoding YAML: {error}")))
}
