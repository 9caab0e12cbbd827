//! The only module that names kube: reads, dry runs, patches and watches, in the engine's own types.

pub mod connect;
mod desired;
pub mod error;
mod failure_report;
mod namespace;
mod objects;
mod overview;
mod send;
mod sidecar_set;
mod snapshot;
mod watch;

use std::time::Duration;

use connect::warnings::{ServerClock, Warnings};

pub use desired::{drops_template, merged_here};
pub use namespace::NamespaceFacts;
pub use overview::Overview;
pub use send::answer;
pub use snapshot::Nodes;
pub use watch::{PodScope, WatchedPods};

/// Questions at once.
const AT_ONCE: usize = 10;

const TCP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may take, its TLS handshake included: three tries are as long as kubectl's five of ten seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone)]
#[expect(clippy::disallowed_types, reason = "holds the client")]
pub struct Cluster {
    client: kube::Client,
    namespace: String,
    context: Option<String>,
    /// The address, in the form that the user checks before confirming.
    server: String,
    warnings: Warnings,
    clock: ServerClock,
}

impl Cluster {
    /// Returns the namespace of the flag, else of the context, else `default`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the server's time by its newest answer (RFC 3339, whole seconds); `None` until an answer has had it.
    pub fn now(&self) -> Option<String> {
        self.clock.now().map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    /// Returns the warnings that the server has sent so far, each once.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.texts()
    }
}
