//! The second registry of `tests/cluster`: the same images, for those who know the password; and it may be down.
//!
//! Only this one is ever stopped, and only its users share the lock, so that nobody else notices.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Namespace, cluster};

/// The registry, which runs as long as this value does unless its owner stops it.
pub(crate) struct AuthRegistry {
    registry: &'static cluster::Guarded,
    /// Locked, for other test processes too; let go when it is closed.
    lock: File,
}

impl AuthRegistry {
    /// Returns it; nobody stops it meanwhile. `None` where the cluster is not that of `tests/cluster`.
    pub(crate) fn shared() -> Option<Self> {
        let registry = Self::open()?;
        registry.lock.lock_shared().expect("a file can be locked");
        Some(registry)
    }

    /// Returns it for a test that stops it, once nobody else uses it.
    pub(crate) fn alone() -> Option<Self> {
        let registry = Self::open()?;
        registry.lock.lock().expect("a file can be locked");
        Some(registry)
    }

    fn open() -> Option<Self> {
        let Some(registry) = cluster::guarded() else {
            eprintln!("skipped: a cluster of one's own has no second registry that the tests know");
            return None;
        };
        let state = Path::new(cluster::containerd()?).parent()?.parent()?;
        let lock = File::create(state.join("registry-auth.lock")).expect("the cluster's folder can be written to");
        Some(Self { registry, lock })
    }

    /// Returns the full name of one of its images, such as `app:v2`.
    pub(crate) fn image(&self, image: &str) -> String {
        format!("{}/{image}", self.registry.address)
    }

    /// Returns the password.
    pub(crate) fn password(&self) -> &str {
        &self.registry.password
    }

    /// Makes (or replaces) the Secret `credentials` of the namespace, with a password that may be wrong.
    pub(crate) fn credentials(&self, namespace: &Namespace, password: &str) {
        namespace.kubectl(&["delete", "secret", "credentials", "--ignore-not-found"]);
        namespace.kubectl(&[
            "create",
            "secret",
            "docker-registry",
            "credentials",
            &format!("--docker-server={}", self.registry.address),
            &format!("--docker-username={}", self.registry.user),
            &format!("--docker-password={password}"),
        ]);
    }

    /// Stops it until the answer is dropped, or this process ends.
    pub(crate) fn stop(&mut self) -> StoppedRegistry<'_> {
        // The command that it is stopped for: says so, and ends with its stdin.
        let mut script = Command::new("bash");
        script.args([cluster::SCRIPT, "without", "registry-auth", "sh", "-c", "echo stopped; exec cat"]);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash starts");
        let mut said = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut said).expect("stdout can be read");
        assert_eq!(said, "stopped\n");
        let is_gone = || TcpStream::connect(&self.registry.address).is_err().then_some(());
        super::poll(is_gone).expect("nobody listens");
        StoppedRegistry { _registry: self, child }
    }
}

/// The registry is down while this exists.
pub(crate) struct StoppedRegistry<'a> {
    _registry: &'a mut AuthRegistry,
    child: Child,
}

impl Drop for StoppedRegistry<'_> {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
