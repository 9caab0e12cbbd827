//! The owner's side of a status: who holds it, what its own controller is at, which budget a rollout waits for, and where
//! pods have drifted from the template.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::{Comparison, PodState, PodStatus, WorkloadStatus};
use crate::k8s::budget::{self, CountedPod};
use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::k8s::{mask, metadata};
use crate::kinds;
use crate::plan::{Snapshot, lock_of};
use crate::state::durable::lock::Lock;
use crate::value::count::pods_that;
use crate::value::json_path::{items, text};

/// What an owner's controller is at, by the owner's own words: also of rollouts that are not this program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerState {
    Terminating,
    NotObserved,
    RollingOut {
        status: String,
    },
    /// The same of a controller that updates pods in place where it can.
    Updating {
        status: String,
    },
    Paused,
    /// It has the update strategy OnDelete, and pods are of an older revision.
    OnDelete,
    /// A PodDisruptionBudget allows no pod to be down that the rollout has still to restart.
    DisruptionBudget {
        why: String,
    },
    /// Its controller leaves pods as they are.
    Left {
        why: String,
    },
    /// Its controller says that it is not progressing.
    Stuck {
        /// Such as `ProgressDeadlineExceeded`.
        reason: String,
        message: String,
    },
}

impl OwnerState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Terminating => "terminating",
            Self::NotObserved => "notObserved",
            Self::RollingOut { .. } | Self::Updating { .. } => "rollingOut",
            Self::Paused => "paused",
            Self::OnDelete => "onDelete",
            Self::DisruptionBudget { .. } => "disruptionBudget",
            Self::Left { .. } => "left",
            Self::Stuck { .. } => "stuck",
        }
    }

    /// Returns whether it is neither a change in progress nor a pause.
    pub(super) fn is_at_rest(&self) -> bool {
        *self == Self::OnDelete
    }

    pub fn sentence(&self) -> String {
        match self {
            Self::Terminating => "it is being deleted".into(),
            Self::NotObserved => "its controller has not observed the latest spec".into(),
            Self::RollingOut { status } => format!("its controller is replacing pods: {status}"),
            Self::Updating { status } => format!("its controller is updating pods, in place where it can: {status}"),
            Self::Paused => "its rollouts are paused".into(),
            Self::OnDelete => {
                "its updateStrategy is OnDelete: its controller replaces no pod for the template, until the pod is deleted".into()
            }
            Self::DisruptionBudget { why } => format!("the rollout waits: {why}"),
            Self::Left { why } => why.clone(),
            Self::Stuck { reason, message } if message.is_empty() => {
                format!("its controller is not progressing: {reason}")
            }
            Self::Stuck { reason, message } => format!("its controller is not progressing: {reason}: {message}"),
        }
    }
}

/// Returns the owner's states. A pause under a rollout of this program's is that rollout's, until it has
/// lifted its own.
///
/// `also`: states that the object alone does not show.
pub(super) fn states(
    workload: &Workload,
    (lock, pods): (Option<&Lock>, &[&Pod]),
    also: impl IntoIterator<Item = OwnerState>,
) -> Vec<OwnerState> {
    let object = &workload.object;
    let mut states = Vec::new();
    if metadata::is_terminating(object) && workload.reference.kind.has_template() {
        states.push(OwnerState::Terminating);
    }
    if !workload.is_observed() {
        states.push(OwnerState::NotObserved);
    }
    states.extend(rolling_out(workload, pods));
    let is_ours = lock.is_some_and(|lock| !lock.released);
    if kinds::is_paused(object) && !is_ours {
        states.push(OwnerState::Paused);
    }
    states.extend(also);
    states.extend(stuck(object));
    states
}

fn rolling_out(workload: &Workload, pods: &[&Pod]) -> Option<OwnerState> {
    let (status, spec) = (workload.rolling_out()?, workload.reference.kind.spec());
    if spec.foresee.is_none() {
        return Some(OwnerState::RollingOut { status });
    }
    let waits = |pod: &&Pod| Some(format!("; {} waits: {}", pod.key, (spec.pod_waits)(&workload.object, &pod.labels)?));
    let waits = pods.iter().find_map(waits).unwrap_or_default();
    Some(OwnerState::Updating { status: status + &waits })
}

/// Deployments say by `Progressing` that a deadline passed, and they and ReplicaSets by `ReplicaFailure` that pods cannot
/// be made or deleted, such as for a quota (kube-controller-manager `deployment/progress.go`, `replicaset/replica_set_utils.go`).
fn stuck(object: &Value) -> impl Iterator<Item = OwnerState> {
    items(object, "/status/conditions").filter_map(|condition| {
        let text = |pointer: &str| text(condition, pointer);
        let is_stuck =
            matches!((text("/type"), text("/status")), ("Progressing", "False") | ("ReplicaFailure", "True"));
        is_stuck
            .then(|| OwnerState::Stuck { reason: text("/reason").to_owned(), message: mask::text(text("/message")) })
    })
}

/// Returns whether budgets are to be read: an unfinished rollout that asks them holds the workload.
pub fn waits_for_budgets(workload: &Workload) -> bool {
    matches!(lock_of(workload), Ok(Some(lock)) if lock.rollout.policy.respects_budgets)
}

/// Returns the budget that keeps the rollout from its next pod: no pod that it has not reached may be down now.
///
/// `pods` and `seen` are the same pods in the same order. While one is in progress its place is taken, which is no news.
pub(super) fn blocking_budget(
    live: &Snapshot,
    lock: Option<&Lock>,
    pods: &[&Pod],
    seen: &[PodStatus],
) -> Option<OwnerState> {
    let lock = lock?;
    let is_in_progress = |pod: &PodStatus| pod.state == PodState::Updating || pod.out_of_services.is_some();
    if !lock.rollout.policy.respects_budgets || seen.iter().any(is_in_progress) {
        return None;
    }
    let counted: Vec<CountedPod<'_>> = pods.iter().map(|pod| CountedPod::of(pod, false)).collect();
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

fn goes_down(lock: &Lock, pod: &Pod) -> bool {
    let change = lock.rollout.directed();
    !change.images.is_empty() || !change.fields.restarting_in(pod).is_empty()
}

/// One container whose image differs in some pods from the template that they were created from, with no rollout in progress
/// that changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    pub workload: WorkloadRef,
    pub container: ContainerName,
    pub template: String,
    /// What pods ask for in place of it.
    pub images: BTreeSet<String>,
    pub pods: usize,
}

impl Drift {
    /// Returns the drift of these pods of a workload, by container.
    pub fn of(status: &WorkloadStatus, is_meant: impl Fn(&PodKey) -> bool) -> Vec<Self> {
        let mut found: BTreeMap<(&ContainerName, &str), (BTreeSet<String>, usize)> = BTreeMap::new();
        for pod in status.pods.iter().filter(|pod| is_meant(&pod.key)) {
            for report in pod.containers.iter().filter(|report| report.comparison == Comparison::Drifted) {
                let Some(template) = &report.asked else { continue };
                let (images, pods) = found.entry((&report.container, template)).or_default();
                images.insert(report.image.clone());
                *pods += 1;
            }
        }
        let drift = |((container, template), (images, pods)): ((&ContainerName, &str), _)| Self {
            workload: status.workload.clone(),
            container: container.clone(),
            template: template.to_owned(),
            images,
            pods,
        };
        found.into_iter().map(drift).collect()
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, container, template, images, pods } = self;
        let pods = pods_that(*pods, "asks", "ask");
        let images = images.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "{pods} for {images} in {container}; the template of {workload}, from which new pods are made, says {template}"
        )
    }
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
    fn held(image: &'static str, pod: &Side, asks: bool) -> Snapshot {
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
        let why = |mut live: Snapshot, allowed| {
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
