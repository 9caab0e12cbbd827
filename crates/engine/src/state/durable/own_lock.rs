//! What a run knows of its own lock, besides what it reads: the one thing of the owner's side that the objects cannot
//! show. An owner without a lock looks the same before a rollout's first write and after a PUT of the whole object as
//! it was then.

use super::lock::RolloutLock;
use super::{OwnerGoal, OwnerView, StepName};

/// What a run knows of its own lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnLock {
    /// It has not been written.
    #[default]
    Unwritten,
    /// It was written, and no answer says whether it was stored.
    ///
    /// Storing it raises the owner's generation, and so does any write that removes template and lock again: as long as
    /// the generation was raised once at the most, it was not stored.
    Unclear {
        /// The owner's generation before the write.
        generation: i64,
    },
    /// It stood on the owner.
    Held,
    /// This run has recorded the end, and removed it.
    Closed,
}

/// Whether a write was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It was.
    Yes,
    /// It certainly was not.
    No,
    /// It may have been, or may still be.
    Unknown,
}

impl OwnLock {
    /// What is known once the owner was read.
    #[must_use]
    pub fn seen(self, goal: &OwnerGoal, view: &OwnerView) -> Self {
        let lock = view.object.as_ref().and_then(|object| RolloutLock::of(object).ok().flatten());
        let is_there = lock.is_some_and(|lock| lock.is_same_run(&goal.lock));
        match self {
            Self::Unwritten | Self::Unclear { .. } if is_there => Self::Held,
            Self::Unwritten | Self::Unclear { .. } | Self::Held | Self::Closed => self,
        }
    }

    /// What is known once a write was answered; `generation` is the owner's as it was read before.
    #[must_use]
    pub fn answered(self, written: StepName, stored: Stored, generation: i64) -> Self {
        let sets_it = matches!(written, StepName::SetTemplate | StepName::TakeLock);
        match (self, stored) {
            (_, Stored::Yes) if written == StepName::Close => Self::Closed,
            (Self::Unwritten | Self::Unclear { .. }, Stored::Yes) if sets_it => Self::Held,
            (Self::Unwritten, Stored::Unknown) if sets_it => Self::Unclear { generation },
            (_, Stored::Yes | Stored::No | Stored::Unknown) => self,
        }
    }
}
