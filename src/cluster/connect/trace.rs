//! `-v`: what goes to the server and comes back, in kubectl's levels: 6 a line a request, 7 also the request's headers, 8 also
//! the response's and both bodies, cut to 1,024 bytes; 9 cuts at 10,240, 10 nowhere.
//!
//! Promise: no credential. Headers that carry one, whatever a Secret holds, environment, commands and manifests of pods, and what
//! looks like a credential elsewhere are masked, before anything is cut; and what would move a terminal's cursor is shown as an escape.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use kube::Config;
use kube::client::Body;
use serde_json::Value;

use super::transport::Answer;
use engine::k8s::mask::{self, MASK, Secrets};
use engine::value::hostile::is_hostile;

const REQUEST_HEADERS: u8 = 7;
const BODIES: u8 = 8;

/// How much of a body is shown, as in client-go's `truncateBody`.
const SHORT: usize = 1_024;
const LONG: usize = 10_240;

const SECRET_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "authentication-info"];

#[derive(Debug, Clone, Copy)]
pub(super) struct Trace(pub(super) u8);

impl Trace {
    /// Shows what is sent, before it is: the configuration's own headers are added on the way.
    pub(super) async fn sent(
        self,
        parts: &http::request::Parts,
        body: Option<Body>,
        config: &Config,
        is_authorized: bool,
    ) {
        if self.0 < REQUEST_HEADERS {
            return;
        }
        let mut headers = parts.headers.clone();
        for (name, value) in &config.headers {
            headers.insert(name.clone(), value.clone());
        }
        let user = &config.auth_info;
        if is_authorized || user.auth_provider.is_some() {
            headers.insert(http::header::AUTHORIZATION, HeaderValue::from_static(MASK));
        }
        if let Some(value) = user.impersonate.as_deref().and_then(|name| HeaderValue::from_str(name).ok()) {
            headers.insert(HeaderName::from_static("impersonate-user"), value);
        }
        tracing::debug!(method = %parts.method, path = %shown_path(&parts.uri), headers = %shown_headers(&headers), "request headers");
        if self.0 >= BODIES
            && let Some(body) = body
            && let Ok(bytes) = body.collect_bytes().await
            && !bytes.is_empty()
        {
            tracing::debug!(body = %self.shown_body(&bytes), "request body");
        }
    }

    /// Shows how it ended, and how long it took. What comes in pieces, as a watch does, has no body here.
    pub(super) fn ended(self, (method, uri): (&Method, &Uri), ended: &Answer, body: Option<&[u8]>, milliseconds: u64) {
        let path = shown_path(uri);
        match ended {
            Ok(answer) => {
                tracing::debug!(%method, %path, status = answer.status().as_u16(), milliseconds, "request");
                if self.0 >= BODIES {
                    tracing::debug!(headers = %shown_headers(answer.headers()), "response headers");
                }
            }
            Err(error) => tracing::debug!(%method, %path, %error, milliseconds, "request"),
        }
        if let Some(body) = body.filter(|_| self.0 >= BODIES) {
            tracing::debug!(body = %self.shown_body(body), "response body");
        }
    }

    fn shown_body(self, bytes: &[u8]) -> String {
        let text = match serde_json::from_slice::<Value>(bytes) {
            Ok(mut value) => {
                without_secrets(&mut value);
                value.to_string()
            }
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        };
        let text = escaped(&mask::text(&text));
        let limit = match self.0 {
            ..=BODIES => SHORT,
            9 => LONG,
            10.. => usize::MAX,
        };
        match text.char_indices().find(|(at, letter)| at + letter.len_utf8() > limit) {
            Some((at, _)) => {
                let (head, rest) = text.split_at(at);
                format!("{head} [truncated {} chars]", rest.chars().count())
            }
            None => text,
        }
    }
}

fn shown_path(uri: &Uri) -> String {
    escaped(uri.path_and_query().map_or(uri.path(), |path| path.as_str()))
}

fn shown_headers(headers: &HeaderMap) -> String {
    let mut shown = String::new();
    for (name, value) in headers {
        let value = match SECRET_HEADERS.contains(&name.as_str()) {
            true => MASK.to_owned(),
            false => escaped(&mask::text(&String::from_utf8_lossy(value.as_bytes()))),
        };
        let separator = if shown.is_empty() { "" } else { "; " };
        // Writing to a String does not fail.
        let _ = write!(shown, "{separator}{name}: {value}");
    }
    shown
}

/// Masks what Secrets hold, tokens that the server has made, and the places of a pod's template where people put secrets.
fn without_secrets(value: &mut Value) {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    match (kind.as_str(), value) {
        ("Secret", secret) => hide_secret(secret),
        ("SecretList", list) => {
            list.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten().for_each(hide_secret);
        }
        ("TokenRequest" | "TokenReview", review) => {
            for name in ["spec", "status"] {
                review.get_mut(name).into_iter().for_each(hide);
            }
        }
        (_, Value::Object(fields)) => {
            for (name, field) in fields.iter_mut() {
                match (Secrets::of_field(name), field) {
                    (Some(Secrets::Values), Value::Array(pairs)) => {
                        pairs.iter_mut().filter_map(|pair| pair.get_mut("value")).for_each(hide);
                    }
                    (Some(Secrets::Whole), field) => hide(field),
                    (Some(Secrets::Values) | None, field) => without_secrets(field),
                }
            }
        }
        (_, Value::Array(items)) => items.iter_mut().for_each(without_secrets),
        (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {}
    }
}

/// Hides a Secret's data, and its annotations, one of which has the data once more.
fn hide_secret(secret: &mut Value) {
    for place in ["/data", "/stringData", "/metadata/annotations"] {
        secret.pointer_mut(place).into_iter().for_each(hide);
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::String(text) => MASK.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(fields) => fields.values_mut().for_each(hide),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Shows what a terminal would act on, and what reorders text, as an escape.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_hostile(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(level: u8, body: &str) -> String {
        Trace(level).shown_body(body.as_bytes())
    }

    #[test]
    fn nothing_of_a_secret_is_shown() {
        let secret = r#"{"kind": "Secret", "metadata": {"name": "db", "annotations":
            {"kubectl.kubernetes.io/last-applied-configuration": "{\"data\":{\"a\":\"aHVudGVyMg==\"}}"}},
            "data": {"a": "aHVudGVyMg=="}, "stringData": {"name": "hunter2"}, "type": "Opaque"}"#;
        let list = r#"{"kind": "SecretList", "items": [{"metadata": {"name": "db"}, "data": {"a": "aHVudGVyMg=="}}]}"#;
        let nested = format!(r#"{{"kind": "List", "items": [{secret}]}}"#);
        let token = r#"{"kind": "TokenRequest", "status": {"token": "aHVudGVyMg=="}}"#;
        let key = r#"{"log": "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n"}"#;
        for body in [secret, list, &nested, token, key] {
            for level in [8, 9, 10] {
                let shown = shown(level, body);
                assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
                assert!(shown.contains("***"), "{shown}");
            }
        }
        let env = r#"{"kind": "Pod", "spec": {"containers": [{"env": [{"name": "A", "value": "hunter2"}]}]}}"#;
        let applied = Value::from(env).to_string();
        let annotations = format!(r#"{{"kubectl.kubernetes.io/last-applied-configuration": {applied}}}"#);
        let deployment = format!(r#"{{"kind": "Deployment", "metadata": {{"annotations": {annotations}}}}}"#);
        for body in [env, &deployment] {
            assert!(!shown(10, body).contains("hunter2") && shown(10, body).contains("***"), "{}", shown(10, body));
        }
        assert!(shown(8, secret).contains(r#""name":"db""#), "{}", shown(8, secret));
    }

    #[test]
    fn a_body_is_cut_as_kubectl_cuts_it() {
        let body = format!(r#"{{"a": "{}é"}}"#, "x".repeat(20_000));
        let (short, long, whole) = (shown(8, &body), shown(9, &body), shown(10, &body));
        assert!(short.starts_with(r#"{"a":"xxx"#) && short.ends_with(" chars]") && short.len() < 1_060, "{short}");
        assert!(long.len() > 10_240 && long.len() < 10_280);
        assert!(whole.ends_with("é\"}"), "{whole}");
        assert_eq!(shown(8, "no \u{1b}[2J JSON \u{202e}"), "no \\u{1b}[2J JSON \\u{202e}");
    }

    #[test]
    fn headers_that_carry_credentials_are_masked() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("authorization", "Bearer hunter2"), ("set-cookie", "s=hunter2"), ("accept", "x/y")] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        assert_eq!(shown_headers(&headers), "authorization: ***; set-cookie: ***; accept: x/y");
    }
}
