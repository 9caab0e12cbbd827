//! Replacement pods: those that the owner creates from the wanted template while the rollout is in progress. They are
//! right by themselves and leave it, but a container that fails in one of them would fail in the next pod as well: then
//! no further pod is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Effect, Effects};
use crate::change::Direction;
use crate::k8s::failure::{self, Failure, Urgency};
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::report::{Notice, PodEnd};
use crate::rollout::Now;
use crate::rollout::drain::is_ready_but_for_our_gate;
use crate::rollout::goal::{ContainerGoal, Goal, Mode};
use crate::rollout::observed::TurnContext;
use crate::rollout::pod_run::{PodIndex, PodRun};
use crate::rollout::pods::Pods;
use crate::state::policy::CANARY_HOLD_SECONDS;
use crate::value::count::count;
use crate::value::duration::seconds_between;

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
    /// The end waits until they are.
    pub(crate) ready: Ready,
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
                let phase = UpdatePhase::Failing(trouble.failure.clone());
                effects.say(Notice::Pod { pod: pod.clone(), phase });
            }
        }
        effects
    }

    pub(crate) fn have_failed(&self, goal: &Goal) -> bool {
        !goal.policy().goes_on_after_failure && self.troubles.values().any(|trouble| trouble.said)
    }

    pub(crate) fn ends(&self) -> Vec<PodEnd> {
        let mut ends: BTreeMap<&PodKey, PodEnd> = BTreeMap::new();
        for ((pod, _), trouble) in self.troubles.iter().filter(|(_, trouble)| trouble.said) {
            let failing = || UpdatePhase::Failing(trouble.failure.clone());
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
    }
    let is_replacement = seconds_between(&rollout.since, &pod.created).is_some_and(|since| since >= 0);
    let is_ours = pod.is_controlled_by(&goal.controllers);
    if !is_replacement || !is_ours || !pod.is_present() {
        return BTreeMap::new();
    }
    ContainerGoal::of_change(&rollout.directed(), pod, goal.id())
}

// Whether the replacement pods are ready. A rollout that ends before they are has not shown that: an image
// that starts nowhere would pass where every pod of the plan was deleted meanwhile.

const NAMED: usize = 5;

#[derive(Debug, Clone, Default)]
pub(crate) struct Ready {
    /// Since when every replacement pod is ready and no container of theirs has restarted.
    since: Option<Now>,
    /// How often their containers had started again by then.
    restarts: i64,
    /// They have been ready for long enough.
    is_proven: bool,
    waits: Option<String>,
    /// How many pods were unready at the last report: it is repeated once they are fewer, since a crashing pod is ready
    /// in between.
    said: Option<usize>,
}

impl Ready {
    /// Decides whether the end has to wait for them, once every pod of the plan is done or has left.
    pub(crate) fn visit_changed(&mut self, context: TurnContext<'_>, pods: &Pods) -> Effects {
        let mut effects = Effects::default();
        let is_asked = context.goal.owner.is_some() || follows_all(context, pods);
        if !is_asked || !pods.all_over() {
            *self = Self::default();
            effects.0.push(Effect::WaitForReplacements(false));
            return effects;
        }
        if self.is_proven || !context.is_live() || context.ending_since.is_some() {
            return effects;
        }
        let made = ReplacementPods::of(context, pods);
        match made.waits() {
            Some(why) => {
                self.since = None;
                if self.said.is_none_or(|said| made.lacking() < said) {
                    self.said = Some(made.lacking());
                    effects.say(Notice::WaitsToEnd { why: why.clone() });
                }
                self.waits = Some(why);
            }
            None => {
                // A container that ends and starts again at once may be ready at every visit.
                let since = self.since.filter(|_| self.restarts == made.restarts).unwrap_or(context.now);
                (self.since, self.restarts) = (Some(since), made.restarts);
                self.is_proven = made.is_none() || since + hold(context, pods) <= context.now;
                self.waits = None;
            }
        }
        effects.0.push(Effect::WaitForReplacements(!self.is_proven));
        effects
    }

    pub(crate) fn waits(&self) -> Option<&str> {
        self.waits.as_deref()
    }

    pub(super) fn next_visit(&self, context: TurnContext<'_>, pods: &Pods) -> Option<Now> {
        self.since.filter(|_| !self.is_proven).map(|since| since + hold(context, pods))
    }
}

/// Whether an owner's pods are followed, and none of them has left since: the pods that it lacks are waited for, as
/// `kubectl rollout status` does. For pods that leave, their owner's controller shows what comes next.
fn follows_all(context: TurnContext<'_>, pods: &Pods) -> bool {
    let is_there = |run: &PodRun| pods.present().contains(&run.goal.key);
    context.goal.is_followed() && context.goal.workload.kind.has_template() && pods.iter().all(is_there)
}

/// Where no pod of the plan has proven the change, the replacement pods are the first to prove it.
fn hold(context: TurnContext<'_>, pods: &Pods) -> Duration {
    let canary = if pods.has_proof() { 0 } else { CANARY_HOLD_SECONDS };
    Duration::from_secs(context.goal.policy().hold_seconds(canary).into())
}

/// The pods that the owner has made since the rollout began, and those that it still has to make.
struct ReplacementPods<'p> {
    unready: BTreeSet<&'p PodKey>,
    /// Unready ones beyond the planned number, as the owner was scaled up; the change does not rest on them.
    surplus: usize,
    missing: usize,
    restarts: i64,
    /// The rollout is only watched.
    is_watched: bool,
    count: usize,
}

impl<'p> ReplacementPods<'p> {
    fn of(context: TurnContext<'_>, pods: &'p Pods) -> Self {
        let began = match &context.goal.owner {
            Some(_) => Some(context.goal.lock.rollout.since.as_str()),
            None => context.goal.read_at(),
        };
        let since = began.unwrap_or_default();
        let is_new = |key: &&PodKey| {
            let created = context.observed.pod(key).and_then(|pod| seconds_between(since, &pod.created));
            pods.position(key).is_none() && created.is_some_and(|since| since >= 0)
        };
        let made: BTreeSet<&PodKey> = pods.present().iter().filter(is_new).collect();
        let is_unready = |key: &&PodKey| {
            pods.down().contains(*key) && !context.observed.pod(key).is_some_and(is_ready_but_for_our_gate)
        };
        let planned = usize::try_from(context.goal.replicas).unwrap_or(usize::MAX);
        let lacking = planned.min(context.replicas()).saturating_sub(pods.present().len());
        let missing = match context.goal.mode() {
            Mode::Follow => lacking,
            Mode::Durable | Mode::PodsOnly => {
                pods.all(PodIndex::Replaced).len().saturating_sub(made.len()).min(lacking)
            }
        };
        let pods_made = made.iter().filter_map(|key| context.observed.pod(key));
        // Sidecars are among the init containers.
        let restarts = pods_made.map(|pod| pod.all_statuses().map(|status| status.restart_count).sum());
        let mut restarts: Vec<i64> = restarts.collect();
        let surplus = pods.present().len().saturating_sub(planned);
        // Those that crash are the ones that the change does not rest on.
        restarts.sort_unstable();
        restarts.truncate(restarts.len().saturating_sub(surplus));
        Self {
            restarts: restarts.iter().sum(),
            unready: made.iter().copied().filter(is_unready).collect(),
            surplus,
            missing,
            is_watched: context.goal.is_followed(),
            count: made.len(),
        }
    }

    fn is_none(&self) -> bool {
        self.count == 0
    }

    fn lacking(&self) -> usize {
        self.missing + self.unready.len()
    }

    fn waits(&self) -> Option<String> {
        let unready = if self.unready.len() > self.surplus { self.unready.len() } else { 0 };
        let named: Vec<String> = self.unready.iter().take(NAMED).map(ToString::to_string).collect();
        let more = match self.unready.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let unready = (unready > 0).then(|| format!("new pods are not ready: {}{more}", named.join(", ")));
        let missing = (self.missing > 0).then(|| match self.is_watched {
            true => format!("{} still to be made", count(self.missing, "pod")),
            false => format!("{} that left must still be replaced", count(self.missing, "pod")),
        });
        let waits: Vec<String> = [missing, unready].into_iter().flatten().collect();
        (!waits.is_empty()).then(|| waits.join("; "))
    }
}

#[cfg(test)]
mod tests;
