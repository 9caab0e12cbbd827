//! Label selectors: which labels they match, and which keys they rest on (apimachinery `metav1.LabelSelectorAsSelector`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::json_path::text;

/// Returns whether a label selector matches. An empty one matches everything; what is no selector matches nothing.
pub fn matches(selector: &Value, labels: &BTreeMap<String, String>) -> bool {
    if !selector.is_object() {
        return false;
    }
    let equal = |(key, value): (&String, &Value)| {
        value.as_str().is_some_and(|value| labels.get(key).is_some_and(|label| label == value))
    };
    let of_labels =
        selector.get("matchLabels").and_then(Value::as_object).is_none_or(|labels| labels.iter().all(equal));
    of_labels && expressions(selector).all(|expression| expression_matches(expression, labels))
}

pub fn keys(selector: &Value) -> BTreeSet<&str> {
    let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let of_expressions = expressions(selector).filter_map(|expression| expression.get("key")?.as_str());
    labels.map(|(key, _)| key.as_str()).chain(of_expressions).collect()
}

fn expressions(selector: &Value) -> impl Iterator<Item = &Value> {
    selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten()
}

fn listed(expression: &Value) -> impl Iterator<Item = &str> {
    expression.get("values").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn expression_matches(expression: &Value, labels: &BTreeMap<String, String>) -> bool {
    let present = labels.get(text(expression, "/key"));
    let is_listed = || listed(expression).any(|value| present.is_some_and(|present| present == value));
    match text(expression, "/operator") {
        "In" => is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => present.is_some(),
        "DoesNotExist" => present.is_none(),
        _ => false,
    }
}

/// Writes a label selector as list requests take it (apimachinery `labels.FormatSelector`).
pub fn query(selector: &Value) -> String {
    let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
    let of_expression = |expression: &Value| {
        let key = expression.get("key")?.as_str()?;
        let values = || listed(expression).collect::<Vec<_>>().join(",");
        match text(expression, "/operator") {
            "In" => Some(format!("{key} in ({})", values())),
            "NotIn" => Some(format!("{key} notin ({})", values())),
            "Exists" => Some(key.to_owned()),
            "DoesNotExist" => Some(format!("!{key}")),
            _ => None,
        }
    };
    let mut terms: Vec<String> = labels.chain(expressions(selector).filter_map(of_expression)).collect();
    terms.sort();
    terms.join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_match_as_the_api_says() {
        let labels: BTreeMap<String, String> = [("app", "web"), ("tier", "front")]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let expression = |operator: &str, key: &str, values: Value| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        for (selector, expected) in [
            (json!({}), true),
            (json!(null), false),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "api"}}), false),
            (json!({"matchLabels": {"app": "web", "zone": "a"}}), false),
            (json!({"matchLabels": {"zone": 1}}), false),
            (expression("In", "tier", json!(["front", "back"])), true),
            (expression("In", "zone", json!(["a"])), false),
            (expression("NotIn", "tier", json!(["back"])), true),
            (expression("NotIn", "zone", json!(["a"])), true),
            (expression("Exists", "tier", json!([])), true),
            (expression("DoesNotExist", "tier", json!([])), false),
            (expression("Near", "tier", json!([])), false),
        ] {
            assert_eq!(matches(&selector, &labels), expected, "{selector}");
        }
    }

    #[test]
    fn keys_of_both_forms_count() {
        let selector =
            json!({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]});
        assert_eq!(keys(&selector).into_iter().collect::<Vec<_>>(), ["app", "tier"]);
    }

    #[test]
    fn a_selector_becomes_a_query() {
        let selector = json!({"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "old", "operator": "DoesNotExist"}]});
        assert_eq!(query(&selector), "!old,a=1,b=2,tier in (x,y)");
    }
}
