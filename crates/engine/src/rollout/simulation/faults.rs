//! Each deliberate fault must be caught: a simulation that does not bite proves nothing.

use super::super::fault::Fault;
use super::adversary::Scenario;
use super::invariants::Invariant;
use super::simulate;

/// A fault that needs more scenarios than this to be caught would be caught too rarely.
const SEEDS: u64 = 600;

/// Which promise a fault breaks, whatever else it breaks.
fn breaks(fault: Fault) -> Invariant {
    match fault {
        Fault::IgnoresBudget => Invariant::Budget,
        Fault::ReadyIsDone | Fault::NoHold => Invariant::TooEarly,
        Fault::ForgetsHoldTimer => Invariant::TooLate,
        Fault::RetriesForever => Invariant::Sends,
        Fault::SendsOnUnknown => Invariant::Unanswered,
        Fault::IgnoresOtherWriter => Invariant::OtherWriter,
        Fault::IgnoresFailure => Invariant::LateFailure,
        Fault::IgnoresInterrupt => Invariant::Interrupt,
        Fault::ActsBlind => Invariant::Blind,
        Fault::NoCanary => Invariant::Canary,
        Fault::NoDeadline => Invariant::Deadline,
        Fault::IgnoresPulls => Invariant::PulledFirst,
        Fault::LeavesPulls => Invariant::PullLeft,
        Fault::IgnoresDisruptionBudget => Invariant::DisruptionBudget,
        Fault::KillsWhatIsListed => Invariant::Listed,
        Fault::TakesItsGateForBroken => Invariant::Budget,
        Fault::LeavesGateOff => Invariant::LabelLeft,
        Fault::IgnoresContainerOrder => Invariant::Order,
        Fault::ForgetsHook => Invariant::Hook,
        Fault::NeedsEvents => Invariant::WrongEnd,
        Fault::WaitsForFailed => Invariant::NeverSent,
        Fault::TakesBackOffForFailure => Invariant::WrongEnd,
        Fault::TakesAskedForResized => Invariant::Resized,
        Fault::IgnoresOtherSize => Invariant::OtherWriter,
        Fault::WaitsForTheGone => Invariant::Livelock,
        Fault::StaysAtAFailure => Invariant::WrongEnd,
        Fault::CountsTheReleased => Invariant::WrongEnd,
        Fault::WritesAtOnce => unreachable!("the owner is left alone here"),
        Fault::FreezesBudgets => Invariant::DisruptionBudget,
    }
}

#[test]
fn every_deliberate_fault_is_caught_as_what_it_is() {
    for fault in Fault::ALL {
        // A pod that does not run is not drained: its gate is not turned off.
        let broken_run = fault == Fault::TakesItsGateForBroken;
        let drawn = |seed| [Scenario::calm(seed).featured(), Scenario::of(seed).featured()];
        let is_of_an_owner =
            matches!(fault, Fault::WaitsForTheGone | Fault::CountsTheReleased | Fault::StaysAtAFailure);
        let owned = |scenario: Scenario| if is_of_an_owner { scenario.owned() } else { scenario };
        let featured = |seed| drawn(seed).map(|scenario| owned(Scenario { broken_run, ..scenario }));
        let all = (0..SEEDS).flat_map(featured);
        let caught = { all }.find(|scenario| {
            let violations = simulate(scenario, Some(fault)).violations;
            violations.iter().any(|violation| violation.invariant == breaks(fault))
        });
        assert!(caught.is_some(), "{fault:?} lives: no scenario breaks {:?}", breaks(fault));
    }
}
