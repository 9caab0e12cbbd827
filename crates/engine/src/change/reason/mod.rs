//! Why something cannot be done in place, and what is worth knowing though it can.
//!
//! A closed set each. Nothing is refused without a reason, and a warning applies to exactly the plan that it is in. What a code
//! means at length is in `docs/reference/reasons.md`.

mod admission;
mod class;
mod code;
mod hint;
mod stays_down;
mod warning;

use serde::Serialize;

pub use class::{ReasonClass, verdict};
pub use hint::see_its_rollout;
pub use stays_down::{Ended, NotStartedAgain, Own};
pub use warning::{Warning, WarningCode};

use self::code::findings;
use self::hint::changes_otherwise;
use crate::k8s::metadata::{MetadataMap, RESTARTED_AT, ROLLOUT_ANNOTATION};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::kinds::{Course, IfResumed};
use crate::value::suggest;

findings! {
    /// Why something cannot be done in place. Paths name containers and the like by name.
    Reason, ReasonCode;

    PermissionMissing {
        verb: String,
        resource: String,
        #[serde(default)]
        namespace: String,
        message: String,
        /// The words after `kubectl inplace rbac` that print a Role which has it.
        #[serde(default)]
        role: String,
    } => if message.is_empty() { format!("you may not {verb} {resource}") } else { format!("you may not {verb} {resource}: {message}") };
    TemplateFieldNotInPlace { path: String } => match changes_otherwise(path) {
        Some(_) => format!("{path} is not changed in a running pod by this program"),
        None => format!("{path} cannot change in a running pod"),
    };
    VolumeClaimTemplateChanges { path: String } => format!("{path} cannot change: the claims exist already");
    ContainerAdded { list: ContainerList, container: ContainerName } => format!("container {container} would be added");
    ContainerRemoved { list: ContainerList, container: ContainerName } => format!("container {container} would be removed");
    ContainerRenamed { list: ContainerList, container: ContainerName, to: ContainerName } =>
        format!("container {container} would be renamed to {to}");
    QosClassChanges { from: String, to: String } => format!("the pod's quality of service class would change from {from} to {to}");
    SelectorLabelChanges { key: String } => format!("the owner selects its pods by the label {key}");
    TolerationRemoved { toleration: String } =>
        format!("a running pod cannot lose the toleration {toleration}: it only takes more of them");
    MetadataKeyReserved { path: String } => format!("{path} belongs to a controller, or is fixed in a pod");
    MetadataReadByContainer { list: ContainerList, container: ContainerName, path: String } =>
        format!("container {container} has {path} in its environment and does not restart, so it would keep the value from before");
    ResourceRemoved { path: String } => format!("{path} cannot be removed from a running pod");
    RequestAboveLimit { path: String, value: String, limit: String } => {
        let whose = if path.starts_with("spec.resources.") { "pod" } else { "container" };
        format!("{path} would be {value}, above the {whose}'s limit of {limit}")
    };
    FractionalMemory { path: String, value: String } => format!("{path} would be {value}, which is no whole number of bytes");
    PodRequestTooSmall { path: String } => format!("{path} would be less than what the containers request together");
    LimitAbovePod { path: String } => format!("{path} would be above the limit of the pod as a whole");
    PodLimitRestarts { container: ContainerName, path: String } => format!(
        "container {container} has no limit of its own and its resizePolicy restarts it when {path} changes, which this program does not do"
    );
    PodResizeNotSupported { node: String } =>
        format!("node {node} does not report what its pods have as a whole, so they cannot be resized as a whole");
    ResizeNotSupported { node: String } => format!("node {node} does not report what its containers have, so they cannot be resized");
    WindowsPod => "cpu and memory of a Windows pod cannot change while it runs";
    RestartRequested => "the annotation of kubectl rollout restart changes: it asks for new pods, not for a new annotation";
    /// The container as it was written, and the one that may have been meant.
    ContainerNotFound { container: ContainerName, suggestion: Option<String>, known: Vec<ContainerName> } =>
        format!("there is no container {container}; there are {}", listed(known));
    ContainerNotInPod { list: ContainerList, container: ContainerName } => format!("this pod has no container {container}");
    ImageMalformed { list: ContainerList, container: ContainerName, image: String, why: String } =>
        format!("the image {image:?} for container {container} is not a valid image reference: {why}");
    ImageWhitespace { list: ContainerList, container: ContainerName, image: String } =>
        format!("the image {image:?} for container {container} has whitespace around it, which a pod does not take");
    DigestUnknown { list: ContainerList, container: ContainerName, why: String } =>
        format!("the digest of container {container} is not known: {why}");
    PodTerminating => "the pod is being deleted; its kubelet ignores a changed image";
    PodFinished { phase: String } => format!("the pod has ended ({phase}); nothing is started in it any more");
    MirrorPod => "this is the mirror of a static pod; its kubelet runs the file on the node, not this object";
    RestartPolicyNotAlways(why: Box<NotStartedAgain>) => why.sentence();
    SidecarNeedsNewerKubelet { container: ContainerName, kubelet: String } =>
        format!("the node's kubelet {kubelet} does not restart the sidecar {container} when its image changes (1.32 does)");
    SidecarStartupPending { container: ContainerName } =>
        format!("the startup probe of the sidecar {container} has not passed; until then the kubelet ignores a changed image");
    OrphanPod => "the selector matches this pod, but the workload does not control it";
    PodOfOldRevision { revision: String, current: String } => format!(
        "the pod was made from revision {revision} of the template, and the manifest changes {current}: it would differ in more than this change"
    );
    NoPods => "there is no pod to update";
    OwnerRollingOut { status: String } => format!("its controller is replacing pods now: {status}");
    OwnerNotObserved => "its controller has not observed the latest spec";
    OwnerPaused {
        if_resumed: IfResumed,
        /// A rollout of this program has left it so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_a_rollout: bool,
    } => paused(*if_resumed, *by_a_rollout);
    OwnerIsControlled { kind: String, name: String } =>
        format!("{kind} {name} controls it and decides its template: what is changed here would be set back");
    PodIsControlled {
        kind: String,
        name: String,
        /// What to name instead, such as `deployment/web`, if it can be updated in place.
        workload: Option<String>,
    } => format!("{kind} {name} controls this pod: a replacement pod gets what its template says, not this change");
    RolloutHeld {
        /// Empty where the lock cannot be read.
        id: String,
        who: String,
        /// RFC 3339.
        since: String,
        /// The same as text, such as `3m ago`; empty where the lock does not say.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        began: Box<str>,
        state: Box<str>,
        /// Which process runs it, and whether that is active; empty for a rollout that has ended.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        run: Box<str>,
        /// `--take-over` puts this update in its place: nothing that it brings would be left halfway.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        makes_way: bool,
    } => {
        let part = |before: &str, text: &str, after: &str| if text.is_empty() { String::new() } else { format!("{before}{text}{after}") };
        let (id, began, state, run) = (part(" \"", id, "\""), part(" ", began, ""), part(", ", state, ""), part(": ", run, ""));
        format!("rollout{id} is in progress, started by {who}{began}{state}{run}")
    };
    PodNotFound { pod: String, suggestion: Option<String> } => format!("it has no pod {pod}");
    NoPodOnNode { node: String, suggestion: Option<String> } => format!("none of the pods to update is on the node {node}");
    SubsetNotDurable =>
        "only some of its pods are chosen, and its controller would replace the others once its update strategy is back";
    OwnerTerminating => "it is being deleted, and its pods with it";
    NoUnavailabilityAllowed { path: String } =>
        "the owner lets no pod be down (maxUnavailable 0), and a restart in place takes one down";
    DisruptionBudgetBlocks { budget: String, why: String, pods: usize } => {
        let of = if *pods == 1 { "this pod".to_owned() } else { format!("any of {pods} pods") };
        format!("poddisruptionbudget/{budget} never allows {of} to be down: {why}")
    };
    ReplicaSetOfOldRevision { deployment: String } =>
        format!("it is an old revision of deployment/{deployment}, which has a newer ReplicaSet");
    AdmissionRefused {
        message: String,
        /// Containers that the message is about, and that the change leaves alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<ContainerName>,
    } => admission::sentence(message, others);
    PullPodRefused { images: String, message: String } =>
        format!("the server refuses the pods that pull {images} first (--pre-pull=always): {message}");
    AdmissionRewrites { list: ContainerList, container: ContainerName, image: String } =>
        format!("admission (a webhook or a policy) would replace the image of {container} with {image}");
    AdmissionAdds {
        /// Path and value; no value for one that would be gone.
        values: Vec<(String, Option<String>)>,
    } => {
        let set = |(path, value): &(String, Option<String>)| format!("{path} to {}", value.as_deref().unwrap_or("nothing"));
        format!("the server would also set {}", values.iter().map(set).collect::<Vec<_>>().join(", "))
    };
    OwnerFieldImmutable { path: String } => format!("{path} cannot change once the object exists");
    ControllerNotInPlace { path: String, course: Course, because: String } => match course {
        Course::ReplacesPods => format!("its controller replaces the pods, since {because}"),
        Course::RefusesChange => format!("its admission webhook refuses the change, since {because}"),
        Course::NotKnown => format!("what its controller does is not known, since {because}"),
    };
    LeftToController { path: String, what: String } => format!("{path} leaves to its controller {what}");
    SidecarNotUpdated { path: String, why: String } => format!("{path} {why}");
    UpdateStrategyHolds { path: String, what: String } => format!("{path} {what}");
    ManifestsNotMergeable { message: String } => format!("the manifests cannot be merged: {message}");
    /// `moved` is one sentence.
    PlanStale { path: String, moved: String } => moved.clone();
    ServerTooOld { server: String, needs: String } =>
        format!("the API server is Kubernetes {server}, and this needs {needs} or newer");
    KruiseNotInstalled =>
        "the server does not have containerrecreaterequests.apps.kruise.io: OpenKruise is not installed";
}

fn paused(if_resumed: IfResumed, by_a_rollout: bool) -> String {
    let then = if_resumed.sentence();
    if by_a_rollout {
        return format!("its rollouts are paused, as an unfinished rollout in place leaves them: {then}");
    }
    match if_resumed {
        IfResumed::KeepsPods => "it is paused (spec.paused), so its pods shall stay as they are".into(),
        IfResumed::ReplacesPods => format!("its rollouts are paused, and its pods do not have its template: {then}"),
        IfResumed::NotKnown => {
            format!("it is paused (spec.paused), and whether its pods have its template is not known: {then}")
        }
    }
}

fn listed(containers: &[ContainerName]) -> String {
    containers.iter().map(ContainerName::as_str).collect::<Vec<_>>().join(", ")
}

impl Reason {
    /// Returns the reason that no container has a name, with the one that may have been meant.
    pub fn container_not_found(name: &ContainerName, known: &[ContainerName]) -> Self {
        let suggestion = suggest::closest(name.as_str(), known.iter().map(ContainerName::as_str)).map(str::to_owned);
        Self::ContainerNotFound { container: name.clone(), suggestion, known: known.to_vec() }
    }

    /// Returns whether the reason is a difference between template and manifest.
    pub fn is_of_the_template(&self) -> bool {
        matches!(
            self,
            Self::TemplateFieldNotInPlace { .. }
                | Self::VolumeClaimTemplateChanges { .. }
                | Self::ContainerAdded { .. }
                | Self::ContainerRemoved { .. }
                | Self::ContainerRenamed { .. }
                | Self::QosClassChanges { .. }
                | Self::SelectorLabelChanges { .. }
                | Self::TolerationRemoved { .. }
                | Self::MetadataKeyReserved { .. }
                | Self::ResourceRemoved { .. }
                | Self::ControllerNotInPlace { .. }
                | Self::RestartRequested
        )
    }

    /// Returns the path that is meant, where there is one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about no field")]
    pub fn path(&self) -> Option<String> {
        let within =
            |list: &ContainerList, container, field: &str| format!("spec.{}[{container}]{field}", list.spec_field());
        Some(match self {
            Self::TemplateFieldNotInPlace { path }
            | Self::VolumeClaimTemplateChanges { path }
            | Self::OwnerFieldImmutable { path }
            | Self::ControllerNotInPlace { path, .. }
            | Self::LeftToController { path, .. }
            | Self::SidecarNotUpdated { path, .. }
            | Self::UpdateStrategyHolds { path, .. }
            | Self::PlanStale { path, .. }
            | Self::MetadataKeyReserved { path }
            | Self::NoUnavailabilityAllowed { path }
            | Self::ResourceRemoved { path }
            | Self::RequestAboveLimit { path, .. }
            | Self::FractionalMemory { path, .. }
            | Self::PodRequestTooSmall { path }
            | Self::LimitAbovePod { path }
            | Self::PodLimitRestarts { path, .. }
            | Self::MetadataReadByContainer { path, .. } => path.clone(),
            Self::ContainerAdded { list, container }
            | Self::ContainerRemoved { list, container }
            | Self::ContainerNotInPod { list, container } => within(list, container, ""),
            Self::ContainerRenamed { list, container, .. } => within(list, container, ".name"),
            Self::ImageMalformed { list, container, .. }
            | Self::ImageWhitespace { list, container, .. }
            | Self::DigestUnknown { list, container, .. }
            | Self::AdmissionRewrites { list, container, .. } => within(list, container, ".image"),
            Self::SidecarNeedsNewerKubelet { container, .. } | Self::SidecarStartupPending { container } => {
                within(&ContainerList::InitContainers, container, ".image")
            }
            Self::AdmissionAdds { values } => return values.first().map(|(path, _)| path.clone()),
            Self::TolerationRemoved { .. } => "spec.tolerations".into(),
            Self::QosClassChanges { .. } => "status.qosClass".into(),
            Self::SelectorLabelChanges { key } => MetadataMap::Labels.path(key),
            Self::RestartRequested => MetadataMap::Annotations.path(RESTARTED_AT),
            Self::RestartPolicyNotAlways(why) => why.path(),
            Self::PodTerminating | Self::OwnerTerminating => "metadata.deletionTimestamp".into(),
            Self::PodFinished { .. } => "status.phase".into(),
            Self::MirrorPod => "metadata.annotations[kubernetes.io/config.mirror]".into(),
            Self::OrphanPod | Self::OwnerIsControlled { .. } | Self::PodIsControlled { .. } => {
                "metadata.ownerReferences".into()
            }
            Self::RolloutHeld { .. } => MetadataMap::Annotations.path(ROLLOUT_ANNOTATION),
            Self::OwnerPaused { .. } => "spec.paused".into(),
            Self::OwnerNotObserved => "status.observedGeneration".into(),
            _ => return None,
        })
    }
}
