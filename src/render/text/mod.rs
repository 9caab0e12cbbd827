//! The plan as text: the verdict, then what changes, what differs from pod to pod, and what to type next.
//!
//! Promise: the plan goes to one writer (a result), its warnings to another. It says nothing that the plan does not.

mod headline;
mod overview;
mod pods;

use std::io;

use super::Detail;
use super::style::{Meaning, Style};
use super::{Guide, Out, containers, offline, preview, refusal, words};
use engine::plan::{Plan, Verdict, WorkloadPlan};
use engine::state::durable::rollout::HistoryStep;
use engine::state::outcome::EndResult;

/// Writes the plan. The next command is written only where there is something to carry out.
pub(super) fn plan(plan: &Plan, guide: &Guide<'_>, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    let many = plan.workloads.len() > 1;
    if plan.workloads.is_empty() {
        let nothing = if plan.skipped.is_empty() { "No changes. " } else { "" };
        writeln!(out, "{nothing}The plan has no workload.")?;
        return offline::skipped(plan, style, out);
    }
    if many {
        overview::table(plan, style, out)?;
        if detail == Detail::Short {
            overview::before_each(plan, style, out)?;
        }
    }
    // What differs from the table's row is reported below it.
    let is_reported = |workload: &&WorkloadPlan| {
        let is_plain = workload.verdict != Verdict::NotEligible && workload.missing_permissions.is_empty();
        !many || detail == Detail::Wide || !is_plain || overview::differs(workload, style)
    };
    for (index, workload) in plan.workloads.iter().filter(is_reported).enumerate() {
        if many || index > 0 {
            writeln!(out)?;
        }
        self::workload(workload, guide, detail, style, out)?;
    }
    // What controllers do by themselves is nothing to type.
    let is_work = plan.workloads.iter().any(|workload| workload.verdict == Verdict::InPlace);
    // Of a live plan that is refused it is the command for what can be updated; of manifests alone nobody knows that.
    let is_offline = plan.workloads.iter().all(WorkloadPlan::is_offline);
    let next = guide.next.filter(|_| is_work && (!is_offline || plan.result() == EndResult::Changes));
    if many {
        overview::total(plan, style, out)?;
    }
    if !plan.skipped.is_empty() {
        writeln!(out)?;
        offline::skipped(plan, style, out)?;
    }
    hand_overs(plan, guide, style, out)?;
    if let Some(next) = next {
        if plan.workloads.iter().any(|workload| workload.verdict == Verdict::NotEligible) {
            writeln!(out, "This updates the others:")?;
        }
        writeln!(out, "Next: {}", style.whole(next))?;
    }
    Ok(())
}

/// What the next apply of each manifest changes, where that was asked.
pub(super) fn hand_overs(plan: &Plan, guide: &Guide<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    for workload in &plan.workloads {
        let Some(found) = &workload.hand_over else { continue };
        words::hand_over(&workload.workload, found, |hint| guide.hint(hint), (style, out))?;
    }
    Ok(())
}

pub(super) fn warnings(plan: &Plan, style: &Style, out: Out<'_>) -> io::Result<()> {
    for workload in &plan.workloads {
        let name = words::workload(style, &workload.workload);
        for warning in &workload.warnings {
            let text = words::sentence(&style.show(&warning.sentence()));
            writeln!(out, "{} {name}: {text} ({})", style.paint(Meaning::Waiting, "Warning:"), warning.code())?;
            for line in warning.recipe(&workload.workload) {
                writeln!(out, "  {}", style.whole(&line))?;
            }
        }
    }
    Ok(())
}

fn workload(plan: &WorkloadPlan, guide: &Guide<'_>, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    if plan.verdict == Verdict::NotEligible {
        return refused(plan, guide, detail, style, out);
    }
    headline::text(plan, style, out)?;
    if matches!(plan.verdict, Verdict::InPlace | Verdict::InPlaceByController) || detail == Detail::Wide {
        containers::text(plan, detail, style, out)?;
    }
    if !plan.is_offline() {
        owner_steps(plan, guide.now, detail, style, out)?;
        restart(plan, style, out)?;
        containers::order_text(plan, style, out)?;
        pods::text(plan, detail, style, out)?;
    }
    match plan.verdict {
        Verdict::InPlace => {
            headline::promises(plan, style, out)?;
            refusal::missing_permissions(plan, guide, style, out)
        }
        Verdict::InPlaceByController | Verdict::NothingToDo | Verdict::NotEligible => Ok(()),
    }
}

/// Nothing in it may read like consent: what the change would be, and to which pods, is for those who ask for more.
fn refused(plan: &WorkloadPlan, guide: &Guide<'_>, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    refusal::text(plan, guide, style, out)?;
    if detail == Detail::Wide {
        containers::text(plan, detail, style, out)?;
        pods::text(plan, detail, style, out)?;
    }
    Ok(())
}

fn restart(plan: &WorkloadPlan, style: &Style, out: Out<'_>) -> io::Result<()> {
    if !plan.restarts_the_same || plan.verdict != Verdict::InPlace {
        return Ok(());
    }
    writeln!(out)?;
    if plan.is_by_request() {
        let asked = "kruise-daemon is asked to restart the containers, and the images stay as they are. Values from ConfigMaps, \
             Secrets and the downward API in the environment are read again.";
        return words::paragraph(asked, style, out);
    }
    words::paragraph(
        "The containers restart with the image digest that they run now. Values from ConfigMaps, Secrets and the downward \
         API in the environment are read again.",
        style,
        out,
    )?;
    if plan.workload.kind.has_template() {
        let template =
            "The template stays as it is: a new pod runs its tag, and a later rollout takes the pinned pods along.";
        words::paragraph(template, style, out)?;
    }
    Ok(())
}

fn owner_steps(plan: &WorkloadPlan, now: Option<&str>, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    let Some(durable) = plan.durable.as_ref().filter(|_| plan.verdict == Verdict::InPlace) else { return Ok(()) };
    preview::replaced(durable, now, style, out)?;
    if detail == Detail::Wide {
        writeln!(out, "\n  Steps:")?;
        for (index, step) in durable.steps(plan.workload.kind).iter().enumerate() {
            writeln!(out, "  {}. {}", index + 1, style.show(step))?;
        }
    }
    if durable.rollout.history == HistoryStep::Forget {
        writeln!(out, "\n  The outgoing template is not kept: revisionHistoryLimit is 0.")?;
    }
    Ok(())
}
