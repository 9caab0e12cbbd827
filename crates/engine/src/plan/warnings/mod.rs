//! Warnings of a plan that can be carried out: only what applies to exactly this plan.

mod containers;
mod images;
mod owner;
mod pods;

use std::collections::BTreeSet;

pub(super) use containers::{failed_start, in_series, of_a_restart};
pub(super) use images::of_the_reference;
pub use owner::manager;
pub use pods::missing_labels;

use super::back_off;
use super::wanted::Context;
use super::{ContainerPlan, PodPlan, PodVerdict};
use super::{recover, rollout_state};
use crate::change::reason::Warning;
use crate::k8s::pod::{Container, Pod};
use crate::plan::live::Snapshot;

/// A plan that is looked at, and what is found.
struct Warnings<'a> {
    context: &'a Context<'a>,
    pods: &'a [(PodPlan, &'a Pod)],
    containers: &'a [ContainerPlan],
    updated: Vec<(&'a PodPlan, &'a Pod)>,
    found: BTreeSet<Warning>,
}

/// Returns the warning that a strict order lets no pod be taken yet. The pods are listed in it.
pub(super) fn order_waits(live: &Snapshot, pods: &[(PodPlan, &Pod)], allowed: u32) -> Option<Warning> {
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
    let updated = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update);
    let updated = updated.map(|(plan, pod)| (plan, *pod)).collect();
    let mut all = Warnings { context, pods, containers, updated, found: BTreeSet::new() };
    all.of_containers();
    all.of_images();
    if !all.updated.is_empty() {
        all.of_the_owner();
    }
    all.of_its_controller();
    all.of_other_managers();
    all.of_traffic();
    all.of_fields();
    all.held_back();
    if context.wanted.removals_unseen {
        all.found.insert(Warning::RemovalsUnseen);
    }
    let paths = context.wanted.outside_template.clone();
    if !paths.is_empty() {
        all.found.insert(Warning::OutsideTemplate { paths });
    }
    all.found.extend(not_read(context.live));
    all.found.into_iter().collect()
}

/// Returns what could not be read, and what follows from it. Where every pod is as its template, admission is not known to
/// change anything, and nothing is said of a caller that may not create pods.
pub fn not_read(live: &Snapshot) -> impl Iterator<Item = Warning> {
    let not_made = live.not_made().filter(|_| super::revision::differs_from_template(live));
    live.not_read.iter().cloned().chain(not_made).map(|what| Warning::ReadFailed { what })
}

impl<'a> Warnings<'a> {
    /// Containers that the kubelet is expected to leave down for a while, though nothing has crashed.
    fn held_back(&mut self) {
        let now = self.context.live.surroundings.now.as_deref();
        let mut held_back = Vec::new();
        for (plan, pod) in &self.updated {
            for (Container { name, .. }, change) in plan.restarted_by_image(pod) {
                let seconds = back_off::seconds(pod, name, &change.to, now);
                held_back.extend(seconds.map(|seconds| (name.clone(), change.to.clone(), seconds)));
            }
        }
        self.found.extend(back_off::warnings(held_back));
    }

    /// Whether there is a template that pods should have, and no controller is bringing them there.
    fn is_at_rest(&self) -> bool {
        let workload = &self.context.live.workload;
        workload.reference.kind.has_template() && workload.rolling_out().is_none() && self.is_free()
    }

    /// Whether no rollout of this program is in progress that would explain why pods and template differ.
    fn is_free(&self) -> bool {
        rollout_state::present_lock(self.context.live).is_none() && !recover::is_unended(self.context.live)
    }

    /// The pods that should be as the template says.
    fn of_the_template(&self) -> impl Iterator<Item = (&'a PodPlan, &'a Pod)> {
        let context = self.context;
        let ours = |(plan, pod): &&(PodPlan, &Pod)| {
            plan.verdict != PodVerdict::Skipped
                && !pod.terminating
                && !pod.is_finished()
                && context.revision.older(pod).is_none()
        };
        self.pods.iter().filter(ours).map(|(plan, pod)| (plan, *pod))
    }
}
