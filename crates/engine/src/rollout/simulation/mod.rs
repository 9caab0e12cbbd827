//! The rollout against a simulated cluster and an adversary, in virtual time.
//!
//! Nothing here sleeps: the clock jumps to the next thing due. A seed decides everything, and a violation names it.

mod adversary;
mod api_server;
mod cost;
mod drained;
mod faults;
mod first_write;
mod hooked;
mod invariants;
mod kubelet;
mod nature;
mod network;
mod never_sent;
mod owned;
mod pulling;
mod random;
mod regressions;
mod resized;
mod shown;
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::k8s::names::{PodKey, WorkloadRef};
use crate::k8s::pod::{Container, OwnerReference, Pod, PodSpec, PodStatus, Probe, Resources};
use crate::kinds::WorkloadKind;
use crate::plan::Start;
use crate::rollout::patch::PodPatch;
use crate::rollout::pre_pull::PrePull;
use crate::state::durable::ObjectWrite;
use crate::state::durable::lock::Lock;
use crate::state::durable::rollout::Rollout;
use crate::state::hook::HookEnd;
use crate::state::outcome::EndResult;

use super::{
    ActionId, Answer, ContainerGoal, Follow, Goal, Now, Observation, Observed, PodGoal, Policy, RunState, Turn, turn,
};
use adversary::{Deed, Scenario};
use api_server::ApiServer;
use drained::{Slices, drain_goal, gates, labels};
use faults::{Fault, Faulty};
use hooked::Hooked;
use invariants::{Invariant, Invariants, Truth, Violation};
use kubelet::Kubelet;
use nature::{Fate, STARTUP_PERIOD, Stage};
use owned::Owned;
use pulling::Nodes;
use random::Random;
use resized::Sizes;

const BEFORE: &str = "registry.example/side:v1";
const WANTED: &str = "registry.example/side:v2";
const FOREIGN: &str = "registry.example/side:v3";

/// No run may take longer, in virtual time.
const LONGEST: Duration = Duration::from_secs(4_000);

/// What is due at some time.
#[derive(Debug, Clone)]
enum Due {
    Kubelet(PodKey, Stage),
    Deliver,
    WatchIsBack,
    Observe(Observation),
    Execute {
        id: ActionId,
        patch: Box<PodPatch>,
        run: u32,
        answer: Option<Answer>,
        moves: bool,
    },
    Read {
        id: ActionId,
        key: PodKey,
        run: u32,
    },
    ReadSlices {
        id: ActionId,
        run: u32,
    },
    /// The controller of the EndpointSlices sees a pod.
    Slice(PodKey),
    ReadEvents {
        id: ActionId,
        key: PodKey,
        run: u32,
    },
    Write {
        id: ActionId,
        write: Box<ObjectWrite>,
        run: u32,
        is_lost: bool,
    },
    ReadPulls {
        id: ActionId,
        run: u32,
    },
    ReadBudgets {
        id: ActionId,
        run: u32,
    },
    ReadOwner {
        id: ActionId,
        run: u32,
    },
    /// The owner's controller creates the pods that are missing.
    Refill,
    /// A pod is deleted.
    Leaves(PodKey),
    /// A hook has ended.
    Hook {
        id: ActionId,
        run: u32,
        end: HookEnd,
    },
    Answer {
        id: ActionId,
        answer: Answer,
        run: u32,
    },
    Deed(Deed),
}

/// The result of a scenario.
#[derive(Debug, Clone, PartialEq)]
struct Report {
    end: Option<EndResult>,
    violations: Vec<Violation>,
    actions: u64,
    /// Pods that were done.
    done: usize,
}

/// One run.
#[derive(Clone)]
struct Simulation {
    scenario: Scenario,
    fault: Faulty,
    goal: Goal,
    /// With the pods that were created since from the old template.
    judged: Goal,
    owner: Owned,
    observed: Observed,
    state: RunState,
    api: ApiServer,
    kubelets: BTreeMap<PodKey, Kubelet>,
    agenda: BTreeMap<(Now, u64), Due>,
    sequence: u64,
    now: Now,
    wake: Option<Now>,
    random: Random,
    /// How much of the history was delivered.
    cursor: usize,
    watch_is_live: bool,
    delivery_due: bool,
    run: u32,
    actions: u64,
    sends: BTreeMap<PodKey, u8>,
    end: Option<EndResult>,
    nodes: Nodes,
    invariants: Invariants,
    slices: Slices,
    hooks: Hooked,
    /// The results of runs killed after each action of this run so far, if that is asked for.
    killed: Option<Vec<Report>>,
}

/// Runs a scenario to its end.
fn simulate(scenario: &Scenario, fault: Option<Fault>) -> Report {
    let mut simulation = Simulation::new(scenario.clone(), fault);
    simulation.begin();
    simulation.run();
    simulation.report()
}

/// Runs a scenario to its end, and once more from each of its actions on, as if the run had been killed right after it.
fn simulate_killed_anywhere(scenario: &Scenario) -> (Report, Vec<Report>) {
    let mut simulation = Simulation { killed: Some(Vec::new()), ..Simulation::new(scenario.clone(), None) };
    simulation.begin();
    simulation.run();
    let killed = simulation.killed.take().unwrap_or_default();
    (simulation.report(), killed)
}

impl Simulation {
    fn new(scenario: Scenario, fault: Option<Fault>) -> Self {
        let fault = Faulty::new(fault);
        let mut simulation = Self {
            goal: fault.goal(goal(&scenario)),
            judged: goal(&scenario),
            owner: Owned::new(&scenario),
            observed: Observed::default(),
            state: RunState::new(),
            api: ApiServer::default(),
            kubelets: BTreeMap::new(),
            agenda: BTreeMap::new(),
            sequence: 0,
            now: Now::ZERO,
            wake: None,
            random: Random::named(scenario.seed, "network"),
            cursor: 0,
            watch_is_live: false,
            delivery_due: false,
            run: 0,
            actions: 0,
            sends: BTreeMap::new(),
            end: None,
            nodes: Nodes::default(),
            invariants: Invariants::default(),
            slices: Slices::default(),
            hooks: Hooked::default(),
            killed: None,
            fault,
            scenario,
        };
        for index in 0..simulation.scenario.pods {
            let key = pod_key(index, 0);
            let broken = simulation.scenario.broken.contains(&index);
            simulation.create(&key, BEFORE, broken);
        }
        if simulation.scenario.bystander {
            simulation.create(&pod_key(simulation.scenario.pods, 0), WANTED, false);
        }
        simulation.nodes.begin(&simulation.scenario);
        simulation.list_all();
        for (at, deed) in simulation.scenario.deeds.clone() {
            simulation.at(at, Due::Deed(deed));
        }
        simulation
    }

    /// A pod that runs already.
    fn create(&mut self, key: &PodKey, image: &str, broken: bool) {
        let index = key.name.rsplit('-').next().and_then(|index| index.parse::<usize>().ok()).unwrap_or(0);
        let seed = Random::named(self.scenario.seed, key.uid.as_str());
        let images = images(&self.scenario, image);
        let crashes = broken && !self.scenario.broken_run;
        let mut kubelet = Kubelet::new(key, self.scenario.nature, seed, &images, crashes);
        if broken && !crashes {
            kubelet.never_ready();
        }
        kubelet.sizes = self.scenario.resizes.map(|resizes| Sizes::new(resizes, key));
        if let Some(fate) = self.scenario.fates.get(index) {
            kubelet.fate(WANTED, *fate);
        }
        if broken {
            kubelet.fate(BEFORE, Fate::Crashes { after_millis: 300 });
            let at = self.now + Random::named(self.scenario.seed, &key.name).millis(0, 12_000);
            self.at(at, Due::Kubelet(key.clone(), Stage::Retry(1)));
        }
        self.api.create(pod(key, &images, &self.scenario));
        kubelet.publish(&mut self.api, self.now);
        self.kubelets.insert(key.clone(), kubelet);
    }

    /// The run sees what happens.
    fn observe(&mut self, observation: Observation) {
        self.fault.observe(&observation, &self.goal);
        self.observed.observe(observation);
    }

    fn at(&mut self, at: Now, due: Due) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), due);
    }

    fn begin(&mut self) {
        if self.scenario.opens_late {
            let at = self.random.millis(0, 3_000);
            self.at(at, Due::WatchIsBack);
        } else {
            self.relist();
        }
        self.turn();
    }

    fn run(&mut self) {
        while self.end.is_none() {
            let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = [due, self.wake].into_iter().flatten().min() else {
                return self.invariants.broken(Invariant::Livelock, self.now, "nothing is due and it has not ended");
            };
            self.now = self.now.max(next);
            if self.now > LONGEST {
                return self.invariants.broken(Invariant::Livelock, self.now, "it does not end");
            }
            while let Some(entry) = self.agenda.first_entry()
                && entry.key().0 <= self.now
            {
                let due = entry.remove();
                self.happen(due);
            }
            self.turn();
            // One is enough, and a broken rollout may break everything for ever.
            if self.invariants.violations.len() > 3 {
                return;
            }
        }
        self.after_the_end();
    }

    fn turn(&mut self) {
        let truth = Truth {
            goal: &self.judged,
            observed: &self.observed,
            stored: &self.api,
            kubelets: &self.kubelets,
            watch_is_live: self.watch_is_live,
            same_digest: self.scenario.nature.same_digest,
            listed: &self.slices.listed,
            passed: &self.hooks.passed,
            passed_last: &self.hooks.passed_last,
            slowest_answer: Duration::from_millis(self.scenario.slowest_answer),
            now: self.now,
            has_pulled: self.nodes.have_pulled(&self.scenario, self.now.saturating_sub(self.invariants.began)),
            min_available: self.scenario.min_available.filter(|_| self.scenario.is_budget_known(self.now)),
            is_undisturbed: self.scenario.is_undisturbed(),
        };
        self.invariants.visit(&truth);
        let mut said = turn(&self.goal, self.fault.observed(&self.observed), &mut self.state, self.now);
        let unsent = self.fault.send(&mut said, self.now);
        if let Some(outcome) = said.end.as_mut().filter(|outcome| outcome.result == EndResult::Aborted) {
            // Everything is as wanted.
            outcome.result = EndResult::Complete;
        }
        self.invariants.judge(&said, &truth);
        let again = turn(&self.goal, self.fault.observed(&self.observed), &mut self.state.clone(), self.now);
        if !again.actions.is_empty() || !again.notices.is_empty() || again.end.is_some() {
            self.invariants.broken(
                Invariant::Idempotent,
                self.now,
                format!("the second turn says {again:?} after {said:?}"),
            );
        }
        for (id, answer) in unsent {
            self.at(self.now + Duration::from_millis(1), Due::Answer { id, answer, run: self.run });
        }
        self.wake = said.wake;
        self.end = said.end.map(|outcome| outcome.result);
        for (id, action) in said.actions {
            self.actions += 1;
            self.carry_out(id, action);
            if Some(self.actions) == self.scenario.new_state_after {
                return self.go_on_with_a_new_state();
            }
            self.kill_a_copy();
        }
    }

    fn kill_a_copy(&mut self) {
        let Some(mut killed) = self.killed.take() else { return };
        let mut copy = self.clone();
        copy.scenario.new_state_after = Some(self.actions);
        copy.go_on_with_a_new_state();
        copy.run();
        killed.push(copy.report());
        self.killed = Some(killed);
    }

    fn report(self) -> Report {
        let (mut violations, may_end) = (self.invariants.violations, self.scenario.may_end());
        if let Some(end) = self.end
            && !may_end.contains(&end)
        {
            let what = format!("{end:?}, but it may only be {may_end:?}");
            violations.push(Violation { invariant: Invariant::WrongEnd, at: self.now, what });
        }
        Report { end: self.end, violations, actions: self.actions, done: self.invariants.done_ever.len() }
    }

    /// The run is killed, and another one starts on the same cluster.
    fn go_on_with_a_new_state(&mut self) {
        self.end = None;
        // A request in flight arrives now, or never: a list cannot show what will be stored after it.
        let is_request = |due: &Due| matches!(due, Due::Execute { .. } | Due::Write { .. });
        let requests: Vec<Due> = self.agenda.values().filter(|due| is_request(due)).cloned().collect();
        self.agenda.retain(|_, due| !is_request(due));
        for request in requests {
            if self.random.one_in(2) {
                self.happen(request);
            }
        }
        self.run += 1;
        self.kill_hooks();
        self.state = RunState::new();
        self.observed = Observed::default();
        self.fault.begin_again();
        self.relist();
        self.invariants.new_state(self.now);
        self.invariants.stopped_at = None;
        self.wake = Some(self.now);
    }

    fn after_the_end(&mut self) {
        // An interrupt gives them five seconds, a server that answers badly has half a minute after the timeout.
        let timeout = Duration::from_secs(self.scenario.timeout_given.unwrap_or(300) + 30);
        let in_time = self.invariants.stopped_at.is_none_or(|since| self.now < since + Duration::from_secs(5))
            && self.now < self.invariants.began + timeout;
        if in_time && !self.nodes.pods.is_empty() {
            let what = format!("{} pods that pull are left", self.nodes.pods.len());
            self.invariants.broken(Invariant::PullLeft, self.now, what);
        }
        self.judge_owner();
        self.judge_labels();
        self.judge_owed();
        for _ in 0..5 {
            self.now += Duration::from_secs(7);
            self.relist();
            let said = turn(&self.goal, self.fault.observed(&self.observed), &mut self.state, self.now);
            if said != Turn::default() {
                self.invariants.broken(Invariant::AfterEnd, self.now, format!("{said:?}"));
            }
        }
    }
}

fn pod_key(index: usize, incarnation: u32) -> PodKey {
    PodKey { namespace: "prod".into(), name: format!("web-{index}"), uid: format!("uid-{index}-{incarnation}").into() }
}

/// The containers of a pod with their images.
fn images<'a>(scenario: &Scenario, image: &'a str) -> Vec<(&'static str, &'a str)> {
    std::iter::once(("app", "registry.example/app:v1")).chain(changing(scenario).map(|name| (name, image))).collect()
}

/// The containers that change.
fn changing(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    ["side", "second"].into_iter().take(if scenario.both_containers { 2 } else { 1 })
}

/// What is wanted of a pod.
fn pod_goal(scenario: &Scenario, key: PodKey) -> PodGoal {
    let from = (!scenario.follows).then(|| BEFORE.to_owned());
    let wanted = ContainerGoal { from, to: Some(WANTED.into()), restarts: true, ..ContainerGoal::default() };
    let names = changing(scenario).filter(|_| !scenario.only_resizes());
    let containers = names.map(|name| (name.into(), wanted.clone())).collect();
    PodGoal { key, containers, fields: resized::fields(scenario), drain: drain_goal(scenario), kubelet: None }
}

fn goal(scenario: &Scenario) -> Goal {
    let pods = (0..scenario.pods).map(|index| pod_goal(scenario, pod_key(index, 0)));
    let kind = if scenario.owned { WorkloadKind::ReplicaSet } else { WorkloadKind::StatefulSet };
    let (owner, lock) = owned::owner_of(scenario).map_or_else(
        || (None, Start::default().lock(Rollout { id: "20260301-1".into(), ..Rollout::default() })),
        |(owner, lock)| (Some(owner), lock),
    );
    let policy = Policy {
        max_unavailable: scenario.max_unavailable,
        container_order: scenario.container_order.iter().map(|name| (*name).into()).collect(),
        min_ready_seconds_given: scenario.min_ready_given,
        owner_min_ready_seconds: scenario.owner_min_ready,
        timeout_given: scenario.timeout_given,
        total_timeout: scenario.total_timeout,
        ordered: scenario.ordered,
        respects_budgets: scenario.min_available.is_some(),
        pause_after: scenario.pause_after,
        goes_on_after_failure: scenario.goes_on,
        drain_seconds: scenario.drain_seconds,
        on_deferred: scenario.resizes.map(|resizes| resizes.on_deferred).unwrap_or_default(),
        ..Policy::default()
    };
    Goal {
        clock: lock.rollout.since.clone(),
        by_request: false,
        lock: Lock { rollout: Rollout { policy, ..lock.rollout }, ..lock },
        workload: WorkloadRef { kind, namespace: "prod".into(), name: "web".into() },
        controllers: ["owner".into()].into(),
        replicas: u32::try_from(scenario.pods + usize::from(scenario.bystander)).expect("small"),
        pods: pods.map(Into::into).collect(),
        hooks: hooked::wanted(scenario),
        field_manager: "inplace-cli".into(),
        owner,
        pulls: pulling::wanted(scenario),
        follows: scenario.follows.then(Follow::default).filter(|_| !scenario.owned),
        pre_pull: if scenario.pulls.is_some() { PrePull::Auto } else { PrePull::Never },
    }
}

fn pod(key: &PodKey, images: &[(&str, &str)], scenario: &Scenario) -> Pod {
    let nature = scenario.nature;
    let probe = |is_there: bool| {
        is_there
            .then(|| Probe { period_seconds: Some(u32::try_from(STARTUP_PERIOD).expect("small")), ..Probe::default() })
    };
    let containers = images.iter().enumerate().map(|(index, (name, image))| Container {
        name: (*name).into(),
        image: (*image).to_owned(),
        restart_policy: None,
        restart_policy_rules: Vec::new(),
        readiness_probe: probe(nature.readiness && index != 0),
        startup_probe: probe(nature.startup && index != 0),
        resources: if index == 1 && scenario.resizes.is_some() { resized::before() } else { Resources::default() },
        ..Container::default()
    });
    let (readiness_gates, conditions) = gates(scenario);
    let mut spec = PodSpec {
        restart_policy: "Always".into(),
        containers: containers.collect(),
        // A pod without a node has nothing to resize, and keeps a rollout from its first write.
        node_name: if scenario.resizes.is_some() || scenario.owned { "node".into() } else { String::new() },
        readiness_gates,
        ..PodSpec::default()
    };
    scenario.resizes.iter().for_each(|resizes| resizes.size(&mut spec));
    Pod {
        key: key.clone(),
        created: "2026-01-01T00:00:00Z".into(),
        resource_version: 0,
        generation: Some(1),
        labels: labels(scenario),
        annotations: BTreeMap::new(),
        owners: vec![OwnerReference {
            api_version: "apps/v1".into(),
            kind: "StatefulSet".into(),
            name: "web".into(),
            uid: "owner".into(),
            controller: true,
        }],
        terminating: false,
        image_set: BTreeMap::new(),
        tracked: false,
        resized: BTreeMap::new(),
        gate_writers: BTreeMap::new(),
        spec,
        status: PodStatus { conditions, ..PodStatus::default() },
        memo: Default::default(),
    }
}
