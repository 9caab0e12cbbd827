//! Servers and users of a kubeconfig (`tools/clientcmd/api/v1/types.go`). Users hold secrets: nothing here has `Debug`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;

use k8s_openapi::ByteString;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::yaml;

/// A field. To client-go, absent, null and empty are the same: all of them are `None`.
#[derive(Clone, Default)]
pub(super) struct Field<T>(Option<T>);

impl<T> Deref for Field<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T: Default + PartialEq + Clone> Field<T> {
    pub(super) fn new(value: Option<T>) -> Self {
        Self(value.filter(|value| *value != T::default()))
    }

    pub(super) fn value(&self) -> Option<T> {
        self.0.clone()
    }
}

impl<'de, T: Default + PartialEq + Clone + Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::new)
    }
}

pub(super) type Text = Field<String>;

/// Certificates and keys: PEM, which kubeconfigs have in base64.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Pem(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Pem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_base64(&text).map(Self).ok_or_else(|| D::Error::custom("not base64"))
    }
}

/// Yes or no, which a text is not.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer)?.as_bool().map(Self).ok_or_else(|| D::Error::custom("not a boolean"))
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: Text,
    pub(super) tls_server_name: Text,
    pub(super) insecure_skip_tls_verify: Field<Flag>,
    pub(super) certificate_authority: Text,
    pub(super) certificate_authority_data: Field<Pem>,
    pub(super) proxy_url: Text,
    pub(super) disable_compression: Field<Flag>,
    pub(super) extensions: Option<Vec<Extension>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Extension {
    pub(super) name: Text,
    pub(super) extension: Value,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct User {
    pub(super) client_certificate: Text,
    pub(super) client_certificate_data: Field<Pem>,
    pub(super) client_key: Text,
    pub(super) client_key_data: Field<Pem>,
    pub(super) token: Text,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Text,
    pub(super) username: Text,
    pub(super) password: Text,
    #[serde(rename = "as")]
    pub(super) as_user: Text,
    pub(super) as_uid: Text,
    pub(super) as_groups: Option<Vec<String>>,
    pub(super) as_user_extra: Option<BTreeMap<String, Option<Vec<String>>>>,
    #[serde(deserialize_with = "yaml::mapping")]
    pub(super) auth_provider: Option<AuthProvider>,
    #[serde(deserialize_with = "yaml::mapping")]
    pub(super) exec: Option<Exec>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthProvider {
    pub(super) name: Text,
    pub(super) config: Option<HashMap<String, String>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Exec {
    pub(super) command: Text,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<Variable>>,
    pub(super) api_version: Text,
    pub(super) install_hint: Text,
    pub(super) provide_cluster_info: Field<Flag>,
    pub(super) interactive_mode: Text,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Variable {
    pub(super) name: Text,
    pub(super) value: Text,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub(super) cluster: Text,
    pub(super) user: Text,
    pub(super) namespace: Text,
}

/// Decodes base64, whatever its line breaks.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    serde_json::from_value::<ByteString>(text.into()).ok().map(|bytes| bytes.0)
}

pub(super) fn base64(bytes: &[u8]) -> Option<String> {
    match serde_json::to_value(ByteString(bytes.to_vec())) {
        Ok(Value::String(encoded)) => Some(encoded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_both_ways() {
        let encoded = base64(b"some PEM").unwrap();
        assert_eq!(from_base64(&encoded), Some(b"some PEM".to_vec()));
    }
}
