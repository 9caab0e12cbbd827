//! cpu and memory of containers: changed in the pods that run, by the subresource `resize` (KEP-1287).
//!
//! The rules are those of `ValidatePodResize` (pkg/apis/core/validation). A resize is done once the kubelet has allocated it
//! and the runtime has it: `allocatedResources` and `resources` of the container's status, and no condition of a resize.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Claimed, Containers, Direction, FieldChange, FieldEffect, FieldProgress, Row, ValueChange};
use crate::engine::json_path::element;
use crate::engine::names::ContainerName;
use crate::engine::operations::{Operations, PodPart};
use crate::engine::pod::{Condition, Container, ContainerList, ContainerStatus, Pod, Resources};
use crate::engine::qos;
use crate::engine::quantity::Quantity;
use crate::engine::reason::{Reason, Warning};
use crate::engine::template::by_key;
use crate::engine::workload::Workload;

/// One of the four values of a container that can be changed in a running pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResourceField {
    /// `requests.cpu`.
    #[serde(rename = "requests.cpu")]
    RequestsCpu,
    /// `requests.memory`.
    #[serde(rename = "requests.memory")]
    RequestsMemory,
    /// `limits.cpu`.
    #[serde(rename = "limits.cpu")]
    LimitsCpu,
    /// `limits.memory`.
    #[serde(rename = "limits.memory")]
    LimitsMemory,
}

impl ResourceField {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::RequestsCpu, Self::RequestsMemory, Self::LimitsCpu, Self::LimitsMemory];

    /// Returns `requests` or `limits`, and the resource's name.
    pub fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::RequestsCpu => ("requests", "cpu"),
            Self::RequestsMemory => ("requests", "memory"),
            Self::LimitsCpu => ("limits", "cpu"),
            Self::LimitsMemory => ("limits", "memory"),
        }
    }

    /// Sets the value of a container, raw as the API has it; `None` where it has no place there.
    pub fn set(self, container: &mut Value, to: Option<&str>) -> Option<()> {
        let (map, resource) = self.parts();
        let nothing = || Value::Object(serde_json::Map::new());
        let resources = container.as_object_mut()?.entry("resources").or_insert_with(nothing).as_object_mut()?;
        match to {
            Some(to) => {
                resources.entry(map).or_insert_with(nothing).as_object_mut()?.insert(resource.to_owned(), to.into());
            }
            None => {
                if let Some(values) = resources.get_mut(map).and_then(Value::as_object_mut) {
                    values.remove(resource);
                    if values.is_empty() {
                        resources.remove(map);
                    }
                }
            }
        }
        Some(())
    }

    fn of(self, resources: &Resources) -> Option<&String> {
        let (map, resource) = self.parts();
        let map = if map == "requests" { &resources.requests } else { &resources.limits };
        map.get(resource)
    }

    fn of_value(self, container: &Value) -> Option<&Value> {
        let (map, resource) = self.parts();
        container.get("resources")?.get(map)?.get(resource).filter(|value| !value.is_null())
    }

    /// The smallest value that the kernel tells apart: below it the kubelet reports another one (`MinShares`,
    /// `MinMilliCPULimit` in pkg/kubelet/cm/helpers_linux.go).
    fn least_told(self) -> Option<&'static str> {
        match self {
            Self::RequestsCpu => Some("2m"),
            Self::LimitsCpu => Some("10m"),
            Self::RequestsMemory | Self::LimitsMemory => None,
        }
    }
}

/// The values of one container that change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerResources {
    /// Where the container stands.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub list: ContainerList,
    /// It is an init container that has done its work: what it asks for counts when the pod is next made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_plain_init: bool,
    /// Before and after, as the API writes quantities.
    pub values: BTreeMap<ResourceField, ValueChange>,
    /// Requests that the template does not have: the API server gives a pod that is made from it those of its limits
    /// (`SetDefaults_Pod`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implied: BTreeMap<ResourceField, ValueChange>,
}

impl ContainerResources {
    fn new(list: ContainerList) -> Self {
        Self { list, is_plain_init: false, values: BTreeMap::new(), implied: BTreeMap::new() }
    }

    /// What pods get of it.
    fn in_pods(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> + Clone {
        self.values.iter().chain(&self.implied).map(|(field, value)| (*field, value))
    }
}

fn is_plain(list: &ContainerList) -> bool {
    *list == ContainerList::Containers
}

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

    /// Those that a running pod can have, with what it asks for now.
    fn in_pod<'a>(
        &'a self,
        pod: &'a Pod,
    ) -> impl Iterator<Item = (&'a ContainerName, ResourceField, &'a ValueChange, Option<&'a String>)> {
        self.0.iter().flat_map(|(name, changes)| {
            let found = pod.container(name).filter(|(list, _, container)| container.is_long_lived(*list));
            found.into_iter().flat_map(move |(_, _, container)| {
                let with_present = move |(field, change): (ResourceField, &'a ValueChange)| {
                    (name, field, change, field.of(&container.resources))
                };
                // What a pod cannot lose it keeps.
                changes.in_pods().filter(|(_, change)| change.to.is_some()).map(with_present)
            })
        })
    }

    /// What a pod does not ask for yet.
    fn unasked_in(&self, pod: &Pod) -> Self {
        self.in_values_of(pod, |present, to| !is_same(present, to))
    }

    /// Those of its values that are chosen, with the pod's own before.
    fn in_values_of(&self, pod: &Pod, chosen: impl Fn(Option<&String>, Option<&String>) -> bool) -> Self {
        let mut left = Self::default();
        for (name, field, change, present) in self.in_pod(pod) {
            if chosen(present, change.to.as_ref()) {
                let list = pod.container(name).map_or(ContainerList::Containers, |(list, _, _)| list);
                let change = ValueChange { from: present.cloned(), to: change.to.clone() };
                let entry = left.0.entry(name.clone()).or_insert_with(|| ContainerResources::new(list));
                entry.values.insert(field, change);
            }
        }
        left
    }

    /// What a container of a pod would ask for.
    fn after(&self, container: &Container) -> Resources {
        let mut resources = container.resources.clone();
        for (field, change) in self.0.get(&container.name).into_iter().flat_map(ContainerResources::in_pods) {
            let (map, resource) = field.parts();
            let map = if map == "requests" { &mut resources.requests } else { &mut resources.limits };
            if let Some(to) = &change.to {
                map.insert(resource.to_owned(), to.clone());
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
        let quantity = |field: ResourceField| field.of(&resources)?.parse::<Quantity>().ok();
        let pairs = [
            (ResourceField::RequestsCpu, ResourceField::LimitsCpu),
            (ResourceField::RequestsMemory, ResourceField::LimitsMemory),
        ];
        let is_above = |(request, limit)| quantity(request).zip(quantity(limit)).is_some_and(|(has, most)| has > most);
        let (request, _) = pairs.into_iter().find(|pair| is_above(*pair))?;
        Some(Reason::RequestAboveLimit { path: path(list, &container.name, request) })
    }
}

/// What a container asks for, as it stands in a spec.
fn as_in_spec(resources: &Resources) -> Value {
    json!({"resources": {"requests": resources.requests, "limits": resources.limits}})
}

/// The part of a pod's spec that its class is worked out from.
fn spec_of(pod: &Pod, resources: impl Fn(&Container) -> Value) -> Value {
    let list = |list| pod.containers(list).iter().map(&resources).collect::<Vec<_>>();
    json!({"resources": pod.spec.resources, "containers": list(ContainerList::Containers),
        "initContainers": list(ContainerList::InitContainers)})
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
        for list in [ContainerList::Containers, ContainerList::InitContainers] {
            let pointer = format!("/spec/{}", list.spec_field());
            let named = |template| by_key(Value::pointer(template, &pointer)?, "name");
            let (Some(old), Some(new)) = (named(before), named(after)) else { continue };
            let new: BTreeMap<String, &Value> = new.into_iter().collect();
            for (name, container) in old {
                let Some(other) = new.get(&name) else { continue };
                let path = format!("{}.resources", element(&format!("spec.{}", list.spec_field()), &name));
                let values = changed(container, other, &path, claimed);
                if !values.is_empty() {
                    let implied = implied(container, other, &values);
                    let name = ContainerName::from(name.as_str());
                    let is_plain_init = list == ContainerList::InitContainers
                        && other.get("restartPolicy").and_then(Value::as_str) != Some("Always");
                    change.0.insert(name, ContainerResources { list, is_plain_init, values, implied });
                }
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
            let containers = template.pointer_mut(&format!("/spec/{}", change.list.spec_field()))?.as_array_mut()?;
            let is_it = |container: &&mut Value| container.get("name").and_then(Value::as_str) == Some(name.as_str());
            let container = containers.iter_mut().find(is_it)?;
            change.values.iter().try_for_each(|(field, value)| field.set(container, value.to.as_deref()))?;
        }
        Some(())
    }

    fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(name, _, field, _)| self.0.get(name).is_some_and(|known| known.values.contains_key(&field)))
    }

    /// `requests` and `limits` may be added and changed, and not removed.
    fn refused(&self, _: &Workload, direction: Direction) -> Vec<Reason> {
        if direction == Direction::Back {
            return Vec::new();
        }
        let removed = self.iter().filter(|(_, _, _, value)| value.to.is_none());
        removed.map(|(name, list, field, _)| Reason::ResourceRemoved { path: path(list, name, field) }).collect()
    }

    fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (name, list, field, _) in self.iter() {
            let found = containers.all.iter().find(|(of, known)| *of == list && known.name == *name);
            let Some((_, container)) = found.filter(|(_, container)| container.is_long_lived(list)) else { continue };
            if container.resize_policy.iter().any(|policy| policy.restarts(field.parts().1)) {
                let path = path(list, name, field);
                reasons.push(Reason::ResizeRestartsContainer { list, container: name.clone(), path });
            }
        }
        reasons.extend(containers.all.iter().filter_map(|(list, container)| self.above_its_limit(*list, container)));
        let Some(pod) = containers.pod else { return reasons };
        let before = qos::class(&spec_of(pod, |container| as_in_spec(&container.resources)));
        let after = qos::class(&spec_of(pod, |container| as_in_spec(&self.after(container))));
        if before != after {
            reasons.push(Reason::QosClassChanges { from: before.into(), to: after.into() });
        }
        let is_mute = |(name, ..): (&ContainerName, ResourceField, &ValueChange, Option<&String>)| {
            let status = pod.container_status(name).map(|(_, _, status)| status);
            status.is_some_and(|status| status.state.running.is_some() && status.resources.is_none())
        };
        if self.in_pod(pod).any(is_mute) {
            reasons.push(Reason::ResizeNotSupported { node: pod.spec.node_name.clone() });
        }
        reasons
    }

    fn warnings(&self, _: &Containers<'_>) -> Vec<Warning> {
        Vec::new()
    }

    /// What a pod asks for and does not have yet is left, too.
    fn left_in(&self, pod: &Pod) -> Self {
        let is_done = self.progress_in(pod) == FieldProgress::Done;
        if is_done { Self::default() } else { self.in_values_of(pod, |_, _| true) }
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        self.in_pod(pod).find_map(|(name, field, change, present)| {
            let known = is_same(present, change.from.as_ref()) || is_same(present, change.to.as_ref());
            let list = pod.container(name).map_or(ContainerList::Containers, |(list, _, _)| list);
            (!known).then(|| path(list, name, field))
        })
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        if !self.unasked_in(pod).is_empty() {
            return FieldProgress::NotAsked;
        }
        if self.in_pod(pod).next().is_none() || !pod.is_scheduled() {
            return FieldProgress::Done;
        }
        if pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation) {
            return FieldProgress::Waiting { why: None, deferred: false };
        }
        if let Some(progress) = resizing(pod) {
            return progress;
        }
        let is_done = |(name, field, change, _): (&ContainerName, ResourceField, &ValueChange, Option<&String>)| {
            let status = pod.container_status(name).map(|(_, _, status)| status);
            status.is_some_and(|status| has(status, field, change.to.as_ref()))
        };
        if self.in_pod(pod).all(is_done) {
            FieldProgress::Done
        } else {
            FieldProgress::Waiting { why: None, deferred: false }
        }
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
            for (map, present) in [("requests", &container.resources.requests), ("limits", &container.resources.limits)]
            {
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
                effect: match (&value.to, self.0.get(name).is_some_and(|change| change.is_plain_init)) {
                    (Some(_), false) => FieldEffect::InPlace,
                    (None, _) | (Some(_), true) => FieldEffect::LaterPods,
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

/// Returns what the kubelet says of a resize that is not done: whoever has asked for it.
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

/// Returns what a pod has in place of what its template says, `from` the template's: a resize of the pod alone, or a webhook's.
pub fn drift(template: &Value, pod: &Pod) -> ResourcesChange {
    let mut found = ResourcesChange::default();
    for (list, container) in pod.all_containers() {
        let of_template = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let is_it = |other: &&Value| other.get("name").and_then(Value::as_str) == Some(container.name.as_str());
        let Some(other) = of_template.into_iter().flatten().find(is_it) else { continue };
        for field in ResourceField::ALL {
            let Some(Ok(wanted)) = field.of_value(other).map(Quantity::of) else { continue };
            let (wanted, present) = (wanted.to_string(), field.of(&container.resources));
            if !is_same(present, Some(&wanted)) {
                let change = ValueChange { from: Some(wanted), to: present.cloned() };
                let entry = found.0.entry(container.name.clone()).or_insert_with(|| ContainerResources::new(list));
                entry.values.insert(field, change);
            }
        }
    }
    found
}

/// Returns whether a container has a value, as the kubelet tells.
fn has(status: &ContainerStatus, field: ResourceField, to: Option<&String>) -> bool {
    let (map, resource) = field.parts();
    let is_told = to.zip(field.least_told()).is_none_or(|(to, least)| {
        let (Ok(to), Ok(least)) = (to.parse::<Quantity>(), least.parse::<Quantity>()) else { return true };
        to >= least
    });
    let allocated = map != "requests"
        || status.allocated_resources.as_ref().is_none_or(|allocated| is_same(allocated.get(resource), to));
    let actual = status.resources.as_ref().is_some_and(|actual| is_same(field.of(actual), to));
    allocated && (actual || !is_told)
}

/// Returns whether two quantities are the same by value; what is none is compared as it is written.
fn is_same(a: Option<&String>, b: Option<&String>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (a.parse::<Quantity>(), b.parse::<Quantity>()) {
            (Ok(a), Ok(b)) => a == b,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => a == b,
        },
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn path(list: ContainerList, name: &ContainerName, field: ResourceField) -> String {
    let (map, resource) = field.parts();
    format!("{}.resources.{map}.{resource}", element(&format!("spec.{}", list.spec_field()), name.as_str()))
}

/// The values that differ between two containers of one name. What is no quantity is left to others.
fn changed(before: &Value, after: &Value, path: &str, claimed: &mut Claimed) -> BTreeMap<ResourceField, ValueChange> {
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

/// A map of which one side lacks is compared as a whole, so that it is claimed where there is nothing else in it.
fn claimed_maps(before: &Value, after: &Value, path: &str, claimed: &mut Claimed) {
    let only_ours = |container: &Value, map: &str| {
        let values = container.get("resources").and_then(|resources| resources.get(map)).and_then(Value::as_object);
        values.is_none_or(|values| {
            values.iter().all(|(name, value)| ["cpu", "memory"].contains(&name.as_str()) && Quantity::of(value).is_ok())
        })
    };
    let maps = ["requests", "limits"];
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

#[cfg(test)]
mod tests;
