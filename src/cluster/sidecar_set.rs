//! What is read of a SidecarSet: the pods of its selectors, in whatever namespace, and its revisions.

use serde_json::Value;

use super::Cluster;
use super::error::Result;
use super::objects::{CONTROLLER_REVISIONS, NAMESPACES};
use super::send::ListedPod;
use super::snapshot::denied;
use engine::k8s::pod::Pod;
use engine::k8s::workload::Workload;
use engine::kinds::PODS;
use engine::plan::{Snapshot, sidecar_set};
use engine::value::selector;

impl Cluster {
    pub(super) async fn live_sidecar_set(&self, set: Workload) -> Result<Snapshot> {
        let labels = set.selector().unwrap_or_default();
        let of_it = format!("{}={}", sidecar_set::REVISION_OF, set.reference.name);
        let (selectors, of_it) = ([("labelSelector", labels.as_str())], [("labelSelector", of_it.as_str())]);
        let pods = self.list::<ListedPod>(PODS.into(), None, &selectors);
        let revisions = self.list::<Value>(CONTROLLER_REVISIONS, None, &of_it);
        let (pods, revisions, namespaces) = futures::join!(pods, revisions, self.namespaces_of(&set));
        let mut not_allowed = Vec::new();
        let mut refuse = |error| denied(error).map(|refused| not_allowed.push(refused));
        let pods = pods.or_else(|error| refuse(error).map(|()| Vec::new()))?;
        let namespaces = namespaces.or_else(|error| refuse(error).map(|()| None))?;
        let is_in = |pod: &Pod| namespaces.as_ref().is_none_or(|among| among.contains(&pod.key.namespace));
        let pods = pods.into_iter().map(|ListedPod(pod)| pod).filter(is_in).collect();
        // Without revisions a field that differs is not named.
        let mut live = sidecar_set::assembled(set, pods, revisions.unwrap_or_default());
        live.surroundings.denied = not_allowed;
        Ok(live)
    }

    /// Reads the namespaces that its pods can be in; `None` is all of them.
    async fn namespaces_of(&self, set: &Workload) -> Result<Option<Vec<String>>> {
        if let Some(one) = set.object.pointer("/spec/namespace").and_then(Value::as_str).filter(|one| !one.is_empty()) {
            return Ok(Some(vec![one.to_owned()]));
        }
        let Some(labels) = set.object.pointer("/spec/namespaceSelector").map(selector::query) else { return Ok(None) };
        let found: Vec<Value> = self.list(NAMESPACES, None, &[("labelSelector", &labels)]).await?;
        let name = |namespace: &Value| Some(namespace.pointer("/metadata/name")?.as_str()?.to_owned());
        Ok(Some(found.iter().filter_map(name).collect()))
    }
}
