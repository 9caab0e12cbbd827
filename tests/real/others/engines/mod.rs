//! Going first under the tools that apply manifests by themselves, with their own code: Helm 4, the engine of Argo CD, and
//! Flux's controllers, which `cluster others engines` builds.

mod argocd;
mod flux;
mod helm;
mod hook;
mod kubectl;
mod lanes;

use serde_json::Value;

use crate::hand_over::{self, Engine};
use crate::support::Namespace;

fn uids(namespace: &Namespace, owner: &str, count: usize) -> Vec<Value> {
    namespace.kubectl(&["rollout", "status", owner, "--timeout=120s"]);
    let pods = namespace.wait_ready("app=web", count);
    pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
}

/// The same as with kubectl.
fn goes_first<E: Engine>(name: &str, engine: impl Fn(&Namespace) -> E) {
    hand_over::goes_first(&format!("engine-{name}"), engine);
}
