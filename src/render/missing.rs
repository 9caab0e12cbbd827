//! What the caller may not do though the plan could be carried out: said beside the verdict, which is about the change.

use std::io::{self, Write};

use crate::engine::plan::WorkloadPlan;

use super::style::{Meaning, Style};
use super::words;

/// Writes what is missing, if anything is.
pub(super) fn text(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if plan.missing_permissions.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} you are not allowed to apply it:", style.paint(Meaning::Failing, "Missing permissions:"))?;
    for reason in &plan.missing_permissions {
        writeln!(out, "  {}: {}", reason.code(), words::sentence(&style.show(&reason.sentence())))?;
    }
    let kind = plan.workload.kind.spec().singular;
    let alone = if plan.durable.is_none() && plan.workload.kind.has_template() { " --pods-only" } else { "" };
    let namespace = style.show(&plan.workload.namespace);
    writeln!(
        out,
        "  hint: the Role that gives them is printed by: kubectl inplace rbac apply {kind}{alone} -n {namespace}"
    )
}
