//! Drain by readiness gate: which gate of a pod has no controller that writes it, whether it is off, and whether the
//! pod would be ready with it on.
//!
//! A pod is ready while its containers are and the condition of each of its gates is `True`
//! (`GeneratePodReadyCondition` in pkg/kubelet/status/generate.go); EndpointSlices list what is ready. A gate counts as
//! having no active controller if only people with kubectl have written its condition: then it keeps the value that is
//! set. Whatever is unknown counts against a gate.
//!
//! Out of scope: gates that are `False` already, which is somebody's decision, and Services that list pods that are not
//! ready.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text;
use crate::k8s::pod::{Condition, Pod};
use crate::state::manager;
use crate::state::record::{Drained, DrainedGate, UpdateRecord};
use crate::value::in_brackets;

/// The reason in a gate's condition while this program has turned it off: a `False` with another reason is not ours.
pub const GATE_REASON: &str = "KubectlInplace";

pub const GATE_MESSAGE: &str = "out of its Services for an update in place; set back to True afterwards";

/// Gates of controllers that are known, by their beginnings: those of load balancers, and of OpenKruise.
const RESERVED: [&str; 8] = [
    "target-health.elbv2.k8s.aws/",
    "target-health.alb.ingress.k8s.aws/",
    "cloud.google.com/",
    "networking.gke.io/",
    "apps.kruise.io/",
    "game.kruise.io/",
    "InPlaceUpdateReady",
    "KruisePodReady",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// `True`: not off yet, or on again.
    On,
    /// `False`, by this program.
    Off,
    /// Anything else: somebody has set it meanwhile, and it keeps that value.
    Theirs,
}

/// A readiness gate that cannot be turned off for a drain, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedGate {
    #[error("readiness gate {0} belongs to a controller")]
    Reserved(String),
    #[error(
        "readiness gate {gate} changes nothing for service/{service}, which lists pods that are not ready \
         (publishNotReadyAddresses)"
    )]
    Ignored { gate: String, service: String },
    #[error("readiness gate {0} is not True now")]
    NotTrue(String),
    /// `managedFields` do not say who has written its condition.
    #[error("it is not known who sets readiness gate {0}")]
    WriterUnknown(String),
    /// By a field manager other than kubectl.
    #[error("readiness gate {gate} is set by {manager}, which may set it again at any time")]
    WrittenBy { gate: String, manager: String },
    /// `message` has the server's words in parentheses, where there are any.
    #[error("readiness gate {gate} may not be set: you cannot patch pods/status{message}")]
    NotPermitted { gate: String, message: String },
}

impl DrainedGate {
    /// Reads the gate's condition while it is `True`: this is what has to be restored later.
    pub fn of(pod: &Pod, gate: &str) -> Option<Self> {
        let condition = pod.condition(gate).filter(|condition| condition.status == "True")?;
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (reason, message) = (text(&condition.reason), text(&condition.message));
        Some(Self { gate: gate.to_owned(), reason, message })
    }

    pub fn state(&self, pod: &Pod) -> GateState {
        match pod.condition(&self.gate) {
            Some(condition) if condition.status == "True" => GateState::On,
            Some(condition) if is_ours(condition) => GateState::Off,
            Some(_) | None => GateState::Theirs,
        }
    }
}

fn is_ours(condition: &Condition) -> bool {
    condition.status == "False" && condition.reason.as_deref() == Some(GATE_REASON)
}

impl Drained {
    /// Returns whether the pod carries the label, or its gate is on: the pod can be drained by it.
    pub fn is_on(&self, pod: &Pod) -> bool {
        match self {
            Self::Label(label) => pod.labels.get(&label.key) == Some(&label.value),
            Self::Gate(gate) => gate.state(pod) == GateState::On,
        }
    }

    /// Returns whether it is off: the pod leaves its Services.
    pub fn is_off(&self, pod: &Pod) -> bool {
        match self {
            Self::Label(label) => !pod.labels.contains_key(&label.key),
            Self::Gate(gate) => gate.state(pod) == GateState::Off,
        }
    }

    /// Returns the pod with the label or the gate restored, unless somebody has set it otherwise.
    pub fn restored_in(&self, pod: &Pod) -> Pod {
        let mut whole = pod.clone();
        match self {
            Self::Label(label) => {
                whole.labels.entry(label.key.clone()).or_insert_with(|| label.value.clone());
            }
            Self::Gate(gate) => {
                let off = whole.status.conditions.iter_mut().find(|one| one.kind == gate.gate && is_ours(one));
                if let Some(condition) = off {
                    condition.status = "True".into();
                    (condition.reason, condition.message) = (gate.reason.clone(), gate.message.clone());
                }
            }
        }
        whole
    }
}

/// Returns whether the pod is ready, or would be if the gate that this program has turned off were on.
///
/// A pod that is drained by its gate therefore counts as one that this program took down, and not as one that was
/// broken anyway; and its containers prove themselves before traffic comes.
pub fn is_ready_but_for_our_gate(pod: &Pod) -> bool {
    let is_off = matches!(UpdateRecord::drained(pod), Some(drained @ Drained::Gate(_)) if drained.is_off(pod));
    pod.is_ready() || is_off && is_down_by_our_gate(pod)
}

/// Returns whether the pod is not ready because this program has turned its gate off, or has just turned it on again:
/// its kubelet reports that a moment later.
pub fn is_down_by_our_gate(pod: &Pod) -> bool {
    let is_true = |kind: &str| pod.condition(kind).is_some_and(|condition| condition.status == "True");
    let Some(Drained::Gate(ours)) = UpdateRecord::drained(pod).filter(|_| !pod.is_ready()) else { return false };
    if ours.state(pod) == GateState::Theirs {
        return false;
    }
    let mut others = pod.spec.readiness_gates.iter().map(|gate| gate.condition_type.as_str());
    is_true("ContainersReady") && others.all(|gate| gate == ours.gate || is_true(gate))
}

/// Finds the gate by which a pod can be drained from these Services, the first by name; else why each gate cannot be
/// used.
pub(super) fn usable(
    pod: &Pod,
    services: &[&Value],
    status_denied: Option<&str>,
) -> Result<DrainedGate, Vec<RefusedGate>> {
    let gates: BTreeSet<&str> = pod.spec.readiness_gates.iter().map(|gate| gate.condition_type.as_str()).collect();
    let ignores =
        |service: &&&Value| service.pointer("/spec/publishNotReadyAddresses").and_then(Value::as_bool) == Some(true);
    let ignored = services.iter().find(ignores).map(|service| text(service, "/metadata/name").to_owned());
    let mut refused = Vec::new();
    for gate in gates {
        match judge(pod, gate, ignored.as_deref(), status_denied) {
            Ok(gate) => return Ok(gate),
            Err(why) => refused.push(why),
        }
    }
    Err(refused)
}

fn judge(
    pod: &Pod,
    gate: &str,
    ignored: Option<&str>,
    status_denied: Option<&str>,
) -> Result<DrainedGate, RefusedGate> {
    let name = || gate.to_owned();
    if RESERVED.iter().any(|reserved| gate.starts_with(reserved)) {
        return Err(RefusedGate::Reserved(name()));
    }
    let drained = DrainedGate::of(pod, gate).ok_or_else(|| RefusedGate::NotTrue(name()))?;
    let writers = pod.gate_writers.get(gate).filter(|writers| !writers.is_empty());
    let writers = writers.ok_or_else(|| RefusedGate::WriterUnknown(name()))?;
    let ours = UpdateRecord::of(pod).map(|record| record.manager.clone());
    if let Some(other) = writers.iter().find(|writer| !is_a_user(writer) && Some(*writer) != ours.as_ref()) {
        return Err(RefusedGate::WrittenBy { gate: name(), manager: other.clone() });
    }
    if let Some(service) = ignored {
        return Err(RefusedGate::Ignored { gate: name(), service: service.to_owned() });
    }
    match status_denied {
        Some(message) => Err(RefusedGate::NotPermitted { gate: name(), message: in_brackets(message) }),
        None => Ok(drained),
    }
}

/// kubectl's field managers are `kubectl` and `kubectl-COMMAND`; ours acts for a user as well.
fn is_a_user(writer: &str) -> bool {
    writer == "kubectl" || writer.starts_with("kubectl-") || manager::is_ours(writer)
}

impl RefusedGate {
    /// Says how this gate could serve; `None` where it cannot.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::NotTrue(gate) => Some(format!("set the condition {gate} of each pod to True")),
            Self::NotPermitted { .. } => Some(
                "get the permission to patch pods/status, which is among those of kubectl inplace rbac apply --optional"
                    .into(),
            ),
            Self::Reserved(_) | Self::Ignored { .. } | Self::WriterUnknown(_) | Self::WrittenBy { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
