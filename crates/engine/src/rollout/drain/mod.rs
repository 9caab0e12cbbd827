//! Drain: which label, removed from a pod, takes it out of all its Services while its owner keeps it; where no label
//! does, which readiness gate; and whether EndpointSlices still list it.
//!
//! A Service lists a pod while the pod carries every label of the Service's selector. A label that no selector but
//! those of Services uses can be removed for the time of a restart. The patches are in
//! [`crate::rollout::patch`].
//!
//! Out of scope: Endpoints and EndpointSlices that somebody writes by hand (a Service without a selector), and files
//! that show labels by the downward API: those follow the label, off and on again.

mod gate;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::MetadataChange;
use crate::k8s::metadata::MetadataMap;
use crate::k8s::names::Uid;
use crate::k8s::pod::Pod;
use crate::state::record::{Drained, DrainedLabel, UpdateRecord};
use crate::value::json_path::{items, text};
use crate::value::{selector, words};

pub use gate::{GATE_MESSAGE, GATE_REASON, GateState, RefusedGate, is_down_by_our_gate, is_ready_but_for_our_gate};

/// Seconds between a pod's being out of its Services and its restart, unless set otherwise: proxies and clients follow
/// the EndpointSlices a moment later, and connections on their way still arrive.
pub const DEFAULT_DRAIN_SECONDS: u32 = 2;

words! {
    /// `--drain`.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    DrainBy {
        /// Out of its Services first, by a label where one can be removed, else by a readiness gate.
        #[default]
        Auto = "auto",
        None = "none",
    }
}

/// Whether a pod can be taken out of its Services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drain {
    Drainable(DrainGoal),
    /// It has Services, and neither a label nor a readiness gate can be used.
    NotDrainable {
        services: Vec<String>,
        why: NotDrainable,
    },
    NoService,
}

/// How a pod is taken out of its Services before a container of it restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DrainGoal {
    /// The label or readiness gate that is removed, and restored afterwards.
    pub by: Drained,
    /// The Services that list the pod by it.
    pub services: Vec<String>,
}

/// Why a pod cannot be taken out of its Services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotDrainable {
    /// A clause for each label that all its Services select on: what else needs it. Empty where there is no such label.
    pub labels: Vec<String>,
    /// Its readiness gates: each is left alone.
    pub gates: Vec<RefusedGate>,
}

/// Who else selects on the labels of a workload's pods.
#[derive(Debug, Clone, Copy)]
pub struct LabelUsers<'a> {
    /// The label selectors of the owner, and of what it owns its pods through. None for a bare pod.
    pub owner: &'a [Value],
    /// The PodDisruptionBudgets of the namespace, as the API serves them.
    pub budgets: &'a [Value],
    /// Other objects of the namespace with a `spec.selector` or `spec.podSelector` for pods: workloads that are not the
    /// owner, NetworkPolicies.
    pub others: &'a [Value],
    pub changes: &'a MetadataChange,
    /// The server's words where the caller may not write the status of pods: then no gate can be used.
    pub status_denied: Option<&'a str>,
}

/// Says by what a pod can be drained: by a label, else by a readiness gate; the first by name where there are several.
///
/// `services` are those of the namespace, as the API serves them. The pod has to be whole: what was removed is restored
/// first.
pub fn drain(pod: &Pod, services: &[Value], surroundings: &LabelUsers<'_>) -> Drain {
    let selecting: Vec<&Value> = services.iter().filter(|service| selects(service, pod)).collect();
    let Some((first, rest)) = selecting.split_first() else { return Drain::NoService };
    let names = || selecting.iter().map(|service| text(service, "/metadata/name").to_owned()).collect();
    let is_common = |key: &&str| rest.iter().all(|service| keys(service).contains(key));
    let mut needed = Vec::new();
    for key in keys(first).into_iter().filter(is_common) {
        let Some(value) = pod.labels.get(key) else { continue };
        match need(pod, key, surroundings) {
            None => {
                let label = DrainedLabel { key: key.to_owned(), value: value.clone() };
                return Drain::Drainable(DrainGoal { by: Drained::Label(label), services: names() });
            }
            Some(need) => needed.push(need),
        }
    }
    match gate::usable(pod, &selecting, surroundings.status_denied) {
        Ok(gate) => Drain::Drainable(DrainGoal { by: Drained::Gate(gate), services: names() }),
        Err(gates) => Drain::NotDrainable { services: names(), why: NotDrainable { labels: needed, gates } },
    }
}

/// Returns whether a Service lists the pod by its labels: one without a selector, or an `ExternalName` one, does not.
pub fn selects(service: &Value, pod: &Pod) -> bool {
    let Some(selector) = service.pointer("/spec/selector").and_then(Value::as_object) else { return false };
    let is_carried = |(key, value): (&String, &Value)| pod.labels.get(key).map(String::as_str) == value.as_str();
    text(service, "/spec/type") != "ExternalName" && !selector.is_empty() && selector.iter().all(is_carried)
}

/// Returns the labels of a template that a pod lacks; none of a terminating pod, or of one that a rollout has noted as
/// drained.
pub fn lacked<'t>(template: &'t Value, pod: &Pod) -> Vec<(&'t String, &'t str)> {
    let is_expected = pod.is_present() && UpdateRecord::drained(pod).is_none();
    let labels = template.pointer("/metadata/labels").and_then(Value::as_object).filter(|_| is_expected);
    let lacked = labels.into_iter().flatten().filter(|(key, _)| !pod.labels.contains_key(*key));
    lacked.filter_map(|(key, value)| Some((key, value.as_str()?))).collect()
}

/// Returns the labels (`key=value`) of a template that a pod [lacks](lacked) and that its Services select on: without
/// them no traffic reaches the pod, whoever removed them.
pub fn missing(template: &Value, services: &[Value], pod: &Pod) -> BTreeSet<String> {
    let lacked = lacked(template, pod);
    let mut whole = pod.clone();
    whole.labels.extend(lacked.iter().map(|(key, value)| ((*key).clone(), (*value).to_owned())));
    let lost: BTreeSet<&str> =
        services.iter().filter(|service| selects(service, &whole) && !selects(service, pod)).flat_map(keys).collect();
    lacked
        .into_iter()
        .filter(|(key, _)| lost.contains(key.as_str()))
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

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
    items(slice, "/endpoints").any(|endpoint| {
        let target = endpoint.pointer("/targetRef/uid").and_then(Value::as_str);
        let condition = |name: &str| endpoint.get("conditions")?.get(name)?.as_bool();
        let ready = condition("ready").unwrap_or(true);
        target == Some(pod.as_str()) && (ready || condition("serving").unwrap_or(ready))
    })
}

fn keys(service: &Value) -> BTreeSet<&str> {
    let selector = service.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    selector.map(|(key, _)| key.as_str()).collect()
}

/// What else needs a label of a pod; `None` where it can be removed for a while.
fn need(pod: &Pod, key: &str, users: &LabelUsers<'_>) -> Option<String> {
    let selecting = |object: &&Value| is_selecting(object, pod, key);
    let why = if MetadataMap::Labels.is_reserved(key) {
        "belongs to a controller of Kubernetes".to_owned()
    } else if users.owner.iter().any(|selected| selector::keys(selected).contains(key)) {
        "is in the owner's selector, which would replace the pod".to_owned()
    } else if let Some(budget) = users.budgets.iter().find(selecting) {
        format!("is in the selector of poddisruptionbudget/{}", text(budget, "/metadata/name"))
    } else if let Some(other) = users.others.iter().find(selecting) {
        format!("is in the selector of {}/{}", text(other, "/kind").to_lowercase(), text(other, "/metadata/name"))
    } else if users.changes.labels.contains_key(key) {
        "is changed by the rollout itself".to_owned()
    } else {
        let (_, reader) = pod.all_containers().find(|(_, one)| MetadataMap::Labels.is_read_by(key, one))?;
        format!("is read by the environment of container {}", reader.name)
    };
    Some(format!("label {key} {why}"))
}

/// Whether an object's selector uses the key and selects the pod, with or without the label.
fn is_selecting(object: &Value, pod: &Pod, key: &str) -> bool {
    ["/spec/selector", "/spec/podSelector"].iter().filter_map(|pointer| object.pointer(pointer)).any(|selected| {
        let mut without = pod.labels.clone();
        without.remove(key);
        let selects = selector::matches(selected, &pod.labels) || selector::matches(selected, &without);
        selects && selector::keys(selected).contains(key)
    })
}

impl fmt::Display for NotDrainable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut clauses = self.labels.clone();
        if clauses.is_empty() {
            clauses.push("no label is in the selectors of all of them".into());
        }
        clauses.extend(self.gates.iter().map(RefusedGate::to_string));
        f.write_str(&clauses.join("; "))
    }
}

impl NotDrainable {
    /// Whether it would be drained, if the caller were permitted to.
    pub fn is_forbidden(&self) -> bool {
        self.gates.iter().any(|gate| matches!(gate, RefusedGate::NotPermitted { .. }))
    }

    /// Says how to make it possible.
    pub fn hint(&self, services: &[String]) -> String {
        let services: Vec<String> = services.iter().map(|service| format!("service/{service}")).collect();
        let (selectors, all) = match services.as_slice() {
            [one] => ("selector", one.clone()),
            _ => ("selectors", services.join(", ")),
        };
        let label = format!(
            "add a label that nothing else selects, such as serving=yes, to the pod template, wait until every pod has it, \
             then add it to the {selectors} of {all}"
        );
        match self.gates.iter().find_map(RefusedGate::hint) {
            Some(gate) => format!("{label}; or {gate}"),
            None => label,
        }
    }
}
