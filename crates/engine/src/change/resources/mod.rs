//! cpu and memory, of containers and of the pod as a whole: changed in the pods that run, all of them in one request to the
//! subresource `resize` (KEP-1287, KEP-5419).
//!
//! The rules are those of `ValidatePodResize` and `validatePodLevelResourcesResize` (pkg/apis/core/validation). Pods have more than
//! their template says: the API server fills in requests when it creates them (`SetDefaults_Pod` and `defaultPodRequests` in
//! pkg/apis/core/v1/defaults.go).

mod evidence;
mod in_pods;
mod rules;
pub(super) mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Claimed, Containers, Direction, FieldChange, FieldChanges, FieldEffect, FieldProgress, Row, ValueChange,
    container_in, container_mut, in_both, is_plain,
};
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::ContainerName;
use crate::k8s::operations::{Operations, PodPart};
use crate::k8s::pod::{ContainerList, Pod, ResizePolicy, ResourceHolder, Resources};
use crate::k8s::workload::Workload;
use crate::value::json_path::element;
use crate::value::quantity::Quantity;

pub use evidence::resizing;
pub(super) use in_pods::filled_in;
use in_pods::{HolderInPod, ValueInPod, as_in_pods};
pub use rules::INIT_RESIZE_SINCE;
pub(super) use rules::refused_together;
pub use values::ResourceField;
use values::is_same;

type Values = BTreeMap<ResourceField, ValueChange>;

/// The cpu and memory that change, by what has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct ResourcesChange(pub BTreeMap<ResourceHolder, HolderChange>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct HolderChange {
    #[serde(skip_serializing_if = "is_plain")]
    pub list: ContainerList,
    /// It is an init container that has done its work, and what it asks for counts only when the pod is next made: server or
    /// kubelets are too old to resize it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_plain_init: bool,
    /// In the template, as the API writes quantities.
    pub values: Values,
    /// In the pods that are created from it, where that differs from the template.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_pods: Values,
    /// Those whose change restarts the container: its `resizePolicy` says so. One that has done its work does not run again;
    /// with such a policy for either resource it is not resized at all.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub restarting: BTreeSet<ResourceField>,
}

impl HolderChange {
    fn new(list: ContainerList) -> Self {
        Self { list, ..Self::default() }
    }

    /// What a pod that is created from the template gets of it.
    fn of_pod(&self, field: ResourceField) -> Option<&ValueChange> {
        self.in_pods.get(&field).or_else(|| self.values.get(&field))
    }

    /// The same of every value: those of the template, and what follows from them.
    fn of_pods(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> + Clone {
        let of_template = self.values.iter().map(|(field, value)| (*field, self.in_pods.get(field).unwrap_or(value)));
        let implied = self.in_pods.iter().filter(|(field, _)| !self.values.contains_key(field));
        of_template.chain(implied.map(|(field, value)| (*field, value)))
    }

    /// What pods that run get of it: what they cannot lose they keep.
    fn reaching(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> + Clone {
        self.of_pods().filter(|(field, value)| !self.stays(*field, value))
    }

    fn stays(&self, field: ResourceField, value: &ValueChange) -> bool {
        field.stays(value, |limit| self.of_pod(limit))
    }

    fn after(&self, present: &Resources) -> Resources {
        let mut resources = present.clone();
        for (field, change) in self.reaching() {
            let (map, resource) = field.parts();
            resources.map_mut(map).extend(change.to.clone().map(|to| (resource.to_owned(), to)));
        }
        resources
    }
}

impl ResourcesChange {
    fn iter(&self) -> impl Iterator<Item = (&ResourceHolder, &HolderChange, ResourceField, &ValueChange)> {
        self.0.iter().flat_map(|(holder, change)| {
            change.values.iter().map(move |(field, value)| (holder, change, *field, value))
        })
    }

    /// Those that a running pod can have.
    fn in_pod<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = ValueInPod<'a>> {
        let held = self.0.iter().filter(|(_, change)| !change.is_plain_init);
        let held = held.filter_map(move |(holder, change)| Some((HolderInPod::of(pod, holder)?, change)));
        held.flat_map(|(held, change)| change.reaching().map(move |(field, change)| ValueInPod { held, field, change }))
    }

    #[must_use]
    pub fn unasked_in(&self, pod: &Pod) -> Self {
        self.in_values_of(pod, |value| !value.is_asked())
    }

    /// Those of its values that are chosen, with the pod's own before.
    fn in_values_of(&self, pod: &Pod, is_chosen: impl Fn(&ValueInPod<'_>) -> bool) -> Self {
        let mut left = Self::default();
        for value in self.in_pod(pod).filter(is_chosen) {
            let entry = left.entry(&value);
            let change = ValueChange { from: value.present().cloned(), to: value.change.to.clone() };
            entry.values.insert(value.field, change);
            entry.restarting.extend(Some(value.field).filter(|_| value.restarts()));
        }
        left
    }

    fn entry(&mut self, value: &ValueInPod<'_>) -> &mut HolderChange {
        self.0.entry(value.held.holder.clone()).or_insert_with(|| HolderChange::new(value.held.list()))
    }

    /// Returns those of its values that a pod asks for now: whatever else it asks for, somebody has set since.
    #[must_use]
    pub fn in_force(&self, pod: &Pod) -> Self {
        let mut kept = Self::default();
        for value in self.in_pod(pod).filter(ValueInPod::is_asked) {
            kept.entry(&value).values.insert(value.field, value.change.clone());
        }
        kept
    }

    /// Returns this and what another one has besides, of what is chosen.
    #[must_use]
    pub fn with(mut self, other: Self, is_chosen: impl Fn(&ResourceHolder) -> bool) -> Self {
        for (holder, change) in other.0.into_iter().filter(|(holder, _)| is_chosen(holder)) {
            let entry = self.0.entry(holder).or_insert_with(|| HolderChange::new(change.list));
            entry.is_plain_init = change.is_plain_init;
            for (field, value) in change.values {
                if entry.of_pod(field).is_none() {
                    entry.values.insert(field, value);
                }
            }
        }
        self
    }

    /// Returns the pod as it would ask for cpu and memory.
    #[must_use]
    pub fn asked_of(&self, pod: &Pod) -> Pod {
        let mut asked = pod.clone();
        for (holder, change) in self.0.iter().filter(|(_, change)| !change.is_plain_init) {
            if change.reaching().next().is_some()
                && let Some(resources) = asked.resources_mut(holder)
            {
                *resources = change.after(resources);
            }
        }
        asked
    }

    /// Returns what the server would set in the containers of a pod besides, by path, where it answers a resize with this pod;
    /// `None` is gone.
    pub fn added_by_admission(&self, pod: &Pod, answer: &Pod) -> Vec<(String, Option<String>)> {
        let mut added = Vec::new();
        for (list, container) in self.asked_of(pod).all_containers() {
            let holder = ResourceHolder::from(&container.name);
            let Some(answered) = answer.resources(&holder) else { continue };
            for field in ResourceField::ALL {
                let value = field.of(answered);
                if !is_same(value, field.of(&container.resources)) {
                    added.push((path(list, &holder, field), value.cloned()));
                }
            }
        }
        added
    }

    /// Returns the containers of a pod that restart once it asks for all of it.
    pub fn restarting_in(&self, pod: &Pod) -> BTreeSet<ContainerName> {
        let restarting = self.in_pod(pod).filter(|value| value.restarts() && !value.is_asked());
        restarting.filter_map(|value| value.held.holder.container().cloned()).collect()
    }

    /// Returns the containers that restart with it, as it says itself.
    pub fn restarting(&self) -> impl Iterator<Item = &ContainerName> {
        let restarts = |change: &HolderChange| !change.is_plain_init && !change.restarting.is_empty();
        self.0.iter().filter(move |(_, change)| restarts(change)).filter_map(|(holder, _)| holder.container())
    }

    /// Returns the containers that have restarted for a resize that was noted, and that this is the same as.
    pub fn restarted_by(&self, noted: &Self) -> Vec<ContainerName> {
        noted.restarting().filter(|name| self.asks_the_same(noted, &ResourceHolder::from(*name))).cloned().collect()
    }

    fn asks_the_same(&self, other: &Self, holder: &ResourceHolder) -> bool {
        let Some((wanted, other)) = self.0.get(holder).zip(other.0.get(holder)) else { return false };
        let to = |field| wanted.of_pod(field).and_then(|change| change.to.as_ref());
        other.values.iter().all(|(field, change)| is_same(to(*field), change.to.as_ref()))
    }

    pub(super) fn drift(template: &Value, pod: &Pod) -> Self {
        let mut found = Self::default();
        let holders = pod.all_containers().map(|(_, container)| ResourceHolder::from(&container.name));
        for holder in holders.chain([ResourceHolder::Pod]) {
            let Some(held) = HolderInPod::of(pod, &holder) else { continue };
            let of_template = match &holder {
                ResourceHolder::Container(name) => container_in(template, held.list(), name),
                ResourceHolder::Pod => template.get("spec"),
            };
            let Some(of_template) = of_template else { continue };
            let filled = (holder == ResourceHolder::Pod).then(|| filled_in(of_template));
            for field in ResourceField::ALL {
                let present = held.resources().and_then(|resources| field.of(resources));
                let change = field.drift(of_template, present, pod.resized.get(&holder));
                // What the template does not say a new pod may have as a whole all the same.
                let comes_with_a_pod = |change: &ValueChange| {
                    let default = filled.as_deref().and_then(|filled| field.text_of(filled));
                    change.from.is_none() && is_same(change.to.as_ref(), default.as_ref())
                };
                if let Some(change) = change.filter(|change| !comes_with_a_pod(change)) {
                    let entry = found.0.entry(holder.clone()).or_insert_with(|| HolderChange::new(held.list()));
                    entry.is_plain_init = !held.is_long_lived();
                    entry.values.insert(field, change);
                }
            }
        }
        found
    }

    pub(super) fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        let specs = (&before["spec"], &after["spec"]);
        let mut changes = BTreeMap::new();
        for (list, name, old, new) in in_both(before, after) {
            let change = between_containers(list, &name, (old, new), specs, claimed);
            changes.insert(ResourceHolder::Container(name.into()), change);
        }
        changes.insert(ResourceHolder::Pod, between_pods(specs, claimed));
        changes.retain(|_, change| change.of_pods().next().is_some());
        Self(changes)
    }

    pub(super) fn reversed(&self) -> Self {
        let turned = |values: &Values| values.iter().map(|(field, value)| (*field, value.reversed())).collect();
        let turn = |change: &HolderChange| {
            let (values, in_pods) = (turned(&change.values), turned(&change.in_pods));
            HolderChange { values, in_pods, ..change.clone() }
        };
        Self(self.0.iter().map(|(holder, change)| (holder.clone(), turn(change))).collect())
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        let sets =
            |holder, field| self.0.get(holder).is_some_and(|change: &HolderChange| change.of_pod(field).is_some());
        other.0.iter().all(|(holder, change)| change.of_pods().all(|(field, _)| sets(holder, field)))
    }

    pub(super) fn rebase_on(&mut self, first: &Self) {
        for (holder, change) in &mut self.0 {
            if let Some(first) = first.0.get(holder) {
                ValueChange::rebase_on(&mut change.values, &first.values);
                ValueChange::rebase_on(&mut change.in_pods, &first.in_pods);
            }
        }
    }

    /// What a pod asks for and does not have yet is left, too.
    pub(super) fn left_in(&self, pod: &Pod) -> Self {
        let is_done = self.progress_in(pod) == FieldProgress::Done;
        if is_done { Self::default() } else { self.in_values_of(pod, |_| true) }
    }
}

impl FieldChange for ResourcesChange {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn part(&self) -> PodPart {
        PodPart::Resize
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        for (holder, change) in self.0.iter().filter(|(_, change)| !change.values.is_empty()) {
            let place = match holder {
                ResourceHolder::Container(name) => container_mut(template, change.list, name)?,
                ResourceHolder::Pod => template.get_mut("spec")?,
            };
            change.values.iter().try_for_each(|(field, value)| field.set(place, value.to.as_deref()))?;
            let is_empty = place["resources"].as_object().is_some_and(serde_json::Map::is_empty);
            // Without any value it still takes precedence over the containers' (`ComputePodQOS`).
            if *holder == ResourceHolder::Pod && is_empty {
                place.as_object_mut()?.shift_remove("resources");
            }
        }
        Some(())
    }

    /// `requests` and `limits` may be added and changed, and not removed.
    fn refused(&self, _: &Workload, direction: Direction) -> Vec<Reason> {
        if direction == Direction::Back {
            return Vec::new();
        }
        let of = |(holder, change, field, value): (&ResourceHolder, &HolderChange, ResourceField, &ValueChange)| {
            let path = path(change.list, holder, field);
            match &change.of_pod(field).unwrap_or(value).to {
                None => Some(Reason::ResourceRemoved { path }),
                // The kubelet rounds a container's up, and never reports it as done.
                Some(to) if holder.container().is_some() && field.has_part_of_a_byte(to) => {
                    Some(Reason::FractionalMemory { path, value: to.clone() })
                }
                Some(_) => None,
            }
        };
        self.iter().filter_map(of).collect()
    }

    fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        rules::refused_in(self, containers)
    }

    fn warnings(&self, _: &Containers<'_>) -> Vec<Warning> {
        let tiny = self.iter().filter_map(|(holder, change, field, value)| {
            let bytes = field.tiny_bytes(value.to.as_ref()?)?;
            Some(Warning::MemoryTiny { path: path(change.list, holder, field), value: value.to.clone()?, bytes })
        });
        tiny.collect()
    }

    fn conflict_in(&self, pod: &Pod) -> Option<String> {
        let is_known =
            |value: &ValueInPod<'_>| value.is_asked() || is_same(value.present(), value.change.from.as_ref());
        let other = self.in_pod(pod).find(|value| !is_known(value))?;
        Some(path(other.held.list(), other.held.holder, other.field))
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress {
        let mut values = self.in_pod(pod).peekable();
        if self.in_pod(pod).any(|value| !value.is_asked()) {
            FieldProgress::NotAsked
        } else if values.peek().is_none() {
            FieldProgress::Done
        } else {
            evidence::progress_of(pod, values.all(|value| evidence::has(&value)))
        }
    }

    fn write(&self, pod: &Pod, operations: &mut Operations) {
        for (holder, change) in &self.unasked_in(pod).0 {
            let Some(held) = HolderInPod::of(pod, holder) else { continue };
            let mut path = vec!["spec"];
            let index;
            if let Some((list, at, container)) = held.container {
                index = at.to_string();
                path.extend([list.spec_field(), &index]);
                operations.test(path.iter().copied().chain(["name"]), json!(container.name));
            }
            if let Some((list, at, status)) = held.status {
                let at = at.to_string();
                operations.test(["status", list.status_field(), &at, "containerID"], json!(status.container_id));
            }
            path.push("resources");
            let wanted = change.after(held.resources().unwrap_or(&Resources::default()));
            let Some(present) = held.resources() else {
                operations.test(path.iter().copied(), Value::Null);
                operations.add(path, json!(wanted));
                continue;
            };
            // The maps as a whole: one that is absent cannot be added to.
            for map in Resources::MAPS {
                let (present, wanted) = (present.map(map), wanted.map(map));
                if wanted != present {
                    let path = path.iter().copied().chain([map]);
                    operations.test(path.clone(), if present.is_empty() { Value::Null } else { json!(present) });
                    operations.add(path, json!(wanted));
                }
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |holder: &ResourceHolder, change: &HolderChange, field: ResourceField, of_pods: &ValueChange| {
            let value = change.values.get(&field).unwrap_or(of_pods);
            Row {
                path: path(change.list, holder, field),
                what: match holder {
                    ResourceHolder::Container(name) => format!("{name} {field}"),
                    ResourceHolder::Pod => format!("{field} of the pod"),
                },
                before: value.from.clone(),
                after: value.to.clone(),
                effect: match holder {
                    _ if change.is_plain_init || change.stays(field, of_pods) => FieldEffect::LaterPods,
                    ResourceHolder::Container(name) if change.restarting.contains(&field) => {
                        FieldEffect::Restarts(name.clone())
                    }
                    ResourceHolder::Container(_) | ResourceHolder::Pod => FieldEffect::InPlace,
                },
            }
        };
        let rows = |(holder, change)| {
            HolderChange::of_pods(change).map(move |(field, value)| row(holder, change, field, value))
        };
        self.0.iter().flat_map(rows).collect()
    }
}

/// What changes of a container of two templates. Requests follow the limits that change, where neither template has any.
fn between_containers(
    list: ContainerList,
    name: &str,
    (before, after): (&Value, &Value),
    specs: (&Value, &Value),
    claimed: &mut Claimed,
) -> HolderChange {
    let path = format!("{}.resources", element(&format!("spec.{}", list.spec_field()), name));
    let values = changed(before, after, &path, claimed);
    let has_none = |field: &ResourceField| field.of_value(before).is_none() && field.of_value(after).is_none();
    let implied = values.iter().filter_map(|(field, value)| Some((field.request()?, value.clone())));
    let in_pods: Values = implied.filter(|(field, _)| has_none(field)).collect();
    let is_plain_init = list == ContainerList::InitContainers && after["restartPolicy"] != "Always";
    let has_policy = |field: &&ResourceField| {
        restarts(after, field.parts().1) && !field.is_the_same_limit((before, specs.0), (after, specs.1))
    };
    let of_any = is_plain_init && ["cpu", "memory"].iter().any(|resource| restarts(after, resource));
    let restarting = values.keys().chain(in_pods.keys()).filter(|field| of_any || has_policy(field)).copied().collect();
    HolderChange { list, is_plain_init, values, in_pods, restarting }
}

/// What changes of the pod as a whole between two specs of templates.
fn between_pods((before, after): (&Value, &Value), claimed: &mut Claimed) -> HolderChange {
    const PATH: &str = "spec.resources";
    let is_there = |spec: &Value| spec.get("resources").is_some_and(|resources| !resources.is_null());
    let mut found = HolderChange::default();
    if !is_there(before) && !is_there(after) {
        return found;
    }
    found.values = changed(before, after, PATH, claimed);
    if found.values.is_empty() && is_there(before) != is_there(after) {
        // Without any value it still takes precedence over the containers' (`ComputePodQOS`).
        claimed.remove(PATH);
    }
    let (Some(from), Some(to)) = (as_in_pods(before), as_in_pods(after)) else { return found };
    for field in ResourceField::ALL {
        let change = ValueChange { from: field.of(&from).cloned(), to: field.of(&to).cloned() };
        let is_changed = found.values.contains_key(&field) || !is_same(change.from.as_ref(), change.to.as_ref());
        if is_changed && found.values.get(&field) != Some(&change) {
            found.in_pods.insert(field, change);
        }
    }
    found
}

/// Whether a resize of a resource restarts a container of a template.
fn restarts(container: &Value, resource: &str) -> bool {
    let policies = container.get("resizePolicy").cloned().unwrap_or_default();
    serde_json::from_value::<Vec<ResizePolicy>>(policies).is_ok_and(|all| all.iter().any(|one| one.restarts(resource)))
}

fn path(list: ContainerList, holder: &ResourceHolder, field: ResourceField) -> String {
    match holder {
        ResourceHolder::Container(name) => {
            format!("{}.resources.{field}", element(&format!("spec.{}", list.spec_field()), name.as_str()))
        }
        ResourceHolder::Pod => format!("spec.resources.{field}"),
    }
}

/// The values that differ between two containers of one name, or two pods. What is no quantity is left to others.
fn changed(before: &Value, after: &Value, path: &str, claimed: &mut Claimed) -> Values {
    let mut changes = BTreeMap::new();
    for field in ResourceField::ALL {
        let read = |holder| field.of_value(holder).map(Quantity::of).transpose().ok();
        let (Some(old), Some(new)) = (read(before), read(after)) else { continue };
        claimed.insert(format!("{path}.{field}"));
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

#[cfg(test)]
mod pod_tests;
#[cfg(test)]
mod tests;
