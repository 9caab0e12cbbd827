//! The order of containers within a pod, and the user's own commands around each, as a plan shows them.

use std::io::{self, Write};

use engine::k8s::names::ContainerName;
use engine::plan::{Verdict, WorkloadPlan};
use engine::state::hook::HookPhase;

use super::style::Style;

/// Writes them, a line each.
pub(super) fn text(plan: &WorkloadPlan, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, line) in lines(plan).iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(out, "{gap}  {}", style.show(line))?;
    }
    Ok(())
}

/// Returns the sentences; none of a plan that is not carried out.
pub(super) fn lines(plan: &WorkloadPlan) -> Vec<String> {
    if plan.verdict != Verdict::InPlace {
        return Vec::new();
    }
    let mut lines: Vec<String> = order(plan).into_iter().collect();
    for (phase, when) in [(HookPhase::Before, "Before each pod"), (HookPhase::After, "After each pod")] {
        lines.extend(plan.hooks.command(phase).map(|command| format!("{when} this runs here, with sh -c: {command}")));
    }
    lines
}

fn order(plan: &WorkloadPlan) -> Option<String> {
    let order = &plan.policy.container_order;
    let first = order.first()?;
    let mut steps = vec![first.to_string()];
    steps.extend(order.iter().skip(1).map(|name| format!("then {name}")));
    let changes = |name: &&ContainerName| !order.contains(name);
    let others: Vec<&str> = plan
        .containers
        .iter()
        .filter(|container| container.to.is_some())
        .map(|container| &container.container)
        .filter(changes)
        .map(ContainerName::as_str)
        .collect();
    match others.as_slice() {
        [] => {}
        [one] => steps.push(format!("then {one}")),
        many => steps.push(format!("then together {}", many.join(", "))),
    }
    if steps.len() < 2 {
        return None;
    }
    Some(format!("In each pod: {}; each once the one before is verified and ready.", steps.join(", ")))
}
