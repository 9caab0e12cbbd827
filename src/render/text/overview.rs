//! Many workloads: one table of them all, before the details of those that need some.

use std::io;

use super::super::style::{Meaning, Style};
use super::super::table::Column;
use super::super::{Out, columns, offline, words};
use super::{headline, pods};
use engine::change::reason::Warning;
use engine::plan::{Plan, Verdict, WorkloadPlan};
use engine::value::image::display_short;

const NAMED_WORKLOADS: usize = 4;

const LIVE: [Column; 6] = [
    Column::name("WORKLOAD", 16),
    Column::name("NAMESPACE", 9),
    Column::whole("PODS"),
    Column::whole("VERDICT"),
    Column::whole("TIME").goes(0),
    Column::short("CHANGES", 12).goes(2),
];

const OFFLINE: [Column; 4] = [
    Column::name("WORKLOAD", 16),
    Column::name("NAMESPACE", 9),
    Column::whole("VERDICT"),
    Column::short("CHANGES", 12).goes(1),
];

pub(super) fn table(plan: &Plan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let is_offline = plan.workloads.iter().all(WorkloadPlan::is_offline);
    let row = |workload: &WorkloadPlan| {
        let (meaning, verdict) = verdict(workload);
        let [name, namespace] = columns::place(&workload.workload, style);
        let changes = match workload.verdict {
            Verdict::InPlace | Verdict::InPlaceByController => changes(workload, style),
            Verdict::NothingToDo | Verdict::NotEligible => "<none>".to_owned(),
        };
        if is_offline {
            return (meaning, vec![name, namespace, verdict.into(), changes]);
        }
        let time = match workload.verdict {
            Verdict::InPlace => headline::time(workload),
            Verdict::InPlaceByController | Verdict::NothingToDo | Verdict::NotEligible => "-".to_owned(),
        };
        let pods = if words::pods_not_listed(workload) { "-".into() } else { workload.pods.len().to_string() };
        (meaning, vec![name, namespace, pods, verdict.into(), time, changes])
    };
    let rows: Vec<(Meaning, Vec<String>)> = plan.workloads.iter().map(row).collect();
    columns::placed_table(if is_offline { &OFFLINE } else { &LIVE }, rows, style, out)?;
    let none = plan.workloads.iter().filter(|workload| workload.restarts_all_ready());
    let none: Vec<String> = none.map(|workload| words::workload(style, &workload.workload)).collect();
    if none.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let text =
        format!("No other pod serves while these restart: {}.", words::first_of(none.into_iter(), NAMED_WORKLOADS));
    words::paragraph(&text, style, out)
}

fn verdict(plan: &WorkloadPlan) -> (Meaning, &'static str) {
    let has = |warning: &Warning| plan.warnings.contains(warning);
    match plan.verdict {
        Verdict::InPlace => (Meaning::Waiting, "in place"),
        Verdict::InPlaceByController => (Meaning::Waiting, "by its controller"),
        Verdict::NothingToDo if has(&Warning::WorkloadAdded) => (Meaning::Quiet, "new"),
        Verdict::NothingToDo if has(&Warning::WorkloadRemoved) => (Meaning::Quiet, "removed"),
        Verdict::NothingToDo => (Meaning::Ok, "up to date"),
        Verdict::NotEligible => (Meaning::Failing, "NOT in place"),
    }
}

fn changes(plan: &WorkloadPlan, style: &Style) -> String {
    let images = plan.containers.iter().filter_map(|container| {
        let pair = display_short(&container.from, container.to.as_deref()?);
        Some(words::version_change(style, &container.container, &pair))
    });
    images.chain(columns::lines(&plan.fields, style)).collect::<Vec<_>>().join(", ")
}

/// Whether there is more to say of a workload that can be updated than its row does.
pub(super) fn differs(plan: &WorkloadPlan, style: &Style) -> bool {
    plan.verdict == Verdict::InPlace
        && (pods::differ(plan, style) || plan.durable.as_ref().is_some_and(|durable| durable.takes_over.is_some()))
}

/// Writes what is done to each pod before it is updated, once for all workloads whose row is all there is of them.
pub(super) fn before_each(plan: &Plan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let rows = plan.workloads.iter().filter(|one| one.verdict == Verdict::InPlace && !differs(one, style));
    let rows: Vec<&WorkloadPlan> = rows.collect();
    let before = rows.iter().filter_map(|workload| Some((workload, pods::before_each(workload, style)?)));
    let reported = words::said_once(before);
    for (index, (text, workloads)) in reported.iter().enumerate() {
        let names = workloads.iter().map(|workload| words::workload(style, &workload.workload));
        let of = if workloads.len() == rows.len() {
            String::new()
        } else {
            format!(" of {}", words::first_of(names, NAMED_WORKLOADS))
        };
        if index == 0 {
            writeln!(out)?;
        }
        words::paragraph(&format!("Each pod{of}: {text}"), style, out)?;
    }
    Ok(())
}

pub(super) fn total(plan: &Plan, style: &Style, out: Out<'_>) -> io::Result<()> {
    let has = |verdict| plan.workloads.iter().any(|workload| workload.verdict == verdict);
    let is_offline = plan.workloads.iter().all(WorkloadPlan::is_offline);
    let end = match has(Verdict::NotEligible) {
        _ if is_offline => ".",
        true if !has(Verdict::InPlace) => ".",
        false => " (updated in the order shown).",
        true => ". Nothing is changed while one is not eligible.",
    };
    let workloads = words::count(plan.workloads.len(), "workload");
    writeln!(out)?;
    writeln!(out, "Total: {workloads}: {}{end}", offline::totals(plan))?;
    let unasked = plan
        .workloads
        .iter()
        .filter(|workload| {
            workload.verdict == Verdict::InPlace && !workload.is_offline() && !workload.checked_by_server
        })
        .count();
    if unasked > 0 {
        let text = format!("Not validated by the server: {}.", words::count(unasked, "workload"));
        writeln!(out, "{}", style.paint(Meaning::Waiting, &text))?;
    }
    Ok(())
}
