//! What is asked for and what is there when a run ends: the template's image, and the pods' by number.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::names::ContainerName;
use crate::engine::pod::Pod;
use crate::engine::report::{Standing, StandingImage};

use super::look::Look;
use super::state::RunState;

/// Says of each container that the rollout changes what the template and the owner's pods ask for.
pub(super) fn of(look: Look<'_>, state: &RunState) -> Vec<Standing> {
    let of_owner = look.goal.owner.iter().flat_map(|owner| owner.lock.change.images.keys());
    let of_pods = look.goal.pods.iter().flat_map(|pod| pod.containers.keys());
    let names: BTreeSet<&ContainerName> = of_owner.chain(of_pods).collect();
    let pods: Vec<&Pod> = state.pods.present().iter().filter_map(|key| look.world.pod(key)).collect();
    names.into_iter().map(|name| standing(name, &pods, state.owner.template_image(look, name))).collect()
}

fn standing(name: &ContainerName, pods: &[&Pod], template: Option<String>) -> Standing {
    let mut images: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for pod in pods {
        let Some((_, _, container)) = pod.container(name) else { continue };
        let (number, ready) = images.entry(&container.image).or_default();
        *number += 1;
        *ready += usize::from(pod.is_ready());
    }
    let images =
        images.into_iter().map(|(image, (pods, ready))| StandingImage { image: image.to_owned(), pods, ready });
    Standing { container: name.clone(), template, pods: images.collect() }
}
