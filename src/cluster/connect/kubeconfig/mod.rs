//! Which files count as the kubeconfig, and which cluster, user and namespace are chosen from them
//! (client-go `tools/clientcmd/loader.go`, `client_config.go`).

use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Kubeconfig, KubeconfigError as KubeError};

use super::{ConnectOptions, Environment};

mod error;
mod in_cluster;

#[cfg(test)]
mod tests;

pub use error::KubeconfigError;

/// What was chosen, before the flags are applied.
pub(super) struct Selected {
    pub(super) cluster: Cluster,
    pub(super) user: AuthInfo,
    pub(super) namespace: String,
    pub(super) context: Option<String>,
    /// A file of certificate authorities that is to be read again from time to time.
    pub(super) rotating_authority: Option<PathBuf>,
    pub(super) warnings: Vec<String>,
}

impl Selected {
    fn new(cluster: Cluster, user: AuthInfo) -> Self {
        Self {
            cluster,
            user,
            namespace: "default".to_owned(),
            context: None,
            rotating_authority: None,
            warnings: Vec::new(),
        }
    }
}

/// The names that `--context`, `--cluster` and `--user` may have.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct KubeconfigNames {
    /// Of contexts.
    pub contexts: Vec<String>,
    /// Of clusters.
    pub clusters: Vec<String>,
    /// Of users.
    pub users: Vec<String>,
}

/// Reads which names there are.
///
/// # Errors
/// When a file that must be there is not, or cannot be read.
pub fn names(options: &ConnectOptions, environment: &Environment) -> Result<KubeconfigNames, KubeconfigError> {
    let (_, config) = merged(&files(options, environment)?)?;
    Ok(config.map_or_else(KubeconfigNames::default, |config| KubeconfigNames {
        contexts: context_names(&config),
        clusters: cluster_names(&config),
        users: user_names(&config),
    }))
}

/// Chooses cluster, user and namespace.
pub(super) fn select(options: &ConnectOptions, environment: &Environment) -> Result<Selected, KubeconfigError> {
    let files = files(options, environment)?;
    let (found, merged) = merged(&files)?;
    match merged {
        Some(config) => choose(&config, options),
        None if files.must_exist && options.server.is_none() => Err(KubeconfigError::Empty { paths: found }),
        None => match in_cluster::of(environment) {
            Some(selected) => Ok(selected),
            // A name that a flag gives must exist all the same.
            None if options.server.is_some() => choose(&Kubeconfig::default(), options),
            None if found.is_empty() => Err(KubeconfigError::Nothing { tried: files.paths }),
            None => Err(KubeconfigError::Empty { paths: found }),
        },
    }
}

/// Reads the files, and returns those that exist, and their merged content.
fn merged(files: &Files) -> Result<(Vec<PathBuf>, Option<Kubeconfig>), KubeconfigError> {
    let mut merged: Option<Kubeconfig> = None;
    let mut found = Vec::new();
    for path in &files.paths {
        let Some(read) = read(path, files.must_exist)? else { continue };
        found.push(path.clone());
        merged = Some(match merged {
            None => read,
            Some(earlier) => earlier.merge(read).map_err(|_| KubeconfigError::Mixed { path: path.clone() })?,
        });
    }
    Ok((found, merged.filter(|config| !is_empty(config))))
}

struct Files {
    paths: Vec<PathBuf>,
    must_exist: bool,
}

fn files(options: &ConnectOptions, environment: &Environment) -> Result<Files, KubeconfigError> {
    if let Some(path) = options.kubeconfig.as_ref().filter(|path| !path.is_empty()) {
        return Ok(Files { paths: vec![PathBuf::from(path)], must_exist: true });
    }
    let paths = match environment.kubeconfig.as_ref().filter(|list| !list.is_empty()) {
        Some(list) => std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => environment.home.iter().map(|home| home.join(".kube").join("config")).collect(),
    };
    Ok(Files { paths, must_exist: false })
}

/// Reads one file, with its relative paths resolved against its folder; `None` if it is missing and may be.
fn read(path: &Path, must_exist: bool) -> Result<Option<Kubeconfig>, KubeconfigError> {
    if path.is_dir() {
        return Err(KubeconfigError::Folder { path: path.to_owned() });
    }
    match Kubeconfig::read_from(path) {
        Ok(Kubeconfig { kind: Some(kind), .. }) if !kind.is_empty() && kind != "Config" => {
            Err(KubeconfigError::OtherKind { path: path.to_owned(), kind })
        }
        Ok(config) => Ok(Some(config)),
        Err(KubeError::ReadConfig(error, _)) if error.kind() == std::io::ErrorKind::NotFound => {
            if must_exist {
                Err(KubeconfigError::Missing { path: path.to_owned() })
            } else {
                Ok(None)
            }
        }
        Err(KubeError::ReadConfig(error, _)) => {
            Err(KubeconfigError::Unreadable { path: path.to_owned(), why: error.to_string() })
        }
        Err(KubeError::Parse(error)) => {
            // Its text quotes the file, which holds credentials: only the place is reported.
            let place = error.without_snippet().location().map(|place| (place.line(), place.column()));
            Err(KubeconfigError::Malformed { path: path.to_owned(), place })
        }
        Err(_) => Err(KubeconfigError::Mixed { path: path.to_owned() }),
    }
}

fn is_empty(config: &Kubeconfig) -> bool {
    config.clusters.is_empty() && config.contexts.is_empty() && config.auth_infos.is_empty()
}

fn choose(config: &Kubeconfig, options: &ConnectOptions) -> Result<Selected, KubeconfigError> {
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let context_name = given(&options.context).or_else(|| given(&config.current_context));
    let context = match &context_name {
        Some(name) => {
            let found = config.contexts.iter().find(|context| context.name == *name);
            let unknown = || KubeconfigError::UnknownContext { name: name.clone(), known: context_names(config) };
            Some(found.and_then(|found| found.context.clone()).ok_or_else(unknown)?)
        }
        None if given(&options.cluster).is_some() || options.server.is_some() => None,
        None => return Err(KubeconfigError::NoCurrentContext { known: context_names(config) }),
    };
    let cluster_name = given(&options.cluster).or_else(|| context.as_ref().map(|context| context.cluster.clone()));
    let cluster = match cluster_name {
        Some(name) => {
            let found = config.clusters.iter().find(|cluster| cluster.name == name);
            match found.and_then(|found| found.cluster.clone()) {
                Some(cluster) => cluster,
                None if options.server.is_some() && options.cluster.is_none() => Cluster::default(),
                None => return Err(KubeconfigError::UnknownCluster { name, known: cluster_names(config) }),
            }
        }
        None => Cluster::default(),
    };
    let context_user = context.as_ref().and_then(|context| given(&context.user));
    let (user, warning) = choose_user(config, given(&options.user), context_user)?;
    let mut selected = Selected::new(cluster, user);
    if let Some(namespace) = context.as_ref().and_then(|context| given(&context.namespace)) {
        selected.namespace = namespace;
    }
    selected.context = context_name;
    selected.warnings.extend(warning);
    Ok(selected)
}

/// A user that a flag names must exist; one that only a context names may be missing, as in client-go's `getAuthInfo`,
/// but then it is said.
fn choose_user(
    config: &Kubeconfig,
    flag: Option<String>,
    context_user: Option<String>,
) -> Result<(AuthInfo, Option<String>), KubeconfigError> {
    let required = flag.is_some();
    let Some(name) = flag.or(context_user) else { return Ok((AuthInfo::default(), None)) };
    match config.auth_infos.iter().find(|user| user.name == name) {
        Some(found) => Ok((found.auth_info.clone().unwrap_or_default(), None)),
        None if required => Err(KubeconfigError::UnknownUser { name, known: user_names(config) }),
        None => {
            let warning = format!("the kubeconfig has no user \"{name}\"; connecting without credentials");
            Ok((AuthInfo::default(), Some(warning)))
        }
    }
}

fn context_names(config: &Kubeconfig) -> Vec<String> {
    config.contexts.iter().map(|context| context.name.clone()).collect()
}

fn cluster_names(config: &Kubeconfig) -> Vec<String> {
    config.clusters.iter().map(|cluster| cluster.name.clone()).collect()
}

fn user_names(config: &Kubeconfig) -> Vec<String> {
    config.auth_infos.iter().map(|user| user.name.clone()).collect()
}

/// Reads the server's address. Without a scheme it is https if anything about TLS is configured, else http, as in
/// client-go's `rest/url_utils.go`.
pub(super) fn server_uri(selected: &Selected) -> Result<http::Uri, KubeconfigError> {
    let cluster = &selected.cluster;
    let Some(server) = cluster.server.as_deref().filter(|server| !server.is_empty()) else {
        return Err(KubeconfigError::NoServer { context: selected.context.clone() });
    };
    let text = if server.contains("://") {
        server.to_owned()
    } else {
        let has_tls = cluster.certificate_authority.is_some()
            || cluster.certificate_authority_data.is_some()
            || cluster.insecure_skip_tls_verify == Some(true)
            || selected.user.client_certificate.is_some()
            || selected.user.client_certificate_data.is_some();
        format!("{}://{server}", if has_tls { "https" } else { "http" })
    };
    let uri: http::Uri = text.parse().map_err(|_| KubeconfigError::BadServer { server: server.to_owned() })?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(uri),
        _ => Err(KubeconfigError::BadServer { server: server.to_owned() }),
    }
}
