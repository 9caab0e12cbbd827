//! What a plan changes besides images: in place, and what that restarts.
//!
//! Promise: whatever the plan would write into a pod or a template is shown, by path, with its value before and after.

use serde::Serialize;

use engine::change::{FieldChanges, FieldEffect, Row};

use super::style::Style;

/// Longer values are cut: an annotation may hold a whole document.
const VALUE_CHARACTERS: usize = 60;

/// Returns a value as a table shows it: escaped, and short.
pub(super) fn value(value: Option<&str>, style: &Style) -> String {
    value.map_or_else(|| "<none>".into(), |value| short(&style.show(value)))
}

/// Returns `10m -> 30m`.
fn values(row: &Row, style: &Style) -> String {
    format!("{} -> {}", value(row.before.as_deref(), style), value(row.after.as_deref(), style))
}

/// Returns `side requests.cpu: 10m -> 30m` for each change.
pub(super) fn lines(change: &FieldChanges, style: &Style) -> Vec<String> {
    change.rows().iter().map(|row| format!("{}: {}", style.show(&row.what), values(row, style))).collect()
}

pub(super) fn effect(row: &Row, style: &Style) -> String {
    match &row.effect {
        FieldEffect::InPlace => "no restart".to_owned(),
        FieldEffect::LaterPods => "new pods only".to_owned(),
        FieldEffect::Restarts(container) => format!("{} restarts in place", style.show(container.as_str())),
    }
}

/// Returns what changes in a pod, in words short enough for its line: what is asked for as it was is no change. A pod that an
/// earlier run has asked for all of it has no other.
pub(super) fn names(change: &FieldChanges, style: &Style) -> Vec<String> {
    let rows = change.rows();
    let is_asked = rows.iter().all(|row| row.before == row.after);
    rows.iter().filter(|row| is_asked || row.before != row.after).map(|row| style.show(&row.what)).collect()
}

#[derive(Serialize)]
pub(super) struct FieldView {
    path: String,
    from: Option<String>,
    to: Option<String>,
    effect: &'static str,
}

pub(super) fn views(change: &FieldChanges) -> Vec<FieldView> {
    let view = |row: Row| FieldView {
        path: row.path,
        from: row.before,
        to: row.after,
        effect: match row.effect {
            FieldEffect::InPlace => "inPlace",
            FieldEffect::Restarts(_) => "restart",
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
    use engine::change::{MetadataChange, ValueChange};

    #[test]
    fn values_are_shown_escaped_and_short_and_a_pod_names_what_changes() {
        let mut change = MetadataChange::default();
        let value =
            |from: Option<&str>, to: &str| ValueChange { from: from.map(str::to_owned), to: Some(to.to_owned()) };
        change.labels.insert("tier".into(), value(None, "front"));
        change.annotations.insert("a/b".into(), value(Some("\u{1b}[2J"), &"x".repeat(80)));
        change.labels.insert("team".into(), value(Some("shop"), "shop"));
        let change = FieldChanges::from(change);
        let lines = lines(&change, &Style::PLAIN);
        assert_eq!(lines[1], "label tier: <none> -> front");
        assert_eq!(lines[2], format!("annotation a/b: ^[[2J -> {}...", "x".repeat(60)));
        assert_eq!(names(&change, &Style::PLAIN), ["label tier", "annotation a/b"]);
        let views = serde_json::to_value(views(&change)).unwrap();
        let first =
            serde_json::json!({"path": "metadata.labels.tier", "from": null, "to": "front", "effect": "inPlace"});
        assert_eq!(views[1], first);
    }
}
