//! What keeps a workload's controller from replacing pods after its template has changed, and how that shows.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{is_hold, is_on_delete};
use crate::value::json_path::integer;

const PAUSED: &str = "/spec/paused";
const UPDATE_STRATEGY: &str = "/spec/updateStrategy";

/// Where `fieldsV1` says who has set what holds a controller.
pub const NOTED_AT: [&str; 4] = [
    "/f:spec/f:paused",
    "/f:spec/f:updateStrategy/f:type",
    "/f:spec/f:updateStrategy/f:rollingUpdate/f:partition",
    "/f:spec/f:updateStrategy/f:paused",
];

/// What becomes of the pods of a paused Deployment once its rollouts are resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IfResumed {
    /// The ReplicaSet that has them has its template: they stay unchanged.
    KeepsPods,
    /// Another ReplicaSet gets the template, and takes their place.
    ReplacesPods,
    /// Its ReplicaSets could not be read.
    NotKnown,
}

impl IfResumed {
    /// Returns what `kubectl rollout resume` does then.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::KeepsPods => "kubectl rollout resume would replace none of them, and leave them as they are",
            Self::ReplacesPods => "kubectl rollout resume would replace every pod",
            Self::NotKnown => "kubectl rollout resume may replace them",
        }
    }
}

/// What keeps a workload's controller from replacing pods after its template has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldsBy {
    /// `spec.paused`.
    Paused,
    /// `spec.updateStrategy.type: OnDelete`.
    OnDelete,
    /// The same; where `spec.updateStrategy.rollingUpdate.partition` is above 0, the partition above every ordinal instead,
    /// so that a lost pod below it comes back at the old revision.
    OnDeleteOrPartition,
    /// `spec.updateStrategy.paused`.
    StrategyPaused,
    /// Nothing has to: it never replaces pods because of its template.
    Nothing,
}

impl HoldsBy {
    /// Returns the JSON pointer of the field that holds the controller.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Self::Paused => Some(PAUSED),
            Self::OnDelete | Self::OnDeleteOrPartition | Self::StrategyPaused => Some(UPDATE_STRATEGY),
            Self::Nothing => None,
        }
    }

    /// Returns the update strategy that takes the place of this one while pods are updated.
    pub fn hold(self, strategy: &Value) -> Value {
        match (self, strategy) {
            (Self::StrategyPaused, Value::Object(fields)) => {
                let mut held = fields.clone();
                held.insert("paused".into(), true.into());
                Value::Object(held)
            }
            (Self::StrategyPaused, _) => json!({"paused": true}),
            _ => json!({"type": "OnDelete"}),
        }
    }

    /// Returns the field managers that have set what holds the controller, as the server notes it.
    pub fn set_by(self, object: &Value) -> impl Iterator<Item = &str> {
        let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let noted_at = self.noted_at(object);
        let is_noted = move |entry: &&Value| {
            entry.get("fieldsV1").zip(noted_at).is_some_and(|(fields, path)| fields.pointer(path).is_some())
        };
        entries.into_iter().flatten().filter(is_noted).filter_map(|entry| entry.get("manager")?.as_str())
    }

    /// Returns where in `fieldsV1` that is noted. Who has put a strategy back may own the rest of it still.
    fn noted_at(self, object: &Value) -> Option<&'static str> {
        let [paused, strategy, partition, strategy_paused] = NOTED_AT;
        match self {
            Self::Paused => Some(paused),
            Self::OnDeleteOrPartition if !is_on_delete(object) => Some(partition),
            Self::OnDelete | Self::OnDeleteOrPartition => Some(strategy),
            Self::StrategyPaused => Some(strategy_paused),
            Self::Nothing => None,
        }
    }

    /// Returns whether the field has a value of the user's that is restored in the end: there is none under a pause, which
    /// a rollout finds unset. Such a controller, once it is released, replaces the pods that a rollout has left out: it goes
    /// by each pod's own label. All pods of a ReplicaSet that took the template count as updated.
    pub fn restores_the_field(self) -> bool {
        matches!(self, Self::OnDelete | Self::OnDeleteOrPartition | Self::StrategyPaused)
    }

    /// Returns whether an object is held, by a rollout or by a user; `applied` is the value of the field that the user
    /// applied last.
    pub fn is_held(self, object: &Value, applied: impl FnOnce() -> Option<Value>) -> bool {
        match self {
            Self::Paused => is_paused(object),
            Self::OnDelete | Self::OnDeleteOrPartition | Self::StrategyPaused => {
                is_on_delete(object) && !applied().is_some_and(|applied| is_hold(&applied))
            }
            Self::Nothing => false,
        }
    }

    /// Returns the field by which an object is released that a rollout holds, and what it takes, where it does not go;
    /// `None` where it is not held. `before` is the value of the field before the rollout.
    pub fn release(self, object: &Value, before: Option<&Value>) -> Option<(&'static str, Option<Value>)> {
        match self {
            Self::Paused => is_paused(object).then_some((PAUSED, None)),
            Self::OnDelete | Self::OnDeleteOrPartition | Self::StrategyPaused => {
                let present = object.pointer(UPDATE_STRATEGY)?;
                // Another strategy is somebody else's, and lets the controller act.
                let holds = |before: &&Value| is_hold(present) || partition_of(present) > partition_of(before);
                let before = before.filter(|before| present != *before).filter(holds)?;
                Some((UPDATE_STRATEGY, Some(before.clone())))
            }
            Self::Nothing => None,
        }
    }
}

/// Returns the partition of a StatefulSet's update strategy.
pub fn partition_of(strategy: &Value) -> i64 {
    integer(strategy, "/rollingUpdate/partition")
}

/// Returns whether a Deployment's controller neither replaces its pods nor makes others of its template.
pub fn is_paused(object: &Value) -> bool {
    object.pointer(PAUSED).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_released_only_from_what_holds_it() {
        let paused = json!({"spec": {"paused": true}});
        let on_delete = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
        let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
        assert_eq!(HoldsBy::Paused.release(&paused, None), Some(("/spec/paused", None)));
        assert_eq!(HoldsBy::Paused.release(&on_delete, Some(&rolling)), None);
        let restored = ("/spec/updateStrategy", Some(rolling.clone()));
        for holds_by in [HoldsBy::OnDelete, HoldsBy::OnDeleteOrPartition] {
            assert_eq!(holds_by.release(&on_delete, Some(&rolling)), Some(restored.clone()));
            assert_eq!(holds_by.release(&json!({"spec": {"updateStrategy": rolling}}), Some(&rolling)), None);
            assert_eq!(holds_by.release(&on_delete, None), None);
        }
        let others = json!({"spec": {"updateStrategy": {"type": "RollingUpdate"}}});
        assert_eq!(HoldsBy::OnDelete.release(&others, Some(&rolling)), None);
        let raised = json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}}});
        assert_eq!(HoldsBy::OnDeleteOrPartition.release(&raised, Some(&rolling)), Some(restored));
        assert_eq!(HoldsBy::Nothing.release(&paused, Some(&rolling)), None);
    }

    #[test]
    fn a_strategy_that_the_user_applied_holds_nothing_back() {
        let on_delete = json!({"spec": {"updateStrategy": {"type": "OnDelete"}}});
        let applied = |name: &str| Some(json!({"type": name}));
        assert!(HoldsBy::OnDelete.is_held(&on_delete, || None));
        assert!(HoldsBy::OnDelete.is_held(&on_delete, || applied("RollingUpdate")));
        assert!(!HoldsBy::OnDelete.is_held(&on_delete, || applied("OnDelete")));
        assert!(!HoldsBy::Paused.is_held(&on_delete, || None));
        assert!(!HoldsBy::Nothing.is_held(&json!({"spec": {"paused": true}}), || None));
    }
}
