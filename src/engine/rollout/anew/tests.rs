//! What is made of pods that came while a rollout was under way, row by row.

use serde_json::{Value, json};

use super::*;
use crate::engine::durable::OwnerGoal;
use crate::engine::failure::LASTING_SECONDS;
use crate::engine::kinds::WorkloadKind;
use crate::engine::names::WorkloadRef;
use crate::engine::rollout::{Mode, Observation, Policy};

const WANTED: &str = "acme/side:v2";

fn goal(direction: &str, goes_on: bool) -> Goal {
    let policy = Policy { max_unavailable: 1, goes_on_after_failure: goes_on, ..Policy::default() };
    let owner: OwnerGoal = serde_json::from_value(json!({
        "uid": "web", "replaces": null, "before": {}, "after": {}, "clock": "2026-03-01T12:00:00Z",
        "fieldManager": "kubectl-inplace", "keepFieldOwnership": false, "release": false,
        "lock": {"id": "r", "run": "r", "who": "joe", "since": "2026-03-01T12:00:00.7Z", "version": "0.1.0",
            "state": "running", "direction": direction, "history": {"do": "keep"}, "policy": policy,
            "change": {"images": {"side": {"from": "acme/side:v1", "to": WANTED}}}}
    }))
    .unwrap();
    Goal {
        id: "r".into(),
        workload: WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() },
        mode: Mode::Durable,
        controllers: ["rs".into()].into(),
        replicas: 2,
        pods: Vec::new(),
        policy,
        field_manager: "kubectl-inplace".into(),
        hooks: Default::default(),
        owner: Some(Box::new(owner)),
        pulls: Vec::new(),
        process: None,
        pre_pull: crate::engine::pre_pull::PrePull::Never,
    }
}

fn crashing() -> Value {
    json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
}

fn pod(image: &str, created: &str, state: &Value) -> Value {
    let ended = json!({"terminated": {"exitCode": 3, "reason": "Error", "containerID": "containerd://a"}});
    json!({
        "metadata": {"name": "web-x", "namespace": "prod", "uid": "x", "resourceVersion": "5", "creationTimestamp": created,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "rs", "controller": true}]},
        "spec": {"containers": [{"name": "app", "image": "acme/app:v1"}, {"name": "side", "image": image}]},
        "status": {"phase": "Running", "containerStatuses": [
            {"name": "side", "image": image, "imageID": "", "restartCount": 2, "ready": false, "state": state, "lastState": ended}
        ]}
    })
}

const LATER: &str = "2026-03-01T12:00:05Z";
const START: Now = Duration::from_secs(5);

fn seen(goal: &Goal, object: &Value) -> (World, Ledger) {
    let (mut world, mut ledger) = (World::default(), Ledger::new());
    world.observe(Observation::Relisted(vec![Pod::from_object(object).unwrap()]));
    look(goal, &world, &mut ledger, START);
    (world, ledger)
}

#[test]
fn what_fails_in_a_pod_made_anew_from_the_wanted_template_ends_the_rollout() {
    let with = |change: fn(&mut Value)| {
        let mut object = pod(WANTED, LATER, &crashing());
        change(&mut object);
        object
    };
    let cases = [
        ("it crashes", "forward", false, pod(WANTED, LATER, &crashing()), true),
        ("in the second of the start", "forward", false, pod(WANTED, "2026-03-01T12:00:00Z", &crashing()), true),
        ("the others go on", "forward", true, pod(WANTED, LATER, &crashing()), false),
        ("on the way back", "back", false, pod("acme/side:v1", LATER, &crashing()), false),
        ("of another image", "forward", false, pod("acme/side:v9", LATER, &crashing()), false),
        ("made before", "forward", false, pod(WANTED, "2026-03-01T11:59:59Z", &crashing()), false),
        (
            "it crashed twice, as it may while others start",
            "forward",
            false,
            with(|pod| pod["status"]["containerStatuses"][0]["restartCount"] = 1.into()),
            false,
        ),
        ("it runs", "forward", false, pod(WANTED, LATER, &json!({"running": {}})), false),
        ("it is going", "forward", false, with(|pod| pod["metadata"]["deletionTimestamp"] = LATER.into()), false),
        (
            "somebody else's",
            "forward",
            false,
            with(|pod| pod["metadata"]["ownerReferences"][0]["uid"] = "o".into()),
            false,
        ),
    ];
    for (what, direction, goes_on, object, fails) in cases {
        let goal = goal(direction, goes_on);
        let (world, mut ledger) = seen(&goal, &object);
        let mut turn = Turn::default();
        say(&world, &mut ledger, START, &mut turn);
        assert_eq!(has_failed(&goal, &ledger), fails, "{what}");
        assert_eq!(ends(&ledger).len(), turn.notices.len(), "{what}");
        say(&world, &mut ledger, START, &mut turn);
        assert!(turn.notices.len() <= 1, "{what}: said twice");
    }
}

#[test]
fn what_may_heal_by_itself_is_given_its_time() {
    let state = json!({"waiting": {"reason": "CreateContainerError", "message": "name is reserved"}});
    let goal = goal("forward", false);
    let (mut world, mut ledger) = seen(&goal, &pod(WANTED, LATER, &state));
    let due = START + Duration::from_secs(LASTING_SECONDS);
    assert_eq!(next_look(&ledger), Some(due));
    let fails_at = |ledger: &Ledger, world: &World, now: Now| {
        let mut ledger = ledger.clone();
        say(world, &mut ledger, now, &mut Turn::default());
        has_failed(&goal, &ledger)
    };
    assert!(!fails_at(&ledger, &world, due - Duration::from_millis(1)));
    assert!(fails_at(&ledger, &world, due));
    world.observe(Observation::WatchLost("reset".into()));
    assert!(!fails_at(&ledger, &world, due), "nobody has seen that it lasted");
    let mut healed = pod(WANTED, LATER, &json!({"running": {}}));
    healed["metadata"]["resourceVersion"] = "6".into();
    world.observe(Observation::Applied(Box::new(Pod::from_object(&healed).unwrap())));
    look(&goal, &world, &mut ledger, due);
    assert_eq!(next_look(&ledger), None);
}
