//! A result that is shown again whenever it changes: in its place on a terminal, below the last one elsewhere.
//!
//! Promise: the screen is never cleared; what is shown last stays when it ends. On a terminal, what does not fit the window
//! is cut at its lower end.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::style::Style;
use super::terminal;
use super::terminal::MARGIN;

/// Shows a text again and again, on stdout.
pub struct Redrawn {
    /// `None` where stdout is no terminal.
    bar: Option<ProgressBar>,
    last: Option<String>,
    separator: &'static str,
}

impl Redrawn {
    /// Shows text in its place on stdout if that is a terminal and `in_place` says so; else one below the other, with a
    /// separator between.
    pub fn new(in_place: bool, separator: &'static str) -> Self {
        let bar = terminal::result_target().filter(|_| in_place).map(|target| {
            let bar = ProgressBar::with_draw_target(None, target);
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, last: None, separator }
    }

    /// Returns how the text is to be made: where it is drawn again, its last columns stay free.
    pub fn style(&self, style: Style) -> Style {
        let free = if self.bar.is_some() { MARGIN } else { 0 };
        Style { width: style.width.map(|width| width.saturating_sub(free)), ..style }
    }

    /// Shows the text, unless it is what is shown already.
    ///
    /// # Errors
    /// The writer's; a terminal's are nobody's loss.
    pub fn show(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.last.as_deref().is_some_and(|last| self.is_as_shown(last, text)) {
            return Ok(());
        }
        match &self.bar {
            Some(bar) => {
                bar.set_message(text.trim_end().to_owned());
                bar.force_draw();
            }
            None => {
                let separator = if self.last.is_some() { self.separator } else { "" };
                write!(out, "{separator}{text}")?;
                out.flush()?;
            }
        }
        self.last = Some(text.to_owned());
        Ok(())
    }

    /// In a file, an age that went on is no change.
    fn is_as_shown(&self, last: &str, text: &str) -> bool {
        last == text || (self.bar.is_none() && timeless(last).eq(timeless(text)))
    }

    /// Says something on another stream, with what is shown out of its way.
    pub fn aside<R>(&self, say: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Leaves what was shown last, whole, below whatever a terminal has echoed meanwhile.
    pub fn leave(&mut self, out: &mut dyn Write) {
        let Some(bar) = self.bar.take() else { return };
        bar.finish_and_clear();
        // Nobody may be there to read it any more.
        drop(writeln!(out, "{}", self.last.as_deref().unwrap_or_default().trim_end()));
    }
}

/// The words of a text but for how long ago things were: `59m`, `1h5m`, `8 s`.
fn timeless(text: &str) -> impl Iterator<Item = &str> {
    let is_unit = |letter: char| matches!(letter, 's' | 'm' | 'h' | 'd' | 'y');
    let is_number = |word: &str| word.chars().all(|letter| letter.is_ascii_digit());
    let is_age = move |word: &str| {
        word.starts_with(|first: char| first.is_ascii_digit())
            && word.ends_with(is_unit)
            && word.chars().all(|letter| letter.is_ascii_digit() || is_unit(letter))
    };
    let mut words = text.split_whitespace().peekable();
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if is_number(word) && words.next_if(|unit| unit.trim_end_matches(':') == "s").is_some() || is_age(word) {
                continue;
            }
            return Some(word);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_each_other_only_what_changed_is_shown_and_an_age_is_no_change() {
        let shown = |texts: &[&str]| {
            let mut redrawn = Redrawn { bar: None, last: None, separator: "\n" };
            let mut out = Vec::new();
            texts.iter().for_each(|text| redrawn.show(text, &mut out).expect("a vector takes it"));
            String::from_utf8(out).expect("it is text")
        };
        assert_eq!(
            shown(&["side  ready  59m  2\n", "side  ready  60m  2\n", "side  ready  1h5m   2\n"]),
            "side  ready  59m  2\n"
        );
        assert_eq!(shown(&["up 8 s: not known yet", "up 10 s: not known yet"]), "up 8 s: not known yet");
        for (first, second) in [
            ("side  ready  59m  2\n", "side  ready  1s  3\n"),
            ("side  ready  59m\n", "side  failed  59m\n"),
            ("1 pod: ready", "2 pods: ready"),
            ("web  acme/side:5m", "web  acme/side:6m"),
        ] {
            assert_eq!(shown(&[first, second]), format!("{first}\n{second}"));
        }
    }
}
