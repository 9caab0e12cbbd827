//! Why credentials could not be had. No text holds what a plugin wrote to standard output.

use engine::value::hint::Hint;
use std::path::PathBuf;

use kube::client::AuthError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialPluginError {
    /// The user's `exec` names no command.
    #[error("the user's exec in the kubeconfig names no command")]
    NoCommand,
    /// The user's `exec` asks for a version of the protocol that does not exist any more, or not yet.
    #[error(
        "the credential plugin {command} is configured with apiVersion \"{given}\", which is none of \
         client.authentication.k8s.io/v1 and v1beta1"
    )]
    Version { command: String, given: String },
    /// The user's `exec` does not say whether the command may ask.
    #[error(
        "the credential plugin {command} has the interactiveMode \"{given}\", which is none of Never, IfAvailable and Always"
    )]
    Mode {
        command: String,
        /// As it is given; empty where it is missing.
        given: String,
    },
    #[error("the credential plugin {command} was not found")]
    NotFound {
        command: String,
        /// The kubeconfig's `installHint`.
        install_hint: Option<String>,
    },
    #[error("the credential plugin {command} could not be run: {why}")]
    NotStarted { command: String, why: String },
    #[error("the credential plugin {command} failed ({status}){}", said(.stderr))]
    Failed {
        command: String,
        /// How it ended, such as `exit status: 1`.
        status: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    #[error("the credential plugin {command} gave no usable credential: {why}{}", said(.stderr))]
    BadOutput {
        command: String,
        why: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The command must ask the user (`interactiveMode: Always`), and cannot.
    #[error("the credential plugin {command} must be able to ask, but {why}")]
    NeedsTerminal { command: String, why: &'static str },
    #[error("the credential plugin {command} is not allowed: {} sets credentialPluginPolicy {policy}", .path.display())]
    NotAllowed {
        command: String,
        /// `DenyAll` or `Allowlist`.
        policy: String,
        path: PathBuf,
    },
    /// kubectl's preferences cannot be read, so nobody knows whether the plugin may run.
    #[error("kubectl's preferences {} could not be read for credentialPluginPolicy: {why}", .path.display())]
    Policy { path: PathBuf, why: String },
    /// An `auth-provider` or a token file failed.
    #[error("no credentials: {why}")]
    Provider { why: String },
}

impl CredentialPluginError {
    /// Takes an error of the credentials that are left to kube: those of an OIDC provider.
    pub(in crate::cluster) fn of_provider(error: &AuthError) -> Self {
        Self::Provider { why: error.to_string() }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say all that is known")]
    pub(in crate::cluster) fn hints(&self) -> Vec<Hint> {
        let hint = match self {
            Self::NotFound { install_hint: Some(hint), .. } => hint.trim().to_owned(),
            Self::NotFound { install_hint: None, .. } => "install it, or put its folder into PATH".to_owned(),
            Self::Version { .. } | Self::Mode { .. } => {
                "renew the kubeconfig as your cluster's provider says".to_owned()
            }
            Self::NeedsTerminal { .. } => {
                "run it from a terminal, and give manifests as files instead of on standard input".to_owned()
            }
            _ => return Vec::new(),
        };
        vec![hint.into()]
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
