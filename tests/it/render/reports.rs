//! The failure report in text and JSON: as its snapshots say, and harmless.

use std::time::Duration;

use engine::k8s::events::Event;
use engine::report::failure_report::{FailedPod, FailureReport, Instance, Log, Moment};
use engine::report::progress::UpdatePhase;
use engine::state::outcome::EndResult;
use kubectl_inplace::render::{JsonLines, Lines, Listener};

use super::plans::{HOSTILE, key, workload};
use super::{Bytes, PLAIN, next_steps, rollouts};
use crate::support::snapshot::assert_snapshot;

fn report(words: &str) -> FailureReport {
    let event = |reason: &str, count| Event {
        uid: "uid".into(),
        container: Some("side".into()),
        kind: "Warning".into(),
        reason: reason.into(),
        message: format!("{words} happened"),
        time: "2026-11-05T10:15:02Z".into(),
        first_time: (count > 1).then(|| "2026-11-05T10:14:21Z".into()),
        count,
    };
    let moment = |tenths: u64, phase| Moment { at: Duration::from_millis(tenths * 100), phase };
    let crashed = FailedPod {
        pod: key("web-6b867cfc99-2x7kq"),
        node: Some("node-a".into()),
        container: Some("side".into()),
        image: Some("acme/side:1.27.2".into()),
        reason: "CrashLoopBackOff".into(),
        message: format!("back-off {words}"),
        exit_code: Some(137),
        signal: Some(9),
        restarts: Some(2),
        restarts_since_update: Some(2),
        failed_before: Some("CrashLoopBackOff".into()),
        log: Some(Log { instance: Instance::Previous, lines: vec!["starting".into(), words.into()] }),
        events: vec![event("Killing", 1), event("BackOff", 3)],
        time_line: vec![
            moment(0, UpdatePhase::Patched),
            moment(61, UpdatePhase::Starting { containers: vec!["side".into()] }),
        ],
        not_read: vec![],
    };
    let late = FailedPod {
        pod: key("web-6b867cfc99-b9t4z"),
        node: None,
        container: None,
        image: None,
        reason: "TimedOut".into(),
        message: "timed out waiting for the condition".into(),
        exit_code: None,
        signal: None,
        restarts: None,
        restarts_since_update: None,
        failed_before: None,
        log: None,
        events: vec![],
        time_line: vec![],
        not_read: vec![format!("its events: {words}")],
    };
    FailureReport { workload: workload(), pods: vec![crashed, late], left_out: 2 }
}

fn written(words: &str) -> [String; 2] {
    let rollout = rollouts::samples().remove(0);
    let [text, json] = [Bytes::default(), Bytes::default()];
    let mut lines = Lines::new(&PLAIN, Box::new(text.clone()), Box::new(Bytes::default()));
    let mut json_lines = JsonLines::new(Box::new(json.clone()));
    for listener in [&mut lines as &mut dyn Listener, &mut json_lines] {
        listener.start(&rollout.goal, &next_steps()).unwrap();
        listener.outcome(&rollouts::ended(EndResult::Failed).outcome, Some(&report(words))).unwrap();
    }
    [text.text(), json.text()]
}

#[test]
fn the_failure_report_is_written_as_its_snapshots_say() {
    let [text, json] = written("restarting");
    assert_snapshot("failure-report-text", &text);
    let line = json.lines().rev().nth(1).unwrap();
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&value["type"], &value["version"]), (&"failureReport".into(), &"v1alpha1".into()));
    assert_snapshot("failure-report-json", &serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn nothing_hostile_comes_out_of_a_failure_report() {
    for text in written(HOSTILE) {
        let hostile = text.chars().find(|c| (c.is_control() && *c != '\n') || ['\u{202e}', '\u{200b}'].contains(c));
        assert_eq!(hostile, None, "{text}");
        assert!(text.lines().all(|line| !line.starts_with("FORGED")), "{text}");
    }
}

/// Another run has closed the rollout while pods of this one were in progress.
#[test]
fn what_another_run_has_finished_is_not_called_nothing() {
    for (result, heading) in [(EndResult::Complete, "Complete in 12.3 s."), (EndResult::Aborted, "Rolled back: ")] {
        let mut outcome = rollouts::ended(EndResult::Interrupted).outcome;
        outcome.result = result;
        outcome.pods.remove(0);
        let out = Bytes::default();
        let mut lines = Lines::new(&PLAIN, Box::new(out.clone()), Box::new(Bytes::default()));
        lines.start(&rollouts::ended(result).goal, &next_steps()).unwrap();
        lines.outcome(&outcome, None).unwrap();
        let text = out.text();
        let others = " Another run of this rollout finished 2 pods; 1 of them this run had patched. ";
        let restarted = "Restarted as planned: not seen to its end by this run; nothing else restarted in this run; ";
        assert!(text.contains(heading) && text.contains(&format!("{others}{restarted}")), "{text}");
        assert!(!text.contains("Updated 0 pods"), "{text}");
    }
}

#[test]
fn what_failed_alike_is_said_once_of_the_pods() {
    let mut report = report("words");
    let mut crashed = report.pods.remove(0);
    let kubelet = |pod: &FailedPod| format!("back-off 10s restarting pod={}_prod({})", pod.pod.name, pod.pod.uid);
    crashed.message = kubelet(&crashed);
    let mut alike = FailedPod { pod: key("web-6b867cfc99-hx2lp"), node: Some("node-b".into()), ..crashed.clone() };
    alike.message = kubelet(&alike);
    let other = FailedPod { pod: key("web-6b867cfc99-other"), exit_code: Some(1), ..alike.clone() };
    report.pods = vec![crashed, other, alike];
    let rollout = rollouts::samples().remove(0);
    let out = Bytes::default();
    let mut lines = Lines::new(&PLAIN, Box::new(out.clone()), Box::new(Bytes::default()));
    lines.start(&rollout.goal, &next_steps()).unwrap();
    lines.outcome(&rollouts::ended(EndResult::Failed).outcome, Some(&report)).unwrap();
    let text = out.text();
    let both =
        "pod/web-6b867cfc99-2x7kq, pod/web-6b867cfc99-hx2lp, container side (acme/side:1.27.2), on node-a, node-b\n";
    assert!(text.contains(both) && text.contains("\npod/web-6b867cfc99-other, container side"), "{text}");
    assert_eq!(text.matches("the last 2 lines of the log").count(), 2, "{text}");
    assert!(
        text.contains("  the newest events of pod/web-6b867cfc99-2x7kq:\n") && text.contains("  its newest events:\n")
    );
}
