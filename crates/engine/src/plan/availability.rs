//! Whether pods may be taken down at all, and now: budgets, pods that are down already, pods that no node runs.
//!
//! What can never be resolved is a reason, before anything is written: a budget that leaves no room even when every pod
//! is healthy. What may settle by itself (pods that are not ready, or not scheduled yet; a budget that has no room now)
//! is a warning: the rollout waits for it, within its timeout.

use super::wanted::Context;
use super::{BudgetPace, PodPlan, PodVerdict};
use crate::change::reason::{Reason, Warning};
use crate::k8s::budget::{self, BudgetLimit, CountedPod};
use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerList, ContainerStatus, Pod};
use crate::kinds::{Replicas, WorkloadKind};
use crate::plan::live::Snapshot;
use crate::rollout::{Goal, PodGoal, Policy};
use crate::state::again;

pub(super) fn never_allowed(context: &Context<'_>, pods: &[(PodPlan, &Pod)], policy: &Policy) -> Vec<Reason> {
    if !policy.respects_budgets {
        return Vec::new();
    }
    let counted = counted(context, pods);
    let never = budget::never(&context.live.surroundings.budgets, replicas(context), &counted);
    let blocked = never.into_iter().filter_map(|limit| {
        let pods = going_down(pods).filter(|pod| limit.selects(&pod.labels)).count();
        (pods > 0).then(|| Reason::DisruptionBudgetBlocks {
            budget: limit.budget.clone(),
            why: limit.why.clone(),
            pods,
        })
    });
    blocked.collect()
}

/// Returns what keeps pods from being taken down now, though it may settle.
pub(super) fn warnings(context: &Context<'_>, pods: &[(PodPlan, &Pod)], policy: &Policy) -> Vec<Warning> {
    let mut warnings: Vec<Warning> =
        not_scheduled(pods).into_iter().chain(stay_unready(pods)).chain(unready(context, pods)).collect();
    warnings.extend(unready_before(context, pods));
    if going_down(pods).next().is_none() {
        return warnings;
    }
    if policy.respects_budgets {
        warnings.extend(no_room_now(context, pods));
    }
    warnings.extend(too_many_down(context, pods, policy));
    warnings
}

/// Returns the budget that lets fewer pods be down at once than the policy does.
pub(super) fn slowest_budget(context: &Context<'_>, pods: &[(PodPlan, &Pod)], policy: &Policy) -> Option<BudgetPace> {
    if !policy.respects_budgets {
        return None;
    }
    let limits = budget::limits(&context.live.surroundings.budgets, replicas(context), &counted(context, pods));
    let slows = |limit: &BudgetLimit| {
        let is_less = u32::try_from(limit.allowed).is_ok_and(|allowed| allowed > 0 && allowed < policy.max_unavailable);
        is_less && going_down(pods).any(|pod| limit.selects(&pod.labels))
    };
    let slowest = limits.into_iter().filter(slows).min_by_key(|limit| limit.allowed)?;
    Some(BudgetPace { pods: u32::try_from(slowest.allowed).ok()?, budget: slowest.budget })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Restarted {
    /// All that there are, and those that are missing.
    pub(super) of: usize,
    pub(super) ready: usize,
    pub(super) pods: usize,
    pub(super) ready_pods: usize,
    pub(super) first_is_ready: bool,
}

impl Restarted {
    fn among(present: &[&Pod], replicas: usize, restarted: &[&Pod]) -> Self {
        let ready = |pods: &[&Pod]| pods.iter().filter(|pod| pod.is_ready()).count();
        Self {
            of: replicas.max(present.len()),
            ready: ready(present),
            pods: restarted.len(),
            ready_pods: ready(restarted),
            first_is_ready: restarted.first().is_some_and(|pod| pod.is_ready()),
        }
    }

    /// All of so many, each of them ready.
    pub(super) fn all(pods: usize) -> Self {
        Self { of: pods, ready: pods, pods, ready_pods: pods, first_is_ready: true }
    }

    /// Returns the warning that no other pod serves meanwhile. Missing pods count as unavailable, and so do those that are not
    /// ready; of several pods the first is ready again before the others restart, unless it does not go alone.
    pub(super) fn leaves_none(self, kind: WorkloadKind, policy: &Policy) -> Option<Warning> {
        match kind.replicas() {
            // Which others serve beside a pod that is named by itself is not read.
            Replicas::One => return None,
            // Each pod of a DaemonSet serves its node, and goes down there in the DaemonSet's own rollout, too.
            Replicas::Scheduled if self.of == 1 => return None,
            Replicas::Spec | Replicas::Scheduled => {}
        }
        let all_may = usize::try_from(policy.max_unavailable).unwrap_or(usize::MAX) >= self.of;
        if self.ready == 0 || self.ready_pods < self.ready || !all_may {
            return None;
        }
        let pauses = [policy.canary, policy.pause_after].into_iter().flatten();
        let is_paused = pauses.filter_map(|pods| usize::try_from(pods).ok()).any(|pods| pods < self.pods);
        let together = !policy.first_goes_alone() && !is_paused;
        let is_the_only_one = self.ready == 1 && self.first_is_ready;
        (is_the_only_one || together).then_some(Warning::NoOtherPodServes { pods: self.ready })
    }
}

/// Returns the warning that no other pod serves meanwhile; `pace` is the policy as budgets slow it.
pub(super) fn none_serves(context: &Context<'_>, pods: &[(PodPlan, &Pod)], pace: &Policy) -> Option<Warning> {
    let present: Vec<&Pod> = owned(context, pods).map(|(_, pod)| *pod).filter(|pod| pod.is_present()).collect();
    let restarted: Vec<&Pod> = pods.iter().filter(|(plan, pod)| is_restarted(plan, pod)).map(|(_, pod)| *pod).collect();
    Restarted::among(&present, replicas(context), &restarted).leaves_none(context.live.workload.reference.kind, pace)
}

/// Returns whether the one pod of a workload is ready and restarts, where a rollout goes on or is rolled back.
pub fn only_pod_restarts(goal: &Goal, live: &Snapshot) -> bool {
    let present = live.pods.iter().filter(|pod| pod.is_present() && pod.is_controlled_by(&goal.controllers));
    let present: Vec<&Pod> = present.collect();
    let changes = |pod: &PodGoal| pod.containers.values().any(|it| it.restarts && (it.by_resize || it.from != it.to));
    let restarted = goal.pods.iter().filter(|pod| changes(pod));
    let restarted = restarted.filter_map(|wanted| present.iter().copied().find(|pod| pod.key == wanted.key));
    let replicas = usize::try_from(goal.replicas).unwrap_or(usize::MAX);
    let found = Restarted::among(&present, replicas, &restarted.collect::<Vec<_>>());
    found.of == 1 && found.leaves_none(goal.workload.kind, goal.policy()).is_some()
}

/// The pods that are up and would be taken down.
fn going_down<'a>(pods: &'a [(PodPlan, &'a Pod)]) -> impl Iterator<Item = &'a Pod> {
    let goes = |(plan, pod): &&(PodPlan, &Pod)| is_restarted(plan, pod) && pod.is_ready();
    pods.iter().filter(goes).map(|(_, pod)| *pod)
}

fn counted<'a>(context: &'a Context<'_>, pods: &'a [(PodPlan, &'a Pod)]) -> Vec<CountedPod<'a>> {
    owned(context, pods).map(|(_, pod)| CountedPod::of(pod, false)).collect()
}

fn owned<'a>(context: &'a Context<'_>, pods: &'a [(PodPlan, &'a Pod)]) -> impl Iterator<Item = &'a (PodPlan, &'a Pod)> {
    let is_pod = !context.live.workload.reference.kind.has_template();
    pods.iter().filter(move |(_, pod)| is_pod || pod.controller().is_some())
}

fn replicas(context: &Context<'_>) -> usize {
    usize::try_from(context.live.workload.desired_replicas()).unwrap_or(usize::MAX)
}

fn no_room_now(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Vec<Warning> {
    let counted = counted(context, pods);
    let (budgets, replicas) = (&context.live.surroundings.budgets, replicas(context));
    let never: Vec<BudgetLimit> = budget::never(budgets, replicas, &counted);
    let limits = budget::limits(budgets, replicas, &counted);
    let full = limits.iter().filter(|limit| limit.allowed == 0);
    let full = full.filter(|limit| !never.iter().any(|never| never.budget == limit.budget));
    full.filter_map(|limit| {
        let pods = going_down(pods).filter(|pod| limit.selects(&pod.labels)).count();
        let why = limit.why.clone();
        (pods > 0).then(|| Warning::DisruptionBudgetAllowsNone { budget: limit.budget.clone(), pods, why })
    })
    .collect()
}

/// A pod without a node takes the new image, but nothing can show that the image works.
fn not_scheduled(pods: &[(PodPlan, &Pod)]) -> Option<Warning> {
    let waits = |(plan, pod): &&(PodPlan, &Pod)| {
        matches!(plan.verdict, PodVerdict::Update | PodVerdict::InProgress) && !pod.is_scheduled()
    };
    let mut waiting = pods.iter().filter(waits).map(|(_, pod)| *pod);
    let first = waiting.next()?;
    let why = first.unscheduled().unwrap_or_default().to_owned();
    Some(Warning::PodsNotScheduled { pod: first.key.name.clone(), pods: waiting.count() + 1, why })
}

fn is_restarted(plan: &PodPlan, pod: &Pod) -> bool {
    plan.verdict == PodVerdict::Update && plan.restarted(pod).next().is_some()
}

/// The container that the update restarts and that still keeps its pod from being ready.
pub(super) fn stuck<'a>(plan: &PodPlan, pod: &'a Pod) -> Option<(&'a ContainerName, &'a str)> {
    if is_restarted(plan, pod) {
        failure::stuck(pod, plan.kubelet, |name| plan.changes.contains_key(name))
    } else {
        None
    }
}

fn stay_unready(pods: &[(PodPlan, &Pod)]) -> Option<Warning> {
    let mut stuck = pods.iter().filter_map(|(plan, pod)| Some((pod, stuck(plan, pod)?)));
    let (pod, (container, why)) = stuck.next()?;
    let (pod, container, why) = (pod.key.name.clone(), container.clone(), why.to_owned());
    Some(Warning::PodsStayUnready { pod, pods: stuck.count() + 1, container, why })
}

/// The container that keeps a pod from being ready and that the update restarts without changing it: whether another
/// container's change fixes it is unknown.
fn unready(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Option<Warning> {
    let goes = |(plan, pod): &&(PodPlan, &Pod)| is_restarted(plan, pod) && stuck(plan, pod).is_none();
    let mut unready = pods.iter().filter(goes).filter_map(|(plan, pod)| {
        let others = pod.statuses(ContainerList::Containers).iter();
        let mut others = others.filter(|status| !plan.changes.contains_key(&status.name));
        others.find_map(|status| Unsettled::of(context, pod, status, |status| !pod.is_ready() && !status.ready))
    });
    let Unsettled { pod, container, why, ends } = unready.next()?;
    Some(Warning::PodsUnready { pod, pods: unready.count() + 1, container, why, ends })
}

/// A container that is not ready, or that runs between two ends.
struct Unsettled {
    pod: String,
    container: ContainerName,
    why: String,
    ends: bool,
}

impl Unsettled {
    fn of(
        context: &Context<'_>,
        pod: &Pod,
        status: &ContainerStatus,
        is_unready: impl Fn(&ContainerStatus) -> bool,
    ) -> Option<Self> {
        let ends = again::ends(pod, status, context.live.surroundings.now.as_deref());
        (ends.is_some() || is_unready(status)).then(|| Self {
            pod: pod.key.name.clone(),
            container: status.name.clone(),
            ends: ends.is_some(),
            why: ends.unwrap_or_else(|| failure::word(status).to_owned()),
        })
    }
}

/// The container that the update changes and that keeps a pod from being ready already.
fn unready_before(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Option<Warning> {
    let updated = pods.iter().filter(|(plan, pod)| plan.verdict == PodVerdict::Update && pod.is_scheduled());
    let mut unready = updated.filter_map(|(plan, pod)| {
        let is_unready = |status: &ContainerStatus| !pod.is_ready() && !status.ready && !failure::is_on_its_way(status);
        let changed = plan.changes.keys().chain(plan.fields.resized());
        let mut statuses = changed.filter_map(|name| pod.status_of(name));
        statuses.find_map(|status| Unsettled::of(context, pod, status, is_unready))
    });
    let Unsettled { pod, container, why, ends } = unready.next()?;
    Some(Warning::PodsUnreadyBefore { pod, pods: unready.count() + 1, container, why, ends })
}

/// As many pods are down as may be, and the update could fix none of them. A strict order has a warning of its own.
fn too_many_down(context: &Context<'_>, pods: &[(PodPlan, &Pod)], policy: &Policy) -> Option<Warning> {
    if policy.ordered {
        return None;
    }
    let present: Vec<&(PodPlan, &Pod)> = owned(context, pods).filter(|(_, pod)| pod.is_present()).collect();
    let is_down = |(_, pod): &&&(PodPlan, &Pod)| !pod.is_ready();
    let heals = |(plan, pod): &&&(PodPlan, &Pod)| {
        plan.verdict == PodVerdict::Update && pod.is_scheduled() && stuck(plan, pod).is_none()
    };
    let missing = replicas(context).saturating_sub(present.len());
    let down = u32::try_from(present.iter().filter(is_down).count() + missing).unwrap_or(u32::MAX);
    if down < policy.max_unavailable || present.iter().filter(is_down).any(|pod| heals(&pod)) {
        return None;
    }
    let pod = present.iter().find(is_down).map(|(_, pod)| pod.key.name.clone()).unwrap_or_default();
    Some(Warning::AvailabilityUsedUp { pod, down, allowed: policy.max_unavailable })
}
