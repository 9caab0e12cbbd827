//! What the kinds have in common: the first write, the taking over, and the last ones.

use serde_json::Value;

use super::change::{Direction, same};
use super::history::{self, HistoryEntry, HistoryImage};
use super::lock::{ROLLOUT_ANNOTATION, ROLLOUT_POINTER, RolloutLock};
use super::objects::Guarded;
use super::{
    Cleanup, Fence, ObjectKind, OwnerGoal, OwnerPhase, OwnerStep, PodsState, daemon_set, stateful_set, superseded,
};
use crate::engine::outcome::EndResult;
use crate::engine::workload::WorkloadKind;

/// Everything that a phase is decided from.
pub(super) struct Step<'a> {
    pub(super) goal: &'a OwnerGoal,
    pub(super) kind: WorkloadKind,
    pub(super) object: &'a Value,
    pub(super) owned: &'a [Value],
    pub(super) pods: &'a PodsState,
    pub(super) ended: &'a str,
}

impl<'a> Step<'a> {
    pub(super) fn object_kind(&self) -> ObjectKind {
        ObjectKind::Workload(self.kind)
    }

    pub(super) fn template(&self) -> &'a Value {
        self.object.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    pub(super) fn integer(&self, pointer: &str) -> i64 {
        integer(self.object, pointer)
    }

    pub(super) fn is_observed(&self) -> bool {
        self.integer("/status/observedGeneration") >= self.integer("/metadata/generation")
    }

    /// A guarded patch of the owner that tests the lock as it was read.
    pub(super) fn patch(&self) -> Guarded<'a> {
        Guarded::of(self.object_kind(), self.object).test(ROLLOUT_POINTER)
    }

    /// What the history says of this rollout.
    pub(super) fn recorded(&self) -> Option<HistoryEntry> {
        history::of(self.object).into_iter().find(|entry| entry.id == self.goal.lock.id)
    }

    /// The first write: the template, the lock, and what keeps the controller from replacing pods, in one patch.
    pub(super) fn begin(&self) -> OwnerPhase {
        if !same(self.template(), self.goal.source()) {
            return superseded("its template changed meanwhile");
        }
        if self.kind == WorkloadKind::Deployment && is_paused(self.object) {
            return superseded("it was paused meanwhile");
        }
        self.set_template()
    }

    pub(super) fn set_template(&self) -> OwnerPhase {
        // Whatever the lock of the run before said: this write pauses a Deployment anew.
        let lock = &RolloutLock { released: false, ..self.goal.lock.clone() };
        let mut annotations = vec![(ROLLOUT_ANNOTATION, Some(lock.to_text()))];
        if let (Some(reason), Direction::Forward) = (&lock.reason, lock.direction) {
            annotations.push((CHANGE_CAUSE, Some(reason.clone())));
        }
        let patch = self.patch().set("/spec/template", Some(self.goal.target().clone())).annotate(&annotations);
        let patch = match self.kind {
            WorkloadKind::Deployment => patch.set("/spec/paused", Some(Value::Bool(true))),
            // A partition above all pods is one only for the number of them that was read.
            WorkloadKind::StatefulSet => {
                patch.test("/spec/replicas").set("/spec/updateStrategy", Some(stateful_set::working_strategy(self)))
            }
            WorkloadKind::DaemonSet => patch.set("/spec/updateStrategy", Some(daemon_set::working_strategy())),
            WorkloadKind::ReplicaSet | WorkloadKind::Pod => patch,
        };
        OwnerPhase::Do(OwnerStep::SetTemplate, patch.write())
    }

    /// Another run's lock of the same rollout: taken over, together with the way back where the direction turns.
    pub(super) fn go_on(&self, found: &RolloutLock) -> OwnerPhase {
        let turns = found.direction != self.goal.lock.direction;
        if turns && same(self.template(), self.goal.source()) {
            return self.set_template();
        }
        let lock = RolloutLock { released: found.released && !turns, ..self.goal.lock.clone() };
        let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, Some(lock.to_text()))]);
        OwnerPhase::Do(OwnerStep::TakeLock, patch.write())
    }

    /// The lock is gone, or is a stale copy that came back with a ReplicaSet's annotations.
    pub(super) fn without_lock(&self) -> OwnerPhase {
        let Some(entry) = self.recorded() else {
            return match self.goal.replaces {
                None => self.begin(),
                Some(_) => self.cleaned_up("its lock was removed by somebody else", self.tidy_copies()),
            };
        };
        if RolloutLock::text_of(self.object).is_some() {
            let patch = self.patch().annotate(&[(ROLLOUT_ANNOTATION, None)]);
            return OwnerPhase::Do(OwnerStep::RemoveCopy, patch.write());
        }
        match entry.outcome {
            EndResult::Superseded => self.cleaned_up(CHANGED_MEANWHILE, self.tidy_copies()),
            _ => self.tidy_copies(),
        }
    }

    /// What is left to do is done, and then it ends as superseded.
    pub(super) fn cleaned_up(&self, why: &str, next: OwnerPhase) -> OwnerPhase {
        let cleanup = match next {
            OwnerPhase::Do(step, write) => Cleanup::Do(step, Box::new(write)),
            OwnerPhase::Await(fence) => Cleanup::Await(fence),
            OwnerPhase::PodsMayGo { .. } | OwnerPhase::Superseded { .. } | OwnerPhase::Closed => Cleanup::Nothing,
        };
        OwnerPhase::Superseded { why: why.into(), cleanup }
    }

    /// Whether the controller has seen every pod that is not labelled with the revision as such.
    ///
    /// On the way back a pod was labelled twice. A controller whose cache of pods is behind both labels counts it as updated
    /// all the while, and would replace it once the strategy is back and the first label comes by.
    pub(super) fn has_seen_labels(&self, revision: &str, updated: i64, wanted: i64) -> bool {
        let others = self.pods.labels.iter().filter(|(label, _)| label.as_str() != revision).map(|(_, pods)| pods);
        let others = i64::try_from(others.sum::<usize>()).unwrap_or(i64::MAX);
        updated <= wanted.saturating_sub(others).max(0)
    }

    /// The controller has copied the lock to ReplicaSets: the copies go once it has seen that the owner has none.
    pub(super) fn tidy_copies(&self) -> OwnerPhase {
        if self.kind != WorkloadKind::Deployment {
            return OwnerPhase::Closed;
        }
        let knows = |set: &&Value| history::of(set).iter().any(|entry| entry.id == self.goal.lock.id);
        let is_ours = |set: &&Value| matches!(RolloutLock::of(set), Ok(Some(lock)) if lock.id == self.goal.lock.id);
        // An annotation raises a Deployment's generation. While somebody else's template is paused no ReplicaSet matches
        // it, and no history is ever copied; before it is seen, a copy may still be made where there is none yet.
        if !self.is_observed() && !self.owned.iter().any(|set| knows(&set)) {
            return OwnerPhase::Await(Fence::HistoryCopied);
        }
        let Some(copy) = self.owned.iter().find(is_ours) else { return OwnerPhase::Closed };
        let patch = Guarded::of(ObjectKind::Workload(WorkloadKind::ReplicaSet), copy);
        OwnerPhase::Do(OwnerStep::RemoveCopy, patch.annotate(&[(ROLLOUT_ANNOTATION, None)]).write())
    }

    /// The last write: the lock goes and the history is written, in one patch.
    pub(super) fn closing(&self, outcome: EndResult) -> Guarded<'a> {
        let lock = &self.goal.lock;
        let containers = lock.change.images.iter().map(|(name, image)| {
            let from = lock.origin.get(name).unwrap_or(&image.from).clone();
            let image_id = lock.digests.get(name).cloned();
            (name.clone(), HistoryImage { from, to: image.to.clone(), image_id })
        });
        let mut entries = history::union(std::iter::once(self.object).chain(self.owned));
        entries.retain(|entry| entry.id != lock.id);
        entries.push(HistoryEntry {
            id: lock.id.clone(),
            who: lock.who.clone(),
            began: lock.since.clone(),
            ended: self.ended.to_owned(),
            reason: lock.reason.clone(),
            containers: containers.collect(),
            metadata: lock.change.metadata.clone(),
            outcome,
        });
        let annotations = [(ROLLOUT_ANNOTATION, None), (history::HISTORY_ANNOTATION, Some(history::to_text(&entries)))];
        self.without_ownership(self.patch().annotate(&annotations))
    }

    /// The next server-side apply of another image would report a conflict with the manager of our patches.
    pub(super) fn without_ownership(&self, patch: Guarded<'a>) -> Guarded<'a> {
        if self.goal.keep_field_ownership || self.goal.field_manager != OUR_MANAGER {
            return patch;
        }
        let entries = self.object.pointer("/metadata/managedFields").and_then(Value::as_array);
        let is_ours = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            text("manager") == OUR_MANAGER && text("operation") == "Update" && text("subresource").is_empty()
        };
        match entries.and_then(|entries| entries.iter().position(is_ours)) {
            Some(index) => {
                let pointer = format!("/metadata/managedFields/{index}");
                patch.test(&format!("{pointer}/manager")).test(&format!("{pointer}/operation")).remove(&pointer)
            }
            None => patch,
        }
    }

    /// It is done: the lock goes. What is undone ends as aborted.
    pub(super) fn close(&self) -> OwnerPhase {
        let outcome = match self.goal.lock.direction {
            Direction::Forward => EndResult::Complete,
            Direction::Back => EndResult::Aborted,
        };
        OwnerPhase::Do(OwnerStep::Close, self.closing(outcome).write())
    }
}

pub(super) const CHANGED_MEANWHILE: &str = "its template was changed by somebody else";

/// The default of `--field-manager`: an entry of another name may be somebody else's.
const OUR_MANAGER: &str = "kubectl-inplace";

/// What `kubectl rollout history` shows beside a revision.
const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// Returns a text of an object; empty where there is none.
pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn integer(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

pub(super) fn is_paused(object: &Value) -> bool {
    object.pointer("/spec/paused").and_then(Value::as_bool) == Some(true)
}
