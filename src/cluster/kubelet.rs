//! The version of one node's kubelet.

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::objects::NODES;
use engine::value::kubelet_version::{KubeletVersion, KubeletVersionError};

impl Cluster {
    pub async fn kubelet(&self, node: &str) -> Result<KubeletVersion, ClusterError> {
        let object = self.get(NODES, None, node).await?;
        let version = object.pointer("/status/nodeInfo/kubeletVersion").and_then(Value::as_str).unwrap_or_default();
        version.parse().map_err(|error: KubeletVersionError| ClusterError::Unreadable {
            request: format!("node {node}"),
            why: error.to_string(),
        })
    }
}
