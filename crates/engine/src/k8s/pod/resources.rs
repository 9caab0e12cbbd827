//! cpu and memory as a pod asks for them: of a container, and of the pod as a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Pod;
use crate::k8s::names::ContainerName;

/// The word for the pod where holders are keys of a map; no container can have that name.
const POD: &str = "(pod)";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ResourceHolder {
    Container(ContainerName),
    /// The pod as a whole (`spec.resources`, since 1.34).
    Pod,
}

impl ResourceHolder {
    pub fn container(&self) -> Option<&ContainerName> {
        match self {
            Self::Container(name) => Some(name),
            Self::Pod => None,
        }
    }
}

impl From<String> for ResourceHolder {
    fn from(text: String) -> Self {
        if text == POD { Self::Pod } else { Self::Container(text.into()) }
    }
}

impl From<&ContainerName> for ResourceHolder {
    fn from(name: &ContainerName) -> Self {
        Self::Container(name.clone())
    }
}

impl From<ResourceHolder> for String {
    fn from(holder: ResourceHolder) -> Self {
        holder.container().map_or(POD, ContainerName::as_str).to_owned()
    }
}

/// `requests` and `limits`, as the API writes quantities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Resources {
    /// What a node keeps for it, by resource.
    #[serde(deserialize_with = "quantities", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, String>,
    /// What it may not exceed, by resource.
    #[serde(deserialize_with = "quantities", skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
}

impl Resources {
    pub const MAPS: [&'static str; 2] = ["requests", "limits"];

    pub fn map(&self, name: &str) -> &BTreeMap<String, String> {
        if name == "requests" { &self.requests } else { &self.limits }
    }

    pub fn map_mut(&mut self, name: &str) -> &mut BTreeMap<String, String> {
        if name == "requests" { &mut self.requests } else { &mut self.limits }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.limits.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ResizePolicy {
    /// `cpu` or `memory`.
    pub resource_name: String,
    /// `NotRequired` or `RestartContainer`.
    pub restart_policy: String,
}

impl ResizePolicy {
    pub fn restarts(&self, resource: &str) -> bool {
        self.resource_name == resource && self.restart_policy == "RestartContainer"
    }
}

/// Reads quantities, which a manifest may also write as numbers.
pub(super) fn quantities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let text = |value: Value| if let Value::String(text) = value { text } else { value.to_string() };
    let values = Option::<BTreeMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(values.into_iter().map(|(name, value)| (name, text(value))).collect())
}

impl Pod {
    /// Returns what a container asks for, or the pod as a whole; `None` where there is no such container, or the pod asks for nothing.
    pub fn resources(&self, holder: &ResourceHolder) -> Option<&Resources> {
        match holder {
            ResourceHolder::Container(name) => self.spec_of(name).map(|container| &container.resources),
            ResourceHolder::Pod => self.spec.resources.as_ref(),
        }
    }

    pub fn resources_mut(&mut self, holder: &ResourceHolder) -> Option<&mut Resources> {
        let spec = &mut self.spec;
        let mut containers = spec.containers.iter_mut().chain(&mut spec.init_containers);
        match holder {
            ResourceHolder::Container(name) => containers.find(|one| one.name == *name).map(|one| &mut one.resources),
            ResourceHolder::Pod => Some(spec.resources.get_or_insert_default()),
        }
    }
}
