//! The record that a patch writes on the pod that it changes: the baseline of the evidence, and the way back.
//!
//! The annotation `kubectl-inplace.io/update` holds one [`UpdateRecord`] as JSON. Any later run, on any machine, reads
//! from it which containers were changed, from what, and which container ran before.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::change::{HolderChange, ResourcesChange};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{Pod, ResourceHolder};
use crate::state::manager::is_same_writer;

pub const OWN_PREFIX: &str = "kubectl-inplace.io/";

pub const UPDATE_ANNOTATION: &str = "kubectl-inplace.io/update";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateRecord {
    pub id: RolloutId,
    /// The field manager of the patch: when another one set the image since, the record says nothing about it.
    pub manager: String,
    /// The changed containers; none while a pod that was never updated is drained.
    pub containers: BTreeMap<ContainerName, ContainerRecord>,
    /// What is resized, where that restarts a container or is done to pods alone: recorded before the resize is requested,
    /// since the API server drops everything else from a resize.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resized: BTreeMap<ResourceHolder, ResizeRecord>,
    /// The containers that kruise-daemon is asked to restart with the image that they have, and what ran in them before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requested: BTreeMap<ContainerName, ContainerRecord>,
    /// Containers that earlier updates changed and this one did not: the field manager's next write updates the time in
    /// the managed fields, and without these the proof of the earlier updates would be lost with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier: BTreeMap<ContainerName, ContainerRecord>,
    /// What was removed from the pod, so that its Services do not list it. A readiness gate is recorded before it is
    /// turned off, since pod and status are two requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drained: Option<Drained>,
    /// The containers that the same update changes after these, where the user chose an order: not patched yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub later: BTreeMap<ContainerName, LaterChange>,
    /// `--after-pod` was asked for and has not ended well for this pod yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owes_after_pod: bool,
    /// The owner's template is changed too: the owner's history says how the rollout ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durable: bool,
    /// Another run has taken the pod over: requests of the one before test the record without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_over: Option<FencingToken>,
    /// When the images of these containers were set (RFC 3339, the server's time): a later write of the field manager
    /// updates the time in the managed fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set_at: BTreeMap<ContainerName, String>,
}

/// Which run has taken over from which rollout's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FencingToken {
    /// The rollout of the run that held the owner before.
    pub rollout: RolloutId,
    /// The run that holds it since.
    pub run: String,
}

/// The later change of a container whose turn has not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterChange {
    pub from: String,
    pub to: String,
}

/// One start that the kubelet has noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedStart {
    /// The image as the pod asked for it.
    pub image: String,
    /// When the container started, or the one before it ended where none could be created (RFC 3339).
    pub at: String,
}

/// What a pod is drained by: it is removed, and has to be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Drained {
    /// A label that its Services select.
    Label(DrainedLabel),
    Gate(DrainedGate),
}

/// A readiness gate that is turned off for a pod, and has to be restored: its condition while it was `True`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrainedGate {
    pub gate: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A label that was removed from a pod, and has to be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrainedLabel {
    pub key: String,
    pub value: String,
}

/// One container that is resized, or the pod as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResizeRecord {
    #[serde(flatten)]
    pub change: HolderChange,
    /// `status.containerStatuses[].containerID` before.
    #[serde(rename = "containerID", default, skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// `status.containerStatuses[].restartCount` before, where a container was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerRecord {
    pub from: String,
    pub to: String,
    /// `status.containerStatuses[].imageID` before.
    #[serde(rename = "imageID", default, skip_serializing_if = "String::is_empty")]
    pub image_id: String,
    /// `status.containerStatuses[].containerID` before; absent when none had been created.
    #[serde(rename = "containerID", default, skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// `status.containerStatuses[].restartCount` before, where a container was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<i64>,
    /// The waiting reason before, if it waited: the kubelet goes on showing it for a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
    /// No container was ever created from `from`: its image could not be pulled, and the recorded container is an older
    /// one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_ran: bool,
    /// The image of the recorded container, where `from` had been asked for since and no container of it was seen yet:
    /// one may still come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<String>,
    /// Since when the container has been down (RFC 3339), where an earlier patch of the same rollout has stopped it and
    /// no other one has run since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_since: Option<String>,
    /// The starts before this update that the kubelet may still count for its back-off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<NotedStart>,
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => write!(f, "label {}", label.key),
            Self::Gate(gate) => write!(f, "readiness gate {}", gate.gate),
        }
    }
}

impl UpdateRecord {
    /// Returns the record of a pod that was never updated, or whose record is gone: the field manager's next write
    /// updates the time of the images that it has set, so that time is recorded.
    pub fn of_no_update(pod: &Pod, field_manager: &str) -> Self {
        let ours =
            pod.image_set.iter().filter(|(_, set)| is_same_writer(&set.manager, field_manager) && !set.time.is_empty());
        Self {
            manager: field_manager.to_owned(),
            set_at: ours.map(|(name, set)| (name.clone(), set.time.clone())).collect(),
            ..Self::default()
        }
    }

    /// Returns whether it holds nothing any more.
    pub fn is_empty(&self) -> bool {
        !self.is_of_update() && self.drained.is_none() && self.taken_over.is_none()
    }

    /// Returns whether it records an update: a record that says that the pod is drained, or was taken over, does not.
    pub fn is_of_update(&self) -> bool {
        self.changes_pods() || !self.requested.is_empty()
    }

    /// Returns whether it records what can be taken back: a restart by request changes nothing of the pod.
    pub fn changes_pods(&self) -> bool {
        !self.containers.is_empty() || !self.resized.is_empty()
    }

    pub fn resources(&self) -> ResourcesChange {
        ResourcesChange(self.resized.iter().map(|(holder, record)| (holder.clone(), record.change.clone())).collect())
    }

    /// Returns the record of a container that restarts for its resize.
    pub fn restarts_by_resize(&self, name: &ContainerName) -> Option<&ResizeRecord> {
        self.resized.get(&name.into()).filter(|record| !record.change.restarting.is_empty())
    }

    /// Returns the baseline of a container that restarts for its resize, or by request, as if its image had been set
    /// again: `None` where its image was changed after it.
    pub fn restart_baseline(&self, pod: &Pod, name: &ContainerName) -> Option<ContainerRecord> {
        if let Some(record) = self.requested.get(name) {
            return pod.spec_of(name).filter(|container| container.image == record.to).map(|_| record.clone());
        }
        let record = self.restarts_by_resize(name)?;
        let (_, _, container) = pod.container(name).filter(|_| !self.containers.contains_key(name))?;
        let status = pod.status_of(name);
        Some(ContainerRecord {
            from: container.image.clone(),
            to: container.image.clone(),
            image_id: status.map(|status| status.image_id.clone()).unwrap_or_default(),
            container_id: record.container_id.clone(),
            restarts: record.restarts,
            ..ContainerRecord::default()
        })
    }

    /// Returns whether it records all of a resize that the pod does not ask for yet, and the containers that run before
    /// it.
    pub fn notes_resize(&self, unasked: &ResourcesChange, pod: &Pod) -> bool {
        unasked.0.iter().all(|(holder, change)| {
            let Some(noted) = self.resized.get(holder) else { return false };
            let same = change.values.iter().all(|(field, value)| noted.change.values.get(field) == Some(value));
            let is_before = || holder.container().is_none_or(|name| self.is_before_its_resize(pod, name));
            same && (change.restarting.is_empty() || is_before())
        })
    }

    /// Returns whether a container was restarted twice: first by its cpu or memory, and then by its image.
    pub fn restarts_twice(&self, name: &ContainerName) -> bool {
        self.restarts_by_resize(name).is_some() && self.containers.contains_key(name)
    }

    /// Returns whether a container that restarts for its resize is still the old one; not where its image was
    /// changed after it.
    pub fn is_before_its_resize(&self, pod: &Pod, name: &ContainerName) -> bool {
        let status = pod.status_of(name);
        let before = self.restarts_by_resize(name).filter(|_| !self.containers.contains_key(name));
        before.zip(status).is_some_and(|(record, status)| record.container_id == status.container_id)
    }

    /// Reads the record of a pod as it was written; an annotation that this program cannot read counts as none.
    pub fn of(pod: &Pod) -> Option<Cow<'_, Self>> {
        let text = pod.annotations.get(UPDATE_ANNOTATION)?;
        let read = |text: &str| serde_json::from_str::<Self>(text).ok();
        match pod.memo.get(text, read) {
            Some(record) => record.as_ref().map(Cow::Borrowed),
            None => read(text).map(Cow::Owned),
        }
    }

    /// Reads the record of a pod, where it is of that rollout.
    pub fn of_rollout<'p>(pod: &'p Pod, id: &RolloutId) -> Option<Cow<'p, Self>> {
        Self::of(pod).filter(|record| record.id == *id)
    }

    /// Reads the record of a pod, and adds when each image was set.
    pub fn complete(pod: &Pod) -> Option<Self> {
        let record = Self::of(pod)?.into_owned();
        let updated: BTreeSet<&ContainerName> = record.containers.keys().chain(record.earlier.keys()).collect();
        let set_at = updated.iter().filter_map(|name| {
            record.baseline(pod, name)?;
            let noted = record.set_at.get(*name);
            Some(((*name).clone(), noted.or_else(|| Some(&pod.image_set.get(*name)?.time))?.clone()))
        });
        // Without a record, only the manager that set the image shows whether the note belongs to it.
        let alone = record.set_at.iter().filter(|(name, _)| {
            !updated.contains(name)
                && pod.image_set.get(*name).is_some_and(|set| is_same_writer(&set.manager, &record.manager))
        });
        let set_at = set_at.chain(alone.map(|(name, at)| (name.clone(), at.clone()))).collect();
        Some(Self { set_at, ..record })
    }

    /// Returns when the image of a container was set: the record holds the time before a later write of its field
    /// manager, the managed fields that of the last write.
    pub fn set_at(pod: &Pod, name: &ContainerName) -> Option<String> {
        let noted = Self::complete(pod).and_then(|mut record| record.set_at.remove(name));
        noted.or_else(|| Some(pod.image_set.get(name)?.time.clone()))
    }

    /// Returns whether `--after-pod` of this rollout has not ended well for the pod yet.
    pub fn owes_after_pod(pod: &Pod, id: &RolloutId) -> bool {
        Self::of_rollout(pod, id).is_some_and(|record| record.owes_after_pod)
    }

    /// Reads what was removed from a pod, or is about to be, and has to be restored.
    pub fn drained(pod: &Pod) -> Option<Drained> {
        Self::of(pod)?.drained.clone()
    }

    /// Returns the record of one container if it still explains the image that the pod asks for now: nobody has
    /// set another image since, nor the same one again.
    pub fn container<'r>(&'r self, pod: &Pod, name: &ContainerName) -> Option<&'r ContainerRecord> {
        self.explained(pod, name, self.containers.get(name)?)
    }

    /// Returns what ran in a container before this update of its image, or else before its restart for another reason.
    pub fn before(&self, pod: &Pod, name: &ContainerName) -> Option<ContainerRecord> {
        self.container(pod, name).cloned().or_else(|| self.restart_baseline(pod, name))
    }

    /// Returns the baseline of a container: this update's record of it, or that of an earlier one.
    pub fn baseline<'r>(&'r self, pod: &Pod, name: &ContainerName) -> Option<&'r ContainerRecord> {
        self.container(pod, name).or_else(|| self.explained(pod, name, self.earlier.get(name)?))
    }

    fn explained<'r>(
        &self,
        pod: &Pod,
        name: &ContainerName,
        record: &'r ContainerRecord,
    ) -> Option<&'r ContainerRecord> {
        let container = pod.spec_of(name)?;
        let ours = pod.image_set.get(name).is_none_or(|set| is_same_writer(&set.manager, &self.manager));
        (container.image == record.to && ours).then_some(record)
    }
}
