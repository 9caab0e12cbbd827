//! Whether the nodes have room for the increase that pods ask for.
//!
//! The kubelet goes by what it has allocated (`canAdmitPod` in pkg/kubelet/allocation): a resize that does not fit now
//! is `Deferred`, one that never fits the node is infeasible, and refused by the API server itself from 1.36 on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ResizeFacts, Resized, amount, requests, whole_mebibytes, written};
use crate::change::ResourceField;
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::Uid;
use crate::k8s::pod::Pod;

const FIELDS: [ResourceField; 2] = [ResourceField::RequestsCpu, ResourceField::RequestsMemory];

/// The allocatable resources of a node, and what is reserved for the pods that it has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeRoom {
    is_windows: bool,
    allocatable: BTreeMap<ResourceField, i128>,
    allocated: BTreeMap<Uid, BTreeMap<ResourceField, i128>>,
}

impl NodeRoom {
    /// Reads a node, and the pods that are bound to it.
    pub fn new(node: &Value, pods: &[Pod]) -> Self {
        let allocatable = |field: ResourceField| {
            let text = node.pointer("/status/allocatable")?.get(field.parts().1)?.as_str()?.to_owned();
            Some((field, amount(Some(&text))?))
        };
        let counts = pods.iter().filter(|pod| !pod.is_finished());
        let of = |pod: &Pod| FIELDS.into_iter().map(|field| (field, requests::allocated(pod, field))).collect();
        let labels = node.pointer("/metadata/labels");
        Self {
            is_windows: labels.and_then(|labels| labels.get("kubernetes.io/os")).is_some_and(|os| os == "windows"),
            allocatable: FIELDS.into_iter().filter_map(allocatable).collect(),
            allocated: counts.map(|pod| (pod.key.uid.clone(), of(pod))).collect(),
        }
    }

    fn free(&self, field: ResourceField) -> Option<i128> {
        let used: i128 = self.allocated.values().filter_map(|pod| pod.get(&field)).sum();
        Some(self.allocatable.get(&field)? - used)
    }
}

/// Returns whether a node runs Windows, where nothing is resized, although no pod's spec says so.
pub(super) fn on_windows(pods: &[Resized<'_>], facts: &ResizeFacts) -> Option<Reason> {
    let is_unsaid = |pod: &&Resized<'_>| pod.before.spec.os.as_ref().is_none_or(|os| os.name != "windows");
    let mut nodes = pods.iter().filter(is_unsaid).filter_map(|pod| facts.nodes.get(&pod.before.spec.node_name));
    nodes.any(|room| room.is_windows).then_some(Reason::WindowsPod)
}

/// Returns the nodes that never have what a pod would ask for.
pub(super) fn too_small(pods: &[Resized<'_>], facts: &ResizeFacts) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for pod in pods {
        let node = &pod.before.spec.node_name;
        let Some(room) = facts.nodes.get(node) else { continue };
        for field in FIELDS {
            let asked = requests::asked(&pod.after, field);
            let grows = asked > requests::asked(pod.before, field);
            if let Some(has) = room.allocatable.get(&field).filter(|has| grows && asked > **has) {
                let reason = Reason::NodeTooSmall {
                    node: node.clone(),
                    resource: field.parts().1.to_owned(),
                    asked: written(field, asked),
                    allocatable: written(field, *has),
                };
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    reasons
}

/// Returns which pods would wait for room, one warning for each resource; and where it matters that this is unknown.
pub fn deferred(pods: &[Resized<'_>], facts: &ResizeFacts) -> Vec<Warning> {
    let grows = |pod: &&Resized<'_>| {
        let is_more = |field| requests::asked(&pod.after, field) > requests::allocated(pod.before, field);
        pod.before.is_scheduled() && FIELDS.into_iter().any(is_more)
    };
    let mut free: BTreeMap<(&str, ResourceField), i128> = BTreeMap::new();
    for (node, room) in &facts.nodes {
        free.extend(FIELDS.into_iter().filter_map(|field| Some(((node.as_str(), field), room.free(field)?))));
    }
    let mut waiting: BTreeMap<ResourceField, Waiting<'_>> = BTreeMap::new();
    // A refused resize does not wait.
    for pod in pods.iter().filter(|pod| too_small(std::slice::from_ref(*pod), facts).is_empty()) {
        let node = pod.before.spec.node_name.as_str();
        let more =
            FIELDS.map(|field| (field, requests::asked(&pod.after, field) - requests::allocated(pod.before, field)));
        let lacks = |(field, more): &(ResourceField, i128)| free.get(&(node, *field)).is_some_and(|free| more > free);
        match more.into_iter().find(|change| change.1 > 0 && lacks(change)) {
            Some((field, needed)) => {
                let left = free.get(&(node, field)).copied().unwrap_or(0).max(0);
                waiting.entry(field).or_insert(Waiting { pods: 0, nodes: Vec::new(), needed, left }).add(node);
            }
            None => {
                for (field, more) in more {
                    free.entry((node, field)).and_modify(|free| *free -= more);
                }
            }
        }
    }
    let mut warnings: Vec<Warning> = waiting.into_iter().map(|(field, waiting)| waiting.warning(field)).collect();
    if let Some(error) = facts.nodes_not_read.as_ref().filter(|_| pods.iter().any(|pod| grows(&pod))) {
        let what = format!(
            "not all nodes and the pods there could be read ({error}), so it is not known whether they have room for the increase: a kubelet puts off what does not fit"
        );
        warnings.push(Warning::ReadFailed { what });
    }
    warnings
}

/// Pods that wait, with the amounts of the first.
struct Waiting<'a> {
    pods: usize,
    nodes: Vec<&'a str>,
    needed: i128,
    left: i128,
}

impl<'a> Waiting<'a> {
    fn add(&mut self, node: &'a str) {
        self.pods += 1;
        if !self.nodes.contains(&node) {
            self.nodes.push(node);
        }
    }

    fn warning(self, field: ResourceField) -> Warning {
        Warning::ResizeDeferred {
            pods: self.pods,
            nodes: self.nodes.into_iter().map(str::to_owned).collect(),
            resource: field.parts().1.to_owned(),
            needed: written(field, self.needed),
            free: written(field, whole_mebibytes(field, self.left)),
        }
    }
}
