//! A namespace of the test's own, and what a test does in it.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::alone::{Alone, Share};
use super::cluster::{command, command_with_plugin};
use super::pods::is_ready;
use super::poll;
use super::process::{Output, Running};
use super::watch::Watch;

/// A namespace that exists as long as this value does; its deletion is not waited for.
pub(crate) struct Namespace {
    name: String,
    /// Nobody stops a server meanwhile; `None` in a test that does.
    _share: Option<Share>,
}

impl Namespace {
    /// Creates it, under a name of its own that begins with the given one.
    pub(crate) fn new(name: &str) -> Self {
        let share = Share::take();
        Self::create(name, Some(share))
    }

    /// Creates one for a test that is alone.
    pub(crate) fn beside(_: &Alone, name: &str) -> Self {
        Self::create(name, None)
    }

    fn create(name: &str, share: Option<Share>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_millis();
        let name = format!("{name}-{now}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let namespace = Self { name, _share: share };
        namespace.kubectl(&["create", "namespace", &namespace.name]);
        // Until a controller has made it, pods are refused.
        namespace.kubectl(&["wait", "--for=create", "--timeout=120s", "serviceaccount/default"]);
        namespace
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Applies a manifest.
    pub(crate) fn apply(&self, yaml: &str) {
        self.kubectl_input(&["apply", "-f", "-"], yaml);
    }

    /// Runs kubectl in the namespace with a text on its stdin; a failure fails the test.
    pub(crate) fn kubectl_input(&self, arguments: &[&str], input: &str) -> String {
        let output = Running::start_with_input(self.kubectl_command(arguments), Some(input)).wait();
        assert_eq!(output.code, 0, "kubectl {}: {}\n{input}", arguments.join(" "), output.stderr);
        output.stdout
    }

    /// Runs kubectl in the namespace with an input; a failure is an answer.
    pub(crate) fn try_kubectl(&self, arguments: &[&str], input: &str) -> Output {
        Running::start_with_input(self.kubectl_command(arguments), Some(input)).wait()
    }

    /// Runs kubectl in the namespace and returns its stdout; a failure fails the test.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let output = Running::start(self.kubectl_command(arguments)).wait();
        assert_eq!(output.code, 0, "kubectl {}: {}", arguments.join(" "), output.stderr);
        output.stdout
    }

    /// Runs a command that the program has printed, as somebody would who pastes it; a failure fails the test.
    pub(crate) fn paste(&self, line: &str) {
        let mut shell = command("sh", "real-shell");
        let plugin = std::path::Path::new(env!("CARGO_BIN_EXE_kubectl-inplace")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        shell.args(["-c", line]).env("PATH", format!("{}:{path}", plugin.display()));
        let output = Running::start(shell).wait();
        assert_eq!(output.code, 0, "{line}: {}", output.stderr);
    }

    /// Returns the pods that a label selector selects, terminating ones too, by name.
    pub(crate) fn pods(&self, selector: &str) -> Vec<Value> {
        // The plain path, because it costs kubectl a third of what it takes to find out what `pods` are.
        let selector = selector.replace('=', "%3D");
        let path = format!("/api/v1/namespaces/{}/pods?labelSelector={selector}", self.name);
        let list: Value =
            serde_json::from_str(&self.kubectl(&["get", "--raw", &path])).expect("the server answers in JSON");
        let mut pods = list["items"].as_array().cloned().unwrap_or_default();
        pods.sort_by(|left, right| left["metadata"]["name"].as_str().cmp(&right["metadata"]["name"].as_str()));
        pods
    }

    /// Waits until the selector selects exactly `count` pods, each Ready and none terminating, and returns them by name.
    pub(crate) fn wait_ready(&self, selector: &str, count: usize) -> Vec<Value> {
        self.wait_pods(selector, |pods| pods.len() == count && pods.iter().all(is_ready))
    }

    /// Waits until the selected pods are as wanted, and returns them by name.
    pub(crate) fn wait_pods(&self, selector: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut last = Vec::new();
        poll(|| {
            last = self.pods(selector);
            wanted(&last).then(|| last.clone())
        })
        .unwrap_or_else(|| panic!("the pods {selector} of {} never came to be as wanted: {last:#?}", self.name))
    }

    /// Runs the binary under test to its end, with `-n` and the namespace appended, nothing on its stdin.
    pub(crate) fn inplace(&self, arguments: &[&str]) -> Output {
        self.inplace_spawn(arguments).wait()
    }

    /// Runs the binary under test as [`Namespace::inplace`] does, with a text on its stdin.
    pub(crate) fn inplace_input(&self, arguments: &[&str], input: &str) -> Output {
        Running::start_with_input(self.inplace_command(arguments), Some(input)).wait()
    }

    /// Starts the binary under test as [`Namespace::inplace`] does, for a test that does something while it runs.
    pub(crate) fn inplace_spawn(&self, arguments: &[&str]) -> Running {
        Running::start(self.inplace_command(arguments))
    }

    /// Returns what [`Namespace::inplace`] runs, for a test that changes its surroundings.
    pub(crate) fn inplace_command(&self, arguments: &[&str]) -> Command {
        let mut binary = command(env!("CARGO_BIN_EXE_kubectl-inplace"), "real-home");
        binary.args(arguments).args(["-n", &self.name]);
        binary
    }

    /// Runs the binary after another run of it was killed: a request of that run may have reached the server since, and look alive.
    pub(crate) fn inplace_after_a_kill(&self, arguments: &[&str]) -> Output {
        let output = self.inplace(arguments);
        let was_late = output.code == 6 && output.stdout.contains("has given another sign of life");
        if was_late { self.inplace(arguments) } else { output }
    }

    /// Runs a line as the user types it, in a shell whose PATH has the real kubectl and, as its plugin, the binary
    /// under test. Nothing is appended: the line is complete.
    pub(crate) fn type_line(&self, line: &str) -> Output {
        let mut shell = command_with_plugin("sh", "real-home");
        shell.args(["-c", line]);
        Running::start(shell).wait()
    }

    /// Starts to follow everything that happens to the selected pods, in kubectl's own watch, which has begun when this
    /// returns.
    pub(crate) fn watch(&self, selector: &str) -> Watch {
        let count = self.pods(selector).len();
        Watch::start(self.kubectl_command(&["get", "pods", "-l", selector, "--watch", "-o", "json"]), count)
    }

    /// Starts to follow everything that happens to the `count` selected ReplicaSets.
    pub(crate) fn watch_replica_sets(&self, selector: &str, count: usize) -> Watch {
        Watch::start(self.kubectl_command(&["get", "replicasets", "-l", selector, "--watch", "-o", "json"]), count)
    }

    fn kubectl_command(&self, arguments: &[&str]) -> Command {
        let mut kubectl = command("kubectl", "real-kubectl");
        kubectl.args(arguments).args(["-n", &self.name]);
        kubectl
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if thread::panicking() {
            for what in [["get", "pods", "-o", "wide"], ["get", "events", "--sort-by", ".metadata.creationTimestamp"]] {
                let seen = Running::start(self.kubectl_command(&what)).wait();
                eprintln!("{} in {}:\n{}{}", what.join(" "), self.name, seen.stdout, seen.stderr);
            }
        }
        Running::start(self.kubectl_command(&["delete", "namespace", &self.name, "--wait=false"])).wait();
    }
}

#[test]
fn the_binary_under_test_runs() {
    let namespace = Namespace::new("support-binary");
    let output = namespace.inplace(&["version"]);
    assert_eq!(output.code, 0, "{output:?}");
}
