//! The vocabulary of every renderer: what people or scripts may want to know while a rollout runs.

pub mod failure_report;
pub mod hand_over;
pub mod progress;
pub mod proof;

use serde::{Deserialize, Serialize};

use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::report::hand_over::{HandOver, HandedOver};
use crate::report::progress::{Stage, UpdatePhase};
use crate::state::durable::StepName;
use crate::state::hook::{HookEnd, HookPhase};
use crate::state::outcome::EndResult;
use crate::value::is_default;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Notice {
    Pod {
        pod: PodKey,
        #[serde(flatten)]
        phase: UpdatePhase,
    },
    Owner {
        step: StepName,
    },
    /// Nothing is changed before the first pod may go down.
    WaitsToBegin {
        #[serde(rename = "message")]
        why: String,
    },
    /// Every pod of the plan is done or has left, and those that came in place of others are not ready yet.
    WaitsToEnd {
        #[serde(rename = "message")]
        why: String,
    },
    /// A PodDisruptionBudget allows no further pod to be taken down now.
    DisruptionBudgetHolds {
        why: String,
    },
    /// The PodDisruptionBudgets may not be read, and so they are not respected.
    BudgetsUnreadable {
        #[serde(rename = "message")]
        why: String,
    },
    /// A node begins to pull what it lacks, before anything is touched.
    PullBegins {
        node: String,
        images: Vec<String>,
    },
    Pulled {
        node: String,
        image: String,
        /// What the runtime says it is (`imageID`); empty where it did not say.
        #[serde(rename = "imageID")]
        image_id: String,
    },
    /// Images are not pulled first somewhere; the kubelet pulls them when it restarts the container.
    PrePullSkipped {
        /// The node; empty where it is about none in particular.
        node: String,
        why: String,
    },
    /// A tag means something else on another node.
    TagDiffersByNode {
        what: String,
    },
    /// A pod is not in its Services as it should be.
    Drain {
        pod: PodKey,
        #[serde(rename = "message")]
        why: String,
    },
    HookBegins {
        pod: PodKey,
        hook: HookPhase,
    },
    HookEnded {
        pod: PodKey,
        hook: HookPhase,
        #[serde(flatten)]
        end: HookEnd,
    },
    /// What shows that a container is the one asked for, where neither its status nor an event says it outright.
    Evidence {
        pod: PodKey,
        container: ContainerName,
        #[serde(rename = "message")]
        why: String,
    },
    /// The server refused a patch, or the answer was lost; the pod is read again.
    Retrying {
        pod: PodKey,
        #[serde(rename = "message")]
        why: String,
    },
    /// A patch was refused, and is not sent again: the pod is another run's now, or it left.
    NotPatched {
        pod: PodKey,
        #[serde(rename = "message")]
        why: String,
    },
    WatchLost {
        #[serde(rename = "message")]
        why: String,
    },
    WatchRestored,
    /// No further pod may be taken down now.
    BudgetHolds {
        down: u32,
        allowed: u32,
    },
    /// Nothing changed for half a minute.
    StillWaiting {
        done: usize,
        total: usize,
        pods: Vec<PodKey>,
        /// Why it waits, where that is not its pods.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// An interrupt was heard; nothing new is sent.
    Stopping,
}

impl Notice {
    /// Returns whether it says that a safeguard does not hold, or not everywhere: that is said also where only results are.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::BudgetsUnreadable { .. }
                | Self::PrePullSkipped { .. }
                | Self::TagDiffersByNode { .. }
                | Self::Drain { .. }
        )
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub workload: WorkloadRef,
    pub result: EndResult,
    /// Each pod of the goal, in its order; then the pods that were found later, and the replacement pods that fail.
    pub pods: Vec<PodEnd>,
    /// Which pods decided it, and why, where that is not plain from the result.
    pub why: Option<String>,
    /// The rollout's lock stays on the owner: it can be resumed, or aborted.
    #[serde(default)]
    pub held: bool,
    /// A durable rollout that ended before its first write: this run has changed nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_changed: bool,
    /// A way back that has written nothing: the rollout is unchanged, and can be resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub still_forward: bool,
    /// It was followed, and nobody carries it on any more: to follow it again would wait in vain.
    pub nothing_more: bool,
    /// A budget has kept the next pod from being taken: without asking it, the rollout goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub budget_blocks: bool,
    /// Of each container that was to change: what the template and the pods ask for.
    #[serde(default)]
    pub standing: Vec<ContainerImages>,
    /// The same of each field that was to change in the template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_fields: Vec<FieldValues>,
    /// Whether the same command has rolled it back: `true` completely, `false` only in part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<bool>,
    /// What the next apply of the manifest by the owner's tool changes, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand_over: Option<HandOver>,
    /// Seconds from the first turn to the end.
    pub seconds: f64,
}

/// What is asked for of one container when a run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerImages {
    pub container: ContainerName,
    /// The image of the owner's template; `None` where it was not read since the last write, or is not the run's business.
    pub template: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub new_pods: NewPods,
    pub pods: Vec<PodsWithImage>,
    /// How many more are being deleted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub going: usize,
}

/// What is asked for of one field of the template when a run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldValues {
    /// The field in a few words, such as `app requests.cpu`.
    pub what: String,
    pub wanted: FieldValue,
    pub template: FieldValue,
    #[serde(default, skip_serializing_if = "is_default")]
    pub new_pods: NewPods,
    /// How many of the owner's pods have what is wanted; `None` where pods keep what they had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub have: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldValue {
    /// It was not read since the last write.
    Unread,
    Absent,
    Is(String),
}

impl From<Option<String>> for FieldValue {
    fn from(value: Option<String>) -> Self {
        value.map_or(Self::Absent, Self::Is)
    }
}

/// What a new pod of an owner gets of an image or a field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NewPods {
    /// That of the owner's template.
    #[default]
    AsTemplate,
    /// This: a paused Deployment's ReplicaSet makes pods of its own template.
    #[serde(rename = "image")]
    Is(String),
    /// The same, and that has none.
    Without,
    /// That of the owner's template or another one.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodsWithImage {
    pub image: String,
    pub pods: usize,
    pub ready: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadEnd {
    pub workload: WorkloadRef,
    /// The word and exit code; `None` of one that was not begun.
    pub result: Option<EndResult>,
    pub outcome: Option<Outcome>,
    /// What became of its manifest before its tool applies it, and why: a code of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<(HandedOver, String)>,
}

impl WorkloadEnd {
    /// Returns the end of a workload without a rollout that came to one.
    pub fn of(workload: WorkloadRef, result: Option<EndResult>) -> Self {
        Self { workload, result, outcome: None, handed_over: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodEnd {
    pub pod: PodKey,
    #[serde(flatten)]
    pub phase: UpdatePhase,
    pub patched: bool,
    pub containers: Vec<ContainerEnd>,
    /// Containers that restarted though no change of theirs was planned, or more often than planned.
    pub unplanned: Vec<ContainerName>,
    /// Containers without a planned change that crashed before the update, and have restarted since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_before: Vec<ContainerName>,
    /// It left a durable rollout: what its owner makes in its place is right by itself.
    #[serde(default)]
    pub replaced: bool,
    /// It is followed, and nobody has changed anything of it since it was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// What keeps it from being ready, where it is done all the same: what changes without a restart heals nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_ready: Option<NotReady>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotReady {
    pub container: ContainerName,
    /// The kubelet's word; empty where it runs.
    pub reason: String,
}

impl Outcome {
    pub fn new(workload: WorkloadRef, result: EndResult, pods: Vec<PodEnd>) -> Self {
        Self {
            workload,
            result,
            pods,
            why: None,
            held: false,
            nothing_changed: false,
            still_forward: false,
            nothing_more: false,
            budget_blocks: false,
            standing: Vec::new(),
            standing_fields: Vec::new(),
            rolled_back: None,
            hand_over: None,
            seconds: 0.0,
        }
    }

    /// Returns the pods that the rollout has brought to what they are. What a pod has of the rollout that ended before is no
    /// deed of the way back that found nothing to do in it.
    pub fn done(&self) -> impl Iterator<Item = &PodEnd> {
        let is_of_it = |end: &&PodEnd| end.patched || self.result != EndResult::Aborted;
        self.pods.iter().filter(|end| end.phase == UpdatePhase::Done).filter(is_of_it)
    }
}

impl PodEnd {
    pub fn new(pod: PodKey, phase: UpdatePhase) -> Self {
        Self {
            pod,
            phase,
            patched: false,
            containers: Vec::new(),
            unplanned: Vec::new(),
            as_before: Vec::new(),
            replaced: false,
            unchanged: false,
            not_ready: None,
        }
    }

    /// Returns whether it is neither done, nor failed, nor untouched.
    pub fn is_in_progress(&self) -> bool {
        match self.phase.stage() {
            Stage::Waiting | Stage::InProgress => self.patched || !self.phase.is_before_any_change(),
            Stage::Done | Stage::Left | Stage::Failed | Stage::Lost => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerEnd {
    pub container: ContainerName,
    pub from: Option<String>,
    pub to: Option<String>,
    /// Its image changed since the pod was created, so that it restarted; not so for a pod that was only read.
    pub changed: bool,
    /// It restarted twice: for its resize, and then for its image.
    #[serde(default)]
    pub twice: bool,
    /// The rollout has resized it, which restarted it.
    #[serde(default)]
    pub by_resize: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<StartedAgain>,
    /// Seconds from the first stop of the container to the start of the one that stayed, from the API's whole seconds, without
    /// those that another one ran between; `None` also where it is not known how long that was.
    pub down_seconds: Option<i64>,
    /// When, and how long the rest took, where known.
    #[serde(default)]
    pub times: ContainerTimes,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedAgain {
    pub times: u64,
    /// How the one before the one that runs ended; `None` where the API shows none of the update's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// What the API shows of a restart besides how long the container was down.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerTimes {
    /// When the container stopped for the update, or where the API does not show that, when it was patched (RFC 3339, whole
    /// seconds).
    pub ended_at: Option<String>,
    /// When the new one started (RFC 3339, whole seconds).
    pub started_at: Option<String>,
    /// For an update that is followed: when the one that runs started, whether or not the API still shows the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_since: Option<String>,
    /// Seconds that the kubelet pulled the image, by its event; `None` also where the node had it.
    pub pull_seconds: Option<f64>,
    /// Seconds from the start of the new container until the pod's condition `Ready` turned `True`, from the API's whole
    /// seconds; 0 where the API never showed it as anything else.
    pub ready_seconds: Option<i64>,
}
