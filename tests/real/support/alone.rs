//! Tests that take a server away run alone: every other test holds a share while it has a namespace.

use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::cluster;

static ALONE: RwLock<()> = RwLock::new(());

/// A share in the cluster: nobody takes a server away meanwhile. A thread that has one may ask again.
pub(super) struct Share(());

thread_local! {
    static SHARES: RefCell<(usize, Option<RwLockReadGuard<'static, ()>>)> = const { RefCell::new((0, None)) };
}

impl Share {
    /// Waits while somebody is alone.
    pub(super) fn take() -> Self {
        SHARES.with_borrow_mut(|(count, guard)| {
            guard.get_or_insert_with(|| ALONE.read().unwrap_or_else(PoisonError::into_inner));
            *count += 1;
        });
        Self(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        SHARES.with_borrow_mut(|(count, guard)| {
            *count = count.saturating_sub(1);
            if *count == 0 {
                *guard = None;
            }
        });
    }
}

/// The cluster for one test alone, whose servers it may stop.
pub(crate) struct Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>);

impl Alone {
    /// Waits until no other test is running; `None` where the cluster is not that of `tests/cluster`.
    pub(crate) fn wait() -> Option<Self> {
        if !cluster::is_ours() {
            eprintln!("skipped: the servers of a cluster of one's own are not stopped");
            return None;
        }
        Some(Self(ALONE.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Stops a server of the control plane until the answer is dropped.
    pub(crate) fn stop<'a>(&'a self, server: &'a str) -> Stopped<'a> {
        run("stop", server);
        Stopped(server)
    }
}

/// A server that is started again at the latest when this is dropped.
pub(crate) struct Stopped<'a>(&'a str);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        run("start", self.0);
    }
}

/// Has the cluster do that with a server.
pub(super) fn run(verb: &str, server: &str) {
    let status = Command::new("bash").args([cluster::SCRIPT, verb, server]).stdin(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "cluster {verb} {server}");
}
