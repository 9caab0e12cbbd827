//! The scenarios.

use super::super::Stop;
use super::adversary::{Deed, Scenario};
use super::nature::Fate;
use super::random::Random;
use super::{simulate, simulate_killed_anywhere};

/// How many scenarios of each kind a test run takes.
const SEEDS: u64 = 1_200;

/// How many with every feature drawn by itself.
const FEATURED: u64 = 1_200;

/// Runs scenarios and gathers what broke, so that one run shows all of it.
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
        let story = format!("at {:?}: {} (ended {end:?})", violation.at, violation.what);
        let known = first_of_each.entry(violation.invariant).or_insert((Vec::new(), story, scenario));
        known.0.push(scenario.seed);
    }
    assert!(broken.is_empty(), "{kind}: {} broken, of each its seeds and the first: {first_of_each:#?}", broken.len());
}

fn ends_the_same_wherever_it_is_killed(scenario: &Scenario) {
    let seed = scenario.seed;
    let (whole, killed) = simulate_killed_anywhere(scenario);
    assert!(whole.violations.is_empty(), "seed {seed}: {:#?}", whole.violations);
    assert_eq!(killed.len() as u64, whole.actions, "seed {seed}");
    for (again, killed_after) in killed.iter().zip(1..) {
        assert!(again.violations.is_empty(), "seed {seed}, killed after {killed_after}: {:#?}", again.violations);
        assert_eq!(again.end, whole.end, "seed {seed}, killed after {killed_after}");
    }
}

/// A copy that is killed goes on as a run of its own that is killed there.
#[test]
fn a_copy_that_is_killed_is_as_good_as_a_run_from_the_beginning() {
    for mut scenario in (0..4).flat_map(|seed| [Scenario::calm(seed).featured(), Scenario::of(seed).featured()]) {
        scenario.new_state_after = None;
        let (whole, killed) = simulate_killed_anywhere(&scenario);
        assert_eq!(whole, simulate(&scenario, None), "seed {}", scenario.seed);
        for (report, after) in killed.into_iter().zip(1..).step_by(9) {
            scenario.new_state_after = Some(after);
            assert_eq!(report, simulate(&scenario, None), "seed {}, killed after {after}", scenario.seed);
        }
    }
}

#[test]
fn a_calm_rollout_completes() {
    explore("calm", (0..SEEDS).map(Scenario::calm));
}

#[test]
fn a_calm_rollout_with_any_features_keeps_every_promise() {
    explore("calm, featured", (0..FEATURED).map(|seed| Scenario::calm(seed).featured()));
}

#[test]
fn every_promise_holds_against_the_adversary_with_any_features() {
    explore("adversary, featured", (0..FEATURED).map(|seed| Scenario::of(seed).featured()));
}

/// Whatever was done when a run was killed, the next one goes on in the same order, and runs the commands that are
/// owed.
#[test]
fn a_run_in_order_with_commands_that_is_killed_after_any_action_ends_the_same() {
    for seed in 0..60 {
        let mut scenario = Scenario::calm(seed).in_order().hooked();
        if seed.is_multiple_of(2) {
            scenario = scenario.drained();
        }
        (scenario.slowest_answer, scenario.slowest_watch) = (50, 300);
        ends_the_same_wherever_it_is_killed(&scenario);
    }
}

/// An interrupt at any time leaves every label and every gate restored.
#[test]
fn labels_and_gates_are_back_after_an_interrupt_at_any_time() {
    let interrupted = |drained: Scenario| {
        let mut scenario = drained;
        let seed = scenario.seed;
        (scenario.slowest_answer, scenario.slowest_watch) = (50, 300);
        let at = Random::named(seed, "interrupted").millis(0, 25_000);
        scenario.deeds.push((at, Deed::Stop(Stop::Interrupt)));
        scenario
    };
    explore("interrupted", (0..SEEDS).map(|seed| interrupted(Scenario::calm(seed).drained())));
    explore("interrupted by gate", (0..SEEDS).map(|seed| interrupted(Scenario::calm(seed).gated())));
}

#[test]
fn a_run_with_drains_that_is_killed_after_any_action_ends_the_same() {
    for mut scenario in (0..40).flat_map(|seed| [Scenario::calm(seed).drained(), Scenario::calm(seed).gated()]) {
        (scenario.slowest_answer, scenario.slowest_watch) = (50, 300);
        ends_the_same_wherever_it_is_killed(&scenario);
    }
}

#[test]
fn somebody_elses_rollout_is_followed_to_its_end() {
    explore("followed", (0..SEEDS / 2).map(Scenario::followed));
}

#[test]
fn every_promise_holds_against_the_adversary() {
    explore("adversary", (0..SEEDS).map(Scenario::of));
}

/// As many as the project promises for its budgets, over several cores.
#[test]
#[ignore = "two minutes of one core: tests/run seeds"]
fn ten_thousand_scenarios_break_no_promise() {
    std::thread::scope(|scope| {
        for shard in 0..4 {
            scope.spawn(move || {
                let seeds = shard * 2_500..(shard + 1) * 2_500;
                explore("ten thousand", seeds.map(|seed| Scenario::of(seed).featured()));
            });
        }
    });
}

/// Wherever a run is killed, and whether its last request gets through or not, the next one ends like the first.
#[test]
fn a_run_that_is_killed_after_any_action_ends_the_same() {
    for seed in 0..60 {
        let mut scenario = Scenario::calm(seed);
        let mut random = Random::named(seed, "killed");
        scenario.bad_answers = random.one_in(2);
        if random.one_in(2) {
            scenario.fail_one(&mut random);
            // Without a probe it may be rightly done before it crashes; that depends on when the other run began.
            scenario.nature.readiness |= scenario.fates.iter().any(|fate| matches!(fate, Fate::Crashes { .. }));
        }
        ends_the_same_wherever_it_is_killed(&scenario);
    }
}
