//! From a plan, or from the lock that another run has left, to the owner's part of a goal.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::WorkloadPlan;
use super::durable::before_after;
use super::goal::of_pods;
use super::held::{is_stale, saved_strategy};
use super::pods::unrestored;
use super::recover::{ended_here, to_template};
use super::resumed_pods::{Resumed, restore_goal};
use super::rollout_state::{RolloutState, conflict, conflict_of_hold, lease_state, present_lock, rollout_state};
use crate::change::Direction;
use crate::k8s::names::RolloutId;
use crate::k8s::workload::Workload;
use crate::plan::live::Snapshot;
use crate::rollout::pre_pull::PrePull;
use crate::rollout::{Goal, Policy};
use crate::state::durable::history;
use crate::state::durable::lease::{Lease, Process, renewal_of};
use crate::state::durable::lock::{CAUSE_POINTER, Lock, LockState};
use crate::state::durable::rollout::Rollout;
use crate::state::durable::{ObjectWrite, OwnerChange, released};
use crate::state::hook::Hooks;
use crate::state::record::{FencingToken, UpdateRecord};

/// Who begins a run, when, and with which options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The run: each run of a rollout has its own id.
    pub run: String,
    /// The run of the same command that this one continues: that run's lock counts as its own.
    pub continues: Option<String>,
    pub who: String,
    pub process: Process,
    /// The time by the server's clock, or by this machine's where the server's answer had none (RFC 3339).
    pub clock: String,
    pub reason: Option<String>,
    pub field_manager: String,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    pub pre_pull: PrePull,
    /// `--before-pod`, `--after-pod`: no lock has them.
    pub hooks: Hooks,
    /// `--take-over`: a run that is active does not count.
    pub take_over: bool,
}

impl Start {
    /// The write fills in when it took the lock.
    pub(super) fn lease(&self) -> Option<Lease> {
        Some(Lease { who: self.who.clone(), process: self.process.clone(), since: None })
    }

    pub fn lock(&self, rollout: Rollout) -> Lock {
        let (who, since) = (self.who.clone(), self.clock.clone());
        Lock {
            rollout: Rollout { who, since, reason: self.reason.clone(), ..rollout },
            run: self.run.clone(),
            lease: self.lease(),
            version: env!("CARGO_PKG_VERSION").into(),
            state: LockState::Running,
            released: false,
            late: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is no lock, and nothing else tells of an unfinished rollout.
    #[error("no rollout of kubectl-inplace is in progress or unfinished")]
    NoRollout,
    /// No run can go on with it: another client has changed what it rests on, or it has no lock that can be read.
    #[error("{0}")]
    NoWayOn(&'static str),
    /// Another run is active on it, or may be.
    #[error("{0}")]
    AtWork(String),
}

impl WorkloadPlan {
    /// Returns the goal: exactly what the plan shows, the owner included.
    pub fn durable_goal(&self, id: &RolloutId, live: &Snapshot, start: &Start) -> Goal {
        let mut goal = self.goal(id, start);
        let Some(plan) = &self.durable else { return goal };
        if let (Some(_), Some(outgoing)) = (self.workload.kind.owns_through(), &plan.rollout.outgoing) {
            goal.controllers = [outgoing.uid.clone()].into();
        }
        let before = live.workload.template().clone();
        let after = plan.rollout.change.apply(&before).unwrap_or_else(|| before.clone());
        let replaced = plan.takes_over.as_ref().map(|found| found.rollout.superseded(&start.clock, &start.who));
        goal.lock = start.lock(Rollout {
            id: id.clone(),
            cause: cause_before(&live.workload.object),
            hooks: goal.hooks.phases().collect(),
            policy: self.policy.clone(),
            replaced: history::replaced_by(id, replaced.unwrap_or_default()),
            ..plan.rollout.clone()
        });
        let owner = owner_change(&goal.lock, (before, after), &live.workload, start);
        goal.owner = Some(Box::new(owner));
        goal
    }
}

/// The change-cause of the pods' template, also where a rollout that did not end well had set its own.
fn cause_before(object: &Value) -> Option<String> {
    match Lock::of(object) {
        Ok(Some(found)) => found.rollout.cause,
        Ok(None) | Err(_) => object.pointer(CAUSE_POINTER).and_then(Value::as_str).map(str::to_owned),
    }
}

fn owner_change(lock: &Lock, (before, after): (Value, Value), workload: &Workload, start: &Start) -> OwnerChange {
    let replaces = Lock::text_of(&workload.object).map(str::to_owned);
    // A lock that cannot be read says nothing: then its run's requests may be anywhere.
    let found = replaces.as_deref().map(Lock::read);
    let take_over = found.filter(|found| found.as_ref().is_none_or(Lock::may_be_late));
    let take_over = take_over.map(|found| FencingToken {
        rollout: found.map_or_else(|| lock.rollout.id.clone(), |found| found.rollout.id),
        run: lock.run.clone(),
    });
    OwnerChange {
        uid: workload.uid.clone(),
        take_over,
        earlier: BTreeSet::new(),
        continues: start.continues.is_some(),
        replaces,
        last_renewal: None,
        adopts: false,
        before,
        after,
        keep_field_ownership: start.keep_field_ownership,
    }
}

/// Returns the goal that goes on with the rollout whose lock is found, or takes it back.
pub fn resume(live: &Snapshot, direction: Option<Direction>, start: &Start) -> Result<Goal, ResumeError> {
    let workload = &live.workload;
    let state = rollout_state(live);
    let has_lock = Lock::text_of(&workload.object).is_some();
    let found = match state {
        RolloutState::None => ended_copy(live).ok_or(ResumeError::NoRollout)?,
        _ if state.what_ended_it().is_some() && start.take_over && direction != Some(Direction::Back) => {
            let lock = to_template(live, start).map_err(ResumeError::NoWayOn)?;
            return Ok(goal(live, lock, start, Adopts::Template));
        }
        RolloutState::Unclear(what) => return Err(ResumeError::NoWayOn(what)),
        RolloutState::Superseded(what) => {
            let lock = present_lock(live).filter(|lock| !is_stale(live, lock));
            lock.ok_or(ResumeError::NoWayOn(what))?
        }
        RolloutState::Active | RolloutState::MaybeActive | RolloutState::Unfinished => {
            present_lock(live).ok_or(ResumeError::NoRollout)?
        }
    };
    if has_lock {
        check_may_act(live, &found, start)?;
    }
    // A rollout known only from copies has ended: the copies are removed, and its direction no longer changes.
    let has_ended = state == RolloutState::None;
    let lock = turned(found.clone(), direction.filter(|_| !has_ended), start);
    if let Some(what) = conflict(live, &lock, found.rollout.direction).filter(|_| !has_ended) {
        return Err(ResumeError::NoWayOn(what));
    }
    let adopts = if has_lock || has_ended { Adopts::Nothing } else { Adopts::Copy };
    Ok(goal(live, lock, start, adopts))
}

fn turned(found: Lock, direction: Option<Direction>, start: &Start) -> Lock {
    let was_paused = found.state == LockState::Paused;
    let mut lock =
        Lock { run: start.run.clone(), state: LockState::Running, lease: start.lease(), late: false, ..found };
    match direction {
        Some(Direction::Back) if lock.rollout.goes_back() => {}
        Some(Direction::Back) => {
            lock.rollout.turn_back();
            // The pauses were for the new images.
            lock.rollout.policy.pause_after = None;
        }
        Some(Direction::Forward) => lock.rollout.direction = Direction::Forward,
        None => {}
    }
    // Where it paused, the canary was inspected: that is why it goes on. Where it was interrupted, it was not.
    if was_paused || lock.rollout.direction == Direction::Back || direction == Some(Direction::Back) {
        lock.rollout.policy.canary = None;
    }
    lock
}

/// What a run takes on that finds no lock of its rollout on the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adopts {
    /// It finds one, or the rollout has ended.
    Nothing,
    /// What a copy of its lock tells.
    Copy,
    /// The template that is there now, in a rollout of its own.
    Template,
}

fn goal(live: &Snapshot, mut lock: Lock, start: &Start, adopts: Adopts) -> Goal {
    let workload = &live.workload;
    // A hook that is left out once is not left out for ever.
    lock.rollout.hooks.extend(start.hooks.phases());
    let mut owner = owner_change(&lock, before_after(live, &lock), workload, start);
    owner.adopts = adopts != Adopts::Nothing;
    if owner.adopts {
        // It is unknown which requests of the run before are on their way.
        owner.take_over = Some(FencingToken { rollout: lock.rollout.id.clone(), run: lock.run.clone() });
    }
    let noted = live.pods.iter().filter_map(|pod| UpdateRecord::of(pod)?.taken_over.clone());
    owner.earlier = noted.filter(|noted| noted.rollout == lock.rollout.id).map(|noted| noted.run).collect();
    owner.last_renewal = (!start.take_over).then(|| renewal_of(&workload.object).unwrap_or_default().to_owned());
    let controllers = match (workload.reference.kind.owns_through(), &lock.rollout.outgoing) {
        (Some(_), Some(outgoing)) => [outgoing.uid.clone()].into(),
        (_, _) => live.controllers.clone(),
    };
    let is_over = is_stale(live, &lock);
    let pods = Resumed { live, lock: &lock, is_made: adopts == Adopts::Template, is_over }.pods(&controllers);
    Goal { controllers, owner: Some(Box::new(owner)), ..of_pods(live, lock, pods, start) }
}

/// A run that was killed between its last two steps leaves only copies on ReplicaSets; those in ControllerRevisions stay
/// for ever.
fn ended_copy(live: &Snapshot) -> Option<Lock> {
    live.workload.reference.kind.owns_through()?;
    let objects = std::iter::once(&live.workload.object).chain(&live.surroundings.owned);
    let mut locks = objects.filter_map(|object| Lock::of(object).ok().flatten());
    locks.find(|lock| is_stale(live, lock))
}

fn check_may_act(live: &Snapshot, found: &Lock, start: &Start) -> Result<(), ResumeError> {
    let is_its_own = start.continues.as_ref() == Some(&found.run);
    if is_its_own || start.take_over {
        return Ok(());
    }
    let life = lease_state(live, found);
    if start.continues.is_none() && !life.may_be_active() {
        return Ok(());
    }
    let by = found.lease.as_ref().map_or_else(|| found.rollout.who.clone(), Lease::sentence);
    Err(ResumeError::AtWork(format!("rollout \"{}\" is run by {by}: it is {}", found.rollout.id, life.sentence())))
}

/// Returns the goal that restores the labels and gates that a run of pods alone has left removed, and nothing else.
pub fn restore_all(live: &Snapshot, policy: Policy, id: &RolloutId, start: &Start) -> Option<Goal> {
    let owed = live
        .pods
        .iter()
        .filter(|pod| pod.belongs_to(&live.controllers))
        .filter(|pod| !pod.is_finished() && unrestored(pod).is_some());
    let pods: Vec<_> = owed.map(restore_goal).map(Arc::new).collect();
    let lock = start.lock(Rollout { id: id.clone(), policy, ..Rollout::default() });
    let bare = Start { pre_pull: PrePull::Never, hooks: Hooks::default(), ..start.clone() };
    (!pods.is_empty()).then(|| of_pods(live, lock, pods, &bare))
}

/// Returns the writes that let go of a workload which a rollout holds, and remove what that has set on it: the owner
/// first. Its controller may then replace pods.
pub fn release(live: &Snapshot, start: &Start) -> Vec<ObjectWrite> {
    let workload = &live.workload;
    let (kind, ended) = (workload.reference.kind, ended_here(live, start));
    // What another client has set meanwhile stays.
    let is_anothers = present_lock(live).is_some_and(|lock| conflict_of_hold(live, &lock).is_some());
    let before = saved_strategy(live);
    let freed = if is_anothers { None } else { kind.holds_by().release(&workload.object, before.as_ref()) };
    released(kind, (&workload.object, &live.surroundings.owned), freed, ended)
}
