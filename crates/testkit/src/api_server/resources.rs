//! What a pod asks for, and the class that follows from it.

use serde_json::{Map, Value, json};

use crate::quantity;

/// What is scheduled and resized by.
pub(crate) const COUNTED: [&str; 2] = ["cpu", "memory"];

fn all<'s>(spec: &'s Value, list: &str) -> impl Iterator<Item = &'s Value> {
    spec[list].as_array().into_iter().flatten()
}

/// What the containers of a pod ask for together, in thousandths (`resource.PodRequests`).
pub(crate) fn requests(spec: &Value, resource: &str) -> i128 {
    let of = |container: &Value| quantity::of(&container["resources"]["requests"][resource]);
    let is_sidecar = |container: &&Value| container["restartPolicy"] == "Always";
    let sidecars: i128 = all(spec, "initContainers").filter(is_sidecar).map(of).sum();
    let running = sidecars + all(spec, "containers").map(of).sum::<i128>();
    let once = all(spec, "initContainers").filter(|one| !is_sidecar(one)).map(of).max().unwrap_or(0);
    let whole = &spec["resources"]["requests"][resource];
    if whole.is_null() { running.max(once) } else { quantity::of(whole) }
}

/// The class of a pod (`ComputePodQOS`).
pub(crate) fn qos(spec: &Value) -> &'static str {
    let containers: Vec<&Value> = if spec["resources"].is_null() {
        all(spec, "containers").chain(all(spec, "initContainers")).collect()
    } else {
        vec![spec]
    };
    let positive =
        |container: &Value, map: &str, resource: &str| quantity::of(&container["resources"][map][resource]) > 0;
    let is_given = |container: &&&Value| {
        ["requests", "limits"].iter().any(|map| COUNTED.iter().any(|resource| positive(container, map, resource)))
    };
    if !containers.iter().any(|container| is_given(&container)) {
        return "BestEffort";
    }
    let is_guaranteed = |container: &&Value| {
        COUNTED.iter().all(|resource| {
            let of = |map: &str| quantity::of(&container["resources"][map][resource]);
            of("limits") > 0 && of("limits") == of("requests")
        })
    };
    if containers.iter().all(is_guaranteed) { "Guaranteed" } else { "Burstable" }
}

/// A limit without a request is the request too (`SetDefaults_Pod`).
pub(crate) fn default_requests(spec: &mut Value) {
    for list in ["containers", "initContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(limits) = container["resources"]["limits"].as_object().cloned() else { continue };
            let requests = container["resources"].as_object_mut().map(|it| it.entry("requests").or_insert(json!({})));
            let requests = requests.and_then(Value::as_object_mut);
            let mut nowhere = Map::new();
            let requests = requests.unwrap_or(&mut nowhere);
            for (resource, limit) in limits {
                requests.entry(resource).or_insert(limit);
            }
        }
    }
}
