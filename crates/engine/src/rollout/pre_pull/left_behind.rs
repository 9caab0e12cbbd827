//! Whether a pull pod belongs to a run that may be active, or was left behind by one that is gone.
//!
//! It carries no sign of life: it exists only while its node pulls, which its own deadline bounds.

use jiff::Timestamp;
use serde_json::Value;

use crate::state::durable::lease::{Process, ProcessState};

/// The annotation that says which process has created the pod.
pub const PROCESS_ANNOTATION: &str = "kubectl-inplace.io/process";

/// Reads which process has created a pull pod, where the pod says so.
pub fn process_of(pod: &Value) -> Option<Process> {
    let text = pod.pointer("/metadata/annotations")?.get(PROCESS_ANNOTATION)?.as_str()?;
    serde_json::from_str(text).ok()
}

/// Returns whether nobody waits for the pod any more: its process is gone, or the pod is older than its run waits for
/// it. `now` is the server's time of the read.
pub fn is_left_behind(pod: &Value, process: ProcessState, now: Option<&str>) -> bool {
    match process {
        ProcessState::Running | ProcessState::Stopped => false,
        ProcessState::Gone => true,
        ProcessState::NotKnown => {
            let time = |text: &str| text.parse::<Timestamp>().ok();
            let made = pod.pointer("/metadata/creationTimestamp").and_then(Value::as_str).and_then(time);
            let deadline = pod.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64);
            let age = now.and_then(time).zip(made).map(|(now, made)| now.as_second().saturating_sub(made.as_second()));
            age.zip(deadline).is_some_and(|(age, deadline)| age >= deadline)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_another_machine_has_made_is_left_behind_once_its_deadline_has_passed() {
        let pod =
            json!({"metadata": {"creationTimestamp": "2026-03-01T10:00:00Z"}, "spec": {"activeDeadlineSeconds": 360}});
        let (soon, late) = (Some("2026-03-01T10:05:59Z"), Some("2026-03-01T10:06:00Z"));
        for (process, now, expected) in [
            (ProcessState::Gone, soon, true),
            (ProcessState::Gone, None, true),
            (ProcessState::Running, late, false),
            (ProcessState::Stopped, late, false),
            (ProcessState::NotKnown, soon, false),
            (ProcessState::NotKnown, late, true),
            (ProcessState::NotKnown, None, false),
            (ProcessState::NotKnown, Some("x"), false),
        ] {
            assert_eq!(is_left_behind(&pod, process, now), expected, "{process:?} {now:?}");
        }
        assert!(!is_left_behind(&json!({}), ProcessState::NotKnown, late), "what does not say so is left alone");
    }

    #[test]
    fn the_process_reads_as_it_was_written() {
        let process = Process { host: "laptop".into(), boot: "b".into(), pid: 7, began: "9".into() };
        let text = serde_json::to_string(&process).unwrap();
        assert_eq!(process_of(&json!({"metadata": {"annotations": {PROCESS_ANNOTATION: text}}})), Some(process));
        assert_eq!(process_of(&json!({"metadata": {"annotations": {PROCESS_ANNOTATION: "edited"}}})), None);
        assert_eq!(process_of(&json!({})), None);
    }
}
