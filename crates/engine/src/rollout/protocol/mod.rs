//! The protocols of a rollout with others: each has a state of its own that no other protocol sees, and returns what is to be
//! done, reported and kept; none changes the pods itself. Its `next_visit` says when it has to be visited again.

pub(super) mod budgets;
pub(super) mod drain;
pub(super) mod followed;
pub(super) mod hooks;
pub(super) mod owner;
pub(super) mod pulls;
pub(super) mod replacements;
pub(super) mod requests;
mod taken_over;

use std::sync::Arc;

use crate::k8s::names::PodKey;
use crate::report::Notice;
use crate::report::progress::UpdatePhase;
use crate::state::hook::HookPhase;

use super::action::Action;
use super::goal::PodGoal;
use super::pod_run::{RequestState, Sent};

pub(super) use taken_over::by_another;

/// Who asked for an action, and gets the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestSource {
    /// The pod at this position: a patch, or a read of it.
    Pod(usize),
    /// The answer needs no receiver: what was read is an observation.
    Nobody,
    Hook(usize, HookPhase),
    OwnerRead,
    OwnerWrite,
    TakenOver(PodKey),
    Pulls(pulls::PullRequest),
    Requests(requests::AskedRequest),
    Budgets,
    Slices,
    Followed,
}

/// One thing that a protocol wants done, said, or kept.
#[derive(Debug)]
pub(super) enum Effect {
    Act(RequestSource, Action),
    Say(Notice),
    Add(Arc<PodGoal>),
    Phase(usize, UpdatePhase),
    Sent(usize, Sent),
    Request(usize, RequestState),
    Goal(usize, Arc<PodGoal>),
    Wake(usize),
    /// Whether the end waits for pods that came in place of others.
    WaitForReplacements(bool),
}

#[derive(Debug, Default)]
#[must_use]
pub(super) struct Effects(pub(super) Vec<Effect>);

impl Effects {
    pub(super) fn act(&mut self, source: RequestSource, action: Action) {
        self.0.push(Effect::Act(source, action));
    }

    pub(super) fn say(&mut self, notice: Notice) {
        self.0.push(Effect::Say(notice));
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }
}

impl From<(RequestSource, Action)> for Effects {
    fn from((source, action): (RequestSource, Action)) -> Self {
        Self(vec![Effect::Act(source, action)])
    }
}
