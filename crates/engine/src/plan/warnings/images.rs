//! Warnings about the images: the references, and where pods have another one than the template.

use std::collections::{BTreeMap, BTreeSet};

use super::Warnings;
use crate::change::reason::Warning;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::plan::revision::{self, Drift};
use crate::plan::{ContainerPlan, Effect, ImageChange, PodPlan, PodVerdict};
use crate::value::image::ImageReference;

/// Tags that are pushed again as a habit.
const MOVING_TAGS: [&str; 12] = [
    "latest", "main", "master", "edge", "nightly", "dev", "develop", "snapshot", "stable", "canary", "staging", "head",
];

impl Warnings<'_> {
    pub(super) fn of_images(&mut self) {
        let running = running_digests(self.pods);
        let is_restart = self.context.wanted.is_restart();
        for (plan, pod) in &self.updated {
            for (container, change) in plan.changed(pod) {
                of_the_reference(container, change, &mut self.found);
                // For a restart that is exactly the purpose.
                if is_restart {
                    continue;
                }
                let digest = digest_of(pod, &container.name);
                let wanted = ImageReference::parse(&change.to).ok().and_then(|to| to.digest().map(str::to_owned));
                let wanted = wanted.or_else(|| running.get(&(&container.name, change.to.as_str())).cloned());
                if change.effect == Effect::Restart && digest.is_some() && digest == wanted {
                    let (container, image) = (container.name.clone(), change.to.clone());
                    self.found.insert(Warning::SameDigest { container, image });
                }
            }
        }
        if !is_restart {
            self.pods_differ();
        }
        self.drifted();
        self.below_partition();
    }

    fn pods_differ(&mut self) {
        let mut images: BTreeMap<&ContainerName, BTreeSet<&str>> = BTreeMap::new();
        for (plan, pod) in &self.updated {
            for (container, _) in plan.changed(pod) {
                images.entry(&container.name).or_default().insert(&container.image);
            }
        }
        for (container, images) in images.into_iter().filter(|(_, images)| images.len() > 1) {
            let images = images.into_iter().map(str::to_owned).collect();
            self.found.insert(Warning::PodsDiffer { container: container.clone(), images });
        }
    }

    fn drifted(&mut self) {
        let (context, live) = (self.context, self.context.live);
        if !live.workload.reference.kind.has_template() || live.workload.rolling_out().is_some() {
            return;
        }
        let asked: BTreeSet<&ContainerName> = context.wanted.named().collect();
        let stays = |plan: &ContainerPlan| plan.to.is_none() && !asked.contains(&plan.container);
        let is_free = self.is_free();
        for plan in self.containers {
            let (name, template) = (&plan.container, context.known.template.get(&plan.container));
            let to = template.and_then(|template| {
                context.wanted.image(name, plan.list, &template.image).filter(|to| *to != template.image)
            });
            if let Some(template) = to
                && let Some(made) = live.in_pods(name, &template).map(str::to_owned)
            {
                self.found.insert(Warning::RewrittenByAdmission { container: name.clone(), template, made });
            }
            let is_other = |to: &String| template.is_some_and(|template| !live.is_image(name, &template.image, to));
            let changes = context.durable && is_free && plan.to.as_ref().is_some_and(is_other);
            if !changes && !stays(plan) {
                continue;
            }
            let ours = self.of_the_template().map(|(_, pod)| pod);
            let Some(drift) = Drift::of(context, name, ours) else { continue };
            let ran =
                plan.to.as_ref().and_then(|to| revision::ran(context, name, live.in_pods(name, to).unwrap_or(to)));
            self.found.insert(Warning::PodsDrifted {
                container: name.clone(),
                images: drift.images.into_iter().map(str::to_owned).collect(),
                pods: drift.pods,
                back_to: changes.then(|| ran.unwrap_or(&drift.template).to_owned()),
                template: drift.template,
            });
        }
    }

    fn below_partition(&mut self) {
        let context = self.context;
        let partition = context.partition();
        if !context.durable || partition == 0 {
            return;
        }
        let is_kept = |(plan, pod): &&(PodPlan, &Pod)| {
            plan.verdict == PodVerdict::Skipped && pod.is_present() && context.is_below_partition(pod)
        };
        let named: BTreeSet<_> = context.wanted.named().collect();
        for plan in self.containers {
            if plan.to.is_none() && !named.contains(&plan.container) && !context.wanted.is_of_manifest() {
                continue;
            }
            let kept = self.pods.iter().filter(is_kept).map(|(_, pod)| *pod);
            let template = plan.to.as_ref().or(context.known.template.get(&plan.container).map(|known| &known.image));
            let Some(drift) = template.and_then(|image| Drift::from((image, &plan.container), context.live, kept))
            else {
                continue;
            };
            self.found.insert(Warning::PodsBelowPartition {
                container: plan.container.clone(),
                images: drift.images.into_iter().map(str::to_owned).collect(),
                pods: drift.pods,
                partition,
                template: drift.template,
            });
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
    let status = pod.status_of(name)?;
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
