//! What owns the pods: one view over every kind, and one file a kind for what differs.
//!
//! Adding a kind: a file here, a variant, its arms; the compiler and `tests/it/architecture.rs` ask for the rest.

mod daemon_set;
mod deployment;
mod pod;
mod replica_set;
mod stateful_set;

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::int_or_percent::IntOrPercent;
use super::names::{Uid, WorkloadRef};
use super::pod::Pod;

/// The workload kinds whose pods can be updated in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// `apps/v1` Deployment: owns its pods through a ReplicaSet.
    Deployment,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `apps/v1` DaemonSet.
    DaemonSet,
    /// `apps/v1` ReplicaSet, on its own or a Deployment's.
    ReplicaSet,
    /// `v1` Pod, on its own or somebody's.
    Pod,
}

/// What is fixed for a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindFacts {
    /// As in `kind:`.
    pub kind: &'static str,
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The API version.
    pub version: &'static str,
    /// As in URLs and `kubectl get`.
    pub plural: &'static str,
    /// As in `deployment/web`.
    pub singular: &'static str,
    /// As kubectl abbreviates it.
    pub short_names: &'static [&'static str],
}

impl KindFacts {
    /// Returns `apiVersion` as manifests have it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the resource with its group, as `kubectl` prints it with `-o name`.
    pub fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

impl WorkloadKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Deployment, Self::StatefulSet, Self::DaemonSet, Self::ReplicaSet, Self::Pod];

    /// Returns what is fixed for the kind.
    pub fn facts(self) -> &'static KindFacts {
        match self {
            Self::Deployment => &deployment::FACTS,
            Self::StatefulSet => &stateful_set::FACTS,
            Self::DaemonSet => &daemon_set::FACTS,
            Self::ReplicaSet => &replica_set::FACTS,
            Self::Pod => &pod::FACTS,
        }
    }

    /// Finds the kind that a person means: plural, singular, short name or kind, in any case, with or without
    /// version and group (`deploy`, `deployments.apps`, `Deployment.v1.apps`), as kubectl reads it.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let (name, rest) = word.split_once('.').unwrap_or((&word, ""));
        Self::ALL.into_iter().find(|kind| {
            let facts = kind.facts();
            let named = name == facts.plural
                || name == facts.singular
                || name == facts.kind.to_lowercase()
                || facts.short_names.contains(&name);
            let qualified = rest.is_empty()
                || rest == facts.group
                || rest.strip_prefix(facts.version).is_some_and(|group| group.trim_start_matches('.') == facts.group);
            named && qualified
        })
    }

    /// Finds the kind of a manifest.
    pub fn from_manifest(api_version: &str, kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.facts().kind == kind && known.facts().api_version() == api_version)
    }

    /// Returns the JSON pointer of the template; a pod is its own.
    pub fn template_pointer(self) -> &'static str {
        match self {
            Self::Deployment | Self::StatefulSet | Self::DaemonSet | Self::ReplicaSet => "/spec/template",
            Self::Pod => "",
        }
    }

    /// Returns whether the pods' controller is a ReplicaSet that this kind controls.
    pub fn owns_through_replica_sets(self) -> bool {
        match self {
            Self::Deployment => true,
            Self::StatefulSet | Self::DaemonSet | Self::ReplicaSet | Self::Pod => false,
        }
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().kind)
    }
}

/// One workload as last read.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Kind, namespace and name.
    pub reference: WorkloadRef,
    /// Its uid.
    pub uid: Uid,
    /// The whole object as the server sent it.
    pub object: Value,
}

/// How many pods may be down at once, as the owner says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerUnavailable {
    /// This many, or this share; percentages round as the owner's controller rounds them.
    Up {
        /// The owner's value, or its default.
        to: IntOrPercent,
        /// The controller rounds a percentage up.
        rounds_up: bool,
    },
    /// The owner's words do not tell; one at a time.
    One,
}

impl Workload {
    /// Reads a workload from the object.
    ///
    /// Returns `None` when the object has no name or uid, which the API never serves.
    pub fn from_object(kind: WorkloadKind, object: Value) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let reference = WorkloadRef {
            kind,
            namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
            name: text("/metadata/name")?.to_owned(),
        };
        let uid = Uid::from(text("/metadata/uid")?);
        Some(Self { reference, uid, object })
    }

    /// Returns the pod template; for a pod, the pod.
    pub fn template(&self) -> &Value {
        self.object.pointer(self.reference.kind.template_pointer()).unwrap_or(&Value::Null)
    }

    /// Returns an integer of the object.
    fn integer(&self, pointer: &str) -> Option<i64> {
        self.object.pointer(pointer).and_then(Value::as_i64)
    }

    /// Returns how many pods the owner wants.
    pub fn desired_replicas(&self) -> u32 {
        let wanted = match self.reference.kind {
            WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::ReplicaSet => {
                self.integer("/spec/replicas").unwrap_or(1)
            }
            WorkloadKind::DaemonSet => self.integer("/status/desiredNumberScheduled").unwrap_or(0),
            WorkloadKind::Pod => 1,
        };
        u32::try_from(wanted).unwrap_or(0)
    }

    /// Returns the owner's `minReadySeconds`.
    pub fn min_ready_seconds(&self) -> u32 {
        self.integer("/spec/minReadySeconds").and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(0)
    }

    /// Returns whether the owner's controller has seen the owner's present spec.
    pub fn is_observed(&self) -> bool {
        match self.reference.kind {
            WorkloadKind::Pod => true,
            WorkloadKind::Deployment
            | WorkloadKind::StatefulSet
            | WorkloadKind::DaemonSet
            | WorkloadKind::ReplicaSet => {
                self.integer("/status/observedGeneration") >= self.integer("/metadata/generation")
            }
        }
    }

    /// Returns how many pods the owner lets be down at once.
    pub fn owner_unavailable(&self) -> OwnerUnavailable {
        match self.reference.kind {
            WorkloadKind::Deployment => deployment::unavailable(&self.object),
            WorkloadKind::StatefulSet => stateful_set::unavailable(&self.object),
            WorkloadKind::DaemonSet => daemon_set::unavailable(&self.object),
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => OwnerUnavailable::One,
        }
    }

    /// Returns whether the owner's controller rounds a share of its pods up to whole pods that may be down.
    ///
    /// StatefulSets (`getStatefulSetMaxUnavailable`) and DaemonSets (`util.UnavailableCount`) do; Deployments
    /// (`deploymentutil.ResolveFenceposts`) round down, and what has no such field counts as they do.
    pub fn rounds_unavailable_up(&self) -> bool {
        match self.reference.kind {
            WorkloadKind::StatefulSet | WorkloadKind::DaemonSet => true,
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::Pod => false,
        }
    }

    /// Returns the path of the field that says how many pods may be down; `None` where there is none.
    pub fn unavailable_path(&self) -> Option<&'static str> {
        match self.reference.kind {
            WorkloadKind::Deployment => Some("spec.strategy.rollingUpdate.maxUnavailable"),
            WorkloadKind::StatefulSet | WorkloadKind::DaemonSet => {
                Some("spec.updateStrategy.rollingUpdate.maxUnavailable")
            }
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => None,
        }
    }

    /// Returns whether the owner's controller is replacing pods now, and in which words of its status that shows.
    pub fn rolling_out(&self) -> Option<String> {
        match self.reference.kind {
            WorkloadKind::Deployment => deployment::rolling_out(&self.object),
            WorkloadKind::StatefulSet => stateful_set::rolling_out(&self.object),
            WorkloadKind::DaemonSet => daemon_set::rolling_out(&self.object),
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => None,
        }
    }

    /// Returns whether pods go strictly one after the other, by ordinal.
    pub fn is_ordered_ready(&self) -> bool {
        match self.reference.kind {
            WorkloadKind::StatefulSet => stateful_set::is_ordered_ready(&self.object),
            WorkloadKind::Deployment | WorkloadKind::DaemonSet | WorkloadKind::ReplicaSet | WorkloadKind::Pod => false,
        }
    }

    /// Orders two pods as the owner's controller would take them in a rolling update.
    pub fn order(&self, a: &Pod, b: &Pod) -> Ordering {
        match self.reference.kind {
            WorkloadKind::StatefulSet => stateful_set::order(a, b),
            WorkloadKind::DaemonSet => daemon_set::order(a, b),
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::Pod => a.key.name.cmp(&b.key.name),
        }
    }

    /// Returns the label selector of the owner's pods in the form that list requests take; `None` for a pod.
    pub fn selector(&self) -> Option<String> {
        match self.reference.kind {
            WorkloadKind::Pod => None,
            WorkloadKind::Deployment
            | WorkloadKind::StatefulSet
            | WorkloadKind::DaemonSet
            | WorkloadKind::ReplicaSet => self.object.pointer("/spec/selector").map(selector_query),
        }
    }

    /// Returns the uid of this object's controller, if it has one.
    pub fn controller_uid(&self) -> Option<Uid> {
        self.controller().map(|(_, _, uid)| uid)
    }

    /// Returns kind, name and uid of this object's controller, if it has one.
    pub fn controller(&self) -> Option<(String, String, Uid)> {
        let owners = self.object.pointer("/metadata/ownerReferences")?.as_array()?;
        let owner = owners.iter().find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))?;
        let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some((text("kind"), text("name"), Uid::from(text("uid"))))
    }
}

/// Writes a label selector as list requests take it (apimachinery `labels.FormatSelector`).
fn selector_query(selector: &Value) -> String {
    let mut terms: Vec<String> = Vec::new();
    if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
        terms.extend(labels.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))));
    }
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let Some(key) = expression.get("key").and_then(Value::as_str) else { continue };
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).collect::<Vec<_>>().join(",");
        match expression.get("operator").and_then(Value::as_str) {
            Some("In") => terms.push(format!("{key} in ({values})")),
            Some("NotIn") => terms.push(format!("{key} notin ({values})")),
            Some("Exists") => terms.push(key.to_owned()),
            Some("DoesNotExist") => terms.push(format!("!{key}")),
            Some(_) | None => {}
        }
    }
    terms.sort();
    terms.join(",")
}

/// Reads how many pods of an owner's status count as updated, where the rest would be replaced.
fn count(object: &Value, field: &str) -> i64 {
    object.pointer(&format!("/status/{field}")).and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_is_found_by_any_of_its_words() {
        for (word, kind) in [
            ("deploy", Some(WorkloadKind::Deployment)),
            ("Deployments", Some(WorkloadKind::Deployment)),
            ("deployment.apps", Some(WorkloadKind::Deployment)),
            ("deployments.v1.apps", Some(WorkloadKind::Deployment)),
            ("deployments.v1", None),
            ("deployment.extensions", None),
            ("STS", Some(WorkloadKind::StatefulSet)),
            ("ds", Some(WorkloadKind::DaemonSet)),
            ("rs", Some(WorkloadKind::ReplicaSet)),
            ("po", Some(WorkloadKind::Pod)),
            ("pod.v1", Some(WorkloadKind::Pod)),
            ("job", None),
            ("", None),
        ] {
            assert_eq!(WorkloadKind::from_word(word), kind, "{word}");
        }
    }

    #[test]
    fn a_selector_becomes_a_query() {
        let selector = json!({"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "old", "operator": "DoesNotExist"}]});
        assert_eq!(selector_query(&selector), "!old,a=1,b=2,tier in (x,y)");
    }
}
