//! What must hold on every step.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::run::Run;
use crate::change::template::changed_paths;
use crate::change::{Direction, same};
use crate::kinds::WorkloadKind;
use crate::state::durable::lock::Lock;

use super::adversary::Granted;
use super::api_server::{Actor, ApiServer, Event, Kind};
use super::cluster::{kind_of, wanted_template};
use super::fields::{at, is_terminating, name, replicas, template, uid};
use super::run::End;
use super::scenario::{Deed, Scenario};

/// What was seen, and what broke.
#[derive(Debug)]
pub(super) struct Invariants {
    pub(super) scenario: Scenario,
    pub(super) first: Lock,
    pub(super) violations: Vec<String>,
    pub(super) ends: Vec<(End, Direction)>,
    /// Somebody else wrote to what the rollout rests on.
    pub(super) foreign: Vec<Deed>,
    creates: i64,
    deletes: i64,
    sizes: BTreeSet<i64>,
    /// How often the owner was scaled.
    scalings: u32,
    /// The last event of any run is that it was killed: another run could not have found anything.
    pub(super) killed_last: bool,
    /// Pods that a controller has created from our template.
    pub(super) made_of_ours: BTreeSet<String>,
    /// Runs that have set a lock where there was none.
    begun: BTreeSet<String>,
    looked: usize,
}

fn is_controller(actor: Actor) -> bool {
    match actor {
        Actor::Setup | Actor::Run | Actor::User | Actor::Kubelet => false,
        Actor::DeploymentController
        | Actor::ReplicaSetController
        | Actor::StatefulSetController
        | Actor::DaemonSetController
        | Actor::GarbageCollector => true,
    }
}

impl Invariants {
    pub(super) fn new(scenario: &Scenario, first: &Lock) -> Self {
        Self {
            scenario: scenario.clone(),
            first: first.clone(),
            violations: Vec::new(),
            ends: Vec::new(),
            foreign: Vec::new(),
            creates: 0,
            deletes: 0,
            sizes: [scenario.replicas].into(),
            scalings: 0,
            killed_last: false,
            made_of_ours: BTreeSet::new(),
            begun: BTreeSet::new(),
            looked: 0,
        }
    }

    /// Past writes are not checked.
    pub(super) fn skip(&mut self, api: &ApiServer) {
        self.looked = api.log().len();
    }

    pub(super) fn broken(&mut self, what: String) {
        self.violations.push(what);
    }

    pub(super) fn grant(&mut self, granted: Granted, deed: Deed) {
        self.creates += granted.creates;
        self.deletes += granted.deletes;
        self.sizes.extend(granted.replicas);
        self.scalings += u32::from(granted.replicas.is_some());
        if granted.done && deed.is_foreign() {
            self.foreign.push(deed);
        }
    }

    pub(super) fn ended(&mut self, end: End, run: &Run, owner: Option<&Value>, is_newest: bool) {
        self.killed_last = false;
        match &end {
            End::Superseded(why)
                if self.foreign.is_empty()
                    && is_newest
                    && !(self.may_be_nothing() && is_of_the_template(why))
                    // A run that goes on from a copy of the lock alone reports how the rollout ended.
                    && !(run.change.replaces.is_none()
                        && run.lock.run != self.first.run
                        && why.starts_with("it was aborted by another run"))
                    // A late close.
                    && !why.starts_with("it was complete already")
                    // Two scalings raise the generation as often as the lost write and a write that takes it back.
                    && !(self.scalings > 1 && why.ends_with("after a write whose answer was lost")) =>
            {
                self.broken(format!("superseded, but nobody else wrote: {why}"));
            }
            End::Closed
                if self.foreign.is_empty() && !owner.is_some_and(|owner| same(template(owner), run.target())) =>
            {
                self.broken("it says that it has ended well, and the template is another".into());
            }
            End::TakenOver if self.foreign.is_empty() && is_newest => {
                self.broken("taken over, but nobody else came".into());
            }
            End::Closed | End::Superseded(_) | End::TakenOver => {}
        }
        self.ends.push((end, run.lock.rollout.direction));
    }

    /// Scaled to nothing, the ReplicaSet itself may be cleaned up as history.
    pub(super) fn may_be_nothing(&self) -> bool {
        self.scenario.deeds.iter().any(|(_, deed)| *deed == Deed::Scale(0))
    }

    /// Checks every write since the last visit. Once a Deployment was scaled to zero, its controller scales up
    /// whichever ReplicaSet it takes for the newest, and there was no pod to keep.
    pub(super) fn visit(&mut self, api: &ApiServer) {
        let first = std::mem::replace(&mut self.looked, api.log().len());
        for event in api.log().iter().skip(first) {
            self.begins_once(event);
            self.note_what_was_made(event);
            let is_emptied = self.scenario.kind == WorkloadKind::Deployment && self.sizes.contains(&0);
            if self.foreign.is_empty() && is_controller(event.by.actor) && !is_emptied {
                self.judge(event);
            }
        }
    }

    fn note_what_was_made(&mut self, event: &Event) {
        let Some(pod) = event.after.as_ref().filter(|_| event.key.0 == Kind::Pod && event.before.is_none()) else {
            return;
        };
        let wanted = wanted_template(&self.scenario);
        if at(pod, &["spec", "containers"]) == at(&wanted, &["spec", "containers"]) {
            self.made_of_ours.insert(uid(pod).to_owned());
        }
    }

    /// A run sets its lock on an owner that has none once, whatever becomes of the lock.
    fn begins_once(&mut self, event: &Event) {
        let lock = |object: &Option<Arc<Value>>| object.as_ref().and_then(|object| Lock::of(object).ok().flatten());
        if event.by.actor != Actor::Run || event.key.0 != kind_of(self.scenario.kind) || lock(&event.before).is_some() {
            return;
        }
        if let Some(lock) = lock(&event.after)
            && !self.begun.insert(lock.run.clone())
        {
            self.broken(format!("{} has begun twice: {}", lock.run, tell(event)));
        }
    }

    fn judge(&mut self, event: &Event) {
        let was_there = event.before.as_ref().filter(|object| !is_terminating(object));
        let is_there = event.after.as_ref().filter(|object| !is_terminating(object));
        match (event.key.0, was_there, is_there) {
            (Kind::Pod, None, Some(_)) => {
                self.creates -= 1;
                if self.creates < 0 {
                    self.broken(format!("a pod was made: {}", tell(event)));
                }
            }
            (Kind::Pod, Some(_), None) => {
                self.deletes -= 1;
                if self.deletes < 0 {
                    self.broken(format!("a pod was deleted: {}", tell(event)));
                }
            }
            (Kind::ReplicaSet, None, Some(made)) if replicas(made) > 0 || !self.may_be_nothing() => {
                self.broken(format!("a ReplicaSet was made: {}", tell(event)));
            }
            (Kind::ReplicaSet, Some(before), Some(after)) if replicas(before) != replicas(after) => {
                let is_current =
                    self.first.rollout.outgoing.as_ref().is_some_and(|current| current.uid.as_str() == uid(after));
                if !is_current || !self.sizes.contains(&replicas(after)) {
                    self.broken(format!("a ReplicaSet was scaled: {}", tell(event)));
                }
            }
            _ => {}
        }
    }
}

/// Describes a write in one line.
pub(super) fn tell(event: &Event) -> String {
    let nothing = Arc::new(Value::Null);
    let (before, after) = (event.before.as_ref().unwrap_or(&nothing), event.after.as_ref().unwrap_or(&nothing));
    let object = if after.is_null() { before } else { after };
    let what = match (before.is_null(), after.is_null()) {
        (true, _) => "created".to_owned(),
        (_, true) => "deleted".to_owned(),
        (false, false) => {
            let paths = changed_paths(before, after, "");
            let reported = paths.iter().filter(|path| !path.contains("resourceVersion")).map(|path| {
                let pointer = format!("/{}", path.trim_start_matches('.').replace('.', "/"));
                let value = after.pointer(&pointer).map_or_else(String::new, |value| format!("={value}"));
                format!("{path}{}", value.chars().take(60).collect::<String>())
            });
            reported.collect::<Vec<_>>().join(" ")
        }
    };
    format!("{:>4} {:?} {:?} {}: {what}", event.by.step, event.by.actor, event.key.0, name(object))
}

/// Found by this run, or by another one that has ended the rollout for that reason.
fn is_of_the_template(why: &str) -> bool {
    why.contains("its template was changed by another client") || why.contains("found it changed by another client")
}
