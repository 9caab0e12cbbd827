//! Autoscalers that read or write what pods ask for.

use serde_json::Value;

use super::{Resized, amount, written};
use crate::change::ResourceField;
use crate::change::reason::Warning;
use crate::k8s::names::{ContainerName, WorkloadRef};
use crate::k8s::pod::{ContainerList, Pod};
use crate::k8s::workload::Workload;
use crate::value::json_path::text;

/// Returns whether an autoscaler's reference names the workload.
pub fn targets(reference: &Value, workload: &WorkloadRef) -> bool {
    let spec = workload.kind.spec();
    let group = text(reference, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    text(reference, "/kind") == spec.kind && text(reference, "/name") == workload.name && group == spec.group
}

/// A metric that is a percentage of what pods ask for.
struct Utilization<'v> {
    field: ResourceField,
    container: Option<&'v str>,
    percent: i64,
}

impl<'v> Utilization<'v> {
    fn of(metric: &'v Value) -> Option<Self> {
        let (part, container) = match text(metric, "/type") {
            "Resource" => ("resource", None),
            "ContainerResource" => ("containerResource", Some(text(metric, "/containerResource/container"))),
            _ => return None,
        };
        let part = metric.get(part)?;
        let resource = text(part, "/name");
        let requests = [ResourceField::RequestsCpu, ResourceField::RequestsMemory];
        let field = requests.into_iter().find(|field| field.parts().1 == resource)?;
        let percent = part.pointer("/target/averageUtilization")?.as_i64()?;
        (text(part, "/target/type") == "Utilization" && percent > 0).then_some(Self { field, container, percent })
    }

    /// What it is a percentage of; `None` where a container asks for nothing, which the autoscaler does without.
    ///
    /// Upstream: `calculateRequests` in pkg/controller/podautoscaler/replica_calculator.go.
    fn base(&self, pod: &Pod) -> Option<i128> {
        let of = |resources| amount(self.field.of(resources));
        if let (None, Some(resources)) = (self.container, pod.spec.resources.as_ref().filter(|all| of(all).is_some())) {
            return of(resources);
        }
        let sidecars = pod.containers(ContainerList::InitContainers).iter().filter(|container| container.is_sidecar());
        let all = pod.containers(ContainerList::Containers).iter().chain(sidecars);
        let meant = all.filter(|container| self.container.is_none_or(|name| container.name.as_str() == name));
        meant.map(|container| of(&container.resources)).sum()
    }
}

/// Returns what HorizontalPodAutoscalers read differently at once.
pub(super) fn horizontal(pods: &[Resized<'_>], autoscalers: &[Value], workload: &Workload) -> Vec<Warning> {
    let ours = autoscalers.iter().filter(|autoscaler| {
        autoscaler.pointer("/spec/scaleTargetRef").is_some_and(|target| targets(target, &workload.reference))
    });
    let mut warnings = Vec::new();
    for autoscaler in ours {
        let metrics = autoscaler.pointer("/spec/metrics").and_then(Value::as_array);
        for metric in metrics.into_iter().flatten().filter_map(Utilization::of) {
            let bases = |pod: &Resized<'_>| Some((metric.base(pod.before)?, metric.base(&pod.after)?));
            let Some((from, to)) = pods.iter().find_map(bases).filter(|(from, to)| *from > 0 && *to > 0 && from != to)
            else {
                continue;
            };
            let reads = (i128::from(metric.percent) * from + to / 2) / to;
            warnings.push(Warning::AutoscalerReadsRequests {
                autoscaler: text(autoscaler, "/metadata/name").to_owned(),
                resource: metric.field.parts().1.to_owned(),
                container: metric.container.map(ContainerName::from),
                target: metric.percent,
                reads: i64::try_from(reads).unwrap_or(i64::MAX),
                from: written(metric.field, from),
                to: written(metric.field, to),
            });
        }
    }
    warnings
}

/// Returns the VerticalPodAutoscalers that write what is changed here.
pub(super) fn vertical(pods: &[Resized<'_>], autoscalers: &[Value], workload: &Workload) -> Vec<Warning> {
    let acts = |autoscaler: &&Value| {
        let is_ours = autoscaler.pointer("/spec/targetRef").is_some_and(|target| targets(target, &workload.reference));
        let changes = |pod: &Resized<'_>| {
            ResourceField::ALL
                .into_iter()
                .any(|field| pod.changed(field).any(|(container, ..)| controls(autoscaler, container, field.parts().1)))
        };
        is_ours && mode(autoscaler) != "Off" && pods.iter().any(changes)
    };
    let warning = |autoscaler: &Value| Warning::VerticalAutoscalerActs {
        autoscaler: text(autoscaler, "/metadata/name").to_owned(),
        mode: mode(autoscaler).to_owned(),
    };
    autoscalers.iter().filter(acts).map(warning).collect()
}

/// `Auto` where it is not set.
fn mode(autoscaler: &Value) -> &str {
    Some(text(autoscaler, "/spec/updatePolicy/updateMode")).filter(|mode| !mode.is_empty()).unwrap_or("Auto")
}

/// Its policy of the container, else that of all; without either it controls cpu and memory.
fn controls(autoscaler: &Value, container: &ContainerName, resource: &str) -> bool {
    let policies = autoscaler.pointer("/spec/resourcePolicy/containerPolicies").and_then(Value::as_array);
    let named = |name: &str| policies?.iter().find(|policy| text(policy, "/containerName") == name);
    let Some(policy) = named(container.as_str()).or_else(|| named("*")) else { return true };
    let resources = policy.get("controlledResources").and_then(Value::as_array);
    let is_named = resources.is_none_or(|all| all.iter().any(|known| known.as_str() == Some(resource)));
    text(policy, "/mode") != "Off" && is_named
}
