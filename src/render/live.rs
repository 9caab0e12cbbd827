//! The listener for a terminal: a few lines at the bottom that are drawn again, what is finished above them.
//!
//! Promise: the screen is never cleared, it is drawn at most five times a second, nothing is drawn in the first quarter
//! of a second, and nothing of it is left when it ends, however it ends. Drawn lines are ASCII and never wrap: what is
//! drawn again must be as wide as it is counted. Where a line is too narrow names are elided, and phases stay. Several
//! rollouts share one screen, one below the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::engine::k8s::names::PodKey;
use crate::engine::report::failure_report::FailureReport;
use crate::engine::report::progress::{PodPhase, Stage};
use crate::engine::report::{Notice, Outcome};
use crate::engine::rollout::Goal;
use crate::engine::state::hook::HookPhase;

use super::lines::{self, Narrator};
use super::run::NextSteps;
use super::style::{Meaning, Style};
use super::{Listener, Terminal, Writer, failure_report, summary, words};

/// A rollout that is over sooner shows no live view.
const APPEARS_AFTER: Duration = Duration::from_millis(250);
/// Five times a second.
const REDRAWN_EVERY: Duration = Duration::from_millis(200);
/// More pods in hand than these are counted, not shown; fewer of each of several rollouts.
const SHOWN_PODS: usize = 10;
const SHOWN_PODS_OF_SEVERAL: usize = 2;
/// Columns that stay free: the terminal itself writes `^C` behind what is drawn, and must not wrap, nor must the last column.
pub(super) const MARGIN: u16 = 3;
/// A name is not elided to less than this.
const LEAST_NAME: usize = 10;
/// The columns of the bar itself.
const BAR_COLUMNS: usize = 20;
/// Below this many columns there is no bar, only its numbers.
const COLUMNS_FOR_A_BAR: usize = 70;
/// Where a terminal does not say how wide it is.
const USUAL_COLUMNS: u16 = 80;

/// Asks for the columns of a terminal at this moment.
pub type Columns = Box<dyn Fn() -> Option<u16> + Send>;

/// Where one live view draws.
pub struct Screen {
    bar: ProgressBar,
    columns: Columns,
    shared: bool,
}

impl Screen {
    /// Takes a terminal for one rollout.
    pub fn new(target: ProgressDrawTarget, columns: Columns) -> Self {
        Self { bar: ProgressBar::with_draw_target(None, target), columns, shared: false }
    }
}

/// A terminal that several rollouts share.
pub struct SharedScreen(MultiProgress);

impl SharedScreen {
    /// Takes a terminal for all of them.
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

impl fmt::Debug for SharedScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedScreen").finish_non_exhaustive()
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

/// The live view.
pub struct Live<'a> {
    out_style: Style,
    /// How drawn lines look: ASCII.
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
    in_hand: BTreeMap<PodKey, (PodPhase, Duration)>,
    done: BTreeSet<PodKey>,
    /// Why no further pod is taken, while that is so.
    held: Option<String>,
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
            drawn: Style { unicode: false, ..terminal.stderr },
            narrator: Narrator::new(terminal.stderr).side_by_side(screen.shared),
            out,
            err,
            bar,
            columns: screen.columns,
            shared: screen.shared,
            drawn_at: None,
            over: false,
            frame: 0,
            pending: Vec::new(),
            in_hand: BTreeMap::new(),
            done: BTreeSet::new(),
            held: None,
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

    fn pod(&mut self, pod: &PodKey, phase: &PodPhase, elapsed: Duration) {
        self.held = None;
        match phase.stage() {
            Stage::InProgress => {
                self.done.remove(pod);
                self.in_hand.insert(pod.clone(), (phase.clone(), elapsed));
            }
            Stage::Done => {
                self.in_hand.remove(pod);
                self.done.insert(pod.clone());
            }
            Stage::Waiting | Stage::Left | Stage::Failed | Stage::Lost => {
                self.in_hand.remove(pod);
                self.done.remove(pod);
            }
        }
    }

    fn draw_if_due(&mut self, elapsed: Duration) -> io::Result<()> {
        let due = self.drawn_at.map_or(APPEARS_AFTER, |at| at.saturating_add(REDRAWN_EVERY));
        if self.over || elapsed < due {
            return Ok(());
        }
        let message = self.message(elapsed);
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
            writeln!(self.err, "{line}")?;
        }
        self.err.flush()
    }

    fn message(&mut self, elapsed: Duration) -> String {
        self.frame = self.frame.wrapping_add(1);
        let columns = usize::from((self.columns)().unwrap_or(USUAL_COLUMNS).saturating_sub(MARGIN));
        let mut lines = vec![self.drawn.paint(Meaning::Heading, &self.head(columns, elapsed))];
        if let Some(held) = &self.held {
            lines.push(self.drawn.paint(Meaning::Waiting, &fit(&format!("  {held}"), columns)));
        }
        let shown = if self.shared { SHOWN_PODS_OF_SEVERAL } else { SHOWN_PODS };
        for (pod, (phase, since)) in self.in_hand.iter().take(shown) {
            let goal = self.narrator.run().and_then(|run| run.step(pod));
            let (meaning, text) = words::phase(&self.drawn, phase, goal);
            let time = words::duration(elapsed.saturating_sub(*since));
            let rest = format!("  {text}  {time}");
            let name = elide(&self.drawn.show(&pod.name), columns.saturating_sub(rest.len() + 2));
            lines.push(self.drawn.paint(meaning, &fit(&format!("  {name}{rest}"), columns)));
        }
        let left = self.in_hand.len().saturating_sub(shown);
        if left > 0 {
            lines.push(self.drawn.paint(Meaning::Quiet, &fit(&format!("  and {left} more in progress"), columns)));
        }
        lines.join("\n")
    }

    fn head(&self, columns: usize, elapsed: Duration) -> String {
        let spinner = ["|", "/", "-", "\\"].get(self.frame % 4).copied().unwrap_or("|");
        let (name, total) = match self.narrator.run() {
            Some(run) => (words::workload(&self.drawn, &run.workload), run.pods()),
            None => (String::new(), 0),
        };
        let done = self.done.len();
        let bar = if columns + usize::from(MARGIN) <= COLUMNS_FOR_A_BAR {
            String::new()
        } else {
            let full = (done * BAR_COLUMNS).checked_div(total).unwrap_or(BAR_COLUMNS).min(BAR_COLUMNS);
            format!(" [{}{}]", "#".repeat(full), ".".repeat(BAR_COLUMNS - full))
        };
        let (total, time) = (words::count(total, "pod"), words::duration(elapsed));
        let rest = format!("{spinner}{bar} {done} of {total} done  {time}  ");
        let name = elide(&name, columns.saturating_sub(rest.len()));
        fit(&format!("{rest}{name}"), columns)
    }
}

impl Listener for Live<'_> {
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()> {
        let line = self.narrator.start(goal, next);
        self.drawn_at = None;
        self.over = false;
        self.held = None;
        self.in_hand.clear();
        self.done.clear();
        self.pending.push(line);
        self.write(Self::write_pending)
    }

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()> {
        let line = self.narrator.line(notice, elapsed);
        let above = match notice {
            Notice::Pod { pod, phase } => {
                self.pod(pod, phase, elapsed);
                phase.stage().is_end()
            }
            Notice::BudgetHolds { down, allowed } => {
                self.held = Some(lines::budget(*down, *allowed));
                false
            }
            Notice::WaitsToBegin { why } => {
                self.held = Some(lines::waits_to_begin(&self.drawn, why));
                false
            }
            Notice::Owner { .. } => {
                self.held = None;
                true
            }
            // The clock that runs is the sign of life.
            Notice::StillWaiting { .. } => false,
            Notice::DisruptionBudgetHolds { .. }
            | Notice::BudgetsUnreadable { .. }
            | Notice::PullBegins { .. }
            | Notice::Pulled { .. }
            | Notice::PullLeftOut { .. }
            | Notice::TagMoves { .. }
            | Notice::Drain { .. }
            | Notice::HookBegins { .. }
            | Notice::HookEnded { .. }
            | Notice::Evidence { .. }
            | Notice::Retrying { .. }
            | Notice::WatchLost { .. }
            | Notice::WatchRestored
            | Notice::Stopping => true,
        };
        self.pending.extend(line.filter(|_| above));
        if self.drawn_at.is_none() {
            self.write(Self::write_pending)?;
        }
        self.draw_if_due(elapsed)
    }

    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, elapsed: Duration) -> io::Result<()> {
        self.pending.push(words::hook_line(self.narrator.style(), pod, hook, line));
        if self.drawn_at.is_none() {
            self.write(Self::write_pending)?;
        }
        self.draw_if_due(elapsed)
    }

    fn tick(&mut self, elapsed: Duration) -> io::Result<()> {
        self.draw_if_due(elapsed)
    }

    fn next_tick(&self) -> Option<Duration> {
        let due = self.drawn_at.map_or(APPEARS_AFTER, |at| at.saturating_add(REDRAWN_EVERY));
        (!self.over).then_some(due)
    }

    fn failure_report(&mut self, report: &FailureReport, _elapsed: Duration) -> io::Result<()> {
        self.over = true;
        self.bar.finish_and_clear();
        self.write(|view| {
            view.write_pending()?;
            failure_report::write(view.narrator.run(), report, &view.out_style, &mut view.out)?;
            view.out.flush()
        })
    }

    fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.over = true;
        self.bar.finish_and_clear();
        self.write(|view| {
            view.write_pending()?;
            if view.shared {
                lines::whose(outcome, &view.out_style, &mut view.out)?;
            }
            summary::write(view.narrator.run(), outcome, &view.out_style, &mut view.out)?;
            view.out.flush()
        })
    }
}

impl Drop for Live<'_> {
    /// An error elsewhere leaves no half of a view behind.
    fn drop(&mut self) {
        if !self.over {
            self.bar.finish_and_clear();
            // There is nobody left to tell that the last lines could not be written.
            let _ = self.write(Self::write_pending);
        }
    }
}

/// Cuts an ASCII line to the columns that there are.
fn fit(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}

/// Shortens an ASCII name in its middle, where it says least: the end tells pods of one owner apart.
fn elide(name: &str, columns: usize) -> String {
    let columns = columns.max(LEAST_NAME);
    let length = name.chars().count();
    if length <= columns {
        return name.to_owned();
    }
    let kept = columns - 2;
    let head: String = name.chars().take(kept / 2).collect();
    let tail: String = name.chars().skip(length - (kept - kept / 2)).collect();
    format!("{head}..{tail}")
}
