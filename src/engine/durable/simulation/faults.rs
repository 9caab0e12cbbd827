//! A run that does not wait for a fence must be caught: a simulation that does not bite proves nothing.

use crate::engine::durable::Fence;
use crate::engine::workload::WorkloadKind;

use super::scenario::Scenario;
use super::simulate;

/// A fault that needs more scenarios than this to show would live too easily.
const SEEDS: u64 = 400;

fn is_caught(fence: Fence, kind: WorkloadKind) -> bool {
    (0..SEEDS).any(|seed| {
        let scenario = Scenario::disturbed(seed, kind);
        !simulate(&scenario, Some(fence)).violations.is_empty()
    })
}

#[test]
fn a_run_that_skips_a_fence_is_caught() {
    for (fence, kind) in [
        (Fence::Observed, WorkloadKind::StatefulSet),
        (Fence::ReplicaSetAdopted, WorkloadKind::Deployment),
        (Fence::PodsListed, WorkloadKind::Deployment),
        (Fence::RevisionMade, WorkloadKind::StatefulSet),
        (Fence::AllUpdated, WorkloadKind::StatefulSet),
        (Fence::AllUpdated, WorkloadKind::DaemonSet),
    ] {
        assert!(is_caught(fence, kind), "{kind:?}: a run that does not wait for {fence:?} lives");
    }
}
