//! Deployments and ReplicaSets (`pkg/controller/deployment`, `pkg/controller/replicaset`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::State;
use super::super::kubelet::hex64;
use super::{MANAGER, create_pod, is_ready, key_of, number, owned, reference, same_template, set_status, text};

const REVISION: &str = "deployment.kubernetes.io/revision";

/// Annotations that are not copied to the ReplicaSet.
const NOT_COPIED: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.revision",
];

fn revision_of(object: &Value) -> u64 {
    object["metadata"]["annotations"][REVISION].as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Finds or creates the ReplicaSet of the template, keeps its revision and annotations, and scales.
pub(super) fn reconcile(state: &mut State, deployment: &Value) {
    let paused = deployment["spec"]["paused"] == true;
    let sets = owned(state, "replicasets", deployment);
    // The oldest that matches, as `FindNewReplicaSet` takes it.
    let matching = sets.iter().filter(|set| same_template(&set["spec"]["template"], &deployment["spec"]["template"]));
    let new = matching.min_by_key(|set| (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name")));
    match new {
        Some(new) => {
            let others = sets.iter().filter(|set| set["metadata"]["uid"] != new["metadata"]["uid"]);
            let revision =
                others.map(|set| revision_of(set)).max().map_or(1, |highest| highest + 1).max(revision_of(new));
            sync_revision(state, deployment, new, revision);
            if !paused {
                for set in &sets {
                    let is_new = set["metadata"]["uid"] == new["metadata"]["uid"];
                    let replicas = if is_new { number(deployment, "/spec/replicas") } else { 0 };
                    if set["spec"]["replicas"] == replicas {
                        continue;
                    }
                    state.edit_key(&key_of("replicasets", set), MANAGER, |set| {
                        set["spec"]["replicas"] = replicas.into();
                    });
                }
            }
        }
        None if !paused => create_replica_set(state, deployment, &sets),
        None => {}
    }
    let sets = owned(state, "replicasets", deployment);
    let new_name = new.map(|new| text(new, "/metadata/name"));
    let sum = |field: &str| sets.iter().map(|set| number(set, &format!("/status/{field}"))).sum::<u64>();
    let updated = sets.iter().find(|set| Some(text(set, "/metadata/name")) == new_name);
    let status = json!({"observedGeneration": number(deployment, "/metadata/generation"), "replicas": sum("replicas"),
        "readyReplicas": sum("readyReplicas"), "availableReplicas": sum("availableReplicas"),
        "updatedReplicas": updated.map_or(0, |set| number(set, "/status/replicas"))});
    set_status(state, "deployments", deployment, &status);
}

/// Raises the revision of the new ReplicaSet, copies annotations to it, and notes the revision on the Deployment.
fn sync_revision(state: &mut State, deployment: &Value, new: &Value, revision: u64) {
    let annotations = deployment["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    state.edit_key(&key_of("replicasets", new), MANAGER, |set| {
        for (key, value) in annotations.iter().filter(|(key, _)| !NOT_COPIED.contains(&key.as_str())) {
            set["metadata"]["annotations"][key] = value.clone();
        }
        set["metadata"]["annotations"][REVISION] = revision.to_string().into();
    });
    state.edit_key(&key_of("deployments", deployment), MANAGER, |deployment| {
        deployment["metadata"]["annotations"][REVISION] = revision.to_string().into();
    });
}

/// A real rollout begins: this is what an in-place one must never see.
fn create_replica_set(state: &mut State, deployment: &Value, sets: &[Arc<Value>]) {
    let template = &deployment["spec"]["template"];
    let hash: String = hex64(&format!("{template}{}", sets.len())).chars().take(10).collect();
    let mut set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {
            "name": format!("{}-{hash}", text(deployment, "/metadata/name")),
            "namespace": deployment["metadata"]["namespace"], "labels": template["metadata"]["labels"],
            "annotations": {}, "ownerReferences": reference(deployment)},
        "spec": {"replicas": 0, "selector": deployment["spec"]["selector"], "template": template}, "status": {}});
    for pointer in ["/metadata/labels", "/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
        if let Some(labels) = set.pointer_mut(pointer) {
            labels["pod-template-hash"] = hash.as_str().into();
        }
    }
    state.insert(set);
}

/// Keeps as many pods as asked for.
pub(super) fn reconcile_replica_set(state: &mut State, set: &Value) {
    let Some(set) = state.store.get(&key_of("replicasets", set)).cloned() else { return };
    let pods = owned(state, "pods", &set);
    let live: Vec<&Arc<Value>> = pods.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).collect();
    let wanted = number(&set, "/spec/replicas");
    let have = live.len() as u64;
    for _ in have..wanted {
        create_pod(state, &set, &set["spec"]["template"], &format!("{}-", text(&set, "/metadata/name")), &[], "");
    }
    for pod in live.iter().take(usize::try_from(have.saturating_sub(wanted)).unwrap_or(0)) {
        state.remove(&key_of("pods", pod));
    }
    let ready = live.iter().filter(|pod| is_ready(pod)).count();
    let status = json!({"observedGeneration": number(&set, "/metadata/generation"), "replicas": have,
        "fullyLabeledReplicas": have, "readyReplicas": ready, "availableReplicas": ready});
    set_status(state, "replicasets", &set, &status);
}
