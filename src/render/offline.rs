//! What the text of a plan of manifests alone says where that of a live one speaks of pods: of two manifests, or of one
//! whose workload is new.
//!
//! Promise: it claims nothing about pods, nodes or the server, which nobody has asked.

use std::io::{self, Write};

use crate::engine::plan::{Effect, Verdict, WorkloadPlan};
use crate::engine::reason::Warning;

use super::style::{Meaning, Style};
use super::words;

/// Ends the line that begins with the workload's name.
pub(super) fn heading(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if !plan.workload.namespace.is_empty() {
        write!(out, "  namespace {}", style.show(&plan.workload.namespace))?;
    }
    let is_new = plan.warnings.contains(&Warning::WorkloadAdded);
    writeln!(out, "   {}", if is_new { "new" } else { "two manifests" })
}

/// Writes what the plan comes to.
pub(super) fn closing(plan: &WorkloadPlan, name: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match plan.verdict {
        Verdict::NothingToDo => {
            writeln!(out, "{} {}", style.paint(Meaning::Ok, "No changes."), nothing(plan, name))
        }
        Verdict::InPlace => {
            let heading = style.paint(Meaning::Heading, "In place:");
            let restarts = changed(plan, Effect::Restart, style);
            let verb = if restarts.len() == 1 { "restarts" } else { "restart" };
            let restarts = words::first_of(restarts.into_iter(), 10);
            let restarts = if restarts.is_empty() { "nothing restarts".into() } else { format!("{restarts} {verb}") };
            let later = words::first_of(changed(plan, Effect::NoEffectNow, style).into_iter(), 10);
            let later = if later.is_empty() { later } else { format!("; {later} when a pod is next made") };
            writeln!(out, "{heading} {restarts}{later}. Pods and nodes were not asked.")
        }
        // Its verdict came first.
        Verdict::NotEligible => Ok(()),
    }
}

/// Why there is nothing to do: also for a workload that one side does not have.
pub(super) fn nothing(plan: &WorkloadPlan, name: &str) -> String {
    let has = |warning: &Warning| plan.warnings.contains(warning);
    if has(&Warning::WorkloadAdded) {
        format!("{name} is new: kubectl apply creates it.")
    } else if has(&Warning::WorkloadRemoved) {
        format!("{name} is removed: there is nothing to do in place.")
    } else if !plan.workload.kind.has_template() {
        format!("{name} stays as it is.")
    } else {
        format!("The pods of {name} stay as they are.")
    }
}

fn changed(plan: &WorkloadPlan, effect: Effect, style: &Style) -> Vec<String> {
    let changed = plan.containers.iter().filter(|container| container.effect == effect);
    changed.map(|container| style.show(container.container.as_str())).collect()
}
