//! What a pod counts for, on its node and in a quota (`PodRequests`, `PodLimits` of k8s.io/component-helpers/resource).

use super::amount;
use crate::change::ResourceField;
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, Pod};

/// Returns what a pod asks for.
pub(super) fn asked(pod: &Pod, field: ResourceField) -> i128 {
    total(pod, field, of_whole(pod, field), |container, _| of_spec(field, container))
}

/// Returns what its kubelet reserves for it: a deferred resize does not count.
pub(super) fn allocated(pod: &Pod, field: ResourceField) -> i128 {
    let whole = of_whole(pod, field).map(|asked| allocated_whole(pod, field).unwrap_or(asked));
    total(pod, field, whole, |container, status| {
        of_allocated(field, status).unwrap_or_else(|| of_spec(field, container))
    })
}

/// Returns what counts in a quota: the maximum of what it asks for, is allocated and has.
pub(super) fn charged(pod: &Pod, field: ResourceField) -> i128 {
    let actual =
        amount(pod.status.resources.as_ref().and_then(|all| field.of(all))).map(|has| has - overhead(pod, field));
    let known = [allocated_whole(pod, field), actual].into_iter().flatten();
    let whole = of_whole(pod, field).map(|asked| known.fold(asked, i128::max));
    total(pod, field, whole, |container, status| {
        let actual = amount(status.and_then(|status| field.of(status.resources.as_ref()?)));
        let known = [of_allocated(field, status), actual].into_iter().flatten();
        known.fold(of_spec(field, container), i128::max)
    })
}

/// What is set for the pod as a whole.
fn of_whole(pod: &Pod, field: ResourceField) -> Option<i128> {
    amount(field.of(pod.spec.resources.as_ref()?))
}

/// What the kubelet has allocated to the pod as a whole; it counts the overhead.
fn allocated_whole(pod: &Pod, field: ResourceField) -> Option<i128> {
    let (map, resource) = field.parts();
    let allocated = pod.status.allocated_resources.as_ref().filter(|_| map == "requests")?;
    Some(amount(allocated.get(resource))? - overhead(pod, field))
}

fn overhead(pod: &Pod, field: ResourceField) -> i128 {
    amount(pod.spec.overhead.get(field.parts().1)).unwrap_or(0)
}

fn of_spec(field: ResourceField, container: &Container) -> i128 {
    amount(field.of(&container.resources)).unwrap_or(0)
}

fn of_allocated(field: ResourceField, status: Option<&ContainerStatus>) -> Option<i128> {
    let (map, resource) = field.parts();
    let allocated = status?.allocated_resources.as_ref().filter(|_| map == "requests")?;
    amount(allocated.get(resource))
}

/// The containers together; more, if an init container needs more beside the sidecars before it; pod-level resources
/// replace both. The overhead of its RuntimeClass is added.
fn total(
    pod: &Pod,
    field: ResourceField,
    whole: Option<i128>,
    of: impl Fn(&Container, Option<&ContainerStatus>) -> i128,
) -> i128 {
    let of = |container: &Container| of(container, pod.container_status(&container.name).map(|(_, _, status)| status));
    let (mut sidecars, mut init) = (0, 0);
    for container in pod.containers(ContainerList::InitContainers) {
        let own = of(container);
        if container.is_sidecar() {
            sidecars += own;
        }
        init = init.max(if container.is_sidecar() { sidecars } else { sidecars + own });
    }
    let together: i128 = pod.containers(ContainerList::Containers).iter().map(of).sum();
    let total = whole.unwrap_or_else(|| init.max(together + sidecars));
    // No limit stays no limit, also with an overhead.
    if field.parts().0 == "limits" && total == 0 { 0 } else { total + overhead(pod, field) }
}
