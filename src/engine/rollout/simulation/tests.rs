//! The scenarios.

use super::adversary::Scenario;
use super::simulate;

/// How many scenarios of each kind a test run takes.
const SEEDS: u64 = 6_000;

/// Runs scenarios and gathers what broke, so that one look shows all of it.
fn explore(kind: &str, scenarios: impl Iterator<Item = Scenario>) {
    let mut broken = Vec::new();
    for scenario in scenarios {
        let report = simulate(&scenario, None);
        if let Some(first) = report.violations.first() {
            broken.push((scenario, report.end, first.clone()));
        }
    }
    let mut first_of_each = std::collections::BTreeMap::new();
    for (scenario, end, violation) in &broken {
        first_of_each.entry(violation.invariant).or_insert((0, scenario, end, violation)).0 += 1;
    }
    assert!(broken.is_empty(), "{kind}: {} broken, the first of each: {first_of_each:#?}", broken.len());
}

#[test]
fn a_calm_rollout_completes() {
    explore("calm", (0..SEEDS).map(Scenario::calm));
}

#[test]
fn every_promise_holds_against_the_adversary() {
    explore("adversary", (0..SEEDS).map(Scenario::of));
}
