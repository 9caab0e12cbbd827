//! What a controller that can update pods in place itself does with the present pods, for each from its own revision on.

use serde_json::Value;

use super::live::Snapshot;
use crate::change::reason::Warning;
use crate::kinds::{CONTROLLER_REVISION_HASH, Course};
use crate::state::durable::revisions;

/// How many pods it updates in place and replaces, and of how many that is not known.
#[derive(Debug, Default)]
pub(super) struct Courses {
    in_place: usize,
    replaced: usize,
    not_known: usize,
    since: String,
}

impl Courses {
    /// Returns what becomes of the pods once the template is this one; `None` for other kinds, and where a pod's revision is not
    /// there. What its webhook refuses is left out: the server is asked.
    pub(super) fn of(live: &Snapshot, after: Value) -> Option<Self> {
        let foresee = live.workload.reference.kind.spec().foresee?;
        let with = |template: Value| {
            let mut object = live.workload.object.clone();
            *object.pointer_mut(live.workload.reference.kind.template_pointer())? = template;
            Some(object)
        };
        let after = with(after)?;
        let mut courses = Self::default();
        for pod in live.present_pods() {
            let label = pod.labels.get(CONTROLLER_REVISION_HASH).map(String::as_str).unwrap_or_default();
            let made_from = revisions::labelled(&live.surroundings.owned, label).map(revisions::template_of)?;
            let obstacles = foresee(&with(made_from)?, &after).obstacles;
            let Some(obstacle) = obstacles.into_iter().min_by_key(|obstacle| obstacle.course) else {
                courses.in_place += 1;
                continue;
            };
            let is_known = obstacle.course != Course::NotKnown;
            *(if is_known { &mut courses.replaced } else { &mut courses.not_known }) += 1;
            courses.since = obstacle.because;
        }
        Some(courses)
    }

    /// Returns whether every pod gets the template in place.
    pub(super) fn are_in_place(&self) -> bool {
        self.replaced + self.not_known == 0
    }

    pub(super) fn warning(self) -> Option<Warning> {
        let Self { in_place, replaced, not_known, since } = self;
        (in_place + replaced + not_known > 0).then_some(Warning::ItsController { in_place, replaced, not_known, since })
    }
}
