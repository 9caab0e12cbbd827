//! The four kinds of PATCH, from the live object and the body to the object as it would be.

use json_patch::PatchOperation;
use serde_json::Value;

use super::http::{Answer, Request};
use super::managed_fields::{self, Writer};
use super::strategic;
use super::{protobuf, status};
use crate::api_model;

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
        _ => Err(status::unsupported("415: Unsupported Media Type")),
    }
}

/// Carries out a JSON patch as `evanphx/json-patch` does. Strings are equal that are spelled alike: those of the object are
/// spelled as Go spells them.
fn json_patch(live: &Value, body: &[u8]) -> Result<Value, Answer> {
    let Value::Array(operations) = parse(body)? else {
        let why = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp";
        return Err(status::bad_request(&format!("error decoding patch: {why}")));
    };
    let operations: Result<Vec<PatchOperation>, _> = operations.into_iter().map(serde_json::from_value).collect();
    let patch = json_patch::Patch(operations.map_err(|_| status::patch_refused())?);
    let is_gos =
        |value: &Value| !value.to_string().contains(['<', '>', '&']) || !body.iter().any(|byte| b"<>&".contains(byte));
    if patch.0.iter().any(|operation| matches!(operation, PatchOperation::Test(test) if !is_gos(&test.value))) {
        return Err(status::patch_refused());
    }
    let mut next = live.clone();
    api_model::carry_out(&mut next, &patch).map_err(|_| status::patch_refused())?;
    Ok(next)
}

/// Reads the body of a request that is no PATCH.
pub(crate) fn body(request: &Request) -> Result<Value, Answer> {
    let content_type = request.header("content-type").unwrap_or_default();
    match content_type.split(';').next().unwrap_or_default().trim() {
        "" | "application/json" => parse(&request.body),
        "application/yaml" => parse_yaml(&request.body),
        "application/vnd.kubernetes.protobuf" => protobuf::decode(&request.body)
            .ok_or_else(|| status::unsupported("the simulated API server cannot read this message in protobuf")),
        _ => Err(status::unsupported(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

/// Reads a body that need not be there.
pub(crate) fn options(request: &Request) -> Result<Value, Answer> {
    let options = if request.body.is_empty() { Value::Null } else { body(request)? };
    if options.is_null() || options.is_object() {
        return Ok(options);
    }
    Err(status::bad_request(
        "json: cannot unmarshal the body of the request into Go value of type map[string]interface {}",
    ))
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
