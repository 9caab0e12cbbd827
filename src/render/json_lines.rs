//! The listener for scripts: one JSON object a line on stdout, each with `type`, `version` and `elapsedSeconds`; the
//! last one of a rollout is `summary` and has its `result`.
//!
//! Promise: as for the plan's document, fields are added, never renamed or taken away, within one `version`.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use engine::k8s::names::{ContainerName, PodKey};
use engine::report::failure_report::{FailedPod, FailureReport, Moment};
use engine::report::progress::UpdatePhase;
use engine::report::{ContainerEnd, Notice, Outcome, PodEnd};
use engine::rollout::{ContainerGoal, Goal, Mode, PodGoal};
use engine::state::durable::StepName;
use engine::state::hook::HookPhase;

use super::json::{each, hand_over, without_empty};
use super::run::{NextSteps, Run, proof};
use super::style::Style;
use super::workloads::Tally;
use super::{Listener, Out, Writer, escape, words};

const LINES_VERSION: &str = "v1alpha1";

pub struct JsonLines<'a> {
    out: Writer<'a>,
    /// For lines that are not of the document: the output of the user's own command.
    pub(super) err: Option<Writer<'a>>,
    run: Option<Run>,
    steps: Vec<(StepName, Duration)>,
    /// Each line says whose it is.
    pub(super) names_workload: bool,
}

impl<'a> JsonLines<'a> {
    pub fn new(out: Writer<'a>) -> Self {
        Self { out, err: None, run: None, steps: Vec::new(), names_workload: false }
    }

    fn write(&mut self, name: &str, elapsed: Duration, mut fields: Value) -> io::Result<()> {
        if let (Some(run), Some(fields)) = (self.run.as_ref().filter(|_| self.names_workload), fields.as_object_mut()) {
            fields.entry("workload").or_insert(json!(run.workload));
        }
        line(name, elapsed, fields, &mut self.out)?;
        self.out.flush()
    }
}

impl Listener for JsonLines<'_> {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        let fields = json!({ "workload": goal.workload,
            "id": goal.id(),
            "mode": goal.mode(),
            "maxUnavailable": goal.policy().max_unavailable,
            "pods": goal.pods.iter().map(|pod| wanted(pod)).collect::<Value>(),
        });
        self.write("start", Duration::ZERO, fields)?;
        self.run = Some(Run::of(goal, next));
        self.steps.clear();
        Ok(())
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        if let Notice::Owner { step } = notice {
            self.steps.push((*step, elapsed));
        }
        let fields = noticed(notice);
        let name = fields["type"].as_str().unwrap_or_default().to_owned();
        self.write(&name, elapsed, fields)
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, _elapsed: Duration) -> io::Result<()> {
        let Some(err) = &mut self.err else { return Ok(()) };
        writeln!(err, "{}", words::hook_line(&Style::PLAIN, pod, hook, line))?;
        err.flush()
    }

    fn outcome(&mut self, outcome: &Outcome, failure: Option<&FailureReport>) -> io::Result<()> {
        let elapsed = words::from_seconds(outcome.seconds);
        if let Some(report) = failure {
            let fields = json!({
                "workload": report.workload, "pods": each(&report.pods, failed), "omitted": report.left_out,
            });
            self.write("failureReport", elapsed, fields)?;
        }
        let next = self.run.as_ref().map(|run| run.next.clone()).unwrap_or_default();
        let is_durable = self.run.as_ref().is_some_and(|run| run.mode == Mode::Durable);
        let next = if is_durable { next.that_fit(outcome) } else { next };
        let tally = Tally::of(outcome);
        let head = json!({
            "workload": outcome.workload,
            "result": outcome.result.word(),
            "exitCode": next.after.unwrap_or(outcome.result).exit_code(),
            "message": outcome.why,
            "nothingChanged": outcome.nothing_changed,
        });
        let step = |(step, at): &(StepName, Duration)| json!({"step": step, "elapsedSeconds": seconds(*at)});
        let rest = json!({
            "replaced": outcome.pods.iter().filter(|end| end.replaced).count(),
            "notStarted": tally.not_started,
            "pods": each(&outcome.pods, pod_end),
            "standing": outcome.standing,
            "standingFields": outcome.standing_fields,
            "proof": proof(self.run.as_ref(), outcome),
            "steps": each(&self.steps, step),
            "handOver": outcome.hand_over.as_ref().map(hand_over),
            "rollBack": next.take_back,
            "resume": next.go_on,
            "abort": next.abort,
            "follow": next.follow.filter(|_| !outcome.nothing_more),
        });
        let fields = joined([head, json!(tally), without_empty(rest, &["standingFields", "handOver"])]);
        self.write("summary", elapsed, fields)
    }
}

pub(super) fn line(name: &str, elapsed: Duration, fields: Value, out: Out<'_>) -> io::Result<()> {
    let head = json!({"type": name, "version": LINES_VERSION, "elapsedSeconds": seconds(elapsed)});
    writeln!(out, "{}", escape::json(&joined([head, fields]).to_string()))
}

pub(super) fn joined<const N: usize>(objects: [Value; N]) -> Value {
    let fields =
        objects.into_iter().filter_map(|object| if let Value::Object(own) = object { Some(own) } else { None });
    Value::Object(fields.flatten().collect())
}

/// Milliseconds are as exact as anything here.
fn seconds(elapsed: Duration) -> f64 {
    let millis = u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX);
    f64::from(millis) / 1000.0
}

fn wanted(goal: &PodGoal) -> Value {
    let container = |(name, goal): (&ContainerName, &ContainerGoal)| {
        let to = goal.to.as_ref().or(goal.asks.as_ref());
        json!({"container": name, "from": goal.from, "to": to, "restarts": goal.restarts})
    };
    let changes = json!({
        "containers": goal.containers.iter().map(container).collect::<Value>(),
        // Whose cpu or memory changes.
        "resized": goal.fields.resized().collect::<Vec<_>>(),
        "resizedAsAWhole": goal.fields.resizes_as_a_whole(),
    });
    joined([json!(goal.key), changes])
}

/// The notice itself, but for what a phase is called here, and for the words of a step.
fn noticed(notice: &Notice) -> Value {
    if let Notice::Pod { pod, phase } = notice {
        return joined([json!({"type": "pod", "pod": pod}), self::phase(phase)]);
    }
    let mut fields = json!(notice);
    if let Notice::Owner { step } = notice {
        fields["message"] = step.done().into();
    }
    fields
}

/// A phase, flat: what it does not have is left out.
fn phase(phase: &UpdatePhase) -> Value {
    let some = |containers: &[ContainerName]| (!containers.is_empty()).then(|| containers.to_vec());
    let mut fields = match phase {
        UpdatePhase::Waiting => json!({"phase": "waiting"}),
        UpdatePhase::Hook { hook } => json!({"phase": "hook", "hook": hook}),
        UpdatePhase::Next { containers } => json!({"phase": "next", "nextContainers": containers}),
        UpdatePhase::Draining { services } => json!({"phase": "draining", "services": services}),
        UpdatePhase::RejoiningService { services } => json!({"phase": "rejoining", "services": services}),
        UpdatePhase::Patched => json!({"phase": "patched"}),
        UpdatePhase::Restarting { containers, waiting, until } => {
            json!({"phase": "restarting", "reason": waiting, "until": until, "nextContainers": some(containers)})
        }
        UpdatePhase::Resizing { why, deferred_by: None } => json!({"phase": "resizing", "message": why}),
        UpdatePhase::Resizing { why, deferred_by } => {
            json!({"phase": "resizeDeferred", "message": why, "node": deferred_by})
        }
        UpdatePhase::Left { why, node } => json!({"phase": "resizeLeft", "message": why, "node": node}),
        UpdatePhase::Starting { containers } => json!({"phase": "starting", "nextContainers": some(containers)}),
        UpdatePhase::Stabilizing { hold_seconds } => json!({"phase": "stabilizing", "holdSeconds": hold_seconds}),
        UpdatePhase::Unverified { containers, why } => {
            json!({"phase": "unverified", "message": why, "nextContainers": some(containers)})
        }
        UpdatePhase::Done => json!({"phase": "done"}),
        UpdatePhase::Failing(failure) => json!({
            "phase": "failing", "container": failure.container, "reason": failure.reason, "message": failure.message,
            "exitCode": failure.exit_code,
        }),
        UpdatePhase::Conflict { container, image } => {
            json!({"phase": "conflict", "container": container, "image": image})
        }
        UpdatePhase::Overtaken { why } => json!({"phase": "conflict", "message": why}),
        UpdatePhase::Gone { why } => json!({"phase": "gone", "message": why}),
    };
    fields.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !value.is_null()));
    fields
}

fn pod_end(end: &PodEnd) -> Value {
    let rest = json!({
        "patched": end.patched, "replaced": end.replaced, "containers": each(&end.containers, container_end),
        "unplanned": end.unplanned, "asBefore": end.as_before, "notReady": end.not_ready,
    });
    joined([json!(end.pod), phase(&end.phase), without_empty(rest, &["asBefore", "notReady"])])
}

fn container_end(end: &ContainerEnd) -> Value {
    let (times, again) = (&end.times, end.again.as_ref());
    let fields = json!({
        "container": end.container,
        "from": end.from,
        "to": end.to,
        "endedAt": times.ended_at,
        "startedAt": times.started_at,
        "runningSince": times.running_since,
        "pullSeconds": times.pull_seconds,
        "downSeconds": end.down_seconds,
        "readySeconds": times.ready_seconds,
        "unplannedRestarts": again.map(|again| again.times),
        "exitCode": again.and_then(|again| again.exit_code),
    });
    without_empty(fields, &["runningSince", "unplannedRestarts", "exitCode"])
}

fn failed(pod: &FailedPod) -> Value {
    let moment = |moment: &Moment| joined([json!({"elapsedSeconds": seconds(moment.at)}), phase(&moment.phase)]);
    let mut fields = json!(pod);
    fields["timeLine"] = each(&pod.time_line, moment);
    fields
}
