//! The row of a pod (`printPod` of `pkg/printers/internalversion/printers.go`).

use serde_json::{Value, json};

use super::since;
use crate::api_model::{at, text};
use crate::controllers::fields::{condition, is_terminating, number};

/// What is counted over the containers.
#[derive(Default)]
struct Count {
    ready: usize,
    restarts: i64,
    last_restart: String,
}

impl Count {
    fn add_restarts(&mut self, status: &Value) {
        self.restarts += number(status, &["restartCount"]);
        let ended = text(status, &["lastState", "terminated", "finishedAt"]);
        if ended > self.last_restart.as_str() {
            ended.clone_into(&mut self.last_restart);
        }
    }
}

/// Returns the cells of a pod, those of `-o wide` too.
pub(super) fn cells(pod: &Value, age: &str) -> Vec<Value> {
    let list = |path: &[&str]| at(pod, path).as_array().cloned().unwrap_or_default();
    let inits = list(&["spec", "initContainers"]);
    let sidecars = inits.iter().filter(|one| is_sidecar(one)).count();
    let total = list(&["spec", "containers"]).len() + sidecars;
    let phase = text(pod, &["status", "phase"]);
    let mut reason = match text(pod, &["status", "reason"]) {
        "" => phase.to_owned(),
        given => given.to_owned(),
    };
    let mut count = Count::default();
    let statuses = list(&["status", "initContainerStatuses"]);
    let initializing = initializing(&inits, &statuses, &mut count);
    let is_initialized = text(condition(pod, "Initialized"), &["status"]) == "True";
    match &initializing {
        Some(word) if !is_initialized => reason.clone_from(word),
        _ => {
            let all = statuses
                .iter()
                .filter(|status| inits.iter().any(|one| one["name"] == status["name"] && is_sidecar(one)));
            (count.restarts, count.last_restart) = (0, String::new());
            all.for_each(|status| count.add_restarts(status));
            running(pod, &list(&["status", "containerStatuses"]), &mut reason, &mut count);
        }
    }
    if is_terminating(pod) && !["Succeeded", "Failed"].contains(&phase) {
        "Terminating".clone_into(&mut reason);
    }
    let restarts = match (count.restarts, count.last_restart.as_str()) {
        (0, _) | (_, "") => count.restarts.to_string(),
        (restarts, last) => format!("{restarts} ({} ago)", since(last)),
    };
    let or_none = |path: &[&str]| json!(Some(text(pod, path)).filter(|text| !text.is_empty()).unwrap_or("<none>"));
    vec![
        json!(text(pod, &["metadata", "name"])),
        json!(format!("{}/{total}", count.ready)),
        json!(reason),
        json!(restarts),
        json!(age),
        or_none(&["status", "podIP"]),
        or_none(&["spec", "nodeName"]),
        or_none(&["status", "nominatedNodeName"]),
        json!(gates(pod)),
    ]
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Why a container does not run, by what its state says.
fn ended(state: &Value) -> String {
    match text(state, &["reason"]) {
        "" if state["signal"].is_u64() => format!("Signal:{}", state["signal"]),
        "" => format!("ExitCode:{}", state["exitCode"]),
        reason => reason.to_owned(),
    }
}

/// The word for a pod whose init containers are not through.
fn initializing(inits: &[Value], statuses: &[Value], count: &mut Count) -> Option<String> {
    for (index, status) in statuses.iter().enumerate() {
        count.add_restarts(status);
        let sidecar = inits.iter().any(|one| one["name"] == status["name"] && is_sidecar(one));
        let (ended_state, waiting) =
            (at(status, &["state", "terminated"]), text(status, &["state", "waiting", "reason"]));
        if ended_state["exitCode"] == 0 {
            continue;
        }
        if sidecar && status["started"] == true {
            count.ready += usize::from(status["ready"] == true);
            continue;
        }
        return Some(if !ended_state.is_null() {
            format!("Init:{}", ended(ended_state))
        } else if waiting.is_empty() || waiting == "PodInitializing" {
            format!("Init:{index}/{}", inits.len())
        } else {
            format!("Init:{waiting}")
        });
    }
    None
}

fn running(pod: &Value, statuses: &[Value], reason: &mut String, count: &mut Count) {
    let (mut has_running, mut error) = (false, None);
    for status in statuses.iter().rev() {
        count.add_restarts(status);
        let waiting = text(status, &["state", "waiting", "reason"]);
        let ended_state = at(status, &["state", "terminated"]);
        if !waiting.is_empty() {
            waiting.clone_into(reason);
        } else if !ended_state.is_null() {
            *reason = ended(ended_state);
            if ended_state["exitCode"] != 0 {
                error = Some(reason.clone());
            }
        } else if status["ready"] == true && status["state"]["running"].is_object() {
            has_running = true;
            count.ready += 1;
        }
    }
    if reason == "Completed" {
        let is_ready = text(condition(pod, "Ready"), &["status"]) == "True";
        match error {
            _ if has_running && is_ready => "Running".clone_into(reason),
            Some(error) => *reason = error,
            None if has_running => "NotReady".clone_into(reason),
            None => {}
        }
    }
}

fn gates(pod: &Value) -> String {
    let gates = at(pod, &["spec", "readinessGates"]).as_array().cloned().unwrap_or_default();
    let open = gates.iter().filter(|gate| text(condition(pod, text(gate, &["conditionType"])), &["status"]) == "True");
    if gates.is_empty() { "<none>".to_owned() } else { format!("{}/{}", open.count(), gates.len()) }
}
