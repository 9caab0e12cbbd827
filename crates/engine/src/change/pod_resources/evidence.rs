//! Whether a pod has the pod-level resources that it asks for, as its kubelet reports them.
//!
//! Upstream: `convertToAPIPodLevelResourcesStatus` in pkg/kubelet/kubelet_pods.go, which reads the pod's cgroup, and
//! `ResourceConfigForPod` in pkg/kubelet/cm, which writes it; both count what its RuntimeClass costs, too.

use super::{ResourceField, amount};
use crate::k8s::pod::Pod;

/// No kernel has larger pages that a limit of memory is rounded down to.
const PAGE: i128 = 65_536_000;

/// Returns whether the kubelet has allocated a value, and the pod's cgroup has it.
pub(super) fn has(pod: &Pod, field: ResourceField, to: &String) -> bool {
    let (map, resource) = field.parts();
    let Some(to) = amount(Some(to)) else { return false };
    // No limit is none with it either.
    let overhead = if map == "limits" && to == 0 { 0 } else { amount(pod.spec.overhead.get(resource)).unwrap_or(0) };
    let wanted = to + overhead;
    let allocated = pod.status.allocated_resources.as_ref().and_then(|all| amount(all.get(resource)));
    let actual = pod.status.resources.as_ref().and_then(|all| amount(field.of(all)));
    match field {
        // No cgroup has it, and the kubelet repeats what it has said before.
        ResourceField::RequestsMemory => allocated == Some(wanted),
        ResourceField::RequestsCpu => {
            allocated == Some(wanted) && (is_too_small(field, wanted) || is_cpu(actual, wanted))
        }
        ResourceField::LimitsCpu => is_too_small(field, wanted) || actual == Some(wanted),
        ResourceField::LimitsMemory => {
            wanted == 0 || actual.is_some_and(|actual| actual <= wanted && wanted - actual < PAGE)
        }
    }
}

/// Below it the kernel reports another value.
fn is_too_small(field: ResourceField, wanted: i128) -> bool {
    field.least_reported().and_then(|least| amount(Some(&least.to_owned()))).is_some_and(|least| wanted < least)
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
