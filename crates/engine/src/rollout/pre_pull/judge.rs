//! What the status of a pull pod means, container by container. Its phase says nothing: no container ever runs.

use serde_json::Value;

use super::body::CONTAINER_PREFIX;
use crate::k8s::failure;
use crate::k8s::pod::{ContainerState, ContainerStatus, Pod};
use crate::value::json_path::text;

/// How far the pull of one image is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullState {
    /// The image is on the node.
    Pulled {
        /// The `imageID`, as the runtime reports it; `None` where the container could not even be created.
        image_id: Option<String>,
    },
    /// Not yet.
    Pulling {
        /// The kubelet's reason and message so far: worth keeping, because a later reason may say less.
        said: Option<(String, String)>,
    },
    /// It cannot be pulled.
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
/// whose container cannot be created or started was pulled.
///
/// # Errors
/// When the node did not take the pod, or it is no pod that can be read: nothing was tried. The kubelet's reason, such
/// as `OutOfcpu`, and its words.
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
