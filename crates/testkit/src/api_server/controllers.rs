//! Drives the controllers of [`crate::controllers`] in real time, on caches that are never old.
//!
//! Off until [`ApiServer::run_controllers`] switches them on, as most tests want their objects left alone: a real
//! controller replaces pods where the order of writes was wrong, and so do these.
//!
//! [`ApiServer::run_controllers`]: super::ApiServer::run_controllers

use std::time::{Duration, Instant};

use serde_json::Value;

use super::managed_fields::Writer;
use super::resource::Resource;
use super::store::Key;
use super::{State, cluster};
use crate::api_model::{self, Part, Refused, put};
use crate::clock;
use crate::controllers::daemon_set::DaemonSetController;
use crate::controllers::fields::{condition, name, namespace, text, uid};
use crate::controllers::replica_set::ReplicaSetController;
use crate::controllers::{Api, Kind, Object, deployment, stateful_set};

const MANAGER: &str = "kube-controller-manager";

/// What becomes true by time alone, such as a pod's availability, is looked for this often.
const RESYNC: Duration = Duration::from_millis(500);

/// Whether they run, how late, and what they have seen.
#[derive(Debug)]
pub struct Controllers {
    pub running: bool,
    pub delay: Duration,
    seen: u64,
    due: Option<Instant>,
    resync: Option<Instant>,
    replica_sets: ReplicaSetController,
    daemon_sets: DaemonSetController,
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            running: false,
            delay: Duration::from_millis(10),
            seen: 0,
            due: None,
            resync: None,
            replica_sets: ReplicaSetController::default(),
            daemon_sets: DaemonSetController::default(),
        }
    }
}

impl Controllers {
    /// Returns when they run next.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        if self.running { self.due.into_iter().chain(self.resync).min() } else { None }
    }
}

/// Syncs everything, if something was written and the delay is over; returns whether they ran.
pub(crate) fn run_due(state: &mut State, now: Instant) -> bool {
    if !state.controllers.running {
        return false;
    }
    if state.store.version() > state.controllers.seen && state.controllers.due.is_none() {
        state.controllers.due = Some(now + state.controllers.delay);
    }
    if state.controllers.next_due().is_some_and(|due| due > now) {
        return false;
    }
    state.controllers.due = None;
    state.controllers.resync = Some(now + RESYNC);
    state.controllers.seen = state.store.version();
    let mut replica_sets = std::mem::take(&mut state.controllers.replica_sets);
    let mut daemon_sets = std::mem::take(&mut state.controllers.daemon_sets);
    for (kind, plural) in [
        (Kind::Deployment, "deployments"),
        (Kind::ReplicaSet, "replicasets"),
        (Kind::StatefulSet, "statefulsets"),
        (Kind::DaemonSet, "daemonsets"),
    ] {
        for object in state.all(plural) {
            let (namespace, name) = (namespace(&object), name(&object));
            let view = &mut View(state);
            // What was refused is tried again at the next sync.
            drop(match kind {
                Kind::Deployment => deployment::sync(view, namespace, name),
                Kind::ReplicaSet => replica_sets.sync(view, namespace, name),
                Kind::StatefulSet => stateful_set::sync(view, namespace, name),
                Kind::DaemonSet => daemon_sets.sync(view, namespace, name),
                Kind::ControllerRevision | Kind::Pod => Ok(()),
            });
        }
    }
    (state.controllers.replica_sets, state.controllers.daemon_sets) = (replica_sets, daemon_sets);
    if state.whole {
        cluster::sync(state);
    }
    true
}

fn resource_of(kind: Kind) -> &'static Resource {
    let api_version = if kind == Kind::Pod { "v1" } else { "apps/v1" };
    Resource::of_kind(api_version, kind.name()).expect("it is served")
}

fn key_of(kind: Kind, object: &Value) -> Key {
    Key::new(resource_of(kind), namespace(object), name(object))
}

/// What one controller sees and writes.
struct View<'a>(&'a mut State);

impl Api for View<'_> {
    fn cached(&self, kind: Kind, namespace: &str, name: &str) -> Option<Object> {
        self.0.store.get(&Key::new(resource_of(kind), namespace, name)).cloned()
    }

    fn cached_beside(&self, kind: Kind, owner: &Value) -> Vec<Object> {
        let mut all = self.0.all(resource_of(kind).plural);
        all.retain(|object| namespace(object) == namespace(owner));
        all
    }

    fn cached_at(&self, _: Kind) -> u64 {
        self.version()
    }

    fn version(&self) -> u64 {
        self.0.store.version()
    }

    fn live(&self, kind: Kind, namespace: &str, name: &str) -> Option<Object> {
        self.cached(kind, namespace, name)
    }

    fn create(&mut self, kind: Kind, object: Value) -> Result<Object, Refused> {
        let key = key_of(kind, &object);
        if self.0.store.get(&key).is_some() {
            return Err(Refused::AlreadyExists);
        }
        let object = self.0.as_created(resource_of(kind), &key, object, &Writer::new(MANAGER));
        Ok(self.0.commit(&key, object))
    }

    fn update(&mut self, kind: Kind, object: Value, part: Part) -> Result<Object, Refused> {
        let key = key_of(kind, &object);
        let live = self.0.store.get(&key).cloned().ok_or(Refused::NotFound)?;
        api_model::expect(&live, Some(uid(&object)), Some(text(&object, &["metadata", "resourceVersion"])))?;
        let subresource = if part == Part::Status { "status" } else { "" };
        let writer = Writer { manager: MANAGER.to_owned(), subresource: subresource.to_owned() };
        let next = self.0.as_updated(resource_of(kind), &live, object, &writer);
        Ok(self.0.commit(&key, next))
    }

    fn change(&mut self, kind: Kind, of: &Value, change: impl FnOnce(&mut Value)) {
        self.0.edit_key(&key_of(kind, of), MANAGER, change);
    }

    fn set_status(&mut self, kind: Kind, of: &Value, status: Value) {
        let live = self.cached(kind, namespace(of), name(of)).filter(|live| uid(live) == uid(of));
        if let Some(live) = live {
            let mut object = (*live).clone();
            put(&mut object, &["status"], status);
            drop(self.update(kind, object, Part::Status));
        }
    }

    fn delete(&mut self, kind: Kind, of: &Value, exact: bool) -> Result<(), Refused> {
        let key = key_of(kind, of);
        let live = self.0.store.get(&key).ok_or(Refused::NotFound)?;
        api_model::expect(live, exact.then(|| uid(of)), None)?;
        self.0.begin_deletion(&key, None);
        Ok(())
    }

    /// Those that are not cordoned off by name: a DaemonSet tolerates every other reason for which pods stay away.
    fn nodes(&self, set: &Value) -> Vec<String> {
        let wanted = set.pointer("/spec/template/spec/nodeSelector").and_then(Value::as_object);
        let nodes = self.0.all("nodes").into_iter().filter(|node| {
            let labels = &node["metadata"]["labels"];
            wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
        });
        nodes.map(|node| name(&node).to_owned()).collect()
    }

    fn is_ready(&self, pod: &Value) -> bool {
        text(condition(pod, "Ready"), &["status"]) == "True"
    }

    fn is_available(&self, pod: &Value, min_ready_seconds: i64) -> bool {
        let since = text(condition(pod, "Ready"), &["lastTransitionTime"]);
        self.is_ready(pod) && (min_ready_seconds == 0 || clock::seconds_since(since) >= min_ready_seconds)
    }

    fn suffix(&mut self) -> String {
        crate::builders::letters(&format!("suffix {}", self.0.store.next_serial()), 5)
    }

    fn now(&self) -> String {
        clock::now_text()
    }

    fn seconds_since(&self, time: &str) -> i64 {
        clock::seconds_since(time)
    }

    fn event(&mut self, of: &Value, kind: Kind, reason: &str, message: &str) {
        if self.0.whole {
            let component = format!("{}-controller", kind.name().to_lowercase());
            cluster::event(self.0, of, &component, ("Normal", reason), message);
        }
    }
}
