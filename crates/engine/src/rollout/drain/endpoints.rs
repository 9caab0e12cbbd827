//! What EndpointSlices say of one pod.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::k8s::names::Uid;

/// Returns those of the Services in whose EndpointSlices the pod is listed as ready or serving.
///
/// Empty once a drain has reached every slice; all of them again once the pod is back. `slices` are the EndpointSlices
/// of the namespace, as the API serves them; the pod is matched by its uid (`targetRef`), since its address may be
/// reused by another pod. A condition that is absent has the API's default: ready counts as true, serving as ready
/// (`discovery/v1`, `EndpointConditions`).
pub fn serving_in<'s>(slices: &[Value], services: &'s [String], pod: &Uid) -> BTreeSet<&'s str> {
    let listing = slices.iter().filter(|slice| lists(slice, pod)).filter_map(|slice| {
        let name = slice.pointer("/metadata/labels")?.get("kubernetes.io/service-name")?.as_str()?;
        services.iter().find(|service| *service == name).map(String::as_str)
    });
    listing.collect()
}

fn lists(slice: &Value, pod: &Uid) -> bool {
    let endpoints = slice.get("endpoints").and_then(Value::as_array).into_iter().flatten();
    endpoints.into_iter().any(|endpoint| {
        let target = endpoint.pointer("/targetRef/uid").and_then(Value::as_str);
        let condition = |name: &str| endpoint.get("conditions")?.get(name)?.as_bool();
        let ready = condition("ready").unwrap_or(true);
        target == Some(pod.as_str()) && (ready || condition("serving").unwrap_or(ready))
    })
}
