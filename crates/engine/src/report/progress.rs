//! How far one pod is: the phases of its update, and the few stages that other modules distinguish. How far a rollout
//! is at one moment.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::k8s::failure::Failure;
use crate::k8s::names::{ContainerName, PodKey};
use crate::state::hook::HookPhase;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "phase")]
pub enum UpdatePhase {
    Waiting,
    Hook {
        hook: HookPhase,
    },
    /// In progress, and these containers are to be patched next.
    Next {
        containers: Vec<ContainerName>,
    },
    /// It is being taken out of its Services.
    Draining {
        /// The Services whose EndpointSlices still list the pod; empty while in-flight requests finish.
        services: Vec<String>,
    },
    /// The new container is proven; the pod is being restored to its Services.
    #[serde(rename = "restoring")]
    RejoiningService {
        /// Those that do not list it yet.
        services: Vec<String>,
    },
    /// The patch is on its way, or accepted and not seen yet.
    Patched,
    /// The pod asks for the new image; it shows the old container, or none.
    Restarting {
        /// Those that show the old container, or none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        containers: Vec<ContainerName>,
        /// What the kubelet says it waits for, if it says so.
        waiting: Option<String>,
        /// About when the kubelet's back-off ends (RFC 3339), where that is what holds a container that has not crashed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// It asks for other cpu or memory, and the kubelet is working on it.
    Resizing {
        /// The kubelet's words, if it says something.
        why: Option<String>,
        /// It waits until there is room on this node.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deferred_by: Option<String>,
    },
    /// Everything but its resize is done, and that is left to the kubelet, which has put it off or cannot do it now.
    Left {
        /// The kubelet's words, if it says something.
        why: Option<String>,
        node: String,
    },
    /// The new containers run; the pod is not ready yet.
    Starting {
        /// Those of them that are not ready; none where it is something else of the pod that is not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        containers: Vec<ContainerName>,
    },
    /// Ready; ready must hold.
    #[serde(rename = "settling")]
    Stabilizing {
        #[serde(rename = "holdSeconds")]
        hold_seconds: u32,
    },
    /// Ready, but nothing proves that the container is another one.
    Unverified {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        containers: Vec<ContainerName>,
        /// Why not, of the last one.
        why: String,
    },
    Done,
    Failing(Failure),
    #[serde(rename = "moved")]
    Conflict {
        container: ContainerName,
        image: String,
    },
    /// Somebody else set another value of what this changes besides images.
    Overtaken {
        why: String,
    },
    Gone {
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    pub pods: usize,
    pub done: usize,
    pub failed: usize,
    pub waiting: usize,
    /// How many of these are taken before the rollout pauses or ends.
    pub to_come: usize,
    pub in_progress: usize,
    /// The first of these.
    pub shown: Vec<PodInProgress>,
}

/// Prefix of the message for a pod that is not scheduled.
pub const NOT_SCHEDULED: &str = "not scheduled";

#[derive(Debug, Clone, PartialEq)]
pub struct PodInProgress {
    pub pod: PodKey,
    pub phase: UpdatePhase,
    /// Its node; empty where that is not known.
    pub node: String,
    /// How often the containers that change have restarted; `None` where that is not known.
    pub restarts: Option<i64>,
    pub waited: Duration,
    /// How long it waits for it at most: then it has failed, or goes on.
    pub at_most: Option<Duration>,
    /// What of it has ended and is not started again, if that is what it waits for.
    pub back_off: Option<BackOff>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackOff {
    /// About when it is (RFC 3339), where the kubelet's back-off holds it.
    pub until: Option<String>,
    /// How it ended, where that says something.
    pub exit_code: Option<i64>,
}

/// How far a pod is, by and large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Waiting,
    /// Begun, and neither done nor failed.
    InProgress,
    Done,
    /// Left to its kubelet, with everything done that is not the kubelet's.
    Left,
    Failed,
    /// Gone, or changed by another client: no longer the pod of the plan.
    Lost,
}

impl UpdatePhase {
    /// Returns the stage. The only place that classifies all phases.
    pub const fn stage(&self) -> Stage {
        match self {
            Self::Waiting => Stage::Waiting,
            Self::Hook { .. }
            | Self::Next { .. }
            | Self::Draining { .. }
            | Self::RejoiningService { .. }
            | Self::Patched
            | Self::Restarting { .. }
            | Self::Resizing { .. }
            | Self::Starting { .. }
            | Self::Stabilizing { .. }
            | Self::Unverified { .. } => Stage::InProgress,
            Self::Done => Stage::Done,
            Self::Left { .. } => Stage::Left,
            Self::Failing(_) => Stage::Failed,
            Self::Conflict { .. } | Self::Overtaken { .. } | Self::Gone { .. } => Stage::Lost,
        }
    }

    /// Returns whether a container ended that its kubelet does not start again, with whatever image.
    pub fn stays_down(&self) -> bool {
        matches!(self, Self::Failing(failure) if failure.stays_down)
    }

    /// Returns whether it is news after another phase. The amounts in use on a node change with every pod there, and
    /// the kubelet reports them each time: a resize that stays deferred for the same reason is no news.
    pub fn is_news_after(&self, before: &Self) -> bool {
        let without_amounts = |why: &Option<String>| {
            why.as_ref().map(|why| why.chars().filter(|character| !character.is_ascii_digit()).collect::<String>())
        };
        match (self, before) {
            (
                Self::Resizing { why, deferred_by: Some(node) },
                Self::Resizing { why: why_before, deferred_by: Some(node_before) },
            ) => node != node_before || without_amounts(why) != without_amounts(why_before),
            (phase, before) => phase != before,
        }
    }

    /// Returns the containers that it waits for, of those that change; empty where the phase does not name them.
    pub fn late(&self) -> &[ContainerName] {
        if let Self::Restarting { containers, .. }
        | Self::Starting { containers }
        | Self::Unverified { containers, .. } = self
        {
            containers
        } else {
            &[]
        }
    }

    /// Returns whether nothing of the pod is changed in this phase yet: it waits, or the command before it runs.
    pub const fn is_before_any_change(&self) -> bool {
        matches!(self, Self::Waiting | Self::Hook { hook: HookPhase::Before })
    }
}

impl Stage {
    /// Returns whether the pod is done, is left to its kubelet, has failed, or is lost: nothing more is expected of it.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Done | Self::Left | Self::Failed | Self::Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resize_that_stays_deferred_is_reported_once() {
        let of = |why: &str, node: &str| UpdatePhase::Resizing {
            why: (!why.is_empty()).then(|| why.to_owned()),
            deferred_by: (!node.is_empty()).then(|| node.to_owned()),
        };
        let before = of("Node didn't have enough resource: cpu, requested: 1500, used: 1665, capacity: 2000", "node-1");
        for (phase, is_news) in [
            (of("Node didn't have enough resource: cpu, requested: 1500, used: 1681, capacity: 2000", "node-1"), false),
            (of("Node didn't have enough resource: memory, requested: 15, used: 16, capacity: 20", "node-1"), true),
            (of("Node didn't have enough resource: cpu, requested: 1500, used: 1665, capacity: 2000", "node-2"), true),
            (of("Node didn't have enough resource: cpu, requested: 1500, used: 1665, capacity: 2000", ""), true),
            (of("", "node-1"), true),
            (UpdatePhase::Done, true),
        ] {
            assert_eq!(phase.is_news_after(&before), is_news, "{phase:?}");
        }
        assert!(of("exit 1", "").is_news_after(&of("exit 2", "")), "an error is another one");
    }
}
