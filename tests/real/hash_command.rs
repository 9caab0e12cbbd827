//! `hash`: what it computes is what the kubelet wrote into the container runtime.

use std::collections::BTreeMap;

use serde_json::Value;

use super::support::{Namespace, command, container_status, registry, samples};

/// Reads the kubelet's annotation of a container from the node's containerd; `None` on a cluster of one's own without
/// `CONTAINERD_ADDRESS`.
fn of_runtime(id: &str) -> Option<String> {
    let address = match std::env::var("CONTAINERD_ADDRESS") {
        Ok(address) => address,
        Err(_) if std::env::var("INPLACE_TEST_KUBECONFIG").is_ok() => return None,
        Err(_) => {
            let script = concat!(
                "eval \"$('",
                env!("CARGO_MANIFEST_DIR"),
                "/tests/cluster/cluster' env)\"; echo \"$CONTAINERD_ADDRESS\""
            );
            let output = command("bash", "real-home").args(["-c", script]).output().expect("bash runs");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
    };
    let mut ctr = command("ctr", "real-home");
    let output = ctr.args(["-a", &address, "-n", "k8s.io", "containers", "info", id]).output().expect("ctr runs");
    let info: Value = serde_json::from_slice(&output.stdout).expect("ctr prints JSON");
    let metadata =
        info["Extensions"]["io.cri-containerd.container.metadata"]["value"].as_str().expect("it is a CRI container");
    // containerd keeps what the kubelet sent as JSON in base64.
    let decoded = command("sh", "real-home")
        .args(["-c", "printf %s \"$1\" | base64 -d", "sh", metadata])
        .output()
        .expect("base64 runs");
    let metadata: Value = serde_json::from_slice(&decoded.stdout).expect("the metadata is JSON");
    let hash = &metadata["Metadata"]["Config"]["annotations"]["io.kubernetes.container.hash"];
    Some(hash.as_str().expect("the kubelet annotates every container").to_owned())
}

/// Returns the kubelet's hashes of a pod's containers.
fn of_kubelet(pod: &Value, names: &[&str]) -> BTreeMap<String, Option<String>> {
    let of = |name: &str| {
        let id =
            container_status(pod, name)["containerID"].as_str().expect("it runs").trim_start_matches("containerd://");
        of_runtime(id)
    };
    names.iter().map(|name| ((*name).to_owned(), of(name))).collect()
}

fn containers(namespace: &Namespace, arguments: &[&str]) -> (Value, Vec<Value>) {
    let mut all = vec!["hash"];
    all.extend(arguments);
    all.extend(["-o", "json"]);
    let output = namespace.inplace(&all);
    assert_eq!(output.code, 0, "{output:?}");
    let document: Value = serde_json::from_str(&output.stdout).expect("it prints JSON");
    let object = document["objects"][0].clone();
    let containers = object["containers"].as_array().cloned().expect("it has containers");
    (object, containers)
}

#[test]
fn the_hash_is_what_the_kubelet_wrote_and_foretells_the_restart() {
    let namespace = Namespace::new("hash-live");
    namespace.apply(&samples::deployment_with_sidecar("web", 1));
    let before = namespace.wait_ready("app=web", 1);
    let pod = format!("pod/{}", before[0]["metadata"]["name"].as_str().expect("a pod has a name"));
    let known = of_kubelet(&before[0], &["app", "side"]);

    let (object, hashes) = containers(&namespace, &[&pod, "side=:v2"]);
    assert_eq!(object["kubelet"]["source"], "node");
    assert_eq!(object["kubelet"]["node"], before[0]["spec"]["nodeName"]);
    for container in &hashes {
        let name = container["container"].as_str().expect("it has a name");
        if let Some(Some(hash)) = known.get(name) {
            assert_eq!(container["hash"], hash.as_str(), "{name}");
        }
        assert_eq!(container["restarts"], name == "side", "{name}");
    }
    let foretold =
        hashes.iter().find(|container| container["container"] == "side").map(|side| side["hashAfter"].clone());

    let image = format!("side={}/side:v2", registry());
    namespace.kubectl(&["set", "image", &pod, &image]);
    let after = namespace.wait_pods("app=web", |pods| {
        pods.iter().all(|pod| {
            let side = container_status(pod, "side");
            side["containerID"] != container_status(&before[0], "side")["containerID"] && side["ready"] == true
        })
    });
    assert_eq!(super::support::restarted(&before, &after), [format!("{}/side", pod.trim_start_matches("pod/"))]);
    if let Some(Some(hash)) = of_kubelet(&after[0], &["side"]).remove("side") {
        assert_eq!(foretold, Some(hash.into()));
    }
}

#[test]
fn a_template_and_a_pod_have_one_hash_for_new_kubelets() {
    let namespace = Namespace::new("hash-template");
    namespace.apply(&samples::deployment("web", 1));
    let pods = namespace.wait_ready("app=web", 1);
    let pod = format!("pod/{}", pods[0]["metadata"]["name"].as_str().expect("a pod has a name"));
    let (template, of_template) = containers(&namespace, &["deployment/web"]);
    assert_eq!((&template["kubelet"]["source"], &template["kubelet"]["version"]), (&"assumed".into(), &"1.32".into()));
    assert_eq!(of_template, containers(&namespace, &[&pod]).1);
    // Below 1.31 the mount that admission added to the pod counts.
    let old = ["--kubelet-version", "1.30"];
    assert_ne!(
        containers(&namespace, &["deployment/web", old[0], old[1]]).1,
        containers(&namespace, &[&pod, old[0], old[1]]).1
    );
}
