//! What is worth knowing though it can be done.

use serde::{Deserialize, Serialize};

use super::{Explanation, WarningCode};
use crate::k8s::names::ContainerName;

/// What is worth knowing though it can be done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "code", rename_all_fields = "camelCase")]
pub enum Warning {
    /// Every pod that is ready restarts at the same time.
    NoOtherPodServes {
        /// How many are ready.
        pods: usize,
    },
    /// Something could not be read, so the answer is weaker.
    ReadFailed {
        /// What, and what follows.
        what: String,
    },
    /// The owner's template keeps what it says.
    TemplateKeepsImage,
    /// The container was injected: it is in the pods and not in the template.
    ContainerInjected {
        /// The container.
        container: ContainerName,
    },
    /// The container asks for storage of its own, which is new after a restart.
    ContainerFilesLost {
        /// The container.
        container: ContainerName,
    },
    /// The container's environment comes from ConfigMaps or Secrets.
    ConfigurationReread {
        /// The container.
        container: ContainerName,
        /// Kind and name of each.
        sources: Vec<String>,
    },
    /// The container's environment has a changed label or annotation.
    MetadataReadOnRestart {
        /// The container.
        container: ContainerName,
        /// The path of the label or annotation.
        path: String,
        /// It restarts in this update; otherwise it is a plain init container, which has run already.
        restarts: bool,
    },
    /// An annotation changes that is usually there to roll out new pods.
    ChecksumChanges {
        /// The annotation's key.
        key: String,
    },
    /// No readiness probe: traffic may reach a container that is down.
    NoReadinessProbe {
        /// The container.
        container: ContainerName,
    },
    /// Services select the pods, and neither a label nor a readiness gate takes one out: they list a pod until it is seen to
    /// be not ready.
    TrafficWhileDown {
        /// The Services.
        services: Vec<String>,
        /// Why not.
        why: String,
        /// How to make it possible.
        remedy: String,
    },
    /// An earlier run has left pods outside their Services.
    DrainLabelMissing {
        /// The label that is off.
        label: String,
        /// How many pods.
        pods: usize,
    },
    /// A pod lacks a label of the template that a Service selects, and no record says who removed it.
    LabelMissing {
        /// `key=value`.
        label: String,
        /// The pods, by name.
        pods: Vec<String>,
    },
    /// An earlier run has left pods not ready, by their gate.
    DrainGateFalse {
        /// The gate that is off.
        gate: String,
        /// How many pods.
        pods: usize,
    },
    /// The kubelet shows the container as started before its startup probe ran.
    StartupProbeUnreliable {
        /// The container.
        container: ContainerName,
        /// The kubelets.
        kubelets: Vec<String>,
    },
    /// If the new image does not start, the kubelet does not try again, or might not.
    FailedStartNotRetried {
        /// The container.
        container: ContainerName,
        /// Its own, as it follows `restartPolicy`.
        policy: String,
        /// The kubelet tries again; all containers of the pod may restart for it.
        is_always: bool,
        /// A rule of it restarts all containers of its pod.
        restarts_all: bool,
    },
    /// Several containers of a pod restart.
    RestartInSeries {
        /// The containers.
        containers: Vec<ContainerName>,
    },
    /// Stopping the container may take long.
    SlowStop {
        /// The container.
        container: ContainerName,
        /// At most this many seconds.
        seconds: u64,
        /// It has a preStop hook.
        pre_stop: bool,
    },
    /// The registry or repository changes.
    RepositoryChanges {
        /// The container.
        container: ContainerName,
        /// The repository before.
        from: String,
        /// The repository after.
        to: String,
    },
    /// The tag is one that is often pushed again.
    MutableTag {
        /// The container.
        container: ContainerName,
        /// The image.
        image: String,
    },
    /// `latest` with IfNotPresent.
    StaleImageStays {
        /// The container.
        container: ContainerName,
        /// The image.
        image: String,
    },
    /// imagePullPolicy is Always.
    PullNeedsRegistry {
        /// The container.
        container: ContainerName,
        /// The registry.
        registry: String,
    },
    /// imagePullPolicy is Never.
    ImageNeverPulled {
        /// The container.
        container: ContainerName,
        /// The image.
        image: String,
    },
    /// The digest that runs is that of the new image.
    SameDigest {
        /// The container.
        container: ContainerName,
        /// The new image.
        image: String,
    },
    /// The kubelet may leave a container down that is restarted again so soon.
    RestartInBackoff {
        /// The container.
        container: ContainerName,
        /// The image that it gets.
        image: String,
        /// How many pods.
        pods: usize,
        /// How long it is expected to be held, at most.
        seconds: u64,
    },
    /// The pods differ in what they run now.
    PodsDiffer {
        /// The container.
        container: ContainerName,
        /// The present images.
        images: Vec<String>,
    },
    /// Pods have another image than the template, in a container that does not change.
    PodsDrifted {
        /// The container.
        container: ContainerName,
        /// The template's image.
        template: String,
        /// The pods' other images.
        images: Vec<String>,
        /// How many pods.
        pods: usize,
        /// What `undo` brings template and pods to; none where the change does not touch the container.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back_to: Option<String>,
    },
    /// Admission makes another image of the template's new one.
    RewrittenByAdmission {
        /// The container.
        container: ContainerName,
        /// What the template gets.
        template: String,
        /// What the server makes of it in pods.
        made: String,
    },
    /// Pods have other cpu or memory than the template.
    PodsResized {
        /// What has it, such as `app requests.cpu`.
        what: String,
        /// The template's value; none where it does not say one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// The pods' other values.
        values: Vec<String>,
        /// How many pods.
        pods: usize,
        /// What they get; none where the change does not touch it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Pods have another value of a label or annotation than the template, where the change sets it.
    PodsMetadataDiffers {
        /// What, such as `label tier`.
        what: String,
        /// The template's value; none where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// The pods' other values.
        values: Vec<String>,
        /// How many pods.
        pods: usize,
        /// What they get; `None` where it is removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Pods below a StatefulSet's partition keep another image than the one asked for.
    PodsBelowPartition {
        /// The container.
        container: ContainerName,
        /// The images that they keep.
        images: Vec<String>,
        /// How many pods.
        pods: usize,
        /// The partition.
        partition: i64,
        /// The image that the template has then.
        template: String,
    },
    /// Pods of an older revision change too.
    PodsOfOldRevision {
        /// How many.
        pods: usize,
        /// The owner's current revision.
        current: String,
    },
    /// As many pods are down as may be, and the order is strict: the first one in it is not among them.
    OrderBlocked {
        /// One that is not ready.
        pod: String,
        /// How many may be down.
        allowed: u32,
    },
    /// A PodDisruptionBudget allows none of the pods to be down.
    DisruptionBudgetAllowsNone {
        /// The budget.
        budget: String,
        /// How many pods of the plan it covers.
        pods: usize,
        /// Why not.
        why: String,
    },
    /// Pods that change are not scheduled.
    PodsNotScheduled {
        /// One of them.
        pod: String,
        /// How many.
        pods: usize,
        /// The scheduler's words; empty where there are none.
        why: String,
    },
    /// Pods that change are not ready because of a container that does not.
    PodsStayUnready {
        /// One of them.
        pod: String,
        /// How many.
        pods: usize,
        /// Its container that cannot be made.
        container: ContainerName,
        /// The kubelet's word.
        why: String,
    },
    /// Pods that change are not ready, and a container that does not change is not either: it may wait for one that does.
    PodsUnready {
        /// One of them.
        pod: String,
        /// How many.
        pods: usize,
        /// Its container that is not ready.
        container: ContainerName,
        /// The kubelet's word; empty where it runs.
        why: String,
        /// It ends again and again, which is said in `why`: for the moment it may run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ends: bool,
    },
    /// Pods that change are not ready already because of a container that changes.
    PodsUnreadyBefore {
        /// One of them.
        pod: String,
        /// How many.
        pods: usize,
        /// Its container that is not ready.
        container: ContainerName,
        /// The kubelet's word; empty where it runs and has not failed.
        why: String,
        /// It ends again and again, which is said in `why`: for the moment it may run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ends: bool,
    },
    /// As many pods are down as may be, and the update heals none of them.
    AvailabilityUsedUp {
        /// One that is not ready; empty where pods are missing.
        pod: String,
        /// How many are down or missing.
        down: u32,
        /// How many may be down.
        allowed: u32,
    },
    /// The server refuses the pods that would pull images first.
    NotPulledFirst {
        /// The images, separated by commas.
        images: String,
        /// The server's words.
        message: String,
    },
    /// A HorizontalPodAutoscaler may scale meanwhile.
    AutoscalerActive {
        /// The autoscaler.
        autoscaler: String,
    },
    /// A VerticalPodAutoscaler writes cpu and memory.
    VerticalAutoscalerActs {
        /// The autoscaler.
        autoscaler: String,
        /// Its update mode.
        mode: String,
    },
    /// A memory limit becomes lower in a container that has restarted.
    MemoryLimitNotLowered {
        /// The container.
        container: ContainerName,
        /// How many pods.
        pods: usize,
    },
    /// Memory is less than anything needs.
    MemoryTiny {
        /// The value's path.
        path: String,
        /// The value.
        value: String,
        /// The same in bytes.
        bytes: u64,
    },
    /// A process has read its size when it started.
    RuntimeSizedAtStart {
        /// The container.
        container: ContainerName,
        /// `cpu` or `memory`.
        resource: String,
        /// Where the spec says so.
        signs: Vec<String>,
    },
    /// Argo CD makes the object.
    ManagedByArgoCd {
        /// The application, where it is reported.
        application: String,
        /// What to commit.
        images: Vec<String>,
    },
    /// Flux makes the object.
    ManagedByFlux {
        /// Kind and name of what makes it.
        source: String,
        /// What to commit.
        images: Vec<String>,
    },
    /// Helm makes the object.
    ManagedByHelm {
        /// The release, where it is reported.
        release: String,
        /// What to set.
        images: Vec<String>,
    },
    /// The pod's image is owned by a server-side apply manager.
    ImageFieldOwned {
        /// The container.
        container: ContainerName,
        /// The manager.
        manager: String,
    },
    /// Fields outside the template differ; this program does not touch them.
    OutsideTemplate {
        /// The paths.
        paths: Vec<String>,
    },
    /// The object carries neither a last applied configuration nor server-side apply's field ownership.
    RemovalsUnseen,
    /// The one old revision leaves the history: `revisionHistoryLimit` is 1.
    HistoryEvicted {
        /// The ReplicaSet.
        name: String,
        /// Its revision.
        revision: i64,
    },
    /// A rollout that was superseded has left its own update strategy, and this update keeps it.
    OnDeleteLeft {
        /// The type of the one before.
        before: String,
    },
    /// The server said so.
    ServerWarning {
        /// Its words.
        message: String,
    },
    /// The workload's own controller carries the change out, not this program.
    UpdatedByController {
        /// Which pods it leaves unchanged, or when it goes on.
        limits: Vec<String>,
        /// Paths outside the template that change too.
        paths: Vec<String>,
    },
    /// Of two manifests only the newer has the workload.
    WorkloadAdded,
    /// Of two manifests only the older has the workload.
    WorkloadRemoved,
}

impl Warning {
    /// Returns the kind of warning.
    pub fn kind(&self) -> WarningCode {
        match self {
            Self::ReadFailed { .. } => WarningCode::ReadFailed,
            Self::TemplateKeepsImage => WarningCode::TemplateKeepsImage,
            Self::ContainerInjected { .. } => WarningCode::ContainerInjected,
            Self::ContainerFilesLost { .. } => WarningCode::ContainerFilesLost,
            Self::ConfigurationReread { .. } => WarningCode::ConfigurationReread,
            Self::MetadataReadOnRestart { .. } => WarningCode::MetadataReadOnRestart,
            Self::ChecksumChanges { .. } => WarningCode::ChecksumChanges,
            Self::NoOtherPodServes { .. } => WarningCode::NoOtherPodServes,
            Self::NoReadinessProbe { .. } => WarningCode::NoReadinessProbe,
            Self::TrafficWhileDown { .. } => WarningCode::TrafficWhileDown,
            Self::DrainLabelMissing { .. } => WarningCode::DrainLabelMissing,
            Self::LabelMissing { .. } => WarningCode::LabelMissing,
            Self::DrainGateFalse { .. } => WarningCode::DrainGateFalse,
            Self::StartupProbeUnreliable { .. } => WarningCode::StartupProbeUnreliable,
            Self::FailedStartNotRetried { .. } => WarningCode::FailedStartNotRetried,
            Self::RestartInSeries { .. } => WarningCode::RestartInSeries,
            Self::SlowStop { .. } => WarningCode::SlowStop,
            Self::RepositoryChanges { .. } => WarningCode::RepositoryChanges,
            Self::MutableTag { .. } => WarningCode::MutableTag,
            Self::StaleImageStays { .. } => WarningCode::StaleImageStays,
            Self::PullNeedsRegistry { .. } => WarningCode::PullNeedsRegistry,
            Self::ImageNeverPulled { .. } => WarningCode::ImageNeverPulled,
            Self::SameDigest { .. } => WarningCode::SameDigest,
            Self::RestartInBackoff { .. } => WarningCode::RestartInBackoff,
            Self::PodsDiffer { .. } => WarningCode::PodsDiffer,
            Self::PodsDrifted { .. } => WarningCode::PodsDrifted,
            Self::RewrittenByAdmission { .. } => WarningCode::RewrittenByAdmission,
            Self::PodsResized { .. } => WarningCode::PodsResized,
            Self::PodsMetadataDiffers { .. } => WarningCode::PodsMetadataDiffers,
            Self::PodsBelowPartition { .. } => WarningCode::PodsBelowPartition,
            Self::PodsOfOldRevision { .. } => WarningCode::PodsOfOldRevision,
            Self::OrderBlocked { .. } => WarningCode::OrderBlocked,
            Self::DisruptionBudgetAllowsNone { .. } => WarningCode::DisruptionBudgetAllowsNone,
            Self::PodsNotScheduled { .. } => WarningCode::PodsNotScheduled,
            Self::PodsStayUnready { .. } => WarningCode::PodsStayUnready,
            Self::PodsUnready { .. } => WarningCode::PodsUnready,
            Self::PodsUnreadyBefore { .. } => WarningCode::PodsUnreadyBefore,
            Self::AvailabilityUsedUp { .. } => WarningCode::AvailabilityUsedUp,
            Self::NotPulledFirst { .. } => WarningCode::NotPulledFirst,
            Self::AutoscalerActive { .. } => WarningCode::AutoscalerActive,
            Self::VerticalAutoscalerActs { .. } => WarningCode::VerticalAutoscalerActs,
            Self::MemoryLimitNotLowered { .. } => WarningCode::MemoryLimitNotLowered,
            Self::MemoryTiny { .. } => WarningCode::MemoryTiny,
            Self::RuntimeSizedAtStart { .. } => WarningCode::RuntimeSizedAtStart,
            Self::ManagedByArgoCd { .. } => WarningCode::ManagedByArgoCd,
            Self::ManagedByFlux { .. } => WarningCode::ManagedByFlux,
            Self::ManagedByHelm { .. } => WarningCode::ManagedByHelm,
            Self::ImageFieldOwned { .. } => WarningCode::ImageFieldOwned,
            Self::OutsideTemplate { .. } => WarningCode::OutsideTemplate,
            Self::RemovalsUnseen => WarningCode::RemovalsUnseen,
            Self::HistoryEvicted { .. } => WarningCode::HistoryEvicted,
            Self::OnDeleteLeft { .. } => WarningCode::OnDeleteLeft,
            Self::ServerWarning { .. } => WarningCode::ServerWarning,
            Self::UpdatedByController { .. } => WarningCode::UpdatedByController,
            Self::WorkloadAdded => WarningCode::WorkloadAdded,
            Self::WorkloadRemoved => WarningCode::WorkloadRemoved,
        }
    }

    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Returns what the code means, at length.
    pub fn explanation(&self) -> Explanation {
        self.kind().explanation()
    }
}
