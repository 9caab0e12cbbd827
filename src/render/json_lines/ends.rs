//! What the lines at the end of a rollout hold besides each pod: the failure report, and the steps.

use std::time::Duration;

use serde::Serialize;

use super::{Phase, seconds};
use crate::render::json::WorkloadName;
use engine::k8s::events::Event;
use engine::k8s::names::{ContainerName, PodKey};
use engine::report::failure_report::{FailedPod, FailureReport, Instance};
use engine::state::durable::StepName;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
    step: StepName,
    elapsed_seconds: f64,
}

impl Step {
    pub(super) fn of(step: StepName, elapsed: Duration) -> Self {
        Self { step, elapsed_seconds: seconds(elapsed) }
    }
}

/// The line `failureReport`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report<'a> {
    workload: WorkloadName<'a>,
    pods: Vec<Failed<'a>>,
    omitted: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed<'a> {
    #[serde(flatten)]
    pod: &'a PodKey,
    node: Option<&'a str>,
    container: Option<&'a str>,
    image: Option<&'a str>,
    reason: &'a str,
    message: &'a str,
    exit_code: Option<i64>,
    signal: Option<i64>,
    restarts: Option<i64>,
    restarts_since_update: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_before: Option<&'a str>,
    log: Option<Log<'a>>,
    events: Vec<Reported<'a>>,
    time_line: Vec<Seen<'a>>,
    not_read: &'a [String],
}

#[derive(Serialize)]
struct Log<'a> {
    instance: Instance,
    lines: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reported<'a> {
    time: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time: Option<&'a str>,
    r#type: &'a str,
    reason: &'a str,
    message: &'a str,
    container: Option<&'a str>,
    count: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Seen<'a> {
    elapsed_seconds: f64,
    #[serde(flatten)]
    phase: Phase<'a>,
}

impl<'a> Report<'a> {
    pub(super) fn of(report: &'a FailureReport) -> Self {
        Self {
            workload: WorkloadName::of(&report.workload),
            pods: report.pods.iter().map(Failed::of).collect(),
            omitted: report.left_out,
        }
    }
}

impl<'a> Failed<'a> {
    fn of(pod: &'a FailedPod) -> Self {
        let reported = |event: &'a Event| Reported {
            time: &event.time,
            first_time: event.first_time.as_deref(),
            r#type: &event.kind,
            reason: &event.reason,
            message: &event.message,
            container: event.container.as_ref().map(ContainerName::as_str),
            count: event.count,
        };
        let seen = pod.time_line.iter();
        Self {
            pod: &pod.pod,
            node: pod.node.as_deref(),
            container: pod.container.as_ref().map(ContainerName::as_str),
            image: pod.image.as_deref(),
            reason: &pod.reason,
            message: &pod.message,
            exit_code: pod.exit_code,
            signal: pod.signal,
            restarts: pod.restarts,
            restarts_since_update: pod.restarts_since_update,
            failed_before: pod.failed_before.as_deref(),
            log: pod.log.as_ref().map(|log| Log { instance: log.instance, lines: &log.lines }),
            events: pod.events.iter().map(reported).collect(),
            time_line: seen
                .map(|moment| Seen { elapsed_seconds: seconds(moment.at), phase: Phase::of(&moment.phase) })
                .collect(),
            not_read: &pod.not_read,
        }
    }
}
