//! A run that does not wait for a fence must be caught: a simulation that does not bite proves nothing.

use crate::engine::durable::Fence;
use crate::engine::kinds::WorkloadKind;

use super::scenario::Scenario;
use super::simulate;

/// What a run does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It does not wait for a fence.
    Skips(Fence),
    /// It takes an owner without its lock for one that it has not begun with.
    BeginsAgain,
    /// It takes any end of its rollout for the one that it wanted.
    BelievesAnyEnd,
    /// It does not take the pods over from the run before.
    LeavesPods,
}

/// A fault that needs more scenarios than this to show would live too easily.
const SEEDS: u64 = 1600;

fn is_caught(fence: Fence, kind: WorkloadKind) -> bool {
    (0..SEEDS).any(|seed| {
        let scenario = Scenario { quiet_after: 500, ..Scenario::disturbed(seed, kind) };
        !simulate(&scenario, Some(Fault::Skips(fence))).violations.is_empty()
    })
}

/// Each hole that was once there, planted again.
#[test]
fn a_hole_that_is_opened_again_is_caught() {
    type Draw = fn(u64, WorkloadKind) -> Scenario;
    let faults: [(Fault, Draw); 3] = [
        (Fault::BeginsAgain, Scenario::overwritten),
        (Fault::BelievesAnyEnd, Scenario::raced),
        (Fault::LeavesPods, Scenario::raced),
    ];
    for (fault, draw) in faults {
        for kind in [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet] {
            let mut seeds = 0..SEEDS;
            let is_caught = seeds.any(|seed| !simulate(&draw(seed, kind), Some(fault)).violations.is_empty());
            assert!(is_caught, "{fault:?} lives with a {kind:?}");
        }
    }
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
