//! What kind of obstacle a reason is: the first line of a refusal says it, so that a typo does not read like a verdict.

use super::{Reason, ReasonCode};
use crate::value::count::count;

/// The kinds of obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasonClass {
    /// What is asked for cannot be done in place.
    Change,
    /// It may be possible later, without another change.
    NotNow,
    /// The request itself is wrong.
    Request,
    /// The caller lacks a permission.
    Permission,
    /// Another rollout has the workload.
    Held,
    /// The API server, or admission, says no.
    Server,
    /// A saved plan is out of date.
    Stale,
}

impl ReasonCode {
    /// Returns the kind of obstacle.
    pub fn class(self) -> ReasonClass {
        match self {
            Self::PermissionMissing => ReasonClass::Permission,
            Self::RolloutHeld => ReasonClass::Held,
            Self::PlanStale => ReasonClass::Stale,
            Self::AdmissionRefused | Self::PullPodRefused | Self::AdmissionRewrites | Self::AdmissionAdds => {
                ReasonClass::Server
            }
            Self::ContainerNotFound
            | Self::PodNotFound
            | Self::NoPodOnNode
            | Self::ImageMalformed
            | Self::ImageWhitespace
            | Self::SubsetNotDurable
            | Self::ManifestsNotMergeable
            | Self::ReplicaSetOfOldRevision => ReasonClass::Request,
            Self::OwnerRollingOut
            | Self::OwnerNotObserved
            | Self::OwnerPaused
            | Self::OwnerTerminating
            | Self::PodTerminating
            | Self::SidecarStartupPending
            | Self::DigestUnknown => ReasonClass::NotNow,
            Self::TemplateFieldNotInPlace
            | Self::VolumeClaimTemplateChanges
            | Self::ContainerAdded
            | Self::ContainerRemoved
            | Self::ContainerRenamed
            | Self::QosClassChanges
            | Self::SelectorLabelChanges
            | Self::TolerationRemoved
            | Self::MetadataKeyReserved
            | Self::MetadataReadByContainer
            | Self::ResourceRemoved
            | Self::RequestAboveLimit
            | Self::FractionalMemory
            | Self::PodRequestTooSmall
            | Self::LimitAbovePod
            | Self::PodLimitRestarts
            | Self::PodResizeNotSupported
            | Self::ResizeNotSupported
            | Self::WindowsPod
            | Self::RestartRequested
            | Self::ContainerNotInPod
            | Self::PodFinished
            | Self::MirrorPod
            | Self::RestartPolicyNotAlways
            | Self::SidecarNeedsNewerKubelet
            | Self::OrphanPod
            | Self::PodOfOldRevision
            | Self::NoPods
            | Self::OwnerIsControlled
            | Self::PodIsControlled
            | Self::NoUnavailabilityAllowed
            | Self::DisruptionBudgetBlocks
            | Self::OwnerFieldImmutable
            | Self::ControllerNotInPlace
            | Self::ServerTooOld => ReasonClass::Change,
        }
    }
}

/// Returns the verdict over a workload that is refused for these reasons, without a full stop; it follows the workload's
/// name and a colon.
pub fn verdict<'r>(reasons: impl IntoIterator<Item = &'r Reason>) -> String {
    let mut classes: Vec<ReasonClass> = reasons.into_iter().map(|reason| reason.kind().class()).collect();
    let number = classes.len();
    classes.sort_unstable();
    classes.dedup();
    let problems = count(number, "problem");
    match classes.as_slice() {
        [ReasonClass::NotNow] => format!("cannot be updated in place now: {problems}"),
        [ReasonClass::Request] => format!("the request is not valid: {problems}"),
        [ReasonClass::Permission] => {
            format!("you are not allowed to update it: {} missing", count(number, "permission"))
        }
        [ReasonClass::Held] => "a rollout holds it".into(),
        [ReasonClass::Server] => format!("the API server refuses the change: {problems}"),
        [ReasonClass::Stale] => format!("the saved plan is out of date: {problems}"),
        _ => format!("cannot be updated in place: {problems}"),
    }
}

/// Returns a message of the API server without the Go values that it may print: nobody reads `map[...]` of a whole object.
pub(super) fn without_go_values(message: &str) -> String {
    const MARK: &str = "map[";
    const LONGEST: usize = 40;
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(MARK) {
        let (before, value) = rest.split_at(at);
        shown.push_str(before);
        let mut depth = 0_usize;
        let end = value.char_indices().find_map(|(at, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => return None,
            }
            (c == ']' && depth == 0).then_some(at + 1)
        });
        let (value, after) = value.split_at(end.unwrap_or(value.len()));
        shown.push_str(if value.len() > LONGEST { "map[...]" } else { value });
        rest = after;
    }
    shown + rest
}

impl Reason {
    /// Returns whether the reason is a difference between template and manifest.
    pub fn is_of_the_template(&self) -> bool {
        match self {
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
            | Self::RestartRequested => true,
            Self::PermissionMissing { .. }
            | Self::MetadataReadByContainer { .. }
            | Self::RequestAboveLimit { .. }
            | Self::FractionalMemory { .. }
            | Self::PodRequestTooSmall { .. }
            | Self::LimitAbovePod { .. }
            | Self::PodLimitRestarts { .. }
            | Self::PodResizeNotSupported { .. }
            | Self::ResizeNotSupported { .. }
            | Self::WindowsPod
            | Self::ContainerNotFound { .. }
            | Self::ContainerNotInPod { .. }
            | Self::ImageMalformed { .. }
            | Self::ImageWhitespace { .. }
            | Self::DigestUnknown { .. }
            | Self::PodTerminating
            | Self::PodFinished { .. }
            | Self::MirrorPod
            | Self::RestartPolicyNotAlways(_)
            | Self::SidecarNeedsNewerKubelet { .. }
            | Self::SidecarStartupPending { .. }
            | Self::OrphanPod
            | Self::PodOfOldRevision { .. }
            | Self::NoPods
            | Self::OwnerRollingOut { .. }
            | Self::OwnerNotObserved
            | Self::OwnerPaused { .. }
            | Self::OwnerIsControlled { .. }
            | Self::PodIsControlled { .. }
            | Self::RolloutHeld { .. }
            | Self::PodNotFound { .. }
            | Self::NoPodOnNode { .. }
            | Self::SubsetNotDurable
            | Self::OwnerTerminating
            | Self::NoUnavailabilityAllowed { .. }
            | Self::DisruptionBudgetBlocks { .. }
            | Self::ReplicaSetOfOldRevision { .. }
            | Self::AdmissionRefused { .. }
            | Self::PullPodRefused { .. }
            | Self::AdmissionRewrites { .. }
            | Self::AdmissionAdds { .. }
            | Self::OwnerFieldImmutable { .. }
            | Self::ManifestsNotMergeable { .. }
            | Self::PlanStale { .. }
            | Self::ServerTooOld { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::IfResumed;

    #[test]
    fn the_first_line_of_a_refusal_fits_its_reasons() {
        let field = || Reason::TemplateFieldNotInPlace { path: "spec.hostNetwork".into() };
        let typo = || Reason::PodNotFound { pod: "x".into(), suggestion: None };
        let denied = || Reason::PermissionMissing {
            verb: "patch".into(),
            resource: "pods".into(),
            namespace: String::new(),
            message: String::new(),
            role: String::new(),
        };
        for (reasons, expected) in [
            (vec![field()], "cannot be updated in place: 1 problem"),
            (vec![field(), typo()], "cannot be updated in place: 2 problems"),
            (vec![typo()], "the request is not valid: 1 problem"),
            (vec![denied(), denied()], "you are not allowed to update it: 2 permissions missing"),
            (
                vec![Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, leads_in_place: false, by_a_run: false }],
                "cannot be updated in place now: 1 problem",
            ),
        ] {
            assert_eq!(verdict(&reasons), expected);
        }
    }

    #[test]
    fn a_go_value_is_not_shown() {
        for (message, expected) in [
            ("no map here", "no map here"),
            ("got map[a:b]", "got map[a:b]"),
            (
                "unrecognized type: map[containers:[map[image:5 name:app]] restartPolicy:Always] in x",
                "unrecognized type: map[...] in x",
            ),
            ("cut off: map[containers:[map[image:5 name:app restartPolicy:Alw", "cut off: map[...]"),
        ] {
            assert_eq!(without_go_values(message), expected);
        }
    }
}
