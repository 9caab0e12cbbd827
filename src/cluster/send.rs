//! Patches of pods, and what their answers mean.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Cluster;
use super::error::{ClusterError, Result};
use super::objects::PatchKind;
use crate::process;
use engine::k8s::container_hash::as_go_escapes;
use engine::k8s::names::PodKey;
use engine::k8s::pod::{Pod, PodSpec, PodStatus};
use engine::kinds::PODS;
use engine::rollout::Answer;
use engine::rollout::patch::{PodPart, PodPatch};
use engine::rollout::pre_pull::{is_left_behind, process_of};
use engine::state::durable::lease::ProcessState;
use engine::state::durable::{ObjectKind, ObjectWrite};

/// Writes a JSON patch with the strings spelled as Go's `encoding/json` spells those of the objects that the server holds:
/// the `test` of evanphx/json-patch (`lazyNode.equal`) compares their bytes, and there `<` is `\u003c`.
fn json_patch(operations: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_string(operations).map_err(|error| ClusterError::NotSent { why: error.to_string() })?;
    Ok(as_go_escapes(&text).into_bytes())
}

impl Cluster {
    /// Sends a patch once. A dry run goes all the way but is not stored.
    ///
    /// # Errors
    /// The server's error, or that of the way to it; [`ClusterError::may_have_been_done`] says whether it may be
    /// stored.
    pub async fn send(&self, patch: &PodPatch, dry_run: bool) -> Result<Pod> {
        let body = json_patch(&patch.operations)?;
        let mut parameters = vec![("fieldManager", patch.field_manager.as_str())];
        if dry_run {
            parameters.push(("dryRun", "All"));
        }
        let part = match patch.part {
            PodPart::Pod => None,
            PodPart::Status => Some("status"),
            PodPart::Resize => Some("resize"),
        };
        let place = (patch.key.namespace.as_str(), patch.key.name.as_str(), part);
        read_pod(&self.patch(PODS.into(), place, (PatchKind::Json, body), &parameters).await?)
    }

    /// Sends a write to an owner, or to what belongs to it, once.
    ///
    /// # Errors
    /// The server's error, or that of the way to it; [`ClusterError::may_have_been_done`] says whether it may be
    /// stored. For a delete, an object that is gone already is no error.
    pub async fn write(&self, write: &ObjectWrite, field_manager: &str) -> Result<()> {
        self.write_with(write, &[("fieldManager", field_manager)]).await
    }

    /// Asks whether the server would take a write; nothing is stored. A delete is not asked about.
    pub async fn dry_write(&self, write: &ObjectWrite, field_manager: &str) -> Result<()> {
        match write {
            ObjectWrite::Patch { .. } | ObjectWrite::Create { .. } => {
                self.write_with(write, &[("fieldManager", field_manager), ("dryRun", "All")]).await
            }
            ObjectWrite::Delete { .. } => Ok(()),
        }
    }

    async fn write_with(&self, write: &ObjectWrite, parameters: &[(&str, &str)]) -> Result<()> {
        match write {
            ObjectWrite::Patch { object, operations } => {
                let body = (PatchKind::Json, json_patch(operations)?);
                self.patch(object.kind.into(), (&object.namespace, &object.name, None), body, parameters)
                    .await
                    .map(drop)
            }
            ObjectWrite::Create { kind, namespace, object } => {
                self.create((*kind).into(), Some(namespace), object, parameters).await.map(drop)
            }
            ObjectWrite::Delete { object, version } => {
                let unless_changed = (object.uid.as_str(), version.as_deref());
                match self.delete(object.kind.into(), &object.namespace, &object.name, unless_changed).await {
                    Err(ClusterError::NotFound { .. }) => Ok(()),
                    answer => answer,
                }
            }
        }
    }

    /// Reads what this program has made, whole: pods that pull images, or requests to kruise-daemon. Those of this process
    /// and those that were left behind; and the number of the others, whose runs may be active.
    pub async fn left_or_own(&self, kind: ObjectKind, namespace: &str, selector: &str) -> Result<(Vec<Value>, usize)> {
        let found: Vec<Value> = self.list(kind.into(), Some(namespace), &[("labelSelector", selector)]).await?;
        let (this, now) = (process::this(), self.now());
        let is_free =
            |object: &Value| process_of(object).as_ref() == Some(&this) || is_orphaned(object, now.as_deref());
        let (free, others): (Vec<Value>, Vec<Value>) = found.into_iter().partition(is_free);
        Ok((free, others.len()))
    }

    pub async fn read_pod(&self, key: &PodKey) -> Result<Option<Pod>> {
        let found = self.get_if_there(PODS.into(), Some(&key.namespace), &key.name).await?;
        found.map(|pod| read_pod(&pod)).transpose()
    }
}

/// Returns whether the run that made an object is known to wait for it no more. `now` is the server's time of the read.
pub(super) fn is_orphaned(object: &Value, now: Option<&str>) -> bool {
    let state = process_of(object).as_ref().map_or(ProcessState::NotKnown, process::state);
    is_left_behind(object, state, now)
}

/// A pod as lists carry it: what is not read is dropped while the answer is parsed, so that thousands stay small.
pub(super) struct ListedPod(pub(super) Pod);

impl<'de> Deserialize<'de> for ListedPod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Value,
            #[serde(default)]
            spec: PodSpec,
            #[serde(default)]
            status: PodStatus,
        }
        let object = Object::deserialize(deserializer)?;
        Pod::from_parts(object.metadata, object.spec, object.status).map(Self).map_err(serde::de::Error::custom)
    }
}

pub(super) fn read_pod(pod: &Value) -> Result<Pod> {
    Pod::from_object(pod).map_err(|error| ClusterError::Unreadable { request: "pods".into(), why: error.to_string() })
}

pub fn answer(error: &ClusterError) -> Answer {
    let message = error.to_string();
    match error {
        // An object of that name exists: this create may have arrived twice, or somebody else's came before.
        ClusterError::AlreadyExists { .. }
        | ClusterError::Invalid { is_bare_test_failure: true, .. }
        | ClusterError::Conflict { .. }
        | ClusterError::NotFound { .. } => Answer::Conflict { message },
        ClusterError::Throttled { retry_after } => Answer::NotDone { after: *retry_after, message },
        // A caller that gets new credentials a moment later is let in; one without runs out of time.
        ClusterError::Unreachable { .. } | ClusterError::Unauthorized | ClusterError::CredentialPlugin { .. } => {
            Answer::NotDone { after: None, message }
        }
        ClusterError::Forbidden { .. } => Answer::Refused { reason: "PermissionMissing".into(), message },
        ClusterError::AdmissionDenied { .. } => Answer::Refused { reason: "AdmissionRefused".into(), message },
        ClusterError::ConnectionLost { .. }
        | ClusterError::TimedOut { .. }
        | ClusterError::ServerFailed { .. }
        | ClusterError::Unreadable { .. }
        | ClusterError::UnknownResource { .. }
        | ClusterError::Gone { .. }
        | ClusterError::Invalid { .. }
        | ClusterError::Rejected { .. }
        | ClusterError::NotSent { .. }
        | ClusterError::Kubeconfig { .. } => match error.may_have_been_done() {
            true => Answer::Unknown { message },
            false => Answer::Refused { reason: error.reason().unwrap_or("NotSent").to_owned(), message },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_that_came_twice_is_looked_at_and_not_refused() {
        let error = ClusterError::AlreadyExists { resource: "replicasets.apps".into(), name: "web-x".into() };
        assert!(matches!(answer(&error), Answer::Conflict { .. }));
    }

    /// Credentials expire in the middle of a rollout, and the next request has new ones.
    #[test]
    fn a_write_that_was_not_let_in_is_sent_again() {
        assert!(matches!(answer(&ClusterError::Unauthorized), Answer::NotDone { after: None, .. }));
    }
}
