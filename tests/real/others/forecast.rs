//! What a plan says of OpenKruise's own way with a change, against what OpenKruise then does with each pod.
//!
//! `OTHERS_CHANGES=200` for as many of each kind, `OTHERS_SEED` for others of them, and `OTHERS_NODE=node-1` for pods that a
//! kubelet runs.

use std::env;
use std::time::Duration;

use serde_json::{Value, json};

use super::labelled;
use crate::support::{Api, Kind, Namespace, Random, SimulatedNode, poll, registry, side_by_side};

/// Workloads of one kind that are changed at the same time, one after the other each.
const LANES: u64 = 4;
const PODS: usize = 3;

pub(super) fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

/// A workload of two containers and one that has run before them, of which one reads a label and an annotation.
pub(super) fn workload(kind: Kind, nodes: &[&str]) -> Value {
    let image = |name: &str| format!("{}/{name}", registry());
    let of = |field: &str| json!({"fieldRef": {"fieldPath": field}});
    let env = json!([{"name": "PLAIN", "value": "1"},
        {"name": "TIER", "valueFrom": of("metadata.labels['tier']")},
        {"name": "NOTE", "valueFrom": of("metadata.annotations['note']")}]);
    let app = json!({"name": "app", "image": image("app:v1"), "env": env,
        "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}}, "readinessProbe": {"exec": {"command": ["true"]}}});
    let on = json!([{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]);
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": on}]}}});
    // KWOK deletes by name, on a busy machine the next pod of that name too: without a grace period the server itself deletes.
    let grace = u8::from(env::var_os("OTHERS_NODE").is_some());
    let spec = json!({"affinity": affinity, "tolerations": [{"key": "kwok", "operator": "Exists"}],
        "terminationGracePeriodSeconds": grace,
        "initContainers": [{"name": "setup", "image": image("app:v1"), "command": ["true"]}],
        "containers": [app, {"name": "side", "image": image("side:v1")}]});
    let metadata =
        json!({"labels": {"app": "web", "tier": "1", "free": "1"}, "annotations": {"note": "1", "free": "1"}});
    let (version, _) = kind.resource();
    let mut object = json!({"apiVersion": version, "kind": "CloneSet", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": metadata, "spec": spec}}});
    let readiness = json!([{"conditionType": "InPlaceUpdateReady"}]);
    let (name, strategy) = match kind {
        Kind::AdvancedStatefulSet => {
            object["spec"]["template"]["spec"]["readinessGates"] = readiness;
            object["spec"]["serviceName"] = "web".into();
            object["spec"]["podManagementPolicy"] = "Parallel".into();
            (
                "StatefulSet",
                json!({"rollingUpdate": {"podUpdatePolicy": "InPlaceIfPossible", "maxUnavailable": "100%"}}),
            )
        }
        Kind::AdvancedDaemonSet => (
            "DaemonSet",
            json!({"rollingUpdate": {"rollingUpdateType": "InPlaceIfPossible", "maxUnavailable": "100%"}}),
        ),
        _ => ("CloneSet", json!({"type": "InPlaceIfPossible", "maxUnavailable": "100%"})),
    };
    object["kind"] = name.into();
    object["spec"]["updateStrategy"] = strategy;
    if kind != Kind::AdvancedDaemonSet {
        object["spec"]["replicas"] = PODS.into();
    }
    object
}

/// Changes the template in one way or two; in none of them at times.
pub(super) fn change(object: &mut Value, random: &mut Random) -> Vec<&'static str> {
    let ways = [
        "image",
        "image",
        "images",
        "label",
        "annotation",
        "read",
        "env",
        "resources",
        "setup",
        "probe",
        "command",
        "none",
    ];
    let chosen: Vec<&str> = (0..=random.below(2)).map(|_| random.pick(&ways)).collect();
    let template = &mut object["spec"]["template"];
    let count = random.below(1000).to_string();
    let tag = |random: &mut Random, name: &str| format!("{}/{name}:v{}", registry(), 1 + random.below(3));
    for way in &chosen {
        match *way {
            "image" => template["spec"]["containers"][1]["image"] = tag(random, "side").into(),
            "images" => {
                template["spec"]["containers"][0]["image"] = tag(random, "app").into();
                template["spec"]["containers"][1]["image"] = tag(random, "side").into();
            }
            "label" => one_of(&mut template["metadata"]["labels"], &count, random),
            "annotation" => one_of(&mut template["metadata"]["annotations"], &count, random),
            "read" if random.one_in(2) => template["metadata"]["labels"]["tier"] = count.clone().into(),
            "read" => template["metadata"]["annotations"]["note"] = count.clone().into(),
            "env" => template["spec"]["containers"][0]["env"][0]["value"] = count.clone().into(),
            "resources" => {
                template["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
                    random.pick(&["1m", "2m", "3m"]).into();
            }
            "setup" => template["spec"]["initContainers"][0]["image"] = tag(random, "app").into(),
            "probe" => {
                template["spec"]["containers"][0]["readinessProbe"]["periodSeconds"] = (1 + random.below(9)).into();
            }
            "command" => {
                let line = format!(": {count}; trap 'exit 0' TERM; while :; do sleep 1 & wait; done");
                template["spec"]["containers"][1]["command"] = json!(["sh", "-c", line]);
            }
            _ => {}
        }
    }
    chosen
}

/// Sets one of a map, or takes it away.
fn one_of(map: &mut Value, value: &str, random: &mut Random) {
    let key = random.pick(&["free", "other"]);
    match map.as_object_mut() {
        Some(map) if random.one_in(4) => drop(map.shift_remove(key)),
        Some(map) => drop(map.insert(key.to_owned(), value.into())),
        None => {}
    }
}

struct Lane<'a> {
    namespace: Namespace,
    api: &'a Api,
    kind: Kind,
    /// How often it has begun afresh, each time under another name: the revisions of the one before may go late.
    begun: u64,
}

impl Lane<'_> {
    fn name(&self) -> String {
        format!("web-{}", self.begun)
    }

    fn begin(&self, nodes: &[&str]) -> Value {
        let mut object = workload(self.kind, nodes);
        object["metadata"]["name"] = self.name().into();
        self.namespace.apply(&object.to_string());
        object
    }

    fn object(&self) -> Value {
        let (version, resource) = self.kind.resource();
        self.api.get(&format!("/apis/{version}/namespaces/{}/{resource}/{}", self.namespace.name(), self.name()))
    }

    /// Waits until its controller has done with the template what it does, and returns the pods' UIDs: it may go on for a moment
    /// after its status says so.
    fn settled(&self, context: &str) -> Vec<String> {
        let mut uids = self.settled_now(context);
        loop {
            std::thread::sleep(Duration::from_secs(2));
            let again = self.settled_now(context);
            if again == uids {
                return uids;
            }
            uids = again;
        }
    }

    fn settled_now(&self, context: &str) -> Vec<String> {
        let mut last = Value::Null;
        let settled = poll(|| {
            let (object, pods) = (self.object(), self.namespace.pods("app=web"));
            let status = &object["status"];
            let (revision, count) = match self.kind {
                Kind::AdvancedDaemonSet => (&status["daemonSetHash"], &status["desiredNumberScheduled"]),
                _ => (&status["updateRevision"], &object["spec"]["replicas"]),
            };
            let is_of_it = |pod: &Value| {
                let metadata = &pod["metadata"];
                metadata["labels"]["controller-revision-hash"] == *revision && metadata["deletionTimestamp"].is_null()
            };
            let is_observed = status["observedGeneration"] == object["metadata"]["generation"];
            let is_settled = is_observed && *count == pods.len() && !pods.is_empty() && pods.iter().all(is_of_it);
            let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            let uids = is_settled.then(|| pods.iter().map(uid).collect());
            last = status.clone();
            uids
        });
        settled.unwrap_or_else(|| panic!("{context}: {last:#}"))
    }

    /// Makes a change, and returns whether it was known what becomes of the pods.
    fn compare(&self, object: &Value, context: &str) -> bool {
        let manifest = object.to_string();
        let before = self.settled(context);
        let plan = self.namespace.inplace_input(&["plan", "-f", "-", "-o", "json"], &manifest);
        let said: Value = serde_json::from_str(&plan.stdout).unwrap_or_else(|_| panic!("{context}: {plan:#?}"));
        let warnings = said["workloads"][0]["warnings"].as_array().cloned().unwrap_or_default();
        let forecast = warnings.iter().find(|warning| warning["code"] == "ItsController");
        self.namespace.apply(&manifest);
        let after = self.settled(context);
        let kept = before.iter().filter(|uid| after.contains(uid)).count();
        let of = |pods: &str| forecast.and_then(|it| usize::try_from(it[pods].as_u64()?).ok()).unwrap_or_default();
        let (in_place, replaced, not_known) = (of("inPlace"), of("replaced"), of("notKnown"));
        let unchanged = before.len() - in_place - replaced - not_known;
        let context = format!("{context}: of {before:?} {after:?} are left; {forecast:#?}; {plan:#?}");
        assert!((in_place + unchanged..=in_place + unchanged + not_known).contains(&kept), "{context}");
        not_known == 0
    }
}

/// Changes a workload a number of times. Where it was not known what happens, the next one begins afresh: nobody restarts
/// simulated containers for what they read.
fn lane((namespace, api): (Namespace, &Api), kind: Kind, nodes: &[&str], (seed, changes): (u64, u64)) -> u64 {
    let mut lane = Lane { namespace, api, kind, begun: 0 };
    let (mut random, mut object) = (Random::new(seed), lane.begin(nodes));
    for number in 0..changes {
        let ways = change(&mut object, &mut random);
        if !lane.compare(&object, &format!("{kind:?}, OTHERS_SEED={seed}, change {number}, {ways:?}")) {
            lane.namespace.kubectl(&["delete", kind.word(), &lane.name(), "--cascade=foreground"]);
            lane.namespace.wait_pods("app=web", <[Value]>::is_empty);
            lane.begun += 1;
            object = lane.begin(nodes);
        }
    }
    lane.begun
}

fn as_foreseen(kind: Kind) {
    let (api, word) = (Api::open(), kind.word());
    let changes = number("OTHERS_CHANGES").unwrap_or(20);
    let seed = number("OTHERS_SEED").unwrap_or(1);
    let here = labelled(&format!("foreseen-{word}"));
    let real = env::var("OTHERS_NODE").ok();
    let start = |number: usize| SimulatedNode::start(&api, &format!("{}-{number}", here.name()), "v1.36.3");
    let simulated: Vec<_> = if real.is_some() { Vec::new() } else { (1..=2).filter_map(start).collect() };
    let nodes: Vec<&str> = simulated.iter().map(SimulatedNode::name).chain(real.as_deref()).collect();
    let not_known = side_by_side(usize::try_from(LANES).unwrap_or(1), 0..LANES, |number| {
        let namespace = labelled(&format!("foreseen-{word}-{number}"));
        lane((namespace, &api), kind, &nodes, (seed + number, changes.div_ceil(LANES)))
    });
    eprintln!("{word}: {changes} changes, {} not known", not_known.iter().sum::<u64>());
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn a_clone_set_does_as_the_plan_says() {
    as_foreseen(Kind::CloneSet);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn an_advanced_stateful_set_does_as_the_plan_says() {
    as_foreseen(Kind::AdvancedStatefulSet);
}

#[test]
#[ignore = "needs OpenKruise: tests/run others"]
fn an_advanced_daemon_set_does_as_the_plan_says() {
    as_foreseen(Kind::AdvancedDaemonSet);
}
