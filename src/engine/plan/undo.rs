//! What `undo` goes back to: the images recorded before an update in place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::live::{ByPod, Desired, LiveWorkload, Purpose};
use crate::engine::durable::change::{TemplateChange, TemplateImage};
use crate::engine::durable::history::{self, HistoryEntry};
use crate::engine::image::repo_digest;
use crate::engine::names::{ContainerName, RolloutId};
use crate::engine::outcome::EndResult;
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::reason::Reason;
use crate::engine::record::UpdateRecord;

/// Why there is nothing to go back to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// No update in place is recorded.
    #[error("no update in place is recorded")]
    NothingRecorded,
    /// The id is not recorded.
    #[error("no update {id} is recorded; recorded are: {known}")]
    NotRecorded {
        /// As given.
        id: String,
        /// What is, separated by commas.
        known: String,
    },
}

/// Returns what is wanted of a workload that goes back to what it was before an update: the last one, or the one named.
///
/// A rollout of the template is undone in the template; an update of pods alone, pod by pod from what each recorded.
///
/// # Errors
/// When nothing fitting is recorded.
pub fn undo(live: &LiveWorkload, to: Option<&str>, pin_digest: bool) -> Result<Desired, UndoError> {
    let objects = std::iter::once(&live.workload.object).chain(&live.surroundings.owned);
    let entries = history::union(objects);
    let done = || entries.iter().filter(|entry| entry.outcome != EndResult::Aborted);
    let records = pods_only(live, &entries);
    let newest_record = records.keys().max();
    let Some(to) = to else {
        let last = done().next_back();
        return match (last, newest_record) {
            (Some(last), Some(record)) if last.id < *record => Ok(recorded(live, record, pin_digest)),
            (Some(last), _) => Ok(template(live, last, pin_digest)),
            (None, Some(record)) => Ok(recorded(live, record, pin_digest)),
            (None, None) => Err(UndoError::NothingRecorded),
        };
    };
    if let Some(entry) = entries.iter().find(|entry| entry.id.as_str() == to) {
        return Ok(template(live, entry, pin_digest));
    }
    if let Some(id) = records.keys().find(|id| id.as_str() == to) {
        return Ok(recorded(live, id, pin_digest));
    }
    let known: Vec<&str> = entries.iter().map(|entry| &entry.id).chain(records.keys()).map(RolloutId::as_str).collect();
    match known.is_empty() {
        true => Err(UndoError::NothingRecorded),
        false => Err(UndoError::NotRecorded { id: to.to_owned(), known: known.join(", ") }),
    }
}

/// The records of the pods that no history tells of, by rollout.
fn pods_only<'l>(
    live: &'l LiveWorkload,
    entries: &[HistoryEntry],
) -> BTreeMap<RolloutId, Vec<(&'l Pod, UpdateRecord)>> {
    let mut records: BTreeMap<RolloutId, Vec<(&Pod, UpdateRecord)>> = BTreeMap::new();
    for pod in &live.pods {
        let Some(record) = UpdateRecord::of(pod) else { continue };
        if !entries.iter().any(|entry| entry.id == record.id) {
            records.entry(record.id.clone()).or_default().push((pod, record));
        }
    }
    records
}

fn template(live: &LiveWorkload, entry: &HistoryEntry, pin_digest: bool) -> Desired {
    let template = live.workload.template();
    let mut change = TemplateChange { images: BTreeMap::new(), metadata: entry.metadata.clone() };
    change = change.reversed();
    let mut reasons = Vec::new();
    for (name, image) in &entry.containers {
        let Some(list) = list_of(template, name) else { continue };
        match back_to(list, name, &image.from, image.image_id.as_deref(), pin_digest) {
            Ok(to) => drop(change.images.insert(name.clone(), TemplateImage { list, from: image.to.clone(), to })),
            Err(reason) => reasons.push(reason),
        }
    }
    if !reasons.is_empty() {
        return Desired::Unknown { reasons };
    }
    let mut object = live.workload.object.clone();
    let pointer = live.workload.reference.kind.template_pointer();
    if let (Some(slot), Some(before)) = (object.pointer_mut(pointer), change.apply(template)) {
        *slot = before;
    }
    Desired::Object { object, removals_unseen: false }
}

fn list_of(template: &Value, name: &ContainerName) -> Option<ContainerList> {
    [ContainerList::Containers, ContainerList::InitContainers].into_iter().find(|list| {
        let containers = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let mut containers = containers.into_iter().flatten();
        containers.any(|container| container.get("name").and_then(Value::as_str) == Some(name.as_str()))
    })
}

fn recorded(live: &LiveWorkload, id: &RolloutId, pin_digest: bool) -> Desired {
    let (containers, warnings) = (BTreeSet::new(), Vec::new());
    let (images, reasons) = (BTreeMap::new(), BTreeMap::new());
    let mut wanted = ByPod { purpose: Purpose::Undo, containers, images, reasons, warnings };
    for pod in &live.pods {
        let Some(record) = UpdateRecord::of(pod).filter(|record| record.id == *id) else { continue };
        for (name, container) in &record.containers {
            // Somebody has set another image since: that is not this update's any more.
            let (Some(_), Some((list, _, _))) = (record.container(pod, name), pod.container(name)) else { continue };
            let digest = Some(container.image_id.as_str()).filter(|id| !id.is_empty());
            match back_to(list, name, &container.from, digest, pin_digest) {
                Ok(to) => drop(wanted.images.entry(pod.key.clone()).or_default().insert(name.clone(), to)),
                Err(reason) => wanted.reasons.entry(pod.key.clone()).or_default().push(reason),
            }
        }
    }
    Desired::ByPod(wanted)
}

/// The image before, with the digest that ran where that is asked for: what a tag names may have moved since.
fn back_to(
    list: ContainerList,
    name: &ContainerName,
    image: &str,
    image_id: Option<&str>,
    pin_digest: bool,
) -> Result<String, Reason> {
    if !pin_digest || image.contains("@sha256:") {
        return Ok(image.to_owned());
    }
    let why = || match image_id {
        None => format!("none was recorded when {image} ran"),
        Some(id) => format!("what was recorded when {image} ran ({id}) is not one that a registry knows"),
    };
    let unknown = || Reason::DigestUnknown { list, container: name.clone(), why: why() };
    let digest = image_id.and_then(repo_digest).ok_or_else(unknown)?;
    Ok(format!("{image}@{digest}"))
}
