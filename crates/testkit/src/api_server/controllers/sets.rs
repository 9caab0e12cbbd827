//! StatefulSets and DaemonSets with their ControllerRevisions (`pkg/controller/statefulset`, `pkg/controller/daemon`).

use serde_json::{Value, json};

use super::super::State;
use super::super::kubelet::hex64;
use super::{MANAGER, create_pod, is_ready, key_of, number, owned, reference, same_template, set_status, text};

const LABEL: &str = "controller-revision-hash";

/// Returns the revision of the template; makes one, or raises the number of an old one that says the same.
fn update_revision(state: &mut State, owner: &Value) -> Value {
    let revisions = owned(state, "controllerrevisions", owner);
    let highest = revisions.iter().map(|one| number(one, "/revision")).max().unwrap_or(0);
    let template = &owner["spec"]["template"];
    let equal = revisions.iter().filter(|one| same_template(&one["data"]["spec"]["template"], template));
    if let Some(found) = equal.max_by_key(|one| number(one, "/revision")) {
        let key = key_of("controllerrevisions", found);
        if number(found, "/revision") < highest {
            state.edit_key(&key, MANAGER, |revision| revision["revision"] = (highest + 1).into());
        }
        return state.store.get(&key).map_or(Value::Null, |revision| (**revision).clone());
    }
    let hash: String = hex64(&template.to_string()).chars().take(10).collect();
    let name = format!("{}-{hash}", text(owner, "/metadata/name"));
    let mut data = template.clone();
    data["$patch"] = "replace".into();
    let mut labels = template["metadata"]["labels"].clone();
    labels["controller.kubernetes.io/hash"] = hash.as_str().into();
    labels[LABEL] = hash.as_str().into();
    let revision = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": owner["metadata"]["namespace"], "labels": labels,
            "ownerReferences": reference(owner)},
        "revision": highest + 1, "data": {"spec": {"template": data}}});
    state.insert(revision.clone());
    revision
}

fn label_of(pod: &Value) -> &Value {
    &pod["metadata"]["labels"][LABEL]
}

/// Pods by ordinal; the label is the *name* of a revision.
pub(super) fn reconcile_stateful_set(state: &mut State, set: &Value) {
    let update = update_revision(state, set);
    let update_name = text(&update, "/metadata/name");
    let current_name = text(set, "/status/currentRevision");
    let rolling = set["spec"]["updateStrategy"]["type"] == "RollingUpdate";
    let partition = if rolling { number(set, "/spec/updateStrategy/rollingUpdate/partition") } else { 0 };
    let start = number(set, "/spec/ordinals/start");
    let replicas = number(set, "/spec/replicas");
    let pods = owned(state, "pods", set);
    let name_of = |ordinal: u64| format!("{}-{ordinal}", text(set, "/metadata/name"));
    let find = |ordinal: u64| pods.iter().find(|pod| pod["metadata"]["name"] == name_of(ordinal).as_str());
    for ordinal in start..start + replicas {
        if find(ordinal).is_none() {
            let revisions = owned(state, "controllerrevisions", set);
            let old = rolling && ordinal < partition;
            let wanted = if old { &current_name } else { &update_name };
            let from = revisions.iter().find(|one| one["metadata"]["name"] == wanted.as_str());
            let (template, label) = match from {
                Some(revision) => (revision["data"]["spec"]["template"].clone(), wanted.as_str()),
                None => (set["spec"]["template"].clone(), update_name.as_str()),
            };
            create_pod(state, set, &template, &name_of(ordinal), &[(LABEL, label)], "");
        }
    }
    let complete = pods.len() as u64 == replicas && pods.iter().all(|pod| is_ready(pod));
    let outdated = (start + partition.saturating_sub(start)..start + replicas)
        .rev()
        .filter_map(find)
        .find(|pod| *label_of(pod) != update_name.as_str());
    if let Some(pod) = outdated.filter(|_| rolling && complete) {
        state.remove(&key_of("pods", pod));
    }
    let labelled = |name: &str| pods.iter().filter(|pod| *label_of(pod) == name).count() as u64;
    let updated = labelled(&update_name);
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let finished = rolling && complete && updated == replicas;
    let current = if finished || current_name.is_empty() { &update_name } else { &current_name };
    let status = json!({"observedGeneration": number(set, "/metadata/generation"), "replicas": pods.len(),
        "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": updated,
        "currentReplicas": labelled(current), "currentRevision": current, "updateRevision": update_name});
    set_status(state, "statefulsets", set, &status);
}

/// A pod for each node of the fake; the label is the *hash* of a revision.
pub(super) fn reconcile_daemon_set(state: &mut State, set: &Value) {
    let update = update_revision(state, set);
    let hash = text(&update, &format!("/metadata/labels/{LABEL}"));
    let pods = owned(state, "pods", set);
    let nodes: Vec<String> = state.all("nodes").iter().map(|node| text(node, "/metadata/name")).collect();
    for node in nodes.iter().filter(|node| !pods.iter().any(|pod| pod["spec"]["nodeName"] == node.as_str())) {
        let name = format!("{}-", text(set, "/metadata/name"));
        create_pod(state, set, &set["spec"]["template"], &name, &[(LABEL, &hash)], node);
    }
    let rolling = set["spec"]["updateStrategy"]["type"] == "RollingUpdate";
    let outdated = pods.iter().find(|pod| *label_of(pod) != hash.as_str());
    if let Some(pod) = outdated.filter(|_| rolling && pods.iter().all(|pod| is_ready(pod))) {
        state.remove(&key_of("pods", pod));
    }
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let updated = pods.iter().filter(|pod| *label_of(pod) == hash.as_str()).count();
    let status = json!({"observedGeneration": number(set, "/metadata/generation"), "numberReady": ready,
        "numberAvailable": ready, "currentNumberScheduled": pods.len(), "updatedNumberScheduled": updated,
        "desiredNumberScheduled": nodes.len().max(pods.len())});
    set_status(state, "daemonsets", set, &status);
}
