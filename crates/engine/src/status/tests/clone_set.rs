//! What its own controller is at, of a kind whose controller updates pods in place.

use serde_json::json;

use super::*;
use crate::plan;
use crate::plan::assemble::{Objects, assemble};

/// A CloneSet of one pod, whose controller is about to bring it side v2, and its pod.
fn clone_set() -> Snapshot {
    let with = |tag: &str| json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "side", "image": tag}]}});
    let object = json!({"metadata": {"name": "web", "namespace": "d", "uid": "cs", "generation": 2},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": with("acme/side:v2"),
            "updateStrategy": {"type": "InPlaceIfPossible"}, "lifecycle": {"inPlaceUpdate": {"labelsHandler": {"acme/x": ""}}}},
        "status": {"observedGeneration": 2, "updatedReplicas": 0, "expectedUpdatedReplicas": 1, "updateRevision": "web-2"}});
    let controlled = json!([{"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "web", "uid": "cs", "controller": true}]);
    let revision = |name: &str, number: i64, tag: &str| {
        json!({"metadata": {"name": name, "ownerReferences": controlled}, "revision": number,
            "data": {"spec": {"template": with(tag)}}})
    };
    let mut pod = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
    pod["metadata"]["ownerReferences"] = controlled.clone();
    for (label, value) in [("controller-revision-hash", "web-1"), ("lifecycle.apps.kruise.io/state", "PreparingUpdate")]
    {
        pod["metadata"]["labels"][label] = value.into();
    }
    let owned = vec![revision("web-1", 1, "acme/side:v1"), revision("web-2", 2, "acme/side:v2")];
    let pods = vec![Pod::from_object(&pod).unwrap()];
    let workload = Workload::from_object(WorkloadKind::CloneSet, object).unwrap();
    assemble(workload, Objects { pods, owned, ..Objects::default() })
}

#[test]
fn a_pod_that_waits_for_a_hook_is_named_with_what_it_waits_for() {
    let live = clone_set();
    let owner = status(&live).owner;
    let said = "its controller is updating pods, in place where it can: 0 of 1 replicas are updated; \
                pod/web-0 waits: somebody has to take acme/x off it (PreparingUpdate)";
    assert_eq!(
        owner.iter().map(OwnerState::sentence).collect::<Vec<_>>(),
        [said.replace("web-0", &live.pods[0].key.name)]
    );
}

#[test]
fn what_a_controller_brings_in_place_is_waited_for() {
    let mut live = clone_set();
    let wanted = |live: &Snapshot| {
        let goal = plan::follow(live, None, &plan::Options::default(), &"one".into(), SET);
        (plan::replacing(live).is_some(), goal.pods[0].containers.get(&"side".into()).and_then(|side| side.to.clone()))
    };
    assert_eq!(wanted(&live), (false, Some("acme/side:v2".into())));
    live.workload.object["spec"]["updateStrategy"]["partition"] = 1.into();
    assert_eq!(wanted(&live), (false, None), "the partition may leave the pod");
    live.workload.object["spec"]["updateStrategy"] = json!({"type": "ReCreate"});
    assert_eq!(wanted(&live), (true, None), "the pod is replaced");
}

/// Where nobody has applied another strategy, it may be the user's own.
#[test]
fn a_pause_and_on_delete_are_told_apart() {
    for (strategy, expected) in [
        (json!({"type": "OnDelete"}), vec!["onDelete"]),
        (json!({"type": "InPlaceIfPossible", "paused": true}), vec!["paused"]),
    ] {
        let mut live = clone_set();
        live.workload.object["spec"]["updateStrategy"] = strategy.clone();
        let found = status(&live).owner;
        assert_eq!(found.iter().map(OwnerState::word).collect::<Vec<_>>(), expected, "{strategy}");
    }
}
