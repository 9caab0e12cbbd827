//! How text may look on one stream: colour by meaning, the width, and which characters the stream can show.
//!
//! Promise: colour never is the only carrier, and nothing from the cluster reaches a writer but through
//! [`Style::show`] or [`Style::whole`].

use anstyle::AnsiColor;

use super::escape;

/// What a piece of text means; its colour follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Done, or there already.
    Ok,
    /// On its way, or would change.
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
