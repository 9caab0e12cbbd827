//! The status as one versioned document.
//!
//! Promise: fields are added, never renamed or taken away, within one `apiVersion`.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::Value;

use crate::render::json::WorkloadName;
use crate::render::words;
use engine::change::{FieldProgress, Row};
use engine::k8s::names::RolloutId;
use engine::k8s::pod::Waiting;
use engine::plan::PLAN_API_VERSION;
use engine::state::durable::holder::Holder;
use engine::state::durable::life::Life;
use engine::state::durable::lock::RolloutLock;
use engine::status::{
    Condition, ContainerReport, Held, OwnerState, PodState, PodStatus, Rewritten, TemplateContainer, WorkloadStatus,
};

pub(super) fn of(workloads: &[WorkloadStatus], not_read: &[String]) -> io::Result<Value> {
    let workloads = workloads.iter().map(WorkloadView::of).collect();
    serde_json::to_value(Document { api_version: PLAN_API_VERSION, kind: "Status", workloads, not_read })
        .map_err(io::Error::other)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'a str,
    kind: &'a str,
    workloads: Vec<WorkloadView<'a>>,
    not_read: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadView<'a> {
    workload: WorkloadName<'a>,
    uid: &'a str,
    notable: bool,
    replicas: u32,
    summary: BTreeMap<&'a str, usize>,
    rollout: RolloutView,
    held: Option<HeldView<'a>>,
    owner: Vec<OwnerView<'a>>,
    template: Vec<TemplateView<'a>>,
    pods: Vec<PodView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rewritten: Vec<RewrittenView<'a>>,
    not_read: &'a [String],
}

impl<'a> WorkloadView<'a> {
    fn of(status: &'a WorkloadStatus) -> Self {
        let counts = PodState::ALL.into_iter().map(|state| (state.word(), status.count(state)));
        Self {
            workload: WorkloadName::of(&status.workload),
            uid: status.uid.as_str(),
            notable: status.is_notable(),
            replicas: status.desired,
            summary: counts.chain([("pods", status.pods.len())]).collect(),
            rollout: RolloutView { state: status.state.word(), message: status.state.what_ended_it() },
            held: match &status.held {
                Held::No => None,
                Held::By(lock) => Some(HeldView::Lock(Box::new(LockView::of(lock, status.life.as_ref())))),
                Held::Unreadable { text } => Some(HeldView::Unreadable { unreadable: text }),
            },
            owner: status.owner.iter().map(OwnerView::of).collect(),
            template: status.template.iter().map(TemplateView::of).collect(),
            pods: status.pods.iter().map(PodView::of).collect(),
            rewritten: status.rewritten.iter().map(RewrittenView::of).collect(),
            not_read: &status.not_read,
        }
    }
}

#[derive(Serialize)]
struct RolloutView {
    state: &'static str,
    message: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum HeldView<'a> {
    Lock(Box<LockView<'a>>),
    Unreadable { unreadable: &'a str },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LifeView {
    state: &'static str,
    /// Since its last sign of life, where one is known.
    seconds: Option<u64>,
    message: String,
}

impl LifeView {
    fn of(life: &Life) -> Self {
        let seconds = match life {
            Life::Alive(age) | Life::Silent(age) | Life::Stalled { silent: age, .. } => Some(age.as_secs()),
            Life::Ended | Life::Gone | Life::Unknown(_) => None,
        };
        Self { state: life.word(), seconds, message: life.sentence() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LockView<'a> {
    id: &'a str,
    run: &'a str,
    who: &'a str,
    since: &'a str,
    state: &'a str,
    direction: &'a str,
    reason: Option<&'a str>,
    version: &'a str,
    run_by: Option<&'a Holder>,
    life: Option<LifeView>,
    images: Vec<ImageView<'a>>,
}

#[derive(Serialize)]
struct ImageView<'a> {
    container: &'a str,
    from: &'a str,
    to: &'a str,
}

impl<'a> LockView<'a> {
    fn of(lock: &'a RolloutLock, life: Option<&Life>) -> Self {
        let images = lock.change.images.iter();
        Self {
            id: lock.id.as_str(),
            run: &lock.run,
            who: &lock.who,
            since: &lock.since,
            state: lock.state.word(),
            direction: words::direction(lock.direction),
            reason: lock.reason.as_deref(),
            version: &lock.version,
            run_by: lock.holder.as_ref(),
            life: life.map(LifeView::of),
            images: images
                .map(|(name, image)| ImageView { container: name.as_str(), from: &image.from, to: &image.to })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct OwnerView<'a> {
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    message: String,
}

impl<'a> OwnerView<'a> {
    fn of(state: &'a OwnerState) -> Self {
        let status = if let OwnerState::RollingOut { status } = state { Some(status.as_str()) } else { None };
        let reason = if let OwnerState::Stuck { reason, .. } = state { Some(reason.as_str()) } else { None };
        Self { state: state.word(), status, reason, message: state.sentence() }
    }
}

#[derive(Serialize)]
struct TemplateView<'a> {
    container: &'a str,
    list: &'a str,
    image: &'a str,
}

impl<'a> TemplateView<'a> {
    fn of(container: &'a TemplateContainer) -> Self {
        let TemplateContainer { container, list, image } = container;
        Self { container: container.as_str(), list: list.spec_field(), image }
    }
}

#[derive(Serialize)]
struct RewrittenView<'a> {
    what: &'a str,
    template: &'a str,
    pod: Option<&'a str>,
}

impl<'a> RewrittenView<'a> {
    fn of(rewritten: &'a Rewritten) -> Self {
        Self { what: &rewritten.what, template: &rewritten.template, pod: rewritten.made.as_deref() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodView<'a> {
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    node: Option<&'a str>,
    state: &'a str,
    ready: bool,
    ready_since: Option<&'a str>,
    unscheduled: Option<&'a str>,
    older_revision: Option<&'a str>,
    update: Option<&'a str>,
    out_of_services: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resize: Option<ResizeView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<ResourceView<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing_labels: &'a BTreeMap<String, String>,
    unreadable_record: bool,
    containers: Vec<ContainerView<'a>>,
}

impl<'a> PodView<'a> {
    fn of(pod: &'a PodStatus) -> Self {
        Self {
            namespace: &pod.key.namespace,
            name: &pod.key.name,
            uid: pod.key.uid.as_str(),
            node: Some(pod.node.as_str()).filter(|node| !node.is_empty()),
            state: pod.state.word(),
            ready: pod.ready,
            ready_since: pod.ready_since.as_deref(),
            unscheduled: pod.unscheduled.as_deref(),
            older_revision: pod.older_revision.as_deref(),
            update: pod.update.as_ref().map(RolloutId::as_str),
            out_of_services: pod.out_of_services.as_deref(),
            resize: pod.resizing.as_ref().and_then(ResizeView::of),
            resources: pod.resources.iter().map(ResourceView::of).collect(),
            missing_labels: &pod.missing_labels,
            unreadable_record: pod.unreadable_record,
            containers: pod.containers.iter().map(ContainerView::of).collect(),
        }
    }
}

/// A resize that is not done.
#[derive(Serialize)]
struct ResizeView<'a> {
    state: &'static str,
    message: Option<&'a str>,
}

impl<'a> ResizeView<'a> {
    fn of(progress: &'a FieldProgress) -> Option<Self> {
        Some(match progress {
            FieldProgress::Failed { message, .. } => Self { state: "infeasible", message: Some(message) },
            FieldProgress::Waiting { why, deferred } => {
                Self { state: if *deferred { "deferred" } else { "inProgress" }, message: why.as_deref() }
            }
            FieldProgress::NotAsked | FieldProgress::Done => return None,
        })
    }
}

/// What a pod has of cpu or memory in place of what its template says.
#[derive(Serialize)]
struct ResourceView<'a> {
    path: &'a str,
    template: Option<&'a str>,
    pod: Option<&'a str>,
}

impl<'a> ResourceView<'a> {
    fn of(row: &'a Row) -> Self {
        Self { path: &row.path, template: row.before.as_deref(), pod: row.after.as_deref() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContainerView<'a> {
    container: &'a str,
    list: &'a str,
    image: &'a str,
    #[serde(rename = "imageID")]
    image_id: Option<&'a str>,
    asked: Option<&'a str>,
    before: Option<&'a str>,
    comparison: &'a str,
    condition: &'a str,
    ready: bool,
    since: Option<&'a str>,
    reason: Option<&'a str>,
    message: Option<&'a str>,
    exit_code: Option<i64>,
    restarts: i64,
    restarts_since_update: Option<u64>,
    last_exit_code: Option<i64>,
    last_reason: Option<&'a str>,
    last_ended: Option<&'a str>,
}

impl<'a> ContainerView<'a> {
    fn of(report: &'a ContainerReport) -> Self {
        let of_waiting = |waiting: &'a Option<Waiting>| {
            waiting.as_ref().map(|waiting| (waiting.reason.as_str(), waiting.message.as_str())).unzip()
        };
        let (mut ready, mut since, mut exit_code) = (false, None, None);
        let (reason, message) = match &report.condition {
            Condition::Running { ready: is_ready, since: at } | Condition::Restarted { ready: is_ready, since: at } => {
                (ready, since) = (*is_ready, at.as_deref());
                (None, None)
            }
            Condition::Unverified { why, ready: is_ready, since: at } => {
                (ready, since) = (*is_ready, at.as_deref());
                (None, Some(why.as_str()))
            }
            Condition::Updating { waiting } | Condition::Starting { waiting } => of_waiting(waiting),
            Condition::Failed(failure) => {
                exit_code = failure.exit_code;
                (Some(failure.reason.as_str()), Some(failure.message.as_str()))
            }
            Condition::Ended { exit_code: code } => {
                exit_code = *code;
                (None, None)
            }
        };
        Self {
            container: report.container.as_str(),
            list: report.list.spec_field(),
            image: &report.image,
            image_id: report.image_id.as_deref(),
            asked: report.asked.as_deref(),
            before: report.before.as_deref(),
            comparison: report.comparison.word(),
            condition: report.condition.word(),
            ready,
            since,
            reason: reason.filter(|text| !text.is_empty()),
            message: message.filter(|text| !text.is_empty()),
            exit_code,
            restarts: report.restarts,
            restarts_since_update: report.again.and_then(|again| again.times),
            last_exit_code: report.last_exit_code(),
            last_reason: report.last_end.as_ref().and_then(|end| end.reason.as_deref()),
            last_ended: report.last_end.as_ref().and_then(|end| end.at.as_deref()),
        }
    }
}
