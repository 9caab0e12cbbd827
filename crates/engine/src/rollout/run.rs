//! One turn under way: what it may ask of the state, and what it does and says.

use super::action::{Now, Turn};
use super::goal::Goal;
use super::protocol::{Effect, Effects};
use super::state::RunState;
use super::visit::Visit;
use super::world::World;

/// One turn in progress.
pub(super) struct Run<'a> {
    pub(super) goal: &'a Goal,
    pub(super) world: &'a World,
    pub(super) now: Now,
    pub(super) state: &'a mut RunState,
    pub(super) turn: Turn,
}

impl<'a> Run<'a> {
    pub(super) fn visit(&self) -> Visit<'a> {
        self.state.visit(self.goal, self.world, self.now)
    }

    /// Does, reports and keeps what a protocol wants.
    pub(super) fn carry_out(&mut self, effects: Effects) {
        for effect in effects.0 {
            match effect {
                Effect::Act(asker, action) => self.turn.actions.push((self.state.id_for(asker), action)),
                Effect::Say(notice) => self.turn.notices.push(notice),
                Effect::Add(pod) => self.state.pods.add(pod, self.now),
                Effect::Pod(position, change) => {
                    self.turn.notices.extend(self.state.pods.change(position, change, self.now));
                }
                Effect::WaitForReplacements(waits) => self.state.pods.wait_for_replacements(waits),
            }
        }
    }

    /// Visits a protocol, and does and reports what it wants.
    pub(super) fn effects(&mut self, protocol: impl FnOnce(&mut RunState, Visit<'a>) -> Effects) {
        let visit = self.visit();
        let effects = protocol(self.state, visit);
        self.carry_out(effects);
    }
}
