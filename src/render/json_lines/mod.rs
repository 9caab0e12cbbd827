//! The listener for scripts: one JSON object a line on stdout, each with `type`, `version` and `elapsedSeconds`; the
//! last one of a rollout is `summary` and has its `result`.
//!
//! Promise: as for the plan's document, fields are added, never renamed or taken away, within one `version`.

mod ends;

use std::io;
use std::time::Duration;

use serde::Serialize;

use engine::k8s::failure::Failure;
use engine::k8s::names::{ContainerName, PodKey};
use engine::report::failure_report::FailureReport;
use engine::report::progress::{PodProgress, Progress};
use engine::report::proof::Proof;
use engine::report::{ContainerEnd, NotReady, Notice, Outcome, PodEnd, Standing, StandingField};
use engine::rollout::{Goal, Mode, PodGoal};
use engine::state::durable::StepName;
use engine::state::hook::{HookEnd, HookPhase};

use super::json::WorkloadName;
use super::run::{NextSteps, Run};
use super::style::Style;
use super::tally::Tally;
use super::{Listener, Writer, escape, words};

const LINES_VERSION: &str = "v1alpha1";

pub struct JsonLines<'a> {
    out: Writer<'a>,
    /// For lines that are not of the document: the output of the user's own command.
    err: Option<Writer<'a>>,
    run: Option<Run>,
    steps: Vec<(StepName, Duration)>,
    names_workload: bool,
}

impl<'a> JsonLines<'a> {
    /// Returns a listener that writes to `out`.
    pub fn new(out: Writer<'a>) -> Self {
        Self { out, err: None, run: None, steps: Vec::new(), names_workload: false }
    }

    /// A plain init container takes its new image without a restart; unknown containers are taken to restart.
    fn restarts(&self, pod: &PodEnd, container: &ContainerName) -> bool {
        let goal = self.run.as_ref().and_then(|run| run.pod(&pod.pod)).and_then(|goal| goal.containers.get(container));
        goal.is_none_or(|goal| goal.restarts)
    }

    /// Writes what is no line of the document there; nowhere otherwise.
    #[must_use]
    pub fn progress(mut self, err: Writer<'a>) -> Self {
        self.err = Some(err);
        self
    }

    /// Says on each line whose it is.
    #[must_use]
    pub fn side_by_side(mut self, side_by_side: bool) -> Self {
        self.names_workload = side_by_side;
        self
    }

    fn write(&mut self, name: &str, elapsed: Duration, body: &impl Serialize) -> io::Result<()> {
        let mut line = line(name, elapsed, body)?;
        if let (Some(run), Some(fields)) = (self.run.as_ref().filter(|_| self.names_workload), line.as_object_mut()) {
            let workload = serde_json::to_value(WorkloadName::of(&run.workload)).map_err(io::Error::other)?;
            fields.entry("workload").or_insert(workload);
        }
        writeln!(self.out, "{}", escape::json(&line.to_string()))?;
        self.out.flush()
    }
}

impl JsonLines<'_> {
    /// The notice's own fields, under the name that it has as a line.
    fn pull(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        let mut fields = serde_json::to_value(notice).map_err(io::Error::other)?;
        let name = fields.as_object_mut().and_then(|fields| fields.remove("type"));
        let name = name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        self.write(&name, elapsed, &fields)
    }
}

impl Listener for JsonLines<'_> {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        let body = Start {
            workload: WorkloadName::of(&goal.workload),
            id: &goal.id.to_string(),
            mode: match goal.mode {
                Mode::Durable => "durable",
                Mode::PodsOnly => "podsOnly",
                Mode::Follow => "follow",
            },
            max_unavailable: goal.policy.max_unavailable,
            pods: goal.pods.iter().map(|pod| Wanted::of(pod)).collect(),
        };
        self.write("start", Duration::ZERO, &body)?;
        self.run = Some(Run::of(goal, next));
        self.steps.clear();
        Ok(())
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        match notice {
            Notice::Pod { pod, phase } => self.write("pod", elapsed, &PodLine { pod, phase: Phase::of(phase) }),
            Notice::Owner { step } => {
                self.steps.push((*step, elapsed));
                self.write("owner", elapsed, &OwnerLine { step: *step, message: step.done() })
            }
            Notice::WaitsToBegin { why } => self.write("waitsToBegin", elapsed, &Message { message: why }),
            Notice::WaitsToEnd { why } => self.write("waitsToEnd", elapsed, &Message { message: why }),
            Notice::BudgetsUnreadable { why } => self.write("budgetsUnreadable", elapsed, &Message { message: why }),
            Notice::DisruptionBudgetHolds { .. }
            | Notice::PullBegins { .. }
            | Notice::Pulled { .. }
            | Notice::PrePullSkipped { .. }
            | Notice::TagDiffersByNode { .. } => self.pull(notice, elapsed),
            Notice::HookBegins { pod, hook } => {
                self.write("hookBegins", elapsed, &HookLine { pod, hook: *hook, end: None })
            }
            Notice::HookEnded { pod, hook, end } => {
                let end = Some(end.clone());
                self.write("hookEnded", elapsed, &HookLine { pod, hook: *hook, end })
            }
            Notice::Drain { pod, why } => self.write("drain", elapsed, &Retrying { pod, message: why }),
            Notice::Evidence { pod, container, why } => {
                let line = EvidenceLine { pod, container: container.as_str(), message: why };
                self.write("evidence", elapsed, &line)
            }
            Notice::Retrying { pod, why } => self.write("retrying", elapsed, &Retrying { pod, message: why }),
            Notice::NotPatched { pod, why } => self.write("notPatched", elapsed, &Retrying { pod, message: why }),
            Notice::WatchLost { why } => self.write("watchLost", elapsed, &Message { message: why }),
            Notice::WatchRestored => self.write("watchRestored", elapsed, &Nothing {}),
            Notice::BudgetHolds { down, allowed } => {
                self.write("budgetHolds", elapsed, &Budget { down: *down, allowed: *allowed })
            }
            Notice::StillWaiting { done, total, pods, why } => {
                let pods = pods.iter().collect();
                self.write(
                    "stillWaiting",
                    elapsed,
                    &StillWaiting { done: *done, total: *total, pods, why: why.as_deref() },
                )
            }
            Notice::Stopping => self.write("stopping", elapsed, &Nothing {}),
        }
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, _elapsed: Duration) -> io::Result<()> {
        let Some(err) = &mut self.err else { return Ok(()) };
        writeln!(err, "{}", words::hook_line(&Style::PLAIN, pod, hook, line))?;
        err.flush()
    }

    fn tick(&mut self, _progress: &Progress, _elapsed: Duration) -> io::Result<()> {
        Ok(())
    }

    fn next_tick(&self) -> Option<Duration> {
        None
    }

    fn failure_report(&mut self, report: &FailureReport, elapsed: Duration) -> io::Result<()> {
        self.write("failureReport", elapsed, &ends::Report::of(report))
    }

    fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        let next = self.run.as_ref().map(|run| run.next.clone()).unwrap_or_default();
        let tally = Tally::of(outcome);
        let fields = |pod: &PodKey| self.run.as_ref().and_then(|run| Some(&run.pod(pod)?.fields));
        let proof = Proof::of(outcome, |pod, name| self.restarts(pod, name), fields);
        let is_durable = self.run.as_ref().is_some_and(|run| run.mode == Mode::Durable);
        let next = if is_durable { next.that_fit(outcome) } else { next };
        let body = Summary {
            workload: WorkloadName::of(&outcome.workload),
            result: outcome.result.word(),
            exit_code: next.after.unwrap_or(outcome.result).exit_code(),
            message: outcome.why.as_deref(),
            nothing_changed: outcome.nothing_changed,
            not_started: tally.not_started,
            tally,
            replaced: outcome.pods.iter().filter(|end| end.replaced).count(),
            pods: outcome.pods.iter().map(End::of).collect(),
            standing: &outcome.standing,
            standing_fields: &outcome.standing_fields,
            proof,
            steps: self.steps.iter().map(|(step, at)| ends::Step::of(*step, *at)).collect(),
            roll_back: next.take_back,
            resume: next.go_on,
            abort: next.abort,
            follow: next.follow.filter(|_| !outcome.nothing_more),
        };
        self.write("summary", words::from_seconds(outcome.seconds), &body)
    }
}

pub(super) fn line(name: &str, elapsed: Duration, body: &impl Serialize) -> io::Result<serde_json::Value> {
    let line = Line { r#type: name, version: LINES_VERSION, elapsed_seconds: seconds(elapsed), body };
    serde_json::to_value(&line).map_err(io::Error::other)
}

/// Milliseconds are as exact as anything here.
fn seconds(elapsed: Duration) -> f64 {
    let millis = u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX);
    f64::from(millis) / 1000.0
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, B> {
    r#type: &'a str,
    version: &'a str,
    elapsed_seconds: f64,
    #[serde(flatten)]
    body: &'a B,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Message<'a> {
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    workload: WorkloadName<'a>,
    id: &'a str,
    mode: &'a str,
    max_unavailable: u32,
    pods: Vec<Wanted<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wanted<'a> {
    #[serde(flatten)]
    pod: &'a PodKey,
    containers: Vec<WantedContainer<'a>>,
    /// Whose cpu or memory changes.
    resized: Vec<&'a str>,
    resized_as_a_whole: bool,
}

#[derive(Serialize)]
struct WantedContainer<'a> {
    container: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    restarts: bool,
}

impl<'a> Wanted<'a> {
    fn of(goal: &'a PodGoal) -> Self {
        let containers = goal.containers.iter().map(|(name, wanted)| WantedContainer {
            container: name.as_str(),
            from: wanted.from.as_deref(),
            to: wanted.to.as_deref().or(wanted.asks.as_deref()),
            restarts: wanted.restarts,
        });
        Self {
            pod: &goal.key,
            containers: containers.collect(),
            resized: goal.fields.resized().map(ContainerName::as_str).collect(),
            resized_as_a_whole: goal.fields.resizes_as_a_whole(),
        }
    }
}

#[derive(Serialize)]
struct PodLine<'a> {
    pod: &'a PodKey,
    #[serde(flatten)]
    phase: Phase<'a>,
}

/// A phase, flat: what it does not have is left out.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Phase<'a> {
    phase: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    services: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<HookPhase>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "nextContainers")]
    containers: Option<Vec<&'a str>>,
}

fn names(containers: &[ContainerName]) -> Option<Vec<&str>> {
    (!containers.is_empty()).then(|| containers.iter().map(ContainerName::as_str).collect())
}

impl<'a> Phase<'a> {
    fn named(phase: &'a str) -> Self {
        Self { phase, ..Self::default() }
    }

    fn of(phase: &'a PodProgress) -> Self {
        match phase {
            PodProgress::Waiting => Self::named("waiting"),
            PodProgress::Hook { hook } => Self { hook: Some(*hook), ..Self::named("hook") },
            PodProgress::Next { containers } => {
                Self { containers: Some(containers.iter().map(ContainerName::as_str).collect()), ..Self::named("next") }
            }
            PodProgress::Draining { services } => Self { services: Some(services), ..Self::named("draining") },
            PodProgress::RejoiningService { services } => Self { services: Some(services), ..Self::named("rejoining") },
            PodProgress::Patched => Self::named("patched"),
            PodProgress::Restarting { containers, waiting, until } => Self {
                containers: names(containers),
                reason: waiting.as_deref(),
                until: until.as_deref(),
                ..Self::named("restarting")
            },
            PodProgress::Resizing { why, deferred_by: None } => {
                Self { message: why.as_deref(), ..Self::named("resizing") }
            }
            PodProgress::Resizing { why, deferred_by: Some(node) } => {
                Self { message: why.as_deref(), node: Some(node), ..Self::named("resizeDeferred") }
            }
            PodProgress::Left { why, node } => {
                Self { message: why.as_deref(), node: Some(node), ..Self::named("resizeLeft") }
            }
            PodProgress::Starting { containers } => Self { containers: names(containers), ..Self::named("starting") },
            PodProgress::Stabilizing { hold_seconds } => {
                Self { hold_seconds: Some(*hold_seconds), ..Self::named("stabilizing") }
            }
            PodProgress::Unverified { containers, why } => {
                Self { containers: names(containers), message: Some(why), ..Self::named("unverified") }
            }
            PodProgress::Done => Self::named("done"),
            PodProgress::Failing(failure) => Self::failing(failure),
            PodProgress::Conflict { container, image } => {
                Self { container: Some(container.as_str()), image: Some(image), ..Self::named("conflict") }
            }
            PodProgress::Overtaken { why } => Self { message: Some(why), ..Self::named("conflict") },
            PodProgress::Gone { why } => Self { message: Some(why), ..Self::named("gone") },
        }
    }

    fn failing(failure: &'a Failure) -> Self {
        Self {
            container: failure.container.as_ref().map(ContainerName::as_str),
            reason: Some(&failure.reason),
            message: Some(&failure.message),
            exit_code: failure.exit_code,
            ..Self::named("failing")
        }
    }
}

#[derive(Serialize)]
struct OwnerLine<'a> {
    step: StepName,
    message: &'a str,
}

#[derive(Serialize)]
struct EvidenceLine<'a> {
    pod: &'a PodKey,
    container: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Retrying<'a> {
    pod: &'a PodKey,
    message: &'a str,
}

#[derive(Serialize)]
struct HookLine<'a> {
    pod: &'a PodKey,
    hook: HookPhase,
    #[serde(flatten)]
    end: Option<HookEnd>,
}

#[derive(Serialize)]
struct Budget {
    down: u32,
    allowed: u32,
}

#[derive(Serialize)]
struct StillWaiting<'a> {
    done: usize,
    total: usize,
    pods: Vec<&'a PodKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    workload: WorkloadName<'a>,
    result: &'a str,
    exit_code: u8,
    message: Option<&'a str>,
    nothing_changed: bool,
    #[serde(flatten)]
    tally: Tally,
    replaced: usize,
    not_started: usize,
    pods: Vec<End<'a>>,
    standing: &'a [Standing],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    standing_fields: &'a [StandingField],
    proof: Proof,
    steps: Vec<ends::Step>,
    roll_back: Option<String>,
    resume: Option<String>,
    abort: Option<String>,
    follow: Option<String>,
}

#[derive(Serialize)]
struct End<'a> {
    #[serde(flatten)]
    pod: &'a PodKey,
    #[serde(flatten)]
    phase: Phase<'a>,
    patched: bool,
    replaced: bool,
    containers: Vec<Ended<'a>>,
    unplanned: Vec<&'a str>,
    #[serde(rename = "asBefore", skip_serializing_if = "Vec::is_empty")]
    as_before: Vec<&'a str>,
    #[serde(rename = "notReady", skip_serializing_if = "Option::is_none")]
    not_ready: Option<&'a NotReady>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    container: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    ended_at: Option<&'a str>,
    started_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running_since: Option<&'a str>,
    pull_seconds: Option<f64>,
    down_seconds: Option<i64>,
    ready_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unplanned_restarts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
}

impl<'a> End<'a> {
    fn of(end: &'a PodEnd) -> Self {
        let ended = |end: &'a ContainerEnd| Ended {
            container: end.container.as_str(),
            from: end.from.as_deref(),
            to: end.to.as_deref(),
            ended_at: end.times.ended_at.as_deref(),
            started_at: end.times.started_at.as_deref(),
            running_since: end.times.running_since.as_deref(),
            pull_seconds: end.times.pull_seconds,
            down_seconds: end.down_seconds,
            ready_seconds: end.times.ready_seconds,
            unplanned_restarts: end.again.as_ref().map(|again| again.times),
            exit_code: end.again.as_ref().and_then(|again| again.exit_code),
        };
        Self {
            pod: &end.pod,
            phase: Phase::of(&end.phase),
            patched: end.patched,
            replaced: end.replaced,
            containers: end.containers.iter().map(ended).collect(),
            unplanned: end.unplanned.iter().map(ContainerName::as_str).collect(),
            as_before: end.as_before.iter().map(ContainerName::as_str).collect(),
            not_ready: end.not_ready.as_ref(),
        }
    }
}
