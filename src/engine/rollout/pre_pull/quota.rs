//! Whether a namespace has room for the pull pods: each counts in its ResourceQuotas like any other.

use serde_json::Value;

/// The names under which a quota counts pods.
const COUNTS: [&str; 2] = ["pods", "count/pods"];

/// The scopes that a pull pod is in: it has requests, and a deadline.
const SCOPES: [&str; 2] = ["NotBestEffort", "Terminating"];

/// A ResourceQuota that leaves room for fewer pods than are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrow {
    /// The quota.
    pub quota: String,
    /// How many more pods it allows now.
    pub left: usize,
}

/// Returns the quota that leaves the least room, if that is less than is needed. A quota whose scopes depend on more
/// than the pod (`scopeSelector`) is left out.
///
/// Upstream: `pkg/quota/v1/evaluator/core/pods.go`; pods that have ended do not count.
pub fn narrow(quotas: &[Value], needed: usize) -> Option<Narrow> {
    let room = quotas.iter().filter(|quota| counts_us(quota)).filter_map(|quota| {
        let left = COUNTS.iter().filter_map(|name| left(quota, name)).min()?;
        let name = quota.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        Some(Narrow { quota: name.to_owned(), left })
    });
    room.filter(|narrow| narrow.left < needed).min_by_key(|narrow| narrow.left)
}

fn counts_us(quota: &Value) -> bool {
    let scopes = quota.pointer("/spec/scopes").and_then(Value::as_array).into_iter().flatten();
    let mut scopes = scopes.filter_map(Value::as_str);
    quota.pointer("/spec/scopeSelector").is_none_or(Value::is_null) && scopes.all(|scope| SCOPES.contains(&scope))
}

fn left(quota: &Value, name: &str) -> Option<usize> {
    // Another spelling, such as 1k, is a number so large that there is room.
    let number = |part: &str| quota.get("status")?.get(part)?.get(name)?.as_str()?.parse::<usize>().ok();
    Some(number("hard")?.saturating_sub(number("used").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_quota_with_the_least_room_counts_if_it_counts_such_pods() {
        let quota = |name: &str, spec: Value, hard: Value, used: Value| json!({"metadata": {"name": name}, "spec": spec, "status": {"hard": hard, "used": used}});
        let full = quota("full", json!({}), json!({"pods": "3"}), json!({"pods": "3"}));
        let wide = quota("wide", json!({}), json!({"count/pods": "10"}), json!({"count/pods": "3"}));
        let over = quota("over", json!({}), json!({"pods": "2"}), json!({"pods": "3"}));
        let others = quota("others", json!({"scopes": ["BestEffort"]}), json!({"pods": "0"}), json!({}));
        let ours = quota("ours", json!({"scopes": ["Terminating"]}), json!({"pods": "1"}), json!({"pods": "0"}));
        let cpu = quota("cpu", json!({}), json!({"requests.cpu": "1"}), json!({"requests.cpu": "1"}));
        let odd = quota("odd", json!({}), json!({"pods": "many"}), json!({}));
        for (quotas, needed, expected) in [
            (vec![&full, &wide], 1, Some(("full", 0))),
            (vec![&wide, &others, &cpu, &odd], 7, None),
            (vec![&wide], 8, Some(("wide", 7))),
            (vec![&over], 1, Some(("over", 0))),
            (vec![&ours], 2, Some(("ours", 1))),
            (vec![&ours], 1, None),
            (vec![], 1, None),
        ] {
            let quotas: Vec<Value> = quotas.into_iter().cloned().collect();
            let found = narrow(&quotas, needed);
            assert_eq!(found.as_ref().map(|narrow| (narrow.quota.as_str(), narrow.left)), expected, "{needed}");
        }
    }
}
