//! Each deliberate fault must be caught: a simulation that does not bite proves nothing.
//!
//! A fault is put in at the boundary of the rollout: it is given another goal, shown something else than happened, kept
//! from sending something, or given another answer. What is true is judged beside it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::{Action, ActionId, Answer, Goal, Now, Observation, Observed, Turn};
use super::adversary::Scenario;
use super::drained::sent_of;
use super::invariants::Invariant;
use super::resized;
use super::{BEFORE, FOREIGN, WANTED, simulate};
use crate::k8s::names::PodKey;
use crate::k8s::pod::{OwnerReference, Pod};
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::rollout::patch::PodPatch;
use crate::rollout::pod_run::Sent;
use crate::rollout::pre_pull::PrePull;
use crate::state::durable::ObjectWrite;
use crate::state::record::{Drained, UpdateRecord};

/// A fault that needs more scenarios than this to be caught would be caught too rarely.
const SEEDS: u64 = 600;

/// What may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Takes pods down beyond the budget.
    IgnoresBudget,
    /// Takes the old container for the new one.
    ReadyIsDone,
    /// Ready need not hold.
    NoHold,
    /// Nothing wakes the loop when the hold is over.
    ForgetsHoldTimer,
    /// Sends once more when its tries are used up.
    RetriesForever,
    /// Sends again while an answer is unknown.
    SendsOnUnknown,
    /// Patches pods though another image was set in one.
    IgnoresOtherWriter,
    /// Goes on with the next pod after a failure.
    IgnoresFailure,
    /// Goes on sending after an interrupt.
    IgnoresInterrupt,
    /// Acts while the watch is lost.
    ActsBlind,
    /// Takes all pods at once though the first has not proven itself.
    NoCanary,
    /// Never abandons a pod at its deadline.
    NoDeadline,
    /// Takes pods before their images are pulled.
    IgnoresPulls,
    /// Ends while pull pods are left.
    LeavesPulls,
    /// Ignores a PodDisruptionBudget.
    IgnoresDisruptionBudget,
    /// Patches a pod while its Services list it.
    KillsWhatIsListed,
    /// Takes a pod whose gate it has turned off for one that was broken anyway.
    TakesItsGateForBroken,
    /// Never turns a gate on again.
    LeavesGateOff,
    /// Changes all containers of a pod at once, whatever their order.
    IgnoresContainerOrder,
    /// Patches a pod without its hook.
    ForgetsHook,
    /// Takes no restart for evidence where the kubelet has no event of it.
    NeedsEvents,
    /// Keeps back the others once a pod has failed, though they are to go on.
    WaitsForFailed,
    /// Stops reading budgets where there was none at first.
    FreezesBudgets,
    /// Takes a container that the kubelet's back-off holds for one that cannot start.
    TakesBackOffForFailure,
    /// Takes a resize that is asked for for a finished one.
    TakesAskedForResized,
    /// Resizes a pod for which somebody else has asked for something else.
    IgnoresOtherSize,
    /// Waits for the answer to a request for a pod that is gone.
    WaitsForTheGone,
    /// Takes a pod that its controller has released for one of its own.
    TakesTheReleased,
    /// Never ends a way back on which a pod fails with what it had before.
    StaysAtAFailure,
}

impl Fault {
    /// Every fault, and the promise that it breaks, whatever else it breaks.
    const ALL: [(Self, Invariant); 29] = [
        (Self::IgnoresBudget, Invariant::Budget),
        (Self::ReadyIsDone, Invariant::TooEarly),
        (Self::NoHold, Invariant::TooEarly),
        (Self::ForgetsHoldTimer, Invariant::TooLate),
        (Self::RetriesForever, Invariant::Sends),
        (Self::SendsOnUnknown, Invariant::Unanswered),
        (Self::IgnoresOtherWriter, Invariant::OtherWriter),
        (Self::IgnoresFailure, Invariant::LateFailure),
        (Self::IgnoresInterrupt, Invariant::Interrupt),
        (Self::ActsBlind, Invariant::Blind),
        (Self::NoCanary, Invariant::Canary),
        (Self::NoDeadline, Invariant::Deadline),
        (Self::IgnoresPulls, Invariant::PulledFirst),
        (Self::LeavesPulls, Invariant::PullLeft),
        (Self::IgnoresDisruptionBudget, Invariant::DisruptionBudget),
        (Self::KillsWhatIsListed, Invariant::Listed),
        (Self::TakesItsGateForBroken, Invariant::Budget),
        (Self::LeavesGateOff, Invariant::LabelLeft),
        (Self::IgnoresContainerOrder, Invariant::Order),
        (Self::ForgetsHook, Invariant::Hook),
        (Self::NeedsEvents, Invariant::WrongEnd),
        (Self::WaitsForFailed, Invariant::NeverSent),
        (Self::FreezesBudgets, Invariant::DisruptionBudget),
        (Self::TakesBackOffForFailure, Invariant::WrongEnd),
        (Self::TakesAskedForResized, Invariant::Resized),
        (Self::IgnoresOtherSize, Invariant::OtherWriter),
        (Self::WaitsForTheGone, Invariant::Livelock),
        (Self::TakesTheReleased, Invariant::ForeignPod),
        (Self::StaysAtAFailure, Invariant::WrongEnd),
    ];

    /// What the rollout takes for its goal.
    fn goal(self, mut goal: Goal) -> Goal {
        let policy = &mut goal.lock.rollout.policy;
        match self {
            Self::IgnoresBudget => policy.max_unavailable = 1_000,
            Self::NoHold => {
                policy.min_ready_seconds_given = policy.min_ready_seconds_given.map(|given| given.min(1));
                policy.owner_min_ready_seconds = 0;
            }
            Self::NoCanary => policy.min_ready_seconds_given = Some(0),
            Self::IgnoresFailure => policy.goes_on_after_failure = true,
            Self::NoDeadline => (policy.timeout_given, policy.total_timeout) = (Some(1_000_000), None),
            Self::IgnoresDisruptionBudget => policy.respects_budgets = false,
            Self::IgnoresContainerOrder => policy.container_order.clear(),
            Self::ForgetsHook => goal.hooks.before_pod = None,
            Self::IgnoresPulls => (goal.pulls, goal.pre_pull) = (Vec::new(), PrePull::Never),
            _ => {}
        }
        goal
    }

    /// What the rollout sees of a pod.
    fn pod(self, pod: &mut Pod, goal: &Goal) {
        let asks = |image: &str| pod.spec.containers.iter().any(|container| container.image == image);
        let (asks_before, asks_wanted) = (asks(BEFORE), asks(WANTED));
        match self {
            Self::ReadyIsDone if asks_wanted => {
                pod.status.observed_generation = pod.generation;
                for status in pod.status.container_statuses.iter_mut().filter(|status| status.state.running.is_some()) {
                    status.container_id = status.container_id.take().map(|id| format!("{id}-new"));
                    (status.image, status.image_id) = (WANTED.into(), "another".into());
                }
            }
            Self::IgnoresOtherWriter => {
                let containers = pod.spec.containers.iter_mut();
                containers.filter(|container| container.image == FOREIGN).for_each(|one| one.image = BEFORE.into());
            }
            Self::TakesItsGateForBroken if asks_before => {
                if matches!(UpdateRecord::drained(pod), Some(drained @ Drained::Gate(_)) if drained.is_off(pod)) {
                    let conditions = pod.status.conditions.iter_mut();
                    let conditions = conditions.filter(|condition| condition.kind == "ContainersReady");
                    conditions.for_each(|condition| condition.status = "False".into());
                }
            }
            Self::NeedsEvents => {
                let running =
                    pod.status.container_statuses.iter_mut().filter_map(|status| status.state.running.as_mut());
                running.for_each(|running| running.started_at = None);
            }
            Self::TakesBackOffForFailure if asks_wanted => {
                let waiting = pod.status.container_statuses.iter_mut().filter_map(|one| one.state.waiting.as_mut());
                let held = waiting.filter(|waiting| waiting.reason == "CrashLoopBackOff");
                held.for_each(|waiting| waiting.reason = "InvalidImageName".into());
            }
            Self::TakesAskedForResized => resized::show_as_asked(pod),
            Self::IgnoresOtherSize if resized::is_foreign(pod) => resized::show_as_before(pod),
            Self::TakesTheReleased if pod.owners.is_empty() => {
                let owner = |uid| OwnerReference {
                    api_version: "apps/v1".into(),
                    kind: "StatefulSet".into(),
                    name: "web".into(),
                    uid,
                    controller: true,
                };
                pod.owners = goal.controllers.iter().cloned().map(owner).collect();
            }
            Self::StaysAtAFailure if goal.is_back() => {
                for state in pod.status.container_statuses.iter_mut().map(|status| &mut status.state) {
                    if state.running.is_none() {
                        (state.waiting, state.terminated) = (None, None);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A rollout with a fault, or without.
#[derive(Debug, Clone, Default)]
pub(super) struct Faulty {
    fault: Option<Fault>,
    /// What it believes.
    believed: Observed,
    has_seen_no_budget: bool,
    failed: bool,
    sent: BTreeMap<PodKey, PodPatch>,
    /// Requests of its own that the rollout knows nothing of.
    again: u64,
}

impl Faulty {
    pub(super) fn new(fault: Option<Fault>) -> Self {
        Self { fault, ..Self::default() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn goal(&self, goal: Goal) -> Goal {
        self.fault.map_or(goal.clone(), |fault| fault.goal(goal))
    }

    /// The run is killed, and another one with the same fault begins.
    pub(super) fn begin_again(&mut self) {
        *self = Self { again: self.again, ..Self::new(self.fault) };
    }

    pub(super) fn observed<'w>(&'w self, seen: &'w Observed) -> &'w Observed {
        if self.fault.is_some() { &self.believed } else { seen }
    }

    /// Something is observed.
    pub(super) fn observe(&mut self, observation: &Observation, goal: &Goal) {
        let Some(fault) = self.fault else { return };
        let mut observation = observation.clone();
        match &mut observation {
            Observation::Relisted(pods) => pods.iter_mut().for_each(|pod| fault.pod(pod, goal)),
            Observation::Applied(pod) => fault.pod(pod, goal),
            Observation::WatchLost(_) if fault == Fault::ActsBlind => return,
            Observation::Budgets(budgets) if fault == Fault::FreezesBudgets => {
                self.has_seen_no_budget |= budgets.is_empty();
                if self.has_seen_no_budget {
                    budgets.clear();
                }
            }
            Observation::Slices(slices) if fault == Fault::KillsWhatIsListed => slices.clear(),
            _ => {}
        }
        self.believed.observe(observation);
    }

    pub(super) fn hears_stops(&self) -> bool {
        !self.is(Fault::IgnoresInterrupt)
    }

    /// The answer that the rollout gets, if it gets one.
    pub(super) fn answer(&self, about: Option<&PodKey>, answer: Answer) -> Option<Answer> {
        let is_gone = |key: &PodKey| self.believed.is_deleted(key);
        match (self.fault, answer) {
            (Some(Fault::SendsOnUnknown), Answer::Unknown { message }) => {
                Some(Answer::NotDone { after: Some(Now::ZERO), message })
            }
            (Some(Fault::WaitsForTheGone), _) if about.is_some_and(is_gone) => None,
            (_, answer) => Some(answer),
        }
    }

    /// What is sent of a turn. Returns the answers to what is not.
    pub(super) fn send(&mut self, turn: &mut Turn, now: Now) -> Vec<(ActionId, Answer)> {
        let Some(fault) = self.fault else { return Vec::new() };
        if fault == Fault::ForgetsHoldTimer && turn.end.is_none() {
            turn.wake = Some(now + Duration::from_secs(30));
        }
        let mut answers = Vec::new();
        let (failed, sent) = (self.failed, &self.sent);
        turn.actions.retain(|(id, action)| {
            let answer = match (fault, action) {
                (Fault::LeavesPulls, Action::Write { write: ObjectWrite::Delete { .. }, .. }) => {
                    Answer::Refused { reason: "Forbidden".into(), message: "no".into() }
                }
                (Fault::LeavesGateOff, Action::Patch(patch)) if sent_of(patch) == Sent::GateOn => {
                    Answer::Conflict { message: "no".into() }
                }
                (Fault::WaitsForFailed, Action::Patch(patch)) if failed && !sent.contains_key(&patch.key) => {
                    Answer::NotDone { after: None, message: "not now".into() }
                }
                _ => return true,
            };
            answers.push((*id, answer));
            false
        });
        for (_, action) in &turn.actions {
            if let Action::Patch(patch) = action {
                self.sent.insert(patch.key.clone(), patch.clone());
            }
        }
        for notice in &turn.notices {
            let Notice::Pod { pod, phase: UpdatePhase::Failing(failure) } = notice else { continue };
            self.failed = true;
            let is_tired = fault == Fault::RetriesForever && failure.reason == "TooManyTries";
            if let Some(patch) = self.sent.get(pod).filter(|_| is_tired) {
                self.again += 1;
                turn.actions.push((ActionId(u64::MAX - self.again), Action::Patch(patch.clone())));
            }
        }
        answers
    }
}

#[test]
fn every_deliberate_fault_is_caught_as_what_it_is() {
    let mut alive = Vec::new();
    for (fault, invariant) in Fault::ALL {
        // A pod that does not run is not drained: its gate is not turned off.
        let broken_run = fault == Fault::TakesItsGateForBroken;
        let drawn = |seed| [Scenario::calm(seed).featured(), Scenario::of(seed).featured()];
        let is_of_an_owner = matches!(fault, Fault::WaitsForTheGone | Fault::TakesTheReleased | Fault::StaysAtAFailure);
        let owned = |scenario: Scenario| if is_of_an_owner { scenario.owned() } else { scenario };
        let featured = |seed| drawn(seed).map(|scenario| owned(Scenario { broken_run, ..scenario }));
        let caught = (0..SEEDS).flat_map(featured).find(|scenario| {
            let violations = simulate(scenario, Some(fault)).violations;
            violations.iter().any(|violation| violation.invariant == invariant)
        });
        if caught.is_none() {
            alive.push((fault, invariant));
        }
    }
    assert!(alive.is_empty(), "no scenario breaks these promises: {alive:?}");
}
