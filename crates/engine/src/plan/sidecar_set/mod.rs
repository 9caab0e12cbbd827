//! OpenKruise's SidecarSet: which running pods its controller gives new images, which not and why; the patch of its images,
//! and what is followed.
//!
//! Promise: it foretells by the controller's own rules (`pkg/control/sidecarcontrol` and `pkg/controller/sidecarset` of
//! openkruise/kruise 1.8.3), and changes nothing but images.

mod course;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::change::new_images;
use crate::change::reason::{Reason, Warning};
use crate::k8s::names::{ContainerName, RolloutId};
use crate::k8s::operations::Operations;
use crate::k8s::pod::{ContainerList, Pod};
use crate::k8s::restart::pinned_image;
use crate::k8s::workload::Workload;
use crate::kinds::{differing, is_paused_strategy};
use crate::plan::assemble::{Objects, assemble};
use crate::plan::{
    ContainerPlan, Effect, Intent, Manifest, Options, PodPlan, PodVerdict, Snapshot, Start, Verdict, WorkloadPlan,
    policy_of,
};
use crate::rollout::{Follow, Goal};
use crate::state::durable::{ObjectKey, ObjectKind, ObjectWrite};
use crate::state::policy::Policy;
use crate::value::count::pods_that;
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::text;
use course::{HASH, is_hot, names_in_pods, pod_plan, sidecars};

/// The label by which a ControllerRevision names its SidecarSet.
pub const REVISION_OF: &str = "kruise.io/sidecarset-name";

/// About how long the controller takes from one pod to the next, besides what the pod takes: it looks again five seconds
/// after a container has changed (`isPodConsistentChanged`).
const SECONDS_PER_POD: f64 = 7.0;

/// Puts together the pods that its selectors match, and its revisions, which are no controller's.
pub fn assembled(set: Workload, mut pods: Vec<Pod>, revisions: Vec<Value>) -> Snapshot {
    pods.retain(Pod::is_present);
    pods.sort_by(|a, b| (&a.key.namespace, &a.key.name).cmp(&(&b.key.namespace, &b.key.name)));
    let mut live = assemble(set, Objects { pods, ..Objects::default() });
    live.surroundings.owned = revisions;
    live
}

/// Returns what the controller does with each pod to bring it to this SidecarSet.
pub(crate) fn pods(live: &Snapshot, set: &Value) -> Vec<PodPlan> {
    live.pods.iter().map(|pod| pod_plan(set, pod, &live.surroundings.owned)).collect()
}

pub(crate) fn count(pods: &[PodPlan], verdict: PodVerdict) -> usize {
    pods.iter().filter(|pod| pod.verdict == verdict).count()
}

/// How many pods that could be updated stay as they are, and the field as it is (`CalculatePartitionReplicas`).
fn partition(set: &Value, pods: &[PodPlan]) -> (usize, String) {
    let field = set.pointer("/spec/updateStrategy/partition").cloned().unwrap_or_default();
    let Ok(given) = IntOrPercent::from_value(&field) else { return (0, String::new()) };
    let all = pods.len() - count(pods, PodVerdict::Skipped);
    let scaled = given.scaled(all, true).min(all);
    let is_part = matches!(given, IntOrPercent::Percent(share) if share < 100);
    let kept = if is_part && scaled == all && all > 1 { all - 1 } else { scaled };
    (kept.min(count(pods, PodVerdict::Update)), field.as_str().map_or_else(|| field.to_string(), str::to_owned))
}

/// Why the controller updates no running pod at all (`UpdateSidecarSet`).
pub(crate) fn held(set: &Value, pods: &[PodPlan]) -> Option<Reason> {
    let (kept, partition) = partition(set, pods);
    let (field, is) = if text(set, "/spec/updateStrategy/type") == "NotUpdate" {
        ("type", "NotUpdate")
    } else if set.pointer("/spec/updateStrategy").is_some_and(is_paused_strategy) {
        ("paused", "true")
    } else if kept > 0 && kept == count(pods, PodVerdict::Update) {
        ("partition", partition.as_str())
    } else {
        return None;
    };
    let what = format!("is {is}, so its controller updates no more running pods; new pods get its images");
    Some(Reason::UpdateStrategyHolds { path: format!("spec.updateStrategy.{field}"), what })
}

/// Returns how many pods the controller leaves as they are, and why, a sentence each.
pub(crate) fn left(set: &Value, pods: &[PodPlan]) -> Vec<String> {
    let (kept, partition) = partition(set, pods);
    let kept = (kept > 0).then(|| (format!("spec.updateStrategy.partition is {partition}"), kept));
    let mut left: BTreeMap<String, usize> = kept.into_iter().collect();
    for reason in pods.iter().flat_map(|pod| &pod.reasons) {
        *left.entry(reason.sentence()).or_default() += 1;
    }
    let stays = |(why, pods)| format!("{}: {why}", pods_that(pods, "stays as it is", "stay as they are"));
    left.into_iter().map(stays).collect()
}

/// Returns which sidecars are upgraded hot, a sentence each.
fn hot(set: &Value) -> impl Iterator<Item = String> {
    sidecars(set).filter(|sidecar| is_hot(sidecar)).map(|sidecar| {
        let name = text(sidecar, "/name");
        format!("{name} is upgraded hot: the empty one of {name}-1 and {name}-2 gets the image, and once it is ready the other one is emptied")
    })
}

pub(super) fn build(intent: &Intent, live: &Snapshot, options: &Options) -> WorkloadPlan {
    let (mut reasons, mut warnings) = (super::build::denied(live), Vec::new());
    let wanted = wanted(intent, live, &mut reasons, &mut warnings);
    let mut containers = containers(&live.workload.object, &wanted);
    let is_changed = containers.iter().any(|row| row.to.is_some());
    let mut set = live.workload.object.clone();
    for list in ContainerList::ALL.into_iter().filter(|_| is_changed) {
        set["spec"][list.spec_field()] = wanted["spec"][list.spec_field()].clone();
        // What its webhook notes of the images is not known.
        set["metadata"]["annotations"][HASH] = Value::Null;
    }
    let pods = pods(live, &set);
    let [to_update, begun, blocked] =
        [PodVerdict::Update, PodVerdict::InProgress, PodVerdict::Blocked].map(|verdict| count(&pods, verdict));
    let (kept, _) = partition(&set, &pods);
    if is_changed || to_update > 0 {
        reasons.extend(held(&set, &pods));
    }
    if is_changed && to_update + begun + blocked == 0 && reasons.is_empty() {
        reasons.push(Reason::NoPods);
    }
    let verdict = match () {
        () if !reasons.is_empty() => Verdict::NotEligible,
        () if to_update + begun > 0 => Verdict::InPlace,
        () if blocked > 0 => Verdict::NotEligible,
        () => Verdict::NothingToDo,
    };
    if verdict == Verdict::InPlace {
        let limits: Vec<String> = left(&set, &pods).into_iter().chain(hot(&set)).collect();
        warnings.push(Warning::SidecarSetUpdates { limits });
    }
    for row in containers.iter_mut().filter(|row| row.list == ContainerList::Containers && to_update > 0) {
        let is_it = |sidecar: &&Value| text(sidecar, "/name") == row.container.as_str();
        let names = sidecars(&set).find(is_it).map(names_in_pods).unwrap_or_default();
        // Also where an earlier run has set the image.
        if pods.iter().any(|pod| names.iter().any(|name| pod.changes.contains_key(name))) {
            row.effect = Effect::Restart;
        }
    }
    let given = IntOrPercent::from_value(&set["spec"]["updateStrategy"]["maxUnavailable"]).ok();
    let at_once = given.map_or(1, |given| given.scaled(pods.len(), true)).max(1);
    let number = |pods: usize| u32::try_from(pods).unwrap_or(u32::MAX);
    let policy = Policy {
        max_unavailable: number(at_once),
        canary: (kept > 0).then(|| number(to_update - kept + begun)),
        drain_seconds: None,
        respects_budgets: false,
        ..policy_of(live, options)
    };
    WorkloadPlan {
        verdict,
        reasons,
        warnings,
        containers,
        estimate_seconds: f64::from(number((to_update - kept).div_ceil(at_once))) * SECONDS_PER_POD,
        replicas: number(pods.len()),
        pods,
        ..WorkloadPlan::empty(live, policy)
    }
}

/// Returns the SidecarSet that is wanted; what of it reaches no running pod is a reason, and what is not written a warning.
fn wanted(intent: &Intent, live: &Snapshot, reasons: &mut Vec<Reason>, warnings: &mut Vec<Warning>) -> Value {
    warnings.extend(live.not_read.iter().map(|what| Warning::ReadFailed { what: what.clone() }));
    let mut wanted = live.workload.object.clone();
    match intent {
        Intent::Images(images) => {
            let put = wanted.get_mut("spec").map(|spec| new_images::put(spec, images));
            reasons.extend(put.and_then(Result::err).unwrap_or_default());
        }
        Intent::Manifest(Manifest::Stored { object, removals_unseen }) => {
            warnings.extend(removals_unseen.then_some(Warning::RemovalsUnseen));
            wanted.clone_from(object);
        }
        Intent::Manifest(Manifest::Refused { message }) => {
            reasons.push(Reason::AdmissionRefused { message: message.clone(), others: Vec::new() });
        }
        Intent::None | Intent::Manifest(Manifest::Given { .. }) | Intent::Undo { .. } | Intent::Restart { .. } => {}
    }
    let paths = differing(&live.workload.object["spec"], &wanted["spec"], "spec").into_iter();
    let (of_containers, paths): (Vec<_>, Vec<_>) = paths.partition(|path| {
        ContainerList::ALL.iter().any(|list| path.starts_with(&format!("spec.{}", list.spec_field())))
    });
    let fixed = of_containers.into_iter().filter(|path| !path.ends_with("].image"));
    let why = "changes, and its controller gives running pods images alone; new pods get it";
    reasons.extend(fixed.map(|path| Reason::SidecarNotUpdated { path, why: why.into() }));
    warnings.extend((!paths.is_empty()).then_some(Warning::OutsideTemplate { paths }));
    wanted
}

fn images(set: &Value) -> impl Iterator<Item = (ContainerList, usize, &str, &str)> {
    ContainerList::ALL.into_iter().flat_map(move |list| {
        let containers = set.pointer(&format!("/spec/{}", list.spec_field())).and_then(Value::as_array);
        let image = move |(index, container)| (list, index, text(container, "/name"), text(container, "/image"));
        containers.into_iter().flatten().enumerate().map(image)
    })
}

fn containers(before: &Value, after: &Value) -> Vec<ContainerPlan> {
    let row = |(list, _, name, from): (ContainerList, usize, &str, &str)| {
        let new = images(after).find(|(of, _, other, _)| (*of, *other) == (list, name));
        let to = new.map(|(.., image)| image.to_owned()).filter(|to| to != from);
        let effect = match (&to, list) {
            (None, _) => Effect::Unchanged,
            (Some(_), ContainerList::Containers) => Effect::Restart,
            (Some(_), ContainerList::InitContainers) => Effect::NoEffectNow,
        };
        let (container, from) = (name.into(), from.to_owned());
        ContainerPlan { container, list, from, to, effect, resize_restarts: false, is_down: false }
    };
    images(before).map(row).collect()
}

/// Returns the write of the images: one patch, of exactly the SidecarSet that was read; none where they stay.
pub fn write(plan: &WorkloadPlan, live: &Snapshot) -> Option<ObjectWrite> {
    let set = &live.workload;
    let mut operations = Operations::default();
    operations.test(["metadata", "uid"], set.uid.as_str().into());
    // What the plan says rests on the whole of it, such as the strategy.
    operations.test(["metadata", "generation"], set.object["metadata"]["generation"].clone());
    let changed = || images(&set.object).zip(&plan.containers).filter_map(|(at, row)| Some((at, row.to.as_deref()?)));
    for ((list, index, name, from), to) in changed() {
        let index = index.to_string();
        let path = |field| ["spec", list.spec_field(), index.as_str(), field];
        operations.test(path("name"), name.into());
        operations.test(path("image"), from.into());
        operations.replace(path("image"), to.into());
    }
    let object = ObjectKey::of(ObjectKind::Workload(set.reference.kind), &set.object);
    changed().next().map(|_| ObjectWrite::Patch { object, operations: operations.into_list() })
}

/// Returns the goal of `follow`: the pods that its controller updates, and those that have the update.
pub(super) fn follow(live: &Snapshot, options: &Options, id: &RolloutId, now: &str) -> Goal {
    let mut plan = build(&Intent::None, live, options);
    let settled = plan.count(PodVerdict::AlreadyThere);
    plan.policy.canary = plan.policy.canary.map(|pods| pods.saturating_add(u32::try_from(settled).unwrap_or(u32::MAX)));
    for pod in plan.pods.iter_mut().filter(|pod| pod.verdict == PodVerdict::AlreadyThere) {
        pod.verdict = PodVerdict::InProgress;
    }
    let goal = plan.goal(id, &Start { clock: now.to_owned(), ..Start::default() });
    Goal { follows: Some(Follow { read_at: live.surroundings.server_now.clone(), held_by: None }), ..goal }
}

/// Returns the words that set the images back which the pods of a goal come from, as `apply` takes them; none where they come
/// from several.
pub fn words_back(goal: &Goal, live: &Snapshot) -> Vec<String> {
    let of_sidecar = |sidecar: &Value| {
        let (empty, names) = (text(sidecar, "/upgradeStrategy/hotUpgradeEmptyImage"), names_in_pods(sidecar));
        let its = goal.pods.iter().flat_map(|pod| &pod.containers).filter(|(name, wanted)| {
            // Of a pair the one that is emptied has what ran before.
            let is_it = !is_hot(sidecar) || wanted.to.as_deref() == Some(empty);
            is_it && wanted.from != wanted.to && names.contains(name)
        });
        let before = its.filter_map(|(name, wanted)| again(is_hot(sidecar), name, wanted.from.clone()?, live));
        let before: BTreeSet<String> = before.collect();
        let image = before.first().filter(|_| before.len() == 1)?;
        Some(format!("{}={image}", text(sidecar, "/name")))
    };
    sidecars(&live.workload.object).filter_map(of_sidecar).collect()
}

/// After a hot upgrade that has failed it has to be another text: what still runs has that one.
fn again(is_hot: bool, name: &ContainerName, image: String, live: &Snapshot) -> Option<String> {
    let runs = |pod: &&Pod| pod.spec_of(name).is_some_and(|container| container.image == image);
    let id = live.pods.iter().find(runs).and_then(|pod| Some(&pod.status_of(name)?.image_id));
    if is_hot { pinned_image(&image, id?, None).ok() } else { Some(image) }
}
