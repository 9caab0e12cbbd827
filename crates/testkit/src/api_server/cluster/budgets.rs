//! The status of PodDisruptionBudgets (`pkg/controller/disruption`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::State;
use super::garbage;
use crate::api_model::{at, put, text};
use crate::clock;
use crate::controllers::fields::{
    condition, generation, is_terminating, namespace, portion, replicas, selects, set_condition, uid,
};

pub(super) fn sync(state: &mut State) {
    for budget in state.all("poddisruptionbudgets") {
        let mut pods = state.all("pods");
        pods.retain(|pod| {
            namespace(pod) == namespace(&budget)
                && !at(&budget, &["spec", "selector"]).is_null()
                && selects(at(&budget, &["spec", "selector"]), pod)
                && !is_terminating(pod)
        });
        sync_budget(state, &budget, &pods);
    }
}

fn sync_budget(state: &mut State, budget: &Value, pods: &[Arc<Value>]) {
    let count = i64::try_from(pods.len()).expect("few");
    let (least, most) = (at(budget, &["spec", "minAvailable"]), at(budget, &["spec", "maxUnavailable"]));
    let (expected, desired) = if most.is_null() {
        let expected = if least.is_string() { scale(state, pods) } else { count };
        (expected, portion(least, expected, true))
    } else {
        let expected = scale(state, pods);
        (expected, (expected - portion(most, expected, true)).max(0))
    };
    let is_healthy = |pod: &&Arc<Value>| text(condition(pod, "Ready"), &["status"]) == "True";
    let healthy = i64::try_from(pods.iter().filter(is_healthy).count()).expect("few");
    let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
    let mut status = at(budget, &["status"]).clone();
    for (field, value) in [
        ("currentHealthy", healthy),
        ("desiredHealthy", desired),
        ("disruptionsAllowed", allowed),
        ("expectedPods", expected),
        ("observedGeneration", generation(budget)),
    ] {
        put(&mut status, &[field], json!(value));
    }
    let (value, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    set_condition(&mut status, "DisruptionAllowed", value, reason, "", &clock::now_text());
    let key = garbage::key_of(budget).expect("a budget is served");
    state.edit_key(&key, "kube-controller-manager", |budget| put(budget, &["status"], status));
}

/// How many pods their controllers want (`getExpectedScale`).
fn scale(state: &State, pods: &[Arc<Value>]) -> i64 {
    let mut seen: Vec<String> = Vec::new();
    let mut expected = 0;
    for pod in pods {
        let owner = at(pod, &["metadata", "ownerReferences"]).as_array().and_then(|all| all.first()).cloned();
        let owner = owner.unwrap_or_default();
        let of = text(&owner, &["uid"]).to_owned();
        if of.is_empty() || seen.contains(&of) {
            expected += i64::from(of.is_empty());
            continue;
        }
        let plural = format!("{}s", text(&owner, &["kind"]).to_lowercase());
        let found = super::super::resource::Resource::of_plural(&plural).map(|resource| state.all(resource.plural));
        let found = found.and_then(|all| all.into_iter().find(|one| uid(one) == of));
        expected += found.map_or(0, |owner| replicas(&owner));
        seen.push(of);
    }
    expected
}
