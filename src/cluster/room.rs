//! What a change of cpu and memory needs of the cluster: the nodes' room, who else writes it, what is in use.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::objects::{NODES, POD_METRICS, QUOTAS, VERTICAL_AUTOSCALERS};
use super::send::ListedPod;
use engine::k8s::pod::Pod;
use engine::kinds::PODS;
use engine::plan::LiveWorkload;
use engine::plan::resize::{NodeRoom, ResizeFacts};

/// The pods of this many nodes are read, for each node by itself: a cluster may have very many.
const NODES_AT_MOST: usize = 32;

/// Nodes at once.
const AT_ONCE: usize = 8;

impl Cluster {
    /// Reads what bears on a change of cpu and memory.
    ///
    /// Nothing here fails a plan. Of what is often neither there nor allowed (VerticalPodAutoscalers, metrics) nothing is said.
    pub async fn resize_facts(&self, needs_room: bool, live: &LiveWorkload) -> ResizeFacts {
        let namespace = live.workload.reference.namespace.as_str();
        let selector = live.workload.selector().unwrap_or_default();
        let selectors = [("labelSelector", selector.as_str())];
        let (rooms, quotas, vertical, metrics) = futures::join!(
            self.rooms(needs_room, &live.pods),
            self.list_if_there(QUOTAS, namespace),
            self.list::<Value>(VERTICAL_AUTOSCALERS, Some(namespace), &[]),
            self.list::<Value>(POD_METRICS, Some(namespace), &selectors),
        );
        let (quotas, quotas_not_read) = match quotas {
            Ok(quotas) => (quotas, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        ResizeFacts {
            quotas,
            quotas_not_read,
            vertical_autoscalers: vertical.unwrap_or_default(),
            metrics: metrics.unwrap_or_default(),
            ..rooms
        }
    }

    /// The room of the pods' nodes, where pods ask for more.
    async fn rooms(&self, needs_room: bool, pods: &[Pod]) -> ResizeFacts {
        let mut facts = ResizeFacts::default();
        if !needs_room {
            return facts;
        }
        let mut nodes: Vec<&str> = pods.iter().map(|pod| pod.spec.node_name.as_str()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.retain(|node| !node.is_empty());
        if nodes.len() > NODES_AT_MOST {
            facts.nodes_not_read =
                Some(format!("there are {} of them, and {NODES_AT_MOST} are looked at", nodes.len()));
            nodes.truncate(NODES_AT_MOST);
        }
        let reads = nodes.into_iter().map(|node| async move { Ok((node.to_owned(), self.room(node).await?)) });
        match stream::iter(reads).buffered(AT_ONCE).try_collect().await {
            Ok(rooms) => facts.nodes = rooms,
            Err::<_, ClusterError>(error) => facts.nodes_not_read = Some(error.to_string()),
        }
        facts
    }

    async fn room(&self, node: &str) -> Result<NodeRoom, ClusterError> {
        let on_it = format!("spec.nodeName={node}");
        let selectors = [("fieldSelector", on_it.as_str())];
        let pods = self.list::<ListedPod>(PODS.into(), None, &selectors);
        let (node, pods) = futures::try_join!(self.get(NODES, None, node), pods)?;
        let pods: Vec<Pod> = pods.into_iter().map(|ListedPod(pod)| pod).collect();
        Ok(NodeRoom::new(&node, &pods))
    }
}
