//! How fast and how careful, and roughly how long it takes.

use super::live::{LiveWorkload, Options};
use super::{PodPlan, PodVerdict};
use crate::engine::drain::{DEFAULT_DRAIN_SECONDS, DrainBy};
use crate::engine::int_or_percent::IntOrPercent;
use crate::engine::pod::{Container, Pod};
use crate::engine::record::Drained;
use crate::engine::rollout::{CANARY_HOLD_SECONDS, DrainGoal, Policy};
use crate::engine::workload::OwnerUnavailable;

/// A container that is stopped and started where the image is on the node takes about so many seconds.
const RESTART_SECONDS: u64 = 2;

/// How long a preStop hook takes, as a guess, unless it says so itself.
const PRE_STOP_SECONDS: u64 = 5;

/// Returns the policy that the owner and a person's choices give.
pub fn policy_of(live: &LiveWorkload, options: &Options) -> Policy {
    policy(live, options).0
}

/// Returns the policy, and how many pods the owner lets be down as it says literally.
pub(super) fn policy(live: &LiveWorkload, options: &Options) -> (Policy, Option<u32>) {
    let total = usize::try_from(live.workload.desired_replicas()).unwrap_or(usize::MAX);
    let scaled = |value: IntOrPercent, up| u32::try_from(value.scaled(total, up)).unwrap_or(u32::MAX);
    let owner = live.workload.owner_unavailable();
    let (of_owner, literal) = match &owner {
        OwnerUnavailable::One => (1, None),
        OwnerUnavailable::Up { to: IntOrPercent::Int(number), .. } => (*number, Some(*number)),
        OwnerUnavailable::Up { to, rounds_up } => {
            (scaled(*to, *rounds_up), (*to == IntOrPercent::Percent(0)).then_some(0))
        }
    };
    let rounds_up = live.workload.rounds_unavailable_up();
    let (max_unavailable, allowed) = match options.max_unavailable {
        Some(given) => (scaled(given, rounds_up), None),
        None => (of_owner, literal),
    };
    let policy = Policy {
        max_unavailable: max_unavailable.max(1),
        min_ready_seconds_given: options.min_ready_seconds,
        owner_min_ready_seconds: live.workload.min_ready_seconds(),
        timeout_given: options.timeout,
        total_timeout: options.total_timeout,
        goes_on_after_failure: false,
        canary: options.canary.map(|canary| scaled(canary, true).max(1)),
        pause_after: options.pause_after,
        drain_seconds: match options.drain.unwrap_or_default() {
            DrainBy::Auto => Some(options.drain_seconds.unwrap_or(DEFAULT_DRAIN_SECONDS)),
            DrainBy::None => None,
        },
        respects_budgets: !options.ignores_budgets && !live.surroundings.budgets.is_empty(),
        container_order: options.container_order.clone(),
        ordered: live.workload.is_ordered_ready(),
    };
    (policy, allowed)
}

/// Returns how long the rollout takes, as a rough guess in seconds: stopping, with preStop hooks, one container after
/// the other; the first probe; and how long ready must hold.
pub(super) fn estimate(pods: &[(PodPlan, &Pod)], policy: &Policy) -> u64 {
    let updated = || pods.iter().filter(|(plan, pod)| restarts(plan, pod));
    let Some((first_plan, first_pod)) = updated().next() else { return 0 };
    let all: u64 = updated().map(|(plan, pod)| of_pod(plan, pod, policy)).sum();
    let is_blind = |step: &Vec<&Container>| step.iter().any(|container| container.readiness_probe.is_none());
    let blind = steps(first_plan, first_pod, policy).iter().filter(|step| is_blind(step)).count();
    let canaries = if policy.min_ready_seconds_given.is_none() { u64::try_from(blind).unwrap_or(0) } else { 0 };
    let hold = u64::from(CANARY_HOLD_SECONDS.saturating_sub(policy.owner_min_ready_seconds));
    all.div_ceil(u64::from(policy.max_unavailable.max(1))) + canaries * hold
}

fn restarts(plan: &PodPlan, pod: &Pod) -> bool {
    plan.verdict == PodVerdict::Update && plan.restarted(pod).next().is_some()
}

fn of_pod(plan: &PodPlan, pod: &Pod, policy: &Policy) -> u64 {
    let steps = steps(plan, pod, policy);
    // By a gate ready has to hold twice: with the gate off, and with it on.
    let whole = steps.concat();
    let again = |drain: &DrainGoal| if matches!(drain.by, Drained::Gate(_)) { hold(&whole, policy) } else { 0 };
    let drain =
        plan.drain.as_ref().map_or(0, |drain| u64::from(policy.drain_seconds.unwrap_or(0)) + u64::from(again(drain)));
    1 + drain + steps.iter().map(|step| of_step(step, pod, policy)).sum::<u64>()
}

/// How long ready must hold for these containers.
fn hold(containers: &[&Container], policy: &Policy) -> u32 {
    let startup = containers.iter().filter_map(|container| container.startup_probe.as_ref());
    let startup = startup.map(|probe| probe.period_seconds.unwrap_or(10)).max().unwrap_or(0);
    policy.min_ready_seconds_given.unwrap_or(policy.owner_min_ready_seconds.max(startup))
}

/// The containers that restart, those that change at the same time together.
fn steps<'p>(plan: &'p PodPlan, pod: &'p Pod, policy: &Policy) -> Vec<Vec<&'p Container>> {
    let restarted = || plan.restarted(pod).map(|(container, _)| container);
    let listed = policy.container_order.iter().filter_map(|name| restarted().find(|known| known.name == *name));
    let others: Vec<&Container> =
        restarted().filter(|container| !policy.container_order.contains(&container.name)).collect();
    let steps = listed.map(|container| vec![container]).chain(std::iter::once(others));
    steps.filter(|step| !step.is_empty()).collect()
}

fn of_step(step: &[&Container], pod: &Pod, policy: &Policy) -> u64 {
    let containers = || step.iter().copied();
    let stop: u64 = containers().map(|container| stop_seconds(container, pod)).sum();
    let delay = |container: &Container| {
        let probes = [&container.startup_probe, &container.readiness_probe].into_iter().flatten();
        probes.map(|probe| u64::from(probe.initial_delay_seconds.unwrap_or(0))).sum::<u64>()
    };
    let start = containers().map(delay).max().unwrap_or(0);
    stop + start + u64::from(hold(step, policy))
}

fn stop_seconds(container: &Container, pod: &Pod) -> u64 {
    let hook = match &container.lifecycle.pre_stop {
        None => 0,
        Some(hook) => hook.sleep.as_ref().map_or(PRE_STOP_SECONDS, |sleep| sleep.seconds),
    };
    hook.min(pod.termination_grace_seconds()) + RESTART_SECONDS
}
