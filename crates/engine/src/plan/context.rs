//! What every part of a plan is made from.

use super::known::Known;
use super::revision::CurrentRevision;
use super::wanted::Wanted;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::plan::live::{LiveWorkload, Subset};

/// What every part of a plan is made from.
pub(super) struct Context<'a> {
    pub(super) live: &'a LiveWorkload,
    pub(super) known: &'a Known,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) revision: CurrentRevision<'a>,
    /// The owner's template is changed too.
    pub(super) durable: bool,
    pub(super) subset: &'a Subset,
    /// Pods are drained first, where they can be.
    pub(super) drains: bool,
    /// The kubelets' versions are shown: that they could not be read is said, whatever it means for the pods.
    pub(super) shows_kubelets: bool,
    /// Containers that change one after the other.
    pub(super) order: &'a [ContainerName],
}

impl Context<'_> {
    /// Returns whether a pod is among those that the user chose.
    pub(super) fn is_chosen(&self, pod: &Pod) -> bool {
        let subset = self.subset;
        let ordinal = || pod.key.name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse::<u32>().ok());
        (subset.pods.is_empty() || subset.pods.contains(&pod.key.name))
            && subset.node.as_ref().is_none_or(|node| *node == pod.spec.node_name)
            && subset.partition.is_none_or(|lowest| ordinal().is_none_or(|ordinal| ordinal >= lowest))
    }
}
