//! A container that the kubelet does not start again by itself: what may come of an update, and what has come of one.

use serde::{Deserialize, Serialize};

use super::Reason;
use crate::k8s::names::{ContainerName, PodKey, WorkloadRef};
use crate::k8s::pod::{ContainerList, RestartPolicy};
use crate::value::hint::{Hint, kubectl};

/// Why a container is not started again, or might not be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotStartedAgain {
    /// The container whose own policy decides; `None` where the pod's does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Own>,
    /// As it follows `restartPolicy`.
    pub policy: String,
    /// It is started again after no exit code.
    pub is_never: bool,
    /// It has ended already; `None` where that is what a start which fails may come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// A container with a policy of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Own {
    pub list: ContainerList,
    pub container: ContainerName,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    pub pod: PodKey,
    pub container: ContainerName,
    pub exit_code: i64,
}

impl NotStartedAgain {
    /// Returns it of a container that is started again after no exit code, or not after each.
    pub fn of(policy: RestartPolicy<'_>, ended: Option<Ended>) -> Self {
        let own = policy.container().map(|(list, container)| Own { list, container });
        Self { own, policy: policy.to_string(), is_never: policy.is_never(), ended }
    }

    pub(super) fn path(&self) -> String {
        match &self.own {
            Some(Own { list, container }) => format!("spec.{}[{container}].restartPolicy", list.spec_field()),
            None => "spec.restartPolicy".into(),
        }
    }

    pub(super) fn sentence(&self) -> String {
        let Self { policy, .. } = self;
        if let Some(Ended { container, exit_code, .. }) = &self.ended {
            return format!(
                "container {container} has ended (exit code {exit_code}); restartPolicy {policy}: the kubelet does not start it again, whatever its image"
            );
        }
        let whose = match &self.own {
            Some(Own { container, .. }) => format!("container {container} has restartPolicy {policy}"),
            None => format!("restartPolicy is {policy}"),
        };
        let tries = if self.is_never { "does not try again" } else { "might not try again" };
        format!("{whose}: if the new image does not start, the kubelet {tries}")
    }

    /// Only another pod helps.
    pub(super) fn hint(&self, workload: &WorkloadRef) -> Hint {
        match self.ended.as_ref().filter(|_| workload.kind.has_template()) {
            Some(Ended { pod, .. }) => {
                let delete = kubectl("delete pod").of(&pod.name).in_namespace(&pod.namespace);
                Hint::from("replace the pod: its controller creates another from the template, so roll an unfinished rollout back first: ").command(delete)
            }
            None => "re-create the pod instead".into(),
        }
    }
}

impl From<NotStartedAgain> for Reason {
    fn from(why: NotStartedAgain) -> Self {
        Self::RestartPolicyNotAlways(Box::new(why))
    }
}
