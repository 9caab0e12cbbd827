//! What is worth knowing though it can be done.

use serde::{Deserialize, Serialize};

use super::{Explanation, WarningCode};
use crate::engine::names::ContainerName;

/// What is worth knowing though it can be done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "code", rename_all_fields = "camelCase")]
pub enum Warning {
    /// Something could not be read, so the answer is weaker.
    NotRead {
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
    /// An annotation changes that usually stands there to make new pods.
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
    LabelLeftOff {
        /// The label that is off.
        label: String,
        /// How many pods.
        pods: usize,
    },
    /// An earlier run has left pods not ready, by their gate.
    GateLeftOff {
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
    /// Several containers of a pod restart.
    RestartInSeries {
        /// The containers.
        containers: Vec<ContainerName>,
    },
    /// Stopping the container may take long.
    SlowStop {
        /// The container.
        container: ContainerName,
        /// At most so many seconds.
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
    RestartBacksOff {
        /// The container.
        container: ContainerName,
        /// How many pods.
        pods: usize,
        /// How long it is expected to be held, at most.
        seconds: u64,
    },
    /// The pods differ in what they run now.
    PodsDiffer {
        /// The container.
        container: ContainerName,
        /// The images that stand there now.
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
    },
    /// Pods of an older revision change too.
    PodsOfOldRevision {
        /// How many.
        pods: usize,
        /// The owner's current revision.
        current: String,
    },
    /// As many pods are down as may be, and the order is strict: the first one in it is not among them.
    OrderWaits {
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
    /// As many pods are down as may be, and the update heals none of them.
    AvailabilityUsedUp {
        /// One that is not ready; empty where pods are missing.
        pod: String,
        /// How many are down or missing.
        down: u32,
        /// How many may be down.
        allowed: u32,
    },
    /// A ResourceQuota leaves no room for the pods that pull images first.
    PullQuotaExceeded {
        /// The quota.
        quota: String,
        /// How many more pods it allows.
        left: usize,
        /// How many pull.
        needed: usize,
    },
    /// A HorizontalPodAutoscaler may scale meanwhile.
    AutoscalerActive {
        /// The autoscaler.
        autoscaler: String,
    },
    /// Argo CD makes the object.
    ManagedByArgoCd {
        /// The application, where it is told.
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
        /// The release, where it is told.
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
    /// The server said so.
    ServerWarning {
        /// Its words.
        message: String,
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
            Self::NotRead { .. } => WarningCode::NotRead,
            Self::TemplateKeepsImage => WarningCode::TemplateKeepsImage,
            Self::ContainerInjected { .. } => WarningCode::ContainerInjected,
            Self::ContainerFilesLost { .. } => WarningCode::ContainerFilesLost,
            Self::ConfigurationReread { .. } => WarningCode::ConfigurationReread,
            Self::MetadataReadOnRestart { .. } => WarningCode::MetadataReadOnRestart,
            Self::ChecksumChanges { .. } => WarningCode::ChecksumChanges,
            Self::NoReadinessProbe { .. } => WarningCode::NoReadinessProbe,
            Self::TrafficWhileDown { .. } => WarningCode::TrafficWhileDown,
            Self::LabelLeftOff { .. } => WarningCode::LabelLeftOff,
            Self::GateLeftOff { .. } => WarningCode::GateLeftOff,
            Self::StartupProbeUnreliable { .. } => WarningCode::StartupProbeUnreliable,
            Self::RestartInSeries { .. } => WarningCode::RestartInSeries,
            Self::SlowStop { .. } => WarningCode::SlowStop,
            Self::RepositoryChanges { .. } => WarningCode::RepositoryChanges,
            Self::MutableTag { .. } => WarningCode::MutableTag,
            Self::StaleImageStays { .. } => WarningCode::StaleImageStays,
            Self::PullNeedsRegistry { .. } => WarningCode::PullNeedsRegistry,
            Self::ImageNeverPulled { .. } => WarningCode::ImageNeverPulled,
            Self::SameDigest { .. } => WarningCode::SameDigest,
            Self::RestartBacksOff { .. } => WarningCode::RestartBacksOff,
            Self::PodsDiffer { .. } => WarningCode::PodsDiffer,
            Self::PodsDrifted { .. } => WarningCode::PodsDrifted,
            Self::PodsOfOldRevision { .. } => WarningCode::PodsOfOldRevision,
            Self::OrderWaits { .. } => WarningCode::OrderWaits,
            Self::DisruptionBudgetAllowsNone { .. } => WarningCode::DisruptionBudgetAllowsNone,
            Self::PodsNotScheduled { .. } => WarningCode::PodsNotScheduled,
            Self::AvailabilityUsedUp { .. } => WarningCode::AvailabilityUsedUp,
            Self::PullQuotaExceeded { .. } => WarningCode::PullQuotaExceeded,
            Self::AutoscalerActive { .. } => WarningCode::AutoscalerActive,
            Self::ManagedByArgoCd { .. } => WarningCode::ManagedByArgoCd,
            Self::ManagedByFlux { .. } => WarningCode::ManagedByFlux,
            Self::ManagedByHelm { .. } => WarningCode::ManagedByHelm,
            Self::ImageFieldOwned { .. } => WarningCode::ImageFieldOwned,
            Self::OutsideTemplate { .. } => WarningCode::OutsideTemplate,
            Self::RemovalsUnseen => WarningCode::RemovalsUnseen,
            Self::HistoryEvicted { .. } => WarningCode::HistoryEvicted,
            Self::ServerWarning { .. } => WarningCode::ServerWarning,
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

    /// Returns one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::NotRead { what } => what.clone(),
            Self::TemplateKeepsImage => {
                "the owner's template stays as it is: a pod made later (scaling, eviction, a lost node) gets what the template says".into()
            }
            Self::ContainerInjected { container } => {
                format!("container {container} is not in the template; pods made later get what its injector says")
            }
            Self::ContainerFilesLost { container } => {
                format!("container {container} asks for ephemeral-storage: files outside its volumes are lost when it restarts")
            }
            Self::ConfigurationReread { container, sources } => {
                format!("container {container} reads {} again when it restarts", sources.join(", "))
            }
            Self::MetadataReadOnRestart { container, path, restarts: true } => {
                format!("container {container} has {path} in its environment and gets the new value, since it restarts")
            }
            Self::MetadataReadOnRestart { container, path, restarts: false } => {
                format!("init container {container} has {path} in its environment; it has run already and does not see the new value")
            }
            Self::ChecksumChanges { key } => {
                format!("the annotation {key} changes without a restart; it usually stands there to make new pods")
            }
            Self::NoReadinessProbe { container } => {
                format!("container {container} has no readiness probe: traffic may reach it while it is down")
            }
            Self::TrafficWhileDown { services, why, remedy } => {
                let services: Vec<String> = services.iter().map(|service| format!("service/{service}")).collect();
                format!(
                    "{} may send traffic to a container that is down, since the pods cannot be taken out first: {why}; to make it possible, {remedy}",
                    services.join(", ")
                )
            }
            Self::LabelLeftOff { label, pods } => {
                format!(
                    "an earlier run took label {label} off {} and did not put it back: no Service that selects it sends traffic there until it is",
                    if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
                )
            }
            Self::GateLeftOff { gate, pods } => {
                format!(
                    "an earlier run turned readiness gate {gate} off for {} and did not turn it on again: a pod is not ready until it is",
                    if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
                )
            }
            Self::StartupProbeUnreliable { container, kubelets } => {
                format!(
                    "kubelet {} may show {container} as ready before its startup probe ran; ready must hold for one period of it",
                    kubelets.join(", ")
                )
            }
            Self::RestartInSeries { containers } => {
                let names: Vec<&str> = containers.iter().map(ContainerName::as_str).collect();
                format!("{} of a pod are stopped one after the other before the first starts again", names.join(", "))
            }
            Self::SlowStop { container, seconds, pre_stop: true } => {
                format!("container {container} has a preStop hook; stopping it may take up to {seconds} s")
            }
            Self::SlowStop { container, seconds, pre_stop: false } => {
                format!("stopping container {container} may take up to {seconds} s (terminationGracePeriodSeconds)")
            }
            Self::RepositoryChanges { container, from, to } => {
                format!("the image of {container} comes from another repository: {from} before, {to} now")
            }
            Self::MutableTag { container, image } => {
                format!("the tag of {image} ({container}) may be pushed again; nodes may then run different bits")
            }
            Self::StaleImageStays { container, image } => {
                format!("a node that has {image} ({container}) already does not look for a newer one (imagePullPolicy IfNotPresent)")
            }
            Self::PullNeedsRegistry { container, registry } => {
                format!("{registry} must answer when {container} restarts (imagePullPolicy Always), else it stays down")
            }
            Self::ImageNeverPulled { container, image } => {
                format!("each node must have {image} already (imagePullPolicy Never), else {container} stays down")
            }
            Self::SameDigest { container, image } => {
                format!("{image} is what {container} runs already, under another name: it restarts with the same bits")
            }
            Self::RestartBacksOff { container, pods, seconds } => {
                format!(
                    "{container} of {} had this image a moment ago: the kubelet holds its start back for about {seconds} s (CrashLoopBackOff, though nothing has crashed)",
                    if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
                )
            }
            Self::PodsDiffer { container, images } => {
                format!("the pods run different images of {container} now: {}", images.join(", "))
            }
            Self::PodsDrifted { container, template, images, pods } => {
                format!(
                    "{} {} for {container}, which this change does not touch; the template says {template}",
                    if *pods == 1 { "1 pod runs".to_owned() } else { format!("{pods} pods run") },
                    images.join(", ")
                )
            }
            Self::PodsOfOldRevision { pods, current } => {
                format!(
                    "{} of an older revision than {current}: only what is shown here changes in {}",
                    if *pods == 1 { "1 pod is".to_owned() } else { format!("{pods} pods are") },
                    if *pods == 1 { "it" } else { "them" }
                )
            }
            Self::OrderWaits { pod, allowed } => {
                format!(
                    "pod/{pod} is not ready, and its turn comes later: it counts as down, and {allowed} may be, so no pod is taken until it is ready"
                )
            }
            Self::DisruptionBudgetAllowsNone { budget, pods, why } => {
                format!(
                    "poddisruptionbudget/{budget} allows none of {} to be down now: {why}; a pod that is ready is taken down only when it allows one",
                    if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
                )
            }
            Self::PodsNotScheduled { pod, pods, why } => {
                let pods =
                    if *pods == 1 { format!("pod/{pod} is") } else { format!("{pods} pods, among them pod/{pod}, are") };
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                format!("{pods} not scheduled{why}: the update cannot be confirmed, nor its time estimated, before a node runs each pod")
            }
            Self::AvailabilityUsedUp { pod, down, allowed } => {
                let first = if pod.is_empty() { String::new() } else { format!(", among them pod/{pod}") };
                format!(
                    "{} down or missing{first}, and {allowed} may be (maxUnavailable): no pod is taken down until there are fewer",
                    if *down == 1 { "1 pod is".to_owned() } else { format!("{down} pods are") }
                )
            }
            Self::PullQuotaExceeded { quota, left, needed } => {
                format!(
                    "resourcequota/{quota} allows {left} more pods, and {needed} would pull the images first: without them a missing image shows only once a container has been stopped"
                )
            }
            Self::AutoscalerActive { autoscaler } => {
                format!("horizontalpodautoscaler/{autoscaler} may scale meanwhile; its new pods get the template's image")
            }
            Self::ManagedByArgoCd { application, images } => managed("Argo CD", "sync", application, images),
            Self::ManagedByFlux { source, images } => managed("Flux", "reconciliation", source, images),
            Self::ManagedByHelm { release, images } => managed("Helm", "upgrade", release, images),
            Self::ImageFieldOwned { container, manager } => {
                format!("the image of {container} is applied by {manager}; its next apply of another value reports a conflict")
            }
            Self::OutsideTemplate { paths } => {
                format!("the manifest also changes {}, which is outside the template and is not touched", paths.join(", "))
            }
            Self::RemovalsUnseen => {
                "the object was never applied: fields that the manifest leaves out are not seen as removed".into()
            }
            Self::HistoryEvicted { name, revision } => {
                format!("revision {revision} (replicaset/{name}) leaves the history at the first step, also if the rollout is taken back (revisionHistoryLimit 1)")
            }
            Self::ServerWarning { message } => format!("the server says: {message}"),
            Self::WorkloadAdded => "the workload is new: kubectl apply creates it, and there is nothing to do in place".into(),
            Self::WorkloadRemoved => "the workload is removed: the newer manifests do not have it".into(),
        }
    }
}

fn managed(tool: &str, next: &str, name: &str, images: &[String]) -> String {
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    let what = if images.is_empty() { "the change".to_owned() } else { images.join(", ") };
    format!("{tool}{name} makes this object: commit {what} at its source, or later pods and the next {next} go back")
}
