//! The owner's side of a turn: reads it, writes the one step that is next, and says when the pods may go.
//!
//! One request at a time, and after each write the owner is read again before anything else is decided.

mod leave;
mod pods;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::Direction;
use crate::k8s::names::PodKey;
use crate::report::Notice;
use crate::rollout::goal::Goal;
use crate::rollout::pods::Pods;
use crate::rollout::polled::PolledRead;
use crate::rollout::visit::Visit;
use crate::rollout::{Action, Answer, DEFAULT_TIMEOUT_SECONDS, Now};
use crate::state::durable::lock::Lock;
use crate::state::durable::{self, Decision, Next, ObjectWrite, OwnLock, OwnerGoal, OwnerView, StepName, Stored};
use crate::state::outcome::EndResult;

use super::taken_over::TakenOver;
use super::{Asker, Effects};

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

/// How the owner's side ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Closed,
    Superseded(String),
    Failed(String),
}

/// What is kept of the owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owner {
    read: PolledRead,
    /// The step whose write is not answered.
    writing: Option<StepName>,
    taken_over: TakenOver,
    /// What is known of this run's own lock.
    own_lock: OwnLock,
    /// The owner's generation when the last write was made.
    generation: i64,
    writes: BTreeMap<StepName, u8>,
    /// Written and accepted, not reported yet.
    accepted: Option<StepName>,
    waits_for: Option<&'static str>,
    /// Since when nothing has changed on the owner's side.
    since: Option<Now>,
    /// The pods may be patched.
    may_go: bool,
    revision: Option<String>,
    /// Why somebody else's change ends the rollout: the first reason that was found.
    superseded: Option<String>,
    end: Option<End>,
    /// When the lock was marked as stopped, and whether the answer is in.
    parting: Option<(Now, bool)>,
    /// Since when it is read for the last time before that, and whether an answer to that read is in.
    last_visit: Option<(Now, bool)>,
    /// The server does not let it give signs of life.
    is_mute: bool,
}

/// Answers.
impl Owner {
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

    pub(crate) fn answer_of_taken_over(&mut self, key: PodKey, answer: Answer, now: Now) {
        self.taken_over.answer(key, answer, now);
    }

    pub(crate) fn was_read(&mut self, answer: &Answer, now: Now) {
        let Some(asked) = self.read.asked() else { return };
        if let Some((wanted, is_in)) = &mut self.last_visit {
            *is_in |= asked >= *wanted;
        }
        if let Answer::Refused { message, .. } = answer {
            self.read.forget();
            self.end = Some(End::Failed(message.clone()));
        }
        if self.read.answered(answer, now)
            && let Some(read) = self.read.last.filter(|read| read.is_overdue())
        {
            self.read.is_stale = true;
            self.read.trouble = Some(format!("the server took {} s to answer", read.took().as_secs()));
        }
    }

    pub(crate) fn written(&mut self, answer: Answer, now: Now) {
        let Some(step) = self.writing.take() else { return };
        self.read.trouble = None;
        self.own_lock = self.own_lock.answered(step, stored(&answer), self.generation);
        match (step, answer) {
            (StepName::MarkStopped, answer) => {
                self.parting = self.parting.map(|(at, _)| (at, true));
                // The mark itself changes nothing but the lock.
                self.read.is_stale |= answer != Answer::Accepted;
                return;
            }
            // A sign of life is no step: the wait goes on as before, and nothing ends because of it.
            (StepName::Beat, Answer::Refused { .. }) => self.is_mute = true,
            (StepName::Beat, Answer::Accepted) => {}
            (step, Answer::Accepted | Answer::Read) => {
                self.accepted = Some(step);
                self.read.pause = SOON;
                self.since = Some(now);
            }
            // The outcome is read, not guessed.
            (_, Answer::Conflict { .. } | Answer::Hook(_)) => {}
            (_, Answer::Unknown { message } | Answer::ReadFailed { message }) => {
                self.read.trouble = Some(message);
                // A failing server gets time: the tries of a step are few.
                self.read.put_off(None, now);
            }
            (_, Answer::NotDone { after, message }) => {
                self.read.trouble = Some(message);
                self.read.put_off(after, now);
            }
            (step, Answer::Refused { reason, message }) => {
                self.end = Some(End::Failed(format!("{} was refused ({reason}): {message}", step.wanted())));
            }
        }
        self.read.is_stale = true;
    }

    /// What was read of the owner is no longer valid, nor is an outstanding answer.
    pub(crate) fn must_be_read(&mut self, now: Now) {
        self.read.must_be_read(now);
    }
}

/// Its part of a turn.
impl Owner {
    /// Returns whether the pods may be patched, as far as the owner is concerned.
    pub(crate) fn pods_may_go(&self) -> bool {
        self.may_go && self.end.is_none()
    }

    /// Returns whether something was written for the rollout, and the steps before its pods may go are not done. Until
    /// they are, the result of the pods ends no run: nobody could go on with the owner in that state.
    pub(crate) fn is_under_way(&self, visit: Visit<'_>) -> bool {
        visit.goal.owner.is_some() && self.end.is_none() && !self.may_go && !self.has_changed_nothing(visit)
    }

    /// Whether it was read since the last write.
    fn is_known(&self) -> bool {
        !self.read.is_stale && self.read.last.is_some()
    }

    /// Returns whether the owner was read lately enough for a pod to be taken.
    pub(crate) fn is_fresh(&self, visit: Visit<'_>) -> bool {
        let is_fresh = self.read.last.is_some_and(|read| read.is_fresh(FRESH, visit.now));
        visit.goal.owner.is_none() || !self.read.is_stale && is_fresh
    }

    pub(crate) fn read(&mut self, visit: Visit<'_>) -> Effects {
        if self.is_waiting() || self.read.not_before > visit.now {
            return Effects::default();
        }
        self.read.ask(visit.now);
        (Asker::OwnerRead, Action::ReadOwner(visit.goal.workload.clone())).into()
    }

    /// Returns where the owner's side stands, if that is known; else it is read.
    pub(crate) fn decide(&mut self, visit: Visit<'_>, pods: &Pods, is_listed: bool) -> (Effects, Option<Decision>) {
        let mut effects = Effects::default();
        let Some(owner) = &visit.goal.owner else { return (effects, None) };
        self.since.get_or_insert(visit.now);
        if let Some(step) = self.accepted.take() {
            effects.say(Notice::Owner { step });
        }
        let is_over = self.end.is_some() || visit.stopped_since.is_some() || visit.ending_since.is_some();
        if is_over || self.is_waiting() || !is_listed {
            return (effects, None);
        }
        let Some(view) = visit.world.owner().filter(|_| self.is_known()) else {
            effects.extend(self.read(visit));
            return (effects, None);
        };
        let ended = view.now.clone().unwrap_or_else(|| wall_clock(&owner.clock, visit.now));
        let state = self.state(visit, pods, view);
        let read = durable::Owner::new(owner, visit.goal.workload.kind, view, &state);
        (self.own_lock, self.generation) = (self.own_lock.seen(&read), read.generation());
        let read = read.of_run(self.own_lock, &ended);
        let decision = durable::next(&read);
        if matches!(decision.next, Next::UpdatePods { .. }) {
            // The time belongs to the pods.
            self.since = Some(visit.now);
        }
        let is_waiting = match decision.next {
            Next::Wait(_) | Next::TakePods | Next::UpdatePods { .. } => decision.conflict.is_none() && !self.is_mute,
            Next::Write(..) | Next::Nothing => false,
        };
        if let Some(write) = is_waiting.then(|| read.beat()).flatten() {
            effects.extend(self.send(visit, StepName::Beat, write));
            return (effects, None);
        }
        (effects, Some(decision))
    }

    /// Returns whether this is the run's first write: before it, nothing is done that a run would have to undo.
    pub(crate) fn is_first_write(&self, visit: Visit<'_>, decision: &Decision) -> bool {
        let (Some(owner), Decision { conflict: None, next: Next::Write(step, _) }) = (&visit.goal.owner, decision)
        else {
            return false;
        };
        let begins = *step == StepName::SetTemplate && self.is_ahead(owner, visit.world.owner());
        begins || matches!(step, StepName::SetTemplate | StepName::TakeLock) && self.is_begun(visit)
    }

    /// Whether nothing was done yet for the rollout, by whatever run. `view` is `None` before the owner was read.
    fn is_ahead(&self, owner: &OwnerGoal, view: Option<&OwnerView>) -> bool {
        let was_begun = match view {
            Some(_) => lock_on(view).is_some_and(|lock| lock.rollout.id == owner.lock.rollout.id),
            None => owner.replaces.is_some(),
        };
        let is_untouched = self.own_lock == OwnLock::Unwritten && !owner.adopts;
        owner.lock.rollout.direction == Direction::Forward && is_untouched && !was_begun
    }

    /// Returns whether the rollout was begun by another run, and this one has written nothing yet, and may wait.
    ///
    /// It may not where it has to stop an active run (`--take-over`), nor where the lock was lost: until it is set
    /// again, nothing keeps another client from beginning.
    pub(crate) fn is_begun(&self, visit: Visit<'_>) -> bool {
        let Some(owner) = visit.goal.owner.as_deref() else { return false };
        let is_left = lock_on(visit.world.owner()).is_some_and(|lock| lock.rollout.id == owner.lock.rollout.id);
        let may_wait = owner.replaces.is_some() && !owner.adopts && owner.unless_alive.is_some();
        is_left && may_wait && self.own_lock == OwnLock::Unwritten
    }

    /// The next write waits until a pod may go down, and has the timeout of such a pod.
    pub(crate) fn waits_for_pods(&mut self, now: Now) {
        self.since = Some(now);
    }

    /// Does what is next.
    pub(crate) fn carry_out(&mut self, visit: Visit<'_>, pods: &Pods, decision: Decision) -> Effects {
        let Some(owner) = &visit.goal.owner else { return Effects::default() };
        let is_superseded = decision.conflict.is_some();
        // Once it has recorded the end, the owner shows only that.
        self.superseded = self.superseded.take().or(decision.conflict);
        match decision.next {
            Next::Write(step, write) => return self.send(visit, step, write),
            Next::Wait(what) => return self.wait(visit, what),
            Next::TakePods => {
                self.may_go = false;
                match self.taken_over.advance(visit, pods, owner) {
                    Ok((has_advanced, effects)) => {
                        self.since = if has_advanced { Some(visit.now) } else { self.since };
                        return effects;
                    }
                    Err(why) => self.end = Some(End::Failed(why)),
                }
            }
            Next::UpdatePods { revision } => {
                self.waits_for = None;
                let is_known = self.may_go && self.revision == revision;
                (self.may_go, self.revision) = (true, revision);
                let mut effects = if is_known { Effects::default() } else { self.label_all(visit, pods, owner) };
                if self.read.last.is_none_or(|read| read.answered + WATCHFUL <= visit.now) {
                    effects.extend(self.read(visit));
                }
                return effects;
            }
            Next::Nothing => {
                let why = self.superseded.clone().filter(|_| is_superseded);
                let has_changed_no_pod = || !owner.continues && pods.iter().all(|(_, entry)| !entry.patched);
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

    fn wait(&mut self, visit: Visit<'_>, what: &'static str) -> Effects {
        self.may_go = false;
        if self.waits_for != Some(what) {
            self.waits_for = Some(what);
            self.since = Some(visit.now);
            self.read.pause = SOON;
        }
        let due = self.read.last.map_or(visit.now, |read| read.answered) + self.read.pause;
        if due > visit.now {
            return Effects::default();
        }
        self.read.pause = (self.read.pause * 2).min(LATER);
        self.read(visit)
    }

    fn send(&mut self, visit: Visit<'_>, step: StepName, write: ObjectWrite) -> Effects {
        if self.read.not_before > visit.now {
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
        self.write(visit, step, write)
    }

    fn write(&mut self, visit: Visit<'_>, step: StepName, write: ObjectWrite) -> Effects {
        // An outstanding read would show the old state.
        self.read.forget();
        self.writing = Some(step);
        (Asker::OwnerWrite, Action::Write { write, field_manager: visit.goal.field_manager.clone() }).into()
    }

    /// Returns the end that the owner's side decides, if it does.
    pub(crate) fn end(&self, visit: Visit<'_>) -> Option<(EndResult, Option<String>)> {
        let owner = visit.goal.owner.as_ref()?;
        match &self.end {
            Some(End::Failed(why)) => return Some((EndResult::Failed, Some(why.clone()))),
            Some(End::Superseded(why)) => return Some((EndResult::Superseded, Some(why.clone()))),
            Some(End::Closed) => {
                let result = match owner.lock.rollout.direction {
                    Direction::Forward => EndResult::Complete,
                    Direction::Back => EndResult::Aborted,
                };
                return Some((result, None));
            }
            None => {}
        }
        let late = self.since.is_some_and(|since| since + timeout(visit.goal) <= visit.now);
        late.then(|| {
            let why = match (self.trouble(), self.waits_for) {
                (Some(trouble), _) => trouble,
                (None, Some(what)) => format!("waited in vain for {what}"),
                (None, None) => "the owner's side did not move".into(),
            };
            (EndResult::TimedOut, Some(why))
        })
    }

    /// What keeps the server from answering.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.read.trouble.as_ref().map(|why| format!("the workload could not be read or written: {why}"))
    }

    /// When the owner's side has to be visited again.
    pub(crate) fn next_visit(&self, visit: Visit<'_>) -> Option<Now> {
        visit.goal.owner.as_ref()?;
        let times_out = self.since.map(|since| since + timeout(visit.goal));
        let parted = self.parted();
        if self.is_waiting() {
            return [times_out, parted].into_iter().flatten().min();
        }
        let due = match (self.may_go && self.waits_for.is_none(), self.read.last.map(|read| read.answered)) {
            (true, Some(at)) => Some(at + WATCHFUL),
            (false, Some(at)) if self.waits_for.is_some() => Some(at + self.read.pause),
            (_, _) => None,
        };
        // A time that has passed wakes nobody, and must not hide a later one.
        let times = [times_out, parted, due, Some(self.read.not_before), self.taken_over.next_visit()];
        times.into_iter().flatten().filter(|at| *at > visit.now).min()
    }
}

fn lock_on(view: Option<&OwnerView>) -> Option<Lock> {
    Lock::of(view?.object.as_ref()?).ok().flatten()
}

/// Reported for a rollout that this run has ended without changing a pod.
const ENDED: &str = "; the rollout is over and its lock released, and this run changed no pod";

fn timeout(goal: &Goal) -> Duration {
    Duration::from_secs(goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS).max(30))
}

/// What an answer says of a write.
fn stored(answer: &Answer) -> Stored {
    match answer {
        Answer::Accepted | Answer::Read => Stored::Yes,
        Answer::Conflict { .. } | Answer::NotDone { .. } | Answer::Refused { .. } => Stored::No,
        Answer::Unknown { .. } | Answer::ReadFailed { .. } | Answer::Hook(_) => Stored::Unknown,
    }
}

/// The wall clock at a time of the run: what it was at the beginning, and what has passed.
fn wall_clock(began: &str, now: Now) -> String {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(0);
    let time = began.parse::<jiff::Timestamp>().ok();
    let time = time.and_then(|time| time.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
    time.map_or_else(|| began.to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
