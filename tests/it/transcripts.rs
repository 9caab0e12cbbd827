//! The README's transcripts: those that need no cluster are run here, and each of the others has its scene in `tests/real`.
#![expect(clippy::disallowed_methods, reason = "reads files of the tree")]

use crate::support::run::Binary;
use crate::support::transcript;

const OFFLINE: [&str; 1] = ["pull-request"];

fn file(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a file of the tree can be read")
}

/// Whoever adds a block of commands with what they print gives it a name, and a run that prints it.
#[test]
fn every_transcript_is_of_a_run() {
    let (readme, scenes) = (file("README.md"), file("tests/real/transcripts.rs"));
    let mut before = ["", ""];
    for line in readme.lines() {
        if line.starts_with("$ ") && before[1] == "```" {
            let name = before[0].strip_prefix("<!-- transcript: ").and_then(|rest| rest.strip_suffix(" -->"));
            let name = name.unwrap_or_else(|| panic!("README.md: no `<!-- transcript: NAME -->` above {line:?}"));
            let has_scene = scenes.contains(&format!("\"{name}\"")) || OFFLINE.contains(&name);
            assert!(has_scene, "README.md: nothing runs the transcript {name}");
        }
        before = [before[1], line];
    }
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
