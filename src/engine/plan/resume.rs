//! From a plan, or from the lock that another run has left, to the owner's part of a goal.

use std::collections::BTreeMap;

use serde_json::Value;

use super::drains::{drain_goal, left_off};
use super::durable::{HistoryPlan, is_below_partition};
use super::live::LiveWorkload;
use super::{DurablePlan, WorkloadPlan};
use crate::engine::durable::change::Direction;
use crate::engine::durable::lock::{HistoryStep, LockState, RolloutLock};
use crate::engine::durable::{OwnerGoal, deployment, revisions};
use crate::engine::hook::Hooks;
use crate::engine::metadata::MetadataChange;
use crate::engine::names::RolloutId;
use crate::engine::pod::Pod;
use crate::engine::pre_pull::PrePull;
use crate::engine::record::UpdateRecord;
use crate::engine::rollout::{ContainerGoal, Goal, Mode, PodGoal, Policy};
use crate::engine::workload::{Workload, WorkloadKind};

/// Who begins a run, when, and how it is to leave things.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The run: another one of the same rollout has another.
    pub run: String,
    /// The user as the server knows it.
    pub who: String,
    /// The wall clock (RFC 3339).
    pub clock: String,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// The field manager of the writes.
    pub field_manager: String,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    /// `--pre-pull`.
    pub pre_pull: PrePull,
    /// `--before-pod`, `--after-pod`: no lock has them.
    pub hooks: Hooks,
    /// Let somebody else's change roll out that is found under a pause of ours.
    pub release: bool,
}

/// Why a rollout cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is no lock.
    #[error("no rollout of this program is under way or was left behind")]
    NoRollout,
    /// The lock cannot be read.
    #[error("the annotation kubectl-inplace.io/rollout cannot be read: it was edited, or is of another version")]
    Unreadable,
}

impl WorkloadPlan {
    /// Returns the goal: exactly what the plan shows, the owner included.
    pub fn durable_goal(&self, id: &RolloutId, live: &LiveWorkload, start: &Start) -> Goal {
        let mut goal = self.goal(id, &start.field_manager);
        let Some(plan) = &self.durable else { return goal };
        goal.mode = Mode::Durable;
        if let (WorkloadKind::Deployment, Some(outgoing)) = (self.workload.kind, &plan.outgoing) {
            goal.controllers = [outgoing.uid.clone()].into();
        }
        let before = live.workload.template().clone();
        let after = plan.change.apply(&before).unwrap_or_else(|| before.clone());
        let lock = lock(plan, &goal, start);
        goal.owner = Some(Box::new(owner_goal(lock, plan.replaces.clone(), (before, after), &live.workload, start)));
        goal
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
        id: goal.id.clone(),
        run: start.run.clone(),
        who: start.who.clone(),
        since: start.clock.clone(),
        reason: start.reason.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        state: LockState::Running,
        direction: Direction::Forward,
        change: plan.change.clone(),
        digests: digests.map(|(name, digest)| (name.clone(), digest.clone())).collect(),
        origin: plan.origin.clone(),
        strategy: plan.strategy.clone(),
        outgoing: plan.outgoing.clone(),
        history,
        reuses: plan.reuses.clone(),
        released: false,
        only: plan.only.clone(),
        policy: goal.policy.clone(),
    }
}

fn owner_goal(
    lock: RolloutLock,
    replaces: Option<String>,
    (before, after): (Value, Value),
    workload: &Workload,
    start: &Start,
) -> OwnerGoal {
    OwnerGoal {
        uid: workload.uid.clone(),
        lock,
        replaces,
        before,
        after,
        clock: start.clock.clone(),
        field_manager: start.field_manager.clone(),
        keep_field_ownership: start.keep_field_ownership,
        release: start.release,
    }
}

/// Returns the goal that goes on with the rollout whose lock is found, or takes it back. A policy that is given replaces
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
    let owned = &live.surroundings.owned;
    let found = match RolloutLock::of(&workload.object) {
        Err(_) => return Err(ResumeError::Unreadable),
        Ok(Some(lock)) => Some(lock),
        // A run that was killed between its last two steps leaves only copies; those in ControllerRevisions stay for ever.
        Ok(None) if workload.reference.kind == WorkloadKind::Deployment => {
            owned.iter().find_map(|object| RolloutLock::of(object).ok().flatten())
        }
        Ok(None) => None,
    };
    let Some(found) = found else { return Err(ResumeError::NoRollout) };
    let replaces = RolloutLock::text_of(&workload.object).map(str::to_owned);
    let mut lock = RolloutLock { run: start.run.clone(), state: LockState::Running, ..found };
    // What only copies tell of has ended: they are tidied away, and nothing turns round any more.
    lock.direction = direction.filter(|_| replaces.is_some()).unwrap_or(lock.direction);
    lock.policy = policy.unwrap_or(lock.policy);
    // The first few were looked at: that is why it goes on.
    lock.policy.canary = None;
    let sides = sides(live, &lock);
    let pods = pods(live, &lock);
    let controllers = match (workload.reference.kind, &lock.outgoing) {
        (WorkloadKind::Deployment, Some(outgoing)) => [outgoing.uid.clone()].into(),
        (_, _) => live.controllers.clone(),
    };
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
        pre_pull: start.pre_pull,
        hooks: start.hooks.clone(),
        owner: Some(Box::new(owner_goal(lock, replaces, sides, workload, start))),
    })
}

/// Returns the goal that puts back what a run of pods alone has left off, and nothing else; `None` where nothing is.
pub fn put_back(live: &LiveWorkload, policy: Policy, id: &RolloutId, start: &Start) -> Option<Goal> {
    let mine = |pod: &&Pod| match pod.controller() {
        Some(owner) => live.controllers.contains(&owner.uid),
        None => live.controllers.is_empty(),
    };
    let owed = live.pods.iter().filter(mine).filter(|pod| !pod.is_finished() && left_off(pod).is_some());
    let pods: Vec<PodGoal> = owed.map(put_back_goal).collect();
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
        pre_pull: PrePull::Never,
        hooks: Hooks::default(),
        owner: None,
    })
}

/// Nothing is wanted of the pod but what is off it.
fn put_back_goal(pod: &Pod) -> PodGoal {
    PodGoal { key: pod.key.clone(), containers: BTreeMap::new(), metadata: MetadataChange::default(), drain: None }
}

/// Whether the rollout is about that pod.
fn is_chosen(live: &LiveWorkload, lock: &RolloutLock, pod: &Pod) -> bool {
    let named = lock.only.is_empty() || lock.only.contains(&pod.key.name);
    named && !is_below_partition(&live.workload, pod)
}

/// The templates before and after: worked out from the revision that the lock names, which nobody else writes to.
fn sides(live: &LiveWorkload, lock: &RolloutLock) -> (Value, Value) {
    let workload = &live.workload;
    let outgoing = lock.outgoing.as_ref();
    let named = live.surroundings.owned.iter().find(|object| {
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        outgoing.is_some_and(|outgoing| uid == Some(outgoing.uid.as_str()))
    });
    let of_revision = named.map(|object| match workload.reference.kind {
        WorkloadKind::Deployment => deployment::template_of(object),
        WorkloadKind::StatefulSet | WorkloadKind::DaemonSet | WorkloadKind::ReplicaSet | WorkloadKind::Pod => {
            revisions::template_of(object)
        }
    });
    let candidates = [of_revision.as_ref(), Some(workload.template())];
    let found = candidates.into_iter().flatten().find_map(|template| lock.change.sides(template));
    found.unwrap_or_else(|| (workload.template().clone(), workload.template().clone()))
}

/// Every pod that the rollout is about: those that run what is wanted already are looked at too, and prove it.
fn pods(live: &LiveWorkload, lock: &RolloutLock) -> Vec<PodGoal> {
    let change = lock.directed();
    let mine = |pod: &&Pod| {
        let controlled = pod.controller().is_some_and(|owner| live.controllers.contains(&owner.uid));
        let is_owed = left_off(pod).is_some();
        // A pod that this rollout has not touched and that is as wanted has nothing to prove.
        let touched = UpdateRecord::of(pod).is_some_and(|record| record.id == lock.id);
        let differs = || {
            let wanted = ContainerGoal::of_change(&change, pod);
            let mut images = wanted.values();
            images.any(|container| container.from != container.to) || !change.metadata.left_in(pod).is_empty()
        };
        let is_meant = is_chosen(live, lock, pod) && (touched || differs());
        controlled && (is_meant || is_owed) && !pod.terminating && !pod.is_finished()
    };
    let mut pods: Vec<&Pod> = live.pods.iter().filter(mine).collect();
    let strict = lock.policy.ordered;
    pods.sort_by(|a, b| {
        let broken_first = if strict { std::cmp::Ordering::Equal } else { a.is_ready().cmp(&b.is_ready()) };
        broken_first.then_with(|| live.workload.order(a, b))
    });
    let goal = |pod: &Pod| {
        if !is_chosen(live, lock, pod) {
            return put_back_goal(pod);
        }
        let (containers, metadata) = (ContainerGoal::of_change(&change, pod), change.metadata.left_in(pod));
        let restarts = containers.values().any(|container| container.restarts && container.from != container.to);
        let drain = if restarts { drain_goal(live, pod, &metadata) } else { None };
        // Its own values before.
        PodGoal { key: pod.key.clone(), containers, metadata, drain }
    };
    pods.into_iter().map(goal).collect()
}
