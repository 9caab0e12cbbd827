//! What is wrong with a kubeconfig or a connection flag. No text quotes a file, which may hold credentials.

use engine::value::hint::{Hint, kubectl};
use std::path::PathBuf;

/// What is wrong with a kubeconfig or a connection flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KubeconfigError {
    /// `--kubeconfig` names a file that is not there.
    #[error("the kubeconfig {} does not exist", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A folder is where a file should be.
    #[error("the kubeconfig {} is a directory", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("the kubeconfig {} could not be read: {why}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        why: String,
    },
    /// A file is no kubeconfig.
    #[error("{} is not a valid kubeconfig{}", .path.display(), at(*.place))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line and column, from 1.
        place: Option<(u64, u64)>,
    },
    /// A file is something else, such as a manifest.
    #[error("{} is no kubeconfig: it is of the kind \"{kind}\" (apiVersion \"{api_version}\"), not Config (v1)", .path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The kind that it names; may be empty.
        kind: String,
        /// Likewise.
        api_version: String,
    },
    /// A file has two entries of one name, and nobody knows which one is meant.
    #[error("the kubeconfig {} has two entries named \"{name}\" in {list}", .path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// `clusters`, `users` or `contexts`.
        list: &'static str,
        name: String,
    },
    /// The files exist, but are empty.
    #[error("the kubeconfig {} names no cluster, no user and no context", listed(.paths))]
    Empty {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Neither a kubeconfig nor a pod's service account.
    #[error("no kubeconfig found{}, and not running in a pod", looked_for(.tried))]
    Nothing {
        /// The files that were tried.
        tried: Vec<PathBuf>,
    },
    /// No context is chosen.
    #[error("the kubeconfig sets no current-context")]
    NoCurrentContext {
        /// The contexts there are.
        known: Vec<String>,
    },
    /// The context does not exist.
    #[error("context \"{name}\" does not exist")]
    UnknownContext {
        /// The name that was asked for.
        name: String,
        /// The contexts there are.
        known: Vec<String>,
    },
    /// The cluster does not exist.
    #[error("cluster \"{name}\" does not exist")]
    UnknownCluster {
        /// The name that was asked for.
        name: String,
        /// The clusters there are.
        known: Vec<String>,
    },
    /// The user does not exist.
    #[error("user \"{name}\" does not exist")]
    UnknownUser {
        /// The name that was asked for.
        name: String,
        /// The users there are.
        known: Vec<String>,
    },
    /// The cluster has no server.
    #[error("the cluster{} has no server", .context.as_ref().map(|name| format!(" of context \"{name}\"")).unwrap_or_default())]
    NoServer {
        /// The context, if one was used.
        context: Option<String>,
    },
    /// The server is no http or https address.
    #[error("the server \"{server}\" is not a valid address")]
    BadServer {
        /// As it was given.
        server: String,
    },
    /// The proxy cannot be used.
    #[error("the proxy of {origin} cannot be used: {why}")]
    BadProxy {
        /// Where it was given: `proxy-url`, `HTTPS_PROXY` or `HTTP_PROXY`.
        origin: &'static str,
        /// Why; without the address, which may hold a password.
        why: String,
    },
    /// A file that the kubeconfig or a flag names cannot be read.
    #[error("{field} {path} could not be read: {why}")]
    BadFile {
        /// The field of the kubeconfig, which is also the flag's name.
        field: &'static str,
        /// The file.
        path: String,
        why: String,
    },
    /// A field holds something else than it should.
    #[error("{field} is not usable: {why}")]
    BadData {
        /// The field of the kubeconfig.
        field: &'static str,
        /// Why; without what it holds.
        why: String,
    },
    /// A flag is malformed.
    #[error("{flag}: {why}")]
    BadFlag { flag: &'static str, why: String },
    /// Keys or certificates cannot be used for TLS.
    #[error("the connection cannot be set up: {why}")]
    Tls { why: String },
}

impl KubeconfigError {
    /// Lists the names there are, where a name was not found: for a suggestion.
    pub fn known_names(&self) -> &[String] {
        if let Self::NoCurrentContext { known }
        | Self::UnknownContext { known, .. }
        | Self::UnknownCluster { known, .. }
        | Self::UnknownUser { known, .. } = self
        {
            known
        } else {
            &[]
        }
    }

    /// Says what the user can do about it.
    pub(in crate::cluster) fn hints(&self) -> Vec<Hint> {
        let known = known(self.known_names()).map(Hint::from);
        let mut hints: Vec<Hint> = Vec::new();
        if matches!(self, Self::Nothing { .. } | Self::Empty { .. } | Self::OtherKind { .. }) {
            hints.push("set KUBECONFIG or --kubeconfig to a file, or give --server and credentials".into());
        }
        if matches!(self, Self::NoCurrentContext { .. }) {
            let choose = Hint::from("choose one with --context, or: ");
            hints.push(choose.command(kubectl("config use-context NAME")));
        }
        hints.extend(known);
        hints
    }
}

/// How many names a hint lists.
const LISTED: usize = 10;

fn known(names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let listed = names.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(LISTED);
    Some(if more == 0 { format!("known: {listed}") } else { format!("known: {listed} and {more} more") })
}

fn at(place: Option<(u64, u64)>) -> String {
    place.map(|(line, column)| format!(" (line {line}, column {column})")).unwrap_or_default()
}

fn looked_for(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    format!(" (looked for {})", listed(paths))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
