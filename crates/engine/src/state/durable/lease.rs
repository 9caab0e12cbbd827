//! The lease of a lock: whose it is, and whether its run is active, by its last sign of life.
//!
//! Promise: no client's clock is asked. A run notes the server's time in its lock, and renews it while it goes on in a
//! label of the owner, which is compared with the server's time of the read. It is a label because an annotation raises a
//! Deployment's generation, so that the next step would wait for its controller, which would copy it to ReplicaSets too
//! (`pkg/registry/apps/deployment/strategy.go`, `getSkippedAnnotations`).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lock::{Lock, LockState};
use crate::value::duration;

pub const RENEWED_LABEL: &str = "kubectl-inplace.io/beat";

/// The same key as JSON pointers have it.
pub const BEAT_POINTER: &str = "/metadata/labels/kubectl-inplace.io~1beat";

/// A sign of life is given this often: none of a rollout that ends sooner.
pub const RENEW_EVERY: SignedDuration = SignedDuration::from_secs(10);

/// After this time without one, a run counts as gone: three in a row are missing.
const SILENT_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// How a label spells a time: it may have no colon.
const LABEL_FORMAT: &str = "%Y%m%dT%H%M%SZ";

/// One process, as far as its machine shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Process {
    pub host: String,
    /// This boot of the machine and its process namespace; empty where they are not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub boot: String,
    pub pid: u32,
    /// When it began, in the machine's own units; empty where that is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub began: String,
}

/// Which user and process a lock belongs to, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lease {
    pub who: String,
    #[serde(flatten)]
    pub process: Process,
    /// The server's time when it took the lock (RFC 3339): it is renewed by the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

impl Lease {
    /// Says which process it is, as in "run by ...".
    pub fn sentence(&self) -> String {
        format!("{} on {} (process {})", self.who, self.process.host, self.process.pid)
    }
}

/// What this machine says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessState {
    /// It is another machine's, or this one does not show it.
    #[default]
    NotKnown,
    Running,
    /// It is there, and stopped (`SIGSTOP`, `SIGTSTP`, a debugger).
    Stopped,
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseState {
    /// It says itself that it has ended.
    Ended,
    Alive(Duration),
    /// It is a process of this machine, and gone.
    Gone,
    /// It has given no sign of life for this long.
    Silent(Duration),
    /// No renewal for this long, though the process exists on this machine.
    Stalled {
        silent: Duration,
        stopped: bool,
    },
    Unknown(&'static str),
}

const NO_SIGN: &str = "its lock does not tell when it was last seen (another version, or edited)";

const NO_CLOCK: &str = "the server does not tell its time";

impl LeaseState {
    /// Says whether the run that holds an object's lock is active. `now` is the server's time of the read.
    pub fn of(lock: &Lock, object: &Value, now: Option<&str>, process: ProcessState) -> Self {
        if lock.state != LockState::Running {
            return Self::Ended;
        }
        if process == ProcessState::Gone {
            return Self::Gone;
        }
        let Some(now) = now.and_then(time) else { return Self::Unknown(NO_CLOCK) };
        let Some(age) = last_sign(lock, object, now).map(|sign| now.duration_since(sign)) else {
            return Self::Unknown(NO_SIGN);
        };
        let past = Duration::try_from(age).unwrap_or_default();
        if age <= SILENT_AFTER {
            return Self::Alive(past);
        }
        match process {
            ProcessState::Running => Self::Stalled { silent: past, stopped: false },
            ProcessState::Stopped => Self::Stalled { silent: past, stopped: true },
            ProcessState::NotKnown | ProcessState::Gone => Self::Silent(past),
        }
    }

    /// Returns whether another run needs `--take-over` to act in its place.
    pub fn may_be_active(&self) -> bool {
        matches!(self, Self::Alive(_) | Self::Unknown(_))
    }

    /// Says it in a few words, as in "the run is ...".
    pub fn sentence(&self) -> String {
        match self {
            Self::Ended => "ended".into(),
            Self::Alive(age) => format!("at work, last sign of life {} ago", whole_seconds(*age)),
            Self::Gone => "gone, its process has ended".into(),
            Self::Silent(age) => format!("probably gone, no sign of life for {}", whole_seconds(*age)),
            Self::Stalled { silent, stopped } => {
                let how =
                    if *stopped { "stopped: its process is there, and" } else { "stuck: its process is there, and" };
                format!("{how} has given no sign of life for {}", whole_seconds(*silent))
            }
            Self::Unknown(why) => format!("perhaps at work, {why}"),
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Alive(_) => "alive",
            Self::Gone => "gone",
            Self::Silent(_) => "silent",
            Self::Stalled { .. } => "stalled",
            Self::Unknown(_) => "unknown",
        }
    }
}

fn whole_seconds(age: Duration) -> String {
    duration::human(Duration::from_secs(age.as_secs()))
}

fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

pub fn renewal_of(object: &Value) -> Option<&str> {
    object.pointer(BEAT_POINTER).and_then(Value::as_str)
}

/// Returns when the run that holds a lock was last seen: when it took the lock, or gave a sign of life since. The clocks
/// of several API servers differ by a little; what lies far ahead was never written by a run.
fn last_sign(lock: &Lock, object: &Value, now: Timestamp) -> Option<Timestamp> {
    let since = lock.lease.as_ref().and_then(|lease| lease.since.as_deref());
    let signs = [since, renewal_of(object)].into_iter().flatten().filter_map(time);
    signs.filter(|sign| sign.duration_since(now) <= SILENT_AFTER).max()
}

/// Returns the value of the label that a run is to give now; `None` while the last one is young enough.
pub fn next_renewal(lock: &Lock, object: &Value, now: Option<&str>) -> Option<String> {
    let now = now.and_then(time)?;
    let is_due = last_sign(lock, object, now).is_none_or(|sign| now.duration_since(sign) >= RENEW_EVERY);
    is_due.then(|| now.strftime(LABEL_FORMAT).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lock(since: Option<&str>) -> Lock {
        let lease = since.map(|since| json!({"who": "jane", "host": "laptop", "boot": "b", "pid": 7, "since": since}));
        let mut lock = json!({"id": "1", "run": "r", "who": "jane", "since": "2031-01-01T00:00:00Z", "version": "0",
            "state": "running", "direction": "forward", "change": {},             "policy": {"maxUnavailable": 1, "ownerMinReadySeconds": 0, "ordered": false}});
        if let Some(lease) = lease {
            lock["lease"] = lease;
        }
        serde_json::from_value(lock).unwrap()
    }

    fn beaten(beat: Option<&str>) -> Value {
        beat.map_or_else(|| json!({}), |beat| json!({"metadata": {"labels": {RENEWED_LABEL: beat}}}))
    }

    const TEN: &str = "2026-03-01T10:00:00Z";

    #[test]
    fn a_run_is_alive_while_it_gives_signs_by_the_servers_clock() {
        let seconds = Duration::from_secs;
        let cases = [
            (Some(TEN), None, "2026-03-01T10:00:05Z", LeaseState::Alive(seconds(5))),
            (Some(TEN), None, "2026-03-01T10:00:30Z", LeaseState::Alive(seconds(30))),
            (Some(TEN), None, "2026-03-01T10:00:31Z", LeaseState::Silent(seconds(31))),
            (Some(TEN), Some("20260301T100020Z"), "2026-03-01T10:00:31Z", LeaseState::Alive(seconds(11))),
            (Some(TEN), Some("20260301T100020Z"), "2026-03-01T12:00:20Z", LeaseState::Silent(seconds(7200))),
            // Another API server, whose clock is behind.
            (Some(TEN), None, "2026-03-01T09:59:58Z", LeaseState::Alive(seconds(0))),
            (Some("9999-12-30T22:00:00Z"), None, TEN, LeaseState::Unknown(NO_SIGN)),
            (Some("9999-12-30T22:00:00Z"), Some("20260301T095959Z"), TEN, LeaseState::Alive(seconds(1))),
            (Some("x"), Some("99991230T220000Z"), TEN, LeaseState::Unknown(NO_SIGN)),
            (None, None, TEN, LeaseState::Unknown(NO_SIGN)),
            (Some(TEN), None, "no time", LeaseState::Unknown(NO_CLOCK)),
        ];
        for (since, beat, now, expected) in cases {
            let life = LeaseState::of(&lock(since), &beaten(beat), Some(now), ProcessState::NotKnown);
            assert_eq!(life, expected, "{since:?} {beat:?} {now}");
        }
    }

    #[test]
    fn a_process_of_this_machine_that_is_gone_is_known_at_once() {
        let of = |process| LeaseState::of(&lock(Some(TEN)), &json!({}), Some(TEN), process);
        assert_eq!(of(ProcessState::Gone), LeaseState::Gone);
        assert_eq!(of(ProcessState::Running), LeaseState::Alive(Duration::ZERO));
        assert_eq!(of(ProcessState::Stopped), LeaseState::Alive(Duration::ZERO));
        let later =
            |process| LeaseState::of(&lock(Some(TEN)), &json!({}), Some("2026-03-01T10:00:31Z"), process).sentence();
        let silent = "has given no sign of life for 31s";
        assert_eq!(later(ProcessState::Running), format!("stuck: its process is there, and {silent}"));
        assert_eq!(later(ProcessState::Stopped), format!("stopped: its process is there, and {silent}"));
        let mut stopped = lock(Some(TEN));
        stopped.state = LockState::Stopped;
        assert_eq!(LeaseState::of(&stopped, &json!({}), Some(TEN), ProcessState::Running), LeaseState::Ended);
    }

    #[test]
    fn a_beat_is_due_after_ten_seconds_and_reads_as_it_was_written() {
        let due = |beat, now| next_renewal(&lock(Some(TEN)), &beaten(beat), Some(now));
        assert_eq!(due(None, "2026-03-01T10:00:09Z"), None);
        assert_eq!(due(None, "2026-03-01T10:00:10Z").as_deref(), Some("20260301T100010Z"));
        assert_eq!(due(Some("20260301T100010Z"), "2026-03-01T10:00:19Z"), None);
        assert_eq!(due(Some("20260301T100010Z"), "2026-03-01T10:00:21Z").as_deref(), Some("20260301T100021Z"));
        assert_eq!(due(Some("edited"), "2026-03-01T10:00:21Z").as_deref(), Some("20260301T100021Z"));
        assert_eq!(next_renewal(&lock(None), &json!({}), None), None, "without a server's time none is written");
    }
}
