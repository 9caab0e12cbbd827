//! The owner's side against simulated controllers and an adversary, in steps.
//!
//! Each step one of them acts: the run, a controller, a cache that moves on, the kubelet, a user. A seed decides
//! everything, and a violation names it. After a while the adversary is quiet, and everything has to come to rest.

mod adversary;
mod api_server;
mod cluster;
mod faults;
mod fields;
mod invariants;
mod random;
mod run;
mod scenario;
mod settled;
mod tests;

use crate::change::Direction;
use crate::kinds::HoldsBy;
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::Rollout;
use crate::state::durable::{ObjectWrite, Stored};

use testkit::controllers::daemon_set::DaemonSetController;
use testkit::controllers::replica_set::ReplicaSetController;
use testkit::controllers::{deployment, stateful_set};

use api_server::{Actor, ApiServer, Caches, Kind, View};
use cluster::{OWNER, kind_of, set_up};
use faults::Fault;
use fields::{is_terminating, name, uid};
use invariants::Invariants;
use random::Random;
use run::{End, Run, Stage, first_lock, send};
use scenario::{Deed, Fate, Kill, Request, Scenario, Then};

/// After the adversary is quiet, everything must be at rest within this number of rounds.
const ROUNDS: u32 = 220;

const CACHED: [Kind; 6] =
    [Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::ControllerRevision, Kind::Pod];

/// A write that was on its way when its run was killed.
struct Stray {
    stage: Stage,
    run: Run,
    /// It comes once everything is over.
    is_last: bool,
    /// The run wakes with it, and learns whether it was stored; `Some` where it was stored before.
    wakes: bool,
    stored: Option<Stored>,
}

/// One scenario in progress.
struct Simulation {
    scenario: Scenario,
    fault: Option<Fault>,
    api: ApiServer,
    caches: Caches,
    replica_set_caches: Caches,
    replica_sets: ReplicaSetController,
    daemon_sets: DaemonSetController,
    /// The nodes that there are.
    nodes: i64,
    /// What the owner's controller saw when it found nothing to do.
    controller_idle_at: Option<(u64, [u64; 6], i64)>,
    random: Random,
    /// The runs that are awake.
    awake: Vec<Run>,
    next: Option<Then>,
    first: Lock,
    owner_uid: String,
    runs: u32,
    /// The version at which the workload stands before anybody comes.
    stands_at: u64,
    writes: u32,
    strays: Vec<Stray>,
    invariants: Invariants,
}

/// How a scenario went.
#[derive(Debug)]
struct Report {
    violations: Vec<String>,
    writes: u32,
    /// What every write changed, for people who inspect a seed.
    trace: Vec<String>,
}

/// Runs a scenario to its end.
fn simulate(scenario: &Scenario, fault: Option<Fault>) -> Report {
    let mut simulation = Simulation::new(scenario.clone(), fault);
    simulation.go();
    let trace = if simulation.invariants.violations.is_empty() { Vec::new() } else { simulation.trace() };
    Report { violations: simulation.invariants.violations, writes: simulation.writes, trace }
}

impl Simulation {
    fn new(scenario: Scenario, fault: Option<Fault>) -> Self {
        let mut api = ApiServer::default();
        set_up(&mut api, &scenario);
        let mut first = first_lock(&api, &scenario);
        first.rollout.policy.respects_budgets = scenario.has_budget(0) || fault != Some(Fault::FreezesBudgets);
        let random = Random::new(scenario.seed ^ 0xADD);
        let mut simulation = Self {
            invariants: Invariants::new(&scenario, &first),
            owner_uid: api.live(kind_of(scenario.kind), OWNER).map(|owner| uid(&owner).to_owned()).unwrap_or_default(),
            daemon_sets: DaemonSetController::default(),
            nodes: scenario.replicas,
            first,
            api,
            scenario,
            fault,
            caches: Caches::default(),
            replica_set_caches: Caches::default(),
            replica_sets: ReplicaSetController::default(),
            controller_idle_at: None,
            random,
            awake: Vec::new(),
            next: None,
            runs: 0,
            stands_at: 0,
            writes: 0,
            strays: Vec::new(),
        };
        // It stands before anybody comes.
        for _ in 0..2 + 2 * simulation.scenario.replicas {
            simulation.everybody_else();
        }
        let policy = simulation.first.rollout.policy.clone();
        simulation.first = first_lock(&simulation.api, &simulation.scenario);
        simulation.first.rollout.policy = policy;
        simulation.invariants.skip(&simulation.api);
        simulation.stands_at = simulation.api.version();
        let run = Run::new(&simulation.scenario, simulation.first.clone(), None, &simulation.owner_uid, 0);
        simulation.awake.push(run);
        simulation
    }

    fn go(&mut self) {
        let mut deeds = self.scenario.deeds.clone();
        let last_deed = deeds.iter().map(|(step, _)| *step).max().unwrap_or(0);
        let budget_ends = self.scenario.budget.map_or(0, |(_, until)| until);
        for _ in 0..self.scenario.quiet_after.max(last_deed + 1).max(budget_ends) {
            self.api.step += 1;
            let now = self.api.step;
            for (_, deed) in deeds.extract_if(.., |(step, _)| *step <= now) {
                self.does(deed);
            }
            self.somebody();
            self.invariants.visit(&self.api);
            if !self.invariants.violations.is_empty() {
                return;
            }
        }
        self.settles();
        if self.strays.is_empty() || !self.invariants.violations.is_empty() {
            return;
        }
        // Once everything is over, the sleeping runs and the requests in flight come.
        while let Some(stray) = self.strays.pop() {
            self.arrives(stray);
        }
        self.settles();
    }

    fn settles(&mut self) {
        if self.come_to_rest() {
            self.invariants.settled(&self.api, self.nodes);
        } else {
            let waits: Vec<&String> = self.awake.iter().map(|run| &run.said).collect();
            self.invariants.broken(format!("it does not come to rest: {waits:?}"));
        }
    }

    /// One of all, by chance.
    fn somebody(&mut self) {
        match self.random.below(10 + self.scenario.lag) {
            0..4 => self.run_steps(),
            4 | 5 => self.owner_controller(),
            6 => self.a_replica_set(),
            7 => self.kubelet(false),
            8 => drop(self.stray()),
            _ => self.a_cache(),
        }
    }

    /// Rounds in which everybody acts on fresh caches, until nobody has anything to do.
    fn come_to_rest(&mut self) -> bool {
        let mut idle = 0;
        for _ in 0..ROUNDS {
            let before = self.api.version();
            self.api.step += 1;
            while self.stray() {}
            for _ in 0..4 {
                self.run_steps();
            }
            self.everybody_else();
            self.invariants.visit(&self.api);
            if !self.invariants.violations.is_empty() {
                return true;
            }
            idle = if self.api.version() == before && self.awake.is_empty() { idle + 1 } else { 0 };
            if idle > 2 {
                return true;
            }
        }
        false
    }

    fn everybody_else(&mut self) {
        for kind in CACHED {
            self.caches.move_to(kind, self.api.version());
            self.replica_set_caches.move_to(kind, self.api.version());
        }
        self.owner_controller();
        for set in self.api.list(Kind::ReplicaSet) {
            self.replica_set_caches.move_to(Kind::ReplicaSet, self.api.version());
            let (api, caches) = (&mut self.api, &self.replica_set_caches);
            let mut view = View { api, caches, actor: Actor::ReplicaSetController, nodes: self.nodes };
            self.replica_sets.sync(&mut view, "", name(&set)).ok();
        }
        self.kubelet(true);
    }

    fn owner_controller(&mut self) {
        let seen = (self.api.version(), CACHED.map(|kind| self.caches.at(kind)), self.nodes);
        if self.controller_idle_at == Some(seen) {
            return;
        }
        // What is refused is tried again at another sync.
        let actor = match self.scenario.kind.holds_by() {
            HoldsBy::Paused => Actor::DeploymentController,
            HoldsBy::OnDeleteOrPartition | HoldsBy::StrategyPaused => Actor::StatefulSetController,
            HoldsBy::OnDelete => Actor::DaemonSetController,
            HoldsBy::Nothing => return,
        };
        let mut view = View { api: &mut self.api, caches: &self.caches, actor, nodes: self.nodes };
        match self.scenario.kind.holds_by() {
            HoldsBy::Paused => deployment::sync(&mut view, "", OWNER),
            HoldsBy::OnDeleteOrPartition | HoldsBy::StrategyPaused => stateful_set::sync(&mut view, "", OWNER),
            HoldsBy::OnDelete => self.daemon_sets.sync(&mut view, "", OWNER),
            HoldsBy::Nothing => Ok(()),
        }
        .ok();
        self.controller_idle_at = (self.api.version() == seen.0).then_some(seen);
    }

    fn a_replica_set(&mut self) {
        let caches = if self.scenario.shared { &self.caches } else { &self.replica_set_caches };
        let sets = self.api.list_seen(Kind::ReplicaSet, caches.at(Kind::ReplicaSet));
        if !sets.is_empty() {
            let set = self.random.pick(&sets);
            let actor = Actor::ReplicaSetController;
            let mut view = View { api: &mut self.api, caches, actor, nodes: self.nodes };
            self.replica_sets.sync(&mut view, "", name(set)).ok();
        }
    }

    fn a_cache(&mut self) {
        let kind = *self.random.pick(&CACHED);
        let one = self.random.one_in(2);
        let of_replica_sets = self.random.one_in(3);
        let caches = if of_replica_sets { &mut self.replica_set_caches } else { &mut self.caches };
        let mut unseen = self.api.unseen(kind, caches.at(kind));
        if let Some(version) = if one { unseen.next() } else { unseen.next_back() } {
            caches.move_to(kind, version);
        }
    }

    fn kubelet(&mut self, all: bool) {
        let pods = self.api.list(Kind::Pod);
        for pod in pods.iter().filter(|pod| is_terminating(pod)).take(if all { pods.len() } else { 1 }) {
            self.api.remove_pod(name(pod));
        }
    }

    /// A late request arrives; returns whether there was one.
    fn stray(&mut self) -> bool {
        let Some(at) = self.strays.iter().position(|stray| !stray.is_last) else { return false };
        let stray = self.strays.remove(at);
        self.arrives(stray);
        true
    }

    fn arrives(&mut self, stray: Stray) {
        let Stray { stage, mut run, wakes, stored, .. } = stray;
        let is_create = matches!(&stage, Stage::Write(_, ObjectWrite::Create { .. }));
        // An object that a dead run creates once everything is over is removed by the next rollout.
        let stored = match stored {
            Some(stored) => stored,
            None if is_create && !wakes => return,
            None => self.store(&stage, &run),
        };
        if wakes {
            run.answered(&stage, stored, self.api.version());
            self.awake.push(run);
        }
    }

    fn store(&mut self, stage: &Stage, run: &Run) -> Stored {
        match stage {
            Stage::Write(_, write) => send(&mut self.api, write),
            Stage::PatchPod(pod) => run.patch_pod(&mut self.api, pod),
            Stage::TakePod(pod) => run.take_pod(&mut self.api, pod),
            Stage::Visit | Stage::Owned(_) | Stage::Decide(..) => Stored::No,
        }
    }

    fn run_steps(&mut self) {
        if self.awake.is_empty() {
            return self.begin_again();
        }
        let mut run = self.awake.remove(self.random.below(self.awake.len()));
        if let (Stage::Decide(..), Some(at)) = (&run.stage, self.nap()) {
            let (_, then) = self.scenario.naps.remove(at);
            return self.sleeps(run, then);
        }
        let last = self.api.version();
        let quiet = self.api.step > self.scenario.quiet_after;
        if quiet || self.random.one_in(2 + 3 * self.scenario.lag) {
            run.pods_at = last;
        }
        let Some(stage) = run.step(&self.api, &self.scenario, self.fault) else {
            self.judge_admission(&run);
            match run.end.take() {
                Some(end) => self.ended(&run, end),
                None => self.awake.push(run),
            }
            return;
        };
        self.writes += 1;
        if let Some(kill) = self.scenario.kills.iter().find(|kill| kill.at_write == self.writes).copied() {
            return self.kill(kill, stage, run);
        }
        let loses_answer = self.scenario.loses_answers && !quiet && self.random.one_in(6);
        let stored = if loses_answer {
            if self.random.one_in(2) {
                self.store(&stage, &run);
            }
            Stored::Unknown
        } else {
            self.store(&stage, &run)
        };
        run.answered(&stage, stored, self.api.version());
        self.awake.push(run);
    }

    /// No pod goes down that a PodDisruptionBudget keeps up now.
    fn judge_admission(&mut self, run: &Run) {
        if let Stage::PatchPod(pod) = &run.stage
            && self.scenario.has_budget(self.api.step)
            && run.restarts(pod)
        {
            self.invariants.broken(format!("{} is taken down against its budget", name(pod)));
        }
    }

    fn ended(&mut self, run: &Run, end: End) {
        let direction = run.lock.rollout.direction;
        let is_newest = run.lock.run == format!("run-{}", self.runs);
        if end == End::TakenOver && is_newest && !self.scenario.kills.is_empty() {
            // The killed run's last write came late: the user tries again.
            self.next = Some(if direction == Direction::Back { Then::Abort } else { Then::Resume });
            return;
        }
        let owner = self.api.live(kind_of(self.scenario.kind), OWNER);
        self.invariants.ended(end, run, owner.as_deref(), is_newest);
    }

    fn nap(&self) -> Option<usize> {
        self.scenario.naps.iter().position(|(from, _)| *from <= self.api.step)
    }

    /// It has read the owner, and sleeps before it decides.
    fn sleeps(&mut self, run: Run, then: Then) {
        self.invariants.killed_last = true;
        let is_last = self.random.one_in(2);
        self.strays.push(Stray { stage: Stage::Visit, run, is_last, wakes: true, stored: Some(Stored::No) });
        self.next = Some(then);
    }

    fn kill(&mut self, kill: Kill, stage: Stage, run: Run) {
        self.invariants.killed_last = true;
        let stored = match kill.request {
            Request::Stored => Some(self.store(&stage, &run)),
            Request::Lost => Some(Stored::Unknown),
            Request::Late | Request::VeryLate => None,
        };
        let (wakes, is_last) = match kill.fate {
            Fate::Killed => (false, kill.request == Request::VeryLate),
            Fate::Sleeps => (true, kill.request == Request::VeryLate),
            Fate::SleepsLong => (true, true),
        };
        if wakes || stored.is_none() {
            self.strays.push(Stray { stage, run, is_last, wakes, stored });
        }
        self.next = Some(kill.then);
    }

    /// Another run goes on from the objects: from the owner's lock, or from a copy that was left.
    fn begin_again(&mut self) {
        let owner = self.api.live(kind_of(self.scenario.kind), OWNER);
        let Some(owner) = owner.filter(|owner| uid(owner) == self.owner_uid) else { return };
        let text = Lock::text_of(&owner).map(str::to_owned);
        let copies = self.api.list(Kind::ReplicaSet);
        let found = Lock::of(&owner).ok().flatten();
        // A copy alone is resumed only after a kill.
        let copies = copies.iter().filter(|_| self.next.is_some());
        let mut copies = copies.filter_map(|set| Lock::of(set).ok().flatten());
        let copy = || copies.next();
        let Some(found) = found.or_else(copy) else {
            self.next = None;
            return;
        };
        self.runs += 1;
        let direction = match self.next.take() {
            Some(Then::Abort) => Direction::Back,
            Some(Then::Resume) | None => found.rollout.direction,
        };
        if direction != found.rollout.direction && self.scenario.seen_at_turn {
            // Assumed: the controllers have seen the present pods when a rollout changes direction. One that has not
            // seen the label that the way forward set counts the pod as updated again before the way back has reached
            // it.
            self.caches.move_to(Kind::Pod, self.api.version());
        }
        let rollout = Rollout { direction, ..found.rollout };
        let lock = Lock { rollout, run: format!("run-{}", self.runs), ..found };
        self.awake.push(Run::new(&self.scenario, lock, text, &self.owner_uid, self.runs));
    }

    fn does(&mut self, deed: Deed) {
        let granted = adversary::does(self, deed);
        self.invariants.grant(granted, deed);
    }

    fn trace(&self) -> Vec<String> {
        self.api.log().iter().filter(|event| event.by.actor != Actor::Setup).map(invariants::tell).collect()
    }
}
