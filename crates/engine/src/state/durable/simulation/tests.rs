//! The scenarios.

use std::collections::BTreeMap;

use crate::kinds::WorkloadKind;

use super::api_server::timestamp_off_by;
use super::run::{End, Run, Stage};
use super::scenario::{Clocks, Fate, Kill, Request, Scenario, Then};
use super::{Simulation, simulate};
use crate::state::durable::Stored;
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::Rollout;

/// How many disturbed scenarios of each kind a test run takes.
pub(super) const DISTURBED: u64 = 240;

/// The number of scenarios in which runs sleep, and of those in which the owner is restored or its lock is gone.
pub(super) const RACED: u64 = 240;
pub(super) const OVERWRITTEN: u64 = 120;

const KINDS: [WorkloadKind; 4] =
    [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet, WorkloadKind::CloneSet];

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

impl Simulation {
    /// Lets a run read and decide; its write is not sent yet.
    fn next_write(&self, run: &mut Run) -> Stage {
        let mut writes = (0..8).filter_map(|_| run.step(&self.api, &self.scenario, None));
        writes.next().unwrap_or_else(|| panic!("it writes nothing: {}", run.said))
    }

    /// The run that is awake and another one have read the same in the same second: whoever writes first has it.
    fn another_reads_the_same(&mut self, id: Option<&str>) {
        let mut first = self.awake.pop().expect("it is awake");
        let (client, lock) = (self.runs + 1, first.lock.clone());
        let since = timestamp_off_by(self.api.step, self.scenario.clocks.hours_off(client));
        let rollout = Rollout { id: id.map_or(lock.rollout.id, Into::into), since, ..lock.rollout };
        let lock = Lock { rollout, run: "another".into(), ..lock };
        let mut second = Run::new(&self.scenario, lock, first.change.replaces.clone(), &self.owner_uid, client);
        let writes = [self.next_write(&mut first), self.next_write(&mut second)];
        let stored = [self.store(&writes[0], &first), self.store(&writes[1], &second)];
        assert_eq!(stored, [Stored::Yes, Stored::No], "{:#?}", self.scenario);
        first.answered(&writes[0], Stored::Yes, self.api.version());
        second.answered(&writes[1], Stored::No, self.api.version());
        let more: Vec<Stage> = (0..8).filter_map(|_| second.step(&self.api, &self.scenario, None)).collect();
        assert!(more.is_empty(), "{more:?}: {:#?}", self.scenario);
        assert_eq!(second.end, Some(End::TakenOver), "{:#?}", self.scenario);
        self.awake.push(first);
    }
}

/// A lock that is set, or taken over from a run that was killed; the clock of one of the two is hours off.
#[test]
fn of_two_runs_that_read_the_same_in_the_same_second_one_has_it_whatever_its_clock_says() {
    let mut number = 0;
    for kind in KINDS {
        for (seed, hours_off, server_tells) in
            [(0, [0, 7], true), (1, [7, 0], true), (2, [0, -5], false), (3, [-5, 0], false)]
        {
            let clocks = Clocks { server_tells, hours_off: hours_off.to_vec(), earlier: Vec::new() };
            let calm = Scenario { quiet_after: 30, clocks, ..Scenario::calm(seed, kind) };
            let writes = simulate(&calm, None).writes;
            let kills = (1..writes).flat_map(|at_write| [Then::Resume, Then::Abort].map(|then| Some((at_write, then))));
            for kill in [None].into_iter().chain(kills) {
                let kills =
                    kill.map(|(at_write, then)| Kill { at_write, request: Request::Stored, fate: Fate::Killed, then });
                let mut simulation =
                    Simulation::new(Scenario { kills: kills.into_iter().collect(), ..calm.clone() }, None);
                while kill.is_some() && simulation.next.is_none() {
                    simulation.api.step += 1;
                    simulation.somebody();
                }
                if kill.is_some() {
                    simulation.begin_again();
                    // With its last writes the lock is gone: there is nothing to take over.
                    if simulation.awake.iter().all(|run| run.change.replaces.is_none()) {
                        continue;
                    }
                }
                number += 1;
                simulation.another_reads_the_same(kill.is_none().then_some("20260301-170000-0001"));
                simulation.settles();
                let violations = &simulation.invariants.violations;
                assert!(violations.is_empty(), "{:#?}: {violations:#?} {:#?}", simulation.scenario, simulation.trace());
            }
        }
    }
    assert!(number > 40, "{number}");
}
