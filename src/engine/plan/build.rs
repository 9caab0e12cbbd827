//! Builds the plan of one workload from what is wanted and what is there. Pure; every reason at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{ContainerPlan, Effect, ImageChange, PodPlan, PodVerdict, Verdict, WorkloadPlan};
use crate::engine::evidence::{Baseline, Proof};
use crate::engine::image::ImageReference;
use crate::engine::int_or_percent::IntOrPercent;
use crate::engine::kubelet_version::KubeletVersion;
use crate::engine::names::{ContainerName, Uid};
use crate::engine::pod::{Container, ContainerList, Pod};
use crate::engine::reason::{Reason, Warning};
use crate::engine::record::UpdateRecord;
use crate::engine::rollout::{CANARY_HOLD_SECONDS, Policy};
use crate::engine::suggest;
use crate::engine::target::Images;
use crate::engine::template::{self, TemplateDiff};
use crate::engine::workload::{OwnerUnavailable, Workload, WorkloadKind};

/// The first kubelet that restarts a sidecar whose image changes (kubernetes#126525).
const SIDECARS_RESTART: (u32, u32) = (1, 32);

/// What is wanted of a workload.
#[derive(Debug, Clone, PartialEq)]
pub enum Desired {
    /// Images, by hand.
    Images(Images),
    /// The whole object as the server would store it.
    Object {
        /// The object.
        object: Value,
        /// Nothing tells which fields an earlier manifest had.
        removals_unseen: bool,
    },
    /// The server would not store it.
    Refused {
        /// Its words.
        message: String,
    },
}

/// What is there of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveWorkload {
    /// The owner, or the pod itself.
    pub workload: Workload,
    /// The uids that control its pods: a Deployment's ReplicaSets, or the owner's own; a pod's controller.
    pub controllers: BTreeSet<Uid>,
    /// The pods that its selector matches.
    pub pods: Vec<Pod>,
    /// The kubelets of the pods' nodes, where they were needed and could be read.
    pub kubelets: BTreeMap<String, KubeletVersion>,
    /// What could not be read, and what follows from it.
    pub not_read: Vec<String>,
}

/// What a person chose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// `--max-unavailable`.
    pub max_unavailable: Option<IntOrPercent>,
    /// `--min-ready-seconds`.
    pub min_ready_seconds: Option<u32>,
    /// `--timeout`, seconds.
    pub timeout: Option<u64>,
    /// `--total-timeout`, seconds.
    pub total_timeout: Option<u64>,
}

/// Builds the plan of one workload.
pub fn build(desired: &Desired, live: &LiveWorkload, options: &Options) -> WorkloadPlan {
    let mut reasons = Vec::new();
    let wanted = Wanted::new(desired, live, &mut reasons);
    let (policy, allowed) = policy(live, options);
    let mut pods: Vec<(PodPlan, &Pod)> =
        live.pods.iter().filter_map(|pod| Some((pod_plan(live, &wanted, pod)?, pod))).collect();
    let strict = live.workload.is_ordered_ready();
    pods.sort_by(|(_, a), (_, b)| {
        let broken_first = if strict { std::cmp::Ordering::Equal } else { a.is_ready().cmp(&b.is_ready()) };
        broken_first.then_with(|| live.workload.order(a, b))
    });
    let changes = pods.iter().any(|(plan, _)| matches!(plan.verdict, PodVerdict::Update | PodVerdict::InProgress));
    workload_reasons(live, &pods, changes, allowed, &mut reasons);
    let warnings = warnings(desired, live, &wanted, &pods);
    let containers = containers(live, &wanted);
    let pods: Vec<PodPlan> = pods.into_iter().map(|(plan, _)| plan).collect();
    let blocked = !reasons.is_empty() || pods.iter().any(|pod| pod.verdict == PodVerdict::Blocked);
    let verdict = match (blocked, changes) {
        (true, _) => Verdict::NotEligible,
        (false, true) => Verdict::InPlace,
        (false, false) => Verdict::NothingToDo,
    };
    let mut plan = WorkloadPlan {
        workload: live.workload.reference.clone(),
        uid: live.workload.uid.clone(),
        verdict,
        reasons,
        warnings,
        containers,
        pods,
        policy,
        controllers: live.controllers.clone(),
        replicas: live.workload.desired_replicas(),
        pods_only: true,
        estimate_seconds: 0,
        checked_by_server: false,
    };
    plan.estimate_seconds = estimate(&plan);
    plan
}

/// The images wanted, resolved against what is there.
struct Wanted<'a> {
    images: Option<&'a Images>,
    diff: TemplateDiff,
}

impl<'a> Wanted<'a> {
    fn new(desired: &'a Desired, live: &LiveWorkload, reasons: &mut Vec<Reason>) -> Self {
        match desired {
            Desired::Images(images) => {
                reasons.extend(images.by_container.keys().filter_map(|name| not_found(live, name)));
                Self { images: Some(images), diff: TemplateDiff::default() }
            }
            Desired::Refused { message } => {
                reasons.push(Reason::AdmissionRefused { message: message.clone() });
                Self { images: None, diff: TemplateDiff::default() }
            }
            Desired::Object { object, .. } => {
                let pointer = live.workload.reference.kind.template_pointer();
                let after = object.pointer(pointer).unwrap_or(&Value::Null);
                let diff = template::diff(&bare(live, live.workload.template()), &bare(live, after));
                reasons
                    .extend(diff.added.iter().map(|container| Reason::ContainerAdded { container: container.clone() }));
                reasons.extend(
                    diff.removed.iter().map(|container| Reason::ContainerRemoved { container: container.clone() }),
                );
                reasons.extend(diff.other.iter().map(|path| Reason::TemplateFieldNotInPlace { path: path.clone() }));
                reasons.extend(diff.images.iter().filter_map(|(container, image)| {
                    let why = ImageReference::parse(&image.to).err()?.to_string();
                    Some(Reason::ImageMalformed { container: container.clone(), image: image.to.clone(), why })
                }));
                Self { images: None, diff }
            }
        }
    }

    /// Returns the image wanted for a container, if one is; `present` is what stands there now.
    fn image(&self, name: &ContainerName, list: ContainerList, present: &str) -> Option<String> {
        if let Some(image) = self.diff.images.get(name) {
            return Some(image.to.clone());
        }
        let images = self.images?;
        // `'*=IMAGE'` means the containers, as in `kubectl set image`, and no init container.
        let all = images.all.as_ref().filter(|_| list == ContainerList::Containers);
        let argument = images.by_container.get(name).or(all)?;
        // A present image that is no reference cannot keep its repository; the dry run shows what the server thinks.
        argument.resolve(present).ok()
    }
}

/// A bare pod is its own template: what the server and other writers keep in it is none.
fn bare(live: &LiveWorkload, template: &Value) -> Value {
    if live.workload.reference.kind != WorkloadKind::Pod {
        return template.clone();
    }
    let mut bare = serde_json::Map::new();
    bare.insert("spec".into(), template.get("spec").cloned().unwrap_or(Value::Null));
    let metadata: serde_json::Map<String, Value> = ["labels", "annotations"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), template.pointer(&format!("/metadata/{key}"))?.clone())))
        .collect();
    bare.insert("metadata".into(), without_last_applied(metadata));
    Value::Object(bare)
}

/// The annotation in which client-side apply keeps the manifest.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn without_last_applied(mut metadata: serde_json::Map<String, Value>) -> Value {
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    Value::Object(metadata)
}

fn template_containers(live: &LiveWorkload, list: ContainerList) -> Vec<Container> {
    let containers =
        live.workload.template().pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
    containers.into_iter().flatten().filter_map(|container| serde_json::from_value(container.clone()).ok()).collect()
}

/// Every container's name, the template's first, then those that only pods have.
fn known_containers(live: &LiveWorkload) -> Vec<(ContainerName, ContainerList)> {
    let mut known: Vec<(ContainerName, ContainerList)> = Vec::new();
    for list in [ContainerList::Containers, ContainerList::InitContainers] {
        let injected = live.pods.iter().flat_map(|pod| pod.containers(list).iter().cloned());
        for container in template_containers(live, list).into_iter().chain(injected) {
            if !known.iter().any(|(name, _)| *name == container.name) {
                known.push((container.name, list));
            }
        }
    }
    known
}

fn not_found(live: &LiveWorkload, name: &ContainerName) -> Option<Reason> {
    let known: Vec<ContainerName> = known_containers(live).into_iter().map(|(name, _)| name).collect();
    if known.contains(name) {
        return None;
    }
    let suggestion = suggest::closest(name.as_str(), known.iter().map(ContainerName::as_str)).map(str::to_owned);
    Some(Reason::ContainerNotFound { container: name.clone(), suggestion, known })
}

/// Returns the plan of one pod; `None` for a pod of somebody else that the selector matches too.
fn pod_plan(live: &LiveWorkload, wanted: &Wanted<'_>, pod: &Pod) -> Option<PodPlan> {
    let is_target = live.workload.reference.kind == WorkloadKind::Pod;
    let mut plan = PodPlan {
        pod: pod.key.clone(),
        node: pod.spec.node_name.clone(),
        verdict: PodVerdict::AlreadyThere,
        changes: BTreeMap::new(),
        reasons: Vec::new(),
    };
    match pod.controller() {
        _ if is_target => {}
        Some(owner) if live.controllers.contains(&owner.uid) => {}
        Some(_) => return None,
        None => {
            plan.reasons.push(Reason::OrphanPod);
            plan.verdict = PodVerdict::Skipped;
            return Some(plan);
        }
    }
    let mut in_progress = false;
    for list in [ContainerList::Containers, ContainerList::InitContainers] {
        for container in pod.containers(list) {
            let Some(to) = wanted.image(&container.name, list, &container.image) else { continue };
            let effect = effect(list, container);
            let differs = container.image != to;
            if differs || is_in_progress(pod, container, effect) {
                in_progress |= !differs;
                let from = if differs { container.image.clone() } else { recorded_from(pod, &container.name) };
                plan.changes.insert(container.name.clone(), ImageChange { from, to, effect });
            }
        }
    }
    let updates =
        plan.changes.values().any(|change| change.from != change.to && !(in_progress && change.from.is_empty()));
    let updates = updates && pod_differs(pod, &plan.changes);
    missing_containers(live, wanted, pod, &mut plan.reasons);
    if updates {
        refusals(live, pod, &plan.changes, &mut plan.reasons);
    }
    let leaves = !is_target && (pod.terminating || pod.is_finished());
    plan.verdict = match (plan.reasons.is_empty(), updates, in_progress) {
        (false, _, _) if leaves => PodVerdict::Skipped,
        (false, _, _) => PodVerdict::Blocked,
        (true, true, _) => PodVerdict::Update,
        (true, false, true) => PodVerdict::InProgress,
        (true, false, false) => PodVerdict::AlreadyThere,
    };
    Some(plan)
}

fn pod_differs(pod: &Pod, changes: &BTreeMap<ContainerName, ImageChange>) -> bool {
    changes
        .iter()
        .any(|(name, change)| pod.container(name).is_some_and(|(_, _, container)| container.image != change.to))
}

fn recorded_from(pod: &Pod, name: &ContainerName) -> String {
    UpdateRecord::of(pod).and_then(|record| Some(record.container(pod, name)?.from.clone())).unwrap_or_default()
}

fn effect(list: ContainerList, container: &Container) -> Effect {
    match list {
        ContainerList::Containers => Effect::Restart,
        ContainerList::InitContainers if container.is_sidecar() => Effect::Restart,
        ContainerList::InitContainers => Effect::NoEffectNow,
    }
}

/// The pod asks for the wanted image already: does it run, as far as one look can tell?
fn is_in_progress(pod: &Pod, container: &Container, effect: Effect) -> bool {
    if effect == Effect::NoEffectNow || pod.terminating || pod.is_finished() {
        return false;
    }
    let Some((_, _, status)) = pod.container_status(&container.name) else { return true };
    if status.state.running.is_none() || !status.ready {
        return true;
    }
    match Baseline::of(pod, &container.name).proof(status, &container.image, false, None) {
        Proof::Old => true,
        Proof::New | Proof::Unproven(_) => false,
    }
}

/// Containers that are to change and that this pod, unlike the template or its siblings, does not have.
fn missing_containers(live: &LiveWorkload, wanted: &Wanted<'_>, pod: &Pod, reasons: &mut Vec<Reason>) {
    let named =
        wanted.images.into_iter().flat_map(|images| images.by_container.keys()).chain(wanted.diff.images.keys());
    let known = known_containers(live);
    let missing = named.filter(|name| pod.container(name).is_none() && known.iter().any(|(known, _)| known == *name));
    reasons.extend(missing.map(|container| Reason::ContainerNotInPod { container: container.clone() }));
}

/// Why the kubelet or the API server would not do what the patch asks.
fn refusals(live: &LiveWorkload, pod: &Pod, changes: &BTreeMap<ContainerName, ImageChange>, reasons: &mut Vec<Reason>) {
    if pod.terminating {
        reasons.push(Reason::PodTerminating);
    }
    if pod.is_finished() {
        reasons.push(Reason::PodFinished { phase: pod.status.phase.clone() });
    }
    if pod.annotations.contains_key("kubernetes.io/config.mirror") {
        reasons.push(Reason::MirrorPod);
    }
    if !matches!(pod.spec.restart_policy.as_str(), "Always" | "") {
        reasons.push(Reason::RestartPolicyNotAlways { policy: pod.spec.restart_policy.clone() });
    }
    for (name, change) in changes {
        let Some((ContainerList::InitContainers, _, container)) = pod.container(name) else { continue };
        if change.effect != Effect::Restart {
            continue;
        }
        if let Some(kubelet) = live.kubelets.get(&pod.spec.node_name)
            && !kubelet.at_least(SIDECARS_RESTART.0, SIDECARS_RESTART.1)
        {
            reasons.push(Reason::SidecarNeedsNewerKubelet { container: name.clone(), kubelet: kubelet.to_string() });
        }
        let started = pod.container_status(name).and_then(|(_, _, status)| status.started);
        if container.startup_probe.is_some() && started == Some(false) {
            reasons.push(Reason::SidecarStartupPending { container: name.clone() });
        }
    }
}

fn workload_reasons(
    live: &LiveWorkload,
    pods: &[(PodPlan, &Pod)],
    changes: bool,
    allowed: Option<u32>,
    reasons: &mut Vec<Reason>,
) {
    if pods.is_empty() {
        reasons.push(Reason::NoPods);
        return;
    }
    if !changes {
        return;
    }
    if !live.workload.is_observed() {
        reasons.push(Reason::OwnerRollingOut { status: "its controller has not seen its present spec yet".into() });
    } else if let Some(status) = live.workload.rolling_out() {
        reasons.push(Reason::OwnerRollingOut { status });
    }
    if allowed == Some(0) {
        reasons.push(Reason::NoUnavailabilityAllowed);
    }
}

/// Returns the policy, and how many pods the owner lets be down as it says literally.
pub(super) fn policy(live: &LiveWorkload, options: &Options) -> (Policy, Option<u32>) {
    let total = usize::try_from(live.workload.desired_replicas()).unwrap_or(usize::MAX);
    let scaled = |value: IntOrPercent, up| u32::try_from(value.scaled(total, up)).unwrap_or(u32::MAX);
    let owner = live.workload.owner_unavailable();
    let (of_owner, literal) = match &owner {
        OwnerUnavailable::One => (1, None),
        OwnerUnavailable::Up { to: IntOrPercent::Int(number), .. } => (*number, Some(*number)),
        OwnerUnavailable::Up { to, rounds_up } => {
            (scaled(*to, *rounds_up), (*to == IntOrPercent::Percent(0)).then_some(0))
        }
    };
    let rounds_up = matches!(owner, OwnerUnavailable::Up { rounds_up: true, .. });
    let (max_unavailable, allowed) = match options.max_unavailable {
        Some(given) => (scaled(given, rounds_up), None),
        None => (of_owner, literal),
    };
    let policy = Policy {
        max_unavailable: max_unavailable.max(1),
        min_ready_seconds_given: options.min_ready_seconds,
        owner_min_ready_seconds: live.workload.min_ready_seconds(),
        timeout_given: options.timeout,
        total_timeout: options.total_timeout,
        ordered: live.workload.is_ordered_ready(),
    };
    (policy, allowed)
}

fn warnings(desired: &Desired, live: &LiveWorkload, wanted: &Wanted<'_>, pods: &[(PodPlan, &Pod)]) -> Vec<Warning> {
    let mut warnings = BTreeSet::new();
    let updates = || pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update);
    if updates().next().is_some() && !live.controllers.is_empty() {
        warnings.insert(Warning::TemplateKeepsImage);
    }
    let in_template = |name: &ContainerName| {
        [ContainerList::Containers, ContainerList::InitContainers]
            .into_iter()
            .any(|list| template_containers(live, list).iter().any(|c| c.name == *name))
    };
    let mut images: BTreeMap<&ContainerName, BTreeSet<&str>> = BTreeMap::new();
    for (plan, pod) in updates() {
        for (name, change) in &plan.changes {
            images.entry(name).or_default().insert(&change.from);
            let container = pod.container(name).map(|(_, _, container)| container);
            if change.effect == Effect::Restart
                && container.is_some_and(|container| container.readiness_probe.is_none())
            {
                warnings.insert(Warning::NoReadinessProbe { container: name.clone() });
            }
            if !in_template(name) {
                warnings.insert(Warning::ContainerInjected { container: name.clone() });
            }
            image_warnings(name, change, &mut warnings);
        }
    }
    for (container, images) in images.into_iter().filter(|(_, images)| images.len() > 1) {
        let images = images.into_iter().map(str::to_owned).collect();
        warnings.insert(Warning::PodsDiffer { container: container.clone(), images });
    }
    if let Desired::Object { object, removals_unseen } = desired {
        if *removals_unseen {
            warnings.insert(Warning::RemovalsUnseen);
        }
        let paths = outside_template(live, object);
        if !paths.is_empty() {
            warnings.insert(Warning::OutsideTemplate { paths });
        }
    }
    let _ = wanted;
    warnings.extend(live.not_read.iter().map(|what| Warning::NotRead { what: what.clone() }));
    warnings.into_iter().collect()
}

pub(super) fn image_warnings(name: &ContainerName, change: &ImageChange, warnings: &mut BTreeSet<Warning>) {
    let (Ok(from), Ok(to)) = (ImageReference::parse(&change.from), ImageReference::parse(&change.to)) else { return };
    if from.repository() != to.repository() {
        warnings.insert(Warning::RepositoryChanges {
            container: name.clone(),
            from: from.repository(),
            to: to.repository(),
        });
    }
    if to.has_latest_tag() && to.digest().is_none() {
        warnings.insert(Warning::MutableTag { container: name.clone(), image: change.to.clone() });
    }
}

/// Paths outside the template that the manifest changes: `replicas`, labels of the owner, and so on.
fn outside_template(live: &LiveWorkload, desired: &Value) -> Vec<String> {
    let kind = live.workload.reference.kind;
    if kind == WorkloadKind::Pod {
        return Vec::new();
    }
    let outside = |object: &Value| {
        let mut object = object.clone();
        if let Value::Object(map) = &mut object {
            map.remove("status");
            if let Some(Value::Object(metadata)) = map.get("metadata").cloned() {
                let kept =
                    metadata.into_iter().filter(|(key, _)| matches!(key.as_str(), "labels" | "annotations")).collect();
                map.insert("metadata".into(), without_last_applied(kept));
            }
            if let Some(Value::Object(spec)) = map.get_mut("spec") {
                spec.remove("template");
            }
        }
        object
    };
    template::changed_paths(&outside(&live.workload.object), &outside(desired), "")
}

/// Each container of the template and of the pods, once, with what changes.
fn containers(live: &LiveWorkload, wanted: &Wanted<'_>) -> Vec<ContainerPlan> {
    let find = |name: &ContainerName, list| {
        let template = template_containers(live, list).into_iter().find(|container| container.name == *name);
        template
            .or_else(|| live.pods.iter().find_map(|pod| pod.container(name)).map(|(_, _, container)| container.clone()))
    };
    known_containers(live)
        .into_iter()
        .filter_map(|(name, list)| {
            let container = find(&name, list)?;
            let to = wanted.image(&name, list, &container.image);
            let differs_somewhere = to.as_ref().is_some_and(|to| {
                container.image != *to
                    || live.pods.iter().filter_map(|pod| pod.container(&name)).any(|(_, _, c)| c.image != *to)
            });
            let effect = if differs_somewhere { effect(list, &container) } else { Effect::Unchanged };
            Some(ContainerPlan {
                container: name,
                list,
                from: container.image,
                to: to.filter(|_| differs_somewhere),
                effect,
            })
        })
        .collect()
}

/// A rough guess: a restart takes about three seconds, and the hold comes on top of it.
fn estimate(plan: &WorkloadPlan) -> u64 {
    let pods = plan.count(PodVerdict::Update) as u64;
    if pods == 0 {
        return 0;
    }
    let policy = &plan.policy;
    let hold = u64::from(policy.min_ready_seconds_given.unwrap_or(policy.owner_min_ready_seconds));
    let canary = if policy.min_ready_seconds_given.is_some() { 0 } else { u64::from(CANARY_HOLD_SECONDS) };
    pods.div_ceil(u64::from(policy.max_unavailable.max(1))) * (3 + hold) + canary
}
