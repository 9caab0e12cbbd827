//! `plan`: says what would happen, and changes nothing.

use std::io;

use super::{Shell, next, planning, saved};
use crate::cli::{GlobalArgs, PlanArgs};
use crate::engine::outcome::EndResult;
use crate::engine::plan::Plan;
use crate::engine::reason::Warning;
use crate::error::CommandError;
use crate::render;

pub(super) async fn run(args: &PlanArgs, global: &GlobalArgs, shell: &mut Shell) -> Result<EndResult, CommandError> {
    let planned = planning::make(&args.targets, &args.policy, global, &args.field_manager, true, shell).await?;
    let next = match &args.out {
        _ if planned.plan.result() != EndResult::Changes => None,
        Some(file) => Some(next::apply_saved(file, global)),
        None => Some(next::same_as(&shell.arguments, "apply", pods_only(&planned.plan))),
    };
    if let Some(file) = &args.out {
        saved::write(&planned, &args.field_manager, file)?;
    }
    show(&planned.plan, args.output, next.as_deref(), shell)?;
    Ok(if args.detailed_exitcode { planned.plan.result() } else { EndResult::Complete })
}

/// Shows a plan: the result on stdout, warnings on stderr.
pub(super) fn show(
    plan: &Plan,
    output: render::OutputFormat,
    next: Option<&str>,
    shell: &Shell,
) -> Result<(), CommandError> {
    let plan = &as_shown(plan, output);
    render::plan(output, plan, next, &shell.terminal.stdout, &mut io::stdout().lock())?;
    if !shell.is_quiet() {
        render::plan_warnings(output, plan, &shell.terminal.stderr, &mut io::stderr().lock())?;
    }
    Ok(())
}

/// Returns the plan without what the shell tells on stderr itself: there a server's warning would stand twice.
fn as_shown(plan: &Plan, output: render::OutputFormat) -> Plan {
    let mut plan = plan.clone();
    if output == render::OutputFormat::Text {
        for workload in &mut plan.workloads {
            workload.warnings.retain(|warning| !matches!(warning, Warning::ServerWarning { .. }));
        }
    }
    plan
}

/// Returns the flag that `apply` needs for pods whose owner's template keeps the old image.
fn pods_only(plan: &Plan) -> &'static [&'static str] {
    if plan.workloads.iter().any(|workload| !workload.controllers.is_empty()) { &["--pods-only"] } else { &[] }
}
