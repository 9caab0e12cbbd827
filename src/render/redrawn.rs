//! A result that is shown again whenever it changes: in its place on a terminal, below the last one elsewhere.
//!
//! Promise: the screen is never cleared; what is shown last stays when it ends. On a terminal, what does not fit the window
//! is cut at its lower end.

use std::fmt;
use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows a text again and again, on stdout.
pub struct Redrawn {
    /// `None` where stdout is no terminal.
    bar: Option<ProgressBar>,
    last: Option<String>,
    separator: &'static str,
}

impl fmt::Debug for Redrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redrawn").finish_non_exhaustive()
    }
}

impl Redrawn {
    /// Shows text in its place on stdout if that is a terminal and `in_place` says so; else one below the other, with a
    /// separator between.
    pub fn new(in_place: bool, separator: &'static str) -> Self {
        let target = ProgressDrawTarget::stdout();
        let bar = (in_place && !target.is_hidden()).then(|| {
            let bar = ProgressBar::with_draw_target(None, target);
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, last: None, separator }
    }

    /// Shows the text, unless it is what is shown already.
    ///
    /// # Errors
    /// The writer's; a terminal's are nobody's loss.
    pub fn show(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.last.as_deref() == Some(text) {
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

    /// Says something on another stream, with what is shown out of its way.
    pub fn aside<R>(&self, say: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Leaves what is shown where it is.
    pub fn leave(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
