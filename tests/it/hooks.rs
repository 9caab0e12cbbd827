//! `--before-pod` and `--after-pod`: when they run, with what, and what becomes of a rollout whose command fails.
#![expect(clippy::disallowed_methods, reason = "looks whether a process is there")]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::api_server::{Answer, ApiServer, Effect, When};
use crate::support::clock;
use crate::support::run::{Binary, Output};
use crate::support::scene::{APPLY, images, patched, run, typed, web, with_controllers};

const NOTE: &str = "echo $KUBECTL_INPLACE_PHASE $KUBECTL_INPLACE_NAMESPACE/$KUBECTL_INPLACE_POD $KUBECTL_INPLACE_NODE $KUBECTL_INPLACE_WORKLOAD $KUBECTL_INPLACE_CONTAINERS >> log";

/// The usual rollout with more words, which may have blanks.
fn hooked(server: &ApiServer, more: &[&str]) -> Binary {
    let usual = APPLY.split_whitespace().chain(["--min-ready-seconds", "0"]);
    Binary::against(server, usual.chain(more.iter().copied()))
}

fn lines(output: &Output, file: &str) -> Vec<String> {
    output.folder.read(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A command that leaves its process id, and stays.
fn staying(file: &str) -> String {
    format!("echo $$ > {file}; echo waiting; sleep 60; echo unheard")
}

/// Whether the process whose id is in a file has gone, soon.
fn is_gone(output: &Output, file: &str) -> bool {
    let id = output.folder.read(file).unwrap_or_default();
    let stat = format!("/proc/{}/stat", id.trim());
    let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!id.trim().is_empty(), "the command did not begin");
    (0..100).any(|_| {
        clock::sleep(Duration::from_millis(20));
        !lives()
    })
}

#[test]
fn each_pod_has_its_commands_around_it_one_after_the_other() {
    let server = web();
    let output = hooked(&server, &["--before-pod", NOTE, "--after-pod", NOTE]).run().ends_with(0);
    let pods = patched(&server);
    let first: Vec<&String> = pods.iter().step_by(2).collect();
    let wanted = first
        .iter()
        .flat_map(|pod| ["before", "after"].map(|phase| format!("{phase} default/{pod} node-a deployment/web side")));
    assert_eq!(lines(&output, "log"), wanted.collect::<Vec<_>>());
    // Its images, and then the note that nothing is owed any more.
    assert!(pods.chunks(2).all(|two| two[0] == two[1]) && pods.len() == 6, "{pods:?}");
    let owes = |pod: &Value| pod["metadata"]["annotations"]["kubectl-inplace.io/update"].to_string().contains("owes");
    assert!(!server.objects("pods").iter().any(owes));
    output
        .prints(" s plus hooks   (")
        .prints("Before each pod this runs here, with sh -c: echo")
        .says("the command of --before-pod runs");
}

#[test]
fn a_command_that_fails_before_a_pod_leaves_it_untouched() {
    let server = web();
    let output = hooked(&server, &["--before-pod", "echo one; echo no backend >&2; exit 3"]).run().ends_with(4);
    assert!(patched(&server).is_empty());
    output
        .prints("HookFailed")
        .prints("ended with exit code 3; the pod was not touched")
        .prints("no backend")
        .says("before] one");
    for (command, reported) in [("kill -9 $$", "ended by signal 9"), ("exec /nowhere/at/all", "exit code 127")] {
        hooked(&server, &["--before-pod", command]).run().ends_with(4).prints(reported);
    }
    assert!(patched(&server).is_empty());
    hooked(&server, &["--before-pod", "  "]).run().ends_with(1).says("a command is needed");
}

#[test]
fn a_command_that_fails_after_a_pod_stops_before_the_next() {
    let server = web();
    let output = hooked(&server, &["--after-pod", "exit 7"]).run().ends_with(4);
    output.prints("the command of --after-pod ended with exit code 7");
    let new = |server: &ApiServer| images(server, "side").iter().filter(|image| *image == "acme/side:v2").count();
    assert_eq!((new(&server), patched(&server).len()), (1, 1));
    // The command is owed: a run that goes on makes up for it.
    let server = web();
    hooked(&server, &["--after-pod", "exit 7", "--on-failure=continue", "--max-unavailable", "3"]).run().ends_with(4);
    assert_eq!(new(&server), 3);
    let server = web();
    let command = "[ -e failed ] || { touch failed; exit 7; }";
    hooked(&server, &["--after-pod", command, "--on-failure=undo"])
        .run()
        .ends_with(4)
        .says("taking deployment/web back");
    assert_eq!(new(&server), 0);
}

/// The way back is as careful as the way there, and an error on it leaves the end what it was.
#[test]
fn a_way_back_keeps_the_pace_and_its_own_error_is_not_the_end() {
    let command = "[ -e failed ] || { touch failed; exit 7; }";
    let words = ["--after-pod", command, "--on-failure=undo", "--max-unavailable", "2", "--timeout", "77s"];
    let output = hooked(&web(), &words).run().ends_with(4);
    assert_eq!(output.stderr.matches("at most 2 down at a time").count(), 2, "{}", output.stderr);
    let server = web();
    let gone = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound",
        "message": "deployments.apps \"web\" not found"});
    server.fault(When::verb("get").of("deployments").after(1), Effect::Answer(Answer::json(404, gone)));
    let output = hooked(&server, &words).run().ends_with(4);
    output.says("taking deployment/web back").says("Error from server (NotFound)");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_that_it_has_begun() {
    let server = web();
    let began = Instant::now();
    let output = hooked(&server, &["--before-pod", &staying("id"), "--timeout", "2s"]).run().ends_with(5);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(is_gone(&output, "id") && patched(&server).is_empty());
    assert!(!output.stderr.contains("unheard"));
    output.prints("the command of --before-pod");
}

#[test]
fn a_signal_does_not_wait_for_a_command() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = web();
        let running = hooked(&server, &["--before-pod", &staying("id")]).spawn();
        running.wait_for_stderr("before] waiting");
        let began = Instant::now();
        running.signal(signal);
        let output = running.wait().ends_with(code);
        assert!(began.elapsed() < Duration::from_secs(5), "{signal}: {:?}", began.elapsed());
        assert!(is_gone(&output, "id") && patched(&server).is_empty());
        output.omits("HookFailed").prints("Pods: 3 not started.").prints("This run changed no pods.");
    }
}

/// Ctrl-C ends the command, also where the run has something to write before it ends.
#[test]
fn an_interrupted_command_has_not_failed() {
    let server = with_controllers();
    let words = "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0 --before-pod".split_whitespace();
    let stays = staying("id");
    let running = Binary::against(&server, words.chain([stays.as_str()])).spawn();
    running.wait_for_stderr("before] waiting");
    running.signal("INT");
    let output = running.wait().ends_with(130);
    output
        .omits("HookFailed")
        .prints("Interrupted after ")
        .prints("Pods: 3 not started.")
        .prints("This run changed no pods.")
        .prints("Resume: ");
}

#[test]
fn with_json_nothing_of_a_command_reaches_stdout() {
    let server = web();
    let command = "echo '{\"type\":\"fake\"}'; printf 'red \\033[31m\\n' >&2; printf 'no end'";
    let output = hooked(&server, &["--before-pod", command, "--after-pod", command, "-o", "json"]).run().ends_with(0);
    let lines = output.json_lines();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!((of("hookBegins").len(), of("hookEnded").len(), of("fake").len()), (6, 6, 0));
    assert_eq!(of("hookBegins")[0]["hook"], "before");
    assert_eq!((&of("hookEnded")[0]["ended"], &of("hookEnded")[0]["exitCode"]), (&"exited".into(), &0.into()));
    assert!(output.stderr.contains("before] {\"type\":\"fake\"}") && output.stderr.contains("after] no end"));
    assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
}

#[test]
fn a_plan_and_a_dry_run_show_the_commands_and_run_none() {
    let server = web();
    let touch = ["--before-pod", "touch ran", "--after-pod", "touch ran too"];
    let plan = ["plan", "deploy/web", "side=acme/side:v2", "--pods-only"];
    let words = |more: &[&'static str]| [plan.as_slice(), &touch, more].concat();
    let shown = Binary::against(&server, words(&[])).run().ends_with(0);
    let dry = hooked(&server, &[&touch[..], &["--dry-run=server"]].concat()).run().ends_with(0);
    for output in [shown, dry] {
        assert_eq!(output.folder.read("ran"), None);
        output
            .prints("Before each pod this runs here, with sh -c: touch ran\n")
            .prints("After each pod this runs here");
    }
    let json = Binary::against(&server, words(&["-o", "json"])).run().ends_with(0).json();
    assert_eq!(json["workloads"][0]["hooks"]["afterPod"], "touch ran too");
}

#[test]
fn no_command_is_written_to_the_cluster_nor_to_a_recording() {
    let server = with_controllers();
    let words = ["apply", "deploy/web", "side=acme/side:v2", "--yes", "--min-ready-seconds", "0", "--record", "record"];
    let hooks = ["--before-pod", "true hunter2", "--after-pod", "echo token=hunter2"];
    let output = Binary::against(&server, words.iter().chain(&hooks).copied()).run().ends_with(0);
    let record = output.folder.read("record").unwrap_or_default();
    assert!(record.contains("hookBegins") && !record.contains("hunter2"));
    assert!(server.requests().iter().all(|request| !request.body.contains("hunter2")));
    let replayed = crate::support::replay::replay(record.as_bytes()).map_err(|error| error.to_string());
    assert!(replayed.is_ok_and(|replayed| replayed.ends == 1 && replayed.actions > 6));
}

#[test]
fn a_run_that_goes_on_brings_the_commands_and_makes_up_for_what_is_owed() {
    let server = with_controllers();
    let apply = "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0";
    let stays = staying("id");
    let running = Binary::against(&server, apply.split_whitespace().chain(["--after-pod", stays.as_str()])).spawn();
    running.wait_for_stderr("after] waiting");
    running.signal("INT");
    let stopped = running.wait().ends_with(130);
    let printed = format!("kubectl inplace resume deployment/web --after-pod '{stays}'");
    assert_eq!(stopped.after("Resume: "), printed);
    assert!(is_gone(&stopped, "id"));
    let resume = "resume deploy/web --yes --min-ready-seconds 0";
    let writes = server.writes().len();
    for line in [resume, "abort deploy/web --yes", "undo deploy/web --yes", &format!("{resume} --before-pod true")] {
        let refused = run(&server, line).ends_with(1);
        refused
            .says("began with --after-pod, and a command is not stored")
            .says("give --after-pod again, with the same command, after: kubectl inplace ")
            .omits("COMMAND")
            .says("--no-hooks");
    }
    assert_eq!(server.writes().len(), writes, "nothing is dropped in silence, and nothing written");
    let words = resume.split_whitespace().chain(["--after-pod", NOTE]);
    let output = Binary::against(&server, words).run().ends_with(0);
    assert_eq!(lines(&output, "log").len(), 3, "{:?}", lines(&output, "log"));
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
    typed(&server, "resume deploy/web --yes").run().ends_with(0);
}

/// The user's command shows nothing about the images: the same may succeed once it is fixed.
#[test]
fn a_rollout_whose_command_failed_after_a_pod_names_the_way_on_and_the_way_back() {
    let server = with_controllers();
    let command = "[ -e mended ] || { touch mended; exit 7; }";
    let words = "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0 --after-pod".split_whitespace();
    let output = Binary::against(&server, words.chain([command])).run().ends_with(4);
    output
        .prints("Resume: kubectl inplace resume deployment/web")
        .prints("Roll back: kubectl inplace abort deployment/web");
    let resume = "resume deploy/web --yes --min-ready-seconds 0 --after-pod".split_whitespace();
    Binary::against(&server, resume.chain([NOTE])).run().ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v2"; 3]);
}

/// A command that fails on the way back, too, is no reason to print the same line for ever.
#[test]
fn a_way_back_whose_command_fails_names_the_way_back_without_it() {
    let server = with_controllers();
    let failing = |verb: &str| {
        let words = format!("{verb} --yes --min-ready-seconds 0 --after-pod");
        Binary::against(&server, words.split_whitespace().chain(["exit 1"])).run().ends_with(4)
    };
    failing("apply deploy/web side=acme/side:v2");
    let without = "kubectl inplace abort deployment/web --no-hooks";
    failing("abort deploy/web").prints(&format!("Roll back without the command: {without}\n"));
    run(&server, &format!("{} --yes", without.trim_start_matches("kubectl inplace "))).ends_with(0);
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
    run(&server, "status deploy/web --exit-code").ends_with(0);
}

#[test]
fn a_rollout_goes_on_without_its_commands_only_where_that_is_said() {
    let server = with_controllers();
    let words = "apply deploy/web side=acme/side:v2 --yes --min-ready-seconds 0 --before-pod".split_whitespace();
    Binary::against(&server, words.chain(["false"]))
        .run()
        .ends_with(4)
        .prints("abort deployment/web --before-pod false");
    run(&server, "resume deploy/web --yes").ends_with(1);
    for (verb, mode) in [("resume", "client"), ("resume", "server"), ("abort", "client")] {
        let dry = run(&server, &format!("{verb} deploy/web --dry-run={mode}")).ends_with(0);
        dry.says("began with --before-pod, and a command is not stored in the cluster: it must be given again");
    }
    run(&server, "status deploy/web")
        .prints("it began with --before-pod: to resume or abort it, give the command again")
        .prints("  note: it began with --before-pod: give that again in place of --no-hooks to keep it\n")
        .prints("  Resume, without --before-pod: kubectl inplace resume deployment/web --no-hooks\n")
        .prints("  Roll back, without --before-pod: kubectl inplace abort deployment/web --no-hooks\n");
    let given = Binary::against(&server, ["plan", "deploy/web", "side=acme/side:v2", "--before-pod", "false"]).run();
    given.says("Resume: kubectl inplace resume deployment/web --before-pod false\n").omits("COMMAND");
    let back = run(&server, "abort deploy/web --yes --no-hooks --min-ready-seconds 0").ends_with(0);
    back.omits("HookFailed");
    assert_eq!(images(&server, "side"), ["acme/side:v1"; 3]);
}

/// The folder of a run is where its commands run.
#[test]
fn a_command_runs_where_the_program_runs() {
    let server = web();
    let output = hooked(&server, &["--after-pod", "pwd > where"]).run().ends_with(0);
    let place = output.folder.read("where").unwrap_or_default();
    assert!(Path::new(place.trim()).ends_with(output.folder.path().file_name().unwrap_or_default()), "{place}");
}
