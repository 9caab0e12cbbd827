//! The plan of two manifests, with no cluster: what a pull request changes, judged as the live plan judges it.
//!
//! The older manifest is both the last applied one and, with Kubernetes' defaults filled in, the live object; the newer
//! one is applied to it as `kubectl apply` would, and the results are compared. So a field written out with its
//! default, an equal quantity written otherwise, or another order of containers is no change, a field that is taken out
//! counts as removed, and a field that this build does not know is compared like any other.
//!
//! Out of scope: what only a cluster knows. There are no pods and no nodes, no webhook is asked, and the defaults are
//! those of one version of the server (see [`crate::merge`]).

mod by_controller;
mod unasked;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::outline::{Hook, Written, written};
use super::policy::policy;
use super::rules;
use super::skipped;
use super::wanted::template_containers;
use super::wanted::template_of;
use super::warnings::failed_start;
use super::{ContainerPlan, Effect, Plan, Verdict, WorkloadPlan};
use crate::change::reason::{NotStartedAgain, Reason, Warning};
use crate::change::{self, Difference, Direction};
use crate::k8s::names::{ContainerName, Uid, WorkloadRef};
use crate::k8s::pod::{ContainerList, RestartPolicy};
use crate::k8s::workload::Workload;
use crate::kinds::{Replicas, WorkloadKind};
use crate::merge::strategic_merge;
use crate::plan::assemble::{Objects, assemble};
use crate::plan::availability::Restarted;
use crate::plan::live::Options;
use unasked::Unasked;

/// How much a plan may report: reasons, warnings, containers, labels and annotations of all its workloads together.
const MAX_ROWS: usize = 30_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfflineError {
    #[error("{workload} is given twice in the {side} manifests: with and without namespace {namespace}")]
    Twice {
        workload: String,
        /// `older` or `newer`.
        side: &'static str,
        /// The namespace that makes them the same.
        namespace: String,
    },
    #[error(
        "the manifests differ in more than {MAX_ROWS} containers, labels and fields, which no plan can tell; compare fewer workloads at once"
    )]
    TooMuch,
}

/// Compares two sets of manifests. Of objects that are no workload, and of hooks, only those that differ are named.
///
/// Workloads are paired by kind, namespace and name; `namespace` is that of manifests that name none. One that only
/// `new` has, or only `old`, changes no pod in place: its plan has nothing to do and a warning that says so.
pub fn compare<M: Written>(
    old: &[M],
    new: &[M],
    namespace: Option<&str>,
    options: &Options,
) -> Result<Plan, OfflineError> {
    let (mut before, _) = by_reference(old, namespace, "older")?;
    let (mut after, order) = by_reference(new, namespace, "newer")?;
    let mut workloads = Vec::new();
    let mut rows: usize = 0;
    let mut add = |plan: WorkloadPlan| {
        rows = rows.saturating_add(plan.reasons.len() + plan.warnings.len() + plan.containers.len());
        rows = rows.saturating_add(plan.fields.rows().len());
        workloads.push(plan);
        if rows > MAX_ROWS { Err(OfflineError::TooMuch) } else { Ok(()) }
    };
    for reference in order {
        let Some(new) = after.remove(&reference) else { continue };
        add(match before.remove(&reference) {
            Some(old) => build(&reference, old.object(), new.object(), options),
            None => alone(&reference, new.object(), Warning::WorkloadAdded, options),
        })?;
    }
    for (reference, old) in before {
        add(alone(&reference, old.object(), Warning::WorkloadRemoved, options))?;
    }
    Ok(Plan { workloads, skipped: skipped::of_two(old, new, namespace) })
}

type ByReference<'a, M> = BTreeMap<WorkloadRef, &'a M>;

fn by_reference<'a, M: Written>(
    objects: &'a [M],
    namespace: Option<&str>,
    side: &'static str,
) -> Result<(ByReference<'a, M>, Vec<WorkloadRef>), OfflineError> {
    let mut found = BTreeMap::new();
    let mut order = Vec::new();
    for object in objects {
        let [api_version, kind, given, name] = object.identity();
        let Ok(kind) = skipped::taken((api_version, kind), Hook::of(object.object())) else { continue };
        let given = Some(given).filter(|given| !given.is_empty()).or(namespace);
        let namespace = given.unwrap_or_default().to_owned();
        let reference = WorkloadRef { kind, namespace, name: name.to_owned() };
        if found.insert(reference.clone(), object).is_some() {
            let (workload, namespace) = (reference.to_string(), reference.namespace);
            return Err(OfflineError::Twice { workload, side, namespace });
        }
        order.push(reference);
    }
    Ok((found, order))
}

/// Builds the plan of one workload from its older and its newer manifest.
///
/// It has no pods: its verdict follows from the containers, or from the rules of the controller that updates the pods; its
/// uid is empty.
pub fn build(reference: &WorkloadRef, old: &Value, new: &Value, options: &Options) -> WorkloadPlan {
    let kind = reference.kind;
    let mut reasons = Vec::new();
    let (live, desired) = stored(kind, old, new, &mut reasons);
    let workload = Workload { reference: reference.clone(), uid: Uid::default(), object: live };
    if let Some(foresee) = kind.spec().foresee {
        let nothing = bare(reference, desired.clone(), BTreeSet::new(), options);
        return by_controller::plan(nothing, (&workload, &desired), (foresee, options), reasons);
    }
    reasons.extend(rules::claims_refused(&workload, &desired));
    let (immutable, other) = rules::outside(kind, &workload.object, &desired);
    let template = template_of(kind, &desired);
    let diff = change::diff(&template_of(kind, &workload.object), &template);
    reasons.extend(rules::refused(&diff, &workload, Direction::Forward));
    let containers = containers(&template, &diff);
    let change = &diff.change;
    let unasked = Unasked { workload: &workload, template: &template, change, containers: &containers, options };
    // What is refused of the template as a whole is refused of its pod as well.
    for reason in [unasked.reasons(), change.fields.resources.refused_of_template(&template)].concat() {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let immutable = immutable.into_iter().filter(|path| !is_a_claim(path));
    reasons.extend(immutable.map(|path| Reason::OwnerFieldImmutable { path }));
    let (not_started_again, failed_starts) = by_restart_policy(kind, &template, &containers);
    reasons.extend(not_started_again.into_iter().map(Reason::from));
    let mut warnings = unasked.warnings();
    warnings.extend(failed_starts);
    if !other.is_empty() {
        warnings.insert(Warning::OutsideTemplate { paths: other });
    }
    let verdict = match (reasons.is_empty(), change.is_empty()) {
        (false, _) => Verdict::NotEligible,
        (true, false) => Verdict::InPlace,
        (true, true) => Verdict::NothingToDo,
    };
    let plan = bare(reference, desired, warnings, options);
    let mut warnings = plan.warnings;
    if verdict == Verdict::InPlace && containers.iter().any(|plan| plan.restarts() > 0) {
        warnings.extend(replicas(kind, new).and_then(|pods| Restarted::all(pods).leaves_none(kind, &plan.policy)));
        warnings.sort();
    }
    WorkloadPlan { verdict, reasons, warnings, containers, fields: diff.change.fields, ..plan }
}

/// How many pods the manifest says that there are; where it leaves that open, an autoscaler may say it.
fn replicas(kind: WorkloadKind, manifest: &Value) -> Option<usize> {
    match kind.replicas() {
        Replicas::Spec => usize::try_from(manifest.pointer("/spec/replicas")?.as_u64()?).ok(),
        Replicas::One | Replicas::Scheduled => None,
    }
}

fn stored(kind: WorkloadKind, old: &Value, new: &Value, reasons: &mut Vec<Reason>) -> (Value, Value) {
    let (old, new) = (written(old), written(new));
    let live = kind.defaults().fill(&old);
    let desired = applied(kind, &old, &new, &live).unwrap_or_else(|error| {
        reasons.push(Reason::ManifestsNotMergeable { message: error.to_string() });
        kind.defaults().fill(&new)
    });
    (live, desired)
}

/// The plan of a workload that the cluster does not have: there is nothing to do in place.
pub fn new(reference: &WorkloadRef, manifest: &Value, options: &Options) -> WorkloadPlan {
    alone(reference, manifest, Warning::WorkloadAdded, options)
}

fn alone(reference: &WorkloadRef, object: &Value, warning: Warning, options: &Options) -> WorkloadPlan {
    let object = reference.kind.defaults().fill(&written(object));
    bare(reference, object, BTreeSet::from([warning]), options)
}

fn bare(reference: &WorkloadRef, object: Value, warnings: BTreeSet<Warning>, options: &Options) -> WorkloadPlan {
    let workload = Workload { reference: reference.clone(), uid: Uid::default(), object };
    let live = assemble(workload, Objects::default());
    WorkloadPlan { warnings: warnings.into_iter().collect(), ..WorkloadPlan::empty(&live, policy(&live, options).0) }
}

/// What the server would store after `kubectl apply` of `new`, where `old` was applied before and `live` is the object.
fn applied(kind: WorkloadKind, old: &Value, new: &Value, live: &Value) -> Result<Value, strategic_merge::Error> {
    let patch = strategic_merge::three_way(Some(old), new, live, kind.merge())?;
    Ok(kind.defaults().fill(&strategic_merge::apply(live, &patch, kind.merge())?))
}

/// The volume claim templates have a reason of their own.
fn is_a_claim(path: &str) -> bool {
    path.starts_with("spec.volumeClaimTemplates[")
}

/// Each container that both templates have, with what changes.
fn containers(template: &Value, diff: &Difference) -> Vec<ContainerPlan> {
    template_containers(template)
        .into_iter()
        .filter(|(_, container)| !diff.rest.added.iter().any(|(_, added)| *added == container.name))
        .filter(|(_, container)| !diff.rest.renamed.iter().any(|(_, to)| *to == container.name))
        .map(|(list, container)| {
            let (from, to, effect) = match diff.change.images.get(&container.name) {
                Some(image) => (image.from.clone(), Some(image.to.clone()), Effect::of(list, &container)),
                None => (container.image, None, Effect::Unchanged),
            };
            let resize_restarts = diff.change.fields.resources.restarting().any(|name| *name == container.name);
            ContainerPlan { container: container.name, list, from, to, effect, resize_restarts, is_down: false }
        })
        .collect()
}

/// What comes of a start that fails, for the containers that restart: what nothing re-creates, and what a controller does. No
/// kubelet was asked.
fn by_restart_policy(
    kind: WorkloadKind,
    template: &Value,
    containers: &[ContainerPlan],
) -> (BTreeSet<NotStartedAgain>, Vec<Warning>) {
    let of_pod = template.pointer("/spec/restartPolicy").and_then(Value::as_str).unwrap_or_default();
    let written = template_containers(template);
    let restarts = |list: ContainerList, name: &ContainerName| {
        containers.iter().any(|plan| plan.list == list && plan.container == *name && plan.restarts() > 0)
    };
    let policies = written.iter().filter(|(list, container)| restarts(*list, &container.name));
    let policies = policies.map(|(list, one)| (&one.name, RestartPolicy::of(of_pod, *list, one, None)));
    if kind.has_template() && matches!(of_pod, "Always" | "") {
        return (BTreeSet::new(), policies.filter_map(|(name, policy)| failed_start(name, policy)).collect());
    }
    let lost = policies.filter(|(_, policy)| !policy.is_always());
    (lost.map(|(_, policy)| NotStartedAgain::of(policy, None)).collect(), Vec::new())
}
