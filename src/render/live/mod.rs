//! The listener for a terminal: a few lines at the bottom that are drawn again, what is finished above them.
//!
//! Promise: the screen is never cleared, it is drawn at most five times a second, nothing is drawn in the first quarter
//! of a second, and nothing of it is left when it ends, however it ends. What is drawn never wraps, and is ASCII but for bar,
//! spinner and ellipsis: what is drawn again must be as wide as it is counted. Where it is narrow names are elided and
//! columns go, and phases stay. Several rollouts share one screen, one below the other.

mod head;
mod rows;

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use engine::k8s::names::PodKey;
use engine::report::failure_report::FailureReport;
use engine::report::progress::Progress;
use engine::report::{Notice, Outcome};
use engine::rollout::Goal;
use engine::state::hook::HookPhase;

use head::Head;

use super::lines::{self, Narrator};
use super::run::NextSteps;
use super::style::{Meaning, Style};
use super::terminal::MARGIN;
use super::{Listener, Terminal, Writer, table, words};

/// A rollout that is over sooner shows no live view.
const APPEARS_AFTER: Duration = Duration::from_millis(250);
const REDRAWN_EVERY: Duration = Duration::from_millis(200);
/// More pods of each of several rollouts are counted, not shown.
const SHOWN_PODS_OF_SEVERAL: usize = 2;
/// Of why no further pod is taken no more lines are drawn.
const HELD_LINES: usize = 3;
/// Where a terminal does not say how wide it is.
const USUAL_COLUMNS: u16 = 80;

pub type Columns = Box<dyn Fn() -> Option<u16> + Send>;

pub struct Screen {
    bar: ProgressBar,
    columns: Columns,
    shared: bool,
}

impl Screen {
    pub fn new(target: ProgressDrawTarget, columns: Columns) -> Self {
        Self { bar: ProgressBar::with_draw_target(None, target), columns, shared: false }
    }
}

/// A terminal that several rollouts share.
pub struct SharedScreen(MultiProgress);

impl SharedScreen {
    pub fn new(target: ProgressDrawTarget) -> Self {
        Self(MultiProgress::with_draw_target(target))
    }

    /// Returns the part of one more rollout, below the others.
    pub fn screen(&self, columns: Columns) -> Screen {
        Screen { bar: self.0.add(ProgressBar::no_length()), columns, shared: true }
    }

    /// Runs something that writes to the terminal by itself, with the views out of its way.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

pub struct Live<'a> {
    out_style: Style,
    drawn: Style,
    narrator: Narrator,
    out: Writer<'a>,
    err: Writer<'a>,
    bar: ProgressBar,
    columns: Columns,
    /// Other rollouts draw on the same terminal.
    shared: bool,
    /// When it was drawn last; `None` until it appears.
    drawn_at: Option<Duration>,
    over: bool,
    frame: usize,
    /// Lines that go above the view with the next drawing.
    pending: Vec<String>,
    rows: table::Before,
    /// Why no further pod is taken; and how many are down, where that is why.
    held: Option<(String, Option<u32>)>,
    stopping: bool,
}

impl<'a> Live<'a> {
    /// Returns a live view on a screen. Finished lines go to `err`, which must be the same terminal; results to `out`.
    pub fn new(screen: Screen, terminal: &Terminal, out: Writer<'a>, err: Writer<'a>) -> Self {
        let bar = screen.bar;
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        // Hidden until it appears: writing above it must not draw an empty line.
        bar.finish_and_clear();
        Self {
            out_style: terminal.stdout,
            drawn: terminal.stderr,
            narrator: Narrator::new(terminal.stderr, screen.shared),
            out,
            err,
            bar,
            columns: screen.columns,
            shared: screen.shared,
            drawn_at: None,
            over: false,
            frame: 0,
            pending: Vec::new(),
            rows: table::Before::default(),
            held: None,
            stopping: false,
        }
    }

    /// Writes something while this view is not drawn, with those of others out of its way.
    fn write(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if !self.shared {
            return write(self);
        }
        let bar = self.bar.clone();
        bar.suspend(|| write(self))
    }

    fn draw(&mut self, progress: &Progress, elapsed: Duration) -> io::Result<()> {
        let message = self.message(progress, elapsed);
        self.bar = self.bar.clone().with_message(message);
        if self.drawn_at.replace(elapsed).is_none() {
            self.write(Self::write_pending)?;
            self.bar.reset();
        } else if self.pending.is_empty() {
            self.bar.force_draw();
        } else {
            let bar = self.bar.clone();
            bar.suspend(|| self.write_pending())?;
        }
        Ok(())
    }

    fn write_pending(&mut self) -> io::Result<()> {
        for line in self.pending.drain(..) {
            writeln!(self.err, "{}", self.narrator.flowing(&line))?;
        }
        self.err.flush()
    }

    fn message(&mut self, progress: &Progress, elapsed: Duration) -> String {
        self.frame = self.frame.wrapping_add(1);
        let columns = (self.columns)().unwrap_or(USUAL_COLUMNS).saturating_sub(MARGIN);
        let style = Style { width: Some(columns), ..self.drawn };
        let columns = usize::from(columns);
        let run = self.narrator.run.as_ref();
        let name = run.map(|run| words::workload(&ascii(style), &run.workload)).unwrap_or_default();
        let left = run.and_then(|run| run.next.expected).and_then(|expected| expected.checked_sub(elapsed));
        let left = left.filter(|left| !left.is_zero() && progress.in_progress + progress.to_come > 0);
        let (stopping, frame) = (self.stopping, self.frame);
        let of_several = self.shared;
        let head = Head { name: &name, progress, elapsed, left, stopping, frame, of_several }.lines(columns, &style);
        let mut lines: Vec<_> = head.iter().map(|line| style.paint(Meaning::Heading, &fit(line, columns))).collect();
        // The pods that are seen to be in progress say it already.
        let is_seen = |down: u32| usize::try_from(down).is_ok_and(|down| down <= progress.in_progress);
        if let Some((held, _)) = self.held.as_ref().filter(|(_, down)| !down.is_some_and(is_seen)) {
            let held = words::flowing(&format!("  {held}"), 2, &style);
            lines.extend(held.lines().take(HELD_LINES).map(|line| style.paint(Meaning::Waiting, &fit(line, columns))));
        }
        let shown = if self.shared { SHOWN_PODS_OF_SEVERAL } else { progress.shown.len() };
        let shown = progress.shown.get(..shown).unwrap_or(&progress.shown);
        if !shown.is_empty() {
            lines.extend(rows::lines(run, shown, &mut self.rows, &style));
        }
        let left = progress.in_progress.saturating_sub(shown.len());
        if left > 0 {
            lines.push(style.paint(Meaning::Quiet, &fit(&format!("  and {left} more in progress"), columns)));
        }
        lines.join("\n")
    }
}

impl Listener for Live<'_> {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        let line = self.narrator.start(goal, next);
        self.drawn_at = None;
        self.over = false;
        (self.held, self.stopping) = (None, false);
        self.rows = table::Before::default();
        self.pending.push(line);
        self.write(Self::write_pending)
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        let line = self.narrator.line(notice, elapsed);
        let drawn = ascii(self.drawn);
        let held = if let Notice::BudgetHolds { down, allowed } = notice {
            Some((lines::budget(*down, *allowed), Some(*down)))
        } else if let Notice::WaitsToBegin { why } = notice {
            Some((lines::waits_to_begin(&drawn, why), None))
        } else if let Notice::WaitsToEnd { why } = notice {
            Some((lines::waits_to_end(&drawn, why), None))
        } else {
            None
        };
        let is_progress = matches!(notice, Notice::Pod { .. } | Notice::Owner { .. });
        self.stopping |= *notice == Notice::Stopping;
        let above = if let Notice::Pod { phase, .. } = notice {
            phase.stage().is_end()
        } else {
            // The clock that runs is the sign of life.
            held.is_none() && !matches!(notice, Notice::StillWaiting { .. })
        };
        if held.is_some() || is_progress {
            self.held = held;
        }
        self.pending.extend(line.filter(|_| above));
        // What is drawn again writes them above itself.
        if self.drawn_at.is_none() { self.write(Self::write_pending) } else { Ok(()) }
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, _elapsed: Duration) -> io::Result<()> {
        self.pending.push(words::hook_line(&self.narrator.style, pod, hook, line));
        if self.drawn_at.is_none() { self.write(Self::write_pending) } else { Ok(()) }
    }

    fn tick(&mut self, progress: &Progress, elapsed: Duration) -> io::Result<()> {
        let is_due = self.next_tick().is_some_and(|due| due <= elapsed);
        if is_due { self.draw(progress, elapsed) } else { Ok(()) }
    }

    fn next_tick(&self) -> Option<Duration> {
        let due = self.drawn_at.map_or(APPEARS_AFTER, |at| at.saturating_add(REDRAWN_EVERY));
        (!self.over).then_some(due)
    }

    fn outcome(&mut self, outcome: &Outcome, failure: Option<&FailureReport>) -> io::Result<()> {
        self.over = true;
        self.bar.finish_and_clear();
        self.write(|view| {
            view.write_pending()?;
            view.narrator.end((outcome, failure), true, &view.out_style, &mut view.out)
        })
    }
}

impl Drop for Live<'_> {
    /// An error elsewhere leaves no half of a view behind.
    fn drop(&mut self) {
        if !self.over {
            self.bar.finish_and_clear();
            // Nobody is left to report to that the last lines could not be written.
            let _ = self.write(Self::write_pending);
        }
    }
}

/// What comes from the cluster is drawn in ASCII: of nothing else is it certain how wide a terminal shows it.
const fn ascii(style: Style) -> Style {
    Style { unicode: false, ..style }
}

fn fit(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}
