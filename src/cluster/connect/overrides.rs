//! The flags on top of what the kubeconfig says (client-go `tools/clientcmd/client_config.go`: `getCluster`,
//! `getAuthInfo`). Each takes the place of its own field; what does not go together then is refused in [`super::usable`].

use super::entries::{Cluster, Field, Flag, Text, User};
use super::kubeconfig::{Selected, given};
use super::{ConnectOptions, KubeconfigError};

pub(super) fn apply(selected: &mut Selected, options: &ConnectOptions) -> Result<(), KubeconfigError> {
    if let Some(namespace) = given(&options.namespace) {
        selected.namespace = namespace;
    }
    if options.insecure_skip_tls_verify || given(&options.certificate_authority).is_some() {
        selected.rotating_authority = None;
    }
    apply_to_cluster(&mut selected.cluster, options);
    apply_to_user(&mut selected.user, options);
    add_extras(&mut selected.user, options)
}

/// Puts a flag's value, if there is one, in the place of the file's; returns whether there was.
fn set(field: &mut Text, flag: &Option<String>) -> bool {
    let text = given(flag);
    let is_given = text.is_some();
    if is_given {
        *field = Text::new(text);
    }
    is_given
}

fn apply_to_cluster(cluster: &mut Cluster, options: &ConnectOptions) {
    if set(&mut cluster.server, &options.server) {
        // Another server most likely goes by another name.
        cluster.tls_server_name = Text::default();
    }
    set(&mut cluster.tls_server_name, &options.tls_server_name);
    // How the server is verified is the flags' matter as a whole.
    if options.insecure_skip_tls_verify || given(&options.certificate_authority).is_some() {
        cluster.insecure_skip_tls_verify = Field::new(Some(Flag(options.insecure_skip_tls_verify)));
        cluster.certificate_authority = Text::new(options.certificate_authority.clone());
        cluster.certificate_authority_data = Field::default();
    }
    if options.disable_compression {
        cluster.disable_compression = Field::new(Some(Flag(true)));
    }
}

fn apply_to_user(user: &mut User, options: &ConnectOptions) {
    if set(&mut user.token, &options.token) {
        // client-go goes on with what is in the file, whatever token is given.
        user.token_file = Text::default();
    }
    set(&mut user.username, &options.username);
    set(&mut user.password, &options.password);
    if set(&mut user.client_certificate, &options.client_certificate) {
        user.client_certificate_data = Field::default();
    }
    if set(&mut user.client_key, &options.client_key) {
        user.client_key_data = Field::default();
    }
    set(&mut user.as_user, &options.as_user);
    set(&mut user.as_uid, &options.as_uid);
    if !options.as_group.is_empty() {
        user.as_groups = Some(options.as_group.clone());
    }
}

/// The values of a key replace those that the file has for it.
fn add_extras(user: &mut User, options: &ConnectOptions) -> Result<(), KubeconfigError> {
    let mut extras = std::collections::BTreeMap::<String, Option<Vec<String>>>::new();
    for pair in &options.as_user_extra {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let why = format!("\"{pair}\" is not of the form key=value");
            return Err(KubeconfigError::BadFlag { flag: "--as-user-extra", why });
        };
        extras.entry(key.to_owned()).or_default().get_or_insert_default().push(value.to_owned());
    }
    if !extras.is_empty() {
        user.as_user_extra.get_or_insert_default().extend(extras);
    }
    Ok(())
}
