//! A container as a pod's spec has it. Of its environment there is what a restart reads again: variables with a value of their own
//! are not kept.

use serde::{Deserialize, Serialize};

use super::{ResizePolicy, Resources, or_default};
use crate::k8s::names::ContainerName;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    pub name: ContainerName,
    pub image: String,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Option<String>,
    /// For which exit codes it is started again besides.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub restart_policy_rules: Vec<RestartRule>,
    /// When traffic may come.
    pub readiness_probe: Option<Probe>,
    /// When the other probes begin.
    pub startup_probe: Option<Probe>,
    /// `Always`, `IfNotPresent` or `Never`; fixed when the pod is made.
    pub image_pull_policy: String,
    pub lifecycle: Lifecycle,
    /// The ports that it says it listens on: information only, since it may listen on others.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ContainerPort>,
    /// The environment variables that come from elsewhere; those with a value of their own are not kept.
    #[serde(deserialize_with = "variables_from_elsewhere")]
    pub env: Vec<EnvVar>,
    /// ConfigMaps and Secrets that the environment has as a whole.
    pub env_from: Vec<EnvFrom>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Resources::is_empty")]
    pub resources: Resources,
    /// What a resize of it does; fixed when the pod is made.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub resize_policy: Vec<ResizePolicy>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    /// Its name, by which a Service may refer to it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub container_port: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Lifecycle {
    /// Runs before the container is stopped, within the grace period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<PreStop>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PreStop {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Sleep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Sleep {
    pub seconds: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    /// Seconds between two probes; the API's default is 10.
    pub period_seconds: Option<u32>,
    /// Seconds before the first one; the API's default is 0.
    pub initial_delay_seconds: Option<u32>,
}

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct NameRef {
    pub name: String,
}

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
    pub fn field_path(&self) -> Option<&str> {
        self.value_from.field_ref.as_ref().map(|field| field.field_path.as_str())
    }
}

/// A rule for exit codes; the first one that fits counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct RestartRule {
    /// `Restart` or `RestartAllContainers`.
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_codes: Option<ExitCodes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct ExitCodes {
    /// `In` or `NotIn`.
    pub operator: String,
    #[serde(deserialize_with = "or_default")]
    pub values: Vec<i64>,
}

impl RestartRule {
    pub(super) fn fits(&self, exit_code: i64) -> bool {
        self.exit_codes.as_ref().is_some_and(|codes| match codes.operator.as_str() {
            "In" => codes.values.contains(&exit_code),
            "NotIn" => !codes.values.contains(&exit_code),
            _ => false,
        })
    }

    pub(super) fn is_for_all(&self) -> bool {
        self.action == "RestartAllContainers"
    }
}

/// The list of the pod spec that a container is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub enum ContainerList {
    #[default]
    Containers,
    InitContainers,
}

impl Container {
    /// Returns whether it runs for the pod's whole life, and so restarts when its image changes: plain init containers do
    /// not.
    pub fn is_long_lived(&self, list: ContainerList) -> bool {
        list == ContainerList::Containers || self.is_sidecar()
    }

    /// Returns whether this init container is a sidecar (`restartPolicy: Always`).
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
}

impl ContainerList {
    /// In the order in which a pod is read; names are unique over both.
    pub const ALL: [Self; 2] = [Self::Containers, Self::InitContainers];

    pub fn spec_field(self) -> &'static str {
        match self {
            Self::Containers => "containers",
            Self::InitContainers => "initContainers",
        }
    }

    pub fn status_field(self) -> &'static str {
        match self {
            Self::Containers => "containerStatuses",
            Self::InitContainers => "initContainerStatuses",
        }
    }
}
