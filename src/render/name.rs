//! The pods that would change, as `kubectl get -o name` names pods: for the command after a pipe.
//!
//! Promise: one pod a line and nothing else on stdout; a pod's namespace is not told, as kubectl does not.

use std::io::{self, Write};

use crate::engine::plan::{Plan, PodVerdict, Verdict};
use crate::engine::reason::Reason;

use super::style::{Meaning, Style};
use super::words;

/// Writes the pods that would be patched, and those whose update is on its way.
///
/// # Errors
/// The writer's.
pub(super) fn plan(plan: &Plan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let changes = |verdict| matches!(verdict, PodVerdict::Update | PodVerdict::InProgress);
    for pod in plan.workloads.iter().flat_map(|workload| &workload.pods).filter(|pod| changes(pod.verdict)) {
        writeln!(out, "pod/{}", style.whole(&pod.pod.name))?;
    }
    // A plan without such a pod writes nothing; a closed pipe is still told.
    out.flush()
}

/// Says which workloads are not eligible, for stderr: a list of names cannot.
///
/// # Errors
/// The writer's.
pub(super) fn not_eligible(plan: &Plan, style: &Style, err: &mut dyn Write) -> io::Result<()> {
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
