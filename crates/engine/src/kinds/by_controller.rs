//! What a kind's own controller does with a change, where it updates the pods and this program does not.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Compares two states of a workload, both as a server stores them, by the rules of its controller.
pub type Foresee = fn(before: &Value, after: &Value) -> Foreseen;

/// What a controller does with the present pods.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Foreseen {
    /// What it does not do in place. Where there is none, whatever changes of the template changes in place.
    pub obstacles: Vec<Obstacle>,
    /// Which pods it leaves unchanged, or when it goes on, as in "it updates ...".
    pub limits: Vec<String>,
}

/// One thing that a controller does not do in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The path: of the template, or of the workload.
    pub path: String,
    /// What happens instead.
    pub course: Course,
    /// Why, as in "..., since ...".
    pub because: String,
}

/// What happens where a controller does not change pods in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Course {
    /// It replaces them.
    ReplacesPods,
    /// The change is refused, by its webhook.
    RefusesChange,
    /// It rests on what no manifest shows.
    NotKnown,
}
