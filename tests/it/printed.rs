//! What is printed for copying, as it comes out of whole runs; and what becomes of a run whose output nobody reads.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::time::Duration;

use crate::support::api_server::{Effect, When};
use crate::support::builders::Workload;
use crate::support::run::Binary;
use crate::support::scene::{images, run, server_with, two_containers, typed, web};

/// A pipe that is closed while the plan is printed is no success, whenever it is closed.
#[test]
fn an_output_that_nobody_reads_is_no_success() {
    let attempts: Vec<_> = (0..20)
        .map(|attempt| {
            std::thread::spawn(move || {
                let server = web();
                // With several workloads, or a reader that is slow, more is written before the pipe is closed.
                if attempt % 2 == 0 {
                    server.fault(When::verb("patch").of("pods").for_real(), Effect::Delay(Duration::from_millis(50)));
                }
                let line = "apply deploy/web side=acme/side:v2 --pods-only --yes --min-ready-seconds 0";
                let output = typed(&server, line).read_no_further().run();
                let is_done = images(&server, "side") == ["acme/side:v2"; 3];
                let code = output.stderr.lines().last().unwrap_or_default().to_owned();
                assert!(code == "exit 143" || (code == "exit 0" && is_done), "{attempt}: {}", output.block());
            })
        })
        .collect();
    attempts.into_iter().for_each(|attempt| attempt.join().expect("it holds"));
    let output = typed(&web(), "apply deploy/web side=acme/side:v2 --pods-only --yes").read_nothing().run();
    assert!(output.stderr.ends_with("exit 143\n"), "{}", output.block());
}

#[test]
fn a_verdict_that_nobody_reads_is_not_nothing_to_do() {
    let server = server_with([two_containers(Workload::deployment("web")).replicas(300)]);
    let line = "plan deploy/web side=acme/side:v2 --detailed-exitcode -o json";
    let output = typed(&server, line).read_no_further().run();
    assert!(output.stderr.ends_with("exit 143\n"), "{}", output.block());
}

#[test]
fn the_next_command_of_a_manifest_from_a_pipe_reads_a_file() {
    let server = web();
    let manifest = server.objects("deployments")[0].to_string().replace("acme/side:v1", "acme/side:v2");
    let output = typed(&server, "plan -f - --as jane").stdin(manifest.as_bytes()).run().ends_with(0);
    output.prints("as manifest.yaml; then: kubectl inplace apply -f manifest.yaml --as jane\n");
}

#[test]
fn hints_are_asked_as_the_same_user() {
    let server = web();
    server.fault(When::verb("get").of("deployments"), Effect::Forbid);
    let output = run(&server, "plan deploy/web side=:v2 --as jane --as-group a").ends_with(1);
    output.says("kubectl auth can-i get deployments.apps/web --namespace=default --as jane --as-group a\n");
}

/// Wherever a command is in a sentence.
#[test]
fn every_command_of_a_hint_has_who_asks_and_how_careful() {
    let server = web();
    server.run_controllers(true);
    let hooked = ["apply", "deploy/web", "side=acme/side:v2", "--yes", "--before-pod", "exit 1"];
    Binary::against(&server, hooked).run().ends_with(4);
    let held = run(&server, "plan deploy/web app=acme/app:v2 --as jane --timeout 8m").ends_with(0);
    let held = held.prints("see how: kubectl inplace status deployment/web -n default --as jane\n");
    let resume = "kubectl inplace resume deployment/web --as jane --no-hooks\n";
    held.says(&format!("Resume, without --before-pod: {resume}"));
    let server = web();
    server.fault(When::verb("patch").of("deployments"), Effect::Forbid);
    let output = run(&server, "plan deploy/web side=acme/side:v2 --as jane").ends_with(0);
    output.prints("kubectl inplace rbac apply deployment -n default --as jane\n");
}

#[test]
fn what_undoes_itself_prints_no_command_for_it() {
    let server = web();
    server.run_controllers(true);
    let line = "apply deploy/web side=:missing --yes --pre-pull=never --min-ready-seconds 0 --on-failure";
    let output = run(&server, &format!("{line} undo")).ends_with(4);
    output.prints("Rolled back:").omits("Resume:").omits("Roll back:");
    let stopped = run(&server, &format!("{line} stop")).ends_with(4);
    let flags = "--pre-pull never\n";
    stopped.prints(&format!("Roll back: kubectl inplace abort deployment/web {flags}")).omits("Resume:");
}

#[test]
fn resume_takes_no_flag_that_it_would_ignore() {
    let server = web();
    for flag in ["--pods a", "--node n", "--canary 1", "--partition 1", "--order name", "--pods-only", "--reason x"] {
        for verb in ["resume", "abort"] {
            run(&server, &format!("{verb} deploy/web {flag}")).ends_with(1).says("unexpected argument");
            let name = flag.split(' ').next().unwrap_or_default();
            run(&server, &format!("{verb} --help")).ends_with(0).omits(&format!("{name} ")).omits(&format!("{name}\n"));
        }
    }
    // What only an owner keeps is not taken by who changes pods alone, and a pod keeps no reason.
    run(&server, "restart deploy/web -c side --reason x").ends_with(1).says("unexpected argument '--reason'");
    run(&server, "restart deploy/web -c side --pods-only").ends_with(1).says("makes no difference to restart");
    for flag in ["--reason x", "--keep-field-ownership"] {
        let line = format!("apply deploy/web side=acme/side:v2 --pods-only {flag} --dry-run");
        run(&server, &line).ends_with(1).says("'--pods-only' cannot be used with");
    }
    // Seconds of a drain without a drain would be ignored.
    run(&server, "plan deploy/web side=acme/side:v2 --drain none --drain-seconds 3").ends_with(1).says("has no effect");
    // What did not finish is rolled back whole.
    server.run_controllers(true);
    run(&server, "apply deploy/web side=acme/side:missing --yes --pre-pull never").ends_with(4);
    run(&server, "undo deploy/web --pods web-0 --yes").ends_with(1).says("--pods cannot be used with that");
    assert!(
        Binary::against(&server, ["apply", "--plan", "file", "--drain", "none"])
            .run()
            .ends_with(1)
            .stderr
            .contains("cannot be used with")
    );
}

/// Whatever reason a rollout may give for a failure, `explain` knows it.
#[test]
fn every_reason_of_a_failure_is_explained() {
    let mut unknown = Vec::new();
    for file in [
        "k8s/failure.rs",
        "state/hook.rs",
        "rollout/pod_progress/mod.rs",
        "rollout/pod_progress/container.rs",
        "rollout/abandoned.rs",
        "rollout/protocol/drain/mod.rs",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src").join(file);
        let source = std::fs::read_to_string(path).expect("a source can be read");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let words = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split('"').skip(1).step_by(2));
        let is_code = |word: &&str| {
            let starts = word.starts_with(|c: char| c.is_ascii_uppercase());
            starts && word.len() > 3 && word.chars().all(|c| c.is_ascii_alphabetic())
        };
        for word in words.filter(is_code) {
            if kubectl_inplace::commands::explained(word, 100).is_none() {
                unknown.push(format!("{file}: {word}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    for code in ["4", "143", "failed", "Held", "unproven", "HookFailed"] {
        Binary::alone(["explain", code]).run().ends_with(0).prints(code.trim_end_matches("unproven"));
    }
}
