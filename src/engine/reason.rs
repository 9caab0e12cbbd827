//! Why something cannot be done in place, and what is worth knowing though it can.
//!
//! A closed set each: a stable CamelCase code, one sentence, one hint. Nothing is refused without one.

use serde::{Deserialize, Serialize};

use super::names::ContainerName;

/// Why something cannot be done in place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "code", rename_all_fields = "camelCase")]
pub enum Reason {
    /// A changed path of the template that no rule claims.
    #[serde(rename = "TemplateFieldNotInPlace")]
    TemplateFieldNotInPlace {
        /// The path, containers by name.
        path: String,
    },
    /// The manifest has a container that the template has not.
    #[serde(rename = "ContainerAdded")]
    ContainerAdded {
        /// The container.
        container: ContainerName,
    },
    /// The template has a container that the manifest has not.
    #[serde(rename = "ContainerRemoved")]
    ContainerRemoved {
        /// The container.
        container: ContainerName,
    },
    /// Neither the template nor any pod has the container.
    #[serde(rename = "ContainerNotFound")]
    ContainerNotFound {
        /// As it was written.
        container: ContainerName,
        /// What may have been meant.
        suggestion: Option<String>,
        /// The containers that there are.
        known: Vec<ContainerName>,
    },
    /// This pod does not have the container.
    #[serde(rename = "ContainerNotInPod")]
    ContainerNotInPod {
        /// The container.
        container: ContainerName,
    },
    /// The image is not a reference that a kubelet can pull.
    #[serde(rename = "ImageMalformed")]
    ImageMalformed {
        /// The container.
        container: ContainerName,
        /// As it was written.
        image: String,
        /// What is wrong with it.
        why: String,
    },
    /// The pod is being deleted.
    #[serde(rename = "PodTerminating")]
    PodTerminating,
    /// The pod has ended for good.
    #[serde(rename = "PodFinished")]
    PodFinished {
        /// `Succeeded` or `Failed`.
        phase: String,
    },
    /// A static pod's mirror: the kubelet runs the file's pod.
    #[serde(rename = "MirrorPod")]
    MirrorPod,
    /// A failed start would end the pod for good.
    #[serde(rename = "RestartPolicyNotAlways")]
    RestartPolicyNotAlways {
        /// `Never` or `OnFailure`.
        policy: String,
    },
    /// The node's kubelet does not restart a sidecar whose image changes.
    #[serde(rename = "SidecarNeedsNewerKubelet")]
    SidecarNeedsNewerKubelet {
        /// The sidecar.
        container: ContainerName,
        /// The kubelet's version.
        kubelet: String,
    },
    /// A sidecar's change is ignored until its startup probe has passed.
    #[serde(rename = "SidecarStartupPending")]
    SidecarStartupPending {
        /// The sidecar.
        container: ContainerName,
    },
    /// The pod has no controller though the workload's selector matches it.
    #[serde(rename = "OrphanPod")]
    OrphanPod,
    /// There is no pod to update.
    #[serde(rename = "NoPods")]
    NoPods,
    /// The owner's controller is replacing pods.
    #[serde(rename = "OwnerRollingOut")]
    OwnerRollingOut {
        /// What of its status shows it.
        status: String,
    },
    /// The owner lets no pod be down.
    #[serde(rename = "NoUnavailabilityAllowed")]
    NoUnavailabilityAllowed,
    /// The caller lacks a permission.
    #[serde(rename = "PermissionMissing")]
    PermissionMissing {
        /// The verb.
        verb: String,
        /// The resource.
        resource: String,
        /// The server's words.
        message: String,
    },
    /// The server would refuse the patch.
    #[serde(rename = "AdmissionRefused")]
    AdmissionRefused {
        /// The server's words.
        message: String,
    },
    /// A field of the owner, outside its template, that the API server never lets change.
    #[serde(rename = "OwnerFieldImmutable")]
    OwnerFieldImmutable {
        /// The path in the owner.
        path: String,
    },
    /// The manifests cannot be merged as `kubectl apply` would.
    #[serde(rename = "ManifestsNotMergeable")]
    ManifestsNotMergeable {
        /// Why.
        message: String,
    },
}

impl Reason {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TemplateFieldNotInPlace { .. } => "TemplateFieldNotInPlace",
            Self::ContainerAdded { .. } => "ContainerAdded",
            Self::ContainerRemoved { .. } => "ContainerRemoved",
            Self::ContainerNotFound { .. } => "ContainerNotFound",
            Self::ContainerNotInPod { .. } => "ContainerNotInPod",
            Self::ImageMalformed { .. } => "ImageMalformed",
            Self::PodTerminating => "PodTerminating",
            Self::PodFinished { .. } => "PodFinished",
            Self::MirrorPod => "MirrorPod",
            Self::RestartPolicyNotAlways { .. } => "RestartPolicyNotAlways",
            Self::SidecarNeedsNewerKubelet { .. } => "SidecarNeedsNewerKubelet",
            Self::SidecarStartupPending { .. } => "SidecarStartupPending",
            Self::OrphanPod => "OrphanPod",
            Self::NoPods => "NoPods",
            Self::OwnerRollingOut { .. } => "OwnerRollingOut",
            Self::NoUnavailabilityAllowed => "NoUnavailabilityAllowed",
            Self::PermissionMissing { .. } => "PermissionMissing",
            Self::AdmissionRefused { .. } => "AdmissionRefused",
            Self::OwnerFieldImmutable { .. } => "OwnerFieldImmutable",
            Self::ManifestsNotMergeable { .. } => "ManifestsNotMergeable",
        }
    }

    /// Returns the path that is meant, where there is one.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::TemplateFieldNotInPlace { path } | Self::OwnerFieldImmutable { path } => Some(path.clone()),
            Self::ContainerAdded { container }
            | Self::ContainerRemoved { container }
            | Self::ContainerNotFound { container, .. }
            | Self::ContainerNotInPod { container } => Some(format!("spec.containers[{container}]")),
            Self::ImageMalformed { container, .. } => Some(format!("spec.containers[{container}].image")),
            Self::SidecarNeedsNewerKubelet { container, .. } | Self::SidecarStartupPending { container } => {
                Some(format!("spec.initContainers[{container}].image"))
            }
            Self::RestartPolicyNotAlways { .. } => Some("spec.restartPolicy".into()),
            Self::PodTerminating => Some("metadata.deletionTimestamp".into()),
            Self::PodFinished { .. } => Some("status.phase".into()),
            Self::MirrorPod => Some("metadata.annotations[kubernetes.io/config.mirror]".into()),
            Self::OrphanPod => Some("metadata.ownerReferences".into()),
            Self::NoUnavailabilityAllowed => Some("spec.strategy.rollingUpdate.maxUnavailable".into()),
            Self::NoPods
            | Self::OwnerRollingOut { .. }
            | Self::PermissionMissing { .. }
            | Self::AdmissionRefused { .. }
            | Self::ManifestsNotMergeable { .. } => None,
        }
    }

    /// Returns one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::TemplateFieldNotInPlace { path } => format!("{path} cannot change in a running pod"),
            Self::ContainerAdded { container } => format!("container {container} would be added"),
            Self::ContainerRemoved { container } => format!("container {container} would be removed"),
            Self::ContainerNotFound { container, known, .. } => {
                let known = known.iter().map(ContainerName::as_str).collect::<Vec<_>>().join(", ");
                format!("there is no container {container}; there are {known}")
            }
            Self::ContainerNotInPod { container } => format!("this pod has no container {container}"),
            Self::ImageMalformed { container, image, why } => {
                format!("the image {image:?} for container {container} is no image reference: {why}")
            }
            Self::PodTerminating => "the pod is being deleted; its kubelet ignores a changed image".into(),
            Self::PodFinished { phase } => format!("the pod has ended ({phase}); nothing is started in it any more"),
            Self::MirrorPod => {
                "this is the mirror of a static pod; its kubelet runs the file on the node, not this object".into()
            }
            Self::RestartPolicyNotAlways { policy } => {
                format!("restartPolicy is {policy}: if the new image does not start, the pod has ended for good")
            }
            Self::SidecarNeedsNewerKubelet { container, kubelet } => {
                format!(
                    "the node's kubelet {kubelet} does not restart the sidecar {container} when its image changes (1.32 does)"
                )
            }
            Self::SidecarStartupPending { container } => {
                format!(
                    "the startup probe of the sidecar {container} has not passed; until then the kubelet ignores a changed image"
                )
            }
            Self::OrphanPod => "the selector matches this pod, but the workload does not control it".into(),
            Self::NoPods => "there is no pod to update".into(),
            Self::OwnerRollingOut { status } => format!("its controller is replacing pods now: {status}"),
            Self::NoUnavailabilityAllowed => {
                "the owner lets no pod be down (maxUnavailable 0), and a restart in place takes one down".into()
            }
            Self::PermissionMissing { verb, resource, .. } => format!("you may not {verb} {resource}"),
            Self::AdmissionRefused { message } => format!("the server refuses the patch: {message}"),
            Self::OwnerFieldImmutable { path } => format!("{path} cannot change once the object exists"),
            Self::ManifestsNotMergeable { message } => format!("the manifests cannot be merged: {message}"),
        }
    }

    /// Returns what to do about it, without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Self::TemplateFieldNotInPlace { .. } | Self::ContainerAdded { .. } | Self::ContainerRemoved { .. } => {
                "apply it with kubectl apply, which replaces the pods, or leave it out of this change".into()
            }
            Self::ContainerNotFound { suggestion: Some(suggestion), .. } => format!("did you mean {suggestion}?"),
            Self::ContainerNotFound { suggestion: None, .. } => "name one of them".into(),
            Self::ContainerNotInPod { .. } => {
                "the pod is of another template; its owner makes it anew when it is deleted".into()
            }
            Self::ImageMalformed { .. } => "write it as registry/repository:tag or @sha256:digest".into(),
            Self::PodTerminating => "wait for its replacement, which has the template's image".into(),
            Self::PodFinished { .. } => "delete it, so that its owner makes another".into(),
            Self::MirrorPod => "change the manifest on the node".into(),
            Self::RestartPolicyNotAlways { .. } => "create the pod anew instead".into(),
            Self::SidecarNeedsNewerKubelet { .. } => "replace the pod, or upgrade the node".into(),
            Self::SidecarStartupPending { .. } => "wait until the sidecar has started".into(),
            Self::OrphanPod => "name the pod itself if you mean it".into(),
            Self::NoPods => "change the template for later pods: kubectl set image".into(),
            Self::OwnerRollingOut { .. } => "wait for it: kubectl rollout status".into(),
            Self::NoUnavailabilityAllowed => "say how many may be down: --max-unavailable 1".into(),
            Self::PermissionMissing { verb, resource, .. } => {
                format!("check it with: kubectl auth can-i {verb} {resource}")
            }
            Self::AdmissionRefused { .. } => {
                "the words are the API server's or an admission webhook's; change what they name".into()
            }
            Self::OwnerFieldImmutable { .. } => {
                "leave it out of this change; only deleting and making the object anew changes it (kubectl delete --cascade=orphan keeps its pods)".into()
            }
            Self::ManifestsNotMergeable { .. } => "kubectl apply would refuse it too; correct the manifest".into(),
        }
    }
}

/// What is worth knowing though it can be done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "code", rename_all_fields = "camelCase")]
pub enum Warning {
    /// The owner's template keeps the old image.
    #[serde(rename = "TemplateKeepsImage")]
    TemplateKeepsImage,
    /// A sidecar was injected: it is in the pods and not in the template.
    #[serde(rename = "ContainerInjected")]
    ContainerInjected {
        /// The container.
        container: ContainerName,
    },
    /// No readiness probe: traffic may reach a container that is down.
    #[serde(rename = "NoReadinessProbe")]
    NoReadinessProbe {
        /// The container.
        container: ContainerName,
    },
    /// The registry or repository changes.
    #[serde(rename = "RepositoryChanges")]
    RepositoryChanges {
        /// The container.
        container: ContainerName,
        /// The repository before.
        from: String,
        /// The repository after.
        to: String,
    },
    /// The tag may be pushed again.
    #[serde(rename = "MutableTag")]
    MutableTag {
        /// The container.
        container: ContainerName,
        /// The image.
        image: String,
    },
    /// Fields outside the template differ; this program does not touch them.
    #[serde(rename = "OutsideTemplate")]
    OutsideTemplate {
        /// The paths.
        paths: Vec<String>,
    },
    /// The object carries neither a last applied configuration nor server-side apply's field ownership.
    #[serde(rename = "RemovalsUnseen")]
    RemovalsUnseen,
    /// The pods differ in what they run now.
    #[serde(rename = "PodsDiffer")]
    PodsDiffer {
        /// The container.
        container: ContainerName,
        /// The images that stand there now.
        images: Vec<String>,
    },
    /// Something could not be read, so the answer is weaker.
    #[serde(rename = "NotRead")]
    NotRead {
        /// What, and what follows.
        what: String,
    },
    /// The server said so.
    #[serde(rename = "ServerWarning")]
    ServerWarning {
        /// Its words.
        message: String,
    },
    /// Of two manifests only the newer has the workload.
    #[serde(rename = "WorkloadAdded")]
    WorkloadAdded,
    /// Of two manifests only the older has the workload.
    #[serde(rename = "WorkloadRemoved")]
    WorkloadRemoved,
}

impl Warning {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TemplateKeepsImage => "TemplateKeepsImage",
            Self::ContainerInjected { .. } => "ContainerInjected",
            Self::NoReadinessProbe { .. } => "NoReadinessProbe",
            Self::RepositoryChanges { .. } => "RepositoryChanges",
            Self::MutableTag { .. } => "MutableTag",
            Self::OutsideTemplate { .. } => "OutsideTemplate",
            Self::RemovalsUnseen => "RemovalsUnseen",
            Self::PodsDiffer { .. } => "PodsDiffer",
            Self::NotRead { .. } => "NotRead",
            Self::ServerWarning { .. } => "ServerWarning",
            Self::WorkloadAdded => "WorkloadAdded",
            Self::WorkloadRemoved => "WorkloadRemoved",
        }
    }

    /// Returns one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::TemplateKeepsImage => "the owner's template keeps its image: a pod made later (scaling, eviction, a lost node) gets the template's".into(),
            Self::ContainerInjected { container } => format!("container {container} is not in the template; pods made later get what its injector says"),
            Self::NoReadinessProbe { container } => format!("container {container} has no readiness probe: traffic may reach it while it is down"),
            Self::RepositoryChanges { container, from, to } => format!("the image of {container} comes from another repository: {from} before, {to} now"),
            Self::MutableTag { container, image } => format!("the tag of {image} ({container}) may be pushed again; nodes may then run different bits"),
            Self::OutsideTemplate { paths } => format!("the manifest also changes {}, which is outside the template and is not touched", paths.join(", ")),
            Self::RemovalsUnseen => "the object was never applied: fields that the manifest leaves out are not seen as removed".into(),
            Self::PodsDiffer { container, images } => format!("the pods run different images of {container} now: {}", images.join(", ")),
            Self::NotRead { what } => what.clone(),
            Self::ServerWarning { message } => format!("the server says: {message}"),
            Self::WorkloadAdded => "the workload is new: its pods are made, and there is nothing to do in place".into(),
            Self::WorkloadRemoved => "the workload is removed: the newer manifests do not have it".into(),
        }
    }
}
