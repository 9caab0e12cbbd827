//! PodDisruptionBudgets within a turn: a pod that is ready is taken only if every budget that matches it allows one more.
//!
//! The API server does not guard restarts in place. The budgets are read again before each such pod, since they come
//! and go while a rollout is in progress, and the count is our own, which knows what is in progress. The admission
//! asks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::k8s::budget::{BudgetLimit, CountedPod, blocking, limits};
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::Notice;
use crate::rollout::admission::WaitReason;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::PodIndex;
use crate::rollout::pods::Pods;
use crate::rollout::reads::Read;
use crate::rollout::{Action, Answer, Now};

use super::{Effect, Effects, RequestSource};

/// A pod is taken only if the budgets were read within this time, besides twice the time that the server took for it.
const FRESH: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default)]
pub(crate) struct Budgets {
    read: Read,
    /// Which budget blocks, and why, in words.
    blocks: Option<String>,
    said: Option<String>,
    /// Why the caller is not allowed to read them: outer `Some` for good, inner `Some` until it is reported.
    forbidden: Option<Option<String>>,
}

impl Budgets {
    pub(crate) fn answer(&mut self, answer: &Answer, now: Now) {
        // The plan has reported it to a caller who never could read them. One who could loses no safeguard by it.
        if let Answer::Refused { message, .. } = answer
            && self.read.at().is_none()
            && self.forbidden.is_none()
        {
            self.forbidden = Some(Some(message.clone()));
            self.read.forget();
        }
        if self.read.answered(answer, now) {
            self.blocks = None;
        }
    }

    fn is_fresh(&self, now: Now) -> bool {
        // A budget that blocks is read again soon.
        let looks_again = self.blocks.is_some() && self.read.retry_at <= now;
        !looks_again && self.read.fresh(FRESH + 2 * self.read.took(), now)
    }

    /// Says whether they let one more pod go down; pods that give way to it do not count as down.
    pub(crate) fn allow(
        &self,
        context: TurnContext<'_>,
        pods: &Pods,
        asked: &Pod,
        give_way: &BTreeSet<PodKey>,
    ) -> Result<(), WaitReason> {
        if !context.goal.policy().respects_budgets || self.forbidden.is_some() {
            return Ok(());
        }
        let Some(budgets) = context.observed.budgets.as_ref().filter(|_| self.is_fresh(context.now)) else {
            return Err(WaitReason::Unread { budgets: true });
        };
        if budgets.is_empty() {
            return Ok(());
        }
        let present = pods.present().iter().filter_map(|key| context.observed.pod(key));
        let leaving = context.observed.pods().filter(|pod| pod.terminating && pods.is_owners(context, pod));
        // A pod that was released after it was taken is not the owner's, and the budget's status may still count it as
        // healthy.
        let released =
            pods.iter().filter(|run| run.request.patched).filter_map(|run| context.observed.pod(&run.goal.key));
        let released = released.filter(|pod| pod.is_present() && !pods.is_owners(context, pod));
        // A throttled pod counts among those in progress already; whether it may be taken is decided again.
        let in_progress =
            |pod: &Pod| pods.down().contains(&pod.key) && pod.key != asked.key && !give_way.contains(&pod.key);
        let ours = present.chain(leaving).map(|pod| CountedPod::of(pod, in_progress(pod)));
        let counted: Vec<CountedPod<'_>> = ours.chain(released.map(|pod| CountedPod::of(pod, true))).collect();
        let limits = limits(budgets, context.replicas(), &counted);
        let limit = blocking(&limits, &asked.labels).map(BudgetLimit::to_string);
        limit.map_or(Ok(()), |why| Err(WaitReason::DisruptionBudget(why)))
    }

    /// Notes which budget blocks. The back-off counts from the first pod that is blocked; the next ones do not prolong it.
    pub(crate) fn block(&mut self, limit: &str, now: Now) {
        if self.blocks.is_none() {
            self.read.put_off(None, now);
        }
        self.blocks = Some(limit.to_owned());
    }

    pub(crate) fn say_what_blocks(&mut self, pods: &Pods, limit: &str) -> Option<Notice> {
        // While pods of ours restart it is plain why no other pod is taken. Each pod between two containers has its own
        // count, and failed pods are no longer waited for.
        let is_under_way =
            |pod: &usize| !pods.all(PodIndex::Next).contains(pod) && !pods.all(PodIndex::Failed).contains(pod);
        let is_plain = pods.all(PodIndex::InProgress).iter().any(is_under_way);
        let is_new = match &self.said {
            Some(said) => pods.all(PodIndex::InProgress).is_empty() && said != limit,
            None => true,
        };
        if is_plain || !is_new {
            return None;
        }
        self.said = Some(limit.to_owned());
        Some(Notice::DisruptionBudgetHolds { why: limit.to_owned() })
    }

    pub(crate) fn unblock(&mut self) {
        (self.blocks, self.said) = (None, None);
    }

    /// Reads the budgets, unless they were read lately or are being read.
    pub(crate) fn read(&mut self, context: TurnContext<'_>) -> Effects {
        let is_wanted = context.goal.policy().respects_budgets && self.forbidden.is_none();
        if !is_wanted || self.is_fresh(context.now) || !self.read.ask(context.now) {
            return Effects::default();
        }
        (RequestSource::Budgets, Action::ReadBudgets { namespace: context.goal.workload.namespace.clone() }).into()
    }

    /// Reports once that they cannot be respected.
    pub(crate) fn say(&mut self) -> Effects {
        let why = self.forbidden.as_mut().and_then(Option::take);
        Effects(why.map(|why| Effect::Say(Notice::BudgetsUnreadable { why })).into_iter().collect())
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.read.error.as_ref().map(|why| format!("the PodDisruptionBudgets could not be read: {why}"))
    }

    /// Why no pod may be taken, if a budget blocks it.
    pub(crate) fn what_blocks(&self) -> Option<String> {
        self.blocks.clone().or_else(|| self.trouble())
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.blocks.is_some()
    }

    pub(crate) fn next_visit(&self) -> Option<Now> {
        let is_due = self.read.asked().is_none() && self.read.retry_at > Now::ZERO;
        is_due.then_some(self.read.retry_at)
    }
}
