//! Warnings of a plan that can be carried out: only what applies to exactly this plan.

mod containers;
mod images;
mod metadata;
mod owner;
mod partition;
mod resized;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use containers::{failed_start, in_series, of_a_restart};
pub(super) use images::of_the_reference;
pub use owner::manager;
pub use traffic::missing_labels;

use super::back_off::{self, Held};
use super::context::Context;
use super::drift::{self, Drift};
use super::{ContainerPlan, PodPlan, PodVerdict};
use super::{recover, rollout_state};
use crate::change::reason::Warning;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::plan::live::LiveWorkload;

/// What differs, the template's value, and the one that pods get.
type Differs = (String, Option<String>, Option<String>);

/// What pods have in place of what the template says: the values, and how many pods.
#[derive(Default)]
struct Found(BTreeMap<Differs, (BTreeSet<String>, usize)>);

impl Found {
    fn add(&mut self, differs: Differs, value: Option<String>) {
        let (values, pods) = self.0.entry(differs).or_default();
        values.insert(value.unwrap_or_else(|| "none".to_owned()));
        *pods += 1;
    }

    fn into_all(self) -> impl Iterator<Item = (Differs, Vec<String>, usize)> {
        self.0.into_iter().map(|(differs, (values, pods))| (differs, values.into_iter().collect(), pods))
    }
}

/// A pod that would be patched.
pub(super) struct Updated<'a> {
    pub(super) plan: &'a PodPlan,
    pub(super) pod: &'a Pod,
}

impl<'a> Updated<'a> {
    fn restarted(&self) -> impl Iterator<Item = &'a Container> + Clone {
        self.plan.restarted(self.pod)
    }
}

/// Returns the warning that a strict order lets no pod be taken yet. The pods are listed in it.
pub(super) fn order_waits(live: &LiveWorkload, pods: &[(PodPlan, &Pod)], allowed: u32) -> Option<Warning> {
    let mut updated = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update);
    let (first, pod) = updated.next()?;
    let down: Vec<&Pod> = pods.iter().map(|(_, pod)| *pod).filter(|pod| !pod.is_ready()).collect();
    let is_full = u32::try_from(down.len()).is_ok_and(|down| down >= allowed);
    let waits = live.workload.is_ordered_ready() && first.restarted(pod).next().is_some() && pod.is_ready() && is_full;
    let pod = down.first().filter(|_| waits)?.key.name.clone();
    Some(Warning::OrderBlocked { pod, allowed })
}

/// Returns the warnings of a plan, each once, in the order of their codes.
pub(super) fn warnings(context: &Context<'_>, pods: &[(PodPlan, &Pod)], containers: &[ContainerPlan]) -> Vec<Warning> {
    let live = context.live;
    let mut warnings: BTreeSet<Warning> = BTreeSet::new();
    let updated = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update);
    let updated: Vec<Updated<'_>> = updated.map(|(plan, pod)| Updated { plan, pod }).collect();
    containers::warn(context, &updated, &mut warnings);
    images::warn(context, &updated, pods, &mut warnings);
    if !updated.is_empty() {
        owner::warn(context, &updated, containers, &mut warnings);
    }
    traffic::warn(context, &updated, pods, &mut warnings);
    metadata::warn(context, &updated, pods, &mut warnings);
    if !context.wanted.is_restart() {
        pods_differ(&updated, &mut warnings);
    }
    drifted(context, pods, containers, &mut warnings);
    resized::warn(context, pods, &mut warnings);
    partition::warn(context, pods, containers, &mut warnings);
    held_back(context, &updated, &mut warnings);
    if context.wanted.removals_unseen {
        warnings.insert(Warning::RemovalsUnseen);
    }
    let paths = context.wanted.outside_template.clone();
    if !paths.is_empty() {
        warnings.insert(Warning::OutsideTemplate { paths });
    }
    warnings.extend(not_read(live));
    warnings.into_iter().collect()
}

/// Returns what could not be read, and what follows from it.
pub fn not_read(live: &LiveWorkload) -> impl Iterator<Item = Warning> {
    live.not_read.iter().cloned().chain(live.not_made()).map(|what| Warning::ReadFailed { what })
}

/// Containers that the kubelet is expected to leave down for a while, though nothing has crashed.
fn held_back(context: &Context<'_>, updated: &[Updated<'_>], warnings: &mut BTreeSet<Warning>) {
    let (mut held, now) = (Held::default(), context.live.surroundings.now.as_deref());
    for updated in updated {
        for (container, change) in updated.plan.restarted_by_image(updated.pod) {
            held.add(&container.name, &change.to, back_off::seconds(updated.pod, &container.name, &change.to, now));
        }
    }
    warnings.extend(held.warnings());
}

fn pods_differ(updated: &[Updated<'_>], warnings: &mut BTreeSet<Warning>) {
    let mut images: BTreeMap<&ContainerName, BTreeSet<&str>> = BTreeMap::new();
    for Updated { plan, pod } in updated {
        for (container, _) in plan.changed(pod) {
            images.entry(&container.name).or_default().insert(&container.image);
        }
    }
    for (container, images) in images.into_iter().filter(|(_, images)| images.len() > 1) {
        let images = images.into_iter().map(str::to_owned).collect();
        warnings.insert(Warning::PodsDiffer { container: container.clone(), images });
    }
}

/// Containers whose image in the pods is not the template's.
fn drifted(
    context: &Context<'_>,
    pods: &[(PodPlan, &Pod)],
    containers: &[ContainerPlan],
    warnings: &mut BTreeSet<Warning>,
) {
    if !context.live.workload.reference.kind.has_template() {
        return;
    }
    let asked: BTreeSet<&ContainerName> = context.wanted.named().collect();
    let stays = |plan: &&ContainerPlan| plan.to.is_none() && !asked.contains(&plan.container);
    if context.live.workload.rolling_out().is_some() {
        return;
    }
    let is_free = is_free(context);
    for plan in containers {
        let to = context.known.template.get(&plan.container).and_then(|template| {
            context.wanted.image(&plan.container, plan.list, &template.image).filter(|to| *to != template.image)
        });
        if let Some(template) = to
            && let Some(made) = context.live.in_pods(&plan.container, &template).map(str::to_owned)
        {
            warnings.insert(Warning::RewrittenByAdmission { container: plan.container.clone(), template, made });
        }
        let changes = context.durable && is_free && plan.to.as_ref().is_some_and(|to| is_other(context, plan, to));
        if !changes && !stays(&plan) {
            continue;
        }
        let ours = of_the_template(context, pods).map(|(_, pod)| pod);
        let Some(drift) = Drift::of(context, &plan.container, ours) else { continue };
        let ran = plan.to.as_ref().and_then(|to| {
            let to = context.live.in_pods(&plan.container, to).unwrap_or(to);
            drift::ran(context, &plan.container, to)
        });
        warnings.insert(Warning::PodsDrifted {
            container: plan.container.clone(),
            images: drift.images.into_iter().map(str::to_owned).collect(),
            pods: drift.pods,
            back_to: changes.then(|| ran.unwrap_or(&drift.template).to_owned()),
            template: drift.template,
        });
    }
}

/// Whether there is a template that pods should have, and no controller is bringing them there.
fn is_at_rest(context: &Context<'_>) -> bool {
    let workload = &context.live.workload;
    workload.reference.kind.has_template() && workload.rolling_out().is_none() && is_free(context)
}

/// Whether no rollout of this program is in progress that would explain why pods and template differ.
fn is_free(context: &Context<'_>) -> bool {
    rollout_state::present(context.live).is_none() && !recover::is_unended(context.live)
}

/// The pods that should be as the template says.
fn of_the_template<'a, 'p>(
    context: &Context<'_>,
    pods: &'a [(PodPlan, &'p Pod)],
) -> impl Iterator<Item = (&'a PodPlan, &'p Pod)> {
    let ours = |(plan, pod): &&(PodPlan, &Pod)| {
        plan.verdict != PodVerdict::Skipped
            && !pod.terminating
            && !pod.is_finished()
            && context.revision.older(pod).is_none()
    };
    pods.iter().filter(ours).map(|(plan, pod)| (plan, *pod))
}

/// Whether the template gets another image.
fn is_other(context: &Context<'_>, plan: &ContainerPlan, to: &str) -> bool {
    let template = context.known.template.get(&plan.container);
    template.is_some_and(|template| !context.live.is_image(&plan.container, &template.image, to))
}
