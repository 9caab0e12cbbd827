//! Builds the plan of one workload from what is wanted and what is there. Pure; every reason at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::availability;
use super::durable::{self, if_resumed};
use super::estimate::estimate;
use super::held::strategy_before_raise;
use super::pods;
use super::pods::pod_plan;
use super::policy::policy;
use super::resize;
use super::revision::CurrentRevision;
use super::revision::Drift;
use super::rollout_state::{RolloutState, rollout_state};
use super::sidecar_set;
use super::wanted::Wanted;
use super::wanted::{Context, Known};
use super::warnings::{order_waits, warnings};
use super::{ContainerPlan, DurablePlan, Effect, PodPlan, PodVerdict, Verdict, WorkloadPlan};
use crate::change::FieldChanges;
use crate::change::reason::{Reason, Warning};
use crate::k8s::metadata;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::k8s::workload::Workload;
use crate::kinds::{self, HoldsBy, POD_TEMPLATE_HASH, WorkloadKind};
use crate::plan::intent::{Intent, IntentError};
use crate::plan::live::{Options, Snapshot, Subset};
use crate::rollout::{Goal, PodGoal, Policy};
use crate::state::durable::lock::Lock;
use crate::value::kubelet_version::KubeletVersion;
use crate::value::suggest;

/// Builds the plan of one workload.
pub fn build(intent: &Intent, live: &Snapshot, options: &Options) -> Result<WorkloadPlan, IntentError> {
    if live.workload.reference.kind.is_sidecar_set() {
        return Ok(sidecar_set::build(intent, live, options));
    }
    let mut reasons: Vec<Reason> = denied(live);
    let known = Known::of(live);
    let wanted = Wanted::new(intent, live, &known, &mut reasons)?;
    Ok(planned((&known, &wanted), reasons, live, options))
}

/// Builds the plan of a workload that gets an object in the form in which it would be stored.
pub(super) fn of_manifest(object: &Value, live: &Snapshot, options: &Options) -> WorkloadPlan {
    let mut reasons: Vec<Reason> = denied(live);
    let known = Known::of(live);
    let wanted = Wanted::of_manifest(live, &known, object, &mut reasons);
    planned((&known, &wanted), reasons, live, options)
}

fn planned(
    (known, wanted): (&Known, &Wanted<'_>),
    mut reasons: Vec<Reason>,
    live: &Snapshot,
    options: &Options,
) -> WorkloadPlan {
    reasons.extend(live.surroundings.server.and_then(|server| too_old(server, wanted.fields(), live)));
    let context = context((known, wanted), live, options);
    let (mut policy, allowed) = policy(live, options);
    let mut pods = pods_in_order(&context);
    subset_reasons(&context, &pods, &mut reasons);
    let containers = containers(&context, &pods);
    // Each of several workloads has its own order.
    policy.container_order.retain(|name| has_a_turn(name, &containers, &pods));
    of_the_owner(&context, &pods, &containers, allowed, &mut reasons);
    reasons.extend(controlled_pod(&context, &pods));
    let durable = durable_part(&context, &pods, &mut reasons);
    let mut warnings = warnings(&context, &pods, &containers);
    warnings.extend(durable.as_ref().and_then(|plan| durable::evicted(plan, live)));
    limits(&context, &pods, &policy, &mut reasons, &mut warnings);
    settle_holder(&mut reasons, &mut warnings, &mut pods);
    let changes = changes(&context, &pods);
    let slowed_by = availability::slowest_budget(&context, &pods, &policy);
    let max_unavailable = slowed_by.as_ref().map_or(policy.max_unavailable, |budget| budget.pods);
    let pace = Policy { max_unavailable, ..policy.clone() };
    warnings.extend(availability::none_serves(&context, &pods, &pace));
    warnings.sort();
    let estimate_seconds = estimate(&context, &pods, &pace, durable.is_some());
    let pods: Vec<PodPlan> = pods.into_iter().map(|(plan, _)| plan).collect();
    let fields = shown(wanted.fields(), &pods);
    let verdict = verdict(&reasons, &pods, changes);
    let is_pod = !live.workload.reference.kind.has_template();
    let mut plan = WorkloadPlan {
        verdict,
        reasons,
        warnings,
        containers,
        fields,
        pods,
        slowed_by,
        controllers: live.controllers.clone(),
        pods_only: durable.is_none() && (verdict == Verdict::InPlace || !context.durable || is_pod),
        durable,
        restarts_the_same: wanted.is_restart(),
        pre_pull: options.pre_pull,
        hooks: options.hooks.clone(),
        estimate_seconds,
        ..WorkloadPlan::empty(live, policy)
    };
    if verdict == Verdict::NotEligible {
        plan.refuse();
    }
    plan
}

fn context<'a>((known, wanted): (&'a Known, &'a Wanted<'a>), live: &'a Snapshot, options: &'a Options) -> Context<'a> {
    let locked = Lock::of(&live.workload.object).ok().flatten();
    Context {
        live,
        known,
        wanted,
        revision: CurrentRevision::of(live),
        durable: !options.pods_only && !wanted.is_by_pod(),
        strategy: locked.map(|lock| lock.rollout.strategy).unwrap_or_default().or_else(|| strategy_before_raise(live)),
        options,
    }
}

/// The plan of each pod, in the order in which they are taken.
fn pods_in_order<'a>(context: &Context<'a>) -> Vec<(PodPlan, &'a Pod)> {
    let live = context.live;
    let mut pods: Vec<(PodPlan, &Pod)> =
        live.pods.iter().filter_map(|pod| Some((pod_plan(context, pod)?, pod))).collect();
    // Where nothing restarts, a pod without a node has it at once, and proves nothing.
    let proves_nothing = |plan: &PodPlan, pod: &Pod| !pod.is_scheduled() && plan.restarted(pod).next().is_none();
    let is_stuck = |plan: &PodPlan, pod: &Pod| availability::stuck(plan, pod).is_some() || proves_nothing(plan, pod);
    let ranked = |(plan, pod): &(PodPlan, &'_ Pod)| pods::rank(pod, is_stuck(plan, pod));
    pods.sort_by(|a, b| pods::compare(live, context.options.order, (a.1, ranked(a)), (b.1, ranked(b))));
    pods
}

/// Whether a container changes or restarts: any other has no turn.
fn has_a_turn(name: &ContainerName, containers: &[ContainerPlan], pods: &[(PodPlan, &Pod)]) -> bool {
    let of_it = |known: &&ContainerPlan| known.container == *name;
    containers.iter().filter(of_it).any(|known| known.effect != Effect::Unchanged || known.restarts() > 0)
        || pods.iter().any(|(plan, _)| plan.changes.contains_key(name))
}

/// What happens to the owner, where its template is changed too.
fn durable_part(context: &Context<'_>, pods: &[(PodPlan, &Pod)], reasons: &mut Vec<Reason>) -> Option<DurablePlan> {
    let (options, wanted) = (context.options, context.wanted);
    let asks = !options.pods_only && (changes(context, pods) || pods.is_empty());
    let durable = asks.then(|| durable::durable(context, options.take_over, reasons)).flatten();
    let leaves_the_owner = options.pods_only || wanted.is_by_pod();
    // Template and pods may have what is wanted already because a rollout is bringing it to them, or was interrupted
    // before its end: what is not proven yet is not done.
    if durable.is_none() && (changes(context, pods) || !leaves_the_owner) {
        // An unfinished rollout may have left pods that are never ready: what restarts them would wait in vain.
        let passes_by = leaves_the_owner && !wanted.is_restart();
        reasons.extend(durable::held_by_another(context.live, options.take_over, passes_by));
    }
    durable
}

/// What other pods, budgets and nodes have to do with it.
fn limits(
    context: &Context<'_>,
    pods: &[(PodPlan, &Pod)],
    policy: &Policy,
    reasons: &mut Vec<Reason>,
    warnings: &mut Vec<Warning>,
) {
    warnings.extend(order_waits(context.live, pods, policy.max_unavailable));
    warnings.extend(availability::warnings(context, pods, policy));
    reasons.extend(availability::never_allowed(context, pods, policy));
    warnings.extend(resize::warnings(context, pods));
}

fn verdict(reasons: &[Reason], pods: &[PodPlan], changes: bool) -> Verdict {
    match (!reasons.is_empty() || pods.iter().any(|pod| pod.verdict == PodVerdict::Blocked), changes) {
        (true, _) => Verdict::NotEligible,
        (false, true) => Verdict::InPlace,
        (false, false) => Verdict::NothingToDo,
    }
}

/// What changes in the template; where that is nothing, and pods are resized all the same, the change of the first pod.
fn shown(of_template: &FieldChanges, pods: &[PodPlan]) -> FieldChanges {
    let mut resized = pods.iter().filter(|pod| pod.verdict == PodVerdict::Update && pod.fields.resizes());
    let mut of_pod = || resized.next().map(|pod| pod.fields.of_resize());
    if of_template.is_empty() { of_pod().unwrap_or_default() } else { of_template.clone() }
}

/// While a rollout of this program holds the owner, its pause and its progress are that rollout's: the command that
/// they would otherwise suggest to the user (`kubectl rollout resume`) would replace pods.
fn settle_holder(reasons: &mut Vec<Reason>, warnings: &mut Vec<Warning>, pods: &mut [(PodPlan, &Pod)]) {
    // A paused Deployment replaces no pod, whatever its ReplicaSets look like.
    if reasons.iter().any(|reason| matches!(reason, Reason::OwnerPaused { .. })) {
        reasons.retain(|reason| !matches!(reason, Reason::OwnerRollingOut { .. }));
    }
    if reasons.iter().any(|reason| matches!(reason, Reason::RolloutHeld { .. })) {
        // Under a rollout of this program the pods are of the old revision and differ, and none is replaced.
        warnings.retain(|warning| !matches!(warning, Warning::PodsOfOldRevision { .. } | Warning::PodsDiffer { .. }));
        for (plan, _) in pods.iter_mut().filter(|(plan, _)| plan.verdict == PodVerdict::Blocked) {
            plan.reasons.retain(|reason| !matches!(reason, Reason::PodOfOldRevision { .. }));
            if plan.reasons.is_empty() {
                plan.verdict = PodVerdict::Update;
            }
        }
        reasons.retain(|reason| {
            let is_its = matches!(
                reason,
                Reason::OwnerPaused { .. } | Reason::OwnerNotObserved | Reason::OwnerRollingOut { .. }
            );
            !is_its
        });
    }
}

/// The first version of the API server that serves, as stable, every API that a plan rests on; `autoscaling/v2` is the
/// last of them.
const OLDEST_SERVER: KubeletVersion = KubeletVersion::new(1, 23);

/// Returns why the server does not support what is left of a rollout in its pods.
pub fn server_lacks(goal: &Goal, live: &Snapshot, server: KubeletVersion) -> Option<Reason> {
    let left = |pod: &Arc<PodGoal>| {
        let found = live.pods.iter().find(|found| found.key == pod.key)?;
        too_old(server, &pod.fields.left_in(found), live)
    };
    goal.pods.iter().find_map(left)
}

fn too_old(server: KubeletVersion, fields: &FieldChanges, live: &Snapshot) -> Option<Reason> {
    let spec = live.workload.template().get("spec").unwrap_or(&Value::Null);
    let needs = fields.resources.oldest_server(spec).map_or(OLDEST_SERVER, |needs| needs.max(OLDEST_SERVER));
    (server < needs).then(|| Reason::ServerTooOld { server: server.to_string(), needs: needs.to_string() })
}

/// A named pod has an owner whose template stays unchanged: the user has to ask for that (`--pods-only`).
fn controlled_pod(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Option<Reason> {
    let (_, pod) = pods.first().filter(|_| !context.live.workload.reference.kind.has_template())?;
    if context.durable && changes(context, pods) { controlled(pod) } else { None }
}

pub(super) fn controlled(pod: &Pod) -> Option<Reason> {
    let owner = pod.controller()?;
    let workload = workload_of(pod).map(|workload| format!("{}/{}", workload.kind.spec().singular, workload.name));
    Some(Reason::PodIsControlled { kind: owner.kind.clone(), name: owner.name.clone(), workload })
}

/// Names the workload that a pod was created from. A ReplicaSet of a Deployment is named by the Deployment and the
/// pods' label.
pub fn workload_of(pod: &Pod) -> Option<WorkloadRef> {
    let owner = pod.controller()?;
    let namespace = pod.key.namespace.clone();
    let workload = |kind: WorkloadKind, name: &str| WorkloadRef { kind, namespace, name: name.to_owned() };
    let kind = WorkloadKind::of_owner(&owner.api_version, &owner.kind)?;
    let hash = pod.labels.get(POD_TEMPLATE_HASH);
    let deployment = hash.and_then(|hash| owner.name.strip_suffix(&format!("-{hash}")));
    match kind.made_by().zip(deployment) {
        Some((maker, deployment)) => Some(workload(maker, deployment)),
        None => Some(workload(kind, &owner.name)),
    }
}

pub(super) fn denied(live: &Snapshot) -> Vec<Reason> {
    live.surroundings.denied.iter().map(|denied| denied.reason(&live.workload.reference)).collect()
}

/// Names that no pod has, and subsets that a durable rollout of the kind cannot have.
fn subset_reasons(context: &Context<'_>, pods: &[(PodPlan, &Pod)], reasons: &mut Vec<Reason>) {
    let subset = &context.options.subset;
    let known: Vec<&str> = pods.iter().map(|(plan, _)| plan.pod.name.as_str()).collect();
    for name in subset.pods.iter().filter(|name| !known.contains(&name.as_str())) {
        let suggestion = suggest::closest(name, known.iter().copied()).map(str::to_owned);
        reasons.push(Reason::PodNotFound { pod: name.clone(), suggestion });
    }
    // A lock without names is about every pod.
    if let Some(node) = subset.node.as_ref().filter(|_| context.durable)
        && !context.live.pods.is_empty()
        && !context.live.pods.iter().any(|pod| context.is_chosen(pod))
    {
        let nodes = context.live.pods.iter().map(|pod| pod.spec.node_name.as_str());
        let suggestion = suggest::closest(node, nodes).map(str::to_owned);
        reasons.push(Reason::NoPodOnNode { node: node.clone(), suggestion });
    }
    reasons.extend(subset_not_durable(&context.live.workload, subset, context.durable));
}

/// A choice of pods, where the controller would replace the others.
pub(super) fn subset_not_durable(workload: &Workload, subset: &Subset, durable: bool) -> Option<Reason> {
    let partition = workload.object.pointer("/spec/updateStrategy").map_or(0, kinds::partition_of);
    let other_partition = subset.partition.is_some_and(|given| i64::from(given) != partition);
    let is_some = !subset.pods.is_empty() || subset.node.is_some() || other_partition;
    let replaces = workload.reference.kind.holds_by().restores_the_field();
    (durable && is_some && replaces).then_some(Reason::SubsetNotDurable)
}

fn changes(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> bool {
    let kind = context.live.workload.reference.kind;
    // Pods may have already what the template does not say yet, or keep what it no longer says.
    let of_template = context.durable && kind.has_template() && !durable::change(context).is_empty();
    of_template || pods.iter().any(|(plan, _)| matches!(plan.verdict, PodVerdict::Update | PodVerdict::InProgress))
}

/// What the owner's state means for any change at all.
fn of_the_owner(
    context: &Context<'_>,
    pods: &[(PodPlan, &Pod)],
    containers: &[ContainerPlan],
    allowed: Option<u32>,
    reasons: &mut Vec<Reason>,
) {
    let live = context.live;
    let wants_something = || {
        !context.wanted.fields().is_empty()
            || context.wanted.is_by_pod()
            || containers.iter().any(|container| container.to.is_some())
    };
    let list_denied = live.surroundings.denied.iter().any(|denied| denied.verb == "list");
    if pods.is_empty() && !list_denied && wants_something() {
        reasons.push(Reason::NoPods);
    }
    let asks_for_something = changes(context, pods)
        || !reasons.is_empty()
        || pods.iter().any(|(plan, _)| plan.verdict == PodVerdict::Blocked);
    if !asks_for_something {
        return;
    }
    let workload = &live.workload;
    if workload.reference.kind.has_template() {
        if metadata::is_terminating(&workload.object) {
            reasons.push(Reason::OwnerTerminating);
        }
        if workload.reference.kind.holds_by() == HoldsBy::Paused && kinds::is_paused(&workload.object) {
            let by_a_rollout = rollout_state(live) != RolloutState::None;
            reasons.push(Reason::OwnerPaused { if_resumed: if_resumed(live), by_a_rollout });
        }
        if let Some(deployment) = &live.surroundings.newer_in_deployment {
            reasons.push(Reason::ReplicaSetOfOldRevision { deployment: deployment.clone() });
        }
        if !workload.is_observed() {
            reasons.push(Reason::OwnerNotObserved);
        } else if let Some(status) = workload.rolling_out() {
            reasons.push(Reason::OwnerRollingOut { status });
        }
    }
    let restarts = |(plan, pod): &(PodPlan, &Pod)| plan.restarted(pod).next().is_some();
    reasons.extend(none_unavailable(workload, allowed, pods.iter().any(restarts)));
}

/// An owner that lets no pod be down, where containers restart.
pub(super) fn none_unavailable(workload: &Workload, allowed: Option<u32>, restarts: bool) -> Option<Reason> {
    let path = || workload.reference.kind.spec().max_unavailable.map(|field| field.path.to_owned()).unwrap_or_default();
    (allowed == Some(0) && restarts).then(|| Reason::NoUnavailabilityAllowed { path: path() })
}

fn containers(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Vec<ContainerPlan> {
    let known = context.known.containers.iter();
    let of_pods = pods.iter().flat_map(|(plan, _)| plan.fields.resources.restarting());
    let resized: BTreeSet<&ContainerName> = context.wanted.fields().resources.restarting().chain(of_pods).collect();
    let plan = |(name, list): &(ContainerName, ContainerList)| {
        let plan = container_plan(context, pods, name, *list)?;
        Some(ContainerPlan { resize_restarts: resized.contains(name), is_down: is_down(pods, name), ..plan })
    };
    known.filter_map(plan).collect()
}

/// Whether pods have a container's status, and it runs in none of them.
fn is_down(pods: &[(PodPlan, &Pod)], name: &ContainerName) -> bool {
    let runs = |pod: &Pod| Some(pod.status_of(name)?.state.running.is_some());
    let mut reported = pods.iter().filter_map(|(_, pod)| runs(pod)).peekable();
    reported.peek().is_some() && !reported.any(|runs| runs)
}

fn container_plan(
    context: &Context<'_>,
    pods: &[(PodPlan, &Pod)],
    name: &ContainerName,
    list: ContainerList,
) -> Option<ContainerPlan> {
    let in_pods: Vec<(&PodPlan, &Container)> =
        pods.iter().filter_map(|(plan, pod)| Some((plan, pod.spec_of(name)?))).collect();
    let template = context.known.template.get(name);
    let container = template.or_else(|| in_pods.first().map(|(_, container)| *container))?;
    let in_a_pod = || in_pods.iter().find_map(|(plan, _)| plan.changes.get(name)).map(|change| change.to.clone());
    if context.wanted.is_by_pod() {
        return Some(by_pod(name, list, container, &in_pods));
    }
    let to = context.wanted.image(name, list, &container.image).or_else(in_a_pod);
    let other = to.as_ref().and_then(|to| {
        // A pod that was restarted in place runs what its template asks for.
        let differing = in_pods.iter().filter(|(plan, _)| plan.verdict != PodVerdict::AlreadyThere);
        let is_other = |image: &&String| !context.live.is_image(name, to, image);
        let mut differing = differing.map(|(_, container)| &container.image).filter(is_other);
        let in_template = Some(&container.image).filter(|image| *image != to);
        let in_a_pod = differing.next();
        if let Some(image) = runs_instead(context, pods, name, to) {
            return Some(image);
        }
        // Where the owner stays unchanged, its template's image does not count as a change.
        let changes_owner = context.durable || in_pods.is_empty();
        in_template.filter(|_| changes_owner || in_a_pod.is_some()).or(in_a_pod).cloned()
    });
    let effect = match other.is_some() {
        true if changes_no_pod(name, &in_pods) => Effect::LaterPods,
        true => Effect::of(list, container),
        false => Effect::Unchanged,
    };
    let (from, to) = match other {
        Some(other) => (other, to),
        None => (container.image.clone(), None),
    };
    Some(ContainerPlan { container: name.clone(), list, from, to, effect, resize_restarts: false, is_down: false })
}

/// Whether all pods have the image, or keep the one that they have.
fn changes_no_pod(name: &ContainerName, in_pods: &[(&PodPlan, &Container)]) -> bool {
    !in_pods.is_empty() && !in_pods.iter().any(|(plan, _)| plan.changes.contains_key(name))
}

/// What the pods that change run, where none of them runs what its template says.
fn runs_instead(context: &Context<'_>, pods: &[(PodPlan, &Pod)], name: &ContainerName, to: &str) -> Option<String> {
    let is_changed = |(plan, pod): &&(PodPlan, &Pod)| {
        plan.verdict == PodVerdict::Update && pod.spec_of(name).is_some_and(|container| container.image != to)
    };
    let changed = pods.iter().filter(is_changed).map(|(_, pod)| *pod);
    Some(Drift::of(context, name, changed)?.instead()?.to_owned())
}

/// Of images that differ from pod to pod those of the first pod that changes.
fn by_pod(
    name: &ContainerName,
    list: ContainerList,
    container: &Container,
    in_pods: &[(&PodPlan, &Container)],
) -> ContainerPlan {
    let first = in_pods
        .iter()
        .find_map(|(plan, _)| plan.changes.get(name))
        .filter(|change| change.by_request || change.from != change.to);
    let effect = first.map_or(Effect::Unchanged, |change| change.effect);
    let from = first.map_or(&container.image, |change| &change.from).clone();
    let to = first.filter(|change| !change.by_request).map(|change| change.to.clone());
    ContainerPlan { container: name.clone(), list, from, to, effect, resize_restarts: false, is_down: false }
}
