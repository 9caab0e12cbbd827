//! The owner's side of a turn: reads it, writes the one step that its phase asks for, and says when the pods may go.
//!
//! One request at a time, and after each write the owner is read afresh before anything else is decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::engine::durable::change::Direction;
use crate::engine::durable::lock::{LockState, RolloutLock};
use crate::engine::durable::{
    self, Cleanup, Fence, ObjectWrite, OwnLock, OwnerGoal, OwnerPhase, OwnerStep, OwnerView, PodsState, Stored,
    ThisRun, owner_phase,
};
use crate::engine::kinds::{CONTROLLER_REVISION_HASH, Revisions};
use crate::engine::metadata::ValueChange;
use crate::engine::names::{ContainerName, PodKey};
use crate::engine::outcome::EndResult;
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::record::UpdateRecord;
use crate::engine::report::Notice;

use super::goal::{ContainerGoal, DrainGoal, Goal, PodGoal};
use super::ledger::{BACK_OFF, Ledger};
use super::polled::Reading;
use super::verdict::STOP_WITHIN;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn, first_write, taken_over};
use crate::engine::policy::DEFAULT_TIMEOUT_SECONDS;

/// While a controller is waited for, the owner is read so often: at first, and at the longest.
const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(1);

/// A pod is taken only if the owner was read so lately.
const FRESH: Duration = Duration::from_millis(250);

/// While pods are in hand the owner is read so often, so that somebody else's change is seen.
const WATCHFUL: Duration = Duration::from_secs(2);

/// Writes of one step, at most: each after a fresh look.
const MAX_WRITES: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Read,
    Write(OwnerStep),
}

/// How the owner's side ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Closed,
    Superseded(String),
    Failed(String),
}

/// What is kept of the owner.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnerLedger {
    asked: Option<(ActionId, Asked, Now)>,
    /// What is known of this run's own lock.
    own_lock: OwnLock,
    /// The owner's generation when the last write was made.
    generation: i64,
    /// The read that the view came from.
    read: Option<Reading>,
    /// Something was written since the view was read.
    stale: bool,
    not_before: Now,
    pause: Duration,
    writes: BTreeMap<OwnerStep, u8>,
    /// Written and accepted, not told yet.
    accepted: Option<OwnerStep>,
    waits_for: Option<Fence>,
    /// Since when nothing has moved on the owner's side.
    since: Option<Now>,
    /// The pods may be patched.
    may_go: bool,
    revision: Option<String>,
    /// What keeps the server from answering.
    trouble: Option<String>,
    /// Why somebody else's change ends the rollout, as it was found first.
    superseded: Option<String>,
    end: Option<End>,
    /// When the lock was marked as stopped, and whether the answer is in.
    parting: Option<(Now, bool)>,
    /// Since when it is looked at for the last time before that, and whether an answer to it is in.
    last_look: Option<(Now, bool)>,
    /// The server does not let it give signs of life.
    is_mute: bool,
}

impl OwnerLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked.is_some_and(|(asked, ..)| asked == id)
    }

    /// Whether a step is. A sign of life changes nothing that the end would have to tell.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self.asked, Some((_, Asked::Write(step), _)) if step != OwnerStep::Beat)
    }

    pub(super) fn answer(&mut self, answer: Answer, now: Now) {
        let Some((_, asked, since)) = self.asked.take() else { return };
        self.trouble = None;
        if let Some((wanted, is_in)) = &mut self.last_look {
            *is_in |= asked == Asked::Read && since >= *wanted;
        }
        if let Asked::Write(step) = asked {
            self.own_lock = self.own_lock.answered(step, stored(&answer), self.generation);
        }
        match (asked, answer) {
            (Asked::Read, Answer::Read) => {
                let read = Reading { asked: since, answered: now };
                self.read = Some(read);
                self.stale = read.is_overdue();
                self.trouble = self.stale.then(|| format!("the server took {} s to answer", read.took().as_secs()));
            }
            (Asked::Read, Answer::NotRead { message } | Answer::Unknown { message } | Answer::Moved { message }) => {
                self.trouble = Some(message);
                self.not_before = now + BACK_OFF;
            }
            (Asked::Read, Answer::NotDone { after, message }) => {
                self.trouble = Some(message);
                self.not_before = now + after.unwrap_or(BACK_OFF);
            }
            (Asked::Read, Answer::Accepted | Answer::Hook(_)) => {}
            (Asked::Read, Answer::Refused { message, .. }) => self.end = Some(End::Failed(message)),
            (Asked::Write(OwnerStep::MarkStopped), answer) => {
                self.parting = self.parting.map(|(at, _)| (at, true));
                // The mark itself changes nothing but the lock.
                self.stale |= answer != Answer::Accepted;
            }
            // A sign of life is no step: what is waited for is waited for as before, and nothing ends because of it.
            (Asked::Write(OwnerStep::Beat), Answer::Refused { .. }) => {
                self.stale = true;
                self.is_mute = true;
            }
            (Asked::Write(OwnerStep::Beat), Answer::Accepted) => self.stale = true,
            (Asked::Write(step), Answer::Accepted | Answer::Read) => {
                self.stale = true;
                self.accepted = Some(step);
                self.pause = SOON;
                self.since = Some(now);
            }
            // What became of it is read, not guessed.
            (Asked::Write(_), Answer::Moved { .. } | Answer::Hook(_)) => self.stale = true,
            (Asked::Write(_), Answer::Unknown { message } | Answer::NotRead { message }) => {
                self.stale = true;
                self.trouble = Some(message);
                // A server that fails is given time: the tries of a step are few.
                self.not_before = now + BACK_OFF;
            }
            (Asked::Write(_), Answer::NotDone { after, message }) => {
                self.stale = true;
                self.trouble = Some(message);
                self.not_before = now + after.unwrap_or(BACK_OFF);
            }
            (Asked::Write(step), Answer::Refused { reason, message }) => {
                self.stale = true;
                self.end = Some(End::Failed(format!("{} was refused ({reason}): {message}", step.wanted())));
            }
        }
    }

    /// What was read of the owner counts no more.
    pub(super) fn must_be_read(&mut self) {
        self.stale = true;
    }

    fn ask(&mut self, id: ActionId, asked: Asked, now: Now) {
        self.asked = Some((id, asked, now));
    }
}

/// Returns whether the pods may be patched, as far as the owner is concerned.
pub(super) fn pods_may_go(ledger: &Ledger, _now: Now) -> bool {
    ledger.owner.may_go && ledger.owner.end.is_none()
}

/// How many pods the owner wants now: scaling is followed.
pub(super) fn replicas(goal: &Goal, world: &World) -> usize {
    let object = world.owner().and_then(|view| view.object.as_ref());
    let pointer = goal.workload.kind.replicas().pointer();
    let now = object.zip(pointer).and_then(|(object, pointer)| object.pointer(pointer)).and_then(Value::as_u64);
    usize::try_from(now.unwrap_or(u64::from(goal.replicas))).unwrap_or(0)
}

/// Returns whether a pod that is gone has left by itself; one that somebody changed has not.
pub(super) fn has_left(goal: &Goal, world: &World, pod: Option<&Arc<PodGoal>>) -> bool {
    let Some(pod) = pod.and_then(|pod| world.pod(&pod.key)) else { return true };
    let is_ours = pod.is_controlled_by(&goal.controllers);
    pod.terminating || pod.is_finished() || !is_ours
}

/// Returns whether the owner was read lately enough for a pod to be taken.
pub(super) fn is_fresh(goal: &Goal, ledger: &Ledger, now: Now) -> bool {
    goal.owner.is_none() || !ledger.owner.stale && ledger.owner.read.is_some_and(|read| read.is_fresh(FRESH, now))
}

pub(super) fn read(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if ledger.owner.asked.is_some() || ledger.owner.not_before > now {
        return;
    }
    let id = ledger.next_id();
    ledger.owner.ask(id, Asked::Read, now);
    turn.actions.push((id, Action::ReadOwner(goal.workload.clone())));
}

/// Adds the pods that a durable rollout finds after it was planned: made between its steps from the template that it
/// leaves, or not labelled with the new revision.
pub(super) fn find_pods(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now) {
    let Some(owner) = &goal.owner else { return };
    let changed: Vec<PodKey> = world.changed_since(ledger.seen).cloned().collect();
    for key in changed {
        if world.pod(&key).is_some_and(|pod| taken_over::by_another(goal, pod)) {
            // Who has it, and what has become of the rollout, the owner tells.
            ledger.owner.must_be_read();
        }
        if !ledger.position.contains_key(&key) {
            take_in(goal, owner, world, ledger, &key, now);
            if ledger.position.contains_key(&key) {
                // It may be younger than the owner that was read.
                ledger.owner.must_be_read();
            }
        }
    }
}

fn take_in(goal: &Goal, owner: &OwnerGoal, world: &World, ledger: &mut Ledger, key: &PodKey, now: Now) {
    let Some(pod) = world.pod(key).filter(|pod| !pod.terminating && !pod.is_finished()) else { return };
    let is_ours = pod.is_controlled_by(&goal.controllers);
    // Of chosen pods none is found later: what the owner makes in their place is right by itself.
    if !is_ours || !owner.lock.only.is_empty() || !is_above_partition(owner, world, pod) {
        return;
    }
    let change = owner.lock.directed();
    let wanted = ContainerGoal::of_change(&change, pod);
    let label =
        ledger.owner.revision.as_ref().filter(|revision| pod.labels.get(CONTROLLER_REVISION_HASH) != Some(revision));
    let differs = wanted.iter().any(|(_, container)| container.from != container.to);
    let mut found =
        PodGoal { key: key.clone(), containers: wanted, metadata: change.metadata, drain: drain_like(goal, pod) };
    if differs || label.is_some() || !found.metadata.left_in(pod).is_empty() {
        found.containers.retain(|_, container| container.from != container.to);
        ledger.add(labelled(found, pod, ledger.owner.revision.as_ref()), now);
    }
}

/// Pods of one owner have the same labels and gates, and so the same Services.
fn drain_like(goal: &Goal, pod: &Pod) -> Option<DrainGoal> {
    let mut known = goal.pods.iter().filter_map(|pod| pod.drain.as_ref());
    known.find(|drain| drain.by.is_on(pod)).cloned()
}

/// Under a partition the pods below it keep the revision that they have.
fn is_above_partition(owner: &OwnerGoal, world: &World, pod: &Pod) -> bool {
    let Some(strategy) = &owner.lock.strategy else { return true };
    let object = world.owner().and_then(|view| view.object.as_ref()).unwrap_or(&Value::Null);
    !durable::stateful_set::is_below_partition(strategy, object, &pod.key.name)
}

fn labelled(mut goal: PodGoal, pod: &Pod, revision: Option<&String>) -> PodGoal {
    if let Some(revision) = revision {
        let change =
            ValueChange { from: pod.labels.get(CONTROLLER_REVISION_HASH).cloned(), to: Some(revision.clone()) };
        goal.metadata.labels.insert(CONTROLLER_REVISION_HASH.into(), change);
    }
    goal
}

/// The revision that the pods are to be labelled with is known, or is another one: every pod is looked at again.
fn label_all(goal: &Goal, owner: &OwnerGoal, world: &World, ledger: &mut Ledger, now: Now) {
    let revision = ledger.owner.revision.clone();
    for position in 0..ledger.pods.len() {
        let Some(slot) = ledger.pods.get_mut(position) else { continue };
        if let Some(pod) = world.pod(&slot.key) {
            *slot = Arc::new(labelled(slot.as_ref().clone(), pod, revision.as_ref()));
        }
        ledger.timers.insert((now, position));
    }
    // In an order of their own, so that the same observations lead to the same decisions.
    let others: BTreeSet<PodKey> =
        world.pods().filter(|pod| !ledger.position.contains_key(&pod.key)).map(|pod| pod.key.clone()).collect();
    others.iter().for_each(|key| take_in(goal, owner, world, ledger, key, now));
}

/// Takes the owner's side one step further.
pub(super) fn advance(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let Some(owner) = &goal.owner else { return };
    ledger.owner.since.get_or_insert(now);
    if let Some(step) = ledger.owner.accepted.take() {
        turn.notices.push(Notice::Owner { step });
    }
    let over = ledger.owner.end.is_some() || ledger.stop.is_some() || ledger.ending_since.is_some();
    if over || ledger.owner.asked.is_some() || !ledger.listed {
        return;
    }
    let Some(view) = world.owner().filter(|_| !ledger.owner.stale && ledger.owner.read.is_some()) else {
        return read(goal, ledger, now, turn);
    };
    ledger.owner.own_lock = ledger.owner.own_lock.seen(owner, view);
    ledger.owner.generation = view.generation();
    let pods = pods_state(goal, world, ledger, view);
    let ended = view.now.clone().unwrap_or_else(|| wall_clock(&owner.clock, now));
    let run = ThisRun { ended: &ended, own_lock: ledger.owner.own_lock };
    let phase = owner_phase(owner, goal.workload.kind, view, &pods, run);
    let is_waiting = matches!(phase, OwnerPhase::Await(_) | OwnerPhase::TakePods | OwnerPhase::PodsMayGo { .. });
    let beat = if is_waiting && !ledger.owner.is_mute { durable::beat(owner, goal.workload.kind, view) } else { None };
    if let Some(write) = beat {
        return send(goal, ledger, OwnerStep::Beat, write, now, turn);
    }
    match phase {
        OwnerPhase::Do(OwnerStep::SetTemplate, _)
            if first_write::is_ahead(owner, Some(view), ledger.owner.own_lock)
                && first_write::waits(goal, world, ledger, now, turn) =>
        {
            // Its time is that of a pod that may not go down.
            ledger.owner.since = Some(now);
        }
        OwnerPhase::Do(step, write) => send(goal, ledger, step, write, now, turn),
        OwnerPhase::Await(fence) => wait(goal, ledger, fence, now, turn),
        OwnerPhase::TakePods => {
            ledger.owner.may_go = false;
            match taken_over::advance(goal, owner, world, ledger, now, turn) {
                Ok(true) => ledger.owner.since = Some(now),
                Ok(false) => {}
                Err(why) => ledger.owner.end = Some(End::Failed(why)),
            }
        }
        OwnerPhase::PodsMayGo { revision } => {
            ledger.owner.waits_for = None;
            ledger.owner.since = Some(now);
            let known = std::mem::replace(&mut ledger.owner.revision, revision);
            if !ledger.owner.may_go || known != ledger.owner.revision {
                ledger.owner.may_go = true;
                label_all(goal, owner, world, ledger, now);
            }
            if ledger.owner.read.is_none_or(|read| read.answered + WATCHFUL <= now) {
                read(goal, ledger, now, turn);
            }
        }
        OwnerPhase::Superseded { why, cleanup } => {
            // Once it has recorded the end, the owner tells only that.
            let why = ledger.owner.superseded.get_or_insert(why).clone();
            match cleanup {
                Cleanup::Do(step, write) => send(goal, ledger, step, *write, now, turn),
                Cleanup::Await(fence) => wait(goal, ledger, fence, now, turn),
                Cleanup::Nothing => ledger.owner.end = Some(End::Superseded(why)),
            }
        }
        OwnerPhase::TakenOver { by } => ledger.owner.end = Some(End::Superseded(owner.taken_over(&by))),
        OwnerPhase::Closed => ledger.owner.end = Some(End::Closed),
    }
}

/// What the pods say. A Deployment's pods may be any ReplicaSet's of its.
fn pods_state(goal: &Goal, world: &World, ledger: &Ledger, view: &OwnerView) -> PodsState {
    let done = ledger.all_done();
    let taken_over = goal.owner.as_ref().is_none_or(|owner| taken_over::is_done(owner, world, ledger));
    match goal.workload.kind.revisions() {
        Revisions::ReplicaSets if done => {
            let uid = |object: &Value| object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
            let sets: BTreeSet<String> = view.owned.iter().filter_map(uid).collect();
            let is_there = |pod: &&Pod| {
                let owned = pod.controller().is_some_and(|owner| sets.contains(owner.uid.as_str()));
                owned && !pod.terminating && !pod.is_finished()
            };
            PodsState { done, taken_over, present: world.pods().filter(is_there).count(), labels: BTreeMap::new() }
        }
        Revisions::ReplicaSets | Revisions::None => {
            PodsState { done, taken_over, present: ledger.present.len(), labels: BTreeMap::new() }
        }
        Revisions::ControllerRevisions(_) => {
            let mut labels: BTreeMap<String, usize> = BTreeMap::new();
            for pod in ledger.present.iter().filter_map(|key| world.pod(key)) {
                let label = pod.labels.get(CONTROLLER_REVISION_HASH).cloned().unwrap_or_default();
                *labels.entry(label).or_default() += 1;
            }
            PodsState { done, taken_over, present: ledger.present.len(), labels }
        }
    }
}

/// What an answer says of a write.
fn stored(answer: &Answer) -> Stored {
    match answer {
        Answer::Accepted | Answer::Read => Stored::Yes,
        Answer::Moved { .. } | Answer::NotDone { .. } | Answer::Refused { .. } => Stored::No,
        Answer::Unknown { .. } | Answer::NotRead { .. } | Answer::Hook(_) => Stored::Unknown,
    }
}

fn wait(goal: &Goal, ledger: &mut Ledger, fence: Fence, now: Now, turn: &mut Turn) {
    let owner = &mut ledger.owner;
    owner.may_go = false;
    if owner.waits_for != Some(fence) {
        owner.waits_for = Some(fence);
        owner.since = Some(now);
        owner.pause = SOON;
    }
    let due = owner.read.map_or(now, |read| read.answered) + owner.pause;
    if due <= now {
        owner.pause = (owner.pause * 2).min(LATER);
        read(goal, ledger, now, turn);
    }
}

fn send(goal: &Goal, ledger: &mut Ledger, step: OwnerStep, write: ObjectWrite, now: Now, turn: &mut Turn) {
    if ledger.owner.not_before > now {
        return;
    }
    let writes = ledger.owner.writes.entry(step).or_default();
    *writes = writes.saturating_add(1);
    // Copies go one a ReplicaSet, and signs of life as long as it takes; everything else is done once, unless somebody else
    // is at work.
    if *writes > MAX_WRITES && !matches!(step, OwnerStep::RemoveCopy | OwnerStep::Beat) {
        let why = format!("{} did not succeed in {MAX_WRITES} tries, each after a fresh look", step.wanted());
        ledger.owner.end = Some(End::Failed(why));
        return;
    }
    let id = ledger.next_id();
    ledger.owner.ask(id, Asked::Write(step), now);
    turn.actions.push((id, Action::Write { write, field_manager: goal.field_manager.clone() }));
}

/// Says how the owner's side decides the end, if it does.
pub(super) fn end(goal: &Goal, ledger: &Ledger, now: Now) -> Option<(EndResult, Option<String>)> {
    let owner = goal.owner.as_ref()?;
    match &ledger.owner.end {
        Some(End::Failed(why)) => return Some((EndResult::Failed, Some(why.clone()))),
        Some(End::Superseded(why)) => return Some((EndResult::Superseded, Some(why.clone()))),
        Some(End::Closed) => {
            let result = match owner.lock.direction {
                Direction::Forward => EndResult::Complete,
                Direction::Back => EndResult::Aborted,
            };
            return Some((result, None));
        }
        None => {}
    }
    let late = ledger.owner.since.is_some_and(|since| since + patience(goal) <= now);
    late.then(|| {
        let why = match (&ledger.owner.trouble, ledger.owner.waits_for) {
            (Some(trouble), _) => format!("the owner could not be read or written: {trouble}"),
            (None, Some(fence)) => format!("waited in vain for {}", fence.waits_for()),
            (None, None) => "the owner's side did not move".into(),
        };
        (EndResult::TimedOut, Some(why))
    })
}

fn patience(goal: &Goal) -> Duration {
    Duration::from_secs(goal.policy.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS).max(30))
}

/// Returns whether the run may end now. One that leaves the owner's lock behind first notes on it that it has stopped.
pub(super) fn may_leave(
    goal: &Goal,
    world: &World,
    ledger: &mut Ledger,
    result: EndResult,
    now: Now,
    turn: &mut Turn,
) -> bool {
    let Some(owner) = &goal.owner else { return true };
    match ledger.owner.parting {
        Some((since, false)) => return since + STOP_WITHIN <= now,
        // A mark that did not get there says that somebody else has written: who and what, the end tells.
        Some((_, true)) => {
            let is_stale = ledger.owner.stale;
            return !looks_once_more(goal, ledger, is_stale, now, turn);
        }
        None if ledger.owner.is_unanswered() => return true,
        None => {}
    }
    let state = match result {
        EndResult::Failed | EndResult::TimedOut | EndResult::Interrupted | EndResult::Terminated => LockState::Stopped,
        EndResult::Paused => LockState::Paused,
        // What the pods were changed by may be another run of the same rollout: the owner tells.
        EndResult::Superseded => return ledger.owner.end.is_some() || !looks_once_more(goal, ledger, true, now, turn),
        EndResult::Complete
        | EndResult::NothingToDo
        | EndResult::Aborted
        | EndResult::Error
        | EndResult::Changes
        | EndResult::NotEligible => return true,
    };
    let is_old = ledger.owner.stale || ledger.owner.read.is_none_or(|read| !read.is_fresh(2 * WATCHFUL, now));
    if looks_once_more(goal, ledger, is_old, now, turn) {
        return false;
    }
    let late = ledger.is_late || !ledger.unanswered.is_empty() || !taken_over::is_done(owner, world, ledger);
    let mark = world.owner().and_then(|view| durable::mark(owner, goal.workload.kind, view, state, late));
    let Some(write) = mark else { return true };
    let id = ledger.next_id();
    ledger.owner.ask(id, Asked::Write(OwnerStep::MarkStopped), now);
    (ledger.owner.parting, ledger.owner.last_look) = (Some((now, false)), None);
    turn.actions.push((id, Action::Write { write, field_manager: goal.field_manager.clone() }));
    false
}

/// What was written last may be the lock itself, which the view does not show yet, and what is under way may have been asked
/// before this process slept. Returns whether an answer to a read of its own is waited for.
fn looks_once_more(goal: &Goal, ledger: &mut Ledger, is_wanted: bool, now: Now, turn: &mut Turn) -> bool {
    if is_wanted && ledger.owner.last_look.is_none() {
        ledger.owner.last_look = Some((now, false));
    }
    let Some((since, false)) = ledger.owner.last_look else { return false };
    read(goal, ledger, now, turn);
    ledger.owner.asked.is_some() && since + STOP_WITHIN > now
}

/// Returns whether the rollout's lock stays on the owner, as far as is known: an answer that is outstanding may have set it.
pub(super) fn stays_held(goal: &Goal, world: &World, ledger: &Ledger) -> bool {
    let Some(owner) = &goal.owner else { return false };
    if matches!(ledger.owner.end, Some(End::Closed | End::Superseded(_))) {
        return false;
    }
    let object = world.owner().and_then(|view| view.object.as_ref());
    let found = object.and_then(|object| RolloutLock::of(object).ok().flatten());
    let is_unclear = ledger.owner.stale && ledger.owner.end.is_none() && !has_changed_nothing(goal, world, ledger);
    let is_anothers = object.is_some_and(|object| durable::another_run(owner, object).is_some());
    (is_unclear || found.is_some_and(|lock| lock.id == owner.lock.id)) && !is_anothers
}

/// Returns whether a durable rollout has ended before its first write, whatever answers are still to come.
pub(super) fn has_changed_nothing(goal: &Goal, world: &World, ledger: &Ledger) -> bool {
    let (Some(owner), own) = (&goal.owner, &ledger.owner) else { return false };
    let view = world.owner().filter(|_| own.read.is_some());
    !own.is_unanswered() && first_write::is_ahead(owner, view, own.own_lock)
}

/// What keeps the server from answering.
pub(super) fn trouble(ledger: &Ledger) -> Option<&str> {
    ledger.owner.trouble.as_deref()
}

/// Says who holds the owner in place of this run, if another run does.
pub(super) fn held_by(goal: &Goal, world: &World) -> Option<String> {
    let owner = goal.owner.as_ref()?;
    let by = durable::another_run(owner, world.owner()?.object.as_ref()?)?;
    Some(owner.taken_over(&by))
}

/// Says that another run of this rollout has changed the pods, where the records of those that were lost tell it.
pub(super) fn changed_by_another_run(goal: &Goal, world: &World, ledger: &Ledger) -> Option<String> {
    goal.owner.as_ref()?;
    let is_ours = |position: &usize| {
        let pod = ledger.pods.get(*position).and_then(|pod| world.pod(&pod.key));
        pod.and_then(UpdateRecord::of).is_some_and(|record| record.id == goal.id)
    };
    ledger.lost.iter().all(is_ours).then(|| "another run of this rollout has changed its pods".into())
}

/// Returns the image that the owner's template has for a container, by a look at it since the last write.
pub(super) fn template_image(goal: &Goal, world: &World, ledger: &Ledger, name: &ContainerName) -> Option<String> {
    goal.owner.as_ref().filter(|_| !ledger.owner.stale && ledger.owner.read.is_some())?;
    let template = world.owner()?.object.as_ref()?.pointer(goal.workload.kind.template_pointer())?;
    let lists = [ContainerList::Containers, ContainerList::InitContainers];
    let listed = lists.iter().filter_map(|list| template.pointer(&format!("/spec/{}", list.spec_field()))?.as_array());
    let of_name = |container: &&Value| container.get("name").and_then(Value::as_str) == Some(name.as_str());
    listed.flatten().find(of_name)?.get("image")?.as_str().map(str::to_owned)
}

/// When the owner's side has to be looked at again.
pub(super) fn next_look(goal: &Goal, ledger: &Ledger, now: Now) -> Option<Now> {
    goal.owner.as_ref()?;
    let owner = &ledger.owner;
    let patience_ends = owner.since.map(|since| since + patience(goal));
    let parted = owner
        .parting
        .map(|(since, _)| since)
        .or(owner.last_look.map(|(since, _)| since))
        .map(|since| since + STOP_WITHIN);
    if owner.asked.is_some() {
        return [patience_ends, parted].into_iter().flatten().min();
    }
    let due = match (owner.may_go && owner.waits_for.is_none(), owner.read.map(|read| read.answered)) {
        (true, Some(at)) => Some(at + WATCHFUL),
        (false, Some(at)) if owner.waits_for.is_some() => Some(at + owner.pause),
        (_, _) => None,
    };
    // A time that has passed wakes nobody, and must not hide one that is to come.
    let times = [patience_ends, parted, due, Some(owner.not_before), ledger.taken_over.next_look()];
    times.into_iter().flatten().filter(|at| *at > now).min()
}

/// The wall clock at a time of the run: what it was at the beginning, and what has passed.
fn wall_clock(began: &str, now: Now) -> String {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(0);
    let time = began.parse::<jiff::Timestamp>().ok();
    let time = time.and_then(|time| time.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
    time.map_or_else(|| began.to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
