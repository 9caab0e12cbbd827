//! What the kubelet has left running: it stops a container whose image has changed in the sync that finds the change.
//! So a container that it goes on showing is the one asked for, even where no time and no event says since when.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::state::evidence;

use super::Now;
use super::observed::TurnContext;

/// The containers that restart when their image changes, since the pod's spec was last seen to change, or to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Since {
    generation: Option<i64>,
    has_seen: bool,
    first: BTreeMap<ContainerName, Option<String>>,
    /// The present ones, and since when.
    present: BTreeMap<ContainerName, (Option<String>, Now)>,
}

/// Whether the kubelet has left a running container alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftRunning {
    Yes,
    /// If it is still there at that time.
    At(Now),
    /// Unknown.
    Unknown,
}

impl LeftRunning {
    pub(super) fn until(self) -> Option<Now> {
        match self {
            Self::At(until) => Some(until),
            Self::Yes | Self::Unknown => None,
        }
    }
}

pub(super) fn note(noted: &mut Option<Since>, pod: &Pod, now: Now) {
    let (generation, has_seen, ids) = (pod.generation, evidence::has_seen(pod), ids(pod));
    match noted.as_mut().filter(|noted| noted.generation == generation && noted.has_seen == has_seen) {
        Some(noted) => {
            for (name, id) in ids {
                if noted.present.get(&name).is_none_or(|(known, _)| *known != id) {
                    noted.present.insert(name, (id, now));
                }
            }
        }
        None => {
            let present = ids.iter().map(|(name, id)| (name.clone(), (id.clone(), now))).collect();
            *noted = Some(Since { generation, has_seen, first: ids, present });
        }
    }
}

pub(super) fn of(context: TurnContext<'_>, pod: &Pod, name: &ContainerName, noted: Option<&Since>) -> LeftRunning {
    let Some((noted, (_, since))) = noted.and_then(|noted| Some((noted, noted.present.get(name)?))) else {
        return LeftRunning::Unknown;
    };
    let pulled = || context.observed.events(&pod.key)?.pulled_at(name, &pod.spec_of(name)?.image);
    let Some(seconds) = evidence::hold_seconds(pod, name, pulled()) else { return LeftRunning::Unknown };
    // In one sync the kubelet stops every container whose image has changed before it starts any.
    let started_any =
        noted.has_seen && noted.present.iter().any(|(name, (id, _))| id.is_some() && noted.first.get(name) != Some(id));
    let until = *since + Duration::from_secs(seconds);
    if context.is_live() && (started_any || until <= context.now) { LeftRunning::Yes } else { LeftRunning::At(until) }
}

fn ids(pod: &Pod) -> BTreeMap<ContainerName, Option<String>> {
    let id = |name: &ContainerName| pod.status_of(name).and_then(|status| status.container_id.clone());
    pod.long_lived_containers().map(|container| (container.name.clone(), id(&container.name))).collect()
}
