//! Recorded rollouts give the recorded decisions.
//!
//! The files in `tests/recordings` were written by `--record` against a real cluster (1.36.3). Where a decision changes
//! on purpose, they are recorded again: `KUBECTL_INPLACE_RECORDINGS=1 cargo test --test real recordings`.
#![expect(clippy::disallowed_methods, reason = "recordings are files")]

use std::fs;
use std::path::PathBuf;

use kubectl_inplace::record::{ReplayError, Replayed, replay};
use serde_json::Value;

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
