//! What becomes of the template that a Deployment leaves: `kubectl rollout undo` and `history` keep working.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sides::holder;
use crate::k8s::names::{RolloutId, Uid};
use crate::k8s::workload::Workload;
use crate::state::durable::deployment;
use crate::state::durable::lock::HistoryStep;

/// How the outgoing template stays in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum HistoryPlan {
    /// A ReplicaSet without pods is created for it.
    Create,
    /// An old ReplicaSet without pods, which holds the new template, takes it.
    Swap {
        /// Its name.
        name: String,
        /// Its uid.
        uid: Uid,
        /// Its revision.
        revision: i64,
    },
    /// `revisionHistoryLimit` is 0: it is forgotten.
    Forget,
    /// The controller keeps it by itself.
    ByController,
}

/// How the template of a Deployment's current ReplicaSet stays in the history once that takes another one.
pub(super) fn history_of(workload: &Workload, sets: &[Value], current: &Value, after: &Value) -> HistoryPlan {
    let uid = |set: &Value| Uid::from(set.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default());
    let limit = workload.object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    match holder(sets, after) {
        Some(set) if uid(set) != uid(current) => {
            let name = set.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
            HistoryPlan::Swap { name, uid: uid(set), revision: deployment::revision_of(set) }
        }
        Some(_) | None if limit == 0 => HistoryPlan::Forget,
        Some(_) | None => HistoryPlan::Create,
    }
}

/// The step of a new rollout that keeps the outgoing template in the history.
pub(super) fn history_step(plan: HistoryPlan, workload: &str, id: &RolloutId) -> HistoryStep {
    match plan {
        HistoryPlan::Create => HistoryStep::Create { name: format!("{workload}-{}", deployment::history_hash(id)) },
        HistoryPlan::Swap { name, uid, revision } => HistoryStep::Swap { name, uid, revision },
        HistoryPlan::Forget | HistoryPlan::ByController => HistoryStep::Keep,
    }
}
