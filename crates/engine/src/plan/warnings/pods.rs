//! Warnings about the pods: what traffic will see of a restart; labels, annotations, cpu and memory, what reads them, and
//! what somebody has set in the pods alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Warnings;
use crate::change::reason::Warning;
use crate::change::{FieldChanges, Row};
use crate::k8s::metadata::MetadataMap;
use crate::k8s::pod::{Container, ContainerPort, Pod};
use crate::plan::pods::{drain_of, unrestored};
use crate::plan::{PodPlan, PodVerdict, Snapshot};
use crate::rollout::drain::{self, Drain};
use crate::state::record::Drained;

impl Warnings<'_> {
    pub(super) fn of_traffic(&mut self) {
        let (context, live) = (self.context, self.context.live);
        let (mut labels, mut gates): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
        for (_, pod) in self.pods.iter().filter(|(plan, _)| plan.verdict != PodVerdict::Skipped) {
            match unrestored(pod) {
                Some(Drained::Label(label)) => *labels.entry(label.key).or_default() += 1,
                Some(Drained::Gate(gate)) => *gates.entry(gate.gate).or_default() += 1,
                None => {}
            }
        }
        self.found.extend(labels.into_iter().map(|(label, pods)| Warning::DrainLabelMissing { label, pods }));
        self.found.extend(gates.into_iter().map(|(gate, pods)| Warning::DrainGateFalse { gate, pods }));
        self.found.extend(missing_labels(live, self.pods.iter().map(|(_, pod)| *pod)));
        // Containers that serve, and whose outage is not visible: the pod is not drained, and no probe makes it unready.
        for (plan, pod) in self.updated.iter().filter(|(plan, _)| plan.drain.is_none()) {
            let blind = plan.restarted(pod).filter(|container| container.readiness_probe.is_none());
            for container in blind.filter(|container| is_served(live, pod, container)) {
                self.found.insert(Warning::NoReadinessProbe { container: container.name.clone() });
            }
        }
        for (plan, pod) in self.updated.iter().filter(|_| context.drains()) {
            let drain = drain_of(live, pod, &plan.fields);
            // Traffic may go through a container that serves a Service, or that has a port, like a proxy in front of it.
            // One without a port is not in the way: while it is down, the pod is not ready.
            let is_in_the_way = || plan.restarted(pod).any(|one| !one.ports.is_empty() || is_served(live, pod, one));
            if let Some(Drain::NotDrainable { services, why }) = drain
                && (why.is_forbidden() || is_in_the_way())
            {
                let (remedy, why) = (why.hint(&services), why.to_string());
                self.found.insert(Warning::TrafficWhileDown { services, why, remedy });
            }
        }
    }
}

/// Pods that lack a label by which Services find the others, with no record of a drain.
pub fn missing_labels<'p>(live: &Snapshot, pods: impl Iterator<Item = &'p Pod>) -> Vec<Warning> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in pods.filter(|_| live.workload.reference.kind.has_template()) {
        for label in drain::missing(live.workload.template(), &live.surroundings.services, pod) {
            found.entry(label).or_default().push(pod.key.name.clone());
        }
    }
    found.into_iter().map(|(label, pods)| Warning::LabelMissing { label, pods }).collect()
}

/// Whether a Service sends its traffic to the container.
fn is_served(live: &Snapshot, pod: &Pod, container: &Container) -> bool {
    let mut services = live.surroundings.services.iter();
    services.any(|service| drain::selects(service, pod) && serves(service, pod, container))
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

/// What differs, the template's value, and the one that pods get.
type Differs = (String, Option<String>, Option<String>);

/// What pods have in place of what the template says, each pod's value.
type Found = Vec<(Differs, Option<String>)>;

/// Groups what was found: the values, and how many pods.
fn grouped(found: Found) -> impl Iterator<Item = (Differs, Vec<String>, usize)> {
    let mut grouped: BTreeMap<Differs, (BTreeSet<String>, usize)> = BTreeMap::new();
    for (differs, value) in found {
        let (values, pods) = grouped.entry(differs).or_default();
        values.insert(value.unwrap_or_else(|| "none".to_owned()));
        *pods += 1;
    }
    grouped.into_iter().map(|(differs, (values, pods))| (differs, values.into_iter().collect(), pods))
}

impl Warnings<'_> {
    pub(super) fn of_fields(&mut self) {
        for (plan, pod) in &self.updated {
            self.found.extend(plan.fields.warnings(&plan.containers_of(pod)));
        }
        let mut old: Vec<_> = self.updated.iter().filter_map(|(_, pod)| self.context.revision.older(pod)).collect();
        // Also where the template is as in the manifest: its pods are not.
        if old.is_empty() && self.context.wanted.is_of_manifest() && self.is_free() {
            let stays = |(plan, pod): &&(PodPlan, &Pod)| plan.verdict == PodVerdict::AlreadyThere && pod.is_present();
            let pods = self.pods.iter().filter(stays);
            old.extend(pods.filter_map(|(_, pod)| self.context.revision.another(pod)));
        }
        let old: Vec<String> = old.into_iter().map(|old| old.current).collect();
        if let Some(current) = old.first() {
            self.found.insert(Warning::PodsOfOldRevision { pods: old.len(), current: current.clone() });
        }
        if self.is_at_rest() {
            let (metadata, resized) = (self.metadata_differs(), self.resized());
            let metadata = grouped(metadata).map(|((what, template, to), values, pods)| Warning::PodsMetadataDiffers {
                what,
                template,
                values,
                pods,
                to,
            });
            let resized = grouped(resized).map(|((what, template, to), values, pods)| Warning::PodsResized {
                what,
                template,
                values,
                pods,
                to,
            });
            self.found.extend(metadata.chain(resized));
        }
    }

    /// Values that the change sets and that differ from the template in some pods: they would be lost unnoticed.
    fn metadata_differs(&self) -> Found {
        let rows = |fields: &FieldChanges| {
            let mut metadata = fields.metadata.clone();
            // A value that the controller gives each pod is refused.
            metadata.labels.retain(|key, _| !MetadataMap::Labels.is_reserved(key));
            metadata.annotations.retain(|key, _| !MetadataMap::Annotations.is_reserved(key));
            FieldChanges::from(metadata).rows()
        };
        let of_template = rows(self.context.wanted.fields());
        let mut found = Found::new();
        for (plan, _) in self.of_the_template() {
            for Row { path, what, before, after, .. } in rows(&plan.fields) {
                let Some(template) = of_template.iter().find(|row| row.path == path) else { continue };
                if template.before != before {
                    found.push(((what, template.before.clone(), after), before));
                }
            }
        }
        found
    }

    /// Pods that have other cpu or memory than their template: the plan shows the pods' own values as the old ones.
    fn resized(&self) -> Found {
        let is_set = self.context.wanted.fields().of_resize().rows();
        let of_template = |path: &str| is_set.iter().find(|row| row.path == path).map(|row| row.before.clone());
        let mut found = Found::new();
        for (plan, pod) in self.of_the_template() {
            let changed = plan.fields.of_resize().rows();
            let drift = FieldChanges::drift(self.context.live.workload.template(), pod).rows();
            // What the pod asks for already is right.
            for Row { path, what, before, after, .. } in changed.iter().filter(|row| row.before != row.after).cloned() {
                let drifted = || drift.iter().find(|row| row.path == path).map(|row| row.before.clone());
                if let Some(template) = of_template(&path).or_else(drifted).filter(|template| *template != before) {
                    found.push(((what, template, after), before));
                }
            }
            for Row { path, what, before, after, .. } in drift {
                if of_template(&path).is_none() && !changed.iter().any(|row| row.path == path) {
                    found.push(((what, before, None), after));
                }
            }
        }
        found
    }
}
