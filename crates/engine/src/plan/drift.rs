//! Where pods run another image than their owner's template says.

use std::collections::BTreeSet;

use super::context::{Context, Known};
use super::revision;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::plan::live::LiveWorkload;
use crate::state::evidence::Baseline;

/// The images of a container that are not its template's.
pub(super) struct Drift<'p> {
    /// The template's.
    pub(super) template: String,
    pub(super) images: BTreeSet<&'p str>,
    pub(super) pods: usize,
    /// No pod has the template's.
    is_everywhere: bool,
}

impl<'p> Drift<'p> {
    /// Compares a container in these pods; `None` where each has the template's image, as the server makes it, or a pin of it.
    pub(super) fn of(context: &Context<'_>, name: &ContainerName, pods: impl Iterator<Item = &'p Pod>) -> Option<Self> {
        Self::from((&context.known.template.get(name)?.image, name), context.live, pods)
    }

    /// The same against an image that the template is to have.
    pub(super) fn from(
        (template, name): (&str, &ContainerName),
        live: &LiveWorkload,
        pods: impl Iterator<Item = &'p Pod>,
    ) -> Option<Self> {
        let mut drift = Self { template: template.to_owned(), images: BTreeSet::new(), pods: 0, is_everywhere: true };
        for pod in pods {
            let Some(container) = pod.spec_of(name) else { continue };
            // What admission makes of it is no drift.
            if live.is_image(name, template, &container.image) || live.is_pin(pod, container, template) {
                drift.is_everywhere = false;
            } else {
                drift.images.insert(&container.image);
                drift.pods += 1;
            }
        }
        (drift.pods > 0).then_some(drift)
    }

    /// Returns an image that pods run, where none runs the template's.
    pub(super) fn instead(&self) -> Option<&'p str> {
        self.images.first().copied().filter(|_| self.is_everywhere)
    }

    /// Returns the image that all pods run in place of the template's.
    pub(super) fn common(&self) -> Option<&'p str> {
        self.instead().filter(|_| self.images.len() == 1)
    }
}

/// Returns whether pods run other images than their template says: admission may have made them so, which only the server
/// knows.
pub fn differs_from_template(live: &LiveWorkload) -> bool {
    let differs = |(name, container): (&ContainerName, &Container)| {
        Drift::from((&container.image, name), live, live.present_pods()).is_some()
    };
    live.workload.reference.kind.has_template() && Known::of(live).template.iter().any(differs)
}

/// What the pods that an update changes ran before, where that is one image and not the template's.
pub(super) fn ran<'p>(context: &Context<'p>, name: &ContainerName, to: &str) -> Option<&'p str> {
    let is_changed = |pod: &&Pod| {
        // What a pod was created with nobody has set: its own revision says it, or admission has made it.
        let is_set = Baseline::of(pod, name) != Baseline::Created;
        let is_other = is_set && pod.spec_of(name).is_some_and(|container| container.image != to);
        let is_kept = context.durable && revision::is_below_partition(&context.live.workload, pod);
        is_other
            && !is_kept
            && pod.is_controlled_by(&context.live.controllers)
            && !pod.terminating
            && !pod.is_finished()
    };
    Drift::of(context, name, context.live.pods.iter().filter(is_changed))?.common()
}
