//! From flags, kubeconfig and environment to a client for one API server.
//!
//! Promise: what kubectl would connect to, and as whom, with kubectl's rules (client-go `tools/clientcmd`, `rest`,
//! `plugin/pkg/client/auth/exec`), but a credential plugin is run once, every repeated request is bounded and reported, and
//! no credential is ever printed. Every request goes through `transport`.
//!
//! Not done here: deciding what to ask. Nothing is sent to the server by [`super::Cluster::connect`].

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "builds the client; reads the process environment"
)]

mod credential_plugin;
mod credentials;
mod entries;
pub mod fetch;
mod kubeconfig;
mod proxy;
mod retry;
mod trace;
mod transport;
mod usable;
pub(super) mod warnings;
mod yaml;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use kube::config::{AuthInfo, AuthProviderConfig};
use kube::{Client, Config};
use tokio::sync::mpsc::UnboundedSender;

use super::error::Result;
use crate::cli::ConnectionArgs;
use credentials::Source;
use engine::value::address;
use entries::{Cluster, User};
use kubeconfig::Selected;
use trace::Trace;
use transport::{Limits, Transport};
use warnings::{ServerClock, Warnings};

pub use credential_plugin::resolve;
pub use kubeconfig::{KubeconfigNames, names as kubeconfig_names};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;

/// How long one request may take where nobody says: the server itself gives none more than a minute (kube-apiserver
/// `--request-timeout`), so what has not come by then never comes.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(65);

#[derive(Default, Clone)]
pub struct ConnectOptions {
    pub flags: ConnectionArgs,
    /// Whether standard input was read (`-f -`): a credential plugin then may not ask anything.
    pub standard_input_was_read: bool,
    /// Whether standard input is a terminal, where a credential plugin may ask.
    pub standard_input_is_terminal: bool,
    /// `-v`: how much is traced of requests.
    pub verbosity: u8,
    pub notices: Option<UnboundedSender<ServerNotice>>,
}

/// Notices for the user while requests are made. Texts are unescaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerNotice {
    /// The server, or the kubeconfig, has a warning; reported once per text.
    Warning(String),
    /// The server has not answered for a while; reported once until it has.
    Silent {
        /// Host and port.
        server: String,
        after: Duration,
    },
    /// A request is repeated after a pause.
    Retrying { after: Duration, why: String },
    /// A credential plugin that may ask questions writes to standard error, such as a code to enter.
    CredentialPlugin(String),
}

/// What the environment says about connecting; tests build it by hand.
#[derive(Default, Clone)]
pub struct Environment {
    pub kubeconfig: Option<OsString>,
    /// `KUBERC`: another place for kubectl's preferences, or `off`.
    pub kuberc: Option<OsString>,
    pub home: Option<PathBuf>,
    pub path: Option<OsString>,
    /// `HTTPS_PROXY` or `https_proxy`.
    pub https_proxy: Option<String>,
    /// `HTTP_PROXY` or `http_proxy`: only for servers without TLS.
    pub http_proxy: Option<String>,
    /// `NO_PROXY` or `no_proxy`.
    pub no_proxy: Option<String>,
    /// `KUBERNETES_SERVICE_HOST`: set within a pod.
    pub service_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`: set within a pod.
    pub service_port: Option<String>,
    /// `POD_NAMESPACE`: what may be set within a pod.
    pub pod_namespace: Option<String>,
    /// Where the service account's files are; `None` is where the kubelet mounts them.
    pub service_account: Option<PathBuf>,
}

impl Environment {
    pub fn of_process() -> Self {
        let text =
            |names: &[&str]| names.iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty());
        Self {
            kubeconfig: std::env::var_os("KUBECONFIG"),
            // kubectl's feature gate turns it off, too.
            kuberc: match std::env::var("KUBECTL_KUBERC").as_deref() {
                Ok("false") => Some("off".into()),
                _ => std::env::var_os("KUBERC"),
            },
            home: std::env::home_dir(),
            path: std::env::var_os("PATH"),
            https_proxy: text(&["HTTPS_PROXY", "https_proxy"]),
            http_proxy: text(&["HTTP_PROXY", "http_proxy"]),
            no_proxy: text(&["NO_PROXY", "no_proxy"]),
            service_host: text(&["KUBERNETES_SERVICE_HOST"]),
            service_port: text(&["KUBERNETES_SERVICE_PORT"]),
            pod_namespace: text(&["POD_NAMESPACE"]),
            service_account: None,
        }
    }
}

impl super::Cluster {
    /// Makes a client for the server that flags, kubeconfig and environment name.
    ///
    /// Runs the credential plugin, if the user has one; asks the server nothing.
    pub async fn connect(options: &ConnectOptions, environment: &Environment) -> Result<Self> {
        let limit = options.flags.request_timeout.unwrap_or(REQUEST_TIMEOUT);
        connect_with(options, environment, Limits::new((!limit.is_zero()).then_some(limit))).await
    }
}

async fn connect_with(options: &ConnectOptions, environment: &Environment, limits: Limits) -> Result<super::Cluster> {
    let warnings = Warnings::new(options.notices.clone());
    let mut selected = kubeconfig::select(&options.flags, environment)?;
    usable::apply_flags(&mut selected, &options.flags)?;
    usable::check(&mut selected)?;
    let uri = kubeconfig::server_uri(&selected)?;
    let server = address::without_credentials(uri.to_string().trim_end_matches('/'));
    if uri.scheme_str() == Some("http") {
        send_no_credentials(&mut selected, &server);
    }
    for warning in selected.warnings.drain(..) {
        warnings.tell_once(warning);
    }
    let source = Source::of(&mut selected, &uri, options, environment)?;
    let config = config(&selected, uri, environment)?;
    let namespace = config.default_namespace.clone();
    let clock = ServerClock::default();
    let transport =
        Transport::start(config, source, limits, (warnings.clone(), clock.clone(), Trace(options.verbosity))).await?;
    let transport = Arc::new(transport);
    let service = tower::service_fn(move |request| {
        let transport = Arc::clone(&transport);
        async move { transport.call(request).await.map_err(tower::BoxError::from) }
    });
    let client = Client::new(service, namespace.clone());
    Ok(super::Cluster { client, namespace, context: selected.context, server, warnings, clock })
}

/// Without TLS everybody on the way could read them: client-go sends none (`ClientConfig` in `client_config.go`). Whom to
/// impersonate is no secret.
fn send_no_credentials(selected: &mut Selected, server: &str) {
    let User { as_user, as_uid, as_groups, as_user_extra, .. } = selected.user.clone();
    let user = std::mem::take(&mut selected.user);
    let has_secret = user.token.is_some() || user.token_file.is_some() || user.username.is_some();
    let has_other = user.client_certificate_data.is_some() || user.auth_provider.is_some() || user.exec.is_some();
    if has_secret || has_other {
        selected.warnings.push(format!("the server {server} does not use TLS (https): no credentials are sent to it"));
    }
    selected.user = User { as_user, as_uid, as_groups, as_user_extra, ..User::default() };
    let Cluster { proxy_url, disable_compression, .. } = std::mem::take(&mut selected.cluster);
    selected.cluster = Cluster { proxy_url, disable_compression, ..Cluster::default() };
    selected.rotating_authority = None;
}

/// Builds kube's configuration from nothing, since kube's own reading of a kubeconfig also evaluates the proxy
/// variables, fails on values that client-go takes, and panics on others.
fn config(selected: &Selected, uri: http::Uri, environment: &Environment) -> Result<Config> {
    let cluster = &selected.cluster;
    let mut config = Config::new(uri);
    config.connect_timeout = Some(super::CONNECT_TIMEOUT);
    config.default_namespace = selected.namespace.clone();
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.is_some();
    config.root_cert = usable::authorities(cluster)?;
    config.root_cert_file = selected.rotating_authority.clone();
    config.tls_server_name = cluster.tls_server_name.value();
    config.disable_compression = cluster.disable_compression.is_some();
    config.proxy_url = proxy::of(&config.cluster_url, cluster.proxy_url.as_deref(), environment)?;
    config.auth_info = auth_info(&selected.user);
    config.default_retry = false;
    name_the_client(&mut config);
    Ok(config)
}

/// What kube does of the credentials: client certificates, impersonation, and tokens of an OIDC provider.
fn auth_info(user: &User) -> AuthInfo {
    let pem = |data: &entries::Field<entries::Pem>| data.as_ref().and_then(|data| entries::base64(&data.0));
    let extras = user.as_user_extra.iter().flatten();
    let extras = extras.map(|(key, values)| (key.clone(), values.clone().unwrap_or_default()));
    AuthInfo {
        client_certificate_data: pem(&user.client_certificate_data),
        client_key_data: pem(&user.client_key_data).filter(|_| user.client_certificate_data.is_some()).map(Into::into),
        impersonate: user.as_user.value(),
        impersonate_uid: user.as_uid.value(),
        impersonate_groups: user.as_groups.clone(),
        impersonate_user_extra: Some(extras.collect()),
        auth_provider: user.auth_provider.as_ref().map(|provider| AuthProviderConfig {
            name: provider.name.value().unwrap_or_default(),
            config: provider.config.clone().unwrap_or_default(),
            ..AuthProviderConfig::default()
        }),
        ..AuthInfo::default()
    }
}

/// Names this program in kubectl's form: name/version (os/architecture).
fn name_the_client(config: &mut Config) {
    let name = format!("{}/{} ({})", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), platform());
    if let Ok(name) = HeaderValue::from_str(&name) {
        config.headers.push((http::header::USER_AGENT, name));
    }
}

/// Returns operating system and architecture in Go's words, which are krew's and kubectl's, too.
pub fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" => "ppc64le",
        other => other,
    };
    format!("{os}/{architecture}")
}
