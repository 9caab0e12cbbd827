//! What goes when something else has gone: dependents of an owner, the content of a namespace
//! (`pkg/controller/garbagecollector`, `pkg/controller/namespace`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::State;
use super::super::resource::{RESOURCES, Resource};
use super::super::store::Key;
use crate::api_model::{at, put, text};
use crate::controllers::fields::{is_terminating, name, namespace, uid};

const FOREGROUND: &str = "foregroundDeletion";

/// Where an object lives.
pub(super) fn key_of(object: &Value) -> Option<Key> {
    let resource = Resource::of_kind(text(object, &["apiVersion"]), text(object, &["kind"]))?;
    Some(Key::new(resource, namespace(object), name(object)))
}

fn everything(state: &State) -> Vec<Arc<Value>> {
    RESOURCES.iter().flat_map(|resource| state.all(resource.plural)).collect()
}

fn owners(object: &Value) -> &[Value] {
    at(object, &["metadata", "ownerReferences"]).as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_of(object: &Value, owner: &str) -> bool {
    owners(object).iter().any(|reference| text(reference, &["uid"]) == owner)
}

/// Whether an object stays for a while after it was deleted: a namespace for its content, others for their finalizers.
pub(crate) fn waits(key: &Key, object: &Value) -> bool {
    let finalizers = at(object, &["metadata", "finalizers"]).as_array().is_some_and(|all| !all.is_empty());
    key.plural == "namespaces" || key.plural != "pods" && finalizers
}

/// Prepares the deletion of an object as its `propagationPolicy` says; the background's is the collector's work alone.
pub(crate) fn propagate(state: &mut State, key: &Key, policy: &str) {
    let Some(live) = state.store.get(key).cloned().filter(|_| state.whole) else { return };
    match policy {
        "Orphan" => {
            for object in everything(state).iter().filter(|object| is_of(object, uid(&live))) {
                let Some(key) = key_of(object) else { continue };
                state.edit_key(&key, "kube-controller-manager", |object| {
                    if let Some(references) = object["metadata"]["ownerReferences"].as_array_mut() {
                        references.retain(|reference| text(reference, &["uid"]) != uid(&live));
                    }
                });
            }
        }
        "Foreground" => state.edit_key(key, "kube-apiserver", |object| {
            put(object, &["metadata", "finalizers"], json!([FOREGROUND]));
        }),
        _ => {}
    }
}

/// Deletes what nobody owns any more, and what is in a namespace that goes.
pub(super) fn sync(state: &mut State) {
    let all = everything(state);
    let there: BTreeSet<&str> = all.iter().map(|object| uid(object)).collect();
    for object in &all {
        let Some(key) = key_of(object) else { continue };
        let is_orphaned =
            !owners(object).is_empty() && owners(object).iter().all(|one| !there.contains(text(one, &["uid"])));
        if is_orphaned && !is_terminating(object) {
            state.begin_deletion(&key, None);
        } else if is_terminating(object) && is_foreground(object) {
            finish_foreground(state, &key, object, &all);
        }
    }
    for ending in state.all("namespaces").iter().filter(|namespace| is_terminating(namespace)) {
        end_namespace(state, ending);
    }
}

fn is_foreground(object: &Value) -> bool {
    at(object, &["metadata", "finalizers"]).as_array().is_some_and(|all| all.iter().any(|one| one == FOREGROUND))
}

fn finish_foreground(state: &mut State, key: &Key, object: &Value, all: &[Arc<Value>]) {
    let mut is_alone = true;
    for dependent in all.iter().filter(|one| is_of(one, uid(object))) {
        is_alone = false;
        if let Some(key) = key_of(dependent).filter(|_| !is_terminating(dependent)) {
            propagate(state, &key, if key.plural == "pods" { "" } else { "Foreground" });
            state.begin_deletion(&key, None);
        }
    }
    if is_alone {
        state.remove(key);
    }
}

fn end_namespace(state: &mut State, ending: &Value) {
    let key = key_of(ending).expect("a namespace is served");
    if text(ending, &["status", "phase"]) != "Terminating" {
        state.edit_key(&key, "kube-controller-manager", |object| object["status"]["phase"] = "Terminating".into());
    }
    let content: Vec<Key> = everything(state)
        .iter()
        .filter(|object| namespace(object) == name(ending))
        .filter_map(|object| key_of(object))
        .collect();
    if content.is_empty() {
        return state.remove(&key);
    }
    for key in content {
        let live = state.store.get(&key).cloned();
        if live.is_some_and(|live| !is_terminating(&live)) {
            state.begin_deletion(&key, None);
        }
    }
}
