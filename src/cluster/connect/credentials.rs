//! What goes into the header `Authorization`, and where it comes from again when it has expired
//! (client-go `transport/round_trippers.go`, `transport/token_source.go`).

#![expect(clippy::disallowed_methods, reason = "reads token files, and knows when to read them again")]

use http::{HeaderValue, Uri};
use jiff::{SignedDuration, Timestamp};

use super::super::error::{ClusterError, Result};
use super::credential_plugin::CredentialPlugin;
use super::kubeconfig::Selected;
use super::warnings::Warnings;
use super::{ConnectOptions, Environment, credential_plugin, entries, usable};
use engine::value::address;

/// How long the content of a token file is used: client-go gives it a minute, and reads it ten seconds before its end.
const TOKEN_FILE: SignedDuration = SignedDuration::from_secs(50);

pub(super) enum Source {
    /// The kubeconfig or a flag; nothing at all for somebody unknown, or known by a certificate.
    Given(Credential),
    /// A file with a token, and the token beside it, if it cannot be read.
    TokenFile {
        path: String,
        otherwise: Option<HeaderValue>,
    },
    Plugin(CredentialPlugin),
}

impl Source {
    pub(super) fn of(
        selected: &mut Selected,
        server: &Uri,
        options: &ConnectOptions,
        environment: &Environment,
    ) -> Result<Self> {
        let user = &mut selected.user;
        let provider = user.auth_provider.take();
        let token = user.token.as_deref().map(|token| bearer("token", token)).transpose()?;
        let mut credential = Credential::default();
        if let Some((pair, _)) = server.authority().and_then(|authority| authority.as_str().rsplit_once('@')) {
            // Go's client sends it whatever else there is.
            let colon = if pair.contains(':') { "" } else { ":" };
            credential.authorization = Some(basic(&address::decoded(&format!("{pair}{colon}")))?);
        } else if let Some(path) = &*user.token_file {
            return Ok(Self::TokenFile { path: path.clone(), otherwise: token });
        } else if token.is_some() {
            credential.authorization = token;
        } else if let Some(name) = &*user.username {
            let pair = format!("{name}:{}", user.password.as_deref().unwrap_or_default());
            credential.authorization = Some(basic(pair.as_bytes())?);
        } else if let Some(exec) = user.exec.take()
            && user.client_certificate_data.is_none()
        {
            credential_plugin::check_policy(exec.command.as_deref().unwrap_or_default(), environment)?;
            return Ok(Self::Plugin(CredentialPlugin::new(exec, &selected.cluster, options)?));
        } else {
            user.auth_provider = provider;
        }
        Ok(Self::Given(credential))
    }

    pub(super) async fn get(&self, notices: &Warnings) -> Result<Credential> {
        match self {
            Self::Given(credential) => Ok(credential.clone()),
            Self::Plugin(plugin) => plugin.run(notices).await,
            Self::TokenFile { path, otherwise } => match (read(path), otherwise) {
                (Ok(authorization), _) => {
                    let renew = Timestamp::now().checked_add(TOKEN_FILE).ok();
                    Ok(Credential { authorization: Some(authorization), renew, ..Credential::default() })
                }
                (Err(_), Some(token)) => Ok(Credential { authorization: Some(token.clone()), ..Credential::default() }),
                (Err(error), None) => Err(error),
            },
        }
    }
}

fn read(path: &str) -> Result<HeaderValue> {
    let bad = |why: &str| ClusterError::credentials(format!("no credentials: the token file {path} {why}"));
    let text = std::fs::read(path).map_err(|error| bad(&format!("could not be read: {error}")))?;
    let text = String::from_utf8_lossy(&text);
    match text.trim() {
        "" => Err(bad("is empty")),
        token => bearer("tokenFile", token),
    }
}

fn basic(pair: &[u8]) -> Result<HeaderValue> {
    let encoded = entries::base64(pair).unwrap_or_default();
    usable::header("username", &format!("Basic {encoded}"))
}

/// What authenticates requests. Has no `Debug`: it is secret.
#[derive(Clone, Default)]
pub(super) struct Credential {
    pub(super) authorization: Option<HeaderValue>,
    /// Client certificate and key in PEM, in the place of the kubeconfig's.
    pub(super) certificate: Option<(String, String)>,
    /// When another is to be got.
    pub(super) renew: Option<Timestamp>,
    /// Until when it is good; what has no end is good for ever.
    pub(super) expires: Option<Timestamp>,
}

/// The header of a token, which came from this field.
pub(super) fn bearer(field: &str, token: &str) -> Result<HeaderValue> {
    usable::header(field, &format!("Bearer {token}"))
}
