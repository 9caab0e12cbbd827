//! What keeps a resize from a pod: the server's and the kubelets' versions, and what the server judges of the pod and its
//! containers together, after the whole of a change.

use serde_json::{Value, json};

use super::in_pods::{ValueInPod, together};
use super::values::is_above;
use super::{Containers, FieldChanges, FieldEffect, HolderChange, ResourceField, ResourcesChange, path};
use crate::change::{FieldChange, reason::Reason};
use crate::k8s::pod::{Container, ContainerList, ContainerStatus, Pod, PodSpec, ResourceHolder, Resources};
use crate::value::kubelet_version::KubeletVersion;
use crate::value::qos;
use crate::value::quantity::Quantity;

/// The first version whose API server resizes pods unless the feature gate is off (KEP-1287, beta).
const RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 33);

/// The first version whose API server lowers a memory limit, or adds one, without a restart of the container.
const LOWER_MEMORY_SINCE: KubeletVersion = KubeletVersion::new(1, 34);

/// The first version whose API server and kubelet resize init containers that have done their work (beta: gate
/// `InPlacePodVerticalScalingInitContainers`).
pub const INIT_RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 36);

/// The first version whose API server and kubelet resize pods that have cpu and memory as a whole, in these and in those of
/// their containers (beta: gate `InPlacePodLevelResourcesVerticalScaling`).
const POD_RESIZE_SINCE: KubeletVersion = KubeletVersion::new(1, 36);

impl ResourcesChange {
    /// Returns the same, as a server and kubelets of these versions do it: the newest take it for init containers, too, that
    /// have done their work, unless a `resizePolicy` would restart them (`ValidatePodResize`).
    #[must_use]
    pub fn done_by<'v>(mut self, versions: impl IntoIterator<Item = &'v KubeletVersion>) -> Self {
        let mut versions = versions.into_iter().peekable();
        if versions.peek().is_some() && versions.all(|version| *version >= INIT_RESIZE_SINCE) {
            let reached = self.0.values_mut().filter(|change| change.restarting.is_empty());
            reached.for_each(|change| change.is_plain_init = false);
        }
        self
    }

    /// Returns whether pods keep cpu or memory that the template changes.
    pub fn is_kept_by_pods(&self) -> bool {
        self.rows().iter().any(|row| row.effect == FieldEffect::LaterPods)
    }

    /// Returns whether it changes cpu or memory of an init container of pods that run.
    pub fn reaches_init_containers(&self) -> bool {
        self.0.values().any(|change| change.list == ContainerList::InitContainers && !change.is_plain_init)
    }

    /// Returns the first version of the API server that can do it in pods with this spec, where not every one can.
    pub fn oldest_server(&self, spec: &Value) -> Option<KubeletVersion> {
        let values = |map| spec.pointer(&format!("/resources/{map}")).and_then(Value::as_object);
        let is_sized_as_a_whole = Resources::MAPS.into_iter().filter_map(values).any(|values| !values.is_empty());
        let since = if self.0.contains_key(&ResourceHolder::Pod) || is_sized_as_a_whole {
            POD_RESIZE_SINCE
        } else if self.0.values().any(HolderChange::lowers_memory_limit) {
            LOWER_MEMORY_SINCE
        } else {
            RESIZE_SINCE
        };
        (!self.0.is_empty()).then_some(since)
    }

    /// Returns why no pod can be made as the template says it, where that follows from what changes here.
    pub fn refused_of_template(&self, template: &Value) -> Vec<Reason> {
        let spec = template.get("spec").filter(|_| !self.0.is_empty());
        let spec = spec.and_then(|spec| serde_json::from_value::<PodSpec>(spec.clone()).ok());
        spec.map(|spec| of_spec(&spec)).unwrap_or_default()
    }

    /// Returns whether a pod has another quality of service class than its template, and keeps it: it has values that the
    /// template does not say, from a LimitRange.
    pub fn keeps_class(&self, pod: &Pod, of_template: &str) -> bool {
        let [from, to] = [pod, &self.asked_of(pod)].map(class);
        from == to && from != of_template
    }
}

impl HolderChange {
    /// Whether a memory limit falls, or is added, of a container that does not restart for it.
    fn lowers_memory_limit(&self) -> bool {
        let limit = ResourceField::LimitsMemory;
        let runs_on = !self.is_plain_init && !self.restarting.contains(&limit);
        self.values.get(&limit).filter(|_| runs_on).is_some_and(|change| {
            change.to.is_some() && change.from.is_none() || is_above(change.from.as_ref(), change.to.as_ref())
        })
    }
}

/// Why a resize is refused by a kubelet that does not report what it has, and by containers that it would restart.
pub(super) fn refused_in(change: &ResourcesChange, containers: &Containers<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (list, container) in &containers.all {
        let holder = ResourceHolder::from(&container.name);
        let Some(change) = change.0.get(&holder) else { continue };
        let after = change.after(&container.resources);
        let path = |field| path(*list, &holder, field);
        reasons.extend(ResourceField::PAIRS.into_iter().filter_map(|pair| request_above_limit(&after, pair, path)));
    }
    let Some(pod) = containers.pod else { return reasons };
    let node = || pod.spec.node_name.clone();
    let is_mute = |status: &ContainerStatus| status.state.running.is_some() && status.resources.is_none();
    if change.in_pod(pod).any(|value| value.held.status.is_some_and(|(_, _, status)| is_mute(status))) {
        reasons.push(Reason::ResizeNotSupported { node: node() });
    }
    let is_of_pod = |value: ValueInPod<'_>| value.held.container.is_none();
    if pod.status.phase == "Running" && pod.status.resources.is_none() && change.in_pod(pod).any(is_of_pod) {
        reasons.push(Reason::PodResizeNotSupported { node: node() });
    }
    reasons.extend(restarted_by_the_pods_limit(&change.unasked_in(pod), containers));
    reasons
}

/// Returns the containers that have no limit of their own, so that the pod's is theirs, and restart when it changes
/// (`computePodResizeAction` in pkg/kubelet/kuberuntime).
fn restarted_by_the_pods_limit(unasked: &ResourcesChange, containers: &Containers<'_>) -> Vec<Reason> {
    let Some(of_pod) = unasked.0.get(&ResourceHolder::Pod) else { return Vec::new() };
    let mut reasons = Vec::new();
    for (_, limit) in ResourceField::PAIRS.into_iter().filter(|(_, limit)| of_pod.values.contains_key(limit)) {
        let has_none = |container: &Container| Quantity::amount(limit.of(&container.resources)).unwrap_or(0) == 0;
        let restarts = |container: &Container| {
            container.resize_policy.iter().any(|policy| policy.restarts(limit.parts().1)) && has_none(container)
        };
        let restarting = containers.all.iter().filter(|(list, one)| one.is_long_lived(*list) && restarts(one));
        let path = pod_path(limit);
        reasons.extend(
            restarting.map(|(_, one)| Reason::PodLimitRestarts { container: one.name.clone(), path: path.clone() }),
        );
    }
    reasons
}

/// Returns why the server does not take what a pod would ask for.
pub(in crate::change) fn refused_together(fields: &FieldChanges, pod: &Pod) -> Vec<Reason> {
    if !fields.resizes() {
        return Vec::new();
    }
    let after = fields.resources.asked_of(pod);
    let [from, to] = [pod, &after].map(class);
    let of_class = (from != to).then(|| Reason::QosClassChanges { from: from.into(), to: to.into() });
    of_class.into_iter().chain(of_spec(&after.spec)).collect()
}

type Pair = (ResourceField, ResourceField);

/// What the server judges of one request and its limit.
type Rule = fn(&PodSpec, &Resources, Pair) -> Vec<Reason>;

/// What the server judges of a pod that has cpu and memory as a whole, a request and its limit at a time
/// (`validatePodResourceConsistency`).
const OF_THE_WHOLE: [Rule; 3] = [
    |_, whole, pair| request_above_limit(whole, pair, pod_path).into_iter().collect(),
    |spec, whole, (request, _)| {
        let most = Quantity::amount(request.of(whole));
        let is_above = together(spec, request).zip(most).is_some_and(|(has, most)| has > most);
        is_above.then(|| Reason::PodRequestTooSmall { path: pod_path(request) }).into_iter().collect()
    },
    |spec, whole, (_, limit)| {
        let above = spec.containers.iter().filter(|one| is_above(limit.of(&one.resources), limit.of(whole)));
        let path = |one: &Container| path(ContainerList::Containers, &ResourceHolder::from(&one.name), limit);
        above.map(|one| Reason::LimitAbovePod { path: path(one) }).collect()
    },
];

fn of_spec(spec: &PodSpec) -> Vec<Reason> {
    let is_windows = spec.os.as_ref().is_some_and(|os| os.name == "windows");
    let of_whole = spec.resources.iter().flat_map(|whole| {
        let rules = ResourceField::PAIRS.into_iter().flat_map(|pair| OF_THE_WHOLE.map(|rule| (rule, pair)));
        rules.flat_map(move |(rule, pair)| rule(spec, whole, pair))
    });
    is_windows.then_some(Reason::WindowsPod).into_iter().chain(of_whole).collect()
}

fn request_above_limit(
    resources: &Resources,
    (request, limit): Pair,
    path: impl Fn(ResourceField) -> String,
) -> Option<Reason> {
    let (has, most) = (request.of(resources)?, limit.of(resources)?);
    is_above(Some(has), Some(most)).then(|| Reason::RequestAboveLimit {
        path: path(request),
        value: has.clone(),
        limit: most.clone(),
    })
}

fn pod_path(field: ResourceField) -> String {
    path(ContainerList::default(), &ResourceHolder::Pod, field)
}

fn class(pod: &Pod) -> &'static str {
    let list = |list: &[Container]| list.iter().map(|one| json!({"resources": one.resources})).collect::<Vec<_>>();
    qos::class(&json!({"resources": pod.spec.resources, "containers": list(&pod.spec.containers),
        "initContainers": list(&pod.spec.init_containers)}))
}
