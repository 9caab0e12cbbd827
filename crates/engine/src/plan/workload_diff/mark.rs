//! What a changed field means for running pods.

use std::collections::BTreeSet;

use crate::change::reason::{Reason, Warning};
use crate::change::template::ORDER;
use crate::change::{FieldEffect, INIT_RESIZE_SINCE, Row};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::ContainerList;
use crate::kinds::WorkloadKind;
use crate::plan::pods::SIDECARS_RESTART;
use crate::plan::{self, ContainerPlan, WorkloadPlan};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Restarts(ContainerName),
    /// The sidecar restarts where the node's kubelet is new enough.
    SidecarRestarts(ContainerName),
    /// Changed in the pods, without a restart.
    NoRestart,
    /// The init container is resized, without a restart, where API server and kubelet are new enough.
    InitResized,
    /// Used when the pod is next created, such as a plain init container's image.
    NoEffectNow,
    /// It cannot be done in place, for the reason with this code.
    NotInPlace(&'static str),
    /// Outside the template: this program does not change it.
    LeftAlone,
    /// The whole object: it is not in the cluster.
    New,
}

impl Effect {
    pub fn words(&self) -> String {
        match self {
            Self::Restarts(container) => format!("in place: restarts {container}"),
            Self::SidecarRestarts(container) => {
                format!("in place: restarts {container} (kubelet {SIDECARS_RESTART} or newer)")
            }
            Self::NoRestart => "in place: no restart".to_owned(),
            Self::InitResized => {
                format!("in place: no restart (API server and kubelet {INIT_RESIZE_SINCE} or newer)")
            }
            Self::NoEffectNow => "no effect now: used when a pod is next made".to_owned(),
            Self::NotInPlace(code) => format!("not in place ({code})"),
            Self::LeftAlone => "not changed: outside the pod template".to_owned(),
            Self::New => "new: kubectl apply creates it".to_owned(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The path from the object's root, list elements by name: `spec.template.spec.containers[side].image`.
    pub path: String,
    pub effect: Effect,
}

impl Mark {
    /// Returns the path of the field, without a word on what changes of it.
    pub fn field(&self) -> &str {
        self.path.strip_suffix(ORDER).unwrap_or(&self.path)
    }
}

pub(super) fn of(plan: &WorkloadPlan, kind: WorkloadKind) -> Vec<Mark> {
    let prefix = kind.template_pointer().trim_start_matches('/').replace('/', ".");
    let in_template = |path: &str| {
        if prefix.is_empty() { path.to_owned() } else { format!("{prefix}.{path}").trim_end_matches('.').to_owned() }
    };
    let mut marks = BTreeSet::new();
    for container in plan.containers.iter().filter(|container| container.to.is_some()) {
        let path = format!("spec.{}[{}].image", container.list.spec_field(), container.container);
        marks.insert(Mark { path: in_template(&path), effect: effect(container, plan) });
    }
    let refused: BTreeSet<String> = plan.reasons.iter().flat_map(paths).collect();
    // A reason about the pod's status comes from the values together, and refuses each of them.
    let of_all = plan.all_reasons().find(|reason| reason.path().is_some_and(|path| path.starts_with("status.")));
    let resized: BTreeSet<String> = plan.fields.of_resize().rows().into_iter().map(|row| row.path).collect();
    // No node is asked here.
    let by_newest = plan.fields.clone().done_by([&INIT_RESIZE_SINCE]).rows();
    let in_time = |row: &Row| by_newest.iter().any(|one| one.path == row.path && one.effect == FieldEffect::InPlace);
    for row in plan.fields.rows().iter().filter(|row| !refused.contains(&row.path)) {
        let effect = match (&row.effect, of_all.filter(|_| resized.contains(&row.path))) {
            (_, Some(reason)) => Effect::NotInPlace(reason.code()),
            (FieldEffect::InPlace, None) => Effect::NoRestart,
            (FieldEffect::Restarts(container), None) => Effect::Restarts(container.clone()),
            (FieldEffect::LaterPods, None) if in_time(row) => Effect::InitResized,
            (FieldEffect::LaterPods, None) => Effect::NoEffectNow,
        };
        marks.insert(Mark { path: in_template(&row.path), effect });
    }
    for reason in &plan.reasons {
        for path in paths(reason) {
            marks.insert(Mark { path: in_template(&path), effect: Effect::NotInPlace(reason.code()) });
        }
    }
    for warning in &plan.warnings {
        if let Warning::OutsideTemplate { paths } = warning {
            marks.extend(paths.iter().map(|path| Mark { path: path.clone(), effect: Effect::LeftAlone }));
        }
    }
    marks.into_iter().collect()
}

fn effect(container: &ContainerPlan, plan: &WorkloadPlan) -> Effect {
    let malformed = |reason: &&Reason| matches!(reason, Reason::ImageMalformed { container: name, .. } | Reason::ImageWhitespace { container: name, .. } if *name == container.container);
    // Only a bare pod is planned itself; what blocks it, blocks its images.
    let of_pod = plan.pods.iter().flat_map(|pod| &pod.reasons);
    if let Some(reason) = plan.reasons.iter().filter(malformed).chain(of_pod).next() {
        return Effect::NotInPlace(reason.code());
    }
    match (container.effect, container.list) {
        (plan::Effect::NoEffectNow | plan::Effect::LaterPods, _) => Effect::NoEffectNow,
        (plan::Effect::Restart | plan::Effect::Unchanged, ContainerList::Containers) => {
            Effect::Restarts(container.container.clone())
        }
        (plan::Effect::Restart | plan::Effect::Unchanged, ContainerList::InitContainers) => {
            Effect::SidecarRestarts(container.container.clone())
        }
    }
}

/// The template's paths that a reason is about.
fn paths(reason: &Reason) -> Vec<String> {
    // A malformed image is marked with its container.
    let is_image = matches!(reason, Reason::ImageMalformed { .. } | Reason::ImageWhitespace { .. });
    // No written field is in a status: a change of the QoS class, for example, is marked at the fields that cause it.
    let is_written = |path: &String| !is_image && !path.starts_with("status.");
    let mut paths: Vec<String> = reason.path().filter(is_written).into_iter().collect();
    if let Reason::ContainerRenamed { list, container, to } = reason {
        paths = [container, to].map(|name| format!("spec.{}[{name}]", list.spec_field())).into();
    }
    paths
}
