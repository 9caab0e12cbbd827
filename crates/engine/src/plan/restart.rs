//! What `restart` wants of each pod: the image that it runs, under another reference; by request, the one that it has.

use std::collections::BTreeSet;

use super::Effect;
use super::wanted::{ByPod, Known};
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, ContainerStatus, Pod};
use crate::k8s::restart::pinned_image;
use crate::plan::intent::IntentError;
use crate::plan::live::Snapshot;
use crate::state::evidence::{Baseline, Proof};

/// Returns what is wanted of a workload whose named containers restart with the images that they run. Without a name
/// the only container is meant.
/// It is an error if none is named and there are several, or if a plain init container is.
pub(super) fn restart(
    live: &Snapshot,
    known: &Known,
    named: &BTreeSet<ContainerName>,
    is_by_request: bool,
) -> Result<ByPod, IntentError> {
    let containers = if named.is_empty() { only_one(live, known)? } else { named.clone() };
    if let Some(container) = containers.iter().find(|name| !may_restart(live, known, name)) {
        return Err(IntentError::InitContainer { container: container.clone() });
    }
    let mut wanted = ByPod { is_restart: true, is_by_request, containers: containers.clone(), ..ByPod::default() };
    for pod in live.pods.iter().filter(|pod| pod.is_present()) {
        for name in &containers {
            let Some((list, _, container)) = pod.container(name) else { continue };
            if is_by_request {
                wanted.note(pod, name, Ok(container.image.clone()));
                continue;
            }
            let template = known.template.get(name).map(|template| template.image.as_str());
            let template = template.map(|template| live.in_pods(name, template).unwrap_or(template));
            let unknown = |why| Reason::DigestUnknown { list, container: name.clone(), why };
            wanted.note(pod, name, pinned(pod, container, template).map_err(unknown));
        }
    }
    Ok(wanted)
}

fn only_one(live: &Snapshot, known: &Known) -> Result<BTreeSet<ContainerName>, IntentError> {
    let running = known.containers.iter().map(|(name, _)| name).filter(|name| may_restart(live, known, name));
    let running: Vec<&ContainerName> = running.collect();
    match running.as_slice() {
        [one] => Ok([(*one).clone()].into()),
        several => {
            Err(IntentError::NameOne { known: several.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ") })
        }
    }
}

/// Whether a container can restart; an unknown name is checked elsewhere.
fn may_restart(live: &Snapshot, known: &Known, name: &ContainerName) -> bool {
    let in_template = known.template.get(name).and_then(|container| Some((known.list(name)?, container)));
    let in_pods = live.pods.iter().find_map(|pod| pod.container(name)).map(|(list, _, container)| (list, container));
    in_template.or(in_pods).is_none_or(|(list, container)| Effect::of(list, container) == Effect::Restart)
}

fn pinned(pod: &Pod, container: &Container, template: Option<&str>) -> Result<String, String> {
    let status = pod.status_of(&container.name);
    let Some(status) = status.filter(|status| status.container_id.is_some()) else {
        return Err("it has no container yet".into());
    };
    if !is_of_the_spec(pod, container, status) {
        return Err(format!("no container of {} is known, and the one before is something else", container.image));
    }
    pinned_image(&container.image, &status.image_id, template)
}

/// Whether the status is of a container that was created from the spec's image: while an image cannot be pulled the
/// kubelet goes on showing the digest of the old one.
fn is_of_the_spec(pod: &Pod, container: &Container, status: &ContainerStatus) -> bool {
    let ran = status.state.running.is_some()
        || status.state.terminated.is_some()
        || status.state.waiting.as_ref().is_some_and(|waiting| waiting.reason == "CrashLoopBackOff");
    let observed = pod.status.observed_generation.is_none_or(|seen| Some(seen) >= pod.generation);
    let proof = Baseline::of(pod, &container.name).proof(status, &container.image, false, None);
    let is_old = matches!(proof, Proof::Old);
    ran && observed && !is_old
}
