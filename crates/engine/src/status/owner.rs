//! The owner's side of a status: who holds it, and what its own controller is at.

use serde_json::Value;

use crate::k8s::mask;
use crate::k8s::metadata;
use crate::k8s::workload::Workload;
use crate::kinds;
use crate::state::durable::lock::Lock;

/// What an owner's controller is at, by the owner's own words: also of rollouts that are not this program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerState {
    Terminating,
    /// Its controller has not observed the latest spec.
    NotObserved,
    RollingOut {
        status: String,
    },
    Paused,
    /// It has the update strategy OnDelete, and pods are of an older revision.
    OnDelete,
    /// A PodDisruptionBudget allows no pod to be down that the rollout has still to restart.
    DisruptionBudget {
        why: String,
    },
    /// Its controller says that it is not progressing.
    Stuck {
        /// Such as `ProgressDeadlineExceeded`.
        reason: String,
        /// The controller's words.
        message: String,
    },
}

impl OwnerState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Terminating => "terminating",
            Self::NotObserved => "notObserved",
            Self::RollingOut { .. } => "rollingOut",
            Self::Paused => "paused",
            Self::OnDelete => "onDelete",
            Self::DisruptionBudget { .. } => "disruptionBudget",
            Self::Stuck { .. } => "stuck",
        }
    }

    /// Returns whether it is neither a change in progress nor a pause.
    pub(super) fn is_at_rest(&self) -> bool {
        *self == Self::OnDelete
    }

    /// Says it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::Terminating => "it is being deleted".into(),
            Self::NotObserved => "its controller has not observed the latest spec".into(),
            Self::RollingOut { status } => format!("its controller is replacing pods: {status}"),
            Self::Paused => "its rollouts are paused".into(),
            Self::OnDelete => {
                "its updateStrategy is OnDelete: its controller replaces no pod for the template, until the pod is deleted".into()
            }
            Self::DisruptionBudget { why } => format!("the rollout waits: {why}"),
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
    lock: Option<&Lock>,
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
    states.extend(workload.rolling_out().map(|status| OwnerState::RollingOut { status }));
    let is_ours = lock.is_some_and(|lock| !lock.released);
    if kinds::is_paused(object) && !is_ours {
        states.push(OwnerState::Paused);
    }
    states.extend(also);
    states.extend(stuck(object));
    states
}

/// Deployments say by `Progressing` that a deadline passed, and they and ReplicaSets by `ReplicaFailure` that pods cannot
/// be made or deleted, such as for a quota (kube-controller-manager `deployment/progress.go`, `replicaset/replica_set_utils.go`).
fn stuck(object: &Value) -> impl Iterator<Item = OwnerState> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.filter_map(|condition| {
        let text = |key: &str| condition.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_stuck = matches!((text("type"), text("status")), ("Progressing", "False") | ("ReplicaFailure", "True"));
        is_stuck.then(|| OwnerState::Stuck { reason: text("reason").to_owned(), message: mask::text(text("message")) })
    })
}
