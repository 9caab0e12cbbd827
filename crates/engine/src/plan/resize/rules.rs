//! Which container breaks a rule of the namespace: a LimitRange's refusal has the value, and not whose it is.
//!
//! Upstream: `plugin/pkg/admission/limitranger/admission.go` (`minConstraint`, `maxConstraint`,
//! `limitRequestRatioConstraint`), and `Constraints` in `pkg/quota/v1/evaluator/core/pods.go`, which names the containers.

use crate::change::FieldChanges;
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, Pod};
use crate::value::quantity::Quantity;

/// What a LimitRange finds of a container; the first two are followed by the value.
const FOUND: [&str; 7] = [
    "but request is ",
    "but limit is ",
    "but provided ratio is ",
    "No request is specified",
    "but no request is specified",
    "No limit is specified",
    "but no limit is specified",
];

/// Returns the containers that a refusal of a resize is about, and whose resources the change leaves alone.
pub fn others(message: &str, before: &Pod, fields: &FieldChanges) -> Vec<ContainerName> {
    let after = fields.resources.asked_of(before);
    let is_left_alone = |container: &Container| {
        before.spec_of(&container.name).is_some_and(|before| before.resources == container.resources)
    };
    let left_alone = after.all_containers().map(|(_, container)| container).filter(|one| is_left_alone(one));
    let found = left_alone.filter(|one| is_named_by_quota(message, one) || breaks_limit_range(message, one));
    found.map(|container| container.name.clone()).collect()
}

/// `failed quota: compute: must specify limits.cpu for: app,side; limits.memory for: side`.
fn is_named_by_quota(message: &str, container: &Container) -> bool {
    let Some((_, specify)) = message.split_once("must specify ") else { return false };
    let names =
        specify.split(';').filter_map(|part| Some(part.split_once(" for: ")?.1)).flat_map(|names| names.split(','));
    names.into_iter().any(|name| name.trim() == container.name.as_str())
}

/// `minimum cpu usage per Container is 5m, but request is 1m`, one or several in brackets.
fn breaks_limit_range(message: &str, container: &Container) -> bool {
    const PER_CONTAINER: &str = " per Container is ";
    message.match_indices(PER_CONTAINER).any(|(at, _)| {
        let (head, tail) = message.split_at(at);
        let tail = tail.trim_start_matches(PER_CONTAINER);
        let head = head.trim_end_matches(" usage").trim_end_matches(" max limit to request ratio");
        let resource = head.rsplit([' ', '[']).next().unwrap_or_default();
        let (request, limit) = (container.resources.requests.get(resource), container.resources.limits.get(resource));
        let found = FOUND.iter().filter_map(|found| Some((tail.find(found)?, *found))).min();
        let Some((at, found)) = found else { return false };
        let value = tail.split_at(at).1.trim_start_matches(found).split([',', ']', ' ']).next().map(str::to_owned);
        match found {
            "but request is " => request == value.as_ref(),
            "but limit is " => limit == value.as_ref(),
            "but provided ratio is " => {
                Quantity::amount(limit).zip(Quantity::amount(request)).is_some_and(|of| Some(ratio(of)) == value)
            }
            found if found.contains("request") => Quantity::amount(request).is_none_or(|request| request == 0),
            _ => Quantity::amount(limit).is_none_or(|limit| limit == 0),
        }
    })
}

/// As Go's `%f` writes it: with six digits.
fn ratio((limit, request): (i128, i128)) -> String {
    let millionths = (limit * 2_000_000 + request).checked_div(request * 2).unwrap_or_default();
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}
