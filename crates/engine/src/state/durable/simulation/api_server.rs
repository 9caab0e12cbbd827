//! The API server of the simulation: the model of `testkit::api_model` in steps, with caches that lag behind it.

use std::collections::BTreeMap;

use serde_json::Value;

use testkit::api_model::{self, Change, Part, Refused, Store};
use testkit::controllers::Api;
pub(super) use testkit::controllers::{Kind, Object};

use super::fields::{controller, is_terminating, name, put, text, uid};

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Actor {
    Setup,
    Run,
    User,
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    GarbageCollector,
    Kubelet,
}

/// Who wrote, and at which step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    pub(super) step: u32,
    pub(super) actor: Actor,
}

type Key = (Kind, String);

/// One stored write.
pub(super) type Event = Change<Key, Value, Writer>;

/// The objects and their history.
#[derive(Debug, Default)]
pub(super) struct ApiServer {
    store: Store<Key, Value, Writer>,
    /// The simulation's clock.
    pub(super) step: u32,
}

/// Writes a time as the API does: whole seconds, so that several steps share one.
pub(super) fn timestamp(step: u32) -> String {
    timestamp_off_by(step, 0)
}

/// The same by a clock that is off by this many hours.
pub(super) fn timestamp_off_by(step: u32, hours: i64) -> String {
    let seconds = step / 8;
    format!("2026-03-01T{:02}:{:02}:{:02}Z", 10 + hours + i64::from(seconds / 3600), seconds / 60 % 60, seconds % 60)
}

impl ApiServer {
    pub(super) fn version(&self) -> u64 {
        self.store.version()
    }

    pub(super) fn log(&self) -> &[Event] {
        self.store.history()
    }

    pub(super) fn live(&self, kind: Kind, name: &str) -> Option<Object> {
        self.store.get(&(kind, name.to_owned())).cloned()
    }

    pub(super) fn list(&self, kind: Kind) -> Vec<Object> {
        self.list_seen(kind, u64::MAX)
    }

    /// The object as a cache at that version has it.
    pub(super) fn seen(&self, kind: Kind, name: &str, at: u64) -> Option<Object> {
        self.store.seen(&(kind, name.to_owned()), at).cloned()
    }

    pub(super) fn list_seen(&self, kind: Kind, at: u64) -> Vec<Object> {
        let objects = self.store.list((kind, String::new()).., at);
        objects.take_while(|((of, _), _)| *of == kind).map(|(_, object)| object.clone()).collect()
    }

    /// Every version of an object that was there, the oldest first.
    pub(super) fn versions_of(&self, kind: Kind, name: &str) -> Vec<(u64, Object)> {
        let key = (kind, name.to_owned());
        self.store.versions_of(&key).map(|(version, object)| (version, object.clone())).collect()
    }

    /// The versions of a kind's objects that a cache has not seen.
    pub(super) fn unseen(&self, kind: Kind, at: u64) -> impl DoubleEndedIterator<Item = u64> {
        self.store.since(at).iter().filter(move |change| change.key.0 == kind).map(|change| change.version)
    }

    fn put(&mut self, actor: Actor, kind: Kind, object: Value) -> Object {
        let key = (kind, name(&object).to_owned());
        self.store.put(&key, object, Writer { step: self.step, actor })
    }

    fn remove(&mut self, actor: Actor, kind: Kind, name: &str) {
        self.store.remove(&(kind, name.to_owned()), Writer { step: self.step, actor });
    }

    pub(super) fn create(&mut self, actor: Actor, kind: Kind, mut object: Value) -> Result<Object, Refused> {
        if self.live(kind, name(&object)).is_some() {
            return Err(Refused::AlreadyExists);
        }
        if actor != Actor::Setup {
            api_model::as_new(&mut object);
            object.as_object_mut().expect("an object").remove("status");
        }
        let uid = format!("uid-{}", self.store.next_serial());
        api_model::complete(&mut object, uid, &timestamp(self.step));
        default_and_validate(kind, None, &mut object)?;
        Ok(self.put(actor, kind, object))
    }

    /// A PUT: refused unless the resourceVersion is that of the stored object.
    pub(super) fn update(&mut self, actor: Actor, kind: Kind, object: Value, part: Part) -> Result<Object, Refused> {
        let before = self.live(kind, name(&object)).ok_or(Refused::NotFound)?;
        api_model::expect(&before, Some(uid(&object)), Some(text(&object, &["metadata", "resourceVersion"])))?;
        self.replace(actor, kind, &before, object, part)
    }

    /// Reads and writes again, as controllers do that retry a status on conflict.
    pub(super) fn force_status(&mut self, actor: Actor, kind: Kind, of: &Value, status: Value) {
        let Some(live) = self.live(kind, name(of)).filter(|live| uid(live) == uid(of)) else { return };
        let mut object = (*live).clone();
        put(&mut object, &["status"], status);
        self.replace(actor, kind, &live, object, Part::Status).expect("a status is never refused");
    }

    pub(super) fn change(&mut self, actor: Actor, kind: Kind, key: &str, change: impl FnOnce(&mut Value)) {
        let Some(before) = self.live(kind, key) else { return };
        let mut object = (*before).clone();
        change(&mut object);
        self.replace(actor, kind, &before, object, Part::Main).expect("the simulation writes what is valid");
    }

    pub(super) fn patch(
        &mut self,
        actor: Actor,
        kind: Kind,
        key: &str,
        patch: &json_patch::Patch,
    ) -> Result<Object, Refused> {
        let before = self.live(kind, key).ok_or(Refused::NotFound)?;
        let mut object = (*before).clone();
        api_model::carry_out(&mut object, patch)?;
        self.replace(actor, kind, &before, object, Part::Main)
    }

    fn replace(
        &mut self,
        actor: Actor,
        kind: Kind,
        before: &Object,
        mut object: Value,
        part: Part,
    ) -> Result<Object, Refused> {
        api_model::keep(kind.name(), part, before, &mut object);
        default_and_validate(kind, Some(before), &mut object)?;
        api_model::count(kind.name(), part, before, &mut object);
        Ok(self.put(actor, kind, object))
    }

    /// A delete; of a pod only the beginning of one.
    pub(super) fn delete(&mut self, actor: Actor, kind: Kind, key: &str, of: Option<&str>) -> Result<(), Refused> {
        let before = self.live(kind, key).ok_or(Refused::NotFound)?;
        api_model::expect(&before, of, None)?;
        if kind == Kind::Pod {
            if !is_terminating(&before) {
                self.put(actor, kind, api_model::begin_deletion(&before, 30, &timestamp(self.step)));
            }
            return Ok(());
        }
        self.remove(actor, kind, key);
        for kind in [Kind::ReplicaSet, Kind::ControllerRevision, Kind::Pod] {
            for object in self.list(kind).iter().filter(|object| controller(object) == uid(&before)) {
                self.delete(Actor::GarbageCollector, kind, name(object), None)?;
            }
        }
        Ok(())
    }

    /// A pod that was terminating is gone.
    pub(super) fn remove_pod(&mut self, key: &str) {
        self.remove(Actor::Kubelet, Kind::Pod, key);
    }
}

fn default_and_validate(kind: Kind, before: Option<&Value>, object: &mut Value) -> Result<(), Refused> {
    api_model::omit_empty(object);
    api_model::default_strategy(kind.name(), object);
    let causes = api_model::validate(kind.name(), before, object);
    if causes.is_empty() { Ok(()) } else { Err(Refused::Invalid(causes)) }
}

/// How far each cache of one consumer has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Caches(BTreeMap<Kind, u64>);

impl Caches {
    pub(super) fn at(&self, kind: Kind) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    pub(super) fn move_to(&mut self, kind: Kind, version: u64) {
        self.0.insert(kind, version.max(self.at(kind)));
    }
}

/// What one controller sees and writes.
pub(super) struct View<'a> {
    pub(super) api: &'a mut ApiServer,
    pub(super) caches: &'a Caches,
    pub(super) actor: Actor,
    /// The nodes that there are.
    pub(super) nodes: i64,
}

impl Api for View<'_> {
    fn cached(&self, kind: Kind, _: &str, name: &str) -> Option<Object> {
        self.api.seen(kind, name, self.caches.at(kind))
    }

    fn cached_beside(&self, kind: Kind, _: &Value) -> Vec<Object> {
        self.api.list_seen(kind, self.caches.at(kind))
    }

    fn cached_at(&self, kind: Kind) -> u64 {
        self.caches.at(kind)
    }

    fn version(&self) -> u64 {
        self.api.version()
    }

    fn live(&self, kind: Kind, _: &str, name: &str) -> Option<Object> {
        self.api.live(kind, name)
    }

    fn create(&mut self, kind: Kind, object: Value) -> Result<Object, Refused> {
        self.api.create(self.actor, kind, object)
    }

    fn update(&mut self, kind: Kind, object: Value, part: Part) -> Result<Object, Refused> {
        self.api.update(self.actor, kind, object, part)
    }

    fn change(&mut self, kind: Kind, of: &Value, change: impl FnOnce(&mut Value)) {
        self.api.change(self.actor, kind, name(of), change);
    }

    fn set_status(&mut self, kind: Kind, of: &Value, status: Value) {
        self.api.force_status(self.actor, kind, of, status);
    }

    fn delete(&mut self, kind: Kind, of: &Value, exact: bool) -> Result<(), Refused> {
        self.api.delete(self.actor, kind, name(of), exact.then(|| uid(of)))
    }

    fn nodes(&self, _: &Value) -> Vec<String> {
        (0..self.nodes).map(|number| format!("node-{number}")).collect()
    }

    /// Every pod that is there.
    fn is_ready(&self, _: &Value) -> bool {
        true
    }

    fn is_available(&self, _: &Value, _: i64) -> bool {
        true
    }

    fn suffix(&mut self) -> String {
        self.api.store.next_serial().to_string()
    }

    fn now(&self) -> String {
        timestamp(self.api.step)
    }

    /// No workload here has a deadline.
    fn seconds_since(&self, _: &str) -> i64 {
        0
    }

    fn event(&mut self, _: &Value, _: Kind, _: &str, _: &str) {}
}
