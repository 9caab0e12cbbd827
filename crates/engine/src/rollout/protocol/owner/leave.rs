//! The owner at the end of a run: what is noted on it, and what it shows of the rollout.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::change::Direction;
use crate::kinds;
use crate::kinds::HoldsBy;
use crate::report::NewPods;
use crate::rollout::Now;
use crate::rollout::action::STOP_WITHIN;
use crate::rollout::entry::Is;
use crate::rollout::pods::Pods;
use crate::rollout::visit::Visit;
use crate::state::durable;
use crate::state::durable::lock::LockState;
use crate::state::durable::{PodsState, StepName, history, stateful_set};
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

use super::super::{Effects, taken_over};
use super::{End, Owner, WATCHFUL, lock_on};

impl Owner {
    /// Returns whether the run may end now. A run that leaves the owner's lock behind first notes on it that it has
    /// stopped, and whether a request of it may still arrive.
    pub(crate) fn can_finish(
        &mut self,
        visit: Visit<'_>,
        pods: &Pods,
        result: EndResult,
        is_late: bool,
    ) -> (bool, Effects) {
        let nothing = Effects::default;
        let Some(owner) = &visit.goal.owner else { return (true, nothing()) };
        match self.parting {
            Some((since, false)) => return (since + STOP_WITHIN <= visit.now, nothing()),
            // A mark that was not stored shows that somebody else has written: the end says who and what.
            Some((_, true)) => return self.reads_once_more(visit, self.read.is_stale),
            None if self.is_unanswered() => return (true, nothing()),
            None => {}
        }
        // What is left to the kubelets, or fails with what it had before, needs no more writes on the owner.
        let may_be_over = matches!(result, EndResult::Deferred | EndResult::Failed | EndResult::TimedOut);
        let is_over = may_be_over && self.end == Some(End::Closed);
        let stops = matches!(result, EndResult::Interrupted | EndResult::Terminated | EndResult::Paused);
        if result == EndResult::Superseded {
            // The pods may have been changed by another run of the same rollout, and a run that took it over may have
            // gone on since: the owner says.
            let (was_read, effects) = self.reads_once_more(visit, true);
            if !was_read || self.end.is_some() {
                return (was_read, effects);
            }
        } else if is_over || !(may_be_over || stops) {
            return (true, nothing());
        }
        let state = if result == EndResult::Paused { LockState::Paused } else { LockState::Stopped };
        let is_old = self.read.is_stale || self.read.last.is_none_or(|read| !read.is_fresh(2 * WATCHFUL, visit.now));
        let (was_read, mut effects) = self.reads_once_more(visit, is_old);
        if !was_read {
            return (false, effects);
        }
        let is_late = is_late || !taken_over::is_done(owner, visit, pods);
        let (kind, pods) = (visit.goal.workload.kind, PodsState::default());
        let view = visit.world.owner();
        let mark = view.and_then(|view| durable::Owner::new(owner, kind, view, &pods).mark(state, is_late));
        let Some(write) = mark else { return (true, effects) };
        (self.parting, self.last_visit) = (Some((visit.now, false)), None);
        effects.extend(self.write(visit, StepName::MarkStopped, write));
        (false, effects)
    }

    /// The last write may be the lock itself, which the view does not show yet, and an outstanding read may have been
    /// sent before this process slept. Returns whether an answer to a read of its own is in, or no longer waited for.
    fn reads_once_more(&mut self, visit: Visit<'_>, is_wanted: bool) -> (bool, Effects) {
        if is_wanted && self.last_visit.is_none() {
            self.last_visit = Some((visit.now, false));
        }
        let Some((since, false)) = self.last_visit else { return (true, Effects::default()) };
        let effects = self.read(visit);
        (!self.is_waiting() || since + STOP_WITHIN <= visit.now, effects)
    }

    /// Until when a last read, or the mark, is waited for.
    pub(super) fn parted(&self) -> Option<Now> {
        let since = self.parting.or(self.last_visit).map(|(since, _)| since);
        since.map(|since| since + STOP_WITHIN)
    }

    /// Returns whether the rollout's lock stays on the owner, as far as is known: an answer that is outstanding may have set it.
    pub(crate) fn stays_held(&self, visit: Visit<'_>) -> bool {
        let Some(owner) = &visit.goal.owner else { return false };
        if matches!(self.end, Some(End::Closed | End::Superseded(_))) {
            return false;
        }
        let object = visit.world.owner().and_then(|view| view.object.as_ref());
        let found = lock_on(visit.world.owner());
        let is_unclear = self.read.is_stale && self.end.is_none() && !self.has_changed_nothing(visit);
        let is_anothers = object.is_some_and(|object| durable::another_run(owner, object).is_some());
        (is_unclear || found.is_some_and(|lock| lock.rollout.id == owner.lock.rollout.id)) && !is_anothers
    }

    /// Returns whether the rollout is another run's and goes forward, and this run has written nothing to it.
    pub(crate) fn is_still_forward(&self, visit: Visit<'_>) -> bool {
        let lock = lock_on(visit.world.owner());
        self.is_begun(visit) && lock.is_some_and(|lock| lock.rollout.direction == Direction::Forward)
    }

    /// Returns whether a durable rollout has ended before its first write, whatever answers are still to come.
    pub(crate) fn has_changed_nothing(&self, visit: Visit<'_>) -> bool {
        let Some(owner) = &visit.goal.owner else { return false };
        let view = visit.world.owner().filter(|_| self.read.last.is_some());
        !self.is_unanswered() && self.is_ahead(owner, view)
    }

    /// Returns what `value` finds in the owner's template, by a read since the last write.
    pub(crate) fn in_template<T>(&self, visit: Visit<'_>, value: impl Fn(&Value) -> Option<T>) -> Option<T> {
        visit.goal.owner.as_ref().filter(|_| self.is_known())?;
        value(visit.world.owner()?.object.as_ref()?.pointer(visit.goal.workload.kind.template_pointer())?)
    }

    /// Returns what a new pod of the owner gets of what `value` finds in a template, by the same read.
    pub(crate) fn new_pods(&self, visit: Visit<'_>, value: impl Fn(&Value) -> Option<String>) -> NewPods {
        let view = visit.goal.owner.as_ref().filter(|_| self.is_known()).and_then(|_| visit.world.owner());
        let Some((view, object)) = view.and_then(|view| Some((view, view.object.as_ref()?))) else {
            return NewPods::AsTemplate;
        };
        match visit.goal.workload.kind.holds_by() {
            // Its controller only scales, and the ReplicaSet that has the pods creates more from its own template.
            HoldsBy::Paused if kinds::is_paused(object) => {
                let wants_pods = |set: &&Value| set.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(0) > 0;
                let of_set = |set: &Value| value(set.pointer("/spec/template")?);
                let values: BTreeSet<Option<String>> = view.owned.iter().filter(wants_pods).map(of_set).collect();
                match (values.len(), values.into_iter().next()) {
                    (1, Some(of_sets)) if of_sets == self.in_template(visit, &value) => NewPods::AsTemplate,
                    (1, Some(Some(of_sets))) => NewPods::Is(of_sets),
                    (1, Some(None)) => NewPods::Without,
                    (_, _) => NewPods::Unknown,
                }
            }
            // Below the partition a new pod is of the old revision.
            HoldsBy::OnDeleteOrPartition => {
                let strategy = object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null);
                if stateful_set::partition_of(strategy) > 0 { NewPods::Unknown } else { NewPods::AsTemplate }
            }
            HoldsBy::Paused | HoldsBy::OnDelete | HoldsBy::Nothing => NewPods::AsTemplate,
        }
    }
}

/// Returns which other run holds the owner in place of this one, if any.
pub(crate) fn held_by(visit: Visit<'_>) -> Option<String> {
    let owner = visit.goal.owner.as_ref()?;
    let by = durable::another_run(owner, visit.world.owner()?.object.as_ref()?)?;
    Some(owner.taken_over(&by))
}

/// Returns what another run has made of this rollout, as far as its record on the owner, or the records of the pods
/// that were lost, show it.
pub(crate) fn changed_by_another_run(visit: Visit<'_>, pods: &Pods) -> Option<String> {
    visit.goal.owner.as_ref()?;
    let view = visit.world.owner();
    let objects = view.into_iter().flat_map(|view| view.object.iter().chain(&view.owned));
    if let Some(entry) = history::union(objects).into_iter().find(|entry| entry.rollout.id == visit.goal.id) {
        return Some(entry.ended_by_another());
    }
    let is_ours = |position: &usize| {
        let pod = pods.goal(*position).and_then(|goal| visit.world.pod(&goal.key));
        let Some((pod, record)) = pod.and_then(|pod| Some((pod, UpdateRecord::of(pod)?))) else { return false };
        // The record does not explain what another writer has set since.
        record.id == visit.goal.id && record.containers.keys().all(|name| record.container(pod, name).is_some())
    };
    let are_ours = pods.all(Is::Lost).iter().all(is_ours);
    are_ours.then(|| "another run of this rollout has changed its pods".into())
}
