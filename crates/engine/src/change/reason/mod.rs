//! Why something cannot be done in place, and what is worth knowing though it can.
//!
//! A closed set each: a stable CamelCase code, one sentence, one hint, and an explanation at length. Nothing is refused
//! without a reason, and a warning applies to exactly the plan that it is in.

mod admission;
mod class;
mod code;
mod other_word;
mod path;
mod reason_code;
mod report_code;
mod state_word;
mod stays_down;
mod warning;
mod warning_code;
mod warning_sentence;
mod word;
mod words;

use serde::{Deserialize, Serialize};

pub use class::{ReasonClass, verdict};
pub use code::Explanation;
pub use other_word::OTHER_WORDS;
pub use reason_code::ReasonCode;
pub use report_code::ReportCode;
pub use state_word::{STATE_WORDS, every_word, nearest_state, state_words};
pub use stays_down::{Ended, NotStartedAgain, Own};
pub use warning::Warning;
pub use warning_code::WarningCode;
pub use word::StateWord;

use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::kinds::{Course, IfResumed};
use crate::value::suggest;

/// Why something cannot be done in place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "code", rename_all_fields = "camelCase")]
pub enum Reason {
    /// The caller lacks a permission.
    PermissionMissing {
        /// The verb.
        verb: String,
        /// The resource.
        resource: String,
        /// Where.
        #[serde(default)]
        namespace: String,
        /// The server's words.
        message: String,
        /// The words after `kubectl inplace rbac` that print a Role which has it.
        #[serde(default)]
        role: String,
    },
    /// A changed path of the template that no rule claims.
    TemplateFieldNotInPlace {
        /// The path, containers by name.
        path: String,
    },
    /// A changed path of a StatefulSet's volume claim templates.
    VolumeClaimTemplateChanges {
        /// The path, claims by name.
        path: String,
    },
    /// The manifest has a container that the template has not.
    ContainerAdded {
        /// Its list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
    },
    /// The template has a container that the manifest has not.
    ContainerRemoved {
        /// Its list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
    },
    /// The manifest has the container under another name.
    ContainerRenamed {
        /// Its list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// Its name in the manifest.
        to: ContainerName,
    },
    /// The resources of the manifest make another class of the pod.
    QosClassChanges {
        /// The class before.
        from: String,
        /// The class after.
        to: String,
    },
    /// The owner selects its pods by the label.
    SelectorLabelChanges {
        /// The label's key.
        key: String,
    },
    /// Pods take more tolerations and lose none.
    TolerationRemoved {
        /// The toleration, as kubectl describes it.
        toleration: String,
    },
    /// The key belongs to a controller, or is fixed in a pod.
    MetadataKeyReserved {
        /// The path.
        path: String,
    },
    /// A container that does not restart has the value in its environment.
    MetadataReadByContainer {
        /// The container's list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// The path of the label or annotation.
        path: String,
    },
    /// A request or limit of a running container cannot be removed.
    ResourceRemoved {
        /// The path.
        path: String,
    },
    /// A container would ask for more than it may have.
    RequestAboveLimit {
        /// The path of the request.
        path: String,
        /// What it would be.
        value: String,
        /// What the limit would be.
        limit: String,
    },
    /// A container would ask for a part of a byte.
    FractionalMemory {
        /// The path of the request or limit.
        path: String,
        /// What it would ask for.
        value: String,
    },
    /// The containers would ask together for more than the pod as a whole.
    PodRequestTooSmall {
        /// The path of the pod's request.
        path: String,
    },
    /// A container's limit would be above that of the pod as a whole.
    LimitAbovePod {
        /// The path of the container's limit.
        path: String,
    },
    /// A container has no limit but that of the pod as a whole, and restarts when it changes.
    PodLimitRestarts {
        /// The container.
        container: ContainerName,
        /// The path of the pod's limit.
        path: String,
    },
    /// The node does not say what the pod as a whole has.
    PodResizeNotSupported {
        /// The node.
        node: String,
    },
    /// The node does not say what its containers have, so the server does not let them be resized.
    ResizeNotSupported {
        /// The node.
        node: String,
    },
    /// The pod's containers, or its node, are Windows': nothing there is resized.
    WindowsPod,
    /// `kubectl rollout restart`'s annotation is set.
    RestartRequested,
    /// Neither the template nor any pod has the container.
    ContainerNotFound {
        /// As it was written.
        container: ContainerName,
        /// What may have been meant.
        suggestion: Option<String>,
        /// The containers that there are.
        known: Vec<ContainerName>,
    },
    /// This pod does not have the container.
    ContainerNotInPod {
        /// Its list in the template or in other pods.
        list: ContainerList,
        /// The container.
        container: ContainerName,
    },
    /// The image is not a reference that a kubelet can pull.
    ImageMalformed {
        /// The container's list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// As it was written.
        image: String,
        /// What is wrong with it.
        why: String,
    },
    /// The image has whitespace around it.
    ImageWhitespace {
        /// The container's list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// As it was written.
        image: String,
    },
    /// The digest to pin is not known.
    DigestUnknown {
        /// The container's list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// Why not.
        why: String,
    },
    /// The pod is being deleted.
    PodTerminating,
    /// The pod has ended for good.
    PodFinished {
        /// `Succeeded` or `Failed`.
        phase: String,
    },
    /// A static pod's mirror: the kubelet runs the file's pod.
    MirrorPod,
    /// The kubelet does not start a container again that has ended, or might not, and nothing re-creates its pod.
    RestartPolicyNotAlways(Box<NotStartedAgain>),
    /// The node's kubelet does not restart a sidecar whose image changes.
    SidecarNeedsNewerKubelet {
        /// The sidecar.
        container: ContainerName,
        /// The kubelet's version.
        kubelet: String,
    },
    /// A sidecar's change is ignored until its startup probe has passed.
    SidecarStartupPending {
        /// The sidecar.
        container: ContainerName,
    },
    /// The pod has no controller though the workload's selector matches it.
    OrphanPod,
    /// The pod is of another revision than the manifest changes.
    PodOfOldRevision {
        /// The pod's revision.
        revision: String,
        /// The owner's current revision.
        current: String,
    },
    /// There is no pod to update.
    NoPods,
    /// The owner's controller is replacing pods.
    OwnerRollingOut {
        /// What of its status shows it.
        status: String,
    },
    /// The owner's controller has not seen its present spec yet.
    OwnerNotObserved,
    /// The owner's rollouts are paused.
    OwnerPaused {
        /// What becomes of its pods once they are resumed.
        if_resumed: IfResumed,
        /// Its pods do not have its template, and can get it, or the template theirs, in place.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        leads_in_place: bool,
        /// A run of this program is known to have left it so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_a_run: bool,
    },
    /// The owner is itself controlled by something else, which decides its template.
    OwnerIsControlled {
        /// The kind of what controls it.
        kind: String,
        /// Its name.
        name: String,
    },
    /// The pod is controlled by an object whose template would stay unchanged.
    PodIsControlled {
        /// The kind of what controls it.
        kind: String,
        /// Its name.
        name: String,
        /// The workload to name instead, such as `deployment/web`, where it is of a kind that can be updated in place.
        workload: Option<String>,
    },
    /// Another run of this program holds the workload.
    RolloutHeld {
        /// The rollout's id; empty where the lock cannot be read.
        id: String,
        /// Who began it.
        who: String,
        /// When (RFC 3339).
        since: String,
        /// The same as text, such as `3m ago`; empty where the lock does not say.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        began: Box<str>,
        /// What it says of itself.
        state: Box<str>,
        /// Which process runs it, and whether that is active; empty for a rollout that has ended.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        run: Box<str>,
        /// That run is active, as far as is known: only a rollout that has ended is resumed or rolled back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_at_work: bool,
        /// It cannot be finished any more, only rolled back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_back: bool,
        /// It began with commands around each pod, which are stored nowhere.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        has_hooks: bool,
        /// `--take-over` puts this update in its place: nothing that it brings would be left halfway.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        makes_way: bool,
    },
    /// No pod of the workload has the name that was given.
    PodNotFound {
        /// The name.
        pod: String,
        /// The name that may have been meant.
        suggestion: Option<String>,
    },
    /// No pod of the workload that was chosen is on the node that was given.
    NoPodOnNode {
        /// The node.
        node: String,
        /// The node that may have been meant.
        suggestion: Option<String>,
    },
    /// Some of the pods were chosen, and the owner's controller would replace the others.
    SubsetNotDurable,
    /// The owner is being deleted.
    OwnerTerminating,
    /// The owner lets no pod be down.
    NoUnavailabilityAllowed {
        /// The path of the owner's field that says so.
        path: String,
    },
    /// A PodDisruptionBudget never allows one of the pods to be down.
    DisruptionBudgetBlocks {
        /// The budget.
        budget: String,
        /// Why not.
        why: String,
        /// How many pods of the plan it covers.
        pods: usize,
    },
    /// The Deployment of this ReplicaSet has a newer one.
    ReplicaSetOfOldRevision {
        /// The Deployment.
        deployment: String,
    },
    /// The server would refuse the patch.
    AdmissionRefused {
        /// The server's words.
        message: String,
        /// Containers that they are about, and that the change leaves alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<ContainerName>,
    },
    /// The server would refuse a pod that pulls first, and pulling first is required.
    PullPodRefused {
        /// The images, separated by commas.
        images: String,
        /// The server's words.
        message: String,
    },
    /// Admission would make another image of it.
    AdmissionRewrites {
        /// The container's list in the pod spec.
        list: ContainerList,
        /// The container.
        container: ContainerName,
        /// The image that it would have.
        image: String,
    },
    /// Admission would set more cpu or memory than was asked for.
    AdmissionAdds {
        /// The path of each, and the value; none is one that would be gone.
        values: Vec<(String, Option<String>)>,
    },
    /// A field of the owner, outside its template, that the API server never lets change.
    OwnerFieldImmutable {
        /// The path in the owner.
        path: String,
    },
    /// The controller that updates the pods of this kind does not change something in place.
    ControllerNotInPlace {
        /// The path: of the template, or of the workload.
        path: String,
        /// What happens instead.
        course: Course,
        /// Why.
        because: String,
    },
    /// The manifests cannot be merged as `kubectl apply` would.
    ManifestsNotMergeable {
        /// Why.
        message: String,
    },
    /// An object that a saved plan was made from has changed.
    PlanStale {
        /// The path in the object that changed.
        path: String,
        /// The change, one sentence without a full stop.
        moved: String,
    },
    /// The API server does not serve what this program asks of it.
    ServerTooOld {
        /// The server's version, such as `1.22`.
        server: String,
        /// The first version that does.
        needs: String,
    },
}

impl Reason {
    /// Returns the reason that no container has a name, with the one that may have been meant.
    pub fn container_not_found(name: &ContainerName, known: &[ContainerName]) -> Self {
        let suggestion = suggest::closest(name.as_str(), known.iter().map(ContainerName::as_str)).map(str::to_owned);
        Self::ContainerNotFound { container: name.clone(), suggestion, known: known.to_vec() }
    }

    /// Returns the kind of reason.
    pub fn kind(&self) -> ReasonCode {
        match self {
            Self::PermissionMissing { .. } => ReasonCode::PermissionMissing,
            Self::TemplateFieldNotInPlace { .. } => ReasonCode::TemplateFieldNotInPlace,
            Self::VolumeClaimTemplateChanges { .. } => ReasonCode::VolumeClaimTemplateChanges,
            Self::ContainerAdded { .. } => ReasonCode::ContainerAdded,
            Self::ContainerRemoved { .. } => ReasonCode::ContainerRemoved,
            Self::ContainerRenamed { .. } => ReasonCode::ContainerRenamed,
            Self::QosClassChanges { .. } => ReasonCode::QosClassChanges,
            Self::SelectorLabelChanges { .. } => ReasonCode::SelectorLabelChanges,
            Self::TolerationRemoved { .. } => ReasonCode::TolerationRemoved,
            Self::MetadataKeyReserved { .. } => ReasonCode::MetadataKeyReserved,
            Self::MetadataReadByContainer { .. } => ReasonCode::MetadataReadByContainer,
            Self::ResourceRemoved { .. } => ReasonCode::ResourceRemoved,
            Self::RequestAboveLimit { .. } => ReasonCode::RequestAboveLimit,
            Self::FractionalMemory { .. } => ReasonCode::FractionalMemory,
            Self::PodRequestTooSmall { .. } => ReasonCode::PodRequestTooSmall,
            Self::LimitAbovePod { .. } => ReasonCode::LimitAbovePod,
            Self::PodLimitRestarts { .. } => ReasonCode::PodLimitRestarts,
            Self::PodResizeNotSupported { .. } => ReasonCode::PodResizeNotSupported,
            Self::ResizeNotSupported { .. } => ReasonCode::ResizeNotSupported,
            Self::WindowsPod => ReasonCode::WindowsPod,
            Self::RestartRequested => ReasonCode::RestartRequested,
            Self::ContainerNotFound { .. } => ReasonCode::ContainerNotFound,
            Self::ContainerNotInPod { .. } => ReasonCode::ContainerNotInPod,
            Self::ImageMalformed { .. } => ReasonCode::ImageMalformed,
            Self::ImageWhitespace { .. } => ReasonCode::ImageWhitespace,
            Self::DigestUnknown { .. } => ReasonCode::DigestUnknown,
            Self::PodTerminating => ReasonCode::PodTerminating,
            Self::PodFinished { .. } => ReasonCode::PodFinished,
            Self::MirrorPod => ReasonCode::MirrorPod,
            Self::RestartPolicyNotAlways(_) => ReasonCode::RestartPolicyNotAlways,
            Self::SidecarNeedsNewerKubelet { .. } => ReasonCode::SidecarNeedsNewerKubelet,
            Self::SidecarStartupPending { .. } => ReasonCode::SidecarStartupPending,
            Self::OrphanPod => ReasonCode::OrphanPod,
            Self::PodOfOldRevision { .. } => ReasonCode::PodOfOldRevision,
            Self::NoPods => ReasonCode::NoPods,
            Self::OwnerRollingOut { .. } => ReasonCode::OwnerRollingOut,
            Self::OwnerNotObserved => ReasonCode::OwnerNotObserved,
            Self::OwnerPaused { .. } => ReasonCode::OwnerPaused,
            Self::OwnerIsControlled { .. } => ReasonCode::OwnerIsControlled,
            Self::PodIsControlled { .. } => ReasonCode::PodIsControlled,
            Self::RolloutHeld { .. } => ReasonCode::RolloutHeld,
            Self::PodNotFound { .. } => ReasonCode::PodNotFound,
            Self::NoPodOnNode { .. } => ReasonCode::NoPodOnNode,
            Self::SubsetNotDurable => ReasonCode::SubsetNotDurable,
            Self::OwnerTerminating => ReasonCode::OwnerTerminating,
            Self::NoUnavailabilityAllowed { .. } => ReasonCode::NoUnavailabilityAllowed,
            Self::DisruptionBudgetBlocks { .. } => ReasonCode::DisruptionBudgetBlocks,
            Self::ReplicaSetOfOldRevision { .. } => ReasonCode::ReplicaSetOfOldRevision,
            Self::AdmissionRefused { .. } => ReasonCode::AdmissionRefused,
            Self::PullPodRefused { .. } => ReasonCode::PullPodRefused,
            Self::AdmissionRewrites { .. } => ReasonCode::AdmissionRewrites,
            Self::AdmissionAdds { .. } => ReasonCode::AdmissionAdds,
            Self::OwnerFieldImmutable { .. } => ReasonCode::OwnerFieldImmutable,
            Self::ControllerNotInPlace { .. } => ReasonCode::ControllerNotInPlace,
            Self::ManifestsNotMergeable { .. } => ReasonCode::ManifestsNotMergeable,
            Self::PlanStale { .. } => ReasonCode::PlanStale,
            Self::ServerTooOld { .. } => ReasonCode::ServerTooOld,
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

/// Returns the explanation of every code that a plan may have, reasons first.
pub fn explanations() -> impl Iterator<Item = Explanation> {
    let reasons = ReasonCode::ALL.iter().map(|code| code.explanation());
    reasons.chain(WarningCode::ALL.iter().map(|code| code.explanation()))
}

/// Returns the explanation of every code that is shown anywhere.
pub fn all_explanations() -> impl Iterator<Item = Explanation> {
    explanations().chain(ReportCode::ALL.iter().map(|code| code.explanation()))
}

/// Other words for the same.
const ALSO_CALLED: [(&str, &str); 2] = [("Unproven", "Unverified"), ("Ended", "Completed")];

/// Returns the explanation of a code, upper and lower case being alike; else the code that may have been meant.
///
/// # Errors
/// The nearest code, if one is near.
pub fn explain(code: &str) -> Result<Explanation, Option<&'static str>> {
    let also = ALSO_CALLED.into_iter().find(|(also, _)| also.eq_ignore_ascii_case(code));
    let code = also.map_or(code, |(_, name)| name);
    all_explanations().find(|known| known.code.eq_ignore_ascii_case(code)).ok_or_else(|| {
        let lower: Vec<String> = all_explanations().map(|known| known.code.to_ascii_lowercase()).collect();
        let nearest = suggest::closest(&code.to_ascii_lowercase(), lower.iter().map(String::as_str))?;
        all_explanations().map(|known| known.code).find(|known| known.eq_ignore_ascii_case(nearest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written_and_a_slip_is_reported() {
        assert_eq!(explain("nopods").map(|found| found.code), Ok("NoPods"));
        assert_eq!(explain("MUTABLETAG").map(|found| found.code), Ok("MutableTag"));
        assert_eq!(explain("NoPod"), Err(Some("NoPods")));
        assert_eq!(explain("ownerrolingout"), Err(Some("OwnerRollingOut")));
        assert_eq!(explain("unproven").map(|found| found.code), Ok("Unverified"));
        assert_eq!(explain("Weather"), Err(None));
    }

    #[test]
    fn every_explanation_says_something_and_no_code_stands_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for explanation in all_explanations() {
            assert!(seen.insert(explanation.code.to_ascii_lowercase()), "{}", explanation.code);
            assert!(explanation.summary.len() < 100 && !explanation.summary.ends_with('.'), "{}", explanation.code);
            for text in [explanation.meaning, explanation.why, explanation.remedy] {
                assert!(text.len() > 15 && text.ends_with(['.', '>']), "{}: {text}", explanation.code);
            }
        }
    }
}
