//! Whether and when a request is repeated, as a pure function.
//!
//! Reads: on failed connections, lost connections, 429 and 5xx. Writes: only where the server certainly did nothing:
//! nobody listened, or 429 with a `Retry-After`. Streams (watches, followed logs): never, their readers know better.
//! kube's own repetition (15 times, silently, PATCH included) is off.

use std::time::Duration;

use http::{HeaderMap, Method, Uri};

use crate::cluster::error::{ClusterError, Unreached};

/// How often a request is sent at most; and how often where the server says each time that it is busy and when to come
/// again, as kubectl's requests are (client-go, `maxRetries` of `rest.Request`).
pub(super) const TRIES: u32 = 3;
pub(super) const TRIES_OF_BUSY: u32 = 10;

/// A longer wait than this is the caller's to decide.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    Read,
    Write,
    /// Has no end: a watch, a followed log.
    Stream,
}

impl RequestKind {
    pub(super) fn of(method: &Method, uri: &Uri) -> Self {
        let endless = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
            matches!(name, "watch" | "follow") && matches!(value, "" | "true" | "1" | "True" | "TRUE" | "t" | "T")
        };
        if uri.query().unwrap_or_default().split('&').any(endless) {
            Self::Stream
        } else if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            Self::Read
        } else {
            Self::Write
        }
    }
}

/// How one try ended: with an HTTP status, and when the server wants to be asked again, or without an answer.
pub(super) type Ended<'a> = Result<(u16, Option<Duration>), &'a ClusterError>;

/// Gives the pause before the next try, if there is one. `tries` were made, and `left` is left of the request's time.
pub(super) fn pause(
    kind: RequestKind,
    tries: u32,
    ended: Ended<'_>,
    left: Option<Duration>,
    backoff: Duration,
) -> Option<Duration> {
    let says_when = matches!(ended, Ok((429, Some(_))));
    if tries >= if says_when { TRIES_OF_BUSY } else { TRIES } {
        return None;
    }
    let growing = backoff.saturating_mul(4_u32.saturating_pow(tries.saturating_sub(1)));
    let pause = match (kind, ended) {
        (RequestKind::Stream, _) => None,
        (RequestKind::Read, Ok((429 | 500..=599, retry_after))) => Some(retry_after.unwrap_or(growing)),
        (RequestKind::Write, Ok((429, retry_after))) => retry_after,
        (RequestKind::Read | RequestKind::Write, Ok(_)) => None,
        (RequestKind::Read, Err(error)) => may_pass(error).then_some(growing),
        (RequestKind::Write, Err(ClusterError::Unreachable { why: Unreached::Refused, .. })) => Some(growing),
        (RequestKind::Write, Err(_)) => None,
    }?;
    let fits = left.is_none_or(|left| pause < left);
    (fits && pause <= LONGEST_PAUSE).then_some(pause)
}

/// Says whether the next try of a read may do better. A certificate does not get better within a second.
fn may_pass(error: &ClusterError) -> bool {
    let is_certificate = matches!(error, ClusterError::Unreachable { why: Unreached::Certificate(_), .. });
    !is_certificate && matches!(error, ClusterError::Unreachable { .. } | ClusterError::ConnectionLost { .. })
}

/// Reads `Retry-After` in seconds, the only form that Kubernetes sends.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Duration = Duration::from_millis(250);

    fn answered(code: u16, retry_after: Option<u64>) -> Ended<'static> {
        Ok((code, retry_after.map(Duration::from_secs)))
    }

    #[test]
    fn what_is_repeated_after_an_answer() {
        let seconds = Duration::from_secs;
        let cases = [
            (RequestKind::Read, 1, answered(200, None), None),
            (RequestKind::Read, 1, answered(404, Some(1)), None),
            (RequestKind::Read, 1, answered(429, None), Some(BACKOFF)),
            (RequestKind::Read, 2, answered(503, None), Some(BACKOFF * 4)),
            (RequestKind::Read, 1, answered(429, Some(3)), Some(seconds(3))),
            (RequestKind::Read, 1, answered(500, Some(0)), Some(seconds(0))),
            (RequestKind::Read, 3, answered(429, Some(3)), Some(seconds(3))),
            (RequestKind::Read, 10, answered(429, Some(3)), None),
            (RequestKind::Read, 3, answered(429, None), None),
            (RequestKind::Read, 1, answered(429, Some(61)), None),
            (RequestKind::Read, 1, answered(429, Some(u64::MAX)), None),
            (RequestKind::Write, 1, answered(429, Some(3)), Some(seconds(3))),
            (RequestKind::Write, 1, answered(429, None), None),
            (RequestKind::Write, 1, answered(503, Some(3)), None),
            (RequestKind::Write, 1, answered(504, None), None),
            (RequestKind::Write, 9, answered(429, Some(3)), Some(seconds(3))),
            (RequestKind::Write, 10, answered(429, Some(3)), None),
            (RequestKind::Stream, 1, answered(429, Some(3)), None),
        ];
        for (at, (kind, tries, ended, expected)) in cases.into_iter().enumerate() {
            assert_eq!(pause(kind, tries, ended, None, BACKOFF), expected, "case {at}");
        }
        let busy = answered(429, Some(3));
        assert_eq!(pause(RequestKind::Read, 1, busy, Some(seconds(4)), BACKOFF), Some(seconds(3)));
        assert_eq!(pause(RequestKind::Read, 1, busy, Some(seconds(3)), BACKOFF), None);
    }

    #[test]
    fn what_is_repeated_after_a_failure() {
        let unreachable = |why| ClusterError::Unreachable { server: "a:1".to_owned(), why };
        let refused = unreachable(Unreached::Refused);
        let other = unreachable(Unreached::Other("no route".to_owned()));
        let certificate = unreachable(Unreached::Certificate("unknown issuer".to_owned()));
        let lost = ClusterError::ConnectionLost { why: "reset".to_owned() };
        let timed_out = ClusterError::TimedOut { after: Some(BACKOFF), message: String::new() };
        let cases = [
            (&refused, true, true),
            (&other, true, false),
            (&certificate, false, false),
            (&lost, true, false),
            (&timed_out, false, false),
        ];
        for (error, read, write) in cases {
            let repeated = |kind| pause(kind, 1, Err(error), None, BACKOFF).is_some();
            assert_eq!(repeated(RequestKind::Read), read, "{error}");
            assert_eq!(repeated(RequestKind::Write), write, "{error}");
            assert!(!repeated(RequestKind::Stream), "{error}");
        }
    }

    #[test]
    fn kinds_of_requests() {
        let cases = [
            (Method::GET, "/api/v1/pods?limit=500", RequestKind::Read),
            (Method::GET, "/api/v1/pods?limit=500&watch=true", RequestKind::Stream),
            (Method::GET, "/api/v1/pods?watch=false", RequestKind::Read),
            (Method::GET, "/api/v1/pods?watch=1", RequestKind::Stream),
            (Method::GET, "/api/v1/pods?labelSelector=watch%3Dtrue", RequestKind::Read),
            (Method::GET, "/api/v1/namespaces/a/pods/b/log?follow=true", RequestKind::Stream),
            (Method::GET, "/api/v1/namespaces/a/pods/b/log?tailLines=5", RequestKind::Read),
            (Method::PATCH, "/api/v1/namespaces/a/pods/b", RequestKind::Write),
            (Method::POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", RequestKind::Write),
            (Method::DELETE, "/api/v1/namespaces/a/pods/b", RequestKind::Write),
        ];
        for (method, uri, expected) in cases {
            assert_eq!(RequestKind::of(&method, &uri.parse().unwrap()), expected, "{method} {uri}");
        }
    }
}
