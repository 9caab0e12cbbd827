//! A run that does not wait for a fence must be caught: a simulation that does not bite proves nothing.

use crate::engine::durable::Fence;
use crate::engine::workload::WorkloadKind;

use super::scenario::Scenario;
use super::simulate;

/// A fault that needs more scenarios than this to show would live too easily.
const SEEDS: u64 = 400;

fn is_caught(fence: Fence, kind: WorkloadKind) -> bool {
    (0..SEEDS).any(|seed| {
        let scenario = Scenario { quiet_after: 500, ..Scenario::disturbed(seed, kind) };
        !simulate(&scenario, Some(fence)).violations.is_empty()
    })
}

/// Not among them: `RevisionMade`, which is always reached with `Observed` here (the controllers report both in one
/// write), and `RevisionCurrent`, without which a run only ends a little early.
#[test]
fn a_run_that_skips_a_fence_is_caught() {
    let faults = [
        (Fence::Observed, WorkloadKind::StatefulSet),
        (Fence::Observed, WorkloadKind::DaemonSet),
        (Fence::ReplicaSetAdopted, WorkloadKind::Deployment),
        (Fence::PodsListed, WorkloadKind::Deployment),
        (Fence::HistoryCopied, WorkloadKind::Deployment),
        (Fence::AllUpdated, WorkloadKind::StatefulSet),
        (Fence::AllUpdated, WorkloadKind::DaemonSet),
    ];
    let alive: Vec<_> = faults.into_iter().filter(|(fence, kind)| !is_caught(*fence, *kind)).collect();
    assert!(alive.is_empty(), "a run lives that does not wait for {alive:?}");
}
