//! What a change of cpu and memory meets in the containers that run. Whether there is room for it, the server, the first pod's
//! kubelet and `--deferred` answer.

pub mod rules;
mod runtime;

use std::collections::BTreeMap;

use super::context::Context;
use super::{PodPlan, PodVerdict};
use crate::change::reason::Warning;
use crate::change::{FieldChanges, ResourceField};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::value::quantity::Quantity;

pub(super) use runtime::sized_at_start;

/// A pod whose cpu or memory changes.
pub(super) struct Resized<'a> {
    before: &'a Pod,
    after: Pod,
    /// The containers that restart with the change.
    restarting: Vec<&'a ContainerName>,
}

impl<'a> Resized<'a> {
    pub(super) fn new(pod: &'a Pod, fields: &FieldChanges, restarting: Vec<&'a ContainerName>) -> Self {
        Self { before: pod, after: fields.resources.asked_of(pod), restarting }
    }

    /// Returns the names of the containers whose limit changes: a container without one of its own has that of its pod
    /// (`GetLimits` in pkg/kubelet/util).
    fn changed_limits(
        &self,
        field: ResourceField,
    ) -> impl Iterator<Item = (&ContainerName, Option<i128>, Option<i128>)> {
        let of = move |pod: &Pod, container: &Container| {
            let own = Quantity::amount(field.of(&container.resources)).filter(|own| *own != 0);
            own.or_else(|| Quantity::amount(field.of(pod.spec.resources.as_ref()?)))
        };
        self.after.all_containers().filter_map(move |(_, after)| {
            let (_, _, before) = self.before.container(&after.name)?;
            let (from, to) = (of(self.before, before), of(&self.after, after));
            (from != to).then_some((&after.name, from, to))
        })
    }
}

/// Returns what is worth knowing of the pods that are resized.
pub(super) fn warnings(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Vec<Warning> {
    let resized = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update && plan.fields.resizes());
    let resized: Vec<Resized<'_>> =
        resized.map(|(plan, pod)| Resized::new(pod, &plan.fields, plan.containers_of(pod).restarting)).collect();
    let mut warnings = not_lowered(&resized);
    warnings.extend(sized_at_start(&resized, context.live.workload.template()));
    warnings
}

/// Returns the containers whose memory limit becomes lower while they run, and that have restarted: the kubelet reads
/// what a container uses before it lowers its limit (`validateMemoryResizeAction` in pkg/kubelet/kuberuntime), and that
/// of 1.36 finds nothing where an earlier container of the name is still on the node.
fn not_lowered(pods: &[Resized<'_>]) -> Vec<Warning> {
    let mut found: BTreeMap<&ContainerName, usize> = BTreeMap::new();
    for pod in pods {
        let changed = pod.changed_limits(ResourceField::LimitsMemory);
        let lowered = changed.filter(|(_, from, to)| to.is_some_and(|to| from.is_none_or(|from| to < from)));
        for (name, ..) in lowered {
            let has_restarted = pod.before.status_of(name).is_some_and(|status| status.restart_count > 0);
            let restarts = pod
                .before
                .spec_of(name)
                .is_some_and(|container| container.resize_policy.iter().any(|policy| policy.restarts("memory")));
            if has_restarted && !restarts {
                *found.entry(name).or_default() += 1;
            }
        }
    }
    found.into_iter().map(|(name, pods)| Warning::MemoryLimitNotLowered { container: name.clone(), pods }).collect()
}

#[cfg(test)]
mod tests;
