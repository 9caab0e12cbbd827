//! What a plan changes besides images: in place, and without a restart.
//!
//! Promise: whatever the plan would write into a pod or a template is shown, by path, with its value before and after.

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::change::{FieldChanges, FieldEffect, Row};

use super::style::{Meaning, Style};

/// Longer values are cut: an annotation may hold a whole document.
const VALUE_CHARACTERS: usize = 60;

/// Writes what changes, a path a line; nothing where nothing does.
pub(super) fn text(rows: &[Row], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", style.paint(Meaning::Quiet, "without a restart"))?;
    for row in rows {
        writeln!(out, "    {}   {}{}", style.show(&row.path), values(row, style), suffix(row))?;
    }
    Ok(())
}

/// Returns `10m -> 30m`.
fn values(row: &Row, style: &Style) -> String {
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".into(), |v| short(&style.show(v)));
    format!("{} -> {}", value(&row.before), value(&row.after))
}

/// Returns `side requests.cpu: 10m -> 30m` for each change.
pub(super) fn lines(change: &FieldChanges, style: &Style) -> Vec<String> {
    change.rows().iter().map(|row| format!("{}: {}", style.show(&row.what), values(row, style))).collect()
}

/// What is said after the values, where they do not come into the pods that run.
pub(super) fn suffix(row: &Row) -> &'static str {
    match row.effect {
        FieldEffect::InPlace => "",
        FieldEffect::LaterPods => " (only in pods made later: those that run stay as they are)",
    }
}

/// Returns what changes in a pod, in words short enough for its line.
pub(super) fn names(change: &FieldChanges, style: &Style) -> Vec<String> {
    change.rows().iter().map(|row| style.show(&row.what)).collect()
}

/// One changed value, as the JSON document has it.
#[derive(Serialize)]
pub(super) struct FieldView {
    path: String,
    from: Option<String>,
    to: Option<String>,
    effect: &'static str,
}

/// Returns what changes, for the JSON document.
pub(super) fn views(change: &FieldChanges) -> Vec<FieldView> {
    let view = |row: Row| FieldView {
        path: row.path,
        from: row.before,
        to: row.after,
        effect: match row.effect {
            FieldEffect::InPlace => "inPlace",
            FieldEffect::LaterPods => "laterPods",
        },
    };
    change.rows().into_iter().map(view).collect()
}

fn short(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARACTERS) {
        Some((end, _)) => format!("{}...", value.get(..end).unwrap_or_default()),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::{MetadataChange, ValueChange};

    #[test]
    fn values_are_shown_escaped_and_short() {
        let mut change = MetadataChange::default();
        let value =
            |from: Option<&str>, to: &str| ValueChange { from: from.map(str::to_owned), to: Some(to.to_owned()) };
        change.labels.insert("tier".into(), value(None, "front"));
        change.annotations.insert("a/b".into(), value(Some("\u{1b}[2J"), &"x".repeat(80)));
        let change = FieldChanges::from(change);
        let mut rows = change.rows();
        rows.push(Row { path: "spec.x".into(), effect: FieldEffect::LaterPods, ..rows[0].clone() });
        let mut out = Vec::new();
        text(&rows, &Style::PLAIN, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("metadata.labels.tier   (none) -> front\n"), "{shown}");
        assert!(shown.contains(&format!("metadata.annotations[a/b]   ^[[2J -> {}...\n", "x".repeat(60))), "{shown}");
        assert!(shown.contains("spec.x   (none) -> front (only in pods made later"), "{shown}");
        assert_eq!(names(&change, &Style::PLAIN), ["label tier", "annotation a/b"]);
        let views = serde_json::to_value(views(&change)).unwrap();
        let first =
            serde_json::json!({"path": "metadata.labels.tier", "from": null, "to": "front", "effect": "inPlace"});
        assert_eq!(views[0], first);
    }
}
