//! Where a container's environment comes from, as far as it matters that a restart reads it again.
//!
//! Variables with a value of their own are not kept.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvVar {
    pub value_from: EnvVarSource,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvVarSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<FieldRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<NameRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<NameRef>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldRef {
    /// Such as `metadata.labels['app']`.
    pub field_path: String,
}

/// A ConfigMap or Secret by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct NameRef {
    pub name: String,
}

/// A ConfigMap or Secret that the environment has as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_ref: Option<NameRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<NameRef>,
}

/// Reads the list of variables and keeps those that a restart may change.
pub(super) fn variables_from_elsewhere<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<EnvVar>, D::Error> {
    let variables: Option<Vec<EnvVar>> = Option::deserialize(deserializer)?;
    let from_elsewhere = |variable: &EnvVar| {
        let from = &variable.value_from;
        let metadata = variable.field_path().is_some_and(|path| path.starts_with("metadata."));
        metadata || from.config_map_key_ref.is_some() || from.secret_key_ref.is_some()
    };
    Ok(variables.unwrap_or_default().into_iter().filter(from_elsewhere).collect())
}

impl EnvVar {
    /// Returns the field of the pod that it comes from.
    pub fn field_path(&self) -> Option<&str> {
        self.value_from.field_ref.as_ref().map(|field| field.field_path.as_str())
    }
}
