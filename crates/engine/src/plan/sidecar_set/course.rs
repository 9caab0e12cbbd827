//! What a SidecarSet's controller does with one pod.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::change::FieldChanges;
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::kinds::differing;
use crate::plan::{Effect, ImageChange, PodPlan, PodVerdict};
use crate::state::evidence::{Baseline, Proof, one_look};
use crate::value::json_path::{element, items, text};
use crate::value::selector;

/// The SidecarSets whose containers were injected into a pod, separated by commas.
const INJECTED: &str = "kruise.io/sidecarset-injected-list";
/// What a SidecarSet asks for, and a pod has, as a hash: with the images, and without. A pod has one for each SidecarSet.
pub(super) const HASH: &str = "kruise.io/sidecarset-hash";
const HASH_WITHOUT_IMAGES: &str = "kruise.io/sidecarset-hash-without-image";
/// Which of its two containers works, for each sidecar that is upgraded hot.
const WORKING: &str = "kruise.io/sidecarset-working-hotupgrade-container";

/// Returns what the controller does with a pod to bring it to `set` (`GetNextUpgradePods`, `IsSidecarSetUpgradable`). Where the
/// hash of `set` is not known, the images decide.
pub(super) fn pod_plan(set: &Value, pod: &Pod, revisions: &[Value]) -> PodPlan {
    let name = text(set, "/metadata/name");
    let stays = |path: &str, why: &str| Reason::SidecarNotUpdated { path: path.into(), why: why.into() };
    let plan = |verdict, changes, reason: Option<Reason>| PodPlan {
        pod: pod.key.clone(),
        node: pod.spec.node_name.clone(),
        kubelet: None,
        verdict,
        changes,
        fields: FieldChanges::default(),
        drain: None,
        unrestored: None,
        reasons: reason.into_iter().collect(),
    };
    let left = |verdict, reason| plan(verdict, BTreeMap::new(), Some(reason));
    if !is_matched(set, pod) {
        let why = "are not all in it, and are injected only when a pod is created";
        return left(PodVerdict::Skipped, stays("spec.containers", why));
    }
    let known = is_updated(set, pod);
    let mut changes = BTreeMap::new();
    for sidecar in sidecars(set) {
        let Some(found) = images_of(sidecar, pod, known == Some(true)) else {
            let path = element("spec.containers", text(sidecar, "/name"));
            let why = "runs the wanted image in one of its two containers and another one in the other, and its controller leaves both so, unless the image is another text (:TAG@DIGEST)";
            return left(PodVerdict::Blocked, stays(&path, why));
        };
        for (name, to) in found {
            let name = ContainerName::from(name.as_str());
            let from = pod.spec_of(&name).map_or(to.as_str(), |container| &container.image);
            changes.insert(name, ImageChange::new(from, to.as_str(), Effect::Restart));
        }
    }
    let hash = annotation(set, HASH_WITHOUT_IMAGES);
    if known != Some(true) && hash.is_some_and(|hash| injected(pod, HASH_WITHOUT_IMAGES, name).0 != hash) {
        let why = "differs from what the pod was created with, and its controller updates images alone (UpdateImmutableField)";
        let path = since(set, &injected(pod, HASH, name).1, revisions);
        return left(PodVerdict::Blocked, stays(&path, why));
    }
    let has = |change: &ImageChange| change.from == change.to;
    if known.unwrap_or_else(|| changes.values().all(has)) {
        let is_settled = pod.is_ready() && changes.iter().all(|(name, change)| has(change) && runs(pod, name));
        let verdict = if is_settled { PodVerdict::AlreadyThere } else { PodVerdict::InProgress };
        return plan(verdict, changes, None);
    }
    let chosen = set.pointer("/spec/updateStrategy/selector").filter(|chosen| !chosen.is_null());
    if chosen.is_some_and(|chosen| !selector::matches(chosen, &pod.labels)) {
        let (path, what) = ("spec.updateStrategy.selector".into(), "does not select it".into());
        return left(PodVerdict::Blocked, Reason::UpdateStrategyHolds { path, what });
    }
    changes.retain(|_, change| !has(change));
    plan(PodVerdict::Update, changes, None)
}

/// The fields in which the revision of a pod differs; the whole list where that is not known.
fn since(set: &Value, revision: &str, revisions: &[Value]) -> String {
    let of_pod = revisions.iter().find(|known| text(known, "/metadata/name") == revision);
    let containers = |set: &Value| set.pointer("/spec/containers").cloned().unwrap_or_default();
    let before = of_pod.and_then(|revision| revision.get("data"));
    let paths = before.map(|data| differing(&containers(data), &containers(set), "spec.containers"));
    let paths = paths.into_iter().flatten().filter(|path| !path.ends_with("].image")).collect::<Vec<_>>();
    if paths.is_empty() { "spec.containers".to_owned() } else { paths.join(", ") }
}

fn annotation<'s>(object: &'s Value, key: &str) -> Option<&'s str> {
    object.pointer("/metadata/annotations")?.get(key)?.as_str()
}

/// Reads the hash of what a pod was given last, and the name of its revision; of OpenKruise before 0.8 it is the hash alone.
fn injected(pod: &Pod, key: &str, set: &str) -> (String, String) {
    let all = pod.annotations.get(key).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let found = all.and_then(|all| all.get(set).cloned()).unwrap_or_default();
    let hash = found.as_str().unwrap_or_else(|| text(&found, "/hash"));
    (hash.to_owned(), text(&found, "/controllerRevision").to_owned())
}

/// Returns whether a pod was asked for what the SidecarSet has; `None` where that is not known without its webhook.
fn is_updated(set: &Value, pod: &Pod) -> Option<bool> {
    Some(injected(pod, HASH, text(set, "/metadata/name")).0 == annotation(set, HASH)?)
}

/// Returns the containers that a SidecarSet injects for a pod's whole life.
pub(super) fn sidecars(set: &Value) -> impl Iterator<Item = &Value> {
    items(set, "/spec/containers")
}

pub(super) fn is_hot(sidecar: &Value) -> bool {
    text(sidecar, "/upgradeStrategy/upgradeType") == "HotUpgrade"
}

pub(super) fn names_in_pods(sidecar: &Value) -> Vec<ContainerName> {
    let name = text(sidecar, "/name");
    let names = if is_hot(sidecar) { ["-1", "-2"].as_slice() } else { &[""] };
    names.iter().map(|end| ContainerName::from(format!("{name}{end}").as_str())).collect()
}

/// `IsPodInjectedSidecarSet` and `IsPodConsistentWithSidecarSet`.
fn is_matched(set: &Value, pod: &Pod) -> bool {
    let name = text(set, "/metadata/name");
    let is_listed = pod.annotations.get(INJECTED).is_some_and(|list| list.split(',').any(|it| it == name));
    let has = |name: &ContainerName| pod.spec.containers.iter().any(|container| container.name == *name);
    is_listed && sidecars(set).all(|sidecar| names_in_pods(sidecar).iter().all(has))
}

/// Whether a container runs what its pod asks for, as far as one look can show.
fn runs(pod: &Pod, name: &ContainerName) -> bool {
    pod.spec_of(name).zip(pod.status_of(name)).is_some_and(|(container, status)| {
        let is_up = status.state.running.is_some() && status.ready;
        is_up && one_look(pod, &Baseline::of(pod, name), container, status) != Proof::Old
    })
}

/// Returns the image of each of a sidecar's containers once the controller has done its work. Of one that is upgraded hot, first
/// the one that gets the image, then the other, which is emptied when that is ready (`flipPodSidecarContainerDo`); `None` where it
/// gets there no more.
fn images_of(sidecar: &Value, pod: &Pod, is_updated: bool) -> Option<Vec<(ContainerName, String)>> {
    let image = text(sidecar, "/image").to_owned();
    let empty = text(sidecar, "/upgradeStrategy/hotUpgradeEmptyImage");
    let mut names = names_in_pods(sidecar);
    let Some(two) = names.get(1).cloned() else { return Some(vec![(names.pop()?, image)]) };
    let one = names.swap_remove(0);
    let has = |name: &ContainerName, image: &str| pod.spec_of(name).is_some_and(|found| found.image == image);
    let is_ready = |name| pod.status_of(name).is_some_and(|status| status.ready);
    let working: Option<BTreeMap<String, String>> =
        pod.annotations.get(WORKING).and_then(|text| serde_json::from_str(text).ok());
    let first_works = working?.get(text(sidecar, "/name"))? == one.as_str();
    // `findContainerToHotUpgrade`: the empty one, else the one that is not ready, else the one that does not work.
    let is_first = match ((has(&one, empty), has(&two, empty)), (is_ready(&one), is_ready(&two))) {
        _ if is_updated => first_works,
        ((true, _), _) | ((false, false), (false, true)) => true,
        ((false, true), _) | ((false, false), (true, false)) => false,
        ((false, false), (true, true) | (false, false)) => !first_works,
    };
    let (next, other) = if is_first { (one, two) } else { (two, one) };
    // `UpgradeSidecarContainer` changes nothing where the other one has the image.
    let (next, other) = match (has(&next, &image), has(&other, &image)) {
        (false, true) if has(&next, empty) => (other, next),
        (false, true) => return None,
        (_, _) => (next, other),
    };
    Some(vec![(next, image), (other, empty.to_owned())])
}
