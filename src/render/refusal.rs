//! A refused plan as text: the verdict in one line, then the problems, and nothing that could be read as consent.

use std::collections::BTreeSet;
use std::io;

use super::style::{Meaning, Style};
use super::{Guide, Out, words};
use engine::change::reason::{self, Reason};
use engine::k8s::names::{PodKey, WorkloadRef};
use engine::plan::{PodVerdict, WorkloadPlan};
use engine::value::hint::{Hint, inplace};

const NAMED_PODS: usize = 3;

fn problems(plan: &WorkloadPlan) -> Vec<(&Reason, Vec<&PodKey>)> {
    let blocked = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::Blocked);
    let of_pods = blocked.flat_map(|pod| pod.reasons.iter().map(move |reason| (&pod.pod, reason)));
    plan.reasons.iter().map(|reason| (reason, Vec::new())).chain(words::said_once(of_pods)).collect()
}

pub(super) fn verdict(plan: &WorkloadPlan) -> String {
    reason::verdict(problems(plan).iter().map(|(reason, _)| *reason))
}

pub(super) fn text(plan: &WorkloadPlan, guide: &Guide<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    let name = words::workload(style, &plan.workload);
    let verdict = style.paint(Meaning::Failing, &format!("{name}: {}", verdict(plan)));
    let namespace = words::in_namespace(style, &plan.workload.namespace, ("   (", ")"));
    let namespace = style.paint(Meaning::Quiet, &namespace);
    writeln!(out, "{verdict}{namespace}\n")?;
    let mut hints = BTreeSet::new();
    for (reason, pods) in problems(plan) {
        let mut indent = "  ";
        if let Some(place) = place(reason, (&plan.workload, &pods), style) {
            writeln!(out, "{indent}{place}")?;
            indent = "    ";
        }
        writeln!(out, "{indent}{}: {}", reason.code(), words::sentence(&style.show(&reason.sentence())))?;
        let hint = guide.hint(&reason.hint_for(&plan.workload));
        // The same advice forty times is noise.
        if hints.insert(hint.clone()) {
            writeln!(out, "    hint: {}", style.whole(&hint))?;
        }
    }
    Ok(())
}

/// The pods, or the path that blocks the update, marked.
fn place(reason: &Reason, (workload, pods): (&WorkloadRef, &[&PodKey]), style: &Style) -> Option<String> {
    if !pods.is_empty() {
        let named = pods.iter().take(NAMED_PODS).map(|pod| words::pod(style, workload, pod));
        let named = named.collect::<Vec<_>>().join(", ");
        return Some(match pods.len().saturating_sub(NAMED_PODS) {
            0 => named,
            more => format!("{named} and {}", words::count(more, "more pod")),
        });
    }
    let path = reason.path()?;
    let mark = if reason.is_of_the_template() { "# not changeable in place" } else { "# blocks the update" };
    Some(format!("{}  {}", style.show(&path), style.paint(Meaning::Failing, mark)))
}

/// Writes what the caller may not do though the plan could be carried out: beside the verdict, which is about the change.
pub(super) fn missing_permissions(
    plan: &WorkloadPlan,
    guide: &Guide<'_>,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
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
