//! What is wanted of a workload.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::change::target::Images;
use crate::k8s::names::ContainerName;
use crate::value::words;

/// What is wanted of a workload. What a resumed or aborted rollout wants is in its lock.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Nothing: it is only inspected.
    None,
    Images(Images),
    Manifest(Manifest),
    /// What was before an update.
    Undo {
        /// The update; the last one unless given.
        to: Option<String>,
        pin_digest: bool,
    },
    /// A restart with the same images: by another reference for each, or by a request to kruise-daemon.
    Restart {
        by_request: bool,
        /// The containers; the only one unless some are named.
        containers: BTreeSet<ContainerName>,
    },
}

words! {
    /// What becomes of fields that the API does not have, as `kubectl apply --validate` has it: the request parameter
    /// `fieldValidation`.
    #[derive(Default)]
    Validation {
        #[default]
        Strict = "Strict",
        /// They are reported, and dropped by the server.
        Warn = "Warn",
        /// They are dropped by the server.
        Ignore = "Ignore",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Manifest {
    Given {
        object: Value,
        validation: Validation,
    },
    Stored {
        object: Value,
        /// It is unknown which fields an earlier manifest had.
        removals_unseen: bool,
    },
    Refused {
        message: String,
    },
}

/// Why what is wanted is not known: there is nothing to go back to, or it is not clear what is to be restarted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentError {
    #[error("no update in place is recorded")]
    NothingRecorded,
    /// What is recorded was rolled back by itself, or overwritten by another client.
    #[error("there is nothing to undo: its last update in place, \"{id}\", {became}")]
    NothingLeft { id: String, became: &'static str },
    #[error(
        "its last update in place, \"{id}\", set {what} to {to:?}, and its template says {now:?} now: another client has changed it since"
    )]
    ChangedSince { id: String, what: String, to: String, now: String },
    /// No pod asks any more for what the last update of pods alone set.
    #[error("no pod has what its last update in place, \"{id}\", set: another client has changed it since")]
    PodsChangedSince { id: String },
    /// A rollout of the template and its pods whose lock was removed, or the history that had its end.
    #[error(
        "how its last update in place, \"{id}\", ended is not recorded (another client removed its lock or its history), so its template cannot be rolled back with the pods"
    )]
    EndNotRecorded { id: String },
    #[error("no update \"{id}\" is recorded; recorded are: {known}")]
    NotRecorded {
        id: String,
        /// What is, each in quotes, separated by commas.
        known: String,
    },
    #[error("it has several containers, and none was named: {known}")]
    NameOne { known: String },
    /// The container runs only before the others.
    #[error("container {container} is an init container: it has run, and nothing of it can be restarted")]
    InitContainer { container: ContainerName },
}
