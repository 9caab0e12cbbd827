//! The four values of a container that can be changed while it runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::{ValueChange, is_plain};
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, PastResize, Resources};
use crate::value::quantity::Quantity;

/// One of the four values of a container that can be changed in a running pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResourceField {
    /// `requests.cpu`.
    #[serde(rename = "requests.cpu")]
    RequestsCpu,
    /// `requests.memory`.
    #[serde(rename = "requests.memory")]
    RequestsMemory,
    /// `limits.cpu`.
    #[serde(rename = "limits.cpu")]
    LimitsCpu,
    /// `limits.memory`.
    #[serde(rename = "limits.memory")]
    LimitsMemory,
}

impl ResourceField {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::RequestsCpu, Self::RequestsMemory, Self::LimitsCpu, Self::LimitsMemory];

    /// Returns `requests` or `limits`, and the resource's name.
    pub fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::RequestsCpu => ("requests", "cpu"),
            Self::RequestsMemory => ("requests", "memory"),
            Self::LimitsCpu => ("limits", "cpu"),
            Self::LimitsMemory => ("limits", "memory"),
        }
    }

    /// Whether a resize has set it.
    fn is_in(self, resized: &PastResize) -> bool {
        let (map, resource) = self.parts();
        resized.values.contains(&format!("{map}.{resource}"))
    }

    /// Returns what the template says and what its pods have in place of it, raw. What the template does not say counts where a
    /// resize has set it: the rest came with the pod, from a LimitRange or a webhook.
    pub(in crate::change) fn drift(
        self,
        template: &Value,
        present: Option<&String>,
        resized: Option<&PastResize>,
    ) -> Option<ValueChange> {
        let from = match self.of_value(template).map(Quantity::of) {
            Some(Ok(wanted)) => Some(wanted.to_string()),
            Some(Err(_)) => return None,
            None => None,
        };
        // A request that a template does not name is its limit (`SetDefaults_Pod`).
        let (map, resource) = self.parts();
        let limit = template.pointer(&format!("/resources/limits/{resource}")).map(Quantity::of);
        let limit = limit.and_then(Result::ok).map(|limit| limit.to_string()).filter(|_| map == "requests");
        if from.is_none() && limit.is_some() && is_same(present, limit.as_ref()) {
            return None;
        }
        let counts = from.is_some() || resized.is_some_and(|resized| self.is_in(resized));
        let is_other = counts && !is_same(present, from.as_ref());
        is_other.then(|| ValueChange { from, to: present.cloned() })
    }

    /// Sets the value of a container, raw as the API has it; `None` where it has no place there.
    pub fn set(self, container: &mut Value, to: Option<&str>) -> Option<()> {
        let (map, resource) = self.parts();
        let nothing = || Value::Object(serde_json::Map::new());
        let resources = container.as_object_mut()?.entry("resources").or_insert_with(nothing).as_object_mut()?;
        match to {
            Some(to) => {
                resources.entry(map).or_insert_with(nothing).as_object_mut()?.insert(resource.to_owned(), to.into());
            }
            None => {
                if let Some(values) = resources.get_mut(map).and_then(Value::as_object_mut) {
                    values.remove(resource);
                    if values.is_empty() {
                        resources.remove(map);
                    }
                }
            }
        }
        Some(())
    }

    /// Returns the value among those of a container.
    pub fn of(self, resources: &Resources) -> Option<&String> {
        let (map, resource) = self.parts();
        resources.map(map).get(resource)
    }

    pub(in crate::change) fn of_value(self, container: &Value) -> Option<&Value> {
        let (map, resource) = self.parts();
        container.get("resources")?.get(map)?.get(resource).filter(|value| !value.is_null())
    }

    /// Whether a value is of memory, and no whole number of bytes: the kubelet rounds it up, and never reports it as
    /// done.
    pub(super) fn has_part_of_a_byte(self, value: &str) -> bool {
        let thousandths = || value.parse::<Quantity>().ok()?.thousandths();
        self.parts().1 == "memory" && thousandths().is_some_and(|value| value % 1000 != 0)
    }

    /// Returns how many bytes of memory a value is, if they are so few that its unit may be missing: below 1 MiB nothing runs.
    pub(super) fn tiny_bytes(self, value: &str) -> Option<u64> {
        let thousandths = value.parse::<Quantity>().ok()?.thousandths()?;
        let is_tiny = self.parts().1 == "memory" && (1000..1000 << 20).contains(&thousandths);
        u64::try_from(thousandths / 1000).ok().filter(|_| is_tiny)
    }

    /// The limit of a request.
    fn limit(self) -> Option<Self> {
        match self {
            Self::RequestsCpu => Some(Self::LimitsCpu),
            Self::RequestsMemory => Some(Self::LimitsMemory),
            Self::LimitsCpu | Self::LimitsMemory => None,
        }
    }

    /// Whether pods keep what they have: a limit that goes out of the template they cannot lose, and a request cannot be above
    /// it (`ValidatePodResize`).
    pub(in crate::change) fn stays<'v>(
        self,
        value: &ValueChange,
        of: impl Fn(Self) -> Option<&'v ValueChange>,
    ) -> bool {
        let quantity = |text: &Option<String>| text.as_ref()?.parse::<Quantity>().ok();
        let limit = self.limit().and_then(of).filter(|limit| limit.to.is_none());
        let is_above = |limit: &ValueChange| {
            quantity(&value.to).zip(quantity(&limit.from)).is_some_and(|(request, limit)| request > limit)
        };
        value.to.is_none() || limit.is_some_and(is_above)
    }

    fn is_limit(self) -> bool {
        self.parts().0 == "limits"
    }

    /// Whether the kubelet finds no other limit: a container without one of its own has the pod's (`GetLimits` in
    /// pkg/kubelet/util). Each side is a container and the spec of its pod.
    pub(super) fn is_the_same_limit(self, before: (&Value, &Value), after: (&Value, &Value)) -> bool {
        let of = |(container, spec)| {
            let value = self.of_value(container).or_else(|| self.of_value(spec))?;
            Quantity::of(value).ok()
        };
        self.is_limit() && of(before).is_some() && of(before) == of(after)
    }

    /// The smallest value that the kernel distinguishes: below it the kubelet reports another one (`MinShares`,
    /// `MinMilliCPULimit` in pkg/kubelet/cm/helpers_linux.go).
    pub(in crate::change) fn least_reported(self) -> Option<&'static str> {
        match self {
            Self::RequestsCpu => Some("2m"),
            Self::LimitsCpu => Some("10m"),
            Self::RequestsMemory | Self::LimitsMemory => None,
        }
    }
}

/// The values of one container that change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerResources {
    /// The container's list in the pod spec.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub list: ContainerList,
    /// It is an init container that has done its work, and what it asks for counts only when the pod is next made: server or
    /// kubelets are too old to resize it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_plain_init: bool,
    /// Before and after, as the API writes quantities.
    pub values: BTreeMap<ResourceField, ValueChange>,
    /// Requests that the template does not have: the API server gives a pod that is created from it those of its limits
    /// (`SetDefaults_Pod`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implied: BTreeMap<ResourceField, ValueChange>,
    /// Those whose change restarts the container: its `resizePolicy` says so. One that has done its work does not run again;
    /// with such a policy for either resource it is not resized at all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub restarting: BTreeSet<ResourceField>,
}

impl ContainerResources {
    pub(super) fn new(list: ContainerList) -> Self {
        Self {
            list,
            is_plain_init: false,
            values: BTreeMap::new(),
            implied: BTreeMap::new(),
            restarting: BTreeSet::new(),
        }
    }

    /// All of it.
    pub(super) fn all(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> + Clone {
        self.values.iter().chain(&self.implied).map(|(field, value)| (*field, value))
    }

    /// What pods get of it.
    pub(super) fn in_pods(&self) -> impl Iterator<Item = (ResourceField, &ValueChange)> + Clone {
        self.all().filter(|(field, value)| !self.stays(*field, value))
    }

    /// As [`ResourceField::stays`].
    pub(super) fn stays(&self, field: ResourceField, value: &ValueChange) -> bool {
        field.stays(value, |limit| self.values.get(&limit))
    }
}

/// One value of a container that runs.
#[derive(Clone, Copy)]
pub(super) struct InPod<'a> {
    pub(super) list: ContainerList,
    pub(super) container: &'a Container,
    pub(super) status: Option<&'a ContainerStatus>,
    /// What the pod as a whole asks for.
    pub(super) whole: Option<&'a Resources>,
    pub(super) field: ResourceField,
    pub(super) change: &'a ValueChange,
}

impl<'a> InPod<'a> {
    /// What the pod asks for now.
    pub(super) fn present(&self) -> Option<&'a String> {
        self.field.of(&self.container.resources)
    }

    pub(super) fn is_asked(&self) -> bool {
        is_same(self.present(), self.change.to.as_ref())
    }

    /// The limit that it has: its own, or the pod's.
    fn limit_in_force(&self) -> Option<&'a String> {
        let limit = || self.present().or_else(|| self.field.of(self.whole?));
        if self.field.is_limit() { limit() } else { None }
    }

    /// Whether the kubelet restarts the container for it: one that has not begun has nothing to restart, and one that has
    /// the limit from its pod gets no other one.
    pub(super) fn restarts(&self) -> bool {
        self.container.is_long_lived(self.list)
            && !self.status.is_some_and(ContainerStatus::has_not_begun)
            && !self.limit_in_force().is_some_and(|limit| is_same(Some(limit), self.change.to.as_ref()))
            && self.container.resize_policy.iter().any(|policy| policy.restarts(self.field.parts().1))
    }
}

/// Returns whether two quantities are the same by value; a text that is no quantity is compared literally.
pub(in crate::change) fn is_same(a: Option<&String>, b: Option<&String>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (a.parse::<Quantity>(), b.parse::<Quantity>()) {
            (Ok(a), Ok(b)) => a == b,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => a == b,
        },
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
