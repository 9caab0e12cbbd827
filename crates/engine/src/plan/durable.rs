//! What a durable rollout would do to the owner: its template, its revisions, and what must hold before it begins.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::held::is_stale;
use super::rollout_state::{RolloutState, lease_state, present_lock, rollout_state};
use super::wanted::Context;
use super::{Verdict, WorkloadPlan};
use super::{held, revision};
use crate::change::reason::{Reason, Warning};
use crate::change::{Change, TemplateImage, same};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerList, Pod};
use crate::k8s::workload::Workload;
use crate::kinds::{self, HoldsBy, IfResumed, Revisions, WorkloadKind};
use crate::plan::live::Snapshot;
use crate::state::durable::lease::LeaseState;
use crate::state::durable::lock::{Lock, LockState};
use crate::state::durable::rollout::{HistoryStep, RevisionRef, Rollout};
use crate::state::durable::{deployment, revisions, template_of_revision};
use crate::value::duration;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DurablePlan {
    /// What it does, before it begins.
    #[serde(flatten)]
    pub rollout: Rollout,
    /// The number that the new revision gets; `None` for a ReplicaSet of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_over: Option<Box<Lock>>,
}

impl DurablePlan {
    /// Returns how many pods, from the lowest ordinal on, the owner's controller creates from the template before.
    pub fn partition(&self) -> i64 {
        self.rollout.strategy.as_ref().map_or(0, kinds::partition_of)
    }

    pub fn steps(&self, kind: WorkloadKind) -> Vec<String> {
        let pods = "update the pods in place".to_owned();
        match kind.holds_by() {
            HoldsBy::Paused => {
                let revision =
                    self.rollout.outgoing.as_ref().map(|outgoing| format!(" as revision {}", outgoing.revision));
                let outgoing = format!("the current template{}", revision.unwrap_or_default());
                let history = match &self.rollout.history {
                    HistoryStep::Create => Some(format!("save {outgoing} (kubectl rollout undo keeps working)")),
                    HistoryStep::Swap(RevisionRef { name, .. }) => Some(format!(
                        "save {outgoing} in replicaset/{name}, which has no pods (kubectl rollout undo keeps working)"
                    )),
                    HistoryStep::Forget | HistoryStep::ByController => None,
                };
                let current = self.rollout.outgoing.as_ref().map(|outgoing| outgoing.name.as_str()).unwrap_or_default();
                let steps = [Some("pause the Deployment and set the new template".into()), history];
                let last = [
                    format!("set the template of replicaset/{current}, which keeps its pods"),
                    "unpause the Deployment".into(),
                    pods,
                ];
                steps.into_iter().flatten().chain(last).collect()
            }
            HoldsBy::OnDelete | HoldsBy::OnDeleteOrPartition | HoldsBy::StrategyPaused => {
                let hold = if kind.holds_by() == HoldsBy::StrategyPaused {
                    "set the new template, with the update strategy paused"
                } else if kind.has_partition() && self.partition() > 0 {
                    "set the new template, with the partition above every pod"
                } else {
                    "set the new template, with the update strategy OnDelete"
                };
                vec![
                    hold.into(),
                    format!("{pods}, and label them with the new revision"),
                    "restore the update strategy".into(),
                ]
            }
            HoldsBy::Nothing => vec!["set the new template, for later pods".into(), pods],
        }
    }
}

/// Computes the owner's part; `None` where only pods change. What prevents it is added to the reasons.
pub(super) fn durable(context: &Context<'_>, take_over: bool, reasons: &mut Vec<Reason>) -> Option<DurablePlan> {
    let workload = &context.live.workload;
    let kind = workload.reference.kind;
    let change = change(context);
    if !kind.has_template() || change.is_empty() {
        return None;
    }
    if let Some((owner, name, _)) = workload.controller() {
        reasons.push(Reason::OwnerIsControlled { kind: owner, name });
        return None;
    }
    if let Some((path, what)) = (kind.spec().left_to_controller)(&workload.object) {
        reasons.push(Reason::LeftToController { path, what });
        return None;
    }
    let mut rollout = Rollout { change, only: only(context), ..Rollout::default() };
    rollout.digests = digests(context, &rollout.change);
    let mut plan = DurablePlan { rollout, revision: None, takes_over: None };
    let lock = present_lock(context.live);
    if let Some(lock) = lock.filter(|lock| !is_stale(context.live, lock)) {
        plan.rollout.strategy = lock.rollout.strategy.clone();
        plan.rollout.origin = origin(&lock);
        let settled = take_over || lock.state != LockState::Running;
        // What that rollout brings and this one does not would be left halfway, and recorded nowhere.
        let makes_way = plan.rollout.change.covers(&lock.rollout.change) && !deployment_is_unsettled(workload);
        if !settled || !makes_way {
            reasons.push(held(context.live, &lock, makes_way));
        } else {
            plan.takes_over = Some(Box::new(lock));
        }
    } else if lock_is_unreadable(workload) && (!take_over || held::is_held_back(context.live)) {
        reasons.push(held_by_somebody());
    }
    for (name, image) in &plan.rollout.change.images {
        if let (false, Some(ran)) =
            (plan.rollout.origin.contains_key(name), revision::ran(context, name, image.in_pods()))
        {
            plan.rollout.origin.insert(name.clone(), ran.to_owned());
        }
    }
    match kind.revisions() {
        Revisions::ReplicaSets => of_deployment(context, &mut plan, reasons),
        Revisions::ControllerRevisions(_) => of_revisions(context, &mut plan, reasons),
        Revisions::None => {}
    }
    Some(plan)
}

/// Whether pods of this revision lack no more of the template than this change sets again: such as those that an
/// unfinished rollout has not reached.
pub(super) fn brings_all(context: &Context<'_>, revision: &str) -> bool {
    let live = context.live;
    let Revisions::ControllerRevisions(_) = live.workload.reference.kind.revisions() else { return false };
    let known = revisions::labelled(&live.surroundings.owned, revision);
    known.is_some_and(|known| revisions::lacks_no_more(known, live.workload.template(), &change(context)))
}

/// The names of the pods that were chosen by name or node; empty means all.
fn only(context: &Context<'_>) -> BTreeSet<String> {
    let subset = &context.options.subset;
    if subset.node.is_none() && subset.pods.is_empty() {
        return BTreeSet::new();
    }
    let chosen = context.live.pods.iter().filter(|pod| context.is_chosen(pod));
    chosen.map(|pod| pod.key.name.clone()).collect()
}

impl WorkloadPlan {
    /// Returns whether a rollout prevents the plan, or is left though there is nothing to do.
    pub fn is_held(&self, live: &Snapshot) -> bool {
        let is_in_the_way = |reason: &Reason| {
            matches!(reason, Reason::OwnerPaused { by_a_rollout: true, .. } | Reason::RolloutHeld { .. })
        };
        let is_done = self.verdict == Verdict::NothingToDo;
        rollout_state(live) != RolloutState::None && (is_done || self.all_reasons().any(is_in_the_way))
    }
}

/// Returns the reason that another rollout holds the workload, if one does; for a plan that changes pods alone.
///
/// The template may ask for what is wanted already because a rollout was stopped halfway: only that rollout can finish
/// its owner, whoever repeats the command.
pub(super) fn held_by_another(live: &Snapshot, take_over: bool, leaves_the_owner: bool) -> Option<Reason> {
    if lock_is_unreadable(&live.workload) {
        return (!take_over || !leaves_the_owner).then(held_by_somebody);
    }
    let lock = present_lock(live)?;
    let is_stale = is_stale(live, &lock);
    let holds = !is_stale && (!leaves_the_owner || lock.state == LockState::Running && !take_over);
    holds.then(|| held(live, &lock, false))
}

/// Held by a lock that cannot be read: written by another version, or edited.
fn held_by_somebody() -> Reason {
    Reason::RolloutHeld {
        id: String::new(),
        who: "an unknown client (the lock cannot be read)".into(),
        since: String::new(),
        began: Box::default(),
        state: Box::default(),
        run: Box::default(),
        makes_way: false,
    }
}

fn held(live: &Snapshot, lock: &Lock, makes_way: bool) -> Reason {
    let by = lock.lease.as_ref().map(|lease| format!("run by {}, ", lease.sentence())).unwrap_or_default();
    let life = lease_state(live, lock);
    let is_at_work = life.may_be_active();
    let run = if life == LeaseState::Ended { String::new() } else { format!("{by}{}", life.sentence()) };
    Reason::RolloutHeld {
        id: lock.rollout.id.to_string(),
        who: lock.rollout.who.clone(),
        since: lock.rollout.since.clone(),
        began: duration::began(&lock.rollout.since, live.surroundings.server_now.as_deref()).into(),
        state: lock.state.words(is_at_work).into(),
        run: run.into(),
        makes_way,
    }
}

fn lock_is_unreadable(workload: &Workload) -> bool {
    Lock::of(&workload.object).is_err()
}

/// A Deployment that an earlier run left paused has to be settled first.
fn deployment_is_unsettled(workload: &Workload) -> bool {
    kinds::is_paused(&workload.object)
}

fn origin(lock: &Lock) -> BTreeMap<ContainerName, String> {
    let images = lock.rollout.change.images.iter();
    images.map(|(name, image)| (name.clone(), lock.rollout.origin.get(name).unwrap_or(&image.from).clone())).collect()
}

/// What changes in the template: containers that only pods have, such as injected ones, are no part of it.
pub(super) fn change(context: &Context<'_>) -> Change {
    let mut change = Change { images: BTreeMap::new(), fields: context.wanted.fields().clone() };
    for (name, list) in &context.known.containers {
        let Some(container) = context.known.template.get(name) else { continue };
        let Some(to) = context.wanted.image(name, *list, &container.image).filter(|to| *to != container.image) else {
            continue;
        };
        let in_pods = |image: &str| context.live.in_pods(name, image).map(str::to_owned);
        let (from_in_pods, to_in_pods) = (in_pods(&container.image), in_pods(&to));
        let image = TemplateImage { list: *list, from: container.image.clone(), to, from_in_pods, to_in_pods };
        change.images.insert(name.clone(), image);
    }
    change
}

/// The digests that run in the containers whose image changes, where all pods run the same.
fn digests(context: &Context<'_>, change: &Change) -> BTreeMap<ContainerName, String> {
    let mut running: BTreeMap<ContainerName, BTreeSet<String>> = BTreeMap::new();
    let mine = |pod: &&Pod| pod.is_controlled_by(&context.live.controllers);
    for pod in context.live.pods.iter().filter(mine) {
        for list in ContainerList::ALL {
            let changes = |name: &ContainerName| change.images.contains_key(name);
            for status in
                pod.statuses(list).iter().filter(|status| changes(&status.name) && !status.image_id.is_empty())
            {
                running.entry(status.name.clone()).or_default().insert(status.image_id.clone());
            }
        }
    }
    let one = running.into_iter().filter(|(_, ids)| ids.len() == 1);
    one.filter_map(|(name, ids)| Some((name, ids.into_iter().next()?))).collect()
}

/// The ReplicaSet that holds a Deployment's template and, alone, all its pods.
fn only_holder<'s>(workload: &Workload, sets: &'s [Value]) -> Option<&'s Value> {
    let current = holder(sets, workload.template())?;
    let uid = |set: &Value| set.pointer("/metadata/uid").cloned();
    sets.iter().all(|set| uid(set) == uid(current) || deployment::is_empty(set)).then_some(current)
}

/// Returns what becomes of the pods of a paused Deployment once it is resumed: its controller moves them to the
/// ReplicaSet that holds the template, or to a new one.
pub fn if_resumed(live: &Snapshot) -> IfResumed {
    let sets = &live.surroundings.owned;
    // The parts of a template that were not read are not compared.
    let is_read = sets.iter().any(|set| set.pointer("/spec/template").is_some());
    match only_holder(&live.workload, sets) {
        _ if !is_read || !live.surroundings.denied.is_empty() => IfResumed::NotKnown,
        Some(_) => IfResumed::KeepsPods,
        None => IfResumed::ReplacesPods,
    }
}

/// Returns whether what was read is about to settle: the controller has not seen its owner's present spec yet, or owner
/// and revisions were read before and after somebody's write. It is worth another read in a moment.
pub fn is_behind(live: &Snapshot) -> bool {
    let workload = &live.workload;
    let owned = &live.surroundings.owned;
    if !workload.is_observed() {
        return true;
    }
    if !live.surroundings.denied.is_empty() || workload.rolling_out().is_some() {
        return false;
    }
    match workload.reference.kind.revisions() {
        Revisions::ReplicaSets => !deployment_is_unsettled(workload) && only_holder(workload, owned).is_none(),
        // A caller that may not list revisions gets a note of that, and has none here.
        Revisions::ControllerRevisions(_) => {
            !owned.is_empty() && revisions::newest_with(owned, workload.template()).is_none()
        }
        Revisions::None => false,
    }
}

fn of_deployment(context: &Context<'_>, plan: &mut DurablePlan, reasons: &mut Vec<Reason>) {
    let workload = &context.live.workload;
    let sets = &context.live.surroundings.owned;
    let Some(current) = only_holder(workload, sets) else {
        let known = reasons.iter().any(|reason| matches!(reason, Reason::OwnerRollingOut { .. } | Reason::NoPods));
        if !known && context.live.surroundings.denied.is_empty() {
            let status = "no single ReplicaSet holds its template and all its pods".into();
            reasons.push(Reason::OwnerRollingOut { status });
        }
        return;
    };
    let revision = deployment::revision_of(current);
    plan.rollout.outgoing = Some(RevisionRef::of(current));
    plan.revision = Some(sets.iter().map(deployment::revision_of).max().unwrap_or(revision).saturating_add(1));
    let Some(after) = plan.rollout.change.apply(workload.template()) else { return };
    plan.rollout.history = history_of(workload, sets, current, &after);
}

/// Returns the revision of a Deployment that the first step alone pushes out of a history of one.
///
/// Every ReplicaSet is an old one once no ReplicaSet has the template (`cleanupDeployment`). With a longer history the
/// oldest goes as in any rollout.
pub(super) fn evicted(plan: &DurablePlan, live: &Snapshot) -> Option<Warning> {
    let limit = live.workload.object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64);
    // On a swap a ReplicaSet has the new template at once, and only the current one counts as old.
    if plan.rollout.history != HistoryStep::Create || limit != Some(1) {
        return None;
    }
    let old = live.surroundings.owned.iter().filter(|set| deployment::is_empty(set));
    let oldest = old.min_by_key(|set| deployment::revision_of(set))?;
    let name = oldest.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Warning::HistoryEvicted { name, revision: deployment::revision_of(oldest) })
}

fn of_revisions(context: &Context<'_>, plan: &mut DurablePlan, reasons: &mut Vec<Reason>) {
    let workload = &context.live.workload;
    let owned = &context.live.surroundings.owned;
    plan.rollout.strategy = plan.rollout.strategy.take().or_else(|| held::strategy_before_raise(context.live));
    let number = |revision: &Value| revisions::number_of(revision).unwrap_or(0);
    let Some(current) = revisions::newest_with(owned, workload.template()) else {
        let surroundings = &context.live.surroundings;
        if let Some(denied) = &surroundings.revisions_denied {
            reasons.push(denied.reason(&workload.reference));
        } else if surroundings.denied.is_empty() && !reasons.contains(&Reason::OwnerNotObserved) {
            reasons.push(Reason::OwnerNotObserved);
        }
        return;
    };
    plan.rollout.outgoing = Some(RevisionRef::of(current));
    plan.revision = Some(owned.iter().map(number).max().unwrap_or(0).saturating_add(1));
    let after = plan.rollout.change.apply(workload.template());
    let known = after.and_then(|after| revisions::newest_with(owned, &after));
    plan.rollout.reuses = known.map(|revision| revisions::name_of(revision).to_owned());
}

/// The templates before and after: derived from the revision that the lock names, which nobody else writes to.
pub(super) fn before_after(live: &Snapshot, lock: &Lock) -> (Value, Value) {
    let workload = &live.workload;
    let named = lock.rollout.outgoing.as_ref().and_then(|outgoing| outgoing.find(&live.surroundings.owned));
    // A rollout that took the place of another one, and goes back to where that one began, has neither side. Nor has
    // another client's template: it must not be taken for the rollout's.
    let imposed = |template: &Value| {
        Some((lock.rollout.change.reversed().apply(template)?, lock.rollout.change.apply(template)?))
    };
    let of = |template: &Value| lock.rollout.change.before_after(template).or_else(|| imposed(template));
    let of_revision = named.map(|object| template_of_revision(workload.reference.kind, object));
    of_revision.as_ref().and_then(of).or_else(|| of(workload.template())).unwrap_or_default()
}

/// The ReplicaSet of a Deployment that holds a template.
fn holder<'s>(sets: &'s [Value], template: &Value) -> Option<&'s Value> {
    let text = |set: &Value, pointer: &str| set.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    // The controller takes the oldest that matches (`FindNewReplicaSet`).
    let age = |set: &&Value| (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name"));
    sets.iter().filter(|set| same(&deployment::template_of(set), template)).min_by_key(age)
}

/// `kubectl rollout undo` and `history` keep working: how the template of a Deployment's current ReplicaSet stays in the history once that takes another one.
pub(super) fn history_of(workload: &Workload, sets: &[Value], current: &Value, after: &Value) -> HistoryStep {
    let limit = workload.object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    match holder(sets, after) {
        Some(set) if set.pointer("/metadata/uid") != current.pointer("/metadata/uid") => {
            HistoryStep::Swap(RevisionRef::of(set))
        }
        Some(_) | None if limit == 0 => HistoryStep::Forget,
        Some(_) | None => HistoryStep::Create,
    }
}
