//! The listener for pipes, files and CI logs: one line a change of state, never the same twice for a pod.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use super::run::{NextSteps, Reported, Run};
use super::style::{Meaning, Style, elided};
use super::{Listener, Out, Terminal, Writer, summary, words};
use engine::k8s::names::PodKey;
use engine::report::failure_report::FailureReport;
use engine::report::progress::{Stage, UpdatePhase};
use engine::report::{Notice, Outcome};
use engine::rollout::{Goal, Mode};
use engine::state::durable::StepName;
use engine::state::hook::HookPhase;

/// What a line begins with: `[ 12.3s] `.
const CLOCK_COLUMNS: usize = 9;

const LEAST_NAME: usize = 12;
const NAMED_PODS: usize = 3;

/// One line a change of state, on `err`; the end on `out`.
pub struct Lines<'a> {
    out_style: Style,
    pub(super) narrator: Narrator,
    out: Writer<'a>,
    err: Writer<'a>,
    quiet: bool,
}

impl<'a> Lines<'a> {
    pub fn new(terminal: &Terminal, out: Writer<'a>, err: Writer<'a>) -> Self {
        let (narrator, quiet) = (Narrator::new(terminal.stderr, false), terminal.quiet);
        Self { out_style: terminal.stdout, narrator, out, err, quiet }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.err, "{}", self.narrator.flowing(line))?;
        self.err.flush()
    }
}

impl Listener for Lines<'_> {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        let line = self.narrator.start(goal, next);
        if self.quiet { Ok(()) } else { self.write(&line) }
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        let line = self.narrator.line(notice, elapsed).filter(|_| !self.quiet || notice.is_warning());
        line.map_or(Ok(()), |line| self.write(&line))
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, _elapsed: Duration) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        writeln!(self.err, "{}", words::hook_line(&self.narrator.style, pod, hook, line))?;
        self.err.flush()
    }

    fn outcome(&mut self, outcome: &Outcome, failure: Option<&FailureReport>) -> io::Result<()> {
        self.narrator.end((outcome, failure), self.quiet, &self.out_style, &mut self.out)
    }
}

/// Turns notices into lines, and remembers what it has said.
pub(super) struct Narrator {
    pub(super) style: Style,
    pub(super) run: Option<Run>,
    said: BTreeMap<PodKey, String>,
    since: BTreeMap<PodKey, Duration>,
    /// Several rollouts write: each line says whose it is.
    pub(super) names_workload: bool,
}

impl Narrator {
    pub(super) fn new(style: Style, names_workload: bool) -> Self {
        let (said, since) = (BTreeMap::new(), BTreeMap::new());
        Self { style, run: None, said, since, names_workload }
    }

    /// Returns a line broken where the terminal ends, what follows below its text.
    pub(super) fn flowing(&self, line: &str) -> String {
        let hang = if words::without_colour(line).starts_with('[') { CLOCK_COLUMNS } else { 2 };
        words::flowing(line, hang, &self.style)
    }

    /// Begins again, and returns the line that says what is about to happen.
    pub(super) fn start(&mut self, goal: &Goal, next: &NextSteps) -> String {
        let run = Run::of(goal, next);
        let workload = self.style.paint(Meaning::Heading, &words::workload(&self.style, &run.workload));
        let namespace = words::in_namespace(&self.style, &run.workload.namespace, (" in ", ""));
        let pods = words::count(run.pods(), "pod");
        let text = match run.mode {
            Mode::Durable | Mode::PodsOnly if !goal.pods.is_empty() && goal.pods.iter().all(|pod| !pod.restarts()) => {
                format!("{workload}{namespace}: {pods}, none of which goes down")
            }
            Mode::Durable | Mode::PodsOnly if run.pods() == 0 => {
                format!("{workload}{namespace}: no pod to update")
            }
            Mode::Durable | Mode::PodsOnly => {
                let down = run.pods().min(usize::try_from(run.max_unavailable).unwrap_or(usize::MAX));
                format!("{workload}{namespace}: {pods}, at most {down} down at a time")
            }
            Mode::Follow => format!("{workload}{namespace}: following {pods}"),
        };
        *self = Self { run: Some(run), ..Self::new(self.style, self.names_workload) };
        text
    }

    pub(super) fn line(&mut self, notice: &Notice, elapsed: Duration) -> Option<String> {
        let (meaning, text) = match notice {
            Notice::Pod { pod, phase } => self.pod(pod, phase, elapsed)?,
            // It follows from the end of the rollout, and changes nothing for anybody.
            Notice::Owner { step: StepName::RemoveCopy } => return None,
            Notice::Owner { step } => (Meaning::Plain, self.owner(*step)),
            Notice::WaitsToBegin { why } => (Meaning::Waiting, waits_to_begin(&self.style, why)),
            Notice::WaitsToEnd { why } => (Meaning::Waiting, waits_to_end(&self.style, why)),
            Notice::DisruptionBudgetHolds { why } => {
                (Meaning::Waiting, format!("waiting: availability budget: {}", self.style.show(why)))
            }
            Notice::BudgetsUnreadable { why } => (
                Meaning::Waiting,
                format!("PodDisruptionBudgets are not respected: they could not be read: {}", self.style.show(why)),
            ),
            Notice::PullBegins { node, images } => {
                let images = words::first_of(images.iter().map(|image| self.style.show(image)), NAMED_PODS);
                (Meaning::Plain, format!("{}  pulls {images} first", self.style.show(node)))
            }
            Notice::Pulled { node, image, .. } => {
                (Meaning::Ok, format!("{}  has {}", self.style.show(node), self.style.show(image)))
            }
            Notice::PrePullSkipped { node, why } => {
                let node = if node.is_empty() { String::new() } else { format!("{}  ", self.style.show(node)) };
                (Meaning::Waiting, format!("{node}not pulled first: {}", self.style.show(why)))
            }
            Notice::TagDiffersByNode { what } => (Meaning::Waiting, self.style.show(what)),
            Notice::Drain { pod, why } => (Meaning::Waiting, format!("{}  {}", self.name(pod), self.style.show(why))),
            // The phases say both already; a failure is one of them.
            Notice::HookBegins { .. } | Notice::HookEnded { .. } => return None,
            Notice::Evidence { pod, container, why } => {
                let (pod, container) = (self.name(pod), self.style.show(container.as_str()));
                (Meaning::Quiet, format!("{pod}  {container} counts as restarted: {}", self.style.show(why)))
            }
            Notice::Retrying { pod, why } => {
                (Meaning::Waiting, format!("{}  retrying: {}", self.name(pod), self.style.show(why)))
            }
            Notice::NotPatched { pod, why } => {
                (Meaning::Failing, format!("{}  not patched: {}", self.name(pod), self.style.show(why)))
            }
            Notice::WatchLost { why } => (
                Meaning::Waiting,
                format!("the watch broke; nothing new is sent until it is back: {}", self.style.show(why)),
            ),
            Notice::WatchRestored => (Meaning::Ok, "the watch is back".into()),
            Notice::BudgetHolds { down, allowed } => (Meaning::Waiting, budget(*down, *allowed)),
            Notice::StillWaiting { done, total, pods, why } => {
                let why = why.as_ref().map(|why| format!("; {}", self.style.show(why))).unwrap_or_default();
                (Meaning::Quiet, self.still_waiting(*done, *total, pods) + &why)
            }
            Notice::Stopping => {
                (Meaning::Waiting, "stopping: nothing new is sent; a second interrupt leaves now".into())
            }
        };
        let clock = format!("[{:>3}.{}s]", elapsed.as_secs(), elapsed.subsec_millis() / 100);
        let whose = match self.run.as_ref().filter(|_| self.names_workload) {
            Some(run) => format!(
                "{} {}: ",
                self.style.show(&run.workload.namespace),
                words::workload(&self.style, &run.workload)
            ),
            None => String::new(),
        };
        Some(format!("{} {whose}{}", self.style.paint(Meaning::Quiet, &clock), self.style.paint(meaning, &text)))
    }

    /// Writes the end, and whose it is where there are several; `is_gone`: nothing is left of what was shown before.
    pub(super) fn end(
        &self,
        (outcome, failure): (&Outcome, Option<&FailureReport>),
        is_gone: bool,
        style: &Style,
        out: Out<'_>,
    ) -> io::Result<()> {
        if self.names_workload {
            let workload = &outcome.workload;
            let name = format!("{} {}:", style.show(&workload.namespace), words::workload(style, workload));
            writeln!(out, "{}", style.paint(Meaning::Heading, &name))?;
        }
        let reported = Reported { run: self.run.as_ref(), failure, is_gone };
        summary::write(reported, outcome, style, out)?;
        out.flush()
    }

    fn pod(&mut self, pod: &PodKey, phase: &UpdatePhase, elapsed: Duration) -> Option<(Meaning, String)> {
        self.run.as_mut().into_iter().for_each(|run| run.heard(pod, phase));
        // Between two requests for it; other notices report what it waits for.
        if *phase == UpdatePhase::Waiting {
            return None;
        }
        let goal = self.run.as_ref().and_then(|run| run.step(pod));
        // The rest of a failure, and why something was left, is said at the end, once.
        let mut reported = phase.clone();
        if let UpdatePhase::Failing(failure) = &mut reported {
            failure.message.clear();
        } else if let UpdatePhase::Left { why, .. } = &mut reported {
            *why = None;
        }
        let (meaning, mut text) = words::phase(&self.style, &reported, goal);
        if self.said.get(pod) == Some(&text) {
            return None;
        }
        // What is noted of it first is no news.
        if matches!(phase, UpdatePhase::Next { .. }) && !self.said.contains_key(pod) {
            self.since.entry(pod.clone()).or_insert(elapsed);
            return None;
        }
        self.said.insert(pod.clone(), text.clone());
        match phase.stage() {
            Stage::Done => {
                if let Some(since) = self.since.remove(pod) {
                    text = format!("{text} after {}", words::duration(elapsed.saturating_sub(since)));
                }
            }
            Stage::Left => {
                self.since.remove(pod);
            }
            Stage::Waiting | Stage::InProgress | Stage::Failed | Stage::Lost => {
                self.since.entry(pod.clone()).or_insert(elapsed);
            }
        }
        Some((meaning, format!("{}  {text}", self.name(pod))))
    }

    fn owner(&self, step: StepName) -> String {
        // The line names it already.
        if self.names_workload {
            return step.done().to_owned();
        }
        let name = self.run.as_ref().map(|run| words::workload(&self.style, &run.workload)).unwrap_or_default();
        format!("{}  {}", self.short(&name), step.done())
    }

    fn still_waiting(&self, done: usize, total: usize, pods: &[PodKey]) -> String {
        let in_progress = pods.iter().map(|pod| match self.said.get(pod) {
            Some(said) => format!("{} ({said})", self.name(pod)),
            None => self.name(pod),
        });
        let text = match total {
            0 => "still waiting for the controller of the workload".to_owned(),
            total => format!("still waiting: {done} of {} done", words::count(total, "pod")),
        };
        if pods.is_empty() {
            text
        } else {
            format!("{text}; in progress: {}", words::first_of(in_progress, NAMED_PODS))
        }
    }

    fn name(&self, pod: &PodKey) -> String {
        let name = self.run.as_ref().map(|run| words::pod_name(&self.style, &run.workload, pod));
        self.short(&name.unwrap_or_else(|| self.style.show(&pod.name)))
    }

    fn short(&self, name: &str) -> String {
        let width = self.style.width.map_or(usize::MAX, |width| usize::from(width).saturating_sub(CLOCK_COLUMNS));
        elided(name, width.max(LEAST_NAME), &self.style)
    }
}

/// Why no further pod is taken.
pub(super) fn budget(down: u32, allowed: u32) -> String {
    format!("waiting: availability budget ({down} down, at most {allowed} may be)")
}

pub(super) fn waits_to_begin(style: &Style, why: &str) -> String {
    format!("waiting, nothing is changed yet: {}", style.show(why))
}

/// What is waited for once every pod of the plan is done or has left.
pub(super) fn waits_to_end(style: &Style, why: &str) -> String {
    format!("waiting for replacement pods: {}", style.show(why))
}
