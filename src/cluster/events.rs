//! The kubelet's events about changed definitions: a hint where nothing else proves a restart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::objects::EVENTS;
use crate::engine::names::{ContainerName, PodKey};

impl Cluster {
    /// Reads when the kubelet last said that a container's definition changed (kubelet `kuberuntime_manager.go`:
    /// `Container X definition changed, will be restarted`, `Init container X definition changed`).
    ///
    /// # Errors
    /// What the server or the way to it says.
    pub async fn definition_changed(&self, pod: &PodKey) -> Result<BTreeMap<ContainerName, String>, ClusterError> {
        let selector = format!("involvedObject.uid={},reason=Killing", pod.uid);
        let events: Vec<Value> = self.list(EVENTS, Some(&pod.namespace), &[("fieldSelector", &selector)]).await?;
        let mut newest: BTreeMap<ContainerName, String> = BTreeMap::new();
        for event in &events {
            let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            if !text("/message").contains("definition changed") {
                continue;
            }
            let Some(container) =
                text("/involvedObject/fieldPath").split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'))
            else {
                continue;
            };
            let time = [text("/lastTimestamp"), text("/eventTime")].into_iter().max().unwrap_or_default().to_owned();
            let known = newest.entry(container.into()).or_default();
            if *known < time {
                *known = time;
            }
        }
        Ok(newest)
    }
}
