//! What a change of cpu and memory meets: the node's room, quotas, autoscalers, and processes that do not notice it.
//!
//! Where something could not be read there is no warning, except about the node's room, where silence would be misread.

mod autoscaler;
mod quota;
mod requests;
mod room;
pub mod rules;
mod runtime;
mod usage;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::change::reason::{Reason, Warning};
use crate::change::{FieldChanges, ResourceField};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::k8s::workload::Workload;
use crate::value::quantity::Quantity;

pub use autoscaler::targets;
pub use room::{NodeRoom, deferred};
pub(super) use runtime::sized_at_start;

/// What was read because cpu or memory changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResizeFacts {
    /// The nodes of the pods, by name.
    pub nodes: BTreeMap<String, NodeRoom>,
    /// Why some of them, or the pods there, could not be read.
    pub nodes_not_read: Option<String>,
    /// The ResourceQuotas of the namespace.
    pub quotas: Vec<Value>,
    /// Why they could not be read.
    pub quotas_not_read: Option<String>,
    /// The VerticalPodAutoscalers of the namespace.
    pub vertical_autoscalers: Vec<Value>,
    /// What metrics.k8s.io shows of the workload's pods.
    pub metrics: Vec<Value>,
}

/// A pod whose cpu or memory changes.
pub struct Resized<'a> {
    before: &'a Pod,
    after: Pod,
    /// The containers that restart with the change.
    restarting: Vec<&'a ContainerName>,
}

impl<'a> Resized<'a> {
    /// Builds it from a pod and what changes in it.
    pub fn new(pod: &'a Pod, fields: &FieldChanges, restarting: Vec<&'a ContainerName>) -> Self {
        Self { before: pod, after: fields.asked_of(pod), restarting }
    }

    /// Returns the names of the containers whose limit changes: a container without one of its own has that of its pod
    /// (`GetLimits` in pkg/kubelet/util).
    fn changed_limits(
        &self,
        field: ResourceField,
    ) -> impl Iterator<Item = (&ContainerName, Option<i128>, Option<i128>)> {
        let of = move |pod: &Pod, container: &Container| {
            let own = amount(field.of(&container.resources)).filter(|own| *own != 0);
            own.or_else(|| amount(field.of(pod.spec.resources.as_ref()?)))
        };
        self.after.all_containers().filter_map(move |(_, after)| {
            let (_, _, before) = self.before.container(&after.name)?;
            let (from, to) = (of(self.before, before), of(&self.after, after));
            (from != to).then_some((&after.name, from, to))
        })
    }

    /// Returns the names of the containers whose limit becomes lower, with the new value.
    fn lowered_limits(&self, field: ResourceField) -> impl Iterator<Item = (&ContainerName, i128)> {
        let lower = |(name, from, to): (_, Option<i128>, Option<i128>)| {
            Some((name, to.filter(|to| from.is_none_or(|from| *to < from))?))
        };
        self.changed_limits(field).filter_map(lower)
    }

    /// Returns the names of the containers whose value changes, with the old and the new one.
    fn changed(&self, field: ResourceField) -> impl Iterator<Item = (&ContainerName, Option<i128>, Option<i128>)> {
        self.after.all_containers().filter_map(move |(_, after)| {
            let (_, _, before) = self.before.container(&after.name)?;
            let (from, to) = (amount(field.of(&before.resources)), amount(field.of(&after.resources)));
            (from != to).then_some((&after.name, from, to))
        })
    }
}

/// Reads a quantity, in thousandths.
fn amount(text: Option<&String>) -> Option<i128> {
    text?.parse::<Quantity>().ok()?.thousandths()
}

/// Writes a quantity in the usual unit of the resource.
fn written(field: ResourceField, value: i128) -> String {
    Quantity::of_thousandths(value, field.parts().1 == "memory").to_string()
}

/// A measured value is no round number: memory is reported in whole mebibytes.
fn whole_mebibytes(field: ResourceField, value: i128) -> i128 {
    const MEBIBYTE: i128 = 1_048_576_000;
    if field.parts().1 == "memory" && value > MEBIBYTE { value - value % MEBIBYTE } else { value }
}

/// Returns why the server or a kubelet would refuse it, though the template could be written.
pub fn refused(pods: &[Resized<'_>], facts: &ResizeFacts) -> Vec<Reason> {
    let mut reasons = room::too_small(pods, facts);
    reasons.extend(room::on_windows(pods, facts));
    reasons.extend(quota::exceeded(pods, &facts.quotas));
    reasons
}

/// Returns what is worth knowing besides what [`deferred`] says.
pub fn warnings(pods: &[Resized<'_>], facts: &ResizeFacts, workload: &Workload, autoscalers: &[Value]) -> Vec<Warning> {
    let mut warnings = autoscaler::horizontal(pods, autoscalers, workload);
    warnings.extend(autoscaler::vertical(pods, &facts.vertical_autoscalers, workload));
    warnings.extend(usage::below_use(pods, &facts.metrics));
    warnings.extend(usage::of_restarted(pods));
    warnings.extend(sized_at_start(pods, workload.template()));
    warnings.extend(quota::unknown(pods, facts.quotas_not_read.as_ref()));
    warnings
}

#[cfg(test)]
mod tests;
