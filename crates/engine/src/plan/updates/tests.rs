//! What is recorded on a workload, row by row; and records that were edited.

use serde_json::{Value, json};

use super::*;
use crate::change::{Change, TemplateImage};
use crate::k8s::workload::Workload;
use crate::kinds::WorkloadKind;
use crate::plan::Denied;
use crate::plan::assemble::{Objects, assemble};

fn entry(id: &str, outcome: EndResult) -> HistoryEntry {
    let (from, to) = ("acme/side:v1".to_owned(), "acme/side:v2".to_owned());
    let image = TemplateImage { from, to, ..TemplateImage::default() };
    let rollout = Rollout {
        id: id.into(),
        who: "jane".into(),
        since: "2026-03-01T10:00:00Z".into(),
        reason: Some("CVE".into()),
        change: Change { images: [("side".into(), image)].into(), ..Change::default() },
        digests: [("side".into(), "sha256:a".into())].into(),
        ..Rollout::default()
    };
    HistoryEntry { rollout, ended: "2026-03-01T10:01:30Z".into(), ended_by: None, outcome, replaced_by: None }
}

fn lock() -> Value {
    json!({"id": "20260301-120000-000000", "run": "r", "who": "joe", "since": "2026-03-01T12:00:00Z", "version": "0.1.0",
        "state": "stopped", "direction": "back",         "change": {"images": {"side": {"from": "acme/side:v2", "to": "acme/side:v3"}}},
        "digests": {"side": "sha256:b"},
        "policy": {"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": null,
            "totalTimeout": null, "ordered": false}})
}

fn annotated(name: &str, annotations: &Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "prod", "uid": name, "annotations": annotations}})
}

fn pod(name: &str, record: &Value) -> Pod {
    let record = record.as_str().map_or_else(|| record.to_string(), str::to_owned);
    let mut pod = annotated(name, &json!({UPDATE_ANNOTATION: record}));
    pod["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "web-a", "uid": "rs", "controller": true}]);
    Pod::from_object(&pod).unwrap()
}

fn record(id: &str, from: &str, digest: &str) -> Value {
    json!({"id": id, "manager": "inplace-cli", "containers": {"side": {"from": from, "to": "acme/side:v9", "imageID": digest}}})
}

fn live(owner: Value, owned: Vec<Value>, pods: Vec<Pod>) -> Snapshot {
    let workload = Workload::from_object(WorkloadKind::Deployment, owner).unwrap();
    let mut live = assemble(workload, Objects { pods, ..Objects::default() });
    live.controllers = [Uid::from("rs")].into();
    live.surroundings.owned = owned;
    live
}

fn history(entries: &[HistoryEntry]) -> Value {
    json!({HISTORY_ANNOTATION: history::to_text(entries)})
}

#[test]
fn the_newest_is_last_and_what_is_in_progress_last_of_all() {
    let mut owner = annotated("web", &history(&[entry("20260301-100000-000000", EndResult::Complete)]));
    owner["metadata"]["annotations"][ROLLOUT_ANNOTATION] = lock().to_string().into();
    let earlier =
        HistoryEntry { ended: "2026-03-01T09:01:30Z".into(), ..entry("20260301-090000-000000", EndResult::Failed) };
    let set = annotated("web-a", &history(&[earlier]));
    let pods = vec![
        pod("p2", &record("20260301-110000-000000", "acme/side:v1", "sha256:a")),
        pod("p1", &record("20260301-110000-000000", "acme/side:v1", "sha256:a")),
        pod("p3", &record("20260301-110000-000000", "acme/side:v2", "sha256:b")),
        pod("p4", &record("20260301-100000-000000", "acme/side:v1", "sha256:a")),
        pod("p5", &record("20260301-120000-000000", "acme/side:v1", "sha256:a")),
    ];
    let found = updates(&live(owner, vec![set], pods));
    let reported: Vec<(&str, &Course)> =
        found.updates.iter().map(|update| (update.id.as_str(), &update.course)).collect();
    assert_eq!(
        reported,
        [
            ("20260301-090000-000000", &Course::Ended(EndResult::Failed)),
            ("20260301-100000-000000", &Course::Ended(EndResult::Complete)),
            ("20260301-110000-000000", &Course::PodsOnly { pods: vec!["p1".into(), "p2".into(), "p3".into()] }),
            (
                "20260301-120000-000000",
                &Course::UnderWay { state: LockState::Stopped, direction: Direction::Back, is_left: false }
            ),
        ]
    );
    assert!(found.unreadable.is_empty());
    let [_, ended, of_pods, under_way] = found.updates.as_slice() else { panic!("four updates") };
    assert_eq!((ended.seconds(), ended.who.as_deref(), ended.reason.as_deref()), (Some(90), Some("jane"), Some("CVE")));
    assert_eq!((of_pods.began.as_deref(), of_pods.who.as_deref()), (Some("2026-03-01T11:00:00Z"), None));
    let images: Vec<_> = of_pods.images.iter().map(|image| (image.from.as_str(), image.image_id.as_deref())).collect();
    assert_eq!(images, [("acme/side:v1", Some("sha256:a")), ("acme/side:v2", Some("sha256:b"))]);
    assert_eq!(under_way.images.first().and_then(|image| image.image_id.as_deref()), Some("sha256:b"));
    assert_eq!((under_way.who.as_deref(), under_way.seconds()), (Some("joe"), None));
}

#[test]
fn what_cannot_be_read_is_named() {
    for text in ["edited", "{}", "[{\"id\":1}]", "null", "[{\"id\":\"x\"}]"] {
        let owner = annotated("web", &json!({HISTORY_ANNOTATION: text, ROLLOUT_ANNOTATION: text}));
        let set = annotated("web-a", &json!({HISTORY_ANNOTATION: text}));
        let found = updates(&live(owner, vec![set], vec![pod("p1", &text.into())]));
        let named: Vec<(&str, &str)> =
            found.unreadable.iter().map(|note| (note.object.as_str(), note.annotation)).collect();
        let expected = [
            ("deployment/web", HISTORY_ANNOTATION),
            ("replicaset/web-a", HISTORY_ANNOTATION),
            ("deployment/web", ROLLOUT_ANNOTATION),
            ("pod/p1", UPDATE_ANNOTATION),
        ];
        assert_eq!((named.as_slice(), found.updates.len()), (expected.as_slice(), 0), "{text}");
    }
}

#[test]
fn a_pods_note_older_than_a_full_history_is_left_out() {
    let entries: Vec<HistoryEntry> =
        (10..10 + KEPT).map(|minute| entry(&format!("20260301-10{minute}00-000000"), EndResult::Complete)).collect();
    let pods = || vec![pod("p1", &record("20260301-090000-000000", "acme/side:v1", ""))];
    let full = updates(&live(annotated("web", &history(&entries)), Vec::new(), pods()));
    assert_eq!(full.updates.len(), KEPT);
    let fewer = updates(&live(annotated("web", &history(&entries[1..])), Vec::new(), pods()));
    assert_eq!(fewer.updates.len(), KEPT);
    assert_eq!(fewer.updates[0].course, Course::PodsOnly { pods: vec!["p1".into()] });
    assert_eq!(fewer.updates[0].images[0].image_id, None);
}

#[test]
fn others_pods_say_nothing_unless_nobody_may_know_whose_they_are() {
    let mut other = pod("p1", &record("20260301-090000-000000", "acme/side:v1", ""));
    other.owners.clear();
    let mut seen = live(annotated("web", &json!({})), Vec::new(), vec![other]);
    assert!(updates(&seen).updates.is_empty());
    let denied = Denied { verb: "list".into(), resource: "replicasets.apps".into(), message: "no".into(), role: None };
    seen.surroundings.denied.push(denied);
    let found = updates(&seen);
    assert_eq!((found.updates.len(), found.not_read.len()), (1, 1));
}

#[test]
fn the_time_of_an_id_is_read_and_a_strange_one_is_none() {
    let time = |id: &str| began(&id.into());
    assert_eq!(time("20260301-101500-00ab12").as_deref(), Some("2026-03-01T10:15:00Z"));
    for strange in
        ["", "x", "20260301", "20260301-101500", "20261399-101500-0", "2026\u{e9}01-101500-0", "20260301-10150-0"]
    {
        assert_eq!(time(strange), None, "{strange}");
    }
    let mut update = of_entry(entry("a", EndResult::Complete));
    for (began, seconds) in [("2026-03-01T10:01:30Z", Some(0)), ("2026-03-01T10:01:31Z", None), ("yesterday", None)] {
        update.began = Some(began.into());
        assert_eq!(update.seconds(), seconds, "{began}");
    }
}
