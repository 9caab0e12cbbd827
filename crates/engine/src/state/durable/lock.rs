//! The goal as the lock: the annotation on the owner that says what a rollout changes, who holds it, and what must be
//! restored. Any later run, on any machine, finishes or takes back a rollout from it and the objects alone.
//!
//! It is kept small: a Deployment's controller copies annotations to ReplicaSets.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::{HistoryEntry, HistoryImage};
use super::holder::Holder;
use super::is;
use crate::change::{Change, Direction, FieldChanges, TemplateImage};
use crate::k8s::names::{ContainerName, RolloutId, Uid};
use crate::state::hook::{HookPhase, Hooks};
use crate::state::outcome::EndResult;
use crate::state::policy::Policy;
use crate::value::words;

pub use crate::k8s::metadata::ROLLOUT_ANNOTATION;

/// What `kubectl rollout history` shows beside a revision.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// The same key as JSON pointers have it.
pub const CAUSE_POINTER: &str = "/metadata/annotations/kubernetes.io~1change-cause";

/// The same key as JSON pointers have it.
pub const ROLLOUT_POINTER: &str = "/metadata/annotations/kubectl-inplace.io~1rollout";

words! {
    /// Whether a run is active.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    LockState {
        /// A run is active, or was killed.
        Running = "running",
        /// It ended before it was complete.
        Stopped = "stopped",
        /// It stopped at its canary or pause.
        Paused = "paused",
    }
}

impl LockState {
    /// Returns the words for it, where it is known whether its run may be active.
    pub fn words(self, may_be_at_work: bool) -> &'static str {
        match self {
            Self::Running if !may_be_at_work => "interrupted",
            Self::Running | Self::Stopped | Self::Paused => self.word(),
        }
    }
}

/// How the outgoing template stays in a Deployment's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum HistoryStep {
    /// A ReplicaSet without pods is created for it.
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

impl Outgoing {
    /// Returns the object that holds it.
    pub fn find<'o>(&self, owned: &'o [Value]) -> Option<&'o Value> {
        owned.iter().find(|object| is(object, &self.uid))
    }
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
    /// Why, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `kubernetes.io/change-cause` before: a rollout that is taken back restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Who holds it now: not always who began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The program's version.
    pub version: String,
    /// Whether a run is active.
    pub state: LockState,
    /// Forward, or back.
    pub direction: Direction,
    /// What changes in the template.
    pub change: Change,
    /// What the containers ran before (`imageID`), where all pods ran the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<ContainerName, String>,
    /// The images before the first of several rollouts, where one went on from another that had not ended well; and
    /// what the pods ran where that was not the template's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origin: BTreeMap<ContainerName, String>,
    /// The owner's `updateStrategy` before, of kinds whose strategy is changed meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Value>,
    /// The revision that is left; `None` for kinds without revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outgoing: Option<Outgoing>,
    /// How the outgoing template stays in the history.
    pub history: HistoryStep,
    /// A ControllerRevision that held the new template before: not ours to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuses: Option<String>,
    /// The pause of a Deployment was lifted again: a pause that is found now is somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// Requests of this run, or of one before that it took over from, may still arrive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The names of the pods that were chosen; empty means all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    /// When the run that began it runs a command around each pod: the commands themselves are never written down.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hooks: BTreeSet<HookPhase>,
    /// How fast, how careful.
    pub policy: Policy,
    /// The unfinished rollouts whose place it took: they are written into the history with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<HistoryEntry>,
}

impl RolloutLock {
    /// Returns whether it goes back to where the first of the rollouts began whose place it took: taking it back means
    /// to finish it.
    pub fn goes_back(&self) -> bool {
        let mut turned = self.clone();
        turned.turn_back();
        let Change { images, fields } = &turned.change;
        self.direction == Direction::Forward
            && !self.replaced.is_empty()
            && images.values().all(|image| image.from == image.to)
            && fields.rows().iter().all(|row| row.before == row.after)
    }

    /// Reverses a rollout that took the place of unfinished ones: back is where the first of them began. What
    /// they were bringing was never completed.
    pub fn turn_back(&mut self) {
        if self.direction == Direction::Forward {
            for (name, image) in &mut self.change.images {
                let first = self.replaced.iter().find_map(|entry| entry.containers.get(name));
                if let Some(first) = first {
                    image.from.clone_from(&first.from);
                    image.from_in_pods.clone_from(&first.from_in_pods);
                }
            }
            self.change.fields = self.fields_from_the_first();
        }
        self.direction = Direction::Back;
    }

    /// Returns a template with what each replaced rollout brought, and when that rollout began: each of them may have
    /// stopped with it.
    pub fn left_by_the_others(&self, template: &Value) -> Vec<(&str, Value)> {
        let of_entry = |entry: &HistoryEntry| {
            let images = entry.containers.iter().filter_map(|(name, image)| {
                let list = self.change.images.get(name)?.list;
                Some((
                    name.clone(),
                    TemplateImage { list, from: image.from.clone(), to: image.to.clone(), ..TemplateImage::default() },
                ))
            });
            Change { images: images.collect(), fields: entry.fields.clone() }.apply(template)
        };
        self.replaced.iter().filter_map(|entry| Some((entry.began.as_str(), of_entry(entry)?))).collect()
    }

    fn fields_from_the_first(&self) -> FieldChanges {
        let mut fields = self.change.fields.clone();
        self.replaced.iter().rev().for_each(|entry| fields.begin_where(&entry.fields));
        fields
    }

    /// Returns the history entry of the rollout once it has ended. `by` has ended it.
    pub fn entry(&self, outcome: EndResult, ended: &str, by: &str) -> HistoryEntry {
        let containers = self.change.images.iter().map(|(name, image)| {
            let from = self.origin.get(name).unwrap_or(&image.from).clone();
            let image_id = self.digests.get(name).cloned();
            let first = self.replaced.iter().find_map(|entry| entry.containers.get(name));
            let from_in_pods = first.map_or(&image.from_in_pods, |first| &first.from_in_pods).clone();
            let (to, to_in_pods) = (image.to.clone(), image.to_in_pods.clone());
            (name.clone(), HistoryImage { from, to, image_id, from_in_pods, to_in_pods })
        });
        HistoryEntry {
            id: self.id.clone(),
            who: self.who.clone(),
            ended_by: Some(by.to_owned()).filter(|by| *by != self.who),
            began: self.since.clone(),
            ended: ended.to_owned(),
            reason: self.reason.clone(),
            containers: containers.collect(),
            fields: self.fields_from_the_first(),
            outcome,
            replaced_by: None,
            strategy: None,
        }
    }

    /// Reads the lock of an owner: `None` when there is none, the text as the error when this program cannot read it.
    ///
    /// # Errors
    /// When the annotation cannot be read: written by another version, or edited.
    pub fn of(object: &Value) -> Result<Option<Self>, String> {
        match Self::text_of(object) {
            None => Ok(None),
            Some(text) => match serde_json::from_str::<Self>(text) {
                Ok(lock) => Ok(Some(Self { policy: lock.policy.bounded(), ..lock })),
                Err(_) => Err(text.to_owned()),
            },
        }
    }

    /// Returns the annotation, exactly as stored.
    pub fn text_of(object: &Value) -> Option<&str> {
        object.pointer(ROLLOUT_POINTER).and_then(Value::as_str)
    }

    /// Returns whether requests of its run may still arrive, whatever is done: the run is active, was killed, or ended
    /// before every answer was in.
    pub fn may_be_late(&self) -> bool {
        self.state == LockState::Running || self.late
    }

    /// Returns whether another lock is this one, in whatever state.
    pub fn is_same_run(&self, other: &Self) -> bool {
        (&self.id, &self.run, self.direction) == (&other.id, &other.run, other.direction)
    }

    /// Returns what changes, in the direction of the rollout.
    pub fn directed(&self) -> Change {
        match self.direction {
            Direction::Forward => self.change.clone(),
            Direction::Back => self.change.reversed(),
        }
    }

    /// Returns the commands around each pod that the rollout began with and that are not given now.
    pub fn missing_hooks(&self, given: &Hooks) -> Vec<HookPhase> {
        self.hooks.iter().copied().filter(|phase| given.command(*phase).is_none()).collect()
    }

    /// Returns the change-cause of the revision that the rollout leads to. A rollout without a reason has none: the
    /// cause of the change before would be a false one.
    pub fn cause(&self) -> Option<String> {
        match self.direction {
            Direction::Forward => self.reason.clone(),
            Direction::Back => self.cause.clone(),
        }
    }

    /// Writes the annotation's value. The same lock always gives the same text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::kinds::WorkloadKind;
    use crate::rollout::{Goal, Mode, Observation, RunState, World, turn};
    use crate::state::durable::{OwnerGoal, OwnerView};

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            // So that a lock with ten of them is still readable in some cases.
            20 => any::<u32>().prop_map(Value::from),
            1 => any::<u64>().prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            4 => prop::sample::select(vec![0, 1, u64::from(u32::MAX), u64::MAX]).prop_map(Value::from),
            1 => prop::sample::select(vec![i64::MIN, -1, i64::MAX]).prop_map(Value::from),
        ]
    }

    /// A lock in which every number is another one.
    fn text(numbers: &[Value]) -> String {
        let at = |index: usize| numbers.get(index).cloned().unwrap_or_default();
        json!({"id": "20260301-100000-abcd", "run": "r", "who": "jane", "since": "2026-03-01T10:00:00Z", "version": "0",
            "state": "running", "direction": "forward",
            "change": {"images": {"side": {"from": "side:1", "to": "side:2"}}},
            "holder": {"host": "h", "pid": 7, "since": "2026-03-01T10:00:00Z"},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": at(0)}},
            "outgoing": {"name": "w-1", "uid": "rs", "revision": at(1)},
            "history": {"do": "swap", "name": "w-0", "uid": "old", "revision": at(2)},
            "policy": {"maxUnavailable": at(3), "minReadySecondsGiven": at(4), "ownerMinReadySeconds": at(5),
                "timeoutGiven": at(6), "totalTimeout": at(7), "drainSeconds": at(8), "canary": at(9), "ordered": false}})
        .to_string()
    }

    fn template(image: &str) -> Value {
        json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "side", "image": image}]}})
    }

    fn goal(kind: WorkloadKind, lock: &RolloutLock) -> Goal {
        let owner: OwnerGoal = serde_json::from_value(json!({"uid": "w", "lock": lock, "replaces": null,
            "before": template("side:1"), "after": template("side:2"), "clock": "2026-03-01T10:00:00Z",
            "fieldManager": "m", "keepFieldOwnership": false}))
        .unwrap();
        serde_json::from_value(json!({"id": "20260301-100000-abcd",
            "workload": {"kind": kind, "namespace": "n", "name": "w"}, "mode": Mode::Durable, "controllers": ["rs", "w"],
            "replicas": 2, "pods": [], "policy": owner.lock.policy, "field_manager": "m", "owner": owner}))
        .unwrap()
    }

    proptest! {
        /// Anybody may have edited it: no number makes the program crash, whatever step the owner is at.
        #[test]
        fn no_number_is_too_much(numbers in prop::collection::vec(number(), 10), generation in any::<i64>()) {
            for kind in [WorkloadKind::Deployment, WorkloadKind::StatefulSet, WorkloadKind::DaemonSet] {
                let text = text(&numbers);
                let object = json!({"metadata": {"uid": "w", "name": "w", "namespace": "n", "generation": generation,
                    "annotations": {ROLLOUT_ANNOTATION: text, "deployment.kubernetes.io/revision": generation.to_string()}},
                    "spec": {"template": template("side:2"), "replicas": 2, "ordinals": {"start": generation}}});
                let Ok(Some(lock)) = RolloutLock::of(&object) else { continue };
                let goal = goal(kind, &lock);
                let view = OwnerView { object: Some(object), now: Some("2026-03-01T10:00:20Z".into()), ..OwnerView::default() };
                let mut state = RunState::new();
                let mut world = World::default();
                world.observe(Observation::Relisted(Vec::new()));
                world.observe(Observation::Owner(Box::new(view)));
                for seconds in [0, 1, 3600] {
                    let turn = turn(&goal, &world, &mut state, std::time::Duration::from_secs(seconds));
                    for (id, _) in turn.actions {
                        state.answer(id, crate::rollout::Answer::Read, std::time::Duration::from_secs(seconds));
                    }
                }
            }
        }
    }
}
