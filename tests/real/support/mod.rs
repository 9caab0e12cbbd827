//! What the tests against a real cluster stand on: finding or starting the cluster, a namespace per test, sample workloads,
//! the binary under test. Every failure here panics with what was asked and what the cluster answered: it fails the test.

mod api;
mod cluster;
mod namespace;
mod openapi;
mod pods;
mod process;
mod random;
pub(crate) mod samples;

pub(crate) use api::Api;
pub(crate) use cluster::{command, kubeconfig, registry};
pub(crate) use namespace::Namespace;
pub(crate) use openapi::{Leaf, OpenApi, Step};
pub(crate) use pods::{container_status, restarted};
pub(crate) use random::Random;

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for: generous, because a busy machine is no failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks every fifth of a second until there is an answer; `None` after [`PATIENCE`].
fn poll<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        sleep(Duration::from_millis(200));
    }
}
