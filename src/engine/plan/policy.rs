//! How fast and how careful.

use crate::engine::k8s::workload::OwnerUnavailable;
use crate::engine::plan::live::{LiveWorkload, Options};
use crate::engine::rollout::drain::{DEFAULT_DRAIN_SECONDS, DrainBy};
use crate::engine::state::policy::{OnDeferred, Policy};
use crate::engine::value::int_or_percent::IntOrPercent;

/// Returns the policy from the owner and the user's choices.
pub fn policy_of(live: &LiveWorkload, options: &Options) -> Policy {
    policy(live, options).0
}

/// Returns the policy, and how many pods the owner's own setting lets be down.
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
        undoes_failures: false,
        on_deferred: OnDeferred::Wait,
        canary: options.canary.map(|canary| scaled(canary, true).max(1)),
        pause_after: options.pause_after.filter(|pods| *pods > 0),
        drain_seconds: match options.drain.unwrap_or_default() {
            DrainBy::Auto => Some(options.drain_seconds.unwrap_or(DEFAULT_DRAIN_SECONDS)),
            DrainBy::None => None,
        },
        respects_budgets: options.respects_budgets.unwrap_or(true),
        container_order: options.container_order.clone(),
        order: options.order,
        ordered: live.workload.is_ordered_ready(),
    };
    (policy, allowed)
}
