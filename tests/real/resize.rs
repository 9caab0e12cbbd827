//! cpu and memory on the real cluster: the same pods, the same containers, and template, revision, pods, kubelet and cgroup
//! files say the same.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Api, Kind, Namespace, Owner, Random, name, samples};

/// Resizes in a row; `RESIZES=1000` for as many.
const RESIZES: usize = 8;

const RESOURCES: &str = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {cpu: 500m, memory: 64Mi}}";

/// Each pod with its containers: what a restart or another pod would change.
fn running(pods: &[Value]) -> Vec<(Value, Vec<(Value, Value)>)> {
    let of = |pod: &Value| {
        let statuses = pod["status"]["containerStatuses"].as_array().cloned().unwrap_or_default();
        let containers = statuses.iter().map(|one| (one["containerID"].clone(), one["restartCount"].clone())).collect();
        (pod["metadata"]["uid"].clone(), containers)
    };
    pods.iter().map(of).collect()
}

/// The file of a container's cgroup that holds its limit of memory, in bytes: version 1 or 2.
fn memory_in_cgroup(pod: &Value) -> Option<String> {
    let uid = pod["metadata"]["uid"].as_str()?.to_owned();
    let id = pod["status"]["containerStatuses"][0]["containerID"].as_str()?.rsplit('/').next()?.to_owned();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if !path.is_dir() || path.is_symlink() {
                continue;
            }
            if name.contains(&id) {
                let read =
                    |file: &str| std::fs::read_to_string(path.join(file)).ok().map(|text| text.trim().to_owned());
                if let Some(limit) = read("memory.max").or_else(|| read("memory.limit_in_bytes")) {
                    return Some(limit);
                }
            }
            let is_on_the_way = ["kubepods", "memory", "burstable", "guaranteed", &uid, &uid.replace('-', "_")]
                .iter()
                .any(|part| name.contains(part));
            if is_on_the_way || path.parent() == Some(&PathBuf::from("/sys/fs/cgroup")) {
                folders.push(path);
            }
        }
    }
    None
}

/// A little less than so many cpus, which other pods of the node do not leave.
fn less_a_bit(cpus: &str) -> String {
    format!("{}m", cpus.parse::<u64>().unwrap_or(2) * 1000 - 50)
}

struct Case<'a> {
    namespace: &'a Namespace,
    owner: &'a Owner<'a>,
}

impl Case<'_> {
    /// Template, pods, kubelet and cgroup files say the same, and nothing restarted.
    fn has(&self, cpu: &str, memory_request: &str, mebibytes: u64) {
        let wanted = json!({"requests": {"cpu": cpu, "memory": memory_request},
            "limits": {"cpu": "500m", "memory": format!("{mebibytes}Mi")}});
        assert_eq!(self.owner.object()["spec"]["template"]["spec"]["containers"][0]["resources"], wanted);
        let pods = self.owner.pods();
        for pod in &pods {
            assert_eq!(pod["spec"]["containers"][0]["resources"], wanted, "{}", name(pod));
            assert_eq!(pod["status"]["containerStatuses"][0]["resources"], wanted, "{}", name(pod));
            assert_eq!(
                pod["status"]["containerStatuses"][0]["allocatedResources"],
                wanted["requests"],
                "{}",
                name(pod)
            );
            let bytes = (mebibytes * 1024 * 1024).to_string();
            assert_eq!(memory_in_cgroup(pod), Some(bytes), "{}", name(pod));
        }
        assert_eq!(running(&pods), running(&self.owner.before), "the same containers");
    }

    fn inplace(&self, arguments: &[&str], code: i32) -> String {
        let output = self.namespace.inplace(arguments);
        assert_eq!(output.code, code, "{output:#?}");
        output.stdout + &output.stderr
    }
}

fn many_in_a_row(kind: Kind, name: &str) {
    let namespace = Namespace::new(name);
    let api = Api::open();
    let owner = Owner::with_fields((&namespace, &api), kind, (3, 2), RESOURCES);
    owner.wait_settled();
    let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
    let count = std::env::var("RESIZES").ok().and_then(|count| count.parse().ok()).unwrap_or(RESIZES);
    let mut random = Random::new(7);
    let mut mebibytes = 64;
    for turn in 0..count {
        let (cpu, memory) = (format!("{}m", 11 + (turn * 7 + random.below(5)) % 40), format!("{}Mi", 17 + turn % 13));
        // A limit is lowered only as far as its use allows, which the kubelet may not know yet.
        mebibytes += 1;
        let (requests, limits) = (format!("cpu={cpu},memory={memory}"), format!("memory={mebibytes}Mi"));
        let line = ["apply", &reference, "-c", "c1", "--requests", &requests, "--limits", &limits, "--yes"];
        let told = case.inplace(&line, 0);
        assert!(told.contains("Restarted as planned: nothing; nothing else restarted; pods replaced: 0."), "{told}");
        case.has(&cpu, &memory, mebibytes);
        if turn % 50 == 0 {
            namespace.kubectl(&["rollout", "status", &reference, "--timeout=30s"]);
            owner.wait_settled();
        }
    }
    // A pod that is made later has it from the template.
    let pods = owner.pods();
    namespace.kubectl(&["delete", "pod", crate::support::name(&pods[0]), "--wait=true"]);
    let after = owner.wait_ready(owner.before.len());
    let limit = format!("{mebibytes}Mi");
    assert!(after.iter().all(|pod| pod["spec"]["containers"][0]["resources"]["limits"]["memory"] == limit.as_str()));
}

#[test]
fn a_deployment_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::Deployment, "resize-deployment");
}

#[test]
fn a_stateful_set_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::StatefulSet, "resize-stateful-set");
}

#[test]
fn a_daemon_set_is_resized_and_nothing_restarts() {
    many_in_a_row(Kind::DaemonSet, "resize-daemon-set");
}

/// What the node puts off ends after the timeout with the kubelet's words, is not taken for done by `resume`, and is taken
/// back by `abort`; more than the node has is refused before anything is written.
#[test]
fn what_does_not_fit_is_refused_or_put_off_and_is_taken_back() {
    for (kind, name) in [
        (Kind::Deployment, "resize-deferred-deployment"),
        (Kind::StatefulSet, "resize-deferred-stateful-set"),
        (Kind::DaemonSet, "resize-deferred-daemon-set"),
    ] {
        let namespace = Namespace::new(name);
        let api = Api::open();
        let resources = "resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}";
        let owner = Owner::with_fields((&namespace, &api), kind, (2, 1), resources);
        owner.wait_settled();
        let (case, reference) = (Case { namespace: &namespace, owner: &owner }, owner.reference());
        // So that the node has less left than is asked for, whatever else runs there.
        namespace.apply(&samples::with_app_fields(&samples::pod("filler"), "resources: {requests: {cpu: 100m}}"));
        namespace.kubectl(&["wait", "--for=condition=Ready", "pod/filler", "--timeout=60s"]);
        let ask = |cpu: &str, code: i32| {
            let requests = format!("cpu={cpu}");
            case.inplace(&["apply", &reference, "--requests", &requests, "--yes", "--timeout", "5s"], code)
        };
        let refused = ask("9999", 3);
        assert!(refused.contains("node didn't have enough allocatable resources"), "{refused}");
        assert_eq!(owner.pods()[0]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "10m");
        // All that the node has: the other pods there have some of it.
        let late = ask(
            &api.get("/api/v1/nodes/node-1")["status"]["allocatable"]["cpu"]
                .as_str()
                .map(less_a_bit)
                .unwrap_or_default(),
            5,
        );
        assert!(late.contains("resize deferred by the node c1 requests.cpu"), "{late}");
        let again = case.inplace(&["resume", &reference, "--yes", "--timeout", "3s"], 5);
        assert!(again.contains("resize deferred by the node"), "{again}");
        let status = case.inplace(&["status", &reference], 0);
        assert!(status.contains("resize deferred by the node"), "{status}");
        case.inplace(&["abort", &reference, "--yes"], 0);
        owner.wait_settled();
        assert_eq!(running(&owner.pods()), running(&owner.before));
        let back = owner.pods().iter().all(|pod| pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "10m");
        assert!(back, "{:?}", owner.pods());
    }
}
