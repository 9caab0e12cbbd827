//! A sidecar that is upgraded hot: it has two containers in each pod, one of which is empty.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::k8s::pod::Pod;
use crate::value::json_path::text;

/// Which of its two containers works for each that is upgraded hot.
const WORKING: &str = "kruise.io/sidecarset-working-hotupgrade-container";

pub(super) fn is_hot(sidecar: &Value) -> bool {
    text(sidecar, "/upgradeStrategy/upgradeType") == "HotUpgrade"
}

/// Returns the names that a sidecar has in pods.
pub(super) fn names_in_pods(sidecar: &Value) -> Vec<String> {
    let name = text(sidecar, "/name");
    if is_hot(sidecar) { pair(name).into() } else { vec![name.to_owned()] }
}

fn pair(name: &str) -> [String; 2] {
    ["-1", "-2"].map(|end| format!("{name}{end}"))
}

pub(super) fn working(pod: &Pod, sidecar: &str) -> Option<String> {
    let all: BTreeMap<String, String> = serde_json::from_str(pod.annotations.get(WORKING)?).ok()?;
    all.get(sidecar).cloned()
}

/// Returns the image of each of the two once the controller has done its work: first of the one that gets the sidecar's, then
/// of the other, which is emptied when that is ready (`flipPodSidecarContainerDo`). `None` where it gets there no more.
pub(super) fn images(sidecar: &Value, pod: &Pod, is_updated: bool) -> Option<[(String, String); 2]> {
    let (name, image) = (text(sidecar, "/name"), text(sidecar, "/image"));
    let empty = text(sidecar, "/upgradeStrategy/hotUpgradeEmptyImage");
    let [one, two] = pair(name);
    let has = |name: &String, image: &str| pod.spec_of(&name.as_str().into()).is_some_and(|it| it.image == image);
    let first_works = working(pod, name).as_ref() == Some(&one);
    let is_first = if is_updated { first_works } else { is_first_next(pod, (&one, &two), empty, !first_works) };
    let (next, other) = if is_first { (one, two) } else { (two, one) };
    // `UpgradeSidecarContainer` changes nothing where the other one has the image.
    let (next, other) = match (has(&next, image), has(&other, image)) {
        (false, true) if has(&next, empty) => (other, next),
        (false, true) => return None,
        (_, _) => (next, other),
    };
    Some([(next, image.to_owned()), (other, empty.to_owned())])
}

/// Whether the first of the two gets a new image: the empty one, else the one that is not ready, else the one that does not
/// work (`findContainerToHotUpgrade`).
fn is_first_next(pod: &Pod, (one, two): (&String, &String), empty: &str, is_idle: bool) -> bool {
    let is_empty = [one, two].map(|name| pod.spec_of(&name.as_str().into()).is_some_and(|it| it.image == empty));
    let is_ready = [one, two].map(|name| pod.status_of(&name.as_str().into()).is_some_and(|it| it.ready));
    match (is_empty, is_ready) {
        ([true, _], _) | ([false, false], [false, true]) => true,
        ([false, true], _) | ([false, false], [true, false]) => false,
        ([false, false], [true, true] | [false, false]) => is_idle,
    }
}
