//! The owner's side of a status: who holds it, and what its own controller is at.

use serde_json::Value;

use crate::k8s::mask;
use crate::k8s::metadata;
use crate::k8s::workload::Workload;
use crate::kinds;
use crate::state::durable::lock::RolloutLock;

/// Whether a rollout of this program's holds a workload.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    /// None does.
    No,
    /// This one does.
    By(Box<RolloutLock>),
    /// There is a lock that cannot be read: written by another version, or edited.
    Unreadable {
        /// The annotation's text.
        text: String,
    },
}

impl Held {
    /// Reads a workload's lock. A ReplicaSet's is a copy that its Deployment's controller made, so it holds nothing.
    pub(super) fn of(workload: &Workload) -> Self {
        if workload.reference.kind.made_by().is_some() && workload.controller().is_some() {
            return Self::No;
        }
        match RolloutLock::of(&workload.object) {
            Ok(None) => Self::No,
            Ok(Some(lock)) => Self::By(Box::new(lock)),
            Err(text) => Self::Unreadable { text },
        }
    }
}

/// What an owner's controller is at, by the owner's own words: also of rollouts that are not this program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerState {
    /// It is being deleted.
    Terminating,
    /// Its controller has not observed the latest spec.
    NotObserved,
    /// Its controller is replacing pods.
    RollingOut {
        /// How far it is.
        status: String,
    },
    /// Somebody has paused its rollouts.
    Paused,
    /// It has the update strategy OnDelete, and there was another one before, or pods are of an older revision.
    OnDelete {
        /// The type of the one before; `None` where that is not known.
        before: Option<String>,
        /// A rollout that was superseded has left it; otherwise the one before is what the user has applied.
        is_left: bool,
    },
    /// A ReplicaSet without pods is in its history which a rollout made that was taken back: its create came late.
    LeftRevision {
        /// Its name.
        replica_set: String,
    },
    /// A PodDisruptionBudget allows no pod to be down that the rollout has still to restart.
    DisruptionBudget {
        /// Which one, and why.
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
    /// Returns its word in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Terminating => "terminating",
            Self::NotObserved => "notObserved",
            Self::RollingOut { .. } => "rollingOut",
            Self::Paused => "paused",
            Self::OnDelete { .. } => "onDelete",
            Self::LeftRevision { .. } => "leftRevision",
            Self::DisruptionBudget { .. } => "disruptionBudget",
            Self::Stuck { .. } => "stuck",
        }
    }

    /// Returns whether it is neither a change in progress nor a pause.
    pub(super) fn is_at_rest(&self) -> bool {
        matches!(self, Self::OnDelete { before: None, .. } | Self::LeftRevision { .. })
    }

    /// Says it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::Terminating => "it is being deleted".into(),
            Self::NotObserved => "its controller has not observed the latest spec".into(),
            Self::RollingOut { status } => format!("its controller is replacing pods: {status}"),
            Self::Paused => "its rollouts are paused".into(),
            Self::OnDelete { before: None, .. } => {
                "its updateStrategy is OnDelete: its controller replaces no pod for the template, until the pod is deleted".into()
            }
            Self::OnDelete { before: Some(before), is_left } => {
                let why = if *is_left {
                    format!("which a superseded rollout has left in place of {before}")
                } else {
                    format!("and {before} was applied last")
                };
                format!("its updateStrategy is OnDelete, {why}: its controller replaces no pod for a later template")
            }
            Self::LeftRevision { replica_set } => format!(
                "replicaset/{replica_set} is left of a rollout that was rolled back, and is in kubectl rollout history"
            ),
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
pub(super) fn states(workload: &Workload, held: &Held, also: impl IntoIterator<Item = OwnerState>) -> Vec<OwnerState> {
    let object = &workload.object;
    let mut states = Vec::new();
    if metadata::is_terminating(object) && workload.reference.kind.has_template() {
        states.push(OwnerState::Terminating);
    }
    if !workload.is_observed() {
        states.push(OwnerState::NotObserved);
    }
    states.extend(workload.rolling_out().map(|status| OwnerState::RollingOut { status }));
    let is_ours = matches!(held, Held::By(lock) if !lock.released);
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
