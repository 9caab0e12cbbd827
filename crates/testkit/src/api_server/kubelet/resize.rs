//! CPU and memory of running containers: given at once, or put off while the node has no room.

use serde_json::{Value, json};

use super::super::State;
use super::super::resources::{COUNTED, requests};
use crate::quantity;

/// What a node has, and what a pod may ask for now.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Of cpu for a container, as a test has set it.
    allocatable: Option<u64>,
    free: Option<u64>,
    /// In a whole cluster: what the node has of each resource, and what its other pods have asked for.
    node: Option<[(i128, i128); 2]>,
}

/// Why something is pending: the reason, the message.
type Pending = (&'static str, String);

impl Room {
    /// Returns the room of a pod on its node.
    pub(super) fn of(state: &State, pod: &Value) -> Self {
        let node =
            if state.whole { state.find("nodes", pod["spec"]["nodeName"].as_str().unwrap_or_default()) } else { None };
        let others = |resource: &str| {
            let pods = state.all("pods").into_iter();
            let beside = pods.filter(|one| {
                one["spec"]["nodeName"] == pod["spec"]["nodeName"] && one["metadata"]["uid"] != pod["metadata"]["uid"]
            });
            beside.map(|one| requests(&one["spec"], resource)).sum()
        };
        let node = node.map(|(_, node)| {
            COUNTED.map(|resource| (quantity::of(&node["status"]["allocatable"][resource]), others(resource)))
        });
        Self { allocatable: state.allocatable_milli_cpu, free: state.free_milli_cpu, node }
    }

    /// Why a container does not get what it asks for.
    fn refuses(&self, container: &Value) -> Option<Pending> {
        let asked = milli_cpu(&container["resources"]["requests"]["cpu"]);
        if let Some(most) = self.allocatable.filter(|most| asked > *most) {
            let message = format!("Node didn't have enough capacity: cpu, requested: {asked}, capacity: {most}");
            return Some(("Infeasible", message));
        }
        self.free.is_some_and(|free| asked > free).then(|| too_little(asked))
    }

    /// Why the pod does not get what it asks for.
    fn refuses_pod(&self, pod: &Value) -> Option<Pending> {
        if let Some(node) = &self.node {
            for (resource, (allocatable, used)) in COUNTED.iter().zip(node) {
                let asked = requests(&pod["spec"], resource);
                // The kubelet speaks of cpu in thousandths and of memory in bytes.
                let [asked_, used_, has] =
                    [asked, *used, *allocatable].map(|of| if *resource == "cpu" { of } else { of / 1000 });
                if asked > *allocatable {
                    let message =
                        format!("Node didn't have enough capacity: {resource}, requested: {asked_}, capacity: {has}");
                    return Some(("Infeasible", message));
                }
                if asked + used > *allocatable {
                    let message = format!(
                        "Node didn't have enough resource: {resource}, requested: {asked_}, used: {used_}, capacity: {has}"
                    );
                    return Some(("Deferred", message));
                }
            }
            return None;
        }
        let asked = milli_cpu(&pod["spec"]["resources"]["requests"]["cpu"]);
        self.free.is_some_and(|free| asked > free).then(|| too_little(asked))
    }
}

fn too_little(asked: u64) -> Pending {
    ("Deferred", format!("Node didn't have enough resource: cpu, requested: {asked}"))
}

fn milli_cpu(value: &Value) -> u64 {
    u64::try_from(quantity::of(value)).unwrap_or(0)
}

/// Gives the containers what the spec asks for, or puts it off. Returns those that restart for it, with their images.
pub(super) fn resize(pod: &mut Value, room: &Room) -> Vec<(String, String)> {
    let mut restarting = Vec::new();
    let of_pod = room.refuses_pod(pod);
    let mut pending = None;
    for (list, statuses) in [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")] {
        for container in pod["spec"][list].as_array().cloned().unwrap_or_default() {
            let refused = room.refuses(&container).or_else(|| of_pod.clone().filter(|_| room.node.is_some()));
            if refused.is_some() {
                pending = refused;
                continue;
            }
            for status in pod["status"][statuses].as_array_mut().into_iter().flatten() {
                if status["name"] == container["name"] {
                    set(status, "allocatedResources", &container["resources"]["requests"]);
                    if restarts(&container, &status["resources"]) && status["containerID"].is_string() {
                        let text = |key: &str| container[key].as_str().unwrap_or_default().to_owned();
                        restarting.push((text("name"), text("image")));
                    } else {
                        status["resources"] = container["resources"].clone();
                    }
                }
            }
        }
    }
    let whole = pod["spec"]["resources"].clone();
    if of_pod.is_some() {
        pending = of_pod;
    } else if !whole.is_null() {
        pod["status"]["allocatedResources"] = whole["requests"].clone();
        pod["status"]["resources"] = whole;
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != "PodResizePending");
        conditions.extend(pending.map(|(reason, message)| {
            json!({"type": "PodResizePending", "status": "True", "reason": reason, "message": message})
        }));
    }
    restarting
}

/// Sets a field, or takes it out where there is nothing to say.
fn set(status: &mut Value, field: &str, value: &Value) {
    status[field] = value.clone();
    if let Some(status) = status.as_object_mut().filter(|_| value.is_null()) {
        status.shift_remove(field);
    }
}

/// Whether a container restarts for what it asks for and does not have, by its `resizePolicy`.
fn restarts(container: &Value, has: &Value) -> bool {
    let differs = |resource: &str| {
        ["requests", "limits"].iter().any(|map| container["resources"][map][resource] != has[map][resource])
    };
    let policies = container["resizePolicy"].as_array().into_iter().flatten();
    let mut restarting = policies.filter(|policy| policy["restartPolicy"] == "RestartContainer");
    restarting.any(|policy| differs(policy["resourceName"].as_str().unwrap_or_default()))
}
