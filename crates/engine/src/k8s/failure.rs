//! When a container has failed, and why: pure judgement over one container's status.
//!
//! A failure that is not certain yet has an [`Urgency`]: it counts only once it has lasted.

use serde::{Deserialize, Serialize};

use crate::k8s::names::ContainerName;
use crate::k8s::pod::{ContainerList, ContainerStatus, Pod, StaysDown, Terminated, Waiting};
use crate::value::image;
use crate::value::kubelet_version::KubeletVersion;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The container; absent when the pod as a whole is meant.
    pub container: Option<ContainerName>,
    /// CamelCase, the kubelet's where it has one.
    pub reason: String,
    /// The kubelet's, the runtime's, the registry's or the server's words.
    pub message: String,
    pub exit_code: Option<i64>,
    /// The kubelet does not start the container again: only another pod helps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays_down: bool,
}

/// The reason of a container that stays down where the kubelet's is not known.
pub const NOT_STARTED_AGAIN: &str = "NotStartedAgain";

/// How long a failure must show before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// At once: nothing but another patch heals it.
    AtOnce,
    /// Only when it is still there after [`LASTING_SECONDS`]: the kubelet tries again by itself.
    IfItLasts,
    /// Only if it is still there after [`ENDED_SECONDS`]: by then the kubelet reports CrashLoopBackOff, if it syncs the
    /// pod again.
    IfItStaysEnded,
}

impl Urgency {
    /// Returns how long the failure must have shown, in seconds.
    pub fn tolerated_seconds(self) -> u64 {
        match self {
            Self::AtOnce => 0,
            Self::IfItLasts => LASTING_SECONDS,
            Self::IfItStaysEnded => ENDED_SECONDS,
        }
    }
}

/// Seconds after which a reason that the kubelet may heal by itself counts as failed.
pub const LASTING_SECONDS: u64 = 10;

/// Seconds after which a container that has ended and is not started again counts as failed: the kubelet's own
/// CrashLoopBackOff was seen up to 15 s after the end.
pub const ENDED_SECONDS: u64 = 20;

/// Restarts of the new container after which one more end counts at once: a kubelet under load may show each end until it
/// starts the container again, and never CrashLoopBackOff.
pub const RESTARTS_OF_A_LOOP: u64 = 2;

/// Seconds for which a waiting reason that was there before the patch may still be shown: the kubelet's record of
/// the last failed start is replaced by the next attempt, which back-off delays by about ten seconds.
pub const STALE_REASON_SECONDS: u64 = 30;

/// A waiting reason of the kubelet (`pkg/kubelet/images/types.go`, `pkg/kubelet/container/sync_result.go`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitingKind {
    /// Heals only by another patch.
    Fatal,
    /// A pull that was answered by somebody; the message decides.
    Pull,
    /// A pull that is being tried again.
    PullBackOff,
    /// A container that does not start, or does not stay.
    Start,
    /// Has no new container to judge and may heal by itself.
    Lasting,
    /// On its way.
    Neutral,
}

/// Returns whether a waiting reason says that something has failed.
pub fn is_failure(reason: &str) -> bool {
    kind(reason) != WaitingKind::Neutral
}

/// Returns whether a waiting reason says that the image could not be pulled: no container was created from it.
pub fn is_pull(reason: &str) -> bool {
    match kind(reason) {
        WaitingKind::Pull | WaitingKind::PullBackOff => true,
        WaitingKind::Fatal => matches!(reason, "InvalidImageName" | "ErrImageNeverPull"),
        WaitingKind::Start | WaitingKind::Lasting | WaitingKind::Neutral => false,
    }
}

fn kind(reason: &str) -> WaitingKind {
    match reason {
        "InvalidImageName" | "ErrImageNeverPull" | "CreateContainerConfigError" => WaitingKind::Fatal,
        "ErrImagePull" | "RegistryUnavailable" | "SignatureValidationFailed" => WaitingKind::Pull,
        "ImagePullBackOff" => WaitingKind::PullBackOff,
        "CrashLoopBackOff" | "RunContainerError" | "PostStartHookError" | "StartError" | "ContainerCannotRun" => {
            WaitingKind::Start
        }
        "CreateContainerError" | "PreCreateHookError" | "PreStartHookError" | "ImageInspectError" => {
            WaitingKind::Lasting
        }
        // Another runtime's or a later kubelet's reason is no verdict: the deadline is.
        _ => WaitingKind::Neutral,
    }
}

/// Judges the status of a container whose image was changed.
///
/// `is_new` says of an ended container, by its id and start, whether it came after the change, where that is known.
/// `old_image` is what the record noted: a reason that belongs to the old image is not this update's. `restarts` are
/// those since the change.
pub fn judge(
    status: &ContainerStatus,
    is_new: impl Fn(&Terminated) -> Option<bool>,
    restarts: Option<u64>,
    old_image: Option<&str>,
    wanted: &str,
) -> Option<(Failure, Urgency)> {
    let Some(waiting) = &status.state.waiting else { return ended_for_long(status, is_new, restarts) };
    if names_only(&waiting.message, old_image, wanted) {
        return None;
    }
    let ended = status
        .state
        .terminated
        .as_ref()
        .or(status.last_state.terminated.as_ref())
        .filter(|ended| is_new(ended) != Some(false));
    let fail = |ended: Option<&Terminated>, urgency| Some((failure(status, waiting, ended), urgency));
    match kind(&waiting.reason) {
        WaitingKind::Fatal | WaitingKind::PullBackOff => fail(None, Urgency::AtOnce),
        WaitingKind::Pull if is_final_answer(&waiting.message) => fail(None, Urgency::AtOnce),
        // The kubelet may show CrashLoopBackOff for a container that never ran.
        WaitingKind::Start if ended.is_some() => fail(ended, Urgency::AtOnce),
        WaitingKind::Lasting => fail(None, Urgency::IfItLasts),
        WaitingKind::Pull | WaitingKind::Start | WaitingKind::Neutral => None,
    }
}

/// Returns the failure of a container that stays down. `is_new`: the one that ended came after the change, so that its end is the
/// failure; else `said` is what the kubelet reported of the start of another one: its reason and message.
pub fn of_down(
    name: &ContainerName,
    down: &StaysDown<'_>,
    is_new: bool,
    said: Option<(&str, &str)>,
) -> (Failure, Urgency) {
    let (ended, policy) = (down.ended, down.policy);
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    let (reason, message) = match (is_new, said) {
        (true, _) => (or(&ended.reason, "Error"), or(&ended.message, "the container ended")),
        (false, Some((reason, message))) => (or(reason, NOT_STARTED_AGAIN), or(message, "it was not started")),
        (false, None) => (NOT_STARTED_AGAIN.into(), "the container before it ended, and none has started since".into()),
    };
    let stays = match down.is_certain {
        true => format!("restartPolicy {policy}: the kubelet does not start it again"),
        false => format!("restartPolicy {policy}: the kubelet might not start it again"),
    };
    let failure = Failure {
        container: Some(name.clone()),
        reason,
        message: format!("{message}; {stays}"),
        exit_code: is_new.then_some(ended.exit_code),
        stays_down: down.is_certain,
    };
    (failure, if down.is_certain { Urgency::AtOnce } else { Urgency::IfItStaysEnded })
}

/// Returns the container that keeps a pod from being ready, and why, whatever becomes of those that change: it cannot be made,
/// by its own image or configuration, or it has ended for good. One that crashes may only wait for another one; but the kubelet shows the back-off of the
/// container before, now and then, where the one that is asked for cannot be made: it names the image that it had.
pub fn stuck(
    pod: &Pod,
    kubelet: Option<KubeletVersion>,
    changes: impl Fn(&ContainerName) -> bool,
) -> Option<(&ContainerName, &str)> {
    let mut others = pod.statuses(ContainerList::Containers).iter().filter(|status| !changes(&status.name));
    others.find_map(|status| {
        if let Some(down) = pod.stays_down(&status.name, kubelet).filter(|down| down.is_certain) {
            return Some((&status.name, down.ended.reason.as_str()));
        }
        let reason = status.state.waiting.as_ref()?.reason.as_str();
        let is_stuck = match kind(reason) {
            WaitingKind::Fatal | WaitingKind::Pull | WaitingKind::PullBackOff | WaitingKind::Lasting => true,
            WaitingKind::Start => pod
                .spec_of(&status.name)
                .is_some_and(|container| !status.image.is_empty() && !image::is_same(&status.image, &container.image)),
            WaitingKind::Neutral => false,
        };
        is_stuck.then_some((&status.name, reason))
    })
}

pub fn unready(pod: &Pod, changes: impl Fn(&ContainerName) -> bool) -> Option<&ContainerStatus> {
    pod.statuses(ContainerList::Containers).iter().find(|status| !status.ready && !changes(&status.name))
}

/// Whether a container that is not ready may be on its way, and nothing of it has failed.
pub fn is_on_its_way(status: &ContainerStatus) -> bool {
    let waiting = status.state.waiting.as_ref();
    waiting.is_some_and(|waiting| !is_failure(&waiting.reason)) && status.restart_count == 0
}

/// Returns the word for why a container is not ready, as the STATUS of `kubectl get pods` has it: what it waits with, or how it
/// ended. Empty where it runs.
pub fn word(status: &ContainerStatus) -> &str {
    let waiting = status.state.waiting.as_ref().map(|waiting| waiting.reason.as_str());
    let ended = || status.state.terminated.as_ref().map(|ended| ended.reason.as_str());
    waiting.or_else(ended).unwrap_or_default()
}

/// Returns what the kubelet calls it and about when its back-off ends (RFC 3339), for a container that it holds: the
/// time in its message after the last end (`doBackOff`, "back-off 10s restarting failed container=...").
pub fn back_off(status: &ContainerStatus) -> Option<(String, String)> {
    let waiting = status.state.waiting.as_ref().filter(|waiting| waiting.reason == "CrashLoopBackOff")?;
    let length = waiting.message.strip_prefix("back-off ")?.split_whitespace().next()?;
    let length = crate::value::duration::parse(length).ok()?;
    let ended = status.last_state.terminated.as_ref()?.finished_at.as_deref()?;
    let until = ended.parse::<jiff::Timestamp>().ok()?.checked_add(length).ok()?;
    Some((waiting.reason.clone(), until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
}

/// A container that has ended and is not started again is in back-off, whatever the kubelet calls it: it may go on
/// showing the end itself, and CrashLoopBackOff only when it syncs the pod once more (`pkg/kubelet/kuberuntime`,
/// `doBackOff`).
fn ended_for_long(
    status: &ContainerStatus,
    is_new: impl Fn(&Terminated) -> Option<bool>,
    restarts: Option<u64>,
) -> Option<(Failure, Urgency)> {
    let ended = status.state.terminated.as_ref().filter(|ended| is_new(ended) == Some(true))?;
    let message =
        if ended.message.is_empty() { "the container ended and has not been started again" } else { &ended.message };
    let failure = Failure {
        container: Some(status.name.clone()),
        reason: if ended.reason.is_empty() { "Error".into() } else { ended.reason.clone() },
        message: message.to_owned(),
        exit_code: Some(ended.exit_code),
        ..Failure::default()
    };
    let is_loop = restarts.is_some_and(|restarts| restarts >= RESTARTS_OF_A_LOOP);
    Some((failure, if is_loop { Urgency::AtOnce } else { Urgency::IfItStaysEnded }))
}

/// Whether the runtime's word for the end of a container says more than its exit code.
pub fn tells_more(reason: &str) -> bool {
    !matches!(reason, "" | "Error" | "Completed")
}

fn failure(status: &ContainerStatus, waiting: &Waiting, ended: Option<&Terminated>) -> Failure {
    let said = |ended: &Terminated| {
        let message = if ended.message.is_empty() { &waiting.message } else { &ended.message };
        match tells_more(&ended.reason) && ended.reason != waiting.reason {
            true => format!("{}: {message}", ended.reason),
            false => message.clone(),
        }
    };
    Failure {
        container: Some(status.name.clone()),
        reason: waiting.reason.clone(),
        message: ended.map_or_else(|| waiting.message.clone(), said),
        exit_code: ended.map(|ended| ended.exit_code),
        stays_down: false,
    }
}

/// Whether a registry's answer will be the same next time: not found, unauthorized, denied.
///
/// The words are containerd's, CRI-O's and Docker's; a registry that cannot be reached says none of them.
pub(crate) fn is_final_answer(message: &str) -> bool {
    let message = message.to_lowercase();
    let answers = [
        "not found",
        "manifest unknown",
        "name unknown",
        "unauthorized",
        "authentication required",
        "denied",
        "403 forbidden",
        "no match for platform",
    ];
    answers.iter().any(|answer| message.contains(answer))
}

/// Whether a message speaks of the image before and not of the wanted one.
fn names_only(message: &str, old_image: Option<&str>, wanted: &str) -> bool {
    let names = |image: &str| {
        // One image's name may be the beginning of another's: `side:v1` and `side:v1-again`.
        message.match_indices(image).any(|(at, _)| {
            let after = message.get(at + image.len()..).and_then(|rest| rest.chars().next());
            after.is_none_or(|next| !(next.is_ascii_alphanumeric() || matches!(next, '-' | '_' | '@')) && next != '.')
        })
    };
    // The kubelet's own words name the image as the pod asked for it (`EnsureImageExists`, pkg/kubelet/images).
    // containerd's name it in full.
    let quoted = |words: &str| message.split_once(words).and_then(|(_, rest)| rest.split('"').next());
    let pulled = quoted("Back-off pulling image \"").or_else(|| quoted("failed to pull and unpack image \""));
    let is_of_another = pulled.is_some_and(|pulled| !image::is_same(pulled, wanted));
    (is_of_another || old_image.is_some_and(|old| old != wanted && names(old))) && !names(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::pod::ContainerState;

    fn waiting(reason: &str, message: &str) -> ContainerStatus {
        let waiting = Waiting { reason: reason.into(), message: message.into() };
        ContainerStatus {
            name: "side".into(),
            state: ContainerState { waiting: Some(waiting), ..Default::default() },
            ..Default::default()
        }
    }

    #[test]
    fn a_waiting_reason_fails_when_nothing_will_heal_it() {
        let cases = [
            ("InvalidImageName", "couldn't parse image name", Some(Urgency::AtOnce)),
            (
                "ErrImageNeverPull",
                "Container image \"a\" is not present with pull policy of Never",
                Some(Urgency::AtOnce),
            ),
            ("CreateContainerConfigError", "configmap \"c\" not found", Some(Urgency::AtOnce)),
            ("ErrImagePull", "failed to resolve reference \"r/side:v9\": r/side:v9: not found", Some(Urgency::AtOnce)),
            ("ErrImagePull", "401 Unauthorized", Some(Urgency::AtOnce)),
            ("ErrImagePull", "pull access denied, repository does not exist", Some(Urgency::AtOnce)),
            ("ErrImagePull", "dial tcp 127.0.0.1:1: connect: connection refused", None),
            ("RegistryUnavailable", "registry is unavailable", None),
            ("ImagePullBackOff", "Back-off pulling image \"r/side:v9\"", Some(Urgency::AtOnce)),
            // Of an image that somebody asked for before.
            ("ImagePullBackOff", "Back-off pulling image \"r/side:nope\": ErrImagePull: not found", None),
            ("CreateContainerError", "context deadline exceeded", Some(Urgency::IfItLasts)),
            ("CrashLoopBackOff", "back-off 10s", None),
            ("ContainerCreating", "", None),
            ("PodInitializing", "", None),
            ("SomethingNew", "", None),
        ];
        for (reason, message, expected) in cases {
            let judged =
                judge(&waiting(reason, message), |_| Some(true), None, None, "r/side:v9").map(|(_, urgency)| urgency);
            assert_eq!(judged, expected, "{reason}: {message}");
        }
    }

    #[test]
    fn a_crash_counts_only_of_the_new_container() {
        let mut status = waiting("CrashLoopBackOff", "back-off 10s restarting failed container");
        status.last_state.terminated =
            Some(Terminated { exit_code: 3, container_id: Some("containerd://new".into()), ..Default::default() });
        let new = |ended: &Terminated| Some(ended.container_id.as_deref() == Some("containerd://new"));
        assert_eq!(judge(&status, new, None, None, "x").and_then(|(failure, _)| failure.exit_code), Some(3));
        assert_eq!(judge(&status, |_| Some(false), None, None, "x"), None);
        let reported =
            |status: &ContainerStatus| judge(status, new, None, None, "x").map(|(failure, _)| failure.message);
        assert_eq!(reported(&status).as_deref(), Some("back-off 10s restarting failed container"));
        status.last_state.terminated.iter_mut().for_each(|ended| ended.reason = "OOMKilled".into());
        assert_eq!(reported(&status).as_deref(), Some("OOMKilled: back-off 10s restarting failed container"));
    }

    #[test]
    fn a_back_off_says_until_when() {
        let ended = |at: &str| Terminated { finished_at: Some(at.into()), ..Default::default() };
        for (message, expected) in [
            ("back-off 10s restarting failed container=side pod=web-0_prod(1)", Some("2026-03-01T12:03:10Z")),
            ("back-off 1m20s restarting failed container=side", Some("2026-03-01T12:04:20Z")),
            ("back-off 5m0s restarting failed container=side", Some("2026-03-01T12:08:00Z")),
            ("back-off some time", None),
            ("", None),
        ] {
            let mut status = waiting("CrashLoopBackOff", message);
            status.last_state.terminated = Some(ended("2026-03-01T12:03:00Z"));
            assert_eq!(back_off(&status).map(|(_, until)| until).as_deref(), expected, "{message}");
        }
        assert_eq!(back_off(&waiting("CrashLoopBackOff", "back-off 10s restarting")), None);
    }

    #[test]
    fn an_end_counts_once_it_has_lasted_and_only_of_a_container_that_is_known_to_be_new() {
        let ended = Terminated { exit_code: 3, reason: "Error".into(), ..Default::default() };
        let mut status = waiting("", "");
        status.state = ContainerState { terminated: Some(ended), ..Default::default() };
        let judged =
            judge(&status, |_| Some(true), None, None, "x").map(|(failure, urgency)| (failure.exit_code, urgency));
        assert_eq!(judged, Some((Some(3), Urgency::IfItStaysEnded)));
        for (restarts, urgency) in [(1, Urgency::IfItStaysEnded), (2, Urgency::AtOnce), (7, Urgency::AtOnce)] {
            let judged = judge(&status, |_| Some(true), Some(restarts), None, "x").map(|(_, urgency)| urgency);
            assert_eq!(judged, Some(urgency), "{restarts} restarts");
        }
        for known in [Some(false), None] {
            assert_eq!(judge(&status, |_| known, None, None, "x"), None);
        }
    }

    #[test]
    fn a_reason_that_speaks_of_the_image_before_is_not_this_updates() {
        let status = waiting("ImagePullBackOff", "Back-off pulling image \"r/side:v1\": ErrImagePull: not found");
        assert_eq!(judge(&status, |_| Some(true), None, Some("r/side:v1"), "r/side:v2"), None);
        assert!(judge(&status, |_| Some(true), None, Some("r/side:v2"), "r/side:v1").is_some());
        let again = waiting("ImagePullBackOff", "Back-off pulling image \"r/side:v1-again\"");
        assert!(judge(&again, |_| Some(true), None, Some("r/side:v1"), "r/side:v1-again").is_some());
    }
}
