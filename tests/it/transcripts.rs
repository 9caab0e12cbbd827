//! The transcripts of the pages: those that need no cluster are run here, and each of the others has its scene in `tests/real`.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use std::collections::BTreeSet;

use testkit::sandbox;

use crate::support::getting_started;
use crate::support::pages::pages;
use crate::support::picture;
use crate::support::run::Binary;
use crate::support::transcript;

const OFFLINE: [&str; 1] = ["pull-request"];

fn file(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a file of the tree can be read")
}

/// Every block of commands with their output has a name, and a run that prints it.
#[test]
fn every_transcript_is_of_a_run() {
    let scenes = file("tests/real/transcripts/mod.rs") + &file("tests/support/getting_started.rs");
    let mut names = BTreeSet::new();
    for page in pages() {
        let mut before = ["", ""];
        for line in page.text.lines() {
            if line.starts_with("$ ") && before[1] == "```" {
                let name = before[0].strip_prefix("<!-- transcript: ").and_then(|rest| rest.strip_suffix(" -->"));
                let name =
                    name.unwrap_or_else(|| panic!("{}: no `<!-- transcript: NAME -->` above {line:?}", page.path));
                let has_scene = scenes.contains(&format!("\"{name}\"")) || OFFLINE.contains(&name);
                assert!(has_scene, "{}: nothing runs the transcript {name}", page.path);
                assert!(names.insert(name.to_owned()), "{}: there are two transcripts {name}", page.path);
            }
            before = [before[1], line];
        }
    }
}

/// The page of a newcomer, on the cluster that it starts.
#[test]
fn the_first_ten_commands_are_those_of_the_page() {
    let server = sandbox::start(0).expect("loopback has a free port");
    let run = |line: &str| {
        let line = line.replace("kubectl inplace", env!("CARGO_BIN_EXE_kubectl-inplace"));
        let output = Binary::against(&server, ["-c", &format!("exec 2>&1; {line}")]).program("/bin/sh").run();
        (output.code.unwrap_or(-1), output.stdout)
    };
    getting_started::check(run, &[]);
}

/// The picture in the README shows its transcripts, and nothing else.
#[test]
fn the_picture_has_the_text_of_its_transcripts() {
    let svg = std::fs::read_to_string(picture::FILE).expect("the picture can be read");
    assert_eq!(picture::text(&svg), picture::SHOWN.map(transcript::block).join("\n"));
}

fn manifest(tag: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: prod}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - {{name: app, image: 'acme/app:v1'}}
      - {{name: side, image: 'acme/side:{tag}'}}
"
    )
}

/// The step of a workflow on the page passes where everything can be done in place, and fails where something cannot; in a clone
/// as `actions/checkout` makes it, with one commit and no branch but that of the pull request.
#[test]
fn the_step_of_a_workflow_passes_and_fails_as_the_page_says() {
    let page = pages().into_iter().find(|page| page.path == "docs/pull-requests.md").expect("there is that page");
    let step = page.text.split("  run: |\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has a step");
    let step = step.replace("kubectl inplace", env!("CARGO_BIN_EXE_kubectl-inplace"));
    let commit = "git add deploy && git -c user.name=a -c user.email=a@example.com commit -qm v";
    let commit = format!(
        "git init -q -b main && {commit} && git checkout -qb change && (cp new.yaml deploy/web.yaml && {commit} --allow-empty) && \
         git clone -q --depth 1 --branch change \"file://$PWD\" work && cd work"
    );
    let surroundings = "export GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=summary";
    let added = "containers:\n      - {name: extra, image: 'acme/app:v1'}";
    let cases = [(manifest("v2"), 0), (manifest("v1"), 0), (manifest("v1").replace("containers:", added), 1)];
    for (new, code) in cases {
        let script = format!("set -e; {commit}; {surroundings}; {step}\ncat summary");
        let binary = Binary::alone(["-c", &script]).program("/bin/sh");
        let binary = binary.file("deploy/web.yaml", &manifest("v1")).file("new.yaml", &new);
        let output = binary.run();
        assert_eq!(output.code, Some(code), "{}", output.block());
        assert!(code != 0 || output.stdout.contains("deployment/web"), "{}", output.block());
    }
}

#[test]
fn a_pull_request_is_checked_without_a_cluster() {
    let commit =
        "git init -q -b main && git add web.yaml && git -c user.name=a -c user.email=a@example.com commit -qm v1";
    let commands = transcript::commands("pull-request");
    let run = |command: &String| {
        let line = command.replace("kubectl inplace", env!("CARGO_BIN_EXE_kubectl-inplace"));
        let script = format!("exec 2>&1; {commit} && mv new.yaml web.yaml && {{ {line}; }}");
        let binary = Binary::alone(["-c", &script]).program("/bin/sh");
        let output = binary.file("web.yaml", &manifest("v1")).file("new.yaml", &manifest("v2")).run();
        assert_eq!(output.code, Some(2), "{}", output.block());
        transcript::shown(&output.stdout, &[], &[])
    };
    transcript::check("pull-request", &commands.iter().map(run).collect::<Vec<_>>());
}
