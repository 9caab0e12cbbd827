//! The plan of two manifests of a kind whose own controller updates the pods: what that controller does.
//!
//! Promise: it says "in place" only where the kind's rule expects nothing else, and never that this program would do
//! it.

use serde_json::Value;

use super::unasked::Unasked;
use super::{by_restart_policy, containers};
use crate::change;
use crate::change::reason::{Reason, Warning};
use crate::k8s::workload::Workload;
use crate::kinds::{Foresee, Foreseen};
use crate::plan::rules;
use crate::plan::wanted::template_of;
use crate::plan::{Options, Verdict, WorkloadPlan};

/// Fills in a plan without changes; `stored` is the workload before and after, `refused` what is known to prevent it.
pub(super) fn plan(
    plan: WorkloadPlan,
    (workload, after): (&Workload, &Value),
    (foresee, options): (Foresee, &Options),
    refused: Vec<Reason>,
) -> WorkloadPlan {
    let kind = plan.workload.kind;
    let before = &workload.object;
    let (immutable, paths) = rules::outside(kind, before, after);
    let [old, template] = [before, after].map(|object| template_of(kind, object));
    let diff = change::diff(&old, &template);
    let Foreseen { obstacles, limits } = foresee(before, after);
    let mut reasons = refused;
    reasons.extend(diff.change.images.iter().filter_map(|(container, image)| image.refused(container)));
    reasons.extend(obstacles.into_iter().map(|obstacle| Reason::ControllerNotInPlace {
        path: obstacle.path,
        course: obstacle.course,
        because: obstacle.because,
    }));
    reasons.extend(immutable.into_iter().map(|path| Reason::OwnerFieldImmutable { path }));
    let verdict = match (reasons.is_empty(), diff.change.is_empty()) {
        (false, _) => Verdict::NotEligible,
        (true, false) => Verdict::InPlaceByController,
        (true, true) => Verdict::NothingToDo,
    };
    // In pods that are replaced nothing changes in place.
    let changed = if verdict == Verdict::NotEligible { change::Difference::default() } else { diff };
    let containers = if verdict == Verdict::NotEligible { Vec::new() } else { containers(&template, &changed) };
    let change = &changed.change;
    // Kubelets do the same whoever has changed the pod.
    let mut warnings: Vec<Warning> =
        Unasked { workload, template: &template, change, containers: &containers, options }
            .of_restarts()
            .into_iter()
            .collect();
    warnings.extend(by_restart_policy(kind, &template, &containers).1);
    match verdict {
        Verdict::InPlaceByController => warnings.push(Warning::UpdatedByController { limits, paths }),
        Verdict::NothingToDo if !paths.is_empty() => {
            warnings.push(Warning::UpdatedByController { limits: Vec::new(), paths });
        }
        // What the controller does is reported by the reasons.
        Verdict::NothingToDo | Verdict::NotEligible | Verdict::InPlace => {}
    }
    WorkloadPlan { verdict, reasons, warnings, containers, fields: changed.change.fields, ..plan }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::k8s::names::{Uid, WorkloadRef};
    use crate::kinds::{Course, Obstacle, REPLICA_SETS};
    use crate::plan::offline::bare;

    fn foreseen(object: &Value, after: &Value, foresee: Foresee) -> (Verdict, Vec<Reason>, Vec<Warning>, usize) {
        let reference = WorkloadRef { kind: REPLICA_SETS, namespace: "prod".into(), name: "web".into() };
        let bare = bare(&reference, after.clone(), BTreeSet::new(), &Options::default());
        let workload = Workload { reference, uid: Uid::default(), object: object.clone() };
        let found = plan(bare, (&workload, after), (foresee, &Options::default()), Vec::new());
        let changed = found.containers.iter().filter(|container| container.to.is_some()).count();
        (found.verdict, found.reasons, found.warnings, changed)
    }

    fn workload(image: &str, replicas: u32) -> Value {
        json!({"spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "app", "image": image}]}}}})
    }

    const IN_PLACE: Foresee = |_, _| Foreseen { obstacles: vec![], limits: vec!["slowly".into()] };

    #[test]
    fn what_the_controller_changes_in_place_is_its_own_work() {
        let reported = |limits: &[&str], paths: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            vec![Warning::UpdatedByController { limits: owned(limits), paths: owned(paths) }]
        };
        let (old, new) = (workload("a:1", 1), workload("a:2", 2));
        let by_controller = (Verdict::InPlaceByController, vec![], reported(&["slowly"], &["spec.replicas"]), 1);
        assert_eq!(foreseen(&old, &new, IN_PLACE), by_controller);
        let scaled = (Verdict::NothingToDo, vec![], reported(&[], &["spec.replicas"]), 0);
        assert_eq!(foreseen(&old, &workload("a:1", 2), IN_PLACE), scaled);
        assert_eq!(foreseen(&old, &old, IN_PLACE), (Verdict::NothingToDo, vec![], vec![], 0));
    }

    #[test]
    fn whatever_stands_against_it_leaves_nothing_in_place() {
        let obstacle: Foresee = |_, _| Foreseen {
            obstacles: vec![Obstacle { path: "p".into(), course: Course::NotKnown, because: "b".into() }],
            limits: vec![],
        };
        let (old, new) = (workload("a:1", 1), workload("a:2", 1));
        let reason = Reason::ControllerNotInPlace { path: "p".into(), course: Course::NotKnown, because: "b".into() };
        assert_eq!(foreseen(&old, &new, obstacle), (Verdict::NotEligible, vec![reason], vec![], 0));
        let malformed = foreseen(&old, &workload("A B", 1), IN_PLACE);
        assert_eq!((malformed.0, malformed.1[0].code()), (Verdict::NotEligible, "ImageMalformed"));
    }
}
