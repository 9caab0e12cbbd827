//! The order in which pods are taken, by rollouts and controllers alike.

use std::cmp::Ordering;

use crate::change::{FieldProgress, resizing};
use crate::k8s::pod::Pod;
use crate::plan::live::LiveWorkload;
use crate::state::policy::PodOrder;

/// The rank of a pod: pods that the rollout may fix go first, and those that it cannot go last. `is_stuck`: a container
/// that the rollout does not change keeps it from being ready.
pub(super) fn rank(pod: &Pod, is_stuck: bool) -> u8 {
    // A deferred resize is done by the kubelet itself once another pod has made room: this pod counts as having had its turn.
    if matches!(resizing(pod), Some(FieldProgress::Waiting { deferred: true, .. })) {
        return 0;
    }
    match (pod.is_ready(), is_stuck) {
        (_, true) => 2,
        (true, false) => 1,
        (false, false) => 0,
    }
}

/// Compares two pods of a workload, each with its rank.
pub(super) fn compare(live: &LiveWorkload, order: PodOrder, a: (&Pod, u8), b: (&Pod, u8)) -> Ordering {
    let ((a, rank_a), (b, rank_b)) = (a, b);
    let by_owner = || live.workload.order(a, b);
    let broken_first = || rank_a.cmp(&rank_b).then_with(by_owner);
    let by_name = || a.key.name.cmp(&b.key.name);
    match order {
        _ if live.workload.is_ordered_ready() => by_owner(),
        PodOrder::UnreadyFirst => broken_first(),
        PodOrder::Name => by_name(),
        PodOrder::Age => a.created.cmp(&b.created).then_with(by_name),
        PodOrder::Node => a.spec.node_name.cmp(&b.spec.node_name).then_with(broken_first),
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
            rank(&Pod::from_object(&pod).expect("it is a pod"), is_stuck)
        };
        assert_eq!((rank("False", None, false), rank("True", None, false), rank("False", None, true)), (0, 1, 2));
        assert_eq!((rank("True", Some("Deferred"), false), rank("True", Some("Infeasible"), false)), (0, 1));
    }
}
