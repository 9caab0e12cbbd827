//! The owner of the pods, where its template changes too, and its controller. It is a ReplicaSet: a rollout needs no
//! step on it but the first and the last, and each pod that leaves is replaced.

use json_patch::Patch;
use serde_json::{Value, json};

use crate::change::Direction;
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::state::durable::lock::Lock;
use crate::state::durable::lock::ROLLOUT_ANNOTATION;
use crate::state::durable::{OwnerChange, OwnerView};
use crate::state::outcome::EndResult;
use testkit::api_model::{Part, carry_out, count, keep};

use super::super::{ActionId, Answer, Now, Observation};
use super::adversary::{Deed, Scenario};
use super::api_server::timestamp;
use super::invariants::Invariant;
use super::random::Random;
use super::shown::belongs;
use super::{BEFORE, Due, Simulation, WANTED, changing, images, pod_goal, pod_key};

/// The owner as it is stored, and how many pods its controller has made.
#[derive(Debug, Clone)]
pub(super) struct Owned {
    object: Value,
    made: usize,
}

fn template(scenario: &Scenario, image: &str) -> Value {
    let containers = images(scenario, image).into_iter().map(|(name, image)| json!({"name": name, "image": image}));
    json!({"spec": {"containers": containers.collect::<Vec<_>>()}})
}

impl Owned {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut object = json!({"metadata": {"uid": "owner", "name": "web", "namespace": "prod", "generation": 1},
            "spec": {"template": template(scenario, BEFORE)}, "status": {}});
        if let Some(lock) = owner_of(scenario).and_then(|(owner, _)| owner.replaces) {
            object["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: lock});
        }
        Self { object, made: 0 }
    }

    fn image(&self) -> &str {
        let image = self.object.pointer("/spec/template/spec/containers/1/image");
        image.and_then(Value::as_str).unwrap_or_default()
    }

    fn has_lock(&self) -> bool {
        self.object.pointer("/metadata/annotations").is_some_and(|map| map.get(ROLLOUT_ANNOTATION).is_some())
    }

    pub(super) fn patch(&mut self, operations: &Patch) -> Answer {
        let mut object = self.object.clone();
        if let Err(refused) = carry_out(&mut object, operations) {
            return Answer::Conflict { message: format!("{refused:?}") };
        }
        keep("ReplicaSet", Part::Main, &self.object, &mut object);
        count("ReplicaSet", Part::Main, &self.object, &mut object);
        self.object = object;
        Answer::Accepted
    }
}

/// What is wanted of an owner whose containers of these names get the wanted image.
pub(super) fn owner_goal(id: &str, names: &[&str], [before, after]: [Value; 2]) -> (Box<OwnerChange>, Lock) {
    let images = names.iter().map(|name| ((*name).to_owned(), json!({"from": BEFORE, "to": WANTED})));
    let since = timestamp(Now::ZERO);
    let lock = json!({"id": id, "run": "r", "who": "jane", "since": since, "version": "0",
        "state": "running", "direction": "forward",         "change": {"images": images.collect::<serde_json::Map<_, _>>()},
        "policy": {"maxUnavailable": 1, "ownerMinReadySeconds": 0, "ordered": false}});
    let owner = OwnerChange {
        continues: false,
        uid: "owner".into(),
        replaces: None,
        adopts: false,
        last_renewal: None,
        take_over: None,
        earlier: Default::default(),
        before,
        after,
        keep_field_ownership: false,
    };
    (Box::new(owner), serde_json::from_value(lock).expect("a lock"))
}

/// The same for a scenario. On the way back, what is wanted is what was there before the rollout whose lock the owner
/// has.
pub(super) fn owner_of(scenario: &Scenario) -> Option<(Box<OwnerChange>, Lock)> {
    let names: Vec<&str> = changing(scenario).collect();
    let templates = || [BEFORE, WANTED].map(|image| template(scenario, image));
    let (mut owner, mut lock) = scenario.owned.then(|| owner_goal("20260301-1", &names, templates()))?;
    if scenario.back {
        std::mem::swap(&mut owner.before, &mut owner.after);
        for change in lock.rollout.change.images.values_mut() {
            std::mem::swap(&mut change.from, &mut change.to);
        }
        owner.replaces = Some(lock.to_text());
        (lock.rollout.direction, lock.run) = (Direction::Back, "s".into());
    }
    Some((owner, lock))
}

impl Scenario {
    /// The template of their owner changes too, and pods leave, each at a time of its own.
    pub(super) fn owned(mut self) -> Self {
        let mut random = Random::named(self.seed, "owned");
        if self.follows || self.resizes.is_some() {
            return self;
        }
        (self.owned, self.new_state_after) = (true, None);
        self.patched_pods_leave = random.one_in(3);
        self.back = Random::named(self.seed, "back").one_in(3);
        if self.back {
            // What a pod lacks that is not part of the rollout does not block the way back.
            self.deeds.retain(|(_, deed)| !matches!(deed, Deed::SiblingDown(..)));
        }
        for _ in 0..random.below(3) {
            let pod = usize::try_from(random.below(self.pods as u64)).expect("small");
            let deed = random.pick(&[Deed::Delete(pod), Deed::Terminate(pod), Deed::Orphan(pod)]);
            self.deeds.push((random.millis(0, 40_000), deed));
        }
        self
    }
}

impl Simulation {
    /// The owner with a status of its controller that has seen everything.
    pub(super) fn read_owner(&mut self, id: ActionId, run: u32) {
        if run != self.run {
            return;
        }
        if self.scenario.bad_answers && self.random.one_in(6) {
            return self.answer(id, Answer::ReadFailed { message: "timed out".into() }, run);
        }
        let mut object = self.owner.object.clone();
        let generation = object.pointer("/metadata/generation").cloned();
        object["status"] = json!({"replicas": self.belonging().len(), "observedGeneration": generation});
        let now = Some(timestamp(self.now));
        self.observe(Observation::Owner(Box::new(OwnerView { object: Some(object), owned: Vec::new(), now })));
        self.answer(id, Answer::Read, run);
    }

    fn belonging(&self) -> Vec<Pod> {
        self.api.list().into_iter().filter(|pod| belongs(&self.goal, pod)).collect()
    }

    pub(super) fn is_taken_away(&mut self, key: &PodKey) {
        self.api.delete(key);
        self.refills();
    }

    /// A pod leaves: its kubelet removes it in the end, and its controller creates a replacement pod.
    pub(super) fn leaves(&mut self, deed: Deed) {
        if !self.scenario.owned {
            return;
        }
        if let Deed::Terminate(index) = deed {
            let gone = self.now + self.random.millis(10, 10_000);
            self.at(gone, Due::Leaves(pod_key(index, 0)));
        }
        self.refills();
    }

    fn refills(&mut self) {
        let at = self.now + self.random.millis(0, 3_000);
        self.at(at, Due::Refill);
    }

    pub(super) fn refill(&mut self) {
        let wanted = usize::try_from(self.goal.replicas).expect("small");
        for _ in self.belonging().len()..wanted {
            self.owner.made += 1;
            let key = pod_key(self.scenario.pods + self.owner.made, 0);
            let image = self.owner.image().to_owned();
            if image == BEFORE {
                self.judged.pods.push(pod_goal(&self.scenario, key.clone()).into());
            }
            self.create(&key, &image, false);
        }
    }

    /// After a complete rollout nothing asks for the old values, and nothing of the rollout is left.
    pub(super) fn judge_owner(&mut self) {
        let is_reverted = || self.scenario.deeds.iter().any(|(_, deed)| matches!(deed, Deed::Revert(_)));
        if !self.scenario.owned || is_reverted() {
            return;
        }
        let asks = |pod: &Pod| pod.spec.containers.iter().any(|container| container.image == BEFORE);
        let old: Vec<PodKey> = self.belonging().into_iter().filter(asks).map(|pod| pod.key).collect();
        let (has_lock, is_stale) = (self.owner.has_lock(), !old.is_empty() || self.owner.image() != WANTED);
        let is_complete = self.end == Some(EndResult::Complete);
        let wrong = match self.scenario.back {
            false => is_complete && (has_lock || is_stale),
            // A pod that fails with what it had before is back: another run could do no more. It could run an owed
            // command or restore a label.
            true => {
                let is_owed = self.scenario.hooks.is_some() || self.scenario.drain_seconds.is_some();
                let has_ended = is_complete || self.end == Some(EndResult::Failed) && !is_owed;
                has_lock && !is_stale && has_ended || !has_lock && is_stale
            }
        };
        if wrong {
            let what = format!("{:?}, and {old:?} ask for what was before; the owner: {}", self.end, self.owner.object);
            self.invariants.broken(Invariant::WrongEnd, self.now, what);
        }
    }
}
