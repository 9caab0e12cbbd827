//! The failure report of a real kubelet's failures, and the proof of a rollout that went well.

use std::time::Duration;

use serde_json::Value;

use crate::support::{Namespace, Output, samples};

fn line(output: &Output, kind: &str) -> Value {
    let lines = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = lines.into_iter().find(|line| line["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {output:#?}"))
}

#[test]
fn a_crash_is_reported_with_the_last_words_of_the_container_and_its_events() {
    let namespace = Namespace::new("report-crash");
    let fields = "env: [{name: PASSWORD, value: hunter2}]";
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 2), fields));
    namespace.wait_ready("app=web", 2);
    let output = namespace.inplace(&["apply", "deploy/web", "app=:crash", "--pods-only", "--yes", "-o", "json"]);
    assert_eq!(output.code, 4, "{output:#?}");
    assert!(!output.stdout.contains("hunter2"), "{output:#?}");
    let report = line(&output, "failureReport");
    let pod = &report["pods"][0];
    assert_eq!((pod["container"].as_str(), pod["exitCode"].as_i64()), (Some("app"), Some(3)), "{report:#}");
    assert_eq!(pod["node"], "node-1", "{report:#}");
    assert!(pod["log"]["lines"].as_array().is_some_and(|lines| lines.len() <= 20), "{report:#}");
    assert!(pod["events"].as_array().is_some_and(|events| (1..=8).contains(&events.len())), "{report:#}");
    assert!(pod["timeLine"].as_array().is_some_and(|moments| moments.len() >= 2), "{report:#}");
    assert_eq!(pod["notRead"], serde_json::json!([]), "{report:#}");
}

#[test]
fn a_missing_tag_is_reported_with_the_registrys_words_and_without_a_log() {
    let namespace = Namespace::new("report-missing");
    namespace.apply(&samples::deployment("web", 2));
    namespace.wait_ready("app=web", 2);
    let output = namespace.inplace(&[
        "apply",
        "deploy/web",
        "app=:nope",
        "--pre-pull=never",
        "--pods-only",
        "--yes",
        "-o",
        "json",
    ]);
    assert_eq!(output.code, 4, "{output:#?}");
    let report = line(&output, "failureReport");
    let pod = &report["pods"][0];
    assert!(pod["message"].as_str().is_some_and(|message| message.contains("not found")), "{report:#}");
    assert_eq!(pod["log"], Value::Null, "nothing of the new image ever ran: {report:#}");
    assert!(output.elapsed < Duration::from_secs(30), "{output:#?}");
}

#[test]
fn a_rollout_that_went_well_proves_its_times() {
    let namespace = Namespace::new("report-proof");
    namespace.apply(&samples::deployment("web", 2));
    namespace.wait_ready("app=web", 2);
    let output =
        namespace.inplace(&["apply", "deploy/web", "side=:v2", "--yes", "--min-ready-seconds", "0", "-o", "json"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let summary = line(&output, "summary");
    let proof = &summary["proof"];
    assert_eq!(
        proof["restartedAsPlanned"],
        serde_json::json!([{"container": "side", "pods": 2, "restarts": 2}]),
        "{summary:#}"
    );
    assert_eq!((&proof["restartedNotPlanned"], &proof["replaced"]), (&serde_json::json!([]), &serde_json::json!([])));
    let times = &proof["times"][0];
    assert_eq!((&times["downSeconds"]["pods"], &times["readySeconds"]["pods"]), (&2.into(), &2.into()), "{summary:#}");
    assert!(summary["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{summary:#}");
}
