//! cpu and memory of containers: changed in the pods that run, by the subresource `resize` (KEP-1287).
//!
//! The rules are those of `ValidatePodResize` (pkg/apis/core/validation). A resize is done once the kubelet has allocated it
//! and the runtime has it: `allocatedResources` and `resources` of the container's status, and no condition of a resize. A
//! container that has not begun has none of them yet.

pub(super) mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Claimed, Containers, Direction, FieldChange, FieldEffect, FieldProgress, Row, ValueChange, container_mut, in_both,
};
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::ContainerName;
use crate::k8s::operations::{Operations, PodPart};
use crate::k8s::pod::{Condition, Container, ContainerList, ContainerStatus, Pod, ResizePolicy, Resources};
use crate::k8s::workload::Workload;
use crate::value::json_path::element;
use crate::value::quantity::Quantity;

pub use values::{ContainerResources, ResourceField};
use values::{InPod, is_same};

/// The cpu and memory that change, by container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct ResourcesChange(pub BTreeMap<ContainerName, ContainerResources>);

impl ResourcesChange {
    fn iter(&self) -> impl Iterator<Item = (&ContainerName, ContainerList, ResourceField, &ValueChange)> {
        self.0.iter().flat_map(|(name, change)| {
            change.values.iter().map(move |(field, value)| (name, change.list, *field, value))
        })
    }

    /// Those that a running pod can have.
    fn in_pod<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = InPod<'a>> {
        self.0.iter().flat_map(move |(name, changes)| {
            let found = pod.container(name).filter(|_| !changes.is_plain_init);
            found.into_iter().flat_map(move |(list, _, container)| {
                let of_container = move |(field, change): (ResourceField, &'a ValueChange)| InPod {
                    list,
                    container,
                    status: pod.container_status(name).map(|(_, _, status)| status),
                    whole: pod.spec.resources.as_ref(),
                    field,
                    change,
                };
                changes.in_pods().map(of_container)
            })
        })
    }

    /// Returns what a pod does not ask for yet.
    pub fn unasked_in(&self, pod: &Pod) -> Self {
        self.in_values_of(pod, |value| !value.is_asked())
    }

    /// Those of its values that are chosen, with the pod's own before.
    fn in_values_of(&self, pod: &Pod, chosen: impl Fn(&InPod<'_>) -> bool) -> Self {
        let mut left = Self::default();
        for value in self.in_pod(pod).filter(chosen) {
            let name = value.container.name.clone();
            let entry = left.0.entry(name).or_insert_with(|| ContainerResources::new(value.list));
            let change = ValueChange { from: value.present().cloned(), to: value.change.to.clone() };
            entry.values.insert(value.field, change);
            entry.restarting.extend(Some(value.field).filter(|_| value.restarts()));
        }
        left
    }

    /// Returns those of its values that a pod asks for now: whatever else it asks for, somebody has set since.
    #[must_use]
    pub fn in_force(&self, pod: &Pod) -> Self {
        let mut kept = Self::default();
        for value in self.in_pod(pod).filter(InPod::is_asked) {
            let entry =
                kept.0.entry(value.container.name.clone()).or_insert_with(|| ContainerResources::new(value.list));
            entry.values.insert(value.field, value.change.clone());
        }
        kept
    }

    /// Returns the same the other way round.
    #[must_use]
    pub fn turned_round(&self) -> Self {
        FieldChange::reversed(self)
    }

    /// Returns this and what another one has besides, of the containers that are chosen.
    #[must_use]
    pub fn with(mut self, other: Self, is_chosen: impl Fn(&ContainerName) -> bool) -> Self {
        for (name, change) in other.0.into_iter().filter(|(name, _)| is_chosen(name)) {
            let entry = self.0.entry(name).or_insert_with(|| ContainerResources::new(change.list));
            entry.is_plain_init = change.is_plain_init;
            for (field, value) in change.values {
                entry.values.entry(field).or_insert(value);
            }
        }
        self
    }

    /// Server and kubelets take it for init containers, too, that have done their work, unless a `resizePolicy` would restart
    /// them (`ValidatePodResize`).
    pub(super) fn reaches_init_containers(&mut self) {
        let reached = self.0.values_mut().filter(|change| change.restarting.is_empty());
        reached.for_each(|change| change.is_plain_init = false);
    }

    /// Returns the containers of a pod that restart once it asks for all of it.
    pub fn restarting_in(&self, pod: &Pod) -> BTreeSet<ContainerName> {
        let restarting = self.in_pod(pod).filter(|value| value.restarts() && !value.is_asked());
        restarting.map(|value| value.container.name.clone()).collect()
    }

    /// Whether a container is to have the values that another change gives it.
    pub(super) fn asks_the_same(&self, other: &Self, name: &ContainerName) -> bool {
        let Some((wanted, other)) = self.0.get(name).zip(other.0.get(name)) else { return false };
        let to = |field| wanted.all().find(|(known, _)| *known == field).and_then(|(_, change)| change.to.as_ref());
        other.values.iter().all(|(field, change)| is_same(to(*field), change.to.as_ref()))
    }

    /// Returns the containers that restart with it, as it says itself.
    pub fn restarting(&self) -> impl Iterator<Item = &ContainerName> {
        let restarts = |change: &ContainerResources| !change.is_plain_init && !change.restarting.is_empty();
        self.0.iter().filter(move |(_, change)| restarts(change)).map(|(name, _)| name)
    }

    /// What a container of a pod would ask for.
    fn after(&self, container: &Container) -> Resources {
        let mut resources = container.resources.clone();
        for (field, change) in self.0.get(&container.name).into_iter().flat_map(ContainerResources::in_pods) {
            let (map, resource) = field.parts();
            if let Some(to) = &change.to {
                resources.map_mut(map).insert(resource.to_owned(), to.clone());
            }
        }
        resources
    }

    /// The request that would be above its limit.
    fn above_its_limit(&self, list: ContainerList, container: &Container) -> Option<Reason> {
        if !self.0.contains_key(&container.name) {
            return None;
        }
        let resources = self.after(container);
        let text = |field: ResourceField| field.of(&resources);
        let quantity = |field| text(field)?.parse::<Quantity>().ok();
        let pairs = [
            (ResourceField::RequestsCpu, ResourceField::LimitsCpu),
            (ResourceField::RequestsMemory, ResourceField::LimitsMemory),
        ];
        let is_above = |(request, limit)| quantity(request).zip(quantity(limit)).is_some_and(|(has, most)| has > most);
        let (request, limit) = pairs.into_iter().find(|pair| is_above(*pair))?;
        let path = path(list, &container.name, request);
        Some(Reason::RequestAboveLimit { path, value: text(request)?.into(), limit: text(limit)?.into() })
    }
}

impl FieldChange for ResourcesChange {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn part(&self) -> PodPart {
        PodPart::Resize
    }

    fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        let mut change = Self::default();
        let (old, new) = (&before["spec"], &after["spec"]);
        for (list, name, container, other) in in_both(before, after) {
            let path = format!("{}.resources", element(&format!("spec.{}", list.spec_field()), &name));
            let values = changed(container, other, &path, claimed);
            if !values.is_empty() {
                let implied = implied(container, other, &values);
                let is_plain_init = list == ContainerList::InitContainers
                    && other.get("restartPolicy").and_then(Value::as_str) != Some("Always");
                let has_policy = |field: &&ResourceField| {
                    restarts(other, field.parts().1) && !field.is_the_same_limit((container, old), (other, new))
                };
                let of_any = is_plain_init && ["cpu", "memory"].iter().any(|resource| restarts(other, resource));
                let restarting = values.keys().chain(implied.keys()).filter(|field| of_any || has_policy(field));
                let restarting = restarting.copied().collect();
                let resources = ContainerResources { list, is_plain_init, values, implied, restarting };
                change.0.insert(ContainerName::from(name.as_str()), resources);
            }
        }
        change
    }

    fn reversed(&self) -> Self {
        let turned = |values: &BTreeMap<ResourceField, ValueChange>| {
            let turn = |value: &ValueChange| ValueChange { from: value.to.clone(), to: value.from.clone() };
            values.iter().map(|(field, value)| (*field, turn(value))).collect()
        };
        let containers = self.0.iter().map(|(name, change)| {
            let (values, implied) = (turned(&change.values), turned(&change.implied));
            (name.clone(), ContainerResources { values, implied, ..change.clone() })
        });
        Self(containers.collect())
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        for (name, change) in &self.0 {
            let container = container_mut(template, change.list, name)?;
            change.values.iter().try_for_each(|(field, value)| field.set(container, value.to.as_deref()))?;
        }
        Some(())
    }

    fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(name, _, field, _)| self.0.get(name).is_some_and(|known| known.values.contains_key(&field)))
    }

    fn begin_where(&mut self, first: &Self) {
        for (name, change) in &mut self.0 {
            if let Some(first) = first.0.get(name) {
                ValueChange::begin_where(&mut change.values, &first.values);
                ValueChange::begin_where(&mut change.implied, &first.implied);
            }
        }
    }

    /// `requests` and `limits` may be added and changed, and not removed.
    fn refused(&self, _: &Workload, direction: Direction) -> Vec<Reason> {
        if direction == Direction::Back {
            return Vec::new();
        }
        let of = |(name, list, field, value): (&ContainerName, ContainerList, ResourceField, &ValueChange)| {
            let path = || path(list, name, field);
            match &value.to {
                None => Some(Reason::ResourceRemoved { path: path() }),
                Some(to) => {
                    field.has_part_of_a_byte(to).then(|| Reason::FractionalMemory { path: path(), value: to.clone() })
                }
            }
        };
        self.iter().filter_map(of).collect()
    }

    fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        reasons.extend(containers.all.iter().filter_map(|(list, container)| self.above_its_limit(*list, container)));
        let Some(pod) = containers.pod else { return reasons };
        let is_mute = |value: InPod<'_>| {
            value.status.is_some_and(|status| status.state.running.is_some() && status.resources.is_none())
        };
        if self.in_pod(pod).any(is_mute) {
            reasons.push(Reason::ResizeNotSupported { node: pod.spec.node_name.clone() });
        }
        reasons
    }

    fn warnings(&self, _: &Containers<'_>) -> Vec<Warning> {
        let tiny = self.iter().filter_map(|(name, list, field, value)| {
            let bytes = field.tiny_bytes(value.to.as_ref()?)?;
            Some(Warning::MemoryTiny { path: path(list, name, field), value: value.to.clone()?, bytes })
        });
        tiny.collect()
    }

    /// What a pod asks for and does not have yet is left, too.
    fn left_in(&self, pod: &Pod) -> Self {
        let is_done = self.progress_in(pod) == FieldProgress::Done;
        if is_done { Self::default() } else { self.in_values_of(pod, |_| true) }
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        let is_known = |value: &InPod<'_>| value.is_asked() || is_same(value.present(), value.change.from.as_ref());
        let other = self.in_pod(pod).find(|value| !is_known(value))?;
        Some(path(other.list, &other.container.name, other.field))
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        if !self.unasked_in(pod).is_empty() {
            return FieldProgress::NotAsked;
        }
        if self.in_pod(pod).next().is_none() {
            return FieldProgress::Done;
        }
        // The kubelet reports nothing about a container that has not begun. The container starts with what is
        // allocated, and that is decided before the pod's generation is reported as observed (`HandlePodUpdates`, from
        // 1.34 on).
        let tells = pod.status.observed_generation.is_some();
        let is_done = |value: InPod<'_>| {
            let done = |status: &ContainerStatus| {
                (tells && status.has_not_begun()) || has(status, value.field, value.change.to.as_ref())
            };
            value.status.is_some_and(done)
        };
        progress_of(pod, self.in_pod(pod).all(is_done))
    }

    fn write(&self, pod: &Pod, operations: &mut Operations) {
        for (name, change) in &self.unasked_in(pod).0 {
            let Some((list, index, container)) = pod.container(name) else { continue };
            let index = index.to_string();
            operations.test(["spec", list.spec_field(), &index, "name"], json!(name));
            if let Some((list, index, status)) = pod.container_status(name) {
                let index = index.to_string();
                operations.test(["status", list.status_field(), &index, "containerID"], json!(status.container_id));
            }
            let base = ["spec", list.spec_field(), index.as_str(), "resources"];
            // The maps as a whole: one that is absent cannot be added to.
            for map in Resources::MAPS {
                let present = container.resources.map(map);
                let mut wanted = present.clone();
                for (field, value) in change.values.iter().filter(|(field, _)| field.parts().0 == map) {
                    wanted.extend(value.to.clone().map(|to| (field.parts().1.to_owned(), to)));
                }
                if wanted == *present {
                    continue;
                }
                let path = base.into_iter().chain([map]);
                let before = if present.is_empty() { Value::Null } else { json!(present) };
                operations.test(path.clone(), before);
                operations.add(path, json!(wanted));
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |(name, list, field, value): (&ContainerName, ContainerList, ResourceField, &ValueChange)| {
            let (map, resource) = field.parts();
            Row {
                path: path(list, name, field),
                what: format!("{name} {map}.{resource}"),
                before: value.from.clone(),
                after: value.to.clone(),
                effect: match self.0.get(name) {
                    Some(change) if change.is_plain_init || change.stays(field, value) => FieldEffect::LaterPods,
                    Some(change) if change.restarting.contains(&field) => FieldEffect::Restarts(name.clone()),
                    Some(_) | None => FieldEffect::InPlace,
                },
            }
        };
        let implied = self.0.iter().flat_map(|(name, change)| {
            change.implied.iter().map(move |(field, value)| (name, change.list, *field, value))
        });
        self.iter().chain(implied).map(row).collect()
    }
}

/// The requests that follow the limits that change, where neither template has any.
fn implied(
    before: &Value,
    after: &Value,
    values: &BTreeMap<ResourceField, ValueChange>,
) -> BTreeMap<ResourceField, ValueChange> {
    let of = |field: &ResourceField| match field {
        ResourceField::LimitsCpu => Some(ResourceField::RequestsCpu),
        ResourceField::LimitsMemory => Some(ResourceField::RequestsMemory),
        ResourceField::RequestsCpu | ResourceField::RequestsMemory => None,
    };
    let has_none = |field: &ResourceField| field.of_value(before).is_none() && field.of_value(after).is_none();
    let limits = values.iter().filter_map(|(field, value)| Some((of(field)?, value.clone())));
    limits.filter(|(field, _)| has_none(field)).collect()
}

/// Whether a resize of a resource restarts a container of a template.
fn restarts(container: &Value, resource: &str) -> bool {
    let policies = container.get("resizePolicy").cloned().unwrap_or_default();
    serde_json::from_value::<Vec<ResizePolicy>>(policies).is_ok_and(|all| all.iter().any(|one| one.restarts(resource)))
}

/// How far a resize is that a pod asks for, by the kubelet's word; `is_done` where the pod has its values.
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

/// Returns what the containers of a pod have in place of what its template says, `from` the template's.
pub(super) fn drift(template: &Value, pod: &Pod) -> ResourcesChange {
    let mut found = ResourcesChange::default();
    for (list, container) in pod.all_containers() {
        let of_template = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let is_it = |other: &&Value| other.get("name").and_then(Value::as_str) == Some(container.name.as_str());
        let Some(other) = of_template.into_iter().flatten().find(is_it) else { continue };
        for field in ResourceField::ALL {
            let present = field.of(&container.resources);
            if let Some(change) = field.drift(other, present, pod.resized.get(&container.name)) {
                let entry = found.0.entry(container.name.clone()).or_insert_with(|| ContainerResources::new(list));
                entry.is_plain_init = !container.is_long_lived(list);
                entry.values.insert(field, change);
            }
        }
    }
    found
}

/// Returns whether a container has a value, as the kubelet reports it.
fn has(status: &ContainerStatus, field: ResourceField, to: Option<&String>) -> bool {
    let (map, resource) = field.parts();
    let is_reported = to.zip(field.least_reported()).is_none_or(|(to, least)| {
        let (Ok(to), Ok(least)) = (to.parse::<Quantity>(), least.parse::<Quantity>()) else { return true };
        to >= least
    });
    // A limit of 0 is none, and the runtime reports none.
    let is_none = |to: &String| map == "limits" && to.parse::<Quantity>().is_ok_and(|to| to.thousandths() == Some(0));
    let is_reported = is_reported && !to.is_some_and(is_none);
    let allocated = map != "requests"
        || status.allocated_resources.as_ref().is_none_or(|allocated| is_same(allocated.get(resource), to));
    let actual = status.resources.as_ref().is_some_and(|actual| is_same(field.of(actual), to));
    allocated && (actual || !is_reported)
}

fn path(list: ContainerList, name: &ContainerName, field: ResourceField) -> String {
    let (map, resource) = field.parts();
    format!("{}.resources.{map}.{resource}", element(&format!("spec.{}", list.spec_field()), name.as_str()))
}

/// Returns what containers of a pod would have besides what is asked for, by path: admission may fill in more. `None` is gone.
pub(super) fn added(asked: &Pod, answer: &Pod) -> Vec<(String, Option<String>)> {
    let mut added = Vec::new();
    for (list, container) in asked.all_containers() {
        let Some((_, _, answered)) = answer.container(&container.name) else { continue };
        for field in ResourceField::ALL {
            let value = field.of(&answered.resources);
            if !is_same(value, field.of(&container.resources)) {
                added.push((path(list, &container.name, field), value.cloned()));
            }
        }
    }
    added
}

/// The values that differ between two containers of one name, or two pods. What is no quantity is left to others.
pub(super) fn changed(
    before: &Value,
    after: &Value,
    path: &str,
    claimed: &mut Claimed,
) -> BTreeMap<ResourceField, ValueChange> {
    let mut changes = BTreeMap::new();
    for field in ResourceField::ALL {
        let read = |container| match field.of_value(container).map(Quantity::of) {
            None => Some(None),
            Some(Ok(quantity)) => Some(Some(quantity)),
            Some(Err(_)) => None,
        };
        let (Some(old), Some(new)) = (read(before), read(after)) else { continue };
        let (map, resource) = field.parts();
        claimed.insert(format!("{path}.{map}.{resource}"));
        if old != new {
            let text = |quantity: Option<Quantity>| quantity.map(|quantity| quantity.to_string());
            changes.insert(field, ValueChange { from: text(old), to: text(new) });
        }
    }
    claimed_maps(before, after, path, claimed);
    changes
}

/// A map that one side lacks is compared as a whole, so that it is claimed where nothing else is in it.
fn claimed_maps(before: &Value, after: &Value, path: &str, claimed: &mut Claimed) {
    let only_ours = |container: &Value, map: &str| {
        let values = container.get("resources").and_then(|resources| resources.get(map)).and_then(Value::as_object);
        values.is_none_or(|values| {
            values.iter().all(|(name, value)| ["cpu", "memory"].contains(&name.as_str()) && Quantity::of(value).is_ok())
        })
    };
    let maps = Resources::MAPS;
    for map in maps.into_iter().filter(|map| only_ours(before, map) && only_ours(after, map)) {
        claimed.insert(format!("{path}.{map}"));
    }
    let only_maps = |container: &Value| {
        let resources = container.get("resources").and_then(Value::as_object);
        resources.is_none_or(|resources| {
            resources.keys().all(|key| maps.contains(&key.as_str())) && maps.iter().all(|map| only_ours(container, map))
        })
    };
    if only_maps(before) && only_maps(after) {
        claimed.insert(path.to_owned());
    }
}

mod asked;
#[cfg(test)]
mod tests;
