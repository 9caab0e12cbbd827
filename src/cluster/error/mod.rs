//! What goes wrong between this program and the API server, sorted by what the user or the rollout can do about it.
//!
//! Promise: an error is complete in its [`std::fmt::Display`], without the layers it came through; what to
//! do about it is in [`ClusterError::hints`]; and for a write, [`ClusterError::may_have_been_done`] says whether the
//! server may have carried it out all the same. Nothing here decides about repeating a request.
//!
//! Texts of the cluster are passed on as they came: whoever shows them escapes control characters.

use std::fmt;
use std::time::Duration;

use engine::k8s::permissions::AccessVerb;
use engine::value::hint::{Hint, Spoken, kubectl};

mod from_kube;

#[cfg(test)]
mod tests;

pub(super) use from_kube::{links, of_transport};

pub type Result<T, E = ClusterError> = std::result::Result<T, E>;

/// Why the server could not be reached: nothing of the request arrived there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreached {
    /// Nobody listens at the address.
    Refused,
    /// The server's certificate was not accepted, or it is no TLS server at all.
    Certificate(String),
    /// The host name has no address.
    UnknownHost(String),
    /// Anything else before a connection stood: no route, proxy, connect timeout.
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The caller may not do this (403 of an authorizer).
    #[error("{message}")]
    Forbidden { request: Box<RequestDescription>, message: String },
    /// The object is not there (404).
    #[error("{resource} \"{name}\" not found")]
    NotFound {
        /// The resource, such as `pods` or `deployments.apps`.
        resource: String,
        name: String,
    },
    /// The server does not serve this resource or subresource (404 without an object).
    #[error("the server doesn't have a resource type \"{resource}\"")]
    UnknownResource {
        /// The resource, with its subresource.
        resource: String,
    },
    /// An object of that name exists already (409 AlreadyExists).
    #[error("{resource} \"{name}\" already exists")]
    AlreadyExists { resource: String, name: String },
    /// The server does not know who asks (401).
    #[error("You must be logged in to the server (Unauthorized)")]
    Unauthorized,
    /// The object changed meanwhile, or another field manager owns a field (409).
    #[error("{message}")]
    Conflict {
        message: String,
        /// Field and message of each conflict, for server-side apply.
        causes: Vec<(String, String)>,
    },
    /// The resourceVersion or continue token is too old (410): list again.
    #[error("the requested version of the list is gone: {message}")]
    Gone { message: String },
    /// The server is busy and did nothing (429).
    #[error("the server is busy and asked to try again{}", later(*.retry_after))]
    Throttled {
        /// When to try again, if the server said so.
        retry_after: Option<Duration>,
    },
    /// No connection to the server; nothing was asked.
    #[error("{}", unreachable(.server, .why))]
    Unreachable {
        /// Host and port.
        server: String,
        why: Unreached,
    },
    /// The connection broke after the request was sent and before its answer was read.
    #[error("the connection to the server was lost before its answer came: {why}")]
    ConnectionLost { why: String },
    /// No answer in time, by our own limit or by the server's (504).
    #[error("{}", timed_out(*.after, .message))]
    TimedOut {
        /// Our own limit (`--request-timeout`), if it was that.
        after: Option<Duration>,
        /// The server's own sentence, if it was the server.
        message: String,
    },
    /// An admission plugin, webhook or policy refused.
    #[error("{message}")]
    AdmissionDenied { message: String },
    /// The object would be invalid (422).
    #[error("{message}")]
    Invalid {
        /// Field and message of each cause.
        causes: Vec<(String, String)>,
        /// The server's own sentence; of a failed `test` what it means.
        message: String,
        /// Whether this is how the server says that a `test` operation of a JSON patch failed: a 422 that gives no
        /// detail (kubernetes issue 68202). The object then is not what the patch expected; read it again.
        is_bare_test_failure: bool,
    },
    #[error("the server refused the request ({code}): {message}")]
    Rejected { code: u16, message: String },
    /// The server failed (5xx).
    #[error("the server failed ({code}): {message}")]
    ServerFailed { code: u16, message: String },
    /// The server answered something that is not what the API promises.
    #[error("the server's answer to {request} could not be read: {why}")]
    Unreadable { request: String, why: String },
    /// The request could not even be built; nothing was sent.
    #[error("the request could not be sent: {why}")]
    NotSent { why: String },
    /// The kubeconfig or a connection flag is wrong; nothing was sent. No text quotes a file, which may hold credentials.
    #[error("{message}")]
    Kubeconfig { message: String, hints: Vec<Hint> },
    /// Credentials could not be had; nothing was sent. No text holds what a plugin wrote to standard output.
    #[error("{message}")]
    CredentialPlugin { message: String, hints: Vec<Hint> },
}

impl ClusterError {
    pub(super) fn kubeconfig(message: impl Into<String>) -> Self {
        Self::Kubeconfig { message: message.into(), hints: Vec::new() }
    }

    /// A field of the kubeconfig, or its flag, does not hold what it should; `why` is without what it holds.
    pub(super) fn unusable(field: &str, why: &str) -> Self {
        Self::kubeconfig(format!("{field} is not usable: {why}"))
    }

    pub(super) fn credentials(message: impl Into<String>) -> Self {
        Self::CredentialPlugin { message: message.into(), hints: Vec::new() }
    }

    /// Of what went wrong before anything was sent: the same with one more hint.
    pub(super) fn hint(mut self, hint: impl Into<Hint>) -> Self {
        if let Self::Kubeconfig { hints, .. } | Self::CredentialPlugin { hints, .. } = &mut self {
            hints.push(hint.into());
        }
        self
    }

    /// Says whether the server may have carried out a write that ended with this error.
    ///
    /// `false` is certain: the request never arrived, or the server refused it. After `true` the object must be read
    /// before anything is sent again.
    pub fn may_have_been_done(&self) -> bool {
        matches!(
            self,
            Self::ConnectionLost { .. } | Self::TimedOut { .. } | Self::ServerFailed { .. } | Self::Unreadable { .. }
        )
    }

    /// Says whether the same question may be answered a little later: nobody answered, or the server was not up to it.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Gone { .. }
                | Self::Throttled { .. }
                | Self::Unreachable { .. }
                | Self::ConnectionLost { .. }
                | Self::TimedOut { .. }
                | Self::ServerFailed { .. }
        )
    }

    /// Says whether the server could not ask a webhook that has to be asked (`callHooks` in `dispatcher.go` of
    /// `apiserver/pkg/admission/plugin/webhook`): nothing was stored, and nothing is until the webhook answers.
    pub fn lacks_webhook(&self) -> bool {
        matches!(self, Self::ServerFailed { message, .. } if message.contains("failed calling webhook"))
    }

    /// Says whether a webhook has no dry runs (`NewDryRunUnsupportedErr` of `apiserver/pkg/admission/plugin/webhook/errors`).
    pub fn is_no_dry_run(&self) -> bool {
        matches!(self, Self::Rejected { code: 400, message } if message.ends_with("does not support dry run"))
    }

    /// Gives the server's reason as Kubernetes spells it (`metav1.StatusReason`), for `Error from server (NotFound)`.
    ///
    /// `None` for what the server did not say itself.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are this program's own")]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Forbidden { .. } | Self::AdmissionDenied { .. } => Some("Forbidden"),
            Self::NotFound { .. } | Self::UnknownResource { .. } => Some("NotFound"),
            Self::AlreadyExists { .. } => Some("AlreadyExists"),
            Self::Unauthorized => Some("Unauthorized"),
            Self::Conflict { .. } => Some("Conflict"),
            Self::Gone { .. } => Some("Expired"),
            Self::Throttled { .. } => Some("TooManyRequests"),
            Self::Invalid { .. } => Some("Invalid"),
            Self::TimedOut { after: None, .. } => Some("Timeout"),
            Self::Rejected { .. } => Some("BadRequest"),
            Self::ServerFailed { .. } => Some("InternalError"),
            _ => None,
        }
    }

    /// Says what the user can do about it, one sentence each; often none.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say all that is known")]
    pub fn hints(&self) -> Vec<Hint> {
        match self {
            Self::Forbidden { request, .. } => vec![Hint::from("check it with: ").command(request.can_i())],
            Self::Unauthorized => vec![
                "the credentials are missing, wrong or expired; log in again as your cluster's provider says".into(),
                Hint::from("see who you are with: ").command(kubectl("auth whoami")),
            ],
            Self::Conflict { causes, .. } if !causes.is_empty() => {
                causes.iter().map(|(field, message)| format!("{field}: {message}").into()).collect()
            }
            Self::Conflict { .. } => vec![
                "the object was changed by another client meanwhile; plan again".into(),
                "an exported manifest has metadata.resourceVersion, which is of the past: take it out of the file"
                    .into(),
            ],
            Self::Invalid { is_bare_test_failure: true, .. } => {
                vec!["the object is no longer what the change was planned for; plan again".into()]
            }
            Self::UnknownResource { .. } => {
                vec![Hint::from("see what the server has with: ").command(kubectl("api-resources"))]
            }
            Self::Unreachable { why, .. } => unreached_hints(why),
            Self::TimedOut { after: Some(_), .. } => vec!["give the server more time with --request-timeout".into()],
            Self::Kubeconfig { hints, .. } | Self::CredentialPlugin { hints, .. } => hints.clone(),
            _ => Vec::new(),
        }
    }
}

fn later(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(|| " later".to_owned(), |wait| format!(" in {} s", wait.as_secs()))
}

fn timed_out(after: Option<Duration>, message: &str) -> String {
    match after {
        // In brackets Go's words, which kubectl shows and people search for.
        Some(limit) => {
            format!("request canceled: the server did not answer within {limit:?} (Client.Timeout exceeded)")
        }
        None => format!("the server timed out: {message}"),
    }
}

fn unreachable(server: &str, why: &Unreached) -> String {
    match why {
        Unreached::Refused => {
            format!("the connection to the server {server} was refused - did you specify the right host or port?")
        }
        // rustls' words where it is the server's; its alerts may be about the client's.
        Unreached::Certificate(why) if why.contains("invalid peer certificate") => {
            format!("the certificate of the server {server} is not trusted: {why}")
        }
        Unreached::Certificate(why) => format!("no TLS connection to the server {server}: {why}"),
        Unreached::UnknownHost(why) => format!("cannot resolve the host name of the server {server}: {why}"),
        Unreached::Other(why) => format!("unable to connect to the server {server}: {why}"),
    }
}

fn unreached_hints(why: &Unreached) -> Vec<Hint> {
    let hint = match why {
        // rustls' words (`CertificateError`).
        Unreached::Certificate(why)
            if why.contains("certificate not valid yet") || why.contains("certificate expired") =>
        {
            "check the clock of this machine, and how long the certificate of the server is valid"
        }
        Unreached::Certificate(_) => {
            "check certificate-authority and tls-server-name of the cluster in the kubeconfig, and the https:// of its server"
        }
        Unreached::UnknownHost(_) => "check the server's name in the kubeconfig, the VPN and the name service",
        Unreached::Refused | Unreached::Other(_) => return Vec::new(),
    };
    vec![hint.into()]
}

/// What a request was about, in the words of Kubernetes' authorizers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestDescription {
    pub verb: AccessVerb,
    /// The resource: plural, with its group unless it is the core group (`pods`, `deployments.apps`).
    pub resource: String,
    pub subresource: Option<String>,
    /// The namespace; `None` for cluster-wide requests.
    pub namespace: Option<String>,
    /// The object's name; `None` for lists, watches and generated names.
    pub name: Option<String>,
}

impl RequestDescription {
    /// Describes a request on a resource as a whole; the other fields are empty.
    pub fn new(verb: AccessVerb, resource: &str) -> Self {
        Self { verb, resource: resource.to_owned(), subresource: None, namespace: None, name: None }
    }

    pub fn can_i(&self) -> Spoken {
        let name = self.name.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
        let command = kubectl("auth can-i").and(self.verb.word()).of(format!("{}{name}", self.resource));
        let command = match &self.subresource {
            Some(subresource) => command.of(format!("--subresource={subresource}")),
            None => command,
        };
        match &self.namespace {
            Some(namespace) => command.of(format!("--namespace={namespace}")),
            None => command.and("--all-namespaces"),
        }
    }

    /// Gives the resource with its subresource, as roles spell it (`pods/resize`).
    fn full_resource(&self) -> String {
        match &self.subresource {
            Some(subresource) => format!("{}/{subresource}", self.resource),
            None => self.resource.clone(),
        }
    }
}

impl fmt::Display for RequestDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.word(), self.full_resource())?;
        if let Some(name) = &self.name {
            write!(f, " \"{name}\"")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace \"{namespace}\"")?;
        }
        Ok(())
    }
}
