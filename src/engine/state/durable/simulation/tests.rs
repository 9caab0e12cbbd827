//! The scenarios.

use std::collections::BTreeMap;

use crate::engine::kinds::WorkloadKind;

use super::scenario::{Fate, Kill, Request, Scenario, Then};
use super::simulate;

/// How many disturbed scenarios of each kind a test run takes.
pub(super) const DISTURBED: u64 = 240;

/// The number of scenarios in which runs sleep, and of those in which the owner is restored or its lock is gone.
pub(super) const RACED: u64 = 240;
pub(super) const OVERWRITTEN: u64 = 120;

const KINDS: [WorkloadKind; 3] = [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet];

/// Runs scenarios and gathers what broke, so that one run shows all of it.
fn explore(seeds: u64, scenario: impl Fn(u64, WorkloadKind) -> Scenario) {
    let mut first_of_each: BTreeMap<String, (u32, Scenario, Vec<String>)> = BTreeMap::new();
    for kind in KINDS {
        for seed in 0..seeds {
            let scenario = scenario(seed, kind);
            let report = simulate(&scenario, None);
            if let Some(first) = report.violations.first() {
                let sort: String = first.chars().filter(|c| !c.is_ascii_digit()).take(48).collect();
                let entry = first_of_each.entry(format!("{kind:?}: {sort}"));
                entry.or_insert_with(|| (0, scenario, [report.violations, report.trace].concat())).0 += 1;
            }
        }
    }
    assert!(first_of_each.is_empty(), "the first of each: {first_of_each:#?}");
}

#[test]
fn a_calm_rollout_completes() {
    explore(60, Scenario::calm);
}

#[test]
fn nothing_is_lost_against_kills_lost_answers_and_scaling() {
    explore(DISTURBED, Scenario::disturbed);
}

#[test]
fn somebody_elses_template_stays_and_nothing_of_ours_is_left() {
    explore(120, Scenario::contested);
}

#[test]
fn a_run_that_only_slept_and_requests_that_come_late_change_nothing() {
    explore(RACED, Scenario::raced);
}

#[test]
fn a_run_whose_lock_is_gone_never_begins_again() {
    explore(OVERWRITTEN, Scenario::overwritten);
}

/// Three kinds, four ways to disturb, and `RACED` or `DISTURBED` seeds of each, over several cores.
#[test]
#[ignore = "two minutes of one core: tests/run seeds"]
fn ten_thousand_scenarios_of_the_owners_side() {
    std::thread::scope(|scope| {
        for draw in [Scenario::disturbed, Scenario::contested, Scenario::raced, Scenario::overwritten] {
            scope.spawn(move || explore(834, draw));
        }
    });
}

/// Wherever a run is killed, whether its last write got through or not, and whether it is resumed or aborted.
#[test]
fn a_run_that_is_killed_after_any_write_ends_well() {
    for kind in KINDS {
        for seed in 0..4 {
            let mut scenario = Scenario { quiet_after: 30, ..Scenario::calm(seed, kind) };
            for at_write in 1..=simulate(&scenario, None).writes {
                for (request, then) in [
                    (Request::Stored, Then::Resume),
                    (Request::Lost, Then::Resume),
                    (Request::Stored, Then::Abort),
                    (Request::Lost, Then::Abort),
                ] {
                    scenario.kills = vec![Kill { at_write, request, fate: Fate::Killed, then }];
                    let report = simulate(&scenario, None);
                    assert!(report.violations.is_empty(), "{scenario:#?}: {:#?}", [report.violations, report.trace]);
                }
            }
        }
    }
}
