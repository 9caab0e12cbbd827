//! What a restart means for the containers that restart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Warnings;
use crate::change::reason::Warning;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod, RestartPolicy};
use crate::plan::PodPlan;
use crate::plan::pods::is_re_created;

/// Kubelets that copy `started` from the old container (kubernetes#141155).
const STARTED_IS_COPIED: std::ops::RangeInclusive<u32> = 35..=37;

/// A grace period is worth a warning from this many seconds on, the default being 30.
const LONG_GRACE_SECONDS: u64 = 120;
const LONG_GRACE_WITH_HOOK_SECONDS: u64 = 31;
const LONG_SLEEP_SECONDS: u64 = 10;

/// Which kubelets go by a container's own restart policy.
const BY_ITS_OWN_POLICY: &str = "1.35 and newer do";

impl Warnings<'_> {
    pub(super) fn of_containers(&mut self) {
        let (context, live) = (self.context, self.context.live);
        if live.surroundings.nodes_not_read.is_none() {
            self.unknown_kubelets();
        }
        let mut unreliable: BTreeMap<&ContainerName, BTreeSet<String>> = BTreeMap::new();
        for (plan, pod) in &self.updated {
            let restarted: Vec<&Container> = plan.restarted(pod).collect();
            self.found.extend(in_series(&restarted, &context.options.container_order));
            for (container, _) in plan.changed(pod).filter(|_| !context.wanted.is_restart()) {
                if !context.known.template.contains_key(&container.name) {
                    self.found.insert(Warning::ContainerInjected { container: container.name.clone() });
                }
            }
            let kubelet = live.kubelet_of(pod);
            let copies = kubelet.filter(|kubelet| kubelet.major() == 1 && STARTED_IS_COPIED.contains(&kubelet.minor()));
            for container in restarted {
                of_a_restart(live.workload.template(), container, pod, &mut self.found);
                self.found.extend(of_the_policy(container, plan, pod));
                if let (Some(_), Some(kubelet)) = (&container.startup_probe, copies) {
                    unreliable.entry(&container.name).or_default().insert(kubelet.to_string());
                }
            }
        }
        if let Some(error) = &live.surroundings.nodes_not_read {
            self.found.extend(nodes_not_read(error, &self.updated, context.options.shows_kubelets));
        }
        for (container, kubelets) in unreliable {
            let (container, kubelets) = (container.clone(), kubelets.into_iter().collect());
            self.found.insert(Warning::StartupProbeUnreliable { container, kubelets });
        }
    }

    /// A node that is gone, or whose version is unknown: then it is unknown whether its sidecar restarts.
    fn unknown_kubelets(&mut self) {
        for (plan, pod) in &self.updated {
            let node = &pod.spec.node_name;
            if node.is_empty() || plan.kubelet.is_some() {
                continue;
            }
            let mut restarted = plan.restarted(pod);
            let sidecar = restarted.clone().find(|container| container.is_sidecar());
            let unknown = if let Some(Container { name, .. }) = sidecar {
                format!("restarts the sidecar {name} in place (1.32 and newer do)")
            } else if let Some(Container { name, .. }) = restarted.find(|one| one.restart_policy.is_some()) {
                format!("goes by the restartPolicy of container {name} ({BY_ITS_OWN_POLICY})")
            } else {
                continue;
            };
            let what =
                format!("the kubelet's version on node {node} is not known, so it is not known whether it {unknown}");
            self.found.insert(Warning::ReadFailed { what });
        }
    }
}

/// Without the nodes it is not known what their kubelets do, where that differs by version.
fn nodes_not_read(error: &str, updated: &[(&PodPlan, &Pod)], shows_kubelets: bool) -> Option<Warning> {
    let mut restarted = updated.iter().flat_map(|(plan, pod)| plan.restarted(pod));
    let mut has_sidecar = restarted.clone().filter(|container| container.is_sidecar());
    let unknown = if has_sidecar.next().is_some() {
        "whether their kubelets restart a sidecar in place (1.32 and newer do)".to_owned()
    } else if let Some(Container { name, .. }) = restarted.clone().find(|one| one.restart_policy.is_some()) {
        format!("whether their kubelets go by the restartPolicy of container {name} ({BY_ITS_OWN_POLICY})")
    } else if restarted.any(|container| container.startup_probe.is_some()) {
        "whether their kubelets show a container as started too early (1.35 to 1.37 do)".to_owned()
    } else if shows_kubelets {
        "which versions their kubelets have".to_owned()
    } else {
        return None;
    };
    Some(Warning::ReadFailed { what: format!("the nodes could not be read ({error}), so it is not known {unknown}") })
}

/// What comes of a start that fails, in a pod that its controller re-creates.
fn of_the_policy(container: &Container, plan: &PodPlan, pod: &Pod) -> Option<Warning> {
    let policy = pod.restart_policy(&container.name, plan.kubelet).filter(|_| is_re_created(pod))?;
    failed_start(&container.name, policy)
}

/// The same of a template.
pub(in crate::plan) fn failed_start(container: &ContainerName, policy: RestartPolicy<'_>) -> Option<Warning> {
    let (is_always, restarts_all) = (policy.is_always(), policy.restarts_all());
    (!is_always || restarts_all).then(|| Warning::FailedStartNotRetried {
        container: container.clone(),
        policy: policy.to_string(),
        is_always,
        restarts_all,
    })
}

/// Containers that are stopped together, but for those that restart one after the other by order.
pub(in crate::plan) fn in_series(restarted: &[&Container], order: &[ContainerName]) -> Option<Warning> {
    let together = restarted.iter().filter(|container| !order.contains(&container.name));
    let containers: Vec<ContainerName> = together.map(|container| container.name.clone()).collect();
    (containers.len() > 1).then_some(Warning::RestartInSeries { containers })
}

/// What a restart of a container of this template means.
pub(in crate::plan) fn of_a_restart(
    template: &Value,
    container: &Container,
    pod: &Pod,
    warnings: &mut BTreeSet<Warning>,
) {
    let name = || container.name.clone();
    let sources = sources(container);
    if !sources.is_empty() {
        warnings.insert(Warning::ConfigurationReread { container: name(), sources });
    }
    if has_storage_of_its_own(template, container) {
        warnings.insert(Warning::ContainerFilesLost { container: name() });
    }
    let grace = pod.termination_grace_seconds();
    let (slow, seconds, pre_stop) = match &container.lifecycle.pre_stop {
        None => (grace >= LONG_GRACE_SECONDS, grace, false),
        Some(hook) => {
            let sleeps = hook.sleep.as_ref().is_some_and(|sleep| sleep.seconds >= LONG_SLEEP_SECONDS);
            (sleeps || grace >= LONG_GRACE_WITH_HOOK_SECONDS, grace, true)
        }
    };
    if slow {
        warnings.insert(Warning::SlowStop { container: name(), seconds, pre_stop });
    }
}

/// The ConfigMaps and Secrets of the container's environment; those that are mounted are kept up to date anyway.
fn sources(container: &Container) -> Vec<String> {
    let mut sources: BTreeSet<String> = BTreeSet::new();
    for variable in &container.env {
        let from = &variable.value_from;
        sources.extend(from.config_map_key_ref.iter().map(|reference| format!("configmap/{}", reference.name)));
        sources.extend(from.secret_key_ref.iter().map(|reference| format!("secret/{}", reference.name)));
    }
    for from in &container.env_from {
        sources.extend(from.config_map_ref.iter().map(|reference| format!("configmap/{}", reference.name)));
        sources.extend(from.secret_ref.iter().map(|reference| format!("secret/{}", reference.name)));
    }
    sources.into_iter().collect()
}

/// A container that asks for ephemeral-storage probably writes into its own file system; any other mostly does not.
fn has_storage_of_its_own(template: &Value, container: &Container) -> bool {
    let lists = ["/spec/containers", "/spec/initContainers"];
    let containers = lists.into_iter().filter_map(|list| template.pointer(list)?.as_array()).flatten();
    let mut named =
        containers.filter(|known| known.get("name").and_then(Value::as_str) == Some(container.name.as_str()));
    named.any(|known| {
        ["requests", "limits"]
            .into_iter()
            .any(|kind| known.pointer(&format!("/resources/{kind}/ephemeral-storage")).is_some())
    })
}
