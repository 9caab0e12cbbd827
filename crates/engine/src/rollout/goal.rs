//! What is wanted, and what was before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::change::{Change, Direction, FieldChanges};
use crate::k8s::names::{ContainerName, PodKey, RolloutId, Uid, WorkloadRef};
use crate::k8s::pod::Pod;
use crate::rollout::drain::DrainGoal;
use crate::rollout::pre_pull::{PrePull, Pull};
use crate::state::durable::OwnerChange;
use crate::state::durable::lock::Lock;
use crate::state::hook::Hooks;
use crate::state::policy::{OnDeferred, Policy};
use crate::state::record::UpdateRecord;
use crate::value::kubelet_version::KubeletVersion;

/// What is wanted of one workload's pods: made by the plan, or by `follow` from the live pods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The rollout, and the run that carries it out. It is written on the owner where that is changed too.
    pub lock: Lock,
    pub workload: WorkloadRef,
    /// The uids that may control the pods (a Deployment's ReplicaSets); empty for pods that nobody controls.
    pub controllers: BTreeSet<Uid>,
    /// How many pods the owner wants: those that are missing count as down.
    pub replicas: u32,
    /// The pods that the plan showed, in the order in which they are taken; no other pod is touched.
    pub pods: Vec<Arc<PodGoal>>,
    pub field_manager: String,
    /// What has to be pulled first, by node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulls: Vec<Pull>,
    #[serde(default)]
    pub pre_pull: PrePull,
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    /// kruise-daemon is asked to restart the containers, which keep their images (`restart --by-request`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_request: bool,
    /// The wall clock at the time 0 of this run (RFC 3339).
    pub clock: String,
    /// What is wanted of the owner, where its template is changed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerChange>>,
    /// Nothing is written: the pods are followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Follow>,
}

/// What `follow` knows of the pods beside what is wanted of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Follow {
    /// The server's time when they were read (RFC 3339): time that they had been ready by then counts.
    pub read_at: Option<String>,
    /// The lock by which a run that is alive holds the workload: its rollout has ended when that has.
    pub held_by: Option<Box<Lock>>,
}

impl Goal {
    pub fn id(&self) -> &RolloutId {
        &self.lock.rollout.id
    }

    pub fn policy(&self) -> &Policy {
        &self.lock.rollout.policy
    }

    pub fn mode(&self) -> Mode {
        match &self.owner {
            Some(_) => Mode::Durable,
            None if self.is_followed() => Mode::Follow,
            None => Mode::PodsOnly,
        }
    }

    pub fn is_followed(&self) -> bool {
        self.follows.is_some()
    }

    /// Returns whether the controller of a SidecarSet updates the pods, whosever they are, in turns of its own.
    pub fn is_in_turns(&self) -> bool {
        self.workload.kind.is_sidecar_set()
    }

    pub fn read_at(&self) -> Option<&str> {
        self.follows.as_ref()?.read_at.as_deref()
    }

    pub fn is_back(&self) -> bool {
        self.lock.rollout.direction == Direction::Back
    }

    /// Gives pods what the server makes of the image that they were to get, forward or back.
    pub fn take_as_made(&mut self, name: &ContainerName, image: &str, made: &str) {
        for pod in &mut self.pods {
            let is_it =
                |container: &ContainerGoal| container.to.as_deref() == Some(image) && container.from != container.to;
            if pod.containers.get(name).is_some_and(is_it)
                && let Some(container) = Arc::make_mut(pod).containers.get_mut(name)
            {
                container.to = Some(made.to_owned());
            }
        }
        let rollout = &mut self.lock.rollout;
        let Some(change) = rollout.change.images.get_mut(name) else { return };
        match rollout.direction {
            Direction::Forward => change.to_in_pods = Some(made.to_owned()),
            Direction::Back => change.from_in_pods = Some(made.to_owned()),
        }
    }

    /// Returns whether a resize that a kubelet defers takes the whole rollout back (`--deferred=undo`). Never on the
    /// way back: nothing is left to undo.
    pub fn undoes_deferred(&self) -> bool {
        self.policy().on_deferred == OnDeferred::Undo && !self.is_back() && !self.is_followed()
    }

    /// Sets when it begins (RFC 3339): later than the command began where other workloads came first. A rollout that is
    /// resumed has begun before.
    pub fn begins_at(&mut self, clock: String) {
        if self.lock.rollout.since == self.clock {
            self.lock.rollout.since.clone_from(&clock);
        }
        self.clock = clock;
    }

    /// Returns whether a pod that is down waits for its turn, too. On the way back it goes first: the rollout may have
    /// left it down, and the pods before it would wait for it.
    pub(super) fn is_strictly_ordered(&self) -> bool {
        self.policy().ordered && !self.is_back()
    }

    /// Returns whether there may be pods that pull: of this run, or left by another.
    pub fn looks_for_pull_pods(&self) -> bool {
        !self.pulls.is_empty() || self.pre_pull != PrePull::Never && !self.is_followed()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Changes the owner's template and the pods.
    Durable,
    /// Patches pods and leaves the owner's template.
    PodsOnly,
    Follow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PodGoal {
    pub key: PodKey,
    pub containers: BTreeMap<ContainerName, ContainerGoal>,
    /// Labels, annotations, tolerations, CPU and memory that change.
    #[serde(flatten)]
    pub fields: FieldChanges,
    /// How it is drained first, if it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainGoal>,
    /// The version of its node's kubelet, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<KubeletVersion>,
}

impl PodGoal {
    /// Returns whether a container of the pod restarts: a change that restarts nothing takes nothing down.
    pub fn restarts(&self) -> bool {
        self.containers.values().any(|container| container.restarts)
    }

    /// Returns whether a container that restarts runs, or may run: one that waits or has ended has no request to lose.
    /// The patch tests by containerID that it has not started meanwhile.
    pub fn serves(&self, pod: &Pod) -> bool {
        let mut restarting = self.containers.iter().filter(|(_, container)| container.restarts);
        restarting.any(|(name, _)| {
            let state = pod.status_of(name).map(|status| &status.state);
            state.is_none_or(|state| state.waiting.is_none() && state.terminated.is_none())
        })
    }

    /// Returns whether the pod, once done, proves that others may follow: metadata alone proves nothing.
    pub fn proves(&self) -> bool {
        self.restarts() || self.fields.resizes()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct ContainerGoal {
    /// The image that the plan saw; any image other than this and `to` was set by somebody else meanwhile.
    pub from: Option<String>,
    /// The image wanted; `None` follows whatever the pod asks for.
    pub to: Option<String>,
    /// The container restarts when its image changes: it runs for the pod's whole life. Plain init containers do not.
    pub restarts: bool,
    /// `from` is an image that somebody has set after this rollout had set its own: the plan shows it, and sets its own
    /// again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// It restarts when it is resized, too, by its `resizePolicy`. If that is its only restart, no image is wanted of
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_resize: bool,
    /// It is asked for what the pod asked for before an update: in a pod without a node, that alone takes the update
    /// back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_back: bool,
    /// What a pod that is followed asks for, where it is known to have been changed: shown, and not waited for by
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
}

impl ContainerGoal {
    /// Returns whether it keeps its image, and restarts for its resize alone.
    pub fn is_only_resized(&self) -> bool {
        self.by_resize && self.to.is_none()
    }

    /// Returns what a template's change wants of the containers of a pod that was created from the template. `id` is
    /// the rollout's: a container that it has resized already has to prove that it restarted.
    pub fn of_change(change: &Change, pod: &Pod, id: &RolloutId) -> BTreeMap<ContainerName, Self> {
        let images = change.images.iter().filter_map(|(name, image)| {
            let (list, _, container) = pod.container(name)?;
            let restarts = container.is_long_lived(list);
            // A pod that is older than the policy has the template's own.
            let to = if container.image == image.to { &image.to } else { image.in_pods() };
            let (from, to) = (Some(container.image.clone()), Some(to.to_owned()));
            Some((name.clone(), Self { from, to, restarts, ..Self::default() }))
        });
        let mut wanted: BTreeMap<ContainerName, Self> = images.collect();
        let record = UpdateRecord::of_rollout(pod, id);
        let restarted = record.iter().flat_map(|record| change.fields.resources.restarted_by(&record.resources()));
        Self::add_resized(&mut wanted, change.fields.restarting_in(pod).into_iter().chain(restarted));
        wanted
    }

    pub fn add_resized(wanted: &mut BTreeMap<ContainerName, Self>, names: impl IntoIterator<Item = ContainerName>) {
        for name in names {
            let container = wanted.entry(name).or_default();
            (container.restarts, container.by_resize) = (true, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rollout_begins_when_its_turn_comes_and_one_that_is_resumed_has_begun_before() {
        let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
        for (since, begins) in [(5, 9), (1, 1)] {
            let lock = json!({"id": "one", "run": "r", "who": "jane", "since": at(since), "version": "0", "state": "running",
                "direction": "forward", "change": {"images": {}},                 "policy": {"maxUnavailable": 1, "ownerMinReadySeconds": 0, "ordered": false}});
            let mut goal: Goal = serde_json::from_value(json!({"lock": lock,
                "workload": {"kind": "Deployment", "namespace": "d", "name": "web"}, "controllers": [],
                "replicas": 1, "pods": [], "field_manager": "m", "clock": at(5),
                "owner": {"uid": "u", "replaces": null, "before": {}, "after": {}, "keepFieldOwnership": false}}))
            .expect("it is a goal");
            goal.begins_at(at(9));
            assert_eq!((goal.lock.rollout.since, goal.clock), (at(begins), at(9)), "{since}");
        }
    }
}
