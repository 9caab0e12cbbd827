//! Recordings of real rollouts: they give the same decisions when they are replayed.
//!
//! With KUBECTL_INPLACE_RECORDINGS=1 they are written to `tests/recordings`, which `tests/it/replay.rs` replays.

use std::path::PathBuf;

use crate::support::{Namespace, samples};
use replay::replay;

#[path = "../support/replay.rs"]
mod replay;

const WITH_SECRET: &str = "env: [{name: PASSWORD, value: hunter2}]";

/// Runs a line with `--record`, replays what was recorded, and keeps it where that is asked for.
fn recorded(namespace: &Namespace, name: &str, line: &str, code: i32) {
    let file = std::env::temp_dir().join(format!("{name}-{}.jsonl", namespace.name()));
    let path = file.display().to_string();
    let words: Vec<&str> = line.split(' ').chain(["--record", &path]).collect();
    let output = namespace.inplace(&words);
    assert_eq!(output.code, code, "{output:#?}");
    let text = std::fs::read_to_string(&file).expect("it was recorded");
    std::fs::remove_file(&file).expect("it can be removed");
    let replayed = replay(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((replayed.goals, replayed.ends), (1, 1), "{replayed:?}");
    assert!(!text.contains("hunter2"), "{text}");
    if std::env::var_os("KUBECTL_INPLACE_RECORDINGS").is_some() {
        let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recordings/{name}.jsonl"));
        std::fs::write(kept, text).expect("a recording can be written");
    }
}

#[test]
fn a_durable_rollout_of_a_deployment() {
    let namespace = Namespace::new("recording-deployment");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 3), WITH_SECRET));
    namespace.wait_ready("app=web", 3);
    recorded(&namespace, "deployment-complete", "apply deploy/web side=:v2 --yes --min-ready-seconds 0", 0);
}

#[test]
fn an_image_that_does_not_exist() {
    let namespace = Namespace::new("recording-failing");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 2), WITH_SECRET));
    namespace.wait_ready("app=web", 2);
    recorded(&namespace, "deployment-image-missing", "apply deploy/web side=:nope --pre-pull=never --yes", 4);
}

#[test]
fn a_durable_rollout_of_a_stateful_set() {
    let namespace = Namespace::new("recording-stateful-set");
    namespace.apply(&samples::with_app_fields(&samples::stateful_set("db", 2), WITH_SECRET));
    namespace.wait_ready("app=db", 2);
    recorded(&namespace, "stateful-set-complete", "apply sts/db side=:v2 --yes --min-ready-seconds 0", 0);
}

#[test]
fn a_crash() {
    let namespace = Namespace::new("recording-crash");
    namespace.apply(&samples::with_app_fields(&samples::pod("alone"), WITH_SECRET));
    namespace.wait_ready("app=alone", 1);
    recorded(&namespace, "pod-crash", "apply pod/alone app=:crash --yes", 4);
}

#[test]
fn a_crash_in_a_deployment() {
    let namespace = Namespace::new("recording-bad");
    namespace.apply(&samples::with_app_fields(&samples::deployment("bad", 2), WITH_SECRET));
    namespace.wait_ready("app=bad", 2);
    recorded(&namespace, "deployment-crash", "apply deploy/bad app=:crash --yes", 4);
}

#[test]
fn a_daemon_set_with_commands_around_each_pod() {
    let namespace = Namespace::new("recording-daemon-set");
    namespace.apply(&samples::with_app_fields(&samples::daemon_set("agent"), WITH_SECRET));
    namespace.wait_ready("app=agent", 1);
    let line = "apply ds/agent side=:v2 --yes --min-ready-seconds 0 --before-pod true --after-pod true";
    recorded(&namespace, "daemon-set-hooks", line, 0);
}

#[test]
fn pods_alone_and_what_is_followed() {
    let namespace = Namespace::new("recording-pods");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 2), WITH_SECRET));
    namespace.wait_ready("app=web", 2);
    recorded(&namespace, "pods-only", "apply deploy/web side=:v2 --pods-only --yes --min-ready-seconds 0", 0);
    recorded(&namespace, "follow", "follow deploy/web --min-ready-seconds 0", 0);
}

#[test]
fn a_canary_and_its_abort() {
    let namespace = Namespace::new("recording-abort");
    namespace.apply(&samples::with_app_fields(&samples::deployment("web", 2), WITH_SECRET));
    namespace.wait_ready("app=web", 2);
    recorded(&namespace, "canary", "apply deploy/web side=:v2 --canary 1 --yes --min-ready-seconds 0", 0);
    recorded(&namespace, "abort", "abort deploy/web --yes --min-ready-seconds 0", 0);
}

#[test]
fn pods_that_leave_their_service_first() {
    let namespace = crate::drain::service("recording-drain");
    let line = "apply deploy/web app=:v2 --drain=auto --drain-seconds 1 --yes --min-ready-seconds 0";
    recorded(&namespace, "drain", line, 0);
}
