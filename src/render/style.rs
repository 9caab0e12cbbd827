//! How text may look on one stream: colour by meaning, the width, and which characters the stream can show.
//!
//! Promise: colour never is the only carrier; foreign text reaches a writer by [`Style::show`] or [`Style::whole`] alone.

use anstyle::AnsiColor;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape;

/// What a piece of text means; its colour follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Ok,
    Waiting,
    Failing,
    Heading,
    /// Less important than the text around it.
    Quiet,
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// The number of columns; `None` where columns do not matter (a file, a pipe).
    pub width: Option<u16>,
    /// The locale can show more than ASCII.
    pub unicode: bool,
}

impl Style {
    /// No colour, no width, any character: what a file gets.
    pub const PLAIN: Self = Self { color: false, width: None, unicode: true };

    /// Returns the text in the colour of its meaning, or unchanged where the stream has no colour.
    pub fn paint(&self, meaning: Meaning, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = match meaning {
            Meaning::Ok => AnsiColor::Green.on_default(),
            Meaning::Waiting => AnsiColor::Yellow.on_default(),
            Meaning::Failing => AnsiColor::Red.on_default().bold(),
            Meaning::Heading => anstyle::Style::new().bold(),
            Meaning::Quiet => anstyle::Style::new().dimmed(),
            Meaning::Plain => return text.to_owned(),
        };
        format!("{style}{text}{style:#}")
    }

    /// Returns text that was not written here, on one line, escaped and cut to a readable length.
    pub fn show(&self, text: &str) -> String {
        escape::cut(&self.flat(text), escape::SHOWN_CHARACTERS)
    }

    /// Returns foreign text on one line, escaped: its own lines follow each other.
    pub fn flat(&self, text: &str) -> String {
        self.whole(&escape::one_line(text))
    }

    /// Returns text that was not written here, on one line, escaped and never cut: a command must be whole.
    pub fn whole(&self, text: &str) -> String {
        escape::line(text, self.unicode)
    }
}

const ARROW: &str = " -> ";

/// Both together get no shorter.
const LEAST_CHANGE: usize = 10;

/// Returns the text, what is too long cut out of its middle: names and images differ at both ends. Of what goes from one
/// thing to another both are seen.
pub(super) fn elided(text: &str, width: usize, style: &Style) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    if let Some((from, to)) = text.split_once(ARROW)
        && let Some(room) = width.checked_sub(ARROW.len()).filter(|room| *room >= LEAST_CHANGE)
    {
        let to_room = (room / 2).max(room.saturating_sub(from.width())).min(to.width());
        let from = elided(from, room - to_room, style);
        return format!("{from}{ARROW}{}", elided(to, to_room, style));
    }
    let mark = if style.unicode { "…" } else { "..." };
    let kept = width.saturating_sub(mark.width());
    // What it is of stays.
    if let Some((of, what)) = text.split_once(": ").filter(|(of, what)| !what.contains(' ') && !of.contains(' '))
        && let Some(room) = width.checked_sub(of.width() + 2).filter(|room| *room >= LEAST_CHANGE)
    {
        return format!("{of}: {}", elided(what, room, style));
    }
    // The end is the more specific part, above all an image's tag, which is shortened last; a digest keeps both ends.
    let tag = text.rsplit_once(':').filter(|(name, tag)| !name.contains('@') && !tag.contains(' '));
    let tag = tag.map(|(_, tag)| tag);
    if let Some(tag) = tag.filter(|tag| tag.width() >= kept && kept > 2 * mark.width()) {
        return format!("{mark}:{}", elided(tag, kept - 1, style));
    }
    let tail = tag.map_or(0, |tag| tag.width() + 1).max(kept - kept / 2).min(kept);
    let head = kept - tail;
    let head: String = taken(text.chars(), head).into_iter().collect();
    let tail: String = taken(text.chars().rev(), tail).into_iter().rev().collect();
    format!("{head}{mark}{tail}")
}

fn taken(characters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}
