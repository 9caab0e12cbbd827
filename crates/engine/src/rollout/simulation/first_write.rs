//! The first write on the owner, while pods and budgets change: never before the first pod may go down, and no later
//! than a read of the budgets after that. What may happen is computed here from the pods and the budget alone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Action, Answer, ContainerGoal, Goal, Now, Observation, Observed, PodGoal, Policy, RunState, turn};
use super::owned::owner_goal;
use super::random::Random;
use super::{BEFORE, WANTED, pod_key};
use crate::k8s::names::WorkloadRef;
use crate::k8s::pod::{Condition, Container, OwnerReference, Pod, PodSpec, PodStatus};
use crate::kinds::WorkloadKind;
use crate::report::{Notice, Outcome};
use crate::rollout::pre_pull::PrePull;
use crate::state::durable::lock::ROLLOUT_ANNOTATION;
use crate::state::durable::{ObjectWrite, OwnerView};
use crate::state::outcome::EndResult;

const SEEDS: u64 = 400;

/// `--timeout`, in seconds.
const TIMEOUT: u64 = 60;

/// A budget that blocks is read each second, and the owner is read again after it.
const NOTICED_WITHIN: Duration = Duration::from_millis(1_500);

/// A pod's state until its time comes; then it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    NotReady,
    NotScheduled,
    NodeNotReady,
    Missing,
}

#[derive(Debug, Clone)]
struct Scenario {
    pods: Vec<(Trouble, Now)>,
    /// Until then the budget has no room.
    budget: Option<Now>,
    max_unavailable: u32,
    ordered: bool,
    goes_on: bool,
}

impl Scenario {
    fn of(seed: u64) -> Self {
        let mut random = Random::named(seed, "first write");
        // Some come too late.
        let until = |random: &mut Random| random.millis(0, 90_000);
        let troubles = [
            Trouble::None,
            Trouble::None,
            Trouble::NotReady,
            Trouble::NotScheduled,
            Trouble::NodeNotReady,
            Trouble::Missing,
        ];
        let pods = (0..random.between(1, 4)).map(|_| (random.pick(&troubles), until(&mut random))).collect();
        Self {
            pods,
            budget: random.one_in(2).then(|| until(&mut random)),
            max_unavailable: u32::try_from(random.between(1, 2)).expect("small"),
            ordered: random.one_in(3),
            goes_on: random.one_in(4),
        }
    }

    fn trouble(&self, index: usize, now: Now) -> Trouble {
        self.pods
            .get(index)
            .map_or(Trouble::None, |(trouble, until)| if *until <= now { Trouble::None } else { *trouble })
    }

    /// Whether the first pod may go down.
    fn may_begin(&self, now: Now) -> bool {
        let troubles: Vec<Trouble> = (0..self.pods.len()).map(|index| self.trouble(index, now)).collect();
        let of_plan = self.pods.iter().zip(&troubles).filter(|((planned, _), _)| *planned != Trouble::Missing);
        let of_plan: Vec<Trouble> = of_plan.map(|(_, now)| *now).collect();
        let down_first = of_plan.iter().find(|trouble| **trouble != Trouble::None).filter(|_| !self.ordered);
        let Some(first) = down_first.or_else(|| of_plan.first()) else { return true };
        let others = troubles.iter().filter(|trouble| **trouble != Trouble::None).count();
        match first {
            Trouble::NotScheduled | Trouble::NodeNotReady => self.goes_on,
            Trouble::NotReady | Trouble::Missing => true,
            Trouble::None => {
                let has_room = self.budget.is_none_or(|until| until <= now);
                has_room && others < usize::try_from(self.max_unavailable).expect("small")
            }
        }
    }

    /// All times at which something changes.
    fn times(&self) -> impl Iterator<Item = Now> {
        self.pods.iter().map(|(_, until)| *until).chain(self.budget).chain([Now::ZERO])
    }

    /// When the first pod may go down for the first time.
    fn begins_at(&self) -> Option<Now> {
        self.times().filter(|at| self.may_begin(*at)).min()
    }

    fn pod(&self, index: usize, now: Now) -> Option<Pod> {
        let trouble = self.trouble(index, now);
        let condition = |kind: &str, is: bool| Condition {
            kind: kind.into(),
            status: if is { "True" } else { "False" }.into(),
            ..Condition::default()
        };
        let conditions = [
            ("Ready", trouble == Trouble::None),
            ("ContainersReady", matches!(trouble, Trouble::None | Trouble::NodeNotReady)),
            ("PodScheduled", trouble != Trouble::NotScheduled),
        ];
        let node = if trouble == Trouble::NotScheduled { "" } else { "node-a" };
        let side = Container { name: "side".into(), image: BEFORE.into(), ..Container::default() };
        let pod = Pod {
            key: pod_key(index, 0),
            created: "2026-01-01T00:00:00Z".into(),
            resource_version: u64::try_from(now.as_millis()).expect("small") + 1,
            generation: Some(1),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            annotations: Default::default(),
            owners: vec![OwnerReference {
                api_version: "apps/v1".into(),
                kind: "DaemonSet".into(),
                name: "web".into(),
                uid: "owner".into(),
                controller: true,
            }],
            terminating: false,
            image_set: Default::default(),
            tracked: false,
            resized: Default::default(),
            gate_writers: Default::default(),
            spec: PodSpec { node_name: node.into(), containers: vec![side], ..PodSpec::default() },
            status: PodStatus {
                phase: "Running".into(),
                conditions: conditions.map(|(kind, is)| condition(kind, is)).into(),
                ..PodStatus::default()
            },
            memo: Default::default(),
        };
        (trouble != Trouble::Missing).then_some(pod)
    }

    fn budgets(&self, now: Now) -> Vec<Value> {
        let budget = |until: Now| {
            let allowed = u8::from(until <= now);
            json!({"metadata": {"name": "strict", "generation": 1},
                "spec": {"minAvailable": 0, "selector": {"matchLabels": {"app": "web"}}},
                "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 4,
                    "desiredHealthy": 0, "expectedPods": 4}})
        };
        self.budget.into_iter().map(budget).collect()
    }
}

fn template(image: &str) -> Value {
    json!({"spec": {"containers": [{"name": "side", "image": image}]}})
}

fn owner(replicas: usize) -> OwnerView {
    let object = json!({"metadata": {"uid": "owner", "name": "web", "generation": 1},
        "spec": {"template": template(BEFORE), "updateStrategy": {"type": "RollingUpdate"}},
        "status": {"desiredNumberScheduled": replicas, "observedGeneration": 1}});
    OwnerView { object: Some(object), ..OwnerView::default() }
}

fn goal(scenario: &Scenario) -> Goal {
    let wanted = ContainerGoal {
        from: Some(BEFORE.into()),
        to: Some(WANTED.into()),
        restarts: true,
        ..ContainerGoal::default()
    };
    let planned = scenario.pods.iter().enumerate().filter(|(_, (trouble, _))| *trouble != Trouble::Missing);
    let pods = planned.map(|(index, _)| PodGoal {
        key: pod_key(index, 0),
        containers: [("side".into(), wanted.clone())].into(),
        fields: Default::default(),
        drain: None,
        kubelet: None,
    });
    let (owner, mut lock) = owner_goal("one", &["side"], [BEFORE, WANTED].map(template));
    lock.rollout.policy = Policy {
        max_unavailable: scenario.max_unavailable,
        timeout_given: Some(TIMEOUT),
        respects_budgets: true,
        ordered: scenario.ordered,
        goes_on_after_failure: scenario.goes_on,
        ..Policy::default()
    };
    Goal {
        clock: lock.rollout.since.clone(),
        by_request: false,
        lock,
        workload: WorkloadRef { kind: WorkloadKind::DaemonSet, namespace: "prod".into(), name: "web".into() },
        controllers: ["owner".into()].into(),
        replicas: u32::try_from(scenario.pods.len()).expect("small"),
        pods: pods.map(Into::into).collect(),
        field_manager: "inplace-cli".into(),
        pulls: Vec::new(),
        pre_pull: PrePull::Never,
        follows: None,
        hooks: Default::default(),
        owner: Some(owner),
    }
}

/// How it went.
#[derive(Debug)]
enum End {
    Wrote(Now),
    Ended(Now, Box<Outcome>),
}

struct Run {
    scenario: Scenario,
    observed: Observed,
    state: RunState,
    waits: Vec<String>,
}

impl Run {
    fn to_its_end(scenario: &Scenario, goal: &Goal) -> (End, Vec<String>) {
        Self::believing(scenario, scenario, goal)
    }

    /// The same of a run that is shown another scenario than the one that happens.
    fn believing(shown: &Scenario, scenario: &Scenario, goal: &Goal) -> (End, Vec<String>) {
        let (observed, state) = (Observed::default(), RunState::new());
        let mut run = Self { scenario: shown.clone(), observed, state, waits: Vec::new() };
        let mut now = Now::ZERO;
        loop {
            let pods = (0..shown.pods.len()).filter_map(|index| shown.pod(index, now)).collect();
            run.observed.observe(Observation::Relisted(pods));
            let wake = match run.until_quiet(goal, now) {
                Ok(wake) => wake,
                Err(end) => return (end, run.waits),
            };
            let next = scenario.times().chain(wake).filter(|at| *at > now).min();
            now = next.expect("a run that waits is woken up");
        }
    }

    /// Every request is answered at once.
    fn until_quiet(&mut self, goal: &Goal, now: Now) -> Result<Option<Now>, End> {
        loop {
            let said = turn(goal, &self.observed, &mut self.state, now);
            let waits = said.notices.iter().filter_map(|notice| match notice {
                Notice::WaitsToBegin { why } => Some(why.clone()),
                _ => None,
            });
            self.waits.extend(waits);
            if let Some(outcome) = said.end {
                return Err(End::Ended(now, Box::new(outcome)));
            }
            if said.actions.is_empty() {
                return Ok(said.wake);
            }
            for (id, action) in said.actions {
                let observation = match action {
                    Action::Write { write: ObjectWrite::Patch { operations, .. }, .. } => {
                        let text = serde_json::to_string(&operations).expect("a patch");
                        assert!(text.contains(ROLLOUT_ANNOTATION) && text.contains(WANTED), "{text}");
                        return Err(End::Wrote(now));
                    }
                    Action::ReadOwner(_) => Observation::Owner(Box::new(owner(self.scenario.pods.len()))),
                    Action::ReadBudgets { .. } => Observation::Budgets(self.scenario.budgets(now)),
                    other => panic!("before the first write: {other:?}"),
                };
                self.observed.observe(observation);
                self.state.answer(id, Answer::Read, now);
            }
        }
    }
}

#[test]
fn the_template_is_written_once_the_first_pod_may_go_down_and_not_before() {
    let (mut written, mut ended) = (0, 0);
    for seed in 0..SEEDS {
        let scenario = Scenario::of(seed);
        let timeout = Duration::from_secs(TIMEOUT);
        let begins_at = scenario.begins_at().filter(|at| *at < timeout);
        let (end, waits) = Run::to_its_end(&scenario, &goal(&scenario));
        match (&end, begins_at) {
            (End::Wrote(at), Some(begins_at)) => {
                written += 1;
                let in_time = *at <= begins_at + NOTICED_WITHIN;
                assert!(scenario.may_begin(*at) && in_time, "seed {seed}: {end:?}, {scenario:?}");
                assert_eq!(waits.is_empty(), *at == Now::ZERO, "seed {seed}: {waits:?}, {scenario:?}");
            }
            (End::Ended(at, outcome), None) => {
                ended += 1;
                assert_eq!((*at, outcome.result), (timeout, EndResult::TimedOut), "seed {seed}: {scenario:?}");
                assert!(outcome.nothing_changed && !outcome.held, "seed {seed}: {outcome:?}");
                let why = outcome.why.clone().unwrap_or_default();
                let last = waits.last().expect("what is waited for is told");
                assert_eq!(why, format!("no pod may be taken down: {last}"), "seed {seed}: {scenario:?}");
            }
            (_, _) => panic!("seed {seed}: {end:?}, and it might begin at {begins_at:?}: {scenario:?}"),
        }
    }
    assert!(written > 100 && ended > 50, "both are drawn: {written}, {ended}");
}

/// A run that writes while no pod may go down is caught.
#[test]
fn a_template_that_is_written_too_early_is_caught() {
    let is_too_early = |seed: &u64| {
        let scenario = Scenario::of(*seed);
        let ready = |(trouble, _): &(Trouble, Now)| (*trouble, Now::ZERO);
        let blind = Scenario { pods: scenario.pods.iter().map(ready).collect(), budget: None, ..scenario.clone() };
        let (end, _) = Run::believing(&blind, &scenario, &goal(&scenario));
        matches!(end, End::Wrote(at) if !scenario.may_begin(at))
    };
    let caught = (0..SEEDS).filter(is_too_early).count();
    assert!(caught > 50, "{caught} of {SEEDS}");
}

/// The pod for which the budget had no room leaves, so the template is written; then the same budget blocks another pod.
#[test]
fn a_budget_that_has_held_the_first_write_back_is_reported_when_it_blocks_a_pod() {
    let pods = vec![(Trouble::None, Now::ZERO)];
    let hour = Duration::from_secs(3600);
    let scenario = Scenario { pods, budget: Some(hour), max_unavailable: 1, ordered: false, goes_on: false };
    let goal = goal(&scenario);
    let (observed, state) = (Observed::default(), RunState::new());
    let mut run = Run { scenario: scenario.clone(), observed, state, waits: Vec::new() };
    run.observed.observe(Observation::Relisted(scenario.pod(0, Now::ZERO).into_iter().collect()));
    run.until_quiet(&goal, Now::ZERO).expect("it waits");
    run.observed.observe(Observation::Deleted(pod_key(0, 0)));
    let end = run.until_quiet(&goal, Duration::from_secs(1));
    assert!(matches!(end, Err(End::Wrote(_))), "{end:?}");
    let [why] = run.waits.as_slice() else { panic!("{:?}", run.waits) };
    let reported = run.state.budgets.say_what_blocks(&run.state.pods, why);
    assert_eq!(reported, Some(Notice::DisruptionBudgetHolds { why: why.clone() }));
}

#[test]
fn what_takes_no_pod_down_is_written_at_once() {
    let hour = Duration::from_secs(3600);
    for trouble in [Trouble::NotReady, Trouble::NotScheduled, Trouble::NodeNotReady, Trouble::Missing, Trouble::None] {
        let pods = vec![(Trouble::None, Now::ZERO), (trouble, hour)];
        let scenario = Scenario { pods, budget: Some(hour), max_unavailable: 1, ordered: true, goes_on: false };
        let mut quiet = goal(&scenario);
        let containers = quiet.pods.iter_mut().flat_map(|pod| Arc::make_mut(pod).containers.values_mut());
        containers.for_each(|container| container.restarts = false);
        let (end, waits) = Run::to_its_end(&scenario, &quiet);
        assert!(matches!(end, End::Wrote(Now::ZERO)) && waits.is_empty(), "{trouble:?}: {end:?}");
        let (end, waits) = Run::to_its_end(&scenario, &goal(&scenario));
        assert!(matches!(end, End::Ended(..)) && waits.len() == 1, "{trouble:?}: {end:?}, {waits:?}");
    }
}
