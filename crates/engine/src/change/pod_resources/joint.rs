//! What the API server judges of the pod and its containers together, after the whole of a change.

use serde_json::{Value, json};

use super::super::{Containers, FieldChanges};
use super::{PodResourcesChange, ResourceField, amount, path, together};
use crate::change::reason::Reason;
use crate::k8s::pod::{Container, Pod, PodSpec};
use crate::value::json_path::element;
use crate::value::qos;

const PAIRS: [(ResourceField, ResourceField); 2] = [
    (ResourceField::RequestsCpu, ResourceField::LimitsCpu),
    (ResourceField::RequestsMemory, ResourceField::LimitsMemory),
];

/// Returns why the server does not take what a pod would ask for.
pub(in crate::change) fn refused_together(fields: &FieldChanges, pod: &Pod) -> Vec<Reason> {
    if !fields.resizes() {
        return Vec::new();
    }
    let after = fields.asked_of(pod);
    let mut reasons = Vec::new();
    let [from, to] = classes(pod, &after);
    if from != to {
        reasons.push(Reason::QosClassChanges { from: from.into(), to: to.into() });
    }
    reasons.extend(of_spec(&after.spec));
    reasons
}

/// Returns whether a pod has another class than its template, which stays.
pub(in crate::change) fn keeps_class(fields: &FieldChanges, pod: &Pod, of_template: &str) -> bool {
    let [from, to] = classes(pod, &fields.asked_of(pod));
    from == to && from != of_template
}

fn classes(before: &Pod, after: &Pod) -> [&'static str; 2] {
    [before, after].map(|pod| qos::class(&as_in_spec(&pod.spec)))
}

/// The same for pods that are created from a template.
pub(in crate::change) fn of_template(template: &Value) -> Vec<Reason> {
    let spec = template.get("spec").and_then(|spec| serde_json::from_value::<PodSpec>(spec.clone()).ok());
    spec.map(|spec| of_spec(&spec)).unwrap_or_default()
}

fn of_spec(spec: &PodSpec) -> Vec<Reason> {
    let is_windows = spec.os.as_ref().is_some_and(|os| os.name == "windows");
    is_windows.then_some(Reason::WindowsPod).into_iter().chain(above(spec)).collect()
}

/// What is above that of the pod as a whole (`validatePodResourceConsistency`).
fn above(spec: &PodSpec) -> Vec<Reason> {
    let Some(whole) = &spec.resources else { return Vec::new() };
    let of = |field: ResourceField| amount(field.of(whole));
    let mut reasons = Vec::new();
    for (request, limit) in PAIRS {
        if of(request).zip(of(limit)).is_some_and(|(has, most)| has > most) {
            let text = |field: ResourceField| field.of(whole).cloned().unwrap_or_default();
            let (path, value, limit) = (path(request), text(request), text(limit));
            reasons.push(Reason::RequestAboveLimit { path, value, limit });
        }
        if together(spec, request).zip(of(request)).is_some_and(|(has, most)| has > most) {
            reasons.push(Reason::PodRequestTooSmall { path: path(request) });
        }
        let (map, resource) = limit.parts();
        let is_above = |container: &&Container| {
            amount(limit.of(&container.resources)).zip(of(limit)).is_some_and(|(has, most)| has > most)
        };
        let containers = spec.containers.iter().filter(is_above);
        reasons.extend(containers.map(|container| {
            let container = element("spec.containers", container.name.as_str());
            Reason::LimitAbovePod { path: format!("{container}.resources.{map}.{resource}") }
        }));
    }
    reasons
}

/// Returns the containers that have no limit of their own, so that the pod's is theirs, and restart when it changes
/// (`computePodResizeAction` in pkg/kubelet/kuberuntime).
pub(super) fn restarted_by(unasked: &PodResourcesChange, containers: &Containers<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (_, limit) in PAIRS.into_iter().filter(|(_, limit)| unasked.values.contains_key(limit)) {
        let has_none = |container: &Container| amount(limit.of(&container.resources)).unwrap_or(0) == 0;
        let restarts = |container: &Container| {
            container.resize_policy.iter().any(|policy| policy.restarts(limit.parts().1)) && has_none(container)
        };
        let restarting = containers.all.iter().filter(|(list, one)| one.is_long_lived(*list) && restarts(one));
        reasons.extend(
            restarting.map(|(_, one)| Reason::PodLimitRestarts { container: one.name.clone(), path: path(limit) }),
        );
    }
    reasons
}

/// The part of a pod's spec that its class is worked out from.
fn as_in_spec(spec: &PodSpec) -> Value {
    let list = |list: &[Container]| list.iter().map(|one| json!({"resources": one.resources})).collect::<Vec<_>>();
    json!({"resources": spec.resources, "containers": list(&spec.containers),
        "initContainers": list(&spec.init_containers)})
}
