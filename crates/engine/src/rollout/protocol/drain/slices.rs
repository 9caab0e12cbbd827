//! What a drain knows of the EndpointSlices: when they were read, when they are read again, and which pods they list.

use std::collections::BTreeSet;

use crate::k8s::names::Uid;
use crate::rollout::drain::serving_in;
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::PodIndex;
use crate::rollout::pods::Pods;
use crate::rollout::{Action, Answer, Now};

use super::{Drains, Effects, RequestSource};

impl Drains {
    /// Takes in the answer to a read of the slices. Returns the pods that wait for it: they are judged in the next turn.
    pub(crate) fn answer(&mut self, pods: &Pods, answer: &Answer, now: Now) -> Vec<usize> {
        self.slices.answered(answer, now);
        pods.all(PodIndex::Draining).union(pods.all(PodIndex::RejoiningService)).copied().collect()
    }

    /// Returns those of the Services that list the pod, if the slices were read after that time.
    pub(super) fn listing<'s>(
        &self,
        context: TurnContext<'_>,
        services: &'s [String],
        pod: &Uid,
        since: Now,
    ) -> Option<BTreeSet<&'s str>> {
        let slices = context.observed.slices().filter(|_| self.slices.shows(since))?;
        Some(serving_in(slices, services, pod))
    }

    /// Reads the slices when it is time.
    pub(crate) fn read_slices(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let goals = waited_for(pods).filter_map(|position| pods.goal(position));
        let services: BTreeSet<String> = goals.flat_map(|pod| super::services(pod).iter().cloned()).collect();
        if services.is_empty() || !self.slices.poll(context.now) {
            return Effects::default();
        }
        let namespace = context.goal.workload.namespace.clone();
        (RequestSource::Slices, Action::ReadSlices { namespace, services: services.into_iter().collect() }).into()
    }

    /// When the slices have to be read again.
    pub(crate) fn next_visit(&self, pods: &Pods) -> Option<Now> {
        let is_wanted = self.slices.asked().is_none() && waited_for(pods).next().is_some();
        is_wanted.then(|| self.slices.due())
    }
}

/// The pods whose phase depends on the slices: out and not patched, or restored and not done.
fn waited_for(pods: &Pods) -> impl Iterator<Item = usize> + '_ {
    let drained = pods.all(PodIndex::Drained);
    let leaving = pods.all(PodIndex::Draining).intersection(drained);
    leaving.chain(pods.all(PodIndex::RejoiningService).difference(drained)).copied()
}
