//! Whether the kubelet will leave a container down that gets an image text again which it had a short while ago.
//!
//! At each start of a container of which an earlier one has ended, the kubelet notes pod, container and image text, with a
//! back-off of 10 s, twice as long each further time, 300 s at most; it forgets after ten minutes. A text that is noted is
//! held back if the container that ended *last* did so within its back-off: then it stays down for as long, whether anything
//! has crashed or not (`doBackOff` in `pkg/kubelet/kuberuntime`, `Next` and `IsInBackOffSince` of client-go's
//! `flowcontrol.Backoff`). At the first update of a pod nothing has ended yet, so that it notes nothing.
//!
//! What it noted is not served by the API: it is worked out from the pod's own record and status, and from the owner's
//! history. Both may know less than the kubelet, never more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::change::reason::Warning;
use crate::engine::k8s::names::ContainerName;
use crate::engine::k8s::pod::Pod;
use crate::engine::plan::live::LiveWorkload;
use crate::engine::rollout::Goal;
use crate::engine::state::durable::history::{self, HistoryEntry};
use crate::engine::state::outcome::EndResult;
use crate::engine::state::record::UpdateRecord;
use crate::engine::value::duration::second;

/// The kubelet forgets a back-off after so many seconds (`MaxContainerBackOff` twice, kubelet.go).
const FORGETS_SECONDS: i64 = 600;
/// The restarts of a pod's container before which no start of the one before it can have been noted: the first container,
/// the first update's, and the one that runs.
const FIRST_NOTED: i64 = 3;
const FIRST_SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 300;
/// The rollouts that tell how long one takes.
const LAST_ROLLOUTS: usize = 3;

/// What is known of earlier starts of a workload's containers.
pub(super) struct BackOff {
    entries: Vec<HistoryEntry>,
    now: Option<i64>,
}

impl BackOff {
    pub(super) fn of(live: &LiveWorkload) -> Self {
        let objects = std::iter::once(&live.workload.object).chain(&live.surroundings.owned);
        Self { entries: history::union(objects), now: live.surroundings.now.as_deref().and_then(second) }
    }

    /// Returns how long the fastest of the last rollouts of exactly these containers took that went through, in seconds: in
    /// the others the kubelet may have held containers back.
    pub(super) fn last_took(&self, names: &BTreeSet<&ContainerName>) -> Option<f64> {
        let same = |entry: &&HistoryEntry| {
            entry.outcome == EndResult::Complete && entry.containers.keys().collect::<BTreeSet<_>>() == *names
        };
        let took = |entry: &HistoryEntry| u32::try_from(second(&entry.ended)? - second(&entry.began)?).ok();
        let fastest = self.entries.iter().rev().filter(same).take(LAST_ROLLOUTS).filter_map(took).min()?;
        // Both are cut to whole seconds.
        Some(f64::from(fastest) + 0.5)
    }

    /// Returns how long the kubelet is expected to hold the container back once it gets this image: nothing where nothing
    /// is known that speaks for it.
    pub(super) fn seconds(&self, pod: &Pod, name: &ContainerName, to: &str) -> Option<u64> {
        self.seconds_at(pod, name, to, 0.0)
    }

    /// The same of a pod whose turn comes so many seconds later.
    pub(super) fn seconds_at(&self, pod: &Pod, name: &ContainerName, to: &str, later: f64) -> Option<u64> {
        let later = i64::try_from(Duration::try_from_secs_f64(later).ok()?.as_secs()).ok()?;
        let now = self.now?.checked_add(later)?;
        let (_, _, status) = pod.container_status(name)?;
        let ended = second(status.last_state.terminated.as_ref()?.finished_at.as_deref()?)?;
        let starts = self.starts(pod, name, to, now).max(usize::from(was_started_before(pod, name, to, now)));
        let doublings = u32::try_from(starts.checked_sub(1)?).unwrap_or(u32::MAX);
        let back_off = FIRST_SECONDS.saturating_mul(2u64.saturating_pow(doublings)).min(MOST_SECONDS);
        let since = u64::try_from(now.saturating_sub(ended)).unwrap_or(0);
        (since < back_off).then_some(back_off)
    }

    /// How often an update or its roll-back started this text in the pod, each within the kubelet's memory of the one after.
    fn starts(&self, pod: &Pod, name: &ContainerName, to: &str, now: i64) -> usize {
        let Some(created) = second(&pod.created) else { return 0 };
        let started = self.entries.iter().filter_map(|entry| {
            let image = entry.containers.get(name)?;
            let text = if entry.outcome == EndResult::Aborted { &image.from } else { &image.to };
            Some((second(&entry.ended)?, text))
        });
        let mut starts: Vec<(i64, &String)> = started.filter(|(at, _)| *at >= created).collect();
        starts.sort_unstable();
        // Before the first one nothing had ended; of older ones the history may have forgotten.
        let noted = starts.into_iter().skip(1).filter(|(_, text)| *text == to);
        let mut next = now;
        let times: Vec<i64> = noted.map(|(at, _)| at).collect();
        times.into_iter().rev().take_while(|at| remembers(*at, std::mem::replace(&mut next, *at))).count()
    }
}

/// Whether the text is the one before the present one, and the start of its container was noted and is remembered.
fn was_started_before(pod: &Pod, name: &ContainerName, to: &str, now: i64) -> bool {
    let Some(record) = UpdateRecord::of(pod) else { return false };
    let Some(record) = record.baseline(pod, name).filter(|record| record.from == to) else { return false };
    let Some((_, _, status)) = pod.container_status(name) else { return false };
    let before = status.last_state.terminated.as_ref().filter(|ended| ended.container_id == record.container_id);
    let started = before.and_then(|before| before.started_at.as_deref()).and_then(second);
    status.restart_count >= FIRST_NOTED && started.is_some_and(|at| remembers(at, now))
}

fn remembers(started: i64, now: i64) -> bool {
    now.saturating_sub(started) < FORGETS_SECONDS
}

/// Collects what is held back, by container.
#[derive(Default)]
pub(super) struct Held(BTreeMap<ContainerName, (usize, u64)>);

impl Held {
    pub(super) fn add(&mut self, name: &ContainerName, seconds: Option<u64>) {
        let Some(seconds) = seconds else { return };
        let (pods, longest) = self.0.entry(name.clone()).or_default();
        *pods += 1;
        *longest = seconds.max(*longest);
    }

    pub(super) fn warnings(self) -> impl Iterator<Item = Warning> {
        let warning = |(container, (pods, seconds))| Warning::RestartInBackoff { container, pods, seconds };
        self.0.into_iter().map(warning)
    }
}

/// Returns the same warnings of a goal that no plan was made for: one that resumes a rollout, or takes it back.
pub fn held_back(live: &LiveWorkload, goal: &Goal) -> Vec<Warning> {
    let back_off = BackOff::of(live);
    let mut held = Held::default();
    for pod_goal in &goal.pods {
        let Some(pod) = live.pods.iter().find(|pod| pod.key == pod_goal.key) else { continue };
        for (name, wanted) in pod_goal.containers.iter().filter(|(_, wanted)| wanted.restarts) {
            let Some(to) = wanted.to.as_deref().filter(|to| wanted.from.as_deref() != Some(to)) else { continue };
            held.add(name, back_off.seconds(pod, name, to));
        }
    }
    held.warnings().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::k8s::workload::Workload;
    use crate::engine::kinds::WorkloadKind;
    use crate::engine::plan::assemble::{Objects, assemble};

    const NOW: &str = "2026-03-01T10:20:00Z";

    fn live(history: &[(&str, &str, &str, &str)]) -> LiveWorkload {
        let entries: Vec<_> = history
            .iter()
            .map(|(ended, from, to, outcome)| {
                json!({"id": format!("id-{ended}"), "who": "jane", "began": ended, "ended": ended, "outcome": outcome,
                    "containers": {"side": {"from": from, "to": to}}})
            })
            .collect();
        let object = json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u",
            "annotations": {history::HISTORY_ANNOTATION: serde_json::to_string(&entries).unwrap()}}});
        let workload = Workload::from_object(WorkloadKind::Deployment, object).unwrap();
        let mut live = assemble(workload, Objects::default());
        live.surroundings.now = Some(NOW.into());
        live
    }

    /// A pod whose container got its image from `from`, how often it restarted, and when the one before was started and ended.
    fn pod(from: &str, restarts: i64, (started, ended): (&str, &str)) -> Pod {
        let record = json!({"id": "one", "manager": "me", "containers": {"side": {
            "from": from, "to": "side:2", "imageID": "", "containerID": "c://before"}}});
        let last = json!({"terminated": {"exitCode": 0, "containerID": "c://before", "startedAt": started, "finishedAt": ended}});
        Pod::from_object(&json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "p", "creationTimestamp": "2026-03-01T10:00:00Z",
                "annotations": {"kubectl-inplace.io/update": record.to_string()}},
            "spec": {"containers": [{"name": "side", "image": "side:2"}]},
            "status": {"containerStatuses": [{"name": "side", "containerID": "c://now", "restartCount": restarts,
                "state": {"running": {"startedAt": ended}}, "lastState": last}]}
        }))
        .unwrap()
    }

    #[test]
    fn a_text_that_was_noted_is_held_back_while_the_last_end_is_within_its_back_off() {
        let at = |time: &str| format!("2026-03-01T10:{time}Z");
        let by_record = |restarts, started: &str, ended: &str| pod("side:1", restarts, (&at(started), &at(ended)));
        for (what, pod, expected) in [
            ("the pod's first container", by_record(1, "13:00", "19:55"), None),
            ("the first update's container: nothing had ended before it", by_record(2, "13:00", "19:55"), None),
            ("noted", by_record(3, "13:00", "19:55"), Some(10)),
            ("noted, and the last end is longer ago", by_record(3, "13:00", "19:50"), None),
            ("forgotten", by_record(3, "09:00", "19:55"), None),
            ("another text", pod("side:0", 3, (&at("13:00"), &at("19:55"))), None),
        ] {
            assert_eq!(BackOff::of(&live(&[])).seconds(&pod, &"side".into(), "side:1"), expected, "{what}");
        }
        // Older texts are in the history alone.
        let times = ["12:00", "13:00", "14:00", "15:00", "16:00"].map(at);
        let to_and_fro: Vec<(&str, &str, &str, &str)> = times
            .iter()
            .zip([("a", "b"), ("b", "a"), ("a", "b"), ("b", "a"), ("a", "b")])
            .map(|(ended, (from, to))| (ended.as_str(), from, to, "complete"))
            .collect();
        let known = |last: usize| BackOff::of(&live(to_and_fro.get(..last).unwrap_or_default()));
        let seconds =
            |last, to, ended: &str| known(last).seconds(&pod("x", 9, (&at("10:00"), &at(ended))), &"side".into(), to);
        assert_eq!(seconds(2, "b", "19:58"), None, "the first start of b was the pod's first update");
        assert_eq!((seconds(3, "b", "19:55"), seconds(3, "b", "19:45")), (Some(10), None));
        assert_eq!((seconds(5, "b", "19:45"), seconds(5, "b", "19:35")), (Some(20), None), "twice as long each time");
        let taken_back = [(times[0].as_str(), "x", "y", "complete"), (times[1].as_str(), "a", "z", "aborted")];
        let known = BackOff::of(&live(&taken_back));
        assert_eq!(known.seconds(&pod("x", 9, (&at("10:00"), &at("19:55"))), &"side".into(), "a"), Some(10));
        let mut unknown = live(&to_and_fro);
        unknown.surroundings.now = None;
        let pod = pod("x", 9, (&at("10:00"), &at("19:58")));
        assert_eq!(BackOff::of(&unknown).seconds(&pod, &"side".into(), "b"), None, "no clock, no guess");
    }
}
