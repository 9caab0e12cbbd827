//! What to do next, as commands to copy.

use std::io;

use super::super::Out;
use super::Ending;
use crate::render::run::Run;
use engine::report::PodEnd;
use engine::report::progress::{Stage, UpdatePhase};
use engine::rollout::Mode;
use engine::state::hook::HOOK_FAILED;
use engine::state::outcome::EndResult;

/// Before the command that does not ask the budget that was in the way.
const DESPITE_BUDGET: &str = "Resume without asking the budget:";

impl Ending<'_> {
    pub(super) fn next_steps(&self, out: Out<'_>) -> io::Result<()> {
        let Some(run) = self.reported.run else { return Ok(()) };
        if run.mode == Mode::Durable {
            return self.durable_next_steps(run, out);
        }
        // Another client has set other images in pods of this run.
        let is_moved = || self.outcome.pods.iter().any(|end| matches!(end.phase, UpdatePhase::Conflict { .. }));
        let (take_back, go_on, follow) = match self.outcome.result {
            EndResult::Complete => (true, false, false),
            EndResult::NothingToDo
            | EndResult::Left
            | EndResult::Aborted
            | EndResult::Changes
            | EndResult::NotEligible => (false, false, false),
            // The same images would fail again.
            EndResult::Failed => (true, false, false),
            EndResult::Paused | EndResult::Error => (true, true, false),
            // Either would be against what another client wants.
            EndResult::Superseded if is_moved() => (false, false, true),
            EndResult::TimedOut
            | EndResult::Deferred
            | EndResult::Superseded
            | EndResult::Interrupted
            | EndResult::Terminated => (true, true, true),
        };
        // No image starts again what the kubelet leaves down.
        let mut patched = self.outcome.pods.iter().filter(|end| end.patched);
        let leads_nowhere = self.tally.patched > 0 && patched.all(|end| end.phase.stays_down());
        let touched = self.tally.patched > 0 || self.tally.in_progress > 0 || self.follows();
        if !touched && !self.outcome.result.is_done() {
            writeln!(out, "This run changed no pods.")?;
        }
        if run.next.undoes(self.outcome.result) {
            return Ok(());
        }
        let next = &run.next;
        let steps = [
            ("Roll back:", &next.take_back, take_back && touched && !leads_nowhere),
            ("Resume:", &next.go_on, go_on),
            // Where the owner's controller has taken over, another command watches it.
            ("Follow:", &next.follow, follow && !(self.follows() && self.is_replaced()) && !self.outcome.nothing_more),
            (DESPITE_BUDGET, &next.despite_budget(self.outcome), true),
        ];
        self.commands(steps.iter().filter(|(_, _, wanted)| *wanted).map(|(label, command, _)| (*label, *command)), out)
    }

    /// Of a rollout that took the owner along: what was left is resumed, or aborted as a whole.
    fn durable_next_steps(&self, run: &Run, out: Out<'_>) -> io::Result<()> {
        // The run before may have changed some.
        if run.continues {
        } else if self.outcome.nothing_changed && !self.outcome.result.is_done() {
            writeln!(out, "This run changed nothing; there is nothing to resume.")?;
        } else if self.tally.patched == 0 && !self.outcome.result.is_done() {
            writeln!(out, "This run changed no pods.")?;
        }
        let next = run.next.that_fit(self.outcome);
        let watch = next.follow.clone().filter(|_| self.tally.left_to_kubelet > 0);
        let mut steps = [
            ("Roll back:", &next.take_back),
            (run.onward(self.outcome), &next.go_on),
            ("Roll back:", &next.abort),
            ("Follow:", &watch),
        ];
        // The same images would fail again: there is one thing to do. The user's command shows nothing about them.
        let is_by_command =
            |end: &PodEnd| matches!(&end.phase, UpdatePhase::Failing(failure) if failure.reason == HOOK_FAILED);
        let mut failed = self.outcome.pods.iter().filter(|end| end.phase.stage() == Stage::Failed);
        let says_nothing = failed.all(|end| !end.patched || is_by_command(end));
        let most = if self.outcome.result == EndResult::Failed && !says_nothing { 1 } else { steps.len() };
        // Nor does what was not ready in all the time that a pod has get ready by more of it.
        let is_late = self.outcome.result == EndResult::TimedOut && !run.next.is_short_of_time;
        let is_unready = |end: &PodEnd| matches!(end.phase, UpdatePhase::Starting { .. });
        if most == 1 || is_late && self.outcome.pods.iter().any(is_unready) {
            steps.swap(1, 2);
        }
        if self.outcome.held && run.next.despite(self.outcome).is_some() {
            writeln!(out, "What failed fails all the same. The others go back with:")?;
        }
        let despite = (DESPITE_BUDGET, &next.despite_budget);
        // The same command would fail again.
        let has_failed = self.outcome.pods.iter().any(is_by_command);
        let without_hooks = next.without_hooks.clone().filter(|_| has_failed);
        let without_hooks = ("Roll back without the command:", &without_hooks);
        let steps = steps.into_iter().filter(|(_, command)| command.is_some()).take(most);
        let leaving_resizes = (run.leaving_resizes(), &next.leaving_resizes);
        let steps = steps.chain([without_hooks, despite, leaving_resizes]);
        self.commands(steps, out)
    }

    fn commands<'c>(
        &self,
        steps: impl Iterator<Item = (&'static str, &'c Option<String>)>,
        out: Out<'_>,
    ) -> io::Result<()> {
        let mut given = steps.filter_map(|(label, command)| Some((label, command.as_deref()?)));
        given.try_for_each(|(label, command)| writeln!(out, "{label} {}", self.style.whole(command)))
    }
}
