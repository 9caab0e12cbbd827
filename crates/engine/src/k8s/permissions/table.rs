//! The table itself: who needs what, and what for.

use super::{AccessResource, AccessVerb, ClusterCommand, Need};
use crate::kinds::{Revisions, WorkloadKind};

use AccessVerb::{Create, Delete, Get, List, Patch, Watch};
use ClusterCommand::{Abort, Apply, Diff, Follow, Hash, History, Plan, ReleaseFields, Restart, Resume, Status, Undo};
use Need::{Optional, Required};
use Subject::{Maker, OwnedThrough, Selecting, Workload};

type Kinds = fn(WorkloadKind) -> bool;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Workload,
    OwnedThrough,
    /// The workload that made it.
    Maker,
    Selecting,
    Other(AccessResource),
}

impl Subject {
    /// Returns the resources that a row is about where a workload of this kind was named.
    pub(super) fn resources(self, kind: WorkloadKind) -> Vec<AccessResource> {
        let of = |kind: Option<WorkloadKind>| kind.map(AccessResource::of_kind).into_iter().collect();
        match self {
            Self::Workload => of(Some(kind)),
            Self::OwnedThrough => of(kind.owns_through()),
            Self::Maker => of(kind.made_by()),
            Self::Selecting => WorkloadKind::selecting().map(AccessResource::of_kind).collect(),
            Self::Other(resource) => vec![resource],
        }
    }
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) commands: &'static [ClusterCommand],
    pub(super) kinds: Kinds,
    pub(super) pods_only: PodsOnly,
    pub(super) subject: Subject,
    pub(super) verbs: &'static [AccessVerb],
    pub(super) need: Need,
    pub(super) reason: &'static str,
}

const EVERY: &[ClusterCommand] = &ClusterCommand::ALL;
const ROLLOUTS: &[ClusterCommand] = &[Apply, Undo, Resume, Abort, Restart];
/// Those that write, and the plan that says what they would do for the same caller.
const PLANNED: &[ClusterCommand] = &[Plan, Apply, Undo, Resume, Abort, Restart];
/// Those that take a SidecarSet.
const OF_SIDECARS: &[ClusterCommand] = &[Plan, Follow, Status, Apply];
const OF_PODS: &[ClusterCommand] = &[Plan, Follow, Status, Apply, Undo, Resume, Abort, Restart];
const FORWARD: &[ClusterCommand] = &[Apply, Undo, Restart];
/// Those that end a rollout of another run.
const TAKING_UP: &[ClusterCommand] = &[Resume, Abort];

/// Those that plan a change of cpu and memory.
const RESIZING: &[ClusterCommand] = &[Plan, Apply, Undo];

const KINDS: Kinds = |kind| !kind.is_sidecar_set();
/// Those whose own controller updates the pods of others.
const SIDECAR_SETS: Kinds = WorkloadKind::is_sidecar_set;
const OWNERS: Kinds = WorkloadKind::has_template;
/// Those that are one pod, on one node.
const BARE: Kinds = |kind| !kind.has_template() && !kind.is_sidecar_set();
const OWNING_THROUGH: Kinds = |kind| kind.owns_through().is_some();
const MADE: Kinds = |kind| kind.made_by().is_some();
const WITH_REVISIONS: Kinds = |kind| matches!(kind.revisions(), Revisions::ControllerRevisions(_));

/// Whether a row is only for commands that leave the owner's template alone, or only for those that do not.
type PodsOnly = Option<bool>;
const BOTH: PodsOnly = None;
const DURABLE: PodsOnly = Some(false);
const PODS_ONLY: PodsOnly = Some(true);

const PODS: Subject = Subject::Other(AccessResource::namespaced("", "pods"));
const POD_RESIZE: Subject = Subject::Other(AccessResource::POD_RESIZE);
const RECREATE_REQUESTS: Subject = Subject::Other(AccessResource::RECREATE_REQUESTS);
const POD_STATUS: Subject = Subject::Other(AccessResource::namespaced("", "pods/status"));
const EVENTS: Subject = Subject::Other(AccessResource::namespaced("", "events"));
const SERVICES: Subject = Subject::Other(AccessResource::namespaced("", "services"));
const NODES: Subject = Subject::Other(AccessResource::cluster_wide("", "nodes"));
const NETWORK_POLICIES: Subject = Subject::Other(AccessResource::namespaced("networking.k8s.io", "networkpolicies"));
const NAMESPACES: Subject = Subject::Other(AccessResource::cluster_wide("", "namespaces"));
const REVISIONS: Subject = Subject::Other(AccessResource::namespaced("apps", "controllerrevisions"));
const BUDGETS: Subject = Subject::Other(AccessResource::namespaced("policy", "poddisruptionbudgets"));
const AUTOSCALERS: Subject = Subject::Other(AccessResource::namespaced("autoscaling", "horizontalpodautoscalers"));
const VERTICAL_AUTOSCALERS: Subject =
    Subject::Other(AccessResource::namespaced("autoscaling.k8s.io", "verticalpodautoscalers"));
const ENDPOINT_SLICES: Subject = Subject::Other(AccessResource::namespaced("discovery.k8s.io", "endpointslices"));
const ACCESS_REVIEWS: Subject =
    Subject::Other(AccessResource::cluster_wide("authorization.k8s.io", "selfsubjectaccessreviews"));
const SELF_REVIEWS: Subject =
    Subject::Other(AccessResource::cluster_wide("authentication.k8s.io", "selfsubjectreviews"));

const CONFIG_MAPS: Subject = Subject::Other(AccessResource::namespaced("", "configmaps"));
const SECRETS: Subject = Subject::Other(AccessResource::namespaced("", "secrets"));

const CONFIGURATION: &str = "sees whether one that is in the manifests, too, changes (--if-possible, --hand-over)";

/// What lists of whatever selects pods are for.
const SELECTS: &str = "sees that nothing else selects a pod by the label that is taken off (--drain)";

/// Makes a row of the table below: who, what, and why.
const fn row(
    (commands, kinds, pods_only): (&'static [ClusterCommand], Kinds, PodsOnly),
    subject: Subject,
    verbs: &'static [AccessVerb],
    need: Need,
    reason: &'static str,
) -> Row {
    Row { commands, kinds, pods_only, subject, verbs, need, reason }
}

/// The table. Rows of the workload come first, then its pods, its revisions, and what bears on it.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row((EVERY, KINDS, BOTH), Workload, &[Get], Required, "reads the workload"),
    row((&[Plan, Diff, Apply, Follow, History, Undo, Restart, Hash, ReleaseFields], KINDS, BOTH), Workload, &[List], Optional,
        "finds workloads by label (-l), and the names to suggest where one is mistyped"),
    row((&[Status], KINDS, BOTH), Workload, &[List], Optional, "shows all workloads, or finds them by label (-l)"),
    row((ROLLOUTS, OWNERS, DURABLE), Workload, &[Patch], Required,
        "writes template, lock and history, one guarded patch a step"),
    row((&[ReleaseFields], KINDS, BOTH), Workload, &[Patch], Required, "removes field managers, by one guarded patch"),
    row((&[Plan], OWNERS, DURABLE), Workload, &[Patch], Optional,
        "asks by a dry run what a manifest (-f) would store; nothing is stored"),
    row((&[Diff], OWNERS, BOTH), Workload, &[Patch], Required,
        "asks by a dry run what the manifest (-f) would store; nothing is stored"),
    row((&[Plan, Apply], OWNERS, PODS_ONLY), Workload, &[Patch], Optional,
        "asks by a dry run what a manifest (-f) would store; images by hand need it not"),
    row((OF_PODS, OWNERS, BOTH), PODS, &[List], Required, "finds the workload's pods"),
    row((&[History], OWNERS, BOTH), PODS, &[List], Optional,
        "finds the updates of pods alone, which are noted on the pods"),
    row((&[Follow], KINDS, BOTH), PODS, &[List, Watch], Required, "follows the pods to the end"),
    row((ROLLOUTS, KINDS, BOTH), PODS, &[List, Watch], Required, "follows the pods to the end"),
    row((&[Status], KINDS, BOTH), PODS, &[Watch], Optional, "keeps watching (-w)"),
    row((ROLLOUTS, KINDS, BOTH), PODS, &[Get], Required, "reads a pod again after an answer that was lost"),
    row((ROLLOUTS, KINDS, BOTH), PODS, &[Patch], Required, "changes the images; each patch tests what it replaces"),
    row((&[Apply, Undo, Resume, Abort], KINDS, BOTH), POD_RESIZE, &[Patch], Optional,
        "changes cpu and memory; each patch tests what it replaces; no default role has it"),
    row((&[Restart], KINDS, BOTH), RECREATE_REQUESTS, &[List, Create, Delete], Optional,
        "asks kruise-daemon to restart containers, in a request a pod (--by-request)"),
    row((&[Plan], KINDS, BOTH), POD_RESIZE, &[Patch], Optional,
        "asks by a dry run whether the server would take a change of cpu and memory; nothing is stored"),
    row((&[Plan], KINDS, BOTH), PODS, &[Patch], Optional,
        "asks by a dry run whether the server would take the patches; nothing is stored"),
    row((&[Plan, Follow, Status, History, Apply, Undo, Resume, Abort, Restart], OWNING_THROUGH, BOTH),
        OwnedThrough, &[List], Required,
        "tells the Deployment's pods and revisions apart"),
    row((ROLLOUTS, OWNING_THROUGH, DURABLE), OwnedThrough, &[Patch], Required,
        "gives the ReplicaSet the template of its Deployment, so that no pod is replaced"),
    row((&[Apply, Undo, Restart, Resume], OWNING_THROUGH, DURABLE), OwnedThrough, &[Create], Required,
        "keeps the outgoing template in the history, for kubectl rollout undo"),
    row((&[Abort], OWNING_THROUGH, DURABLE), OwnedThrough, &[Delete], Required,
        "removes the ReplicaSet that was made for the history of a rollout that is rolled back"),
    row((&[Resume], OWNING_THROUGH, DURABLE), OwnedThrough, &[Delete], Optional,
        "resumes an abort: removes the ReplicaSet that was made for the history"),
    row((FORWARD, OWNING_THROUGH, DURABLE), OwnedThrough, &[Delete], Optional,
        "with --on-failure=undo: removes the ReplicaSet that was made for the history"),
    row((PLANNED, WITH_REVISIONS, DURABLE), REVISIONS, &[List], Required, "tells which revision the pods belong to"),
    row((&[Plan], WITH_REVISIONS, PODS_ONLY), REVISIONS, &[List], Optional, "tells which revision the pods belong to"),
    row((&[Follow, Status, History], WITH_REVISIONS, BOTH), REVISIONS, &[List], Optional,
        "tells which revision the pods belong to"),
    row((FORWARD, WITH_REVISIONS, PODS_ONLY), REVISIONS, &[List], Optional, "tells which revision the pods belong to"),
    row((TAKING_UP, WITH_REVISIONS, DURABLE), REVISIONS, &[Delete], Optional,
        "removes the revision of a rollout that is rolled back: kubectl rollout undo would go there next"),
    row((FORWARD, WITH_REVISIONS, DURABLE), REVISIONS, &[Delete], Optional,
        "with --on-failure=undo: removes the revision that was rolled back"),
    row((OF_PODS, MADE, BOTH), Maker, &[Get], Optional, "tells an old revision of a Deployment"),
    row((PLANNED, KINDS, BOTH), BUDGETS, &[List], Optional, "sees whether a budget allows a pod to be down"),
    row((&[Status], KINDS, BOTH), BUDGETS, &[List], Optional, "sees which budget an unfinished rollout waits for"),
    row((PLANNED, KINDS, BOTH), AUTOSCALERS, &[List], Optional, "sees whether the workload is scaled meanwhile"),
    row((&[Follow], KINDS, BOTH), EVENTS, &[List], Optional, "proves a restart where nothing but an event does"),
    row((ROLLOUTS, KINDS, BOTH), EVENTS, &[List], Optional, "proves a restart where nothing but an event does"),
    row((PLANNED, KINDS, BOTH), SERVICES, &[List], Optional, "takes a pod out of its Services first (--drain)"),
    row((PLANNED, KINDS, BOTH), ENDPOINT_SLICES, &[List], Optional,
        "waits until a pod is out of its Services (--drain)"),
    row((ROLLOUTS, KINDS, BOTH), POD_STATUS, &[Patch], Optional,
        "takes a pod out of its Services by a readiness gate, where no label serves (--drain)"),
    row((PLANNED, KINDS, BOTH), Selecting, &[List], Optional, SELECTS),
    row((PLANNED, KINDS, BOTH), NETWORK_POLICIES, &[List], Optional, SELECTS),
    row((&[Plan], KINDS, BOTH), PODS, &[Create], Optional,
        "asks by a dry run whether the server takes the pods that pull first (--pre-pull)"),
    row((&[Plan, Apply, Undo], KINDS, BOTH), PODS, &[Create], Optional,
        "asks by a dry run what admission makes of the template, where pods differ from it"),
    row((ROLLOUTS, KINDS, BOTH), PODS, &[Create, Delete], Optional,
        "pulls new images before a container is stopped, in a pod a node (--pre-pull)"),
    row((&[Plan, Follow, Apply, Undo, Resume, Abort, Restart], KINDS, BOTH), NODES, &[Get, List], Optional,
        "knows the kubelets' versions, which decide what an update of a sidecar does, and whether a container's own restartPolicy counts"),
    row((RESIZING, KINDS, BOTH), VERTICAL_AUTOSCALERS, &[List], Optional,
        "sees whether a VerticalPodAutoscaler sets cpu and memory back"),
    row((&[Plan, Apply], KINDS, DURABLE), CONFIG_MAPS, &[Get], Optional, CONFIGURATION),
    row((&[Plan, Apply], KINDS, DURABLE), SECRETS, &[Get], Optional, CONFIGURATION),
    row((&[Hash], BARE, BOTH), NODES, &[Get], Optional, "knows the kubelet's version, which decides how it hashes"),
    row((OF_SIDECARS, SIDECAR_SETS, BOTH), Workload, &[Get], Required, "reads the SidecarSet"),
    row((&[Apply], SIDECAR_SETS, BOTH), Workload, &[Patch], Required, "sets its images; the patch tests what it replaces"),
    row((&[Plan], SIDECAR_SETS, BOTH), Workload, &[Patch], Optional,
        "asks by a dry run what its webhook makes of the change; nothing is stored"),
    row((OF_SIDECARS, SIDECAR_SETS, BOTH), PODS, &[List], Required, "finds the pods that it was injected into"),
    row((&[Apply, Follow], SIDECAR_SETS, BOTH), PODS, &[Watch], Required, "follows the pods to the end"),
    row((&[Status], SIDECAR_SETS, BOTH), PODS, &[Watch], Optional, "keeps watching (-w)"),
    row((&[Apply, Follow], SIDECAR_SETS, BOTH), PODS, &[Get], Optional, "looks for pods that have left"),
    row((OF_SIDECARS, SIDECAR_SETS, BOTH), NAMESPACES, &[List], Optional,
        "finds the namespaces of its namespaceSelector, which it cannot do without where it has one"),
    row((OF_SIDECARS, SIDECAR_SETS, BOTH), REVISIONS, &[List], Optional,
        "names the field in which a pod differs that its controller does not update"),
    row((&[Apply, Follow], SIDECAR_SETS, BOTH), EVENTS, &[List], Optional,
        "proves a restart where nothing but an event does"),
    row((&[Plan, Follow, Apply, Undo, Resume, Abort, Restart], |_| true, BOTH), ACCESS_REVIEWS, &[Create], Optional,
        "asks beforehand whether a permission is missing; everybody may (system:basic-user)"),
    row((ROLLOUTS, KINDS, BOTH), SELF_REVIEWS, &[Create], Optional,
        "notes who it was; everybody may (system:basic-user)"),
];
