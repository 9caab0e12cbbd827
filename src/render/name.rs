//! Objects as `kubectl get -o name` names them, for the command after a pipe.
//!
//! Promise: one object a line and nothing else on stdout. Objects of several namespaces, and all with -A, come with
//! `--namespace`, so that each line is what a command takes (`| xargs -L1 kubectl inplace follow`); kubectl's own lines
//! alone do not distinguish them.

use super::Out;
use std::collections::BTreeSet;
use std::io;

use engine::change::reason::Reason;
use engine::k8s::names::WorkloadRef;
use engine::plan::{Plan, PodVerdict, Verdict};

use super::style::{Meaning, Style};
use super::words;

pub(super) fn of(workload: &WorkloadRef, with_namespace: bool, style: &Style) -> String {
    let spec = workload.kind.spec();
    let group = if spec.group.is_empty() { String::new() } else { format!(".{}", spec.group) };
    let name = format!("{}{group}/{}", spec.singular, style.whole(&workload.name));
    named(name, &workload.namespace, with_namespace, style)
}

fn named(name: String, namespace: &str, with_namespace: bool, style: &Style) -> String {
    // Manifests need not name theirs.
    if with_namespace && !namespace.is_empty() {
        format!("{name} --namespace={}", style.whole(namespace))
    } else {
        name
    }
}

/// Writes the pods that would be patched or are on their way; of manifests alone, the workloads that can be changed in place.
pub(super) fn plan(plan: &Plan, every_namespace: bool, style: &Style, out: Out<'_>) -> io::Result<()> {
    let changes = |verdict| matches!(verdict, PodVerdict::Update | PodVerdict::InProgress);
    let namespaces: BTreeSet<&str> = plan.workloads.iter().map(|one| one.workload.namespace.as_str()).collect();
    let offline = plan.workloads.iter().filter(|one| one.is_offline() && one.verdict == Verdict::InPlace);
    for workload in offline {
        writeln!(out, "{}", of(&workload.workload, every_namespace || namespaces.len() > 1, style))?;
    }
    let pods = plan
        .workloads
        .iter()
        .flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)))
        .filter(|(workload, pod)| changes(workload.becomes(pod)));
    for (workload, pod) in pods {
        let name = format!("pod/{}", style.whole(&pod.pod.name));
        let with_namespace = every_namespace || namespaces.len() > 1 || workload.workload.kind.spec().cluster_wide;
        writeln!(out, "{}", named(name, &pod.pod.namespace, with_namespace, style))?;
    }
    // A plan without such a pod writes nothing; a closed pipe is still reported.
    out.flush()
}

/// Says which workloads are not eligible, for stderr: a list of names cannot.
pub(super) fn not_eligible(plan: &Plan, style: &Style, err: Out<'_>) -> io::Result<()> {
    for workload in plan.workloads.iter().filter(|workload| workload.verdict == Verdict::NotEligible) {
        let heading = style.paint(Meaning::Failing, "Not eligible:");
        let name = words::workload(style, &workload.workload);
        let mut codes: Vec<&str> = workload.all_reasons().map(Reason::code).collect();
        codes.sort_unstable();
        codes.dedup();
        writeln!(err, "{heading} {name}: {}. -o text says why.", codes.join(", "))?;
    }
    Ok(())
}
