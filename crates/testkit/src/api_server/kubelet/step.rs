//! What each step of the kubelet does to a pod's status.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::State;
use super::super::managed_fields::{self, Writer};
use super::super::validate::milli_cpu;
use super::image::{self, Behaviour};
use super::{Due, Kubelet, SEEN, Step, changed_images, restartable, statuses};
use crate::clock;

/// Does one step; steps of a pod that is gone, or of an earlier start, do nothing.
pub(super) fn run(state: &mut State, due: &Due, now: Instant) {
    let pod = state.store.get(&due.key).filter(|pod| super::uid_of(pod) == due.uid).cloned();
    let Some(live) = pod else {
        state.kubelet.pods.remove(&due.uid);
        return;
    };
    let gone = matches!(due.step, Step::Gone);
    if gone {
        state.remove(&due.key);
        state.kubelet.pods.remove(&due.uid);
        return;
    }
    if state.kubelet.pods.get(&due.uid).is_none_or(|truth| truth.terminating) {
        return;
    }
    let mut pod = (*live).clone();
    let node = first_node(state);
    let room = Room { allocatable: state.allocatable_milli_cpu, free: state.free_milli_cpu };
    let tells_generation = state.minor() >= 34;
    let mut run =
        Run { kubelet: &mut state.kubelet, due, pod: &mut pod, now, started: Vec::new(), room, tells_generation };
    let serial = state.store.version();
    match &due.step {
        Step::Observe => run.observe(&node),
        Step::Start(changes) => run.start(changes, serial),
        Step::BackOff { container, try_number } if run.is_current(container, *try_number) => {
            run.back_off(container, *try_number);
        }
        Step::Retry { container, try_number } if run.is_current(container, *try_number) => {
            run.start_container(container, serial);
        }
        Step::Ready { container, try_number } if run.is_current(container, *try_number) => run.ready(container),
        Step::Crash { container, try_number } if run.is_current(container, *try_number) => {
            run.crash(container, *try_number);
        }
        Step::BackOff { .. } | Step::Retry { .. } | Step::Ready { .. } | Step::Crash { .. } => {}
        Step::Conditions | Step::Gone => {}
    }
    let started = std::mem::take(&mut run.started);
    set_conditions(&mut pod);
    let writer = Writer { manager: "kubelet".to_owned(), subresource: "status".to_owned() };
    if pod.get("status") != live.get("status") {
        managed_fields::record(Some(&live), &mut pod, &writer, "v1");
    }
    state.commit(&due.key, pod.clone());
    for image in started {
        note_image(state, &pod, &image);
    }
}

/// What a node has, and what a container may ask for now.
#[derive(Clone, Copy)]
struct Room {
    allocatable: Option<u64>,
    free: Option<u64>,
}

/// Gives the containers what the spec asks for, or puts it off. Returns those that restart for it, with their images.
fn resize(pod: &mut Value, room: Room) -> Vec<(String, String)> {
    let (mut pending, mut restarting) = (None, Vec::new());
    for (list, statuses) in [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")] {
        for container in pod["spec"][list].as_array().cloned().unwrap_or_default() {
            let asked = milli_cpu(&container["resources"]["requests"]["cpu"]);
            if let Some(most) = room.allocatable.filter(|most| asked > *most) {
                let message = format!("Node didn't have enough capacity: cpu, requested: {asked}, capacity: {most}");
                pending = Some(("Infeasible", message));
                continue;
            }
            if room.free.is_some_and(|free| asked > free) {
                pending = Some(("Deferred", format!("Node didn't have enough resource: cpu, requested: {asked}")));
                continue;
            }
            for status in pod["status"][statuses].as_array_mut().into_iter().flatten() {
                if status["name"] == container["name"] {
                    status["allocatedResources"] = container["resources"]["requests"].clone();
                    if restarts(&container, &status["resources"]) && status["containerID"].is_string() {
                        let text = |key: &str| container[key].as_str().unwrap_or_default().to_owned();
                        restarting.push((text("name"), text("image")));
                    } else {
                        status["resources"] = container["resources"].clone();
                    }
                }
            }
        }
    }
    let whole = pod["spec"]["resources"].clone();
    let asked = milli_cpu(&whole["requests"]["cpu"]);
    if room.free.is_some_and(|free| asked > free) {
        pending = Some(("Deferred", format!("Node didn't have enough resource: cpu, requested: {asked}")));
    } else if !whole.is_null() {
        pod["status"]["allocatedResources"] = whole["requests"].clone();
        pod["status"]["resources"] = whole;
    }
    if let Some(conditions) = pod["status"]["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != "PodResizePending");
        conditions.extend(pending.map(|(reason, message)| {
            json!({"type": "PodResizePending", "status": "True", "reason": reason, "message": message})
        }));
    }
    restarting
}

/// Whether a container restarts for what it asks for and does not have, by its `resizePolicy`.
fn restarts(container: &Value, has: &Value) -> bool {
    let differs = |resource: &str| {
        ["requests", "limits"].iter().any(|map| container["resources"][map][resource] != has[map][resource])
    };
    let policies = container["resizePolicy"].as_array().into_iter().flatten();
    let mut restarting = policies.filter(|policy| policy["restartPolicy"] == "RestartContainer");
    restarting.any(|policy| differs(policy["resourceName"].as_str().unwrap_or_default()))
}

/// The image is on the node now: the node's status lists it.
fn note_image(state: &mut State, pod: &Value, image: &str) {
    let Some((key, node)) = state.find("nodes", pod["spec"]["nodeName"].as_str().unwrap_or_default()) else { return };
    let mut node = (*node).clone();
    let entry = crate::builders::listed_image(image);
    let listed = node["status"]["images"].as_array().is_some_and(|images| images.contains(&entry));
    if !listed {
        match node["status"]["images"].as_array_mut() {
            Some(images) => images.push(entry),
            None => node["status"]["images"] = json!([entry]),
        }
        state.commit(&key, node);
    }
}

fn first_node(state: &State) -> String {
    let nodes = state.all("nodes");
    let name = nodes.first().and_then(|node| node["metadata"]["name"].as_str());
    name.unwrap_or("node-a").to_owned()
}

/// One step in progress.
struct Run<'a> {
    kubelet: &'a mut Kubelet,
    due: &'a Due,
    pod: &'a mut Value,
    now: Instant,
    /// Images that were pulled in this step.
    started: Vec<String>,
    /// What a container may ask for now.
    room: Room,
    /// `observedGeneration`, which kubelets before 1.34 do not write.
    tells_generation: bool,
}

impl Run<'_> {
    fn is_current(&mut self, container: &str, try_number: u64) -> bool {
        self.kubelet.truth(&self.due.uid, container).is_some_and(|truth| truth.try_number == try_number)
    }

    fn plan(&mut self, after: Duration, step: Step) {
        self.kubelet.plan(&self.due.key, &self.due.uid, self.now + after, step);
    }

    /// Publishes that the spec was seen; a new pod gets a node and empty statuses.
    fn observe(&mut self, node: &str) {
        if self.pod["spec"]["nodeName"].as_str().is_none_or(str::is_empty) {
            self.pod["spec"]["nodeName"] = node.into();
        }
        let generation = self.pod["metadata"]["generation"].clone();
        let reported = if self.tells_generation { "observedGeneration" } else { SEEN };
        self.pod["status"][reported] = generation;
        let generation = self.pod["status"].get("observedGeneration").cloned().unwrap_or_default();
        for condition in self.pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["observedGeneration"] = generation.clone();
        }
        if statuses(self.pod).next().is_none() {
            let names: Vec<Value> = restartable(self.pod).into_iter().map(|one| one["name"].clone()).collect();
            let waiting = |name: &Value| {
                json!({"name": name, "image": image_in(self.pod, name.as_str().unwrap_or_default()), "imageID": "",
                    "lastState": {}, "ready": false, "restartCount": 0, "started": false,
                    "state": {"waiting": {"reason": "ContainerCreating"}}})
            };
            let regular = self.pod["spec"]["containers"].as_array().map_or(0, Vec::len);
            let (first, sidecars) = names.split_at(regular.min(names.len()));
            let (first, sidecars): (Vec<_>, Vec<_>) =
                (first.iter().map(waiting).collect(), sidecars.iter().map(waiting).collect());
            self.pod["status"]["containerStatuses"] = first.into();
            if !sidecars.is_empty() {
                self.pod["status"]["initContainerStatuses"] = sidecars.into();
            }
            self.pod["status"]["startTime"] = clock::now_text().into();
            self.pod["status"]["podIP"] = "10.0.0.1".into();
        }
        let resized = resize(self.pod, self.room);
        let mut changes =
            self.kubelet.pods.get(&self.due.uid).map(|truth| changed_images(truth, self.pod)).unwrap_or_default();
        let more = resized.into_iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        changes.extend(more.collect::<Vec<_>>());
        // The worker is busy with this from here on: what was planned for the containers before is void.
        for (name, _) in &changes {
            if let Some(truth) = self.kubelet.truth(&self.due.uid, name) {
                truth.try_number += 1;
            }
        }
        let slow = changes.iter().any(|(_, image)| image::behaviour(image) == Behaviour::Slow);
        let times = &self.kubelet.times;
        let after = if slow { times.restart + times.slow } else { times.restart };
        self.plan(after, Step::Start(changes));
    }

    /// Kills the changed containers, and starts them from the images that `observe` saw.
    fn start(&mut self, changes: &[(String, String)], serial: u64) {
        for (index, (name, image)) in changes.iter().enumerate() {
            if let Some(truth) = self.kubelet.pods.get_mut(&self.due.uid) {
                let container = truth.containers.entry(name.clone()).or_default();
                container.image.clone_from(image);
                container.try_number += 1;
                (container.failed_pulls, container.crashes) = (0, 0);
            }
            self.start_container(name, serial * 100 + index as u64);
        }
        if let Some(truth) = self.kubelet.pods.get_mut(&self.due.uid) {
            truth.busy = false;
        }
    }

    /// Pulls and starts one container.
    fn start_container(&mut self, name: &str, serial: u64) {
        let flaky_pulls = self.kubelet.times.flaky_pulls;
        let Some(truth) = self.kubelet.truth(&self.due.uid, name) else { return };
        let (image, try_number) = (truth.image.clone(), truth.try_number);
        let behaviour = image::behaviour(&image);
        let pulls = behaviour == Behaviour::Flaky && truth.failed_pulls >= flaky_pulls;
        if let Some((reason, message)) = image::failure(&image, behaviour).filter(|_| !pulls) {
            truth.failed_pulls += 1;
            self.fail(name, reason, &message);
            if reason == "ErrImagePull" {
                self.plan(self.kubelet.times.back_off, Step::BackOff { container: name.to_owned(), try_number });
            }
            return;
        }
        self.started.push(image.clone());
        let id = format!("containerd://{}", image::hex64(&format!("{}/{name}/{try_number}/{serial}", self.due.uid)));
        if self.cannot_start(name) {
            return self.start_error(name, &image, &id);
        }
        self.run_container(name, &image, &id);
        let (container, times) = (name.to_owned(), self.kubelet.times.clone());
        if behaviour == Behaviour::Crash {
            self.plan(times.crash, Step::Crash { container, try_number });
        } else if behaviour != Behaviour::NeverReady && self.has_probe(name) {
            self.plan(times.ready, Step::Ready { container, try_number });
        }
    }

    fn spec(&self, name: &str) -> Value {
        restartable(self.pod).into_iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    }

    fn has_probe(&self, name: &str) -> bool {
        let spec = self.spec(name);
        !spec["readinessProbe"].is_null() || !spec["startupProbe"].is_null()
    }

    /// A command below `/kubectl-inplace` exists in no image: the pods that only pull have one.
    fn cannot_start(&self, name: &str) -> bool {
        self.spec(name)["command"][0].as_str().is_some_and(|command| command.starts_with("/kubectl-inplace"))
    }

    fn status(&mut self, name: &str) -> Option<&mut Value> {
        let list = ["containerStatuses", "initContainerStatuses"].into_iter().find(|list| {
            self.pod["status"][*list].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name))
        })?;
        self.pod["status"][list].as_array_mut()?.iter_mut().find(|one| one["name"] == name)
    }

    /// Moves a running container to `lastState`.
    fn bury(status: &mut Value, exit_code: u64, reason: &str) {
        if let Some(started) = status.pointer("/state/running/startedAt").cloned() {
            status["lastState"] = json!({"terminated": {"containerID": status["containerID"], "exitCode": exit_code,
                "reason": reason, "startedAt": started, "finishedAt": clock::now_text()}});
        } else if let Some(ended) = status.pointer("/state/terminated").cloned() {
            status["lastState"] = json!({"terminated": ended});
        }
    }

    /// There is no new container: the status goes on to describe the old one.
    fn fail(&mut self, name: &str, reason: &str, message: &str) {
        let never = self.pod["spec"]["restartPolicy"] == "Never";
        let Some(status) = self.status(name) else { return };
        let ran = status["state"]["running"].is_object();
        Self::bury(status, 143, "Error");
        status["ready"] = false.into();
        status["started"] = false.into();
        status["state"] = json!({"waiting": {"reason": reason, "message": message}});
        if never && ran {
            self.pod["status"]["phase"] = "Failed".into();
        }
    }

    fn run_container(&mut self, name: &str, image: &str, id: &str) {
        let (probe, startup) = (self.has_probe(name), !self.spec(name)["startupProbe"].is_null());
        let never = image::behaviour(image) == Behaviour::NeverReady;
        let image_id = image::image_id(image);
        let resources = self.spec(name)["resources"].clone();
        let Some(status) = self.status(name) else { return };
        Self::bury(status, 143, "Error");
        if status["allocatedResources"] == resources["requests"] {
            status["resources"] = resources;
        }
        let count = status["restartCount"].as_u64().unwrap_or(0);
        let ran_before = status["containerID"].is_string();
        // Another tag of a digest that is on the node already: the runtime goes on to name the old one.
        if status["imageID"] != image_id.as_str() {
            status["image"] = image::normalised(image).into();
        }
        status["imageID"] = image_id.into();
        status["containerID"] = id.into();
        status["restartCount"] = (count + u64::from(ran_before)).into();
        status["ready"] = (!probe && !never).into();
        status["started"] = (!startup).into();
        status["state"] = json!({"running": {"startedAt": clock::now_text()}});
        self.pod["status"]["phase"] = "Running".into();
    }

    /// The image is pulled, and its process cannot be started: exit code 128, with the resolved digest.
    fn start_error(&mut self, name: &str, image: &str, id: &str) {
        let command = self.spec(name)["command"][0].clone();
        let image_id = image::image_id_on(image, self.pod["spec"]["nodeName"].as_str().unwrap_or_default());
        let message = format!("failed to create containerd task: exec: {command}: stat: no such file or directory");
        let Some(status) = self.status(name) else { return };
        status["image"] = image::normalised(image).into();
        status["imageID"] = image_id.into();
        status["containerID"] = id.into();
        status["state"] = json!({"terminated": {"exitCode": 128, "reason": "StartError", "message": message,
            "startedAt": "1970-01-01T00:00:00Z", "finishedAt": clock::now_text(), "containerID": id}});
        if statuses(self.pod).all(|status| status["state"]["terminated"].is_object()) {
            self.pod["status"]["phase"] = "Failed".into();
        }
    }

    /// After a failed pull a real kubelet first shows CrashLoopBackOff, for a container that never ran, if there was an
    /// old one; from the second failure on ImagePullBackOff.
    fn back_off(&mut self, name: &str, try_number: u64) {
        let message = format!("back-off 10s restarting failed container={name} pod={}", self.due.key.name);
        // The image that was tried: the spec may ask for another one by now, and that one is not in back-off.
        let truth = self.kubelet.truth(&self.due.uid, name);
        let (failed, image) = truth.map_or((0, Value::Null), |truth| (truth.failed_pulls, truth.image.as_str().into()));
        let Some(status) = self.status(name) else { return };
        let last = status.pointer("/state/waiting/message").and_then(Value::as_str).unwrap_or_default().to_owned();
        status["state"] = if failed == 1 && status["lastState"]["terminated"].is_object() {
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}})
        } else {
            let message = format!("Back-off pulling image {image}: ErrImagePull: {last}");
            json!({"waiting": {"reason": "ImagePullBackOff", "message": message}})
        };
        self.plan(self.kubelet.times.back_off, Step::Retry { container: name.to_owned(), try_number });
    }

    fn ready(&mut self, name: &str) {
        if let Some(status) = self.status(name).filter(|status| status["state"]["running"].is_object()) {
            status["ready"] = true.into();
            status["started"] = true.into();
        }
    }

    /// The process ends. The first start after it comes soon, later ones after CrashLoopBackOff.
    fn crash(&mut self, name: &str, try_number: u64) {
        let crashes = self.kubelet.truth(&self.due.uid, name).map_or(0, |truth| {
            truth.crashes += 1;
            truth.crashes
        });
        let message = format!("back-off 10s restarting failed container={name} pod={}", self.due.key.name);
        let Some(status) = self.status(name) else { return };
        let started = status.pointer("/state/running/startedAt").cloned().unwrap_or_default();
        let ended = json!({"terminated": {"containerID": status["containerID"], "exitCode": 3, "reason": "Error",
            "startedAt": started, "finishedAt": clock::now_text()}});
        status["ready"] = false.into();
        status["started"] = false.into();
        if crashes == 1 {
            status["state"] = ended;
        } else {
            status["lastState"] = ended;
            status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
        }
        self.plan(
            self.kubelet.times.back_off * crashes.min(50),
            Step::Retry { container: name.to_owned(), try_number },
        );
    }
}

fn image_in(pod: &Value, name: &str) -> Value {
    super::image_of(pod, name).map_or(Value::Null, Value::from)
}

/// Recomputes the pod's conditions (`pkg/kubelet/status/generate.go`); a transition time moves only with the status.
fn set_conditions(pod: &mut Value) {
    let unready: Vec<String> = restartable(pod)
        .into_iter()
        .filter_map(|one| one["name"].as_str())
        .filter(|name| !statuses(pod).any(|status| status["name"] == *name && status["ready"] == true))
        .map(ToOwned::to_owned)
        .collect();
    let gates = pod["spec"]["readinessGates"].as_array().cloned().unwrap_or_default();
    let condition = |pod: &Value, kind: &Value| {
        let all = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|one| one["type"] == *kind)
    };
    let closed = gates.iter().map(|gate| &gate["conditionType"]).find_map(|kind| match condition(pod, kind) {
        Some(found) if found["status"] == "True" => None,
        Some(found) => Some(format!(
            "the status of pod readiness gate {kind} is not \"True\", but {}",
            found["status"].as_str().unwrap_or_default()
        )),
        None => Some(format!("corresponding condition of pod readiness gate {kind} does not exist.")),
    });
    let not_ready = (!unready.is_empty())
        .then(|| ("ContainersNotReady", format!("containers with unready status: [{}]", unready.join(" "))));
    let gated = not_ready.clone().or_else(|| closed.map(|message| ("ReadinessGatesNotReady", message)));
    for (kind, problem) in [
        ("PodReadyToStartContainers", None),
        ("Initialized", None),
        ("Ready", gated),
        ("ContainersReady", not_ready),
        ("PodScheduled", None),
    ] {
        set_condition(pod, kind, problem);
    }
}

fn set_condition(pod: &mut Value, kind: &str, problem: Option<(&str, String)>) {
    let value = if problem.is_none() { "True" } else { "False" };
    let generation = pod["status"].get("observedGeneration").cloned().unwrap_or_default();
    let mut condition = json!({"type": kind, "observedGeneration": generation,
        "status": value, "lastProbeTime": null, "lastTransitionTime": clock::now_text()});
    if let Some((reason, message)) = problem {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    if pod["status"]["conditions"].as_array().is_none() {
        pod["status"]["conditions"] = json!([]);
    }
    let Some(all) = pod["status"]["conditions"].as_array_mut() else { return };
    match all.iter_mut().find(|one| one["type"] == kind) {
        Some(found) => {
            if found["status"] == value {
                condition["lastTransitionTime"] = found["lastTransitionTime"].clone();
            }
            *found = condition;
        }
        None => all.push(condition),
    }
}
