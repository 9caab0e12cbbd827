//! How a simulated pod is made, what becomes of its containers, and the stages that it goes through.

/// In the message of a report after which a rollout must fail at once.
pub(super) const DECISIVE: &str = "[for good]";

/// What becomes of a container that is created from the wanted image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Good,
    PullHeals,
    PullNotFound,
    PullNeverHeals,
    InvalidName,
    ConfigError,
    CreateHeals,
    CreateLasts,
    Crashes { after_millis: u64 },
    NeverReady,
}

/// How the pod and its node are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nature {
    pub(super) observes_generation: bool,
    pub(super) readiness: bool,
    pub(super) flaps: bool,
    pub(super) startup: bool,
    /// kubernetes#141155.
    pub(super) born_started: bool,
    /// Both tags are one digest.
    pub(super) same_digest: bool,
    /// For equal digests: the tag that the runtime shows.
    pub(super) shown_tag: &'static str,
    /// The old container crashes between the patch and the kubelet's seeing it.
    pub(super) crashes_early: bool,
    pub(super) slowest_millis: u64,
    /// The wanted image ran within the last ten minutes: its back-off holds the container once.
    pub(super) holds_back: bool,
}

/// A startup probe's period in the simulation.
pub(super) const STARTUP_PERIOD: u64 = 3;

/// What happens to a pod on its node, at a time of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    CrashOld,
    See,
    Kill(usize),
    Start,
    Retry(usize),
    BackOff(usize),
    Publish,
    /// The runtime resizes.
    Actuate,
    Probe {
        container: usize,
        id: String,
        started: bool,
        ready: bool,
    },
    Crash {
        container: usize,
        id: String,
    },
    /// Another container of the pod stops or begins to be ready: the budget sees it.
    Sibling {
        ready: bool,
    },
}
