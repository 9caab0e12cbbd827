//! PodDisruptionBudgets: how many more of a workload's pods may be down now.
//!
//! Promise: never more than the budget's spec and our own count of healthy pods allow, and never more than its status
//! allows. The server asks budgets for evictions only, and a container that restarts in place may look Ready all the
//! while; so the pods in progress are counted as down here, whatever they show. The figures are those of the disruption
//! controller (`pkg/controller/disruption/disruption.go`: `getExpectedPodCount`, `countHealthyPods`,
//! `updatePdbStatus`).
//!
//! Several budgets that select one pod all count; the eviction API refuses such a pod, and this takes the least of
//! them. `unhealthyPodEvictionPolicy` has no part: a pod that is not ready costs nothing, see [`blocking`].
//!
//! Assumed: budgets that also select pods of other owners are rare. Those pods are not read; their health is taken from
//! the budget's status, less what could be pods of ours.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::k8s::metadata::is_observed;
use crate::k8s::pod::Pod;
use crate::value::count::{count, pods_that};
use crate::value::int_or_percent::IntOrPercent;
use crate::value::json_path::text;
use crate::value::selector;

#[derive(Debug, Clone, Copy)]
pub struct CountedPod<'a> {
    pub labels: &'a BTreeMap<String, String>,
    pub ready: bool,
    pub terminating: bool,
    /// From our patch, or from the drain before it, until it is done: down, whatever it shows.
    pub in_progress: bool,
}

impl<'a> CountedPod<'a> {
    pub fn of(pod: &'a Pod, in_progress: bool) -> Self {
        Self { labels: &pod.labels, ready: pod.is_ready(), terminating: pod.terminating, in_progress }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLimit {
    pub budget: String,
    /// How many more ready pods that it selects may go down now.
    pub allowed: usize,
    pub why: String,
    /// The first by name of the other budgets that select a pod of ours with it. The disruption controller keeps only one of
    /// them up to date, and evictions of such pods fail.
    pub overlap: Option<String>,
    selector: Value,
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, allowed, why, overlap, .. } = self;
        match allowed {
            0 => write!(f, "poddisruptionbudget/{budget} allows no pod to be down now: {why}")?,
            1 => write!(f, "poddisruptionbudget/{budget} allows 1 more pod to be down: {why}")?,
            more => write!(f, "poddisruptionbudget/{budget} allows {more} more pods to be down: {why}")?,
        }
        let Some(other) = overlap.as_ref().filter(|_| *allowed == 0) else { return Ok(()) };
        write!(f, "; poddisruptionbudget/{other} selects the same pods, and only one of them is kept up to date")
    }
}

/// Says what each budget that selects a pod of ours allows. A budget that selects none of them is left out.
///
/// `budgets` are those of the namespace, as the API serves them. `pods` are all pods of the owner, those that no rollout
/// touches and those that go away too; `replicas` is what the owner wants, missing pods counted. For a bare pod it is 1.
pub fn limits(budgets: &[Value], replicas: usize, pods: &[CountedPod<'_>]) -> Vec<BudgetLimit> {
    let limit = |budget: &Value| {
        // `policy/v1`: an empty selector selects every pod of the namespace, none at all selects nothing.
        let selector = budget.pointer("/spec/selector").filter(|selector| selector.is_object())?;
        let selected: Vec<CountedPod<'_>> =
            pods.iter().filter(|pod| selector::matches(selector, pod.labels)).copied().collect();
        if selected.is_empty() {
            return None;
        }
        let (allowed, why) = allowed(budget, replicas, &selected);
        let name = text(budget, "/metadata/name").to_owned();
        Some(BudgetLimit { budget: name, allowed, why, overlap: None, selector: selector.clone() })
    };
    let mut limits: Vec<BudgetLimit> = budgets.iter().filter_map(limit).collect();
    let found = limits.clone();
    for limit in &mut limits {
        let overlaps = |other: &&BudgetLimit| {
            let of_both = |pod: &CountedPod<'_>| limit.selects(pod.labels) && other.selects(pod.labels);
            other.budget != limit.budget && pods.iter().any(of_both)
        };
        limit.overlap = found.iter().filter(overlaps).map(|other| other.budget.clone()).min();
    }
    limits
}

impl BudgetLimit {
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        selector::matches(&self.selector, labels)
    }
}

/// Returns the budgets that allow no pod to be down even when all of them are healthy, as many as their owners want:
/// only another rule, or more replicas, can make room. A budget that the disruption controller has not observed, or
/// cannot compute, is not among them.
pub fn never(budgets: &[Value], replicas: usize, pods: &[CountedPod<'_>]) -> Vec<BudgetLimit> {
    let never = |budget: &&Value| is_observed(budget) && sync_failed(budget).is_none();
    let known: Vec<Value> = budgets.iter().filter(never).cloned().collect();
    let limit = |(limit, budget): (BudgetLimit, &Value)| {
        let Some(rule) = Rule::of(budget) else { return Some(BudgetLimit { why: NO_RULE.to_owned(), ..limit }) };
        let selected = pods.iter().filter(|pod| limit.selects(pod.labels) && !pod.terminating).count();
        // With pods that are missing now it may have room once they exist.
        let expected = number(budget, "/status/expectedPods").max(selected).max(replicas);
        let desired = rule.desired(expected);
        let why = format!("of {} {desired} must be healthy ({rule})", count(expected, "pod"));
        (desired >= expected).then_some(BudgetLimit { why, ..limit })
    };
    let named = |limit: BudgetLimit| {
        let budget = known.iter().find(|budget| text(budget, "/metadata/name") == limit.budget)?;
        Some((limit, budget))
    };
    limits(&known, replicas, pods).into_iter().filter_map(named).filter_map(limit).collect()
}

/// Returns the budget that keeps one more ready pod with these labels from going down: of several the one that allows
/// the least. Once a pod is in progress, compute [`limits`] again. A pod that is not ready need not ask.
pub fn blocking<'l>(limits: &'l [BudgetLimit], labels: &BTreeMap<String, String>) -> Option<&'l BudgetLimit> {
    limits.iter().find(|limit| limit.allowed == 0 && limit.selects(labels))
}

const NO_RULE: &str = "it has no minAvailable or maxUnavailable that can be read";

fn number(budget: &Value, pointer: &str) -> usize {
    budget.pointer(pointer).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

/// How many more pods a budget lets be down, and what keeps it from allowing more.
fn allowed(budget: &Value, replicas: usize, pods: &[CountedPod<'_>]) -> (usize, String) {
    // What it could not work out, such as a DaemonSet with a percentage, it does not note as observed.
    if let Some(message) = sync_failed(budget) {
        return (0, format!("the disruption controller cannot work it out: {message}"));
    }
    if !is_observed(budget) {
        return (0, "the disruption controller has not seen it as it is now".to_owned());
    }
    let Some(rule) = Rule::of(budget) else { return (0, NO_RULE.to_owned()) };
    let expected_of_ours = rule.expected_of_ours(replicas, pods.len());
    let healthy = healthy(budget, expected_of_ours, pods);
    // While the status lags behind a scaling, the greater number demands more.
    let desired = rule.desired(number(budget, "/status/expectedPods").max(expected_of_ours));
    let counted = healthy.saturating_sub(desired);
    // The status still counts them as healthy. It may also count others, or an eviction that is in progress.
    let in_progress = pods.iter().filter(|pod| pod.in_progress && pod.ready && !pod.terminating).count();
    let disruptions_allowed = number(budget, "/status/disruptionsAllowed");
    let by_status = disruptions_allowed.saturating_sub(in_progress);
    if by_status >= counted {
        return (counted, format!("{} healthy and {desired} must be ({rule})", pods_that(healthy, "is", "are")));
    }
    let why = format!("its status allows {disruptions_allowed} disruptions");
    match in_progress {
        0 => (by_status, why),
        _ => (by_status, format!("{why}, and {in_progress} of its pods are in progress")),
    }
}

/// The condition `DisruptionAllowed` with the reason `SyncFailed` (`failSafe`), if it is of the budget's present
/// generation.
fn sync_failed(budget: &Value) -> Option<String> {
    let generation = budget.pointer("/metadata/generation").and_then(Value::as_i64);
    let conditions = budget.pointer("/status/conditions").and_then(Value::as_array)?;
    let text = |condition: &Value, key: &str| condition.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let failed = conditions.iter().find(|condition| {
        let observed = condition.get("observedGeneration").and_then(Value::as_i64);
        let is_old = observed.is_some() && observed < generation;
        text(condition, "type") == "DisruptionAllowed" && text(condition, "reason") == "SyncFailed" && !is_old
    })?;
    Some(text(failed, "message"))
}

/// Counts the pods that are up: ours by what we see, those of other owners by what the status leaves for them. A pod of
/// ours that is or was ready may be in the status's figure, so it is subtracted; that errs to the safe side while pods
/// are in progress, and is right once they are done. A pod that goes away may be in it as well: the status lags behind.
fn healthy(budget: &Value, expected_of_ours: usize, pods: &[CountedPod<'_>]) -> usize {
    let there = || pods.iter().filter(|pod| !pod.terminating);
    let ours = there().filter(|pod| pod.ready && !pod.in_progress).count();
    let perhaps_counted = pods.iter().filter(|pod| pod.ready || pod.in_progress || pod.terminating).count();
    let of_others = number(budget, "/status/expectedPods").saturating_sub(expected_of_ours);
    ours + of_others.min(number(budget, "/status/currentHealthy").saturating_sub(perhaps_counted))
}

enum Rule {
    MinAvailable(IntOrPercent),
    MaxUnavailable(IntOrPercent),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinAvailable(value) => write!(f, "minAvailable {value}"),
            Self::MaxUnavailable(value) => write!(f, "maxUnavailable {value}"),
        }
    }
}

impl Rule {
    /// The controller reads maxUnavailable first; the API allows only one of them.
    fn of(budget: &Value) -> Option<Self> {
        let read = |field: &str| {
            let value = budget.pointer(&format!("/spec/{field}")).filter(|value| !value.is_null())?;
            Some(IntOrPercent::from_value(value).ok())
        };
        match (read("maxUnavailable"), read("minAvailable")) {
            (Some(value), _) => value.map(Self::MaxUnavailable),
            (None, value) => value?.map(Self::MinAvailable),
        }
    }

    /// How many pods of ours are behind the budget: those it selects for a plain minAvailable, else what their owner wants.
    fn expected_of_ours(&self, replicas: usize, selected: usize) -> usize {
        match self {
            Self::MinAvailable(IntOrPercent::Int(_)) => selected,
            Self::MinAvailable(IntOrPercent::Percent(_)) | Self::MaxUnavailable(_) => replicas,
        }
    }

    /// How many of `expected` pods must stay healthy: percentages round up, of either field.
    fn desired(&self, expected: usize) -> usize {
        match self {
            Self::MinAvailable(value) => value.scaled(expected, true),
            Self::MaxUnavailable(value) => expected.saturating_sub(value.scaled(expected, true)),
        }
    }
}
