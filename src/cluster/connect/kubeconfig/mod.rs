//! Which files count as the kubeconfig, and which cluster, user and namespace are chosen from them
//! (client-go `tools/clientcmd/loader.go`, `client_config.go`).

#![expect(clippy::disallowed_methods, reason = "reads the service account's namespace")]

mod file;

use std::path::{Path, PathBuf};

use super::super::error::{ClusterError, Result};
use super::Environment;
use super::entries::{Cluster, Context, Text, User};
use crate::cli::ConnectionArgs;
use engine::value::hint::{Hint, kubectl};
use file::{Entries, Kubeconfig, find};

#[cfg(test)]
mod tests;

#[derive(Default)]
pub(super) struct Selected {
    pub(super) cluster: Cluster,
    pub(super) user: User,
    pub(super) namespace: String,
    pub(super) context: Option<String>,
    /// A file of certificate authorities that is to be read again from time to time.
    pub(super) rotating_authority: Option<PathBuf>,
    pub(super) warnings: Vec<String>,
}

/// The names that `--context`, `--cluster` and `--user` may have.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KubeconfigNames {
    pub contexts: Vec<String>,
    pub clusters: Vec<String>,
    pub users: Vec<String>,
}

pub fn names(flags: &ConnectionArgs, environment: &Environment) -> Result<KubeconfigNames> {
    let (paths, must_exist) = files(flags, environment);
    let (_, config) = merged(&paths, must_exist)?;
    Ok(KubeconfigNames {
        contexts: file::names(&config.contexts),
        clusters: file::names(&config.clusters),
        users: file::names(&config.users),
    })
}

/// The namespace where nothing says another one.
const DEFAULT: &str = "default";

/// What to do where no kubeconfig says anything.
const SET_ONE: &str = "set KUBECONFIG or --kubeconfig to a file, or give --server and credentials";

/// Names that are listed in a hint, at most.
const LISTED: usize = 10;

fn unknown<T>(what: &str, name: &str, known: &Entries<T>) -> ClusterError {
    with_known(ClusterError::kubeconfig(format!("{what} \"{name}\" does not exist")), known)
}

fn with_known<T>(error: ClusterError, known: &Entries<T>) -> ClusterError {
    if known.is_empty() {
        return error;
    }
    let listed = known.iter().take(LISTED).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let more = match known.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    error.hint(format!("known: {listed}{more}"))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

pub(super) fn select(flags: &ConnectionArgs, environment: &Environment) -> Result<Selected> {
    let (paths, must_exist) = files(flags, environment);
    let (found, config) = merged(&paths, must_exist)?;
    // A server by flag is not this pod's: its token must not get there. A name by flag must exist all the same.
    if !config.is_empty() || given(&flags.server).is_some() {
        return choose(&config, flags, environment);
    }
    match in_cluster(environment).filter(|_| !must_exist) {
        Some(selected) => Ok(selected),
        None if found.is_empty() => {
            let tried = listed(&paths);
            let tried = if tried.is_empty() { tried } else { format!(" (looked for {tried})") };
            let none = format!("no kubeconfig found{tried}, and not running in a pod");
            Err(ClusterError::kubeconfig(none).hint(SET_ONE))
        }
        None => {
            let empty = format!("the kubeconfig {} names no cluster, no user and no context", listed(&found));
            Err(ClusterError::kubeconfig(empty).hint(SET_ONE))
        }
    }
}

/// Reads the files, and returns those that exist, and their merged content.
fn merged(paths: &[PathBuf], must_exist: bool) -> Result<(Vec<PathBuf>, Kubeconfig)> {
    let mut merged = Kubeconfig::default();
    let mut found = Vec::new();
    for path in paths {
        match Kubeconfig::read(path)? {
            Some(config) => merged.merge(config),
            None if must_exist => {
                return Err(ClusterError::kubeconfig(format!("the kubeconfig {} does not exist", path.display())));
            }
            None => continue,
        }
        found.push(path.clone());
    }
    Ok((found, merged))
}

/// The files that count, and whether they must exist.
fn files(flags: &ConnectionArgs, environment: &Environment) -> (Vec<PathBuf>, bool) {
    if let Some(path) = given(&flags.kubeconfig) {
        return (vec![PathBuf::from(path)], true);
    }
    let paths = match environment.kubeconfig.as_ref().filter(|list| !list.is_empty()) {
        Some(list) => std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => environment.home.iter().map(|home| home.join(".kube").join("config")).collect(),
    };
    (paths, false)
}

/// Returns the value of a flag; an empty one is none.
pub(super) fn given(flag: &Option<String>) -> Option<String> {
    flag.clone().filter(|text| !text.is_empty())
}

fn choose(config: &Kubeconfig, flags: &ConnectionArgs, environment: &Environment) -> Result<Selected> {
    let context_name = given(&flags.context).or_else(|| config.current_context.value());
    let context = match &context_name {
        Some(name) => {
            find(&config.contexts, name).cloned().ok_or_else(|| unknown("context", name, &config.contexts))?
        }
        None if given(&flags.cluster).is_some() || given(&flags.server).is_some() => Context::default(),
        None => {
            let choose = Hint::from("choose one with --context, or: ").command(kubectl("config use-context NAME"));
            let none = ClusterError::kubeconfig("the kubeconfig sets no current-context").hint(choose);
            return Err(with_known(none, &config.contexts));
        }
    };
    let cluster = match given(&flags.cluster).or_else(|| context.cluster.value()) {
        Some(name) => match find(&config.clusters, &name) {
            Some(cluster) => cluster.clone(),
            None if given(&flags.server).is_some() && given(&flags.cluster).is_none() => Cluster::default(),
            None => return Err(unknown("cluster", &name, &config.clusters)),
        },
        None => Cluster::default(),
    };
    let (user, warning) = choose_user(config, given(&flags.user), &context.user)?;
    // Within a pod its own namespace is the default.
    let namespace = context.namespace.value().or_else(|| namespace_of_pod(environment));
    let (namespace, warnings) = (namespace.unwrap_or_else(|| DEFAULT.to_owned()), warning.into_iter().collect());
    Ok(Selected { cluster, user, namespace, context: context_name, rotating_authority: None, warnings })
}

/// A user that a flag names must exist; one that only a context names may be missing, as in client-go's `getAuthInfo`,
/// but then it is said.
fn choose_user(config: &Kubeconfig, flag: Option<String>, of_context: &Text) -> Result<(User, Option<String>)> {
    let required = flag.is_some();
    let Some(name) = flag.or_else(|| of_context.value()) else { return Ok((User::default(), None)) };
    match find(&config.users, &name) {
        Some(user) => Ok((user.clone(), None)),
        None if required => Err(unknown("user", &name, &config.users)),
        None => {
            let warning = format!("the kubeconfig has no user \"{name}\"; connecting without credentials");
            Ok((User::default(), Some(warning)))
        }
    }
}

/// Reads the server's address. Without a scheme it is http, and then has no path (client-go `rest/url_utils.go`).
pub(super) fn server_uri(selected: &Selected) -> Result<http::Uri> {
    let Some(server) = selected.cluster.server.as_deref() else {
        let of = selected.context.as_ref().map(|name| format!(" of context \"{name}\"")).unwrap_or_default();
        return Err(ClusterError::kubeconfig(format!("the cluster{of} has no server")));
    };
    let bad = || ClusterError::kubeconfig(format!("the server \"{server}\" is not a valid address"));
    let has_scheme = server.contains("://");
    let text = if has_scheme { server.to_owned() } else { format!("http://{server}") };
    let uri: http::Uri = text.parse().map_err(|_| bad())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() && (has_scheme || uri.path() == "/") => Ok(uri),
        _ => Err(bad()),
    }
}

const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The connection of the service account of the pod this program runs in (client-go `rest/config.go`,
/// `inClusterClientConfig`); `None` outside a pod, or where no token is mounted.
pub(super) fn in_cluster(environment: &Environment) -> Option<Selected> {
    let (server, folder) = account(environment)?;
    let authority = Some(folder.join("ca.crt")).filter(|file| file.is_file());
    let path = |file: PathBuf| file.to_string_lossy().into_owned();
    let cluster = Cluster {
        server: Text::new(Some(server)),
        certificate_authority: Text::new(authority.clone().map(path)),
        ..Cluster::default()
    };
    let user = User { token_file: Text::new(Some(path(folder.join("token")))), ..User::default() };
    let namespace = namespace_of_pod(environment).unwrap_or_else(|| DEFAULT.to_owned());
    Some(Selected { cluster, user, namespace, rotating_authority: authority, ..Selected::default() })
}

pub(super) fn namespace_of_pod(environment: &Environment) -> Option<String> {
    let (_, folder) = account(environment)?;
    let text = environment.pod_namespace.clone().or_else(|| std::fs::read_to_string(folder.join("namespace")).ok())?;
    Some(text.trim().to_owned()).filter(|namespace| !namespace.is_empty())
}

/// The server and the mounted files of a pod's service account.
fn account(environment: &Environment) -> Option<(String, &Path)> {
    let host = environment.service_host.as_deref().filter(|host| !host.is_empty())?;
    let port: u16 = environment.service_port.as_deref()?.parse().ok()?;
    let folder = environment.service_account.as_deref().unwrap_or_else(|| Path::new(SERVICE_ACCOUNT));
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    folder.join("token").is_file().then(|| (format!("https://{host}:{port}"), folder))
}
