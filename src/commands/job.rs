//! What is to be done to one workload.

use std::time::Duration;

use engine::plan::LiveWorkload;
use engine::rollout::Goal;

/// What is to be done to one workload; `None` where there is nothing to do.
pub(super) struct Job {
    pub(super) goal: Option<Goal>,
    pub(super) live: LiveWorkload,
    pub(super) expected: Option<Duration>,
}
