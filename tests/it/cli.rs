//! The command line itself: help, usage errors, completion.

use clap::CommandFactory;
use kubectl_inplace::cli::Cli;

use crate::support::api_server::{ApiServer, Effect, When};
use crate::support::builders::{self, Workload};
use crate::support::run::{Binary, Folder, Output};
use crate::support::scene::{server_with, two_containers, with_controllers_of};
use crate::support::snapshot::assert_snapshot;

fn run(line: &str) -> Output {
    Binary::alone(line.split_whitespace()).run()
}

/// Every command that the user may type, the nested ones of clap's own included.
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
            // Its scripts are for the program called directly.
            let is_direct = name == "completion";
            assert!(
                (is_direct || !output.stdout.contains("kubectl-inplace ")) && output.stderr.is_empty(),
                "{name}\n{}",
                output.stdout
            );
        }
        run(&format!("help {name}")).ends_with(0).prints(&format!("Usage: kubectl inplace {name}"));
    }
}

fn help(name: &str, flag: &str, columns: &str) -> String {
    Binary::alone([name, flag]).env("COLUMNS", columns).run().ends_with(0).stdout
}

#[test]
fn the_short_help_fits_on_a_screen_and_no_line_is_too_long() {
    for command in commands() {
        let name = command.get_name();
        let lines: Vec<String> = help(name, "-h", "80").lines().map(str::to_owned).collect();
        assert!(lines.len() <= 60, "{name}: {} lines", lines.len());
        for columns in [80, 120] {
            for flag in ["-h", "--help"] {
                let text = help(name, flag, &columns.to_string());
                let is_usage = |line: &str| line.starts_with("Usage: ") || line.starts_with("  [");
                let wide = text.lines().find(|line| line.chars().count() > columns && !is_usage(line));
                assert_eq!(wide, None, "{name} {flag}");
            }
        }
    }
}

#[test]
fn every_command_has_three_examples_that_can_be_pasted() {
    for command in commands().iter().filter(|command| command.get_name() != "options") {
        let name = command.get_name();
        let text = help(name, "-h", "80");
        let examples = text.split("\nExamples:\n").nth(1).unwrap_or_default();
        let lines: Vec<&str> = examples.lines().filter(|line| !line.is_empty()).collect();
        let commands = lines.iter().filter(|line| !line.starts_with("  # "));
        assert!(commands.clone().count() >= 3, "{name}: {examples}");
        // A command that the help breaks cannot be pasted: its second line names no program.
        assert!(commands.clone().all(|line| line.contains("inplace")), "{name}: {examples}");
    }
    // A paragraph is broken by clap alone.
    let of_status = help("status", "-h", "40");
    assert!(of_status.lines().any(|line| line.starts_with("Without a target it is every")), "{of_status}");
    assert!(of_status.lines().all(|line| line.len() <= 60), "{of_status}");
}

#[test]
fn commands_that_have_their_images_offer_none() {
    for name in ["resume", "abort", "undo", "restart", "status", "history"] {
        let text = help(name, "--help", "80");
        assert!(!text.contains("CONTAINER=IMAGE") && !text.contains("--image "), "{name}: {text}");
        for manifest in ["--filename", "--kustomize", "--selector"] {
            assert!(text.contains(manifest), "{name}: {text}");
        }
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
        // Of what the parser has let through.
        ("apply deployment/web side=:v2 --canary 0", "kubectl inplace apply"),
    ];
    for (line, command) in cases {
        let output = run(line).ends_with(1);
        let last = format!("See '{command} -h' for help and examples\n");
        assert!(output.stderr.starts_with("error: ") && output.stderr.ends_with(&last), "{line}\n{}", output.block());
        assert_eq!(output.stdout, "", "{line}");
        assert!(!output.stderr.contains("For more information"), "it is said once: {line}\n{}", output.block());
    }
}

/// Every command that writes, and `diff`, which asks the server as one that does.
#[test]
fn a_field_manager_whose_fields_flux_removes_is_refused() {
    for verb in ["plan", "apply", "restart", "undo", "resume", "abort"] {
        for name in ["kubectl-edit", "kubectl-inplace", "kustomize-controller"] {
            let output = run(&format!("{verb} deploy/web --field-manager {name}")).ends_with(1);
            output.says(&format!("invalid value '{name}' for '--field-manager <NAME>': Flux removes what"));
        }
        run(&format!("{verb} deploy/web --field-manager=")).ends_with(1).says("a name is needed");
    }
    run("diff deploy/web --field-manager=").ends_with(2).says("a name is needed");
}

#[test]
fn mistyped_words_get_a_suggestion() {
    run("paln").ends_with(1).says("plan");
    run("plan --detailed-exit-code").ends_with(1).says("--detailed-exitcode");
    run("rollback deployment/web").ends_with(1).says("tip: the whole command: kubectl inplace undo deployment/web\n");
    for (line, whole) in [
        ("apply deploy/web side=v2 --yes -n shop", "apply deploy/web side=:v2 --yes -n shop"),
        ("apply deploy/web side:v2 --max-unavailable 2", "apply deploy/web side=:v2 --max-unavailable 2"),
        ("apply deploy/web side = v2", "apply deploy/web side=:v2"),
        (
            "apply deploy/web side = v2 --context prod --token abc",
            "apply deploy/web side=:v2 --context prod --token ...",
        ),
        ("apply deploy/web side=v2 --before-pod password=abc", "apply deploy/web side=:v2 --before-pod 'password=***'"),
        ("status deploymnt/web", "status deployment/web"),
        ("hash pods/web side:v2", "hash pods/web side=:v2"),
    ] {
        run(line).ends_with(1).says(&format!("hint: the whole command: kubectl inplace {whole}\n"));
    }
}

#[test]
fn the_version_is_reported_without_a_cluster() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(run("--version").ends_with(0).stdout, format!("kubectl-inplace {version}\n"));
    let text = run("version --client").ends_with(0).stdout;
    assert!(
        text.starts_with(&format!("Client Version: v{version} (not a release build, {}/", std::env::consts::OS)),
        "{text}"
    );
    assert_eq!(run("version --client -o json").ends_with(0).json()["clientVersion"], version);
    run("version --client -o yaml").ends_with(0).prints("clientVersion: ");
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

/// Completes a line against a server; nothing may be on stderr, where a shell would show it.
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

/// A Deployment of two containers with an update that has ended, and a second one.
fn web_with_a_past() -> ApiServer {
    let web = two_containers(Workload::deployment("web").replicas(2));
    let server = with_controllers_of([web, two_containers(Workload::deployment("worker"))]);
    let line = ["apply", "deploy/web", "side=acme/side:v2", "--yes", "--min-ready-seconds", "0"];
    Binary::against(&server, line).run().ends_with(0);
    server
}

#[test]
fn completion_offers_what_belongs_to_the_targets() {
    let server = web_with_a_past();
    let complete = |line: &str| complete_against(&server, line);
    let containers = "app=\tacme/app:v1\nside=\tacme/side:v2\n:6\n";
    assert_eq!(complete("apply deployment/web "), containers);
    assert_eq!(complete("plan deploy web "), containers);
    assert_eq!(complete("diff -n default deploy/web -- "), containers);
    assert_eq!(complete("apply deploy/web si"), "side=\tacme/side:v2\n:6\n");
    assert_eq!(complete("apply deploy/web app=:10 "), "side=\tacme/side:v2\n:6\n");
    assert_eq!(complete("apply deploy/web side=ac"), "side=acme/side:\tacme/side:v2\n:6\n");
    assert_eq!(complete("apply deploy/web side=acme/side:"), "side=acme/side:v2\n:4\n");
    assert_eq!(complete("apply deploy/web --image=side="), "--image=side=acme/side:\tacme/side:v2\n:6\n");
    assert_eq!(complete("apply deploy/web --image "), containers);
    assert_eq!(complete("apply deploy web wo"), "worker\n:4\n", "another of the same type");
    assert_eq!(complete("apply deploy/web dep"), "deployment/\n:6\n", "another target");
    assert_eq!(complete("restart deploy/web -c "), "app\tacme/app:v1\nside\tacme/side:v2\n:4\n");
    assert_eq!(complete("restart deploy/web --container=app,"), "--container=app,side\tacme/side:v2\n:4\n");
    assert!(complete("apply deployments --all -c s").starts_with("side\t"));
    let pods = complete("apply deploy/web --pods ");
    assert!(pods.lines().filter(|line| line.starts_with("web-")).count() == 2 && pods.ends_with(":4\n"), "{pods}");
    assert_eq!(complete("apply deploy/web --node "), "node-a\n:4\n");
    server.insert([builders::node("node-b", "v1.36.3")]);
    assert_eq!(complete("apply deploy/web --node "), "node-a\n:4\n", "those of its pods");
    assert_eq!(complete("apply --node "), "node-a\nnode-b\n:4\n", "where there is no target");
    let updates = complete("undo deploy/web --to ");
    let id = updates.split('\t').next().unwrap_or_default();
    Binary::against(&server, ["undo", "deploy/web", "--to", id, "--dry-run=client"]).run().ends_with(0);
    for line in ["apply deploy/none ", "apply deploy/none -c ", "undo deploy/none --to ", "apply --pods "] {
        assert!([":4\n", ":6\n"].contains(&complete(line).as_str()), "{line}");
    }
}

#[test]
fn completion_offers_what_the_kubeconfig_has() {
    let config = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "prod", "contexts": [
        {"name": "prod", "context": {"cluster": "a", "user": "me"}},
        {"name": "arn:aws:eks:eu:1:cluster/x", "context": {"cluster": "a", "user": "me"}},
        {"name": "not; a $(name)", "context": {"cluster": "a", "user": "me"}}],
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "me", "user": {}}, {"name": "you@a", "user": {}}]}"#;
    let complete = |words: &[&str]| {
        let words = std::iter::once("__complete").chain(words.iter().copied());
        let output = Binary::alone(words).env("KUBECONFIG", "config").file("config", config).run().ends_with(0);
        assert_eq!(output.stderr, "");
        output.stdout
    };
    assert_eq!(complete(&["--context", ""]), "arn:aws:eks:eu:1:cluster/x\nprod\n:4\n");
    assert_eq!(complete(&["status", "--context=p"]), "--context=prod\n:4\n");
    assert_eq!(complete(&["status", "--cluster", ""]), "a\n:4\n");
    assert_eq!(complete(&["status", "--user", "y"]), "you@a\n:4\n");
    assert_eq!(complete(&["--kubeconfig", "none", "--context", ""]), ":4\n");
}

#[test]
fn completion_offers_every_code_that_is_explained() {
    let offered = Binary::alone(["__complete", "explain", ""]).run().ends_with(0).stdout;
    let offered: Vec<&str> = offered.lines().filter_map(|line| line.split('\t').next()).collect();
    for code in
        ["TemplateFieldNotInPlace", "MutableTag", "CrashLoopBackOff", "notReady", "pending", "130", "nothingToDo"]
    {
        assert!(offered.contains(&code), "{code}: {offered:?}");
    }
    for code in offered.iter().filter(|code| !code.starts_with(':')) {
        run(&format!("explain {code}")).ends_with(0);
    }
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
    // The script that a release installs under that name asks as it does: kubectl puts the flag before the values.
    let reported = Binary::alone(["__complete-for-kubectl", "plan", "--validate=w"]).run().ends_with(0).stdout;
    assert!(reported.starts_with("warn"), "{reported}");
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
    // By its name alone, from the PATH.
    std::fs::remove_file(&helper).expect("it is there");
    let by_name = Binary::alone(["completion", "--install"]).program("kubectl-inplace");
    by_name.env("PATH", &folder.path().display().to_string()).run().ends_with(0).prints("now answers");
    assert!(helper.exists(), "the link leads to the program");
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
fn a_broken_manifest_is_reported_with_its_place() {
    let broken = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x\n";
    let output = Binary::alone(["plan", "-f", "-"]).stdin(broken).run().ends_with(1);
    assert_eq!(output.stderr, "error: standard input:3:11: YAML: unclosed bracket '{'\n");
}
