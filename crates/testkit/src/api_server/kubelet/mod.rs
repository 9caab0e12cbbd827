//! A simulated kubelet: what pods show after their images change, step by step, in real time but fast.
//!
//! The order is that of a real 1.36 node. First the *stale* status: the new spec is observed while the old container
//! still runs and is Ready. Then, in one jump, the new container, or a reason why there is none, with the old
//! container's ID and restartCount. While it works on a pod it does not read newer specs of it. The tag of an image
//! says how it behaves, see [`image::Behaviour`].

mod conditions;
mod image;
mod node;
mod resize;
mod step;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::State;
use super::store::Key;

pub use image::{hex64, image_id, normalised};

/// How long things take, all small; durations of the real kubelet are seconds.
#[derive(Debug, Clone)]
pub struct Times {
    /// From the write to the stale status.
    pub observe: Duration,
    /// From the stale status to the new container or the reason why there is none: kill and start.
    pub restart: Duration,
    /// The same of a new pod, where nothing is to be killed.
    pub start: Duration,
    /// Added to both for each image that is not on the node.
    pub pull: Duration,
    /// Added to `restart` where the image's tag is `slow`.
    pub slow: Duration,
    /// From the start until the readiness (or startup) probe passes; without probes a container is ready at once.
    pub ready: Duration,
    /// From the start of a container whose tag is `crash` to its end.
    pub crash: Duration,
    /// Between tries: pulls, and starts after a crash.
    pub back_off: Duration,
    /// From the deletion of a pod until it is gone.
    pub terminate: Duration,
    /// Pulls of a tag `flaky` that fail before one works.
    pub flaky_pulls: u32,
}

impl Default for Times {
    fn default() -> Self {
        let short = Duration::from_millis(20);
        Self {
            observe: Duration::from_millis(5),
            restart: short,
            start: short,
            pull: Duration::ZERO,
            slow: Duration::from_millis(300),
            ready: short,
            crash: short,
            back_off: short,
            terminate: short,
            flaky_pulls: 1,
        }
    }
}

/// What is to be done, and when.
#[derive(Debug, Clone)]
struct Due {
    at: Instant,
    key: Key,
    uid: String,
    step: Step,
}

/// One step in the life of a pod. `try_number` distinguishes a container's starts: a step of an earlier one is void.
#[derive(Debug, Clone)]
enum Step {
    /// Publishes the stale status, then begins the work.
    Observe,
    /// Kills, pulls and starts; the images are those seen by `Observe`.
    Start(Vec<(String, String)>),
    /// Waits for the next pull.
    BackOff { container: String, try_number: u64 },
    /// Pulls again.
    Retry { container: String, try_number: u64 },
    /// The probes pass.
    Ready { container: String, try_number: u64 },
    /// The process ends with exit code 3.
    Crash { container: String, try_number: u64 },
    /// Conditions follow readiness gates.
    Conditions,
    /// A deleted pod is gone.
    Gone,
}

/// What really runs for a container.
#[derive(Debug, Clone, Default)]
struct Truth {
    image: String,
    try_number: u64,
    failed_pulls: u32,
    crashes: u32,
    /// What it has written, and what the container before it had.
    log: Vec<Line>,
    previous: Option<Vec<Line>>,
}

/// A line of a container's log.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) at: String,
    pub(crate) text: String,
}

/// What the kubelet knows about a pod.
#[derive(Debug, Clone, Default)]
struct PodTruth {
    containers: BTreeMap<String, Truth>,
    busy: bool,
    terminating: bool,
}

/// The kubelet of every node.
#[derive(Debug)]
pub struct Kubelet {
    pub times: Times,
    pub paused: bool,
    queue: Vec<Due>,
    pods: BTreeMap<String, PodTruth>,
    /// The number of addresses that were given to pods.
    addresses: u32,
}

impl Kubelet {
    /// Returns a kubelet with nothing to do.
    pub fn new() -> Self {
        Self { times: Times::default(), paused: false, queue: Vec::new(), pods: BTreeMap::new(), addresses: 0 }
    }

    /// Returns when there is something to do.
    pub fn next_due(&self) -> Option<Instant> {
        if self.paused { None } else { self.queue.iter().map(|due| due.at).min() }
    }

    /// Looks at a pod that was written, and plans what follows.
    pub(crate) fn pod_written(&mut self, key: &Key, pod: &Value, now: Instant, waits_for_node: bool) {
        let uid = uid_of(pod);
        if waits_for_node && pod.pointer("/spec/nodeName").is_none() {
            return;
        }
        if !self.pods.contains_key(&uid) {
            let truth = adopt(pod);
            let fresh = truth.containers.is_empty();
            self.pods.insert(uid.clone(), truth);
            if fresh {
                self.plan(key, &uid, now + self.times.observe, Step::Observe);
                if let Some(truth) = self.pods.get_mut(&uid) {
                    truth.busy = true;
                }
            }
        }
        let terminating = pod.pointer("/metadata/deletionTimestamp").is_some();
        let gates = pod.pointer("/spec/readinessGates").is_some();
        let Some(truth) = self.pods.get_mut(&uid) else { return };
        if terminating {
            if !truth.terminating {
                truth.terminating = true;
                self.plan(key, &uid, now + self.times.terminate, Step::Gone);
            }
            return;
        }
        if !truth.busy && (!changed_images(truth, pod).is_empty() || asks_for_a_resize(pod)) {
            truth.busy = true;
            self.plan(key, &uid, now + self.times.observe, Step::Observe);
        } else if gates {
            self.plan(key, &uid, now + self.times.observe, Step::Conditions);
        }
    }

    /// What a container has written, or the one before it, and which start of it that is.
    pub(crate) fn log(&self, uid: &str, container: &str, previous: bool) -> Option<(u64, &[Line])> {
        let truth = self.pods.get(uid)?.containers.get(container)?;
        let lines = if previous { truth.previous.as_ref()? } else { &truth.log };
        Some((truth.try_number, lines))
    }

    fn plan(&mut self, key: &Key, uid: &str, at: Instant, step: Step) {
        self.queue.push(Due { at, key: key.clone(), uid: uid.to_owned(), step });
    }

    fn truth(&mut self, uid: &str, container: &str) -> Option<&mut Truth> {
        self.pods.get_mut(uid)?.containers.get_mut(container)
    }

    /// Takes the earliest step that is due.
    fn take_due(&mut self, now: Instant) -> Option<Due> {
        if self.paused {
            return None;
        }
        let due = self.queue.iter().enumerate().filter(|(_, due)| due.at <= now);
        let (index, _) = due.min_by_key(|(_, due)| due.at)?;
        Some(self.queue.remove(index))
    }
}

/// Runs what is due; returns whether anything was.
pub(crate) fn run_due(state: &mut State, now: Instant) -> bool {
    let mut worked = false;
    while let Some(due) = state.kubelet.take_due(now) {
        worked = true;
        step::run(state, &due, now);
    }
    worked
}

fn uid_of(pod: &Value) -> String {
    pod.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Takes the containers of an inserted pod for running what the spec says. Without any containerID it is a new pod.
fn adopt(pod: &Value) -> PodTruth {
    let mut truth = PodTruth::default();
    for status in statuses(pod) {
        let name = status["name"].as_str().unwrap_or_default();
        if let Some(image) = status["containerID"].as_str().and_then(|_| image_of(pod, name)) {
            truth.containers.insert(name.to_owned(), Truth { image, ..Truth::default() });
        }
    }
    truth
}

fn statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    ["containerStatuses", "initContainerStatuses"]
        .into_iter()
        .flat_map(|list| pod["status"][list].as_array().into_iter().flatten())
}

/// Returns the containers that a kubelet restarts: regular ones and sidecars.
fn restartable(pod: &Value) -> Vec<&Value> {
    let regular = pod["spec"]["containers"].as_array().into_iter().flatten();
    let sidecars = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    regular.chain(sidecars.filter(|container| container["restartPolicy"] == "Always")).collect()
}

fn image_of(pod: &Value, container: &str) -> Option<String> {
    let found = restartable(pod).into_iter().find(|one| one["name"] == container)?;
    found["image"].as_str().map(ToOwned::to_owned)
}

/// Where the fake kubelet keeps its internal state.
pub(super) const SEEN: &str = "seenByTheFake";

/// Whether a spec that was not seen yet asks for other cpu or memory than a container has.
fn asks_for_a_resize(pod: &Value) -> bool {
    let seen = [&pod["status"]["observedGeneration"], &pod["status"][SEEN]];
    let is_new = seen.iter().all(|seen| **seen != pod["metadata"]["generation"]);
    let differs = |one: &Value| {
        let has = statuses(pod).find(|status| status["name"] == one["name"]).map(|status| &status["resources"]);
        has.is_some_and(|has| *has != one["resources"])
    };
    let conditions = pod["status"]["conditions"].as_array();
    let is_pending = conditions.into_iter().flatten().any(|condition| condition["type"] == "PodResizePending");
    let whole = &pod["spec"]["resources"];
    let is_another = !whole.is_null() && pod["status"]["resources"] != *whole;
    is_new && (is_pending || is_another || restartable(pod).into_iter().any(differs))
}

/// Returns the containers (and their images) whose spec is not what runs. A finished pod is left alone.
fn changed_images(truth: &PodTruth, pod: &Value) -> Vec<(String, String)> {
    if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
        return Vec::new();
    }
    restartable(pod)
        .into_iter()
        .filter_map(|one| Some((one["name"].as_str()?.to_owned(), one["image"].as_str()?.to_owned())))
        .filter(|(name, image)| truth.containers.get(name).is_none_or(|runs| runs.image != *image))
        .collect()
}
