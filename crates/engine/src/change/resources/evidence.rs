//! Whether a pod has the cpu and memory that it asks for, by its kubelet's word: allocated, in force, and no condition of a resize.

use super::in_pods::ValueInPod;
use super::{FieldProgress, ResourceField, is_same};
use crate::k8s::pod::{Condition, ContainerStatus, Pod};
use crate::value::quantity::Quantity;

/// No kernel has larger pages that a limit of memory is rounded down to.
const PAGE: i128 = 65_536_000;

/// How far a resize is that a pod asks for; `is_done` where the pod has its values.
pub(super) fn progress_of(pod: &Pod, is_done: bool) -> FieldProgress {
    if !pod.is_scheduled() {
        return FieldProgress::Done;
    }
    if pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation) {
        return FieldProgress::Waiting { why: None, deferred: false };
    }
    match resizing(pod) {
        // A kubelet before 1.34 does not report which resize its status is about: of one that it has allocated nothing
        // is pending.
        Some(FieldProgress::Failed { .. } | FieldProgress::Waiting { deferred: true, .. })
            if is_done && pod.status.observed_generation.is_none() => {}
        Some(progress) => return progress,
        None => {}
    }
    if is_done { FieldProgress::Done } else { FieldProgress::Waiting { why: None, deferred: false } }
}

/// Returns what the kubelet reports of a resize that is not done, whoever has asked for it.
pub fn resizing(pod: &Pod) -> Option<FieldProgress> {
    let condition = |kind| pod.condition(kind).filter(|condition| condition.status == "True");
    let message = |condition: &Condition| condition.message.clone().filter(|message| !message.is_empty());
    if let Some(pending) = condition("PodResizePending") {
        return Some(match pending.reason.as_deref() {
            Some("Infeasible") => FieldProgress::Failed {
                reason: "ResizeInfeasible".into(),
                message: message(pending).unwrap_or_default(),
            },
            Some(_) | None => FieldProgress::Waiting { why: message(pending), deferred: true },
        });
    }
    let going = condition("PodResizeInProgress")?;
    Some(FieldProgress::Waiting { why: message(going), deferred: false })
}

/// Returns whether a pod has a value, as the kubelet reports it.
pub(super) fn has(value: &ValueInPod<'_>) -> bool {
    let pod = value.held.pod;
    if value.held.container.is_none() {
        return value.change.to.as_ref().is_some_and(|to| pod_has(pod, value.field, to));
    }
    // The kubelet reports nothing about a container that has not begun. The container starts with what is allocated, and that
    // is decided before the pod's generation is reported as observed (`HandlePodUpdates`, from 1.34 on).
    let tells = pod.status.observed_generation.is_some();
    value.held.status.is_some_and(|(_, _, status)| {
        tells && status.has_not_begun() || container_has(status, value.field, value.change.to.as_ref())
    })
}

fn container_has(status: &ContainerStatus, field: ResourceField, to: Option<&String>) -> bool {
    let amount = Quantity::amount(to);
    // A limit of 0 is none, and the runtime reports none.
    let is_reported = !amount.is_some_and(|to| field.is_too_small(to) || field.is_limit() && to == 0);
    let allocated = field.is_limit()
        || status.allocated_resources.as_ref().is_none_or(|allocated| is_same(allocated.get(field.parts().1), to));
    let actual = status.resources.as_ref().is_some_and(|actual| is_same(field.of(actual), to));
    allocated && (actual || !is_reported)
}

/// Of the pod as a whole the kubelet reads the pod's cgroup (`convertToAPIPodLevelResourcesStatus` in
/// pkg/kubelet/kubelet_pods.go), which `ResourceConfigForPod` in pkg/kubelet/cm writes; both count what its RuntimeClass costs.
fn pod_has(pod: &Pod, field: ResourceField, to: &String) -> bool {
    let Some(to) = Quantity::amount(Some(to)) else { return false };
    let (_, resource) = field.parts();
    // No limit is none with it either.
    let is_none = field.is_limit() && to == 0;
    let overhead = Quantity::amount(pod.spec.overhead.get(resource)).filter(|_| !is_none).unwrap_or(0);
    let wanted = to + overhead;
    let allocated = pod.status.allocated_resources.as_ref().and_then(|all| Quantity::amount(all.get(resource)));
    let actual = pod.status.resources.as_ref().and_then(|all| Quantity::amount(field.of(all)));
    match field {
        // No cgroup has it, and the kubelet repeats what it has said before.
        ResourceField::RequestsMemory => allocated == Some(wanted),
        ResourceField::RequestsCpu => {
            allocated == Some(wanted) && (field.is_too_small(wanted) || is_cpu(actual, wanted))
        }
        ResourceField::LimitsCpu => field.is_too_small(wanted) || actual == Some(wanted),
        ResourceField::LimitsMemory => {
            wanted == 0 || actual.is_some_and(|actual| actual <= wanted && wanted - actual < PAGE)
        }
    }
}

/// Whether a cgroup's share of the cpus is that of a request: exact in version 1, rounded to one of 10,000 weights in version 2
/// (`getCPUWeight` and `cpuWeightToCPUShares` in pkg/kubelet/cm).
fn is_cpu(actual: Option<i128>, wanted: i128) -> bool {
    let Some(actual) = actual else { return false };
    let shares = (wanted * 1024 / 1000).clamp(2, 262_144);
    let weight = 1 + (shares - 2) * 9999 / 262_142;
    let read = (weight - 1) * 262_142 / 9999 + 2;
    actual == wanted || actual == (read * 1000 + 1023) / 1024
}
