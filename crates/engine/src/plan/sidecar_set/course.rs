//! What a SidecarSet's controller does with one pod.

use std::collections::BTreeMap;

use serde_json::Value;

use super::change::differing;
use super::hot;
use crate::change::reason::Reason;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::Pod;
use crate::k8s::workload::Workload;
use crate::rollout::ContainerGoal;
use crate::state::evidence::{Baseline, Proof, one_look};
use crate::value::json_path::text;
use crate::value::selector;

/// The SidecarSets whose containers were injected into a pod, separated by commas.
const INJECTED: &str = "kruise.io/sidecarset-injected-list";
/// What a SidecarSet asks for, and a pod has, as a hash: with the images, and without. A pod has one for each SidecarSet.
pub(super) const HASH: &str = "kruise.io/sidecarset-hash";
const HASH_WITHOUT_IMAGES: &str = "kruise.io/sidecarset-hash-without-image";

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Course {
    /// It was asked for these images; `settled` where it runs them.
    Updated {
        goals: BTreeMap<ContainerName, ContainerGoal>,
        settled: bool,
    },
    /// It gets these images.
    Updates(BTreeMap<ContainerName, ContainerGoal>),
    Stays(Reason),
}

/// Returns what the controller does with a pod to bring it to `set`; whose hashes are not known where the webhook was not
/// asked (`GetNextUpgradePods`, `IsSidecarSetUpgradable`).
pub(super) fn course(set: &Value, pod: &Pod, revisions: &[Value]) -> Course {
    let name = text(set, "/metadata/name");
    let known = is_updated(set, pod);
    let Goals { images: mut goals, stuck } = Goals::of(set, pod, known == Some(true));
    if let Some(container) = stuck {
        return Course::Stays(Reason::HotUpgradeStuck { container });
    }
    if known.unwrap_or_else(|| goals.values().all(|goal| goal.from.is_none())) {
        return Course::Updated { settled: is_settled(pod, &goals), goals };
    }
    let chosen = set.pointer("/spec/updateStrategy/selector").filter(|chosen| !chosen.is_null());
    if chosen.is_some_and(|chosen| !selector::matches(chosen, &pod.labels)) {
        let path = "spec.updateStrategy.selector".into();
        return Course::Stays(Reason::UpdateStrategyHolds { path, what: "does not select it".into() });
    }
    let has = injected(pod, HASH_WITHOUT_IMAGES, name);
    match annotation(set, HASH_WITHOUT_IMAGES) {
        Some(hash) if has.hash != hash => {
            let revision = injected(pod, HASH, name).revision;
            Course::Stays(Reason::SidecarFieldDiffers { path: since(set, &revision, revisions) })
        }
        Some(_) | None => {
            goals.retain(|_, goal| goal.from.is_some());
            Course::Updates(goals)
        }
    }
}

/// The fields in which the revision of a pod differs; the whole list where that is not known.
fn since(set: &Value, revision: &str, revisions: &[Value]) -> String {
    let of_pod = revisions.iter().find(|known| text(known, "/metadata/name") == revision);
    let paths = of_pod.and_then(|revision| revision.get("data")).map(|data| differing(data, set)).unwrap_or_default();
    if paths.is_empty() { "spec.containers".to_owned() } else { paths.join(", ") }
}

fn annotation<'s>(object: &'s Value, key: &str) -> Option<&'s str> {
    object.pointer("/metadata/annotations")?.get(key)?.as_str()
}

#[derive(Default)]
struct Injected {
    hash: String,
    /// The name of its ControllerRevision.
    revision: String,
}

/// Reads what a pod was injected with, or was given last; of OpenKruise before 0.8 it is the hash alone.
fn injected(pod: &Pod, key: &str, set: &str) -> Injected {
    let read = |text: &String| serde_json::from_str::<Value>(text).ok();
    let Some(found) = pod.annotations.get(key).and_then(read).and_then(|all| all.get(set).cloned()) else {
        return Injected::default();
    };
    let of = |field: &str| found.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    match found.as_str() {
        Some(hash) => Injected { hash: hash.to_owned(), ..Injected::default() },
        None => Injected { hash: of("hash"), revision: of("controllerRevision") },
    }
}

/// Returns the containers that a SidecarSet injects for a pod's whole life.
pub(super) fn sidecars(set: &Value) -> impl Iterator<Item = &Value> {
    set.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten()
}

/// `IsPodInjectedSidecarSet` and `IsPodConsistentWithSidecarSet`.
pub(super) fn is_matched(set: &Workload, pod: &Pod) -> bool {
    let listed = pod.annotations.get(INJECTED).is_some_and(|list| list.split(',').any(|it| it == set.reference.name));
    let has = |name: &String| pod.spec.containers.iter().any(|container| container.name.as_str() == name);
    let has_it = |sidecar: &Value| {
        let is_noted = || !hot::is_hot(sidecar) || hot::working(pod, text(sidecar, "/name")).is_some();
        hot::names_in_pods(sidecar).iter().all(has) && is_noted()
    };
    listed && sidecars(&set.object).all(has_it)
}

/// The images that the controller gives a pod; of a container that has it `from` is not known.
#[derive(Default)]
pub(crate) struct Goals {
    pub(crate) images: BTreeMap<ContainerName, ContainerGoal>,
    /// A sidecar whose hot upgrade comes to no end.
    stuck: Option<ContainerName>,
}

impl Goals {
    pub(crate) fn of(set: &Value, pod: &Pod, is_updated: bool) -> Self {
        let mut goals = Self::default();
        for sidecar in sidecars(set) {
            let (name, image) = (text(sidecar, "/name"), text(sidecar, "/image"));
            match hot::is_hot(sidecar) {
                false => goals.add(pod, name, image),
                true => match hot::images(sidecar, pod, is_updated) {
                    Some(images) => images.iter().for_each(|(name, image)| goals.add(pod, name, image)),
                    None => goals.stuck = Some(name.into()),
                },
            }
        }
        goals
    }

    fn add(&mut self, pod: &Pod, name: &str, to: &str) {
        let name = ContainerName::from(name);
        let from = pod.spec_of(&name).map(|container| container.image.clone()).filter(|image| image != to);
        let goal = ContainerGoal { from, to: Some(to.to_owned()), restarts: true, ..ContainerGoal::default() };
        self.images.insert(name, goal);
    }
}

/// Returns whether a pod was asked for what the SidecarSet has; `None` where that is not known without its webhook.
pub(crate) fn is_updated(set: &Value, pod: &Pod) -> Option<bool> {
    Some(injected(pod, HASH, text(set, "/metadata/name")).hash == annotation(set, HASH)?)
}

/// Whether a pod is ready, and runs what it was asked for as far as one look can show.
fn is_settled(pod: &Pod, goals: &BTreeMap<ContainerName, ContainerGoal>) -> bool {
    let runs = |(name, goal): (&ContainerName, &ContainerGoal)| {
        let found = pod.spec_of(name).zip(pod.status_of(name));
        goal.from.is_none()
            && found.is_some_and(|(container, status)| {
                let is_up = status.state.running.is_some() && status.ready;
                is_up && one_look(pod, &Baseline::of(pod, name), container, status) != Proof::Old
            })
    };
    pod.is_ready() && goals.iter().all(runs)
}
