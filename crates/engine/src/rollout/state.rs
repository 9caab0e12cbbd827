//! What only this run knows and may lose; which action each answer belongs to.

use std::collections::BTreeMap;

use super::entry::{Request, Sent};
use super::goal::Goal;
use super::pods::Pods;
use super::protocol::Asker;
use super::protocol::budgets::Budgets;
use super::protocol::drain::Drains;
use super::protocol::followed::Followed;
use super::protocol::hooks::Hooks;
use super::protocol::owner::Owner;
use super::protocol::pulls::Pulls;
use super::protocol::replacements::Replacements;
use super::visit::Visit;
use super::world::World;
use super::{ActionId, Answer, Now, Stop};

/// What only this run knows. A new one on the same world continues where the old one stood.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    pub(super) pods: Pods,
    pub(super) owner: Owner,
    pub(super) pulls: Pulls,
    pub(super) budgets: Budgets,
    pub(super) drains: Drains,
    pub(super) hooks: Hooks,
    pub(super) replacements: Replacements,
    pub(super) followed: Followed,
    /// Who waits for which answer.
    asked: BTreeMap<ActionId, Asker>,
    next_action: u64,
    /// A write was sent whose outcome no answer gives: it may still arrive.
    pub(super) is_late: bool,
    /// The world's version up to which everything has been judged.
    pub(super) seen: u64,
    pub(super) began: Option<Now>,
    /// The first list is in.
    pub(super) listed: bool,
    pub(super) stop: Option<(Stop, Now)>,
    pub(super) stop_said: bool,
    pub(super) last_said: Now,
    pub(super) watch_was_lost: bool,
    /// How many pods were begun when it was reported that no more may be down.
    pub(super) budget_said: Option<u64>,
    /// What the first write waits for, as it was reported last.
    pub(super) begin_waits_for: Option<String>,
    /// Since when nothing can be taken though something waits.
    pub(super) blocked_since: Option<Now>,
    /// Since when the verdict stands, while answers are still outstanding.
    pub(super) ending_since: Option<Now>,
    pub(super) ended: bool,
}

impl RunState {
    /// Returns a state that knows nothing yet.
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
            Some(Asker::Pod(position)) => self.answer_of_a_pod(position, answer, now),
            Some(Asker::Hook(position, hook)) => {
                self.hooks.answer(&self.pods, (position, hook), &answer);
                self.pods.wake(position, now);
                if self.stop.is_some() {
                    self.hooks.interrupted(position, hook);
                }
            }
            Some(Asker::OwnerRead) => self.owner.was_read(&answer, now),
            Some(Asker::OwnerWrite) => self.owner.written(answer, now),
            Some(Asker::TakenOver(key)) => self.owner.answer_of_taken_over(key, answer, now),
            Some(Asker::Pulls(asked)) => self.pulls.answer(asked, answer, now),
            Some(Asker::Budgets) => self.budgets.answer(&answer, now),
            Some(Asker::Slices) => {
                let waiting = self.drains.answer(&self.pods, &answer, now);
                waiting.into_iter().for_each(|position| self.pods.wake(position, now));
            }
            Some(Asker::Followed) => self.followed.answer(&answer, now),
            Some(Asker::Nobody) | None => {}
        }
    }

    fn answer_of_a_pod(&mut self, position: usize, answer: Answer, now: Now) {
        if let (Some(entry), Answer::Refused { .. }) = (self.pods.entry(position), &answer)
            && entry.request == Request::Sent
        {
            match entry.sent {
                Sent::HookNote => self.hooks.refused(position),
                Sent::Restore | Sent::GateOn => self.drains.refused(position),
                Sent::Images | Sent::Note | Sent::Resize | Sent::Drain | Sent::GateOff => {}
            }
        }
        self.pods.answered(position, answer, now);
    }

    /// Returns the id for an action of this asker, which gets the answer.
    pub(super) fn id_for(&mut self, asker: Asker) -> ActionId {
        let id = ActionId(self.next_action);
        self.next_action += 1;
        self.asked.insert(id, asker);
        id
    }

    /// Returns what a turn looks at.
    pub(super) fn visit<'a>(&self, goal: &'a Goal, world: &'a World, now: Now) -> Visit<'a> {
        Visit { goal, world, now, stopped_since: self.stop.map(|(_, since)| since), ending_since: self.ending_since }
    }
}
