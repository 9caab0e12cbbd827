//! The state of a SidecarSet and the pods that have its containers.

use super::{Comparison, OwnerState, PodState, Snapshot, WorkloadStatus, template_containers};
use crate::k8s::metadata;
use crate::plan::{PodVerdict, sidecar_set};

/// Returns the state with the pods as its controller compares them: with its containers, not with a template.
pub(super) fn compared(live: &Snapshot, mut status: WorkloadStatus) -> WorkloadStatus {
    let set = &live.workload.object;
    let pods = sidecar_set::pods(live, set);
    let held = sidecar_set::held(set, &pods);
    for pod in &mut status.pods {
        let Some(plan) = pods.iter().find(|plan| plan.pod == pod.key) else { continue };
        let (state, comparison) = match plan.verdict {
            PodVerdict::Update if held.is_none() => (Some(PodState::Pending), Comparison::Pending),
            PodVerdict::Update | PodVerdict::Blocked => (Some(PodState::Older), Comparison::Older),
            PodVerdict::InProgress => (None, Comparison::Pending),
            PodVerdict::AlreadyThere | PodVerdict::Skipped => (None, Comparison::Same),
        };
        if matches!(pod.state, PodState::Ready | PodState::Unverified) {
            pod.state = state.unwrap_or(pod.state);
        }
        for report in &mut pod.containers {
            if let Some(change) = plan.changes.get(&report.container) {
                report.asked = Some(change.to.clone());
                report.comparison = if change.from == change.to { Comparison::Same } else { comparison };
            }
        }
    }
    status.template = template_containers(&serde_json::json!({"spec": set.get("spec")}));
    status.desired = u32::try_from(pods.len()).unwrap_or(u32::MAX);
    status.owner.extend((!metadata::is_observed(set)).then_some(OwnerState::NotObserved));
    let [waits, stays, skipped] = [PodVerdict::Update, PodVerdict::Blocked, PodVerdict::Skipped]
        .map(|verdict| sidecar_set::count(&pods, verdict));
    if waits + stays > 0 {
        let all = pods.len() - skipped;
        let progress = format!("{} of {all} pods have the update", all - waits - stays);
        let why = held.map_or_else(|| sidecar_set::left(set, &pods), |reason| vec![reason.sentence()]);
        status.owner.extend(why.is_empty().then_some(OwnerState::Updating { status: progress }));
        status.owner.extend(why.into_iter().map(|why| OwnerState::Left { why }));
    }
    status
}
