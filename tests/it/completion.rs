//! Completion in real shells: what the user sees after the tab key.

use std::path::Path;

use crate::support::api_server::ApiServer;
use crate::support::builders::Workload;
use crate::support::run::{Binary, Output};
use crate::support::scene::{server_with, two_containers};

fn needed(shell: &str) -> String {
    let path = format!("/usr/bin/{shell}");
    assert!(Path::new(&path).exists(), "{path} is missing: tests/run tools installs it");
    path
}

fn server() -> ApiServer {
    server_with([two_containers(Workload::deployment("web"))])
}

/// Runs a program that finds this one on its PATH, in a folder with one manifest.
fn with_the_program(program: &str, arguments: &[&str], server: &ApiServer) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_kubectl-inplace")).parent().expect("a folder").display();
    let path = format!("{folder}:/usr/bin:/bin");
    let binary = Binary::against(server, arguments).program(program).env("PATH", &path).env("TERM", "xterm");
    binary.file("old.yaml", "").run()
}

fn script(shell: &str) -> String {
    format!("{}/completions/inplace.{shell}", env!("CARGO_MANIFEST_DIR"))
}

/// What is typed, and what follows from it.
const TYPED: [(&str, &str); 13] = [
    ("kubectl-inplace pla", "kubectl-inplace plan "),
    ("kubectl-inplace plan --detai", "--detailed-exitcode "),
    ("kubectl-inplace plan --validate=w", "--validate=warn "),
    ("kubectl-inplace explain TemplateF", "TemplateFieldNotInPlace "),
    ("kubectl-inplace plan -f ol", "plan -f old.yaml "),
    ("kubectl-inplace plan --filename=ol", "plan --filename=old.yaml "),
    ("kubectl-inplace plan dep", "plan deployment/"),
    ("kubectl-inplace apply deployment/web si", "deployment/web side="),
    ("kubectl-inplace apply deploy web side=acme/s", "side=acme/side:"),
    ("kubectl-inplace apply deploy web side=acme/side:", "side=acme/side:v1 "),
    ("kubectl-inplace apply deploy/web --image side=acme/side", "side=acme/side:v1 "),
    ("kubectl-inplace restart deploy/web -c si", "-c side "),
    ("kubectl-inplace --context ", "--context fake "),
];

fn type_at(shell: &[&str], setup: &str) {
    let python = needed("python3");
    let server = server();
    let typist = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/type_at.py");
    for (typed, expected) in TYPED {
        let output = with_the_program(&python, &[&[typist, setup, typed, expected], shell].concat(), &server);
        assert_eq!(output.code, Some(0), "{shell:?}: {typed}: {output:?}");
    }
}

#[test]
fn in_bash() {
    let setup = format!("PS1='PROMPT>'; bind 'set enable-bracketed-paste off'; source {}", script("bash"));
    type_at(&[&needed("bash"), "--norc", "--noprofile", "-i"], &setup);
}

#[test]
fn in_zsh() {
    let setup = format!("PS1='PROMPT>'; autoload -Uz compinit; compinit -u -D; source {}", script("zsh"));
    type_at(&[&needed("zsh"), "-f", "-i"], &setup);
}

#[test]
fn in_fish() {
    let server = server();
    for (typed, expected) in TYPED {
        let line = format!("source {}; complete -C '{typed}'", script("fish"));
        let output = with_the_program(&needed("fish"), &["--no-config", "-c", &line], &server);
        let offered = output.stdout.lines().next().unwrap_or_default().split('\t').next().unwrap_or_default();
        assert!(!offered.is_empty() && expected.trim_end().ends_with(offered), "{typed}: {output:?}");
    }
}

#[test]
fn scripts_are_a_few_lines_and_nothing_hidden_shows() {
    for (shell, file) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish"), ("powershell", "ps1")] {
        let output = Binary::alone(["completion", shell]).run();
        assert_eq!(output.code, Some(0), "{output:?}");
        #[expect(clippy::disallowed_methods, reason = "compares with the file that is shipped")]
        let shipped = std::fs::read_to_string(script(file)).expect("it is shipped");
        assert_eq!(output.stdout, shipped);
        assert!(shipped.len() < 2_000, "{shell}");
    }
    for words in [&["__complete", ""][..], &["__complete", "_"], &["__complete", "plan", "-"]] {
        let output = Binary::alone(words).run();
        assert!(output.code == Some(0) && !output.stdout.contains("__complete"), "{output:?}");
    }
}

/// What can be checked of the script without its shell: brackets and quotes are closed, and it speaks the protocol.
#[test]
fn the_script_for_powershell_is_whole_and_speaks_the_protocol() {
    let text = Binary::alone(["completion", "powershell"]).run().stdout;
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let (mut open, mut quote) = (Vec::new(), None);
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            // Between double quotes a backtick escapes what follows; elsewhere there is none.
            (Some('"'), '`') => drop(letters.next()),
            (Some(begun), letter) if begun == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '[' | '{') => open.push(letter),
            (None, ')' | ']' | '}') => {
                let opened = open.pop().expect("what is closed was opened");
                assert!(["()", "[]", "{}"].contains(&format!("{opened}{letter}").as_str()), "{opened}{letter}: {code}");
            }
            (None, _) => {}
        }
    }
    assert!(open.is_empty() && quote.is_none(), "{open:?} {quote:?}: {code}");
    for part in [
        "Register-ArgumentCompleter -Native -CommandName 'kubectl-inplace' -ScriptBlock",
        "param($typed, $line, $position)",
        // Our words, the last one typed so far, and silence.
        "& $program __complete @words $last 2>$null",
        // The last line of an answer is its directive; of a candidate its help follows a tabulator.
        "Select-Object -SkipLast 1",
        "-split \"`t\", 2",
        "[System.Management.Automation.CompletionResult]::new(",
    ] {
        assert!(code.contains(part), "{part}: {code}");
    }
    let server = server();
    for words in [&["pla"][..], &["plan", "-f", ""], &["apply", "deployment/web", "si"], &["explain", "nothing"]] {
        let output = Binary::against(&server, [&["__complete"], words].concat()).run();
        let lines: Vec<&str> = output.stdout.lines().collect();
        let (directive, candidates) = lines.split_last().expect("a directive");
        assert!([":0", ":4", ":6"].contains(directive), "{output:?}");
        assert!(candidates.iter().all(|line| !line.starts_with(':') && !line.is_empty()), "{output:?}");
    }
}
