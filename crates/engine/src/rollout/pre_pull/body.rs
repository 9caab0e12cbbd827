//! The pod that makes a kubelet pull images, and nothing else; what its status means, and whether anybody waits for it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{ImagePull, Pull, PullAsks};
use crate::k8s::failure;
use crate::k8s::metadata::MANAGED_BY;
use crate::k8s::names::{RolloutId, WorkloadRef};
use crate::k8s::pod::{ContainerState, ContainerStatus, Pod};
use crate::kinds::PODS;
use crate::state::durable::lease::{Process, ProcessState};
use crate::value::fnv1a;
use crate::value::json_path::text;

/// The label by which a rollout's pull pods are found: its value is the rollout's id.
pub const PULL_LABEL: &str = "kubectl-inplace.io/pull";

const MANAGER: &str = "kubectl-inplace";

/// The longest name and label value that the API takes everywhere.
const NAME_LIMIT: usize = 63;

/// Begins the name of each pull pod; the node's name follows.
const NAME_BEGIN: &str = "inplace-pull-";

/// Hexadecimal digits at the end of its name.
const HASH_LENGTH: usize = 16;

/// No image has it: the runtime pulls, creates the container, and cannot start it.
pub const NO_COMMAND: &str = "/kubectl-inplace/pulls-the-image-and-runs-nothing";

pub(super) const CONTAINER_PREFIX: &str = "image-";

/// Asks the two most common service meshes not to inject a container into the pod: it would run, and its init
/// container would have to end before anything is pulled.
const NO_INJECTION: [(&str, &str); 2] = [("sidecar.istio.io/inject", "false"), ("linkerd.io/inject", "disabled")];

/// The user `nobody`: with `runAsNonRoot` alone the kubelet would refuse an image of root's before it reports the
/// digest.
const NOBODY: u32 = 65534;

/// What each container asks for, and is limited to: little, but enough to start a sandbox. With a limit of 1Mi it is
/// OOM-killed, and then nothing is pulled; with 10m it is throttled for five seconds. Requests and limits are equal, so that a
/// quota on either takes the pod, and so does every limit to request ratio of a LimitRange.
const LITTLE: (&str, &str) = ("50m", "32Mi");

/// For a LimitRange that wants more of a whole pod.
const ENOUGH: (&str, &str) = ("250m", "256Mi");

/// Returns the label selector that finds the pull pods of one rollout, or of every one, in the form that list requests
/// take.
pub fn pull_selector(id: Option<&RolloutId>) -> String {
    match id {
        Some(id) => format!("{MANAGED_BY}={MANAGER},{PULL_LABEL}={}", label_value(id)),
        None => format!("{MANAGED_BY}={MANAGER},{PULL_LABEL}"),
    }
}

/// Returns the pod that pulls: bound to its node, one container an image, each with a command that cannot exist.
///
/// The name is derived from the rollout and from everything that is pulled, so that creating it twice creates one pod:
/// AlreadyExists is success. PodSecurity `restricted` accepts it. It carries no label that a workload or Service could
/// select, and no token of its ServiceAccount. After `active_deadline_seconds` the kubelet ends it by itself.
pub fn pull_pod(id: &RolloutId, workload: &WorkloadRef, pull: &Pull, active_deadline_seconds: u32) -> Value {
    let containers = pull.images.iter().enumerate().map(|(index, image)| container(index, image, pull.asks));
    let mut spec = json!({
        "nodeName": pull.node,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "activeDeadlineSeconds": active_deadline_seconds,
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "tolerations": [{"operator": "Exists"}],
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": containers.collect::<Vec<_>>(),
    });
    // Without a list of its own the pod gets the ServiceAccount's, as the pod that changes did when it was created.
    let secrets: Vec<Value> = pull.secrets.iter().map(|name| json!({ "name": name })).collect();
    if !secrets.is_empty() {
        spec["imagePullSecrets"] = secrets.into();
    }
    if !pull.service_account.is_empty() {
        spec["serviceAccountName"] = pull.service_account.as_str().into();
    }
    json!({
        "apiVersion": PODS.spec().api_version(),
        "kind": PODS.spec().kind,
        "metadata": {
            "name": pull_pod_name(id, workload, pull),
            "namespace": workload.namespace,
            "labels": {MANAGED_BY: MANAGER, PULL_LABEL: label_value(id)},
            "annotations": Map::from_iter(NO_INJECTION.map(|(key, value)| (key.to_owned(), Value::from(value)))),
        },
        "spec": spec,
    })
}

/// Returns whether a pod that carries the labels of a pull pod is one: bound to a node, named after it, controlled by
/// nobody, and with nothing of its own to run. Containers that an admission webhook has injected do not count.
pub fn is_pull_pod(pod: &Value) -> bool {
    let node = text(pod, "/spec/nodeName");
    let (begin, hash) = text(pod, "/metadata/name").rsplit_once('-').unwrap_or_default();
    let is_named = begin == safe(&format!("{NAME_BEGIN}{node}"), NAME_LIMIT - HASH_LENGTH - 1)
        && hash.len() == HASH_LENGTH
        && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_controlled =
        pod.pointer("/metadata/ownerReferences").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let is_ours = |container: &&Value| {
        let name = container.get("name").and_then(Value::as_str);
        name.is_some_and(|name| name.starts_with(CONTAINER_PREFIX))
    };
    let mut ours = containers.into_iter().flatten().filter(is_ours).peekable();
    let has_ours = ours.peek().is_some();
    let runs_nothing = ours.all(|container| container.get("command") == Some(&json!([NO_COMMAND])));
    !node.is_empty()
        && is_named
        && !is_controlled
        && has_ours
        && runs_nothing
        && text(pod, "/spec/restartPolicy") == "Never"
}

fn container(index: usize, image: &ImagePull, asks: PullAsks) -> Value {
    let mut container = json!({
        "name": format!("{CONTAINER_PREFIX}{index}"),
        "image": image.image,
        "command": [NO_COMMAND],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    });
    if !image.policy.is_empty() {
        container["imagePullPolicy"] = image.policy.as_str().into();
    }
    let amounts = match asks {
        PullAsks::Little => Some(LITTLE),
        PullAsks::Nothing => None,
        PullAsks::Enough => Some(ENOUGH),
    };
    if let Some((cpu, memory)) = amounts {
        let asked = json!({"cpu": cpu, "memory": memory});
        container["resources"] = json!({"requests": asked, "limits": asked});
    }
    container
}

/// A name that is a DNS label: a readable prefix, and a hash of what the pod pulls, for which workload and with what,
/// so that it is unique. Workloads of one command are updated side by side, and each deletes its own pods.
pub fn pull_pod_name(id: &RolloutId, workload: &WorkloadRef, pull: &Pull) -> String {
    let kind = workload.kind.spec().singular;
    let mut identity = vec![id.as_str(), kind, &workload.name, &pull.node, &pull.service_account];
    identity.extend(pull.secrets.iter().map(String::as_str));
    identity.push("");
    identity.extend(pull.images.iter().flat_map(|image| [image.image.as_str(), &image.policy]));
    object_name(&format!("{NAME_BEGIN}{}", pull.node), &identity)
}

/// Returns a name that is a DNS label: as much of its beginning as there is room for, and a hash of what the object is for.
pub(in crate::rollout) fn object_name(begin: &str, identity: &[&str]) -> String {
    let begin = safe(begin, NAME_LIMIT - HASH_LENGTH - 1);
    format!("{begin}-{:016x}", fnv1a(&identity.join("\0")))
}

/// Returns the labels of an object that this program makes, with one that says what for.
pub(in crate::rollout) fn managed_by<'v>(label: &'static str, value: &'v str) -> BTreeMap<&'static str, &'v str> {
    BTreeMap::from([(MANAGED_BY, MANAGER), (label, value)])
}

/// Lower-case letters, digits and dashes, no dash at the end.
fn safe(text: &str, limit: usize) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().map(safe).take(limit).collect();
    text.trim_end_matches('-').to_owned()
}

/// An id is a valid label value; one that somebody wrote by hand is made valid.
fn label_value(id: &RolloutId) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let value: String = id.as_str().chars().map(|c| if allowed(c) { c } else { '-' }).take(NAME_LIMIT).collect();
    value.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

// What the status of a pull pod means, container by container. Its phase says nothing: no container ever runs.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullState {
    Pulled {
        /// The `imageID`, as the runtime reports it; `None` where the container could not even be created.
        image_id: Option<String>,
    },
    Pulling {
        /// The kubelet's reason and message so far: worth keeping, because a later reason may say less.
        said: Option<(String, String)>,
    },
    Failed {
        /// The kubelet's word, such as `ErrImagePull`.
        reason: String,
        /// The registry's words, or the kubelet's.
        message: String,
    },
}

/// Judges a pull pod as last observed: its images, as they were requested and in this order, and how far each is.
///
/// A failure counts at once where the answer will be the same next time (not found, unauthorized, denied, a malformed
/// name, a policy that forbids the pull), otherwise at ImagePullBackOff: the registry may come back. The kubelet pulls
/// before it creates a container (`startContainer` in `pkg/kubelet/kuberuntime/kuberuntime_container.go`), so an image
/// whose container cannot be created or started was pulled. An error means that nothing was tried: the node did not take the
/// pod, and it has the kubelet's reason, such as `OutOfcpu`, and its words.
pub fn judge(pod: &Value) -> Result<Vec<(String, PullState)>, String> {
    let read = Pod::from_object(pod).map_err(|error| format!("Unreadable {error}"))?;
    let (reason, message) = (text(pod, "/status/reason"), text(pod, "/status/message"));
    if read.status.container_statuses.is_empty() && read.is_finished() {
        return Err(format!("{reason} {message}"));
    }
    // The pod is over, for example by its deadline.
    let reason = if reason.is_empty() { "NotPulled" } else { reason };
    let ended = PullState::Failed { reason: reason.to_owned(), message: message.to_owned() };
    // A webhook may have injected containers of its own.
    let ours = read.spec.containers.iter().filter(|container| container.name.as_str().starts_with(CONTAINER_PREFIX));
    let judged = ours.map(|container| {
        let status = read.status.container_statuses.iter().find(|status| status.name == container.name);
        let state = status.map_or(PullState::Pulling { said: None }, state);
        let is_over = read.is_finished() && matches!(state, PullState::Pulling { .. });
        (container.image.clone(), if is_over { ended.clone() } else { state })
    });
    Ok(judged.collect())
}

fn state(status: &ContainerStatus) -> PullState {
    let image_id = Some(status.image_id.clone()).filter(|id| !id.is_empty());
    if image_id.is_some() {
        return PullState::Pulled { image_id };
    }
    let ContainerState { waiting, running, terminated } = &status.state;
    if running.is_some() {
        return PullState::Pulled { image_id };
    }
    if let Some(waiting) = waiting {
        let (reason, message) = (waiting.reason.clone(), waiting.message.clone());
        return match reason.as_str() {
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "StartError"
            | "ContainerCannotRun"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError"
            | "CrashLoopBackOff" => PullState::Pulled { image_id },
            "InvalidImageName" | "ErrImageNeverPull" | "ImagePullBackOff" => PullState::Failed { reason, message },
            _ if failure::is_pull(&reason) && failure::is_final_answer(&message) => {
                PullState::Failed { reason, message }
            }
            // Also an ErrImagePull that may heal, ImageInspectError, and unknown reasons of later kubelets: the wait is
            // bounded.
            _ => PullState::Pulling { said: Some((reason, message)).filter(|(reason, _)| !reason.is_empty()) },
        };
    }
    match terminated {
        // The status of a container that the kubelet never created, when the pod is over.
        Some(ended) if ended.reason == "ContainerStatusUnknown" => PullState::Pulling { said: None },
        Some(_) => PullState::Pulled { image_id },
        None => PullState::Pulling { said: None },
    }
}

// Whether a pull pod belongs to a run that may be active, or was left behind by one that is gone.
//
// It carries no sign of life: it exists only while its node pulls, which its own deadline bounds.

/// The annotation that says which process has created the pod.
pub const PROCESS_ANNOTATION: &str = "kubectl-inplace.io/process";

/// Reads which process has created an object, where the object says so.
pub fn process_of(object: &Value) -> Option<Process> {
    let text = object.pointer("/metadata/annotations")?.get(PROCESS_ANNOTATION)?.as_str()?;
    serde_json::from_str(text).ok()
}

/// Returns whether nobody waits for an object with a deadline any more: its process is gone, or the object is older than its
/// run waits for it. `now` is the server's time of the read.
pub fn is_left_behind(object: &Value, process: ProcessState, now: Option<&str>) -> bool {
    match process {
        ProcessState::Running | ProcessState::Stopped => false,
        ProcessState::Gone => true,
        ProcessState::NotKnown => {
            let time = |text: &str| text.parse::<Timestamp>().ok();
            let made = object.pointer("/metadata/creationTimestamp").and_then(Value::as_str).and_then(time);
            let deadline = object.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64);
            let age = now.and_then(time).zip(made).map(|(now, made)| now.as_second().saturating_sub(made.as_second()));
            age.zip(deadline).is_some_and(|(age, deadline)| age >= deadline)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_another_machine_has_made_is_left_behind_once_its_deadline_has_passed() {
        let pod =
            json!({"metadata": {"creationTimestamp": "2026-03-01T10:00:00Z"}, "spec": {"activeDeadlineSeconds": 360}});
        let (soon, late) = (Some("2026-03-01T10:05:59Z"), Some("2026-03-01T10:06:00Z"));
        for (process, now, expected) in [
            (ProcessState::Gone, soon, true),
            (ProcessState::Gone, None, true),
            (ProcessState::Running, late, false),
            (ProcessState::Stopped, late, false),
            (ProcessState::NotKnown, soon, false),
            (ProcessState::NotKnown, late, true),
            (ProcessState::NotKnown, None, false),
            (ProcessState::NotKnown, Some("x"), false),
        ] {
            assert_eq!(is_left_behind(&pod, process, now), expected, "{process:?} {now:?}");
        }
        assert!(!is_left_behind(&json!({}), ProcessState::NotKnown, late), "what does not say so is left alone");
    }

    #[test]
    fn the_process_reads_as_it_was_written() {
        let process = Process { host: "laptop".into(), boot: "b".into(), pid: 7, began: "9".into() };
        let text = serde_json::to_string(&process).unwrap();
        assert_eq!(process_of(&json!({"metadata": {"annotations": {PROCESS_ANNOTATION: text}}})), Some(process));
        assert_eq!(process_of(&json!({"metadata": {"annotations": {PROCESS_ANNOTATION: "edited"}}})), None);
        assert_eq!(process_of(&json!({})), None);
    }
}
