//! The kubelet's own container hash, from the container runtime, against the engine's.

use engine::k8s::container_hash::container_hash;
use engine::value::kubelet_version::KubeletVersion;
use k8s_openapi::ByteString;
use serde_json::Value;

use crate::support::{Namespace, Running, command, container_status, containerd, samples};

/// Reads the annotation that the kubelet gave a container when it had it made: containerd keeps the whole CRI request
/// in an extension of its record.
fn hash_in_the_runtime(socket: &str, status: &Value) -> String {
    let id = status["containerID"]
        .as_str()
        .and_then(|id| id.strip_prefix("containerd://"))
        .expect("a container of containerd");
    let mut ctr = command("ctr", "real-home");
    ctr.args(["--address", socket, "--namespace", "k8s.io", "containers", "info", id]);
    let output = Running::start(ctr).wait();
    assert_eq!(output.code, 0, "{output:#?}");
    let record: Value = serde_json::from_str(&output.stdout).expect("ctr prints JSON");
    let metadata = record["Extensions"]["io.cri-containerd.container.metadata"]["value"].clone();
    let ByteString(metadata) = serde_json::from_value(metadata).expect("the extension is base64");
    let metadata: Value = serde_json::from_slice(&metadata).expect("the extension is JSON");
    let hash = &metadata["Metadata"]["Config"]["annotations"]["io.kubernetes.container.hash"];
    hash.as_str().unwrap_or_else(|| panic!("no hash in {metadata:#}")).to_owned()
}

#[test]
fn the_kubelets_hash_is_the_one_that_the_engine_computes() {
    // Only the runtime knows it; the API does not show it.
    let Some(socket) = containerd() else {
        eprintln!("nothing was compared: INPLACE_TEST_CONTAINERD does not name the node's containerd");
        return;
    };
    let namespace = Namespace::new("hash");
    namespace.apply(&samples::deployment_with_sidecar("mesh", 1));
    let before = namespace.wait_ready("app=mesh", 1);
    let output =
        namespace.inplace(&["apply", "deploy/mesh", "side=:v2", "--pods-only", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let after = namespace.pods("app=mesh");
    let version = namespace.kubectl(&["get", "node", "node-1", "-o", "jsonpath={.status.nodeInfo.kubeletVersion}"]);
    let version: KubeletVersion = version.parse().expect("a kubelet's version");
    assert!(version.at_least(1, 31), "{version}: name and image alone");

    let hashes = |pods: &[Value], list: &str, container: &str| -> (String, String) {
        let pod = pods.first().expect("one pod");
        let spec = pod["spec"][list].as_array().into_iter().flatten().find(|each| each["name"] == container);
        let computed = container_hash(version, spec.expect("the container is there")).expect("a kubelet from 1.16 on");
        (hash_in_the_runtime(socket, container_status(pod, container)), computed)
    };
    let (kubelets_app, app) = hashes(&after, "containers", "app");
    assert_eq!(kubelets_app, app);
    let (kubelets_side, side) = hashes(&after, "initContainers", "side");
    assert_eq!(kubelets_side, side);
    let old = before.first().and_then(|pod| pod["spec"]["initContainers"].get(0)).expect("the sidecar");
    assert_ne!(container_hash(version, old), Some(kubelets_side), "the old one would not have restarted");
}
