//! The state of workloads and their pods: a table a workload for people, one document for scripts.

mod cells;
mod document;
#[cfg(test)]
mod tests;

use std::io;

use super::Detail;
use super::style::{Meaning, Style};
use super::table::{self, Column};
use super::{Out, StatusFormat, columns, diff, escape, json, name, words};
use engine::change::Direction;
use engine::plan::RolloutState;
use engine::state::durable::lease::LeaseState;
use engine::state::durable::lock::Lock;
use engine::state::hook::HookPhase;
use engine::status::{OwnerState, PodState, PodStatus, Rewritten, WorkloadStatus};
use engine::value::duration;
use engine::value::image::display_short;

/// In a workload with more pods than this, ready pods are only counted, and at most this many of the others are shown.
const MANY_PODS: usize = 50;

/// The number of pods with the same state that are named.
const NAMED_PODS: usize = 3;

const MESSAGE_CHARACTERS: usize = 200;

/// What a status is shown with besides the workloads.
pub struct StatusContext<'a> {
    /// Each workload was named, so that each is shown; else the text is of those on which there is something to say.
    pub asked_for: bool,
    /// The namespace that was read; `None` is all namespaces, and then names come with theirs.
    pub namespace: Option<&'a str>,
    /// What could not be read of the namespace as a whole, and what follows from it.
    pub not_read: &'a [String],
    /// The wall clock (RFC 3339).
    pub now: &'a str,
    /// Gives the commands for a workload that a rollout holds, each with what is printed before it.
    pub commands: &'a dyn Fn(&WorkloadStatus) -> Vec<(String, String)>,
}

pub fn status(
    format: StatusFormat,
    workloads: &[WorkloadStatus],
    context: &StatusContext<'_>,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    match format {
        StatusFormat::Json => json::write(&document::of(workloads, context.not_read), out),
        StatusFormat::Yaml => out.write_all(diff::yaml(&document::of(workloads, context.not_read)).as_bytes()),
        StatusFormat::Name => {
            for workload in workloads {
                writeln!(out, "{}", name::of(&workload.workload, context.namespace.is_none(), style))?;
            }
            // Without a workload nothing is written; a closed pipe is still reported.
            out.flush()
        }
        StatusFormat::Text => words::in_lines(style, out, |out| text(workloads, context, Detail::Short, style, out)),
        StatusFormat::Wide => words::in_lines(style, out, |out| text(workloads, context, Detail::Wide, style, out)),
    }
}

fn text(
    workloads: &[WorkloadStatus],
    context: &StatusContext<'_>,
    detail: Detail,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    // What is unknown of many for one reason is said once, below.
    let is_unknown = |workload: &WorkloadStatus| context.not_read.is_empty() && !workload.not_read.is_empty();
    let is_shown = |workload: &&WorkloadStatus| context.asked_for || workload.is_notable() || is_unknown(workload);
    let shown: Vec<&WorkloadStatus> = workloads.iter().filter(is_shown).collect();
    if shown.is_empty() {
        overview(workloads, style, out)?;
        return not_read(context.not_read, style, out);
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
        let known = if context.not_read.is_empty() { "" } else { ", as far as they could be read" };
        writeln!(out, "\n{} {verb} up to date{known}.", words::count(others, "other workload"))?;
    }
    not_read(context.not_read, style, out)
}

/// What nothing follows from: it is not up to date because nothing is said of it.
fn not_read(what: &[String], style: &Style, out: Out<'_>) -> io::Result<()> {
    for what in what {
        writeln!(out, "{} {}", style.paint(Meaning::Waiting, "not read:"), style.show(what))?;
    }
    Ok(())
}

const OVERVIEW: [Column; 3] =
    [Column::name("WORKLOAD", 16), Column::name("NAMESPACE", 9), Column::words("PODS").reserved(15)];

/// For workloads without anything else to report.
fn overview(workloads: &[WorkloadStatus], style: &Style, out: Out<'_>) -> io::Result<()> {
    if workloads.is_empty() {
        return Ok(());
    }
    let row = |status: &WorkloadStatus| {
        let [name, namespace] = columns::place(&status.workload, style);
        (Meaning::Plain, vec![name, namespace, summary(status)])
    };
    let rows: Vec<_> = workloads.iter().map(row).collect();
    columns::placed_table(&OVERVIEW, rows, style, out)
}

fn heading(status: &WorkloadStatus, style: &Style, out: Out<'_>) -> io::Result<()> {
    let name = style.paint(Meaning::Heading, &words::workload(style, &status.workload));
    let namespace = words::in_namespace(style, &status.workload.namespace, ("  ", ""));
    writeln!(out, "{name}{namespace}   {}", summary(status))
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
    out: Out<'_>,
) -> io::Result<()> {
    heading(status, style, out)?;
    held(status, context, style, out)?;
    for state in &status.owner {
        let is_stuck = matches!(state, OwnerState::Stuck { .. });
        let meaning = if is_stuck { Meaning::Failing } else { Meaning::Waiting };
        writeln!(out, "  {} {}", style.paint(meaning, "owner:"), style.show(&state.sentence()))?;
    }
    for Rewritten { what, template, made } in &status.rewritten {
        let made = made.as_deref().unwrap_or("none");
        let change = format!("{}: {} -> {}", style.show(what), style.show(template), style.show(made));
        writeln!(out, "  rewritten by admission: {change}")?;
    }
    for what in &status.not_read {
        writeln!(out, "  {} {}", style.paint(Meaning::Waiting, "not read:"), style.show(what))?;
    }
    let shown = shown(status, detail);
    if !shown.is_empty() {
        writeln!(out)?;
        pods(status, &shown, (detail, context.now), style, out)?;
        messages(status, &shown, detail, style, out)?;
    }
    let left = status.pods.len() - shown.len();
    if left > 0 {
        let noun = if shown.is_empty() { "pod" } else { "other pod" };
        writeln!(out, "  {} not listed; -o wide lists every pod", words::count(left, noun))?;
    }
    Ok(())
}

/// What is said of several pods in the same words is said once.
fn messages(
    status: &WorkloadStatus,
    pods: &[&PodStatus],
    detail: Detail,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let lines = pods.iter().flat_map(|pod| {
        let lines = cells::messages(pod, detail, style).into_iter().chain(cells::fields(pod, style));
        lines.map(|line| (words::pod(style, &status.workload, &pod.key), line))
    });
    for (line, pods) in words::said_once(lines) {
        words::paragraph(&format!("{}  {line}", words::first_of(pods.into_iter(), NAMED_PODS)), style, out)?;
    }
    Ok(())
}

fn held(status: &WorkloadStatus, context: &StatusContext<'_>, style: &Style, out: Out<'_>) -> io::Result<()> {
    match &status.lock {
        Ok(Some(lock)) => held_by(status, lock, context, style, out)?,
        Err(text) => {
            let heading = style.paint(Meaning::Failing, "unreadable lock:");
            let text = escape::cut(&style.whole(text), MESSAGE_CHARACTERS);
            let text = if text.is_empty() { "it is empty".to_owned() } else { text };
            writeln!(out, "  {heading} it was made by another version, or edited: {text}")?;
        }
        Ok(None) => {}
    }
    if let Some((word, note)) = note(status) {
        writeln!(out, "  {} {note}", style.paint(Meaning::Failing, word))?;
    }
    for (label, command) in (context.commands)(status) {
        writeln!(out, "  {label} {}", style.whole(&command))?;
    }
    Ok(())
}

/// What is so besides the lock, and the word before it.
fn note(status: &WorkloadStatus) -> Option<(&'static str, &'static str)> {
    let is_unlocked = status.lock == Ok(None);
    if status.state == RolloutState::Unfinished && is_unlocked {
        Some(("left behind:", "a rollout was left here, and its lock was removed"))
    } else if let RolloutState::Superseded(what) = status.state {
        Some(("superseded:", what))
    } else if let RolloutState::Unclear(what) = status.state {
        is_unlocked.then_some(("unclear:", what))
    } else {
        None
    }
}

fn held_by(
    status: &WorkloadStatus,
    lock: &Lock,
    context: &StatusContext<'_>,
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let back = match lock.rollout.direction {
        Direction::Forward => "",
        Direction::Back => ", rolling back",
    };
    writeln!(
        out,
        "  {} \"{}\", started by {} {}, {}{back}",
        style.paint(Meaning::Waiting, "rollout in progress:"),
        style.show(lock.rollout.id.as_str()),
        style.show(&lock.rollout.who),
        style.show(&duration::began(&lock.rollout.since, Some(context.now))),
        lock.state.words(status.life.as_ref().is_none_or(LeaseState::may_be_active)),
    )?;
    if let Some(life) = status.life.as_ref().filter(|life| **life != LeaseState::Ended) {
        let by = lock.lease.as_ref().map(|lease| format!("run by {}, ", lease.sentence())).unwrap_or_default();
        writeln!(out, "        {}{}", style.show(&by), life.sentence())?;
    }
    if !lock.rollout.hooks.is_empty() {
        let flags = HookPhase::flags(&lock.rollout.hooks);
        writeln!(out, "        it began with {flags}: to resume or abort it, give the command again, or --no-hooks")?;
    }
    for (name, image) in &lock.rollout.change.images {
        let pair = display_short(&image.from, &image.to);
        writeln!(out, "        {}", words::image_change(style, name, &pair))?;
    }
    for line in columns::lines(&lock.rollout.change.fields, style) {
        writeln!(out, "        {line}")?;
    }
    if let Some(reason) = &lock.rollout.reason {
        writeln!(out, "        reason: {}", style.show(reason))?;
    }
    Ok(())
}

fn shown(status: &WorkloadStatus, detail: Detail) -> Vec<&PodStatus> {
    if detail == Detail::Wide || status.pods.len() <= MANY_PODS {
        return status.pods.iter().collect();
    }
    status.pods.iter().filter(|pod| pod.state != PodState::Ready).take(MANY_PODS).collect()
}

fn pods(
    status: &WorkloadStatus,
    pods: &[&PodStatus],
    (detail, now): (Detail, &str),
    style: &Style,
    out: Out<'_>,
) -> io::Result<()> {
    let is_compared = |pod: &&PodStatus| pod.containers.iter().any(cells::is_compared);
    let template = detail == Detail::Wide && !status.template.is_empty() || pods.iter().any(is_compared);
    let reports = pods.iter().flat_map(|pod| &pod.containers);
    let folder = match detail {
        Detail::Short => columns::common_folder(
            reports.flat_map(|report| [Some(report.image.as_str()), report.asked.as_deref()]).flatten(),
        ),
        Detail::Wide => "",
    };
    let is_narrow = detail == Detail::Short && table::is_narrow(style);
    let columns = cells::Columns { workload: &status.workload, template, detail, now, folder, is_narrow };
    let row = |pod: &&PodStatus| {
        let meaning = if pod.state == PodState::Failed {
            Meaning::Failing
        } else if pod.state == PodState::Ready {
            Meaning::Plain
        } else {
            Meaning::Waiting
        };
        columns.rows(pod, style).into_iter().map(move |row| (meaning, row)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = pods.iter().flat_map(row).collect();
    // Where no image is seen, what they have in common says nothing.
    let is_seen = table::shows(&columns.heads(), &rows, cells::IMAGES, style);
    if is_seen || pods.iter().flat_map(|pod| &pod.containers).any(cells::names_an_image) {
        columns::images_heading(folder, style, out)?;
    }
    table::write_in(detail, &columns.heads(), &rows, style, out)
}
