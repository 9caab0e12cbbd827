//! The four values that can be changed in a running pod, of a container or of the pod as a whole.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::ValueChange;
use crate::k8s::pod::{PastResize, Resources};
use crate::value::quantity::Quantity;

/// One of the four values that can be changed in a running pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResourceField {
    #[serde(rename = "requests.cpu")]
    RequestsCpu,
    #[serde(rename = "requests.memory")]
    RequestsMemory,
    #[serde(rename = "limits.cpu")]
    LimitsCpu,
    #[serde(rename = "limits.memory")]
    LimitsMemory,
}

impl ResourceField {
    pub const ALL: [Self; 4] = [Self::RequestsCpu, Self::RequestsMemory, Self::LimitsCpu, Self::LimitsMemory];

    pub(super) const PAIRS: [(Self, Self); 2] =
        [(Self::RequestsCpu, Self::LimitsCpu), (Self::RequestsMemory, Self::LimitsMemory)];

    /// Returns `requests` or `limits`, and the resource's name.
    pub fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::RequestsCpu => ("requests", "cpu"),
            Self::RequestsMemory => ("requests", "memory"),
            Self::LimitsCpu => ("limits", "cpu"),
            Self::LimitsMemory => ("limits", "memory"),
        }
    }

    /// Returns what the template says and what its pods have in place of it, raw. What the template does not say counts where a
    /// resize has set it: the rest came with the pod, from a LimitRange or a webhook.
    pub(super) fn drift(
        self,
        template: &Value,
        present: Option<&String>,
        resized: Option<&PastResize>,
    ) -> Option<ValueChange> {
        let from = self.of_value(template).map(Quantity::of).transpose().ok()?.map(|wanted| wanted.to_string());
        // A request that a template does not name is its limit (`SetDefaults_Pod`).
        let limit = self.limit().and_then(|limit| limit.text_of(template));
        if from.is_none() && limit.is_some() && is_same(present, limit.as_ref()) {
            return None;
        }
        let counts = from.is_some() || resized.is_some_and(|resized| resized.values.contains(&self.to_string()));
        let is_other = counts && !is_same(present, from.as_ref());
        is_other.then(|| ValueChange { from, to: present.cloned() })
    }

    /// Sets the value of a container or a pod's spec, raw as the API has it; `None` where it has no place there.
    pub(in crate::change) fn set(self, holder: &mut Value, to: Option<&str>) -> Option<()> {
        let (map, resource) = self.parts();
        let nothing = || Value::Object(serde_json::Map::new());
        let resources = holder.as_object_mut()?.entry("resources").or_insert_with(nothing).as_object_mut()?;
        match to {
            Some(to) => {
                resources.entry(map).or_insert_with(nothing).as_object_mut()?.insert(resource.to_owned(), to.into());
            }
            None => {
                if let Some(values) = resources.get_mut(map).and_then(Value::as_object_mut) {
                    values.shift_remove(resource);
                    if values.is_empty() {
                        resources.shift_remove(map);
                    }
                }
            }
        }
        Some(())
    }

    pub fn of(self, resources: &Resources) -> Option<&String> {
        let (map, resource) = self.parts();
        resources.map(map).get(resource)
    }

    pub(super) fn of_value(self, holder: &Value) -> Option<&Value> {
        let (map, resource) = self.parts();
        holder.get("resources")?.get(map)?.get(resource).filter(|value| !value.is_null())
    }

    /// The same as the API writes it.
    pub(super) fn text_of(self, holder: &Value) -> Option<String> {
        Some(Quantity::of(self.of_value(holder)?).ok()?.to_string())
    }

    /// Whether a value is of memory, and no whole number of bytes.
    pub(super) fn has_part_of_a_byte(self, value: &String) -> bool {
        self.parts().1 == "memory" && Quantity::amount(Some(value)).is_some_and(|value| value % 1000 != 0)
    }

    /// Returns how many bytes of memory a value is, if they are so few that its unit may be missing: below 1 MiB nothing runs.
    pub(super) fn tiny_bytes(self, value: &String) -> Option<u64> {
        let thousandths = Quantity::amount(Some(value))?;
        let is_tiny = self.parts().1 == "memory" && (1000..1000 << 20).contains(&thousandths);
        u64::try_from(thousandths / 1000).ok().filter(|_| is_tiny)
    }

    fn limit(self) -> Option<Self> {
        Self::PAIRS.into_iter().find(|(request, _)| *request == self).map(|(_, limit)| limit)
    }

    pub(super) fn request(self) -> Option<Self> {
        Self::PAIRS.into_iter().find(|(_, limit)| *limit == self).map(|(request, _)| request)
    }

    pub(super) fn is_limit(self) -> bool {
        self.request().is_some()
    }

    /// Whether pods keep what they have: a limit that goes out of the template they cannot lose, and a request cannot be above
    /// it (`ValidatePodResize`).
    pub(super) fn stays<'v>(self, value: &ValueChange, of: impl Fn(Self) -> Option<&'v ValueChange>) -> bool {
        let limit = self.limit().and_then(of).filter(|limit| limit.to.is_none());
        value.to.is_none() || limit.is_some_and(|limit| is_above(value.to.as_ref(), limit.from.as_ref()))
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

    /// Whether a value, in thousandths, is below the smallest that the kernel distinguishes, so that the kubelet reports another
    /// one (`MinShares`, `MinMilliCPULimit` in pkg/kubelet/cm/helpers_linux.go).
    pub(super) fn is_too_small(self, value: i128) -> bool {
        match self {
            Self::RequestsCpu => value < 2,
            Self::LimitsCpu => value < 10,
            Self::RequestsMemory | Self::LimitsMemory => false,
        }
    }
}

impl fmt::Display for ResourceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (map, resource) = self.parts();
        write!(f, "{map}.{resource}")
    }
}

/// Returns whether two quantities are the same by value; a text that is no quantity is compared literally.
pub(super) fn is_same(a: Option<&String>, b: Option<&String>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (a.parse::<Quantity>(), b.parse::<Quantity>()) {
            (Ok(a), Ok(b)) => a == b,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => a == b,
        },
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns whether both are quantities, and the first is more.
pub(super) fn is_above(a: Option<&String>, b: Option<&String>) -> bool {
    let read = |text: Option<&String>| text?.parse::<Quantity>().ok();
    read(a).zip(read(b)).is_some_and(|(a, b)| a > b)
}
