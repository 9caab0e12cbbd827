//! A sandbox of its own for a test.
#![expect(
    dead_code,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "starts programs, and is compiled into two tests that use different parts"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use testkit::clock;

/// A running sandbox; it stops when dropped.
pub(crate) struct Sandbox {
    pub(crate) child: Child,
    /// Its line of output.
    pub(crate) line: String,
    pub(crate) home: PathBuf,
}

/// An empty directory of this test.
pub(crate) fn directory() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sandbox-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory for temporary files");
    path
}

/// The program, with nothing to read.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_sandbox"));
    program.stdin(Stdio::null());
    program
}

impl Sandbox {
    /// Starts one, and waits until it is ready.
    pub(crate) fn start() -> Self {
        let home = directory();
        let mut program = program();
        program.arg("--kubeconfig").arg(home.join("config")).arg("--until-stdin-closes");
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the sandbox starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it prints text");
        assert!(line.contains("ready"), "{line:?}");
        Self { child, line, home }
    }

    /// Starts one for kubectl; `None`, and a line that says so, where there is no kubectl on the PATH.
    pub(crate) fn for_kubectl() -> Option<Self> {
        let found = Command::new("kubectl").args(["version", "--client"]).stdout(Stdio::null()).status();
        if found.is_err() {
            eprintln!("skipped: there is no kubectl on the PATH");
            return None;
        }
        Some(Self::start())
    }

    /// The host and port that it listens on.
    pub(crate) fn address(&self) -> String {
        let text = std::fs::read_to_string(self.home.join("config")).expect("it wrote a kubeconfig");
        let config: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let server = config.pointer("/clusters/0/cluster/server").and_then(serde_json::Value::as_str);
        server.and_then(|url| url.strip_prefix("http://")).expect("a URL").to_owned()
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new("kubectl");
        command.args(words.split_whitespace()).current_dir(&self.home).stdin(Stdio::null());
        command.env("KUBECONFIG", self.home.join("config")).env("HOME", &self.home);
        command
    }

    fn run(&self, words: &str) -> (bool, String) {
        let output = self.command(words).output().expect("kubectl starts");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Runs kubectl, which succeeds, and returns what it prints.
    #[track_caller]
    pub(crate) fn kubectl(&self, words: &str) -> String {
        let (success, text) = self.run(words);
        assert!(success, "kubectl {words}\n{text}");
        text
    }

    /// Runs kubectl, which fails, and returns what it prints.
    #[track_caller]
    pub(crate) fn refused(&self, words: &str) -> String {
        let (success, text) = self.run(words);
        assert!(!success, "kubectl {words}\n{text}");
        text
    }

    /// Runs kubectl until it prints what is wanted.
    #[track_caller]
    pub(crate) fn until(&self, words: &str, wanted: &str) -> String {
        clock::eventually(&format!("{wanted:?} in kubectl {words}"), || {
            clock::sleep(Duration::from_millis(50));
            Some(self.kubectl(words)).filter(|text| text.contains(wanted))
        })
    }

    /// Writes a manifest for `kubectl -f`.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.join(name), text).expect("a file is written");
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It has ended by itself, or ends now: a test that failed before has more to say than this.
        drop(self.child.wait());
        drop(std::fs::remove_dir_all(&self.home));
    }
}
