//! A rollout whose lock is gone or leads nowhere: it is found again in a copy that a controller has made, or the template
//! that is there now is brought to the pods. A lock is never derived from pods, revisions and history.
//!
//! A Deployment's controller copies the lock to the current ReplicaSet, those of StatefulSets and DaemonSets to the
//! revision that they create.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::durable::history_of;
use super::held::{is_held_back, is_older_than_all, is_stale, known, newest_copy, strategy};
use super::policy::policy_of;
use super::resume::Start;
use super::rollout_state::present_lock;
use crate::change::template::TemplateDiff;
use crate::change::{self, Change, Difference, Direction, TemplateImage, same};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::{ContainerList, Pod};
use crate::kinds::{self, CONTROLLER_REVISION_HASH, Revisions};
use crate::plan::live::{Options, Snapshot};
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::{HistoryStep, RevisionRef, Rollout};
use crate::state::durable::{deployment, revisions, template_of_revision};
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

/// Returns the lock of a rollout that has not ended, from a copy that a controller has made.
pub(super) fn lock_from_copy(live: &Snapshot) -> Option<Lock> {
    let template = live.workload.template();
    let is_current = |object: &Value| match live.workload.reference.kind.revisions() {
        // A copy stays on a ReplicaSet that others have scaled down since: its rollout is over.
        Revisions::ReplicaSets => revision_of_pods(live).is_some_and(|current| std::ptr::eq(current, object)),
        // Copies in revisions stay for ever: only that of the template that is wanted now may be of use.
        Revisions::ControllerRevisions(_) => same(&revisions::template_of(object), template),
        Revisions::None => false,
    };
    newest_copy(live, |object, lock| {
        is_current(object) && lock.rollout.change.before_after(template).is_some() && is_unsettled(live, lock)
    })
}

/// Returns whether the metadata of what a workload owns may hold a rollout that its own annotations do not.
pub fn may_be_left(live: &Snapshot) -> bool {
    Lock::text_of(&live.workload.object).is_none() && newest_copy(live, |_, _| true).is_some()
}

/// Whether the rollout still has something to do: the owner is held as a rollout holds it, or a pod lacks what it
/// brings. Somebody may have ended it in another way.
fn is_unsettled(live: &Snapshot, lock: &Lock) -> bool {
    let present = live.workload.object.pointer("/spec/updateStrategy");
    if let Some(before) = &lock.rollout.strategy {
        // Any other strategy is a user's.
        return present != Some(before) && is_held_back(live);
    }
    let change = lock.rollout.directed();
    let lacks = |pod: &Pod| {
        let mut images = change.images.iter();
        images.any(|(name, image)| pod.spec_of(name).is_some_and(|container| container.image != image.to))
    };
    // Where every pod of the rollout has it, its end may still have to be recorded; later pods of others do not belong
    // to it.
    let is_noted = |pod: &Pod| UpdateRecord::of(pod).is_some_and(|record| record.id == lock.rollout.id);
    is_held_back(live) || live.present_pods().any(|pod| lacks(pod) || is_noted(pod))
}

/// Returns the lock of a rollout that brings the template which is there now to the pods, whatever they have.
/// Else why that template cannot be brought to them in place, or that they have it.
pub(super) fn to_template(live: &Snapshot, start: &Start) -> Result<Lock, &'static str> {
    let workload = &live.workload;
    let kind = workload.reference.kind;
    let (after, current) = (workload.template(), revision_of_pods(live));
    if kind.owns_through().is_some() && current.is_none() {
        return Err(MANY_REPLICA_SETS);
    }
    if kind.has_partition() && partition_is_raised(live) {
        return Err(PARTITION_IS_RAISED);
    }
    let of_current = current.map(|object| template_of_revision(kind, object));
    let before = of_current.as_ref().unwrap_or(after);
    if !leads_in_place(live, before, after) || !leads_from_all(live, after) {
        return Err(MORE_THAN_IN_PLACE);
    }
    let mut change = change::diff(before, after).change;
    for (name, image) in images_to_bring(live) {
        change.images.entry(name).or_insert(image);
    }
    for (name, image) in &mut change.images {
        image.to_in_pods = live.in_pods(name, &image.to).map(str::to_owned);
    }
    let is_locked = Lock::text_of(&workload.object).is_some();
    if change.is_empty() && !is_locked && !is_held_back(live) {
        return Err(NOTHING_LACKS);
    }
    let history = match current.filter(|_| kind.owns_through().is_some()) {
        Some(current) if !same(before, after) => history_of(workload, &live.surroundings.owned, current, after),
        Some(_) | None => HistoryStep::ByController,
    };
    let id = RolloutId::from(start.run.as_str());
    let reuses = revisions::newest_with(&live.surroundings.owned, after).filter(|_| kind.owns_through().is_none());
    let rollout = Rollout {
        change,
        strategy: strategy(live),
        outgoing: current.map(RevisionRef::of),
        history,
        reuses: reuses.map(|revision| revisions::name_of(revision).to_owned()),
        policy: policy_of(live, &Options::default()),
        replaced: history::replaced_by(&id, ended_here(live, start)),
        id,
        ..Rollout::default()
    };
    // A pause that is found after the rollout's own was lifted is somebody else's, and stays.
    let released = !is_held_back(live) || present_lock(live).is_some_and(|lock| lock.released);
    Ok(Lock { released, late: true, ..start.lock(rollout) })
}

/// Returns whether the template that is there now can be brought to the pods in place.
pub fn can_take_over(live: &Snapshot) -> bool {
    to_template(live, &Start::default()).is_ok()
}

const MANY_REPLICA_SETS: &str = "its pods are in more than one ReplicaSet: its controller is replacing them";

const MORE_THAN_IN_PLACE: &str = "its template differs from what its pods were made from in more than can be changed in place: set the template back, or let it roll out, which replaces pods";

const PARTITION_IS_RAISED: &str = "its partition is above every pod, as a rollout leaves it, and nothing tells what it was: set it back first with kubectl edit, and its controller updates the pods from there on";

const NOTHING_LACKS: &str = "its pods have its template, and nothing holds its controller back";

/// The history's entries of rollouts that end here unfinished: that of a lock, or of its copy, which can be read, and of pods' records.
pub(super) fn ended_here(live: &Snapshot, start: &Start) -> Vec<HistoryEntry> {
    let lock = Lock::of(&live.workload.object).ok().flatten().or_else(|| lock_from_copy(live));
    let lock = lock.filter(|lock| !is_stale(live, lock));
    let mut entries = lock.map(|lock| lock.rollout.superseded(&start.clock, &start.who)).unwrap_or_default();
    for record in unended(live) {
        if entries.iter().all(|entry| entry.rollout.id != record.id) {
            entries.push(entry_of(&record, &start.clock));
        }
    }
    entries
}

fn entry_of(record: &UpdateRecord, ended: &str) -> HistoryEntry {
    let images = record.containers.iter().map(|(name, noted)| {
        let (from, to) = (noted.from.clone(), noted.to.clone());
        (name.clone(), TemplateImage { from, to, ..TemplateImage::default() })
    });
    let rollout = Rollout {
        id: record.id.clone(),
        since: record.set_at.values().min().cloned().unwrap_or_default(),
        change: Change { images: images.collect(), ..Change::default() },
        ..Rollout::default()
    };
    rollout.entry(EndResult::Superseded, ended, "")
}

/// Under a partition above every pod no pod may be updated.
fn partition_is_raised(live: &Snapshot) -> bool {
    let partition = strategy(live).as_ref().map_or(0, kinds::partition_of);
    partition > 0 && partition >= i64::from(live.workload.desired_replicas())
}

/// Whether every pod can be changed in place from the template that it was created from to this one: none gets a
/// revision that it does not have.
fn leads_from_all(live: &Snapshot, template: &Value) -> bool {
    let kind = live.workload.reference.kind;
    let leads = |made_from: &Value| leads_in_place(live, &template_of_revision(kind, made_from), template);
    match kind.revisions() {
        Revisions::ReplicaSets | Revisions::None => revision_of_pods(live).is_none_or(leads),
        Revisions::ControllerRevisions(_) => with_pods(live).all(leads),
    }
}

/// Whether what differs between two templates of a workload can be brought into its pods in place.
fn leads_in_place(live: &Snapshot, before: &Value, after: &Value) -> bool {
    let Difference { change, qos, rest } = change::diff(before, after);
    let is_all = rest == TemplateDiff::default() && qos.is_none() && !change.asks_for_a_restart();
    is_all && change.refused(&live.workload, Direction::Forward).is_empty()
}

pub(super) fn with_pods(live: &Snapshot) -> impl Iterator<Item = &Value> {
    live.surroundings.owned.iter().filter(|revision| carriers(live, revision) > 0)
}

fn carriers(live: &Snapshot, revision: &Value) -> usize {
    let labels = live.present_pods().filter_map(|pod| pod.labels.get(CONTROLLER_REVISION_HASH));
    labels.filter(|label| **label == revisions::name_of(revision) || **label == revisions::hash_of(revision)).count()
}

/// What the pods were created from: the one ReplicaSet that has them, or the revision other than the template's that
/// most of them carry.
fn revision_of_pods(live: &Snapshot) -> Option<&Value> {
    match live.workload.reference.kind.revisions() {
        Revisions::ReplicaSets => {
            let mut with_pods = live.surroundings.owned.iter().filter(|set| !deployment::is_empty(set));
            with_pods.next().filter(|_| with_pods.next().is_none())
        }
        Revisions::ControllerRevisions(_) => {
            let template = live.workload.template();
            let others = with_pods(live).filter(|revision| !same(&revisions::template_of(revision), template));
            others.max_by_key(|revision| (carriers(live, revision), Reverse(revisions::number_of(revision))))
        }
        Revisions::None => None,
    }
}

/// What pods lack of the template's images, and what the records of unfinished rollouts have brought of them: that a pod
/// asks for an image proves nothing.
pub fn images_to_bring(live: &Snapshot) -> BTreeMap<ContainerName, TemplateImage> {
    let records = unended(live);
    let mut found = BTreeMap::new();
    for list in ContainerList::ALL {
        let containers = live.workload.template().pointer(&format!("/spec/{}", list.spec_field()));
        for container in containers.and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| container.get(key).and_then(Value::as_str);
            let (Some(name), Some(to)) = (text("name").map(ContainerName::from), text("image")) else { continue };
            let noted = records.iter().filter_map(|record| record.containers.get(&name));
            let mut noted = noted.filter(|noted| noted.to == to && noted.from != to).map(|noted| noted.from.clone());
            if let Some(from) = differing(live, &name, to).or_else(|| noted.next()) {
                found.insert(name, TemplateImage { list, from, to: to.to_owned(), ..TemplateImage::default() });
            }
        }
    }
    found
}

/// The image of a pod that is not the template's, nor what admission makes of it.
fn differing(live: &Snapshot, name: &ContainerName, to: &str) -> Option<String> {
    let mut images = live.present_pods().filter_map(|pod| Some(pod.spec_of(name)?.image.as_str()));
    images.find(|image| !live.is_image(name, to, image)).map(str::to_owned)
}

/// The pods' records of rollouts whose end is not in the history.
fn unended(live: &Snapshot) -> Vec<Cow<'_, UpdateRecord>> {
    let known = known(live);
    let has_ended = |record: &UpdateRecord| {
        known.iter().any(|entry| entry.rollout.id == record.id) || is_older_than_all(&known, &record.id)
    };
    live.present_pods().filter_map(UpdateRecord::of).filter(|record| record.durable && !has_ended(record)).collect()
}

/// Returns whether pods have a record of a rollout whose end is not in the history.
pub(super) fn is_unended(live: &Snapshot) -> bool {
    !unended(live).is_empty()
}

/// Returns whether an unfinished rollout is recorded on pods only: some have what it brought, and some have not.
pub(super) fn is_left_on_pods(live: &Snapshot) -> bool {
    let differs = || images_to_bring(live).iter().any(|(name, image)| differing(live, name, &image.to).is_some());
    Lock::text_of(&live.workload.object).is_none() && is_unended(live) && differs()
}
