//! What proves that a container is new, row by row.

use std::collections::BTreeMap;

use super::*;
use crate::k8s::names::PodKey;
use crate::k8s::pod::{Container, ContainerState, PodSpec, PodStatus, Running, Terminated};
use crate::state::record::UPDATE_ANNOTATION;

const BEFORE: &str = "registry.example/side:v1";
const WANTED: &str = "registry.example/side:v2";
const SET_AT: &str = "2026-03-01T10:00:05Z";

fn record() -> ContainerRecord {
    ContainerRecord {
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
    }
}

fn update(containers: BTreeMap<ContainerName, ContainerRecord>) -> UpdateRecord {
    let pod = Pod::from_object(&serde_json::json!({"metadata": {"name": "p", "namespace": "n", "uid": "u"}})).unwrap();
    UpdateRecord { id: "r".into(), containers, ..UpdateRecord::of_no_update(&pod, "inplace-cli") }
}

fn running(id: &str, image: &str, image_id: &str, started_at: &str) -> ContainerStatus {
    ContainerStatus {
        name: "side".into(),
        image: image.into(),
        image_id: image_id.into(),
        container_id: Some(id.into()).filter(|id: &String| !id.is_empty()),
        state: ContainerState {
            running: Some(Running { started_at: Some(started_at.into()) }),
            ..ContainerState::default()
        },
        ..ContainerStatus::default()
    }
}

fn word(proof: &Proof) -> &'static str {
    match proof {
        Proof::New => "new",
        Proof::Old => "old",
        Proof::Unverified(_) => "unverified",
    }
}

#[test]
fn a_recorded_container_is_new_only_when_its_kubelet_knew() {
    let (late, event) = ("2026-03-01T10:00:09Z", Some("2026-03-01T10:00:08Z"));
    let cases = [
        ("the container from before", "containerd://old", WANTED, "sha256:b", late, true, event, "old"),
        ("no container", "", BEFORE, "sha256:a", late, true, event, "old"),
        ("other bits", "containerd://new", WANTED, "sha256:b", late, false, None, "new"),
        ("a crash before the kubelet knew", "containerd://new", BEFORE, "sha256:a", late, false, None, "unverified"),
        (
            "the same digest, which shows any tag",
            "containerd://new",
            WANTED,
            "sha256:a",
            late,
            false,
            None,
            "unverified",
        ),
        ("the same digest, known", "containerd://new", BEFORE, "sha256:a", late, true, None, "new"),
        ("the same digest, made after the event", "containerd://new", BEFORE, "sha256:a", late, false, event, "new"),
        (
            "the same digest, made before the event",
            "containerd://new",
            BEFORE,
            "sha256:a",
            "2026-03-01T10:00:07Z",
            false,
            event,
            "unverified",
        ),
        ("no imageID, the wanted image", "containerd://new", WANTED, "", late, false, None, "new"),
        ("no imageID, the image from before", "containerd://new", BEFORE, "", late, false, None, "unverified"),
    ];
    for (case, id, image, image_id, started_at, knew, event, expected) in cases {
        let status = running(id, image, image_id, started_at);
        let proof = Baseline::Recorded(record()).proof(&status, WANTED, knew, event);
        assert_eq!(word(&proof), expected, "{case}");
    }
}

#[test]
fn a_container_that_never_was_is_new_unless_it_shows_the_image_from_before() {
    let never = ContainerRecord { container_id: None, image_id: String::new(), ..record() };
    for (image, expected) in [(WANTED, "new"), ("sha256:b", "new"), (BEFORE, "unverified")] {
        let status = running("containerd://first", image, "sha256:b", "2026-03-01T10:00:09Z");
        let proof = Baseline::Recorded(never.clone()).proof(&status, WANTED, false, None);
        assert_eq!(word(&proof), expected, "{image}");
    }
}

#[test]
fn the_way_back_from_an_image_that_never_ran_is_proven_by_the_name_of_the_wanted_one() {
    // The recorded container is the one before that image: its digest is the one that is wanted again.
    let back = |never_ran| ContainerRecord {
        from: "registry.example/side:nope".into(),
        to: WANTED.into(),
        never_ran,
        ..record()
    };
    for (never_ran, image, expected) in [
        (true, WANTED, "new"),
        (true, "registry.example/side:nope", "unverified"),
        (true, "sha256:a", "unverified"),
        (false, WANTED, "unverified"),
    ] {
        let status = running("containerd://new", image, "sha256:a", "2026-03-01T10:00:09Z");
        let proof = Baseline::Recorded(back(never_ran)).proof(&status, WANTED, false, None);
        assert_eq!(word(&proof), expected, "{never_ran} {image}");
    }
}

#[test]
fn the_image_that_was_in_flight_is_not_taken_for_the_one_that_is_wanted() {
    // v1 ran, v2 was asked for and not seen yet, v1 is wanted again: the recorded container is one of v1.
    let (v1, v2, late) = (BEFORE, WANTED, "2026-03-01T10:00:09Z");
    let back =
        Baseline::Recorded(ContainerRecord { from: v2.into(), to: v1.into(), in_flight: Some(v1.into()), ..record() });
    for (case, id, image, bits, knew, expected, left) in [
        ("the one of v2 came", "containerd://new", v2, "sha256:b", false, "unverified", false),
        ("and another one after it", "containerd://newer", v1, "sha256:a", false, "new", false),
        ("another one, of a kubelet that knew", "containerd://newer", "sha256:a", "sha256:a", true, "new", false),
        ("none came", "containerd://old", v1, "sha256:a", false, "old", true),
    ] {
        let status = running(id, image, bits, late);
        assert_eq!(word(&back.proof(&status, v1, knew, Some("2026-03-01T10:00:08Z"))), expected, "{case}");
        assert_eq!(back.was_left(&status, v1), left, "{case}");
    }
    // On to a third image: the old container has to stop.
    let on = ContainerRecord { from: v2.into(), to: "v3".into(), in_flight: Some(v1.into()), ..record() };
    assert!(!Baseline::Recorded(on).was_left(&running("containerd://old", v1, "sha256:a", late), "v3"));
}

#[test]
fn somebody_elses_image_is_proven_by_a_later_start_or_the_event() {
    let (earlier, later) = ("2026-03-01T10:00:04Z", "2026-03-01T10:00:06Z");
    let cases = [
        ("a later start", WANTED, later, false, None, "new"),
        // A sync that was in progress when the image was set has created it from the old image.
        ("a later start of another image", BEFORE, later, false, None, "unverified"),
        ("a later start of another image, an event", BEFORE, later, false, Some(later), "unverified"),
        ("a later start of another name, known", BEFORE, later, true, None, "new"),
        ("an earlier start", BEFORE, earlier, false, None, "old"),
        // Its writer may have written something else since.
        ("an earlier start of the image asked for", WANTED, earlier, false, None, "unverified"),
        ("an earlier start of the image asked for, known", WANTED, earlier, true, None, "new"),
        ("the same second", WANTED, SET_AT, false, None, "unverified"),
        ("the same second, an event", WANTED, SET_AT, false, Some(SET_AT), "new"),
        // The event may be that of the image that was set earlier in that second.
        ("the same second, an event, another image", BEFORE, SET_AT, false, Some(SET_AT), "unverified"),
        ("the same second, an older event", WANTED, SET_AT, false, Some("2026-03-01T09:00:00Z"), "unverified"),
        ("the same second, known", BEFORE, SET_AT, true, None, "new"),
    ];
    let set = ImageSet { manager: "somebody".into(), time: SET_AT.into() };
    for (case, image, started_at, knew, event, expected) in cases {
        let mut status = running("containerd://x", image, "sha256:b", started_at);
        status.restart_count = 1;
        let proof = Baseline::Set(set.clone()).proof(&status, WANTED, knew, event);
        assert_eq!(word(&proof), expected, "{case}");
    }
    let status = running("containerd://x", WANTED, "sha256:b", SET_AT);
    let first = Baseline::Set(set).proof(&status, WANTED, false, Some(SET_AT));
    assert_eq!(word(&first), "unverified", "a pod's first container came after no change");
    for (image, knew, expected) in [(WANTED, false, "new"), (BEFORE, true, "new"), (BEFORE, false, "unverified")] {
        let status = running("containerd://x", image, "sha256:b", SET_AT);
        assert_eq!(word(&Baseline::Unknown.proof(&status, WANTED, knew, Some(SET_AT))), expected, "{image} {knew}");
    }
}

#[test]
fn an_ended_container_is_newer_by_its_id_or_its_start() {
    let set = Baseline::Set(ImageSet { manager: "somebody".into(), time: SET_AT.into() });
    let recorded = Baseline::Recorded(record());
    let cases = [
        (&recorded, Some("containerd://old"), None, Some(false)),
        (&recorded, Some("containerd://new"), None, Some(true)),
        (&recorded, None, Some(SET_AT), None),
        (&set, Some("containerd://x"), Some("2026-03-01T10:00:04Z"), Some(false)),
        (&set, Some("containerd://x"), Some(SET_AT), None),
        (&set, Some("containerd://x"), Some("2026-03-01T10:00:06Z"), Some(true)),
        (&set, Some("containerd://x"), None, None),
        (&Baseline::Unknown, Some("containerd://x"), Some(SET_AT), None),
    ];
    for (baseline, id, started_at, expected) in cases {
        assert_eq!(baseline.is_newer(id, started_at), expected, "{baseline:?} {id:?} {started_at:?}");
    }
}

#[test]
fn a_container_that_the_change_itself_stopped_has_not_crashed() {
    let set = Baseline::Set(ImageSet { manager: "somebody".into(), time: SET_AT.into() });
    let recorded = Baseline::Recorded(record());
    let in_flight = Baseline::Recorded(ContainerRecord { in_flight: Some(BEFORE.into()), ..record() });
    for (case, baseline, id, exit_code, expected) in [
        ("the recorded one", &recorded, "containerd://old", 0, Some(false)),
        ("the new one ended by itself", &recorded, "containerd://new", 0, Some(true)),
        ("the one in flight was stopped", &in_flight, "containerd://new", 0, Some(false)),
        ("the one in flight or the new one crashed", &in_flight, "containerd://new", 3, Some(true)),
        ("stopped, of the second of the change", &set, "containerd://new", 143, Some(false)),
        ("crashed, of the second of the change", &set, "containerd://new", 3, None),
    ] {
        let ended = Terminated {
            exit_code,
            container_id: Some(id.into()),
            started_at: Some(SET_AT.into()),
            ..Terminated::default()
        };
        assert_eq!(baseline.ended_after(&ended), expected, "{case}");
    }
}

#[test]
fn the_record_counts_only_for_the_image_that_it_set() {
    let annotation = |to: &str| {
        let containers = BTreeMap::from([("side".into(), ContainerRecord { to: to.into(), ..record() })]);
        serde_json::to_string(&update(containers)).unwrap_or_default()
    };
    let cases = [
        ("our own patch", annotation(WANTED), Some("inplace-cli"), "recorded"),
        ("our own patch, under the earlier name", annotation(WANTED), Some("kubectl-inplace"), "recorded"),
        ("no managedFields", annotation(WANTED), None, "recorded"),
        ("set again by somebody else", annotation(WANTED), Some("somebody"), "set"),
        ("a record of another image", annotation("registry.example/side:v0"), Some("inplace-cli"), "set"),
        ("a record of another image, no managedFields", annotation("registry.example/side:v0"), None, "unknown"),
        ("an annotation that is none", "{}".into(), None, "unknown"),
    ];
    for (case, annotation, manager, expected) in cases {
        let set = manager.map(|manager| ImageSet { manager: manager.into(), time: SET_AT.into() });
        let container = Container { name: "side".into(), image: WANTED.into(), ..Container::default() };
        let pod = Pod {
            key: PodKey { namespace: "prod".into(), name: "web-0".into(), uid: "uid".into() },
            created: "2026-01-01T00:00:00Z".into(),
            resource_version: 1,
            generation: None,
            labels: BTreeMap::new(),
            annotations: [(UPDATE_ANNOTATION.to_owned(), annotation)].into(),
            owners: Vec::new(),
            terminating: false,
            image_set: set.map(|set| ("side".into(), set)).into_iter().collect(),
            tracked: false,
            resized: BTreeMap::new(),
            gate_writers: Default::default(),
            spec: PodSpec { containers: vec![container], ..PodSpec::default() },
            status: PodStatus::default(),
            memo: Default::default(),
        };
        let found = match Baseline::of(&pod, &"side".into()) {
            Baseline::Recorded(_) => "recorded",
            Baseline::Set(_) => "set",
            Baseline::Created => "created",
            Baseline::Unknown => "unknown",
        };
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn a_pod_that_nobody_changed_runs_what_it_was_created_with() {
    let pod = |generation: i64, set: &str| {
        let managed = serde_json::json!([{"manager": "kubectl", "time": set, "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}]);
        let object = serde_json::json!({"metadata": {"name": "p", "generation": generation, "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": managed},
            "spec": {"containers": [{"name": "side", "image": WANTED}]}});
        Baseline::of(&Pod::from_object(&object).expect("a pod"), &"side".into())
    };
    assert_eq!(pod(1, "2026-01-01T00:00:00Z"), Baseline::Created);
    // Another container of it may have changed since.
    assert_eq!(pod(2, "2026-01-01T00:00:00Z"), Baseline::Created);
    // Born before 1.33 with generation 0, and changed once since.
    assert!(matches!(pod(1, "2026-01-02T00:00:00Z"), Baseline::Set(_)));
}

/// A pod whose container came after another one, which ended so. `manager` set the image.
fn restarted(record: Option<ContainerRecord>, restarts: i64, ended: (i64, &str, &str), started_at: &str) -> Pod {
    let (exit_code, reason, finished_at) = ended;
    let record = record.map(|record| update([("side".into(), record)].into()));
    let annotations = record.map(|record| (UPDATE_ANNOTATION.to_owned(), serde_json::to_string(&record).unwrap()));
    let mut status = running("containerd://new", BEFORE, "sha256:a", started_at);
    status.restart_count = restarts;
    status.last_state.terminated = Some(Terminated {
        exit_code,
        reason: reason.into(),
        finished_at: Some(finished_at.into()),
        container_id: Some("containerd://old".into()),
        ..Terminated::default()
    });
    let container = Container { name: "side".into(), image: WANTED.into(), ..Container::default() };
    Pod {
        key: PodKey { namespace: "prod".into(), name: "web-0".into(), uid: "uid".into() },
        created: "2026-01-01T00:00:00Z".into(),
        resource_version: 1,
        generation: Some(2),
        labels: BTreeMap::new(),
        annotations: annotations.into_iter().collect(),
        owners: Vec::new(),
        terminating: false,
        image_set: [("side".into(), ImageSet { manager: "inplace-cli".into(), time: SET_AT.into() })].into(),
        tracked: false,
        resized: BTreeMap::new(),
        gate_writers: Default::default(),
        spec: PodSpec { containers: vec![container], ..PodSpec::default() },
        status: PodStatus { container_statuses: vec![status], ..PodStatus::default() },
        memo: Default::default(),
    }
}

#[test]
fn a_restart_after_the_patch_is_evidence_where_nothing_else_could_have_caused_it() {
    let (stopped, started) = ("2026-03-01T10:00:06Z", "2026-03-01T10:00:07Z");
    let noted = |change: fn(&mut ContainerRecord)| {
        let mut record = record();
        change(&mut record);
        Some(record)
    };
    let as_it_is = || noted(|_| {});
    let cases = [
        ("stopped by SIGTERM", as_it_is(), 1, (143, "Error", stopped), started, true),
        ("stopped, and ended well", as_it_is(), 1, (0, "Completed", stopped), started, true),
        ("stopped by SIGKILL", as_it_is(), 1, (137, "Error", stopped), started, true),
        ("the second after the patch", as_it_is(), 2, (143, "Error", stopped), started, true),
        ("somebody else's image in the same second", None, 1, (143, "Error", SET_AT), SET_AT, true),
        ("a crash", as_it_is(), 1, (3, "Error", stopped), started, false),
        ("out of memory", as_it_is(), 1, (137, "OOMKilled", stopped), started, false),
        ("no restart", as_it_is(), 0, (143, "Error", stopped), started, false),
        ("stopped before the patch", as_it_is(), 1, (143, "Error", "2026-03-01T10:00:04Z"), started, false),
        ("an older record", noted(|record| record.restarts = None), 1, (143, "Error", stopped), started, false),
        ("in flight", noted(|record| record.in_flight = Some("v1".into())), 1, (143, "Error", stopped), started, false),
        (
            "the container of before",
            noted(|record| record.container_id = Some("containerd://new".into())),
            1,
            (143, "Error", stopped),
            started,
            false,
        ),
        ("the first container of a pod", None, 0, (143, "Error", stopped), started, false),
    ];
    for (case, record, restarts, ended, started_at, expected) in cases {
        let is_theirs = record.is_none();
        let mut pod = restarted(record, restarts, ended, started_at);
        pod.status.container_statuses[0].image = WANTED.into();
        let found = rests_on_restart(&pod, &"side".into());
        assert_eq!(found.is_some(), expected, "{case}: {found:?}");
        // Of somebody else's image it may be the one that was asked for before.
        pod.status.container_statuses[0].image = BEFORE.into();
        let found = rests_on_restart(&pod, &"side".into());
        assert_eq!(found.is_some(), expected && !is_theirs, "{case}, another image: {found:?}");
    }
    let reported = rests_on_restart(&restarted(as_it_is(), 1, (143, "Error", stopped), started), &"side".into());
    assert_eq!(
        reported.unwrap_or_default(),
        "it started at 2026-03-01T10:00:07Z, the image was set at 2026-03-01T10:00:05Z, its restart count rose from 0 to 1, \
         and the container before it was stopped at 2026-03-01T10:00:06Z (exit code 143); no event of the kubelet tells more"
    );
}

/// The next write of the same field manager, such as a note that another run has taken the pod over, sets the time in
/// the managed fields to one after the restart.
#[test]
fn a_later_write_of_the_field_manager_takes_no_evidence_away() {
    let (stopped, started, later) = ("2026-03-01T10:00:06Z", "2026-03-01T10:00:07Z", "2026-03-01T10:05:00Z");
    let name = ContainerName::from("side");
    let mut pod = restarted(Some(record()), 1, (143, "Error", stopped), started);
    assert_eq!(UpdateRecord::set_at(&pod, &name).as_deref(), Some(SET_AT));
    // The write keeps this of the record.
    let kept = UpdateRecord { owes_after_pod: true, ..UpdateRecord::complete(&pod).expect("a record") };
    pod.image_set.insert(name.clone(), ImageSet { manager: "inplace-cli".into(), time: later.into() });
    assert_eq!(rests_on_restart(&pod, &name), None, "without a note the time is the later one");
    pod.annotations.insert(UPDATE_ANNOTATION.into(), serde_json::to_string(&kept).unwrap());
    assert_eq!(UpdateRecord::set_at(&pod, &name).as_deref(), Some(SET_AT));
    assert!(rests_on_restart(&pod, &name).is_some_and(|rests_on| rests_on.contains(SET_AT)));
    // Another writer's image does not belong to the record.
    pod.image_set.insert(name.clone(), ImageSet { manager: "kubectl-set".into(), time: later.into() });
    assert_eq!(UpdateRecord::set_at(&pod, &name).as_deref(), Some(later));
}

/// The record is gone, and the note that another run has taken the pod over has the field manager that set the image.
#[test]
fn a_note_on_a_pod_without_a_record_keeps_the_time_that_it_moves() {
    let (started, later) = ("2026-03-01T10:00:07Z", "2026-03-01T10:05:00Z");
    let name = ContainerName::from("side");
    let set = |manager: &str, time: &str| ImageSet { manager: manager.into(), time: time.into() };
    let mut pod = restarted(None, 1, (143, "Error", "2026-03-01T10:00:06Z"), started);
    pod.image_set.insert(name.clone(), set("inplace-cli", SET_AT));
    let note = UpdateRecord::of_no_update(&pod, "inplace-cli");
    pod.image_set.insert(name.clone(), set("inplace-cli", later));
    pod.annotations.insert(UPDATE_ANNOTATION.into(), serde_json::to_string(&note).unwrap());
    assert_eq!(Baseline::of(&pod, &name), Baseline::Set(set("inplace-cli", SET_AT)));
    let again = UpdateRecord::complete(&pod).expect("a note");
    assert_eq!(again.set_at, note.set_at, "kept by the next note as well");
    pod.image_set.insert(name.clone(), set("kubectl-set", later));
    assert_eq!(Baseline::of(&pod, &name), Baseline::Set(set("kubectl-set", later)), "set by another since");
    assert!(UpdateRecord::of_no_update(&pod, "inplace-cli").set_at.is_empty(), "its time does not move");
}

/// Two containers, of which `side` alone is in doubt: its writer wrote once more after it had started.
fn left_alone(observed: Option<i64>) -> Pod {
    let mut pod = restarted(None, 0, (143, "Error", SET_AT), "2026-03-01T10:00:04Z");
    pod.status.container_statuses[0].image = WANTED.into();
    pod.status.observed_generation = observed;
    let mut app = running("containerd://app", "registry.example/app:v2", "sha256:app", "2026-03-01T10:00:07Z");
    app.name = "app".into();
    pod.status.container_statuses.push(app);
    let app = Container { name: "app".into(), image: "registry.example/app:v2".into(), ..Container::default() };
    pod.spec.containers.push(app);
    let set = ImageSet { manager: "inplace-cli".into(), time: SET_AT.into() };
    pod.image_set.insert("app".into(), set);
    pod
}

#[test]
fn what_the_kubelet_lets_be_for_as_long_as_a_stop_takes_is_what_is_asked_for() {
    let name = ContainerName::from("side");
    let hold = |pod: &Pod, pulled: Option<&str>| hold_seconds(pod, &name, pulled);
    let mut pod = left_alone(Some(2));
    assert_eq!(hold(&pod, None), Some(40), "the default grace period and a start");
    pod.spec.termination_grace_period_seconds = Some(5);
    assert_eq!(hold(&pod, None), Some(15));
    // The other one may have to be stopped first.
    pod.status.container_statuses[1].state.running = Some(Running { started_at: Some(SET_AT.into()) });
    assert_eq!(hold(&pod, None), Some(20));
    for unseen in [None, Some(1)] {
        assert_eq!(hold(&left_alone(unseen), None), None, "the kubelet has not seen it, or does not say so");
    }
    // A status shows the old container for as long as the pull of the next one takes.
    pod.status.container_statuses[0].image = BEFORE.into();
    assert_eq!(hold(&pod, None), None);
    for (started, pulled, expected) in [
        ("2026-03-01T10:00:07Z", "2026-03-01T10:00:06Z", Some(10)),
        ("2026-03-01T10:00:07Z", "2026-03-01T10:00:04Z", None),
        ("2026-03-01T10:00:07Z", "2026-03-01T10:00:08Z", None),
    ] {
        pod.status.container_statuses[0].state.running = Some(Running { started_at: Some(started.into()) });
        assert_eq!(hold(&pod, Some(pulled)), expected, "{started} {pulled}");
        pod.status.observed_generation = None;
        assert_eq!(
            hold(&pod, Some(pulled)),
            expected,
            "{started} {pulled}, of a kubelet that does not say what it has seen"
        );
    }
    // A sidecar is compared once it has started.
    let mut pod = left_alone(Some(2));
    pod.spec.init_containers.push(pod.spec.containers.remove(0));
    pod.spec.init_containers[0].restart_policy = Some("Always".into());
    pod.status.init_container_statuses.push(pod.status.container_statuses.remove(0));
    for (started, expected) in [(None, None), (Some(false), None), (Some(true), Some(40))] {
        pod.status.init_container_statuses[0].started = started;
        assert_eq!(hold(&pod, None), expected, "{started:?}");
    }
}

/// A way back from a container that crashes begins where the rollout has stopped the old one.
#[test]
fn a_container_is_down_since_its_rollout_has_stopped_it_until_one_has_stayed() {
    let at = |second: u32| format!("2026-03-01T10:00:{second:02}Z");
    let pod = |id: &str, count: i64, ended: (&str, u32, u32), running: bool, noted: Option<String>| {
        let record = ContainerRecord { down_since: noted, ..record() };
        let record = serde_json::json!({"id": id, "manager": "m", "containers": {"side": record}});
        let (container, from, to) = ended;
        let state = match running {
            true => serde_json::json!({"running": {"startedAt": at(to + 1)}}),
            false => serde_json::json!({"waiting": {"reason": "CrashLoopBackOff"}}),
        };
        let ready = running && to != 9;
        Pod::from_object(&serde_json::json!({
            "metadata": {"name": "web-0", "namespace": "prod", "uid": "u", "annotations": {UPDATE_ANNOTATION: record.to_string()},
                "managedFields": [{"manager": "m", "operation": "Update", "time": SET_AT,
                    "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}]},
            "spec": {"containers": [{"name": "side", "image": WANTED}]},
            "status": {"containerStatuses": [{"name": "side", "containerID": "containerd://x", "restartCount": count,
                "state": state, "ready": ready, "lastState": {"terminated": {"exitCode": 3, "containerID": container,
                    "startedAt": at(from), "finishedAt": at(to)}}}]}}))
        .unwrap()
    };
    let (old, crashed) = ("containerd://old", "containerd://crashed");
    let set = Some(SET_AT.to_owned());
    for (what, pod, expected) in [
        ("no image could be pulled", pod("r", 0, (old, 0, 7), false, None), Some(at(7))),
        ("it crashes", pod("r", 3, (crashed, 20, 21), false, None), set.clone()),
        ("it crashes, and runs just now", pod("r", 3, (crashed, 20, 21), true, None), set),
        ("down before that", pod("r", 3, (crashed, 20, 21), false, Some(at(1))), Some(at(1))),
        ("it runs", pod("r", 1, (old, 0, 7), true, None), None),
        ("it runs, and is not ready", pod("r", 1, (old, 0, 9), true, None), Some(at(9))),
        ("it had stayed", pod("r", 1, (crashed, 8, 50), false, None), None),
        ("another rollout's", pod("other", 3, (crashed, 20, 21), false, None), None),
    ] {
        assert_eq!(down_since(&pod, &"side".into(), &"r".into()), expected, "{what}");
    }
}
