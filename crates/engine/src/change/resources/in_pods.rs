//! Who has cpu and memory in a pod that runs, and what a pod has that is created from a template.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::values::is_same;
use super::{ResourceField, ValueChange};
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, Pod, PodSpec, ResourceHolder, Resources};
use crate::value::quantity::Quantity;

/// A holder in a pod that runs; a container and its status each with list and index.
#[derive(Clone, Copy)]
pub(super) struct HolderInPod<'a> {
    pub(super) pod: &'a Pod,
    pub(super) holder: &'a ResourceHolder,
    pub(super) container: Option<(ContainerList, usize, &'a Container)>,
    pub(super) status: Option<(ContainerList, usize, &'a ContainerStatus)>,
}

impl<'a> HolderInPod<'a> {
    /// `None` where the pod has no such container.
    pub(super) fn of(pod: &'a Pod, holder: &'a ResourceHolder) -> Option<Self> {
        let nobody = Self { pod, holder, container: None, status: None };
        let Some(name) = holder.container() else { return Some(nobody) };
        let container = Some(pod.container(name)?);
        Some(Self { container, status: pod.container_status(name), ..nobody })
    }

    pub(super) fn list(&self) -> ContainerList {
        self.container.map(|(list, ..)| list).unwrap_or_default()
    }

    pub(super) fn is_long_lived(&self) -> bool {
        self.container.is_none_or(|(list, _, container)| container.is_long_lived(list))
    }

    /// What it asks for now; the pod as a whole may ask for nothing.
    pub(super) fn resources(&self) -> Option<&'a Resources> {
        match self.container {
            Some((_, _, container)) => Some(&container.resources),
            None => self.pod.spec.resources.as_ref(),
        }
    }
}

/// One value of a holder that a running pod is to have.
#[derive(Clone, Copy)]
pub(super) struct ValueInPod<'a> {
    pub(super) held: HolderInPod<'a>,
    pub(super) field: ResourceField,
    pub(super) change: &'a ValueChange,
}

impl<'a> ValueInPod<'a> {
    pub(super) fn present(&self) -> Option<&'a String> {
        self.field.of(self.held.resources()?)
    }

    pub(super) fn is_asked(&self) -> bool {
        is_same(self.present(), self.change.to.as_ref())
    }

    /// Whether the kubelet restarts the container for it: one that has not begun has nothing to restart, and one that has the
    /// limit from its pod gets no other one.
    pub(super) fn restarts(&self) -> bool {
        let Some((_, _, container)) = self.held.container else { return false };
        let limit = || self.present().or_else(|| self.field.of(self.held.pod.spec.resources.as_ref()?));
        let has_it = self.field.is_limit() && limit().is_some_and(|has| is_same(Some(has), self.change.to.as_ref()));
        self.held.is_long_lived()
            && !self.held.status.is_some_and(|(_, _, status)| status.has_not_begun())
            && !has_it
            && container.resize_policy.iter().any(|policy| policy.restarts(self.field.parts().1))
    }
}

/// What the containers of a pod ask for together, as long as one of them asks for it (`AggregateContainerRequests` of
/// k8s.io/component-helpers/resource). One that has only a limit asks for that.
pub(super) fn together(spec: &PodSpec, field: ResourceField) -> Option<i128> {
    let (_, resource) = field.parts();
    let of = |container: &Container| {
        let limit = container.resources.limits.get(resource);
        Quantity::amount(field.of(&container.resources).or(limit))
    };
    spec.containers.iter().chain(&spec.init_containers).find_map(of)?;
    let of = |container: &Container| of(container).unwrap_or(0);
    let (mut sidecars, mut init) = (0, 0);
    for container in &spec.init_containers {
        let own = of(container);
        init = init.max(sidecars + own);
        sidecars += if container.is_sidecar() { own } else { 0 };
    }
    Some(init.max(spec.containers.iter().map(of).sum::<i128>() + sidecars))
}

/// The pod-level resources of a pod that is created from a template's spec; `None` where the spec cannot be read.
pub(super) fn as_in_pods(spec: &Value) -> Option<Resources> {
    let spec = PodSpec::deserialize(spec).ok()?;
    let mut resources = spec.resources.clone().unwrap_or_default();
    for map in Resources::MAPS {
        for text in resources.map_mut(map).values_mut() {
            *text = text.parse::<Quantity>().ok()?.to_string();
        }
    }
    if resources.limits.is_empty() {
        return Some(resources);
    }
    for (field, _) in ResourceField::PAIRS {
        let (_, resource) = field.parts();
        let of_containers =
            || Some(Quantity::of_thousandths(together(&spec, field)?, resource == "memory").to_string());
        let of_limit = || resources.limits.get(resource).cloned();
        if !resources.requests.contains_key(resource)
            && let Some(implied) = of_containers().or_else(of_limit)
        {
            resources.requests.insert(resource.to_owned(), implied);
        }
    }
    Some(resources)
}

/// A template's spec with what pods have as a whole, where the template says anything of that.
pub(in crate::change) fn filled_in(spec: &Value) -> Cow<'_, Value> {
    let is_there = spec.get("resources").is_some_and(|resources| !resources.is_null());
    let Some(resources) = is_there.then(|| as_in_pods(spec)).flatten() else { return Cow::Borrowed(spec) };
    let mut filled = spec.clone();
    if let Some(fields) = filled.as_object_mut() {
        fields.insert("resources".into(), json!(resources));
    }
    Cow::Owned(filled)
}
