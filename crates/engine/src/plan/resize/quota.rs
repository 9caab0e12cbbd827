//! Whether the ResourceQuotas of the namespace leave room for what all pods ask for more.
//!
//! A dry run asks of each pod alone, so that a quota which has room for one of them and not for all of them would stop the
//! rollout halfway. Upstream: `pkg/quota/v1/evaluator/core/pods.go`, which looks at the subresource `resize` as well.

use serde_json::Value;

use super::{Resized, amount, requests, written};
use crate::change::ResourceField;
use crate::change::reason::{Reason, Warning};
use crate::k8s::pod::Pod;

/// The names under which a quota counts them.
const COUNTED: [(&str, ResourceField); 6] = [
    ("cpu", ResourceField::RequestsCpu),
    ("requests.cpu", ResourceField::RequestsCpu),
    ("memory", ResourceField::RequestsMemory),
    ("requests.memory", ResourceField::RequestsMemory),
    ("limits.cpu", ResourceField::LimitsCpu),
    ("limits.memory", ResourceField::LimitsMemory),
];

/// The scopes that a pod with cpu or memory, and without a deadline, is in.
const SCOPES: [&str; 2] = ["NotBestEffort", "NotTerminating"];

/// The increase that pods count for together. What others give back counts only once it is done.
fn more<'p>(pods: impl IntoIterator<Item = &'p Resized<'p>>, field: ResourceField) -> i128 {
    pods.into_iter()
        .map(|pod| (requests::charged(&pod.after, field) - requests::charged(pod.before, field)).max(0))
        .sum()
}

/// Returns the quotas that leave less. A quota with a scope that is not known here is left out.
pub(super) fn exceeded(pods: &[Resized<'_>], quotas: &[Value]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for quota in quotas {
        let counted: Vec<&Resized<'_>> = pods.iter().filter(|pod| counts(quota, pod.before)).collect();
        for (name, field) in COUNTED {
            let number = |part: &str| {
                let text = quota.get("status")?.get(part)?.get(name)?.as_str()?.to_owned();
                amount(Some(&text))
            };
            let Some(hard) = number("hard") else { continue };
            let (left, needed) = (hard - number("used").unwrap_or(0), more(counted.iter().copied(), field));
            if needed > 0 && needed > left {
                reasons.push(Reason::QuotaExceeded {
                    quota: quota.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                    resource: name.to_owned(),
                    needed: written(field, needed),
                    left: written(field, left.max(0)),
                });
            }
        }
    }
    reasons
}

/// Whether a quota counts a pod: it is in all of its scopes, and in all that its `scopeSelector` chooses.
fn counts(quota: &Value, pod: &Pod) -> bool {
    let list = |pointer: &str| quota.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let mut scopes = list("/spec/scopes").filter_map(Value::as_str);
    scopes.all(|scope| SCOPES.contains(&scope))
        && list("/spec/scopeSelector/matchExpressions").all(|expression| is_chosen(expression, pod))
}

fn is_chosen(expression: &Value, pod: &Pod) -> bool {
    let text = |field: &str| expression.get(field).and_then(Value::as_str).unwrap_or_default();
    let class = Some(pod.spec.priority_class_name.as_str()).filter(|class| !class.is_empty());
    let values = || expression.get("values").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    match (text("scopeName"), text("operator")) {
        ("PriorityClass", "Exists") => class.is_some(),
        ("PriorityClass", "DoesNotExist") => class.is_none(),
        ("PriorityClass", "In") => class.is_some_and(|class| values().any(|value| value == class)),
        // As with labels: a missing one is in no list.
        ("PriorityClass", "NotIn") => class.is_none_or(|class| values().all(|value| value != class)),
        (scope, "Exists") => SCOPES.contains(&scope),
        (_, _) => false,
    }
}

/// Returns the warning that it is not known, where it matters: more than one pod grows.
pub(super) fn unknown(pods: &[Resized<'_>], not_read: Option<&String>) -> Option<Warning> {
    let grows = ResourceField::ALL.into_iter().any(|field| more(pods, field) > 0);
    let error = not_read.filter(|_| grows && pods.len() > 1)?;
    let what = format!(
        "the ResourceQuotas could not be read ({error}), so it is not known whether they leave room for the increase of all pods"
    );
    Some(Warning::ReadFailed { what })
}
