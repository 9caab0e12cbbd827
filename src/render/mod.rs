//! Plan, notices and outcome, to text and to JSON.
//!
//! Promise: every function writes to the writer that it is given, results to one and everything else to another; no
//! renderer asks for the time, the environment or the terminal but [`terminal`]; whatever comes from the cluster is
//! escaped ([`escape`]). It decides nothing: sentences, hints, words and exit codes are the engine's.
//!
//! A new format: a file, a variant of each type in `formats.rs` whose commands have it, its arms here; the shared test in
//! `tests/it/render/mod.rs` walks those of [`PlanFormat`] and asks for their snapshots.

mod access;
mod columns;
mod containers;
mod diff;
pub mod escape;
mod failure_report;
mod formats;
mod hash;
mod history;
mod json;
mod json_lines;
mod lines;
mod live;
mod markdown;
mod name;
mod offline;
mod preview;
mod refusal;
mod run;
mod status;
mod style;
mod summary;
mod table;
pub mod terminal;
mod text;
mod words;
mod workloads;

use std::io::{self, Write};
use std::time::Duration;

use engine::k8s::names::PodKey;
use engine::plan::Plan;
use engine::report::failure_report::FailureReport;
use engine::report::progress::Progress;
use engine::report::{Notice, Outcome};
use engine::rollout::Goal;
use engine::state::hook::HookPhase;
use engine::value::hint::{Flags, Hint};

pub use access::{Role, access_json, access_table, role_json, role_yaml};
pub use diff::{diff, yaml};
pub use formats::{DocumentFormat, HashFormat, PlanFormat, RoleFormat, StatusFormat, StreamFormat};
pub use hash::hashes;
pub use history::{HistoryContext, history};
pub use json_lines::JsonLines;
pub use lines::Lines;
pub use live::{Columns, Live, Screen, SharedScreen};
pub use preview::{Preview, preview};
pub use run::NextSteps;
pub use status::{StatusContext, status};
pub use style::{Meaning, Style};
pub use summary::end;
pub use terminal::{ColorChoice, Narrower, Redrawn, Terminal, draw_target};
pub use words::flowing;
pub use workloads::{handed_over, workload_ends};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Short,
    /// Also uid, kubelet, image digests and the kubelet's hashes.
    Wide,
}

/// The commands that a plan suggests. Documents have the hints without them: their readers may be other users.
#[derive(Debug, Clone, Copy, Default)]
pub struct Guide<'a> {
    /// The command that carries the plan out; named where it can be carried out.
    pub next: Option<&'a str>,
    pub flags: Option<&'a Flags>,
    /// The workloads were asked for in all namespaces: a name alone finds none of them again.
    pub every_namespace: bool,
    /// The wall clock (RFC 3339), where it is known.
    pub now: Option<&'a str>,
    /// It was to be carried out, and cannot be.
    pub is_refused: bool,
}

impl Guide<'_> {
    fn hint(&self, hint: &Hint) -> String {
        self.flags.map_or_else(|| hint.to_string(), |flags| hint.with_flags(flags))
    }
}

pub fn plan(format: PlanFormat, plan: &Plan, guide: &Guide<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    match format {
        PlanFormat::Text => words::in_lines(style, out, |out| text::plan(plan, guide, Detail::Short, style, out)),
        PlanFormat::Wide => words::in_lines(style, out, |out| text::plan(plan, guide, Detail::Wide, style, out)),
        PlanFormat::Json => json::plan(plan, guide.is_refused, out),
        PlanFormat::Yaml => out.write_all(yaml(&json::document(plan)).as_bytes()),
        PlanFormat::Name => name::plan(plan, guide.every_namespace, style, out),
        PlanFormat::Markdown => markdown::plan(plan, out),
    }
}

/// Writes a plan's warnings, for stderr; documents and the Markdown comment have them inside, so nothing is written for
/// them. A list of names says there also which workloads are not eligible, and what was not looked at.
pub fn plan_warnings(format: PlanFormat, plan: &Plan, style: &Style, err: Out<'_>) -> io::Result<()> {
    match format {
        PlanFormat::Text | PlanFormat::Wide => words::in_lines(style, err, |err| text::warnings(plan, style, err)),
        PlanFormat::Name => words::in_lines(style, err, |err| {
            text::warnings(plan, style, err)?;
            text::hand_overs(plan, &Guide::default(), style, err)?;
            name::not_eligible(plan, style, err)?;
            offline::skipped(plan, style, err)
        }),
        PlanFormat::Json | PlanFormat::Yaml | PlanFormat::Markdown => Ok(()),
    }
}

/// Hears what happens during a rollout.
///
/// `elapsed` is the time since the rollout's start by the loop's clock; it never goes back within one rollout.
/// Every method returns the writer's error; a closed pipe is one.
pub trait Listener {
    /// Hears what is wanted, before the loop starts; again for each further workload.
    fn start(&mut self, goal: &Goal, next: &NextSteps) -> io::Result<()>;

    fn notice(&mut self, notice: &Notice, elapsed: Duration) -> io::Result<()>;

    /// Takes a line of the user's own command; never a result.
    fn hook_line(&mut self, pod: &PodKey, hook: HookPhase, line: &str, elapsed: Duration) -> io::Result<()>;

    /// Hears how far it is, whenever the time has come that it named; draws again what moves with time.
    fn tick(&mut self, _progress: &Progress, _elapsed: Duration) -> io::Result<()> {
        Ok(())
    }

    /// Returns when the next [`Listener::tick`] is wanted, as time since the rollout's start; `None` for never.
    fn next_tick(&self) -> Option<Duration> {
        None
    }

    /// Hears how it ended, and what was found out about the pods that failed: writes the result and puts the terminal in order.
    fn outcome(&mut self, outcome: &Outcome, failure: Option<&FailureReport>) -> io::Result<()>;
}

pub type Writer<'a> = Box<dyn Write + Send + 'a>;

type Out<'a> = &'a mut dyn Write;

/// Returns the listener for a format and a terminal. Results go to `out`, all else to `err`, which must be stderr where
/// `terminal.live` says that lines can be drawn again. Where several rollouts run side by side each line says whose it is,
/// and they draw on the screen that they share.
pub fn listener<'a>(
    format: StreamFormat,
    terminal: &Terminal,
    side_by_side: Option<&SharedScreen>,
    out: Writer<'a>,
    err: Writer<'a>,
) -> Box<dyn Listener + Send + 'a> {
    match format {
        StreamFormat::Json => {
            let mut lines = JsonLines::new(out);
            lines.names_workload = side_by_side.is_some();
            lines.err = (!terminal.quiet).then_some(err);
            Box::new(lines)
        }
        StreamFormat::Text if terminal.live => {
            let columns = Box::new(terminal::stderr_columns);
            let screen = match side_by_side {
                Some(shared) => shared.screen(columns),
                None => Screen::new(draw_target(), columns),
            };
            Box::new(Live::new(screen, terminal, out, err))
        }
        StreamFormat::Text => {
            let mut lines = Lines::new(terminal, out, err);
            lines.narrator.names_workload = side_by_side.is_some();
            Box::new(lines)
        }
    }
}
