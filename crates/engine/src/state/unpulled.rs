//! Whether pods show that an image cannot be pulled: nothing goes back to it.

use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;

use super::record::UpdateRecord;

/// Returns whether a pod shows, or records from before its update, that the image could not be pulled for the
/// container, and none that it has run.
pub fn cannot_be_pulled<'p>(pods: impl IntoIterator<Item = &'p Pod>, name: &ContainerName, image: &str) -> bool {
    let mut known = pods.into_iter().filter_map(|pod| was_pulled(pod, name, image)).peekable();
    known.peek().is_some() && !known.any(|was_pulled| was_pulled)
}

/// What one pod shows; `None` where it shows only other images, or none yet.
fn was_pulled(pod: &Pod, name: &ContainerName, image: &str) -> Option<bool> {
    let container = pod.spec_of(name)?;
    let waits_for_it = |reason: &str| failure::is_pull(reason);
    if container.image == image {
        let state = &pod.status_of(name)?.state;
        let waiting = state.waiting.as_ref();
        return match waiting {
            Some(waiting) if waits_for_it(&waiting.reason) => Some(false),
            Some(_) => None,
            None => (state.running.is_some() || state.terminated.is_some()).then_some(true),
        };
    }
    let record = UpdateRecord::of(pod)?;
    let noted = record.container(pod, name).filter(|noted| noted.from == image)?;
    Some(!(noted.never_ran || noted.waiting.as_deref().is_some_and(waits_for_it)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::state::record::UPDATE_ANNOTATION;

    fn pod(image: &str, state: &Value, noted: Option<Value>) -> Pod {
        let note = noted.map(|noted| json!({"id": "r", "manager": "m", "containers": {"side": noted}}).to_string());
        let pod = json!({"metadata": {"name": "web-1", "namespace": "prod", "uid": "u",
                "annotations": note.map(|note| json!({UPDATE_ANNOTATION: note}))},
            "spec": {"containers": [{"name": "side", "image": image}]},
            "status": {"containerStatuses": [{"name": "side", "image": image, "imageID": "", "restartCount": 0, "state": state}]}});
        Pod::from_object(&pod).expect("a pod")
    }

    #[test]
    fn pods_show_it_or_note_it_and_none_has_run_it() {
        let waits = |reason: &str| json!({"waiting": {"reason": reason, "message": ""}});
        let runs = json!({"running": {"startedAt": "2026-03-01T10:00:00Z"}});
        let note = |waiting: &str, never_ran: bool| {
            let waiting = (!waiting.is_empty()).then_some(waiting);
            Some(json!({"from": "side:1", "to": "side:2", "waiting": waiting, "neverRan": never_ran}))
        };
        let cases = [
            ("it waits for it", vec![pod("side:1", &waits("ErrImagePull"), None)], true),
            ("in back-off", vec![pod("side:1", &waits("ImagePullBackOff"), None)], true),
            ("it crashes", vec![pod("side:1", &waits("CrashLoopBackOff"), None)], false),
            ("another image", vec![pod("side:2", &waits("ErrImagePull"), None)], false),
            ("noted", vec![pod("side:2", &runs, note("ErrImagePull", false))], true),
            ("noted that none was made", vec![pod("side:2", &runs, note("", true))], true),
            ("noted that it ran", vec![pod("side:2", &runs, note("", false))], false),
            (
                "another pod runs it",
                vec![pod("side:1", &waits("ErrImagePull"), None), pod("side:1", &runs, None)],
                false,
            ),
            (
                "another one ran it",
                vec![pod("side:1", &waits("ErrImagePull"), None), pod("side:2", &runs, note("", false))],
                false,
            ),
            ("no pod", vec![], false),
        ];
        for (what, pods, expected) in cases {
            assert_eq!(cannot_be_pulled(&pods, &"side".into(), "side:1"), expected, "{what}");
        }
    }
}
