//! Reads, once, what the two streams can show. The only file of `render` that reads the environment.
#![expect(clippy::disallowed_methods, reason = "this file asks for the environment so that no other renderer has to")]

use super::Out;
use std::env;
use std::io::{self, IsTerminal, stderr, stdout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use unicode_width::UnicodeWidthStr;

use super::style::Style;

/// Columns that stay free: the terminal itself writes `^C` behind what is drawn, twice where somebody is in a hurry, and must
/// not wrap, nor must the last column.
pub(super) const MARGIN: u16 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    pub stdout: Style,
    pub stderr: Style,
    /// Lines on stderr can be drawn again: it is a terminal, and `TERM` says that it can.
    pub live: bool,
    /// Of what happens meanwhile only warnings are shown.
    pub quiet: bool,
}

/// What the environment says; apart, so that the rules are tested without it.
#[derive(Debug, Clone, Copy, Default)]
struct Environment<'a> {
    term: Option<&'a str>,
    no_color: bool,
    /// A Windows console that shows escapes literally: only its Terminal (`WT_SESSION`) is known to interpret them.
    old_console: bool,
    columns: Option<&'a str>,
    /// `LC_ALL`, `LC_CTYPE`, `LANG`: the first that is not empty counts.
    locale: [Option<&'a str>; 3],
}

/// How often indicatif may draw: more than the live view ever asks for, so that its own limit drops nothing.
const DRAWS_A_SECOND: u8 = 20;

impl Terminal {
    pub fn read(color: ColorChoice) -> Self {
        let variable = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let (term, columns) = (variable("TERM"), variable("COLUMNS"));
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(variable);
        let [all, ctype, lang] = &locale;
        let environment = Environment {
            term: term.as_deref(),
            no_color: env::var_os("NO_COLOR").is_some(),
            old_console: cfg!(windows) && env::var_os("WT_SESSION").is_none(),
            columns: columns.as_deref(),
            locale: [all.as_deref(), ctype.as_deref(), lang.as_deref()],
        };
        let out = stdout().is_terminal();
        let err = stderr().is_terminal();
        Self {
            stdout: style(color, out, out.then(|| columns_of(stdout())).flatten(), environment),
            stderr: style(color, err, stderr_columns(), environment),
            live: !ProgressDrawTarget::stderr().is_hidden(),
            quiet: false,
        }
    }
}

/// Returns where live views draw: stderr, which must be able to draw a line again.
pub fn draw_target() -> ProgressDrawTarget {
    drawing_on(Term::buffered_stderr())
}

/// Returns where a result is drawn again: stdout; nothing where that is no terminal.
pub(super) fn result_target() -> Option<ProgressDrawTarget> {
    (!ProgressDrawTarget::stdout().is_hidden()).then(|| drawing_on(Term::buffered_stdout()))
}

fn drawing_on(terminal: Term) -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(Box::new(Narrower::new(terminal)), DRAWS_A_SECOND)
}

/// A terminal without its last columns. indicatif fills each line up to the last column that it knows and lets the terminal
/// wrap: there the `^C` that the terminal itself writes would wrap too, and what was drawn would stay. Here lines are
/// broken instead, and nothing is filled: behind the last one is room.
///
/// Where the window has become narrower, most terminals have wrapped what was drawn: it takes more rows than indicatif knows.
#[derive(Debug)]
pub struct Narrower<T> {
    terminal: T,
    drawn: Mutex<Drawn>,
}

#[derive(Debug, Default)]
struct Drawn {
    lines: Vec<usize>,
    /// The last line is whole, and the next one begins below it.
    is_whole: bool,
    /// Rows above the first that indicatif knows.
    above: usize,
}

impl Drawn {
    /// The number of extra rows when the lines wrap at `columns` columns.
    fn wrapped(&self, columns: u16) -> usize {
        self.lines.iter().map(|line| line.saturating_sub(1) / usize::from(columns.max(1))).sum()
    }
}

impl<T: TermLike> Narrower<T> {
    pub fn new(terminal: T) -> Self {
        Self { terminal, drawn: Mutex::default() }
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: TermLike> TermLike for Narrower<T> {
    fn width(&self) -> u16 {
        self.terminal.width().saturating_sub(MARGIN).max(1)
    }

    fn height(&self) -> u16 {
        self.terminal.height()
    }

    /// indicatif goes up to the first line, clears each line, and goes up again.
    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        let mut drawn = self.drawn();
        let before = std::mem::take(&mut *drawn);
        let wrapped = before.wrapped(self.terminal.width());
        self.terminal.move_cursor_up(n + wrapped + before.above)?;
        for _ in 0..wrapped {
            self.terminal.clear_line()?;
            self.terminal.move_cursor_down(1)?;
        }
        drawn.above = wrapped;
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.terminal.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.terminal.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.terminal.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.terminal.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let mut drawn = self.drawn();
        if text.chars().all(|character| character == ' ') {
            drawn.is_whole = true;
            return Ok(());
        }
        if std::mem::take(&mut drawn.is_whole) {
            self.terminal.write_line("")?;
        }
        drawn.lines.push(anstream::adapter::strip_str(text).to_string().width());
        self.terminal.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.terminal.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.terminal.flush()
    }
}

/// Returns the present columns of stderr: a window may be resized while a rollout runs.
pub(super) fn stderr_columns() -> Option<u16> {
    columns_of(stderr())
}

fn columns_of(stream: impl Descriptor) -> Option<u16> {
    terminal_size::terminal_size_of(stream).map(|(width, _)| width.0).filter(|width| *width > 0)
}

#[cfg(unix)]
use std::os::fd::AsFd as Descriptor;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Descriptor;

fn style(color: ColorChoice, is_terminal: bool, columns: Option<u16>, environment: Environment<'_>) -> Style {
    let color = match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // As kubectl, whose NO_COLOR counts where it is empty, too (cli-runtime/pkg/printers/terminal.go).
        ColorChoice::Auto => {
            let can = environment.term != Some("dumb") && !environment.old_console;
            is_terminal && can && !environment.no_color
        }
    };
    let chosen = environment.columns.and_then(|columns| columns.trim().parse().ok()).filter(|columns| *columns > 0);
    Style { color, width: chosen.or(columns.filter(|_| is_terminal)), unicode: is_utf8(environment.locale) }
}

fn is_utf8(locale: [Option<&str>; 3]) -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale = locale.into_iter().flatten().find(|value| !value.is_empty()).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Shows a result on stdout again whenever it changes: in its place on a terminal, below the last one elsewhere.
///
/// Promise: the screen is never cleared; what is shown last stays when it ends. On a terminal, what does not fit the window
/// is cut at its lower end.
pub struct Redrawn {
    /// `None` where stdout is no terminal.
    bar: Option<ProgressBar>,
    last: Option<String>,
    separator: &'static str,
}

impl Redrawn {
    /// Shows text in its place on a terminal, if `in_place` says so; else one below the other, with a separator between.
    pub fn new(in_place: bool, separator: &'static str) -> Self {
        let bar = result_target().filter(|_| in_place).map(|target| {
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
    pub fn show(&mut self, text: &str, out: Out<'_>) -> io::Result<()> {
        // In a file, an age that went on is no change.
        let is_shown = |last: &str| last == text || self.bar.is_none() && timeless(last).eq(timeless(text));
        if self.last.as_deref().is_some_and(is_shown) {
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

    /// Leaves what was shown last, whole, below whatever a terminal has echoed meanwhile.
    pub fn leave(&mut self, out: Out<'_>) {
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
    fn colour_follows_the_flag_then_the_stream_then_the_environment() {
        let plain = Environment { term: Some("xterm"), ..Default::default() };
        let cases = [
            (ColorChoice::Auto, true, plain, true),
            (ColorChoice::Auto, false, plain, false),
            (ColorChoice::Auto, true, Environment { no_color: true, ..plain }, false),
            (ColorChoice::Auto, true, Environment { term: Some("dumb"), ..plain }, false),
            (ColorChoice::Auto, true, Environment { old_console: true, ..plain }, false),
            (ColorChoice::Auto, true, Environment { term: None, ..plain }, true),
            (ColorChoice::Always, false, Environment { no_color: true, ..plain }, true),
            (ColorChoice::Never, true, plain, false),
        ];
        for (color, is_terminal, environment, expected) in cases {
            let style = style(color, is_terminal, None, environment);
            assert_eq!(style.color, expected, "{color:?} {is_terminal} {environment:?}");
        }
    }

    #[test]
    fn the_width_is_that_of_columns_else_the_terminals_else_none() {
        let width = |columns: Option<&str>, is_terminal, measured| {
            style(ColorChoice::Auto, is_terminal, measured, Environment { columns, ..Default::default() }).width
        };
        assert_eq!(width(Some("40"), true, Some(120)), Some(40));
        assert_eq!(width(Some("40"), false, None), Some(40));
        assert_eq!(width(Some("0"), true, Some(120)), Some(120));
        assert_eq!(width(Some("wide"), true, Some(120)), Some(120));
        assert_eq!(width(None, false, Some(120)), None);
    }

    #[test]
    #[cfg(not(windows))]
    fn the_first_locale_that_is_set_decides() {
        for (locale, expected) in [
            ([None, None, Some("en_US.UTF-8")], true),
            ([Some("C"), None, Some("en_US.UTF-8")], false),
            ([Some(""), Some("C.utf8"), Some("C")], true),
            ([None, None, None], false),
        ] {
            assert_eq!(is_utf8(locale), expected, "{locale:?}");
        }
    }
}

#[cfg(test)]
mod redrawn_tests {
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
