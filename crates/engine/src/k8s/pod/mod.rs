//! A pod as this program needs it: a small part of the API's, read with serde, about 8 KiB instead of 77.
//!
//! Promise: a field that is not read here is never written either: patches name single paths (`rollout/patch`).

mod container;
mod managed_fields;
mod memo;
mod resources;
mod restart_policy;
mod status;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use container::{
    Container, ContainerList, ContainerPort, EnvFrom, EnvVar, EnvVarSource, ExitCodes, FieldRef, Lifecycle, NameRef,
    PreStop, Probe, RestartRule, Sleep,
};
pub use managed_fields::PastResize;
pub use memo::Memo;
use resources::quantities;
pub use resources::{ResizePolicy, ResourceHolder, Resources};
pub use restart_policy::{RestartPolicy, StaysDown};
pub use status::{Condition, ContainerState, ContainerStatus, PodStatus, Running, Terminated, Waiting};

use crate::k8s::names::{ContainerName, PodKey, Uid};
use crate::kinds::WorkloadKind;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pod {
    pub key: PodKey,
    /// `metadata.resourceVersion`: a decimal number since the API promises it to be comparable (KEP-5504), and in
    /// practice ever since etcd 3; 0 when it is none.
    pub resource_version: u64,
    /// `metadata.generation`; absent before 1.33.
    pub generation: Option<i64>,
    /// `metadata.creationTimestamp`, RFC 3339, whole seconds.
    pub created: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    /// `metadata.ownerReferences`, in the API's order (patches test by index).
    pub owners: Vec<OwnerReference>,
    /// `metadata.deletionTimestamp` is set: the kubelet ignores a changed image from then on.
    pub terminating: bool,
    /// Who set each container's image and when, from `metadata.managedFields`. What admission sets has no entry.
    pub image_set: BTreeMap<ContainerName, ImageSet>,
    /// `metadata.managedFields` go back to its creation: whoever has set an image since has an entry.
    #[serde(default)]
    pub tracked: bool,
    /// What was resized of it, from `metadata.managedFields`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resized: BTreeMap<ResourceHolder, PastResize>,
    /// Who has written the conditions of its readiness gates, by type, from `metadata.managedFields`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gate_writers: BTreeMap<String, BTreeSet<String>>,
    pub spec: PodSpec,
    pub status: PodStatus,
    /// What was read from its annotations before.
    #[serde(skip)]
    pub memo: Memo,
}

/// Who set the image of a container last, as `metadata.managedFields` shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSet {
    pub manager: String,
    /// When that manager last changed any of its fields of this pod, RFC 3339, whole seconds.
    pub time: String,
}

impl ImageSet {
    /// Returns whether the image is still the one that a pod of this creation time was created with.
    pub fn is_of_creation(&self, created: &str) -> bool {
        managed_fields::is_of_creation(&self.manager, &self.time, created)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    pub api_version: String,
    /// The owner's kind, such as `ReplicaSet`.
    pub kind: String,
    pub name: String,
    pub uid: Uid,
    pub controller: bool,
}

impl OwnerReference {
    pub fn is(&self, kind: WorkloadKind) -> bool {
        WorkloadKind::of_owner(&self.api_version, &self.kind) == Some(kind)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node; empty while the pod is not scheduled.
    pub node_name: String,
    /// `Always`, `OnFailure` or `Never`; the API's default is `Always`.
    pub restart_policy: String,
    /// Seconds between SIGTERM and SIGKILL; the API's default is 30.
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub image_pull_secrets: Vec<NameRef>,
    /// The ServiceAccount; the API's default is `default`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub service_account_name: String,
    /// Conditions that must be `True`, besides `ContainersReady`, for the pod to be ready. Fixed when the pod is made.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub readiness_gates: Vec<ReadinessGate>,
    /// The taints that it tolerates: its template's, and those that admission and controllers add.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Of the pod as a whole (1.34).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// The operating system of its containers, `linux` or `windows`, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<NameRef>,
    /// What a pod of its RuntimeClass costs besides its containers, by resource.
    #[serde(deserialize_with = "quantities", skip_serializing_if = "BTreeMap::is_empty")]
    pub overhead: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub init_containers: Vec<Container>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The taint's key; empty with `Exists` for every taint.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// `Exists` or `Equal`, which is the default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operator: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The taint's effect; empty for every one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub effect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// A readiness gate: a condition that somebody other than the kubelet writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadinessGate {
    pub condition_type: String,
}

/// Reads `null` as nothing, as Go does.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Metadata as the watch delivers it, before the parts that are not needed are dropped.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    namespace: String,
    name: String,
    uid: Uid,
    resource_version: String,
    creation_timestamp: String,
    generation: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    owner_references: Vec<OwnerReference>,
    deletion_timestamp: Option<String>,
    #[serde(deserialize_with = "or_default")]
    managed_fields: Vec<Value>,
}

impl Pod {
    /// Reads a pod as the API serves it.
    pub fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
        let part = |name: &str| {
            object.get(name).filter(|part| !part.is_null()).cloned().unwrap_or(Value::Object(serde_json::Map::new()))
        };
        Self::from_parts(
            part("metadata"),
            serde_json::from_value(part("spec"))?,
            serde_json::from_value(part("status"))?,
        )
    }

    /// Puts a pod together from its metadata, as JSON, and the typed rest.
    pub fn from_parts(metadata: Value, mut spec: PodSpec, mut status: PodStatus) -> Result<Self, serde_json::Error> {
        spec.containers.shrink_to_fit();
        spec.init_containers.shrink_to_fit();
        status.container_statuses.shrink_to_fit();
        status.init_container_statuses.shrink_to_fit();
        status.conditions.shrink_to_fit();
        let metadata: Metadata = serde_json::from_value(metadata)?;
        let image_set = managed_fields::image_set(&metadata.managed_fields);
        let tracked = managed_fields::is_tracked(&metadata.managed_fields, &metadata.creation_timestamp);
        let resized = managed_fields::resized(&metadata.managed_fields);
        let gate_writers = managed_fields::gate_writers(&metadata.managed_fields, &spec.readiness_gates);
        Ok(Self {
            key: PodKey { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
            resource_version: metadata.resource_version.parse().unwrap_or(0),
            generation: metadata.generation,
            created: metadata.creation_timestamp,
            labels: metadata.labels,
            annotations: metadata.annotations,
            owners: metadata.owner_references,
            terminating: metadata.deletion_timestamp.is_some(),
            image_set,
            tracked,
            resized,
            gate_writers,
            spec,
            status,
            memo: Memo::default(),
        })
    }

    pub fn is_scheduled(&self) -> bool {
        !self.spec.node_name.is_empty()
    }

    /// Returns whether nothing of it has ever run: no node has taken it.
    pub fn is_unstarted(&self) -> bool {
        let status = &self.status;
        !self.is_scheduled() && status.container_statuses.is_empty() && status.init_container_statuses.is_empty()
    }

    /// Returns whether an init container has not done its work, so that no other container begins.
    pub fn waits_for_init_containers(&self) -> bool {
        self.condition("Initialized").is_some_and(|condition| condition.status == "False")
    }

    /// Returns the scheduler's words where it finds no node for the pod.
    pub fn unscheduled(&self) -> Option<&str> {
        let condition = self.condition("PodScheduled").filter(|condition| condition.status == "False")?;
        Some(condition.message.as_deref().or(condition.reason.as_deref()).unwrap_or_default())
    }

    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners.iter().find(|owner| owner.controller)
    }

    pub fn is_controlled_by(&self, owners: &BTreeSet<Uid>) -> bool {
        self.controller().is_some_and(|owner| owners.contains(&owner.uid))
    }

    /// Returns whether one of these controls it; or nobody does, where there are none.
    pub fn belongs_to(&self, controllers: &BTreeSet<Uid>) -> bool {
        self.controller().map_or(controllers.is_empty(), |owner| controllers.contains(&owner.uid))
    }

    /// Finds a container by name: its list, its index there, and itself.
    pub fn container(&self, name: &ContainerName) -> Option<(ContainerList, usize, &Container)> {
        let within = |list: ContainerList| {
            self.containers(list).iter().enumerate().find(|(_, c)| c.name == *name).map(|(index, c)| (list, index, c))
        };
        within(ContainerList::Containers).or_else(|| within(ContainerList::InitContainers))
    }

    pub fn spec_of(&self, name: &ContainerName) -> Option<&Container> {
        self.container(name).map(|(_, _, container)| container)
    }

    pub fn containers(&self, list: ContainerList) -> &[Container] {
        match list {
            ContainerList::Containers => &self.spec.containers,
            ContainerList::InitContainers => &self.spec.init_containers,
        }
    }

    pub fn all_containers(&self) -> impl Iterator<Item = (ContainerList, &Container)> + Clone {
        let containers = self.spec.containers.iter().map(|container| (ContainerList::Containers, container));
        containers.chain(self.spec.init_containers.iter().map(|container| (ContainerList::InitContainers, container)))
    }

    pub fn long_lived_containers(&self) -> impl Iterator<Item = &Container> + Clone {
        let long_lived = self.all_containers().filter(|(list, container)| container.is_long_lived(*list));
        long_lived.map(|(_, container)| container)
    }

    pub fn statuses(&self, list: ContainerList) -> &[ContainerStatus] {
        match list {
            ContainerList::Containers => &self.status.container_statuses,
            ContainerList::InitContainers => &self.status.init_container_statuses,
        }
    }

    pub fn all_statuses(&self) -> impl Iterator<Item = &ContainerStatus> {
        self.status.container_statuses.iter().chain(&self.status.init_container_statuses)
    }

    /// Finds a container's status by name: its list, its index there, and itself.
    pub fn container_status(&self, name: &ContainerName) -> Option<(ContainerList, usize, &ContainerStatus)> {
        let within = |list: ContainerList| {
            self.statuses(list).iter().enumerate().find(|(_, c)| c.name == *name).map(|(index, c)| (list, index, c))
        };
        within(ContainerList::Containers).or_else(|| within(ContainerList::InitContainers))
    }

    pub fn status_of(&self, name: &ContainerName) -> Option<&ContainerStatus> {
        self.container_status(name).map(|(_, _, status)| status)
    }

    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    pub fn ready_condition(&self) -> Option<&Condition> {
        self.condition("Ready")
    }

    pub fn is_ready(&self) -> bool {
        self.ready_condition().is_some_and(|condition| condition.status == "True")
    }

    /// Returns the node that is not ready, where that alone makes the pod so: the node lifecycle controller sets `Ready` and
    /// nothing else (`MarkPodsNotReady`), while a kubelet sets it with `ContainersReady` and the readiness gates.
    pub fn unready_node(&self) -> Option<&str> {
        let is_true = |kind: &str| self.condition(kind).is_some_and(|condition| condition.status == "True");
        let is_set = self.ready_condition().is_some_and(|ready| ready.status != "True");
        let gates = self.spec.readiness_gates.iter().all(|gate| is_true(&gate.condition_type));
        let is_by_node = is_set && is_true("ContainersReady") && gates && !self.is_finished();
        Some(self.spec.node_name.as_str()).filter(|node| is_by_node && !node.is_empty())
    }

    /// Returns why the pod is taken away, where its condition `DisruptionTarget` says so (eviction, preemption, a node that
    /// is lost, pressure on its node).
    pub fn disruption(&self) -> Option<String> {
        let is_it = |condition: &&Condition| condition.kind == "DisruptionTarget" && condition.status == "True";
        let condition = self.status.conditions.iter().find(is_it)?;
        let reason = condition.reason.as_deref().unwrap_or("DisruptionTarget");
        let what = match reason {
            "EvictionByEvictionAPI" => "it was evicted",
            "PreemptionByScheduler" => "it was preempted",
            _ => "it was disrupted",
        };
        match condition.message.as_deref().filter(|message| !message.is_empty()) {
            Some(message) => Some(format!("{what} ({reason}): {message}")),
            None => Some(format!("{what} ({reason})")),
        }
    }

    /// Returns whether it is there, and neither on its way out nor finished.
    pub fn is_present(&self) -> bool {
        !self.terminating && !self.is_finished()
    }

    /// Returns whether the pod has ended for good; the kubelet restarts nothing in it any more.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Returns the seconds between SIGTERM and SIGKILL.
    pub fn termination_grace_seconds(&self) -> u64 {
        // A server takes any number; what is reckoned with it has to stay within bounds.
        let seconds = self.spec.termination_grace_period_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        seconds.unwrap_or(30).min(u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
