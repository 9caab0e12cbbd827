use serde_json::{Value, json};

use super::*;
use crate::change::target;
use crate::kinds::SIDECAR_SETS;
use crate::status::{Comparison, PodState, status};

const OLD: &str = "acme/agent:v1";
const NEW: &str = "acme/agent:v2";
const EMPTY: &str = "acme/empty:v1";

/// A SidecarSet with this image, as its webhook stores it: the hash of the images is the image.
fn set(image: &str, strategy: &Value) -> Value {
    json!({"metadata": {"name": "mesh", "uid": "s", "generation": 3,
            "annotations": {"kruise.io/sidecarset-hash": image, "kruise.io/sidecarset-hash-without-image": "plain"}},
        "spec": {"selector": {"matchLabels": {"mesh": "on"}}, "updateStrategy": strategy,
            "containers": [{"name": "agent", "image": image, "env": [{"name": "A", "value": "1"}]}],
            "initContainers": [{"name": "init", "image": "acme/init:v1"}]},
        "status": {"observedGeneration": 3, "matchedPods": 3}})
}

fn hot(image: &str) -> Value {
    let mut set = set(image, &json!({}));
    set["spec"]["containers"][0]["upgradeStrategy"] =
        json!({"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": EMPTY});
    set
}

fn container(name: &str, image: &str, ready: bool) -> (Value, Value) {
    let state = match ready {
        true => json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}),
        false => json!({"waiting": {"reason": "ErrImagePull", "message": "no"}}),
    };
    let id = format!("{image}@sha256:{}", "1".repeat(64));
    let status =
        json!({"name": name, "image": image, "imageID": id, "containerID": "c", "ready": ready, "state": state});
    (json!({"name": name, "image": image}), status)
}

fn pod(name: &str, hash: &str, containers: &[(&str, &str, bool)]) -> Value {
    let of = |hash: &str| json!({"mesh": {"hash": hash, "controllerRevision": "mesh-1"}}).to_string();
    let (spec, status): (Vec<Value>, Vec<Value>) =
        containers.iter().map(|(name, image, ready)| container(name, image, *ready)).unzip();
    let ready = containers.iter().all(|(_, _, ready)| *ready);
    json!({"metadata": {"namespace": "shop", "name": name, "uid": name, "labels": {"mesh": "on", "pod": name},
            "annotations": {"kruise.io/sidecarset-injected-list": "other,mesh",
                "kruise.io/sidecarset-hash": of(hash), "kruise.io/sidecarset-hash-without-image": of("plain"),
                "kruise.io/sidecarset-working-hotupgrade-container": json!({"agent": "agent-1"}).to_string()}},
        "spec": {"nodeName": "n", "containers": spec},
        "status": {"phase": "Running", "containerStatuses": status,
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}})
}

fn old(name: &str) -> Value {
    pod(name, OLD, &[("agent", OLD, true)])
}

fn new(name: &str) -> Value {
    pod(name, NEW, &[("agent", NEW, true)])
}

fn read(set: &Value, pods: &[Value], revisions: Vec<Value>) -> Snapshot {
    let set = Workload::from_object(SIDECAR_SETS, set.clone()).unwrap();
    assembled(set, pods.iter().map(|pod| Pod::from_object(pod).unwrap()).collect(), revisions)
}

fn images(words: &str) -> Intent {
    let words: Vec<String> = format!("pod/x {words}").split(' ').map(str::to_owned).collect();
    Intent::Images(target::parse(&words, &[], target::Unnamed::None, false).unwrap().images)
}

fn plan(live: &Snapshot, intent: &Intent) -> WorkloadPlan {
    build(intent, live, &Options::default())
}

/// The plan from the old image to the new one.
fn planned(strategy: &Value, pods: &[Value]) -> WorkloadPlan {
    plan(&read(&set(OLD, strategy), pods, Vec::new()), &images("agent=:v2"))
}

fn started(plan: &WorkloadPlan) -> Goal {
    plan.goal(&"id".into(), &Start::default())
}

fn verdicts(plan: &WorkloadPlan) -> Vec<PodVerdict> {
    plan.pods.iter().map(|pod| pod.verdict).collect()
}

fn codes(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(|reason| format!("{} {}", reason.code(), reason.path().unwrap_or_default())).collect()
}

/// The rows of `GetNextUpgradePods` and `calculateUpgradeCount`: which pods change, how many, and what keeps them.
#[test]
fn the_update_strategy_decides_which_pods_change() {
    use Verdict::{InPlace, NotEligible};
    let three = [old("a"), old("b"), old("c")];
    let holds = |field: &str| vec![format!("UpdateStrategyHolds spec.updateStrategy.{field}")];
    for (strategy, verdict, reasons, first) in [
        (json!({}), InPlace, vec![], None),
        (json!({"type": "NotUpdate"}), NotEligible, holds("type"), None),
        (json!({"paused": true}), NotEligible, holds("paused"), None),
        (json!({"partition": 1}), InPlace, vec![], Some(2)),
        (json!({"partition": "50%"}), InPlace, vec![], Some(1)),
        // As long as it is less than all of them, one pod is updated.
        (json!({"partition": "99%"}), InPlace, vec![], Some(1)),
        (json!({"partition": 5}), NotEligible, holds("partition"), Some(0)),
        (json!({"selector": {"matchLabels": {"pod": "a"}}}), InPlace, vec![], None),
        (json!({"selector": {"matchLabels": {"pod": "x"}}}), NotEligible, vec![], None),
    ] {
        let plan = planned(&strategy, &three);
        assert_eq!((plan.verdict, codes(&plan.reasons), plan.policy.canary), (verdict, reasons, first), "{strategy}");
    }
    assert_eq!(planned(&json!({"maxUnavailable": "50%"}), &three).policy.max_unavailable, 2);
}

#[test]
fn a_pod_is_taken_as_its_hashes_say() {
    use PodVerdict::{AlreadyThere, Blocked, InProgress, Skipped, Update};
    let with = |pod: Value, key: &str, value: Value| {
        let mut pod = pod;
        pod["metadata"]["annotations"][key] = value.to_string().into();
        pod
    };
    let other_fields = with(old("a"), "kruise.io/sidecarset-hash-without-image", json!({"mesh": {"hash": "other"}}));
    let of_long_ago = with(old("a"), "kruise.io/sidecarset-hash", json!({"mesh": NEW}));
    let begun = pod("a", NEW, &[("agent", NEW, false)]);
    let failing = pod("a", "x", &[("agent", "acme/agent:nope", false)]);
    let without = pod("a", OLD, &[("app", OLD, true)]);
    for (pod, verdict) in [
        (old("a"), Update),
        (new("a"), AlreadyThere),
        (failing, Update),
        (begun, InProgress),
        (other_fields, Blocked),
        // Its hash says that it was asked for the new image, and it has another.
        (of_long_ago, InProgress),
        (without, Skipped),
    ] {
        let live = read(&set(NEW, &json!({})), std::slice::from_ref(&pod), Vec::new());
        assert_eq!(verdicts(&plan(&live, &Intent::None)), [verdict], "{pod}");
    }
    let nobody = planned(&json!({}), &[]);
    assert_eq!((nobody.verdict, codes(&nobody.reasons)), (Verdict::NotEligible, vec!["NoPods ".to_owned()]));
}

/// A run that was killed after its write is run again.
#[test]
fn what_an_earlier_run_has_written_is_followed() {
    let live = read(&set(NEW, &json!({})), &[new("a"), old("b")], Vec::new());
    let plan = plan(&live, &images("agent=:v2"));
    assert_eq!((plan.verdict, write(&plan, &live)), (Verdict::InPlace, None));
    assert_eq!(plan.containers[0].effect, Effect::Restart);
    let goal = started(&plan);
    assert_eq!(goal.pods.iter().map(|pod| pod.key.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(goal.is_followed() && goal.is_in_turns());
    let all = follow(&live, &Options::default(), &"id".into(), "");
    assert_eq!((all.pods.len(), all.policy().canary), (2, None));
}

#[test]
fn the_field_that_keeps_a_pod_is_that_of_its_revision() {
    let mut before = set(OLD, &json!({}));
    before["spec"]["containers"][0]["env"][0]["value"] = "0".into();
    before["spec"]["containers"][0]["args"] = json!(["x"]);
    let mut stays = old("a");
    stays["metadata"]["annotations"]["kruise.io/sidecarset-hash-without-image"] =
        json!({"mesh": {"hash": "other"}}).to_string().into();
    let data = json!({"spec": {"containers": before["spec"]["containers"], "$patch": "replace"}});
    let revision = json!({"metadata": {"name": "mesh-1"}, "data": data});
    for (revisions, expected) in [
        (vec![revision], "spec.containers[agent].env[A].value, spec.containers[agent].args"),
        (vec![], "spec.containers"),
    ] {
        let live = read(&set(OLD, &json!({})), &[stays.clone(), old("b")], revisions);
        let plan = plan(&live, &images("agent=:v2"));
        assert_eq!(codes(&plan.pods[0].reasons), [format!("SidecarNotUpdated {expected}")]);
        assert_eq!(plan.verdict, Verdict::InPlace, "the other one is updated");
        let said = plan.warnings.iter().map(Warning::sentence).collect::<Vec<_>>().join("\n");
        assert!(said.contains("1 pod stays as it is") && said.contains("UpdateImmutableField"), "{said}");
    }
}

#[test]
fn a_manifest_changes_images_and_nothing_else() {
    let differs = |path: &str| vec![format!("SidecarNotUpdated {path}")];
    type Edit = fn(&mut Value);
    let cases: [(Edit, Vec<String>, &[&str]); 4] = [
        (|_| {}, vec![], &[]),
        (|set| set["spec"]["containers"][0]["env"] = json!([]), differs("spec.containers[agent].env"), &[]),
        (|set| drop(set["spec"]["containers"].as_array_mut().unwrap().pop()), differs("spec.containers"), &[]),
        (|set| set["spec"]["updateStrategy"]["paused"] = true.into(), vec![], &["spec.updateStrategy.paused"]),
    ];
    let live = read(&set(OLD, &json!({})), &[old("a")], Vec::new());
    for (edit, reasons, outside) in cases {
        let mut object = set(NEW, &json!({}));
        edit(&mut object);
        let plan = plan(&live, &Intent::Manifest(Manifest::Stored { object, removals_unseen: false }));
        assert_eq!(codes(&plan.reasons), reasons);
        let outside: Vec<_> =
            outside.iter().map(|path| Warning::OutsideTemplate { paths: vec![(*path).into()] }).collect();
        let warned = plan.warnings.into_iter().filter(|warning| matches!(warning, Warning::OutsideTemplate { .. }));
        assert_eq!(warned.collect::<Vec<_>>(), outside);
    }
}

#[test]
fn the_write_is_one_patch_that_tests_what_it_replaces() {
    let live = read(&set(OLD, &json!({})), &[old("a")], Vec::new());
    let plan_of = |words: &str| plan(&live, &images(words));
    let Some(ObjectWrite::Patch { operations, .. }) = write(&plan_of("agent=:v2 init=:v2"), &live) else {
        panic!("it is a patch")
    };
    let expected = json!([
        {"op": "test", "path": "/metadata/uid", "value": "s"},
        {"op": "test", "path": "/metadata/generation", "value": 3},
        {"op": "test", "path": "/spec/containers/0/name", "value": "agent"},
        {"op": "test", "path": "/spec/containers/0/image", "value": OLD},
        {"op": "replace", "path": "/spec/containers/0/image", "value": NEW},
        {"op": "test", "path": "/spec/initContainers/0/name", "value": "init"},
        {"op": "test", "path": "/spec/initContainers/0/image", "value": "acme/init:v1"},
        {"op": "replace", "path": "/spec/initContainers/0/image", "value": "acme/init:v2"},
    ]);
    assert_eq!(json!(operations), expected);
    assert_eq!(codes(&plan_of("agnet=:v2").reasons), ["ContainerNotFound "]);
}

/// `findContainerToHotUpgrade`, `UpgradeSidecarContainer` and `flipPodSidecarContainerDo`: the image of each of the two when
/// the controller is done; none where it never gets there.
#[test]
fn a_hot_upgrade_goes_by_way_of_the_empty_container() {
    const NOPE: &str = "acme/agent:nope";
    let pair = |one: &'static str, two: &'static str, ready: [bool; 2]| {
        pod("a", "x", &[("agent-1", one, ready[0]), ("agent-2", two, ready[1])])
    };
    for (pod, wanted, expected) in [
        (pair(OLD, EMPTY, [true, true]), NEW, Some([EMPTY, NEW])),
        (pair(EMPTY, OLD, [true, true]), NEW, Some([NEW, EMPTY])),
        // Nothing of it changes.
        (pair(OLD, EMPTY, [true, true]), OLD, Some([OLD, EMPTY])),
        (pair(EMPTY, OLD, [true, true]), OLD, Some([EMPTY, OLD])),
        // The one that fails is the next, and the one that runs has the image already.
        (pair(NOPE, OLD, [false, true]), NEW, Some([NEW, EMPTY])),
        (pair(NOPE, OLD, [false, true]), OLD, None),
        (pair(NOPE, OLD, [false, true]), "acme/agent:v1@sha256:1", Some(["acme/agent:v1@sha256:1", EMPTY])),
    ] {
        let live = read(&hot("before"), std::slice::from_ref(&pod), Vec::new());
        let found = pod_plan(&hot(wanted), &live.pods[0], &[]);
        let images = ["agent-1", "agent-2"].map(|name| {
            let has = live.pods[0].spec_of(&name.into()).map(|container| container.image.as_str()).unwrap();
            found.changes.get(&name.into()).map_or(has, |change| change.to.as_str())
        });
        assert_eq!(Some(images).filter(|_| found.verdict != PodVerdict::Blocked), expected, "{wanted}: {pod}");
    }
    // So the way back from a bad image is another text of the same image.
    let live = read(&hot(OLD), &[pair(OLD, EMPTY, [true, true])], Vec::new());
    let back = words_back(&started(&plan(&live, &images("agent=:nope"))), &live);
    assert_eq!(back, [format!("agent={OLD}@sha256:{}", "1".repeat(64))]);
}

#[test]
fn the_way_back_is_to_what_the_pods_come_from() {
    let back = |set: &Value, pods: &[Value], intent: &Intent| {
        let live = read(set, pods, Vec::new());
        words_back(&started(&plan(&live, intent)), &live)
    };
    let before = [format!("agent={OLD}")];
    assert_eq!(back(&set(OLD, &json!({})), &[old("a"), old("b")], &images("agent=:v2")), before);
    let failing = pod("a", NEW, &[("agent", NEW, false)]);
    assert_eq!(back(&set(NEW, &json!({})), &[failing, old("b")], &Intent::None), before);
    let another = pod("a", "x", &[("agent", "acme/agent:v0", true)]);
    assert_eq!(back(&set(OLD, &json!({})), &[another, old("b")], &images("agent=:v2")), [""; 0]);
}

#[test]
fn the_state_compares_with_the_sidecar_set() {
    let states = |set: Value, pods: &[Value]| {
        let status = status(&read(&set, pods, Vec::new()));
        let owner: Vec<String> = status.owner.iter().map(|state| state.word().to_owned()).collect();
        (status.pods.iter().map(|pod| pod.state).collect::<Vec<_>>(), owner.join(" "))
    };
    use PodState::{Older, Pending, Ready};
    let pods = [new("a"), old("b"), old("c")];
    assert_eq!(states(set(NEW, &json!({"partition": 1})), &pods), (vec![Ready, Pending, Pending], "left".to_owned()));
    assert_eq!(states(set(NEW, &json!({"paused": true})), &pods), (vec![Ready, Older, Older], "left".to_owned()));
    assert_eq!(states(set(NEW, &json!({})), &pods).1, "rollingOut");
    let live = read(&set(NEW, &json!({})), &pods, Vec::new());
    let agent = &status(&live).pods[1].containers[0];
    assert_eq!((agent.asked.as_deref(), agent.comparison), (Some(NEW), Comparison::Pending));
    let done = status(&read(&set(NEW, &json!({})), &[new("a"), new("b")], Vec::new()));
    assert!(!done.is_notable(), "{done:#?}");
}
