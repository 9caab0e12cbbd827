//! Who holds a lock: the user, and which process.

use serde::{Deserialize, Serialize};

/// One process, as far as its machine shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Process {
    /// The name of the machine.
    pub host: String,
    /// This boot of the machine and its process namespace; empty where they are not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub boot: String,
    /// Its number.
    pub pid: u32,
    /// When it began, in the machine's own units; empty where that is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub began: String,
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Holder {
    /// The user as the server knows it.
    pub who: String,
    /// The process.
    #[serde(flatten)]
    pub process: Process,
    /// The server's time when it took the lock (RFC 3339): the first sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// What this machine says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessState {
    /// It is another machine's, or this one does not show it.
    #[default]
    NotKnown,
    /// It is there.
    Running,
    /// It is there, and stopped (`SIGSTOP`, `SIGTSTP`, a debugger).
    Stopped,
    /// It is not there any more.
    Gone,
}

impl Holder {
    /// Says which process it is, as in "run by ...".
    pub fn sentence(&self) -> String {
        format!("{} on {} (process {})", self.who, self.process.host, self.process.pid)
    }
}
