//! What each step of the kubelet does to a pod's status.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::State;
use super::super::managed_fields::{self, Writer};
use super::conditions::set_conditions;
use super::image::{self, Behaviour};
use super::node::{Node, Said, note_image, report};
use super::resize::{Room, resize};
use super::{Due, Kubelet, Line, SEEN, Step, changed_images, restartable, statuses};
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
        for container in restartable(&live) {
            let name = container["name"].as_str().unwrap_or_default();
            report(state, &live, &Said::normal(name, "Killing", format!("Stopping container {name}")));
        }
        state.remove(&due.key);
        state.kubelet.pods.remove(&due.uid);
        return;
    }
    if state.kubelet.pods.get(&due.uid).is_none_or(|truth| truth.terminating) {
        return;
    }
    let mut pod = (*live).clone();
    let node = Node::of(state, &live);
    let room = Room::of(state, &live);
    let tells_generation = state.minor() >= 34;
    let (started, said) = (Vec::new(), Vec::new());
    let mut run =
        Run { kubelet: &mut state.kubelet, due, pod: &mut pod, now, node, started, said, room, tells_generation };
    let serial = state.store.version();
    match &due.step {
        Step::Observe => run.observe(),
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
    let (started, said) = (std::mem::take(&mut run.started), std::mem::take(&mut run.said));
    set_conditions(&mut pod);
    let writer = Writer { manager: "kubelet".to_owned(), subresource: "status".to_owned() };
    if pod.get("status") != live.get("status") {
        managed_fields::record(Some(&live), &mut pod, &writer, "v1");
    }
    state.commit(&due.key, pod.clone());
    for image in started {
        note_image(state, &pod, &image);
    }
    for said in said {
        report(state, &pod, &said);
    }
}

/// One step in progress.
struct Run<'a> {
    kubelet: &'a mut Kubelet,
    due: &'a Due,
    pod: &'a mut Value,
    now: Instant,
    node: Node,
    /// Images that were pulled in this step.
    started: Vec<String>,
    said: Vec<Said>,
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
    fn observe(&mut self) {
        if self.pod["spec"]["nodeName"].as_str().is_none_or(str::is_empty) {
            self.pod["spec"]["nodeName"] = self.node.name.as_str().into();
        }
        let generation = self.pod["metadata"]["generation"].clone();
        let reported = if self.tells_generation { "observedGeneration" } else { SEEN };
        self.pod["status"][reported] = generation;
        let generation = self.pod["status"].get("observedGeneration").cloned().unwrap_or_default();
        for condition in self.pod["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["observedGeneration"] = generation.clone();
        }
        if statuses(self.pod).next().is_none() {
            self.begin_pod();
        }
        let resized = resize(self.pod, &self.room);
        if self.node.is_whole && self.pod["status"]["conditions"].as_array().into_iter().flatten().any(is_deferred) {
            self.plan(Duration::from_secs(3), Step::Observe);
        }
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
        let after = self.time_to_start(&changes);
        self.plan(after, Step::Start(changes));
    }

    /// A pod that nothing was reported of yet.
    fn begin_pod(&mut self) {
        let first = if self.plain_inits().is_empty() { "ContainerCreating" } else { "PodInitializing" };
        for list in ["containers", "initContainers"] {
            let all = self.pod["spec"][list].as_array().into_iter().flatten().map(|container| {
                json!({"name": container["name"], "image": container["image"], "imageID": "",
                    "lastState": {}, "ready": false, "restartCount": 0, "started": false,
                    "state": {"waiting": {"reason": first}}})
            });
            let all: Vec<Value> = all.collect();
            if list == "containers" || !all.is_empty() {
                let field = if list == "containers" { "containerStatuses" } else { "initContainerStatuses" };
                self.pod["status"][field] = all.into();
            }
        }
        self.pod["status"]["startTime"] = clock::now_text().into();
        self.pod["status"]["podIP"] = "10.0.0.1".into();
        if self.node.is_whole {
            self.kubelet.addresses += 1;
            let number = self.kubelet.addresses;
            let address = format!("10.244.{}.{}", number / 250, number % 250 + 2);
            self.pod["status"]["podIP"] = address.as_str().into();
            self.pod["status"]["podIPs"] = json!([{"ip": address}]);
            self.pod["status"]["hostIP"] = self.node.address.as_str().into();
            self.pod["status"]["hostIPs"] = json!([{"ip": self.node.address}]);
        }
    }

    /// The init containers that run once, and have not ended well: their names and images.
    fn plain_inits(&self) -> Vec<(String, String)> {
        let all = self.pod["spec"]["initContainers"].as_array().into_iter().flatten();
        let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let is_through = |name: &Value| {
            let mut all = statuses(self.pod);
            all.any(|status| status["name"] == *name && status["state"]["terminated"]["exitCode"] == 0)
        };
        let plain = all.filter(|one| one["restartPolicy"] != "Always" && !is_through(&one["name"]));
        plain.map(|one| (text(one, "name"), text(one, "image"))).collect()
    }

    fn is_regular(&self, name: &Value) -> bool {
        self.pod["spec"]["containers"].as_array().into_iter().flatten().any(|one| one["name"] == *name)
    }

    /// How long it takes to kill, pull and start; what is done first is said.
    fn time_to_start(&mut self, changes: &[(String, String)]) -> Duration {
        let times = self.kubelet.times.clone();
        let is_new = statuses(self.pod).all(|status| status["containerID"].is_null());
        let slow = changes.iter().any(|(_, image)| image::behaviour(image) == Behaviour::Slow);
        let mut after = if is_new { times.start } else { times.restart };
        if slow {
            after += times.slow;
        }
        let inits = if is_new { self.plain_inits() } else { Vec::new() };
        let mut pulled = Vec::new();
        for (name, image) in inits.iter().chain(changes) {
            let runs = statuses(self.pod)
                .any(|status| status["name"] == name.as_str() && status["state"]["running"].is_object());
            if runs {
                let message = format!("Container {name} definition changed, will be restarted");
                self.said.push(Said::normal(name, "Killing", message));
            }
            if !self.node.has(image) && image::behaviour(image) != Behaviour::InvalidName && !pulled.contains(image) {
                self.said.push(Said::normal(name, "Pulling", format!("Pulling image \"{image}\"")));
                pulled.push(image.clone());
                after += times.pull;
            }
        }
        after
    }

    /// Runs the init containers that run once; returns whether the others may start.
    fn run_inits(&mut self, serial: u64) -> bool {
        if statuses(self.pod).any(|status| !status["containerID"].is_null() && self.is_regular(&status["name"])) {
            return true;
        }
        for (index, (name, image)) in self.plain_inits().into_iter().enumerate() {
            let behaviour = image::behaviour(&image);
            if let Some((reason, message)) = image::failure(&image, behaviour) {
                self.say_failed(&name, &image, reason, &message);
                self.fail(&name, reason, &message);
                return false;
            }
            self.say_started(&name, &image);
            self.started.push(image.clone());
            let id = format!("containerd://{}", image::hex64(&format!("{}/{name}/{serial}/{index}", self.due.uid)));
            let crashes = behaviour == Behaviour::Crash;
            let (code, reason) = if crashes { (3, "Error") } else { (0, "Completed") };
            self.log(&name, &image, crashes);
            let Some(status) = self.status(&name) else { return true };
            let count = status["restartCount"].as_u64().unwrap_or(0);
            status["restartCount"] = (count + u64::from(status["containerID"].is_string())).into();
            status["image"] = image::normalised(&image).into();
            status["imageID"] = image::image_id(&image).into();
            status["containerID"] = id.as_str().into();
            status["ready"] = (!crashes).into();
            let now = clock::now_text();
            status["state"] = json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now,
                "containerID": id}});
            if crashes {
                return false;
            }
        }
        true
    }

    /// Kills the changed containers, and starts them from the images that `observe` saw.
    fn start(&mut self, changes: &[(String, String)], serial: u64) {
        if !self.run_inits(serial) {
            return self.plan(self.kubelet.times.back_off, Step::Observe);
        }
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
            self.say_failed(name, &image, reason, &message);
            self.fail(name, reason, &message);
            if reason == "ErrImagePull" {
                self.plan(self.kubelet.times.back_off, Step::BackOff { container: name.to_owned(), try_number });
            }
            return;
        }
        self.say_started(name, &image);
        self.started.push(image.clone());
        let id = format!("containerd://{}", image::hex64(&format!("{}/{name}/{try_number}/{serial}", self.due.uid)));
        if self.cannot_start(name) {
            return self.start_error(name, &image, &id);
        }
        self.run_container(name, &image, &id);
        self.log(name, &image, behaviour == Behaviour::Crash);
        let (container, times) = (name.to_owned(), self.kubelet.times.clone());
        if behaviour == Behaviour::Crash {
            self.plan(times.crash, Step::Crash { container, try_number });
        } else if behaviour != Behaviour::NeverReady && self.has_probe(name) {
            self.plan(times.ready, Step::Ready { container, try_number });
        }
    }

    fn say_failed(&mut self, name: &str, image: &str, reason: &str, message: &str) {
        if reason == "ErrImagePull" {
            self.said.push(Said::warning(name, "Failed", format!("Failed to pull image \"{image}\": {message}")));
        }
        self.said.push(Said::warning(name, "Failed", format!("Error: {reason}")));
    }

    fn say_started(&mut self, name: &str, image: &str) {
        let pulled = if self.node.has(image) {
            format!("Container image \"{image}\" already present on machine and can be accessed by the pod")
        } else {
            let took = self.kubelet.times.pull.as_secs_f32();
            let size = crate::builders::IMAGE_SIZE;
            format!(
                "Successfully pulled image \"{image}\" in {took}s ({took}s including waiting). Image size: {size} bytes."
            )
        };
        self.said.push(Said::normal(name, "Pulled", pulled));
        self.said.push(Said::normal(name, "Created", "Container created".to_owned()));
        self.said.push(Said::normal(name, "Started", "Container started".to_owned()));
    }

    /// A line a container, in the log of a new one.
    fn log(&mut self, name: &str, image: &str, crashes: bool) {
        let Some(truth) = self.kubelet.pods.get_mut(&self.due.uid) else { return };
        let truth = truth.containers.entry(name.to_owned()).or_default();
        let end = if crashes { ", and ends with exit code 3" } else { "" };
        let line = Line { at: clock::now_in_full(), text: format!("{name} runs {image}{end}") };
        let before = std::mem::replace(&mut truth.log, vec![line]);
        truth.previous = Some(before).filter(|before| !before.is_empty()).or(truth.previous.take());
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
        let (exit_code, ended) = image::end(status["image"].as_str().unwrap_or_default());
        Self::bury(status, exit_code, ended);
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
        let (exit_code, ended) = image::end(status["image"].as_str().unwrap_or_default());
        Self::bury(status, exit_code, ended);
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
        let reference = format!("{}_{}({})", self.due.key.name, self.due.key.namespace, self.due.uid);
        let Some(status) = self.status(name) else { return };
        let last = status.pointer("/state/waiting/message").and_then(Value::as_str).unwrap_or_default().to_owned();
        if failed == 1 && status["lastState"]["terminated"].is_object() {
            status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
            let message = format!("Back-off restarting failed container {name} in pod {reference}");
            self.said.push(Said::warning(name, "BackOff", message));
        } else {
            let message = format!("Back-off pulling image {image}: ErrImagePull: {last}");
            status["state"] = json!({"waiting": {"reason": "ImagePullBackOff", "message": message}});
            self.said.push(Said::normal(name, "BackOff", format!("Back-off pulling image {image}")));
            self.said.push(Said::warning(name, "Failed", "Error: ImagePullBackOff".to_owned()));
        }
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
        let reference = format!("{}_{}({})", self.due.key.name, self.due.key.namespace, self.due.uid);
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
            let message = format!("Back-off restarting failed container {name} in pod {reference}");
            self.said.push(Said::warning(name, "BackOff", message));
        }
        let times = &self.kubelet.times;
        let after = if crashes == 1 { times.restart } else { times.back_off * crashes.min(50) };
        self.plan(after, Step::Retry { container: name.to_owned(), try_number });
    }
}

fn is_deferred(condition: &Value) -> bool {
    condition["type"] == "PodResizePending" && condition["reason"] == "Deferred"
}
