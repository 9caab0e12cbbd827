//! Credential plugins: the `exec` of a kubeconfig's user (client-go `plugin/pkg/client/auth/exec/exec.go`).
//!
//! Promise: one run is one process, which reads standard input only where the user can answer and nobody else reads it,
//! and whose standard error never reaches ours. When to run it is decided in [`super::transport`].
//!
//! Whether it may run at all: kubectl's `credentialPluginPolicy` (KEP-3104, `~/.kube/kuberc`). Of the preferences file only
//! this is read; aliases and defaults are for kubectl's own commands.

#![expect(clippy::disallowed_methods, reason = "reads kubectl's preferences file")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures::future::{Either, select};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

use super::super::error::{ClusterError, Result};
use super::credentials::{Credential, bearer};
use super::entries::{self, Cluster, Exec};
use super::warnings::Warnings;
use super::{ConnectOptions, Environment, ServerNotice, usable, yaml};
use engine::k8s::mask;

#[cfg(test)]
mod tests;

const KIND: &str = "ExecCredential";
const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const VERSIONS_IN_WORDS: &str = "client.authentication.k8s.io/v1 and v1beta1";
const RENEW: &str = "renew the kubeconfig as your cluster's provider says";
const KEPT: usize = 4096;

/// How long before its end a credential is replaced.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// The name of the cluster's extension that a plugin gets.
const EXTENSION: &str = "client.authentication.k8s.io/exec";

pub(super) struct CredentialPlugin {
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    api_version: String,
    /// `KUBERNETES_EXEC_INFO`.
    info: String,
    interactive: bool,
    install_hint: Option<String>,
}

#[derive(Deserialize)]
struct ExecCredential {
    #[serde(default, rename = "apiVersion")]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default, deserialize_with = "yaml::mapping")]
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl CredentialPlugin {
    pub(super) fn new(exec: Exec, cluster: &Cluster, options: &ConnectOptions) -> Result<Self> {
        let no_command = || ClusterError::credentials("the user's exec in the kubeconfig names no command");
        let command = exec.command.value().ok_or_else(no_command)?;
        let api_version = exec.api_version.value().unwrap_or_default();
        if !VERSIONS.contains(&api_version.as_str()) {
            let is = format!("is configured with apiVersion \"{api_version}\", which is none of {VERSIONS_IN_WORDS}");
            return Err(failed(&command, &is).hint(RENEW));
        }
        let mode = match exec.interactive_mode.as_deref() {
            None if api_version != VERSIONS[0] => "IfAvailable",
            mode => mode.unwrap_or_default(),
        };
        let interactive = interactive(&command, mode, options)?;
        let mut spec = json!({ "interactive": interactive });
        if exec.provide_cluster_info.is_some() {
            spec["cluster"] = cluster_info(cluster);
        }
        let info = json!({ "kind": KIND, "apiVersion": api_version, "spec": spec }).to_string();
        let mut env = Vec::new();
        for variable in exec.env.into_iter().flatten() {
            let unnamed = || ClusterError::unusable("exec", "a variable of its env has no name");
            let name = variable.name.value().ok_or_else(unnamed)?;
            env.push((name, variable.value.value().unwrap_or_default()));
        }
        let args = exec.args.unwrap_or_default();
        let install_hint = exec.install_hint.value();
        Ok(Self { command, args, env, api_version, info, interactive, install_hint })
    }

    pub(super) async fn run(&self, notices: &Warnings) -> Result<Credential> {
        let mut command = Command::new(&self.command);
        command.args(&self.args).env("KUBERNETES_EXEC_INFO", &self.info).envs(self.env.iter().cloned());
        command.stdin(if self.interactive { Stdio::inherit() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        tracing::debug!(command = self.command, interactive = self.interactive, "running the credential plugin");
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let pipe = child.stderr.take();
        let mut text = Vec::new();
        let output = {
            let listening = std::pin::pin!(self.listen(pipe, &mut text, notices));
            let ended = std::pin::pin!(child.wait_with_output());
            match select(ended, listening).await {
                Either::Left((output, listening)) => {
                    // What was written last may still be on its way; a process left behind may never close the pipe.
                    let _ = tokio::time::timeout(Duration::from_millis(100), listening).await;
                    output
                }
                Either::Right(((), ended)) => ended.await,
            }
        };
        let output = output.map_err(|error| self.not_started(&error))?;
        // What was passed on as it came is not said again.
        let stderr = if self.interactive { String::new() } else { tail(&text) };
        let stderr = if stderr.is_empty() { stderr } else { format!(": {stderr}") };
        if !output.status.success() {
            return Err(failed(&self.command, &format!("failed ({}){stderr}", output.status)));
        }
        let bad = |why| failed(&self.command, &format!("gave no usable credential: {why}{stderr}"));
        self.read(&output.stdout).map_err(bad)
    }

    fn not_started(&self, error: &std::io::Error) -> ClusterError {
        if error.kind() != std::io::ErrorKind::NotFound {
            return failed(&self.command, &format!("could not be run: {error}"));
        }
        let hint = self.install_hint.as_deref().map(str::trim).filter(|hint| !hint.is_empty());
        failed(&self.command, "was not found").hint(hint.unwrap_or("install it, or put its directory into PATH"))
    }

    /// Collects standard error, and passes it on as it comes where the user may have to act on it.
    async fn listen(&self, pipe: Option<ChildStderr>, text: &mut Vec<u8>, notices: &Warnings) {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
            let new = buffer.get(..length).unwrap_or_default();
            text.extend_from_slice(new);
            let surplus = text.len().saturating_sub(KEPT);
            text.drain(..surplus);
            let text = String::from_utf8_lossy(new);
            if self.interactive && !text.trim().is_empty() {
                notices.tell(ServerNotice::CredentialPlugin(text.trim_end().to_owned()));
            }
        }
    }

    /// Reads the plugin's answer. Errors never quote it.
    fn read(&self, stdout: &[u8]) -> Result<Credential, String> {
        // client-go's decoder takes YAML as well.
        let values = std::str::from_utf8(stdout).ok().and_then(|text| yaml::read(text).ok());
        let answer: ExecCredential = values
            .and_then(|values| serde_json::from_value(values).ok())
            .ok_or_else(|| format!("its {} bytes of output are no {KIND} object", stdout.len()))?;
        if answer.kind != KIND {
            return Err(format!("its output is no {KIND} object"));
        }
        if answer.api_version != self.api_version {
            let (wanted, given) = (&self.api_version, answer.api_version);
            return Err(format!("the kubeconfig asks for apiVersion \"{wanted}\" and it answered \"{given}\""));
        }
        let status = answer.status.ok_or("its answer has no status")?;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let expires = given(status.expiration_timestamp)
            .map(|time| time.parse::<Timestamp>().map_err(|_| "its expirationTimestamp is no RFC 3339 time"))
            .transpose()?;
        let certificate = match (given(status.client_certificate_data), given(status.client_key_data)) {
            (Some(certificate), Some(key)) => {
                usable::check_pair(certificate.as_bytes(), key.as_bytes()).map_err(|error| error.to_string())?;
                Some((certificate, key))
            }
            (None, None) => None,
            _ => return Err("it gave only one of client certificate and key".to_owned()),
        };
        let token = given(status.token);
        let authorization = token.map(|token| bearer("token", &token)).transpose();
        let authorization = authorization.map_err(|_| format!("its token cannot be sent: {}", usable::NO_HEADER))?;
        if authorization.is_none() && certificate.is_none() {
            return Err("it gave neither a token nor a client certificate".to_owned());
        }
        let renew = expires.map(|expires| expires.saturating_sub(AHEAD).unwrap_or(expires));
        Ok(Credential { authorization, certificate, renew, expires })
    }
}

fn failed(command: &str, how: &str) -> ClusterError {
    ClusterError::credentials(format!("the credential plugin {command} {how}"))
}

/// Says whether the plugin may ask the user (client-go `exec.go`, `isInteractive`).
fn interactive(command: &str, mode: &str, options: &ConnectOptions) -> Result<bool> {
    let obstacle = if options.standard_input_was_read {
        Some("standard input was used for a manifest")
    } else if options.standard_input_is_terminal {
        None
    } else {
        Some("standard input is not a terminal")
    };
    match (mode, obstacle) {
        ("Never", _) => Ok(false),
        ("IfAvailable", obstacle) => Ok(obstacle.is_none()),
        ("Always", None) => Ok(true),
        ("Always", Some(why)) => {
            let hint = "run it from a terminal, and give manifests as files instead of on standard input";
            Err(failed(command, &format!("must be able to ask, but {why}")).hint(hint))
        }
        _ => {
            let is = format!("has the interactiveMode \"{mode}\", which is none of Never, IfAvailable and Always");
            Err(failed(command, &is).hint(RENEW))
        }
    }
}

/// What a plugin may know of the cluster (`Cluster` in client-go's `pkg/apis/clientauthentication`).
fn cluster_info(cluster: &Cluster) -> Value {
    let authority = cluster.certificate_authority_data.as_ref().and_then(|pem| entries::base64(&pem.0));
    let extension = cluster.extensions.iter().flatten().find(|one| one.name.as_deref() == Some(EXTENSION));
    let fields = [
        ("server", json!(*cluster.server)),
        ("tls-server-name", json!(*cluster.tls_server_name)),
        ("insecure-skip-tls-verify", json!(cluster.insecure_skip_tls_verify.map(|flag| flag.0))),
        ("certificate-authority-data", json!(authority)),
        ("proxy-url", json!(*cluster.proxy_url)),
        ("disable-compression", json!(cluster.disable_compression.map(|flag| flag.0))),
        ("config", extension.map(|one| one.extension.clone()).unwrap_or_default()),
    ];
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Gives the end of a text in one piece, without blank lines around it.
pub(super) fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(KEPT);
    mask::text(String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).trim())
}

#[derive(Deserialize)]
struct Preference {
    #[serde(default, rename = "credentialPluginPolicy")]
    policy: Option<String>,
    #[serde(default, rename = "credentialPluginAllowlist")]
    allowlist: Option<Vec<AllowlistEntry>>,
}

#[derive(Deserialize)]
struct AllowlistEntry {
    /// The field's name in Kubernetes 1.35; 1.36 renamed it to `command`.
    name: Option<String>,
    command: Option<String>,
}

/// Refuses a plugin that the policy does not allow. A missing file allows all, as in kubectl.
pub(super) fn check_policy(command: &str, environment: &Environment) -> Result<()> {
    let Some(path) = file(environment) else { return Ok(()) };
    let shown = path.display();
    let bad = |why: String| {
        let what = "could not be read for credentialPluginPolicy";
        ClusterError::credentials(format!("kubectl's preferences {shown} {what}: {why}"))
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(bad(error.to_string())),
    };
    let values = yaml::read(&text).map_err(|error| bad(error.to_string()))?;
    let preference = serde_json::from_value::<Option<Preference>>(values).map_err(|error| bad(error.to_string()))?;
    let Some(preference) = preference else { return Ok(()) };
    let denied = |policy: &str| {
        let why = format!("{shown} sets credentialPluginPolicy {policy}");
        Err(ClusterError::credentials(format!("the credential plugin {command} is not allowed: {why}")))
    };
    match preference.policy.as_deref().unwrap_or_default() {
        "" | "AllowAll" => Ok(()),
        "DenyAll" => denied("DenyAll"),
        "Allowlist" => {
            let entries = preference.allowlist.unwrap_or_default();
            let names = entries.into_iter().filter_map(|entry| entry.command.or(entry.name));
            let wanted = resolve(Path::new(command), environment);
            let mut names = names.filter(|name| !name.is_empty());
            if names.any(|name| resolve(Path::new(&name), environment) == wanted) {
                Ok(())
            } else {
                denied("Allowlist")
            }
        }
        other => Err(bad(format!("credentialPluginPolicy \"{other}\" is none of AllowAll, DenyAll, Allowlist"))),
    }
}

fn file(environment: &Environment) -> Option<PathBuf> {
    match environment.kuberc.as_ref().filter(|path| !path.is_empty()) {
        Some(off) if off == "off" => None,
        Some(path) => Some(PathBuf::from(path)),
        None => environment.home.as_ref().map(|home| home.join(".kube").join("kuberc")),
    }
}

/// Finds the file of a command: a bare name is looked up in PATH.
pub fn resolve(command: &Path, environment: &Environment) -> PathBuf {
    if command.components().count() > 1 {
        return command.to_owned();
    }
    let folders = environment.path.as_ref().map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let mut candidates = folders.into_iter().flatten().map(|folder| folder.join(command));
    candidates.find(|candidate| candidate.is_file()).unwrap_or_else(|| command.to_owned())
}
