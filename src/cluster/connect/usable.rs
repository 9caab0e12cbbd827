//! What goes together and what does not, of a server and of a user; the files that they name, and
//! the certificate authorities as kube wants them (DER)
//! (client-go `tools/clientcmd/validation.go`, `transport/transport.go`).
//!
//! Before that, the flags on top of what the kubeconfig says (client-go `tools/clientcmd/client_config.go`: `getCluster`,
//! `getAuthInfo`): each takes the place of its own field; what does not go together then is refused here.

#![expect(clippy::disallowed_methods, reason = "reads certificates and keys")]

use http::HeaderValue;

use super::super::error::{ClusterError, Result};
use super::entries::{Cluster, Field, Flag, Pem, Text, User, from_base64};
use super::kubeconfig::{Selected, given};
use crate::cli::ConnectionArgs;

/// Refuses what kubectl refuses, and puts certificates and keys from files into their data.
pub(super) fn check(selected: &mut Selected) -> Result<()> {
    let cluster = &mut selected.cluster;
    load("certificate-authority", &cluster.certificate_authority, &mut cluster.certificate_authority_data)?;
    let user = &mut selected.user;
    load("client-certificate", &user.client_certificate, &mut user.client_certificate_data)?;
    if user.client_certificate_data.is_some() {
        load("client-key", &user.client_key, &mut user.client_key_data)?;
    }
    if let Some(certificate) = &*user.client_certificate_data {
        let key = user
            .client_key_data
            .as_ref()
            .ok_or_else(|| ClusterError::unusable("client-certificate", "it needs a client-key"))?;
        check_pair(&certificate.0, &key.0)?;
    }
    check_methods(user)?;
    check_impersonation(user)
}

fn load(field: &str, path: &Text, data: &mut Field<Pem>) -> Result<()> {
    let Some(path) = &**path else { return Ok(()) };
    if data.is_some() {
        return Err(ClusterError::unusable(field, "it is given as a file and as data"));
    }
    let unread = |why: &str| ClusterError::kubeconfig(format!("{field} {path} could not be read: {why}"));
    let bytes = std::fs::read(path).map_err(|error| unread(&error.to_string()))?;
    if bytes.is_empty() {
        return Err(unread("it is empty"));
    }
    *data = Field::new(Some(Pem(bytes)));
    Ok(())
}

pub(super) fn check_pair(certificate: &[u8], key: &[u8]) -> Result<()> {
    let has = |pem: &[u8], end: &str| String::from_utf8_lossy(pem).contains(end);
    if !has(certificate, "-----END CERTIFICATE-----") {
        return Err(ClusterError::unusable("client-certificate", "it holds no PEM certificate"));
    }
    if !has(key, "PRIVATE KEY-----") {
        return Err(ClusterError::unusable("client-key", "it holds no PEM private key"));
    }
    Ok(())
}

/// Only one way to authenticate may be given.
fn check_methods(user: &User) -> Result<()> {
    let has_name = user.username.is_some() || user.password.is_some();
    if has_name && (user.token.is_some() || user.token_file.is_some()) {
        return Err(ClusterError::unusable(
            "token",
            "a username and a password are given as well, and only one of both is allowed",
        ));
    }
    if user.password.is_some() && user.username.is_none() {
        return Err(ClusterError::unusable("password", "it needs a username"));
    }
    let Some(provider) = &user.auth_provider else { return Ok(()) };
    if user.exec.is_some() {
        return Err(ClusterError::unusable(
            "auth-provider",
            "an exec is given as well, and only one of both is allowed",
        ));
    }
    let name = provider.name.as_deref().unwrap_or_default();
    if name != OIDC {
        return Err(ClusterError::unusable(
            "auth-provider",
            &format!("it is \"{name}\", and only {OIDC} is supported; use exec instead"),
        ));
    }
    let token = provider.config.as_ref().and_then(|config| config.get("id-token"));
    token.map_or(Ok(()), |token| header("id-token", token).map(drop))
}

/// Whom to impersonate, as headers can have it.
fn check_impersonation(user: &User) -> Result<()> {
    let groups: Vec<_> = user.as_groups.iter().flatten().collect();
    let extras: Vec<_> = user.as_user_extra.iter().flatten().collect();
    if user.as_user.is_none() {
        let given = [
            ("as-uid", user.as_uid.is_some()),
            ("as-groups", !groups.is_empty()),
            ("as-user-extra", !extras.is_empty()),
        ];
        if let Some((field, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(ClusterError::unusable(
                field,
                "it needs as (--as): nobody can be impersonated without a user name",
            ));
        }
    }
    let extra_values = || extras.iter().flat_map(|(_, values)| values.iter().flatten());
    for (field, number) in [("as-groups", groups.len()), ("as-user-extra", extra_values().count())] {
        if number > MOST_HEADERS {
            return Err(ClusterError::unusable(
                field,
                &format!("it has {number} values, and at most {MOST_HEADERS} can be sent"),
            ));
        }
    }
    let texts = user.as_user.iter().map(|text| ("as", text));
    let texts = texts.chain(user.as_uid.iter().map(|text| ("as-uid", text)));
    let texts = texts.chain(groups.into_iter().map(|text| ("as-groups", text)));
    for (field, text) in texts.chain(extra_values().map(|text| ("as-user-extra", text))) {
        header(field, text)?;
    }
    Ok(())
}

/// A map of headers panics from 24,577 on; a server takes far fewer.
const MOST_HEADERS: usize = 10_000;

/// Makes a header of a field; no error quotes it.
pub(super) fn header(field: &str, text: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ClusterError::unusable(field, NO_HEADER))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Why a text cannot be sent.
pub(super) const NO_HEADER: &str = "it has a line break, or another character that no header may have";

const OIDC: &str = "oidc";
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Reads the cluster's certificate authorities; `None` is the system's trust, or none is asked for.
pub(super) fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>> {
    let Some(Pem(pem)) = &*cluster.certificate_authority_data else { return Ok(None) };
    if cluster.insecure_skip_tls_verify.is_some() {
        let why = "a certificate-authority is given as well, and only one of both is allowed";
        return Err(ClusterError::unusable("insecure-skip-tls-verify", why));
    }
    match certificates(&String::from_utf8_lossy(pem)) {
        found if found.is_empty() => {
            Err(ClusterError::unusable("certificate-authority", "it holds no PEM certificate"))
        }
        found => Ok(Some(found)),
    }
}

/// Takes the certificates out of PEM text; damaged ones are left out, as in Go's `AppendCertsFromPEM`.
fn certificates(pem: &str) -> Vec<Vec<u8>> {
    let blocks = pem.split(BEGIN).skip(1);
    blocks.filter_map(|block| block.split_once(END).and_then(|(body, _)| from_base64(body))).collect()
}

pub(super) fn apply_flags(selected: &mut Selected, flags: &ConnectionArgs) -> Result<()> {
    if let Some(namespace) = given(&flags.namespace) {
        selected.namespace = namespace;
    }
    if flags.insecure_skip_tls_verify || given(&flags.certificate_authority).is_some() {
        selected.rotating_authority = None;
    }
    apply_to_cluster(&mut selected.cluster, flags);
    apply_to_user(&mut selected.user, flags);
    add_extras(&mut selected.user, flags)
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

fn apply_to_cluster(cluster: &mut Cluster, flags: &ConnectionArgs) {
    if set(&mut cluster.server, &flags.server) {
        // Another server most likely goes by another name.
        cluster.tls_server_name = Text::default();
    }
    set(&mut cluster.tls_server_name, &flags.tls_server_name);
    // How the server is verified is the flags' matter as a whole.
    if flags.insecure_skip_tls_verify || given(&flags.certificate_authority).is_some() {
        cluster.insecure_skip_tls_verify = Field::new(Some(Flag(flags.insecure_skip_tls_verify)));
        cluster.certificate_authority = Text::new(flags.certificate_authority.clone());
        cluster.certificate_authority_data = Field::default();
    }
    if flags.disable_compression {
        cluster.disable_compression = Field::new(Some(Flag(true)));
    }
}

fn apply_to_user(user: &mut User, flags: &ConnectionArgs) {
    if set(&mut user.token, &flags.token) {
        // client-go goes on with what is in the file, whatever token is given.
        user.token_file = Text::default();
    }
    set(&mut user.username, &flags.username);
    set(&mut user.password, &flags.password);
    if set(&mut user.client_certificate, &flags.client_certificate) {
        user.client_certificate_data = Field::default();
    }
    if set(&mut user.client_key, &flags.client_key) {
        user.client_key_data = Field::default();
    }
    set(&mut user.as_user, &flags.as_user);
    set(&mut user.as_uid, &flags.as_uid);
    if !flags.as_group.is_empty() {
        user.as_groups = Some(flags.as_group.clone());
    }
}

/// The values of a key replace those that the file has for it.
fn add_extras(user: &mut User, flags: &ConnectionArgs) -> Result<()> {
    let mut extras = std::collections::BTreeMap::<String, Option<Vec<String>>>::new();
    for pair in &flags.as_user_extra {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(ClusterError::kubeconfig(format!("--as-user-extra: \"{pair}\" is not of the form key=value")));
        };
        extras.entry(key.to_owned()).or_default().get_or_insert_default().push(value.to_owned());
    }
    if !extras.is_empty() {
        user.as_user_extra.get_or_insert_default().extend(extras);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_text() {
        let one = format!("{BEGIN}\nAAEC\n{END}\n");
        let cases = [
            (one.clone(), vec![vec![0, 1, 2]]),
            (format!("a comment\n{one}\r\n{BEGIN}\r\nAw\r\n==\r\n{END}"), vec![vec![0, 1, 2], vec![3]]),
            (String::new(), Vec::new()),
            (format!("{BEGIN}\nAAEC\n"), Vec::new()),
            (format!("{BEGIN}\n*\n{END}{one}"), vec![vec![0, 1, 2]]),
        ];
        for (pem, expected) in cases {
            assert_eq!(certificates(&pem), expected, "{pem}");
        }
    }
}
