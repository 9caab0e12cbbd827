//! The runner and the redaction that the tests of commands rest on.

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::redact::Redaction;
use crate::support::run::Binary;
use crate::support::snapshot::assert_snapshot;

fn shell(server: &ApiServer, script: &str) -> Binary {
    Binary::against(server, ["-c", script]).program("/bin/sh")
}

#[test]
fn a_run_has_its_own_folder_and_a_cleared_environment() {
    let server = ApiServer::start();
    let script = "cat; pwd; echo \"$EXTRA $HOME\"; cat \"$KUBECONFIG\" note; echo made > made; echo ${CARGO-no cargo}; echo no >&2; exit 3";
    let output = shell(&server, script).env("EXTRA", "x").file("note", "a note\n").stdin(b"from stdin\n").run();
    assert_eq!(output.code, Some(3));
    assert_eq!(output.folder.read("made").as_deref(), Some("made\n"));
    assert!(output.stdout.contains(&server.url()) && output.stderr == "no\n", "{output:?}");
    assert_snapshot("runner", &output.block());
}

#[test]
fn a_signal_reaches_the_running_binary() {
    let server = ApiServer::start();
    let running = shell(&server, "trap 'echo caught; exit 130' INT; echo up; while :; do sleep 0.01; done").spawn();
    std::thread::yield_now();
    crate::support::clock::sleep(std::time::Duration::from_millis(200));
    running.signal("INT");
    let output = running.wait();
    assert_eq!((output.code, output.stdout.as_str()), (Some(130), "up\ncaught\n"));
}

#[test]
fn the_real_binary_starts_and_says_nothing_of_panics() {
    let server = ApiServer::start();
    server.fault(When::default(), Effect::Unavailable);
    for output in [Binary::alone(["version", "--client"]).run(), Binary::against(&server, ["version"]).run()] {
        assert!(output.code.is_some() && !output.stderr.contains("panicked"), "{output:?}");
    }
}

#[test]
fn redaction_takes_out_what_changes() {
    let id = "0123456789abcdef".repeat(4);
    let cases = [
        ("at 2026-11-21T14:39:25Z", "at TIME"),
        ("at 2026-11-21T14:39:25.123456Z, then", "at TIME, then"),
        ("14:39:25 up", "CLOCK up"),
        ("uid 744bfd13-7190-4862-a086-c6a39d53cdbc.", "uid UID."),
        ("x744bfd13-7190-4862-a086-c6a39d53cdbc", "x744bfd13-7190-4862-a086-c6a39d53cdbc"),
        ("took 1.2s, 340ms or 5m; v2s", "took DURATION, DURATION or 5m; v2s"),
        ("in 1 min 11 s, 2m5s ago, 100m", "in DURATION, DURATION ago, 100m"),
        ("http://127.0.0.1:1234/x", "http://SERVER/x"),
        ("web-6b867cfc99-2x7kq äö", "web-6b867cfc99-2x7kq äö"),
    ];
    let redaction = Redaction::default().replace("127.0.0.1:1234", "SERVER").durations();
    for (text, wanted) in cases {
        assert_eq!(redaction.apply(text), wanted);
    }
    assert_eq!(Redaction::default().apply(&format!("containerd://{id} 1.2s")), "containerd://ID 1.2s");
}
