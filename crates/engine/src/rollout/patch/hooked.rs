//! The patch that notes that the user's `--after-pod` command has run: until then the pod's record says that it is
//! owed, so that a run that goes on with the rollout, on any machine that has the command, runs it.

use serde_json::json;

use super::{Operations, PodPart, PodPatch, patch_of};
use crate::k8s::pod::Pod;
use crate::state::record::UpdateRecord;

/// Writes the patch. It tests uid and the record as it was read; `None` when nothing is owed.
pub fn after_pod_patch(pod: &Pod, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::complete(pod).filter(|record| record.owes_after_pod)?;
    let record = UpdateRecord { owes_after_pod: false, ..record };
    let mut operations = Operations::default();
    operations.test(["metadata", "uid"], json!(pod.key.uid));
    operations.record(Some(&record));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}
