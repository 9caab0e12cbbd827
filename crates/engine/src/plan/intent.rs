//! What is wanted of a workload.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{RestartError, UndoError};
use crate::change::target::Images;
use crate::k8s::names::ContainerName;
use crate::value::words;

/// What is wanted of a workload. What a resumed or aborted rollout wants is in its lock.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Nothing: it is only inspected.
    None,
    /// Images, cpu and memory, from the command line.
    Images(Images),
    Manifest(Manifest),
    /// What was before an update.
    Undo {
        /// The update; the last one unless given.
        to: Option<String>,
        pin_digest: bool,
    },
    /// A restart with the same images.
    Restart {
        /// The containers; the only one unless some are named.
        containers: BTreeSet<ContainerName>,
    },
}

words! {
    /// What becomes of fields that the API does not have, as `kubectl apply --validate` has it: the request parameter
    /// `fieldValidation`.
    #[derive(Default)]
    Validation {
        /// They are errors.
        #[default]
        Strict = "Strict",
        /// They are reported, and dropped by the server.
        Warn = "Warn",
        /// They are dropped by the server.
        Ignore = "Ignore",
    }
}

/// A manifest, before and after the API server's dry run.
#[derive(Debug, Clone, PartialEq)]
pub enum Manifest {
    Given {
        object: Value,
        /// What the server does with fields that it does not know.
        validation: Validation,
    },
    /// The whole object as the server would store it.
    Stored {
        object: Value,
        /// It is unknown which fields an earlier manifest had.
        removals_unseen: bool,
    },
    /// The server would not store it.
    Refused { message: String },
}

/// Why what is wanted is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentError {
    #[error(transparent)]
    Undo(#[from] UndoError),
    #[error(transparent)]
    Restart(#[from] RestartError),
}
