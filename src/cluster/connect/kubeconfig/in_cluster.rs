//! The service account of the pod this program runs in, where there is no kubeconfig (client-go `rest/config.go`).

#![expect(clippy::disallowed_methods, reason = "reads the service account's namespace")]

use std::path::Path;

use kube::config::{AuthInfo, Cluster};

use super::{Environment, Selected};

/// Where the kubelet mounts the service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Gives the connection of a pod's service account; `None` outside a pod, or where no token is mounted.
pub(super) fn of(environment: &Environment) -> Option<Selected> {
    let host = environment.service_host.as_deref().filter(|host| !host.is_empty())?;
    let port: u16 = environment.service_port.as_deref()?.parse().ok()?;
    let folder = environment.service_account.as_deref().unwrap_or_else(|| Path::new(SERVICE_ACCOUNT));
    let token = folder.join("token");
    if !token.is_file() {
        return None;
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let authority = folder.join("ca.crt");
    let has_authority = authority.is_file();
    let cluster = Cluster {
        server: Some(format!("https://{host}:{port}")),
        certificate_authority: has_authority.then(|| authority.to_string_lossy().into_owned()),
        ..Cluster::default()
    };
    let user = AuthInfo { token_file: Some(token.to_string_lossy().into_owned()), ..AuthInfo::default() };
    let mut selected = Selected::new(cluster, user);
    if let Ok(namespace) = std::fs::read_to_string(folder.join("namespace"))
        && !namespace.trim().is_empty()
    {
        selected.namespace = namespace.trim().to_owned();
    }
    selected.rotating_authority = has_authority.then_some(authority);
    Some(selected)
}
