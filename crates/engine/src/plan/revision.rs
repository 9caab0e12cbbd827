//! Which pods were created from an older template than the owner's present one, and which are below its partition.

use std::borrow::Cow;

use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::kinds::{CONTROLLER_REVISION_HASH, RevisionLabel, Revisions, deployment_revision};
use crate::plan::live::LiveWorkload;
use crate::state::durable::lock::Lock;
use crate::state::durable::revisions::number_of;
use crate::state::durable::stateful_set;
use crate::value::json_path::text;

pub(crate) struct CurrentRevision<'a> {
    live: &'a LiveWorkload,
    /// The newest ReplicaSet or ControllerRevision.
    newest: Option<&'a Value>,
}

/// A pod's revision where it is not the current one.
pub(crate) struct OldRevision {
    pub(crate) revision: String,
    pub(super) current: String,
}

impl<'a> CurrentRevision<'a> {
    pub(crate) fn of(live: &'a LiveWorkload) -> Self {
        let number = |object: &&Value| number_of(object).or_else(|| deployment_revision(object)).unwrap_or(0);
        Self { live, newest: live.surroundings.owned.iter().max_by_key(number) }
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
                let current = || text(newest, "/metadata/name").to_owned();
                let other = || OldRevision { revision: owner.name.clone(), current: current() };
                (owner.uid.as_str() != text(newest, "/metadata/uid")).then(other)
            }
            Revisions::ControllerRevisions(RevisionLabel::Name) => {
                let current = text(&self.live.workload.object, "/status/updateRevision").to_owned();
                let revision = label()?;
                (!current.is_empty() && revision != current).then_some(OldRevision { revision, current })
            }
            kept @ Revisions::ControllerRevisions(RevisionLabel::Hash) => {
                let current = kept.hash_of(self.newest?).to_owned();
                let revision = label()?;
                let is_current = revision == current || self.is_of_template_generation(pod);
                (!is_current).then_some(OldRevision { revision, current })
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
