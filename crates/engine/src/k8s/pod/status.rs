//! What a kubelet reports of a pod.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Resources, or_default};
use crate::k8s::mask;
use crate::k8s::names::ContainerName;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// The kubelet has seen this `metadata.generation`; it has **not** necessarily acted on it.
    pub observed_generation: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
    /// The pod-level resources, as the pod's cgroup has them (1.36).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// The requests that the kubelet has kept for the pod as a whole (1.36).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_resources: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "or_default")]
    pub container_statuses: Vec<ContainerStatus>,
    #[serde(deserialize_with = "or_default")]
    pub init_container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    pub last_transition_time: Option<String>,
    pub reason: Option<String>,
    /// Sentence, without credentials.
    #[serde(deserialize_with = "masked_if_any")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    pub name: ContainerName,
    /// As the runtime resolved it; may be another tag of the same digest, so it proves nothing.
    pub image: String,
    /// The digest as the runtime shows it.
    #[serde(rename = "imageID")]
    pub image_id: String,
    /// `<runtime>://<id>`: another one means that another container was created.
    #[serde(rename = "containerID")]
    pub container_id: Option<String>,
    /// Restarts, image changes included.
    pub restart_count: i64,
    /// Runs and passes its readiness probe, if it has one.
    pub ready: bool,
    /// Passed its startup probe; wrong for a replaced container on kubelets 1.35 to 1.37 (kubernetes#141155).
    pub started: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub state: ContainerState,
    #[serde(deserialize_with = "or_default")]
    pub last_state: ContainerState,
    /// What it has, as the runtime reports it; absent where the node cannot resize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// The requests that the kubelet has kept for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_resources: Option<BTreeMap<String, String>>,
}

impl ContainerStatus {
    pub fn started_at(&self) -> Option<&str> {
        self.state.running.as_ref()?.started_at.as_deref()
    }

    /// Returns whether no container was created yet.
    pub fn has_not_begun(&self) -> bool {
        let (now, before) = (&self.state, &self.last_state);
        let ran = now.running.is_some() || now.terminated.is_some() || before.terminated.is_some();
        self.container_id.is_none() && self.restart_count == 0 && !ran
    }
}

/// One of `running`, `waiting`, `terminated`; none of them means waiting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerState {
    pub running: Option<Running>,
    pub waiting: Option<Waiting>,
    pub terminated: Option<Terminated>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    /// RFC 3339, whole seconds.
    pub started_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Waiting {
    /// Such as `ErrImagePull`.
    pub reason: String,
    /// The kubelet's or the registry's words, without credentials.
    #[serde(deserialize_with = "masked")]
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    pub exit_code: i64,
    /// Signal, where the runtime reports it.
    pub signal: Option<i64>,
    /// Such as `Error`, `Completed`, `StartError`.
    pub reason: String,
    /// The runtime's or the container's own words, without credentials.
    #[serde(deserialize_with = "masked")]
    pub message: String,
    /// RFC 3339, whole seconds.
    pub started_at: Option<String>,
    /// RFC 3339, whole seconds.
    pub finished_at: Option<String>,
    #[serde(rename = "containerID")]
    pub container_id: Option<String>,
}

impl Terminated {
    /// Returns whether it ended like a stopped container: with 0, by SIGTERM, or by SIGKILL that the
    /// kernel did not send for lack of memory.
    pub fn was_stopped(&self) -> bool {
        matches!(self.exit_code, 0 | 137 | 143) && self.reason != "OOMKilled"
    }
}

/// Reads words of others without the credentials in them.
fn masked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(mask::text(&or_default::<D, String>(deserializer)?))
}

fn masked_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|text| mask::text(&text)))
}
