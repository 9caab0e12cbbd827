//! The service account of the pod this program runs in, where there is no kubeconfig (client-go `rest/config.go`,
//! `inClusterClientConfig`).

#![expect(clippy::disallowed_methods, reason = "reads the service account's namespace")]

use std::path::{Path, PathBuf};

use super::super::entries::{Cluster, Text, User};
use super::{Environment, Selected};

/// Where the kubelet mounts the service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Gives the connection of a pod's service account; `None` outside a pod, or where no token is mounted.
pub(super) fn of(environment: &Environment) -> Option<Selected> {
    let (server, folder) = account(environment)?;
    let authority = Some(folder.join("ca.crt")).filter(|file| file.is_file());
    let path = |file: PathBuf| file.to_string_lossy().into_owned();
    let cluster = Cluster {
        server: Text::new(Some(server)),
        certificate_authority: Text::new(authority.clone().map(path)),
        ..Cluster::default()
    };
    let user = User { token_file: Text::new(Some(path(folder.join("token")))), ..User::default() };
    let mut selected = Selected::new(cluster, user);
    if let Some(namespace) = namespace(environment) {
        selected.namespace = namespace;
    }
    selected.rotating_authority = authority;
    Some(selected)
}

/// Gives the namespace of the pod; `None` outside one.
pub(super) fn namespace(environment: &Environment) -> Option<String> {
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
