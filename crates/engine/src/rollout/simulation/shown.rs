//! What a pod, or a patch of it, shows of a rollout.

use json_patch::PatchOperation;

use crate::k8s::pod::Pod;
use crate::rollout::patch::PodPatch;
use crate::state::record::UpdateRecord;

use super::super::{Goal, PodGoal};
use super::nature::DECISIVE;

/// The pod's record is of an update of this rollout.
pub(super) fn is_begun(goal: &Goal, pod: &Pod) -> bool {
    UpdateRecord::of(pod).is_some_and(|record| record.id == *goal.id() && !record.containers.is_empty())
}

/// The paths of the images that a patch replaces.
pub(super) fn replaced(patch: &PodPatch) -> String {
    let paths = patch.operations.0.iter().filter_map(|operation| match operation {
        PatchOperation::Replace(replace) => Some(replace.path.to_string()).filter(|path| path.starts_with("/spec/")),
        _ => None,
    });
    paths.collect::<Vec<_>>().join(" ")
}

/// It is one of the owner's, and stays.
pub(super) fn belongs(goal: &Goal, pod: &Pod) -> bool {
    pod.is_present() && pod.is_controlled_by(&goal.controllers)
}

/// An owner's pods come and go: pods that are gone no longer belong to a rollout that ends.
pub(super) fn has_left(goal: &Goal, pod: Option<&Pod>) -> bool {
    goal.owner.is_some() && !pod.is_some_and(|pod| belongs(goal, pod))
}

pub(super) fn containers_are_ready(pod: &Pod) -> bool {
    pod.condition("ContainersReady").is_some_and(|condition| condition.status == "True")
}

pub(super) fn is_drained(goal: &PodGoal) -> bool {
    goal.drain.is_some()
}

/// It is to be drained, and what restarts in it serves.
pub(super) fn loses_requests(goal: &PodGoal, pod: &Pod) -> bool {
    is_drained(goal) && goal.serves(pod)
}

/// Another writer's image and ours came before the kubelet looked: the right container is the old one, and it is
/// rightly never reported as done.
pub(super) fn is_unchanged(goal: &PodGoal, pod: &Pod) -> bool {
    let record = UpdateRecord::of(pod);
    goal.containers.keys().any(|name| {
        let before = record.as_ref().and_then(|record| record.container(pod, name)).map(|record| &record.container_id);
        before.is_some() && before == pod.status_of(name).map(|status| &status.container_id)
    })
}

pub(super) fn is_reported_for_good(goal: &PodGoal, pod: &Pod) -> bool {
    pod.status
        .container_statuses
        .iter()
        .filter(|status| goal.containers.contains_key(&status.name))
        .any(|status| status.state.waiting.as_ref().is_some_and(|waiting| waiting.message.contains(DECISIVE)))
}
