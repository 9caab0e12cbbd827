//! The way of every request to the server and of its answer back: credential, time limit, repetition, warnings, trace.
//!
//! Promise: one request of kube is at most [`retry::TRIES`] requests to the server (one more for a read whose credential
//! was refused; [`retry::TRIES_OF_BUSY`] where it says when to come again), all within `--request-timeout`; a write is never sent again once the server may have seen it; every
//! pause is reported. Answers are read to their end here, within the same limit; only watches and followed logs are
//! passed on as they come.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "sends the requests; waits between tries and measures them; knows when a credential expires"
)]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::{Client, Config};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::super::TCP_TIMEOUT;
use super::super::error::{ClusterError, Result, of_transport};
use super::credentials::{Credential, Source};
use super::retry::{self, Ended, RequestKind};
use super::trace::Trace;
use super::warnings::{ServerClock, Warnings};
use super::{ServerNotice, entries};
use engine::value::address;

/// How long an address may be: `http` takes no longer one, and kube panics where the server's path makes it longer.
const LONGEST: usize = 60_000;

/// A timer that ends this late shows that the process was stopped, for example by a laptop that sleeps.
const LATE: Duration = Duration::from_millis(500);

pub(super) type Answer = Result<Response<Body>>;

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// One request with its repetitions; `None` is no limit.
    request: Option<Duration>,
    /// After this long without an answer the user gets a notice.
    pub(super) silence: Duration,
    /// The first pause before a repetition; each next one is four times as long.
    pub(super) backoff: Duration,
}

impl Limits {
    pub(super) fn new(request: Option<Duration>) -> Self {
        Self { request, silence: Duration::from_secs(5), backoff: Duration::from_millis(250) }
    }
}

pub(super) struct Transport {
    config: Config,
    /// Host and port.
    server: String,
    source: Source,
    session: Mutex<Session>,
    limits: Limits,
    warnings: Warnings,
    clock: ServerClock,
    trace: Trace,
    /// The server was reported as silent, and has not answered since.
    is_silent: AtomicBool,
}

/// With what requests are sent at present.
#[derive(Clone)]
struct Session {
    client: Client,
    credential: Credential,
    /// The server answered 401: the credential must not be used again.
    rejected: bool,
    /// Counts credentials, so that a late 401 does not reject a newer one.
    number: u64,
}

impl Transport {
    /// Gets the first credential and sets up TLS; sends nothing.
    pub(super) async fn start(
        config: Config,
        source: Source,
        limits: Limits,
        (warnings, clock, trace): (Warnings, ServerClock, Trace),
    ) -> Result<Self> {
        let credential = source.get(&warnings).await?;
        let client = client(&config, &credential)?;
        let session = Session { client, credential, rejected: false, number: 1 };
        let server = match config.cluster_url.authority() {
            Some(authority) => address::host(authority.as_str()).to_owned(),
            None => config.cluster_url.to_string(),
        };
        Ok(Self {
            config,
            server,
            source,
            session: Mutex::new(session),
            limits,
            warnings,
            clock,
            trace,
            is_silent: AtomicBool::new(false),
        })
    }

    /// Sends a request of kube's, and gives the server's answer, whatever its status.
    pub(super) async fn call(self: Arc<Self>, request: Request<Body>) -> Answer {
        let (parts, body) = request.into_parts();
        let kind = RequestKind::of(&parts.method, &parts.uri);
        let mut deadline = None;
        let mut tries = 0;
        let mut renewed = false;
        let mut body = Some(body);
        while let Some(current) = body.take() {
            let next = current.try_clone();
            let session = self.session().await?;
            if deadline.is_none() && kind != RequestKind::Stream {
                deadline = self.limits.request.and_then(|limit| Instant::now().checked_add(limit));
            }
            tries += 1;
            let sent = self.send(&session, parts.clone(), current, kind, deadline);
            let ended = self.tell_silence(sent).await;
            let is_refused = matches!(&ended, Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED);
            if is_refused && !matches!(self.source, Source::Given(_)) {
                self.reject(session.number).await;
                if kind != RequestKind::Write && !renewed && next.is_some() {
                    (renewed, deadline, body) = (true, None, next);
                    tries -= 1;
                    continue;
                }
            }
            let left = deadline.map(|deadline: Instant| deadline.saturating_duration_since(Instant::now()));
            let pause = retry::pause(kind, tries, summary(&ended), left, self.limits.backoff);
            let (Some(pause), Some(next)) = (pause, next) else { return ended };
            self.warnings.tell(ServerNotice::Retrying { after: pause, why: why(&ended) });
            tokio::time::sleep(pause).await;
            body = Some(next);
        }
        Err(ClusterError::NotSent { why: "the request has no body left".to_owned() })
    }

    /// Waits for an answer, and reports when it does not come for a while.
    async fn tell_silence(&self, sent: impl Future<Output = Answer>) -> Answer {
        let mut sent = pin!(sent);
        let ended = loop {
            let waits = Instant::now();
            match tokio::time::timeout(self.limits.silence, sent.as_mut()).await {
                Ok(ended) => break ended,
                // This process slept: how long the server was silent is not known.
                Err(_) if waits.elapsed() > self.limits.silence + LATE => {}
                Err(_) => {
                    if !self.is_silent.swap(true, Ordering::SeqCst) {
                        let (server, after) = (self.server.clone(), self.limits.silence);
                        self.warnings.tell(ServerNotice::Silent { server, after });
                    }
                    break sent.await;
                }
            }
        };
        if ended.is_ok() {
            self.is_silent.store(false, Ordering::SeqCst);
        }
        ended
    }

    /// Sends once, and reads the answer to its end unless it has none.
    async fn send(
        &self,
        session: &Session,
        parts: Parts,
        body: Body,
        kind: RequestKind,
        deadline: Option<Instant>,
    ) -> Answer {
        let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
        if self.config.cluster_url.path().len() + path.len() > LONGEST {
            return Err(ClusterError::NotSent { why: "its address is too long".to_owned() });
        }
        let authorization = &session.credential.authorization;
        self.trace.sent(&parts, body.try_clone(), &self.config, authorization.is_some()).await;
        let started = Instant::now();
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        let mut request = Request::from_parts(parts, body);
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let mut received = None;
        let exchange = async {
            let response = session.client.send(request).await.map_err(|error| self.failure(&error))?;
            self.warnings.read(response.headers());
            self.clock.read(response.headers());
            if kind == RequestKind::Stream && response.status().is_success() {
                return Ok(response);
            }
            let (parts, body) = response.into_parts();
            match body.collect_bytes().await {
                Ok(bytes) => {
                    received = Some(bytes.clone());
                    Ok(Response::from_parts(parts, Body::from(bytes)))
                }
                Err(error) => Err(self.failure(&error)),
            }
        };
        let ended = match deadline {
            None => exchange.await,
            Some(deadline) => tokio::time::timeout_at(deadline, exchange)
                .await
                .unwrap_or(Err(ClusterError::TimedOut { after: self.limits.request, message: String::new() })),
        };
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.trace.ended((&method, &uri), &ended, received.as_deref(), milliseconds);
        ended
    }

    fn failure(&self, error: &kube::Error) -> ClusterError {
        of_transport(error, &self.server)
    }

    /// Gives the credential to use now; gets another one if it is about to expire or was refused.
    async fn session(&self) -> Result<Session> {
        let mut current = self.session.lock().await;
        let is_due = current.credential.renew.is_some_and(|due| Timestamp::now() >= due);
        if !is_due && !current.rejected {
            return Ok(current.clone());
        }
        match self.source.get(&self.warnings).await {
            Ok(credential) => {
                let keeps_client = credential.certificate.is_none() && current.credential.certificate.is_none();
                let client = if keeps_client { current.client.clone() } else { client(&self.config, &credential)? };
                *current = Session { client, credential, rejected: false, number: current.number.saturating_add(1) };
            }
            // It is still good for a while.
            Err(_) if !current.rejected && current.credential.expires.is_none_or(|end| Timestamp::now() < end) => {}
            Err(error) => return Err(error),
        }
        Ok(current.clone())
    }

    async fn reject(&self, number: u64) {
        let mut current = self.session.lock().await;
        if current.number == number {
            current.rejected = true;
        }
    }
}

/// What sends requests; with the certificate of a credential, if it has one.
fn client(config: &Config, credential: &Credential) -> Result<Client> {
    let mut config = config.clone();
    if let Some((certificate, key)) = &credential.certificate {
        config.auth_info.client_certificate_data = entries::base64(certificate.as_bytes());
        config.auth_info.client_key_data = entries::base64(key.as_bytes()).map(Into::into);
    }
    match client_of(config) {
        Ok(client) => Ok(client),
        Err(kube::Error::Auth(error)) => Err(ClusterError::credentials(format!("no credentials: {error}"))),
        Err(error) => {
            // kube puts what it wraps into its own text too; the innermost text says it once.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Err(ClusterError::kubeconfig(format!("the connection cannot be set up: {why}")))
        }
    }
}

fn summary(ended: &Answer) -> Ended<'_> {
    ended.as_ref().map(|answer| (answer.status().as_u16(), retry::retry_after(answer.headers())))
}

fn why(ended: &Answer) -> String {
    match ended {
        Ok(answer) if answer.status() == StatusCode::TOO_MANY_REQUESTS => "the server is busy".to_owned(),
        Ok(answer) => format!("the server answered {}", answer.status()),
        Err(error) => error.to_string(),
    }
}

/// A silent connection is probed after this time (Go's `net.Dialer` has the same), and this many times before it is
/// abandoned: a watch through a NAT or a load balancer that has forgotten it would be silent for minutes.
const ALIVE_AFTER: Duration = Duration::from_secs(15);
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const ALIVE_RETRIES: u32 = 3;

/// What sends requests to the server of a configuration: kube's own layers, but small writes are sent at once
/// (`TCP_NODELAY`, as Go's net package has it). With kube's connector the first request after a resumed TLS handshake waits
/// for an acknowledgement that Linux delays by 40 ms. Through a proxy it is kube's own.
pub(super) fn client_of(config: Config) -> Result<Client, kube::Error> {
    if config.proxy_url.is_some() {
        return ClientBuilder::try_from(config).map(ClientBuilder::build);
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(TCP_TIMEOUT));
    tcp.set_keepalive(Some(ALIVE_AFTER));
    tcp.set_keepalive_interval(Some(ALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(ALIVE_RETRIES));
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let connection = HttpClient::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let gzip = DecompressionLayer::new().gzip(!config.disable_compression);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(gzip)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(connection);
    Ok(ClientBuilder::new(service, config.default_namespace).build())
}
