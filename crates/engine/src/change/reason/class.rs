//! What kind of obstacle a reason is: the first line of a refusal says it, so that a typo does not read like a verdict.

use super::{Reason, ReasonCode};
use crate::value::count::count;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasonClass {
    /// What is asked for cannot be done in place.
    Change,
    /// It may be possible later, without another change.
    NotNow,
    Request,
    Permission,
    Held,
    /// The API server, or admission, says no.
    Server,
    Stale,
}

impl ReasonCode {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else is in the way, the change is what has to be another"
    )]
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
            | Self::KruiseNotInstalled
            | Self::ReplicaSetOfOldRevision => ReasonClass::Request,
            Self::OwnerRollingOut
            | Self::OwnerNotObserved
            | Self::OwnerPaused
            | Self::UpdateStrategyHolds
            | Self::OwnerTerminating
            | Self::PodTerminating
            | Self::SidecarStartupPending
            | Self::DigestUnknown => ReasonClass::NotNow,
            _ => ReasonClass::Change,
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
                vec![Reason::OwnerPaused { if_resumed: IfResumed::KeepsPods, by_a_rollout: false }],
                "cannot be updated in place now: 1 problem",
            ),
        ] {
            assert_eq!(verdict(&reasons), expected);
        }
    }
}
