//! What a lock says of a workload: its templates before and after, and which object holds one.

use serde_json::Value;

use crate::change::same;
use crate::k8s::workload::Workload;
use crate::plan::live::LiveWorkload;
use crate::state::durable::lock::RolloutLock;
use crate::state::durable::{deployment, history, template_of_revision};

/// The templates before and after: derived from the revision that the lock names, which nobody else writes to.
pub(super) fn before_after(live: &LiveWorkload, lock: &RolloutLock) -> (Value, Value) {
    let workload = &live.workload;
    let named = lock.outgoing.as_ref().and_then(|outgoing| outgoing.find(&live.surroundings.owned));
    // A rollout that took the place of another one, and goes back to where that one began, has neither side. Nor has
    // another client's template: it must not be taken for the rollout's.
    let imposed = |template: &Value| Some((lock.change.reversed().apply(template)?, lock.change.apply(template)?));
    let of = |template: &Value| lock.change.before_after(template).or_else(|| imposed(template));
    let of_revision = named.map(|object| template_of_revision(workload.reference.kind, object));
    of_revision.as_ref().and_then(of).or_else(|| of(workload.template())).unwrap_or_default()
}

/// A lock whose rollout is in the history came back with a ReplicaSet's annotations (`kubectl rollout undo`).
pub(super) fn is_stale(workload: &Workload, owned: &[Value], lock: &RolloutLock) -> bool {
    history::union(std::iter::once(&workload.object).chain(owned)).iter().any(|entry| entry.id == lock.id)
}

/// The ReplicaSet of a Deployment that holds a template.
pub(super) fn holder<'s>(sets: &'s [Value], template: &Value) -> Option<&'s Value> {
    let text = |set: &Value, pointer: &str| set.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    // The controller takes the oldest that matches (`FindNewReplicaSet`).
    let age = |set: &&Value| (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name"));
    sets.iter().filter(|set| same(&deployment::template_of(set), template)).min_by_key(age)
}
