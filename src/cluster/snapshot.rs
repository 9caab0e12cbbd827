//! What is there: a workload, its pods, and what the plan needs besides.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Cluster;
use super::error::ClusterError;
use super::objects::NODES;
use super::send::{ListedPod, read_pod};
use super::watch::PodScope;
use crate::engine::kubelet_version::KubeletVersion;
use crate::engine::names::{Uid, WorkloadRef};
use crate::engine::plan::LiveWorkload;
use crate::engine::pod::{Container, Pod};
use crate::engine::workload::{Workload, WorkloadKind};

impl Cluster {
    /// Reads one workload.
    ///
    /// # Errors
    /// What the server or the way to it says.
    pub async fn workload(&self, reference: &WorkloadRef) -> Result<Workload, ClusterError> {
        let object = self.get(reference.kind.into(), Some(&reference.namespace), &reference.name).await?;
        read_workload(reference.kind, object)
    }

    /// Reads the workloads of a kind that a label selector matches; `namespace` `None` is all namespaces.
    ///
    /// # Errors
    /// What the server or the way to it says.
    pub async fn workloads(
        &self,
        kind: WorkloadKind,
        namespace: Option<&str>,
        selector: &str,
    ) -> Result<Vec<Workload>, ClusterError> {
        let objects = self.list(kind.into(), namespace, &[("labelSelector", selector)]).await?;
        objects.into_iter().map(|object| read_workload(kind, object)).collect()
    }

    /// Reads a workload's pods, who may control them, and the kubelets of their nodes where a sidecar needs to know.
    ///
    /// # Errors
    /// What the server or the way to it says about pods and ReplicaSets. Nodes that may not be read weaken the
    /// answer and are named in it.
    pub async fn live(&self, workload: Workload) -> Result<LiveWorkload, ClusterError> {
        let namespace = workload.reference.namespace.clone();
        let (controllers, pods) = match workload.selector() {
            None => {
                let pod = read_pod(&workload.object)?;
                (workload.controller_uid().into_iter().collect(), vec![pod])
            }
            Some(selector) => {
                let controllers = self.controllers(&workload, &selector);
                let selectors = [("labelSelector", selector.as_str())];
                let pods = self.list(WorkloadKind::Pod.into(), Some(&namespace), &selectors);
                let (controllers, pods) = futures::try_join!(controllers, pods)?;
                (controllers, pods.into_iter().map(|ListedPod(pod)| pod).collect())
            }
        };
        let mut live = LiveWorkload { workload, controllers, pods, kubelets: BTreeMap::new(), not_read: Vec::new() };
        self.kubelets(&mut live).await;
        Ok(live)
    }

    async fn controllers(&self, workload: &Workload, selector: &str) -> Result<BTreeSet<Uid>, ClusterError> {
        if !workload.reference.kind.owns_through_replica_sets() {
            return Ok([workload.uid.clone()].into());
        }
        let namespace = Some(workload.reference.namespace.as_str());
        let sets = self.workloads(WorkloadKind::ReplicaSet, namespace, selector).await?;
        Ok(sets
            .into_iter()
            .filter(|set| set.controller_uid().as_ref() == Some(&workload.uid))
            .map(|set| set.uid)
            .collect())
    }

    /// A sidecar restarts only on newer kubelets, so the node's version is needed where a pod has one.
    async fn kubelets(&self, live: &mut LiveWorkload) {
        let nodes: BTreeSet<&str> =
            live.pods.iter().filter(|pod| has_sidecar(pod)).map(|pod| pod.spec.node_name.as_str()).collect();
        let nodes: Vec<String> = nodes.into_iter().filter(|node| !node.is_empty()).map(str::to_owned).collect();
        let read = match nodes.as_slice() {
            [] => return,
            [node] => self.get(NODES, None, node).await.map(|node| vec![node]),
            _ => self.list(NODES, None, &[]).await,
        };
        match read {
            Ok(objects) => {
                for node in &objects {
                    let text = |pointer: &str| node.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    if let Ok(version) = text("/status/nodeInfo/kubeletVersion").parse::<KubeletVersion>() {
                        live.kubelets.insert(text("/metadata/name").to_owned(), version);
                    }
                }
            }
            Err(error) => live.not_read.push(format!(
                "the nodes could not be read ({error}), so it is not known whether their kubelets restart a sidecar in place (1.32 and newer do)"
            )),
        }
    }

    /// Returns the scope in which a workload's pods are watched.
    pub fn scope(workload: &Workload) -> PodScope {
        workload.selector().map_or_else(|| PodScope::Name(workload.reference.name.clone()), PodScope::Labels)
    }
}

fn has_sidecar(pod: &Pod) -> bool {
    pod.spec.init_containers.iter().any(Container::is_sidecar)
}

fn read_workload(kind: WorkloadKind, mut object: Value) -> Result<Workload, ClusterError> {
    // Items of a list come without these, and patches and manifests are compared with them.
    if let Value::Object(map) = &mut object {
        map.insert("apiVersion".into(), kind.facts().api_version().into());
        map.insert("kind".into(), kind.facts().kind.into());
    }
    Workload::from_object(kind, object).ok_or_else(|| ClusterError::Unreadable {
        request: kind.facts().resource(),
        why: "an object without a name or uid".into(),
    })
}
