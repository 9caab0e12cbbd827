//! Nodes whose kubelets KWOK plays.

use serde_json::json;

use super::{Api, alone, cluster};

/// One that is gone when this is dropped. Nothing but what tolerates its taint gets there.
pub(crate) struct SimulatedNode<'a> {
    api: &'a Api,
    name: String,
}

impl<'a> SimulatedNode<'a> {
    /// Makes it, with the version that its kubelet says it has; `None` where the cluster is not that of `tests/cluster`.
    pub(crate) fn start(api: &'a Api, name: &str, kubelet: &str) -> Option<Self> {
        if !cluster::is_ours() {
            eprintln!("skipped: a cluster of one's own has no KWOK that the tests know");
            return None;
        }
        alone::run("start", "kwok");
        let labels = json!({"type": "kwok", "kubernetes.io/hostname": name, "kubelet": kubelet});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [{"key": "kwok", "effect": "NoSchedule"}]}});
        let (status, answer) = api.request("POST", "/api/v1/nodes", "application/json", &node);
        assert_eq!(status, 201, "{answer}");
        Some(Self { api, name: name.to_owned() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for SimulatedNode<'_> {
    fn drop(&mut self) {
        let path = format!("/api/v1/nodes/{}", self.name);
        let _ = self.api.request("DELETE", &path, "application/json", &json!({}));
    }
}
