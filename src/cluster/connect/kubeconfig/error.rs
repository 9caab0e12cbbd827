//! What is wrong with a kubeconfig or a connection flag. No text quotes a file, which may hold credentials.

use engine::value::hint::{Hint, kubectl};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KubeconfigError {
    /// `--kubeconfig` names a file that is not there.
    #[error("the kubeconfig {} does not exist", .path.display())]
    Missing { path: PathBuf },
    #[error("the kubeconfig {} is a directory", .path.display())]
    Folder { path: PathBuf },
    #[error("the kubeconfig {} could not be read: {why}", .path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{} is not a valid kubeconfig{}", .path.display(), at(*.place))]
    Malformed {
        path: PathBuf,
        /// Line and column, from 1.
        place: Option<(u64, u64)>,
    },
    #[error("{} is no kubeconfig: it is of the kind \"{kind}\" (apiVersion \"{api_version}\"), not Config (v1)", .path.display())]
    OtherKind {
        path: PathBuf,
        /// The kind that it names; may be empty.
        kind: String,
        /// Likewise.
        api_version: String,
    },
    /// A file has two entries of one name, and nobody knows which one is meant.
    #[error("the kubeconfig {} has two entries named \"{name}\" in {list}", .path.display())]
    Twice {
        path: PathBuf,
        /// `clusters`, `users` or `contexts`.
        list: &'static str,
        name: String,
    },
    #[error("the kubeconfig {} names no cluster, no user and no context", listed(.paths))]
    Empty {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Neither a kubeconfig nor a pod's service account.
    #[error("no kubeconfig found{}, and not running in a pod", looked_for(.tried))]
    Nothing { tried: Vec<PathBuf> },
    #[error("the kubeconfig sets no current-context")]
    NoCurrentContext { known: Vec<String> },
    #[error("context \"{name}\" does not exist")]
    UnknownContext { name: String, known: Vec<String> },
    #[error("cluster \"{name}\" does not exist")]
    UnknownCluster { name: String, known: Vec<String> },
    #[error("user \"{name}\" does not exist")]
    UnknownUser { name: String, known: Vec<String> },
    #[error("the cluster{} has no server", .context.as_ref().map(|name| format!(" of context \"{name}\"")).unwrap_or_default())]
    NoServer { context: Option<String> },
    #[error("the server \"{server}\" is not a valid address")]
    BadServer { server: String },
    #[error("the proxy of {origin} cannot be used: {why}")]
    BadProxy {
        /// Where it was given: `proxy-url`, `HTTPS_PROXY` or `HTTP_PROXY`.
        origin: &'static str,
        /// Why; without the address, which may hold a password.
        why: String,
    },
    #[error("{field} {path} could not be read: {why}")]
    BadFile {
        /// The field of the kubeconfig, which is also the flag's name.
        field: &'static str,
        path: String,
        why: String,
    },
    /// A field holds something else than it should.
    #[error("{field} is not usable: {why}")]
    BadData {
        field: &'static str,
        /// Why; without what it holds.
        why: String,
    },
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
