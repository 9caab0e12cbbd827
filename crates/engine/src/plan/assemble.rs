//! Builds a [`Snapshot`] from objects: the only place, whoever has read them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::k8s::names::Uid;
use crate::k8s::pod::{Container, Pod};
use crate::k8s::workload::{Workload, controller_of};
use crate::kinds::deployment_revision;
use crate::plan::live::{Snapshot, Surroundings};
use crate::value::json_path::text;
use crate::value::kubelet_version::KubeletVersion;

/// What was read of a workload besides itself. What could not be read stays empty, and the reader notes that in the
/// [`Snapshot`].
#[derive(Debug, Clone, Default)]
pub struct Objects {
    /// The pods that its selector matches; of a pod, itself.
    pub pods: Vec<Pod>,
    /// The ReplicaSets or ControllerRevisions that its selector matches, whosever they are.
    pub owned: Vec<Value>,
    /// The object of another kind that controls it: a ReplicaSet's Deployment.
    pub maker: Option<Value>,
}

pub fn assemble(workload: Workload, objects: Objects) -> Snapshot {
    let kind = workload.reference.kind;
    let mut owned = objects.owned;
    owned.retain(|object| controller_uid(object) == Some(workload.uid.as_str()));
    let controllers = match (kind.has_template(), kind.owns_through()) {
        (false, _) => workload.controller_uid().into_iter().collect(),
        (true, None) => [workload.uid.clone()].into(),
        (true, Some(_)) => owned.iter().map(|set| Uid::from(text(set, "/metadata/uid"))).collect(),
    };
    let newer_in_deployment = objects.maker.and_then(|maker| newer(&maker, &workload));
    Snapshot {
        workload,
        controllers,
        pods: objects.pods,
        kubelets: BTreeMap::new(),
        not_read: Vec::new(),
        surroundings: Surroundings { owned, newer_in_deployment, ..Surroundings::default() },
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
        Some((text(node, "/metadata/name").to_owned(), text(node, "/status/nodeInfo/kubeletVersion").parse().ok()?))
    };
    nodes.iter().filter_map(of_node).collect()
}

/// The name of the object that created a workload, if that has gone on to another revision.
fn newer(maker: &Value, workload: &Workload) -> Option<String> {
    let (_, name, uid) = workload.controller()?;
    let is_its = text(maker, "/metadata/uid") == uid.as_str();
    (is_its && deployment_revision(maker) > deployment_revision(&workload.object)).then_some(name)
}
