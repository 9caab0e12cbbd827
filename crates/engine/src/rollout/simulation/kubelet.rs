//! The simulated kubelet and runtime of one pod, as nasty as the real ones.
//!
//! It publishes the old status with the new generation first, then kills, then pulls, and publishes nothing
//! meanwhile; a start that fails shows the old container; a second later the API shows a new container.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::k8s::events::PodEvents;
use crate::k8s::names::{ContainerName, PodKey};
use crate::k8s::pod::{Condition, ContainerState, ContainerStatus, Running, Terminated, Waiting};

use super::super::Now;
use super::WANTED;
use super::api_server::{ApiServer, timestamp};
use super::nature::{DECISIVE, Fate, Nature, STARTUP_PERIOD, Stage};
use super::random::Random;
use super::resized::Sizes;

/// When the pods' first containers began to run.
const LONG_AGO: &str = "2026-02-01T00:00:00Z";

#[derive(Debug, Clone, Default)]
struct Runtime {
    name: ContainerName,
    id: Option<String>,
    made_of: String,
    /// When it began to run, as the API shows it.
    running_since: Option<String>,
    ready: bool,
    started: Option<bool>,
    restarts: i64,
    waiting: Option<Waiting>,
    last: Option<Terminated>,
    tries: u32,
}

/// One pod on its node.
#[derive(Debug, Clone)]
pub(super) struct Kubelet {
    key: PodKey,
    nature: Nature,
    /// By wanted image: everything else starts well.
    fates: BTreeMap<String, Fate>,
    pub(super) random: Random,
    containers: Vec<Runtime>,
    known: BTreeMap<ContainerName, String>,
    known_generation: Option<i64>,
    shown: Vec<ContainerStatus>,
    shown_resize: Option<Condition>,
    shown_sizes: Option<Sizes>,
    to_kill: VecDeque<usize>,
    to_start: VecDeque<usize>,
    syncing: bool,
    dirty: bool,
    made: u32,
    /// Which image each container was made of: the truth.
    pub(super) truth: BTreeMap<String, String>,
    pub(super) events: PodEvents,
    /// Of the container that is resized, where one is.
    pub(super) sizes: Option<Sizes>,
}

pub(super) type Later = Vec<(Now, Stage)>;

impl Kubelet {
    /// A pod that runs the images that its spec asks for, or crashes with them.
    pub(super) fn new(key: &PodKey, nature: Nature, random: Random, images: &[(&str, &str)], broken: bool) -> Self {
        let mut kubelet = Self {
            key: key.clone(),
            nature,
            fates: BTreeMap::new(),
            random,
            containers: Vec::new(),
            known: images.iter().map(|(name, image)| ((*name).into(), (*image).to_owned())).collect(),
            known_generation: Some(1),
            shown: Vec::new(),
            shown_resize: None,
            shown_sizes: None,
            to_kill: VecDeque::new(),
            to_start: VecDeque::new(),
            syncing: false,
            dirty: false,
            made: 0,
            truth: BTreeMap::new(),
            events: PodEvents::default(),
            sizes: None,
        };
        for (index, (name, _)) in images.iter().enumerate() {
            kubelet.containers.push(Runtime { name: (*name).into(), ..Runtime::default() });
            kubelet.make(index, LONG_AGO.into());
            if let Some(runtime) = kubelet.containers.get_mut(index) {
                (runtime.ready, runtime.restarts) = (true, 0);
                runtime.started = Some(true);
            }
            if broken && index == 1 {
                kubelet.end(index, 1, Now::ZERO);
                kubelet.containers.iter_mut().for_each(|runtime| runtime.tries = 2);
                kubelet.wait(index, "CrashLoopBackOff", "back-off 5m0s restarting failed container");
            }
        }
        kubelet
    }

    /// It runs, and is not ready.
    pub(super) fn never_ready(&mut self) {
        self.containers.iter_mut().skip(1).for_each(|runtime| runtime.ready = false);
    }

    pub(super) fn fate(&mut self, image: &str, fate: Fate) {
        self.fates.insert(image.to_owned(), fate);
    }

    /// The spec has changed.
    pub(super) fn notify(&mut self, now: Now) -> Later {
        let mut later = Vec::new();
        let mut see = self.random.millis(10, 1_200);
        if self.nature.crashes_early {
            self.nature.crashes_early = false;
            later.push((now + self.random.millis(0, 100), Stage::CrashOld));
            see += Duration::from_millis(2_000);
        }
        later.push((now + see, Stage::See));
        later
    }

    pub(super) fn step(&mut self, stage: Stage, api: &mut ApiServer, now: Now) -> Later {
        if api.pod(&self.key).is_none_or(|pod| pod.terminating) {
            return Vec::new();
        }
        match stage {
            Stage::CrashOld => self.crash_old(api, now),
            Stage::See => self.see(api, now),
            Stage::Kill(index) => self.kill(index, now),
            Stage::Start => self.start_next(now),
            Stage::Retry(index) => self.retry(index, now),
            Stage::BackOff(index) => self.back_off(index, api, now),
            Stage::Publish => self.publish(api, now),
            Stage::Actuate => self.actuate(api, now),
            Stage::Probe { container, id, started, ready } => self.probe(container, &id, started, ready, api, now),
            Stage::Crash { container, id } => self.crash(container, &id, api, now),
            Stage::Sibling { ready } => {
                if let Some(runtime) = self.containers.first_mut() {
                    runtime.ready = ready;
                }
                self.shown.iter_mut().take(1).for_each(|status| status.ready = ready);
                self.write(api, now)
            }
        }
    }

    fn make(&mut self, index: usize, started_at: String) -> String {
        self.made += 1;
        let id = format!("containerd://{}-{index}-{}", self.key.uid, self.made);
        if let Some(runtime) = self.containers.get_mut(index) {
            let image = self.known.get(&runtime.name).cloned().unwrap_or_default();
            self.truth.insert(id.clone(), image.clone());
            self.events.pulled.entry(runtime.name.clone()).or_default().insert(image.clone(), started_at.clone());
            runtime.restarts += i64::from(runtime.id.is_some());
            runtime.made_of = image;
            (runtime.id, runtime.running_since, runtime.waiting) = (Some(id.clone()), Some(started_at), None);
        }
        id
    }

    fn end(&mut self, index: usize, exit_code: i64, now: Now) {
        let Some(runtime) = self.containers.get_mut(index) else { return };
        let Some(since) = runtime.running_since.take() else { return };
        runtime.ready = false;
        runtime.last = Some(Terminated {
            exit_code,
            reason: if exit_code == 0 { "Completed" } else { "Error" }.into(),
            started_at: Some(since),
            finished_at: Some(timestamp(now)),
            container_id: runtime.id.clone(),
            ..Terminated::default()
        });
    }

    fn wait(&mut self, index: usize, reason: &str, message: &str) {
        if let Some(runtime) = self.containers.get_mut(index) {
            runtime.waiting = Some(Waiting { reason: reason.into(), message: message.into() });
        }
    }

    fn crash_old(&mut self, api: &mut ApiServer, now: Now) -> Later {
        let runs = self.containers.get(1).is_some_and(|runtime| runtime.running_since.is_some());
        if self.syncing || !runs {
            return Vec::new();
        }
        self.end(1, 3, now);
        let id = self.make(1, timestamp(now));
        if let Some(runtime) = self.containers.get_mut(1) {
            runtime.ready = !self.nature.readiness;
        }
        self.publish(api, now);
        vec![(now + self.random.millis(500, 2_000), Stage::Probe { container: 1, id, started: true, ready: true })]
    }

    /// A sync begins: the old status is published with the new generation.
    fn see(&mut self, api: &mut ApiServer, now: Now) -> Later {
        if self.syncing {
            self.dirty = true;
            return Vec::new();
        }
        let second = timestamp(now);
        if self.containers.iter().any(|runtime| runtime.running_since.as_ref() == Some(&second)) {
            // The one thing that is assumed away (`state/evidence`): a crash in exactly the second of the event.
            return vec![(now + Duration::from_secs(1), Stage::See)];
        }
        let Some(pod) = api.pod(&self.key) else { return Vec::new() };
        self.known = pod.spec.containers.iter().map(|c| (c.name.clone(), c.image.clone())).collect();
        self.known_generation = pod.generation;
        let pod = pod.clone();
        let resizes = self.see_resize(&pod, now);
        self.publish(api, now);
        let changed = |runtime: &Runtime| self.known.get(&runtime.name) != Some(&runtime.made_of);
        let indices: VecDeque<usize> = self
            .containers
            .iter()
            .enumerate()
            .filter(|(_, runtime)| changed(runtime))
            .map(|(index, _)| index)
            .collect();
        if indices.is_empty() {
            return resizes;
        }
        (self.syncing, self.to_start, self.to_kill) = (true, indices.clone(), indices);
        self.containers.iter_mut().for_each(|runtime| runtime.tries = 0);
        for runtime in self.to_kill.iter().filter_map(|index| self.containers.get(*index)) {
            if runtime.running_since.is_some() {
                self.events.changed.insert(runtime.name.clone(), timestamp(now));
            }
        }
        let mut later = self.kill_next(now);
        later.extend(resizes);
        later
    }

    fn kill_next(&mut self, now: Now) -> Later {
        match self.to_kill.pop_front() {
            Some(index) => {
                let runs = self.containers.get(index).is_some_and(|runtime| runtime.running_since.is_some());
                let takes = if runs { self.random.millis(20, self.nature.slowest_millis) } else { Duration::ZERO };
                vec![(now + takes, Stage::Kill(index))]
            }
            None => {
                // An image that is on the node is not pulled.
                let slowest = self.nature.slowest_millis.min(if self.nature.same_digest { 3_000 } else { u64::MAX });
                vec![(now + self.random.millis(0, slowest), Stage::Start)]
            }
        }
    }

    fn kill(&mut self, index: usize, now: Now) -> Later {
        let exit_code = self.random.pick(&[143, 137, 0]);
        self.end(index, exit_code, now);
        let mut later = self.kill_next(now);
        if self.nature.readiness
            && let Some(id) = self.containers.get(index).and_then(|runtime| runtime.id.clone())
        {
            let at = now + self.random.millis(100, 3_000);
            later.push((at, Stage::Probe { container: index, id, started: true, ready: false }));
        }
        later
    }

    fn start_next(&mut self, now: Now) -> Later {
        let Some(index) = self.to_start.pop_front() else {
            self.syncing = false;
            // A failed start is published at the sync's end, a started container when the runtime is listed again.
            let failed = self.containers.iter().any(|runtime| runtime.waiting.is_some());
            let delay = if failed { Duration::ZERO } else { self.random.millis(0, 1_500) };
            let mut later = vec![(now + delay, Stage::Publish)];
            if std::mem::take(&mut self.dirty) {
                later.push((now + self.random.millis(0, 500), Stage::See));
            }
            return later;
        };
        let mut later = self.start(index, now);
        later.extend(self.start_next(now));
        later
    }

    fn start(&mut self, index: usize, now: Now) -> Later {
        let Some(runtime) = self.containers.get_mut(index) else { return Vec::new() };
        runtime.tries += 1;
        let (tries, name) = (runtime.tries, runtime.name.clone());
        let image = self.known.get(&name).cloned().unwrap_or_default();
        let fate = self.fates.get(&image).copied().unwrap_or(Fate::Good);
        let retry = |seconds| vec![(now + Duration::from_secs(seconds), Stage::Retry(index))];
        let was_stopped = runtime.last.as_ref().is_some_and(Terminated::was_stopped);
        if self.nature.holds_back && tries == 1 && was_stopped && image == WANTED {
            self.wait(index, "CrashLoopBackOff", "back-off 10s restarting failed container");
            return retry(10);
        }
        let pulling = |kind: &str| format!("failed to pull and unpack image \"{image}\": {kind}");
        match fate {
            Fate::PullHeals if tries <= 1 => {
                self.wait(index, "ErrImagePull", &pulling("dial tcp: connection refused"));
                retry(4)
            }
            Fate::CreateHeals if tries <= 1 => {
                self.wait(index, "CreateContainerError", "context deadline exceeded");
                retry(3)
            }
            Fate::Good | Fate::PullHeals | Fate::CreateHeals | Fate::NeverReady => self.run(index, fate, now),
            Fate::Crashes { after_millis } => {
                let id = self.make(index, timestamp(now));
                if let Some(runtime) = self.containers.get_mut(index) {
                    (runtime.ready, runtime.started) = (!self.nature.readiness, Some(true));
                }
                vec![(now + Duration::from_millis(after_millis), Stage::Crash { container: index, id })]
            }
            Fate::PullNotFound => {
                self.wait(index, "ErrImagePull", &(pulling("not found") + DECISIVE));
                vec![(now + self.random.millis(500, 9_000), Stage::BackOff(index))]
            }
            Fate::PullNeverHeals => {
                self.wait(index, "ErrImagePull", &pulling("dial tcp: connection refused"));
                vec![(now + self.random.millis(500, 9_000), Stage::BackOff(index))]
            }
            Fate::InvalidName => {
                self.wait(index, "InvalidImageName", &format!("couldn't parse image name \"{image}\" {DECISIVE}"));
                Vec::new()
            }
            Fate::ConfigError => {
                self.wait(index, "CreateContainerConfigError", &format!("configmap \"c\" not found {DECISIVE}"));
                retry(10)
            }
            Fate::CreateLasts => {
                self.wait(index, "CreateContainerError", "context deadline exceeded");
                retry(5)
            }
        }
    }

    /// Starts it well: when it becomes ready is up to its probes.
    fn run(&mut self, index: usize, fate: Fate, now: Now) -> Later {
        let id = self.make(index, timestamp(now));
        let nature = self.nature;
        let side = index != 0;
        let (readiness, startup) = (nature.readiness && side, nature.startup && side);
        if let Some(runtime) = self.containers.get_mut(index) {
            runtime.started = Some(!startup || nature.born_started);
            runtime.ready = !readiness && (!startup || nature.born_started);
        }
        let probe = |started, ready| Stage::Probe { container: index, id: id.clone(), started, ready };
        let mut later = Vec::new();
        let mut at = now;
        if startup {
            if nature.born_started {
                later.push((now + self.random.millis(100, STARTUP_PERIOD * 900), probe(false, false)));
            }
            at += self.random.millis(STARTUP_PERIOD * 1_000, STARTUP_PERIOD * 2_000);
            later.push((at, probe(true, !readiness && fate != Fate::NeverReady)));
        }
        if readiness && fate != Fate::NeverReady {
            at += self.random.millis(0, 4_000);
            later.push((at, probe(true, true)));
            if nature.flaps {
                at += self.random.millis(1_000, 3_000);
                later.push((at, probe(true, false)));
                at += self.random.millis(1_000, 3_000);
                later.push((at, probe(true, true)));
            }
        }
        later
    }

    fn retry(&mut self, index: usize, now: Now) -> Later {
        if self.containers.get(index).is_none_or(|runtime| runtime.running_since.is_some()) {
            return Vec::new();
        }
        if self.syncing {
            return vec![(now + Duration::from_secs(1), Stage::Retry(index))];
        }
        (self.syncing, self.to_start) = (true, VecDeque::from([index]));
        self.start_next(now)
    }

    fn back_off(&mut self, index: usize, api: &mut ApiServer, now: Now) -> Later {
        if self.syncing || self.containers.get(index).is_none_or(|runtime| runtime.running_since.is_some()) {
            return Vec::new();
        }
        let name = self.containers.get(index).map(|runtime| runtime.name.clone()).unwrap_or_default();
        let image = self.known.get(&name).cloned().unwrap_or_default();
        self.wait(index, "ImagePullBackOff", &format!("Back-off pulling image \"{image}\" {DECISIVE}"));
        self.publish(api, now);
        vec![(now + self.random.millis(8_000, 20_000), Stage::Retry(index))]
    }

    fn probe(&mut self, index: usize, id: &str, started: bool, ready: bool, api: &mut ApiServer, now: Now) -> Later {
        let Some(runtime) = self.containers.get_mut(index).filter(|runtime| runtime.id.as_deref() == Some(id)) else {
            return Vec::new();
        };
        if ready && runtime.running_since.is_none() {
            return Vec::new();
        }
        (runtime.started, runtime.ready) = (Some(started), ready);
        // The prober changes the published status; it does not create a new one.
        for status in self.shown.iter_mut().filter(|status| status.container_id.as_deref() == Some(id)) {
            (status.started, status.ready) = (Some(started), ready);
        }
        self.write(api, now)
    }

    fn crash(&mut self, index: usize, id: &str, api: &mut ApiServer, now: Now) -> Later {
        let Some(runtime) = self.containers.get(index) else { return Vec::new() };
        if runtime.id.as_deref() != Some(id) || runtime.running_since.is_none() {
            return Vec::new();
        }
        let (first, of_wanted) = (runtime.tries <= 1, runtime.made_of == WANTED);
        self.end(index, 3, now);
        if first {
            return vec![(now + self.random.millis(0, 300), Stage::Retry(index))];
        }
        let mark = if of_wanted { DECISIVE } else { "" };
        self.wait(index, "CrashLoopBackOff", &format!("back-off 10s restarting failed container {mark}"));
        let mut later = vec![(now + Duration::from_secs(10), Stage::Retry(index))];
        if !self.syncing {
            later.extend(self.publish(api, now));
        }
        later
    }

    /// Builds the status again from what the runtime shows.
    pub(super) fn publish(&mut self, api: &mut ApiServer, now: Now) -> Later {
        if !self.syncing {
            self.shown = self.containers.iter().map(|runtime| self.status(runtime)).collect();
            if let (Some(sizes), Some(status)) = (&self.sizes, self.shown.get_mut(1)) {
                status.resources = Some(sizes.actual.clone());
                status.allocated_resources = Some(sizes.allocated.requests.clone());
                (self.shown_resize, self.shown_sizes) = (sizes.condition.clone(), Some(sizes.clone()));
            }
        }
        self.write(api, now)
    }

    fn write(&mut self, api: &mut ApiServer, now: Now) -> Later {
        let runs = self.shown.iter().all(|status| status.ready);
        let observed = if self.nature.observes_generation { self.known_generation } else { None };
        let (shown, resize, sizes) = (self.shown.clone(), self.shown_resize.clone(), self.shown_sizes.clone());
        api.change(&self.key, |pod| {
            sizes.iter().for_each(|sizes| sizes.show(pod));
            pod.status.phase = "Running".into();
            pod.status.observed_generation = observed;
            pod.status.container_statuses = shown;
            pod.status.conditions.retain(|known| !known.kind.starts_with("PodResize"));
            pod.status.conditions.extend(resize);
            let is_true = |kind: &str| pod.condition(kind).is_some_and(|condition| condition.status == "True");
            let gates = pod.spec.readiness_gates.iter().all(|gate| is_true(&gate.condition_type));
            for (kind, holds) in [("ContainersReady", runs), ("Ready", runs && gates)] {
                set_condition(&mut pod.status.conditions, kind, holds, now);
            }
        });
        Vec::new()
    }

    fn status(&self, runtime: &Runtime) -> ContainerStatus {
        let (image, digest) = match runtime.made_of.rsplit_once(':') {
            Some((name, _)) if self.nature.same_digest => (format!("{name}:{}", self.nature.shown_tag), name),
            Some(_) | None => (runtime.made_of.clone(), runtime.made_of.as_str()),
        };
        let running = runtime.running_since.clone().map(|since| Running { started_at: Some(since) });
        let waiting = runtime.waiting.clone().filter(|_| running.is_none());
        let ended = runtime.last.clone().filter(|_| running.is_none() && waiting.is_none());
        ContainerStatus {
            name: runtime.name.clone(),
            image,
            image_id: format!("sha256:{digest}"),
            container_id: runtime.id.clone(),
            restart_count: runtime.restarts,
            ready: runtime.ready,
            started: runtime.started,
            last_state: ContainerState {
                terminated: runtime.last.clone().filter(|_| ended.is_none()),
                ..ContainerState::default()
            },
            state: ContainerState { running, waiting, terminated: ended },
            resources: None,
            allocated_resources: None,
        }
    }
}

/// Sets one of the kubelet's own conditions; those of others stay.
fn set_condition(conditions: &mut Vec<Condition>, kind: &str, holds: bool, now: Now) {
    let status = if holds { "True" } else { "False" };
    if conditions.iter().any(|condition| condition.kind == kind && condition.status == status) {
        return;
    }
    let condition = Condition {
        kind: kind.into(),
        status: status.into(),
        last_transition_time: Some(timestamp(now)),
        ..Condition::default()
    };
    match conditions.iter_mut().find(|condition| condition.kind == kind) {
        Some(before) => *before = condition,
        None => conditions.push(condition),
    }
}
