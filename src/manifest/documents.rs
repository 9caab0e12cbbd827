//! Bytes to the documents in them, within the parser's budget.

use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, MessageFormatter as _, Options, UserMessageFormatter};

use super::value::{JsonValue, YamlValue};
use super::{MAX_FILE_BYTES, ManifestError};
use engine::value::encoding::decode;

/// Bounds the nesting: what `serde_json` allows, twice what large custom resource definitions need.
const MAX_DEPTH: usize = 128;

/// Bounds the values of one YAML document: ten times what the largest bundles of custom resource definitions have.
const MAX_VALUES: usize = 1_000_000;

/// Bounds the values that anchors keep and aliases repeat in one YAML document, which could grow by aliases of aliases.
const MAX_REPEATED: usize = 100_000;

const WITHHELD: &str = "not valid here (the text is not shown, since the input holds a Secret)";

/// Returns the documents that are not empty, with the first line of each that holds more than a comment.
pub(super) fn read(name: &str, bytes: Vec<u8>) -> Result<Vec<(usize, Value)>, ManifestError> {
    let text = decode(bytes).map_err(|message| ManifestError::at(name, message))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let input = Input { name, text, has_secret: mentions_secret(text) };
    let mut documents = if text.trim_start().starts_with('{') { input.json() } else { input.yaml() }?;
    documents.retain(|(_, value)| !value.is_null());
    Ok(documents)
}

/// Whether the text may hold a Secret: whether the kind's name occurs in it as a word.
fn mentions_secret(text: &str) -> bool {
    text.match_indices("Secret").any(|(start, word)| {
        let before = text.get(..start).and_then(|head| head.chars().next_back());
        let after = text.get(start + word.len()..).unwrap_or_default();
        let after = after.strip_prefix("List").unwrap_or(after).chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

struct Input<'a> {
    name: &'a str,
    text: &'a str,
    has_secret: bool,
}

impl Input<'_> {
    /// Reads concatenated JSON values, as kubectl does with text that begins with `{`: YAML after it is an error.
    fn json(&self) -> Result<Vec<(usize, Value)>, ManifestError> {
        let mut values = serde_json::Deserializer::from_str(self.text).into_iter::<JsonValue>();
        let mut documents = Vec::new();
        let (mut line, mut counted) = (1, 0);
        loop {
            let rest = self.text.get(values.byte_offset()..).unwrap_or_default();
            let start = self.text.len() - rest.trim_start().len();
            line += self.text.get(counted..start).unwrap_or_default().matches('\n').count();
            counted = start;
            match values.next() {
                None => return Ok(documents),
                Some(Ok(value)) => documents.push((line, value.0)),
                Some(Err(error)) => {
                    let is_yaml = !documents.is_empty() && rest.trim_start().starts_with("---");
                    return Err(self.json_error(&error, is_yaml));
                }
            }
        }
    }

    fn json_error(&self, error: &serde_json::Error, is_yaml: bool) -> ManifestError {
        // serde_json's own messages name no part of the input, but end with the position.
        let message = error.to_string();
        let message = match message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head) {
            _ if is_yaml => "YAML after JSON; begin the input with --- to have all of it read as YAML",
            "recursion limit exceeded" => &too_deep(),
            _ if self.has_secret && error.is_data() => WITHHELD,
            head => head,
        };
        let place = format!("{}:{}:{}", self.name, error.line(), error.column().max(1));
        ManifestError::at(place, format_args!("JSON: {message}"))
    }

    /// Reads each document on its own, so that a bad one has no effect on how others are split. Splits where kubectl does: at
    /// lines that begin with `---` (`YAMLReader` in `decoder.go` of apimachinery).
    fn yaml(&self) -> Result<Vec<(usize, Value)>, ManifestError> {
        self.require_printable()?;
        let mut documents = Vec::new();
        let (mut first_line, mut start, mut offset) = (1, 0, 0);
        for (index, line) in self.text.split_inclusive('\n').enumerate() {
            let end = offset;
            offset += line.len();
            let Some(after) = line.strip_prefix("---") else { continue };
            documents.extend(self.yaml_document(first_line, self.text.get(start..end).unwrap_or_default())?);
            let after = after.trim();
            if !after.is_empty() && !after.starts_with('#') {
                let message = "text after the document separator --- must be on a line of its own";
                return Err(self.yaml_error(index + 1, Some(4), message));
            }
            (first_line, start) = (index + 2, offset);
        }
        documents.extend(self.yaml_document(first_line, self.text.get(start..).unwrap_or_default())?);
        Ok(documents)
    }

    fn yaml_document(&self, first_line: usize, text: &str) -> Result<Option<(usize, Value)>, ManifestError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_blank = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        let Some(blank) = text.lines().position(|line| !is_blank(line)) else { return Ok(None) };
        match serde_saphyr::from_str_with_options::<YamlValue>(text, options()) {
            Ok(value) => Ok(Some((first_line + blank, value.0))),
            Err(error) => {
                let location = error.location().filter(|location| location.line() > 0);
                let line = location.and_then(|location| usize::try_from(location.line()).ok()).unwrap_or(1);
                let column = location.and_then(|location| usize::try_from(location.column()).ok());
                Err(self.yaml_error(first_line + line - 1, column, &describe(&error, self.has_secret)))
            }
        }
    }

    fn yaml_error(&self, line: usize, column: Option<usize>, message: &str) -> ManifestError {
        let column = column.map(|column| format!(":{column}")).unwrap_or_default();
        ManifestError::at(format_args!("{}:{line}{column}", self.name), format_args!("YAML: {message}"))
    }

    /// Refuses what kubectl's YAML library does not read (`is_printable` of its `yamlprivateh.go`: control characters,
    /// U+FFFE, U+FFFF), and U+0085, U+2028 and U+2029, which end a line in YAML 1.1 alone.
    fn require_printable(&self) -> Result<(), ManifestError> {
        let refused = |character: char| {
            matches!(character,
                '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
                | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
        };
        let Some((offset, character)) = self.text.char_indices().find(|(_, character)| refused(*character)) else {
            return Ok(());
        };
        let line = self.text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
        let message = format!("character U+{:04X} must be escaped in YAML", u32::from(character));
        Err(self.yaml_error(line, None, &message))
    }
}

fn options() -> Options {
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
            max_nodes: MAX_VALUES,
            // A collection has two, and so has an alias.
            max_events: 3 * MAX_VALUES,
            max_total_scalar_bytes: 2 * MAX_FILE_BYTES,
            max_aliases: MAX_REPEATED,
            max_anchors: MAX_REPEATED,
            // An anchored value is kept, once for every anchor around it.
            max_recorded_anchor_events: MAX_REPEATED,
            max_recorded_anchor_bytes: MAX_FILE_BYTES,
            // One anchor used a hundred times is fine: the repeated events are bounded.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_REPEATED,
            max_replay_stack_depth: MAX_DEPTH,
        },
    }
}

/// Says the parser's error in this product's words where the parser's name its own settings.
#[expect(clippy::wildcard_enum_match_arm, reason = "the YAML reader's errors, which it adds to")]
fn describe(error: &Error, has_secret: bool) -> String {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => describe(error, has_secret),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => format!(
            "the document is too large: it may have {MAX_VALUES} values, and its anchors and aliases {MAX_REPEATED} of them"
        ),
        Error::RecursiveReferencesRequireWeakTypes { .. } => "an anchored value contains itself".to_owned(),
        Error::UnknownAnchor { .. } => "an alias names no anchor".to_owned(),
        Error::MultipleDocuments { .. } => {
            "more text after the end of the document; separate documents with --- (kubectl drops what follows)"
                .to_owned()
        }
        Error::NonFiniteFloat { .. } => "a number is not finite".to_owned(),
        _ => match UserMessageFormatter.format_message(error) {
            message if message == "recursion limit exceeded" => too_deep(),
            _ if has_secret => WITHHELD.to_owned(),
            message => message.into_owned(),
        },
    }
}

fn too_deep() -> String {
    format!("nested more than {MAX_DEPTH} deep")
}
