//! Under a partition a durable rollout leaves the pods below it unchanged.

use std::borrow::Cow;

use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::state::durable::lock::Lock;
use crate::state::durable::stateful_set;

/// Returns the partition of a workload; while a rollout holds it, the one that is restored in the end.
pub(super) fn of(workload: &Workload) -> i64 {
    strategy(workload).map_or(0, |strategy| stateful_set::partition_of(&strategy))
}

pub(super) fn is_below(workload: &Workload, pod: &Pod) -> bool {
    strategy(workload)
        .is_some_and(|strategy| stateful_set::is_below_partition(&strategy, &workload.object, &pod.key.name))
}

fn strategy(workload: &Workload) -> Option<Cow<'_, Value>> {
    let saved = Lock::of(&workload.object).ok().flatten().and_then(|lock| lock.rollout.strategy).map(Cow::Owned);
    let present = || workload.object.pointer("/spec/updateStrategy").map(Cow::Borrowed);
    saved.or_else(present).filter(|_| workload.reference.kind.has_partition())
}
