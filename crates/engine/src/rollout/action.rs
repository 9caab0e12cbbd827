//! What a turn is given and what it gives: the values of the interface.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::k8s::names::{PodKey, WorkloadRef};
use crate::report::{Notice, Outcome};
use crate::rollout::patch::PodPatch;
use crate::state::durable::ObjectWrite;
use crate::state::hook::{HookEnd, HookRun};
use crate::state::outcome::EndResult;

/// Time since the rollout's start, by a clock that only goes forward.
pub type Now = Duration;

/// Seconds of silence after which a sign of life is reported.
pub const SIGN_OF_LIFE_SECONDS: u64 = 30;

/// After an interrupt, answers that are outstanding are waited for this long.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Which action an answer belongs to; unique in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionId(pub u64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// The patch is sent once: it is not safe to repeat.
    Patch(PodPatch),
    /// A write to the owner, or to an object that the owner owns. It is sent once.
    Write {
        write: ObjectWrite,
        field_manager: String,
    },
    /// Read the owner and what belongs to it, and report it as an observation.
    ReadOwner(WorkloadRef),
    /// Read the pods that pull images for a workload and report them as an observation.
    ReadPullPods {
        namespace: String,
        selector: String,
    },
    /// Read the requests to kruise-daemon for a workload and report them as an observation.
    ReadRequests {
        namespace: String,
        selector: String,
    },
    /// Read the PodDisruptionBudgets of a namespace and report them as an observation.
    ReadBudgets {
        namespace: String,
    },
    /// Read the EndpointSlices of these Services and report them as an observation.
    ReadSlices {
        namespace: String,
        services: Vec<String>,
    },
    Hook(HookRun),
    Read(PodKey),
    /// Read the kubelet's events about changed definitions and report them as an observation.
    ReadEvents(PodKey),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Accepted,
    /// The server rejected a test of the patch, or the object is gone or there already: nothing was stored.
    #[serde(rename = "moved")]
    Conflict {
        message: String,
    },
    /// The server answered that it did nothing; the same request can be sent again.
    NotDone {
        /// How long the server asked to wait (`Retry-After`).
        after: Option<Duration>,
        message: String,
    },
    /// The server rejected the request; it would reject it again.
    Refused {
        /// The reason in CamelCase, such as `Forbidden`.
        reason: String,
        message: String,
    },
    /// No response arrived: the request can have been carried out.
    Unknown {
        message: String,
    },
    Hook(HookEnd),
    /// A read succeeded; its observation was delivered before this answer.
    Read,
    #[serde(rename = "notRead")]
    ReadFailed {
        message: String,
    },
}

impl Answer {
    pub(super) fn message(&self) -> Option<&str> {
        match self {
            Self::Accepted | Self::Hook(_) | Self::Read => None,
            Self::Conflict { message }
            | Self::NotDone { message, .. }
            | Self::Refused { message, .. }
            | Self::Unknown { message }
            | Self::ReadFailed { message } => Some(message),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stop {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP, or an output that nobody reads any more.
    Terminate,
}

impl Stop {
    /// Returns how a command ends that was stopped this way.
    pub fn result(self) -> EndResult {
        match self {
            Self::Interrupt => EndResult::Interrupted,
            Self::Terminate => EndResult::Terminated,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    pub actions: Vec<(ActionId, Action)>,
    pub notices: Vec<Notice>,
    /// The next turn is at this time, even if nothing happens.
    pub wake: Option<Now>,
    pub end: Option<Outcome>,
}
