//! How a command ends: the words of the JSON output and the exit codes. `docs/reference/exit-codes.md` says what they mean.

use serde::{Deserialize, Serialize};

use crate::value::words;

words! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    EndResult {
        /// Done, proven.
        Complete = "complete",
        NothingToDo = "nothingToDo",
        /// Nothing was written: the workload's own tool rolls the manifest out.
        Left = "left",
        /// Stopped where it was asked to.
        Paused = "paused",
        /// Taken back.
        Aborted = "aborted",
        /// Error, wrong usage, prompt declined.
        Error = "error",
        /// There are changes, all of them in place.
        Changes = "changes",
        NotEligible = "notEligible",
        /// A pod, a pull before any pod, or a hook failed; the reason was found.
        Failed = "failed",
        TimedOut = "timedOut",
        /// The kubelet of a pod has put its resize off, and it was not to be waited for.
        Deferred = "deferred",
        /// Stale plan, another writer, or another pod.
        Superseded = "superseded",
        Interrupted = "interrupted",
        /// SIGTERM, SIGHUP, or an output that nobody reads any more.
        Terminated = "interrupted",
    }
}

impl EndResult {
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Complete | Self::NothingToDo | Self::Left | Self::Paused | Self::Aborted => 0,
            Self::Error => 1,
            Self::Changes => 2,
            Self::NotEligible => 3,
            Self::Failed => 4,
            Self::TimedOut | Self::Deferred => 5,
            Self::Superseded => 6,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Returns whether everything that was wanted has come about.
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Complete | Self::NothingToDo | Self::Aborted)
    }

    /// Returns what several workloads make together: the one that stands last in [`Self::FROM_BEST_TO_WORST`].
    pub fn worst(results: impl IntoIterator<Item = Self>) -> Self {
        let rank = |result: &Self| Self::FROM_BEST_TO_WORST.iter().position(|known| known == result);
        results.into_iter().max_by_key(rank).unwrap_or(Self::NothingToDo)
    }

    /// The order in which the result of several workloads is chosen.
    pub const FROM_BEST_TO_WORST: [Self; 14] = [
        Self::NothingToDo,
        Self::Left,
        Self::Changes,
        Self::Complete,
        Self::Aborted,
        Self::Paused,
        Self::NotEligible,
        Self::Deferred,
        Self::Superseded,
        Self::TimedOut,
        Self::Failed,
        Self::Error,
        Self::Interrupted,
        Self::Terminated,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_counts() {
        use EndResult::{Complete, Error, Failed, Interrupted, NothingToDo, Paused, TimedOut};
        for (results, expected) in [
            (vec![], NothingToDo),
            (vec![Complete, NothingToDo], Complete),
            (vec![Paused, Complete], Paused),
            (vec![Failed, TimedOut, Complete], Failed),
            (vec![Error, Failed], Error),
            (vec![Interrupted, Error], Interrupted),
        ] {
            assert_eq!(EndResult::worst(results.clone()), expected, "{results:?}");
        }
        assert!(EndResult::ALL.iter().all(|result| EndResult::FROM_BEST_TO_WORST.contains(result)));
    }
}
