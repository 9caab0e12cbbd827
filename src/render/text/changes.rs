//! The table of what a plan changes: images, and other fields of the template.
//!
//! Promise: whatever the plan would write into a pod or a template has a row, with its value before and after.

use std::io::{self, Write};

use crate::render::style::{Meaning, Style};
use crate::render::table::{self, Column};
use crate::render::wide::Detail;
use crate::render::{containers, fields, images};
use engine::change::{FieldEffect, Row};
use engine::plan::WorkloadPlan;

const COLUMNS: [Column; 4] =
    [Column::short("CHANGE", 12), Column::short("FROM", 10), Column::short("TO", 10), Column::whole("EFFECT").goes(1)];

/// Writes the table; nothing where nothing changes.
pub(super) fn text(plan: &WorkloadPlan, detail: Detail, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let is_shown = |row: &containers::Row<'_>| detail == Detail::Wide || !row.is_unchanged();
    let images: Vec<containers::Row<'_>> = containers::rows(plan).into_iter().filter(is_shown).collect();
    let prefix = images::common_folder(images.iter().flat_map(|row| [row.from, row.to]).flatten());
    let fields = plan.fields.rows();
    if images.is_empty() && fields.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    images::heading(prefix, style, out)?;
    let cell = |image: Option<&str>, none: &str| {
        image.map_or_else(|| none.to_owned(), |image| images::within(image, prefix, style))
    };
    let mut rows: Vec<(Meaning, Vec<String>)> = Vec::new();
    for row in &images {
        let name = format!("{}{}", style.show(row.container), row.list);
        let (from, to) = (cell(row.from, containers::NOT_KNOWN), cell(row.to, "(unchanged)"));
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
        fields::value(row.before.as_deref(), style),
        fields::value(row.after.as_deref(), style),
        fields::effect(row, style),
    ]
}

/// What restarts nothing first.
fn in_groups(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let restarts = |row: &&Row| matches!(row.effect, FieldEffect::Restarts(_));
    rows.iter().filter(move |row| !restarts(row)).chain(rows.iter().filter(restarts))
}
