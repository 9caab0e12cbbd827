//! What the lines at the end of a rollout hold besides each pod: the failure report, and the proof in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::{Phase, PodName, seconds};
use crate::render::json::WorkloadName;
use engine::k8s::events::Event;
use engine::k8s::names::ContainerName;
use engine::report::failure_report::{FailedPod, FailureReport, Instance};
use engine::report::proof::{self, ContainerProof};
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Proof<'a> {
    restarted_as_planned: Vec<InPods<'a>>,
    restarted_not_planned: Vec<InPods<'a>>,
    resized: Vec<Resized<'a>>,
    resized_as_a_whole: usize,
    replaced: Vec<Replaced<'a>>,
    times: Vec<Times<'a>>,
}

#[derive(Serialize)]
struct InPods<'a> {
    container: &'a str,
    pods: usize,
    restarts: usize,
}

#[derive(Serialize)]
struct Resized<'a> {
    container: &'a str,
    pods: usize,
}

#[derive(Serialize)]
struct Replaced<'a> {
    #[serde(flatten)]
    pod: PodName<'a>,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Times<'a> {
    container: &'a str,
    pull_seconds: Option<Spread>,
    down_seconds: Option<Spread>,
    ready_seconds: Option<Spread>,
}

#[derive(Serialize)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
    pods: usize,
}

impl From<proof::Spread> for Spread {
    fn from(spread: proof::Spread) -> Self {
        Self { min: spread.min, median: spread.median, max: spread.max, pods: spread.count }
    }
}

impl<'a> Proof<'a> {
    pub(super) fn of(proof: &'a proof::Proof) -> Self {
        let times = |times: &'a ContainerProof| Times {
            container: times.container.as_str(),
            pull_seconds: times.pull.map(Spread::from),
            down_seconds: times.down.map(Spread::from),
            ready_seconds: times.ready.map(Spread::from),
        };
        Self {
            restarted_as_planned: in_pods(&proof.planned, &proof.twice),
            restarted_not_planned: in_pods(&proof.collateral, &proof.collateral_more),
            resized: proof
                .resized
                .iter()
                .map(|(name, pods)| Resized { container: name.as_str(), pods: *pods })
                .collect(),
            resized_as_a_whole: proof.resized_as_a_whole,
            replaced: proof
                .replaced
                .iter()
                .map(|(pod, why)| Replaced { pod: PodName::of(pod), message: why })
                .collect(),
            times: proof.times.iter().map(times).collect(),
        }
    }
}

fn in_pods<'a>(counts: &'a BTreeMap<ContainerName, usize>, more: &BTreeMap<ContainerName, usize>) -> Vec<InPods<'a>> {
    let restarts = |name, pods: usize| pods + more.get(name).copied().unwrap_or(0);
    let counts = counts.iter();
    counts
        .map(|(name, pods)| InPods { container: name.as_str(), pods: *pods, restarts: restarts(name, *pods) })
        .collect()
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
    pod: PodName<'a>,
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
            pod: PodName::of(&pod.pod),
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
