//! What owns the pods: one view over every kind.

use std::cmp::Ordering;

use serde_json::Value;

use crate::k8s::metadata;
use crate::k8s::names::{Uid, WorkloadRef};
use crate::k8s::pod::Pod;
use crate::kinds::{PodOrder, WorkloadKind};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::{integer, text};
use crate::value::selector;

#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub reference: WorkloadRef,
    pub uid: Uid,
    pub object: Value,
}

impl Workload {
    /// Reads a workload from the object.
    ///
    /// Returns `None` when the object has no name or uid, which the API never serves.
    pub fn from_object(kind: WorkloadKind, object: Value) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let reference = WorkloadRef {
            kind,
            namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
            name: text("/metadata/name")?.to_owned(),
        };
        let uid = Uid::from(text("/metadata/uid")?);
        Some(Self { reference, uid, object })
    }

    pub fn template(&self) -> &Value {
        self.object.pointer(self.reference.kind.template_pointer()).unwrap_or(&Value::Null)
    }

    pub fn desired_replicas(&self) -> u32 {
        self.reference.kind.replicas().of(&self.object)
    }

    pub fn min_ready_seconds(&self) -> u32 {
        u32::try_from(integer(&self.object, "/spec/minReadySeconds")).unwrap_or(0)
    }

    /// Returns whether the owner's controller has seen the owner's present spec.
    pub fn is_observed(&self) -> bool {
        !self.reference.kind.has_template() || metadata::is_observed(&self.object)
    }

    /// Returns how many pods the owner lets be down at once; `None` where its spec does not say: one at a time.
    pub fn max_unavailable(&self) -> Option<IntOrPercent> {
        (self.reference.kind.spec().max_unavailable?.value)(&self.object)
    }

    /// Returns whether the owner's controller is replacing pods now, and in which words of its status that shows.
    pub fn rolling_out(&self) -> Option<String> {
        (self.reference.kind.spec().rolling_out)(&self.object)
    }

    pub fn is_ordered_ready(&self) -> bool {
        (self.reference.kind.spec().is_ordered_ready)(&self.object)
    }

    /// Orders two pods as the owner's controller would take them in a rolling update.
    pub fn order(&self, a: &Pod, b: &Pod) -> Ordering {
        let by_name = || a.key.name.cmp(&b.key.name);
        match self.reference.kind.spec().order {
            PodOrder::Name => by_name(),
            PodOrder::OrdinalDescending => ordinal(&b.key.name).cmp(&ordinal(&a.key.name)).then_with(by_name),
            PodOrder::Node => a.spec.node_name.cmp(&b.spec.node_name).then_with(by_name),
        }
    }

    /// Returns the label selector of the owner's pods in the form that list requests take; `None` for a pod.
    pub fn selector(&self) -> Option<String> {
        self.object.pointer(self.reference.kind.selector_pointer()?).map(selector::query)
    }

    pub fn controller_uid(&self) -> Option<Uid> {
        self.controller().map(|(_, _, uid)| uid)
    }

    pub fn controller(&self) -> Option<(String, String, Uid)> {
        let owner = controller_of(&self.object)?;
        Some((text(owner, "/kind").to_owned(), text(owner, "/name").to_owned(), text(owner, "/uid").into()))
    }
}

pub fn controller_of(object: &Value) -> Option<&Value> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    owners.iter().find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))
}

fn ordinal(pod: &str) -> Option<u64> {
    pod.rsplit_once('-')?.1.parse().ok()
}
