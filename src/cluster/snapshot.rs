//! A workload, its pods, and what the plan needs besides.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Cluster;
use super::error::{ClusterError, Result};
use super::objects::{CONTROLLER_REVISIONS, NODES};
use super::send::{ListedPod, read_pod};
use super::watch::PodScope;
use crate::process;
use engine::k8s::names::WorkloadRef;
use engine::k8s::pod::Pod;
use engine::k8s::workload::Workload;
use engine::kinds::{PODS, REPLICA_SETS, Revisions, WorkloadKind};
use engine::plan::assemble::{Objects, assemble, controller_uid, kubelets, needs_kubelet};
use engine::plan::{self, Denied, Snapshot};
use engine::state::durable::OwnerView;
use engine::state::durable::lease::ProcessState;

/// Which pods' nodes are read, for the versions of their kubelets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nodes {
    /// None: nothing that depends on a kubelet is asked.
    Nowhere,
    /// Those of pods with a sidecar or a startup probe: there the version decides what an update does.
    WhereDecisive,
    /// Those of every pod: somebody asked to see them.
    OfEveryPod,
}

/// Up to this many nodes are read one by one, side by side; more of them as one list.
const NODES_ONE_BY_ONE: usize = 8;

impl Cluster {
    pub async fn workload(&self, reference: &WorkloadRef) -> Result<Workload> {
        let object = self.get(reference.kind.into(), Some(&reference.namespace), &reference.name).await?;
        read_workload(reference.kind, object)
    }

    /// Reads the workloads of a kind that selectors match, each under its name in the request; in all namespaces for `None`.
    pub async fn workloads(
        &self,
        kind: WorkloadKind,
        namespace: Option<&str>,
        selectors: &[(&str, &str)],
    ) -> Result<Vec<Workload>> {
        let objects = self.list(kind.into(), namespace, selectors).await?;
        objects.into_iter().map(|object| read_workload(kind, object)).collect()
    }

    /// Returns the kinds of the workloads that have this name in the namespace, as far as they can be read.
    pub async fn workloads_called(&self, name: &str) -> Vec<WorkloadKind> {
        let kinds = WorkloadKind::ALL.into_iter();
        let reads = kinds.map(|kind| async move {
            let found = self.get(kind.into(), Some(self.namespace()), name).await;
            found.is_ok().then_some(kind)
        });
        futures::future::join_all(reads).await.into_iter().flatten().collect()
    }

    /// Reads a workload's pods, who may control them, their revisions, and the kubelets of their nodes.
    ///
    /// # Errors
    /// The server's error about pods and ReplicaSets, or that of the way to it, unless the caller may not read them:
    /// that is part of the answer. Other objects that may not be read weaken the answer and are named in it.
    pub async fn live(&self, workload: Workload, nodes: Nodes) -> Result<Snapshot> {
        let mut live = match workload.selector() {
            Some(_) if workload.reference.kind.is_sidecar_set() => self.live_sidecar_set(workload).await?,
            None => {
                let pods = vec![read_pod(&workload.object)?];
                assemble(workload, Objects { pods, ..Objects::default() })
            }
            Some(selector) => self.read_owned(workload, &selector).await?,
        };
        self.kubelets(&mut live, nodes).await;
        live.surroundings.server_now = self.now();
        live.surroundings.holder = holder(&live);
        Ok(live)
    }

    async fn read_owned(&self, workload: Workload, selector: &str) -> Result<Snapshot> {
        let namespace = workload.reference.namespace.clone();
        let selectors = [("labelSelector", selector)];
        let pods = self.list::<ListedPod>(PODS.into(), Some(&namespace), &selectors);
        let (pods, owned, maker) = futures::join!(pods, self.revisions(&workload), self.maker(&workload));
        let owns_through_sets = workload.reference.kind.owns_through().is_some();
        let (mut objects, mut not_read, mut all_denied) = (Objects::default(), Vec::new(), Vec::new());
        let mut revisions_denied = None;
        match pods {
            Ok(pods) => objects.pods = pods.into_iter().map(|ListedPod(pod)| pod).collect(),
            Err(error) => all_denied.push(denied(error)?),
        }
        match owned {
            Ok(owned) => objects.owned = owned,
            // Without ReplicaSets nobody knows whose the pods are; without the others the answer is only weaker.
            Err(error) if owns_through_sets => all_denied.push(denied(error)?),
            Err(error) => {
                not_read.push(format!(
                    "the revisions could not be read ({error}), so it is not known whether pods are of an older one"
                ));
                revisions_denied = denied(error).ok();
            }
        }
        match maker {
            Ok(maker) => objects.maker = maker,
            Err(error) => not_read.push(format!(
                "the ReplicaSet's Deployment could not be read ({error}), so it is not known whether it has a newer one"
            )),
        }
        let mut live = assemble(workload, objects);
        live.not_read = not_read;
        live.surroundings.denied = all_denied;
        live.surroundings.revisions_denied = revisions_denied;
        Ok(live)
    }

    /// Reads the ReplicaSets or ControllerRevisions that an owner's selector matches, whosever they are.
    async fn revisions(&self, workload: &Workload) -> Result<Vec<Value>> {
        let resource = match workload.reference.kind.revisions() {
            Revisions::ReplicaSets => REPLICA_SETS.into(),
            Revisions::ControllerRevisions(_) => CONTROLLER_REVISIONS,
            Revisions::None => return Ok(Vec::new()),
        };
        let selector = workload.selector().unwrap_or_default();
        self.list(resource, Some(&workload.reference.namespace), &[("labelSelector", &selector)]).await
    }

    /// Reads the revisions of an owner's template: the ReplicaSets or ControllerRevisions that it controls.
    pub async fn owned(&self, workload: &Workload) -> Result<Vec<Value>> {
        let mut objects = self.revisions(workload).await?;
        objects.retain(|object| controller_uid(object) == Some(workload.uid.as_str()));
        Ok(objects)
    }

    /// Reads a rollout's owner and what belongs to it: the owner first, so that what belongs to it is never older.
    ///
    /// # Errors
    /// What the server or the way to it says; that there is no such owner is no error.
    pub async fn owner(&self, reference: &WorkloadRef) -> Result<OwnerView> {
        let workload = match self.workload(reference).await {
            Err(ClusterError::NotFound { .. }) => return Ok(OwnerView::default()),
            workload => workload?,
        };
        let now = self.now();
        let owned = self.owned(&workload).await?;
        Ok(OwnerView { object: Some(workload.object), owned, now })
    }

    async fn maker(&self, workload: &Workload) -> Result<Option<Value>> {
        let Some(maker) = workload.reference.kind.made_by() else { return Ok(None) };
        let Some((kind, name, _)) = workload.controller() else { return Ok(None) };
        if kind != maker.spec().kind {
            return Ok(None);
        }
        self.get(maker.into(), Some(&workload.reference.namespace), &name).await.map(Some)
    }

    pub async fn kubelets(&self, live: &mut Snapshot, nodes: Nodes) {
        let is_asked = |pod: &&Pod| match nodes {
            Nodes::Nowhere => false,
            Nodes::WhereDecisive => needs_kubelet(pod),
            Nodes::OfEveryPod => true,
        };
        let pods = live.pods.iter().filter(is_asked);
        let nodes: BTreeSet<&str> = pods.map(|pod| pod.spec.node_name.as_str()).collect();
        let nodes: Vec<String> = nodes.into_iter().filter(|node| !node.is_empty()).map(str::to_owned).collect();
        match self.nodes(nodes).await {
            Ok(nodes) => live.kubelets = kubelets(&nodes),
            Err(error) => live.surroundings.nodes_not_read = Some(error.to_string()),
        }
    }

    /// Reads nodes by name; of many, all there are.
    ///
    /// # Errors
    /// What the server or the way to it says. A node that is gone is none.
    pub async fn nodes(&self, names: Vec<String>) -> Result<Vec<Value>> {
        if names.len() > NODES_ONE_BY_ONE {
            return self.list(NODES, None, &[]).await;
        }
        let reads = names.iter().map(|node| self.get_if_there(NODES, None, node));
        Ok(futures::future::try_join_all(reads).await?.into_iter().flatten().collect())
    }

    pub fn scope(workload: &Workload) -> PodScope {
        workload.selector().map_or_else(|| PodScope::Name(workload.reference.name.clone()), PodScope::Labels)
    }
}

pub(super) fn holder(live: &Snapshot) -> ProcessState {
    let lease = plan::present_lock(live).and_then(|lock| lock.lease);
    lease.map_or(ProcessState::NotKnown, |lease| process::state(&lease.process))
}

/// What the caller may not read is part of the plan's answer; any other error is one.
pub(super) fn denied(error: ClusterError) -> Result<Denied> {
    let ClusterError::Forbidden { request, message } = error else { return Err(error) };
    Ok(Denied { verb: request.verb.word().into(), resource: request.resource, message, role: None })
}

pub(super) fn read_workload(kind: WorkloadKind, mut object: Value) -> Result<Workload> {
    // Items of a list come without these, and patches and manifests are compared with them.
    if let Value::Object(map) = &mut object {
        map.insert("apiVersion".into(), kind.spec().api_version().into());
        map.insert("kind".into(), kind.spec().kind.into());
    }
    Workload::from_object(kind, object).ok_or_else(|| ClusterError::Unreadable {
        request: kind.spec().resource(),
        why: "an object without a name or uid".into(),
    })
}
