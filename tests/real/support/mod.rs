//! The base of the tests against a real cluster: finding or starting the cluster, a namespace per test, sample
//! workloads, the binary under test. Every failure here panics with the request and the cluster's answer: it fails the
//! test.

mod alone;
mod api;
mod auth_registry;
mod cluster;
mod flux;
mod gate;
#[path = "../../support/kubeconfigs.rs"]
pub(crate) mod kubeconfigs;
mod namespace;
mod openapi;
mod owner;
mod pods;
mod process;
mod proxy;
mod random;
pub(crate) mod samples;
#[path = "../../support/schemas.rs"]
mod schemas;
mod simulated;
mod watch;

pub(crate) use alone::Alone;
pub(crate) use api::Api;
pub(crate) use auth_registry::AuthRegistry;
pub(crate) use cluster::{command, containerd, kubeconfig, registry};
pub(crate) use flux::reconcile as reconcile_by_flux;
pub(crate) use gate::{Gate, Moment};
pub(crate) use namespace::Namespace;
pub(crate) use openapi::{Leaf, OpenApi, Step};
pub(crate) use owner::{Fields, Kind, Owner};
pub(crate) use pods::{container_status, image, images, is_ready, name, restarted, running};
pub(crate) use process::{Output, Running};
pub(crate) use proxy::Proxy;
pub(crate) use random::Random;
pub(crate) use samples::tag_manifest;
pub(crate) use simulated::SimulatedNode;
pub(crate) use watch::{Seen, Watch};

use std::sync::{Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for: generous, because a busy machine is no failure.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Asks every fifth of a second until there is an answer; `None` after [`TIMEOUT`].
pub(crate) fn poll<T>(ask: impl FnMut() -> Option<T>) -> Option<T> {
    poll_every(Duration::from_millis(200), ask)
}

/// Runs something for each number, `lanes` at once, and returns the results. One that panics fails the test, after the
/// others.
pub(crate) fn side_by_side<N: Send, T: Send>(
    lanes: usize,
    numbers: impl IntoIterator<Item = N, IntoIter: Send>,
    run: impl Fn(N) -> T + Sync,
) -> Vec<T> {
    let numbers = Mutex::new(numbers.into_iter());
    let next = || numbers.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let lane = || std::iter::from_fn(next).map(&run).collect::<Vec<T>>();
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let results: Vec<_> = lanes.into_iter().map(thread::ScopedJoinHandle::join).collect();
        results.into_iter().flat_map(|result| result.expect("one of them failed, as said above")).collect()
    })
}

/// Asks again after each pause until there is an answer; `None` after [`TIMEOUT`].
fn poll_every<T>(pause: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + TIMEOUT;
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
