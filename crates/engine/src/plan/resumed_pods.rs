//! The pods of a rollout that is resumed or aborted.
//!
//! A pod that asks for what is wanted is judged as well, and has to prove it: its record may be gone, or somebody may
//! have set the image by hand. Pods that nobody has changed since the rollout began, and that run, are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Effect;
use super::pods;
use super::pods::{drain_goal, is_in_progress, unrestored};
use crate::change::{Direction, FieldChanges, FieldProgress};
use crate::k8s::failure;
use crate::k8s::names::{ContainerName, Uid};
use crate::k8s::pod::Pod;
use crate::plan::live::Snapshot;
use crate::rollout::{ContainerGoal, PodGoal};
use crate::state::durable::lock::Lock;
use crate::state::evidence::Baseline;
use crate::state::record::UpdateRecord;
use crate::value::duration::seconds_between;

pub(super) struct Resumed<'a> {
    pub(super) live: &'a Snapshot,
    pub(super) lock: &'a Lock,
    /// It brings the template that is there now: what a pod has, whenever it was set, counts as the rollout's own.
    pub(super) is_made: bool,
    /// Its end is recorded: it asks nothing of a pod any more, except to restore removed labels and gates.
    pub(super) is_over: bool,
}

impl Resumed<'_> {
    /// Returns the goals of every pod that the rollout is about, in the order in which they are taken. Pods of another
    /// ReplicaSet were created from another template.
    pub(super) fn pods(&self, controllers: &BTreeSet<Uid>) -> Vec<Arc<PodGoal>> {
        let Self { live, lock, .. } = self;
        let change = lock.rollout.directed();
        let mine = |pod: &&Pod| {
            if !pod.is_controlled_by(controllers) || !pod.is_present() {
                return false;
            }
            let is_meant = || {
                let wanted = ContainerGoal::of_change(&change, pod, &lock.rollout.id);
                let differs = || wanted.values().any(|container| container.from != container.to);
                self.record(pod).is_some()
                    || differs()
                    || change.fields.progress_in(pod) != FieldProgress::Done
                    || wanted.iter().any(|(name, container)| container.restarts && self.has_to_prove(pod, name))
            };
            unrestored(pod).is_some() || self.is_chosen(pod) && is_meant()
        };
        let mut pods: Vec<&Pod> = live.pods.iter().filter(mine).collect();
        // Where nothing restarts, a pod without a node has it at once, and proves nothing.
        let proves_nothing =
            |pod: &Pod| !pod.is_scheduled() && change.images.is_empty() && change.fields.restarting_in(pod).is_empty();
        let rank = |pod: &Pod| {
            let is_changed = |name: &ContainerName| change.images.contains_key(name);
            let is_stuck = failure::stuck(pod, live.kubelet_of(pod), is_changed).is_some();
            pods::rank(pod, is_stuck || proves_nothing(pod))
        };
        pods.sort_by(|a, b| pods::compare(live, lock.rollout.policy.order, (a, rank(a)), (b, rank(b))));
        let goal = |pod: &Pod| {
            if !self.is_chosen(pod) {
                return restore_goal(pod);
            }
            let (mut containers, fields) =
                (ContainerGoal::of_change(&change, pod, &lock.rollout.id), change.fields.left_in(pod));
            // Image and record are written in one patch: where they differ, another client has set another image since.
            let record = self.record(pod);
            for (name, container) in &mut containers {
                let noted = record.as_ref().and_then(|record| record.containers.get(name)).map(|noted| &noted.to);
                container.overrides =
                    container.from != container.to && noted.is_some() && noted == container.to.as_ref();
            }
            let by_image = containers.values().any(|container| container.restarts && container.from != container.to);
            let restarts = by_image || !fields.restarting_in(pod).is_empty();
            let drain = if restarts { drain_goal(live, pod, &fields) } else { None };
            PodGoal { key: pod.key.clone(), containers, fields, drain, kubelet: live.kubelet_of(pod) }
        };
        pods.into_iter().map(goal).map(Arc::new).collect()
    }

    fn is_chosen(&self, pod: &Pod) -> bool {
        !self.is_over && self.lock.rollout.chooses(&pod.key) && !self.lock.rollout.keeps(&self.live.workload, pod)
    }

    fn record<'p>(&self, pod: &'p Pod) -> Option<std::borrow::Cow<'p, UpdateRecord>> {
        UpdateRecord::of_rollout(pod, &self.lock.rollout.id)
    }

    /// Whether a container that this rollout has left no record of, and that has the image wanted, has to prove it.
    ///
    /// A container from before the rollout is judged as `apply` does: nothing is wanted of it unless it does not run.
    /// On the way back, not even then: the rollout has not changed it, so there is nothing to take back.
    fn has_to_prove(&self, pod: &Pod, name: &ContainerName) -> bool {
        let Some((list, _, container)) = pod.container(name) else { return false };
        let is_forward = self.lock.rollout.direction == Direction::Forward;
        let is_under_way = || is_forward && is_in_progress(pod, container, Effect::of(list, container));
        match Baseline::of(pod, name) {
            // The run itself watches the pods that the owner has created since.
            Baseline::Created => !self.is_since(&pod.created) && is_under_way(),
            Baseline::Recorded(_) | Baseline::Set(_) => {
                UpdateRecord::set_at(pod, name).is_none_or(|at| self.is_since(&at)) || is_under_way()
            }
            Baseline::Unknown => is_forward,
        }
    }

    /// Whether that was not before the rollout began. The API's times are whole seconds.
    fn is_since(&self, at: &str) -> bool {
        self.is_made || seconds_between(&self.lock.rollout.since, at).is_none_or(|since| since >= 0)
    }
}

pub(super) fn restore_goal(pod: &Pod) -> PodGoal {
    PodGoal {
        key: pod.key.clone(),
        containers: BTreeMap::new(),
        fields: FieldChanges::default(),
        drain: None,
        kubelet: None,
    }
}
