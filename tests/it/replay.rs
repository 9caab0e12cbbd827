//! Recorded rollouts give the recorded decisions.
//!
//! The files in `tests/recordings` were written by `--record` against a real cluster (1.36.3). Where a decision changes
//! on purpose, they are recorded again: `KUBECTL_INPLACE_RECORDINGS=1 cargo test --test real recordings`.
#![expect(clippy::disallowed_methods, reason = "recordings are files")]

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::rollout::{self, Answer, Goal, Observation, Observed, RunState, Stop};
use engine::state::outcome::EndResult;
use kubectl_inplace::record::Recorder;
use serde_json::{Value, json};

use crate::support::replay::{ReplayError, Replayed, replay};
use crate::support::scene::{APPLY, typed, web};

fn recordings() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, fs::read_to_string(path).expect("a recording can be read"))
    };
    files.iter().map(read).collect()
}

#[test]
fn every_recording_gives_its_decisions_again() {
    let recordings = recordings();
    assert!(recordings.len() >= 3, "{}", recordings.len());
    for (name, text) in recordings {
        let replayed = replay(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(replayed.goals > 0 && replayed.ends == replayed.goals, "{name}: {replayed:?}");
        assert_eq!(replayed.actions == 0, name == "follow", "{name}: {replayed:?}");
    }
}

/// Every recorded decision matters: without one action, or with another notice, the replay stops at its line.
#[test]
fn a_changed_decision_is_caught_in_every_recording() {
    for (name, text) in recordings() {
        let lines: Vec<&str> = text.lines().collect();
        let acting = |key: &str| {
            lines
                .iter()
                .position(|line| line.starts_with("{\"type\":\"turn\"") && line.contains(&format!("\"{key}\":[")))
        };
        for key in ["actions", "notices"] {
            // What is only followed acts on nothing.
            if name == "follow" && key == "actions" {
                continue;
            }
            let at = acting(key).unwrap_or_else(|| panic!("{name} has no {key}"));
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            let mut line: Value = serde_json::from_str(&changed[at]).expect("a line is JSON");
            line[key].as_array_mut().and_then(Vec::pop);
            changed[at] = line.to_string();
            let caught = replay(changed.join("\n").as_bytes());
            assert!(matches!(caught, Err(ReplayError::Decided { line, .. }) if line == at + 1), "{name}: {key}");
        }
        // What went in matters as well.
        let answer = lines.iter().position(|line| line.contains("\"answer\":\"accepted\""));
        let Some(at) = answer else {
            assert_eq!(name, "follow", "it has no accepted answer");
            continue;
        };
        let without: Vec<&str> =
            lines.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, line)| *line).collect();
        assert!(replay(without.join("\n").as_bytes()).is_err(), "{name}: a lost answer");
    }
}

/// When it wants to be asked again is a decision, too: asked later, it would be late.
#[test]
fn another_time_to_wake_is_caught() {
    for (name, text) in recordings() {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains("\"wake\":"));
        let at = at.unwrap_or_else(|| panic!("{name} never waits"));
        let mut line: Value = serde_json::from_str(lines[at]).expect("a line is JSON");
        line["wake"] = (line["wake"].as_u64().expect("nanoseconds") + 1).into();
        let line = line.to_string();
        let changed: Vec<&str> =
            lines.iter().enumerate().map(|(index, known)| if index == at { &line } else { *known }).collect();
        let caught = replay(changed.join("\n").as_bytes());
        assert!(matches!(caught, Err(ReplayError::Decided { line, .. }) if line == at + 1), "{name}");
    }
}

#[test]
fn recordings_hold_no_secret() {
    for (name, text) in recordings() {
        assert!(!text.contains("hunter2"), "{name}");
        // Pods are read without their variables; templates have them.
        let has_template = text.contains("\"mode\":\"durable\"");
        assert!(text.contains("redacted-1") || !has_template, "{name}: the recorded workloads have variables");
    }
}

#[test]
fn what_is_recorded_here_is_replayed_here() {
    let server = web();
    let folder = crate::support::run::Folder::new();
    let path = folder.path().join("run.jsonl");
    let line = format!("{APPLY} --record {}", path.display());
    typed(&server, &line).run().ends_with(0);
    let text = folder.read("run.jsonl").expect("it was recorded");
    let Replayed { goals, ends, actions, .. } = replay(text.as_bytes()).expect("it gives the same decisions");
    assert_eq!((goals, ends), (1, 1));
    assert!(actions >= 3, "a patch a pod");
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(&path).map(|meta| meta.permissions().mode() & 0o777).expect("it is there");
    assert_eq!(mode, 0o600, "only for its owner");
    let nowhere = folder.path().join("no/such/folder").display().to_string();
    typed(&web(), &format!("{APPLY} --record {nowhere}"))
        .run()
        .ends_with(1)
        .says("cannot be written")
        .says("nothing was changed");
}

/// Bytes that can be read while a recorder owns their writer.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic while it was held").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Bytes {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic while it was held").clone()).expect("text")
    }
}

/// A pod that nobody controls, `side` with the image; another container once it has the second.
fn pod(image: &str, version: u64) -> Observation {
    let pod = engine::k8s::pod::Pod::from_object(&json!({
        "metadata": {"name": "p", "namespace": "d", "uid": "u", "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [{"name": "side", "image": image, "env": [{"name": "A", "value": "hunter2"}]}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "side", "ready": true, "containerID": "c://1", "imageID": "i",
                "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]},
    }));
    Observation::Applied(Box::new(pod.expect("a pod")))
}

fn goal() -> Goal {
    serde_json::from_value(json!({
        "workload": {"kind": "Pod", "namespace": "d", "name": "p"}, "clock": "", "controllers": [],
        "replicas": 1, "field_manager": "m", "pre_pull": "never",
        "pods": [{"key": {"namespace": "d", "name": "p", "uid": "u"},
            "containers": {"side": {"from": "a:1", "to": "a:2", "restarts": true}}}],
        "lock": {"id": "1", "run": "r", "who": "", "since": "", "version": "0", "state": "running",
            "direction": "forward", "change": {"images": {}},
            "policy": {"maxUnavailable": 1, "minReadySecondsGiven": null, "ownerMinReadySeconds": 0, "timeoutGiven": 2,
                "totalTimeout": null, "ordered": false}},
    }))
    .expect("a goal")
}

/// A rollout whose patch is refused: recorded.
fn recorded() -> String {
    let bytes = Bytes::default();
    let mut recorder = Recorder::to(Box::new(bytes.clone()), 0);
    let (goal, mut observed, mut state) = (goal(), Observed::default(), RunState::new());
    recorder.goal(&goal);
    let Observation::Applied(first) = pod("a:1", 1) else { unreachable!("it is one") };
    let listed = Observation::Relisted(vec![*first]);
    recorder.observation(Duration::ZERO, &listed);
    observed.observe(listed);
    let mut now = Duration::from_nanos(1);
    let turn = rollout::turn(&goal, &observed, &mut state, now);
    recorder.turn(now, &turn);
    let id = turn.actions.first().map(|(id, _)| *id).expect("an action");
    let answer = Answer::Refused { reason: "AdmissionRefused".into(), message: "password=hunter2 is bad".into() };
    now += Duration::from_millis(3);
    recorder.answer(now, id, &answer);
    state.answer(id, answer, now);
    let turn = rollout::turn(&goal, &observed, &mut state, now);
    recorder.turn(now, &turn);
    assert_eq!(turn.end.map(|end| end.result), Some(EndResult::Failed));
    assert!(recorder.trouble().is_none());
    bytes.text()
}

#[test]
fn a_recording_gives_the_same_decisions() {
    let text = recorded();
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!(replayed, Replayed { goals: 1, turns: 2, actions: 1, ends: 1 });
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["type"].is_string())));
}

#[test]
fn rollouts_side_by_side_are_distinguished() {
    let (one, other) = (recorded(), recorded().replace("\"run\":0", "\"run\":1"));
    let both: String = one.lines().zip(other.lines()).map(|(one, other)| format!("{one}\n{other}\n")).collect();
    assert_eq!(replay(both.as_bytes()).unwrap(), Replayed { goals: 2, turns: 4, actions: 2, ends: 2 });
}

#[test]
fn another_decision_is_caught() {
    let text = recorded();
    for (was, is) in
        [("\"a:2\"", "\"a:3\""), ("AdmissionRefused", "NotSent"), ("\"result\":\"failed\"", "\"result\":\"complete\"")]
    {
        let at = if was.contains("result") { text.rfind(was) } else { text.find(was) }.unwrap();
        let changed = format!("{}{is}{}", &text[..at], &text[at + was.len()..]);
        assert!(matches!(replay(changed.as_bytes()), Err(ReplayError::Decided { .. })), "{was}");
    }
    let without_answer: String =
        text.lines().filter(|line| !line.contains("\"answer\"")).map(|line| format!("{line}\n")).collect();
    assert!(matches!(replay(without_answer.as_bytes()), Err(ReplayError::Decided { line: 4, .. })));
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, why) in [
        ("{", "EOF"),
        ("{\"type\":\"turn\",\"at\":1}", "without a goal"),
        ("{\"type\":\"goal\",\"version\":\"v0\"}", "version"),
        ("{\"type\":\"nope\"}", "unknown type"),
        ("{\"type\":\"stop\",\"stop\":\"interrupt\"}", "no time"),
    ] {
        let error = replay(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn a_disk_that_is_full_is_reported_once_and_disturbs_nothing() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut recorder = Recorder::to(Box::new(Full), 0);
    recorder.goal(&goal());
    recorder.stop(Duration::ZERO, Stop::Interrupt);
    assert!(recorder.trouble().is_some());
    assert!(recorder.trouble().is_none());
}
