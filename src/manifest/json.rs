//! JSON text, one object after another, to documents.

use std::cell::Cell;

use serde::de::{DeserializeSeed as _, IgnoredAny};

use super::error::{Format, ManifestError};
use super::locate::{At, Find};
use super::packed::Packer;
use super::snippet::{Snippet, mentions_secret};
use super::source::{Position, Source};
use super::value::{Node, Reading};
use super::{MAX_DEPTH, list};

/// Takes the objects of concatenated JSON values, as kubectl does with text that begins with `{`; `null` is skipped.
/// YAML after JSON is an error, as in kubectl.
pub(super) fn documents(name: &str, text: &str, packer: &mut Packer) -> Result<(), ManifestError> {
    let input = Input { name, text, withheld: mentions_secret(text) };
    let reading = Reading::new(Format::Json, text.len());
    let mut line = Lines { text, offset: 0, line: 1 };
    let mut number = 0;
    // The first pass finds where each value ends, the second reads it: serde_json's stream takes no seed.
    let mut extents = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut start = 0;
    while let Some(extent) = extents.next() {
        extent.map_err(|error| input.stream_error(start, &error))?;
        let end = extents.byte_offset();
        let range = start..end;
        let value = text.get(range.clone()).unwrap_or_default();
        let first_line = line.at(start + (value.len() - value.trim_start().len()));
        start = end;
        number += 1;
        let mut deserializer = serde_json::Deserializer::from_str(value.trim_start());
        reading.begin(packer.wanted());
        let value = Node::document(&reading).deserialize(&mut deserializer).map_err(|error| {
            let message = reading.take_reason().map(|reason| reason.describe(input.withheld));
            input.error(first_line, &error, message)
        })?;
        if !value.is_null() {
            let source = Source { name: name.into(), document: number, line: first_line };
            list::expand(value, reading.take_items(), &source, packer)?;
            for finding in packer.unlocated() {
                let position = input.locate(first_line, text.get(range.clone()).unwrap_or_default(), &finding.way());
                finding.locate(position, text, input.withheld);
            }
        }
    }
    Ok(())
}

/// Tells the lines of growing offsets in one pass.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> usize {
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

struct Input<'a> {
    name: &'a str,
    text: &'a str,
    /// Whether errors must not show it.
    withheld: bool,
}

impl Input<'_> {
    fn stream_error(&self, start: usize, error: &serde_json::Error) -> ManifestError {
        let separator = self.text.get(start..).is_some_and(|rest| rest.trim_start().starts_with("---"));
        let message = (start > 0 && separator)
            .then(|| "YAML after JSON; begin the input with --- to have all of it read as YAML".to_owned());
        self.error(1, error, message)
    }

    /// Finds the place of a field in a value that begins at this line.
    fn locate(&self, first_line: usize, value: &str, way: &[At]) -> Option<Position> {
        let found = Cell::new(false);
        let mut deserializer = serde_json::Deserializer::from_str(value.trim_start());
        let error = Find::new(way, &found).deserialize(&mut deserializer).err().filter(|_| found.get())?;
        let line = first_line + error.line().max(1) - 1;
        let column = Some(self.column(line, error.column()));
        Some(Position { name: self.name.to_owned(), line, column })
    }

    /// Says serde_json's error, whose line counts from `first_line` and whose column counts bytes.
    fn error(&self, first_line: usize, error: &serde_json::Error, message: Option<String>) -> ManifestError {
        let line = first_line + error.line().max(1) - 1;
        // serde_json's messages name no part of the input, but end with its own idea of the position.
        let message = message.unwrap_or_else(|| {
            let message = error.to_string();
            match message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head) {
                "recursion limit exceeded" => format!("nested more than {MAX_DEPTH} deep"),
                head => head.to_owned(),
            }
        });
        let column = self.column(line, error.column());
        let snippet = if self.withheld { Snippet::default() } else { Snippet::new(self.text, line, column) };
        let position = Position { name: self.name.to_owned(), line, column: Some(column) };
        ManifestError::Syntax { position, format: Format::Json, message, snippet }
    }

    fn column(&self, line: usize, bytes: usize) -> usize {
        let content = self.text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
        content.char_indices().take_while(|(offset, _)| *offset < bytes).count().max(1)
    }
}
