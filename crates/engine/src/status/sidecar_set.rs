//! The state of a SidecarSet and the pods that it was injected into.

use super::{Comparison, OwnerState, PodState, PodStatus, WorkloadStatus, template_containers};
use crate::k8s::metadata;
use crate::plan::sidecar_set::{Course, Courses, Found, Goals, is_updated};

/// Returns the state: as of a workload, with its containers as what pods should ask for.
pub fn sidecar_set(found: &Found) -> WorkloadStatus {
    let (live, set) = (&found.live, &found.live.workload.object);
    let mut status = super::status(live);
    let courses = Courses::of(found, set);
    let held = courses.held();
    for pod in &mut status.pods {
        let Some((of_pod, course)) = courses.pods.iter().find(|(known, _)| known.key == pod.key) else { continue };
        compare(pod, course, held.is_some());
        for (name, goal) in Goals::of(set, of_pod, is_updated(set, of_pod) == Some(true)).images {
            let Some(report) = pod.containers.iter_mut().find(|report| report.container == name) else { continue };
            report.asked = goal.to;
            report.comparison = match (goal.from, pod.state) {
                (None, _) => Comparison::Same,
                (Some(_), PodState::Older) => Comparison::Older,
                (Some(_), _) => Comparison::Pending,
            };
        }
    }
    status.pods.sort_by(|a, b| (&a.key.namespace, &a.key.name).cmp(&(&b.key.namespace, &b.key.name)));
    status.template = template_containers(set);
    let updated = courses.pods.iter().filter(|(_, course)| matches!(course, Course::Updated { .. })).count();
    let all = courses.pods.len();
    let is_observed = metadata::is_observed(set);
    status.owner.extend((!is_observed).then_some(OwnerState::NotObserved));
    if updated < all {
        let progress = OwnerState::Updating { status: format!("{updated} of {all} pods have the update") };
        let why = held.map_or_else(|| courses.left(), |reason| vec![reason.sentence()]);
        status.owner.extend(why.is_empty().then_some(progress));
        status.owner.extend(why.into_iter().map(|why| OwnerState::Left { why }));
    }
    status
}

/// A pod that is ready is so of an older revision, where its controller does not bring it further.
fn compare(pod: &mut PodStatus, course: &Course, is_held: bool) {
    let state = match course {
        Course::Updated { .. } => return,
        Course::Updates(_) if !is_held => PodState::Pending,
        Course::Updates(_) | Course::Stays(_) => PodState::Older,
    };
    if matches!(pod.state, PodState::Ready | PodState::Unverified) {
        pod.state = state;
    }
}
