//! `Status` bodies: the errors of the API server, word for word (`apimachinery/pkg/api/errors/errors.go`).

use serde_json::{Value, json};

use super::http::Answer;
use super::resource::Resource;
use crate::api_model::{Cause, Refused};

/// Returns an answer with a `Status` body; `details` is left out when null.
pub(crate) fn failure(code: u16, reason: &str, message: &str, details: Value) -> Answer {
    let mut body =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message});
    if let Some(map) = body.as_object_mut() {
        if !reason.is_empty() {
            map.insert("reason".to_owned(), reason.into());
        }
        if !details.is_null() {
            map.insert("details".to_owned(), details);
        }
        map.insert("code".to_owned(), code.into());
    }
    Answer::json(code, body)
}

/// Returns `details` with name, group and kind, the empty ones left out.
pub(crate) fn details(resource: &Resource, kind: &str, name: &str) -> Value {
    let mut details = serde_json::Map::new();
    for (key, value) in [("name", name), ("group", resource.group), ("kind", kind)] {
        if !value.is_empty() {
            details.insert(key.to_owned(), value.into());
        }
    }
    Value::Object(details)
}

/// 404: the object is not there.
fn not_found(resource: &Resource, name: &str) -> Answer {
    let message = format!("{} \"{name}\" not found", resource.qualified());
    failure(404, "NotFound", &message, details(resource, resource.plural, name))
}

/// 409: an object of this name exists already.
fn already_exists(resource: &Resource, name: &str) -> Answer {
    let message = format!("{} \"{name}\" already exists", resource.qualified());
    failure(409, "AlreadyExists", &message, details(resource, resource.plural, name))
}

/// 409: a precondition does not hold.
fn conflict(resource: &Resource, name: &str, why: &str) -> Answer {
    let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", resource.qualified());
    failure(409, "Conflict", &message, details(resource, resource.plural, name))
}

/// 400: the request cannot be read.
pub(crate) fn bad_request(message: &str) -> Answer {
    failure(400, "BadRequest", message, Value::Null)
}

/// 415: the body is in a format that is not served.
pub(crate) fn unsupported(message: &str) -> Answer {
    failure(415, "UnsupportedMediaType", message, json!({}))
}

/// 422 without details: a JSON patch that cannot be carried out, whatever failed in it.
pub(crate) fn patch_refused() -> Answer {
    failure(422, "Invalid", "the server rejected our request due to an error in our request", json!({}))
}

/// 410: the history up to the asked resourceVersion is gone.
pub(crate) fn expired(message: &str) -> Answer {
    failure(410, "Expired", message, Value::Null)
}

/// What the model refuses.
pub(crate) fn refused(resource: &Resource, name: &str, refused: &Refused) -> Answer {
    match refused {
        Refused::NotFound => not_found(resource, name),
        Refused::AlreadyExists => already_exists(resource, name),
        Refused::Conflict(_) => {
            let why = "the object has been modified; please apply your changes to the latest version and try again";
            conflict(resource, name, why)
        }
        Refused::Patch(_) => patch_refused(),
        Refused::Invalid(causes) => invalid(resource, name, causes),
    }
}

/// 422: the object is not valid.
fn invalid(resource: &Resource, name: &str, causes: &[Cause]) -> Answer {
    let mut sentences: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    sentences.dedup();
    let list = match sentences.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let kind = if resource.group.is_empty() {
        resource.kind.to_owned()
    } else {
        format!("{}.{}", resource.kind, resource.group)
    };
    let mut details = details(resource, resource.kind, name);
    if let Some(map) = details.as_object_mut() {
        let causes = causes
            .iter()
            .map(|cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field}))
            .collect();
        map.insert("causes".to_owned(), Value::Array(causes));
    }
    failure(422, "Invalid", &format!("{kind} \"{name}\" is invalid: {list}"), details)
}
