//! The order in which a turn goes.

use std::time::Duration;

use crate::k8s::names::PodKey;
use crate::report::{Notice, Outcome};
use crate::state::outcome::EndResult;

use super::action::{Now, SIGN_OF_LIFE_SECONDS, STOP_WITHIN, Turn};
use super::goal::Goal;
use super::observed::{Observed, Watch};
use super::pod_run::PodIndex;
use super::state::{CurrentTurn, RunState};
use super::{ended, verdict};

/// Says what to do next. The only scheduler.
pub fn turn(goal: &Goal, observed: &Observed, state: &mut RunState, now: Now) -> Turn {
    if state.ended {
        return Turn::default();
    }
    let mut run = CurrentTurn { goal, observed, now, state, turn: Turn::default() };
    run.begin();
    let is_back = run.watch_is_back();
    run.see_what_changed();
    run.drain_notices();
    run.judge_what_changed(is_back);
    run.say_that_it_stops();
    run.advance_pulls();
    run.settle();
    run.effects(|state, context| state.followed.advance(context, &state.pods));
    run.effects(|state, context| state.requests.advance(context, &state.pods));
    if run.state.stop.is_some() {
        // The only requests that are sent after an interrupt.
        run.effects(|state, context| state.drains.restore_all(context, &state.pods));
    }
    let mut end = run.end();
    if end.is_none() {
        if run.state.pulls.is_over() {
            run.act();
        } else if run.state.stop.is_none() {
            // For pods that another run has patched.
            run.read_events();
        }
        if !run.state.pods.all(PodIndex::Failed).is_empty() {
            // Only now is it known which pods wait for others: it may be all that is there beside those that failed.
            end = run.end();
        }
    }
    if let Some(outcome) = end {
        return run.finish(outcome);
    }
    run.emit_keepalive();
    run.pause()
}

/// Says how things stand when the user does not wait for the end.
pub fn leave(goal: &Goal, observed: &Observed, state: &RunState, now: Now) -> Outcome {
    let result = state.stop.map_or(EndResult::Interrupted, |(stop, _)| stop.result());
    ended::outcome(state.context(goal, observed, now), state, result, None)
}

impl CurrentTurn<'_> {
    fn begin(&mut self) {
        if self.state.began.is_some() {
            return;
        }
        (self.state.began, self.state.last_said) = (Some(self.now), self.now);
        self.goal.pods.iter().for_each(|pod| self.state.pods.add(pod.clone(), self.now));
    }

    /// Lets owner and replacement pods look at the pods that changed.
    fn see_what_changed(&mut self) {
        let changed: Vec<PodKey> = self.observed.changed_since(self.state.seen).cloned().collect();
        self.effects(|state, context| state.owner.find_pods(context, &state.pods, &changed));
        self.state.replacements.visit_changed(self.context(), &self.state.pods, &changed);
    }

    fn drain_notices(&mut self) {
        self.effects(|state, context| state.replacements.say(context));
        self.effects(|state, _| state.hooks.say());
        self.effects(|state, _| state.budgets.say());
    }

    /// Returns whether the watch has just come back: then pods are judged again whose phase depends on time alone.
    fn watch_is_back(&mut self) -> bool {
        match self.observed.watch() {
            Watch::Lost(why) if !self.state.watch_was_lost => {
                self.state.watch_was_lost = true;
                self.turn.notices.push(Notice::WatchLost { why: why.clone() });
            }
            Watch::Live if self.state.watch_was_lost => {
                self.state.watch_was_lost = false;
                // The watch may bring much later events than the owner that was read, if the clock stood still while
                // the machine slept.
                self.state.owner.must_be_read(self.now);
                self.turn.notices.push(Notice::WatchRestored);
                return true;
            }
            Watch::Opening | Watch::Live | Watch::Lost(_) => {}
        }
        false
    }

    /// Judges every pod that changed since the last turn, and every pod whose time has come.
    fn judge_what_changed(&mut self, is_back: bool) {
        let context = self.context();
        let pods = &mut self.state.pods;
        let mut positions: Vec<usize> = Vec::new();
        // Every pod was proven before the end was recorded: a later change of one is no part of this rollout.
        if !self.state.owner.is_closing() {
            for key in self.observed.changed_since(self.state.seen) {
                match pods.position(key) {
                    Some(position) => positions.push(position),
                    None => pods.count(context, key),
                }
            }
            self.state.seen = self.observed.version();
        }
        if is_back {
            positions.extend(pods.all(PodIndex::InProgress));
        }
        if !self.state.listed && context.is_live() {
            self.state.listed = true;
            // No event comes for a pod that was gone before the first list.
            let missing = pods.iter().enumerate().filter(|(_, run)| self.observed.pod(&run.goal.key).is_none());
            positions.extend(missing.map(|(position, _)| position));
        }
        positions.extend(pods.due(self.now));
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            self.judge(position);
        }
    }

    fn say_that_it_stops(&mut self) {
        if self.state.stop.is_some() && !std::mem::replace(&mut self.state.stop_said, true) {
            self.turn.notices.push(Notice::Stopping);
        }
    }

    fn advance_pulls(&mut self) {
        self.effects(|state, context| state.pulls.advance(context));
    }

    /// Visits replacement pods and the owner, once the nodes have pulled.
    fn settle(&mut self) {
        self.effects(|state, context| state.replacements.ready.visit_changed(context, &state.pods));
        if self.state.pulls.is_over() {
            self.advance_owner();
        }
    }

    /// Takes the owner's side one step further. Its first write waits until the first pod may go down.
    fn advance_owner(&mut self) {
        let context = self.context();
        let (effects, decision) = self.state.owner.decide(context, &self.state.pods, self.state.listed);
        self.carry_out(effects);
        let Some(decision) = decision else { return };
        if self.state.owner.is_first_write(context, &decision) && self.waits_to_begin() {
            self.state.owner.waits_for_pods(self.now);
        } else {
            self.effects(|state, context| state.owner.carry_out(context, &state.pods, decision));
        }
    }

    fn end(&mut self) -> Option<Outcome> {
        let quiet = self.state.pods.all(PodIndex::Unanswered).is_empty() && !self.state.owner.is_unanswered();
        let context = self.context();
        let (since, within, result, why) = if let Some((stop, since)) = self.state.stop {
            self.state.ending_since = None;
            (since, STOP_WITHIN, stop.result(), None)
        } else if let Some((result, why)) = verdict::judge(context, self.state) {
            (*self.state.ending_since.get_or_insert(self.now), verdict::END_WITHIN, result, why)
        } else {
            if self.state.ending_since.take().is_some() {
                // What waited for the end goes on.
                self.settle();
            }
            return None;
        };
        (quiet || since + within <= self.now).then(|| ended::outcome(self.context(), self.state, result, why))
    }

    /// Ends it with this outcome, once no pull pod, drain or request of ours is left.
    fn finish(mut self, outcome: Outcome) -> Turn {
        if !self.state.pulls.is_over() {
            self.state.pulls.leave(outcome.result, outcome.why.clone());
            self.advance_pulls();
        }
        self.effects(|state, context| state.requests.advance(context, &state.pods));
        let context = self.context();
        let made_is_gone = self.state.pulls.can_finish(context) && self.state.requests.can_finish(context);
        let (drains_are_over, effects) = self.state.drains.can_finish(context, &self.state.pods);
        self.carry_out(effects);
        if !drains_are_over {
            self.read_what_is_unclear();
        }
        if made_is_gone && drains_are_over && self.owner_can_finish(outcome.result) {
            self.state.ended = true;
            self.turn.end = Some(outcome);
            return self.turn;
        }
        self.pause()
    }

    fn owner_can_finish(&mut self, result: EndResult) -> bool {
        let is_late = self.state.is_late || !self.state.pods.all(PodIndex::Unanswered).is_empty();
        let (is_over, effects) = self.state.owner.can_finish(self.context(), &self.state.pods, result, is_late);
        self.carry_out(effects);
        is_over
    }

    /// Reports once every 30 seconds what the rollout waits for, if nothing else was reported.
    fn emit_keepalive(&mut self) {
        if self.state.ending_since.is_some() {
            return;
        }
        let is_due = self.now >= self.state.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS);
        if self.turn.notices.is_empty() && is_due {
            let pods = &self.state.pods;
            self.turn.notices.push(Notice::StillWaiting {
                done: pods.all(PodIndex::Done).len(),
                total: pods.pods_in_rollout(),
                pods: pods.runs(PodIndex::InProgress).map(|run| run.goal.key.clone()).take(10).collect(),
                why: self.state.owner.trouble().or_else(|| self.state.followed.why()),
            });
        }
        if !self.turn.notices.is_empty() {
            self.state.last_said = self.now;
        }
    }

    /// It is not over: the next turn is at that time, even if nothing happens.
    fn pause(mut self) -> Turn {
        self.turn.wake = verdict::next_visit(self.context(), self.state);
        self.turn
    }
}
