//! The one rule for "may this pod go down now".
//!
//! Every step that takes a pod down asks it just before: the hook before a pod, the drain, turning a readiness gate
//! off, and each patch of its images. Nothing else decides about it.

use std::collections::BTreeSet;

use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::rollout::drain::is_ready_but_for_our_gate;

use super::goal::PodGoal;
use super::observed::TurnContext;
use super::pod_run::{PodIndex, PodRun, RequestState, Sent};
use super::protocol::drain;
use super::state::RunState;
use super::steps;

/// Why a pod may not go down now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WaitReason {
    NotSeen,
    /// The first pod goes alone until it has proven itself.
    Canary,
    /// As many pods as may be down are in progress.
    Full,
    /// `--canary`, `--pause-after`: the number of pods after which it pauses has been taken.
    Pause,
    /// As many other pods as may be unavailable are down or missing.
    Unavailable {
        down: usize,
    },
    /// The last read of the owner, or of the PodDisruptionBudgets that count for this pod, is too old.
    Unread {
        /// The pod needs a fresh read of the budgets too.
        budgets: bool,
    },
    DisruptionBudget(String),
}

/// What was done so far for a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionState {
    /// The rollout has not begun with the pod.
    New,
    /// The pod has its place and still serves: its hook has run, its EndpointSlices no longer list it, or the server
    /// throttled its patch.
    Idle,
    /// The rollout has made the pod unavailable, and its next request is due: some of its containers have changed, or
    /// its readiness gate is off.
    Down,
    /// A request of the pod is in flight, or its containers restart.
    Works,
}

impl AdmissionState {
    fn of(pod: Option<&Pod>, run: &PodRun) -> Self {
        let gate_is_off = pod.is_some_and(|pod| !pod.is_ready() && is_ready_but_for_our_gate(pod));
        match &run.phase {
            _ if !run.is_in_progress() => Self::New,
            Some(UpdatePhase::Next { .. } | UpdatePhase::Draining { .. })
                if run.steps.is_between || run.request.sent == Sent::GateOff || gate_is_off =>
            {
                Self::Down
            }
            Some(UpdatePhase::Next { .. } | UpdatePhase::Draining { .. }) => Self::Idle,
            Some(UpdatePhase::Waiting) if matches!(run.request.state, RequestState::BackOff { .. }) => Self::Idle,
            Some(_) | None => Self::Works,
        }
    }
}

/// Says whether a pod may go down now. It changes nothing: [`super::state::CurrentTurn::ask`] does what the answer needs.
pub(super) fn may_go_down(context: TurnContext<'_>, state: &RunState, position: usize) -> Result<(), WaitReason> {
    let (run, pod) = context.found(&state.pods, position).ok_or(WaitReason::NotSeen)?;
    let asks =
        Candidate { context, state, position, goal: &run.goal, pod, standing: AdmissionState::of(Some(pod), run) };
    asks.canary()?;
    asks.place()?;
    asks.unavailable()?;
    asks.budgets()
}

/// Pods that are changed at once where none of them goes down: a failure stops the rollout before many have it.
const RESIZES_AT_ONCE: usize = 20;

/// The pod that asks, and what is known of the others.
struct Candidate<'a> {
    context: TurnContext<'a>,
    state: &'a RunState,
    position: usize,
    goal: &'a PodGoal,
    pod: &'a Pod,
    standing: AdmissionState,
}

impl Candidate<'_> {
    fn others(&self) -> impl Iterator<Item = (usize, AdmissionState)> {
        let standing = |position: usize| {
            let run = self.state.pods.run(position)?;
            Some((position, AdmissionState::of(self.context.observed.pod(&run.goal.key), run)))
        };
        self.state
            .pods
            .all(PodIndex::InProgress)
            .iter()
            .filter(|position| **position != self.position)
            .filter_map(move |at| standing(*at))
    }

    /// Where the rollout goes on after a failure, a failed pod is no longer waited for; it still counts as down.
    fn is_abandoned(&self, position: usize) -> bool {
        let goes_on = self.context.goal.policy().goes_on_after_failure;
        goes_on && self.state.pods.all(PodIndex::Failed).contains(&position)
    }

    /// The first pod goes alone until it has proven itself, unless the user chose not to wait for one. Of several pods
    /// that another run has begun, those that are down go first, one after the other.
    fn canary(&self) -> Result<(), WaitReason> {
        if self.state.pods.has_proof() || !self.context.goal.policy().first_goes_alone() {
            return Ok(());
        }
        let goes_first = |(position, other): (usize, AdmissionState)| match other {
            AdmissionState::Works => true,
            AdmissionState::Down => {
                matches!(self.standing, AdmissionState::New | AdmissionState::Idle) || position < self.position
            }
            AdmissionState::Idle | AdmissionState::New => self.standing == AdmissionState::New,
        };
        let waits = self.others().any(|other| goes_first(other) && !self.is_abandoned(other.0));
        if waits { Err(WaitReason::Canary) } else { Ok(()) }
    }

    /// Whether there is a place for one more; a pod that has one keeps it.
    fn place(&self) -> Result<(), WaitReason> {
        if self.standing != AdmissionState::New {
            return Ok(());
        }
        if self.others().count() >= self.allowed() {
            return Err(WaitReason::Full);
        }
        let pauses =
            !self.state.pods.is_taken(self.position) && self.state.pods.pods_until_pause(self.context.goal) == Some(0);
        if pauses { Err(WaitReason::Pause) } else { Ok(()) }
    }

    /// Counts the pods that are down or missing. Pods that only hold a place still run: they give way to this one.
    ///
    /// A pod that is down already is taken at no cost. A pod whose gate this program has turned off is down by our
    /// doing, so it does not get that exception. A pod between two of its containers counts as down since the first.
    fn unavailable(&self) -> Result<(), WaitReason> {
        let is_counted = steps::is_begun(self.context.goal, self.goal, self.pod);
        if !self.takes_down() || is_counted || self.is_broken() {
            return Ok(());
        }
        let give_way = self.giving_way();
        let runs_on = |key: &PodKey| give_way.contains(key) || self.runs_on(key);
        let is_up = |key: &PodKey| runs_on(key) && self.context.observed.pod(key).is_some_and(Pod::is_ready);
        let others = self.state.pods.down().iter().filter(|key| **key != self.pod.key && !is_up(key)).count();
        let missing = self.context.replicas().saturating_sub(self.state.pods.present().len());
        let down = others + missing;
        if down >= self.allowed() { Err(WaitReason::Unavailable { down }) } else { Ok(()) }
    }

    /// PodDisruptionBudgets, where both they and the owner were read lately enough.
    fn budgets(&self) -> Result<(), WaitReason> {
        // A pod that is not ready costs a budget nothing.
        let costs = self.takes_down() && self.pod.is_ready();
        if costs {
            let mut healthy = self.giving_way();
            healthy.extend(self.between());
            self.state.budgets.allow(self.context, &self.state.pods, self.pod, &healthy)?;
        }
        if self.state.owner.is_fresh(self.context) { Ok(()) } else { Err(WaitReason::Unread { budgets: costs }) }
    }

    /// The pods that give way to this one: nothing was done yet that takes any of them down, so one of them has to go
    /// first where no longer all of them may.
    fn giving_way(&self) -> BTreeSet<PodKey> {
        if self.standing == AdmissionState::New {
            return BTreeSet::new();
        }
        // A pod that drains is down for its clients already: no second pod of those that give way goes beside it.
        let is_leaving = |position: &usize| self.state.pods.all(PodIndex::Draining).contains(position);
        let leaves_next = drain::wanted(self.context.goal, self.goal).is_some() && !is_leaving(&self.position);
        let idle = self.others().filter(|(_, standing)| *standing == AdmissionState::Idle);
        let idle = idle.filter(|(position, _)| !leaves_next || !is_leaving(position));
        idle.filter_map(|(position, _)| Some(self.state.pods.run(position)?.goal.key.clone())).collect()
    }

    /// The pods that are between two of their containers, ready and in their Services. For a budget they are healthy
    /// until their next request: where fewer may be down now than were begun, they would wait for each other for ever.
    fn between(&self) -> impl Iterator<Item = PodKey> {
        let is_one = self.standing != AdmissionState::New;
        let down = self.others().filter(move |(_, standing)| is_one && *standing == AdmissionState::Down);
        down.filter_map(|(position, _)| {
            let key = &self.state.pods.run(position)?.goal.key;
            let pod = self.context.observed.pod(key)?;
            (pod.is_ready() && !drain::is_owed(pod)).then(|| key.clone())
        })
    }

    fn runs_on(&self, key: &PodKey) -> bool {
        let position = self.state.pods.position(key);
        let Some(run) = position.and_then(|position| self.state.pods.run(position)) else { return false };
        let restarts = run.goal.containers.values().any(|container| container.by_resize);
        matches!(run.phase, Some(UpdatePhase::Resizing { .. })) && !run.steps.is_between && !restarts
    }

    fn is_broken(&self) -> bool {
        !self.pod.is_ready() && !is_ready_but_for_our_gate(self.pod)
    }

    fn takes_down(&self) -> bool {
        steps::takes_down(self.goal, self.pod)
    }

    fn allowed(&self) -> usize {
        let allowed = usize::try_from(self.context.goal.policy().max_unavailable).unwrap_or(usize::MAX);
        if self.takes_down() { allowed } else { allowed.max(RESIZES_AT_ONCE) }
    }
}
