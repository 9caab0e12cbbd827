//! The order in which pods are taken, by rollouts and controllers alike.

use std::cmp::Ordering;

use crate::change::{FieldProgress, resizing};
use crate::k8s::pod::Pod;
use crate::plan::live::LiveWorkload;
use crate::state::policy::PodOrder;

/// A pod and its rank: pods that the rollout may fix go first, and those that it cannot go last.
#[derive(Clone, Copy)]
pub(super) struct Ranked<'a> {
    pod: &'a Pod,
    rank: u8,
}

impl<'a> Ranked<'a> {
    /// `is_stuck`: a container that the rollout does not change keeps it from being ready.
    pub(super) fn new(pod: &'a Pod, is_stuck: bool) -> Self {
        let rank = match (pod.is_ready(), is_stuck) {
            // A deferred resize is done by the kubelet itself once another pod has made room: this pod counts as having
            // had its turn.
            _ if resizing(pod)
                .is_some_and(|progress| matches!(progress, FieldProgress::Waiting { deferred: true, .. })) =>
            {
                0
            }
            (_, true) => 2,
            (true, false) => 1,
            (false, false) => 0,
        };
        Self { pod, rank }
    }
}

pub(super) fn compare(live: &LiveWorkload, order: PodOrder, a: Ranked<'_>, b: Ranked<'_>) -> Ordering {
    let by_owner = || live.workload.order(a.pod, b.pod);
    let broken_first = || a.rank.cmp(&b.rank).then_with(by_owner);
    let by_name = || a.pod.key.name.cmp(&b.pod.key.name);
    match order {
        _ if live.workload.is_ordered_ready() => by_owner(),
        PodOrder::UnreadyFirst => broken_first(),
        PodOrder::Name => by_name(),
        PodOrder::Age => a.pod.created.cmp(&b.pod.created).then_with(by_name),
        PodOrder::Node => a.pod.spec.node_name.cmp(&b.pod.spec.node_name).then_with(broken_first),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_may_heal_or_begins_by_itself_goes_first() {
        let rank = |ready: &str, pending: Option<&str>, is_stuck| {
            let mut conditions = vec![json!({"type": "Ready", "status": ready})];
            conditions.extend(pending.map(|why| json!({"type": "PodResizePending", "status": "True", "reason": why})));
            let pod: Value = json!({
                "metadata": {"name": "web-1", "namespace": "prod", "uid": "u"},
                "spec": {"containers": [{"name": "app", "image": "app:1"}]},
                "status": {"phase": "Running", "conditions": conditions},
            });
            Ranked::new(&Pod::from_object(&pod).expect("it is a pod"), is_stuck).rank
        };
        assert_eq!((rank("False", None, false), rank("True", None, false), rank("False", None, true)), (0, 1, 2));
        assert_eq!((rank("True", Some("Deferred"), false), rank("True", Some("Infeasible"), false)), (0, 1));
    }
}
