//! The order of containers within a pod (`--container-order`): a step after the other, each with a patch of its own.
//!
//! No step is remembered: which one is next is read from the images that the pod asks for, and whether the
//! ones before it are done from their containers. Without an order a pod has one step with all of its containers.

use crate::change::FieldProgress;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Pod, ResourceHolder};
use crate::rollout::patch::{ImageStep, NewImage, PodPart};
use crate::state::record::{ContainerRecord, UpdateRecord};

use super::goal::{Goal, Mode, PodGoal};

impl Goal {
    /// Returns the steps of a pod, in their order: the containers that the user has ordered one by one, then all others at
    /// once. On the way back the reverse: what was changed last goes back first.
    pub fn steps_of<'g>(&self, pod: &'g PodGoal) -> Vec<Vec<&'g ContainerName>> {
        let order = &self.policy().container_order;
        let names = || pod.containers.keys();
        if order.is_empty() || self.is_followed() {
            return vec![names().collect()];
        }
        let listed = order.iter().filter_map(|name| names().find(|known| *known == name)).map(|name| vec![name]);
        let others: Vec<&ContainerName> = names().filter(|name| !order.contains(name)).collect();
        let mut steps: Vec<Vec<&ContainerName>> = listed.collect();
        if !others.is_empty() || steps.is_empty() {
            steps.push(others);
        }
        if self.is_back() {
            steps.reverse();
        }
        steps
    }
}

/// Returns the first step of which the pod does not ask for every image yet.
pub(super) fn next(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> Option<usize> {
    let is_left = |step: &Vec<&ContainerName>| step.iter().any(|name| wanted(goal, pod_goal, pod, name).is_some());
    goal.steps_of(pod_goal).iter().position(is_left)
}

/// Returns whether a container that has the wanted image is asked for by this rollout, too: by request it has it before, and
/// the pod's record says that it is asked for.
pub(super) fn is_asked(goal: &Goal, pod: &Pod, name: &ContainerName) -> bool {
    !goal.by_request
        || UpdateRecord::of_rollout(pod, goal.id()).is_some_and(|record| record.requested.contains_key(name))
}

/// Returns whether this rollout has changed something of the pod already, in the direction in which it goes.
pub(super) fn is_begun(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> bool {
    let Some(record) = UpdateRecord::of_rollout(pod, goal.id()) else { return false };
    let is_ours = |(name, change): (&ContainerName, &ContainerRecord)| {
        pod_goal.containers.get(name).is_some_and(|wanted| wanted.to.as_ref() == Some(&change.to))
    };
    record.containers.iter().chain(&record.requested).any(is_ours) || is_begun_by_resize(goal, pod_goal, pod)
}

/// Returns whether this rollout has asked for a resize that restarts a container, in the direction in which it goes. The
/// note comes before it and changes nothing.
pub(super) fn is_begun_by_resize(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> bool {
    let is_resized = |name: &ContainerName| pod_goal.containers.get(name).is_some_and(|wanted| wanted.by_resize);
    let record = UpdateRecord::of_rollout(pod, goal.id());
    record.is_some_and(|record| record.resized.keys().filter_map(ResourceHolder::container).any(is_resized))
        && !resizes_next(pod_goal, pod)
}

pub(super) fn asks_for(goal: &Goal, pod_goal: &PodGoal, pod: &Pod, step: usize) -> bool {
    pod_goal.fields.of_part(PodPart::Pod, pod) != FieldProgress::NotAsked
        && next(goal, pod_goal, pod).is_none_or(|next| next > step)
}

pub(super) fn asks_for_all(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> bool {
    let has_part = |part| pod_goal.fields.of_part(part, pod) != FieldProgress::NotAsked;
    [PodPart::Pod, PodPart::Resize].into_iter().all(has_part) && next(goal, pod_goal, pod).is_none()
}

/// Returns whether the pod is to be resized first: what restarts in it afterwards starts with the wanted cpu and
/// memory.
pub(super) fn resizes_next(pod_goal: &PodGoal, pod: &Pod) -> bool {
    pod_goal.fields.of_part(PodPart::Resize, pod) == FieldProgress::NotAsked
}

/// Returns whether the next patch of a pod takes it down: a resize comes before the containers that restart for their
/// image, and need not restart anything.
pub(super) fn takes_down(pod_goal: &PodGoal, pod: &Pod) -> bool {
    if resizes_next(pod_goal, pod) { !pod_goal.fields.restarting_in(pod).is_empty() } else { pod_goal.restarts() }
}

/// Returns whether the pod's next resize has to be noted first: where it restarts a container, which one ran before;
/// for `PodsOnly`, the old cpu and memory. A template has a history for that.
pub(super) fn lacks_note(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> bool {
    let unasked = pod_goal.fields.resources.unasked_in(pod);
    let is_needed = goal.mode() == Mode::PodsOnly || unasked.restarting().next().is_some();
    let record = UpdateRecord::of_rollout(pod, goal.id());
    is_needed && record.is_none_or(|record| !record.notes_resize(&unasked, pod))
}

/// Returns the wanted image of a container that is not asked for yet.
fn wanted<'g>(goal: &Goal, pod_goal: &'g PodGoal, pod: &Pod, name: &ContainerName) -> Option<&'g String> {
    let to = pod_goal.containers.get(name)?.to.as_ref()?;
    let has_it = pod.spec_of(name).is_some_and(|container| container.image == *to);
    (!has_it || !is_asked(goal, pod, name)).then_some(to)
}

/// Returns the number of a pod's next step, and what its patch sets.
pub(super) fn images(goal: &Goal, pod_goal: &PodGoal, pod: &Pod) -> (usize, ImageStep) {
    let steps = goal.steps_of(pod_goal);
    let new = |name: &&ContainerName| {
        pod.container(name)?;
        let to = wanted(goal, pod_goal, pod, name)?.clone();
        Some(NewImage { container: (*name).clone(), to })
    };
    let number = next(goal, pod_goal, pod).unwrap_or(0);
    let of_steps =
        |from: usize, to: usize| steps.iter().take(to).skip(from).flatten().filter_map(new).collect::<Vec<NewImage>>();
    let step = ImageStep {
        images: of_steps(number, number + 1),
        later: of_steps(number + 1, steps.len()),
        owes_after_pod: goal.hooks.after_pod.is_some(),
        durable: goal.owner.is_some(),
    };
    (number, step)
}
