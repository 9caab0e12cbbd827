//! The flags on top of what the kubeconfig says (client-go `tools/clientcmd/client_config.go` and `overrides.go`).

use std::collections::HashMap;

use kube::config::AuthInfo;

use super::{ConnectOptions, KubeconfigError, kubeconfig::Selected};

/// Applies the flags.
pub(super) fn apply(selected: &mut Selected, options: &ConnectOptions) -> Result<(), KubeconfigError> {
    if let Some(namespace) = given(&options.namespace) {
        selected.namespace = namespace;
    }
    apply_to_cluster(selected, options)?;
    if given(&options.username).is_some() && given(&options.token).is_some() {
        let why = "cannot be given together with --token".to_owned();
        return Err(KubeconfigError::BadFlag { flag: "--username", why });
    }
    if given(&options.username).is_some() != given(&options.password).is_some() {
        let why = "go together: basic authentication needs both".to_owned();
        return Err(KubeconfigError::BadFlag { flag: "--username and --password", why });
    }
    apply_to_user(&mut selected.user, options);
    impersonate(&mut selected.user, options)
}

fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

fn apply_to_cluster(selected: &mut Selected, options: &ConnectOptions) -> Result<(), KubeconfigError> {
    let cluster = &mut selected.cluster;
    if let Some(server) = given(&options.server) {
        cluster.server = Some(server);
        // Another server most likely goes by another name.
        cluster.tls_server_name = None;
    }
    if let Some(name) = given(&options.tls_server_name) {
        cluster.tls_server_name = Some(name);
    }
    let authority = given(&options.certificate_authority);
    if options.insecure_skip_tls_verify {
        if authority.is_some() {
            let why = "cannot be given together with --certificate-authority".to_owned();
            return Err(KubeconfigError::BadFlag { flag: "--insecure-skip-tls-verify", why });
        }
        cluster.insecure_skip_tls_verify = Some(true);
        cluster.certificate_authority = None;
        cluster.certificate_authority_data = None;
        selected.rotating_authority = None;
    } else if authority.is_some() {
        cluster.insecure_skip_tls_verify = None;
        cluster.certificate_authority = authority;
        cluster.certificate_authority_data = None;
        selected.rotating_authority = None;
    }
    if options.disable_compression {
        cluster.disable_compression = Some(true);
    }
    Ok(())
}

fn apply_to_user(user: &mut AuthInfo, options: &ConnectOptions) {
    if let Some(token) = given(&options.token) {
        user.token = Some(token.into());
        user.token_file = None;
        user.username = None;
        user.password = None;
        // kube prefers an auth-provider to a token.
        user.auth_provider = None;
        user.exec = None;
    }
    if let Some(name) = given(&options.username) {
        *user = AuthInfo { username: Some(name), password: given(&options.password).map(Into::into), ..user.clone() };
        user.token = None;
        user.token_file = None;
        user.auth_provider = None;
        user.exec = None;
    }
    if let Some(certificate) = given(&options.client_certificate) {
        user.client_certificate = Some(certificate);
        user.client_certificate_data = None;
    }
    if let Some(key) = given(&options.client_key) {
        user.client_key = Some(key);
        user.client_key_data = None;
    }
}

/// Impersonation by flags replaces the kubeconfig's as a whole.
fn impersonate(user: &mut AuthInfo, options: &ConnectOptions) -> Result<(), KubeconfigError> {
    let uid = given(&options.as_uid);
    let Some(name) = given(&options.as_user) else {
        if uid.is_some() || !options.as_group.is_empty() || !options.as_user_extra.is_empty() {
            let why = "needs --as as well: no one can be impersonated without a user name".to_owned();
            return Err(KubeconfigError::BadFlag { flag: "--as-uid, --as-group, --as-user-extra", why });
        }
        return Ok(());
    };
    let mut extra: HashMap<String, Vec<String>> = HashMap::new();
    for pair in &options.as_user_extra {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let why = format!("\"{pair}\" is not of the form key=value");
            return Err(KubeconfigError::BadFlag { flag: "--as-user-extra", why });
        };
        // Header names are case-insensitive, and kube passes the key on unchanged.
        extra.entry(key.to_lowercase()).or_default().push(value.to_owned());
    }
    user.impersonate = Some(name);
    user.impersonate_uid = uid;
    user.impersonate_groups = (!options.as_group.is_empty()).then(|| options.as_group.clone());
    user.impersonate_user_extra = (!extra.is_empty()).then_some(extra);
    Ok(())
}
