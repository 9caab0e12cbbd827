//! What a manifest, or images on the command line, would change in a workload: the object before and after, as a user
//! would write it.
//!
//! Promise: status, managed fields, server-set metadata and shared defaults are gone from both; no other field is, so
//! that no change is hidden. Containers are in one order on both sides: another order alone is no
//! change. What each change means for running pods comes from the plan ([`Mark`]), not from a rule of this module.
//!
//! Out of scope: a workload's pods. Whether each of them could be updated is for `plan` to say.

mod clean;
mod mark;
#[cfg(test)]
mod tests;

pub use crate::change::template::labels;
pub use mark::{Effect, Mark};

use serde_json::Value;

use crate::change::new_images;
use crate::change::reason::Reason;
use crate::change::target::Images;
use crate::k8s::names::WorkloadRef;
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::plan::assemble::{Objects, assemble};
use crate::plan::build::of_manifest;
use crate::plan::{Options, WorkloadPlan};

#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadDiff {
    pub workload: WorkloadRef,
    /// The live object, without what no user wrote; keys in reading order.
    pub before: Value,
    pub after: Value,
    /// What the changed fields mean for running pods.
    pub marks: Vec<Mark>,
}

impl WorkloadDiff {
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Returns the name that kubectl gives to the object's file: `apps.v1.Deployment.prod.web`.
    ///
    /// Upstream: `InfoObject.Name` in kubectl's `pkg/cmd/diff/diff.go`.
    pub fn file_name(&self) -> String {
        let spec = self.workload.kind.spec();
        let group = if spec.group.is_empty() { String::new() } else { format!("{}.", spec.group) };
        let name = format!("{group}{}.{}.{}.{}", spec.version, spec.kind, self.workload.namespace, self.workload.name);
        // The API serves no such names; the file must still not be in another folder.
        name.replace(['/', '\\', '\0'], "-")
    }
}

pub fn build(live: &Workload, desired: &Value) -> WorkloadDiff {
    let kind = live.reference.kind;
    let (before, after) = clean::both(kind, &live.object, desired);
    let marks = mark::of(&plan(live, desired), kind);
    WorkloadDiff { workload: live.reference.clone(), before, after, marks }
}

/// Shows a manifest whose workload is not in the cluster: all of it is new.
pub fn added(workload: &WorkloadRef, manifest: &Value) -> WorkloadDiff {
    let marks = vec![Mark { path: "apiVersion".to_owned(), effect: Effect::New }];
    WorkloadDiff { workload: workload.clone(), before: Value::Null, after: clean::as_written(manifest), marks }
}

/// Returns the live object with other images in its template, or in itself where it is a pod.
pub fn with_images(live: &Workload, images: &Images) -> Result<Value, Vec<Reason>> {
    let mut object = live.object.clone();
    let spec = format!("{}/spec", live.reference.kind.template_pointer());
    match object.pointer_mut(&spec) {
        Some(spec) => new_images::put(spec, images)?,
        None => new_images::put(&mut Value::Null, images)?,
    }
    Ok(object)
}

/// The plan of a workload without its pods: of the template alone, or of the one pod that it is.
fn plan(live: &Workload, desired: &Value) -> WorkloadPlan {
    let kind = live.reference.kind;
    let itself = Pod::from_object(&live.object).ok().filter(|_| !kind.has_template());
    let workload = Workload { object: clean::as_stored(kind, &live.object), ..live.clone() };
    let live = assemble(workload, Objects { pods: itself.into_iter().collect(), ..Objects::default() });
    let mut plan = of_manifest(&clean::as_stored(kind, desired), &live, &Options::default());
    // No revision was read: what its controller has observed is not in question here.
    plan.reasons.retain(|reason| *reason != Reason::OwnerNotObserved);
    plan
}
