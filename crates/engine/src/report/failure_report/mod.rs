//! The report of a failed rollout, shown without asking for it: for each failing pod the container, why,
//! its last log lines, the newest events, and what was seen of it and when.
//!
//! Promise: no environment value is in it; what looks like a credential in words of others is masked ([`crate::k8s::mask`]).
//! Reading is the shell's; here is what to read, and what to keep of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::k8s::events::{self, Event};
use crate::k8s::failure::Failure;
use crate::k8s::mask;
use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::k8s::pod::{ContainerList, ContainerStatus, Pod, Terminated};
use crate::report::progress::UpdatePhase;
use crate::report::{Outcome, PodEnd};
use crate::state::evidence::Baseline;
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

pub const MOST_PODS: usize = 5;
pub const MOST_EVENTS: usize = 8;

/// Of a log.
pub const MOST_LINES: usize = 20;
pub const MOST_BYTES: usize = 16 * 1024;

/// Of a pod's time line: the last ones.
pub const MOST_MOMENTS: usize = 30;

/// The reason of a pod that only timed out.
pub const LATE: &str = "TimedOut";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureReport {
    pub workload: WorkloadRef,
    /// The pods that failed, or that were late, in the order of the goal.
    pub pods: Vec<FailedPod>,
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedPod {
    #[serde(flatten)]
    pub pod: PodKey,
    pub node: Option<String>,
    /// The container; absent when the pod as a whole is meant.
    pub container: Option<ContainerName>,
    pub image: Option<String>,
    /// CamelCase.
    pub reason: String,
    /// The kubelet's, the runtime's, the registry's or the server's words.
    pub message: String,
    /// Of the container that ended.
    pub exit_code: Option<i64>,
    /// Likewise, where the runtime reports it.
    pub signal: Option<i64>,
    /// Restarts of the container, image changes included.
    pub restarts: Option<i64>,
    /// Those since the update, without its own; `None` where they are not counted.
    pub restarts_since_update: Option<u64>,
    /// What the container waited with when the update began, where it is recorded: it failed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_before: Option<String>,
    /// Its last words; `None` where no container of the new image started, or they could not be read.
    pub log: Option<Log>,
    pub events: Vec<Event>,
    pub time_line: Vec<Moment>,
    pub not_read: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    pub instance: Instance,
    /// The last lines, without credentials.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Instance {
    Previous,
    /// The present one, also where it has ended.
    Current,
}

/// What a pod was seen to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Since the start of the rollout.
    pub at: Duration,
    pub phase: UpdatePhase,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    pub pod: Option<Pod>,
    /// The end of the log of [`wanted_log`].
    pub log: Option<(Instance, String)>,
    pub events: Vec<Event>,
    pub not_read: Vec<String>,
}

/// Returns the pods that are to be reported on, and how many more there are.
pub fn failing(outcome: &Outcome) -> (Vec<&PodEnd>, usize) {
    let is_late = outcome.result == EndResult::TimedOut;
    let has_ended = matches!(outcome.result, EndResult::Failed | EndResult::TimedOut);
    let is_wanted = |end: &&PodEnd| {
        has_ended
            && (matches!(end.phase, UpdatePhase::Failing(_))
                || (is_late && (end.is_in_progress() || matches!(end.phase, UpdatePhase::Hook { .. }))))
    };
    let mut pods: Vec<&PodEnd> = outcome.pods.iter().filter(is_wanted).collect();
    let left_out = pods.len().saturating_sub(MOST_PODS);
    pods.truncate(MOST_PODS);
    (pods, left_out)
}

/// Returns the container that a pod's report is about: the one that failed, else the first that is waited for, or that is
/// not ready. One that is being stopped is shown as ready until the next one starts.
pub fn container_of(end: &PodEnd, pod: &Pod) -> Option<ContainerName> {
    let unready = |name: &&ContainerName| pod.status_of(name).is_none_or(|status| !status.ready);
    if let UpdatePhase::Failing(failure) = &end.phase {
        let is_late = failure.reason == LATE && end.patched;
        let late = || end.containers.iter().map(|end| &end.container).find(unready).filter(|_| is_late);
        return failure.container.as_ref().or_else(late).cloned();
    }
    let late = end.phase.late();
    let is_late = |name: &&ContainerName| late.is_empty() || late.contains(name);
    let mut names = end.containers.iter().map(|end| &end.container).filter(is_late);
    // Where those that change are ready, one that does not keeps the pod from it.
    let mut others = pod.statuses(ContainerList::Containers).iter().filter(|status| late.is_empty() && !status.ready);
    let mut other = || others.next().map(|status| &status.name);
    names.clone().find(unready).or_else(&mut other).or_else(|| names.next()).cloned()
}

/// Returns which instance's log shows the failure: the one that ended, else the one that runs. `None` where no
/// container of the new image has started: the log would be the old container's.
pub fn wanted_log(pod: &Pod, name: &ContainerName) -> Option<Instance> {
    let status = pod.status_of(name)?;
    let baseline = Baseline::of(pod, name);
    let ran = |ended: &Terminated| {
        let started = !matches!(ended.reason.as_str(), "StartError" | "ContainerCannotRun");
        started && is_new(&baseline, ended)
    };
    let runs = |started: Option<&str>| baseline.is_newer(status.container_id.as_deref(), started) != Some(false);
    if status.state.terminated.as_ref().is_some_and(ran) {
        Some(Instance::Current)
    } else if status.last_state.terminated.as_ref().is_some_and(ran) {
        Some(Instance::Previous)
    } else if status.state.running.as_ref().is_some_and(|running| runs(running.started_at.as_deref())) {
        Some(Instance::Current)
    } else {
        None
    }
}

impl FailedPod {
    pub fn of(end: &PodEnd, findings: Findings, time_line: Vec<Moment>) -> Self {
        let Findings { pod, log, events, not_read } = findings;
        let container = match (&pod, &end.phase) {
            (Some(pod), _) => container_of(end, pod),
            (None, UpdatePhase::Failing(failure)) => failure.container.clone(),
            (None, _) => None,
        };
        let known = pod.as_ref().zip(container.as_ref());
        let status = known.and_then(|(pod, name)| pod.status_of(name));
        let compared = known.and_then(|(pod, name)| Some((pod.status_of(name)?, Baseline::of(pod, name))));
        let ended = compared.as_ref().and_then(|(status, baseline)| last_ended(status, baseline));
        let (reason, message, exit_code) = why(end, status, pod.as_ref());
        let set_at = known.and_then(|(pod, name)| UpdateRecord::set_at(pod, name));
        let of_it = match &container {
            Some(container) => events::of_update(events, container, set_at.as_deref()),
            None => events,
        };
        let skipped = time_line.len().saturating_sub(MOST_MOMENTS);
        Self {
            pod: end.pod.clone(),
            node: pod.as_ref().map(|pod| pod.spec.node_name.clone()).filter(|node| !node.is_empty()),
            image: known.and_then(|(pod, name)| pod.spec_of(name)).map(|container| container.image.clone()),
            reason,
            message: mask::text(&message),
            exit_code: exit_code.or(ended.map(|ended| ended.exit_code)),
            signal: ended.and_then(|ended| ended.signal).filter(|signal| *signal != 0),
            restarts: status.map(|status| status.restart_count),
            restarts_since_update: compared.as_ref().and_then(|(status, baseline)| baseline.restarts_since(status)),
            failed_before: compared.as_ref().and_then(|(_, baseline)| baseline.failed_before()).map(str::to_owned),
            log: log.map(|(instance, text)| Log { instance, lines: last_lines(&text) }),
            events: events::newest(of_it, MOST_EVENTS)
                .into_iter()
                .map(|event| Event { message: mask::text(&event.message), ..event })
                .collect(),
            time_line: time_line.into_iter().skip(skipped).map(without_credentials).collect(),
            not_read,
            container,
        }
    }
}

/// Whether a container that ended may be of the new image.
fn is_new(baseline: &Baseline, ended: &Terminated) -> bool {
    baseline.is_newer(ended.container_id.as_deref(), ended.started_at.as_deref()) != Some(false)
}

/// The container of the new image that ended last.
fn last_ended<'s>(status: &'s ContainerStatus, baseline: &Baseline) -> Option<&'s Terminated> {
    let ended = [status.state.terminated.as_ref(), status.last_state.terminated.as_ref()];
    ended.into_iter().flatten().find(|ended| is_new(baseline, ended))
}

fn why(end: &PodEnd, status: Option<&ContainerStatus>, pod: Option<&Pod>) -> (String, String, Option<i64>) {
    if let UpdatePhase::Failing(failure) = &end.phase {
        let waiting = status.and_then(|status| status.state.waiting.as_ref()).filter(|_| failure.reason == LATE);
        let (reason, message) = match (waiting, pod.zip(status).and_then(|(pod, status)| unpassed(pod, status))) {
            (Some(waiting), _) => (&waiting.reason, format!("{}: {}", failure.message, waiting.message)),
            (None, Some(probe)) if failure.reason == LATE => (&failure.reason, format!("{}: {probe}", failure.message)),
            (None, _) => (&failure.reason, failure.message.clone()),
        };
        return (reason.clone(), message, failure.exit_code);
    }
    if let UpdatePhase::Hook { hook } = &end.phase {
        let message = format!("the command of {} had not ended in the pod's time", hook.flag());
        return (LATE.into(), message, None);
    }
    if let Some(waiting) = status.and_then(|status| status.state.waiting.as_ref()) {
        return (waiting.reason.clone(), waiting.message.clone(), None);
    }
    if let Some(node) = pod.and_then(Pod::unready_node) {
        return ("NodeNotReady".into(), format!("node {node} is not ready"), None);
    }
    let ready = pod.and_then(Pod::ready_condition).filter(|ready| ready.status != "True");
    let said = |text: Option<&String>, other: &str| {
        text.filter(|text| !text.is_empty()).map_or(other.to_owned(), Clone::clone)
    };
    match ready {
        Some(ready) => {
            let probe = pod.zip(status).and_then(|(pod, status)| unpassed(pod, status));
            let message = probe.unwrap_or_else(|| said(ready.message.as_ref(), "the pod is not ready"));
            (said(ready.reason.as_ref(), "NotReady"), message, None)
        }
        None => (LATE.into(), "timed out waiting for the condition".into(), None),
    }
}

/// The probe that a container waits for which runs: the kubelet's events have what it answers.
fn unpassed(pod: &Pod, status: &ContainerStatus) -> Option<String> {
    let container = pod.spec_of(&status.name)?;
    let waits_for_startup = container.startup_probe.is_some() && status.started != Some(true);
    let probe = match (waits_for_startup, &container.readiness_probe) {
        (true, _) => "startup",
        (false, Some(_)) => "readiness",
        (false, None) => return None,
    };
    let is_running = status.state.running.is_some() && !status.ready;
    is_running.then(|| format!("{} runs, and its {probe} probe does not pass", status.name))
}

/// The last lines of a log that may begin in the middle of a line.
fn last_lines(text: &str) -> Vec<String> {
    // Masked before it is cut: a private key is recognized by its first line.
    let mut masked: Vec<String> = mask::text(text).lines().map(str::to_owned).collect();
    masked.split_off(masked.len().saturating_sub(MOST_LINES))
}

fn without_credentials(moment: Moment) -> Moment {
    let UpdatePhase::Failing(failure) = &moment.phase else { return moment };
    let failure = Failure { message: mask::text(&failure.message), ..failure.clone() };
    Moment { phase: UpdatePhase::Failing(failure), ..moment }
}

#[cfg(test)]
mod tests;
