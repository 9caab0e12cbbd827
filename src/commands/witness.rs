//! Listens between loop and renderer: keeps the end back until failure report and proof are whole, and what was seen of pods.

use std::io;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::render::{Listener, NextSteps};
use engine::k8s::names::PodKey;
use engine::report::failure_report::{FailureReport, Moment};
use engine::report::progress::{Progress, UpdatePhase};
use engine::report::{Notice, Outcome};
use engine::rollout::Goal;
use engine::state::hook::HookPhase;
use engine::state::outcome::EndResult;

/// Passes everything on but the end.
pub(super) struct Witness {
    listener: Box<dyn Listener + Send>,
    seen: Vec<(Duration, PodKey, UpdatePhase)>,
    is_back: bool,
}

impl Witness {
    pub(super) fn new(listener: Box<dyn Listener + Send>) -> Self {
        Self { listener, seen: Vec::new(), is_back: false }
    }

    /// Reads what is still missing, and reports the end; returns whether the output, which has no part in it, was open.
    pub(super) async fn end(self, cluster: &Cluster, outcome: &mut Outcome) -> io::Result<bool> {
        match self.tell(cluster, outcome).await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            reported => reported.map(|()| true),
        }
    }

    /// After a signal nothing is read: the user wants to leave.
    async fn tell(mut self, cluster: &Cluster, outcome: &mut Outcome) -> io::Result<()> {
        if !matches!(outcome.result, EndResult::Interrupted | EndResult::Terminated) {
            cluster.complete_proof(outcome).await;
            let time_line = |key: &PodKey| {
                let of_pod = self.seen.iter().filter(|(_, pod, _)| pod == key);
                of_pod.map(|(at, _, phase)| Moment { at: *at, phase: phase.clone() }).collect()
            };
            if let Some(mut report) = cluster.failure_report(outcome, time_line).await {
                if self.is_back {
                    // What is taken back has failed: that says nothing of the time before the rollout.
                    report.pods.iter_mut().for_each(|pod| pod.failed_before = None);
                }
                self.listener
                    .failure_report(&report, Duration::try_from_secs_f64(outcome.seconds).unwrap_or_default())?;
            }
        }
        self.listener.outcome(outcome)
    }
}

impl Listener for Witness {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        self.seen.clear();
        self.is_back = goal.is_back();
        self.listener.start(goal, next)
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        if let Notice::Pod { pod, phase } = notice {
            self.seen.push((elapsed, pod.clone(), phase.clone()));
        }
        self.listener.notice(notice, elapsed)
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, elapsed: Duration) -> io::Result<()> {
        self.listener.hook_line(pod, hook, line, elapsed)
    }

    fn tick(&mut self, progress: &Progress, elapsed: Duration) -> io::Result<()> {
        self.listener.tick(progress, elapsed)
    }

    fn next_tick(&self) -> Option<Duration> {
        self.listener.next_tick()
    }

    fn failure_report(&mut self, report: &FailureReport, elapsed: Duration) -> io::Result<()> {
        self.listener.failure_report(report, elapsed)
    }

    /// The end is reported by [`Witness::end`].
    fn outcome(&mut self, _outcome: &Outcome) -> io::Result<()> {
        Ok(())
    }
}
