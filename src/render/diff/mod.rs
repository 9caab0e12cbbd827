//! A change of objects as a unified diff of YAML, each changed field marked with what it means for the pods.
//!
//! Promise: the text is a diff that tools read (`---`, `+++`, `@@`); marks are YAML comments at the end of changed
//! lines. Objects without a difference are not shown. Values are shown as `kubectl diff` shows them, in full. Read by any
//! YAML reader, the lines of an object are the object again: keys and values are written by serde-saphyr, so that text
//! which looks like a number or a boolean is quoted; the layout is kubectl's, list elements at the depth of their key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use anstyle::AnsiColor;
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use engine::plan::workload_diff::{Effect, Mark, WorkloadDiff, labels};
use engine::value::json_path::{element, join};

use super::Out;
use super::escape;
use super::style::{Meaning, Style};

pub fn yaml(object: &Value) -> String {
    Document::of(object, &Value::Null, &[]).into_iter().map(|line| line.text + "\n").collect()
}

/// Writes the differences, with `context` unchanged lines around each.
///
/// # Errors
/// The writer's.
pub fn diff(diffs: &[WorkloadDiff], context: usize, style: &Style, out: Out<'_>) -> io::Result<()> {
    for diff in diffs.iter().filter(|diff| !diff.is_empty()) {
        Unified::new(diff).write(diff, context, style, out)?;
    }
    Ok(())
}

#[derive(Debug, Clone)]
struct Line<'d> {
    text: String,
    /// The path of what its field is in: of the container, where it is one of a container.
    place: String,
    /// The marks of its field and of those above, the widest first.
    marks: Vec<&'d Mark>,
}

struct Document<'d> {
    marks: BTreeMap<&'d str, Vec<&'d Mark>>,
    above: Vec<&'d Mark>,
    lines: Vec<Line<'d>>,
}

impl<'d> Document<'d> {
    /// Writes an object; one that is not there has no lines. `other` is the one that it is compared with.
    fn of(object: &Value, other: &Value, marks: &'d [Mark]) -> Vec<Line<'d>> {
        let mut document = Self { marks: BTreeMap::new(), above: Vec::new(), lines: Vec::new() };
        for mark in marks {
            document.marks.entry(mark.field()).or_default().push(mark);
        }
        if !object.is_null() {
            document.value(object, other, 0, "");
        }
        document.lines
    }

    fn value(&mut self, value: &Value, other: &Value, indent: usize, path: &str) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, field) in fields {
                    let below = join(path, key);
                    let other = other.get(key).unwrap_or(&Value::Null);
                    self.below(&below, |document| document.field(key, field, other, indent, (path, &below)));
                }
            }
            Value::Array(list) if !list.is_empty() => {
                let others = labels(other, value).into_iter().zip(other.as_array().into_iter().flatten());
                let others: BTreeMap<String, &Value> = others.collect();
                for (one, label) in list.iter().zip(labels(value, other)) {
                    let below = element(path, &label);
                    let other = others.get(&label).copied().unwrap_or(&Value::Null);
                    self.below(&below, |document| document.element(one, other, indent, (path, &below)));
                }
            }
            Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
                self.written(value, indent, path);
            }
        }
    }

    fn below(&mut self, path: &str, write: impl FnOnce(&mut Self)) {
        let above = self.above.len();
        self.above.extend(self.marks.get(path).into_iter().flatten());
        write(self);
        self.above.truncate(above);
    }

    fn field(&mut self, key: &str, field: &Value, other: &Value, indent: usize, (place, path): (&str, &str)) {
        // The key as serde-saphyr quotes it, with a value that is removed again.
        let head = || text(&json!({ key: 0 })).trim_end().strip_suffix('0').unwrap_or_default().trim_end().to_owned();
        if is_nested(field) {
            self.push(format!("{:indent$}{}", "", head()), place);
            self.value(field, other, if field.is_array() { indent } else { indent + 2 }, path);
        } else if let Some(quoted) = quoted(field) {
            self.push(format!("{:indent$}{} {quoted}", "", head()), place);
        } else {
            self.written(&json!({ key: field }), indent, place);
        }
    }

    fn element(&mut self, element: &Value, other: &Value, indent: usize, (place, path): (&str, &str)) {
        if is_nested(element) {
            let first = self.lines.len();
            self.value(element, other, indent + 2, path);
            if let Some(line) = self.lines.get_mut(first) {
                let rest = line.text.get(indent + 2..).unwrap_or_default();
                line.text = format!("{:indent$}- {rest}", "");
            }
        } else if let Some(quoted) = quoted(element) {
            self.push(format!("{:indent$}- {quoted}", ""), place);
        } else {
            self.written(&json!([element]), indent, place);
        }
    }

    /// Writes what needs no layout.
    fn written(&mut self, value: &Value, indent: usize, place: &str) {
        for line in text(value).lines() {
            let indent = if line.is_empty() { 0 } else { indent };
            self.push(format!("{:indent$}{line}", ""), place);
        }
    }

    fn push(&mut self, text: String, place: &str) {
        self.lines.push(Line { text, place: place.to_owned(), marks: self.above.clone() });
    }
}

fn is_nested(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| !fields.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty())
}

/// Quotes text that must not reach a terminal unchanged.
fn quoted(value: &Value) -> Option<String> {
    escape::yaml(value.as_str()?)
}

/// Long text stays on its line: a break that the diff made itself would only hide what changed.
fn text(value: &Value) -> String {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    let mut text = String::new();
    if serde_saphyr::to_fmt_writer_with_options(&mut text, value, options).is_err() {
        // Every JSON value is valid YAML; only a key's place in the layout is lost.
        text.clear();
        let _ = write!(text, "{value}");
    }
    text
}

/// One object's two texts, what differs, and which line carries which mark.
struct Unified<'d> {
    before: Vec<Line<'d>>,
    after: Vec<Line<'d>>,
    operations: Vec<DiffOp>,
    /// By line, of what goes and of what comes.
    marked: [BTreeMap<usize, &'d Mark>; 2],
    /// Marks whose fields no line shows.
    unseen: Vec<&'d Mark>,
}

impl<'d> Unified<'d> {
    fn new(diff: &'d WorkloadDiff) -> Self {
        let before = Document::of(&diff.before, &diff.after, &diff.marks);
        let after = Document::of(&diff.after, &diff.before, &diff.marks);
        let texts = |lines: &[Line<'_>]| lines.iter().map(|line| line.text.clone()).collect::<Vec<String>>();
        let operations = capture_diff_slices(Algorithm::Myers, &texts(&before), &texts(&after));
        let mut unified = Self { before, after, operations, marked: Default::default(), unseen: Vec::new() };
        let marks = unified.place(&diff.marks);
        // A field that is left alone needs no line; an added or removed container is marked in both lists, and listed once.
        let seen: Vec<&Effect> = unified.marked.iter().flat_map(BTreeMap::values).map(|mark| &mark.effect).collect();
        let is_listed = |effect: &Effect| {
            matches!(effect, Effect::NotInPlace("ContainerAdded" | "ContainerRemoved")) && seen.contains(&effect)
        };
        let is_missed = |mark: &&&Mark| matches!(mark.effect, Effect::NotInPlace(_)) && !is_listed(&mark.effect);
        unified.unseen = marks.iter().filter(is_missed).copied().collect();
        unified
    }

    /// Puts each mark at the first new line of its field, else at the first old one. Returns those without either.
    fn place(&mut self, marks: &'d [Mark]) -> Vec<&'d Mark> {
        let mut unplaced: BTreeSet<&Mark> = marks.iter().collect();
        let ranges: [fn(&DiffOp) -> Range<usize>; 2] = [DiffOp::new_range, DiffOp::old_range];
        let [old, new] = &mut self.marked;
        for (lines, range, marked) in [(&self.after, ranges[0], new), (&self.before, ranges[1], old)] {
            let changed = self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
            for at in changed.flat_map(range) {
                let mut covering = lines.get(at).into_iter().flat_map(|line| &line.marks);
                if let Some(mark) = covering.find(|mark| unplaced.contains(*mark)) {
                    unplaced.remove(mark);
                    marked.insert(at, mark);
                }
            }
        }
        unplaced.into_iter().collect()
    }

    fn write(&self, diff: &WorkloadDiff, context: usize, style: &Style, out: Out<'_>) -> io::Result<()> {
        let name = style.whole(&diff.file_name());
        writeln!(out, "{}", style.paint(Meaning::Heading, &format!("--- LIVE/{name}")))?;
        writeln!(out, "{}", style.paint(Meaning::Heading, &format!("+++ MERGED/{name}")))?;
        let context = context.min(self.before.len() + self.after.len());
        for hunk in group_diff_ops(self.operations.clone(), context) {
            self.hunk(&hunk, style, out)?;
        }
        for mark in &self.unseen {
            let text = format!("# {}: {}", style.whole(&mark.path), style.whole(&mark.effect.words()));
            writeln!(out, "{}", style.paint(meaning(&mark.effect), &text))?;
        }
        Ok(())
    }

    fn hunk(&self, operations: &[DiffOp], style: &Style, out: Out<'_>) -> io::Result<()> {
        let (Some(first), Some(last)) = (operations.first(), operations.last()) else { return Ok(()) };
        let old = range(first.old_range().start, last.old_range().end);
        let new = range(first.new_range().start, last.new_range().end);
        let changed = operations.iter().find(|operation| operation.tag() != DiffTag::Equal);
        let line = changed.and_then(|operation| {
            let old = operation.old_range().next().and_then(|index| self.before.get(index));
            old.or_else(|| operation.new_range().next().and_then(|index| self.after.get(index)))
        });
        let place = style.whole(line.map_or("", |line| &line.place));
        writeln!(out, "{}", style.paint(Meaning::Quiet, format!("@@ -{old} +{new} @@ {place}").trim_end()))?;
        for operation in operations {
            if operation.tag() == DiffTag::Equal {
                for line in self.after.get(operation.new_range()).unwrap_or_default() {
                    writeln!(out, " {}", style.whole(&line.text))?;
                }
                continue;
            }
            let [goes, comes] = &self.marked;
            for (index, line) in operation.old_range().filter_map(|index| Some((index, self.before.get(index)?))) {
                changed_line(('-', AnsiColor::Red), &line.text, goes.get(&index), style, out)?;
            }
            for (index, line) in operation.new_range().filter_map(|index| Some((index, self.after.get(index)?))) {
                changed_line(('+', AnsiColor::Green), &line.text, comes.get(&index), style, out)?;
            }
        }
        Ok(())
    }
}

fn changed_line(
    (sign, color): (char, AnsiColor),
    text: &str,
    mark: Option<&&Mark>,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let text = style.whole(text);
    if style.color {
        // The colours that every diff has; what the change means is the mark's colour.
        let color = color.on_default();
        write!(out, "{color}{sign}{text}{color:#}")?;
    } else {
        write!(out, "{sign}{text}")?;
    }
    let comment = |mark: &&Mark| {
        let comment = format!("# {}", style.whole(&mark.effect.words()));
        format!("  {}", style.paint(meaning(&mark.effect), &comment))
    };
    writeln!(out, "{}", mark.map(comment).unwrap_or_default())
}

fn meaning(effect: &Effect) -> Meaning {
    match effect {
        Effect::Restarts(_) | Effect::SidecarRestarts(_) => Meaning::Ok,
        Effect::NoRestart | Effect::InitResized | Effect::NoEffectNow | Effect::LeftAlone | Effect::New => {
            Meaning::Waiting
        }
        Effect::NotInPlace(_) => Meaning::Failing,
    }
}

/// Lines from..to as diff writes them: `start,count`, the count left out where it is 1.
fn range(from: usize, to: usize) -> String {
    match to.saturating_sub(from) {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        count => format!("{},{count}", from + 1),
    }
}

#[cfg(test)]
mod tests;
