//! Drain within a turn: a pod is out of its Services before a container of it is killed, and back in them before it is done.
//!
//! Decided from the pods (what is off stands in the pod's own record) and from the EndpointSlices; the ledger keeps only
//! times. By label and by readiness gate a pod goes the same way; only that a gate takes a request more each way, since it
//! is in the pod's status, and that its pod counts as not ready meanwhile. A run that ends puts everything back first.

mod leave;
mod requests;
mod slices;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::failure::Failure;
use crate::engine::pod::Pod;
use crate::engine::progress::PodPhase;
use crate::engine::record::{Drained, UpdateRecord};
use crate::engine::report::Notice;

use super::goal::{DrainGoal, Goal, Mode, PodGoal};
use super::ledger::{Entry, Ledger, MAX_SENDS, Request, Sent};
use super::pod_phase::Judged;
use super::verdict::STOP_WITHIN;
use super::world::World;
use super::{Now, Turn};

pub(super) use leave::{leaves_at, may_leave, put_back};
pub(super) use requests::{advance, begin, may_send, push};
pub(super) use slices::{DrainLedger, next_look, read_slices};

/// A pod that is done is waited for so long until its Services list it again.
const LISTED_WITHIN: Duration = Duration::from_secs(30);

/// A run that is over gives the server so long to take back what is off.
const LEAVE_WITHIN: Duration = STOP_WITHIN;

/// What is kept of one pod.
#[derive(Debug, Clone, Default)]
pub(super) struct DrainEntry {
    /// Patches that begin a drain, and those that end it; what comes between for a gate: off, and on.
    pub(super) takes: u8,
    pub(super) restores: u8,
    switches: u8,
    switches_on: u8,
    /// Since when the pod is seen with its label or gate off.
    off_since: Option<Now>,
    /// Since when no slice lists it.
    out_since: Option<Now>,
    /// This run has put it back, and since when it is seen.
    restored: bool,
    back_since: Option<Now>,
    /// It was not listed again in time, to be said.
    not_listed: Option<Vec<String>>,
}

/// Returns how the pod is to be drained, where that is wanted and possible.
pub(super) fn wanted<'g>(goal: &Goal, pod_goal: &'g PodGoal) -> Option<&'g DrainGoal> {
    pod_goal.drain.as_ref().filter(|_| goal.policy.drain_seconds.is_some() && goal.mode != Mode::Follow)
}

/// Returns the seconds that a drain adds to a pod's time: what traffic gets; and by a gate ready has to hold twice, with
/// the gate off and with it on.
pub(super) fn seconds(goal: &Goal, pod_goal: &PodGoal) -> u64 {
    let hold = goal.policy.min_ready_seconds_given.unwrap_or(goal.policy.owner_min_ready_seconds);
    wanted(goal, pod_goal).map_or(0, |drain| {
        let again = if matches!(drain.by, Drained::Gate(_)) { hold } else { 0 };
        u64::from(goal.policy.drain_seconds.unwrap_or(0)) + u64::from(again)
    })
}

/// Returns whether the pod's record says that something is off, or about to be: somebody has to put it back.
pub(super) fn is_owed(pod: &Pod) -> bool {
    !pod.terminating && UpdateRecord::drained(pod).is_some()
}

/// Returns whether the pod shows what the last patch was for.
pub(super) fn is_seen(world: &World, goal: &PodGoal, sent: Sent) -> Option<bool> {
    let pod = world.pod(&goal.key)?;
    let drained = UpdateRecord::drained(pod);
    let is_off = drained.as_ref().is_some_and(|drained| drained.is_off(pod));
    match sent {
        Sent::Images => None,
        Sent::Drain => Some(drained.is_some()),
        Sent::GateOff => Some(is_off),
        Sent::GateOn => Some(!is_off),
        Sent::Restore => Some(drained.is_none()),
        Sent::HookNote => Some(!UpdateRecord::of(pod).is_some_and(|record| record.owes_after_pod)),
    }
}

fn services(pod_goal: &PodGoal) -> &[String] {
    pod_goal.drain.as_ref().map_or(&[], |drain| drain.services.as_slice())
}

fn owned(services: BTreeSet<&str>) -> Vec<String> {
    services.into_iter().map(str::to_owned).collect()
}

/// Says where a pod stands, beyond what its containers say.
pub(super) fn phase(
    goal: &Goal,
    pod_goal: &PodGoal,
    world: &World,
    ledger: &Ledger,
    entry: &mut Entry,
    judged: Judged,
    now: Now,
) -> Judged {
    let Some(pod) = world.pod(&pod_goal.key).filter(|_| goal.mode != Mode::Follow) else { return judged };
    let drained = UpdateRecord::drained(pod);
    if !drained.as_ref().is_some_and(|drained| drained.is_off(pod)) {
        (entry.drain.off_since, entry.drain.out_since) = (None, None);
    }
    match (judged.phase, &drained) {
        (PodPhase::Patched, _) if entry.sent == Sent::Images => PodPhase::Patched.into(),
        (PodPhase::Waiting | PodPhase::Next { .. } | PodPhase::Patched, Some(Drained::Gate(_)))
            if is_tired(entry, entry.drain.switches) =>
        {
            too_many_tries("turn the readiness gate off that its Services follow")
        }
        (phase @ PodPhase::Next { .. }, Some(drained)) => {
            let draining = draining(goal, pod_goal, (pod, drained), world, ledger, entry, now);
            let stays_out = drained.is_off(pod) && is_out(goal, entry, now);
            if stays_out { phase.into() } else { draining }
        }
        (PodPhase::Waiting | PodPhase::Patched, Some(drained)) => {
            draining(goal, pod_goal, (pod, drained), world, ledger, entry, now)
        }
        (PodPhase::Next { .. }, None) if entry.sent == Sent::Drain && !may_be_sent(entry) => {
            draining_in(services(pod_goal).to_vec())
        }
        (PodPhase::Patched, None) if entry.sent == Sent::Drain => draining_in(services(pod_goal).to_vec()),
        (PodPhase::Patched, None) => PodPhase::Restoring { services: services(pod_goal).to_vec() }.into(),
        (PodPhase::Waiting | PodPhase::Next { .. }, None)
            if is_tired(entry, entry.drain.takes) && wanted(goal, pod_goal).is_some() =>
        {
            too_many_tries("take the pod out of its Services")
        }
        (PodPhase::Done, Some(drained)) if is_given_up(entry) => too_many_tries(&format!("put {drained} back")),
        (PodPhase::Done, Some(_)) => PodPhase::Restoring { services: services(pod_goal).to_vec() }.into(),
        (PodPhase::Done, None) => listed_again(pod_goal, world, ledger, entry, now),
        (phase, _) => Judged { phase, wake: judged.wake },
    }
}

fn is_tired(entry: &Entry, tries: u8) -> bool {
    tries >= MAX_SENDS && may_be_sent(entry)
}

/// Nothing is under way for the pod.
fn may_be_sent(entry: &Entry) -> bool {
    matches!(entry.request, Request::Idle | Request::BackOff { .. })
}

/// No slice lists the pod, and traffic has had its time.
fn is_out(goal: &Goal, entry: &Entry, now: Now) -> bool {
    entry.drain.out_since.is_some_and(|since| since + pause(goal) <= now)
}

/// Whether there were enough tries to put the pod back, and the last one is over.
fn is_given_up(entry: &Entry) -> bool {
    requests::gave_up(entry) && matches!(entry.request, Request::Idle | Request::BackOff { .. })
}

fn too_many_tries(what: &str) -> Judged {
    let message = format!("the server did not {what} in {MAX_SENDS} tries, each after a fresh look at the pod");
    PodPhase::Failing(Failure { container: None, reason: "TooManyTries".into(), message, exit_code: None }).into()
}

fn draining_in(services: Vec<String>) -> Judged {
    PodPhase::Draining { services }.into()
}

/// It is off, or about to go off: is the pod out of all slices, and has it been for long enough?
fn draining(
    goal: &Goal,
    pod_goal: &PodGoal,
    (pod, drained): (&Pod, &Drained),
    world: &World,
    ledger: &Ledger,
    entry: &mut Entry,
    now: Now,
) -> Judged {
    let services = services(pod_goal);
    let is_still_ready = matches!(drained, Drained::Gate(_)) && pod.is_ready();
    if !drained.is_off(pod) || is_still_ready {
        // A gate reaches the slices by way of the kubelet, which makes the pod not ready.
        return draining_in(services.to_vec());
    }
    let off_since = *entry.drain.off_since.get_or_insert(now);
    let listing = match slices::listing(world, ledger, services, &pod.key.uid, Some(off_since)) {
        Some(listing) => owned(listing),
        None if services.is_empty() => Vec::new(),
        None => return draining_in(services.to_vec()),
    };
    if !listing.is_empty() {
        entry.drain.out_since = None;
        return draining_in(listing);
    }
    let out_since = *entry.drain.out_since.get_or_insert(now);
    Judged { phase: PodPhase::Draining { services: Vec::new() }, wake: Some(out_since + pause(goal)) }
}

/// How long traffic that is on its way has, after the last slice has let go of the pod.
fn pause(goal: &Goal) -> Duration {
    Duration::from_secs(u64::from(goal.policy.drain_seconds.unwrap_or(0)))
}

/// The pod is whole: do the Services list it again? A run that did not put it back itself does not ask.
fn listed_again(pod_goal: &PodGoal, world: &World, ledger: &Ledger, entry: &mut Entry, now: Now) -> Judged {
    let services = services(pod_goal);
    if !entry.drain.restored || services.is_empty() {
        return PodPhase::Done.into();
    }
    let since = *entry.drain.back_since.get_or_insert(now);
    let missing = match slices::listing(world, ledger, services, &pod_goal.key.uid, Some(since)) {
        None => services.to_vec(),
        Some(listing) => services.iter().filter(|service| !listing.contains(service.as_str())).cloned().collect(),
    };
    let until = since + LISTED_WITHIN;
    if !missing.is_empty() && now < until {
        return Judged { phase: PodPhase::Restoring { services: missing }, wake: Some(until) };
    }
    (entry.drain.restored, entry.drain.back_since) = (false, None);
    entry.drain.not_listed = Some(missing).filter(|missing| !missing.is_empty());
    PodPhase::Done.into()
}

/// Says that a pod was not listed again in time.
pub(super) fn say(pod_goal: &PodGoal, ledger: &Ledger, entry: &mut Entry, turn: &mut Turn) {
    let Some(missing) = entry.drain.not_listed.take() else { return };
    let seconds = LISTED_WITHIN.as_secs();
    let trouble = ledger.drains.trouble.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let why = format!("it was not seen in the EndpointSlices of {} within {seconds} s{trouble}", missing.join(", "));
    turn.notices.push(Notice::Drain { pod: pod_goal.key.clone(), why });
}
