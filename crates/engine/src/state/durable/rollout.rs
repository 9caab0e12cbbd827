//! A rollout: planned, written into the lock, carried out, and recorded in the history.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::HistoryEntry;
use super::{deployment, is, revisions, stateful_set, text};
use crate::change::{Change, Direction, TemplateImage};
use crate::k8s::names::{ContainerName, PodKey, RolloutId, Uid};
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::state::hook::{HookPhase, Hooks};
use crate::state::outcome::EndResult;
use crate::state::policy::Policy;
use crate::value::is_default;

/// How the outgoing template stays in a Deployment's history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum HistoryStep {
    /// A ReplicaSet without pods is created for it, with a name that derives from the rollout's id.
    Create,
    /// An old ReplicaSet without pods, which holds the new template, takes it.
    Swap(RevisionRef),
    /// `revisionHistoryLimit` is 0: it is forgotten.
    Forget,
    #[default]
    ByController,
}

/// A revision, and the ReplicaSet or ControllerRevision that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionRef {
    pub name: String,
    pub uid: Uid,
    pub revision: i64,
}

impl RevisionRef {
    pub fn of(object: &Value) -> Self {
        Self {
            name: text(object, "/metadata/name").to_owned(),
            uid: text(object, "/metadata/uid").into(),
            revision: revisions::number_of(object).unwrap_or_else(|| deployment::revision_of(object)),
        }
    }

    pub fn find<'o>(&self, owned: &'o [Value]) -> Option<&'o Value> {
        owned.iter().find(|object| is(object, &self.uid))
    }
}

/// What a rollout changes, how, and what must be restored: any later run, on any machine, finishes it or takes it back from
/// this and the objects alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// Empty until it begins, as are `who` and `since`.
    pub id: RolloutId,
    /// Who began it: the user as the server knows it.
    pub who: String,
    /// When it began (RFC 3339).
    pub since: String,
    /// Why, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub direction: Direction,
    pub change: Change,
    /// What the containers ran before (`imageID`), where all pods ran the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<ContainerName, String>,
    /// The images before the first of several rollouts, where one went on from another that had not ended well; and
    /// what the pods ran where that was not the template's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origin: BTreeMap<ContainerName, String>,
    /// `kubernetes.io/change-cause` before: a rollout that is taken back restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The owner's `updateStrategy` before, of kinds whose strategy is changed meanwhile. In the history: where the
    /// rollout has left its own in place of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Value>,
    /// The revision that is left; `None` for kinds without revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outgoing: Option<RevisionRef>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub history: HistoryStep,
    /// A ControllerRevision that held the new template before: not ours to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuses: Option<String>,
    /// The names of the pods that were chosen; empty means all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    /// When the run that began it runs a command around each pod: the commands themselves are never written down.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hooks: BTreeSet<HookPhase>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    /// The unfinished rollouts whose place it took: they are written into the history with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<HistoryEntry>,
}

impl Rollout {
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
            self.change = self.change_from_the_first();
        }
        self.direction = Direction::Back;
    }

    fn change_from_the_first(&self) -> Change {
        let mut change = self.change.clone();
        for (name, image) in &mut change.images {
            let first = self.replaced.iter().find_map(|entry| entry.rollout.change.images.get(name));
            if let Some(first) = first {
                image.from.clone_from(&first.from);
                image.from_in_pods.clone_from(&first.from_in_pods);
            }
        }
        self.replaced.iter().rev().for_each(|entry| change.fields.rebase_on(&entry.rollout.change.fields));
        change
    }

    /// Returns a template with what each replaced rollout brought, and when that rollout began: each of them may have
    /// stopped with it.
    pub fn left_by_the_others(&self, template: &Value) -> Vec<(&str, Value)> {
        let others = self.replaced.iter().map(|entry| &entry.rollout);
        others.filter_map(|other| Some((other.since.as_str(), other.change.apply(template)?))).collect()
    }

    /// Returns the history's entry of the rollout once it has ended: what only a run needs is left out. `by` has ended it.
    pub fn entry(&self, outcome: EndResult, ended: &str, by: &str) -> HistoryEntry {
        let mut change = self.change_from_the_first();
        for (name, image) in &mut change.images {
            image.from = self.origin.get(name).unwrap_or(&image.from).clone();
        }
        HistoryEntry {
            rollout: Self {
                id: self.id.clone(),
                who: self.who.clone(),
                since: self.since.clone(),
                reason: self.reason.clone(),
                direction: self.direction,
                change,
                digests: self.digests.clone(),
                ..Self::default()
            },
            ended: ended.to_owned(),
            ended_by: Some(by.to_owned()).filter(|by| *by != self.who),
            outcome,
            replaced_by: None,
        }
    }

    /// Returns the history's entries of the rollout whose place another one takes, and of those whose place it had taken.
    pub fn superseded(&self, ended: &str, by: &str) -> Vec<HistoryEntry> {
        self.replaced.iter().cloned().chain([self.entry(EndResult::Superseded, ended, by)]).collect()
    }

    /// Returns whether the pod is below the partition from before the rollout, which has raised the present one itself.
    pub fn keeps(&self, workload: &Workload, pod: &Pod) -> bool {
        let strategy = self.strategy.as_ref().or_else(|| workload.object.pointer("/spec/updateStrategy"));
        let is_below = |strategy| stateful_set::is_below_partition(strategy, &workload.object, &pod.key.name);
        workload.reference.kind.has_partition() && strategy.is_some_and(is_below)
    }

    pub fn chooses(&self, pod: &PodKey) -> bool {
        self.only.is_empty() || self.only.contains(&pod.name)
    }

    /// Returns the image of a container that it leads to, and what pods get in place of that.
    pub fn image(&self, name: &ContainerName) -> Option<(&str, &str)> {
        let TemplateImage { from, to, from_in_pods, to_in_pods, .. } = self.change.images.get(name)?;
        let (image, in_pods) = match self.direction {
            Direction::Forward => (to, to_in_pods),
            Direction::Back => (from, from_in_pods),
        };
        Some((image, in_pods.as_deref().unwrap_or(image)))
    }

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
}
