//! What the tests of commands share: a cluster with workloads of the usual shape, a run of a typed line, and what the
//! server was sent.

use serde_json::{Value, json};

use super::api_server::{ApiServer, Logged};
use super::builders::{self, Workload};
use super::run::{Binary, Output};

/// A container's field: ready only once a probe passes. Without one a rollout holds its first pod for five seconds.
pub(crate) fn probe() -> Value {
    json!({"readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 1}})
}

/// The containers `app` and `side`, both with a readiness probe.
pub(crate) fn two_containers(workload: Workload) -> Workload {
    workload.container_with("app", "acme/app:v1", probe()).container_with("side", "acme/side:v1", probe())
}

/// A server with a node and these workloads.
pub(crate) fn server_with(workloads: impl IntoIterator<Item = Workload>) -> ApiServer {
    let server = ApiServer::with([builders::node("node-a", "v1.36.3")]);
    for workload in workloads {
        server.insert(workload.objects());
    }
    server
}

/// A server with the Deployment `web`: three pods of `app` and `side`.
pub(crate) fn web() -> ApiServer {
    server_with([two_containers(Workload::deployment("web"))])
}

/// The same with the controllers running.
pub(crate) fn with_controllers() -> ApiServer {
    let server = web();
    server.run_controllers(true);
    server
}

/// These workloads, with controllers running.
pub(crate) fn with_controllers_of(workloads: impl IntoIterator<Item = Workload>) -> ApiServer {
    let server = server_with(workloads);
    server.run_controllers(true);
    server
}

/// Prepares a run of a line, its words separated by blanks.
pub(crate) fn typed(server: &ApiServer, line: &str) -> Binary {
    Binary::against(server, line.split_whitespace())
}

/// Runs a line.
pub(crate) fn run(server: &ApiServer, line: &str) -> Output {
    typed(server, line).run()
}

/// The line that gives `web` a new sidecar without a question; more words may follow.
pub(crate) const APPLY: &str = "apply deploy/web side=acme/side:v2 --pods-only --yes";

/// Returns the image of a container in each pod's spec, by name of the pod.
pub(crate) fn images(server: &ApiServer, container: &str) -> Vec<String> {
    let image = |pod: &Value| {
        let lists = ["containers", "initContainers"].map(|list| pod["spec"][list].as_array().cloned());
        let mut all = lists.into_iter().flatten().flatten();
        all.find(|one| one["name"] == container).and_then(|one| one["image"].as_str().map(str::to_owned))
    };
    server.objects("pods").iter().filter_map(image).collect()
}

/// Returns the patches of pods that were meant: no dry runs.
pub(crate) fn patches(server: &ApiServer) -> Vec<Logged> {
    server.writes().into_iter().filter(|write| write.method == "PATCH").collect()
}

/// Returns the names of the pods that were patched, in the order of the patches.
pub(crate) fn patched(server: &ApiServer) -> Vec<String> {
    patches(server).iter().filter_map(|patch| patch.path.rsplit('/').next().map(str::to_owned)).collect()
}

impl Output {
    /// Asserts the exit code, and shows everything where it is another.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.block());
        self
    }

    /// Asserts that stdout holds a text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{text:?} is not on stdout\n{}", self.block());
        self
    }

    /// Asserts that stderr holds a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not on stderr\n{}", self.block());
        self
    }

    /// Asserts that neither stream holds a text.
    #[track_caller]
    pub(crate) fn omits(self, text: &str) -> Self {
        assert!(!self.stdout.contains(text) && !self.stderr.contains(text), "{text:?} is told\n{}", self.block());
        self
    }

    /// Returns stdout as JSON, one value a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}\n{}", self.block()))
    }

    /// Returns stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.block()))
    }
}
