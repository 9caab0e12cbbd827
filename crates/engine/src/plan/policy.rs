//! How fast and how careful.

use crate::plan::live::{Options, Snapshot};
use crate::rollout::drain::{DEFAULT_DRAIN_SECONDS, DrainBy};
use crate::state::policy::{OnDeferred, Policy};
use crate::value::int_or_percent::IntOrPercent;

pub fn policy_of(live: &Snapshot, options: &Options) -> Policy {
    policy(live, options).0
}

/// Returns the policy of a rollout that another run carries on: a choice that is given replaces what it began with.
pub fn carried_on(known: &Policy, live: &Snapshot, options: &Options) -> Policy {
    let given = policy_of(live, options);
    Policy {
        max_unavailable: if options.max_unavailable.is_some() { given.max_unavailable } else { known.max_unavailable },
        min_ready_seconds_given: options.min_ready_seconds.or(known.min_ready_seconds_given),
        // How long somebody waits is a matter of each run.
        timeout_given: options.timeout,
        total_timeout: options.total_timeout,
        pause_after: options.pause_after.or(known.pause_after).filter(|pods| *pods > 0),
        respects_budgets: options.respects_budgets.unwrap_or(known.respects_budgets),
        drain_seconds: match options.drain {
            None => options.drain_seconds.or(known.drain_seconds),
            Some(DrainBy::Auto) => options.drain_seconds.or(known.drain_seconds).or(given.drain_seconds),
            Some(DrainBy::None) => None,
        },
        container_order: match options.container_order.is_empty() {
            true => known.container_order.clone(),
            false => options.container_order.clone(),
        },
        ..known.clone()
    }
}

/// Returns the policy, and how many pods the owner's own setting lets be down.
pub(super) fn policy(live: &Snapshot, options: &Options) -> (Policy, Option<u32>) {
    let total = usize::try_from(live.workload.desired_replicas()).unwrap_or(usize::MAX);
    let scaled = |value: IntOrPercent, up| u32::try_from(value.scaled(total, up)).unwrap_or(u32::MAX);
    // What has no such field counts as a Deployment does.
    let rounds_up = live.workload.reference.kind.spec().max_unavailable.is_some_and(|field| field.rounds_up);
    let (of_owner, literal) = match live.workload.max_unavailable() {
        None => (1, None),
        Some(IntOrPercent::Int(number)) => (number, Some(number)),
        Some(share) => (scaled(share, rounds_up), (share == IntOrPercent::Percent(0)).then_some(0)),
    };
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::{Value, json};

    use super::*;
    use crate::k8s::workload::Workload;
    use crate::kinds::WorkloadKind;
    use crate::plan::live::Surroundings;

    fn live() -> Snapshot {
        let object = json!({"metadata": {"name": "web", "namespace": "prod", "uid": "u"},
            "spec": {"replicas": 4, "template": {"spec": {"containers": []}}}});
        Snapshot {
            workload: Workload::from_object(WorkloadKind::Deployment, object).unwrap(),
            controllers: BTreeSet::new(),
            pods: Vec::new(),
            kubelets: BTreeMap::new(),
            not_read: Vec::new(),
            surroundings: Surroundings::default(),
        }
    }

    /// As each kind's controller counts: `ResolveFenceposts` for a Deployment, `getStatefulSetMaxUnavailable`, `UnavailableCount`
    /// for a DaemonSet; but at least one pod, where a Deployment makes a new pod first.
    #[test]
    fn a_share_of_the_pods_is_rounded_as_the_kinds_controller_rounds_it() {
        let of = |kind: WorkloadKind, pods: u64, value: Value| {
            let mut live = live();
            let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": value}});
            let object = json!({"metadata": {"name": "web", "namespace": "prod", "uid": "u"},
                "spec": {"replicas": pods, "strategy": strategy, "updateStrategy": strategy, "template": {"spec": {}}},
                "status": {"desiredNumberScheduled": pods}});
            live.workload = Workload::from_object(kind, object).unwrap();
            policy_of(&live, &Options::default()).max_unavailable
        };
        let cases = [
            // What, of how many pods: Deployment, StatefulSet, DaemonSet.
            (json!("25%"), 1, [1, 1, 1]),
            (json!("25%"), 3, [1, 1, 1]),
            (json!("25%"), 4, [1, 1, 1]),
            (json!("25%"), 7, [1, 1, 2]),
            (json!("50%"), 5, [2, 2, 3]),
            (json!("34%"), 3, [1, 1, 2]),
            (json!("67%"), 3, [2, 2, 3]),
            (json!("100%"), 3, [3, 3, 3]),
            (json!(2), 3, [2, 2, 2]),
            (json!(9), 3, [9, 9, 9]),
        ];
        let kinds = [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet];
        for (value, pods, expected) in cases {
            assert_eq!(kinds.map(|kind| of(kind, pods, value.clone())), expected, "{value} of {pods}");
        }
    }

    /// What a run does not get it keeps from the one before; how long it waits is its own.
    #[test]
    fn a_run_that_carries_on_keeps_what_it_is_not_given() {
        let live = live();
        let began = Options {
            max_unavailable: Some(IntOrPercent::Int(2)),
            timeout: Some(90),
            drain: Some(DrainBy::None),
            respects_budgets: Some(false),
            container_order: vec!["app".into()],
            ..Options::default()
        };
        let known = policy_of(&live, &began);
        let kept = carried_on(&known, &live, &Options::default());
        assert_eq!((kept.max_unavailable, kept.timeout_given, kept.drain_seconds), (2, None, None));
        assert!(!kept.respects_budgets && kept.container_order == known.container_order);
        let given = Options {
            max_unavailable: Some(IntOrPercent::Percent(25)),
            drain: Some(DrainBy::Auto),
            respects_budgets: Some(true),
            container_order: vec!["side".into()],
            ..Options::default()
        };
        let changed = carried_on(&known, &live, &given);
        assert_eq!((changed.max_unavailable, changed.drain_seconds), (1, Some(DEFAULT_DRAIN_SECONDS)));
        assert!(changed.respects_budgets && changed.container_order == given.container_order);
    }
}
