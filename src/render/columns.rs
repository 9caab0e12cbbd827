//! Cells that several tables have: the workload with its namespace, images, values of fields.

use super::Out;
use std::io;

use serde_json::{Value, json};

use super::style::{Meaning, Style};
use super::table::{self, Cells, Column};
use super::words;
use engine::change::{FieldChanges, FieldEffect, Row};
use engine::k8s::names::WorkloadRef;

const NONE: &str = "<none>";

pub(super) fn place(workload: &WorkloadRef, style: &Style) -> [String; 2] {
    let namespace = match workload.namespace.as_str() {
        "" => NONE.to_owned(),
        namespace => style.show(namespace),
    };
    [words::workload(style, workload), namespace]
}

/// Writes a table whose first two columns are workload and namespace: one column, where each column counts.
pub(super) fn placed_table(columns: &[Column], mut rows: Vec<Cells>, style: &Style, out: Out<'_>) -> io::Result<()> {
    if !table::is_narrow(style) {
        return table::write(columns, &rows, style, out);
    }
    for (_, cells) in &mut rows {
        let namespace = if cells.len() > 1 { cells.remove(1) } else { NONE.to_owned() };
        if let Some(name) = cells.first_mut().filter(|_| namespace != NONE) {
            *name = format!("{namespace}/{name}");
        }
    }
    let columns: Vec<Column> =
        columns.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, column)| *column).collect();
    table::write(&columns, &rows, style, out)
}

/// A shorter common beginning stays in the cells.
const LEAST_PREFIX: usize = 12;

/// Writes what the cells leave out; nothing where that is nothing.
pub(super) fn images_heading(folder: &str, style: &Style, out: Out<'_>) -> io::Result<()> {
    if folder.is_empty() {
        return Ok(());
    }
    let folder = style.show(folder.trim_end_matches('/'));
    writeln!(out, "  {}", style.paint(Meaning::Quiet, &format!("Images in {folder}")))
}

/// Returns a cell: the image without what they have in common.
pub(super) fn image_within(image: &str, folder: &str, style: &Style) -> String {
    style.whole(image.strip_prefix(folder).unwrap_or(image))
}

/// Returns what all images begin with, up to a slash; nothing where that is short.
pub(super) fn common_folder<'a>(mut images: impl Iterator<Item = &'a str>) -> &'a str {
    let Some(first) = images.next() else { return "" };
    let end = images.fold(first.len(), |end, image| {
        first.bytes().zip(image.bytes()).take(end).take_while(|(left, right)| left == right).count()
    });
    let slash = first.as_bytes().iter().take(end).rposition(|byte| *byte == b'/');
    let folder = slash.and_then(|slash| first.get(..=slash));
    folder.filter(|folder| folder.len() >= LEAST_PREFIX).unwrap_or_default()
}

/// Longer values are cut: an annotation may hold a whole document.
const VALUE_CHARACTERS: usize = 60;

/// Returns a value as a table shows it: escaped, and short.
pub(super) fn value(value: Option<&str>, style: &Style) -> String {
    value.map_or_else(|| "<none>".into(), |value| short(&style.show(value)))
}

fn values(row: &Row, style: &Style) -> String {
    format!("{} -> {}", value(row.before.as_deref(), style), value(row.after.as_deref(), style))
}

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

pub(super) fn fields(change: &FieldChanges) -> Value {
    let field = |row: &Row| {
        let effect = match row.effect {
            FieldEffect::InPlace => "inPlace",
            FieldEffect::Restarts(_) => "restart",
            FieldEffect::LaterPods => "laterPods",
        };
        json!({"path": row.path, "from": row.before, "to": row.after, "effect": effect})
    };
    change.rows().iter().map(field).collect()
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
    use engine::kinds::WorkloadKind;

    #[test]
    fn a_workload_never_goes_without_its_namespace() {
        const COLUMNS: [Column; 3] =
            [Column::name("WORKLOAD", 16), Column::name("NAMESPACE", 9), Column::whole("PODS")];
        let workload = |namespace: &str| WorkloadRef {
            kind: WorkloadKind::Deployment,
            namespace: namespace.into(),
            name: "web".into(),
        };
        for (width, namespace, shown) in [
            (80, "shop", "  deployment/web   shop        3"),
            (40, "shop", "  shop/deployment/web  3"),
            (40, "", "  deployment/web  3"),
        ] {
            let style = Style { width: Some(width), ..Style::PLAIN };
            let [name, namespace] = place(&workload(namespace), &style);
            let rows = vec![(Meaning::Plain, vec![name, namespace, "3".to_owned()])];
            let mut out = Vec::new();
            words::in_lines(&style, &mut out, |out| placed_table(&COLUMNS, rows, &style, out)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap().lines().nth(1), Some(shown), "{width}");
        }
    }
}

#[cfg(test)]
mod images_tests {
    use super::*;

    #[test]
    fn what_images_have_in_common_ends_with_a_slash() {
        let of = |images: &[&'static str]| common_folder(images.iter().copied());
        assert_eq!(of(&["registry.example/team/side:v1", "registry.example/team/side:v2"]), "registry.example/team/");
        assert_eq!(of(&["registry.example/team/side:v1", "registry.example/tea/app:v1"]), "registry.example/");
        assert_eq!(of(&["acme/side:v1", "acme/side:v2"]), "", "short");
        assert_eq!(of(&["registry.example/side:v1", "mirror.example/side:v1"]), "");
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["ä.example.com/ö/side:1", "ä.example.com/õ/side:1"]), "ä.example.com/", "within a character");
    }
}

#[cfg(test)]
mod fields_tests {
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
        let views = fields(&change);
        let first =
            serde_json::json!({"path": "metadata.labels.tier", "from": null, "to": "front", "effect": "inPlace"});
        assert_eq!(views[1], first);
    }
}
