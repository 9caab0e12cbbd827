//! What is wanted of a workload.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{RestartError, UndoError};
use crate::engine::change::target::Images;
use crate::engine::k8s::names::ContainerName;
use crate::engine::value::api_schema::Validation;

/// What is wanted of a workload. What a rollout that is resumed or aborted wants stands in its lock.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Nothing that is not there: it is looked at.
    None,
    /// Images, cpu and memory, by hand.
    Images(Images),
    /// What a manifest has.
    Manifest(Manifest),
    /// What was before an update.
    Undo {
        /// The update; the last one unless given.
        to: Option<String>,
        /// With the digest.
        pin_digest: bool,
    },
    /// The same bits again.
    Restart {
        /// The containers; the only one unless some are named.
        containers: BTreeSet<ContainerName>,
    },
}

/// A manifest, before and after the API server was asked what it would make of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Manifest {
    /// As it was given.
    Given {
        /// The object.
        object: Value,
        /// What the server does with fields that it does not know.
        validation: Validation,
    },
    /// The whole object as the server would store it.
    Stored {
        /// The object.
        object: Value,
        /// Nothing tells which fields an earlier manifest had.
        removals_unseen: bool,
    },
    /// The server would not store it.
    Refused {
        /// Its words.
        message: String,
    },
}

/// Why it cannot be told what is wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentError {
    /// Of an undo.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// Of a restart.
    #[error(transparent)]
    Restart(#[from] RestartError),
}
