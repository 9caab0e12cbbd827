//! The two maps of an object's metadata: whose a key is, and who reads it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::k8s::pod::{Container, Pod};
use crate::kinds;

/// The annotation that `kubectl rollout restart` sets (kubectl `polymorphichelpers/objectrestarter.go`).
pub const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// The annotation in which client-side apply keeps the manifest.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The label of the tool that manages an object.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

pub const ROLLOUT_ANNOTATION: &str = "kubectl-inplace.io/rollout";

pub fn is_terminating(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// Returns whether an object's controller has seen its present spec.
pub fn is_observed(object: &Value) -> bool {
    // A Rollout of Argo's has it as text.
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let generation = |pointer: &str| object.pointer(pointer).and_then(number).unwrap_or(0);
    generation("/status/observedGeneration") >= generation("/metadata/generation")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetadataMap {
    Labels,
    Annotations,
}

impl MetadataMap {
    pub const ALL: [Self; 2] = [Self::Labels, Self::Annotations];

    pub fn field(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }

    /// Returns the path of a key, such as `metadata.labels[app.kubernetes.io/name]`.
    pub fn path(self, key: &str) -> String {
        crate::value::json_path::join(&format!("metadata.{}", self.field()), key)
    }

    pub fn of(self, pod: &Pod) -> &BTreeMap<String, String> {
        match self {
            Self::Labels => &pod.labels,
            Self::Annotations => &pod.annotations,
        }
    }

    /// Returns whether a container has the key's value in its environment: it reads it when it is created.
    pub fn is_read_by(self, key: &str, container: &Container) -> bool {
        let path = format!("metadata.{}['{key}']", self.field());
        container.env.iter().any(|variable| variable.field_path() == Some(path.as_str()))
    }

    /// Returns whether a key belongs to a controller or is fixed in a pod.
    ///
    /// The labels are those of kube-controller-manager (`apps/v1` constants); the API server refuses changed annotations of
    /// AppArmor's beta and of mirror pods (`ValidatePodUpdate`), and the kubelet writes the other `kubernetes.io/config.*`.
    pub fn is_reserved(self, key: &str) -> bool {
        match self {
            Self::Labels => kinds::is_controllers_label(key),
            Self::Annotations => {
                key.starts_with("container.apparmor.security.beta.kubernetes.io/")
                    || key.starts_with("kubernetes.io/config.")
                    || kinds::has_controllers_prefix(key)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_controllers_are_known() {
        for (map, key, reserved) in [
            (MetadataMap::Labels, "pod-template-hash", true),
            (MetadataMap::Labels, "statefulset.kubernetes.io/pod-name", true),
            (MetadataMap::Labels, "apps.kubernetes.io/pod-index", true),
            (MetadataMap::Labels, "app.kubernetes.io/name", false),
            (MetadataMap::Annotations, "container.apparmor.security.beta.kubernetes.io/app", true),
            (MetadataMap::Annotations, "kubernetes.io/config.mirror", true),
            (MetadataMap::Annotations, "pod-template-hash", false),
            (MetadataMap::Annotations, "prometheus.io/scrape", false),
        ] {
            assert_eq!(map.is_reserved(key), reserved, "{key}");
        }
    }
}
