//! What one read shows, row by row: one Deployment, one pod, one container, and how they differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::*;
use crate::change::Direction;
use crate::k8s::workload::Workload;
use crate::plan::{Denied, Surroundings};
use crate::state::durable::lock::ROLLOUT_ANNOTATION;

mod clone_set;

pub(super) const CREATED: &str = "2026-03-01T09:00:00Z";
pub(super) const SET: &str = "2026-03-01T10:00:00Z";
const EARLIER: &str = "2026-03-01T09:59:59Z";
pub(super) const LATER: &str = "2026-03-01T10:00:05Z";
const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// The container `side` asks for an image since a time, runs another or the same, and is noted or not.
pub(super) struct Side {
    image: &'static str,
    set: &'static str,
    status: Value,
    pub(super) record: Option<Value>,
    ready: &'static str,
}

impl Side {
    pub(super) fn new(image: &'static str, set: &'static str, status: Value) -> Self {
        Self { image, set, status, record: None, ready: "True" }
    }

    pub(super) fn recorded(self, container_id: &str, waiting: &Value) -> Self {
        let side = json!({"from": "acme/side:v1", "to": self.image, "imageID": "sha256:v1", "containerID": container_id,
            "waiting": waiting});
        let record = json!({"id": "20260301-100000-000001", "manager": "inplace-cli", "containers": {"side": side}});
        Self { record: Some(record), ..self }
    }

    pub(super) fn not_ready(self) -> Self {
        Self { ready: "False", ..self }
    }

    pub(super) fn pod(&self) -> Value {
        let mut status = json!({"name": "side", "image": self.image, "imageID": format!("acme/side@{DIGEST}"),
            "containerID": "containerd://new", "ready": self.ready == "True", "restartCount": 1});
        json_patch::merge(&mut status, &self.status);
        let mut pod = json!({
            "metadata": {"name": "web-1", "namespace": "prod", "uid": "u1", "creationTimestamp": CREATED, "generation": 2,
                "labels": {"app": "web"}, "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-a", "uid": "rs-a", "controller": true}],
                "managedFields": [{"manager": "inplace-cli", "operation": "Update", "time": self.set,
                    "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}]},
            "spec": {"nodeName": "node-a", "containers": [{"name": "side", "image": self.image}]},
            "status": {"phase": "Running", "observedGeneration": 2, "containerStatuses": [status],
                "conditions": [{"type": "Ready", "status": self.ready, "lastTransitionTime": LATER}]}});
        if let Some(record) = &self.record {
            pod["metadata"]["annotations"] = json!({UPDATE_ANNOTATION: record.to_string()});
        }
        pod
    }
}

pub(super) fn deployment(image: &str) -> Value {
    json!({"metadata": {"name": "web", "namespace": "prod", "uid": "d", "generation": 1},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {"containers": [{"name": "side", "image": image}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1}})
}

pub(super) fn live(owner: Value, pods: &[Value]) -> Snapshot {
    let set = json!({"metadata": {"name": "web-a", "uid": "rs-a", "annotations": {"deployment.kubernetes.io/revision": "1"}}});
    Snapshot {
        workload: Workload::from_object(WorkloadKind::Deployment, owner).unwrap(),
        controllers: [Uid::from("rs-a")].into(),
        pods: pods.iter().map(|pod| Pod::from_object(pod).unwrap()).collect(),
        kubelets: BTreeMap::new(),
        not_read: Vec::new(),
        surroundings: Surroundings { owned: vec![set], ..Surroundings::default() },
    }
}

pub(super) fn lock(direction: Direction) -> Lock {
    let text = json!({"id": "20260301-100000-000002", "run": "r", "who": "jane", "since": SET, "version": "0.1.0",
        "state": "running", "direction": direction,         "change": {"images": {"side": {"from": "acme/side:v1", "to": "acme/side:v2"}}},
        "policy": {"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": null,
            "totalTimeout": null, "ordered": false}});
    serde_json::from_value(text).unwrap()
}

pub(super) fn running(at: &str) -> Value {
    json!({"state": {"running": {"startedAt": at}}})
}

fn waiting(reason: &str, message: &str) -> Value {
    json!({"state": {"waiting": {"reason": reason, "message": message}}})
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_container_is_what_is_proven_of_it() {
    let (v1, v2) = ("acme/side:v1", "acme/side:v2");
    let crashed = |id: &str, at: &str| {
        json!({"state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
            "lastState": {"terminated": {"exitCode": 3, "containerID": id, "startedAt": at, "reason": "Error"}}})
    };
    let end = |id: &str| json!({"exitCode": 3, "containerID": id, "startedAt": CREATED, "reason": "Error"});
    let ended = |last: Value| json!({"state": {"terminated": end("containerd://y")}, "lastState": last});
    let shows_other = |at: &str| json!({"image": "acme/side:v1", "state": {"running": {"startedAt": at}}});
    let same_bits = json!({"imageID": "sha256:v1", "state": {"running": {"startedAt": LATER}}});
    let stale = json!({"waiting": "ErrImagePull"});
    let cases = [
        ("as created", Side::new(v1, CREATED, running(CREATED)), "ready", PodState::Ready),
        (
            "as created, probes fail",
            Side::new(v1, CREATED, running(CREATED)).not_ready(),
            "running",
            PodState::NotReady,
        ),
        (
            "as created, on its way",
            Side::new(v1, CREATED, waiting("ContainerCreating", "")).not_ready(),
            "starting",
            PodState::NotReady,
        ),
        (
            "as created, no image",
            Side::new(v1, CREATED, waiting("ImagePullBackOff", "acme/side:v1")).not_ready(),
            "failed",
            PodState::Failed,
        ),
        (
            "as created, crashes",
            Side::new(v1, CREATED, crashed("containerd://x", CREATED)).not_ready(),
            "failed",
            PodState::Failed,
        ),
        ("as created, has ended", Side::new(v1, CREATED, ended(json!({}))).not_ready(), "starting", PodState::NotReady),
        (
            "as created, has ended again",
            Side::new(v1, CREATED, ended(json!({"terminated": end("containerd://x")}))).not_ready(),
            "failed",
            PodState::Failed,
        ),
        ("set elsewhere, started later", Side::new(v2, SET, running(LATER)), "ready", PodState::Drifted),
        ("set elsewhere, the old one runs", Side::new(v2, SET, shows_other(CREATED)), "updating", PodState::Updating),
        ("another field set since", Side::new(v1, SET, running(CREATED)), "unverified", PodState::Unverified),
        ("set in the second of the start", Side::new(v1, SET, running(SET)), "unverified", PodState::Unverified),
        (
            "set elsewhere, image missing",
            Side::new(v2, SET, waiting("ErrImagePull", "acme/side:v2: not found")).not_ready(),
            "failed",
            PodState::Failed,
        ),
        (
            "set elsewhere, registry away",
            Side::new(v2, SET, waiting("ErrImagePull", "connection refused")).not_ready(),
            "updating",
            PodState::Updating,
        ),
        (
            "set elsewhere, the old one crashes",
            Side::new(v2, SET, crashed("containerd://x", CREATED)).not_ready(),
            "updating",
            PodState::Updating,
        ),
        (
            "recorded, other bits",
            Side::new(v2, SET, running(LATER)).recorded("containerd://old", &Value::Null),
            "ready",
            PodState::Drifted,
        ),
        (
            "recorded, the old one",
            Side::new(v2, SET, running(LATER)).recorded("containerd://new", &Value::Null),
            "updating",
            PodState::Updating,
        ),
        (
            "recorded, same bits",
            Side::new(v2, SET, same_bits).recorded("containerd://old", &Value::Null),
            "unverified",
            PodState::Drifted,
        ),
        (
            "recorded, new one crashes",
            Side::new(v2, SET, crashed("containerd://x", LATER)).recorded("containerd://old", &Value::Null).not_ready(),
            "failed",
            PodState::Failed,
        ),
        (
            "recorded, the reason from before",
            Side::new(v2, SET, waiting("ErrImagePull", "not found"))
                .recorded("containerd://old", &stale["waiting"])
                .not_ready(),
            "updating",
            PodState::Updating,
        ),
        (
            "may heal by itself",
            Side::new(v2, SET, waiting("CreateContainerError", "deadline")).not_ready(),
            "updating",
            PodState::Updating,
        ),
        (
            "no such status",
            Side::new(v1, CREATED, json!({"name": "other"})).not_ready(),
            "starting",
            PodState::NotReady,
        ),
    ];
    for (name, side, condition, state) in cases {
        let pod = status(&live(deployment(v1), &[side.pod()])).pods.remove(0);
        assert_eq!((pod.containers[0].condition.word(), pod.state), (condition, state), "{name}: {pod:?}");
    }
}

#[test]
fn what_runs_again_after_an_end_is_ready_once_it_has_stayed() {
    let ended = |id: &str, code: i64| {
        json!({"restartCount": 3, "state": {"running": {"startedAt": LATER}}, "lastState": {"terminated":
            {"exitCode": code, "containerID": id, "startedAt": LATER, "finishedAt": LATER, "reason": "Error"}}})
    };
    let between = |restarts: i64, started: &str| {
        let mut status = ended("containerd://x", 3);
        status["restartCount"] = restarts.into();
        status["lastState"]["terminated"]["startedAt"] = started.into();
        status
    };
    let look = |side: Side, now: &str| {
        let mut live = live(deployment("acme/side:v2"), &[side.pod()]);
        live.surroundings.server_now = Some(now.into());
        status(&live).pods.remove(0)
    };
    let updated = |status: Value| {
        let mut side = Side::new("acme/side:v2", SET, status).recorded("containerd://old", &Value::Null);
        side.record.iter_mut().for_each(|record| record["containers"]["side"]["restarts"] = 0.into());
        side
    };
    let looping = |mut side: Side| {
        side.record.iter_mut().for_each(|record| record["containers"]["side"]["waiting"] = "CrashLoopBackOff".into());
        side
    };
    let (soon, late) = ("2026-03-01T10:00:24Z", "2026-03-01T10:00:25Z");
    let cases = [
        ("crashed since", updated(ended("containerd://x", 3)), soon, PodState::Restarted, Some(Some(2))),
        ("has stayed", updated(ended("containerd://x", 3)), late, PodState::Ready, Some(Some(2))),
        ("long ago", updated(ended("containerd://x", 3)), "2026-03-01T10:10:05Z", PodState::Ready, None),
        ("ended by the update", updated(ended("containerd://old", 137)), soon, PodState::Ready, None),
        ("as created", Side::new("acme/side:v2", CREATED, ended("x", 1)), soon, PodState::Restarted, Some(None)),
        ("set elsewhere", Side::new("acme/side:v2", SET, ended("x", 1)), soon, PodState::Restarted, Some(None)),
        ("no clock", updated(ended("containerd://x", 3)), "", PodState::Ready, None),
        ("the image before crashed once more", updated(between(2, EARLIER)), soon, PodState::Ready, None),
        ("the image before was about to start again", looping(updated(between(2, LATER))), soon, PodState::Ready, None),
        ("this one crashed", updated(between(2, LATER)), soon, PodState::Restarted, Some(Some(1))),
        ("and so did this one", updated(between(3, EARLIER)), soon, PodState::Restarted, Some(Some(2))),
    ];
    for (name, side, now, state, times) in cases {
        let pod = look(side, now);
        let again = pod.containers[0].again.map(|again| again.times);
        assert_eq!((pod.state, again), (state, times), "{name}: {pod:?}");
    }
}

#[test]
fn of_a_crash_loop_the_way_back_comes_first_also_while_it_runs() {
    for (code, now, first) in [
        (3, "2026-03-01T10:00:06Z", "Roll back"),
        (3, "2026-03-01T10:05:06Z", "Roll back"),
        (0, "2026-03-01T10:00:06Z", "Roll back"),
        (3, "2026-03-01T10:15:06Z", "Resume"),
    ] {
        let status_of = json!({"state": {"running": {"startedAt": LATER}}, "lastState": {"terminated":
            {"exitCode": code, "containerID": "containerd://x", "startedAt": LATER, "reason": "Error"}}});
        let side = Side::new("acme/side:v2", SET, status_of).recorded("containerd://old", &Value::Null);
        let mut lock = lock(Direction::Forward);
        lock.state = crate::state::durable::lock::LockState::Stopped;
        let mut owner = deployment("acme/side:v2");
        owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: serde_json::to_string(&lock).unwrap()});
        let mut live = live(owner, &[side.pod()]);
        live.surroundings.server_now = Some(now.into());
        let next = status(&live).next;
        assert_eq!(next.first().map(|next| next.label), Some(first), "{code} {now}");
    }
}

#[test]
fn a_status_from_before_the_kubelet_saw_the_change_says_nothing() {
    let mut pod = Side::new("acme/side:v2", SET, waiting("ErrImagePull", "acme/side:v2: not found")).not_ready().pod();
    pod["status"]["observedGeneration"] = 1.into();
    let report = status(&live(deployment("acme/side:v2"), &[pod])).pods.remove(0).containers.remove(0);
    assert_eq!(report.condition, Condition::Updating { waiting: None });
}

#[test]
fn what_is_asked_is_compared_with_the_template_or_the_rollout() {
    let digest = |text: &str| -> &'static str { Box::leak(text.replace("DIGEST", DIGEST).into_boxed_str()) };
    let other = "acme/side@sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    let cases = [
        ("acme/side:v1", "acme/side:v1", Comparison::Same),
        ("acme/side:v2", "acme/side:v1", Comparison::Drifted),
        (digest("acme/side@DIGEST"), "acme/side:v1", Comparison::Pinned),
        (digest("acme/side:v1@DIGEST"), "acme/side:v1", Comparison::Pinned),
        (digest("acme/side:v2@DIGEST"), "acme/side:v1", Comparison::Drifted),
        (digest("other/side@DIGEST"), "acme/side:v1", Comparison::Drifted),
        (other, "acme/side:v1", Comparison::Drifted),
        (digest("acme/side@DIGEST"), other, Comparison::Drifted),
        ("not an image", "acme/side:v1", Comparison::Drifted),
    ];
    for (image, template, expected) in cases {
        let pod = Side::new(image, CREATED, running(CREATED)).pod();
        let report = status(&live(deployment(template), &[pod])).pods.remove(0).containers.remove(0);
        assert_eq!(report.comparison, expected, "{image} of {template}");
    }
    let mut injected = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
    injected["spec"]["containers"][0]["name"] = "mesh".into();
    let report = status(&live(deployment("acme/side:v1"), &[injected])).pods.remove(0).containers.remove(0);
    assert_eq!((report.comparison, report.asked), (Comparison::Injected, None));
}

#[test]
fn under_a_rollout_what_it_has_not_come_to_is_pending_in_either_direction() {
    for (direction, image, template, expected) in [
        (Direction::Forward, "acme/side:v1", "acme/side:v2", Comparison::Pending),
        (Direction::Forward, "acme/side:v2", "acme/side:v2", Comparison::Same),
        (Direction::Back, "acme/side:v2", "acme/side:v1", Comparison::Pending),
        (Direction::Back, "acme/side:v1", "acme/side:v1", Comparison::Same),
        // Somebody has set the template since: no run brings the rollout's image to a pod.
        (Direction::Forward, "acme/side:v1", "acme/side:v1", Comparison::Same),
        (Direction::Forward, "acme/side:v2", "acme/side:v1", Comparison::Drifted),
        (Direction::Back, "acme/side:v1", "acme/side:v2", Comparison::Drifted),
        (Direction::Forward, "acme/side:v2", "acme/side:v3", Comparison::Drifted),
    ] {
        let mut owner = deployment(template);
        owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: lock(direction).to_text()});
        owner["spec"]["paused"] = true.into();
        let status = status(&live(owner, &[Side::new(image, CREATED, running(CREATED)).pod()]));
        assert_eq!(status.pods[0].containers[0].comparison, expected, "{direction:?} {image} {template}");
        assert!(matches!(&status.lock, Ok(Some(lock)) if lock.rollout.who == "jane"));
        assert!(status.owner.is_empty(), "the pause is the rollout's: {:?}", status.owner);
        assert!(status.is_notable());
    }
}

#[test]
fn a_rollout_of_chosen_pods_says_nothing_of_the_others() {
    let mut chosen = lock(Direction::Forward);
    for (only, expected) in [("web-1", Comparison::Pending), ("web-2", Comparison::Drifted)] {
        chosen.rollout.only = [only.to_owned()].into();
        let mut owner = deployment("acme/side:v2");
        owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: chosen.to_text()});
        let pod = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
        assert_eq!(status(&live(owner, &[pod])).pods[0].containers[0].comparison, expected, "{only}");
    }
}

#[test]
fn a_pause_after_the_rollout_lifted_its_own_is_somebody_elses() {
    let mut released = lock(Direction::Forward);
    released.released = true;
    let mut owner = deployment("acme/side:v2");
    owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: released.to_text()});
    owner["spec"]["paused"] = true.into();
    assert_eq!(status(&live(owner, &[])).owner, [OwnerState::Paused]);
}

#[test]
fn a_lock_that_cannot_be_read_holds_all_the_same() {
    for text in ["{", "null", "[]", "{\"id\":\"x\"}", "\u{1b}[2J"] {
        let mut owner = deployment("acme/side:v1");
        owner["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: text});
        let status = status(&live(owner, &[]));
        assert_eq!(status.lock, Err(text.into()));
        assert!(status.is_notable());
    }
}

#[test]
fn a_copy_of_the_lock_on_a_replica_set_holds_nothing() {
    let mut set = deployment("acme/side:v1");
    set["metadata"]["annotations"] = json!({ROLLOUT_ANNOTATION: lock(Direction::Forward).to_text()});
    let held = |set: &Value| lock_of(&Workload::from_object(WorkloadKind::ReplicaSet, set.clone()).unwrap());
    assert!(matches!(held(&set), Ok(Some(_))));
    set["metadata"]["ownerReferences"] = json!([{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}]);
    assert_eq!(held(&set), Ok(None));
}

#[test]
fn an_owner_says_what_its_controller_is_at() {
    let rolling = json!({"status": {"replicas": 2}});
    let deadline = json!({"status": {"conditions": [{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "too slow"}]}});
    let fine = json!({"status": {"conditions": [{"type": "Progressing", "status": "True", "reason": "x"},
        {"type": "Available", "status": "False"}, null, 3]}});
    let cases = [
        (json!({}), vec![]),
        (fine, vec![]),
        (json!({"metadata": {"generation": 2}}), vec!["notObserved"]),
        (json!({"spec": {"paused": true}}), vec!["paused"]),
        (rolling, vec!["rollingOut"]),
        (deadline, vec!["stuck"]),
        (json!({"metadata": {"deletionTimestamp": SET}}), vec!["terminating"]),
    ];
    for (patch, expected) in cases {
        let mut owner = deployment("acme/side:v1");
        json_patch::merge(&mut owner, &patch);
        let status = status(&live(owner, &[Side::new("acme/side:v1", CREATED, running(CREATED)).pod()]));
        assert_eq!(status.owner.iter().map(OwnerState::word).collect::<Vec<_>>(), expected, "{patch}");
        assert_eq!(status.is_notable(), !expected.is_empty(), "{patch}");
        assert!(status.owner.iter().all(|state| !state.sentence().is_empty()));
    }
}

#[test]
fn while_the_owner_replaces_pods_another_image_is_no_drift() {
    let mut owner = deployment("acme/side:v2");
    owner["status"]["replicas"] = 2.into();
    let status = status(&live(owner, &[Side::new("acme/side:v1", CREATED, running(CREATED)).pod()]));
    assert_eq!((status.pods[0].state, status.pods[0].containers[0].comparison), (PodState::Older, Comparison::Older));
}

#[test]
fn only_what_is_controlled_is_theirs_unless_nobody_may_know() {
    let mut stranger = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
    stranger["metadata"]["ownerReferences"][0]["uid"] = "rs-b".into();
    let mut seen = live(deployment("acme/side:v1"), &[stranger]);
    let found = status(&seen);
    assert_eq!((found.pods.len(), found.is_notable()), (0, true), "a pod is missing");
    let denied =
        |resource: &str| Denied { verb: "list".into(), resource: resource.into(), message: "no".into(), role: None };
    seen.surroundings.denied = vec![denied("replicasets.apps")];
    seen.surroundings.owned.clear();
    let found = status(&seen);
    assert_eq!((found.pods.len(), found.not_read.len(), found.is_notable()), (1, 1, false));
    seen.surroundings.denied = vec![denied("pods")];
    seen.pods.clear();
    assert!(!status(&seen).is_notable(), "what may not be read is not missing");
}

#[test]
fn the_rest_of_a_pod_is_reported() {
    let side = || Side::new("acme/side:v2", SET, running(LATER)).recorded("containerd://old", &Value::Null);
    let plain = status(&live(deployment("acme/side:v2"), &[side().pod()])).pods.remove(0);
    assert_eq!(plain.update, Some("20260301-100000-000001".into()));
    assert_eq!(plain.containers[0].before.as_deref(), Some("acme/side:v1"));
    assert_eq!((plain.ready, plain.ready_since.as_deref()), (true, Some(LATER)));
    type Edit = fn(&mut Value);
    let edits: [(Edit, PodState); 3] = [
        (|pod| pod["metadata"]["deletionTimestamp"] = LATER.into(), PodState::Terminating),
        (|pod| pod["status"]["phase"] = "Failed".into(), PodState::Finished),
        (|pod| pod["metadata"]["annotations"][UPDATE_ANNOTATION] = "{\"id\":3}".into(), PodState::Ready),
    ];
    for (edit, state) in edits {
        let mut pod = side().pod();
        edit(&mut pod);
        let found = status(&live(deployment("acme/side:v2"), &[pod])).pods.remove(0);
        assert_eq!(found.state, state);
        assert_eq!(found.unreadable_record, state == PodState::Ready);
    }
    let mut pending = side().not_ready().pod();
    pending["status"] = json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]});
    let found = status(&live(deployment("acme/side:v2"), &[pending])).pods.remove(0);
    assert_eq!(found.unscheduled.as_deref(), Some("0/1 nodes"));
}

#[test]
fn a_pod_is_its_own_template_and_a_done_init_container_is_no_news() {
    let mut object = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
    object["metadata"]["ownerReferences"] = json!([]);
    object["spec"]["initContainers"] = json!([{"name": "init", "image": "acme/init:v1"}]);
    object["status"]["initContainerStatuses"] = json!([{"name": "init", "state": {"terminated": {"exitCode": 0}}}]);
    let pod = Pod::from_object(&object).unwrap();
    let workload = Workload::from_object(WorkloadKind::Pod, object).unwrap();
    let seen = Snapshot { workload, controllers: BTreeSet::new(), pods: vec![pod], ..live(deployment("x"), &[]) };
    let found = status(&seen);
    assert!(found.template.is_empty() && !found.is_notable());
    let reported: Vec<_> = found.pods[0].containers.iter().map(|one| (one.condition.word(), one.comparison)).collect();
    assert_eq!(reported, [("ready", Comparison::Own), ("ended", Comparison::Own)]);
}

#[test]
fn every_state_has_its_words() {
    let words: BTreeSet<&str> = PodState::ALL.iter().map(|state| state.word()).collect();
    let read: BTreeSet<&str> = PodState::ALL.iter().map(|state| state.words()).collect();
    assert_eq!((words.len(), read.len()), (PodState::ALL.len(), PodState::ALL.len()));
}

/// A pod of two containers whose images were set at a time each, by one manager, which has written last at the later one.
fn two(app: (&str, &str), side: (&str, &str), record: &Value) -> Value {
    let mut pod = Side::new("acme/side:v2", SET, running(side.1)).pod();
    pod["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "app", "image": "acme/app:v2"}));
    let fields = json!({"f:image": {}});
    pod["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"app\"}"] = fields;
    let status = |name: &str, (id, at): (&str, &str)| {
        json!({"name": name, "image": format!("acme/{name}:v2"), "imageID": "sha256:same", "containerID": id, "ready": true,
            "restartCount": 1, "state": {"running": {"startedAt": at}}})
    };
    pod["status"]["containerStatuses"] = json!([status("side", side), status("app", app)]);
    if !record.is_null() {
        pod["metadata"]["annotations"] = json!({UPDATE_ANNOTATION: record.to_string()});
    } else {
        pod["metadata"]["managedFields"][0]["manager"] = "kubectl-set".into();
    }
    pod
}

#[test]
fn a_container_that_an_update_did_not_change_stays_what_it_was() {
    let (before, between) = ("2026-03-01T09:30:00Z", "2026-03-01T09:59:59Z");
    let of = |bits: &str, id: &str| json!({"from": "acme/x:v1", "to": "", "imageID": bits, "containerID": id});
    let record = |changed: (&str, Value), earlier: Option<(&str, Value)>| {
        let with_image = |(name, mut record): (&str, Value)| {
            record["to"] = format!("acme/{name}:v2").into();
            json!({name: record})
        };
        let mut whole =
            json!({"id": "20260301-100000-000002", "manager": "inplace-cli", "containers": with_image(changed)});
        if let Some(earlier) = earlier {
            whole["earlier"] = with_image(earlier);
        }
        whole
    };
    let side = || ("side", of("sha256:v1", "containerd://old-side"));
    let (app, same) =
        (("app", of("sha256:v1", "containerd://old-app")), ("app", of("sha256:same", "containerd://old-app")));
    let cases = [
        ("recorded, other bits", record(side(), Some(app)), LATER, "ready"),
        ("recorded, the same digest, and side was made since", record(side(), Some(same)), LATER, "ready"),
        ("not recorded, as by an older version", record(side(), None), LATER, "ready"),
        // One entry of the managed fields has one time: which image was set last is not known.
        ("by somebody else, and side was made since", Value::Null, LATER, "unverified"),
        ("by somebody else, and side was made before", Value::Null, between, "unverified"),
    ];
    for (name, record, side_started, expected) in cases {
        let pod = two(("containerd://app", before), ("containerd://side", side_started), &record);
        let found = status(&live(deployment("acme/side:v2"), &[pod])).pods.remove(0);
        let words: Vec<&str> = found.containers.iter().map(|one| one.condition.word()).collect();
        assert_eq!(words.last(), Some(&expected), "{name}: {found:?}");
        assert_eq!(found.state == PodState::Ready, expected == "ready", "{name}: {found:?}");
    }
    // Of an update whose container has not come yet nothing follows for the others.
    let record = record(side(), Some(("app", of("sha256:same", "containerd://old-app"))));
    let pod = two(("containerd://app", before), ("containerd://old-side", before), &record);
    let found = status(&live(deployment("acme/side:v2"), &[pod])).pods.remove(0);
    assert_eq!(found.containers[1].condition.word(), "unverified");
    assert_eq!(found.state, PodState::Updating);
}

/// Where nobody has applied another strategy, it may be the user's own.
#[test]
fn a_strategy_that_lets_pods_wait_is_said_though_nobody_knows_the_one_before() {
    for (kind, revision, expected) in
        [("OnDelete", "web-1", vec!["onDelete"]), ("OnDelete", "web-2", vec![]), ("RollingUpdate", "web-1", vec![])]
    {
        let mut owner = deployment("acme/side:v1");
        owner["spec"]["updateStrategy"] = json!({"type": kind});
        owner["status"]["updateRevision"] = "web-2".into();
        let mut pod = Side::new("acme/side:v1", CREATED, running(CREATED)).pod();
        pod["metadata"]["labels"]["controller-revision-hash"] = revision.into();
        let workload = Workload::from_object(WorkloadKind::StatefulSet, owner.clone()).unwrap();
        let found = status(&Snapshot { workload, ..live(owner, &[pod]) }).owner;
        assert_eq!(found.iter().map(OwnerState::word).collect::<Vec<_>>(), expected, "{kind} {revision}");
        assert!(found.iter().all(|state| state.sentence().contains("OnDelete") && state.is_at_rest()));
    }
}

#[test]
fn a_label_of_the_template_that_nothing_notes_as_removed_is_reported_and_no_command_is_of_a_pod_that_goes() {
    let side = Side::new("acme/side:v2", SET, running(LATER));
    let mut owner = deployment("acme/side:v1");
    owner["spec"]["template"]["metadata"]["labels"] = json!({"app": "web", "serving": "yes"});
    let seen = |pod: Value| status(&live(owner.clone(), &[pod]));
    let (plain, noted) = (seen(side.pod()), side.recorded("containerd://old", &Value::Null));
    assert_eq!(plain.pods[0].missing_labels, [("serving".into(), "yes".into())].into());
    assert_eq!((plain.next.len(), seen(noted.pod()).is_notable()), (1, true));
    let mut off = noted.pod();
    let mut record = noted.record.unwrap();
    record["drained"] = json!({"key": "serving", "value": "yes"});
    off["metadata"]["annotations"][UPDATE_ANNOTATION] = record.to_string().into();
    let found = PodStatus { state: PodState::Ready, ..seen(off.clone()).pods.remove(0) };
    assert!(found.missing_labels.is_empty() && found.is_notable(), "{off}");
    off["metadata"]["deletionTimestamp"] = LATER.into();
    assert!(seen(off).next.is_empty());
}
