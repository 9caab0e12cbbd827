//! What is read of a SidecarSet: the pods of its selectors, in whatever namespace, and its revisions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::error::Result;
use super::objects::CONTROLLER_REVISIONS;
use super::send::ListedPod;
use super::{Cluster, PodScope};
use engine::k8s::workload::Workload;
use engine::kinds::PODS;
use engine::plan::sidecar_set::{self, Found};

impl Cluster {
    /// Reads a SidecarSet's pods and revisions.
    ///
    /// # Errors
    /// The server's error about pods and namespaces, or that of the way to it. Revisions that may not be read weaken the answer.
    pub async fn sidecar_set(&self, set: Workload) -> Result<Found> {
        let (labels, namespace) = sidecar_set::scope(&set);
        let selectors = [("labelSelector", labels.as_str())];
        let pods = self.list::<ListedPod>(PODS.into(), namespace, &selectors);
        let among = async {
            match sidecar_set::namespaces(&set) {
                Some(selector) => Ok(Some(self.namespaces_of(&selector).await?)),
                None => Ok(None),
            }
        };
        let of_it = format!("{}={}", sidecar_set::REVISION_OF, set.reference.name);
        let selectors = [("labelSelector", of_it.as_str())];
        let revisions = self.list::<Value>(CONTROLLER_REVISIONS, None, &selectors);
        let (pods, among, revisions) = futures::join!(pods, among, revisions);
        let among: Option<BTreeSet<String>> = among?.map(|names| names.into_iter().collect());
        let pods = pods?.into_iter().map(|ListedPod(pod)| pod);
        let pods = pods.filter(|pod| among.as_ref().is_none_or(|among| among.contains(&pod.key.namespace))).collect();
        let (revisions, not_read) = match revisions {
            Ok(revisions) => (revisions, None),
            Err(error) => (
                Vec::new(),
                Some(format!(
                    "the revisions of the SidecarSet could not be read ({error}), so it is not known which field keeps a pod from being updated"
                )),
            ),
        };
        let mut found = sidecar_set::found(set, pods, revisions);
        found.live.not_read.extend(not_read);
        found.live.surroundings.server_now = self.now();
        Ok(found)
    }

    /// Returns where its pods are watched.
    pub fn scope_of_sidecar_set(set: &Workload) -> PodScope {
        let (labels, namespace) = sidecar_set::scope(set);
        PodScope::LabelsIn(namespace.map(str::to_owned), labels)
    }
}
