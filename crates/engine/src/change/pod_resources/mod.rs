//! cpu and memory of the pod as a whole (`spec.resources`): changed in the pods that run, by the subresource `resize`
//! (KEP-5419), in the same request as those of the containers.
//!
//! The rules are those of `validatePodLevelResourcesResize` and `validatePodResourceConsistency` (pkg/apis/core/validation).
//! The API server fills in requests that a template does not have when it creates a pod (`defaultPodRequests` in
//! pkg/apis/core/v1/defaults.go), also from those of the containers: pods have more than the template says.

mod evidence;
mod joint;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::resources::values::is_same;
use super::resources::{self, ResourceField, changed};
use super::{Claimed, Containers, Direction, FieldChange, FieldEffect, FieldProgress, Row, ValueChange};
use crate::change::reason::{Reason, Warning};
use crate::k8s::operations::{Operations, PodPart};
use crate::k8s::pod::{Container, ContainerList, Pod, PodSpec, Resources};
use crate::k8s::workload::Workload;
use crate::value::quantity::Quantity;

pub(super) use joint::{keeps_class, of_template, refused_together};

const PATH: &str = "spec.resources";

type Values = BTreeMap<ResourceField, ValueChange>;

/// The cpu and memory of the pod as a whole that change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct PodResourcesChange {
    /// In the template, as the API writes quantities.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
    /// In the pods that are created from it, where that differs from the template.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_pods: Values,
}

impl PodResourcesChange {
    /// What pods get of it.
    fn of_pods(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> {
        let fields: BTreeSet<ResourceField> = self.values.keys().chain(self.in_pods.keys()).copied().collect();
        fields.into_iter().filter_map(|field| Some((field, self.of_pod(field)?)))
    }

    fn of_pod(&self, field: ResourceField) -> Option<&ValueChange> {
        self.in_pods.get(&field).or_else(|| self.values.get(&field))
    }

    fn stays(&self, field: ResourceField, value: &ValueChange) -> bool {
        field.stays(value, |limit| self.of_pod(limit))
    }

    /// The same of a running pod, with its own value before. What a pod cannot lose it keeps.
    fn in_pod<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = InPod<'a>> {
        let reaches = self.of_pods().filter(|(field, change)| !self.stays(*field, change));
        let values = reaches.filter_map(|(field, change)| Some((field, change.from.as_ref(), change.to.as_ref()?)));
        values.map(move |(field, from, to)| InPod { field, present: present(pod, field), from, to })
    }

    fn in_values_of(&self, pod: &Pod, chosen: impl Fn(&InPod<'_>) -> bool) -> Self {
        let change =
            |value: InPod<'_>| (value.field, ValueChange { from: value.present.cloned(), to: Some(value.to.clone()) });
        Self { values: self.in_pod(pod).filter(chosen).map(change).collect(), in_pods: Values::new() }
    }

    /// Returns what a pod does not ask for yet.
    #[must_use]
    pub fn unasked_in(&self, pod: &Pod) -> Self {
        self.in_values_of(pod, |value| !value.is_asked())
    }

    /// Returns those of its values that a pod asks for now: whatever else it asks for, somebody has set since.
    #[must_use]
    pub fn in_force(&self, pod: &Pod) -> Self {
        let is_asked = |field: ResourceField| self.in_pod(pod).any(|value| value.field == field && value.is_asked());
        let values = self.of_pods().filter(|(field, _)| is_asked(*field));
        Self { values: values.map(|(field, change)| (field, change.clone())).collect(), in_pods: Values::new() }
    }

    /// Returns this and what another one has besides.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (field, change) in other.values.into_iter().filter(|(field, _)| !self.in_pods.contains_key(field)) {
            self.values.entry(field).or_insert(change);
        }
        self
    }

    /// Sets what a pod would ask for.
    pub(super) fn ask(&self, pod: &mut Pod) {
        for (field, change) in self.of_pods().filter(|(field, change)| !self.stays(*field, change)) {
            let (map, resource) = field.parts();
            if let Some(to) = &change.to {
                let resources = pod.spec.resources.get_or_insert_default();
                resources.map_mut(map).insert(resource.to_owned(), to.clone());
            }
        }
    }

    /// Returns what a pod has in place of what its template says, `from` the template's.
    pub(super) fn drift(template: &Value, pod: &Pod) -> Self {
        let mut found = Self::default();
        let Some(spec) = template.get("spec") else { return found };
        let filled = filled_in(spec);
        // What the template does not say a new pod may have all the same.
        let comes_with_a_pod = |field: ResourceField, change: &ValueChange| {
            let default = field.of_value(&filled).map(Quantity::of).and_then(Result::ok).map(|value| value.to_string());
            change.from.is_none() && is_same(change.to.as_ref(), default.as_ref())
        };
        for field in ResourceField::ALL {
            let change = field.drift(spec, present(pod, field), pod.resized_as_a_whole.as_ref());
            let change = change.filter(|change| !comes_with_a_pod(field, change));
            found.values.extend(change.map(|change| (field, change)));
        }
        found
    }
}

/// One value that a running pod is to have.
#[derive(Clone, Copy)]
struct InPod<'a> {
    field: ResourceField,
    /// What it asks for now.
    present: Option<&'a String>,
    from: Option<&'a String>,
    to: &'a String,
}

impl InPod<'_> {
    fn is_asked(&self) -> bool {
        is_same(self.present, Some(self.to))
    }
}

impl FieldChange for PodResourcesChange {
    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.in_pods.is_empty()
    }

    fn part(&self) -> PodPart {
        PodPart::Resize
    }

    fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        let (Some(before), Some(after)) = (before.get("spec"), after.get("spec")) else { return Self::default() };
        let is_there = |spec: &Value| spec.get("resources").is_some_and(|resources| !resources.is_null());
        if !is_there(before) && !is_there(after) {
            return Self::default();
        }
        let values = changed(before, after, PATH, claimed);
        if values.is_empty() && is_there(before) != is_there(after) {
            // Without any value it still takes precedence over the containers' (`ComputePodQOS`).
            claimed.remove(PATH);
        }
        let (Some(from), Some(to)) = (as_in_pods(before), as_in_pods(after)) else {
            return Self { values, in_pods: Values::new() };
        };
        let mut in_pods = Values::new();
        for field in ResourceField::ALL {
            let change = ValueChange { from: field.of(&from).cloned(), to: field.of(&to).cloned() };
            let is_changed = values.contains_key(&field) || !is_same(change.from.as_ref(), change.to.as_ref());
            if is_changed && values.get(&field) != Some(&change) {
                in_pods.insert(field, change);
            }
        }
        Self { values, in_pods }
    }

    fn reversed(&self) -> Self {
        let turn = |value: &ValueChange| ValueChange { from: value.to.clone(), to: value.from.clone() };
        let turned = |values: &Values| values.iter().map(|(field, value)| (*field, turn(value))).collect();
        Self { values: turned(&self.values), in_pods: turned(&self.in_pods) }
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        if self.values.is_empty() {
            return Some(());
        }
        let spec = template.get_mut("spec")?;
        self.values.iter().try_for_each(|(field, value)| field.set(spec, value.to.as_deref()))?;
        let is_empty = |resources: &Value| resources.as_object().is_some_and(serde_json::Map::is_empty);
        if spec.get("resources").is_some_and(is_empty) {
            spec.as_object_mut()?.shift_remove("resources");
        }
        Some(())
    }

    fn covers(&self, other: &Self) -> bool {
        other.of_pods().all(|(field, _)| self.of_pod(field).is_some())
    }

    fn begin_where(&mut self, first: &Self) {
        ValueChange::begin_where(&mut self.values, &first.values);
        ValueChange::begin_where(&mut self.in_pods, &first.in_pods);
    }

    /// `requests` and `limits` may be added and changed, and not removed.
    fn refused(&self, _: &Workload, direction: Direction) -> Vec<Reason> {
        if direction == Direction::Back {
            return Vec::new();
        }
        let removed = self.of_pods().filter(|(_, value)| value.to.is_none());
        removed.map(|(field, _)| Reason::ResourceRemoved { path: path(field) }).collect()
    }

    fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        let Some(pod) = containers.pod else { return Vec::new() };
        let mut reasons = Vec::new();
        if pod.status.phase == "Running" && pod.status.resources.is_none() && self.in_pod(pod).next().is_some() {
            reasons.push(Reason::PodResizeNotSupported { node: pod.spec.node_name.clone() });
        }
        reasons.extend(joint::restarted_by(&self.unasked_in(pod), containers));
        reasons
    }

    fn warnings(&self, _: &Containers<'_>) -> Vec<Warning> {
        Vec::new()
    }

    /// What a pod asks for and does not have yet is left, too.
    fn left_in(&self, pod: &Pod) -> Self {
        let is_done = self.progress_in(pod) == FieldProgress::Done;
        if is_done { Self::default() } else { self.in_values_of(pod, |_| true) }
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        let is_known = |value: &InPod<'_>| value.is_asked() || is_same(value.present, value.from);
        self.in_pod(pod).find(|value| !is_known(value)).map(|value| path(value.field))
    }

    fn write(&self, pod: &Pod, operations: &mut Operations) {
        let unasked = self.unasked_in(pod);
        if unasked.is_empty() {
            return;
        }
        let Some(present) = &pod.spec.resources else {
            let mut asked = pod.clone();
            unasked.ask(&mut asked);
            operations.test(["spec", "resources"], Value::Null);
            operations.add(["spec", "resources"], json!(asked.spec.resources));
            return;
        };
        // The maps as a whole: one that is absent cannot be added to.
        for map in Resources::MAPS {
            let present = present.map(map);
            let mut wanted = present.clone();
            for (field, value) in unasked.values.iter().filter(|(field, _)| field.parts().0 == map) {
                wanted.extend(value.to.clone().map(|to| (field.parts().1.to_owned(), to)));
            }
            if wanted != *present {
                let path = ["spec", "resources", map];
                operations.test(path, if present.is_empty() { Value::Null } else { json!(present) });
                operations.add(path, json!(wanted));
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |(field, of_pods): (ResourceField, &ValueChange)| {
            let value = self.values.get(&field).unwrap_or(of_pods);
            let (map, resource) = field.parts();
            Row {
                path: path(field),
                what: format!("{map}.{resource} of the pod"),
                before: value.from.clone(),
                after: value.to.clone(),
                effect: if self.stays(field, of_pods) { FieldEffect::LaterPods } else { FieldEffect::InPlace },
            }
        };
        self.of_pods().map(row).collect()
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        if self.in_pod(pod).any(|value| !value.is_asked()) {
            return FieldProgress::NotAsked;
        }
        if self.in_pod(pod).next().is_none() {
            return FieldProgress::Done;
        }
        resources::progress_of(pod, self.in_pod(pod).all(|value| evidence::has(pod, value.field, value.to)))
    }
}

fn present(pod: &Pod, field: ResourceField) -> Option<&String> {
    field.of(pod.spec.resources.as_ref()?)
}

fn path(field: ResourceField) -> String {
    let (map, resource) = field.parts();
    format!("{PATH}.{map}.{resource}")
}

/// Reads a quantity, in thousandths.
fn amount(text: Option<&String>) -> Option<i128> {
    text?.parse::<Quantity>().ok()?.thousandths()
}

/// What the containers of a pod ask for together, as long as one of them asks for it (`AggregateContainerRequests` of
/// k8s.io/component-helpers/resource). One that has only a limit asks for that.
fn together(spec: &PodSpec, field: ResourceField) -> Option<i128> {
    let (_, resource) = field.parts();
    let of = |container: &Container| {
        let (own, limit) = (field.of(&container.resources), container.resources.limits.get(resource));
        amount(own.or(limit))
    };
    let all = || spec.containers.iter().chain(&spec.init_containers);
    all().find_map(of)?;
    let of = |container: &Container| of(container).unwrap_or(0);
    let (mut sidecars, mut init) = (0, 0);
    for container in &spec.init_containers {
        let own = of(container);
        if container.is_long_lived(ContainerList::InitContainers) {
            sidecars += own;
        }
        let is_sidecar = container.is_long_lived(ContainerList::InitContainers);
        init = init.max(if is_sidecar { sidecars } else { sidecars + own });
    }
    Some(init.max(spec.containers.iter().map(of).sum::<i128>() + sidecars))
}

/// The pod-level resources of a pod that is created from a template's spec; `None` where the spec cannot be read.
fn as_in_pods(spec: &Value) -> Option<Resources> {
    let spec = PodSpec::deserialize(spec).ok()?;
    let mut resources = spec.resources.clone().unwrap_or_default();
    for map in Resources::MAPS {
        for text in resources.map_mut(map).values_mut() {
            *text = text.parse::<Quantity>().ok()?.to_string();
        }
    }
    if resources.limits.is_empty() {
        return Some(resources);
    }
    for field in [ResourceField::RequestsCpu, ResourceField::RequestsMemory] {
        let (_, resource) = field.parts();
        let of_containers =
            || Some(Quantity::of_thousandths(together(&spec, field)?, resource == "memory").to_string());
        let of_limit = || resources.limits.get(resource).cloned();
        if !resources.requests.contains_key(resource)
            && let Some(implied) = of_containers().or_else(of_limit)
        {
            resources.requests.insert(resource.to_owned(), implied);
        }
    }
    Some(resources)
}

/// A template's spec with what pods have as a whole, where the template says anything of that.
pub(super) fn filled_in(spec: &Value) -> Cow<'_, Value> {
    let is_there = spec.get("resources").is_some_and(|resources| !resources.is_null());
    let Some(resources) = as_in_pods(spec).filter(|_| is_there) else { return Cow::Borrowed(spec) };
    let mut filled = spec.clone();
    if let Some(fields) = filled.as_object_mut() {
        fields.insert("resources".into(), json!(resources));
    }
    Cow::Owned(filled)
}

#[cfg(test)]
mod tests;
