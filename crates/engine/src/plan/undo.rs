//! What `undo` goes back to: what was recorded before an update in place.

use std::collections::BTreeMap;

use serde_json::Value;

use super::held::known;
use super::wanted::ByPod;
use crate::change::reason::Reason;
use crate::change::{Change, FieldChanges, Row, TemplateImage, image_in, list_in};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{ContainerList, Pod};
use crate::plan::intent::IntentError;
use crate::plan::live::Snapshot;
use crate::plan::updates::{Update, updates};
use crate::state::durable::history::HistoryEntry;
use crate::state::durable::lock::Lock;
use crate::state::outcome::EndResult;
use crate::state::record::{ContainerRecord, UpdateRecord};
use crate::value::image::{ImageReference, repo_digest};

/// Returns the update that `undo` takes back.
pub fn undone(live: &Snapshot, to: Option<&str>) -> Result<Option<Update>, IntentError> {
    let id = match chosen(live, to)? {
        Chosen::Rollout(entry) => entry.rollout.id,
        Chosen::PodsOnly(id) => id,
    };
    Ok(updates(live).updates.into_iter().find(|update| update.id == id))
}

pub(super) enum Chosen {
    /// Of the template and its pods: it is undone in the template.
    Rollout(Box<HistoryEntry>),
    /// Of pods alone: it is undone pod by pod, from what each recorded, and nothing of the owner changes.
    PodsOnly(RolloutId),
}

/// Chooses the update that is taken back: the last one, or the one named.
pub(super) fn chosen(live: &Snapshot, to: Option<&str>) -> Result<Chosen, IntentError> {
    let mut entries = known(live);
    let records = pods_only(live, &entries);
    // A rollout that only removed leftovers has changed nothing that could be taken back.
    entries.retain(|entry| !entry.rollout.change.images.is_empty() || !entry.rollout.change.fields.is_empty());
    let Some(to) = to else {
        let last = entries.last().map(|last| (last.rollout.id.to_string(), last.outcome));
        // A rollout that somebody else's template has overwritten is nothing to go back from.
        entries.retain(|entry| {
            let is_overwritten = || entry.outcome == EndResult::Superseded && is_in_force(live, entry).is_err();
            entry.outcome != EndResult::Aborted && !is_overwritten()
        });
        // A restart has changed nothing: the way back from the update before it is still valid.
        let is_passed_over = |pods: &[(&Pod, UpdateRecord)]| !entries.is_empty() && is_restart(pods);
        let newest =
            records.iter().filter(|(_, pods)| !is_passed_over(pods)).map(|(id, pods)| (set_at(pods), id)).max();
        let record = newest.map(|(at, id)| (at, id.clone()));
        return match (entries.pop(), record) {
            (Some(last), Some((at, id))) if is_later(at.as_deref(), &id, &last) => of_pods(live, &records, id),
            (Some(last), _) => is_in_force(live, &last).map(|()| Chosen::Rollout(Box::new(last))),
            (None, Some((_, id))) => of_pods(live, &records, id),
            (None, None) => Err(match last {
                Some((id, EndResult::Aborted)) => IntentError::NothingLeft { id, became: "was rolled back already" },
                Some((id, _)) => IntentError::NothingLeft { id, became: "was superseded by another client's template" },
                None => IntentError::NothingRecorded,
            }),
        };
    };
    if let Some(entry) = entries.iter().find(|entry| entry.rollout.id.as_str() == to) {
        return Ok(Chosen::Rollout(Box::new(entry.clone())));
    }
    if let Some(id) = records.keys().find(|id| id.as_str() == to) {
        return of_pods(live, &records, id.clone());
    }
    let known = entries.iter().map(|entry| &entry.rollout.id).chain(records.keys());
    let known: Vec<String> = known.map(|id| format!("\"{id}\"")).collect();
    match known.is_empty() {
        true => Err(IntentError::NothingRecorded),
        false => Err(IntentError::NotRecorded { id: to.to_owned(), known: known.join(", ") }),
    }
}

/// An update that only pods have recorded. One of a template whose lock is gone is no update of pods alone.
fn of_pods(live: &Snapshot, records: &Records<'_>, id: RolloutId) -> Result<Chosen, IntentError> {
    let is_held = matches!(Lock::of(&live.workload.object), Ok(Some(lock)) if lock.rollout.id == id);
    let is_durable = records.get(&id).is_some_and(|pods| pods.iter().any(|(_, record)| record.durable));
    if is_durable && !is_held {
        return Err(IntentError::EndNotRecorded { id: id.to_string() });
    }
    Ok(Chosen::PodsOnly(id))
}

/// Whether the pods' records are only of restarts with the digest that ran.
fn is_restart(pods: &[(&Pod, UpdateRecord)]) -> bool {
    pods.iter().all(|(_, record)| {
        let is_the_same = |container: &ContainerRecord| {
            let to = ImageReference::parse(&container.to).ok();
            let digest = to.as_ref().and_then(|to| to.digest());
            digest.is_some() && digest == repo_digest(&container.image_id)
        };
        record.resized.is_empty() && record.containers.values().all(is_the_same)
    })
}

/// Whether an update of pods alone came after a rollout: by the server's times, else by the ids, which are their clients'.
fn is_later(at: Option<&str>, id: &RolloutId, rollout: &HistoryEntry) -> bool {
    at.map_or(rollout.rollout.id < *id, |at| at >= rollout.ended.as_str())
}

/// When an update of pods alone was made, by the server's clock, where the pods show it.
fn set_at(pods: &[(&Pod, UpdateRecord)]) -> Option<String> {
    let images = pods.iter().flat_map(|(pod, record)| record.containers.keys().map(|name| pod.image_set.get(name)));
    let resized = pods.iter().flat_map(|(pod, record)| record.resized.keys().map(|holder| pod.resized.get(holder)));
    let times = images.flatten().map(|set| &set.time).chain(resized.flatten().map(|resized| &resized.at));
    times.filter(|time| !time.is_empty()).max().cloned()
}

/// Whether the template still has what a rollout set: only that can be taken back.
fn is_in_force(live: &Snapshot, entry: &HistoryEntry) -> Result<(), IntentError> {
    let template = live.workload.template();
    let changed = |what: String, to: &str, now: &str| IntentError::ChangedSince {
        id: entry.rollout.id.to_string(),
        what,
        to: to.to_owned(),
        now: now.to_owned(),
    };
    for (name, image) in &entry.rollout.change.images {
        let now = image_in(template, name).unwrap_or_default();
        if now != image.to {
            return Err(changed(format!("container {name}"), &image.to, now));
        }
    }
    match entry.rollout.change.fields.first_changed_since(template) {
        Some(Row { what, before: now, after: to, .. }) => {
            Err(changed(what, &to.unwrap_or_default(), &now.unwrap_or_default()))
        }
        None => Ok(()),
    }
}

type Records<'l> = BTreeMap<RolloutId, Vec<(&'l Pod, UpdateRecord)>>;

/// The records of the pods that are not in the history, by rollout.
fn pods_only<'l>(live: &'l Snapshot, entries: &[HistoryEntry]) -> Records<'l> {
    let mut records = Records::new();
    for pod in &live.pods {
        // A record that says that the pod is drained, was taken over, or restarted by request, is of no change.
        let Some(record) = UpdateRecord::complete(pod).filter(UpdateRecord::changes_pods) else { continue };
        if !entries.iter().any(|entry| entry.rollout.id == record.id) {
            records.entry(record.id.clone()).or_default().push((pod, record));
        }
    }
    records
}

/// Returns the whole object as it was before, or why it is not known; pods keep what cannot be removed from them.
pub(super) fn template(live: &Snapshot, entry: &HistoryEntry, pin_digest: bool) -> Result<Value, Vec<Reason>> {
    let template = live.workload.template();
    let mut change = Change { images: BTreeMap::new(), fields: entry.rollout.change.fields.clone() };
    change = change.reversed();
    let mut reasons = Vec::new();
    for (name, image) in &entry.rollout.change.images {
        let Some(list) = list_in(template, name) else { continue };
        match back_to(list, name, &image.from, entry.rollout.digests.get(name).map(String::as_str), pin_digest) {
            Ok(to) => {
                let image = TemplateImage { list, from: image.to.clone(), to, ..TemplateImage::default() };
                change.images.insert(name.clone(), image);
            }
            Err(reason) => reasons.push(reason),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut object = live.workload.object.clone();
    let pointer = live.workload.reference.kind.template_pointer();
    if let (Some(slot), Some(before)) = (object.pointer_mut(pointer), change.apply(template)) {
        *slot = before;
    }
    Ok(object)
}

/// Returns what the pods recorded before an update of them alone.
pub(super) fn recorded(live: &Snapshot, id: &RolloutId, pin_digest: bool) -> Result<ByPod, IntentError> {
    let mut wanted = ByPod::default();
    for pod in &live.pods {
        let Some(record) = UpdateRecord::of_rollout(pod, id) else { continue };
        for (name, container) in &record.containers {
            // Somebody has set another image since: that no longer belongs to this update.
            let (Some(_), Some((list, _, _))) = (record.container(pod, name), pod.container(name)) else { continue };
            let digest = Some(container.image_id.as_str()).filter(|id| !id.is_empty());
            wanted.note(pod, name, back_to(list, name, &container.from, digest, pin_digest));
        }
        let resources = FieldChanges::from(record.resources().in_force(pod)).reversed();
        if !resources.is_empty() {
            wanted.resources.insert(pod.key.clone(), resources);
        }
    }
    let has_any = !wanted.images.is_empty() || !wanted.resources.is_empty() || !wanted.reasons.is_empty();
    if has_any { Ok(wanted) } else { Err(IntentError::PodsChangedSince { id: id.to_string() }) }
}

/// The image before, with the digest that ran where that is asked for: the tag may have moved since.
fn back_to(
    list: ContainerList,
    name: &ContainerName,
    image: &str,
    image_id: Option<&str>,
    pin_digest: bool,
) -> Result<String, Reason> {
    if !pin_digest || image.contains('@') {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What has a digest of any algorithm is pinned as it is.
    #[test]
    fn an_image_is_pinned_to_the_digest_that_ran_unless_it_has_one() {
        let id = format!("acme/side@sha256:{}", "1".repeat(64));
        let own = ["acme/side:1@sha256:ab", "acme/side@sha512:ab", "acme/side:1@sha384:ab"];
        for (image, expected) in own
            .map(|own| (own, own.to_owned()))
            .into_iter()
            .chain([("acme/side:1", format!("acme/side:1@sha256:{}", "1".repeat(64)))])
        {
            let back = back_to(ContainerList::Containers, &"side".into(), image, Some(&id), true);
            assert_eq!(back, Ok(expected), "{image}");
        }
    }
}
