//! Replacement pods: those that the owner creates from the wanted template while the rollout is in progress. They are
//! right by themselves and leave it, but a container that fails in one of them would fail in the next pod as well: then
//! no further pod is touched.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::Direction;
use crate::k8s::failure::{self, Failure, Urgency};
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::Pod;
use crate::report::progress::PodProgress;
use crate::report::{Notice, PodEnd};

use crate::rollout::Now;
use crate::rollout::goal::{ContainerGoal, Goal};
use crate::rollout::observed::TurnContext;
use crate::rollout::pods::Pods;
use crate::value::duration::seconds_between;

use super::Effects;

mod ready;

/// All containers of a new pod start at once, and one may crash until another is up: this many restarts are forgiven.
const FORGIVEN_RESTARTS: i64 = 1;

/// A container of such a pod that does not run.
#[derive(Debug, Clone)]
struct Trouble {
    failure: Failure,
    urgency: Urgency,
    since: Now,
    said: bool,
}

impl Trouble {
    /// When it counts as failed, if nothing changes.
    fn at(&self) -> Now {
        self.since + Duration::from_secs(self.urgency.tolerated_seconds())
    }
}

type Troubles = BTreeMap<(PodKey, ContainerName), Trouble>;

/// What is kept of them: by pod and container.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replacements {
    troubles: Troubles,
    ready: ready::Ready,
}

impl Replacements {
    pub(crate) fn visit_changed(&mut self, context: TurnContext<'_>, pods: &Pods, changed: &[PodKey]) {
        // `PodsOnly` has no template that replacement pods come from; and what was reported stays so while the run is
        // ending: a crashed container is started again.
        if context.goal.owner.is_none() || context.ending_since.is_some() {
            return;
        }
        for key in changed {
            let before = std::mem::take(&mut self.troubles);
            let (of_it, others) = before.into_iter().partition(|((pod, _), _)| pod == key);
            self.troubles = others;
            if pods.position(key).is_none() {
                pods.count_visits(1);
                let pod = context.observed.pod(key);
                let found = pod.map(|pod| troubles(context.goal, pod, &of_it, context.now)).unwrap_or_default();
                self.troubles.extend(found);
            }
        }
    }

    pub(crate) fn say(&mut self, context: TurnContext<'_>) -> Effects {
        let mut effects = Effects::default();
        for ((pod, _), trouble) in &mut self.troubles {
            if trouble.at() <= context.now && context.is_live() && !std::mem::replace(&mut trouble.said, true) {
                let phase = PodProgress::Failing(trouble.failure.clone());
                effects.say(Notice::Pod { pod: pod.clone(), phase });
            }
        }
        effects
    }

    /// Makes the end wait until they are ready.
    pub(crate) fn settle(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        self.ready.visit_changed(context, pods)
    }

    pub(crate) fn waits(&self) -> Option<&str> {
        self.ready.waits()
    }

    pub(crate) fn have_failed(&self, goal: &Goal) -> bool {
        !goal.policy().goes_on_after_failure && self.troubles.values().any(|trouble| trouble.said)
    }

    pub(crate) fn ends(&self) -> Vec<PodEnd> {
        let mut ends: BTreeMap<&PodKey, PodEnd> = BTreeMap::new();
        for ((pod, _), trouble) in self.troubles.iter().filter(|(_, trouble)| trouble.said) {
            let failing = || PodProgress::Failing(trouble.failure.clone());
            ends.entry(pod).or_insert_with(|| PodEnd::new(pod.clone(), failing()));
        }
        ends.into_values().collect()
    }

    pub(crate) fn next_visit(&self, context: TurnContext<'_>, pods: &Pods) -> Option<Now> {
        let fails = self.troubles.values().filter(|trouble| !trouble.said).map(Trouble::at);
        fails.chain(self.ready.next_visit(context, pods)).min()
    }
}

fn troubles(goal: &Goal, pod: &Pod, before: &Troubles, now: Now) -> Troubles {
    wanted(goal, pod)
        .into_iter()
        .filter(|(_, wanted)| wanted.from == wanted.to && wanted.restarts)
        .filter_map(|(name, wanted)| {
            let status = pod.status_of(&name)?;
            // Any container that ended in it had the wanted image: the pod was created with it.
            let restarts = u64::try_from(status.restart_count).ok();
            let (failure, urgency) = failure::judge(status, |_| Some(true), restarts, None, wanted.to.as_deref()?)?;
            if failure.exit_code.is_some() && urgency == Urgency::AtOnce && status.restart_count <= FORGIVEN_RESTARTS {
                return None;
            }
            let key = (pod.key.clone(), name);
            let known = before.get(&key).filter(|known| known.failure.reason == failure.reason);
            let (since, said) = known.map_or((now, false), |known| (known.since, known.said));
            Some((key, Trouble { failure, urgency, since, said }))
        })
        .collect()
}

/// What the rollout wants of a pod that was created since it began; nothing of any other, and nothing on the way back.
fn wanted(goal: &Goal, pod: &Pod) -> BTreeMap<ContainerName, ContainerGoal> {
    let rollout = &goal.lock.rollout;
    if goal.owner.is_none() || rollout.direction != Direction::Forward {
        return BTreeMap::new();
    };
    let is_replacement = seconds_between(&rollout.since, &pod.created).is_some_and(|since| since >= 0);
    let is_ours = pod.is_controlled_by(&goal.controllers);
    if !is_replacement || !is_ours || !pod.is_present() {
        return BTreeMap::new();
    }
    ContainerGoal::of_change(&rollout.directed(), pod, goal.id())
}

#[cfg(test)]
mod tests;
