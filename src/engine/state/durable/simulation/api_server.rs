//! The simulated API server: raw objects, every version of them, JSON patches with their tests, and who wrote what.

use std::collections::BTreeMap;
use std::rc::Rc;

use json_patch::PatchOperation;
use serde_json::{Value, json};

use super::daemon_set_controller::GENERATION;
use super::fields::{annotation, at, controller, generation, is_terminating, name, put, template, text, uid};

/// An object as it was stored once.
pub(super) type Object = Rc<Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    ControllerRevision,
    Pod,
}

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Actor {
    Setup,
    Run,
    Person,
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    GarbageCollector,
    Kubelet,
}

/// What of an object a write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Status,
}

/// Why a write was not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    NotFound,
    Conflict,
    AlreadyExists,
    Invalid(String),
}

/// One stored write.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) step: u32,
    pub(super) actor: Actor,
    pub(super) kind: Kind,
    pub(super) before: Option<Object>,
    pub(super) after: Option<Object>,
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<String, Vec<(u64, Option<Object>)>>,
    versions: Vec<u64>,
}

/// The objects and their history.
#[derive(Debug, Default)]
pub(super) struct ApiServer {
    tables: BTreeMap<Kind, Table>,
    version: u64,
    uids: u64,
    /// The simulation's clock.
    pub(super) step: u32,
    pub(super) log: Vec<Event>,
}

/// Writes a time as the API does: whole seconds, so that several steps share one.
pub(super) fn timestamp(step: u32) -> String {
    timestamp_off_by(step, 0)
}

/// The same by a clock that is off by so many hours.
pub(super) fn timestamp_off_by(step: u32, hours: i64) -> String {
    let seconds = step / 8;
    format!("2026-03-01T{:02}:{:02}:{:02}Z", 10 + hours + i64::from(seconds / 3600), seconds / 60 % 60, seconds % 60)
}

impl ApiServer {
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn live(&self, kind: Kind, name: &str) -> Option<Object> {
        self.seen(kind, name, u64::MAX)
    }

    pub(super) fn list(&self, kind: Kind) -> Vec<Object> {
        self.list_seen(kind, u64::MAX)
    }

    /// The object as a cache at that version has it.
    pub(super) fn seen(&self, kind: Kind, name: &str, at: u64) -> Option<Object> {
        let row = self.tables.get(&kind)?.rows.get(name)?;
        row.iter().rev().find(|(version, _)| *version <= at)?.1.clone()
    }

    pub(super) fn list_seen(&self, kind: Kind, at: u64) -> Vec<Object> {
        let rows = self.tables.get(&kind).into_iter().flat_map(|table| table.rows.values());
        rows.filter_map(|row| row.iter().rev().find(|(version, _)| *version <= at)?.1.clone()).collect()
    }

    /// Every version of an object that was there, the oldest first.
    pub(super) fn versions_of(&self, kind: Kind, name: &str) -> Vec<(u64, Object)> {
        let row = self.tables.get(&kind).and_then(|table| table.rows.get(name));
        row.into_iter().flatten().filter_map(|(version, object)| Some((*version, object.clone()?))).collect()
    }

    /// The versions of a kind's objects that a cache has not seen.
    pub(super) fn unseen(&self, kind: Kind, at: u64) -> &[u64] {
        let versions = self.tables.get(&kind).map(|table| table.versions.as_slice()).unwrap_or_default();
        versions.get(versions.partition_point(|version| *version <= at)..).unwrap_or_default()
    }

    fn store(&mut self, actor: Actor, kind: Kind, key: &str, object: Option<Value>) -> Option<Object> {
        let before = self.live(kind, key);
        self.version += 1;
        let after = object.map(|mut object| {
            put(&mut object, &["metadata", "resourceVersion"], json!(self.version.to_string()));
            Rc::new(object)
        });
        let table = self.tables.entry(kind).or_default();
        table.versions.push(self.version);
        table.rows.entry(key.to_owned()).or_default().push((self.version, after.clone()));
        self.log.push(Event { step: self.step, actor, kind, before, after: after.clone() });
        after
    }

    pub(super) fn create(&mut self, actor: Actor, kind: Kind, mut object: Value) -> Result<Object, Refused> {
        let key = name(&object).to_owned();
        if self.live(kind, &key).is_some() {
            return Err(Refused::AlreadyExists);
        }
        self.uids += 1;
        put(&mut object, &["metadata", "uid"], json!(format!("uid-{}", self.uids)));
        put(&mut object, &["metadata", "generation"], json!(1));
        if at(&object, &["metadata", "creationTimestamp"]).is_null() || actor != Actor::Setup {
            put(&mut object, &["metadata", "creationTimestamp"], json!(timestamp(self.step)));
        }
        if actor != Actor::Setup {
            object.as_object_mut().expect("an object").remove("status");
        }
        default(kind, &mut object);
        validate(kind, &object)?;
        Ok(self.store(actor, kind, &key, Some(object)).expect("stored"))
    }

    /// A PUT: refused unless the resourceVersion is that of the object as it stands.
    pub(super) fn update(&mut self, actor: Actor, kind: Kind, object: Value, part: Part) -> Result<Object, Refused> {
        let before = self.live(kind, name(&object)).ok_or(Refused::NotFound)?;
        let version = ["metadata", "resourceVersion"];
        if uid(&before) != uid(&object) || at(&before, &version) != at(&object, &version) {
            return Err(Refused::Conflict);
        }
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
        for operation in &patch.0 {
            // Unlike json_patch, the API server lets a test with null pass on a missing key.
            if let PatchOperation::Test(test) = operation {
                let found = test.path.resolve(&object).unwrap_or(&Value::Null);
                if *found != test.value {
                    return Err(Refused::Invalid(format!("test {}", test.path)));
                }
                continue;
            }
            json_patch::patch(&mut object, std::slice::from_ref(operation))
                .map_err(|error| Refused::Invalid(error.to_string()))?;
        }
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
        let kept: &[&[&str]] = match part {
            Part::Main => &[&["status"]],
            Part::Status => &[&["spec"], &["metadata", "labels"]],
        };
        let server: &[&[&str]] = &[
            &["metadata", "uid"],
            &["metadata", "name"],
            &["metadata", "creationTimestamp"],
            &["metadata", "generation"],
            &["metadata", "resourceVersion"],
            &["metadata", "deletionTimestamp"],
        ];
        for path in kept.iter().chain(server) {
            put(&mut object, path, at(before, path).clone());
        }
        default(kind, &mut object);
        validate(kind, &object)?;
        if part == Part::Main && at(before, &["spec"]) != at(&object, &["spec"])
            || kind == Kind::Deployment
                && part == Part::Main
                && at(before, &["metadata", "annotations"]) != at(&object, &["metadata", "annotations"])
        {
            put(&mut object, &["metadata", "generation"], json!(generation(before) + 1));
        }
        if kind == Kind::DaemonSet && part == Part::Main {
            // The API server keeps it, whatever is written, and raises it with every change of the template.
            let was: i64 = annotation(before, GENERATION).and_then(|text| text.parse().ok()).unwrap_or(1);
            let now = was + i64::from(template(before) != template(&object));
            put(&mut object, &["metadata", "annotations", GENERATION], json!(now.to_string()));
        }
        if kind == Kind::ReplicaSet && at(before, &["spec", "selector"]) != at(&object, &["spec", "selector"]) {
            return Err(Refused::Invalid("spec.selector: field is immutable".into()));
        }
        if object == **before {
            return Ok(before.clone());
        }
        let key = name(before).to_owned();
        Ok(self.store(actor, kind, &key, Some(object)).expect("stored"))
    }

    /// A delete; of a pod only the beginning of one.
    pub(super) fn delete(&mut self, actor: Actor, kind: Kind, key: &str, of: Option<&str>) -> Result<(), Refused> {
        let before = self.live(kind, key).ok_or(Refused::NotFound)?;
        if of.is_some_and(|of| of != uid(&before)) {
            return Err(Refused::Conflict);
        }
        if kind == Kind::Pod {
            if !is_terminating(&before) {
                let mut object = (*before).clone();
                put(&mut object, &["metadata", "deletionTimestamp"], json!(timestamp(self.step)));
                self.store(actor, kind, key, Some(object));
            }
            return Ok(());
        }
        self.store(actor, kind, key, None);
        for kind in [Kind::ReplicaSet, Kind::ControllerRevision, Kind::Pod] {
            for object in self.list(kind).iter().filter(|object| controller(object) == uid(&before)) {
                self.delete(Actor::GarbageCollector, kind, name(object), None)?;
            }
        }
        Ok(())
    }

    /// A pod that was terminating is gone.
    pub(super) fn remove_pod(&mut self, key: &str) {
        self.store(Actor::Kubelet, Kind::Pod, key, None);
    }
}

fn drop_empty(object: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(object, |value, step| value.get_mut(step));
    let Some(map) = parent.and_then(Value::as_object_mut) else { return };
    if map.get(*last).is_some_and(|value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)) {
        map.shift_remove(*last);
    }
}

/// Defaults, and what Go's `omitempty` drops, as far as it matters here.
fn default(kind: Kind, object: &mut Value) {
    drop_empty(object, &["status"]);
    for path in [
        &["metadata", "annotations"][..],
        &["metadata", "labels"],
        &["metadata", "deletionTimestamp"],
        &["spec", "template", "metadata", "annotations"],
        &["spec", "template", "metadata", "labels"],
        &["spec", "paused"],
        &["spec", "updateStrategy", "rollingUpdate"],
    ] {
        drop_empty(object, path);
    }
    if at(object, &["spec", "paused"]) == &Value::Bool(false) {
        object.get_mut("spec").and_then(Value::as_object_mut).expect("it is there").shift_remove("paused");
    }
    let rolling = text(object, &["spec", "updateStrategy", "type"]) == "RollingUpdate";
    if rolling && at(object, &["spec", "updateStrategy", "rollingUpdate"]).is_null() {
        let default = match kind {
            Kind::StatefulSet => json!({"partition": 0}),
            Kind::DaemonSet => json!({"maxSurge": 0, "maxUnavailable": 1}),
            Kind::Deployment | Kind::ReplicaSet | Kind::ControllerRevision | Kind::Pod => return,
        };
        put(object, &["spec", "updateStrategy", "rollingUpdate"], default);
    }
}

fn validate(kind: Kind, object: &Value) -> Result<(), Refused> {
    let strategy = at(object, &["spec", "updateStrategy"]);
    if kind == Kind::StatefulSet && text(strategy, &["type"]) == "OnDelete" && strategy.get("rollingUpdate").is_some() {
        return Err(Refused::Invalid("only allowed for updateStrategy 'RollingUpdate'".into()));
    }
    let labels = at(object, &["spec", "template", "metadata", "labels"]);
    let selector = at(object, &["spec", "selector", "matchLabels"]).as_object();
    let selects = |(key, value): (&String, &Value)| labels.get(key) == Some(value);
    if !selector.into_iter().flatten().all(selects) {
        return Err(Refused::Invalid("`selector` does not match template `labels`".into()));
    }
    Ok(())
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

    pub(super) fn get(&self, api: &ApiServer, kind: Kind, name: &str) -> Option<Object> {
        api.seen(kind, name, self.at(kind))
    }

    /// What that owner controls.
    pub(super) fn of(&self, api: &ApiServer, kind: Kind, owner: &str) -> Vec<Object> {
        let mut objects = api.list_seen(kind, self.at(kind));
        objects.retain(|object| controller(object) == owner);
        objects
    }
}
