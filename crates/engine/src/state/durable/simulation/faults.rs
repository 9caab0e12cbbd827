//! A run that leaves out a step must be caught: a simulation that does not bite proves nothing.

use json_patch::PatchOperation;

use crate::kinds::WorkloadKind;
use crate::state::durable::ObjectWrite;
use crate::state::durable::history::{self, HISTORY_ANNOTATION, HistoryEntry};

use super::scenario::Scenario;
use super::simulate;
use super::tests::{DISTURBED, OVERWRITTEN, RACED};

/// What a run does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It does not wait for this.
    Skips(&'static str),
    /// It takes an owner without its lock for one that it has not begun with.
    BeginsAgain,
    /// It takes any end of its rollout for the one that it wanted.
    BelievesAnyEnd,
    /// It does not take the pods over from the run before.
    LeavesPods,
    /// It sorts the history by its times, each from the clock of the client that wrote it.
    SortsByClocks,
    /// Where there was no PodDisruptionBudget when it was planned, no run reads them any more.
    FreezesBudgets,
}

/// Puts the history that a write brings into the order of its times.
pub(super) fn sort_by_clocks(write: &mut ObjectWrite) {
    let ObjectWrite::Patch { operations, .. } = write else { return };
    for operation in &mut operations.0 {
        let value = match operation {
            PatchOperation::Add(add) => &mut add.value,
            PatchOperation::Replace(replace) => &mut replace.value,
            _ => continue,
        };
        let text = if value.is_object() { value.get_mut(HISTORY_ANNOTATION) } else { Some(value) };
        let Some(text) = text else { continue };
        let entries = text.as_str().and_then(|text| serde_json::from_str::<Vec<HistoryEntry>>(text).ok());
        if let Some(mut entries) = entries {
            entries.sort_by(|a, b| a.ended.cmp(&b.ended));
            *text = history::to_text(&entries).into();
        }
    }
}

/// A fault that needs more scenarios than this to be caught would be caught too rarely.
const SEEDS: u64 = 1600;

fn is_caught(wait: &'static str, kind: WorkloadKind) -> bool {
    (0..SEEDS).any(|seed| {
        let scenario = Scenario { quiet_after: 500, ..Scenario::disturbed(seed, kind) };
        !simulate(&scenario, Some(Fault::Skips(wait))).violations.is_empty()
    })
}

/// Each defect that once existed, planted again, and caught within as many scenarios as every test run takes.
#[test]
fn a_hole_that_is_opened_again_is_caught() {
    type Draw = fn(u64, WorkloadKind) -> Scenario;
    let faults: [(Fault, Draw, u64); 3] = [
        (Fault::BeginsAgain, Scenario::overwritten, OVERWRITTEN),
        (Fault::BelievesAnyEnd, Scenario::raced, RACED),
        (Fault::LeavesPods, Scenario::raced, RACED),
    ];
    for (fault, draw, seeds) in faults {
        for kind in [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet] {
            let mut seeds = 0..seeds;
            let is_caught = seeds.any(|seed| !simulate(&draw(seed, kind), Some(fault)).violations.is_empty());
            assert!(is_caught, "{fault:?} lives with a {kind:?}");
        }
    }
}

/// As many as every test run takes.
#[test]
fn wrong_clocks_and_budgets_that_come_later_are_caught_soon() {
    for fault in [Fault::SortsByClocks, Fault::FreezesBudgets] {
        for kind in [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet] {
            let mut seeds = 0..DISTURBED;
            let violations = |seed| simulate(&Scenario::disturbed(seed, kind), Some(fault)).violations;
            assert!(seeds.any(|seed| !violations(seed).is_empty()), "{fault:?} lives with a {kind:?}");
        }
    }
}

/// Not among them: the wait for the revision of the new template, which is always reached with the one before here (the
/// controllers report both in one write), and for the new revision to be the current one, without which a run only ends a
/// little early.
#[test]
fn a_run_that_skips_a_wait_is_caught() {
    let faults = [
        ("the controller to see the change", WorkloadKind::StatefulSet),
        ("the controller to see the change", WorkloadKind::DaemonSet),
        ("the controller to take the ReplicaSet for the current one", WorkloadKind::Deployment),
        ("the ReplicaSet's pods to be listed", WorkloadKind::Deployment),
        ("the controller to copy the history to the ReplicaSet", WorkloadKind::Deployment),
        ("the controller to count every pod as updated", WorkloadKind::StatefulSet),
        ("the controller to count every pod as updated", WorkloadKind::DaemonSet),
    ];
    let alive: Vec<_> = faults.into_iter().filter(|(wait, kind)| !is_caught(wait, *kind)).collect();
    assert!(alive.is_empty(), "a run lives that does not wait for {alive:?}");
}
