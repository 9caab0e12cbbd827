//! The in-place updates of one workload, from its annotations: its history, the rollout that holds it, and the records
//! of its pods.
//!
//! Promise: a record that cannot be read (another version's, or edited) is named, never skipped in silence. Nothing is
//! guessed: what no record holds, such as who updated single pods, is absent.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::{Direction, FieldChanges};
use crate::k8s::names::{ContainerName, RolloutId, Uid, WorkloadRef};
use crate::k8s::pod::Pod;
use crate::plan::lease_state;
use crate::plan::live::Snapshot;
use crate::state::durable::history::{self, HISTORY_ANNOTATION, HISTORY_POINTER, HistoryEntry, KEPT};
use crate::state::durable::lease::LeaseState;
use crate::state::durable::lock::{Lock, LockState, ROLLOUT_ANNOTATION};
use crate::state::durable::rollout::Rollout;
use crate::state::outcome::EndResult;
use crate::state::record::{UPDATE_ANNOTATION, UpdateRecord};
use crate::value::duration::seconds_between;

#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadUpdates {
    pub workload: WorkloadRef,
    pub uid: Uid,
    /// The newest last; a rollout in progress comes after it.
    pub updates: Vec<Update>,
    pub unreadable: Vec<UnreadableNote>,
    pub not_read: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub id: RolloutId,
    pub course: Course,
    /// Who began it: the user as the server knows it. Pods do not record it.
    pub who: Option<String>,
    /// When it began (RFC 3339).
    pub began: Option<String>,
    /// When it ended (RFC 3339).
    pub ended: Option<String>,
    pub reason: Option<String>,
    /// The images that changed, by container; several of one container where pods came from different ones.
    pub images: Vec<UpdatedImage>,
    /// What else of the template changed.
    pub fields: FieldChanges,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// The owner's template and its pods: it has ended with this result.
    Ended(EndResult),
    /// Another rollout took its place before it had ended.
    Replaced { by: RolloutId },
    /// The owner's template and its pods: it still holds the workload.
    UnderWay {
        state: LockState,
        direction: Direction,
        /// Its lock names a run that is gone.
        is_left: bool,
    },
    /// The owner's template and pods, whose lock or history was removed: how it ended is not recorded. These pods have the
    /// record.
    Unrecorded { pods: Vec<String> },
    /// Pods alone; how it ended is not recorded. These pods have the record.
    PodsOnly { pods: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpdatedImage {
    pub container: ContainerName,
    pub from: String,
    pub to: String,
    /// What ran before (`imageID`), where all pods ran the same.
    pub image_id: Option<String>,
}

/// A record that cannot be read: written by another version, or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableNote {
    /// Its object, such as `replicaset/web-6b867cfc99`.
    pub object: String,
    pub annotation: &'static str,
}

impl Update {
    /// Returns how long it took, in seconds, where both ends are known and in order.
    pub fn seconds(&self) -> Option<u64> {
        u64::try_from(seconds_between(self.began.as_deref()?, self.ended.as_deref()?)?).ok()
    }
}

/// Collects what was done to a workload in place.
///
/// The union over the owner and its ReplicaSets, because `kubectl rollout undo` replaces a Deployment's annotations by
/// a ReplicaSet's. A pod records only its own last update, so of updates of pods alone only the last ones are known.
pub fn updates(live: &Snapshot) -> WorkloadUpdates {
    let owner = &live.workload.object;
    let owned = live.surroundings.owned.iter().filter(|_| live.workload.reference.kind.owns_through().is_some());
    let mut ended = history::union(owner, owned.clone());
    let lock = Lock::of(owner);
    let mut unreadable: Vec<UnreadableNote> =
        std::iter::once(owner).chain(owned).filter_map(|object| unreadable_history(object, live)).collect();
    if lock.is_err() {
        unreadable.push(UnreadableNote { object: live.workload.reference.to_string(), annotation: ROLLOUT_ANNOTATION });
    }
    let under_way = lock.ok().flatten();
    let is_known = |id: &RolloutId| ended.iter().any(|entry| entry.rollout.id == *id);
    let replaced =
        under_way.iter().flat_map(|lock| &lock.rollout.replaced).filter(|entry| !is_known(&entry.rollout.id));
    ended.extend(replaced.cloned().collect::<Vec<_>>());
    let of_pods = of_pods(live, &ended, under_way.as_ref(), &mut unreadable);
    // The annotation has its entries in order; the others are placed among them by their times alone.
    let mut updates: Vec<Update> = ended.into_iter().map(of_entry).collect();
    for update in of_pods {
        let is_later = |known: &Update| (&known.began, &known.id) > (&update.began, &update.id);
        let place = updates.iter().position(is_later).unwrap_or(updates.len());
        updates.insert(place, update);
    }
    updates.extend(under_way.map(|lock| of_lock(lock, live)));
    let denied = live.surroundings.denied.iter().map(|denied| {
        format!("you may not {} {}, so some updates may be missing ({})", denied.verb, denied.resource, denied.message)
    });
    WorkloadUpdates {
        workload: live.workload.reference.clone(),
        uid: live.workload.uid.clone(),
        updates,
        unreadable,
        not_read: denied.chain(live.not_read.iter().cloned()).collect(),
    }
}

fn unreadable_history(object: &Value, live: &Snapshot) -> Option<UnreadableNote> {
    let text = object.pointer(HISTORY_POINTER)?;
    if text.as_str().is_some_and(|text| serde_json::from_str::<Vec<HistoryEntry>>(text).is_ok()) {
        return None;
    }
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let is_owner = std::ptr::eq(object, &live.workload.object);
    let through = live.workload.reference.kind.owns_through().filter(|_| !is_owner);
    let object = match through {
        Some(through) => format!("{}/{name}", through.spec().singular),
        None => live.workload.reference.to_string(),
    };
    Some(UnreadableNote { object, annotation: HISTORY_ANNOTATION })
}

fn of_entry(entry: HistoryEntry) -> Update {
    let course = match entry.replaced_by {
        Some(by) => Course::Replaced { by },
        None => Course::Ended(entry.outcome),
    };
    of_rollout(entry.rollout, course, Some(entry.ended))
}

fn of_lock(lock: Lock, live: &Snapshot) -> Update {
    let lease = lease_state(live, &lock);
    let is_left = matches!(lease, LeaseState::Gone | LeaseState::Silent(_) | LeaseState::Stalled { .. });
    let course = Course::UnderWay { state: lock.state, direction: lock.rollout.direction, is_left };
    of_rollout(lock.rollout, course, None)
}

fn of_rollout(rollout: Rollout, course: Course, ended: Option<String>) -> Update {
    let mut digests = rollout.digests;
    let images = rollout.change.images.into_iter().map(|(container, image)| {
        let image_id = digests.remove(&container);
        UpdatedImage { container, from: image.from, to: image.to, image_id }
    });
    Update {
        images: images.collect(),
        id: rollout.id,
        course,
        who: Some(rollout.who),
        began: Some(rollout.since),
        ended,
        reason: rollout.reason,
        fields: rollout.change.fields,
    }
}

/// The updates that only pods have recorded.
///
/// An owner keeps its last [`KEPT`] rollouts; a pod's record of an older one says nothing about the owner, so once that
/// many are kept, those that are older than all of them are left out.
fn of_pods(
    live: &Snapshot,
    ended: &[HistoryEntry],
    under_way: Option<&Lock>,
    unreadable: &mut Vec<UnreadableNote>,
) -> Vec<Update> {
    let known: BTreeSet<&RolloutId> =
        ended.iter().map(|entry| &entry.rollout.id).chain(under_way.map(|lock| &lock.rollout.id)).collect();
    let oldest = known.first().copied().filter(|_| ended.len() >= KEPT);
    let mut by_id: BTreeMap<RolloutId, Vec<(&Pod, UpdateRecord)>> = BTreeMap::new();
    let mut pods: Vec<&Pod> = live.pods.iter().filter(|pod| is_theirs(live, pod)).collect();
    pods.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    for pod in pods {
        match UpdateRecord::complete(pod) {
            // A record that says that the pod is drained, or was taken over, is of no update.
            Some(record) if !record.is_of_update() => {}
            Some(record) if known.contains(&record.id) || oldest.is_some_and(|oldest| record.id < *oldest) => {}
            Some(record) => by_id.entry(record.id.clone()).or_default().push((pod, record)),
            None if pod.annotations.contains_key(UPDATE_ANNOTATION) => {
                unreadable.push(UnreadableNote { object: pod.key.to_string(), annotation: UPDATE_ANNOTATION });
            }
            None => {}
        }
    }
    by_id.into_iter().map(|(id, pods)| of_records(id, &pods)).collect()
}

/// Whether a pod that the selector matches is controlled as the workload's are; without ReplicaSets any pod is
/// accepted.
fn is_theirs(live: &Snapshot, pod: &Pod) -> bool {
    !live.workload.reference.kind.has_template()
        || !live.surroundings.denied.is_empty()
        || pod.is_controlled_by(&live.controllers)
}

fn of_records(id: RolloutId, pods: &[(&Pod, UpdateRecord)]) -> Update {
    let mut digests: BTreeMap<(&ContainerName, &str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (name, record) in pods.iter().flat_map(|(_, record)| record.containers.iter().chain(&record.requested)) {
        digests.entry((name, &record.from, &record.to)).or_default().insert(&record.image_id);
    }
    let images = digests.into_iter().map(|((container, from, to), digests)| UpdatedImage {
        container: container.clone(),
        from: from.to_owned(),
        to: to.to_owned(),
        image_id: digests.first().filter(|id| digests.len() == 1 && !id.is_empty()).map(|id| (*id).to_owned()),
    });
    let names = pods.iter().map(|(pod, _)| pod.key.name.clone()).collect();
    Update {
        images: images.collect(),
        course: if pods.iter().any(|(_, record)| record.durable) {
            Course::Unrecorded { pods: names }
        } else {
            Course::PodsOnly { pods: names }
        },
        who: None,
        began: began(&id),
        ended: None,
        reason: None,
        fields: pods
            .iter()
            .map(|(_, record)| record.resources().into())
            .find(|found: &FieldChanges| found.resizes())
            .unwrap_or_default(),
        id,
    }
}

/// Reads from an id such as `20260301-101500-00ab12` when the rollout began; ids begin with the time in UTC.
fn began(id: &RolloutId) -> Option<String> {
    let (time, _) = id.as_str().rsplit_once('-').filter(|(time, _)| time.len() == 15)?;
    let time = jiff::civil::DateTime::strptime("%Y%m%d-%H%M%S", time).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
