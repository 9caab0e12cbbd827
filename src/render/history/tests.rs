//! The table and the document of a history.

use serde_json::{Value, json};

use super::*;
use engine::change::Direction;
use engine::change::FieldChanges;
use engine::k8s::names::WorkloadRef;
use engine::kinds::WorkloadKind;
use engine::plan::updates::{UnreadableNote, UpdatedImage};
use engine::state::durable::lock::LockState;
use engine::state::outcome::EndResult;

/// The wall clock.
const NOW: &str = "2026-03-01T10:10:00Z";

fn update(id: &str, course: Course, who: Option<&str>, ended: Option<&str>) -> Update {
    let image = UpdatedImage {
        container: "side".into(),
        from: "acme/side:1.27.1".into(),
        to: "acme/side:1.27.2".into(),
        image_id: None,
    };
    Update {
        id: id.into(),
        course,
        who: who.map(str::to_owned),
        began: Some("2026-03-01T10:00:00Z".into()),
        ended: ended.map(str::to_owned),
        reason: Some("fix \u{1b}[2J".into()),
        images: vec![image],
        fields: FieldChanges::default(),
    }
}

fn workload(updates: Vec<Update>) -> WorkloadUpdates {
    WorkloadUpdates {
        workload: WorkloadRef { kind: WorkloadKind::Deployment, namespace: "prod".into(), name: "web".into() },
        uid: "u".into(),
        updates,
        unreadable: Vec::new(),
        not_read: Vec::new(),
    }
}

fn written(format: DocumentFormat, workloads: &[WorkloadUpdates]) -> String {
    let mut out = Vec::new();
    let commands = |updates: &WorkloadUpdates| {
        vec![("Resume:".to_owned(), format!("kubectl inplace resume {}", updates.workload))]
    };
    history(format, workloads, &HistoryContext { now: NOW, commands: &commands }, &Style::PLAIN, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn how_an_update_of_a_pods_owner_ended_is_in_the_owners_history() {
    let unrecorded = || vec![update("id-1", Course::Unrecorded { pods: vec!["web-1".into()] }, None, None)];
    let mut of_a_pod = workload(unrecorded());
    of_a_pod.workload.kind = WorkloadKind::Pod;
    assert!(written(DocumentFormat::Text, &[of_a_pod]).contains("see its owner's history"));
    assert!(written(DocumentFormat::Text, &[workload(unrecorded())]).contains("not recorded: 1 pod"));
    let late = workload(vec![update("id-1", Course::Ended(EndResult::TimedOut), None, None)]);
    assert!(written(DocumentFormat::Text, &[late]).contains("timed out"));
}

fn samples() -> Vec<WorkloadUpdates> {
    let of_pods = Course::PodsOnly { pods: vec!["web-1".into(), "web-2".into()] };
    let under_way = Course::UnderWay { state: LockState::Paused, direction: Direction::Back, is_left: false };
    let mut full = workload(vec![
        update("id-1", Course::Ended(EndResult::Complete), Some("jane"), Some("2026-03-01T10:01:30Z")),
        update("id-2", of_pods, None, Some("2026-03-01T10:00:00Z")),
        update("id-3", under_way, Some("joe"), None),
    ]);
    full.unreadable.push(UnreadableNote { object: "pod/x\u{7}".into(), annotation: "kubectl-inplace.io/update" });
    full.not_read.push("you may not list pods".into());
    vec![full, workload(Vec::new())]
}

#[test]
fn the_terminal_gets_the_newest_last() {
    let expected = "\
deployment/web  namespace prod

  ID     AGE   TOOK         WHO      CHANGE                             OUTCOME            REASON
  id-1   10m   1 min 30 s   jane     side: 1.27.1 -> 1.27.2   complete           fix ^[[2J
  id-2   10m   <1 s         <none>   side: 1.27.1 -> 1.27.2   pods only: 2 pods  fix ^[[2J
  id-3   10m   <none>       joe      side: 1.27.1 -> 1.27.2   paused, rolling back       fix ^[[2J

  Resume: kubectl inplace resume deployment/web
  not readable: kubectl-inplace.io/update of pod/x^G (made by another version, or edited)
  not read: you may not list pods

deployment/web  namespace prod

  No in-place updates recorded.
";
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let shown = written(DocumentFormat::Text, &samples());
    assert_eq!(words(&shown), words(expected), "{shown}");
    assert!(!shown.contains('\u{1b}') && shown.lines().all(|line| line.trim_end() == line));
}

#[test]
fn a_script_gets_one_document() {
    let text = written(DocumentFormat::Json, &samples());
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&document["apiVersion"], &document["kind"]),
        (&json!("kubectl-inplace.io/v1alpha1"), &json!("History"))
    );
    let first = &document["workloads"][0];
    assert_eq!(
        first["updates"][0],
        json!({"id": "id-1", "course": "ended", "result": "complete", "state": null, "direction": null, "who": "jane",
            "began": "2026-03-01T10:00:00Z", "ended": "2026-03-01T10:01:30Z", "seconds": 90, "reason": "fix \u{1b}[2J",
            "images": [{"container": "side", "from": "acme/side:1.27.1", "to": "acme/side:1.27.2", "imageID": null}]})
    );
    assert_eq!(first["updates"][1]["pods"], json!(["web-1", "web-2"]));
    assert_eq!((&first["updates"][2]["state"], &first["updates"][2]["direction"]), (&json!("paused"), &json!("back")));
    assert_eq!(first["unreadable"][0]["annotation"], "kubectl-inplace.io/update");
}
