//! The owner's side of a turn: reads it, writes the one step that is next, and says when the pods may go.
//!
//! One request at a time, and after each write the owner is read again before anything else is decided.

mod leave;
mod pods;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::Direction;
use crate::report::Notice;
use crate::rollout::action::STOP_WITHIN;
use crate::rollout::goal::Goal;
use crate::rollout::observed::TurnContext;
use crate::rollout::pods::Pods;
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now};
use crate::state::durable::lock::Lock;
use crate::state::durable::{self, Decision, Next, ObjectWrite, OwnLock, OwnerChange, OwnerView, StepName, Stored};
use crate::state::outcome::EndResult;

use super::taken_over::Fencing;
use super::{Effects, RequestSource};

pub(crate) use leave::{changed_by_another_run, held_by};
pub(crate) use pods::{drain_like, has_left};

/// The interval of reads of the owner while a controller is waited for: at first, and at most.
const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(1);

/// A pod is taken only if the owner was read within this time.
const FRESH: Duration = Duration::from_millis(250);

/// The interval of reads of the owner while pods are in progress, so that somebody else's change is seen.
const WATCHFUL: Duration = Duration::from_secs(2);

/// Writes of one step, at most: each after a fresh read.
const MAX_WRITES: u8 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Closed,
    Superseded(String),
    Failed(String),
}

/// A request at the end of a run: it gets [`STOP_WITHIN`] for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FinalRequest {
    #[default]
    NotSent,
    /// Sent, or to be sent, since then.
    Sent(Now),
    Answered,
}

impl FinalRequest {
    fn is_given_up_at(self) -> Option<Now> {
        match self {
            Self::Sent(since) => Some(since + STOP_WITHIN),
            Self::NotSent | Self::Answered => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct OwnerRun {
    read: Read,
    /// The pause before the next read while the controller catches up.
    pause: Duration,
    writing: Option<StepName>,
    pub(crate) fencing: Fencing,
    own_lock: OwnLock,
    /// The owner's generation when the last write was made.
    generation: i64,
    writes: BTreeMap<StepName, u8>,
    /// A step that the server has stored and that is not reported yet.
    accepted: Option<StepName>,
    waits_for: Option<&'static str>,
    /// Since when the owner's side has made no progress.
    since: Option<Now>,
    may_go: bool,
    revision: Option<String>,
    /// Why somebody else's change ends the rollout: the first reason that was found.
    superseded: Option<String>,
    end: Option<End>,
    final_write: FinalRequest,
    /// The read before it, and after one that was not stored.
    final_read: FinalRequest,
    /// The server refused to renew the lease: it is not tried again.
    is_mute: bool,
}

impl OwnerRun {
    /// Whether a step's answer is outstanding. A sign of life changes nothing that the end would have to report.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.writing.is_some_and(|step| step != StepName::Beat)
    }

    /// Whether the end is recorded, or the write that records it is on its way.
    pub(crate) fn is_closing(&self) -> bool {
        self.writing == Some(StepName::Close) || self.own_lock == OwnLock::Closed
    }

    fn is_waiting(&self) -> bool {
        self.writing.is_some() || self.read.asked().is_some()
    }

    pub(crate) fn was_read(&mut self, answer: &Answer, now: Now) {
        let Some(asked) = self.read.asked() else { return };
        if matches!(self.final_read, FinalRequest::Sent(since) if asked >= since) {
            self.final_read = FinalRequest::Answered;
        }
        if let Answer::Refused { message, .. } = answer {
            self.read.forget();
            self.end = Some(End::Failed(message.clone()));
        }
        if self.read.answered(answer, now) && self.read.is_overdue() {
            self.read.error = Some(format!("the server took {} s to answer", self.read.took().as_secs()));
            self.read.invalidate(now);
        }
    }

    pub(crate) fn written(&mut self, answer: Answer, now: Now) {
        let Some(step) = self.writing.take() else { return };
        self.read.error = None;
        self.own_lock = self.own_lock.answered(step, stored(&answer), self.generation);
        match (step, answer) {
            (StepName::MarkStopped, answer) => {
                self.final_write = FinalRequest::Answered;
                // The mark itself changes nothing but the lock.
                if answer == Answer::Accepted {
                    return;
                }
            }
            // A sign of life is no step: the wait goes on as before, and nothing ends because of it.
            (StepName::Beat, Answer::Refused { .. }) => self.is_mute = true,
            (StepName::Beat, Answer::Accepted) => {}
            (step, Answer::Accepted | Answer::Read) => {
                self.accepted = Some(step);
                self.pause = SOON;
                self.since = Some(now);
            }
            // The outcome is read, not guessed.
            (_, Answer::Conflict { .. } | Answer::Hook(_)) => {}
            (_, Answer::Unknown { message } | Answer::ReadFailed { message }) => {
                self.read.error = Some(message);
                // A failing server gets time: the tries of a step are few.
                self.read.put_off(None, now);
            }
            (_, Answer::NotDone { after, message }) => {
                self.read.error = Some(message);
                self.read.put_off(after, now);
            }
            (step, Answer::Refused { reason, message }) => {
                self.end = Some(End::Failed(format!("{} was refused ({reason}): {message}", step.wanted())));
            }
        }
        self.read.invalidate(now);
    }

    /// What was read of the owner is no longer valid, nor is an outstanding answer.
    pub(crate) fn must_be_read(&mut self, now: Now) {
        self.read.invalidate(now);
    }
}

impl OwnerRun {
    /// Returns whether the pods may be patched, as far as the owner is concerned.
    pub(crate) fn pods_may_go(&self) -> bool {
        self.may_go && self.end.is_none()
    }

    /// Returns whether something was written for the rollout, and the steps before its pods may go are not done. Until
    /// they are, the result of the pods ends no run: nobody could go on with the owner in that state.
    pub(crate) fn is_under_way(&self, context: TurnContext<'_>) -> bool {
        context.goal.owner.is_some() && self.end.is_none() && !self.may_go && !self.has_changed_nothing(context)
    }

    fn is_known(&self) -> bool {
        self.read.is_valid()
    }

    /// Returns whether the owner was read lately enough for a pod to be taken.
    pub(crate) fn is_fresh(&self, context: TurnContext<'_>) -> bool {
        context.goal.owner.is_none() || self.read.fresh(FRESH, context.now)
    }

    pub(crate) fn read(&mut self, context: TurnContext<'_>) -> Effects {
        if self.writing.is_some() || !self.read.ask(context.now) {
            return Effects::default();
        }
        (RequestSource::OwnerRead, Action::ReadOwner(context.goal.workload.clone())).into()
    }

    /// Returns where the owner's side stands, if that is known; else it is read.
    pub(crate) fn decide(
        &mut self,
        context: TurnContext<'_>,
        pods: &Pods,
        is_listed: bool,
    ) -> (Effects, Option<Decision>) {
        let mut effects = Effects::default();
        let Some(owner) = &context.goal.owner else { return (effects, None) };
        self.since.get_or_insert(context.now);
        if let Some(step) = self.accepted.take() {
            effects.say(Notice::Owner { step });
        }
        let is_over = self.end.is_some() || context.stopped_since.is_some() || context.ending_since.is_some();
        if is_over || self.is_waiting() || !is_listed {
            return (effects, None);
        }
        let Some(view) = context.observed.owner.as_ref().filter(|_| self.is_known()) else {
            effects.extend(self.read(context));
            return (effects, None);
        };
        let state = self.state(context, pods, view);
        let (kind, now) = (context.goal.workload.kind, server_time(context, view));
        let writer = (now.as_str(), context.goal.field_manager.as_str());
        let read = durable::Owner::new((&context.goal.lock, owner), kind, view, &state, writer);
        (self.own_lock, self.generation) = (self.own_lock.seen(&read), read.generation());
        let read = read.knowing(self.own_lock);
        let decision = durable::next(&read);
        if matches!(decision.next, Next::UpdatePods { .. }) {
            // The time belongs to the pods.
            self.since = Some(context.now);
        }
        let is_waiting = match decision.next {
            Next::Wait(_) | Next::TakePods | Next::UpdatePods { .. } => decision.conflict.is_none() && !self.is_mute,
            Next::Write(..) | Next::Nothing => false,
        };
        if let Some(write) = is_waiting.then(|| read.beat()).flatten() {
            effects.extend(self.send(context, StepName::Beat, write));
            return (effects, None);
        }
        (effects, Some(decision))
    }

    /// Returns whether this is the run's first write: before it, nothing is done that a run would have to undo.
    pub(crate) fn is_first_write(&self, context: TurnContext<'_>, decision: &Decision) -> bool {
        let (Some(owner), Decision { conflict: None, next: Next::Write(step, _) }) = (&context.goal.owner, decision)
        else {
            return false;
        };
        let begins = *step == StepName::SetTemplate
            && self.is_ahead((&context.goal.lock, owner), context.observed.owner.as_ref());
        begins || matches!(step, StepName::SetTemplate | StepName::TakeLock) && self.is_begun(context)
    }

    /// Whether nothing was done yet for the rollout, by whatever run. `view` is `None` before the owner was read.
    fn is_ahead(&self, (ours, owner): (&Lock, &OwnerChange), view: Option<&OwnerView>) -> bool {
        let was_begun = match view {
            Some(_) => lock_on(view).is_some_and(|lock| lock.rollout.id == ours.rollout.id),
            None => owner.replaces.is_some(),
        };
        let is_untouched = self.own_lock == OwnLock::Unwritten && !owner.adopts;
        ours.rollout.direction == Direction::Forward && is_untouched && !was_begun
    }

    /// Returns whether the rollout was begun by another run, and this one has written nothing yet, and may wait.
    ///
    /// It may not where it has to stop an active run (`--take-over`), nor where the lock was lost: until it is set
    /// again, nothing keeps another client from beginning.
    pub(crate) fn is_begun(&self, context: TurnContext<'_>) -> bool {
        let Some(owner) = context.goal.owner.as_deref() else { return false };
        let is_left =
            lock_on(context.observed.owner.as_ref()).is_some_and(|lock| lock.rollout.id == *context.goal.id());
        let may_wait = owner.replaces.is_some() && !owner.adopts && owner.last_renewal.is_some();
        is_left && may_wait && self.own_lock == OwnLock::Unwritten
    }

    /// The next write waits until a pod may go down, and has the timeout of such a pod.
    pub(crate) fn waits_for_pods(&mut self, now: Now) {
        self.since = Some(now);
    }

    pub(crate) fn carry_out(&mut self, context: TurnContext<'_>, pods: &Pods, decision: Decision) -> Effects {
        let Some(owner) = &context.goal.owner else { return Effects::default() };
        let is_superseded = decision.conflict.is_some();
        // Once it has recorded the end, the owner shows only that.
        self.superseded = self.superseded.take().or(decision.conflict);
        match decision.next {
            Next::Write(step, write) => return self.send(context, step, write),
            Next::Wait(what) => return self.wait(context, what),
            Next::TakePods => {
                self.may_go = false;
                match self.fencing.advance(context, pods, owner) {
                    Ok((has_advanced, effects)) => {
                        self.since = if has_advanced { Some(context.now) } else { self.since };
                        return effects;
                    }
                    Err(why) => self.end = Some(End::Failed(why)),
                }
            }
            Next::UpdatePods { revision } => {
                self.waits_for = None;
                let is_known = self.may_go && self.revision == revision;
                (self.may_go, self.revision) = (true, revision);
                let mut effects = if is_known { Effects::default() } else { self.label_all(context, pods) };
                if self.read.at().is_none_or(|at| at + WATCHFUL <= context.now) {
                    effects.extend(self.read(context));
                }
                return effects;
            }
            Next::Nothing => {
                let why = self.superseded.clone().filter(|_| is_superseded);
                let has_changed_no_pod = || !owner.continues && pods.iter().all(|run| !run.request.patched);
                self.end = Some(match why {
                    Some(why) if self.own_lock == OwnLock::Closed && has_changed_no_pod() => {
                        End::Superseded(why + ENDED)
                    }
                    Some(why) => End::Superseded(why),
                    None => End::Closed,
                });
            }
        }
        Effects::default()
    }

    fn wait(&mut self, context: TurnContext<'_>, what: &'static str) -> Effects {
        self.may_go = false;
        if self.waits_for != Some(what) {
            self.waits_for = Some(what);
            self.since = Some(context.now);
            self.pause = SOON;
        }
        if self.read.at().unwrap_or(context.now) + self.pause > context.now {
            return Effects::default();
        }
        self.pause = (self.pause * 2).min(LATER);
        self.read(context)
    }

    fn send(&mut self, context: TurnContext<'_>, step: StepName, write: ObjectWrite) -> Effects {
        if self.read.retry_at > context.now {
            return Effects::default();
        }
        let writes = self.writes.entry(step).or_default();
        *writes = writes.saturating_add(1);
        // Copies go one a ReplicaSet, and signs of life as long as it takes; every other step is written once, unless
        // there is another writer.
        if *writes > MAX_WRITES && !matches!(step, StepName::RemoveCopy | StepName::Beat) {
            let why = format!("{} did not succeed in {MAX_WRITES} tries, each after a fresh read", step.wanted());
            self.end = Some(End::Failed(why));
            return Effects::default();
        }
        self.write(context, step, write)
    }

    fn write(&mut self, context: TurnContext<'_>, step: StepName, write: ObjectWrite) -> Effects {
        // An outstanding read would show the old state.
        self.read.forget();
        self.writing = Some(step);
        (RequestSource::OwnerWrite, Action::Write { write, field_manager: context.goal.field_manager.clone() }).into()
    }

    pub(crate) fn end(&self, context: TurnContext<'_>) -> Option<(EndResult, Option<String>)> {
        context.goal.owner.as_ref()?;
        match &self.end {
            Some(End::Failed(why)) => return Some((EndResult::Failed, Some(why.clone()))),
            Some(End::Superseded(why)) => return Some((EndResult::Superseded, Some(why.clone()))),
            Some(End::Closed) => {
                let result = match context.goal.lock.rollout.direction {
                    Direction::Forward => EndResult::Complete,
                    Direction::Back => EndResult::Aborted,
                };
                return Some((result, None));
            }
            None => {}
        }
        let late = self.since.is_some_and(|since| since + timeout(context.goal) <= context.now);
        late.then(|| {
            let why = match (self.trouble(), self.waits_for) {
                (Some(trouble), _) => trouble,
                (None, Some(what)) => format!("waited in vain for {what}"),
                (None, None) => "the owner's side did not move".into(),
            };
            (EndResult::TimedOut, Some(why))
        })
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.read.error.as_ref().map(|why| format!("the workload could not be read or written: {why}"))
    }

    pub(crate) fn next_visit(&self, context: TurnContext<'_>) -> Option<Now> {
        context.goal.owner.as_ref()?;
        let times_out = self.since.map(|since| since + timeout(context.goal));
        let parted = self.final_write.is_given_up_at().or_else(|| self.final_read.is_given_up_at());
        if self.is_waiting() {
            return [times_out, parted].into_iter().flatten().min();
        }
        let due = match (self.may_go && self.waits_for.is_none(), self.read.at()) {
            (true, Some(at)) => Some(at + WATCHFUL),
            (false, Some(at)) if self.waits_for.is_some() => Some(at + self.pause),
            (_, _) => None,
        };
        // A deadline that has passed must not hide a later one.
        let times = [times_out, parted, due, Some(self.read.retry_at), self.fencing.next_visit()];
        times.into_iter().flatten().filter(|at| *at > context.now).min()
    }
}

fn lock_on(view: Option<&OwnerView>) -> Option<Lock> {
    Lock::of(view?.object.as_ref()?).ok().flatten()
}

/// Reported for a rollout that this run has ended without changing a pod.
const ENDED: &str = "; the rollout is over and its lock released, and this run changed no pod";

fn timeout(goal: &Goal) -> Duration {
    goal.policy().timeout().max(Duration::from_secs(30))
}

fn stored(answer: &Answer) -> Stored {
    match answer {
        Answer::Accepted | Answer::Read => Stored::Yes,
        Answer::Conflict { .. } | Answer::NotDone { .. } | Answer::Refused { .. } => Stored::No,
        Answer::Unknown { .. } | Answer::ReadFailed { .. } | Answer::Hook(_) => Stored::Unknown,
    }
}

/// The server's time when the owner was read; else the wall clock when the run began, and what has passed since.
fn server_time(context: TurnContext<'_>, view: &OwnerView) -> String {
    let (began, now) = (&context.goal.clock, context.now);
    if let Some(now) = &view.now {
        return now.clone();
    }
    let seconds = i64::try_from(now.as_secs()).unwrap_or(0);
    let time = began.parse::<jiff::Timestamp>().ok();
    let time = time.and_then(|time| time.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
    time.map_or_else(|| began.clone(), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
