//! What the tests against a real cluster stand on: finding or starting the cluster, a namespace per test, sample workloads,
//! the binary under test. Every failure here panics with what was asked and what the cluster answered: it fails the test.

mod alone;
mod api;
mod auth_registry;
mod cluster;
mod gate;
mod namespace;
mod openapi;
mod owner;
mod pods;
mod process;
mod proxy;
mod random;
pub(crate) mod samples;
mod watch;

pub(crate) use alone::Alone;
pub(crate) use api::Api;
pub(crate) use auth_registry::AuthRegistry;
pub(crate) use cluster::{command, containerd, kubeconfig, registry};
pub(crate) use gate::{Gate, Moment};
pub(crate) use namespace::Namespace;
pub(crate) use openapi::{Leaf, OpenApi, Step};
pub(crate) use owner::{Kind, Owner};
pub(crate) use pods::{container_status, image, images, is_ready, name, restarted};
pub(crate) use process::{Output, Running};
pub(crate) use proxy::Proxy;
pub(crate) use random::Random;
pub(crate) use samples::tag_manifest;
pub(crate) use watch::{Seen, Watch};

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for: generous, because a busy machine is no failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks every fifth of a second until there is an answer; `None` after [`PATIENCE`].
pub(crate) fn poll<T>(ask: impl FnMut() -> Option<T>) -> Option<T> {
    poll_every(Duration::from_millis(200), ask)
}

/// Asks again after each pause until there is an answer; `None` after [`PATIENCE`].
fn poll_every<T>(pause: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        sleep(pause);
    }
}
