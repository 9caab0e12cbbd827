//! How fast and how careful a rollout is: what the user chose and the owner says, bounded.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::k8s::names::ContainerName;
use crate::value::{is_default, words};

words! {
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    PodOrder {
        /// Those that are down already, then as the owner's controller would.
        #[default]
        UnreadyFirst = "unready-first",
        Name = "name",
        Age = "age",
        Node = "node",
    }
}

words! {
    /// `--deferred`: what becomes of a deferred resize.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    OnDeferred {
        /// It is waited for, as long as the pod's time is.
        #[default]
        Wait = "wait",
        /// The whole rollout is taken back. What goes back itself is waited for.
        Undo = "undo",
        /// It is left to the kubelet, which goes on trying by itself; everything else is done.
        Leave = "leave",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Pods down at once, at least 1.
    pub max_unavailable: u32,
    /// `--min-ready-seconds`: overrides every other rule about how long ready must hold, and the canary.
    pub min_ready_seconds_given: Option<u32>,
    pub owner_min_ready_seconds: u32,
    /// `--timeout` in seconds, per pod; for the default see [`DEFAULT_TIMEOUT_SECONDS`].
    pub timeout_given: Option<u64>,
    /// `--total-timeout` in seconds.
    pub total_timeout: Option<u64>,
    /// `--disruption-budget=respect`: also budgets that are created while the rollout is in progress.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respects_budgets: bool,
    /// `--drain-seconds`: between a pod's being out of its Services and its restart; none with `--drain=none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<u32>,
    /// `--canary`: this many pods, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<u32>,
    /// `--pause-after`: this many pods, each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<u32>,
    /// `--on-failure=continue`: a pod that fails does not stop the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on_after_failure: bool,
    /// `--on-failure=undo`: a pod that fails takes all of them back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undoes_failures: bool,
    /// `--container-order`: within a pod these containers change one after the other, and then all others at once; none is
    /// all at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub container_order: Vec<ContainerName>,
    /// `--order`: a run that goes on with the rollout keeps it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: PodOrder,
    /// Strictly in the order of `Goal::pods`: a pod that is down is not taken first.
    pub ordered: bool,
    /// `--deferred`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_deferred: OnDeferred,
}

/// `--on-failure`: what becomes of a rollout whose pod fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    Stop,
    Undo,
    /// It goes on with the other pods, as long as pods may be down: one that failed counts as down.
    Continue,
}

/// The longest time that an annotation may ask for, in seconds: a year. Anybody may have edited it; a user who
/// wants no end gets this one.
pub const LONGEST_SECONDS: u64 = 365 * 86_400;

impl Policy {
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_given.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
    }

    /// Returns for how many seconds a pod must stay ready: what the user has given, or else at least this long.
    pub fn hold_seconds(&self, least: u32) -> u32 {
        self.min_ready_seconds_given.unwrap_or(self.owner_min_ready_seconds.max(least))
    }

    /// Returns whether the first pod must prove itself before another one is taken: with `--min-ready-seconds 0`
    /// it need not.
    pub fn first_goes_alone(&self) -> bool {
        self.min_ready_seconds_given != Some(0)
    }

    /// Returns what applies on the way back: the pauses, and what becomes of a failure, were for the new template.
    #[must_use]
    pub fn on_the_way_back(&self) -> Self {
        Self {
            canary: None,
            pause_after: None,
            goes_on_after_failure: false,
            undoes_failures: false,
            on_deferred: OnDeferred::default(),
            container_order: self.container_order.iter().rev().cloned().collect(),
            ..self.clone()
        }
    }

    /// Sets what the user has chosen for a run; later runs of the rollout keep it, unless they choose otherwise. Choices for
    /// the new images do not apply on the way back, nor is a way back itself taken back.
    pub fn choose(&mut self, on_failure: Option<OnFailure>, on_deferred: Option<OnDeferred>, is_back: bool) {
        if is_back || on_failure.is_some() {
            self.goes_on_after_failure = on_failure == Some(OnFailure::Continue);
            self.undoes_failures = on_failure == Some(OnFailure::Undo) && !is_back;
        }
        if is_back || on_deferred.is_some() {
            self.on_deferred = on_deferred.unwrap_or_default();
        }
    }

    /// Returns it with every time bounded, as it must be before anything is computed from it.
    #[must_use]
    pub fn bounded(self) -> Self {
        let seconds = |seconds: u64| seconds.min(LONGEST_SECONDS);
        let short = |seconds: u32| seconds.min(u32::try_from(LONGEST_SECONDS).unwrap_or(u32::MAX));
        Self {
            max_unavailable: self.max_unavailable.max(1),
            min_ready_seconds_given: self.min_ready_seconds_given.map(short),
            owner_min_ready_seconds: short(self.owner_min_ready_seconds),
            timeout_given: self.timeout_given.map(seconds),
            total_timeout: self.total_timeout.map(seconds),
            drain_seconds: self.drain_seconds.map(short),
            ..self
        }
    }
}

/// Seconds that ready must hold for the first pod where a changed container has no readiness probe: without one
/// a container is ready as soon as it runs, also one that dies a second later.
pub const CANARY_HOLD_SECONDS: u32 = 5;

/// Seconds that ready must hold where the new container has ended once already and was started again: crash back-off
/// begins at ten seconds, and a busy kubelet shows a dead container as running for some seconds more.
pub const RESTARTED_HOLD_SECONDS: u32 = 20;

/// Seconds per pod, besides its termination grace and the time that ready must hold, after which a rollout gives up.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    /// The way back ends what the way there was to do at a failure, unless that has a choice of its own.
    #[test]
    fn a_choice_that_is_not_given_is_kept_but_not_on_the_way_back() {
        let chosen = |on_failure, on_deferred, is_back| {
            let mut policy =
                Policy { goes_on_after_failure: true, on_deferred: OnDeferred::Leave, ..Policy::default() };
            policy.choose(on_failure, on_deferred, is_back);
            (policy.goes_on_after_failure, policy.undoes_failures, policy.on_deferred)
        };
        let cases = [
            ((None, None, false), (true, false, OnDeferred::Leave)),
            ((Some(OnFailure::Stop), None, false), (false, false, OnDeferred::Leave)),
            ((Some(OnFailure::Undo), Some(OnDeferred::Wait), false), (false, true, OnDeferred::Wait)),
            ((None, None, true), (false, false, OnDeferred::Wait)),
            ((Some(OnFailure::Undo), None, true), (false, false, OnDeferred::Wait)),
            ((Some(OnFailure::Continue), Some(OnDeferred::Leave), true), (true, false, OnDeferred::Leave)),
        ];
        for ((on_failure, on_deferred, is_back), expected) in cases {
            assert_eq!(chosen(on_failure, on_deferred, is_back), expected, "{on_failure:?} {on_deferred:?} {is_back}");
        }
    }
}
