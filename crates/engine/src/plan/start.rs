//! Who begins a run, and what it leaves to whoever carries on.

use crate::rollout::pre_pull::PrePull;
use crate::state::durable::lease::{Lease, Process};
use crate::state::durable::lock::{Lock, LockState};
use crate::state::durable::rollout::Rollout;
use crate::state::hook::Hooks;

/// Who begins a run, when, and with which options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The run: each run of a rollout has its own id.
    pub run: String,
    /// The run of the same command that this one continues: that run's lock counts as its own.
    pub continues: Option<String>,
    /// The user as the server knows it.
    pub who: String,
    pub process: Process,
    /// The time by the server's clock, or by this machine's where the server's answer had none (RFC 3339).
    pub clock: String,
    /// Why, in the user's words.
    pub reason: Option<String>,
    pub field_manager: String,
    /// Stay owner of the changed fields for server-side apply.
    pub keep_field_ownership: bool,
    pub pre_pull: PrePull,
    /// `--before-pod`, `--after-pod`: no lock has them.
    pub hooks: Hooks,
    /// `--take-over`: a run that is active does not count.
    pub take_over: bool,
}

impl Start {
    /// The write fills in when it took the lock.
    pub(super) fn lease(&self) -> Option<Lease> {
        Some(Lease { who: self.who.clone(), process: self.process.clone(), since: None })
    }

    /// Returns the lock of a rollout that begins with this run.
    pub(crate) fn lock(&self, rollout: Rollout) -> Lock {
        let (who, since) = (self.who.clone(), self.clock.clone());
        Lock {
            rollout: Rollout { who, since, reason: self.reason.clone(), ..rollout },
            run: self.run.clone(),
            lease: self.lease(),
            version: env!("CARGO_PKG_VERSION").into(),
            state: LockState::Running,
            released: false,
            late: false,
        }
    }
}
