//! What a change of cpu and memory meets in the containers that run. Whether there is room for it, the server, the first pod's
//! kubelet and `--deferred` answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::wanted::Context;
use super::{PodPlan, PodVerdict};
use crate::change::reason::Warning;
use crate::change::{FieldChanges, ResourceField};
use crate::k8s::names::ContainerName;
use crate::k8s::pod::{Container, ContainerList, Pod};
use crate::value::json_path::items;
use crate::value::quantity::Quantity;

pub(super) struct Resized<'a> {
    before: &'a Pod,
    after: Pod,
    restarting: Vec<&'a ContainerName>,
}

impl<'a> Resized<'a> {
    pub(super) fn new(pod: &'a Pod, fields: &FieldChanges, restarting: Vec<&'a ContainerName>) -> Self {
        Self { before: pod, after: fields.resources.asked_of(pod), restarting }
    }

    /// Returns the names of the containers whose limit changes: a container without one of its own has that of its pod
    /// (`GetLimits` in pkg/kubelet/util).
    fn changed_limits(
        &self,
        field: ResourceField,
    ) -> impl Iterator<Item = (&ContainerName, Option<i128>, Option<i128>)> {
        let of = move |pod: &Pod, container: &Container| {
            let own = Quantity::amount(field.of(&container.resources)).filter(|own| *own != 0);
            own.or_else(|| Quantity::amount(field.of(pod.spec.resources.as_ref()?)))
        };
        self.after.all_containers().filter_map(move |(_, after)| {
            let (_, _, before) = self.before.container(&after.name)?;
            let (from, to) = (of(self.before, before), of(&self.after, after));
            (from != to).then_some((&after.name, from, to))
        })
    }
}

pub(super) fn warnings(context: &Context<'_>, pods: &[(PodPlan, &Pod)]) -> Vec<Warning> {
    let resized = pods.iter().filter(|(plan, _)| plan.verdict == PodVerdict::Update && plan.fields.resizes());
    let resized: Vec<Resized<'_>> =
        resized.map(|(plan, pod)| Resized::new(pod, &plan.fields, plan.containers_of(pod).restarting)).collect();
    let mut warnings = not_lowered(&resized);
    warnings.extend(sized_at_start(&resized, context.live.workload.template()));
    warnings
}

/// Returns the containers whose memory limit becomes lower while they run, and that have restarted: the kubelet reads
/// what a container uses before it lowers its limit (`validateMemoryResizeAction` in pkg/kubelet/kuberuntime), and that
/// of 1.36 finds nothing where an earlier container of the name is still on the node.
fn not_lowered(pods: &[Resized<'_>]) -> Vec<Warning> {
    let mut found: BTreeMap<&ContainerName, usize> = BTreeMap::new();
    for pod in pods {
        let changed = pod.changed_limits(ResourceField::LimitsMemory);
        let lowered = changed.filter(|(_, from, to)| to.is_some_and(|to| from.is_none_or(|from| to < from)));
        for (name, ..) in lowered {
            let has_restarted = pod.before.status_of(name).is_some_and(|status| status.restart_count > 0);
            let restarts = pod
                .before
                .spec_of(name)
                .is_some_and(|container| container.resize_policy.iter().any(|policy| policy.restarts("memory")));
            if has_restarted && !restarts {
                *found.entry(name).or_default() += 1;
            }
        }
    }
    found.into_iter().map(|(name, pods)| Warning::MemoryLimitNotLowered { container: name.clone(), pods }).collect()
}

/// Words of a command line, or of a variable that holds one, by how they begin.
const FLAGS: [(&str, ResourceField); 10] = [
    ("-Xmx", ResourceField::LimitsMemory),
    ("-XX:MaxHeapSize=", ResourceField::LimitsMemory),
    ("-XX:MaxRAM=", ResourceField::LimitsMemory),
    ("-XX:MaxRAMPercentage=", ResourceField::LimitsMemory),
    ("-XX:MinRAMPercentage=", ResourceField::LimitsMemory),
    ("-XX:InitialRAMPercentage=", ResourceField::LimitsMemory),
    ("--max-old-space-size", ResourceField::LimitsMemory),
    ("--max_old_space_size", ResourceField::LimitsMemory),
    ("-XX:ActiveProcessorCount=", ResourceField::LimitsCpu),
    ("-XX:ParallelGCThreads=", ResourceField::LimitsCpu),
];

const VARIABLES: [(&str, ResourceField); 7] = [
    ("GOMEMLIMIT", ResourceField::LimitsMemory),
    ("DOTNET_GCHeapHardLimit", ResourceField::LimitsMemory),
    ("DOTNET_GCHeapHardLimitPercent", ResourceField::LimitsMemory),
    ("GOMAXPROCS", ResourceField::LimitsCpu),
    ("DOTNET_PROCESSOR_COUNT", ResourceField::LimitsCpu),
    ("DOTNET_GCHeapCount", ResourceField::LimitsCpu),
    ("OMP_NUM_THREADS", ResourceField::LimitsCpu),
];

/// No flag is longer.
const LONGEST: usize = 60;

/// Returns the containers that keep what they read when they started.
pub(in crate::plan) fn sized_at_start(pods: &[Resized<'_>], template: &Value) -> BTreeSet<Warning> {
    let mut warnings = BTreeSet::new();
    for pod in pods {
        for field in [ResourceField::LimitsCpu, ResourceField::LimitsMemory] {
            for (name, ..) in pod.changed_limits(field).filter(|(name, ..)| !pod.restarting.contains(name)) {
                let lists = ContainerList::ALL;
                let containers = lists.into_iter().filter_map(|list| template.get("spec")?.get(list.spec_field()));
                let mut containers = containers.filter_map(Value::as_array).flatten();
                let is_it = |one: &&Value| one.get("name").and_then(Value::as_str) == Some(name.as_str());
                let Some(container) = containers.find(is_it) else { continue };
                let signs = signs(container, name.as_str(), field);
                if !signs.is_empty() {
                    let resource = field.parts().1.to_owned();
                    warnings.insert(Warning::RuntimeSizedAtStart { container: name.clone(), resource, signs });
                }
            }
        }
    }
    warnings
}

/// The parts of a container's spec that are read only at the start, each once.
fn signs(container: &Value, name: &str, field: ResourceField) -> Vec<String> {
    let mut signs: Vec<String> = Vec::new();
    for list in ["command", "args"] {
        let words = container.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        signs.extend(words.flat_map(|words| flags(words, field)));
    }
    for variable in items(container, "/env") {
        let text = |pointer: &str| variable.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (variable, value) = (text("/name"), text("/value"));
        let (map, resource) = field.parts();
        let of = text("/valueFrom/resourceFieldRef/containerName");
        let is_own = of.is_empty() || of == name;
        if is_own && text("/valueFrom/resourceFieldRef/resource") == format!("{map}.{resource}") {
            signs.push(format!("{variable} ({map}.{resource})"));
        } else if !value.is_empty() && VARIABLES.contains(&(variable, field)) {
            signs.push(variable.to_owned());
        } else {
            signs.extend(flags(value, field).map(|flag| format!("{flag} in {variable}")));
        }
    }
    let mut seen = BTreeSet::new();
    signs.retain(|sign| seen.insert(sign.clone()));
    signs
}

fn flags(words: &str, field: ResourceField) -> impl Iterator<Item = String> {
    let is_flag = move |word: &&str| FLAGS.iter().any(|(flag, of)| *of == field && word.starts_with(flag));
    let words = words.split(|character: char| character.is_whitespace() || matches!(character, '"' | '\'' | ';' | '&'));
    words.filter(is_flag).filter(|word| word.len() <= LONGEST).map(str::to_owned)
}

// Which container breaks a rule of the namespace: a LimitRange's refusal has the value, and not whose it is.
//
// Upstream: `plugin/pkg/admission/limitranger/admission.go` (`minConstraint`, `maxConstraint`,
// `limitRequestRatioConstraint`), and `Constraints` in `pkg/quota/v1/evaluator/core/pods.go`, which names the containers.

/// What a LimitRange finds of a container; the first three are followed by the value.
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

#[cfg(test)]
mod tests;
