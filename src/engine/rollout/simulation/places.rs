//! Which pods get a place: nothing is left undone while there is one, and none is kept by a pod that cannot use it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::k8s::names::PodKey;
use crate::engine::k8s::pod::Pod;
use crate::engine::report::progress::PodPhase;
use crate::engine::state::hook::HookPhase;

use super::super::entry::Sent;
use super::super::{Mode, Now, PodGoal};
use super::invariants::{Invariant, Invariants, Truth};
use super::shown::containers_are_ready;

/// No drain takes longer, with answers that come at once.
const DRAINED_WITHIN: Duration = Duration::from_secs(100);

/// Since when pods have a place and nothing was done that takes them down, and since when others wait that are down.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    idle: BTreeMap<PodKey, Now>,
    down: BTreeMap<PodKey, Now>,
}

/// Keeps since when it is so.
fn note(since: &mut BTreeMap<PodKey, Now>, key: &PodKey, is_so: bool, now: Now) {
    if is_so {
        since.entry(key.clone()).or_insert(now);
    } else {
        since.remove(key);
    }
}

impl Invariants {
    /// What took a pod out of its Services is taken back: it has its place no more, where nothing else was done to it.
    pub(super) fn goes_back(&mut self, key: &PodKey, sent: Sent) {
        if self.images.contains(key) {
            return;
        }
        let took = [Sent::Drain, Sent::GateOff];
        let is_left = |took: &Sent| sent == Sent::GateOn && *took == Sent::Drain;
        self.sends.retain(|(pod, what, _), _| pod != key || !took.contains(what) || is_left(what));
        if sent == Sent::Restore {
            self.executed.remove(key);
        }
    }

    /// A pod that only waits, with its place, keeps none from a pod that is down by itself.
    pub(super) fn judge_places(&mut self, truth: &Truth<'_>) {
        for goal in &truth.goal.pods {
            let (key, said) = (&goal.key, self.said.get(&goal.key));
            let is_changed = self.images.contains(key);
            let has_place = matches!(said, Some(PodPhase::Draining { .. } | PodPhase::Next { .. }));
            let waits = matches!(said, None | Some(PodPhase::Waiting));
            let is_down = truth.world.pod(key).is_some_and(|pod| truth.belongs(pod) && !containers_are_ready(pod));
            note(&mut self.places.idle, key, has_place && !is_changed, truth.now);
            note(&mut self.places.down, key, is_down && waits && !is_changed, truth.now);
        }
        let patience = DRAINED_WITHIN + 4 * truth.slowest_answer;
        let late = |since: &BTreeMap<PodKey, Now>| {
            since.iter().find(|(_, since)| **since + patience < truth.now).map(|(key, _)| key.clone())
        };
        if let Some((idle, down)) = late(&self.places.idle).zip(late(&self.places.down)) {
            self.broken(Invariant::Place, truth.now, format!("{idle} keeps its place, and {down} is down"));
        }
    }

    /// A pod to which nothing was sent has not failed, unless its command did, or a container of it that asks for the image
    /// that is wanted of it: another writer may want the same of some of them.
    pub(super) fn judge_failure(&mut self, pod: &PodKey, phase: &PodPhase, truth: &Truth<'_>) {
        let PodPhase::Failing(failure) = phase else { return };
        // By this run, by the one before it, or by another writer.
        let goal = truth.goal.pods.iter().find(|goal| goal.key == *pod);
        let asks = goal.zip(truth.world.pod(pod)).is_some_and(|(goal, pod)| match &failure.container {
            Some(name) => truth.asks_of(goal, pod, name),
            None => truth.asks(goal, pod),
        });
        let by_us =
            self.executed.contains(pod) || self.noted.contains(pod) || self.sends.keys().any(|(key, _, _)| key == pod);
        let was_sent = by_us || asks || self.images.contains(pod);
        let command = &truth.goal.hooks.before_pod;
        // A run that goes on begins with the command again, as long as nothing of the pod was changed.
        let is_commanded = command.is_some() && !truth.passed_last.contains_key(&(pod.clone(), HookPhase::Before));
        let is_ours = truth.goal.policy.goes_on_after_failure && truth.goal.mode != Mode::Follow;
        if is_ours && !was_sent && !is_commanded {
            self.broken(Invariant::NeverSent, truth.now, format!("{pod} is told as failed: {phase:?}"));
        }
    }

    /// Nothing is left undone while a pod may still be taken down.
    pub(super) fn judge_what_went_on(&mut self, truth: &Truth<'_>) {
        let said = |goal: &&PodGoal| self.said.get(&goal.key).cloned();
        let (failed, others): (Vec<&PodGoal>, Vec<&PodGoal>) =
            truth.goal.pods.iter().partition(|goal| self.is_failing(said(goal).as_ref()));
        // What failed before anything was done to it is up.
        let costs = |goal: &&&PodGoal| {
            self.executed.contains(&goal.key) || !truth.world.pod(&goal.key).is_some_and(Pod::is_ready)
        };
        let down = failed.iter().filter(costs).count();
        let is_full = down >= usize::try_from(truth.goal.policy.max_unavailable).expect("small");
        let left: Vec<String> = others
            .iter()
            .filter(|goal| !matches!(said(goal), Some(PodPhase::Done | PodPhase::Left { .. })))
            .map(|goal| format!("{}: {:?}", goal.key, said(goal)))
            .collect();
        if !is_full && !left.is_empty() && truth.is_undisturbed {
            self.broken(Invariant::NeverSent, truth.now, format!("left though there was a place: {left:?}"));
        }
    }
}
