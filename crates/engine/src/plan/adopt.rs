//! A way to finish what a rollout has left whose lock is gone, or cannot be read: its lock is found again, or derived
//! from the objects.
//!
//! A Deployment's controller copies the lock to the current ReplicaSet, those of StatefulSets and DaemonSets to the
//! revision that they create: these copies hold everything. Without one, the template that the pods were created from
//! is the old one, and the owner's is the wanted one; the old update strategy is known only from kubectl's record of
//! the last apply. Why, who, the pods that were chosen and whether commands ran around each pod are lost.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::held::{is_held_back, is_held_by_another, known, pods, strategy};
use super::partition;
use super::policy::policy_of;
use super::sides::{holder, is_stale};
use super::start::Start;
use crate::change::template::TemplateDiff;
use crate::change::{self, Change, Difference, Direction, FieldChanges, TemplateImage, same};
use crate::k8s::names::{ContainerName, RolloutId, Uid};
use crate::k8s::pod::{ContainerList, Pod};
use crate::k8s::workload::Workload;
use crate::kinds::{CONTROLLER_REVISION_HASH, HoldsBy, Revisions};
use crate::plan::live::{LiveWorkload, Options};
use crate::state::durable::history::{self, HistoryEntry, HistoryImage};
use crate::state::durable::lock::{HistoryStep, Outgoing, RolloutLock};
use crate::state::durable::{deployment, revisions, stateful_set, template_of_revision};
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

/// Returns the lock of a rollout that has not ended, from a copy that a controller has made.
pub fn copied(live: &LiveWorkload) -> Option<RolloutLock> {
    // A run that goes on with it would end as superseded, and its message would point here again.
    if waits_for_more(live) {
        return None;
    }
    let workload = &live.workload;
    let template = workload.template();
    let unfinished = copies(live).filter(|(object, _)| match workload.reference.kind.revisions() {
        // A copy stays on a ReplicaSet that others have scaled down since: its rollout is over.
        Revisions::ReplicaSets => current(live).is_some_and(|current| uid(current) == uid(object)),
        // Copies in revisions stay for ever: only that of the template that is wanted now may be of use.
        Revisions::ControllerRevisions(_) => same(&revisions::template_of(object), template),
        Revisions::None => false,
    });
    let mut found: Vec<RolloutLock> = unfinished.map(|(_, lock)| lock).collect();
    found.retain(|lock| lock.change.sides(template).is_some() && is_unsettled(live, lock));
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found.pop()
}

/// Returns whether the metadata of what a workload owns may hold a rollout that its own annotations do not.
pub fn may_be_left(live: &LiveWorkload) -> bool {
    let workload = &live.workload;
    RolloutLock::text_of(&workload.object).is_none()
        && (copies(live).next().is_some() || deployment::may_have_leftover(&workload.object, &live.surroundings.owned))
}

/// The copies of locks of rollouts that are not known to have ended.
fn copies(live: &LiveWorkload) -> impl Iterator<Item = (&Value, RolloutLock)> {
    let owned = &live.surroundings.owned;
    let copies = owned.iter().filter_map(|object| Some((object, RolloutLock::of(object).ok()??)));
    copies.filter(|(_, lock)| !is_stale(&live.workload, owned, lock) && !is_old(live, lock))
}

/// Returns the direction in which a rollout ended whose lock came back with its pause, such as by a manifest that was
/// exported halfway: going on in that direction finds the pods as they are wanted.
pub fn way_it_ended(live: &LiveWorkload) -> Option<Direction> {
    let lock = RolloutLock::of(&live.workload.object).ok().flatten().filter(|_| is_held_back(live))?;
    let ended = known(live).into_iter().find(|entry| entry.id == lock.id)?;
    let ways = [(EndResult::Complete, Direction::Forward), (EndResult::Aborted, Direction::Back)];
    ways.into_iter().find(|(outcome, _)| *outcome == ended.outcome).map(|(_, way)| way)
}

/// Whether it may be older than every rollout that the history keeps.
fn is_old(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    is_forgotten(&known(live), &lock.id)
}

fn is_forgotten(known: &[HistoryEntry], id: &RolloutId) -> bool {
    known.len() >= history::KEPT && known.iter().all(|entry| *id < entry.id)
}

/// Whether the rollout still has something to do: the owner is held as a rollout holds it, or a pod lacks what it
/// brings. Somebody may have ended it in another way.
fn is_unsettled(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    let present = live.workload.object.pointer("/spec/updateStrategy");
    if let Some(before) = &lock.strategy {
        // Above every ordinal, or OnDelete: any other strategy is a user's.
        let partition = present.map_or(0, stateful_set::partition_of);
        let is_raised =
            partition > stateful_set::partition_of(before) && partition >= i64::from(live.workload.desired_replicas());
        return present != Some(before) && (is_raised || is_held_back(live));
    }
    let change = lock.directed();
    let lacks = |pod: &Pod| {
        let mut images = change.images.iter();
        images.any(|(name, image)| pod.container(name).is_some_and(|(_, _, container)| container.image != image.to))
    };
    // Where every pod of the rollout has it, its end may still have to be recorded; later pods of others do not belong
    // to it.
    let is_noted = |pod: &Pod| UpdateRecord::of(pod).is_some_and(|record| record.id == lock.id);
    is_held_back(live) || pods(live).any(|pod| lacks(pod) || is_noted(pod))
}

/// Returns whether a lock can be found again, or derived so that a rollout may go on with it.
pub fn leads_on(live: &LiveWorkload) -> bool {
    copied(live).is_some() || made(live, &Start::default()).is_some_and(|lock| !has_raised_partition(live, &lock))
}

/// Returns whether a lock could be derived, and a rollout may not go on with it before the partition is restored.
pub fn waits_for_partition(live: &LiveWorkload) -> bool {
    copied(live).is_none() && made(live, &Start::default()).is_some_and(|lock| has_raised_partition(live, &lock))
}

/// Returns whether a rollout whose lock is gone has left the partition above every pod: under it no pod may be updated.
pub(super) fn has_raised_partition(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    let partition = lock.strategy.as_ref().map_or(0, stateful_set::partition_of);
    live.workload.reference.kind.has_partition()
        && partition > 0
        && partition >= i64::from(live.workload.desired_replicas())
}

/// Returns whether the way back of a derived lock would lead to images that an unfinished rollout has brought to the
/// pods, by their records, from what the template says.
fn was_brought(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    let records = unended(live);
    let mut images = lock.change.images.iter();
    images.any(|(name, image)| {
        let noted = noted_before(&records, name, &image.from);
        let superseded = superseded_before(live, name, &image.from);
        noted.or(superseded).is_some_and(|before| before == image.to)
    })
}

/// Returns why a derived lock has no way back.
pub(super) fn no_way_back(live: &LiveWorkload, lock: &RolloutLock) -> Option<&'static str> {
    if was_brought(live, lock) {
        return Some(
            "what its pods have was brought by the rollout that did not end, from what its template says: apply the image that you want",
        );
    }
    if is_only_drift(live) {
        return Some(
            "nothing tells of a rollout of it that did not end, so there is nothing to roll back to: its pods were made from its template, and some have other images",
        );
    }
    most_have_the_template(live).then_some(
        "most of its pods have its template, so there is nothing to roll back to; resume it, and the others get that, too",
    )
}

/// Whether pods that were created from the template have other images than the template's, and nothing else indicates a
/// rollout: some were updated alone. Their images are no earlier state to go back to.
fn is_only_drift(live: &LiveWorkload) -> bool {
    let workload = &live.workload;
    let kind = workload.reference.kind;
    let is_of_it = |revision| same(&template_of_revision(kind, revision), workload.template());
    let is_locked = RolloutLock::text_of(&workload.object).is_some();
    !is_locked && !is_held_back(live) && unended(live).is_empty() && current(live).is_none_or(is_of_it)
}

/// Returns whether what a rollout has left without a lock can be rolled back.
pub fn leads_back(live: &LiveWorkload) -> bool {
    copied(live).is_some() || made(live, &Start::default()).is_some_and(|lock| no_way_back(live, &lock).is_none())
}

/// Returns whether the owner is in the state of a rollout whose lock was removed.
pub(super) fn is_left_without_lock(live: &LiveWorkload) -> bool {
    is_held_back(live) && (copied(live).is_some() || made(live, &Start::default()).is_some())
}

/// Whether a Deployment is a copy of the one that the lock was written on.
pub(super) fn is_anothers(live: &LiveWorkload, lock: &RolloutLock) -> bool {
    live.workload.reference.kind.holds_by() == HoldsBy::Paused
        && deployment::is_anothers(&live.surroundings.owned, lock, &super::sides::sides(live, lock).0)
}

/// Returns whether the owner is held back with a template that cannot be brought into its pods.
pub fn waits_for_more(live: &LiveWorkload) -> bool {
    is_held_back(live) && current(live).is_some() && !leads_from_all(live, live.workload.template())
}

/// Whether every pod can be changed in place from the template that it was created from to this one, as far as that is
/// known: none gets a revision that it does not have.
pub(super) fn leads_from_all(live: &LiveWorkload, template: &Value) -> bool {
    let kind = live.workload.reference.kind;
    let leads = |made_from: &Value| leads_in_place(&live.workload, &template_of_revision(kind, made_from), template);
    match kind.revisions() {
        Revisions::ReplicaSets | Revisions::None => current(live).is_none_or(leads),
        Revisions::ControllerRevisions(_) => with_pods(live).all(leads),
    }
}

/// The ControllerRevisions that pods carry.
pub(super) fn with_pods(live: &LiveWorkload) -> impl Iterator<Item = &Value> {
    live.surroundings.owned.iter().filter(|revision| carriers(live, revision) > 0)
}

/// Returns whether what differs between two templates of a workload can be brought into its pods in place.
pub fn leads_in_place(workload: &Workload, before: &Value, after: &Value) -> bool {
    let Difference { change, qos, rest } = change::diff(before, after);
    let is_all = rest == TemplateDiff::default() && qos.is_none() && !change.asks_for_a_restart();
    is_all && change.refused(workload, Direction::Forward).is_empty()
}

/// Derives a lock that leads from what the pods run to what the template says, or back; `None` where the two differ in
/// more than can be changed in place, or do not differ and nothing is held.
pub(super) fn made(live: &LiveWorkload, start: &Start) -> Option<RolloutLock> {
    let workload = &live.workload;
    let after = workload.template();
    let current = current(live);
    let kind = workload.reference.kind;
    if kind.owns_through().is_some() && current.is_none() {
        return None;
    }
    let of_current = current.map(|object| template_of_revision(kind, object));
    let before = match of_current.filter(|before| !same(before, after)) {
        // Pods of an earlier revision lack what that one brought, too.
        Some(before) if kind.owns_through().is_none() => {
            let known = change::diff(&before, after).change.images;
            let cut_short = cut_short(live);
            let mut older = drift_or(live, cut_short.clone());
            older.retain(|name, _| !known.contains_key(name));
            // An image whose rollout never ended is nothing to go back to.
            older.extend(known.iter().filter_map(|(name, image)| {
                let before = superseded_before(live, name, &image.from)?;
                let earlier = cut_short.get(name).map_or(before, |first| first.from.clone());
                let left = TemplateImage { from: earlier, ..image.clone() };
                (left.from != left.to).then(|| (name.clone(), left))
            }));
            with_images(&before, &older).unwrap_or(before)
        }
        Some(before) => before,
        None if is_held_by_a_user(live) => return None,
        None => {
            let known = unfinished(live);
            let outgoing = current.and_then(|current| outgoing_template(live, current));
            let is_it = |before: &Value| {
                let Change { images, fields } = change::diff(before, after).change;
                // Where each pod has all of it, and no record is of an unfinished rollout, it has ended.
                let is_left = !known.is_empty() || pods(live).any(|pod| !fields.left_in(pod).is_empty());
                is_left && leads_in_place(workload, before, after) && known.keys().all(|name| images.contains_key(name))
            };
            outgoing.filter(is_it).or_else(|| with_images(after, &known))?
        }
    };
    let mut change = change::diff(&before, after).change;
    for (name, image) in &mut change.images {
        image.to_in_pods = live.in_pods(name, &image.to).map(str::to_owned);
    }
    let is_locked = RolloutLock::text_of(&workload.object).is_some();
    let leads = leads_in_place(workload, &before, after) && leads_from_all(live, after);
    if change.is_empty() && !is_locked || !leads || goes_its_own_way(live) {
        return None;
    }
    Some(RolloutLock {
        strategy: strategy(live),
        outgoing: current.map(outgoing),
        history: history_step(live, current, &before, start),
        reuses: revisions::newest_with(&live.surroundings.owned, after)
            .filter(|_| kind.owns_through().is_none())
            .map(|revision| revisions::name_of(revision).to_owned()),
        released: !is_held_back(live),
        late: true,
        ..start.lock(RolloutId::from(start.run.as_str()), change, policy_of(live, &Options::default()))
    })
}

/// Whether the user holds the owner back, and no pod's record is of a rollout of its template: pods that were updated
/// alone meanwhile belong to no unfinished rollout, and the other pods are not to become like them.
fn is_held_by_a_user(live: &LiveWorkload) -> bool {
    is_held_back(live) && is_held_by_another(live) && !is_unended(live)
}

/// Whether the controller is free to replace pods that do not carry the revision of the template: a rollout would end
/// at once without a change. A DaemonSet's controller replaces none of them that has its template generation, such as
/// after it was deleted without its pods and created again (`IsPodUpdated` in pkg/controller/daemon/util).
fn goes_its_own_way(live: &LiveWorkload) -> bool {
    let workload = &live.workload;
    if !workload.reference.kind.holds_by().restores_the_field() || is_held_back(live) {
        return false;
    }
    let Some(newest) = revisions::newest_with(&live.surroundings.owned, workload.template()) else { return false };
    let lacking = pods(live).count().saturating_sub(carriers(live, newest));
    i64::try_from(lacking).is_ok_and(|lacking| lacking > partition::of(workload))
}

/// Returns whether a Deployment can go back; it cannot if an older ReplicaSet with the old template would adopt its
/// pods.
pub(super) fn can_go_back(live: &LiveWorkload, lock: &RolloutLock, before: &Value) -> bool {
    let sets = &live.surroundings.owned;
    live.workload.reference.kind.owns_through().is_none()
        || holder(sets, before).is_none_or(|set| {
            let is_current = lock.outgoing.as_ref().is_some_and(|current| uid(set) == current.uid);
            is_current
                || age(set) >= lock.outgoing.as_ref().and_then(|current| age_of(sets, current)).unwrap_or_default()
        })
}

/// How many pods carry a ControllerRevision.
fn carriers(live: &LiveWorkload, revision: &Value) -> usize {
    let labels = pods(live).filter_map(|pod| pod.labels.get(CONTROLLER_REVISION_HASH));
    labels.filter(|label| **label == revisions::name_of(revision) || **label == revisions::hash_of(revision)).count()
}

/// Returns whether as many pods have the template as any other revision: then that is no template to go back from.
fn most_have_the_template(live: &LiveWorkload) -> bool {
    let template = live.workload.template();
    match live.workload.reference.kind.revisions() {
        Revisions::ControllerRevisions(_) => {}
        Revisions::ReplicaSets => return current(live).is_some_and(|set| most_have_its_images(live, set)),
        Revisions::None => return false,
    }
    let of_template = |revision: &&Value| same(&revisions::template_of(revision), template);
    let have =
        live.surroundings.owned.iter().filter(of_template).map(|revision| carriers(live, revision)).sum::<usize>();
    current(live).is_none_or(|current| carriers(live, current) <= have) && have > 0
}

/// The same for a ReplicaSet that has another template: here the images decide.
fn most_have_its_images(live: &LiveWorkload, set: &Value) -> bool {
    let (before, after) = (deployment::template_of(set), live.workload.template());
    let images = change::diff(&before, after).change.images;
    let having = |image_of: fn(&TemplateImage) -> &String| {
        let has = |pod: &&Pod| {
            let is_it = |(name, image)| pod.container(name).is_some_and(|found| found.2.image == *image_of(image));
            images.iter().all(is_it)
        };
        pods(live).filter(has).count()
    };
    !images.is_empty() && having(|image| &image.to) > having(|image| &image.from)
}

/// What the pods were created from: the one ReplicaSet that has them, or the revision that they carry.
pub(super) fn current(live: &LiveWorkload) -> Option<&Value> {
    let owned = &live.surroundings.owned;
    match live.workload.reference.kind.revisions() {
        Revisions::ReplicaSets => {
            let mut with_pods = owned.iter().filter(|set| !deployment::is_empty(set));
            with_pods.next().filter(|_| with_pods.next().is_none())
        }
        Revisions::ControllerRevisions(_) => {
            // What most of them have is the old state; a few may have the revision of an unfinished rollout.
            let template = live.workload.template();
            let others = with_pods(live).filter(|revision| !same(&revisions::template_of(revision), template));
            others.max_by_key(|revision| (carriers(live, revision), Reverse(revisions::number_of(revision))))
        }
        Revisions::None => None,
    }
}

/// The images of pods that differ from the template's, by container.
fn drift(live: &LiveWorkload) -> BTreeMap<ContainerName, TemplateImage> {
    of_template(live, |name, to| {
        let made = live.in_pods(name, to);
        let mut others = pods(live).filter_map(|pod| Some(&pod.container(name)?.2.image));
        others.find(|image| *image != to && made != Some(image)).cloned()
    })
}

/// The same, and what else is known of containers that drift in no pod.
fn drift_or(
    live: &LiveWorkload,
    known: BTreeMap<ContainerName, TemplateImage>,
) -> BTreeMap<ContainerName, TemplateImage> {
    let mut found = known;
    found.extend(drift(live));
    found
}

/// What an unfinished rollout may have changed whose template the pods' own ReplicaSet has: what pods lack of it, and
/// what their records hold without an end in the history. That the pods have it proves nothing.
fn unfinished(live: &LiveWorkload) -> BTreeMap<ContainerName, TemplateImage> {
    let records = unended(live);
    drift_or(live, of_template(live, |name, to| noted_before(&records, name, to)))
}

fn noted_before(records: &[Cow<'_, UpdateRecord>], name: &ContainerName, to: &str) -> Option<String> {
    let mut noted = records.iter().filter_map(|record| record.containers.get(name));
    noted.find(|noted| noted.to == *to && noted.from != *to).map(|noted| noted.from.clone())
}

/// What is left in the template of rollouts that another client's template has ended, with the values before the first.
fn cut_short(live: &LiveWorkload) -> BTreeMap<ContainerName, TemplateImage> {
    let known = known(live);
    of_template(live, |name, to| {
        let brought = |entry: &HistoryEntry, to: &str| entry.containers.get(name).is_some_and(|image| image.to == to);
        let mut entries = known.iter().rev().skip_while(|entry| !brought(entry, to));
        let mut first = entries.next().filter(|entry| entry.outcome == EndResult::Superseded)?;
        let mut from = &first.containers.get(name)?.from;
        for entry in entries.filter(|entry| entry.outcome == EndResult::Superseded) {
            if entry.replaced_by.as_ref() == Some(&first.id) {
                first = entry;
                from = first.containers.get(name).filter(|image| image.to == *from).map_or(from, |image| &image.from);
            }
        }
        Some(from.clone()).filter(|from| from != to)
    })
}

/// Returns the image before one that was brought by a rollout which was superseded.
fn superseded_before(live: &LiveWorkload, name: &ContainerName, image: &str) -> Option<String> {
    let mut entries = known(live).into_iter().rev();
    let (brought, outcome) = entries.find_map(|mut entry| {
        let known = entry.containers.remove(name).filter(|known| known.to == image)?;
        Some((known, entry.outcome))
    })?;
    (outcome == EndResult::Superseded).then_some(brought.from)
}

/// Returns the images that a rollout has left in a template which another client has changed since, as they were before
/// it.
pub fn images_before(live: &LiveWorkload) -> BTreeMap<ContainerName, String> {
    cut_short(live).into_iter().map(|(name, image)| (name, image.from)).collect()
}

/// Returns what the pods' records hold of a rollout that has lost its lock, for the images that a change sets again.
pub(super) fn lost(live: &LiveWorkload, change: &Change) -> Option<HistoryEntry> {
    let records = unended(live);
    let of_change = |(name, image): (&ContainerName, &TemplateImage)| {
        let from = noted_before(&records, name, &image.from)?;
        Some((name.clone(), HistoryImage { from, to: image.from.clone(), ..HistoryImage::default() }))
    };
    let containers: BTreeMap<_, _> = change.images.iter().filter_map(of_change).collect();
    let id = records.iter().map(|record| &record.id).max().filter(|_| !containers.is_empty())?.clone();
    Some(HistoryEntry {
        id,
        who: String::new(),
        ended_by: None,
        began: records.iter().flat_map(|record| record.set_at.values()).min().cloned().unwrap_or_default(),
        ended: String::new(),
        reason: None,
        containers,
        fields: FieldChanges::default(),
        outcome: EndResult::Superseded,
        replaced_by: None,
        strategy: None,
    })
}

/// The pods' records of rollouts whose end is not in the history.
fn unended(live: &LiveWorkload) -> Vec<Cow<'_, UpdateRecord>> {
    let known = known(live);
    let has_ended =
        |record: &UpdateRecord| known.iter().any(|entry| entry.id == record.id) || is_forgotten(&known, &record.id);
    pods(live).filter_map(UpdateRecord::of).filter(|record| record.durable && !has_ended(record)).collect()
}

/// Returns whether pods have a record of a rollout whose end is not in the history.
pub(super) fn is_unended(live: &LiveWorkload) -> bool {
    !unended(live).is_empty()
}

/// Returns whether an unfinished rollout is recorded on pods only: some have what it brought, and some have not.
pub(super) fn is_left_on_pods(live: &LiveWorkload) -> bool {
    RolloutLock::text_of(&live.workload.object).is_none() && is_unended(live) && !drift(live).is_empty()
}

/// The images of the template that come from others.
fn of_template(
    live: &LiveWorkload,
    before: impl Fn(&ContainerName, &str) -> Option<String>,
) -> BTreeMap<ContainerName, TemplateImage> {
    let mut found = BTreeMap::new();
    for list in [ContainerList::Containers, ContainerList::InitContainers] {
        let pointer = format!("/spec/{}", list.spec_field());
        let containers = live.workload.template().pointer(&pointer).and_then(Value::as_array);
        for container in containers.into_iter().flatten() {
            let text = |key: &str| container.get(key).and_then(Value::as_str);
            let (Some(name), Some(to)) = (text("name").map(ContainerName::from), text("image")) else { continue };
            if let Some(from) = before(&name, to) {
                found.insert(name, TemplateImage { list, from, to: to.to_owned(), ..TemplateImage::default() });
            }
        }
    }
    found
}

/// The template that a Deployment had before the one that its pods' ReplicaSet has now: a rollout saves it as the revision
/// before it sets that.
fn outgoing_template(live: &LiveWorkload, current: &Value) -> Option<Value> {
    let kind = live.workload.reference.kind;
    kind.owns_through()?;
    let newest = deployment::revision_of(current);
    let before = live.surroundings.owned.iter().filter(|set| deployment::revision_of(set) < newest);
    let set = before.max_by_key(|set| deployment::revision_of(set))?;
    Some(template_of_revision(kind, set))
}

fn with_images(after: &Value, images: &BTreeMap<ContainerName, TemplateImage>) -> Option<Value> {
    Change { images: images.clone(), ..Change::default() }.reversed().apply(after)
}

fn uid(object: &Value) -> Uid {
    Uid::from(object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default())
}

fn outgoing(object: &Value) -> Outgoing {
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = revisions::number_of(object).unwrap_or_else(|| deployment::revision_of(object));
    Outgoing { name, uid: uid(object), revision: number }
}

fn age(object: &Value) -> String {
    object.pointer("/metadata/creationTimestamp").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn age_of(sets: &[Value], of: &Outgoing) -> Option<String> {
    sets.iter().find(|set| uid(set) == of.uid).map(age)
}

/// The outgoing template stays in the history as in an ordinary rollout, unless it is there already.
fn history_step(live: &LiveWorkload, current: Option<&Value>, before: &Value, start: &Start) -> HistoryStep {
    let workload = &live.workload;
    let (Some(current), Revisions::ReplicaSets) = (current, workload.reference.kind.revisions()) else {
        return HistoryStep::Keep;
    };
    let sets = &live.surroundings.owned;
    let is_other = |set: &&Value| uid(set) != uid(current);
    let other_with =
        |wanted: &Value| sets.iter().filter(is_other).find(|set| same(&deployment::template_of(set), wanted));
    let limit = workload.object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    match other_with(workload.template()) {
        Some(set) => {
            let Outgoing { name, uid, revision } = outgoing(set);
            HistoryStep::Swap { name, uid, revision }
        }
        None if limit == 0 || other_with(before).is_some() => HistoryStep::Keep,
        None => {
            let hash = deployment::history_hash(&RolloutId::from(start.run.as_str()));
            HistoryStep::Create { name: format!("{}-{hash}", workload.reference.name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::kinds::WorkloadKind;

    #[test]
    fn a_template_leads_on_only_where_all_that_differs_can_be_changed_in_place() {
        let object = json!({"metadata": {"name": "web", "uid": "u"}});
        let workload = Workload::from_object(WorkloadKind::Deployment, object).expect("it has a name");
        let template =
            |image: &str, env: Value| json!({"spec": {"containers": [{"name": "app", "image": image, "env": env}]}});
        let before = template("app:1", json!([]));
        assert!(leads_in_place(&workload, &before, &template("app:2", json!([]))));
        let env = json!([{"name": "A", "value": "b"}]);
        assert!(!leads_in_place(&workload, &before, &template("app:2", env.clone())));
        assert!(!leads_in_place(&workload, &before, &template("app:1", env)));
        let mut restarted = template("app:2", json!([]));
        restarted["metadata"] = json!({"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-03-01T10:00:00Z"}});
        assert!(!leads_in_place(&workload, &before, &restarted));
    }
}
