//! The protocols of a rollout with others: each has a state of its own that no other sees, is given what the turn looks at,
//! and returns what is to be done and said. When it has to be looked at again, its `next_visit` tells.

pub(super) mod budgets;
pub(super) mod drain;
pub(super) mod followed;
pub(super) mod hooks;
pub(super) mod owner;
pub(super) mod pulls;
pub(super) mod replacements;
mod taken_over;

use crate::engine::k8s::names::PodKey;
use crate::engine::report::Notice;
use crate::engine::state::hook::HookPhase;

use super::action::Action;

pub(super) use taken_over::by_another;

/// Who asked for an action: the answer is theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asker {
    /// The pod at this position: a patch, or a read of it.
    Pod(usize),
    /// Nobody: what was read comes as an observation.
    Nobody,
    Hook(usize, HookPhase),
    OwnerRead,
    OwnerWrite,
    TakenOver(PodKey),
    Pulls(pulls::Asked),
    Budgets,
    Slices,
    Followed,
}

/// What a protocol wants done and said, in this order.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Effects {
    pub(super) actions: Vec<(Asker, Action)>,
    pub(super) notices: Vec<Notice>,
}

impl Effects {
    pub(super) fn act(&mut self, asker: Asker, action: Action) {
        self.actions.push((asker, action));
    }

    pub(super) fn say(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.actions.extend(more.actions);
        self.notices.extend(more.notices);
    }
}

impl From<Option<Notice>> for Effects {
    fn from(notice: Option<Notice>) -> Self {
        Self { actions: Vec::new(), notices: notice.into_iter().collect() }
    }
}

impl From<(Asker, Action)> for Effects {
    fn from(action: (Asker, Action)) -> Self {
        Self { actions: vec![action], notices: Vec::new() }
    }
}
