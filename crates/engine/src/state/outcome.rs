//! How a command ends: the words of the JSON output and the exit codes, in one table and nowhere else.

use serde::{Deserialize, Serialize};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndResult {
    /// Done, proven.
    Complete,
    /// Nothing to do.
    NothingToDo,
    /// Stopped where it was asked to.
    Paused,
    /// Taken back.
    Aborted,
    /// Error, wrong usage, prompt declined.
    Error,
    /// There are changes, all of them in place.
    Changes,
    /// Something cannot be done in place.
    NotEligible,
    /// A pod, a pull before any pod, or a hook failed; the reason was found.
    Failed,
    /// A deadline passed.
    TimedOut,
    /// The kubelet of a pod has put its resize off, and it was not to be waited for.
    Deferred,
    /// Stale plan, another writer, or another pod.
    Superseded,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM, SIGHUP, or an output that nobody reads any more.
    Terminated,
}

impl EndResult {
    /// Every member.
    pub const ALL: [Self; 13] = [
        Self::Complete,
        Self::NothingToDo,
        Self::Paused,
        Self::Aborted,
        Self::Error,
        Self::Changes,
        Self::NotEligible,
        Self::Failed,
        Self::TimedOut,
        Self::Deferred,
        Self::Superseded,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Returns the word that stands for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NothingToDo => "nothingToDo",
            Self::Paused => "paused",
            Self::Aborted => "aborted",
            Self::Error => "error",
            Self::Changes => "changes",
            Self::NotEligible => "notEligible",
            Self::Failed => "failed",
            Self::TimedOut => "timedOut",
            Self::Deferred => "deferred",
            Self::Superseded => "superseded",
            Self::Interrupted | Self::Terminated => "interrupted",
        }
    }

    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Complete | Self::NothingToDo | Self::Paused | Self::Aborted => 0,
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

    /// Returns what several workloads make together: the one that stands last in [`Self::FROM_BEST_TO_WORST`].
    pub fn worst(results: impl IntoIterator<Item = Self>) -> Self {
        let rank = |result: &Self| Self::FROM_BEST_TO_WORST.iter().position(|known| known == result);
        results.into_iter().max_by_key(rank).unwrap_or(Self::NothingToDo)
    }

    /// The order in which the result of several workloads is chosen.
    pub const FROM_BEST_TO_WORST: [Self; 13] = [
        Self::NothingToDo,
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

    /// Returns what to do about it, one sentence without a full stop.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Complete | Self::NothingToDo | Self::Aborted => "nothing has to be done",
            Self::Paused => "look at the pods that are done, then resume or abort with the command that was printed",
            Self::Error => "mend what the error and its hints name; nothing was changed unless it says so",
            Self::Changes => {
                "carry the plan out with the command that was printed; after `status --exit-code`, see what status shows"
            }
            Self::NotEligible => "see the reasons: each has a hint, and more with explain CODE",
            Self::Failed => {
                "read the failure that was printed; then abort (the pods that were changed go back) or resume, if the run has changed anything"
            }
            Self::TimedOut => {
                "look at what was waited for, then resume, with a longer --timeout if it only needs time, or abort"
            }
            Self::Deferred => {
                "make room on the nodes that were named and watch the pods with follow (--deferred=leave), or ask for less (--deferred=undo has rolled everything back)"
            }
            Self::Superseded => "see who changed what (status, history), then plan again",
            Self::Interrupted | Self::Terminated => "resume or abort with the command that was printed",
        }
    }

    /// Returns what it means, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Complete => {
                "every pod runs what was asked for, verified by another container that stayed ready; `plan` without `--detailed-exitcode`: a plan was made, whatever it says"
            }
            Self::NothingToDo => "every pod already runs it",
            Self::Paused => "stopped where it was asked to",
            Self::Aborted => "rolled back",
            Self::Error => {
                "error, wrong usage, prompt declined, or no terminal and no `--yes`; `status --exit-code`: something could not be read, so that it is not known whether all is up to date"
            }
            Self::Changes => {
                "only `plan --detailed-exitcode`: there are changes, all of them in place; only `status --exit-code`: a workload is not up to date, or a rollout of it is in progress, failed or stopped"
            }
            Self::NotEligible => {
                "something cannot be done in place (`plan --detailed-exitcode`, `apply`, `restart`, `undo`; also where a pod template changes that the plan does not check; `resume` and `abort` where a permission is missing, or the server too old for it); `rbac --check`: something required is not allowed"
            }
            Self::Failed => {
                "a pod failed, a node could not pull an image before any pod was changed, or a command of `--before-pod` or `--after-pod` failed; the report shows the reason"
            }
            Self::TimedOut => "a deadline passed, or it could not be verified in time",
            Self::Deferred => {
                "only `--deferred=undo` and `--deferred=leave`: a node has no room for a resize now; with `undo` everything was rolled back, with `leave` everything else is done"
            }
            Self::Superseded => {
                "stale plan, another writer, or the pod is gone or another one; also where abort ends a rollout whose template another client has changed: it is over, and nothing was rolled back"
            }
            Self::Interrupted => "Ctrl-C; what to do next was printed",
            Self::Terminated => "SIGTERM, SIGHUP, or the output's reader is gone; what to do next was printed",
        }
    }
}

/// How `diff` ended: its exit codes are those of `kubectl diff`, not those of [`EndResult`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffResult {
    /// Nothing differs.
    Same,
    /// Something differs.
    Different,
    /// An error, wrong usage among them.
    Failed,
    /// The program of `KUBECTL_EXTERNAL_DIFF` failed with this code, which is above 1.
    Program(u8),
    /// Ended by a signal.
    Stopped(EndResult),
}

impl DiffResult {
    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Different => 1,
            Self::Failed => 2,
            Self::Program(code) => code.max(2),
            Self::Stopped(result) => result.exit_code(),
        }
    }
}

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// As every command but `diff`.
    Command(EndResult),
    /// As `diff`.
    Diff(DiffResult),
}

impl Ending {
    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Command(result) => result.exit_code(),
            Self::Diff(result) => result.exit_code(),
        }
    }
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

    #[test]
    fn diff_ends_as_kubectl_diff_does() {
        let failed = [DiffResult::Failed, DiffResult::Program(0), DiffResult::Program(3)].map(DiffResult::exit_code);
        assert_eq!((DiffResult::Same.exit_code(), DiffResult::Different.exit_code(), failed), (0, 1, [2, 2, 3]));
        assert_eq!(Ending::Diff(DiffResult::Stopped(EndResult::Interrupted)).exit_code(), 130);
    }
}
