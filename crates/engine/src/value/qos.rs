//! The quality of service class of a pod, as the API server sets it (`ComputePodQOS` in pkg/apis/core/v1/helper/qos).

use serde_json::Value;

use crate::value::quantity::Quantity;

const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// Returns the class of a pod's spec: `Guaranteed`, `Burstable` or `BestEffort`.
///
/// Requests that are not written count as the limits, as the API server fills them in. Resources of the pod as a whole
/// (1.34) come before those of its containers, even where they have no value; their requests must have been filled in.
pub fn class(spec: &Value) -> &'static str {
    if let Some(resources) = spec.get("resources").filter(|resources| !resources.is_null()) {
        return of_all(&[resources]);
    }
    let list = |field: &str| spec.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let containers = list("containers").iter().chain(list("initContainers"));
    let none = Value::Null;
    let resources: Vec<&Value> = containers.map(|container| container.get("resources").unwrap_or(&none)).collect();
    of_all(&resources)
}

fn of_all(resources: &[&Value]) -> &'static str {
    if !resources.iter().any(|resources| is_set(resources)) {
        return "BestEffort";
    }
    if resources.iter().all(|resources| is_guaranteed(resources)) { "Guaranteed" } else { "Burstable" }
}

fn quantity(resources: &Value, kind: &str, resource: &str) -> Option<Quantity> {
    let quantity = Quantity::of(resources.get(kind)?.get(resource)?).ok()?;
    (quantity > Quantity::of(&Value::from(0)).ok()?).then_some(quantity)
}

fn is_set(resources: &Value) -> bool {
    RESOURCES
        .into_iter()
        .any(|resource| ["requests", "limits"].into_iter().any(|kind| quantity(resources, kind, resource).is_some()))
}

fn is_guaranteed(resources: &Value) -> bool {
    RESOURCES.into_iter().all(|resource| {
        let limit = quantity(resources, "limits", resource);
        let request = quantity(resources, "requests", resource);
        limit.is_some() && (request.is_none() || request == limit)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn classes() {
        let both = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}});
        let limits = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
        let some = json!({"requests": {"cpu": "1"}});
        for (containers, class_) in [
            (vec![json!({}), json!({})], "BestEffort"),
            (vec![json!({"requests": {"cpu": "0"}})], "BestEffort"),
            (vec![json!({"requests": {"ephemeral-storage": "1Gi"}})], "BestEffort"),
            (vec![both.clone()], "Guaranteed"),
            (vec![limits.clone(), both.clone()], "Guaranteed"),
            (vec![limits.clone(), json!({})], "Burstable"),
            (vec![some], "Burstable"),
        ] {
            let containers: Vec<Value> =
                containers.into_iter().map(|resources| json!({"resources": resources})).collect();
            assert_eq!(class(&json!({"containers": containers})), class_, "{containers:?}");
        }
        assert_eq!(class(&json!({"resources": limits, "containers": [{}]})), "Guaranteed");
        let mixed = json!({"containers": [{"resources": both}], "initContainers": [{}]});
        assert_eq!(class(&mixed), "Burstable");
    }
}
