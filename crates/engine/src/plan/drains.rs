//! Which pods can be drained first, and which an earlier run has left out of their Services.

use super::LiveWorkload;
use crate::change::FieldChanges;
use crate::k8s::pod::Pod;
use crate::rollout::DrainGoal;
use crate::rollout::drain::{Drain, Surroundings, drain};
use crate::state::record::{Drained, UpdateRecord};

/// Says whether a pod of the workload can be drained; `None` where too little could be read.
pub(super) fn drain_of(live: &LiveWorkload, pod: &Pod, changes: &FieldChanges) -> Option<Drain> {
    let surroundings = &live.surroundings;
    let selecting = surroundings.selecting.as_ref()?;
    let whole = UpdateRecord::drained(pod).map_or_else(|| pod.clone(), |drained| drained.restored_in(pod));
    let mut owner = Vec::new();
    if live.workload.reference.kind.has_template() {
        owner.extend(live.workload.object.pointer("/spec/selector").cloned());
    }
    let of = Surroundings {
        owner: &owner,
        budgets: &surroundings.budgets,
        others: selecting,
        changes: &changes.metadata,
        status_denied: surroundings.pod_status_denied.as_deref(),
    };
    Some(drain(&whole, &surroundings.services, &of))
}

/// Returns how a pod is drained, if it can be.
pub(super) fn drain_goal(live: &LiveWorkload, pod: &Pod, changes: &FieldChanges) -> Option<DrainGoal> {
    match drain_of(live, pod, changes)? {
        Drain::Drainable { by, services } => Some(DrainGoal { by, services }),
        Drain::NotDrainable { .. } | Drain::NoService => None,
    }
}

/// Returns whether a pod of the workload would be drained by a readiness gate, which takes a permission of its own.
pub fn drains_by_gate(live: &LiveWorkload) -> bool {
    let no_change = FieldChanges::default();
    live.pods.iter().any(|pod| {
        let drain = drain_of(live, pod, &no_change);
        matches!(drain, Some(Drain::Drainable { by: Drained::Gate(_), .. }))
    })
}

/// The label or gate that an earlier run has removed and not restored.
pub(super) fn unrestored(pod: &Pod) -> Option<Drained> {
    UpdateRecord::drained(pod).filter(|_| !pod.terminating)
}
