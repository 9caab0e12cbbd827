//! A Service in front of the pods: its EndpointSlices follow labels and readiness, with delay.

use std::collections::{BTreeMap, BTreeSet};

use json_patch::PatchOperation;
use serde_json::json;

use crate::engine::names::PodKey;
use crate::engine::outcome::EndResult;
use crate::engine::patch::PodPatch;
use crate::engine::record::{DrainedLabel, UpdateRecord};

use super::super::ledger::Sent;
use super::super::{ActionId, Answer, DrainGoal, Observation};
use super::adversary::Scenario;
use super::invariants::Invariant;
use super::{Due, Simulation};

const LABEL: &str = "serving";

/// Whom the slices list, and how much of the history their controller has seen.
#[derive(Debug, Default)]
pub(super) struct Slices {
    pub(super) listed: BTreeSet<PodKey>,
    cursor: usize,
}

/// The labels of the pods.
pub(super) fn labels(scenario: &Scenario) -> BTreeMap<String, String> {
    let labels = [("app".into(), "web".into()), (LABEL.into(), "yes".into())];
    if scenario.drain_seconds.is_some() { labels.into() } else { BTreeMap::new() }
}

/// How every pod is drained.
pub(super) fn drain_goal(scenario: &Scenario) -> Option<DrainGoal> {
    let label = DrainedLabel { key: LABEL.into(), value: "yes".into() };
    scenario.drain_seconds.map(|_| DrainGoal { label, services: vec!["web".into()] })
}

/// What a patch is for, by what it does.
pub(super) fn sent_of(patch: &PodPatch) -> Sent {
    let changes = |operation: &PatchOperation| match operation {
        PatchOperation::Replace(replace) => replace.path.to_string().starts_with("/spec/"),
        _ => false,
    };
    let takes_off = |operation: &PatchOperation| match operation {
        PatchOperation::Remove(remove) => remove.path.to_string().starts_with("/metadata/labels"),
        _ => false,
    };
    if patch.operations.0.iter().any(changes) {
        Sent::Images
    } else if patch.operations.0.iter().any(takes_off) {
        Sent::Drain
    } else {
        Sent::Restore
    }
}

impl Simulation {
    /// The slices before anything begins.
    pub(super) fn list_all(&mut self) {
        self.slices.cursor = self.api.history.len();
        let keys: Vec<PodKey> = self.api.list().into_iter().map(|pod| pod.key).collect();
        keys.iter().for_each(|key| self.sync_slice(key));
    }

    /// Sees to it that what happened will reach the slices.
    pub(super) fn expect_slices(&mut self) {
        if self.scenario.drain_seconds.is_none() {
            return;
        }
        let new = self.api.history.get(self.slices.cursor..).unwrap_or_default();
        let keys = new.iter().filter_map(|observation| match observation {
            Observation::Applied(pod) => Some(pod.key.clone()),
            Observation::Deleted(key) => Some(key.clone()),
            _ => None,
        });
        let keys: Vec<PodKey> = keys.collect();
        self.slices.cursor = self.api.history.len();
        for key in keys {
            let at = self.now + self.random.millis(10, 900);
            self.at(at, Due::Slice(key));
        }
    }

    pub(super) fn sync_slice(&mut self, key: &PodKey) {
        let serves = self.api.pod(key).is_some_and(|pod| {
            pod.labels.get(LABEL).is_some_and(|value| value == "yes") && pod.is_ready() && !pod.terminating
        });
        if serves {
            self.slices.listed.insert(key.clone());
        } else {
            self.slices.listed.remove(key);
        }
    }

    pub(super) fn read_slices(&mut self, id: ActionId, run: u32) {
        if self.scenario.bad_answers && self.random.one_in(4) {
            return self.answer(id, Answer::NotRead { message: "timed out".into() }, run);
        }
        if run == self.run {
            let endpoints = self
                .slices
                .listed
                .iter()
                .map(|key| json!({"targetRef": {"uid": key.uid}, "conditions": {"ready": true}}));
            let labels = json!({"kubernetes.io/service-name": "web"});
            let slice = json!({"metadata": {"labels": labels}, "endpoints": endpoints.collect::<Vec<_>>()});
            self.world.observe(Observation::Slices(vec![slice]));
        }
        self.answer(id, Answer::Read, run);
    }

    /// The images of a pod were changed just now.
    pub(super) fn judge_traffic(&mut self, key: &PodKey) {
        if self.scenario.drain_seconds.is_some() && self.slices.listed.contains(key) {
            self.invariants.broken(Invariant::Listed, self.now, format!("{key} is taken down while it is listed"));
        }
    }

    /// At every end the labels are where they were; an API server that answers too slowly excuses all but a completion.
    pub(super) fn judge_labels(&mut self) {
        let scenario = &self.scenario;
        let slow = scenario.bad_answers
            || scenario.slowest_answer > 50
            || scenario.slowest_watch > 300
            || scenario.throttled.is_some()
            || scenario.refused.is_some();
        if scenario.drain_seconds.is_none() || slow && self.end != Some(EndResult::Complete) {
            return;
        }
        for pod in self.api.list().iter().filter(|pod| !pod.terminating) {
            if UpdateRecord::drained(pod).is_some() || !pod.labels.contains_key(LABEL) {
                let what = format!("{} has lost its label, and it has ended {:?}", pod.key, self.end);
                self.invariants.broken(Invariant::LabelLeft, self.now, what);
            }
        }
    }
}
