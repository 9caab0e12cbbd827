//! The promises of the rollout, checked from outside: counted from the world and from the simulator's truth, never
//! from the [`RunState`].

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::{ContainerStatus, Pod};
use crate::report::Notice;
use crate::report::progress::{Stage, UpdatePhase};
use crate::rollout::patch::PodPatch;
use crate::state::evidence::Baseline;
use crate::state::hook::HookPhase;
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

use super::super::pod_progress::has_ended_once;
use super::super::pod_run::{MAX_SENDS, Sent};
use super::super::{Action, ActionId, CANARY_HOLD_SECONDS, Goal, Now, Observed, PodGoal, RESTARTED_HOLD_SECONDS, Turn};
use super::WANTED;
use super::api_server::ApiServer;
use super::drained::sent_of;
use super::kubelet::Kubelet;
use super::nature::STARTUP_PERIOD;
use super::resized::{self, is_resize};
use super::shown::{
    belongs, containers_are_ready, has_left, is_begun, is_drained, is_reported_for_good, is_unchanged, loses_requests,
    replaced,
};

/// What may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Invariant {
    Budget,
    /// A pod is taken down while traffic reaches it.
    Listed,
    /// A label or gate is not restored at the end.
    LabelLeft,
    Canary,
    ForeignPod,
    OtherWriter,
    Sends,
    Unanswered,
    Blind,
    Idempotent,
    Relist,
    AfterEnd,
    TooEarly,
    TooLate,
    WrongEnd,
    Interrupt,
    AfterFailure,
    LateFailure,
    Deadline,
    Livelock,
    PulledFirst,
    PullLeft,
    DisruptionBudget,
    /// A later container changes before the earlier ones are done.
    Order,
    /// A command around a pod is left out, or comes when it should not.
    Hook,
    /// A pod is said to be resized, and its kubelet has not done it; or something restarts for it.
    Resized,
    /// A pod to which nothing was sent is reported as failed, or is left although there was a place for it.
    NeverSent,
}

/// One broken promise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Violation {
    pub(super) invariant: Invariant,
    pub(super) at: Now,
    pub(super) what: String,
}

/// What the judge remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Invariants {
    pub(super) violations: Vec<Violation>,
    /// The last phase that this run reported of each pod.
    pub(super) said: BTreeMap<PodKey, UpdatePhase>,
    pub(super) done_ever: BTreeSet<PodKey>,
    pub(super) done_in_this_run: bool,
    /// Patches that were carried out.
    pub(super) executed: BTreeSet<PodKey>,
    /// Of those: their images.
    pub(super) images: BTreeSet<PodKey>,
    pub(super) resized: BTreeSet<PodKey>,
    /// And those that have only the note of a resize, which changes nothing.
    pub(super) noted: BTreeSet<PodKey>,
    /// Requests that only resize.
    pub(super) resizing: BTreeSet<ActionId>,
    pub(super) outstanding: BTreeMap<ActionId, PodKey>,
    /// An answer was lost or reported a conflict, and the pod was not read since.
    pub(super) unclear: BTreeSet<PodKey>,
    pub(super) sends: BTreeMap<(PodKey, Sent, String), u8>,
    first_sent: BTreeMap<PodKey, Now>,
    /// Since when it is in progress, at the earliest.
    in_progress: BTreeMap<PodKey, Now>,
    ready: BTreeMap<PodKey, Ready>,
    unverified_since: BTreeMap<PodKey, Now>,
    crashing_since: BTreeMap<PodKey, Now>,
    pub(super) began: Now,
    failed_at: Option<Now>,
    conflict: bool,
    pub(super) stopped_at: Option<Now>,
    stuck: u32,
    /// Since when the watch is up to date.
    live_since: Now,
    was_live: bool,
}

/// Since when a pod is ready with the images that are wanted.
#[derive(Debug, Clone)]
struct Ready {
    containers: Vec<String>,
    since: Now,
    /// And has the wanted size: a resize that restarts nothing need not hold.
    resized: Option<Now>,
}

/// What the invariants are checked against.
pub(super) struct Truth<'a> {
    pub(super) goal: &'a Goal,
    pub(super) observed: &'a Observed,
    /// What is stored, whatever the run has seen of it.
    pub(super) stored: &'a ApiServer,
    pub(super) kubelets: &'a BTreeMap<PodKey, Kubelet>,
    pub(super) watch_is_live: bool,
    pub(super) same_digest: bool,
    pub(super) listed: &'a BTreeSet<PodKey>,
    /// Commands that ended well.
    pub(super) passed: &'a BTreeSet<(PodKey, HookPhase)>,
    /// Of those: when, in this run, and not begun again since.
    pub(super) passed_last: &'a BTreeMap<(PodKey, HookPhase), Now>,
    pub(super) slowest_answer: Duration,
    pub(super) now: Now,
    /// Every node that has to pull has done so, or may not.
    pub(super) has_pulled: bool,
    pub(super) min_available: Option<usize>,
    /// Nothing but a pod's own failure keeps any pod from being updated.
    pub(super) is_undisturbed: bool,
}

impl Truth<'_> {
    pub(super) fn asks(&self, goal: &PodGoal, pod: &Pod) -> bool {
        resized::asks(self.goal, pod) && goal.containers.keys().all(|name| self.asks_of(goal, pod, name))
    }

    pub(super) fn asks_of(&self, goal: &PodGoal, pod: &Pod, name: &ContainerName) -> bool {
        let wanted = goal.containers.get(name).and_then(|wanted| wanted.to.as_ref());
        pod.spec_of(name).is_some_and(|container| Some(&container.image) == wanted)
    }

    /// It has the image and the size that are wanted.
    fn is_new(&self, goal: &PodGoal, pod: &Pod) -> bool {
        self.runs(goal, pod) && resized::is_done(self.goal, pod, self.kubelets.get(&pod.key))
    }

    /// The container that the observed status shows was really made of the wanted image.
    fn runs(&self, goal: &PodGoal, pod: &Pod) -> bool {
        let truth = self.kubelets.get(&pod.key).map(|kubelet| &kubelet.truth);
        self.asks(goal, pod)
            && goal.containers.iter().all(|(name, wanted)| {
                let status = pod.status_of(name);
                let id = status.filter(|status| status.state.running.is_some());
                let id = id.and_then(|status| status.container_id.as_ref());
                id.is_some_and(|id| truth.and_then(|truth| truth.get(id)) == wanted.to.as_ref())
            })
    }

    fn belongs(&self, pod: &Pod) -> bool {
        belongs(self.goal, pod)
    }

    fn hold(&self, goal: &PodGoal, pod: &Pod, canary: bool) -> Duration {
        if goal.containers.is_empty() {
            return Duration::ZERO;
        }
        let policy = self.goal.policy();
        let containers = || goal.containers.keys().filter_map(|name| pod.container(name)).map(|(_, _, c)| c);
        let startup = containers().any(|container| container.startup_probe.is_some());
        let blind = containers().any(|container| container.readiness_probe.is_none());
        let base = u64::from(policy.owner_min_ready_seconds).max(if startup { STARTUP_PERIOD } else { 0 });
        let ended_once = goal.containers.keys().any(|name| has_ended_once(pod, name, &Baseline::of(pod, name)));
        let base = base.max(if ended_once { u64::from(RESTARTED_HOLD_SECONDS) } else { 0 });
        let canary = if blind && canary { u64::from(CANARY_HOLD_SECONDS) } else { 0 };
        Duration::from_secs(policy.min_ready_seconds_given.map_or(base.max(canary), u64::from))
    }
}

impl Invariants {
    pub(super) fn broken(&mut self, invariant: Invariant, at: Now, what: impl Into<String>) {
        self.violations.push(Violation { invariant, at, what: what.into() });
    }

    pub(super) fn new_state(&mut self, now: Now) {
        self.began = now;
        self.done_in_this_run = false;
        self.said.clear();
        self.outstanding.clear();
        self.resizing.clear();
        self.unclear.clear();
        self.sends.clear();
        self.first_sent.clear();
        self.in_progress.clear();
        self.unverified_since.clear();
        self.crashing_since.clear();
        // Since when a pod is ready is known to this run alone.
        self.ready.values_mut().for_each(|ready| ready.since = now);
    }

    /// Takes in what has been delivered, before the turn.
    pub(super) fn visit(&mut self, truth: &Truth<'_>) {
        if truth.watch_is_live && !self.was_live {
            self.live_since = truth.now;
        }
        self.was_live = truth.watch_is_live;
        let mut failed = false;
        for goal in &truth.goal.pods {
            let Some(pod) = truth.observed.pod(&goal.key) else {
                self.ready.remove(&goal.key);
                continue;
            };
            let says_no = self.has_failed(truth, goal, pod) || resized::is_infeasible(pod);
            failed |= truth.belongs(pod) && truth.asks(goal, pod) && says_no;
            self.conflict |= truth.belongs(pod) && self.has_conflict(truth, goal, pod);
            // A status that is older than the spec says nothing of a resize.
            let lags = goal.fields.resizes()
                && pod.status.observed_generation.is_some_and(|seen| Some(seen) < pod.generation)
                && self.said.get(&goal.key) != Some(&UpdatePhase::Done);
            if !(goal.containers.is_empty() || pod.is_ready()) || !truth.runs(goal, pod) {
                self.ready.remove(&goal.key);
                continue;
            }
            let ids = pod.status.container_statuses.iter().filter(|status| goal.containers.contains_key(&status.name));
            let mut key: Vec<String> = ids.filter_map(|status| status.container_id.clone()).collect();
            key.extend(pod.ready_condition().and_then(|condition| condition.last_transition_time.clone()));
            let known = self.ready.remove(&goal.key).filter(|known| known.containers == key);
            let since = known.as_ref().map_or(truth.now, |known| known.since);
            let resized = (truth.is_new(goal, pod) && !lags).then_some(truth.now);
            let resized = resized.map(|now| known.and_then(|known| known.resized).unwrap_or(now));
            self.ready.insert(goal.key.clone(), Ready { containers: key, since, resized });
        }
        let stops = failed && !truth.goal.policy().goes_on_after_failure;
        self.failed_at = if stops { self.failed_at.or(Some(truth.now)) } else { None };
    }

    /// Whether it has failed for good. With equal digests one crash says nothing, the next one does.
    fn has_failed(&mut self, truth: &Truth<'_>, goal: &PodGoal, pod: &Pod) -> bool {
        let is_reported = is_reported_for_good(goal, pod);
        let is_crash = |status: &&ContainerStatus| {
            status.state.waiting.as_ref().is_some_and(|waiting| waiting.reason == "CrashLoopBackOff")
        };
        if !truth.same_digest || !pod.status.container_statuses.iter().any(|status| is_crash(&status)) {
            return is_reported;
        }
        let since = self.crashing_since.entry(goal.key.clone()).or_insert(truth.now);
        is_reported && truth.now > *since + Duration::from_secs(30)
    }

    fn has_conflict(&self, truth: &Truth<'_>, goal: &PodGoal, pod: &Pod) -> bool {
        goal.containers.iter().any(|(name, wanted)| {
            let image = pod.spec_of(name).map(|container| container.image.clone());
            let by_us = || {
                UpdateRecord::of(pod)
                    .is_some_and(|record| record.id == *truth.goal.id() && !record.later.contains_key(name))
            };
            wanted.from.is_some() && image != wanted.to && (image != wanted.from || by_us())
        })
    }

    /// Judges one turn.
    pub(super) fn judge(&mut self, turn: &Turn, truth: &Truth<'_>) {
        let newly_done = self.hear(turn, truth);
        self.judge_sends(turn, truth);
        let ended = turn.end.as_ref().map(|outcome| outcome.result);
        self.judge_lateness(&newly_done, ended, truth);
        if ended == Some(EndResult::Complete) {
            self.judge_completion(truth);
        }
        if ended == Some(EndResult::Deferred) {
            self.judge_what_is_left(truth);
        }
        if truth.goal.policy().goes_on_after_failure && matches!(ended, Some(EndResult::Failed | EndResult::TimedOut)) {
            self.judge_what_went_on(truth);
        }
        let waits = turn.wake.is_none_or(|wake| wake > truth.now) || !turn.actions.is_empty();
        self.stuck = if waits { 0 } else { self.stuck + 1 };
        if self.stuck > 2 && ended.is_none() {
            self.broken(Invariant::Livelock, truth.now, "wake lies in the past again and again");
        }
    }

    /// Checks what is reported; `Done` must be true.
    fn hear(&mut self, turn: &Turn, truth: &Truth<'_>) -> Vec<PodKey> {
        let mut newly_done = Vec::new();
        for notice in &turn.notices {
            let Notice::Pod { pod, phase } = notice else { continue };
            self.judge_failure(pod, phase, truth);
            if self.is_failing(self.said.get(pod)) && matches!(phase, UpdatePhase::RejoiningService { .. }) {
                // Abandoned and proven after all: it has a deadline of its own to be back in its Services.
                self.first_sent.insert(pod.clone(), truth.now);
            }
            self.said.insert(pod.clone(), phase.clone());
            if phase.stage() == Stage::InProgress {
                self.in_progress.entry(pod.clone()).or_insert(truth.now);
            }
            if matches!(phase, UpdatePhase::Unverified { .. }) {
                self.unverified_since.entry(pod.clone()).or_insert(truth.now);
            }
            if matches!(phase, UpdatePhase::Left { .. }) {
                // Everything that takes it down is done, and others may follow.
                self.done_ever.insert(pod.clone());
            }
            if *phase != UpdatePhase::Done {
                continue;
            }
            newly_done.push(pod.clone());
            let Some(goal) = truth.goal.pods.iter().find(|goal| goal.key == *pod) else {
                self.broken(Invariant::ForeignPod, truth.now, format!("{pod} is none of the goal's"));
                continue;
            };
            let held = truth.observed.pod(pod).zip(self.ready.get(pod)).is_some_and(|(seen, ready)| {
                ready.since + truth.hold(goal, seen, !self.done_in_this_run || truth.goal.is_followed()) <= truth.now
            });
            if truth.observed.pod(pod).is_none_or(|seen| !resized::is_done(truth.goal, seen, truth.kubelets.get(pod))) {
                self.broken(Invariant::Resized, truth.now, format!("{pod} is said to be done"));
            }
            // A single observation is enough where nothing has to hold.
            if !held || !truth.watch_is_live && !goal.containers.is_empty() {
                self.broken(Invariant::TooEarly, truth.now, format!("{pod} is said to be done"));
            }
            self.done_in_this_run = true;
            self.done_ever.insert(pod.clone());
        }
        newly_done
    }

    fn judge_sends(&mut self, turn: &Turn, truth: &Truth<'_>) {
        let now = truth.now;
        let mut taken: BTreeSet<PodKey> = BTreeSet::new();
        for (id, action) in &turn.actions {
            let Action::Patch(patch) = action else { continue };
            let (key, sent) = (&patch.key, sent_of(patch));
            if matches!(sent, Sent::Restore | Sent::GateOn) {
                if self.outstanding.values().any(|other| other == key) {
                    self.broken(Invariant::Unanswered, now, format!("{key} is put back"));
                }
                self.outstanding.insert(*id, key.clone());
                continue;
            }
            let goal = truth.goal.pods.iter().find(|goal| goal.key == *key);
            let Some((goal, pod)) = goal.zip(truth.observed.pod(key)).filter(|(_, pod)| truth.belongs(pod)) else {
                self.broken(Invariant::ForeignPod, now, format!("{key} is patched"));
                continue;
            };
            if truth.asks(goal, pod) || truth.goal.is_followed() {
                self.broken(Invariant::ForeignPod, now, format!("{key} is patched again"));
            }
            if sent == Sent::Images {
                self.judge_order(goal, pod, patch, truth);
            }
            self.judge_resize(goal, pod, sent, truth);
            let sends = self.sends.entry((key.clone(), sent, replaced(patch))).or_default();
            *sends = sends.saturating_add(1);
            let sends = *sends;
            let waits = self.outstanding.values().any(|other| other == key) || self.unclear.contains(key);
            for (invariant, is_broken) in [
                (Invariant::Sends, sends > MAX_SENDS),
                (Invariant::Unanswered, waits),
                (Invariant::Blind, !truth.watch_is_live),
                (Invariant::OtherWriter, self.conflict),
                (Invariant::AfterFailure, self.failed_at.is_some()),
                (Invariant::Interrupt, self.stopped_at.is_some()),
                (Invariant::PulledFirst, !truth.has_pulled && !is_resize(sent)),
                (Invariant::Listed, sent == Sent::Images && loses_requests(goal, pod) && truth.listed.contains(key)),
            ] {
                if is_broken {
                    self.broken(invariant, now, format!("{key} is patched, send {sends}"));
                }
            }
            if !is_resize(sent) {
                self.judge_budget(pod, sent, &taken, truth);
            }
            // A resize takes nothing down.
            if is_resize(sent) {
                self.resizing.insert(*id);
            } else {
                taken.insert(key.clone());
            }
            self.outstanding.insert(*id, key.clone());
            // Until a patch of its images is stored it may have to wait for others.
            if sent == Sent::Images && !self.images.contains(key) {
                self.first_sent.insert(key.clone(), now);
            } else if sent == Sent::Images {
                self.first_sent.entry(key.clone()).or_insert(now);
            }
        }
    }

    /// Counts the pods that are down, from the world and the truth, before this one is added.
    fn judge_budget(&mut self, pod: &Pod, sent: Sent, taken: &BTreeSet<PodKey>, truth: &Truth<'_>) {
        let max = usize::try_from(truth.goal.policy().max_unavailable).expect("small");
        let outstanding = self.outstanding.iter().filter(|(id, _)| !self.resizing.contains(*id)).map(|(_, key)| key);
        let patched = self.executed.iter().chain(outstanding).chain(taken);
        let in_progress: BTreeSet<&PodKey> = patched.filter(|key| !self.done_ever.contains(*key)).collect();
        let is_there = |key: &&PodKey| truth.observed.pod(key).is_some_and(|pod| truth.belongs(pod));
        let in_progress: BTreeSet<&PodKey> = in_progress.into_iter().filter(is_there).collect();
        let in_progress: BTreeSet<&PodKey> = in_progress.into_iter().filter(|key| **key != pod.key).collect();
        let (before, alone) = (in_progress.len(), truth.goal.policy().min_ready_seconds_given != Some(0));
        let present: Vec<&Pod> = truth.observed.pods().filter(|pod| truth.belongs(pod)).collect();
        let missing = usize::try_from(truth.goal.replicas).expect("small").saturating_sub(present.len());
        // Pods that only wait out of their Services still run: they give way to one of them that is patched.
        let has_begun = |key: &&PodKey| {
            let gate = self.sends.keys().any(|(pod, sent, _)| pod == *key && *sent == Sent::GateOff);
            sent == Sent::Drain || gate || self.images.contains(*key) || taken.contains(*key)
        };
        let goes = |other: &&Pod| in_progress.get(&other.key).is_some_and(has_begun);
        let down = present.iter().filter(|other| !other.is_ready() || goes(other)).count() + missing;
        // Every pod that shows as ready and was not taken, of any owner: the budget selects them all.
        // A pod between two of its containers is healthy until its next request.
        let is_between = |other: &&Pod| {
            let waits = matches!(self.said.get(&other.key), Some(UpdatePhase::Next { .. }));
            waits && UpdateRecord::drained(other).is_none() && !taken.contains(&other.key)
        };
        let stays = |other: &&Pod| {
            other.is_ready() && !other.terminating && (!goes(other) || is_between(other)) && other.key != pod.key
        };
        let left = truth.observed.pods().filter(stays).count();
        // The budget may have counted a new pod that the watch has not delivered yet.
        let left = left.max(truth.stored.list().iter().filter(stays).count());
        // A pod that is down by our doing, as with its gate off, does not go free.
        let is_up = pod.is_ready() || containers_are_ready(pod);
        let breaks_budget = pod.is_ready() && truth.min_available.is_some_and(|least| left < least);
        // Where the others go on, a failed pod proves nothing more.
        let proves = |key: &&&PodKey| has_begun(key) && !self.is_failing(self.said.get(**key));
        let begun_before = in_progress.iter().filter(proves).count();
        if breaks_budget {
            let what = format!("{} is taken, {left} stay, of {:?}", pod.key, truth.min_available);
            self.broken(Invariant::DisruptionBudget, truth.now, what);
        }
        let down = down - usize::from(is_up && !pod.is_ready());
        // A pod between two of its containers counts as down since the first.
        let is_counted = self.images.contains(&pod.key) && is_begun(truth.goal, pod);
        if before >= max || (is_up && !is_counted && down >= max) {
            let what = format!("{} is taken with {before} in hand and {down} down of {max}", pod.key);
            self.broken(Invariant::Budget, truth.now, what);
        }
        if alone && begun_before >= 1 && !self.done_in_this_run {
            self.broken(Invariant::Canary, truth.now, format!("{} is taken beside the first", pod.key));
        }
    }

    fn judge_lateness(&mut self, newly_done: &[PodKey], ended: Option<EndResult>, truth: &Truth<'_>) {
        let now = truth.now;
        if ended.is_none() {
            let seconds = Duration::from_secs;
            let labels = seconds(if truth.goal.policy().drain_seconds.is_some() { 6 } else { 0 });
            // Pull pods are created, deleted, and listed, each with an answer of its own.
            let pulls = if truth.goal.pulls.is_empty() { seconds(0) } else { seconds(10) + 4 * truth.slowest_answer };
            // Requests to the owner in flight are waited for, and then it is marked.
            let owner = if truth.goal.owner.is_some() { 4 * truth.slowest_answer } else { seconds(0) };
            let is_late = self.failed_at.is_some_and(|since| now > since + seconds(2) + labels + pulls + owner);
            if is_late && self.stopped_at.is_none() {
                self.broken(Invariant::LateFailure, now, "a pod failed for good and it goes on");
            }
            // Requests in flight are waited for, and then the mark on the owner.
            let parting = seconds(if truth.goal.owner.is_some() { 12 } else { 5 });
            if self.stopped_at.is_some_and(|since| now > since + parting) {
                self.broken(Invariant::Interrupt, now, "it goes on after an interrupt");
            }
        }
        for goal in &truth.goal.pods {
            let said = self.said.get(&goal.key).cloned();
            let said = said.as_ref();
            self.judge_deadline(goal, ended, truth);
            let Some((pod, ready)) = truth.observed.pod(&goal.key).zip(self.ready.get(&goal.key)) else { continue };
            let Some(resized) = ready.resized else { continue };
            let grace = match self.unverified_since.get(&goal.key) {
                // The kubelet's events are read every five seconds.
                Some(unverified) => {
                    // A proof by restart alone has to hold for longer, and a container that the kubelet leaves running
                    // for as long as it would take to stop both containers.
                    let left_running = 2 * pod.termination_grace_seconds() + 10;
                    let alone = Duration::from_secs(6 + u64::from(RESTARTED_HOLD_SECONDS).max(left_running));
                    unverified.saturating_sub(ready.since) + alone + 2 * truth.slowest_answer
                }
                None => Duration::ZERO,
            };
            // Its `--before-pod` command is waited for, whoever has updated the pod meanwhile.
            let commanded = truth.passed_last.get(&(goal.key.clone(), HookPhase::Before)).copied().unwrap_or_default();
            let held = ready.since + truth.hold(goal, pod, true) + grace;
            let due = held.max(resized).max(self.live_since).max(commanded);
            let is_done = said == Some(&UpdatePhase::Done);
            let is_late = if newly_done.contains(&goal.key) { due < now } else { due <= now && !is_done };
            // A verdict on the whole rollout comes first.
            // The pod goes back into its Services first.
            let excused = is_drained(goal)
                || truth.goal.hooks.after_pod.is_some()
                || matches!(said, Some(UpdatePhase::Hook { .. }))
                || ended.is_some()
                || !truth.watch_is_live
                || self.failed_at.is_some()
                || !truth.belongs(pod)
                || self.is_failing(said);
            if is_late && !excused && !is_unchanged(goal, pod) {
                let what = format!("{} was ready long enough at {due:?}; said: {said:?}", goal.key);
                self.broken(Invariant::TooLate, now, what);
            }
        }
    }

    pub(super) fn is_failing(&self, said: Option<&UpdatePhase>) -> bool {
        matches!(said, Some(UpdatePhase::Failing(_)))
    }

    fn judge_completion(&mut self, truth: &Truth<'_>) {
        let left = |goal: &PodGoal| has_left(truth.goal, truth.observed.pod(&goal.key));
        for goal in truth.goal.pods.iter().filter(|goal| !left(goal)) {
            // While its owner's end is recorded, a ready pod may become unready.
            let may_waver = goal.containers.is_empty() || truth.goal.owner.is_some();
            let is_ready = |pod: &Pod| may_waver || pod.is_ready();
            let good = truth.observed.pod(&goal.key).is_some_and(|pod| is_ready(pod) && truth.is_new(goal, pod));
            if !good {
                self.broken(Invariant::WrongEnd, truth.now, format!("complete, but {} is not", goal.key));
            }
        }
    }
}
