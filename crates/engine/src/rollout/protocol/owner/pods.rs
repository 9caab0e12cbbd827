//! The owner's pods: those that a durable rollout finds after it was planned, and what they show of the owner's side.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::FieldProgress;
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::kinds::{CONTROLLER_REVISION_HASH, Revisions};
use crate::rollout::drain::DrainGoal;
use crate::rollout::goal::{ContainerGoal, Goal, PodGoal};
use crate::rollout::observed::TurnContext;
use crate::rollout::patch::PodPart;
use crate::rollout::pod_run::PodIndex;
use crate::rollout::pods::Pods;
use crate::state::durable::{self, OwnerView, PodsState, revisions};

use super::super::{Effect, taken_over};
use super::{Effects, OwnerRun};

/// Returns whether a pod that is gone has left by itself; one that somebody changed has not.
pub(crate) fn has_left(goal: &Goal, pod: Option<&Pod>) -> bool {
    let Some(pod) = pod else { return true };
    !pod.is_present() || !pod.is_controlled_by(&goal.controllers)
}

impl OwnerRun {
    /// Adds the pods that a durable rollout finds after it was planned: created between its steps from the template
    /// that it leaves, or not labelled with the new revision.
    pub(crate) fn find_pods(&mut self, context: TurnContext<'_>, pods: &Pods, changed: &[PodKey]) -> Effects {
        let mut effects = Effects::default();
        if context.goal.owner.is_none() {
            return effects;
        }
        for key in changed {
            if context.observed.pod(key).is_some_and(|pod| taken_over::by_another(context.goal, pod)) {
                // The owner shows which run has the pod, and what has become of the rollout.
                self.must_be_read(context.now);
            }
            if let Some(found) = self.found(context, pods, key) {
                // It may be younger than the owner that was read.
                self.must_be_read(context.now);
                effects.0.push(Effect::Add(found.into()));
            }
        }
        effects
    }

    /// Returns what is wanted of a pod that is not the run's yet, and not as the rollout wants it.
    fn found(&self, context: TurnContext<'_>, pods: &Pods, key: &PodKey) -> Option<PodGoal> {
        let pod = context.observed.pod(key).filter(|pod| pod.is_present())?;
        if pods.position(key).is_some() || !pod.is_controlled_by(&context.goal.controllers) {
            return None;
        }
        // Of chosen pods none is found later: a replacement pod of theirs is right by itself.
        if !context.goal.lock.rollout.only.is_empty() || !is_above_partition(context, pod) {
            return None;
        }
        let change = context.goal.lock.rollout.directed();
        let mut containers = ContainerGoal::of_change(&change, pod, context.goal.id());
        let revision = self.revision_of(context, pod);
        let is_other = |revision: &String| pod.labels.get(CONTROLLER_REVISION_HASH) != Some(revision);
        let is_to_be_labelled = revision.is_some_and(is_other);
        let is_resized = || change.fields.of_part(PodPart::Resize, pod) == FieldProgress::Done;
        containers.retain(|_, container| container.from != container.to || container.by_resize && !is_resized());
        let drain = drain_like(context.goal, pod);
        let found = PodGoal { key: key.clone(), containers, fields: change.fields, drain, kubelet: None };
        if found.containers.is_empty() && !is_to_be_labelled && found.fields.progress_in(pod) == FieldProgress::Done {
            return None;
        }
        Some(labelled(context, found, pod, revision))
    }

    /// The revision that a pod is to be labelled with, where that is known and the pod ends up in it.
    fn revision_of(&self, context: TurnContext<'_>, pod: &Pod) -> Option<&String> {
        let lock = &context.goal.lock;
        let target = context.goal.owner.as_ref()?.target(lock.rollout.direction);
        let revisions = context.observed.owner.as_ref().map_or(&[][..], |view| &view.owned);
        let label = pod.labels.get(CONTROLLER_REVISION_HASH).map(String::as_str).unwrap_or_default();
        self.revision.as_ref().filter(|_| !revisions::is_left_older(lock, target, revisions, label))
    }

    /// The revision that the pods are to be labelled with is known now, or has changed: every pod is visited again.
    pub(super) fn label_all(&self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        for position in 0..pods.len() {
            let Some(run) = pods.run(position) else { continue };
            if let Some(pod) = context.observed.pod(&run.goal.key) {
                let goal = labelled(context, PodGoal::clone(&run.goal), pod, self.revision_of(context, pod));
                effects.0.push(Effect::Goal(position, goal.into()));
            }
            effects.0.push(Effect::Wake(position));
        }
        // In an order of their own, so that the same observations lead to the same decisions.
        let others = context.observed.pods().filter(|pod| pods.position(&pod.key).is_none());
        let others: BTreeSet<PodKey> = others.map(|pod| pod.key.clone()).collect();
        effects.0.extend(
            others.iter().filter_map(|key| self.found(context, pods, key)).map(|found| Effect::Add(found.into())),
        );
        effects
    }

    /// What the pods show. A Deployment's pods may belong to any of its ReplicaSets.
    pub(super) fn state(&self, context: TurnContext<'_>, pods: &Pods, view: &OwnerView) -> PodsState {
        let (goal, observed) = (context.goal, context.observed);
        let taken_over = taken_over::is_done(context, pods);
        let done = pods.all_done() && !self.has_pods_to_label(context, pods);
        let (mut present, mut labels) = (pods.present().len(), BTreeMap::new());
        match goal.workload.kind.revisions() {
            Revisions::ReplicaSets if done => {
                let uid = |object: &Value| object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
                let sets: BTreeSet<String> = view.owned.iter().filter_map(uid).collect();
                let is_there = |pod: &&Pod| {
                    let owned = pod.controller().is_some_and(|owner| sets.contains(owner.uid.as_str()));
                    owned && pod.is_present()
                };
                present = observed.pods().filter(is_there).count();
            }
            Revisions::ReplicaSets | Revisions::None => {}
            Revisions::ControllerRevisions(_) => {
                for pod in pods.present().iter().filter_map(|key| observed.pod(key)) {
                    let label = pod.labels.get(CONTROLLER_REVISION_HASH).cloned().unwrap_or_default();
                    *labels.entry(label).or_default() += 1;
                }
            }
        }
        let [left, replaced] = [PodIndex::Left, PodIndex::Replaced].map(|is| !pods.all(is).is_empty());
        PodsState { done, left, replaced, taken_over, present, labels }
    }

    /// Whether pods that have all that is wanted are to be labelled with a revision that is not known yet.
    fn has_pods_to_label(&self, context: TurnContext<'_>, pods: &Pods) -> bool {
        if context.goal.owner.is_none() {
            return false;
        }
        let is_one = |pod: &Pod| {
            let present = pod.is_present() && pod.is_controlled_by(&context.goal.controllers);
            let is_chosen = context.goal.lock.rollout.only.is_empty() || pods.position(&pod.key).is_some();
            present && is_chosen && is_above_partition(context, pod)
        };
        match context.goal.workload.kind.revisions() {
            Revisions::ControllerRevisions(_) => self.revision.is_none() && context.observed.pods().any(is_one),
            Revisions::ReplicaSets | Revisions::None => false,
        }
    }
}

/// Pods of one owner have the same labels and gates, and so the same Services.
pub(crate) fn drain_like(goal: &Goal, pod: &Pod) -> Option<DrainGoal> {
    let mut known = goal.pods.iter().filter_map(|pod| pod.drain.as_ref());
    known.find(|drain| drain.by.is_on(pod)).cloned()
}

/// Under a partition the pods below it keep the revision that they have.
fn is_above_partition(context: TurnContext<'_>, pod: &Pod) -> bool {
    let Some(strategy) = &context.goal.lock.rollout.strategy else { return true };
    let object = context.observed.owner_object().unwrap_or(&Value::Null);
    !durable::stateful_set::is_below_partition(strategy, object, &pod.key.name)
}

fn labelled(context: TurnContext<'_>, mut goal: PodGoal, pod: &Pod, revision: Option<&String>) -> PodGoal {
    if let Some(revision) = revision {
        goal.fields.label(pod, CONTROLLER_REVISION_HASH, revision);
        if let Some(label) = context.goal.workload.kind.spec().short_revision {
            goal.fields.label(pod, label, revision.rsplit('-').next().unwrap_or(revision));
        }
    }
    goal
}
