//! How things stand when a run ends: each pod, and of each container what changed, how often it restarted, and for how long
//! it was down.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::goal::{ContainerGoal, Goal, PodGoal};
use super::observed::TurnContext;
use super::pod_run::PodRun;
use super::restarted::{down_seconds, has_begun, running_since, times, was_changed, was_left};
use super::state::RunState;
use crate::change::{self, FieldEffect, Row, image_in};
use crate::k8s::failure;
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::pod::Pod;
use crate::report::progress::UpdatePhase;
use crate::report::{
    ContainerEnd, ContainerImages, FieldValue, FieldValues, NewPods, NotReady, Outcome, PodEnd, PodsWithImage,
    StartedAgain,
};
use crate::state::again::CrashLoop;
use crate::state::evidence::Baseline;
use crate::state::outcome::EndResult;
use crate::state::record::UpdateRecord;

pub(super) fn outcome(context: TurnContext<'_>, state: &RunState, result: EndResult, why: Option<String>) -> Outcome {
    let end = |run: &PodRun| {
        let pod = context.observed.pod(&run.goal.key);
        let mut end = pod_end(pod, run, context.goal);
        end.patched |= run.request.sends > 0 && pod.is_some_and(|pod| is_of_this_run(context.goal, pod));
        end
    };
    let mut pods: Vec<PodEnd> = state.pods.iter().map(end).collect();
    if context.goal.is_followed() {
        leave_out_earlier_updates(context, state, &mut pods);
    }
    pods.extend(state.replacements.ends());
    Outcome {
        why: [why, state.requests.left(context)].into_iter().flatten().reduce(|why, left| format!("{why}; {left}")),
        held: state.owner.stays_held(context),
        nothing_changed: state.owner.has_changed_nothing(context),
        still_forward: context.goal.is_back() && state.owner.is_still_forward(context),
        budget_blocks: result == EndResult::TimedOut && state.budgets.is_blocking(),
        standing: standing(context, state),
        standing_fields: standing_fields(context, state),
        seconds: context.now.saturating_sub(state.began.unwrap_or(context.now)).as_secs_f64(),
        ..Outcome::new(context.goal.workload.clone(), result, pods)
    }
}

/// Leaves out the containers that no update in the course of what is followed has changed. A container that is reported for
/// one pod is reported for every pod that it was changed in, so that the counts are right.
fn leave_out_earlier_updates(context: TurnContext<'_>, state: &RunState, ends: &mut [PodEnd]) {
    let is_of_before = |run: &PodRun, name: &ContainerName| {
        let pod = context.observed.pod(&run.goal.key);
        pod.is_some_and(|pod| was_over_by(pod, &run.goal, name, context.goal.read_at()))
    };
    let reported = |(run, end): (&PodRun, &PodEnd)| {
        let changed = end.containers.iter().filter(|end| end.changed).map(|end| end.container.clone());
        changed.filter(|name| !is_of_before(run, name)).collect::<Vec<_>>()
    };
    let reported: BTreeSet<ContainerName> = state.pods.iter().zip(&*ends).flat_map(reported).collect();
    for (run, end) in state.pods.iter().zip(ends) {
        let pod = context.observed.pod(&run.goal.key);
        end.containers
            .retain(|end| end.changed && reported.contains(&end.container) || !is_of_before(run, &end.container));
        end.unchanged = pod.is_some_and(|pod| is_as_made(pod, &run.goal));
        // What is followed may have happened long ago.
        for container in &mut end.containers {
            container.times.running_since = running_since(pod, &container.container);
        }
    }
}

/// Whether the pod's record is this run's: of a rollout that no other run has held before. A request that arrives twice
/// is refused the second time, and that answer may be the only one that this run gets.
fn is_of_this_run(goal: &Goal, pod: &Pod) -> bool {
    let is_first = goal.owner.as_ref().is_none_or(|owner| owner.replaces.is_none() && !owner.adopts);
    let record = UpdateRecord::of(pod).filter(|record| record.id == *goal.id() && record.is_of_update());
    !goal.is_followed() && is_first && record.is_some_and(|record| record.taken_over.is_none())
}

fn pod_end(pod: Option<&Pod>, run: &PodRun, rollout: &Goal) -> PodEnd {
    let goal = run.goal.as_ref();
    let is_ours = run.request.patched && run.phase == Some(UpdatePhase::Done);
    let containers = goal.containers.iter().map(|(name, wanted)| {
        let again = pod.filter(|_| is_ours && wanted.restarts);
        let again = again.and_then(|pod| started_again(pod, (name, wanted), rollout.id()));
        ContainerEnd { again, ..container_end(pod, (name, wanted), goal, rollout) }
    });
    let containers: Vec<ContainerEnd> = containers.collect();
    let again = containers.iter().filter(|end| end.again.is_some()).map(|end| end.container.clone());
    PodEnd {
        patched: run.request.patched,
        unplanned: pod.into_iter().flat_map(|pod| others_restarted(pod, run, false)).chain(again).collect(),
        as_before: pod.into_iter().flat_map(|pod| others_restarted(pod, run, true)).collect(),
        containers,
        replaced: run.is_replaced(),
        not_ready: pod.filter(|_| is_ours).and_then(not_ready),
        ..PodEnd::new(goal.key.clone(), run.phase.clone().unwrap_or(UpdatePhase::Waiting))
    }
}

fn not_ready(pod: &Pod) -> Option<NotReady> {
    let status = failure::unready(pod, |_| false).filter(|_| !pod.terminating)?;
    Some(NotReady { container: status.name.clone(), reason: failure::word(status).to_owned() })
}

/// The containers without a planned change of which another one runs than when the pod was patched: those that crashed already,
/// or the others.
fn others_restarted(pod: &Pod, run: &PodRun, as_before: bool) -> Vec<ContainerName> {
    let restarted = |(name, (before, in_loop)): &(&ContainerName, &(Option<String>, CrashLoop))| {
        let now = pod.status_of(name);
        let is_other = before.is_some() && now.and_then(|now| now.container_id.as_ref()) != before.as_ref();
        is_other && now.is_some_and(|now| in_loop.goes_on(now)) == as_before
    };
    run.evidence.others.iter().filter(restarted).map(|(name, _)| name.clone()).collect()
}

fn container_end(
    pod: Option<&Pod>,
    (name, wanted): (&ContainerName, &ContainerGoal),
    goal: &PodGoal,
    rollout: &Goal,
) -> ContainerEnd {
    let restarted = || pod.filter(|pod| !was_left(pod, name));
    let has_its_image = |pod| was_changed(pod, name) && has_begun(pod, name) && !is_of_earlier(rollout, pod, name);
    let is_not_before =
        |pod| UpdateRecord::of(pod).is_none_or(|record: Cow<'_, UpdateRecord>| !record.is_before_its_resize(pod, name));
    let by_request = rollout.by_request && pod.is_some_and(|pod| has_restarted_by_request(pod, name, rollout.id()));
    let by_resize = wanted.by_resize && pod.is_some_and(|pod| has_restarted_by_resize(pod, name, rollout.id()));
    ContainerEnd {
        container: name.clone(),
        from: wanted.from.clone(),
        to: wanted.to.clone(),
        changed: match wanted.is_only_resized() {
            true => pod.is_some_and(is_not_before),
            false => by_request || by_resize || restarted().is_some_and(has_its_image),
        },
        twice: wanted.by_resize
            && wanted.to.is_some()
            && pod.and_then(UpdateRecord::of).is_some_and(|record| record.restarts_twice(name)),
        by_resize,
        again: None,
        down_seconds: restarted().and_then(|pod| down_seconds(pod, name)),
        times: pod.map(|pod| times(pod, name, goal)).unwrap_or_default(),
    }
}

/// Whether another container runs than before the resize that this rollout has noted.
fn has_restarted_by_resize(pod: &Pod, name: &ContainerName, rollout: &RolloutId) -> bool {
    UpdateRecord::of_rollout(pod, rollout).is_some_and(|record| {
        let restarts = record.restarts_by_resize(name).is_some();
        restarts && !record.is_before_its_resize(pod, name)
    })
}

/// Whether another container runs than before the request that this rollout has noted.
fn has_restarted_by_request(pod: &Pod, name: &ContainerName, rollout: &RolloutId) -> bool {
    let before = UpdateRecord::of_rollout(pod, rollout).and_then(|record| record.before(pod, name));
    before.zip(pod.status_of(name)).is_some_and(|(before, now)| before.container_id != now.container_id)
}

/// How much more often a container was started than this rollout's changes of it start it. The count of before is that of the
/// container that the patch itself tested.
fn started_again(
    pod: &Pod,
    (name, wanted): (&ContainerName, &ContainerGoal),
    rollout: &RolloutId,
) -> Option<StartedAgain> {
    let record = UpdateRecord::of_rollout(pod, rollout)?;
    let status = pod.status_of(name)?;
    let before = record.before(pod, name)?;
    let since_the_first = || {
        let resized = record.restarts_by_resize(name).filter(|_| wanted.by_resize && record.restarts_twice(name))?;
        let planned = 1 + i64::from(resized.container_id.is_some());
        u64::try_from(status.restart_count - resized.restarts? - planned).ok()
    };
    let since_the_last = Baseline::Recorded(before.clone()).restarts_since(status)?;
    let times = since_the_first().unwrap_or(since_the_last).max(since_the_last);
    let ended = status.last_state.terminated.as_ref().filter(|ended| ended.container_id != before.container_id);
    (times > 0).then(|| StartedAgain { times, exit_code: ended.map(|ended| ended.exit_code) })
}

/// Whether this container of the pod was changed by an earlier rollout alone. Where this rollout has changed nothing
/// but cpu and memory and has taken that back, the pod has the earlier rollout's record again.
fn is_of_earlier(rollout: &Goal, pod: &Pod, name: &ContainerName) -> bool {
    UpdateRecord::of(pod).is_some_and(|record| match record.id == *rollout.id() {
        true => record.earlier.contains_key(name) && !record.containers.contains_key(name),
        false => !rollout.is_followed(),
    })
}

/// Whether a container that is followed was changed by an update that was over when the one that is followed began: it
/// was running when that update set another container, and when the pod was read.
fn was_over_by(pod: &Pod, goal: &PodGoal, name: &ContainerName, read_at: Option<&str>) -> bool {
    let record = UpdateRecord::of(pod);
    let is_noted = |name: &ContainerName| record.as_ref().is_some_and(|record| record.container(pod, name).is_some());
    let is_another = |other: &&ContainerName| *other != name && !(is_noted(name) && is_noted(other));
    let others = goal.containers.keys().filter(is_another).filter(|other| was_changed(pod, other));
    let newest = others.filter_map(|other| pod.image_set.get(other)).map(|set| set.time.as_str()).max();
    let is_waited_for = goal.containers.get(name).is_some_and(|wanted| wanted.to.is_some());
    let Some(since) = running_since(Some(pod), name).filter(|_| !is_waited_for) else { return false };
    newest.is_some_and(|set| since.as_str() < set) && read_at.is_none_or(|read| since.as_str() < read)
}

/// Whether nobody has changed a container of a pod since it was created, as far as the pod shows, nor is about to.
fn is_as_made(pod: &Pod, goal: &PodGoal) -> bool {
    let is_as_made = |name: &ContainerName| Baseline::of(pod, name) == Baseline::Created;
    let is_resized = change::resizing(pod).is_some() || goal.containers.values().any(|wanted| wanted.by_resize);
    !is_resized && goal.containers.keys().all(is_as_made)
}

// What is asked for and what is there when a run ends: the template's image, and the pods' by number.

/// Says for each container that the rollout changes what the template and the owner's pods ask for; nothing before the
/// pods were listed.
fn standing(context: TurnContext<'_>, state: &RunState) -> Vec<ContainerImages> {
    if !state.listed {
        return Vec::new();
    }
    let of_owner = context.goal.lock.rollout.change.images.keys();
    let of_pods = context.goal.pods.iter().flat_map(|pod| pod.containers.keys());
    let names: BTreeSet<&ContainerName> = of_owner.chain(of_pods).collect();
    let (going, pods): (Vec<&Pod>, Vec<&Pod>) = pods_of(context, state).into_iter().partition(|pod| pod.terminating);
    let change = context.goal.owner.as_ref().map(|_| context.goal.lock.rollout.directed());
    let is_rewritten = |name: &ContainerName| {
        change.as_ref().and_then(|change| change.images.get(name)).is_some_and(|image| image.in_pods() != image.to)
    };
    let image = |template: &Value, name: &ContainerName| image_in(template, name).map(str::to_owned);
    let of_container = |name: &ContainerName| ContainerImages {
        container: name.clone(),
        template: state.owner.in_template(context, |template| image(template, name)),
        new_pods: match state.owner.new_pods(context, |template| image(template, name)) {
            NewPods::AsTemplate if is_rewritten(name) => NewPods::Unknown,
            new_pods @ (NewPods::AsTemplate | NewPods::Is(_) | NewPods::Without | NewPods::Unknown) => new_pods,
        },
        pods: images(name, &pods),
        going: going.len(),
    };
    names.into_iter().map(of_container).collect()
}

/// Says the same for each field that the rollout changes in the template.
fn standing_fields(context: TurnContext<'_>, state: &RunState) -> Vec<FieldValues> {
    let Some(owner) = context.goal.owner.as_ref().filter(|_| state.listed) else { return Vec::new() };
    let fields = context.goal.lock.rollout.directed().fields;
    let pods: Vec<&Pod> = pods_of(context, state).into_iter().filter(|pod| !pod.terminating).collect();
    let lacking: Vec<Vec<Row>> = pods.iter().map(|pod| fields.left_in(pod).rows()).collect();
    let of_row = |row: Row| {
        // The diff from a template to the wanted one has the present value as `before`.
        let value = |template: &Value| {
            let left = change::diff(template, owner.target(context.goal.lock.rollout.direction)).change.fields.rows();
            left.into_iter().find(|left| left.path == row.path).map_or_else(|| row.after.clone(), |left| left.before)
        };
        let lack = lacking.iter().filter(|left| left.iter().any(|left| left.path == row.path)).count();
        let reaches_pods = row.effect != FieldEffect::LaterPods;
        FieldValues {
            template: state
                .owner
                .in_template(context, |template| Some(value(template)))
                .map_or(FieldValue::Unread, FieldValue::from),
            new_pods: state.owner.new_pods(context, value),
            have: reaches_pods.then(|| pods.len().saturating_sub(lack)),
            lack: reaches_pods.then_some(lack),
            what: row.what,
            wanted: row.after.into(),
        }
    };
    fields.rows().into_iter().map(of_row).collect()
}

/// The owner's pods, those of every ReplicaSet: somebody else's template may have brought another one.
fn pods_of<'a>(context: TurnContext<'a>, state: &RunState) -> Vec<&'a Pod> {
    let sets = context.observed.owner.as_ref().into_iter().flat_map(|view| &view.owned);
    let sets: BTreeSet<&str> = sets.filter_map(|set| set.pointer("/metadata/uid").and_then(Value::as_str)).collect();
    let is_owned = |pod: &Pod| pod.controller().is_some_and(|owner| sets.contains(owner.uid.as_str()));
    let pods = context.observed.pods().filter(|pod| !pod.is_finished());
    pods.filter(|pod| state.pods.is_owners(context, pod) || is_owned(pod)).collect()
}

fn images(name: &ContainerName, pods: &[&Pod]) -> Vec<PodsWithImage> {
    let mut images: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for pod in pods {
        let Some(container) = pod.spec_of(name) else { continue };
        let (number, ready) = images.entry(&container.image).or_default();
        *number += 1;
        *ready += usize::from(pod.is_ready());
    }
    let images = images.into_iter();
    images.map(|(image, (pods, ready))| PodsWithImage { image: image.to_owned(), pods, ready }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::pod_run::Request;
    use super::*;
    use crate::state::evidence;

    fn goal(follows: &Value) -> Goal {
        serde_json::from_value(json!({"workload": {"kind": "Deployment", "namespace": "d", "name": "web"}, "clock": "",
            "controllers": [], "replicas": 1, "pods": [], "field_manager": "m", "follows": follows,
            "lock": {"id": "one", "run": "r", "who": "", "since": "", "version": "0", "state": "running",
                "direction": "forward", "change": {"images": {}}}}))
        .expect("it is a goal")
    }

    fn ours() -> Goal {
        goal(&Value::Null)
    }

    fn followed() -> Goal {
        goal(&json!({"readAt": null, "heldBy": null}))
    }

    /// `side` was changed and done before `app` was set: `follow` reports `app` alone.
    #[test]
    fn what_was_over_before_is_not_followed() {
        let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
        let status = |name: &str, started: u32| {
            json!({"name": name, "image": "a:2", "imageID": "new", "containerID": name, "ready": true, "restartCount": 1,
                "state": {"running": {"startedAt": at(started)}}})
        };
        let set = |manager: &str, name: &str, second: u32| {
            json!({"manager": manager, "operation": "Update", "time": at(second), "fieldsV1": {"f:spec": {"f:containers":
                {format!("k:{{\"name\":\"{name}\"}}"): {"f:image": {}}}}}})
        };
        let pod = |noted: &[&str]| {
            let note = json!({"from": "a:1", "to": "a:2", "imageID": "old", "containerID": "old"});
            let noted: serde_json::Map<String, Value> =
                noted.iter().map(|name| ((*name).to_owned(), note.clone())).collect();
            let record = json!({"id": "one", "manager": "m", "containers": noted});
            let container = |name: &str| json!({"name": name, "image": "a:2"});
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()},
                    "managedFields": [set("m", "side", 5), set(if noted.len() == 2 { "m" } else { "set" }, "app", 10)]},
                "spec": {"containers": [container("app"), container("side")]},
                "status": {"containerStatuses": [status("app", 11), status("side", 6)]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"app": {"restarts": true}, "side": {"restarts": true}}}))
        .expect("it is a goal");
        for (what, noted, read, of_before) in [
            ("an update of before", &["side"][..], 12, [false, true]),
            ("it was seen to restart", &["side"], 6, [false, false]),
            ("two steps of one update", &["app", "side"], 12, [false, false]),
        ] {
            let found = ["app", "side"].map(|name| was_over_by(&pod(noted), &goal, &name.into(), Some(&at(read))));
            assert_eq!(found, of_before, "{what}");
        }
    }

    /// The image was restored before the kubelet had seen the other one: nothing restarted, and nothing is in progress.
    #[test]
    fn a_container_that_never_had_to_leave_has_not_restarted() {
        let noted = json!({"from": "a:2", "to": "a:1", "inFlight": "a:1", "imageID": "one", "containerID": "c://old", "restarts": 0});
        let record = json!({"id": "one", "manager": "m", "containers": {"side": noted}});
        let pod = |id: &str, seen: i64| {
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "generation": 3,
                    "annotations": {"kubectl-inplace.io/update": record.to_string()}},
                "spec": {"containers": [{"name": "side", "image": "a:1"}]},
                "status": {"observedGeneration": seen, "containerStatuses": [{"name": "side", "image": "a:1", "imageID": "one",
                    "containerID": id, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"side": {"from": "a:2", "to": "a:1", "restarts": true}}}))
        .expect("it is a goal");
        for (id, seen, changed) in [("c://old", 3, false), ("c://old", 2, true), ("c://new", 3, true)] {
            let pod = pod(id, seen);
            let end = pod_end(Some(&pod), &PodRun::new(goal.clone().into()), &ours());
            assert_eq!(end.containers.first().map(|end| end.changed), Some(changed), "{id} {seen}");
            let is_new =
                pod.container(&"side".into()).zip(pod.container_status(&"side".into())).map(|(asked, shown)| {
                    evidence::one_look(&pod, &Baseline::of(&pod, &"side".into()), asked.2, shown.2)
                        == evidence::Proof::New
                });
            assert_eq!(is_new, Some(!changed || id == "c://new"), "{id} {seen}");
        }
    }

    /// Restarts beyond those that were planned count as unplanned.
    #[test]
    fn a_container_that_ended_by_itself_after_its_update_is_distinguished_from_its_planned_restarts() {
        let pod = |ended: &str, count: i64, record: &Value| {
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()}},
                "spec": {"containers": [{"name": "side", "image": "a:2"}]},
                "status": {"containerStatuses": [{"name": "side", "image": "a:2", "imageID": "new", "containerID": "c://now",
                    "restartCount": count, "state": {"running": {}},
                    "lastState": {"terminated": {"exitCode": 3, "containerID": ended}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal = |wanted: Value| -> PodGoal {
            serde_json::from_value(
                json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"}, "containers": {"side": wanted}}),
            )
            .expect("it is a goal")
        };
        let noted = |restarts: Value| json!({"side": {"from": "a:1", "to": "a:2", "containerID": "c://old", "restarts": restarts}});
        let resize = json!({"side": {"values": {"requests.memory": {"from": "16Mi", "to": "20Mi"}},
            "restarting": ["requests.memory"], "containerID": "c://first", "restarts": 4}});
        let of = |containers: Value, resized: &Value| json!({"id": "one", "manager": "m", "containers": containers, "resized": resized});
        let (image, none) = (json!({"from": "a:1", "to": "a:2", "restarts": true}), json!({}));
        let both = json!({"from": "a:1", "to": "a:2", "restarts": true, "byResize": true});
        let resized = json!({"from": null, "to": null, "restarts": true, "byResize": true});
        let again = |times, exit_code| Some(StartedAgain { times, exit_code });
        for (what, ended, count, record, wanted, expected) in [
            ("as planned", "c://old", 5, of(noted(json!(4)), &none), &image, None),
            ("once more", "c://new", 6, of(noted(json!(4)), &none), &image, again(1, Some(3))),
            ("three times more", "c://new", 8, of(noted(json!(4)), &none), &image, again(3, Some(3))),
            ("it was not counted before", "c://new", 6, of(noted(Value::Null), &none), &image, None),
            ("for its resize and its image", "c://old", 6, of(noted(json!(5)), &resize), &both, None),
            ("once more between the two", "c://old", 7, of(noted(json!(6)), &resize), &both, again(1, None)),
            ("for its resize", "c://first", 5, of(none.clone(), &resize), &resized, None),
            ("once more after its resize", "c://new", 6, of(none.clone(), &resize), &resized, again(1, Some(3))),
        ] {
            let (pod, goal) = (pod(ended, count, &record), goal(wanted.clone()));
            for (patched, expected) in [(true, expected), (false, None)] {
                let request = Request { patched, ..Request::default() };
                let done = Some(UpdatePhase::Done);
                let run = PodRun { request, phase: done, ..PodRun::new(goal.clone().into()) };
                let end = pod_end(Some(&pod), &run, &ours());
                let unplanned: Vec<ContainerName> = expected.iter().map(|_| "side".into()).collect();
                assert_eq!(end.containers.first().map(|end| end.again.clone()), Some(expected), "{what} {patched}");
                assert_eq!(end.unplanned, unplanned, "{what} {patched}");
            }
        }
    }

    /// The image came with an earlier rollout, whose record the pod has again once the resize of this one is taken
    /// back.
    #[test]
    fn what_an_earlier_rollout_restarted_is_not_counted() {
        let noted = json!({"from": "a:1", "to": "a:2", "imageID": "one", "containerID": "c://old", "restarts": 0});
        let record = json!({"id": "before", "manager": "m", "containers": {"side": noted}});
        let object = json!({
            "metadata": {"name": "web-0", "uid": "u", "annotations": {"kubectl-inplace.io/update": record.to_string()}},
            "spec": {"nodeName": "n", "containers": [{"name": "side", "image": "a:2"}]},
            "status": {"containerStatuses": [{"name": "side", "image": "a:2", "imageID": "two", "containerID": "c://new",
                "restartCount": 1, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}});
        let pod = Pod::from_object(&object).expect("it is a pod");
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"side": {"from": "a:1", "to": "a:2", "restarts": true}}}))
        .expect("it is a goal");
        for (rollout, changed) in [(ours(), false), (followed(), true)] {
            let end = pod_end(Some(&pod), &PodRun::new(goal.clone().into()), &rollout);
            assert_eq!(end.containers.first().map(|end| end.changed), Some(changed));
        }
    }

    /// A pod that the rollout had resized but not given its image yet goes back by a resize alone.
    #[test]
    fn what_restarted_for_its_resize_alone_has_restarted() {
        let resize = |to: &str, id: &str| {
            json!({"side": {"values": {"requests.memory": {"from": "20Mi", "to": to}}, "restarting": ["requests.memory"],
            "containerID": id, "restarts": 1}})
        };
        let pod = |rollout: &str, before: &str| {
            let record = json!({"id": rollout, "manager": "m", "containers": {}, "resized": resize("16Mi", before)});
            let object = json!({
                "metadata": {"name": "web-0", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z",
                    "managedFields": [{"manager": "kubectl", "operation": "Update", "time": "2026-01-01T00:00:00Z",
                        "fieldsV1": {"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}}}],
                    "annotations": {"kubectl-inplace.io/update": record.to_string()}},
                "spec": {"nodeName": "n", "containers": [{"name": "side", "image": "a:1"}]},
                "status": {"containerStatuses": [{"name": "side", "image": "a:1", "imageID": "one", "containerID": "c://now",
                    "restartCount": 2, "state": {"running": {}}}]}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let goal: PodGoal = serde_json::from_value(json!({"key": {"namespace": "d", "name": "web-0", "uid": "u"},
            "containers": {"side": {"from": "a:1", "to": "a:1", "restarts": true, "byResize": true}}}))
        .expect("it is a goal");
        for (what, pod, restarted) in [
            ("another container runs", pod("one", "c://before"), true),
            ("the same runs", pod("one", "c://now"), false),
            ("another rollout has resized it", pod("other", "c://before"), false),
        ] {
            let end = pod_end(Some(&pod), &PodRun::new(goal.clone().into()), &ours());
            let found = end.containers.first().map(|end| (end.changed, end.by_resize, end.twice));
            assert_eq!(found, Some((restarted, restarted, false)), "{what}");
        }
    }

    /// A proxy that sends a patch twice returns the second answer, a refusal caused by the first one.
    #[test]
    fn a_pod_that_has_this_runs_record_was_patched_by_this_run() {
        let pod = |record: Value| {
            let object = json!({"metadata": {"name": "web-0", "uid": "u",
                "annotations": {"kubectl-inplace.io/update": record.to_string()}}, "spec": {"containers": []}});
            Pod::from_object(&object).expect("it is a pod")
        };
        let record = |id: &str| json!({"id": id, "manager": "m", "containers": {"side": {"from": "a:1", "to": "a:2", "containerID": "c://old"}}});
        for (what, goal, record, expected) in [
            ("this run's", ours(), record("one"), true),
            ("another rollout's", ours(), record("other"), false),
            ("who follows has patched nothing", followed(), record("one"), false),
        ] {
            assert_eq!(is_of_this_run(&goal, &pod(record)), expected, "{what}");
        }
    }
}
