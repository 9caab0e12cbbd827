//! Whether the kubelet will leave a container down that gets an image text again which it had a short while ago.
//!
//! At each start that the kubelet notes (`crate::state::starts`) the text gets a back-off of 10 s, doubled each
//! further time, 300 s at most. A noted text is held back if the container that ended *last* did so within the text's
//! back-off: if another container is stopped for it, the start then waits for as long from that end, whether anything
//! has crashed or not (`doBackOff` in `pkg/kubelet/kuberuntime`, `Next` and `IsInBackOffSince` of client-go's
//! `flowcontrol.Backoff`). What is restarted by request keeps its text, and it is itself the one that ended last.

use std::collections::BTreeMap;

use crate::change::reason::Warning;
use crate::k8s::failure;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::plan::live::Snapshot;
use crate::rollout::Goal;
use crate::state::evidence::{Baseline, last_ended};
use crate::state::starts::{self, FORGETS_SECONDS};
use crate::value::duration::second;

const FIRST_SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 300;

/// Returns how long the kubelet is expected to hold the container back once it gets this image; `None` where nothing
/// known indicates it, or the time is not known.
pub(super) fn seconds(pod: &Pod, name: &ContainerName, to: &str, now: Option<&str>) -> Option<u64> {
    let now = second(now?)?;
    let status = pod.status_of(name)?;
    let ended = second(last_ended(status)?.finished_at.as_deref()?)?;
    let doublings = u32::try_from(starts(pod, name, to, now).checked_sub(1)?).unwrap_or(u32::MAX);
    let back_off = FIRST_SECONDS.saturating_mul(2u64.saturating_pow(doublings)).min(MOST_SECONDS);
    let by_request = pod.spec_of(name)?.image == to;
    let since = if by_request { 0 } else { u64::try_from(now.saturating_sub(ended)).unwrap_or(0) };
    // For a running container the end to come is the one that counts.
    let left = if status.state.running.is_some() { back_off } else { back_off.saturating_sub(since) };
    (since < back_off).then_some(left)
}

/// Returns for how much longer the kubelet holds a container back that asks for its image already, and has not crashed
/// with it.
fn still_held(pod: &Pod, name: &ContainerName, now: Option<&str>) -> Option<u64> {
    let status = pod.status_of(name)?;
    let crashed = Baseline::of(pod, name).ended_after(last_ended(status)?)?;
    let (_, until) = failure::back_off(status).filter(|_| !crashed)?;
    u64::try_from(second(&until)? - second(now?)?).ok().filter(|left| *left > 0)
}

/// How often the kubelet has noted a start of this text in the pod, each within its memory of the one after.
fn starts(pod: &Pod, name: &ContainerName, to: &str, now: i64) -> usize {
    let noted = starts::noted(pod, name);
    let mut times: Vec<i64> =
        noted.iter().filter(|start| start.image == to).filter_map(|start| second(&start.at)).collect();
    times.sort_unstable();
    let mut next = now;
    let remembers = |at: &i64| std::mem::replace(&mut next, *at).saturating_sub(*at) < FORGETS_SECONDS;
    times.iter().rev().copied().take_while(remembers).count()
}

/// Returns the warnings of what is held back: of each pod the container, the image, and for how many seconds.
pub(super) fn warnings(held_back: impl IntoIterator<Item = (ContainerName, String, u64)>) -> Vec<Warning> {
    let mut found: BTreeMap<(ContainerName, String), (usize, u64)> = BTreeMap::new();
    for (container, image, seconds) in held_back {
        let (pods, longest) = found.entry((container, image)).or_default();
        *pods += 1;
        *longest = seconds.max(*longest);
    }
    let warning = |((container, image), (pods, seconds))| Warning::RestartInBackoff { container, image, pods, seconds };
    found.into_iter().map(warning).collect()
}

/// Returns the same warnings for a goal without a plan: one that resumes a rollout, or takes it back.
pub fn held_back(live: &Snapshot, goal: &Goal) -> Vec<Warning> {
    let now = live.surroundings.now.as_deref();
    let mut found = Vec::new();
    for pod_goal in &goal.pods {
        let Some(pod) = live.pods.iter().find(|pod| pod.key == pod_goal.key) else { continue };
        for (name, wanted) in pod_goal.containers.iter().filter(|(_, wanted)| wanted.restarts) {
            let (Some(to), Some((_, _, container))) = (wanted.to.as_deref(), pod.container(name)) else { continue };
            let has_it = container.image == to;
            let seconds = if has_it { still_held(pod, name, now) } else { seconds(pod, name, to, now) };
            found.extend(seconds.map(|seconds| (name.clone(), to.to_owned(), seconds)));
        }
    }
    warnings(found)
}

#[cfg(test)]
mod tests {
    use json_patch::{Patch, PatchOperation};
    use serde_json::{Value, json};

    use super::*;
    use crate::change::FieldChanges;
    use crate::k8s::names::RolloutId;
    use crate::rollout::patch::{NewImage, pod_patch};

    fn at(second: i64) -> String {
        format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
    }

    fn set_by(manager: &str, second: i64) -> Value {
        json!([{"manager": manager, "operation": "Update", "time": at(second),
            "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}])
    }

    /// A pod and its kubelet, which behaves as `doBackOff`.
    struct Node {
        pod: Value,
        noted: BTreeMap<String, (u64, i64)>,
        made: i64,
    }

    impl Node {
        fn new() -> Self {
            let status = json!({"name": "side", "image": "a", "imageID": "", "containerID": "c://0", "restartCount": 0,
                "state": {"running": {"startedAt": at(0)}}});
            let pod = json!({"metadata": {"name": "web-1", "namespace": "shop", "uid": "p", "creationTimestamp": at(0),
                    "managedFields": set_by("kube-controller-manager", 0)},
                "spec": {"containers": [{"name": "side", "image": "a"}]}, "status": {"containerStatuses": [status]}});
            Self { pod, noted: BTreeMap::new(), made: 0 }
        }

        fn seen(&self) -> Pod {
            Pod::from_object(&self.pod).unwrap()
        }

        fn status(&mut self) -> &mut Value {
            &mut self.pod["status"]["containerStatuses"][0]
        }

        /// Until when a start at this time is held back, where the container that ended last did so at `ended`.
        fn held_until(&self, text: &str, ended: i64, now: i64) -> Option<i64> {
            let (seconds, noted) = self.noted.get(text)?;
            let until = ended + i64::try_from(*seconds).unwrap();
            (ended - noted <= FORGETS_SECONDS && now < until).then_some(until)
        }

        fn note(&mut self, text: &str, ended: i64, now: i64) {
            let known = self.noted.get(text).filter(|(_, noted)| ended - noted <= FORGETS_SECONDS);
            let seconds = known.map_or(FIRST_SECONDS, |(seconds, _)| (2 * seconds).min(MOST_SECONDS));
            self.noted.insert(text.to_owned(), (seconds, now));
        }

        fn ended(&mut self) -> Option<i64> {
            second(self.status()["lastState"]["terminated"]["finishedAt"].as_str()?)
                .map(|at| at - second(&self::at(0)).unwrap())
        }

        fn stop(&mut self, now: i64) {
            let status = self.status();
            status["lastState"] = json!({"terminated": {"exitCode": 0, "containerID": status["containerID"],
                "startedAt": status["state"]["running"]["startedAt"], "finishedAt": at(now)}});
        }

        /// Sets an image by a patch of this program, and returns for how long the start is held back. An image that
        /// begins with `!` cannot be pulled.
        fn update(&mut self, to: &str, now: i64) -> i64 {
            let image = [NewImage { container: "side".into(), to: to.into() }];
            let (id, none) = (RolloutId::from(format!("r{now}").as_str()), FieldChanges::default());
            let patch = pod_patch(&self.seen(), &image, &none, &id, "me").unwrap();
            let is_null = |it: &&PatchOperation| matches!(it, PatchOperation::Test(test) if test.value.is_null());
            let patch = Patch(patch.operations.0.iter().filter(|it| !is_null(it)).cloned().collect());
            json_patch::patch(&mut self.pod, &patch).unwrap();
            self.pod["metadata"]["managedFields"] = set_by("me", now);
            let before = self.ended();
            let held = before.and_then(|ended| self.held_until(to, ended, now));
            if self.status()["state"].get("running").is_some() {
                self.stop(now);
            }
            let ended = self.ended().unwrap();
            let start = if held.is_some() { self.held_until(to, ended, now).unwrap() } else { now };
            if let Some(before) = if held.is_some() { Some(ended) } else { before } {
                self.note(to, before, start);
            }
            if to.starts_with('!') {
                self.status()["state"] = json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}});
                if before.is_none() && held.is_none() {
                    self.note(to, ended, start + 1);
                }
            } else {
                self.run(to, start);
            }
            start - now
        }

        fn run(&mut self, image: &str, start: i64) {
            self.made += 1;
            let made = self.made;
            let status = self.status();
            status["state"] = json!({"running": {"startedAt": at(start)}});
            status["containerID"] = format!("c://{made}").into();
            status["restartCount"] = (status["restartCount"].as_i64().unwrap() + 1).into();
            status["image"] = image.into();
        }

        /// The container ends by itself, and the kubelet starts it again.
        fn crash(&mut self, now: i64) {
            let image = self.pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned();
            self.stop(now);
            let start = self.held_until(&image, now, now).unwrap_or(now);
            self.note(&image, now, start);
            self.run(&image, start);
        }
    }

    /// What is expected before each update is what the kubelet then does.
    #[test]
    fn a_text_is_held_back_as_long_as_the_kubelet_holds_it() {
        // Each update with its time; `*` stands for a crash of what runs.
        type Updates<'a> = &'a [(&'a str, i64)];
        let cases: &[(&str, Updates<'_>, &[i64])] = &[
            ("the first container, and the first update's", &[("b", 100), ("a", 103)], &[0, 0]),
            ("to and fro", &[("b", 100), ("a", 103), ("b", 105), ("a", 107)], &[0, 0, 0, 10]),
            ("to and fro, with time between", &[("b", 100), ("a", 103), ("b", 105), ("a", 116)], &[0, 0, 0, 0]),
            (
                "twice as long",
                &[("b", 9), ("a", 30), ("b", 50), ("a", 55), ("b", 90), ("a", 101)],
                &[0, 0, 0, 10, 0, 20],
            ),
            ("forgotten", &[("b", 9), ("a", 30), ("b", 990), ("a", 995)], &[0, 0, 0, 0]),
            ("back from what cannot be pulled", &[("!", 100), ("a", 103), ("b", 105), ("a", 107)], &[0, 0, 0, 10]),
            ("the same once more", &[("!", 100), ("a", 103), ("!", 120), ("a", 125)], &[0, 0, 0, 5]),
            ("what cannot be pulled", &[("!", 100), ("a", 103), ("!", 105)], &[0, 0, 10]),
            (
                "another text that cannot be pulled",
                &[("!", 100), ("!!", 102), ("a", 104), ("b", 105), ("a", 106)],
                &[0, 0, 0, 0, 10],
            ),
            ("away from a crash, and back", &[("*", 100), ("b", 103), ("a", 105)], &[0, 10]),
            (
                "the image after the first update crashes",
                &[("b", 100), ("*", 103), ("a", 105), ("b", 106)],
                &[0, 0, 10],
            ),
            ("back to one that ran before the crash", &[("b", 100), ("a", 101), ("*", 103), ("b", 105)], &[0, 0, 0]),
        ];
        for (what, updates, expected) in cases {
            let mut node = Node::new();
            let mut found: Vec<(i64, i64)> = Vec::new();
            for (text, now) in *updates {
                if *text == "*" {
                    node.crash(*now);
                    continue;
                }
                let (pod, side, time) = (node.seen(), "side".into(), at(*now));
                let reported = seconds(&pod, &side, text, Some(&time));
                assert_eq!(seconds(&pod, &side, text, None), None, "no clock, no guess");
                found.push((i64::try_from(reported.unwrap_or(0)).unwrap(), node.update(text, *now)));
            }
            assert_eq!(found.iter().map(|(_, held)| *held).collect::<Vec<_>>(), *expected, "{what}: the kubelet");
            assert_eq!(found.iter().map(|(reported, _)| *reported).collect::<Vec<_>>(), *expected, "{what}");
        }
    }

    #[test]
    fn what_is_held_back_now_is_so_for_the_rest() {
        let mut node = Node::new();
        node.update("b", 100);
        node.status()["state"] = json!({"waiting": {"reason": "CrashLoopBackOff",
            "message": "back-off 10s restarting failed container=side pod=web-1"}});
        node.status()["containerID"] = "c://0".into();
        let left = |node: &Node, now| still_held(&node.seen(), &"side".into(), Some(&at(now)));
        assert_eq!((left(&node, 104), left(&node, 111)), (Some(6), None));
        node.status()["lastState"]["terminated"]["containerID"] = "c://1".into();
        node.status()["containerID"] = "c://1".into();
        assert_eq!(left(&node, 104), None, "it has crashed");
    }
}
