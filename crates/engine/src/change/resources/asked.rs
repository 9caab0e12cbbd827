//! What a pod asks for, as the server and the node compute it.

use super::{ContainerResources, ResourceField, ResourcesChange};
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::value::quantity::Quantity;

fn quantity(text: Option<&String>) -> Option<Quantity> {
    text?.parse().ok()
}

impl ResourcesChange {
    /// Returns whether a memory limit falls, or is added, of a container that does not restart for it.
    pub(in crate::change) fn lowers_memory_limit(&self) -> bool {
        let limit = ResourceField::LimitsMemory;
        let runs_on = |change: &&ContainerResources| !change.is_plain_init && !change.restarting.contains(&limit);
        let limits = self.0.values().filter(runs_on).filter_map(|change| change.values.get(&limit));
        limits.map(|value| (quantity(value.from.as_ref()), quantity(value.to.as_ref()))).any(|(from, to)| {
            match (from, to) {
                (Some(from), Some(to)) => to < from,
                (None, Some(_)) => true,
                (_, None) => false,
            }
        })
    }

    /// Sets what the containers of a pod would ask for.
    pub(in crate::change) fn ask(&self, asked: &mut Pod) {
        let reached = |container: &Container| self.0.get(&container.name).is_some_and(|change| !change.is_plain_init);
        let spec = &mut asked.spec;
        for (list, containers) in [
            (ContainerList::Containers, &mut spec.containers),
            (ContainerList::InitContainers, &mut spec.init_containers),
        ] {
            for container in
                containers.iter_mut().filter(|container| container.is_long_lived(list) || reached(container))
            {
                container.resources = self.after(container);
            }
        }
    }
}
