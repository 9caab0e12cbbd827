//! What is asked for and what is there when a run ends: the template's image, and the pods' by number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::engine::k8s::names::ContainerName;
use crate::engine::k8s::pod::Pod;
use crate::engine::report::{Standing, StandingImage};

use super::look::Look;
use super::state::RunState;

/// Says of each container that the rollout changes what the template and the owner's pods ask for; nothing before the pods
/// were listed.
pub(super) fn of(look: Look<'_>, state: &RunState) -> Vec<Standing> {
    if !state.listed {
        return Vec::new();
    }
    let of_owner = look.goal.owner.iter().flat_map(|owner| owner.lock.change.images.keys());
    let of_pods = look.goal.pods.iter().flat_map(|pod| pod.containers.keys());
    let names: BTreeSet<&ContainerName> = of_owner.chain(of_pods).collect();
    // Those of every ReplicaSet: somebody else's template may have brought another one.
    let sets = look.world.owner().into_iter().flat_map(|view| &view.owned);
    let sets: BTreeSet<&str> = sets.filter_map(|set| set.pointer("/metadata/uid").and_then(Value::as_str)).collect();
    let is_owned = |pod: &Pod| pod.controller().is_some_and(|owner| sets.contains(owner.uid.as_str()));
    let pods = look.world.pods().filter(|pod| !pod.is_finished());
    let pods = pods.filter(|pod| state.pods.is_owners(look, pod) || is_owned(pod));
    let (going, pods): (Vec<&Pod>, Vec<&Pod>) = pods.partition(|pod| pod.terminating);
    let standing = |name: &ContainerName| Standing {
        container: name.clone(),
        template: state.owner.template_image(look, name),
        new_pods: state.owner.new_pods(look, name),
        pods: images(name, &pods),
        going: going.len(),
    };
    names.into_iter().map(standing).collect()
}

fn images(name: &ContainerName, pods: &[&Pod]) -> Vec<StandingImage> {
    let mut images: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for pod in pods {
        let Some((_, _, container)) = pod.container(name) else { continue };
        let (number, ready) = images.entry(&container.image).or_default();
        *number += 1;
        *ready += usize::from(pod.is_ready());
    }
    let images = images.into_iter();
    images.map(|(image, (pods, ready))| StandingImage { image: image.to_owned(), pods, ready }).collect()
}
