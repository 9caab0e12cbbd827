//! Drain within a turn: a pod is out of its Services before a container of it is killed, and back in them before it is done.
//!
//! Decided from the pods (the pod's own record says what was removed) and from the EndpointSlices; only times are kept.
//! A drain by label and by readiness gate go the same way, but a gate takes one more request each way, since it is in
//! the pod's status, and its pod counts as not ready meanwhile. A run that ends restores everything first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Effect, Effects, RequestSource, by_another};
use crate::k8s::names::Uid;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::rollout::action::STOP_WITHIN;
use crate::rollout::drain::{DrainGoal, serving_in};
use crate::rollout::goal::{Goal, PodGoal};
use crate::rollout::observed::{Judged, PodContext, TurnContext};
use crate::rollout::patch::{PodPart, PodPatch, drain_patch, gate_off_patch, restore_patch};
use crate::rollout::pod_run::{MAX_SENDS, PodIndex, PodRun, RequestState, Sent, failure_of_pod};
use crate::rollout::pods::Pods;
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now, steps};
use crate::state::record::{Drained, UpdateRecord};

/// How long a pod that is done waits until its Services list it again.
const LISTED_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Default)]
struct PodDrain {
    /// Patches that begin a drain, and those that end it; for a gate also those in between: off, and on.
    takes: u8,
    restores: u8,
    switches: u8,
    switches_on: u8,
    /// What this run has seen removed by the pod's record, until it is restored.
    off: Option<Drained>,
    /// Since when the pod is seen with its label or gate removed.
    off_since: Option<Now>,
    /// Since when no slice lists it.
    out_since: Option<Now>,
    /// This run has restored it, and since when that is seen.
    restored: bool,
    back_since: Option<Now>,
    /// It was not listed again in time: to be reported.
    not_listed: Option<Vec<String>>,
}

impl PodDrain {
    fn was_abandoned(&self) -> bool {
        self.restores >= MAX_SENDS || self.switches_on >= MAX_SENDS
    }

    /// No slice lists the pod, and the drain seconds are over; or nothing of it serves.
    fn is_out(&self, context: TurnContext<'_>, goal: &PodGoal, pod: &Pod) -> bool {
        self.out_since.is_some_and(|since| since + pause(context.goal) <= context.now) || serves_nothing(goal, pod)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Drains {
    pods: BTreeMap<usize, PodDrain>,
    slices: Read,
    /// What could not be restored at the end was reported.
    left_said: bool,
}

pub(crate) fn wanted<'g>(goal: &Goal, pod_goal: &'g PodGoal) -> Option<&'g DrainGoal> {
    pod_goal.drain.as_ref().filter(|_| goal.policy().drain_seconds.is_some())
}

/// Returns the seconds that a drain adds to a pod's time: the drain seconds; and by a gate ready has to hold twice,
/// with the gate off and with it on.
pub(crate) fn seconds(goal: &Goal, pod_goal: &PodGoal) -> u64 {
    wanted(goal, pod_goal).map_or(0, |drain| {
        let again = if matches!(drain.by, Drained::Gate(_)) { goal.policy().hold_seconds(0) } else { 0 };
        u64::from(goal.policy().drain_seconds.unwrap_or(0)) + u64::from(again)
    })
}

/// Returns whether the pod's record says that something is removed, or about to be: it has to be restored.
pub(crate) fn is_owed(pod: &Pod) -> bool {
    !pod.terminating && UpdateRecord::drained(pod).is_some()
}

/// Returns whether the pod shows the last patch; `None` for a patch of images.
pub(crate) fn is_seen(pod: &Pod, sent: Sent) -> Option<bool> {
    let drained = UpdateRecord::drained(pod);
    let is_off = drained.as_ref().is_some_and(|drained| drained.is_off(pod));
    match sent {
        Sent::Images | Sent::Note | Sent::Resize => None,
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

/// How long traffic on its way has, after the last slice has dropped the pod.
fn pause(goal: &Goal) -> Duration {
    Duration::from_secs(u64::from(goal.policy().drain_seconds.unwrap_or(0)))
}

/// Nothing serves: what restarts does not run, and the patch of its image tests that it has not started since.
fn serves_nothing(goal: &PodGoal, pod: &Pod) -> bool {
    !goal.serves(pod) && !steps::resizes_next(goal, pod)
}

fn too_many_tries(what: &str) -> Judged {
    let message = format!("the server did not {what} in {MAX_SENDS} tries, each after a fresh read of the pod");
    UpdatePhase::Failing(failure_of_pod("TooManyTries", message)).into()
}

/// Somebody has removed the record of what was removed: nothing else may follow from a record that is not there.
fn note_is_gone(off: &Drained) -> Judged {
    let back = match off {
        Drained::Label(label) => format!("set its label {}={}", label.key, label.value),
        Drained::Gate(gate) => format!("set its condition {} to True", gate.gate),
    };
    let message = format!(
        "this run took {off} off the pod, and the note of it was removed by another client; restore it: {back}"
    );
    UpdatePhase::Failing(failure_of_pod("DrainNoteRemoved", message)).into()
}

fn draining_in(services: &[String]) -> Judged {
    UpdatePhase::Draining { services: services.to_vec() }.into()
}

impl Drains {
    fn of(&mut self, position: usize) -> &mut PodDrain {
        self.pods.entry(position).or_default()
    }

    /// The server refuses the patch that restores the pod.
    pub(crate) fn refused(&mut self, position: usize) {
        self.of(position).restores = MAX_SENDS;
    }

    /// Returns the phase of a pod, beyond what its containers show.
    pub(crate) fn phase(
        &mut self,
        context: TurnContext<'_>,
        subject: PodContext<'_>,
        run: &PodRun,
        judged: Judged,
    ) -> Judged {
        let Some(pod) = subject.pod.filter(|_| !context.goal.is_followed()) else { return judged };
        let drained = UpdateRecord::drained(pod);
        let services = services(subject.goal);
        let of_pod = self.of(subject.position);
        if !drained.as_ref().is_some_and(|drained| drained.is_off(pod)) {
            (of_pod.off_since, of_pod.out_since) = (None, None);
        }
        of_pod.off = match &drained {
            Some(drained) if drained.is_off(pod) => Some(drained.clone()),
            Some(_) => None,
            None => of_pod.off.take().filter(|off| off.is_off(pod)),
        };
        if let (Some(off), None, false) = (&of_pod.off, &drained, pod.terminating) {
            return note_is_gone(off);
        }
        let is_tired = |tries: u8| tries >= MAX_SENDS && run.request.is_idle();
        match (judged.phase, &drained) {
            (UpdatePhase::Patched, _) if matches!(run.request.sent, Sent::Images | Sent::Resize) => {
                UpdatePhase::Patched.into()
            }
            (UpdatePhase::Waiting | UpdatePhase::Next { .. } | UpdatePhase::Patched, Some(Drained::Gate(_)))
                if is_tired(of_pod.switches) =>
            {
                too_many_tries("turn the readiness gate off that its Services follow")
            }
            (phase @ UpdatePhase::Next { .. }, Some(drained)) => {
                let draining = self.draining(context, subject, pod, drained);
                let stays_out = drained.is_off(pod) && self.of(subject.position).is_out(context, subject.goal, pod);
                if stays_out { phase.into() } else { draining }
            }
            (UpdatePhase::Waiting | UpdatePhase::Patched, Some(drained)) => {
                self.draining(context, subject, pod, drained)
            }
            (UpdatePhase::Next { .. }, None) if run.request.sent == Sent::Drain && !run.request.is_idle() => {
                draining_in(services)
            }
            (UpdatePhase::Patched, None) if run.request.sent == Sent::Drain => draining_in(services),
            (UpdatePhase::Patched, None) => UpdatePhase::RejoiningService { services: services.to_vec() }.into(),
            (UpdatePhase::Waiting | UpdatePhase::Next { .. }, None)
                if is_tired(of_pod.takes) && wanted(context.goal, subject.goal).is_some() =>
            {
                too_many_tries("take the pod out of its Services")
            }
            (UpdatePhase::Done, Some(drained)) if of_pod.was_abandoned() && run.request.is_idle() => {
                too_many_tries(&format!("put {drained} back"))
            }
            (UpdatePhase::Done, Some(_)) => UpdatePhase::RejoiningService { services: services.to_vec() }.into(),
            (UpdatePhase::Done, None) => self.listed_again(context, subject),
            (phase, _) => Judged { phase, wake: judged.wake },
        }
    }

    /// The label or gate is removed, or about to be: is the pod out of all slices, and has it been for long enough?
    fn draining(&mut self, context: TurnContext<'_>, subject: PodContext<'_>, pod: &Pod, drained: &Drained) -> Judged {
        let services = services(subject.goal);
        let is_still_ready = matches!(drained, Drained::Gate(_)) && pod.is_ready();
        if !drained.is_off(pod) || is_still_ready {
            // A gate reaches the slices by way of the kubelet, which makes the pod not ready.
            return draining_in(services);
        }
        let off_since = *self.of(subject.position).off_since.get_or_insert(context.now);
        let listing = match self.listing(context, services, &pod.key.uid, off_since) {
            Some(listing) => listing,
            None if services.is_empty() => BTreeSet::new(),
            None => return draining_in(services),
        };
        let of_pod = self.of(subject.position);
        if !listing.is_empty() {
            of_pod.out_since = None;
            return UpdatePhase::Draining { services: listing.into_iter().map(str::to_owned).collect() }.into();
        }
        let out_since = *of_pod.out_since.get_or_insert(context.now);
        Judged { phase: UpdatePhase::Draining { services: Vec::new() }, wake: Some(out_since + pause(context.goal)) }
    }

    /// The pod is whole: do the Services list it again? A run that has not restored it itself does not wait for that.
    fn listed_again(&mut self, context: TurnContext<'_>, subject: PodContext<'_>) -> Judged {
        let services = services(subject.goal);
        let of_pod = self.of(subject.position);
        if !of_pod.restored || services.is_empty() {
            return UpdatePhase::Done.into();
        }
        let since = *of_pod.back_since.get_or_insert(context.now);
        let missing: Vec<String> = match self.listing(context, services, &subject.goal.key.uid, since) {
            None => services.to_vec(),
            Some(listing) => services.iter().filter(|service| !listing.contains(service.as_str())).cloned().collect(),
        };
        let until = since + LISTED_WITHIN;
        if !missing.is_empty() && context.now < until {
            return Judged { phase: UpdatePhase::RejoiningService { services: missing }, wake: Some(until) };
        }
        let of_pod = self.of(subject.position);
        (of_pod.restored, of_pod.back_since) = (false, None);
        of_pod.not_listed = Some(missing).filter(|missing| !missing.is_empty());
        UpdatePhase::Done.into()
    }

    pub(crate) fn say(&mut self, subject: PodContext<'_>) -> Option<Notice> {
        let missing = self.pods.get_mut(&subject.position)?.not_listed.take()?;
        let seconds = LISTED_WITHIN.as_secs();
        let trouble = self.slices.error.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let why =
            format!("it was not seen in the EndpointSlices of {} within {seconds} s{trouble}", missing.join(", "));
        Some(Notice::Drain { pod: subject.goal.key.clone(), why })
    }
}

/// The EndpointSlices: when they are read, and which pods they list.
impl Drains {
    /// Takes in the answer to a read of the slices. Returns the pods that wait for it: they are judged in the next turn.
    pub(crate) fn answer(&mut self, pods: &Pods, answer: &Answer, now: Now) -> Vec<usize> {
        self.slices.answered(answer, now);
        pods.all(PodIndex::Draining).union(pods.all(PodIndex::RejoiningService)).copied().collect()
    }

    /// Returns those of the Services that list the pod, if the slices were read after that time.
    pub(super) fn listing<'s>(
        &self,
        context: TurnContext<'_>,
        services: &'s [String],
        pod: &Uid,
        since: Now,
    ) -> Option<BTreeSet<&'s str>> {
        let slices = context.observed.slices.as_ref().filter(|_| self.slices.shows(since))?;
        Some(serving_in(slices, services, pod))
    }

    pub(crate) fn read_slices(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let runs = waited_for(pods).filter_map(|position| pods.run(position));
        let services: BTreeSet<String> = runs.flat_map(|run| services(&run.goal).iter().cloned()).collect();
        if services.is_empty() || !self.slices.poll(context.now) {
            return Effects::default();
        }
        let namespace = context.goal.workload.namespace.clone();
        (RequestSource::Slices, Action::ReadSlices { namespace, services: services.into_iter().collect() }).into()
    }

    pub(crate) fn next_visit(&self, pods: &Pods) -> Option<Now> {
        let is_wanted = self.slices.asked().is_none() && waited_for(pods).next().is_some();
        is_wanted.then(|| self.slices.due())
    }
}

/// The pods whose phase depends on the slices: out and not patched, or restored and not done.
fn waited_for(pods: &Pods) -> impl Iterator<Item = usize> + '_ {
    let drained = pods.all(PodIndex::Drained);
    let leaving = pods.all(PodIndex::Draining).intersection(drained);
    leaving.chain(pods.all(PodIndex::RejoiningService).difference(drained)).copied()
}

pub(crate) enum Due {
    Nothing,
    /// Somebody has restored it: the record is cleared, and the pod is taken again.
    Restore,
    /// Its gate is turned off, if the pod may go down.
    GateOff(PodPatch),
    /// It is out, and gets its images, if it may go down.
    Images,
}

/// The requests: those that take a pod out, step by step, and those that restore it.
impl Drains {
    /// Begins to drain a pod whose turn it is; `None` where nothing has to be done first.
    pub(crate) fn begin(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Option<Effects> {
        let goal = pods.run(position)?.goal.clone();
        let (pod, drain) = (context.observed.pod(&goal.key)?, wanted(context.goal, &goal)?);
        if serves_nothing(&goal, pod) {
            return None;
        }
        let patch = drain_patch(pod, &drain.by, &context.goal.field_manager)?;
        let of_pod = self.of(position);
        of_pod.takes = of_pod.takes.saturating_add(1);
        (of_pod.switches, of_pod.restores, of_pod.switches_on) = (0, 0, 0);
        (of_pod.restored, of_pod.back_since) = (false, None);
        let phase = UpdatePhase::Draining { services: drain.services.clone() };
        let mut effects = self.send(position, patch, Sent::Drain);
        effects.0.push(Effect::Phase(position, phase));
        Some(effects)
    }

    pub(crate) fn due(&self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Due {
        let found = context.found(pods, position).filter(|(run, _)| run.request.may_send(context.now));
        let Some((run, pod)) = found else { return Due::Nothing };
        let Some(drained) = UpdateRecord::drained(pod) else { return Due::Nothing };
        let of_pod = self.pods.get(&position);
        let is_out = of_pod.is_some_and(|of_pod| of_pod.is_out(context, &run.goal, pod));
        let is_tired = of_pod.is_some_and(|of_pod| of_pod.switches >= MAX_SENDS);
        match gate_off_patch(pod, &context.goal.field_manager) {
            None if !drained.is_off(pod) => Due::Restore,
            _ if is_tired => Due::Nothing,
            Some(patch) => Due::GateOff(patch),
            None if is_out => Due::Images,
            None => Due::Nothing,
        }
    }

    pub(crate) fn turn_off(&mut self, position: usize, patch: PodPatch) -> Effects {
        self.of(position).switches += 1;
        self.send(position, patch, Sent::GateOff)
    }

    pub(crate) fn restore(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Effects {
        let may_send = pods.run(position).is_some_and(|run| run.request.may_send(context.now));
        let restored = if may_send { self.restore_now(context, pods, position) } else { None };
        restored.unwrap_or_default()
    }

    /// Sends the next request that restores a pod, even if another request is in flight.
    pub(super) fn restore_now(&mut self, context: TurnContext<'_>, pods: &Pods, position: usize) -> Option<Effects> {
        let goal = &pods.run(position)?.goal;
        let of_pod = self.of(position);
        if of_pod.was_abandoned() {
            return None;
        }
        let pod = context.observed.pod(&goal.key).filter(|pod| !by_another(context.goal, pod))?;
        let patch = restore_patch(pod, &context.goal.field_manager)?;
        let sent = match patch.part {
            PodPart::Pod | PodPart::Resize => {
                of_pod.restores += 1;
                Sent::Restore
            }
            PodPart::Status => {
                of_pod.switches_on += 1;
                Sent::GateOn
            }
        };
        of_pod.restored = true;
        Some(self.send(position, patch, sent))
    }

    fn send(&mut self, position: usize, patch: PodPatch, sent: Sent) -> Effects {
        self.slices.hurry();
        let mut effects = Effects::default();
        effects.0.push(Effect::Sent(position, sent));
        effects.act(RequestSource::Pod(position), Action::Patch(patch));
        effects
    }
}

/// The end of a run: removed labels and gates are restored first, so far as the server lets it.
impl Drains {
    /// Restores every label and gate that was removed, as soon as no other request is in progress for the pod.
    pub(crate) fn restore_all(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        for position in pods.all(PodIndex::InProgress).difference(pods.all(PodIndex::Drained)).copied() {
            if accepted(pods, position) == Some(Sent::Drain) {
                effects.0.push(Effect::Request(position, RequestState::Unclear));
            }
        }
        for position in pods.list(PodIndex::Drained) {
            match accepted(pods, position) {
                // What was done to a gate decides what is next, and is read first.
                Some(Sent::GateOff | Sent::GateOn) => {
                    effects.0.push(Effect::Request(position, RequestState::Unclear));
                }
                // Another patch is accepted and not seen: the tests of the next patch show whether that matters.
                Some(Sent::Images | Sent::Note | Sent::Resize | Sent::HookNote | Sent::Drain) => {
                    effects.0.push(Effect::Request(position, RequestState::Idle));
                    effects.extend(self.restore_now(context, pods, position).unwrap_or_default());
                }
                Some(Sent::Restore) | None => effects.extend(self.restore(context, pods, position)),
            }
        }
        effects
    }

    /// Returns whether the run may end: everything is restored, or the time for it is over.
    pub(crate) fn can_finish(&mut self, context: TurnContext<'_>, pods: &Pods) -> (bool, Effects) {
        let mut effects = Effects::default();
        let Some(until) = self.leaves_at(context, pods) else { return (true, effects) };
        if until > context.now {
            return (false, self.restore_all(context, pods));
        }
        if !std::mem::replace(&mut self.left_said, true) {
            for pod in self.left(pods).filter_map(|position| context.observed.pod(&pods.run(position)?.goal.key)) {
                let Some(drained) = UpdateRecord::drained(pod) else { continue };
                let why = format!("{drained} could not be restored in time; the next run does it");
                effects.say(Notice::Drain { pod: pod.key.clone(), why });
            }
        }
        (true, effects)
    }

    /// The drained pods, or those that may be, that can still be restored.
    fn left<'p>(&'p self, pods: &'p Pods) -> impl Iterator<Item = usize> + 'p {
        let drained = pods.all(PodIndex::Drained);
        drained.union(pods.all(PodIndex::InProgress)).copied().filter(move |position| {
            let Some(run) = pods.run(*position) else { return false };
            if !drained.contains(position) {
                return run.request.sent == Sent::Drain && !run.request.is_idle();
            }
            let is_back = run.request.sent == Sent::Restore && run.request.state == RequestState::Accepted;
            let is_abandoned = self.pods.get(position).is_some_and(PodDrain::was_abandoned) && run.request.is_idle();
            !is_back && !is_abandoned
        })
    }

    /// Until when an end waits for them; `None` when no pod is drained.
    pub(crate) fn leaves_at(&self, context: TurnContext<'_>, pods: &Pods) -> Option<Now> {
        self.left(pods).next()?;
        Some(context.stopped_since.or(context.ending_since)? + STOP_WITHIN)
    }
}

/// Which request for the pod was done, and not seen since.
fn accepted(pods: &Pods, position: usize) -> Option<Sent> {
    pods.run(position).filter(|run| run.request.state == RequestState::Accepted).map(|run| run.request.sent)
}
