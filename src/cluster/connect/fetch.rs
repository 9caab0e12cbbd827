//! A manifest at a URL, as `kubectl -f` reads it (`readHttpWithRetries` in `visitor.go` of cli-runtime).
//!
//! Nothing of the kubeconfig is sent there: no credential, no certificate, no header.
#![expect(clippy::disallowed_methods, reason = "waits between two tries")]

use std::time::Duration;

use http::header::LOCATION;
use http::{Request, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Config;
use kube::client::Body;

use super::super::CONNECT_TIMEOUT;
use super::super::error::links;
use super::{Environment, name_the_client, proxy, transport};
use engine::value::address;

/// Tries of one URL, where the way to it or its server fails.
const TRIES: usize = 3;

const PAUSE: Duration = Duration::from_secs(1);
const REDIRECTIONS: usize = 10;
const SILENCE: Duration = Duration::from_secs(30);

pub fn is_url(name: &str) -> bool {
    let begins = |scheme: &str| name.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

/// Returns a URL for output: without its user, password, query and fragment.
pub fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    address::without_credentials(url.get(..end).unwrap_or(url))
}

/// Reads the content of a URL, up to a limit in bytes.
///
/// # Errors
/// Why it could not be read, after three tries where another one may help. It is named without its user, password and query.
pub async fn fetch(url: &str, limit: usize, environment: &Environment) -> Result<Vec<u8>, String> {
    let mut tries = 1;
    loop {
        match once(url, limit, environment).await {
            Err((_, true)) if tries < TRIES => tries += 1,
            ended => return ended.map_err(|(message, _)| message),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same once; an error says whether another try may help.
async fn once(url: &str, limit: usize, environment: &Environment) -> Result<Vec<u8>, (String, bool)> {
    let (name, mib) = (shown(url), limit / (1024 * 1024));
    let malformed = |why: &str| (format!("{name:?} is no URL that can be read: {why}"), false);
    let unreachable = |why: String| (format!("unable to read URL {name:?}: {why}"), true);
    let mut place: Uri = url.split('#').next().unwrap_or(url).parse().map_err(|_| malformed("it is malformed"))?;
    for _ in 0..=REDIRECTIONS {
        if place.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(malformed("it names a user; pipe it in: curl -u USER URL | kubectl inplace ... -f -"));
        }
        let response = ask(&place, environment).await.map_err(unreachable)?;
        let status = response.status();
        if status.is_redirection() {
            let next = response.headers().get(LOCATION).and_then(|to| redirected(&place, to.to_str().ok()?));
            place = next.ok_or_else(|| malformed("it leads nowhere"))?;
            continue;
        }
        if !status.is_success() {
            let reported = format!("unable to read URL {name:?}, server reported {status}");
            return Err((reported, status.is_server_error()));
        }
        let body = Limited::new(response.into_body(), limit).collect().await;
        return match body {
            Ok(body) => Ok(body.to_bytes().to_vec()),
            Err(error) if error.is::<LengthLimitError>() => Err((format!("{name:?} is larger than {mib} MiB"), false)),
            Err(error) => Err(unreachable(error.to_string())),
        };
    }
    Err(malformed("it is redirected again and again"))
}

async fn ask(place: &Uri, environment: &Environment) -> Result<http::Response<Body>, String> {
    let mut config = Config::new(place.clone());
    config.proxy_url = proxy::of(place, None, environment).map_err(|error| error.to_string())?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(SILENCE);
    config.default_retry = false;
    name_the_client(&mut config);
    // The path goes with the request.
    let origin = Uri::builder().scheme(place.scheme_str().unwrap_or("http"));
    let origin = origin.authority(place.authority().map(http::uri::Authority::as_str).unwrap_or_default());
    config.cluster_url = origin.path_and_query("/").build().map_err(|error| error.to_string())?;
    let path = place.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let request = Request::get(path).body(Body::empty()).map_err(|error| error.to_string())?;
    let client = transport::client_of(config).map_err(|error| error.to_string())?;
    // The outer errors only say that a request failed.
    client.send(request).await.map_err(|error| links(&error).last().map(ToString::to_string).unwrap_or_default())
}

/// Returns where a redirection leads: to another place, or to another path of the same one.
fn redirected(from: &Uri, location: &str) -> Option<Uri> {
    if is_url(location) {
        return location.parse().ok();
    }
    let path = location.starts_with('/').then_some(location)?;
    Uri::builder().scheme(from.scheme()?.clone()).authority(from.authority()?.clone()).path_and_query(path).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_leads_to_a_place_or_a_path() {
        let from: Uri = "https://example.test/a?b".parse().unwrap();
        let to = |location| redirected(&from, location).map(|uri| uri.to_string());
        assert_eq!(to("http://other.test/x?y").as_deref(), Some("http://other.test/x?y"));
        assert_eq!(to("/c?d").as_deref(), Some("https://example.test/c?d"));
        assert_eq!(to("file:///etc/passwd"), None);
        assert_eq!(to("relative"), None);
    }

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        assert!(is_url("HTTPS://example.test") && !is_url("web.yaml") && !is_url("ftp://example.test"));
        assert_eq!(shown("https://jane:secret@example.test/web.yaml?token=x#y"), "https://example.test/web.yaml");
    }
}
