//! Which path of an object a reason is about.

use super::Reason;
use crate::k8s::metadata::{MetadataMap, RESTARTED_AT, ROLLOUT_ANNOTATION};
use crate::k8s::pod::ContainerList;

impl Reason {
    /// Returns the path that is meant, where there is one.
    pub fn path(&self) -> Option<String> {
        let within = |list: &ContainerList, container, field: &str| {
            Some(format!("spec.{}[{container}]{field}", list.spec_field()))
        };
        match self {
            Self::TemplateFieldNotInPlace { path }
            | Self::VolumeClaimTemplateChanges { path }
            | Self::OwnerFieldImmutable { path }
            | Self::ControllerNotInPlace { path, .. }
            | Self::PlanStale { path, .. }
            | Self::MetadataKeyReserved { path }
            | Self::NoUnavailabilityAllowed { path }
            | Self::ResourceRemoved { path }
            | Self::RequestAboveLimit { path, .. }
            | Self::FractionalMemory { path, .. }
            | Self::PodRequestTooSmall { path }
            | Self::LimitAbovePod { path }
            | Self::PodLimitRestarts { path, .. }
            | Self::MetadataReadByContainer { path, .. } => Some(path.clone()),
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
            Self::AdmissionAdds { values } => values.first().map(|(path, _)| path.clone()),
            Self::TolerationRemoved { .. } => Some("spec.tolerations".into()),
            Self::QosClassChanges { .. } => Some("status.qosClass".into()),
            Self::SelectorLabelChanges { key } => Some(MetadataMap::Labels.path(key)),
            Self::RestartRequested => Some(MetadataMap::Annotations.path(RESTARTED_AT)),
            Self::RestartPolicyNotAlways(why) => Some(why.path()),
            Self::PodTerminating | Self::OwnerTerminating => Some("metadata.deletionTimestamp".into()),
            Self::PodFinished { .. } => Some("status.phase".into()),
            Self::MirrorPod => Some("metadata.annotations[kubernetes.io/config.mirror]".into()),
            Self::OrphanPod | Self::OwnerIsControlled { .. } | Self::PodIsControlled { .. } => {
                Some("metadata.ownerReferences".into())
            }
            Self::RolloutHeld { .. } => Some(MetadataMap::Annotations.path(ROLLOUT_ANNOTATION)),
            Self::OwnerPaused { .. } => Some("spec.paused".into()),
            Self::OwnerNotObserved => Some("status.observedGeneration".into()),
            Self::PermissionMissing { .. }
            | Self::ResizeNotSupported { .. }
            | Self::WindowsPod
            | Self::PodResizeNotSupported { .. }
            | Self::ContainerNotFound { .. }
            | Self::PodOfOldRevision { .. }
            | Self::NoPods
            | Self::PodNotFound { .. }
            | Self::NoPodOnNode { .. }
            | Self::SubsetNotDurable
            | Self::OwnerRollingOut { .. }
            | Self::DisruptionBudgetBlocks { .. }
            | Self::ReplicaSetOfOldRevision { .. }
            | Self::AdmissionRefused { .. }
            | Self::PullPodRefused { .. }
            | Self::ServerTooOld { .. }
            | Self::ManifestsNotMergeable { .. } => None,
        }
    }
}
