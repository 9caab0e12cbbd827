//! Which pods were created from an older template than the owner's present one, and which are below its partition.

use std::borrow::Cow;

use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::kinds::{CONTROLLER_REVISION_HASH, RevisionLabel, Revisions};
use crate::plan::live::{LiveWorkload, Revision};
use crate::state::durable::lock::Lock;
use crate::state::durable::stateful_set;

pub(crate) struct CurrentRevision<'a> {
    live: &'a LiveWorkload,
    newest: Option<&'a Revision>,
}

/// A pod's revision where it is not the current one.
pub(crate) struct OldRevision {
    pub(crate) revision: String,
    pub(super) current: String,
}

impl<'a> CurrentRevision<'a> {
    pub(crate) fn of(live: &'a LiveWorkload) -> Self {
        Self { live, newest: live.surroundings.revisions.iter().max_by_key(|revision| revision.number) }
    }

    /// Returns the pod's revision if it is an older one; while a rollout goes on its pods are about to be replaced anyway.
    pub(crate) fn older(&self, pod: &Pod) -> Option<OldRevision> {
        if !self.live.workload.is_observed() || self.live.workload.rolling_out().is_some() {
            return None;
        }
        self.another(pod)
    }

    /// Returns the pod's revision if it is not the current one, also while a rollout goes on.
    pub(crate) fn another(&self, pod: &Pod) -> Option<OldRevision> {
        let kind = self.live.workload.reference.kind;
        let label = || pod.labels.get(CONTROLLER_REVISION_HASH).cloned();
        match kind.revisions() {
            // The controller decides: the hash label of a ReplicaSet is also its pods'.
            Revisions::ReplicaSets => {
                let (newest, owner) = (self.newest?, pod.controller()?);
                let other = || OldRevision { revision: owner.name.clone(), current: newest.name.clone() };
                (owner.uid != newest.uid).then(other)
            }
            Revisions::ControllerRevisions(RevisionLabel::Name) => {
                let current = self.text("/status/updateRevision")?;
                let revision = label()?;
                (revision != current).then_some(OldRevision { revision, current })
            }
            Revisions::ControllerRevisions(RevisionLabel::Hash) => {
                let newest = self.newest?;
                let revision = label()?;
                let is_current = revision == newest.hash || self.is_of_template_generation(pod);
                (!is_current).then(|| OldRevision { revision, current: newest.hash.clone() })
            }
            Revisions::None => None,
        }
    }

    fn is_of_template_generation(&self, pod: &Pod) -> bool {
        let workload = &self.live.workload;
        let Some(generation) = workload.reference.kind.spec().template_generation else { return false };
        let annotations = workload.object.pointer("/metadata/annotations");
        let current = annotations.and_then(|annotations| annotations.get(generation.annotation)?.as_str());
        let current = current.filter(|current| !current.is_empty());
        current.is_some() && pod.labels.get(generation.label).map(String::as_str) == current
    }

    fn text(&self, pointer: &str) -> Option<String> {
        let text = self.live.workload.object.pointer(pointer).and_then(Value::as_str)?;
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Returns the partition of a workload; while a rollout holds it, the one that is restored in the end.
pub(super) fn partition(workload: &Workload) -> i64 {
    strategy(workload).map_or(0, |strategy| stateful_set::partition_of(&strategy))
}

/// Under a partition a durable rollout leaves the pods below it unchanged.
pub(super) fn is_below_partition(workload: &Workload, pod: &Pod) -> bool {
    strategy(workload)
        .is_some_and(|strategy| stateful_set::is_below_partition(&strategy, &workload.object, &pod.key.name))
}

fn strategy(workload: &Workload) -> Option<Cow<'_, Value>> {
    let saved = Lock::of(&workload.object).ok().flatten().and_then(|lock| lock.rollout.strategy).map(Cow::Owned);
    let present = || workload.object.pointer("/spec/updateStrategy").map(Cow::Borrowed);
    saved.or_else(present).filter(|_| workload.reference.kind.has_partition())
}
