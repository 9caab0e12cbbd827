//! The command line itself: help, usage errors, completion.

use clap::CommandFactory;
use kubectl_inplace::cli::Cli;

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::run::{Binary, Folder, Output};
use crate::support::scene::server_with;
use crate::support::snapshot::assert_snapshot;

fn run(line: &str) -> Output {
    Binary::alone(line.split_whitespace()).run()
}

/// Every command that a person may type, the nested ones of clap's own included.
fn commands() -> Vec<clap::Command> {
    let mut command = Cli::command();
    command.build();
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .cloned()
        .collect()
}

#[test]
fn no_arguments_print_the_help() {
    let output = run("").ends_with(0);
    assert_eq!(output.stderr, "");
    assert_eq!(run("-h").ends_with(0).stdout, output.stdout);
    assert_eq!(
        run("help").ends_with(0).stdout.lines().next().map(|line| line.starts_with("Change the image")),
        Some(true)
    );
    assert_snapshot("help", &output.block());
}

#[test]
fn the_help_of_every_command_speaks_of_kubectl_inplace() {
    for command in commands() {
        let name = command.get_name();
        for flag in ["-h", "--help"] {
            let output = run(&format!("{name} {flag}")).ends_with(0).prints(&format!("Usage: kubectl inplace {name}"));
            assert!(
                !output.stdout.contains("kubectl-inplace ") && output.stderr.is_empty(),
                "{name}\n{}",
                output.stdout
            );
        }
        run(&format!("help {name}")).ends_with(0).prints(&format!("Usage: kubectl inplace {name}"));
    }
}

#[test]
fn every_flag_and_every_command_is_explained() {
    let root = Cli::command();
    let all = commands();
    for command in all.iter().chain([&root]) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name} is not explained");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{name}: {} is not explained", argument.get_id());
            assert!(!help.ends_with('.'), "{name}: {}: {help}", argument.get_id());
        }
    }
}

#[test]
fn usage_errors_exit_with_1_and_name_the_command_whose_help_fits() {
    let cases = [
        ("--nope", "kubectl inplace"),
        ("nope", "kubectl inplace"),
        ("plan --nope", "kubectl inplace plan"),
        ("plan deploy/web side=:v2 -o yml", "kubectl inplace plan"),
        ("apply --min-ready-seconds soon", "kubectl inplace apply"),
        ("apply --dry-run=maybe", "kubectl inplace apply"),
        ("follow --yes", "kubectl inplace follow"),
        ("completion", "kubectl inplace completion"),
        ("completion tcsh", "kubectl inplace completion"),
        ("version --client=maybe", "kubectl inplace version"),
        ("plan -v many", "kubectl inplace plan"),
        ("help nope", "kubectl inplace"),
    ];
    for (line, command) in cases {
        let output = run(line).ends_with(1);
        let last = format!("See '{command} -h' for help and examples\n");
        assert!(output.stderr.starts_with("error: ") && output.stderr.ends_with(&last), "{line}\n{}", output.block());
        assert_eq!(output.stdout, "", "{line}");
    }
}

#[test]
fn mistyped_words_get_a_suggestion() {
    run("paln").ends_with(1).says("plan");
    run("plan --detailed-exit-code").ends_with(1).says("--detailed-exitcode");
}

#[test]
fn the_version_is_told_without_a_cluster() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(run("--version").ends_with(0).stdout, format!("kubectl-inplace {version}\n"));
    let text = run("version --client").ends_with(0).stdout;
    assert!(
        text.starts_with(&format!("Client Version: v{version} (not a release build, {}/", std::env::consts::OS)),
        "{text}"
    );
    assert_eq!(run("version --client -o json").ends_with(0).json()["clientVersion"], version);
}

#[test]
fn completion_answers_through_the_hidden_command() {
    let complete =
        |words: &[&str]| Binary::alone(std::iter::once("__complete").chain(words.iter().copied())).run().ends_with(0);
    assert!(complete(&["pl"]).stdout.starts_with("plan\tSay what would happen"));
    complete(&["plan", "--detailed"]).prints("--detailed-exitcode\t").prints(":4\n");
    complete(&["apply", "--dry-run="]).prints("client").prints("server");
    assert_eq!(complete(&["plan", "-f", "we"]).stdout, ":0\n", "files are the shell's");
    complete(&[""]).prints("apply\t").prints("follow\t").omits("__complete");
}

/// Completes a line against a server; nothing may stand on stderr, where a shell would show it.
fn complete_against(server: &ApiServer, line: &str) -> String {
    let output = Binary::against(server, std::iter::once("__complete").chain(line.split(' '))).run().ends_with(0);
    assert_eq!(output.stderr, "", "{line}");
    output.stdout
}

#[test]
fn completion_offers_names() {
    let server = server_with([
        Workload::deployment("web"),
        Workload::deployment("work"),
        Workload::deployment("api").namespace("prod"),
        Workload::daemon_set("log"),
    ]);
    server.insert([builders::namespace("prod")]);
    let complete = |line: &str| complete_against(&server, line);
    assert_eq!(complete("apply deploy/"), "deploy/web\ndeploy/work\n:4\n");
    assert_eq!(complete("plan deploy/we"), "deploy/web\n:4\n");
    assert_eq!(complete("follow daemonset "), "log\n:4\n");
    assert_eq!(complete("apply -n prod deployment/"), "deployment/api\n:4\n");
    assert_eq!(complete("--namespace=prod hash deploy/"), "deploy/api\n:4\n");
    assert_eq!(complete("plan -n "), "default\nprod\n:4\n");
    assert_eq!(complete("plan --namespace=p"), "--namespace=prod\n:4\n");
    assert_eq!(complete("plan dep"), "deployment/\n:6\n");
    assert_eq!(complete("plan sts"), "sts/\n:6\n");
    assert!(complete("explain Temp").starts_with("TemplateFieldNotInPlace\ta changed field"));
    assert!(complete("explain mutable").starts_with("MutableTag\t"));
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

#[test]
fn completion_is_silent_where_names_cannot_be_had() {
    let server = server_with([Workload::deployment("web")]);
    server.fault(When::verb("list"), Effect::Forbid);
    for line in ["apply deploy/", "plan -n "] {
        assert_eq!(complete_against(&server, line), ":4\n", "{line}");
    }
    server.clear_faults();
    server.fault(When::verb("list"), Effect::Warn("a warning is none of the shell's business".into()));
    assert_eq!(complete_against(&server, "apply deploy/"), "deploy/web\n:4\n");
    server.clear_faults();
    server.fault(When::verb("list"), Effect::Delay(std::time::Duration::from_secs(30)));
    assert_eq!(complete_against(&server, "apply deploy/"), ":4\n", "it does not wait for long");
    for kubeconfig in ["no kubeconfig", "{}"] {
        let binary = Binary::alone(["__complete", "apply", "deploy/"]).env("KUBECONFIG", "config");
        let output = binary.file("config", kubeconfig).run().ends_with(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (":4\n", ""));
    }
}

#[test]
fn completion_answers_under_the_name_that_kubectl_looks_for() {
    let folder = Folder::new();
    let link = folder.path().join("kubectl_complete-inplace");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubectl-inplace"), &link).expect("a link can be made");
    let ask = |words: &[&str]| Binary::alone(words.iter()).program(&link.display().to_string()).run().ends_with(0);
    assert!(ask(&["pl"]).stdout.starts_with("plan\tSay what would happen"));
    ask(&["plan", "--detailed"]).prints("--detailed-exitcode\t");
    ask(&["--help"]).omits("Usage:");
}

#[test]
fn completion_can_be_installed_beside_the_program() {
    let folder = Folder::new();
    let program = folder.path().join("kubectl-inplace");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubectl-inplace"), &program).expect("a link can be made");
    let install =
        || Binary::alone(["completion", "--install"]).program(&program.display().to_string()).run().ends_with(0);
    install().prints("kubectl_complete-inplace now answers");
    let helper = folder.path().join("kubectl_complete-inplace");
    Binary::alone(["fol"]).program(&helper.display().to_string()).run().ends_with(0).prints("follow\t");
    install().says("is there already");
}

#[test]
fn hostile_words_end_with_a_sentence_and_never_a_panic() {
    let long = "x".repeat(100_000);
    for words in [
        vec!["plan", "\u{1b}[2Jdeploy/web", "side=:v2"],
        vec!["plan", long.as_str()],
        vec!["plan", "deploy/web", "side=\n"],
        vec!["plan", "", ""],
        vec!["plan", "--", "--yes"],
        vec!["plan", "/", "="],
        vec!["plan", "deploy/web", "=:="],
        vec!["plan", "deploy/web", "side=:v2", "--timeout", "99999999999999999999h"],
        vec!["plan", "deploy/web", "side=:v2", "--max-unavailable", "99999999999999999999%"],
        vec!["plan", "deploy/web", "side=:v2", "--max-unavailable=-1"],
    ] {
        let output = Binary::alone(words.iter()).run().ends_with(1);
        assert!(
            output.stderr.starts_with("error: ") && !output.stderr.contains("panicked"),
            "{words:?}\n{}",
            output.block()
        );
        assert!(!output.stderr.contains('\u{1b}'), "{words:?}");
    }
}

#[test]
fn a_broken_manifest_is_shown_where_it_breaks() {
    let broken = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x\n";
    let output = Binary::alone(["plan", "-f", "-"]).stdin(broken).run().ends_with(1);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert!(lines.first().is_some_and(|line| line.contains(":3:11: YAML: ")), "{}", output.stderr);
    assert_eq!(lines.get(1).map(|line| line.trim_start()), Some("3 | metadata: {name: x"), "{}", output.stderr);
    assert!(lines.get(2).is_some_and(|line| line.ends_with('^')), "{}", output.stderr);
}
