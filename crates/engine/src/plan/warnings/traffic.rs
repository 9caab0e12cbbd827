//! What traffic will see of a restart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Updated;
use crate::change::reason::Warning;
use crate::k8s::pod::{Container, ContainerPort, Pod};
use crate::plan::context::Context;
use crate::plan::drains::{drain_of, unrestored};
use crate::plan::{LiveWorkload, PodPlan, PodVerdict};
use crate::rollout::drain::{self, Drain};
use crate::state::record::Drained;

pub(super) fn warn(
    context: &Context<'_>,
    updated: &[Updated<'_>],
    pods: &[(PodPlan, &Pod)],
    warnings: &mut BTreeSet<Warning>,
) {
    let (mut labels, mut gates): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
    for (_, pod) in pods.iter().filter(|(plan, _)| plan.verdict != PodVerdict::Skipped) {
        match unrestored(pod) {
            Some(Drained::Label(label)) => *labels.entry(label.key).or_default() += 1,
            Some(Drained::Gate(gate)) => *gates.entry(gate.gate).or_default() += 1,
            None => {}
        }
    }
    warnings.extend(labels.into_iter().map(|(label, pods)| Warning::DrainLabelMissing { label, pods }));
    warnings.extend(gates.into_iter().map(|(gate, pods)| Warning::DrainGateFalse { gate, pods }));
    warnings.extend(missing_labels(context.live, pods.iter().map(|(_, pod)| *pod)));
    no_probe(context, updated, warnings);
    if !context.drains {
        return;
    }
    for updated in updated {
        let drain = drain_of(context.live, updated.pod, &updated.plan.fields);
        if let Some(Drain::NotDrainable { services, why }) = drain
            && (why.is_forbidden() || is_in_the_way(context.live, updated))
        {
            let (remedy, why) = (why.hint(&services), why.to_string());
            warnings.insert(Warning::TrafficWhileDown { services, why, remedy });
        }
    }
}

/// Pods that lack a label by which Services find the others, with no record of a drain.
pub fn missing_labels<'p>(live: &LiveWorkload, pods: impl Iterator<Item = &'p Pod>) -> Vec<Warning> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in pods.filter(|_| live.workload.reference.kind.has_template()) {
        for label in drain::missing(live.workload.template(), &live.surroundings.services, pod) {
            found.entry(label).or_default().push(pod.key.name.clone());
        }
    }
    found.into_iter().map(|(label, pods)| Warning::LabelMissing { label, pods }).collect()
}

/// Containers that serve traffic, and whose outage is not visible: the pod is not drained, and no probe makes it
/// unready.
fn no_probe(context: &Context<'_>, updated: &[Updated<'_>], warnings: &mut BTreeSet<Warning>) {
    let services = &context.live.surroundings.services;
    for updated in updated.iter().filter(|updated| updated.plan.drain.is_none()) {
        let blind = updated.restarted();
        for container in blind.filter(|container| container.readiness_probe.is_none()) {
            if services
                .iter()
                .any(|service| drain::selects(service, updated.pod) && serves(service, updated.pod, container))
            {
                warnings.insert(Warning::NoReadinessProbe { container: container.name.clone() });
            }
        }
    }
}

/// Whether traffic may go through a container that restarts: it serves a Service, or has a port, like a proxy in front
/// of the one that serves. A container without a port is not in the way: while it is down, the pod is not ready.
fn is_in_the_way(live: &LiveWorkload, updated: &Updated<'_>) -> bool {
    let services = &live.surroundings.services;
    let serves = |container: &Container| {
        services.iter().any(|service| drain::selects(service, updated.pod) && serves(service, updated.pod, container))
    };
    updated.restarted().any(|container| !container.ports.is_empty() || serves(container))
}

/// Whether a Service that selects the pod sends its traffic to the container: it declares a target port, or none does
/// and it is the pod's first one. A Service without ports (headless) means all of the declared ones.
fn serves(service: &Value, pod: &Pod, container: &Container) -> bool {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let declares = |container: &Container| match ports {
        [] => !container.ports.is_empty(),
        ports => ports.iter().any(|port| container.ports.iter().any(|declared| is_target(port, declared))),
    };
    let is_first = || pod.spec.containers.first().is_some_and(|first| first.name == container.name);
    declares(container) || is_first() && !pod.all_containers().any(|(_, container)| declares(container))
}

/// Upstream: `FindPort` in `pkg/api/v1/pod/util.go`; without a target port the Service's own is meant.
fn is_target(port: &Value, declared: &ContainerPort) -> bool {
    match port.get("targetPort").or_else(|| port.get("port")) {
        Some(Value::String(name)) => *name == declared.name,
        Some(number) => number.as_u64() == Some(u64::from(declared.container_port)),
        None => false,
    }
}
