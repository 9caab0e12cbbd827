//! What the caller may not do though the plan could be carried out: said beside the verdict, which is about the change.

use std::io::{self, Write};

use engine::change::reason::Reason;
use engine::plan::WorkloadPlan;

use super::style::{Meaning, Style};
use super::{Guide, words};
use engine::value::hint::{Hint, inplace};

/// Writes what is missing, if anything is.
pub(super) fn text(plan: &WorkloadPlan, guide: &Guide<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if plan.missing_permissions.is_empty() {
        return Ok(());
    }
    writeln!(out, "{} you are not allowed to apply it:", style.paint(Meaning::Failing, "Missing permissions:"))?;
    for reason in &plan.missing_permissions {
        writeln!(out, "  {}: {}", reason.code(), words::sentence(&style.show(&reason.sentence())))?;
    }
    // The longest names the optional ones, too.
    let roles = plan.missing_permissions.iter().filter_map(|reason| {
        if let Reason::PermissionMissing { role, .. } = reason { Some(role.as_str()) } else { None }
    });
    let role = roles.max_by_key(|role| role.len()).unwrap_or_default();
    let role = inplace("rbac").and(role).in_namespace(&plan.workload.namespace);
    let hint = guide.hint(&Hint::from("the Role that gives them is printed by: ").command(role));
    writeln!(out, "  hint: {}", style.whole(&hint))
}
