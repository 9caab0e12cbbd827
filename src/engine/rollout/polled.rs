//! What is read of the cluster again and again: from when on it is true, and how long it may be relied on.

use std::time::Duration;

use super::Now;

/// An answer that was longer on its way may have lain there while this process slept.
const SLOWEST: Duration = Duration::from_secs(5);

/// One read: it shows what was there when it was asked for, or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) asked: Now,
    pub(super) answered: Now,
}

impl Reading {
    /// How long the server took.
    pub(super) fn took(self) -> Duration {
        self.answered.saturating_sub(self.asked)
    }

    /// Returns whether it may lie too far back to be relied on, whenever it came in.
    pub(super) fn is_overdue(self) -> bool {
        self.took() > SLOWEST
    }

    /// Returns whether it was answered no longer than this ago.
    pub(super) fn is_fresh(self, within: Duration, now: Now) -> bool {
        !self.is_overdue() && self.answered + within >= now
    }
}
