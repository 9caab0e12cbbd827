use serde_json::{Value, json};

use super::*;
use crate::change::reason::{Reason, Warning};
use crate::change::target;
use crate::kinds::SIDECAR_SETS;
use crate::plan::{Intent, Manifest, Options, PodVerdict, Verdict, WorkloadPlan};
use crate::state::durable::ObjectWrite;
use crate::state::policy::Policy;
use crate::status::{Comparison, PodState, sidecar_set as status};

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

fn read(set: &Value, pods: &[Value], revisions: Vec<Value>) -> Found {
    let set = Workload::from_object(SIDECAR_SETS, set.clone()).unwrap();
    found(set, pods.iter().map(|pod| Pod::from_object(pod).unwrap()).collect(), revisions)
}

fn images(words: &str) -> Intent {
    let words: Vec<String> = format!("pod/x {words}").split(' ').map(str::to_owned).collect();
    Intent::Images(target::parse(&words, &[], target::Unnamed::None, false).unwrap().images)
}

/// The plan from the old image to the new one.
fn planned(strategy: &Value, pods: &[Value]) -> (WorkloadPlan, Policy, Option<Left>) {
    let found = read(&set(OLD, strategy), pods, Vec::new());
    let after = set(NEW, strategy);
    let change = Change::of(&found.live.workload, &images("agent=:v2"));
    let goal = goal(&found, &after, (&Options::default(), false), (&"id".into(), ""));
    (plan(&found, &change, &after, &Options::default()), goal.policy().clone(), left(&found, &after))
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
    use Verdict::{InPlaceByController, NotEligible};
    let three = [old("a"), old("b"), old("c")];
    let holds = |field: &str| vec![format!("UpdateStrategyHolds spec.updateStrategy.{field}")];
    for (strategy, verdict, reasons, first, lifted) in [
        (json!({}), InPlaceByController, vec![], None, None),
        (json!({"type": "NotUpdate"}), NotEligible, holds("type"), None, None),
        (json!({"paused": true}), NotEligible, holds("paused"), None, None),
        (json!({"partition": 1}), InPlaceByController, vec![], Some(2), Some("partition")),
        (json!({"partition": "50%"}), InPlaceByController, vec![], Some(1), Some("partition")),
        // As long as it is less than all of them, one pod is updated.
        (json!({"partition": "99%"}), InPlaceByController, vec![], Some(1), Some("partition")),
        (json!({"partition": 5}), NotEligible, holds("partition"), Some(0), Some("partition")),
        (json!({"selector": {"matchLabels": {"pod": "a"}}}), InPlaceByController, vec![], None, Some("selector")),
        (json!({"selector": {"matchLabels": {"pod": "x"}}}), NotEligible, vec![], None, Some("selector")),
    ] {
        let (plan, policy, left) = planned(&strategy, &three);
        assert_eq!((plan.verdict, codes(&plan.reasons), policy.canary), (verdict, reasons, first), "{strategy}");
        let lifted_by = left.and_then(|left| left.lifted_by).unwrap_or_default();
        assert!(lifted_by.contains(lifted.unwrap_or_default()), "{strategy}: {lifted_by}");
    }
}

#[test]
fn a_pod_is_taken_as_its_hashes_say() {
    use PodVerdict::{AlreadyThere, Blocked, InProgress, Update};
    let mut other_fields = old("a");
    other_fields["metadata"]["annotations"]["kruise.io/sidecarset-hash-without-image"] =
        json!({"mesh": {"hash": "other"}}).to_string().into();
    let mut of_long_ago = old("a");
    of_long_ago["metadata"]["annotations"]["kruise.io/sidecarset-hash"] = json!({"mesh": NEW}).to_string().into();
    let begun = pod("a", NEW, &[("agent", NEW, false)]);
    let failing = pod("a", "x", &[("agent", "acme/agent:nope", false)]);
    for (pod, verdict) in [
        (old("a"), Update),
        (new("a"), AlreadyThere),
        (failing, Update),
        (begun, InProgress),
        (other_fields, Blocked),
        // Its hash says that it was asked for the new image, and it has another.
        (of_long_ago, InProgress),
    ] {
        let (plan, ..) = planned(&json!({}), std::slice::from_ref(&pod));
        assert_eq!(verdicts(&plan), [verdict], "{pod}");
    }
}

#[test]
fn only_pods_with_its_containers_are_matched() {
    let mut ended = old("a");
    ended["status"]["phase"] = "Succeeded".into();
    let mut not_listed = old("b");
    not_listed["metadata"]["annotations"]["kruise.io/sidecarset-injected-list"] = "mesh-2".into();
    let without = pod("c", OLD, &[("app", OLD, true)]);
    let found = read(&set(OLD, &json!({})), &[ended, not_listed, without, old("d")], Vec::new());
    let names: Vec<&str> = found.live.pods.iter().map(|pod| pod.key.name.as_str()).collect();
    assert_eq!((names, found.bare), (vec!["d"], 2));
    let (plan, ..) = planned(&json!({}), &[]);
    assert_eq!((plan.verdict, codes(&plan.reasons)), (Verdict::NotEligible, vec!["NoPods ".to_owned()]));
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
    for (revisions, expected) in
        [(vec![revision], "spec.containers[agent].args, spec.containers[agent].env"), (vec![], "spec.containers")]
    {
        let found = read(&set(OLD, &json!({})), &[stays.clone(), old("b")], revisions);
        let change = Change::of(&found.live.workload, &images("agent=:v2"));
        let plan = plan(&found, &change, &set(NEW, &json!({})), &Options::default());
        assert_eq!(plan.pods[0].reasons, [Reason::SidecarFieldDiffers { path: expected.into() }]);
        assert_eq!(plan.verdict, Verdict::InPlaceByController, "the other one is updated");
        let said = plan.warnings.iter().map(Warning::sentence).collect::<Vec<_>>().join("\n");
        assert!(said.contains("1 pod stays as it is") && said.contains("nobody restarts"), "{said}");
    }
}

#[test]
fn a_manifest_changes_images_and_nothing_else() {
    let of = |edit: fn(&mut Value)| {
        let mut object = set(NEW, &json!({}));
        edit(&mut object);
        let workload = Workload::from_object(SIDECAR_SETS, set(OLD, &json!({}))).unwrap();
        let manifest = Manifest::Stored { object, removals_unseen: false };
        Change::of(&workload, &Intent::Manifest(manifest))
    };
    let differs = |path: &str| vec![format!("SidecarFieldDiffers {path}")];
    let outside = |path: &str| vec![Warning::OutsideTemplate { paths: vec![path.to_owned()] }];
    type Edit = fn(&mut Value);
    let cases: [(Edit, Vec<String>, Vec<Warning>); 6] = [
        (|_| {}, vec![], vec![]),
        (|set| set["spec"]["containers"][0]["env"] = json!([]), differs("spec.containers[agent].env"), vec![]),
        (
            |set| set["spec"]["containers"][0]["name"] = "b".into(),
            [differs("spec.containers[agent]"), differs("spec.containers[b]")].concat(),
            vec![],
        ),
        (|set| set["spec"]["updateStrategy"]["paused"] = true.into(), vec![], outside("spec.updateStrategy")),
        (
            |set| set["spec"]["initContainers"][0]["args"] = json!(["x"]),
            vec![],
            outside("spec.initContainers[init].args"),
        ),
        // A sidecar among the init containers counts in the hash.
        (
            |set| set["spec"]["initContainers"][0]["restartPolicy"] = "Always".into(),
            differs("spec.initContainers[init].restartPolicy"),
            vec![],
        ),
    ];
    for (edit, reasons, warnings) in cases {
        let change = of(edit);
        assert_eq!((codes(&change.reasons), change.warnings), (reasons, warnings));
    }
}

#[test]
fn the_write_is_one_patch_that_tests_what_it_replaces() {
    let workload = Workload::from_object(SIDECAR_SETS, set(OLD, &json!({}))).unwrap();
    let change = Change::of(&workload, &images("agent=:v2 init=:v2"));
    let ObjectWrite::Patch { operations, .. } = change.write(&workload) else { panic!("it is a patch") };
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
    let mut patched = workload.object.clone();
    json_patch::patch(&mut patched, &operations).unwrap();
    let mut applied = change.applied(&workload);
    applied["metadata"]["annotations"]["kruise.io/sidecarset-hash"] = OLD.into();
    assert_eq!(patched, applied);
    let unknown = Change::of(&workload, &images("agnet=:v2"));
    assert_eq!(codes(&unknown.reasons), ["ContainerNotFound "]);
}

/// `findContainerToHotUpgrade`, `UpgradeSidecarContainer` and `flipPodSidecarContainerDo`: the image of each of the two when
/// the controller is done; none where it never gets there.
#[test]
fn a_hot_upgrade_goes_by_way_of_the_empty_container() {
    let pair = |one: &'static str, two: &'static str, ready: [bool; 2]| {
        pod("a", OLD, &[("agent-1", one, ready[0]), ("agent-2", two, ready[1])])
    };
    const NOPE: &str = "acme/agent:nope";
    for (pod, wanted, expected) in [
        (pair(OLD, EMPTY, [true, true]), NEW, Some([EMPTY, NEW])),
        (pair(EMPTY, OLD, [true, true]), NEW, Some([NEW, EMPTY])),
        // Nothing of it changes.
        (pair(OLD, EMPTY, [true, true]), OLD, Some([OLD, EMPTY])),
        (pair(EMPTY, OLD, [true, true]), OLD, Some([EMPTY, OLD])),
        // The one that fails is the next, and the one that runs has the image already.
        (pair(NOPE, OLD, [false, true]), NEW, Some([NEW, EMPTY])),
        (pair(NOPE, OLD, [false, true]), "acme/agent:v1@sha256:1", Some(["acme/agent:v1@sha256:1", EMPTY])),
        (pair(NOPE, OLD, [false, true]), "x", Some(["x", EMPTY])),
    ] {
        let after = hot(wanted);
        let found = read(&hot("before"), std::slice::from_ref(&pod), Vec::new());
        let sidecar = &after["spec"]["containers"][0];
        let images = hot::images(sidecar, &found.live.pods[0], false).map(|mut images| {
            images.sort();
            images.map(|(_, image)| image)
        });
        assert_eq!(images, expected.map(|images| images.map(str::to_owned)), "{wanted}: {pod}");
    }
    let between = pair(NOPE, OLD, [false, true]);
    let found = read(&hot(NOPE), &[between], Vec::new());
    let change = Change::of(&found.live.workload, &images("agent=:v1"));
    let plan = plan(&found, &change, &hot(OLD), &Options::default());
    let stuck = |plan: &WorkloadPlan| matches!(plan.pods[0].reasons.as_slice(), [Reason::HotUpgradeStuck { .. }]);
    assert!(stuck(&plan) && plan.verdict == Verdict::NotEligible, "{plan:#?}");
    // So that the way back from a bad image is another text of the same image.
    let found = read(&hot(OLD), &[pair(OLD, EMPTY, [true, true])], Vec::new());
    let change = Change::of(&found.live.workload, &images("agent=:nope"));
    assert_eq!(change.words_back(&found), [format!("agent={OLD}@sha256:{}", "1".repeat(64))]);
}

#[test]
fn the_way_back_is_to_what_runs() {
    let failing = pod("a", NEW, &[("agent", NEW, false)]);
    let found = read(&set(NEW, &json!({})), &[failing, old("b"), old("c")], Vec::new());
    assert_eq!(words_back(&found), [format!("agent={OLD}")]);
    // What could not be pulled is nothing to go back to.
    let change = Change::of(&found.live.workload, &images("agent=:v1"));
    assert_eq!(change.words_back(&found), [""; 0]);
}

#[test]
fn the_state_compares_with_the_sidecar_set() {
    let found = read(&set(NEW, &json!({"partition": 1})), &[new("a"), old("b"), old("c")], Vec::new());
    let states = |found: &Found| {
        let status = status(found);
        let owner: Vec<String> = status.owner.iter().map(|state| state.word().to_owned()).collect();
        (status.pods.iter().map(|pod| pod.state).collect::<Vec<_>>(), owner.join(" "))
    };
    let all = [PodState::Ready, PodState::Pending, PodState::Pending].to_vec();
    assert_eq!(states(&found), (all, "left".to_owned()));
    let agent = &status(&found).pods[1].containers[0];
    assert_eq!((agent.asked.as_deref(), agent.comparison), (Some(NEW), Comparison::Pending));
    let paused = read(&set(NEW, &json!({"paused": true})), &[new("a"), old("b")], Vec::new());
    assert_eq!(states(&paused), ([PodState::Ready, PodState::Older].to_vec(), "left".to_owned()));
    let going = read(&set(NEW, &json!({})), &[new("a"), old("b")], Vec::new());
    assert_eq!(states(&going).1, "rollingOut");
    let done = read(&set(NEW, &json!({})), &[new("a"), new("b"), new("c")], Vec::new());
    assert!(!status(&done).is_notable(), "{:#?}", status(&done));
}
