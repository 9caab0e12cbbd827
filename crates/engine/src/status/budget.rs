//! A PodDisruptionBudget that the rollout which holds a workload waits for.

use super::{OwnerState, PodState, PodStatus};
use crate::k8s::budget::{self, CountedPod};
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::plan::{LiveWorkload, lock_of};
use crate::state::durable::lock::Lock;

/// Returns whether budgets are to be read: an unfinished rollout that asks them holds the workload.
pub fn waits_for_budgets(workload: &Workload) -> bool {
    matches!(lock_of(workload), Ok(Some(lock)) if lock.rollout.policy.respects_budgets)
}

/// Returns the budget that keeps the rollout from its next pod: no pod that it has not reached may be down now.
///
/// `pods` and `seen` are the same pods in the same order. While one is in progress its place is taken, which is no news.
pub(super) fn blocking(
    live: &LiveWorkload,
    lock: Option<&Lock>,
    pods: &[&Pod],
    seen: &[PodStatus],
) -> Option<OwnerState> {
    let lock = lock?;
    let is_in_progress = |pod: &PodStatus| pod.state == PodState::Updating || pod.out_of_services.is_some();
    if !lock.rollout.policy.respects_budgets || seen.iter().any(is_in_progress) {
        return None;
    }
    let counted: Vec<CountedPod<'_>> = pods.iter().copied().map(counted).collect();
    let replicas = usize::try_from(live.workload.desired_replicas()).unwrap_or(usize::MAX);
    let limits = budget::limits(&live.surroundings.budgets, replicas, &counted);
    let waiting = pods.iter().zip(seen).filter(|(_, seen)| seen.state == PodState::Pending);
    let mut blocking = waiting
        .filter(|(pod, _)| goes_down(lock, pod))
        .map(|(pod, _)| budget::blocking(&limits, &pod.labels).filter(|_| pod.is_ready()));
    // One that may go down is taken.
    let first = blocking.next()??;
    blocking.all(|blocking| blocking.is_some()).then(|| OwnerState::DisruptionBudget { why: first.to_string() })
}

fn counted(pod: &Pod) -> CountedPod<'_> {
    CountedPod { labels: &pod.labels, ready: pod.is_ready(), terminating: pod.terminating, in_progress: false }
}

/// Whether the rollout restarts a container of the pod.
fn goes_down(lock: &Lock, pod: &Pod) -> bool {
    let change = lock.rollout.directed();
    !change.images.is_empty() || !change.fields.restarting_in(pod).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::change::Direction;
    use crate::state::durable::lock::ROLLOUT_ANNOTATION;
    use crate::status::status;
    use crate::status::tests::{CREATED, Side, deployment, live, lock, running};

    fn budget(allowed: u64) -> Value {
        json!({"metadata": {"name": "web", "generation": 1},
            "spec": {"minAvailable": 1 - allowed, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1, "expectedPods": 1}})
    }

    /// A rollout has its template in the workload, and asks budgets or not.
    fn held(image: &'static str, pod: &Side, asks: bool) -> LiveWorkload {
        let mut lock = lock(Direction::Forward);
        lock.rollout.policy.respects_budgets = asks;
        let mut owner = deployment(image);
        owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: lock.to_text()});
        live(owner, &[pod.pod()])
    }

    fn pod(image: &'static str) -> Side {
        Side::new(image, CREATED, running(CREATED))
    }

    #[test]
    fn the_budget_that_a_rollout_waits_for_is_named() {
        let (old, new) = ("acme/side:v1", "acme/side:v2");
        let why = |mut live: LiveWorkload, allowed| {
            live.surroundings.budgets = vec![budget(allowed)];
            status(&live).owner.iter().map(OwnerState::sentence).collect::<Vec<_>>()
        };
        let waits = "the rollout waits: poddisruptionbudget/web allows no pod to be down now: 1 pod is healthy and 1 must be \
                     (minAvailable 1)";
        assert_eq!(why(held(new, &pod(old), true), 0), [waits]);
        assert_eq!(why(held(new, &pod(old), true), 1), [""; 0], "it has room");
        assert_eq!(why(held(new, &pod(old), false), 0), [""; 0], "it asks none");
        assert_eq!(why(held(new, &pod(new), true), 0), [""; 0], "no pod is left");
        assert_eq!(why(held(new, &pod(old).not_ready(), true), 0), [""; 0], "who is down already asks none");
        assert_eq!(why(live(deployment(old), &[pod(old).pod()]), 0), [""; 0], "there is no rollout");
    }
}
