//! Where workloads and their pods stand: a table a workload for a person, one document for a script.

mod cells;
mod document;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::time::Duration;

use comfy_table::{ContentArrangement, Table, presets};

use crate::engine::change::Direction;
use crate::engine::durable::holder::Life;
use crate::engine::durable::lock::RolloutLock;
use crate::engine::duration;
use crate::engine::image::display_short;
use crate::engine::names::WorkloadRef;
use crate::engine::plan::Hold;
use crate::engine::status::{Held, OwnerState, PodState, PodStatus, WorkloadStatus};

use super::style::{Meaning, Style};
use super::wide::Detail;
use super::{OutputFormat, diff, escape, fields, words};

/// Of a workload with more pods than these, those that are ready are only counted, and of the others so many are shown.
const MANY_PODS: usize = 50;

/// How much of a message stands in a table.
const MESSAGE_CHARACTERS: usize = 200;

/// What a status is shown with besides the workloads.
pub struct StatusContext<'a> {
    /// Each workload was named, so that each is shown; else text and names are of those on which there is something to say.
    pub asked_for: bool,
    /// Where was looked; `None` is all namespaces.
    pub namespace: Option<&'a str>,
    /// What could not be read of the namespace as a whole, and what follows from it.
    pub not_read: &'a [String],
    /// The wall clock (RFC 3339).
    pub now: &'a str,
    /// Gives the commands for a workload that a rollout holds.
    pub commands: &'a dyn Fn(&WorkloadRef) -> HeldCommands,
}

/// What can be done about a rollout that holds a workload.
pub struct HeldCommands {
    /// Watches it.
    pub follow: String,
    /// Goes on with it.
    pub resume: String,
    /// Takes it back.
    pub abort: String,
}

/// Writes where workloads stand: a result, for stdout.
///
/// # Errors
/// The writer's.
pub fn status(
    format: OutputFormat,
    workloads: &[WorkloadStatus],
    context: &StatusContext<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let asked_for = context.asked_for;
    match format {
        OutputFormat::Json => {
            let text =
                serde_json::to_string_pretty(&document::of(workloads, context.not_read)?).map_err(io::Error::other)?;
            writeln!(out, "{}", escape::json(&text))
        }
        OutputFormat::Yaml => out.write_all(diff::yaml(&document::of(workloads, context.not_read)?).as_bytes()),
        OutputFormat::Name => {
            for workload in workloads.iter().filter(|workload| asked_for || workload.is_notable()) {
                writeln!(out, "{}", style.whole(&workload.workload.to_string()))?;
            }
            // Without a workload nothing is written; a closed pipe is still told.
            out.flush()
        }
        OutputFormat::Text | OutputFormat::Markdown => text(workloads, context, Detail::Short, style, out),
        OutputFormat::Wide => text(workloads, context, Detail::Wide, style, out),
    }
}

fn text(
    workloads: &[WorkloadStatus],
    context: &StatusContext<'_>,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_shown = |workload: &&WorkloadStatus| context.asked_for || workload.is_notable();
    let shown: Vec<&WorkloadStatus> = workloads.iter().filter(is_shown).collect();
    if workloads.is_empty() {
        return match context.namespace {
            Some(namespace) => writeln!(out, "No workloads found in {} namespace.", style.show(namespace)),
            None => writeln!(out, "No workloads found."),
        };
    }
    if shown.is_empty() {
        return workloads.iter().try_for_each(|workload| heading(workload, style, out));
    }
    for (index, status) in shown.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        workload(status, context, detail, style, out)?;
    }
    let others = workloads.len() - shown.len();
    if others > 0 {
        let verb = if others == 1 { "is" } else { "are" };
        writeln!(out, "\n{} {verb} up to date.", words::count(others, "other workload"))?;
    }
    Ok(())
}

fn heading(status: &WorkloadStatus, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let name = style.paint(Meaning::Heading, &words::workload(style, &status.workload));
    let namespace = style.show(&status.workload.namespace);
    writeln!(out, "{name}  namespace {namespace}   {}", summary(status))
}

/// How many pods are how; each pod counts once.
fn summary(status: &WorkloadStatus) -> String {
    let (present, wanted) = (status.present(), usize::try_from(status.desired).unwrap_or(usize::MAX));
    let all = if present == wanted {
        words::count(present, "pod")
    } else {
        format!("{} ({wanted} wanted)", words::count(present, "pod"))
    };
    let counts = PodState::ALL.into_iter().rev().filter_map(|state| {
        let count = status.count(state);
        (count > 0).then(|| format!("{count} {}", state.words()))
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { all } else { format!("{all}: {}", counts.join(", ")) }
}

fn workload(
    status: &WorkloadStatus,
    context: &StatusContext<'_>,
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    heading(status, style, out)?;
    held(status, context, style, out)?;
    for state in &status.owner {
        let meaning = match state {
            OwnerState::Stuck { .. } => Meaning::Failing,
            OwnerState::Terminating | OwnerState::NotObserved | OwnerState::RollingOut { .. } | OwnerState::Paused => {
                Meaning::Waiting
            }
        };
        writeln!(out, "  {} {}", style.paint(meaning, "owner:"), style.show(&state.sentence()))?;
    }
    for what in &status.not_read {
        writeln!(out, "  {} {}", style.paint(Meaning::Waiting, "not read:"), style.show(what))?;
    }
    let shown = shown(status, detail);
    if !shown.is_empty() {
        writeln!(out)?;
        table(status, &shown, detail, style, out)?;
        for pod in &shown {
            for line in cells::resources(pod, style) {
                writeln!(out, "  {}  {line}", words::pod(style, &pod.key))?;
            }
        }
    }
    let left = status.pods.len() - shown.len();
    if left > 0 {
        let noun = if shown.is_empty() { "pod" } else { "other pod" };
        writeln!(out, "  {} not listed; -o wide lists every pod", words::count(left, noun))?;
    }
    Ok(())
}

fn held(status: &WorkloadStatus, context: &StatusContext<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match &status.held {
        Held::By(lock) => held_by(status, lock, context, style, out)?,
        Held::Unreadable { text } => {
            let heading = style.paint(Meaning::Failing, "unreadable lock:");
            let text = escape::cut(&style.whole(text), MESSAGE_CHARACTERS);
            writeln!(out, "  {heading} it was made by another version, or edited: {text}")?;
        }
        Held::No => {}
    }
    let HeldCommands { follow, resume, abort } = (context.commands)(&status.workload);
    let (watch, resume, abort) = (("Watch:", follow), ("Resume:", resume), ("Abort:", abort));
    let (note, shown) = match status.hold {
        None => return Ok(()),
        // Whoever takes over a run that is alive must mean it.
        Some(Hold::AtWork) => (None, vec![watch]),
        Some(Hold::PerhapsAtWork) => (None, vec![watch, resume, abort]),
        Some(Hold::LeftBehind) if status.held == Held::No => {
            (Some("a rollout was left here, and its lock was removed"), vec![resume, abort])
        }
        Some(Hold::LeftBehind) if matches!(status.life, Some(Life::Silent(_))) => (None, vec![watch, resume, abort]),
        Some(Hold::LeftBehind) => (None, vec![resume, abort]),
        Some(Hold::SetBack) => (Some("its template is again what it was before the rollout"), vec![abort]),
        Some(Hold::Overtaken) => {
            let why = "somebody else has set another template since, so it cannot be resumed: abort ends it, and changes no image";
            (Some(why), vec![abort])
        }
        Some(Hold::WithoutLock) => {
            let paused = "its pods do not have its template: kubectl rollout resume would replace them";
            let take_over = |(label, command): (&'static str, String)| (label, format!("{command} --take-over"));
            ((status.held == Held::No).then_some(paused), vec![take_over(resume), take_over(abort)])
        }
    };
    if let Some(note) = note {
        writeln!(out, "  {} {note}", style.paint(Meaning::Failing, "left behind:"))?;
    }
    for (label, command) in shown {
        writeln!(out, "  {label} {}", style.whole(&command))?;
    }
    Ok(())
}

fn held_by(
    status: &WorkloadStatus,
    lock: &RolloutLock,
    context: &StatusContext<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let back = match lock.direction {
        Direction::Forward => "",
        Direction::Back => ", rolling back",
    };
    writeln!(
        out,
        "  {} {}, started by {} {}, {}{back}",
        style.paint(Meaning::Waiting, "rollout in progress:"),
        style.show(lock.id.as_str()),
        style.show(&lock.who),
        style.show(&since(&lock.since, context.now)),
        lock.state.word(),
    )?;
    if let Some(life) = status.life.as_ref().filter(|life| **life != Life::Ended) {
        let by = lock.holder.as_ref().map(|holder| format!("run by {}, ", holder.sentence())).unwrap_or_default();
        writeln!(out, "        {}{}", style.show(&by), life.sentence())?;
    }
    if !lock.hooks.is_empty() {
        let flags: Vec<&str> = lock.hooks.iter().map(|phase| phase.flag()).collect();
        let flags = flags.join(" and ");
        writeln!(out, "        it began with {flags}: to resume or abort it, give the command again, or --no-hooks")?;
    }
    for (name, image) in &lock.change.images {
        let pair = display_short(&image.from, &image.to);
        writeln!(out, "        {}", words::image_change(style, name, &pair))?;
    }
    for line in fields::lines(&lock.change.fields, style) {
        writeln!(out, "        {line}")?;
    }
    if let Some(reason) = &lock.reason {
        writeln!(out, "        reason: {}", style.show(reason))?;
    }
    Ok(())
}

/// How long ago it began, as kubectl shows ages; by clocks that differ it may be none.
fn since(began: &str, now: &str) -> String {
    let seconds = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    let age = seconds(now).zip(seconds(began)).and_then(|(now, began)| u64::try_from(now.checked_sub(began)?).ok());
    match age {
        Some(age) => format!("{} ago", duration::human(Duration::from_secs(age))),
        None => format!("at {began}"),
    }
}

fn shown(status: &WorkloadStatus, detail: Detail) -> Vec<&PodStatus> {
    if detail == Detail::Wide || status.pods.len() <= MANY_PODS {
        return status.pods.iter().collect();
    }
    status.pods.iter().filter(|pod| pod.state != PodState::Ready).take(MANY_PODS).collect()
}

fn table(
    status: &WorkloadStatus,
    pods: &[&PodStatus],
    detail: Detail,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = cells::Columns { template: !status.template.is_empty(), detail };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // A wide table may be wider than the terminal, as kubectl's.
    if let Some(width) = style.width.filter(|_| detail == Detail::Short) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(40));
    }
    table.set_header(columns.heads());
    for pod in pods {
        for row in columns.rows(pod, style) {
            table.add_row(row);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (2, 3) } else { (0, 3) });
    }
    // Colour after the layout: the table counts an escape sequence as columns.
    for (index, line) in table.lines().enumerate() {
        let meaning = if index == 0 { Meaning::Quiet } else { Meaning::Plain };
        writeln!(out, "{}", style.paint(meaning, line.trim_end()))?;
    }
    Ok(())
}
