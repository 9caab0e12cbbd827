//! From a plan, or from live pods, to the goal of a rollout.

use std::collections::BTreeMap;

use super::live::{LiveWorkload, Options};
use super::policy::policy;
use super::{Effect, PodVerdict, WorkloadPlan};
use crate::engine::hook::Hooks;
use crate::engine::metadata::MetadataChange;
use crate::engine::names::{ContainerName, PodKey, RolloutId};
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::pre_pull::PrePull;
use crate::engine::record::UpdateRecord;
use crate::engine::rollout::{ContainerGoal, Goal, Mode, PodGoal};
use crate::engine::target::Images;

impl WorkloadPlan {
    /// Returns the goal: exactly the pods and images that the plan shows, in its order.
    pub fn goal(&self, id: &RolloutId, field_manager: &str) -> Goal {
        let pods = self.pods.iter().filter(|pod| matches!(pod.verdict, PodVerdict::Update | PodVerdict::InProgress));
        let pods = pods.map(|pod| {
            let containers = pod.changes.iter().map(|(name, change)| {
                let goal = ContainerGoal {
                    from: Some(change.from.clone()),
                    to: Some(change.to.clone()),
                    restarts: change.effect == Effect::Restart,
                };
                (name.clone(), goal)
            });
            PodGoal {
                key: pod.pod.clone(),
                containers: containers.collect(),
                metadata: pod.metadata.clone(),
                drain: pod.drain.clone(),
            }
        });
        Goal {
            id: id.clone(),
            workload: self.workload.clone(),
            mode: Mode::PodsOnly,
            controllers: self.controllers.clone(),
            replicas: self.replicas,
            pods: pods.collect(),
            policy: self.policy.clone(),
            field_manager: field_manager.to_owned(),
            hooks: self.hooks.clone(),
            owner: None,
            pulls: self.pulls.clone(),
            pre_pull: self.pre_pull,
        }
    }
}

/// Returns the goal of `follow`: the pods that are there, until they run what is asked.
///
/// Asked is, in this order: the images given; the images of the newest in-place update that the pods still carry;
/// whatever each pod's spec says. Pods that are going or have ended are left out.
pub fn follow(live: &LiveWorkload, images: Option<&Images>, options: &Options, id: &RolloutId) -> Goal {
    let mine = |pod: &&Pod| {
        let controlled = match pod.controller() {
            Some(owner) => live.controllers.contains(&owner.uid),
            None => live.controllers.is_empty(),
        };
        controlled && !pod.terminating && !pod.is_finished()
    };
    let mut pods: Vec<&Pod> = live.pods.iter().filter(mine).collect();
    pods.sort_by(|a, b| live.workload.order(a, b));
    let recorded = newest_record(&pods);
    let goals = pods.iter().map(|pod| PodGoal {
        key: pod.key.clone(),
        containers: followed(pod, images, recorded.as_ref()),
        metadata: MetadataChange::default(),
        drain: None,
    });
    let goals: Vec<PodGoal> = goals.filter(|goal| !goal.containers.is_empty()).collect();
    Goal {
        id: id.clone(),
        workload: live.workload.reference.clone(),
        mode: Mode::Follow,
        controllers: live.controllers.clone(),
        replicas: live.workload.desired_replicas(),
        pods: goals,
        policy: policy(live, options).0,
        field_manager: String::new(),
        hooks: Hooks::default(),
        owner: None,
        pulls: Vec::new(),
        pre_pull: PrePull::Never,
    }
}

/// The newest record whose images its own pod still asks for; a later change of somebody else's makes it history.
fn newest_record(pods: &[&Pod]) -> Option<UpdateRecord> {
    let current = pods.iter().filter_map(|pod| {
        let record = UpdateRecord::of(pod)?;
        // A record without containers is of a label that was taken off, not of an update.
        let whole = !record.containers.is_empty();
        (whole && record.containers.keys().all(|name| record.container(pod, name).is_some())).then_some(record)
    });
    current.max_by(|a, b| a.id.cmp(&b.id))
}

fn followed(
    pod: &Pod,
    images: Option<&Images>,
    recorded: Option<&UpdateRecord>,
) -> BTreeMap<ContainerName, ContainerGoal> {
    let mut containers = BTreeMap::new();
    for list in [ContainerList::Containers, ContainerList::InitContainers] {
        for container in pod.containers(list) {
            let restarts = list == ContainerList::Containers || container.is_sidecar();
            let to = match (images, recorded) {
                (Some(images), _) => {
                    let all = images.all.as_ref().filter(|_| list == ContainerList::Containers);
                    let Some(argument) = images.by_container.get(&container.name).or(all) else { continue };
                    argument.resolve(&container.image).ok()
                }
                (None, Some(record)) => {
                    let now = record.containers.get(&container.name).map(|change| &change.to);
                    let later = || record.later.get(&container.name).map(|change| &change.to);
                    let Some(to) = now.or_else(later) else { continue };
                    Some(to.clone())
                }
                // A plain init container does not run any more: there is nothing to follow.
                (None, None) if !restarts => continue,
                (None, None) => None,
            };
            containers.insert(container.name.clone(), ContainerGoal { from: None, to, restarts });
        }
    }
    containers
}

/// Pods that go back to the same images, and these images.
pub type WayBack = (Vec<PodKey>, BTreeMap<ContainerName, String>);

/// Returns what brings the pods back to what they ran before the goal: a group of pods for each set of images that they
/// came from. None where the image before is not known, as it may be of an update that was found on its way.
pub fn way_back(goal: &Goal) -> Option<Vec<WayBack>> {
    let mut groups: Vec<WayBack> = Vec::new();
    for pod in &goal.pods {
        let mut images = BTreeMap::new();
        for (name, container) in &pod.containers {
            let from = container.from.clone().filter(|from| !from.is_empty() && container.to.as_ref() != Some(from))?;
            images.insert(name.clone(), from);
        }
        match groups.iter_mut().find(|(_, known)| *known == images) {
            Some((pods, _)) => pods.push(pod.key.clone()),
            None => groups.push((vec![pod.key.clone()], images)),
        }
    }
    groups.retain(|(_, images)| !images.is_empty());
    (!groups.is_empty()).then_some(groups)
}
