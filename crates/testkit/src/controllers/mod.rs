//! The controllers of the stock workloads (kube-controller-manager `pkg/controller`), one sync at a time.
//!
//! They have two drivers: the simulation of an owner in `src/engine` brings caches that lag and steps in any order, the
//! server of [`crate::api_server`] real time. Neither is named here: what a controller sees and does is an [`Api`].
//!
//! Left out: scaling in proportion in the middle of a rollout, a DaemonSet's `maxSurge`, and volume claims.

pub mod daemon_set;
pub mod deployment;
pub mod fields;
pub mod replica_set;
pub mod revisions;
pub mod stateful_set;

use std::sync::Arc;

use serde_json::Value;

use crate::api_model::{Part, Refused};

/// An object as it was stored once.
pub type Object = Arc<Value>;

/// What the controllers read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    ControllerRevision,
    Pod,
}

impl Kind {
    /// Returns the kind as an object names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::ControllerRevision => "ControllerRevision",
            Self::Pod => "Pod",
        }
    }
}

/// What one controller sees, which may be old, and what it writes.
pub trait Api {
    /// The object as the controller's cache has it.
    fn cached(&self, kind: Kind, namespace: &str, name: &str) -> Option<Object>;
    /// The objects of the owner's namespace as the cache has them.
    fn cached_beside(&self, kind: Kind, owner: &Value) -> Vec<Object>;
    /// The version that the cache of a kind has come to.
    fn cached_at(&self, kind: Kind) -> u64;
    /// The newest version.
    fn version(&self) -> u64;
    /// The stored object.
    fn live(&self, kind: Kind, namespace: &str, name: &str) -> Option<Object>;
    fn create(&mut self, kind: Kind, object: Value) -> Result<Object, Refused>;
    /// A PUT: refused where the object has another resourceVersion by now.
    fn update(&mut self, kind: Kind, object: Value, part: Part) -> Result<Object, Refused>;
    /// A patch of the stored object, if it is still there.
    fn change(&mut self, kind: Kind, of: &Value, change: impl FnOnce(&mut Value));
    /// A PUT of the status that is tried again on a conflict.
    fn set_status(&mut self, kind: Kind, of: &Value, status: Value);
    /// Deletes by name; with `exact` only the object of that uid.
    fn delete(&mut self, kind: Kind, of: &Value, exact: bool) -> Result<(), Refused>;
    /// The nodes that a DaemonSet's pods belong on.
    fn nodes(&self, set: &Value) -> Vec<String>;
    fn is_ready(&self, pod: &Value) -> bool;
    /// Ready, and for that long.
    fn is_available(&self, pod: &Value, min_ready_seconds: i64) -> bool;
    /// What makes the name of a new pod another one.
    fn suffix(&mut self) -> String;
    /// The time as the API writes it.
    fn now(&self) -> String;
    /// The seconds since a time.
    fn seconds_since(&self, time: &str) -> i64;
    /// Records an event about an object.
    fn event(&mut self, of: &Value, kind: Kind, reason: &str, message: &str);

    /// What an owner controls, as the cache has it.
    fn owned(&self, kind: Kind, owner: &Value) -> Vec<Object> {
        let mut objects = self.cached_beside(kind, owner);
        objects.retain(|object| fields::controller(object) == fields::uid(owner));
        objects
    }
}

/// The pods that an owner controls: those that its selector does not match any more are let go, and those of nobody that
/// it matches are taken (`PodControllerRefManager`).
fn claim(api: &mut impl Api, kind: &str, owner: &Value) -> Vec<Object> {
    let selector = fields::at(owner, &["spec", "selector"]).clone();
    let mut claimed = Vec::new();
    for pod in api.cached_beside(Kind::Pod, owner) {
        let is_its = fields::controller(&pod) == fields::uid(owner);
        let is_free = fields::controller(&pod).is_empty();
        let is_selected = fields::selects(&selector, &pod);
        if is_its && is_selected {
            claimed.push(pod);
        } else if !fields::is_terminating(owner) && !fields::is_terminating(&pod) {
            if is_its {
                api.change(Kind::Pod, &pod, |pod| drop_owner(pod, fields::uid(owner)));
            } else if is_free && is_selected {
                let reference = fields::controlled_by(kind, owner);
                api.change(Kind::Pod, &pod, |pod| fields::put(pod, &["metadata", "ownerReferences"], reference));
                claimed.push(pod);
            }
        }
    }
    claimed
}

fn drop_owner(pod: &mut Value, owner: &str) {
    let references = pod.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
    if let Some(references) = references {
        references.retain(|reference| fields::text(reference, &["uid"]) != owner);
    }
}
