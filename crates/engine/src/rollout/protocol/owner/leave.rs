//! The owner at the end of a run: what is noted on it, and what it shows of the rollout.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::change::Direction;
use crate::kinds::{self, HoldsBy};
use crate::report::NewPods;
use crate::rollout::action::STOP_WITHIN;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::PodIndex;
use crate::rollout::pods::Pods;
use crate::state::durable;
use crate::state::durable::lock::LockState;
use crate::state::durable::{OwnerView, PodsState, StepName, history};
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;
use crate::value::json_path::integer;

use super::super::{Effects, taken_over};
use super::{End, FinalRequest, OwnerRun, WATCHFUL, lock_on, server_time};

impl OwnerRun {
    /// Returns whether the run may end now. A run that leaves the owner's lock behind first notes on it that it has
    /// stopped, and whether a request of it may still arrive.
    pub(crate) fn can_finish(
        &mut self,
        context: TurnContext<'_>,
        pods: &Pods,
        result: EndResult,
        is_late: bool,
    ) -> (bool, Effects) {
        let nothing = Effects::default;
        let Some(owner) = &context.goal.owner else { return (true, nothing()) };
        match self.final_write {
            FinalRequest::Sent(since) => return (since + STOP_WITHIN <= context.now, nothing()),
            // A mark that was not stored shows that somebody else has written: the end says who and what.
            FinalRequest::Answered => return self.reads_once_more(context, self.read.is_stale()),
            FinalRequest::NotSent if self.is_unanswered() => return (true, nothing()),
            FinalRequest::NotSent => {}
        }
        // What is left to the kubelets, or fails with what it had before, needs no more writes on the owner.
        let may_be_over = matches!(result, EndResult::Deferred | EndResult::Failed | EndResult::TimedOut);
        let is_over = may_be_over && self.end == Some(End::Closed);
        let stops = matches!(result, EndResult::Interrupted | EndResult::Terminated | EndResult::Paused);
        if result == EndResult::Superseded {
            // The pods may have been changed by another run of the same rollout, and a run that took it over may have
            // gone on since: the owner says.
            let (was_read, effects) = self.reads_once_more(context, true);
            if !was_read || self.end.is_some() {
                return (was_read, effects);
            }
        } else if is_over || !(may_be_over || stops) {
            return (true, nothing());
        }
        let state = if result == EndResult::Paused { LockState::Paused } else { LockState::Stopped };
        let (was_read, mut effects) = self.reads_once_more(context, !self.read.fresh(2 * WATCHFUL, context.now));
        if !was_read {
            return (false, effects);
        }
        let is_late = is_late || !taken_over::is_done(context, pods);
        let (kind, pods) = (context.goal.workload.kind, PodsState::default());
        let mark = |view: &OwnerView| {
            let writer = (&*server_time(context, view), &*context.goal.field_manager);
            durable::Owner::new((&context.goal.lock, owner), kind, view, &pods, writer).mark(state, is_late)
        };
        let Some(write) = context.observed.owner.as_ref().and_then(mark) else { return (true, effects) };
        (self.final_write, self.final_read) = (FinalRequest::Sent(context.now), FinalRequest::NotSent);
        effects.extend(self.write(context, StepName::MarkStopped, write));
        (false, effects)
    }

    /// The last write may be the lock itself, which the view does not show yet, and an outstanding read may have been
    /// sent before this process slept. Returns whether an answer to a read of its own is in, or no longer waited for.
    fn reads_once_more(&mut self, context: TurnContext<'_>, is_wanted: bool) -> (bool, Effects) {
        if is_wanted && self.final_read == FinalRequest::NotSent {
            self.final_read = FinalRequest::Sent(context.now);
        }
        let FinalRequest::Sent(since) = self.final_read else { return (true, Effects::default()) };
        let effects = self.read(context);
        (!self.is_waiting() || since + STOP_WITHIN <= context.now, effects)
    }

    /// Returns whether the rollout's lock stays on the owner, as far as is known: an answer that is outstanding may have set it.
    pub(crate) fn stays_held(&self, context: TurnContext<'_>) -> bool {
        let Some(owner) = &context.goal.owner else { return false };
        if matches!(self.end, Some(End::Closed | End::Superseded(_))) {
            return false;
        }
        let object = context.observed.owner_object();
        let found = lock_on(context.observed.owner.as_ref());
        let is_unclear = self.read.is_stale() && self.end.is_none() && !self.has_changed_nothing(context);
        let belongs_to_another =
            object.is_some_and(|object| durable::another_run(&context.goal.lock, owner, object).is_some());
        (is_unclear || found.is_some_and(|lock| lock.rollout.id == *context.goal.id())) && !belongs_to_another
    }

    /// Returns whether the rollout is another run's and goes forward, and this run has written nothing to it.
    pub(crate) fn is_still_forward(&self, context: TurnContext<'_>) -> bool {
        let lock = lock_on(context.observed.owner.as_ref());
        self.is_begun(context) && lock.is_some_and(|lock| lock.rollout.direction == Direction::Forward)
    }

    /// Returns whether a durable rollout has ended before its first write, whatever answers are still to come.
    pub(crate) fn has_changed_nothing(&self, context: TurnContext<'_>) -> bool {
        let Some(owner) = &context.goal.owner else { return false };
        let view = context.observed.owner.as_ref().filter(|_| self.read.at().is_some());
        !self.is_unanswered() && self.is_ahead((&context.goal.lock, owner), view)
    }

    /// Returns what `value` finds in the owner's template, by a read since the last write.
    pub(crate) fn in_template<T>(&self, context: TurnContext<'_>, value: impl Fn(&Value) -> Option<T>) -> Option<T> {
        context.goal.owner.as_ref().filter(|_| self.is_known())?;
        value(context.observed.owner_object()?.pointer(context.goal.workload.kind.template_pointer())?)
    }

    /// Returns what a new pod of the owner gets of what `value` finds in a template, by the same read.
    pub(crate) fn new_pods(&self, context: TurnContext<'_>, value: impl Fn(&Value) -> Option<String>) -> NewPods {
        let view = context.goal.owner.as_ref().filter(|_| self.is_known()).and(context.observed.owner.as_ref());
        let Some((view, object)) = view.and_then(|view| Some((view, view.object.as_ref()?))) else {
            return NewPods::AsTemplate;
        };
        match context.goal.workload.kind.holds_by() {
            // Its controller only scales, and the ReplicaSet that has the pods creates more from its own template.
            HoldsBy::Paused if kinds::is_paused(object) => {
                let wants_pods = |set: &&Value| integer(set, "/spec/replicas") > 0;
                let of_set = |set: &Value| value(set.pointer("/spec/template")?);
                let values: BTreeSet<Option<String>> = view.owned.iter().filter(wants_pods).map(of_set).collect();
                match (values.len(), values.into_iter().next()) {
                    (1, Some(of_sets)) if of_sets == self.in_template(context, &value) => NewPods::AsTemplate,
                    (1, Some(Some(of_sets))) => NewPods::Is(of_sets),
                    (1, Some(None)) => NewPods::Without,
                    (_, _) => NewPods::Unknown,
                }
            }
            // Below the partition a new pod is of the old revision.
            HoldsBy::OnDeleteOrPartition => {
                let strategy = object.pointer("/spec/updateStrategy").unwrap_or(&Value::Null);
                if kinds::partition_of(strategy) > 0 { NewPods::Unknown } else { NewPods::AsTemplate }
            }
            HoldsBy::Paused | HoldsBy::OnDelete | HoldsBy::StrategyPaused | HoldsBy::Nothing => NewPods::AsTemplate,
        }
    }
}

/// Returns which other run holds the owner in place of this one, if any.
pub(crate) fn held_by(context: TurnContext<'_>) -> Option<String> {
    let owner = context.goal.owner.as_ref()?;
    let ours = &context.goal.lock;
    let by = durable::another_run(ours, owner, context.observed.owner_object()?)?;
    Some(owner.taken_over(ours, &by))
}

/// Returns what another run has made of this rollout, as far as its record on the owner, or the records of the pods
/// that were lost, show it.
pub(crate) fn changed_by_another_run(context: TurnContext<'_>, pods: &Pods) -> Option<String> {
    context.goal.owner.as_ref()?;
    let view = context.observed.owner.as_ref();
    let history = view.map(|view| history::union(view.object.as_ref().unwrap_or(&Value::Null), &view.owned));
    if let Some(entry) = history.into_iter().flatten().find(|entry| entry.rollout.id == *context.goal.id()) {
        return Some(entry.ended_by_another());
    }
    let is_ours = |position: &usize| {
        let found = context.found(pods, *position).and_then(|(_, pod)| Some((pod, UpdateRecord::of(pod)?)));
        let Some((pod, record)) = found else { return false };
        // The record does not explain what another writer has set since.
        record.id == *context.goal.id() && record.containers.keys().all(|name| record.container(pod, name).is_some())
    };
    let are_ours = pods.all(PodIndex::Conflicted).iter().all(is_ours);
    are_ours.then(|| "another run of this rollout has changed its pods".into())
}
