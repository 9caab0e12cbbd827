//! The images and the metadata wanted, resolved against the live objects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::live::{Options, Snapshot};
use super::outline::leave_out_notes;
use super::revision::CurrentRevision;
use super::undo::{self, Chosen};
use super::{Intent, IntentError, Manifest, restart as restarts, rules};
use crate::change::reason::Reason;
use crate::change::target::Images;
use crate::change::{self, Difference, Direction, FieldChanges, template};
use crate::k8s::metadata::{MANAGED_BY, MetadataMap};
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::kinds::{self, WorkloadKind};
use crate::rollout::drain::DrainBy;
use crate::state::durable::stateful_set;
use crate::state::evidence::Baseline;
use crate::state::field_managers::{is_managed_by_helm, label};
use crate::value::kubelet_version::KubeletVersion;

#[derive(Default)]
pub(super) struct Wanted<'a> {
    images: Option<&'a Images>,
    by_pod: Option<ByPod>,
    diff: Difference,
    /// What pods are to have, where that is more than what changes in the template.
    of_pods: Option<FieldChanges>,
    /// Every image of the manifest's template, by container.
    manifest: BTreeMap<ContainerName, String>,
    is_of_manifest: bool,
    manifest_template: Option<Value>,
    /// For a manifest: the object as it would be stored.
    pub(super) stored: Option<&'a Value>,
    /// Every image of the owner's template, by container.
    template: BTreeMap<ContainerName, String>,
    /// Those of the server, and of the kubelets that are known.
    versions: Vec<KubeletVersion>,
    /// For a manifest: it is unknown which fields an earlier one had.
    pub(super) removals_unseen: bool,
    /// For a manifest: the paths outside the template that it changes.
    pub(super) outside_template: Vec<String>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(
        intent: &'a Intent,
        live: &Snapshot,
        known: &Known,
        reasons: &mut Vec<Reason>,
    ) -> Result<Self, IntentError> {
        let mut wanted = Self::nothing(live, known);
        match intent {
            Intent::None => {}
            Intent::Images(images) => wanted.by_hand(images, live, known, reasons),
            Intent::Manifest(Manifest::Stored { object, removals_unseen }) => {
                wanted.stored(live, object, reasons);
                wanted.removals_unseen = *removals_unseen;
            }
            Intent::Manifest(Manifest::Given { object, .. }) => wanted.stored(live, object, reasons),
            Intent::Manifest(Manifest::Refused { message }) => {
                reasons.push(Reason::AdmissionRefused { message: message.clone(), others: Vec::new() });
            }
            Intent::Undo { to, pin_digest } => match undo::chosen(live, to.as_deref())? {
                Chosen::Rollout(entry) => match undo::template(live, &entry, *pin_digest) {
                    Ok(object) => wanted.object(live, &object, Direction::Back, reasons),
                    Err(unknown) => reasons.extend(unknown),
                },
                Chosen::PodsOnly(id) => wanted.by_pod = Some(undo::recorded(live, &id, *pin_digest)?),
            },
            Intent::Restart { by_request, containers } => {
                let by_pod = restarts::restart(live, known, containers, *by_request)?;
                reasons.extend(by_pod.containers.iter().filter_map(|name| known.not_found(name)));
                wanted.by_pod = Some(by_pod);
            }
        }
        Ok(wanted)
    }

    /// What a manifest wants that the server would store.
    pub(super) fn of_manifest(live: &Snapshot, known: &Known, object: &'a Value, reasons: &mut Vec<Reason>) -> Self {
        let mut wanted = Self::nothing(live, known);
        wanted.stored(live, object, reasons);
        wanted
    }

    fn nothing(live: &Snapshot, known: &Known) -> Self {
        let images = known.template.iter().map(|(name, container)| (name.clone(), container.image.clone()));
        let is_pod = !live.workload.reference.kind.has_template();
        Self {
            versions: versions(live),
            template: if is_pod { BTreeMap::new() } else { images.collect() },
            ..Self::default()
        }
    }

    fn by_hand(&mut self, images: &'a Images, live: &Snapshot, known: &Known, reasons: &mut Vec<Reason>) {
        reasons.extend(images.by_container.keys().filter_map(|name| known.not_found(name)));
        if !images.resources.is_empty() {
            self.diff = resources(images, live, reasons);
            self.as_pods_take_it(live);
            self.of_pods = Some(done_by(live, resources_of_pods(images, live)));
            reasons.extend(rules::refused(&self.diff, &live.workload, Direction::Forward));
        }
        self.images = Some(images);
    }

    /// What the pods' server and kubelets do with the difference, and what becomes of their QoS class.
    fn as_pods_take_it(&mut self, live: &Snapshot) {
        self.diff.change.fields = done_by(live, std::mem::take(&mut self.diff.change.fields));
        self.diff.qos = self.diff.qos.filter(|(from, _)| !keep_their_class(live, &self.diff, from));
    }

    fn stored(&mut self, live: &Snapshot, object: &'a Value, reasons: &mut Vec<Reason>) {
        self.stored = Some(object);
        self.is_of_manifest = true;
        self.object(live, object, Direction::Forward, reasons);
        self.outside_template = outside_template(live, object);
    }

    fn object(&mut self, live: &Snapshot, object: &Value, direction: Direction, reasons: &mut Vec<Reason>) {
        let kind = live.workload.reference.kind;
        let after = template_of(kind, object);
        self.diff = change::diff(&bare(kind, live.workload.template()), &after);
        self.as_pods_take_it(live);
        reasons.extend(rules::refused(&self.diff, &live.workload, direction));
        reasons.extend(rules::claims_refused(&live.workload, object));
        if kind.has_template() {
            let containers = template_containers(&after).into_iter();
            self.manifest = containers.map(|(_, container)| (container.name, container.image)).collect();
            self.manifest_template = Some(after);
        }
    }

    /// Pods are to be what a whole template says, not only to have one thing changed.
    pub(super) fn is_of_manifest(&self) -> bool {
        self.is_of_manifest
    }

    /// Each pod gets images of its own, and the template stays.
    pub(super) fn is_by_pod(&self) -> bool {
        self.by_pod.is_some()
    }

    pub(super) fn is_restart(&self) -> bool {
        self.by_pod.as_ref().is_some_and(|by_pod| by_pod.is_restart)
    }

    pub(super) fn is_by_request(&self) -> bool {
        self.by_pod.as_ref().is_some_and(|by_pod| by_pod.is_by_request)
    }

    /// Returns why a pod cannot have its images, as far as that was known before.
    pub(super) fn reasons_of(&self, pod: &Pod) -> &[Reason] {
        self.by_pod.as_ref().and_then(|by_pod| by_pod.reasons.get(&pod.key)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns what is left to do of the fields of a pod: what is asked for on the command line also where the template
    /// has it already, and for a manifest what the pod was resized from since it was created.
    pub(super) fn fields_in(&self, pod: &Pod) -> FieldChanges {
        if let Some(by_pod) = &self.by_pod {
            let fields = by_pod.resources.get(&pod.key).cloned().unwrap_or_default();
            return fields.left_in(pod);
        }
        let mut fields = self.of_pods.as_ref().unwrap_or(&self.diff.change.fields).clone();
        if let Some(template) = &self.manifest_template {
            let back = FieldChanges::drift(template, pod).reversed().done_by(&self.versions);
            fields.resources = fields.resources.with(back.resources, |holder| pod.resized.contains_key(holder));
        }
        fields.left_in(pod)
    }

    pub(super) fn fields(&self) -> &FieldChanges {
        &self.diff.change.fields
    }

    /// Returns the containers that are named on the command line or that the manifest changes.
    pub(super) fn named(&self) -> impl Iterator<Item = &ContainerName> {
        let by_hand = self.images.into_iter().flat_map(|images| images.by_container.keys());
        let by_pod = self.by_pod.iter().flat_map(|by_pod| &by_pod.containers);
        by_hand.chain(by_pod).chain(self.diff.change.images.keys())
    }

    /// Returns the image wanted for a container, if one is; `present` is the one that it has now.
    pub(super) fn image(&self, name: &ContainerName, list: ContainerList, present: &str) -> Option<String> {
        if let Some(image) = self.diff.change.images.get(name) {
            return Some(image.to.clone());
        }
        // A present image that is no reference cannot keep its repository; the dry run shows what the server thinks.
        self.images?.of(list, name)?.resolve(present).ok()
    }

    /// Returns the image wanted for a container of a pod.
    ///
    /// A manifest also says what a pod is to run that was changed in place before, or by hand: the pod differs although
    /// the template has not changed. What admission made of the image when the pod was created stays.
    pub(super) fn image_in(
        &self,
        live: &Snapshot,
        pod: &Pod,
        list: ContainerList,
        container: &Container,
    ) -> Option<String> {
        if let Some(by_pod) = &self.by_pod {
            return by_pod.images.get(&pod.key)?.get(&container.name).cloned();
        }
        let in_pods = |image: &String| live.in_pods(&container.name, image).map(str::to_owned);
        let template = self.template.get(&container.name);
        // Where admission changes the template's new image, the pod gets what a new one would have.
        let new = template.and_then(|template| self.image(&container.name, list, template));
        let image = match new.as_ref().and_then(in_pods) {
            Some(_) if new.as_ref() == Some(&container.image) => new.clone(),
            Some(made) => Some(made),
            None => self.image(&container.name, list, &container.image),
        };
        // A restarted pod runs what the template says, under another reference. When the template itself gets another
        // image, its restarted pods get it too.
        let stays = |template: &&String| match (&new, &image) {
            (Some(new), _) if in_pods(new).is_some() => new == *template,
            (_, image) => image.as_ref().is_none_or(|image| image == *template),
        };
        if template.filter(stays).is_some_and(|template| live.is_pin(pod, container, template)) {
            return None;
        }
        let of_manifest = || {
            let image = self.manifest.get(&container.name)?;
            let is_other = !live.is_image(&container.name, image, &container.image);
            let made = || in_pods(image).unwrap_or_else(|| image.clone());
            (is_other && was_set_in_the_pod(pod, &container.name)).then(made)
        };
        image.or_else(of_manifest)
    }
}

/// Whether the template's QoS class changes otherwise than the pods'.
fn keep_their_class(live: &Snapshot, diff: &Difference, of_template: &str) -> bool {
    let mut pods = live.present_pods().peekable();
    pods.peek().is_some() && pods.all(|pod| diff.change.fields.resources.keeps_class(pod, of_template))
}

/// The versions of the server and of the kubelets that are known; none where the server's is not.
fn versions(live: &Snapshot) -> Vec<KubeletVersion> {
    let of_node = |pod: &Pod| live.kubelets.get(&pod.spec.node_name).copied();
    let server = live.surroundings.server;
    server.into_iter().flat_map(|server| std::iter::once(server).chain(live.pods.iter().filter_map(of_node))).collect()
}

fn done_by(live: &Snapshot, fields: FieldChanges) -> FieldChanges {
    fields.done_by(&versions(live))
}

/// What the cpu and memory that are asked for on the command line change in the template.
fn resources(images: &Images, live: &Snapshot, reasons: &mut Vec<Reason>) -> Difference {
    let kind = live.workload.reference.kind;
    let before = bare(kind, live.workload.template());
    let mut after = before.clone();
    if let Some(spec) = after.get_mut("spec") {
        reasons.extend(images.resources.put(spec).err().unwrap_or_default());
    }
    change::diff(&before, &after)
}

/// What pods are to have of it, whatever the template has.
fn resources_of_pods(images: &Images, live: &Snapshot) -> FieldChanges {
    let template = bare(live.workload.reference.kind, live.workload.template());
    let (mut before, mut after) = (template.clone(), template);
    if let (Some(before), Some(after)) = (before.get_mut("spec"), after.get_mut("spec")) {
        images.resources.take_out(before);
        // What is not possible is reported by the plan of the template.
        let _ = images.resources.put(after);
    }
    change::diff(&before, &after).change.fields
}

fn was_set_in_the_pod(pod: &Pod, name: &ContainerName) -> bool {
    matches!(Baseline::of(pod, name), Baseline::Recorded(_) | Baseline::Set(_))
}

pub(super) fn template_of(kind: WorkloadKind, object: &Value) -> Value {
    bare(kind, object.pointer(kind.template_pointer()).unwrap_or(&Value::Null))
}

/// A bare pod is its own template, without what the server and other writers keep in it.
fn bare(kind: WorkloadKind, template: &Value) -> Value {
    if kind.has_template() {
        return template.clone();
    }
    let spec = template.get("spec").cloned().unwrap_or(Value::Null);
    json!({"metadata": written_metadata(template), "spec": spec})
}

fn written_metadata(object: &Value) -> Value {
    let of = |map: MetadataMap| Some((map.field().to_owned(), object.get("metadata")?.get(map.field())?.clone()));
    let mut metadata = MetadataMap::ALL.into_iter().filter_map(of).collect();
    leave_out_notes(&mut metadata);
    Value::Object(metadata)
}

/// Returns the paths outside the template that the manifest changes: `replicas`, labels of the owner, and so on.
fn outside_template(live: &Snapshot, desired: &Value) -> Vec<String> {
    let kind = live.workload.reference.kind;
    if !kind.has_template() {
        return Vec::new();
    }
    // Helm adds this label to what it applies.
    let is_helms = is_managed_by_helm(&live.workload.object) && label(desired, MANAGED_BY).is_none();
    let outside = |object: &Value| {
        let (mut object, mut metadata) = (object.clone(), written_metadata(object));
        if is_helms {
            json_patch::merge(&mut metadata, &json!({"labels": {MANAGED_BY: null}}));
        }
        if let Value::Object(map) = &mut object {
            map.shift_remove("status");
            map.insert("metadata".into(), metadata);
            if let Some(Value::Object(spec)) = map.get_mut("spec") {
                spec.shift_remove("template");
                // A change of these is refused, not left out.
                spec.shift_remove("volumeClaimTemplates");
            }
        }
        object
    };
    template::changed_paths(&outside(&live.workload.object), &outside(desired), "")
}

pub(super) struct Context<'a> {
    pub(super) live: &'a Snapshot,
    pub(super) known: &'a Known,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) revision: CurrentRevision<'a>,
    pub(super) durable: bool,
    /// The owner's update strategy, as it is once no rollout holds it.
    pub(super) strategy: Option<Value>,
    pub(super) options: &'a Options,
}

impl Context<'_> {
    pub(super) fn drains(&self) -> bool {
        self.options.drain != Some(DrainBy::None)
    }

    /// Returns how many pods keep the template before; 0 for kinds without a partition.
    pub(super) fn partition(&self) -> i64 {
        let strategy = self.strategy.as_ref().filter(|_| self.live.workload.reference.kind.has_partition());
        strategy.map_or(0, kinds::partition_of)
    }

    /// Returns whether a durable rollout leaves the pod unchanged.
    pub(super) fn is_below_partition(&self, pod: &Pod) -> bool {
        let is_below = |strategy| stateful_set::is_below_partition(strategy, &self.live.workload.object, &pod.key.name);
        self.partition() > 0 && self.strategy.as_ref().is_some_and(is_below)
    }

    pub(super) fn is_chosen(&self, pod: &Pod) -> bool {
        let subset = &self.options.subset;
        let ordinal = || pod.key.name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse::<u32>().ok());
        (subset.pods.is_empty() || subset.pods.contains(&pod.key.name))
            && subset.node.as_ref().is_none_or(|node| *node == pod.spec.node_name)
            && subset.partition.is_none_or(|lowest| ordinal().is_none_or(|ordinal| ordinal >= lowest))
    }
}

/// The containers that exist: the template's first, then those that only pods have.
pub(super) struct Known {
    pub(super) containers: Vec<(ContainerName, ContainerList)>,
    pub(super) template: BTreeMap<ContainerName, Container>,
}

impl Known {
    pub(super) fn of(live: &Snapshot) -> Self {
        let mut known = Self { containers: Vec::new(), template: BTreeMap::new() };
        let mut seen: BTreeSet<ContainerName> = BTreeSet::new();
        for list in ContainerList::ALL {
            let template = template_containers(live.workload.template()).into_iter();
            for (_, container) in template.filter(|(its, _)| *its == list) {
                if seen.insert(container.name.clone()) {
                    known.containers.push((container.name.clone(), list));
                    known.template.insert(container.name.clone(), container);
                }
            }
            for container in live.pods.iter().flat_map(|pod| pod.containers(list)) {
                if !seen.contains(&container.name) {
                    seen.insert(container.name.clone());
                    known.containers.push((container.name.clone(), list));
                }
            }
        }
        known
    }

    pub(super) fn list(&self, name: &ContainerName) -> Option<ContainerList> {
        self.containers.iter().find(|(known, _)| known == name).map(|(_, list)| *list)
    }

    pub(super) fn not_found(&self, name: &ContainerName) -> Option<Reason> {
        if self.list(name).is_some() {
            return None;
        }
        let known: Vec<ContainerName> = self.containers.iter().map(|(name, _)| name.clone()).collect();
        Some(Reason::container_not_found(name, &known))
    }
}

/// The containers of a template that can be read.
pub(super) fn template_containers(template: &Value) -> Vec<(ContainerList, Container)> {
    let of_list = |list: ContainerList| {
        let containers = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let read = |container: &Value| serde_json::from_value(container.clone()).ok();
        containers.into_iter().flatten().filter_map(read).map(move |container| (list, container))
    };
    ContainerList::ALL.into_iter().flat_map(of_list).collect()
}

/// Images that differ from pod to pod. They are no change of the owner's template.
#[derive(Default)]
pub(super) struct ByPod {
    /// A restart with the same images; else back to what each pod recorded before an update of pods alone.
    pub(super) is_restart: bool,
    /// The images stay, and kruise-daemon restarts the containers.
    pub(super) is_by_request: bool,
    pub(super) containers: BTreeSet<ContainerName>,
    pub(super) images: BTreeMap<PodKey, BTreeMap<ContainerName, String>>,
    /// cpu and memory, by pod.
    pub(super) resources: BTreeMap<PodKey, FieldChanges>,
    pub(super) reasons: BTreeMap<PodKey, Vec<Reason>>,
}

impl ByPod {
    /// Notes the image that a container of a pod gets, or why it gets none.
    pub(super) fn note(&mut self, pod: &Pod, name: &ContainerName, image: Result<String, Reason>) {
        match image {
            Ok(image) => drop(self.images.entry(pod.key.clone()).or_default().insert(name.clone(), image)),
            Err(reason) => self.reasons.entry(pod.key.clone()).or_default().push(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::metadata::LAST_APPLIED;

    #[test]
    fn the_notes_in_an_exported_manifest_are_no_change() {
        let noted = |note: &str| {
            let metadata = json!({"labels": {"app": "web", "kubectl-inplace.io/beat": note}, "annotations": {
                "team": "a", "kubectl-inplace.io/update": note, LAST_APPLIED: note}});
            json!({"metadata": metadata, "spec": {"containers": []}})
        };
        let kind = kinds::PODS;
        assert_eq!(bare(kind, &noted("old")), bare(kind, &noted("new")));
        let left = bare(kind, &noted("old"));
        assert_eq!(left["metadata"], json!({"labels": {"app": "web"}, "annotations": {"team": "a"}}));
        // What is no note is one.
        let mut other = noted("old");
        other["metadata"]["annotations"]["team"] = "b".into();
        assert_ne!(bare(kind, &other), left);
    }
}
