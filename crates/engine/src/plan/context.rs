//! What every part of a plan is made from: what was read and chosen, the containers that there are, and what differs from pod to
//! pod of what is wanted of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::revision::CurrentRevision;
use super::wanted::Wanted;
use crate::change::FieldChanges;
use crate::change::reason::Reason;
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::plan::live::{LiveWorkload, Options};
use crate::rollout::drain::DrainBy;

/// What every part of a plan is made from.
pub(super) struct Context<'a> {
    pub(super) live: &'a LiveWorkload,
    pub(super) known: &'a Known,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) revision: CurrentRevision<'a>,
    /// The owner's template is changed too.
    pub(super) durable: bool,
    pub(super) options: &'a Options,
}

impl Context<'_> {
    /// Returns whether pods are drained first, where they can be.
    pub(super) fn drains(&self) -> bool {
        self.options.drain != Some(DrainBy::None)
    }

    /// Returns whether a pod is among those that the user chose.
    pub(super) fn is_chosen(&self, pod: &Pod) -> bool {
        let subset = &self.options.subset;
        let ordinal = || pod.key.name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse::<u32>().ok());
        (subset.pods.is_empty() || subset.pods.contains(&pod.key.name))
            && subset.node.as_ref().is_none_or(|node| *node == pod.spec.node_name)
            && subset.partition.is_none_or(|lowest| ordinal().is_none_or(|ordinal| ordinal >= lowest))
    }
}

/// The containers that exist: the template's first, then those that only pods have.
pub(super) struct Known {
    pub(super) containers: Vec<(ContainerName, ContainerList)>,
    pub(super) template: BTreeMap<ContainerName, Container>,
}

impl Known {
    pub(super) fn of(live: &LiveWorkload) -> Self {
        let mut known = Self { containers: Vec::new(), template: BTreeMap::new() };
        let mut seen: BTreeSet<ContainerName> = BTreeSet::new();
        for list in ContainerList::ALL {
            let template = template_containers(live.workload.template()).into_iter();
            for (_, container) in template.filter(|(its, _)| *its == list) {
                if seen.insert(container.name.clone()) {
                    known.containers.push((container.name.clone(), list));
                    known.template.insert(container.name.clone(), container);
                }
            }
            for container in live.pods.iter().flat_map(|pod| pod.containers(list)) {
                if !seen.contains(&container.name) {
                    seen.insert(container.name.clone());
                    known.containers.push((container.name.clone(), list));
                }
            }
        }
        known
    }

    pub(super) fn list(&self, name: &ContainerName) -> Option<ContainerList> {
        self.containers.iter().find(|(known, _)| known == name).map(|(_, list)| *list)
    }

    pub(super) fn not_found(&self, name: &ContainerName) -> Option<Reason> {
        if self.list(name).is_some() {
            return None;
        }
        let known: Vec<ContainerName> = self.containers.iter().map(|(name, _)| name.clone()).collect();
        Some(Reason::container_not_found(name, &known))
    }
}

/// The containers of a template that can be read.
pub(super) fn template_containers(template: &Value) -> Vec<(ContainerList, Container)> {
    let of_list = |list: ContainerList| {
        let containers = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let read = |container: &Value| serde_json::from_value(container.clone()).ok();
        containers.into_iter().flatten().filter_map(read).map(move |container| (list, container))
    };
    ContainerList::ALL.into_iter().flat_map(of_list).collect()
}

/// Images that differ from pod to pod. They are no change of the owner's template.
#[derive(Default)]
pub(super) struct ByPod {
    /// A restart with the same images; else back to what each pod recorded before an update of pods alone.
    pub(super) is_restart: bool,
    /// The containers that are meant.
    pub(super) containers: BTreeSet<ContainerName>,
    pub(super) images: BTreeMap<PodKey, BTreeMap<ContainerName, String>>,
    /// cpu and memory, by pod.
    pub(super) resources: BTreeMap<PodKey, FieldChanges>,
    pub(super) reasons: BTreeMap<PodKey, Vec<Reason>>,
}

impl ByPod {
    /// Notes the image that a container of a pod gets, or why it gets none.
    pub(super) fn note(&mut self, pod: &Pod, name: &ContainerName, image: Result<String, Reason>) {
        match image {
            Ok(image) => drop(self.images.entry(pod.key.clone()).or_default().insert(name.clone(), image)),
            Err(reason) => self.reasons.entry(pod.key.clone()).or_default().push(reason),
        }
    }
}
