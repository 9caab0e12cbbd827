//! The scheduler: where a pod fits, spread over the nodes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::State;
use super::super::resources::{COUNTED, requests};
use super::{event, garbage};
use crate::api_model::{at, text};
use crate::clock;
use crate::controllers::fields::{condition, controller, is_terminating, name, namespace};
use crate::quantity;

const SELF: &str = "default-scheduler";

pub(super) fn sync(state: &mut State) {
    let waiting = |pod: &Arc<Value>| text(pod, &["spec", "nodeName"]).is_empty() && !is_terminating(pod);
    for pod in state.all("pods").into_iter().filter(waiting) {
        schedule(state, &pod);
    }
}

fn schedule(state: &mut State, pod: &Value) {
    let pods = state.all("pods");
    let nodes = state.all("nodes");
    let on = |node: &Value| -> Vec<Arc<Value>> {
        pods.iter().filter(|one| text(one, &["spec", "nodeName"]) == name(node)).cloned().collect()
    };
    let mut reasons: Vec<&'static str> = Vec::new();
    let mut fitting = Vec::new();
    for node in &nodes {
        match unfit(pod, node, &on(node)) {
            Some(reason) => reasons.push(reason),
            None => fitting.push(node),
        }
    }
    let is_sibling = |one: &&Arc<Value>| !controller(pod).is_empty() && controller(one) == controller(pod);
    let chosen = fitting.into_iter().min_by_key(|node| {
        let beside = on(node);
        (beside.iter().filter(is_sibling).count(), beside.len(), name(node).to_owned())
    });
    let key = garbage::key_of(pod).expect("a pod is served");
    if let Some(node) = chosen {
        state.edit_key(&key, SELF, |pod| pod["spec"]["nodeName"] = name(node).into());
        let message = format!("Successfully assigned {}/{} to {}", namespace(pod), name(pod), name(node));
        return event(state, pod, SELF, ("Normal", "Scheduled"), &message);
    }
    let mut counted: Vec<String> = Vec::new();
    let mut sorted = reasons.clone();
    sorted.sort_unstable();
    sorted.dedup();
    for reason in sorted {
        let count = reasons.iter().filter(|one| **one == reason).count();
        counted.push(format!("{count} {reason}"));
    }
    let message = format!("0/{} nodes are available: {}.", nodes.len(), counted.join(", "));
    if text(condition(pod, "PodScheduled"), &["message"]) == message {
        return;
    }
    let unscheduled = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastProbeTime": null, "lastTransitionTime": clock::now_text()}]);
    state.edit_key(&key, SELF, |pod| pod["status"]["conditions"] = unscheduled);
    event(state, pod, SELF, ("Warning", "FailedScheduling"), &message);
}

/// Why a pod does not fit on a node.
fn unfit(pod: &Value, node: &Value, pods: &[Arc<Value>]) -> Option<&'static str> {
    if at(node, &["spec", "unschedulable"]) == true {
        return Some("node(s) were unschedulable");
    }
    let wanted = at(pod, &["spec", "nodeSelector"]).as_object();
    if wanted.into_iter().flatten().any(|(key, value)| at(node, &["metadata", "labels"]).get(key) != Some(value)) {
        return Some("node(s) didn't match Pod's node affinity/selector");
    }
    let taints = at(node, &["spec", "taints"]).as_array().into_iter().flatten();
    let keeps_away = |taint: &&Value| text(taint, &["effect"]) != "PreferNoSchedule";
    if taints.filter(keeps_away).any(|taint| !is_tolerated(pod, taint)) {
        return Some("node(s) had untolerated taint(s)");
    }
    for (resource, reason) in COUNTED.iter().zip(["Insufficient cpu", "Insufficient memory"]) {
        let used: i128 = pods.iter().map(|one| requests(&one["spec"], resource)).sum();
        if used + requests(&pod["spec"], resource) > quantity::of(&node["status"]["allocatable"][resource]) {
            return Some(reason);
        }
    }
    (pods.len() as i128 * 1000 >= quantity::of(&node["status"]["allocatable"]["pods"])).then_some("Too many pods")
}

fn is_tolerated(pod: &Value, taint: &Value) -> bool {
    at(pod, &["spec", "tolerations"]).as_array().into_iter().flatten().any(|one| {
        let same = |field: &str| one[field].is_null() || one[field] == taint[field];
        let is_value = text(one, &["operator"]) == "Exists" || text(one, &["value"]) == text(taint, &["value"]);
        same("effect") && same("key") && is_value
    })
}
