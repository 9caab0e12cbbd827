//! Drain within a turn: a pod is out of its Services before a container of it is killed, and back in them before it is done.
//!
//! Decided from the pods (the label that is off stands in the pod's own record) and from the EndpointSlices; the ledger
//! keeps only times. A run that ends puts every label back first, so far as the server lets it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::drain::serving_in;
use crate::engine::failure::Failure;
use crate::engine::patch::{PodPatch, drain_patch, restore_patch};
use crate::engine::pod::Pod;
use crate::engine::record::UpdateRecord;
use crate::engine::report::{Notice, PodPhase};

use super::fault::Fault;
use super::goal::{DrainGoal, Goal, Mode, PodGoal};
use super::ledger::{BACK_OFF, Entry, Ledger, MAX_SENDS, Request, Sent};
use super::pod_phase::Judged;
use super::verdict::STOP_WITHIN;
use super::world::World;
use super::{Action, ActionId, Answer, Now, Turn, budgets, owner, schedule, verdict};

/// While a pod is waited for, the EndpointSlices are read so often: at first, and at the longest.
const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);

/// A pod that is done is waited for so long until its Services list it again.
const LISTED_WITHIN: Duration = Duration::from_secs(30);

/// A run that is over gives the server so long to take the labels back.
const LEAVE_WITHIN: Duration = STOP_WITHIN;

/// What is kept of the EndpointSlices.
#[derive(Debug, Clone, Default)]
pub(super) struct DrainLedger {
    asked: Option<ActionId>,
    began_read: Now,
    /// When the read began that the slices known are from.
    read_at: Option<Now>,
    not_before: Now,
    pause: Duration,
    /// Why they could not be read the last time.
    trouble: Option<String>,
    /// Labels that are still off at the end were told.
    left_said: bool,
}

impl DrainLedger {
    pub(super) fn is_its(&self, id: ActionId) -> bool {
        self.asked == Some(id)
    }

    pub(super) fn answer(&mut self, answer: Answer, now: Now) {
        self.asked = None;
        self.trouble = None;
        match answer {
            Answer::Read => self.read_at = Some(self.began_read),
            Answer::Accepted | Answer::Hook(_) => {}
            Answer::Moved { message }
            | Answer::NotDone { message, .. }
            | Answer::Refused { message, .. }
            | Answer::Unknown { message }
            | Answer::NotRead { message } => {
                self.trouble = Some(message);
                self.not_before = now + BACK_OFF;
            }
        }
    }
}

/// What is kept of one pod.
#[derive(Debug, Clone, Default)]
pub(super) struct DrainEntry {
    /// Patches that take the label off, and patches that put it back.
    pub(super) takes: u8,
    pub(super) restores: u8,
    /// Since when the pod is seen without the label.
    off_since: Option<Now>,
    /// Since when no slice lists it.
    out_since: Option<Now>,
    /// This run has put the label back, and since when it is seen.
    restored: bool,
    back_since: Option<Now>,
    /// It was not listed again in time, to be said.
    not_listed: Option<Vec<String>>,
}

/// Returns how the pod is to be drained, where that is wanted and possible.
pub(super) fn wanted<'g>(goal: &Goal, pod_goal: &'g PodGoal) -> Option<&'g DrainGoal> {
    pod_goal.drain.as_ref().filter(|_| goal.policy.drain_seconds.is_some() && goal.mode != Mode::Follow)
}

/// Returns whether the pod's record says that a label is off: it has to be put back by somebody.
pub(super) fn is_owed(pod: &Pod) -> bool {
    !pod.terminating && UpdateRecord::drained(pod).is_some()
}

/// Returns whether the pod shows what the last patch was for.
pub(super) fn is_seen(world: &World, goal: &PodGoal, sent: Sent) -> Option<bool> {
    let pod = world.pod(&goal.key)?;
    match sent {
        Sent::Images => None,
        Sent::Drain => Some(UpdateRecord::drained(pod).is_some()),
        Sent::Restore => Some(UpdateRecord::drained(pod).is_none()),
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
    let off = UpdateRecord::drained(pod);
    if off.is_none() {
        (entry.drain.off_since, entry.drain.out_since) = (None, None);
    }
    match judged.phase {
        PodPhase::Patched if entry.sent == Sent::Images => judged,
        PodPhase::Waiting | PodPhase::Patched if off.is_some() => {
            entry.drain.off_since.get_or_insert(now);
            draining(goal, pod_goal, world, ledger, entry, now)
        }
        PodPhase::Next { .. } if off.is_some() => {
            entry.drain.off_since.get_or_insert(now);
            let draining = draining(goal, pod_goal, world, ledger, entry, now);
            if is_out(goal, entry, now) { judged } else { draining }
        }
        PodPhase::Next { .. } if entry.sent == Sent::Drain && !may_be_sent(entry) => {
            draining_in(services(pod_goal).to_vec())
        }
        PodPhase::Next { .. } if is_tired(entry, entry.drain.takes) && wanted(goal, pod_goal).is_some() => {
            too_many_tries("take the label off that its Services select")
        }
        PodPhase::Patched if entry.sent == Sent::Drain => draining_in(services(pod_goal).to_vec()),
        PodPhase::Patched => PodPhase::Restoring { services: services(pod_goal).to_vec() }.into(),
        PodPhase::Waiting if is_tired(entry, entry.drain.takes) && wanted(goal, pod_goal).is_some() => {
            too_many_tries("take the label off that its Services select")
        }
        PodPhase::Done if off.is_some() && is_tired(entry, entry.drain.restores) => {
            too_many_tries("put the label back that its Services select")
        }
        PodPhase::Done if off.is_some() => PodPhase::Restoring { services: services(pod_goal).to_vec() }.into(),
        PodPhase::Done => listed_again(pod_goal, world, ledger, entry, now),
        PodPhase::Waiting
        | PodPhase::Hook { .. }
        | PodPhase::Next { .. }
        | PodPhase::Draining { .. }
        | PodPhase::Restoring { .. }
        | PodPhase::Restarting { .. }
        | PodPhase::Starting
        | PodPhase::Settling { .. }
        | PodPhase::Unproven { .. }
        | PodPhase::Failing(_)
        | PodPhase::Moved { .. }
        | PodPhase::Gone { .. } => judged,
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

fn too_many_tries(what: &str) -> Judged {
    let message = format!("the server did not {what} in {MAX_SENDS} tries, each after a fresh look at the pod");
    PodPhase::Failing(Failure { container: None, reason: "TooManyTries".into(), message, exit_code: None }).into()
}

fn draining_in(services: Vec<String>) -> Judged {
    PodPhase::Draining { services }.into()
}

/// The label is off: is the pod out of all slices, and has it been for long enough?
fn draining(goal: &Goal, pod_goal: &PodGoal, world: &World, ledger: &Ledger, entry: &mut Entry, now: Now) -> Judged {
    let services = services(pod_goal);
    let Some(slices) = known_since(world, ledger, entry.drain.off_since).or(services.is_empty().then_some(&[][..]))
    else {
        return draining_in(services.to_vec());
    };
    let listing = owned(serving_in(slices, services, &pod_goal.key.uid));
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

/// The slices, if they were read after that time.
fn known_since<'w>(world: &'w World, ledger: &Ledger, since: Option<Now>) -> Option<&'w [serde_json::Value]> {
    let is_newer = ledger.drains.read_at.zip(since).is_some_and(|(read, since)| read >= since);
    world.slices().filter(|_| is_newer)
}

/// The label is back: do the Services list the pod again? A run that did not put it back itself does not ask.
fn listed_again(pod_goal: &PodGoal, world: &World, ledger: &Ledger, entry: &mut Entry, now: Now) -> Judged {
    let services = services(pod_goal);
    if !entry.drain.restored || services.is_empty() {
        return PodPhase::Done.into();
    }
    let since = *entry.drain.back_since.get_or_insert(now);
    let missing = match known_since(world, ledger, Some(since)) {
        None => services.to_vec(),
        Some(slices) => {
            let listing = serving_in(slices, services, &pod_goal.key.uid);
            services.iter().filter(|service| !listing.contains(service.as_str())).cloned().collect()
        }
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

/// Takes the pods that are drained one step further: those that are out get their images, those that are done their label.
pub(super) fn advance(goal: &Goal, world: &World, ledger: &mut Ledger, may_take: bool, now: Now, turn: &mut Turn) {
    let restoring: Vec<usize> = ledger.restoring.iter().copied().collect();
    for position in restoring {
        ledger.look();
        restore(goal, position, world, ledger, now, turn);
    }
    let draining: Vec<usize> = if may_take { ledger.draining.iter().copied().collect() } else { Vec::new() };
    for position in draining {
        ledger.look();
        take_out(goal, position, world, ledger, now, turn);
    }
}

/// Returns whether a patch of the pod may be sent now.
pub(super) fn may_send(entry: &Entry, now: Now) -> bool {
    match entry.request {
        Request::Idle => true,
        Request::BackOff { until } => until <= now,
        Request::Accepted | Request::Sent | Request::Unclear | Request::Reading | Request::ReadAt(_) => false,
    }
}

fn take_out(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get(position)) else { return };
    let Some(pod) = world.pod(&pod_goal.key).filter(|_| may_send(entry, now)) else { return };
    let Some(off) = UpdateRecord::drained(pod) else { return };
    if pod.labels.contains_key(&off.key) {
        // Somebody has put it back: the record is cleared, and the pod is taken anew.
        return restore(goal, position, world, ledger, now, turn);
    }
    // As with a pod that is taken: the first one goes alone until it has proven itself.
    let alone = ledger.done.is_empty() && goal.policy.min_ready_seconds_given.is_none();
    let others = ledger.in_hand.iter().filter(|other| **other != position && !ledger.draining.contains(other));
    let goes_alone = ledger.draining.first() == Some(&position) && others.count() == 0;
    if alone && !goes_alone {
        return;
    }
    let is_out = is_out(goal, entry, now) || ledger.has(Fault::KillsWhatIsListed);
    if is_out && may_go_down(goal, world, ledger, pod, now, turn) && !owner::must_look_first(goal, ledger, now, turn) {
        schedule::send(goal, position, world, ledger, turn, now);
    }
}

/// Whether nothing else has gone down since the pod was taken: it is counted, but it still runs.
pub(super) fn may_go_down(
    goal: &Goal,
    world: &World,
    ledger: &mut Ledger,
    pod: &Pod,
    now: Now,
    turn: &mut Turn,
) -> bool {
    let allowed = usize::try_from(goal.policy.max_unavailable).unwrap_or(usize::MAX);
    let missing = owner::replicas(goal, world).saturating_sub(ledger.present.len());
    let others = ledger.down.iter().filter(|key| **key != pod.key).count();
    !pod.is_ready() || others + missing < allowed && budgets::allow(goal, world, ledger, pod, now, turn)
}

/// Takes the label off a pod whose turn it is; returns whether that was to be done first.
pub(super) fn begin(
    goal: &Goal,
    position: usize,
    world: &World,
    ledger: &mut Ledger,
    now: Now,
    turn: &mut Turn,
) -> bool {
    let Some(pod_goal) = ledger.pods.get(position).cloned() else { return false };
    let (Some(pod), Some(drain)) = (world.pod(&pod_goal.key), wanted(goal, &pod_goal)) else { return false };
    let Some(patch) = drain_patch(pod, &drain.label, &goal.field_manager) else { return false };
    let Some(entry) = ledger.entries.get_mut(position) else { return false };
    entry.drain.takes = entry.drain.takes.saturating_add(1);
    entry.drain.restores = 0;
    (entry.drain.restored, entry.drain.back_since) = (false, None);
    entry.started.get_or_insert(now);
    let phase = PodPhase::Draining { services: drain.services.clone() };
    entry.phase = Some(phase.clone());
    let deadline = verdict::deadline(goal, world, &pod_goal, entry);
    ledger.timers.extend(deadline.map(|at| (at, position)));
    turn.notices.push(Notice::Pod { pod: pod_goal.key.clone(), phase });
    ledger.budget_said = false;
    ledger.down.insert(pod_goal.key.clone());
    push(ledger, position, patch, Sent::Drain, turn);
    super::index(goal, world, ledger, position, !pod.is_ready());
    true
}

fn restore(goal: &Goal, position: usize, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let (Some(pod_goal), Some(entry)) = (ledger.pods.get(position), ledger.entries.get_mut(position)) else { return };
    if !may_send(entry, now) || entry.drain.restores >= MAX_SENDS {
        return;
    }
    let Some(pod) = world.pod(&pod_goal.key) else { return };
    let Some(patch) = restore_patch(pod, &goal.field_manager) else { return };
    entry.drain.restores += 1;
    entry.drain.restored = true;
    push(ledger, position, patch, Sent::Restore, turn);
}

/// Sends a patch that is none of the images.
pub(super) fn push(ledger: &mut Ledger, position: usize, patch: PodPatch, sent: Sent, turn: &mut Turn) {
    ledger.drains.pause = SOON;
    let id = ledger.next_id();
    ledger.requests.insert(id, position);
    ledger.unanswered.insert(position);
    ledger.in_hand.insert(position);
    if let Some(entry) = ledger.entries.get_mut(position) {
        (entry.request, entry.sent) = (Request::Sent, sent);
    }
    turn.actions.push((id, Action::Patch(patch)));
}

/// Reads the slices when it is time.
pub(super) fn read_slices(goal: &Goal, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    if next_look(ledger).is_none_or(|due| due > now) {
        return;
    }
    let mut services: BTreeSet<String> = BTreeSet::new();
    for position in waited_for(ledger) {
        services.extend(ledger.pods.get(position).into_iter().flat_map(|pod| self::services(pod).iter().cloned()));
    }
    if services.is_empty() {
        return;
    }
    let id = ledger.next_id();
    let drains = &mut ledger.drains;
    drains.asked = Some(id);
    drains.began_read = now;
    drains.pause = (drains.pause.max(SOON) * 2).min(LATER);
    let namespace = goal.workload.namespace.clone();
    turn.actions.push((id, Action::ReadSlices { namespace, services: services.into_iter().collect() }));
}

/// The pods that the slices decide about: without their label and not patched, or with it again and not done.
fn waited_for(ledger: &Ledger) -> impl Iterator<Item = usize> + '_ {
    let leaving = ledger.draining.intersection(&ledger.drained);
    leaving.chain(ledger.restoring.difference(&ledger.drained)).copied()
}

/// When the slices have to be read again.
pub(super) fn next_look(ledger: &Ledger) -> Option<Now> {
    let drains = &ledger.drains;
    let is_wanted = drains.asked.is_none() && waited_for(ledger).next().is_some();
    let due = drains.read_at.map_or(Now::ZERO, |at| at + drains.pause.max(SOON)).max(drains.not_before);
    is_wanted.then_some(due)
}

/// Puts back every label that is off, as soon as nothing else is under way for the pod.
pub(super) fn put_back(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let unseen: Vec<usize> = ledger.in_hand.difference(&ledger.drained).copied().collect();
    for position in unseen {
        if let Some(entry) = ledger.entries.get_mut(position)
            && (entry.sent, &entry.request) == (Sent::Drain, &Request::Accepted)
        {
            // The label is off, and the pod was not seen without it.
            entry.request = Request::Unclear;
            ledger.unanswered.insert(position);
        }
    }
    let drained: Vec<usize> = ledger.drained.iter().copied().collect();
    for position in drained {
        ledger.look();
        if let Some(entry) = ledger.entries.get_mut(position)
            && entry.request == Request::Accepted
            && entry.sent != Sent::Restore
        {
            // It is accepted and not seen; the tests of the patch tell if that matters.
            entry.request = Request::Idle;
        }
        restore(goal, position, world, ledger, now, turn);
    }
}

/// Returns whether the run may end: every label is back, or there is no more time to put it back.
pub(super) fn may_leave(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) -> bool {
    if goal.mode == Mode::Follow {
        return true;
    }
    let Some(until) = leaves_at(ledger) else { return true };
    if until > now {
        put_back(goal, world, ledger, now, turn);
        schedule::read_what_is_unclear(ledger, now, turn);
        return false;
    }
    if !std::mem::replace(&mut ledger.drains.left_said, true) {
        for pod in left(ledger).filter_map(|position| world.pod(&ledger.pods.get(position)?.key)) {
            let Some(label) = UpdateRecord::drained(pod) else { continue };
            let why = format!("label {} could not be put back in time; the next run does it", label.key);
            turn.notices.push(Notice::Drain { pod: pod.key.clone(), why });
        }
    }
    true
}

/// The pods whose label is off, or may be, and may still be put back.
fn left(ledger: &Ledger) -> impl Iterator<Item = usize> + '_ {
    ledger.drained.union(&ledger.in_hand).copied().filter(|position| {
        ledger.entries.get(*position).is_some_and(|entry| {
            if !ledger.drained.contains(position) {
                return entry.sent == Sent::Drain && !matches!(entry.request, Request::Idle | Request::BackOff { .. });
            }
            let is_back = entry.sent == Sent::Restore && entry.request == Request::Accepted;
            let is_given_up = is_tired(entry, entry.drain.restores);
            !is_back && !is_given_up
        })
    })
}

/// Until when an end waits for labels; `None` when none is off.
pub(super) fn leaves_at(ledger: &Ledger) -> Option<Now> {
    left(ledger).next()?;
    let since = ledger.stop.map(|(_, since)| since).or(ledger.ending_since)?;
    Some(since + LEAVE_WITHIN)
}
