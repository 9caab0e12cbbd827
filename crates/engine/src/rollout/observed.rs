//! What a turn looks at: all that has been observed, the goal and the time. Watches replace it piece by piece; a relist
//! replaces all pods.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::k8s::events::PodEvents;
use crate::k8s::names::PodKey;
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::report::proof::DELETED;
use crate::state::durable::OwnerView;

use super::Now;
use super::goal::{Goal, PodGoal};
use super::pod_run::PodRun;
use super::pods::Pods;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Observation {
    /// Every pod, complete: a pod that was not listed is gone.
    Relisted(Vec<Pod>),
    /// A pod was added or changed, or was read.
    Applied(Box<Pod>),
    Deleted(PodKey),
    Owner(Box<OwnerView>),
    PullPods(Vec<Value>),
    Requests(Vec<Value>),
    Budgets(Vec<Value>),
    Slices(Vec<Value>),
    /// The watch broke; it is being opened again and will come back as a relist.
    WatchLost(String),
    Events(PodKey, PodEvents),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Watch {
    /// The first list is not complete.
    #[default]
    Opening,
    /// The watch delivers every change.
    Live,
    /// The watch ended with this error and is being reopened.
    Lost(String),
}

/// All pods of one selector, with an index of what changed since when.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    pods: HashMap<PodKey, Pod>,
    /// Keys of deleted pods: a read that was answered late must not bring a pod back.
    deleted: BTreeSet<PodKey>,
    /// Why deleted pods left, as far as they themselves showed it.
    causes: HashMap<PodKey, String>,
    events: HashMap<PodKey, PodEvents>,
    /// The last read of each; when it was read is in the run's [`super::reads::Read`].
    pub(super) owner: Option<OwnerView>,
    pub(super) pull_pods: Option<Vec<Value>>,
    pub(super) requests: Option<Vec<Value>>,
    pub(super) budgets: Option<Vec<Value>>,
    pub(super) slices: Option<Vec<Value>>,
    watch: Watch,
    /// Counts observations; each pod stands in `changes` under the count of its latest.
    version: u64,
    version_of: HashMap<PodKey, u64>,
    changes: BTreeMap<u64, PodKey>,
}

impl Observed {
    /// Takes in one observation.
    ///
    /// A pod older than the one known (by resourceVersion) changes nothing: reads, answers and the watch overtake
    /// each other.
    pub fn observe(&mut self, observation: Observation) {
        match observation {
            Observation::Relisted(pods) => {
                let listed: BTreeSet<PodKey> = pods.iter().map(|pod| pod.key.clone()).collect();
                let gone: BTreeSet<PodKey> = self.pods.keys().filter(|key| !listed.contains(key)).cloned().collect();
                gone.into_iter().for_each(|key| self.delete(key));
                pods.into_iter().for_each(|pod| self.apply(pod));
                self.watch = Watch::Live;
            }
            Observation::Applied(pod) => self.apply(*pod),
            Observation::Deleted(key) => self.delete(key),
            Observation::Owner(view) => self.owner = Some(*view),
            Observation::Budgets(budgets) => self.budgets = Some(budgets),
            Observation::Slices(slices) => self.slices = Some(slices),
            Observation::PullPods(pods) => self.pull_pods = Some(pods),
            Observation::Requests(requests) => self.requests = Some(requests),
            Observation::WatchLost(why) => self.watch = Watch::Lost(why),
            Observation::Events(key, events) => {
                self.events.insert(key.clone(), events);
                self.changed(key);
            }
        }
    }

    fn apply(&mut self, pod: Pod) {
        let stale = self
            .pods
            .get(&pod.key)
            .is_some_and(|known| pod.resource_version <= known.resource_version && pod.resource_version != 0);
        if stale || self.deleted.contains(&pod.key) {
            return;
        }
        let key = pod.key.clone();
        self.pods.insert(key.clone(), pod);
        self.changed(key);
    }

    fn delete(&mut self, key: PodKey) {
        // A watch by labels reports a pod as deleted once they no longer select it.
        let left = self.pods.remove(&key);
        let deleted = |pod: &Pod| pod.terminating.then(|| DELETED.to_owned());
        if let Some(why) = left.and_then(|pod| pod.disruption().or_else(|| deleted(&pod))) {
            self.causes.insert(key.clone(), why);
        }
        self.deleted.insert(key.clone());
        self.changed(key);
    }

    fn changed(&mut self, key: PodKey) {
        self.version += 1;
        if let Some(before) = self.version_of.insert(key.clone(), self.version) {
            self.changes.remove(&before);
        }
        self.changes.insert(self.version, key);
    }

    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(super) fn pod(&self, key: &PodKey) -> Option<&Pod> {
        self.pods.get(key)
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.values()
    }

    /// Whether exactly this pod, by uid, was seen deleted.
    pub(super) fn is_deleted(&self, key: &PodKey) -> bool {
        self.deleted.contains(key)
    }

    /// Why a pod left, as far as its own status said so.
    pub(super) fn why_deleted(&self, key: &PodKey) -> Option<&str> {
        self.causes.get(key).map(String::as_str)
    }

    /// The kubelet's events of a pod, as last read.
    pub(super) fn events(&self, key: &PodKey) -> Option<&PodEvents> {
        self.events.get(key)
    }

    /// The owner itself, as last read.
    pub(super) fn owner_object(&self) -> Option<&Value> {
        self.owner.as_ref()?.object.as_ref()
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The pods that changed after that version, each once.
    pub(super) fn changed_since(&self, version: u64) -> impl Iterator<Item = &PodKey> {
        self.changes.range(version.saturating_add(1)..).map(|(_, key)| key)
    }
}

#[derive(Clone, Copy)]
pub(super) struct TurnContext<'a> {
    pub(super) goal: &'a Goal,
    pub(super) observed: &'a Observed,
    pub(super) now: Now,
    /// Since when the run is asked to stop.
    pub(super) stopped_since: Option<Now>,
    /// Since when the verdict stands, while answers are still outstanding.
    pub(super) ending_since: Option<Now>,
}

/// One pod of the run, in this turn.
#[derive(Clone, Copy)]
pub(super) struct PodContext<'a> {
    pub(super) position: usize,
    pub(super) goal: &'a PodGoal,
    pub(super) pod: Option<&'a Pod>,
}

impl<'a> TurnContext<'a> {
    /// Returns a pod of the run that exists.
    pub(super) fn found<'p>(self, pods: &'p Pods, position: usize) -> Option<(&'p PodRun, &'a Pod)> {
        let run = pods.run(position)?;
        Some((run, self.observed.pod(&run.goal.key)?))
    }

    pub(super) fn is_live(self) -> bool {
        *self.observed.watch() == Watch::Live
    }

    /// How many pods the owner wants now: scaling is followed.
    pub(super) fn replicas(self) -> usize {
        let object = self.observed.owner_object();
        let pointer = self.goal.workload.kind.replicas().pointer();
        let now = object.zip(pointer).and_then(|(object, pointer)| object.pointer(pointer)).and_then(Value::as_u64);
        usize::try_from(now.unwrap_or(u64::from(self.goal.replicas))).unwrap_or(0)
    }
}

/// The phase, and when it may change without a new observation.
pub(super) struct Judged {
    pub(super) phase: UpdatePhase,
    pub(super) wake: Option<Now>,
}

impl From<UpdatePhase> for Judged {
    fn from(phase: UpdatePhase) -> Self {
        Self { phase, wake: None }
    }
}
