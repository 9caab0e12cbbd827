//! Warnings about the images themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::Updated;
use crate::change::reason::Warning;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::plan::context::Context;
use crate::plan::{Effect, ImageChange, PodPlan, PodVerdict};
use crate::value::image::ImageReference;

/// Tags that are pushed again as a habit.
const MOVING_TAGS: [&str; 12] = [
    "latest", "main", "master", "edge", "nightly", "dev", "develop", "snapshot", "stable", "canary", "staging", "head",
];

pub(super) fn warn(
    context: &Context<'_>,
    updated: &[Updated<'_>],
    pods: &[(PodPlan, &Pod)],
    warnings: &mut BTreeSet<Warning>,
) {
    let running = running_digests(pods);
    for Updated { plan, pod } in updated {
        for (container, change) in plan.changed(pod) {
            of_the_reference(container, change, warnings);
            // For a restart that is exactly the purpose.
            if context.wanted.is_restart() {
                continue;
            }
            let digest = digest_of(pod, &container.name);
            let wanted = ImageReference::parse(&change.to).ok().and_then(|to| to.digest().map(str::to_owned));
            let wanted = wanted.or_else(|| running.get(&(&container.name, change.to.as_str())).cloned());
            if change.effect == Effect::Restart && digest.is_some() && digest == wanted {
                warnings.insert(Warning::SameDigest { container: container.name.clone(), image: change.to.clone() });
            }
        }
    }
}

/// The digests of images that some pods are known to run already, by container and image.
fn running_digests<'a>(pods: &'a [(PodPlan, &'a Pod)]) -> BTreeMap<(&'a ContainerName, &'a str), String> {
    let there = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::AlreadyThere);
    let containers = there.flat_map(|(_, pod)| pod.all_containers().map(move |(_, container)| (pod, container)));
    containers
        .filter_map(|(pod, container)| {
            Some(((&container.name, container.image.as_str()), digest_of(pod, &container.name)?))
        })
        .collect()
}

/// The digest that a container runs, if it does; runtimes write it in several ways (`repository@sha256:...`, `docker-pullable://`).
fn digest_of(pod: &Pod, name: &ContainerName) -> Option<String> {
    let (_, _, status) = pod.container_status(name)?;
    status.state.running.as_ref()?;
    let (_, digest) = status.image_id.rsplit_once('@')?;
    (!digest.is_empty()).then(|| digest.to_owned())
}

pub(in crate::plan) fn of_the_reference(container: &Container, change: &ImageChange, warnings: &mut BTreeSet<Warning>) {
    let name = || container.name.clone();
    let Ok(to) = ImageReference::parse(&change.to) else { return };
    if let Ok(from) = ImageReference::parse(&change.from)
        && from.repository() != to.repository()
    {
        warnings.insert(Warning::RepositoryChanges { container: name(), from: from.repository(), to: to.repository() });
    }
    let image = || change.to.clone();
    let is_moving = to.has_latest_tag() || to.tag().is_some_and(|tag| MOVING_TAGS.contains(&tag));
    if to.digest().is_none() && is_moving {
        let stays = container.image_pull_policy == "IfNotPresent";
        warnings.insert(if stays && to.has_latest_tag() {
            Warning::StaleImageStays { container: name(), image: image() }
        } else {
            Warning::MutableTag { container: name(), image: image() }
        });
    }
    if change.effect != Effect::Restart {
        return;
    }
    match container.image_pull_policy.as_str() {
        "Always" => {
            let registry = to.domain().to_owned();
            warnings.insert(Warning::PullNeedsRegistry { container: name(), registry });
        }
        "Never" => {
            warnings.insert(Warning::ImageNeverPulled { container: name(), image: image() });
        }
        _ => {}
    }
}
