//! One run of the program: reads, asks for the next step, and does that, one request at a time.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::change;
use crate::k8s::budget::{CountedPod, blocking, limits};
use crate::k8s::metadata::MetadataMap;
use crate::kinds::WorkloadKind;
use crate::rollout::Policy;
use crate::state::durable::lease::Lease;
use crate::state::durable::lock::{Lock, LockState};
use crate::state::durable::rollout::{HistoryStep, RevisionRef, Rollout};
use crate::state::durable::step::{self, Act, Step, Table};
use crate::state::durable::table;
use crate::state::durable::{
    Decision, Next, ObjectKind, ObjectWrite, OwnLock, Owner, OwnerChange, OwnerView, PodsState, StepName, Stored,
};
use crate::state::record::{FencingToken, UPDATE_ANNOTATION};
use testkit::api_model::{Refused, expect};

use super::api_server::{Actor, ApiServer, Kind, Object, timestamp, timestamp_off_by};
use super::cluster::{BEFORE, OWNER, kind_of, strategy, template_with, wanted_template};
use super::faults::{Fault, sort_by_clocks};
use super::fields::{
    REVISION_HASH, at, controller, is_terminating, label, lacking_tolerations, name, put, revision, same_template,
    template as held, uid,
};
use super::scenario::Scenario;
use testkit::controllers::revisions;

pub(super) const ID: &str = "20260301-100000-abcd";

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Superseded(String),
    /// Another run holds it.
    TakenOver,
}

/// Where a run is between two requests.
#[derive(Debug)]
pub(super) enum Stage {
    Visit,
    Owned(Option<Object>),
    Decide(Option<Object>, Vec<Object>),
    Write(StepName, ObjectWrite),
    PatchPod(Object),
    TakePod(Object),
}

#[derive(Debug)]
pub(super) struct Run {
    /// Which client it is.
    client: u32,
    pub(super) lock: Lock,
    pub(super) change: OwnerChange,
    pub(super) stage: Stage,
    pub(super) end: Option<End>,
    /// The revision that was reported for the pods; `None` before.
    reported: Option<Option<String>>,
    /// How far its watch of the pods has come.
    pub(super) pods_at: u64,
    /// What it was told to do last, for people who inspect a seed.
    pub(super) said: String,
    partition: i64,
    /// The versions at which it found nothing to do.
    idle_at: Option<(u64, u64)>,
    visited_at: u64,
    /// The step at which it did.
    looked_in: u32,
    own_lock: OwnLock,
    generation: i64,
}

/// The lock as the plan creates it.
pub(super) fn first_lock(api: &ApiServer, scenario: &Scenario) -> Lock {
    let (before, after) = (template_with(BEFORE), wanted_template(scenario));
    let is_deployment = scenario.kind == WorkloadKind::Deployment;
    let owned = api.list(if is_deployment { Kind::ReplicaSet } else { Kind::ControllerRevision });
    let template_of =
        |object: &Object| if is_deployment { held(object).clone() } else { revisions::held(object).clone() };
    let number = |object: &Object| if is_deployment { revision(object) } else { revisions::revision_number(object) };
    let with = |wanted: &Value| owned.iter().find(|object| same_template(&template_of(object), wanted));
    let known = with(&after);
    let history = match known {
        _ if !is_deployment => HistoryStep::ByController,
        _ if scenario.history_limit == 0 => HistoryStep::Forget,
        Some(known) => {
            let (name, uid) = (name(known).into(), uid(known).into());
            HistoryStep::Swap(RevisionRef { name, uid, revision: revision(known) })
        }
        None => HistoryStep::Create,
    };
    let rollout = Rollout {
        id: ID.into(),
        who: "jane".into(),
        since: timestamp(api.step),
        change: change::diff(&before, &after).change,
        strategy: (!is_deployment).then(|| strategy(scenario)),
        outgoing: with(&before).map(|set| RevisionRef {
            name: name(set).into(),
            uid: uid(set).into(),
            revision: number(set),
        }),
        history,
        reuses: known.filter(|_| !is_deployment).map(|known| name(known).into()),
        policy: Policy { respects_budgets: true, max_unavailable: 1, ..Policy::default() },
        ..Rollout::default()
    };
    Lock {
        rollout,
        run: "run-0".into(),
        lease: Some(Lease { who: "jane".into(), ..Lease::default() }),
        version: "0.1.0".into(),
        state: LockState::Running,
        released: false,
        late: false,
    }
}

impl Run {
    pub(super) fn target(&self) -> &Value {
        self.change.target(self.lock.rollout.direction)
    }

    pub(super) fn new(scenario: &Scenario, lock: Lock, replaces: Option<String>, owner: &str, client: u32) -> Self {
        let found = replaces.as_deref().and_then(Lock::read);
        let take_over = found.filter(Lock::may_be_late);
        let take_over = take_over.map(|found| FencingToken { rollout: found.rollout.id, run: lock.run.clone() });
        let change = OwnerChange {
            continues: false,
            uid: owner.into(),
            replaces,
            last_renewal: None,
            adopts: false,
            before: template_with(BEFORE),
            after: wanted_template(scenario),
            take_over,
            earlier: Default::default(),
            keep_field_ownership: false,
        };
        let partition = if scenario.on_delete { 0 } else { scenario.start + scenario.partition };
        Self {
            client,
            lock,
            change,
            stage: Stage::Visit,
            end: None,
            reported: None,
            pods_at: 0,
            said: String::new(),
            partition,
            idle_at: None,
            visited_at: 0,
            looked_in: 0,
            own_lock: OwnLock::Unwritten,
            generation: 0,
        }
    }

    /// Does the next thing, and returns the write that is to be sent.
    pub(super) fn step(&mut self, api: &ApiServer, scenario: &Scenario, fault: Option<Fault>) -> Option<Stage> {
        let kind = scenario.kind;
        match std::mem::replace(&mut self.stage, Stage::Visit) {
            Stage::Visit if self.idle_at == Some((api.version(), self.pods_at)) => {}
            Stage::Visit => {
                (self.visited_at, self.looked_in) = (api.version(), api.step);
                self.stage = Stage::Owned(api.live(kind_of(kind), OWNER));
            }
            Stage::Owned(owner) => {
                let of = owner.as_ref().map(|owner| uid(owner).to_owned()).unwrap_or_default();
                let kind = if kind == WorkloadKind::Deployment { Kind::ReplicaSet } else { Kind::ControllerRevision };
                let mut owned = api.list(kind);
                owned.retain(|object| controller(object) == of);
                self.stage = Stage::Decide(owner, owned);
            }
            Stage::Decide(owner, owned) => {
                let is_fresh = self.visited_at == api.version();
                let reported = self.reported.clone();
                self.decide(api, scenario, owner, &owned, fault);
                let is_idle = is_fresh && reported == self.reported && matches!(self.stage, Stage::Visit);
                // A budget comes and goes without a write to these objects.
                let is_idle = is_idle && !scenario.has_budget(api.step);
                self.idle_at = is_idle.then(|| (api.version(), self.pods_at));
            }
            Stage::Write(step, write) => return Some(Stage::Write(step, write)),
            Stage::PatchPod(pod) => return Some(Stage::PatchPod(pod)),
            Stage::TakePod(pod) => return Some(Stage::TakePod(pod)),
        }
        None
    }

    fn decide(
        &mut self,
        api: &ApiServer,
        scenario: &Scenario,
        owner: Option<Object>,
        owned: &[Object],
        fault: Option<Fault>,
    ) {
        let kind = scenario.kind;
        let pods = self.pods(api, kind);
        let done = self.reported.is_some() && pods.iter().all(|pod| self.is_right(pod));
        let mut present = api.list_seen(Kind::Pod, self.pods_at);
        present.retain(|pod| !is_terminating(pod));
        let foreign = present.iter().find(|pod| !self.is_taken(pod));
        let taken_over = foreign.is_none() || fault == Some(Fault::LeavesPods);
        let mut state = PodsState {
            done,
            left: false,
            replaced: false,
            present: pods.len(),
            taken_over,
            labels: Default::default(),
        };
        for pod in &pods {
            let label = super::fields::text(pod, &["metadata", "labels", "controller-revision-hash"]).to_owned();
            *state.labels.entry(label).or_default() += 1;
        }
        let view = OwnerView {
            object: owner.map(|owner| (*owner).clone()),
            owned: owned.iter().map(|object| (**object).clone()).collect(),
            now: scenario.clocks.server_tells.then(|| timestamp(self.looked_in)),
        };
        let off_by = scenario.clocks.hours_off(self.client);
        let ended = view.now.clone().unwrap_or_else(|| timestamp_off_by(api.step, off_by));
        let owner = Owner::new((&self.lock, &self.change), kind, &view, &state, (&ended, "inplace-cli"));
        (self.own_lock, self.generation) = (self.own_lock.seen(&owner), owner.generation());
        let own_lock = if fault == Some(Fault::BeginsAgain) { OwnLock::Unwritten } else { self.own_lock };
        let owner = owner.knowing(own_lock);
        let steps = steps(kind, fault);
        let &Table { conflict, cleanup, .. } = table(kind);
        let Decision { conflict, next } = step::next(&owner, &Table { steps: &steps, conflict, cleanup });
        let waits = conflict.is_none() && matches!(next, Next::Wait(_) | Next::UpdatePods { .. });
        if let Some(write) = if waits { owner.beat() } else { None } {
            self.stage = Stage::Write(StepName::Beat, write);
            return;
        }
        self.said = match (&conflict, &next) {
            (Some(why), _) => why.clone(),
            (None, Next::Write(step, _)) => format!("{step:?}"),
            (None, other) => format!("{other:?}"),
        };
        match next {
            Next::Write(step, mut write) => {
                if fault == Some(Fault::SortsByClocks) && step == StepName::Close {
                    sort_by_clocks(&mut write);
                }
                self.stage = Stage::Write(step, write);
            }
            Next::Wait(_) => {}
            Next::TakePods => self.stage = Stage::TakePod(foreign.expect("one is missing").clone()),
            Next::UpdatePods { revision } => {
                self.reported = Some(revision);
                // A pod that is newer than the owner that was read may be another run's, and so may one that was noted
                // since.
                let known = api.list_seen(Kind::Pod, self.visited_at);
                let is_known = |pod: &&Object| {
                    let mut same = known.iter().filter(|known| uid(known) == uid(pod));
                    same.any(|known| record_of(known) == record_of(pod))
                };
                let may_go = |pod: &&Object| !self.restarts(pod) || self.is_admitted(scenario, api.step, &pods);
                let mut wrong = pods.iter().filter(is_known).filter(|pod| !self.is_right(pod));
                if let Some(pod) = wrong.find(may_go) {
                    self.stage = Stage::PatchPod(pod.clone());
                }
            }
            Next::Nothing => {
                let believes = fault == Some(Fault::BelievesAnyEnd);
                self.end = Some(match conflict {
                    None => End::Closed,
                    Some(why) if why.contains("by another run") && believes => End::Closed,
                    Some(why) if why.ends_with("no further changes by this run") => End::TakenOver,
                    Some(why) => End::Superseded(why),
                });
            }
        }
    }

    /// The answer to what it sent. Assumed: its watch of the pods is not behind its own lock.
    pub(super) fn answered(&mut self, stage: &Stage, stored: Stored, version: u64) {
        if let Stage::Write(step, _) = stage {
            self.own_lock = self.own_lock.answered(*step, stored, self.generation);
            if matches!(step, StepName::SetTemplate | StepName::TakeLock) {
                self.pods_at = version;
            }
        }
    }

    fn is_taken(&self, pod: &Object) -> bool {
        let Some(by) = &self.change.take_over else { return true };
        record_of(pod).as_str() == Some(by.run.as_str())
    }

    /// Notes on a pod that this run has taken it over.
    pub(super) fn take_pod(&self, api: &mut ApiServer, seen: &Object) -> Stored {
        let live = api.live(Kind::Pod, name(seen)).filter(|live| uid(live) == uid(seen));
        if live.is_none_or(|live| record_of(&live) != record_of(seen)) {
            return Stored::No;
        }
        let run = self.lock.run.clone();
        api.change(Actor::Run, Kind::Pod, name(seen), |pod| put(pod, &RECORD, json!(run)));
        Stored::Yes
    }

    /// The pods that are wanted: those that are not terminating, of a StatefulSet those at or above the partition.
    fn pods(&self, api: &ApiServer, kind: WorkloadKind) -> Vec<Object> {
        let mut pods = api.list_seen(Kind::Pod, self.pods_at);
        pods.retain(|pod| !is_terminating(pod));
        if kind == WorkloadKind::StatefulSet {
            let ordinal = |pod: &Object| name(pod).rsplit('-').next().and_then(|text| text.parse::<i64>().ok());
            pods.retain(|pod| ordinal(pod) >= Some(self.partition));
        }
        pods
    }

    /// Whether a container of the pod would restart.
    pub(super) fn restarts(&self, pod: &Object) -> bool {
        at(pod, &["spec", "containers"]) != at(self.target(), &["spec", "containers"])
    }

    /// Whether the present budgets let the pod go down; they are read in every turn, if its lock says so.
    fn is_admitted(&self, scenario: &Scenario, step: u32, pods: &[Object]) -> bool {
        if !self.lock.rollout.policy.respects_budgets {
            return true;
        }
        let budget = json!({"metadata": {"name": "web"}, "spec": {"minAvailable": "100%", "selector": {}}});
        let budgets: Vec<Value> = scenario.has_budget(step).then_some(budget).into_iter().collect();
        let labels = BTreeMap::new();
        let counted = CountedPod { labels: &labels, ready: true, terminating: false, in_progress: false };
        let counted = vec![counted; pods.len()];
        blocking(&limits(&budgets, pods.len(), &counted), &labels).is_none()
    }

    fn is_right(&self, pod: &Object) -> bool {
        let wanted = self.target();
        let revision = self.reported.as_ref().and_then(Option::as_deref);
        at(pod, &["spec", "containers"]) == at(wanted, &["spec", "containers"])
            && lacking_tolerations(pod, wanted).is_empty()
            && MetadataMap::ALL.into_iter().all(|map| {
                let mut changes = self.lock.rollout.change.fields.metadata.of(map).iter();
                let is = |key: &str| at(pod, &["metadata", map.field()]).get(key).and_then(Value::as_str);
                let should = |key: &str| at(wanted, &["metadata", map.field()]).get(key).and_then(Value::as_str);
                changes.all(|(key, _)| is(key) == should(key))
            })
            && revision.is_none_or(|revision| label(pod, REVISION_HASH) == revision)
    }

    /// The patch of a pod: images, labels and annotations of the change, and the label of the revision; all of it, or
    /// nothing where the pod has changed since it was seen.
    pub(super) fn patch_pod(&self, api: &mut ApiServer, seen: &Object) -> Stored {
        let Some(live) = api.live(Kind::Pod, name(seen)).filter(|live| uid(live) == uid(seen)) else {
            return Stored::No;
        };
        if is_terminating(&live)
            || at(&live, &["spec", "containers"]) != at(seen, &["spec", "containers"])
            || record_of(&live) != record_of(seen)
        {
            return Stored::No;
        }
        let wanted = self.target();
        api.change(Actor::Run, Kind::Pod, name(seen), |pod| {
            put(pod, &RECORD, json!(self.lock.run));
            put(pod, &["spec", "containers"], at(wanted, &["spec", "containers"]).clone());
            let lacking = lacking_tolerations(pod, wanted);
            if !lacking.is_empty() {
                let present = at(pod, &["spec", "tolerations"]).as_array().cloned().unwrap_or_default();
                put(pod, &["spec", "tolerations"], Value::Array([present, lacking].concat()));
            }
            for map in MetadataMap::ALL {
                for key in self.lock.rollout.change.fields.metadata.of(map).keys() {
                    match at(wanted, &["metadata", map.field()]).get(key) {
                        Some(value) => put(pod, &["metadata", map.field(), key], value.clone()),
                        None => {
                            let values = pod.pointer_mut(&format!("/metadata/{}", map.field()));
                            values.and_then(Value::as_object_mut).map(|values| values.shift_remove(key));
                        }
                    }
                }
            }
            if let Some(Some(revision)) = &self.reported {
                put(pod, &["metadata", "labels", REVISION_HASH], json!(revision));
            }
        });
        Stored::Yes
    }
}

/// A pod's record, as far as it matters here: the run that wrote it.
const RECORD: [&str; 3] = ["metadata", "annotations", UPDATE_ANNOTATION];

fn record_of(pod: &Object) -> &Value {
    at(pod, &RECORD)
}

/// Sends a write.
pub(super) fn send(api: &mut ApiServer, write: &ObjectWrite) -> Stored {
    let kind = |kind: ObjectKind| match kind {
        ObjectKind::Workload(kind) => kind_of(kind),
        ObjectKind::ControllerRevision => Kind::ControllerRevision,
        ObjectKind::RecreateRequest => unreachable!("no owner has one"),
    };
    // Whatever the answer is, the run reads again.
    let answer = match write {
        ObjectWrite::Patch { object, operations } => {
            api.patch(Actor::Run, kind(object.kind), &object.name, operations).map(|_| ())
        }
        ObjectWrite::Create { kind: of, object, .. } => api.create(Actor::Run, kind(*of), object.clone()).map(|_| ()),
        ObjectWrite::Delete { object, version } => {
            let live = api.live(kind(object.kind), &object.name).ok_or(Refused::NotFound);
            live.and_then(|live| expect(&live, None, version.as_deref()))
                .and_then(|()| api.delete(Actor::Run, kind(object.kind), &object.name, Some(object.uid.as_str())))
        }
    };
    if answer.is_ok() { Stored::Yes } else { Stored::No }
}

/// The steps of a table, without the one that a run leaves out.
fn steps(kind: WorkloadKind, fault: Option<Fault>) -> Vec<Step> {
    let is_left_out =
        |step: &&Step| matches!((step.act, fault), (Act::Wait(what), Some(Fault::Skips(left_out))) if what == left_out);
    table(kind).steps.iter().filter(|step| !is_left_out(step)).copied().collect()
}
