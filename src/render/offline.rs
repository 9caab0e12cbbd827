//! What the text of a plan of manifests alone says where that of a live one speaks of pods: of two manifests, or of one
//! whose workload is new.
//!
//! Promise: it claims nothing about pods, nodes or the server, which nobody has asked.

use std::io::{self, Write};

use crate::engine::plan::{Effect, Plan, Verdict, WorkloadPlan};
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

/// How many workloads come to what. One that only one of two manifests has is neither up to date nor to be updated.
pub(super) fn totals(plan: &Plan) -> String {
    let mut counts = [
        (0, "to update in place", true),
        (0, "up to date", true),
        (0, "new", false),
        (0, "removed", false),
        (0, "not eligible", true),
    ];
    let [update, up_to_date, new, removed, not_eligible] = &mut counts;
    for workload in &plan.workloads {
        let counter = match workload.verdict {
            Verdict::InPlace => &mut *update,
            Verdict::NothingToDo if workload.warnings.contains(&Warning::WorkloadAdded) => &mut *new,
            Verdict::NothingToDo if workload.warnings.contains(&Warning::WorkloadRemoved) => &mut *removed,
            Verdict::NothingToDo => &mut *up_to_date,
            Verdict::NotEligible => &mut *not_eligible,
        };
        counter.0 += 1;
    }
    let told = counts.iter().filter(|(number, _, always)| *always || *number > 0);
    told.map(|(number, word, _)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

fn changed(plan: &WorkloadPlan, effect: Effect, style: &Style) -> Vec<String> {
    let changed = plan.containers.iter().filter(|container| container.effect == effect);
    changed.map(|container| style.show(container.container.as_str())).collect()
}
