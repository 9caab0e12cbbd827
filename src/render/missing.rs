//! What the caller may not do though the plan could be carried out: said beside the verdict, which is about the change.

use std::io::{self, Write};

use crate::engine::plan::WorkloadPlan;

use super::style::{Meaning, Style};
use super::words;

/// Writes what is missing, if anything is.
pub(super) fn text(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = plan.missing_permissions.first() else { return Ok(()) };
    writeln!(out, "{} you are not allowed to apply it:", style.paint(Meaning::Failing, "Missing permissions:"))?;
    for reason in &plan.missing_permissions {
        writeln!(out, "  {}: {}", reason.code(), words::sentence(&style.show(&reason.sentence())))?;
    }
    // Of one command and what it does all of them are in one Role.
    writeln!(out, "  hint: {}", style.show(&first.hint()))
}
