//! The patch that notes on a pod that another run has taken over: whatever the run before has on its way rests on the
//! record as it was, and is refused from then on, however late it comes. It stays until the pod's next update: there is no
//! time after which a request cannot arrive.

use serde_json::json;

use super::{Operations, PodPart, PodPatch, patch_of};
use crate::k8s::pod::Pod;
use crate::state::record::{TakenOver, UpdateRecord};

/// Writes the patch. It tests uid and the record as it was read, and changes nothing else; `None` when the pod says so
/// already.
pub fn taken_over_patch(pod: &Pod, by: &TakenOver, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::complete(pod).unwrap_or_else(|| UpdateRecord::of_no_update(pod, field_manager));
    if record.taken_over.as_ref() == Some(by) {
        return None;
    }
    let mut operations = Operations::default();
    operations.test(["metadata", "uid"], json!(pod.key.uid));
    operations.record(Some(&UpdateRecord { taken_over: Some(by.clone()), ..record }));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}
