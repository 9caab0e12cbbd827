//! What only this run knows and may lose; which action each answer belongs to.

use std::collections::BTreeMap;

use super::goal::Goal;
use super::observed::{Observed, TurnContext};
use super::pod_run::{RequestState, Sent};
use super::pods::Pods;
use super::protocol::budgets::Budgets;
use super::protocol::drain::Drains;
use super::protocol::followed::Followed;
use super::protocol::hooks::HookRuns;
use super::protocol::owner::OwnerRun;
use super::protocol::pulls::Pulls;
use super::protocol::replacements::Replacements;
use super::protocol::requests::Requests;
use super::protocol::{Effect, Effects, RequestSource};
use super::{ActionId, Answer, Now, Stop, Turn};

/// What only this run knows. A new one on the same cluster continues where the old one stood.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    pub(super) pods: Pods,
    pub(super) owner: OwnerRun,
    pub(super) pulls: Pulls,
    pub(super) budgets: Budgets,
    pub(super) drains: Drains,
    pub(super) hooks: HookRuns,
    pub(super) replacements: Replacements,
    pub(super) requests: Requests,
    pub(super) followed: Followed,
    asked: BTreeMap<ActionId, RequestSource>,
    next_action: u64,
    /// A write got no response, so it can still arrive.
    pub(super) is_late: bool,
    /// The version of what is observed up to which everything has been judged.
    pub(super) seen: u64,
    pub(super) began: Option<Now>,
    pub(super) listed: bool,
    pub(super) stop: Option<(Stop, Now)>,
    pub(super) stop_said: bool,
    pub(super) last_said: Now,
    pub(super) watch_was_lost: bool,
    /// The number of begun pods at the last report that `maxUnavailable` is reached.
    pub(super) reported_at_budget: Option<u64>,
    /// Why the first write waits, as reported last.
    pub(super) begin_waits_for: Option<String>,
    /// Since when pods wait and none may be taken.
    pub(super) blocked_since: Option<Now>,
    /// Since when the result is certain, while answers are still outstanding.
    pub(super) ending_since: Option<Now>,
    pub(super) ended: bool,
}

impl RunState {
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the user or the system asked to stop; returns whether it is the first time.
    pub fn stop(&mut self, stop: Stop, now: Now) -> bool {
        let first = self.stop.is_none();
        self.stop.get_or_insert((stop, now));
        first
    }

    /// Takes in the answer to an action. The observation of a read comes before it.
    pub fn answer(&mut self, id: ActionId, answer: Answer, now: Now) {
        self.is_late |= matches!(answer, Answer::Unknown { .. });
        match self.asked.remove(&id) {
            Some(RequestSource::Pod(position)) => self.answer_of_a_pod(position, answer, now),
            Some(RequestSource::Hook(position, hook)) => {
                self.hooks.answer(&self.pods, (position, hook), &answer);
                self.pods.wake(position, now);
                if self.stop.is_some() {
                    self.hooks.interrupted(position, hook);
                }
            }
            Some(RequestSource::OwnerRead) => self.owner.was_read(&answer, now),
            Some(RequestSource::OwnerWrite) => self.owner.written(answer, now),
            Some(RequestSource::TakenOver(key)) => self.owner.fencing.answer(&key, answer, now),
            Some(RequestSource::Pulls(asked)) => self.pulls.answer(asked, answer, now),
            Some(RequestSource::Requests(asked)) => self.requests.answer(asked, answer, now),
            Some(RequestSource::Budgets) => self.budgets.answer(&answer, now),
            Some(RequestSource::Slices) => {
                let waiting = self.drains.answer(&self.pods, &answer, now);
                waiting.into_iter().for_each(|position| self.pods.wake(position, now));
            }
            Some(RequestSource::Followed) => self.followed.answer(&answer, now),
            Some(RequestSource::Nobody) | None => {}
        }
    }

    fn answer_of_a_pod(&mut self, position: usize, answer: Answer, now: Now) {
        if let (Some(run), Answer::Refused { .. }) = (self.pods.run(position), &answer)
            && run.request.state == RequestState::Sent
        {
            match run.request.sent {
                Sent::HookNote => self.hooks.refused(position),
                Sent::Restore | Sent::GateOn => self.drains.refused(position),
                Sent::Images | Sent::Note | Sent::Resize | Sent::Drain | Sent::GateOff => {}
            }
        }
        self.pods.answered(position, answer, now);
    }

    pub(super) fn id_for(&mut self, source: RequestSource) -> ActionId {
        let id = ActionId(self.next_action);
        self.next_action += 1;
        self.asked.insert(id, source);
        id
    }

    pub(super) fn context<'a>(&self, goal: &'a Goal, observed: &'a Observed, now: Now) -> TurnContext<'a> {
        TurnContext {
            goal,
            observed,
            now,
            stopped_since: self.stop.map(|(_, since)| since),
            ending_since: self.ending_since,
        }
    }
}

pub(super) struct CurrentTurn<'a> {
    pub(super) goal: &'a Goal,
    pub(super) observed: &'a Observed,
    pub(super) now: Now,
    pub(super) state: &'a mut RunState,
    pub(super) turn: Turn,
}

impl<'a> CurrentTurn<'a> {
    pub(super) fn context(&self) -> TurnContext<'a> {
        self.state.context(self.goal, self.observed, self.now)
    }

    pub(super) fn carry_out(&mut self, effects: Effects) {
        for effect in effects.0 {
            match effect {
                Effect::Act(source, action) => self.turn.actions.push((self.state.id_for(source), action)),
                Effect::Say(notice) => self.turn.notices.push(notice),
                Effect::Add(pod) => self.state.pods.add(pod, self.now),
                Effect::Phase(position, phase) => {
                    self.turn.notices.extend(self.state.pods.begin(position, phase, self.now));
                }
                Effect::Sent(position, sent) => self.state.pods.sent(position, sent),
                Effect::Request(position, request) => self.state.pods.set_request(position, request),
                Effect::Goal(position, goal) => self.state.pods.set_goal(position, goal),
                Effect::Wake(position) => self.state.pods.wake(position, self.now),
                Effect::WaitForReplacements(waits) => self.state.pods.wait_for_replacements(waits),
            }
        }
    }

    /// Asks a protocol, and does and reports what it wants.
    pub(super) fn effects(&mut self, protocol: impl FnOnce(&mut RunState, TurnContext<'a>) -> Effects) {
        let context = self.context();
        let effects = protocol(self.state, context);
        self.carry_out(effects);
    }
}
