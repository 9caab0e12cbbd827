//! What other people do to the workload meanwhile.

use serde_json::{Value, json};

use crate::kinds::WorkloadKind;
use crate::state::durable::lock::{Lock, ROLLOUT_ANNOTATION};

use super::Simulation;
use super::api_server::{Actor, Kind};
use super::cluster::{BEFORE, FOREIGN, OWNER, kind_of, strategy, template_with};
use super::fields::{
    DESIRED, HASH, LAST_APPLIED, MAXIMUM, REVISION, at, is_terminating, name, put, replicas, revision, same_template,
    template,
};
use super::scenario::Deed;

/// Pods that controllers may create and delete because of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Granted {
    pub(super) creates: i64,
    pub(super) deletes: i64,
    /// What the owner wants from now on.
    pub(super) replicas: Option<i64>,
    /// It was really done.
    pub(super) done: bool,
}

pub(super) fn does(simulation: &mut Simulation, deed: Deed) -> Granted {
    let kind = kind_of(simulation.scenario.kind);
    let done = Granted { done: true, ..Granted::default() };
    let Some(owner) = simulation.api.live(kind, OWNER) else { return Granted::default() };
    let user = Actor::User;
    match deed {
        Deed::DeletePod => {
            let mut pods = simulation.api.list(Kind::Pod);
            pods.retain(|pod| !is_terminating(pod));
            if pods.is_empty() {
                return Granted::default();
            }
            let pod = simulation.random.pick(&pods).clone();
            simulation.api.delete(user, Kind::Pod, name(&pod), None).expect("it is there");
            // Lost before the controller has seen the partition restored, it comes back old and is rolled: it is young.
            let rolled = i64::from(simulation.scenario.partition > 0);
            return Granted { creates: 1 + rolled, deletes: rolled, ..done };
        }
        Deed::Scale(to) => return scale(simulation, to),
        Deed::Label => {
            let value = json!(simulation.api.step.to_string());
            simulation.api.change(user, kind, OWNER, |owner| put(owner, &["metadata", "labels", "note"], value));
        }
        Deed::SetImage => {
            let foreign = template_with(FOREIGN);
            simulation.api.change(user, kind, OWNER, |owner| {
                put(owner, &["spec", "template", "spec", "containers"], at(&foreign, &["spec", "containers"]).clone());
            });
        }
        Deed::Apply(whole) => {
            let saved = strategy(&simulation.scenario);
            simulation.api.change(user, kind, OWNER, |owner| {
                put(owner, &["spec", "template"], template_with(BEFORE));
                if whole && kind == Kind::Deployment {
                    put(owner, &["spec", "paused"], json!(false));
                } else if whole {
                    put(owner, &["spec", "updateStrategy"], saved);
                }
            });
        }
        Deed::Unpause if simulation.scenario.kind == WorkloadKind::Deployment => {
            simulation.api.change(user, kind, OWNER, |owner| put(owner, &["spec", "paused"], json!(false)));
        }
        Deed::Undo if simulation.scenario.kind == WorkloadKind::Deployment => {
            if at(&owner, &["spec", "paused"]) == &json!(true) {
                return Granted::default();
            }
            return if undo(simulation, &owner) { done } else { Granted::default() };
        }
        Deed::Unpause | Deed::Undo => return Granted::default(),
        Deed::Delete => simulation.api.delete(user, kind, OWNER, None).expect("it is there"),
        Deed::Put(back) => {
            let versions = simulation.api.versions_of(kind, OWNER);
            let first = simulation.stands_at;
            let old = match back {
                Some(back) => versions.iter().rev().nth(back),
                None => versions.iter().rev().find(|(version, _)| *version <= first),
            };
            let Some((_, old)) = old.cloned() else { return Granted::default() };
            simulation.api.change(user, kind, OWNER, |owner| *owner = (*old).clone());
        }
        Deed::RemoveLock | Deed::EditLock if Lock::text_of(&owner).is_none() => return Granted::default(),
        Deed::RemoveLock => {
            simulation.api.change(user, kind, OWNER, |owner| {
                let annotations = owner.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
                annotations.map(|annotations| annotations.shift_remove(ROLLOUT_ANNOTATION));
            });
        }
        Deed::EditLock => {
            simulation.api.change(user, kind, OWNER, |owner| {
                put(owner, &["metadata", "annotations", ROLLOUT_ANNOTATION], json!("edited"));
            });
        }
    }
    done
}

fn scale(simulation: &mut Simulation, to: i64) -> Granted {
    let from = match simulation.scenario.kind {
        WorkloadKind::DaemonSet => std::mem::replace(&mut simulation.nodes, to),
        kind => {
            let kind = kind_of(kind);
            let from = simulation.api.live(kind, OWNER).map_or(to, |owner| replicas(&owner));
            simulation.api.change(Actor::User, kind, OWNER, |owner| put(owner, &["spec", "replicas"], json!(to)));
            from
        }
    };
    let (creates, deletes) = ((to - from).max(0), (from - to).max(0));
    Granted { creates, deletes, replicas: Some(to), done: true }
}

/// `kubectl rollout undo` (kubectl `polymorphichelpers/rollback.go`): the template of the revision before, and the
/// annotations of its ReplicaSet.
fn undo(simulation: &mut Simulation, owner: &Value) -> bool {
    let mut sets = simulation.api.list(Kind::ReplicaSet);
    sets.retain(|set| !same_template(template(set), template(owner)));
    let Some(set) = sets.iter().max_by_key(|set| revision(set)) else { return false };
    let kept =
        |key: &str| [LAST_APPLIED, REVISION, DESIRED, MAXIMUM].contains(&key) || key.ends_with("/revision-history");
    let of = |object: &Value, keep: bool| -> Vec<(String, Value)> {
        let annotations = at(object, &["metadata", "annotations"]).as_object().into_iter().flatten();
        annotations.filter(|(key, _)| kept(key) == keep).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let annotations: serde_json::Map<String, Value> = of(owner, true).into_iter().chain(of(set, false)).collect();
    let mut template = template(set).clone();
    template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut).map(|labels| labels.shift_remove(HASH));
    simulation.api.change(Actor::User, Kind::Deployment, OWNER, |owner| {
        put(owner, &["metadata", "annotations"], Value::Object(annotations));
        put(owner, &["spec", "template"], template);
    });
    true
}
