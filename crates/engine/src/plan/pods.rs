//! What would happen to each pod, what blocks it, and how it is drained first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::live::Snapshot;
use super::wanted::Context;
use super::{Effect, ImageChange, PodPlan, PodVerdict, durable};
use crate::change::reason::{Ended, NotStartedAgain, Reason};
use crate::change::{Containers, FieldChanges, FieldProgress, resizing};
use crate::k8s::container_hash::container_hash;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::rollout::DrainGoal;
use crate::rollout::drain::{Drain, LabelUsers, drain};
use crate::state::evidence::{Baseline, Proof};
use crate::state::policy::PodOrder;
use crate::state::record::{Drained, UpdateRecord};
use crate::value::kubelet_version::KubeletVersion;

/// The first kubelet that restarts a sidecar whose image changes (kubernetes#126525).
pub(super) const SIDECARS_RESTART: KubeletVersion = KubeletVersion::new(1, 32);

/// Returns the plan of one pod; `None` for a pod of somebody else that the selector matches too.
pub(super) fn pod_plan(context: &Context<'_>, pod: &Pod) -> Option<PodPlan> {
    let live = context.live;
    let is_target = !live.workload.reference.kind.has_template();
    let mut plan = PodPlan {
        pod: pod.key.clone(),
        node: pod.spec.node_name.clone(),
        kubelet: live.kubelet_of(pod),
        verdict: PodVerdict::AlreadyThere,
        changes: BTreeMap::new(),
        fields: FieldChanges::default(),
        drain: None,
        unrestored: None,
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
    plan.unrestored = unrestored(pod).filter(|_| !pod.is_finished());
    if !context.is_chosen(pod) || context.durable && context.is_below_partition(pod) {
        // A removed label or gate is restored also where nothing else is wanted.
        plan.verdict = if plan.unrestored.is_some() { PodVerdict::InProgress } else { PodVerdict::Skipped };
        return Some(plan);
    }
    let in_progress = image_changes(context, pod, &mut plan);
    plan.fields = context.wanted.fields_in(pod);
    let asked = plan.fields.progress_in(pod);
    let in_progress = in_progress || matches!(asked, FieldProgress::Waiting { .. } | FieldProgress::Failed { .. });
    missing_containers(context, pod, &mut plan.reasons);
    plan.reasons.extend_from_slice(context.wanted.reasons_of(pod));
    let restarts = plan.restarted(pod).next().is_some();
    let updates = plan.changed(pod).next().is_some() || asked == FieldProgress::NotAsked;
    if updates {
        of_the_pod(pod, &mut plan.reasons);
        sidecars(context, pod, &plan.changes, &mut plan.reasons);
        plan.reasons.extend(plan.fields.refused_in(&plan.containers_of(pod)));
        old_revision(context, pod, &mut plan.reasons);
    }
    not_started_again(pod, &mut plan);
    let leaves = !is_target && !pod.is_present();
    plan.verdict = match (plan.reasons.is_empty(), updates, in_progress) {
        (false, _, _) if leaves => PodVerdict::Skipped,
        (false, _, _) => PodVerdict::Blocked,
        (true, true, _) => PodVerdict::Update,
        (true, false, true) => PodVerdict::InProgress,
        // Restoring the label or gate is all that is left to do.
        (true, false, false) if plan.unrestored.is_some() => PodVerdict::InProgress,
        (true, false, false) => PodVerdict::AlreadyThere,
    };
    if context.drains() && restarts && plan.verdict == PodVerdict::Update {
        plan.drain = drain_goal(live, pod, &plan.fields);
    }
    Some(plan)
}

/// Notes the containers that change or changed; returns whether a change is in progress already.
fn image_changes(context: &Context<'_>, pod: &Pod, plan: &mut PodPlan) -> bool {
    let mut in_progress = false;
    for list in ContainerList::ALL {
        for container in pod.containers(list) {
            let Some(to) = context.wanted.image_in(context.live, pod, list, container) else { continue };
            let effect = Effect::of(list, container);
            let differs = context.wanted.is_by_request() || container.image != to;
            // In a pod without a node that was created this way no update is in progress.
            if !differs && pod.is_unstarted() && Baseline::of(pod, &container.name) == Baseline::Created {
                continue;
            }
            if differs || is_in_progress(pod, container, effect) {
                in_progress |= !differs;
                let from = if differs { Some(container.image.clone()) } else { recorded_from(pod, &container.name) };
                let change = image_change(context, pod, &container.name, (from, to), effect);
                plan.changes.insert(container.name.clone(), change);
            }
        }
    }
    in_progress
}

/// The change of a container, with what status and node show of it.
fn image_change(
    context: &Context<'_>,
    pod: &Pod,
    name: &ContainerName,
    (from, to): (Option<String>, String),
    effect: Effect,
) -> ImageChange {
    let status = pod.status_of(name);
    let by_request = context.wanted.is_by_request();
    let kubelet = context.live.kubelet_of(pod).filter(|kubelet| kubelet.at_least(1, 31) && !by_request);
    let hash = |image: &str| container_hash(kubelet?, &json!({"name": name, "image": image}));
    let waiting = status.and_then(|status| status.state.waiting.as_ref()).map(|waiting| waiting.reason.clone());
    ImageChange {
        image_id: status.map(|status| status.image_id.clone()).filter(|id| !id.is_empty()),
        hash_from: from.as_deref().and_then(hash),
        hash_to: hash(&to),
        waiting: waiting.filter(|reason| !reason.is_empty()),
        goes_back: goes_back(pod, name, &to),
        by_request,
        ..ImageChange::new(from.unwrap_or_else(|| to.clone()), to, effect)
    }
}

impl PodPlan {
    /// Returns the containers whose image the pod's spec does not have yet, or that restart by request.
    pub(super) fn changed<'a>(
        &'a self,
        pod: &'a Pod,
    ) -> impl Iterator<Item = (&'a Container, &'a ImageChange)> + Clone {
        self.changes.iter().filter_map(|(name, change)| {
            let container = pod.spec_of(name)?;
            (change.by_request || container.image != change.to).then_some((container, change))
        })
    }

    pub(super) fn restarted_by_image<'a>(
        &'a self,
        pod: &'a Pod,
    ) -> impl Iterator<Item = (&'a Container, &'a ImageChange)> + Clone {
        self.changed(pod).filter(|(_, change)| change.effect == Effect::Restart)
    }

    /// Returns the containers that restart, by another image or by a resize.
    pub(super) fn restarted<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = &'a Container> + Clone {
        let by_image = self.restarted_by_image(pod).map(|(container, _)| container.name.clone());
        let names: BTreeSet<ContainerName> = by_image.chain(self.fields.restarting_in(pod)).collect();
        let restarted = names.iter().filter_map(|name| pod.spec_of(name));
        restarted.collect::<Vec<_>>().into_iter()
    }

    /// Returns the pod's containers, and which of them restart.
    pub(super) fn containers_of<'a>(&'a self, pod: &'a Pod) -> Containers<'a> {
        let restarting = self.restarted(pod).map(|container| &container.name);
        Containers { pod: Some(pod), all: pod.all_containers().collect(), restarting: restarting.collect() }
    }
}

/// The image before an update in progress, where its own record says.
pub(super) fn recorded_from(pod: &Pod, name: &ContainerName) -> Option<String> {
    UpdateRecord::of(pod).and_then(|record| Some(record.container(pod, name)?.from.clone()))
}

/// Whether the image is the one that a pod without a node asked for before an update.
fn goes_back(pod: &Pod, name: &ContainerName, to: &str) -> bool {
    pod.is_unstarted() && recorded_from(pod, name).is_some_and(|from| from == to)
}

/// The pod asks for the wanted image already: does it run, as far as one read can show?
pub(super) fn is_in_progress(pod: &Pod, container: &Container, effect: Effect) -> bool {
    if effect == Effect::NoEffectNow || !pod.is_present() {
        return false;
    }
    let Some(status) = pod.status_of(&container.name) else { return true };
    if status.state.running.is_none() || !status.ready {
        return true;
    }
    matches!(Baseline::of(pod, &container.name).proof(status, &container.image, false, None), Proof::Old)
}

/// Containers that are to change and that this pod, unlike the template or its siblings, does not have.
fn missing_containers(context: &Context<'_>, pod: &Pod, reasons: &mut Vec<Reason>) {
    let missing = context.wanted.named().filter(|name| pod.container(name).is_none());
    reasons.extend(missing.filter_map(|name| {
        Some(Reason::ContainerNotInPod { list: context.known.list(name)?, container: name.clone() })
    }));
}

pub(super) fn of_the_pod(pod: &Pod, reasons: &mut Vec<Reason>) {
    if pod.terminating {
        reasons.push(Reason::PodTerminating);
    }
    if pod.is_finished() {
        reasons.push(Reason::PodFinished { phase: pod.status.phase.clone() });
    }
    if pod.annotations.contains_key("kubernetes.io/config.mirror") {
        reasons.push(Reason::MirrorPod);
    }
}

/// Containers that have ended for good; and in a pod that nothing re-creates, those that might.
fn not_started_again(pod: &Pod, plan: &mut PodPlan) {
    let down = |name: &ContainerName| {
        let down = pod.stays_down(name, plan.kubelet).filter(|down| down.is_certain)?;
        let (pod, exit_code) = (pod.key.clone(), down.ended.exit_code);
        Some(NotStartedAgain::of(down.policy, Some(Ended { pod, container: name.clone(), exit_code })))
    };
    let restarting = plan.changes.iter().filter(|(_, change)| change.effect == Effect::Restart).map(|(name, _)| name);
    let mut found: BTreeSet<NotStartedAgain> = restarting.filter_map(down).collect();
    if found.is_empty() && !is_re_created(pod) {
        let policies = plan.restarted(pod).filter_map(|container| pod.restart_policy(&container.name, plan.kubelet));
        found = policies.filter(|policy| !policy.is_always()).map(|policy| NotStartedAgain::of(policy, None)).collect();
    }
    plan.reasons.extend(found.into_iter().map(Reason::from));
}

/// Whether a controller replaces the pod once it is deleted, and a failed start is no loss: templates of all kinds that are
/// known have `Always`, and a Job counts its pods.
pub(super) fn is_re_created(pod: &Pod) -> bool {
    pod.controller().is_some() && matches!(pod.spec.restart_policy.as_str(), "Always" | "")
}

/// Why the node's kubelet would not restart a sidecar.
fn sidecars(
    context: &Context<'_>,
    pod: &Pod,
    changes: &BTreeMap<ContainerName, ImageChange>,
    reasons: &mut Vec<Reason>,
) {
    for (name, change) in changes {
        let Some((ContainerList::InitContainers, _, container)) = pod.container(name) else { continue };
        if change.effect != Effect::Restart {
            continue;
        }
        if let Some(kubelet) = context.live.kubelet_of(pod)
            && kubelet < SIDECARS_RESTART
        {
            reasons.push(Reason::SidecarNeedsNewerKubelet { container: name.clone(), kubelet: kubelet.to_string() });
        }
        let started = pod.status_of(name).and_then(|status| status.started);
        if container.startup_probe.is_some() && started == Some(false) {
            reasons.push(Reason::SidecarStartupPending { container: name.clone() });
        }
    }
}

/// With a manifest, a pod of an older revision would still not be what the manifest says.
fn old_revision(context: &Context<'_>, pod: &Pod, reasons: &mut Vec<Reason>) {
    if !context.wanted.is_of_manifest() || !pod.is_present() {
        return;
    }
    if let Some(old) = context.revision.older(pod)
        && !durable::brings_all(context, &old.revision)
    {
        reasons.push(Reason::PodOfOldRevision { revision: old.revision, current: old.current });
    }
}

/// Says whether a pod of the workload can be drained; `None` where too little could be read.
pub(super) fn drain_of(live: &Snapshot, pod: &Pod, changes: &FieldChanges) -> Option<Drain> {
    let surroundings = &live.surroundings;
    let selecting = surroundings.selecting.as_ref()?;
    let whole = UpdateRecord::drained(pod).map_or_else(|| pod.clone(), |drained| drained.restored_in(pod));
    let mut owner = Vec::new();
    if live.workload.reference.kind.has_template() {
        owner.extend(live.workload.object.pointer("/spec/selector").cloned());
    }
    let of = LabelUsers {
        owner: &owner,
        budgets: &surroundings.budgets,
        others: selecting,
        changes: &changes.metadata,
        status_denied: surroundings.pod_status_denied.as_deref(),
    };
    Some(drain(&whole, &surroundings.services, &of))
}

/// Returns how a pod is drained, if it can be.
pub(super) fn drain_goal(live: &Snapshot, pod: &Pod, changes: &FieldChanges) -> Option<DrainGoal> {
    if let Drain::Drainable(goal) = drain_of(live, pod, changes)? { Some(goal) } else { None }
}

/// Returns whether a pod of the workload would be drained by a readiness gate, which takes a permission of its own.
pub fn drains_by_gate(live: &Snapshot) -> bool {
    let no_change = FieldChanges::default();
    live.pods.iter().any(|pod| {
        let drain = drain_of(live, pod, &no_change);
        matches!(drain, Some(Drain::Drainable(DrainGoal { by: Drained::Gate(_), .. })))
    })
}

/// The label or gate that an earlier run has removed and not restored.
pub(super) fn unrestored(pod: &Pod) -> Option<Drained> {
    UpdateRecord::drained(pod).filter(|_| !pod.terminating)
}

/// The rank of a pod: pods that the rollout may fix go first, and those that it cannot go last. `is_stuck`: a container
/// that the rollout does not change keeps it from being ready.
pub(super) fn rank(pod: &Pod, is_stuck: bool) -> u8 {
    // A deferred resize is done by the kubelet itself once another pod has made room: this pod counts as having had its turn.
    if matches!(resizing(pod), Some(FieldProgress::Waiting { deferred: true, .. })) {
        return 0;
    }
    match (pod.is_ready(), is_stuck) {
        (_, true) => 2,
        (true, false) => 1,
        (false, false) => 0,
    }
}

/// Compares two pods of a workload, each with its rank.
pub(super) fn compare(live: &Snapshot, order: PodOrder, a: (&Pod, u8), b: (&Pod, u8)) -> Ordering {
    let ((a, rank_a), (b, rank_b)) = (a, b);
    let by_owner = || live.workload.order(a, b);
    let broken_first = || rank_a.cmp(&rank_b).then_with(by_owner);
    let by_name = || a.key.name.cmp(&b.key.name);
    match order {
        _ if live.workload.is_ordered_ready() => by_owner(),
        PodOrder::UnreadyFirst => broken_first(),
        PodOrder::Name => by_name(),
        PodOrder::Age => a.created.cmp(&b.created).then_with(by_name),
        PodOrder::Node => a.spec.node_name.cmp(&b.spec.node_name).then_with(broken_first),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_may_heal_or_begins_by_itself_goes_first() {
        let rank = |ready: &str, pending: Option<&str>, is_stuck| {
            let mut conditions = vec![json!({"type": "Ready", "status": ready})];
            conditions.extend(pending.map(|why| json!({"type": "PodResizePending", "status": "True", "reason": why})));
            let pod: Value = json!({
                "metadata": {"name": "web-1", "namespace": "prod", "uid": "u"},
                "spec": {"containers": [{"name": "app", "image": "app:1"}]},
                "status": {"phase": "Running", "conditions": conditions},
            });
            rank(&Pod::from_object(&pod).expect("it is a pod"), is_stuck)
        };
        assert_eq!((rank("False", None, false), rank("True", None, false), rank("False", None, true)), (0, 1, 2));
        assert_eq!((rank("True", Some("Deferred"), false), rank("True", Some("Infeasible"), false)), (0, 1));
    }
}
