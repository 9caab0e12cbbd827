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

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{HeaderValue, Request, Response, StatusCode, header::AUTHORIZATION, request::Parts};
use jiff::{SignedDuration, Timestamp};
use kube::{Client, Config, client::Body};
use tokio::{sync::Mutex, time::Instant};

use super::{
    KubeconfigError, ServerNotice,
    credential_plugin::{Credential, CredentialPlugin},
    retry::{self, RequestKind, Try},
    server_clock::ServerClock,
    stack,
    trace::Trace,
    warnings::Warnings,
};
use crate::cluster::error::{ClusterError, of_transport};
use crate::engine::value::address;

/// How long before its end a credential is replaced.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// A timer that ends this late shows that the process was stopped, for example by a laptop that sleeps.
const LATE: Duration = Duration::from_millis(500);

/// How long things may take.
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

/// Sends requests.
pub(super) struct Transport {
    config: Config,
    /// Host and port.
    server: String,
    plugin: Option<CredentialPlugin>,
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
    authorization: Option<HeaderValue>,
    expires: Option<Timestamp>,
    /// The server answered 401: the credential must not be used again.
    rejected: bool,
    /// Counts credentials, so that a late 401 does not reject a newer one.
    number: u64,
}

impl Transport {
    /// Gets the first credential and sets up TLS; sends nothing.
    pub(super) async fn start(
        config: Config,
        plugin: Option<CredentialPlugin>,
        limits: Limits,
        (warnings, clock, trace): (Warnings, ServerClock, Trace),
    ) -> Result<Self, ClusterError> {
        let session = match &plugin {
            Some(plugin) => session(&config, plugin.run(&warnings).await?, 1)?,
            None => Session {
                client: client(config.clone())?,
                authorization: None,
                expires: None,
                rejected: false,
                number: 1,
            },
        };
        let server = match config.cluster_url.authority() {
            Some(authority) => address::host(authority.as_str()).to_owned(),
            None => config.cluster_url.to_string(),
        };
        Ok(Self {
            config,
            server,
            plugin,
            session: Mutex::new(session),
            limits,
            warnings,
            clock,
            trace,
            is_silent: AtomicBool::new(false),
        })
    }

    /// Sends a request of kube's, and gives the server's answer, whatever its status.
    pub(super) async fn call(self: Arc<Self>, request: Request<Body>) -> Result<Response<Body>, ClusterError> {
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
            if self.plugin.is_some() && matches!(&ended, Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED) {
                self.reject(session.number).await;
                if kind != RequestKind::Write && !renewed && next.is_some() {
                    (renewed, deadline, body) = (true, None, next);
                    tries -= 1;
                    continue;
                }
            }
            let left = deadline.map(|deadline: Instant| deadline.saturating_duration_since(Instant::now()));
            let pause = retry::pause(kind, tries, &summary(&ended), left, self.limits.backoff);
            let (Some(pause), Some(next)) = (pause, next) else { return ended };
            self.warnings.tell(ServerNotice::Retrying { after: pause, why: why(&ended) });
            tokio::time::sleep(pause).await;
            body = Some(next);
        }
        Err(ClusterError::NotSent { why: "the request has no body left".to_owned() })
    }

    /// Waits for an answer, and reports when it does not come for a while.
    async fn tell_silence(
        &self,
        sent: impl Future<Output = Result<Response<Body>, ClusterError>>,
    ) -> Result<Response<Body>, ClusterError> {
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
    ) -> Result<Response<Body>, ClusterError> {
        self.trace.sent(&parts, body.try_clone(), &self.config, session.authorization.is_some()).await;
        let started = Instant::now();
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        let mut request = Request::from_parts(parts, body);
        if let Some(authorization) = &session.authorization {
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

    /// Gives the credential to use now; runs the plugin if it is about to expire or was refused.
    async fn session(&self) -> Result<Session, ClusterError> {
        let mut current = self.session.lock().await;
        let Some(plugin) = &self.plugin else { return Ok(current.clone()) };
        let now = Timestamp::now();
        let expiring =
            current.expires.is_some_and(|expires| now.saturating_add(AHEAD).is_ok_and(|soon| soon >= expires));
        if !expiring && !current.rejected {
            return Ok(current.clone());
        }
        match plugin.run(&self.warnings).await {
            Ok(credential) => *current = session(&self.config, credential, current.number.saturating_add(1))?,
            // It is still good for a while.
            Err(_) if !current.rejected && current.expires.is_some_and(|expires| now < expires) => {}
            Err(error) => return Err(error.into()),
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

fn session(config: &Config, credential: Credential, number: u64) -> Result<Session, ClusterError> {
    let mut config = config.clone();
    if let Some((certificate, key)) = credential.certificate {
        config.auth_info.client_certificate = None;
        config.auth_info.client_key = None;
        config.auth_info.client_certificate_data = Some(certificate);
        config.auth_info.client_key_data = Some(key.into());
    }
    let client = client(config)?;
    Ok(Session {
        client,
        authorization: credential.authorization,
        expires: credential.expires,
        rejected: false,
        number,
    })
}

fn client(config: Config) -> Result<Client, ClusterError> {
    match stack::client(config) {
        Ok(client) => Ok(client),
        Err(kube::Error::Auth(error)) => Err(super::CredentialPluginError::of_provider(&error).into()),
        Err(error) => {
            // kube puts what it wraps into its own text too; the innermost text says it once.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Err(KubeconfigError::Tls { why }.into())
        }
    }
}

fn summary(ended: &Result<Response<Body>, ClusterError>) -> Try<'_> {
    match ended {
        Ok(answer) => {
            Try::Answered { code: answer.status().as_u16(), retry_after: retry::retry_after(answer.headers()) }
        }
        Err(error) => Try::Failed(error),
    }
}

fn why(ended: &Result<Response<Body>, ClusterError>) -> String {
    match ended {
        Ok(answer) if answer.status() == StatusCode::TOO_MANY_REQUESTS => "the server is busy".to_owned(),
        Ok(answer) => format!("the server answered {}", answer.status()),
        Err(error) => error.to_string(),
    }
}
