//! A change of objects as a unified diff of YAML, each changed field marked with what it means for the pods.
//!
//! Promise: the text is a diff that tools read (`---`, `+++`, `@@`); marks are YAML comments at the end of changed
//! lines. Objects without a difference are not shown. Values are shown as `kubectl diff` shows them, in full.

mod document;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

use anstyle::AnsiColor;
use serde_json::Value;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use engine::plan::workload_diff::{Effect, Mark, MarkIndex, Step, WorkloadDiff};

use super::style::{Meaning, Style};
use document::Line;

/// Returns an object as YAML text, in the order of its keys.
pub fn yaml(object: &Value) -> String {
    document::lines(object).into_iter().map(|line| line.text + "\n").collect()
}

/// Writes the differences, with `context` unchanged lines around each.
pub fn diff(diffs: &[WorkloadDiff], context: usize, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for diff in diffs.iter().filter(|diff| !diff.is_empty()) {
        Unified::new(diff).write(diff, context, style, out)?;
    }
    Ok(())
}

/// One object's two texts, what differs, and which line carries which mark.
struct Unified<'d> {
    before: Vec<Line>,
    after: Vec<Line>,
    operations: Vec<DiffOp>,
    /// By line, of what goes and of what comes.
    marked: [BTreeMap<usize, &'d Mark>; 2],
    unseen: Vec<&'d Mark>,
}

impl<'d> Unified<'d> {
    fn new(diff: &'d WorkloadDiff) -> Self {
        let (before, after) = (document::lines(&diff.before), document::lines(&diff.after));
        let texts = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<String>>();
        let operations = capture_diff_slices(Algorithm::Myers, &texts(&before), &texts(&after));
        let mut unified = Self { before, after, operations, marked: Default::default(), unseen: Vec::new() };
        let marks = unified.place(&diff.marks);
        // A field that is left alone needs no line; a container that is added or removed is marked in both lists, and
        // listed once.
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
        let index = MarkIndex::new(marks);
        let mut unplaced: BTreeSet<&Mark> = marks.iter().collect();
        let ranges: [fn(&DiffOp) -> Range<usize>; 2] = [DiffOp::new_range, DiffOp::old_range];
        let [old, new] = &mut self.marked;
        for (lines, range, marked) in [(&self.after, ranges[0], new), (&self.before, ranges[1], old)] {
            let changed = self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
            for at in changed.flat_map(range) {
                let covering = lines.get(at).map(|line| index.covering(&line.path)).unwrap_or_default();
                if let Some(mark) = covering.into_iter().find(|mark| unplaced.contains(mark)) {
                    unplaced.remove(mark);
                    marked.insert(at, mark);
                }
            }
        }
        unplaced.into_iter().collect()
    }

    fn write(&self, diff: &WorkloadDiff, context: usize, style: &Style, out: &mut dyn Write) -> io::Result<()> {
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

    fn hunk(&self, operations: &[DiffOp], style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let (Some(first), Some(last)) = (operations.first(), operations.last()) else { return Ok(()) };
        let old = range(first.old_range().start, last.old_range().end);
        let new = range(first.new_range().start, last.new_range().end);
        let place = style.whole(&self.place_of(operations));
        writeln!(out, "{}", style.paint(Meaning::Quiet, format!("@@ -{old} +{new} @@ {place}").trim_end()))?;
        for operation in operations {
            if operation.tag() == DiffTag::Equal {
                for line in self.after.get(operation.new_range()).unwrap_or_default() {
                    writeln!(out, " {}", style.whole(&line.text))?;
                }
                continue;
            }
            let [goes, comes] = &self.marked;
            for index in operation.old_range() {
                changed(('-', AnsiColor::Red), self.before.get(index), goes.get(&index), style, out)?;
            }
            for index in operation.new_range() {
                changed(('+', AnsiColor::Green), self.after.get(index), comes.get(&index), style, out)?;
            }
        }
        Ok(())
    }

    /// Returns what the first changed line is in: the container, where it is one of a container.
    fn place_of(&self, operations: &[DiffOp]) -> String {
        let first = operations.iter().find(|operation| operation.tag() != DiffTag::Equal);
        let line = first.and_then(|operation| {
            let old = operation.old_range().next().and_then(|index| self.before.get(index));
            old.or_else(|| operation.new_range().next().and_then(|index| self.after.get(index)))
        });
        let path = line.map(|line| line.path.as_slice()).unwrap_or_default();
        let (_, parents) = path.split_last().unwrap_or((&Step::Key(String::new()), &[]));
        parents.iter().fold(String::new(), |path, step| match step {
            Step::Key(key) if path.is_empty() => key.clone(),
            Step::Key(key) => format!("{path}.{key}"),
            Step::Element(labels) => format!("{path}[{}]", labels.first().map_or("", String::as_str)),
        })
    }
}

fn changed(
    (sign, color): (char, AnsiColor),
    line: Option<&Line>,
    mark: Option<&&Mark>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(line) = line else { return Ok(()) };
    let text = style.whole(&line.text);
    if style.color {
        // The colours that every diff has; what the change means is the mark's colour.
        let color = color.on_default();
        write!(out, "{color}{sign}{text}{color:#}")?;
    } else {
        write!(out, "{sign}{text}")?;
    }
    match mark {
        Some(mark) => {
            let comment = format!("# {}", style.whole(&mark.effect.words()));
            writeln!(out, "  {}", style.paint(meaning(&mark.effect), &comment))
        }
        None => writeln!(out),
    }
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
