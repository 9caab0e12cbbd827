//! YAML text to documents.

use std::cell::Cell;
use std::rc::Rc;

use serde::de::DeserializeSeed as _;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter as _, Options};

use super::error::{Format, ManifestError};
use super::list;
use super::locate::{At, Find};
use super::packed::Packer;
use super::snippet::{Snippet, escape, mentions_secret};
use super::source::{Position, Source};
use super::value::{Node, Reading, Reason};
use super::{MAX_DEPTH, MAX_INPUT_BYTES, MAX_REPEATED_BYTES, MAX_REPEATED_EVENTS};

/// Takes the objects of the documents that are not empty, each document on its own, so that errors have line numbers
/// and a bad document has no effect on how others are split. Splits where kubectl does: at lines that begin with `---`
/// (`YAMLReader` in `decoder.go` of apimachinery).
pub(super) fn documents(name: &str, text: &str, packer: &mut Packer) -> Result<(), ManifestError> {
    let input = Input { name, text, withheld: mentions_secret(text), kept: Rc::new(Cell::new(Kept::default())) };
    let reading = Reading::new(Format::Yaml, text.len());
    let mut document = Document { number: 1, first_line: 1, start: 0 };
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += line.len();
        let Some(after) = line.strip_prefix("---") else { continue };
        input.parse(&document, start, &reading, packer)?;
        let after = after.trim();
        if !after.is_empty() && !after.starts_with('#') {
            let message = "text after the document separator --- must be on a line of its own".to_owned();
            return Err(input.error(index + 1, Some(4), message));
        }
        // Text before a leading separator is no document.
        let number = if start == 0 { 1 } else { document.number + 1 };
        document = Document { number, first_line: index + 2, start: offset };
    }
    input.parse(&document, text.len(), &reading, packer)
}

/// The whole text of an input.
struct Input<'a> {
    name: &'a str,
    text: &'a str,
    /// Whether errors must not show it.
    withheld: bool,
    kept: Rc<Cell<Kept>>,
}

/// What the parser has kept for aliases in the documents so far. It counts this for one document, and a stream of many
/// such documents must be bounded too.
#[derive(Clone, Copy, Default)]
struct Kept {
    events: usize,
    bytes: usize,
}

/// Where a document begins.
struct Document {
    number: usize,
    first_line: usize,
    start: usize,
}

impl Input<'_> {
    fn parse(
        &self,
        document: &Document,
        end: usize,
        reading: &Reading,
        packer: &mut Packer,
    ) -> Result<(), ManifestError> {
        let text = self.text.get(document.start..end).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(blank) = text.lines().position(|line| !is_blank(line)) else { return Ok(()) };
        reading.begin(packer.wanted());
        let parsed = serde_saphyr::with_deserializer_from_str_with_options(text, self.options(), |deserializer| {
            Node::document(reading).deserialize(deserializer)
        });
        match parsed {
            Ok(value) if value.is_null() => Ok(()),
            Ok(value) => {
                let line = document.first_line + blank;
                let source = Source { name: self.name.into(), document: document.number, line };
                list::expand(value, reading.take_items(), &source, packer)?;
                for finding in packer.unlocated() {
                    let position = self.locate(document, text, &finding.way());
                    finding.locate(position, self.text, self.withheld);
                }
                Ok(())
            }
            Err(error) => Err(self.parser_error(document, &error, reading.take_reason().as_ref())),
        }
    }

    /// Finds the place of a field that the document has; `None` for one that a merge brought.
    fn locate(&self, document: &Document, text: &str, way: &[At]) -> Option<Position> {
        let found = Cell::new(false);
        let kept = self.kept.get();
        let parsed = serde_saphyr::with_deserializer_from_str_with_options(text, self.options(), |deserializer| {
            Find::new(way, &found).deserialize(deserializer)
        });
        self.kept.set(kept);
        let error = parsed.err().filter(|_| found.get())?;
        let location = error.location().filter(|location| location.line() > 0)?;
        let line = usize::try_from(location.line()).ok()?;
        let column = usize::try_from(location.column()).ok();
        Some(Position { name: self.name.to_owned(), line: document.first_line + line - 1, column })
    }

    /// The parser's settings. The bounds that [`Reading`] does not hold are set here; those that it holds are set beyond it,
    /// so that one message speaks of them.
    fn options(&self) -> Options {
        let kept = Rc::clone(&self.kept);
        let Kept { events, bytes } = kept.get();
        serde_saphyr::options! {
            legacy_octal_numbers: true,
            // Refused by `value.rs`, once they are strings: 1 and "1" are one key.
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
            // Merged by `value.rs`, in kubectl's order.
            merge_keys: MergeKeyPolicy::AsOrdinary,
            with_snippet: false,
            // Else 33 lines of comments in a row may be an error.
            emit_comments: false,
            budget: serde_saphyr::budget! {
                max_depth: MAX_DEPTH,
                flow_nesting_limit: MAX_DEPTH,
                // An event has a character of its own, or is a repeated one.
                max_events: 2 * MAX_INPUT_BYTES,
                max_nodes: 2 * MAX_INPUT_BYTES,
                max_total_scalar_bytes: 2 * (MAX_INPUT_BYTES + MAX_REPEATED_BYTES),
                max_aliases: MAX_REPEATED_EVENTS,
                max_anchors: MAX_REPEATED_EVENTS,
                // An anchored value is kept, once for every anchor around it.
                max_recorded_anchor_events: MAX_REPEATED_EVENTS.saturating_sub(events),
                max_recorded_anchor_bytes: MAX_REPEATED_BYTES.saturating_sub(bytes),
                // One anchor used a hundred times is fine: the repeated events are bounded.
                enforce_alias_anchor_ratio: false,
            },
            alias_limits: serde_saphyr::alias_limits! {
                max_total_replayed_events: MAX_REPEATED_EVENTS,
                max_replay_stack_depth: MAX_DEPTH,
            },
        }
        .with_budget_report(move |report| {
            kept.set(Kept {
                events: events.saturating_add(report.recorded_anchor_events),
                bytes: bytes.saturating_add(report.recorded_anchor_bytes),
            });
        })
    }

    fn parser_error(&self, document: &Document, error: &Error, reason: Option<&Reason>) -> ManifestError {
        let location = error.location().filter(|location| location.line() > 0);
        let line = location.and_then(|location| usize::try_from(location.line()).ok()).unwrap_or(1);
        let column = location.and_then(|location| usize::try_from(location.column()).ok());
        let message = match reason {
            Some(reason) => reason.describe(self.withheld),
            None => describe(error, self.withheld),
        };
        self.error(document.first_line + line - 1, column, message)
    }

    fn error(&self, line: usize, column: Option<usize>, message: String) -> ManifestError {
        let snippet = match column {
            Some(column) if !self.withheld => Snippet::new(self.text, line, column),
            Some(_) | None => Snippet::default(),
        };
        let position = Position { name: self.name.to_owned(), line, column };
        ManifestError::Syntax { position, format: Format::Yaml, message, snippet }
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Says the parser's error in this product's words where the parser's name its own settings. `withheld` keeps the input's
/// words out.
#[expect(clippy::wildcard_enum_match_arm, reason = "the YAML reader's errors, which it adds to")]
fn describe(error: &Error, withheld: bool) -> String {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => describe(error, withheld),
        Error::Budget { breach, .. } => describe_breach(breach),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            format!("aliases repeat more than {MAX_REPEATED_EVENTS} values")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => "an anchored value contains itself".to_owned(),
        Error::UnknownAnchor { .. } => "an alias names no anchor".to_owned(),
        Error::MultipleDocuments { .. } => {
            "more text after the end of the document; separate documents with --- (kubectl drops what follows)"
                .to_owned()
        }
        Error::NonFiniteFloat { .. } => Reason::Number.describe(withheld),
        Error::InvalidScalar { .. } | Error::TaggedScalarCannotDeserializeIntoString { .. } => {
            "the value does not fit its tag".to_owned()
        }
        _ => match DefaultMessageFormatter.format_message(error) {
            message if message == "recursion limit exceeded" => too_deep(),
            _ if withheld => "not valid here (the text is not shown, since the input holds a Secret)".to_owned(),
            message => escape(&message),
        },
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the YAML reader's limits, which it adds to")]
fn describe_breach(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => too_deep(),
        BudgetBreach::Events { .. } | BudgetBreach::Nodes { .. } => Reason::TooMuchMemory.describe(true),
        BudgetBreach::ScalarBytes { .. } | BudgetBreach::RecordedAnchorBytes { .. } => {
            Reason::TooMuchText.describe(true)
        }
        BudgetBreach::Aliases { .. } => format!("more than {MAX_REPEATED_EVENTS} aliases"),
        BudgetBreach::Anchors { .. } => format!("more than {MAX_REPEATED_EVENTS} anchors"),
        BudgetBreach::RecordedAnchorEvents { .. } => format!("more than {MAX_REPEATED_EVENTS} values in anchored ones"),
        _ => "too large or too complex".to_owned(),
    }
}

fn too_deep() -> String {
    format!("nested more than {MAX_DEPTH} deep")
}
