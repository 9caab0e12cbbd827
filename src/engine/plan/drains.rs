//! Which pods can be taken out of their Services first, and which an earlier run has left outside.

use super::LiveWorkload;
use crate::engine::drain::{Drain, Surroundings, drain};
use crate::engine::metadata::MetadataChange;
use crate::engine::pod::Pod;
use crate::engine::record::{DrainedLabel, UpdateRecord};
use crate::engine::rollout::DrainGoal;
use crate::engine::workload::WorkloadKind;

/// Says whether a pod of the workload can be drained; `None` where not enough could be read to tell.
pub(super) fn drain_of(live: &LiveWorkload, pod: &Pod, changes: &MetadataChange) -> Option<Drain> {
    let surroundings = &live.surroundings;
    let selecting = surroundings.selecting.as_ref()?;
    let mut whole = pod.clone();
    if let Some(label) = UpdateRecord::drained(pod) {
        whole.labels.entry(label.key).or_insert(label.value);
    }
    let mut owner = Vec::new();
    if live.workload.reference.kind != WorkloadKind::Pod {
        owner.extend(live.workload.object.pointer("/spec/selector").cloned());
    }
    let of = Surroundings { owner: &owner, budgets: &surroundings.budgets, others: selecting, changes };
    Some(drain(&whole, &surroundings.services, &of))
}

/// Returns how a pod is drained, if it can be.
pub(super) fn drain_goal(live: &LiveWorkload, pod: &Pod, changes: &MetadataChange) -> Option<DrainGoal> {
    match drain_of(live, pod, changes)? {
        Drain::Drainable { label, services } => Some(DrainGoal { label, services }),
        Drain::NotDrainable { .. } | Drain::NoService => None,
    }
}

/// The label that an earlier run has taken off and not put back.
pub(super) fn left_off(pod: &Pod) -> Option<DrainedLabel> {
    UpdateRecord::drained(pod).filter(|_| !pod.terminating)
}
