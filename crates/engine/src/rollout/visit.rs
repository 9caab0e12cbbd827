//! What one turn sees: the goal, the world and the time, and whether the run is ending.

use serde_json::Value;

use super::Now;
use super::goal::{Goal, PodGoal};
use super::world::{Watch, World};
use crate::k8s::pod::Pod;
use crate::report::progress::PodProgress;

/// One pass of a turn over the world.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub(super) goal: &'a Goal,
    pub(super) world: &'a World,
    pub(super) now: Now,
    /// Since when the run is asked to stop.
    pub(super) stopped_since: Option<Now>,
    /// Since when the verdict stands, while answers are still outstanding.
    pub(super) ending_since: Option<Now>,
}

/// One pod of the goal within a visit.
#[derive(Clone, Copy)]
pub(super) struct Visited<'a> {
    pub(super) position: usize,
    pub(super) goal: &'a PodGoal,
    /// The pod, if it exists.
    pub(super) pod: Option<&'a Pod>,
}

impl Visit<'_> {
    pub(super) fn is_live(self) -> bool {
        *self.world.watch() == Watch::Live
    }

    /// How many pods the owner wants now: scaling is followed.
    pub(super) fn replicas(self) -> usize {
        let object = self.world.owner().and_then(|view| view.object.as_ref());
        let pointer = self.goal.workload.kind.replicas().pointer();
        let now = object.zip(pointer).and_then(|(object, pointer)| object.pointer(pointer)).and_then(Value::as_u64);
        usize::try_from(now.unwrap_or(u64::from(self.goal.replicas))).unwrap_or(0)
    }
}

/// The phase, and when it may change without a new observation.
pub(super) struct Judged {
    pub(super) phase: PodProgress,
    pub(super) wake: Option<Now>,
}

impl From<PodProgress> for Judged {
    fn from(phase: PodProgress) -> Self {
        Self { phase, wake: None }
    }
}
