//! Which refusals and warnings need a cluster: whatever needs none is said of two manifests, too.
#![expect(clippy::disallowed_methods, reason = "reads the kept plans of tests/situations/against")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::change::reason::{ReasonCode, WarningCode};
use serde_json::Value;

/// What a code rests on besides the older manifest, the newer one, and the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing: an older and a newer manifest show it.
    Nothing,
    /// The pods as they are: which there are, their status, and what was written to them alone.
    Pods,
    /// The nodes: versions of kubelets.
    Nodes,
    /// The live owner: its status, its lock, its managed fields, and the revisions that it has.
    Owner,
    /// Other objects of the namespace: Services, budgets, autoscalers.
    Namespace,
    /// An answer of the API server: its version, its admission, what the caller may do.
    Server,
    /// Containers that are named by hand; manifests have them.
    Names,
    /// That the change is made in the cluster and not at its source: two manifests are the source.
    AnotherSource,
    /// A saved plan.
    SavedPlan,
}

fn of_a_reason(code: ReasonCode) -> Needs {
    match code {
        ReasonCode::TemplateFieldNotInPlace
        | ReasonCode::VolumeClaimTemplateChanges
        | ReasonCode::ContainerAdded
        | ReasonCode::ContainerRemoved
        | ReasonCode::ContainerRenamed
        | ReasonCode::QosClassChanges
        | ReasonCode::SelectorLabelChanges
        | ReasonCode::TolerationRemoved
        | ReasonCode::MetadataKeyReserved
        | ReasonCode::MetadataReadByContainer
        | ReasonCode::ResourceRemoved
        | ReasonCode::RequestAboveLimit
        | ReasonCode::FractionalMemory
        | ReasonCode::PodRequestTooSmall
        | ReasonCode::LimitAbovePod
        | ReasonCode::PodLimitRestarts
        | ReasonCode::WindowsPod
        | ReasonCode::RestartRequested
        | ReasonCode::ImageMalformed
        | ReasonCode::ImageWhitespace
        | ReasonCode::MirrorPod
        | ReasonCode::RestartPolicyNotAlways
        | ReasonCode::OwnerPaused
        | ReasonCode::OwnerIsControlled
        | ReasonCode::PodIsControlled
        | ReasonCode::SubsetNotDurable
        | ReasonCode::NoUnavailabilityAllowed
        | ReasonCode::OwnerFieldImmutable
        | ReasonCode::ControllerNotInPlace
        | ReasonCode::LeftToController
        | ReasonCode::ManifestsNotMergeable => Needs::Nothing,
        ReasonCode::ContainerNotInPod
        | ReasonCode::DigestUnknown
        | ReasonCode::PodTerminating
        | ReasonCode::PodFinished
        | ReasonCode::SidecarStartupPending
        | ReasonCode::OrphanPod
        | ReasonCode::SidecarNotUpdated
        | ReasonCode::PodOfOldRevision
        | ReasonCode::NoPods
        | ReasonCode::PodNotFound
        | ReasonCode::NoPodOnNode => Needs::Pods,
        ReasonCode::PodResizeNotSupported | ReasonCode::ResizeNotSupported | ReasonCode::SidecarNeedsNewerKubelet => {
            Needs::Nodes
        }
        ReasonCode::OwnerRollingOut
        | ReasonCode::OwnerNotObserved
        | ReasonCode::OwnerTerminating
        | ReasonCode::RolloutHeld
        | ReasonCode::UpdateStrategyHolds
        | ReasonCode::ReplicaSetOfOldRevision => Needs::Owner,
        ReasonCode::DisruptionBudgetBlocks => Needs::Namespace,
        ReasonCode::PermissionMissing
        | ReasonCode::AdmissionRefused
        | ReasonCode::AdmissionRewrites
        | ReasonCode::AdmissionAdds
        | ReasonCode::PullPodRefused
        | ReasonCode::KruiseNotInstalled
        | ReasonCode::ServerTooOld => Needs::Server,
        ReasonCode::ContainerNotFound => Needs::Names,
        ReasonCode::PlanStale => Needs::SavedPlan,
    }
}

fn of_a_warning(code: WarningCode) -> Needs {
    match code {
        // Of a sidecar it is said that no node was asked.
        WarningCode::ReadFailed
        | WarningCode::TemplateKeepsImage
        | WarningCode::ContainerFilesLost
        | WarningCode::ConfigurationReread
        | WarningCode::MetadataReadOnRestart
        | WarningCode::ChecksumChanges
        | WarningCode::NoOtherPodServes
        | WarningCode::NoReadinessProbe
        | WarningCode::FailedStartNotRetried
        | WarningCode::RestartInSeries
        | WarningCode::SlowStop
        | WarningCode::RepositoryChanges
        | WarningCode::MutableTag
        | WarningCode::StaleImageStays
        | WarningCode::PullNeedsRegistry
        | WarningCode::ImageNeverPulled
        | WarningCode::SameDigest
        | WarningCode::PodsBelowPartition
        | WarningCode::MemoryTiny
        | WarningCode::RuntimeSizedAtStart
        | WarningCode::OutsideTemplate
        | WarningCode::UpdatedByController
        | WarningCode::WorkloadAdded
        | WarningCode::WorkloadRemoved => Needs::Nothing,
        WarningCode::ContainerInjected
        | WarningCode::DrainLabelMissing
        | WarningCode::LabelMissing
        | WarningCode::DrainGateFalse
        | WarningCode::RestartInBackoff
        | WarningCode::PodsDiffer
        | WarningCode::PodsDrifted
        | WarningCode::RewrittenByAdmission
        | WarningCode::PodsResized
        | WarningCode::PodsMetadataDiffers
        | WarningCode::PodsOfOldRevision
        | WarningCode::OrderBlocked
        | WarningCode::PodsNotScheduled
        | WarningCode::PodsStayUnready
        | WarningCode::PodsUnready
        | WarningCode::PodsUnreadyBefore
        | WarningCode::AvailabilityUsedUp
        | WarningCode::MemoryLimitNotLowered => Needs::Pods,
        WarningCode::StartupProbeUnreliable => Needs::Nodes,
        WarningCode::ImageFieldOwned
        | WarningCode::ForeignFieldManagers
        | WarningCode::RemovalsUnseen
        | WarningCode::HistoryEvicted
        | WarningCode::ItsController
        | WarningCode::SidecarSetUpdates
        | WarningCode::OnDeleteLeft => Needs::Owner,
        WarningCode::TrafficWhileDown
        | WarningCode::ConfigurationChanges
        | WarningCode::DisruptionBudgetAllowsNone
        | WarningCode::AutoscalerActive
        | WarningCode::VerticalAutoscalerActs => Needs::Namespace,
        WarningCode::ServerWarning | WarningCode::NotPulledFirst => Needs::Server,
        WarningCode::ManagedByArgoCd
        | WarningCode::ManagedByFlux
        | WarningCode::ManagedByHelm
        | WarningCode::ApplyReplaces => Needs::AnotherSource,
    }
}

/// The codes of the plans that are kept of two manifests.
fn said() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/situations/against");
    let plans =
        fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path().join("plan.json"));
    let mut codes = BTreeSet::new();
    for plan in plans {
        let plan: Value = serde_json::from_str(&fs::read_to_string(plan).expect("a plan can be read")).expect("JSON");
        let workloads = plan["workloads"].as_array().into_iter().flatten();
        for said in workloads.flat_map(|workload| [&workload["reasons"], &workload["warnings"]]) {
            let all = said.as_array().into_iter().flatten();
            codes.extend(all.filter_map(|one| one["code"].as_str()).map(str::to_owned));
        }
    }
    codes
}

#[test]
fn what_needs_no_cluster_is_said_of_two_manifests_and_nothing_else_is() {
    let reasons = ReasonCode::ALL.iter().map(|code| (code.as_str(), of_a_reason(*code)));
    let warnings = WarningCode::ALL.iter().map(|code| (code.as_str(), of_a_warning(*code)));
    let needless = reasons.chain(warnings).filter(|(_, needs)| *needs == Needs::Nothing);
    let needless: BTreeSet<String> = needless.map(|(code, _)| code.to_owned()).collect();
    let said = said();
    let unsaid: Vec<&String> = needless.difference(&said).collect();
    assert!(unsaid.is_empty(), "no situation in against/ shows {unsaid:?}");
    let more: Vec<&String> = said.difference(&needless).collect();
    assert!(more.is_empty(), "said without a cluster, though the table says that it takes one: {more:?}");
}
