//! Programs that a test starts: their output is read while they run, they can be signalled, and they never outlive it.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use super::poll_every;

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; 128 + N where signal N ended it, as a shell has it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end.
    pub(crate) elapsed: Duration,
    /// When the end was seen, a few milliseconds after it.
    pub(crate) ended: Instant,
}

/// A program that runs. Dropped before its end, it is killed.
pub(crate) struct Running {
    child: Child,
    started: Instant,
    stdout: Stream,
    stderr: Stream,
}

impl Running {
    /// Starts it, with its output captured.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_with_input(command, None)
    }

    /// Starts it, with its output captured and a text on its stdin.
    pub(crate) fn start_with_input(mut command: Command, input: Option<&str>) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let started = Instant::now();
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            // A program that does not read it says why when it ends.
            let _ = stdin.write_all(input.as_bytes());
        }
        let stdout = Stream::new(child.stdout.take());
        let stderr = Stream::new(child.stderr.take());
        Self { child, started, stdout, stderr }
    }

    /// Waits until its stdout or stderr contains the text: the moment to signal it, or to change the cluster under it.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let seen = poll_every(Duration::from_millis(5), || {
            let ended = self.ended().is_some();
            let found = self.stdout.text().contains(text) || self.stderr.text().contains(text);
            (found || ended).then_some(found)
        });
        assert_eq!(
            seen,
            Some(true),
            "it never said {text:?}; stdout:\n{}stderr:\n{}",
            self.stdout.text(),
            self.stderr.text()
        );
    }

    /// Sends it a signal by name, as `kill -s` takes it (`INT`, `TERM`, `STOP`).
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(status.success(), "kill -s {name}: {status}");
    }

    /// Waits for its end; a program that does not end by itself is killed, and fails the test.
    pub(crate) fn wait(mut self) -> Output {
        let status = poll_every(Duration::from_millis(5), || self.ended()).unwrap_or_else(|| {
            panic!("it does not end; stdout:\n{}stderr:\n{}", self.stdout.text(), self.stderr.text());
        });
        let ended = Instant::now();
        self.stdout.finish();
        self.stderr.finish();
        let code = status
            .code()
            .or_else(|| status.signal().map(|signal| 128 + signal))
            .expect("a program ends by one of them");
        super::schemas::assert_output(&self.stdout.text());
        Output { code, stdout: self.stdout.text(), stderr: self.stderr.text(), elapsed: ended - self.started, ended }
    }

    /// Returns whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.ended().is_some()
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What a program has said so far.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn new(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&bytes);
        let mut pipe = pipe.expect("the output is captured");
        let reader = spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = pipe.read(&mut chunk) {
                written.lock().unwrap_or_else(PoisonError::into_inner).extend(chunk.iter().take(n));
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    /// Waits until everything has been read.
    fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

#[test]
fn a_running_program_is_heard_signalled_and_waited_for() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap 'echo bye >&2; exit 143' TERM; echo ready; while :; do sleep 0.1; done"]);
    let mut running = Running::start(shell);
    running.wait_for("ready");
    running.signal("TERM");
    let output = running.wait();
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (143, "ready\n", "bye\n"));
    assert!(output.elapsed < Duration::from_secs(60), "{:?}", output.elapsed);

    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -s KILL $$"]);
    assert_eq!(Running::start(shell).wait().code, 137);
}
