//! The state of a SidecarSet and the pods that have its containers.

use super::{Comparison, OwnerState, PodState, Snapshot, WorkloadStatus, template_containers};
use crate::k8s::metadata;
use crate::plan::PodVerdict;
use crate::plan::sidecar_set::Courses;

/// Returns the state with the pods as its controller compares them: with its containers, not with a template.
pub(super) fn compared(live: &Snapshot, mut status: WorkloadStatus) -> WorkloadStatus {
    let set = &live.workload.object;
    let courses = Courses::of(live, set);
    let held = courses.held();
    for pod in &mut status.pods {
        let Some((_, course)) = courses.pods.iter().find(|(known, _)| known.key == pod.key) else { continue };
        let (state, comparison) = match course.verdict {
            PodVerdict::Update if held.is_none() => (Some(PodState::Pending), Comparison::Pending),
            PodVerdict::Update | PodVerdict::Blocked => (Some(PodState::Older), Comparison::Older),
            PodVerdict::InProgress => (None, Comparison::Pending),
            PodVerdict::AlreadyThere | PodVerdict::Skipped => (None, Comparison::Same),
        };
        if matches!(pod.state, PodState::Ready | PodState::Unverified) {
            pod.state = state.unwrap_or(pod.state);
        }
        for report in &mut pod.containers {
            if let Some((from, to)) = course.images.get(&report.container) {
                report.asked = Some(to.clone());
                report.comparison = if from.is_some() { comparison } else { Comparison::Same };
            }
        }
    }
    status.pods.sort_by(|a, b| (&a.key.namespace, &a.key.name).cmp(&(&b.key.namespace, &b.key.name)));
    status.template = template_containers(&serde_json::json!({"spec": set.get("spec")}));
    let [waits, stays] = [PodVerdict::Update, PodVerdict::Blocked].map(|verdict| courses.count(verdict));
    status.desired = u32::try_from(status.pods.len()).unwrap_or(u32::MAX);
    status.owner.extend((!metadata::is_observed(set)).then_some(OwnerState::NotObserved));
    if waits + stays > 0 {
        let all = status.pods.len() - courses.count(PodVerdict::Skipped);
        let progress = format!("{} of {all} pods have the update", all - waits - stays);
        let why = held.map_or_else(|| courses.left(), |reason| vec![reason.sentence()]);
        status.owner.extend(why.is_empty().then_some(OwnerState::Updating { status: progress }));
        status.owner.extend(why.into_iter().map(|why| OwnerState::Left { why }));
    }
    status
}
