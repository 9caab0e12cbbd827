//! Runs the binary as a user would: in an environment of its own, with a kubeconfig, and what it printed kept apart.
#![expect(clippy::disallowed_methods, reason = "tests write the kubeconfig and the manifests that the binary reads")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::api_server::ApiServer;
use super::redact::Redaction;

/// The only certificate authority that the binary knows: reading all those of a system takes half of a short run.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/authority.pem");

/// A folder that is gone when dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes an empty folder below the system's temporary one.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kubectl-inplace-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Self { path }
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("the temporary folder can be written");
        }
        std::fs::write(&path, content).expect("the temporary folder can be written");
        path
    }

    /// Returns what a file holds.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path.join(name)).ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system.
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// The binary about to be run. HOME is a folder of its own, which is also where it is started.
#[derive(Debug)]
pub(crate) struct Binary {
    program: PathBuf,
    folder: Folder,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    stdin: Option<Vec<u8>>,
    keep_stdin: bool,
    redaction: Redaction,
}

impl Binary {
    /// Prepares a run against a server.
    pub(crate) fn against<S: AsRef<str>>(server: &ApiServer, arguments: impl IntoIterator<Item = S>) -> Self {
        let mut binary = Self::alone(arguments);
        let path = binary.folder.write("kubeconfig", &server.kubeconfig().to_string());
        binary.environment.push(("KUBECONFIG".to_owned(), path.display().to_string()));
        binary.redaction = binary.redaction.replace(&server.address().to_string(), "127.0.0.1:PORT");
        binary
    }

    /// Prepares a run without any cluster.
    pub(crate) fn alone<S: AsRef<str>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let folder = Folder::new();
        let redaction = Redaction::default().replace(&folder.path().display().to_string(), "FOLDER");
        Self {
            program: PathBuf::from(env!("CARGO_BIN_EXE_kubectl-inplace")),
            folder,
            arguments: arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect(),
            environment: Vec::new(),
            stdin: None,
            keep_stdin: false,
            redaction,
        }
    }

    /// Runs another program in the binary's place, under the same conditions.
    pub(crate) fn program(mut self, program: &str) -> Self {
        self.program = PathBuf::from(program);
        self
    }

    /// Runs it with a stdout of which a line is read and no more; the exit code is the last line of stderr.
    pub(crate) fn read_no_further(mut self) -> Self {
        let line = self.in_a_shell("/bin/sh");
        self.arguments = vec!["-c".to_owned(), format!("{{ {line}; echo \"exit $?\" >&2; }} | head -n 1")];
        self
    }

    /// The same with a stdout that is closed before anything is written.
    pub(crate) fn read_nothing(mut self) -> Self {
        let line = self.in_a_shell("/bin/sh");
        self.arguments = vec!["-c".to_owned(), format!("{{ {line}; echo \"exit $?\" >&2; }} | :")];
        self
    }

    /// Puts a shell in the program's place, and returns the line that runs it.
    fn in_a_shell(&mut self, shell: &str) -> String {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let program = std::mem::replace(&mut self.program, PathBuf::from(shell)).display().to_string();
        let words = std::iter::once(program).chain(std::mem::take(&mut self.arguments));
        words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }

    /// Runs it on a pseudo-terminal, which `script` (util-linux, bsdutils) makes: stdin, stdout and stderr are it. What is
    /// typed comes from [`Running::type_in`]; everything shown is the stdout of the run.
    pub(crate) fn on_a_terminal(mut self) -> Self {
        let script = "/usr/bin/script";
        assert!(Path::new(script).exists(), "{script} is needed for a terminal: install util-linux (Debian: bsdutils)");
        let line = self.in_a_shell(script);
        self.arguments = vec!["-qec".to_owned(), line, "/dev/null".to_owned()];
        self.keep_stdin = true;
        self.env("TERM", "xterm").env("SHELL", "/bin/sh")
    }

    /// The same with a file as stdin; what is typed goes to the terminal all the same.
    pub(crate) fn on_a_terminal_reading(self, file: &str) -> Self {
        let mut binary = self.on_a_terminal();
        if let Some(line) = binary.arguments.get_mut(1) {
            line.push_str(&format!(" < '{file}'"));
        }
        binary
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Feeds stdin; without it stdin is empty.
    pub(crate) fn stdin(mut self, bytes: &[u8]) -> Self {
        self.stdin = Some(bytes.to_owned());
        self
    }

    /// Writes a file into the folder where the binary is started.
    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.folder.write(name, content);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Output {
        self.spawn().wait()
    }

    /// Starts it.
    pub(crate) fn spawn(self) -> Running {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env("PATH", "/usr/bin:/bin").env("SSL_CERT_FILE", AUTHORITY);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let stdin = if self.stdin.is_some() || self.keep_stdin { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let stdout = Stream::collect(child.stdout.take());
        let stderr = Stream::collect(child.stderr.take());
        let mut stdin = child.stdin.take();
        if let (Some(pipe), Some(bytes)) = (&mut stdin, self.stdin) {
            // A program that does not read its stdin closes it: no error of the test's.
            drop(pipe.write_all(&bytes));
        }
        let stdin = stdin.filter(|_| self.keep_stdin);
        Running { child, stdin, stdout, stderr, folder: self.folder, redaction: self.redaction }
    }
}

/// What came through a pipe so far.
#[derive(Debug)]
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Stream {
    fn collect(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let (mut pipe, mut buffer) = (pipe, [0; 4096]);
            // What came before an error is what there is.
            while let Some(count) =
                pipe.as_mut().and_then(|pipe| pipe.read(&mut buffer).ok()).filter(|count| *count > 0)
            {
                shared.lock().unwrap_or_else(PoisonError::into_inner).extend(buffer.iter().take(count));
            }
        });
        Self { bytes, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn finish(self) -> String {
        let bytes = self.bytes;
        drop(self.reader.join());
        let bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The running binary.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
    folder: Folder,
    redaction: Redaction,
}

impl Running {
    /// Sends a signal by name: `INT`, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("/bin/kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "SIG{name} was sent");
    }

    /// Waits until a text is on stdout; on a terminal that is all that is shown.
    #[track_caller]
    pub(crate) fn wait_for_stdout(&self, text: &str) {
        super::clock::eventually(text, || self.stdout.so_far().contains(text).then_some(()));
    }

    /// Waits until a text is on stderr.
    #[track_caller]
    pub(crate) fn wait_for_stderr(&self, text: &str) {
        let deadline = super::clock::now() + std::time::Duration::from_secs(30);
        while !self.stderr.so_far().contains(text) {
            assert!(super::clock::now() < deadline, "{text:?} was not said, but\n{}", self.stderr.so_far());
            super::clock::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Types at the terminal.
    pub(crate) fn type_in(&mut self, text: &str) {
        let typed = self.stdin.as_mut().map(|stdin| stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()));
        assert!(typed.is_some_and(|typed| typed.is_ok()), "{text:?} was typed");
    }

    /// Waits for the end. A run that hangs is killed after a minute.
    pub(crate) fn wait(mut self) -> Output {
        let deadline = super::clock::now() + std::time::Duration::from_secs(60);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            if super::clock::now() > deadline {
                drop(self.child.kill());
            }
            super::clock::sleep(std::time::Duration::from_millis(2));
        };
        let stdout = self.stdout.finish();
        super::schemas::assert_output(&stdout);
        Output {
            code: status.code(),
            stdout,
            stderr: self.stderr.finish(),
            folder: self.folder,
            redaction: self.redaction,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Where it ran, with what it left there.
    pub(crate) folder: Folder,
    redaction: Redaction,
}

impl Output {
    /// Returns the text on stdout after a label, such as the command after `Resume:`.
    #[track_caller]
    pub(crate) fn after(&self, label: &str) -> &str {
        let found = self.stdout.lines().find_map(|line| line.strip_prefix(label));
        found.unwrap_or_else(|| panic!("no {label:?}: {}", self.block()))
    }

    /// Returns exit status, stdout and stderr as one text without what changes from run to run.
    pub(crate) fn block(&self) -> String {
        let code = self.code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        let text = format!("exit {code}\n----- stdout -----\n{}----- stderr -----\n{}", self.stdout, self.stderr);
        self.redaction.apply(&text)
    }

    /// Returns a text of this run without what changes from run to run, durations included. Of the times per pod it is chance
    /// which there are: the API has them in whole seconds.
    pub(crate) fn without_durations(&self, text: &str) -> String {
        let times = |line: &str| match line.split_once("Downtime per pod (").and_then(|(_, rest)| rest.split_once("):"))
        {
            Some((container, _)) => format!("Downtime per pod ({container}): TIMES\n"),
            None => line.to_owned(),
        };
        let text: String = text.split_inclusive('\n').map(times).collect();
        self.redaction.clone().durations().apply(&text)
    }
}
