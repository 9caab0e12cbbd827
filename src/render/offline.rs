//! What the text of a plan of manifests alone says where that of a live one speaks of pods: of two manifests, or of one
//! whose workload is new.
//!
//! Promise: it claims nothing about pods, nodes or the server, which nobody has asked.

use super::Out;
use std::io;

use serde_json::{Value, json};

use super::style::Style;
use super::words;
use engine::change::reason::Warning;
use engine::plan::{Plan, SkippedObject, Verdict, WorkloadPlan};

/// What is said of a workload whose own controller updates the pods.
pub(super) const BY_CONTROLLER: &str = "is updated in place by its own controller (pods and nodes were not asked)";

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

/// Counts workloads. One that only one of two manifests has is neither up to date nor to be updated.
pub(super) fn totals(plan: &Plan) -> String {
    let mut counts = [
        (0, "to update", true),
        (0, "updated in place by a controller", false),
        (0, "up to date", true),
        (0, "new", false),
        (0, "removed", false),
        (0, "not eligible", true),
    ];
    let [update, by_controller, up_to_date, new, removed, not_eligible] = &mut counts;
    for workload in &plan.workloads {
        let counter = match workload.verdict {
            Verdict::InPlace => &mut *update,
            Verdict::InPlaceByController => &mut *by_controller,
            Verdict::NothingToDo if workload.warnings.contains(&Warning::WorkloadAdded) => &mut *new,
            Verdict::NothingToDo if workload.warnings.contains(&Warning::WorkloadRemoved) => &mut *removed,
            Verdict::NothingToDo => &mut *up_to_date,
            Verdict::NotEligible => &mut *not_eligible,
        };
        counter.0 += 1;
    }
    let reported = counts.iter().filter(|(number, _, always)| *always || *number > 0);
    reported.map(|(number, word, _)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

const MAX_NAMED: usize = 100;

/// Writes what was not looked at, the same said once.
pub(super) fn skipped(plan: &Plan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let object = |object: &SkippedObject| {
        let change = object.change.words().map(|change| format!("{change}; ")).unwrap_or_default();
        let place = words::in_namespace(style, &object.namespace, (" (", ")"));
        (style.show(&object.resource()), format!("{change}{}{place}", object.why.sentence()))
    };
    for (what, names) in words::said_once(plan.skipped.iter().take(MAX_NAMED).map(object)) {
        writeln!(out, "{}", words::flowing(&format!("Not checked: {}: {what}", names.join(", ")), 2, style))?;
    }
    let left = plan.skipped.len().saturating_sub(MAX_NAMED);
    if left > 0 {
        writeln!(out, "Not checked: {}; -o json has them all", words::count(left, "more object"))?;
    }
    Ok(())
}

pub(super) fn skipped_object(object: &SkippedObject) -> Value {
    let SkippedObject { api_version, kind, namespace, name, why, change } = object;
    json!({
        "apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name,
        "change": change, "message": why.sentence(),
    })
}
