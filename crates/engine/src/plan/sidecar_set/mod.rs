//! OpenKruise's SidecarSet: which running pods its controller gives new images, which not and why; the patch of its images,
//! and what is followed.
//!
//! Promise: it foretells by the controller's own rules (`pkg/control/sidecarcontrol` and `pkg/controller/sidecarset` of
//! openkruise/kruise 1.8.3), and changes nothing but images.

mod change;
mod course;
mod forecast;
mod hot;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::plan::Snapshot;
use crate::plan::assemble::{Objects, assemble};
use crate::value::selector;

pub use change::Change;
pub(crate) use course::{Course, Goals, is_updated};
pub(crate) use forecast::Courses;
pub use forecast::{Left, goal, left, plan, words_back};

/// The label by which a ControllerRevision names its SidecarSet.
pub const REVISION_OF: &str = "kruise.io/sidecarset-name";

/// Where a SidecarSet's pods are looked for: a label selector, and a namespace; `None` is all of them.
pub fn scope(set: &Workload) -> (String, Option<&str>) {
    let labels = set.object.pointer("/spec/selector").map(selector::query).unwrap_or_default();
    let namespace = set.object.pointer("/spec/namespace").and_then(Value::as_str);
    (labels, namespace.filter(|namespace| !namespace.is_empty()))
}

/// Returns the label selector of the namespaces, where it has one.
pub fn namespaces(set: &Workload) -> Option<String> {
    set.object.pointer("/spec/namespaceSelector").map(selector::query)
}

/// A SidecarSet as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// With the pods that its controller counts (`getMatchingPods`), and its revisions.
    pub live: Snapshot,
    /// How many pods its selectors match besides: those without its containers.
    pub bare: usize,
}

/// Puts together the pods that the selectors match, and the revisions.
pub fn found(set: Workload, mut pods: Vec<Pod>, revisions: Vec<Value>) -> Found {
    pods.retain(Pod::is_present);
    let (mut matched, bare): (Vec<Pod>, Vec<Pod>) = pods.into_iter().partition(|pod| course::is_matched(&set, pod));
    matched.sort_by(|a, b| (&a.key.namespace, &a.key.name).cmp(&(&b.key.namespace, &b.key.name)));
    let mut live = assemble(set, Objects { pods: matched, ..Objects::default() });
    // They are in the namespace of OpenKruise, and no controller's.
    live.surroundings.owned = revisions;
    Found { live, bare: bare.len() }
}
