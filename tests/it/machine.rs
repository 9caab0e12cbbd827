//! What the scripts say on a machine that lacks something: one line, before anything is built.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::support::run::Folder;

/// Programs that the scripts use before they build, taken from this machine.
const TOOLS: [&str; 28] = [
    "awk",
    "bash",
    "cat",
    "comm",
    "cp",
    "cut",
    "dirname",
    "du",
    "echo",
    "env",
    "flock",
    "grep",
    "head",
    "mkdir",
    "mktemp",
    "paste",
    "realpath",
    "rm",
    "sed",
    "sha256sum",
    "sort",
    "stat",
    "tail",
    "tee",
    "tr",
    "uname",
    "wc",
    "xargs",
];

/// A machine: the tools, and these programs of its own, each a shell script.
fn machine(programs: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    for tool in TOOLS {
        let found = ["/usr/bin", "/bin"].iter().map(|place| Path::new(place).join(tool)).find(|path| path.exists());
        symlink(found.unwrap_or_else(|| panic!("{tool} is not on this machine")), folder.path().join(tool))
            .expect("a new folder");
    }
    for (name, script) in programs {
        let path = folder.write(name, &format!("#!/bin/sh\n{script}\n"));
        let mut mode = path.metadata().expect("just written").permissions();
        mode.set_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("just written");
    }
    folder
}

/// Runs a script of the repository on that machine; returns what became of it.
fn output_of(machine: &Folder, script: &str, arguments: &[&str]) -> Output {
    script_on(machine, script, arguments).output().expect("bash can be run")
}

fn script_on(machine: &Folder, script: &str, arguments: &[&str]) -> Command {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let home = machine.path().join("home");
    let mut command = Command::new("/bin/bash");
    command
        .arg(root.join(script))
        .args(arguments)
        .env_clear()
        .env("PATH", machine.path())
        .env("HOME", &home)
        // The scripts read it, too.
        .env("GOROOT", &home)
        .env("CARGO_TARGET_DIR", home.join("target"))
        .current_dir(&root);
    command
}

/// Runs the tests of the real cluster, which somebody else has brought up.
fn real_tests(machine: &Folder) -> Output {
    let mut command = script_on(machine, "tests/run", &["real"]);
    command.env("INPLACE_TEST_KUBECONFIG", "elsewhere").output().expect("bash can be run")
}

/// Likewise; returns its exit code and what it said on stderr.
fn run(machine: &Folder, script: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = output_of(machine, script, arguments);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const ROOT: (&str, &str) = ("id", "echo 0");
const SOMEBODY: (&str, &str) = ("id", "echo 1000");
const GO: (&str, &str) = ("go", "case $2 in GOVERSION) echo go1.26.0 ;; *) echo /nowhere/$2 ;; esac");
const OLD_GO: (&str, &str) = ("go", "echo go1.19.8");
const DISK: (&str, &str) = ("df", "echo Filesystem; echo /dev/vda 900000 1 99999 1% /");
const FULL_DISK: (&str, &str) = ("df", "echo Filesystem; echo /dev/vda 900000 1 100 99% /");
const NO_PACKAGES: (&str, &str) = ("dpkg-query", "exit 1");
const CARGO: (&str, &str) = ("cargo", "echo 'cargo was called' >&2; exit 1");

#[test]
fn what_a_machine_lacks_is_one_line_before_anything_is_built() {
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[SOMEBODY, GO, DISK], "cluster: 'deps' needs root (the node runs containers)"),
        (&[ROOT, DISK], "cluster: Go is missing (1.21 or newer; it builds Kubernetes from source): https://go.dev/dl"),
        (&[ROOT, OLD_GO, DISK], "cluster: go1.19.8 is too old: Go 1.21 or newer is needed"),
        (&[ROOT, GO, FULL_DISK], "cluster: too little disk: building Kubernetes takes "),
        (
            &[ROOT, GO, DISK, NO_PACKAGES],
            "cluster: missing, and there is no apt-get to install them (Debian's names): busybox-static",
        ),
    ];
    for (programs, expected) in cases {
        let (code, said) = run(&machine(programs), "tests/cluster/cluster", &["deps"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.starts_with(expected) && said.lines().count() == 1, "{said:?} for {expected:?}");
    }
}

#[test]
fn the_demo_says_the_same_and_names_the_way_without_root() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[ROOT, GO, FULL_DISK, CARGO], "demo: too little disk: building the plugin takes "),
        (&[ROOT, GO, DISK], "demo: cargo is missing (it builds the plugin): https://rustup.rs"),
        (&[SOMEBODY, GO, DISK, CARGO], "demo: a real cluster of its own needs Linux and root"),
        (&[ROOT, OLD_GO, DISK, CARGO], "cluster: go1.19.8 is too old"),
    ];
    for (programs, expected) in cases {
        let (code, said) = run(&machine(programs), "examples/demo", &["--real"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.starts_with(expected) && said.lines().count() == 1, "{said:?} for {expected:?}");
    }
}

const RUST: (&str, &str) = ("rustc", "echo 'rustc 1.95.0 (59807616e 2026-04-14)'");
const OLD_RUST: (&str, &str) = ("rustc", "echo 'rustc 1.85.0 (4d91de4e4 2025-02-17)'");
const CARGO_WITH_ALL: (&str, &str) = ("cargo", "exit 0");
const SHELLS: [(&str, &str); 3] = [("zsh", "exit 0"), ("fish", "exit 0"), ("python3", "exit 0")];

#[test]
fn the_tests_say_the_same_and_what_runs_without_a_cluster() {
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[ROOT, GO, DISK], "tests/run: cargo is missing (Rust 1."),
        (&[ROOT, GO, DISK, CARGO_WITH_ALL, OLD_RUST], "tests/run: Rust 1.85.0 is too old: 1."),
        (
            &[ROOT, GO, DISK, CARGO, RUST],
            "tests/run: rustfmt is missing, and there is no rustup to install it (Debian's package: rustfmt)",
        ),
        (&[ROOT, GO, FULL_DISK, CARGO_WITH_ALL, RUST], "tests/run: too little disk: the tests' build takes "),
        (&[SOMEBODY, GO, DISK, CARGO_WITH_ALL, RUST], "cluster: 'deps' needs root"),
        (&[ROOT, DISK, CARGO_WITH_ALL, RUST], "cluster: Go is missing"),
    ];
    for (programs, expected) in cases {
        let needs_a_cluster = expected.starts_with("cluster");
        let step = needs_a_cluster.then_some("real");
        let (code, said) = run(&machine(&[programs, &SHELLS].concat()), "tests/run", step.as_slice());
        assert_eq!(code, Some(1), "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(said.starts_with(expected), "{said:?} for {expected:?}");
        let way = "tests/run: all that needs no cluster: tests/run";
        let follows: &[&str] = if needs_a_cluster { &[way] } else { &[] };
        assert_eq!(lines.get(1..), Some(follows), "{said}");
    }
}

/// Each of the two runs of the step has a test that fails; by itself it passes, or it does not.
#[test]
fn a_test_on_the_real_cluster_has_a_second_try_and_is_named() {
    for (again, code, last) in [("ok", Some(0), "4 passed, 0 failed"), ("FAILED", Some(1), "2 passed, 2 failed")] {
        let exit = if again == "ok" { 0 } else { 101 };
        let script = format!(
            "case \"$*\" in
            *--exact*) echo 'test late ... {again}'; echo 'test result: {again}. 1 passed; 0 failed; 0 ignored'; exit {exit} ;;
            *) echo 'test good ... ok'; echo 'test late ... FAILED'; echo 'test result: FAILED. 1 passed; 1 failed; 0'; exit 101 ;;
            esac"
        );
        let output = real_tests(&machine(&[("cargo", &script)]));
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), said.lines().last()), (code, Some(last)), "{said}");
        assert_eq!(said.contains("\npassed only at the second try, 2: late late\n"), again == "ok", "{said}");
    }
}

#[test]
fn what_a_run_leaves_in_the_tree_is_named_and_fails_it() {
    let cargo = ("cargo", "echo 'test result: ok. 1 passed; 0 failed; 0 ignored'");
    let changes =
        |after: &str| format!("[ -e \"$0.ran\" ] || {{ : >\"$0.ran\"; echo ' M src/lib.rs'; exit; }}\n{after}");
    for (git, code, left) in [
        (changes("echo ' M src/lib.rs'"), 0, ""),
        (changes("echo ' M src/lib.rs'; echo '?? go'"), 1, "tests/run: the tree is not as it was before:\n?? go\n"),
        (changes(""), 1, "tests/run: the tree is not as it was before:\n M src/lib.rs\n"),
        // No checkout of git.
        ("exit 128".to_owned(), 0, ""),
    ] {
        let output = real_tests(&machine(&[cargo, ("git", &git)]));
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), said.lines().last()), (Some(code), Some("2 passed, 0 failed")), "{said}");
        assert_eq!(said.contains("failed steps: clean tree\n"), code == 1, "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), left);
    }
}
