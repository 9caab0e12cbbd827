//! The offending line of an error, safe to print.

use engine::k8s::mask::Secrets;
use std::fmt;
use std::fmt::Write as _;

/// How many characters of a line are shown on each side of the column.
const CONTEXT: usize = 48;

/// One line of an input with a mark under a column; empty where nothing may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet(String);

impl Snippet {
    /// Cuts the line out of `text` (lines and columns from 1, columns in characters), control characters escaped. It is empty
    /// where the line may have the value of an environment variable in it, or what a command is given.
    pub(super) fn new(text: &str, line: usize, column: usize) -> Self {
        let Some(content) = line.checked_sub(1).and_then(|index| text.split('\n').nth(index)) else {
            return Self::default();
        };
        if may_hold_values(text, line, content) {
            return Self::default();
        }
        let content = content.trim_end();
        let skipped = column.saturating_sub(1).saturating_sub(CONTEXT);
        let before = column.saturating_sub(1).saturating_sub(skipped);
        let mut shown = String::from(if skipped > 0 { "..." } else { "" });
        let mut mark = None;
        let mut characters = content.chars().skip(skipped);
        for (index, character) in characters.by_ref().take(2 * CONTEXT).enumerate() {
            if index == before {
                mark = Some(shown.chars().count());
            }
            escape_character(character, &mut shown);
        }
        let mark = mark.unwrap_or_else(|| shown.chars().count());
        if characters.next().is_some() {
            shown.push_str("...");
        }
        if shown.trim().is_empty() {
            return Self::default();
        }
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        Self(format!("\n{number} | {shown}\n{margin} | {}^", " ".repeat(mark)))
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What credentials are written under besides.
const VALUED: [&str; 3] = ["value", "data", "stringData"];

/// Whether a line is below one of these keys, by its indentation, or has one in it.
fn may_hold_values(text: &str, line: usize, content: &str) -> bool {
    let names_one = |content: &str| {
        let is_word = |character: char| character.is_alphanumeric();
        content
            .split(|character| !is_word(character))
            .any(|word| Secrets::of_field(word).is_some() || VALUED.contains(&word))
    };
    let depth = |content: &str| content.len() - content.trim_start().len();
    let is_item = |content: &str| content.trim_start().starts_with('-');
    let (mut least, mut in_list) = (depth(content), is_item(content));
    let above: Vec<&str> = text.split('\n').take(line.saturating_sub(1)).collect();
    names_one(content)
        || above.iter().rev().filter(|above| !above.trim().is_empty()).any(|above| {
            // The items of a list may be at the depth of its key.
            let is_parent = depth(above) < least || depth(above) == least && in_list && !is_item(above);
            if is_parent {
                (least, in_list) = (depth(above), is_item(above));
            }
            is_parent && names_one(above)
        })
}

/// Whether the text may hold a Secret: whether the kind's name occurs in it as a word. Snippets and keys of such a text
/// are not shown.
pub(super) fn mentions_secret(text: &str) -> bool {
    text.match_indices("Secret").any(|(start, word)| {
        let before = text.get(..start).and_then(|head| head.chars().next_back());
        let after = text.get(start + word.len()..).unwrap_or_default();
        let after = after.strip_prefix("List").unwrap_or(after).chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Escapes what could move a terminal's cursor or reorder its text.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        escape_character(character, &mut escaped);
    }
    escaped
}

fn escape_character(character: char, into: &mut String) {
    let reorders =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    if character.is_control() || reorders {
        write!(into, "{}", character.escape_default()).unwrap_or_default();
    } else {
        into.push(character);
    }
}
