//! Where a pod stands, row by row.

mod staying_down;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::k8s::names::{PodKey, WorkloadRef};
use crate::k8s::pod::{
    Condition, Container, ContainerState, ContainerStatus, ImageSet, OwnerReference, PodSpec, PodStatus, Probe,
    ResizePolicy, Running, Terminated, Waiting,
};
use crate::kinds::WorkloadKind;
use crate::plan::Start;
use crate::rollout::pod_run::Request;
use crate::rollout::pod_run::RequestState;
use crate::rollout::{Follow, Observation, Observed, Policy, RunState};
use crate::state::durable::rollout::Rollout;
use crate::state::record::{ContainerRecord, NotedStart, UPDATE_ANNOTATION, UpdateRecord};

const BEFORE: &str = "registry.example/side:v1";
const WANTED: &str = "registry.example/side:v2";
const NOW: Now = Duration::from_secs(100);

fn key() -> PodKey {
    PodKey { namespace: "prod".into(), name: "web-0".into(), uid: "uid".into() }
}

fn goal() -> Goal {
    let wanted = ContainerGoal {
        from: Some(BEFORE.into()),
        to: Some(WANTED.into()),
        restarts: true,
        ..ContainerGoal::default()
    };
    Goal {
        lock: Start::default().lock(Rollout {
            id: "r".into(),
            policy: Policy { max_unavailable: 1, ..Policy::default() },
            ..Rollout::default()
        }),
        workload: WorkloadRef { kind: WorkloadKind::StatefulSet, namespace: "prod".into(), name: "web".into() },
        controllers: ["owner".into()].into(),
        replicas: 1,
        pods: vec![Arc::new(PodGoal {
            key: key(),
            containers: [("side".into(), wanted)].into(),
            fields: Default::default(),
            drain: None,
            kubelet: None,
        })],
        field_manager: "inplace-cli".into(),
        hooks: Default::default(),
        owner: None,
        pulls: Vec::new(),
        pre_pull: crate::rollout::pre_pull::PrePull::Never,
        clock: String::new(),
        by_request: false,
        follows: None,
    }
}

/// A pod before the update: ready, with the old container.
fn old_pod() -> Pod {
    Pod {
        key: key(),
        created: "2026-01-01T00:00:00Z".into(),
        resource_version: 1,
        generation: Some(1),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        owners: vec![OwnerReference {
            api_version: "apps/v1".into(),
            kind: "StatefulSet".into(),
            name: "web".into(),
            uid: "owner".into(),
            controller: true,
        }],
        terminating: false,
        image_set: BTreeMap::new(),
        tracked: false,
        resized: BTreeMap::new(),
        gate_writers: BTreeMap::new(),
        spec: PodSpec {
            containers: vec![Container { name: "side".into(), image: BEFORE.into(), ..Container::default() }],
            ..PodSpec::default()
        },
        status: PodStatus {
            phase: "Running".into(),
            observed_generation: Some(1),
            conditions: vec![Condition { kind: "Ready".into(), status: "True".into(), ..Condition::default() }],
            container_statuses: vec![running("containerd://old", "sha256:a")],
            ..PodStatus::default()
        },
        memo: Default::default(),
    }
}

fn running(id: &str, image_id: &str) -> ContainerStatus {
    ContainerStatus {
        name: "side".into(),
        image: "whatever".into(),
        image_id: image_id.into(),
        container_id: Some(id.into()),
        ready: true,
        state: ContainerState { running: Some(Running::default()), ..ContainerState::default() },
        ..ContainerStatus::default()
    }
}

/// After our patch: it asks for the new image, nothing has happened yet.
fn patched_pod() -> Pod {
    let record = ContainerRecord {
        from: BEFORE.into(),
        to: WANTED.into(),
        image_id: "sha256:a".into(),
        container_id: Some("containerd://old".into()),
        restarts: Some(0),
        waiting: None,
        never_ran: false,
        in_flight: None,
        down_since: None,
        starts: vec![],
    };
    let record = UpdateRecord {
        id: "r".into(),
        containers: [("side".into(), record)].into(),
        ..UpdateRecord::of_no_update(&old_pod(), "inplace-cli")
    };
    let mut pod = old_pod();
    pod.annotations.insert(UPDATE_ANNOTATION.into(), serde_json::to_string(&record).unwrap_or_default());
    pod.spec.containers.iter_mut().for_each(|container| container.image = WANTED.into());
    (pod.generation, pod.resource_version) = (Some(2), 2);
    pod.status.observed_generation = Some(2);
    pod
}

fn with_status(mut pod: Pod, status: ContainerStatus) -> Pod {
    pod.status.container_statuses = vec![status];
    pod
}

fn waiting(reason: &str, message: &str, id: &str, ended: Option<&str>) -> ContainerStatus {
    let mut status = running(id, "sha256:b");
    let waiting = Waiting { reason: reason.into(), message: message.into() };
    status.ready = false;
    status.state = ContainerState { waiting: Some(waiting), ..ContainerState::default() };
    status.last_state.terminated =
        ended.map(|id| Terminated { exit_code: 3, container_id: Some(id.into()), ..Terminated::default() });
    status
}

fn word(phase: &UpdatePhase) -> &'static str {
    match phase {
        UpdatePhase::Waiting => "waiting",
        UpdatePhase::Hook { .. } => "hook",
        UpdatePhase::Next { .. } => "next",
        UpdatePhase::Resizing { .. } => "resizing",
        UpdatePhase::Left { .. } => "left",
        UpdatePhase::Patched => "patched",
        UpdatePhase::Restarting { .. } => "restarting",
        UpdatePhase::Starting { .. } => "starting",
        UpdatePhase::Stabilizing { .. } => "settling",
        UpdatePhase::Unverified { .. } => "unverified",
        UpdatePhase::Done => "done",
        UpdatePhase::Failing(_) => "failing",
        UpdatePhase::Conflict { .. } => "moved",
        UpdatePhase::Overtaken { .. } => "overtaken",
        UpdatePhase::Draining { .. } => "draining",
        UpdatePhase::RejoiningService { .. } => "restoring",
        UpdatePhase::Gone { .. } => "gone",
    }
}

fn judged(pod: Option<Pod>, run: &mut PodRun, now: Now) -> Judged {
    judged_as(&goal(), pod, run, now)
}

fn judged_as(goal: &Goal, pod: Option<Pod>, run: &mut PodRun, now: Now) -> Judged {
    let mut observed = Observed::default();
    observed.observe(Observation::Relisted(pod.into_iter().collect()));
    let pod_goal = goal.pods.first().expect("one pod");
    phase_in(goal, pod_goal, &observed, run, now)
}

fn phase_in(goal: &Goal, pod_goal: &PodGoal, observed: &Observed, run: &mut PodRun, now: Now) -> Judged {
    let subject = PodContext { position: 0, goal: pod_goal, pod: observed.pod(&pod_goal.key) };
    pod_progress(RunState::new().context(goal, observed, now), &Pods::default(), subject, run)
}

fn phase_of(pod: Pod) -> &'static str {
    word(&judged(Some(pod), &mut PodRun::default(), NOW).phase)
}

fn change(mut pod: Pod, change: impl FnOnce(&mut Pod)) -> Pod {
    change(&mut pod);
    pod
}

#[test]
fn a_pod_before_our_patch_waits_unless_somebody_was_faster() {
    let set = |image: &str| {
        change(old_pod(), |pod| pod.spec.containers.iter_mut().for_each(|container| container.image = image.into()))
    };
    let reverted = change(patched_pod(), |pod| {
        pod.spec.containers.iter_mut().for_each(|container| container.image = BEFORE.into());
    });
    let cases = [
        ("untouched", old_pod(), "waiting"),
        ("another image", set("registry.example/side:v3"), "moved"),
        ("our patch taken back by somebody", reverted, "moved"),
        ("no such container", change(old_pod(), |pod| pod.spec.containers.clear()), "moved"),
        ("terminating", change(old_pod(), |pod| pod.terminating = true), "gone"),
        ("let go of", change(old_pod(), |pod| pod.owners.clear()), "gone"),
        ("finished", change(old_pod(), |pod| pod.status.phase = "Failed".into()), "gone"),
    ];
    for (case, pod, expected) in cases {
        assert_eq!(phase_of(pod), expected, "{case}");
    }
    assert_eq!(word(&judged(None, &mut PodRun::default(), NOW).phase), "gone");
}

/// Another run took our image back and wrote its own record over ours: patching again would be a fight.
#[test]
fn a_pod_that_asked_for_our_image_and_asks_for_the_one_before_was_changed_by_somebody_else() {
    let mut run = PodRun::default();
    assert_eq!(word(&judged(Some(patched_pod()), &mut run, NOW).phase), "restarting");
    let mut taken_back = change(old_pod(), |pod| pod.resource_version = 3);
    let record = UpdateRecord { id: "other".into(), ..UpdateRecord::of_no_update(&old_pod(), "inplace-cli") };
    taken_back.annotations.insert(UPDATE_ANNOTATION.into(), serde_json::to_string(&record).unwrap_or_default());
    assert_eq!(word(&judged(Some(taken_back.clone()), &mut run, NOW).phase), "moved");
    // In a state without that memory it is a pod that has not had its turn.
    assert_eq!(phase_of(taken_back), "waiting");
}

#[test]
fn a_patched_pod_is_what_its_containers_prove() {
    let unready = |pod: Pod| {
        change(pod, |pod| pod.status.conditions.iter_mut().for_each(|condition| condition.status = "False".into()))
    };
    let new = with_status(patched_pod(), running("containerd://new", "sha256:b"));
    let pull = "failed to pull image \"registry.example/side:v2\": dial tcp: connection refused";
    let reported = |reason, message, id, ended| with_status(patched_pod(), waiting(reason, message, id, ended));
    let (old_id, new_id) = ("containerd://old", "containerd://new");
    let cases = [
        ("the stale ready pod", patched_pod(), "restarting"),
        ("the new container", new.clone(), "settling"),
        ("the new container, not ready", unready(new.clone()), "starting"),
        (
            "a status from before the kubelet saw it",
            change(new, |pod| pod.status.observed_generation = Some(1)),
            "restarting",
        ),
        ("other id, same bits", with_status(patched_pod(), running(new_id, "sha256:a")), "unverified"),
        ("a pull that may heal", reported("ErrImagePull", pull, old_id, None), "restarting"),
        ("a pull that does not", reported("ImagePullBackOff", "Back-off pulling", old_id, None), "failing"),
        ("a name that is none", reported("InvalidImageName", "couldn't parse", old_id, None), "failing"),
        (
            "a back-off without a new container",
            reported("CrashLoopBackOff", "back-off 10s", old_id, Some(old_id)),
            "restarting",
        ),
        ("a new container that crashed", reported("CrashLoopBackOff", "back-off 10s", new_id, Some(new_id)), "failing"),
        ("finished for good", change(patched_pod(), |pod| pod.status.phase = "Succeeded".into()), "failing"),
    ];
    for (case, pod, expected) in cases {
        assert_eq!(phase_of(pod), expected, "{case}");
    }
}

/// A container that had ended before its image was changed is shown in its back-off for a moment more, with the new
/// image.
#[test]
fn until_when_a_container_is_held_is_said_of_the_back_off_of_its_image_alone() {
    let held = |ended: &str, earlier: &[&str]| {
        let mut status =
            waiting("CrashLoopBackOff", "back-off 40s restarting", "containerd://old", Some("containerd://old"));
        status.last_state.terminated.iter_mut().for_each(|last| last.finished_at = Some(ended.into()));
        let mut pod = with_status(patched_pod(), status);
        let mut record = UpdateRecord::of(&pod).expect("it has one").into_owned();
        record.set_at.insert("side".into(), "2026-03-01T10:00:10Z".into());
        let starts =
            earlier.iter().map(|image| NotedStart { image: (*image).into(), at: "2026-03-01T09:59:00Z".into() });
        record.containers.values_mut().for_each(|container| container.starts = starts.clone().collect());
        pod.annotations.insert(UPDATE_ANNOTATION.into(), serde_json::to_string(&record).unwrap_or_default());
        match judged(Some(pod), &mut PodRun::default(), NOW).phase {
            UpdatePhase::Restarting { until, .. } => until,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(held("2026-03-01T10:00:08Z", &[]), None, "what is shown is of the image before");
    assert_eq!(held("2026-03-01T10:00:08Z", &[BEFORE]), None);
    assert_eq!(held("2026-03-01T10:00:08Z", &[WANTED]).as_deref(), Some("2026-03-01T10:00:48Z"));
    assert_eq!(
        held("2026-03-01T10:00:12Z", &[]).as_deref(),
        Some("2026-03-01T10:00:52Z"),
        "it was stopped for the new one"
    );
}

#[test]
fn a_crash_of_the_same_bits_counts_from_the_second_container_on() {
    let crash = |id| {
        let mut status = waiting("CrashLoopBackOff", "back-off 10s", id, Some(id));
        status.image_id = "sha256:a".into();
        with_status(patched_pod(), status)
    };
    let mut run = PodRun::default();
    let mut phase = |id| word(&judged(Some(crash(id)), &mut run, NOW).phase);
    assert_eq!(phase("containerd://second"), "restarting");
    assert_eq!(phase("containerd://second"), "restarting");
    assert_eq!(phase("containerd://third"), "failing");
}

#[test]
fn the_same_digest_is_proven_by_the_container_that_came_after_the_kubelet_knew() {
    let mut run = PodRun::default();
    assert_eq!(word(&judged(Some(patched_pod()), &mut run, NOW).phase), "restarting");
    let new = with_status(patched_pod(), running("containerd://new", "sha256:a"));
    assert_eq!(word(&judged(Some(new.clone()), &mut run, NOW).phase), "settling");
    // A later change elsewhere in the pod takes nothing back.
    let resized = change(new, |pod| pod.generation = Some(3));
    assert_eq!(word(&judged(Some(resized), &mut run, NOW).phase), "settling");
}

#[test]
fn ready_must_hold_and_begins_again_with_every_transition() {
    let seconds = Duration::from_secs;
    let at = |time: &str| {
        change(with_status(patched_pod(), running("containerd://new", "sha256:b")), |pod| {
            for condition in &mut pod.status.conditions {
                condition.last_transition_time = Some(time.into());
            }
        })
    };
    let mut run = PodRun::default();
    let first = judged(Some(at("2026-03-01T10:00:00Z")), &mut run, NOW);
    assert_eq!((word(&first.phase), first.wake), ("settling", Some(NOW + seconds(5))));
    // It was not ready in between, though nobody saw it.
    let again = judged(Some(at("2026-03-01T10:00:03Z")), &mut run, NOW + seconds(4));
    assert_eq!((word(&again.phase), again.wake), ("settling", Some(NOW + seconds(9))));
    assert_eq!(word(&judged(Some(at("2026-03-01T10:00:03Z")), &mut run, NOW + seconds(9)).phase), "done");
}

#[test]
fn the_hold_is_the_longest_of_its_reasons_unless_given() {
    let startup = Some(Probe { period_seconds: None, ..Probe::default() });
    let readiness = Some(Probe { period_seconds: Some(1), ..Probe::default() });
    let cases = [
        ("blind and first", None, 0, None, None, 5),
        ("seen", None, 0, readiness.clone(), None, 0),
        ("the owner's", None, 7, readiness.clone(), None, 7),
        ("one startup period", None, 7, readiness, startup.clone(), 10),
        ("given", Some(1), 7, None, startup, 1),
    ];
    for (case, given, owner, readiness, startup, expected) in cases {
        let mut goal = goal();
        goal.lock.rollout.policy.min_ready_seconds_given = given;
        goal.lock.rollout.policy.owner_min_ready_seconds = owner;
        let pod = change(old_pod(), |pod| {
            for container in &mut pod.spec.containers {
                (container.readiness_probe, container.startup_probe) = (readiness.clone(), startup.clone());
            }
        });
        let (observed, pods) = (Observed::default(), Pods::default());
        let context = RunState::new().context(&goal, &observed, NOW);
        let judge = PodJudge { context, pods: &pods, goal: goal.pods.first().expect("one pod"), pod: &pod };
        assert_eq!(judge.hold_seconds(&[&"side".into()]), expected, "{case}");
    }
}

#[test]
fn nothing_that_rests_on_time_is_decided_while_the_watch_is_lost() {
    let goal = goal();
    let pod_goal = goal.pods.first().expect("one pod");
    let lasting = with_status(patched_pod(), waiting("CreateContainerError", "deadline", "containerd://old", None));
    let new = with_status(patched_pod(), running("containerd://new", "sha256:b"));
    for (pod, live, lost) in [(lasting, "failing", "restarting"), (new, "done", "settling")] {
        let mut observed = Observed::default();
        observed.observe(Observation::Relisted(vec![pod]));
        let mut run = PodRun::default();
        let mut phase = |observed: &Observed, now| word(&phase_in(&goal, pod_goal, observed, &mut run, now).phase);
        let later = NOW + Duration::from_secs(60);
        phase(&observed, NOW);
        observed.observe(Observation::WatchLost("reset".into()));
        assert_eq!(phase(&observed, later), lost);
        observed.observe(Observation::Relisted(observed.pods().cloned().collect()));
        assert_eq!(phase(&observed, later), live);
    }
}

/// A pod whose container restarts for a resize of its memory: what it asks for, what it has, and which container it is.
fn resized(asks: &str, has: &str, id: &str, noted: bool) -> Pod {
    let memory = |value: &str| {
        serde_json::from_value::<crate::k8s::pod::Resources>(serde_json::json!({"requests": {"memory": value}}))
            .unwrap()
    };
    let mut pod = with_status(old_pod(), running(id, "sha256:a"));
    pod.spec.node_name = "node-1".into();
    let policy = ResizePolicy { resource_name: "memory".into(), restart_policy: "RestartContainer".into() };
    for container in &mut pod.spec.containers {
        (container.resize_policy, container.resources) = (vec![policy.clone()], memory(asks));
    }
    for status in &mut pod.status.container_statuses {
        (status.resources, status.allocated_resources) = (Some(memory(has)), Some(memory(has).requests));
    }
    if noted {
        let change = serde_json::json!({"values": {"requests.memory": {"from": "1Mi", "to": "2Mi"}},
            "restarting": ["requests.memory"], "containerID": "containerd://old"});
        let note = serde_json::json!({"id": "r", "manager": "m", "containers": {},
            "resized": {"side": change}, "later": {"side": {"from": BEFORE, "to": WANTED}}});
        pod.annotations.insert(UPDATE_ANNOTATION.into(), note.to_string());
    }
    pod
}

fn resize_goal(image: Option<&str>) -> Goal {
    let mut goal = goal();
    let resources = serde_json::json!({"side": {"values": {"requests.memory": {"from": "1Mi", "to": "2Mi"}}}});
    let to = image.map(str::to_owned);
    for pod in goal.pods.iter_mut().map(Arc::make_mut) {
        let wanted = ContainerGoal { to: to.clone(), restarts: true, by_resize: true, ..ContainerGoal::default() };
        pod.containers = [("side".into(), wanted)].into();
        pod.fields.resources = serde_json::from_value(resources.clone()).unwrap();
    }
    goal
}

/// No cgroup holds a memory request: the status shows the new one for the old container, too.
#[test]
fn a_container_that_restarts_for_its_resize_is_done_once_it_is_another_one() {
    let phase = |goal: &Goal, pod: Pod, run: &mut PodRun| {
        let mut observed = Observed::default();
        observed.observe(Observation::Relisted(vec![pod]));
        word(&phase_in(goal, &goal.pods[0], &observed, run, NOW).phase)
    };
    let (old, new) = ("containerd://old", "containerd://new");
    let with_image = resize_goal(Some(WANTED));
    for (what, goal, pod, expected) in [
        ("before its turn", &resize_goal(None), resized("1Mi", "1Mi", old, false), "waiting"),
        ("noted by a run that was killed", &resize_goal(None), resized("1Mi", "1Mi", old, true), "waiting"),
        ("asked for", &resize_goal(None), resized("2Mi", "1Mi", old, true), "resizing"),
        ("the old one shows it", &resize_goal(None), resized("2Mi", "2Mi", old, true), "restarting"),
        ("another one has it", &resize_goal(None), resized("2Mi", "2Mi", new, true), "settling"),
        ("its image comes after that", &with_image, resized("2Mi", "2Mi", old, true), "restarting"),
        ("and then at once", &with_image, resized("2Mi", "2Mi", new, true), "next"),
    ] {
        assert_eq!(phase(goal, pod, &mut PodRun::default()), expected, "{what}");
    }
    for (sent, expected) in [(Sent::Drain, "patched"), (Sent::Resize, "resizing")] {
        let request = Request { sent, state: RequestState::Accepted, ..Request::default() };
        let mut sent = PodRun { request, ..PodRun::default() };
        let before = resized("1Mi", "1Mi", old, false);
        assert_eq!(phase(&resize_goal(None), before, &mut sent), expected, "it may be its label that was sent");
    }
    let with_a_note = || {
        let request = Request { sent: Sent::Note, ..Request::default() };
        PodRun { request, ..PodRun::default() }
    };
    let mut noted = with_a_note();
    assert_eq!(phase(&resize_goal(None), resized("1Mi", "1Mi", old, true), &mut noted), "next", "its own note");
    let mut lost = with_a_note();
    assert_eq!(
        phase(&resize_goal(None), resized("1Mi", "1Mi", new, true), &mut lost),
        "waiting",
        "it is of another one"
    );
    // Until then it is up, and counts as such.
    let goal = resize_goal(None);
    for (asks, expected) in [("1Mi", false), ("2Mi", true)] {
        let pod = resized(asks, "1Mi", old, true);
        assert_eq!(steps::is_begun(&goal, &goal.pods[0], &pod), expected, "{asks}");
        assert!(steps::takes_down(&goal.pods[0], &pod));
    }
}

/// Nothing of it ran before, so nothing of it has to run again; once a node takes it, the image has to prove itself.
#[test]
fn a_pod_that_no_node_has_taken_is_back_with_its_image() {
    let mut back = goal();
    Arc::make_mut(&mut back.pods[0]).containers.values_mut().for_each(|container| container.goes_back = true);
    let mut unstarted = patched_pod();
    unstarted.status.container_statuses.clear();
    let mut taken = unstarted.clone();
    taken.spec.node_name = "node-a".into();
    let waits = |phase: &UpdatePhase| matches!(phase, UpdatePhase::Restarting { .. });
    let phase = |goal: &Goal, pod: &Pod| judged_as(goal, Some(pod.clone()), &mut PodRun::default(), NOW).phase;
    assert_eq!(phase(&back, &unstarted), UpdatePhase::Done);
    assert!(waits(&phase(&back, &taken)), "{:?}", phase(&back, &taken));
    assert!(waits(&phase(&goal(), &unstarted)), "forward, the image is not proven before it runs");
}

/// An init container that crashes keeps the others from beginning: for a container that has not begun nothing has to be
/// restored, once the kubelet has seen the spec.
#[test]
fn what_waits_for_an_init_container_is_back_once_the_kubelet_knows() {
    let mut waiting = patched_pod();
    let state = ContainerState { waiting: Some(Waiting::default()), ..ContainerState::default() };
    waiting.status.container_statuses =
        vec![ContainerStatus { name: "side".into(), state, ..ContainerStatus::default() }];
    let condition = |kind: &str| Condition { kind: kind.into(), status: "False".into(), ..Condition::default() };
    waiting.status.conditions = vec![condition("Initialized"), condition("Ready")];
    waiting.status.observed_generation = waiting.generation;
    let mut back = goal();
    Arc::make_mut(&mut back.pods[0]).containers.values_mut().for_each(|container| container.goes_back = true);
    let phase = |goal: &Goal, pod: &Pod| judged_as(goal, Some(pod.clone()), &mut PodRun::default(), NOW).phase;
    assert_eq!(phase(&back, &waiting), UpdatePhase::Done);
    let is_waited_for = |phase: &UpdatePhase| matches!(phase, UpdatePhase::Restarting { .. });
    assert!(is_waited_for(&phase(&goal(), &waiting)), "forward, the image is not proven before it runs");
    for change in [
        (|pod: &mut Pod| pod.status.observed_generation = Some(0)) as fn(&mut Pod),
        |pod| pod.status.conditions.remove(0).status.clear(),
        |pod| pod.status.container_statuses[0].restart_count = 1,
    ] {
        let mut other = waiting.clone();
        change(&mut other);
        assert!(is_waited_for(&phase(&back, &other)), "{:?}", phase(&back, &other));
    }
}

#[test]
fn what_is_followed_need_not_hold_again_for_as_long_as_it_was_ready() {
    let mut goal = goal();
    Arc::make_mut(&mut goal.pods[0])
        .containers
        .values_mut()
        .for_each(|container| *container = ContainerGoal { restarts: true, ..Default::default() });
    let phase = |goal: &Goal, started: &str, turned: &str| {
        let mut pod = old_pod();
        pod.image_set.insert("side".into(), ImageSet { manager: "m".into(), time: pod.created.clone() });
        let running = Running { started_at: Some(started.into()) };
        pod.status.container_statuses[0].state.running = Some(running);
        pod.status.conditions[0].last_transition_time = Some(turned.into());
        judged_as(goal, Some(pod), &mut PodRun::default(), NOW).phase
    };
    let settling = UpdatePhase::Stabilizing { hold_seconds: 5 };
    let (old, at) = ("2026-01-01T00:00:01Z", |second: &str| format!("2026-01-01T01:00:{second}Z"));
    for (read_at, started, turned, expected) in [
        (Some(at("10")), old.to_owned(), old.to_owned(), UpdatePhase::Done),
        (Some(at("10")), at("04"), old.to_owned(), UpdatePhase::Done),
        (Some(at("10")), at("05"), old.to_owned(), settling.clone()),
        (Some(at("10")), old.to_owned(), at("05"), settling.clone()),
        (Some(at("10")), old.to_owned(), at("30"), settling.clone()),
        (None, old.to_owned(), old.to_owned(), settling.clone()),
    ] {
        goal.follows = Some(Follow { read_at: read_at.clone(), held_by: None });
        assert_eq!(phase(&goal, &started, &turned), expected, "{read_at:?} {started} {turned}");
    }
    // A run that acts has its own canary.
    goal.follows = None;
    assert_eq!(phase(&goal, old, old), settling);
}

#[test]
fn a_pod_that_no_node_takes_says_so() {
    let mut pod = patched_pod();
    pod.status.container_statuses.clear();
    let message = Some("0/1 nodes are available".into());
    pod.status.conditions =
        vec![Condition { kind: "PodScheduled".into(), status: "False".into(), message, ..Condition::default() }];
    let UpdatePhase::Restarting { waiting, .. } = judged(Some(pod), &mut PodRun::default(), NOW).phase else {
        panic!()
    };
    assert_eq!(waiting.as_deref(), Some("not scheduled: 0/1 nodes are available"));
}

#[test]
fn what_has_ended_and_is_not_explained_says_how_it_ended() {
    // A stop is what the update asks for.
    for (exit_code, reported) in [(143, None), (3, Some(3))] {
        let mut status = running("containerd://old", "sha256:a");
        let ended = Terminated { exit_code, ..Terminated::default() };
        status.state = ContainerState { terminated: Some(ended), ..ContainerState::default() };
        let (goal, pod) = (goal(), with_status(patched_pod(), status));
        let back_off = |is_unexplained| crate::rollout::progress::back_off(&goal.pods[0], &pod, is_unexplained);
        assert_eq!(back_off(true).map(|it| (it.until, it.exit_code)), Some((None, reported)));
        assert_eq!(back_off(false), None, "the kubelet says what it waits for");
    }
}
