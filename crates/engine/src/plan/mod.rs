//! The plan as a value: what would happen to each pod and container, what blocks it and why, in which order.
//!
//! | file | what it is |
//! |---|---|
//! | `live`, `assemble` | what was read of a workload, and how it is put together |
//! | `intent`, `wanted` | what is asked for; what that makes of each pod, which containers there are, and what every part of a plan is made from |
//! | `restart`, `undo`, `updates` | what a restart and an undo want, from what pods and history note |
//! | `build` | the plan of one workload |
//! | `pods`, `container_order`, `back_off`, `rules` | what becomes of each pod, when, and what it is refused for |
//! | `durable`, `held`, `revision` | the owner's side: its change, who holds it back, its revisions and templates, and where pods differ from them |
//! | `rollout_state`, `resume`, `resumed_pods`, `recover` | carrying a rollout on, with its lock, a copy of it, or none |
//! | `availability`, `policy`, `estimate` | budgets, how fast and how careful, and how long |
//! | `resize` | cpu and memory: what does not notice them, and which rule of the namespace refuses them |
//! | `warnings` | what is said besides |
//! | `courses` | what a controller that updates pods itself would do |
//! | `answers` | what the server answers to the plan's patches |
//! | `goal` | what the rollout gets |
//! | `saved`, `offline`, `workload_diff` | a plan in a file, a plan of two manifests, and what differs between two objects |
//! | `hand_over`, `configuration` | what is left to the next apply of the owner's tool, what that changes, and what else is in its manifests |
//! | `sidecar_set` | what a SidecarSet's controller does with the pods that have its containers |
//! | `outline`, `skipped` | manifests as written, and objects of them that are not looked at |

mod answers;
pub mod assemble;
mod availability;
mod back_off;
mod build;
pub mod configuration;
mod container_order;
mod courses;
mod durable;
mod estimate;
mod goal;
pub mod hand_over;
mod held;
pub mod intent;
pub mod live;
pub mod offline;
pub mod outline;
mod pods;
mod policy;
mod recover;
pub mod resize;
mod restart;
mod resume;
mod resumed_pods;
mod revision;
mod rollout_state;
mod rules;
mod saved;
pub mod sidecar_set;
pub mod skipped;
#[cfg(test)]
mod tests;
mod undo;
pub mod updates;
mod wanted;
mod warnings;
pub mod workload_diff;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::change::FieldChanges;
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::{ContainerName, PodKey, Uid, WorkloadRef};
use crate::k8s::pod::{Container, ContainerList};
use crate::report::hand_over::HandOver;
use crate::rollout::pre_pull::{PrePull, Pull};
use crate::rollout::{DrainGoal, Policy};
use crate::state::hook::Hooks;
use crate::state::outcome::EndResult;
use crate::state::record::Drained;
use crate::value::kubelet_version::KubeletVersion;

pub use crate::plan::live::{AdmittedPod, Denied, Options, Snapshot, Subset, Surroundings};
pub use crate::state::policy::PodOrder;
pub use answers::{DryRun, PatchAnswer, Question, taken};
pub use availability::only_pod_restarts;
pub use back_off::held_back;
pub use build::{build, server_lacks, workload_of};
pub use container_order::ContainerOrderError;
pub use durable::{DurablePlan, if_resumed, is_behind};
pub use goal::{WayBack, follow, replacing, way_back};
pub use held::is_held_back;
pub use intent::{Intent, IntentError, Manifest, Validation};
pub use pods::drains_by_gate;
pub use policy::{carried_on, policy_of};
pub use recover::{can_take_over, images_to_bring, may_be_left};
pub use resume::{ResumeError, Start, release, restore_all, resume};
pub(crate) use revision::CurrentRevision;
pub use revision::differs_from_template;
pub use rollout_state::{EndedBy, RolloutState, lease_state, lock_of, present_lock, rollout_state};
pub use rules::refused;
pub use saved::{SavedPlan, SavedPlanError, SavedWorkload};
pub use skipped::{SkippedChange, SkippedObject};
pub use undo::undone;
pub use warnings::{manager, missing_labels, not_read};

pub const PLAN_API_VERSION: &str = "kubectl-inplace.io/v1alpha1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// One a workload, in the order in which they are taken.
    pub workloads: Vec<WorkloadPlan>,
    /// Objects of the manifests that were not looked at; of two manifests, those that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedObject>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadPlan {
    pub workload: WorkloadRef,
    /// Its uid; empty where two manifests were compared.
    pub uid: Uid,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
    pub warnings: Vec<Warning>,
    /// What the caller may not do, and `apply` would have to. The verdict is about the change alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_permissions: Vec<Reason>,
    /// Each container of the template, and each that is asked to change.
    pub containers: Vec<ContainerPlan>,
    #[serde(flatten)]
    pub fields: FieldChanges,
    pub pods: Vec<PodPlan>,
    pub policy: Policy,
    /// The budget that lets fewer pods be down at once than the policy does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_by: Option<BudgetPace>,
    pub controllers: BTreeSet<Uid>,
    pub replicas: u32,
    /// What happens to the owner; `None` where only pods change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<DurablePlan>,
    /// What nodes have to pull before anything is changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulls: Vec<Pull>,
    #[serde(default)]
    pub pre_pull: PrePull,
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    /// The template of an owner stays unchanged: only the pods change.
    pub pods_only: bool,
    /// The named containers restart with the images that they run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restarts_the_same: bool,
    /// Roughly how long it takes, in seconds, without pods that have no node.
    pub estimate_seconds: f64,
    /// The server has been asked whether it would take the patches.
    pub checked_by_server: bool,
    /// What the next apply of the manifest by the owner's tool changes, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand_over: Option<HandOver>,
}

/// How many pods a PodDisruptionBudget lets be down at once, before any of them is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetPace {
    pub budget: String,
    /// Pods, at least 1.
    pub pods: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Everything that changes can be done in place.
    InPlace,
    /// Everything that changes is changed in place by the workload's own controller; there is nothing that this program does.
    InPlaceByController,
    NothingToDo,
    NotEligible,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerPlan {
    pub container: ContainerName,
    pub list: ContainerList,
    /// The image now: the template's, or the pods' where the template does not have the container.
    pub from: String,
    pub to: Option<String>,
    pub effect: Effect,
    /// It restarts for a resize, by its `resizePolicy`: before another image, which restarts it once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resize_restarts: bool,
    /// It runs in none of the pods, so that there is nothing to keep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_down: bool,
}

impl ContainerPlan {
    pub fn restarts(&self) -> usize {
        usize::from(self.effect == Effect::Restart) + usize::from(self.resize_restarts)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    #[default]
    Unchanged,
    Restart,
    /// A plain init container: recorded, used when the pod is next created.
    NoEffectNow,
    /// No present pod changes: the template does, for pods created later.
    LaterPods,
}

impl Effect {
    /// Returns what another image does to a container.
    pub(crate) fn of(list: ContainerList, container: &Container) -> Self {
        if container.is_long_lived(list) { Self::Restart } else { Self::NoEffectNow }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodPlan {
    pub pod: PodKey,
    /// Its node; empty while it is not scheduled.
    pub node: String,
    /// The version of the node's kubelet; `None` where it was not read.
    pub kubelet: Option<KubeletVersion>,
    pub verdict: PodVerdict,
    /// The containers that change, or changed and are not proven yet.
    pub changes: BTreeMap<ContainerName, ImageChange>,
    /// What else changes in this pod, with its own values before.
    #[serde(flatten)]
    pub fields: FieldChanges,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainGoal>,
    /// The label or readiness gate that an earlier run has removed and not restored.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "leftOff")]
    pub unrestored: Option<Drained>,
    /// Why it is blocked; all reasons at once.
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PodVerdict {
    Update,
    /// It asks for the wanted images already, but does not run them yet: it would be followed.
    InProgress,
    #[serde(rename = "upToDate", alias = "alreadyThere")]
    AlreadyThere,
    Blocked,
    /// It is left out: it is terminating, or has ended.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageChange {
    /// The image in the pod's spec now; for an update in progress the image before it, where that is known.
    pub from: String,
    pub to: String,
    pub effect: Effect,
    /// What runs now: `status.containerStatuses[].imageID`, as the runtime shows it.
    #[serde(rename = "imageID")]
    pub image_id: Option<String>,
    /// The kubelet's hash of the container with the image before. Only for kubelets from 1.31 on, which hash name and
    /// image (`pickFieldsToHash`); those before hash the whole container, which this program does not read.
    pub hash_from: Option<String>,
    /// The same with the image wanted; the kubelet restarts the container when the two differ.
    pub hash_to: Option<String>,
    /// Why the container waits now, such as `ErrImagePull`.
    pub waiting: Option<String>,
    /// The image wanted is the one before an update that no container was created from yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_back: bool,
    /// The image stays, and kruise-daemon is asked to restart the container.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_request: bool,
}

impl ImageChange {
    /// Returns a change of which no more is known.
    pub fn new(from: impl Into<String>, to: impl Into<String>, effect: Effect) -> Self {
        Self { from: from.into(), to: to.into(), effect, ..Self::default() }
    }
}

impl WorkloadPlan {
    fn empty(live: &Snapshot, policy: Policy) -> Self {
        Self {
            workload: live.workload.reference.clone(),
            uid: live.workload.uid.clone(),
            verdict: Verdict::NothingToDo,
            reasons: Vec::new(),
            warnings: Vec::new(),
            missing_permissions: Vec::new(),
            containers: Vec::new(),
            fields: FieldChanges::default(),
            pods: Vec::new(),
            policy,
            slowed_by: None,
            controllers: BTreeSet::new(),
            replicas: live.workload.desired_replicas(),
            durable: None,
            pulls: Vec::new(),
            pre_pull: PrePull::Never,
            hooks: Hooks::default(),
            pods_only: false,
            restarts_the_same: false,
            estimate_seconds: 0.0,
            checked_by_server: false,
            hand_over: None,
        }
    }

    /// Returns whether the plan is of manifests alone, made without a cluster: then it has no uid and no pods.
    pub fn is_offline(&self) -> bool {
        self.uid.as_str().is_empty()
    }

    /// Returns whether every ready pod of the workload restarts at the same time.
    pub fn restarts_all_ready(&self) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, Warning::NoOtherPodServes { .. }))
    }

    /// Returns how many of the pods that would be updated have no node yet: when they get one is unknown.
    pub fn unscheduled(&self) -> usize {
        self.pods.iter().filter(|pod| pod.verdict == PodVerdict::Update && pod.node.is_empty()).count()
    }

    /// Returns whether no node runs the pods that would be updated: how long that takes is unknown.
    pub fn waits_for_nodes(&self) -> bool {
        self.unscheduled() > 0 && self.unscheduled() == self.count(PodVerdict::Update)
    }

    /// Returns about how many seconds it takes, where that can be known.
    pub fn estimate(&self) -> Option<f64> {
        (!self.is_offline() && !self.waits_for_nodes()).then_some(self.estimate_seconds)
    }

    /// Returns what becomes of a pod: in a workload that is refused none is updated.
    pub fn becomes(&self, pod: &PodPlan) -> PodVerdict {
        match (self.verdict, pod.verdict) {
            (Verdict::NotEligible, PodVerdict::Update) => PodVerdict::Blocked,
            (_, verdict) => verdict,
        }
    }

    pub fn count(&self, verdict: PodVerdict) -> usize {
        self.pods.iter().filter(|pod| self.becomes(pod) == verdict).count()
    }

    pub fn is_by_request(&self) -> bool {
        self.pods.iter().flat_map(|pod| pod.changes.values()).any(|change| change.by_request)
    }

    pub fn resizes(&self) -> bool {
        self.fields.resizes() || self.pods.iter().any(|pod| pod.fields.resizes())
    }

    pub fn all_reasons(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().chain(self.pods.iter().flat_map(|pod| &pod.reasons))
    }
}

impl Plan {
    /// Returns whether the caller may carry it out: there are changes, all of them in place, and no permission is missing.
    pub fn is_applyable(&self) -> bool {
        let by_controller = |plan: &WorkloadPlan| plan.verdict == Verdict::InPlaceByController;
        self.result() == EndResult::Changes && !self.lacks_permissions() && !self.workloads.iter().any(by_controller)
    }

    pub fn lacks_permissions(&self) -> bool {
        self.workloads.iter().any(|workload| !workload.missing_permissions.is_empty())
    }

    /// Returns the word for a command that would have carried the plan out: a workload that another run holds is
    /// superseded, whatever else prevents the plan while that run is active.
    pub fn refusal(&self) -> EndResult {
        let is_held =
            |plan: &WorkloadPlan| plan.all_reasons().any(|reason| matches!(reason, Reason::RolloutHeld { .. }));
        let mut refused = self.workloads.iter().filter(|plan| plan.verdict == Verdict::NotEligible).peekable();
        let all_held = refused.peek().is_some() && refused.all(is_held);
        let result = self.result();
        if all_held {
            EndResult::Superseded
        } else if result == EndResult::Changes && self.lacks_permissions() {
            EndResult::NotEligible
        } else {
            result
        }
    }

    /// Returns whether the pods of an object that was not looked at may change.
    pub fn has_unchecked_pods(&self) -> bool {
        self.skipped.iter().any(|object| object.change == SkippedChange::PodTemplateChanged)
    }

    pub fn result(&self) -> EndResult {
        let any = |verdict| self.workloads.iter().any(|workload| workload.verdict == verdict);
        let is_stale = |reason: &Reason| matches!(reason, Reason::PlanStale { .. });
        if self.workloads.iter().any(|workload| workload.reasons.iter().any(is_stale)) {
            EndResult::Superseded
        } else if any(Verdict::NotEligible) || self.has_unchecked_pods() {
            EndResult::NotEligible
        } else if any(Verdict::InPlace) || any(Verdict::InPlaceByController) {
            EndResult::Changes
        } else {
            EndResult::NothingToDo
        }
    }
}
