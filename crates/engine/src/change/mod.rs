//! What a rollout changes of a pod template: one value, carried unchanged through plan, goal, lock, history and report.
//!
//! A file of this folder is a kind of change, and has everything that is particular to it: which paths of the template
//! are its own, why it is refused, what of it is left to do in a pod and by which guarded operations, what somebody
//! else may have done meanwhile, and how it is shown. Images are separate: their containers restart, one after the
//! other where that is asked for, and prove that they did. All other kinds are the fields of [`FieldChanges`], which the
//! rest of the program asks about all of them at once, unless a rule is about one kind alone.
//!
//! A path that no kind claims is left to [`template::diff`], and with it to the refusal of what cannot be done in
//! place.

pub mod asked_resources;
mod image;
mod metadata;
pub mod new_images;
pub mod reason;
mod resources;
pub mod target;
pub mod template;
mod tolerations;

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::reason::{Reason, Warning};
use self::template::{TemplateDiff, by_key};
use crate::k8s::metadata::RESTARTED_AT;
use crate::k8s::names::ContainerName;
use crate::k8s::operations::{Operations, PodPart};
use crate::k8s::pod::{Container, ContainerList, Pod, ResourceHolder};
use crate::k8s::workload::Workload;
use crate::value::kubelet_version::KubeletVersion;
use crate::value::qos;

pub use image::TemplateImage;
pub(crate) use image::{image_in, list_in};
pub use metadata::{MetadataChange, ValueChange};
pub use resources::{HolderChange, INIT_RESIZE_SINCE, ResourceField, ResourcesChange, resizing};
pub use tolerations::TolerationsChange;

/// Whether a rollout brings in what was wanted, or takes it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    /// To what was wanted.
    #[default]
    Forward,
    /// To what was there before.
    Back,
}

impl Direction {
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Back,
            Self::Back => Self::Forward,
        }
    }
}

/// What changes, small enough to be kept in an annotation, and in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Written")]
pub struct Change {
    pub images: BTreeMap<ContainerName, TemplateImage>,
    #[serde(flatten)]
    pub fields: FieldChanges,
}

/// A change as it is read. A change with a kind of another version can be neither carried on nor taken back: half of it
/// would be left.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    images: BTreeMap<ContainerName, TemplateImage>,
    #[serde(flatten)]
    fields: FieldChanges,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

impl TryFrom<Written> for Change {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written.others.keys().next() {
            Some(other) => Err(format!("this version knows no change of {other}")),
            None => Ok(Self { images: written.images, fields: written.fields }),
        }
    }
}

/// The changes that are no images, a field for each kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldChanges {
    #[serde(skip_serializing_if = "MetadataChange::is_empty")]
    pub metadata: MetadataChange,
    #[serde(skip_serializing_if = "TolerationsChange::is_empty")]
    pub tolerations: TolerationsChange,
    #[serde(skip_serializing_if = "ResourcesChange::is_empty")]
    pub resources: ResourcesChange,
}

/// What every kind of change that is no image answers for itself.
trait FieldChange {
    fn is_empty(&self) -> bool;

    /// Brings the change into a template; `None` where it has no place there.
    fn apply(&self, template: &mut Value) -> Option<()>;

    /// Why it cannot be brought into running pods, whichever. Of what is taken back they keep what they cannot lose.
    fn refused(&self, workload: &Workload, direction: Direction) -> Vec<Reason>;

    /// Why it cannot be brought into a pod with these containers.
    fn refused_in(&self, _: &Containers<'_>) -> Vec<Reason> {
        Vec::new()
    }

    fn warnings(&self, _: &Containers<'_>) -> Vec<Warning> {
        Vec::new()
    }

    /// The path of a value that is neither as before nor as wanted: somebody else has changed it meanwhile.
    fn conflict_in(&self, pod: &Pod) -> Option<String>;

    /// Writes the operations that do what is left, each tested for what it replaces.
    fn write(&self, pod: &Pod, operations: &mut Operations);

    fn rows(&self) -> Vec<Row>;

    fn part(&self) -> PodPart {
        PodPart::Pod
    }

    fn progress_in(&self, pod: &Pod) -> FieldProgress;
}

impl FieldProgress {
    /// Returns the kubelet's words, if it says something.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Waiting { why, .. } => why.as_deref(),
            Self::Failed { message, .. } => Some(message),
            Self::NotAsked | Self::Done => None,
        }
    }

    /// Returns the lesser of two: what has failed, then what is not asked for, then what is waited for.
    fn or(self, other: Self) -> Self {
        let rank = |progress: &Self| match progress {
            Self::Failed { .. } => 0,
            Self::NotAsked => 1,
            Self::Waiting { .. } => 2,
            Self::Done => 3,
        };
        if rank(&other) < rank(&self) { other } else { self }
    }
}

/// A value that only the API server keeps is done once it is stored.
fn once_there(is_there: bool) -> FieldProgress {
    if is_there { FieldProgress::Done } else { FieldProgress::NotAsked }
}

fn is_plain(list: &ContainerList) -> bool {
    *list == ContainerList::Containers
}

/// Returns the containers that both templates have, by list and name. Lists that are not what the API serves are left out.
fn in_both<'v>(before: &'v Value, after: &'v Value) -> Vec<(ContainerList, String, &'v Value, &'v Value)> {
    let mut pairs = Vec::new();
    for list in ContainerList::ALL {
        let pointer = format!("/spec/{}", list.spec_field());
        let named = |template: &'v Value| by_key(template.pointer(&pointer)?, "name");
        let (Some(old), Some(new)) = (named(before), named(after)) else { continue };
        let new: BTreeMap<String, &Value> = new.into_iter().collect();
        let both = old.into_iter().filter_map(|(name, old)| new.get(&name).map(|new| (list, name, old, *new)));
        pairs.extend(both);
    }
    pairs
}

fn container_in<'v>(template: &'v Value, list: ContainerList, name: &ContainerName) -> Option<&'v Value> {
    let containers = template.get("spec")?.get(list.spec_field())?.as_array()?;
    containers.iter().find(|container| container.get("name").and_then(Value::as_str) == Some(name.as_str()))
}

fn container_mut<'v>(template: &'v mut Value, list: ContainerList, name: &ContainerName) -> Option<&'v mut Value> {
    let containers = template.pointer_mut(&format!("/spec/{}", list.spec_field()))?.as_array_mut()?;
    containers.iter_mut().find(|container| container.get("name").and_then(Value::as_str) == Some(name.as_str()))
}

/// Paths that kinds of change have read and answer for.
pub(super) type Claimed = BTreeSet<String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The path in the template, such as `metadata.labels.tier`.
    pub path: String,
    /// The same in words short enough for a pod's line, such as `label tier`.
    pub what: String,
    /// Before; `None` where it was absent.
    pub before: Option<String>,
    /// After; `None` where it is absent.
    pub after: Option<String>,
    pub effect: FieldEffect,
}

/// What a changed field does to the pods that run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldEffect {
    /// They have it, without a restart.
    InPlace,
    Restarts(ContainerName),
    /// They stay unchanged: only pods created later have it.
    LaterPods,
}

pub struct Containers<'a> {
    /// The pod that runs; none of a template.
    pub pod: Option<&'a Pod>,
    pub all: Vec<(ContainerList, &'a Container)>,
    pub restarting: Vec<&'a ContainerName>,
}

impl Containers<'_> {
    fn running_on(&self) -> impl Iterator<Item = (ContainerList, &Container)> {
        let containers = self.all.iter().map(|(list, container)| (*list, *container));
        containers
            .filter(|(list, container)| container.is_long_lived(*list) && !self.restarting.contains(&&container.name))
    }
}

/// How far the changes are in a pod. Images have more to say: see `rollout`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProgress {
    /// The pod does not ask for all of them yet.
    NotAsked,
    Waiting {
        why: Option<String>,
        /// It has put them off until there is room on the node.
        deferred: bool,
    },
    /// The kubelet does not do it.
    Failed {
        reason: String,
        message: String,
    },
    Done,
}

impl From<ResourcesChange> for FieldChanges {
    fn from(resources: ResourcesChange) -> Self {
        Self { resources, ..Self::default() }
    }
}

impl From<MetadataChange> for FieldChanges {
    fn from(metadata: MetadataChange) -> Self {
        Self { metadata, ..Self::default() }
    }
}

impl FieldChanges {
    fn kinds(&self) -> [&dyn FieldChange; 3] {
        [&self.metadata, &self.tolerations, &self.resources]
    }

    /// Compares two templates. Paths that are read, and differ in nothing but what is returned, are claimed.
    fn between(before: &Value, after: &Value, claimed: &mut Claimed) -> Self {
        Self {
            metadata: MetadataChange::between(before, after, claimed),
            tolerations: TolerationsChange::between(before, after, claimed),
            resources: ResourcesChange::between(before, after, claimed),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kinds().iter().all(|kind| kind.is_empty())
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            metadata: self.metadata.reversed(),
            tolerations: self.tolerations.reversed(),
            resources: self.resources.reversed(),
        }
    }

    fn apply(&self, template: &mut Value) -> Option<()> {
        self.kinds().iter().try_for_each(|kind| kind.apply(template))
    }

    fn covers(&self, other: &Self) -> bool {
        self.metadata.covers(&other.metadata)
            && self.tolerations.covers(&other.tolerations)
            && self.resources.covers(&other.resources)
    }

    /// Takes what was before from a change that came first, of what both of them set.
    pub fn rebase_on(&mut self, first: &Self) {
        self.metadata.rebase_on(&first.metadata);
        self.tolerations.rebase_on(&first.tolerations);
        self.resources.rebase_on(&first.resources);
    }

    fn refused(&self, workload: &Workload, direction: Direction) -> Vec<Reason> {
        self.kinds().iter().flat_map(|kind| kind.refused(workload, direction)).collect()
    }

    pub fn refused_in(&self, containers: &Containers<'_>) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = self.kinds().iter().flat_map(|kind| kind.refused_in(containers)).collect();
        reasons.extend(containers.pod.into_iter().flat_map(|pod| resources::refused_together(self, pod)));
        reasons
    }

    pub fn warnings(&self, containers: &Containers<'_>) -> Vec<Warning> {
        self.kinds().iter().flat_map(|kind| kind.warnings(containers)).collect()
    }

    /// Returns what is left to do in a pod: its own values before, and only what is not yet as wanted.
    #[must_use]
    pub fn left_in(&self, pod: &Pod) -> Self {
        Self {
            metadata: self.metadata.left_in(pod),
            tolerations: self.tolerations.left_in(pod),
            resources: self.resources.left_in(pod),
        }
    }

    pub fn resizes(&self) -> bool {
        !self.resources.is_empty()
    }

    pub fn resizes_as_a_whole(&self) -> bool {
        self.resources.0.contains_key(&ResourceHolder::Pod)
    }

    pub fn resized(&self) -> impl Iterator<Item = &ContainerName> {
        self.resources.0.keys().filter_map(ResourceHolder::container)
    }

    #[must_use]
    pub fn of_resize(&self) -> Self {
        self.resources.clone().into()
    }

    /// Returns the containers of a pod that restart for a resize that it does not ask for yet.
    pub fn restarting_in(&self, pod: &Pod) -> BTreeSet<ContainerName> {
        self.resources.restarting_in(pod)
    }

    /// Returns what a pod has of cpu and memory in place of what its template says, `from` the template's: a resize of the pod
    /// alone, or a webhook's.
    #[must_use]
    pub fn drift(template: &Value, pod: &Pod) -> Self {
        ResourcesChange::drift(template, pod).into()
    }

    /// Returns the same, as a server and kubelets of these versions do it.
    #[must_use]
    pub fn done_by<'v>(self, versions: impl IntoIterator<Item = &'v KubeletVersion>) -> Self {
        Self { resources: self.resources.done_by(versions), ..self }
    }

    pub fn label(&mut self, pod: &Pod, key: &str, to: &str) {
        let change = ValueChange { from: pod.labels.get(key).cloned(), to: Some(to.to_owned()) };
        self.metadata.labels.insert(key.to_owned(), change);
    }

    pub fn progress_in(&self, pod: &Pod) -> FieldProgress {
        self.of_part(PodPart::Pod, pod).or(self.of_part(PodPart::Resize, pod))
    }

    /// Returns how far those are in a pod that are written to one part of it.
    pub fn of_part(&self, part: PodPart, pod: &Pod) -> FieldProgress {
        let kinds = self.kinds();
        let of_part = kinds.iter().filter(|kind| kind.part() == part).map(|kind| kind.progress_in(pod));
        of_part.fold(FieldProgress::Done, FieldProgress::or)
    }

    /// Returns the path of a value that is neither as before nor as wanted: somebody else has changed it meanwhile.
    pub fn conflict_in(&self, pod: &Pod) -> Option<String> {
        self.kinds().iter().find_map(|kind| kind.conflict_in(pod))
    }

    /// Adds the operations for what is left to do in this part of the pod.
    pub(crate) fn write(&self, part: PodPart, pod: &Pod, operations: &mut Operations) {
        self.kinds().iter().filter(|kind| kind.part() == part).for_each(|kind| kind.write(pod, operations));
    }

    /// Returns a value that a template does not have as the change has set it; what it has now is the row's `before`.
    pub fn first_changed_since(&self, template: &Value) -> Option<Row> {
        let mut wanted = template.clone();
        self.apply(&mut wanted)?;
        Self::between(template, &wanted, &mut Claimed::new()).rows().into_iter().next()
    }

    pub fn rows(&self) -> Vec<Row> {
        self.kinds().iter().flat_map(|kind| kind.rows()).collect()
    }
}

impl Change {
    pub fn is_empty(&self) -> bool {
        self.images.is_empty() && self.fields.is_empty()
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        let images = self.images.iter().map(|(name, image)| (name.clone(), image.reversed()));
        Self { images: images.collect(), fields: self.fields.reversed() }
    }

    /// Returns the template with every changed value as it is after the change; `None` where a container is missing.
    pub fn apply(&self, template: &Value) -> Option<Value> {
        let mut template = template.clone();
        self.images.iter().try_for_each(|(name, image)| image.apply(name, &mut template))?;
        self.fields.apply(&mut template)?;
        Some(template)
    }

    /// Returns the two templates that this change leads between, worked out from either of them; `None` when the
    /// template is on neither side.
    pub fn before_after(&self, template: &Value) -> Option<(Value, Value)> {
        let (before, after) = (self.reversed().apply(template)?, self.apply(template)?);
        (same(template, &before) || same(template, &after)).then_some((before, after))
    }

    /// Returns whether it sets everything again that another one has set.
    pub fn covers(&self, other: &Self) -> bool {
        other.images.keys().all(|name| self.images.contains_key(name)) && self.fields.covers(&other.fields)
    }

    /// Returns whether it sets the annotation by which `kubectl rollout restart` has every pod replaced, or takes it away.
    pub fn asks_for_a_restart(&self) -> bool {
        self.fields.metadata.annotations.contains_key(RESTARTED_AT)
    }

    /// Returns why it cannot be brought into running pods. What depends on the pod is judged pod by pod.
    pub fn refused(&self, workload: &Workload, direction: Direction) -> Vec<Reason> {
        let mut reasons = self.fields.refused(workload, direction);
        reasons.extend(self.images.iter().filter_map(|(container, image)| image.refused(container)));
        reasons
    }
}

/// What differs between two templates: what kinds of change answer for, and the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Difference {
    pub change: Change,
    /// The quality of service classes, where they differ.
    pub qos: Option<(&'static str, &'static str)>,
    pub rest: TemplateDiff,
}

/// Compares two templates. Both must have gone through the same defaulting.
pub fn diff(before: &Value, after: &Value) -> Difference {
    let mut claimed = Claimed::new();
    let change = Change {
        images: image::between(before, after, &mut claimed),
        fields: FieldChanges::between(before, after, &mut claimed),
    };
    let rest = template::diff(before, after, claimed);
    let class = |template: &Value| qos::class(&resources::filled_in(template.get("spec").unwrap_or(&Value::Null)));
    // Most differences are of images alone.
    let may_differ = change.fields.resizes() || rest != TemplateDiff::default();
    let classes = Some((before, after)).filter(|_| may_differ).map(|(before, after)| (class(before), class(after)));
    Difference { change, qos: classes.filter(|(before, after)| before != after), rest }
}

/// Returns whether two templates say the same; an order of containers alone is none.
pub fn same(a: &Value, b: &Value) -> bool {
    a == b || diff(a, b) == Difference::default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change() -> Change {
        let after = json!({"metadata": {"labels": {"app": "web", "tier": "b"}, "annotations": {"new": "1"}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}, {"name": "side", "image": "side:2"}],
                     "initContainers": [{"name": "init", "image": "init:2"}]}});
        diff(&before(), &after).change
    }

    fn before() -> Value {
        json!({"metadata": {"labels": {"app": "web", "tier": "a"}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}, {"name": "side", "image": "side:1"}],
                     "initContainers": [{"name": "init", "image": "init:1"}]}})
    }

    #[test]
    fn a_change_leads_there_and_back() {
        let after = change().apply(&before()).unwrap();
        assert_eq!(after["spec"]["containers"][1]["image"], "side:2");
        assert_eq!(after["spec"]["initContainers"][0]["image"], "init:2");
        assert_eq!(after["metadata"]["labels"]["tier"], "b");
        assert_eq!(change().reversed().apply(&after).unwrap(), before());
        assert_eq!(change().before_after(&after), Some((before(), after.clone())));
        assert_eq!(change().before_after(&before()), Some((before(), after)));
    }

    #[test]
    fn a_template_of_somebody_else_is_on_no_side() {
        let mut other = before();
        other["spec"]["containers"][1]["image"] = json!("side:3");
        assert_eq!(change().before_after(&other), None);
        other["spec"]["containers"] = json!([]);
        assert_eq!(change().before_after(&other), None);
    }

    #[test]
    fn it_survives_the_annotation() {
        let text = serde_json::to_string(&change()).unwrap();
        assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change());
    }
}
