//! Where a pod stands whose cpu and memory change: before, during and after its resize.

use std::time::Duration;

use crate::change::{self, FieldProgress};
use crate::k8s::names::ContainerName;
use crate::report::progress::UpdatePhase;
use crate::rollout::patch::PodPart;
use crate::state::evidence::Baseline;
use crate::state::record::UpdateRecord;

use super::super::Now;
use super::super::goal::Mode;
use super::super::observed::Judged;
use super::super::pod_run::{PodRun, Sent, failure_of_pod};
use super::super::steps;
use super::container::{KeptRunning, left_running};
use super::{ContainerProgress, PodJudge, conflict, decided, next_resize};

/// A kubelet that does not report which resize its status is about has this long to see the one that is asked for.
const RESIZE_OF_BEFORE: Duration = Duration::from_secs(10);

impl PodJudge<'_> {
    /// The phase while the pod does not have the cpu and memory that are wanted.
    pub(super) fn resize(self, run: &mut PodRun, others: &[(ContainerName, ContainerProgress)]) -> Option<Judged> {
        let mut progress = self.goal.fields.of_part(PodPart::Resize, self.pod);
        if progress == FieldProgress::Done && self.context.goal.is_followed() {
            // Whoever asked for it.
            progress = change::resizing(self.pod).unwrap_or(FieldProgress::Done);
        }
        // A finished resize stays so while the kubelet has not seen the image that came after it.
        let lags = matches!(&progress, FieldProgress::Waiting { why: None, deferred: false });
        if progress == FieldProgress::Done || lags && run.evidence.is_resized {
            run.evidence.is_resized = true;
            return self.before_their_image(run, others);
        }
        run.evidence.is_resized = false;
        if !matches!(progress, FieldProgress::Failed { .. }) {
            run.clocks.resize_failing_since = None;
        }
        if let Some(conflict) = conflict(others) {
            return Some(conflict.into());
        }
        match progress {
            FieldProgress::Done => None,
            FieldProgress::NotAsked => self.resize_not_asked(run),
            FieldProgress::Waiting { why, deferred } => {
                // A container that restarts for the resize may fail; its failure then says more than the resize.
                let failing = others.iter().filter(|(name, _)| self.restarts_by_resize(name));
                let failing = failing.filter_map(|(_, progress)| progress.failure()).next().cloned();
                let deferred_by = deferred.then(|| self.pod.spec.node_name.clone());
                let resizing = || UpdatePhase::Resizing { why, deferred_by };
                Some(failing.map_or_else(resizing, UpdatePhase::Failing).into())
            }
            FieldProgress::Failed { message, .. } if self.may_be_of_before(run).is_some() => {
                let phase = UpdatePhase::Resizing { why: Some(message), deferred_by: None };
                Some(Judged { phase, wake: self.may_be_of_before(run) })
            }
            FieldProgress::Failed { reason, message } => {
                Some(UpdatePhase::Failing(failure_of_pod(&reason, message)).into())
            }
        }
    }

    /// The pod does not ask for the resize yet: its note is one write, the resize another.
    fn resize_not_asked(self, run: &mut PodRun) -> Option<Judged> {
        let is_noted = !steps::lacks_note(self.context.goal, self.goal, self.pod);
        if run.request.sent == Sent::Note && is_noted {
            run.request.sends = 0;
        }
        let judged = decided(self.pod, &[(ContainerName::default(), ContainerProgress::NotAsked)], run)?;
        Some(match (judged.phase, run.request.sent) {
            (UpdatePhase::Patched, Sent::Note) => next_resize(self.goal).into(),
            (UpdatePhase::Patched, Sent::Resize) => UpdatePhase::Resizing { why: None, deferred_by: None }.into(),
            (UpdatePhase::Waiting, Sent::Note) if is_noted => next_resize(self.goal).into(),
            (phase, _) => Judged { phase, wake: judged.wake },
        })
    }

    /// A kubelet before 1.34 does not report which resize its status is about. Returns until when it may be the one
    /// before.
    fn may_be_of_before(self, run: &mut PodRun) -> Option<Now> {
        let since = *run.clocks.resize_failing_since.get_or_insert(self.context.now);
        let until = since + RESIZE_OF_BEFORE;
        (self.pod.status.observed_generation.is_none() && until > self.context.now).then_some(until)
    }

    /// The baseline of a container that restarts for its resize, or by request, and not for another image since.
    pub(super) fn restart_baseline(self, name: &ContainerName) -> Option<Baseline> {
        let record = UpdateRecord::of(self.pod).filter(|record| self.is_noted_by(record, name))?;
        let is_meant = self.context.goal.by_request || self.restarts_by_resize(name);
        let baseline = record.restart_baseline(self.pod, name).filter(|_| is_meant)?;
        Some(Baseline::Recorded(baseline))
    }

    /// Whether the record is that of the resize in question: of this rollout, or, where somebody else's is followed, of
    /// the last resize that was asked of the container.
    fn is_noted_by(self, record: &UpdateRecord, name: &ContainerName) -> bool {
        match (self.context.goal.mode(), Baseline::of(self.pod, name)) {
            (Mode::Durable | Mode::PodsOnly, _) => record.id == *self.context.goal.id(),
            (Mode::Follow, Baseline::Recorded(_) | Baseline::Created) => true,
            (Mode::Follow, Baseline::Set(_) | Baseline::Unknown) => false,
        }
    }

    pub(super) fn baseline(self, name: &ContainerName) -> Baseline {
        self.restart_baseline(name).unwrap_or_else(|| Baseline::of(self.pod, name))
    }

    pub(super) fn restarts_by_resize(self, name: &ContainerName) -> bool {
        self.goal.containers.get(name).is_some_and(|goal| goal.by_resize)
    }

    pub(super) fn left_running(self, name: &ContainerName, run: &PodRun) -> KeptRunning {
        left_running(self.context, self.pod, name, run.evidence.since.as_ref())
    }

    /// The containers that get another image once they have restarted for their resize, and have not.
    pub(super) fn before_their_image(
        self,
        run: &PodRun,
        others: &[(ContainerName, ContainerProgress)],
    ) -> Option<Judged> {
        let record = UpdateRecord::of_rollout(self.pod, self.context.goal.id())?;
        let is_before = |(name, progress): &&(ContainerName, ContainerProgress)| {
            matches!(progress, ContainerProgress::NotAsked)
                && self.restarts_by_resize(name)
                && record.is_before_its_resize(self.pod, name)
                && self.left_running(name, run) != KeptRunning::Yes
        };
        let containers: Vec<_> = others.iter().filter(is_before).map(|(name, _)| name.clone()).collect();
        let restarting = UpdatePhase::Restarting { containers: containers.clone(), waiting: None, until: None };
        let wake = containers.iter().filter_map(|name| self.left_running(name, run).until()).min();
        (!containers.is_empty()).then_some(Judged { phase: restarting, wake })
    }
}
