//! Several workloads of one command: in the plan's order, as many at once as was said, each to its own end.
//!
//! Promise: what was begun is followed to its end; after a failure nothing further is begun unless `--on-failure=continue`
//! was given, after a pause or a signal never. What was not begun is reported as untouched.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt};

use super::Shell;
use super::rolling::Rolling;
use crate::drive::Session;
use crate::error::Result;
use crate::render::{self, Meaning};
use engine::plan::Snapshot;
use engine::report::WorkloadEnd;
use engine::rollout::{Goal, Stop};
use engine::state::outcome::EndResult;
use engine::state::policy::OnFailure;

struct Shared {
    session: Mutex<Session>,
    signal: Mutex<Option<Stop>>,
    closed: AtomicBool,
}

impl Rolling<'_> {
    /// Carries out the jobs, and reports how each ended if there are several.
    pub(super) async fn all(&self, mut jobs: Vec<Job>, shell: &Shell) -> Result<EndResult> {
        if jobs.len() < 2 {
            let Some(Job { goal: Some(goal), live, expected }) = jobs.pop() else { return Ok(EndResult::NothingToDo) };
            return Ok(self.one(goal, live, expected, shell).await?.result);
        }
        let (ends, (result, elapsed)) = self.each_to_its_end(jobs, shell).await?;
        let (style, out) = (&shell.terminal.stdout, &mut io::stdout().lock());
        unless_closed(render::workload_ends(self.output, &ends, (result, elapsed), style, out))?;
        Ok(result)
    }

    /// Carries out the jobs; returns how each ended, and all of them, and how long that took.
    pub(super) async fn each_to_its_end(
        &self,
        jobs: Vec<Job>,
        shell: &Shell,
    ) -> Result<(Vec<WorkloadEnd>, (EndResult, Duration))> {
        let begins = jobs.iter().filter(|job| job.goal.is_some()).count();
        let at_once = usize::try_from(self.rollout.parallel_workloads).unwrap_or(1).clamp(1, begins.max(1));
        let rolling = Self { side_by_side: at_once > 1, ..self.clone() };
        tell_order(&jobs, at_once, shell);
        let session = Mutex::new(Session::begin()?);
        let shared = Shared { session, signal: Mutex::new(None), closed: AtomicBool::new(false) };
        let runs = jobs.into_iter().enumerate().map(|(index, job)| {
            let (rolling, shared) = (&rolling, &shared);
            async move { (index, rolling.job(job, shared, shell).await) }
        });
        let mut ends: Vec<(usize, WorkloadEnd)> = stream::iter(runs).buffer_unordered(at_once).collect().await;
        ends.sort_by_key(|(index, _)| *index);
        let ends: Vec<WorkloadEnd> = ends.into_iter().map(|(_, end)| end).collect();
        let signal = shared.heard().map(Stop::result);
        let result = EndResult::worst(ends.iter().filter_map(|end| end.result).chain(signal));
        let elapsed = shared.session.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        Ok((ends, (result, elapsed)))
    }

    async fn job(&self, job: Job, shared: &Shared, shell: &Shell) -> WorkloadEnd {
        let workload = job.live.workload.reference.clone();
        let Some(goal) = job.goal else {
            return WorkloadEnd::of(workload, Some(EndResult::NothingToDo));
        };
        if shared.closed.load(Ordering::SeqCst) || shared.heard().is_some() {
            return WorkloadEnd::of(workload, None);
        }
        let end = match self.one(goal, job.live, job.expected, shell).await {
            Ok(outcome) => {
                let end = WorkloadEnd::of(workload, Some(outcome.result));
                WorkloadEnd { outcome: Some(outcome), ..end }
            }
            Err(error) => {
                shell.say(Meaning::Failing, "failed:", &workload.to_string());
                // A reader that has gone away is no failure of the workload's, and reads nothing of the others.
                shared.closed.fetch_or(error.closed_pipe, Ordering::SeqCst);
                WorkloadEnd::of(workload, Some(shell.tell_error(&error)))
            }
        };
        let goes_on = end.result.is_some_and(|result| self.goes_on_after(result));
        shared.closed.fetch_or(!goes_on, Ordering::SeqCst);
        end
    }

    /// Whether the next workload is begun after one that ended so.
    fn goes_on_after(&self, result: EndResult) -> bool {
        let is_stopped = matches!(result, EndResult::Paused | EndResult::Interrupted | EndResult::Terminated);
        result.is_done() || !is_stopped && self.rollout.on_failure == Some(OnFailure::Continue)
    }
}

impl Shared {
    fn heard(&self) -> Option<Stop> {
        let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        if signal.is_none() {
            *signal = self.session.lock().unwrap_or_else(PoisonError::into_inner).heard();
        }
        *signal
    }
}

/// Where nobody reads any more the end is what it is.
pub(super) fn unless_closed(shown: io::Result<()>) -> io::Result<()> {
    match shown {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        shown => shown,
    }
}

fn tell_order(jobs: &[Job], at_once: usize, shell: &Shell) {
    let names = jobs.iter().filter(|job| job.goal.is_some()).map(|job| {
        let workload = &job.live.workload.reference;
        format!("{workload} -n {}", workload.namespace)
    });
    let names: Vec<String> = names.collect();
    if names.len() < 2 {
        return;
    }
    let pace = if at_once > 1 { format!("{at_once} at once") } else { "one after the other".to_owned() };
    shell.note(&format!("{} workloads, {pace}, in this order: {}", names.len(), names.join(", ")));
}

/// What is to be done to one workload; `None` where there is nothing to do.
pub(super) struct Job {
    pub(super) goal: Option<Goal>,
    pub(super) live: Snapshot,
    pub(super) expected: Option<Duration>,
}
