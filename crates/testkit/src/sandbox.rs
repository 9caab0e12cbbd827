//! The sandbox: a whole simulated cluster with two nodes, for people who try the program without a real one.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api_server::{ApiServer, Times};
use crate::builders;
use crate::clock;

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

/// Starts a sandbox on a port of loopback; 0 is any that is free.
///
/// # Errors
///
/// The port is taken.
pub fn start(port: u16) -> io::Result<ApiServer> {
    let server = ApiServer::bind(port)?;
    server.kubelet(times());
    server.change(|state| state.make_whole("sandbox"));
    for namespace in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let created = server.create(&builders::namespace(namespace));
        debug_assert!(created.is_ok(), "{created:?}");
    }
    server.insert([node("node-1", 1), node("node-2", 2)]);
    server.run_controllers(true);
    Ok(server)
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
    node["spec"] = json!({"podCIDR": format!("10.244.{number}.0/24")});
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

/// Creates the objects of a manifest, in their namespaces or in `namespace`, and waits until the pods of its Deployments
/// are ready; the error is a sentence.
///
/// # Errors
///
/// The manifest is none, the server refuses an object, or the pods are not ready within a minute.
pub fn apply(server: &ApiServer, manifest: &str, namespace: &str) -> Result<(), String> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(manifest).map_err(|error| error.to_string())?;
    let mut waits = Vec::new();
    for mut object in documents.into_iter().filter(|document| !document.is_null()) {
        if object["metadata"]["namespace"].is_null() && object["kind"] != "Namespace" {
            object["metadata"]["namespace"] = namespace.into();
        }
        server.create(&object)?;
        if object["kind"] == "Deployment" {
            waits.push(object["metadata"]["name"].as_str().unwrap_or_default().to_owned());
        }
    }
    let deadline = clock::now() + Duration::from_secs(60);
    let is_available = |name: &String| {
        let found = server.object("deployments", name).unwrap_or_default();
        found["status"]["availableReplicas"] == found["spec"]["replicas"]
    };
    while !waits.iter().all(is_available) {
        if clock::now() > deadline {
            return Err(format!("the pods of {} are not ready after a minute", waits.join(", ")));
        }
        clock::sleep(Duration::from_millis(50));
    }
    Ok(())
}
