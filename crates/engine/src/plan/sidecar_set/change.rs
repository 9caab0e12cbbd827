//! What is asked of a SidecarSet: its images, and what of it cannot reach a running pod.

use serde_json::Value;

use super::Found;
use super::course::{HASH, sidecars};
use super::hot::{is_hot, names_in_pods};
use crate::change::new_images;
use crate::change::reason::{Reason, Warning};
use crate::change::target::Images;
use crate::k8s::names::ContainerName;
use crate::k8s::operations::Operations;
use crate::k8s::pod::{ContainerList, Pod};
use crate::k8s::restart::pinned_image;
use crate::k8s::workload::Workload;
use crate::plan::{Intent, Manifest};
use crate::state::durable::{ObjectKey, ObjectKind, ObjectWrite};
use crate::state::unpulled::cannot_be_pulled;
use crate::value::json_path::{element, join, text};

/// One image of a SidecarSet that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Image {
    list: ContainerList,
    index: usize,
    name: ContainerName,
    from: String,
    to: String,
}

/// Returns the word that sets the image of a sidecar back, as `apply` takes it; none where a pod shows that it cannot be pulled.
/// After a hot upgrade that has failed it has to be another text: what still runs has that one.
pub(super) fn word_back(found: &Found, name: &str, image: &str) -> Option<String> {
    let sidecar = sidecars(&found.live.workload.object).find(|sidecar| text(sidecar, "/name") == name);
    let names = sidecar.map_or_else(|| vec![name.to_owned()], names_in_pods);
    let names: Vec<ContainerName> = names.iter().map(|name| name.as_str().into()).collect();
    if names.iter().any(|name| cannot_be_pulled(&found.live.pods, name, image)) {
        return None;
    }
    let pinned = |pod: &Pod| {
        let found = names.iter().filter_map(|name| pod.spec_of(name).zip(pod.status_of(name)));
        let mut runs = found.filter(|(container, status)| container.image == image && status.state.running.is_some());
        runs.find_map(|(_, status)| pinned_image(image, &status.image_id, None).ok())
    };
    let another = if sidecar.is_some_and(is_hot) { found.live.pods.iter().find_map(pinned) } else { None };
    Some(format!("{name}={}", another.as_deref().unwrap_or(image)))
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    images: Vec<Image>,
    /// Why it is refused whatever the pods are.
    pub reasons: Vec<Reason>,
    pub warnings: Vec<Warning>,
}

impl Change {
    /// Reads what is wanted; of a manifest it is what the server would store.
    pub fn of(set: &Workload, intent: &Intent) -> Self {
        match intent {
            Intent::Images(images) => Self::of_images(set, images),
            Intent::Manifest(Manifest::Stored { object, removals_unseen }) => {
                let unseen = removals_unseen.then_some(Warning::RemovalsUnseen);
                let mut change = Self::of_object(set, object);
                change.warnings.extend(unseen);
                change
            }
            Intent::Manifest(Manifest::Refused { message }) => {
                let refused = Reason::AdmissionRefused { message: message.clone(), others: Vec::new() };
                Self { reasons: vec![refused], ..Self::default() }
            }
            Intent::None | Intent::Manifest(Manifest::Given { .. }) | Intent::Undo { .. } | Intent::Restart { .. } => {
                Self::default()
            }
        }
    }

    fn of_images(set: &Workload, images: &Images) -> Self {
        let mut object = set.object.clone();
        let put = object.get_mut("spec").map_or(Ok(()), |spec| new_images::put(spec, images));
        let reasons = put.err().unwrap_or_default();
        Self { images: changed(&set.object, &object), reasons, warnings: Vec::new() }
    }

    fn of_object(set: &Workload, object: &Value) -> Self {
        let reasons = differing(&set.object, object).into_iter().map(|path| Reason::SidecarFieldDiffers { path });
        let paths = outside(&set.object, object);
        let outside = (!paths.is_empty()).then_some(Warning::OutsideTemplate { paths });
        let (images, warnings) = (changed(&set.object, object), outside.into_iter().collect());
        Self { images, reasons: reasons.collect(), warnings }
    }

    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Returns the write of the images: one patch, of exactly the SidecarSet that was read.
    pub fn write(&self, set: &Workload) -> ObjectWrite {
        let mut operations = Operations::default();
        let generation = set.object.pointer("/metadata/generation").cloned().unwrap_or(Value::Null);
        operations.test(["metadata", "uid"], set.uid.as_str().into());
        // What the plan says rests on the whole of it, such as the strategy.
        operations.test(["metadata", "generation"], generation);
        for Image { list, index, name, from, to } in &self.images {
            let index = index.to_string();
            let path = |field| ["spec", list.spec_field(), index.as_str(), field];
            operations.test(path("name"), name.as_str().into());
            operations.test(path("image"), from.as_str().into());
            operations.replace(path("image"), to.as_str().into());
        }
        let object = ObjectKey::of(ObjectKind::Workload(set.reference.kind), &set.object);
        ObjectWrite::Patch { object, operations: operations.into_list() }
    }

    /// Returns the SidecarSet with the images, as it is without its webhook: what that notes is not known.
    pub fn applied(&self, set: &Workload) -> Value {
        let mut object = set.object.clone();
        for Image { list, index, to, .. } in &self.images {
            let path = format!("/spec/{}/{index}/image", list.spec_field());
            object.pointer_mut(&path).into_iter().for_each(|image| *image = to.as_str().into());
        }
        let annotations = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        annotations.filter(|_| !self.is_empty()).and_then(|annotations| annotations.remove(HASH));
        object
    }

    /// Returns the words that set the images back, as `apply` takes them; none where a pod shows that one cannot be pulled.
    pub fn words_back(&self, found: &Found) -> Vec<String> {
        let words = self.images.iter().map(|image| word_back(found, image.name.as_str(), &image.from));
        words.collect::<Option<_>>().unwrap_or_default()
    }
}

fn list<'o>(object: &'o Value, list: ContainerList) -> impl Iterator<Item = (usize, &'o Value)> {
    let containers = object.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
    containers.into_iter().flatten().enumerate()
}

fn named<'o>(object: &'o Value, of: ContainerList, name: &str) -> Option<&'o Value> {
    list(object, of).map(|(_, container)| container).find(|container| text(container, "/name") == name)
}

fn changed(before: &Value, after: &Value) -> Vec<Image> {
    let of_list = |of: ContainerList| {
        list(before, of).filter_map(move |(index, container)| {
            let name = text(container, "/name");
            let (from, to) = (text(container, "/image"), text(named(after, of, name)?, "/image"));
            let (from, to) = (from.to_owned(), to.to_owned());
            (from != to).then(|| Image { list: of, index, name: name.into(), from, to })
        })
    };
    ContainerList::ALL.into_iter().flat_map(of_list).collect()
}

/// Returns the fields of the sidecars, besides images, that one has otherwise than the other: the controller gives them to no
/// running pod. Init containers count where one of them is a sidecar (`encodeSidecarSet`).
pub(super) fn differing(before: &Value, after: &Value) -> Vec<String> {
    let is_sidecar = |(_, container): (usize, &Value)| text(container, "/restartPolicy") == "Always";
    let has_sidecar = [before, after].into_iter().any(|set| list(set, ContainerList::InitContainers).any(is_sidecar));
    let lists = ContainerList::ALL.into_iter().filter(|of| *of == ContainerList::Containers || has_sidecar);
    lists.flat_map(|of| differing_in(before, after, of)).collect()
}

fn differing_in(before: &Value, after: &Value, of: ContainerList) -> Vec<String> {
    let place = |name: &str| element(&format!("spec.{}", of.spec_field()), name);
    let mut paths = Vec::new();
    for (_, container) in list(before, of).chain(list(after, of)) {
        let name = text(container, "/name");
        let (Some(old), Some(new)) = (named(before, of, name), named(after, of, name)) else {
            paths.push(place(name));
            continue;
        };
        let keys = [old, new].into_iter().filter_map(Value::as_object).flat_map(|fields| fields.keys());
        let differs = |key: &&String| key.as_str() != "image" && old.get(key.as_str()) != new.get(key.as_str());
        paths.extend(keys.filter(differs).map(|key| join(&place(name), key)));
    }
    paths.sort();
    paths.dedup();
    paths
}

/// What else of the spec differs: this program does not write it.
fn outside(before: &Value, after: &Value) -> Vec<String> {
    let spec = |object: &Value| object.get("spec").cloned().unwrap_or_default();
    let (old, new) = (spec(before), spec(after));
    let keys = [&old, &new].into_iter().filter_map(|spec| spec.as_object()).flat_map(|fields| fields.keys().cloned());
    let mut keys: Vec<String> = keys.filter(|key| old.get(key) != new.get(key)).collect();
    keys.sort();
    keys.dedup();
    let of_init = differing_in(before, after, ContainerList::InitContainers);
    let mut paths: Vec<String> =
        keys.into_iter().filter(|key| !key.ends_with("ontainers")).map(|key| join("spec", &key)).collect();
    if differing(before, after).is_empty() {
        paths.extend(of_init);
    }
    paths
}
