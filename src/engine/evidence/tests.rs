//! What proves that a container is new, row by row.

use std::collections::BTreeMap;

use super::*;
use crate::engine::names::PodKey;
use crate::engine::pod::{Container, ContainerState, PodSpec, PodStatus, Running};
use crate::engine::record::UPDATE_ANNOTATION;

const BEFORE: &str = "registry.example/side:v1";
const WANTED: &str = "registry.example/side:v2";
const SET_AT: &str = "2026-03-01T10:00:05Z";

fn record() -> ContainerRecord {
    ContainerRecord {
        from: BEFORE.into(),
        to: WANTED.into(),
        image_id: "sha256:a".into(),
        container_id: Some("containerd://old".into()),
        waiting: None,
        never_ran: false,
        in_flight: None,
    }
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
        Proof::Unproven(_) => "unproven",
    }
}

#[test]
fn a_recorded_container_is_new_only_when_its_kubelet_knew() {
    let (late, event) = ("2026-03-01T10:00:09Z", Some("2026-03-01T10:00:08Z"));
    let cases = [
        ("the container from before", "containerd://old", WANTED, "sha256:b", late, true, event, "old"),
        ("no container", "", BEFORE, "sha256:a", late, true, event, "old"),
        ("other bits", "containerd://new", WANTED, "sha256:b", late, false, None, "new"),
        ("a crash before the kubelet knew", "containerd://new", BEFORE, "sha256:a", late, false, None, "unproven"),
        ("the same digest, which shows any tag", "containerd://new", WANTED, "sha256:a", late, false, None, "unproven"),
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
            "unproven",
        ),
        ("no imageID, the wanted image", "containerd://new", WANTED, "", late, false, None, "new"),
        ("no imageID, the image from before", "containerd://new", BEFORE, "", late, false, None, "unproven"),
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
    for (image, expected) in [(WANTED, "new"), ("sha256:b", "new"), (BEFORE, "unproven")] {
        let status = running("containerd://first", image, "sha256:b", "2026-03-01T10:00:09Z");
        let proof = Baseline::Recorded(never.clone()).proof(&status, WANTED, false, None);
        assert_eq!(word(&proof), expected, "{image}");
    }
}

#[test]
fn the_way_back_from_an_image_that_never_ran_is_proven_by_the_name_of_the_wanted_one() {
    // The container noted is the one of before that image: the bits are those that are wanted again.
    let back = |never_ran| ContainerRecord {
        from: "registry.example/side:nope".into(),
        to: WANTED.into(),
        never_ran,
        ..record()
    };
    for (never_ran, image, expected) in [
        (true, WANTED, "new"),
        (true, "registry.example/side:nope", "unproven"),
        (true, "sha256:a", "unproven"),
        (false, WANTED, "unproven"),
    ] {
        let status = running("containerd://new", image, "sha256:a", "2026-03-01T10:00:09Z");
        let proof = Baseline::Recorded(back(never_ran)).proof(&status, WANTED, false, None);
        assert_eq!(word(&proof), expected, "{never_ran} {image}");
    }
}

#[test]
fn the_image_that_was_in_flight_is_not_taken_for_the_one_that_is_wanted() {
    // v1 ran, v2 was asked for and not seen yet, v1 is wanted again: the container noted is one of v1.
    let (v1, v2, late) = (BEFORE, WANTED, "2026-03-01T10:00:09Z");
    let back =
        Baseline::Recorded(ContainerRecord { from: v2.into(), to: v1.into(), in_flight: Some(v1.into()), ..record() });
    for (case, id, image, bits, knew, expected, left) in [
        ("the one of v2 came", "containerd://new", v2, "sha256:b", false, "unproven", false),
        ("and another one after it", "containerd://newer", v1, "sha256:a", false, "new", false),
        ("another one, of a kubelet that knew", "containerd://newer", "sha256:a", "sha256:a", true, "new", false),
        ("none came", "containerd://old", v1, "sha256:a", false, "old", true),
    ] {
        let status = running(id, image, bits, late);
        assert_eq!(word(&back.proof(&status, v1, knew, Some("2026-03-01T10:00:08Z"))), expected, "{case}");
        assert_eq!(back.was_left(&status, v1), left, "{case}");
    }
    // On to a third image: the container from before has to leave.
    let on = ContainerRecord { from: v2.into(), to: "v3".into(), in_flight: Some(v1.into()), ..record() };
    assert!(!Baseline::Recorded(on).was_left(&running("containerd://old", v1, "sha256:a", late), "v3"));
}

#[test]
fn somebody_elses_image_is_proven_by_a_later_start_or_the_event() {
    let cases = [
        ("a later start", "2026-03-01T10:00:06Z", false, None, "new"),
        ("an earlier start", "2026-03-01T10:00:04Z", false, None, "old"),
        ("the same second", SET_AT, false, None, "unproven"),
        ("the same second, an event", SET_AT, false, Some(SET_AT), "new"),
        ("the same second, an older event", SET_AT, false, Some("2026-03-01T09:00:00Z"), "unproven"),
        ("the same second, known", SET_AT, true, None, "new"),
    ];
    let set = ImageSet { manager: "somebody".into(), time: SET_AT.into() };
    for (case, started_at, knew, event, expected) in cases {
        let mut status = running("containerd://x", WANTED, "sha256:b", started_at);
        status.restart_count = 1;
        let proof = Baseline::Set(set.clone()).proof(&status, WANTED, knew, event);
        assert_eq!(word(&proof), expected, "{case}");
    }
    let status = running("containerd://x", WANTED, "sha256:b", SET_AT);
    let first = Baseline::Set(set).proof(&status, WANTED, false, Some(SET_AT));
    assert_eq!(word(&first), "unproven", "a pod's first container came after no change");
    assert_eq!(word(&Baseline::Unknown.proof(&status, WANTED, true, Some(SET_AT))), "unproven");
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
fn the_record_counts_only_for_the_image_that_it_set() {
    let annotation = |to: &str| {
        let containers = BTreeMap::from([("side".into(), ContainerRecord { to: to.into(), ..record() })]);
        serde_json::to_string(&UpdateRecord {
            id: "r".into(),
            manager: "kubectl-inplace".into(),
            containers,
            drained: None,
            later: BTreeMap::new(),
            owes_after_pod: false,
        })
        .unwrap_or_default()
    };
    let cases = [
        ("our own patch", annotation(WANTED), Some("kubectl-inplace"), "recorded"),
        ("no managedFields", annotation(WANTED), None, "recorded"),
        ("set again by somebody else", annotation(WANTED), Some("somebody"), "set"),
        ("a record of another image", annotation("registry.example/side:v0"), Some("kubectl-inplace"), "set"),
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
            gate_writers: Default::default(),
            spec: PodSpec { containers: vec![container], ..PodSpec::default() },
            status: PodStatus::default(),
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
