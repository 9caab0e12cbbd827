//! Going first under the tools that apply manifests by themselves, with their own code: Helm 4, the engine of Argo CD, and
//! Flux's controllers, which `cluster others engines` builds.

mod argocd;
mod flux;
mod helm;
mod hook;
mod kubectl;
mod lanes;

use serde_json::Value;

use crate::hand_over::{first, next_apply, state};
use crate::support::{Namespace, samples};

/// What applies the manifests next.
trait Engine {
    /// Installs or upgrades; a failure fails the test.
    fn apply(&self, namespace: &Namespace, manifest: &str);

    /// The same; returns whether no conflict with another manager of the fields has kept it from it.
    fn apply_unless_conflict(&self, namespace: &Namespace, manifest: &str) -> bool {
        self.apply(namespace, manifest);
        true
    }

    /// Goes back to the manifest before, after `undo`.
    fn back(&self, namespace: &Namespace, manifest: &str) {
        self.apply(namespace, manifest);
    }
}

fn uids(namespace: &Namespace, owner: &str, count: usize) -> Vec<Value> {
    namespace.kubectl(&["rollout", "status", owner, "--timeout=120s"]);
    let pods = namespace.wait_ready("app=web", count);
    pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// The first install, an update, the way back, and what cannot be done in place: the whole of a user's path.
fn goes_first<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E) {
    let namespace = Namespace::new(&format!("engine-{name}"));
    let engine = engine(&namespace);
    let manifest = samples::deployment("web", 2);
    assert_eq!(first(&namespace, &manifest).0, "absent", "a first install");
    engine.apply(&namespace, &manifest);
    let before = state(&namespace);

    let newer = samples::with_tag(&manifest, "side", "v2");
    assert_eq!(next_apply(&namespace, &newer)["podsReplaced"], 2);
    assert_eq!(first(&namespace, &newer).0, "inPlace");
    assert_eq!(next_apply(&namespace, &newer)["result"], "unchanged");
    let in_place = state(&namespace);
    assert_eq!(before.1, in_place.1);
    engine.apply(&namespace, &newer);
    assert_eq!(state(&namespace), in_place, "the same manifest changes nothing");

    let undone = namespace.inplace(&["undo", "deployment/web", "--yes", "--min-ready-seconds", "0"]);
    assert_eq!(undone.code, 0, "{undone:#?}");
    engine.back(&namespace, &manifest);
    assert_eq!(state(&namespace), before);

    let other = samples::with_app_fields(&newer, "env: [{name: A, value: b}]");
    let other = other.replace("terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: 1");
    assert_eq!(first(&namespace, &other).0, "left");
    assert_eq!(state(&namespace), before, "nothing was written");
    assert_eq!(next_apply(&namespace, &other)["podsReplaced"], 2);
    engine.apply(&namespace, &other);
    let after = state(&namespace);
    assert!(after.1.iter().all(|uid| !before.1.contains(uid)), "an ordinary rollout");
}
