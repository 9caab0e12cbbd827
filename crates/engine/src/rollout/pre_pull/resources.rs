//! What a pull pod asks for.
//!
//! Requests and limits are equal: then a quota on either takes the pod, and so does every limit to request ratio of a
//! LimitRange. Whether the namespace takes it in the end is not computed here, but asked by a dry run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::value::quantity::Quantity;

/// By resource, for each container of the pod. Empty: whatever the namespace fills in.
pub type Amounts = BTreeMap<String, String>;

/// Little, but enough to start a sandbox: with a limit of 1Mi it is OOM-killed, and then nothing is pulled; with 10m it is
/// throttled for five seconds.
const SMALL: [(&str, &str); 2] = [("cpu", "50m"), ("memory", "32Mi")];

/// Returns what is asked for where no LimitRange asks for more.
pub fn small() -> Amounts {
    SMALL.map(|(resource, amount)| (resource.to_owned(), amount.to_owned())).into()
}

/// Returns the same, raised to the minima of the namespace's LimitRanges, and lowered to their maxima.
///
/// A minimum of a pod is asked for by each container. Upstream: `plugin/pkg/admission/limitranger/admission.go`.
pub fn within(limit_ranges: &[Value]) -> Amounts {
    let mut amounts = small();
    let mut bounds: Vec<(&String, &Value, bool)> = Vec::new();
    for limit_range in limit_ranges {
        let items = limit_range.pointer("/spec/limits").and_then(Value::as_array).into_iter().flatten();
        for item in items.filter(|item| matches!(item["type"].as_str(), Some("Container" | "Pod"))) {
            for (field, is_minimum) in [("max", false), ("min", true)] {
                let bound = item.get(field).and_then(Value::as_object).into_iter().flatten();
                bounds.extend(bound.map(|(resource, amount)| (resource, amount, is_minimum)));
            }
        }
    }
    // Where the two contradict each other, the server refuses either.
    bounds.sort_by_key(|(_, _, is_minimum)| *is_minimum);
    for (resource, bound, is_minimum) in bounds {
        let Ok(bound) = Quantity::of(bound) else { continue };
        let amount = amounts.get(resource).and_then(|amount| amount.parse::<Quantity>().ok());
        let is_outside = match amount {
            Some(amount) if is_minimum => amount < bound,
            Some(amount) => amount > bound,
            None => is_minimum,
        };
        if is_outside {
            amounts.insert(resource.clone(), bound.to_string());
        }
    }
    amounts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_pod_asks_for_little_within_what_the_limit_ranges_allow() {
        let range = |limits: Value| json!({"metadata": {"name": "x"}, "spec": {"limits": limits}});
        for (limits, expected) in [
            (json!([]), json!({"cpu": "50m", "memory": "32Mi"})),
            (
                json!([{"type": "Container", "min": {"cpu": "10m", "memory": "64Mi"}}]),
                json!({"cpu": "50m", "memory": "64Mi"}),
            ),
            (
                json!([{"type": "Container", "min": {"cpu": "0.1"}}, {"type": "Pod", "min": {"cpu": "200m"}}]),
                json!({"cpu": "200m", "memory": "32Mi"}),
            ),
            (
                json!([{"type": "Container", "max": {"cpu": "20m", "memory": "1Gi"}, "default": {"cpu": "20m"}}]),
                json!({"cpu": "20m", "memory": "32Mi"}),
            ),
            (
                json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "1"}}]),
                json!({"cpu": "50m", "memory": "32Mi"}),
            ),
            (
                json!([{"type": "Container", "min": {"ephemeral-storage": "1Gi"}, "max": {"nvidia.com/gpu": "1"}}]),
                json!({"cpu": "50m", "ephemeral-storage": "1Gi", "memory": "32Mi"}),
            ),
            (
                json!([{"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}}, {"type": "Container", "min": {"cpu": true}}]),
                json!({"cpu": "50m", "memory": "32Mi"}),
            ),
        ] {
            assert_eq!(json!(within(&[range(limits.clone())])), expected, "{limits}");
        }
        let ranges = [
            range(json!([{"type": "Pod", "max": {"cpu": "10m"}}])),
            range(json!([{"type": "Pod", "min": {"cpu": "10m"}}])),
        ];
        assert_eq!(within(&ranges)["cpu"], "10m", "of several each counts");
        assert_eq!(within(&[json!({}), json!({"spec": null})]), small());
    }
}
