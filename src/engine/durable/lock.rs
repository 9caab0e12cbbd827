//! The goal as the lock: the annotation on the owner that says what a rollout is about, whose it is, and what must be
//! put back. Any later run, on any machine, finishes or takes back a rollout from it and the objects alone.
//!
//! It is kept small: a Deployment's controller copies annotations to ReplicaSets.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{Direction, TemplateChange};
use crate::engine::names::{ContainerName, RolloutId, Uid};
use crate::engine::rollout::Policy;

/// The annotation's key.
pub const ROLLOUT_ANNOTATION: &str = "kubectl-inplace.io/rollout";

/// The same key as JSON pointers have it.
pub const ROLLOUT_POINTER: &str = "/metadata/annotations/kubectl-inplace.io~1rollout";

/// Whether a run is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LockState {
    /// A run is at work, or was killed.
    Running,
    /// It ended before it was complete.
    Stopped,
    /// It stopped where it was asked to.
    Paused,
}

impl LockState {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
        }
    }
}

/// How the outgoing template stays in a Deployment's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum HistoryStep {
    /// A ReplicaSet without pods is made for it.
    Create {
        /// Its name, derived from the rollout's id.
        name: String,
    },
    /// An old ReplicaSet without pods, which holds the new template, takes it.
    Swap {
        /// Its name.
        name: String,
        /// Its uid.
        uid: Uid,
        /// Its revision before.
        revision: i64,
    },
    /// Not at all: `revisionHistoryLimit` is 0, or the kind keeps its history by itself.
    Keep,
}

/// The revision that the owner's pods have before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The name of the ReplicaSet or ControllerRevision.
    pub name: String,
    /// Its uid.
    pub uid: Uid,
    /// Its number.
    pub revision: i64,
}

/// The annotation's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RolloutLock {
    /// The rollout.
    pub id: RolloutId,
    /// Which run of it holds the lock: another one that goes on with it writes its own.
    pub run: String,
    /// Who began it: the user as the server knows it.
    pub who: String,
    /// When it began (RFC 3339).
    pub since: String,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The program's version.
    pub version: String,
    /// Whether a run is at work.
    pub state: LockState,
    /// Forward, or back.
    pub direction: Direction,
    /// What changes in the template.
    pub change: TemplateChange,
    /// What the containers ran before (`imageID`), where all pods ran the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<ContainerName, String>,
    /// The images before the first of several rollouts, where one went on from another that had not ended well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origin: BTreeMap<ContainerName, String>,
    /// The owner's `updateStrategy` before, of kinds whose strategy is changed meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Value>,
    /// The revision that is left; none of kinds without revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outgoing: Option<Outgoing>,
    /// How the outgoing template stays in the history.
    pub history: HistoryStep,
    /// A ControllerRevision that held the new template before: not ours to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuses: Option<String>,
    /// The pause of a Deployment was lifted again: one that is found now is somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// The names of the pods that were chosen; all unless some were.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    /// How fast, how careful.
    pub policy: Policy,
}

impl RolloutLock {
    /// Reads the lock of an owner: `None` when there is none, the text as the error when it is not ours to understand.
    ///
    /// # Errors
    /// When the annotation is there and cannot be read: made by another version, or edited.
    pub fn of(object: &Value) -> Result<Option<Self>, String> {
        match Self::text_of(object) {
            None => Ok(None),
            Some(text) => serde_json::from_str(text).map(Some).map_err(|_| text.to_owned()),
        }
    }

    /// Returns the annotation as it stands.
    pub fn text_of(object: &Value) -> Option<&str> {
        object.pointer(ROLLOUT_POINTER).and_then(Value::as_str)
    }

    /// Returns whether another lock is this one, whatever it says of its state.
    pub fn is_same_run(&self, other: &Self) -> bool {
        (&self.id, &self.run, self.direction) == (&other.id, &other.run, other.direction)
    }

    /// Returns what changes, in the direction of the rollout.
    pub fn directed(&self) -> TemplateChange {
        match self.direction {
            Direction::Forward => self.change.clone(),
            Direction::Back => self.change.reversed(),
        }
    }

    /// Writes the annotation's value. The same lock always gives the same text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
