//! What `undo` goes back to: the images recorded before an update in place.

use std::collections::BTreeMap;

use serde_json::Value;

use super::live::{Desired, LiveWorkload};
use crate::engine::durable::change::{TemplateChange, TemplateImage};
use crate::engine::durable::history::{self, HistoryEntry};
use crate::engine::names::{ContainerName, RolloutId};
use crate::engine::outcome::EndResult;
use crate::engine::pod::{ContainerList, Pod};
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
    /// The digest was not recorded.
    #[error("no digest is recorded for the image of container {container}")]
    DigestUnknown {
        /// The container.
        container: ContainerName,
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
            (Some(last), Some(record)) if last.id < *record => recorded(live, record, pin_digest),
            (Some(last), _) => template(live, last, pin_digest),
            (None, Some(record)) => recorded(live, record, pin_digest),
            (None, None) => Err(UndoError::NothingRecorded),
        };
    };
    if let Some(entry) = entries.iter().find(|entry| entry.id.as_str() == to) {
        return template(live, entry, pin_digest);
    }
    if let Some(id) = records.keys().find(|id| id.as_str() == to) {
        return recorded(live, id, pin_digest);
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

fn template(live: &LiveWorkload, entry: &HistoryEntry, pin_digest: bool) -> Result<Desired, UndoError> {
    let template = live.workload.template();
    let mut change = TemplateChange { images: BTreeMap::new(), metadata: entry.metadata.clone() };
    change = change.reversed();
    for (name, image) in &entry.containers {
        let Some(list) = list_of(template, name) else { continue };
        let digest = image.image_id.as_deref();
        let to = if pin_digest { pinned(name, &image.from, digest)? } else { image.from.clone() };
        change.images.insert(name.clone(), TemplateImage { list, from: image.to.clone(), to });
    }
    let mut object = live.workload.object.clone();
    let pointer = live.workload.reference.kind.template_pointer();
    if let (Some(slot), Some(before)) = (object.pointer_mut(pointer), change.apply(template)) {
        *slot = before;
    }
    Ok(Desired::Object { object, removals_unseen: false })
}

fn list_of(template: &Value, name: &ContainerName) -> Option<ContainerList> {
    [ContainerList::Containers, ContainerList::InitContainers].into_iter().find(|list| {
        let containers = template.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let mut containers = containers.into_iter().flatten();
        containers.any(|container| container.get("name").and_then(Value::as_str) == Some(name.as_str()))
    })
}

fn recorded(live: &LiveWorkload, id: &RolloutId, pin_digest: bool) -> Result<Desired, UndoError> {
    let mut wanted = BTreeMap::new();
    for pod in &live.pods {
        let Some(record) = UpdateRecord::of(pod).filter(|record| record.id == *id) else { continue };
        let mut images = BTreeMap::new();
        for (name, container) in &record.containers {
            // Somebody has set another image since: that is not this update's any more.
            if record.container(pod, name).is_none() {
                continue;
            }
            let digest = Some(container.image_id.as_str()).filter(|id| !id.is_empty());
            let to = if pin_digest { pinned(name, &container.from, digest)? } else { container.from.clone() };
            images.insert(name.clone(), to);
        }
        wanted.insert(pod.key.clone(), images);
    }
    Ok(Desired::Recorded { id: id.clone(), images: wanted })
}

/// The image with the digest that ran: what a tag names may have moved since.
fn pinned(name: &ContainerName, image: &str, image_id: Option<&str>) -> Result<String, UndoError> {
    if image.contains("@sha256:") {
        return Ok(image.to_owned());
    }
    let digest = image_id.and_then(|id| id.rsplit_once('@')).map(|(_, digest)| digest);
    let digest = digest.filter(|digest| digest.starts_with("sha256:"));
    let digest = digest.ok_or_else(|| UndoError::DigestUnknown { container: name.clone() })?;
    Ok(format!("{image}@{digest}"))
}
