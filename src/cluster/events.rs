//! The kubelet's events of a pod: a hint where nothing else proves a restart.

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::objects::EVENTS;
use engine::k8s::events::{Event, PodEvents};
use engine::k8s::names::PodKey;

impl Cluster {
    /// Reads what the kubelet last said of a pod's containers.
    pub async fn pod_events(&self, pod: &PodKey) -> Result<PodEvents, ClusterError> {
        let selector = format!("involvedObject.uid={}", pod.uid);
        let events: Vec<Value> = self.list(EVENTS, Some(&pod.namespace), &[("fieldSelector", &selector)]).await?;
        Ok(PodEvents::of(&events.iter().map(Event::of).collect::<Vec<_>>()))
    }
}
