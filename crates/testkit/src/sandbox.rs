//! The sandbox: a whole simulated cluster with two nodes, for people who try the program without a real one.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api_server::{ApiServer, Times};
use crate::builders;
use crate::clock;

/// The name of its cluster, context, and user.
const USER: &str = "sandbox";
const SHOP: &str = "shop";
/// What the names of its images begin with.
pub const REGISTRY: &str = "shop.example";

/// How fast its kubelets are: as on an ordinary node with a registry nearby.
fn times() -> Times {
    Times {
        observe: Duration::from_millis(50),
        restart: Duration::from_millis(700),
        start: Duration::from_millis(400),
        pull: Duration::from_secs(1),
        slow: Duration::from_secs(5),
        ready: Duration::from_millis(500),
        crash: Duration::from_millis(500),
        back_off: Duration::from_secs(10),
        terminate: Duration::from_millis(300),
        flaky_pulls: 1,
    }
}

/// Starts a sandbox on a port of loopback (0: a free one), and waits until its pods are ready.
///
/// # Errors
///
/// The port is taken.
pub fn start(port: u16) -> io::Result<ApiServer> {
    let server = ApiServer::bind(port)?;
    server.change(|state| state.make_whole(USER));
    for namespace in ["default", "kube-system", "kube-public", "kube-node-lease", SHOP] {
        create(&server, &builders::namespace(namespace));
    }
    server.insert([node("node-1", 1), node("node-2", 2)]);
    server.run_controllers(true);
    shop().iter().for_each(|object| create(&server, object));
    for (plural, name) in [("deployments", "web"), ("statefulsets", "db"), ("daemonsets", "agent")] {
        server.wait_for(plural, name, |object| {
            let status = |field: &str| object["status"][field].as_i64();
            let wanted = object["spec"]["replicas"].as_i64().or_else(|| status("desiredNumberScheduled"));
            wanted.is_some_and(|wanted| wanted > 0)
                && status("availableReplicas").or_else(|| status("numberAvailable")) == wanted
        });
    }
    // Nobody waits for the first pods.
    server.kubelet(times());
    Ok(server)
}

fn create(server: &ApiServer, object: &Value) {
    server.create(object).expect("the server takes its own objects");
}

fn node(name: &str, number: u8) -> Value {
    let mut node = builders::bare_node(name, "v1.36.3");
    let now = clock::now_text();
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastHeartbeatTime": now,
            "lastTransitionTime": now})
    };
    let room = json!({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi", "pods": "110"});
    let labels = json!({"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"});
    json_patch::merge(&mut node["metadata"]["labels"], &labels);
    let info = json!({"osImage": "Sandbox", "kernelVersion": "simulated", "machineID": "", "systemUUID": "", "bootID": "",
        "kubeProxyVersion": ""});
    json_patch::merge(&mut node["status"]["nodeInfo"], &info);
    node["status"]["capacity"] = room.clone();
    node["status"]["allocatable"] = room;
    node["status"]["addresses"] = json!([{"type": "InternalIP", "address": format!("192.0.2.{number}")},
        {"type": "Hostname", "address": name}]);
    node["status"]["conditions"] = json!([
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]);
    node
}

/// Returns a kubeconfig for it, in JSON (which is YAML).
pub fn kubeconfig(server: &ApiServer) -> Value {
    json!({"apiVersion": "v1", "kind": "Config", "current-context": USER,
        "clusters": [{"name": USER, "cluster": {"server": server.url()}}],
        "users": [{"name": USER, "user": {}}],
        "contexts": [{"name": USER, "context": {"cluster": USER, "user": USER, "namespace": SHOP}}]})
}

/// What the namespace `shop` has.
fn shop() -> Vec<Value> {
    let web = [container("app", "app:v1", 8080), container("side", "side:v1", 9090)];
    let (db, agent) = (container("db", "db:v1", 5432), container("agent", "agent:v1", 9100));
    // Only the Service selects the second label: a pod that loses it gets no traffic, and keeps its owner.
    let service = json!({"clusterIP": "None", "selector": {"app": "db", "serving": "yes"}, "ports": [{"port": 5432}]});
    let budget = json!({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "db"}}});
    vec![
        named("v1", "Service", "db", &service),
        named("policy/v1", "PodDisruptionBudget", "db", &budget),
        workload("Deployment", "web", &web, &json!({"replicas": 3})),
        workload("StatefulSet", "db", &[db], &json!({"replicas": 3, "serviceName": "db"})),
        workload("DaemonSet", "agent", &[agent], &json!({})),
    ]
}

fn named(api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": SHOP, "labels": {"app": name}},
        "spec": spec})
}

fn workload(kind: &str, name: &str, containers: &[Value], more: &Value) -> Value {
    let labels = json!({"app": name});
    let mut spec = json!({"selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": {"app": name, "serving": "yes"}}, "spec": {"containers": containers}}});
    json_patch::merge(&mut spec, more);
    named("apps/v1", kind, name, &spec)
}

fn container(name: &str, image: &str, port: u16) -> Value {
    json!({"name": name, "image": format!("{REGISTRY}/{image}"), "ports": [{"containerPort": port}],
        "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}}})
}
