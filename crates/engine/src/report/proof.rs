//! The proof at the end, in numbers: what restarted as planned and what did not, which pods were replaced and why, how
//! long containers were pulled, down, and not ready.
//!
//! It claims only what the outcome shows; what was not reported does not count as zero.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::change::FieldChanges;
use crate::k8s::events::{self, Event};
use crate::k8s::names::{ContainerName, PodKey};
use crate::report::progress::UpdatePhase;
use crate::report::{Outcome, PodEnd};
use crate::value::image;

/// The shortest and the longest of some times, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub min: f64,
    pub max: f64,
    pub pods: usize,
}

impl Spread {
    fn add(spread: &mut Option<Self>, seconds: Option<f64>) {
        let Some(seconds) = seconds else { return };
        let Self { min, max, pods } = spread.unwrap_or(Self { min: seconds, max: seconds, pods: 0 });
        *spread = Some(Self { min: min.min(seconds), max: max.max(seconds), pods: pods + 1 });
    }
}

/// The times of one container over all pods that are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerProof {
    pub container: ContainerName,
    /// Pulls by the kubelet after the restart began.
    pub pull_seconds: Option<Spread>,
    /// From the first stop of the container to the start of the one that stayed.
    pub down_seconds: Option<Spread>,
    /// From the start of the new one until the pod was `Ready`.
    pub ready_seconds: Option<Spread>,
    /// Pods that were patched and for which the API does not show how long it was down.
    #[serde(skip)]
    pub down_unknown: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InPods {
    pub container: ContainerName,
    pub pods: usize,
    /// How often in all of them, where that may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replaced {
    #[serde(flatten)]
    pub pod: PodKey,
    pub message: String,
}

type ByContainer<T> = BTreeMap<ContainerName, T>;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    #[serde(serialize_with = "rows")]
    pub restarted_as_planned: ByContainer<InPods>,
    /// In how many pods it restarted though no change of it was planned, or more often than planned.
    #[serde(serialize_with = "rows")]
    pub restarted_not_planned: ByContainer<InPods>,
    #[serde(serialize_with = "rows")]
    pub resized: ByContainer<InPods>,
    pub resized_as_a_whole: usize,
    pub replaced: Vec<Replaced>,
    #[serde(serialize_with = "rows")]
    pub times: ByContainer<ContainerProof>,
}

fn rows<T: Serialize, S: Serializer>(of: &ByContainer<T>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(of.values())
}

/// Counts one pod, and how often the container restarted in it, where that counts.
fn count(of: &mut ByContainer<InPods>, container: &ContainerName, restarts: Option<usize>) {
    let new = || InPods { container: container.clone(), pods: 0, restarts: restarts.map(|_| 0) };
    let found = of.entry(container.clone()).or_insert_with(new);
    found.pods += 1;
    found.restarts = found.restarts.zip(restarts).map(|(before, more)| before + more);
}

impl Proof {
    /// Works it out from an outcome. `restarts` says of a container in a pod whether its change restarts it, and `fields`
    /// what else was wanted of a pod, where that is known.
    pub fn of<'g>(
        outcome: &Outcome,
        restarts: impl Fn(&PodEnd, &ContainerName) -> bool,
        fields: impl Fn(&PodKey) -> Option<&'g FieldChanges>,
    ) -> Self {
        let mut proof = Self::default();
        for end in &outcome.pods {
            for name in &end.unplanned {
                let again = end.containers.iter().find(|end| end.container == *name).and_then(|end| end.again.as_ref());
                let times = again.map_or(1, |again| usize::try_from(again.times).unwrap_or(usize::MAX).max(1));
                count(&mut proof.restarted_not_planned, name, Some(times));
            }
            if let UpdatePhase::Gone { why } = &end.phase
                && end.replaced
            {
                proof.replaced.push(Replaced { pod: end.pod.clone(), message: why.clone() });
            }
        }
        for end in outcome.done() {
            let fields = fields(&end.pod);
            // What an earlier run of the rollout has resized is no longer wanted of the pod, and its restart counts.
            let by_resize = end.containers.iter().filter(|end| end.changed && end.by_resize).map(|end| &end.container);
            let resized = fields.into_iter().flat_map(FieldChanges::resized).chain(by_resize);
            resized.collect::<BTreeSet<_>>().into_iter().for_each(|name| count(&mut proof.resized, name, None));
            proof.resized_as_a_whole += usize::from(fields.is_some_and(FieldChanges::resizes_as_a_whole));
            // What an earlier rollout has restarted was down for that one.
            for container in end.containers.iter().filter(|container| container.changed) {
                let name = &container.container;
                let new = || ContainerProof { container: name.clone(), ..ContainerProof::default() };
                let times = proof.times.entry(name.clone()).or_insert_with(new);
                Spread::add(&mut times.pull_seconds, container.times.pull_seconds);
                // A clock that was set back between two events of a node is no time.
                Spread::add(&mut times.down_seconds, container.down_seconds.map(whole));
                Spread::add(&mut times.ready_seconds, container.times.ready_seconds.map(whole));
                if restarts(end, name) {
                    times.down_unknown += usize::from(end.patched && container.down_seconds.is_none());
                    count(&mut proof.restarted_as_planned, name, Some(1 + usize::from(container.twice)));
                }
            }
        }
        proof
    }
}

fn whole(seconds: i64) -> f64 {
    f64::from(u32::try_from(seconds).unwrap_or(if seconds < 0 { 0 } else { u32::MAX }))
}

/// Returns whether the kubelet's events may show how long pulls took: a container restarted whose pull is not known.
pub fn wants_pulls(outcome: &Outcome) -> bool {
    let done = outcome.pods.iter().filter(|end| end.patched && matches!(end.phase, UpdatePhase::Done));
    done.flat_map(|end| &end.containers).any(|end| end.times.started_at.is_some() && end.times.pull_seconds.is_none())
}

pub fn wants_causes(outcome: &Outcome) -> bool {
    outcome.pods.iter().any(lacks_cause)
}

fn lacks_cause(end: &PodEnd) -> bool {
    end.replaced
        && matches!(&end.phase, UpdatePhase::Gone { why } if [LEFT, DELETED, BEING_DELETED].contains(&why.as_str()))
}

/// Returns the pods of which it is not known whether they were deleted: reading each of them shows it.
pub fn of_unknown_whereabouts(outcome: &Outcome) -> impl Iterator<Item = &PodKey> {
    let is_unknown = |end: &&PodEnd| matches!(&end.phase, UpdatePhase::Gone { why } if why == LEFT);
    outcome.pods.iter().filter(is_unknown).map(|end| &end.pod)
}

/// Adds whether a pod that was looked for still exists.
pub fn add_whereabouts(outcome: &mut Outcome, key: &PodKey, is_there: bool) {
    let why = if is_there { RELABELLED } else { DELETED };
    let is_it = |end: &&mut PodEnd| end.pod == *key && matches!(&end.phase, UpdatePhase::Gone { why } if why == LEFT);
    outcome.pods.iter_mut().filter(is_it).for_each(|end| end.phase = UpdatePhase::Gone { why: why.into() });
}

/// The reason of a pod that is no longer among those of its workload where nothing else is known.
pub const LEFT: &str = "it was deleted or relabelled";

/// The reason of one that still exists.
pub const RELABELLED: &str = "it was relabelled, and is still there";

/// The reason of a pod that is gone where nothing else is known.
pub const DELETED: &str = "it was deleted";

/// The reason of a pod that is terminating where nothing else is known.
pub const BEING_DELETED: &str = "it is being deleted";

/// Adds how long the kubelet pulled, from its events `Pulled`: the newest of the container between the end of the one
/// before and the start of the new one, which names the image.
pub fn add_pulls(outcome: &mut Outcome, events: &[Event]) {
    let mut of_pod: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.reason == "Pulled") {
        of_pod.entry(event.uid.as_str()).or_default().push(event);
    }
    for end in &mut outcome.pods {
        let Some(events) = of_pod.get(end.pod.uid.as_str()) else { continue };
        for container in &mut end.containers {
            let (Some(ended), Some(started)) = (&container.times.ended_at, &container.times.started_at) else {
                continue;
            };
            let is_its = |event: &&&Event| {
                let named = events::image_of(&event.message).zip(container.to.as_deref());
                event.container.as_ref() == Some(&container.container)
                    && ended <= &event.time
                    && event.time <= *started
                    && named.is_none_or(|(named, to)| image::is_same(named, to))
            };
            let newest = events.iter().filter(is_its).max_by(|a, b| a.time.cmp(&b.time));
            container.times.pull_seconds = newest.and_then(|event| events::pull_seconds(&event.message));
        }
    }
}

/// Adds whether a controller deleted pods that left for an unknown reason.
pub fn add_causes(outcome: &mut Outcome, events: &[Event]) {
    let deleted: BTreeSet<&str> = events.iter().filter_map(events::deleted_pod).collect();
    for end in outcome.pods.iter_mut().filter(|end| lacks_cause(end)) {
        if deleted.contains(end.pod.name.as_str()) {
            end.phase = UpdatePhase::Gone { why: "its controller deleted it".into() };
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::WorkloadKind;
    use crate::report::{ContainerEnd, ContainerTimes, StartedAgain};
    use crate::state::outcome::EndResult;

    fn end(name: &str, phase: UpdatePhase, down: i64) -> PodEnd {
        let pod = PodKey { namespace: "d".into(), name: name.into(), uid: format!("uid-{name}").into() };
        PodEnd {
            replaced: matches!(phase, UpdatePhase::Gone { .. }),
            patched: true,
            containers: vec![ContainerEnd {
                container: "side".into(),
                from: None,
                to: Some("acme/side:2".into()),
                changed: true,
                twice: false,
                by_resize: false,
                again: None,
                down_seconds: Some(down),
                times: ContainerTimes {
                    ended_at: Some("2026-01-01T00:00:10Z".into()),
                    started_at: Some("2026-01-01T00:00:14Z".into()),
                    running_since: None,
                    pull_seconds: None,
                    ready_seconds: Some(down + 1),
                },
            }],
            ..PodEnd::new(pod, phase)
        }
    }

    fn outcome(pods: Vec<PodEnd>) -> Outcome {
        let workload = crate::k8s::names::WorkloadRef {
            kind: WorkloadKind::Deployment,
            namespace: "d".into(),
            name: "web".into(),
        };
        Outcome::new(workload, EndResult::Complete, pods)
    }

    fn pulled(name: &str, time: &str, message: &str) -> Event {
        Event::of(&json!({"involvedObject": {"uid": format!("uid-{name}"), "fieldPath": "spec.containers{side}"},
            "reason": "Pulled", "lastTimestamp": time, "message": message}))
    }

    #[test]
    fn what_it_has_not_changed_was_not_down_for_it() {
        let mut left = end("web-0", UpdatePhase::Done, 4);
        left.containers.iter_mut().for_each(|container| container.changed = false);
        let proof = Proof::of(&outcome(vec![left]), |_, _| true, |_| None);
        assert_eq!((proof.restarted_as_planned, proof.times), ([].into(), [].into()));
    }

    fn spread(seconds: &[f64]) -> Option<Spread> {
        let mut spread = None;
        seconds.iter().for_each(|seconds| Spread::add(&mut spread, Some(*seconds)));
        spread
    }

    #[test]
    fn a_spread_has_both_ends() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0]), Some(Spread { min: 3.0, max: 3.0, pods: 1 }));
        assert_eq!(spread(&[9.0, 1.0, 2.0]), Some(Spread { min: 1.0, max: 9.0, pods: 3 }));
    }

    fn counted(container: &str, pods: usize, restarts: impl Into<Option<usize>>) -> ByContainer<InPods> {
        let name = ContainerName::from(container);
        [(name.clone(), InPods { container: name, pods, restarts: restarts.into() })].into()
    }

    fn down(proof: &Proof) -> Option<(f64, f64, usize)> {
        let spread = proof.times.get(&"side".into())?.down_seconds?;
        Some((spread.min, spread.max, spread.pods))
    }

    #[test]
    fn it_counts_what_was_planned_what_was_not_and_what_left() {
        let mut ends = vec![end("a", UpdatePhase::Done, 1), end("b", UpdatePhase::Done, -5)];
        ends.push(end("c", UpdatePhase::Gone { why: DELETED.into() }, 7));
        ends.push(end("d", UpdatePhase::Starting { containers: vec![] }, 7));
        ends[1].unplanned = vec!["app".into()];
        ends[1].containers[0].twice = true;
        let proof = Proof::of(&outcome(ends.clone()), |_, _| true, |_| None);
        assert_eq!(proof.restarted_as_planned, counted("side", 2, 3), "once twice");
        assert_eq!(proof.restarted_not_planned, counted("app", 1, 1));
        assert_eq!(proof.replaced.len(), 1);
        assert_eq!(down(&proof), Some((0.0, 1.0, 2)), "only of pods that are done");
        assert_eq!(Proof::of(&outcome(ends), |_, _| false, |_| None).restarted_as_planned, [].into());
    }

    #[test]
    fn restarts_beyond_the_planned_ones_and_by_resizes_of_an_earlier_run_are_counted() {
        let mut ends =
            vec![end("a", UpdatePhase::Done, 1), end("b", UpdatePhase::Done, 1), end("c", UpdatePhase::Done, 1)];
        for (end, times) in ends.iter_mut().zip([1, 3]) {
            end.unplanned = vec!["side".into()];
            end.containers[0].again = Some(StartedAgain { times, exit_code: Some(3) });
        }
        ends[2].containers[0].by_resize = true;
        let proof = Proof::of(&outcome(ends), |_, _| true, |_| None);
        let all = counted("side", 3, 3);
        assert_eq!((proof.restarted_as_planned, proof.resized), (all, counted("side", 1, None)));
        assert_eq!(proof.restarted_not_planned, counted("side", 2, 4), "four restarts in two pods");
    }

    #[test]
    fn an_abort_counts_what_it_has_done_itself() {
        let mut ends = vec![end("a", UpdatePhase::Done, 1), end("b", UpdatePhase::Done, 40)];
        ends[1].patched = false;
        ends[1].containers[0].twice = true;
        for (result, planned, down) in [(EndResult::Complete, 2, (1.0, 40.0)), (EndResult::Aborted, 1, (1.0, 1.0))] {
            let proof = Proof::of(&Outcome { result, ..outcome(ends.clone()) }, |_, _| true, |_| None);
            // The second one restarted twice.
            assert_eq!(proof.restarted_as_planned, counted("side", planned, 2 * planned - 1), "{result:?}");
            assert_eq!(self::down(&proof).map(|(min, max, _)| (min, max)), Some(down), "{result:?}");
        }
    }

    #[test]
    fn a_downtime_that_the_api_does_not_tell_is_counted_as_unknown() {
        let mut ends =
            vec![end("a", UpdatePhase::Done, 1), end("b", UpdatePhase::Done, 1), end("c", UpdatePhase::Done, 1)];
        ends[1].containers[0].down_seconds = None;
        // Of what another run has patched nothing is claimed.
        ends[2].containers[0].down_seconds = None;
        ends[2].patched = false;
        let proof = Proof::of(&outcome(ends), |_, _| true, |_| None);
        assert_eq!((down(&proof).map(|(_, _, pods)| pods), proof.times[&"side".into()].down_unknown), (Some(1), 1));
    }

    #[test]
    fn a_pull_counts_if_it_lies_within_the_restart_and_names_the_image() {
        let took = "Successfully pulled image \"docker.io/acme/side:2\" in 1.5s (2s including waiting)";
        for (time, message, expected) in [
            ("2026-01-01T00:00:12Z", took, Some(1.5)),
            ("2026-01-01T00:00:09Z", took, None),
            ("2026-01-01T00:00:15Z", took, None),
            ("2026-01-01T00:00:12Z", "Container image \"acme/side:2\" already present on machine", None),
            ("2026-01-01T00:00:12Z", "Successfully pulled image \"acme/side:1\" in 1.5s", None),
        ] {
            let mut ended = outcome(vec![end("a", UpdatePhase::Done, 1)]);
            assert!(wants_pulls(&ended));
            add_pulls(&mut ended, &[pulled("b", "2026-01-01T00:00:12Z", took), pulled("a", time, message)]);
            assert_eq!(ended.pods[0].containers[0].times.pull_seconds, expected, "{time} {message}");
        }
    }

    #[test]
    fn who_deleted_a_pod_is_said_where_its_controller_did() {
        let event = Event::of(&json!({"reason": "SuccessfulDelete", "message": "Deleted pod: a"}));
        let gone = |why: &str| UpdatePhase::Gone { why: why.into() };
        let mut ended =
            outcome(vec![end("a", gone(DELETED), 1), end("b", gone(DELETED), 1), end("a", gone("evicted"), 1)]);
        assert!(wants_causes(&ended));
        add_causes(&mut ended, &[event]);
        let whys: Vec<UpdatePhase> = ended.pods.into_iter().map(|end| end.phase).collect();
        assert_eq!(whys, [gone("its controller deleted it"), gone(DELETED), gone("evicted")]);
    }

    #[test]
    fn a_pod_that_left_was_deleted_if_it_is_not_there() {
        let gone = |why: &str| UpdatePhase::Gone { why: why.into() };
        let mut ended = outcome(vec![end("a", gone(LEFT), 1), end("b", gone(LEFT), 1), end("c", gone("evicted"), 1)]);
        assert!(wants_causes(&ended));
        let unknown: Vec<PodKey> = of_unknown_whereabouts(&ended).cloned().collect();
        assert_eq!(unknown.iter().map(|key| key.name.as_str()).collect::<String>(), "ab");
        unknown.iter().for_each(|key| add_whereabouts(&mut ended, key, key.name == "a"));
        let whys: Vec<UpdatePhase> = ended.pods.into_iter().map(|end| end.phase).collect();
        assert_eq!(whys, [gone(RELABELLED), gone(DELETED), gone("evicted")]);
    }
}
