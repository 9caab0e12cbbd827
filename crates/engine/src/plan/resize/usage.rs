//! Whether the kubelet lowers a memory limit: what a container uses, and whether the kubelet can know it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Resized, amount, whole_mebibytes, written};
use crate::change::ResourceField;
use crate::change::reason::Warning;
use crate::k8s::names::ContainerName;

/// Returns the containers whose memory limit becomes lower than what metrics.k8s.io shows in use, each once, with the
/// pod that uses most.
pub(super) fn below_use(pods: &[Resized<'_>], metrics: &[Value]) -> Vec<Warning> {
    let field = ResourceField::LimitsMemory;
    let mut found: BTreeMap<&ContainerName, (usize, i128, i128)> = BTreeMap::new();
    for pod in pods {
        for (container, to) in pod.lowered_limits(field) {
            if let Some(used) = used(metrics, &pod.before.key.name, container).filter(|used| *used > to) {
                let (count, most, limit) = found.entry(container).or_insert((0, used, to));
                (*count, *most, *limit) = (*count + 1, (*most).max(used), to);
            }
        }
    }
    let warning =
        |(container, (pods, used, limit)): (&ContainerName, (usize, i128, i128))| Warning::MemoryLimitBelowUse {
            container: container.clone(),
            pods,
            limit: written(field, limit),
            // At least this much.
            used: written(field, whole_mebibytes(field, used)),
        };
    found.into_iter().map(warning).collect()
}

/// Returns the containers whose memory limit becomes lower while they run, and that have restarted: the kubelet reads
/// what a container uses before it lowers its limit (`validateMemoryResizeAction` in pkg/kubelet/kuberuntime), and that
/// of 1.36 finds nothing where an earlier container of the name is still on the node.
pub(super) fn of_restarted(pods: &[Resized<'_>]) -> Vec<Warning> {
    let mut found: BTreeMap<&ContainerName, usize> = BTreeMap::new();
    for pod in pods {
        for (name, _) in pod.lowered_limits(ResourceField::LimitsMemory) {
            let has_restarted =
                pod.before.container_status(name).is_some_and(|(_, _, status)| status.restart_count > 0);
            let restarts = pod.before.container(name).is_some_and(|(_, _, container)| {
                container.resize_policy.iter().any(|policy| policy.restarts("memory"))
            });
            if has_restarted && !restarts {
                *found.entry(name).or_default() += 1;
            }
        }
    }
    found.into_iter().map(|(name, pods)| Warning::MemoryLimitNotLowered { container: name.clone(), pods }).collect()
}

fn used(metrics: &[Value], pod: &str, container: &ContainerName) -> Option<i128> {
    let name = |object: &Value, pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let of_pod = metrics.iter().find(|one| name(one, "/metadata/name").as_deref() == Some(pod))?;
    let containers = of_pod.get("containers")?.as_array()?;
    let container = containers.iter().find(|one| name(one, "/name").as_deref() == Some(container.as_str()))?;
    amount(name(container, "/usage/memory").as_ref())
}
