//! The rows of the table of containers, whatever draws the table; the table as text; the order of containers within a pod,
//! and the user's own commands around each.
//!
//! Promise: a container whose update is on its way is never shown as unchanged.

use super::Out;
use std::io;

use super::Detail;
use super::columns;
use super::style::{Meaning, Style};
use super::table::{self, Column};
use engine::change::{FieldEffect, Row};
use engine::k8s::names::ContainerName;
use engine::k8s::pod::ContainerList;
use engine::plan::{ContainerPlan, Effect, PodVerdict, Verdict, WorkloadPlan};
use engine::state::hook::HookPhase;

pub(super) const HEADS: [&str; 4] = ["container", "from", "to", "effect"];

/// Shown for an image that is no longer known: pods in progress ask for the new one already.
pub(super) const NOT_KNOWN: &str = "(not known)";

const KEEPS: &str = "keeps running";
const STAYS_DOWN: &str = "unchanged, not running";

/// One container over all pods. Images are as they came, not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContainerRow<'a> {
    pub(super) container: &'a str,
    /// After the name: its list, if it is not among the containers.
    pub(super) list: &'static str,
    /// `None` where it is not known any more.
    pub(super) from: Option<&'a str>,
    /// `None` where it stays.
    pub(super) to: Option<&'a str>,
    pub(super) effect: &'static str,
}

impl ContainerRow<'_> {
    pub(super) fn is_unchanged(&self) -> bool {
        self.to.is_none() && [KEEPS, STAYS_DOWN].contains(&self.effect)
    }
}

pub(super) fn rows(plan: &WorkloadPlan) -> Vec<ContainerRow<'_>> {
    plan.containers.iter().map(|container| row(plan, container)).collect()
}

fn row<'a>(plan: &'a WorkloadPlan, container: &'a ContainerPlan) -> ContainerRow<'a> {
    let row = ContainerRow {
        container: container.container.as_str(),
        list: match container.list {
            ContainerList::Containers => "",
            ContainerList::InitContainers => " (init)",
        },
        from: Some(&container.from),
        to: container.to.as_deref(),
        effect: match (container.effect, container.restarts()) {
            (Effect::Unchanged | Effect::Restart, 0) if container.is_down => STAYS_DOWN,
            (Effect::Unchanged | Effect::Restart, 0) => KEEPS,
            (Effect::Unchanged | Effect::Restart, 1) => "restarts in place",
            (Effect::Unchanged | Effect::Restart, _) => "restarts in place, twice",
            (Effect::NoEffectNow, _) => "used when the pod is next created",
            (Effect::LaterPods, _) => "new pods only",
        },
    };
    if container.effect != Effect::Unchanged || container.resize_restarts {
        return row;
    }
    let on_the_way = plan.pods.iter().filter(|pod| pod.verdict == PodVerdict::InProgress);
    let Some(change) = on_the_way.filter_map(|pod| pod.changes.get(&container.container)).next() else { return row };
    let from = Some(change.from.as_str()).filter(|from| *from != change.to);
    ContainerRow { from, to: Some(&change.to), effect: "in progress", ..row }
}

const COLUMNS: [Column; 4] =
    [Column::short("CHANGE", 12), Column::short("FROM", 10), Column::short("TO", 10), Column::whole("EFFECT").goes(1)];

pub(super) fn text(plan: &WorkloadPlan, detail: Detail, style: &Style, out: Out<'_>) -> io::Result<()> {
    let is_shown = |row: &ContainerRow<'_>| detail == Detail::Wide || !row.is_unchanged();
    let images: Vec<ContainerRow<'_>> = rows(plan).into_iter().filter(is_shown).collect();
    let prefix = columns::common_folder(images.iter().flat_map(|row| [row.from, row.to]).flatten());
    let fields = plan.fields.rows();
    if images.is_empty() && fields.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    columns::images_heading(prefix, style, out)?;
    let cell = |image: Option<&str>, none: &str| {
        image.map_or_else(|| none.to_owned(), |image| columns::image_within(image, prefix, style))
    };
    let mut rows: Vec<(Meaning, Vec<String>)> = Vec::new();
    for row in &images {
        let name = format!("{}{}", style.show(row.container), row.list);
        let (from, to) = (cell(row.from, NOT_KNOWN), cell(row.to, "(unchanged)"));
        let meaning = if row.is_unchanged() { Meaning::Quiet } else { Meaning::Plain };
        rows.push((meaning, vec![name, from, to, row.effect.into()]));
    }
    rows.extend(in_groups(&fields).map(|row| (Meaning::Plain, field(row, detail, style))));
    table::write_in(detail, &COLUMNS, &rows, style, out)
}

fn field(row: &Row, detail: Detail, style: &Style) -> Vec<String> {
    let name = match detail {
        Detail::Short => &row.what,
        Detail::Wide => &row.path,
    };
    vec![
        style.show(name),
        columns::value(row.before.as_deref(), style),
        columns::value(row.after.as_deref(), style),
        columns::effect(row, style),
    ]
}

/// What restarts nothing first.
fn in_groups(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let restarts = |row: &&Row| matches!(row.effect, FieldEffect::Restarts(_));
    rows.iter().filter(move |row| !restarts(row)).chain(rows.iter().filter(restarts))
}

pub(super) fn order_text(plan: &WorkloadPlan, style: &Style, out: Out<'_>) -> io::Result<()> {
    for (index, line) in order_lines(plan).iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        writeln!(out, "{gap}  {}", style.show(line))?;
    }
    Ok(())
}

/// Returns the sentences; none of a plan that is not carried out.
pub(super) fn order_lines(plan: &WorkloadPlan) -> Vec<String> {
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
        .filter(|container| container.to.is_some() || container.effect == Effect::Restart)
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
