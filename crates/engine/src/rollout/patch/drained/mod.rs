//! The patches of a drain: remove and restore a label or a readiness gate. The record is changed with them.
//!
//! A label and its record change in one patch. A gate is a condition in the pod's status, which is another request: the
//! record is written first and cleared last, so that whenever the gate is off the record says so. In between the pod's
//! record says what was removed, and the patch of the images keeps it. So any later run finds it, on any machine.

use serde_json::{Value, json};

use super::{Operations, PodPart, PodPatch, patch_of};
use crate::k8s::metadata::MetadataMap;
use crate::k8s::pod::{Condition, Pod};
use crate::rollout::drain::{GATE_MESSAGE, GATE_REASON, GateState};
use crate::state::record::{Drained, DrainedGate, UPDATE_ANNOTATION, UpdateRecord};

/// Writes the patch that begins a drain: it removes a label from a pod and records it, or records which gate is about
/// to be turned off. It tests uid, absent deletionTimestamp, the label's value or the gate's condition, and the record
/// as read.
///
/// `None` when the pod does not have exactly that label, or its gate is not on, or when something is removed already:
/// that has to be restored first. The record of an earlier update stays unchanged; a pod without one gets a record of
/// no rollout, so that nothing takes the drain for an update.
pub fn drain_patch(pod: &Pod, by: &Drained, field_manager: &str) -> Option<PodPatch> {
    let record = UpdateRecord::complete(pod);
    let is_drained = record.as_ref().is_some_and(|record| record.drained.is_some());
    if is_drained || !by.is_on(pod) {
        return None;
    }
    let mut record = record.unwrap_or_else(|| UpdateRecord::of_no_update(pod, field_manager));
    let mut operations = Operations::of(pod);
    operations.test(["metadata", "deletionTimestamp"], Value::Null);
    record.drained = Some(match by {
        Drained::Label(label) => {
            operations.set(MetadataMap::Labels, &label.key, None);
            by.clone()
        }
        Drained::Gate(planned) => {
            // As the gate is now, whatever the plan saw.
            let gate = DrainedGate::of(pod, &planned.gate)?;
            operations.condition_as_it_is(pod, &gate.gate);
            Drained::Gate(gate)
        }
    });
    operations.record(Some(&record));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// Writes the patch of the status that turns off the gate that the pod's record names. It tests uid, absent
/// deletionTimestamp, the record, and the condition as the record has it.
///
/// `None` when the record names no gate, or its condition is not `True` as recorded.
pub fn gate_off_patch(pod: &Pod, field_manager: &str) -> Option<PodPatch> {
    let Drained::Gate(gate) = UpdateRecord::drained(pod)? else { return None };
    if DrainedGate::of(pod, &gate.gate).as_ref() != Some(&gate) {
        return None;
    }
    let off = (("False", Some(GATE_REASON)), Some(GATE_MESSAGE));
    Some(condition_patch(pod, &gate, off, field_manager))
}

/// Writes the next patch that restores what the pod's record says was removed. It tests uid, what it changes, and the
/// record as it was read. A terminating pod accepts it as well: whoever reads its labels may need them right.
///
/// A label is restored and its record cleared in one patch. A gate is turned on first, by a patch of the status; once
/// it is on, the next call clears the record. `None` when nothing was removed. Where somebody has restored the label
/// already, or set the condition, with whatever value, theirs stays and only the record is cleared.
pub fn restore_patch(pod: &Pod, field_manager: &str) -> Option<PodPatch> {
    let mut record = UpdateRecord::complete(pod)?;
    let drained = record.drained.take()?;
    let mut operations = Operations::of(pod);
    match drained {
        Drained::Gate(gate) if gate.state(pod) == GateState::Off => {
            let on = (("True", gate.reason.as_deref()), gate.message.as_deref());
            return Some(condition_patch(pod, &gate, on, field_manager));
        }
        Drained::Gate(gate) => operations.condition_as_it_is(pod, &gate.gate),
        Drained::Label(label) if !pod.labels.contains_key(&label.key) => {
            operations.set(MetadataMap::Labels, &label.key, Some(label.value));
        }
        Drained::Label(_) => {}
    }
    operations.record(Some(&record).filter(|record| !record.is_empty()));
    Some(patch_of(pod, operations, PodPart::Pod, field_manager))
}

/// Sets status, reason and message of a gate's condition. Its times are kept: nothing reads those of a gate, and so
/// the condition is afterwards what it was before.
fn condition_patch(
    pod: &Pod,
    gate: &DrainedGate,
    ((status, reason), message): ((&str, Option<&str>), Option<&str>),
    field_manager: &str,
) -> PodPatch {
    let mut operations = Operations::of(pod);
    if status == "False" {
        operations.test(["metadata", "deletionTimestamp"], Value::Null);
    }
    // After the record was cleared meanwhile, nothing would say how to restore the gate.
    let record = pod.annotations.get(UPDATE_ANNOTATION);
    operations.test(["metadata", "annotations", UPDATE_ANNOTATION], json!(record));
    operations.condition_as_it_is(pod, &gate.gate);
    if let Some((index, condition)) = condition(pod, &gate.gate) {
        let path = |field| ["status", "conditions", index.as_str(), field];
        operations.replace(path("status"), json!(status));
        for (field, before, after) in [("reason", &condition.reason, reason), ("message", &condition.message, message)]
        {
            match after {
                Some(value) => operations.add(path(field), json!(value)),
                None if before.as_ref().is_some_and(|before| !before.is_empty()) => operations.remove(path(field)),
                None => {}
            }
        }
    }
    patch_of(pod, operations, PodPart::Status, field_manager)
}

/// A condition, and its place in the API's order.
fn condition<'p>(pod: &'p Pod, kind: &str) -> Option<(String, &'p Condition)> {
    let mut conditions = pod.status.conditions.iter().enumerate();
    conditions.find(|(_, condition)| condition.kind == kind).map(|(index, condition)| (index.to_string(), condition))
}

impl Operations {
    /// Tests that a condition is unchanged. An empty text is not served (`omitempty`): it is absent, which a test with
    /// null says.
    fn condition_as_it_is(&mut self, pod: &Pod, kind: &str) {
        let Some((index, condition)) = condition(pod, kind) else { return };
        let text = |text: &Option<String>| json!(text.as_ref().filter(|text| !text.is_empty()));
        for (field, value) in [
            ("type", json!(kind)),
            ("status", json!(condition.status)),
            ("reason", text(&condition.reason)),
            ("message", text(&condition.message)),
        ] {
            self.test(["status", "conditions", index.as_str(), field], value);
        }
    }

    /// Tests that the record is unchanged. The server refuses a test below a map that is not there.
    pub(super) fn record_as_it_is(&mut self, pod: &Pod) {
        match pod.annotations.is_empty() {
            true => self.test(["metadata", "annotations"], Value::Null),
            false => {
                let record = pod.annotations.get(UPDATE_ANNOTATION);
                self.test(["metadata", "annotations", UPDATE_ANNOTATION], json!(record));
            }
        }
    }

    /// Changes the record, tested for its value before.
    pub(super) fn record(&mut self, record: Option<&UpdateRecord>) {
        let text = record.map(|record| serde_json::to_string(record).unwrap_or_default());
        self.set(MetadataMap::Annotations, UPDATE_ANNOTATION, text);
    }
}

#[cfg(test)]
mod tests;
