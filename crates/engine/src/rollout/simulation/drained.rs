//! A Service in front of the pods: its EndpointSlices follow labels and readiness, with delay. Pods are taken out of it by a
//! label, or by a readiness gate.

use std::collections::{BTreeMap, BTreeSet};

use json_patch::PatchOperation;
use serde_json::json;

use crate::k8s::names::PodKey;
use crate::k8s::pod::{Condition, ContainerList, ContainerStatus, Pod, ReadinessGate};
use crate::rollout::patch::{PodPart, PodPatch};
use crate::state::outcome::EndResult;
use crate::state::record::{Drained, DrainedGate, DrainedLabel, UpdateRecord};

use super::super::pod_run::Sent;
use super::super::{ActionId, Answer, DrainGoal, Observation};
use super::adversary::Scenario;
use super::api_server::pod_of;
use super::invariants::Invariant;
use super::shown::has_left;
use super::{Due, Simulation};

const LABEL: &str = "serving";
const GATE: &str = "example.com/serving";
const GATE_REASON: &str = "Checked";

/// What pods are drained by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Label,
    Gate,
}

/// The pods that the slices list, and how much of the history their controller has seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Slices {
    pub(super) listed: BTreeSet<PodKey>,
    cursor: usize,
}

/// The labels of the pods.
pub(super) fn labels(scenario: &Scenario) -> BTreeMap<String, String> {
    let labels = [("app".into(), "web".into()), (LABEL.into(), "yes".into())];
    let has_label = scenario.drain_seconds.is_some() && scenario.drains_by == Way::Label;
    if has_label { labels.into() } else { BTreeMap::new() }
}

/// The gates of the pods, and their conditions.
pub(super) fn gates(scenario: &Scenario) -> (Vec<ReadinessGate>, Vec<Condition>) {
    if scenario.drain_seconds.is_none() || scenario.drains_by == Way::Label {
        return Default::default();
    }
    let condition = Condition {
        kind: GATE.into(),
        status: "True".into(),
        reason: Some(GATE_REASON.into()),
        ..Condition::default()
    };
    (vec![ReadinessGate { condition_type: GATE.into() }], vec![condition])
}

/// Whether the pod has every label or gate that a drain removes.
fn is_whole(pod: &Pod, way: Way) -> bool {
    match way {
        Way::Label => pod.labels.get(LABEL).is_some_and(|value| value == "yes"),
        Way::Gate => pod.condition(GATE).is_some_and(|condition| {
            (condition.status.as_str(), condition.reason.as_deref(), condition.message.as_ref())
                == ("True", Some(GATE_REASON), None)
        }),
    }
}

/// How every pod is drained.
pub(super) fn drain_goal(scenario: &Scenario) -> Option<DrainGoal> {
    let by = match scenario.drains_by {
        Way::Label => Drained::Label(DrainedLabel { key: LABEL.into(), value: "yes".into() }),
        // As planned; its condition is read again when it is turned off.
        Way::Gate => Drained::Gate(DrainedGate { gate: GATE.into(), reason: None, message: None }),
    };
    scenario.drain_seconds.filter(|_| !scenario.only_resizes()).map(|_| DrainGoal { by, services: vec!["web".into()] })
}

/// What a patch is for, by what it does.
pub(super) fn sent_of(patch: &PodPatch) -> Sent {
    let changes = |operation: &PatchOperation| match operation {
        PatchOperation::Replace(replace) => replace.path.to_string().starts_with("/spec/"),
        _ => false,
    };
    let says = |operation: &PatchOperation, text: &str| match operation {
        PatchOperation::Add(add) => add.value.to_string().contains(text),
        PatchOperation::Replace(replace) => replace.value.to_string().contains(text),
        _ => false,
    };
    // The note of a resize tests the containers that run.
    let looks_at_a_container = |operation: &PatchOperation| match operation {
        PatchOperation::Test(test) => test.path.to_string().ends_with("/containerID"),
        _ => false,
    };
    let any = |text: &str| patch.operations.0.iter().any(|operation| says(operation, text));
    if patch.part == PodPart::Resize {
        Sent::Resize
    } else if patch.part == PodPart::Status {
        if any("False") { Sent::GateOff } else { Sent::GateOn }
    } else if patch.operations.0.iter().any(changes) {
        Sent::Images
    } else if patch.operations.0.iter().any(looks_at_a_container) {
        Sent::Note
    } else if any("drained") {
        Sent::Drain
    } else {
        Sent::Restore
    }
}

impl Simulation {
    /// The slices before anything begins.
    pub(super) fn list_all(&mut self) {
        self.slices.cursor = self.api.history().len();
        let keys: Vec<PodKey> = self.api.list().into_iter().map(|pod| pod.key).collect();
        keys.iter().for_each(|key| self.sync_slice(key));
    }

    /// Schedules the update of the slices for what happened.
    pub(super) fn expect_slices(&mut self) {
        if self.scenario.drain_seconds.is_none() {
            return;
        }
        let new = self.api.history().get(self.slices.cursor..).unwrap_or_default();
        let keys: Vec<PodKey> = new.iter().map(|event| pod_of(event).key.clone()).collect();
        self.slices.cursor = self.api.history().len();
        for key in keys {
            let at = self.now + self.random.millis(10, 900);
            self.at(at, Due::Slice(key));
        }
    }

    pub(super) fn sync_slice(&mut self, key: &PodKey) {
        let way = self.scenario.drains_by;
        let is_selected = |pod: &Pod| way == Way::Gate || is_whole(pod, way);
        let serves = self.api.pod(key).is_some_and(|pod| is_selected(pod) && pod.is_ready() && !pod.terminating);
        if serves {
            self.slices.listed.insert(key.clone());
        } else {
            self.slices.listed.remove(key);
        }
    }

    pub(super) fn read_slices(&mut self, id: ActionId, run: u32) {
        if self.scenario.bad_answers && self.random.one_in(4) {
            return self.answer(id, Answer::ReadFailed { message: "timed out".into() }, run);
        }
        if run == self.run {
            let endpoints = self
                .slices
                .listed
                .iter()
                .map(|key| json!({"targetRef": {"uid": key.uid}, "conditions": {"ready": true}}));
            let labels = json!({"kubernetes.io/service-name": "web"});
            let slice = json!({"metadata": {"labels": labels}, "endpoints": endpoints.collect::<Vec<_>>()});
            self.observe(Observation::Slices(vec![slice]));
        }
        self.answer(id, Answer::Read, run);
    }

    /// The images of a pod were changed just now: a container that runs, and is listed, loses its requests.
    pub(super) fn judge_traffic(&mut self, before: Option<&Pod>, key: &PodKey) {
        let is_killed = |pod: &Pod, status: &ContainerStatus| {
            let image = |pod: &Pod| pod.spec_of(&status.name).map(|container| container.image.clone());
            status.state.running.is_some() && self.api.pod(key).is_some_and(|after| image(after) != image(pod))
        };
        let kills = before.is_some_and(|pod| {
            let lists = ContainerList::ALL;
            lists.iter().flat_map(|list| pod.statuses(*list)).any(|status| is_killed(pod, status))
        });
        if self.scenario.drain_seconds.is_some() && kills && self.slices.listed.contains(key) {
            self.invariants.broken(Invariant::Listed, self.now, format!("{key} is taken down while it is listed"));
        }
    }

    /// At every end labels and gates are restored; an API server that answers too slowly excuses every end but a
    /// completion.
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
        // A pod without an owner is restored at the end, in the time that is left.
        let is_judged = |pod: &&Pod| !(pod.terminating || slow && has_left(&self.goal, Some(pod)));
        for pod in self.api.list().iter().filter(is_judged) {
            if UpdateRecord::drained(pod).is_some() || !is_whole(pod, self.scenario.drains_by) {
                let what = format!("{} is not put back, and it has ended {:?}", pod.key, self.end);
                self.invariants.broken(Invariant::LabelLeft, self.now, what);
            }
        }
    }
}
