//! The plan as one versioned JSON document.
//!
//! Promise: fields are added, never renamed or removed, within one `apiVersion`. The document has types of its own,
//! so that it does not change when the engine's do. The other fields of a reason or warning (`container`, `image`, ...)
//! are the engine's: every code's fields are in the snapshots.

mod durable;

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::{self, FieldView};
use super::escape;
use super::offline::SkippedView;
use engine::change::reason::{Reason, Warning};
use engine::k8s::names::{ContainerName, WorkloadRef};
use engine::plan::{
    ContainerPlan, Effect, ImageChange, PLAN_API_VERSION, Plan, PodPlan, PodVerdict, Verdict, WorkloadPlan,
};
use engine::rollout::Policy;
use engine::state::hook::Hooks;
use engine::state::record::Drained;
use engine::value::kubelet_version::KubeletVersion;

/// Writes the plan's document, indented, ended by a line break.
pub(super) fn plan(plan: &Plan, is_refused: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::of(plan);
    if is_refused {
        document.result = plan.refusal().word();
    }
    let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    writeln!(out, "{}", escape::json(&text))
}

pub(super) fn document(plan: &Plan) -> io::Result<Value> {
    serde_json::to_value(Document::of(plan)).map_err(io::Error::other)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'a str,
    kind: &'a str,
    result: &'a str,
    applyable: bool,
    summary: Summary,
    workloads: Vec<WorkloadView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped_objects: Vec<SkippedView<'a>>,
}

impl<'a> Document<'a> {
    fn of(plan: &'a Plan) -> Self {
        let result = plan.result();
        Self {
            api_version: PLAN_API_VERSION,
            kind: "Plan",
            result: result.word(),
            applyable: plan.is_applyable(),
            summary: plan.workloads.iter().map(Summary::of).fold(Summary::default(), Summary::and),
            workloads: plan.workloads.iter().map(WorkloadView::of).collect(),
            skipped_objects: plan.skipped.iter().map(SkippedView::of).collect(),
        }
    }
}

#[derive(Serialize, Clone, Copy, Default)]
#[serde(rename_all = "camelCase")]
struct Summary {
    pods: usize,
    update: usize,
    in_progress: usize,
    up_to_date: usize,
    blocked: usize,
    skipped: usize,
}

impl Summary {
    fn of(plan: &WorkloadPlan) -> Self {
        Self {
            pods: plan.pods.len(),
            update: plan.count(PodVerdict::Update),
            in_progress: plan.count(PodVerdict::InProgress),
            up_to_date: plan.count(PodVerdict::AlreadyThere),
            blocked: plan.count(PodVerdict::Blocked),
            skipped: plan.count(PodVerdict::Skipped),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            pods: self.pods + other.pods,
            update: self.update + other.update,
            in_progress: self.in_progress + other.in_progress,
            up_to_date: self.up_to_date + other.up_to_date,
            blocked: self.blocked + other.blocked,
            skipped: self.skipped + other.skipped,
        }
    }
}

/// A workload, as every document and every line names it.
#[derive(Serialize, Clone)]
pub(super) struct WorkloadName<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl<'a> WorkloadName<'a> {
    pub(super) fn of(workload: &'a WorkloadRef) -> Self {
        Self { kind: workload.kind.spec().kind, namespace: &workload.namespace, name: &workload.name }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkloadView<'a> {
    workload: WorkloadName<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    verdict: &'a str,
    replicas: u32,
    pods_only: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restarts_the_same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<durable::DurableView<'a>>,
    checked_by_server: bool,
    estimate_seconds: Value,
    policy: PolicyView<'a>,
    #[serde(skip_serializing_if = "Hooks::is_empty")]
    hooks: &'a Hooks,
    summary: Summary,
    reasons: Vec<ReasonView>,
    warnings: Vec<WarningView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_permissions: Vec<ReasonView>,
    containers: Vec<ContainerView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldView>,
    pods: Vec<PodView<'a>>,
}

impl<'a> WorkloadView<'a> {
    fn of(plan: &'a WorkloadPlan) -> Self {
        Self {
            workload: WorkloadName::of(&plan.workload),
            // Two manifests have none.
            uid: Some(plan.uid.as_str()).filter(|uid| !uid.is_empty()),
            verdict: match plan.verdict {
                Verdict::InPlace => "inPlace",
                Verdict::InPlaceByController => "inPlaceByController",
                Verdict::NothingToDo => "nothingToDo",
                Verdict::NotEligible => "notEligible",
            },
            replicas: plan.replicas,
            pods_only: plan.pods_only,
            restarts_the_same: plan.restarts_the_same,
            durable: plan.durable.as_ref().map(|durable| durable::view(plan, durable)),
            checked_by_server: plan.checked_by_server,
            estimate_seconds: plan.estimate().map_or(Value::Null, seconds),
            policy: PolicyView::of(&plan.policy),
            hooks: &plan.hooks,
            summary: Summary::of(plan),
            reasons: reasons(&plan.reasons, &plan.workload),
            warnings: plan.warnings.iter().map(WarningView::of).collect(),
            missing_permissions: reasons(&plan.missing_permissions, &plan.workload),
            containers: plan.containers.iter().map(ContainerView::of).collect(),
            fields: columns::views(&plan.fields),
            pods: plan.pods.iter().map(|pod| PodView::of(pod, plan)).collect(),
        }
    }
}

/// Whole seconds stay whole in every format.
fn seconds(seconds: f64) -> Value {
    match Duration::try_from_secs_f64(seconds) {
        Ok(whole) if whole.subsec_nanos() == 0 => whole.as_secs().into(),
        Ok(_) | Err(_) => seconds.into(),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PolicyView<'a> {
    max_unavailable: u32,
    min_ready_seconds: Option<u32>,
    owner_min_ready_seconds: u32,
    timeout_seconds: Option<u64>,
    total_timeout_seconds: Option<u64>,
    ordered: bool,
    #[serde(skip_serializing_if = "<[ContainerName]>::is_empty")]
    container_order: &'a [ContainerName],
}

impl<'a> PolicyView<'a> {
    fn of(policy: &'a Policy) -> Self {
        Self {
            max_unavailable: policy.max_unavailable,
            min_ready_seconds: policy.min_ready_seconds_given,
            owner_min_ready_seconds: policy.owner_min_ready_seconds,
            timeout_seconds: policy.timeout_given,
            total_timeout_seconds: policy.total_timeout,
            ordered: policy.ordered,
            container_order: &policy.container_order,
        }
    }
}

#[derive(Serialize)]
struct ReasonView {
    code: &'static str,
    path: Option<String>,
    message: String,
    hint: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl ReasonView {
    fn of(reason: &Reason, workload: &WorkloadRef) -> Self {
        let fields = fields(reason, &["code", "path", "hint"]);
        let (message, hint) = (reason.sentence(), reason.hint_for(workload).to_string());
        Self { code: reason.code(), path: reason.path(), message, hint, fields }
    }
}

fn reasons(reasons: &[Reason], workload: &WorkloadRef) -> Vec<ReasonView> {
    reasons.iter().map(|reason| ReasonView::of(reason, workload)).collect()
}

#[derive(Serialize)]
struct WarningView {
    code: &'static str,
    message: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl WarningView {
    fn of(warning: &Warning) -> Self {
        Self { code: warning.code(), message: warning.sentence(), fields: fields(warning, &["code"]) }
    }
}

/// What a code carries besides the fields that all have.
fn fields(of: &impl Serialize, common: &[&str]) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(of) else { return Map::new() };
    let server_message = fields.shift_remove("message");
    for common in common {
        fields.shift_remove(*common);
    }
    if let Some(message) = server_message {
        fields.insert("serverMessage".into(), message);
    }
    fields
}

#[derive(Serialize)]
struct ContainerView<'a> {
    container: &'a str,
    list: &'a str,
    from: &'a str,
    to: Option<&'a str>,
    effect: &'a str,
    #[serde(rename = "resizeRestarts", skip_serializing_if = "std::ops::Not::not")]
    resize_restarts: bool,
}

impl<'a> ContainerView<'a> {
    fn of(plan: &'a ContainerPlan) -> Self {
        Self {
            container: plan.container.as_str(),
            list: plan.list.spec_field(),
            from: &plan.from,
            to: plan.to.as_deref(),
            effect: effect(plan.effect),
            resize_restarts: plan.resize_restarts,
        }
    }
}

#[derive(Serialize)]
struct PodView<'a> {
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    node: Option<&'a str>,
    kubelet: Option<KubeletVersion>,
    verdict: &'a str,
    changes: Vec<ChangeView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drain: Option<DrainView<'a>>,
    #[serde(rename = "drainLabelMissing", skip_serializing_if = "Option::is_none")]
    drain_label_missing: Option<&'a str>,
    #[serde(rename = "drainGateFalse", skip_serializing_if = "Option::is_none")]
    drain_gate_false: Option<&'a str>,
    reasons: Vec<ReasonView>,
}

/// How a pod is taken out of its Services first.
#[derive(Serialize)]
struct DrainView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
    services: &'a [String],
}

/// The key of the label, or the type of the gate.
fn label_or_gate(drained: &Drained) -> (Option<&str>, Option<&str>) {
    match drained {
        Drained::Label(label) => (Some(&label.key), None),
        Drained::Gate(gate) => (None, Some(&gate.gate)),
    }
}

impl<'a> PodView<'a> {
    fn of(plan: &'a PodPlan, workload: &WorkloadPlan) -> Self {
        let (drain_label_missing, drain_gate_false) = plan.unrestored.as_ref().map(label_or_gate).unwrap_or_default();
        Self {
            namespace: &plan.pod.namespace,
            name: &plan.pod.name,
            uid: plan.pod.uid.as_str(),
            node: Some(plan.node.as_str()).filter(|node| !node.is_empty()),
            kubelet: plan.kubelet,
            verdict: match workload.becomes(plan) {
                PodVerdict::Update => "update",
                PodVerdict::InProgress => "inProgress",
                PodVerdict::AlreadyThere => "upToDate",
                PodVerdict::Blocked => "blocked",
                PodVerdict::Skipped => "skipped",
            },
            changes: plan.changes.iter().map(|(name, change)| ChangeView::of(name.as_str(), change)).collect(),
            fields: columns::views(&plan.fields),
            drain: plan.drain.as_ref().map(|drain| {
                let (label, gate) = label_or_gate(&drain.by);
                DrainView { label, gate, services: &drain.services }
            }),
            drain_label_missing,
            drain_gate_false,
            reasons: reasons(&plan.reasons, &workload.workload),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeView<'a> {
    container: &'a str,
    from: &'a str,
    to: &'a str,
    effect: &'a str,
    #[serde(rename = "imageID")]
    image_id: Option<&'a str>,
    hash_from: Option<&'a str>,
    hash_to: Option<&'a str>,
    waiting: Option<&'a str>,
}

impl<'a> ChangeView<'a> {
    fn of(container: &'a str, change: &'a ImageChange) -> Self {
        let evidence = &change.evidence;
        Self {
            container,
            from: &change.from,
            to: &change.to,
            effect: effect(change.effect),
            image_id: evidence.image_id.as_deref(),
            hash_from: evidence.hash_from.as_deref(),
            hash_to: evidence.hash_to.as_deref(),
            waiting: evidence.waiting.as_deref(),
        }
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Unchanged => "unchanged",
        Effect::Restart => "restart",
        Effect::NoEffectNow => "noEffectNow",
        Effect::LaterPods => "laterPods",
    }
}
