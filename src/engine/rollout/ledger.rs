//! What only this run knows and may lose: requests under way, tries, ready since when (our clock), the index.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::evidence::Baseline;
use crate::engine::failure::Failure;
use crate::engine::names::{ContainerName, PodKey};
use crate::engine::pod::{ContainerList, Pod};
use crate::engine::progress::{PodPhase, Stage};

use super::anew::AnewLedger;
use super::budgets::BudgetLedger;
use super::drain::{DrainEntry, DrainLedger};
use super::fault::Fault;
use super::first_write::FirstWriteLedger;
use super::goal::{Goal, Mode, PodGoal};
use super::hooks::{self, HookEntry, HookLedger};
use super::owner::OwnerLedger;
use super::pulls::PullLedger;
use super::taken_over::TakenOverLedger;
use super::{ActionId, Answer, Now, Stop};

/// Sends per pod, at most: each after a fresh look, so more than a few mean that somebody else is at work.
pub(super) const MAX_SENDS: u8 = 5;

/// Waits this long after a request that could not be read or was put off, unless the server says how long.
pub(super) const BACK_OFF: Duration = Duration::from_secs(1);

/// What is under way for a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Request {
    #[default]
    Idle,
    /// The patch was sent; no answer yet.
    Sent,
    /// The patch was accepted; the pod has not been seen with it.
    Accepted,
    /// The patch was refused, or its answer was lost: the pod must be read before anything else.
    Unclear,
    /// The pod is being read.
    Reading,
    /// To be read again at that time.
    ReadAt(Now),
    /// Nothing was done; it may be sent again at that time.
    BackOff { until: Now },
}

/// What the last patch was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Sent {
    #[default]
    Images,
    /// A label off, or the note that a readiness gate is about to go off.
    Drain,
    /// The gate off.
    GateOff,
    /// The gate on again.
    GateOn,
    /// The label on again, or the note gone.
    Restore,
    /// The record without the hook that was owed.
    HookNote,
}

/// What makes two ready states the same one: the same containers, and no transition that was missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadyKey {
    containers: Vec<Option<String>>,
    last_transition: Option<String>,
    /// The pod is ready, or it would be but for its gate: one does not go on where the other was.
    ready: bool,
}

impl ReadyKey {
    /// Of the whole pod, or of these containers alone: then no transition of the pod's counts.
    pub(super) fn of(pod: &Pod, containers: &[&ContainerName], whole: bool) -> Self {
        let id =
            |name: &&ContainerName| pod.container_status(name).and_then(|(_, _, status)| status.container_id.clone());
        let ready = pod.is_ready();
        let condition = if ready { pod.ready_condition() } else { pod.condition("ContainersReady") };
        Self {
            containers: containers.iter().map(id).collect(),
            last_transition: condition.filter(|_| whole).and_then(|condition| condition.last_transition_time.clone()),
            ready: ready && whole,
        }
    }
}

/// What is kept of one pod of the goal.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) phase: Option<PodPhase>,
    pub(super) request: Request,
    pub(super) sent: Sent,
    /// Patches of the images of this step.
    pub(super) sends: u8,
    /// The step that is next, and the one that was sent last.
    pub(super) step: usize,
    pub(super) sent_step: usize,
    /// Some of its containers were changed by this rollout, and others wait: it is down by what was done already.
    pub(super) is_between: bool,
    pub(super) hooks: HookEntry,
    pub(super) drain: DrainEntry,
    /// A request of this pod was sent of which no answer says what became of it: it may still arrive.
    pub(super) is_late: bool,
    /// The server said no for good.
    pub(super) refused: Option<Failure>,
    /// Given up, where the others go on: it stays failed unless it is proven after all.
    pub(super) given_up: Option<Failure>,
    /// Since when the pod is in hand; its deadline counts from here.
    pub(super) started: Option<Now>,
    /// Since when it waits for others, with its place: that time is not its own.
    pub(super) held_since: Option<Now>,
    /// It has failed before anything of it was changed, and is ready: it costs no place.
    pub(super) is_whole: bool,
    pub(super) ready_since: Option<(ReadyKey, Now)>,
    /// By container: the image, and which container the first status showed that carried its generation.
    pub(super) kubelet_knew: BTreeMap<ContainerName, (String, Option<String>)>,
    /// By container: for which image and against what it was proven; what comes later is new as well.
    pub(super) proven: BTreeMap<ContainerName, (String, Baseline)>,
    /// By container that its restart alone proves: what that rests on, until it is said.
    pub(super) by_restart: BTreeMap<ContainerName, Option<String>>,
    pub(super) failing_since: BTreeMap<ContainerName, (String, Now)>,
    /// By container: the first that was seen to crash where nothing tells whether it is a new one.
    pub(super) first_crash: BTreeMap<ContainerName, Option<String>>,
    /// Why the last request has to be looked at or sent again, until it is said.
    pub(super) retrying: Option<String>,
    pub(super) patched: bool,
    /// Ids of the containers that no change is planned for, when the pod was patched.
    pub(super) others: BTreeMap<ContainerName, Option<String>>,
    /// Containers that were seen with the wanted image: any other later on was set by somebody else.
    pub(super) asked: BTreeSet<ContainerName>,
    /// When the kubelet's events are looked at again.
    pub(super) events_at: Option<Now>,
    pub(super) wake: Option<Now>,
}

impl Entry {
    pub(super) fn stage(&self) -> Stage {
        self.phase.as_ref().map_or(Stage::Waiting, PodPhase::stage)
    }

    /// Returns whether an answer is outstanding.
    pub(super) fn is_unanswered(&self) -> bool {
        match self.request {
            Request::Sent | Request::Reading | Request::Unclear | Request::ReadAt(_) => true,
            Request::Idle | Request::Accepted | Request::BackOff { .. } => false,
        }
    }

    /// Returns whether this run has begun with the pod.
    pub(super) fn is_taken(&self) -> bool {
        self.patched || self.drain.takes > 0 || self.hooks.is_begun()
    }

    /// Returns whether the pod counts as down though it may look ready: from our patch until it is done.
    pub(super) fn is_in_hand(&self) -> bool {
        // One that was put off keeps its place: a server that throttles is not asked for the next pod instead.
        !self.is_whole && (self.request != Request::Idle || matches!(self.stage(), Stage::InProgress | Stage::Failed))
    }

    /// Waits for others no more: its own time goes on.
    pub(super) fn release(&mut self, now: Now) {
        let Some(since) = self.held_since.take() else { return };
        self.started = self.started.map(|started| started + now.saturating_sub(since));
    }

    /// Forgets what was known of containers that are about to change. What is proven of earlier steps stays so.
    pub(super) fn forget<'n>(&mut self, containers: impl Iterator<Item = &'n ContainerName>, step: usize) {
        self.events_at = None;
        if step == 0 {
            self.ready_since = None;
            self.kubelet_knew.clear();
            self.proven.clear();
            self.by_restart.clear();
            self.first_crash.clear();
        }
        for name in containers {
            self.kubelet_knew.remove(name);
            self.proven.remove(name);
            self.by_restart.remove(name);
            self.first_crash.remove(name);
        }
    }

    /// Notes which containers run beside the planned ones before the pod is first patched.
    pub(super) fn note_others(
        &mut self,
        pod: &Pod,
        planned: &BTreeMap<ContainerName, super::goal::ContainerGoal>,
        step: usize,
    ) {
        if std::mem::replace(&mut self.patched, true) && step > 0 {
            return;
        }
        let statuses = [ContainerList::Containers, ContainerList::InitContainers].map(|list| pod.statuses(list));
        let others = statuses.into_iter().flatten().filter(|status| !planned.contains_key(&status.name));
        self.others = others.map(|status| (status.name.clone(), status.container_id.clone())).collect();
    }
}

/// What only this run knows. A new one on the same world goes on where the old one stood.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The goal's pods, and in a durable rollout those that were found later.
    pub(super) pods: Vec<Arc<PodGoal>>,
    pub(super) entries: Vec<Entry>,
    pub(super) owner: OwnerLedger,
    pub(super) pulls: PullLedger,
    pub(super) taken_over: TakenOverLedger,
    /// A write was sent of which no answer says what became of it: it may still arrive.
    pub(super) is_late: bool,
    pub(super) first_write: FirstWriteLedger,
    pub(super) budgets: BudgetLedger,
    pub(super) drains: DrainLedger,
    pub(super) anew: AnewLedger,
    pub(super) hooks: HookLedger,
    pub(super) position: HashMap<PodKey, usize>,
    /// The world's version up to which everything has been judged.
    pub(super) seen: u64,
    pub(super) began: Option<Now>,
    /// Pods of the owner that are there and not going.
    pub(super) present: BTreeSet<PodKey>,
    /// Of those: not ready, or in hand.
    pub(super) down: BTreeSet<PodKey>,
    /// Positions by what they are: kept so that a turn costs what changed.
    pub(super) waiting: BTreeSet<usize>,
    /// Of those that wait: put off by the server.
    pub(super) put_off: BTreeSet<usize>,
    /// Of those that wait: down already.
    pub(super) broken: BTreeSet<usize>,
    /// Out of their Services, or on their way out, and not patched.
    pub(super) draining: BTreeSet<usize>,
    /// On their way back in.
    pub(super) restoring: BTreeSet<usize>,
    /// Something is off that has to be put back.
    pub(super) drained: BTreeSet<usize>,
    /// In hand, and a patch is to be sent next.
    pub(super) next: BTreeSet<usize>,
    /// With a hook under way or before them.
    pub(super) hooked: BTreeSet<usize>,
    pub(super) unverified: BTreeSet<usize>,
    pub(super) in_hand: BTreeSet<usize>,
    pub(super) unanswered: BTreeSet<usize>,
    pub(super) done: BTreeSet<usize>,
    pub(super) failing: BTreeSet<usize>,
    pub(super) lost: BTreeSet<usize>,
    /// Left a durable rollout: deleted or evicted, and what the owner makes in their place is right by itself.
    pub(super) replaced: BTreeSet<usize>,
    /// Their deadline has passed.
    pub(super) late: BTreeSet<usize>,
    pub(super) timers: BTreeSet<(Now, usize)>,
    pub(super) requests: BTreeMap<ActionId, usize>,
    pub(super) next_action: u64,
    /// The first list is in.
    pub(super) listed: bool,
    pub(super) stop: Option<(Stop, Now)>,
    pub(super) stop_said: bool,
    pub(super) last_said: Now,
    pub(super) watch_was_lost: bool,
    pub(super) budget_said: bool,
    /// Since when nothing can be taken though something waits.
    pub(super) blocked_since: Option<Now>,
    /// Since when the verdict stands, while answers are still outstanding.
    pub(super) ending_since: Option<Now>,
    pub(super) ended: bool,
    #[cfg(test)]
    pub(super) fault: Option<Fault>,
    /// How many pods were looked at.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl Ledger {
    /// Returns a ledger that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a pod: judged in the next turn.
    pub(super) fn add(&mut self, pod: PodGoal, now: Now) {
        let position = self.pods.len();
        self.position.insert(pod.key.clone(), position);
        self.pods.push(Arc::new(pod));
        self.entries.push(Entry::default());
        self.timers.insert((now, position));
    }

    /// Notes that a person or the system asked to stop; returns whether it is the first time.
    pub fn stop(&mut self, stop: Stop, now: Now) -> bool {
        let first = self.stop.is_none();
        self.stop.get_or_insert((stop, now));
        first
    }

    /// Takes in the answer to an action. What was read comes as an observation, before it.
    pub fn answer(&mut self, id: ActionId, answer: Answer, now: Now) {
        let careless = self.has(Fault::SendsOnUnknown);
        self.is_late |= matches!(answer, Answer::Unknown { .. });
        if self.taken_over.is_its(id) {
            self.taken_over.answer(id, answer, now);
            return;
        }
        if self.owner.is_its(id) {
            self.owner.answer(answer, now);
            return;
        }
        if self.budgets.is_its(id) {
            self.budgets.answer(&answer, now);
            return;
        }
        if self.drains.is_its(id) {
            self.drains.answer(answer, now);
            let waiting: Vec<usize> = self.draining.union(&self.restoring).copied().collect();
            self.timers.extend(waiting.into_iter().map(|position| (now, position)));
            return;
        }
        if self.pulls.is_its(id) {
            self.pulls.answer(id, answer, now);
            return;
        }
        if let Some(position) = hooks::answer(self, id, &answer) {
            self.timers.insert((now, position));
            return;
        }
        let Some(position) = self.requests.remove(&id) else { return };
        let Some(entry) = self.entries.get_mut(position) else { return };
        entry.is_late |= matches!(answer, Answer::Unknown { .. });
        if let Answer::Moved { message } | Answer::NotDone { message, .. } | Answer::Unknown { message } = &answer {
            entry.retrying = Some(message.clone());
        }
        entry.request = match (&entry.request, answer) {
            (Request::Sent, Answer::Unknown { .. }) if careless => Request::Idle,
            (Request::Sent, Answer::Accepted) => Request::Accepted,
            (Request::Sent, Answer::NotDone { after, .. }) => {
                Request::BackOff { until: now + after.unwrap_or(BACK_OFF) }
            }
            (Request::Sent, Answer::Moved { .. } | Answer::Unknown { .. }) => Request::Unclear,
            (Request::Sent, Answer::Refused { .. }) if entry.sent == Sent::HookNote => {
                entry.hooks.notes = MAX_SENDS;
                Request::Idle
            }
            (Request::Sent, Answer::Refused { reason, message }) => {
                entry.refused = Some(Failure { container: None, reason, message, exit_code: None });
                if matches!(entry.sent, Sent::Restore | Sent::GateOn) {
                    entry.drain.restores = MAX_SENDS;
                }
                Request::Idle
            }
            (Request::Reading, Answer::Read) => Request::Idle,
            (Request::Reading, _) => Request::ReadAt(now + BACK_OFF),
            // The answer to a look at the events: the observation says it all.
            (request, _) => request.clone(),
        };
        // Judged again in the next turn.
        self.timers.insert((now, position));
    }

    /// Returns whether no other pod of the goal has been proven yet: what this one shows is all that is known.
    pub(super) fn is_canary(&self, key: &PodKey, goal: &Goal) -> bool {
        match goal.mode {
            Mode::Follow => true,
            Mode::PodsOnly | Mode::Durable => self.proofs().all(|position| self.position.get(key) == Some(position)),
        }
    }

    /// Returns whether a pod has proven itself that restarts a container: one that only gets its label back proves nothing.
    pub(super) fn has_proof(&self) -> bool {
        self.proofs().next().is_some()
    }

    fn proofs(&self) -> impl Iterator<Item = &usize> {
        let restarts = |pod: &Arc<PodGoal>| pod.containers.values().any(|container| container.restarts);
        self.done.iter().filter(move |position| self.pods.get(**position).is_some_and(restarts))
    }

    /// Returns a new id for an action.
    pub(super) fn next_id(&mut self) -> ActionId {
        let id = ActionId(self.next_action);
        self.next_action += 1;
        id
    }

    /// How many more pods may be taken before the next pause; `None` is no limit.
    pub(super) fn before_the_pause(&self, goal: &Goal) -> Option<usize> {
        let after = goal.policy.canary.or(goal.policy.pause_after)?;
        let taken = self.entries.iter().filter(|entry| entry.is_taken()).count();
        Some(usize::try_from(after).unwrap_or(usize::MAX).saturating_sub(taken))
    }

    /// Returns whether it stops here because it was asked to.
    pub(super) fn pauses_now(&self, goal: &Goal) -> bool {
        self.only_failing_are_in_hand() && !self.waiting.is_empty() && self.before_the_pause(goal) == Some(0)
    }

    /// Returns whether every pod is done, has left, or has failed.
    pub(super) fn only_failing_are_left(&self) -> bool {
        self.done.len() + self.replaced.len() + self.failing.len() == self.pods.len()
    }

    /// Returns whether nothing is in hand but what has failed.
    pub(super) fn only_failing_are_in_hand(&self) -> bool {
        self.in_hand.is_subset(&self.failing)
    }

    /// Returns the pods that have their place and wait for others.
    pub(super) fn held(&self) -> impl Iterator<Item = usize> + '_ {
        let is_held = |position: &usize| self.entries.get(*position).is_some_and(|entry| entry.held_since.is_some());
        self.in_hand.iter().copied().filter(is_held)
    }

    /// Returns whether all that is in hand has failed or waits for others.
    pub(super) fn nothing_moves(&self) -> bool {
        let held: BTreeSet<usize> = self.held().collect();
        self.in_hand.iter().all(|position| self.failing.contains(position) || held.contains(position))
    }

    /// Returns whether every pod is done, or has left.
    pub(super) fn all_done(&self) -> bool {
        self.done.len() + self.replaced.len() == self.pods.len()
    }

    /// Counts a look at a pod: a test holds that a turn costs what changed.
    #[cfg(test)]
    pub(super) fn look(&mut self) {
        self.looks += 1;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "the same call as in tests")]
    pub(super) const fn look(&mut self) {}

    #[cfg(test)]
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "the same call as in tests")]
    pub(super) const fn has(&self, _fault: Fault) -> bool {
        false
    }
}
