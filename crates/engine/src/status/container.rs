//! One container of one pod: how it does, and how what it asks for compares with the template.

use super::Asked;
use crate::k8s::failure::{self, Failure, RESTARTS_OF_A_LOOP, Urgency};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, Pod, Terminated, Waiting};
use crate::plan::live::is_pin;
use crate::state::again::{self, RunningAgain};
use crate::state::evidence::{self, Baseline, Proof};
use crate::state::policy::RESTARTED_HOLD_SECONDS;
use crate::state::record::UpdateRecord;
use crate::value::image;
use crate::value::words;

#[derive(Debug, Clone, PartialEq)]
pub struct ContainerReport {
    pub container: ContainerName,
    pub list: ContainerList,
    /// The image that the pod's spec asks for.
    pub image: String,
    /// What runs or ran last, as the runtime shows it (`imageID`).
    pub image_id: Option<String>,
    /// The image that the template asks for, or the rollout that holds the workload; `None` where nothing does.
    pub asked: Option<String>,
    /// The image before the in-place update that the pod notes, if what it asks for now is that update's.
    pub before: Option<String>,
    /// Restarts, image changes included.
    pub restarts: i64,
    /// How the container ended that ran before the present one, or that ran last.
    pub last_end: Option<Terminated>,
    /// It runs again after an end that came after the change, and may yet end as it did.
    pub again: Option<RunningAgain>,
    pub condition: Condition,
    pub comparison: Comparison,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// It runs, and is of the image that the pod asks for.
    Running {
        /// Its probes pass, if it has any.
        ready: bool,
        /// When it started (RFC 3339).
        since: Option<String>,
    },
    /// It runs and is of the image that the pod asks for, but has ended since and has not run again for long enough: whether
    /// it stays is not known.
    Restarted { ready: bool, since: Option<String> },
    /// It runs, but one read cannot show whether it is of the image that the pod asks for.
    Unverified { why: String, ready: bool, since: Option<String> },
    /// The pod asks for another image than the one that runs or ran: the change is on its way.
    Updating {
        /// Why the new one does not run, as far as the kubelet says.
        waiting: Option<Waiting>,
    },
    /// It does not start, or does not stay, and nothing but another patch heals it.
    Failed(Failure),
    /// It does not run yet, or not again yet; its image has not changed, or has run before.
    Starting {
        /// Why, as far as the kubelet says.
        waiting: Option<Waiting>,
    },
    /// It has ended: a plain init container, or any of a pod that has.
    Ended {
        /// Its exit code, where the runtime reports it.
        exit_code: Option<i64>,
    },
}

impl ContainerReport {
    pub fn last_exit_code(&self) -> Option<i64> {
        self.last_end.as_ref().map(|end| end.exit_code)
    }

    /// Returns whether the container has failed, or runs between two ends of a crash loop.
    pub(super) fn fails(&self) -> bool {
        // Between two runs the kubelet shows the end itself for a while.
        let is_between = matches!(self.condition, Condition::Starting { .. });
        let is_between = is_between && self.last_exit_code().is_some_and(|code| code != 0);
        let has_crashed = is_between || self.again.is_some() && self.last_exit_code() != Some(0);
        has_crashed || matches!(self.condition, Condition::Failed(_) | Condition::Restarted { .. })
    }
}

impl Condition {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Running { ready: true, .. } => "ready",
            Self::Running { ready: false, .. } => "running",
            Self::Restarted { .. } => "justRestarted",
            Self::Unverified { .. } => "unverified",
            Self::Updating { .. } => "updating",
            Self::Failed(_) => "failed",
            Self::Starting { .. } => "starting",
            Self::Ended { .. } => "ended",
        }
    }
}

words! {
    /// How the image that a pod's container asks for compares with the one that it should.
    Comparison {
        Own = "own",
        /// The template has no such container: it was injected when the pod was made.
        Injected = "injected",
        Same = "same",
        /// The same repository and tag, or those that the server makes of them, held at the digest that runs.
        Pinned = "pinned",
        /// The server makes it of the template's, as it would now: admission has changed it.
        Rewritten = "rewritten",
        /// The rollout that holds the workload has not reached it yet.
        Pending = "pending",
        /// The pod is of an older revision or on its way out, or the owner's controller is about to replace it.
        Older = "older",
        /// They differ, and nothing is going to change that.
        Drifted = "drifted",
    }
}

pub(super) fn report(
    pod: &Pod,
    list: ContainerList,
    container: &Container,
    asked: &Asked<'_>,
    is_older: bool,
) -> ContainerReport {
    let status = pod.status_of(&container.name);
    let record = UpdateRecord::of(pod);
    let record = record.as_ref().and_then(|record| record.container(pod, &container.name));
    let again = status.and_then(|status| again::again(pod, status, asked.now));
    let condition = unless_restarted(unless_proven(condition(pod, list, container, status), pod, status, asked), again);
    let comparison = comparison(pod, container, asked, is_older);
    let asked = asked.image(pod, &container.name).map(|asked| asked.image.to_owned());
    let may_be_of_before = comparison == Comparison::Rewritten && may_be_of_template(pod, status, asked.as_deref());
    ContainerReport {
        again,
        container: container.name.clone(),
        list,
        image: container.image.clone(),
        image_id: status.map(|status| status.image_id.clone()).filter(|id| !id.is_empty()),
        asked,
        before: record.map(|record| record.from.clone()),
        restarts: status.map_or(0, |status| status.restart_count),
        last_end: status.and_then(evidence::last_ended).cloned(),
        condition: if may_be_of_before { unverified_rewrite(condition) } else { condition },
        comparison,
    }
}

/// What one read cannot show is known from the rollout that recorded the pod: it ended with every container proven, by
/// more than one read, and no other container has started since. Or the kubelet has left it for long enough.
fn unless_proven(condition: Condition, pod: &Pod, status: Option<&ContainerStatus>, asked: &Asked<'_>) -> Condition {
    let is_proven = |status: &ContainerStatus| {
        let of_proven = UpdateRecord::of(pod).is_some_and(|record| asked.proven.contains(&record.id));
        let baseline = Baseline::of(pod, &status.name);
        // Where another image was in flight it is not counted; what has started since is of the same spec in any case.
        let was_in_flight = matches!(&baseline, Baseline::Recorded(record) if record.in_flight.is_some());
        of_proven && (was_in_flight || baseline.restarts_since(status) == Some(0))
    };
    let has_stayed = |status| asked.now.is_some_and(|now| evidence::has_stayed(pod, status, now));
    match (condition, status.is_some_and(|status| is_proven(status) || has_stayed(status))) {
        (Condition::Unverified { ready, since, .. }, true) => Condition::Running { ready, since },
        (condition, _) => condition,
    }
}

/// What has just been started again counts as running only once it has stayed, as a rollout has it.
fn unless_restarted(condition: Condition, again: Option<RunningAgain>) -> Condition {
    let is_young = again.is_some_and(|again| again.up_seconds < u64::from(RESTARTED_HOLD_SECONDS));
    match (condition, is_young) {
        (Condition::Running { ready, since }, true) => Condition::Restarted { ready, since },
        (condition, _) => condition,
    }
}

/// Whether the first container of a pod may be of the template's own image, which the runtime shows: admission may have
/// changed the image with a later update of the pod, which has no entry in managedFields.
fn may_be_of_template(pod: &Pod, status: Option<&ContainerStatus>, template: Option<&str>) -> bool {
    pod.generation != Some(1)
        && status.zip(template).is_some_and(|(status, template)| {
            let is_shown = status.restart_count == 0 && image::is_same(&status.image, template);
            is_shown && !evidence::was_compared(pod, &status.name)
        })
}

fn unverified_rewrite(condition: Condition) -> Condition {
    let Condition::Running { ready, since } = condition else { return condition };
    let why = "the runtime shows the template's image, and admission has changed it when the pod was created, or with an update since";
    Condition::Unverified { why: why.to_owned(), ready, since }
}

fn comparison(pod: &Pod, container: &Container, asked: &Asked<'_>, is_older: bool) -> Comparison {
    if asked.own {
        return Comparison::Own;
    }
    let made = asked.made.image(&container.name);
    match asked.image(pod, &container.name) {
        None => Comparison::Injected,
        Some(asked) if asked.image == container.image => Comparison::Same,
        Some(asked) if asked.by_rollout == Some(&container.image) => Comparison::Rewritten,
        Some(asked) if asked.by_rollout.is_some() => Comparison::Pending,
        Some(asked) if is_pin(asked.image, pod, container) => Comparison::Pinned,
        Some(_) if made == Some(&container.image) => Comparison::Rewritten,
        Some(_) if made.is_some_and(|made| is_pin(made, pod, container)) => Comparison::Pinned,
        Some(_) if is_older || !pod.is_present() => Comparison::Older,
        Some(_) => Comparison::Drifted,
    }
}

fn condition(pod: &Pod, list: ContainerList, container: &Container, status: Option<&ContainerStatus>) -> Condition {
    // A plain init container does not run again for another image.
    let restarts = container.is_long_lived(list);
    let baseline = if restarts { Baseline::of(pod, &container.name) } else { Baseline::Created };
    let changed = matches!(baseline, Baseline::Recorded(_) | Baseline::Set(_));
    let not_running = |waiting: Option<Waiting>| match changed {
        true => Condition::Updating { waiting },
        false => Condition::Starting { waiting },
    };
    let Some(status) = status else { return not_running(None) };
    let ended = status.state.terminated.as_ref();
    if pod.is_finished() || !restarts && ended.is_some_and(|ended| ended.exit_code == 0) {
        return Condition::Ended { exit_code: ended.map(|ended| ended.exit_code) };
    }
    // A status that is older than the spec says nothing about it, neither good nor bad.
    let unseen = changed && pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation);
    if let Some(running) = &status.state.running {
        let since = running.started_at.clone();
        return match evidence::one_look(pod, &baseline, container, status) {
            Proof::New => Condition::Running { ready: status.ready, since },
            Proof::Unverified(why) if !unseen => Condition::Unverified { why, ready: status.ready, since },
            Proof::Old | Proof::Unverified(_) => Condition::Updating { waiting: None },
        };
    }
    if unseen {
        return Condition::Updating { waiting: None };
    }
    if let Some(down) = pod.stays_down(&container.name, None) {
        let is_new = baseline.ended_after(down.ended) == Some(true);
        return match down.ended.exit_code {
            0 if is_new => Condition::Ended { exit_code: Some(0) },
            _ => Condition::Failed(failure::of_down(&container.name, &down, is_new, None).0),
        };
    }
    if let Some(failure) = failure(&baseline, container, status) {
        return Condition::Failed(failure);
    }
    let waiting = status.state.waiting.clone().or_else(|| ended.map(as_waiting));
    let last = ended.or(status.last_state.terminated.as_ref());
    let has_run = last
        .is_some_and(|last| baseline.is_newer(last.container_id.as_deref(), last.started_at.as_deref()) == Some(true));
    if has_run { Condition::Starting { waiting } } else { not_running(waiting) }
}

/// Judges a container that does not run, as `follow` does in its first visit: what must last to count does not yet.
fn failure(baseline: &Baseline, container: &Container, status: &ContainerStatus) -> Option<Failure> {
    let (old_image, old_waiting, old_bits) = baseline.before(status);
    let is_new = |ended: &Terminated| baseline.ended_after(ended);
    let (failure, urgency) =
        failure::judge(status, is_new, baseline.restarts_since(status), old_image, &container.image)?;
    let crashed = failure.exit_code.is_some();
    let of_before =
        old_waiting == Some(failure.reason.as_str()) && !crashed && !failure.message.contains(&container.image);
    // Between two runs the kubelet shows the end itself for a while: one that has ended before, too, does not stay.
    let ended_before = status.last_state.terminated.as_ref().filter(|last| last.exit_code != 0);
    let ends_again = urgency == Urgency::IfItStaysEnded && ended_before.and_then(is_new) == Some(true);
    // The container may be one that the kubelet made before it knew the image; the second after it is not.
    let is_loop = baseline.restarts_since(status).is_some_and(|restarts| restarts >= RESTARTS_OF_A_LOOP);
    let may_be_old = crashed && old_bits && !is_loop;
    ((urgency == Urgency::AtOnce || ends_again) && !of_before && !may_be_old).then_some(failure)
}

/// A container that has ended and is about to be made again.
fn as_waiting(ended: &Terminated) -> Waiting {
    let message = match ended.message.as_str() {
        "" => format!("exit code {}", ended.exit_code),
        message => format!("exit code {}: {message}", ended.exit_code),
    };
    Waiting { reason: ended.reason.clone(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Condition;
    use crate::status::tests::{CREATED, LATER, SET, Side, deployment, live, running};
    use crate::status::{NextAction, status};

    /// A kubelet does not start it again: what it says of the image is nothing that will be.
    #[test]
    fn what_is_not_started_again_has_failed_or_ended() {
        let ended = |code: i64, id: &str| {
            json!({"imageID": "sha256:v1", "restartCount": 0, "ready": false, "containerID": id,
                "state": {"terminated": {"exitCode": code, "containerID": id, "reason": "Error"}}})
        };
        let set = |side: Side| {
            let mut pod = side.pod();
            for container in pod["spec"]["containers"].as_array_mut().unwrap() {
                container["restartPolicy"] = "Never".into();
            }
            pod
        };
        let recorded =
            |status: Value| Side::new("acme/side:v2", SET, status).recorded("containerd://old", &Value::Null);
        for (what, pod, expected, reason) in [
            ("its image was never started", set(recorded(ended(0, "containerd://old"))), "failed", "NotStartedAgain"),
            ("it crashed", set(recorded(ended(3, "containerd://new"))), "failed", "Error"),
            ("it did what it does", set(recorded(ended(0, "containerd://new"))), "ended", ""),
            ("it is started again", recorded(ended(3, "containerd://new")).pod(), "starting", ""),
        ] {
            let found = status(&live(deployment("acme/side:v2"), &[pod]));
            let container = found.pods[0].containers.iter().find(|report| report.container.as_str() == "side").unwrap();
            assert_eq!(container.condition.word(), expected, "{what}");
            let failure = if let Condition::Failed(failure) = &container.condition { Some(failure) } else { None };
            assert_eq!(failure.map_or("", |failure| &failure.reason), reason, "{what}");
            let replaces =
                found.next.iter().any(|next| matches!(&next.action, NextAction::Replace(pods) if pods.len() == 1));
            assert_eq!(replaces, expected == "failed", "{what}");
        }
    }

    /// The kubelet's events and earlier statuses are gone; that the rollout of the record has ended complete is as
    /// good.
    #[test]
    fn what_its_rollout_has_proven_is_not_unverified() {
        // The runtime may show any name of a digest.
        let same_bits = |restarts: i64| {
            json!({"image": "acme/side:same", "imageID": "sha256:v1", "restartCount": restarts,
            "state": {"running": {"startedAt": LATER}}})
        };
        // Where another image was in flight it is not counted how many containers there were.
        for (outcome, restarts, in_flight, expected) in [
            ("complete", 1, None, "ready"),
            ("aborted", 1, None, "ready"),
            ("superseded", 1, None, "unverified"),
            ("complete", 2, None, "unverified"),
            ("aborted", 2, Some("acme/side:v3"), "ready"),
            ("superseded", 2, Some("acme/side:v3"), "unverified"),
        ] {
            let mut side =
                Side::new("acme/side:v2", SET, same_bits(restarts)).recorded("containerd://old", &Value::Null);
            if let Some(record) = &mut side.record {
                let record = &mut record["containers"]["side"];
                (record["restarts"], record["inFlight"]) = (0.into(), in_flight.into());
            }
            let mut owner = deployment("acme/side:v2");
            let entry = json!({"id": "20260301-100000-000001", "who": "jane", "since": SET, "ended": LATER, "outcome": outcome, "direction": "forward",
                "change": {"images": {"side": {"list": "containers", "from": "acme/side:v1", "to": "acme/side:v2"}}}});
            owner["metadata"]["annotations"] = json!({"kubectl-inplace.io/history": json!([entry]).to_string()});
            let found = status(&live(owner, &[side.pod()]));
            assert_eq!(found.pods[0].containers[0].condition.word(), expected, "{outcome} {restarts}");
        }
    }

    /// One entry of managedFields has the time of the last write of several images: what the kubelet has left since is the
    /// image asked for.
    #[test]
    fn a_container_that_the_kubelet_has_left_for_long_is_not_unverified_for_ever() {
        for (now, generation, expected) in [
            ("2026-03-01T10:00:20Z", 2, "unverified"),
            ("2026-03-01T10:10:00Z", 2, "ready"),
            // The kubelet has not seen the spec.
            ("2026-03-01T10:10:00Z", 3, "updating"),
        ] {
            let mut pod = Side::new("acme/side:v1", SET, running(CREATED)).pod();
            pod["metadata"]["generation"] = generation.into();
            let mut live = live(deployment("acme/side:v1"), &[pod]);
            live.surroundings.server_now = Some(now.into());
            let found = status(&live).pods.remove(0).containers;
            let side = found.iter().find(|report| report.container.as_str() == "side").unwrap();
            assert_eq!(side.condition.word(), expected, "{now} {generation}");
        }
    }
}
