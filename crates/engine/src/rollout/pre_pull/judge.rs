//! What the status of a pull pod means, container by container. Its phase says nothing: no container ever runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::CONTAINER_PREFIX;
use crate::k8s::failure;
use crate::k8s::pod::{ContainerState, ContainerStatus, Pod};

/// One image of a pull pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageState {
    /// The image as it was requested.
    pub image: String,
    /// How far it is.
    #[serde(flatten)]
    pub state: PullState,
}

/// How far the pull of one image is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state")]
pub enum PullState {
    /// The image is on the node.
    Pulled {
        /// The `imageID`, as the runtime reports it; `None` where the container could not even be created.
        #[serde(rename = "imageID")]
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

/// The node did not take the pod, or it is no pod that could be read: nothing was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rejected {
    /// Such as `OutOfcpu` or `NodeAffinity`.
    pub reason: String,
    /// The kubelet's words.
    pub message: String,
}

/// Judges a pull pod as last observed: its images in the order in which they were requested.
///
/// A failure counts at once where the answer will be the same next time (not found, unauthorized, denied, a malformed
/// name, a policy that forbids the pull), otherwise at ImagePullBackOff: the registry may come back. The kubelet pulls
/// before it creates a container (`startContainer` in `pkg/kubelet/kuberuntime/kuberuntime_container.go`), so an image
/// whose container cannot be created or started was pulled.
///
/// # Errors
/// When the node did not take the pod.
pub fn judge(pod: &Value) -> Result<Vec<ImageState>, Rejected> {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let reason = text("/status/reason");
    let read =
        Pod::from_object(pod).map_err(|error| Rejected { reason: "Unreadable".into(), message: error.to_string() })?;
    let is_finished = read.is_finished();
    if read.status.container_statuses.is_empty() && is_finished {
        return Err(Rejected { reason, message: text("/status/message") });
    }
    let ended = is_finished.then(|| (reason, text("/status/message")));
    // A webhook may have injected containers of its own.
    let ours = read.spec.containers.iter().filter(|container| container.name.as_str().starts_with(CONTAINER_PREFIX));
    let judged = ours.map(|container| {
        let status = read.status.container_statuses.iter().find(|status| status.name == container.name);
        let state = match status.map(state) {
            None | Some(PullState::Pulling { .. }) if ended.is_some() => abandoned(ended.as_ref()),
            Some(state) => state,
            None => PullState::Pulling { said: None },
        };
        ImageState { image: container.image.clone(), state }
    });
    Ok(judged.collect())
}

/// The pod is over, for example by its deadline, and this image had not been pulled.
fn abandoned(ended: Option<&(String, String)>) -> PullState {
    let (reason, message) = ended.cloned().unwrap_or_default();
    let reason = if reason.is_empty() { "NotPulled".into() } else { reason };
    PullState::Failed { reason, message }
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
        return match Verdict::of(&reason, &message) {
            Verdict::Pulled => PullState::Pulled { image_id },
            Verdict::Failed => PullState::Failed { reason, message },
            Verdict::OnItsWay if reason.is_empty() => PullState::Pulling { said: None },
            Verdict::OnItsWay => PullState::Pulling { said: Some((reason, message)) },
        };
    }
    match terminated {
        // The status of a container that the kubelet never created, when the pod is over.
        Some(ended) if ended.reason == "ContainerStatusUnknown" => PullState::Pulling { said: None },
        Some(_) => PullState::Pulled { image_id },
        None => PullState::Pulling { said: None },
    }
}

/// What a waiting reason says about the image.
enum Verdict {
    Pulled,
    Failed,
    OnItsWay,
}

impl Verdict {
    fn of(reason: &str, message: &str) -> Self {
        match reason {
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "StartError"
            | "ContainerCannotRun"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError"
            | "CrashLoopBackOff" => Self::Pulled,
            "InvalidImageName" | "ErrImageNeverPull" | "ImagePullBackOff" => Self::Failed,
            _ if failure::is_pull(reason) && failure::is_final_answer(message) => Self::Failed,
            // Also an ErrImagePull that may heal, ImageInspectError, and unknown reasons of later kubelets: the wait is
            // bounded.
            _ => Self::OnItsWay,
        }
    }
}
