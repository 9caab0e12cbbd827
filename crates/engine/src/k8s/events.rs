//! Events of the API as this program reads them, and what the kubelet's and the controllers' say.
//!
//! They are hints: they may be missing, late, merged, or forbidden to read. Nothing is decided from them here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::k8s::failure;
use crate::k8s::mask;
use crate::k8s::names::{ContainerName, Uid};
use crate::value::duration;
use crate::value::image;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(skip_serializing)]
    pub uid: Uid,
    pub container: Option<ContainerName>,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: String,
    /// CamelCase, such as `BackOff`.
    pub reason: String,
    /// Sentence, without credentials.
    pub message: String,
    /// When it happened last (RFC 3339).
    pub time: String,
    /// When it happened first, where it happened more than once (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_time: Option<String>,
    pub count: i64,
}

impl Event {
    /// Reads an event as the API serves it (core/v1); what is missing is empty.
    pub fn of(object: &Value) -> Self {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
        let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
        let path = text("/involvedObject/fieldPath");
        let container = path.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'));
        let count = number("/series/count").or_else(|| number("/count")).unwrap_or(1).max(1);
        let first = ["/firstTimestamp", "/eventTime"].into_iter().map(text).find(|time| !time.is_empty());
        Self {
            uid: text("/involvedObject/uid").into(),
            container: container.map(ContainerName::from),
            kind: text("/type").to_owned(),
            reason: text("/reason").to_owned(),
            message: mask::text(&without_resources(text("/reason"), text("/message"))),
            time: times.into_iter().map(text).find(|time| !time.is_empty()).unwrap_or_default().to_owned(),
            first_time: first.filter(|_| count > 1).map(str::to_owned),
            count,
        }
    }
}

/// A kubelet's event of a resize has the resources of all containers in it, as JSON (pkg/kubelet/allocation): what is kept is of
/// which generation it is, and what is wrong.
fn without_resources<'m>(reason: &str, message: &'m str) -> Cow<'m, str> {
    let parts = message.split_once(": ").filter(|_| reason.starts_with("Resize"));
    let Some((what, Ok(details))) = parts.map(|(what, rest)| (what, serde_json::from_str::<Value>(rest))) else {
        return message.into();
    };
    let of = details.get("generation").map(|generation| format!(" (generation {generation})")).unwrap_or_default();
    let why = details.get("error").and_then(Value::as_str).map(|why| format!(": {why}")).unwrap_or_default();
    format!("{what}{of}{why}").into()
}

/// What the kubelet's events show of one pod's containers: when it happened last (RFC 3339, whole seconds).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodEvents {
    /// A container is stopped, since its definition changed.
    pub changed: BTreeMap<ContainerName, String>,
    /// An image is on the node, and a container is created from it next.
    pub pulled: BTreeMap<ContainerName, BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<ContainerName, FailedStart>,
}

/// Why a container was not started, in the kubelet's words; each is empty where it said none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedStart {
    /// As it is shown of a container that waits, such as `ErrImagePull`.
    pub reason: String,
    pub message: String,
    /// When (RFC 3339).
    pub time: String,
}

impl FailedStart {
    /// The kubelet says the cause, and then its own word for it (`startContainer` in pkg/kubelet/kuberuntime).
    fn note(&mut self, event: &Event) {
        let said = event.message.strip_prefix("Error: ").unwrap_or(&event.message);
        let known = if failure::is_failure(said) { &mut self.reason } else { &mut self.message };
        if known.is_empty() || self.time <= event.time {
            said.clone_into(known);
        }
        self.time = std::mem::take(&mut self.time).max(event.time.clone());
    }
}

impl PodEvents {
    /// Reads the events of a pod (kubelet `kuberuntime_manager.go`: `Container X definition changed, will be restarted`,
    /// `Init container X definition changed`; `image_manager.go`: [`image_of`]).
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut read = Self::default();
        for event in events {
            let Some(container) = event.container.clone() else { continue };
            let known = match (event.reason.as_str(), image_of(&event.message)) {
                ("Killing", _) if event.message.contains("definition changed") => {
                    read.changed.entry(container).or_default()
                }
                ("Pulled", Some(image)) => {
                    read.pulled.entry(container).or_default().entry(image.to_owned()).or_default()
                }
                ("Failed", _) => {
                    read.failed.entry(container).or_default().note(event);
                    continue;
                }
                _ => continue,
            };
            if *known < event.time {
                known.clone_from(&event.time);
            }
        }
        read
    }

    pub fn changed_at(&self, name: &ContainerName) -> Option<&str> {
        self.changed.get(name).map(String::as_str)
    }

    /// Returns why a container was not started at that time or later (RFC 3339), where a time is known.
    pub fn failed_since(&self, name: &ContainerName, since: Option<&str>) -> Option<&FailedStart> {
        self.failed.get(name).filter(|failed| since.is_none_or(|since| failed.time.as_str() >= since))
    }

    pub fn pulled_at(&self, name: &ContainerName, image: &str) -> Option<&str> {
        let is_it = |(pulled, _): &(&String, &String)| image::is_same(pulled, image);
        self.pulled.get(name)?.iter().filter(is_it).map(|(_, at)| at.as_str()).max()
    }
}

/// Returns the events that can be of a container's present update: none of another container, and none from before it was
/// stopped for a new definition last, or from before its image was set, where that is known (RFC 3339): what is down already is
/// not stopped.
pub fn of_update(events: Vec<Event>, container: &ContainerName, set_at: Option<&str>) -> Vec<Event> {
    let changed = PodEvents::of(&events).changed_at(container).and_then(at);
    let began = changed.max(set_at.and_then(at));
    let is_of_it = |event: &Event| {
        let is_its = event.container.as_ref().is_none_or(|of| of == container);
        is_its && began.is_none_or(|began| at(&event.time).is_none_or(|at| at >= began))
    };
    events.into_iter().filter(is_of_it).collect()
}

fn at(time: &str) -> Option<jiff::Timestamp> {
    time.parse().ok()
}

/// Returns the newest events, oldest first, at most `most`. An event that was repeated counts once, at its last time:
/// the kubelet begins another event object after a while.
pub fn newest(events: Vec<Event>, most: usize) -> Vec<Event> {
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    let mut said: Vec<Event> = Vec::new();
    for event in events {
        let next = said.len();
        let index = known.entry((event.container.clone(), event.reason.clone(), event.message.clone())).or_insert(next);
        let Some(before) = said.get_mut(*index) else {
            said.push(event);
            continue;
        };
        let count = before.count.saturating_add(event.count);
        let started = |event: &Event| event.first_time.clone().unwrap_or_else(|| event.time.clone());
        let first = [started(before), started(&event)].into_iter().min_by_key(|time| at(time));
        if at(&before.time) < at(&event.time) {
            *before = event;
        }
        (before.count, before.first_time) = (count, first);
    }
    let mut events = said;
    // The list mixes whole seconds and microseconds: only as times are they in order.
    events.sort_by_cached_key(|event| at(&event.time));
    events.split_off(events.len().saturating_sub(most))
}

/// Returns how long a pull took, from the kubelet's words (`pkg/kubelet/images/image_manager.go`):
/// `Successfully pulled image "x" in 1.2s (1.5s including waiting). Image size: 1 bytes.`
pub fn pull_seconds(message: &str) -> Option<f64> {
    let (_, rest) = message.strip_prefix("Successfully pulled image ")?.split_once("\" in ")?;
    let word = rest.split(' ').next()?.trim_end_matches(['.', ',']);
    Some(duration::parse(word).ok()?.as_secs_f64())
}

/// Returns the image that a message of the kubelet names in quotes.
pub fn image_of(message: &str) -> Option<&str> {
    message.split_once("mage \"")?.1.split_once('"').map(|(image, _)| image)
}

/// Returns the pod that a controller says that it deleted: `Deleted pod: web-x` (ReplicaSet, DaemonSet:
/// `controller_utils.go`), `delete Pod web-1 in StatefulSet web successful` (StatefulSet: `stateful_pod_control.go`).
pub fn deleted_pod(event: &Event) -> Option<&str> {
    if event.reason != "SuccessfulDelete" {
        return None;
    }
    let named = event.message.strip_prefix("Deleted pod: ");
    named.or_else(|| event.message.strip_prefix("delete Pod ")?.split(' ').next()).map(str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pull_takes_as_long_as_the_kubelet_says() {
        for (message, seconds) in [
            ("Successfully pulled image \"r/a:1\" in 1.2s (1.5s including waiting). Image size: 9 bytes.", Some(1.2)),
            ("Successfully pulled image \"r/a:1\" in 350ms (350ms including waiting)", Some(0.35)),
            ("Successfully pulled image \"r/a:1\" in 1m2.5s", Some(62.5)),
            ("Successfully pulled image \"r/a:1\" in 2s.", Some(2.0)),
            ("Container image \"r/a:1\" already present on machine", None),
            ("Successfully pulled image \"r/a:1\" in no time", None),
            ("", None),
        ] {
            assert_eq!(pull_seconds(message), seconds, "{message}");
        }
        assert_eq!(image_of("Container image \"r/a:1\" already present on machine"), Some("r/a:1"));
        assert_eq!(image_of("Successfully pulled image \"r/a:1\" in 2s"), Some("r/a:1"));
        assert_eq!(image_of("Back-off"), None);
    }

    #[test]
    fn the_newest_events_come_in_order_of_time() {
        let event = |message: &str, time: &str, series: Value| {
            Event::of(&json!({"involvedObject": {"uid": "u", "fieldPath": "spec.containers{side}"}, "type": "Normal",
                "reason": "Pulled", "message": message, "lastTimestamp": time, "count": 3, "series": series}))
        };
        let late = json!({"lastObservedTime": "2026-01-01T00:00:03.000001Z", "count": 7});
        let events = vec![
            event("a", "2026-01-01T00:00:02Z", Value::Null),
            event("b", "2026-01-01T00:00:01Z", late.clone()),
            event("c", "2026-01-01T00:00:00Z", Value::Null),
        ];
        let newest = newest(events, 2);
        let reported: Vec<(&str, i64)> = newest.iter().map(|event| (event.time.as_str(), event.count)).collect();
        assert_eq!(reported, [("2026-01-01T00:00:02Z", 3), ("2026-01-01T00:00:03.000001Z", 7)]);
        assert_eq!(newest[0].container, Some("side".into()));
        let same = [("2026-01-01T00:00:02Z", Value::Null), ("2026-01-01T00:00:01Z", late)];
        let same = super::newest(same.into_iter().map(|(time, series)| event("a", time, series)).collect(), 9);
        assert_eq!(same.len(), 1, "what is said again is said once: {same:?}");
        assert_eq!((same[0].time.as_str(), same[0].count), ("2026-01-01T00:00:03.000001Z", 10));
        assert_eq!(same[0].first_time.as_deref(), Some("2026-01-01T00:00:02Z"));
        assert_eq!(Event::of(&json!({})).count, 1);
    }

    #[test]
    fn the_kubelets_events_of_a_pod_are_read_by_container_and_image() {
        let event = |reason: &str, message: &str, time: &str| {
            Event::of(&json!({"involvedObject": {"uid": "u", "fieldPath": "spec.containers{side}"}, "type": "Normal",
                "reason": reason, "message": message, "lastTimestamp": time}))
        };
        let read = PodEvents::of(&[
            event("Killing", "Container side definition changed, will be restarted", "2026-01-01T00:00:03Z"),
            event("Killing", "Container side definition changed, will be restarted", "2026-01-01T00:00:01Z"),
            event("Killing", "Stopping container side", "2026-01-01T00:00:09Z"),
            event("Pulled", "Container image \"nginx:2\" already present on machine", "2026-01-01T00:00:05Z"),
            event("Pulled", "Successfully pulled image \"nginx:1\" in 2s", "2026-01-01T00:00:06Z"),
            event("Failed", "Error: ErrImagePull", "2026-01-01T00:00:07Z"),
            event("Failed", "Failed to pull image \"nginx:3\": not found", "2026-01-01T00:00:07Z"),
            event("Failed", "Failed to pull image \"nginx:0\": not found", "2026-01-01T00:00:01Z"),
            event("Failed", "Error: ImagePullBackOff", "2026-01-01T00:00:02Z"),
        ]);
        let side = ContainerName::from("side");
        assert_eq!(read.changed_at(&side), Some("2026-01-01T00:00:03Z"));
        assert_eq!(read.changed_at(&"app".into()), None);
        assert_eq!(read.pulled_at(&side, "docker.io/library/nginx:2"), Some("2026-01-01T00:00:05Z"));
        assert_eq!(read.pulled_at(&side, "nginx:3"), None);
        let failed = |since| read.failed_since(&side, since).map(|it| (it.reason.as_str(), it.message.as_str()));
        let expected = Some(("ErrImagePull", "Failed to pull image \"nginx:3\": not found"));
        assert_eq!(failed(None), expected);
        assert_eq!(failed(Some("2026-01-01T00:00:07Z")), expected);
        assert_eq!(failed(Some("2026-01-01T00:00:08Z")), None);
    }

    #[test]
    fn of_an_update_are_its_containers_events_since_it_was_stopped_for_it() {
        let event = |container: &str, message: &str, second: u8| {
            let path = if container.is_empty() { String::new() } else { format!("spec.containers{{{container}}}") };
            let time = format!("2026-01-01T00:00:{second:02}Z");
            Event::of(&json!({"involvedObject": {"uid": "u", "fieldPath": path}, "type": "Normal", "reason": "Killing",
                "message": message, "lastTimestamp": time}))
        };
        let changed = "Container side definition changed, will be restarted";
        let events = vec![
            event("side", changed, 1),
            event("side", "before", 2),
            event("side", changed, 3),
            event("app", "another's", 4),
            event("side", "its own", 4),
            event("", "the pod's", 5),
            event("", "scheduled", 0),
        ];
        let reported = |events: &[Event]| events.iter().map(|event| event.message.clone()).collect::<Vec<_>>();
        assert_eq!(reported(&of_update(events.clone(), &"side".into(), None)), [changed, "its own", "the pod's"]);
        let since = |second: u8| format!("2026-01-01T00:00:{second:02}Z");
        assert_eq!(reported(&of_update(events.clone(), &"side".into(), Some(&since(4)))), ["its own", "the pod's"]);
        assert_eq!(reported(&of_update(events, &"side".into(), Some(&since(2)))), [changed, "its own", "the pod's"]);
        let unchanged = vec![event("side", "long ago", 1), event("app", "another's", 2)];
        let of = |set_at| reported(&of_update(unchanged.clone(), &"side".into(), set_at));
        assert_eq!(of(None), ["long ago"], "nobody knows since when");
        assert!(of(Some(&since(2))).is_empty());
    }

    #[test]
    fn an_event_of_a_resize_says_what_is_wrong_and_not_all_that_there_is() {
        let said = |reason: &str, message: &str| Event::of(&json!({"reason": reason, "message": message})).message;
        let all = r#"{"containers":[{"name":"app","resources":{"requests":{"cpu":"1"}}}],"generation":9"#;
        assert_eq!(said("ResizeStarted", &format!("Pod resize started: {all}}}")), "Pod resize started (generation 9)");
        assert_eq!(
            said("ResizeDeferred", &format!(r#"Pod resize OutOfcpu: {all},"error":"no room: cpu"}}"#)),
            "Pod resize OutOfcpu (generation 9): no room: cpu"
        );
        for (reason, message) in [("ResizeStarted", "Pod resize: {cut"), ("Failed", r#"it said: {"a":1}"#)] {
            assert_eq!(said(reason, message), message);
        }
    }

    #[test]
    fn a_controller_says_which_pod_it_deleted() {
        let event = |message: &str| Event::of(&json!({"reason": "SuccessfulDelete", "message": message}));
        assert_eq!(deleted_pod(&event("Deleted pod: web-1")), Some("web-1"));
        assert_eq!(deleted_pod(&event("delete Pod web-1 in StatefulSet web successful")), Some("web-1"));
        assert_eq!(deleted_pod(&event("delete Claim x")), None);
    }
}
