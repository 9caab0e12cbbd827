//! Pods that the owner makes anew from the wanted template while the rollout is under way. They are right by themselves and
//! leave it, but a container that fails in one of them would fail in the next pod as well: then no further one is touched.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::durable::change::Direction;
use crate::engine::failure::{self, Failure, Urgency};
use crate::engine::names::{ContainerName, PodKey};
use crate::engine::pod::Pod;
use crate::engine::progress::PodPhase;
use crate::engine::report::{Notice, PodEnd};

use super::goal::{ContainerGoal, Goal};
use super::ledger::Ledger;
use super::world::{Watch, World};
use super::{Now, Turn};

/// All containers of a new pod start at once, and one may crash until another is up: so many restarts are forgiven.
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
        self.since + Duration::from_secs(self.urgency.patience_seconds())
    }
}

type Troubles = BTreeMap<(PodKey, ContainerName), Trouble>;

/// What is kept of them: by pod and container.
#[derive(Debug, Clone, Default)]
pub(super) struct AnewLedger {
    troubles: Troubles,
}

/// Looks at the pods that have changed since the last turn and are none of the goal's.
pub(super) fn look(goal: &Goal, world: &World, ledger: &mut Ledger, now: Now) {
    // Pods alone have no template to be made from; and what was told stays so while the end is on its way: a crashed
    // container is started again.
    if goal.owner.is_none() || ledger.ending_since.is_some() {
        return;
    }
    let changed: Vec<PodKey> = world.changed_since(ledger.seen).cloned().collect();
    for key in changed {
        let before = std::mem::take(&mut ledger.anew.troubles);
        let (of_it, others) = before.into_iter().partition(|((pod, _), _)| *pod == key);
        ledger.anew.troubles = others;
        if !ledger.position.contains_key(&key) {
            ledger.look();
            let found = world.pod(&key).map(|pod| troubles(goal, pod, &of_it, now)).unwrap_or_default();
            ledger.anew.troubles.extend(found);
        }
    }
}

fn troubles(goal: &Goal, pod: &Pod, before: &Troubles, now: Now) -> Troubles {
    wanted(goal, pod)
        .into_iter()
        .filter(|(_, wanted)| wanted.from == wanted.to && wanted.restarts)
        .filter_map(|(name, wanted)| {
            let (_, _, status) = pod.container_status(&name)?;
            // Whatever ended in it is of the wanted image: it was made with it.
            let (failure, urgency) = failure::judge(status, |_| Some(true), None, wanted.to.as_deref()?)?;
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

/// What the rollout wants of a pod that was made since it began; nothing of any other, and nothing on the way back.
fn wanted(goal: &Goal, pod: &Pod) -> BTreeMap<ContainerName, ContainerGoal> {
    let Some(owner) = goal.owner.as_ref().filter(|owner| owner.lock.direction == Direction::Forward) else {
        return BTreeMap::new();
    };
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let is_anew = time(&owner.lock.since).zip(time(&pod.created)).is_some_and(|(began, made)| {
        // The API's times are whole seconds.
        made.as_second() >= began.as_second()
    });
    let is_ours = pod.is_controlled_by(&goal.controllers);
    if !is_anew || !is_ours || pod.terminating || pod.is_finished() {
        return BTreeMap::new();
    }
    ContainerGoal::of_change(&owner.lock.directed(), pod)
}

/// Says which have failed, once each.
pub(super) fn say(world: &World, ledger: &mut Ledger, now: Now, turn: &mut Turn) {
    let live = *world.watch() == Watch::Live;
    for ((pod, _), trouble) in &mut ledger.anew.troubles {
        if trouble.at() <= now && live && !std::mem::replace(&mut trouble.said, true) {
            let phase = PodPhase::Failing(trouble.failure.clone());
            turn.notices.push(Notice::Pod { pod: pod.clone(), phase });
        }
    }
}

/// Returns whether one has failed and that ends the rollout.
pub(super) fn has_failed(goal: &Goal, ledger: &Ledger) -> bool {
    !goal.policy.goes_on_after_failure && ledger.anew.troubles.values().any(|trouble| trouble.said)
}

/// Returns those that have failed, as they ended.
pub(super) fn ends(ledger: &Ledger) -> Vec<PodEnd> {
    let mut ends: BTreeMap<&PodKey, PodEnd> = BTreeMap::new();
    for ((pod, _), trouble) in ledger.anew.troubles.iter().filter(|(_, trouble)| trouble.said) {
        ends.entry(pod).or_insert_with(|| PodEnd {
            pod: pod.clone(),
            phase: PodPhase::Failing(trouble.failure.clone()),
            patched: false,
            containers: Vec::new(),
            unplanned: Vec::new(),
            replaced: false,
        });
    }
    ends.into_values().collect()
}

/// Returns when the next of them counts as failed.
pub(super) fn next_look(ledger: &Ledger) -> Option<Now> {
    ledger.anew.troubles.values().filter(|trouble| !trouble.said).map(Trouble::at).min()
}

#[cfg(test)]
mod tests;
