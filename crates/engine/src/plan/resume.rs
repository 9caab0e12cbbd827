//! From a plan, or from the lock that another run has left, to the owner's part of a goal.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::adopt;
use super::drains::unrestored;
use super::durable::{HistoryPlan, is_set_back, life};
use super::resumed_pods::{Resumed, restore_goal};
use super::sides::{is_stale, sides};
use super::start::Start;
use super::{DurablePlan, WorkloadPlan};
use crate::change::Direction;
use crate::k8s::names::RolloutId;
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::plan::live::LiveWorkload;
use crate::rollout::pre_pull::PrePull;
use crate::rollout::{Goal, Mode, Policy};
use crate::state::durable::history::{self, HistoryEntry};
use crate::state::durable::holder::Holder;
use crate::state::durable::life::beat_of;
use crate::state::durable::lock::{CAUSE_POINTER, HistoryStep, LockState, RolloutLock};
use crate::state::durable::{LastBeat, OwnerGoal, deployment};
use crate::state::hook::Hooks;
use crate::state::outcome::EndResult;
use crate::state::record::{TakenOver, UpdateRecord};

/// Why a rollout cannot be resumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is no lock.
    #[error("no rollout of kubectl-inplace is in progress or unfinished")]
    NoRollout,
    /// The lock cannot be read.
    #[error("the annotation kubectl-inplace.io/rollout cannot be read: it was edited, or is of another version")]
    Unreadable,
    /// There is no lock, and the owner is held back as a rollout holds it.
    #[error(
        "it has no lock of this program, and {0}, with a template that its pods do not have: a rollout whose lock was removed leaves it so, and so does a user who holds the controller back"
    )]
    LockLost(&'static str),
    /// There is no lock, and what pods note of a rollout has come to no end.
    #[error(
        "it has no lock of this program, not all of its pods have the images of its template, and some note a rollout whose end nothing tells: its lock was removed"
    )]
    LeftOnPods,
    /// Somebody has set the template back.
    #[error(
        "its template is again what it was before the rollout: another client has set it back, so there is nothing to resume"
    )]
    SetBack,
    /// What is there cannot be finished in place.
    #[error("{0}")]
    NoWayOn(&'static str),
    /// Another run is active on it, or may be.
    #[error("{0}")]
    AtWork(String),
}

impl WorkloadPlan {
    /// Returns the goal: exactly what the plan shows, the owner included.
    pub fn durable_goal(&self, id: &RolloutId, live: &LiveWorkload, start: &Start) -> Goal {
        let mut goal = self.goal(id, &start.field_manager);
        let Some(plan) = &self.durable else { return goal };
        goal.mode = Mode::Durable;
        if let (Some(_), Some(outgoing)) = (self.workload.kind.owns_through(), &plan.outgoing) {
            goal.controllers = [outgoing.uid.clone()].into();
        }
        let before = live.workload.template().clone();
        let after = plan.change.apply(&before).unwrap_or_else(|| before.clone());
        let cause = cause_before(&live.workload.object);
        let lock = RolloutLock { cause, ..lock(plan, &goal, start) };
        let owner = owner_goal(lock, plan.replaces.clone(), (before, after), &live.workload, start);
        goal.owner = Some(Box::new(owner));
        goal
    }
}

/// The change-cause of the pods' template, also where a rollout that did not end well had set its own.
fn cause_before(object: &Value) -> Option<String> {
    match RolloutLock::of(object) {
        Ok(Some(found)) => found.cause,
        Ok(None) | Err(_) => object.pointer(CAUSE_POINTER).and_then(Value::as_str).map(str::to_owned),
    }
}

fn lock(plan: &DurablePlan, goal: &Goal, start: &Start) -> RolloutLock {
    let history = match &plan.history {
        HistoryPlan::Create => {
            HistoryStep::Create { name: format!("{}-{}", goal.workload.name, deployment::history_hash(&goal.id)) }
        }
        HistoryPlan::Swap { name, uid, revision } => {
            HistoryStep::Swap { name: name.clone(), uid: uid.clone(), revision: *revision }
        }
        HistoryPlan::Forget | HistoryPlan::ByController => HistoryStep::Keep,
    };
    let digests = plan.digests.iter().filter(|(name, _)| plan.change.images.contains_key(*name));
    RolloutLock {
        digests: digests.map(|(name, digest)| (name.clone(), digest.clone())).collect(),
        origin: plan.origin.clone(),
        strategy: plan.strategy.clone(),
        outgoing: plan.outgoing.clone(),
        history,
        reuses: plan.reuses.clone(),
        only: plan.only.clone(),
        hooks: goal.hooks.phases().collect(),
        replaced: replaced(plan, goal, start),
        ..start.lock(goal.id.clone(), plan.change.clone(), goal.policy.clone())
    }
}

/// The rollout whose place is taken, and those whose place that one had taken.
fn replaced(plan: &DurablePlan, goal: &Goal, start: &Start) -> Vec<HistoryEntry> {
    let mut entries = plan.replaced.as_ref().map(|found| found.replaced.clone()).unwrap_or_default();
    let found = plan.replaced.as_ref().map(|found| found.entry(EndResult::Superseded, &start.clock, &start.who));
    let lost = plan.lost.clone().map(|lost| HistoryEntry { ended: start.clock.clone(), ..lost });
    let entry = found.or(lost).map(|entry| HistoryEntry { replaced_by: Some(goal.id.clone()), ..entry });
    entries.extend(entry);
    entries.split_off(entries.len().saturating_sub(history::KEPT))
}

fn owner_goal(
    lock: RolloutLock,
    replaces: Option<String>,
    (before, after): (Value, Value),
    workload: &Workload,
    start: &Start,
) -> OwnerGoal {
    // A lock that cannot be read says nothing: then its run's requests may be anywhere.
    let found = replaces.as_deref().map(|text| serde_json::from_str::<RolloutLock>(text).ok());
    let take_over = found.filter(|found| found.as_ref().is_none_or(RolloutLock::may_be_late));
    let take_over = take_over.map(|found| TakenOver {
        rollout: found.map_or_else(|| lock.id.clone(), |found| found.id),
        run: lock.run.clone(),
    });
    OwnerGoal {
        uid: workload.uid.clone(),
        take_over,
        earlier: BTreeSet::new(),
        continues: start.continues.is_some(),
        lock,
        replaces,
        unless_alive: None,
        adopts: false,
        before,
        after,
        clock: start.clock.clone(),
        who: start.who.clone(),
        field_manager: start.field_manager.clone(),
        keep_field_ownership: start.keep_field_ownership,
    }
}

/// Returns the goal that goes on with the rollout whose lock is found, or takes it back. A given policy replaces
/// the one in the lock.
///
/// # Errors
/// When there is no lock, or it cannot be read.
pub fn resume(
    live: &LiveWorkload,
    direction: Option<Direction>,
    policy: Option<Policy>,
    start: &Start,
) -> Result<Goal, ResumeError> {
    let workload = &live.workload;
    let (found, adopts) = found(live, start)?;
    let replaces = RolloutLock::text_of(&workload.object).map(str::to_owned);
    if (replaces.is_some() || adopts) && found.run != start.run {
        may_go_on(live, &found, start)?;
    }
    if !adopts && direction != Some(Direction::Back) && !start.take_over && is_set_back(live, &found) {
        return Err(ResumeError::SetBack);
    }
    let is_made = found.run == start.run;
    let found_state = found.state;
    let mut lock =
        RolloutLock { run: start.run.clone(), state: LockState::Running, holder: start.holder(), late: false, ..found };
    // A rollout known only from copies has ended: the copies are removed, and its direction no longer changes.
    match direction.filter(|_| replaces.is_some() || adopts) {
        Some(Direction::Back) if lock.goes_back() => {}
        Some(Direction::Back) => {
            lock.turn_back();
            // The pauses were for the new images.
            lock.policy.pause_after = None;
        }
        Some(Direction::Forward) => lock.direction = Direction::Forward,
        None => {}
    }
    lock.policy = policy.unwrap_or(lock.policy);
    // A hook that is left out once is not left out for ever.
    lock.hooks.extend(start.hooks.phases());
    // Where it paused, the canary was inspected: that is why it goes on. Where it was interrupted, it was not.
    if found_state == LockState::Paused || lock.direction == Direction::Back || direction == Some(Direction::Back) {
        lock.policy.canary = None;
    }
    let mut owner = owner_goal(lock.clone(), replaces, sides(live, &lock), workload, start);
    owner.adopts = adopts;
    if adopts {
        // It is unknown which requests of the run before are on their way.
        owner.take_over = Some(TakenOver { rollout: lock.id.clone(), run: lock.run.clone() });
    }
    if adopts && is_made && adopt::has_raised_partition(live, &lock) {
        return Err(ResumeError::NoWayOn(PARTITION_IS_RAISED));
    }
    // A lock that was found in a copy was written by a run, which knew.
    if adopts
        && is_made
        && lock.direction == Direction::Back
        && let Some(why) = adopt::no_way_back(live, &lock)
    {
        return Err(ResumeError::NoWayOn(why));
    }
    if adopts && lock.direction == Direction::Back && lock.change.is_empty() {
        return Err(ResumeError::NoWayOn("what there was before is not known, so it cannot be rolled back; resume it"));
    }
    if adopts && lock.direction == Direction::Back && !adopt::can_go_back(live, &lock, &owner.before) {
        return Err(ResumeError::NoWayOn(
            "an older ReplicaSet holds the template from before: going back would replace the pods, going on does not",
        ));
    }
    let noted = live.pods.iter().filter_map(|pod| UpdateRecord::of(pod)?.taken_over.clone());
    owner.earlier = noted.filter(|noted| noted.rollout == lock.id).map(|noted| noted.run).collect();
    owner.unless_alive = (!start.take_over).then(|| LastBeat(beat_of(&workload.object).map(str::to_owned)));
    let controllers = match (workload.reference.kind.owns_through(), &lock.outgoing) {
        (Some(_), Some(outgoing)) => [outgoing.uid.clone()].into(),
        (_, _) => live.controllers.clone(),
    };
    let is_over = is_stale(workload, &live.surroundings.owned, &lock);
    let pods = Resumed { live, lock: &lock, is_made, is_over }.pods(&controllers);
    Ok(Goal {
        id: lock.id.clone(),
        workload: workload.reference.clone(),
        mode: Mode::Durable,
        controllers,
        replicas: workload.desired_replicas(),
        pods,
        policy: lock.policy.clone(),
        field_manager: start.field_manager.clone(),
        pulls: Vec::new(),
        process: None,
        pre_pull: start.pre_pull,
        read_at: None,
        followed: None,
        hooks: start.hooks.clone(),
        owner: Some(Box::new(owner)),
    })
}

const MORE_THAN_IN_PLACE: &str = "its controller is held back, and its template differs from what its pods were made from in more than can be changed in place: set the template back first, or let it roll out, which replaces every pod";

const LEFT_ON_PODS: &str = "pods note a rollout that did not end, and nothing tells what its template was: set the image that you want in the template, with apply, or with kubectl set image where its controller replaces pods";

const PARTITION_IS_RAISED: &str = "its partition is above every pod, as a rollout leaves it, and nothing tells what it was: set it back first with kubectl edit, and its controller updates the pods from there on";

/// Returns the lock to go on from, and whether it had to be found again.
fn found(live: &LiveWorkload, start: &Start) -> Result<(RolloutLock, bool), ResumeError> {
    let workload = &live.workload;
    let lost = || adopt::copied(live).map(|lock| (lock, true));
    let made = || adopt::made(live, start).map(|lock| (lock, true));
    match RolloutLock::of(&workload.object) {
        Ok(Some(lock)) => Ok((lock, false)),
        Err(_) if !start.take_over => Err(ResumeError::Unreadable),
        Err(_) => lost().or_else(made).ok_or(ResumeError::NoWayOn(
            "its lock cannot be read, and its template differs from what its pods were made from in more than can be changed in place",
        )),
        Ok(None) => {
            // A run that was killed between its last two steps leaves only copies; those in ControllerRevisions stay for
            // ever.
            let owned = &live.surroundings.owned;
            let copies = owned.iter().filter_map(|object| RolloutLock::of(object).ok().flatten());
            let ended = copies.into_iter().find(|lock| is_stale(workload, owned, lock));
            let ended = ended.filter(|_| workload.reference.kind.owns_through().is_some());
            // The leftovers of an ended rollout are removed where nothing else is left.
            let left = || if start.take_over { made() } else { None };
            let found = lost().or_else(left).or_else(|| Some((ended?, false)));
            match found {
                Some(found) => Ok(found),
                None if start.take_over && adopt::waits_for_more(live) => Err(ResumeError::NoWayOn(MORE_THAN_IN_PLACE)),
                None if start.take_over && adopt::is_left_on_pods(live) => Err(ResumeError::NoWayOn(LEFT_ON_PODS)),
                None if start.take_over => Err(ResumeError::NoRollout),
                None if adopt::is_left_on_pods(live) && !adopt::is_left_without_lock(live) => {
                    Err(ResumeError::LeftOnPods)
                }
                None => {
                    let held = workload.reference.kind.holds_by().sentence();
                    let held = held.filter(|_| adopt::is_left_without_lock(live));
                    Err(held.map_or(ResumeError::NoRollout, ResumeError::LockLost))
                }
            }
        }
    }
}

/// Whether this run may act in place of the one that holds the lock.
fn may_go_on(live: &LiveWorkload, found: &RolloutLock, start: &Start) -> Result<(), ResumeError> {
    let is_its_own = start.continues.as_ref() == Some(&found.run);
    if is_its_own || start.take_over {
        return Ok(());
    }
    let life = life(live, found);
    if start.continues.is_none() && !life.may_be_at_work() {
        return Ok(());
    }
    let by = found.holder.as_ref().map_or_else(|| found.who.clone(), Holder::sentence);
    Err(ResumeError::AtWork(format!("rollout \"{}\" is run by {by}: it is {}", found.id, life.sentence())))
}

/// Returns the goal that restores the labels and gates that a run of pods alone has left removed, and nothing else.
pub fn restore_all(live: &LiveWorkload, policy: Policy, id: &RolloutId, start: &Start) -> Option<Goal> {
    let mine = |pod: &&Pod| match pod.controller() {
        Some(owner) => live.controllers.contains(&owner.uid),
        None => live.controllers.is_empty(),
    };
    let owed = live.pods.iter().filter(mine).filter(|pod| !pod.is_finished() && unrestored(pod).is_some());
    let pods: Vec<_> = owed.map(restore_goal).map(Arc::new).collect();
    (!pods.is_empty()).then(|| Goal {
        id: id.clone(),
        workload: live.workload.reference.clone(),
        mode: Mode::PodsOnly,
        controllers: live.controllers.clone(),
        replicas: live.workload.desired_replicas(),
        pods,
        policy,
        field_manager: start.field_manager.clone(),
        pulls: Vec::new(),
        process: None,
        pre_pull: PrePull::Never,
        read_at: None,
        followed: None,
        hooks: Hooks::default(),
        owner: None,
    })
}
