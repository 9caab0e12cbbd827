//! What a controller that can update pods in place itself does with the present pods, for each from its own revision on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::live::Snapshot;
use crate::change::reason::Warning;
use crate::kinds::{CONTROLLER_REVISION_HASH, Course, IN_PLACE_UPDATE_READY, Obstacle, as_read, before_the_gate};
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
        let mut pods_of: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        for pod in live.present_pods() {
            let label = pod.labels.get(CONTROLLER_REVISION_HASH).map(String::as_str).unwrap_or_default();
            let has_gate = pod.spec.readiness_gates.iter().any(|gate| gate.condition_type == IN_PLACE_UPDATE_READY);
            *pods_of.entry((label, has_gate)).or_default() += 1;
        }
        let mut courses = Self::default();
        for ((label, has_gate), pods) in pods_of {
            let made_from = revisions::labelled(&live.surroundings.owned, label).map(revisions::template_of);
            if made_from.as_ref().map(as_read) == wanted {
                continue;
            }
            let before = made_from.and_then(|template| with_template(live, template));
            let before = before.map(|before| if has_gate { before } else { before_the_gate(before) });
            let foreseen = before.map(|before| foresee(&before, after));
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

    pub(super) fn are_in_place(&self) -> bool {
        self.replaced + self.not_known == 0
    }

    pub(super) fn warning(self) -> Option<Warning> {
        let Self { in_place, replaced, not_known, since } = self;
        (in_place + replaced + not_known > 0).then_some(Warning::ItsController { in_place, replaced, not_known, since })
    }
}

pub(super) fn with_template(live: &Snapshot, template: Value) -> Option<Value> {
    let mut object = live.workload.object.clone();
    *object.pointer_mut(live.workload.reference.kind.template_pointer())? = template;
    Some(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s::pod::Pod;
    use crate::k8s::workload::Workload;
    use crate::kinds::WorkloadKind;
    use crate::plan::assemble::{Objects, assemble};

    /// `canPodInPlaceUpdate` in OpenKruise's `pkg/controller/daemonset`; the other kinds put the gate on every pod.
    #[test]
    fn an_advanced_daemon_set_replaces_pods_that_were_made_under_another_type() {
        let template = |image: &str| json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": image}]}});
        let controller = json!([{"kind": "DaemonSet", "name": "a", "uid": "set", "controller": true}]);
        let revision = json!({"metadata": {"name": "a-r1", "ownerReferences": controller,
            "labels": {"controller-revision-hash": "r1"}}, "data": {"spec": {"template": template("a:1")}}});
        let object = |image: &str| {
            json!({"metadata": {"name": "a", "namespace": "n", "uid": "set"}, "spec": {"template": template(image),
            "selector": {"matchLabels": {"app": "a"}}, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"rollingUpdateType": "InPlaceIfPossible"}}}})
        };
        let pod = |name: &str, gates: Value| {
            Pod::from_object(&json!({"metadata": {"name": name, "namespace": "n", "uid": name,
                "labels": {"controller-revision-hash": "r1"}, "ownerReferences": controller.clone()},
                "spec": {"readinessGates": gates, "containers": [{"name": "a", "image": "a:1"}]}}))
            .expect("a pod")
        };
        let pods = vec![pod("a-1", json!([{"conditionType": IN_PLACE_UPDATE_READY}])), pod("a-2", json!([]))];
        let workload = Workload::from_object(WorkloadKind::AdvancedDaemonSet, object("a:1")).expect("a workload");
        let live = assemble(workload, Objects { pods, owned: vec![revision], ..Objects::default() });
        let courses = Courses::of(&live, &object("a:2")).expect("its controller has a way of its own");
        assert_eq!((courses.in_place, courses.replaced, courses.not_known), (1, 1, 0), "{}", courses.since);
    }
}
