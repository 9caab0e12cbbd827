//! Labels and annotations that a plan changes in the pods: in place, and without a restart.
//!
//! Promise: whatever the plan would write into a pod's metadata is shown, by path, with its value before and after.

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::metadata::{MetadataChange, MetadataMap};

use super::style::{Meaning, Style};

/// Longer values are cut: an annotation may hold a whole document.
const VALUE_CHARACTERS: usize = 60;

/// Writes what changes, a path a line; nothing where nothing does.
pub(super) fn text(change: &MetadataChange, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if change.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", style.paint(Meaning::Quiet, "labels and annotations, without a restart"))?;
    for (map, key, value) in change.iter() {
        let value_of =
            |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".into(), |v| short(&style.show(v)));
        let path = style.show(&map.path(key));
        writeln!(out, "    {path}   {} -> {}", value_of(&value.from), value_of(&value.to))?;
    }
    Ok(())
}

/// Returns what changes in a pod, in words short enough for its line.
pub(super) fn keys(change: &MetadataChange, style: &Style) -> Vec<String> {
    let word = |map| match map {
        MetadataMap::Labels => "label",
        MetadataMap::Annotations => "annotation",
    };
    change.iter().map(|(map, key, _)| format!("{} {}", word(map), style.show(key))).collect()
}

/// One changed value, as the JSON document has it.
#[derive(Serialize)]
pub(super) struct ValueView<'a> {
    path: String,
    from: Option<&'a str>,
    to: Option<&'a str>,
}

/// Returns what changes, for the JSON document.
pub(super) fn views(change: &MetadataChange) -> Vec<ValueView<'_>> {
    change
        .iter()
        .map(|(map, key, value)| ValueView {
            path: map.path(key),
            from: value.from.as_deref(),
            to: value.to.as_deref(),
        })
        .collect()
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
    use crate::engine::metadata::ValueChange;

    #[test]
    fn values_are_shown_escaped_and_short() {
        let mut change = MetadataChange::default();
        let value =
            |from: Option<&str>, to: &str| ValueChange { from: from.map(str::to_owned), to: Some(to.to_owned()) };
        change.labels.insert("tier".into(), value(None, "front"));
        change.annotations.insert("a/b".into(), value(Some("\u{1b}[2J"), &"x".repeat(80)));
        let mut out = Vec::new();
        text(&change, &Style::PLAIN, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("metadata.labels.tier   (none) -> front\n"), "{shown}");
        assert!(shown.contains(&format!("metadata.annotations[a/b]   ^[[2J -> {}...\n", "x".repeat(60))), "{shown}");
        assert_eq!(keys(&change, &Style::PLAIN), ["label tier", "annotation a/b"]);
        let views = serde_json::to_value(views(&change)).unwrap();
        assert_eq!(views[0], serde_json::json!({"path": "metadata.labels.tier", "from": null, "to": "front"}));
    }
}
