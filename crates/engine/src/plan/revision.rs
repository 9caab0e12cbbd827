//! How pods differ from the owner's present template: those that were created from an older one, those below its partition,
//! and those that run another image.

use std::collections::BTreeSet;

use serde_json::Value;

use super::live::Snapshot;
use super::wanted::{Context, Known};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::kinds::{CONTROLLER_REVISION_HASH, RevisionLabel, Revisions, deployment_revision};
use crate::state::durable::revisions::number_of;
use crate::state::evidence::Baseline;
use crate::value::json_path::text;

pub(crate) struct CurrentRevision<'a> {
    live: &'a Snapshot,
    newest: Option<&'a Value>,
}

pub(crate) struct OldRevision {
    pub(crate) revision: String,
    pub(super) current: String,
}

impl<'a> CurrentRevision<'a> {
    pub(crate) fn of(live: &'a Snapshot) -> Self {
        let number = |object: &&Value| number_of(object).or_else(|| deployment_revision(object)).unwrap_or(0);
        Self { live, newest: live.surroundings.owned.iter().max_by_key(number) }
    }

    /// Returns the pod's revision if it is an older one; while a rollout goes on its pods are about to be replaced anyway.
    pub(crate) fn older(&self, pod: &Pod) -> Option<OldRevision> {
        if !self.live.workload.is_observed() || self.live.workload.rolling_out().is_some() {
            return None;
        }
        self.another(pod)
    }

    /// Returns the pod's revision if it is not the current one, also while a rollout goes on.
    pub(crate) fn another(&self, pod: &Pod) -> Option<OldRevision> {
        let kind = self.live.workload.reference.kind;
        let label = || pod.labels.get(CONTROLLER_REVISION_HASH).cloned();
        match kind.revisions() {
            // The controller decides: the hash label of a ReplicaSet is also its pods'.
            Revisions::ReplicaSets => {
                let (newest, owner) = (self.newest?, pod.controller()?);
                let current = || text(newest, "/metadata/name").to_owned();
                let other = || OldRevision { revision: owner.name.clone(), current: current() };
                (owner.uid.as_str() != text(newest, "/metadata/uid")).then(other)
            }
            Revisions::ControllerRevisions(RevisionLabel::Name) => {
                let current = text(&self.live.workload.object, "/status/updateRevision").to_owned();
                let revision = label()?;
                (!current.is_empty() && revision != current).then_some(OldRevision { revision, current })
            }
            kept @ Revisions::ControllerRevisions(RevisionLabel::Hash) => {
                let current = kept.hash_of(self.newest?).to_owned();
                let revision = label()?;
                let is_current = revision == current || self.is_of_template_generation(pod);
                (!is_current).then_some(OldRevision { revision, current })
            }
            Revisions::None => None,
        }
    }

    fn is_of_template_generation(&self, pod: &Pod) -> bool {
        let workload = &self.live.workload;
        let Some(generation) = workload.reference.kind.spec().template_generation else { return false };
        let annotations = workload.object.pointer("/metadata/annotations");
        let current = annotations.and_then(|annotations| annotations.get(generation.annotation)?.as_str());
        let current = current.filter(|current| !current.is_empty());
        current.is_some() && pod.labels.get(generation.label).map(String::as_str) == current
    }
}

pub(super) struct Drift<'p> {
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
        live: &Snapshot,
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

    pub(super) fn common(&self) -> Option<&'p str> {
        self.instead().filter(|_| self.images.len() == 1)
    }
}

/// Returns whether pods run other images than their template says: admission may have made them so, which only the server
/// knows.
pub fn differs_from_template(live: &Snapshot) -> bool {
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
        let is_kept = context.durable && context.is_below_partition(pod);
        is_other
            && !is_kept
            && pod.is_controlled_by(&context.live.controllers)
            && !pod.terminating
            && !pod.is_finished()
    };
    Drift::of(context, name, context.live.pods.iter().filter(is_changed))?.common()
}
