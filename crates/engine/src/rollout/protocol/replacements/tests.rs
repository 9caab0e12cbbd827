//! How replacement pods are judged, row by row.

use serde_json::{Value, json};

use super::super::Effect;
use super::*;
use crate::k8s::failure::LASTING_SECONDS;
use crate::k8s::names::WorkloadRef;
use crate::kinds::WorkloadKind;
use crate::rollout::{Observation, Observed, Policy, RunState};
use crate::state::durable::OwnerChange;

const WANTED: &str = "acme/side:v2";

fn goal(direction: &str, goes_on: bool) -> Goal {
    let policy = Policy { max_unavailable: 1, goes_on_after_failure: goes_on, ..Policy::default() };
    let owner: OwnerChange = serde_json::from_value(json!({
        "uid": "web", "replaces": null, "before": {}, "after": {}, "keepFieldOwnership": false
    }))
    .unwrap();
    let lock = json!({"id": "r", "run": "r", "who": "joe", "since": "2026-03-01T12:00:00.7Z", "version": "0.1.0",
        "state": "running", "direction": direction, "policy": policy,
        "change": {"images": {"side": {"from": "acme/side:v1", "to": WANTED}}}});
    Goal {
        lock: serde_json::from_value(lock).unwrap(),
        workload: WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() },
        controllers: ["rs".into()].into(),
        replicas: 2,
        pods: Vec::new(),
        field_manager: "inplace-cli".into(),
        hooks: Default::default(),
        owner: Some(Box::new(owner)),
        pulls: Vec::new(),
        pre_pull: crate::rollout::pre_pull::PrePull::Never,
        clock: "2026-03-01T12:00:00Z".into(),
        by_request: false,
        follows: None,
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

fn context<'a>(goal: &'a Goal, observed: &'a Observed, now: Now) -> TurnContext<'a> {
    RunState::new().context(goal, observed, now)
}

fn visit_all(replacements: &mut Replacements, context: TurnContext<'_>) {
    let keys: Vec<PodKey> = context.observed.pods().map(|pod| pod.key.clone()).collect();
    replacements.visit_changed(context, &Pods::default(), &keys);
}

fn seen(goal: &Goal, object: &Value) -> (Observed, Replacements) {
    let (mut observed, mut replacements) = (Observed::default(), Replacements::default());
    observed.observe(Observation::Relisted(vec![Pod::from_object(object).unwrap()]));
    visit_all(&mut replacements, context(goal, &observed, START));
    (observed, replacements)
}

#[test]
fn what_fails_in_a_replacement_pod_ends_the_rollout() {
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
        let (observed, mut replacements) = seen(&goal, &object);
        let said = replacements.say(context(&goal, &observed, START)).0;
        assert_eq!(replacements.have_failed(&goal), fails, "{what}");
        assert_eq!(replacements.ends().len(), said.len(), "{what}");
        let again = replacements.say(context(&goal, &observed, START)).0;
        assert!(said.len() <= 1 && again.is_empty(), "{what}: said twice");
    }
}

#[test]
fn what_may_heal_by_itself_is_given_its_time() {
    let state = json!({"waiting": {"reason": "CreateContainerError", "message": "name is reserved"}});
    let goal = goal("forward", false);
    let (mut observed, mut replacements) = seen(&goal, &pod(WANTED, LATER, &state));
    let due = START + Duration::from_secs(LASTING_SECONDS);
    assert_eq!(replacements.next_visit(context(&goal, &observed, START), &Pods::default()), Some(due));
    let fails_at = |replacements: &Replacements, observed: &Observed, now: Now| {
        let mut replacements = replacements.clone();
        let _said = replacements.say(context(&goal, observed, now));
        replacements.have_failed(&goal)
    };
    assert!(!fails_at(&replacements, &observed, due - Duration::from_millis(1)));
    assert!(fails_at(&replacements, &observed, due));
    observed.observe(Observation::WatchLost("reset".into()));
    assert!(!fails_at(&replacements, &observed, due), "nobody has seen that it lasted");
    let mut healed = pod(WANTED, LATER, &json!({"running": {}}));
    healed["metadata"]["resourceVersion"] = "6".into();
    observed.observe(Observation::Applied(Box::new(Pod::from_object(&healed).unwrap())));
    visit_all(&mut replacements, context(&goal, &observed, due));
    assert_eq!(replacements.next_visit(context(&goal, &observed, due), &Pods::default()), None);
}

/// The kubelet starts a container that has ended for the first time at once: the pod may never be seen not ready.
#[test]
fn new_pods_that_are_ready_whenever_they_are_looked_at_are_proven_once_nothing_in_them_starts_again() {
    let goal = goal("forward", false);
    let (mut ready, mut pods) = (Ready::default(), Pods::default());
    let mut waits = |restarts: i64, second: u64| {
        let mut object = pod(WANTED, LATER, &json!({"running": {"startedAt": LATER}}));
        object["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        object["status"]["containerStatuses"][0]["ready"] = true.into();
        object["status"]["containerStatuses"][0]["restartCount"] = restarts.into();
        let mut observed = Observed::default();
        let object = Pod::from_object(&object).unwrap();
        let key = object.key.clone();
        observed.observe(Observation::Relisted(vec![object]));
        let context = context(&goal, &observed, START + Duration::from_secs(second));
        pods.count(context, &key);
        let effects = ready.visit_changed(context, &pods);
        matches!(effects.0.last(), Some(Effect::WaitForReplacements(true)))
    };
    for (restarts, second, expected) in
        [(0, 0, true), (0, 4, true), (1, 5, true), (1, 9, true), (2, 10, true), (2, 14, true), (2, 15, false)]
    {
        assert_eq!(waits(restarts, second), expected, "{restarts} at {second} s");
    }
}
