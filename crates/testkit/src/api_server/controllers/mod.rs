//! Simulated controllers of the stock workloads, level-triggered: as much as a durable rollout needs.
//!
//! They keep status and revisions, create missing pods again, and, most importantly, they *replace pods* where a real
//! controller would: after a wrong order of writes a test sees another uid. Off until [`ApiServer::run_controllers`]
//! switches them on, as most tests want their objects left alone. Simpler than real: surge and availability are
//! ignored, and a Deployment's conditions are never changed.
//!
//! [`ApiServer::run_controllers`]: super::ApiServer::run_controllers

mod deployment;
mod sets;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::State;
use super::resource::Resource;
use super::store::Key;

const MANAGER: &str = "kube-controller-manager";

/// Whether they run, how late, and what they have seen.
#[derive(Debug)]
pub struct Controllers {
    pub running: bool,
    pub delay: Duration,
    seen: u64,
    due: Option<Instant>,
}

impl Default for Controllers {
    fn default() -> Self {
        Self { running: false, delay: Duration::from_millis(10), seen: 0, due: None }
    }
}

impl Controllers {
    /// Returns when they run next.
    pub fn next_due(&self) -> Option<Instant> {
        if self.running { self.due } else { None }
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
    if state.controllers.due.is_none_or(|due| due > now) {
        return false;
    }
    state.controllers.due = None;
    state.controllers.seen = state.store.version();
    for object in state.all("deployments") {
        deployment::reconcile(state, &object);
    }
    for object in state.all("replicasets") {
        deployment::reconcile_replica_set(state, &object);
    }
    for object in state.all("statefulsets") {
        sets::reconcile_stateful_set(state, &object);
    }
    for object in state.all("daemonsets") {
        sets::reconcile_daemon_set(state, &object);
    }
    true
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(object: &Value, pointer: &str) -> u64 {
    object.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn key_of(plural: &str, object: &Value) -> Key {
    let resource = Resource::of_plural(plural).expect("the fake serves this resource");
    Key::new(resource, &text(object, "/metadata/namespace"), &text(object, "/metadata/name"))
}

/// Returns the objects whose controller is `owner`.
fn owned(state: &State, plural: &str, owner: &Value) -> Vec<Arc<Value>> {
    let mut all = state.all(plural);
    all.retain(|object| {
        let references = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        references.into_iter().flatten().any(|one| one["controller"] == true && one["uid"] == owner["metadata"]["uid"])
    });
    all
}

fn reference(owner: &Value) -> Value {
    json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}])
}

/// `EqualIgnoreHash`: the whole template but the label `pod-template-hash`; empty and absent are the same.
fn same_template(one: &Value, other: &Value) -> bool {
    let metadata = |template: &Value| {
        let mut metadata = template["metadata"].clone();
        if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            labels.shift_remove("pod-template-hash");
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.retain(|_, value| !value.is_null() && *value != json!({}));
        }
        metadata
    };
    one["spec"] == other["spec"] && metadata(one) == metadata(other)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// Creates a pod from a template; `name` ends in `-` where a suffix is wanted.
fn create_pod(state: &mut State, owner: &Value, template: &Value, name: &str, labels: &[(&str, &str)], node: &str) {
    let name = if name.ends_with('-') { format!("{name}{:05}", state.store.next_serial()) } else { name.to_owned() };
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"], "spec": template["spec"],
        "status": {"phase": "Pending"}});
    pod["metadata"]["name"] = name.into();
    pod["metadata"]["namespace"] = owner["metadata"]["namespace"].clone();
    pod["metadata"]["ownerReferences"] = reference(owner);
    for (label, value) in labels {
        pod["metadata"]["labels"][*label] = (*value).into();
    }
    if !node.is_empty() {
        pod["spec"]["nodeName"] = node.into();
    }
    state.insert(pod);
}

/// Writes fields of a status; nothing happens if they are set already.
fn set_status(state: &mut State, plural: &str, object: &Value, fields: &Value) {
    let has = |object: &Value| {
        fields.as_object().into_iter().flatten().all(|(field, value)| object["status"].get(field) == Some(value))
    };
    if state.store.get(&key_of(plural, object)).is_some_and(|object| has(object)) {
        return;
    }
    state.edit_key(&key_of(plural, object), MANAGER, |object| {
        if object["status"].is_null() {
            object["status"] = json!({});
        }
        json_patch::merge(&mut object["status"], fields);
    });
}
