//! The run whose rollout is followed: as long as it is alive and holds the owner, it may still do something to pods that are
//! all done.

use crate::engine::rollout::look::Look;
use crate::engine::rollout::pods::Pods;
use crate::engine::rollout::polled::PolledRead;
use crate::engine::rollout::{Action, Answer, Now};
use crate::engine::state::durable::holder::{Life, ProcessState};
use crate::engine::state::durable::lock::RolloutLock;

use super::{Asker, Effects};

/// So many reads in a row may fail: what cannot be read keeps nobody waiting for ever.
const MOST_FAILURES: u8 = 3;

/// What is kept of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Followed {
    read: PolledRead,
    /// Every pod is done.
    waits: bool,
    failures: u8,
}

impl Followed {
    pub(crate) fn answer(&mut self, answer: &Answer, now: Now) {
        let is_read = self.read.answered(answer, now);
        self.failures = if is_read { 0 } else { self.failures.saturating_add(1) };
    }

    /// Reads the owner once every pod is done, and again while it is held.
    pub(crate) fn advance(&mut self, look: Look<'_>, pods: &Pods) -> Effects {
        let waits = look.goal.followed.is_some() && pods.all_done() && look.stopped_since.is_none();
        if waits && !self.waits {
            self.read.must_be_read(look.now);
            self.read.hurry();
        }
        self.waits = waits;
        if !waits || !self.is_held(look) || !self.read.may_ask(look.now) || look.now < self.read.due() {
            return Effects::default();
        }
        self.read.slow_down();
        self.read.ask(look.now);
        (Asker::Followed, Action::ReadOwner(look.goal.workload.clone())).into()
    }

    /// Returns whether the run that is followed may be at work.
    pub(crate) fn is_held(&self, look: Look<'_>) -> bool {
        let Some(followed) = look.goal.followed.as_ref().filter(|_| self.failures < MOST_FAILURES) else {
            return false;
        };
        let Some(view) = look.world.owner().filter(|_| !self.read.is_stale) else { return true };
        let Some(object) = &view.object else { return false };
        let lock = RolloutLock::of(object).ok().flatten().filter(|lock| lock.id == followed.id);
        lock.is_some_and(|lock| match Life::of(&lock, object, view.now.as_deref(), ProcessState::NotKnown) {
            Life::Alive(_) => true,
            Life::Ended | Life::Gone | Life::Silent(_) | Life::Stalled { .. } | Life::Unknown(_) => false,
        })
    }

    /// Why nothing ends though every pod is done.
    pub(crate) fn why(&self) -> Option<String> {
        self.waits.then(|| "every pod is done, and the run that holds the workload has not ended".to_owned())
    }

    pub(crate) fn next_look(&self) -> Option<Now> {
        (self.waits && self.read.asked().is_none()).then(|| self.read.due())
    }
}
