//! What became of a rollout that a client only watches.

use serde_json::Value;

use crate::change::Direction;
use crate::state::durable::history;
use crate::state::durable::lock::RolloutLock;
use crate::state::outcome::EndResult;

/// How another client has ended a rollout, so that its change does not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// Another run is on its way back.
    GoingBack,
    /// Another run has rolled it back.
    RolledBack,
    /// Another client's template, or another rollout, has ended it.
    Superseded,
}

impl Became {
    /// Returns what became of the rollout whose lock was seen before, as its owner and what that owns now show; `None`
    /// where it may still complete.
    pub fn of(followed: &RolloutLock, object: &Value, owned: &[Value]) -> Option<Self> {
        // A client that began to watch on the way back waits for exactly that.
        if followed.direction == Direction::Back {
            return None;
        }
        let entries = history::union(std::iter::once(object).chain(owned));
        if let Some(entry) = entries.into_iter().find(|entry| entry.id == followed.id) {
            let ends = [(EndResult::Aborted, Self::RolledBack), (EndResult::Superseded, Self::Superseded)];
            return ends.into_iter().find(|(outcome, _)| *outcome == entry.outcome).map(|(_, became)| became);
        }
        let lock = RolloutLock::of(object).ok().flatten()?;
        (lock.id == followed.id && lock.direction == Direction::Back).then_some(Self::GoingBack)
    }

    /// Returns it as a sentence without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::GoingBack | Self::RolledBack => history::ABORTED,
            Self::Superseded => "another client has changed the template, so nobody carries the rollout on",
        }
    }
}
