//! The nodes that pull first, and the budget over the pods: simulated as the API shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::k8s::names::WorkloadRef;
use crate::kinds::WorkloadKind;
use crate::rollout::pre_pull::{ImagePull, Pull, PullAsks, pull_pod};
use crate::state::durable::ObjectWrite;

use super::super::{ActionId, Answer, Now, Observation};
use super::adversary::Scenario;
use super::random::Random;
use super::{Due, Simulation, WANTED};

/// A pull pod.
#[derive(Debug, Clone)]
pub(super) struct Pulls {
    object: Value,
    done_at: Now,
    fails: bool,
}

/// What the nodes do and have.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    pub(super) pods: BTreeMap<String, Pulls>,
    have: BTreeSet<String>,
    made: u64,
    /// Until when the quota still counts pods that are gone.
    counted: Vec<Now>,
}

fn node(index: usize) -> String {
    format!("node-{index}")
}

/// What the goal says that has to be pulled.
pub(super) fn wanted(scenario: &Scenario) -> Vec<Pull> {
    let nodes = scenario.pulls.map_or(0, |pulls| pulls.nodes);
    let images = || vec![ImagePull { image: WANTED.into(), policy: "IfNotPresent".into() }];
    let pull = |index| Pull {
        node: node(index),
        secrets: Vec::new(),
        service_account: "default".into(),
        images: images(),
        asks: PullAsks::Little,
    };
    (0..nodes).map(pull).collect()
}

impl Nodes {
    pub(super) fn begin(&mut self, scenario: &Scenario) {
        if scenario.pulls.is_some_and(|pulls| pulls.leftover) {
            // As the other run created it: a pod that only looks like a pull pod is somebody else's.
            let Some(pull) = wanted(scenario).into_iter().next() else { unreachable!("a node pulls") };
            let web = WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() };
            let mut object = pull_pod(&"20260228-1".into(), &web, &pull, 360);
            object["metadata"]["uid"] = "left".into();
            let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
            self.pods.insert(name, Pulls { object, done_at: Now::MAX, fails: false });
        }
    }

    /// Every node has what it needs, or the server allows no pods, or not enough of them in time.
    pub(super) fn have_pulled(&self, scenario: &Scenario, took: Duration) -> bool {
        let Some(pulls) = scenario.pulls else { return true };
        let is_late = took >= Duration::from_secs(scenario.timeout_given.unwrap_or(300));
        let has_room = !pulls.is_refused && (pulls.room.is_none() || !is_late);
        !has_room || (0..pulls.nodes).all(|index| self.have.contains(&node(index)))
    }

    /// Lets time pass: an image that is pulled by now stays on the node, whatever becomes of the pod.
    fn pass(&mut self, now: Now) {
        for pod in self.pods.values_mut().filter(|pod| pod.done_at <= now) {
            let waiting = json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}});
            let ended = json!({"terminated": {"exitCode": 128, "reason": "StartError"}});
            let (state, id) = if pod.fails { (waiting, "") } else { (ended, "registry.example/side@sha256:1") };
            pod.object["status"] = json!({"containerStatuses": [{"name": "image-0", "imageID": id, "state": state}]});
            let on = pod.object.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
            if !pod.fails {
                self.have.insert(on.to_owned());
            }
        }
    }

    fn create(&mut self, scenario: &Scenario, object: &Value, now: Now) -> Answer {
        let Some(pulls) = scenario.pulls else { unreachable!("nothing is pulled") };
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.counted.retain(|until| *until > now);
        let is_full = pulls.room.is_some_and(|room| self.pods.len() + self.counted.len() >= room);
        if pulls.is_refused || (is_full && !self.pods.contains_key(&name)) {
            return Answer::Refused { reason: "Forbidden".into(), message: "no".into() };
        }
        if self.pods.contains_key(&name) {
            return Answer::Accepted;
        }
        self.made += 1;
        let mut random = Random::named(scenario.seed, &format!("{name}/{}", self.made));
        let mut object = object.clone();
        object["metadata"]["uid"] = format!("pull-{}", self.made).into();
        let fails = pulls.fails.is_some_and(|index| object["spec"]["nodeName"] == node(index).as_str());
        let done_at = now + random.millis(1, pulls.slowest_millis);
        self.pods.insert(name, Pulls { object, done_at, fails });
        Answer::Accepted
    }
}

impl Scenario {
    /// Whether the budget is there.
    fn has_budget(&self, now: Now) -> bool {
        self.min_available.is_some() && self.budget_from <= now && self.budget_until.is_none_or(|until| now < until)
    }

    /// Whether the budget has existed for so long that a rollout must know it: it reads them every second, and an
    /// answer takes its time.
    pub(super) fn is_budget_known(&self, now: Now) -> bool {
        let slowest = Duration::from_secs(1) + 2 * Duration::from_millis(self.slowest_answer);
        let from = if self.budget_from == Now::ZERO { Now::ZERO } else { self.budget_from + slowest };
        self.has_budget(now) && from <= now
    }
}

impl Simulation {
    /// Sends a write about a pull pod.
    pub(super) fn write(&mut self, id: ActionId, write: ObjectWrite) {
        let run = self.run;
        let at = self.now + self.random.millis(1, 800);
        let fortune = if self.scenario.bad_answers { self.random.below(8) } else { 7 };
        let (message, late) =
            ("lost".to_owned(), self.now + self.random.millis(900, 900 + self.scenario.slowest_answer));
        match fortune {
            0 => self.at(late, Due::Answer { id, answer: Answer::NotDone { after: None, message }, run }),
            1 => self.at(late, Due::Answer { id, answer: Answer::Unknown { message }, run }),
            fortune => self.at(at, Due::Write { id, write: Box::new(write), run, is_lost: fortune == 2 }),
        }
    }

    /// A write arrives.
    pub(super) fn wrote(&mut self, id: ActionId, write: &ObjectWrite, run: u32, is_lost: bool) {
        self.nodes.pass(self.now);
        let answer = match write {
            ObjectWrite::Create { object, .. } => self.nodes.create(&self.scenario, object, self.now),
            ObjectWrite::Delete { object, .. } => {
                if self.nodes.pods.remove(&object.name).is_some() {
                    let counted = self.now + self.random.millis(0, 1_500);
                    self.nodes.counted.push(counted);
                }
                Answer::Accepted
            }
            ObjectWrite::Patch { operations, .. } => self.owner.patch(operations),
        };
        let answer = if is_lost { Answer::Unknown { message: "timed out".into() } } else { answer };
        let at = self.now + self.random.millis(0, self.scenario.slowest_answer);
        self.at(at, Due::Answer { id, answer, run });
    }

    pub(super) fn read_pulls(&mut self, id: ActionId, run: u32) {
        if run != self.run {
            return;
        }
        self.nodes.pass(self.now);
        if self.scenario.bad_answers && self.random.one_in(6) {
            return self.answer(id, Answer::ReadFailed { message: "timed out".into() }, run);
        }
        let pods = self.nodes.pods.values().map(|pod| pod.object.clone()).collect();
        self.observe(Observation::PullPods(pods));
        self.answer(id, Answer::Read, run);
    }

    /// The budget as the disruption controller has left it: computed late, from what the pods show.
    pub(super) fn read_budgets(&mut self, id: ActionId, run: u32) {
        if run != self.run {
            return;
        }
        if self.scenario.bad_answers && self.random.one_in(6) {
            return self.answer(id, Answer::ReadFailed { message: "timed out".into() }, run);
        }
        if !self.scenario.has_budget(self.now) {
            self.observe(Observation::Budgets(Vec::new()));
            return self.answer(id, Answer::Read, run);
        }
        let pods = self.api.list();
        let healthy = pods.iter().filter(|pod| pod.is_ready() && !pod.terminating).count();
        let least = self.scenario.min_available.unwrap_or(0);
        let lags = self.now < self.scenario.budget_lags_until;
        let allowed = if lags { 0 } else { healthy.saturating_sub(least) };
        let observed = if lags && self.scenario.seed.is_multiple_of(2) { 1 } else { 2 };
        let budget = json!({
            "metadata": {"name": "web", "namespace": "prod", "generation": 2},
            "spec": {"minAvailable": least, "selector": {}},
            "status": {"observedGeneration": observed, "disruptionsAllowed": allowed, "currentHealthy": healthy,
                "desiredHealthy": least, "expectedPods": pods.len()},
        });
        self.observe(Observation::Budgets(vec![budget]));
        self.answer(id, Answer::Read, run);
    }
}
