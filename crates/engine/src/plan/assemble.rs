//! Builds a [`LiveWorkload`] from objects: the only place, whoever has read them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::k8s::names::Uid;
use crate::k8s::pod::{Container, Pod};
use crate::k8s::workload::{Workload, controller_of};
use crate::kinds::{RevisionLabel, Revisions, WorkloadKind, deployment_revision};
use crate::plan::live::{LiveWorkload, Revision, Surroundings};
use crate::state::durable::revisions::number_of;
use crate::value::kubelet_version::KubeletVersion;

/// What was read of a workload besides itself. What could not be read stays empty, and the reader notes that in the
/// [`LiveWorkload`].
#[derive(Debug, Clone, Default)]
pub struct Objects {
    /// The pods that its selector matches; of a pod, itself.
    pub pods: Vec<Pod>,
    /// The ReplicaSets or ControllerRevisions that its selector matches, whosever they are.
    pub owned: Vec<Value>,
    /// The object of another kind that controls it: a ReplicaSet's Deployment.
    pub maker: Option<Value>,
}

pub fn assemble(workload: Workload, objects: Objects) -> LiveWorkload {
    let kind = workload.reference.kind;
    let mut owned = objects.owned;
    owned.retain(|object| controller_uid(object) == Some(workload.uid.as_str()));
    let revisions = revisions(kind, &owned);
    let controllers = match (kind.has_template(), kind.owns_through()) {
        (false, _) => workload.controller_uid().into_iter().collect(),
        (true, None) => [workload.uid.clone()].into(),
        (true, Some(_)) => revisions.iter().map(|revision| revision.uid.clone()).collect(),
    };
    let newer_in_deployment = objects.maker.and_then(|maker| newer(&maker, &workload));
    LiveWorkload {
        workload,
        controllers,
        pods: objects.pods,
        kubelets: BTreeMap::new(),
        not_read: Vec::new(),
        surroundings: Surroundings { revisions, owned, newer_in_deployment, ..Surroundings::default() },
    }
}

pub fn controller_uid(object: &Value) -> Option<&str> {
    controller_of(object)?.get("uid")?.as_str()
}

/// Returns whether the version of the kubelet decides what an update does to a pod: whether a sidecar restarts,
/// whether `started` is reliable, and whether a container's own restart policy counts.
pub fn needs_kubelet(pod: &Pod) -> bool {
    let decides = |container: &Container| container.startup_probe.is_some() || container.restart_policy.is_some();
    pod.spec.init_containers.iter().any(Container::is_sidecar) || pod.spec.containers.iter().any(decides)
}

pub fn kubelets(nodes: &[Value]) -> BTreeMap<String, KubeletVersion> {
    let of_node = |node: &Value| {
        let text = |pointer: &str| node.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        Some((text("/metadata/name").to_owned(), text("/status/nodeInfo/kubeletVersion").parse().ok()?))
    };
    nodes.iter().filter_map(of_node).collect()
}

/// The revisions by which pods differ; a StatefulSet names its current one itself.
fn revisions(kind: WorkloadKind, owned: &[Value]) -> Vec<Revision> {
    match kind.revisions() {
        Revisions::ControllerRevisions(RevisionLabel::Name) | Revisions::None => Vec::new(),
        kept @ (Revisions::ReplicaSets | Revisions::ControllerRevisions(RevisionLabel::Hash)) => {
            owned.iter().filter_map(|object| revision(object, kept)).collect()
        }
    }
}

fn revision(object: &Value, kept: Revisions) -> Option<Revision> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let number = number_of(object).or_else(|| deployment_revision(object));
    Some(Revision {
        uid: Uid::from(text("/metadata/uid")?),
        name: text("/metadata/name")?.to_owned(),
        number: number.unwrap_or(0),
        hash: kept.hash_of(object).to_owned(),
    })
}

/// The name of the object that created a workload, if that has gone on to another revision.
fn newer(maker: &Value, workload: &Workload) -> Option<String> {
    let (_, name, uid) = workload.controller()?;
    let is_its = maker.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid.as_str());
    (is_its && deployment_revision(maker) > deployment_revision(&workload.object)).then_some(name)
}
