//! The templates before and after a rollout, which object holds one, and what becomes of the one that is left:
//! `kubectl rollout undo` and `history` keep working.

use serde_json::Value;

use crate::change::same;
use crate::k8s::workload::Workload;
use crate::plan::live::LiveWorkload;
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::{HistoryStep, RevisionRef};
use crate::state::durable::{deployment, template_of_revision};

/// The templates before and after: derived from the revision that the lock names, which nobody else writes to.
pub(super) fn before_after(live: &LiveWorkload, lock: &Lock) -> (Value, Value) {
    let workload = &live.workload;
    let named = lock.rollout.outgoing.as_ref().and_then(|outgoing| outgoing.find(&live.surroundings.owned));
    // A rollout that took the place of another one, and goes back to where that one began, has neither side. Nor has
    // another client's template: it must not be taken for the rollout's.
    let imposed = |template: &Value| {
        Some((lock.rollout.change.reversed().apply(template)?, lock.rollout.change.apply(template)?))
    };
    let of = |template: &Value| lock.rollout.change.before_after(template).or_else(|| imposed(template));
    let of_revision = named.map(|object| template_of_revision(workload.reference.kind, object));
    of_revision.as_ref().and_then(of).or_else(|| of(workload.template())).unwrap_or_default()
}

/// The ReplicaSet of a Deployment that holds a template.
pub(super) fn holder<'s>(sets: &'s [Value], template: &Value) -> Option<&'s Value> {
    let text = |set: &Value, pointer: &str| set.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    // The controller takes the oldest that matches (`FindNewReplicaSet`).
    let age = |set: &&Value| (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name"));
    sets.iter().filter(|set| same(&deployment::template_of(set), template)).min_by_key(age)
}

/// How the template of a Deployment's current ReplicaSet stays in the history once that takes another one.
pub(super) fn history_of(workload: &Workload, sets: &[Value], current: &Value, after: &Value) -> HistoryStep {
    let limit = workload.object.pointer("/spec/revisionHistoryLimit").and_then(Value::as_i64).unwrap_or(10);
    match holder(sets, after) {
        Some(set) if set.pointer("/metadata/uid") != current.pointer("/metadata/uid") => {
            HistoryStep::Swap(RevisionRef::of(set))
        }
        Some(_) | None if limit == 0 => HistoryStep::Forget,
        Some(_) | None => HistoryStep::Create,
    }
}
