//! The pods of the run, and every index over them. What is kept of a pod changes here, or while the pod is judged: between
//! [`Pods::open`] and [`Pods::judged`]. So the sets, the counts and the timers are always true, and every new phase is
//! reported.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::state::hook::HookPhase;

use super::goal::{Goal, Mode, PodGoal};
use super::observed::{Judged, TurnContext};
use super::pod_run::{PodIndex, PodRun, RequestState, Sent, Taken};
use super::{Answer, Now};

static NONE: BTreeSet<usize> = BTreeSet::new();

#[derive(Debug, Clone, Default)]
pub(super) struct Pods {
    /// The goal's pods, and in a durable rollout those that were found later.
    runs: Vec<PodRun>,
    position: HashMap<PodKey, usize>,
    sets: BTreeMap<PodIndex, BTreeSet<usize>>,
    /// Pods of the owner that exist and are not terminating.
    present: BTreeSet<PodKey>,
    /// Of those: not ready, or in progress.
    down: BTreeSet<PodKey>,
    timers: BTreeSet<(Now, usize)>,
    /// Replacement pods have not been ready for long enough.
    waits_for_replacements: bool,
    /// How often a pod was begun, or begun again.
    begun: u64,
    /// How many pods were visited: a test holds that a turn costs what changed.
    #[cfg(test)]
    pub(super) visits: std::cell::Cell<usize>,
}

impl Pods {
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// The number of pods that are still part of the rollout: a pod that was deleted or evicted is not.
    pub(super) fn pods_in_rollout(&self) -> usize {
        self.len().saturating_sub(self.all(PodIndex::Replaced).len())
    }

    pub(super) fn position(&self, key: &PodKey) -> Option<usize> {
        self.position.get(key).copied()
    }

    pub(super) fn run(&self, position: usize) -> Option<&PodRun> {
        self.runs.get(position)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &PodRun> {
        self.runs.iter()
    }

    /// Returns the positions of the pods in that state, in their order.
    pub(super) fn all(&self, what: PodIndex) -> &BTreeSet<usize> {
        self.sets.get(&what).unwrap_or(&NONE)
    }

    pub(super) fn runs(&self, what: PodIndex) -> impl Iterator<Item = &PodRun> {
        self.all(what).iter().filter_map(|position| self.run(*position))
    }

    /// Returns the same positions as a list, so that the caller can change these pods.
    pub(super) fn list(&self, what: PodIndex) -> Vec<usize> {
        let all: Vec<usize> = self.all(what).iter().copied().collect();
        self.count_visits(all.len());
        all
    }

    pub(super) fn present(&self) -> &BTreeSet<PodKey> {
        &self.present
    }

    pub(super) fn down(&self) -> &BTreeSet<PodKey> {
        &self.down
    }

    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Returns whether a pod is one of the owner's, or of the goal where nobody owns them.
    pub(super) fn is_owners(&self, context: TurnContext<'_>, pod: &Pod) -> bool {
        if context.goal.is_in_turns() {
            return self.position.contains_key(&pod.key);
        }
        // A pod that its controller has released belongs to nobody.
        let is_known = || pod.controller().is_some() || self.position.contains_key(&pod.key);
        pod.belongs_to(&context.goal.controllers) && is_known()
    }

    /// Returns whether no other pod of the goal has been proven yet.
    pub(super) fn is_canary(&self, key: &PodKey, goal: &Goal) -> bool {
        match goal.mode() {
            Mode::Follow => true,
            Mode::PodsOnly | Mode::Durable => self.proofs().all(|position| self.position.get(key) == Some(position)),
        }
    }

    /// Returns whether a pod has proven itself that restarts a container: one that only gets its label back proves
    /// nothing.
    pub(super) fn has_proof(&self) -> bool {
        self.proofs().next().is_some()
    }

    fn proofs(&self) -> impl Iterator<Item = &usize> {
        // A pod that was done has proven the change, whatever becomes of it afterwards.
        let was_done = |position: &&usize| self.run(**position).is_some_and(|run| run.evidence.was_done);
        let done = self.all(PodIndex::Done).iter().chain(self.all(PodIndex::Replaced).iter().filter(was_done));
        done.filter(|position| self.run(**position).is_some_and(|run| run.goal.proves()))
    }

    /// Returns whether this run has taken the pod: it no longer counts before the next pause.
    pub(super) fn is_taken(&self, position: usize) -> bool {
        self.run(position).is_some_and(|run| run.steps.taken != Taken::No)
    }

    /// How many more pods may be taken before the next pause; `None` is no limit.
    pub(super) fn pods_until_pause(&self, goal: &Goal) -> Option<usize> {
        // `--canary` counts the rollout's pods, whichever run took them; `--pause-after` counts this run's.
        let is_begun = |position: usize| {
            self.is_taken(position)
                || goal.policy().canary.is_some()
                    && [PodIndex::Done, PodIndex::InProgress].iter().any(|is| self.all(*is).contains(&position))
        };
        let after = goal.policy().canary.or(goal.policy().pause_after)?;
        let taken = (0..self.len()).filter(|position| is_begun(*position)).count();
        Some(usize::try_from(after).unwrap_or(usize::MAX).saturating_sub(taken))
    }

    /// Returns whether it stops here because of `--canary` or `--pause-after`.
    pub(super) fn pauses_now(&self, goal: &Goal) -> bool {
        self.all(PodIndex::InProgress).is_subset(self.all(PodIndex::Failed))
            && !self.all(PodIndex::Waiting).is_empty()
            && !self.all(PodIndex::Waiting).iter().any(|position| self.is_taken(*position))
            && self.pods_until_pause(goal) == Some(0)
    }

    fn over(&self) -> usize {
        [PodIndex::Done, PodIndex::Left, PodIndex::Replaced, PodIndex::FailsAsBefore]
            .into_iter()
            .map(|what| self.all(what).len())
            .sum()
    }

    /// Returns whether every pod is done, is left to its kubelet, has left, or is back and fails with what it had
    /// before.
    pub(super) fn all_over(&self) -> bool {
        self.over() == self.len()
    }

    /// Returns whether every pod is settled, and the replacement pods are ready.
    pub(super) fn all_done(&self) -> bool {
        self.all_over() && !self.waits_for_replacements
    }

    pub(super) fn waits_for_replacements(&self) -> bool {
        self.waits_for_replacements
    }

    /// Returns whether every pod is done, is left to its kubelet, has left, or has failed.
    pub(super) fn only_failing_are_left(&self) -> bool {
        self.over() + self.all(PodIndex::Failed).difference(self.all(PodIndex::FailsAsBefore)).count() == self.len()
    }

    pub(super) fn held(&self) -> impl Iterator<Item = usize> + '_ {
        let is_held = |position: &usize| self.run(*position).is_some_and(|run| run.clocks.held_since.is_some());
        self.all(PodIndex::InProgress).iter().copied().filter(is_held)
    }

    pub(super) fn nothing_moves(&self) -> bool {
        let held: BTreeSet<usize> = self.held().collect();
        let failed = self.all(PodIndex::Failed);
        self.all(PodIndex::InProgress).iter().all(|position| failed.contains(position) || held.contains(position))
    }
}

impl Pods {
    /// Takes in a pod: judged in the next turn.
    pub(super) fn add(&mut self, pod: Arc<PodGoal>, now: Now) {
        let position = self.runs.len();
        self.position.insert(pod.key.clone(), position);
        self.runs.push(PodRun::new(pod));
        self.wake(position, now);
    }

    pub(super) fn set_goal(&mut self, position: usize, goal: Arc<PodGoal>) {
        if let Some(run) = self.runs.get_mut(position) {
            run.goal = goal;
        }
    }

    pub(super) fn wake(&mut self, position: usize, at: Now) {
        self.timers.insert((at, position));
    }

    pub(super) fn next_timer(&self) -> Option<Now> {
        self.timers.first().map(|(at, _)| *at)
    }

    pub(super) fn due(&mut self, now: Now) -> Vec<usize> {
        let mut due = Vec::new();
        while let Some((at, position)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            due.push(position);
        }
        due
    }

    /// Begins to judge a pod: takes out what is kept of it, until [`Self::judged`] stores it again.
    pub(super) fn open(&mut self, position: usize) -> Option<PodRun> {
        self.count_visits(1);
        let slot = self.runs.get_mut(position)?;
        let emptied = PodRun::new(slot.goal.clone());
        let mut run = std::mem::replace(slot, emptied);
        if let Some(wake) = run.clocks.wake.take() {
            self.timers.remove(&(wake, position));
        }
        Some(run)
    }

    /// The pod was judged. Returns what is to be reported.
    pub(super) fn judged(&mut self, position: usize, run: PodRun, judged: Judged, now: Now) -> Option<Notice> {
        *self.runs.get_mut(position)? = run;
        self.set_phase(position, judged.phase, now, |run| {
            let deadline = run.deadline();
            let times = [judged.wake, run.request.state.not_before(), deadline, run.clocks.events_at];
            run.clocks.wake = times.into_iter().flatten().filter(|at| *at > now).min();
            run.shown.is_late = deadline.is_some_and(|deadline| deadline <= now);
            run.clocks.wake
        })
    }

    /// A pod enters a phase, by what was seen of it or what is done to it; `also` is what else changes with it, and gives the
    /// time when the pod is judged again at the latest. Returns what is to be said of it.
    fn set_phase(
        &mut self,
        position: usize,
        phase: UpdatePhase,
        now: Now,
        also: impl FnOnce(&mut PodRun) -> Option<Now>,
    ) -> Option<Notice> {
        let run = self.runs.get_mut(position)?;
        let said = Notice::Pod { pod: run.goal.key.clone(), phase: phase.clone() };
        let is_reported = run.enter(phase, now);
        let again = also(run);
        self.timers.extend(again.map(|at| (at, position)));
        self.index(position);
        is_reported.then_some(said)
    }

    /// Something of the pod begins. Returns what is to be said of it.
    pub(super) fn begin(&mut self, position: usize, phase: UpdatePhase, now: Now) -> Option<Notice> {
        let run = self.runs.get_mut(position)?;
        if matches!(phase, UpdatePhase::Draining { .. } | UpdatePhase::Patched | UpdatePhase::Resizing { .. }) {
            run.steps.taken = Taken::Yes;
        } else if phase == (UpdatePhase::Hook { hook: HookPhase::Before }) {
            run.steps.taken = run.steps.taken.max(Taken::Hook);
        }
        self.begun += 1;
        // Its deadline runs from now, even if no observation ever comes.
        self.set_phase(position, phase, now, |run| run.deadline())
    }

    /// Another pod has become unavailable: this pod gives up its place and waits for its turn again.
    pub(super) fn wait_again(&mut self, position: usize, now: Now) -> Option<Notice> {
        self.untake(position);
        self.set_phase(position, UpdatePhase::Waiting, now, |run| {
            (run.clocks.started, run.clocks.held_since) = (None, None);
            // The record stays, and is no reason to go on with the pod before its turn.
            (run.request.sent, run.request.state) = (Sent::default(), RequestState::Idle);
            None
        })
    }

    pub(super) fn wait_for_replacements(&mut self, waits: bool) {
        self.waits_for_replacements = waits;
    }

    /// A pod of which nothing was changed does not count as taken, unless a request of it may still arrive.
    pub(super) fn untake(&mut self, position: usize) {
        if let Some(run) = self.runs.get_mut(position).filter(|run| !run.request.is_changed && !run.request.is_late) {
            run.steps.taken = Taken::No;
        }
    }

    pub(super) fn set_request(&mut self, position: usize, request: RequestState) {
        if let Some(run) = self.runs.get_mut(position) {
            run.request.state = request;
            self.index(position);
        }
    }

    pub(super) fn sent(&mut self, position: usize, sent: Sent) {
        if let Some(run) = self.runs.get_mut(position) {
            run.request.sent = sent;
        }
        self.set_request(position, RequestState::Sent);
    }

    /// A note, a resize or the images of a step are sent: `note` notes what changes with it.
    pub(super) fn sends(&mut self, position: usize, sent: Sent, note: impl FnOnce(&mut PodRun)) {
        let Some(run) = self.runs.get_mut(position) else { return };
        run.request.sends = run.request.sends.saturating_add(1);
        note(run);
        self.sent(position, sent);
    }

    pub(super) fn read_events(&mut self, position: usize, next: Now) {
        if let Some(run) = self.runs.get_mut(position) {
            run.clocks.events_at = Some(next);
        }
        self.wake(position, next);
    }

    /// Stops the clock of a pod that waits for other pods, or lets it run again.
    pub(super) fn hold(&mut self, position: usize, waits: bool, now: Now) {
        let Some(run) = self.runs.get_mut(position) else { return };
        match waits {
            false => run.clocks.release(now),
            true if run.is_in_progress() => run.clocks.held_since = run.clocks.held_since.or(Some(now)),
            true => {}
        }
    }

    /// Takes in the answer to the pod's request: judged in the next turn.
    pub(super) fn answered(&mut self, position: usize, answer: Answer, now: Now) {
        if let Some(run) = self.runs.get_mut(position) {
            run.request.answered(answer, now);
            self.wake(position, now);
        }
    }

    /// Keeps the counts of the owner's pods true for one that has changed: the budget counts every pod of the owner.
    pub(super) fn count(&mut self, context: TurnContext<'_>, key: &PodKey) {
        self.count_visits(1);
        match context.observed.pod(key).filter(|pod| self.is_present(context, pod)) {
            Some(pod) => self.count_as(key, true, !pod.is_ready()),
            None => self.count_as(key, false, false),
        }
    }

    pub(super) fn is_present(&self, context: TurnContext<'_>, pod: &Pod) -> bool {
        pod.is_present() && self.is_owners(context, pod)
    }

    fn count_as(&mut self, key: &PodKey, is_present: bool, is_down: bool) {
        for (set, belongs) in [(&mut self.present, is_present), (&mut self.down, is_present && is_down)] {
            if !belongs {
                set.remove(key);
            } else if !set.contains(key) {
                set.insert(key.clone());
            }
        }
    }

    fn index(&mut self, position: usize) {
        let Some(run) = self.runs.get(position) else { return };
        for (index, belongs) in run.indexes() {
            let set = self.sets.entry(index).or_default();
            if belongs {
                set.insert(position)
            } else {
                set.remove(&position)
            };
        }
        let (is_present, is_down) = (run.shown.is_present, run.is_in_progress() || run.shown.is_unready);
        let key = run.goal.key.clone();
        self.count_as(&key, is_present, is_down);
    }

    #[cfg(test)]
    pub(super) fn count_visits(&self, pods: usize) {
        self.visits.set(self.visits.get() + pods);
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "the same call as in tests")]
    pub(super) const fn count_visits(&self, _pods: usize) {}
}
