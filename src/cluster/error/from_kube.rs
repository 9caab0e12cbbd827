//! kube's errors to ours. kube's own Display repeats itself (`ApiError: .. (..)`) and is never shown.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use kube::client::AuthError;
use kube::core::Status;

use super::super::{CONNECT_TIMEOUT, TCP_TIMEOUT};
use super::{ClusterError, RequestDescription, Unreached};
use engine::k8s::mask;

/// How kube marks an answer that was not a `Status` object: a proxy's page, or a path the server does not know.
const NOT_A_STATUS: &str = "Failed to parse error data";

/// What the server says when a `test` operation of a JSON patch fails, and in few other cases
/// (apimachinery `NewGenericServerResponse`, 422).
const BARE_INVALID: &str = "the server rejected our request due to an error in our request";

/// What that means nearly always; the server's own words say nothing of it.
const GUARD_FAILED: &str =
    "the server did not take the patch, most likely because the object has changed since it was read";

impl ClusterError {
    /// Sorts an error of kube; `what` is the request that met it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "kube's errors, of which its features decide")]
    pub fn from_kube(error: kube::Error, what: &RequestDescription) -> Self {
        match error {
            kube::Error::Api(status) => from_status(&status, what),
            kube::Error::Service(error) => match error.downcast::<Self>() {
                Ok(ours) => *ours,
                Err(error) => of_transport(error.as_ref(), ""),
            },
            error @ (kube::Error::SerdeError(_)
            | kube::Error::FromUtf8(_)
            | kube::Error::LinesCodecMaxLineLengthExceeded) => {
                Self::Unreadable { request: what.to_string(), why: chain(source_of(&error)) }
            }
            error @ (kube::Error::BuildRequest(_) | kube::Error::HttpError(_)) => {
                Self::NotSent { why: chain(source_of(&error)) }
            }
            error => of_transport(&error, ""),
        }
    }
}

/// Gives what lies under kube's own wrapper, whose text only repeats it.
fn source_of(error: &kube::Error) -> &(dyn StdError + 'static) {
    error.source().unwrap_or(error)
}

/// Sorts an error that came instead of an answer; `server` is host and port.
pub(in crate::cluster) fn of_transport(error: &(dyn StdError + 'static), server: &str) -> ClusterError {
    if let Some(error) = links(error).find_map(|link| link.downcast_ref::<AuthError>()) {
        return ClusterError::credentials(format!("no credentials: {error}"));
    }
    let innermost = without_kube(error);
    let why = chain(innermost);
    let refused = io_errors(error).any(|kind| kind == io::ErrorKind::ConnectionRefused);
    // hyper-util says only in words that a request failed before there was a connection.
    let connecting = links(error).any(|link| link.to_string().starts_with("client error (Connect)"));
    if !refused && !connecting {
        return ClusterError::ConnectionLost { why };
    }
    let late = io_errors(error).any(|kind| kind == io::ErrorKind::TimedOut);
    let why = if refused {
        Unreached::Refused
    } else if late {
        // kubectl's words for either, which is what people search for.
        let (what, limit) = match why.contains("tcp connect error") {
            true => ("dial tcp: i/o timeout", TCP_TIMEOUT),
            false => ("TLS handshake timeout", CONNECT_TIMEOUT),
        };
        Unreached::Other(format!("{what} (no connection within {limit:?})"))
    } else if why.contains("InvalidContentType") {
        Unreached::Certificate("it does not speak TLS (https)".to_owned())
    } else if ["certificate", "corrupt message", "fatal alert"].iter().any(|word| why.contains(word)) {
        Unreached::Certificate(why)
    } else if why.contains("dns error") {
        Unreached::UnknownHost(why)
    } else {
        Unreached::Other(why)
    };
    ClusterError::Unreachable { server: server.to_owned(), why }
}

pub(in crate::cluster) fn links<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |link: &&'a (dyn StdError + 'static)| (*link).source())
}

/// Lists the kinds of I/O error in the chain, also where one is boxed within another.
fn io_errors<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = io::ErrorKind> + 'a {
    links(error).filter_map(|link| link.downcast_ref::<io::Error>()).map(io::Error::kind)
}

fn without_kube<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    links(error)
        .find(|link| !link.is::<kube::Error>() && !link.to_string().starts_with("client error ("))
        .unwrap_or(error)
}

/// Tells a chain of causes once: a text that the next cause repeats at its end is cut.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut reported = String::new();
    let mut rest = links(error).map(ToString::to_string).peekable();
    while let Some(text) = rest.next() {
        let own = match rest.peek() {
            Some(next) => text.strip_suffix(next.as_str()).unwrap_or(&text).trim_end_matches([':', ' ']),
            None => &text,
        };
        if own.is_empty() || reported.ends_with(own) {
            continue;
        }
        if !reported.is_empty() {
            reported.push_str(": ");
        }
        reported.push_str(own);
    }
    reported
}

fn from_status(status: &Status, what: &RequestDescription) -> ClusterError {
    let message = message_of(status);
    let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    let causes: Vec<_> = causes.iter().map(|cause| (cause.field.clone(), mask::text(&cause.message))).collect();
    if is_admission(status) {
        return ClusterError::AdmissionDenied { message };
    }
    let resource = || what.resource.clone();
    let name =
        |status: &Status| status.details.as_ref().map(|details| details.name.clone()).filter(|name| !name.is_empty());
    match (status.reason.as_str(), status.code) {
        ("AlreadyExists", _) => ClusterError::AlreadyExists {
            resource: resource(),
            name: name(status).or_else(|| what.name.clone()).unwrap_or_default(),
        },
        ("Forbidden", _) | (_, 403) => ClusterError::Forbidden { request: Box::new(what.clone()), message },
        ("NotFound", _) | (_, 404) => not_found(status, name(status), what),
        ("Unauthorized", _) | (_, 401) => ClusterError::Unauthorized,
        ("Conflict", _) | (_, 409) => ClusterError::Conflict { message, causes },
        ("Expired" | "Gone", _) | (_, 410) => ClusterError::Gone { message },
        ("TooManyRequests", _) | (_, 429) => ClusterError::Throttled { retry_after: retry_after(status) },
        ("Timeout", _) | (_, 504) => ClusterError::TimedOut { after: None, message },
        ("Invalid", _) | (_, 422) => {
            let is_bare_test_failure = causes.is_empty() && message.starts_with(BARE_INVALID);
            let message = if is_bare_test_failure { GUARD_FAILED.to_owned() } else { message };
            ClusterError::Invalid { causes, message, is_bare_test_failure }
        }
        (_, code @ 400..=499) => ClusterError::Rejected { code, message },
        // kube reads any object as a Status: one that says nothing was an event that could not be read.
        (_, 0) if message.is_empty() => ClusterError::Unreadable {
            request: what.to_string(),
            why: "it is neither an object of that kind nor an error".into(),
        },
        (_, code) => ClusterError::ServerFailed { code, message },
    }
}

/// Tells an object that is not there from a path the server does not serve: only the first names an object.
fn not_found(status: &Status, name: Option<String>, what: &RequestDescription) -> ClusterError {
    match name {
        Some(name) => {
            let kind = status.details.as_ref().map(|details| details.kind.as_str()).filter(|kind| !kind.is_empty());
            // A missing namespace is reported in the same way, with another kind.
            let resource = match kind {
                Some(kind) if !what.resource.starts_with(kind) => kind.to_owned(),
                _ => what.resource.clone(),
            };
            ClusterError::NotFound { resource, name }
        }
        None => ClusterError::UnknownResource { resource: what.full_resource() },
    }
}

fn message_of(status: &Status) -> String {
    if status.reason != NOT_A_STATUS {
        return mask::text(&status.message);
    }
    let first = status.message.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim();
    mask::text(first).chars().take(200).collect()
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref().map(|details| details.retry_after_seconds)?;
    (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)))
}

/// Tells a refusal of admission from one of the authorizer, which says `User "x" cannot VERB resource "y"`.
///
/// Webhooks choose their own code and reason; their sentence is fixed (apiserver `admission/plugin/webhook/errors`).
fn is_admission(status: &Status) -> bool {
    let message = status.message.as_str();
    let webhook = message.contains("admission webhook \"") && message.contains("denied the request");
    let policy = message.contains("ValidatingAdmissionPolicy '") && message.contains(" denied request");
    let plugin = status.is_forbidden() && message.contains(" is forbidden: ") && !message.contains(" cannot ");
    webhook || policy || plugin
}
