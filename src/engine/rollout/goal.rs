//! What is wanted, and what was before.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::engine::durable::OwnerGoal;
use crate::engine::durable::change::TemplateChange;
use crate::engine::hook::Hooks;
use crate::engine::metadata::MetadataChange;
use crate::engine::names::{ContainerName, PodKey, RolloutId, Uid, WorkloadRef};
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::pre_pull::{PrePull, Pull};
use crate::engine::record::Drained;

/// What is wanted of one workload's pods: made by the plan, or by `follow` from the live pods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The rollout's id.
    pub id: RolloutId,
    /// The workload.
    pub workload: WorkloadRef,
    /// Acts, or only watches.
    pub mode: Mode,
    /// The uids that may control the pods (a Deployment's ReplicaSets); empty for pods that nobody controls.
    pub controllers: BTreeSet<Uid>,
    /// How many pods the owner wants: those that are missing count as down.
    pub replicas: u32,
    /// The pods that the plan showed, in the order in which they are taken; no other pod is touched.
    pub pods: Vec<PodGoal>,
    /// How fast, how careful.
    pub policy: Policy,
    /// The field manager of the patches.
    pub field_manager: String,
    /// What has to be pulled first, by node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulls: Vec<Pull>,
    /// `--pre-pull`.
    #[serde(default)]
    pub pre_pull: PrePull,
    /// The person's own commands around each pod.
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    /// What is wanted of the owner, where its template goes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerGoal>>,
}

impl Goal {
    /// Returns whether pods that pull may be there: of this run, or left by another.
    pub fn looks_for_pull_pods(&self) -> bool {
        !self.pulls.is_empty() || self.pre_pull != PrePull::Never && self.mode != Mode::Follow
    }
}

/// Whether a rollout acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Changes the owner's template and the pods.
    Durable,
    /// Patches pods and leaves the owner's template.
    PodsOnly,
    /// Only watches.
    Follow,
}

/// What is wanted of one pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodGoal {
    /// The very pod.
    pub key: PodKey,
    /// Its containers that change, or that are followed.
    pub containers: BTreeMap<ContainerName, ContainerGoal>,
    /// Labels and annotations that change: in place, without a restart.
    #[serde(default, skip_serializing_if = "MetadataChange::is_empty")]
    pub metadata: MetadataChange,
    /// How it is taken out of its Services first, if it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainGoal>,
}

/// How a pod is taken out of its Services before a container of it restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrainGoal {
    /// What goes off, and is put back.
    pub by: Drained,
    /// The Services that list the pod by it.
    pub services: Vec<String>,
}

/// What is wanted of one container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerGoal {
    /// The image that the plan saw; any other than this and `to` was set by somebody else meanwhile.
    pub from: Option<String>,
    /// The image wanted; `None` follows whatever the pod asks for.
    pub to: Option<String>,
    /// The container restarts when its image changes: it runs for the pod's whole life. Plain init containers do not.
    pub restarts: bool,
}

impl ContainerGoal {
    /// Returns what a template's change wants of the containers of a pod that was made from the template.
    pub fn of_change(change: &TemplateChange, pod: &Pod) -> BTreeMap<ContainerName, Self> {
        let wanted = change.images.iter().filter_map(|(name, image)| {
            let (list, _, container) = pod.container(name)?;
            let restarts = list == ContainerList::Containers || container.is_sidecar();
            let goal = Self { from: Some(container.image.clone()), to: Some(image.to.clone()), restarts };
            Some((name.clone(), goal))
        });
        wanted.collect()
    }
}

/// How fast and how careful.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Pods down at once, at least 1.
    pub max_unavailable: u32,
    /// `--min-ready-seconds`: overrides every other rule about how long ready must hold, and the canary.
    pub min_ready_seconds_given: Option<u32>,
    /// The owner's `minReadySeconds`.
    pub owner_min_ready_seconds: u32,
    /// `--timeout` in seconds, per pod; the default is five minutes and the termination grace.
    pub timeout_given: Option<u64>,
    /// `--total-timeout` in seconds.
    pub total_timeout: Option<u64>,
    /// `--disruption-budget=respect`: also budgets that are made while the rollout is under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respects_budgets: bool,
    /// `--drain-seconds`: between a pod's being out of its Services and its restart; none with `--drain=none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<u32>,
    /// `--canary`: this many pods, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<u32>,
    /// `--pause-after`: this many pods, each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<u32>,
    /// `--on-failure=continue`: a pod that fails does not stop the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on_after_failure: bool,
    /// `--container-order`: within a pod these containers change one after the other, and then all others at once; none is
    /// all at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub container_order: Vec<ContainerName>,
    /// Strictly in the order of `Goal::pods`: a pod that is down is not taken first.
    pub ordered: bool,
}

/// The longest time that a note in the cluster may ask for, in seconds: a year. Anybody may have edited it.
const LONGEST_SECONDS: u64 = 365 * 86_400;

impl Policy {
    /// Returns it with every time within reason, as it must be before anything is reckoned with it.
    #[must_use]
    pub fn bounded(self) -> Self {
        let seconds = |seconds: u64| seconds.min(LONGEST_SECONDS);
        let short = |seconds: u32| seconds.min(u32::try_from(LONGEST_SECONDS).unwrap_or(u32::MAX));
        Self {
            max_unavailable: self.max_unavailable.max(1),
            min_ready_seconds_given: self.min_ready_seconds_given.map(short),
            owner_min_ready_seconds: short(self.owner_min_ready_seconds),
            timeout_given: self.timeout_given.map(seconds),
            total_timeout: self.total_timeout.map(seconds),
            drain_seconds: self.drain_seconds.map(short),
            ..self
        }
    }
}

/// Seconds that ready must hold for the first pod where a changed container has no readiness probe: without one
/// a container is ready as soon as it runs, also one that dies a second later.
pub const CANARY_HOLD_SECONDS: u32 = 5;

/// Seconds that ready must hold where the new container has ended once already and was started again: crash back-off
/// begins at ten seconds, and a busy kubelet shows a container that died as running for some seconds more.
pub const RESTARTED_HOLD_SECONDS: u32 = 20;

/// Seconds per pod, besides its termination grace and the time that ready must hold, after which a rollout gives up.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 300;
