//! What the manifests alone show of what a rollout of the change would be refused for or warned of: by the rules of the live
//! plan, on the pod that the older template makes.
//!
//! `tests/it/against_codes.rs` says of each code whether it needs a cluster.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::change::reason::{Reason, Warning};
use crate::change::{Change, Containers};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::k8s::workload::Workload;
use crate::kinds::{self, HoldsBy, IfResumed};
use crate::plan::assemble::{Objects, assemble};
use crate::plan::build::{controlled, none_unavailable, subset_not_durable};
use crate::plan::live::Options;
use crate::plan::pods::of_the_pod;
use crate::plan::policy::policy;
use crate::plan::resize::{Resized, sized_at_start};
use crate::plan::wanted::template_containers;
use crate::plan::warnings::{in_series, of_a_restart, of_the_reference};
use crate::plan::{ContainerPlan, Effect, ImageChange};
use crate::value::image::ImageReference;

pub(super) struct Unasked<'a> {
    pub(super) workload: &'a Workload,
    pub(super) template: &'a Value,
    pub(super) change: &'a Change,
    pub(super) containers: &'a [ContainerPlan],
    pub(super) options: &'a Options,
}

impl Unasked<'_> {
    fn restarting(&self) -> impl Iterator<Item = &ContainerName> {
        self.containers.iter().filter(|plan| plan.restarts() > 0).map(|plan| &plan.container)
    }

    fn pod(&self) -> Result<Pod, serde_json::Error> {
        Pod::from_object(self.workload.template())
    }

    /// Returns the containers as they run, and which of them restart.
    fn all<'p>(&'p self, pod: &'p Pod) -> Containers<'p> {
        Containers { pod: Some(pod), all: pod.all_containers().collect(), restarting: self.restarting().collect() }
    }

    /// Returns what is refused because of the owner, of the pod, and of what was chosen.
    pub(super) fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if self.change.is_empty() {
            return reasons;
        }
        let (workload, options) = (self.workload, self.options);
        let has_template = workload.reference.kind.has_template();
        let restarts = self.restarting().next().is_some();
        let kind = workload.reference.kind;
        let left = (kind.spec().left_to_controller)(&workload.object).filter(|_| !options.pods_only);
        reasons.extend(left.map(|(path, what)| Reason::LeftToController { path, what }));
        if kind.holds_by() == HoldsBy::Paused && kinds::is_paused(&workload.object) {
            let if_resumed = IfResumed::NotKnown;
            reasons.push(Reason::OwnerPaused { if_resumed, by_a_rollout: false });
        }
        let controller = workload.controller().filter(|_| has_template && !options.pods_only);
        reasons.extend(controller.map(|(kind, name, _)| Reason::OwnerIsControlled { kind, name }));
        reasons.extend(subset_not_durable(workload, &options.subset, !options.pods_only));
        let (_, allowed) = policy(&assemble(workload.clone(), Objects::default()), options);
        reasons.extend(none_unavailable(workload, allowed, restarts));
        match self.pod() {
            Ok(pod) => {
                of_the_pod(&pod, &mut reasons);
                reasons.extend(controlled(&pod).filter(|_| !has_template && !options.pods_only));
                reasons.extend(self.change.fields.refused_in(&self.all(&pod)));
            }
            Err(error) => reasons.push(Reason::ManifestsNotMergeable { message: error.to_string() }),
        }
        reasons
    }

    pub(super) fn warnings(&self) -> BTreeSet<Warning> {
        let mut warnings = self.of_restarts();
        let Ok(pod) = self.pod() else { return warnings };
        let written = template_containers(self.template);
        for plan in self.containers.iter().filter(|plan| plan.effect == Effect::Restart) {
            let name = &plan.container;
            // No Service is known here: a container that declares no port is taken to serve nobody.
            let serves = |container: &Container| !container.ports.is_empty() && container.readiness_probe.is_none();
            let unready = |container: &Container| container.name == *name && serves(container);
            if written.iter().any(|(list, container)| *list == plan.list && unready(container)) {
                warnings.insert(Warning::NoReadinessProbe { container: name.clone() });
            }
            // A sidecar's own policy does not depend on the kubelet.
            let has_own = |container: &Container| container.name == *name && container.restart_policy.is_some();
            let is_plain = plan.list == ContainerList::Containers;
            if is_plain && written.iter().any(|(list, container)| *list == plan.list && has_own(container)) {
                let what = format!(
                    "no node was asked: the restartPolicy of container {name} counts only on kubelets from 1.35 on"
                );
                warnings.insert(Warning::ReadFailed { what });
            }
            if plan.list == ContainerList::InitContainers {
                let what = format!("no node was asked: the sidecar {name} restarts only on kubelets from 1.32 on");
                warnings.insert(Warning::ReadFailed { what });
            }
        }
        let (fields, all) = (&self.change.fields, self.all(&pod));
        warnings.extend(fields.warnings(&all));
        if fields.resizes() {
            warnings.extend(sized_at_start(&[Resized::new(&pod, fields, all.restarting)], self.workload.template()));
        }
        warnings.extend(self.below_partition());
        let keeps = self.options.pods_only && self.workload.reference.kind.has_template() && !self.change.is_empty();
        warnings.extend(keeps.then_some(Warning::TemplateKeepsImage));
        warnings
    }

    /// Returns what another image and a restart mean, whoever updates the pods.
    pub(super) fn of_restarts(&self) -> BTreeSet<Warning> {
        let mut warnings = BTreeSet::new();
        let written = template_containers(self.template);
        for plan in self.containers {
            let (Some(to), name) = (&plan.to, &plan.container) else { continue };
            let change = ImageChange::new(plan.from.as_str(), to.as_str(), plan.effect);
            let is_it = |list: ContainerList, container: &Container| list == plan.list && container.name == *name;
            for (_, container) in written.iter().filter(|(list, container)| is_it(*list, container)) {
                of_the_reference(container, &change, &mut warnings);
            }
            if plan.effect == Effect::Restart && have_one_digest(&plan.from, to) {
                warnings.insert(Warning::SameDigest { container: name.clone(), image: to.clone() });
            }
        }
        let Ok(pod) = self.pod() else { return warnings };
        let found = self.restarting().filter_map(|name| pod.container(name));
        let restarted: Vec<&Container> = found.map(|(_, _, container)| container).collect();
        for container in &restarted {
            of_a_restart(self.workload.template(), container, &pod, &mut warnings);
        }
        warnings.extend(in_series(&restarted, &self.options.container_order));
        warnings
    }

    /// Pods below the partition, as many as the older manifest wants there: they keep its images.
    fn below_partition(&self) -> Vec<Warning> {
        let strategy = self.workload.object.pointer("/spec/updateStrategy");
        let strategy = strategy.filter(|_| self.workload.reference.kind.has_partition());
        let partition = strategy.map_or(0, kinds::partition_of);
        let replicas = self.workload.desired_replicas();
        let pods = usize::try_from(partition.min(i64::from(replicas))).unwrap_or(0);
        if self.options.pods_only || pods == 0 {
            return Vec::new();
        }
        let changed = self.containers.iter().filter_map(|plan| Some((plan, plan.to.clone()?)));
        let keeps = |(plan, template): (&ContainerPlan, String)| Warning::PodsBelowPartition {
            container: plan.container.clone(),
            images: vec![plan.from.clone()],
            pods,
            partition,
            template,
        };
        changed.map(keeps).collect()
    }
}

/// Whether two references name the same content by its digest.
fn have_one_digest(from: &str, to: &str) -> bool {
    let [from, to] = [from, to].map(ImageReference::parse);
    let (Ok(from), Ok(to)) = (from, to) else { return false };
    from.digest().is_some() && from.digest() == to.digest()
}
