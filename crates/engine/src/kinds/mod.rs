//! The kinds of workloads: one [`KindSpec`] each, and a file for a kind that has more.
//!
//! Promise: nothing outside this folder compares kinds or spells their names (`tests/it/architecture.rs`). Other code asks
//! what a kind can do ([`WorkloadKind::holds_by`], [`WorkloadKind::revisions`], ...), and lists derive from
//! [`WorkloadKind::ALL`].
//!
//! To add a kind: its `SPEC`, and a row of `kinds!`. An answer that no kind gave before is a variant of that question's
//! enum, and the compiler names every place that has to know it.

mod argo_rollout;
mod daemon_set;
mod deployment;
mod holds_by;
mod kruise;
mod stateful_set;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::merge::Schema;
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::integer;
use crate::value::suggest;

pub use holds_by::{HoldsBy, IfResumed, NOTED_AT, is_paused, partition_of};
pub use kruise::{
    Course, Foresee, Foreseen, IN_PLACE_UPDATE_READY, Obstacle, as_read, before_the_gate, differing, lifts_hold,
};

/// Defines the kinds, `ALL` in their order, and the [`KindSpec`] of each.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $spec:expr),+ $(,)?) => {
        /// The workload kinds whose pods this program updates in place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum WorkloadKind {
            $($(#[$meta])* $kind),+
        }

        impl WorkloadKind {
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];

            pub fn spec(self) -> &'static KindSpec {
                match self {
                    $(Self::$kind => &$spec,)+
                }
            }
        }
    };
}

kinds! {
    Deployment = deployment::SPEC,
    StatefulSet = stateful_set::SPEC,
    DaemonSet = daemon_set::SPEC,
    /// `apps/v1` ReplicaSet, on its own or a Deployment's.
    ReplicaSet = REPLICA_SET,
    /// `v1` Pod, on its own or somebody's.
    Pod = POD,
    CloneSet = kruise::clone_set::SPEC,
    /// `apps.kruise.io/v1beta1` StatefulSet.
    AdvancedStatefulSet = kruise::advanced_stateful_set::SPEC,
    /// `apps.kruise.io/v1alpha1` DaemonSet.
    AdvancedDaemonSet = kruise::advanced_daemon_set::SPEC,
    Rollout = argo_rollout::SPEC,
    /// `apps.kruise.io/v1alpha1` SidecarSet: its containers are in the pods of others, and its controller updates them there.
    SidecarSet = kruise::SIDECAR_SET,
}

/// The resource that every kind's pods are read and written as.
pub const PODS: WorkloadKind = WorkloadKind::Pod;

/// The resource of `KindSpec::owns_through` and [`Revisions::ReplicaSets`].
pub const REPLICA_SETS: WorkloadKind = WorkloadKind::ReplicaSet;

/// What has its containers in the pods of other workloads.
pub const SIDECAR_SETS: WorkloadKind = WorkloadKind::SidecarSet;

/// The label that distinguishes the pods of the ReplicaSets of one Deployment.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

pub const CONTROLLER_REVISION_HASH: &str = "controller-revision-hash";

/// The annotation with the number of the revision, of a Deployment and of its ReplicaSets.
pub const DEPLOYMENT_REVISION: &str = deployment::REVISION;

/// Everything that is particular to a kind.
#[derive(Debug)]
pub struct KindSpec {
    pub kind: &'static str,
    /// The API group; empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    /// Its objects are in no namespace.
    pub cluster_wide: bool,
    /// As in URLs and `kubectl get`.
    pub plural: &'static str,
    /// As in `deployment/web`.
    pub singular: &'static str,
    /// Whose defaults the API server or a webhook fills in, by the name of a type; empty where that is `kind`.
    defaults: &'static str,
    /// As kubectl abbreviates it.
    pub short_names: &'static [&'static str],
    /// The JSON pointer of the pod template; empty where the object is its own.
    template: &'static str,
    /// The JSON pointer of the label selector of its pods.
    selector: Option<&'static str>,
    /// What the kind's own controller does with a change, where that one can update the pods in place: two manifests are
    /// compared by this.
    pub(crate) foresee: Option<Foresee>,
    /// What of an object leaves to its controller when or which pods change, so that this program cannot take its place: a
    /// path, and that.
    pub(crate) left_to_controller: fn(&Value) -> Option<(String, String)>,
    /// Whether its controller, which updates pods, leaves some of them as they are.
    pub(crate) leaves_pods: fn(&Value) -> bool,
    /// What a pod waits for that its controller is about to update, by the labels of the pod.
    pub(crate) pod_waits: fn(&Value, &BTreeMap<String, String>) -> Option<String>,
    /// The kind of the objects that it controls and that control its pods.
    owns_through: Option<WorkloadKind>,
    replicas: Replicas,
    revisions: Revisions,
    holds_by: HoldsBy,
    /// `None` where it says nothing of it: one pod at a time.
    pub(crate) max_unavailable: Option<MaxUnavailable>,
    /// The order in which its controller takes pods in a rolling update.
    pub(crate) order: PodOrder,
    /// Whether an object's pods go strictly one after the other, by ordinal.
    pub(crate) is_ordered_ready: fn(&Value) -> bool,
    /// Whether an object's controller is replacing pods now, in the words of the object's status.
    pub(crate) rolling_out: fn(&Value) -> Option<String>,
    /// Whether the API server lets nobody change a field of `spec`, beside the template.
    pub(crate) is_fixed: fn(&str) -> bool,
    has_kubectl_rollout: bool,
    /// The label of pods that has the last part of their revision's name, beside the one that has the name.
    pub(crate) short_revision: Option<&'static str>,
    pod_labels: &'static [&'static str],
    pod_prefixes: &'static [&'static str],
    /// Annotations of its own by which its controller counts.
    counters: &'static [&'static str],
    /// A number of the template that the controller also takes for a pod's revision.
    pub(crate) template_generation: Option<TemplateGeneration>,
}

const OF_APPS: KindSpec = KindSpec {
    kind: "",
    group: "apps",
    version: "v1",
    cluster_wide: false,
    plural: "",
    singular: "",
    defaults: "",
    short_names: &[],
    template: "/spec/template",
    selector: Some("/spec/selector"),
    foresee: None,
    left_to_controller: |_| None,
    leaves_pods: |_| false,
    pod_waits: |_, _| None,
    owns_through: None,
    replicas: Replicas::Spec,
    revisions: Revisions::None,
    holds_by: HoldsBy::Nothing,
    max_unavailable: None,
    order: PodOrder::Name,
    is_ordered_ready: |_| false,
    rolling_out: |_| None,
    is_fixed: |field| field == "selector",
    has_kubectl_rollout: true,
    short_revision: None,
    pod_labels: &[],
    pod_prefixes: &[],
    counters: &[],
    template_generation: None,
};

/// kube-controller-manager `pkg/controller/replicaset`: never replaces a pod because its template changed.
const REPLICA_SET: KindSpec = KindSpec {
    kind: "ReplicaSet",
    plural: "replicasets",
    singular: "replicaset",
    short_names: &["rs"],
    has_kubectl_rollout: false,
    ..OF_APPS
};

const POD: KindSpec = KindSpec {
    kind: "Pod",
    group: "",
    plural: "pods",
    singular: "pod",
    short_names: &["po"],
    template: "",
    selector: None,
    replicas: Replicas::One,
    is_fixed: |_| false,
    has_kubectl_rollout: false,
    ..OF_APPS
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replicas {
    /// `spec.replicas`, 1 by default.
    Spec,
    /// `status.desiredNumberScheduled`: one a node.
    Scheduled,
    One,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revisions {
    None,
    ReplicaSets,
    ControllerRevisions(RevisionLabel),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionLabel {
    /// The revision's name, which `status.updateRevision` says of the current one.
    Name,
    /// The revision's own label of the same key. No status names the current one: it is the one with the highest number.
    Hash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateGeneration {
    pub annotation: &'static str,
    pub label: &'static str,
}

/// How many pods a workload's controller lets be down at once.
#[derive(Debug, Clone, Copy)]
pub struct MaxUnavailable {
    pub path: &'static str,
    /// Whether a percentage becomes a number of pods by rounding up, as a DaemonSet's does (`util.UnavailableCount`). Down
    /// as a Deployment's (`deploymentutil.ResolveFenceposts`) and, though its API documentation says otherwise, a
    /// StatefulSet's (`getStatefulSetMaxUnavailable`).
    pub rounds_up: bool,
    /// Reads the field, or its default; `None` where the strategy has none: one at a time.
    pub value: fn(&Value) -> Option<IntOrPercent>,
}

/// The order in which a workload's controller takes pods in a rolling update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodOrder {
    /// None of its own: by name.
    Name,
    OrdinalDescending,
    /// None of its own: by node.
    Node,
}

impl KindSpec {
    /// Returns `apiVersion` as manifests have it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns whether a kind that every server has is called the same, and meant where no group is given.
    fn is_namesake(&self) -> bool {
        self.singular.contains('.')
    }

    /// Returns the resource with its group, as `kubectl` prints it with `-o name`.
    pub fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

impl Replicas {
    /// Returns the JSON pointer of the number; `None` where it is always one.
    pub fn pointer(self) -> Option<&'static str> {
        match self {
            Self::Spec => Some("/spec/replicas"),
            Self::Scheduled => Some("/status/desiredNumberScheduled"),
            Self::One => None,
        }
    }

    pub fn of(self, object: &Value) -> u32 {
        let read = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
        let absent = match self {
            Self::Spec | Self::One => 1,
            Self::Scheduled => 0,
        };
        u32::try_from(self.pointer().and_then(read).unwrap_or(absent)).unwrap_or(0)
    }
}

impl Revisions {
    /// Returns the label that a pod shares with its revision.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::ReplicaSets => Some(POD_TEMPLATE_HASH),
            Self::ControllerRevisions(RevisionLabel::Name | RevisionLabel::Hash) => Some(CONTROLLER_REVISION_HASH),
        }
    }

    /// Returns the value of that label of a revision; empty where there is none.
    pub fn hash_of(self, revision: &Value) -> &str {
        let label = |key: &str| revision.pointer("/metadata/labels")?.get(key)?.as_str();
        self.label().and_then(label).unwrap_or_default()
    }
}

impl WorkloadKind {
    /// Returns the kinds that every server has.
    pub fn built_in() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(|kind| kind.is_built_in())
    }

    /// Returns whether every server has it. Others are custom resources, which servers merge by keys alone.
    pub fn is_built_in(self) -> bool {
        matches!(self.spec().group, "" | "apps")
    }

    /// Finds the kind that a user means: plural, singular, short name or kind, in any case, with or without
    /// version and group (`deploy`, `deployments.apps`, `Deployment.v1.apps`), as kubectl reads it.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let (name, rest) = word.split_once('.').unwrap_or((&word, ""));
        Self::ALL.into_iter().find(|kind| {
            let spec = kind.spec();
            let singular = spec.singular.split('.').next();
            let named = name == spec.plural || Some(name) == singular || name == spec.kind.to_lowercase();
            let is_short = spec.short_names.contains(&name);
            let qualified = rest.is_empty() && (is_short || !spec.is_namesake())
                || rest == spec.group
                || rest.strip_prefix(spec.version).is_some_and(|group| group.trim_start_matches('.') == spec.group);
            (named || is_short) && qualified
        })
    }

    pub fn from_manifest(api_version: &str, kind: &str) -> Option<Self> {
        Self::of_owner(api_version, kind).filter(|known| known.spec().api_version() == api_version)
    }

    /// Finds the kind of this name, of whatever group and version: of namesakes the one that every server has.
    pub fn named(kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.spec().kind == kind)
    }

    /// Finds the kind that an owner reference names, of whatever version.
    pub fn of_owner(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self::ALL.into_iter().find(|known| known.spec().kind == kind && known.spec().group == group)
    }

    /// Returns the kind that was most likely meant where a manifest's is none that the API server has: the groups of Kubernetes
    /// itself without a dot hold no others, and groups of custom resources have one.
    pub fn meant(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if group.contains('.') || Self::from_manifest(api_version, kind).is_some() {
            return None;
        }
        if let Some(known) = Self::named(kind) {
            return Some(known);
        }
        let written = kind.to_lowercase();
        let lower: Vec<(String, Self)> =
            Self::ALL.into_iter().map(|known| (known.spec().kind.to_lowercase(), known)).collect();
        let close = suggest::closest(&written, lower.iter().map(|(name, _)| name.as_str()))?;
        lower.iter().find(|(name, _)| name == close).map(|(_, known)| *known)
    }

    /// Returns the JSON pointer of the template; a pod is its own.
    pub fn template_pointer(self) -> &'static str {
        self.spec().template
    }

    pub fn is_sidecar_set(self) -> bool {
        self == Self::SidecarSet
    }

    /// Returns whether it makes pods from a template; a pod is one.
    pub fn has_template(self) -> bool {
        !self.spec().template.is_empty()
    }

    /// Returns the JSON pointer of the label selector of its pods.
    pub fn selector_pointer(self) -> Option<&'static str> {
        self.spec().selector
    }

    /// Returns the kind of the objects that it controls and that control its pods; `None` where nothing is between them.
    pub fn owns_through(self) -> Option<Self> {
        self.spec().owns_through
    }

    /// Returns the kind whose controller makes objects of this one to own its pods through.
    pub fn made_by(self) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.owns_through() == Some(self))
    }

    /// Returns the kinds of every server that users write to have pods made: none that another kind's controller makes.
    pub fn written_by_users() -> impl Iterator<Item = Self> {
        Self::built_in().filter(|kind| kind.has_template() && kind.made_by().is_none())
    }

    /// Returns the kinds whose objects select pods, each before the one through which it owns them.
    pub fn selecting() -> impl Iterator<Item = Self> {
        Self::written_by_users().flat_map(|kind| [Some(kind), kind.owns_through()]).flatten()
    }

    /// Returns whether a template of its can change without pods being replaced.
    pub fn can_be_durable(self) -> bool {
        (self.spec().left_to_controller)(&Value::Null).is_none()
    }

    pub fn replicas(self) -> Replicas {
        self.spec().replicas
    }

    pub fn revisions(self) -> Revisions {
        self.spec().revisions
    }

    pub fn holds_by(self) -> HoldsBy {
        self.spec().holds_by
    }

    /// Returns whether its pods have ordinals, and a partition between old and new ones.
    pub fn has_partition(self) -> bool {
        self.holds_by() == HoldsBy::OnDeleteOrPartition
    }

    /// Returns how manifests merge into its objects.
    pub fn merge(self) -> Schema {
        // `kubectl apply` merges what is no built-in type as JSON.
        if self.is_built_in() { self.defaults() } else { Schema::PLAIN }
    }

    /// Returns what the API server fills in.
    pub fn defaults(self) -> Schema {
        let spec = self.spec();
        Schema::named(if spec.defaults.is_empty() { spec.kind } else { spec.defaults })
    }

    pub fn has_kubectl_rollout(self) -> bool {
        self.spec().has_kubectl_rollout
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec().kind)
    }
}

pub fn is_controllers_label(key: &str) -> bool {
    let has_it = |kind: WorkloadKind| kind.spec().pod_labels.contains(&key);
    WorkloadKind::ALL.into_iter().any(has_it) || has_controllers_prefix(key)
}

/// Returns whether a controller writes labels and annotations of the pods that it makes that begin like this key.
pub fn has_controllers_prefix(key: &str) -> bool {
    WorkloadKind::ALL.into_iter().flat_map(|kind| kind.spec().pod_prefixes).any(|prefix| key.starts_with(prefix))
}

/// Returns whether a controller counts by this annotation of a workload: no manifest sets it.
pub fn is_counter(annotation: &str) -> bool {
    WorkloadKind::ALL.into_iter().any(|kind| kind.spec().counters.contains(&annotation))
}

/// Returns the number of the revision that an owner of ReplicaSets, or a ReplicaSet of its, is at.
pub fn deployment_revision(object: &Value) -> Option<i64> {
    let annotations = object.pointer("/metadata/annotations")?;
    let number = |key: &str| annotations.get(key)?.as_str()?.parse().ok();
    number(DEPLOYMENT_REVISION).or_else(|| number(argo_rollout::REVISION))
}

/// Reads a number of an object's status; 0 where there is none.
fn status(object: &Value, field: &str) -> i64 {
    integer(object, &format!("/status/{field}"))
}

/// Whether the update strategy keeps the controller from replacing pods by itself: OnDelete, or a pause in it.
pub fn is_on_delete(object: &Value) -> bool {
    object.pointer("/spec/updateStrategy").is_some_and(is_hold)
}

/// Returns whether a controller with this update strategy replaces no pod by itself: OnDelete, or paused.
pub fn is_hold(strategy: &Value) -> bool {
    is_paused_strategy(strategy) || strategy.get("type").and_then(Value::as_str) == Some("OnDelete")
}

pub(crate) fn is_paused_strategy(strategy: &Value) -> bool {
    strategy.get("paused").and_then(Value::as_bool) == Some(true)
}

/// `maxUnavailable` of an update strategy; the default is one pod.
fn max_unavailable(object: &Value) -> Option<IntOrPercent> {
    let value = object.pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable")?;
    IntOrPercent::from_value(value).ok()
}

#[cfg(test)]
mod tests;
