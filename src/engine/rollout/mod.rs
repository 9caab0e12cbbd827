//! The rollout: level-triggered, a pure function from what is wanted and what is observed to what to do next.
//!
//! There is no stored step. [`turn`] looks at the goal, the world and the time and says what to do now, what is worth
//! saying, when to look again at the latest, and whether it is over. Called twice on the same world it does nothing the
//! second time. A new [`Ledger`] on the same world goes on where the old one stood.

mod admission;
mod anew;
mod budgets;
mod drain;
mod fault;
mod first_write;
mod given_up;
mod goal;
mod hooks;
mod ledger;
mod owner;
mod pod_phase;
mod polled;
mod pulls;
mod schedule;
#[cfg(test)]
mod simulation;
mod standing;
mod steps;
mod taken_over;
mod verdict;
mod world;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::policy::{CANARY_HOLD_SECONDS, DEFAULT_TIMEOUT_SECONDS, Policy, RESTARTED_HOLD_SECONDS};
pub use goal::{ContainerGoal, DrainGoal, Goal, Mode, PodGoal};
pub use ledger::Ledger;
pub use pulls::{delete_pull_pod, pull_pods_of};
pub use world::{Observation, Watch, World};

use super::durable::ObjectWrite;
use super::hook::{HookEnd, HookRun};
use super::names::{PodKey, WorkloadRef};
use super::patch::PodPatch;
use super::progress::{PodPhase, Stage};
use super::report::{Notice, Outcome};
use ledger::Request;

/// Time since the rollout's start, by a clock that only goes forward.
pub type Now = Duration;

/// Seconds after which silence is broken by a sign of life.
pub const SIGN_OF_LIFE_SECONDS: u64 = 30;

/// Which action an answer belongs to; unique in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionId(pub u64);

/// What the shell is to carry out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Send the patch, once.
    Patch(PodPatch),
    /// Write to the owner or to what belongs to it, once.
    Write {
        /// What.
        write: ObjectWrite,
        /// The field manager.
        field_manager: String,
    },
    /// Read the owner and what belongs to it, and tell as an observation.
    ReadOwner(WorkloadRef),
    /// Read the pods that pull images for a workload and tell as an observation.
    ReadPullPods {
        /// The namespace.
        namespace: String,
        /// The label selector that finds them.
        selector: String,
    },
    /// Read the PodDisruptionBudgets of a namespace and tell as an observation.
    ReadBudgets {
        /// The namespace.
        namespace: String,
    },
    /// Read the EndpointSlices of these Services and tell as an observation.
    ReadSlices {
        /// The namespace.
        namespace: String,
        /// The names of the Services.
        services: Vec<String>,
    },
    /// Run the person's command around a pod; the command is the goal's.
    Hook(HookRun),
    /// Read the pod and tell as an observation.
    Read(PodKey),
    /// Read the kubelet's events about changed definitions and tell as an observation.
    ReadEvents(PodKey),
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// The patch was stored.
    Accepted,
    /// A test of the patch failed, or the pod is gone: what it rested on has moved.
    Moved {
        /// The server's words.
        message: String,
    },
    /// Certainly not done; may be sent again.
    NotDone {
        /// The server said when.
        after: Option<Duration>,
        /// Why.
        message: String,
    },
    /// Refused for good.
    Refused {
        /// CamelCase.
        reason: String,
        /// The server's words.
        message: String,
    },
    /// May have been done.
    Unknown {
        /// Why it is not known.
        message: String,
    },
    /// The person's command has ended.
    Hook(HookEnd),
    /// A read has ended; what it found was told before.
    Read,
    /// A read failed.
    NotRead {
        /// Why.
        message: String,
    },
}

/// Who asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stop {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP, or an output that nobody reads any more.
    Terminate,
}

/// What one look at the world says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// To be carried out now, side by side.
    pub actions: Vec<(ActionId, Action)>,
    /// Worth saying, in order.
    pub notices: Vec<Notice>,
    /// Look again at this time, even if nothing happens.
    pub wake: Option<Now>,
    /// It is over.
    pub end: Option<Outcome>,
}

/// Says what to do next. The only scheduler.
pub fn turn(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now) -> Turn {
    let mut turn = Turn::default();
    if ledger.ended {
        return turn;
    }
    begin(goal, ledger, now);
    let is_back = watch_notices(world, ledger, &mut turn);
    owner::find_pods(goal, world, ledger, now);
    anew::look(goal, world, ledger, now);
    anew::say(world, ledger, now, &mut turn);
    hooks::say(ledger, &mut turn);
    budgets::say(ledger, &mut turn);
    judge_what_changed(goal, world, ledger, is_back, now, &mut turn);
    if ledger.stop.is_some() && !ledger.stop_said {
        ledger.stop_said = true;
        turn.notices.push(Notice::Stopping);
    }
    pulls::advance(goal, world, ledger, now, &mut turn);
    if ledger.pulls.is_over() {
        owner::advance(goal, world, ledger, now, &mut turn);
    }
    if ledger.stop.is_some() && goal.mode != Mode::Follow {
        // The only thing that is sent after an interrupt.
        drain::put_back(goal, world, ledger, now, &mut turn);
    }
    let mut outcome = verdict::end(goal, world, ledger, now);
    if outcome.is_none() {
        if ledger.pulls.is_over() || ledger.has(fault::Fault::IgnoresPulls) {
            schedule::act(goal, world, ledger, now, &mut turn);
        } else if ledger.stop.is_none() {
            // Of pods that another run has patched.
            schedule::read_events(ledger, now, &mut turn);
        }
        if !ledger.failing.is_empty() {
            // Only now is it known which pods wait for others: it may be all that is there beside those that failed.
            outcome = verdict::end(goal, world, ledger, now);
        }
    }
    if let Some(outcome) = outcome {
        finish(goal, world, ledger, outcome, now, &mut turn);
        return turn;
    }
    speak_up(ledger, now, &mut turn);
    turn.wake = verdict::next_look(goal, ledger, now);
    turn
}

/// Ends it with this outcome, once nothing of ours is left.
fn finish(goal: &Goal, world: &World, ledger: &mut Ledger, outcome: Outcome, now: Now, turn: &mut Turn) {
    if !ledger.pulls.is_over() {
        ledger.pulls.leave(outcome.result, outcome.why.clone());
        pulls::advance(goal, world, ledger, now, turn);
    }
    let nothing_is_left = pulls::may_leave(ledger, now) & drain::may_leave(goal, world, ledger, now, turn);
    if nothing_is_left && owner::may_leave(goal, world, ledger, outcome.result, now, turn) {
        ledger.ended = true;
        (turn.end, turn.wake) = (Some(outcome), None);
        return;
    }
    turn.wake = verdict::next_look(goal, ledger, now);
}

/// Says how things stand when a person will not wait for the end.
pub fn leave(goal: &Goal, world: &World, ledger: &Ledger, now: Now) -> Outcome {
    verdict::leave(goal, world, ledger, now)
}

fn begin(goal: &Goal, ledger: &mut Ledger, now: Now) {
    if ledger.began.is_some() {
        return;
    }
    ledger.began = Some(now);
    ledger.last_said = now;
    goal.pods.iter().for_each(|pod| ledger.add(pod.clone(), now));
}

/// Returns whether the watch is back: what rests on time alone was left open meanwhile.
fn watch_notices(world: &World, ledger: &mut Ledger, turn: &mut Turn) -> bool {
    match world.watch() {
        Watch::Lost(why) if !ledger.watch_was_lost => {
            ledger.watch_was_lost = true;
            turn.notices.push(Notice::WatchLost { why: why.clone() });
        }
        Watch::Live if ledger.watch_was_lost => {
            ledger.watch_was_lost = false;
            // What the watch brings may be of much later than the owner that was read, by a clock that slept meanwhile.
            ledger.owner.must_be_read();
            turn.notices.push(Notice::WatchRestored);
            return true;
        }
        Watch::Opening | Watch::Live | Watch::Lost(_) => {}
    }
    false
}

/// Judges every pod that changed since the last turn, and every pod whose time has come.
fn judge_what_changed(goal: &Goal, world: &World, ledger: &mut Ledger, is_back: bool, now: Now, turn: &mut Turn) {
    let changed: Vec<PodKey> = world.changed_since(ledger.seen).cloned().collect();
    ledger.seen = world.version();
    let mut positions: Vec<usize> = Vec::new();
    for key in changed {
        match ledger.position.get(&key) {
            Some(position) => positions.push(*position),
            None => count(goal, world, ledger, &key, false),
        }
    }
    if is_back {
        positions.extend(&ledger.in_hand);
    }
    if !ledger.listed && *world.watch() == Watch::Live {
        ledger.listed = true;
        // Nothing else ever tells of a pod that was gone before the first list.
        let missing = ledger.pods.iter().enumerate().filter(|(_, pod)| world.pod(&pod.key).is_none());
        positions.extend(missing.map(|(position, _)| position));
    }
    while let Some((at, position)) = ledger.timers.first().copied()
        && at <= now
    {
        ledger.timers.pop_first();
        positions.push(position);
    }
    positions.sort_unstable();
    positions.dedup();
    for position in positions {
        judge(goal, world, ledger, position, now, turn);
    }
}

fn judge(goal: &Goal, world: &World, ledger: &mut Ledger, position: usize, now: Now, turn: &mut Turn) {
    ledger.look();
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position).cloned(), ledger.entries.get_mut(position)) else {
        return;
    };
    let pod_goal = pod_goal.as_ref();
    let mut entry = std::mem::take(entry);
    if let Some(wake) = entry.wake.take() {
        ledger.timers.remove(&(wake, position));
    }
    let is_seen = drain::is_seen(world, pod_goal, entry.sent)
        .unwrap_or_else(|| asks_for_it(goal, world, pod_goal, entry.sent_step));
    if matches!(entry.request, Request::Accepted | Request::BackOff { .. }) && is_seen {
        entry.request = Request::Idle;
    }
    if let Some(why) = entry.retrying.take() {
        turn.notices.push(Notice::Retrying { pod: pod_goal.key.clone(), why });
    }
    let judged = pod_phase::pod_phase(goal, pod_goal, world, ledger, &mut entry, now);
    let judged = drain::phase(goal, pod_goal, world, ledger, &mut entry, judged, now);
    let judged = hooks::phase(goal, pod_goal, world, &entry, judged);
    let deadline = verdict::deadline(goal, world, pod_goal, &entry);
    let judged = given_up::judge(goal, &mut entry, judged, deadline.is_some_and(|deadline| deadline <= now), now);
    drain::say(pod_goal, ledger, &mut entry, turn);
    for (container, why) in &mut entry.by_restart {
        let said = why.take().map(|why| (pod_goal.key.clone(), container.clone(), why));
        turn.notices.extend(said.map(|(pod, container, why)| Notice::Evidence { pod, container, why }));
    }
    let followed = goal.mode == Mode::Follow && !matches!(judged.phase, PodPhase::Done);
    if followed || entry.patched || !matches!(judged.phase.stage(), Stage::Waiting | Stage::Done) {
        entry.started.get_or_insert(now);
    }
    if !matches!(judged.phase, PodPhase::Waiting | PodPhase::Next { .. } | PodPhase::Draining { .. }) {
        entry.release(now);
    }
    entry.is_whole = given_up::is_whole(goal, pod_goal, world, &entry, &judged.phase);
    if matches!(judged.phase, PodPhase::Done) {
        // A pod that stops being ready later gets a deadline of its own.
        entry.started = None;
    }
    if entry.phase.as_ref() != Some(&judged.phase) {
        if entry.phase.is_some() || !matches!(judged.phase, PodPhase::Waiting) {
            turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase: judged.phase.clone() });
        }
        entry.phase = Some(judged.phase);
    }
    let requested = match entry.request {
        Request::BackOff { until } | Request::ReadAt(until) => Some(until),
        Request::Idle | Request::Sent | Request::Accepted | Request::Unclear | Request::Reading => None,
    };
    let deadline = verdict::deadline(goal, world, pod_goal, &entry);
    entry.wake = [judged.wake, requested, deadline, entry.events_at].into_iter().flatten().filter(|at| *at > now).min();
    if let Some(wake) = entry.wake {
        ledger.timers.insert((wake, position));
    }
    let late = deadline.is_some_and(|deadline| deadline <= now);
    if late {
        ledger.late.insert(position)
    } else {
        ledger.late.remove(&position)
    };
    let in_hand = entry.is_in_hand();
    if let Some(slot) = ledger.entries.get_mut(position) {
        *slot = entry;
    }
    let broken = world.pod(&pod_goal.key).is_some_and(|pod| !pod.is_ready());
    index(goal, world, ledger, position, broken);
    count(goal, world, ledger, &pod_goal.key, in_hand);
}

/// Keeps the sets of positions true for one of them.
fn index(goal: &Goal, world: &World, ledger: &mut Ledger, position: usize, broken: bool) {
    let Some(entry) = ledger.entries.get(position) else { return };
    let phase = entry.phase.as_ref();
    let stage = phase.map(PodPhase::stage);
    let waiting = stage == Some(Stage::Waiting);
    let gone = matches!(phase, Some(PodPhase::Gone { .. }));
    let leaves = gone && goal.mode == Mode::Durable && owner::has_left(goal, world, ledger.pods.get(position));
    let lost = !leaves && stage == Some(Stage::Lost);
    let (done, failing) = (stage == Some(Stage::Done), stage == Some(Stage::Failed));
    let draining = matches!(phase, Some(PodPhase::Draining { .. }));
    let restoring = matches!(phase, Some(PodPhase::Restoring { .. }));
    let drained = ledger
        .pods
        .get(position)
        .and_then(|pod| world.pod(&pod.key))
        .is_some_and(|pod| drain::is_owed(pod) && !taken_over::by_another(goal, pod));
    let next = matches!(phase, Some(PodPhase::Next { .. }));
    let hooked = matches!(phase, Some(PodPhase::Hook { .. }));
    let (in_hand, unanswered) = (entry.is_in_hand(), entry.is_unanswered());
    let put_off = waiting && matches!(entry.request, Request::BackOff { .. });
    let unverified = matches!(phase, Some(PodPhase::Unverified { .. }));
    for (set, belongs) in [
        (&mut ledger.waiting, waiting),
        (&mut ledger.put_off, put_off),
        (&mut ledger.broken, waiting && broken),
        (&mut ledger.draining, draining),
        (&mut ledger.restoring, restoring),
        (&mut ledger.drained, drained),
        (&mut ledger.next, next),
        (&mut ledger.hooked, hooked),
        (&mut ledger.unverified, unverified),
        (&mut ledger.lost, lost),
        (&mut ledger.replaced, leaves),
        (&mut ledger.done, done),
        (&mut ledger.failing, failing),
        (&mut ledger.in_hand, in_hand),
        (&mut ledger.unanswered, unanswered),
    ] {
        if belongs {
            set.insert(position)
        } else {
            set.remove(&position)
        };
    }
}

/// Keeps the counts of the owner's pods true for one of them: the budget counts every pod of the owner.
fn count(goal: &Goal, world: &World, ledger: &mut Ledger, key: &PodKey, in_hand: bool) {
    ledger.look();
    let pod = world.pod(key).filter(|pod| !pod.terminating && !pod.is_finished() && belongs(goal, ledger, pod));
    let Some(pod) = pod else {
        ledger.present.remove(key);
        ledger.down.remove(key);
        return;
    };
    ledger.present.insert(key.clone());
    if in_hand || !pod.is_ready() {
        ledger.down.insert(key.clone());
    } else {
        ledger.down.remove(key);
    }
}

fn belongs(goal: &Goal, ledger: &Ledger, pod: &super::pod::Pod) -> bool {
    match pod.controller() {
        Some(owner) => goal.controllers.contains(&owner.uid),
        None => ledger.position.contains_key(&pod.key),
    }
}

fn asks_for_it(goal: &Goal, world: &World, pod_goal: &PodGoal, step: usize) -> bool {
    world.pod(&pod_goal.key).is_some_and(|pod| steps::asks_for(goal, pod_goal, pod, step))
}

/// A sign of life after half a minute of silence.
fn speak_up(ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if ledger.ending_since.is_some() {
        return;
    }
    if !turn.notices.is_empty() {
        ledger.last_said = now;
        return;
    }
    if now < ledger.last_said + Duration::from_secs(SIGN_OF_LIFE_SECONDS) {
        return;
    }
    ledger.last_said = now;
    let pods = ledger.in_hand.iter().filter_map(|position| ledger.pods.get(*position)).map(|pod| pod.key.clone());
    turn.notices.push(Notice::StillWaiting {
        done: ledger.done.len(),
        total: ledger.pods.len(),
        pods: pods.take(10).collect(),
    });
}
