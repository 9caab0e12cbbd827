//! The conditions of a pod.

use serde_json::{Value, json};

use super::{restartable, statuses};
use crate::clock;

/// Recomputes the pod's conditions (`pkg/kubelet/status/generate.go`); a transition time moves only with the status.
pub(super) fn set_conditions(pod: &mut Value) {
    let unready: Vec<String> = restartable(pod)
        .into_iter()
        .filter_map(|one| one["name"].as_str())
        .filter(|name| !statuses(pod).any(|status| status["name"] == *name && status["ready"] == true))
        .map(ToOwned::to_owned)
        .collect();
    let gates = pod["spec"]["readinessGates"].as_array().cloned().unwrap_or_default();
    let condition = |pod: &Value, kind: &Value| {
        let all = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|one| one["type"] == *kind)
    };
    let closed = gates.iter().map(|gate| &gate["conditionType"]).find_map(|kind| match condition(pod, kind) {
        Some(found) if found["status"] == "True" => None,
        Some(found) => Some(format!(
            "the status of pod readiness gate {kind} is not \"True\", but {}",
            found["status"].as_str().unwrap_or_default()
        )),
        None => Some(format!("corresponding condition of pod readiness gate {kind} does not exist.")),
    });
    let not_ready = (!unready.is_empty())
        .then(|| ("ContainersNotReady", format!("containers with unready status: [{}]", unready.join(" "))));
    let gated = not_ready.clone().or_else(|| closed.map(|message| ("ReadinessGatesNotReady", message)));
    let through = |one: &Value| {
        let ends = one["restartPolicy"] != "Always";
        let of = statuses(pod).find(|status| status["name"] == one["name"]);
        of.is_some_and(|of| if ends { of["state"]["terminated"]["exitCode"] == 0 } else { of["started"] == true })
    };
    let inits = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    let waiting: Vec<&str> = inits.filter(|one| !through(one)).filter_map(|one| one["name"].as_str()).collect();
    let has_begun = pod["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|one| statuses(pod).any(|status| status["name"] == one["name"] && status["containerID"].is_string()));
    let not_through = (!waiting.is_empty() && !has_begun)
        .then(|| ("ContainersNotInitialized", format!("containers with incomplete status: [{}]", waiting.join(" "))));
    for (kind, problem) in [
        ("PodReadyToStartContainers", None),
        ("Initialized", not_through),
        ("Ready", gated),
        ("ContainersReady", not_ready),
        ("PodScheduled", None),
    ] {
        set_condition(pod, kind, problem);
    }
}

fn set_condition(pod: &mut Value, kind: &str, problem: Option<(&str, String)>) {
    let value = if problem.is_none() { "True" } else { "False" };
    let generation = pod["status"].get("observedGeneration").cloned().unwrap_or_default();
    let mut condition = json!({"type": kind, "observedGeneration": generation,
        "status": value, "lastProbeTime": null, "lastTransitionTime": clock::now_text()});
    if let Some((reason, message)) = problem {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    if pod["status"]["conditions"].as_array().is_none() {
        pod["status"]["conditions"] = json!([]);
    }
    let Some(all) = pod["status"]["conditions"].as_array_mut() else { return };
    match all.iter_mut().find(|one| one["type"] == kind) {
        Some(found) => {
            if found["status"] == value {
                condition["lastTransitionTime"] = found["lastTransitionTime"].clone();
            }
            *found = condition;
        }
        None => all.push(condition),
    }
}
