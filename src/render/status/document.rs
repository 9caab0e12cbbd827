//! The status as one versioned document.
//!
//! Promise: fields are added, never renamed or taken away, within one `apiVersion`.

use serde_json::{Map, Value, json};

use crate::render::json::{each, without_empty};
use engine::change::{FieldProgress, Row};
use engine::k8s::names::ContainerName;
use engine::k8s::pod::Waiting;
use engine::plan::PLAN_API_VERSION;
use engine::state::durable::lease::LeaseState;
use engine::state::durable::lock::Lock;
use engine::status::{
    Condition, ContainerReport, OwnerState, PodState, PodStatus, Rewritten, TemplateContainer, WorkloadStatus,
};

pub(super) fn of(workloads: &[WorkloadStatus], not_read: &[String]) -> Value {
    json!({
        "apiVersion": PLAN_API_VERSION,
        "kind": "Status",
        "workloads": each(workloads, workload),
        "notRead": not_read,
    })
}

fn workload(status: &WorkloadStatus) -> Value {
    let mut counts = PodState::ALL.map(|state| (state.word(), status.count(state))).to_vec();
    counts.push(("pods", status.pods.len()));
    counts.sort_unstable();
    let workload = json!({
        "workload": status.workload,
        "uid": status.uid,
        "notable": status.is_notable(),
        "replicas": status.desired,
        "summary": counts.into_iter().map(|(word, count)| (word.to_owned(), count.into())).collect::<Map<_, Value>>(),
        "rollout": {"state": status.state.word(), "message": status.state.what_ended_it()},
        "held": match &status.lock {
            Ok(None) => Value::Null,
            Ok(Some(lock)) => held(lock, status.life.as_ref()),
            Err(text) => json!({"unreadable": text}),
        },
        "owner": each(&status.owner, owner),
        "template": each(&status.template, |TemplateContainer { container, list, image }| {
            json!({"container": container, "list": list, "image": image})
        }),
        "pods": each(&status.pods, pod),
        "rewritten": each(&status.rewritten, |Rewritten { what, template, made }| {
            json!({"what": what, "template": template, "pod": made})
        }),
        "notRead": status.not_read,
    });
    without_empty(workload, &["rewritten"])
}

fn held(lock: &Lock, life: Option<&LeaseState>) -> Value {
    let image = |(container, image): (&ContainerName, &engine::change::TemplateImage)| json!({"container": container, "from": image.from, "to": image.to});
    json!({
        "id": lock.rollout.id,
        "run": lock.run,
        "who": lock.rollout.who,
        "since": lock.rollout.since,
        "state": lock.state.word(),
        "direction": lock.rollout.direction,
        "reason": lock.rollout.reason,
        "version": lock.version,
        "runBy": lock.lease,
        "life": life.map(sign_of_life),
        "images": lock.rollout.change.images.iter().map(image).collect::<Value>(),
    })
}

fn sign_of_life(life: &LeaseState) -> Value {
    let seconds = match life {
        LeaseState::Alive(age) | LeaseState::Silent(age) | LeaseState::Stalled { silent: age, .. } => {
            Some(age.as_secs())
        }
        LeaseState::Ended | LeaseState::Gone | LeaseState::Unknown(_) => None,
    };
    json!({"state": life.word(), "seconds": seconds, "message": life.sentence()})
}

fn owner(state: &OwnerState) -> Value {
    let status = if let OwnerState::RollingOut { status } = state { Some(status) } else { None };
    let reason = if let OwnerState::Stuck { reason, .. } = state { Some(reason) } else { None };
    let owner = json!({"state": state.word(), "status": status, "reason": reason, "message": state.sentence()});
    without_empty(owner, &["status", "reason"])
}

fn pod(pod: &PodStatus) -> Value {
    let document = json!({
        "namespace": pod.key.namespace,
        "name": pod.key.name,
        "uid": pod.key.uid,
        "node": Some(pod.node.as_str()).filter(|node| !node.is_empty()),
        "state": pod.state.word(),
        "ready": pod.ready,
        "readySince": pod.ready_since,
        "unscheduled": pod.unscheduled,
        "olderRevision": pod.older_revision,
        "update": pod.update,
        "outOfServices": pod.out_of_services,
        "resize": pod.resizing.as_ref().map_or(Value::Null, resize),
        // What a pod has of cpu or memory in place of what its template says.
        "resources": each(&pod.resources, |Row { path, before, after, .. }| {
            json!({"path": path, "template": before, "pod": after})
        }),
        "missingLabels": pod.missing_labels,
        "unreadableRecord": pod.unreadable_record,
        "containers": each(&pod.containers, container),
    });
    without_empty(document, &["resize", "resources", "missingLabels"])
}

fn resize(progress: &FieldProgress) -> Value {
    match progress {
        FieldProgress::Failed { message, .. } => json!({"state": "infeasible", "message": message}),
        FieldProgress::Waiting { why, deferred: true } => json!({"state": "deferred", "message": why}),
        FieldProgress::Waiting { why, deferred: false } => json!({"state": "inProgress", "message": why}),
        FieldProgress::NotAsked | FieldProgress::Done => Value::Null,
    }
}

fn container(report: &ContainerReport) -> Value {
    let of_waiting = |waiting: &Option<Waiting>| {
        waiting.clone().map(|Waiting { reason, message, .. }| (reason, message)).unwrap_or_default()
    };
    let (mut ready, mut since, mut exit_code) = (false, &None, None);
    let (reason, message) = match &report.condition {
        Condition::Running { ready: is_ready, since: at } | Condition::Restarted { ready: is_ready, since: at } => {
            (ready, since) = (*is_ready, at);
            Default::default()
        }
        Condition::Unverified { why, ready: is_ready, since: at } => {
            (ready, since) = (*is_ready, at);
            (String::new(), why.clone())
        }
        Condition::Updating { waiting } | Condition::Starting { waiting } => of_waiting(waiting),
        Condition::Failed(failure) => {
            exit_code = failure.exit_code;
            (failure.reason.clone(), failure.message.clone())
        }
        Condition::Ended { exit_code: code } => {
            exit_code = *code;
            Default::default()
        }
    };
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    json!({
        "container": report.container,
        "list": report.list,
        "image": report.image,
        "imageID": report.image_id,
        "asked": report.asked,
        "before": report.before,
        "comparison": report.comparison.word(),
        "condition": report.condition.word(),
        "ready": ready,
        "since": since,
        "reason": given(reason),
        "message": given(message),
        "exitCode": exit_code,
        "restarts": report.restarts,
        "restartsSinceUpdate": report.again.and_then(|again| again.times),
        "lastExitCode": report.last_exit_code(),
        "lastReason": report.last_end.as_ref().map(|end| &end.reason).filter(|reason| !reason.is_empty()),
        "lastEnded": report.last_end.as_ref().and_then(|end| end.finished_at.as_ref()),
    })
}
