//! What a controller that can update pods in place itself does with the present pods, for each from its own revision on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::live::Snapshot;
use crate::change::reason::Warning;
use crate::kinds::{CONTROLLER_REVISION_HASH, Course, Obstacle, as_read};
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
    /// Returns what becomes of the pods that have another template than this object; `None` for other kinds. What its
    /// webhook refuses counts as replaced: the server is asked.
    pub(super) fn of(live: &Snapshot, after: &Value) -> Option<Self> {
        let (kind, foresee) = (live.workload.reference.kind, live.workload.reference.kind.spec().foresee?);
        let wanted = after.pointer(kind.template_pointer()).map(as_read);
        let mut pods_of: BTreeMap<&str, usize> = BTreeMap::new();
        for pod in live.present_pods() {
            let label = pod.labels.get(CONTROLLER_REVISION_HASH).map(String::as_str).unwrap_or_default();
            *pods_of.entry(label).or_default() += 1;
        }
        let mut courses = Self::default();
        for (label, pods) in pods_of {
            let made_from = revisions::labelled(&live.surroundings.owned, label).map(revisions::template_of);
            if made_from.as_ref().map(as_read) == wanted {
                continue;
            }
            let foreseen = made_from.and_then(|template| Some(foresee(&with_template(live, template)?, after)));
            let obstacle = match foreseen.map(|foreseen| foreseen.obstacles) {
                Some(obstacles) => obstacles.into_iter().min_by_key(|obstacle| obstacle.course),
                None => Some(Obstacle {
                    path: String::new(),
                    course: Course::NotKnown,
                    because: "the revision that pods were made from is not there".into(),
                }),
            };
            let counted = match obstacle.as_ref().map(|obstacle| obstacle.course) {
                None => &mut courses.in_place,
                Some(Course::NotKnown) => &mut courses.not_known,
                Some(Course::ReplacesPods | Course::RefusesChange) => &mut courses.replaced,
            };
            *counted += pods;
            courses.since = obstacle.map_or(courses.since, |obstacle| obstacle.because);
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

/// The workload with another template.
pub(super) fn with_template(live: &Snapshot, template: Value) -> Option<Value> {
    let mut object = live.workload.object.clone();
    *object.pointer_mut(live.workload.reference.kind.template_pointer())? = template;
    Some(object)
}
