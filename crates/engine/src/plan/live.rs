//! What a plan is made from: the live objects, and what the user chose.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::image_in;
use crate::change::reason::Reason;
use crate::k8s::names::{ContainerName, Uid, WorkloadRef};
use crate::k8s::permissions::ClusterCommand;
use crate::k8s::pod::{Container, Pod};
use crate::k8s::restart;
use crate::k8s::workload::Workload;
use crate::rollout::drain::DrainBy;
use crate::rollout::pre_pull::PrePull;
use crate::state::durable::lease::ProcessState;
use crate::state::hook::Hooks;
use crate::state::policy::PodOrder;
use crate::state::record::UpdateRecord;
use crate::value::int_or_percent::IntOrPercent;
use crate::value::kubelet_version::KubeletVersion;

#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The owner, or the pod itself.
    pub workload: Workload,
    /// The uids that control its pods: a Deployment's ReplicaSets, or the owner's own; a pod's controller.
    pub controllers: BTreeSet<Uid>,
    pub pods: Vec<Pod>,
    /// The kubelets of the pods' nodes, where they were needed and could be read.
    pub kubelets: BTreeMap<String, KubeletVersion>,
    pub not_read: Vec<String>,
    pub surroundings: Surroundings,
}

impl Snapshot {
    pub fn kubelet_of(&self, pod: &Pod) -> Option<KubeletVersion> {
        self.kubelets.get(&pod.spec.node_name).copied()
    }

    /// Returns what follows where the server could not be asked what it makes of the template.
    pub(crate) fn not_made(&self) -> Option<String> {
        let Surroundings { made, made_next, .. } = &self.surroundings;
        let why = [made, made_next].into_iter().find_map(|made| match made {
            AdmittedPod::NotKnown(why) => Some(why),
            AdmittedPod::Pod(_) | AdmittedPod::NotAsked => None,
        });
        why.map(|why| format!(
            "what the server makes of the template could not be asked ({why}), so it is not known whether its admission makes pods differ from it"
        ))
    }

    /// Returns the image that the server gives pods in place of the template's present image, or of the one that the plan
    /// gives it; `None` where it changes nothing, or nothing is known of it.
    pub fn in_pods(&self, name: &ContainerName, image: &str) -> Option<&str> {
        let Surroundings { made, made_next, .. } = &self.surroundings;
        let is_present = image_in(self.workload.template(), name) == Some(image);
        let made = if is_present { made } else { made_next };
        made.image(name).filter(|made| *made != image)
    }

    /// Returns the owner's pods that exist, are not terminating and have not ended.
    pub(crate) fn present_pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(|pod| pod.is_controlled_by(&self.controllers) && pod.is_present())
    }

    pub fn is_image(&self, name: &ContainerName, template: &str, image: &str) -> bool {
        image == template || self.in_pods(name, template) == Some(image)
    }

    /// Returns whether a container of a pod has another text than the template, and only pins what that asks for, or what
    /// the server makes of it: the pod was restarted in place.
    pub(crate) fn is_pin(&self, pod: &Pod, container: &Container, template: &str) -> bool {
        let made = self.in_pods(&container.name, template);
        is_pin(template, pod, container) || made.is_some_and(|made| is_pin(made, pod, container))
    }
}

pub(crate) fn is_pin(template: &str, pod: &Pod, container: &Container) -> bool {
    let record = UpdateRecord::of(pod);
    let before = record.as_ref().and_then(|record| record.baseline(pod, &container.name));
    let image_id = pod.status_of(&container.name).map(|status| status.image_id.as_str());
    let before = before.map(|record| record.from.as_str());
    restart::is_pinned(template, &container.image, image_id.unwrap_or_default(), before)
}

/// What else of the cluster bears on a workload. Each part may be missing: then no warning is given about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surroundings {
    /// The ReplicaSets or ControllerRevisions that the owner controls, whole.
    pub owned: Vec<Value>,
    /// The Deployment that controls this ReplicaSet has a newer one.
    pub newer_in_deployment: Option<String>,
    pub budgets: Vec<Value>,
    pub services: Vec<Value>,
    /// Other objects of the namespace that select pods, without the owner and what belongs to it; `None` where they
    /// were not read: then no pod is drained.
    pub selecting: Option<Vec<Value>>,
    /// Why the caller may not write the status of pods, in the server's words, which may be empty; `None` where it may, or
    /// where it was not asked because no pod is drained by a readiness gate.
    pub pod_status_denied: Option<String>,
    pub autoscalers: Vec<Value>,
    /// The VerticalPodAutoscalers of the namespace, read only where cpu or memory changes.
    pub vertical_autoscalers: Vec<Value>,
    pub made: AdmittedPod,
    /// What the server makes of a pod of the template that the plan leads to.
    pub made_next: AdmittedPod,
    /// The server's time when the workload was read (RFC 3339), where the answer had it.
    pub server_now: Option<String>,
    /// What this machine reports of the process that holds the workload.
    pub holder: ProcessState,
    /// The version of the API server; `None` where it is not known: then no warning is given about it.
    pub server: Option<KubeletVersion>,
    /// The time when the cluster was read (RFC 3339), by the server's clock where the answer had it; `None` where it is
    /// not known.
    pub now: Option<String>,
    /// Why the nodes could not be read: it matters to sidecars, to startup probes, and where kubelets are shown.
    pub nodes_not_read: Option<String>,
    /// The revisions of a StatefulSet or DaemonSet may not be listed: only a durable rollout needs them.
    pub revisions_denied: Option<Denied>,
    /// What the caller may not read, without which it is unknown what would happen.
    pub denied: Vec<Denied>,
}

/// What the server would make of a pod of the owner's template: admission may change it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum AdmittedPod {
    /// No pod differs from the template, or nobody needs to know.
    #[default]
    NotAsked,
    Pod(Box<Pod>),
    NotKnown(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    pub verb: String,
    pub resource: String,
    pub message: String,
    /// The Role that has it: the words after `kubectl inplace rbac`. `None` where any command reads it.
    pub role: Option<String>,
}

impl Denied {
    pub fn reason(&self, workload: &WorkloadRef) -> Reason {
        let reads = || format!("{} {}", ClusterCommand::Plan.word(), workload.kind.spec().singular);
        Reason::PermissionMissing {
            verb: self.verb.clone(),
            resource: self.resource.clone(),
            namespace: workload.namespace.clone(),
            message: self.message.clone(),
            role: self.role.clone().unwrap_or_else(reads),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subset {
    /// `--pods`: their names; all unless given.
    pub pods: BTreeSet<String>,
    pub node: Option<String>,
    pub partition: Option<u32>,
}

impl Subset {
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    pub max_unavailable: Option<IntOrPercent>,
    pub min_ready_seconds: Option<u32>,
    /// `--timeout`, seconds.
    pub timeout: Option<u64>,
    /// `--total-timeout`, seconds.
    pub total_timeout: Option<u64>,
    /// `--pods-only`: the owner stays unchanged.
    pub pods_only: bool,
    /// `--disruption-budget`, where it was given: whether budgets are respected.
    pub respects_budgets: Option<bool>,
    pub pre_pull: PrePull,
    /// `--drain`, where it was given.
    pub drain: Option<DrainBy>,
    /// `--drain-seconds`, where it was given.
    pub drain_seconds: Option<u32>,
    /// The kubelets' versions are shown (`plan -o wide`).
    pub shows_kubelets: bool,
    pub canary: Option<IntOrPercent>,
    /// `--pause-after`, pods.
    pub pause_after: Option<u32>,
    pub order: PodOrder,
    pub container_order: Vec<ContainerName>,
    pub hooks: Hooks,
    pub subset: Subset,
    /// `--take-over`: a run that still holds the workload does not count.
    pub take_over: bool,
}
