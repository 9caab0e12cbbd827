//! Of the changes, those of cpu and memory: of the containers, and of the pod as a whole.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{FieldChange, FieldChanges, FieldEffect, PodResourcesChange, ResourcesChange, pod_resources, resources};
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerList, Pod, Resources};
use crate::value::kubelet_version::KubeletVersion;

/// The first version whose API server resizes pods unless the feature gate is off (KEP-1287, beta).
const RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 33);

/// The first version whose API server lowers a memory limit, or adds one, without a restart of the container.
const LOWER_MEMORY_SINCE: KubeletVersion = KubeletVersion::new(1, 34);

/// The first version whose API server and kubelet resize init containers that have done their work (beta: gate
/// `InPlacePodVerticalScalingInitContainers`).
pub const INIT_RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 36);

/// The first version whose API server and kubelet resize pods that have cpu and memory as a whole, in these and in those of
/// their containers (beta: gate `InPlacePodLevelResourcesVerticalScaling`).
const POD_RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 36);

impl FieldChanges {
    /// Returns the same, as a server and kubelets of these versions do it.
    #[must_use]
    pub fn done_by<'v>(mut self, versions: impl IntoIterator<Item = &'v KubeletVersion>) -> Self {
        let mut versions = versions.into_iter().peekable();
        if versions.peek().is_some() && versions.all(|version| *version >= INIT_RESIZE_SINCE) {
            self.resources.reaches_init_containers();
        }
        self
    }

    /// Returns whether it changes cpu or memory.
    pub fn resizes(&self) -> bool {
        !self.resources.is_empty() || !self.pod_resources.is_empty()
    }

    /// Returns whether pods keep cpu or memory that the template changes.
    pub fn keeps_resized(&self) -> bool {
        self.of_resize().rows().iter().any(|row| row.effect == FieldEffect::LaterPods)
    }

    /// Returns whether it changes cpu or memory of an init container of pods that run.
    pub fn resizes_init_containers(&self) -> bool {
        let mut containers = self.resources.0.values();
        containers.any(|change| change.list == ContainerList::InitContainers && !change.is_plain_init)
    }

    /// Returns whether it changes cpu or memory of the pod as a whole.
    pub fn resizes_as_a_whole(&self) -> bool {
        !self.pod_resources.is_empty()
    }

    /// Returns only the changes of cpu and memory.
    #[must_use]
    pub fn of_resize(&self) -> Self {
        let (resources, pod_resources) = (self.resources.clone(), self.pod_resources.clone());
        Self { resources, pod_resources, ..Self::default() }
    }

    /// Returns the changes of cpu and memory that a pod does not ask for yet.
    #[must_use]
    pub fn unasked_in(&self, pod: &Pod) -> Self {
        let (resources, pod_resources) = (self.resources.unasked_in(pod), self.pod_resources.unasked_in(pod));
        Self { resources, pod_resources, ..Self::default() }
    }

    /// Returns the changes of cpu and memory that a pod asks for now: whatever else it asks for, somebody has set since.
    #[must_use]
    pub fn in_force(&self, pod: &Pod) -> Self {
        let (resources, pod_resources) = (self.resources.in_force(pod), self.pod_resources.in_force(pod));
        Self { resources, pod_resources, ..Self::default() }
    }

    /// Returns the same the other way round.
    #[must_use]
    pub fn turned_round(&self) -> Self {
        self.reversed()
    }

    /// Returns what a pod has of cpu and memory in place of what its template says, `from` the template's: a resize of the pod
    /// alone, or a webhook's.
    #[must_use]
    pub fn drift(template: &Value, pod: &Pod) -> Self {
        let resources = resources::drift(template, pod);
        Self { resources, pod_resources: PodResourcesChange::drift(template, pod), ..Self::default() }
    }

    /// Returns whether a pod has another quality of service class than its template, and keeps it: it has values that the
    /// template does not say, from a LimitRange.
    pub fn keeps_class(&self, pod: &Pod, of_template: &str) -> bool {
        pod_resources::keeps_class(self, pod, of_template)
    }

    /// Returns the pod as it would ask for cpu and memory.
    #[must_use]
    pub fn asked_of(&self, pod: &Pod) -> Pod {
        let mut asked = pod.clone();
        self.resources.ask(&mut asked);
        self.pod_resources.ask(&mut asked);
        asked
    }

    /// Returns what the server would set in the containers of a pod besides, by path, where it answers a resize with this pod.
    pub fn added_by_admission(&self, pod: &Pod, answer: &Pod) -> Vec<(String, Option<String>)> {
        resources::added(&self.asked_of(pod), answer)
    }

    /// Returns the containers of a pod that restart for a resize that it does not ask for yet.
    pub fn restarting_in(&self, pod: &Pod) -> BTreeSet<ContainerName> {
        self.resources.restarting_in(pod)
    }

    /// Returns the containers that have restarted for a resize that was noted, and that this is the same as.
    pub fn restarted_by(&self, noted: &ResourcesChange) -> Vec<ContainerName> {
        noted.restarting().filter(|name| self.resources.asks_the_same(noted, name)).cloned().collect()
    }

    /// Returns the containers that restart without another image.
    pub fn restarting(&self) -> impl Iterator<Item = &ContainerName> {
        self.resources.restarting()
    }

    /// Returns the containers whose cpu or memory changes.
    pub fn resized(&self) -> impl Iterator<Item = &ContainerName> {
        self.resources.0.keys()
    }

    /// Returns the first version of the API server that can do it in pods with this spec, where not every one can.
    pub fn oldest_server(&self, spec: &Value) -> Option<KubeletVersion> {
        let values = |map| spec.pointer(&format!("/resources/{map}")).and_then(Value::as_object);
        let is_sized_as_a_whole = Resources::MAPS.into_iter().filter_map(values).any(|values| !values.is_empty());
        let since = match () {
            () if !self.pod_resources.is_empty() || is_sized_as_a_whole => POD_RESIZE_SINCE,
            () if self.resources.lowers_memory_limit() => LOWER_MEMORY_SINCE,
            () => RESIZE_SINCE,
        };
        self.resizes().then_some(since)
    }

    /// Returns why no pod can be made as the template says it, where that follows from what changes here.
    pub fn refused_of_template(&self, template: &Value) -> Vec<Reason> {
        if self.resizes() { pod_resources::of_template(template) } else { Vec::new() }
    }
}
